"""Why each phase of a write has its speed, seen from outside: from the curve and what a tester knows besides.

What surrounds the cells is known from its own side: the link, the processor, the page cache, heat, a drive that slept,
others who use it, and its DRAM, which takes in the first of a burst. What remains is what the cells did (`cells.py`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pslc.analysis.context import MeasurementContext
from pslc.analysis.counter_causes import BUSY_CPU, FLUSHING, OTHERS, WAKING, CauseEstimate, format_bytes
from pslc.analysis.nand_state import GUESSED, LIKELY, SURE, UNSURE, format_speed, nand_cause
from pslc.analysis.phases import Phase
from pslc.analysis.plateaus import BEYOND, PhaseKind, classify_phases, plateaus

LINK_FULL: Final = 0.965
"""Share of the link's ceiling at which the link is what limits."""
MOSTLY: Final = 0.6
"""What half of the bytes were faster than tells of a phase whose mean is this share of it or more; below, something
else takes most of the time."""
SPARE, FALLEN = 0.03, 0.88
"""A drive written at random may collect from this share of its capacity on, and is then slower than this."""
AS_LONG: Final = 0.05
"""Relative difference within which a phase lasted as long as the drive throttled."""
TO_THE_END: Final = 0.005
"""The same for all phases from one on: of these only one border is uncertain, and more of them fit by chance."""
ALIKE: Final = 1.5
"""The longest request over the mean one, below which none waited: a program takes far longer than a buffered write."""
AT_ONCE_S: Final = 40e-6
"""A request takes no longer than this, beside its way over the link, where nothing is waited for."""
AT_ONCE: Final = 0.1
"""Nor do they all together take longer than the soonest of them by more than this share of the time."""
PROGRAM_S: Final = 80e-6
"""No program of a page takes less: a write that is in the cells sooner is safe in a protected buffer."""
DRAM_BYTES, DRAM_SHARE, SURELY_DRAM = 4e9, 0.01, 0.002
"""A buffer takes in no more than so much, and no more than this share of the drive; below the last it is no cache."""
FLUSHED: Final = 0.9
"""Share of the time that writes take which are to be in the cells at once."""
DRAM_FALL: Final = 0.85
"""Behind the buffer a drive is this much slower, or it was no buffer."""


def blackbox_causes(phases: Sequence[Phase], context: MeasurementContext) -> list[CauseEstimate]:
    """The cause of each phase of a curve, in their order, with how sure (0 to 1) and why.

    Args:
        phases: from `find_phases`; the write began on an empty drive.
    """
    if context.random and not context.access_patterns:
        return [_around(phases, index, context) or _at_random(phases, index, context) for index in range(len(phases))]
    hot, lasted = _throttled(phases, context.throttled_s) if context.throttled_s else (None, 0.0)
    # What the cells did is read off the other phases.
    cool = [index for index in range(len(phases)) if index != hot]
    # A slow start weighs on the mean of the first phase, and tells nothing of the cells.
    usual = [replace(phases[0], bytes_per_s=phases[0].usual_bytes_per_s or phases[0].bytes_per_s), *phases[1:]]
    usual = [usual[index] for index in cool]
    what = classify_phases(usual, context)
    work = plateaus(usual, what)
    drive: list[CauseEstimate] = []
    found: dict[int, CauseEstimate] = {}
    for number, level in enumerate(work):
        own = [part for part in level.parts if what[part] == "cells"] or list(level.parts)
        index = cool[max(own, key=lambda part: usual[part].to_bytes - usual[part].from_bytes)]
        why = _around(phases, index, context) or nand_cause([one.phase for one in work], number, context, drive)
        drive.append(why)
        for part in level.parts:
            said = _around(phases, cool[part], context) or _part(usual, part, what[part], why)
            found[cool[part]] = replace(
                said, nand_state=said.nand_state or ("" if what[part] == "memory" else why.nand_state)
            )
    if hot is not None:
        because = f"the drive throttled for {context.throttled_s:.0f} s, and from there it lasted {lasted:.0f} s"
        thermal = CauseEstimate("thermal", UNSURE, f"{because}: {format_speed(phases[hot].bytes_per_s)}")
        found[hot] = _around(phases, hot, context) or thermal
    return [found[index] for index in range(len(phases))]


def _at_random(phases: Sequence[Phase], index: int, context: MeasurementContext) -> CauseEstimate:
    """Written at random places nobody knows: a fall once the spare area may be used up is collection."""
    phase = phases[index]
    rate = format_speed(phase.bytes_per_s)
    fastest = max(one.bytes_per_s for one in phases[: index + 1])
    full = context.prefilled or (
        context.capacity_bytes is not None and phase.from_bytes >= SPARE * context.capacity_bytes
    )
    if full and phase.bytes_per_s < FALLEN * fastest:
        share = f"{100 * phase.bytes_per_s / fastest:.0f} % of the fastest"
        return CauseEstimate("gc", SURE, f"random writes, and slower when the spare area is used up: {rate}, {share}")
    return CauseEstimate("unknown", 0.0, f"written at random places, so the curve does not tell of a cache: {rate}")


