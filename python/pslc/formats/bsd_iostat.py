"""The text of macOS' `iostat`, and of FreeBSD's without -x: size, rate and MiB a second of the requests of each disk,
reads and writes together; the first row is of the time since the machine began.

            disk0               disk4       cpu
   KB/t  tps  MB/s     KB/t  tps  MB/s  us sy id
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from pslc.formats import About, FileContents, lines, only
from pslc.formats._loads import FIRST_ROW, Reports, amount
from pslc.schema.imports import ImportOptions

HEADER: Final = re.compile(r"^\s*(?:tin\s+tout\s+)?KB/t\s+tps\s+MB/s", re.MULTILINE)
ABOUT: Final = About(
    program="iostat of macOS and FreeBSD",
    what="text",
    content="load of one disk, interval by interval, reads and writes together",
    command="iostat -d -w 1",
    gives="load",
    mark=HEADER,
)
TOGETHER: Final = "it counts reads and writes together, and all are taken for writes: look at a time without reads"


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The load of one disk, whose reads count as writes."""
    path = only(paths)
    reports = Reports(path, hints, "three numbers for each disk", whole_counts=True)
    disks: list[str] = []
    first, above = 0, ""
    for line in reports.each(lines(path)):
        if HEADER.match(line):
            names = line.split()
            first = names.index("KB/t")
            disks = above.split()[first // 2 :][: names.count("KB/t")]
        elif disks and re.match(r"\s*\d", line):
            cells = line.split()[first:]
            with reports.refusing():
                for place, disk in enumerate(disks):
                    size, rate, speed = (amount(cell) for cell in cells[3 * place : 3 * place + 3])
                    reports.add(disk, None, {"wMB/s": speed, "w/s": rate, "areq-sz": size})
        above = line
    reports.drop_first()
    data = reports.foreign(replace(ABOUT, program="iostat"), FIRST_ROW)
    data.warn(TOGETHER)
    return data
