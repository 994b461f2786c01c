"""Curves among the colours of a chart: each is traced, and what is text, a filled area or a soft edge is left out."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from pslc.chart import colors, shades, trace
from pslc.chart.colors import Color
from pslc.chart.lines import Floats, Pixels
from pslc.chart.plot_area import Ruled

MIN_GREY_EXPLAINED_RATIO: Final = 0.8
"""Smallest share of a grey's pixels that lie on its curve. Labels are grey as well."""
MIN_GREY_SPAN_RATIO: Final = 0.35
"""Length of the shortest curve in a grey, or in a colour that is mostly elsewhere, as a share of the frame's width."""
MAX_FLAT_PX: Final = 2.0
"""Height of a grey curve from which on it is no line of the grid."""
MIN_GREY_LEVELS: Final = 90.0
"""The least contrast of a grey curve, 0 to 441."""
MAX_ON_GRID_RATIO: Final = 0.6
"""Largest share of a curve's pixels on grid lines, if the curve is drawn over an area."""
SHADOW_PX: Final = 3.0
"""Largest distance between a line and the area that is filled below it, in pixels."""
MIN_SHADOW_RATIO: Final = 0.8
"""Smallest share of a colour's columns that begin at another line, if the colour fills the area below that line."""
FILL_SHADOW_RATIO: Final = 0.025
"""Largest distance between a line and the half transparent area below it, as a share of the frame's height; noise
widens it."""
MIN_FILL_RATIO: Final = 0.05
"""Smallest height of a filled area, as a share of the frame's height."""

Traced = list[tuple[Color, trace.Trace]]
"""Colours of curves, each with the path of its curve."""


def trace_curves(area: Pixels, ruled: Ruled) -> tuple[Traced, Traced, Traced]:
    """Colours that are of a curve, with it; those that are too scattered to be one, as labels are; and those of what is
    filled below a curve, and of soft edges."""
    behind = colors.background(area)
    colored = shades.joined(colors.find(area, ruled.drawn), area, behind, ruled.rows_and_columns)
    every = np.zeros(area.shape[:2], dtype=bool)
    for color in colored:
        every |= color.core
    traced, scattered = [], []
    for color in colored:
        if color.contrast < MIN_GREY_LEVELS and _is_of_grid(color, colored, ruled):
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


def _is_of_grid(color: Color, colored: Sequence[Color], ruled: Ruled) -> bool:
    """Whether a faint colour is of the grid, or of the soft edges of stronger ones where these are not."""
    edges = np.zeros_like(color.core)
    for other in colored:
        if other.contrast > color.contrast:
            edges |= colors.widened(other.core, colors.FRINGE_PX)
    own = color.core & ~edges
    return not own.any() or bool(ruled.rows_and_columns[own].mean() > MAX_ON_GRID_RATIO)


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
    holes = path.visible.sum() < trace.MIN_SOLID_RATIO * (np.ptp(path.columns) + 1)
    return scattered or (path.explained < trace.MIN_EXPLAINED_RATIO and (holes or span < MIN_GREY_SPAN_RATIO))


def _without_shadows(traced: Traced, ruled: Ruled, behind: Floats) -> Traced:
    """Curves but for areas that are filled below another of them, and its soft edges: they begin at a line that has
    more contrast."""
    areas = [(color, path) for color, path in traced if path.filled]
    lines_ = [entry for entry in traced if not any(_is_within(*entry, *area, ruled) for area in areas)]
    kept: Traced = []
    for color, path in sorted(lines_, key=lambda entry: -entry[0].contrast):
        reach = SHADOW_PX
        if shades.is_blend(color, [other for other, _ in kept], behind):
            high = len(color.core)
            tall = path.filled or path.stroke > MIN_FILL_RATIO * high
            reach = max(2 * SHADOW_PX, FILL_SHADOW_RATIO * high if tall else 0.0)
        stronger = [line for other, line in kept if color.contrast < shades.MIN_FULL_RATIO * other.contrast]
        if not is_shadow(path, stronger, reach):
            kept.append((color, path))
    return kept


def _is_within(color: Color, path: trace.Trace, fill: Color, area: trace.Trace, ruled: Ruled) -> bool:
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


def is_shadow(path: trace.Trace, lines_: Sequence[trace.Trace], reach: float = SHADOW_PX) -> bool:
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
