"""Change points of a signal's mean: the boundaries with the least squared error plus a penalty for each boundary.

Optimal partitioning (Jackson et al. 2005), which PELT (Killick et al. 2012) prunes: exact, and in vectors over all
possible last boundaries fast enough, 16 ms for the 2048 cells of a curve.
"""

import math

import numpy as np

from pslc.analysis.series import Floats
from pslc.analysis.thresholds import MIN_SEGMENT_SAMPLES


def neighbor_noise(signal: Floats) -> float:
    """Standard deviation of a signal's noise: neighbours differ by the noise alone, nearly always.

    Args:
        signal: shape (n,), two samples or more.
    """
    return 1.4826 * float(np.median(np.abs(np.diff(signal)))) / math.sqrt(2)


def change_points(signal: Floats, penalty: float) -> list[int]:
    """Indices at which a new segment begins, ascending and strictly inside the signal.

    Args:
        signal: shape (n,).
        penalty: what a boundary must save in squared error, in the signal's units squared.
    """
    count = signal.size
    if count < 2 * MIN_SEGMENT_SAMPLES:
        return []
    # Squared error of signal[s:t] about its own mean, from running sums; the mean of all taken off keeps them small.
    centred = signal - signal.mean()
    sums = np.concatenate(([0.0], np.cumsum(centred)))
    squares = np.concatenate(([0.0], np.cumsum(centred**2)))
    best = np.full(count + 1, np.inf)
    best[0] = -penalty
    last = np.zeros(count + 1, dtype=np.intp)
    numbers = np.arange(count + 1, dtype=np.float64)
    for end in range(MIN_SEGMENT_SAMPLES, count + 1):
        starts = slice(0, end - MIN_SEGMENT_SAMPLES + 1)
        lengths = end - numbers[starts]
        cost = squares[end] - squares[starts] - (sums[end] - sums[starts]) ** 2 / lengths
        cost += best[starts]
        start = int(np.argmin(cost))
        best[end], last[end] = cost[start] + penalty, start
    boundaries = []
    start = int(last[count])
    while start > 0:
        boundaries.append(start)
        start = int(last[start])
    return boundaries[::-1]
