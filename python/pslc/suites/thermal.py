"""How hot does the drive get, and what does it do about it? Writing and reading without a pause, against temperature.

Sequential reads and writes until the drive is as hot as it gets, and single reads, far apart, while it cools. Each
begins at rest: until the temperature no longer changes, for an hour at most. A real drive is asked for its
temperature once a second. It does not report throttling, so reads that become slow and stay slow while the drive is
hot count as throttled; writes become slow for other reasons too and are not used.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from pslc.analysis.series import Floats
from pslc.base import words
from pslc.device.region import Region
from pslc.device.sensors import TEMPERATURE
from pslc.figures import curves
from pslc.figures.picture import Mark, Picture, Table
from pslc.figures.reduce import BAND
from pslc.figures.tables import Columns, of_rows
from pslc.recording.model import Recording
from pslc.schema.jobs import Kind
from pslc.schema.unknown import unknown
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "3 minutes of each instead of 20"
COMPUTER = "none"
UNLIKE_SCALED = "heat takes as long as on the whole drive, which is written sooner"
ASKS_TEMPERATURE = True
SECONDS, QUICK_SECONDS = 1200.0, 180.0
STRESSES = ("write", "read")
WORK_NOTE = "grey: the host writes or reads; elsewhere it rests, and the drive may still fold"
WORK = {"lay-out": "writing what will be read", "stress-write": "writing", "stress-read": "reading"}
"""Jobs that heat the drive, as pictures call them."""
LEVEL = "throttle_level"
REST_S, MAX_RESTS = 900.0, 4
SETTLED_C = 0.5
"""A drive whose temperature changes by less over a rest has settled."""
NEAR_MOST_C = 1.0
"""A drive this close to its maximum has reached it."""
FALLEN = 0.85
"""Reading that stays below this share of its first speed is throttled, where the drive is also this much warmer:"""
WARMER_C = 10.0
HOTTEST_C = 100.0
"""Drives of consumers state 0 to 70 C, and throttle hard or shut down below 100 C."""
GRID, CLOSER = 40, 3
"""Time constants that are tried from the quickest to the slowest, and how often closer about the best of them."""
WATCHED = 1.5
"""Times as long as it was watched, beyond which a time constant is not known."""
DEGREES = 20
"""Steps of the thermometer that the temperature has to fall by, to be told for a sum of exponentials."""


def steps(region: Region) -> Steps:
    """A step a stress, each followed by as long a time of cooling."""
    seconds = QUICK_SECONDS if region.quick else SECONDS
    span = region.share(0.5)
    yield region.write("lay-out", span)
    for kind in STRESSES:
        before = None
        for _ in range(MAX_RESTS):
            part = yield region.job("rest", rw="read", bs="4k", number_ios=1, size=span, pause=REST_S)
            now = float(part.time[TEMPERATURE][-1]) / 1000 if part and TEMPERATURE in part.time else None
            if now is None or (before is not None and abs(now - before) < SETTLED_C):
                break
            before = now
        cool = region.job(
            f"cool-{kind}", rw="randread", bs="4k", thinktime="1s", size=span, norandommap=True, seconds=seconds
        )
        yield (
            region.job(
                f"stress-{kind}",
                rw=kind,
                bs="128k",
                iodepth=32,
                size=span,
                seconds=seconds,
            )
            + cool
        )


class Stress(TypedDict):
    """Figures of one stress: sequential writes or reads."""

    stress: Kind
    start_c: float | None
    most_c: float | None
    to_most_s: float | None
    bytes_per_s: float
    throttled_after_s: float | None
    throttled_at_c: float | None
    throttled_bytes_per_s: float | None


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    thermal: list[Stress]
    cooling_s: list[float]
    temperature_known: bool
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `thermal`: of each `stress` (`write`, `read`) `start_c`, `most_c`, `to_most_s` (until within 1 C of that),
      `bytes_per_s` of its first 10 s, `throttled_after_s`, `throttled_at_c`, `throttled_bytes_per_s` (the mean from
      then on, pauses of throttling included); null where it was not throttled, or where that is not known
    - `cooling_s`: time constants of the two slowest exponentials that the cooling after the last stress follows; the
      first alone where the other is too long for the time that it was watched
    - `temperature_known`
    """
    # A profile without heat has the column, and nothing in it.
    has_temperature, has_level = recording.totals.get(TEMPERATURE, 0) > 0, LEVEL in recording.time
    stressed = [part for part in recording.parts if part.jobs and part.jobs[0]["name"].startswith("stress-")]
    rows = [_stress(part, has_temperature) for part in stressed if _lasted(part)]
    cooled = [part for part in recording.parts if len(part.jobs) > 1 and part.jobs[1]["name"].startswith("cool-")]
    constants = _constants(cooled[-1]) if has_temperature and cooled else []
    warnings = []
    if not has_temperature:
        warnings.append(
            MeasurementWarning(
                "temperature-unknown",
                "the temperature is unknown: Linux shows none for this drive, or its profile has no [heat]",
            )
        )
    elif not has_level:
        warnings.append(
            MeasurementWarning(
                "throttling-inferred", "a real drive does not say when it throttles: it is inferred from the read speed"
            )
        )
    elif (hottest := _hottest(rows)) > HOTTEST_C:
        why = "its profile has no [heat.throttle1], or one that is not enough"
        warnings.append(
            MeasurementWarning(
                "hotter-than-any", f"it gets as hot as {hottest:.0f} C, which no drive lets itself become: {why}"
            )
        )
    return {"thermal": rows, "cooling_s": constants, "temperature_known": has_temperature, "warnings": warnings}


