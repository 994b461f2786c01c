"""State of the NAND in each phase of a write, inferred from the write curve.

             v1  into pSLC
    --------+
            |    v2  past the cache, or folding?       room left for native cells: raw - n * cache, n bits a cell
            +----------+            +----------- v3 > v2: the cache is empty again
                       |            |
                       +------------+  v3 < v2: no free blocks left, folding

A drive tells nothing of its cells. But it cannot write past its cache longer than there is room, which the capacity
tells; folding takes n - 1 bytes moved for each of the host's, and ends; a full drive written at random collects
garbage; and a controller that does not have the whole map at hand reads it from the cells for each request far off.
"""

from dataclasses import replace

from pslc.analysis.counter_causes import NAND_STATES, CauseEstimate, format_bytes
from pslc.analysis.past_cache import past_cache_cause
from pslc.analysis.plateau_case import (
    BEFORE_NAND,
    HOST_LIMITED,
    LIKELY,
    NATIVE_ONLY,
    PAST_CACHE,
    SURE,
    UNSURE,
    PlateauCase,
    format_speed,
    max_cache_bytes,
    same_speed,
)
from pslc.analysis.random_writes import random_write_cause
from pslc.analysis.thresholds import (
    MAX_BUFFER_SHARE,
    MAX_EVEN_WAIT_RATIO,
    MAX_REFILL_RATIO,
    MAX_SLC_PROGRAM_S,
    MEAN_WAIT_TOLERANCE,
    MIN_CACHE_AGAIN_RATIO,
    MIN_CACHE_AGAIN_RATIO_HOST_LIMITED,
    SAME_SPEED_TOLERANCE,
    WHOLE_DRIVE_SHARE,
)


def nand_cause(case: PlateauCase) -> CauseEstimate:
    """The cause of a plateau, where nothing around the NAND explains it."""
    pattern = case.pattern()
    if pattern is not None and pattern.random:
        return random_write_cause(case, pattern)
    if case.all_caused_by(*BEFORE_NAND) or _after_other_traffic(case) or _may_be_buffered(case):
        return _slow_programs(case) or _first(case.without_earlier())
    if case.phase.bytes_per_s > case.previous.bytes_per_s:
        return _rise(case)
    return _fall(case)


def _may_be_buffered(case: PlateauCase) -> bool:
    """Whether the drive's buffer may hold all that was written before, as fast as it came."""
    room = case.context.room_bytes
    if room is None or not case.all_caused_by(*BEFORE_NAND, *HOST_LIMITED):
        return False
    return case.previous.to_bytes <= MAX_BUFFER_SHARE * room


def _after_other_traffic(case: PlateauCase) -> bool:
    """Whether other programs left the drive before its cache was full: hardly anything was written meanwhile, or the
    fall behind this plateau tells."""
    if not case.all_caused_by(*BEFORE_NAND, "other"):
        return False
    if case.phase.bytes_per_s > case.previous.bytes_per_s:
        following = case.following
        return following is not None and following.bytes_per_s < MIN_CACHE_AGAIN_RATIO * case.phase.bytes_per_s
    room = case.context.room_bytes
    return room is not None and case.phase.from_bytes <= MAX_BUFFER_SHARE * room


def _slow_programs(case: PlateauCase) -> CauseEstimate | None:
    """Native cells, where no fall tells: in every bin a request waits for a program, and longer than one at one bit a
    cell takes."""
    context = case.context
    if case.following is not None or context.mean_s is None or context.slowest_quantiles_s is None:
        return None
    _, _, usual_s, longest_s = context.slowest_quantiles_s[case.index]
    program_s = usual_s - (1 + MEAN_WAIT_TOLERANCE) * context.mean_s[case.index]
    if longest_s > MAX_EVEN_WAIT_RATIO * usual_s or program_s <= MAX_SLC_PROGRAM_S:
        return None
    because = f"a request waits {1e3 * usual_s:.2g} ms for a program, longer than one at one bit a cell takes"
    return CauseEstimate("native", UNSURE, f"{because}: {case.rate}")


