"""The frame of a chart: the rectangle that its axes span, and the marks (grid lines or ticks) along them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pslc.chart.lines import MAX_THICKNESS_PX, Floats, Pixels, Straight

MIN_WIDTH_RATIO: Final = 0.45
MIN_HEIGHT_RATIO: Final = 0.35
"""Height of the smallest frame that is looked for, as a share of the picture's."""
TOLERANCE_RATIO: Final = 0.015
MIN_TOLERANCE_PX: Final = 4.0
"""Smallest tolerance between the ends of lines of one frame, in pixels: ticks make them longer."""
SIDE_WEIGHT: Final = 2.5
"""Score of a side of the frame that is drawn, in lines."""
OVER_WEIGHT: Final = 0.4
"""Score of a line that goes a little beyond a side; a line that ends at it scores 0.5."""
MIN_SIDE_RATIO: Final = 0.75
"""Share of a side that has to be drawn: curves may lie over it."""
MAX_BEYOND_RATIO: Final = 0.06
"""Largest length of a side beyond the corners, as a share of the side: ticks and labels extend it."""
MIN_SUPPORT: Final = 6.0
"""Lines and sides that a frame needs. Two axes that meet have 7."""
MAX_CLUSTERS: Final = 20
"""Places that are tried for each side."""
BORDER_RATIO: Final = 0.02
"""A line as near as this to the edge of the picture, and as long, is the border of the picture."""
MARK_LEVELS: Final = 50.0
"""Difference of colour, 0 to 441, from which on a tick stands out."""
MAX_TICK_RATIO: Final = 0.03
"""Largest length of a tick, as a share of the picture."""
LONG_TICK_RATIO: Final = 0.75
"""Shortest length of a major tick, as a share of the longest one; shorter ones are minor."""
MIN_SPACING_RATIO: Final = 0.02
"""Smallest distance between two marks, as a share of the axis."""
MAX_OFF_PX: Final = 1.6
"""Between a mark and its place in an even row of marks."""
AT_SIDE_PX: Final = 2.5
"""A side of the frame that is as near as this to the next mark is that mark."""
MAX_LABEL_RATIO: Final = 0.14
"""Largest distance of labels from the frame, as a share of the picture."""
LABEL_GAPS_PX: Final = (2, 3, 5, 8, 12)
"""Blank rows that may lie within labels: those that give the most even ones are taken."""
LABEL_MARGIN_RATIO: Final = 1.0
"""Largest distance of labels beyond the frame's corners, as a share of the frame, if a side of it is not seen."""
MAX_LABEL_OFF_RATIO: Final = 0.15
"""Largest distance of a label's middle from its mark, as a share of the distance between two marks."""
MAX_LABEL_OFF_PX: Final = 4.0
MIN_EVEN_RATIO: Final = 0.6
"""Smallest share of the marks that must lie on one even row."""
MAX_MARKS: Final = 80
MIN_LABELS_RATIO: Final = 0.7
"""Smallest share of the labels that must stand at marks."""
MIN_RIGHT_AXIS_RATIO: Final = 0.6
"""Smallest share of the frame's height over which the labels of a second axis stand; a legend is shorter."""
SAME_COLOR_LEVELS: Final = 45.0


class FrameError(Exception):
    """There is no frame, or it is not clear which it is. The text says what is wrong."""


@dataclass(frozen=True)
class Frame:
    """A rectangle in pixels; the centre of the picture's first pixel is at 0, 0."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """Width of the frame in pixels."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Height of the frame in pixels."""
        return self.bottom - self.top

    def __str__(self) -> str:
        return ",".join(f"{side:g}" for side in (self.left, self.top, self.right, self.bottom))


def find(pixels: Pixels, level: Sequence[Straight], upright: Sequence[Straight]) -> Frame:
    """The frame that most lines of a picture agree on.

    Raises:
        FrameError: no rectangle has enough lines.
    """
    height, width = pixels.shape[:2]
    inner = _without_border(level, height, width), _without_border(upright, width, height)
    frame = _best(*inner, width, height) or _best(level, upright, width, height)
    if frame is None:
        raise FrameError("no frame of a chart stands out")
    return frame


