"""Forecasts of drives made of parts, with intervals: phases, cache, and way of folding.

from pslc.device.parts import forecast
drive = forecast.of(nand="bics5-tlc-512g", controller="phison-e16", capacity="1TB")
drive.first.median, drive.first.low, drive.first.high      # bytes/s, 80 % between low and high

Constants are drawn from their table (constants.py), each draw takes one way of folding, and the laws (laws.py) make
speeds of it. Ways and caches come from the drives of lines.csv: those that share the most count the most.
"""

from __future__ import annotations

import csv
import functools
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pslc.base import files, units
from pslc.device import parts
from pslc.device.parts import constants, laws
from pslc.device.parts.constants import SPEEDS, WAYS
from pslc.device.parts.derive import way_of_folding
from pslc.device.parts.laws import Drive, Floats
from pslc.device.parts.schema import RATES, SHARE, TIMES, Controller, Nand, Raw, quantity

LINES: Final = Path(__file__).parent / "lines.csv"
FIGURES: Final = ("speed1", "speed2", "speed3", "mean")
PHASES: Final = ("first", "past")
LOW, HIGH = 0.1, 0.9
DRAWS: Final = 4000
NOISE_DOF: Final = 4
STRETCH: Final = 1.3
"""Factor on intervals of leave-outs, in logarithms, with which they hold on drives not seen (ACCURACY.md)."""
STRETCH_CLASS: Final = 1.7
"""Factor where the controller or the die is in no drive of the ledger: a range, and no percentage."""
BAND_STEPS: Final = 25
"""Most steps of a band for each end of a phase that is drawn."""
BAND_QUANTILES: Final = np.linspace(0, 1, BAND_STEPS)
BACK_OFF: Final = 2.0
"""Drives that each step from all drives to those alike counts for."""
KINDS: Final = {"static": 0.11, "small": 0.25, "part": 0.78, "all cells": math.inf}
"""Kinds of cache by the share of cells in use: bytes times bits a cell over the capacity, up to."""


@dataclass(frozen=True)
class Line:
    """A drive of the ledger in any capacity.

    Attributes:
        share: of its cells that the cache takes, none where nobody says.
        way: of folding; "": nobody saw it.
    """

    name: str
    controller: str
    nand: str
    mode: str
    share: float | None
    way: str

    @property
    def chip(self) -> Controller:
        """Controller of the line."""
        return parts.published_controller(self.controller)

    @property
    def cells(self) -> str:
        """`TLC` or `QLC`."""
        return constants.cells_of(parts.published_nand(self.nand))


@functools.cache
def lines() -> tuple[Line, ...]:
    """Each row of lines.csv."""
    with LINES.open(encoding="utf-8") as file:
        return tuple(_line(row) for row in csv.DictReader(file))


def _line(row: Mapping[str, str]) -> Line:
    share = float(row["share"]) if row["share"] else None
    return Line(row["line"], row["controller"], row["nand"], row["mode"], share, row["way"])


@dataclass(frozen=True)
class Interval:
    """Bytes, bytes/s or seconds: the middle, and what 80 % lie between."""

    median: float
    low: float
    high: float

    def text(self, by: float, unit: str, *, is_known: bool) -> str:
        """`1500 MB/s (80 %: 740 to 3200)`, without the percentage where a class stands in for a part."""
        median, low, high = (two_digits(value / by) for value in (self.median, self.low, self.high))
        return f"{median} {unit} ({'80 %: ' if is_known else 'perhaps '}{low} to {high})"


def two_digits(value: float) -> str:
    """`1500` of 1483."""
    return f"{float(f'{value:.2g}'):g}"


@dataclass(frozen=True)
class CacheKind:
    """A kind of cache that the drive may have: how likely, and how many bytes then."""

    name: str
    probability: float
    size: Interval


