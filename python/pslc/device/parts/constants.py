"""Constants of controllers and dies that no maker states, from constants.csv: each with a median and a spread.

They are fitted to published figures of drives, all together (docs/accuracy/pooled.py, `make calibration`). A constant
is a regression on what makers state, times what is a part's own:

    constant = class x factor of each feature ** feature x own

The table has the product for each part of the library, and the class with its factors (`per link`) for any other part.
`sd` is the standard deviation of the logarithm.
"""

import csv
import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pslc.device.parts.schema import Controller, Nand

TABLE: Final = Path(__file__).parent / "constants.csv"
OWN: Final = "own"
"""Row of a constant that tells how far parts of a class lie apart: its median is 1."""
LINK_BYTES_PER_S: Final = {"sata600": 569e6, "sata300": 284e6, "usb5g": 484e6, "usb10g": 1050e6, "usb20g": 1900e6}
"""Data that links carry, as the simulator has it; of USB what bridges reach."""
LANE_BYTES_PER_S: Final = {1: 210e6, 2: 421e6, 3: 829e6, 4: 1658e6, 5: 3317e6}
"""Data that a lane carries, by generation of PCIe."""


@dataclass(frozen=True)
class Constant:
    """A constant: its median, and the standard deviation of its logarithm."""

    median: float
    sd: float


FEATURES: Final[Mapping[str, tuple[str, ...]]] = {
    "slc_write": ("link", "dram", "sata", "channels", "bus"),
    "copy_time": ("link", "dram", "sata"),
    "native_write": ("link", "dram", "sata", "channels", "bus", "qlc", "server"),
    "folding": ("qlc", "dram"),
    "flush": (),
    "latency": ("sata",),
    "slc_read": ("read",),
    "slc_program": ("qlc", "mlc", "layers"),
    "native_program": ("qlc", "mlc", "layers"),
}
"""Features that each constant depends on: ceilings in bytes/s, time of 1 MiB beyond the transfer and programs in ns,
folding as die time for each byte that is folded, over (bits a cell - 1) native programs, a flush in ns, what one small
read or write takes in the controller at depth 1, and what a read at one bit takes in the cells, in ns."""
SPEEDS: Final = tuple(name for name in FEATURES if name not in ("flush", "latency", "slc_read"))
"""Constants that laws of speed need."""
OF_CONTROLLERS: Final = ("slc_write", "copy_time", "native_write", "folding", "flush", "latency")
BY_CELLS: Final = ("native_write", "folding")
CELLS: Final = ("TLC", "QLC")
HABITS: Final = ("habits", "habits_qlc")
MIB: Final = 2**20
HOST_NS: Final = 50_000
"""Time of one write in a reviewer's host: part of `copy_time`, not of the drive."""
MIN_COPY_NS: Final = 10_000
"""Time of 1 MiB below which a write counts as answered when its data arrive: reviews round to hundreds of MB/s."""
SD_80: Final = 1.2816
"""Standard deviations on either side that hold 80 % of a normal distribution."""
WAYS: Final = ("direct-then-fold", "direct-while-folding", "fold", "slow-fold")
"""Ways of folding. Each but the first has a factor on `folding`; that of the last, which writes native cells through
the cache alone at the firmware's own pace, is on `laws.SLOW_FOLD_S_PER_BYTE`."""


def link_bytes_per_s(link: str) -> float:
    """Bytes/s of written data that a link carries."""
    if link.startswith("pcie"):
        generation, lanes = link.removeprefix("pcie").split("x")
        return LANE_BYTES_PER_S[int(generation)] * int(lanes)
    return LINK_BYTES_PER_S[link]


def cells_of(die: Nand) -> str:
    """`TLC` or `QLC`: what the constants of a controller tell apart."""
    return "QLC" if die.bits_per_cell > 3 else "TLC"


def of_controller(chip: Controller, cells: str) -> dict[str, float]:
    """Features of a controller that writes such cells."""
    return {
        "link": math.log(link_bytes_per_s(chip.link) / 3450e6),
        "dram": float(chip.map == "dram"),
        "sata": float(chip.link.startswith("sata")),
        "channels": math.log(chip.channels / 8),
        "bus": math.log(chip.bus_mts / 1200),
        "qlc": float(cells == "QLC"),
        "server": float(chip.habits["mode"] == "pure-xlc"),
    }


def of_die(die: Nand) -> dict[str, float]:
    """Features of a die."""
    return {
        "qlc": float(die.bits_per_cell > 3),
        "mlc": float(die.bits_per_cell == 2),
        "layers": math.log(die.layers / 96),
        "read": math.log(die.native.read / 60_000),
    }


