"""The size of the write cache: the bytes written until the speed first falls."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from pslc.analysis.boundary import locate
from pslc.analysis.counter_causes import CauseEstimate
from pslc.analysis.phases import Phase
from pslc.analysis.plateaus import max_cache_bytes
from pslc.analysis.series import Curve

CLIFF: Final = 0.20
"""The smallest relative fall of speed that is a cliff."""
WHOLE: Final = 0.98
"""A fill that wrote this share of the capacity wrote the whole drive."""
REPLICATES: Final = 400
"""Traces the bootstrap of the interval makes."""


@dataclass(frozen=True)
class CacheEnd:
    """Bytes written at fast speed, with the 90 % interval.

    When `seen_end` is False the trace ended first: the cache holds `bytes` or more, up to `high`.
    """

    bytes: float
    low: float
    high: float
    seen_end: bool


def cache_end(
    curve: Curve,
    phases: Sequence[Phase],
    causes: Sequence[CauseEstimate] | None = None,
    *,
    seed: int = 0,
    capacity_bytes: float | None = None,
) -> CacheEnd | None:
    """Where the cache ended; None when the curve does not show an end.

    It ends where the speed falls by 20 % or more because the cells no longer write into it alone. A fall that comes
    from outside of the cells (memory, heat, the host, the link, others) is not its end, and a first phase that did not
    go into it bounds nothing.

    Args:
        phases: of this curve, from `find_phases`.
        causes: of the phases; None: every fall is the cells', and a slow start before it belongs to the cache.
        seed: of the stationary bootstrap behind the interval.
        capacity_bytes: of the drive. Only with it can a trace that ended before the cliff be told from a drive
            without one: a curve that never falls gives `seen_end=False` when less than 98 % was written.
    """
    start = float(curve.edges_bytes[0])
    for index, (phase, following) in enumerate(pairwise(phases)):
        if causes is not None and causes[index].nand_state in BEHIND and causes[index].cause not in TAKEN_IN:
            return None
        if causes is not None and not _leaves_the_cache(causes[index], causes[index + 1]):
            continue
        known = causes is None or causes[index].nand_state
        if not known and capacity_bytes is not None and phase.to_bytes - start > max_cache_bytes(capacity_bytes):
            return None
        after = following.usual_bytes_per_s
        if causes is not None and causes[index + 1].nand_state in BEHIND:
            # Folding comes and goes: what it leaves on average is what counts.
            after = min(after, following.bytes_per_s)
        if after <= (1.0 - CLIFF) * phase.usual_bytes_per_s:
            border = locate(
                curve, phase.to_bytes, phase.from_bytes, following.to_bytes, seed=seed, replicates=REPLICATES
            )
            # The table of phases and the size of the cache must agree, so only the errors are taken from here.
            low, high = phase.to_bytes - (border.bytes - border.low), phase.to_bytes + (border.high - border.bytes)
            low, high = max(low, phase.from_bytes), min(high, following.to_bytes)
            return CacheEnd(phase.to_bytes - start, low - start, high - start, seen_end=True)
    if capacity_bytes is None or curve.total_bytes >= WHOLE * capacity_bytes:
        return None
    least = curve.total_bytes if causes is None else _known_to_hold(phases, causes) - start
    return CacheEnd(least, least, capacity_bytes, seen_end=False) if least > 0.0 else None


BEHIND: Final = ("direct", "fold", "native", "gc")
"""What the cells do when they no longer write into the cache alone."""
TAKEN_IN: Final = ("page-cache", "dram", "power")
"""Causes of a phase whose end is not one of the cells'."""


def _leaves_the_cache(one: CauseEstimate, following: CauseEstimate) -> bool:
    """Whether the cells may have filled the cache where one phase gives way to the next."""
    if following.nand_state not in (*BEHIND, "") or one.nand_state in BEHIND:
        return False
    if one.nand_state == "pslc":
        return following.nand_state in BEHIND or following.cause in ("unknown", "map")
    # What the cells did is not known: only what took the data in by itself ends by itself.
    return following.nand_state in BEHIND and one.cause not in (*TAKEN_IN, "unknown")


def _known_to_hold(phases: Sequence[Phase], causes: Sequence[CauseEstimate]) -> float:
    """Bytes until which the cells are known to have written into the cache."""
    held = 0.0
    for phase, why in zip(phases, causes, strict=True):
        if why.nand_state == "pslc":
            held = phase.to_bytes
        elif why.nand_state or why.cause not in (*TAKEN_IN, "unknown"):
            break
    return held