@dataclass(frozen=True)
class Forecast:
    """Forecast of a drive of parts.

    Attributes:
        first, past, mean: bytes/s of the first phase, past the cache, and of the whole fill; None: there is no cache.
        flush: seconds of a flush beyond the programs of the buffer; None: capacitors carry it, or the profile gives it.
        caches: kinds of cache, the most likely first.
        ways: how likely each way of folding is.
        nearest: what is known of these parts, in words.
        is_open: the parts decide how fast it writes past the cache, not the profile itself.
        drive: capacity, cache and dies that it is for.
        is_known: drives with both parts stand in the ledger, so that the intervals are of 80 %.
        band: the write curve of such drives: bytes/s from each share of the capacity on.
    """

    first: Interval
    past: Interval | None
    mean: Interval | None
    flush: Interval | None
    caches: tuple[CacheKind, ...]
    ways: Mapping[str, float]
    nearest: str
    is_known: bool
    is_open: bool
    drive: Drive
    band: tuple[tuple[float, Interval], ...]

    @property
    def in_words(self) -> list[tuple[str, str]]:
        """The phases of a fill and the flush in words."""
        rows = (("first phase", self.first), ("past the cache", self.past), ("mean of a fill", self.mean))
        phases = [(name, of.text(1e6, "MB/s", is_known=self.is_known)) for name, of in rows if of]
        return phases + ([("flush", self.flush.text(1e-3, "ms", is_known=self.is_known))] if self.flush else [])


def mode_of(drive: Drive) -> str:
    """Mode of a drive's cache."""
    return "hybrid" if drive.static and drive.dynamic else "static" if drive.static else "dynamic"


def ways(chip: Controller, cells: str, mode: str, among: Sequence[Line]) -> dict[str, float]:
    """Probability of each way of folding, from all drives to those that are alike."""
    labelled = [line for line in among if line.way]
    of_cells = [line for line in labelled if line.cells == cells]
    steps = (
        labelled, of_cells, [line for line in of_cells if line.mode == mode],
        [line for line in of_cells if line.chip.maker == chip.maker],
        [line for line in of_cells if line.controller == chip.name],
    )  # fmt: skip
    likely = dict.fromkeys(WAYS, 1 / len(WAYS))
    for step in steps:
        total = len(step) + BACK_OFF
        likely = {way: (sum(line.way == way for line in step) + BACK_OFF * p) / total for way, p in likely.items()}
    return likely


def figures(
    drive: Drive, likely: Mapping[str, float], logs: Floats, noise: Mapping[str, float], dice: np.random.Generator
) -> dict[str, Floats]:
    """Logarithms of the figures of draws.

    Args:
        logs: a column a draw, with the logarithms of the constants, of the factors of ways but the first, and of what
            the pair and the line do to each phase.
        noise: of the figures of each phase.
    """
    names, count = SPEEDS, logs.shape[1]
    values = dict(zip(names, logs[: len(names)], strict=True))
    factors = [np.zeros(count), *logs[len(names) : len(names) + len(WAYS) - 1]]
    drawn = []
    for way, factor in zip(WAYS, factors, strict=True):
        speeds = laws.speeds(
            drive, way, {**values, "folding": factor + (values["folding"] if way != WAYS[-1] else 0.0)}
        )
        drawn.append(
            [np.broadcast_to(np.log(v), count) for v in (speeds.first, speeds.second, speeds.third, speeds.mean)]
        )
    chosen = dice.choice(len(WAYS), count, p=list(likely.values()))
    bias = dict(zip(PHASES, logs[-2:], strict=True))
    result = {}
    for at, name in enumerate(FIGURES):
        phase = PHASES[name != "speed1"]
        error = noise[phase] * dice.standard_t(NOISE_DOF, count)
        result[name] = np.choose(chosen, [speeds[at] for speeds in drawn]) + bias[phase] + error
    return result


