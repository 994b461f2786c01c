"""Tables of reads and writes in MB/s, as the classic benchmarks show them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from typing_extensions import TypedDict

from pslc.base import words
from pslc.figures.picture import Line, Picture, Table
from pslc.figures.tables import Column, of_rows


class Speeds(TypedDict):
    """Read and write speed of one test."""

    test: str
    read_bytes_per_s: float
    write_bytes_per_s: float


def table(title: str, rows: Sequence[Mapping[str, object]], more: list[Column] | None = None) -> Table:
    """Rows with `test`, `read_bytes_per_s`, `write_bytes_per_s`."""
    columns: list[Column] = [
        ("test", "test", str),
        ("read", "read_bytes_per_s", words.speed),
        ("write", "write_bytes_per_s", words.speed),
    ]
    speeds = {name: [_number(row.get(key)) for row in rows] for name, key, _ in columns[1:]}
    fastest = max((speed for column in speeds.values() for speed in column), default=0.0)
    shares = {name: [speed / fastest for speed in column] for name, column in speeds.items()} if fastest else {}
    return replace(of_rows(title, rows, [*columns, *(more or [])]), bars=shares)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def bars(name: str, title: str, rows: Sequence[Speeds]) -> Picture:
    """Reads and writes, row by row."""
    lines = []
    for key in ("read_bytes_per_s", "write_bytes_per_s"):
        some = [(index, speed / 1e6) for index, row in enumerate(rows) if (speed := row[key])]
        if some:
            lines.append(Line(key.partition("_")[0], [index for index, _ in some], [speed for _, speed in some]))
    return Picture(name, title, "", "MB/s", lines, rows=[row["test"] for row in rows])