def _without_border(lines: Sequence[Straight], across: int, along: int) -> list[Straight]:
    """The lines but for those of a border around the picture."""
    rim = BORDER_RATIO * across
    return [
        line for line in lines if rim <= line.at <= across - 1 - rim or line.length < (1 - 4 * BORDER_RATIO) * along
    ]


def _best(level: Sequence[Straight], upright: Sequence[Straight], width: int, height: int) -> Frame | None:
    """The rectangle with the most support; None where it has too little."""
    slack = _tolerance(width), _tolerance(height)
    across = _spans(level, upright, slack[0], MIN_WIDTH_RATIO * width)
    along = _spans(upright, level, slack[1], MIN_HEIGHT_RATIO * height)
    if not across or not along:
        return None
    support = _support(level, across, along, *slack) + _support(upright, along, across, *slack[::-1]).T
    row, column = np.unravel_index(int(support.argmax()), support.shape)
    (left, right), (top, bottom) = across[row], along[column]
    return Frame(left, top, right, bottom) if support[row, column] >= MIN_SUPPORT else None


def _tolerance(size: float) -> float:
    return max(MIN_TOLERANCE_PX, TOLERANCE_RATIO * size)


def _spans(
    lines: Sequence[Straight], sides: Sequence[Straight], slack: float, shortest: float
) -> list[tuple[float, float]]:
    """Pairs of places between which a frame may lie: where lines begin and end, or lines across them are."""
    places = [line.at for line in sides]
    starts = _clusters([float(line.start) for line in lines], places, slack)
    ends = _clusters([float(line.end) for line in lines], places, slack)
    return [(start, end) for start in starts for end in ends if end - start >= shortest]


def _clusters(ends: Sequence[float], places: Sequence[float], slack: float) -> list[float]:
    """Places with most ends; a line across them there is the more exact place."""
    left = sorted([*ends, *places])
    clusters: list[float] = []
    while left and len(clusters) < MAX_CLUSTERS:
        near = [[other for other in left if abs(other - end) <= slack] for end in left]
        group = max(near, key=len)
        middle = float(np.median(group))
        drawn = min(places, key=lambda place: abs(place - middle), default=middle)
        clusters += [place for place in (drawn, middle) if abs(place - middle) <= 2 * slack][
            : 1 + (abs(drawn - middle) > slack)
        ]
        left = [other for other in left if other not in group]
    return clusters


def _support(
    lines: Sequence[Straight],
    spans: Sequence[tuple[float, float]],
    sides: Sequence[tuple[float, float]],
    along: float,
    across: float,
) -> Floats:
    """Support of lines of one direction for frames: those that begin and end at it, and those that are a side.

    Args:
        spans: pairs of sides along the lines.
        sides: pairs of sides across them.
        along, across: how far off lines may be.

    Returns:
        Shape (spans, sides).
    """
    if not lines:
        return np.zeros((len(spans), len(sides)))
    start, end, at = (np.array([getattr(line, name) for line in lines]) for name in ("start", "end", "at"))
    low, high = np.array(spans).T[:, :, None]
    first, last = np.array(sides).T[:, :, None]
    inside = (at >= first - across) & (at <= last + across)
    ends = 0.5 * (abs(start - low) <= along) + 0.5 * (abs(end - high) <= along)
    # Ticks and digits below them make a line longer.
    over = MAX_BEYOND_RATIO * (high - low)
    ends += OVER_WEIGHT * ((low - start > along) & (low - start <= over))
    ends += OVER_WEIGHT * ((end - high > along) & (end - high <= over))
    ends -= 0.5 * (start < low - 3 * along) + 0.5 * (end > high + 3 * along)
    covered = np.minimum(end, high) - np.maximum(start, low)
    beyond = np.maximum(low - start, end - high)
    drawn = (covered >= MIN_SIDE_RATIO * (high - low)) & (
        beyond <= np.maximum(2 * along, MAX_BEYOND_RATIO * (high - low))
    )
    support = ends @ inside.T.astype(float)
    for side in (first, last):
        support += SIDE_WEIGHT * (drawn.astype(float) @ (abs(at - side) <= across).T.astype(float) > 0)
    return np.asarray(support)


