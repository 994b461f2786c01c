"""Reading a chart: its axes, its curves, and how exactly they could be read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.formats.chart import axes, colors, frame, legend, lines, shades, trace
from pslc.formats.chart.axes import Axis, Range
from pslc.formats.chart.colors import Color, Mask
from pslc.formats.chart.frame import Frame, FrameError
from pslc.formats.chart.lines import Floats, Pixels, Straight

MIN_SIZE_PX: Final = 200
"""Width and height of a picture: in a smaller one a pixel is more than a percent of the plot."""
MAX_HIDDEN_RATIO: Final = 0.3
"""Largest share of a curve that others may hide."""
FRAME_ERROR_PX: Final = 1.0
"""Error of the position of a side of the frame, in pixels."""
MIN_GREY_EXPLAINED_RATIO: Final = 0.8
"""Smallest share of a grey's pixels that lie on its curve. Labels are grey as well."""
MIN_GREY_SPAN_RATIO: Final = 0.35
"""Length of the shortest curve in a grey, or in a colour that is mostly elsewhere, as a share of the frame's width."""
MAX_FLAT_PX: Final = 2.0
"""Height of a grey curve from which on it is no line of the grid."""
MIN_GREY_LEVELS: Final = 90.0
"""The least contrast of a grey curve, 0 to 441."""
LEFTOVER_LEVELS: Final = 80.0
LEFTOVER_PX: Final = 4
LEFTOVER_LEAPS_RATIO: Final = 0.04
MIN_LEFTOVER_RATIO: Final = 0.6
"""Smallest share of columns, and of steps without a leap, at which marks of strong contrast far from all curves count
as one more curve."""
MAX_BACKGROUND_SPREAD: Final = 40.0
"""Between the channels of the plot's background, 0 to 255: themes have at most 20, filled areas more."""
CUT_PX: Final = 12
CUT_MARGIN_PX: Final = 4
CUT_LEVELS: Final = 90.0
ABOVE_LEVELS: Final = 45.0
MIN_CUT_RATIO: Final = 0.01
"""Above the plot: how far is looked for the color of a curve and from where on, how near a color is to it (nearer where
a title may be), and in how many columns."""
MIN_SCATTERED_RATIO: Final = 0.8
"""Smallest share of the plot's width at which marks are no label."""
MAX_ON_GRID_RATIO: Final = 0.6
"""Largest share of a curve's pixels on grid lines, if the curve is drawn over an area."""
SHADOW_PX: Final = 3.0
MIN_SHADOW_RATIO: Final = 0.8
"""Smallest share of a colour's columns that begin at another line, if the colour fills the area below that line."""
FILL_SHADOW_RATIO: Final = 0.025
"""Largest distance between a line and the half transparent area below it, as a share of the frame's height; noise
widens it."""
MIN_FILL_RATIO: Final = 0.05
"""Smallest height of a filled area, as a share of the frame's height."""
MIN_SEEN_APART_RATIO: Final = 0.25
"""Smallest share of the frame's width in which two curves in shades of one colour are both visible, one above the
other."""
RIM_PARTS: Final = 400
"""Largest thickness of the frame's sides: the frame's width divided by this."""
STEEP_PX: Final = 2.5
"""Rows from one column to the next from which on a curve is a stroke between two samples."""
MIN_CLIFF_RATIO: Final = 0.05
MAX_STROKE_RATIO: Final = 0.03
"""Largest height and width of a stray stroke, as a share of the plot's height and of the curve's columns."""
GRID_LEVELS: Final = 60.0
"""Difference of colour, 0 to 441, up to which a pixel on a line of the grid is of the grid."""


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
class Curve:
    """A curve as it was read.

    Attributes:
        name, rgb: of its colour.
        x, speed: values at each column of pixels, in bytes or seconds, and bytes/s; shape (n,).
        x_error: how far a value of x may be off.
        speed_error: the same of each speed, shape (n,).
        columns, rows: pixels of the picture, shape (n,).
    """

    name: str
    rgb: tuple[int, int, int]
    x: Floats
    speed: Floats
    x_error: float
    speed_error: Floats
    columns: Floats
    rows: Floats


