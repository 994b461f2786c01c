"""The text of `zpool iostat`: operations and bytes a second of each pool, and with -v of its devices; the first
report is of the time since the pool was imported.

              capacity     operations     bandwidth
pool        alloc   free   read  write   read  write
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pslc.base import units
from pslc.base.columns import moment
from pslc.formats import About, FileContents, Reader, only, text
from pslc.formats._loads import Reports, Source, amount
from pslc.schema.imports import ImportOptions

HEADER = re.compile(r"^\s*pool\s+alloc\s+free\s+read\s+write\s+read\s+write", re.MULTILINE)
ABOUT: Final = About(
    program="zpool iostat",
    what="text",
    content="load of a pool, or of one of its devices, interval by interval",
    command="zpool iostat -Td -p tank 1",
    gives="load",
    mark=HEADER,
)
ROW = re.compile(r"(?P<name>\s*\S+)\s+\S+\s+\S+\s+(?P<numbers>[\d.]+[BKMGTP]?(?:\s+[\d.]+[BKMGTP]?){3})(?:\s|$)")
HINT: Final = "zpool iostat -Td -p tank 1 prints them"


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The load of the pool, unless another device is asked for."""
    path = only(paths)
    reader = Reader(path, hints, "a pool, capacity, operations and bandwidth")
    reports = Reports(whole_counts=True)
    at: float | None = None
    before: float | None = None
    below = False
    for number, line in enumerate(text(path).splitlines(), 1):
        if HEADER.match(line):
            below = True
        elif re.search(r"\d\d:\d\d:\d\d", line):
            before, at = at, moment(line)
        elif row := ROW.match(line):
            try:
                values = [_number(word) for word in row["numbers"].split()]
            except ValueError:
                reader.refuse(number, line)
                continue
            columns = dict(zip(("r/s", "w/s", "rB/s", "wB/s"), values, strict=True))
            seconds = None if at is None or before is None else at - before
            reports.add(row["name"].strip(), at, seconds, columns)
        elif below and _is_damaged(line):
            reader.refuse(number, line)
    reports.drop_first()
    notes = ["the first report, of the time since the pool was imported, was left out"]
    pools = list(reports.rows)[:1]
    if hints.device is None and pools:
        reports.rows = {name: rows for name, rows in reports.rows.items() if name in pools}
    return reports.foreign(path, hints, Source("zpool iostat", HINT, notes, reader.bad))


def _is_damaged(line: str) -> bool:
    """Whether a line is neither a row, nor a rule, a name or a group without numbers."""
    return bool(line.strip()) and not re.match(r"\s*(pool\s|capacity|-+\s|-|\S+\s+-\s+-)", line)


def _number(word: str) -> float:
    scale = float(units.POWERS_OF_1024.get(word[-1].lower(), 1))
    return amount(word.rstrip("BKMGTP")) * scale