def share_draws(
    chip: Controller, nand: str, cells: str, among: Sequence[Line], count: int, dice: np.random.Generator
) -> tuple[Floats, NDArray[np.str_]]:
    """Draws of the share of cells that the cache takes, at most `MAX_SHARE`, and of its mode: each drive counts by what
    it has in common, and spreads by that. `nand` may be empty: any die of such cells."""
    drawn = [line for line in among if line.share]
    near = [_kinship(line, chip, nand, cells) for line in drawn]
    crowds = np.bincount(near, minlength=len(WEIGHTS))
    weights = np.array([WEIGHTS[k] * (min(1.0, 3 / crowds[k]) if k >= FIRST_CROWD else 1.0) for k in near])
    # Some are beyond what there can be.
    chosen = dice.choice(len(drawn), 2 * count, p=weights / weights.sum())
    centers = np.log([line.share for line in drawn if line.share])
    widths = np.array([WIDTHS[k] for k in near])
    shares = np.exp(centers[chosen] + widths[chosen] * dice.standard_t(NOISE_DOF, 2 * count))
    kept = np.flatnonzero(shares <= MAX_SHARE)[:count]
    return shares[kept], np.array([line.mode for line in drawn])[chosen][kept]


def kinds_of(shares: Floats) -> dict[str, Floats]:
    """Shares by kind of cache, the most likely first."""
    bounds = np.searchsorted([*KINDS.values()], shares)
    by_kind = {name: shares[bounds == at] for at, name in enumerate(KINDS)}
    likely = {name: mine for name, mine in by_kind.items() if len(mine) > MIN_PROBABILITY * len(shares)}
    return dict(sorted(likely.items(), key=lambda kind: -len(kind[1])))


def usual_share(chip: Controller, cells: str, among: Sequence[Line]) -> constants.Constant:
    """Share of cells that the caches of a controller take, of the most likely kind and of its usual mode."""
    shares, modes = share_draws(chip, "", cells, among, DRAWS, np.random.default_rng(0))
    usual = str(chip.habits_qlc.get("mode") if cells == "QLC" else "") or str(chip.habits["mode"])
    mine = shares[(modes == "static") == usual.startswith("static")]
    logs = np.log(next(iter(kinds_of(mine).values())))
    return constants.Constant(math.exp(float(np.median(logs))), float(logs.std()))


def caches(chip: Controller, die: Nand, capacity: float, among: Sequence[Line]) -> tuple[CacheKind, ...]:
    """Kinds of cache that drives alike have, the most likely first."""
    scale = capacity / die.bits_per_cell
    shares, _ = share_draws(chip, die.name, constants.cells_of(die), among, DRAWS, np.random.default_rng(0))
    return tuple(
        CacheKind(name, len(mine) / len(shares), _interval(np.log(mine * scale)))
        for name, mine in kinds_of(shares).items()
    )


def any_kind(chip: Controller, die: Nand, capacity: float, among: Sequence[Line]) -> Interval:
    """Bytes of the cache, of whatever kind."""
    shares, _ = share_draws(chip, die.name, constants.cells_of(die), among, DRAWS, np.random.default_rng(0))
    return _interval(np.log(shares * capacity / die.bits_per_cell))


MAX_SHARE: Final = 1.0
MIN_PROBABILITY: Final = 0.02
WEIGHTS: Final = (12.0, 6.0, 1.5, 0.3, 0.4, 0.15, 0.03)
"""Weight of a drive that shares controller and die; controller and cells; maker, cells, DRAM and link; maker and cells;
cells, DRAM and link; cells; nothing."""
WIDTHS: Final = (0.15, 0.15, 0.25, 0.3, 0.3, 0.35, 0.4)
FIRST_CROWD: Final = 4
"""Place from which on many drives count no more than three."""


def _kinship(line: Line, chip: Controller, nand: str, of_cells: str) -> int:
    """Place in `WEIGHTS`."""
    other = line.chip
    cells = line.cells == of_cells
    maker = other.maker == chip.maker
    build = (other.map == "dram", other.link) == (chip.map == "dram", chip.link)
    alike = (
        line.controller == chip.name and line.nand == nand, line.controller == chip.name and cells,
        maker and cells and build, maker and cells, cells and build, cells, True,
    )  # fmt: skip
    return alike.index(True)


