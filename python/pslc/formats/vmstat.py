"""The text of vmstat: `bi` and `bo` are KiB a second of all devices together; the first row is of the time since the
machine began."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pslc.base.columns import moment
from pslc.formats import About, FileContents, lines, only
from pslc.formats._loads import FIRST_ROW, Reports, amount
from pslc.schema.imports import ImportOptions

HEADER = re.compile(r"^\s*r\s+b\s+swpd\s.*\bbi\s+bo\b", re.MULTILINE)
ABOUT: Final = About(
    program="vmstat",
    what="text",
    content="load of all devices together, interval by interval",
    command="vmstat -t 1",
    gives="load",
    mark=HEADER,
)


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The load of all devices together."""
    path = only(paths)
    reports = Reports(path, hints, "a number for each column")
    names: list[str] = []
    for line in reports.each(lines(path)):
        if HEADER.match(line):
            names = line.split()
        elif names and re.match(r"\s*\d", line):
            row = line.split()
            with reports.refusing():
                columns = {"rkB/s": amount(row[names.index("bi")]), "wkB/s": amount(row[names.index("bo")])}
                stamp = [cell for cell in row if ":" in cell or "-" in cell]
                reports.tick(moment(" ".join(stamp)) if stamp else None)
                reports.add("all devices", reports.seconds, columns)
    reports.drop_first()
    return reports.foreign(ABOUT, FIRST_ROW, "vmstat counts all devices of the machine together")
