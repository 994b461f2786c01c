"""Whether the host keeps up with the drive that it serves."""

from typing import Final

from pslc.base import words
from pslc.schema.facts import ServedStatus

MIN_LATE_SHARE: Final = 0.05
MIN_LATE_S: Final = 10e-6
"""Replies that are later than both, on average, are told."""
MIN_BUSY: Final = 0.9
"""Share of the processors' time above which the pause before a client's next request is the host's delay as well."""
MIN_REPLIES: Final = 200
"""Replies of which an average is taken."""


def too_slow(status: ServedStatus) -> str | None:
    """Sentence that the host is too slow for the drive, and by how much; None if it is not.

    A reply may leave late, and a request waits for a processor before and after that if they are busy.
    """
    busy = status["busy"]
    waits_s = status["turn_s"] if busy is not None and busy >= MIN_BUSY else 0.0
    slower_s = status["late_s"] + waits_s
    if status["replies"] < MIN_REPLIES or slower_s < max(MIN_LATE_S, MIN_LATE_SHARE * status["drive_s"]):
        return None
    sentence = f"a request takes {words.span(slower_s)} longer than the {words.span(status['drive_s'])} of the drive"
    late_s, late_p99_s = words.span(status["late_s"]), words.span(status["late_p99_s"])
    late = f"replies leave {late_s} late on average, 99 % within {late_p99_s}"
    return f"{sentence} ({late}{'' if busy is None else f'; processors {busy:.0%} busy'})"
