"""A pool of processes for fits."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, Final

from pslc.base.processes import cores, end_with_parent
from pslc.twin.optimizer import evaluations

MAX_WORKERS: Final = 8

START_METHOD: Final = "spawn" if sys.platform == "win32" else "forkserver"
"""Start method of the workers. Windows cannot copy a process, which is the faster way elsewhere."""


@dataclass(frozen=True)
class _Counted:
    """A function that also returns the simulated runs and the CPU seconds that it took."""

    function: Callable[..., Any]

    def __call__(self, task: object) -> tuple[Any, int, float]:
        before, cpu_before_s = evaluations(), time.process_time()
        result = self.function(task)
        return result, evaluations() - before, time.process_time() - cpu_before_s


class Pool:
    """A pool of processes, or this process alone if one worker is asked for."""

    def __init__(self, workers: int | None = None) -> None:
        """Start `workers` processes (default: one per core, at most 8)."""
        self.workers = workers or min(cores(), MAX_WORKERS)
        self.pool = (
            ProcessPoolExecutor(self.workers, get_context(START_METHOD), end_with_parent) if self.workers > 1 else None
        )
        self._before, self._in_workers = evaluations(), 0
        self._cpu_before_s, self._cpu_in_workers_s = time.process_time(), 0.0

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        if self.pool:
            self.pool.shutdown(cancel_futures=True)

    @property
    def evaluations(self) -> int:
        """Simulated runs since the pool was made, in this process and in the workers."""
        return evaluations() - self._before + self._in_workers

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds since the pool was made, of this process and of the workers' tasks together."""
        return time.process_time() - self._cpu_before_s + self._cpu_in_workers_s

    def map(self, function: Callable[..., object], tasks: Sequence[object]) -> list[Any]:
        """Results of a function for each task, in order."""
        if self.pool is None:
            return [function(task) for task in tasks]
        counted = list(self.pool.map(_Counted(function), tasks))
        self._in_workers += sum(count for _, count, _ in counted)
        self._cpu_in_workers_s += sum(cpu_s for _, _, cpu_s in counted)
        return [result for result, _, _ in counted]
