"""End and recovery of an SLC cache as the drive itself reports it, by the free share of its buffer."""

from typing import Final

import numpy as np

from pslc.recording.model import Recording
from pslc.recording.writes.curve import WriteTrack
from pslc.schema.facts import CACHE_FREE_TENTHS, Moment

DELAY_NS: Final = 1_500_000_000
"""Longest time until a report is recorded: the drive is asked once a second, at a look of 0.1 s."""
MIN_REST_NS: Final = 1_000_000_000
"""Shortest silence in which the drive is asked."""
MIN_FREE_TENTHS: Final = 2
"""Free tenths of a buffer that is not full: one that is emptied meanwhile may stay at a tenth."""
TENTHS: Final = 10


def reported_end(recording: Recording) -> tuple[float, float] | None:
    """Bytes written when the buffer was first used up, lowest and highest; None where no report says so.

    A tenth may have been rounded down, and the writes under way may be in the buffer before they count as written.
    """
    tenths = recording.bytes.get(CACHE_FREE_TENTHS)
    if tenths is None or not (tenths < MIN_FREE_TENTHS).any() or tenths[0] < MIN_FREE_TENTHS:
        return None
    track, ends_ns = WriteTrack.of(recording), recording.bytes["end_ns"]
    first = int(np.argmax(tenths < MIN_FREE_TENTHS))
    rises = np.flatnonzero(np.diff(tenths[first:].astype(np.int64)) > 0)
    empty = first + int(np.argmin(tenths[first : first + int(rises[0]) + 1 if rises.size else None]))
    # The report before: not earlier than its value was there, and within the longest time between two reports.
    unlike = np.flatnonzero(tenths[:empty] != tenths[empty - 1])
    before = max(
        int(unlike[-1]) + 1 if unlike.size else 0,
        int(np.searchsorted(ends_ns, max(int(ends_ns[empty - 1]) - DELAY_NS, 0))),
    )
    report = recording.facts.get("before", Moment()).get("cache")
    used_bytes = float(track.edges_bytes[empty + 1]) + track.under_way_bytes
    size = (report["bytes"] if report else None) or used_bytes
    return float(track.edges_bytes[before]), used_bytes + size * (int(tenths[empty]) + 1) / TENTHS


def reported_rest(recording: Recording) -> tuple[float, int, int] | None:
    """Seconds of idle time after which the free share first rose, and the tenths before and at the end of that idle
    time: where it rose most; None where it never rose."""
    columns = recording.time
    tenths, ends_ns = columns.get(CACHE_FREE_TENTHS), columns["end_ns"]
    moves = np.flatnonzero(columns["write_bytes"] + columns["read_bytes"])
    rests: list[tuple[float, int, int]] = []
    for place in np.flatnonzero(np.diff(ends_ns[moves]) > MIN_REST_NS) if tenths is not None else ():
        first, after = int(moves[place]), int(moves[place + 1])
        assert tenths is not None
        rest = tenths[first:after].astype(np.int64)
        low = int(np.argmin(rest))
        if (rises := np.flatnonzero(rest[low:] > rest[low])).size:
            rose_ns = int(ends_ns[first + low + rises[0]]) - int(ends_ns[first])
            rests.append((rose_ns / 1e9, int(rest[low]), int(rest[-1])))
    return max(rests, key=lambda rest: rest[2] - rest[1], default=None)