def _first(case: PlateauCase) -> CauseEstimate:
    """The first plateau: the cache, or a drive without one."""
    phase, following, capacity = case.phase, case.following, case.context.room_bytes
    if capacity is not None and phase.to_bytes >= WHOLE_DRIVE_SHARE * capacity:
        return CauseEstimate("native", SURE, f"no cliff {_over_all(case)}: {case.rate}")
    if following is None:
        return _only(case)
    if phase.bytes_per_s < following.bytes_per_s < (1 + SAME_SPEED_TOLERANCE) * phase.bytes_per_s:
        joined = replace(following, from_bytes=phase.from_bytes)
        return _first(replace(case, phases=[joined, *case.phases[2:]]))
    if following.bytes_per_s > phase.bytes_per_s:
        return CauseEstimate("unknown", 0.0, f"faster afterwards, so the drive was not ready, or not idle: {case.rate}")
    if capacity is not None and following.from_bytes >= WHOLE_DRIVE_SHARE * capacity:
        # What lies between the two was slowed by something else.
        return CauseEstimate("native", LIKELY, f"no cliff {_over_all(case)}: {case.rate}")
    ratio = following.bytes_per_s / phase.bytes_per_s
    fall = f"{case.rate} until {format_bytes(phase.to_bytes)}, then {100 * ratio:.0f} % of it"
    if capacity is not None and phase.to_bytes > max_cache_bytes(capacity):
        # Folding would not end; what comes and goes on native cells alone is collection.
        ends = len(case.phases) > 2 and case.phases[2].bytes_per_s > following.bytes_per_s
        because = f"more than fits at one bit a cell, so these are native cells: {fall}"
        return CauseEstimate("native" if ends else "direct", LIKELY, because)
    return CauseEstimate("pslc", SURE, f"the cliff at the end of a cache: {fall}")


def _over_all(case: PlateauCase) -> str:
    return "in as much as the drive holds" if case.context.is_file else "over the whole drive"


def _only(case: PlateauCase) -> CauseEstimate:
    """A plateau that nothing follows, of a drive that was not written whole."""
    capacity, written = case.context.room_bytes, case.phase.to_bytes
    if capacity is None:
        return CauseEstimate("unknown", 0.0, f"no cliff, and the capacity is not known: {case.rate}")
    share = f"{case.rate} over {100 * written / capacity:.0f} % of the drive"
    if written > max_cache_bytes(capacity):
        return CauseEstimate("native", LIKELY, f"more than fits at one bit a cell: {share}")
    return CauseEstimate("pslc", UNSURE, f"the end came before a cliff: {share}")


def _rise(case: PlateauCase) -> CauseEstimate:
    """A plateau faster than the one before it: the cache again, or native cells alone."""
    phase, previous, last = case.phase, case.previous, case.causes[-1]
    rise = f"{case.rate} after {format_speed(previous.bytes_per_s)}"
    if last.cause == "other":
        return CauseEstimate(
            "unknown", 0.0, f"others stopped using the drive, which says nothing about its cells: {rise}"
        )
    if phase.bytes_per_s < (1 + SAME_SPEED_TOLERANCE) * previous.bytes_per_s and last.cause in NAND_STATES:
        return CauseEstimate(last.cause, last.confidence, f"as fast as before: {rise}")
    if case.all_caused_by(*NATIVE_ONLY):
        because = f"native cells from the start, without anything to collect: {rise}"
        return CauseEstimate("native", LIKELY, because)
    if not any(estimate.nand_state in (*PAST_CACHE, "native", "gc") for estimate in case.causes):
        return _rise_before_the_end(case, rise)
    if phase.bytes_per_s >= _cache_again_bytes_per_s(case) and not _longer_than_the_cache(case):
        return CauseEstimate("pslc", SURE, f"about as fast as ever, so the cache is free again: {rise}")
    capacity = case.context.room_bytes
    if capacity is not None and phase.from_bytes >= WHOLE_DRIVE_SHARE * capacity:
        return _rise_of_second_pass(case, rise)
    because = f"the cache is empty, and the native cells have the drive to themselves: {rise}"
    return CauseEstimate("native", LIKELY, because)


