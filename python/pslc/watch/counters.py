"""Linux's counters of a block device (Documentation/block/stat.rst)."""

import os
from pathlib import Path
from typing import Final

from pslc.base.errors import TargetError
from pslc.device import sysfs

SECTOR: Final = 512
"""Bytes: the block layer counts in these, whatever the drive's blocks are."""
MS: Final = 1_000_000

FIELDS: Final = {
    "reads": (0, 1), "read_bytes": (2, SECTOR), "read_ns": (3, MS), "writes": (4, 1), "write_bytes": (6, SECTOR),
    "write_ns": (7, MS), "in_flight": (8, 1), "busy_ns": (9, MS), "queue_ns": (10, MS), "trims": (11, 1),
    "trim_bytes": (13, SECTOR), "flushes": (15, 1), "flush_ns": (16, MS),
}  # fmt: skip
"""Place in the line, and what one is worth. Kernels before 4.18 count no discards, those before 5.5 no flushes."""


class Counters:
    """The counters of a device, open for reading as long as it is watched."""

    def __init__(self, number: int) -> None:
        """`number` is the device's, as in `st_rdev`.

        Raises:
            PslcError: Linux counts nothing of it.
        """
        folder = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
        self._files: list[int] = []
        try:
            for path in sysfs.counting(folder):
                self._files.append(os.open(path / "stat", os.O_RDONLY | os.O_CLOEXEC))
        except OSError as error:
            self.close()
            raise TargetError(f"{folder}: {error.strerror}", "lsblk lists the block devices") from None

    def now(self) -> tuple[int, ...]:
        """Current values of the counters in the order of `FIELDS`, in bytes and nanoseconds.

        Raises:
            OSError: the device is gone.
        """
        rows = [parsed(os.pread(file, 512, 0)) for file in self._files]
        return tuple(sum(column) for column in zip(*rows, strict=True))

    def close(self) -> None:
        """No more of them."""
        for file in self._files:
            os.close(file)


def parsed(line: bytes) -> tuple[int, ...]:
    """The numbers of a `stat` line, in the order of `FIELDS`; those that an old kernel does not count are 0."""
    words = line.split()
    return tuple(int(words[column]) * scale if column < len(words) else 0 for column, scale in FIELDS.values())
