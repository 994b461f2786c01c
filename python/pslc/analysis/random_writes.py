"""State of the NAND under random writes: garbage collection, map misses, cache, or unknown."""

from collections.abc import Sequence

from pslc.analysis.context import AccessPattern
from pslc.analysis.counter_causes import CauseEstimate, format_bytes
from pslc.analysis.past_cache import past_cache_cause
from pslc.analysis.phases import Phase
from pslc.analysis.plateau_case import (
    BEFORE_NAND,
    HOST_LIMITED,
    LIKELY,
    PAST_CACHE,
    SURE,
    UNSURE,
    PlateauCase,
    format_speed,
    same_speed,
)
from pslc.analysis.thresholds import (
    MAX_EVEN_WAIT_RATIO,
    MAX_FOLD_FROM_NATIVE_RATIO,
    MAX_RANDOM_CACHED_SHARE,
    MIN_CACHE_AGAIN_RATIO,
    MIN_MAP_FREE_REQUEST_BYTES,
    MIN_MAP_MISS_SPREAD,
    MIN_NEAR_SPAN_RATIO,
    PHASE_START_SHARE,
    SAME_SPEED_TOLERANCE,
    SAME_SPEED_TOLERANCE_OTHER_LOAD,
    WHOLE_DRIVE_SHARE,
)


def random_write_cause(case: PlateauCase, pattern: AccessPattern) -> CauseEstimate:
    """The cause of a plateau that was written at random places."""
    context, phase = case.context, case.phase
    if context.capacity_bytes is not None and phase.from_bytes >= WHOLE_DRIVE_SHARE * context.capacity_bytes:
        return _full_drive(case)
    far = pattern.request_bytes < MIN_MAP_FREE_REQUEST_BYTES and (
        context.map_bytes is None or pattern.span_bytes > context.map_bytes
    )
    estimate = _slower_than_before(case, same_pattern=far) or (_map_misses(case, pattern) if far else None)
    if estimate is not None:
        return estimate
    if context.capacity_bytes is not None and phase.to_bytes <= MAX_RANDOM_CACHED_SHARE * context.capacity_bytes:
        share = f"{100 * phase.to_bytes / context.capacity_bytes:.2g} % of the drive"
        return CauseEstimate("pslc", UNSURE, f"little was written so far, {share}: {case.rate}")
    return CauseEstimate("unknown", 0.0, "written at random places, so the curve does not tell how full the drive is")


def _full_drive(case: PlateauCase) -> CauseEstimate:
    """Garbage collection, but for a cache that is still being folded."""
    phase, following = case.phase, case.following
    folds = bool(case.causes) and case.causes[-1].cause == "fold"
    if folds and same_speed(phase, case.previous, SAME_SPEED_TOLERANCE_OTHER_LOAD):
        return CauseEstimate("fold", UNSURE, f"nearly as fast as the folding before it, which goes on: {case.rate}")
    cached = any(estimate.cause in ("pslc", *PAST_CACHE, *HOST_LIMITED) for estimate in case.causes)
    if cached and following and following.bytes_per_s < MAX_FOLD_FROM_NATIVE_RATIO * phase.bytes_per_s:
        because = f"random writes on a full drive while its cache is folded: {case.rate}"
        return CauseEstimate("fold", UNSURE, f"{because}, then {format_speed(following.bytes_per_s)}")
    return CauseEstimate("gc", LIKELY, f"random writes on a full drive: {case.rate}")


def _slower_than_before(case: PlateauCase, *, same_pattern: bool) -> CauseEstimate | None:
    """Past the cache: slower than what was written just before in requests of the same size."""
    pattern = case.pattern()
    if not case.causes or case.causes[-1].cause in BEFORE_NAND or pattern is None:
        return None
    phase, previous, previous_cause = case.phase, case.previous, case.causes[-1].cause
    earlier = case.pattern(previous)
    if earlier is None or (earlier != pattern if same_pattern else earlier.request_bytes != pattern.request_bytes):
        return None
    if previous_cause in PAST_CACHE and MIN_CACHE_AGAIN_RATIO * phase.bytes_per_s < previous.bytes_per_s:
        return CauseEstimate(previous_cause, UNSURE, f"behind the cache, as before: {case.rate}")
    # Where what was at hand of the map, or in the buffer, is used up, there is a short phase in between.
    lasted = previous.to_bytes - previous.from_bytes > PHASE_START_SHARE * (phase.to_bytes - phase.from_bytes)
    if lasted and phase.bytes_per_s < MIN_CACHE_AGAIN_RATIO * previous.bytes_per_s:
        return past_cache_cause(case, None)
    return None


def _map_misses(case: PlateauCase, pattern: AccessPattern) -> CauseEstimate | None:
    """Small requests far apart: the controller reads its map from the NAND for each."""
    context, phase = case.context, case.phase
    from_nand = [earlier for earlier, estimate in case.earlier if estimate.cause not in BEFORE_NAND]
    near = _close_together(from_nand, case, pattern)
    because = f"{case.rate} over {format_bytes(pattern.span_bytes)}"
    if near is not None and phase.bytes_per_s < (1 - SAME_SPEED_TOLERANCE) * near.bytes_per_s:
        confidence = LIKELY if context.map_bytes is None else SURE
        because = f"{because}, and {format_speed(near.bytes_per_s)} where the map was at hand"
        return CauseEstimate("map", confidence, because)
    unevenness = context.unevenness(case.index)
    waited = unevenness is None or unevenness > MAX_EVEN_WAIT_RATIO or phase.spread > MIN_MAP_MISS_SPREAD
    if near is None and context.map_bytes is not None and waited:
        mapped = f"of which the controller has {format_bytes(context.map_bytes)} mapped at hand"
        return CauseEstimate("map", LIKELY, f"far apart on a drive without DRAM: {because}, {mapped}")
    return None


def _close_together(phases: Sequence[Phase], case: PlateauCase, far: AccessPattern) -> Phase | None:
    """The last of these phases that was written in requests of the same size, but closer together than `far`."""
    for phase in reversed(phases):
        pattern = case.pattern(phase)
        if pattern is None or pattern.request_bytes != far.request_bytes:
            continue
        if not pattern.random or pattern.span_bytes <= far.span_bytes / MIN_NEAR_SPAN_RATIO:
            return phase
    return None
