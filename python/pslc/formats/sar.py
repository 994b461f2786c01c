"""The output of `sar -d` (sysstat), as text, and what sadf makes of sar's files (`sadf -d FILE -- -d`, `sadf -j`):

22:52:23          DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
22:52:24          vda   5975.00    144.00 380416.00      0.00     63.69      1.07      0.18     20.40

Reads and writes are counted together.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.formats import FILE, About, FileContents, beginning, lines, only, text, undamaged
from pslc.formats._loads import Reports, after, amount, clock, date, numbers
from pslc.schema.imports import ImportOptions

ABOUT: Final = About(
    program="sar, sadf",
    what="-d, as text, CSV or JSON",
    content="load of one device, interval by interval",
    command="sar -d 1",
    gives="load",
)
HEADER: Final = re.compile(r"(\d{1,2}:\d\d:\d\d(?:\s[AP]M)?)\s+(?:DEV\s+tps|tps\s.*DEV)")
ROW: Final = re.compile(r"(\d{1,2}:\d\d:\d\d(?:\s[AP]M)?)\s+(\S.*)")
SADF: Final = re.compile(r"# hostname;interval;timestamp;")
OTHER: Final = re.compile(
    r"(?:Linux .*\n\s*)?\d{1,2}:\d\d:\d\d(?:\s[AP]M)?\s+(?:CPU\s+%|kbmemfree|IFACE|runq-sz|proc/s|tps\s+rtps)"
)
"""First lines of sar's reports about processors, memory and others, which hold no I/O."""


def matches(path: Path, head: str) -> bool:
    """A header of sar's columns of devices, or sadf's."""
    if '"disk-device"' in head or SADF.match(head) or OTHER.match(head):
        return True
    return ('"sysstat"' in head and '"timestamp"' in head) or any(HEADER.match(line) for line in head.splitlines())


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The load of one device."""
    path = only(paths)
    begin = beginning(path)
    reports = Reports(path, hints)
    (_json if begin.startswith("{") else _sadf if SADF.match(begin) else _text)(reports)
    if not reports.rows:
        raise RecordingError(f"{path} tells nothing of devices", "sar -d prints them, or sadf -d FILE -- -d")
    together = "sar counts reads and writes together: each has its share by bytes, and the latency of both"
    return reports.foreign(ABOUT, together)


def _text(reports: Reports) -> None:
    reports.expected = "a time, a device and a number for each column"
    names: list[str] = []
    for line in reports.each(lines(reports.path)):
        header, row = HEADER.match(line), ROW.match(line)
        if header:
            names = line[header.end(1) :].split()
            reports.before_s = reports.at_s = after(reports.at_s, clock(header[1]))
        elif not line.strip() or OTHER.match(line):
            names = []
        elif line.startswith("Linux"):
            reports.date = date(line)
        elif row and names and "LINUX RESTART" not in line:
            now = after(reports.at_s, clock(row[1]))
            if now != reports.at_s:
                reports.tick(now)
            cells = dict(zip(names, row[2].split(), strict=False))
            device = cells.pop("DEV", "")
            with reports.refusing():
                reports.add(device, reports.seconds or 1.0, numbers([*cells], [*cells.values()]))


def _sadf(reports: Reports) -> None:
    reports.expected = "host, interval, time, device and a number for each column, with semicolons"
    names: list[str] = []
    for line in reports.each(lines(reports.path)):
        cells = line.split(";")
        if line.startswith("#"):
            names = cells[4:] if "DEV" in cells[3:4] else []
        if not names or line.startswith("#") or not line.strip():
            continue
        with reports.refusing():
            _, seconds, stamp, device, *values = cells
            reports.tick(after(reports.at_s, clock(stamp)))
            reports.date = reports.date or date(stamp)
            reports.add(device, amount(seconds) or 1.0, numbers(names, values))


def _json(reports: Reports) -> None:
    with undamaged(reports.path, "sadf -j FILE -- -d prints it"):
        (host,) = gate.document(text(reports.path), str(reports.path), FILE)["sysstat"]["hosts"]
        for report in host["statistics"]:
            stamp = report.get("timestamp")
            if stamp is None or "disk" not in report:
                continue
            reports.tick(after(reports.at_s, clock(stamp["time"])))
            reports.date = reports.date or date(stamp["date"])
            for row in report["disk"]:
                columns = {name: amount(value) for name, value in row.items() if name != "disk-device"}
                reports.add(row["disk-device"], amount(stamp["interval"]) or 1.0, columns)
