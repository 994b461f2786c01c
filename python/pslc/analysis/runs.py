"""Runs of a write: stretches of rows at about one speed, by exact robust segmentation.

The log speeds of the rows are cut where that makes the sum of a bounded squared error and a cost for each change least
(a Potts model), by dynamic programming over a grid of levels: no start values, no pruning.
"""

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pslc.analysis.series import Curve, Floats, median

MAX_ROWS: Final = 2500
"""Rows beyond which neighbours are joined; finer ones change no answer (a prototype tried 600 to 2500)."""
MAX_LEVELS: Final = 400
GRID_SD: Final = 0.7
"""Distance of two levels of the grid, in standard deviations of a row."""
MIN_NOISE: Final = 0.004
"""Noise of log speed: no logger is steadier than three digits make it."""
MIN_JOINED_ROWS, MIN_PULSE_NOISE, MAX_PULSE_LEFT = 64, 0.1, 0.3
"""Rows from which four may be joined to one; noise from which a pulse is looked for; share of it that joined rows keep
at the most where there is one: chance keeps half."""
UNKNOWN_NOISE, EQUAL, MIN_DIFFERING_SHARE = 0.05, 1e-7, 0.25
"""Noise of a log of a few rows; difference of log speeds that is none; share of rows that differ where there is
noise."""
MIN_BEHIND_ROWS: Final = 2
"""Slower rows behind a row that stands alone: two fast rows are a level."""
MAX_EVEN_NOISE: Final = 0.06
"""Noise above which the quietest part of a log tells more of it: a fold that stalls is no noise of the cache."""
MAX_RUNS: Final = 40
"""Runs beyond which a change has to be larger to count."""
MAX_SLOW_ROW_COST, FIRST_ROW_COST = 6.0, 20.0
"""Largest cost of a single slow row, and of a row among the first two, where a cache of one row may be."""


@dataclass(frozen=True)
class Run:
    """A stretch of rows at about one speed.

    Attributes:
        first, last: its rows, the last one excluded.
        level: log of its speed.
        error: standard error of the level.
        bytes, seconds: written in it, and time that took.
        from_bytes: written before it.
        silent_s: time before it in which nothing was written.
        scatter: standard deviation of the log speeds of its rows.
    """

    first: int
    last: int
    level: float
    error: float
    bytes: float
    seconds: float
    from_bytes: float
    silent_s: float
    scatter: float

    @property
    def to_bytes(self) -> float:
        """Written until its end."""
        return self.from_bytes + self.bytes


@dataclass(frozen=True)
class Segmentation:
    """The runs of a curve, in order.

    Attributes:
        curve: the one that was segmented, of `MAX_ROWS` rows at the most.
        noise: standard deviation of a row's log speed.
        correlation: what noise that lasts for several rows adds to the variance of a mean, as a factor.
    """

    curve: Curve
    runs: tuple[Run, ...]
    noise: float
    correlation: float


def segment(curve: Curve) -> Segmentation:
    """Cut a curve into runs."""
    curve = _without_catch_up(_without_pulse(joined(curve, MAX_ROWS)))
    level = np.log(curve.bytes_per_s)
    noise = _noise(level)
    labels = _labels(level, curve.silent_s, noise, 1.0, 1.0)
    correlation = _correlation(level, labels)
    strictness = 1.0
    labels = _labels(level, curve.silent_s, noise, correlation, strictness)
    for _ in range(5):
        if np.count_nonzero(np.diff(labels)) < MAX_RUNS:
            break
        strictness *= 1.4
        labels = _labels(level, curve.silent_s, noise, correlation, strictness)
    starts = _starts(level, labels, curve.silent_s)[:MAX_RUNS]
    runs = _runs(curve, level, starts, noise, correlation)
    return Segmentation(curve, tuple(runs), noise, correlation)


