"""What is needed for a twin of this drive? The suites that tell most for the least writing, one after the other.

The suites of pslc in an order for `pslc fit`: single requests first, then a fill, pauses, a second pass, rewriting and
random writes, each in its quick form, as far as the budget goes (--budget 400GB or 2h). The drive is trimmed and rests
between them. `pslc fit` makes a profile of the recording.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from typing_extensions import TypedDict

from pslc import suites
from pslc.analysis import Writes
from pslc.base import words
from pslc.device.cost import Cost, cost
from pslc.device.region import Region
from pslc.figures import curves
from pslc.figures.picture import Picture, Table
from pslc.figures.tables import Column, of_rows
from pslc.recording.store import Recording, ScopeDocument, join
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

OF_SUITES = True
QUICK = "fill and recovery only"
ORDER: Final = ("qd-sweep", "fill", "recovery", "burst", "overwrite", "second-pass", "random-steady")
"""Order of the suites, the most informative first; docs/twin.md has the table."""
QUICK_ORDER: Final = ("fill", "recovery")
BEGIN: Final = "begin-"
REST_S: Final = 60.0
RESTS: Final = 0.05
"""Longest rest, as a share of a budget of time."""
SLOW: Final = 300e6
"""Bytes a second at which the time of a suite is estimated before anything was measured."""
SPAN: Final = 128
"""Times as large as what queues are tried on is the drive."""
LEAST_SPAN: Final = 64 << 20
PART: Final = 0.6
"""Share of the budget that a fill of a part of the drive may take, if a fill of the whole drive exceeds the budget."""


def steps(region: Region) -> Steps:
    """Each suite behind a step that makes the drive forget; what would pass the budget is left out."""
    budget = region.budget
    most_bytes = budget.bytes if budget and budget.bytes else float("inf")
    most_s = budget.seconds if budget and budget.seconds else float("inf")
    rest_s = min(REST_S, RESTS * most_s)
    spent_bytes = 0.0
    spent_s = 0.0
    speed = SLOW
    for name in QUICK_ORDER if region.quick else ORDER:
        inner = replace(region, quick=name != "fill", sparing=True, budget=None)
        if name == "qd-sweep":
            # What is read is to be in the cache, however small that is: behind folding, reads tell nothing of cells.
            span = max(inner.target.capacity_bytes // SPAN // 2**20 * 2**20, LEAST_SPAN)
            inner = replace(inner, size=min(inner.size, span))
        planned = _cost(inner, name)
        left_bytes, left_s = most_bytes - spent_bytes, most_s - spent_s - rest_s
        if name == "fill" and (planned.write_bytes > left_bytes or planned.seconds(speed) > left_s):
            some = PART * min(left_bytes, left_s * speed)
            inner = replace(inner, size=int(min(inner.size, some)) // 2**20 * 2**20)
            if inner.size < inner.target.capacity_bytes // 50:
                continue
        elif planned.write_bytes > left_bytes or planned.seconds(speed) > left_s:
            continue
        yield region.trim(f"{BEGIN}{name}") + region.write(f"{BEGIN}{name}-rest", 2**20, pause=rest_s)
        spent_s += rest_s
        walk = suites.load(name).steps(inner)
        text = next(walk, None)
        while text is not None:
            part = yield text
            if part is not None:
                spent_bytes += part.written_bytes
                spent_s += part.drive_time_s
                speed = part.written_bytes / max(part.drive_time_s, 1e-3) if name == "fill" else speed
                if spent_bytes > most_bytes or spent_s > most_s:
                    walk.close()
                    break
            else:
                spent = cost([text], name, [], region.target)
                spent_bytes += spent.write_bytes
                spent_s += spent.seconds(speed)
            text = _next(walk, part)


def _next(walk: Generator[str, Recording | None, None], part: Recording | None) -> str | None:
    try:
        return walk.send(part)
    except StopIteration:
        return None


def _cost(region: Region, name: str) -> Cost:
    return cost(suites.expected(name, region), name, [], region.target)


def parts_by_suite(recording: Recording) -> dict[str, Recording]:
    """The suites of a recording of this one, each as if it had been run alone, with its findings."""
    groups: dict[str, list[Recording]] = {}
    name = ""
    for part in recording.parts:
        first = part.jobs[0]["name"] if part.jobs else ""
        if first.startswith(BEGIN):
            name = first.removeprefix(BEGIN)
        elif name:
            groups.setdefault(name, []).append(part)
    return {name: _alone(recording, name, parts) for name, parts in groups.items()}


def between(recording: Recording) -> dict[str, str]:
    """Job files that trim the drive and let it rest, by the suite they precede."""
    begun = [part for part in recording.parts if part.jobs and part.jobs[0]["name"].startswith(BEGIN)]
    return {part.jobs[0]["name"].removeprefix(BEGIN): part.job_file for part in begun}


def _alone(recording: Recording, name: str, parts: Sequence[Recording]) -> Recording:
    scope: ScopeDocument = {**recording.scope, "quick": name != "fill"}
    recording_of_suite = replace(join(list(parts)), suite=name, scope=scope, findings=recording.findings)
    recording_of_suite.findings = type(recording.findings)(suites.load(name).findings(recording_of_suite))
    return recording_of_suite


class SuiteRun(TypedDict):
    """A suite that was run."""

    suite: str
    written_bytes: int
    seconds: float
    findings: Mapping[str, object]


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    suites: list[SuiteRun]
    left_out: list[str]
    doubts: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `suites`: of each suite that was run `suite`, `written_bytes`, `seconds` and its `findings`
    - `left_out`: those that the budget left out
    """
    quick = bool(recording.scope.get("quick"))
    of = parts_by_suite(recording)
    rows: list[SuiteRun] = [
        {
            "suite": name,
            "written_bytes": part.written_bytes,
            "seconds": part.drive_time_s,
            "findings": dict(part.findings),
        }
        for name, part in of.items()
    ]
    left_out = [name for name in (QUICK_ORDER if quick else ORDER) if name not in of]
    short = MeasurementWarning("budget", f"the budget left out {', '.join(left_out)}: what they tell stays assumed")
    doubts = [short] if left_out else []
    return {"suites": rows, "left_out": left_out, "doubts": doubts}


def sentences(findings: Findings) -> list[str]:
    """Suites that were run, and the next step."""
    names = [row["suite"] for row in findings["suites"]]
    written = sum(row["written_bytes"] for row in findings["suites"])
    return [f"Measured {', '.join(names)}, writing {words.size(written)}.", "pslc fit makes a twin of it."]


def tables(findings: Findings) -> list[Table]:
    """Table with a row for each suite."""
    columns: list[Column] = [
        ("suite", "suite", str),
        ("written", "written_bytes", words.size),
        ("took", "seconds", words.span),
    ]
    return [of_rows("Suites", findings["suites"], columns)]


def pictures(recording: Recording) -> list[Picture]:
    """The fill, then all of it."""
    recordings = parts_by_suite(recording)
    first = (
        [curves.speed_by_bytes(recordings["fill"], recordings["fill"].findings.typed(Writes)["phases"])]
        if "fill" in recordings
        else []
    )
    return [*first, *curves.of_any(recording)]
