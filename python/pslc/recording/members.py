"""Members of a simulated array: which of them holds it back, and how far a spare is rebuilt."""

from typing import Final

from pslc.base import words
from pslc.recording.model import Recording
from pslc.schema.facts import ArrayFacts
from pslc.schema.warnings import Extent, Level, MeasurementWarning, WarningCode

MIN_SLOWER_RATIO: Final = 1.1
"""A member holds its array back if its requests take this many times those of the others."""


class MemberNote(WarningCode):
    """Notes on the members of an array."""

    SLOWEST = "member {member} ({drive}) holds the array back: a request takes it {mean}, the others {others} at most"
    EVEN = "no member holds the array back: a request takes each {low} to {high}"
    REBUILT = "the spare (member {member}) is rebuilt up to {size}, {percent:.0f} % of it"
    WHOLE = "the spare (member {member}) is rebuilt"


def of_its_members(recording: Recording) -> list[MeasurementWarning]:
    """Notes on the members of an array by what each waited for its requests; none of a single drive."""
    of = recording.facts.get("array")
    if of is None:
        return []
    means = _means_s(recording, len(of["members"]))
    noted = [_slowest(means, of)] if len(means) > 1 else []
    if of["rebuild"] is not None:
        rebuilt, member_bytes = recording.totals["rebuilt_bytes"], of["member_bytes"]
        if rebuilt:
            percent = 100 * rebuilt / member_bytes
            noted.append(MemberNote.REBUILT.of(member=of["rebuild"], size=Extent(rebuilt), percent=percent))
        elif recording.totals[f"member{of['rebuild']}_requests_total"]:
            noted.append(MemberNote.WHOLE.of(member=of["rebuild"]))
    for note in noted:
        note.level = Level.NOTE
    return noted


def _means_s(recording: Recording, count: int) -> dict[int, float]:
    """Seconds from request to answer in the mean, of each member that was asked for anything."""
    means = {}
    for member in range(count):
        requests, waited_ns = (
            recording.totals[name] - recording.before[name]
            for name in (f"member{member}_requests_total", f"member{member}_waited_ns_total")
        )
        if requests:
            means[member] = waited_ns / requests / 1e9
    return means


def _slowest(means: dict[int, float], of: ArrayFacts) -> MeasurementWarning:
    slowest = max(means, key=means.__getitem__)
    others = max(mean for member, mean in means.items() if member != slowest)
    if means[slowest] < MIN_SLOWER_RATIO * others:
        return MemberNote.EVEN.of(low=words.span(min(means.values())), high=words.span(means[slowest]))
    return MemberNote.SLOWEST.of(
        member=slowest, drive=of["members"][slowest], mean=words.span(means[slowest]), others=words.span(others)
    )
