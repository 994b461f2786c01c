"""Causes of a slowdown while a drive works, as far as they can be determined without its counters."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pslc.analysis.slowdowns import Slowdown
from pslc.analysis.thresholds import MIN_PAUSE_S
from pslc.recording.warnings import HOT, THERMAL
from pslc.schema.facts import Change, HealthLog

NEAR_S: Final = 60.0
"""A change of the link so long before a fall, or after it was noticed, belongs to it: it is looked at while the drive
works, every 10 s at most."""
SAME: Final = 0.2
"""Amounts that differ by a smaller share are the same cache."""
LEAST_CACHE: Final = 128e6
"""Bytes: less is in a drive's DRAM, or an accident."""
FLUSHED: Final = 3.0
"""Smallest ratio of flushes per request, after to before, at which flushes are the cause."""

CAUSES: Final = {
    "link": "the link had trained lower",
    "heat": "the drive throttled for heat",
    "flush": "writes were flushed more often",
    "cache": "the SLC cache was full",
    "room": "the drive was folding or collecting garbage beside the writes",
    "untold": "the drive was slow, or less was asked of it: nothing tells whether requests waited",
    "unknown": "the cause cannot be determined without the drive's counters",
}
"""Causes of a slowdown, in the order in which they are tested."""


@dataclass(frozen=True)
class Because:
    """Cause of a slowdown, one of `CAUSES`, and its certainty: `sure`, `very likely`, `likely`, `perhaps`; empty if the
    cause is unknown."""

    cause: str
    sureness: str


def why(fall: Slowdown, slowdowns: Sequence[Slowdown], changes: Sequence[Change], throttled: bool | None) -> Because:
    """Determine the cause of a slowdown.

    Args:
        slowdowns: all falls that were seen.
        changes: of the link, as `Asked.changes`.
        throttled: the drive's own counters of heat rose while it was watched; None where it has none.
    """
    if any(lower(event) and abs(event["at_s"] - fall.at_s) <= NEAR_S for event in changes):
        return Because("link", "sure")
    if fall.after.celsius >= HOT and throttled is not False:
        return Because("heat", "very likely" if throttled else "likely")
    return _cause_of_writes(fall, slowdowns) if fall.kind == "write" else Because("unknown", "")


def _cause_of_writes(fall: Slowdown, slowdowns: Sequence[Slowdown]) -> Because:
    rise = fall.after.flushes / fall.before.flushes if fall.before.flushes > 0 else math.inf
    if fall.after.flushes > 0.1 and rise >= FLUSHED:
        return Because("flush", "likely")
    if fall.is_further:
        return Because("room", "likely")
    if fall.since_pause_bytes < LEAST_CACHE:
        return Because("unknown", "")
    again = any(_fell_alike(fall, event) for event in slowdowns if event is not fall)
    # A drive that was slow after a short pause, and fast after a longer one, folds in pauses.
    surely = fall.recovery.idle_s >= MIN_PAUSE_S and (again or fall.recovery.insufficient_idle_s)
    return Because("cache", "very likely" if surely else "likely")


def _fell_alike(fall: Slowdown, event: Slowdown) -> bool:
    """Whether writes fell once more after as many bytes since a pause."""
    is_first_fall = event.kind == "write" and event.pause_observed and not event.is_further
    return is_first_fall and abs(event.since_pause_bytes - fall.since_pause_bytes) <= SAME * fall.since_pause_bytes


def lower(change: Change) -> bool:
    """Whether a change is one of the link, to less."""
    return change["what"] == "link" and carries(change["to"]) < carries(change["from"])


def carries(link: str) -> float:
    """Relative data rate of a link: `16.0 GT/s PCIe x4` is 64."""
    speed, _, rest = link.partition(" ")
    return float(speed) * int(rest.rpartition("x")[2])


def throttled(logs: Sequence[HealthLog]) -> bool | None:
    """Whether NVMe's counters of heat rose from the first log to the last; None where there are none."""
    if len(logs) < 2:
        return None
    rose = [logs[-1][name] > logs[0][name] for name in THERMAL if all(name in log for log in logs)]
    return any(rose) if rose else None
