"""The CSV of dstat and pcp-dstat (`--output`): some lines about program and host, a line of groups (`"dsk/total",,`), a
line of names (`"read","writ"`), then bytes a second."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from pslc.base.columns import cells, moment
from pslc.formats import About, FileContents, lines, only
from pslc.formats._loads import FIRST_ROW, Reports, after, amount
from pslc.schema.imports import ImportOptions

ABOUT: Final = About(
    program="dstat, pcp-dstat",
    what="CSV of --output",
    content="load of one device, or of all together, interval by interval",
    command="dstat -td -D sda --output load.csv 1",
    gives="load",
    mark=re.compile(r'\A(?:.*\n){0,14}?(?:"?(?i:(?:pcp-)?dstat )|.*"dsk/)'),
)
LIMIT_ROWS: Final = 15
"""Lines before the names."""
HINT: Final = "dstat -td --output load.csv 1 writes them"


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The load of one device, or of `total`."""
    path = only(paths)
    reports = Reports(path, hints, "a time, and bytes a second in the columns of disks,")
    rows = cells(path, lines(path))
    above: list[list[str]] = []
    for row in islice(rows, LIMIT_ROWS):
        above.append(row)
        if any(cell.startswith("dsk/") for cell in row):
            _take(reports, row, rows, len(above))
            break
    else:
        return reports.foreign(ABOUT, hint=HINT)
    reports.drop_sum("total")
    # The first row of pcp-dstat is of an interval.
    is_boot = "pcp" not in "".join(above[0]).lower()
    notes = [FIRST_ROW] if is_boot and reports.drop_first() else []
    return reports.foreign(ABOUT, *notes, hint=HINT)


def _take(reports: Reports, groups: Sequence[str], rows: Iterator[list[str]], line: int) -> None:
    """Add the rows below the groups, which are in line `line` of the file."""
    names = next(rows, [])
    disks = _disks(groups, names)
    clock = next((place for place, name in enumerate(names) if name in ("time", "date/time", "epoch")), None)
    for row in reports.each(rows, line + 2):
        if not row:
            continue
        with reports.refusing():
            reports.tick(after(reports.at_s, moment(row[clock]) % 86400 if clock is not None else None))
            for device, place in disks.items():
                columns = {"rB/s": amount(row[place]), "wB/s": amount(row[place + 1])}
                reports.add(device, reports.seconds or None, columns)


def _disks(groups: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    """The column of bytes read of each disk; that of bytes written is behind it."""
    return {
        group.removeprefix("dsk/"): place
        for place, group in enumerate(_filled(groups))
        if group.startswith("dsk/") and names[place : place + 1] == ["read"]
    }


def _filled(groups: Sequence[str]) -> list[str]:
    """The name of the group of each column: an empty cell belongs to the one before it."""
    match: list[str] = []
    for cell in groups:
        match.append(cell or (match[-1] if match else ""))
    return match
