"""The text of `zpool iostat`: operations and bytes a second of each pool, and with -v of its devices; the first
report is of the time since the pool was imported.

              capacity     operations     bandwidth
pool        alloc   free   read  write   read  write

With -l the times follow that a request took, of which the first two, in all, are taken.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pslc.base import units
from pslc.base.columns import moment
from pslc.formats import About, FileContents, lines, only
from pslc.formats._loads import Reports, amount
from pslc.schema.imports import ImportOptions

HEADER = re.compile(r"^\s*pool\s+alloc\s+free\s+read\s+write\s+read\s+write", re.MULTILINE)
ABOUT: Final = About(
    program="zpool iostat",
    what="text",
    content="load of a pool, or of one of its devices, interval by interval; latencies with -l",
    command="zpool iostat -Td -p tank 1",
    gives="load",
    mark=HEADER,
)
ROW = re.compile(
    r"(?P<name>\s*\S+)\s+\S+\s+\S+\s+(?P<numbers>[\d.]+[BKMGTP]?(?:\s+[\d.]+[BKMGTP]?){3})(?:\s+(?P<rest>.*)|$)"
)
WAITS: Final = "total_wait"
"""The first group of columns behind the bytes, with -l."""
MS: Final = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3, "": 1e-6}
"""Milliseconds of the units of waits; with -p they have none."""


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The load of the pool, unless another device is asked for."""
    path = only(paths)
    reports = Reports(path, hints, "a pool, capacity, operations and bandwidth", whole_counts=True)
    below = has_waits = False
    indents: dict[str, int] = {}
    for line in reports.each(lines(path)):
        if HEADER.match(line):
            below = True
        elif WAITS in line:
            has_waits = True
        elif re.search(r"\d\d:\d\d:\d\d", line):
            reports.tick(moment(line))
        elif row := ROW.match(line):
            with reports.refusing():
                name = row["name"].strip()
                indents.setdefault(name, len(row["name"]) - len(name))
                reports.add(name, reports.seconds, _columns(row, has_waits))
        elif below and _is_damaged(line):
            reports.refuse()
    reports.drop_first()
    remarks = ["the first report, of the time since the pool was imported, was left out"]
    if hints.device is None and indents:
        remarks += _keep_first_pool(reports, indents)
    if has_waits:
        remarks.append("latencies are those of total_wait; waits in the disks and in queues were left out")
    return reports.foreign(ABOUT, *remarks)


def _keep_first_pool(reports: Reports, indents: Mapping[str, int]) -> list[str]:
    """Leave out all but the first pool; a remark on others that moved something. Devices of a pool are indented."""
    first, *further = [name for name in indents if indents[name] == min(indents.values())]
    moved = [name for name in further if reports.rows[name].moved.any()]
    reports.rows = {first: reports.rows[first]}
    return [f"{', '.join(moved)} moved something, too: --device {moved[0]} takes it"] if moved else []


def _columns(row: re.Match[str], has_waits: bool) -> dict[str, float]:
    """Rates of a row, and with -l how long its requests took, in ms."""
    values = [_number(word) for word in row["numbers"].split()]
    columns = dict(zip(("r/s", "w/s", "rB/s", "wB/s"), values, strict=True))
    if has_waits:
        waits = (row["rest"] or "").split()[:2]
        columns |= dict(zip(("r_await", "w_await"), map(_milliseconds, waits), strict=True))
    return columns


def _is_damaged(line: str) -> bool:
    """Whether a line is neither a row, nor a rule, a name or a group without numbers."""
    return bool(line.strip()) and not re.match(r"\s*(pool\s|capacity|-+\s|-|\S+\s+-\s+-)", line)


def _milliseconds(word: str) -> float:
    """A wait, such as `900us`; `-` is one of nothing."""
    number = word.rstrip("numsµ")
    return 0.0 if word == "-" else amount(number) * MS[word[len(number) :]]


def _number(word: str) -> float:
    scale = float(units.POWERS_OF_1024.get(word[-1].lower(), 1))
    return amount(word.rstrip("BKMGTP")) * scale
