"""What published figures set in the parts, as a ledger, and the constants that follow from it: `make calibration`.

A row of `drives.csv` says which figure sets which constant of its die or controller (column `sets`). The constant is
what makes a fill of the drive, as its parts have it, give that figure. All of them stand in `calibration.csv`: drive,
figure, source, and what it set to what. A constant of a part is the median over its rows; where a drive is left out,
it is the median over those of other drives, and where none are left, what the maker says of the controller, or the
median of its class. `make calibration` writes the ledger and the constants into the part files.
"""

import csv
import functools
import math
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pslc.base import units
from pslc.device import parts
from pslc.device.parts.derive import FOLD_OVERHEADS, way_of_folding
from pslc.device.parts.schema import BYTES, RATES, SHARE, TIMES, quantity

FOLDER = Path(__file__).parent
LEDGER = FOLDER / "calibration.csv"
MIB = 2**20
RATED_SHARE = 0.95
"""What drives write into pSLC over the rating of their controller: 5.89 of 6.4 GB/s (IG5236), 10 of 11.8 (E26), 5.7
of 6.5 (Aries); deep queues are rare among reviews, and none is below 0.85."""
ALONE_SHARE = 0.9
"""What a drive writes with one request of 1 MiB at a time over what it writes with many, of the fastest of a
controller: 0.92 and 0.87 (KC2000, P44 Pro), 0.98 (FX900)."""
TOLERANCE = 0.01
"""Relative, of a simulated figure to the published one."""
MAX_STEPS = 6
"""Fills to come that near."""
NO_LIMIT = "none"
MIN_PEERS = 1
"""Controllers that must tell of a ceiling before another one is taken to have it."""
MIN_COPY_US = 10.0
"""Time of 1 MiB below which a write counts as answered when its data arrive. A review that rounds 5000 MB/s to hundreds
cannot show a shorter time."""

HEADER = ("drive", "figure", "published", "source", "part", "sets", "cells", "when_full", "value")
CONSTANTS: Mapping[str, Mapping[str, int]] = {
    "controller.slc_write": {"MB/s": 10**6},
    "controller.copy_in": {"MB/s": 10**6},
    "controller.native_write": {"MB/s": 10**6},
    "controller.write_buffer": {"KiB": 2**10},
    "nand.slc.program": {"us": 10**3},
    "nand.native.program": {"us": 10**3},
    "cache.host_share": {"%": 100},
    "cache.fold_overhead": {},
}
"""Keys that figures set, with the unit in which the ledger writes them."""


@dataclass(frozen=True)
class Entry:
    """A row of the ledger: what a published figure set. `value` is as in a profile."""

    drive: str
    figure: str
    published: str
    source: str
    part: str
    sets: str
    cells: str
    when_full: str
    value: str


Row = Mapping[str, str]
"""A row of drives.csv."""


@functools.cache
def drives() -> tuple[Row, ...]:
    """Each row of drives.csv."""
    with (FOLDER / "drives.csv").open() as file:
        return tuple(csv.DictReader(file))


@functools.cache
def ratings() -> Mapping[str, tuple[float, str]]:
    """Of each rated controller, bytes a second into pSLC, and who says so."""
    with (FOLDER / "ratings.csv").open() as file:
        return {row["controller"]: (float(row["write_MBps"]) * 1e6, row["source"]) for row in csv.DictReader(file)}


def model(drive: str) -> str:
    """The drive, whoever reviewed it: `HP FX900 1TB (Guru3D)` is an HP FX900 1TB."""
    return drive.partition(" (")[0]


def read() -> tuple[Entry, ...]:
    """The ledger."""
    with LEDGER.open() as file:
        return tuple(Entry(**row) for row in csv.DictReader(file))


def row_of(entry: Entry) -> Row:
    """The drive whose figure an entry is."""
    return next(row for row in drives() if row["drive"] == entry.drive)


def number(entry: Entry) -> float:
    """The value in bytes a second, nanoseconds, bytes, a share, or a factor; copying in as the time of 1 MiB."""
    if entry.sets == "controller.copy_in":
        return 0.0 if entry.value == NO_LIMIT else MIB / quantity(entry.value, RATES, entry.sets) * 1e9
    scales = {"controller.write_buffer": BYTES, "cache.host_share": SHARE}
    if entry.sets == "cache.fold_overhead":
        return float(entry.value)
    if entry.sets.startswith("nand."):
        return float(quantity(entry.value, TIMES, entry.sets))
    return float(quantity(entry.value, scales.get(entry.sets, RATES), entry.sets))


