"""What may be wrong with an analysis: a closed set of doubts, each with what to do next."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pslc.analysis.cache import BEHIND, WHOLE, CacheEnd
from pslc.analysis.context import MeasurementContext
from pslc.analysis.counter_causes import CauseEstimate
from pslc.analysis.nand_state import LIKELY
from pslc.analysis.phases import Phase
from pslc.analysis.plateaus import LEAST_SPARE, MOST_BITS
from pslc.analysis.segment import MAX_PHASES
from pslc.analysis.series import Curve, Floats
from pslc.schema.warnings import MeasurementWarning, WarningCode

FEW_IN_CURVE = 64
FEW_IN_PHASE = 8
GAP = 4.0
UNSTEADY = 0.25
STALL, STALL_S, BESIDE = 10.0, 1.0, 8
"""A bin stalls when it takes so many times, and so many seconds, longer than so many bins on each side."""
PARTS = 512
"""Of a phase, whose speeds are compared."""
DRIFTING = 0.15
WIDE = 0.05
WRITE_ALL, WRITE_MORE = "write the whole drive", "write more"
REPEAT, FINER = "repeat the run and compare", "record finer bins"
FALLS, EARLY = 0.8, 0.9
"""A phase is followed by a fall to this share; and ends this much of its room too early."""


class AnalysisWarning(WarningCode):
    """Every doubt there is; the braces hold the numbers of the case."""

    PART = "only {written} of {capacity} was written, so later phases may be missing: {next}"
    FIRST_PHASE = "the run ended while the drive was still in its first phase: write more than {written}"
    FEW_BINS = "the curve has only {bins}, so a short cache may be missed: {next}"
    SHORT_PHASE = "phase {phase} has only {bins}, so its speed is uncertain: {next}"
    GAPS = "samples are missing, {bins} took over {gap:g} times as long as usual: record without other load"
    STALLS = "nothing was written for up to {longest:.1f} s ({times}): other load, heat, or a clock that jumped"
    UNSTEADY = "the speed within phase {phase} scatters by {spread:.0f} %: {next}"
    DRIFTING = "the speed was still changing by {drift:+.0f} % over the last phase: {next}"
    WIDE = "the end of the cache is only known to lie in {width}: {next}"
    HIDDEN = "the cache was full after {size}, but the speed does not show it: something else was slower than the cells"
    HELD = "the cache still held {size} when the write began, so not all of it is seen: let it rest first, --idle 10min"
    RANDOM = "random writes do not tell of a cache, and none is stated: write sequentially to an empty drive"
    NOBODY_SAYS = "nobody says how it was written, so an empty drive and sequential writes are assumed: {options}"
    NO_SIZE = "nobody says how large the drive is, so memory or heat may be taken for its cache: give --capacity"
    PREFILLED = "the drive was full before, so this is not the cache of an empty one: erase it and write again"
    GUESSED = "phase {phase} is only guessed to be {cause}, as no cache ends so soon: give {what}"
    TOO_EARLY = "phase {phase} ended at {end}, but native cells have room until {room}: look for heat or a second tier"
    PATTERN = "the speed changed at least {phases} times, so the last phase is an average: read the plot instead"


def analysis_warnings(
    curve: Curve,
    phases: Sequence[Phase],
    *,
    end: CacheEnd | None = None,
    capacity_bytes: float | None = None,
    interrupted: bool = False,
    causes: Sequence[CauseEstimate] | None = None,
    context: MeasurementContext | None = None,
    the_rest: str = WRITE_ALL,
) -> list[MeasurementWarning]:
    """What to doubt about an analysis, the gravest first; empty when nothing.

    Args:
        phases: of this curve, from `find_phases`.
        end: of the cache, from `cache_end`.
        capacity_bytes: of the drive; None when it is not known.
        interrupted: the run was ended before its time.
        causes: of the phases, as seen from outside.
        seen: what else is known of a curve that is somebody else's; None: it is ours.
        the_rest: what to do for the rest of the drive, where a part was written.
    """
    part = capacity_bytes is not None and curve.total_bytes < WHOLE * capacity_bytes and not interrupted
    unfinished = []
    if part and capacity_bytes is not None:
        written, whole = _size(curve.total_bytes), _size(capacity_bytes)
        unfinished.append(AnalysisWarning.PART.of(written=written, capacity=whole, next=the_rest))
    # Past the cache from the start, there is no cliff to come.
    elif interrupted and len(phases) == 1 and not (causes and causes[0].nand_state in BEHIND):
        unfinished.append(AnalysisWarning.FIRST_PHASE.of(written=_size(curve.total_bytes)))
    return [
        *(unfinished if not (context and context.random) else []),
        *_untold(phases, capacity_bytes, context),
        *(_too_early(phases, causes, capacity_bytes, context) if causes and context else []),
        *_coarse(curve, phases, end, ours=context is None),
        *_unsteady(curve, phases, capacity_bytes),
    ]


def _untold(
    phases: Sequence[Phase], capacity: float | None, context: MeasurementContext | None
) -> list[MeasurementWarning]:
    """What nobody says, or what was said and forbids an answer."""
    if context is None:
        return []
    if context.random:
        return [AnalysisWarning.RANDOM.of()]
    found = []
    if context.random is None and len(phases) > 1:
        found.append(AnalysisWarning.NOBODY_SAYS.of(options="say --workload, and --prefilled if it was full"))
    falls = [after.bytes_per_s < FALLS * phase.bytes_per_s for phase, after in pairwise(phases)]
    if capacity is None and sum(falls) > 1:
        found.append(AnalysisWarning.NO_SIZE.of())
    if context.prefilled:
        found.append(AnalysisWarning.PREFILLED.of())
    return found


def _too_early(
    phases: Sequence[Phase], causes: Sequence[CauseEstimate], capacity: float | None, context: MeasurementContext
) -> list[MeasurementWarning]:
    """Phases that ended before the room for them did."""
    found = []
    cache = 0.0
    for number, (phase, why) in enumerate(zip(phases, causes, strict=True), 1):
        if why.nand_state == "pslc":
            cache = phase.to_bytes
        if why.cause == "page-cache" and why.confidence < LIKELY and context.link_bytes_per_s is None:
            found.append(AnalysisWarning.GUESSED.of(phase=number, cause="memory", what="--link"))
        if (
            why.cause == "thermal"
            and why.confidence < LIKELY
            and context.celsius is None
            and context.throttled_s is None
        ):
            found.append(AnalysisWarning.GUESSED.of(phase=number, cause="heat", what="a column of temperatures"))
        falls = number < len(phases) and phases[number].bytes_per_s < FALLS * phase.bytes_per_s
        if (
            why.cause == "direct"
            and cache
            and capacity is not None
            and falls
            and not (context.random or context.prefilled)
        ):
            room = LEAST_SPARE * capacity - (MOST_BITS - 1) * cache
            if phase.to_bytes < EARLY * room:
                found.append(AnalysisWarning.TOO_EARLY.of(phase=number, end=_size(phase.to_bytes), room=_size(room)))
    return found


def _coarse(curve: Curve, phases: Sequence[Phase], end: CacheEnd | None, *, ours: bool) -> list[MeasurementWarning]:
    """Bins that are too few or too wide; those of `ours` are as fine as they get, and nobody chose them."""
    found = []
    if curve.seconds.size < FEW_IN_CURVE:
        more = WRITE_MORE if ours else f"record at least {FEW_IN_CURVE}"
        found.append(AnalysisWarning.FEW_BINS.of(bins=_bins(curve.seconds.size), next=more))
    wide = _gaps(curve)
    if wide:
        found.append(AnalysisWarning.GAPS.of(bins=_bins(wide), gap=GAP))
    stalls = _stalls(curve)
    if stalls.size:
        found.append(
            AnalysisWarning.STALLS.of(
                longest=float(stalls.max()), times="once" if stalls.size == 1 else f"{stalls.size} times"
            )
        )
    if end is not None and end.seen_end and end.high - end.low > WIDE * end.bytes:
        again = REPEAT if ours else f"repeat the run and {FINER}"
        found.append(AnalysisWarning.WIDE.of(width=f"{_size(end.low)} to {_size(end.high)}", next=again))
    for number, phase in enumerate(phases, 1):
        bins = int(np.searchsorted(curve.edges_bytes, phase.to_bytes, side="right")) - int(
            np.searchsorted(curve.edges_bytes, phase.from_bytes, side="left")
        )
        if bins - 1 < FEW_IN_PHASE <= curve.seconds.size:
            again = REPEAT if ours else FINER
            found.append(AnalysisWarning.SHORT_PHASE.of(phase=number, bins=_bins(max(bins - 1, 0)), next=again))
    return found


def _gaps(curve: Curve) -> int:
    """Bins both wider and longer than those beside them. A phase that is faster or slower changes only one of these,
    whether samples are taken every so many bytes or every so often."""
    if curve.seconds.size < 2:
        return 0
    wide, long = (column > GAP * _beside(column) for column in (curve.widths, curve.seconds))
    return int(np.count_nonzero(wide & long))


def _beside(column: Floats) -> Floats:
    """The median of each bin's neighbourhood."""
    usual: Floats = np.median(sliding_window_view(np.pad(column, BESIDE, mode="edge"), 2 * BESIDE + 1), axis=1)
    return usual


