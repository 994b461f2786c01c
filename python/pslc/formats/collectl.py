"""collectl's rows to plot (`-P`): a line of names that begins with `#Date`, then KB a second of all disks
(`[DSK]WriteKBTot`) or of each (`[DSK:sda]WKBytes`), separated by blanks or by what --sep says."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pslc.base.columns import moment
from pslc.formats import About, FileContents, lines, only
from pslc.formats._loads import Reports, amount
from pslc.schema.imports import ImportOptions

HEADER = re.compile(r"#(Date|UTC)\b.*\[DSK", re.MULTILINE)
ABOUT: Final = About(
    program="collectl",
    what="rows of -P",
    content="load of one disk, or of all together, interval by interval",
    command="collectl -sD -P --interval 1",
    gives="load",
    mark=HEADER,
)
NAME = re.compile(r"\[DSK(?::(?P<device>[^\]]+))?\](?P<what>\w+)")
KINDS: Final = {"readkbtot": "rkB/s", "writekbtot": "wkB/s", "rkbytes": "rkB/s", "wkbytes": "wkB/s", "readtot": "r/s",
                "writetot": "w/s", "reads": "r/s", "writes": "w/s", "util": "%util", "pct": "%util"}  # fmt: skip


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The load of one disk, or of all together. KB are KiB, as in collectl."""
    path = only(paths)
    reports = Reports(path, hints, "a date, a time and a number for each column")
    names: list[str] = []
    separator: str | None = None
    for line in reports.each(lines(path)):
        if HEADER.match(line):
            separator = next((mark for mark in ",;\t|" if mark in line), None)
            names = line.split(separator)
        if line.startswith("#") or not line.strip():
            continue
        row = line.split(separator)
        with reports.refusing():
            reports.tick(moment(f"{row[0]} {row[1]}" if names[0] == "#Date" else row[0]))
            for device, columns in _by_device(names, row).items():
                reports.add(device, reports.seconds, columns)
    reports.drop_sum("all disks")
    return reports.foreign(ABOUT)


def _by_device(names: Sequence[str], row: Sequence[str]) -> dict[str, dict[str, float]]:
    """The rates of each disk in a row, or of all disks together.

    Raises:
        ValueError: a cell is no number, or there are not as many as names.
    """
    devices: dict[str, dict[str, float]] = {}
    for name, cell in zip(names, row, strict=True):
        of = NAME.fullmatch(name)
        if of and of["what"].lower() in KINDS:
            devices.setdefault(of["device"] or "all disks", {})[KINDS[of["what"].lower()]] = amount(cell)
    return devices
