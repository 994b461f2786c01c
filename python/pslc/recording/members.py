"""Members of a simulated array: which of them holds it back, and how far a spare is rebuilt."""

from typing import Final

from pslc.recording.model import Recording
from pslc.schema.facts import ArrayFacts
from pslc.schema.warnings import Extent, Level, MeasurementWarning, WarningCode

MIN_HELD_SHARE: Final = 0.1
"""Least share of the time of requests that is waiting for one member alone, where that holds its array back."""
MIN_HELD_RATIO: Final = 2.0
"""Least ratio of the time that requests wait for it alone to that for any other member."""


class MemberNote(WarningCode):
    """Notes on the members of an array."""

    SLOWEST = (
        "member {member} ({drive}) holds the array back: {percent:.0f} % of the time of requests was waiting for it "
        "alone, for another {next_percent:.0f} % at most"
    )
    EVEN = "no member holds the array back: at most {percent:.0f} % of the time of requests was waiting for one alone"
    REBUILT = "the spare (member {member}) is rebuilt up to {size}, {percent:.0f} % of it"
    WHOLE = "the spare (member {member}) is rebuilt"


def of_its_members(recording: Recording) -> list[MeasurementWarning]:
    """Notes on the members of an array by what each waited for its requests; none of a single drive."""
    of = recording.facts.get("array")
    if of is None:
        return []
    noted = [_slowest(_held_shares(recording, len(of["members"])), of)]
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


def _held_shares(recording: Recording, count: int) -> list[float]:
    """Share of the time of all requests in which they waited for a member alone, of each member."""

    def grown(name: str) -> int:
        return recording.totals[name] - recording.before[name]

    asked_ns = sum(grown(name) for name in recording.totals if name.startswith("waited_"))
    return [grown(f"member{member}_held_ns_total") / max(asked_ns, 1) for member in range(count)]


def _slowest(shares: list[float], of: ArrayFacts) -> MeasurementWarning:
    next_share, share = sorted(shares)[-2:]
    percents = {"percent": 100 * share, "next_percent": 100 * next_share}
    if share < max(MIN_HELD_SHARE, MIN_HELD_RATIO * next_share):
        return MemberNote.EVEN.of(**percents)
    slowest = shares.index(share)
    return MemberNote.SLOWEST.of(member=slowest, drive=of["members"][slowest], **percents)
