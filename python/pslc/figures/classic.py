"""Tables of reads and writes in MB/s, as the classic benchmarks show them."""

from collections.abc import Mapping, Sequence
from typing import Any

from pslc import words
from pslc.figures.picture import Line, Picture, Table
from pslc.figures.tables import Column, of_rows


def table(title: str, rows: Sequence[Mapping[str, Any]], more: list[Column] | None = None) -> Table:
    """Rows with `test`, `read_bytes_per_s`, `write_bytes_per_s`."""
    columns: list[Column] = [
        ("test", "test", str),
        ("read", "read_bytes_per_s", words.speed),
        ("write", "write_bytes_per_s", words.speed),
    ]
    return of_rows(title, rows, [*columns, *(more or [])])


def bars(name: str, title: str, rows: Sequence[Mapping[str, Any]]) -> Picture:
    """Reads and writes, row by row."""
    lines = []
    for kind in ("read", "write"):
        some = [(at, row[f"{kind}_bytes_per_s"]) for at, row in enumerate(rows) if row[f"{kind}_bytes_per_s"]]
        if some:
            lines.append(Line(kind, [at for at, _ in some], [speed / 1e6 for _, speed in some]))
    return Picture(name, title, "", "MB/s", lines, log_y=True, rows=[row["test"] for row in rows])
