"""A curve followed from the left to the right: in each column of pixels one run of its colour."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from pslc.chart.colors import Mask
from pslc.chart.frame import runs
from pslc.chart.lines import Floats

MAX_GAP_RATIO: Final = 0.09
"""Longest gap in a curve that is bridged, as a share of the frame's width."""
SKIP_COST: Final = 0.12
"""Cost of a column that shows the background instead of the curve; a column with the curve gains 1."""
BELOW_COST: Final = 0.05
"""Cost of a column in which the curve may run below another one."""
JUMP_COST_PER_PX: Final = 0.15
MAX_JUMP_RATIO: Final = 0.03
"""Largest cost of a leap to a run that does not touch the last one, as a share of the frame's width."""
MIN_SOLID_RATIO: Final = 0.6
DOTTED_EASE: Final = 0.25
"""Share of its columns that a curve covers unless it is of dots, and what leaps between these cost."""
MIN_SPAN_RATIO: Final = 0.15
"""Length of the shortest curve, as a share of the frame's width."""
MIN_COVERAGE_RATIO: Final = 0.3
"""Smallest share of a curve's columns that show its colour. A dotted line has some 0.4."""
MIN_EXPLAINED_RATIO: Final = 0.55
"""Smallest share of a colour's pixels that lie on its curve. It is a half where two curves have one colour."""
FILLED_RATIO: Final = 0.97
"""Smallest share of a colour's columns in which it reaches the bottom, if an area is filled with it."""
MAX_GRID_PX: Final = 9
"""Height of a line of the grid with its soft edges."""
MIN_MASS_RATIO: Final = 0.06
MIN_MASS_COLUMNS_RATIO: Final = 0.2
"""Smallest share of the frame, and of its columns at the bottom, that a filled area covers."""
MAX_MASS_GAP_RATIO: Final = 0.03
"""Largest gap that labels and the grid leave in a filled area, as a share of the frame's height."""
MAX_RUNS: Final = 14
"""Largest number of runs of one colour in one column."""
MIN_BEYOND_RATIO: Final = 0.012
EDGE_RATIO: Final = 0.02
"""Distance beyond a curve's end in which it is looked for below others, and width of the frame's edge, as a share of
the frame's width."""
MIN_HIDING_RATIO: Final = 0.6
"""Smallest share of these columns in which another curve covers the continuation of this one; before its beginning half
as many, as curves begin where the plot does."""
MAX_WAVE_RATIO: Final = 0.04
"""Distance above and below a curve's end in which it is looked for, as a share of the frame's height, if the curve
waves as much."""
MIN_DASHES: Final = 12
"""Gaps from which on a curve is dashed or dotted."""
MAX_LEAPS_RATIO: Final = 0.12
"""Largest share of a curve's columns with a leap to a run that does not touch. Text has a leap every few columns."""


@dataclass(frozen=True)
class Trace:
    """A curve that was followed.

    Attributes:
        columns: of pixels, ascending, shape (n,), from the left side of the frame.
        rows: where the curve is in each, shape (n,), from the top of the frame.
        tops, bottoms: first and last row of its run in each, shape (n,).
        half: half of how far up and down its run reaches beyond the usual stroke, in pixels, shape (n,).
        visible: whether its colour is there, rather than another curve over it, or a gap; shape (n,).
        stroke: usual height of a run, in pixels.
        explained: share of the colour's pixels that are on the curve.
        leaps: share of columns in which it leaps to a run that does not touch.
        filled: whether it is the upper edge of an area.
    """

    columns: Floats
    rows: Floats
    tops: Floats
    bottoms: Floats
    half: Floats
    visible: Mask
    stroke: float
    explained: float
    leaps: float
    filled: bool


@dataclass(frozen=True)
class _Runs:
    """Runs of one column after the other: column, first and last row, and whether they are of the colour itself."""

    column: np.ndarray
    top: np.ndarray
    bottom: np.ndarray
    own: np.ndarray