def joined(curve: Curve, count: int) -> Curve:
    """The curve in `count` bins at the most, none of which holds a silence."""
    size = curve.seconds.size
    if size <= count:
        return curve
    firsts = np.union1d(np.arange(0, size, -(-size // count)), np.flatnonzero(curve.silent_s))
    return _from_rows(curve, firsts)


def _from_rows(curve: Curve, firsts: NDArray[np.intp]) -> Curve:
    """The curve in bins that begin with these rows."""
    edges = np.append(curve.edges_bytes[firsts], curve.edges_bytes[-1])
    return Curve(edges, np.add.reduceat(curve.seconds, firsts), np.add.reduceat(curve.silent_s, firsts))


def _without_catch_up(curve: Curve) -> Curve:
    """The curve with a fast row at its start joined to the slower ones before it, if together they are no faster than
    the rows behind: what was held back is handed over, and no cell took in more than those behind."""
    speeds = curve.bytes_per_s
    fast = int(np.argmax(speeds > median(speeds)))
    behind = speeds[fast + 1 :]
    if behind.size < MIN_BEHIND_ROWS or curve.silent_s[1 : fast + 1].any():
        return curve
    written, seconds = np.cumsum(curve.widths[fast::-1]), np.cumsum(curve.seconds[fast::-1])
    made_up = np.flatnonzero(written <= median(behind) * seconds)
    if not made_up.size or speeds[fast] <= float(behind[:MIN_BEHIND_ROWS].max()):
        return curve
    firsts = np.delete(np.arange(speeds.size), np.arange(fast - int(made_up[0]) + 1, fast + 1))
    return _from_rows(curve, firsts)


def _without_pulse(curve: Curve) -> Curve:
    """The curve in bins that hold whole pulses of a drive's pages: joined, they scatter by far less than chance
    does."""
    while curve.seconds.size >= 4 * MIN_JOINED_ROWS:
        coarse = joined(curve, curve.seconds.size // 4)
        noise, left = (_noise(np.log(each.bytes_per_s)) for each in (curve, coarse))
        if noise < MIN_PULSE_NOISE or left > MAX_PULSE_LEFT * noise:
            break
        curve = coarse
    return curve


def _noise(level: Floats) -> float:
    """Standard deviation of a row, by the differences of neighbours; of the quietest part where it is uneven."""
    steps = np.abs(np.diff(level)) / math.sqrt(2.0)
    if steps.size < 4:
        return UNKNOWN_NOISE
    # Rows of exactly one speed are averages, or told twice; where nearly all are, there is no noise.
    differing = steps[steps > EQUAL]
    if differing.size < MIN_DIFFERING_SHARE * steps.size:
        return MIN_NOISE
    steps = differing
    noise = 1.4826 * median(steps)
    part = max(12, steps.size // 12)
    if noise > MAX_EVEN_NOISE and steps.size >= 3 * part:
        parts = [median(steps[i : i + part]) for i in range(0, steps.size - part + 1, part)]
        quietest = 1.4826 * float(np.quantile(parts, 0.15))
        if quietest < 0.4 * noise:
            noise = 1.3 * quietest
    return max(noise, MIN_NOISE)


def _labels(level: Floats, silent_s: Floats, noise: float, correlation: float, strictness: float) -> NDArray[np.intp]:
    """The level of each row on the grid: the path of least cost."""
    step = max(GRID_SD * noise, float(np.ptp(level)) / MAX_LEVELS)
    grid = np.arange(float(level.min()), float(level.max()) + step, step)
    change = strictness * (7.0 + math.log(level.size))
    # A stall is cheap, since all drives have some; a fast row is worth half a change: it is no chance.
    off = (level[:, None] - grid) / max(noise, 0.7 * step)
    cost = off**2 / (2.0 * correlation)
    high = np.where(np.arange(level.size) < 2, FIRST_ROW_COST, 1.15 * change)[:, None]
    low = np.where(np.arange(level.size) < 2, FIRST_ROW_COST, MAX_SLOW_ROW_COST)[:, None]
    cost = np.where(off < 0, np.minimum(cost, low), np.minimum(cost, high))
    changes = np.where(silent_s > 0, 0.4 * change, change)
    stay = np.ones(cost.shape, dtype=bool)
    jump = np.zeros(level.size, dtype=np.intp)
    best = cost[0]
    for row in range(1, level.size):
        jump[row] = best.argmin()
        moved = best[jump[row]] + changes[row]
        stay[row] = best <= moved
        best = np.minimum(best, moved) + cost[row]
    labels = np.zeros(level.size, dtype=np.intp)
    labels[-1] = best.argmin()
    for row in range(level.size - 1, 0, -1):
        labels[row - 1] = labels[row] if stay[row, labels[row]] else jump[row]
    return labels


def _correlation(level: Floats, labels: NDArray[np.intp]) -> float:
    """Factor on the variance of a mean for noise that lasts for several rows; 1 to 2.5."""
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    residuals = np.concatenate([part - median(part) for part in np.split(level, starts[1:])])
    limit = 3.0 * max(1.4826 * median(np.abs(residuals)), MIN_NOISE)
    residuals = np.clip(residuals, -limit, limit)
    power = float(residuals @ residuals)
    if not power or residuals.size < 16:
        return 1.0
    lags = [float(residuals[lag:] @ residuals[:-lag]) / power for lag in range(1, 6)]
    return min(2.5, 1.0 + 2.0 * sum(max(lag, 0.0) for lag in lags))


def _starts(level: Floats, labels: NDArray[np.intp], silent_s: Floats) -> list[int]:
    """First rows of runs. A single row between two levels lies across their border and is no run."""
    starts = [int(row) for row in np.flatnonzero((np.diff(labels, prepend=-1) != 0) | (silent_s > 0))]
    ends = [*starts[1:], level.size]
    kept: list[int] = []
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if end - start == 1 and 0 < number < len(starts) - 1 and not silent_s[start]:
            before = float(np.median(level[starts[number - 1] : start]))
            after = median(level[end : ends[number + 1]])
            if min(before, after) < level[start] < max(before, after):
                continue
        kept.append(start)
    return kept


def _runs(curve: Curve, level: Floats, starts: list[int], noise: float, correlation: float) -> list[Run]:
    runs: list[Run] = []
    for start, end in zip(starts, [*starts[1:], level.size], strict=True):
        rows, weights = level[start:end], curve.seconds[start:end]
        middle = median(rows)
        spread = max(1.4826 * median(np.abs(rows - middle)), noise)
        near = np.abs(rows - middle) <= 3.0 * spread
        width, seconds = float(curve.widths[start:end].sum()), float(weights.sum())
        run = Run(
            first=start,
            last=end,
            level=float(np.average(rows[near], weights=weights[near])),
            error=spread * math.sqrt(correlation / max(1, end - start)),
            bytes=width,
            seconds=seconds,
            from_bytes=float(curve.edges_bytes[start] - curve.edges_bytes[0]),
            silent_s=float(curve.silent_s[start]),
            scatter=float(np.std(rows[near])) if near.sum() > 2 else noise,
        )
        runs.append(run)
    return [replace(run, silent_s=0.0) if run.first == 0 else run for run in runs]
