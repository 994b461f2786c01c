"""Why each phase of a write has its speed, seen from outside: from the curve and what a tester knows besides.

             v1  into pSLC
    --------+
            |    v2  past the cache, or folding?       room left for native cells: raw - n * cache, n bits a cell
            +----------+            +----------- v3 > v2: the cache is empty again
                       |            |
                       +------------+  v3 < v2: no free blocks left, folding

A drive tells nothing of its cells. But it cannot write past its cache longer than there is room, which the capacity
tells; folding takes n - 1 bytes moved for each of the host's, and ends; a full drive written at random collects
garbage; and the link, the processor and the page cache are known from their own side.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pslc.analysis.causes import BUSY_CPU, Evidence
from pslc.analysis.phases import Phase

LINK_FULL: Final = 0.965
"""Share of the link's ceiling at which the link is what limits."""
LINK_BEYOND: Final = 1.12
"""Share of it at which no drive was measured: packets and encoding take less than this."""
AS_LONG: Final = 0.25
"""Relative difference within which a phase lasted as long as the drive throttled."""
ALIKE: Final = 1.5
"""The longest request over the mean one, below which none waited: a program takes far longer than a buffered write."""
LEAST_BITS, MOST_BITS = 3, 4
LEAST_SPARE, MOST_SPARE = 1.0, 1.2
"""Raw capacity over what the host sees."""
TRICKLE: Final = 0.2
"""Below this share of the cache's speed it is rather folding than native cells: those are a quarter as fast or more."""
CRAWL: Final = 0.08
"""Below this even a length that fits native cells does not make them likely."""
FOLDING: Final = 0.67
"""Native speed falls to this share at the most when folding joins in: 1 / (1 + k / (n - 1)), n = 3, k >= 1."""
CACHE_AGAIN: Final = 0.68
"""A rise to this share of the fastest speed is the cache again."""
SAME: Final = 0.12
"""Relative difference within which two phases run at one speed."""
WHOLE: Final = 0.98
UNSURE, LIKELY, SURE = 0.6, 0.8, 0.9
"""About how often such conclusions are right, on the drives and jobs of `make bench-analysis`."""


@dataclass(frozen=True)
class Seen:
    """What is known besides the curve; None: not known.

    Attributes:
        capacity_bytes: of the drive.
        link_bytes_per_s: what its link carries at most of the host's data.
        random_from: bytes written from which on the requests are at random places.
        mean_s, longest_s: mean time of a request, and the usual longest one of a bin, by phase, where the host had only
            one under way at a time.
        cpu: share of the processor, or of the one core that makes the requests, that was busy, by phase.
        buffered: the host wrote through its page cache.
        throttled_s: how long the drive throttled for heat, by its own counters.
    """

    capacity_bytes: float | None = None
    link_bytes_per_s: float | None = None
    random_from: float | None = None
    mean_s: Sequence[float] | None = None
    longest_s: Sequence[float] | None = None
    cpu: Sequence[float] | None = None
    buffered: bool = False
    throttled_s: float | None = None


def causes_from_outside(phases: Sequence[Phase], seen: Seen) -> list[Evidence]:
    """The cause of each phase of a curve, in their order, with how sure (0 to 1) and why.

    Args:
        phases: from `find_phases`; the write began on an empty drive.
    """
    hot = _throttled(phases, seen.throttled_s) if seen.throttled_s else None
    # What the cells did is read off the other phases.
    cool = [phase for index, phase in enumerate(phases) if index != hot]
    drive: list[Evidence] = []
    found: list[Evidence] = []
    for index, phase in enumerate(phases):
        outside = _of_the_host(phases, index, seen)
        if index == hot and outside is None:
            because = f"the drive throttled for {seen.throttled_s:.0f} s, and this lasted {_seconds(phase):.0f} s"
            found.append(Evidence("thermal", UNSURE, f"{because}: {_mb(phase.bytes_per_s)}"))
            continue
        why = outside or _of_the_drive(cool, len(drive), seen, drive)
        found.append(why)
        if index != hot:
            drive.append(why)
    return found