def text(key: str, value: float) -> str:
    """As a profile writes it, to three digits."""
    if key == "cache.fold_overhead":
        return f"{value:.3g}"
    if key == "controller.copy_in":
        if value < MIN_COPY_US * 1e3:
            return NO_LIMIT
        value = MIB / value * 1e9
    (unit, scale), = CONSTANTS[key].items()  # fmt: skip
    shown = value / scale
    digits = max(0, 2 - math.floor(math.log10(shown))) if shown < 100 else 0
    rounded = round(shown, digits) if shown < 100 else float(f"{shown:.3g}")
    return f"{rounded:g}{unit}" if digits else f"{rounded:.0f}{unit}"


def cells(die: str) -> str:
    """`TLC` or `QLC`."""
    return "QLC" if parts.nand(die).bits_per_cell > 3 else "TLC"


def published_rate(entry: Entry) -> float:
    """Bytes a second."""
    return float(entry.published.removesuffix(" MB/s")) * 1e6


def link_class(link: str) -> str:
    """Links that controllers are made for at the same price: PCIe 4.0 and 5.0 are one, PCIe 3.0, SATA and USB each."""
    return "pcie4+" if link.startswith(("pcie4", "pcie5")) else link[:4]


def cache_is_published(row: Row) -> bool:
    """Whether the drive has a cache whose size somebody says."""
    return bool(row["cache"]) and "cache assumed" not in row["parts_from"]


def share_of(row: Row) -> float:
    """Published size of the cache over the capacity."""
    sizes = [units.size(part.partition("=")[2], "cache") for part in row["cache"].split()]
    return sum(sizes) / units.size(row["capacity"], "capacity")


