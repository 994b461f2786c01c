"""The CSV of dstat and pcp-dstat (`--output`): some lines about program and host, a line of groups (`"dsk/total",,`), a
line of names (`"read","writ"`), then bytes a second."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pslc.base.columns import cells, moment
from pslc.formats import About, FileContents, only, text
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
    rows = list(cells(path, text(path).splitlines()))
    groups = (at for at, row in enumerate(rows[:LIMIT_ROWS]) if any(cell.startswith("dsk/") for cell in row))
    start = next(groups, None)
    if start is None:
        return reports.foreign(ABOUT, hint=HINT)
    _take(reports, rows, start)
    reports.drop_sum("total")
    # The first row of pcp-dstat is of an interval.
    is_boot = "pcp" not in "".join(rows[0]).lower()
    notes = [FIRST_ROW] if is_boot and reports.drop_first() else []
    return reports.foreign(ABOUT, *notes, hint=HINT)


def _take(reports: Reports, rows: Sequence[list[str]], start: int) -> None:
    """Add what is below the line of groups, which is at `start`."""
    names = rows[start + 1] if start + 1 < len(rows) else []
    disks = _disks(rows[start], names)
    clock = next((place for place, name in enumerate(names) if name in ("time", "date/time", "epoch")), None)
    for row in reports.each(rows[start + 2 :], start + 3):
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
