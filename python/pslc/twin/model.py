"""A drive as a few numbers that data can determine: rates and sizes instead of times and counts of blocks.

    Geometry        dies, planes, blocks: from a part of the library, or assumed for the capacity
    FirmwareModel   rules of the firmware: when the cache is full, how it is reused, what it is made of
    values          natural values by parameter name, see `PARAMETERS`
    Model           a geometry and a firmware model; with values it makes a profile, and a simulated drive

A scaled model behaves like the full-size drive and is many times smaller: as many superblocks with fewer pages, and all
sizes and times of the jobs divided by the scale.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pslc._native import SimDrive
from pslc.base.errors import PslcError

MIB: Final = 1 << 20
SUPERBLOCKS: Final = 700
"""Superblocks of a drive of unknown parts, without spare ones: as many as dies of 512 Gb with 24 MiB blocks have."""
OPEN_SUPERBLOCKS: Final = 4
"""Superblocks that the check of a profile wants beside the reserve, and one as a margin."""
RESERVE_SUPERBLOCKS: Final = 6
"""`ftl.reserve_superblocks` of every twin: no suite determines it."""
TYPICAL_PAGES_PER_BLOCK: Final = 1152
"""Pages of a 3D NAND block, for which `TYPICAL_ERASE_S` holds."""
TYPICAL_ERASE_S: Final = 4e-3
TYPICAL_SLC_PROGRAM_S: Final = 250e-6
TYPICAL_NATIVE_PROGRAM_S: Final = {2: 0.9e-3, 3: 1.6e-3, 4: 6e-3, 5: 10e-3}
"""Program times of unknown dies, by bits per cell."""
TYPICAL_PAGE_BYTES: Final = 16 << 10
TYPICAL_PLANES: Final = 4
MIN_BUS_MTS: Final = 1200
"""Bus of unknown dies, in MT/s; faster where the pSLC rate needs it."""
MIN_FOLD_BELOW_SHARE: Final = 1e-3
"""Share of the capacity below which `fold_below` is less than a superblock, and left out of the profile."""
MIN_FOLD_BATCH_SHARE: Final = 0.01
"""Share of the cache below which a fold batch is left out of the profile."""
MIN_SLC_PAGES: Final = 8
"""Pages of a block in pSLC mode below which a scaled drive differs from the full-size one (tests/test_twin.py)."""
MIN_SCALED_DIES: Final = 4
MIN_SCALED_BYTES: Final = 10 << 30
"""Capacity of a scaled drive below which the size of a request shows."""
MAX_SCALED_PAGE_BYTES: Final = 8 << 10
NO_NATIVE_LIMIT: Final = 4e10
"""Limit of the data path into native cells that no drive reaches, in bytes/s."""
UNSEEN_NATIVE_LIMIT: Final = 2e10
"""Limit of the data path from which on no suite shows it, in bytes/s: no link and no cells are as fast."""

Values = Mapping[str, float]


@dataclass(frozen=True)
class Geometry:
    """Dies, planes and blocks of a drive, its buses and its link.

    Attributes:
        erase_s: expected erase time of a block in pSLC mode.
        read_speedup: how many times shorter cell reads are; above 1 on a scaled drive of fewer dies.
        fixed: further keys of the profile, as TOML.
        sources: where each key of the profile comes from.
    """

    capacity_bytes: int
    link: str
    bits_per_cell: int
    channels: int
    dies: int
    planes: int
    pages_per_block: int
    page_bytes: int = TYPICAL_PAGE_BYTES
    bus_mts: int = MIN_BUS_MTS
    erase_s: float = TYPICAL_ERASE_S
    cores: int = 4
    read_speedup: float = 1.0
    fixed: tuple[tuple[str, str], ...] = ()
    sources: tuple[tuple[str, str], ...] = ()

    def with_provenance(self, key: str, source: str) -> Geometry:
        """The same geometry with another source for one key of the profile."""
        return replace(self, sources=tuple((dict(self.sources) | {key: source}).items()))

    @property
    def superblock_bytes(self) -> int:
        """Size of a superblock in native mode, in bytes."""
        return self.dies * self.planes * self.pages_per_block * self.page_bytes

    @property
    def full_buffer_bytes(self) -> float:
        """Size of a write buffer that keeps all dies busy, in bytes."""
        return 4.0 * self.program_bytes * self.bits_per_cell

    @property
    def program_bytes(self) -> int:
        """Bytes that all dies program at once: a page of every plane."""
        return self.dies * self.planes * self.page_bytes


@dataclass(frozen=True)
class FirmwareModel:
    """Rules of a firmware that a fit chooses: `cache.mode`, `cache.when_full`, `cache.reuse`, `cache.dead`.

    Attributes:
        has_two_tiers: behind a static part of one bit a cell the dynamic part holds two (`cache.dynamic_cells`).
    """

    mode: str
    when_full: str = "direct-then-fold"
    reuse: str = "after-idle"
    dead: str = "free-at-once"
    bits_per_cell: int = 3
    has_two_tiers: bool = False

    @property
    def has_cache(self) -> bool:
        """Whether there is a cache of any kind."""
        return self.mode != "pure-xlc"

    @property
    def has_dynamic_cache(self) -> bool:
        """Whether part of the cache is made of native blocks while they are free."""
        return self.mode in ("dynamic-slc", "hybrid-slc")

    @property
    def has_static_cache(self) -> bool:
        """Whether part of the cache is set aside for good."""
        return self.mode in ("static-slc", "hybrid-slc")

    @property
    def words(self) -> str:
        """The rules as text: `direct-then-fold, reuse after-idle, dynamic-slc`."""
        if not self.has_cache:
            return "no cache"
        reuse = "" if self.when_full == "fold" else f", reuse {self.reuse}"
        dead = ", dead data kept until idle" if self.dead == "until-idle" else ""
        tiers = " of two tiers" if self.has_two_tiers else ""
        return f"{self.when_full}{reuse}, {self.mode}{tiers}{dead}"


def in_words(models: Sequence[FirmwareModel]) -> str:
    """Several firmware models as text: `direct-then-fold, reuse after-idle/when-empty, dynamic-slc; or fold, ...`."""
    return "; or ".join(model.words for model in _merged(_merged(models, "reuse"), "mode"))


def _merged(models: Sequence[FirmwareModel], field: Literal["reuse", "mode"]) -> list[FirmwareModel]:
    """Firmware models that differ in one field only, merged: the field lists the words of all of them."""
    groups: dict[FirmwareModel, list[str]] = {}
    for model in models:
        template = _with_field(model, field, "") if model.has_cache else model
        groups.setdefault(template, []).append(getattr(model, field))
    return [_with_field(template, field, "/".join(words)) for template, words in groups.items()]


def _with_field(model: FirmwareModel, field: Literal["reuse", "mode"], text: str) -> FirmwareModel:
    return replace(model, reuse=text) if field == "reuse" else replace(model, mode=text)


@dataclass(frozen=True)
class Parameter:
    """A number that a fit determines.

    Attributes:
        low, high: bounds, natural.
        scale: scale on which the fit works, `log` or `linear`.
        prior_mean: expected value before data, natural.
        prior_sd: standard deviation of the prior, on the scale.
        keys: keys of the profile that it decides.
        unit: `B/s`, `B`, `s`, `capacity` (share of it), `of the cache` (share of it) or empty.
        model_error_sd: standard deviation, on the scale, that remains however well a fit explains the data.
    """

    name: str
    low: float
    high: float
    scale: str
    prior_mean: float
    prior_sd: float
    keys: tuple[str, ...]
    unit: str
    description: str
    model_error_sd: float = 0.02


PARAMETERS: Final = {
    parameter.name: parameter
    for parameter in (
        Parameter("slc_rate", 2e7, 3e10, "log", 3e9, 2.0, ("nand.slc.program",), "B/s",
                  "what all dies program as pSLC", 0.06),
        Parameter("mlc_rate", 2e7, 3e10, "log", 2e9, 2.0, ("nand.mlc.program",), "B/s",
                  "what all dies program in the second tier, at two bits a cell", 0.06),
        Parameter("native_rate", 2e6, 2e10, "log", 8e8, 2.0, ("nand.native.program",), "B/s",
                  "what all dies program in native mode", 0.04),
        Parameter("dynamic", 5e-4, 0.7, "log", 0.15, 2.0, ("cache.dynamic",), "capacity",
                  "dynamic cache of the empty drive", 0.015),
        Parameter("static", 5e-4, 0.2, "log", 0.02, 2.0, ("cache.static",), "capacity",
                  "static cache", 0.05),
        Parameter("dynamic_min", 0.0, 1.0, "linear", 0.6, 0.45, ("cache.dynamic_least",), "of the cache",
                  "dynamic cache of the full drive", 0.1),
        Parameter("over_provisioning", 0.012, 1.5, "log", 0.07, 0.5, ("nand.blocks_per_plane",), "capacity",
                  "native space beyond the capacity", 0.12),
        Parameter("fold_overhead", 0.3, 20.0, "log", 1.5, 0.5, ("cache.fold_overhead",), "",
                  "die time of a folding program over that of a direct one", 0.15),
        Parameter("host_share", 0.03, 0.97, "linear", 0.5, 0.25, ("cache.host_share",), "",
                  "die time that the host keeps while the drive folds", 0.05),
        Parameter("ceiling", 2e6, NO_NATIVE_LIMIT, "log", NO_NATIVE_LIMIT, 2.0, ("controller.native_write",), "B/s",
                  "what the data path carries into native cells"),
        Parameter("watermark", 0.0, 0.6, "linear", 0.0, 0.1, ("cache.fold_below",), "capacity",
                  "native space below which the cache is folded", 0.02),
        Parameter("batch", 0.0, 1.0, "linear", 0.0, 0.3, ("cache.fold_batch",), "of the cache",
                  "of the cache that is folded at a time under load"),
        Parameter("idle_threshold", 1e-3, 3600.0, "log", 1.0, 1.5, ("cache.idle.threshold",), "s",
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
"""Parameters of the model, in the order of a report."""
RULE_PARAMETERS: Final = {"direct-then-fold": ["watermark"], "fold": ["batch"], "direct-while-folding": ["host_share"]}
"""Parameters that only one rule for a full cache has."""


def parameters_of(firmware: FirmwareModel) -> list[str]:
    """Names of the parameters that have a meaning for a firmware model, in the order of `PARAMETERS`."""
    names = ["native_rate", "ceiling", "over_provisioning", "erase", "buffer", "command", "slc_read", "native_read"]
    if firmware.has_cache:
        names += ["slc_rate", "idle_threshold", "idle_rate", "residue", "fold_overhead"]
        names += ["dynamic", "dynamic_min"] if firmware.has_dynamic_cache else []
        names += ["static"] if firmware.has_static_cache else []
        names += ["mlc_rate"] if firmware.has_two_tiers else []
        names += RULE_PARAMETERS.get(firmware.when_full, [])
    return [name for name in PARAMETERS if name in names]


def cache_shares(firmware: FirmwareModel, values: Values) -> tuple[float, float]:
    """Dynamic and static cache of the empty drive as shares of its capacity; 0 where the firmware model has none."""
    dynamic = values["dynamic"] if firmware.has_dynamic_cache else 0.0
    static = values["static"] if firmware.has_static_cache else 0.0
    return dynamic, static


@dataclass(frozen=True)
class Model:
    """A geometry with a firmware model.

    Attributes:
        scale: how many times smaller it is than the drive it stands for.
        host_request_ns: time that a request costs the host that measured; not part of the drive.
    """

    geometry: Geometry
    firmware: FirmwareModel
    scale: float = 1.0
    host_request_ns: int = 0

    @property
    def capacity_bytes(self) -> int:
        """Capacity of the scaled drive, in bytes."""
        if self.scale == 1.0:
            return self.geometry.capacity_bytes // 4096 * 4096
        return round(self.geometry.capacity_bytes / self.scale / MIB) * MIB

    def scaled(self, min_bytes: int = MIN_SCALED_BYTES) -> Model:
        """The smallest drive of at least `min_bytes` that behaves the same."""
        geometry = self.geometry
        bits = geometry.bits_per_cell
        max_scale = geometry.capacity_bytes / min_bytes
        if max_scale <= 1:
            return self
        # Fewer channels at the same rates: each channel, and each of its dies, is that much faster.
        speedup = math.gcd(geometry.channels, max(geometry.dies // MIN_SCALED_DIES, 1))
        # Smaller program units, and less that waits for one to fill.
        page = min(geometry.page_bytes, MAX_SCALED_PAGE_BYTES)
        page_ratio = geometry.page_bytes // page
        min_pages = max(geometry.pages_per_block * speedup * page_ratio / max_scale, MIN_SLC_PAGES * bits)
        pages = min(-(-int(min_pages) // bits) * bits, geometry.pages_per_block * page_ratio)
        small = replace(
            geometry,
            pages_per_block=pages,
            page_bytes=page,
            dies=geometry.dies // speedup,
            channels=geometry.channels // speedup,
            bus_mts=geometry.bus_mts * speedup,
            read_speedup=geometry.read_speedup * speedup * page_ratio,
        )
        return replace(self, geometry=small, scale=geometry.superblock_bytes / small.superblock_bytes * self.scale)

    def with_geometry(self, geometry: Geometry) -> Model:
        """The same firmware model with a full-size geometry, scaled as much as this model is."""
        full_size = replace(self, geometry=geometry, scale=1.0)
        return full_size.scaled(self.capacity_bytes) if self.scale > 1.0 else full_size

    def keys(self, values: Values) -> dict[str, str]:
        """The profile, as TOML values by dotted key."""
        geometry = self.geometry
        keys = {"name": '"a twin"', "capacity": _size(self.capacity_bytes), "link": f'"{geometry.link}"'}
        keys |= self._nand_keys(values) | self._controller_keys(values)
        keys["cache.mode"] = f'"{self.firmware.mode}"'
        if values.get("ceiling", NO_NATIVE_LIMIT) < UNSEEN_NATIVE_LIMIT:
            keys["controller.native_write"] = _rate(values["ceiling"])
        keys |= dict(geometry.fixed)
        if self.firmware.has_cache:
            keys |= self._cache_keys(values)
        if self.host_request_ns:
            keys |= {"host.cores": "1", "host.write": _ns(self.host_request_ns), "host.read": _ns(self.host_request_ns)}
        return keys

    def _cache_bytes(self, values: Values) -> tuple[int, float, float]:
        """Blocks per plane; bytes of the dynamic and of the static cache of the empty drive."""
        geometry, capacity = self.geometry, self.capacity_bytes
        dynamic, static = (share * capacity for share in cache_shares(self.firmware, values))
        needed = -(-capacity // geometry.superblock_bytes)
        blocks = round(capacity * (1 + values["over_provisioning"]) / geometry.superblock_bytes)
        slc_bytes = geometry.superblock_bytes / geometry.bits_per_cell
        set_aside = -(-static // slc_bytes)
        spare = RESERVE_SUPERBLOCKS + OPEN_SUPERBLOCKS
        blocks = max(int(blocks + set_aside), int(needed + set_aside + spare))
        # The check of a profile allows no cache that is larger than the drive.
        dynamic_bytes = (2 if self.firmware.has_two_tiers else 1) * slc_bytes
        return blocks, min(dynamic, (blocks - set_aside - spare) * dynamic_bytes), static

    def _nand_keys(self, values: Values) -> dict[str, str]:
        geometry, bits = self.geometry, self.geometry.bits_per_cell
        blocks, _, _ = self._cache_bytes(values)
        keys = {
            "nand.channels": str(geometry.channels),
            "nand.dies": str(geometry.dies),
            "nand.planes": str(geometry.planes),
            "nand.pages_per_block": str(geometry.pages_per_block),
            "nand.blocks_per_plane": str(blocks),
            "nand.page": _size(geometry.page_bytes),
            "nand.bits_per_cell": str(bits),
            "nand.bus": f'"{geometry.bus_mts}MT/s"',
            "nand.slc.read": _ns(values["slc_read"] * 1e9 / geometry.read_speedup),
            "nand.slc.program": _ns(geometry.program_bytes / values.get("slc_rate", 1e12) * 1e9),
            "nand.slc.erase": _ns(values["erase"] / self.scale * 1e9),
            "nand.native.read": _ns(values["native_read"] * 1e9 / geometry.read_speedup),
            "nand.native.program": _ns(geometry.program_bytes * bits / values["native_rate"] * 1e9),
            "nand.native.erase": _ns(1.5 * values["erase"] / self.scale * 1e9),
            "nand.suspend.program": '"20us"',
            "nand.suspend.erase": '"50us"',
            "nand.suspend.limit": "8",
        }
        if self.firmware.has_two_tiers:
            # Nothing that is fitted reads or erases there apart: as pSLC.
            keys |= {
                "nand.mlc.read": keys["nand.slc.read"],
                "nand.mlc.program": _ns(geometry.program_bytes * 2 / values["mlc_rate"] * 1e9),
                "nand.mlc.erase": keys["nand.slc.erase"],
            }
        return keys

    def _controller_keys(self, values: Values) -> dict[str, str]:
        geometry = self.geometry
        # The check of a profile wants two program units; a scaled drive must keep all of its dies busy.
        two_units = 2 * geometry.planes * geometry.page_bytes * geometry.bits_per_cell
        min_buffer = two_units if self.scale == 1 else geometry.full_buffer_bytes
        return {
            "controller.write_buffer": _size(max(values["buffer"] / self.scale, min_buffer)),
            "controller.cores": str(geometry.cores),
            "controller.command": _ns(values["command"] * 1e9),
            "ftl.reserve_superblocks": str(RESERVE_SUPERBLOCKS),
        }

    def _cache_keys(self, values: Values) -> dict[str, str]:
        firmware = self.firmware
        _, dynamic, static = self._cache_bytes(values)
        keys = {
            "cache.when_full": f'"{firmware.when_full}"',
            "cache.reuse": f'"{firmware.reuse}"',
            "cache.dead": f'"{firmware.dead}"',
            "cache.fold_overhead": f"{values['fold_overhead']:.3f}",
        }
        if dynamic:
            keys["cache.dynamic"] = _size(dynamic)
            keys["cache.dynamic_least"] = _size(values["dynamic_min"] * dynamic)
            keys["cache.shrink_from"] = '"0%"'
            keys["cache.shrink_to"] = '"100%"'
            keys |= {"cache.dynamic_cells": '"mlc"'} if firmware.has_two_tiers else {}
        if static:
            keys["cache.static"] = _size(static)
        if firmware.when_full == "direct-while-folding":
            keys["cache.host_share"] = f'"{100 * values["host_share"]:.1f}%"'
        if firmware.when_full == "direct-then-fold" and values.get("watermark", 0.0) > MIN_FOLD_BELOW_SHARE:
            keys["cache.fold_below"] = _size(values["watermark"] * self.capacity_bytes)
        if firmware.when_full == "fold" and values.get("batch", 0.0) > MIN_FOLD_BATCH_SHARE:
            keys["cache.fold_batch"] = _size(values["batch"] * (dynamic + static))
        keys["cache.idle.threshold"] = _ns(values["idle_threshold"] / self.scale * 1e9)
        keys["cache.idle.rate"] = _rate(values["idle_rate"])
        keys["cache.idle.residue"] = _size(values["residue"] * (dynamic + static))
        return keys

    def profile(self, values: Values) -> str:
        """The profile, as the text of a TOML file."""
        return "\n".join(f"{key} = {value}" for key, value in self.keys(values).items())

    def open(self, values: Values) -> SimDrive | None:
        """A new simulated drive; None where the check of the profile refuses it."""
        return open_drive(self.profile(values))


def open_drive(profile: str) -> SimDrive | None:
    """A new simulated drive with this profile; None where the check of the profile refuses it."""
    try:
        return SimDrive("twin.toml", profile, {}, [])
    except PslcError:
        return None


def _ns(time: float) -> str:
    return f'"{max(round(time), 1)}ns"'


def _size(count: float) -> str:
    return f'"{max(round(count), 0)}B"'


def _rate(bytes_per_s: float) -> str:
    return f'"{round(bytes_per_s / 1e3)}kB/s"'


def typical_dies(capacity_bytes: int, bits_per_cell: int) -> float:
    """Number of dies of a drive of unknown parts: dies of 512 Gb (TLC and below) or 1 Tb (QLC and above)."""
    return capacity_bytes / (64 * 2**30 * (1 if bits_per_cell <= 3 else 2))


def typical_native_rate(capacity_bytes: int, bits_per_cell: int) -> float:
    """Bytes/s that all dies of a drive of unknown parts program in native mode."""
    program_s = TYPICAL_NATIVE_PROGRAM_S.get(bits_per_cell, TYPICAL_NATIVE_PROGRAM_S[3])
    unit = TYPICAL_PLANES * TYPICAL_PAGE_BYTES * bits_per_cell
    return typical_dies(capacity_bytes, bits_per_cell) * unit / program_s


def typical_geometry(
    capacity_bytes: int, link: str, bits_per_cell: int, slc_rate: float, native_rate: float, dies: int | None = None
) -> Geometry:
    """Geometry of a drive of unknown parts.

    Args:
        slc_rate, native_rate: bytes/s that it must reach. Rates beyond any drive are those of a memory in front of it.
        dies: their number, if known; otherwise typical for the capacity, or as many as the rates need.
    """
    page, planes = TYPICAL_PAGE_BYTES, TYPICAL_PLANES
    slc_rate, native_rate = min(slc_rate, PARAMETERS["slc_rate"].high), min(native_rate, PARAMETERS["native_rate"].high)
    channels = 8 if link >= "pcie4" and link.startswith("pcie") else 4
    native_s = TYPICAL_NATIVE_PROGRAM_S.get(bits_per_cell, TYPICAL_NATIVE_PROGRAM_S[3])
    by_speed = max(slc_rate * TYPICAL_SLC_PROGRAM_S, native_rate * native_s / bits_per_cell) / (planes * page)
    wanted = max(typical_dies(capacity_bytes, bits_per_cell), 0.5 * by_speed, 1.0)
    dies = dies or 2 ** max(math.ceil(math.log2(wanted / 1.4)), 0)
    channels = min(channels, dies)
    bus = max(MIN_BUS_MTS, int(-(-1.3 * slc_rate // channels // 1e8)) * 100)
    pages = capacity_bytes / (SUPERBLOCKS * dies * planes * page)
    pages = max(round(pages / bits_per_cell), 4) * bits_per_cell
    assumed = "assumed: no part was given; usual for the capacity and the speeds"
    keys = (
        "nand.channels", "nand.dies", "nand.planes", "nand.pages_per_block", "nand.page", "nand.bus",
        "nand.slc.erase", "nand.native.erase", "nand.suspend", "controller.cores", "ftl",
    )  # fmt: skip
    return Geometry(
        capacity_bytes, link, bits_per_cell, channels, dies, planes, pages, bus_mts=bus,
        erase_s=TYPICAL_ERASE_S * min(pages / TYPICAL_PAGES_PER_BLOCK, 1.0),
        sources=tuple((key, assumed) for key in keys),
    )  # fmt: skip
