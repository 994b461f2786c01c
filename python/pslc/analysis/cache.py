"""The size of the write cache: the bytes written until the speed first falls."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from pslc.analysis.boundary import locate
from pslc.analysis.counter_causes import CauseEstimate
from pslc.analysis.pauses import average_pauses
from pslc.analysis.phases import Phase
from pslc.analysis.plateau_case import max_cache_bytes
from pslc.analysis.series import Curve
from pslc.analysis.thresholds import MIN_CLIFF_FALL, WHOLE_DRIVE_SHARE

REPLICATES: Final = 400
"""Traces the bootstrap of the interval makes."""
PAST_CACHE_STATES: Final = ("direct", "fold", "native", "gc")
"""NAND states in which not all host data go to the cache."""
BEFORE_NAND: Final = ("page-cache", "dram", "power")
"""Causes of a phase whose end is not one of the NAND's."""


@dataclass(frozen=True)
class CacheEnd:
    """Bytes written at fast speed, with the 90 % interval.

    Attributes:
        bytes: the size of the cache.
        low, high: its interval.
        seen_end: whether the end is in the curve; else the cache holds `bytes` or more, up to `high`.
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
    """Estimate the end of the cache, in bytes written; None if the curve does not show one.

    It ends where the speed falls by 20 % or more because host data no longer go to the cache alone. A fall that comes
    from around the NAND (memory, heat, the host, the link, other programs) is not its end, and a first phase that did
    not go into the cache bounds nothing.

    Args:
        phases: of this curve, from `find_phases`.
        causes: of the phases; None: every fall is the NAND's, and a slow start before it belongs to the cache.
        seed: of the stationary bootstrap behind the interval.
        capacity_bytes: of the drive. Only with it can a trace that ended before the cliff be told from a drive
            without one: a curve that never falls gives `seen_end=False` when less than 98 % was written.
    """
    start = float(curve.edges_bytes[0])
    for index, (phase, following) in enumerate(pairwise(phases)):
        pair = None if causes is None else (causes[index], causes[index + 1])
        if pair and pair[0].nand_state in PAST_CACHE_STATES and pair[0].cause not in BEFORE_NAND:
            return None
        if pair and not _leaves_the_cache(*pair):
            continue
        unknown = pair is not None and not pair[0].nand_state
        if unknown and capacity_bytes is not None and phase.to_bytes - start > max_cache_bytes(capacity_bytes):
            return None
        if _fallen_bytes_per_s(following, pair) <= (1.0 - MIN_CLIFF_FALL) * phase.usual_bytes_per_s:
            return _end_between(curve, phase, following, seed)
    if capacity_bytes is None or curve.total_bytes >= WHOLE_DRIVE_SHARE * capacity_bytes:
        return None
    return _end_beyond(curve, phases, causes, capacity_bytes)


def _end_beyond(
    curve: Curve, phases: Sequence[Phase], causes: Sequence[CauseEstimate] | None, capacity_bytes: float
) -> CacheEnd | None:
    """The cache of a write that stopped before its end: what it held at least; None where it held nothing."""
    held = curve.total_bytes if causes is None else _known_to_hold(phases, causes) - float(curve.edges_bytes[0])
    return CacheEnd(held, held, capacity_bytes, seen_end=False) if held > 0.0 else None


def _fallen_bytes_per_s(following: Phase, pair: tuple[CauseEstimate, CauseEstimate] | None) -> float:
    """The speed behind a possible end: of folding, which comes and goes, its mean where that is less."""
    if pair and pair[1].nand_state in PAST_CACHE_STATES:
        return min(following.usual_bytes_per_s, following.bytes_per_s)
    return following.usual_bytes_per_s


def _end_between(curve: Curve, phase: Phase, following: Phase, seed: int) -> CacheEnd:
    """The end of the cache at the boundary of two phases.

    The table of phases and the size of the cache must agree, so only the errors come from the bootstrap.
    """
    start, end = float(curve.edges_bytes[0]), phase.to_bytes
    averaged = average_pauses(curve)
    boundary = averaged.widened(
        locate(averaged.curve, end, phase.from_bytes, following.to_bytes, seed=seed, replicates=REPLICATES)
    )
    low, high = end - (boundary.bytes - boundary.low), end + (boundary.high - boundary.bytes)
    low, high = max(low, phase.from_bytes), min(high, following.to_bytes)
    return CacheEnd(end - start, low - start, high - start, seen_end=True)


def _leaves_the_cache(cause: CauseEstimate, following: CauseEstimate) -> bool:
    """Whether the NAND may have filled the cache where one phase gives way to the next."""
    if following.nand_state not in (*PAST_CACHE_STATES, "") or cause.nand_state in PAST_CACHE_STATES:
        return False
    if cause.nand_state == "pslc":
        return following.nand_state in PAST_CACHE_STATES or following.cause in ("unknown", "map")
    # What the NAND did is not known: only what took the data in by itself ends by itself.
    return following.nand_state in PAST_CACHE_STATES and cause.cause not in (*BEFORE_NAND, "unknown")


def _known_to_hold(phases: Sequence[Phase], causes: Sequence[CauseEstimate]) -> float:
    """Bytes until which the NAND is known to have written into the cache."""
    held = 0.0
    for phase, cause in zip(phases, causes, strict=True):
        if cause.nand_state == "pslc":
            held = phase.to_bytes
        elif cause.nand_state or cause.cause not in (*BEFORE_NAND, "unknown"):
            break
    return held
