"""State of the NAND behind a cliff in our own recordings: host writes go to native cells, or the cache is folded.

    speed of the cache
    ---------+
             |   past the cache: no request waits longer than one program     -> direct
             +---------------    slow, or a small loss where free blocks end  -> fold

Of 13 rules these four told nine in ten phases of random jobs right, as all did: they read single requests, which the
machines (`posterior`) do not.
"""

import math

from pslc.analysis.counter_causes import CauseEstimate
from pslc.analysis.phases import Phase
from pslc.analysis.plateau_case import LIKELY, SURE, UNSURE, PlateauCase
from pslc.analysis.thresholds import (
    EQUAL_WAIT_TOLERANCE,
    MAX_FOLD_FROM_NATIVE_RATIO,
    MAX_NATIVE_SPREAD,
    MIN_DECAY_DRIFT,
    MIN_FOLD_DRIFT,
    MIN_LIKELY_NATIVE_RATIO,
    MIN_NATIVE_RATIO,
    MIN_STEADY_NATIVE_RATIO,
    WHOLE_DRIVE_SHARE,
)


def past_cache_cause(case: PlateauCase, capacity: float | None) -> CauseEstimate:
    """The cause of a plateau behind the cliff, `direct` or `fold`.

    Args:
        case: the plateau; the one before it is the cache.
        capacity: of a drive that was empty, in bytes; None where nothing is known of its room.
    """
    phase = case.phase
    # What makes a speed fall on and on is not what made the cliff.
    ratio = (_start_speed(phase) if phase.drift < -MIN_DECAY_DRIFT else phase.bytes_per_s) / case.previous.bytes_per_s
    rate = f"{case.rate}, {100 * ratio:.0f} % of the cache's speed"

    def estimate(cause: str, confidence: float, because: str) -> CauseEstimate:
        return CauseEstimate(cause, confidence, f"{because}: {rate}")

    always = ratio < MIN_STEADY_NATIVE_RATIO
    if ratio >= MIN_NATIVE_RATIO and case.context.waits_are_equal(case.index, EQUAL_WAIT_TOLERANCE, always=always):
        return estimate("direct", SURE, "no request waited longer than the others, as for native cells")
    if _is_one_speed(case) and ratio >= MIN_STEADY_NATIVE_RATIO:
        if _waits_got_uneven(case):
            return estimate("fold", UNSURE, "some requests wait longer than others, unlike those into the cache")
        confidence = LIKELY if ratio > MIN_LIKELY_NATIVE_RATIO else UNSURE
        return estimate("direct", confidence, "one speed from its beginning to its end, as of native cells")
    lost = _loss_behind(case, capacity)
    if lost is not None and lost < 1 - MAX_FOLD_FROM_NATIVE_RATIO:
        return estimate("fold", LIKELY, f"only {100 * lost:.0f} % is lost when the free blocks end, it folded")
    if ratio < MIN_LIKELY_NATIVE_RATIO:
        return estimate("fold", case.guess_confidence, "slower than native cells should be")
    return estimate("direct", case.guess_confidence, "as fast as native cells should be")


def _is_one_speed(case: PlateauCase) -> bool:
    """Whether it is a steady phase of our own recording, in a first pass: what folding leaves changes all the time."""
    phase, context = case.phase, case.context
    once = context.capacity_bytes is None or phase.to_bytes < (2 - WHOLE_DRIVE_SHARE) * context.capacity_bytes
    return (
        bool(context.access_patterns)
        and once
        and abs(phase.drift) < MIN_FOLD_DRIFT
        and phase.spread < MAX_NATIVE_SPREAD
    )


def _waits_got_uneven(case: PlateauCase) -> bool:
    """Whether some requests wait longer than others, unlike those into the cache."""
    before, now = (case.context.waits_are_equal(at, EQUAL_WAIT_TOLERANCE) for at in (case.index - 1, case.index))
    return bool(before) and now is False


def _loss_behind(case: PlateauCase, capacity: float | None) -> float | None:
    """Share of the speed that the next phase loses, of one without a drift; None where the first pass ends there."""
    phase, following = case.phase, case.following
    if capacity is None or following is None or phase.to_bytes >= WHOLE_DRIVE_SHARE * capacity:
        return None
    if max(abs(phase.drift), -following.drift) >= MIN_DECAY_DRIFT:
        return None
    return 1 - following.bytes_per_s / phase.bytes_per_s


def _start_speed(phase: Phase) -> float:
    """The speed of a phase at its start, in bytes a second."""
    return phase.bytes_per_s / math.sqrt(1.0 + max(phase.drift, -0.9))
