"""Charts that are refused, because a curve of theirs is cut off, doubled or missing among those that were traced."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.chart import colors, frame, legend, trace
from pslc.chart.colors import Color
from pslc.chart.frame import Frame
from pslc.chart.lines import Pixels
from pslc.chart.plot_area import CUT_MARGIN_PX, Ruled
from pslc.chart.tracing import MAX_FLAT_PX, MIN_GREY_SPAN_RATIO, Traced, is_shadow

LARGER: Final = "give a larger picture, or the log that the chart was drawn from"
LEFTOVER_LEVELS: Final = 80.0
"""Smallest contrast of marks that may be one more curve, 0 to 441."""
LEFTOVER_PX: Final = 4
"""Smallest distance of such marks from all curves that were read, in pixels."""
LEFTOVER_LEAPS_RATIO: Final = 0.04
"""Largest share of the columns of one more curve that are leaps."""
MIN_LEFTOVER_RATIO: Final = 0.6
"""Smallest share of the columns of one more curve in which it is visible."""
MAX_BACKGROUND_SPREAD: Final = 40.0
"""Between the channels of the plot's background, 0 to 255: themes have at most 20, filled areas more."""
CUT_PX: Final = 12
"""Height above the plot in which a curve that goes on is looked for, in pixels."""
CUT_LEVELS: Final = 90.0
"""Largest distance of a pixel above the plot from the colour of a curve, 0 to 441."""
MIN_CUT_RATIO: Final = 0.01
"""Smallest share of columns in which a curve goes on above the plot."""
BAR_FOOT_PX: Final = 6
"""Rows at the bottom of the plot that bars stand on, and their least width and height, in pixels."""
GRID_LINE_PX: Final = 4
"""Thickest line of the grid across a bar, in pixels."""
MIN_SCATTERED_RATIO: Final = 0.7
"""Smallest share of the plot's width at which marks are no label."""


def refuse_cut(pixels: Pixels, edges: tuple[int, int, int], area: Pixels, colored: Sequence[Color]) -> None:
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


def refuse_scattered(scattered: Traced, traced: Traced) -> None:
    """Refuse a chart with a color all over its width that is on no one curve.

    Raises:
        PslcError: there is one.
    """
    for color, path in scattered:
        wide = np.ptp(path.columns) > MIN_SCATTERED_RATIO * color.core.shape[1]
        if wide and path.visible.mean() > MIN_SCATTERED_RATIO / 2:
            raise RecordingError(
                f"what is {colors.name(color.rgb)} is all over the plot, but on no one curve", _hint(traced)
            )


def refuse_second(ruled: Ruled, traced: Traced) -> None:
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


def refuse_bars(traced: Traced) -> None:
    """Refuse bars, each of which is a figure of its own and no part of a curve.

    Raises:
        PslcError: a color stands on the bottom of the plot in blocks with level tops and gaps between them.
    """
    for color, _ in traced:
        filled = color.core[-BAR_FOOT_PX:].any(axis=0) & (color.core.sum(axis=0) > BAR_FOOT_PX)
        blocks = [part for part in frame.joined(frame.runs(filled), GRID_LINE_PX) if part[1] - part[0] > BAR_FOOT_PX]
        tops = [color.core[:, start:end].argmax(axis=0)[filled[start:end]][2:-2] for start, end in blocks]
        if len(tops) > 1 and all(top.size and np.ptp(top) <= MAX_FLAT_PX for top in tops):
            raise RecordingError(
                f"the picture has {len(tops)} {colors.name(color.rgb)} bars, which are no curve",
                "give a chart of speed over time or over bytes written; bars are figures, to be typed in as a table",
            )


def refuse_right_axis(pixels: Pixels, plot: Frame, traced: Traced) -> None:
    """Refuse to guess which of several curves is of the left axis.

    Raises:
        PslcError: labels stand along the right side as well.
    """
    if len(traced) > 1 and frame.has_right_axis(pixels, plot):
        curves = gate.listed(f"{colors.name(color.rgb)} ({color.hex})" for color, _ in traced)
        raise RecordingError(
            f"the right axis has marks of its own, so a curve may be of another quantity than speed: {curves}",
            "name one of the left axis with --series COLOR",
        )


def refuse_missing(pixels: Pixels, traced: Traced) -> None:
    """Refuse a chart whose legend names more curves than were seen.

    Raises:
        PslcError: it does.
    """
    count = legend.named(pixels)
    if count > len(traced):
        raise RecordingError(
            f"the legend seems to name {count} curves, and {len(traced)} were seen",
            _hint(traced),
        )


def refuse_leftover(area: Pixels, ruled: Ruled, traced: Traced, below: Traced) -> None:
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
        and not is_shadow(another, [path for _, path in traced])
    ):
        raise RecordingError(
            "there is another curve, and its colour is too close to those of others",
            _hint(traced),
        )


def _hint(traced: Traced) -> str:
    """The way to name a curve that was seen, or what to give where none was."""
    if not traced:
        return LARGER
    return f"name the curves to be read, for example --series '{traced[0][0].hex}'"


def _is_curve(path: trace.Trace, wide: int) -> bool:
    """Whether what is left of a picture is one more curve."""
    return bool(
        path.leaps < LEFTOVER_LEAPS_RATIO
        and np.ptp(path.columns) > MIN_GREY_SPAN_RATIO * wide
        and path.visible.sum() > MIN_LEFTOVER_RATIO * np.ptp(path.columns)
        and path.explained > trace.MIN_EXPLAINED_RATIO
    )
