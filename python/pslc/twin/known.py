"""What is known of a drive besides what was measured: capacity, link, parts, and the load that wrote it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from pslc import parts, units
from pslc.errors import refusal
from pslc.facts import Device
from pslc.findings.doubts import link_bytes_per_s
from pslc.parts.derive import FOLD_OVERHEAD
from pslc.recording import Recording
from pslc.twin.model import PARAMETERS, SUPERBLOCKS, Build, Firmware, Model, build_for

LINKS: Final = ("sata300", "sata600", "pcie3x2", "pcie3x4", "pcie4x4", "pcie5x4")
LOADS: Final = {
    "qd32": ("bs=1m\nioengine=io_uring\niodepth=32", 0),
    "qd1": ("bs=1m\nioengine=io_uring\niodepth=1", 50_000),
    "copy": ("bs=1m\nioengine=io_uring\niodepth=1", 150_000),
}
"""Words of the job, and ns that a request costs the host. Tools of reviewers that write with one request of 1 MiB under
way cost about 50 us each; a copy also moves the data in memory, at about 10 GB/s."""
GENERIC: Final = {"mlc": 2, "tlc": 3, "qlc": 4, "plc": 5}
BITS: Final = {"slc": 1} | GENERIC


@dataclass(frozen=True)
class Known:
    """What is known besides the data.

    Attributes:
        link: as a profile writes it, `pcie4x4`.
        link_bytes_per_s: what it lets through of writes.
        bits_per_cell: None: not known.
        build: of parts; None: assumed.
        host_request_ns: what a request cost the host that wrote the data.
        expected: values that parts tell, by name, with the standard deviation of their logarithm.
        cache_bytes: where somebody says that the first phase ends.
    """

    capacity_bytes: int
    link: str
    link_bytes_per_s: float
    bits_per_cell: int | None = None
    build: Build | None = None
    host_request_ns: int = 0
    expected: tuple[tuple[str, float, float], ...] = ()
    cache_bytes: float | None = None


def ceiling(link: str, capacity_bytes: int = 10**12) -> float:
    """Bytes a second of writes that a link lets through.

    Raises:
        PslcError: there is no such link.
    """
    model = Model(build_for(capacity_bytes, link, 3, 3e9, 1e9), Firmware("pure-xlc"))
    drive = model.open({name: one.prior for name, one in PARAMETERS.items()})
    if drive is None:
        raise refusal(f'link is "{link}", which is unknown', "sata600, pcie3x4, pcie4x4, ...")
    return float(drive.facts()["link_bytes_per_s"])


def link_for(fastest: float) -> str:
    """The slowest link that carries such writes."""
    return next((link for link in LINKS if ceiling(link) >= 0.985 * fastest), LINKS[-1])


def link_of(recording: Recording) -> str | None:
    """As the drive or the machine tells it."""
    if recording.is_simulated:
        return str(recording.profile_keys["link"])
    device = recording.facts.get("device") or Device()
    raw = link_bytes_per_s(device)
    if raw is None:
        return None
    speed, width = str(device["link_speed"]), device["link_width"]
    if "Gbps" in speed:
        return f"sata{round(raw / 1e6 / 150) * 150}"
    generation = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}.get(float(speed.partition(" ")[0]))
    return f"pcie{generation}x{width}" if generation else None


def known(
    capacity_bytes: int,
    fastest: float,
    *,
    link: str | None = None,
    nand: str | None = None,
    controller: str | None = None,
    host_request_ns: int = 0,
) -> Known:
    """What a fit may take for granted.

    Args:
        fastest: bytes/s of the fastest write, for a drive whose link nobody told.
        nand: a die of the library, or `tlc`, `qlc`.
        controller: of the library.

    Raises:
        PslcError: there is no such part or link.
    """
    chip = parts.controller(controller) if controller else None
    if link is None:
        link = chip.link if chip and ceiling(chip.link) >= 0.985 * fastest else link_for(fastest)
    found = Known(capacity_bytes, link, ceiling(link), host_request_ns=host_request_ns)
    bits = GENERIC.get(nand.lower()) if nand else None
    if bits:
        found = replace(found, bits_per_cell=bits)
    elif nand:
        die = parts.nand(nand)
        build, expected = _of_parts(capacity_bytes, link, die, chip)
        found = replace(found, bits_per_cell=die.bits_per_cell, build=build, expected=tuple(expected))
    return found


def _of_parts(capacity_bytes: int, link: str, die: Any, chip: Any) -> tuple[Build, list[tuple[str, float, float]]]:
    """The build of a die and perhaps a controller, and what their sheets lead one to expect."""
    nominal = die.bytes / 2**30 * 1e9
    dies = max(math.ceil(capacity_bytes / nominal), 1)
    channels = chip.channels if chip else (8 if link.startswith("pcie") and link >= "pcie4" else 4)
    channels = min(channels, dies)
    dies = -(-dies // channels) * channels
    bus = min(die.bus_mts, chip.bus_mts) if chip else die.bus_mts
    pages = die.pages_per_block
    block = dies * die.planes * pages * die.page_bytes
    if capacity_bytes / block < SUPERBLOCKS / 8:
        # A small drive of large dies: its superblocks are said to be smaller.
        pages = max(round(pages * capacity_bytes / block / SUPERBLOCKS / die.bits_per_cell), 4) * die.bits_per_cell
    name = die.name
    sources = [(key, f"{name}, a part") for key in ("nand.planes", "nand.pages_per_block", "nand.page",
               "nand.bits_per_cell", "nand.slc.erase", "nand.native.erase", "nand.bus")]  # fmt: skip
    sources += [("nand.dies", f"derived: the capacity over dies of {name}"), ("ftl", "assumed")]
    of_chip = f"{chip.name}, a part" if chip else "assumed: no controller was given"
    sources += [(key, of_chip) for key in ("nand.channels", "controller.cores", "nand.suspend")]
    build = Build(
        capacity_bytes, link, die.bits_per_cell, channels, dies, die.planes, pages, die.page_bytes, bus,
        erase_s=die.slc.erase / 1e9 * pages / die.pages_per_block, cores=chip.cores if chip else 4,
        sources=tuple(sources),
    )  # fmt: skip
    program = dies * die.planes * die.page_bytes * 1e9
    expected = [
        ("slc_rate", program / die.slc.program, 0.5),
        ("native_rate", program * die.bits_per_cell / die.native.program, 0.7),
        ("slc_read", die.slc.read / 1e9, 0.2),
        ("native_read", die.native.read / 1e9, 0.2),
    ]
    # What is binary beyond the nominal size, and the blocks beyond it; part of it may be set aside for the cache.
    expected.append(("spare", dies * die.bytes * (1 + die.spare) / capacity_bytes - 1, 0.3))
    habits = {} if chip is None else chip.habits | (chip.habits_qlc if die.bits_per_cell > 3 else {})
    overhead = habits.get("fold_overhead", FOLD_OVERHEAD if die.bits_per_cell == 3 else None)
    if overhead is not None:
        # The weakest value of the library: 2.4 to 6 on four drives. Data decide where they tell.
        expected.append(("overhead", float(overhead), 0.5))
    if "native_write" in habits:
        expected.append(
            ("ceiling", float(units.size(str(habits["native_write"]).removesuffix("/s"), "native_write")), 0.3)
        )
    if chip:
        expected.append(("command", chip.command / 1e9, 0.5))
        expected += [("buffer", float(chip.write_buffer), 0.7)] if chip.write_buffer else []
    return build, expected


def bits_of(nand: str | None) -> int | None:
    """Bits a cell of a die of the library, or of `tlc`, `qlc`; None where nobody said.

    Raises:
        PslcError: there is no such part.
    """
    if not nand:
        return None
    return GENERIC.get(nand.lower()) or parts.nand(nand).bits_per_cell


def capacity_of(recordings: Sequence[Recording]) -> int | None:
    """Bytes of the drive that recordings were made on; None where they do not tell."""
    found = {recording.capacity_bytes for recording in recordings if recording.capacity_bytes}
    if len(found) > 1:
        raise refusal(f"recordings of drives of {len(found)} sizes", "give those of one drive")
    return found.pop() if found else None


def guess(fastest: float, link: str | None) -> tuple[str, str]:
    """Which load wrote a curve whose fastest speed this is, and why.

    A tool with one request under way reaches less than the link: where the fastest speed is just that, the tool is the
    likelier bound than cells that happen to be as fast.
    """
    over = [link] if link else [one for one in LINKS if ceiling(one) >= 0.985 * fastest]
    for one in over[:1]:
        most = 1 / (1 / ceiling(one) + LOADS["qd1"][1] * 1e-9 / 2**20)
        if abs(np.log(fastest / most)) < 0.04:
            return "qd1", (
                f"its fastest, {fastest / 1e6:.0f} MB/s, is what one request at a time gets over {one}: taken as "
                "written so; --written-by qd32 if it was not"
            )
    return "qd32", "taken as written at a deep queue (--written-by tells)"
