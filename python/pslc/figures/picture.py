"""Pictures and tables as plain data, which the terminal and the page draw, each in its way."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Line:
    """One line of a picture.

    Attributes:
        x, y: finite numbers, shapes (n,), in the units of the axes.
        style: `line`, `dotted`, `filled` (down to 0) or `points` (a line with its points marked).
    """

    name: str
    x: ArrayLike
    y: ArrayLike
    style: str = "line"

    @property
    def points(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """x and y as arrays."""
        return np.asarray(self.x, dtype=np.float64), np.asarray(self.y, dtype=np.float64)

    def thinned(self, most: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """At most so many points: means of neighbours, without what is not finite."""
        x, y = self.points
        some = np.isfinite(x) & np.isfinite(y)
        x, y = x[some], y[some]
        if len(x) > most:
            x, y = (np.array([part.mean() for part in np.array_split(column, most)]) for column in (x, y))
        return x, y


@dataclass(frozen=True)
class Band:
    """A stretch of the x axis with a word at height `y`; every second one is shaded."""

    start: float
    end: float
    word: str
    y: float


@dataclass(frozen=True)
class Picture:
    """Lines over two axes.

    Attributes:
        name: `speed-bytes`; one picture of that name on a page.
        x, y: what the axes show, with the unit: `GB written`, `MB/s`.
        rows: names of the places 0, 1, 2... of the x axis, where it has no numbers; lines are bars then.
    """

    name: str
    title: str
    x: str
    y: str
    lines: Sequence[Line]
    log_x: bool = False
    log_y: bool = False
    bands: Sequence[Band] = ()
    rows: Sequence[str] = ()


@dataclass(frozen=True)
class Table:
    """Rows of text under names of columns; `words` are the columns set to the left, all others are numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[str] = ()
