r"""Counters of Windows as CSV (perfmon, typeperf, relog): the first cell is `(PDH-CSV 4.0) ...`, then a column a
counter, `\\HOST\PhysicalDisk(0 C:)\Disk Write Bytes/sec`; the first row of a rate is empty."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from pslc.base.columns import cells, is_missing, moment
from pslc.base.errors import RecordingError
from pslc.formats import About, FileContents, lines, only
from pslc.formats._loads import Reports, amount
from pslc.schema.imports import ImportOptions

ABOUT: Final = About(
    program="perfmon, typeperf, relog",
    what="counters as CSV",
    content="load of one disk, interval by interval",
    command=r'typeperf "\PhysicalDisk(*)\*" -si 1 -o load.csv',
    gives="load",
    mark=re.compile(r"\A\s*+.*\(PDH-[CT]SV"),
)
COUNTER = re.compile(r"\\(?:PhysicalDisk|LogicalDisk)\((?P<device>[^)]*)\)\\(?P<what>.+)$", re.IGNORECASE)
KINDS: Final = {
    "disk read bytes/sec": ("rB/s", 1.0), "disk write bytes/sec": ("wB/s", 1.0), "disk reads/sec": ("r/s", 1.0),
    "disk writes/sec": ("w/s", 1.0), "avg. disk sec/read": ("r_await", 1e3), "avg. disk sec/write": ("w_await", 1e3),
    "% disk time": ("%util", 1.0), "avg. disk queue length": ("aqu-sz", 1.0),
}  # fmt: skip
HINT: Final = r'typeperf "\PhysicalDisk(*)\Disk Write Bytes/sec" "\PhysicalDisk(*)\Disk Read Bytes/sec" -o load.csv'


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The load of one disk; `_Total` where there is no other."""
    path = only(paths)
    rows_of_counters = _lines_of_counters(path)
    first = next(rows_of_counters, "")
    separator = max(",;\t", key=first.count)
    rows = cells(path, chain([first], rows_of_counters), separator)
    names = next(rows, [])
    counters = _counters(names)
    if not any(kind in ("rB/s", "wB/s") for _, kind, _ in counters.values()):
        raise RecordingError(f"{path} has no counter of bytes of a disk", HINT)
    reports = Reports(path, hints, "a time, and a number for each counter,")
    for row in reports.each(rows, 2, separator):
        with reports.refusing():
            reports.tick(moment(row[0]))
            for device, columns in _by_device(row, counters).items():
                if reports.before_s is not None:
                    reports.add(device, reports.seconds, columns)
    reports.drop_sum("_Total")
    return reports.foreign(ABOUT, hint=HINT)


def _lines_of_counters(path: Path) -> Iterator[str]:
    """The lines of names and counters; typeperf ends with words about itself."""
    marks = ""
    for line in lines(path):
        begin = line.lstrip()[:1]
        marks = marks or ('"' if begin == '"' else "0123456789(" if begin else "")
        if begin and begin in marks:
            yield line


def _counters(names: Sequence[str]) -> dict[int, tuple[str, str, float]]:
    """Device, rate and scale of each column that holds a counter of a disk."""
    matches = [(place, match) for place, name in enumerate(names) if (match := COUNTER.search(name))]
    return {place: (match["device"], *KINDS[match["what"].lower()]) for place, match in matches
            if match["what"].lower() in KINDS}  # fmt: skip


def _by_device(row: Sequence[str], counters: Mapping[int, tuple[str, str, float]]) -> dict[str, dict[str, float]]:
    """The rates of each device in a row, without those that are missing.

    Raises:
        ValueError: a cell is no number.
    """
    devices: dict[str, dict[str, float]] = {}
    for place, (device, kind, scale) in counters.items():
        if place < len(row) and not is_missing(row[place]):
            value = amount(row[place].replace(",", ".")) * scale
            devices.setdefault(device, {})[kind] = min(value, 100.0) if kind == "%util" else value
    return devices
