"""What the cells did in each phase of a write, seen from outside.

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

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pslc.analysis.context import AccessPattern, MeasurementContext
from pslc.analysis.counter_causes import NAND_STATES, CauseEstimate, format_bytes
from pslc.analysis.phases import Phase
from pslc.analysis.plateaus import (
    LEAST_BITS,
    LEAST_SPARE,
    MOST_SPARE,
    STEP,
    WHOLE,
    end_speed,
    max_cache_bytes,
    max_native_bits,
    start_speed,
)

TRICKLE: Final = 0.22
"""Below this share of the cache's speed it is rather folding than native cells: those are a quarter as fast or more."""
LEAST_NATIVE: Final = 0.14
"""Below this share of the cache's speed even a steady one is rather folding."""
CRAWL: Final = 0.08
"""Below this even a length that fits native cells does not make them likely."""
FOLDING: Final = 0.67
"""Native speed falls to this share at the most when folding joins in: 1 / (1 + k / (n - 1)), n = 3, k >= 1."""
MOST_FOLDED: Final = 0.45
"""What folding leaves of the cache's speed at most: each byte is programmed at one bit and in native cells, which
are 0.8 times as fast at most: 1 / (1 + 1 / 0.8)."""
CACHE_AGAIN: Final = 0.62
"""A rise to this share of the fastest speed is the cache again."""
LONGER: Final = 1.5
"""Times what the cache held at first, above which what is written at one go is more than what became free of it."""
BEHIND: Final = ("direct", "fold")
"""What the cells do once the cache is full."""
HELD_AGAIN: Final = 0.9
"""To this share where that was the speed of the link or of the host, since the cache may be faster."""
HELD: Final = ("link", "host", "cpu")
BUFFERS: Final = 0.004
"""Share of the drive up to which what is written at the speed of the link or of the host may be in the buffer."""
LIKE: Final = 0.2
"""The same where the host writes in another way meanwhile."""
SAME: Final = 0.12
"""Relative difference within which two phases run at one speed."""
UNSTEADY: Final = 0.25
"""Spread of the speed above which something comes and goes: native cells alone are steady."""
RESTLESS, THRICE = 0.03, 3.0
"""Scatter above which, and above so many times that of the cache, folding comes and goes."""
DRIFTS, STEADY = 0.004, 0.1
"""Drift, and spread, below which a phase of a whole recording has one speed. What folding leaves depends on how full
the drive is, so it changes all the time."""
ALIKE: Final = 0.0001
"""Relative difference within which the longest requests of nearly all bins took as long."""
ONE_BIT_S: Final = 0.65e-3
"""No program at one bit a cell takes longer."""
WAITS_LIKE: Final = 0.05
"""Relative difference of a request from the mean that many under way at once make."""
DRIFT_SPREADS: Final = 0.34
"""Of a drift, in log speed, so much is spread: half of the middle 68 %."""
STARTED: Final = 0.1
"""Share of a phase within which what it is about has begun."""
DECAYING: Final = 0.1
"""Drift from which a phase has no step at its end that would tell why."""
MOST_OF_IT: Final = 0.65
"""What there is room for is most of a phase from this share on, with as much spare capacity as a drive may have."""
NATIVE_LIKE: Final = 0.28
"""Above this share of the cache's speed it is rather native cells, where nothing else tells."""
LITTLE: Final = 0.05
"""Share of the drive that is written at random places before a cache is likely to be full."""
MAPPED_BY_A_PAGE: Final = 64e3
"""Requests of this size and more cost less than a tenth of themselves in reads of the map, a page of it for each."""
EVEN: Final = 1.1
"""The longest request over the mean one, below which none waited for more than the others."""
HITS_AND_MISSES: Final = 0.05
"""Spread of the speed of random writes above which some find their piece of the map at hand and others do not, though
in a long queue all wait alike."""
BEFORE_THE_CELLS: Final = ("page-cache", "dram", "power")
"""Causes of a first phase that tell nothing of the cells."""
GUESSED, UNSURE, LIKELY, SURE = 0.8, 0.89, 0.95, 0.98
"""About how often such conclusions are right, on the logs, drives and jobs of `make bench-analysis`."""


