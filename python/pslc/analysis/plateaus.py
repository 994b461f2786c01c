"""Which phases of a curve are one stretch of the cells' work, though something slowed or hurried parts of it.

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
from typing import Final, Literal

from pslc.analysis.context import MeasurementContext
from pslc.analysis.phases import Phase

LEAST_BITS, MOST_BITS = 3, 4
QUAD: Final = 0.4
"""Cells of four bits take no more than this share of what they take at one."""
LEAST_SPARE, MOST_SPARE = 1.0, 1.2
"""Raw capacity over what the host sees."""
BACK: Final = 0.8
"""A dip ends where this share of the speed before it is reached again."""
FOLDED: Final = 0.7
"""Folding frees no more than this share of what the cache takes in, in the same time: native cells are slower."""
EMPTIED: Final = 0.5
"""Of a cache that is used again, this share has been emptied at least."""
SHORTER: Final = 3.0
"""A dip is no longer than so many times what was written before it."""
STEADY: Final = 0.4
"""Spread of the speed up to which a level is one; above, it is an average of several."""
CLIFF: Final = 0.8
"""A second step is a cliff where the speed falls to this share, between its two sides."""
STEP: Final = 0.65
"""Share of a fall, in log speed, that happens at the border itself: less is a decay."""
STARTING: Final = 0.6
"""A first phase slower than what follows, and shorter than this share of what it and that are together, is a start."""
WHOLE: Final = 0.98
BEYOND: Final = 1.12
"""Share of the link's ceiling at which no drive was measured: packets and encoding take less than this."""
HOT_AFTER_S: Final = 15.0
"""A drive does not get hot sooner."""
HOT_ABOVE: Final = 0.8e9
"""Nor does one that writes fewer bytes a second."""
TIER: Final = 0.55
"""The slower part of a cache has this share of the speed of the faster one, or more."""
MEMORY_BYTES: Final = 64e9
"""A page cache takes in no more."""
FAR: Final = 0.65
"""Behind memory a drive has this share of its speed, or less, where no link tells."""
CLASSES: Final = (0.56e9, 3.6e9, 7.4e9, 15e9)
"""What SATA and PCIe 3 to 5 with four lanes carry of the host's data."""

PhaseKind = Literal["cells", "start", "dip", "memory", "tier", "heat"]


@dataclass(frozen=True)
class Plateau:
    """One stretch of the cells' work.

    Attributes:
        phase: all of it, as one phase, at the speed that its cells have when nothing is in their way.
        parts: indices of the phases it is made of.
    """

    phase: Phase
    parts: tuple[int, ...]


def max_native_bits(ratio: float) -> int:
    """Bits a cell, at the most, of native cells that are this share as fast as the cache."""
    return MOST_BITS if ratio <= QUAD else LEAST_BITS


def max_cache_bytes(capacity: float) -> float:
    """Bytes that fit into all cells of a drive at one bit each."""
    return MOST_SPARE / LEAST_BITS * capacity


def classify_phases(phases: Sequence[Phase], context: MeasurementContext) -> list[PhaseKind]:
    """What each phase is.

    Of a run of ours it is known where the host wrote, whether a page cache took part and for how long the drive
    throttled, and jobs follow upon each other: nothing is guessed from lengths then.
    """
    found: list[PhaseKind] = ["cells"] * len(phases)
    if context.access_patterns:
        return found
    _starts(phases, found)
    if context.room_bytes is not None:
        _collected(phases, found, context.room_bytes)
    _dips(phases, found)
    _heads(phases, found, context)
    return found


def plateaus(phases: Sequence[Phase], found: Sequence[PhaseKind]) -> list[Plateau]:
    """The cells' work, in order; the levels tile the curve."""
    groups: list[list[int]] = [[0]]
    for index in range(1, len(phases)):
        # A start and a head belong to what follows, heat to what it slows, a dip to what it interrupts.
        ahead = found[index - 1] in ("start", "memory", "tier")
        if ahead or found[index] == "heat" or "dip" in found[index - 1 : index + 1]:
            groups[-1].append(index)
        else:
            groups.append([index])
    return [_level(phases, group, found) for group in groups]


def _level(phases: Sequence[Phase], group: list[int], found: Sequence[PhaseKind]) -> Plateau:
    cells = [index for index in group if found[index] == "cells"] or group
    usual = max((phases[index] for index in cells), key=_bytes)
    first, last = phases[group[0]], phases[group[-1]]
    whole = replace(
        usual, from_bytes=first.from_bytes, from_low=first.from_low, from_high=first.from_high, to_bytes=last.to_bytes
    )
    return Plateau(whole, tuple(group))


def _bytes(phase: Phase) -> float:
    return phase.to_bytes - phase.from_bytes


def _seconds(phase: Phase) -> float:
    return _bytes(phase) / phase.bytes_per_s


