"""Pictures and tables as plain data, which the terminal and the page draw, each in its way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

UNITS = {
    "minutes": ((2e-3 / 60, 60e6, "us"), (2 / 60, 60e3, "ms"), (3.0, 60.0, "seconds")),
    "GB": ((1e-3, 1e6, "kB"), (1.0, 1e3, "MB")),
}
"""Smaller units of an axis' unit: the value below which one is used, its number in the unit, its name."""


@dataclass(frozen=True)
class Line:
    """One line of a picture.

    Attributes:
        x, y: shapes (n,), in the units of the axes; where y is not a number, the line has a gap.
        style: `line`, `steps` (each value up to the next x, down to 0), `dotted`, `filled` (down to 0), `points` (a
            line with its points marked), `dots` (only points).
    """

    name: str
    x: ArrayLike
    y: ArrayLike
    style: str = "line"

    @property
    def points(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """x and y as arrays."""
        return np.asarray(self.x, dtype=np.float64), np.asarray(self.y, dtype=np.float64)

    def thinned(self, max_points: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Thin the line to at most `max_points` points: means of neighbours, without values that are not finite."""
        x, y = self.points
        some = np.isfinite(x) & np.isfinite(y)
        x, y = x[some], y[some]
        if len(x) > max_points:
            begin = np.arange(max_points) * len(x) // max_points
            count = np.diff(begin, append=len(x))
            x, y = (np.add.reduceat(column, begin) / count for column in (x, y))
        return x, y

    def broken(self, max_points: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """`thinned`, with a point that is not a number between parts of the line that are apart."""
        x, y = self.points
        some = np.isfinite(x) & np.isfinite(y)
        if some.all() or not some.any():
            return self.thinned(max_points)
        edges = np.flatnonzero(np.diff(some.astype(np.int8), prepend=0, append=0))
        parts = list(zip(edges[::2], edges[1::2], strict=True))
        share = max(max_points // len(parts), 2)
        pieces = [replace(self, x=x[start:end], y=y[start:end]).thinned(share) for start, end in parts]
        gap = np.array([np.nan])
        joined = [np.concatenate([part for piece in pieces for part in (piece[axis], gap)])[:-1] for axis in (0, 1)]
        return joined[0], joined[1]


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

    def in_fitting_units(self) -> "Picture":
        """This picture with axes in units that suit their numbers: `100 us`, not a millionth of a minute."""
        (by_x, x), (by_y, y) = (self._unit(axis) for axis in (0, 1))
        if by_x == by_y == 1.0:
            return self
        lines = [replace(line, x=line.points[0] * by_x, y=line.points[1] * by_y) for line in self.lines]
        bands = [replace(band, start=band.start * by_x, end=band.end * by_x, y=band.y * by_y) for band in self.bands]
        return replace(self, x=x, y=y, lines=lines, bands=bands)

    def _unit(self, axis: int) -> tuple[float, str]:
        """By how much to multiply the values of an axis, and what it shows then."""
        title = (self.x, self.y)[axis]
        unit, space, rest = title.partition(" ")
        values = [line.points[axis] for line in self.lines]
        largest = max((float(np.nanmax(some)) for some in values if np.isfinite(some).any()), default=0.0)
        for below, by, smaller in UNITS.get(unit, ()) if largest > 0 and not (self.rows and axis == 0) else ():
            if largest < below:
                return by, f"{smaller}{space}{rest}"
        return 1.0, title


@dataclass(frozen=True)
class Table:
    """Rows of text under names of columns; `words` are the columns set to the left, all others are numbers. `bars`: of
    columns whose cells have a bar, its length in each row, from 0 to 1."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[str] = ()
    bars: Mapping[str, Sequence[float]] = field(default_factory=dict)
