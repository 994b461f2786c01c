"""Plateaus of a write curve: neighbouring phases that are one stretch of NAND work, though something else changed the
speed.

    -+         +-- dip: back at the speed from before, sooner than a cache could have been emptied
     |_| |_| |_|
              head, or tier
    -----+
         |______                 faster than the rest of the cache: memory, a faster part of it, or a drive not yet hot
                |
                +-------------   the cliff: what follows the first step ended too early to have been native cells

A drive that writes past its cache of S bytes, at n bits a cell, does so until S + raw - n S; a step down that is
followed by another one long before that is not the end of the cache.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from pslc.analysis.context import MeasurementContext
from pslc.analysis.phases import Phase
from pslc.analysis.thresholds import (
    LINK_CLASSES_BYTES_PER_S,
    MAX_BEHIND_MEMORY_RATIO,
    MAX_DIP_LENGTH_RATIO,
    MAX_FASTEST_SHARE,
    MAX_FOLD_FROM_CACHE_RATIO,
    MAX_FOLD_RATE_RATIO,
    MAX_NATIVE_BITS,
    MAX_NATIVE_SPEED_RATIO,
    MAX_PAGE_CACHE_BYTES,
    MAX_PLATEAU_SPREAD,
    MAX_QLC_SPEED_RATIO,
    MAX_RAW_CAPACITY_RATIO,
    MAX_REFILL_RATE_RATIO,
    MAX_REFILL_RATIO,
    MAX_SECOND_STEP_RATIO,
    MAX_START_SHARE,
    MIN_BEHIND_HEAD_RATIO,
    MIN_BEYOND_LINK_RATIO,
    MIN_CLIFF_FALL,
    MIN_EMPTIED_SHARE,
    MIN_HEAT_BYTES_PER_S,
    MIN_HEAT_RATIO,
    MIN_HEAT_S,
    MIN_LARGER_FALL_RATIO,
    MIN_NATIVE_BITS,
    MIN_RAW_CAPACITY_RATIO,
    MIN_RETURN_RATIO,
    MIN_RETURNING_LEVELS,
    MIN_RETURNING_SHARE,
    MIN_STEP_SHARE,
    MIN_TIER_RATIO,
    SAME_SPEED_TOLERANCE,
    SIZE_CLASS_TOLERANCE,
    SIZE_CLASSES_GB,
    WHOLE_DRIVE_SHARE,
)

PhaseKind = Literal["cells", "start", "dip", "memory", "tier", "heat"]


@dataclass(frozen=True)
class Plateau:
    """One stretch of NAND work at about one speed.

    Attributes:
        phase: all of it, as one phase, at the speed that its cells have when nothing is in their way.
        parts: indices of the phases it is made of.
    """

    phase: Phase
    parts: tuple[int, ...]


def max_native_bits(ratio: float) -> int:
    """Bits a cell, at the most, of native cells whose speed is this share of the cache's."""
    return MAX_NATIVE_BITS if ratio <= MAX_QLC_SPEED_RATIO else MIN_NATIVE_BITS


def max_cache_bytes(capacity: float) -> float:
    """Bytes that fit into all cells of a drive at one bit each.

    Args:
        capacity: of the drive, in bytes.
    """
    return MAX_RAW_CAPACITY_RATIO / MIN_NATIVE_BITS * capacity


def classify_phases(phases: Sequence[Phase], context: MeasurementContext) -> list[PhaseKind]:
    """The kind of each phase, in order.

    In our own recordings the access pattern, the page cache and the time throttled are known, and jobs follow upon each
    other: there nothing is guessed from lengths, and every phase is one of the cells.
    """
    kinds: list[PhaseKind] = ["cells"] * len(phases)
    if context.access_patterns:
        return kinds
    _mark_start(phases, kinds)
    if context.room_bytes is not None:
        _mark_collection(phases, kinds, context.room_bytes)
    _mark_dips(phases, kinds)
    _mark_heads(phases, kinds, context)
    return kinds


def plateaus(phases: Sequence[Phase], kinds: Sequence[PhaseKind]) -> list[Plateau]:
    """The plateaus of phases of these kinds, in order; they tile the curve."""
    groups: list[list[int]] = [[0]]
    for index in range(1, len(phases)):
        # A start and a head belong to what follows, heat to what it slows, a dip to what it interrupts.
        leads = kinds[index - 1] in ("start", "memory", "tier")
        if leads or kinds[index] == "heat" or "dip" in kinds[index - 1 : index + 1]:
            groups[-1].append(index)
        else:
            groups.append([index])
    return [_plateau(phases, group, kinds) for group in groups]


