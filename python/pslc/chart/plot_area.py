"""Plot area of a chart: its frame, its axes, and the lines of its grid."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pslc.base.errors import RecordingError
from pslc.chart import axes, colors, frame
from pslc.chart.axes import Axis, Range
from pslc.chart.colors import Color, Mask
from pslc.chart.frame import Frame, FrameError
from pslc.chart.lines import Floats, Pixels, Straight

RIM_PARTS: Final = 400
"""Largest thickness of the frame's sides: the frame's width divided by this."""
MIN_GRID_SPAN_RATIO: Final = 0.9
"""Length of a line of the grid or the frame, as a share of the plot's; the level part of a black curve is shorter."""
GRID_LEVELS: Final = 60.0
"""Difference of colour, 0 to 441, up to which a pixel on a line of the grid is of the grid."""
CUT_MARGIN_PX: Final = 4
"""Distance above the plot from which on a curve that goes on is looked for, in pixels."""
MAX_AROUND_RATIO: Final = 1.6
"""Largest area of the frame that was seen around the one that was given; two panels are twice as large as one."""
MIN_PANEL_PX: Final = 3.0
"""Smallest distance of another panel's side from the marks and from the frame's sides, in pixels."""
ABOVE_LEVELS: Final = 45.0
"""Largest distance of a pixel above the top mark from the colour of a curve, 0 to 441; a title may stand there."""


@dataclass(frozen=True)
class Wanted:
    """Parts of a chart to read, as the user states them.

    Attributes:
        x, y: ranges of the axes.
        frame: left, top, right and bottom in pixels, where the ranges begin and end; None: detected.
        series: names or `#rrggbb` of the colours to read; empty: each.
    """

    x: Range
    y: Range
    frame: tuple[float, float, float, float] | None = None
    series: Sequence[str] = ()


@dataclass(frozen=True)
class Ruled:
    """Masks of the frame and the grid, in the shape of the plot area.

    Attributes:
        rows_and_columns: all of those on which a line of the grid is.
        drawn: pixels of the grid and the frame.
    """

    rows_and_columns: Mask
    drawn: Mask


def axes_of(
    pixels: Pixels, level: Sequence[Straight], upright: Sequence[Straight], wanted: Wanted
) -> tuple[Frame, Axis, Axis]:
    """The area in which curves are, and the axes."""
    hint = "give the pixels where the ranges begin and end: --frame LEFT,TOP,RIGHT,BOTTOM"
    try:
        outline = frame.find(pixels, level, upright)
    except FrameError as error:
        if wanted.frame is None:
            raise RecordingError(str(error), hint) from None
        outline = Frame(*wanted.frame)
    if wanted.frame is not None:
        given = Frame(*wanted.frame)
        note = "spans the frame that was given"
        x = Axis(wanted.x, given.left, given.right, f"--x {wanted.x.text} {note}")
        y = Axis(wanted.y, given.bottom, given.top, f"--y {wanted.y.text} {note}")
        return _around(given, outline), x, y
    try:
        across = frame.marks(pixels, outline, upright, "x")
        along = frame.marks(pixels, outline, level, "y")
    except FrameError as error:
        raise RecordingError(str(error), f"straight axes alone can be read; if they are, {hint}") from None
    if not len(across) and not len(along):
        raise RecordingError("no marks were seen on either axis, so what looks like the frame may be another box", hint)
    if _has_panels(outline, level, along):
        raise RecordingError("lines of the frame cross the plot off its marks, as in a picture of several panels", hint)
    outline = _enlarged(outline, across, along)
    x = axes.fitted(wanted.x, "--x", (outline.left, outline.right), across)
    y = axes.fitted(wanted.y, "--y", (outline.bottom, outline.top), along)
    return outline, x, y


def _has_panels(outline: Frame, level: Sequence[Straight], marks: Floats) -> bool:
    """Whether sides of other frames are within a frame: several lines like its own, not all of them marks."""
    long = [line for line in level if line.thickness and line.length >= MIN_GRID_SPAN_RATIO * outline.width]
    inside = [outline.top + MIN_PANEL_PX < line.at < outline.bottom - MIN_PANEL_PX for line in long]
    sides = [line for line, is_inner in zip(long, inside, strict=True) if not is_inner]
    inner = [
        line.at
        for line, is_inner in zip(long, inside, strict=True)
        if is_inner and any(_has_color(line, side) for side in sides)
    ]
    if len(inner) < 2 or len(marks) < 2:
        return False
    steps = (np.array(inner) - marks[0]) / (marks[1] - marks[0])
    return bool((np.abs(steps - np.round(steps)) * (marks[1] - marks[0]) > MIN_PANEL_PX).any())