def follow(core: Mask, shares: Floats, other_curves: Mask, ruled: Mask) -> Trace | None:
    """Follow the curve of a colour; None where the colour is of no curve.

    Args:
        core: pixels of the colour.
        shares: how much of each pixel it covers.
        other_curves: pixels of other colours, below which it may run.
        ruled: rows and columns of the grid, which may lie over it, or shine through.
    """
    width = core.shape[1]
    mass = (
        core.mean() >= MIN_MASS_RATIO and core[-max(5, len(core) // 40) :].any(axis=0).mean() >= MIN_MASS_COLUMNS_RATIO
    )
    candidates = _runs(
        core, other_curves, np.ones_like(ruled) if mass else ruled, MAX_MASS_GAP_RATIO * len(core) if mass else 0
    )
    if not candidates.own.any():
        return None
    filled = np.asarray(core.any(axis=0))
    ends = np.flatnonzero(filled)[[0, -1]]
    dotted = filled[ends[0] : ends[1] + 1].mean() < MIN_SOLID_RATIO
    ease = DOTTED_EASE if dotted else 1.0
    path = _path(candidates, max(6, round(MAX_GAP_RATIO * width)), ease)
    path = _trimmed(path, candidates, width)
    if len(path) < 2:
        return None
    columns = candidates.column[path]
    span = columns[-1] - columns[0] + 1
    own = candidates.own[path]
    if span < MIN_SPAN_RATIO * width or own.sum() < MIN_COVERAGE_RATIO * span:
        return None
    return _trace(core, shares, path, candidates)


def is_hidden_beyond(path: Trace, other_curves: Mask) -> bool:
    """Whether a curve begins or ends inside of the frame where another one hides what is before, or behind.

    Args:
        other_curves: pixels of the other curves.
    """
    height, width = other_curves.shape
    count = max(4, round(MIN_BEYOND_RATIO * width))
    for at, way in ((0, -1), (-1, 1)):
        beyond = int(path.columns[at]) + way * np.arange(1, count)
        if beyond.min() < EDGE_RATIO * width or beyond.max() > (1 - EDGE_RATIO) * width:
            continue
        near = path.rows[: 2 * count] if way < 0 else path.rows[-2 * count :]
        reach = path.stroke / 2 + 2 + min(np.ptp(near), MAX_WAVE_RATIO * height)
        rows = slice(max(0, int(path.rows[at] - reach)), min(height, int(path.rows[at] + reach) + 1))
        hiding = MIN_HIDING_RATIO if way > 0 else MIN_HIDING_RATIO / 2
        if other_curves[rows][:, beyond].any(axis=0).mean() > hiding:
            return True
    return False


def _is_filled(bottoms: np.ndarray, tops: np.ndarray, height: int) -> bool:
    reaching = (bottoms >= height - 1 - max(4, 0.02 * height)) & (bottoms - tops > 0.03 * height)
    return bool(reaching.mean() >= FILLED_RATIO)


def _runs(core: Mask, other_curves: Mask, ruled: Mask, gap: float) -> _Runs:
    """All runs. Others' runs count only in columns without one of the colour itself."""
    parts = []
    for column in range(core.shape[1]):
        stretches = _over_grid(runs(core[:, column]), ruled[:, column], max(gap, MAX_GRID_PX))[:MAX_RUNS]
        own = bool(stretches)
        if not own:
            stretches = runs(other_curves[:, column])[:MAX_RUNS]
        parts += [(column, top, bottom - 1, own) for top, bottom in stretches]
    if not parts:
        parts = [(0, 0, 0, False)]
    column, top, bottom, own = np.array(parts).T
    return _Runs(column, top, bottom, own.astype(bool))


def _over_grid(stretches: list[tuple[int, int]], ruled: np.ndarray, max_gap: float) -> list[tuple[int, int]]:
    """Runs that nothing but a line of the grid parts, as one."""
    wholes: list[tuple[int, int]] = []
    for top, bottom in stretches:
        gap = ruled[wholes[-1][1] : top] if wholes else ruled[:0]
        if 0 < len(gap) <= max_gap and gap.mean() > 0.3:
            wholes[-1] = (wholes[-1][0], bottom)
        else:
            wholes.append((top, bottom))
    return wholes


def _path(of: _Runs, longest: int, ease: float) -> np.ndarray:
    """Numbers of the runs that a curve goes through at the least cost."""
    count = len(of.column)
    cost, before = np.full(count, np.inf), np.full(count, -1)
    dearest = MAX_JUMP_RATIO * (of.column.max() + 1)
    own_cost = np.where(of.own, -1.0, BELOW_COST)
    starts = np.searchsorted(of.column, of.column - longest)
    until = np.searchsorted(of.column, of.column)
    for at in range(count):
        begin = 0.0 if of.own[at] else np.inf
        cost[at] = begin
        some = slice(starts[at], until[at])
        if starts[at] < until[at]:
            apart = np.maximum(of.top[at] - of.bottom[some], of.top[some] - of.bottom[at])
            jump = ease * np.minimum(JUMP_COST_PER_PX * np.maximum(apart - 1, 0), dearest)
            total = cost[some] + SKIP_COST * (of.column[at] - of.column[some] - 1) + jump
            nearest = int(total.argmin())
            if total[nearest] < begin:
                cost[at], before[at] = total[nearest], starts[at] + nearest
        cost[at] += own_cost[at]
    ending = np.where(of.own, cost, np.inf)
    path = [int(ending.argmin())]
    while before[path[-1]] >= 0:
        path.append(int(before[path[-1]]))
    return np.array(path[::-1])


def _trimmed(path: np.ndarray, of: _Runs, width: int) -> np.ndarray:
    """The path without short ends that a gap and a leap part from it: samples of the legend, and labels."""
    while (kept := np.flatnonzero(of.own[path])).size > 2:
        own = path[kept]
        columns, tops, bottoms = of.column[own], of.top[own], of.bottom[own]
        gaps = np.diff(columns) - 1
        leaps = np.maximum(tops[1:] - bottoms[:-1], tops[:-1] - bottoms[1:])
        # Dashes and dots are parted everywhere.
        usual = np.median(gaps[gaps > 0]) if (gaps > 0).sum() > MIN_DASHES else 0
        breaks = np.flatnonzero((gaps > max(2, 2 * usual)) & (leaps > 6))
        short = MIN_SPAN_RATIO / 2 * width
        tail = [at for at in breaks if columns[-1] - columns[at + 1] < short]
        head = [at for at in breaks if columns[at] - columns[0] < short]
        if tail:
            path = path[: kept[tail[0]] + 1]
        elif head:
            path = path[kept[head[-1] + 1] :]
        else:
            break
    return path


def _trace(core: Mask, shares: Floats, path: np.ndarray, of: _Runs) -> Trace:
    height = core.shape[0]
    columns, tops, bottoms, own = of.column[path], of.top[path], of.bottom[path], of.own[path]
    filled = _is_filled(bottoms[own], tops[own], height)
    heights = bottoms - tops + 1
    stroke = float(np.median(heights[own])) if not filled else 1.0
    rows = (tops + bottoms) / 2.0
    taken = np.zeros_like(core)
    for at in np.flatnonzero(own):
        column, top, bottom = columns[at], tops[at], bottoms[at]
        taken[max(0, top - 1) : bottom + 2, column] = True
        if filled:
            edge = shares[max(0, top - 2) : top + 1, column]
            rows[at] = top + 1 - edge.clip(0, 1).sum() - 0.5 + (len(edge) == 0)
            rows[at] = min(max(rows[at], top - 1.5), top + 0.5)
        elif heights[at] <= stroke + 3:
            low, high = max(0, top - 2), min(height, bottom + 3)
            weights = shares[low:high, column]
            rows[at] = float((weights * np.arange(low, high)).sum() / weights.sum())
    half = np.maximum(heights - stroke, 0) / 2.0 if not filled else np.zeros(len(path))
    apart = np.maximum(tops[1:] - bottoms[:-1], tops[:-1] - bottoms[1:])
    side_by_side = own[1:] & own[:-1] & (np.diff(columns) == 1)
    return Trace(
        columns.astype(float), rows, tops.astype(float), bottoms.astype(float), half, own, stroke,
        explained=float((taken & core).sum() / core.sum()),
        leaps=float((side_by_side & (apart > 2)).sum() / (columns[-1] - columns[0] + 1)),
        filled=filled,
    )  # fmt: skip
