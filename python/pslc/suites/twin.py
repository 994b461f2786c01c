"""What is needed for a twin of this drive? The suites that tell most for the least writing, one after the other.

The suites in an order for `pslc fit`: single requests first, then a fill, pauses, a second pass, rewriting and random
writes, each in its quick form, as far as the budget goes (--budget 400GB or 2h).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from typing_extensions import TypedDict

from pslc import suites
from pslc.analysis import Writes
from pslc.base import words
from pslc.device.cost import Cost, cost
from pslc.device.region import Budget, Region
from pslc.figures import curves
from pslc.figures.picture import Picture, Table
from pslc.figures.tables import of_rows
from pslc.recording.model import Recording, ScopeDocument, join
from pslc.recording.suite_helpers import not_tried
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

OF_SUITES = True
QUICK = "fill and recovery only"
COMPUTER = "none"
UNLIKE_SCALED = "some of its suites write as much as on the whole drive"
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


@dataclass
class _Account:
    """A budget, and what was spent of it.

    Attributes:
        speed: bytes a second that the time of a suite is estimated by.
    """

    max_bytes: float
    max_s: float
    spent_bytes: float = 0.0
    spent_s: float = 0.0
    speed: float = SLOW

    @classmethod
    def of(cls, budget: Budget | None) -> _Account:
        """Nothing is spent of it yet."""
        budget = budget or Budget()
        return cls(budget.bytes or float("inf"), budget.seconds or float("inf"))

    @property
    def rest_s(self) -> float:
        """Rest before a suite."""
        return min(REST_S, RESTS * self.max_s)

    @property
    def left(self) -> tuple[float, float]:
        """Bytes and seconds that a suite may take behind its rest."""
        return self.max_bytes - self.spent_bytes, self.max_s - self.spent_s - self.rest_s

    def covers(self, planned: Cost) -> bool:
        """Whether it has as much left."""
        left_bytes, left_s = self.left
        return planned.write_bytes <= left_bytes and planned.seconds(self.speed) <= left_s

    def spend(self, count: float, seconds: float) -> None:
        """Take bytes and seconds from it."""
        self.spent_bytes += count
        self.spent_s += seconds

    @property
    def is_overdrawn(self) -> bool:
        """Whether more was spent than there was."""
        return self.spent_bytes > self.max_bytes or self.spent_s > self.max_s


def steps(region: Region) -> Steps:
    """Each suite behind a step that makes the drive forget; what would pass the budget is left out."""
    account = _Account.of(region.budget)
    for name in QUICK_ORDER if region.quick else ORDER:
        inner = _affordable(region, name, account)
        if inner is None:
            continue
        yield region.trim(f"{BEGIN}{name}") + region.write(f"{BEGIN}{name}-rest", 2**20, pause=account.rest_s)
        account.spend(0.0, account.rest_s)
        yield from _steps_of_suite(inner, name, account)


def _affordable(region: Region, name: str, account: _Account) -> Region | None:
    """The region that a suite works on within what is left: less of it for a fill; None: not even that."""
    inner = replace(region, quick=name != "fill", sparing=True, budget=None)
    if name == "qd-sweep":
        # What is read is to be in the cache, however small that is: behind folding, reads tell nothing of cells.
        span = max(inner.target.capacity_bytes // SPAN // 2**20 * 2**20, LEAST_SPAN)
        inner = replace(inner, size=min(inner.size, span))
    if account.covers(_cost(inner, name)):
        return inner
    if name != "fill":
        return None
    left_bytes, left_s = account.left
    part = PART * min(left_bytes, left_s * account.speed)
    inner = replace(inner, size=int(min(inner.size, part)) // 2**20 * 2**20)
    return inner if inner.size >= inner.target.capacity_bytes // 50 else None


def _steps_of_suite(region: Region, name: str, account: _Account) -> Steps:
    """The steps of a suite until it ends, or has spent more than there was."""
    walk = suites.load(name).steps(region)
    text = next(walk, None)
    while text is not None:
        part = yield text
        if part is None:
            estimate = cost([text], name, [], region.target)
            account.spend(estimate.write_bytes, estimate.seconds(account.speed))
        else:
            account.spend(part.written_bytes, part.drive_time_s)
            if name == "fill":
                account.speed = part.written_bytes / max(part.drive_time_s, 1e-3)
            if account.is_overdrawn:
                walk.close()
                return
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
    parts = {name: _alone(recording, name, steps) for name, steps in _steps_by_suite(recording).items()}
    for name, part in parts.items():
        part.findings = type(recording.findings)(suites.load(name).findings(part))
    return parts


def _steps_by_suite(recording: Recording) -> dict[str, list[Recording]]:
    groups: dict[str, list[Recording]] = {}
    name = ""
    for part in recording.parts:
        first = part.jobs[0]["name"] if part.jobs else ""
        if first.startswith(BEGIN):
            name = first.removeprefix(BEGIN)
        elif name:
            groups.setdefault(name, []).append(part)
    return groups


def between(recording: Recording) -> dict[str, str]:
    """Job files that trim the drive and let it rest, by the suite they precede."""
    begun = [part for part in recording.parts if part.jobs and part.jobs[0]["name"].startswith(BEGIN)]
    return {part.jobs[0]["name"].removeprefix(BEGIN): part.job_file for part in begun}


def _alone(recording: Recording, name: str, parts: Sequence[Recording]) -> Recording:
    scope: ScopeDocument = {**recording.scope, "quick": name != "fill"}
    return replace(join(list(parts)), suite=name, scope=scope, findings=recording.findings)


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
    warnings: list[MeasurementWarning]


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
    warnings = [] if not left_out else [not_tried(", ".join(left_out))] if recording.cut_off else [short]
    return {"suites": rows, "left_out": left_out, "warnings": warnings}


def sentences(findings: Findings) -> list[str]:
    """Suites that were run, and the next step."""
    names = [row["suite"] for row in findings["suites"]]
    written = sum(row["written_bytes"] for row in findings["suites"])
    if not names:
        return []
    return [f"Measured {', '.join(names)}, writing {words.size(written)}.", "pslc fit makes a twin of it."]


def tables(findings: Findings) -> list[Table]:
    """Table with a row for each suite."""
    columns = {"suite": "suite", "written": "written_bytes", "took": "seconds"}
    return [of_rows("Suites", findings["suites"], columns)]


def pictures(recording: Recording) -> list[Picture]:
    """The fill, then all of it."""
    first = []
    for row in recording.findings.typed(Findings)["suites"]:
        if row["suite"] == "fill":
            fill = _alone(recording, "fill", _steps_by_suite(recording)["fill"])
            fill.findings = type(recording.findings)(row["findings"])
            first = [curves.speed_by_bytes(fill, fill.findings.typed(Writes)["phases"])]
    return [*first, *curves.of_any(recording)]
