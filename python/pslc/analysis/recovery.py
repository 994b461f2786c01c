"""Cache recovery in idle time: threshold and rate, with intervals, from pauses of different length.

    given back |            ________________   all that comes back
               |           /
               |          /  rate
               |_________/
               +---------|------------------- pause
                     threshold

A cache comes back in whole superblocks, so what is seen is a staircase below the line.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from pslc.analysis.thresholds import (
    MAX_BUFFER_RECOVERED_SHARE,
    MIN_PAUSE_RATIO,
    MIN_RECOVERED_SHARE,
    MIN_RISE_SHARE,
    MIN_SHELF_RATIO,
    NEARLY_ALL_SHARE,
    PAUSE_CLOCK_ERROR_S,
)

Floats = NDArray[np.float64]

CONFIDENCE = 0.90
STUDENT = (
    6.314,
    2.920,
    2.353,
    2.132,
    2.015,
    1.943,
    1.895,
    1.860,
    1.833,
    1.812,
    1.796,
    1.782,
    1.771,
    1.761,
    1.753,
    1.746,
)
"""Student's t of that confidence, two-sided, by degrees of freedom from 1 on; the last for more."""


@dataclass(frozen=True)
class Pause:
    """A pause and the bytes that could be written fast after it; `cut`: fast to the end, so it may be more."""

    idle_s: float
    fast_bytes: float
    cut: bool = False