@dataclass(frozen=True)
class _Named:
    """A colour with its curve and its name."""

    name: str
    color: Color
    path: trace.Trace


@dataclass(frozen=True)
class Reading:
    """Result of reading a chart: frame, axes, curves, and notes for the user."""

    pixels: Pixels
    frame: Frame
    x: Axis
    y: Axis
    curves: tuple[Curve, ...]
    notes: tuple[str, ...]


def read(pixels: Pixels, wanted: Wanted) -> Reading:
    """Read the curves of a chart.

    Raises:
        PslcError: the frame, the axes or the curves are not clear; the hint says what to give.
    """
    height, width = pixels.shape[:2]
    if min(height, width) < MIN_SIZE_PX:
        raise RecordingError(
            f"the picture has {width} x {height} pixels; at least {MIN_SIZE_PX} x {MIN_SIZE_PX} can be read",
            "give the chart in its full size",
        )
    level, upright = lines.level(pixels), lines.upright(pixels)
    plot, x, y = _axes(pixels, level, upright, wanted)
    left, top = max(0, math.ceil(plot.left)), max(0, math.ceil(plot.top))
    right, bottom = min(width - 1, math.floor(plot.right)), min(height - 1, math.floor(plot.bottom))
    area = pixels[top : bottom + 1, left : right + 1]
    ruled = _ruled(area, (left, top), level, upright)
    traced, scattered, below = _traced(area, ruled)
    higher = _higher(pixels, (left, top, right), area, y.spacing, [color for color, _ in traced])
    if wanted.frame is None and higher < top:
        top = higher
        area = pixels[top : bottom + 1, left : right + 1]
        ruled = _ruled(area, (left, top), level, upright)
        traced, scattered, below = _traced(area, ruled)
    if wanted.frame is None:
        _refuse_cut(pixels, (left, top, right), area, [color for color, _ in traced])
    if not wanted.series:
        _refuse_scattered(scattered, traced)
        _refuse_leftover(area, ruled, traced, below)
        _refuse_second(ruled, traced)
        _refuse_missing(pixels, traced)
    chosen = _chosen(_named(traced), wanted.series)
    curves = [_curve(entry, x, y, (left, top), _other_pixels(entry, traced, area)) for entry in chosen]
    return Reading(pixels, plot, x, y, tuple(curves), (x.note, y.note))


def _other_pixels(of: _Named, traced: list[tuple[Color, trace.Trace]], area: Pixels) -> Mask:
    """Pixels of the curves but one."""
    colored = np.zeros(area.shape[:2], dtype=bool)
    for color, _ in traced:
        colored |= color.core & (color is not of.color)
    return colored


