"""Loggers between a drive and its log: a mean over past seconds, as task managers show it.

    drive  ------+            log  ___,-----.
                 |                /         `.
                 +------         /            `-.____   each row is a share of the row before, and the rest is new

An exponential mean is undone: it moves the end of a cache, hides the first seconds, and makes phases of its tails.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from pslc.analysis.series import Curve, Floats

TAIL_ROWS: Final = (40, 20, 10)
MIN_TAIL_ROWS, MAX_TAIL_ROWS = 4, 40
MIN_KEPT_SHARE, MAX_KEPT_SHARE = 0.35, 0.97
"""Share of a row that the next one keeps: below, a tail is over within three rows."""
TAIL_SHARES: Final = 1.0 - np.geomspace(0.02, 0.9, 90)
MAX_TAIL_ERROR: Final = 0.04
"""Error of the rows behind a step, as a share of it, up to which it is an exponential tail."""
MIN_STEP_RATIO: Final = 0.15
"""A step of less, over the level before it, tells no tail from noise."""
MAX_UNEVEN_SHARE: Final = 0.1
"""Scatter of the rows' lengths, above which a log is of no even rows."""
MAX_START_ERROR: Final = 0.02
"""A start from nothing is the logger's alone where it is this exact."""
MAX_ALONE_ERROR: Final = 0.008
"""Largest error of a single fall that tells a mean, where no other step agrees with it."""
JOINED_ROWS: Final = (1, 3, 9)
"""Rows that are joined, so that a long tail is one of a few."""
MIN_AGREEMENT: Final = 0.25
"""Largest relative difference of the time constants of two tails of one logger."""


@dataclass(frozen=True)
class Smoothing:
    """An exponential mean: the share of each row that it keeps of the one before, and its time constant in seconds."""

    kept: float
    seconds: float


def smoothing(curve: Curve) -> Smoothing | None:
    """The exponential mean that a log shows; None where its steps are sharp."""
    seconds = float(np.median(curve.seconds))
    if float(np.median(np.abs(curve.seconds - seconds))) > MAX_UNEVEN_SHARE * seconds:
        return None
    for rows in JOINED_ROWS:
        kept = _kept(joined(curve.bytes_per_s, rows))
        if kept is not None:
            return Smoothing(kept ** (1.0 / rows), -rows * seconds / float(np.log(kept)))
    return None


def joined(speed: Floats, rows: int) -> Floats:
    """Means of so many rows each; the last ones are left out."""
    count = speed.size // rows
    means: Floats = speed[: count * rows].reshape(count, rows).mean(axis=1)
    return means


def _kept(speed: Floats) -> float | None:
    """The share that each row keeps of the one before; None where it is none."""
    if speed.size < 4 * MIN_TAIL_ROWS:
        return None
    tails = [_tail(speed, start) for start in _steps(speed)]
    shares = sorted(share for tail in tails if tail is not None for share in [tail[1]])
    # A logger starts from nothing; that and a fall, or two falls, have to agree.
    for low, high in pairwise(shares):
        if abs(np.log(np.log(low) / np.log(high))) < MIN_AGREEMENT:
            return float(np.sqrt(low * high))
    exact = [(tail[0], tail[1]) for tail in tails if tail is not None and tail[2] > TAIL_ROWS[-1]]
    error, share = min(exact, default=(1.0, 0.0))
    is_start = bool(exact) and tails[0] is not None and tails[0][1] == share
    return share if error < (MAX_START_ERROR if is_start else MAX_ALONE_ERROR) else None


def sharpened(curve: Curve, mean: Smoothing) -> Curve:
    """The curve before an exponential mean was taken of it."""
    speed = curve.bytes_per_s
    before = np.concatenate([[0.0], speed[:-1]])
    sharp = (speed - mean.kept * before) / (1.0 - mean.kept)
    sharp = np.maximum(sharp, 0.02 * float(np.median(speed)))
    widths = sharp * curve.seconds
    return Curve(np.concatenate([[0.0], np.cumsum(widths)]), curve.seconds, curve.silent_s)


def _steps(speed: Floats) -> list[int]:
    """Rows from which the speed changes most: the first, and those of the largest falls."""
    lag = 3 if speed.size < 100 else 5
    falls = np.log(speed[:-lag] / speed[lag:])
    starts = [-1]
    for row in np.argsort(-falls)[:200]:
        if falls[row] < MIN_STEP_RATIO or len(starts) > 3:
            break
        if all(abs(row - start) > MAX_TAIL_ROWS for start in starts[1:]) and row > MIN_TAIL_ROWS:
            starts.append(_onset(speed, int(row)))
    return starts


def _onset(speed: Floats, row: int) -> int:
    """The last row before a fall: behind it the largest difference of two neighbours lies."""
    begin = max(row - 3, 0)
    return begin + int(np.argmin(np.diff(speed[begin : row + 5])))


def _tail(speed: Floats, start: int) -> tuple[float, float, int] | None:
    """Error, share that each row keeps of the step from row `start` on, and rows of which that was told; None where it
    is no exponential tail.

    Args:
        start: the last row before the step; -1: the beginning, before which the speed was 0.
    """
    before = float(speed[start]) if start >= 0 else 0.0
    for count in TAIL_ROWS:
        rows = speed[start + 1 : start + 1 + count]
        if rows.size < 2 * MIN_TAIL_ROWS:
            return None
        # Each row is what is left of the level before, and the rest of the level behind, which is fitted.
        left = TAIL_SHARES[:, None] ** np.arange(1, rows.size + 1)
        gained = rows - before * left
        behind = (gained * (1.0 - left)).sum(axis=1) / ((1.0 - left) ** 2).sum(axis=1)
        errors = np.sqrt(np.mean((gained - behind[:, None] * (1.0 - left)) ** 2, axis=1))
        best = int(np.argmin(errors))
        step = abs(float(behind[best]) - before)
        if step < MIN_STEP_RATIO * max(before, float(behind[best])):
            continue
        if errors[best] < MAX_TAIL_ERROR * step and MIN_KEPT_SHARE < TAIL_SHARES[best] < MAX_KEPT_SHARE:
            return float(errors[best] / step), float(TAIL_SHARES[best]), rows.size
    return None