def _interval(logs: Floats, stretch: float = 1.0) -> Interval:
    low, median, high = np.quantile(logs, [LOW, 0.5, HIGH])
    return Interval(*(math.exp(median + stretch * (x - median)) for x in (median, low, high)))


def band(drive: Drive, speeds: Mapping[str, Floats], stretch: float) -> tuple[tuple[float, Interval], ...]:
    """The write curve of draws: bytes/s from each share of the capacity on."""
    middles = {name: np.median(speeds[name]) for name in FIGURES[:3]}
    first, second, third = (middle + stretch * (speeds[name] - middle) for name, middle in middles.items())
    cache, dynamic = np.asarray(drive.static + drive.dynamic), np.asarray(drive.dynamic)
    direct = np.maximum(cache, drive.capacity - (drive.bits - 1) * dynamic)
    # Steps stand where drawn phases end: at one share each where the profile says the cache.
    ends = np.concatenate([np.zeros(1), *(np.quantile(end, BAND_QUANTILES) for end in (cache, direct))])
    shares = [at for at in np.unique(ends / drive.capacity).tolist() if at < 1]
    past = [np.where(at * drive.capacity < direct, second, third) for at in shares]
    curves = (np.where(at * drive.capacity < cache, first, then) for at, then in zip(shares, past, strict=True))
    return tuple((at, _interval(logs)) for at, logs in zip(shares, curves, strict=True))


def nearest(chip: Controller, die: Nand, among: Sequence[Line]) -> tuple[str, bool]:
    """Evidence of drives of the ledger on these parts, in words, and whether both are in some."""
    pair = sum((line.controller, line.nand) == (chip.name, die.name) for line in among)
    has_chip = any(line.controller == chip.name for line in among)
    has_die = any(line.nand == die.name for line in among)
    if pair:
        return f"{pair} reviewed {'lines' if pair > 1 else 'line'} with both parts", True
    if has_chip and has_die:
        return "controller and die known, apart", True
    if has_chip or has_die:
        part, other = ("controller", "die") if has_chip else ("die", "controller")
        return f"{part} known, the class stands in for the {other}", False
    return "neither part reviewed: their classes stand in", False


def drive_of(values: Mapping[str, Raw], chip: Controller, die: Nand, *, is_single: bool = False) -> Drive:
    """Drive of a profile, by dotted key."""
    size = {key: float(units.size(str(values.get(f"cache.{key}", "0B")), "cache")) for key in ("static", "dynamic")}
    mode = str(values.get("cache.mode", ""))
    held = {"static": ("static-slc", "hybrid-slc"), "dynamic": ("dynamic-slc", "hybrid-slc")}
    size = {key: amount if mode in held[key] else 0.0 for key, amount in size.items()}
    link = constants.link_bytes_per_s(str(values.get("link", chip.link)))
    capacity = float(units.size(str(values["capacity"]), "capacity"))
    return Drive(link, int(values["nand.dies"]), die.bits_per_cell, die.planes * die.page_bytes, capacity, **size,
                 is_single=is_single)  # fmt: skip


