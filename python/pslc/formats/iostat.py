"""The output of `iostat -x` (sysstat), text or JSON: rates of each device over intervals. The names of its columns have
changed over the years. The first report is of the time since the machine began, and is left out.

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s ...
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import numpy as np

from pslc.analysis.load import Load
from pslc.analysis.series import Floats
from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.formats import FILE, About, ImportedData, ImportOptions, Reader, only, text

ABOUT: Final = About(
    program="iostat",
    what="text and JSON",
    content="load of one device, interval by interval",
    command="iostat -xt 1",
    gives="load",
)
RATES: Final = {
    "read_bytes": {"rkB/s": 1024.0, "rMB/s": 2.0**20, "rsec/s": 512.0, "rd_sec/s": 512.0, "rkB": 1024.0},
    "write_bytes": {"wkB/s": 1024.0, "wMB/s": 2.0**20, "wsec/s": 512.0, "wr_sec/s": 512.0, "wkB": 1024.0},
    "trim_bytes": {"dkB/s": 1024.0, "dMB/s": 2.0**20, "dc_sec/s": 512.0, "dkB": 1024.0},
    "reads": {"r/s": 1.0},
    "writes": {"w/s": 1.0},
    "flushes": {"f/s": 1.0},
}
"""Of a second, and what one of the unit is."""
REQUEST: Final = {"areq-sz": 1024.0, "avgrq-sz": 512.0}
QUEUE: Final = ("aqu-sz", "avgqu-sz")
BUSY: Final = ("%util", "util", "util-percent")
DAY_S: Final = 86400.0
MOST: Final = 1e12
"""Of anything: 1e12 kB/s, or so many requests a second."""
CLOCK: Final = re.compile(r"(\d{1,2}):(\d\d):(\d\d)(?:\s*([AP]M))?")
DATES: Final = ("%Y-%m-%d", "%m/%d/%Y", "%m/%d/%y", "%d.%m.%Y", "%d/%m/%Y")


HEADER: Final = re.compile(r"\s*Device:?\s.*(?:%util)")


def matches(path: Path, head: str) -> bool:
    """A header of iostat's extended columns, or its JSON."""
    del path
    return '"disk_device"' in head or any(HEADER.match(line) for line in head.splitlines())


def read(paths: Sequence[Path], hints: ImportOptions) -> ImportedData:
    """The load of one device."""
    path = only(paths)
    whole = text(path)
    reports = Reports()
    bad = _json(path, whole, reports) if whole.lstrip().startswith("{") else _text(path, whole, hints, reports)
    for device, rows in reports.rows.items():
        reports.rows[device] = rows[1:]
    notes = ["the first report, of the time since the machine began, was left out"]
    return reports.foreign([path], hints, notes, bad)


def _text(path: Path, whole: str, hints: ImportOptions, reports: Reports) -> int:
    reader = Reader(path, hints, "a device and a number for each column")
    names: list[str] = []
    at = before = None
    for number, line in enumerate(whole.splitlines(), 1):
        cells = line.split()
        if HEADER.match(line):
            names = cells[1:]
        elif not cells:
            names = []
        elif names:
            try:
                seconds = None if at is None or before is None else at - before
                reports.add(cells[0], at, seconds, numbers(names, cells[1:]))
            except ValueError:
                reader.refuse(number, line)
        elif line.startswith("Linux"):
            reports.date = date(line)
        elif re.match(r"\d[\d./-]*[T ]", line) and clock(line) is not None:
            before, at = at, after(at, clock(line))
            reports.date = reports.date or date(line)
    return reader.bad


def _json(path: Path, whole: str, reports: Reports) -> int:
    try:
        (host,) = gate.document(whole, str(path), FILE)["sysstat"]["hosts"]
        reports.date = date(host["date"])
        at = before = None
        for report in host["statistics"]:
            stamp = report.get("timestamp")
            before, at = at, after(at, clock(stamp) if stamp else None)
            for row in report.get("disk", []):
                columns = {name: amount(value) for name, value in row.items() if name != "disk_device"}
                seconds = None if at is None or before is None else at - before
                reports.add(row["disk_device"], at, seconds, columns)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        hint = "iostat -x -o JSON prints it; it ends well only where iostat was told how many reports, or Ctrl-C"
        raise RecordingError(f"{path} is damaged: {error}", hint) from None
    return 0


