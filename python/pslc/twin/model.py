"""A drive as a few numbers that data can tell: rates and sizes instead of times and counts of blocks.

    Build      what the parts are: dies, planes, blocks; from a part, or assumed for the capacity
    Firmware   what it decides to do: policy, reuse, what the cache is made of
    values     natural coordinates by name, see `PARAMETERS`

`profile` turns them into a profile. `scaled` makes a drive of it that behaves the same and is many times smaller: the
same superblocks with fewer pages, and all sizes and times of the jobs smaller with them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pslc._native import SimDrive
from pslc.errors import PslcError

MIB: Final = 1 << 20
SUPERBLOCKS: Final = 700
"""Of a drive of unknown parts, without its spare ones: 512 Gb dies of 24 MiB blocks have about as many."""
OPEN: Final = 4
"""Superblocks that the check of a profile wants beside the reserve, and one to be on the safe side."""
USUAL_PAGES: Final = 1152
"""Of a block."""
RESERVE: Final = 6
KEEPS: Final = 0.995
"""A cache of a full drive of this share of that of an empty one does not shrink."""
LEAST_WATERMARK: Final = 1e-3
"""Of the capacity: less is no superblock."""
LEAST_BATCH: Final = 0.01
"""Of the cache."""
LEAST_SLC_PAGES: Final = 8
"""Pages of a block in pSLC mode below which a scaled drive differs from the whole one (tests/test_twin.py)."""
LEAST_DIES: Final = 4
LEAST_BYTES: Final = 10 << 30
"""Of a scaled drive: smaller ones feel the size of a request."""
SMALL_PAGE: Final = 8 << 10
"""Bytes at most of a page of a scaled drive."""

Values = Mapping[str, float]


@dataclass(frozen=True)
class Build:
    """What a drive is made of. `sources` tells of each key of the profile where it comes from."""

    capacity_bytes: int
    link: str
    bits_per_cell: int
    channels: int
    dies: int
    planes: int
    pages_per_block: int
    page_bytes: int = 16 << 10
    bus_mts: int = 1200
    erase_s: float = 4e-3
    """Expected of a block in pSLC mode."""
    cores: int = 4
    faster: float = 1.0
    """Times shorter that reads of cells take, on a scaled drive of fewer dies."""
    fixed: tuple[tuple[str, str], ...] = ()
    """Further keys of the profile, as TOML."""
    sources: tuple[tuple[str, str], ...] = ()

    def told(self, key: str, source: str) -> Build:
        """The same where a key comes from elsewhere."""
        return replace(self, sources=tuple((dict(self.sources) | {key: source}).items()))

    @property
    def superblock_bytes(self) -> int:
        """In native mode."""
        return self.dies * self.planes * self.pages_per_block * self.page_bytes

    @property
    def full_buffer(self) -> float:
        """A write buffer that keeps all dies busy, whatever else they do."""
        return 4.0 * self.program_bytes * self.bits_per_cell

    @property
    def program_bytes(self) -> int:
        """What all dies program at once, a page of every plane."""
        return self.dies * self.planes * self.page_bytes


@dataclass(frozen=True)
class Firmware:
    """What is chosen, not measured: `cache.mode`, `cache.when_full`, `cache.reuse`, `cache.dead`."""

    mode: str
    when_full: str = "direct-then-fold"
    reuse: str = "after-idle"
    dead: str = "free-at-once"
    bits_per_cell: int = 3

    @property
    def words(self) -> str:
        """`direct-then-fold, reuse after-idle, dynamic-slc`."""
        if self.mode == "pure-xlc":
            return "no cache"
        reuse = "" if self.when_full == "fold" else f", reuse {self.reuse}"
        dead = ", dead data kept until idle" if self.dead == "until-idle" else ""
        return f"{self.when_full}{reuse}, {self.mode}{dead}"


def in_words(firmwares: Sequence[Firmware]) -> str:
    """Several in one phrase: `direct-then-fold, reuse after-idle/when-empty, dynamic-slc; or fold, dynamic-slc`."""
    return "; or ".join(one.words for one in _joined(_joined(firmwares, "reuse"), "mode"))


def _joined(firmwares: Sequence[Firmware], field: Literal["reuse", "mode"]) -> list[Firmware]:
    """Those that differ in a field alone as one, whose field has the words of all of them."""
    groups: dict[Firmware, list[str]] = {}
    for one in firmwares:
        like = one if one.mode == "pure-xlc" else _with(one, field, "")
        groups.setdefault(like, []).append(getattr(one, field))
    return [_with(like, field, "/".join(of)) for like, of in groups.items()]


def _with(one: Firmware, field: Literal["reuse", "mode"], words: str) -> Firmware:
    return replace(one, reuse=words) if field == "reuse" else replace(one, mode=words)


@dataclass(frozen=True)
class Parameter:
    """A number that data can tell.

    Attributes:
        low, high: bounds.
        scale: `log`, or `linear`.
        prior, spread: what is expected without data, and its standard deviation, on the scale.
        of: firmware for which it has a meaning.
        keys: of the profile it decides.
        unit: `B/s`, `B`, `s`, `share` or empty.
    """

    name: str
    low: float
    high: float
    scale: str
    prior: float
    spread: float
    keys: tuple[str, ...]
    unit: str
    what: str
    own: float = 0.02
    """Standard deviation, on the scale, that is left however well a fit explains the data."""


NO_CEILING: Final = 4e10
"""Bytes a second into native cells that no drive reaches."""
UNSEEN_CEILING: Final = 2e10
"""From which on nothing tells it: no link and no cells are as fast."""

PARAMETERS: Final = {
    one.name: one
    for one in (
        Parameter("slc_rate", 2e7, 3e10, "log", 3e9, 2.0, ("nand.slc.program",), "B/s",
                  "what all dies program as pSLC", 0.06),
        Parameter("native_rate", 2e6, 2e10, "log", 8e8, 2.0, ("nand.native.program",), "B/s",
                  "what all dies program in native mode", 0.04),
        Parameter("dynamic", 5e-4, 0.7, "log", 0.15, 2.0, ("cache.dynamic",), "capacity",
                  "dynamic cache of the empty drive", 0.015),
        Parameter("static", 5e-4, 0.2, "log", 0.02, 2.0, ("cache.static",), "capacity",
                  "static cache", 0.05),
        Parameter("least", 0.0, 1.0, "linear", 0.6, 0.45, ("cache.dynamic_least",), "of the cache",
                  "dynamic cache of the full drive", 0.1),
        Parameter("spare", 0.012, 1.5, "log", 0.07, 0.5, ("nand.blocks_per_plane",), "capacity",
                  "native space beyond the capacity", 0.12),
        Parameter("overhead", 0.3, 20.0, "log", 1.5, 0.5, ("cache.fold_overhead",), "",
                  "die time of a folding program over that of a direct one", 0.15),
        Parameter("share", 0.03, 0.97, "linear", 0.5, 0.25, ("cache.host_share",), "",
                  "die time that the host keeps while the drive folds", 0.05),
        Parameter("ceiling", 2e6, NO_CEILING, "log", NO_CEILING, 2.0, ("controller.native_write",), "B/s",
                  "what the data path carries into native cells"),
        Parameter("watermark", 0.0, 0.6, "linear", 0.0, 0.1, ("cache.fold_below",), "capacity",
                  "native space below which the cache is folded", 0.02),
        Parameter("batch", 0.0, 1.0, "linear", 0.0, 0.3, ("cache.fold_batch",), "of the cache",
                  "of the cache that is folded at a time under load"),
        Parameter("threshold", 1e-3, 3600.0, "log", 1.0, 1.5, ("cache.idle.threshold",), "s",
                  "silence before the cache is emptied", 0.35),
        Parameter("idle_rate", 1e6, 2e10, "log", 8e8, 1.5, ("cache.idle.rate",), "B/s",
                  "how fast the cache is emptied in silence", 0.07),
        Parameter("residue", 0.0, 0.9, "linear", 0.0, 0.1, ("cache.idle.residue",), "of the cache",
                  "data that stay in the cache", 0.03),
        Parameter("erase", 1e-6, 5e-2, "log", 4e-3, 0.7, ("nand.slc.erase", "nand.native.erase"), "s",
                  "erase of a block in pSLC", 0.5),
        Parameter("buffer", 1e6, 1e9, "log", 1.6e7, 1.0, ("controller.write_buffer",), "B",
                  "write buffer"),
        Parameter("command", 2e-7, 1e-4, "log", 2e-6, 0.7, ("controller.command",), "s",
                  "time of a core for a command"),
        Parameter("slc_read", 5e-6, 2e-4, "log", 3e-5, 0.3, ("nand.slc.read",), "s",
                  "read of a page in pSLC"),
        Parameter("native_read", 1e-5, 4e-4, "log", 6e-5, 0.3, ("nand.native.read",), "s",
                  "read of a page in native mode"),
    )
}  # fmt: skip
"""In the order in which a report tells them."""


def of_firmware(firmware: Firmware) -> list[str]:
    """Names of the parameters that have a meaning for it."""
    names = ["native_rate", "ceiling", "spare", "erase", "buffer", "command", "slc_read", "native_read"]
    if firmware.mode != "pure-xlc":
        names += ["slc_rate", "threshold", "idle_rate", "residue", "overhead"]
        names += ["dynamic", "least"] if firmware.mode in ("dynamic-slc", "hybrid-slc") else []
        names += ["static"] if firmware.mode in ("static-slc", "hybrid-slc") else []
        names += ["watermark"] if firmware.when_full == "direct-then-fold" else []
        names += ["batch"] if firmware.when_full == "fold" else []
        names += ["share"] if firmware.when_full == "direct-while-folding" else []
    return [name for name in PARAMETERS if name in names]


def cache_shares(firmware: Firmware, values: Values) -> tuple[float, float]:
    """Of the capacity: the dynamic and the static cache of the empty drive, 0 where the firmware has no such one."""
    dynamic = values["dynamic"] if firmware.mode in ("dynamic-slc", "hybrid-slc") else 0.0
    static = values["static"] if firmware.mode in ("static-slc", "hybrid-slc") else 0.0
    return dynamic, static


@dataclass(frozen=True)
class Model:
    """A drive with a firmware; `scale` is how many times smaller it is than the one it stands for."""

    build: Build
    firmware: Firmware
    scale: float = 1.0
    host_request_ns: int = 0
    """What a request costs the host that measured; not a part of the drive."""

    @property
    def capacity_bytes(self) -> int:
        """Of this one."""
        if self.scale == 1.0:
            return self.build.capacity_bytes // 4096 * 4096
        return round(self.build.capacity_bytes / self.scale / MIB) * MIB

    def scaled(self, least_bytes: int = LEAST_BYTES) -> Model:
        """The smallest drive that behaves the same."""
        build = self.build
        bits = build.bits_per_cell
        most = build.capacity_bytes / least_bytes
        if most <= 1:
            return self
        # Fewer channels at the same rates: what each, and its dies, do takes so much less.
        fewer = math.gcd(build.channels, max(build.dies // LEAST_DIES, 1))
        # What is programmed at once, and what waits for it, is smaller as well.
        page = min(build.page_bytes, SMALL_PAGE)
        finer = build.page_bytes // page
        least = max(build.pages_per_block * fewer * finer / most, LEAST_SLC_PAGES * bits)
        pages = min(-(-int(least) // bits) * bits, build.pages_per_block * finer)
        small = replace(
            build, pages_per_block=pages, page_bytes=page, dies=build.dies // fewer, channels=build.channels // fewer,
            bus_mts=build.bus_mts * fewer, faster=build.faster * fewer * finer,
        )  # fmt: skip
        return replace(self, build=small, scale=build.superblock_bytes / small.superblock_bytes * self.scale)

    def like(self, build: Build) -> Model:
        """Another drive, as small as this one is."""
        whole = replace(self, build=build, scale=1.0)
        return whole.scaled(self.capacity_bytes) if self.scale > 1.0 else whole

    def keys(self, values: Values) -> dict[str, str]:
        """The profile, as TOML values by dotted key."""
        build, firmware, scale = self.build, self.firmware, self.scale
        bits = build.bits_per_cell

        def ns(time: float) -> str:
            return f'"{max(round(time), 1)}ns"'

        def size(count: float) -> str:
            return f'"{max(round(count), 0)}B"'

        capacity = self.capacity_bytes
        dynamic, static = (share * capacity for share in cache_shares(firmware, values))
        needed = -(-capacity // build.superblock_bytes)
        blocks = round(capacity * (1 + values["spare"]) / build.superblock_bytes)
        slc = build.superblock_bytes / bits
        set_aside = -(-static // slc)
        blocks = max(int(blocks + set_aside), int(needed + set_aside + RESERVE + OPEN))
        # What the check allows: the cache cannot be larger than the drive.
        dynamic = min(dynamic, (blocks - set_aside - RESERVE - OPEN) * slc)
        # The check wants two units; a scaled drive must keep all of its dies busy.
        least = 2 * build.planes * build.page_bytes * bits if scale == 1 else build.full_buffer
        found = {
            "name": '"a twin"',
            "capacity": size(capacity),
            "link": f'"{build.link}"',
            "nand.channels": str(build.channels),
            "nand.dies": str(build.dies),
            "nand.planes": str(build.planes),
            "nand.pages_per_block": str(build.pages_per_block),
            "nand.blocks_per_plane": str(blocks),
            "nand.page": size(build.page_bytes),
            "nand.bits_per_cell": str(bits),
            "nand.bus": f'"{build.bus_mts}MT/s"',
            "nand.slc.read": ns(values["slc_read"] * 1e9 / build.faster),
            "nand.slc.program": ns(build.program_bytes / values.get("slc_rate", 1e12) * 1e9),
            "nand.slc.erase": ns(values["erase"] / scale * 1e9),
            "nand.native.read": ns(values["native_read"] * 1e9 / build.faster),
            "nand.native.program": ns(build.program_bytes * bits / values["native_rate"] * 1e9),
            "nand.native.erase": ns(1.5 * values["erase"] / scale * 1e9),
            "nand.suspend.program": '"20us"',
            "nand.suspend.erase": '"50us"',
            "nand.suspend.limit": "8",
            "controller.write_buffer": size(max(values["buffer"] / scale, least)),
            "controller.cores": str(build.cores),
            "controller.command": ns(values["command"] * 1e9),
            "ftl.reserve_superblocks": str(RESERVE),
            "cache.mode": f'"{firmware.mode}"',
        }
        if values.get("ceiling", NO_CEILING) < UNSEEN_CEILING:
            found["controller.native_write"] = f'"{round(values["ceiling"] / 1e3)}kB/s"'
        found.update(build.fixed)
        if firmware.mode != "pure-xlc":
            found["cache.when_full"] = f'"{firmware.when_full}"'
            found["cache.reuse"] = f'"{firmware.reuse}"'
            found["cache.dead"] = f'"{firmware.dead}"'
            found["cache.fold_overhead"] = f"{values['overhead']:.3f}"
            if dynamic:
                found["cache.dynamic"] = size(dynamic)
                shrinks = values["least"] < KEEPS
                found["cache.dynamic_least"] = size(values["least"] * dynamic if shrinks else 0.0)
                found["cache.shrink_from"] = '"0%"' if shrinks else '"100%"'
                found["cache.shrink_to"] = '"100%"'
            if static:
                found["cache.static"] = size(static)
            if firmware.when_full == "direct-while-folding":
                found["cache.host_share"] = f'"{100 * values["share"]:.1f}%"'
            if firmware.when_full == "direct-then-fold" and values.get("watermark", 0.0) > LEAST_WATERMARK:
                found["cache.fold_below"] = size(values["watermark"] * capacity)
            if firmware.when_full == "fold" and values.get("batch", 0.0) > LEAST_BATCH:
                found["cache.fold_batch"] = size(values["batch"] * (dynamic + static))
            found["cache.idle.threshold"] = ns(values["threshold"] / scale * 1e9)
            found["cache.idle.rate"] = f'"{round(values["idle_rate"] / 1e3)}kB/s"'
            found["cache.idle.residue"] = size(values["residue"] * (dynamic + static))
        if self.host_request_ns:
            found["host.cores"], found["host.write"] = "1", ns(self.host_request_ns)
            found["host.read"] = ns(self.host_request_ns)
        return found

    def profile(self, values: Values) -> str:
        """The same as a file."""
        return "\n".join(f"{key} = {value}" for key, value in self.keys(values).items())

    def open(self, values: Values) -> SimDrive | None:
        """A fresh drive; None where the profile's check refuses it."""
        return opened(self.profile(values))


