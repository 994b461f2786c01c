"""Processes that work for this one."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import connection
from threading import Thread
from typing import TYPE_CHECKING, Any, cast

from pslc.base.ends import ENDS

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

_stop: Any = None
"""In a worker: set when nobody waits for what it does any more."""


def cores() -> int:
    """Number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def work_until(stop: Any) -> None:
    """Prepare a worker that `deaf_children` started: it ends once the parent sets `stop`, an event of
    `multiprocessing`, or is gone. Called before anything else."""
    global _stop
    _stop = stop
    end_with_parent()


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


@contextmanager
def worker_pool(count: int) -> "Iterator[ProcessPoolExecutor]":
    """A pool of `count` processes that are asked to stop when it is left; they look with `is_wanted`. A process starts
    when a task is submitted, so tasks are submitted within `deaf_children`."""
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("spawn")
    with deaf_children():
        stop = context.Event()
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=work_until, initargs=(stop,))
    try:
        yield pool
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


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


def end_with_parent() -> None:
    """Let this worker end when the process that it works for ends, even if that is killed. Without it a worker would
    wait for ever for a task that nobody hands over. Called before anything else."""
    Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "only a worker has somebody to follow"
    connection.wait([parent.sentinel])
    os._exit(1)