@dataclass
class Reports:
    """Rows of one device after the other, in the order of a file.

    Attributes:
        rows: by device, the end of each interval in seconds of the day it began on, its length (None: not told), and
            the columns by their names.
        date: of the first day, where the file tells it.
    """

    rows: dict[str, list[tuple[float | None, float | None, Mapping[str, float]]]] = field(default_factory=dict)
    date: datetime | None = None

    def add(self, device: str, at_s: float | None, seconds: float | None, columns: Mapping[str, float]) -> None:
        """One row."""
        self.rows.setdefault(device, []).append((at_s, seconds, columns))

    def foreign(self, paths: Sequence[Path], hints: ImportOptions, notes: list[str], bad: int) -> ImportedData:
        """The load of the device that was asked for, or of the one that did anything.

        Raises:
            PslcError: several did, none is wanted; or there are no intervals.
        """
        device = self._device(paths[0], hints.device)
        rows = self.rows[device]
        if not rows:
            raise RecordingError(f"{paths[0]} has no intervals of {device}", "iostat -xt 1 and sar -d 1 print them")
        seconds = [1.0 if of is None else of for _, of, _ in rows]
        if all(of is None for _, of, _ in rows):
            notes = [*notes, "it tells no times: intervals of 1 s are assumed (iostat -t tells them)"]
        first = rows[0][0]
        began = 0.0
        if self.date is not None and first is not None:
            began = (self.date + timedelta(seconds=first - seconds[0])).timestamp()
        load = load_of(np.array(seconds), [columns for _, _, columns in rows])
        name = f"{device} in {paths[0].name}"
        return ImportedData(name, None, notes=notes, bad_lines=bad, load=load, began_unix=began)

    def _device(self, path: Path, wanted: str | None) -> str:
        moved = {device: _moved([columns for _, _, columns in rows]) for device, rows in self.rows.items()}
        busy = [device for device, speed in moved.items() if speed]
        if wanted is not None:
            name = wanted.removeprefix("/dev/")
            if name not in self.rows:
                raise RecordingError(f"{path} has no device {wanted}", f"it has {', '.join(self.rows) or 'none'}")
            return name
        if len(busy) > 1:
            shown = ", ".join(sorted(busy, key=lambda device: -moved[device]))
            raise RecordingError(
                f"{path} is of several devices: {shown}, the busiest first", f"--device {busy[0]} takes one"
            )
        if not self.rows:
            raise RecordingError(f"{path} has no rows of a device", "iostat -xt 1 and sar -d 1 print them")
        return busy[0] if busy else next(iter(self.rows))


def _moved(rows: Sequence[Mapping[str, float]]) -> float:
    return sum(_value(columns, RATES[name]) for columns in rows for name in ("read_bytes", "write_bytes"))


def _value(columns: Mapping[str, float], names: Mapping[str, float]) -> float:
    return next((columns[name] * scale for name, scale in names.items() if name in columns), 0.0)


def load_of(seconds: Floats, rows: Sequence[Mapping[str, float]]) -> Load:
    """Rates as amounts. Where reads and writes are counted together, each has its share by bytes, and the latency of
    both."""

    def rates(name: str) -> Floats:
        found: Floats = np.array([_value(columns, RATES[name]) for columns in rows]) * seconds
        return found

    def first(names: Sequence[str]) -> Floats:
        return np.array([next((columns[name] for name in names if name in columns), 0.0) for columns in rows])

    moved = {name: rates(name) for name in ("read_bytes", "write_bytes", "trim_bytes")}
    if "r/s" in rows[0]:
        counts = {name: rates(name) for name in ("reads", "writes")}
    else:
        size = np.maximum(np.array([_value(columns, REQUEST) for columns in rows]), 512.0)
        counts = {f"{kind}s": moved[f"{kind}_bytes"] / size for kind in ("read", "write")}
    await_s = {kind: first((f"{kind[0]}_await", "await")) / 1e3 for kind in ("read", "write")}
    return Load(
        seconds=seconds,
        **moved,
        **counts,
        flushes=rates("flushes"),
        read_s=await_s["read"] * counts["reads"],
        write_s=await_s["write"] * counts["writes"],
        busy_s=first(BUSY) / 100 * seconds,
        queue_s=first(QUEUE) * seconds,
        celsius=np.full(seconds.size, np.nan),
    )


def clock(text: str) -> float | None:
    """Seconds of the day of `22:52:21` or `10:52:21 PM`; None where there is no time in it."""
    found = CLOCK.search(text)
    if found is None:
        return None
    hour = int(found[1]) % 12 + (12 if found[4] == "PM" else 0) if found[4] else int(found[1])
    return 3600.0 * hour + 60.0 * int(found[2]) + int(found[3])


def date(text: str) -> datetime | None:
    """The first date in a line. `11/21/26` has the month first, as in the locale C."""
    for word in re.split(r"[\sT]+", text):
        for form in DATES:
            try:
                return datetime.strptime(word, form)
            except ValueError:
                continue
    return None


def after(before: float | None, at: float | None) -> float | None:
    """A time of day that comes after another one: a day later where it is earlier."""
    if at is None or before is None:
        return at
    return at + DAY_S * max(0, math.ceil((before - at) / DAY_S))


def numbers(names: Sequence[str], cells: Sequence[str]) -> dict[str, float]:
    """The columns of a row by name; a decimal comma is one.

    Raises:
        ValueError: one is no amount, or there are more or fewer than names.
    """
    return {name: amount(cell.replace(",", ".")) for name, cell in zip(names, cells, strict=True)}


def amount(cell: str | float) -> float:
    """A rate, size or time that a machine may have.

    Raises:
        ValueError: it is no number, or one that no machine has.
    """
    found = float(cell)
    if not 0 <= found <= MOST:
        raise ValueError(f"{found:g} is no amount")
    return found
