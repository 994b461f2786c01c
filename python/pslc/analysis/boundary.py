"""The boundary between two phases, to a fraction of a bin, and how far off it may be.

             left level
    ---------+
             |f       the bin that straddles the boundary took f of its bytes at the left speed, the rest at the right:
         bin j        its own time tells f
             +----------
               right level

Which bin straddles is the most likely one when the log speed of each side scatters as Laplace (bursts weigh little).
The uncertainty comes from a stationary bootstrap (Politis and Romano 1994) of each side's scatter, which keeps ripple
together: new curves are made with the boundary where it was located, and it is located again.
"""

# An annotation of a generator would import numpy.random, for which short runs have no use.
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pslc.analysis.series import Curve, Floats
from pslc.analysis.thresholds import (
    BOUNDARY_GUARD_SHARE,
    BOUNDARY_LEVEL_SHARE,
    BOUNDARY_SEARCH_SHARE,
    DRIFT_T_THRESHOLD,
    MAX_BOUNDARY_SEARCH_BINS,
    MAX_READ_CORRELATION,
    MAX_SHORT_FIRST_PHASE_BINS,
    MIN_BOUNDARY_ERROR_BYTES,
    MIN_DRIFT_THIRD_BINS,
    MIN_LEVEL_BINS,
    MIN_NEAREST_STEP_RATIO,
    MIN_RELATIVE_SCATTER,
)


@dataclass(frozen=True)
class PhaseBoundary:
    """Boundary between two phases, in bytes written since the start, with its 90 % interval."""

    bytes: float
    low: float
    high: float


@dataclass(frozen=True)
class _Side:
    level: float
    scatter: float
    residuals: Floats


