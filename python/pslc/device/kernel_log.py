"""Lines of Linux's log about a drive: timeouts, resets and errors that no request tells of."""

import os
import re
from contextlib import suppress
from pathlib import Path
from time import CLOCK_MONOTONIC, clock_gettime
from typing import Final

from pslc.schema.facts import Facts, KernelLine

LOG: Final = Path("/dev/kmsg")
PARTS: Final = re.compile(r"ata\d+|nvme\d+|mmc\d+|\d+:\d+:\d+:\d+|\d+-\d+(\.\d+)*")
"""Folders of sysfs above a drive whose names its lines may have in place of its own: a SATA port, an NVMe controller, a
card, an address of SCSI, a USB port."""
MAX_LINES: Final = 100
MAX_LETTERS: Final = 200
RECORD_BYTES: Final = 8192
"""Largest record of /dev/kmsg; a shorter buffer is refused."""


class KernelLog:
    """The log from this moment on, as far as this user may read it."""

    def __init__(self, facts: Facts) -> None:
        names = {part for name in facts["stack"] for part in _names(name)}
        self._about = re.compile(rf"(?<![\w:])({'|'.join(map(re.escape, sorted(names)))})(?![0-9])") if names else None
        self._begin_s = clock_gettime(CLOCK_MONOTONIC)
        self._file: int | None = None
        with suppress(OSError):
            self._file = os.open(LOG, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.lseek(self._file, 0, os.SEEK_END)

    def close(self) -> list[KernelLine] | None:
        """The lines about the drive, at most 100; None where the log cannot be read."""
        if self._file is None or self._about is None:
            return None
        lines: list[KernelLine] = []
        try:
            while len(lines) < MAX_LINES and (record := self._next()) is not None:
                if self._about.search(record["text"]):
                    lines.append(record)
        finally:
            os.close(self._file)
        return lines

    def _next(self) -> KernelLine | None:
        """The next record, of whatever it is; None at the end."""
        assert self._file is not None
        while True:
            try:
                record = os.read(self._file, RECORD_BYTES)
            except BlockingIOError:
                return None
            except BrokenPipeError:
                # It was overwritten meanwhile; the next read is of the oldest that is left.
                continue
            except OSError:
                return None
            about, _, text = record.decode(errors="replace").partition(";")
            level, _, since_us = about.split(",")[:3]
            at_s = int(since_us) / 1e6 - self._begin_s
            return {"at_s": at_s, "level": int(level) & 7, "text": text.partition("\n")[0][:MAX_LETTERS]}


def _names(name: str) -> list[str]:
    """The names under which the kernel speaks of a block device."""
    above = Path("/sys/class/block", name).resolve().parts
    return [name, *(part for part in above if PARTS.fullmatch(part))]