@dataclass(frozen=True)
class Interval:
    """A value and its 90 % interval; `high` is infinite where the pauses only tell a least value."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class RecoveryEstimate:
    """Recovery of a cache in idle time, estimated from pauses.

    Attributes:
        base_bytes: bytes that are fast without any pause.
        max_recovered_bytes: largest recovery seen, in bytes.
        noise_bytes: recovery below this counts as none.
        step_bytes: size of the steps of recovery, as far as the scatter shows it.
        longest_without_s: longest pause without recovery.
        shortest_with_s: shortest pause with recovery; None if no pause recovered anything.
        threshold_s: idle time before recovery starts; None if nothing recovered.
        rate_bytes_per_s: recovery rate beyond the threshold; None if it is too fast to be resolved between two pauses.
        min_rate_bytes_per_s: lower bound of the rate; None where the rate is known.
    """

    base_bytes: float
    max_recovered_bytes: float
    noise_bytes: float
    step_bytes: float
    longest_without_s: float
    shortest_with_s: float | None
    threshold_s: Interval | None
    rate_bytes_per_s: Interval | None
    min_rate_bytes_per_s: float | None


def estimate_recovery(pauses: Sequence[Pause], resolution_bytes: float, noise_bytes: float = 0.0) -> RecoveryEstimate:
    """Threshold and rate from pauses.

    Args:
        pauses: the shortest of them shorter than any threshold; their order does not matter.
        resolution_bytes: to which a count of fast bytes is known.
        noise_bytes: what is as good as nothing.

    A straight line through the pauses on the slope gives the rate. Its residuals, which are the steps of whole
    superblocks, give Student's interval of it, and where it meets the base the threshold. The threshold also lies
    between the longest pause that gave nothing and the shortest that gave more than what comes back scatters by.
    """
    shortest = min(pause.idle_s for pause in pauses)
    bases = _bases(pauses, shortest)
    base = float(np.median(bases))
    # One after which more was fast than after longer ones, by a superblock begun before, is no measure of them.
    end = _end_of_slope(pauses)
    top = float(np.median([pause.fast_bytes for pause in pauses if pause.idle_s >= end]))
    noise = max(
        noise_bytes,
        MIN_RECOVERED_SHARE * (top - base),
        2 * resolution_bytes,
        4 * float(np.median(np.abs(np.array(bases) - base))),
    )
    begin = _end_of_buffer(pauses, base + noise, base + MAX_BUFFER_RECOVERED_SHARE * (top - base), 2 * resolution_bytes)
    if begin is not None:
        later = [pause for pause in pauses if pause.idle_s >= begin]
        return replace(
            estimate_recovery(later, resolution_bytes, noise_bytes), base_bytes=base, max_recovered_bytes=top - base
        )
    estimate = RecoveryEstimate(base, top - base, noise, resolution_bytes, shortest, None, None, None, None)
    # What is known of the threshold tells which pauses gave nothing, and they tell the base.
    for _ in range(3):
        lost, gained = _split(pauses, base + noise)
        if gained is None:
            return replace(estimate, longest_without_s=lost)
        estimate = replace(
            estimate, base_bytes=base, max_recovered_bytes=top - base, longest_without_s=lost, shortest_with_s=gained
        )
        estimate = _fitted(estimate, pauses, resolution_bytes)
        assert estimate.threshold_s is not None
        before = estimate.threshold_s.low if estimate.rate_bytes_per_s else lost
        base = float(np.median([pause.fast_bytes for pause in pauses if pause.idle_s <= max(before, shortest)]))
    return estimate


def _bases(pauses: Sequence[Pause], shortest: float) -> list[float]:
    """Fast bytes after the shortest pauses; of those that reached their end where some did."""
    at_once = [pause for pause in pauses if pause.idle_s == shortest]
    return [pause.fast_bytes for pause in at_once if not pause.cut] or [pause.fast_bytes for pause in at_once]


def _end_of_buffer(pauses: Sequence[Pause], above: float, below: float, same: float) -> float | None:
    """The pause from which on what had come back so soon stays the same, to `same` bytes, for a multiple of its length:
    that was the write buffer, which empties first. None where there is none between two levels."""
    levels = {pause.idle_s: pause.fast_bytes for pause in pauses if not pause.cut}
    shelves = [
        first
        for first, last in pairwise(sorted(levels))
        if last >= MIN_SHELF_RATIO * first
        and above < levels[first] < below
        and abs(levels[last] - levels[first]) <= same
    ]
    return max(shelves, default=None)


def _split(pauses: Sequence[Pause], level: float) -> tuple[float, float | None]:
    """The pause up to which less than `level` was fast, and the one from which on more was, None if never: where the
    fewest contradict it."""
    by_length = sorted(pauses, key=lambda pause: pause.idle_s)
    more = np.array([pause.fast_bytes > level for pause in by_length])
    wrong = np.r_[0, np.cumsum(more)] + np.r_[np.cumsum(~more[::-1])[::-1], 0]
    index = max(int(np.argmin(wrong)), 1)
    return by_length[index - 1].idle_s, by_length[index].idle_s if index < len(by_length) else None


def _fitted(estimate: RecoveryEstimate, pauses: Sequence[Pause], grain: float) -> RecoveryEstimate:
    noise, without_s, with_s, base = (
        estimate.noise_bytes,
        estimate.longest_without_s,
        estimate.shortest_with_s,
        estimate.base_bytes,
    )
    assert with_s is not None
    nearly_all = base + NEARLY_ALL_SHARE * estimate.max_recovered_bytes
    last, whole = _split(pauses, nearly_all)
    last = min(last, _end_of_slope(pauses))
    slope = [p for p in pauses if with_s <= p.idle_s <= last and not p.cut]
    seconds = np.array([pause.idle_s for pause in slope])
    recovered_bytes = np.array([pause.fast_bytes for pause in slope]) - base
    rises = len(slope) > 2 and float((seconds - seconds.mean()) @ recovered_bytes) > 0
    if not rises or np.ptp(recovered_bytes) < MIN_RISE_SHARE * estimate.max_recovered_bytes:
        rate = (NEARLY_ALL_SHARE * estimate.max_recovered_bytes - noise) / (max(whole or last, with_s) - without_s)
        low = max(without_s - noise / rate, 0.0)
        # Where nothing tells it from none, most drives have next to none: nothing is left out at that end.
        wide, out = with_s - low, 1 - CONFIDENCE
        under = 0.5 * out if low else 0.0
        interval = Interval(low + 0.5 * wide, low + under * wide, with_s - (out - under) * wide)
        return replace(estimate, threshold_s=interval, min_rate_bytes_per_s=rate, rate_bytes_per_s=None)
    nothing = np.array([p.fast_bytes for p in pauses if p.idle_s <= without_s and p.fast_bytes - base < noise]) - base
    return _line(estimate, seconds, recovered_bytes, nothing, grain)


def _end_of_slope(pauses: Sequence[Pause]) -> float:
    """The pause from which on no more comes back: of all lines from nothing to all between two pauses, level before and
    after, the one nearest to what was seen. Where what comes back scatters, a little more of it after a much longer
    pause is no slope. Pauses that were all cut count as far as they went."""
    measured = [pause for pause in pauses if not pause.cut] or list(pauses)
    seconds = np.array([pause.idle_s for pause in measured])
    fast = np.array([pause.fast_bytes for pause in measured])
    nearest, end = np.inf, float(seconds.max())
    for since, until in combinations(np.unique(seconds), 2):
        share = np.clip((seconds - since) / (until - since), 0.0, 1.0)
        shape, recovered_bytes = share - share.mean(), fast - fast.mean()
        residuals = recovered_bytes - shape * max(float(shape @ recovered_bytes) / float(shape @ shape), 0.0)
        if residuals @ residuals < nearest:
            nearest, end = float(residuals @ residuals), float(until)
    return end


def _line(
    estimate: RecoveryEstimate, seconds: Floats, recovered_bytes: Floats, unrecovered_bytes: Floats, resolution: float
) -> RecoveryEstimate:
    """Rate and threshold by least squares."""
    count, middle = len(seconds), float(seconds.mean())
    spread = float(((seconds - middle) ** 2).sum())
    rate = float(((seconds - middle) * recovered_bytes).sum() / spread)
    residuals = recovered_bytes - recovered_bytes.mean() - rate * (seconds - middle)
    freedom = count - 2
    scatter = float(np.sqrt((residuals**2).sum() / freedom))
    scatter = float(np.hypot(scatter, resolution / np.sqrt(12)))
    step = scatter * np.sqrt(12)
    student = STUDENT[min(freedom, len(STUDENT)) - 1]
    # Where on its step the staircase is at either end is not known: half a step above or below the line.
    unknown = step / 2
    off = float(np.hypot(student * scatter / np.sqrt(spread), rate * unknown / np.ptp(recovered_bytes)))
    without_s = estimate.longest_without_s
    # The shortest that gave more than what comes back scatters by: less may have been there before it.
    with_s = float(np.min(seconds[recovered_bytes > student * scatter], initial=np.inf))
    start = middle - float(recovered_bytes.mean()) / rate
    # The staircase is below the line by up to a step, and what was on its way into the cache above it.
    variance = (
        scatter**2 * (1 / count + 1 / max(len(unrecovered_bytes), 1) + (middle - start) ** 2 / spread) + step**2 / 12
    )
    error = float(np.hypot(student * np.sqrt(variance) / rate, PAUSE_CLOCK_ERROR_S))
    earliest, latest = max(without_s - (estimate.noise_bytes + step) / rate, 0.0), with_s
    low, high = max(start - error, earliest), min(start + error, latest)
    if low > high:
        low, high = earliest, latest
    # Where nothing tells it from none, only the upper end is measured: no pause is as likely as the longest.
    start = min(max(start, low), high) if low else 0.5 * high
    return replace(
        estimate,
        step_bytes=step,
        threshold_s=Interval(start, low, high),
        rate_bytes_per_s=Interval(rate, max(rate - off, 0.0), rate + off),
        min_rate_bytes_per_s=None,
    )


def next_pause(pauses: Sequence[Pause]) -> float | None:
    """Length in seconds of the next pause to measure, inside the largest step of recovery; None if no step is left.

    The first ones halve the range on a scale of ratios until one is on the slope, later ones spread along it.
    """
    by_length = sorted(pauses, key=lambda pause: pause.idle_s)
    # More came back after a longer pause, but for the scatter.
    recovered_bytes = np.maximum.accumulate([pause.fast_bytes for pause in by_length])
    seconds = [pause.idle_s for pause in by_length]
    apart = [after > MIN_PAUSE_RATIO * before for before, after in pairwise(seconds)]
    steps = np.where(apart, np.diff(recovered_bytes), 0.0)
    if not steps.any():
        return None
    index = int(np.argmax(steps))
    before, after = seconds[index], seconds[index + 1]
    return float(np.sqrt(before * after)) if after > 2 * before else 0.5 * (before + after)
