"""Warnings about an analysis: a closed set, each with what to do next."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pslc.analysis.cache import PAST_CACHE_STATES, CacheEnd
from pslc.analysis.context import AnalysisOptions
from pslc.analysis.counter_causes import CauseEstimate
from pslc.analysis.phases import Phase
from pslc.analysis.series import Curve, Floats
from pslc.analysis.thresholds import (
    MAX_CACHE_INTERVAL_SHARE,
    MAX_FALL_RATIO,
    MAX_LAST_PHASE_DRIFT,
    MAX_PHASE_SPREAD,
    MAX_PHASES,
    MAX_PIPE_SPREAD,
    MAX_WRITTEN_SHARE,
    MIN_CURVE_BINS,
    MIN_GAP_RATIO,
    MIN_PHASE_BINS,
    MIN_STALL_RATIO,
    MIN_STALL_S,
    NEIGHBOUR_BINS,
    PIPES_BYTES_PER_S,
    SAME_PIPE_TOLERANCE,
    SPREAD_PARTS,
    WHOLE_DRIVE_SHARE,
)
from pslc.schema.warnings import Extent, MeasurementWarning, WarningCode

WRITE_MORE = "write more"
REPEAT, FINER = "repeat the run and compare", "record finer bins"
DEFAULT_OPTIONS = AnalysisOptions()


class AnalysisWarning(WarningCode):
    """Every warning about an analysis; the braces hold the numbers of the case."""

    OVER = (
        "{written} was written to a drive of {capacity}, so a part of it more than once, and folding or collection may "
        "show as the end of a cache: write an empty drive once, or check --capacity"
    )
    PART = "only {written} of {free}{capacity} was written, so later phases may be missing: {next}"
    SPEEDS_ONLY = "{why}, so no cause and no end of a cache is named: {next}"
    FIRST_PHASE = "the run ended while the drive was still in its first phase: write more than {written}"
    FEW_BINS = "the curve has only {bins}, so a short cache may be missed: {next}"
    SHORT_PHASE = "phase {phase} has only {bins}, so its speed is uncertain: {next}"
    GAPS = "samples are missing, {bins} took over {gap:g} times as long as usual: record without other load"
    STALLS = "nothing was written for up to {longest:.1f} s ({times}): other load, heat, or a clock that jumped"
    UNSTEADY = "the speed within phase {phase} scatters by {spread:.0f} %: {next}"
    DRIFTING = "the speed was still changing by {drift:+.0f} % over the last phase: {next}"
    WIDE = "the end of the cache is only known to lie in {low} to {high}: {next}"
    HIDDEN = "the cache was full after {size}, but the speed does not show it: something else was slower than the cells"
    EARLY = "the cache was full after {size} by the drive's counters, too soon to be seen in this curve: write less"
    HELD = "the cache still held {size} when the write began, so not all of it is seen: let it rest first, --idle 10min"
    USED_UP = (
        "the cache took none of this write, as the fill before had used it up; it held {size} when the write began: "
        "let it rest first, --idle 10min"
    )
    MAY_HOLD = (
        "the cache may still hold data of the fill before, so not all of it may be seen: let it rest, --idle 10min"
    )
    RANDOM = "random writes do not show a cache, so no size is stated: write sequentially to an empty drive"
    NOBODY_SAYS = "the file does not say how it was written; assuming sequential writes to an empty drive: {options}"
    NO_SIZE = "the capacity of the drive is unknown, so memory or heat may be mistaken for its cache: give --capacity"
    PIPE = "{speed} is about what {pipe} carries, so a faster cache is not seen: connect the drive directly"
    PREFILLED = "the drive was full before, so this is not the cache of an empty one: erase it and write again"
    UNSURE = "it may also be {explanation} ({share:.0f} %): {tell}"
    SMOOTHED = "each row of the log is a mean over the past, undone here ({seconds:.1f} s): log what each second moved"
    GUESSED = "phase {phase} is only guessed to be {cause}: give {what}"
    PATTERN = "the speed changed at least {phases} times, so the last phase is an average: read the plot instead"


def analysis_warnings(
    curve: Curve,
    phases: Sequence[Phase],
    *,
    end: CacheEnd | None = None,
    causes: Sequence[CauseEstimate] | None = None,
    options: AnalysisOptions = DEFAULT_OPTIONS,
) -> list[MeasurementWarning]:
    """Warnings about an analysis, the gravest first; empty if there are none.

    Args:
        phases: of this curve, from `find_phases`.
        end: of the cache, from `cache_end`.
        causes: of the phases, from `blackbox_causes`.
        options: of the analysis.
    """
    return [
        *_unfinished(curve, phases, causes, options),
        *_unstated(phases, options),
        *_few_bins(curve, own=options.is_own),
        *_irregular_bins(curve, has_gaps=options.has_gaps),
        *_wide_interval(end, own=options.is_own),
        *_short_phases(curve, phases, own=options.is_own),
        *_unsteady(curve, phases, options.capacity_bytes),
    ]


def _unfinished(
    curve: Curve, phases: Sequence[Phase], causes: Sequence[CauseEstimate] | None, options: AnalysisOptions
) -> list[MeasurementWarning]:
    """A write that ended before the drive was full, or before its first phase was over."""
    if options.context and options.context.random:
        return []
    capacity, written = options.capacity_bytes, curve.total_bytes
    if capacity is not None and written < WHOLE_DRIVE_SHARE * capacity and not options.interrupted:
        sizes = {"written": Extent(written), "capacity": Extent(capacity)}
        free = "the free " if options.is_free_part else ""
        return [AnalysisWarning.PART.of(**sizes, free=free, next=options.next_step)]
    # Past the cache from the start, there is no cliff to come.
    past_cache = causes and causes[0].nand_state in PAST_CACHE_STATES
    if options.context and capacity is not None and written > MAX_WRITTEN_SHARE * capacity:
        return [AnalysisWarning.OVER.of(written=Extent(written), capacity=Extent(capacity))]
    if options.interrupted and len(phases) == 1 and not past_cache:
        return [AnalysisWarning.FIRST_PHASE.of(written=Extent(written))]
    return []


def _unstated(phases: Sequence[Phase], options: AnalysisOptions) -> list[MeasurementWarning]:
    """Warnings about what is not known of another program's write, or what forbids an answer."""
    context = options.context
    if context is None:
        return []
    if context.random:
        return [AnalysisWarning.RANDOM.of()]
    warnings = []
    if context.random is None and len(phases) > 1:
        warnings.append(AnalysisWarning.NOBODY_SAYS.of(options="give --workload, and --prefilled if it was full"))
    falls = [after.bytes_per_s < MAX_FALL_RATIO * phase.bytes_per_s for phase, after in pairwise(phases)]
    if options.capacity_bytes is None and sum(falls) > 1:
        warnings.append(AnalysisWarning.NO_SIZE.of())
    if context.prefilled:
        warnings.append(AnalysisWarning.PREFILLED.of())
    if context.link_bytes_per_s is None and (pipe := _pipe(phases)):
        speed = f"{phases[0].bytes_per_s / 1e6:.0f} MB/s"
        warnings.append(AnalysisWarning.PIPE.of(speed=speed, pipe=pipe))
    return warnings


