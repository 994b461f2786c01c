"""The output of `sar -d` (sysstat), as text, and what sadf makes of sar's files (`sadf -d FILE -- -d`, `sadf -j`):

22:52:23          DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
22:52:24          vda   5975.00    144.00 380416.00      0.00     63.69      1.07      0.18     20.40

Reads and writes are counted together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.formats import FILE, About, FileContents, Reader, only, text
from pslc.formats._loads import Reports, Source, after, amount, clock, date, numbers
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
    whole = text(path)
    reports = Reports()
    if whole.lstrip().startswith("{"):
        bad = _json(path, whole, reports)
    else:
        bad = (_sadf if SADF.match(whole) else _text)(path, whole, hints, reports)
    if not reports.rows:
        raise RecordingError(f"{path} tells nothing of devices", "sar -d prints them, or sadf -d FILE -- -d")
    notes = ["sar counts reads and writes together: each has its share by bytes, and the latency of both"]
    return reports.foreign(path, hints, Source("sar", "sar -d 1 prints them", notes, bad))


def _text(path: Path, whole: str, hints: ImportOptions, reports: Reports) -> int:
    reader = Reader(path, hints, "a time, a device and a number for each column")
    names: list[str] = []
    at = before = None
    for number, line in enumerate(whole.splitlines(), 1):
        header, row = HEADER.match(line), ROW.match(line)
        if header:
            names = line[header.end(1) :].split()
            before = at = after(at, clock(header[1]))
        elif not line.strip() or OTHER.match(line):
            names = []
        elif line.startswith("Linux"):
            reports.date = date(line)
        elif row and names and "LINUX RESTART" not in line:
            now = after(at, clock(row[1]))
            if now != at:
                before, at = at, now
            cells = dict(zip(names, row[2].split(), strict=False))
            device = cells.pop("DEV", "")
            try:
                seconds = None if at is None or before is None else at - before
                reports.add(device, at, seconds or 1.0, numbers([*cells], [*cells.values()]))
            except ValueError:
                reader.refuse(number, line)
    return reader.bad


def _sadf(path: Path, whole: str, hints: ImportOptions, reports: Reports) -> int:
    reader = Reader(path, hints, "host, interval, time, device and a number for each column, with semicolons")
    names: list[str] = []
    at = None
    for number, line in enumerate(whole.splitlines(), 1):
        cells = line.split(";")
        if line.startswith("#"):
            names = cells[4:] if "DEV" in cells[3:4] else []
        if not names or line.startswith("#") or not line.strip():
            continue
        try:
            _, seconds, stamp, device, *values = cells
            at = after(at, clock(stamp))
            reports.date = reports.date or date(stamp)
            reports.add(device, at, amount(seconds) or 1.0, numbers(names, values))
        except ValueError:
            reader.refuse(number, line)
    return reader.bad


def _json(path: Path, whole: str, reports: Reports) -> int:
    try:
        (host,) = gate.document(whole, str(path), FILE)["sysstat"]["hosts"]
        at = None
        for report in host["statistics"]:
            stamp = report.get("timestamp")
            if stamp is None or "disk" not in report:
                continue
            at = after(at, clock(stamp["time"]))
            reports.date = reports.date or date(stamp["date"])
            for row in report["disk"]:
                columns = {name: amount(value) for name, value in row.items() if name != "disk-device"}
                reports.add(row["disk-device"], at, amount(stamp["interval"]) or 1.0, columns)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RecordingError(f"{path} is damaged: {error}", "sadf -j FILE -- -d prints it") from None
    return 0
