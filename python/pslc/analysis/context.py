"""Facts about a write besides its curve: the drive, the host, and how the host wrote."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from pslc.analysis.series import Floats
from pslc.analysis.thresholds import HOT_TOLERANCE_K, MAX_HEAT_ONSET_SHARE, MIN_THROTTLE_CELSIUS

MIN_WARMED_K: Final = 10.0
"""Kelvins that a drive warms up by in a write that makes it throttle."""
MIN_BUSIER_SHARE: Final = 0.12
"""Rise of how busy others are, from which they may have made a fall."""
WRITE_ALL: Final = "write the whole drive"
"""Next step that a warning proposes when only part of the drive was written."""


@dataclass(frozen=True)
class AccessPattern:
    """Access pattern of the host's writes from one point of the write on.

    Attributes:
        from_bytes: bytes written when the pattern began.
        span_bytes: size of the region that is written.
        request_bytes: size of a request.
        random: whether requests go to random places of the region, rather than one after the other.
        synced: whether each write is flushed, or goes past the buffer, before the next one.
    """

    from_bytes: float
    span_bytes: float
    request_bytes: float
    random: bool
    synced: bool = False


@dataclass(frozen=True)
class MeasurementContext:
    """Facts about a measurement besides its curve. None means unknown.

    Attributes:
        capacity_bytes: size of the drive.
        link_bytes_per_s: what its link carries at most of the host's data.
        command_bytes: what a request costs on the link besides its data, as bytes of data.
        map_bytes: how much of the drive its controller has mapped at hand, infinite where that is all of it.
        access_patterns: how the host wrote, in order.
        mean_s, longest_s: mean time of a request, and the longest one of the median bin, by phase.
        fastest_s: mean time of a request in the fastest bin, by phase.
        slowest_quantiles_s: the longest request of a bin in the 5th, 50th, 95th and 100th percentile of the bins, by
            phase.
        is_depth_one: whether the host had only one request under way at a time.
        first_request_extra_s: how much longer the first request took than those after it usually did.
        silence_s: silence of the host before the first request.
        cpu_share: time that the processor, or the one core that makes the requests, was busy, by phase.
        buffered: whether the host wrote through its page cache.
        throttled_s: how long the drive throttled for heat, by its own counters.
        other_share: share of what the drive moved for other programs, by phase.
        random: whether the host wrote at random places; `access_patterns` says more where it is known.
        prefilled: whether the drive was full of other data before.
        celsius: bytes written, and the drive's temperature then, in order.
        busy: what others did: bytes written, and how busy they were then, from 0 to 1, of each thing that was counted.
        counted_by: whether a program counted what it handed to the system, or the system what reached the drive.
        is_direct: whether the host wrote past its page cache.
        is_file: whether the host wrote to a file, which is never the whole drive.
        is_virtual: whether the disk is a virtual one, or the machine is.
        synced_bytes: size of a request, where each is flushed, one at a time, in somebody else's write; of our own
            `access_patterns` says it.
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
    busy: Sequence[tuple[Floats, Floats]] = ()
    counted_by: Literal["program", "drive"] | None = None
    is_direct: bool = False
    is_file: bool = False
    is_virtual: bool = False
    synced_bytes: float | None = None

    @property
    def room_bytes(self) -> float | None:
        """Free space of the drive before the write, in bytes: its capacity if it was empty. None if it was not, or if
        the capacity is unknown."""
        return None if self.prefilled else self.capacity_bytes

    @property
    def is_drive_alone(self) -> bool:
        """Whether the write went past the page cache to a drive that is no virtual one, so that nobody limits it."""
        return self.counted_by == "drive" and self.is_direct and not self.is_virtual

    @property
    def is_one_stream(self) -> bool:
        """Whether the host wrote all of it one after the other, unsynced, as far as is known."""
        return (
            not self.random
            and not any(pattern.random or pattern.synced for pattern in self.access_patterns)
            and (len(self.access_patterns) < 2)
        )

    def pattern_at(self, at_bytes: float) -> AccessPattern | None:
        """Access pattern at the point where the host had written `at_bytes`; None if it is unknown."""
        return next((pattern for pattern in reversed(self.access_patterns) if pattern.from_bytes <= at_bytes), None)

    def flushed_bytes(self, at_bytes: float) -> float | None:
        """Bytes between two flushes when the host had written `at_bytes`; None where it did not wait for each write to
        reach the NAND, or not for one at a time."""
        pattern = self.pattern_at(at_bytes)
        if pattern is None:
            return self.synced_bytes
        return pattern.request_bytes if pattern.synced and self.is_depth_one else None

    def is_hot(self, from_bytes: float, to_bytes: float) -> bool | None:
        """Whether the drive was about as hot as ever within a stretch of bytes; None where that is not known."""
        if self.celsius is None:
            return None
        positions = np.linspace(from_bytes, to_bytes, 9)
        hottest = max(float(np.quantile(self.celsius[1], 0.99)), MIN_THROTTLE_CELSIUS + HOT_TOLERANCE_K)
        return bool(np.median(np.interp(positions, *self.celsius)) >= hottest - HOT_TOLERANCE_K)

    def heats_up_at(self, at_bytes: float) -> bool:
        """Whether the drive became about as hot as ever about where `at_bytes` were written."""
        if self.celsius is None or not at_bytes:
            return False
        written, degrees = self.celsius
        limit = max(float(np.quantile(degrees, 0.99)), MIN_THROTTLE_CELSIUS + HOT_TOLERANCE_K)
        hot = np.flatnonzero(degrees >= limit - HOT_TOLERANCE_K / 2)
        if not hot.size:
            return False
        # The sensor was read before and after.
        first, last = (float(written[min(max(hot[0] + step, 0), written.size - 1)]) for step in (-1, 1))
        return (
            first - at_bytes <= MAX_HEAT_ONSET_SHARE * at_bytes and at_bytes - last <= MAX_HEAT_ONSET_SHARE * at_bytes
        )

    def nears_its_limit_at(self, at_bytes: float) -> bool:
        """Whether the drive had become hot, by `MIN_WARMED_K` and more, and near its highest, where `at_bytes` were
        written."""
        if self.celsius is None or not at_bytes:
            return False
        begin, half, now = np.interp((0.0, at_bytes / 2, at_bytes), *self.celsius)
        hottest = float(np.quantile(self.celsius[1], 0.99))
        near = now >= max(hottest - 2 * HOT_TOLERANCE_K, MIN_THROTTLE_CELSIUS) and now - begin >= MIN_WARMED_K
        return bool(near and now - half >= HOT_TOLERANCE_K / 2)

    def got_busier(self, before: tuple[float, float], after: tuple[float, float]) -> bool:
        """Whether others were busier in one stretch of bytes than in the one before it."""
        means = [
            [float(np.interp(np.linspace(*stretch, 9), *series).mean()) for stretch in (before, after)]
            for series in self.busy
        ]
        return any(later - earlier >= MIN_BUSIER_SHARE for earlier, later in means)

    def wait_share(self, index: int) -> float:
        """Share of the time of a phase's requests that they took longer than when they were answered soonest."""
        if self.mean_s is None or self.fastest_s is None or not self.mean_s[index]:
            return 0.0
        return 1.0 - self.fastest_s[index] / self.mean_s[index]

    def waits_are_equal(self, index: int, tolerance: float, *, always: bool = False) -> bool | None:
        """Whether the longest requests of nearly all bins of a phase took equally long, with `always` of all; None
        where that is not known.

        Args:
            tolerance: relative difference up to which they do.
        """
        if self.slowest_quantiles_s is None or not self.slowest_quantiles_s[index][0]:
            return None
        p5, median, p95, largest = self.slowest_quantiles_s[index]
        return p95 <= (1 + tolerance) * p5 and (not always or largest <= (1 + tolerance) * median)

    def unevenness(self, index: int) -> float | None:
        """The longest request of the median bin of a phase over its mean request; None where that is not known."""
        if self.mean_s is None or self.longest_s is None or not self.mean_s[index]:
            return None
        return self.longest_s[index] / self.mean_s[index]


@dataclass(frozen=True, kw_only=True)
class AnalysisOptions:
    """Options of the analysis of a write curve.

    Attributes:
        capacity_bytes: capacity of the drive; None if it is unknown.
        is_free_part: whether that is only the part of it that was not filled before.
        seed: seed of the bootstrap that gives the intervals.
        interrupted: whether the run was stopped before its end.
        context: facts about another program's measurement, so that missing ones become warnings; None for pslc's own
            recordings.
        next_step: what a warning proposes for the rest of the drive, if only part of it was written.
        buffer_bytes: what memory before the cells takes in at most.
        has_gaps: whether wide bins are gaps that the recording tells itself.
    """

    capacity_bytes: float | None = None
    is_free_part: bool = False
    seed: int = 0
    interrupted: bool = False
    context: MeasurementContext | None = None
    next_step: str = WRITE_ALL
    buffer_bytes: float = math.inf
    has_gaps: bool = False

    @property
    def is_own(self) -> bool:
        """Whether the curve is of our own recording."""
        return self.context is None