def _of_the_host(phases: Sequence[Phase], index: int, seen: Seen) -> Evidence | None:
    """What is outside of the drive: the page cache, the link, the processor, a host that asks one thing at a time."""
    speed, most = phases[index].bytes_per_s, seen.link_bytes_per_s
    if most is not None:
        carried = f"{_mb(speed)} is {100 * speed / most:.0f} % of what the link carries"
        if speed > LINK_BEYOND * most:
            return Evidence("page-cache", SURE, f"memory took it in: {carried}")
        if speed >= LINK_FULL * most:
            return Evidence("link", SURE, f"the link is full: {carried}")
    if seen.buffered and index == 0:
        if len(phases) > 1 and phases[1].bytes_per_s < speed:
            return Evidence(
                "page-cache", LIKELY, f"written through the page cache, and slower when that is full: {_mb(speed)}"
            )
        return Evidence("page-cache", UNSURE, f"written through the page cache, which hides the drive: {_mb(speed)}")
    if seen.cpu is not None and seen.cpu[index] >= BUSY_CPU:
        return Evidence("cpu", LIKELY, f"the processor was busy {100 * seen.cpu[index]:.0f} % of the time")
    if seen.mean_s is not None and seen.longest_s is not None:
        mean, longest = 1e6 * seen.mean_s[index], 1e6 * seen.longest_s[index]
        if longest < ALIKE * mean:
            because = f"nothing waited: one request at a time, of {mean:.0f} us and none above {longest:.0f}"
            return Evidence("host", UNSURE, because)
    return None


def _throttled(phases: Sequence[Phase], throttled_s: float) -> int | None:
    """The phase, slower than the one before it, that lasted as long as the drive throttled; None when none did."""
    slower = [i for i in range(1, len(phases)) if phases[i].bytes_per_s < phases[i - 1].bytes_per_s]
    best = min(slower, key=lambda i: abs(_seconds(phases[i]) - throttled_s), default=None)
    return best if best is not None and abs(_seconds(phases[best]) / throttled_s - 1) < AS_LONG else None


def _seconds(phase: Phase) -> float:
    return (phase.to_bytes - phase.from_bytes) / phase.bytes_per_s


def _of_the_drive(phases: Sequence[Phase], index: int, seen: Seen, before: Sequence[Evidence]) -> Evidence:
    phase = phases[index]
    if seen.random_from is not None and phase.from_bytes >= seen.random_from * (1 - 1e-3):
        if seen.capacity_bytes is not None and phase.from_bytes >= WHOLE * seen.capacity_bytes:
            return Evidence("gc", SURE, f"random writes on a full drive: {_mb(phase.bytes_per_s)}")
        return Evidence("unknown", 0.0, "written at random places, so the curve does not tell how full the drive is")
    if all(why.cause == "page-cache" for why in before):
        return _first(phases[index:], seen.capacity_bytes)
    if phase.bytes_per_s > phases[index - 1].bytes_per_s:
        return _risen(phases, index, seen.capacity_bytes, before)
    return _fallen(phases, index, seen.capacity_bytes, before)


def _first(phases: Sequence[Phase], capacity: float | None) -> Evidence:
    """The first phase: the cache, or a drive without one."""
    phase = phases[0]
    rate = _mb(phase.bytes_per_s)
    if capacity is not None and phase.to_bytes >= WHOLE * capacity:
        return Evidence("native", LIKELY, f"no cliff over the whole drive: {rate}")
    too_much = capacity is not None and phase.to_bytes > MOST_SPARE / LEAST_BITS * capacity
    if len(phases) == 1:
        if capacity is None:
            return Evidence("unknown", 0.0, f"no cliff, and the capacity is not known: {rate}")
        share = f"{rate} over {100 * phase.to_bytes / capacity:.0f} % of the drive"
        if too_much:
            return Evidence("native", LIKELY, f"more than fits at one bit a cell: {share}")
        return Evidence("pslc", UNSURE, f"the end came before a cliff: {share}")
    if phases[1].bytes_per_s > phase.bytes_per_s:
        return Evidence("unknown", 0.0, f"faster afterwards, so the drive was not ready, or not idle: {rate}")
    falls = f"{rate} until {_gb(phase.to_bytes)}, then {100 * phases[1].bytes_per_s / phase.bytes_per_s:.0f} % of it"
    if too_much:
        return Evidence("direct", LIKELY, f"more than fits at one bit a cell, so these are native cells: {falls}")
    return Evidence("pslc", SURE, f"the cliff at the end of a cache: {falls}")


