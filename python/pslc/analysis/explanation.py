"""The explanation of a write curve from outside: the machines' verdict on the curve's own phases, in words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pslc.analysis.cache import CacheEnd
from pslc.analysis.context import AnalysisOptions, MeasurementContext
from pslc.analysis.counter_causes import CauseEstimate
from pslc.analysis.loggers import sharpened, smoothing
from pslc.analysis.pauses import average_pauses
from pslc.analysis.phases import Phase, find_phases
from pslc.analysis.posterior import Explanation, table
from pslc.analysis.runs import segment
from pslc.analysis.series import Curve
from pslc.analysis.thresholds import FASTEST_LINK_BYTES_PER_S, MIN_STATED_CONFIDENCE, MIN_SURE_CONFIDENCE
from pslc.analysis.verdict import Answer, Row, Verdict, judge
from pslc.analysis.warnings import AnalysisWarning, analysis_warnings
from pslc.analysis.write_analysis import Alternative, ExplainedPhase, WriteAnalysis
from pslc.base import words
from pslc.schema.warnings import MeasurementWarning

ROW_ERROR_SHARE, SMOOTHING_ERROR_SHARE = 0.05, 0.02
"""Errors that the interval of an end has besides those of the border: of a row's bytes, and of what is written in the
time constant of a mean."""
MIN_ALTERNATIVE, MAX_ALTERNATIVES = 0.03, 2
"""Probability from which another explanation is named, and how many are."""


Limits = Callable[[Sequence[Phase]], Sequence[CauseEstimate | None]]
"""Gives what limits each phase around the NAND, by what was counted beside the curve."""


def explain_curve(
    curve: Curve, context: MeasurementContext, options: AnalysisOptions, limits: Limits | None = None
) -> WriteAnalysis:
    """Phases, the end of the cache, causes, alternatives and warnings of a curve whose drive tells nothing itself.

    Args:
        limits: of our own recordings, which count more than others; that a host or a link set the speed of the cache is
            no reason against its end.
    """
    mean = smoothing(curve)
    sharp = sharpened(curve, mean) if mean else curve
    verdict = judge(segment(average_pauses(sharp).curve), context)
    start = float(sharp.edges_bytes[0])
    phases = find_phases(sharp, [start + row.from_bytes for row in verdict.rows[1:]])
    rows = [_row_at(verdict.rows, 0.5 * (phase.from_bytes + phase.to_bytes) - start) for phase in phases]
    answer = verdict.answers[0]
    end = _cache_end(answer, phases, sharp, 0.0 if mean is None else mean.seconds)
    rows = [_heated(rows, phases, index, context) for index in range(len(phases))]
    last = None if end is None else _phase_to(start + end.bytes, phases)
    causes = [_estimate(phases, rows, index, ends_cache=index == last) for index in range(len(phases))]
    if limits is not None:
        around = limits(phases)
        causes = [
            cause if limit is None else replace(limit, nand_state=cause.nand_state)
            for cause, limit in zip(causes, around, strict=True)
        ]
    if end is not None and causes[_phase_to(start + end.bytes, phases)].cause == "page-cache":
        end = None
    explained = tuple(
        ExplainedPhase(**vars(phase), cause=cause.cause, confidence=cause.confidence, because=cause.because)
        for phase, cause in zip(phases, causes, strict=True)
    )
    warnings = [] if mean is None else [AnalysisWarning.SMOOTHED.of(seconds=mean.seconds)]
    warnings += _memory(causes[0], phases[0], context)
    alternatives = _alternatives(verdict)
    warnings += _unsure(answer.confidence, alternatives)
    warnings += analysis_warnings(sharp, phases, end=end, causes=causes, options=options)
    return WriteAnalysis(
        mean_bytes_per_s=curve.total_bytes / curve.total_seconds,
        phases=explained,
        cache=end,
        warnings=tuple(warnings),
        cache_confidence=round(answer.confidence, 3),
        alternatives=tuple(alternatives),
        silent_s=float(curve.silent_s.sum()),
    )


def _row_at(rows: Sequence[Row], at_bytes: float) -> Row:
    """The row that holds a place."""
    return next((row for row in rows if at_bytes <= row.to_bytes), rows[-1])


def _heated(rows: Sequence[Row], phases: Sequence[Phase], index: int, context: MeasurementContext) -> Row:
    """The row of a phase, or one of heat for a dip in which the drive was hotter than before. A drive that was as hot
    in half of the phase before wrote at full speed all the same."""
    row, phase = rows[index], phases[index]
    if row.role != "dip" or not index or not context.is_hot(phase.from_bytes, phase.to_bytes):
        return row
    before = phases[index - 1]
    if context.is_hot(0.5 * (before.from_bytes + before.to_bytes), before.to_bytes):
        return row
    return replace(row, role="hot", cause="thermal")


def _cache_end(answer: Answer, phases: Sequence[Phase], curve: Curve, smoothed_s: float) -> CacheEnd | None:
    """The end as the border of two phases; of a cache that was not full, what it holds at least."""
    if answer.confidence < MIN_STATED_CONFIDENCE:
        return None
    if answer.end_bytes is None:
        written = curve.total_bytes
        return CacheEnd(written, written, float("inf"), seen_end=False) if answer.holds else None
    start = float(curve.edges_bytes[0])
    rough = answer.end_bytes + start
    behind = min(range(1, len(phases)), key=lambda index: abs(phases[index].from_bytes - rough))
    place, phase = phases[behind].from_bytes, phases[behind]
    # Clocks and speeds of logs are rounded, and an undone mean leaves an error of its own.
    row = int(np.clip(np.searchsorted(curve.edges_bytes, place) - 1, 0, curve.seconds.size - 1))
    error = (ROW_ERROR_SHARE if not smoothed_s else 0.5) * float(curve.widths[row])
    error += SMOOTHING_ERROR_SHARE * smoothed_s * phases[behind - 1].bytes_per_s
    low, high = max(phase.from_low - error, start), phase.from_high + error
    return CacheEnd(place - start, low - start, high - start, seen_end=True)


def _phase_to(place: float, phases: Sequence[Phase]) -> int:
    """Index of the phase that ends at a place, or nearest to it."""
    return min(range(len(phases)), key=lambda index: abs(phases[index].to_bytes - place))


def _estimate(phases: Sequence[Phase], rows: Sequence[Row], index: int, *, ends_cache: bool) -> CauseEstimate:
    """Cause of a phase, and why: the sentence of its part, with the numbers of the phases that it stands beside.

    Args:
        ends_cache: whether the cache ends with this phase.
    """
    row, phase = rows[index], phases[index]
    texts = table()["sentences"]
    numbers = _numbers(phases, rows, index)
    if row.role != "level":
        because = texts[row.role].format(**numbers)
    else:
        part = table()["parts"].get(row.part, {"because": texts["wander"]})
        is_last = index + 1 == len(phases)
        key = "because_last" if is_last else "because" if ends_cache else "because_within"
        because = part.get(key, part["because"]).format(**numbers)
    if row.class_confidence < MIN_STATED_CONFIDENCE:
        return CauseEstimate("unknown", 0.0, f"no explanation is likely enough: {words.speed(phase.bytes_per_s)}")
    return CauseEstimate(row.cause, round(row.confidence, 3), f"{because}: {words.speed(phase.bytes_per_s)}")


def _numbers(phases: Sequence[Phase], rows: Sequence[Row], index: int) -> Mapping[str, str]:
    """Figures that the sentence of a phase may quote, each as the table of phases shows it."""
    phase = phases[index]
    seconds = (phase.to_bytes - phase.from_bytes) / phase.bytes_per_s
    numbers = {"rate": words.speed(phase.bytes_per_s), "end": words.size(phase.to_bytes), "span": words.span(seconds)}
    if index + 1 < len(phases):
        share = 100 * phases[index + 1].bytes_per_s / phase.bytes_per_s
        numbers |= {"following": f"{share:.0f} %"}
    if index:
        share = 100 * phase.bytes_per_s / phases[index - 1].bytes_per_s
        numbers |= {"before": f"{share:.0f} %"}
    shown = (
        earlier
        for earlier, row in zip(phases, rows, strict=True)
        if row.cause in ("pslc", "link", "host") and row.class_confidence >= MIN_STATED_CONFIDENCE
    )
    cached = next(shown, None)
    numbers["of_cache"] = f", {100 * phase.bytes_per_s / cached.bytes_per_s:.0f} % of its speed" if cached else ""
    return numbers


def _alternatives(verdict: Verdict) -> list[Alternative]:
    """Other answers that are not hopeless, and the one measurement that would tell each from the first."""
    best = verdict.answers[0].best
    alternatives = [answer for answer in verdict.answers[1:] if answer.confidence >= MIN_ALTERNATIVE][:MAX_ALTERNATIVES]
    return [
        Alternative(
            cache_bytes=round(answer.end_bytes) if answer.end_bytes is not None else None,
            confidence=round(answer.confidence, 3),
            explanation=described(answer),
            tell=_tell(best, answer.best),
        )
        for answer in alternatives
    ]


def _unsure(confidence: float, alternatives: Sequence[Alternative]) -> list[MeasurementWarning]:
    """Warning of other causes, where the first answer is not sure."""
    if confidence >= MIN_SURE_CONFIDENCE:
        return []
    return [
        AnalysisWarning.UNSURE.of(explanation=each["explanation"], share=100 * each["confidence"], tell=each["tell"])
        for each in alternatives
    ]


def described(answer: Answer) -> str:
    """An answer in a few words: `a cache that ends after 12.3 GB, behind memory in front`."""
    machine = answer.best.machine
    if answer.holds:
        return "a cache that was not full at the end"
    labels = [str(part.label) for part in machine.parts]
    if answer.end_bytes is None:
        return f"no cache: {', then '.join(dict.fromkeys(labels))}"
    front = f", behind {' and '.join(labels[: machine.front])}" if machine.front else ""
    return f"a cache that ends after {words.size(answer.end_bytes)}{front}"


def _tell(best: Explanation, rival: Explanation) -> str:
    """The measurement that tells two machines apart, by the first part that only one of them has."""
    tells = table()["tell"]
    names = {part.name for part in best.machine.parts} ^ {part.name for part in rival.machine.parts}
    ordered = [part.name for part in (*rival.machine.parts, *best.machine.parts) if part.name in names]
    return str(next((tells[name] for name in ordered if name in tells), tells["otherwise"]))


def _memory(cause: CauseEstimate, first: Phase, context: MeasurementContext) -> list[MeasurementWarning]:
    """What the program that counted may have hidden."""
    is_known = context.link_bytes_per_s is not None or first.bytes_per_s > FASTEST_LINK_BYTES_PER_S
    if cause.cause != "page-cache" or is_known:
        return []
    return [AnalysisWarning.GUESSED.of(phase=1, cause="memory", what="--link")]