def _pipe(phases: Sequence[Phase]) -> str | None:
    """The pipe outside of the drive that its first phase may have filled; None where it kept to none, or was faster."""
    first = phases[0]
    if first.spread > MAX_PIPE_SPREAD:
        return None
    if max(phase.bytes_per_s for phase in phases) > (1 + SAME_PIPE_TOLERANCE) * first.bytes_per_s:
        return None
    near = (
        name for name, speed in PIPES_BYTES_PER_S.items() if abs(first.bytes_per_s / speed - 1) <= SAME_PIPE_TOLERANCE
    )
    return next(near, None)


def _few_bins(curve: Curve, *, own: bool) -> list[MeasurementWarning]:
    """A curve of few bins; those of our `own` recordings are as fine as they get."""
    if curve.seconds.size >= MIN_CURVE_BINS:
        return []
    more = WRITE_MORE if own else f"record at least {MIN_CURVE_BINS}"
    return [AnalysisWarning.FEW_BINS.of(bins=_bins(curve.seconds.size), next=more)]


def _irregular_bins(curve: Curve, *, has_gaps: bool = False) -> list[MeasurementWarning]:
    """Bins that lost samples, and bins in which nothing was written for long."""
    warnings = []
    wide = 0 if has_gaps else _gaps(curve)
    if wide:
        warnings.append(AnalysisWarning.GAPS.of(bins=_bins(wide), gap=MIN_GAP_RATIO))
    stalls = _stalls(curve)
    if stalls.size:
        times = "once" if stalls.size == 1 else f"{stalls.size} times"
        warnings.append(AnalysisWarning.STALLS.of(longest=float(stalls.max()), times=times))
    return warnings


