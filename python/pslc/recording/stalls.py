"""Times in which a real drive answered nothing, or pslc did not run: when, how long, and what was under way."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from pslc.base import words
from pslc.recording.model import Recording
from pslc.schema.facts import Facts
from pslc.schema.results import Result, Silence, Stall


def joined(results: Iterable[Result | Facts]) -> Facts:
    """The stalls and the gaps of all of these, in their order."""
    parts = list(results)
    return Facts(
        stalls=[stall for part in parts for stall in part.get("stalls", [])],
        gaps=[gap for part in parts for gap in part.get("gaps", [])],
    )


def of_recording(recording: Recording) -> list[Stall]:
    """The stalls of a recording, with `at_s` since its start."""
    return [{**stall, "at_s": recording.since_start_s(stall)} for stall in recording.facts.get("stalls", [])]


def waiting(silence: Silence, now: datetime) -> str:
    """Sentence on a drive that does not answer: for how long, and what is under way since when."""
    return f"no request answered for {whole_s(silence['duration_s'])}; {under_way(silence, now)}"


def whole_s(seconds: float) -> str:
    """`14 s`, `2 min 5 s`: silences are looked at ten times a second, and told in whole seconds."""
    return f"{seconds:.0f} s" if seconds < 60 else words.span(round(seconds))


def under_way(silence: Silence, now: datetime | None = None) -> str:
    """`8 under way, the oldest a write of 1 MiB at 20.5 GB since 14:03:07`; of a recording without the time."""
    oldest = f"a {silence['op']}"
    if silence["op"] != "flush":
        oldest += f" of {words.block(silence['bytes'])} at {words.size(silence['offset'])}"
    if now is not None:
        oldest += f" since {now - timedelta(seconds=silence['waited_s']):%H:%M:%S}"
    count = silence["under_way"]
    return f"{count} under way, the oldest {oldest}" if count > 1 else f"{oldest} is under way"
