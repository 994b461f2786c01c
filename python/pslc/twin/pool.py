"""Work of a fit, in workers or in this process, and what it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pslc.base import work
from pslc.base.errors import JobError
from pslc.twin.optimizer import evaluations

MAX_WORKERS: Final = 8


@dataclass(frozen=True)
class _Counted:
    """A function that also returns the simulated runs and the CPU seconds that it took."""

    func: Callable[..., Any]

    def __call__(self, task: object) -> tuple[Any, int, float]:
        before, cpu_before_s = evaluations(), time.process_time()
        result = self.func(task)
        return result, evaluations() - before, time.process_time() - cpu_before_s


class Pool:
    """A pool of workers, or this process alone if one worker is asked for."""

    def __init__(self, workers: int | None = None) -> None:
        """`workers` processes (default: one per core, at most 8), as tasks need them."""
        self.workers = workers or min(work.cores(), MAX_WORKERS)
        self._pool = work.Pool(work.Local(self.workers, grace_s=0))
        self._before, self._in_workers = evaluations(), 0
        self._cpu_before_s, self._cpu_in_workers_s = time.process_time(), 0.0

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.__exit__()

    @property
    def evaluations(self) -> int:
        """Simulated runs since the pool was made, in this process and in the workers."""
        return evaluations() - self._before + self._in_workers

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds since the pool was made, of this process and of the workers' tasks together."""
        return time.process_time() - self._cpu_before_s + self._cpu_in_workers_s

    def map(self, function: Callable[..., object], tasks: Sequence[object]) -> list[Any]:
        """Results of a function for each task, in order.

        Raises:
            JobError: the process of a task was killed, twice.
        """
        if self.workers == 1:
            return [function(task) for task in tasks]
        try:
            counted = self._pool.map(_Counted(function), tasks)
        except JobError as error:
            if error.code != work.KILLED:
                raise
            hint = "memory may have run out; with one process at a time: taskset -c 0 pslc fit ..."
            raise JobError("a process of the fit was killed, twice", hint) from error
        self._in_workers += sum(count for _, count, _ in counted)
        self._cpu_in_workers_s += sum(cpu_s for _, _, cpu_s in counted)
        return [result for result, _, _ in counted]