@functools.cache
def table() -> Mapping[tuple[str, str], Constant]:
    """Each row by constant and part."""
    with TABLE.open(encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return {(row["constant"], row["part"]): Constant(float(row["median"]), float(row["sd"])) for row in rows}


def part_of(name: str, chip: Controller, die: Nand) -> str:
    """The part of a constant, as the table names it: `phison-e12 QLC` where the cells matter."""
    if name not in OF_CONTROLLERS:
        return die.name
    return f"{chip.name} {cells_of(die)}" if name in BY_CELLS else chip.name


def is_known(name: str, part: str) -> bool:
    """Whether the table has this part."""
    return (name, part) in table()


def constant(name: str, part: str, features: Mapping[str, float]) -> Constant:
    """A constant of a part: its own row, or else what its class has."""
    if is_known(name, part):
        return table()[name, part]
    base, own = table()[name, "class"], table()[name, OWN]
    mean, variance = math.log(base.median), base.sd**2 + own.sd**2
    for feature in FEATURES[name]:
        factor = table()[name, f"per {feature}"]
        mean += math.log(factor.median) * features[feature]
        variance += (factor.sd * features[feature]) ** 2
    return Constant(math.exp(mean), math.sqrt(variance))


def of(chip: Controller, die: Nand) -> dict[str, Constant]:
    """Every constant of a controller and a die."""
    features = {True: of_controller(chip, cells_of(die)), False: of_die(die)}
    return {name: constant(name, part_of(name, chip, die), features[name in OF_CONTROLLERS]) for name in FEATURES}


def with_times(die: Nand) -> Nand:
    """A die with its program times and its read at one bit: those of the table, of its own file, or of its class."""
    source = dict(die.source)
    for mode, what in (("slc", "read"), ("slc", "program"), ("native", "program")):
        name, times = f"{mode}_{what}", getattr(die, mode)
        if getattr(times, what) and not is_known(name, die.name):
            continue
        fitted = constant(name, die.name, of_die(die))
        die = replace(die, **{mode: replace(times, **{what: _rounded(fitted.median)})})
        source[f"{mode}.{what}"] = _source(fitted, is_known(name, die.name))
    return replace(die, source=source)


def with_ceilings(chip: Controller) -> Controller:
    """A controller with its ceilings, its copying in and what folding costs."""
    features = {cells: of_controller(chip, cells) for cells in CELLS}

    def fitted(name: str, cells: str) -> Constant:
        return constant(name, f"{chip.name} {cells}" if name in BY_CELLS else chip.name, features[cells])

    slc, copy = fitted("slc_write", "TLC"), fitted("copy_time", "TLC")
    native = {cells: fitted("native_write", cells) for cells in CELLS}
    folding = {cells: fitted("folding", cells) for cells in CELLS}
    factors = {way: table()["folding", f"way {way}"].median for way in WAYS[1:-1]} | {WAYS[0]: 1.0}
    flush, latency = fitted("flush", "TLC"), fitted("latency", "TLC")
    latency_ns = max(0, _rounded(latency.median) - chip.write)
    copy_ns = copy.median - HOST_NS - chip.write - latency_ns
    in_table = is_known("slc_write", chip.name)
    source = {**chip.source, "slc_write": _source(slc, in_table), "copy_in": _source(copy, in_table)}
    for name, constant_of in {"flush": flush, "latency": latency}.items():
        source[name] = _source(constant_of, is_known(name, chip.name))
    for cells in CELLS:
        source |= {f"native_write.{cells}": _source(native[cells], in_table)}
        source |= {f"folding.{cells}": _source(folding[cells], in_table)}
    return replace(
        chip,
        slc_write=_rounded(slc.median),
        copy_in=_rounded(MIB / copy_ns * 1e9) if copy_ns > MIN_COPY_NS else None,
        flush=_rounded(flush.median),
        latency=latency_ns,
        native_write={cells: _rounded(native[cells].median) for cells in CELLS},
        folding={cells: {way: folding[cells].median * factor for way, factor in factors.items()} for cells in CELLS},
        habits={**chip.habits, "share": _cache_share(chip, "TLC", 3)},
        habits_qlc={**chip.habits_qlc, "share": _cache_share(chip, "QLC", 4)},
        source={**source, **{f"{habits}.share": "drives alike (docs/accuracy/pooled.py)" for habits in HABITS}},
    )


def _cache_share(chip: Controller, cells: str, bits: int) -> str:
    """Share of the capacity that the cache takes, of cells of so many bits: of the table, of its file, of its class."""
    stated = (chip.habits_qlc if cells == "QLC" else chip.habits).get("share")
    fitted = table().get(("cache_share", f"{chip.name} {cells}"))
    if stated and not fitted:
        return str(stated)
    return f"{(fitted or table()['cache_share', f'class {cells}']).median / bits:.2%}"


def _rounded(value: float) -> int:
    """To three digits."""
    return int(float(f"{value:.3g}"))


def _source(fitted: Constant, is_known: bool) -> str:
    """Source of a constant, and how well it is known."""
    within = math.exp(SD_80 * fitted.sd)
    of = "fitted to all drives of the ledger" if is_known else "assumed: what its class has"
    return f"{of} (docs/accuracy/pooled.py); 80 %: within {within:.1f} times"