def _hottest(rows: list[Stress]) -> float:
    return max((row["most_c"] for row in rows if row["most_c"] is not None), default=0.0)


def _lasted(part: Recording) -> bool:
    """Whether there are bins of the stress: a run that was cut off may have none yet."""
    job = part.jobs[0]
    ends = part.time["end_ns"]
    return bool(((ends > job["start_ns"]) & (ends <= job["start_ns"] + job["elapsed_ns"])).any())


def _stress(part: Recording, has_temperature: bool) -> Stress:
    job = part.jobs[0]
    kind: Kind = "read" if job["name"] == "stress-read" else "write"
    series = part.time
    ends = series["end_ns"].astype(np.float64)
    inside = ends <= job["start_ns"] + job["elapsed_ns"]
    seconds = (ends[inside] - part.start_ns) / 1e9
    started = (int(job["start_ns"]) - part.start_ns) / 1e9
    moved = np.cumsum(series[f"{kind}_bytes"][inside], dtype=np.float64)
    begun = min(10.0, (float(seconds[-1]) - started) / 2)
    first = float(np.interp(started + begun, seconds, moved)) / begun
    row = unknown(Stress)
    row |= {"stress": kind, "bytes_per_s": first}
    if not has_temperature:
        return row
    celsius = series[TEMPERATURE][inside] / 1000
    begin = min(int((seconds <= started).sum()), len(celsius) - 1)
    hottest = float(celsius[begin:].max())
    reached = begin + int(np.argmax(celsius[begin:] >= hottest - NEAR_MOST_C))
    row |= {"start_c": float(celsius[begin]), "most_c": hottest, "to_most_s": float(seconds[reached]) - started}
    if LEVEL in series:
        throttled = np.flatnonzero(series[LEVEL][inside])
    elif kind == "read":
        throttled = _fallen(seconds, moved, first, celsius)
    else:
        throttled = np.array([], dtype=np.intp)
    if throttled.size:
        at = int(throttled[0])
        after = float(seconds[at]) - started
        left = float(seconds[-1] - seconds[at])
        row |= {"throttled_after_s": after, "throttled_at_c": float(celsius[at])}
        row |= {"throttled_bytes_per_s": float(moved[-1] - moved[at]) / left if left > 0 else None}
    return row


