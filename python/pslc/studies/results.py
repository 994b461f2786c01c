"""Results of a study: a folder of Parquet files, a row for each point.

points.parquet     all that was found, in the order of the study
new-NNNNNN.parquet what was found since, while the study runs or after it was killed
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

import numpy as np

from pslc._native import version
from pslc.base import gate, writer
from pslc.base.errors import GuardError, JobError
from pslc.studies.points import Point
from pslc.studies.rows import Row, Value

if TYPE_CHECKING:
    from arro3.core import Array, Table

WHOLE: Final = "points.parquet"
FILE: Final = gate.Expected(
    "remove it, and its points are run again; or give --save another folder", JobError, gate.MAX_LOG_BYTES
)
EVERY_S: Final = 1.0
"""Interval in seconds at which new rows are saved; a killed study loses at most these."""
OWN: Final = ("command", "stands_on", "version", "error", "wall_s")
"""Columns that every row has, beside axes and findings."""

Key = tuple[str, str, str]


class Results:
    """The rows in a folder, by the command that makes each, the files it stands on, and the version of pslc."""

    def __init__(self, folder: Path) -> None:
        """
        Raises:
            PslcError: what is there is no study's.
        """
        self._folder, self._rows = folder, dict[Key, Row]()
        self._new, self._written_at = list[Row](), monotonic()
        if folder.exists() and not folder.is_dir():
            raise JobError(f"{folder} is not a folder", "give --save a new folder, or that of this study")
        for path in sorted(folder.glob("*.parquet"), key=lambda path: (path.name != WHOLE, path.name)):
            for row in _read(path):
                self._rows[_key(row)] = row
        self._parts = sorted(folder.glob("new-*.parquet"))
        self._number = max((int(path.stem.removeprefix("new-")) for path in self._parts), default=0)

    def has(self, point: Point) -> bool:
        """Whether it need not be run."""
        return _key_of(point) in self._rows

    def add(self, point: Point, row: Row) -> None:
        """Keep what a point gave; on disk within `EVERY_S` while points come."""
        command, stands_on, of = _key_of(point)
        kept = _axes(point) | {"command": command, "stands_on": stands_on, "version": of}
        kept |= {"error": row["error"], "wall_s": row["wall_s"]}
        # Nothing found is a null in either case.
        kept |= {name: value for name, value in row.items() if name not in kept and value is not None}
        self._rows[_key(kept)] = kept
        self._new.append(kept)
        if monotonic() > self._written_at + EVERY_S:
            self.write()

    def write(self) -> None:
        """Put what is new on disk, in a file of its own."""
        self._written_at = monotonic()
        if self._new:
            self._number += 1
            path = self._folder / f"new-{self._number:06}.parquet"
            _write(table(self._new), path)
            self._parts.append(path)
            self._new.clear()

    def finish(self, points: Sequence[Point]) -> None:
        """Make one file of all: the rows of these points in their order, then older ones."""
        rows = self.of(points)
        mine = {_key(row) for row in rows}
        _write(table([*rows, *(row for key, row in self._rows.items() if key not in mine)]), self._folder / WHOLE)
        for path in self._parts:
            with suppress(GuardError):  # somebody else put it there
                writer.remove(path)
        self._parts.clear()
        self._new.clear()

    def of(self, points: Iterable[Point]) -> list[Row]:
        """The rows of points, in their order; of those that there are."""
        return [self._rows[key] for key in map(_key_of, points) if key in self._rows]


def _key_of(point: Point) -> Key:
    return point.command, point.stands_on, version()


def _key(row: Row) -> Key:
    return str(row["command"]), str(row["stands_on"]), str(row["version"])


def _axes(point: Point) -> Row:
    return {key: int(value) if key == "seed" and int(value) < 2**63 else value for key, value in point.values}


def table(rows: Sequence[Row]) -> Table:
    """Rows as an Arrow table: axes, `OWN`, then findings by name. What a row lacks is null.

    Whole numbers are int64 where all of a column are, float64 otherwise; a column of different kinds is text.
    """
    from arro3.core import Table

    columns: dict[str, Array] = {}
    axes = dict.fromkeys(name for row in rows for name in takewhile(lambda name: name != OWN[0], row))
    findings = {name for row in rows for name in row} - {*axes, *OWN}
    for name in [*axes, *OWN, *sorted(findings, key=_natural)]:
        columns[name] = _array([row.get(name) for row in rows])
    return Table.from_arrays(list(columns.values()), names=list(columns))


def _array(values: list[Value]) -> Array:
    """A column of the type that holds all of its values, numpy's numbers as the numbers that they are."""
    from arro3.core import Array, DataType

    values = [value.item() if isinstance(value, np.generic) else value for value in values]
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return Array(values, DataType.bool())
    if kinds == {int}:
        return Array(values, DataType.int64())
    if kinds and kinds <= {int, float}:
        return Array([None if value is None else float(value) for value in values], DataType.float64())
    return Array([None if value is None else str(value) for value in values], DataType.utf8())


def _natural(name: str) -> list[tuple[int, str]]:
    """`phases_10` after `phases_9`."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in name.split("_")]


def _write(results: Table, path: Path) -> None:
    from arro3.io import write_parquet

    writer.folder(path.parent)
    # Into memory: the writer does not survive a full disk.
    memory = io.BytesIO()
    write_parquet(results, memory, compression="zstd(1)")
    writer.write(path, memory.getvalue())


def _read(path: Path) -> list[Row]:
    read_table = gate.table(path, FILE)
    columns = {name: read_table[name].to_pylist() for name in read_table.column_names}
    if missing := [name for name in OWN if name not in columns]:
        raise JobError(f"{path} is not of a study: it has no column {missing[0]}", "give --save another folder")
    # Which columns a row had follows from the others; what it lacks is null again.
    return [
        {name: values[at] for name, values in columns.items() if values[at] is not None or name in OWN}
        for at in range(read_table.num_rows)
    ]