def nand_cause(
    phases: Sequence[Phase], index: int, context: MeasurementContext, before: Sequence[CauseEstimate]
) -> CauseEstimate:
    """The cause of phase `index`, those `before` it being known."""
    phase = phases[index]
    room = context.room_bytes
    place = _place(phase, context)
    if place is not None and place.random:
        return _at_random(phases, index, context, place, before)
    fresh = all(why.cause in BEFORE_THE_CELLS for why in before) or _after_others(phases, index, context, before)
    if fresh or _taken_in(phases[:index], context, before):
        return _by_its_waits(phases, index, context) or _first(phases[index:], room)
    if phase.bytes_per_s > phases[index - 1].bytes_per_s:
        return _risen(phases, index, room, before)
    return _fallen(phases, index, context, before)


def _taken_in(phases: Sequence[Phase], context: MeasurementContext, before: Sequence[CauseEstimate]) -> bool:
    """Whether the drive's buffer may have taken in all that was written, as fast as it came."""
    if context.room_bytes is None or not all(why.cause in (*BEFORE_THE_CELLS, *HELD) for why in before):
        return False
    return phases[-1].to_bytes <= BUFFERS * context.room_bytes


def _place(phase: Phase, context: MeasurementContext) -> AccessPattern | None:
    """Where a phase was written; a border may lie a little before the point from which the host wrote elsewhere."""
    return context.pattern_at(phase.from_bytes + STARTED * (phase.to_bytes - phase.from_bytes))


def _at_random(
    phases: Sequence[Phase],
    index: int,
    context: MeasurementContext,
    place: AccessPattern,
    before: Sequence[CauseEstimate],
) -> CauseEstimate:
    """Written at random places: a full drive, a map that is not at hand, or too little to tell."""
    phase = phases[index]
    rate = format_speed(phase.bytes_per_s)
    if context.capacity_bytes is not None and phase.from_bytes >= WHOLE * context.capacity_bytes:
        if before and before[-1].cause == "fold" and abs(phase.bytes_per_s / phases[index - 1].bytes_per_s - 1) < LIKE:
            return CauseEstimate("fold", UNSURE, f"nearly as fast as the folding before it, which goes on: {rate}")
        cached = any(why.cause in ("pslc", "direct", "fold", *HELD) for why in before)
        if cached and index + 1 < len(phases) and phases[index + 1].bytes_per_s < FOLDING * phase.bytes_per_s:
            then = format_speed(phases[index + 1].bytes_per_s)
            return CauseEstimate(
                "fold", UNSURE, f"random writes on a full drive while its cache is folded: {rate}, then {then}"
            )
        return CauseEstimate("gc", LIKELY, f"random writes on a full drive: {rate}")
    asked = place.request_bytes < MAPPED_BY_A_PAGE and (
        context.map_bytes is None or place.span_bytes > context.map_bytes
    )
    behind = _behind(phases, index, context, before, same_place=asked)
    if behind is not None:
        return behind
    if asked:
        cells = [other for other, why in zip(phases, before, strict=False) if why.cause not in BEFORE_THE_CELLS]
        near = _near(cells, context, place)
        far = f"{rate} over {format_bytes(place.span_bytes)}"
        if near is not None and phase.bytes_per_s < (1 - SAME) * near.bytes_per_s:
            known = LIKELY if context.map_bytes is None else SURE
            return CauseEstimate("map", known, f"{far}, and {format_speed(near.bytes_per_s)} where the map was at hand")
        uneven = context.unevenness(index)
        waited = uneven is None or uneven > EVEN or phase.spread > HITS_AND_MISSES
        if near is None and context.map_bytes is not None and waited:
            held = f"of which the controller has {format_bytes(context.map_bytes)} mapped at hand"
            return CauseEstimate("map", LIKELY, f"far apart on a drive without DRAM: {far}, {held}")
    if context.capacity_bytes is not None and phase.to_bytes <= LITTLE * context.capacity_bytes:
        share = f"{100 * phase.to_bytes / context.capacity_bytes:.2g} % of the drive"
        return CauseEstimate("pslc", UNSURE, f"little was written so far, {share}: {rate}")
    return CauseEstimate("unknown", 0.0, "written at random places, so the curve does not tell how full the drive is")