def _plateau(phases: Sequence[Phase], group: list[int], kinds: Sequence[PhaseKind]) -> Plateau:
    cells = [index for index in group if kinds[index] == "cells"] or group
    longest = max((phases[index] for index in cells), key=_bytes)
    first, last = phases[group[0]], phases[group[-1]]
    phase = replace(
        longest, from_bytes=first.from_bytes, from_low=first.from_low, from_high=first.from_high, to_bytes=last.to_bytes
    )
    return Plateau(phase, tuple(group))


def _bytes(phase: Phase) -> float:
    return phase.to_bytes - phase.from_bytes


def _seconds(phase: Phase) -> float:
    return _bytes(phase) / phase.bytes_per_s


def _typical(phase: Phase) -> float:
    """The typical speed of a phase: moments that are too short for phases weigh on the mean."""
    return phase.usual_bytes_per_s or phase.bytes_per_s


def _mark_start(phases: Sequence[Phase], kinds: list[PhaseKind]) -> None:
    """A slow first phase before a faster one that falls."""
    if len(phases) < 3:
        return
    first, cache, following = phases[:3]
    is_slow = first.bytes_per_s < MIN_RETURN_RATIO * cache.bytes_per_s > following.bytes_per_s
    if is_slow and _bytes(first) < MAX_START_SHARE * (_bytes(first) + _bytes(cache)):
        kinds[0] = "start"


def _mark_collection(phases: Sequence[Phase], kinds: list[PhaseKind], capacity: float) -> None:
    """Slow moments of a drive that writes faster, all in all, than a cache and folding in those moments allow for."""
    typical = _typical(max(phases, key=_bytes))
    if any(MIN_RETURN_RATIO * _typical(phase) > typical for phase in phases):
        return  # what was faster was a cache
    slowest, fastest = MIN_RETURN_RATIO * typical, typical / MIN_RETURN_RATIO
    fast = [index for index, phase in enumerate(phases) if slowest <= _typical(phase) <= fastest]
    slow = [index for index in range(fast[0], fast[-1]) if phases[index].bytes_per_s < slowest]
    folded = MAX_FOLD_RATE_RATIO * typical * sum(_seconds(phases[index]) for index in slow)
    if sum(_bytes(phases[index]) for index in fast) > max_cache_bytes(capacity) + folded:
        for index in slow:
            kinds[index] = "dip"


def _mark_dips(phases: Sequence[Phase], kinds: list[PhaseKind]) -> None:
    """Moments within one speed."""
    start = kinds.index("cells")
    index = start + 1
    while index < len(phases) - 1:
        if kinds[index] == "dip":
            index += 1
        elif end := _dip_end(phases, index, start, kinds):
            kinds[index:end] = ["dip"] * (end - index)
            index = end + 1
        else:
            start = index
            index += 1


def _dip_end(phases: Sequence[Phase], index: int, start: int, kinds: Sequence[PhaseKind]) -> int | None:
    """The index of the phase with which the plateau that began with phase `start` goes on, where phase `index`, and
    what follows it at more than folding leaves, only interrupt it: the speed from before comes back, sooner than a
    cache could have been emptied. None where it does not."""
    before = [phases[part] for part in range(start, index) if kinds[part] == "cells"]
    speed = max(before, key=_bytes).bytes_per_s
    end = index + 1
    while end < len(phases) and not _is_back(phases[end], speed):
        if _is_back(phases[end - 1], speed):
            return None
        end += 1
    dips = phases[index:end]
    written = phases[index].from_bytes - phases[start].from_bytes
    slight = min(dip.bytes_per_s for dip in dips) > MAX_FOLD_FROM_CACHE_RATIO * speed
    if end == len(phases) or max(dip.bytes_per_s for dip in dips) >= speed:
        return None
    if not slight and (len(dips) > 1 or _bytes(dips[0]) >= MAX_DIP_LENGTH_RATIO * written):
        return None
    folded = sum(_max_folded_bytes(dip, speed) for dip in dips)
    return None if folded >= max(MIN_EMPTIED_SHARE * written, _bytes(phases[end])) else end


def _is_back(phase: Phase, speed: float) -> bool:
    """Whether a phase has the speed that was before a dip."""
    return MIN_RETURN_RATIO * speed <= _typical(phase) <= speed / MAX_START_SHARE


