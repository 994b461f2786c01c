"""A drive at work as another program counts it, interval by interval: rows of one device or of several, with rates by
the names that iostat has for them."""

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from pslc.analysis.load import Load
from pslc.analysis.series import Floats
from pslc.base import columns as cells
from pslc.base import units, words
from pslc.base.errors import RecordingError
from pslc.formats import About, FileContents, Reader, Row
from pslc.schema.imports import ImportOptions

RATES: Final = {
    "read_bytes": {
        "rB/s": 1.0, "kB_read/s": 1024.0, "MB_read/s": 2.0**20, "Blk_read/s": 512.0, "rkB/s": 1024.0, "rMB/s": 2.0**20,
        "rsec/s": 512.0, "rd_sec/s": 512.0, "rkB": 1024.0,
    },
    "write_bytes": {
        "wB/s": 1.0, "kB_wrtn/s": 1024.0, "MB_wrtn/s": 2.0**20, "Blk_wrtn/s": 512.0, "wkB/s": 1024.0, "wMB/s": 2.0**20,
        "wsec/s": 512.0, "wr_sec/s": 512.0, "wkB": 1024.0,
    },
    "trim_bytes": {
        "kB_dscd/s": 1024.0, "MB_dscd/s": 2.0**20, "dkB/s": 1024.0, "dMB/s": 2.0**20, "dc_sec/s": 512.0, "dkB": 1024.0,
    },
    "reads": {"r/s": 1.0},
    "writes": {"w/s": 1.0},
    "flushes": {"f/s": 1.0},
}  # fmt: skip
"""Columns of rates by the quantity of a load, each with its unit in bytes or requests per second."""
REQUEST: Final = {"areq-sz": 1024.0, "avgrq-sz": 512.0}
QUEUE: Final = ("aqu-sz", "avgqu-sz")
BUSY: Final = ("%util", "util", "util-percent")
UTIL: Final = dict.fromkeys(BUSY, 1.0)
BUSY_FROM: Final = 80.0
"""Percent of the time with requests under way from which people take a drive for the limit."""
WAITS: Final = {*QUEUE, *BUSY, "await", "r_await", "w_await"}
"""Columns that tell whether requests waited for the drive."""
KEPT: Final = frozenset({*(name for names in RATES.values() for name in names), *REQUEST, *WAITS, "tps", "f_await"})
"""Columns that a load is made of; the others are read and not kept."""
DAY_S: Final = 86400.0
FIRST_ROW: Final = "the first row, of the time since the machine began, was left out"
MAX_AMOUNT: Final = 1e12
"""Largest believable value of any column: 1e12 kB/s, or as many requests per second."""
MAX_UNLIKE_SHARE: Final = 0.2
"""Largest difference between the speeds of the first report and of the second, as a share, at which the first covers an
interval as well, not the time since boot."""
MOVED: Final = ("read_bytes", "write_bytes")
ASSUMED: Final = ", as is assumed"
"""Words of an interval that neither the file nor the user states."""
COMMAND: Final = re.compile(r"\b(?:iostat|vmstat|gstat)\b.*?(?<!-c)\s(\d{1,5})(?:\s+\d+)?\s*$")
"""A command line that was copied with its output: the interval, and how many reports."""
MAX_INTERVAL_S: Final = 1e8
"""Three years; a longer interval is a damaged time."""
MIN_COUNTS: Final = 4
"""Rates of requests from which the length of an interval is concluded."""
INTERVALS_S: Final = (1, 2, 5, 10)
"""Lengths of intervals that people choose, whose fractions two digits show."""
LAYER: Final = re.compile(r"(dm-|md|loop|bcache|zd|ram|sr)\d|.*[-_/]")
"""Names of layers above drives: device mapper, md and logical volumes."""
DATES: Final = ("%Y-%m-%d", "%m/%d/%Y", "%m/%d/%y", "%d.%m.%Y", "%d/%m/%Y")
"""Forms of dates in headers, which also hold versions such as 6.1.25."""


