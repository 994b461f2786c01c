"""Verdict of the likeliest machines on a write: where its cache ends, what each stretch is, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pslc.analysis.context import MeasurementContext
from pslc.analysis.posterior import SAME_LEVEL, Comparison, Explanation, Part
from pslc.analysis.runs import Run, Segmentation
from pslc.analysis.stretches import Stretch

SAME_END_SHARE: Final = 0.01
"""Ends that differ by no more than this share of what was written are one answer."""
MIN_BURST_TIME_SHARE: Final = 0.005
"""Share of the time, or of the bytes, from which a stretch that leaves its level is a row of its own."""
CLASSES: Final = {
    "fold": "past", "direct": "past", "native": "past", "gc": "past", "pslc": "cache", "host": "cache", "link": "cache",
}  # fmt: skip
"""Causes that one level alone does not tell apart: behind a cache, and in it, whatever sets its speed."""
ONE_LEVEL_TEMPER: Final = 0.7
"""Share of what one level behind a cache seems to tell, beyond a coin, of folding or native cells: of 120 drives drawn
from parts, half of each, causes stated at 72 % were right in 61 %. Where more levels follow, all were right."""
MAX_CONFIDENCE, OFF_LEVEL_RATIO = 0.99, 0.9
"""Confidence of a cause at the most, and what is left of it where a row is off its part's level."""


@dataclass(frozen=True)
class Row:
    """A stretch of bytes with the part of the machine that made it.

    Attributes:
        role: `level` where the part's own speed, `again` where the cache is free again, `dip` or `burst` where the
            level was left for a moment, `start` before the first level.
        cause: of its speed.
        confidence: how likely this cause is among all machines.
        class_confidence: how likely this cause is, or another of its class.
    """

    from_bytes: float
    to_bytes: float
    part: str
    role: str
    cause: str
    confidence: float
    class_confidence: float


@dataclass(frozen=True)
class Answer:
    """Answer that several machines give: an end of the cache, a cache that holds what was written, or none.

    Attributes:
        end_bytes: None without an end.
        holds: whether it is a cache whose end was not reached.
        confidence: how likely it is.
        best: its likeliest machine.
    """

    end_bytes: float | None
    holds: bool
    confidence: float
    best: Explanation


@dataclass(frozen=True)
class Verdict:
    """The answers, the likeliest first, and the rows of the first."""

    answers: tuple[Answer, ...]
    rows: tuple[Row, ...]


def judge(segmentation: Segmentation, context: MeasurementContext) -> Verdict:
    """Compare all machines, and say what the likeliest answer is."""
    explanations = Comparison(segmentation, context).explanations()
    answers = _answers(explanations, segmentation.runs[-1].to_bytes)
    return Verdict(answers, tuple(_rows(answers[0].best, explanations, segmentation)))


def _answers(explanations: Sequence[Explanation], written: float) -> tuple[Answer, ...]:
    """Explanations grouped by what they say."""
    groups: list[list[Explanation]] = []
    for explanation in explanations:
        group = next((group for group in groups if _agree(group[0], explanation, written)), None)
        if group is None:
            groups.append([explanation])
        else:
            group.append(explanation)
    answers = [
        Answer(_end(group[0]), _holds(group[0]), sum(each.probability for each in group), group[0]) for group in groups
    ]
    return tuple(sorted(answers, key=lambda answer: -answer.confidence))


def _end(explanation: Explanation) -> float | None:
    ends = explanation.machine.ends
    return explanation.cut.stretches[ends - 1].to_bytes if ends is not None else None


def _holds(explanation: Explanation) -> bool:
    return bool(explanation.machine.caches) and explanation.machine.ends is None


def _agree(left: Explanation, right: Explanation, written: float) -> bool:
    ends = _end(left), _end(right)
    if ends[0] is None or ends[1] is None:
        return ends[0] is ends[1] and _holds(left) == _holds(right)
    return abs(ends[0] - ends[1]) <= SAME_END_SHARE * written


def _rows(best: Explanation, explanations: Sequence[Explanation], segmentation: Segmentation) -> list[Row]:
    """The rows of the likeliest machine: its stretches, and what leaves their levels for long enough."""
    runs = segmentation.runs
    roles = _roles(best, runs)
    votes = [(explanation, _roles(explanation, runs)) for explanation in explanations[:200]]
    rows: list[Row] = []
    levels_past = sum(CLASSES.get(part.cause) == "past" for part in best.machine.parts)
    start = 0
    for index in range(1, len(runs) + 1):
        if index < len(runs) and roles[index] == roles[start]:
            continue
        part, role, cause, _ = roles[start]
        # A brief run at an edge speaks for no row: the longest does.
        longest = max(range(start, index), key=lambda run: runs[run].bytes)
        chances = [(each.probability, of[longest][2]) for each, of in votes]
        named = sum(chance for chance, other in chances if other == cause)
        alike = sum(chance for chance, other in chances if CLASSES.get(other, other) == CLASSES.get(cause, cause))
        if CLASSES.get(cause) == "past" and levels_past == 1:
            named = alike / 2 + ONE_LEVEL_TEMPER * (named - alike / 2)
        ratio = 1.0 if role == "level" else OFF_LEVEL_RATIO
        confidences = [min(share * ratio, MAX_CONFIDENCE) for share in (named, alike)]
        rows.append(Row(runs[start].from_bytes, runs[index - 1].to_bytes, part, role, cause, *confidences))
        start = index
    return rows


def _roles(explanation: Explanation, runs: Sequence[Run]) -> list[tuple[str, str, str, int]]:
    """Part, role, cause and index of the part of each run."""
    machine, stretches = explanation.machine, explanation.cut.stretches
    if len(machine.parts) != len(stretches):
        return [("wander", "level", "unknown", index) for index, stretch in enumerate(stretches) for _ in stretch.on]
    total_s, total = sum(run.seconds for run in runs), runs[-1].to_bytes
    ends = machine.ends
    lowest = min((s.end_level for s in stretches[machine.front : ends]), default=np.inf) if machine.caches else np.inf
    roles: list[tuple[str, str, str, int]] = []
    for index, (part, stretch) in enumerate(zip(machine.parts, stretches, strict=True)):
        for run, on in zip(runs[stretch.first : stretch.last], stretch.on, strict=True):
            brief = max(run.seconds / total_s, run.bytes / total) < MIN_BURST_TIME_SHARE
            role, cause = ("level", part.cause) if on or brief else _excursion(part, run, stretch)
            if role == "burst" and ends is not None and index >= ends and run.level > lowest - SAME_LEVEL:
                role, cause = "again", machine.parts[ends - 1].cause
            roles.append((part.name, role, cause, index))
    return roles


def _excursion(part: Part, run: Run, stretch: Stretch) -> tuple[str, str]:
    """The role and the cause of a run that is not on the level of its part."""
    if run.level > stretch.level:
        return "burst", "unknown"
    if run.first == 0:
        return "start", "unknown"
    return "dip", "gc" if part.name == "native" else part.cause
