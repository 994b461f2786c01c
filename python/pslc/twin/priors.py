"""Prior knowledge of a drive: capacity, link, parts, and the load that wrote the data."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from pslc.base.errors import user_error
from pslc.device import parts
from pslc.device.parts import constants
from pslc.recording.model import Recording
from pslc.recording.warnings import link_bytes_per_s
from pslc.schema.facts import Device
from pslc.twin.model import PARAMETERS, SUPERBLOCKS, FirmwareModel, Geometry, Model, typical_geometry

LINKS: Final = ("sata300", "sata600", "pcie3x2", "pcie3x4", "pcie4x4", "pcie5x4")
"""Links that are guessed from a speed, the slowest first."""
PCIE_GENERATIONS: Final = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}
"""Generation of a PCIe link by GT/s."""
LOADS: Final = {
    "qd32": ("bs=1m\nioengine=io_uring\niodepth=32", 0),
    "qd1": ("bs=1m\nioengine=io_uring\niodepth=1", 50_000),
    "copy": ("bs=1m\nioengine=io_uring\niodepth=1", 150_000),
}
"""Options of the job, and ns that a request costs the host: about 50 us in tools of reviewers that write one request of
1 MiB at a time; a copy also moves the data in memory, at about 10 GB/s."""
LOAD_REQUEST_BYTES: Final = 1 << 20
GENERIC_CELLS: Final = {"mlc": 2, "tlc": 3, "qlc": 4, "plc": 5}
"""Bits per cell of a `--nand` that names no part."""
LINK_TOLERANCE_RATIO: Final = 0.985
"""Share of the fastest measured speed that a link must carry: speeds of short samples are noisy."""
SAME_SPEED_LOG_RATIO: Final = 0.04
"""Logarithm of a ratio of speeds within which the load, not the drive, is taken for the limit."""
MIN_SUPERBLOCKS: Final = SUPERBLOCKS / 8
"""Superblocks below which the blocks of a part are taken to be smaller: a small drive of large dies."""

MIN_PRIOR_SD: Final = 0.3
"""Least spread of a constant of parts: one drive differs from the next by more than all of them together tell."""

Prior = tuple[str, float, float]
"""Parameter, prior mean (natural), standard deviation of its logarithm."""


@dataclass(frozen=True)
class PriorKnowledge:
    """Facts that a fit takes for granted, and values that it expects.

    Attributes:
        link: as a profile writes it, `pcie4x4`.
        link_bytes_per_s: bytes/s of writes that the link carries.
        bits_per_cell: None: unknown.
        geometry: geometry of the parts; None: assumed.
        host_request_ns: time that a request cost the host that wrote the data.
        part_priors: priors from data sheets of parts.
        cache_bytes: stated end of the first phase.
    """

    capacity_bytes: int
    link: str
    link_bytes_per_s: float
    bits_per_cell: int | None = None
    geometry: Geometry | None = None
    host_request_ns: int = 0
    part_priors: tuple[Prior, ...] = ()
    cache_bytes: float | None = None

    @property
    def max_bytes_per_s(self) -> float:
        """Bytes/s of sequential writes that the link and the host let through."""
        return 1 / (1 / self.link_bytes_per_s + self.host_request_ns * 1e-9 / LOAD_REQUEST_BYTES)


def link_rate(link: str, capacity_bytes: int = 10**12) -> float:
    """Bytes/s of writes that a link carries.

    Raises:
        PslcError: there is no such link.
    """
    model = Model(typical_geometry(capacity_bytes, link, 3, 3e9, 1e9), FirmwareModel("pure-xlc"))
    drive = model.open({name: parameter.prior_mean for name, parameter in PARAMETERS.items()})
    if drive is None:
        raise user_error(f'no link is named "{link}"', "for example sata600, pcie3x4 or pcie4x4")
    return float(drive.facts()["link_bytes_per_s"])


def link_for(fastest: float) -> str:
    """The slowest link that carries writes of `fastest` bytes/s."""
    return next((link for link in LINKS if link_rate(link) >= LINK_TOLERANCE_RATIO * fastest), LINKS[-1])


def link_of(recording: Recording) -> str | None:
    """The link of a recording's drive, as a profile writes it; None if neither drive nor machine reported it."""
    if recording.is_simulated:
        return str(recording.profile_keys["link"])
    device = recording.facts.get("device") or Device()
    raw = link_bytes_per_s(device)
    if raw is None:
        return None
    speed, width = str(device["link_speed"]), device["link_width"]
    if "Gbps" in speed:
        return f"sata{round(raw / 1e6 / 150) * 150}"
    generation = PCIE_GENERATIONS.get(float(speed.partition(" ")[0]))
    return f"pcie{generation}x{width}" if generation else None


def collect_priors(
    capacity_bytes: int,
    fastest: float,
    *,
    link: str | None = None,
    nand: str | None = None,
    controller: str | None = None,
    host_request_ns: int = 0,
) -> PriorKnowledge:
    """Prior knowledge from what is stated about a drive.

    Args:
        fastest: bytes/s of the fastest write, from which an unknown link is guessed.
        nand: a die of the library, or `tlc`, `qlc`.
        controller: a controller of the library.

    Raises:
        PslcError: there is no such part or link.
    """
    chip = parts.controller(controller) if controller else None
    if link is None:
        carries = chip is not None and link_rate(chip.link) >= LINK_TOLERANCE_RATIO * fastest
        link = chip.link if chip and carries else link_for(fastest)
    knowledge = PriorKnowledge(capacity_bytes, link, link_rate(link), host_request_ns=host_request_ns)
    bits = GENERIC_CELLS.get(nand.lower()) if nand else None
    if bits:
        return replace(knowledge, bits_per_cell=bits)
    if nand:
        die = parts.nand(nand)
        geometry = _geometry_of_parts(capacity_bytes, link, die, chip)
        priors = _priors_of_parts(capacity_bytes, geometry, die, chip)
        return replace(knowledge, bits_per_cell=die.bits_per_cell, geometry=geometry, part_priors=tuple(priors))
    return knowledge


