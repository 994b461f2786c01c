"""Pictures as text for a terminal: lines in Braille and strips in blocks, or all of it in ASCII."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pslc.base.console import PLAIN, wrapped
from pslc.figures.document import FigureJson, LineJson, MarkJson, PanelJson, Values, document
from pslc.figures.picture import Floats, Picture
from pslc.figures.scale import AxisJson

HEIGHT: Final = 14
"""Lines of a picture's panels together."""
MIN_HEIGHT: Final = 5
"""Lines of a panel below which it says nothing."""
BRAILLE: Final = 0x2800
DOTS: Final = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
"""Bits of a Braille character, by row and column of its dots."""
MARKERS: Final = "+xo#%@&"
"""Characters of the lines behind the first, and in ASCII of the first too."""
MAX_LINES: Final = 6
"""Lines of a panel that can be told apart in text."""
MAX_LABEL_SHIFT: Final = 4
"""Rows by which a label is moved to where it covers nothing."""


@dataclass(frozen=True)
class _Characters:
    """Characters of a charset: the frame, shades from empty to full, a vertical mark, a point."""

    corner: str
    across: str
    down: str
    shades: str
    mark: str
    point: str


BLOCKS: Final = _Characters("└", "─", "│", " ░▒▓█", "┊", "●")
ASCII: Final = _Characters("+", "-", "|", " .:*#", ":", "*")


def can_show(encoding: str | None) -> bool:
    """Whether an encoding has Braille and blocks."""
    try:
        (chr(BRAILLE + 255) + BLOCKS.shades + BLOCKS.corner).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def drawn(picture: Picture, width: int, *, ascii_only: bool = False, height: int = HEIGHT) -> list[str]:
    """A picture as lines of text, at most `width` wide; empty where it has nothing to draw, and for bars, whose values
    are in a table.

    Args:
        height: lines of all panels together.
    """
    if picture.has_bars or not picture.has_data:
        return []
    figure, characters = document(picture), ASCII if ascii_only else BLOCKS
    text = [*wrapped(figure["title"], width), *_curves(figure, width, height, characters)]
    return [line.translate(PLAIN).encode("ascii", "replace").decode() for line in text] if ascii_only else text


