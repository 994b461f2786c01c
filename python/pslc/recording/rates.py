"""Speed over time, with gaps where nothing was asked of the drive."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pslc.recording import stalls
from pslc.recording.model import Columns, Recording

Floats = NDArray[np.float64]

MIN_UNASKED_S: Final = 1.0
"""Time without a request that is a gap in a curve; a request in flight may last longer than a bin, and leaves shorter
silences."""


def speed_by_time(recording: Recording, kind: str) -> tuple[Floats, Floats]:
    """Seconds since the start at the end of each bin, and bytes/s within it; not a number where nothing was asked of
    the drive for `MIN_UNASKED_S`, neither reads nor writes nor trims, and in the bin in which pslc did not run."""
    series = recording.time
    ends = np.concatenate([[recording.start_ns], series["end_ns"]]).astype(np.float64)
    seconds = np.maximum(np.diff(ends), 1.0) / 1e9
    speed = series[f"{kind}_bytes"] / seconds
    x, silent = (ends[1:] - recording.start_ns) / 1e9, is_silent(series, seconds)
    at = np.searchsorted(x, [gap["at_s"] for gap in recording.gaps])
    silent[at[at < len(x)]] = True
    return x, np.where(silent, np.nan, speed)


def writing_s(recording: Recording, *, paced: bool) -> float:
    """Seconds in which jobs that wrote were at work or the drive stalled: neither between such jobs nor, where the host
    is `paced`, in its silences."""
    held = [(int(1e9 * stall["at_s"]), int(1e9 * stall["duration_s"])) for stall in stalls.of_recording(recording)]
    spans = [(recording.start_ns + at, recording.start_ns + at + duration) for at, duration in held]
    writing = [job for job in recording.jobs if job["write"]["io_bytes"]]
    spans += [(job["start_ns"], job["start_ns"] + job.get("elapsed_ns", 0)) for job in writing]
    edges = np.append(recording.start_ns, recording.time["end_ns"]).astype(np.float64)
    silent = is_silent(recording.time, np.diff(edges) / 1e9) & paced
    working = silence = covered = 0.0
    for start, end in sorted(spans):
        begin = max(start, covered)
        within = np.clip(edges, begin, max(end, begin))
        working += float(within[-1] - within[0]) / 1e9
        silence += float(np.diff(within)[silent].sum()) / 1e9
        covered = max(covered, end)
    return working - max(silence - sum(duration for _, duration in held) / 1e9, 0.0)


def is_silent(series: Columns, seconds: Floats) -> NDArray[np.bool_]:
    """Whether each bin lies in a stretch of `MIN_UNASKED_S` or more without a request.

    Args:
        seconds: how long each bin is, shape (n,).
    """
    empty = (series["reads"] + series["writes"] + series["trims"]) == 0
    edges = np.flatnonzero(np.diff(empty.astype(np.int8), prepend=0, append=0))
    silent = np.zeros(len(empty), dtype=np.bool_)
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        silent[start:end] = seconds[start:end].sum() >= MIN_UNASKED_S
    return silent
