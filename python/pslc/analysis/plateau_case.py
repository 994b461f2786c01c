"""Case for the search of a plateau's cause: the plateau, all plateaus of the write, and the causes of those before it.

Also what the rules of `nand_state`, `past_cache` and `random_writes` share: how sure they are, and groups of causes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from pslc.analysis.context import AccessPattern, MeasurementContext
from pslc.analysis.counter_causes import CauseEstimate
from pslc.analysis.phases import Phase
from pslc.analysis.thresholds import MAX_RAW_CAPACITY_RATIO, MIN_NATIVE_BITS, PHASE_START_SHARE, SAME_SPEED_TOLERANCE

GUESSED, UNSURE, LIKELY, SURE = 0.8, 0.89, 0.95, 0.98
"""About how often such conclusions are right, on the logs, drives and jobs of `make bench NAME=analysis`."""
PAST_CACHE: Final = ("direct", "fold")
"""NAND states that are possible once the cache is full."""
HOST_LIMITED: Final = ("link", "host", "cpu")
"""Causes outside of the drive that a faster cache would not change."""
BEFORE_NAND: Final = ("page-cache", "dram", "power")
"""Causes of a first phase that tell nothing of the NAND."""
NATIVE_ONLY: Final = ("native", "gc", *BEFORE_NAND)
"""Causes of phases up to which no cache was seen."""


@dataclass(frozen=True)
class PlateauCase:
    """A plateau whose cause is sought.

    Attributes:
        phases: all plateaus of the write, each as one phase.
        index: of the plateau among them.
        context: what is known besides the curve.
        causes: of the plateaus before it, in order.
    """

    phases: Sequence[Phase]
    index: int
    context: MeasurementContext
    causes: Sequence[CauseEstimate]

    @property
    def phase(self) -> Phase:
        """Phase of the plateau itself."""
        return self.phases[self.index]

    @property
    def previous(self) -> Phase:
        """The plateau before it; there must be one."""
        return self.phases[self.index - 1]

    @property
    def following(self) -> Phase | None:
        """The plateau after it; None at the end of the write."""
        return self.phases[self.index + 1] if self.index + 1 < len(self.phases) else None

    @property
    def earlier(self) -> list[tuple[Phase, CauseEstimate]]:
        """The plateaus before it with their causes, in order."""
        return list(zip(self.phases, self.causes, strict=False))

    @property
    def rate(self) -> str:
        """Speed of the plateau, as text."""
        return format_speed(self.phase.bytes_per_s)

    @property
    def guess_confidence(self) -> float:
        """Confidence of a guess, from 0 to 1. It is higher for pslc's own recordings, whose phases have no noise."""
        return UNSURE if self.context.access_patterns else GUESSED

    def pattern(self, phase: Phase | None = None) -> AccessPattern | None:
        """Access pattern of the host in this plateau, or in another `phase`; None if it is unknown.

        A boundary may lie a little before the point from which the host wrote elsewhere.
        """
        phase = phase or self.phase
        return self.context.pattern_at(phase.from_bytes + PHASE_START_SHARE * (phase.to_bytes - phase.from_bytes))

    def all_caused_by(self, *causes: str) -> bool:
        """Whether the plateaus before it have none but these causes."""
        return all(estimate.cause in causes for estimate in self.causes)

    def without_earlier(self) -> "PlateauCase":
        """This plateau as if the write began with it."""
        return replace(self, phases=self.phases[self.index :], index=0, causes=())


def same_speed(phase: Phase, other: Phase, tolerance: float = SAME_SPEED_TOLERANCE) -> bool:
    """Whether two phases run at one speed."""
    return abs(phase.bytes_per_s / other.bytes_per_s - 1) < tolerance


def max_cache_bytes(capacity: float) -> float:
    """Bytes that fit into all cells of a drive at one bit each.

    Args:
        capacity: of the drive, in bytes.
    """
    return MAX_RAW_CAPACITY_RATIO / MIN_NATIVE_BITS * capacity


def format_speed(bytes_per_s: float) -> str:
    """Format a speed for a reason: `450 MB/s`."""
    return f"{bytes_per_s / 1e6:.0f} MB/s"
