"""Choice of the built-in drives that a load is replayed on when the user names none."""

from typing import Final

from pslc.base import words
from pslc.base.errors import TargetError
from pslc.device.profiles import library
from pslc.device.target import Target, find_target

MAX_DRIVES: Final = 7
"""Drives that are tried: those between which buyers choose, in less than a minute for an hour that was watched."""
MIN_CAPACITY_RATIO: Final = 0.9
"""A drive may be this much smaller than the one that was watched: 960 GB and 1 TB are sold for the same use."""
MAX_CAPACITY_RATIO: Final = 4.0
"""A drive that is larger than this many times is another purchase."""
UNKNOWN_CAPACITY_BYTES: Final = 10**12
"""Capacity that a drive is taken to need where the watched one's is not known: the one that most are sold with."""
LINK_STEP_BYTES_PER_S: Final = 1e9
"""Links that differ by less are one class: SATA, PCIe 3, 4 and 5 at four lanes are 0.6, 3.3, 6.6 and 13 GB/s."""


def spread(needed_bytes: int) -> list[str]:
    """Return built-in drives of about a capacity: the smallest of each class that suffices. A class is power-loss
    protection, bits per cell, and the speed of the link.

    Raises:
        TargetError: no built-in drive is as large.
    """
    targets = [(f"sim:{name}", find_target(f"sim:{name}")) for name in library()]
    large = [(spec, of) for spec, of in targets if of.capacity_bytes >= MIN_CAPACITY_RATIO * needed_bytes]
    if not large:
        held = words.size(needed_bytes)
        raise TargetError(f"no built-in drive holds {held}", "name one of yours: --on sim:mine.toml")
    large.sort(key=lambda pair: pair[1].capacity_bytes)
    limit = MAX_CAPACITY_RATIO * max(needed_bytes, large[0][1].capacity_bytes)
    within = [pair for pair in large if pair[1].capacity_bytes <= limit]
    protected = [pair for pair in large if pair[1].facts["plp"]]
    if protected and not any(of.facts["plp"] for _, of in within):
        within.append(protected[0])
    by_class: dict[tuple[bool, int, int], str] = {}
    for spec, of in within:
        by_class.setdefault(_class(of), spec)
    chosen = sorted(by_class.items(), key=lambda pair: not pair[0][0])[:MAX_DRIVES]
    return [spec for _, spec in chosen]


def choice(count: int) -> str:
    """A sentence on which drives were tried."""
    return (
        f"{count} of {len(library())} built-in drives were tried: the smallest of each class that is large enough (by "
        "power-loss protection, bits per cell and link); --on sim:NAME tries others"
    )


def _class(target: Target) -> tuple[bool, int, int]:
    facts = target.facts
    return facts["plp"], facts["bits_per_cell"], round(facts["link_bytes_per_s"] / LINK_STEP_BYTES_PER_S)