def opened(profile: str) -> SimDrive | None:
    """A fresh drive; None where the profile's check refuses it."""
    try:
        return SimDrive("twin.toml", profile, {}, [])
    except PslcError:
        return None


USUAL_SLC_S: Final = 250e-6
USUAL_NATIVE_S: Final = {2: 0.9e-3, 3: 1.6e-3, 4: 6e-3, 5: 10e-3}
"""Program times of dies that nobody named, by bits a cell."""
USUAL_PAGE, USUAL_PLANES = 16 << 10, 4


def usual_dies(capacity_bytes: int, bits_per_cell: int) -> float:
    """Of 512 Gb (TLC) or 1 Tb (QLC)."""
    return capacity_bytes / (64 * 2**30 * (1 if bits_per_cell <= 3 else 2))


def usual_native(capacity_bytes: int, bits_per_cell: int) -> float:
    """Bytes a second that the usual dies of such a drive take in native mode."""
    program = USUAL_NATIVE_S.get(bits_per_cell, USUAL_NATIVE_S[3])
    return usual_dies(capacity_bytes, bits_per_cell) * USUAL_PLANES * USUAL_PAGE * bits_per_cell / program


def build_for(capacity_bytes: int, link: str, bits_per_cell: int, slc_rate: float, native_rate: float,
              dies: int | None = None) -> Build:  # fmt: skip
    """What a drive of that capacity may be made of, when no part is known: dies of 512 Gb (TLC) or 1 Tb (QLC), or as
    many as the speeds need at usual program times, unless it is known how many. Faster than any drive is what memory
    took in."""
    page, planes = USUAL_PAGE, USUAL_PLANES
    slc_rate, native_rate = min(slc_rate, PARAMETERS["slc_rate"].high), min(native_rate, PARAMETERS["native_rate"].high)
    channels = 8 if link >= "pcie4" and link.startswith("pcie") else 4
    native = USUAL_NATIVE_S.get(bits_per_cell, USUAL_NATIVE_S[3])
    by_speed = max(slc_rate * USUAL_SLC_S, native_rate * native / bits_per_cell) / (planes * page)
    wanted = max(usual_dies(capacity_bytes, bits_per_cell), 0.5 * by_speed, 1.0)
    dies = dies or 2 ** max(math.ceil(math.log2(wanted / 1.4)), 0)
    channels = min(channels, dies)
    bus = max(1200, int(-(-1.3 * slc_rate // channels // 1e8)) * 100)
    pages = capacity_bytes / (SUPERBLOCKS * dies * planes * page)
    pages = max(round(pages / bits_per_cell), 4) * bits_per_cell
    assumed = "assumed: no part was given; usual for the capacity and the speeds"
    keys = ("nand.channels", "nand.dies", "nand.planes", "nand.pages_per_block", "nand.page", "nand.bus",
            "nand.slc.erase", "nand.native.erase", "nand.suspend", "controller.cores", "ftl")  # fmt: skip
    return Build(
        capacity_bytes, link, bits_per_cell, channels, dies, planes, pages, bus_mts=bus,
        erase_s=4e-3 * min(pages / USUAL_PAGES, 1.0),
        sources=tuple((key, assumed) for key in keys),
    )  # fmt: skip