def marks(pixels: Pixels, frame: Frame, lines: Sequence[Straight], axis: str) -> Floats:
    """Places of an axis' marks, evenly spaced, from the first that has a label to the last; empty: none were seen.

    Args:
        lines: upright ones for x, level ones for y.
        axis: `x` or `y`.

    Raises:
        FrameError: the marks are not even, as on a logarithmic axis.
    """
    along, within = (frame.top, frame.bottom), (frame.left, frame.right)
    if axis == "y":
        along, within = within, along
    outside = _outside(pixels, frame, axis)
    drawn = _grid(lines, along, within)
    if len(drawn) < 2:
        drawn = _ticks(outside)
        drawn = drawn[(drawn >= within[0] - MAX_LABEL_OFF_PX) & (drawn <= within[1] + MAX_LABEL_OFF_PX)]
    labels = _labels(outside, axis)
    named = _even(labels, within, MAX_LABEL_OFF_PX)
    try:
        places = even(drawn, within)
    except FrameError:
        if not len(named):
            raise
        places = np.empty(0)
    if len(named) and len(places) < 2:
        return named
    if len(named) and not _agree(places, named):
        near = [np.abs(drawn - place).argmin() for place in named]
        close = np.abs(drawn[near] - named) <= MAX_LABEL_OFF_PX
        return _row(np.arange(len(named))[close], drawn[near][close], len(named)) if close.sum() > 1 else named
    return _labelled(places, labels, within)


def has_right_axis(pixels: Pixels, frame: Frame) -> bool:
    """Whether labels stand along the right side, evenly and over most of its height, as those of a second axis do."""
    last = pixels.shape[1] - 1
    mirrored = Frame(last - frame.right, frame.top, last - frame.left, frame.bottom)
    labels = _labels(_outside(pixels[:, ::-1], mirrored, "y"), "y")
    row = _even(labels, (frame.top, frame.bottom), MAX_LABEL_OFF_PX)
    return len(row) > 0 and bool(np.ptp(row) >= MIN_RIGHT_AXIS_RATIO * frame.height)


def _agree(places: Floats, named: Floats) -> bool:
    """Whether labels are at marks."""
    step = places[1] - places[0]
    parts = (named[1] - named[0]) / step
    numbers = np.round((named - places[0]) / step)
    off = np.abs(places[0] + numbers * step - named)
    return abs(parts - round(parts)) <= MAX_LABEL_OFF_RATIO and bool(off.max() <= MAX_LABEL_OFF_PX)


def _row(numbers: Floats | np.ndarray, places: Floats, count: int) -> Floats:
    """Places 0 to `count` - 1 of an even row, from those of some numbers."""
    slope, start = np.polyfit(numbers, places, 1)
    return np.asarray(start + slope * np.arange(count))


def _grid(lines: Sequence[Straight], along: tuple[float, float], within: tuple[float, float]) -> Floats:
    """Places of the lines of the grid."""
    slack = 2 * _tolerance(along[1] - along[0])
    fitting = [
        line
        for line in lines
        if line.thickness > 0
        and line.start <= along[0] + slack
        and line.end >= along[1] - slack
        and within[0] - MAX_OFF_PX <= line.at <= within[1] + MAX_OFF_PX
    ]
    inner = [line for line in fitting if min(line.at - within[0], within[1] - line.at) > 2 * MAX_OFF_PX]
    if not inner:
        return np.empty(0)
    # A flat curve is a line as well, of another colour.
    colors = np.array([line.color for line in inner], dtype=float)
    alike = np.linalg.norm(colors[:, None] - colors[None], axis=2) <= SAME_COLOR_LEVELS
    usual = int(alike.sum(axis=1).argmax())
    places = [line.at for line, same in zip(inner, alike[usual], strict=True) if same]
    return np.array(sorted(places + [line.at for line in fitting if line not in inner]))


