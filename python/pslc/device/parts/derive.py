"""A whole profile from a die, a controller, a capacity and a cache: each value with how it came about.

What is given wins, and what follows from it follows from what was given: `nand.dies = 32` moves the channels, blocks
and spare along. Units in dotted keys are those of profiles.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pslc.base.errors import ProfileError
from pslc.device.parts.schema import (
    BYTES,
    MTS,
    RATES,
    SHARE,
    TIMES,
    WATTS,
    Controller,
    Nand,
    Raw,
    above,
    quantity,
    written,
)

Value = TypeVar("Value")
OPEN_SUPERBLOCKS = 4
"""As the check of a profile wants beyond the reserve: open, or kept for moving data."""
RESERVE_SUPERBLOCKS = 8
FOLDS_FIRST = ("fold", "fold-cost-benefit", "static-first")
"""Policies under which every byte goes through the cache."""
FOLDS_BESIDE = ("direct-while-folding", "fold-beside", "watermarks", "predict-idle")
"""Policies under which folding goes on beside writes into native cells."""
FOLD_OVERHEADS = {
    ("direct-then-fold", "TLC"): 2.77, ("direct-then-fold", "QLC"): 1.21,
    ("fold", "TLC"): 4.09, ("fold", "QLC"): 1.21,
}  # fmt: skip
"""By the way of folding, and by cells: medians of the rows of docs/accuracy/calibration.csv. Beside writes it costs
what a direct program costs: no review tells more, and the SN850 of 1 TB has emptied its cache before it is full, at
most 1.1."""


def way_of_folding(when_full: str) -> str:
    """The policy whose folding is like that of another."""
    if when_full in FOLDS_FIRST:
        return "fold"
    return "direct-while-folding" if when_full in FOLDS_BESIDE else "direct-then-fold"


@dataclass(frozen=True)
class Derived:
    """A profile made of parts.

    Attributes:
        values: by dotted key, as a profile writes them.
        how: by dotted key, where each value comes from: the part and its source, a derivation, or assumed.
    """

    values: Mapping[str, Raw]
    how: Mapping[str, str]

    @property
    def text(self) -> str:
        """The profile as TOML, with `[provenance]`."""
        tables: dict[str, list[str]] = {"": []}
        for key, value in self.values.items():
            table, _, name = key.rpartition(".")
            tables.setdefault(table, []).append(f"{name} = {_literal(value)}")
        lines = tables.pop("")
        for table, rows in tables.items():
            lines += ["", f"[{table}]", *rows]
        lines += ["", "[provenance]", *(f'"{key}" = {_literal(note)}' for key, note in self.how.items())]
        return "\n".join(lines) + "\n"


def _literal(value: Raw) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)


class Derivation:
    """The derivation under way: what is given, and what has come out so far."""

    def __init__(self, die: Nand, controller: Controller, given: Mapping[str, Raw]) -> None:
        self.die, self.controller, self.given = die, controller, given
        self.values: dict[str, Raw] = {}
        self.how: dict[str, str] = {}

    def set(self, key: str, value: Raw, how: str) -> Raw:
        """A value, unless another is given; returned is the one that holds."""
        if key in self.given:
            return self.given[key]
        self.values[key], self.how[key] = value, how
        return value

    def count(self, key: str, value: int, how: str) -> int:
        """The same for a whole number."""
        value_set = self.set(key, value, how)
        try:
            return int(value_set)
        except ValueError:
            raise ProfileError(f"{key} is {value_set}", "a whole number") from None

    def amount(self, key: str, value: int, units: Mapping[str, int], how: str) -> int:
        """The same for a number with a unit."""
        return quantity(self.set(key, written(value, units), how), units, key)

    def from_die(self, key: str) -> str:
        """Where the die's value of a key was read."""
        return f"{self.die.name}: {_source(self.die.source, key)}"

    def from_controller(self, key: str) -> str:
        """Where the controller's value of a key was read."""
        return f"{self.controller.name}: {_source(self.controller.source, key)}"


def _source(source: Mapping[str, str], key: str) -> str:
    return next((source[name] for name in above(key) if name in source), "assumed")