class Constants:
    """The constants that rows of the ledger give, without those of one drive."""

    def __init__(self, ledger: Sequence[Entry], without: str = "") -> None:
        self.all = tuple(ledger)
        self.entries = tuple(entry for entry in ledger if model(entry.drive) != without)

    def values(self, part: str, key: str, of_cells: str = "") -> list[float]:
        """What drives say of a constant of a part."""
        return [
            number(entry)
            for entry in self.entries
            if (entry.part, entry.sets) == (part, key) and of_cells in ("", entry.cells)
        ]

    def peers(self, key: str, alike: Callable[[str], bool], of_cells: str = "") -> list[float]:
        """The medians of other parts of its class, as far as drives say."""
        names = dict.fromkeys(entry.part for entry in self.entries if entry.sets == key)
        by_part = [self.values(name, key, of_cells) for name in names if alike(name)]
        return [statistics.median(values) for values in by_part if values]

    def slc_write(self, controller: str) -> tuple[float, str]:
        """Bytes a second into pSLC, and how that came about."""
        values = self.values(controller, "controller.slc_write")
        if values:
            return statistics.median(values), "drives"
        if controller in ratings():
            rate, source = ratings()[controller]
            return RATED_SHARE * rate, f"{RATED_SHARE:g} of the rating; {source}"
        link = parts.controller(controller).link
        peers = [self.slc_level(name) for name in parts.controllers() if parts.controller(name).link == link]
        peers = [level for level in peers if level]
        median = statistics.median(peers) if peers else 0.0
        alone = self.slc_level(controller)
        if alone > median:
            return alone, "bounded: the fastest review with one request at a time, and some more"
        return (median, f"assumed: the median of controllers on {link}") if peers else (0.0, "")

    def slc_level(self, controller: str) -> float:
        """What drives of a controller write into pSLC, bytes a second; one request at a time is no faster than many."""
        values = self.values(controller, "controller.slc_write")
        if values:
            return statistics.median(values)
        alone = [
            published_rate(entry)
            for entry in self.entries
            if (entry.part, entry.sets) == (controller, "controller.copy_in")
        ]
        return max(alone, default=0.0) / ALONE_SHARE

    def copy_in(self, controller: str) -> tuple[float, str]:
        """Nanoseconds that 1 MiB takes from the link into the buffer, and how that came about."""
        values = self.values(controller, "controller.copy_in")
        if values:
            return statistics.median(values), "drives"
        link = parts.controller(controller).link
        peers = self.peers("controller.copy_in", lambda name: parts.controller(name).link == link)
        return (statistics.median(peers), f"assumed: the median of controllers on {link}") if peers else (0.0, "")

    def native_level(self, controller: str, of_cells: str) -> float:
        """The fastest that a controller is known to write native cells directly, bytes a second; its ceiling where
        that is known. 0: no drive tells."""
        ceilings = self.values(controller, "controller.native_write", of_cells)
        if ceilings:
            return statistics.median(ceilings)
        direct = [
            published_rate(entry)
            for entry in self.entries
            if entry.figure == "speed 2" and entry.sets in ("nand.native.program", "controller.write_buffer")
            and entry.cells == of_cells and row_of(entry)["controller"] == controller
        ]  # fmt: skip
        return max(direct, default=0.0)

    def server_native_write(self, controller: str, of_cells: str) -> tuple[float, str]:
        """The same of drives without a cache, which have more dies than anything behind them could keep busy: what
        other drives for servers on such a link are limited to."""
        link = parts.controller(controller).link

        def alike(name: str) -> bool:
            other = parts.controller(name)
            return (other.habits["mode"], other.link) == ("pure-xlc", link) and name != controller

        levels = self.peers("controller.native_write", alike, of_cells)
        if len(levels) < MIN_PEERS:
            return 0.0, ""
        return statistics.median(levels), f"assumed: the median of controllers without a cache on {link}"

    def program_time(self, die: str) -> float:
        """Nanoseconds of a native program of a die, by drives or else as its part has it."""
        return self.program(die, "native")[0] or float(parts.nand(die).native.program)

    def ceiling_by_other_cells(self, controller: str, of_cells: str) -> float:
        """Bytes a second into native cells of a controller without DRAM, where drives tell its ceiling on other cells
        only; 0: none does. Its memory holds so many bytes of programs under way, whatever the cells, and a program
        that takes longer holds them longer."""
        if parts.controller(controller).map == "dram":
            return 0.0
        under_way = [
            number(entry) * self.program_time(row_of(entry)["nand"])
            for entry in self.entries
            if (entry.part, entry.sets) == (controller, "controller.native_write") and entry.cells != of_cells
        ]
        times = [self.program_time(die) for die in parts.nands() if cells(die) == of_cells]
        return statistics.median(under_way) / statistics.median(times) if under_way else 0.0

    def native_write(self, controller: str, of_cells: str) -> tuple[float, str]:
        """Bytes a second into native cells; 0: as fast as the dies."""
        values = self.values(controller, "controller.native_write", of_cells)
        if values:
            return statistics.median(values), "drives"
        by_other_cells = self.ceiling_by_other_cells(controller, of_cells)
        if by_other_cells:
            return by_other_cells, "derived: the bytes of programs under way on other cells, over a usual program here"
        own = self.native_level(controller, of_cells)
        mine = parts.controller(controller)
        if mine.habits["mode"] == "pure-xlc":
            return self.server_native_write(controller, of_cells)
        if mine.map == "dram" and not mine.link.startswith("sata"):
            # With DRAM for the passes of a program it is mostly the dies that limit.
            return 0.0, ""

        def alike(name: str) -> bool:
            other = parts.controller(name)
            has_cache = other.habits["mode"] != "pure-xlc"
            return has_cache and (other.channels > 4, link_class(other.link)) == (
                mine.channels > 4,
                link_class(mine.link),
            )

        levels = [
            self.native_level(name, of_cells) for name in parts.controllers() if alike(name) and name != controller
        ]
        levels = [level for level in levels if level]
        if len(levels) < MIN_PEERS:
            return 0.0, ""
        channels = "more than four" if mine.channels > 4 else "up to four"
        how = (
            f"assumed: the median of controllers with {channels} channels on such a link, or what it is known to write"
        )
        return max(own, statistics.median(levels)), how

    def fold_overhead(self, die: str, controller: str, of_cells: str, when_full: str) -> tuple[float, str]:
        """Under a policy: of drives on the die or with the controller, or else of all that fold that way."""
        rows = [entry for entry in self.entries if entry.sets == "cache.fold_overhead" and entry.cells == of_cells]
        way = way_of_folding(when_full)
        if way == "direct-while-folding":
            return 1.0, ""
        of_die = [number(entry) for entry in rows if row_of(entry)["nand"] == die]
        of_controller = [
            number(entry)
            for entry in rows
            if entry.part == controller and way_of_folding(entry.when_full) == way
        ]  # fmt: skip
        first, second = (of_die, of_controller) if of_cells == "QLC" else (of_controller, of_die)
        if first or second:
            return statistics.median(first or second), "die" if (first or second) is of_die else "drives"
        # QLC is nearly always written through the cache.
        peers = [number(entry) for entry in rows if of_cells == "QLC" or way_of_folding(entry.when_full) == way]
        return (statistics.median(peers), "") if peers else (1.0, "")

    def host_share(self, controller: str) -> tuple[float, str]:
        """Of die time, in hundredths of a per cent."""
        values = self.values(controller, "cache.host_share")
        if values:
            return statistics.median(values), "drives"
        peers = self.peers("cache.host_share", lambda name: True) or [5000.0]
        return (statistics.median(peers), "assumed: the median of controllers that fold while they write")

    def write_buffer(self, controller: str) -> tuple[float, str]:
        """Bytes; 0: as many as the dies need."""
        values = self.values(controller, "controller.write_buffer")
        if values:
            return statistics.median(values), "drives"
        return 0.0, ""

    def program(self, die: str, mode: str) -> tuple[float, str]:
        """Nanoseconds of a whole program in a mode; 0: as the part file has it, which no drive has set."""
        key = f"nand.{mode}.program"
        values = self.values(die, key)
        if values:
            return statistics.median(values), "drives"
        if not any((entry.part, entry.sets) == (die, key) for entry in self.all):
            return 0.0, ""
        of = parts.nand(die)

        def alike(name: str) -> bool:
            other = parts.nand(name)
            return other.bits_per_cell == of.bits_per_cell and 0.6 < other.layers / of.layers < 1.7 and name != die

        rates = []
        for name in filter(alike, parts.nands()):
            other = parts.nand(name)
            times = self.values(name, key)
            if mode == "slc" and not times:
                # No paper tells it, so what parts have is assumed, and too slow of most dies that drives tell of.
                continue
            time = statistics.median(times) if times else float(getattr(other, mode).program)
            # Into pSLC a program takes as long whatever the planes; native ones are known by what a die writes.
            rates.append(1 / time if mode == "slc" else other.planes / time)
        own = 1 if mode == "slc" else of.planes
        return (own / statistics.median(rates), "assumed: the median of dies of its kind") if rates else (0.0, "")

    def policy(self, row: Row) -> str:
        """What the firmware of the controller does, as other drives show it."""

        def shapes(rows: Sequence[Row]) -> list[str]:
            return [other["when_full"] for other in rows if other["when_full"] and cells(other["nand"]) == of_cells]

        of_cells = cells(row["nand"])
        rest = [other for other in drives() if model(other["drive"]) != model(row["drive"])]
        policies = shapes([other for other in rest if other["controller"] == row["controller"]]) or shapes(rest)
        return Counter(policies).most_common(1)[0][0]

    def cache_share(self, row: Row) -> float:
        """Size of the cache over the capacity, as other drives of the controller have it, or else as all have."""
        of_cells = cells(row["nand"])
        others = [
            (other["controller"], share_of(other))
            for other in drives()
            if model(other["drive"]) != model(row["drive"]) and cells(other["nand"]) == of_cells
            and cache_is_published(other)
        ]  # fmt: skip
        mine = [share for controller, share in others if controller == row["controller"]]
        return statistics.median(mine or [share for _, share in others])

    def of(self, row: Row, when_full: str) -> dict[str, str]:
        """Every constant of a drive, as keys of a profile."""
        controller, die, of_cells = row["controller"], row["nand"], cells(row["nand"])
        if not row["cache"]:
            ceiling, program = self.native_write(controller, of_cells)[0], self.program(die, "native")[0]
            given = {"controller.native_write": text("controller.native_write", ceiling) if ceiling else NO_LIMIT}
            return given | ({"nand.native.program": text("nand.native.program", program)} if program else {})
        estimates = {
            "controller.slc_write": self.slc_write(controller),
            "controller.copy_in": self.copy_in(controller),
            "controller.native_write": self.native_write(controller, of_cells),
            "controller.write_buffer": self.write_buffer(controller),
            "nand.slc.program": self.program(die, "slc"),
            "nand.native.program": self.program(die, "native"),
            "cache.fold_overhead": self.fold_overhead(die, controller, of_cells, when_full),
        }
        if when_full == "direct-while-folding":
            estimates["cache.host_share"] = self.host_share(controller)
        given = {key: text(key, value) for key, (value, _) in estimates.items() if value > 0}
        for key in ("controller.slc_write", "controller.copy_in", "controller.native_write"):
            given.setdefault(key, NO_LIMIT)
        return given


