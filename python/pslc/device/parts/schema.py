"""Part files: a NAND die, a controller or a computer in strict TOML, with units, and for each value a source or
`assumed`.

A key that is not known, a key that is missing, a number without a unit, a value without a source is a fault. All faults
of a file are one error, with a line for each that names the file, the key and what to write.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from pslc.base import files, gate, units
from pslc.base.errors import Faults, ProfileError, closest_match

FILE = gate.Expected('part files are TOML; text goes in quotes: bus = "1200MT/s"', ProfileError)

Raw = str | int | float
"""A value as a part file holds it."""

BYTES = units.UNITS
TIMES = units.NANOSECONDS
RATES = {"kB/s": 10**3, "MB/s": 10**6, "GB/s": 10**9}
GBITS = {"Gb": 2**27, "Tb": 2**37}
"""Bytes of a die by the unit of its capacity, which counts bits in binary: 512 Gb are 64 GiB."""


def quantity(text: Raw, units: Mapping[str, int], key: str) -> int:
    """A number with one of the units, in the unit that is 1 (bytes, nanoseconds, bytes a second).

    Raises:
        PslcError: there is no unit, another one, or a fraction of the smallest.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z/%]+)", str(text).strip())
    if match is None or match[2] not in units:
        raise ProfileError(f'{key} is "{text}"', f"a number with a unit ({', '.join(units)})")
    value = Fraction(match[1]) * units[match[2]]
    if value.denominator != 1:
        raise ProfileError(f'{key} is "{text}"', "a whole number of the smallest unit")
    return int(value)


@dataclass(frozen=True)
class Times:
    """tR, tPROG and tBERS in nanoseconds, of a multi-plane operation on one die."""

    read: int
    program: int
    erase: int


@dataclass(frozen=True)
class Nand:
    """A NAND die.

    Attributes:
        name: of the part: the file's.
        bytes: nominal, of the die in native mode.
        planes, page_bytes, pages_per_block: geometry, native mode.
        bus_mts: the fastest its interface goes, megatransfers a second.
        slc, native: times at one bit a cell and at the native number; a native program is a whole one, all planes and
            bits (one-shot, or the sum of its passes). A time of 0 is not told by the file.
        spare: share of blocks beyond the nominal ones.
        plane_reads: `independent` or `together`.
        slc_cycles, native_cycles: program and erase cycles a block stands.
        read_mw, program_mw, erase_mw: what the die draws meanwhile.
        source: of each key, as the part file says.
    """

    name: str
    maker: str
    generation: str
    layers: int
    bits_per_cell: int
    bytes: int
    planes: int
    page_bytes: int
    pages_per_block: int
    bus_mts: int
    slc: Times
    native: Times
    spare: float
    plane_reads: str
    slc_cycles: int
    native_cycles: int
    read_mw: int
    program_mw: int
    erase_mw: int
    source: Mapping[str, str]

    @property
    def unit_bytes(self) -> int:
        """Bytes of one native program: a page for every plane and bit per cell."""
        return self.planes * self.page_bytes * self.bits_per_cell

    @property
    def native_bytes_per_s(self) -> float:
        """Native program speed of one die, in bytes/s, when nothing else holds it back."""
        return self.unit_bytes / self.native.program * 1e9

    @property
    def slc_bytes_per_s(self) -> float:
        """Program speed of one die at one bit a cell, in bytes/s, when nothing else holds it back."""
        return self.planes * self.page_bytes / self.slc.program * 1e9


@dataclass(frozen=True)
class Controller:
    """A controller with the habits of its usual firmware.

    Attributes:
        channels, bus_mts: what it drives; a die may be slower.
        cores, command, read, write: core time of commands, nanoseconds.
        latency: of a command, beyond the time of a core, ns; commands pass beside each other.
        map: `dram`, or the bytes of it that are held; `map_access` what a look at it takes, nanoseconds.
        write_buffer: bytes; None: as many as the dies need.
        slc_write: what its data path moves into pSLC, bytes a second.
        copy_in: how fast the data of one write pass into its buffer before it is answered, bytes a second; None: as the
            link brings them.
        flush: time of a flush beyond the programs of the buffer, ns; drives with capacitors (`plp`) need none.
        native_write: what it moves into native cells, bytes a second, by `TLC` and `QLC`.
        folding: by cells, then by way of folding: die time of a folded byte over (bits a cell - 1) native programs.
        habits, habits_qlc: what its firmware does with the cache, in the keys of a profile's [cache] (`idle` is the
            threshold), and `share`, of the capacity that the cache takes where nobody says (constants.py). On QLC
            `habits_qlc` go first.
        source: of each key, as the part file says.
    """

    name: str
    maker: str
    model: str
    link: str
    channels: int
    bus_mts: int
    cores: int
    command: int
    read: int
    write: int
    latency: int
    map: str
    map_access: int
    write_buffer: int | None
    slc_write: int
    copy_in: int | None
    plp: bool
    flush: int
    native_write: Mapping[str, int]
    folding: Mapping[str, Mapping[str, float]]
    read_ahead: int
    suspend: Mapping[str, str | int] | None
    active_mw: int
    idle_mw: int
    data_pj_per_byte: int
    habits: Mapping[str, Raw]
    habits_qlc: Mapping[str, Raw]
    source: Mapping[str, str]


