"""The phases of a write: stretches of bytes at one speed, told apart by where the speed changes for good."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pslc.analysis.boundary import PhaseBoundary, locate
from pslc.analysis.pauses import average_pauses
from pslc.analysis.segment import rough_boundaries
from pslc.analysis.series import Curve
from pslc.analysis.thresholds import (
    MAX_LOG_DRIFT,
    MAX_STRADDLED_BINS,
    MERGE_LOG_SPEED,
    MIN_OWN_LOG_SPEED,
    MIN_SHAPE_BINS,
)


@dataclass(frozen=True)
class Phase:
    """Phase of a write: a stretch of about one speed.

    Attributes:
        from_bytes, to_bytes: cumulative bytes at its borders.
        bytes_per_s: its bytes over its time; the time of a bin that a border divides is dealt out, see `_elapsed`.
        from_low, from_high: 90 % interval of its start; both `from_bytes` for the first phase.
        spread: half the range of the middle 68 % of the speeds of its bytes, over their median.
        drift: relative change of speed from its start to its end, by a straight line through the log speed.
        usual_bytes_per_s: the speed that half of its bytes were slower than; a slow start weighs on the mean.
    """

    from_bytes: float
    to_bytes: float
    bytes_per_s: float
    from_low: float
    from_high: float
    spread: float
    drift: float
    usual_bytes_per_s: float = field(default=0.0, kw_only=True)
    pause_s: float = field(default=0.0, kw_only=True)


def find_phases(curve: Curve, borders: Sequence[float] | None = None, *, buffer_bytes: float = math.inf) -> list[Phase]:
    """The phases of a curve, in order; they tile it exactly. At least one, at most `MAX_PHASES`.

    A boundary needs a change of speed of 12 % or more that exceeds the noise and the ripple, and a phase lasts 0.5 % of
    the curve or more, unless it is the first. After `MAX_PHASES` - 1 phases the rest is one phase. Pauses that come
    again and again are averaged with the work between them.

    Args:
        buffer_bytes: what memory before the cells takes in at most, and so is no phase.
    """
    averaged = average_pauses(curve)
    curve = averaged.curve
    start, end = float(curve.edges_bytes[0]), float(curve.edges_bytes[-1])
    inner = _without_straddling(curve, rough_boundaries(curve, buffer_bytes)) if borders is None else borders
    rough = [start, *inner, end]
    boundaries = [PhaseBoundary(start, start, start)]
    for number in range(1, len(rough) - 1):
        located = locate(curve, rough[number], boundaries[-1].bytes, rough[number + 1], seed=number)
        boundary = averaged.widened(_at_silence(curve, rough[number]) or located)
        if boundaries[-1].bytes < boundary.bytes < end:
            boundaries.append(boundary)
    ends = [boundary.bytes for boundary in boundaries[1:]] + [end]
    elapsed = _elapsed(curve, [start, *ends])
    phases: list[Phase] = []
    for boundary, to_bytes in zip(boundaries, ends, strict=True):
        phase = _phase(curve, boundary, to_bytes, elapsed)
        if phases and borders is None and _same_typical_speed(phase, phases[-1]):
            joined = phases.pop()
            phase = _phase(
                curve, PhaseBoundary(joined.from_bytes, joined.from_low, joined.from_high), to_bytes, elapsed
            )
        phases.append(phase)
    if averaged.begin_bytes is None:
        return phases
    first = averaged.begin_bytes - averaged.error_bytes
    return [phase if phase.from_bytes < first else replace(phase, pause_s=averaged.pause_s) for phase in phases]


def _at_silence(curve: Curve, rough: float) -> PhaseBoundary | None:
    """The boundary where the host was silent, which is exact; None where it was not."""
    row = int(np.argmin(np.abs(curve.edges_bytes[:-1] - rough)))
    edge = float(curve.edges_bytes[row])
    return PhaseBoundary(edge, edge, edge) if curve.silent_s[row] and math.isclose(edge, rough) else None


def _same_typical_speed(phase: Phase, other: Phase) -> bool:
    return abs(math.log(phase.usual_bytes_per_s / other.usual_bytes_per_s)) < MERGE_LOG_SPEED


def _without_straddling(curve: Curve, rough: list[float]) -> list[float]:
    """One border for two that enclose hardly more than the bin which lies across it: that is of a speed in between."""
    boundaries: list[float] = []
    ends = [*rough, float(curve.edges_bytes[-1])]
    for i, boundary in enumerate(rough):
        before = boundaries[-1] if boundaries else float(curve.edges_bytes[0])
        bins = np.searchsorted(curve.edges_bytes, [before, boundary])
        if boundaries and bins[1] - bins[0] <= MAX_STRADDLED_BINS:
            earlier = boundaries[-2] if len(boundaries) > 1 else float(curve.edges_bytes[0])
            times_s = curve.seconds_at(np.array([earlier, before, boundary, ends[i + 1]]))
            speeds = np.diff([earlier, before, boundary, ends[i + 1]]) / np.diff(times_s)
            between = curve.bytes_per_s[bins[0] - 1 : bins[1]]
            own = np.abs(np.log(between[:, None] / speeds[::2])).min(axis=1) > MIN_OWN_LOG_SPEED
            if own.sum() <= 1 and min(speeds[0], speeds[2]) < speeds[1] < max(speeds[0], speeds[2]):
                boundaries[-1] = 0.5 * (before + boundary)
                continue
        boundaries.append(boundary)
    return boundaries


def _phase(curve: Curve, start: PhaseBoundary, to: float, elapsed: Mapping[float, float]) -> Phase:
    mean = (to - start.bytes) / (elapsed[to] - elapsed[start.bytes])
    spread, usual, drift = _shape(curve, start.bytes, to)
    return Phase(
        from_bytes=start.bytes,
        to_bytes=to,
        bytes_per_s=mean,
        from_low=start.low,
        from_high=start.high,
        spread=spread,
        drift=drift,
        usual_bytes_per_s=usual or mean,
    )


def _elapsed(curve: Curve, places: Sequence[float]) -> dict[float, float]:
    """Time until each border, and until the ends of the curve. A bin that a border divides has a speed in between: its
    time is dealt to both sides so that each goes on at the speed of its own whole bins."""
    at = curve.seconds_at(np.asarray(places))
    for place in range(1, len(places) - 1):
        before, here, after = (int(np.searchsorted(curve.edges_bytes, edge)) for edge in places[place - 1 : place + 2])
        divided = here - 1
        left, right = _speed(curve, before, divided), _speed(curve, here, after - (after < curve.seconds.size))
        share = (places[place] - curve.edges_bytes[divided]) / curve.widths[divided]
        if left and right and 0.0 < share < 1.0:
            part = share / left / (share / left + (1.0 - share) / right)
            at[place] = float(curve.seconds[:divided].sum() + part * curve.seconds[divided])
    return dict(zip(places, at.tolist(), strict=True))


def _speed(curve: Curve, first: int, last: int) -> float:
    """Mean speed of some bins; 0 of none."""
    return float(curve.widths[first:last].sum() / curve.seconds[first:last].sum()) if last > first else 0.0


def _shape(curve: Curve, start: float, to: float) -> tuple[float, float, float]:
    """Spread, median and drift over the bins wholly inside the phase; zeros when fewer than 4 are."""
    inside = slice(
        int(np.searchsorted(curve.edges_bytes, start, side="left")),
        int(np.searchsorted(curve.edges_bytes, to, side="right")) - 1,
    )
    speed, widths = curve.bytes_per_s[inside], curve.widths[inside]
    if speed.size < MIN_SHAPE_BINS:
        return 0.0, 0.0, 0.0
    order = np.argsort(speed)
    share = (np.cumsum(widths[order]) - 0.5 * widths[order]) / widths.sum()
    low, middle, high = np.interp((0.16, 0.5, 0.84), share, speed[order])
    centres = ((curve.edges_bytes[:-1] + curve.edges_bytes[1:]) / 2.0)[inside]
    # The medians of the first and the last third lie two thirds of the phase apart (Tukey's resistant line).
    third = max(1, speed.size // 3)
    rise = float(np.median(np.log(speed[-third:])) - np.median(np.log(speed[:third])))
    run = float(np.median(centres[-third:]) - np.median(centres[:third]))
    change = float(np.clip(rise * (to - start) / run, -MAX_LOG_DRIFT, MAX_LOG_DRIFT))
    return float((high - low) / (2.0 * middle)), float(middle), float(np.expm1(change))