@dataclass(frozen=True)
class _Outside:
    """Text and ticks outside of the frame along an axis.

    Attributes:
        dark: where it is, shape (depth, length), the row next to the frame first.
        first: place of the first column.
        size: width of the picture across the axis' marks.
        span: columns of the frame.
    """

    dark: np.ndarray
    first: int
    size: int
    span: tuple[int, int]


def _outside(pixels: Pixels, frame: Frame, axis: str) -> _Outside:
    """Text and ticks below the frame (x), or on its left (y)."""
    if axis == "y":
        pixels = np.ascontiguousarray(pixels.transpose(1, 0, 2))[::-1]
        frame = Frame(frame.top, len(pixels) - 1 - frame.right, frame.bottom, len(pixels) - 1 - frame.left)
    edge = math.ceil(frame.bottom) + 1
    depth = round(MAX_LABEL_RATIO * pixels.shape[0])
    margin = round(LABEL_MARGIN_RATIO * frame.width)
    left, right = max(0, math.floor(frame.left) - margin), math.ceil(frame.right) + margin + 1
    span = math.ceil(frame.left) - left, math.floor(frame.right) + 1 - left
    strip = np.asarray(pixels[edge : edge + depth, left:right], dtype=float)
    if len(strip) < MAX_THICKNESS_PX:
        return _Outside(np.zeros((0, 0), dtype=bool), left, pixels.shape[1], span)
    behind = np.median(strip.reshape(-1, 3), axis=0)
    dark: np.ndarray = np.greater(np.linalg.norm(strip - behind, axis=2), MARK_LEVELS)
    # A border of the picture is no label.
    rim = math.ceil(BORDER_RATIO / 2 * pixels.shape[1])
    places = np.arange(left, right)[: dark.shape[1]]
    dark[:, (places < rim) | (places >= pixels.shape[1] - rim)] = False
    axis_rows = int(np.argmin(dark[:MAX_THICKNESS_PX].mean(axis=1) > 0.5))
    return _Outside(dark[axis_rows:], left, pixels.shape[1], span)