def _axes(
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
    outline = _enlarged(outline, across, along)
    x = axes.fitted(wanted.x, "--x", (outline.left, outline.right), across)
    y = axes.fitted(wanted.y, "--y", (outline.bottom, outline.top), along)
    return outline, x, y


def _around(given: Frame, outline: Frame) -> Frame:
    """The frame that was seen, if the one that was given is within it, else that one."""
    slack = 0.03 * max(given.width, given.height)
    within = (
        outline.left - slack <= given.left
        and given.right <= outline.right + slack
        and outline.top - slack <= given.top
        and given.bottom <= outline.bottom + slack
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


@dataclass(frozen=True)
class _Ruled:
    """What is drawn in a frame besides curves, shape of the picture within it.

    Attributes:
        rows_and_columns: all of those on which a line of the grid is.
        drawn: pixels of the grid and the frame.
    """

    rows_and_columns: Mask
    drawn: Mask


def _ruled(area: Pixels, corner: tuple[int, int], level: Sequence[Straight], upright: Sequence[Straight]) -> _Ruled:
    """Pixels of long straight lines that are no curves."""
    behind = colors.background(area)
    drawn = np.zeros(area.shape[:2], dtype=bool)
    every = np.zeros_like(drawn)
    directions = (
        (area, drawn, every, level, corner[1]),
        (area.transpose(1, 0, 2), drawn.T, every.T, upright, corner[0]),
    )
    for pixels, mask, whole, across, first in directions:
        for line in across:
            if _is_ruled(line, across, behind):
                reach = line.thickness / 2 + 1
                rows = slice(max(0, round(line.at - first - reach)), max(0, round(line.at - first + reach) + 1))
                near = np.linalg.norm(pixels[rows].astype(float) - line.color, axis=2) <= GRID_LEVELS
                mask[rows] |= near
                whole[rows] = True
    edge = np.ones_like(drawn)
    rim = max(3, area.shape[1] // RIM_PARTS)
    edge[rim:-rim, rim:-rim] = False
    drawn |= edge & colors.greys(area, behind)
    return _Ruled(every, drawn)


def _is_ruled(line: Straight, other_curves: Sequence[Straight], behind: Floats) -> bool:
    """Whether a line is of the frame or the grid: a grey one, or one of several alike. A flat curve is neither."""
    if line.thickness == 0:
        return False
    if colors.greys(np.array(line.color, dtype=float), behind):
        return True
    alike = [
        other
        for other in other_curves
        if np.linalg.norm(np.subtract(other.color, line.color)) <= frame.SAME_COLOR_LEVELS
        and abs(other.length - line.length) <= 0.05 * line.length
    ]
    return len(alike) >= 3


Traced = list[tuple[Color, trace.Trace]]


def _traced(area: Pixels, ruled: _Ruled) -> tuple[Traced, Traced, Traced]:
    """Colours that are of a curve, with it; those that are too scattered to be one, as labels are; and those of what is
    filled below a curve, and of soft edges."""
    behind = colors.background(area)
    colored = shades.joined(colors.find(area, ruled.drawn), area, behind, ruled.rows_and_columns)
    every = np.zeros(area.shape[:2], dtype=bool)
    for color in colored:
        every |= color.core
    traced, scattered = [], []
    for color in colored:
        on_grid = ruled.rows_and_columns[color.core].mean()
        if color.contrast < MIN_GREY_LEVELS and on_grid > MAX_ON_GRID_RATIO:
            continue
        path = trace.follow(color.core, color.shares(area, behind), every & ~color.core, ruled.rows_and_columns)
        if path is None:
            continue
        grey = color.is_grey(behind)
        if not _is_text(color, path, grey):
            traced.append((color, path))
        elif not grey:
            scattered.append((color, path))
    curves = _without_shadows(traced, ruled, behind)
    return curves, scattered, [entry for entry in traced if all(entry[0] is not color for color, _ in curves)]


def _is_text(color: Color, path: trace.Trace, grey: bool) -> bool:
    """Whether a colour is of labels, a watermark or what is left of the grid rather than of a curve."""
    span = (path.columns[-1] - path.columns[0]) / color.core.shape[1]
    if grey:
        return bool(
            path.explained < MIN_GREY_EXPLAINED_RATIO
            or span < MIN_GREY_SPAN_RATIO
            or color.contrast < MIN_GREY_LEVELS
            or np.ptp(path.rows) <= MAX_FLAT_PX
            or path.leaps > trace.MAX_LEAPS_RATIO
        )
    scattered = path.leaps > trace.MAX_LEAPS_RATIO and path.explained < 2 * trace.MAX_LEAPS_RATIO + 0.55
    return scattered or (path.explained < trace.MIN_EXPLAINED_RATIO and span < MIN_GREY_SPAN_RATIO)


def _without_shadows(
    traced: list[tuple[Color, trace.Trace]], ruled: _Ruled, behind: Floats
) -> list[tuple[Color, trace.Trace]]:
    """Curves but for areas that are filled below another of them, and its soft edges: they begin at a line that has
    more contrast."""
    areas = [(color, path) for color, path in traced if path.filled]
    lines_ = [entry for entry in traced if not any(_is_within(*entry, *area, ruled) for area in areas)]
    kept: list[tuple[Color, trace.Trace]] = []
    for color, path in sorted(lines_, key=lambda entry: -entry[0].contrast):
        reach = SHADOW_PX
        if shades.is_blend(color, [other for other, _ in kept], behind):
            high = len(color.core)
            tall = path.filled or path.stroke > MIN_FILL_RATIO * high
            reach = max(2 * SHADOW_PX, FILL_SHADOW_RATIO * high if tall else 0.0)
        stronger = [line for other, line in kept if color.contrast < shades.MIN_FULL_RATIO * other.contrast]
        if not _is_shadow(path, stronger, reach):
            kept.append((color, path))
    return kept


def _is_within(color: Color, path: trace.Trace, fill: Color, area: trace.Trace, ruled: _Ruled) -> bool:
    """Whether a colour is of what shines through a filled area, or lies over it, and of no curve."""
    if color is fill:
        return False
    rows, columns = np.nonzero(color.core)
    edge = np.interp(columns, area.columns, area.rows, left=np.inf, right=np.inf)
    if (rows >= edge - SHADOW_PX).mean() < MIN_SHADOW_RATIO:
        return False
    on_grid = ruled.rows_and_columns[rows, columns].mean()
    return bool(
        path.explained < MIN_GREY_EXPLAINED_RATIO
        or np.ptp(path.rows) <= MAX_FLAT_PX
        or on_grid > MAX_ON_GRID_RATIO
        or (np.abs(path.rows - np.interp(path.columns, area.columns, area.rows)) <= SHADOW_PX).mean() > MIN_SHADOW_RATIO
    )


def _is_shadow(path: trace.Trace, lines_: Sequence[trace.Trace], reach: float = SHADOW_PX) -> bool:
    """Whether a colour begins at lines nearly everywhere, within `reach` pixels."""
    if not lines_:
        return False
    below = np.zeros(path.columns.size, dtype=bool)
    for line in lines_:
        top, bottom, row = (
            np.interp(path.columns, line.columns, rows, left=np.inf, right=np.inf)
            for rows in (line.tops, line.bottoms if not line.filled else line.tops, line.rows)
        )
        below |= (path.tops >= top - reach) & (path.tops <= bottom + reach)
        below |= np.abs(path.rows - row) <= reach
    return bool(below.mean() >= MIN_SHADOW_RATIO)


def _higher(pixels: Pixels, edges: tuple[int, int, int], area: Pixels, spacing: float, colored: Sequence[Color]) -> int:
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


def _refuse_cut(pixels: Pixels, edges: tuple[int, int, int], area: Pixels, colored: Sequence[Color]) -> None:
    """Refuse a frame that is none: an area that is filled below a curve has sides as well.

    Args:
        edges: left, top and right of the frame.

    Raises:
        PslcError: its background has a color of its own, or what is drawn in it goes on above it.
    """
    left, top, right = edges
    hint = "give the pixels where the ranges begin and end: --frame LEFT,TOP,RIGHT,BOTTOM"
    behind = colors.background(area)
    if np.ptp(behind) > MAX_BACKGROUND_SPREAD:
        raise RecordingError("what looks like the frame of the plot may be an area filled below a curve", hint)
    above = pixels[max(0, top - CUT_PX) : max(0, top - CUT_MARGIN_PX), left : right + 1]
    for color in colored:
        if color.is_grey(behind) or not above.size:
            continue
        levels = min(CUT_LEVELS, color.contrast / 2)
        near = np.linalg.norm(above.astype(float) - np.array(color.rgb, dtype=float), axis=2) < levels
        # As high as what was looked at: a label is not.
        if near.all(axis=0).mean() > MIN_CUT_RATIO:
            raise RecordingError(f"what is {colors.name(color.rgb)} goes on above what looks like the plot", hint)


def _refuse_scattered(
    scattered: Sequence[tuple[Color, trace.Trace]], traced: Sequence[tuple[Color, trace.Trace]]
) -> None:
    """Refuse a chart with a color all over its width that is on no one curve.

    Raises:
        PslcError: there is one.
    """
    for color, path in scattered:
        wide = np.ptp(path.columns) > MIN_SCATTERED_RATIO * color.core.shape[1]
        if wide and path.visible.mean() > MIN_SCATTERED_RATIO / 2:
            name = traced[0][0].hex if traced else "#rrggbb"
            raise RecordingError(
                f"what is {colors.name(color.rgb)} is all over the plot, but on no one curve",
                f"name the curves to be read, for example --series '{name}'",
            )


def _refuse_second(ruled: _Ruled, traced: Sequence[tuple[Color, trace.Trace]]) -> None:
    """Refuse a color with a second curve.

    Raises:
        PslcError: what is left of a color without its curve is one.
    """
    for color, path in traced:
        if path.filled:
            continue
        height, width = color.core.shape
        row, half = (np.interp(np.arange(width), path.columns, values) for values in (path.rows, path.half))
        reach = half + path.stroke + LEFTOVER_PX
        left = color.core & (np.abs(np.arange(height)[:, None] - row) > reach)
        second = trace.follow(left, left.astype(float), np.zeros_like(left), ruled.rows_and_columns)
        if second is not None and _is_curve(second, width):
            raise RecordingError(
                f"two curves seem to be {colors.name(color.rgb)}", "read others by --series COLOR, one at a time"
            )


def _refuse_missing(pixels: Pixels, traced: Sequence[tuple[Color, trace.Trace]]) -> None:
    """Refuse a chart whose legend names more curves than were seen.

    Raises:
        PslcError: it does.
    """
    count = legend.named(pixels)
    if count > len(traced):
        raise RecordingError(
            f"the legend seems to name {count} curves, and {len(traced)} were seen",
            f"name those to be read, for example --series '{traced[0][0].hex}'" if traced else "--series '#rrggbb'",
        )


def _is_curve(path: trace.Trace, wide: int) -> bool:
    """Whether what is left of a picture is one more curve."""
    return bool(
        path.leaps < LEFTOVER_LEAPS_RATIO
        and np.ptp(path.columns) > MIN_GREY_SPAN_RATIO * wide
        and path.visible.sum() > MIN_LEFTOVER_RATIO * np.ptp(path.columns)
        and path.explained > trace.MIN_EXPLAINED_RATIO
    )


def _refuse_leftover(area: Pixels, ruled: _Ruled, traced: Traced, below: Traced) -> None:
    """Refuse a chart with another curve, whose colour cannot be told from those of others.

    Raises:
        PslcError: what is left of the picture without the curves has one.
    """
    behind = colors.background(area)
    contrast = np.linalg.norm(area.astype(np.float32) - behind.astype(np.float32), axis=2)
    left = (contrast > LEFTOVER_LEVELS) & ~ruled.drawn
    for color, path in traced:
        near = colors.widened(color.core, LEFTOVER_PX)
        if path.filled:
            near |= np.arange(len(area))[:, None] >= np.interp(np.arange(area.shape[1]), path.columns, path.rows)
        left &= ~near
    for color, _ in below:
        left &= ~colors.widened(color.core, LEFTOVER_PX)
    another = trace.follow(left, left.astype(float), np.zeros_like(left), ruled.rows_and_columns)
    if (
        another is not None
        and _is_curve(another, area.shape[1])
        and np.ptp(another.rows) > MAX_FLAT_PX
        and not _is_shadow(another, [path for _, path in traced])
    ):
        raise RecordingError(
            "there is another curve, and its colour cannot be told from others'",
            f"name those to be read, for example --series '{traced[0][0].hex}'" if traced else "--series '#rrggbb'",
        )


def _named(traced: list[tuple[Color, trace.Trace]]) -> list[_Named]:
    """Curves with the names of their colours; the code of the colour where two have one name."""
    names = [colors.name(color.rgb) for color, _ in traced]
    return [
        _Named(name if names.count(name) == 1 else color.hex, color, path)
        for name, (color, path) in zip(names, traced, strict=True)
    ]


def _curve(of: _Named, x: Axis, y: Axis, corner: tuple[int, int], other_curves: Mask) -> Curve:
    """The values of a curve.

    Args:
        corner: left and top of the frame.
        other_curves: pixels of the other curves.

    Raises:
        PslcError: it is not clear enough.
    """
    path, name = of.path, of.name
    hidden, among = 1 - path.visible.mean(), bool(other_curves.any())
    trouble = ""
    if path.explained < trace.MIN_EXPLAINED_RATIO:
        trouble = f"{100 * (1 - path.explained):.0f} % of what is {name} is not on one curve"
    elif among and hidden > MAX_HIDDEN_RATIO:
        trouble = f"{100 * hidden:.0f} % of the {name} curve are hidden by others"
    elif trace.is_hidden_beyond(path, other_curves):
        trouble = f"a part of the {name} curve is hidden by others, at its beginning or its end"
    if trouble:
        other = "read others by --series COLOR, " if among else ""
        raise RecordingError(trouble, f"{other}or give a picture in which it can be seen from its beginning to its end")
    columns, rows = path.columns + corner[0], path.rows + corner[1]
    whole = np.arange(columns[0], columns[-1] + 1)
    filled = _steepened(np.interp(whole, columns, rows), y)
    half = np.interp(whole, columns, np.where(path.visible, path.half, path.stroke))
    pixel_error = FRAME_ERROR_PX + path.stroke / 4 + half / 4
    return Curve(
        name, of.color.rgb, x.values(whole), y.values(filled), x.per_pixel * (FRAME_ERROR_PX + path.stroke / 2),
        y.per_pixel * pixel_error, whole, filled,
    )  # fmt: skip


def _steepened(rows: Floats, y: Axis) -> Floats:
    """Rows with a step in place of each steep stroke: a program draws one from a sample to the next, and no drive
    wrote at the speeds in between."""
    colored = rows.copy()
    high = abs(y.at_high - y.at_low)
    for sign in (1.0, -1.0):
        for start, end in frame.runs(sign * np.diff(rows) > STEEP_PX):
            if sign * (rows[end] - rows[start]) > MIN_CLIFF_RATIO * high and end - start <= MAX_STROKE_RATIO * len(
                rows
            ):
                middle = (rows[start] + rows[end]) / 2
                part = rows[start : end + 1]
                colored[start : end + 1] = np.where(sign * (part - middle) < 0, rows[start], rows[end])
    return colored


def _chosen(curves: list[_Named], series: Sequence[str]) -> list[_Named]:
    """The curves of the colours that were asked for, in that order; all where none was.

    Raises:
        PslcError: there are none of them, or several.
    """
    alike = [
        entry
        for entry in curves
        if entry.name == entry.color.hex and not all(_are_apart(entry, other) for other in curves if other is not entry)
    ]
    if alike and not series:
        names = gate.listed(f"{entry.name} ({colors.name(entry.color.rgb)})" for entry in alike)
        raise RecordingError(
            f"shades of one color, which may be one curve: {names}",
            f"name the curves to be read, for example --series '{alike[0].name}'",
        )
    if not curves:
        raise RecordingError(
            "no curve was found in the chart", "say which colour it has: --series blue or --series '#1f77b4'"
        )
    return [_of_color(curves, word) for word in series] if series else curves


def _are_apart(entry: _Named, other: _Named) -> bool:
    """Whether two curves are of different colours, or are two for sure: both are seen beside each other."""
    if colors.name(entry.color.rgb) != colors.name(other.color.rgb):
        return True
    common, first, second = np.intersect1d(entry.path.columns, other.path.columns, return_indices=True)
    visible = entry.path.visible[first] & other.path.visible[second]
    away = (
        np.abs(entry.path.rows[first] - other.path.rows[second]) > max(entry.path.stroke, other.path.stroke) + SHADOW_PX
    )
    clear = all(
        min(path.explained, path.visible.mean()) >= shades.MIN_JOINED_RATIO and path.leaps < trace.MAX_LEAPS_RATIO / 2
        for path in (entry.path, other.path)
    )
    return bool(clear and (visible & away).sum() > MIN_SEEN_APART_RATIO * entry.color.core.shape[1] and len(common))


def _of_color(curves: list[_Named], word: str) -> _Named:
    names = f"the curves are {gate.listed(f'{curve.name} ({curve.color.hex})' for curve in curves)}"
    named = [curve for curve in curves if word.lower() in (curve.name, colors.name(curve.color.rgb))]
    if len(named) == 1:
        return named[0]
    rgb = colors.parse(word)
    if named or rgb is None:
        raise RecordingError(f"--series {word} fits {'several curves' if named else 'no curve'}", names)
    distances = [float(np.linalg.norm(np.subtract(curve.color.rgb, rgb))) for curve in curves]
    near, *far = np.argsort(distances)
    if distances[near] > colors.MAX_NAMED_LEVELS or (far and distances[far[0]] < 1.5 * distances[near]):
        raise RecordingError(f"--series {word} fits no curve", names)
    return curves[int(near)]