def _behind(
    phases: Sequence[Phase],
    index: int,
    context: MeasurementContext,
    before: Sequence[CauseEstimate],
    *,
    same_place: bool,
) -> CauseEstimate | None:
    """Slower than what was written just before in requests of the same size: past the cache."""
    phase, place = phases[index], _place(phases[index], context)
    if not before or before[-1].cause in BEFORE_THE_CELLS or place is None:
        return None
    earlier, was = phases[index - 1], before[-1].cause
    there = _place(earlier, context)
    if there is None or (there != place if same_place else there.request_bytes != place.request_bytes):
        return None
    if was in ("direct", "fold") and CACHE_AGAIN * phase.bytes_per_s < earlier.bytes_per_s:
        return CauseEstimate(was, UNSURE, f"behind the cache, as before: {format_speed(phase.bytes_per_s)}")
    # Where what was at hand of the map, or in the buffer, is used up, there is a short phase in between.
    lasted = earlier.to_bytes - earlier.from_bytes > STARTED * (phase.to_bytes - phase.from_bytes)
    if lasted and phase.bytes_per_s < CACHE_AGAIN * earlier.bytes_per_s:
        return _past_the_cache(phases, index, None, context)
    return None


def _after_others(
    phases: Sequence[Phase], index: int, context: MeasurementContext, before: Sequence[CauseEstimate]
) -> bool:
    """Whether others left the drive before its cache was full: hardly anything was written meanwhile, or the fall
    behind this phase tells."""
    if not all(why.cause in (*BEFORE_THE_CELLS, "other") for why in before):
        return False
    if phases[index].bytes_per_s > phases[index - 1].bytes_per_s:
        return _falls(phases, index)
    return context.room_bytes is not None and phases[index].from_bytes <= BUFFERS * context.room_bytes


def _falls(phases: Sequence[Phase], index: int) -> bool:
    """Whether a slower phase follows."""
    return index + 1 < len(phases) and phases[index + 1].bytes_per_s < CACHE_AGAIN * phases[index].bytes_per_s


def _by_its_waits(phases: Sequence[Phase], index: int, context: MeasurementContext) -> CauseEstimate | None:
    """The first phase, where no fall tells what its cells are: where a request of every bin waits as much longer than
    the others, that is for a program, and it tells of the bits that a cell takes."""
    if len(phases) > index + 1 or context.mean_s is None or context.slowest_quantiles_s is None:
        return None
    _, _, usual, ever = context.slowest_quantiles_s[index]
    if ever > EVEN * usual or usual - (1 + WAITS_LIKE) * context.mean_s[index] <= ONE_BIT_S:
        return None
    because = f"a request waits {1e3 * usual:.2g} ms for a program, longer than one at one bit a cell takes"
    return CauseEstimate("native", UNSURE, f"{because}: {format_speed(phases[index].bytes_per_s)}")


def _near(phases: Sequence[Phase], context: MeasurementContext, far: AccessPattern) -> Phase | None:
    """The last of these that was written in requests of the same size, less far apart than `far`, to cells."""
    for phase in reversed(phases):
        place = _place(phase, context)
        narrow = place is not None and (not place.random or place.span_bytes <= far.span_bytes / 4)
        if narrow and place is not None and place.request_bytes == far.request_bytes:
            return phase
    return None


