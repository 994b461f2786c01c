"""The output of `iostat` (sysstat), text or JSON: rates of each device over intervals, with or without -x, and with -h,
--human or --pretty, which put the name last and print several tables a report. The names of its columns have changed
over the years. The first report is of the time since the machine began, and is left out.

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s ...
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pslc.base import gate
from pslc.formats import FILE, About, FileContents, beginning, lines, only, text, undamaged
from pslc.formats._loads import Reports, after, amount, clock, date, plain_amounts
from pslc.schema.imports import ImportOptions

ABOUT: Final = About(
    program="iostat",
    what="text, JSON, and jc's JSON of it",
    content="load of one device, interval by interval",
    command="iostat -xt 1",
    gives="load",
)
NAMES: Final = r"(?:\S+/s|tps|%\S+|\S+-sz|\S*await|svctm|(?:kB|MB|Blk)_\S+|ms/\w|qlen|svc_t|wait)"
HEADER: Final = re.compile(rf"\s*[Dd]evice:?\s+{NAMES}(?:\s+{NAMES})*\s*$")
TITLE: Final = re.compile(r"\s*extended device statistics\s*")
"""FreeBSD's line above the names."""
OF_FREEBSD: Final = {
    "kr/s": "rkB/s", "kw/s": "wkB/s", "ms/r": "r_await", "ms/w": "w_await", "qlen": "aqu-sz", "%b": "%util",
}  # fmt: skip
"""Names of FreeBSD's iostat -x, whose k is 1024, and those of Linux."""
NAME_LAST: Final = re.compile(rf"\s*{NAMES}(?:\s+{NAMES})*\s+Device:?\s*$")
DOCUMENT: Final = re.compile(r"\s*(?:\{|\[\s*\{)")
"""Beginning of JSON; a prompt may be in brackets, too: `[root@host ~]# iostat -x 1`."""
TIME: Final = re.compile(r"Time: |\d[\d./-]*[T ]")
"""Before sysstat 9.1.2 the word stands before the time of day."""
OF_JC: Final = {
    "percent_util": "%util", "aqu_sz": "aqu-sz", "avgqu_sz": "avgqu-sz", "avgrq_sz": "avgrq-sz", "await": "await",
    "r_await": "r_await", "w_await": "w_await", "rkb_s": "rkB/s", "wkb_s": "wkB/s", "dkb_s": "dkB/s",
    "rmb_s": "rMB/s", "wmb_s": "wMB/s", "r_s": "r/s", "w_s": "w/s", "f_s": "f/s", "tps": "tps",
    "kb_read_s": "kB_read/s", "kb_wrtn_s": "kB_wrtn/s", "mb_read_s": "MB_read/s", "mb_wrtn_s": "MB_wrtn/s",
}  # fmt: skip
"""jc's names and iostat's."""
FIRST: Final = "the first report, of the time since the machine began, was left out (with -y it was an interval)"
LIKE: Final = "the first report is like the second, as with -y, and was counted as an interval"