def _geometry_of_parts(capacity_bytes: int, link: str, die: Any, chip: Any) -> Geometry:
    """The geometry of a drive with this die and perhaps this controller."""
    nominal = die.bytes / 2**30 * 1e9
    dies = max(math.ceil(capacity_bytes / nominal), 1)
    channels = chip.channels if chip else (8 if link.startswith("pcie") and link >= "pcie4" else 4)
    channels = min(channels, dies)
    dies = -(-dies // channels) * channels
    bus = min(die.bus_mts, chip.bus_mts) if chip else die.bus_mts
    pages = die.pages_per_block
    superblock_bytes = dies * die.planes * pages * die.page_bytes
    if capacity_bytes / superblock_bytes < MIN_SUPERBLOCKS:
        target = pages * capacity_bytes / superblock_bytes / SUPERBLOCKS
        pages = max(round(target / die.bits_per_cell), 4) * die.bits_per_cell
    of_die = ("nand.planes", "nand.pages_per_block", "nand.page", "nand.bits_per_cell", "nand.slc.erase",
              "nand.native.erase", "nand.bus")  # fmt: skip
    chip_source = f"{chip.name}, a part" if chip else "assumed: no controller was given"
    sources = [(key, f"{die.name}, a part") for key in of_die]
    sources += [("nand.dies", f"derived: the capacity over dies of {die.name}"), ("ftl", "assumed")]
    sources += [(key, chip_source) for key in ("nand.channels", "controller.cores", "nand.suspend")]
    return Geometry(
        capacity_bytes, link, die.bits_per_cell, channels, dies, die.planes, pages, die.page_bytes, bus,
        erase_s=die.slc.erase / 1e9 * pages / die.pages_per_block, cores=chip.cores if chip else 4,
        sources=tuple(sources),
    )  # fmt: skip


def _priors_of_parts(capacity_bytes: int, geometry: Geometry, die: Any, chip: Any) -> list[Prior]:
    """Priors from the data sheets of a die and perhaps a controller."""
    program = geometry.dies * die.planes * die.page_bytes * 1e9
    part_sd = {
        name: constants.constant(name, die.name, constants.of_die(die)).sd
        for name in ("slc_read", "slc_program", "native_program")
    }
    priors = [
        ("slc_rate", program / die.slc.program, max(part_sd["slc_program"], MIN_PRIOR_SD)),
        ("native_rate", program * die.bits_per_cell / die.native.program, max(part_sd["native_program"], MIN_PRIOR_SD)),
        ("slc_read", die.slc.read / 1e9, part_sd["slc_read"]),
        ("native_read", die.native.read / 1e9, 0.2),
        # What is binary beyond the nominal size, and the blocks beyond it; part of it may be set aside for the cache.
        ("over_provisioning", geometry.dies * die.bytes * (1 + die.spare) / capacity_bytes - 1, 0.3),
    ]
    if chip:
        of = constants.of(chip, die)
        # The weakest value of the library: it differs from family to family. Data decide where they can.
        overhead = (die.bits_per_cell - 1) * of["folding"].median
        priors.append(("fold_overhead", overhead, max(of["folding"].sd, MIN_PRIOR_SD)))
        priors.append(("ceiling", of["native_write"].median, max(of["native_write"].sd, MIN_PRIOR_SD)))
    if chip:
        priors.append(("command", chip.command / 1e9, 0.5))
        priors += [("buffer", float(chip.write_buffer), 0.7)] if chip.write_buffer else []
    return priors


def bits_of(nand: str | None) -> int | None:
    """Bits per cell of a die of the library, or of `tlc`, `qlc`; None if `nand` is None.

    Raises:
        PslcError: there is no such part.
    """
    if not nand:
        return None
    return GENERIC_CELLS.get(nand.lower()) or parts.nand(nand).bits_per_cell


def capacity_of(recordings: Sequence[Recording]) -> int | None:
    """Capacity of the drive of these recordings, in bytes; None if they do not report it.

    Raises:
        PslcError: the recordings are of drives of different capacities.
    """
    sizes = {recording.capacity_bytes for recording in recordings if recording.capacity_bytes}
    if len(sizes) > 1:
        listed = " and ".join(f"{size / 1e9:g} GB" for size in sorted(sizes))
        raise user_error(f"the recordings are from drives of {listed}", "a fit takes recordings of one drive")
    return sizes.pop() if sizes else None


def guess_load(fastest: float, link: str | None) -> tuple[str, str]:
    """The load that wrote a curve, by its fastest speed in bytes/s, and the reason as a sentence.

    A tool that writes one request at a time stays below the link: a fastest speed of just that much is more likely the
    tool's limit than that of cells which happen to be as fast.
    """
    links = [link] if link else [name for name in LINKS if link_rate(name) >= LINK_TOLERANCE_RATIO * fastest]
    for name in links[:1]:
        limit = 1 / (1 / link_rate(name) + LOADS["qd1"][1] * 1e-9 / LOAD_REQUEST_BYTES)
        if abs(np.log(fastest / limit)) < SAME_SPEED_LOG_RATIO:
            return "qd1", (
                f"the fastest speed, {fastest / 1e6:.0f} MB/s, is what one request at a time reaches over {name}; "
                "assuming such a load (change with --written-by qd32)"
            )
    return "qd32", "assuming that a deep queue wrote the curve (change with --written-by)"
