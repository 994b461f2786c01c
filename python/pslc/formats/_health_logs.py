"""Health logs of several files: whose each is, and which is the earlier one."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from pslc.base.errors import RecordingError
from pslc.formats import FileContents
from pslc.schema.facts import HealthJson

COUNTERS: Final = ("power_on_hours", "data_units_written", "data_units_read", "power_cycles", "host_writes")
"""Fields of a health log that never fall in a drive's life, in the order in which they tell which log is the later."""
UNKNOWN: Final = "nothing in these logs tells whose they are, so they are taken for those of one drive"


def by_drive(logs: Sequence[tuple[Path, FileContents]]) -> list[FileContents]:
    """The logs of each drive, the earliest first; the drive that is worst comes first.

    Args:
        logs: files, each with the one log that it holds.

    Raises:
        RecordingError: counters of a drive fall from one of its logs to the next.
    """
    owners = dict.fromkeys(contents.drive for _, contents in logs)
    drives = [_of_drive([log for log in logs if log[1].drive == owner]) for owner in owners]
    names = [drive.name for drive in drives]
    for drive in drives:
        if names.count(drive.name) > 1 and drive.drive:
            drive.name = f"{drive.name}, {drive.drive}"
    return sorted(drives, key=_worst_first)


def _worst_first(drive: FileContents) -> tuple[bool, int]:
    """Key to sort drives by: those that report a fault, then by the life that is used."""
    return not drive.health[-1].get("critical_warning"), -int(drive.health[-1].get("percentage_used") or 0)


def _of_drive(logs: Sequence[tuple[Path, FileContents]]) -> FileContents:
    clocks = [contents.logged_unix for _, contents in logs]
    # A clock may be wrong where counters are not; they decide where there are none.
    has_clocks = all(clocks) and len(set(clocks)) == len(clocks)
    ordered = sorted(logs, key=lambda log: log[1].logged_unix if has_clocks else _counted(log[1].health[0]))
    for (earlier, a), (later, b) in pairwise(ordered):
        _refuse_falling(earlier, a.health[0], later, b.health[0])
    first, last = ordered[0][1], ordered[-1][1]
    whole = replace(first, health=[log for _, contents in ordered for log in contents.health], path=ordered[0][0])
    whole.warnings = list(dict.fromkeys(warning for _, contents in ordered for warning in contents.warnings))
    if has_clocks:
        whole.logs_apart_s = last.logged_unix - first.logged_unix
    if len(logs) > 1 and not first.drive:
        whole.note(UNKNOWN)
    return whole


def _counted(log: HealthJson) -> tuple[int, ...]:
    return tuple(int(log.get(name, 0)) for name in COUNTERS)


def _refuse_falling(earlier: Path, before: HealthJson, later: Path, after: HealthJson) -> None:
    for name in COUNTERS:
        if name in before and name in after and after[name] < before[name]:
            what = f"{name.replace('_', ' ')} fall from {before[name]} to {after[name]}"
            raise RecordingError(
                f"{earlier} and {later} cannot be logs of one drive: {what}", "give logs of one drive, or each alone"
            )