def locate(
    curve: Curve, rough: float, after: float, before: float, *, seed: int, replicates: int = 200
) -> PhaseBoundary:
    """Refine a rough boundary.

    Args:
        rough: the boundary, to some bins, in cumulative bytes.
        after, before: the boundaries on either side of it, in cumulative bytes.
        seed: of the bootstrap; the same seed gives the same interval.
        replicates: curves that the bootstrap makes.
    """
    level = np.log(curve.bytes_per_s)
    edges = curve.edges_bytes
    first = int(np.searchsorted(edges, after, side="left"))
    last = int(np.searchsorted(edges, before, side="right")) - 1
    centre = min(max(int(np.searchsorted(edges, rough)), first + 1), last - 1)
    if last - first < 4:
        return PhaseBoundary(rough, after, before)
    reach = max(12, min(round(BOUNDARY_SEARCH_SHARE * level.size), max(MAX_BOUNDARY_SEARCH_BINS, level.size // 512)))
    start = max(centre - reach, first if first == 0 and centre < MAX_SHORT_FIRST_PHASE_BINS else (first + centre) // 2)
    stop = min(centre + reach, last if last == level.size else (centre + last + 1) // 2)
    for share in (BOUNDARY_GUARD_SHARE, 0.0):
        # In logs sampled by time a fast phase has few bins of many: the guard leaves three quarters of each side.
        guard_now = max(1, min(round(share * level.size), (centre - first) // 4, (last - centre) // 4))
        left, right = _sides(level, first, centre, last, guard_now)
        position = float(_places(level[None, start:stop], left, right)[0])
        centre = min(max(start + round(position), first + 1), last - 1)
    by_sides = position
    position = _between_nearest(level, start, position, (first, last), (left, right))
    window = np.concatenate((edges[start : stop + 1], edges[stop : stop + 1]))
    located_bytes = float(np.interp(position, np.arange(window.size), window))
    errors = _bootstrap(position, stop - start, left, right, np.random.default_rng(seed), replicates)
    earliest, latest = np.quantile(errors, (0.05, 0.95))
    taken_in = float(curve.widths[min(start + int(position), level.size - 1)])
    if centre - first >= MIN_LEVEL_BINS and last - centre >= MIN_LEVEL_BINS:
        taken_in = min(MIN_BOUNDARY_ERROR_BYTES, taken_in)
    # What the nearest bin tells otherwise than its side may be of a speed in between itself.
    differ_bytes = 2.0 * abs(located_bytes - _position(window, by_sides))
    taken_in = max(taken_in, 1.645 * _edge_error_bytes(curve), differ_bytes)
    low = min(located_bytes - taken_in, _position(window, position - latest))
    high = max(located_bytes + taken_in, _position(window, position - earliest))
    return PhaseBoundary(located_bytes, max(low, after), min(high, before))


def _between_nearest(
    level: Floats, start: int, position: float, ends: tuple[int, int], sides: tuple[_Side, _Side]
) -> float:
    """The place within its bin, told by the nearest bin of a side where that is of a speed in between: one drive of an
    array slows down before the other.

    Args:
        position: bins from `start`.
        ends: first and last bin of the two phases.
        sides: before and after.
    """
    straddling = start + int(position)
    lowest, highest = sorted(side.level for side in sides)
    levels = [side.level for side in sides]
    for index, (side, nearest) in enumerate(zip(sides, (straddling - 1, straddling + 1), strict=True)):
        if not ends[0] <= nearest < ends[1]:
            continue
        beside = float(level[nearest])
        if abs(beside - side.level) > MIN_NEAREST_STEP_RATIO * side.scatter and lowest < beside < highest:
            levels[index] = beside
    slow_left, slow_right = np.exp(-levels[0]), np.exp(-levels[1])
    if levels == [side.level for side in sides] or slow_left == slow_right or straddling >= level.size:
        return position
    share = (np.exp(-level[straddling]) - slow_right) / (slow_left - slow_right)
    return float(straddling - start + np.clip(share, 0.0, 1.0))


def _edge_error_bytes(curve: Curve) -> float:
    """Standard deviation of the edges from their places, of bins equal in neither bytes nor time, as where points were
    read from a chart by eye: what one bin has too much its neighbour lacks, and neighbouring widths differ by three
    errors, one of them twice."""
    if curve.seconds.size < 3 or _neighbour_correlation(curve.widths) > MAX_READ_CORRELATION:
        return 0.0
    scatter = min(
        float(np.median(np.abs(np.diff(steps))) / np.median(steps)) for steps in (curve.widths, curve.seconds)
    )
    return float(1.4826 * scatter * np.median(curve.widths) / np.sqrt(6.0))


def _neighbour_correlation(steps: Floats) -> float:
    """Correlation of each step with the next one; 0 where all are equal. It is -0.5 of places with errors, and 0 of
    steps that are drawn one by one."""
    off = steps - np.median(steps)
    usual = np.abs(off) <= 3.0 * 1.4826 * float(np.median(np.abs(off)))
    pairs = usual[:-1] & usual[1:]
    variance = float(np.mean(off[usual] ** 2))
    return float(np.mean(off[:-1][pairs] * off[1:][pairs])) / variance if variance > 0.0 and pairs.any() else 0.0


def _position(window: Floats, place: float) -> float:
    return float(np.interp(place, np.arange(window.size), window))


def _sides(level: Floats, first: int, centre: int, last: int, guard: int) -> tuple[_Side, _Side]:
    """The log speeds on both sides of a boundary, without the `guard` bins nearest to it while enough are left."""
    reach = max(20, min(round(BOUNDARY_LEVEL_SHARE * level.size), 5 * MAX_BOUNDARY_SEARCH_BINS))
    # A slow start is half of the samples of a short first phase, or more.
    near = min(reach, max(20, (centre - first) // 2)) if first == 0 else reach
    guard = min(guard, near // 2)
    left = level[max(first, centre - near) : max(centre - guard, first + min(3, centre - first))]
    right = level[min(centre + guard, last - min(3, last - centre)) : min(last, centre + reach)]
    return _side(left[::-1], guard), _side(right, guard)


def _side(level: Floats, guard: int) -> _Side:
    """The log speed of a side: its median, or where it drifts, the value of its line at the boundary.

    Args:
        level: log speeds of the bins, from the boundary outwards.
        guard: bins between the boundary and the first of them.
    """
    middle = float(np.median(level))
    residuals = level - middle
    third = level.size // 3
    if third >= MIN_DRIFT_THIRD_BINS:
        # Tukey's resistant line: the medians of the outer thirds lie two thirds of the side apart.
        near, far = float(np.median(level[:third])), float(np.median(level[-third:]))
        off = float(np.abs(level[:third] - near).mean() + np.abs(level[-third:] - far).mean())
        if abs(far - near) > DRIFT_T_THRESHOLD * max(off, MIN_RELATIVE_SCATTER) / np.sqrt(third):
            slope = (far - near) / (level.size - third)
            line = near + slope * (np.arange(level.size) - (third - 1) / 2.0)
            return _Side(
                float(line[0] - slope * guard),
                max(float(np.abs(level - line).mean()), MIN_RELATIVE_SCATTER),
                level - line,
            )
    return _Side(middle, max(float(np.abs(residuals).mean()), MIN_RELATIVE_SCATTER), residuals)


def _places(traces: Floats, left: _Side, right: _Side) -> Floats:
    """The boundary of each curve of log speeds, in bins from its start: shape (curves, bins) in, (curves,) out."""
    on_left = np.abs(traces - left.level) / left.scatter + np.log(left.scatter)
    on_right = np.abs(traces - right.level) / right.scatter + np.log(right.scatter)
    lowest, highest = sorted((left.level, right.level))
    outside = np.maximum(np.maximum(lowest - traces, traces - highest), 0.0)
    straddles = outside / min(left.scatter, right.scatter) + 0.5 * np.log(left.scatter * right.scatter)
    before = np.cumsum(on_left, axis=1) - on_left
    after = on_right.sum(axis=1, keepdims=True) - np.cumsum(on_right, axis=1)
    which = np.argmin(before + straddles + after, axis=1)
    # time of the straddling bin: exp(-trace) = f * exp(-left) + (1 - f) * exp(-right)
    slowness = np.exp(-traces[np.arange(traces.shape[0]), which])
    slow_left, slow_right = np.exp(-left.level), np.exp(-right.level)
    share = np.clip((slowness - slow_right) / (slow_left - slow_right), 0.0, 1.0) if slow_left != slow_right else 0.5
    places: Floats = which + share
    return places


def _bootstrap(place: float, bins: int, left: _Side, right: _Side, rng: np.random.Generator, replicates: int) -> Floats:
    """Errors, in bins, of the boundary located in `replicates` curves that scatter as this one does.

    The boundary of each is moved by up to half a bin, so that how it falls on the bins, which is chance, is averaged;
    and the levels are off by as much as the scatter lets them be.
    """
    places = np.clip(place + rng.uniform(-0.5, 0.5, replicates), 0.0, bins - 1e-9)[:, None]
    column = np.arange(bins)
    share = np.clip(places - column, 0.0, 1.0)  # of each bin that lies before the boundary
    exact = -np.log(share * np.exp(-left.level) + (1.0 - share) * np.exp(-right.level))
    shape = (replicates, bins)
    scatter = np.where(share > 0.5, *(_scatter(side, shape, rng) for side in (left, right)))
    errors: Floats = _places(exact + scatter, left, right) - places[:, 0]
    return errors


def _scatter(side: _Side, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Residuals of one side, the error of its level included: shape (curves, bins)."""
    again = _resampled(side.residuals, (shape[0], side.residuals.size), rng)
    return _resampled(side.residuals, shape, rng) - np.median(again, axis=1, keepdims=True)


def _resampled(residuals: Floats, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Stationary bootstrap: runs of residuals of geometric length, wrapped around."""
    length = max(1.0, min(residuals.size / 4.0, 2.0 * residuals.size ** (1.0 / 3.0)))
    jumps = rng.random(shape) < 1.0 / length
    jumps[:, 0] = True
    starts = rng.integers(0, residuals.size, shape)
    columns = np.arange(shape[1])
    since: NDArray[np.intp] = np.maximum.accumulate(np.where(jumps, columns, 0), axis=1)
    picked = np.take_along_axis(starts, since, axis=1) + columns - since
    resampled: Floats = residuals[picked % residuals.size]
    return resampled