def _max_folded_bytes(phase: Phase, speed: float) -> float:
    """Bytes that may have been folded during a phase, of a cache that takes in `speed` bytes/s: what the host writes
    meanwhile takes its part of the dies."""
    share = max(min(MAX_FOLD_RATE_RATIO, MAX_NATIVE_SPEED_RATIO - phase.bytes_per_s / speed), 0.0)
    return share * speed * _seconds(phase)


def _mark_heads(phases: Sequence[Phase], kinds: list[PhaseKind], context: MeasurementContext) -> None:
    """Steps down before the cliff; there may be two, of memory and of heat or a second tier."""
    for _ in range(2):
        joined = plateaus(phases, kinds)
        kind = _head_kind([plateau.phase for plateau in joined], context)
        if kind is None:
            return
        for part in joined[kind == "heat"].parts:
            if kinds[part] == "cells":
                kinds[part] = kind


def _head_kind(levels: Sequence[Phase], context: MeasurementContext) -> PhaseKind | None:
    """The kind of the first plateau, or of the second for heat; None where the step between them ends the cache.

    Args:
        levels: the phases of the plateaus.
    """
    if len(levels) < 2:
        return None
    first, second = levels[:2]
    ratio = second.bytes_per_s / first.bytes_per_s
    if ratio > 1.0:
        return None
    ceiling = context.link_bytes_per_s
    if ceiling is not None and first.bytes_per_s > MIN_BEYOND_LINK_RATIO * ceiling:
        return "memory"
    if context.heats_up_at(second.from_bytes) and context.is_hot(second.from_bytes, second.to_bytes):
        return "heat" if len(levels) > 2 and _larger_fall_follows(levels, 0.0) else None
    brief = _bytes(second) < MIN_BEHIND_HEAD_RATIO * _bytes(first)
    if (brief and not _larger_fall_follows(levels, 1.0)) or _heat_follows(levels, context):
        return None
    return _step_of_cells(levels, context)


def _step_of_cells(levels: Sequence[Phase], context: MeasurementContext) -> PhaseKind | None:
    """The kind of the first step down where neither memory nor heat made it."""
    room, ratio = context.room_bytes, levels[1].bytes_per_s / levels[0].bytes_per_s
    if ratio > 1.0 - MIN_CLIFF_FALL and _cliff_behind_slope(levels, room or levels[-1].to_bytes):
        return "tier"
    if room is None:
        return None if context.prefilled else _step_in_unknown_room(levels, context)
    return _step_in_room(levels, room, context)


def _step_in_unknown_room(levels: Sequence[Phase], context: MeasurementContext) -> PhaseKind | None:
    """The kind of the first step down on an empty drive of unknown size, whose next fall must be the larger one."""
    ratio = levels[1].bytes_per_s / levels[0].bytes_per_s
    if ratio < MIN_TIER_RATIO or not _larger_fall_follows(levels, MIN_LARGER_FALL_RATIO):
        return None
    room = sold_bytes(levels[-1].to_bytes)
    return "tier" if room is None else _step_in_room(levels, room, context)


def _step_in_room(levels: Sequence[Phase], room: float, context: MeasurementContext) -> PhaseKind | None:
    """The kind of the first step down on a drive with `room` bytes to write; None where no cliff follows it."""
    if fits_free_part(levels, room) or not _cliff_follows(levels, room):
        return None
    first, second = levels[:2]
    return _first_step(first, second, context)


def _cliff_behind_slope(levels: Sequence[Phase], capacity: float) -> bool:
    """Whether steps too small for the end of a cache lead to one that is not, within what a drive may have as cache."""
    for before, after in pairwise(levels[1:]):
        if after.bytes_per_s <= (1.0 - MIN_CLIFF_FALL) * before.bytes_per_s:
            return before.to_bytes <= max_cache_bytes(capacity)
        if after.bytes_per_s > before.bytes_per_s:
            return False
    return False


def _heat_follows(levels: Sequence[Phase], context: MeasurementContext) -> bool:
    """Whether the second plateau ends where the drive became hot: that is no cliff."""
    if len(levels) < 3:
        return False
    third = levels[2]
    return context.heats_up_at(third.from_bytes) and bool(context.is_hot(third.from_bytes, third.to_bytes))


