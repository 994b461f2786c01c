"""Why each phase of a write has its speed, seen from outside: from the curve and what a tester knows besides.

What surrounds the cells is known from its own side: the link, the processor, the page cache, heat, a drive that slept,
others who use it, and its DRAM, which takes in the first of a burst. What remains is what the cells did (`cells.py`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pslc.analysis.causes import BUSY_CPU, FLUSHING, OTHERS, WAKING, Evidence, gb
from pslc.analysis.cells import GUESSED, LIKELY, SURE, UNSURE, mb, of_the_cells
from pslc.analysis.levels import BEYOND, Kind, kinds, levels
from pslc.analysis.phases import Phase
from pslc.analysis.seen import Seen

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


def causes_from_outside(phases: Sequence[Phase], seen: Seen) -> list[Evidence]:
    """The cause of each phase of a curve, in their order, with how sure (0 to 1) and why.

    Args:
        phases: from `find_phases`; the write began on an empty drive.
    """
    if seen.random and not seen.places:
        return [_around(phases, index, seen) or _at_random(phases, index, seen) for index in range(len(phases))]
    hot, lasted = _throttled(phases, seen.throttled_s) if seen.throttled_s else (None, 0.0)
    # What the cells did is read off the other phases.
    cool = [index for index in range(len(phases)) if index != hot]
    # A slow start weighs on the mean of the first phase, and tells nothing of the cells.
    usual = [replace(phases[0], bytes_per_s=phases[0].usual_bytes_per_s or phases[0].bytes_per_s), *phases[1:]]
    usual = [usual[index] for index in cool]
    what = kinds(usual, seen)
    work = levels(usual, what)
    drive: list[Evidence] = []
    found: dict[int, Evidence] = {}
    for number, level in enumerate(work):
        own = [part for part in level.parts if what[part] == "cells"] or list(level.parts)
        index = cool[max(own, key=lambda part: usual[part].to_bytes - usual[part].from_bytes)]
        why = _around(phases, index, seen) or of_the_cells([one.phase for one in work], number, seen, drive)
        drive.append(why)
        for part in level.parts:
            said = _around(phases, cool[part], seen) or _part(usual, part, what[part], why)
            found[cool[part]] = replace(said, cells=said.cells or ("" if what[part] == "memory" else why.cells))
    if hot is not None:
        because = f"the drive throttled for {seen.throttled_s:.0f} s, and from there it lasted {lasted:.0f} s"
        thermal = Evidence("thermal", UNSURE, f"{because}: {mb(phases[hot].bytes_per_s)}")
        found[hot] = _around(phases, hot, seen) or thermal
    return [found[index] for index in range(len(phases))]


def _at_random(phases: Sequence[Phase], index: int, seen: Seen) -> Evidence:
    """Written at random places nobody knows: a fall once the spare area may be used up is collection."""
    phase = phases[index]
    rate = mb(phase.bytes_per_s)
    fastest = max(one.bytes_per_s for one in phases[: index + 1])
    full = seen.prefilled or (seen.capacity_bytes is not None and phase.from_bytes >= SPARE * seen.capacity_bytes)
    if full and phase.bytes_per_s < FALLEN * fastest:
        share = f"{100 * phase.bytes_per_s / fastest:.0f} % of the fastest"
        return Evidence("gc", SURE, f"random writes, and slower when the spare area is used up: {rate}, {share}")
    return Evidence("unknown", 0.0, f"written at random places, so the curve does not tell of a cache: {rate}")


def _part(phases: Sequence[Phase], index: int, kind: Kind, cells: Evidence) -> Evidence:
    """The cause of a phase that is a part of what the cells did."""
    phase = phases[index]
    rate = mb(phase.bytes_per_s)
    if kind == "start":
        return Evidence("unknown", 0.0, f"faster afterwards, so the drive was not ready, or not idle: {rate}")
    if kind == "dip" and cells.cause in ("native", "gc"):
        return Evidence("gc", LIKELY, f"for a moment, as native cells are collected: {rate}")
    if kind == "dip":
        return Evidence("thermal", UNSURE, f"for a moment, too short to have emptied a cache, as heat does: {rate}")
    if kind == "heat":
        because = f"slower than before, but too early for a cache to be full, as when heat throttles: {rate}"
        return Evidence("thermal", UNSURE, because)
    if kind == "memory":
        behind = mb(phases[index + 1].bytes_per_s)
        return Evidence(
            "page-cache", GUESSED, f"far faster than what follows, {behind}, and no cache ends so soon: {rate}"
        )
    if kind == "tier" and cells.cause == "pslc":
        return Evidence(
            "pslc", LIKELY, f"the faster part of a cache that goes on at {mb(phases[index + 1].bytes_per_s)}: {rate}"
        )
    return cells


def _around(phases: Sequence[Phase], index: int, seen: Seen) -> Evidence | None:
    """What is around the cells: a drive that slept, others, the page cache, the DRAM, the link, the host."""
    if index == 0:
        woken = _woken(phases[0], seen)
        if woken is not None:
            return woken
    speed, most = phases[index].bytes_per_s, seen.link_bytes_per_s
    if seen.others is not None and seen.others[index] >= OTHERS:
        because = f"{100 * seen.others[index]:.0f} % of what the drive moved was for others"
        return Evidence("other", LIKELY, f"{because}: {mb(speed)}")
    flushed = _flushed(index, phases[index], seen)
    if flushed is not None:
        return flushed
    full = _at_its_best(phases[index])
    carried = "" if most is None else f"{mb(full)} is {100 * full / most:.0f} % of what the link carries"
    if most is not None and speed > BEYOND * most:
        return Evidence("page-cache", SURE, f"memory took it in: {carried}")
    if index == 0 and not seen.buffered:
        taken = _buffered_by_the_drive(phases, seen)
        if taken is not None:
            return taken
    if most is not None and full >= LINK_FULL * most:
        return Evidence("link", SURE, f"the link is full: {carried}")
    if _link_is_full(phases[index], seen):
        return Evidence("link", LIKELY, f"the link is full, with the commands of small requests: {carried}")
    return _of_the_host(phases, index, seen)


def _link_is_full(phase: Phase, seen: Seen) -> bool:
    """Whether the link carries what it can, in requests of the size that the host made."""
    if seen.link_bytes_per_s is None:
        return False
    place = seen.place((phase.from_bytes + phase.to_bytes) / 2)
    commands = 0.0 if place is None else seen.command_bytes / place.request_bytes
    return _at_its_best(phase) * (1.0 + commands) >= LINK_FULL * seen.link_bytes_per_s


def _at_its_best(phase: Phase) -> float:
    """What half of the bytes were faster than, where moments alone make the mean lower."""
    usual = phase.usual_bytes_per_s
    return max(phase.bytes_per_s, usual) if phase.bytes_per_s >= MOSTLY * usual else phase.bytes_per_s


def _woken(phase: Phase, seen: Seen) -> Evidence | None:
    """A first request that took a large part of the phase, after a silence."""
    if seen.first_s is None or seen.silent_s == 0.0 or seen.first_s < WAKING * _seconds(phase):
        return None
    because = f"the first request took {1e3 * seen.first_s:.3g} ms longer than those after it"
    share = f"{100 * seen.first_s / _seconds(phase):.0f} % of the time"
    if seen.silent_s is None:
        return Evidence("power", UNSURE, f"{because}, {share}, as after a pause: {mb(phase.bytes_per_s)}")
    after = f"after {seen.silent_s:.3g} s of silence"
    return Evidence("power", SURE, f"{because}, {share}, {after}: {mb(phase.bytes_per_s)}")


def _flushed(index: int, phase: Phase, seen: Seen) -> Evidence | None:
    """Writes one at a time, each of which waits for a program of the cells before the next is made."""
    size = seen.flushed_bytes((phase.from_bytes + phase.to_bytes) / 2)
    if size is None:
        return None
    each = size / phase.bytes_per_s
    waits = each - (size / seen.link_bytes_per_s if seen.link_bytes_per_s else 0.0)
    # Where the write itself takes longer than what follows it, that is what is waited for: but a write that is to be in
    # the cells at once (sync, dsync) has nothing behind it.
    written = seen.mean_s[index] if seen.mean_s is not None else 0.0
    if waits < PROGRAM_S or (1 - FLUSHING) * each < written < FLUSHED * each:
        return None
    because = (
        f"each write of {size / 1e3:.3g} kB waits {1e6 * waits:.0f} us to be in the cells: {mb(phase.bytes_per_s)}"
    )
    return Evidence("flush", LIKELY, because)


def _buffered_by_the_drive(phases: Sequence[Phase], seen: Seen) -> Evidence | None:
    """A short first phase, as fast as it can come, and slower cells behind it."""
    first = phases[0]
    size = first.to_bytes
    if len(phases) == 1 or seen.capacity_bytes is None or phases[1].bytes_per_s > DRAM_FALL * first.bytes_per_s:
        return None
    # Where the host writes elsewhere from then on, that is why.
    if seen.place(size / 2) != seen.place(1.05 * size):
        return None
    if size > min(DRAM_BYTES, DRAM_SHARE * seen.capacity_bytes):
        return None
    behind = f"{gb(size)} at {mb(first.bytes_per_s)} and then {mb(phases[1].bytes_per_s)}"
    full = _link_is_full(replace(first, usual_bytes_per_s=0.0), seen)
    if full or _at_once(0, first, seen):
        how = "as fast as the link carries" if full else "and no request waited"
        return Evidence("dram", LIKELY, f"the drive's buffer took it in, {how}: {behind}")
    if size <= SURELY_DRAM * seen.capacity_bytes:
        return Evidence("dram", LIKELY, f"too little for a cache of cells, so the drive's buffer took it in: {behind}")
    return None


def _of_the_host(phases: Sequence[Phase], index: int, seen: Seen) -> Evidence | None:
    """The page cache, the processor, a host that asks one thing at a time."""
    speed = phases[index].bytes_per_s
    if seen.buffered and index == 0:
        if len(phases) > 1 and phases[1].bytes_per_s < speed:
            return Evidence(
                "page-cache", LIKELY, f"written through the page cache, and slower when that is full: {mb(speed)}"
            )
        return Evidence("page-cache", UNSURE, f"written through the page cache, which hides the drive: {mb(speed)}")
    if seen.cpu is not None and seen.cpu[index] >= BUSY_CPU:
        return Evidence("cpu", LIKELY, f"the processor was busy {100 * seen.cpu[index]:.0f} % of the time")
    if _at_once(index, phases[index], seen) and seen.mean_s is not None and seen.longest_s is not None:
        mean, longest = 1e6 * seen.mean_s[index], 1e6 * seen.longest_s[index]
        because = f"nothing waited: one request at a time, of {mean:.0f} us and none above {longest:.0f}"
        return Evidence("host", LIKELY, because)
    return None


def _at_once(index: int, phase: Phase, seen: Seen) -> bool:
    """Whether each request of a host that has one under way at a time was answered at once."""
    uneven = seen.unevenness(index)
    if not seen.one_by_one or uneven is None or uneven > ALIKE or seen.mean_s is None or seen.waited(index) > AT_ONCE:
        return False
    place = seen.place((phase.from_bytes + phase.to_bytes) / 2)
    if place is None or seen.link_bytes_per_s is None:
        return True
    return seen.mean_s[index] < place.request_bytes / seen.link_bytes_per_s + AT_ONCE_S


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