def _first(phases: Sequence[Phase], capacity: float | None) -> CauseEstimate:
    """The first phase: the cache, or a drive without one."""
    phase = phases[0]
    rate = format_speed(phase.bytes_per_s)
    if capacity is not None and phase.to_bytes >= WHOLE * capacity:
        return CauseEstimate("native", SURE, f"no cliff over the whole drive: {rate}")
    too_much = capacity is not None and phase.to_bytes > max_cache_bytes(capacity)
    if len(phases) == 1:
        if capacity is None:
            return CauseEstimate("unknown", 0.0, f"no cliff, and the capacity is not known: {rate}")
        share = f"{rate} over {100 * phase.to_bytes / capacity:.0f} % of the drive"
        if too_much:
            return CauseEstimate("native", LIKELY, f"more than fits at one bit a cell: {share}")
        return CauseEstimate("pslc", UNSURE, f"the end came before a cliff: {share}")
    if phase.bytes_per_s < phases[1].bytes_per_s < (1 + SAME) * phase.bytes_per_s:
        return _first([replace(phases[1], from_bytes=phase.from_bytes), *phases[2:]], capacity)
    if phases[1].bytes_per_s > phase.bytes_per_s:
        return CauseEstimate("unknown", 0.0, f"faster afterwards, so the drive was not ready, or not idle: {rate}")
    ratio = phases[1].bytes_per_s / phase.bytes_per_s
    falls = f"{rate} until {format_bytes(phase.to_bytes)}, then {100 * ratio:.0f} % of it"
    if capacity is not None and phases[1].from_bytes >= WHOLE * capacity:
        # What lies between the two was slowed by something else.
        return CauseEstimate("native", LIKELY, f"no cliff over the whole drive: {rate}")
    if too_much:
        # Folding would not end; what comes and goes on native cells alone is collection.
        passes = len(phases) > 2 and phases[2].bytes_per_s > phases[1].bytes_per_s
        cause = "native" if passes else "direct"
        return CauseEstimate(cause, LIKELY, f"more than fits at one bit a cell, so these are native cells: {falls}")
    return CauseEstimate("pslc", SURE, f"the cliff at the end of a cache: {falls}")


def _risen(
    phases: Sequence[Phase], index: int, capacity: float | None, before: Sequence[CauseEstimate]
) -> CauseEstimate:
    phase, previous = phases[index], phases[index - 1]
    rise = f"{format_speed(phase.bytes_per_s)} after {format_speed(previous.bytes_per_s)}"
    if before[-1].cause == "other":
        return CauseEstimate("unknown", 0.0, f"others left the drive, which tells nothing of its cells: {rise}")
    if phase.bytes_per_s < (1 + SAME) * previous.bytes_per_s and before[-1].cause in NAND_STATES:
        return CauseEstimate(before[-1].cause, before[-1].confidence, f"as fast as before: {rise}")
    if all(why.cause in ("native", "gc", *BEFORE_THE_CELLS) for why in before):
        return CauseEstimate("native", LIKELY, f"native cells from the start, without anything to collect: {rise}")
    again = [
        (HELD_AGAIN if why.cause in HELD else CACHE_AGAIN) * other.bytes_per_s
        for other, why in zip(phases, before, strict=False)
        if why.cause not in BEFORE_THE_CELLS
    ]
    if phase.bytes_per_s >= max(again) and not _longer_than_the_cache(phases, index, capacity, before):
        return CauseEstimate("pslc", SURE, f"about as fast as ever, so the cache is free again: {rise}")
    if capacity is not None and phase.from_bytes >= WHOLE * capacity:
        earlier = _as_earlier(phases, index, before)
        past = [
            other.bytes_per_s for other, why in zip(phases, before, strict=False) if why.cause in ("direct", "fold")
        ]
        if past and phase.bytes_per_s > (1 + SAME) * max(past):
            return CauseEstimate("native", UNSURE, f"faster than ever past the cache, so nothing is folded: {rise}")
        if earlier is not None and earlier.cause == "direct":
            return CauseEstimate("native", UNSURE, f"native cells, whatever is left in the cache: {rise}")
        return earlier or CauseEstimate(
            "fold", UNSURE, f"old data die before they are folded, so less has to be: {rise}"
        )
    return CauseEstimate(
        "native", LIKELY, f"the cache is empty, and the native cells have the drive to themselves: {rise}"
    )


def _longer_than_the_cache(
    phases: Sequence[Phase], index: int, capacity: float | None, before: Sequence[CauseEstimate]
) -> bool:
    """Whether more was written at one go than the cache held at first: what is free again is no more than that. Where
    the host comes round again, old data die in it and make room."""
    phase = phases[index]
    if capacity is None or phase.from_bytes >= WHOLE * capacity or before[0].nand_state != "pslc":
        return False
    held = next((one.from_bytes for one, why in zip(phases, before, strict=False) if why.nand_state in BEHIND), None)
    return held is not None and phase.to_bytes - phase.from_bytes > LONGER * held


