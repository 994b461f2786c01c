"""Speed over time, with gaps where nothing was asked of the drive."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pslc.recording import stalls
from pslc.recording.model import Columns, Recording

Floats = NDArray[np.float64]

MIN_SILENCE_S: Final = 1.0
"""Time without a request that is a gap in a curve; a request in flight may last longer than a bin, and leaves shorter
silences."""


def speed_by_time(recording: Recording, kind: str) -> tuple[Floats, Floats]:
    """Seconds since the start at the end of each bin, and bytes/s within it; not a number where nothing was asked of
    the drive for `MIN_SILENCE_S`, neither reads nor writes nor trims."""
    series = recording.time
    ends = np.concatenate([[recording.start_ns], series["end_ns"]]).astype(np.float64)
    seconds = np.maximum(np.diff(ends), 1.0) / 1e9
    speed = series[f"{kind}_bytes"] / seconds
    return (ends[1:] - recording.start_ns) / 1e9, np.where(is_silent(series, seconds), np.nan, speed)


def silence_s(recording: Recording) -> float:
    """Seconds of silence between the first and the last write, but for stalls of the drive; 0 without writes."""
    series = recording.time
    seconds = np.diff(series["end_ns"].astype(np.float64), prepend=float(recording.start_ns)) / 1e9
    wrote = np.flatnonzero(series["write_bytes"])
    if not wrote.size:
        return 0.0
    within = slice(wrote[0], wrote[-1] + 1)
    silent = float(seconds[within][is_silent(series, seconds)[within]].sum())
    return max(silent - sum(stall["duration_s"] for stall in stalls.of_recording(recording)), 0.0)


def is_silent(series: Columns, seconds: Floats) -> NDArray[np.bool_]:
    """Whether each bin lies in a stretch of `MIN_SILENCE_S` or more without a request.

    Args:
        seconds: how long each bin is, shape (n,).
    """
    empty = (series["reads"] + series["writes"] + series["trims"]) == 0
    edges = np.flatnonzero(np.diff(empty.astype(np.int8), prepend=0, append=0))
    silent = np.zeros(len(empty), dtype=np.bool_)
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        silent[start:end] = seconds[start:end].sum() >= MIN_SILENCE_S
    return silent
