"""Rough phase boundaries: points where the speed of a curve changes for good, to within a few cells.

    raw log speed -> equal-byte cells -> bursts out -> penalised change points -> prune what is not a phase

Penalised least squares (`change_points`) proposes too many boundaries rather than too
few; the pruning then keeps those that change the speed materially, beyond the ripple, and for long enough.
"""

import math
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pslc.analysis.change_points import change_points
from pslc.analysis.series import Curve, Floats
from pslc.analysis.thresholds import (
    FINER_HEAD_SHARE,
    FIRST_SAMPLE_OUTLIER_RATIO,
    HEAD_INNER_SHARE,
    MAX_CELLS,
    MAX_DRAM_BYTES,
    MAX_EXCURSION_SHARE,
    MAX_NOISE_POWER,
    MAX_PHASES,
    MAX_RIPPLE_LOG_STEP,
    MAX_RIPPLE_SHARE,
    MAX_SHORT_CACHE_SHARE,
    MAX_SHORT_FIRST_CELLS,
    MAX_SLOW_START_SHARE,
    MIN_CACHE_SHARE,
    MIN_FINER_HEAD_BINS,
    MIN_FINER_HEAD_RATIO,
    MIN_GAP_SHARE,
    MIN_HEAD_LOG_STEP,
    MIN_LOG_STEP,
    MIN_PHASE_CELLS,
    MIN_PHASE_SHARE,
    MIN_PHASE_SHARE_IN_RIPPLE,
    MIN_START_RATIO,
    RIPPLE_SCALES_CELLS,
    RIPPLE_STEP_RATIO,
)


def rough_boundaries(curve: Curve) -> list[float]:
    """Byte positions, ascending and strictly inside the trace, where a new phase begins; good to a few bins.

    Of a run that is long beside its cache, a cell holds all of it: what was recorded in finer bins at the start is
    segmented by itself.
    """
    cells = _cell_count(curve)
    boundaries = _boundaries(curve, cells)
    head = _finer_head(curve, curve.total_bytes / cells)
    if head is None:
        return boundaries
    begin, until = float(head.edges_bytes[MIN_PHASE_CELLS]), head.edges_bytes[0] + HEAD_INNER_SHARE * head.total_bytes
    early = [boundary for boundary in rough_boundaries(head) if begin <= boundary < until]
    return [*early, *(boundary for boundary in boundaries if boundary >= until)][: MAX_PHASES - 1]


def _finer_head(curve: Curve, cell_bytes: float) -> Curve | None:
    """The start of a curve, where its bins are finer than the cells, and finer than those behind, as a recorder keeps
    them: of bins that are fine everywhere the cells lose nothing but noise. None where they are not."""
    count = int(np.searchsorted(curve.edges_bytes - curve.edges_bytes[0], FINER_HEAD_SHARE * curve.total_bytes))
    if count < MIN_FINER_HEAD_BINS:
        return None
    usual_bytes = min(cell_bytes, float(np.median(curve.widths[count:])))
    if float(curve.widths[:count].max()) > usual_bytes / MIN_FINER_HEAD_RATIO:
        return None
    return Curve(curve.edges_bytes[: count + 1], curve.seconds[:count])


def _boundaries(curve: Curve, cells: int) -> list[float]:
    if cells < 8:
        return []
    edges = np.linspace(curve.edges_bytes[0], curve.edges_bytes[-1], cells + 1)
    # A cell within one absurdly fast bin may take no time that a float can tell.
    seconds = np.maximum(np.diff(curve.seconds_at(edges)), 1e-15 * curve.total_seconds)
    level = np.log(np.diff(edges) / seconds)
    calm = _without_bursts(level, max(1, math.ceil(MIN_PHASE_SHARE * cells)))
    noise = _noise_power(calm, level)
    penalty = 3.0 * math.log(cells) * noise + 0.5 * MIN_LOG_STEP**2
    boundaries = _pruned(calm, level, change_points(calm, penalty), penalty)
    cache_cells = _min_cache_cells(curve, cells)
    ready = _without_slow_start(calm, boundaries, cache_cells)
    start, ends = _short_first_phase(level, ready[0] if ready else cells, cache_cells)
    if not ends:
        start, ends = _short_after_start(level)
    if MIN_START_RATIO * start < ends:
        start = 0
    if ends:
        boundaries = [ends, *(b for b in boundaries if b > max(1.5 * ends, ends + MIN_PHASE_SHARE * cells))]
    boundaries = [start, *boundaries] if start else _without_slow_start(calm, boundaries, cache_cells)
    if boundaries and boundaries[0] <= max(MIN_PHASE_SHARE_IN_RIPPLE * cells, MAX_SHORT_FIRST_CELLS):
        boundaries = _beside_short_first(level, boundaries, after_start=bool(start))
    return [float(edges[b]) for b in boundaries[: MAX_PHASES - 1]]


