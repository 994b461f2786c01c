"""Points of a study as tasks of a pool. A point is a pure function of its values, so neither the process nor the order
matters."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Final

from pslc.base import limits, units, work
from pslc.base.errors import PslcError
from pslc.base.workers import while_wanted
from pslc.runner.precondition_cache import PreconditionedDrives
from pslc.studies.points import PROFILE, Point
from pslc.studies.rows import REFUSED, Row, flat, number, of_drive, of_jobs, without_tails

_preconditioned: Final = PreconditionedDrives()
"""Drives that points of this process began with, where others begin with them too."""


@dataclass(frozen=True)
class Task:
    """A point to run.

    Attributes:
        shared: other points are of the same drive, so how it begins is worth keeping.
    """

    point: Point
    shared: bool = False


def tasks_of(points: Sequence[Point]) -> list[Task]:
    """The points as tasks, those of the same drive one after the other, so that few workers prepare it."""
    drives = Counter(point.drive for point in points)
    places = {drive: place for place, drive in enumerate(drives)}
    return [Task(point, drives[point.drive] > 1) for point in sorted(points, key=lambda point: places[point.drive])]


def measure(task: Task) -> Row | None:
    """Run a point: `wall_s`, `error` and its findings, flat. None: it was stopped. A drive that cannot be is no failure
    of the study: its error begins with `refused: `."""
    from pslc import suites
    from pslc.device.region import Scope
    from pslc.device.target import find_target
    from pslc.runner.run import run

    point = task.point
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
            preconditioned=_preconditioned if task.shared else None,
            policy=_governor(values, "policy"),
            victim_rule=_governor(values, "victim_rule"),
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


def timed(points: Sequence[Point]) -> tuple[float, int]:
    """Seconds a point, from a few that are run in a process of their own; and the most bytes that it took."""
    few = list(dict.fromkeys(points[at] for at in (0, len(points) // 2, len(points) - 1)))
    ((_, result),) = work.run([few], _trial, work.Local(1))
    if isinstance(result, Exception):
        raise result
    return result


def _trial(points: Sequence[Point]) -> tuple[float, int]:
    """Time of one trial, for `timed`."""
    with suppress(ImportError):
        import pslc.runner.load  # noqa: F401
    rows = [measure(Task(point)) for point in points]
    return sum(number(row, "wall_s") for row in rows if row) / len(points), limits.peak_bytes()


def _governor(values: dict[str, str], axis: str) -> str | None:
    """The policy of a point, or its victim rule; None: that of the profile."""
    return None if values.get(axis, PROFILE) == PROFILE else values[axis]
