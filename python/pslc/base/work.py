"""One pool of work: functions run on tasks, by workers of this machine or on a cluster of Dask.

    for task, row in work.run(tasks, measure, work.Local(4)): ...

A task and its result are pickled. A result is what the function returned, or the exception that it raised. A task whose
worker is killed runs once more, alone, since memory may have run out; the tasks that waited behind it run as if nothing
had happened. Nothing is lost but what was under way.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pslc.base.errors import JobError

if TYPE_CHECKING:
    from pslc.base.workers import Inbox, Message, Worker

Task = TypeVar("Task")
Row = TypeVar("Row")
Outcome = tuple[Task, Row | Exception]

GRACE_S: Final = 5.0
"""Seconds after an interrupt in which a worker may end by itself what it is at."""
POLL_S: Final = 0.1
"""Between two looks at whether somebody interrupted."""
PLENTY: Final = 4
"""Tasks a worker that are left, from which on a second one waits at each: so no short one waits for this process, and
near the end none waits behind a long one."""
KILLED: Final = "worker-killed"
"""The code of the error of a task whose worker was killed each time."""


@dataclass(frozen=True)
class Local:
    """Workers on this machine.

    Attributes:
        workers: how many.
        grace_s: seconds after a first interrupt until they are killed; None: not before a second one.
    """

    workers: int
    grace_s: float | None = GRACE_S


@dataclass(frozen=True)
class Dask:
    """The cluster of a scheduler of Dask distributed, such as `tcp://host:8786`."""

    address: str


OnState = Callable[[Any, Any], None]
"""Callback that takes a task and what its function reports (`workers.report`)."""
Interrupts = Callable[[], int]
"""Number of interrupts so far: one ends what is under way politely, two at once."""


def cores() -> int:
    """Number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def run(
    tasks: Sequence[Task],
    function: Callable[[Task], Row],
    where: Local | Dask,
    on_state: OnState | None = None,
    interrupts: Interrupts = lambda: 0,
) -> Generator[Outcome[Task, Row], None, None]:
    """Run a function on each task and give each task with its result as it ends, in any order. After an interrupt what
    ends in time is given, and no further task begins. Closing the iterator ends everything.

    Raises:
        PslcError: the cluster cannot be used, or no worker starts.
        KeyboardInterrupt: `interrupts` raised it; what was under way is ended at once.
    """
    if isinstance(where, Dask):
        from pslc.base import cluster

        yield from cluster.run(tasks, function, where.address, interrupts)
        return
    with Pool(where) as pool:
        yield from pool.run(tasks, function, on_state, interrupts)


class Pool:
    """Workers that stay for several runs."""

    def __init__(self, where: Local) -> None:
        self.where = where
        self._inbox: Inbox = SimpleQueue()
        self._workers: dict[Worker, deque[int]] = {}

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close(list(self._workers))

    def run(
        self,
        tasks: Sequence[Task],
        function: Callable[[Task], Row],
        on_state: OnState | None = None,
        interrupts: Interrupts = lambda: 0,
    ) -> Generator[Outcome[Task, Row], None, None]:
        """Run as `run` does."""
        for number, result in self._numbered(tasks, function, on_state, interrupts):
            yield tasks[number], result

    def map(self, function: Callable[[Task], Row], tasks: Sequence[Task]) -> list[Row]:
        """Results of a function for each task, in order; the first error is raised."""
        rows: dict[int, Row] = {}
        for number, result in self._numbered(tasks, function, None, lambda: 0):
            if isinstance(result, Exception):
                raise result
            rows[number] = result
        return [rows[number] for number in range(len(tasks))]

    def _numbered(
        self, tasks: Sequence[Task], function: Callable[[Task], Row], on_state: OnState | None, interrupts: Interrupts
    ) -> Generator[tuple[int, Row | Exception], None, None]:
        """The place of each task, and its result."""
        job = _Job(self, tasks, function, on_state)
        try:
            while job.goes_on(interrupts()):
                job.hand_out()
                yield from job.received()
        except KeyboardInterrupt:
            self.close(self.busy)
            raise
        finally:
            job.end()

    # ---- workers, for a job

    @property
    def busy(self) -> list[Worker]:
        """Workers that have tasks."""
        return [worker for worker, numbers in self._workers.items() if numbers]

    @property
    def idle(self) -> list[Worker]:
        """Workers that have none."""
        return [worker for worker, numbers in self._workers.items() if not numbers]

    def numbers(self, worker: Worker) -> deque[int] | None:
        """The tasks of a worker, the one under way first; None: it is closed."""
        return self._workers.get(worker)

    def free_worker(self, function: Callable[..., Any]) -> Worker | None:
        """A worker without a task, perhaps a new one; None if all have some."""
        from pslc.base.workers import Worker

        if not self.idle and len(self._workers) < self.where.workers:
            self._workers[Worker(self._inbox, function)] = deque()
        return next(iter(self.idle), None)

    def message(self) -> tuple[Worker, Message] | None:
        """The next message of a worker; None if there is none for `POLL_S`."""
        with suppress(Empty):
            return self._inbox.get(timeout=POLL_S)
        # What it started may hold its pipe open.
        return next(((worker, None) for worker in self._workers if worker.process.poll() is not None), None)

    def close(self, workers: Sequence[Worker]) -> None:
        """End workers at once."""
        for worker in workers:
            self._workers.pop(worker, None)
            worker.close()