def _fallen(
    phases: Sequence[Phase], index: int, context: MeasurementContext, before: Sequence[CauseEstimate]
) -> CauseEstimate:
    phase, was, capacity = phases[index], before[-1].cause, context.room_bytes
    rate = format_speed(phase.bytes_per_s)
    if was == "native" and all(why.cause in ("native", "gc", *BEFORE_THE_CELLS) for why in before):
        return CauseEstimate("gc", LIKELY, f"native cells from the start, and now their blocks are collected: {rate}")
    if was == "direct" and capacity is not None and _decays_on(phases[index - 1], phase):
        size = next(one.from_bytes for one, why in zip(phases, before, strict=False) if why.cause == "direct")
        if _room(phase, size, capacity) >= MOST_OF_IT:
            return CauseEstimate("direct", GUESSED, f"the speed falls on and on, without a step: {rate}")
    if was in ("direct", "native"):
        return CauseEstimate(
            "fold", LIKELY, f"the free blocks are used up, so the cache is folded to make room: {rate}"
        )
    if was in ("fold", "gc"):
        return CauseEstimate("fold", _guessed(context), f"folding goes on, with less room: {rate}")
    again = capacity is not None and phase.to_bytes >= WHOLE * capacity
    # Where the host comes round again, a rise tells of old data that died rather than of folding that ended.
    if index + 1 < len(phases) and phases[index + 1].bytes_per_s > phase.bytes_per_s and not again:
        then = format_speed(phases[index + 1].bytes_per_s)
        return CauseEstimate("fold", SURE, f"something ended that had taken the dies, folding: {rate} and then {then}")
    if index > 1 and before[1].cause in ("direct", "fold"):
        return CauseEstimate(before[1].cause, LIKELY, f"behind the cache, as in phase 2: {rate}")
    fresh = all(why.cause in BEFORE_THE_CELLS for why in before[:-1])
    return _past_the_cache(phases, index, capacity if fresh else None, context)


def _as_earlier(phases: Sequence[Phase], index: int, before: Sequence[CauseEstimate]) -> CauseEstimate | None:
    """The cause of an earlier phase of the same speed."""
    speed = phases[index].bytes_per_s
    for number, (phase, evidence) in enumerate(zip(phases, before, strict=False), 1):
        if abs(speed / phase.bytes_per_s - 1) < SAME and evidence.cause in ("direct", "fold", "native"):
            return CauseEstimate(evidence.cause, LIKELY, f"as fast as phase {number}: {format_speed(speed)}")
    return None


