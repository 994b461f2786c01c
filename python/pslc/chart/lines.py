"""Straight lines of a picture, level or upright: axes, grids, boxes and the borders of areas of one colour."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
"""Red, green and blue, shape (height, width, 3)."""
Floats = NDArray[np.float64]

MIN_STEP_LEVELS: Final = 6
"""Faintest edge that is detected, of 255. Spreadsheets draw grids of 38 levels, plotly one of 18."""
MIN_LENGTH_RATIO: Final = 0.3
"""Length of the shortest line of a frame or a grid, as a share of the picture's width or height."""
MIN_DENSITY_RATIO: Final = 0.55
"""Share of a line's length that has to be drawn: curves and labels lie over it."""
MIN_BORDER_RATIO: Final = 0.93
"""Share of an area's border that must be visible, where nothing lies over it."""
MIN_SHARE: Final = 0.4
"""Smallest share of a line's usual contrast that remains below a half transparent area."""
MAX_THICKNESS_PX: Final = 8
STEP_SHARE: Final = 0.5
"""An edge of no more than this share of a line's contrast that does not come back is the border of an area."""
BESIDE_PX: Final = 4
"""Distance in pixels from an area's border at which its two sides are compared."""
END_PX: Final = 5
"""Pixels in a row that show where a line ends."""


@dataclass(frozen=True)
class Straight:
    """A level or an upright line.

    Attributes:
        at: its middle, across, in pixels; the centre of the first pixel is at 0.
        start, end: its ends, along.
        thickness: in pixels; 0 for the border of an area.
        color: of the line; of an area's border the colour behind it.
    """

    at: float
    start: int
    end: int
    thickness: float
    color: tuple[int, int, int]

    @property
    def length(self) -> int:
        """Length of the line in pixels."""
        return self.end - self.start + 1


@dataclass(frozen=True)
class _Edge:
    row: int
    start: int
    end: int
    step: Floats


def level(pixels: Pixels) -> list[Straight]:
    """Level lines, from the top to the bottom."""
    edges: list[_Edge] = []
    wide = pixels.shape[1]
    shortest = MIN_LENGTH_RATIO * wide
    for row in range(pixels.shape[0] - 1):
        step = pixels[row + 1].astype(np.int16) - pixels[row]
        drawn = np.abs(step).max(axis=1) > MIN_STEP_LEVELS
        if np.count_nonzero(drawn) >= MIN_DENSITY_RATIO * shortest:
            edges += _edges(row, step, drawn, shortest)
    return _lines(pixels, edges)


def upright(pixels: Pixels) -> list[Straight]:
    """Upright lines, from the left to the right."""
    return level(np.ascontiguousarray(pixels.transpose(1, 0, 2)))


def _edges(row: int, step: NDArray[np.int16], drawn: NDArray[np.bool_], shortest: float) -> list[_Edge]:
    """The edge below a row, if it is long: pixels that all change by nearly the same."""
    usual = np.median(step[drawn], axis=0)
    size = float(np.abs(usual).max())
    if size <= MIN_STEP_LEVELS / 2:
        return []
    # Fainter where a half transparent area lies over it.
    share = step @ usual / (usual @ usual)
    astray = np.abs(step - share[:, None] * usual).max(axis=1)
    alike = (share > MIN_SHARE) & (share < 1 / MIN_SHARE) & (astray <= max(0.5 * size, MIN_STEP_LEVELS)) & drawn
    edges = [_Edge(row, *ends, usual) for ends in [_ends(alike, shortest, MIN_DENSITY_RATIO)] if ends]
    # The border of an area in which a curve is filled is of several colours, and has no holes.
    ends = _ends(drawn, shortest, MIN_BORDER_RATIO)
    if ends and (not edges or ends[1] - ends[0] > 1.2 * (edges[0].end - edges[0].start)):
        return [_Edge(row, *ends, usual)]
    return edges


def _ends(flags: NDArray[np.bool_], shortest: float, density: float) -> tuple[int, int] | None:
    """First and last place of a line that is drawn where flags are true; None where it is short or has holes."""
    solid = np.convolve(flags, np.ones(END_PX), "same") >= END_PX - 1
    if not solid.any():
        return None
    places = np.flatnonzero(solid)
    start, end = max(int(places[0]) - 1, 0), min(int(places[-1]) + 1, len(flags) - 1)
    start += int(np.argmax(flags[start:]))
    end -= int(np.argmax(flags[end::-1]))
    if end - start + 1 < shortest or flags[start : end + 1].mean() < density:
        return None
    return start, end


def _lines(pixels: Pixels, edges: list[_Edge]) -> list[Straight]:
    """One line for edges that lie close to each other: those of its two sides, and of its soft ones."""
    groups: list[list[_Edge]] = []
    for edge in edges:
        last = groups[-1] if groups else []
        if last and edge.row - last[-1].row <= 3 and edge.row - last[0].row <= MAX_THICKNESS_PX:
            last.append(edge)
        else:
            groups.append([edge])
    lines = [_line(pixels, group) for group in groups]
    return [line for line in lines if line.thickness > 0 or _separates(pixels, line)]


def _separates(pixels: Pixels, border: Straight) -> bool:
    """Whether the two sides of an area's border are of different colours; else it is the edge of text or of a curve."""
    above = pixels[max(0, int(border.at) - BESIDE_PX), border.start : border.end + 1]
    below = pixels[min(len(pixels) - 1, int(border.at) + 1 + BESIDE_PX), border.start : border.end + 1]
    apart = np.abs(above.astype(np.int16) - below).max(axis=1) > MIN_STEP_LEVELS
    return bool(apart.mean() >= MIN_DENSITY_RATIO)


def _line(pixels: Pixels, group: list[_Edge]) -> Straight:
    height = np.cumsum([edge.step for edge in group], axis=0)
    size = np.abs(height).max(axis=1)
    longest = max(group, key=lambda edge: edge.end - edge.start)
    spans = [(edge.row + 1, after.row + 1, high) for (edge, after), high in zip(pairwise(group), size, strict=False)]
    net, peak = float(size[-1]), float(size.max())
    if len(group) == 1 or (net > STEP_SHARE * peak and peak < 1.3 * net):
        largest = max(group, key=lambda edge: float(np.abs(edge.step).max()))
        color = np.median(pixels[largest.row + 1, longest.start : longest.end + 1], axis=0)
        return Straight(largest.row + 0.5, longest.start, longest.end, 0.0, _rgb(color))
    weight = sum((to - at) * high for at, to, high in spans)
    centre = sum((to - at) * high * (at + to - 1) / 2 for at, to, high in spans) / weight
    row = min(max(round(centre), 0), pixels.shape[0] - 1)
    color = np.median(pixels[row, longest.start : longest.end + 1], axis=0)
    return Straight(float(centre), longest.start, longest.end, float(weight / peak), _rgb(color))


def _rgb(color: Floats) -> tuple[int, int, int]:
    red, green, blue = (round(float(value)) for value in color)
    return red, green, blue