@dataclass
class _Job:
    """One run of a pool. Tasks are known by their numbers.

    Attributes:
        queue: those that no worker has yet.
        alone: those whose worker was killed; they run after all others.
        alone_before: those that have run so.
        kill_at: when what is under way is killed; None: nobody interrupted.
    """

    pool: Pool
    tasks: Sequence[Any]
    function: Callable[[Any], Any]
    on_state: OnState | None
    alone: deque[int] = field(default_factory=deque)
    alone_before: set[int] = field(default_factory=set)
    kill_at: float | None = None

    def __post_init__(self) -> None:
        self.queue = deque(range(len(self.tasks)))

    def goes_on(self, interrupts: int) -> bool:
        """Whether tasks are left or under way, and may go on."""
        if interrupts and self.kill_at is None:
            self.queue.clear()
            self.alone.clear()
            grace_s = self.pool.where.grace_s
            self.kill_at = inf if grace_s is None else monotonic() + grace_s
            for worker in self.pool.busy:
                worker.stop()
        if interrupts > 1 or (self.kill_at is not None and monotonic() > self.kill_at):
            return False
        return bool(self.queue or self.alone or self.pool.busy)

    def hand_out(self) -> None:
        """Give a task to each worker that has none, and a second one where plenty are left."""
        while self.queue and (worker := self.pool.free_worker(self.function)) is not None:
            self._give(worker, self.queue)
        for worker in self.pool.busy:
            if len(self.queue) > PLENTY * self.pool.where.workers and len(self.pool.numbers(worker) or ()) == 1:
                self._give(worker, self.queue)
        if self.alone and not self.queue and not self.pool.busy:
            # All memory is for it.
            self.pool.close(self.pool.idle)
            worker = self.pool.free_worker(self.function)
            assert worker is not None, "the pool is empty"
            self.alone_before.add(self.alone[0])
            self._give(worker, self.alone)

    def _give(self, worker: Worker, source: deque[int]) -> None:
        numbers = self.pool.numbers(worker)
        assert numbers is not None, "it is one of the pool's"
        worker.call(self.function, self.tasks[source[0]])
        numbers.append(source.popleft())

    def received(self) -> list[tuple[int, Any]]:
        """The number and the result of the task that ended now, if one did."""
        from pslc.base.workers import Ready, State, unpickled

        worker, message = self.pool.message() or (None, None)
        numbers = self.pool.numbers(worker) if worker is not None else None
        if worker is None or numbers is None:
            return []
        if message is None:
            return self._died(worker, numbers)
        if isinstance(message, Ready):
            worker.is_ready = True
            return []
        value = unpickled(message)
        if isinstance(message, State):
            if self.on_state is not None:
                self.on_state(self.tasks[numbers[0]], value)
            return []
        number = numbers.popleft()
        if self.kill_at is not None:
            # It may have begun its next one.
            self.pool.close([worker])
        return [(number, value)]

    def _died(self, worker: Worker, numbers: deque[int]) -> list[tuple[int, Any]]:
        self.pool.close([worker])
        if not worker.is_ready and worker.exit_code > 0:
            raise JobError(f"a worker process does not start: {worker.death}", "its error is above")
        if not numbers or self.kill_at is not None:
            return []
        number, *rest = numbers
        self.queue.extendleft(reversed(rest))
        if number in self.alone_before:
            crash = "PYTHONFAULTHANDLER=1 in the environment shows where it was"
            hint = "memory may have run out" if worker.death == "SIGKILL" else crash
            return [(number, JobError(f"its process was ended by {worker.death}, twice", hint, KILLED))]
        self.alone.append(number)
        return []

    def end(self) -> None:
        """End what is under way, within the time that an interrupt leaves; another one ends it at once."""
        try:
            # Nobody interrupted it so far: the iterator was closed, or an error is on its way.
            if self.kill_at is None:
                while self.goes_on(1):
                    self.received()
        finally:
            self.pool.close(self.pool.busy)