def sets_of(row: Row) -> list[tuple[str, str]]:
    """Figure and key of each constant that a row sets."""
    return [(figure, key) for figure, _, key in (part.partition(" > ") for part in row["sets"].split("; ")) if key]


def published(row: Row, figure: str) -> float:
    """Bytes a second."""
    return float(row[figure.replace(" ", "") + "_MBps"]) * 1e6


def fit(row: Row, figure: str, key: str, simulate: Callable[[Row, str, Mapping[str, str]], float],
        given: Mapping[str, str]) -> float:  # fmt: skip
    """The value of a key with which a fill of the drive gives the figure; `simulate` tells the figure of a fill."""
    goal = published(row, figure)
    if figure.startswith("speed") and key in ("controller.slc_write", "controller.native_write"):
        return goal
    if key == "controller.copy_in":
        without = simulate(row, figure, {**given, key: NO_LIMIT})
        return max(0.0, (MIB / goal - MIB / without) * 1e9)
    die = parts.nand(row["nand"])
    start = {
        "nand.slc.program": die.slc.program,
        "nand.native.program": die.native.program,
        "cache.fold_overhead": 2.0,
        "cache.host_share": 7000.0,
        "controller.write_buffer": 2.0**20,
        "controller.native_write": goal,
    }
    bounds = {"cache.fold_overhead": (0.1, 40.0), "cache.host_share": (500.0, 9500.0)}.get(key, (1.0, 1e12))
    rises = key in ("cache.host_share", "controller.write_buffer", "controller.native_write")
    points: list[tuple[float, float]] = []
    value = float(start[key])
    for _ in range(MAX_STEPS):
        error = math.log(simulate(row, figure, {**given, key: text(key, value)}) / goal)
        points.append((math.log(value), error))
        if abs(error) < TOLERANCE:
            break
        slope = 1.0 if rises else -1.0
        if len(points) > 1 and points[-1][0] != points[-2][0]:
            (x0, y0), (x1, y1) = points[-2:]
            slope = (y1 - y0) / (x1 - x0) or slope
        step = max(-1.5, min(1.5, -error / slope))
        value = min(max(math.exp(points[-1][0] + step), bounds[0]), bounds[1])
        if math.log(value) == points[-1][0]:
            break
    best = min(points, key=lambda point: abs(point[1]))
    return math.exp(best[0])