def _ticks(outside: _Outside) -> Floats:
    """Places of the long ticks."""
    dark = outside.dark
    if len(dark) < 3:
        return np.empty(0)
    lengths = np.asarray(np.where(dark.all(axis=0), len(dark), np.argmin(dark, axis=0)))
    thick = max(4, outside.size // 300)
    narrow = [(start, end) for start, end in runs(np.greater_equal(lengths, 1)) if end - start <= thick]
    sizes = np.array([lengths[start:end].max() for start, end in narrow])
    centres = np.array([outside.first + (start + end - 1) / 2 for start, end in narrow])
    if len(narrow) < 2 or sizes.max() > max(6, MAX_TICK_RATIO * outside.size):
        return np.empty(0)
    return np.asarray(centres[sizes >= LONG_TICK_RATIO * sizes.max()])


def _labels(outside: _Outside, axis: str) -> Floats:
    """Middles of the labels that stand along an axis."""
    # The label of the other axis' first mark stands beside the frame.
    filled = np.asarray(outside.dark[:, slice(*outside.span)].any(axis=1))
    # Ticks touch the frame; the labels are the first block of rows behind them, and the axis' name may be near.
    begin = int(np.argmin(filled)) if not filled.all() else 0
    labels, best = np.empty(0), -1.0
    for gap in LABEL_GAPS_PX:
        blocks = joined(runs(filled[begin:]), gap)
        if not blocks:
            break
        start, end = (begin + at for at in blocks[0])
        columns = np.asarray(outside.dark[start:end].any(axis=0))
        between = 1 if axis == "y" else max(3, round(0.8 * (end - start)))
        middles = np.array([outside.first + (at + to - 1) / 2 for at, to in joined(runs(columns), between)])
        share = len(_even(middles, outside.span, MAX_LABEL_OFF_PX)) / len(middles)
        if min(share, 1.0) * len(middles) > best:
            labels, best = middles, min(share, 1.0) * len(middles)
    return labels


def joined(parts: list[tuple[int, int]], gap: int) -> list[tuple[int, int]]:
    """Stretches that are no more than `gap` apart as one."""
    wholes: list[tuple[int, int]] = []
    for start, end in parts:
        if wholes and start - wholes[-1][1] <= gap:
            wholes[-1] = (wholes[-1][0], end)
        else:
            wholes.append((start, end))
    return wholes


def _labelled(places: Floats, labels: Floats, within: tuple[float, float]) -> Floats:
    """The even row of marks from the first to the last that has a label, and on to a side of the frame that is one of
    them where labels are not seen."""
    if len(places) < 2:
        return places
    step = places[1] - places[0]
    numbers = np.round((labels - places[0]) / step)
    fitting = np.abs(labels - places[0] - numbers * step) <= MAX_LABEL_OFF_RATIO * step
    chosen = np.unique(numbers[fitting])
    if len(chosen) >= 2 and len(chosen) < MAX_MARKS and fitting.mean() >= MIN_LABELS_RATIO:
        return np.asarray(places[0] + np.arange(chosen[0], chosen[-1] + 1) * step)
    before, after = (places[0] - within[0]) / step, (within[1] - places[-1]) / step
    counts = [round(gap) if abs(gap - round(gap)) * step <= AT_SIDE_PX else 0 for gap in (before, after)]
    return np.asarray(places[0] + np.arange(-counts[0], len(places) + counts[1]) * step)


def runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """Begins and ends (the end excluded) of each stretch of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False]))))
    return [(int(start), int(end)) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def even(places: Floats, within: tuple[float, float]) -> Floats:
    """An even row of marks through places, those that are missing between the first and the last included; empty: there
    are fewer than two.

    Raises:
        FrameError: the places are not even, as on a logarithmic axis.
    """
    inner = places[(places > within[0] + 2 * MAX_OFF_PX) & (places < within[1] - 2 * MAX_OFF_PX)]
    # A frame need not end at a mark; those between are even all the same.
    places = inner if len(inner) >= 2 else np.unique(places)[:2]
    if len(places) < 2:
        return np.empty(0)
    row = places if len(places) == 2 else _even(places, within, MAX_OFF_PX)
    if not len(row):
        raise FrameError("the marks of an axis are not even, as on a logarithmic one")
    return row


def _even(places: Floats, within: tuple[float, float], off: float) -> Floats:
    """The even row that most of three or more places are on, within `off`, from the first of these to the last; empty
    where fewer than `MIN_EVEN_RATIO` are on one."""
    places = np.unique(places)
    if len(places) < 3 or len(places) > MAX_MARKS:
        return np.empty(0)
    best, count, row = 0.0, 0, np.empty(0)
    for at, first in enumerate(places):
        for second in places[at + 1 :]:
            step = second - first
            numbers = np.round((places - first) / step)
            on = np.abs(first + numbers * step - places) <= off
            if step < MIN_SPACING_RATIO * (within[1] - within[0]):
                continue
            # Close marks meet anything; a row with holes is likely one that is too fine.
            chosen = numbers[on] - numbers[on][0]
            holes = len(np.unique(chosen)) / (chosen[-1] + 1)
            score = float(on.sum() * max(0.0, 1 - 2 * off / step) ** 2 * holes**0.5)
            if score > best and len(np.unique(chosen)) >= 3:
                best, count = score, int(on.sum())
                row = _row(chosen, places[on], int(chosen[-1]) + 1)
    return row if count >= max(3, MIN_EVEN_RATIO * len(places)) else np.empty(0)
