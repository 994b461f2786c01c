"""Worker processes: started deaf to signals, asked to stop, and ended with their parent."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pslc.base.ends import ENDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future, ProcessPoolExecutor

R = TypeVar("R")

_stop: Any = None
"""In a worker: set when nobody waits for what it does any more."""


def cores() -> int:
    """Number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


@contextmanager
def deaf_children() -> Iterator[None]:
    """Start processes that no signal of `ENDS` ends, not even while they import: what a terminal or a service manager
    sends to the whole group is for this process, which asks them to stop. The first event or queue of `multiprocessing`
    starts a process as well. A signal that comes meanwhile, to whichever thread, is handled at the end: a handler
    in the midst of a start would leave a process without its orders."""
    late: list[int] = []
    in_main = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.getsignal(number) for number in ENDS} if in_main else {}
    handlers = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in handlers:
        signal.signal(number, lambda caught, _: late.append(caught))
    before = _mask(ENDS)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for received in late:
            signal.raise_signal(received)


@dataclass(frozen=True)
class WorkerPool:
    """Processes that run tasks for this one. They are asked to stop by `stop`, and look with `is_wanted`."""

    executor: "ProcessPoolExecutor"
    stop: Any

    def submit(self, function: "Callable[..., R]", *arguments: Any) -> "Future[R]":
        """Hand a task over. The first ones start a process each, which no signal of `ENDS` ends.

        Raises:
            BrokenProcessPool: a process was killed.
        """
        with deaf_children():
            return self.executor.submit(function, *arguments)


@contextmanager
def worker_pool(
    count: int, prepare: "Callable[..., None] | None" = None, shared: tuple[Any, ...] = (), *, wait: bool = False
) -> "Iterator[WorkerPool]":
    """Start a pool of `count` processes, and ask them to stop when the `with` ends.

    Args:
        prepare: called in each process before its first task, with `shared`.
        shared: queues and events that tasks cannot carry.
        wait: until the processes have ended, so that their memory is free, and so that none of them still needs what
            it shares with this one. Else they end by themselves.
    """
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("spawn")
    with deaf_children():
        stop = context.Event()
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(stop, prepare, shared))
    try:
        yield WorkerPool(pool, stop)
    finally:
        stop.set()
        pool.shutdown(wait=wait, cancel_futures=True)


def _begin(stop: Any, prepare: "Callable[..., None] | None", shared: tuple[Any, ...]) -> None:
    """Prepare a worker that `deaf_children` started: it ends once the parent sets `stop`, or is gone."""
    global _stop
    _stop = stop
    end_with_parent()
    if prepare is not None:
        prepare(*shared)


def _mask(signals: Sequence[signal.Signals]) -> set[signal.Signals] | None:
    """Block signals for what is started now; None on Windows, where those of a console are no masks of a process."""
    if sys.platform == "win32":
        return None
    return cast(set[signal.Signals], signal.pthread_sigmask(signal.SIG_BLOCK, signals))


def group_of_its_own() -> dict[str, Any]:
    """Keywords of `subprocess.Popen`: what a terminal sends to all of its processes does not reach it."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def end_group(process: "subprocess.Popen[Any]") -> None:
    """End a process that was started in a group of its own, and those that it started."""
    with suppress(ProcessLookupError):
        if sys.platform == "win32":
            # Its workers follow it.
            process.terminate()
        else:
            os.killpg(process.pid, signal.SIGTERM)


def is_wanted() -> bool:
    """Whether somebody waits for what this process does."""
    return _stop is None or not _stop.is_set()


def while_wanted(_: object) -> bool:
    """Progress callback of a run in a worker: False, which ends the run, once nobody waits for its result."""
    return is_wanted()


def end_with_parent() -> None:
    """Make this worker end with the process that started it, even if that process is killed. Otherwise a worker would
    wait forever for its next task. Called before anything else."""
    Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "only a worker has somebody to follow"
    connection.wait([parent.sentinel])
    os._exit(1)