def _first_step(first: Phase, second: Phase, context: MeasurementContext) -> PhaseKind | None:
    """The kind of a step down that a later one shows not to be the end of the cache; None where nothing else is
    likely to take so much."""
    ratio = second.bytes_per_s / first.bytes_per_s
    memory = first.to_bytes <= MAX_PAGE_CACHE_BYTES
    if memory and first.bytes_per_s > _link_class(second) and ratio < MAX_BEHIND_MEMORY_RATIO:
        return "memory"
    hot = first.bytes_per_s > MIN_HEAT_BYTES_PER_S and _seconds(first) > MIN_HEAT_S and ratio < MAX_SECOND_STEP_RATIO
    if context.celsius is not None:
        hot = bool(context.is_hot(second.from_bytes, second.to_bytes))
    elif ratio < MIN_HEAT_RATIO:
        return "memory" if memory and not hot else None
    if memory and ratio < MIN_TIER_RATIO and not hot:
        return "memory"
    return "heat" if hot else "tier"


def _link_class(phase: Phase) -> float:
    """Bytes per second of the slowest kind of link that carries a phase's speed, or of the fastest kind of all."""
    fastest = LINK_CLASSES_BYTES_PER_S[-1]
    return min((speed for speed in LINK_CLASSES_BYTES_PER_S if phase.bytes_per_s <= speed <= fastest), default=fastest)


def sold_bytes(written: float) -> float | None:
    """The capacity of a drive of which all was written, where drives of about that size are sold; None else."""
    sizes = (times * size * 1e9 for times in (1, 2, 4, 8) for size in SIZE_CLASSES_GB)
    return next((size for size in sizes if abs(written / size - 1) <= SIZE_CLASS_TOLERANCE), None)


def fits_free_part(levels: Sequence[Phase], capacity: float) -> bool:
    """Whether a drive that held data, and of which all that was free was written, would have ended the second plateau
    where it ends: with no free block left beside a cache as large as the first."""
    if len(levels) < 3 or levels[-1].to_bytes >= WHOLE_DRIVE_SHARE * capacity:
        return False
    first, second = levels[:2]
    bits = np.array([MIN_NATIVE_BITS, MAX_NATIVE_BITS])
    # The spare area is the whole drive's.
    spare = (second.to_bytes + (bits - 1) * first.to_bytes - levels[-1].to_bytes) / capacity
    return bool(((spare >= MIN_RAW_CAPACITY_RATIO - 1) & (spare <= MAX_RAW_CAPACITY_RATIO - 1)).any())


def returning_levels(phases: Sequence[Phase], context: MeasurementContext) -> int:
    """Number of speed levels that return in any order until late in a write; 0 if fewer than `MIN_RETURNING_LEVELS`.

    Levels do not return because of a cache, which has one level, followed by one or two, and takes in what was folded
    meanwhile. 0 also where a cache may have made them, or folding in pauses.
    """
    if any(phase.pause_s for phase in phases):
        return 0
    levels = _by_speed(phases)
    again = [level for level in levels if len(level) > 1]
    if sum(map(_bytes, levels[0])) > MAX_FASTEST_SHARE * phases[-1].to_bytes:
        return 0
    if len(again) >= MIN_RETURNING_LEVELS and _return_as_no_cache(phases, again):
        return len(again)
    many = len(again) > 1 and len(levels) >= MIN_RETURNING_LEVELS
    return len(levels) if again and _no_cache_made(phases, context, many=many) else 0


def _return_as_no_cache(phases: Sequence[Phase], again: Sequence[Sequence[Phase]]) -> bool:
    """Whether the fastest level that returns does so until late, or the write begins with a slower one of them: an
    empty cache is what a write begins with.

    Args:
        again: levels that return, the fastest first.
    """
    late = max(phase.to_bytes for phase in again[0]) > MIN_RETURNING_SHARE * phases[-1].to_bytes
    return late or any(phases[0] in level for level in again[1:])


def _by_speed(phases: Sequence[Phase]) -> list[list[Phase]]:
    """Phases of about the same speed together, the fastest first."""
    levels: list[list[Phase]] = []
    for phase in sorted(phases, key=lambda phase: -_typical(phase)):
        if levels and _typical(phase) > (1 - SAME_SPEED_TOLERANCE) * _typical(levels[-1][0]):
            levels[-1].append(phase)
        else:
            levels.append([phase])
    return levels


