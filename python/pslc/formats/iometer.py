"""Iometer's results (CSV): a block a test, which begins with 'Target Type and holds a row ALL for all managers:

'Results
'Target Type,Target Name,Access Specification Name,# Managers,...,IOps,Read IOps,Write IOps,MBps (Decimal),...
ALL,All,128K Seq Write,1,1,1,4231.5,0,4231.5,...
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pslc.base.columns import cells
from pslc.base.errors import RecordingError
from pslc.formats import About, FileContents, Reader, count_of, only, text
from pslc.schema.imports import ImportOptions
from pslc.schema.results import Measured, measured

HEADER = "'Target Type"
ABOUT: Final = About(
    program="Iometer",
    what="results (CSV)",
    content="reads and writes of each test",
    command="Iometer: results.csv",
    gives="results",
    mark=re.compile(rf"{HEADER}|\A'Test Type,Test Description"),
)
KINDS = {"read": "Read ", "write": "Write "}
MIB = float(1 << 20)


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The rows ALL of one file: reads and writes of each test apart."""
    path = only(paths)
    reader = Reader(path, hints, "as many cells as in the line of names, with figures,")
    rows: list[Measured] = []
    names: list[str] = []
    for row in reader.each(cells(path, text(path).splitlines())):
        if row and row[0] == HEADER:
            names = [name.strip() for name in row]
        elif names and row and row[0] == "ALL":
            with reader.refusing():
                rows += _rows(dict(zip(names, row, strict=False)))
    if not rows:
        raise RecordingError(
            f"{path} holds no results of Iometer", "give the file that it wrote its results into, results.csv"
        )
    return FileContents(
        path.name, None, rows=rows, bad_lines=reader.bad, read_as=f"Iometer: {count_of(len(rows), 'result')}"
    )


def _rows(row: dict[str, str]) -> Iterator[Measured]:
    test = row["Access Specification Name"].strip() or "several specifications"
    if row.get("Queue Depth", "").strip():
        test += f", queue {row['Queue Depth'].strip()}"
    for kind, word in KINDS.items():
        iops = float(row[f"{word}IOps"])
        if iops > 0:
            latency = float(row[f"Average {word}Response Time"]) / 1e3
            yield measured(test, kind, _speed(row, word), iops, latency)


def _speed(row: dict[str, str], word: str) -> float:
    """Old versions have one column, which is in MiB/s."""
    decimal = row.get(f"{word}MBps (Decimal)")
    return 1e6 * float(decimal) if decimal is not None else MIB * float(row[f"{word}MBps"])