def _beside_short_first(level: Floats, boundaries: list[int], *, after_start: bool) -> list[int]:
    """The boundaries, with those of a short phase behind a short first one and of a short head within it.

    Args:
        level: logarithm of the speed of each cell.
        boundaries: cells where phases end; the first phase is short.
        after_start: the first phase is a slow start, behind which no short phase is looked for.
    """
    first = boundaries[0]
    further = 0 if after_start else _short_behind(level, first)
    beyond = max(1.5 * further, further + MIN_PHASE_SHARE * level.size)
    if further and not any(first < boundary <= beyond for boundary in boundaries):
        boundaries = [first, further, *boundaries[1:]]
    head = _short_head(level[:first])
    return [head, *boundaries] if head else boundaries


def _cell_count(curve: Curve) -> int:
    """As many cells as the trace would have bins if none were missing, within what is cut in milliseconds."""
    return max(1, min(round(curve.total_bytes / float(np.median(curve.widths))), MAX_CELLS))


def _without_bursts(level: Floats, half: int) -> Floats:
    """Running median over 2 * half + 1 cells; an edge is padded with its own median so that a short end survives."""
    edge = min(3, half)
    head, tail = np.median(level[:edge]), np.median(level[-edge:])
    padded = np.concatenate((np.full(half, head), level, np.full(half, tail)))
    calm: Floats = np.median(sliding_window_view(padded, 2 * half + 1), axis=1)
    return calm


def _noise_power(calm: Floats, level: Floats) -> float:
    """Variance a cell of the noise would have if it were white: the worst over block lengths, so that ripple counts.

    Medians of the differences between neighbouring blocks ignore the few that straddle a boundary.
    """
    worst = 0.0
    for scale in RIPPLE_SCALES_CELLS:
        if 2 * scale > max(2.0, MAX_RIPPLE_SHARE * level.size):
            break  # what comes and goes so slowly are phases
        for series in (calm, level) if scale == 1 else (calm,):
            count = series.size // scale
            if count < 8:
                continue
            means = series[: count * scale].reshape(count, scale).mean(axis=1)
            sigma = 1.4826 * float(np.median(np.abs(np.diff(means))))
            worst = max(worst, scale * sigma**2 / 2.0)
    return min(worst, MAX_NOISE_POWER)


def _pruned(calm: Floats, level: Floats, boundaries: list[int], penalty: float) -> list[int]:
    """Drop boundaries, the weakest first, until each that is left separates two phases."""
    boundaries = list(boundaries)
    shortest = max(MIN_PHASE_SHARE * calm.size, MIN_PHASE_CELLS)
    strengths: list[float] = []
    changed = range(len(boundaries))
    while boundaries:
        ends = [0, *boundaries, calm.size]
        strengths[changed.start : changed.stop] = [
            _strength(calm, level, ends, i + 1, penalty, shortest) for i in changed
        ]
        weakest = int(np.argmin(strengths))
        if strengths[weakest] >= 1.0:
            rippling = _ripple(calm, ends)
            if rippling is None:
                break
            weakest = rippling
        del boundaries[weakest], strengths[weakest]
        # A boundary is as strong as the two stretches on either side make it.
        changed = range(max(0, weakest - 2), min(weakest + 2, len(boundaries)))
    return boundaries


def _strength(calm: Floats, level: Floats, ends: list[int], i: int, penalty: float, shortest: float) -> float:
    """How far border i is above the weakest border worth reporting (1.0)."""
    start, boundary, end = ends[i - 1], ends[i], ends[i + 1]
    left, right = boundary - start, end - boundary
    whole = abs(float(calm[start:boundary].mean() - calm[boundary:end].mean()))
    brief = right < shortest or (left < shortest and start > 0)
    if brief or _excursion(calm, ends, i - 1) or _excursion(calm, ends, i):
        return 0.1 * whole / (1.0 + whole)  # a burst goes first, into the neighbour it resembles
    gain = left * right / (left + right) * whole**2
    # A slow drift differs between the means of two long phases, but not between the two sides of the boundary.
    reach = max(8, round(0.04 * calm.size))
    before, after = calm[max(start, boundary - reach) : boundary], calm[boundary : min(end, boundary + reach)]
    near = abs(float(np.median(before) - np.median(after)))
    needed = MIN_LOG_STEP
    short = MIN_PHASE_SHARE_IN_RIPPLE * calm.size
    if left < short and start > 0:
        needed = max(needed, _swing(level[boundary : min(end, boundary + reach)]))
    if right < short:
        needed = max(needed, _swing(level[max(start, boundary - reach) : boundary]))
    return min(whole / needed, near / needed, gain / penalty)


def _excursion(calm: Floats, ends: list[int], k: int) -> bool:
    """Whether stretch k leaves the speed of its neighbours for a moment only."""
    if k < 1 or k + 2 >= len(ends) or ends[k + 1] - ends[k] >= MAX_EXCURSION_SHARE * calm.size:
        return False
    before, after = calm[ends[k - 1] : ends[k]].mean(), calm[ends[k + 1] : ends[k + 2]].mean()
    return bool(abs(before - after) < MIN_LOG_STEP)