def _wide_interval(end: CacheEnd | None, *, own: bool) -> list[MeasurementWarning]:
    """An end of the cache that is not known well."""
    if end is None or not end.seen_end or end.high - end.low <= MAX_CACHE_INTERVAL_SHARE * end.bytes:
        return []
    again = REPEAT if own else f"repeat the run and {FINER}"
    return [AnalysisWarning.WIDE.of(low=Extent(end.low), high=Extent(end.high), next=again)]


def _short_phases(curve: Curve, phases: Sequence[Phase], *, own: bool) -> list[MeasurementWarning]:
    """Phases of few whole bins."""
    warnings = []
    for number, phase in enumerate(phases, 1):
        last = int(np.searchsorted(curve.edges_bytes, phase.to_bytes, side="right"))
        bins = last - int(np.searchsorted(curve.edges_bytes, phase.from_bytes, side="left")) - 1
        if bins < MIN_PHASE_BINS <= curve.seconds.size:
            again = REPEAT if own else FINER
            warnings.append(AnalysisWarning.SHORT_PHASE.of(phase=number, bins=_bins(max(bins, 0)), next=again))
    return warnings


def _gaps(curve: Curve) -> int:
    """Count of bins both wider and longer than those around them. A phase that is faster or slower changes only one of
    these, whether samples are taken by bytes or by time."""
    if curve.seconds.size < 2:
        return 0
    wide, long = (column > MIN_GAP_RATIO * _neighbourhood(column) for column in (curve.widths, curve.seconds))
    return int(np.count_nonzero(wide & long))


def _neighbourhood(column: Floats) -> Floats:
    """The median of the bins around each bin, shape (n,)."""
    padded = np.pad(column, NEIGHBOUR_BINS, mode="edge")
    medians: Floats = np.median(sliding_window_view(padded, 2 * NEIGHBOUR_BINS + 1), axis=1)
    return medians


def _stalls(curve: Curve) -> Floats:
    """Seconds of single bins that took far longer, for their width, than those beside them."""
    slowness = curve.seconds / curve.widths
    if slowness.size < MIN_CURVE_BINS:
        return np.array([])
    stalled: Floats = curve.seconds[
        (slowness > MIN_STALL_RATIO * _neighbourhood(slowness)) & (curve.seconds > MIN_STALL_S)
    ]
    return stalled


def _unsteady(curve: Curve, phases: Sequence[Phase], capacity_bytes: float | None) -> list[MeasurementWarning]:
    """A speed that changes too often, scatters within a phase, or still drifts at the end."""
    warnings = []
    if len(phases) >= MAX_PHASES:
        warnings.append(AnalysisWarning.PATTERN.of(phases=MAX_PHASES - 1))
    for number, phase in enumerate(phases, 1):
        spread = min(phase.spread, _spread_of_parts(curve, phase))
        if spread > MAX_PHASE_SPREAD:
            warnings.append(AnalysisWarning.UNSTEADY.of(phase=number, spread=100 * spread, next=REPEAT))
    if phases and abs(phases[-1].drift) > MAX_LAST_PHASE_DRIFT:
        whole = capacity_bytes is not None and curve.total_bytes >= WHOLE_DRIVE_SHARE * capacity_bytes
        advice = "read the plot instead" if whole else "write on until it settles"
        warnings.append(AnalysisWarning.DRIFTING.of(drift=100 * phases[-1].drift, next=advice))
    return warnings


def _spread_of_parts(curve: Curve, phase: Phase) -> float:
    """Half the range of the middle 68 % of the speeds of equal parts of a phase, over their median: bins that are finer
    than the pages a drive programs at once jump from one to the next though nothing is unsteady."""
    seconds = np.diff(curve.seconds_at(np.linspace(phase.from_bytes, phase.to_bytes, SPREAD_PARTS + 1)))
    speeds = np.sort(1.0 / np.maximum(seconds, 1e-15 * seconds.sum()))
    # What numpy.quantile returns, without its import of masked arrays: every run is judged by this.
    low, middle, high = np.interp((0.16, 0.5, 0.84), np.linspace(0, 1, len(speeds)), speeds)
    return float((high - low) / (2.0 * middle))


def _bins(count: int) -> str:
    return f"{count} bin{'s' * (count != 1)}" if count else "no whole bin"
