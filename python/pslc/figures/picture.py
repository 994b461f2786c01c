"""Pictures and tables as plain data, made once of a recording, a comparison, a fit or a study.

Values are in base units (bytes, bytes/s, seconds). `document` resolves words, units and ticks in one language; what it
returns is drawn by `text` (a terminal), `draw` (PNG, SVG, PDF) and figure.js (pages). A picture is its panels over one
x axis:

    y |----____        Panel: lines with bands and marks, or bars of the names on the x axis
    y |__/--\\__        Panel
      |::::..          Strip: a share along the x axis
      +-------- x
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

MAX_DASHED_POINTS = 500
"""Points of a line without a band from which on it is drawn without dashes."""


class Own(str):
    """A text that is data, such as a drive or a job: it is shown as it is, in every language."""

    __slots__ = ()


@dataclass(frozen=True)
class Label:
    """A word with a quantity, which stands at `{}` or behind the word: `cache ends at {}`, 690e9, `B`."""

    word: Text
    value: float
    unit: str


Text = str | Label | tuple["Text", ...]
"""A word of `vocabulary`, an `Own` text, a word with a quantity, or several of these."""
Style = Literal["line", "steps", "dotted", "filled", "points", "dots"]


@dataclass(frozen=True)
class Axis:
    """One axis.

    Attributes:
        word: quantity on the axis (`written`).
        unit: base unit of `pslc.figures.scale`; empty for plain numbers.
        log: base of a logarithmic axis, 10 or 2; 0: a linear one.
        names: texts of the places 0, 1, 2... of an axis without numbers.
    """

    word: Text
    unit: str = ""
    log: int = 0
    names: Sequence[Text] = ()


@dataclass(frozen=True)
class Mark:
    """A labeled point; a vertical line where `y` is None; a stretch of the x axis where it has an `end`, shaded where
    `y` is None."""

    x: float
    y: float | None
    label: Text
    end: float | None = None


@dataclass(frozen=True)
class Line:
    """One line.

    Attributes:
        x, y: shapes (n,); where y is not a number, the line has a gap.
        style: `line`, `steps` (each value up to the next x), `dotted`, `filled` (down to 0), `points` (a line with its
            points marked), `dots` (only points).
        low, high: band around y, shapes (n,); None: the line has none.
        marks: points of this line.
        hue, dash: number of its color and its dashes; None: by its place among the lines.
    """

    name: Text
    x: ArrayLike
    y: ArrayLike
    style: Style = "line"
    low: Floats | None = None
    high: Floats | None = None
    marks: Sequence[Mark] = ()
    hue: int | None = None
    dash: int | None = None

    @property
    def points(self) -> tuple[Floats, Floats]:
        """x and y as arrays."""
        return np.asarray(self.x, dtype=np.float64), np.asarray(self.y, dtype=np.float64)

    def looks(self, number: int) -> tuple[int, int]:
        """Numbers of its color and its dashes, if it is line `number` of its panel: lines differ by more than their
        color, but dashes of a ragged line would be a cloud."""
        own = number if self.dash is None else self.dash
        return number if self.hue is None else self.hue, 0 if self.is_ragged else own

    @property
    def is_ragged(self) -> bool:
        """Whether it is drawn without dashes."""
        return self.low is None and len(self.points[1]) > MAX_DASHED_POINTS

    @property
    def top(self) -> Floats:
        """Upper edge of the line with its band, shape (n,): a mean may be above most of what it is of."""
        return self.points[1] if self.high is None else np.maximum(self.points[1], self.high)


@dataclass(frozen=True)
class Bars:
    """One series of bars: a value for each name of the x axis, None where it was not measured.

    Attributes:
        low, high: ends of the intervals; empty: the values have none.
    """

    name: Text
    values: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    hue: int | None = None


@dataclass(frozen=True)
class Panel:
    """Lines or bars over one y axis.

    Attributes:
        marks: vertical lines, and stretches of the x axis, of which every second one is shaded.
        title: what tells it apart from the other panels; empty where its axis does.
    """

    y: Axis
    lines: Sequence[Line] = ()
    bars: Sequence[Bars] = ()
    marks: Sequence[Mark] = ()
    title: Text = ""

    @property
    def names(self) -> list[Text]:
        """Names of its lines and its bars."""
        return [*(line.name for line in self.lines), *(bars.name for bars in self.bars)]

    @property
    def has_data(self) -> bool:
        """Whether there is a finite value to draw."""
        values = [value for bars in self.bars for value in bars.values if value is not None]
        return bool(values) or any(np.isfinite(line.points[1]).any() for line in self.lines)


@dataclass(frozen=True)
class Strip:
    """A share from 0 to 1 along the x axis, drawn as a strip of shades.

    Attributes:
        edges: positions on the x axis, ascending, shape (n + 1,).
        shares: shape (n,).
    """

    name: Text
    edges: Floats
    shares: Floats


@dataclass(frozen=True)
class Picture:
    """Panels over one x axis.

    Attributes:
        name: `speed-bytes`; one picture of that name on a page.
        note: what a band or a whisker means; empty where there is none.
    """

    name: str
    title: Text
    x: Axis
    panels: tuple[Panel, ...]
    strip: Strip | None = None
    note: Text = ""

    @property
    def has_data(self) -> bool:
        """Whether there is anything to draw."""
        return any(panel.has_data for panel in self.panels)

    @property
    def has_bars(self) -> bool:
        """Whether it has bars, which are drawn from left to right, a name of the x axis under the other."""
        return any(panel.bars for panel in self.panels)

    @property
    def lines(self) -> list[Line]:
        """Lines of all panels."""
        return [line for panel in self.panels for line in panel.lines]


@dataclass(frozen=True)
class Table:
    """Rows of text under names of columns; `words` are the columns set to the left, all others are numbers. `bars`: of
    columns whose cells have a bar, its length in each row, from 0 to 1."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[str] = ()
    bars: Mapping[str, Sequence[float]] = field(default_factory=dict)