def _fallen(
    seconds: NDArray[np.float64], moved: NDArray[np.float64], first: float, celsius: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Bins from which on no 10 s are as fast as the first ones, and the drive is hot."""
    window = np.minimum(seconds + 10.0, seconds[-1])
    ahead = np.interp(window, seconds, moved) - moved
    whole = seconds <= seconds[-1] - 10.0
    slow = ahead[whole] < FALLEN * first * 10.0
    last_fast = int(np.flatnonzero(~slow).max(initial=-1))
    own = np.diff(moved, append=moved[-1]) / np.maximum(np.diff(seconds, append=np.inf), 1e-9)
    indices = np.flatnonzero(own[last_fast + 1 : len(slow)] < FALLEN * first) + last_fast + 2
    indices = indices[indices < len(celsius)]
    return indices if indices.size and celsius[indices[0]] >= celsius[0] + WARMER_C else indices[:0]


def _constants(part: Recording) -> list[float]:
    """Seconds: of the sum of two exponentials and a constant that fits the cooling best; the slow one if it was watched
    for long enough, and neither where the thermometer is too coarse."""
    job = part.jobs[1]
    ends = part.time["end_ns"].astype(np.float64)
    inside = (ends > job["start_ns"]) & (ends <= job["start_ns"] + job["elapsed_ns"])
    if inside.sum() < 20:
        return []
    return cooling((ends[inside] - job["start_ns"]) / 1e9, part.time[TEMPERATURE][inside] / 1000)


def cooling(seconds: Floats, celsius: Floats) -> list[float]:
    """The time constants of a curve of cooling, in seconds, shapes (n,) and (n,)."""
    steps = np.abs(np.diff(celsius))
    if not steps.any() or float(celsius[0] - celsius[-1]) < DEGREES * float(steps[steps > 0].min()):
        return []
    keep = np.linspace(0, len(seconds) - 1, min(len(seconds), 200)).astype(int)
    seconds, celsius = seconds[keep], celsius[keep]

    def off(fast: float, slow: float) -> float:
        design = np.stack([np.exp(-seconds / fast), np.exp(-seconds / slow), np.ones_like(seconds)], axis=1)
        weights, *_ = np.linalg.lstsq(design, celsius, rcond=None)
        return float(((design @ weights - celsius) ** 2).sum()) if weights[1] > 0 else np.inf

    grid = np.geomspace(2.0, 4.0 * float(seconds[-1]), GRID)
    step = float(grid[1] / grid[0])
    pairs = [(float(fast), float(slow)) for i, fast in enumerate(grid) for slow in grid[i + 1 :]]
    best = min(pairs, key=lambda pair: off(*pair))
    for _ in range(CLOSER):
        near = np.geomspace(1 / step, step, 9)
        best = min(
            ((best[0] * factor, best[1] * other_factor) for factor in near for other_factor in near),
            key=lambda pair: off(*pair),
        )
        step **= 0.25
    fast, slow = float(best[0]), float(best[1])
    return [fast, slow] if slow <= WATCHED * float(seconds[-1]) else [fast]


def sentences(findings: Findings) -> list[str]:
    """Temperature and throttling, a sentence for each stress."""
    lines = []
    for row in findings["thermal"]:
        doing = {"write": "Writing", "read": "Reading"}[row["stress"]]
        speed, after = words.speed(row["bytes_per_s"]), row["throttled_after_s"]
        if row["most_c"] is None:
            lines.append(f"{doing}: {speed} at first.")
        elif after is None:
            reached = f" within {words.span(row['to_most_s'])}" if row["to_most_s"] else ""
            lines.append(f"{doing} at {speed} warms it from {row['start_c']:.0f} to {row['most_c']:.0f} C{reached}. "
                         "No throttling.")  # fmt: skip
        else:
            left = row["throttled_bytes_per_s"]
            lines.append(f"{doing} at {speed} throttles after {words.span(after)}, at {row['throttled_at_c']:.0f} C, "
                        f"to {words.speed(left) if left else 'nothing'}.")  # fmt: skip
    constants = [words.span(constant) for constant in findings["cooling_s"]]
    if len(constants) == 1:
        lines.append(
            f"Cools with a time constant of {constants[0]}, and a slower one that this run was too short to tell."
        )
    elif constants:
        lines.append(f"Cools with time constants of {' and '.join(constants)}.")
    return lines


def _celsius(value: float) -> str:
    return f"{value:.1f} C"


def tables(findings: Findings) -> list[Table]:
    """Table with a row for each stress."""
    columns: Columns = {
        "stress": "stress", "speed": "bytes_per_s", "from": ("start_c", _celsius), "to": ("most_c", _celsius),
        "within": "to_most_s", "throttled after": "throttled_after_s", "at": ("throttled_at_c", _celsius),
        "then": "throttled_bytes_per_s",
    }  # fmt: skip
    return [of_rows("Heat", findings["thermal"], columns)]


def pictures(recording: Recording) -> list[Picture]:
    """Temperature and power over time with the times of work, then the pictures of any recording."""
    is_known = recording.findings.typed(Findings)["temperature_known"]
    any_drive = [picture for picture in curves.of_any(recording) if picture.name != "heat"]
    heat = [_with_work(recording, picture) for picture in curves.heat_and_power(recording)] if is_known else []
    return [*heat, *any_drive]


def _with_work(recording: Recording, picture: Picture) -> Picture:
    """The picture, shaded where the drive worked without a pause; between these it rests and cools."""
    marks = []
    for job in recording.jobs:
        start = (job["start_ns"] - recording.start_ns) / 1e9
        if job["name"] in WORK:
            marks.append(Mark(start, None, WORK[job["name"]], start + job["elapsed_ns"] / 1e9))
    unlabeled = [replace(mark, label="") for mark in marks]
    panels = [replace(panel, marks=unlabeled if number else marks) for number, panel in enumerate(picture.panels)]
    return replace(picture, panels=tuple(panels), note=(BAND, WORK_NOTE))