def _usual(phase: Phase) -> float:
    """What half of its bytes were slower than: moments that are too short for phases weigh on the mean."""
    return phase.usual_bytes_per_s or phase.bytes_per_s


def _starts(phases: Sequence[Phase], found: list[PhaseKind]) -> None:
    """A slow first phase before a faster one that falls."""
    if len(phases) < 3:
        return
    first, cache, after = phases[:3]
    both = _bytes(first) + _bytes(cache)
    if first.bytes_per_s < BACK * cache.bytes_per_s > after.bytes_per_s and _bytes(first) < STARTING * both:
        found[0] = "start"


def _collected(phases: Sequence[Phase], found: list[PhaseKind], capacity: float) -> None:
    """Slow moments of a drive that writes faster, all in all, than a cache and folding in those moments allow for."""
    usual = _usual(max(phases, key=_bytes))
    if any(BACK * _usual(phase) > usual for phase in phases):
        return  # what was faster was a cache
    fast = [index for index, phase in enumerate(phases) if BACK * usual <= _usual(phase) <= usual / BACK]
    between = [index for index in range(fast[0], fast[-1]) if phases[index].bytes_per_s < BACK * usual]
    freed = FOLDED * usual * sum(_seconds(phases[index]) for index in between)
    if sum(_bytes(phases[index]) for index in fast) > max_cache_bytes(capacity) + freed:
        for index in between:
            found[index] = "dip"


def _dips(phases: Sequence[Phase], found: list[PhaseKind]) -> None:
    """Moments within one speed."""
    begun = next(index for index, kind in enumerate(found) if kind == "cells")
    index = begun + 1
    while index < len(phases) - 1:
        if found[index] == "dip":
            index += 1
            continue
        dip, after = phases[index : index + 2]
        before = [phases[i] for i in range(begun, index) if found[i] == "cells"]
        usual = max(before, key=_bytes).bytes_per_s
        written = dip.from_bytes - phases[begun].from_bytes
        freed = FOLDED * usual * _seconds(dip)
        soon = freed < max(EMPTIED * written, _bytes(after)) and _bytes(dip) < SHORTER * written
        same = BACK * usual <= _usual(after) <= usual / STARTING
        if dip.bytes_per_s < usual and same and soon:
            found[index] = "dip"
            index += 2
        else:
            begun = index
            index += 1


def _heads(phases: Sequence[Phase], found: list[PhaseKind], context: MeasurementContext) -> None:
    """Steps down before the cliff; there may be two, of memory and of heat or a second part."""
    for _ in range(2):
        work = plateaus(phases, found)
        kind = _head([level.phase for level in work], context)
        if kind is None:
            return
        for part in work[kind == "heat"].parts:
            if found[part] == "cells":
                found[part] = kind


def _head(work: Sequence[Phase], context: MeasurementContext) -> PhaseKind | None:
    """What the first level is, when the step behind it is not the end of the cache."""
    if len(work) < 2:
        return None
    first, second = work[:2]
    ratio = second.bytes_per_s / first.bytes_per_s
    if ratio > 1.0:
        return None
    most = context.link_bytes_per_s
    if most is not None and first.bytes_per_s > BEYOND * most:
        return "memory"
    if len(work) < 3 or context.room_bytes is None or second.spread > STEADY:
        return None
    third, capacity = work[2], context.room_bytes
    fall = math.log(second.bytes_per_s / third.bytes_per_s)
    here = math.log(end_speed(second) / start_speed(third))
    if fall < -math.log(CLIFF) or here < STEP * fall:
        return None
    if second.to_bytes > max_cache_bytes(capacity):
        return None
    if (second.to_bytes + (max_native_bits(ratio) - 1) * first.to_bytes) / capacity >= LEAST_SPARE:
        return None  # there was no free block left, so these were native cells
    lane = next((carried for carried in CLASSES if second.bytes_per_s <= carried), CLASSES[-1])
    memory = first.to_bytes <= MEMORY_BYTES
    if memory and first.bytes_per_s > lane and ratio < FAR:
        return "memory"
    hot = first.bytes_per_s > HOT_ABOVE and _seconds(first) > HOT_AFTER_S and ratio < CLIFF
    if context.celsius is not None:
        hot = bool(context.is_hot(second.from_bytes, second.to_bytes))
    if memory and ratio < TIER and not hot:
        return "memory"
    return "heat" if hot else "tier"


def end_speed(phase: Phase) -> float:
    """Its speed at its end."""
    return phase.bytes_per_s * math.sqrt(1.0 + max(phase.drift, -0.9))


def start_speed(phase: Phase) -> float:
    """Its speed at its start."""
    return phase.bytes_per_s / math.sqrt(1.0 + max(phase.drift, -0.9))
