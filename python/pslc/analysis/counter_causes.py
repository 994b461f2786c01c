"""Causes of the speed of a phase, and of one of a simulated drive: what its requests spent most of their time on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pslc import _native
from pslc.schema.facts import Facts

CAUSES: Final = (
    "pslc", "direct", "fold", "native", "gc", "erase", "read", "map", "link", "controller", "host", "cpu", "page-cache",
    "dram", "flush", "thermal", "power", "other", "old-data", "unknown",
)  # fmt: skip
"""Every cause there is."""

NAND_STATES: Final = ("pslc", "direct", "fold", "native", "gc")
"""Causes that lie in the NAND cells; the others lie around them."""

WORDS: Final = {
    "pslc": "pSLC programs", "direct": "native programs", "native": "native programs", "fold": "folding",
    "gc": "garbage collection", "erase": "erases", "read": "reads of the cells", "map": "the map", "link": "the link",
    "controller": "the controller", "host": "a host that asked for nothing", "cpu": "the host's processor",
    "page-cache": "the host's memory", "flush": "flushes", "thermal": "heat", "power": "waking up",
    "other": "others' requests",
}  # fmt: skip
"""Words for the time of requests of a simulated drive, by cause."""

SPEEDS: Final = {
    "link": ("link_bytes_per_s", "the link carries"),
    "pslc": ("slc_write_bytes_per_s", "the cells take"),
    "direct": ("native_write_bytes_per_s", "the cells take"),
    "native": ("native_write_bytes_per_s", "the cells take"),
}
"""The fact about a drive that is the ceiling of a cause, and who has it."""

MOSTLY: Final = 0.5
"""Share of a phase's bytes above which most of them are where they are."""
MAX_QUOTED_SHARES: Final = 3
"""Causes that a sentence names with their shares."""


@dataclass(frozen=True)
class CauseEstimate:
    """Cause of a phase's speed, with a confidence and a reason.

    Attributes:
        cause: one of `CAUSES`.
        confidence: from 0 to 1: the share of such conclusions that is right; of a simulated drive the share of the time
            of requests that went to the cause.
        because: the numbers behind the conclusion, as a sentence.
        shares: of a simulated drive what its requests spent their time on, by cause.
        nand_state: what the NAND did meanwhile, one of `NAND_STATES`; empty if unknown. Equal to `cause` where the NAND
            is the cause.
    """

    cause: str
    confidence: float
    because: str
    nand_state: str = ""
    shares: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        if self.cause in NAND_STATES:
            object.__setattr__(self, "nand_state", self.cause)


def phase_cause(
    changes: Mapping[str, float], *, seconds: float, facts: Facts, moved: float, other_share: float = 0.0
) -> CauseEstimate:
    """Return the cause of a simulated phase's speed: what its requests spent most of their time on.

    Args:
        changes: what each counter changed by within the phase, and of each gauge its usual value, by the names of
            `SimDrive.columns`; beside these `buffer_rise_bytes`, what `buffer_bytes` changed by.
        seconds: how long the phase took.
        facts: of the drive.
        moved: bytes that were written.
        other_share: share of the bytes that the drive moved for others.
    """
    mine = [(cause, share * (1.0 - other_share)) for cause, share in _native.phase_shares(dict(changes), seconds)]
    shares = sorted([*mine, ("other", other_share)], key=lambda pair: -pair[1])
    if not mine:
        return CauseEstimate("unknown", 0.0, "the drive does not say what its requests waited for")
    all_shares = {word: part for word, part in shares if part}
    buffered = changes.get("buffer_rise_bytes", 0.0) / moved
    if buffered > MOSTLY:
        still = f"{100 * buffered:.0f} % of what was written is still in the drive's buffer"
        because = f"{still}: {moved / seconds / 1e6:.0f} MB/s"
        return CauseEstimate("dram", buffered, because, shares=all_shares)
    cause, share = shares[0]
    named = [f"{100 * part:.0f} % on {WORDS[word]}" for word, part in shares[:MAX_QUOTED_SHARES] if part >= 0.005]
    because = f"requests spent {', '.join(named)}: {moved / seconds / 1e6:.0f} MB/s{_ceiling(cause, facts)}"
    return CauseEstimate(cause, share, because, _nand_state(changes, facts), all_shares)


def _ceiling(cause: str, facts: Facts) -> str:
    if cause == "pslc" and "mlc_write_bytes_per_s" in facts:
        slc, mlc = facts["slc_write_bytes_per_s"], facts["mlc_write_bytes_per_s"]
        return f", cells of one bit take {slc / 1e6:.0f} MB/s, cells of two {mlc / 1e6:.0f} MB/s"
    name, subject = SPEEDS.get(cause, ("", ""))
    speed = dict(facts).get(name)
    return f", {subject} {float(str(speed)) / 1e6:.0f} MB/s" if speed else ""


def _nand_state(changes: Mapping[str, float], facts: Facts) -> str:
    """Work of the dies for most of the time that they worked, one of `NAND_STATES`; empty if they did nothing."""
    slc = facts.get("mlc_write_bytes_per_s", facts.get("slc_write_bytes_per_s", 0.0))
    native, overhead = facts.get("native_write_bytes_per_s", 0.0), facts.get("fold_overhead", 1.0)
    if not (slc and native):
        return ""
    past_cache = "direct" if changes.get("slc_superblocks", 0.0) >= 1 else "native"
    work = {
        "pslc": changes["host_to_slc_bytes_total"] / slc,
        past_cache: changes["host_to_native_bytes_total"] / native,
        "fold": changes["folded_bytes_total"] * overhead / native,
        "gc": changes["gc_bytes_total"] / native,
    }
    longest = max(work, key=lambda state: work[state])
    return longest if work[longest] > 0 else ""


def cache_superblock_bytes(facts: Facts) -> int:
    """Bytes of a superblock of the dynamic cache; 0: not known."""
    return facts.get("mlc_superblock_bytes", facts.get("slc_superblock_bytes", 0))


def format_bytes(count: float) -> str:
    """`3.33 TB`, `281 GB`, `1.27 MB`."""
    if count >= 999.5e9:
        return f"{count / 1e12:.3g} TB"
    return f"{count / 1e9:.3g} GB" if count >= 1e9 or count == 0 else f"{count / 1e6:.3g} MB"
