"""Where points are run: processes of this machine. A point is a pure function of what it says, so it does not matter
which process runs it, nor in which order."""

from __future__ import annotations

import multiprocessing
import os
import re
import resource
import signal
import sys
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from pslc import units
from pslc.errors import PslcError
from pslc.jobs import Job
from pslc.processes import end_with_parent
from pslc.runner.prepared import Prepared
from pslc.studies.points import Point

if TYPE_CHECKING:
    from pslc.recording import Recording
    from pslc.results import StepProgress

AHEAD: Final = 4
"""Points a worker that are handed over before they are needed."""
MOST_ITEMS: Final = 8
"""A longer list is a curve: it belongs into a recording, not into a row."""
LARGEST: Final = 2**63 - 1
REFUSED: Final = "refused: "

Value = str | int | float | None
Row = dict[str, Value]
"""Of a point: its axes and findings by name."""

_stop: Any = None
"""In a worker: set when nobody waits for its point any more."""
_prepared: Final = Prepared()
"""Drives that points of this process began with, where others begin with them too."""


def number(row: Row, name: str) -> float:
    """What is known to be one."""
    value = row[name]
    assert isinstance(value, int | float), f"{name} is {value}"
    return float(value)


def cores() -> int:
    """Those this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def measure(point: Point, shared: bool = False) -> Row | None:
    """Run a point: `wall_s`, `error` and its findings, flat. None: it was stopped. A drive that cannot be is no failure
    of the study: its error begins with `refused: `.

    Args:
        shared: other points are of the same drive, so how it begins is worth keeping.
    """
    from pslc import suites
    from pslc.runner.run import run
    from pslc.targets.region import Scope
    from pslc.targets.target import find_target

    values, began = dict(point.values), monotonic()
    filled = units.percent(values["fill_first"], "fill_first") if "fill_first" in values else 0
    scope = Scope(quick=point.quick, fill_first=filled)
    error, found = None, {}
    try:
        recording = run(
            values["run"],
            on=point.spec,
            seed=int(values["seed"]),
            scope=scope,
            progress=_go_on,
            prepared=_prepared if shared else None,
        )
        if recording.interrupted:
            return None
        found, error = flat(recording.findings) | of_drive(recording), recording.error
        if values["run"] not in suites.names():
            found |= of_jobs(recording.jobs)
    except KeyboardInterrupt:
        return None
    except PslcError as wrong:
        said = wrong.message
        try:
            find_target(point.spec)
            error = f"failed: {said}"
        except PslcError:
            error = REFUSED + said
    except Exception as bug:
        error = f"failed: {type(bug).__name__}: {bug}"
    return {"wall_s": monotonic() - began, "error": error} | found


def of_drive(recording: Recording) -> Row:
    """What the cells had to take for each byte of the host: in native mode, and in all."""
    host = recording.totals.get("host_write_bytes_total", 0) - recording.before.get("host_write_bytes_total", 0)
    if not host:
        return {}
    native, slc = (
        (recording.totals[name] - recording.before[name]) / host
        for name in ("native_programmed_bytes_total", "slc_programmed_bytes_total")
    )
    return {"native_per_host": native, "slc_per_host": slc, "write_amplification": native + slc}


def of_jobs(jobs: Sequence[Job]) -> Row:
    """What each job of a job file got: `JOB_write_bytes_per_s`, `JOB_write_mean_s`, `JOB_write_p99_s`, and of reads."""
    row: Row = {}
    for job in jobs:
        for kind in ("read", "write"):
            done, name = job[kind], re.sub(r"\W", "_", f"{job['name']}_{kind}")
            if not done["total_ios"]:
                continue
            if done["runtime_ns"]:
                row[f"{name}_bytes_per_s"] = done["io_bytes"] / done["runtime_ns"] * 1e9
            row[f"{name}_mean_s"] = done["lat_ns"]["mean"] / 1e9
            for said, key in (("p99", "99.000000"), ("p99_9", "99.900000")):
                row[f"{name}_{said}_s"] = done["lat_ns"]["percentile"][key] / 1e9
    return row


def flat(findings: Mapping[str, object], before: str = "") -> Row:
    """Findings as one row. Lists of a few tables get numbers, `phases_1_bytes_per_s`, longer ones only `..._count`."""
    row: Row = {}
    for key, value in findings.items():
        name = f"{before}{key}".replace("-", "_")
        if isinstance(value, dict):
            row |= flat(value, f"{name}_")
        elif isinstance(value, list | tuple):
            row[f"{name}_count"] = len(value)
            if value and all(isinstance(item, str) for item in value):
                row[name] = "\n".join(value)
            elif len(value) <= MOST_ITEMS:
                for number, item in enumerate(value, 1):
                    row |= flat(item if isinstance(item, dict) else {"": item}, f"{name}_{number}_")
        elif isinstance(value, int) and not isinstance(value, bool) and abs(value) > LARGEST:
            row[name.rstrip("_")] = float(value)
        elif value is None or isinstance(value, bool | int | float | str):
            row[name.rstrip("_")] = value
    return row


def results(points: Sequence[Point], workers: int) -> Generator[tuple[Point, Row], None, None]:
    """Run points in so many processes and give each with its row as it is done, in any order. Closing the iterator ends
    the processes; what they were at is lost, nothing else.

    A process that is killed takes the points that were under way with it. They are run again one by one, so that only
    the point on which it is killed again fails.
    """
    drives = Counter(point.drive for point in points)
    queue, alone = list(reversed(by_drive(points))), list[Point]()
    while queue or alone:
        context = multiprocessing.get_context("spawn")
        stop = context.Event()
        careful, count = bool(alone), 1 if alone else workers
        waiting: dict[Future[Row | None], Point] = {}
        pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(stop,))
        try:
            while alone or waiting or (queue and not careful):
                source = alone if careful else queue
                while source and len(waiting) < (1 if careful else AHEAD * count):
                    point = source.pop()
                    waiting[pool.submit(measure, point, drives[point.drive] > 1)] = point
                for future in wait(waiting, return_when=FIRST_COMPLETED)[0]:
                    row = future.result()
                    point = waiting.pop(future)
                    if row is not None:
                        yield point, row
        except BrokenProcessPool:
            if careful:
                for point in waiting.values():
                    yield point, {"wall_s": 0.0, "error": "failed: its process was killed; memory may have run out"}
            else:
                alone = list(reversed(waiting.values()))
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)


def by_drive(points: Sequence[Point]) -> list[Point]:
    """Those of the same drive one after the other, so that a process that has it as they begin has it for all."""
    places = {drive: at for at, drive in enumerate(dict.fromkeys(point.drive for point in points))}
    return sorted(points, key=lambda point: places[point.drive])


def timed(points: Sequence[Point]) -> tuple[float, int]:
    """Seconds a point, from a few that are run in a process of their own; and the most bytes that it took."""
    few = list(dict.fromkeys(points[at] for at in (0, len(points) // 2, len(points) - 1)))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=_begin, initargs=(context.Event(),)) as pool:
        pool.submit(_peak).result()
        rows = [pool.submit(measure, point).result() for point in few]
        peak = pool.submit(_peak).result()
    return sum(number(row, "wall_s") for row in rows if row) / len(few), peak


def _begin(stop: Any) -> None:
    """In a worker, before anything: an interrupt is the parent's, and without it there is nothing to do."""
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def _go_on(_: StepProgress) -> bool:
    return _stop is None or not _stop.is_set()


def _peak() -> int:
    """The most memory that this process ever had, with all imports made."""
    with suppress(ImportError):
        import pslc.opened  # noqa: F401
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
