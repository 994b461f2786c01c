"""State of the NAND after the cliff: host writes go to native cells while there is room, or the cache is folded.

    speed of the cache
    ---------+
             |   past the cache: one speed, and it ends where no free block is left   -> direct
             +---------------    any length, uneven, slow, or longer than there is room -> fold

Each rule looks at one trace that either leaves; the first that finds it answers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pslc.analysis.counter_causes import CauseEstimate, format_bytes
from pslc.analysis.phases import Phase
from pslc.analysis.plateau_case import LIKELY, SURE, UNSURE, PlateauCase
from pslc.analysis.plateaus import end_speed, max_cache_bytes, max_native_bits, sold_bytes, start_speed
from pslc.analysis.thresholds import (
    EQUAL_WAIT_TOLERANCE,
    MAX_FOLD_FROM_CACHE_RATIO,
    MAX_FOLD_FROM_NATIVE_RATIO,
    MAX_NATIVE_SPREAD,
    MAX_RAW_CAPACITY_RATIO,
    MIN_DECAY_DRIFT,
    MIN_FOLD_DRIFT,
    MIN_FOLD_SCATTER,
    MIN_FOLD_SCATTER_RATIO,
    MIN_FOLD_SPREAD,
    MIN_LIKELY_NATIVE_RATIO,
    MIN_NATIVE_BITS,
    MIN_NATIVE_RATIO,
    MIN_PROBABLE_NATIVE_RATIO,
    MIN_RAW_CAPACITY_RATIO,
    MIN_ROOM_SHARE,
    MIN_STEADY_NATIVE_RATIO,
    MIN_STEP_SHARE,
    SPREAD_OF_DRIFT_RATIO,
    WHOLE_DRIVE_SHARE,
)


@dataclass(frozen=True)
class _PastCache:
    """A plateau behind the cliff.

    Attributes:
        case: the plateau; the one before it is the cache.
        capacity: of a drive that was empty, in bytes; None where nothing is known of its room.
        ratio: its speed over the cache's, where it decays its speed at the start.
        rate: its speed and that share, as text.
        is_uneven: some of our own requests wait longer than others, unlike those into the cache.
        is_ours: it is our own recording, request by request, which tells a drift from noise, of a first pass.
    """

    case: PlateauCase
    capacity: float | None
    ratio: float
    rate: str
    is_uneven: bool
    is_ours: bool

    @property
    def phase(self) -> Phase:
        return self.case.phase

    @property
    def cache(self) -> Phase:
        return self.case.previous

    @property
    def decays(self) -> bool:
        """Whether its speed falls on and on."""
        return self.phase.drift < -MIN_DECAY_DRIFT

    def estimate(self, cause: str, confidence: float, because: str) -> CauseEstimate:
        return CauseEstimate(cause, confidence, f"{because}: {self.rate}")


def past_cache_cause(case: PlateauCase, capacity: float | None) -> CauseEstimate:
    """The cause of a plateau behind the cliff, `direct` or `fold`.

    Args:
        case: the plateau; the one before it is the cache.
        capacity: of a drive that was empty, in bytes; None where nothing is known of its room.
    """
    past = _past_cache(case, capacity)
    for rule in RULES:
        estimate = rule(past)
        if estimate is not None:
            return estimate
    return past.estimate("direct", case.guess_confidence, "as fast as native cells should be")


def _past_cache(case: PlateauCase, capacity: float | None) -> _PastCache:
    phase, cache, context = case.phase, case.previous, case.context
    # What makes a speed fall on and on is not what made the cliff.
    speed = start_speed(phase) if phase.drift < -MIN_DECAY_DRIFT else phase.bytes_per_s
    ratio = speed / cache.bytes_per_s
    once = context.capacity_bytes is None or phase.to_bytes < (2 - WHOLE_DRIVE_SHARE) * context.capacity_bytes
    ours = bool(context.access_patterns) and once
    cache_even, even = (context.waits_are_equal(index, EQUAL_WAIT_TOLERANCE) for index in (case.index - 1, case.index))
    rate = f"{case.rate}, {100 * ratio:.0f} % of the cache's speed"
    return _PastCache(case, capacity, ratio, rate, ours and bool(cache_even) and even is False, ours)


def _nearly_full(past: _PastCache) -> CauseEstimate | None:
    """More was written at the cache's speed than fits at one bit a cell."""
    if past.capacity is None or past.cache.to_bytes <= max_cache_bytes(past.capacity):
        return None
    return past.estimate("fold", LIKELY, "the drive is nearly full, and the free blocks are used up")


