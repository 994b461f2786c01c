"""Lines with as few points as a screen can show: no level is moved, and what alternates becomes a band."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum, auto
from typing import Final

import numpy as np

from pslc.figures.picture import Floats, Line

WINDOWS: Final = 240
"""Windows over which a dense curve is smoothed: about one for each 5 pixels of a picture 1600 pixels wide."""
MIN_BINS_PER_WINDOW: Final = 3
"""Bins of a window that make a mean and a band; a curve with fewer is drawn bin by bin."""
NEIGHBOURS: Final = 3
"""Windows on either side that a mean takes in: a period of folding close to a window's width would beat with it."""
BAND_SHARES: Final = (0.1, 0.9)
"""Shares of the values of a window that lie below the ends of its band."""
BAND: Final = "line: mean; band: 10 to 90 %"
"""Note of a picture with a band."""
MIN_BAND_WINDOWS: Final = 8
"""Windows with a wide band below which none is drawn: a cliff alone makes one or two."""
MIN_BAND_RATIO: Final = 0.01
"""Width of a band, relative to the line's highest value, below which it is no wider than the line."""
MAX_SIDE_SPREAD_RATIO: Final = 0.5
"""Spread of the values on one side of a window, relative to that around it, below which only that side is averaged."""
MAX_POINTS: Final = 1200
"""Points of a line that is not smoothed."""


class Mean(Enum):
    """Quantity over which a speed is averaged; or no mean, but the highest value."""

    OVER_BYTES = auto()
    OVER_TIME = auto()
    MAXIMUM = auto()


def smoothed(
    line: Line,
    weights: Floats,
    borders: Sequence[float] = (),
    mean: Mean = Mean.OVER_BYTES,
    neighbours: int = NEIGHBOURS,
) -> Line:
    """A dense line as means with a band of `BAND_SHARES`; a sparse one as it is, without a band.

    Folding makes the speed of neighbouring bins alternate, which as a line is a solid block. A cliff stays one: no
    window reaches over a border, and beside a cliff that is none only to the side on which the values are alike
    (Kuwahara's filter).

    Args:
        line: x are the ends of the bins, ascending; bins that are not a number are left out of their window.
        weights: share of each bin, such as its bytes, shape (n,).
        borders: known positions on the x axis between levels.
        neighbours: windows on either side that a mean takes in.
        mean: what is averaged over, so that the line is bytes over time in each window. A median would show the
            faster half of a drive that stalls between writes.
    """
    x, y = line.points
    if len(x) < WINDOWS * MIN_BINS_PER_WINDOW:
        return line
    begins = np.concatenate([[0.0], np.cumsum(weights)[:-1]]) / float(np.sum(weights))
    window = np.minimum((begins * WINDOWS).astype(np.int64), WINDOWS - 1)
    level = np.searchsorted(np.sort(np.asarray(borders, dtype=np.float64)), x, side="left")
    # What is on the other side of a gap is another level too.
    level += np.cumsum(np.diff(np.isfinite(y), prepend=np.isfinite(y[0])))
    first = np.flatnonzero(np.diff(window, prepend=-1) | np.diff(level, prepend=-1))
    last = np.append(first[1:], len(x)) - 1
    of_level = level[first]
    spread = _spreads(y)
    rows = []
    for number in range(len(first)):
        near = [other for other in range(max(number - neighbours, 0), min(number + neighbours + 1, len(first)))
                if of_level[other] == of_level[number]]  # fmt: skip
        start, end = int(first[near[0]]), int(last[near[-1]]) + 1
        # Beside a cliff only the side on which the values are alike is averaged.
        before, after = spread(start, int(last[number]) + 1), spread(int(first[number]), end)
        if min(before, after) < MAX_SIDE_SPREAD_RATIO * spread(start, end):
            start, end = (start, int(last[number]) + 1) if before < after else (int(first[number]), end)
        ordered = np.sort(y[start:end])
        low, high = (ordered[round(share * (end - start - 1))] for share in BAND_SHARES)
        rows.append((_mean(y[start:end], weights[start:end], mean), low, high))
    means, low_ends, high_ends = np.array(rows).T
    # The ends of each level are drawn where they are, so that a cliff falls straight down.
    middle = (x[first] + x[last]) / 2
    opens, closes = np.diff(of_level, prepend=-1) != 0, np.diff(of_level, append=of_level[-1] + 1) != 0
    middle = np.where(opens, x[first], np.where(closes, x[last], middle))
    wide = high_ends - low_ends > MIN_BAND_RATIO * np.nanmax(high_ends, initial=0.0)
    if np.count_nonzero(wide) < MIN_BAND_WINDOWS or mean is Mean.MAXIMUM:
        return replace(line, x=middle, y=means)
    return replace(line, x=middle, y=means, low=low_ends, high=high_ends)


def _spreads(y: Floats) -> Callable[[int, int], float]:
    """The standard deviation of the values from one place to another, in constant time."""
    centred = np.nan_to_num(y - np.nanmean(y)) if np.isfinite(y).any() else np.zeros_like(y)
    sums, squares = (np.concatenate([[0.0], np.cumsum(values)]) for values in (centred, centred**2))

    def spread(start: int, end: int) -> float:
        mean, square = (float(total[end] - total[start]) / (end - start) for total in (sums, squares))
        return math.sqrt(max(square - mean**2, 0.0))

    return spread


def _mean(y: Floats, weights: Floats, mean: Mean) -> float:
    """Bytes over time of bins whose weights are bytes, or times; or the highest value."""
    if mean is Mean.MAXIMUM:
        return float(y.max())
    if mean is Mean.OVER_TIME:
        return float(np.sum(y * weights) / np.sum(weights))
    moved = (y > 0) & (weights > 0)
    if np.isnan(y[0]):
        return float("nan")
    return float(np.sum(weights[moved]) / np.sum(weights[moved] / y[moved])) if moved.any() else 0.0


def thinned(line: Line, max_points: int = MAX_POINTS) -> Line:
    """A line of at most about `max_points` points, all of them its own: of each window the first, the least, the most
    and the last, so that peaks and gaps stay.

    M4 (Jugel et al., "M4: a visualization-oriented time series data aggregation", 2014).
    """
    x, y = line.points
    if len(x) <= max_points or line.low is not None:
        return line
    kept: set[int] = set()
    for window in np.array_split(np.arange(len(x)), max(max_points // 4, 1)):
        finite = window[np.isfinite(y[window])]
        gaps = window[~np.isfinite(y[window])][:1]
        ends = finite[[0, -1]] if finite.size else finite
        extremes = finite[[int(y[finite].argmin()), int(y[finite].argmax())]] if finite.size else finite
        kept.update(np.concatenate([ends, extremes, gaps]).tolist())
    order = np.array(sorted(kept))
    return replace(line, x=x[order], y=y[order])