def _part(phases: Sequence[Phase], index: int, kind: PhaseKind, cells: CauseEstimate) -> CauseEstimate:
    """The cause of a phase that is a part of what the cells did."""
    phase = phases[index]
    rate = format_speed(phase.bytes_per_s)
    if kind == "start":
        return CauseEstimate("unknown", 0.0, f"faster afterwards, so the drive was not ready, or not idle: {rate}")
    if kind == "dip" and cells.cause in ("native", "gc"):
        return CauseEstimate("gc", LIKELY, f"for a moment, as native cells are collected: {rate}")
    if kind == "dip":
        return CauseEstimate(
            "thermal", UNSURE, f"for a moment, too short to have emptied a cache, as heat does: {rate}"
        )
    if kind == "heat":
        because = f"slower than before, but too early for a cache to be full, as when heat throttles: {rate}"
        return CauseEstimate("thermal", UNSURE, because)
    if kind == "memory":
        behind = format_speed(phases[index + 1].bytes_per_s)
        return CauseEstimate(
            "page-cache", GUESSED, f"far faster than what follows, {behind}, and no cache ends so soon: {rate}"
        )
    if kind == "tier" and cells.cause == "pslc":
        return CauseEstimate(
            "pslc",
            LIKELY,
            f"the faster part of a cache that goes on at {format_speed(phases[index + 1].bytes_per_s)}: {rate}",
        )
    return cells


def _around(phases: Sequence[Phase], index: int, context: MeasurementContext) -> CauseEstimate | None:
    """What is around the cells: a drive that slept, others, the page cache, the DRAM, the link, the host."""
    if index == 0:
        woken = _woken(phases[0], context)
        if woken is not None:
            return woken
    speed, most = phases[index].bytes_per_s, context.link_bytes_per_s
    if context.other_share is not None and context.other_share[index] >= OTHERS:
        because = f"{100 * context.other_share[index]:.0f} % of what the drive moved was for others"
        return CauseEstimate("other", LIKELY, f"{because}: {format_speed(speed)}")
    flushed = _flushed(index, phases[index], context)
    if flushed is not None:
        return flushed
    full = _at_its_best(phases[index])
    carried = "" if most is None else f"{format_speed(full)} is {100 * full / most:.0f} % of what the link carries"
    if most is not None and speed > BEYOND * most:
        return CauseEstimate("page-cache", SURE, f"memory took it in: {carried}")
    if index == 0 and not context.buffered:
        taken = _buffered_by_the_drive(phases, context)
        if taken is not None:
            return taken
    if most is not None and full >= LINK_FULL * most:
        return CauseEstimate("link", SURE, f"the link is full: {carried}")
    if _link_is_full(phases[index], context):
        return CauseEstimate("link", LIKELY, f"the link is full, with the commands of small requests: {carried}")
    return _of_the_host(phases, index, context)


def _link_is_full(phase: Phase, context: MeasurementContext) -> bool:
    """Whether the link carries what it can, in requests of the size that the host made."""
    if context.link_bytes_per_s is None:
        return False
    place = context.pattern_at((phase.from_bytes + phase.to_bytes) / 2)
    commands = 0.0 if place is None else context.command_bytes / place.request_bytes
    return _at_its_best(phase) * (1.0 + commands) >= LINK_FULL * context.link_bytes_per_s


def _at_its_best(phase: Phase) -> float:
    """What half of the bytes were faster than, where moments alone make the mean lower."""
    usual = phase.usual_bytes_per_s
    return max(phase.bytes_per_s, usual) if phase.bytes_per_s >= MOSTLY * usual else phase.bytes_per_s


def _woken(phase: Phase, context: MeasurementContext) -> CauseEstimate | None:
    """A first request that took a large part of the phase, after a silence."""
    if (
        context.first_request_extra_s is None
        or context.silence_s == 0.0
        or context.first_request_extra_s < WAKING * _seconds(phase)
    ):
        return None
    because = f"the first request took {1e3 * context.first_request_extra_s:.3g} ms longer than those after it"
    share = f"{100 * context.first_request_extra_s / _seconds(phase):.0f} % of the time"
    if context.silence_s is None:
        return CauseEstimate(
            "power", UNSURE, f"{because}, {share}, as after a pause: {format_speed(phase.bytes_per_s)}"
        )
    after = f"after {context.silence_s:.3g} s of silence"
    return CauseEstimate("power", SURE, f"{because}, {share}, {after}: {format_speed(phase.bytes_per_s)}")