def _pauses(past: _PastCache) -> CauseEstimate | None:
    """Writes stop again and again, while the cache is folded."""
    if not past.phase.pause_s:
        return None
    return past.estimate("fold", LIKELY, f"writes stop for {past.phase.pause_s:.2g} s again and again, as it is folded")


def _equal_waits(past: _PastCache) -> CauseEstimate | None:
    """The longest request takes equally long in nearly every bin, as for one program."""
    always = past.ratio < MIN_STEADY_NATIVE_RATIO
    equal = past.case.context.waits_are_equal(past.case.index, EQUAL_WAIT_TOLERANCE, always=always)
    if past.ratio < MIN_NATIVE_RATIO or not equal:
        return None
    return past.estimate("direct", SURE, "no request waited longer than the others, as for native cells")


def _one_speed(past: _PastCache) -> CauseEstimate | None:
    """A steady phase of our own recording: what folding leaves changes all the time."""
    steady = abs(past.phase.drift) < MIN_FOLD_DRIFT and past.phase.spread < MAX_NATIVE_SPREAD
    if not (past.is_ours and steady and past.ratio >= MIN_STEADY_NATIVE_RATIO):
        return None
    confidence = LIKELY if past.ratio > MIN_LIKELY_NATIVE_RATIO else UNSURE
    return _uneven_waits(past) or past.estimate(
        "direct", confidence, "one speed from its beginning to its end, as of native cells"
    )


def _scatters(past: _PastCache) -> CauseEstimate | None:
    """The speed comes and goes as that of the cache does not."""
    scatter, before = past.phase.scatter, past.cache.scatter
    if past.ratio >= MAX_FOLD_FROM_CACHE_RATIO or math.isnan(before):
        return None
    if not scatter > max(MIN_FOLD_SCATTER, MIN_FOLD_SCATTER_RATIO * before):
        return None
    return past.estimate("fold", UNSURE, f"its speed scatters by {100 * scatter:.0f} %, {100 * before:.1g} % before")


def _small_loss(past: _PastCache) -> CauseEstimate | None:
    """Folding cannot cost native cells less than it does; what loses less folded already."""
    following = _step_behind(past)
    if following is None or abs(past.phase.drift) >= MIN_DECAY_DRIFT:
        return None
    ratio = following.bytes_per_s / past.phase.bytes_per_s
    if ratio <= MAX_FOLD_FROM_NATIVE_RATIO:
        return None
    return past.estimate("fold", LIKELY, f"only {100 * (1 - ratio):.0f} % is lost when the free blocks end, it folded")


def _ends_with_the_free_blocks(past: _PastCache) -> CauseEstimate | None:
    """It ends where a cache of that size leaves no free block, for some number of bits a cell."""
    if past.capacity is None or _step_behind(past) is None or past.ratio < MIN_NATIVE_RATIO:
        return None
    size, end = past.cache.to_bytes, past.phase.to_bytes
    bits = range(MIN_NATIVE_BITS, max_native_bits(past.ratio) + 1)
    spares = ((end + (count - 1) * size) / past.capacity for count in bits)
    if not any(MIN_RAW_CAPACITY_RATIO <= spare <= MAX_RAW_CAPACITY_RATIO for spare in spares):
        return None
    because = f"it ends at {format_bytes(end)}, where a cache of {format_bytes(size)} leaves no free block"
    return past.estimate("direct", SURE if past.ratio > MIN_LIKELY_NATIVE_RATIO else LIKELY, because)


def _no_room(past: _PastCache) -> CauseEstimate | None:
    """It goes on for longer than native cells have room: where the free blocks ended there is a step, unless the speed
    falls on and on."""
    if past.capacity is None:
        return None
    size, end = past.cache.to_bytes, past.phase.to_bytes
    if native_room_share(past.phase, size, past.capacity) >= (MIN_ROOM_SHARE if past.decays else 1.0):
        return None
    because = f"until {format_bytes(end)}, for which there is no room beside a cache of {format_bytes(size)}"
    confidence = past.case.guess_confidence if past.ratio > MIN_PROBABLE_NATIVE_RATIO else SURE
    return past.estimate("fold", confidence, because)