class Rows:
    """Rows of one device as columns of numbers, 8 bytes each: a day has 86,400 rows.

    Attributes:
        at_s: end of each interval in seconds of the day that the first began on; nan: not told.
        seconds: its length; nan: not told.
        columns: those of `KEPT` by their names; nan where a row does not have one.
    """

    def __init__(self) -> None:
        self.at_s, self.seconds = array("d"), array("d")
        self.columns: dict[str, array[float]] = {}

    def __len__(self) -> int:
        return len(self.at_s)

    def add(self, at_s: float | None, seconds: float | None, columns: Mapping[str, float]) -> None:
        """Add a row."""
        for name, value in columns.items():
            if name in KEPT:
                if name not in self.columns:
                    self.columns[name] = array("d", [math.nan]) * len(self)
                self.columns[name].append(value)
        self.at_s.append(math.nan if at_s is None else at_s)
        self.seconds.append(math.nan if seconds is None else seconds)
        if columns.keys() != self.columns.keys():
            for column in self.columns.values():
                column.extend([math.nan] * (len(self) - len(column)))

    def drop_first(self) -> None:
        """Leave out the first row."""
        for column in (self.at_s, self.seconds, *self.columns.values()):
            del column[:1]

    def first(self, names: Mapping[str, float]) -> Floats:
        """The first of some columns that each row has, in its unit; 0 where it has none."""
        values: Floats = np.full(len(self), np.nan)
        for name, scale in names.items():
            if name in self.columns:
                values = np.where(np.isnan(values), np.array(self.columns[name]) * scale, values)
        return np.where(np.isnan(values), 0.0, values)

    @property
    def moved(self) -> Floats:
        """Bytes per second read and written in each row, shape (2, n)."""
        return np.array([self.first(RATES[kind]) for kind in MOVED])