def _no_cache_made(phases: Sequence[Phase], context: MeasurementContext, *, many: bool) -> bool:
    """Whether no cache made speeds that return: they exceed it, or it would have taken in more than it could.

    Args:
        many: several levels return, so one stretch that is larger than the first is enough.
    """
    typical = [replace(phase, bytes_per_s=_typical(phase)) for phase in phases]
    joined = [plateau.phase for plateau in plateaus(typical, classify_phases(typical, context))]
    fills = _fills(joined)
    if _faster_than_the_cache(typical) or _refills_differ(joined, fills):
        return True
    return many and any(held > MAX_REFILL_RATIO * fills[0][0] for held, _ in fills[1:])


def _faster_than_the_cache(levels: Sequence[Phase]) -> bool:
    """Whether plateaus rise twice, and behind a fall to more than they had before it: what fell was no cache."""
    rises = sum(later.bytes_per_s * MIN_RETURN_RATIO > phase.bytes_per_s for phase, later in pairwise(levels))
    fastest, fell = 0.0, False
    for phase in levels:
        if fell and phase.bytes_per_s * MIN_RETURN_RATIO > fastest:
            return rises > 1
        fell = fell or phase.bytes_per_s < MIN_RETURN_RATIO * fastest
        fastest = max(fastest, phase.bytes_per_s)
    return False


def _fills(levels: Sequence[Phase]) -> list[tuple[float, float]]:
    """Of each stretch at the fastest speed its bytes, and the seconds that were slower since the one before it."""
    fastest = max(phase.bytes_per_s for phase in levels)
    fills: list[tuple[float, float]] = []
    slow_s, goes_on = 0.0, False
    for phase in levels:
        if phase.bytes_per_s <= (1 - SAME_SPEED_TOLERANCE) * fastest:
            slow_s, goes_on = slow_s + _seconds(phase), False
        elif goes_on:
            fills[-1] = (fills[-1][0] + _bytes(phase), fills[-1][1])
        else:
            fills.append((_bytes(phase), slow_s))
            slow_s, goes_on = 0.0, True
    return fills


def _refills_differ(levels: Sequence[Phase], fills: Sequence[tuple[float, float]]) -> bool:
    """Whether the fastest stretches hold more of what could be folded before them at one time than at another."""
    rates = [held / folded_s for held, folded_s in fills[1:]]
    # A write may end before the cache is full again.
    is_fast = levels[-1].bytes_per_s > (1 - SAME_SPEED_TOLERANCE) * max(phase.bytes_per_s for phase in levels)
    whole = rates[:-1] if is_fast else rates
    return bool(whole) and max(rates) > MAX_REFILL_RATE_RATIO * min(whole)


def _larger_fall_follows(levels: Sequence[Phase], ratio: float) -> bool:
    """Whether the second plateau, at one speed, ends with a fall that is `ratio` times that to it, and a cliff."""
    if len(levels) < 3 or levels[1].spread > MAX_PLATEAU_SPREAD:
        return False
    step, fall = (math.log(before.bytes_per_s / after.bytes_per_s) for before, after in pairwise(levels[:3]))
    return fall >= max(ratio * step, -math.log(MAX_SECOND_STEP_RATIO))


def _cliff_follows(levels: Sequence[Phase], capacity: float) -> bool:
    """Whether the second plateau ends with a cliff, and too early to have been native cells."""
    if len(levels) < 3 or levels[1].spread > MAX_PLATEAU_SPREAD:
        return False
    first, second, third = levels[:3]
    fall = math.log(second.bytes_per_s / third.bytes_per_s)
    step = math.log(end_speed(second) / start_speed(third))
    if fall < -math.log(MAX_SECOND_STEP_RATIO) or step < MIN_STEP_SHARE * fall:
        return False
    if second.to_bytes > max_cache_bytes(capacity):
        return False
    # Where no free block was left, these were native cells.
    bits = max_native_bits(second.bytes_per_s / first.bytes_per_s)
    return (second.to_bytes + (bits - 1) * first.to_bytes) / capacity < MIN_RAW_CAPACITY_RATIO


def end_speed(phase: Phase) -> float:
    """The speed of a phase at its end, in bytes a second."""
    return phase.bytes_per_s * math.sqrt(1.0 + max(phase.drift, -0.9))


def start_speed(phase: Phase) -> float:
    """The speed of a phase at its start, in bytes a second."""
    return phase.bytes_per_s / math.sqrt(1.0 + max(phase.drift, -0.9))
