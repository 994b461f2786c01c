"""Causes of the speed of each phase, from the write curve and a tester's other facts, without the drive's counters.

What surrounds the NAND is known from its own side: the link, the processor, the page cache, heat, a drive that slept,
other programs, and the drive's DRAM, which takes in the first of a burst. The rest is the NAND's (`nand_state`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from pslc.analysis.context import MeasurementContext
from pslc.analysis.counter_causes import CauseEstimate, format_bytes
from pslc.analysis.nand_state import nand_cause
from pslc.analysis.phases import Phase
from pslc.analysis.plateau_case import LIKELY, SURE, UNSURE, PlateauCase, format_speed
from pslc.analysis.thresholds import (
    BUSY_CPU_SHARE,
    CERTAIN_DRAM_SHARE,
    FASTEST_LINK_BYTES_PER_S,
    LINK_FULL_SHARE,
    MAX_BEHIND_DRAM_RATIO,
    MAX_COLLECTED_RATIO,
    MAX_DRAM_BYTES,
    MAX_DRAM_SHARE,
    MAX_UNWAITED_RATIO,
    MAX_UNWAITED_REQUEST_S,
    MAX_UNWAITED_SHARE,
    MIN_BEYOND_LINK_RATIO,
    MIN_COLLECTED_SHARE,
    MIN_FLUSH_SHARE,
    MIN_MEAN_OF_TYPICAL_RATIO,
    MIN_OTHER_TRAFFIC_SHARE,
    MIN_PROGRAM_S,
    MIN_SYNC_WRITE_SHARE,
    MIN_WAKE_SHARE,
    SAME_SPEED_TOLERANCE,
    THROTTLED_TIME_TOLERANCE,
    THROTTLED_TO_END_TOLERANCE,
)


def blackbox_causes(phases: Sequence[Phase], context: MeasurementContext) -> list[CauseEstimate]:
    """The cause of each phase of a curve, in their order, with how sure (0 to 1) and why.

    Args:
        phases: from `find_phases`; the write began on an empty drive.
        context: what is known besides the curve.
    """
    cases = [PlateauCase(phases, index, context, ()) for index in range(len(phases))]
    if context.random and not context.access_patterns:
        return [_limit_around(case) or _random_cause(case) for case in cases]
    throttled, lasted_s = _throttled_phase(phases, context.throttled_s) if context.throttled_s else (None, 0.0)
    # What the NAND did is read off the other phases.
    unthrottled = [case for case in cases if case.index != throttled]
    estimates = _unthrottled_causes(unthrottled, context)
    if throttled is not None:
        case = cases[throttled]
        because = f"the drive throttled for {context.throttled_s:.0f} s, and from there it lasted {lasted_s:.0f} s"
        thermal = CauseEstimate("thermal", UNSURE, f"{because}: {case.rate}")
        estimates.insert(throttled, _limit_around(case) or thermal)
    return estimates


def _unthrottled_causes(cases: Sequence[PlateauCase], context: MeasurementContext) -> list[CauseEstimate]:
    """The causes of phases, in order; each knows those before it."""
    # A slow start weighs on the mean of the first phase, and tells nothing of the NAND.
    typical = [_typical_speed(case.phase) if case.index == 0 else case.phase for case in cases]
    causes: list[CauseEstimate] = []
    for number, case in enumerate(cases):
        causes.append(_limit_around(case) or nand_cause(PlateauCase(typical, number, context, causes)))
    return causes


def _typical_speed(phase: Phase) -> Phase:
    """A phase at its typical speed instead of its mean one."""
    return replace(phase, bytes_per_s=phase.usual_bytes_per_s or phase.bytes_per_s)


def _random_cause(case: PlateauCase) -> CauseEstimate:
    """Written at random places nobody knows: a fall once the spare area may be used up is collection."""
    context, phase = case.context, case.phase
    fastest = max(earlier.bytes_per_s for earlier in case.phases[: case.index + 1])
    capacity = context.capacity_bytes
    full = context.prefilled or (capacity is not None and phase.from_bytes >= MIN_COLLECTED_SHARE * capacity)
    if full and phase.bytes_per_s < MAX_COLLECTED_RATIO * fastest:
        because = f"random writes, and slower when the spare area is used up: {case.rate}"
        share = f"{100 * phase.bytes_per_s / fastest:.0f} % of the fastest"
        return CauseEstimate("gc", SURE, f"{because}, {share}")
    return CauseEstimate(
        "unknown", 0.0, f"written at random places, so the curve does not tell of a cache: {case.rate}"
    )


def limits_around(phases: Sequence[Phase], context: MeasurementContext) -> list[CauseEstimate | None]:
    """Limits around the NAND, phase by phase; None where nothing is known to limit."""
    return [_limit_around(PlateauCase(phases, index, context, ())) for index in range(len(phases))]


def _limit_around(case: PlateauCase) -> CauseEstimate | None:
    """Limit around the NAND: the first of `LIMITS` that answers; None: nothing limits."""
    return next((estimate for limit in LIMITS if (estimate := limit(case)) is not None), None)


def _waking(case: PlateauCase) -> CauseEstimate | None:
    """A first request that took a large part of the first phase, after a silence."""
    context, phase = case.context, case.phase
    first_s, silence_s = context.first_request_extra_s, context.silence_s
    if case.index > 0 or first_s is None or silence_s == 0.0 or first_s < MIN_WAKE_SHARE * _seconds(phase):
        return None
    because = f"the first request took {1e3 * first_s:.3g} ms longer than those after it"
    share = f"{100 * first_s / _seconds(phase):.0f} % of the time"
    if silence_s is None:
        return CauseEstimate("power", UNSURE, f"{because}, {share}, as after a pause: {case.rate}")
    return CauseEstimate("power", SURE, f"{because}, {share}, after {silence_s:.3g} s of silence: {case.rate}")


def _other_traffic(case: PlateauCase) -> CauseEstimate | None:
    """Other programs that use the drive."""
    shares = case.context.other_share
    if shares is None or shares[case.index] < MIN_OTHER_TRAFFIC_SHARE:
        return None
    because = f"{100 * shares[case.index]:.0f} % of what the drive moved was for others"
    return CauseEstimate("other", LIKELY, f"{because}: {case.rate}")


def _flushes(case: PlateauCase) -> CauseEstimate | None:
    """Writes one at a time, each of which waits for a program of the NAND before the next is made."""
    context, phase = case.context, case.phase
    size = context.flushed_bytes((phase.from_bytes + phase.to_bytes) / 2)
    if size is None:
        return None
    write_s = size / phase.bytes_per_s
    wait_s = write_s - (size / context.link_bytes_per_s if context.link_bytes_per_s else 0.0)
    # Where the write itself takes longer than what follows it, that is what is waited for: but a write that is to be in
    # the NAND at once (sync, dsync) has nothing behind it.
    mean_s = context.mean_s[case.index] if context.mean_s is not None else 0.0
    waits_itself = (1 - MIN_FLUSH_SHARE) * write_s < mean_s < MIN_SYNC_WRITE_SHARE * write_s
    if wait_s < MIN_PROGRAM_S or waits_itself:
        return None
    because = f"each write of {size / 1e3:.3g} kB waits {1e6 * wait_s:.0f} us to be in the cells"
    return CauseEstimate("flush", LIKELY, f"{because}: {case.rate}")


def _page_cache_beyond_link(case: PlateauCase) -> CauseEstimate | None:
    """Faster than the link, or than any."""
    ceiling = case.context.link_bytes_per_s
    if case.phase.bytes_per_s <= MIN_BEYOND_LINK_RATIO * (ceiling or FASTEST_LINK_BYTES_PER_S):
        return None
    if ceiling is None:
        return CauseEstimate(
            "page-cache", LIKELY, f"faster than PCIe 5.0 x4 carries, so memory took it in: {case.rate}"
        )
    return CauseEstimate("page-cache", SURE, f"memory took it in: {_share_of_link(case)}")


def _hot(case: PlateauCase) -> CauseEstimate | None:
    """Slower from where the sensor reaches its highest, and as hot from there on."""
    context, phase = case.context, case.phase
    if case.index == 0 or phase.bytes_per_s >= (1 - SAME_SPEED_TOLERANCE) * case.previous.bytes_per_s:
        return None
    if not (context.heats_up_at(phase.from_bytes) and context.is_hot(phase.from_bytes, phase.to_bytes)):
        return None
    because = "slower from where the drive is as hot as ever"
    return CauseEstimate("thermal", LIKELY, f"{because}: {case.rate}")


def _dram_of_the_drive(case: PlateauCase) -> CauseEstimate | None:
    """A short first phase, as fast as it can come, and slower NAND behind it."""
    context, first, following = case.context, case.phase, case.following
    size, capacity = first.to_bytes, context.capacity_bytes
    if case.index > 0 or context.buffered or following is None or capacity is None:
        return None
    if following.bytes_per_s > MAX_BEHIND_DRAM_RATIO * first.bytes_per_s:
        return None
    # Where the host writes elsewhere from then on, that is why.
    if context.pattern_at(size / 2) != context.pattern_at(1.05 * size):
        return None
    if size > min(MAX_DRAM_BYTES, MAX_DRAM_SHARE * capacity):
        return None
    speeds = f"{format_bytes(size)} at {case.rate} and then {format_speed(following.bytes_per_s)}"
    full = _link_is_full(replace(first, usual_bytes_per_s=0.0), context)
    if full or _nothing_waits(case):
        how = "as fast as the link carries" if full else "and no request waited"
        return CauseEstimate("dram", LIKELY, f"the drive's buffer took it in, {how}: {speeds}")
    if size <= CERTAIN_DRAM_SHARE * capacity:
        because = "too little for a cache of cells, so the drive's buffer took it in"
        return CauseEstimate("dram", LIKELY, f"{because}: {speeds}")
    return None


def _full_link(case: PlateauCase) -> CauseEstimate | None:
    """The link carries what it can, of data or of data and commands."""
    ceiling = case.context.link_bytes_per_s
    if ceiling is not None and _unhindered_bytes_per_s(case.phase) >= LINK_FULL_SHARE * ceiling:
        return CauseEstimate("link", SURE, f"the link is full: {_share_of_link(case)}")
    if _link_is_full(case.phase, case.context):
        because = f"the link is full, with the commands of small requests: {_share_of_link(case)}"
        return CauseEstimate("link", LIKELY, because)
    return None


def _link_is_full(phase: Phase, context: MeasurementContext) -> bool:
    """Whether the link carries what it can, in requests of the size that the host made."""
    if context.link_bytes_per_s is None:
        return False
    pattern = context.pattern_at((phase.from_bytes + phase.to_bytes) / 2)
    commands = 0.0 if pattern is None else context.command_bytes / pattern.request_bytes
    return _unhindered_bytes_per_s(phase) * (1.0 + commands) >= LINK_FULL_SHARE * context.link_bytes_per_s


def _share_of_link(case: PlateauCase) -> str:
    ceiling = case.context.link_bytes_per_s
    if ceiling is None:
        return ""
    speed = _unhindered_bytes_per_s(case.phase)
    return f"{format_speed(speed)} is {100 * speed / ceiling:.0f} % of what the link carries"


def _unhindered_bytes_per_s(phase: Phase) -> float:
    """The typical speed, where moments alone make the mean lower; else the mean."""
    typical = phase.usual_bytes_per_s
    short_moments = phase.bytes_per_s >= MIN_MEAN_OF_TYPICAL_RATIO * typical
    return max(phase.bytes_per_s, typical) if short_moments else phase.bytes_per_s


def _page_cache(case: PlateauCase) -> CauseEstimate | None:
    """A first phase written through the page cache."""
    if not case.context.buffered or case.index > 0:
        return None
    if case.following is not None and case.following.bytes_per_s < case.phase.bytes_per_s:
        because = "written through the page cache, and slower when that is full"
        return CauseEstimate("page-cache", LIKELY, f"{because}: {case.rate}")
    because = "written through the page cache, which hides the drive"
    return CauseEstimate("page-cache", UNSURE, f"{because}: {case.rate}")


def _processor(case: PlateauCase) -> CauseEstimate | None:
    shares = case.context.cpu_share
    if shares is None or shares[case.index] < BUSY_CPU_SHARE:
        return None
    return CauseEstimate("cpu", LIKELY, f"the processor was busy {100 * shares[case.index]:.0f} % of the time")


def _single_requests(case: PlateauCase) -> CauseEstimate | None:
    """A host that makes one request at a time, none of which waits."""
    context = case.context
    if not _nothing_waits(case) or context.mean_s is None or context.longest_s is None:
        return None
    mean_us, longest_us = 1e6 * context.mean_s[case.index], 1e6 * context.longest_s[case.index]
    because = f"nothing waited: one request at a time, of {mean_us:.0f} us and none above {longest_us:.0f}"
    return CauseEstimate("host", LIKELY, because)


def _nothing_waits(case: PlateauCase) -> bool:
    """Whether each request of a host that has one under way at a time was answered at once."""
    context, index = case.context, case.index
    unevenness = context.unevenness(index)
    if not context.is_depth_one or context.mean_s is None or unevenness is None:
        return False
    if unevenness > MAX_UNWAITED_RATIO or context.wait_share(index) > MAX_UNWAITED_SHARE:
        return False
    pattern = context.pattern_at((case.phase.from_bytes + case.phase.to_bytes) / 2)
    if pattern is None or context.link_bytes_per_s is None:
        return True
    return context.mean_s[index] < pattern.request_bytes / context.link_bytes_per_s + MAX_UNWAITED_REQUEST_S


LIMITS: Final[tuple[Callable[[PlateauCase], CauseEstimate | None], ...]] = (
    _waking,
    _other_traffic,
    _flushes,
    _page_cache_beyond_link,
    _dram_of_the_drive,
    _full_link,
    _page_cache,
    _processor,
    _single_requests,
    _hot,
)
"""Limits outside of the NAND, in the order in which they are tested; the first that applies is the cause."""


def _throttled_phase(phases: Sequence[Phase], throttled_s: float) -> tuple[int | None, float]:
    """The phase, slower than the one before it, that lasted as long as the drive throttled, or from which on all did,
    whatever slowed the later ones besides; and how long that was, in seconds. None when there is none."""
    candidates: list[tuple[float, int, float]] = []
    for index in range(1, len(phases)):
        if phases[index].bytes_per_s >= phases[index - 1].bytes_per_s:
            continue
        alone, to_the_end = phases[index : index + 1], phases[index:]
        for stretch, tolerance in ((alone, THROTTLED_TIME_TOLERANCE), (to_the_end, THROTTLED_TO_END_TOLERANCE)):
            lasted_s = sum(_seconds(phase) for phase in stretch)
            error = abs(lasted_s / throttled_s - 1)
            if error < tolerance:
                candidates.append((error, index, lasted_s))
    return min(candidates)[1:] if candidates else (None, 0.0)


def _seconds(phase: Phase) -> float:
    return (phase.to_bytes - phase.from_bytes) / phase.bytes_per_s
