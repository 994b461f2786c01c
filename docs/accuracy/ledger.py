"""The ledger of published figures, drives.csv: a row for each drive and source, with the parts that it is made of."""

import csv
import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pslc.device import parts
from pslc.device.parts.derive import way_of_folding
from pslc.device.parts.forecast import FIGURES, drive_of
from pslc.device.parts.laws import Drive
from pslc.device.parts.schema import Controller, Nand

FOLDER = Path(__file__).parent
USUAL_PROGRAM_S = {2: 1.3e-3, 3: 2e-3, 4: 6.6e-3}
"""Of a native program, by bits a cell."""
SLOW_SHARE = 0.5
"""Of what a drive that folds writes with dies of the usual program time, one byte in as many as a cell has bits: a
slow one is below it."""

Row = Mapping[str, str]


@functools.cache
def read(name: str) -> tuple[Row, ...]:
    """Each row of a table of this folder."""
    with (FOLDER / name).open() as file:
        return tuple(csv.DictReader(file))


def rows() -> tuple[Row, ...]:
    """Each row of drives.csv."""
    return read("drives.csv")


def ratings() -> Mapping[str, float]:
    """Bytes/s into pSLC that makers of controllers state."""
    return {row["controller"]: float(row["write_MBps"]) * 1e6 for row in read("ratings.csv")}


def flushes() -> tuple[Row, ...]:
    """Each row of flushes.csv: what a synced write of 4 to 64 KiB takes on drives without capacitors. `synced` is the
    `data` alone (of the device, or by fdatasync), or the `file`, with the file system's journal (fsync)."""
    return read("flushes.csv")


def commands() -> tuple[Row, ...]:
    """Each row of qd1.csv: writes and reads of 4 KiB a second, one at a time, or the geometric mean of both, `rated` by
    the maker or `measured`."""
    return read("qd1.csv")


def model(drive: str) -> str:
    """The drive, whoever reviewed it: `HP FX900 1TB (Guru3D)` is an HP FX900 1TB."""
    return drive.partition(" (")[0]


def line(drive: str) -> str:
    """The drive in any capacity: `HP FX900`."""
    return re.sub(r"\s+\d+(\.\d+)?(GB|TB)\b.*", "", model(drive))


def cache_is_published(row: Row) -> bool:
    """Whether the drive has a cache whose size somebody says."""
    return bool(row["cache"]) and "cache assumed" not in row["parts_from"]


@dataclass(frozen=True)
class Review:
    """A row as the laws see it.

    Attributes:
        figures: logarithm of each published speed, in bytes/s, by name.
        way: of folding; "": there is no cache, or nobody saw it.
        kind: who measured: `maker`, `single` (1 MiB at a time) or `deep`.
    """

    row: Row
    chip: Controller
    die: Nand
    drive: Drive
    figures: Mapping[str, float]
    way: str
    kind: str

    @property
    def line(self) -> str:
        """The drive in any capacity."""
        return line(self.row["drive"])

    @property
    def pair(self) -> str:
        """Controller and die."""
        return f"{self.chip.name} {self.die.name}"


def review(row: Row) -> Review:
    """A row of drives.csv."""
    chip, die = parts.published_controller(row["controller"]), parts.published_nand(row["nand"])
    pairs = (pair.partition("=") for pair in row["cache"].split())
    cache = {f"cache.{name}": size for name, _, size in pairs} or {"cache.mode": "pure-xlc"}
    given = dict(pair.split("=", 1) for pair in row["given"].split())
    values = parts.derive(die, chip, {"capacity": row["capacity"], **cache, **given}, whole=True).values
    drive = drive_of(values, chip, die, is_single=row["tool"] == "copy")
    figures = {name: math.log(float(row[f"{name}_MBps"]) * 1e6) for name in FIGURES if row[f"{name}_MBps"]}
    way = way_of_folding(row["when_full"]) if row["cache"] and row["when_full"] else ""
    folding = drive.dies * die.unit_bytes / USUAL_PROGRAM_S[die.bits_per_cell] / die.bits_per_cell
    if way == "fold" and math.exp(figures.get("speed2", math.inf)) < SLOW_SHARE * folding:
        way = "slow-fold"
    kind = "maker" if "specification" in row["source"] else "single" if drive.is_single else "deep"
    return Review(row, chip, die, drive, figures, way, kind)


@functools.cache
def reviews() -> tuple[Review, ...]:
    """Each row, as the laws see it."""
    return tuple(review(row) for row in rows())