def _past_the_cache(
    phases: Sequence[Phase], index: int, capacity: float | None, context: MeasurementContext
) -> CauseEstimate:
    """Behind the cliff: native cells while there is room for them, or folding from the start.

    What we recorded ourselves, request by request, tells a drift from noise.

    Args:
        capacity: of a drive that was empty; None where nothing is known of its room.
    """
    ours = bool(context.access_patterns)
    phase, cache = phases[index], phases[index - 1]
    decays = phase.drift < -DECAYING
    # What makes a speed fall on and on is not what made the cliff.
    ratio = (start_speed(phase) if decays else phase.bytes_per_s) / cache.bytes_per_s
    size = cache.to_bytes
    rate = f"{format_speed(phase.bytes_per_s)}, {100 * ratio:.0f} % of the cache's speed"
    if capacity is not None and cache.to_bytes > max_cache_bytes(capacity):
        return CauseEstimate("fold", LIKELY, f"the drive is nearly full, and the free blocks are used up: {rate}")
    once = context.capacity_bytes is None or phase.to_bytes < (2 - WHOLE) * context.capacity_bytes
    if ratio >= CRAWL and context.waits_are_equal(index, ALIKE, always=ratio < LEAST_NATIVE):
        return CauseEstimate("direct", SURE, f"no request waited longer than the others, as for native cells: {rate}")
    uneven = (
        ours and once and context.waits_are_equal(index - 1, ALIKE) and context.waits_are_equal(index, ALIKE) is False
    )
    comes_and_goes = f"some requests wait longer than others, unlike those into the cache: {rate}"
    if ours and once and ratio >= LEAST_NATIVE and abs(phase.drift) < DRIFTS and phase.spread < STEADY:
        if uneven:
            return CauseEstimate("fold", UNSURE, comes_and_goes)
        return CauseEstimate(
            "direct",
            LIKELY if ratio > TRICKLE else UNSURE,
            f"one speed from its beginning to its end, as of native cells: {rate}",
        )
    if ratio < MOST_FOLDED and _restless(phase, cache):
        because = f"its speed scatters by {100 * phase.scatter:.0f} %, {100 * cache.scatter:.1g} % before: {rate}"
        return CauseEstimate("fold", UNSURE, because)
    if capacity is not None:
        following = phases[index + 1] if index + 1 < len(phases) else None
        if following is not None and phase.to_bytes < WHOLE * capacity:
            falls = following.bytes_per_s / phase.bytes_per_s
            if falls > FOLDING and abs(phase.drift) < DECAYING and not _decays_on(phase, following):
                because = f"only {100 * (1 - falls):.0f} % is lost when the free blocks end, it folded: {rate}"
                return CauseEstimate("fold", LIKELY, because)
            spares = [
                (phase.to_bytes + (bits - 1) * size) / capacity
                for bits in range(LEAST_BITS, max_native_bits(ratio) + 1)
            ]
            fits = any(LEAST_SPARE <= spare <= MOST_SPARE for spare in spares)
            if ratio >= CRAWL and fits and not _decays_on(phase, following):
                room = f"where a cache of {format_bytes(size)} leaves no free block"
                because = f"it ends at {format_bytes(phase.to_bytes)}, {room}: {rate}"
                return CauseEstimate("direct", SURE if ratio > TRICKLE else LIKELY, because)
        # Where the free blocks ended there is a step, unless the speed falls on and on.
        if _room(phase, size, capacity) < (MOST_OF_IT if decays else 1.0):
            room = f"for which there is no room beside a cache of {format_bytes(size)}"
            because = f"until {format_bytes(phase.to_bytes)}, {room}: {rate}"
            return CauseEstimate("fold", _guessed(context) if ratio > NATIVE_LIKE else SURE, because)
    if phase.spread - DRIFT_SPREADS * abs(math.log1p(max(phase.drift, -0.9))) > UNSTEADY:
        return CauseEstimate(
            "fold", UNSURE, f"up and down by {100 * phase.spread:.0f} %, as folding comes and goes: {rate}"
        )
    if ratio < TRICKLE:
        return CauseEstimate("fold", _guessed(context), f"slower than native cells should be: {rate}")
    if ours and once and abs(phase.drift) >= DRIFTS:
        return CauseEstimate("fold", UNSURE, f"its speed changes by {100 * phase.drift:+.1f} % on the way: {rate}")
    if uneven:
        return CauseEstimate("fold", UNSURE, comes_and_goes)
    return CauseEstimate("direct", _guessed(context), f"as fast as native cells should be: {rate}")


def _room(phase: Phase, size: float, capacity: float) -> float:
    """The share of a phase that native cells may have had room for, beside a cache of `size`."""
    until = min(phase.to_bytes, capacity)
    return (MOST_SPARE * capacity - (LEAST_BITS - 1) * size - phase.from_bytes) / max(until - phase.from_bytes, 1.0)


def _decays_on(before: Phase, phase: Phase) -> bool:
    """Whether the speed falls on and on, and this border is no step of it."""
    fall = math.log(before.bytes_per_s / phase.bytes_per_s)
    falls_on = min(before.drift, phase.drift) < -DECAYING
    return falls_on and math.log(end_speed(before) / start_speed(phase)) < STEP * fall


def _guessed(context: MeasurementContext) -> float:
    """How often a guess is right: of what we recorded ourselves more often, as its phases have no noise."""
    return UNSURE if context.access_patterns else GUESSED


def _restless(phase: Phase, cache: Phase) -> bool:
    """Whether a phase's speed comes and goes as that of the cache before it does not."""
    return not math.isnan(cache.scatter) and phase.scatter > max(RESTLESS, THRICE * cache.scatter)


def format_speed(bytes_per_s: float) -> str:
    """`450 MB/s`."""
    return f"{bytes_per_s / 1e6:.0f} MB/s"