def _no_room_if_whole(past: _PastCache) -> CauseEstimate | None:
    """It is the last of a write as long as a drive that is sold is large, and native cells have no room for that."""
    context, end = past.case.context, past.phase.to_bytes
    if context.capacity_bytes is not None or context.prefilled or past.case.following is not None or past.decays:
        return None
    capacity, size = sold_bytes(end), past.cache.to_bytes
    if capacity is None or native_room_share(past.phase, size, capacity) >= 1.0:
        return None
    because = (
        f"if {format_bytes(end)} are the whole drive, it has no room for so much beside a cache of {format_bytes(size)}"
    )
    return past.estimate("fold", past.case.guess_confidence, because)


def _spreads(past: _PastCache) -> CauseEstimate | None:
    """The speed spreads by more than its drift makes it."""
    drift = abs(math.log1p(max(past.phase.drift, -0.9)))
    if past.phase.spread - SPREAD_OF_DRIFT_RATIO * drift <= MIN_FOLD_SPREAD:
        return None
    return past.estimate("fold", UNSURE, f"up and down by {100 * past.phase.spread:.0f} %, as folding comes and goes")


def _ends_with_a_fall(past: _PastCache) -> CauseEstimate | None:
    """A steady speed that ends with a fall by more than folding with less room makes: folding joins in there."""
    following, phase = past.case.following, past.phase
    slow = MIN_NATIVE_RATIO <= past.ratio < MIN_LIKELY_NATIVE_RATIO
    if following is None or not slow or abs(phase.drift) >= MIN_DECAY_DRIFT:
        return None
    ratio = following.bytes_per_s / phase.bytes_per_s
    if ratio > MAX_FOLD_FROM_NATIVE_RATIO or decays_on(phase, following):
        return None
    because = f"slow for native cells, but it ends with a fall to {100 * ratio:.0f} %, as where folding joins in"
    return past.estimate("direct", past.case.guess_confidence, because)


def _too_slow(past: _PastCache) -> CauseEstimate | None:
    if past.ratio >= MIN_LIKELY_NATIVE_RATIO:
        return None
    return past.estimate("fold", past.case.guess_confidence, "slower than native cells should be")


def _drifts(past: _PastCache) -> CauseEstimate | None:
    """A phase of our own recording whose speed changes."""
    if not past.is_ours or abs(past.phase.drift) < MIN_FOLD_DRIFT:
        return None
    return past.estimate("fold", UNSURE, f"its speed changes by {100 * past.phase.drift:+.1f} % on the way")


def _uneven_waits(past: _PastCache) -> CauseEstimate | None:
    if not past.is_uneven:
        return None
    return past.estimate("fold", UNSURE, "some requests wait longer than others, unlike those into the cache")


Rule = Callable[[_PastCache], CauseEstimate | None]
RULES: Final[tuple[Rule, ...]] = (
    _nearly_full,
    _pauses,
    _equal_waits,
    _one_speed,
    _scatters,
    _small_loss,
    _ends_with_the_free_blocks,
    _no_room,
    _no_room_if_whole,
    _spreads,
    _ends_with_a_fall,
    _too_slow,
    _drifts,
    _uneven_waits,
)
"""Rules in the order in which they are tested, the surest first."""


def _step_behind(past: _PastCache) -> Phase | None:
    """The phase behind it where a step down leads to it within the first pass; None else."""
    following = past.case.following
    if past.capacity is None or following is None or past.phase.to_bytes >= WHOLE_DRIVE_SHARE * past.capacity:
        return None
    return None if decays_on(past.phase, following) else following


def native_room_share(phase: Phase, size: float, capacity: float) -> float:
    """The share of a phase that native cells may have had room for, beside a cache of `size` bytes."""
    room = MAX_RAW_CAPACITY_RATIO * capacity - (MIN_NATIVE_BITS - 1) * size - phase.from_bytes
    return room / max(min(phase.to_bytes, capacity) - phase.from_bytes, 1.0)


def decays_on(before: Phase, phase: Phase) -> bool:
    """Whether the speed falls on and on, and the boundary between two phases is no step of it."""
    fall = math.log(before.bytes_per_s / phase.bytes_per_s)
    decays = min(before.drift, phase.drift) < -MIN_DECAY_DRIFT
    return decays and math.log(end_speed(before) / start_speed(phase)) < MIN_STEP_SHARE * fall
