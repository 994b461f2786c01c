"""What is left of random writes in the long run? 4 KiB all over the drive, empty and full, and within 64 GiB.

SNIA's write saturation test, in rounds of a minute, 16 requests under way (`--iodepth=64` sets another depth). An
empty drive is written for an hour, a full one for half an hour, or until it is steady: five rounds that differ
little, after twice the raw capacity was written (`plateau` before that, as a cache can look steady).
"""

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise

import numpy as np
from typing_extensions import TypedDict

from pslc.analysis import find_phases
from pslc.analysis.series import Floats
from pslc.base import words
from pslc.device.region import Region
from pslc.figures import curves, reduce
from pslc.figures.picture import Axis, Label, Line, Panel, Picture, Table, Text
from pslc.figures.tables import Columns, of_rows
from pslc.recording.model import Recording, join
from pslc.recording.suite_helpers import curve, jobs, snia_steady, sums
from pslc.schema.facts import Facts
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import FitStart, StartValues, Steps

QUICK = "at most 12 s each, in rounds of 2 s"
COMPUTER = "none"
DEPTH = 16
SPAN = 64 << 30
CASES = {"fresh": 60.0, "span": 5.0, "filled": 30.0}
"""Minutes at most: of the empty drive, of 64 GiB of it where it is larger, of the full one."""
NAMES: Mapping[str, Text] = {
    "fresh": "empty drive",
    "span": Label("{} of the empty drive", SPAN, "B"),
    "filled": "full drive",
}
ROUNDS_A_STEP = 5
ROUND_S, QUICK_ROUND_S = 60.0, 2.0
QUICK_ROUNDS = 6
REST_S = 300.0
RAW_TIMES = 2.0
SPARING_SHARE, SPARING_S = 0.4, 600.0
"""Share of the full drive that is written, and the time limit in seconds, until the drive collects garbage: more than
its spare space."""
BRIEF = 0.01
"""Share of a case below which a speed is no plateau to speak of."""
HELD = 0.8
"""Share of the first second's rate above which a drive holds it."""
NEARLY = 0.1
"""Plateaus that differ by less are told as one."""


def steps(region: Region) -> Steps:
    """Five rounds a step, until a case is steady or its time is over."""
    whole = region.share(1.0)
    # A scaled drive is written within as much less, which is multiplied back.
    part = round(SPAN * Fraction(region.target.facts.get("scale", 1)))
    for case, minutes in CASES.items():
        if case == "span" and (whole <= part or region.sparing):
            continue
        span = part if case == "span" else whole
        before = region.write("lay-out", region.size) if case == "filled" else region.trim()
        if region.sparing and case == "filled":
            limit = f"{round(SPARING_S * 1e6)}us"
            yield before
            yield region.job(case, rw="randwrite", bs="4k", iodepth=DEPTH, norandommap=True, size=span,
                             io_size=region.share(SPARING_SHARE), runtime=limit, pause=REST_S)  # fmt: skip
            return
        yield from _until_steady(region, case, span, before, minutes)


def _until_steady(region: Region, case: str, span: int, before: str, minutes: float) -> Steps:
    """Five rounds a step behind `before`, until a case is steady or its time is over."""
    seconds = QUICK_ROUND_S if region.quick else ROUND_S
    raw = _raw(region.target.facts, region.target.capacity_bytes)
    left = QUICK_ROUNDS if region.quick else int(minutes * 60 / ROUND_S)
    parts: list[Recording] = []
    while left > 0:
        count = min(ROUNDS_A_STEP, left) if left != ROUNDS_A_STEP + 1 else left
        if not parts:
            yield before
        pause = REST_S if not parts else 0.0
        part = yield region.job(case, rw="randwrite", bs="4k", iodepth=DEPTH, norandommap=True, size=span,
                                seconds=count * seconds, pause=pause)  # fmt: skip
        left -= count
        if part is not None:
            parts.append(part)
            if _verdict(_rounds(parts, seconds), sum(p.written_bytes for p in parts), raw) == "steady":
                return