@dataclass(frozen=True)
class Evidence:
    """Drive of parts, as its profile and the drives of the ledger tell it.

    Attributes:
        open: keys of the profile that its parts decide, not the profile itself.
        given: constants that the profile gives itself.
        ways: how likely each way of folding is.
        nearest, is_known: what the ledger has of these parts, and whether both are in it.
    """

    drive: Drive
    chip: Controller
    die: Nand
    open: frozenset[str]
    given: Mapping[str, float]
    ways: Mapping[str, float]
    nearest: str
    is_known: bool

    @classmethod
    def of(cls, values: Mapping[str, Raw], how: Mapping[str, str], chip: Controller, die: Nand) -> Evidence:
        """Read a profile by dotted key, with where each value comes from."""
        drive, among = drive_of(values, chip, die), lines()
        is_open = frozenset(key for key in values if _origin(how, key) in (chip.name, die.name))
        likely, given = (
            ways(chip, constants.cells_of(die), mode_of(drive), among),
            _given(values, is_open, die.bits_per_cell),
        )
        possible = set(WAYS)
        if "cache.when_full" in values and "cache.when_full" not in is_open:
            way = way_of_folding(str(values["cache.when_full"]))
            possible = {way, WAYS[-1]} if way == "fold" else {way}
        if "folding" in given:
            possible.discard(WAYS[-1])
        total = sum(likely[way] for way in possible)
        likely = {way: likely[way] / total if way in possible else 0.0 for way in WAYS}
        return cls(drive, chip, die, is_open, given, likely, *nearest(chip, die, among))

    @property
    def stretch(self) -> float:
        """Factor on intervals, in logarithms."""
        return STRETCH if self.is_known else STRETCH_CLASS

    @property
    def flush(self) -> Interval:
        """Seconds of a flush."""
        return _seconds(constants.of(self.chip, self.die)["flush"], self.stretch)

    def logs(self, count: int, dice: np.random.Generator) -> Floats:
        """Rows of `figures`: each constant, factor and bias, drawn from the table, or as it is given."""
        table, own = constants.table(), constants.of(self.chip, self.die)
        own |= {name: constants.Constant(value, STATED_SD) for name, value in self.given.items()}
        factors = [table["folding", f"way {way}"] for way in WAYS[1:]]
        # What the profile gives is of its own way of folding.
        rows = [
            *(own[name] for name in SPEEDS),
            *([constants.Constant(1.0, 0.0)] * len(factors) if "folding" in self.given else factors),
        ]
        pair = f"{self.chip.name} {self.die.name}"
        shared = [(table.get((phase, pair)) or table[phase, "any pair"], table[phase, "any line"]) for phase in PHASES]
        rows += [constants.Constant(effect.median, math.hypot(effect.sd, line.sd)) for effect, line in shared]
        medians, sds = (np.array([getattr(row, key) for row in rows]) for key in ("median", "sd"))
        return np.asarray(np.log(medians)[:, None] + sds[:, None] * dice.standard_normal((len(rows), count)))

    def with_caches(self, count: int, dice: np.random.Generator) -> Drive:
        """The drive, with as many caches as draws where the profile does not say which it has."""
        if "cache.mode" not in self.open or not self.drive.cache:
            return self.drive
        cells = constants.cells_of(self.die)
        shares, modes = share_draws(self.chip, self.die.name, cells, lines(), count, dice)
        # Of makers whose caches take all cells, many draws are beyond that and left out.
        shares, modes = np.resize(shares, count), np.resize(modes, count)
        sizes = shares * self.drive.capacity / self.drive.bits
        return replace(self.drive, static=np.where(modes == "static", sizes, 0.0),
                       dynamic=np.where(modes == "static", 0.0, sizes))  # fmt: skip


def any_flush() -> Interval:
    """Seconds of a flush of a drive without capacitors, whatever its controller."""
    return _seconds(constants.constant("flush", "", {}), STRETCH)


def _seconds(fitted: constants.Constant, stretch: float) -> Interval:
    within = math.exp(stretch * constants.SD_80 * fitted.sd)
    return Interval(*(fitted.median / 1e9 * factor for factor in (1.0, 1 / within, within)))


def _origin(how: Mapping[str, str], key: str) -> str:
    """The part that a value comes from."""
    return how.get(key, "").partition(":")[0]