def _flushed(index: int, phase: Phase, context: MeasurementContext) -> CauseEstimate | None:
    """Writes one at a time, each of which waits for a program of the cells before the next is made."""
    size = context.flushed_bytes((phase.from_bytes + phase.to_bytes) / 2)
    if size is None:
        return None
    each = size / phase.bytes_per_s
    waits = each - (size / context.link_bytes_per_s if context.link_bytes_per_s else 0.0)
    # Where the write itself takes longer than what follows it, that is what is waited for: but a write that is to be in
    # the cells at once (sync, dsync) has nothing behind it.
    written = context.mean_s[index] if context.mean_s is not None else 0.0
    if waits < PROGRAM_S or (1 - FLUSHING) * each < written < FLUSHED * each:
        return None
    because = f"each write of {size / 1e3:.3g} kB waits {1e6 * waits:.0f} us to be in the cells"
    return CauseEstimate("flush", LIKELY, f"{because}: {format_speed(phase.bytes_per_s)}")


def _buffered_by_the_drive(phases: Sequence[Phase], context: MeasurementContext) -> CauseEstimate | None:
    """A short first phase, as fast as it can come, and slower cells behind it."""
    first = phases[0]
    size = first.to_bytes
    if len(phases) == 1 or context.capacity_bytes is None or phases[1].bytes_per_s > DRAM_FALL * first.bytes_per_s:
        return None
    # Where the host writes elsewhere from then on, that is why.
    if context.pattern_at(size / 2) != context.pattern_at(1.05 * size):
        return None
    if size > min(DRAM_BYTES, DRAM_SHARE * context.capacity_bytes):
        return None
    behind = f"{format_bytes(size)} at {format_speed(first.bytes_per_s)} and then {format_speed(phases[1].bytes_per_s)}"
    full = _link_is_full(replace(first, usual_bytes_per_s=0.0), context)
    if full or _at_once(0, first, context):
        how = "as fast as the link carries" if full else "and no request waited"
        return CauseEstimate("dram", LIKELY, f"the drive's buffer took it in, {how}: {behind}")
    if size <= SURELY_DRAM * context.capacity_bytes:
        return CauseEstimate(
            "dram", LIKELY, f"too little for a cache of cells, so the drive's buffer took it in: {behind}"
        )
    return None


def _of_the_host(phases: Sequence[Phase], index: int, context: MeasurementContext) -> CauseEstimate | None:
    """The page cache, the processor, a host that asks one thing at a time."""
    speed = phases[index].bytes_per_s
    if context.buffered and index == 0:
        if len(phases) > 1 and phases[1].bytes_per_s < speed:
            return CauseEstimate(
                "page-cache",
                LIKELY,
                f"written through the page cache, and slower when that is full: {format_speed(speed)}",
            )
        return CauseEstimate(
            "page-cache", UNSURE, f"written through the page cache, which hides the drive: {format_speed(speed)}"
        )
    if context.cpu_share is not None and context.cpu_share[index] >= BUSY_CPU:
        return CauseEstimate(
            "cpu", LIKELY, f"the processor was busy {100 * context.cpu_share[index]:.0f} % of the time"
        )
    if _at_once(index, phases[index], context) and context.mean_s is not None and context.longest_s is not None:
        mean, longest = 1e6 * context.mean_s[index], 1e6 * context.longest_s[index]
        because = f"nothing waited: one request at a time, of {mean:.0f} us and none above {longest:.0f}"
        return CauseEstimate("host", LIKELY, because)
    return None


def _at_once(index: int, phase: Phase, context: MeasurementContext) -> bool:
    """Whether each request of a host that has one under way at a time was answered at once."""
    uneven = context.unevenness(index)
    if (
        not context.is_depth_one
        or uneven is None
        or uneven > ALIKE
        or context.mean_s is None
        or context.wait_share(index) > AT_ONCE
    ):
        return False
    place = context.pattern_at((phase.from_bytes + phase.to_bytes) / 2)
    if place is None or context.link_bytes_per_s is None:
        return True
    return context.mean_s[index] < place.request_bytes / context.link_bytes_per_s + AT_ONCE_S


def _throttled(phases: Sequence[Phase], throttled_s: float) -> tuple[int | None, float]:
    """The phase, slower than the one before it, that lasted as long as the drive throttled, or from which on all did,
    whatever slowed the later ones besides; and how long that was. None when there is none."""
    fits: list[tuple[float, int, float]] = []
    for index in range(1, len(phases)):
        if phases[index].bytes_per_s < phases[index - 1].bytes_per_s:
            for run, most in ((phases[index : index + 1], AS_LONG), (phases[index:], TO_THE_END)):
                lasted = sum(_seconds(phase) for phase in run)
                off = abs(lasted / throttled_s - 1)
                if off < most:
                    fits.append((off, index, lasted))
    return min(fits)[1:] if fits else (None, 0.0)


def _seconds(phase: Phase) -> float:
    return (phase.to_bytes - phase.from_bytes) / phase.bytes_per_s
