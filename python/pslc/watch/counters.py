"""What Linux counts of a block device (Documentation/block/stat.rst), and such counts as a recording."""

from __future__ import annotations

import os
from array import array
from pathlib import Path
from typing import Any, Final

import numpy as np

from pslc.analysis.load import Load
from pslc.errors import refusal
from pslc.recording import Columns, Recording

SECTOR: Final = 512
"""Bytes: the block layer counts in these, whatever the drive's blocks are."""
MS: Final = 1_000_000

FIELDS: Final = {
    "reads": (0, 1), "read_bytes": (2, SECTOR), "read_ns": (3, MS), "writes": (4, 1), "write_bytes": (6, SECTOR),
    "write_ns": (7, MS), "in_flight": (8, 1), "busy_ns": (9, MS), "queue_ns": (10, MS), "trims": (11, 1),
    "trim_bytes": (13, SECTOR), "flushes": (15, 1),
}  # fmt: skip
"""Place in the line, and what one is worth. Kernels before 4.18 count no discards, those before 5.5 no flushes."""
MOVED: Final = ("read_bytes", "write_bytes", "trim_bytes", "reads", "writes", "trims")
"""Columns of a recording that are of each bin."""
COUNTED: Final = ("flushes", "read_ns", "write_ns", "busy_ns", "queue_ns")
"""Those that go on counting; `_total` in a recording."""
TEMPERATURE: Final = "temperature_millicelsius"
"""0 where it is not known."""
NONE: Final = ("lat_max_ns", "lat_p50_ns", "lat_p99_ns", "lat_p999_ns")
"""What any recording has and the block layer does not tell."""


class Counters:
    """The counters of a device, open for reading as long as it is watched."""

    def __init__(self, number: int) -> None:
        """`number` is the device's, as in `st_rdev`.

        Raises:
            PslcError: Linux counts nothing of it.
        """
        self.path = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat")
        try:
            self._file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise refusal(f"{self.path}: {error.strerror}", "lsblk lists the block devices") from None

    def now(self) -> tuple[int, ...]:
        """In the order of `FIELDS`, in bytes and nanoseconds.

        Raises:
            OSError: the device is gone.
        """
        return parsed(os.pread(self._file, 512, 0))

    def close(self) -> None:
        """No more of them."""
        os.close(self._file)


def parsed(line: bytes) -> tuple[int, ...]:
    """The numbers of a `stat` line, in the order of `FIELDS`; those that an old kernel does not count are 0."""
    words = line.split()
    return tuple(int(words[at]) * scale if at < len(words) else 0 for at, scale in FIELDS.values())


class Samples:
    """Counters with their times and the temperature then; 120 bytes a sample."""

    def __init__(self) -> None:
        self._values = array("q")

    def __len__(self) -> int:
        return len(self._values) // (len(FIELDS) + 2)

    def add(self, at_ns: int, counted: tuple[int, ...], celsius: float | None) -> None:
        """One sample; temperatures below freezing are told as 0."""
        self._values.extend((at_ns, *counted, 0 if celsius is None else max(round(celsius * 1000), 0)))

    def columns(self) -> tuple[Columns, dict[str, int], dict[str, int]]:
        """The series of a recording, a bin from each sample to the next, and its counters before and after.

        The counters of a device that was reset count from 0 again.
        """
        table = np.frombuffer(self._values, dtype=np.int64).reshape(-1, len(FIELDS) + 2)
        at, celsius = table[:, 0], table[:, -1]
        of = dict(zip(FIELDS, table[:, 1:-1].T, strict=True))
        grown = {name: np.maximum(np.diff(of[name]), 0) for name in (*MOVED, *COUNTED)}
        series = {"end_ns": at[1:] - at[0]}
        series |= {name: grown[name] for name in MOVED}
        series |= {"lat_sum_ns": grown["read_ns"] + grown["write_ns"]}
        series |= {name: np.zeros(len(at) - 1, dtype=np.int64) for name in NONE}
        series |= {f"{name}_total": np.cumsum(grown[name]) for name in COUNTED}
        series |= {"in_flight": np.maximum(of["in_flight"][1:], 0), TEMPERATURE: celsius[1:]}
        kept = [*(f"{name}_total" for name in COUNTED), TEMPERATURE]
        before = dict.fromkeys(kept, 0) | {TEMPERATURE: int(celsius[0])}
        totals = {name: int(series[name][-1]) if len(at) > 1 else before[name] for name in kept}
        return {name: column.astype(np.uint64) for name, column in series.items()}, before, totals


def load_of(recording: Recording) -> Load:
    """What was watched, as the analysis takes it."""
    time = recording.time

    def grown(name: str) -> Any:
        return np.diff(time[name].astype(np.float64), prepend=float(recording.before[name]))

    seconds = np.diff(time["end_ns"].astype(np.float64), prepend=float(recording.start_ns)) / 1e9
    moved = {name: time[name].astype(np.float64) for name in ("read_bytes", "write_bytes", "trim_bytes")}
    counts = {name: time[name].astype(np.float64) for name in ("reads", "writes")}
    spans = {f"{name}_s": grown(f"{name}_ns_total") / 1e9 for name in ("read", "write", "busy", "queue")}
    celsius = time[TEMPERATURE].astype(np.float64) / 1e3
    return Load(
        seconds=np.maximum(seconds, 1e-9),
        **moved,
        **counts,
        **spans,
        flushes=grown("flushes_total"),
        celsius=np.where(celsius > 0, celsius, np.nan),
    )
