"""What a tester knows of a write besides its curve."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pslc.analysis.series import Floats

LEAST_HOT: Final = 65.0
"""Degrees below which no drive throttles."""
NEAR_K: Final = 3.0
"""A drive that is throttled stays as near as this to its highest temperature."""


@dataclass(frozen=True)
class AccessPattern:
    """Where the host wrote from some point on.

    Attributes:
        from_bytes: bytes written when it began to.
        span_bytes: of the region.
        request_bytes: of a request.
        random: at random places of the region, rather than one after the other.
        synced: each write is flushed, or goes past the buffer, before the next one.
    """

    from_bytes: float
    span_bytes: float
    request_bytes: float
    random: bool
    synced: bool = False


@dataclass(frozen=True)
class MeasurementContext:
    """What is known besides the curve; None: not known.

    Attributes:
        capacity_bytes: of the drive.
        link_bytes_per_s: what its link carries at most of the host's data.
        command_bytes: what a request costs on the link besides its data, as so many bytes of these.
        map_bytes: how much of the drive the map maps that its controller has at hand, infinite where that is all of it.
        places: where the host wrote, in order.
        mean_s, longest_s: mean time of a request, and the usual longest one of a bin, by phase.
        fastest_s: the mean of the bin in which they were answered soonest, by phase.
        waits: how alike the bins of a phase are in their longest request: what it took in 5, 50, 95 and 100 of 100 of
            them, in seconds, by phase.
        one_by_one: the host had only one request under way at a time.
        first_s: how much longer the first request took than those after it usually did.
        silent_s: silence of the host before the first request.
        cpu: share of the processor, or of the one core that makes the requests, that was busy, by phase.
        buffered: the host wrote through its page cache.
        throttled_s: how long the drive throttled for heat, by its own counters.
        others: share of what the drive moved that was for others, by phase.
        random: the host wrote at random places; `places` tells more where they are known. None: nobody says.
        prefilled: the drive was full of other data before.
        celsius: bytes written and the drive's temperature then, in order.
        synced_bytes: of a request of somebody else's write whose requests are each flushed, one at a time; of ours
            `places` tells it.
    """

    capacity_bytes: float | None = None
    link_bytes_per_s: float | None = None
    command_bytes: float = 0.0
    map_bytes: float | None = None
    access_patterns: Sequence[AccessPattern] = ()
    mean_s: Sequence[float] | None = None
    longest_s: Sequence[float] | None = None
    fastest_s: Sequence[float] | None = None
    slowest_quantiles_s: Sequence[tuple[float, float, float, float]] | None = None
    is_depth_one: bool = False
    first_request_extra_s: float | None = None
    silence_s: float | None = None
    cpu_share: Sequence[float] | None = None
    buffered: bool = False
    throttled_s: float | None = None
    other_share: Sequence[float] | None = None
    random: bool | None = None
    prefilled: bool = False
    celsius: tuple[Floats, Floats] | None = None
    synced_bytes: float | None = None

    @property
    def room_bytes(self) -> float | None:
        """What an empty drive has room for; None where it was not empty, or its capacity is not known."""
        return None if self.prefilled else self.capacity_bytes

    def pattern_at(self, at_bytes: float) -> AccessPattern | None:
        """Where the host wrote when it had written so much."""
        return next((place for place in reversed(self.access_patterns) if place.from_bytes <= at_bytes), None)

    def flushed_bytes(self, at_bytes: float) -> float | None:
        """How much the host wrote between two flushes when it had written so much; None where it did not wait for each
        write to reach the cells, or not for one at a time."""
        place = self.pattern_at(at_bytes)
        if place is None:
            return self.synced_bytes
        return place.request_bytes if place.synced and self.is_depth_one else None

    def is_hot(self, from_bytes: float, to_bytes: float) -> bool | None:
        """Whether the drive was about as hot as ever within a stretch of bytes; None where that is not known."""
        if self.celsius is None:
            return None
        at = np.linspace(from_bytes, to_bytes, 9)
        hottest = max(float(np.quantile(self.celsius[1], 0.99)), LEAST_HOT + NEAR_K)
        return bool(np.median(np.interp(at, *self.celsius)) >= hottest - NEAR_K)

    def wait_share(self, index: int) -> float:
        """Share of the time of a phase's requests that they took longer than when they were answered soonest."""
        if self.mean_s is None or self.fastest_s is None or not self.mean_s[index]:
            return 0.0
        return 1.0 - self.fastest_s[index] / self.mean_s[index]

    def waits_are_equal(self, index: int, within: float, *, always: bool = False) -> bool | None:
        """Whether the longest request of nearly every bin of a phase took as long, `always` of every one; None where
        that is not known."""
        if self.slowest_quantiles_s is None or not self.slowest_quantiles_s[index][0]:
            return None
        least, usual, most, ever = self.slowest_quantiles_s[index]
        return most <= (1 + within) * least and (not always or ever <= (1 + within) * usual)

    def unevenness(self, index: int) -> float | None:
        """The usual longest request over the mean one, within a phase."""
        if self.mean_s is None or self.longest_s is None or not self.mean_s[index]:
            return None
        return self.longest_s[index] / self.mean_s[index]