def _around(given: Frame, outline: Frame) -> Frame:
    """The frame that was seen, if the one that was given is most of it, else that one: of several panels it is one."""
    slack = 0.03 * max(given.width, given.height)
    within = (
        outline.left - slack <= given.left
        and given.right <= outline.right + slack
        and outline.top - slack <= given.top
        and given.bottom <= outline.bottom + slack
        and outline.width * outline.height <= MAX_AROUND_RATIO * given.width * given.height
    )
    return outline if within else given


def _enlarged(outline: Frame, across: Floats, along: Floats) -> Frame:
    """The frame with the marks that have labels beyond what was seen of it."""
    left, right = (
        (min(outline.left, across[0]), max(outline.right, across[-1])) if len(across) else (outline.left, outline.right)
    )
    top, bottom = (
        (min(outline.top, along[0]), max(outline.bottom, along[-1])) if len(along) else (outline.top, outline.bottom)
    )
    return Frame(left, top, right, bottom)


def ruled_lines(area: Pixels, corner: tuple[int, int], level: Sequence[Straight], upright: Sequence[Straight]) -> Ruled:
    """Pixels of long straight lines that are no curves."""
    behind = colors.background(area)
    drawn = np.zeros(area.shape[:2], dtype=bool)
    every = np.zeros_like(drawn)
    rim = max(3, area.shape[1] // RIM_PARTS)
    directions = (
        (area, drawn, every, level, corner[1]),
        (area.transpose(1, 0, 2), drawn.T, every.T, upright, corner[0]),
    )
    for pixels, mask, whole, lines, first in directions:
        across = [line for line in lines if line.thickness]
        spanning = [line for line in across if line.length >= MIN_GRID_SPAN_RATIO * pixels.shape[1]]
        inner = [line for line in spanning if rim < line.at - first < len(pixels) - rim]
        ruled = [line for line in across if _is_ruled(line, across, behind, spanning, inner)]
        grid = [line for line in inner if line in ruled]
        for line in ruled + _covered(grid, (first + rim, first + len(pixels) - 1 - rim)):
            reach = line.thickness / 2 + 1
            rows = slice(max(0, round(line.at - first - reach)), max(0, round(line.at - first + reach) + 1))
            near = np.linalg.norm(pixels[rows].astype(float) - line.color, axis=2) <= GRID_LEVELS
            mask[rows] |= near
            whole[rows] = True
    edge = np.ones_like(drawn)
    edge[rim:-rim, rim:-rim] = False
    drawn |= edge & colors.greys(area, behind)
    return Ruled(every, drawn)


def _is_ruled(
    line: Straight, across: Sequence[Straight], behind: Floats, spanning: Sequence[Straight], inner: Sequence[Straight]
) -> bool:
    """Whether a line is of the frame or the grid: a grey one over the whole plot, or of the colour of one within it
    that is, or one of several alike. A flat curve is none of them.

    Args:
        across: lines in the direction of this one.
        spanning: of these, lines over the whole plot.
        inner: of those, lines that are no sides of the frame.
    """
    if colors.greys(np.array(line.color, dtype=float), behind):
        return line in spanning or any(_has_color(line, other) for other in inner)
    alike = [other for other in across if abs(other.length - line.length) <= 0.05 * line.length]
    return sum(_has_color(line, other) for other in alike) >= 3


def _covered(inner: Sequence[Straight], within: tuple[float, float]) -> list[Straight]:
    """Lines of an even grid that curves hide too much of to be seen as lines."""
    try:
        row = frame.even(np.array([line.at for line in inner]), within)
    except FrameError:
        return []
    if not len(row):
        return []
    step, (low, high) = row[1] - row[0], within
    every = row[0] + step * np.arange(math.ceil((low - row[0]) / step), math.floor((high - row[0]) / step) + 1)
    return [replace(inner[0], at=at) for at in every if min(abs(line.at - at) for line in inner) > 1]


def _has_color(line: Straight, other: Straight) -> bool:
    """Whether two lines are of one colour."""
    return bool(np.linalg.norm(np.subtract(other.color, line.color)) <= frame.SAME_COLOR_LEVELS)


def top_row(pixels: Pixels, edges: tuple[int, int, int], area: Pixels, spacing: float, colored: Sequence[Color]) -> int:
    """The row up to which curves go on above the last mark, by less than there is from a mark to the next; else the
    frame's top.

    Args:
        edges: left, top and right of the frame.
        spacing: from one mark to the next.
    """
    left, top, right = edges
    behind = colors.background(area)
    first = max(0, top - round(spacing))
    above = pixels[first : max(0, top - CUT_MARGIN_PX), left : right + 1]
    near = np.zeros(above.shape[:2], dtype=bool)
    for color in colored:
        if not color.is_grey(behind):
            away = np.linalg.norm(above.astype(float) - np.array(color.rgb, dtype=float), axis=2)
            near |= away < min(ABOVE_LEVELS, color.contrast / 4)
    rows = np.flatnonzero(near.sum(axis=1) > 1)
    return first + int(rows[0]) - CUT_MARGIN_PX if len(rows) and rows[0] > CUT_MARGIN_PX else top