def derive(die: Nand, controller: Controller, given: Mapping[str, Raw]) -> Derived:
    """Every key of a profile that is not given. `given` holds `capacity` and whatever else is said, by dotted key.

    Raises:
        PslcError: there is no capacity, or a given value that others follow from cannot be read.
    """
    if "capacity" not in given:
        raise ProfileError("a drive made of parts needs its capacity", 'capacity = "1TB"')
    d = Derivation(die, controller, given)
    capacity = quantity(given["capacity"], BYTES, "capacity")
    size = written(capacity, {"GB": 10**9, "TB": 10**12})
    d.set("name", f"{controller.maker} {controller.model}, {die.maker} {die.generation}, {size}", "from its parts")
    d.set("link", controller.link, d.from_controller("link"))
    cache = _cache(d, capacity)
    _geometry(d, capacity, cache)
    _times(d)
    _controller(d)
    _body(d)
    return Derived(in_order(d.values), d.how)


def _geometry(d: Derivation, capacity: int, static: int) -> None:
    """Dies, channels, blocks and spare; `static` bytes of pSLC are set aside."""
    die, controller = d.die, d.controller
    bits = d.count("nand.bits_per_cell", die.bits_per_cell, d.from_die("bits_per_cell"))
    # Makers sell a die of 512 Gb (64 GiB) as 64 GB: what is binary beyond it is spare.
    nominal = die.bytes / 2**30 * 1e9
    needed, channels = _dies(-(-capacity // int(nominal)), controller.channels)
    dies = d.count(
        "nand.dies",
        needed,
        f"derived: {written(capacity, BYTES)} over dies of {die.bytes // 2**30} GB, on whole channels",
    )
    if dies != needed:
        channels = max(n for n in range(1, controller.channels + 1) if dies % n == 0)
    used = "" if channels == controller.channels else f"; {channels} of {controller.channels} are used by {dies} dies"
    d.set("nand.channels", channels, d.from_controller("channels") + used)
    planes = d.count("nand.planes", die.planes, d.from_die("planes"))
    pages = d.count("nand.pages_per_block", die.pages_per_block, d.from_die("pages_per_block"))
    page = d.amount("nand.page", die.page_bytes, BYTES, d.from_die("page"))
    block = page * pages * planes
    whole = -(-die.bytes // block)
    blocks = int(whole * (1 + die.spare))
    how = (
        f"derived: {whole} blocks hold {die.bytes // 2**27} Gb, and {die.spare:.1%} spare"
        f" ({_source(die.source, 'spare')})"
    )
    # The least that the host's data, the static part of the cache and the moving of data need.
    min_dies = (
        -(-capacity // (block * dies)) + -(-static * bits // (block * dies)) + RESERVE_SUPERBLOCKS + OPEN_SUPERBLOCKS
    )
    if blocks < min_dies:
        blocks, how = (
            min_dies,
            f"derived: the least that hold the capacity, the static cache and the reserve ({blocks} nominal)",
        )
    d.set("nand.blocks_per_plane", blocks, how)
    _watermark(d, capacity, block * dies * int(d.given.get("nand.blocks_per_plane", blocks)) - static * bits, bits)
    bus = min(die.bus_mts, controller.bus_mts)
    slower = d.from_die("bus") if die.bus_mts <= controller.bus_mts else d.from_controller("bus")
    d.set("nand.bus", written(bus, MTS), f"the slower of die and controller, {slower}")
    d.set("nand.plane_reads", die.plane_reads, d.from_die("plane_reads"))
    d.set("ftl.gc", "greedy", "assumed: the usual choice")
    d.set("ftl.reserve_superblocks", RESERVE_SUPERBLOCKS, "assumed")


def _watermark(d: Derivation, capacity: int, raw: int, bits: int) -> None:
    """Where the direct phase ends."""
    policy, dynamic = (d.given.get(key, d.values.get(key)) for key in ("cache.when_full", "cache.dynamic"))
    if policy != "direct-then-fold" or not dynamic:
        return
    spare = raw - capacity
    if quantity(dynamic, BYTES, "cache.dynamic") * bits >= capacity:
        # Such a cache lives on the spare space itself.
        d.set("cache.fold_below", "0B", f"derived: a cache of 1/{bits} of the capacity and more takes spare space")
    elif spare > 0:
        d.set(
            "cache.fold_below", written(spare // 10**8 * 10**8, BYTES),
            "derived: all spare space, as the direct phases of nine reviewed drives end at capacity - (n-1)S",
        )  # fmt: skip


def _dies(min_dies: int, channels: int) -> tuple[int, int]:
    """How many dies, at least so many, and over how many channels: every channel has as many as the others. All
    channels where that takes an eighth more dies at most, otherwise at least half of them."""
    if min_dies <= channels:
        return min_dies, min_dies
    whole = -(-min_dies // channels) * channels
    if whole * 8 <= min_dies * 9:
        return whole, channels
    dies = min_dies
    while True:
        for used in range(channels, max(channels // 2, 1) - 1, -1):
            if dies % used == 0:
                return dies, used
        dies += 1


def _times(d: Derivation) -> None:
    for mode, times in (("slc", d.die.slc), ("native", d.die.native)):
        for what in ("read", "program", "erase"):
            d.amount(f"nand.{mode}.{what}", getattr(times, what), TIMES, d.from_die(f"{mode}.{what}"))
    if d.controller.suspend and "nand.suspend" not in d.given:
        for key, value in d.controller.suspend.items():
            d.set(f"nand.suspend.{key}", value, d.from_controller(f"suspend.{key}"))


def _controller(d: Derivation) -> None:
    c, die = d.controller, d.die
    if c.write_buffer is None:
        dies = int(d.values.get("nand.dies", d.given.get("nand.dies", 1)))
        needed = 2 * dies * die.unit_bytes
        buffer = max(2**20, 1 << (needed - 1).bit_length())
        d.amount(
            "controller.write_buffer", buffer, BYTES,
            f"assumed: two native programs of {die.unit_bytes // 1024} KiB for each of {dies} dies, rounded up",
        )  # fmt: skip
    else:
        d.amount("controller.write_buffer", c.write_buffer, BYTES, d.from_controller("write_buffer"))
    d.set("controller.cores", c.cores, d.from_controller("cores"))
    d.amount("controller.command", c.command, TIMES, d.from_controller("command"))
    if c.read != c.command:
        d.amount("controller.read", c.read, TIMES, d.from_controller("read"))
    if c.write != c.command:
        d.amount("controller.write", c.write, TIMES, d.from_controller("write"))
    if c.read_ahead:
        d.amount("controller.read_ahead", c.read_ahead, BYTES, d.from_controller("read_ahead"))
    for key, rate in (("slc_write", c.slc_write), ("copy_in", c.copy_in)):
        if rate is not None:
            d.set(f"controller.{key}", written(rate, RATES), d.from_controller(key))
    table = "habits_qlc" if die.bits_per_cell > 3 else "habits"
    ceiling = getattr(c, table).get("native_write")
    if ceiling is not None:
        d.set("controller.native_write", str(ceiling), d.from_controller(f"{table}.native_write"))
    if c.map != "dram":
        d.set("controller.map", c.map, d.from_controller("map"))
        if c.map_access:
            d.amount("controller.map_access", c.map_access, TIMES, d.from_controller("map_access"))


def _cache(d: Derivation, capacity: int) -> int:
    """Mode, size and policy; bytes of pSLC that are set aside."""
    given, c, die = d.given, d.controller, d.die
    qlc = c.habits_qlc if die.bits_per_cell > 3 else {}
    habits = {**c.habits, **qlc}

    def from_habits(key: str) -> str:
        return d.from_controller(f"{'habits_qlc' if key in qlc else 'habits'}.{key}")

    sizes = [key for key in ("static", "dynamic") if f"cache.{key}" in given]
    words = {("static",): "static-slc", ("dynamic",): "dynamic-slc", ("static", "dynamic"): "hybrid-slc"}
    mode = str(habits["mode"])
    if sizes:
        mode = words[tuple(sizes)]
        mode = str(d.set("cache.mode", mode, f"derived: cache.{' and cache.'.join(sizes)} given"))
    else:
        mode = str(d.set("cache.mode", mode, from_habits("mode")))
        if mode in ("static-slc", "dynamic-slc"):
            share = quantity(str(habits["share"]), SHARE, "share") / 10_000
            key = mode.partition("-")[0]
            # No more than the cells of the capacity hold at one bit each.
            cache = int(capacity * min(share, 1 / die.bits_per_cell)) // 10**8 * 10**8
            how = f"{habits['share']} of the capacity, at most 1/{die.bits_per_cell}; {from_habits('share')}"
            d.set(f"cache.{key}", written(cache, BYTES), how)
    if mode in ("pure-xlc", "pure-slc"):
        return 0
    when_full = d.set("cache.when_full", str(habits["when_full"]), from_habits("when_full"))
    if when_full == "fold":
        d.set("cache.reuse", "as-freed", "follows from cache.when_full")
    else:
        # A habit of another policy says nothing of this one.
        own = when_full == habits["when_full"] and habits.get("reuse") != "as-freed"
        d.set("cache.reuse", *((habits["reuse"], from_habits("reuse")) if own else ("after-idle", "assumed")))
    _fold_overhead(d, str(when_full), habits, from_habits)
    for key in ("host_share", "dead", "shrink_from", "shrink_to"):
        if key in habits:
            d.set(f"cache.{key}", habits[key], from_habits(key))
    if "cache.idle" not in given:
        if habits["idle"] == "never":
            if not any(key.startswith("cache.idle.") for key in given):
                d.set("cache.idle", "never", from_habits("idle"))
        else:
            d.set("cache.idle.threshold", habits["idle"], from_habits("idle"))
    static = given.get("cache.static", d.values.get("cache.static", "0GB"))
    return quantity(static, BYTES, "cache.static") if mode in ("static-slc", "hybrid-slc") else 0


def _fold_overhead(d: Derivation, when_full: str, habits: Mapping[str, Raw], from_habits: Callable[[str], str]) -> None:
    """As drives on the die, or with the controller under the policy of its firmware, show it: of QLC the die comes
    first, of TLC the controller. Otherwise that of all drives that fold this way."""
    qlc, way = d.die.bits_per_cell > 3, way_of_folding(when_full)
    if way == "direct-while-folding":
        d.set("cache.fold_overhead", 1.0, "assumed: folding beside writes costs what a direct program costs")
        return
    estimates: list[tuple[Raw, str]] = []
    if "fold_overhead" in habits and way == way_of_folding(str(habits["when_full"])):
        estimates.append((habits["fold_overhead"], from_habits("fold_overhead")))
    if d.die.fold_overhead is not None:
        estimates.insert(0 if qlc else len(estimates), (d.die.fold_overhead, d.from_die("fold_overhead")))
    cells = "QLC" if qlc else "TLC"
    source = f"assumed: the median of {cells} drives that do {way} (docs/accuracy/calibration.csv)"
    estimates.append((FOLD_OVERHEADS[way, cells], source))
    d.set("cache.fold_overhead", *estimates[0])


def _body(d: Derivation) -> None:
    """Power, heat and wear."""
    c, die = d.controller, d.die
    if "power" not in {key.partition(".")[0] for key in d.given}:
        d.amount("power.active", c.active_mw, WATTS, d.from_controller("power.active"))
        d.amount("power.idle", c.idle_mw, WATTS, d.from_controller("power.idle"))
        d.set("power.idle_after", "100ms", "assumed")
        d.amount("power.die_read", die.read_mw, WATTS, d.from_die("power.read"))
        d.amount("power.die_program", die.program_mw, WATTS, d.from_die("power.program"))
        d.amount("power.die_erase", die.erase_mw, WATTS, d.from_die("power.erase"))
        d.set("power.data", f"{c.data_pj_per_byte}pJ/B", d.from_controller("power.data"))
    sata = str(d.given.get("link", c.link)).startswith("sata")
    kind = "a 2.5-inch case" if sata else "an M.2 module in still air, under no heat sink"
    # A module without a sink: some 8 K/W to the air; a case spreads the heat.
    heat = {"ambient": "25C", "chips": "6J/K", "board": "60J/K" if sata else "20J/K", "chips_to_board": "3K/W",
            "board_to_air": "8K/W"}  # fmt: skip
    for key, value in heat.items():
        d.set(f"heat.{key}", value, f"assumed: {kind}")
    d.count("wear.slc_cycles", die.slc_cycles, d.from_die("wear.slc_cycles"))
    d.count("wear.native_cycles", die.native_cycles, d.from_die("wear.native_cycles"))


ORDER = ("", "nand", "nand.slc", "nand.native", "nand.suspend", "controller", "ftl", "cache", "cache.idle")


def in_order(values: Mapping[str, Value]) -> dict[str, Value]:
    """As profiles are read: by table."""

    def place(key: str) -> int:
        table = key.rpartition(".")[0]
        return ORDER.index(table) if table in ORDER else len(ORDER)

    return {key: values[key] for key in sorted(values, key=place)}
