"""Pauses of folding that are longer than the bins of a curve: writes stop for seconds, again and again.

---------+  +-+  +-+  +-+      the mean over whole cycles of work and pause is what the drive takes in behind its
         |  | |  | |  | |      cache; the first cycle begins where the cache was full, as much before the first
         +--+ +--+ +--+ +--    pause as there is between two of them

A cache that is used again once it is empty makes cycles of the same kind: each begins where it is full.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pslc.analysis.boundary import PhaseBoundary
from pslc.analysis.change_points import change_points, neighbor_noise
from pslc.analysis.series import Curve, Floats, median
from pslc.analysis.thresholds import (
    MAX_CYCLE_SPREAD,
    MAX_PAUSE_BYTES_SHARE,
    MAX_PAUSE_SPEED_RATIO,
    MAX_STOPPED_SPEED_RATIO,
    MIN_LOG_STEP,
    MIN_PAUSE_TIME_SHARE,
    MIN_PAUSES,
)

Ints = NDArray[np.intp]


@dataclass(frozen=True)
class AveragedCurve:
    """A curve whose cycles of work and pause are averaged.

    Attributes:
        curve: of the same edges.
        begin_bytes: where the first cycle begins, in cumulative bytes; None where there are no such pauses.
        error_bytes: how far off that may be.
        pause_s: the usual length of a pause.
    """

    curve: Curve
    begin_bytes: float | None = None
    error_bytes: float = 0.0
    pause_s: float = 0.0

    def widened(self, boundary: PhaseBoundary) -> PhaseBoundary:
        """The boundary with an interval that holds what is not known of the first cycle's beginning."""
        if self.begin_bytes is None or abs(boundary.bytes - self.begin_bytes) > self.error_bytes:
            return boundary
        low, high = self.begin_bytes - self.error_bytes, self.begin_bytes + self.error_bytes
        return PhaseBoundary(boundary.bytes, min(boundary.low, low), max(boundary.high, high))


def average_pauses(curve: Curve) -> AveragedCurve:
    """The curve with the time of each regular pause dealt out over its cycle; itself without pauses, and where the host
    was silent: then its cycles are not the drive's."""
    if curve.silent_s.any():
        return AveragedCurve(curve)
    order = np.argsort(curve.bytes_per_s)
    half = int(np.searchsorted(np.cumsum(curve.widths[order]), 0.5 * curve.total_bytes))
    usual = curve.bytes_per_s[order][min(half, order.size - 1)]
    slow = np.concatenate([[False], curve.bytes_per_s < MAX_PAUSE_SPEED_RATIO * usual, [False]])
    starts, ends = np.flatnonzero(~slow[:-1] & slow[1:]), np.flatnonzero(slow[:-1] & ~slow[1:])
    if starts.size < MIN_PAUSES:
        return AveragedCurve(curve)
    edges, elapsed = curve.edges_bytes, np.concatenate([[0.0], np.cumsum(curve.seconds)])
    if not _stops(curve, starts, ends, usual):
        return AveragedCurve(curve)
    cycles, pauses_s = np.diff(edges[ends]), elapsed[ends] - elapsed[starts]
    longest = float((edges[ends] - edges[starts]).max())
    begin = float(edges[ends[0]] - np.median(cycles))
    # The first and the last bin of a pause may be of work, mostly.
    inner = edges[np.maximum(ends - 1, starts + 1)] - edges[starts + 1]
    paused_bytes = float(inner.sum() / (edges[ends[-1]] - begin))
    # What is written in slow phases ends no cycle, it begins one; a superblock that was begun before is none of it.
    if paused_bytes > MAX_PAUSE_BYTES_SHARE:
        begins = edges[starts[starts > 0]]
        begin, cycles, ends = float(begins[0]), np.diff(begins), starts[starts > 0][1:]
    cycle = float(np.median(cycles))
    spread = float(np.median(np.abs(cycles - cycle)))
    paused_s = float(pauses_s.sum() / (elapsed[ends[-1]] - np.interp(begin, edges, elapsed)))
    # A pause begins and ends within a bin, and so does each cycle.
    bin_bytes = float(np.quantile(curve.widths[max(ends[0] - 1, 0) : ends[-1]], 0.9))
    # What is longer than a cycle is a phase, such as the slow start of a drive that erases first.
    is_regular = longest <= cycle and spread <= MAX_CYCLE_SPREAD * cycle + bin_bytes / 2
    if not is_regular or paused_s < MIN_PAUSE_TIME_SHARE or begin <= edges[0]:
        return AveragedCurve(curve)
    begun_s = float(np.interp(begin, edges, elapsed))
    ends = ends[_stretch_ends(np.diff(np.append(begin, edges[ends])), np.diff(np.append(begun_s, elapsed[ends])))]
    if edges[-1] - edges[ends[-1]] < 2.0 * cycle:
        # The write ended within a cycle.
        ends = ends[:-1]
    before = edges < begin
    knots = np.concatenate([edges[before], [begin], edges[ends], edges[-1:]])
    times = np.concatenate([elapsed[before], [begun_s], elapsed[ends], elapsed[-1:]])
    seconds = np.maximum(np.diff(np.interp(edges, knots, times)), 1e-15 * curve.total_seconds)
    error = 2.0 * spread + 1.645 * bin_bytes
    return AveragedCurve(Curve(edges, seconds, curve.silent_s), begin, error, float(np.median(pauses_s)))


def _stops(curve: Curve, starts: Ints, ends: Ints, usual: float) -> bool:
    """Whether writes stop in slow stretches, as far as rows lie wholly within them: a drive that goes on at a lower
    speed does not pause."""
    inner = [row for start, end in zip(starts, ends, strict=True) for row in range(start + 1, end - 1)]
    return not inner or float(median(curve.bytes_per_s[inner])) < MAX_STOPPED_SPEED_RATIO * usual


def _stretch_ends(cycle_bytes: Floats, cycle_s: Floats) -> list[int]:
    """The last cycle of each stretch of cycles of about the same mean speed: single cycles differ by as much as their
    work and pause do."""
    level = np.log(cycle_bytes / cycle_s)
    begins = change_points(level, 6 * neighbor_noise(level) ** 2 * math.log(level.size) + 0.5 * MIN_LOG_STEP**2)
    return [begin - 1 for begin in [*begins, level.size]]