# ---- into the part files


class PartFile:
    """A part file whose lines are changed one by one, so that all else stays as it is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = path.read_text().splitlines()

    def bounds(self, table: str) -> tuple[int, int]:
        """First line of a table and the line after its last; equal where there is none."""
        heads = [n for n, line in enumerate(self.lines) if line.startswith("[")]
        starts = [-1] if not table else [n for n in heads if self.lines[n] == f"[{table}]"]
        if not starts:
            return 0, 0
        end = next((n for n in heads if n > starts[0]), len(self.lines))
        while end > starts[0] + 1 and not self.lines[end - 1].strip():
            end -= 1
        return starts[0] + 1, end

    def put(self, table: str, key: str, value: str | None) -> None:
        """A line of a table: its text, or None to take it out."""
        first, end = self.bounds(table)
        at = next((n for n in range(first, end) if self.lines[n].split(" = ")[0].strip('"') == key), None)
        name = f'"{key}"' if "." in key else key
        if value is None:
            if at is not None:
                del self.lines[at]
            return
        if at is None:
            self.lines.insert(end, f"{name} = {value}")
        else:
            self.lines[at] = f"{name} = {value}"

    def set(self, key: str, value: str | None, source: str) -> None:
        """A dotted key and where it comes from, or neither."""
        table, _, name = key.rpartition(".")
        self.put(table, name, value)
        self.put("source", key, None if value is None else quoted(source))

    def write(self) -> None:
        """To its place."""
        self.path.write_text("\n".join(self.lines) + "\n")


def quoted(of: str) -> str:
    """As TOML."""
    return '"' + of.replace("\\", "\\\\").replace('"', '\\"') + '"'


MAX_NAMED = 3
"""Drives that a source names."""


def named(constants: Constants, part: str, key: str, of_cells: str = "") -> str:
    """Which drives a constant is from."""
    names = dict.fromkeys(
        model(entry.drive)
        for entry in constants.entries
        if (entry.part, entry.sets) == (part, key) and of_cells in ("", entry.cells)
    )
    some = ", ".join([*names][:MAX_NAMED]) + (f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else "")
    return f"calibrated on {some} (docs/accuracy/calibration.csv)"


def set_controller(constants: Constants, name: str) -> None:
    """The constants of a controller."""
    controller = parts.controller(name)
    file = PartFile(parts.FOLDER / "controllers" / f"{name}.toml")
    if controller.habits["mode"] != "pure-xlc":
        for key, (value, how) in (("slc_write", constants.slc_write(name)), ("copy_in", constants.copy_in(name))):
            written_ = text(f"controller.{key}", value) if value else NO_LIMIT
            source = named(constants, name, f"controller.{key}") if how == "drives" else how
            file.set(key, None if written_ == NO_LIMIT else quoted(written_), source)
    value, how = constants.write_buffer(name)
    if how:
        file.set(
            "write_buffer",
            quoted(text("controller.write_buffer", value)),
            named(constants, name, "controller.write_buffer"),
        )
    for table, of_cells in (("habits", "TLC"), ("habits_qlc", "QLC")):
        habits = controller.habits if table == "habits" else controller.habits_qlc
        if not habits:
            continue
        when_full = str({**controller.habits, **habits}["when_full"])
        estimates = {
            "native_write": (constants.native_write(name, of_cells), "controller.native_write"),
            "fold_overhead": (constants.fold_overhead("", name, of_cells, when_full), "cache.fold_overhead"),
        }
        if when_full == "direct-while-folding" and of_cells == "TLC":
            estimates["host_share"] = (constants.host_share(name), "cache.host_share")
        for key, ((value, how), ledger_key) in estimates.items():
            source = named(constants, name, ledger_key, of_cells) if how == "drives" else how
            how = "" if key == "fold_overhead" and of_cells == "QLC" and how != "drives" else how
            shown = text(ledger_key, value) if value else ""
            shown = shown if key == "fold_overhead" else quoted(shown)
            file.set(f"{table}.{key}", shown if how else None, source)
    file.write()


def set_die(constants: Constants, name: str) -> None:
    """The constants of a die, where drives set any."""
    file = PartFile(parts.FOLDER / "nand" / f"{name}.toml")
    for mode in ("slc", "native"):
        value, how = constants.program(name, mode)
        if how == "drives":
            key = f"nand.{mode}.program"
            file.set(f"{mode}.program", quoted(text(key, value)), named(constants, name, key))
    value, how = constants.fold_overhead(name, "", cells(name), "fold")
    names = dict.fromkeys(
        model(entry.drive)
        for entry in constants.entries
        if entry.sets == "cache.fold_overhead" and row_of(entry)["nand"] == name
    )
    source = f"calibrated on {', '.join(names)} (docs/accuracy/calibration.csv)"
    file.set("fold_overhead", text("cache.fold_overhead", value) if how == "die" else None, source)
    file.write()


def write(ledger: Sequence[Entry]) -> None:
    """The ledger."""
    with LEDGER.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(HEADER)
        out.writerows([[getattr(entry, column) for column in HEADER] for entry in ledger])


def apply() -> None:
    """The constants of the ledger go into the part files."""
    constants = Constants(read())
    for name in parts.controllers():
        set_controller(constants, name)
    for name in parts.nands():
        set_die(constants, name)
    for (way, of_cells), overhead in FOLD_OVERHEADS.items():
        median = constants.fold_overhead("", "", of_cells, way)[0]
        sys.stdout.write(f"FOLD_OVERHEADS, {way}, {of_cells}: {median:.3g}, {overhead} in derive.py\n")
