"""The size of the write cache: the bytes written until the speed first falls."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from pslc.analysis.borders import locate
from pslc.analysis.phases import Phase
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
    curve: Curve, phases: Sequence[Phase], *, seed: int = 0, capacity_bytes: float | None = None
) -> CacheEnd | None:
    """Where the cache ended; None when the curve has no cliff.

    The cliff is the first border where the speed falls by 20 % or more; a slow start before it belongs to the cache.

    Args:
        phases: of this curve, from `find_phases`.
        seed: of the stationary bootstrap behind the interval.
        capacity_bytes: of the drive. Only with it can a trace that ended before the cliff be told from a drive
            without one: a curve that never falls gives `seen_end=False` when less than 98 % was written.
    """
    start = float(curve.edges_bytes[0])
    for phase, following in pairwise(phases):
        if _usual_speed(curve, following) <= (1.0 - CLIFF) * _usual_speed(curve, phase):
            border = locate(
                curve, phase.to_bytes, phase.from_bytes, following.to_bytes, seed=seed, replicates=REPLICATES
            )
            # The table of phases and the size of the cache must agree, so only the errors are taken from here.
            low, high = phase.to_bytes - (border.bytes - border.low), phase.to_bytes + (border.high - border.bytes)
            low, high = max(low, phase.from_bytes), min(high, following.to_bytes)
            return CacheEnd(phase.to_bytes - start, low - start, high - start, seen_end=True)
    if capacity_bytes is not None and curve.total_bytes < WHOLE * capacity_bytes:
        return CacheEnd(curve.total_bytes, curve.total_bytes, capacity_bytes, seen_end=False)
    return None


def _usual_speed(curve: Curve, phase: Phase) -> float:
    """Median speed of a phase's bins: a slow start weighs on the mean, and is no part of the cliff."""
    inside = (curve.edges_bytes[:-1] >= phase.from_bytes) & (curve.edges_bytes[1:] <= phase.to_bytes)
    return float(np.median(curve.bytes_per_s[inside])) if inside.any() else phase.bytes_per_s
