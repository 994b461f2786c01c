"""Traffic below a run: what its device and the host's memory moved, beside what pslc wrote."""

from collections.abc import Iterator
from typing import Final

from pslc.base import words
from pslc.recording import place
from pslc.recording.model import Recording
from pslc.recording.place import Doubt
from pslc.schema.facts import DiskCounts
from pslc.schema.job_options import traits

MIN_MEMORY_SHARE: Final = 0.9
"""Share of the writes from which pages of memory that became dirty meanwhile are those writes."""
MAX_UNSEEN_RATIO: Final = 0.05
"""Relative difference between what the device moved and what pslc did from which it is said."""
SECTORS_WRITTEN: Final = 6
"""Column of `/sys/block/NAME/stat`."""
SECTOR_BYTES: Final = 512


def is_direct(recording: Recording) -> bool:
    """Whether all jobs of a run asked for a way past the page cache."""
    return all(traits(job)["direct"] for job in recording.jobs)


def moved_ratio(recording: Recording, *kinds: str) -> float | None:
    """Bytes that the device moved over those that pslc read and wrote, of these kinds; None where the device does not
    count, pslc moved nothing, or the run ended in an error: the device counts the requests that were under way then."""
    names = [f"device_{kind}_bytes_total" for kind in kinds]
    if recording.error is not None or not all(name in recording.totals for name in names) or not is_direct(recording):
        return None
    moved = sum(recording.totals[name] - recording.before[name] for name in names)
    ours = sum({"read": recording.read_bytes, "write": recording.written_bytes}[kind] for kind in kinds)
    return moved / ours if ours else None


def through_memory(recording: Recording) -> Doubt | None:
    """Doubt about writes that went through the page cache though they asked for a way past it. Where the file system is
    known to let them past, dirty pages are of other programs."""
    written, dirtied = recording.written_bytes, recording.facts.get("dirtied_bytes", 0)
    if not written or dirtied < MIN_MEMORY_SHARE * written or not is_direct(recording):
        return None
    if place.keeps_direct(recording.facts):
        return None
    return Doubt(f"{_of(dirtied, written)} went through memory", place.way_past_memory(recording.facts))


def left_in_memory(recording: Recording) -> Doubt | None:
    """Doubt about writes that had not reached the device when the run ended. A device that moved nothing at all may not
    count (`queue/iostats`)."""
    ratio = moved_ratio(recording, "write")
    if ratio is None or not 0.0 < ratio < 1.0 - MAX_UNSEEN_RATIO:
        return None
    amount = _of(ratio * recording.written_bytes, recording.written_bytes)
    return Doubt(f"{amount} had reached the device when the run ended", place.way_past_memory(recording.facts))


def own_extra(recording: Recording) -> Doubt | None:
    """Doubt about a device that moved more than was written, by what the place itself writes."""
    ratio, reason = moved_ratio(recording, "read", "write"), place.own_traffic(recording.facts)
    if ratio is None or reason is None or ratio < 1.0 + MAX_UNSEEN_RATIO:
        return None
    ours = recording.read_bytes + recording.written_bytes
    return Doubt(f"the device moved {words.size(ratio * ours)} for {words.size(ours)} of the run", reason)


def of_members(recording: Recording) -> Iterator[str]:
    """Sentence on the bytes that each of several drives was written; none of a single drive."""
    if counts := recording.facts.get("member_counts"):
        parts = [f"{drive['name']} {words.size(_written(drive))}" for drive in counts]
        yield f"of {words.size(recording.written_bytes)}, the drives below were written: {', '.join(parts)}"


def _written(counts: DiskCounts) -> int:
    return SECTOR_BYTES * (counts["after"][SECTORS_WRITTEN] - counts["before"][SECTORS_WRITTEN])


def _of(part: float, whole: float) -> str:
    """`401 of 400 MB`, `252 MB of 2.00 GB`."""
    number, unit = words.size(part).split(" ")
    return f"{number if words.size(whole).endswith(f' {unit}') else words.size(part)} of {words.size(whole)}"