def _swing(level: Floats) -> float:
    """The change of log speed that stands out of what is usual here, for a stretch too short to average it out."""
    low, high = np.quantile(level, (0.05, 0.95))
    return MIN_LOG_STEP + RIPPLE_STEP_RATIO * float(high - low)


def _ripple(calm: Floats, ends: list[int]) -> int | None:
    """The index of a boundary inside a ripple: three or more short stretches in a row that go up and down mildly."""
    means = [float(calm[a:b].mean()) for a, b in pairwise(ends)]
    steps = np.diff(means)
    lengths = np.diff(ends)
    longest = MAX_RIPPLE_SHARE * calm.size
    for k in range(1, len(steps) - 1):
        three = steps[k - 1 : k + 2]
        alternating = three[0] * three[1] < 0 and three[1] * three[2] < 0
        short = lengths[k] < longest and lengths[k + 1] < longest
        if alternating and short and float(np.abs(three).max()) < MAX_RIPPLE_LOG_STEP:
            return k
    return None


def _short_first_phase(level: Floats, until: int, cache_cells: float) -> tuple[int, int]:
    """Where a first phase too short for the change points begins and ends: all of it is above nearly all of what
    follows.

    Zeros when there is none. More than a buffer, and one cell only where what follows has no lucky samples.
    """
    shortest = math.ceil(cache_cells)
    longest = min(math.ceil(MAX_SHORT_CACHE_SHARE * level.size), until - 4)
    best, phase = 2 * MIN_LOG_STEP, (0, 0)
    started = _begin(level[: max(longest, 0)])
    # The cell across which it begins is of a speed in between.
    for begin in sorted({0, started, started + 1} if started else {0}):
        for count in range(begin + shortest, longest + 1):
            after = level[count + 1 : min(until, count + 1 + max(8 * count, 64))]
            if after.size < 8:
                break
            usual, high = np.quantile(after, (0.5, 0.95))
            gap = float(level[begin:count].min() - high)
            if gap > best and (count > begin + 1 or gap > FIRST_SAMPLE_OUTLIER_RATIO * (high - usual)):
                best, phase = gap, (begin, count)
    return phase


def _short_behind(level: Floats, first: int) -> int:
    """Where a second short phase ends that follows the first at once, as a short cache does memory; 0 where there is
    none."""
    start, count = _short_first_phase(level[first:], level.size - first, MIN_CACHE_SHARE * (level.size - first))
    # The cell across which it begins is of a speed in between.
    return first + count if count and start <= 1 else 0


def _short_head(level: Floats) -> int:
    """Where the far faster part ends that a short first phase begins with, as of memory; 0 where there is none."""
    gaps = [
        # The cell across which it ends is of a speed in between.
        float(level[:end].min() - (level[end + 1 :] if end + 1 < level.size else level[end:]).max())
        for end in range(1, level.size)
    ]
    return int(np.argmax(gaps)) + 1 if gaps and max(gaps) > MIN_HEAD_LOG_STEP else 0


def _short_after_start(level: Floats) -> tuple[int, int]:
    """Where a slow start ends, and where a fast stretch does that follows it and is as short; zeros when there is none.
    All of the stretch is above all of the start, and above nearly all of what follows."""
    longest = math.ceil(MAX_SHORT_CACHE_SHARE * level.size)
    begin = _begin(level[:longest])
    gaps = {}
    # The bin across which it begins is of a speed in between.
    for start in (begin, begin + 1) if begin else ():
        for count in range(start + 2, longest + 1):
            after = level[count + 1 : count + 1 + max(8 * count, 64)]
            if after.size < 8:
                break
            fast = float(level[start:count].min())
            gaps[start, count] = fast - max(float(np.quantile(after, 0.95)), float(level[:begin].max()))
    best_gap = max(gaps.values(), default=0.0)
    if best_gap <= 2 * MIN_LOG_STEP:
        return 0, 0
    # A part of it stands out as well as all of it.
    return max((span for span, gap in gaps.items() if gap > MIN_GAP_SHARE * best_gap), key=lambda span: span[1])


def _begin(level: Floats) -> int:
    """Where a slow start ends: at the largest rise, if that is of a fifth or more."""
    if level.size < 4:
        return 0
    rises = np.diff(level)
    return int(np.argmax(rises)) + 1 if rises.max() > 2 * MIN_LOG_STEP else 0


def _min_cache_cells(curve: Curve, cells: int) -> float:
    """Cells below which a first phase is what the drive's DRAM took in."""
    return min(MIN_CACHE_SHARE, MAX_DRAM_BYTES / curve.total_bytes) * cells


def _without_slow_start(calm: Floats, boundaries: list[int], cache_cells: float) -> list[int]:
    if not boundaries or boundaries[0] > MAX_SLOW_START_SHARE * calm.size:
        return boundaries
    after = calm[boundaries[0] : boundaries[1] if len(boundaries) > 1 else None]
    slower = float(calm[: boundaries[0]].mean()) < float(after.mean())
    return boundaries[1:] if slower or boundaries[0] < cache_cells else boundaries