def _curves(figure: FigureJson, width: int, height: int, characters: _Characters) -> list[str]:
    x, panels, strip = figure["x"], figure["panels"], figure["strip"]
    margin = max(len(text) for panel in panels for _, text in panel["y"]["ticks"]) + 1
    room = width - margin - 1
    each = max(height // len(panels), MIN_HEIGHT)
    lines: list[str] = []
    named: list[str] = []
    for panel in panels:
        names = [line["name"] for line in panel["lines"]]
        drawn_panel = _panel(panel, _Grid(x, panel["y"], room, each, characters), margin)
        # One legend for panels that share it.
        lines += [panel["y"]["title"], *drawn_panel[-each:]] if names == named else drawn_panel
        named = names
    if strip is not None:
        edges, shares = _floats(strip["edges"]), _floats(strip["shares"])
        cells = x["low"] + (np.arange(room) + 0.5) / room * (x["high"] - x["low"])
        places = np.searchsorted(edges, cells) - 1
        steps = [math.ceil(4 * shares[place] - 0.01) if 0 <= place < len(shares) else 0 for place in places]
        lines.append(f"{' ' * margin}{characters.down}{''.join(characters.shades[step] for step in steps)}")
    lines += _bottom(x, margin, room, characters)
    if strip is not None:
        key = f"{strip['name']}: {characters.shades[1]} 25 %, {characters.shades[4]} 100 %"
        lines += wrapped(key, width, " " * (margin + 1))
    return lines


def _floats(values: Values) -> Floats:
    return np.array(values, dtype=np.float64)


def _places(axis: AxisJson, values: Floats, count: int) -> Floats:
    """Positions of values in `count` places, from 0."""
    low, high = axis["low"], axis["high"]
    with np.errstate(divide="ignore", invalid="ignore"):
        if axis["log"]:
            values, low, high = np.log(values), math.log(low), math.log(high)
        return np.asarray((values - low) / ((high - low) or 1.0) * (count - 1), dtype=np.float64)


class _Grid:
    """Characters of a panel: Braille dots of the first line, markers of the others, marks with their labels."""

    def __init__(self, x: AxisJson, y: AxisJson, width: int, height: int, characters: _Characters) -> None:
        self.x, self.y, self.width, self.height, self.characters = x, y, width, height, characters
        self.dots: NDArray[np.int64] = np.zeros((height, width), dtype=np.int64)
        self.cells = [[" "] * width for _ in range(height)]

    def row(self, value: float) -> int:
        """Row of a value of the y axis, from the top."""
        up = float(_places(self.y, np.array([value]), self.height)[0])
        return int(np.clip(self.height - 1 - round(up), 0, self.height - 1))

    def line(self, line: LineJson, marker: str) -> None:
        """Draw a line; a value that is not a number breaks it."""
        columns, rows = (self.width, self.height) if marker else (self.width * 2, self.height * 4)
        at, up = _places(self.x, _floats(line["x"]), columns), _places(self.y, _floats(line["y"]), rows)
        finite = np.isfinite(at) & np.isfinite(up)
        for place in np.flatnonzero(finite).tolist():
            joined = place + 1 < len(at) and finite[place + 1] and line["style"] != "dots"
            end = place + 1 if joined else place
            count = int(max(abs(at[end] - at[place]), abs(up[end] - up[place]))) + 2
            for column, row in np.round(np.linspace((at[place], up[place]), (at[end], up[end]), count)).astype(int):
                self._dot(column, rows - 1 - row, marker)

    def _dot(self, column: int, row: int, marker: str) -> None:
        if marker:
            if 0 <= row < self.height and 0 <= column < self.width:
                self.cells[row][column] = marker
        elif 0 <= row < self.height * 4 and 0 <= column < self.width * 2:
            self.dots[row // 4, column // 2] |= DOTS[row % 4, column % 2]

    def mark(self, mark: MarkJson) -> None:
        """Draw a vertical line, or a point, with its label where it covers nothing; of a stretch nothing, which a table
        tells."""
        if mark["end"] is not None and mark["y"] is not None:
            return
        column = int(np.clip(round(float(_places(self.x, np.array([mark["x"]]), self.width)[0])), 0, self.width - 1))
        row = 0 if mark["y"] is None else self.row(mark["y"])
        if mark["y"] is not None:
            self.cells[row][column] = self.characters.point
        for line in range(self.height) if mark["y"] is None else []:
            # A curve that is as narrow as the mark stays visible.
            if self.cells[line][column] == " " and not self.dots[line, column]:
                self.cells[line][column] = self.characters.mark
        label = " ".join(mark["texts"])
        for candidate in sorted(range(self.height), key=lambda other: abs(other - row))[: 2 * MAX_LABEL_SHIFT]:
            for start in (column + 2, column - 1 - len(label)):
                place = slice(start, start + len(label))
                fits = start >= 0 and start + len(label) <= self.width
                if fits and set(self.cells[candidate][place]) == {" "} and not self.dots[candidate, place].any():
                    self.cells[candidate][place] = label
                    return

    def rows(self) -> list[str]:
        """The panel, a string a row."""
        braille = [[chr(BRAILLE + bits) if bits else " " for bits in row] for row in self.dots.tolist()]
        return [
            "".join(cell if cell != " " else dots for cell, dots in zip(*row, strict=True))
            for row in zip(self.cells, braille, strict=True)
        ]


def _panel(panel: PanelJson, grid: _Grid, margin: int) -> list[str]:
    """Title with a legend, then the rows with the ticks of the y axis."""
    markers = ["" if grid.characters is BLOCKS else ASCII.point, *MARKERS][:MAX_LINES]
    named = list(zip(panel["lines"], markers, strict=False))
    for line, marker in reversed(named):
        grid.line(line, marker)
    for mark in [*panel["marks"], *(mark for line, _ in named for mark in line["marks"])]:
        grid.mark(mark)
    ticks = {grid.row(value): text for value, text in panel["y"]["ticks"]}
    rows = [f"{ticks.get(at, ''):>{margin - 1}} {grid.characters.down}{row}".rstrip()
            for at, row in enumerate(grid.rows())]  # fmt: skip
    legend = [f"{marker or chr(BRAILLE + 0x24)} {line['name']}" for line, marker in named]
    more = [f"+ {len(panel['lines']) - MAX_LINES}"] if len(panel["lines"]) > MAX_LINES else []
    return [*_wrapped(panel["y"]["title"], [*legend, *more][len(legend) < 2 :], margin + grid.width), *rows]


def _wrapped(title: str, legend: Sequence[str], width: int) -> list[str]:
    """The title of an axis with a legend, in as many lines as its names need."""
    lines = [title]
    for name in legend:
        joined = f"{lines[-1]}   {name}"
        lines[-1:] = [joined] if len(joined) <= width else [lines[-1], f"  {name}"]
    return lines


def _bottom(x: AxisJson, margin: int, room: int, characters: _Characters) -> list[str]:
    """The x axis, its ticks, and what it shows at its end."""
    line = [" "] * (room + margin + 1)
    end = -1
    for (_, text), place in zip(x["ticks"], _places(x, np.array([at for at, _ in x["ticks"]]), room), strict=True):
        start = min(max(margin + 1 + round(float(place)) - len(text) // 2, 0), len(line) - len(text))
        if start > end:
            line[start : start + len(text)] = text
            end = start + len(text)
    axis = f"{' ' * margin}{characters.corner}{characters.across * room}"
    return [axis, "".join(line).rstrip(), f"{x['title']:>{margin + 1 + room}}"]