class Reports(Reader):
    """Rows of one device after the other, in the order of a file.

    Attributes:
        rows: by device.
        date: of the first day, where the file tells it.
        at_s: end of the report that is read, in seconds of the day the first began on; None: it tells no time.
        before_s: end of the report before it.
        command_s: interval in seconds, as a command line above the reports says; None: there is none.
    """

    def __init__(self, path: Path, hints: ImportOptions, expected: str = "", *, whole_counts: bool = False) -> None:
        """`whole_counts`: rates of requests are rounded to whole ones, so that fractions tell no interval."""
        super().__init__(path, hints, expected)
        self.rows: dict[str, Rows] = {}
        self.date: datetime | None = None
        self.at_s: float | None = None
        self.before_s: float | None = None
        self.whole_counts = whole_counts
        self.command_s: float | None = None
        self._wanted = (hints.device or "").removeprefix("/dev/")

    def each(self, rows: Iterable[Row], first: int = 1, separator: str = ",") -> Iterator[Row]:
        """Yield each row as `Reader.each` does; a command line above them tells the interval."""
        for row in super().each(rows, first, separator):
            if not self.rows and isinstance(row, str) and (command := COMMAND.search(row)):
                self.command_s = float(command[1]) or None
            yield row

    def tick(self, at_s: float | None) -> None:
        """Begin the next report, which ends at `at_s`."""
        self.before_s, self.at_s = self.at_s, at_s

    @property
    def seconds(self) -> float | None:
        """Time since the report before, as far as both tell one."""
        return None if self.at_s is None or self.before_s is None else self.at_s - self.before_s

    def add(self, device: str, seconds: float | None, columns: Mapping[str, float]) -> None:
        """Add a row of the report, of an interval of so many seconds; of devices that nobody asked for, the names."""
        if device not in self.rows:
            self.rows[device] = Rows()
        if self.hints.device is None or device == self._wanted:
            self.rows[device].add(self.at_s, seconds, columns)

    def drop_first(self, *, unless_alike: bool = False) -> bool:
        """Leave out the first row of each device, which is of the time since the machine began. Whether they were.

        Args:
            unless_alike: keep them where bytes read and written are like those of the second row, as after `iostat -y`.
        """
        busiest = max((rows.moved for rows in self.rows.values()), key=np.sum, default=np.zeros((2, 0)))
        if unless_alike and busiest.shape[1] > 1:
            first, second = busiest[:, 0], busiest[:, 1]
            if first.any() and all(map(partial(math.isclose, rel_tol=MAX_UNLIKE_SHARE), first, second)):
                return False
        for rows in self.rows.values():
            rows.drop_first()
        return True

    def drop_sum(self, name: str) -> None:
        """Leave out the rows of all devices together, which a program calls `name`, where there are others."""
        if len(self.rows) > 1:
            self.rows.pop(name, None)

    def foreign(self, about: About, *remarks: str, hint: str = "") -> FileContents:
        """The load of the device that was asked for, or of the one that did anything.

        Args:
            remarks: what to know of the reports.
            hint: how to get reports, if there are none (default: by the command of `about`).

        Raises:
            PslcError: several did, none is wanted; or there are no intervals.
        """
        path, hint = self.path, hint or f"{about.command} prints them"
        device, beside = self._device(hint)
        rows = self.rows[device]
        if not rows:
            what = f"one report of {device}, which may be of the time since the machine began, and no intervals"
            raise RecordingError(f"{path} holds {what}", hint)
        seconds, usual, how = self._intervals(device, self.hints.interval_s)
        if not ((seconds >= 0) & (seconds <= MAX_INTERVAL_S)).all():
            hint = "give the reports of one run, in order; a time in them may be damaged"
            raise RecordingError(f"{path}: its times go back, or jump by more than three years", hint)
        program, what = about.program.partition(",")[0], _columns_of_bytes(rows)
        data = FileContents(
            f"{device} in {path.name}" if device else path.name,
            None,
            bad_lines=self.bad,
            load=load_of(seconds, rows),
            began_unix=self._began_unix(rows.at_s[0], float(seconds[0])),
            waits=bool(WAITS & rows.columns.keys()),
            tells_busy=bool({*BUSY} & rows.columns.keys()),
            read_as=f"{program}: {what} of {device or 'all devices'}, intervals of {words.span(usual)}{how}",
        )
        data.note(*remarks)
        if beside:
            data.note(f"{', '.join(beside)} are parts of {device}, or lie on it, and were left out")
        if device.startswith("nvme") and (rows.first(UTIL) >= BUSY_FROM).any():
            data.note("%util of an NVMe drive says that something was under way, not that the drive could do no more")
        if how == ASSUMED:
            data.warn(f"{path.name} holds no times, so intervals of 1 s are assumed: give --interval if not")
        return data

    def _began_unix(self, end_s: float, seconds: float) -> float:
        """Start of the first interval, which ended at `end_s`; 0: the file does not tell."""
        if self.date is None or math.isnan(end_s):
            return 0.0
        return (self.date + timedelta(seconds=end_s - seconds)).timestamp()

    def _intervals(self, device: str, interval_s: float | None) -> tuple[Floats, float, str]:
        """Seconds of each row, the usual ones, and how they were determined."""
        rows = self.rows[device]
        stated_s = np.array(rows.seconds)
        is_stated = ~np.isnan(stated_s)
        if interval_s is not None:
            return np.full(len(rows), interval_s), interval_s, ", as given"
        if is_stated.any():
            usual = float(np.median(stated_s[is_stated]))
            # The first of the intervals between two times has no time before it.
            return np.where(is_stated, stated_s, usual), usual, ""
        if self.command_s is not None:
            return np.full(len(rows), self.command_s), self.command_s, ", as the command says"
        counted = None if self.whole_counts else interval_of_counts(rows)
        usual = counted or 1.0
        return np.full(len(rows), usual), usual, ASSUMED if counted is None else ", by the fractions of requests"

    def _device(self, hint: str) -> tuple[str, list[str]]:
        """The device, and those left out because they are parts of it or lie on it."""
        if self.hints.device is not None:
            return self._named(), []
        if not self.rows:
            raise RecordingError(f"{self.path} has no rows of a device", hint)
        moved = {device: float(rows.moved.sum()) for device, rows in self.rows.items()}
        busy = sorted((device for device, speed in moved.items() if speed), key=lambda device: -moved[device])
        drive = self._only_drive(busy, moved)
        if drive is not None:
            return drive, [device for device in busy if device != drive]
        if len(busy) > 1:
            shown = ", ".join(busy)
            raise RecordingError(
                f"{self.path} is of several devices: {shown}, the busiest first", f"--device {busy[0]} takes one"
            )
        return (busy[0] if busy else next(iter(self.rows))), []

    def _named(self) -> str:
        """The device that was asked for.

        Raises:
            PslcError: there is no such device.
        """
        if self._wanted not in self.rows:
            devices = ", ".join(self.rows) or "none"
            raise RecordingError(f"{self.path} has no device {self.hints.device}", f"it has {devices}")
        return self._wanted

    def _only_drive(self, busy: Sequence[str], moved: Mapping[str, float]) -> str | None:
        """The only drive among busy devices, if all of what they moved went through it."""
        disks = [device for device in busy if not _is_part(device, self.rows)]
        drives = [device for device in disks if not LAYER.match(device)]
        if len(drives) == 1 and all(moved[device] <= 1.05 * moved[drives[0]] for device in disks):
            return drives[0]
        return None


