"""Worker processes that run points on this machine. A point is a pure function of its values, so neither the process
nor the order matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Final

from pslc.base import limits, units
from pslc.base.errors import PslcError
from pslc.base.processes import while_wanted, worker_pool
from pslc.runner.precondition_cache import PreconditionedDrives
from pslc.studies.points import PROFILE, Point
from pslc.studies.rows import REFUSED, Row, flat, number, of_drive, of_jobs, without_tails

if TYPE_CHECKING:
    from pslc.device.policy import Governor

AHEAD: Final = 4
"""Points a worker that are handed over before they are needed."""

_preconditioned: Final = PreconditionedDrives()
"""Drives that points of this process began with, where others begin with them too."""


def measure(point: Point, shared: bool = False) -> Row | None:
    """Run a point: `wall_s`, `error` and its findings, flat. None: it was stopped. A drive that cannot be is no failure
    of the study: its error begins with `refused: `.

    Args:
        shared: other points are of the same drive, so how it begins is worth keeping.
    """
    from pslc import suites
    from pslc.device.policy import Policy, VictimRule
    from pslc.device.region import Scope
    from pslc.device.target import find_target
    from pslc.runner.run import run

    values, began = dict(point.values), monotonic()
    filled = units.percent(values["fill_first"], "fill_first") if "fill_first" in values else 0
    scope = Scope(quick=point.quick, fill_first=filled)
    error, row = None, {}
    try:
        recording = run(
            values["run"],
            on=point.spec,
            seed=int(values["seed"]),
            scope=scope,
            progress=while_wanted,
            preconditioned=_preconditioned if shared else None,
            policy=_governor(values, "policy", Policy),
            victim_rule=_governor(values, "victim_rule", VictimRule),
        )
        if recording.interrupted:
            return None
        row, error = flat(recording.findings) | of_drive(recording), recording.error
        if values["run"] not in suites.names():
            row |= of_jobs(recording.jobs)
        row = without_tails(row) if recording.is_twin else row
    except KeyboardInterrupt:
        return None
    except PslcError as wrong:
        message = wrong.message
        try:
            find_target(point.spec)
            error = f"failed: {message}"
        except PslcError:
            error = REFUSED + message
    except Exception as bug:
        error = f"failed: {type(bug).__name__}: {bug}"
    return {"wall_s": monotonic() - began, "error": error} | row


def results(points: Sequence[Point], workers: int) -> Generator[tuple[Point, Row], None, None]:
    """Run points in so many processes and give each with its row as it is done, in any order. Closing the iterator ends
    the processes; what they were at is lost, nothing else.

    A process that is killed takes the points that were under way with it. They are run again one by one, so that only
    the point on which it is killed again fails.
    """
    drives = Counter(point.drive for point in points)
    queue, alone = list(reversed(by_drive(points))), list[Point]()
    while queue or alone:
        careful = bool(alone)
        batch = _Batch(alone, drives, 1, 1) if careful else _Batch(queue, drives, workers, AHEAD * workers)
        try:
            yield from batch.rows()
        except BrokenProcessPool:
            if not careful:
                alone = list(reversed(batch.waiting.values()))
                continue
            for point in batch.waiting.values():
                yield point, {"wall_s": 0.0, "error": "failed: its process was killed; memory may have run out"}


@dataclass
class _Batch:
    """Points that a pool of processes runs, the last one first.

    Attributes:
        queue: points that no process has yet; they are taken from it.
        drives: number of points of each drive.
        workers: number of processes.
        ahead: largest number of points that are handed over and not done.
        waiting: points that are handed over and not done. After a process was killed, those that it may have lost.
    """

    queue: list[Point]
    drives: Counter[tuple[str, str]]
    workers: int
    ahead: int
    waiting: dict[Future[Row | None], Point] = field(default_factory=dict)

    def rows(self) -> Generator[tuple[Point, Row], None, None]:
        """Run the points and give each with its row as it is done.

        Raises:
            BrokenProcessPool: a process was killed.
        """
        with worker_pool(self.workers) as pool:
            while self.queue or self.waiting:
                while self.queue and len(self.waiting) < self.ahead:
                    point = self.queue.pop()
                    self.waiting[pool.submit(measure, point, self.drives[point.drive] > 1)] = point
                for future in wait(self.waiting, return_when=FIRST_COMPLETED)[0]:
                    row = future.result()
                    point = self.waiting.pop(future)
                    if row is not None:
                        yield point, row


def by_drive(points: Sequence[Point]) -> list[Point]:
    """Sort points so that those of the same drive follow each other: the process that prepared the drive runs them
    all."""
    places = {drive: at for at, drive in enumerate(dict.fromkeys(point.drive for point in points))}
    return sorted(points, key=lambda point: places[point.drive])


def timed(points: Sequence[Point]) -> tuple[float, int]:
    """Seconds a point, from a few that are run in a process of their own; and the most bytes that it took."""
    few = list(dict.fromkeys(points[at] for at in (0, len(points) // 2, len(points) - 1)))
    # What this process takes is to be free again before the study counts the free memory.
    with worker_pool(1, wait=True) as pool:
        pool.submit(_peak).result()
        rows = [pool.submit(measure, point).result() for point in few]
        peak = pool.submit(_peak).result()
    return sum(number(row, "wall_s") for row in rows if row) / len(few), peak


def _governor(values: dict[str, str], axis: str, kind: type[Governor]) -> Governor | None:
    """A fresh policy of a point, or victim rule."""
    from pslc.device.policy import loaded

    return loaded(values[axis], kind) if values.get(axis, PROFILE) != PROFILE else None


def _peak() -> int:
    """The most memory that this process ever had, with all imports made."""
    with suppress(ImportError):
        import pslc.runner.load  # noqa: F401
    return limits.peak_bytes()