def _rise_before_the_end(case: PlateauCase, rise: str) -> CauseEstimate:
    """A rise where nothing was full yet: something else had slowed the cache, or the drive was not ready."""
    if any(estimate.nand_state == "pslc" for estimate in case.causes):
        return CauseEstimate("pslc", LIKELY, f"the cache, which was slowed for a while and not full: {rise}")
    return _first(case.without_earlier())


def _cache_again_bytes_per_s(case: PlateauCase) -> float:
    """The speed from which on a rise is the cache again."""
    return max(
        (MIN_CACHE_AGAIN_RATIO_HOST_LIMITED if estimate.cause in HOST_LIMITED else MIN_CACHE_AGAIN_RATIO)
        * phase.bytes_per_s
        for phase, estimate in case.earlier
        if estimate.cause not in BEFORE_NAND
    )


def _rise_of_second_pass(case: PlateauCase, rise: str) -> CauseEstimate:
    """A rise after the host wrote the whole drive once: old data die in the cache, so less has to be folded."""
    past = [phase.bytes_per_s for phase, estimate in case.earlier if estimate.cause in PAST_CACHE]
    if past and case.phase.bytes_per_s > (1 + SAME_SPEED_TOLERANCE) * max(past):
        return CauseEstimate("native", UNSURE, f"faster than ever past the cache, so nothing is folded: {rise}")
    earlier = _as_earlier(case)
    if earlier is not None and earlier.cause == "direct":
        return CauseEstimate("native", UNSURE, f"native cells, whatever is left in the cache: {rise}")
    because = f"old data die before they are folded, so less has to be: {rise}"
    return earlier or CauseEstimate("fold", UNSURE, because)


def _longer_than_the_cache(case: PlateauCase) -> bool:
    """Whether more was written at one go than the cache held at first: what is free again is no more than that. Where
    the host comes round again, old data die in it and make room."""
    phase, capacity = case.phase, case.context.room_bytes
    second_pass = capacity is None or phase.from_bytes >= WHOLE_DRIVE_SHARE * capacity
    if second_pass or case.causes[0].nand_state != "pslc":
        return False
    cache_bytes = next((past.from_bytes for past, estimate in case.earlier if estimate.nand_state in PAST_CACHE), None)
    return cache_bytes is not None and phase.to_bytes - phase.from_bytes > MAX_REFILL_RATIO * cache_bytes


def _fall(case: PlateauCase) -> CauseEstimate:
    """A plateau slower than the one before it: past the cache, or no free block left."""
    last, following, capacity = case.causes[-1].cause, case.following, case.context.room_bytes
    if last == "native" and case.all_caused_by(*NATIVE_ONLY):
        because = f"native cells from the start, and now their blocks are collected: {case.rate}"
        return CauseEstimate("gc", LIKELY, because)
    if last in ("direct", "native"):
        because = f"the free blocks are used up, so the cache is folded to make room: {case.rate}"
        return CauseEstimate("fold", LIKELY, because)
    if last in ("fold", "gc"):
        return CauseEstimate("fold", case.guess_confidence, f"folding goes on, with less room: {case.rate}")
    again = capacity is not None and case.phase.to_bytes >= WHOLE_DRIVE_SHARE * capacity
    # Where the host comes round again, a rise tells of old data that died rather than of folding that ended.
    if following is not None and following.bytes_per_s > case.phase.bytes_per_s and not again:
        speeds = f"{case.rate} and then {format_speed(following.bytes_per_s)}"
        return CauseEstimate("fold", SURE, f"something ended that had taken the dies, folding: {speeds}")
    if case.index > 1 and case.causes[1].cause in PAST_CACHE:
        return CauseEstimate(case.causes[1].cause, LIKELY, f"behind the cache, as in phase 2: {case.rate}")
    fresh = all(estimate.cause in BEFORE_NAND for estimate in case.causes[:-1])
    return past_cache_cause(case, capacity if fresh else None)


def _as_earlier(case: PlateauCase) -> CauseEstimate | None:
    """The cause of an earlier plateau of the same speed."""
    for number, (phase, estimate) in enumerate(case.earlier, 1):
        if same_speed(case.phase, phase) and estimate.cause in (*PAST_CACHE, "native"):
            return CauseEstimate(estimate.cause, LIKELY, f"as fast as phase {number}: {case.rate}")
    return None