def _columns_of_bytes(rows: Rows) -> str:
    """Names of the columns that bytes read and written are taken from."""
    taken = [next((unit for unit in RATES[kind] if unit in rows.columns), "") for kind in MOVED]
    return " and ".join(filter(None, taken)) or "no bytes"


def _is_part(device: str, devices: Iterable[str]) -> bool:
    """Whether a device is a partition of another one: `nvme0n1p2`, `sda1`."""
    return any(
        device != whole and re.fullmatch(rf"{re.escape(whole)}{'p' if whole[-1:].isdigit() else ''}\d+", device)
        for whole in devices
    )


def interval_of_counts(rows: Rows) -> float | None:
    """Seconds of an interval, from how fractions of requests a second are spread: of 2 s there are halves. None where
    rates do not show it."""
    rates = np.concatenate([rows.first({name: 1.0}) for name in ("r/s", "w/s", "tps")])
    values = rates[rates > 0]
    if len(values) < MIN_COUNTS:
        return None
    for seconds in INTERVALS_S:
        off = np.abs(values * seconds - np.rint(values * seconds))
        if (off <= 0.006 * seconds).mean() >= 0.98:
            return float(seconds)
    return None


def load_of(seconds: Floats, rows: Rows) -> Load:
    """Rates as amounts. Where reads and writes are counted together, each has its share by bytes, and the latency of
    both. What no row tells is not known (nan)."""

    def rates(name: str) -> Floats:
        return rows.first(RATES[name]) * seconds

    def first(*names: str) -> Floats:
        return rows.first(dict.fromkeys(names, 1.0))

    moved = {name: rates(name) for name in ("read_bytes", "write_bytes", "trim_bytes")}
    named = rows.columns.keys()
    both = moved["read_bytes"] + moved["write_bytes"]
    if "r/s" in named:
        counts = {name: rates(name) for name in ("reads", "writes")}
    elif named & {*REQUEST, "tps"}:
        size = rows.first(REQUEST)
        if not named & {*REQUEST}:
            size = both / np.maximum(first("tps") * seconds, 1e-9)
        counts = {f"{kind}s": moved[f"{kind}_bytes"] / np.maximum(size, 512.0) for kind in ("read", "write")}
    else:
        counts = {name: np.full(seconds.size, np.nan) for name in ("reads", "writes")}
    # Without a share of the time, whatever moved something was busy.
    busy = first(*BUSY) / 100 * seconds if named & {*BUSY} else np.where(both > 0, seconds, 0.0)
    await_s = {kind: first(f"{kind[0]}_await", "await") / 1e3 for kind in ("read", "write")}
    return Load(
        seconds=seconds,
        **moved,
        **counts,
        flushes=rates("flushes"),
        flush_s=first("f_await") / 1e3 * rates("flushes"),
        read_s=await_s["read"] * counts["reads"],
        write_s=await_s["write"] * counts["writes"],
        busy_s=busy,
        queue_s=first(*QUEUE) * seconds,
        celsius=np.full(seconds.size, np.nan),
    )


def clock(text: str) -> float | None:
    """Seconds of the day of `22:52:21` or `10:52:21 PM`; None where there is no time in it."""
    return cells.clock(text, to_the_second=True)


def date(text: str) -> datetime | None:
    """The first date in a line; None where there is none, or none that a recording can hold."""
    moment = cells.date(text, DATES)
    return moment if moment is not None and units.is_storable(moment) else None


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


def plain_amounts(cells: Iterable[str]) -> list[float]:
    """Amounts without a suffix, as `amount` reads them one by one.

    Raises:
        ValueError: one is no number, or one that no machine has.
    """
    values = [*map(float, cells)]
    if not all(0 <= value <= MAX_AMOUNT for value in values):
        raise ValueError(f"{values} are no amounts")
    return values


def amount(cell: str | float) -> float:
    """A rate, size or time that a machine may have.

    Raises:
        ValueError: it is no number, or one that no machine has.
    """
    scale = 1.0
    if isinstance(cell, str) and cell[-1:] == "%":
        cell = cell[:-1]
    if isinstance(cell, str) and cell[-1:] in ("k", "M", "G", "T"):
        # Of `-h` and `--human`: k is the unit of kB/s, M the one of MB/s.
        cell, scale = cell[:-1], float(units.POWERS_OF_1024[cell[-1].lower()])
    value = float(cell) * scale
    if not 0 <= value <= MAX_AMOUNT:
        raise ValueError(f"{value:g} is no amount")
    return value
