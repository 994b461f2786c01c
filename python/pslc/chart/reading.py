"""Reading of a chart: its axes, its curves, and the errors of their values."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from pslc.base import words
from pslc.base.errors import RecordingError
from pslc.chart import frame, lines, trace
from pslc.chart.axes import Axis
from pslc.chart.colors import Mask
from pslc.chart.frame import Frame
from pslc.chart.lines import Floats, Pixels
from pslc.chart.plot_area import Wanted, axes_of, ruled_lines, top_row
from pslc.chart.refusals import (
    refuse_bars,
    refuse_cut,
    refuse_leftover,
    refuse_missing,
    refuse_right_axis,
    refuse_scattered,
    refuse_second,
)
from pslc.chart.selection import NamedCurve, named_curves, selected
from pslc.chart.tracing import Traced, trace_curves

MIN_SIZE_PX: Final = 200
"""Width and height of a picture: in a smaller one a pixel is more than a percent of the plot."""
MAX_HIDDEN_RATIO: Final = 0.3
"""Largest share of a curve that others may hide."""
FRAME_ERROR_PX: Final = 1.0
"""Error of the position of a side of the frame, in pixels."""
STEEP_PX: Final = 2.5
"""Rows from one column to the next from which on a curve is a stroke between two samples."""
MIN_CLIFF_RATIO: Final = 0.05
"""Smallest height of a steep stroke that is a step, as a share of the plot's height."""
MAX_STROKE_RATIO: Final = 0.03
"""Largest width of a steep stroke, as a share of the curve's columns."""
MAX_LINE_RATIO: Final = 0.08
"""Largest usual height of a line and its markers, as a share of the plot's height; higher ones wave within a pixel."""


@dataclass(frozen=True)
class Curve:
    """A curve as it was read.

    Attributes:
        name, rgb: of its colour.
        x, speed: values at each column of pixels, in bytes or seconds, and bytes/s; shape (n,).
        x_error, speed_error: how far each value of x, and each speed, may be off; shape (n,).
        columns, rows: pixels of the picture, shape (n,).
        caution: why its speeds may be off by more than a line is wide; empty: they are not.
        is_area: whether it is the upper edge of a filled area.
    """

    name: str
    rgb: tuple[int, int, int]
    x: Floats
    speed: Floats
    x_error: Floats
    speed_error: Floats
    columns: Floats
    rows: Floats
    caution: str
    is_area: bool


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
    plot, x, y = axes_of(pixels, level, upright, wanted)
    left, top = max(0, math.ceil(plot.left)), max(0, math.ceil(plot.top))
    right, bottom = min(width - 1, math.floor(plot.right)), min(height - 1, math.floor(plot.bottom))
    area = pixels[top : bottom + 1, left : right + 1]
    ruled = ruled_lines(area, (left, top), level, upright)
    traced, scattered, below = trace_curves(area, ruled)
    higher = top_row(pixels, (left, top, right), area, y.spacing, [color for color, _ in traced])
    if wanted.frame is None and higher < top:
        top = higher
        area = pixels[top : bottom + 1, left : right + 1]
        ruled = ruled_lines(area, (left, top), level, upright)
        traced, scattered, below = trace_curves(area, ruled)
    if wanted.frame is None:
        refuse_cut(pixels, (left, top, right), area, [color for color, _ in traced])
    if not wanted.series:
        refuse_scattered(scattered, traced)
        refuse_leftover(area, ruled, traced, below)
        refuse_second(ruled, traced)
        refuse_bars(traced)
        refuse_right_axis(pixels, plot, traced)
        refuse_missing(pixels, traced)
    chosen = selected(named_curves(traced), wanted.series)
    curves = [_curve(entry, x, y, (left, top), _other_pixels(entry, traced, area)) for entry in chosen]
    return Reading(pixels, plot, x, y, tuple(curves), (x.note, y.note))


def _other_pixels(of: NamedCurve, traced: Traced, area: Pixels) -> Mask:
    """Pixels of the curves but one."""
    colored = np.zeros(area.shape[:2], dtype=bool)
    for color, _ in traced:
        colored |= color.core & (color is not of.color)
    return colored


def _curve(of: NamedCurve, x: Axis, y: Axis, corner: tuple[int, int], other_curves: Mask) -> Curve:
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
    is_band = path.stroke > MAX_LINE_RATIO * abs(y.at_high - y.at_low)
    if is_band and np.median(np.abs(np.diff(path.bottoms[path.visible]))) < 1:
        raise RecordingError(
            f"what is {name} is an area with a lower edge, so it is stacked on another, or a range of speeds",
            "give a chart with a line, or the log that the chart was drawn from",
        )
    if trouble:
        other = "read others by --series COLOR, " if among else ""
        raise RecordingError(trouble, f"{other}or give a picture in which it can be seen from its beginning to its end")
    columns, rows = path.columns + corner[0], path.rows + corner[1]
    whole = np.arange(columns[0], columns[-1] + 1)
    filled, between = _steepened(np.interp(whole, columns, rows), y)
    visible = columns[path.visible]
    between += (np.diff(visible)[np.clip(np.searchsorted(visible, whole), 1, visible.size - 1) - 1] - 1) / 2
    half = np.interp(whole, columns, np.where(path.visible, path.half, path.stroke))
    pixel_error = FRAME_ERROR_PX + (path.stroke + half) / (2 if is_band else 4)
    off = words.speed(y.per_pixel * path.stroke / 2)
    caution = (
        f"the {name} curve goes up and down within a pixel, so its mean may be off by {off}: give the log that the "
        "chart was drawn from"
    )
    return Curve(
        name, of.color.rgb, x.values(whole), y.values(filled),
        x.per_pixel * (FRAME_ERROR_PX + path.stroke / 2 + between), y.per_pixel * pixel_error, whole, filled,
        caution if is_band else "", path.filled,
    )  # fmt: skip


def _steepened(rows: Floats, y: Axis) -> tuple[Floats, Floats]:
    """Rows with a step in place of each steep stroke, and half the width of the stroke at each column, in pixels: a
    program draws one from a sample to the next, and no drive wrote at the speeds in between."""
    stepped, half = rows.copy(), np.zeros(rows.size)
    high = abs(y.at_high - y.at_low)
    for sign in (1.0, -1.0):
        for start, end in frame.runs(sign * np.diff(rows) > STEEP_PX):
            if sign * (rows[end] - rows[start]) > MIN_CLIFF_RATIO * high and end - start <= MAX_STROKE_RATIO * len(
                rows
            ):
                middle = (rows[start] + rows[end]) / 2
                part = rows[start : end + 1]
                stepped[start : end + 1] = np.where(sign * (part - middle) < 0, rows[start], rows[end])
                half[start : end + 1] = (end - start) / 2
    return stepped, half
