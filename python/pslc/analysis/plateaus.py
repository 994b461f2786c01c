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
    MAX_FOLD_RATE_RATIO,
    MAX_NATIVE_BITS,
    MAX_PAGE_CACHE_BYTES,
    MAX_PLATEAU_SPREAD,
    MAX_QLC_SPEED_RATIO,
    MAX_RAW_CAPACITY_RATIO,
    MAX_SECOND_STEP_RATIO,
    MAX_START_SHARE,
    MIN_BEYOND_LINK_RATIO,
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
        elif _is_dip(phases, index, start, kinds):
            kinds[index] = "dip"
            index += 2
        else:
            start = index
            index += 1


def _is_dip(phases: Sequence[Phase], index: int, start: int, kinds: Sequence[PhaseKind]) -> bool:
    """Whether a phase only interrupts the plateau that began with phase `start`: the speed from before comes back,
    sooner than a cache could have been emptied."""
    dip, following = phases[index : index + 2]
    before = [phases[part] for part in range(start, index) if kinds[part] == "cells"]
    speed = max(before, key=_bytes).bytes_per_s
    written = dip.from_bytes - phases[start].from_bytes
    folded = MAX_FOLD_RATE_RATIO * speed * _seconds(dip)
    emptied = folded >= max(MIN_EMPTIED_SHARE * written, _bytes(following))
    if emptied or _bytes(dip) >= MAX_DIP_LENGTH_RATIO * written:
        return False
    return dip.bytes_per_s < speed and MIN_RETURN_RATIO * speed <= _typical(following) <= speed / MAX_START_SHARE


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
    room = context.room_bytes
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
    raw = (second.to_bytes + (bits - 1) * first.to_bytes) / levels[-1].to_bytes
    return bool(((raw >= MIN_RAW_CAPACITY_RATIO) & (raw <= MAX_RAW_CAPACITY_RATIO)).any())


def returning_levels(phases: Sequence[Phase]) -> int:
    """Number of speed levels that return in any order until late in a write; 0 if fewer than `MIN_RETURNING_LEVELS`.
    Levels do not return because of a cache, which has one level, followed by one or two."""
    levels: list[list[Phase]] = []
    for phase in sorted(phases, key=lambda phase: -phase.bytes_per_s):
        if levels and phase.bytes_per_s > (1 - SAME_SPEED_TOLERANCE) * levels[-1][0].bytes_per_s:
            levels[-1].append(phase)
        else:
            levels.append([phase])
    again = [level for level in levels if len(level) > 1]
    late = again and max(phase.to_bytes for phase in again[0]) > MIN_RETURNING_SHARE * phases[-1].to_bytes
    return len(again) if late and len(again) >= MIN_RETURNING_LEVELS else 0


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