def matches(path: Path, head: str) -> bool:
    """A header of iostat's columns, or its JSON."""
    if DOCUMENT.match(head):
        return '"disk_device"' in head or ('"percent_util"' in head and '"device"' in head)
    return any(_header(line) for line in head.splitlines())


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The load of one device."""
    path = only(paths)
    begin = beginning(path)
    reports = Reports(path, hints, "a device and a number for each column")
    (_text if not DOCUMENT.match(begin) else _of_jc if begin.startswith("[") else _json)(reports)
    return reports.foreign(ABOUT, FIRST if reports.drop_first(unless_alike=True) else LIKE)


@dataclass
class _Report:
    """One report while it is read: the columns of each device, which may come in several tables."""

    columns: dict[str, dict[str, float]] = field(default_factory=dict)

    def hand_over(self, reports: Reports) -> None:
        """Add its rows, and begin the next."""
        for device, columns in self.columns.items():
            reports.add(device, reports.seconds, columns)
        self.columns = {}


def _text(reports: Reports) -> None:
    report = _Report()
    names: list[str] = []
    rows = 0
    for line in map(str.lstrip, reports.each(lines(reports.path))):
        cells = line.split()
        if header := _header(line):
            names, rows = header, 0
            if any({*names} & columns.keys() for columns in report.columns.values()):
                report.hand_over(reports)
        elif (moment := _moment(line, reports.at_s)) is not None:
            report.hand_over(reports)
            names = []
            reports.tick(moment)
            reports.date = reports.date or date(line)
        elif not cells or TITLE.fullmatch(line):
            # Older versions leave a line free below the names.
            names = [] if rows else names
        elif names:
            with reports.refusing():
                device, columns = _row(names, cells)
                if columns.keys() <= report.columns.get(device, {}).keys():
                    # Rows of one device that were picked out of the reports.
                    report.hand_over(reports)
                report.columns.setdefault(device, {}).update(columns)
                rows += 1
        elif line.startswith("Linux"):
            reports.date = reports.date or date(line)
    report.hand_over(reports)


def _moment(line: str, at: float | None) -> float | None:
    """Seconds of the day at which the report below a line ends; None: it is no line of time."""
    return after(at, clock(line)) if TIME.match(line) else None


def _header(line: str) -> list[str]:
    """Names of the columns below a line, as Linux has them; empty: it is no header."""
    if "evice" not in line:
        return []
    is_header = HEADER.match(line) or NAME_LAST.match(line)
    return [OF_FREEBSD.get(name, name) for name in line.split()] if is_header else []


def _row(names: Sequence[str], cells: Sequence[str]) -> tuple[str, dict[str, float]]:
    """The device of a row, and its columns; the name of a device is one word, first or last.

    Raises:
        ValueError: a cell is no amount, or there are more or fewer than names.
    """
    place = 0 if names[0].lower().startswith("device") else -1
    own, values = (names[1:], cells[1:]) if place == 0 else (names[:-1], cells[:-1])
    with suppress(ValueError):
        return cells[place], dict(zip(own, plain_amounts(values), strict=True))
    return cells[place], {name: _amount(name, cell.replace(",", ".")) for name, cell in zip(own, values, strict=True)}


def _amount(name: str, cell: str) -> float:
    """A cell; with a suffix it is in bytes or requests, whatever the unit of the column."""
    number = amount(cell)
    if cell[-1:] not in ("k", "M", "G", "T"):
        return number
    for unit, scale in (("kB", 1024.0), ("MB", 1024.0**2)):
        if unit in name:
            return number / scale
    return number / 1.024 if cell[-1:] == "k" else number


def _json(reports: Reports) -> None:
    hint = "iostat -x -o JSON prints it; it ends well only where iostat was told how many reports, or Ctrl-C"
    with undamaged(reports.path, hint):
        (host,) = gate.document(text(reports.path), str(reports.path), FILE)["sysstat"]["hosts"]
        reports.date = date(host["date"])
        for report in host["statistics"]:
            stamp = report.get("timestamp")
            reports.tick(after(reports.at_s, clock(stamp) if stamp else None))
            for row in report.get("disk", []):
                columns = {name: amount(value) for name, value in row.items() if name != "disk_device"}
                reports.add(row["disk_device"], reports.seconds, columns)


def _of_jc(reports: Reports) -> None:
    """Read what `jc --iostat` makes of the text; it has no times."""
    with undamaged(reports.path, "jc --iostat prints it"):
        for row in gate.document(text(reports.path), str(reports.path), FILE):
            if row.get("type") == "device":
                reports.add(str(row["device"]), None, _named(row))


def _named(row: Mapping[str, Any]) -> dict[str, float]:
    return {OF_JC[name]: amount(value) for name, value in row.items() if name in OF_JC and value is not None}
