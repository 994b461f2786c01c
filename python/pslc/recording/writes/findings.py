"""Findings of a recording: what the analysis says of its write curve."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pslc.analysis import (
    WRITE_ALL,
    AnalysisOptions,
    AnalysisWarning,
    CauseEstimate,
    Curve,
    Explain,
    MeasurementContext,
    Phase,
    WriteAnalysis,
    Writes,
    analyze_curve,
    blackbox_causes,
    explain_curve,
    limits_around,
)
from pslc.base import words
from pslc.base.errors import RecordingError
from pslc.recording import place, rates, traffic
from pslc.recording import warnings as checks
from pslc.recording.model import Recording
from pslc.recording.writes.curve import WriteTrack
from pslc.recording.writes.evidence import (
    CACHED,
    CacheByCounters,
    at_first,
    cache_by_counters,
    counted_causes,
    filled,
    measurement_context,
    stated_context,
    throttled,
)
from pslc.schema.warnings import Extent, MeasurementWarning

MIN_WRITTEN_SHARE = 0.05
"""Share of a real drive below which a fall of the speed is no end of its cache: of seven fills of 1 or 2 GB of a
virtual disk two named an end, and noise was all there was."""
EARLY = 0.9
"""A cache that was full by the counters before this share of where the speed fell was full without being seen."""
NOT_FREE = 0.1
"""A cache that holds this share of its data when a write begins, or lets this share past it at first, was not free; one
that takes less than this share of its size from a write that left it was used up before."""


def of_writes(recording: Recording, *, outside: bool = False) -> Writes:
    """Analyze the writes of a recording.

    - `cache_bytes`, `cache_bytes_low`, `cache_bytes_high`: bytes written before the speed fell, with a 90 % interval;
      null when it did not fall. When a fill ended before it did, the cache holds `cache_bytes_low` or more.
    - `fill_mean_bytes_per_s`: bytes written over the time it took, without pauses of the host and without time in which
      no job wrote; null when nothing was written.
    - `phases`: `from_bytes`, `to_bytes`, `bytes_per_s`, `cause`; beyond these the interval of the start, `spread`,
      `drift`, `confidence` and `because`. Empty when the curve shows more than the drive's own speed: when reads or
      trims are mixed in, or the host paused or kept to a rate.
    - `throttled_s`: seconds for which the drive throttled for heat; null if it does not report that or has no [heat].
    - `warnings`: warnings, each with what to do about it.

    The causes come from the drive's counters if it is simulated, else, or with `outside`, from the curve. Where no
    single plain drive is seen below (`pslc.recording.place`), where memory took the writes, and of less than 5 % of a
    real drive, the curve tells speeds alone: causes are `unknown`, and no cache is stated.
    """
    reason = _speeds_only(recording)
    track = WriteTrack.of(recording)
    curve = track.curve
    if curve is None or track.is_mixed:
        findings = _mean_alone(curve, rates.writing_s(recording, paced=track.is_paced))
    elif recording.is_simulated and not outside:
        memory_bytes = track.buffered_bytes
        options = replace(_options(recording), buffer_bytes=memory_bytes)
        findings = analyze_curve(curve, partial(counted_causes, track, curve), options).document()
    elif reason:
        findings = _speeds(analyze_curve(curve, partial(_unknown, reason), _options(recording)).document(), reason)
    else:
        findings = _from_outside(track, curve).document()
    if recording.is_simulated and not outside and findings["cache_bytes_low"] is not None:
        _correct(findings, cache_by_counters(track, findings["cache_bytes"]))
    elif findings["phases"] and (doubt := _unseen(track, outside)):
        findings["warnings"] = [doubt, *findings["warnings"]]
    findings["throttled_s"] = throttled(recording)
    return findings


def _unseen(track: WriteTrack, outside: bool) -> MeasurementWarning | None:
    """Warning about a cache that a write does not show, or not all of: by the counters of a simulated drive; of
    another, as it was filled before and did not rest."""
    recording = track.recording
    if not recording.is_simulated or outside:
        is_filled = bool(recording.scope.get("fill_first")) and not recording.scope.get("idle_s")
        return AnalysisWarning.MAY_HOLD.of() if is_filled else None
    if full := filled(track):
        return (AnalysisWarning.EARLY if full[0] else AnalysisWarning.HIDDEN).of(size=Extent(full[1]))
    held, limit = (at_first(track, gauge) for gauge in ("slc_valid_bytes", "cache_limit_bytes"))
    taken = recording.totals[CACHED] - recording.before[CACHED]
    if recording.before[CACHED] and taken < NOT_FREE * limit:
        return AnalysisWarning.USED_UP.of(size=Extent(held))
    return AnalysisWarning.HELD.of(size=Extent(held)) if held > NOT_FREE * limit else None


def no_cache_seen(recording: Recording) -> MeasurementWarning | None:
    """Doubt about whatever a real run seems to tell of a drive's cache, as no single plain drive lies below, or memory
    took the writes; None where there is no such doubt."""
    if recording.is_simulated or "device" not in recording.facts:
        return None
    of_traffic = traffic.through_memory(recording) or traffic.left_in_memory(recording)
    if (doubt := place.doubt(recording.facts) or of_traffic) is None:
        return None
    return AnalysisWarning.SPEEDS_ONLY.of(why=doubt.why, next=doubt.next)


def _speeds_only(recording: Recording) -> MeasurementWarning | None:
    """Doubt about a write whose curve tells speeds alone; None where it tells more."""
    if recording.is_simulated or "device" not in recording.facts:
        return None
    if (reason := no_cache_seen(recording)) is not None:
        return reason
    if recording.written_bytes >= MIN_WRITTEN_SHARE * recording.drive_bytes:
        return None
    sizes = (words.size(recording.written_bytes), words.size(MIN_WRITTEN_SHARE * recording.drive_bytes))
    return AnalysisWarning.SPEEDS_ONLY.of(why=f"only {sizes[0]} was written", next=f"write {sizes[1]} or more")


def _unknown(reason: MeasurementWarning, phases: Sequence[Phase]) -> list[CauseEstimate]:
    return [CauseEstimate("unknown", 0.0, str(reason)) for _ in phases]


def _speeds(findings: Writes, reason: MeasurementWarning) -> Writes:
    """The findings without what they say of a cache."""
    of_cache = (AnalysisWarning.WIDE.code, AnalysisWarning.FEW_BINS.code, AnalysisWarning.PART.code)
    warnings = [reason, *(other for other in findings["warnings"] if other.code not in of_cache)]
    return {**findings, "cache_bytes": None, "cache_bytes_low": None, "cache_bytes_high": None, "warnings": warnings}


def _from_outside(track: WriteTrack, curve: Curve) -> WriteAnalysis:
    """The analysis of a recording without a look into the drive: a real drive's, of one sequential stream, by the
    machines, and else by what the requests themselves tell."""
    options, stated = _options(track.recording), stated_context(track)
    if stated.is_one_stream and not track.recording.is_simulated:
        return explain_curve(
            curve, stated, options, lambda phases: limits_around(phases, measurement_context(track, phases))
        )
    return analyze_curve(curve, lambda phases: blackbox_causes(phases, measurement_context(track, phases)), options)


def _options(recording: Recording) -> AnalysisOptions:
    """Facts about the drive and the run that the analysis takes."""
    return AnalysisOptions(
        capacity_bytes=_to_be_written(recording),
        is_free_part=bool(_filled_before(recording)),
        seed=recording.seed,
        interrupted=recording.cut_off is not None,
        next_step=_next_step(recording),
        has_gaps=bool(recording.facts.get("gaps")),
    )


def _to_be_written(recording: Recording) -> int:
    """Bytes of the drive that a fill of all of it would write: those that were not written before it."""
    return recording.drive_bytes - recording.capacity_bytes * _filled_before(recording) // 100


def _filled_before(recording: Recording) -> int:
    """Percent of the drive that was filled before and is not written again: of a full drive, all is."""
    return recording.scope.get("fill_first", 0) % 100


def _next_step(recording: Recording) -> str:
    """Next step where only a part of the drive was written."""
    if any("runtime" in job["options"] for job in recording.jobs):
        return "pslc run fill writes all of it"
    return checks.longer(recording, WRITE_ALL)


def _correct(findings: Writes, counted: CacheByCounters) -> None:
    """Correct the cache of a simulated drive by its counters: what a page cache held is not in it, it may have been
    full without the speed showing it, and it may not have been free when the write began."""
    low, end = findings["cache_bytes_low"] or 0, findings["cache_bytes"]
    sooner = low if end is None else EARLY * low - counted.handed_out_bytes
    if counted.left_bytes is not None and counted.left_bytes < sooner:
        findings |= {"cache_bytes": None, "cache_bytes_low": None, "cache_bytes_high": None}
        findings["warnings"] = [AnalysisWarning.HIDDEN.of(size=Extent(counted.left_bytes)), *findings["warnings"]]
    elif end is not None:
        taken, before = end - counted.in_memory_bytes, counted.held_bytes
        if elsewhere := counted.past_bytes > NOT_FREE * taken:
            findings |= {"cache_bytes": None, "cache_bytes_low": None, "cache_bytes_high": None}
        else:
            # A drive that left off past its cache first completes the superblock that it had begun there.
            besides = counted.in_memory_bytes + counted.past_bytes
            findings |= {
                "cache_bytes": round(end - besides),
                "cache_bytes_low": round(low - besides),
                "cache_bytes_high": round((findings["cache_bytes_high"] or low) - besides),
            }
        if elsewhere or before > NOT_FREE * (before + taken):
            findings["warnings"] = [AnalysisWarning.HELD.of(size=Extent(before)), *findings["warnings"]]


def of_curve(curve: Curve | None, explain: Explain, options: AnalysisOptions) -> Writes:
    """The analysis of a write curve as run.json holds it; see `of_writes`. None: nothing was written.

    Args:
        explain: gives the cause of each phase.
        options: what is known of the drive and the run.
    """
    return analyze_curve(curve, explain, options).document() if curve else _mean_alone(curve)


def of_outside(curve: Curve | None, context: MeasurementContext, options: AnalysisOptions) -> Writes:
    """The analysis of a write curve of a drive that tells nothing itself, as run.json holds it."""
    return analyze_outside(curve, context, options).document() if curve else _mean_alone(curve)


def analyze_outside(curve: Curve, context: MeasurementContext, options: AnalysisOptions) -> WriteAnalysis:
    """The analysis of a write curve of a drive that tells nothing itself. Machines are of writes that go on one after
    the other; random ones keep to the rules for them."""
    if context.random:
        return analyze_curve(curve, lambda phases: blackbox_causes(phases, context), options)
    return explain_curve(curve, context, options, lambda phases: limits_around(phases, context))


def _mean_alone(curve: Curve | None, writing_s: float | None = None) -> Writes:
    """The mean speed while there was writing to do, of a curve that tells nothing else."""
    mean = curve.total_bytes / max(writing_s or curve.total_seconds, 1e-9) if curve else None
    return WriteAnalysis(mean, (), None, ()).document()


def analyze(  # noqa: PLR0913 public: keywords as the options of pslc analyze
    x: ArrayLike | Recording,
    bytes_per_s: ArrayLike | None = None,
    *,
    by: Literal["bytes", "time"] = "bytes",
    capacity_bytes: float | None = None,
    link_bytes_per_s: float | None = None,
    workload: Literal["random", "sequential"] | None = None,
    prefilled: bool = False,
    celsius: ArrayLike | None = None,
    seed: int = 0,
) -> WriteAnalysis:
    """Analyze a write curve of any origin: `pslc.analyze(written, speed).cache`.

    Args:
        x: at the end of each sample, the bytes written so far, or the seconds, shape (n,), ascending. Or a
            recording, and nothing else: its curve is analyzed as a real drive's, without its counters.
        bytes_per_s: within each sample, from the one before it on, shape (n,). Samples in which nothing was written, or
            that took no time, are left out.
        by: what x is.
        capacity_bytes: of the drive; tells a part of a fill from a drive without a cliff, and helps with causes.
        link_bytes_per_s: what its link carries.
        workload: how it was written; None: nobody says, and a sequential write is assumed.
        prefilled: the drive was full of other data before.
        celsius: the drive's temperature at the end of each sample, shape (n,).
        seed: of the intervals.

    Raises:
        RecordingError: the recording has no curve of writes alone, or one that tells speeds alone; or `x` is a path.
        ValueError: the arrays do not make a curve.
    """
    if isinstance(x, Recording):
        return _of_recording(x)
    if isinstance(x, str | Path):
        raise RecordingError(f'x is the path "{x}"', f'x takes an array or a recording: pslc.load("{x}") reads a file')
    if bytes_per_s is None:
        raise ValueError("a curve needs the speed of each sample: pslc.analyze(written, bytes_per_s)")
    samples, speed = np.asarray(x, dtype=np.float64), np.asarray(bytes_per_s, dtype=np.float64)
    curve = Curve.of_samples(samples, speed, by)
    degrees = None
    if celsius is not None:
        written = samples if by == "bytes" else np.cumsum(np.nan_to_num(speed) * np.diff(samples, prepend=0.0))
        degrees = (written, np.asarray(celsius, dtype=np.float64))
    context = MeasurementContext(
        capacity_bytes=capacity_bytes,
        link_bytes_per_s=link_bytes_per_s,
        random=None if workload is None else workload == "random",
        prefilled=prefilled,
        celsius=degrees,
    )
    options = AnalysisOptions(capacity_bytes=capacity_bytes, seed=seed, context=context)
    return analyze_outside(curve, context, options)


def _of_recording(recording: Recording) -> WriteAnalysis:
    """The analysis of a recording's write curve from outside.

    Raises:
        RecordingError: there is none of writes alone, or it tells speeds alone.
    """
    track = WriteTrack.of(recording)
    reason = _speeds_only(recording)
    if track.curve is None or track.is_mixed or reason:
        raise RecordingError(str(reason or f"{recording.drive}: no curve of writes alone"), "see recording.findings")
    return _from_outside(track, track.curve)
