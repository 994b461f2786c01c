"""The analysis of a write curve as typed objects, and as the dictionary that run.json holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from pslc.analysis.cache import CacheEnd, cache_end
from pslc.analysis.context import AnalysisOptions
from pslc.analysis.counter_causes import CauseEstimate
from pslc.analysis.phases import Phase, find_phases
from pslc.analysis.reads import ReadExplanation
from pslc.analysis.series import Curve
from pslc.analysis.warnings import DEFAULT_OPTIONS, analysis_warnings
from pslc.base import words
from pslc.schema.warnings import MeasurementWarning


class PhaseRow(TypedDict):
    """A phase as run.json holds it; `from_s` and `to_s` where a suite tells them, `bytes_per_s_low` and `_high` of one
    that was read from a picture, `shares` of a simulated drive: what its requests spent their time on, by cause."""

    from_bytes: int
    to_bytes: int
    bytes_per_s: float
    cause: str
    confidence: float
    because: str
    from_low: int
    from_high: int
    spread: float
    drift: float
    from_s: NotRequired[float]
    to_s: NotRequired[float]
    bytes_per_s_low: NotRequired[float]
    bytes_per_s_high: NotRequired[float]
    shares: NotRequired[dict[str, float]]


class Alternative(TypedDict):
    """Another explanation of a curve, as run.json holds it.

    Attributes:
        cache_bytes: where the cache ends by it; None where it has no end.
        confidence: how likely it is, from 0 to 1.
        explanation: in a few words.
        tell: the measurement that would tell it from the first.
    """

    cache_bytes: int | None
    confidence: float
    explanation: str
    tell: str


class Writes(TypedDict):
    """The analysis of writes, as run.json holds it; see `pslc.recording.writes.findings.of_writes`. A recording
    adds `throttled_s` and `waf`; a recording of a job file on a simulated drive adds `life_bytes` and `life_years`
    (`pslc.recording.wear.of_load`). Of a curve that was explained from outside, `cache_confidence` says how likely what
    is said of its cache is, and `alternatives` what else may be; of reads
    over the address `read_explanation` does."""

    cache_bytes: int | None
    cache_bytes_low: int | None
    cache_bytes_high: int | None
    fill_mean_bytes_per_s: float | None
    phases: list[PhaseRow]
    warnings: list[MeasurementWarning]
    kind: NotRequired[Literal["read"]]
    cache_confidence: NotRequired[float]
    alternatives: NotRequired[list[Alternative]]
    read_explanation: NotRequired[ReadExplanation]
    idle_s: NotRequired[float]
    fill_mean_bytes_per_s_low: NotRequired[float]
    fill_mean_bytes_per_s_high: NotRequired[float]
    throttled_s: NotRequired[float | None]
    waf: NotRequired[float | None]
    life_bytes: NotRequired[float | None]
    life_years: NotRequired[float | None]


Explain = Callable[[Sequence[Phase]], list[CauseEstimate]]
"""Gives the cause of each phase."""


@dataclass(frozen=True)
class ExplainedPhase(Phase):
    """A phase and why it has its speed.

    Attributes:
        cause: one of `CAUSES`.
        confidence: from 0 to 1.
        because: the evidence, a sentence.
        shares: what requests spent their time on, by cause, where the drive accounts for it.
    """

    cause: str
    confidence: float
    because: str
    shares: Mapping[str, float] | None = None


@dataclass(frozen=True)
class WriteAnalysis:
    """The analysis of a write curve.

    Attributes:
        mean_bytes_per_s: all bytes over all of the time; None when nothing was written.
        phases: in order; they tile the curve.
        cache: where the speed first fell; None when it did not.
        warnings: what may be wrong with all this and what to do about it, the gravest first.
        cache_confidence: how likely what `cache` says is, from 0 to 1; None where counters say it.
        alternatives: what else may be, the likeliest first.
        silent_s: time within the curve in which the host was silent, which is in no speed.
    """

    mean_bytes_per_s: float | None
    phases: tuple[ExplainedPhase, ...]
    cache: CacheEnd | None
    warnings: tuple[MeasurementWarning, ...]
    cache_confidence: float | None = None
    alternatives: tuple[Alternative, ...] = ()
    silent_s: float = 0.0

    def __repr__(self) -> str:
        mean = (
            "nothing written" if self.mean_bytes_per_s is None else f"{words.speed(self.mean_bytes_per_s)} on average"
        )
        cache = f", fast for {words.size(self.cache.bytes)}" if self.cache else ""
        return f"<pslc.WriteAnalysis of {len(self.phases)} phases: {mean}{cache}>"

    def document(self) -> Writes:
        """The analysis as run.json holds it; see `pslc.recording.writes.findings.of_writes`."""
        cache = self.cache
        ended = cache is not None and cache.seen_end
        document: Writes = {
            "cache_bytes": round(cache.bytes) if cache and ended else None,
            "cache_bytes_low": round(cache.low) if cache else None,
            "cache_bytes_high": round(cache.high) if cache and ended else None,
            "fill_mean_bytes_per_s": self.mean_bytes_per_s,
            "phases": [_document(phase) for phase in self.phases],
            "warnings": list(self.warnings),
        }
        if self.cache_confidence is not None:
            document |= {"cache_confidence": self.cache_confidence, "alternatives": list(self.alternatives)}
        if self.silent_s:
            document["idle_s"] = self.silent_s
        return document

    @classmethod
    def of_document(cls, findings: Mapping[str, Any]) -> WriteAnalysis:
        """The findings of a recording again.

        Raises:
            KeyError: they are not of writes.
        """
        phases = tuple(ExplainedPhase(**phase) for phase in findings["phases"])
        low, high = findings["cache_bytes_low"], findings["cache_bytes_high"]
        cache = None
        if low is not None:
            ended = findings["cache_bytes"] is not None
            cache = CacheEnd(findings["cache_bytes"] if ended else low, low, high if ended else float("inf"), ended)
        alternatives = tuple(findings.get("alternatives", ()))
        warnings, confidence = tuple(findings["warnings"]), findings.get("cache_confidence")
        mean, silent_s = findings["fill_mean_bytes_per_s"], findings.get("idle_s", 0.0)
        return cls(mean, phases, cache, warnings, confidence, alternatives, silent_s)


def analyze_curve(curve: Curve, explain: Explain, options: AnalysisOptions = DEFAULT_OPTIONS) -> WriteAnalysis:
    """Phases, the end of the cache, causes and warnings of a curve.

    Args:
        explain: gives the cause of each phase.
        options: what is known of the drive and the run.
    """
    phases = find_phases(curve, buffer_bytes=options.buffer_bytes)
    causes = explain(phases)
    end = cache_end(curve, phases, causes, seed=options.seed, capacity_bytes=options.capacity_bytes)
    explained = (
        ExplainedPhase(
            **vars(phase), cause=cause.cause, confidence=cause.confidence, because=cause.because, shares=cause.shares
        )
        for phase, cause in zip(phases, causes, strict=True)
    )
    warnings = analysis_warnings(curve, phases, end=end, causes=causes, options=options)
    return WriteAnalysis(curve.total_bytes / curve.total_seconds, tuple(explained), end, tuple(warnings))


def _document(phase: ExplainedPhase) -> PhaseRow:
    row: PhaseRow = {
        "from_bytes": round(phase.from_bytes),
        "to_bytes": round(phase.to_bytes),
        "bytes_per_s": phase.bytes_per_s,
        "cause": phase.cause,
        "confidence": phase.confidence,
        "because": phase.because,
        "from_low": round(phase.from_low),
        "from_high": round(phase.from_high),
        "spread": phase.spread,
        "drift": phase.drift,
    }
    if phase.shares is not None:
        row["shares"] = {cause: round(share, 4) for cause, share in phase.shares.items()}
    return row
