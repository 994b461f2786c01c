"""FreeBSD's `gstat`: rows as a terminal shows them or `-B` writes them, with or without `-d`, `-o` and `-s`, and the
CSV of `-C`. Its k is 1024; what it calls other operations are flushes.

dT: 1.002s  w: 1.000s
 L(q)  ops/s    r/s   kBps   ms/r    w/s   kBps   ms/w   %busy Name
   10    480      0      0    0.0    480  61440   20.8   99.9| ada0
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pslc.base.columns import moment
from pslc.formats import About, FileContents, lines, only
from pslc.formats._loads import DAY_S, Reports, after, amount
from pslc.schema.imports import ImportOptions

ABOUT: Final = About(
    program="gstat",
    what="text, CSV of -C",
    content="load of one disk, interval by interval, with its flushes (-o)",
    command="gstat -C -o -I 1s > load.csv",
    gives="load",
    mark=re.compile(
        r"^[ \t]*L\(q\) +ops/s .*%busy +Name\s*$|^timestamp,name,q-depth,total_ops/s,.*%busy", re.MULTILINE
    ),
)
SECONDS: Final = re.compile(r"dT: (\d+\.\d+)s")
NAMES: Final = {
    "l(q)": "aqu-sz", "q-depth": "aqu-sz", "%busy": "%util", "r/s": "r/s", "read/s": "r/s", "ms/r": "r_await",
    "ms/read": "r_await", "w/s": "w/s", "write/s": "w/s", "ms/w": "w_await", "ms/write": "w_await", "o/s": "f/s",
    "other/s": "f/s", "ms/o": "f_await", "ms/other": "f_await", "read-kib/s": "rkB/s", "write-kib/s": "wkB/s",
    "delete-kib/s": "dkB/s",
}  # fmt: skip
"""Names of gstat, in small letters, and of iostat."""
USED: Final = ("aqu-sz", "%util", "r/s", "w/s", "f/s", "await", "kB/s", "MB/s")
"""Ends of the names that are taken."""
RATES: Final = {"kbps": "kB/s", "mbps": "MB/s"}


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The load of one disk."""
    path = only(paths)
    reports = Reports(path, hints, "a number for each column, and a disk")
    names: list[str] = []
    for line in reports.each(lines(path)):
        cells = line.split(",") if "," in line else line.replace("|", " ").split()
        if cells[:1] in (["L(q)"], ["timestamp"]):
            names = _names(cells)
        elif interval := SECONDS.search(line):
            reports.tick((reports.at_s or 0.0) + float(interval[1]))
        elif names and cells:
            with reports.refusing():
                _add(reports, names, cells)
    return reports.foreign(ABOUT)


def _names(cells: Sequence[str]) -> list[str]:
    """iostat's names of the columns; a rate of kB is of the operations named before it."""
    names: list[str] = []
    kind = ""
    for cell in map(str.lower, cells):
        kind = cell[0] if re.fullmatch(r"[rwd]/s", cell) else kind
        names.append(f"{kind}{RATES[cell]}" if cell in RATES else NAMES.get(cell, cell))
    return names


def _add(reports: Reports, names: Sequence[str], cells: Sequence[str]) -> None:
    """Add the row of a disk; that of a CSV has its time."""
    row = dict(zip(names, cells, strict=True))
    if (stamp := row.pop("timestamp", "")) and (at_s := after(reports.at_s, moment(stamp) % DAY_S)) != reports.at_s:
        reports.tick(at_s)
    columns = {name: amount(cell) for name, cell in row.items() if name.endswith(USED)}
    reports.add(row.get("name", ""), reports.seconds or None, columns)