def _stalls(curve: Curve) -> Floats:
    """Seconds of single bins that took far longer, for their width, than those beside them."""
    slowness = curve.seconds / curve.widths
    if slowness.size < FEW_IN_CURVE:
        return np.array([])
    stalled: Floats = curve.seconds[(slowness > STALL * _beside(slowness)) & (curve.seconds > STALL_S)]
    return stalled


def _unsteady(curve: Curve, phases: Sequence[Phase], capacity_bytes: float | None) -> list[MeasurementWarning]:
    found = []
    if len(phases) >= MAX_PHASES:
        found.append(AnalysisWarning.PATTERN.of(phases=MAX_PHASES - 1))
    for number, phase in enumerate(phases, 1):
        spread = min(phase.spread, _spread_of_parts(curve, phase))
        if spread > UNSTEADY:
            found.append(AnalysisWarning.UNSTEADY.of(phase=number, spread=100 * spread, next=REPEAT))
    if phases and abs(phases[-1].drift) > DRIFTING:
        whole = capacity_bytes is not None and curve.total_bytes >= WHOLE * capacity_bytes
        on = "read the plot instead" if whole else "write on until it settles"
        found.append(AnalysisWarning.DRIFTING.of(drift=100 * phases[-1].drift, next=on))
    return found


def _spread_of_parts(curve: Curve, phase: Phase) -> float:
    """Half the range of the middle 68 % of the speeds of equal parts of a phase, over their median: bins that are finer
    than the pages a drive programs at once jump from one to the next though nothing is unsteady."""
    seconds = np.diff(curve.seconds_at(np.linspace(phase.from_bytes, phase.to_bytes, PARTS + 1)))
    low, middle, high = np.quantile(1.0 / np.maximum(seconds, 1e-15 * seconds.sum()), (0.16, 0.5, 0.84))
    return float((high - low) / (2.0 * middle))


def _bins(count: int) -> str:
    return f"{count} bin{'s' * (count != 1)}" if count else "no whole bin"


def _size(count: float) -> str:
    """As `pslc.base.words.size` writes it."""
    scale, unit = (1e9, "GB") if count >= 0.9995e9 else (1e6, "MB")
    number = count / scale
    return f"{number:.{0 if number >= 99.95 else 1 if number >= 9.995 else 2}f} {unit}"