def _given(values: Mapping[str, Raw], is_open: frozenset[str], bits: int) -> dict[str, float]:
    """Constants that a profile gives itself, whatever its parts have."""
    result = {}
    for name, (key, scales) in KEYS.items():
        if key in values and key not in is_open and values[key] != "none":
            result[name] = float(quantity(values[key], scales, key))
    beside = way_of_folding(str(values.get("cache.when_full", ""))) == "direct-while-folding"
    key = "cache.host_share" if beside else "cache.fold_overhead"
    if key in values and key not in is_open:
        value = values[key]
        result["folding"] = 1e4 / quantity(value, SHARE, key) - 1 if beside else float(value) / (bits - 1)
    return result


KEYS: Final[Mapping[str, tuple[str, Mapping[str, int]]]] = {
    "slc_write": ("controller.slc_write", RATES),
    "native_write": ("controller.native_write", RATES),
    "slc_program": ("nand.slc.program", TIMES),
    "native_program": ("nand.native.program", TIMES),
}
"""Keys of profiles that hold constants, and their units."""
STATED_SD: Final = 0.05


def of_profile(values: Mapping[str, Raw], how: Mapping[str, str], chip: Controller, die: Nand) -> Forecast:
    """The forecast of a profile made of these parts, by dotted key, and where each value comes from.

    What the profile gives itself, such as its policy, is taken as known.
    """
    evidence, dice = Evidence.of(values, how, chip, die), np.random.default_rng(0)
    noise = {phase: constants.table()[phase, "noise single"].sd for phase in PHASES}
    logs = evidence.logs(DRAWS, dice)
    drives = evidence.with_caches(DRAWS, dice)
    drawn = figures(drives, evidence.ways, logs, noise, dice)
    interval = {name: _interval(logs, evidence.stretch) for name, logs in drawn.items()}
    past, mean = (interval["speed2"], interval["mean"]) if evidence.drive.cache else (None, None)
    kinds = caches(chip, die, evidence.drive.capacity, lines()) if evidence.drive.cache else ()
    is_open = "native_write" not in evidence.given or "folding" not in evidence.given
    return Forecast(
        interval["speed1"],
        past,
        mean,
        evidence.flush if "controller.flush" in evidence.open else None,
        kinds,
        evidence.ways,
        evidence.nearest,
        evidence.is_known,
        is_open,
        evidence.drive,
        band(drives, drawn, evidence.stretch) if evidence.drive.cache else ((0.0, interval["speed1"]),),
    )


Profile = tuple[Mapping[str, Raw], Mapping[str, str], Controller, Nand]
"""Values and where each comes from, by dotted key, and the parts."""


def parts_of(profile: str, provenance: Mapping[str, str]) -> Profile | None:
    """A whole profile in TOML with the parts it is made of; None: it is not made of parts."""
    # A profile may state any value itself, so each part is known by whatever still comes from it.
    origins = {_origin(provenance, key) for key in provenance}
    chips = sorted(origins.intersection(parts.controllers()))
    dies = sorted(origins.intersection(parts.nands())) if chips else []
    if not dies:
        return None
    values = {key: value for key, value in files.dotted(tomllib.loads(profile)) if not key.startswith("provenance")}
    return values, provenance, parts.controller(chips[0]), parts.nand(dies[0])


def of_target(profile: str, provenance: Mapping[str, str]) -> Forecast | None:
    """The forecast of a whole profile in TOML; None: it is not made of parts."""
    profile_of_parts = parts_of(profile, provenance)
    return of_profile(*profile_of_parts) if profile_of_parts else None


def undecided(profile: str, provenance: Iterable[tuple[str, str]]) -> Forecast | None:
    """The forecast of a whole profile whose speed past the cache its parts decide; None: it states that itself."""
    drive = of_target(profile, dict(provenance))
    return drive if drive is not None and drive.is_open else None


def of(*, nand: str, controller: str, capacity: str) -> Forecast:
    """The forecast of a drive of these parts, as its firmware usually is."""
    die, chip = parts.nand(nand), parts.controller(controller)
    derived = parts.profile(nand=nand, controller=controller, capacity=capacity)
    return of_profile(derived.values, derived.how, chip, die)
