"""Contents of a chart as plain data; `pslc.charts.draw` draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pslc.charts.style import Axis

Floats = NDArray[np.float64]

MAX_CURVES: Final = 12
"""Curves of a chart, and drives of a comparison: with more, neither colours nor labels can be told apart."""
SMOOTH_WINDOWS: Final = 240
"""Windows over which a dense curve is smoothed: about one for each 5 pixels of a chart 1600 pixels wide."""
MIN_BINS_PER_WINDOW: Final = 3
"""Bins of a window that make a mean and a band; a curve with fewer is drawn bin by bin."""
NEIGHBOURS: Final = 3
"""Windows on either side that a mean takes in: a period of folding close to a window's width would beat with it."""
BAND_PERCENTILES: Final = (10.0, 90.0)
"""Ends of the band around the mean of a window."""
MIN_BAND_WINDOWS: Final = 8
"""Windows with a wide band below which none is drawn: a cliff alone makes one or two."""
MIN_BAND_RATIO: Final = 0.01
"""Width of a band, relative to the chart's highest value, below which it is no wider than the line."""


@dataclass(frozen=True)
class Stage:
    """A phase of a curve: where it begins and ends on the x axis, its speed in MB/s, its cause (`fold`)."""

    start: float
    end: float
    mb_per_s: float
    cause: str


@dataclass(frozen=True)
class Curve:
    """One line of a chart.

    Attributes:
        x: positions on the x axis (GB, % of the drive, minutes), ascending, shape (n,).
        y: MB/s, shape (n,); not a number where nothing was asked, which leaves a gap.
        low, high: the band around `y`, shape (n,); None where the curve has none.
        cache_end: where the write cache ended, on the x axis; None where it did not.
        cache_text: the size of the cache (`690 GB`).
    """

    name: str
    x: Floats
    y: Floats
    low: Floats | None = None
    high: Floats | None = None
    cache_end: float | None = None
    cache_text: str = ""
    stages: tuple[Stage, ...] = ()

    def wide_band(self, highest: float) -> tuple[Floats, Floats] | None:
        """The edges of the band; None where it is too narrow to be seen in a chart up to `highest`."""
        if self.low is None or self.high is None:
            return None
        wide = self.high - self.low > MIN_BAND_RATIO * highest
        return (self.low, self.high) if np.count_nonzero(wide) >= MIN_BAND_WINDOWS else None


@dataclass(frozen=True)
class CurveChart:
    """Curves over one axis.

    Attributes:
        title: the drive and its capacity, or what is compared.
        conditions: tool, version, suite, temperature, date: one line.
        axis: what the x axis shows.
    """

    title: str
    conditions: str
    axis: Axis
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Bar:
    """A value with the ends of its interval, in the unit of its chart."""

    name: str
    value: float
    low: float
    high: float
    series: str = ""


@dataclass(frozen=True)
class BarChart:
    """Horizontal bars, the first at the top; bars of one name and several `series` (`read`, `write`) stand together.

    Attributes:
        unit: as written on the axis (`MB/s`, `s`).
        repeats: runs behind each bar, for the note on the spread; 1: the interval is of one run.
    """

    title: str
    conditions: str
    label: str
    unit: str
    bars: tuple[Bar, ...]
    repeats: int = 1


Chart = CurveChart | BarChart


class Mean(Enum):
    """Quantity over which a speed is averaged."""

    OVER_BYTES = auto()
    OVER_TIME = auto()


def smoothed(
    x: Floats, y: Floats, weights: Floats, borders: Sequence[float] = (), mean: Mean = Mean.OVER_BYTES
) -> tuple[Floats, Floats, Floats | None, Floats | None]:
    """A dense curve as means and a band of `BAND_PERCENTILES`; a sparse one as it is, without a band.

    Folding makes the speed of neighbouring bins alternate, which as a line is a solid block. A cliff stays one: no
    window reaches over a border.

    Args:
        x: ends of the bins, ascending, shape (n,).
        y: shape (n,); bins that are not a number are left out of their window.
        weights: share of each bin, such as its bytes, shape (n,).
        borders: positions on the x axis between phases.
        mean: what is averaged over, so that the line is bytes over time in each window. A median would show the
            faster half of a drive that stalls between writes.

    Returns:
        x, y, low, high, shapes (m,) with m <= n.
    """
    if len(x) < SMOOTH_WINDOWS * MIN_BINS_PER_WINDOW:
        return x, y, None, None
    begins = np.concatenate([[0.0], np.cumsum(weights)[:-1]]) / float(np.sum(weights))
    window = np.minimum((begins * SMOOTH_WINDOWS).astype(np.int64), SMOOTH_WINDOWS - 1)
    phase = np.searchsorted(np.sort(np.asarray(borders, dtype=np.float64)), x, side="left")
    first = np.flatnonzero(np.diff(window, prepend=-1) | np.diff(phase, prepend=-1))
    last = np.append(first[1:], len(x)) - 1
    of_phase = phase[first]
    rows = []
    for number in range(len(first)):
        begin, end = max(number - NEIGHBOURS, 0), min(number + NEIGHBOURS, len(first) - 1)
        near = [other for other in range(begin, end + 1) if of_phase[other] == of_phase[number]]
        own, near_bins = y[first[number] : last[number] + 1], slice(first[near[0]], last[near[-1]] + 1)
        finite = np.isfinite(y[near_bins])
        around = y[near_bins][finite]
        if np.isfinite(own).any():
            low, high = np.percentile(around, BAND_PERCENTILES)
            rows.append((_mean(around, weights[near_bins][finite], mean), float(low), float(high)))
        else:
            rows.append((np.nan, np.nan, np.nan))
    line, low_ends, high_ends = np.array(rows).T
    # The ends of each phase are drawn where they are, so that a cliff falls straight down.
    middle = (x[first] + x[last]) / 2
    opens, closes = np.diff(of_phase, prepend=-1) != 0, np.diff(of_phase, append=of_phase[-1] + 1) != 0
    middle = np.where(opens, x[first], np.where(closes, x[last], middle))
    return middle, line, low_ends, high_ends


def _mean(y: Floats, weights: Floats, mean: Mean) -> float:
    """Bytes over time of bins whose weights are bytes, or times."""
    if mean is Mean.OVER_TIME:
        return float(np.sum(y * weights) / np.sum(weights))
    moved = (y > 0) & (weights > 0)
    return float(np.sum(weights[moved]) / np.sum(weights[moved] / y[moved])) if moved.any() else 0.0