@dataclass(frozen=True)
class Computer:
    """A computer around a simulated drive.

    Attributes:
        cores: that make and answer requests.
        read, write: time of a core that a request costs, nanoseconds.
        link: fastest link of its slot, in a profile's words; empty: any.
        page_cache: bytes of memory that hold what files were read or written; None: requests pass none.
        memory: speed at which a program's data are copied into it or out of it, bytes a second.
        background: bytes of unwritten data from which it writes to the drive.
        source: of each key, as the part file says.
    """

    name: str
    model: str
    cores: int
    read: int
    write: int
    link: str
    page_cache: int | None
    memory: int | None
    background: int | None
    source: Mapping[str, str]


@dataclass
class Reader:
    """Reader of one part file: each key is taken once, a key that is left over is a fault, and `end` raises all faults
    together.

    Until then a value that cannot be used is 0, or empty.
    """

    path: Path
    values: dict[str, Raw]
    source: dict[str, str]
    faults: Faults
    taken: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, path: Path) -> "Reader":
        """Read a file.

        Raises:
            PslcError: it is no TOML.
        """
        try:
            table = files.toml(gate.text(path, FILE))
        except tomllib.TOMLDecodeError as error:
            raise ProfileError(
                f"{path.name}: {error}", 'part files are TOML; text goes in quotes: bus = "1200MT/s"'
            ) from None
        sources = table.pop("source", {})
        source = {key: str(value) for key, value in sources.items()} if isinstance(sources, dict) else {}
        return cls(path, dict(files.dotted(table)), source, Faults(ProfileError, path.name))

    def fault(self, what: str, hint: str) -> None:
        """Note a fault of the file."""
        self.faults.add(f"{self.path.name}: {what}", hint)

    def take(self, key: str, default: Raw | None = None) -> Raw | None:
        """The value of a key, which must have a source too; None if it is missing."""
        self.taken.add(key)
        if key not in self.values:
            if default is None:
                meant = closest_match(key, self.values.keys() - self.taken)
                self.fault(f"{key} is missing", f"instead of {meant}?" if meant else "add it")
            return default
        if not any(name in self.source for name in above(key)):
            self.fault(f"{key} has no source", f'[source] {key} = "where it was read", or "assumed"')
        return self.values[key]

    def text(self, key: str, default: str | None = None, words: tuple[str, ...] = ()) -> str:
        """A text, one of `words` where there are some."""
        value = self.take(key, default)
        if isinstance(value, str) and (not words or value in words):
            return value
        if value is not None:
            self.fault(f"{key} is {value!r}", ", ".join(words) or "text in quotes")
        return ""

    def count(self, key: str, default: int | None = None) -> int:
        """A whole number above 0."""
        value = self.take(key, default)
        if isinstance(value, int) and value >= 1:
            return value
        if value is not None:
            self.fault(f"{key} is {value!r}", "a whole number above 0")
        return 0

    def amount(self, key: str, units: Mapping[str, int], default: str | None = None) -> int:
        """A number with a unit."""
        value = self.take(key, default)
        if value is not None:
            with self.faults.noted():
                return quantity(value, units, f"{self.path.name}: {key}")
        return 0

    def optional(self, key: str, units: Mapping[str, int]) -> int | None:
        """A number with a unit, or None where the file does not know."""
        self.taken.add(key)
        return self.amount(key, units) if key in self.values else None

    def times(self, mode: str) -> Times:
        """The times of a cell mode."""
        read = self.optional("slc.read", TIMES) if mode == "slc" else self.amount(f"{mode}.read", TIMES)
        program = self.optional(f"{mode}.program", TIMES)
        return Times(read or 0, program or 0, self.amount(f"{mode}.erase", TIMES))

    def rest(self, table: str, keys: tuple[str, ...]) -> dict[str, Raw]:
        """Take the values of those `keys` that a table holds, by key."""
        there = [key for key in keys if f"{table}.{key}" in self.values]
        for key in there:
            self.take(f"{table}.{key}")
        self.taken.update(f"{table}.{key}" for key in keys)
        return {key: self.values[f"{table}.{key}"] for key in there}

    def end(self) -> None:
        """Raise the faults, those of keys and sources among them that nobody asked for.

        Raises:
            PslcError: something is wrong with the file.
        """
        for key in self.values:
            if key not in self.taken:
                meant = closest_match(key, sorted(self.taken - set(self.values)))
                self.fault(f"unknown key {key}", f"did you mean {meant}?" if meant else "leave it out")
        for key in self.source:
            if not any(key in above(name) for name in self.values):
                self.fault(f"[source] names {key}, which is not there", "leave it out")
        self.faults.raise_if_any()