def _raw(facts: Facts, capacity: int) -> float:
    return float(facts.get("native_raw_bytes") or capacity)


def _rounds(parts: list[Recording], seconds: float) -> Floats:
    """Requests a second in each round."""
    rounds: list[float] = []
    for part in parts:
        at, writes = sums(part, "writes")
        start = (int(part.jobs[0]["start_ns"]) - part.start_ns) / 1e9
        edges = start + np.arange(round((at[-1] - start) / seconds) + 1) * seconds
        rounds += list(np.diff(np.interp(edges, at, writes)) / seconds)
    return np.array(rounds)


def _verdict(rounds: Floats, written: float, raw: float) -> str:
    if not snia_steady(rounds):
        return "unsteady"
    return "steady" if written >= RAW_TIMES * raw else "plateau"


class Plateau(TypedDict):
    """A stretch of one speed."""

    from_s: float
    to_s: float
    iops: float


class Case(TypedDict):
    """Figures of one case: a fresh drive, a span, or a full drive."""

    case: str
    depth: int
    span_bytes: int
    held_iops: float | None
    held_s: float | None
    iops: float | None
    last_iops: float | None
    first_iops: float
    verdict: str
    snia_steady: bool
    written_bytes: int
    raw_times: float
    rounds: list[float]
    plateaus: list[Plateau]


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    random_steady: list[Case]
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `random_steady`: of each case (`fresh`, `span`, `filled`) `depth`, `span_bytes`, `held_iops` and `held_s` (the
    median until it fell for good below four fifths of its first second, and when that was; the time is null where it
    did not fall), `iops` (mean of its last five rounds where SNIA's rule calls them steady, else null), `last_iops`
    (its last round), `first_iops` (its first second), `verdict` (`steady`, `plateau`, `unsteady`), `snia_steady`,
    `written_bytes`, `raw_times` (these over the raw capacity), `rounds` (IOPS) and `plateaus`: `from_s`, `to_s`,
    `iops`
    """
    quick = bool(recording.scope.get("quick"))
    seconds = QUICK_ROUND_S if quick else ROUND_S
    raw = _raw(recording.facts, recording.capacity_bytes)
    rows: list[Case] = []
    for case in CASES:
        parts = [part for part in recording.parts if part.jobs and part.jobs[0]["name"] == case]
        if not parts:
            continue
        rounds = _rounds(parts, seconds)
        written = sum(part.written_bytes for part in parts)
        at, writes = sums(parts[0], "writes")
        start = (int(parts[0].jobs[0]["start_ns"]) - parts[0].start_ns) / 1e9
        first = float(np.diff(np.interp([start, start + 1.0], at, writes))[0])
        flat = snia_steady(rounds)
        rows.append(
            {
                "case": case,
                "depth": int(parts[0].jobs[0]["iodepth"]),
                "span_bytes": int(parts[0].jobs[0]["options"]["size"]),
                **_held(parts, first),
                "iops": float(rounds[-5:].mean()) if flat else None,
                "last_iops": float(rounds[-1]) if len(rounds) else None,
                "first_iops": first,
                "verdict": _verdict(rounds, written, raw),
                "snia_steady": flat,
                "written_bytes": written,
                "raw_times": written / raw,
                "rounds": [float(r) for r in rounds],
                "plateaus": _plateaus(parts),
            }
        )
    return {"random_steady": rows, "warnings": []}


class Held(TypedDict):
    """Median rate until a case fell below its first one for good, and when that was."""

    held_iops: float | None
    held_s: float | None


def _held(parts: list[Recording], first: float) -> Held:
    of = curve(join(parts))
    if of is None:
        return {"held_iops": None, "held_s": None}
    ends = np.linspace(0.0, of.total_seconds, 401)
    at = np.r_[0.0, np.cumsum(of.seconds)]
    rates = np.diff(np.interp(ends, at, of.edges_bytes)) / np.diff(ends) / 4096
    last = int(np.flatnonzero(rates >= HELD * first).max(initial=0))
    fell = last < len(rates) - 1
    return {"held_iops": float(np.median(rates[: last + 1])), "held_s": float(ends[last + 1]) if fell else None}


def _plateaus(parts: list[Recording]) -> list[Plateau]:
    of = curve(join(parts))
    if of is None:
        return []
    phases = find_phases(of)
    ends = [0.0, *(float(of.seconds_at(np.array([phase.to_bytes]))[0]) for phase in phases)]
    return [{"from_s": a, "to_s": b, "iops": phase.bytes_per_s / 4096}
            for (a, b), phase in zip(pairwise(ends), phases, strict=True)]  # fmt: skip


CALLED = {"fresh": "Empty drive, all of it", "span": "Within {}", "filled": "Full drive, all of it"}


def _end(row: Case) -> str:
    if row["iops"] is not None and row["verdict"] == "steady":
        return f"{words.count(row['iops'])} IOPS at the end, steady"
    if row["iops"] is not None and row["verdict"] == "plateau":
        times = row["raw_times"]
        written = f"{words.count(times) if times >= 0.1 else f'{times:.1g}'} times the raw capacity"
        needed = f"{written} written, where steady needs {RAW_TIMES:g}"
        return f"{words.count(row['iops'])} IOPS at the end, level so far ({needed})"
    if row["last_iops"] is None:
        return "too short for a round"
    last = row["rounds"][-5:]
    lowest, highest = words.count(min(last)), words.count(max(last))
    return (
        f"{words.count(row['last_iops'])} IOPS at the end, still changing ({lowest} to {highest} over the last rounds)"
    )


def fit_hints(findings: object, start: FitStart) -> list[StartValues]:
    """Starts for the over-provisioning, which decides how often random writes make a full drive collect garbage.

    Beyond some of it more makes no difference: from there no slope leads back.
    """
    return [[{"over_provisioning": ratio * start.values["over_provisioning"]} for ratio in (1.0, 0.5, 2.0)]]


def sentences(findings: Findings) -> list[str]:
    """Steady-state speed, a sentence for each case."""
    lines = []
    for row in findings["random_steady"]:
        called = CALLED[row["case"]].format(words.size(row["span_bytes"]))
        # What the buffer takes in is none, nor is what goes on nearly as fast; the last one is told by its end.
        long = [p for p in row["plateaus"][:-1] if p["to_s"] - p["from_s"] >= BRIEF * row["plateaus"][-1]["to_s"]]
        pairs = pairwise([*long, *row["plateaus"][-1:]])
        steps = [p for p, then in pairs if abs(then["iops"] / p["iops"] - 1) > NEARLY]
        first = ", then ".join(f"{words.count(p['iops'])} IOPS until {words.span(p['to_s'])}" for p in steps[:4])
        lines.append(f"{called}: {first}; {_end(row)}." if first else f"{called}: {_end(row)}.")
    return lines


def tables(findings: Findings) -> list[Table]:
    """A table with a row for each case."""
    columns: Columns = {
        "case": "case", "depth": "depth", "first second": "first_iops", "held": "held_iops", "until": "held_s",
        "steady": "iops", "last round": "last_iops", "written": "written_bytes", "of raw": ("raw_times", words.share),
        "verdict": "verdict",
    }  # fmt: skip
    return [of_rows("Random writes a second", findings["random_steady"], columns)]


def pictures(recording: Recording) -> list[Picture]:
    """IOPS against time, a line per case."""
    lines = []
    for case in CASES:
        parts = [part for part in recording.parts if part.jobs and part.jobs[0]["name"] == case]
        of = curve(join(parts)) if parts else None
        if of is not None:
            line = Line(NAMES[case], np.cumsum(of.seconds), of.bytes_per_s / 4096)
            lines.append(reduce.smoothed(line, of.seconds, mean=reduce.Mean.OVER_TIME))
    panel = Panel(Axis("IOPS", "/s", log=10), lines)
    moved = [job["write"] for name, job in jobs(recording) if name in CASES]
    title = curves.with_request_size("Random writes over time", moved)
    return [Picture("random", title, curves.TIME, (panel,)), *curves.of_any(recording)]
