"""The suites of the catalogue in parallel, on all cores, each on a simulated drive of its own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
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
from pslc.runner.options import RunOptions
from pslc.runner.plan import DAY, expected
from pslc.runner.run import run_with

if TYPE_CHECKING:
    from pslc.recording.store import Recording
    from pslc.schema.results import StepProgress

POLL_S: Final = 0.1
"""Between two looks at progress: ten times a second, as for a single run."""
SERIAL_HINT: Final = "memory may have run out; to run one suite after the other: taskset -c 0 pslc run all ..."
PROCESS_BYTES: Final = 300 << 20
"""Memory of a process beside its run."""


class Task(NamedTuple):
    """A suite to run on a simulated drive.

    Attributes:
        interrupted: its recording, if it was started before.
        logs: takes the logs that its options ask for; the caller writes them.
    """

    suite: str
    on: str
    seed: int
    options: Sequence[tuple[str, str]]
    scope: Scope
    interrupted: Recording | None
    logs: JobLogs


def workers(tasks: Sequence[Task]) -> tuple[list[Task], int]:
    """Order the tasks of one drive, longest first, and count how many of them this machine can run at once.

    The count is 1 if one of them takes days, which needs consent first, or cannot be planned.
    """
    if len(tasks) < 2:
        return list(tasks), 1
    try:
        region = find_region(find_target(tasks[0].on), tasks[0].scope)
        costs = {task.suite: _cost(task, region) for task in tasks}
    except PslcError:
        return list(tasks), 1
    if any(task_cost.least_s >= DAY for task_cost in costs.values()):
        return list(tasks), 1
    task_bytes = PROCESS_BYTES + max(task_cost.memory_bytes for task_cost in costs.values())
    free = memory.free_bytes()
    count = min(processes.cores(), len(tasks), free // task_bytes if free is not None else 1)
    return sorted(tasks, key=lambda task: -costs[task.suite].least_s), max(count, 1)


def _cost(task: Task, region: Region) -> Cost:
    steps = expected(task.suite, region, task.scope)
    return cost(steps, f"{task.suite}.fio", list(task.options), region.target)


def results(
    tasks: Sequence[Task], count: int, progress: Progress | None, on_start: Callable[[str], None]
) -> Generator[tuple[Task, Recording | Exception], None, None]:
    """Run `count` tasks at a time and give each with its recording, or with its error, as it ends.

    Once `progress` returns False, running suites end where they are and no further one starts. Closing the iterator
    ends them too.

    Args:
        progress: called with the state of the suite that has been running longest.
        on_start: called with each suite as it starts.
    """
    with processes.deaf_children():
        states = multiprocessing.get_context("spawn").Queue()
    queue, waiting = list(tasks)[::-1], dict[Future[Any], Task]()
    # A process that has not yet begun needs the queue, which goes when this process ends.
    with processes.worker_pool(count, _begin, (states,), wait=True) as pool:
        while queue or waiting:
            while queue and len(waiting) < count and not pool.stop.is_set():
                task = queue.pop()
                on_start(task.suite)
                waiting[_submitted(pool, task)] = task
            if not waiting:
                return
            done = wait(waiting, POLL_S, FIRST_COMPLETED)[0]
            first = next(iter(waiting.values())).suite
            if progress is not None and any(not progress(state) for state in _last_state(states, first)):
                pool.stop.set()
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


def _submitted(pool: processes.WorkerPool, task: Task) -> Future[Any]:
    try:
        return pool.submit(_run, task)
    except BrokenProcessPool as error:
        raise _killed() from error


def _killed() -> JobError:
    return JobError("a process that ran a suite was killed", SERIAL_HINT)


def _last_state(states: Any, suite: str) -> list[StepProgress]:
    """The last state of progress, of this suite if it has reported one, as a list of one or none."""
    last: dict[str, StepProgress] = {}
    with suppress(Empty):
        while True:
            name, state = states.get_nowait()
            state["step"] = f"{name} {state['step']}"
            last[name] = state
    return [last.get(suite, next(iter(last.values())))] if last else []


_states: Any = None
"""In a worker: the queue of its states of progress."""


def _begin(states: Any) -> None:
    global _states
    # States that nobody reads any more do not keep this process.
    states.cancel_join_thread()
    _states = states


def _run(task: Task) -> tuple[Recording, JobLogs]:
    def progress(state: StepProgress) -> bool:
        _states.put((task.suite, state))
        return processes.is_wanted()

    options = RunOptions(
        seed=task.seed,
        options=task.options,
        scope=task.scope,
        progress=progress,
        interrupted=task.interrupted,
        logs=task.logs,
    )
    return run_with(task.suite, task.on, options), task.logs