def above(key: str) -> list[str]:
    """A dotted key and the tables it is in, the closest first."""
    words = key.split(".")
    return [".".join(words[:n]) for n in range(len(words), 0, -1)]


MTS = {"MT/s": 1}
SHARE = {"%": 100}
"""Hundredths of a per cent."""
WATTS = {"mW": 1, "W": 1000}
HABITS = (
    "mode", "share", "when_full", "reuse", "dead", "shrink_from", "shrink_to", "idle", "collect",
)  # fmt: skip


def read_nand(path: Path) -> Nand:
    """The die that a file describes; times that it does not tell are 0 (constants.py).

    Raises:
        PslcError: something is wrong with the file.
    """
    r = Reader.of(path)
    die = Nand(
        name=path.stem,
        maker=r.text("maker"),
        generation=r.text("generation"),
        layers=r.count("layers"),
        bits_per_cell=r.count("bits_per_cell"),
        bytes=r.amount("capacity", GBITS),
        planes=r.count("planes"),
        page_bytes=r.amount("page", BYTES),
        pages_per_block=r.count("pages_per_block"),
        bus_mts=r.amount("bus", MTS),
        slc=r.times("slc"),
        native=r.times("native"),
        spare=r.amount("spare", SHARE) / 10_000,
        plane_reads=r.text("plane_reads", words=("independent", "together")),
        slc_cycles=r.count("wear.slc_cycles"),
        native_cycles=r.count("wear.native_cycles"),
        read_mw=r.amount("power.read", WATTS),
        program_mw=r.amount("power.program", WATTS),
        erase_mw=r.amount("power.erase", WATTS),
        source=r.source,
    )
    r.end()
    return die


def read_controller(path: Path) -> Controller:
    """The controller that a file describes, without the constants that drives tell (constants.py).

    Raises:
        PslcError: something is wrong with the file.
    """
    r = Reader.of(path)
    command = r.amount("command", TIMES)
    memory = r.text("map")
    if memory not in ("dram", ""):
        r.amount("map", BYTES)
    suspend: dict[str, int | str] = {}
    for key, value in r.rest("suspend", ("program", "erase", "limit")).items():
        suspend[key] = r.count("suspend.limit") if key == "limit" else str(value)
        if key != "limit":
            r.amount(f"suspend.{key}", TIMES)
    controller = Controller(
        name=path.stem,
        maker=r.text("maker"),
        model=r.text("model"),
        link=r.text("link"),
        channels=r.count("channels"),
        bus_mts=r.amount("bus", MTS),
        cores=r.count("cores"),
        command=command,
        read=r.amount("read", TIMES, f"{command}ns"),
        write=r.amount("write", TIMES, f"{command}ns"),
        latency=0,
        map=memory,
        map_access=r.optional("map_access", TIMES) or 0,
        write_buffer=r.optional("write_buffer", BYTES),
        slc_write=0,
        copy_in=None,
        plp=r.text("plp", "off", words=("on", "off")) == "on",
        flush=0,
        native_write={},
        folding={},
        read_ahead=r.optional("read_ahead", BYTES) or 0,
        suspend=suspend or None,
        active_mw=r.amount("power.active", WATTS),
        idle_mw=r.amount("power.idle", WATTS),
        data_pj_per_byte=r.amount("power.data", {"pJ/B": 1}),
        habits=r.rest("habits", HABITS),
        habits_qlc=r.rest("habits_qlc", HABITS),
        source=r.source,
    )
    r.end()
    return controller


def read_computer(path: Path) -> Computer:
    """The computer that a file describes.

    Raises:
        PslcError: something is wrong with the file.
    """
    r = Reader.of(path)
    computer = Computer(
        name=path.stem,
        model=r.text("model"),
        cores=r.count("cores"),
        read=r.amount("read", TIMES),
        write=r.amount("write", TIMES),
        link=r.text("link", ""),
        page_cache=r.optional("page_cache", BYTES),
        memory=r.optional("memory", RATES),
        background=r.optional("background", BYTES),
        source=r.source,
    )
    r.end()
    return computer
