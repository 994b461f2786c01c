"""The suites of a catalogue at once, on all cores: each has a simulated drive of its own, and knows of no other."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from queue import Empty
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pslc.base import memory, processes
from pslc.base.errors import JobError, PslcError
from pslc.device.cost import Cost, cost
from pslc.device.region import Region, Scope, find_region
from pslc.device.target import find_target
from pslc.runner.callbacks import Progress
from pslc.runner.job_logs import JobLogs
from pslc.runner.plan import DAY, expected
from pslc.runner.run import run as run_one

if TYPE_CHECKING:
    from pslc.recording.store import Recording
    from pslc.schema.results import StepProgress

LOOK_S: Final = 0.1
ALONE: Final = "memory may have run out; one suite after the other: taskset -c 0 pslc run all ..."
PROGRAM_BYTES: Final = 300 << 20
"""What a process takes beside the run."""


class Task(NamedTuple):
    """A suite to run on a simulated drive. `left` is what an interruption left of it; `logs` takes the logs that its
    options ask for, for who calls to write them."""

    suite: str
    on: str
    seed: int
    options: Sequence[tuple[str, str]]
    scope: Scope
    left: Recording | None
    logs: JobLogs


def workers(tasks: Sequence[Task]) -> tuple[list[Task], int]:
    """The tasks of one drive, those that take longest first, and how many of them this machine can run at once; 1 where
    one of them takes days, which has to be agreed to first, or cannot be planned."""
    if len(tasks) < 2:
        return list(tasks), 1
    try:
        region = find_region(find_target(tasks[0].on), tasks[0].scope)
        costs = {task.suite: _cost(task, region) for task in tasks}
    except PslcError:
        return list(tasks), 1
    if any(found.least_s >= DAY for found in costs.values()):
        return list(tasks), 1
    most = PROGRAM_BYTES + max(found.memory_bytes for found in costs.values())
    free = memory.free_bytes()
    count = min(processes.cores(), len(tasks), free // most if free is not None else 1)
    return sorted(tasks, key=lambda task: -costs[task.suite].least_s), max(count, 1)


def _cost(task: Task, region: Region) -> Cost:
    steps = expected(task.suite, region, task.scope)
    return cost(steps, f"{task.suite}.fio", list(task.options), region.target)


def results(tasks: Sequence[Task], count: int, progress: Progress | None,
            begins: Callable[[str], None]) -> Generator[tuple[Task, Recording | Exception], None, None]:  # fmt: skip
    """Run so many at once and give each with its recording, or why there is none, as it is done.

    Once `progress` returns False those under way end where they are, and no further one begins. Closing the iterator
    ends them without a word.

    Args:
        progress: told of the suite that began first of those under way.
        begins: called with each suite as it begins.
    """
    context = multiprocessing.get_context("spawn")
    with processes.deaf_children():
        stop, told = context.Event(), context.Queue()
    queue, waiting = list(tasks)[::-1], dict[Future[Any], Task]()
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(stop, told))
    try:
        while queue or waiting:
            while queue and len(waiting) < count and not stop.is_set():
                task = queue.pop()
                begins(task.suite)
                waiting[_submitted(pool, task)] = task
            if not waiting:
                return
            done = wait(waiting, LOOK_S, FIRST_COMPLETED)[0]
            first = next(iter(waiting.values())).suite
            if progress is not None and any(not progress(state) for state in _said(told, first)):
                stop.set()
            for future in done:
                task, error = waiting.pop(future), future.exception()
                if isinstance(error, BrokenProcessPool):
                    raise _killed() from error
                if isinstance(error, Exception):
                    yield task, error
                    continue
                recording, logs = future.result()
                task.logs.take(logs)
                yield task, recording
    finally:
        stop.set()
        # A process that has not yet begun needs what it shares with this one, which goes when this one ends.
        pool.shutdown(wait=True, cancel_futures=True)


def _submitted(pool: ProcessPoolExecutor, task: Task) -> Future[Any]:
    """Hand a suite over; the first ones start a process each."""
    try:
        with processes.deaf_children():
            return pool.submit(_run, task)
    except BrokenProcessPool as error:
        raise _killed() from error


def _killed() -> JobError:
    return JobError("a process that ran a suite was killed", ALONE)


def _said(told: Any, suite: str) -> list[StepProgress]:
    """The last that was said of progress, by this suite if it has said anything."""
    last: dict[str, StepProgress] = {}
    with suppress(Empty):
        while True:
            of, state = told.get_nowait()
            state["step"] = f"{of} {state['step']}"
            last[of] = state
    return [last.get(suite, next(iter(last.values())))] if last else []


_told: Any = None
"""In a worker: where its progress goes."""


def _begin(stop: Any, told: Any) -> None:
    global _told
    processes.work_until(stop)
    # What nobody takes any more does not keep this process.
    told.cancel_join_thread()
    _told = told


def _run(task: Task) -> tuple[Recording, JobLogs]:
    def progress(state: StepProgress) -> bool:
        _told.put((task.suite, state))
        return processes.is_wanted()

    recording = run_one(
        task.suite,
        on=task.on,
        seed=task.seed,
        options=task.options,
        scope=task.scope,
        progress=progress,
        done=task.left,
        logs=task.logs,
    )
    return recording, task.logs