def _risen(phases: Sequence[Phase], index: int, capacity: float | None, before: Sequence[Evidence]) -> Evidence:
    phase, previous = phases[index], phases[index - 1]
    rise = f"{_mb(phase.bytes_per_s)} after {_mb(previous.bytes_per_s)}"
    if phase.bytes_per_s >= CACHE_AGAIN * max(other.bytes_per_s for other in phases[:index]):
        return Evidence("pslc", SURE, f"about as fast as ever, so the cache is free again: {rise}")
    if capacity is not None and phase.from_bytes >= WHOLE * capacity:
        again = _as_earlier(phases, index, before)
        return again or Evidence("direct", UNSURE, f"the blocks of old data come free without folding: {rise}")
    return Evidence("native", LIKELY, f"the cache is empty, and the native cells have the drive to themselves: {rise}")


def _fallen(phases: Sequence[Phase], index: int, capacity: float | None, before: Sequence[Evidence]) -> Evidence:
    phase, was = phases[index], before[-1].cause
    rate = _mb(phase.bytes_per_s)
    if was in ("direct", "native"):
        return Evidence("fold", LIKELY, f"the free blocks are used up, so the cache is folded to make room: {rate}")
    if was in ("fold", "gc"):
        return Evidence("fold", LIKELY, f"folding goes on, with less room: {rate}")
    if index + 1 < len(phases) and phases[index + 1].bytes_per_s > phase.bytes_per_s:
        then = _mb(phases[index + 1].bytes_per_s)
        return Evidence("fold", SURE, f"something ended that had taken the dies, folding: {rate} and then {then}")
    if index > 1 and before[1].cause in ("direct", "fold"):
        return Evidence(before[1].cause, LIKELY, f"behind the cache, as in phase 2: {rate}")
    fresh = all(why.cause == "page-cache" for why in before[:-1])
    return _past_the_cache(phases, index, capacity if fresh else None)


def _as_earlier(phases: Sequence[Phase], index: int, before: Sequence[Evidence]) -> Evidence | None:
    """The cause of an earlier phase of the same speed."""
    speed = phases[index].bytes_per_s
    for number, (phase, evidence) in enumerate(zip(phases, before, strict=False), 1):
        if abs(speed / phase.bytes_per_s - 1) < SAME and evidence.cause in ("direct", "fold", "native"):
            return Evidence(evidence.cause, LIKELY, f"as fast as phase {number}: {_mb(speed)}")
    return None


def _past_the_cache(phases: Sequence[Phase], index: int, capacity: float | None) -> Evidence:
    """Behind the cliff: native cells while there is room for them, or folding from the start.

    Args:
        capacity: of a drive that was empty; None where nothing is known of its room.
    """
    phase, cache = phases[index], phases[index - 1]
    ratio = phase.bytes_per_s / cache.bytes_per_s
    size = cache.to_bytes
    rate = f"{_mb(phase.bytes_per_s)}, {100 * ratio:.0f} % of the cache's speed"
    if capacity is not None:
        if cache.to_bytes > MOST_SPARE / LEAST_BITS * capacity:
            return Evidence("fold", LIKELY, f"the drive is nearly full, and the free blocks are used up: {rate}")
        following = phases[index + 1] if index + 1 < len(phases) else None
        if following is not None and phase.to_bytes < WHOLE * capacity:
            falls = following.bytes_per_s / phase.bytes_per_s
            if falls > FOLDING:
                because = f"only {100 * (1 - falls):.0f} % is lost when the free blocks end, it folded: {rate}"
                return Evidence("fold", LIKELY, because)
            spares = [(phase.to_bytes + (bits - 1) * size) / capacity for bits in range(LEAST_BITS, MOST_BITS + 1)]
            if ratio >= CRAWL and any(LEAST_SPARE <= spare <= MOST_SPARE for spare in spares):
                because = f"it ends at {_gb(phase.to_bytes)}, where a cache of {_gb(size)} leaves no free block: {rate}"
                return Evidence("direct", SURE if ratio > TRICKLE else LIKELY, because)
        if min(phase.to_bytes, capacity) > MOST_SPARE * capacity - (LEAST_BITS - 1) * size:
            because = f"until {_gb(phase.to_bytes)}, for which there is no room beside a cache of {_gb(size)}: {rate}"
            return Evidence("fold", SURE, because)
    if ratio < TRICKLE:
        return Evidence("fold", LIKELY, f"slower than native cells should be: {rate}")
    return Evidence("direct", UNSURE, f"as fast as native cells should be: {rate}")


def _mb(bytes_per_s: float) -> str:
    return f"{bytes_per_s / 1e6:.0f} MB/s"


def _gb(count: float) -> str:
    return f"{count / 1e9:.3g} GB"
