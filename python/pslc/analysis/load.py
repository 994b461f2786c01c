"""Load of a drive at work, interval by interval, as the block layer counts it; its pauses, and the bytes written
since."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from pslc.analysis.series import Floats
from pslc.analysis.thresholds import MAX_RESTING_BUSY_SHARE, MIN_PAUSE_S

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Load:
    """Arrays of shape (n,), a value per interval; what is not known is nan.

    Attributes:
        seconds: length of the interval, > 0.
        read_bytes, write_bytes, trim_bytes: that were completed in it.
        reads, writes, flushes: requests that were.
        read_s, write_s, flush_s: their latencies, summed; 0 for flushes where not known.
        busy_s: for so long something was under way.
        queue_s: the time of all that was under way, summed; over `seconds` the mean of the queue.
        celsius: of the drive.
    """

    seconds: Floats
    read_bytes: Floats
    write_bytes: Floats
    trim_bytes: Floats
    reads: Floats
    writes: Floats
    flushes: Floats
    read_s: Floats
    write_s: Floats
    busy_s: Floats
    queue_s: Floats
    celsius: Floats
    flush_s: Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if not self.flush_s.size:
            object.__setattr__(self, "flush_s", np.zeros(self.seconds.shape))

    @classmethod
    def of(cls, **columns: Floats) -> Load:
        """A load of which only some columns are known."""
        count = columns["seconds"].size
        unknown = {column.name: np.full(count, np.nan) for column in fields(cls)}
        return cls(**(unknown | columns))

    def largest(self) -> tuple[str, float]:
        """Name and sum of the column that adds up to most, in bytes, requests or ns."""
        times = {column.name for column in fields(self) if column.name == "seconds" or column.name.endswith("_s")}
        counted = [column.name for column in fields(self) if column.name != "celsius"]
        sums = {name: float(np.nansum(getattr(self, name))) * (1e9 if name in times else 1) for name in counted}
        return max(sums.items(), key=lambda item: item[1])

    @property
    def ends_s(self) -> Floats:
        """End of each interval, in seconds since the start of the recording, shape (n,)."""
        return np.cumsum(self.seconds)

    @property
    def resting(self) -> Bools:
        """The intervals in which the drive was left alone, nearly. A drive that takes most of its writes while it is
        hardly busy is fast: there only intervals without writes are rests."""
        idle = self.busy_s < MAX_RESTING_BUSY_SHARE * self.seconds
        return idle & (self.write_bytes == 0) if self._is_mostly_written_in(idle) else idle

    def _is_mostly_written_in(self, intervals: Bools) -> bool:
        return 2.0 * float(np.nansum(self.write_bytes[intervals])) > float(np.nansum(self.write_bytes))

    def pauses(self) -> list[tuple[int, int]]:
        """Pauses of at least `MIN_PAUSE_S` in which the drive was idle: index of the first interval, and of the one
        after the last."""
        edges = np.diff(np.concatenate([[0], self.resting.astype(np.int8), [0]]))
        began, ended = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        since = np.concatenate([[0.0], self.ends_s])
        return [(int(a), int(b)) for a, b in zip(began, ended, strict=True) if since[b] - since[a] >= MIN_PAUSE_S]

    def sessions(self) -> list[tuple[int, int]]:
        """Stretches of work between the pauses: index of the first interval, and of the one after the last."""
        spans, start = [], 0
        for began, ended in self.pauses():
            if began > start:
                spans.append((start, began))
            start = ended
        return [*spans, (start, self.seconds.size)] if start < self.seconds.size else spans
