"""Folders that are only needed while a drive is served, also where it is killed: the next one removes them."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final

from pslc.base import locks, writer

PREFIX: Final = "pslc-serve-"


class WorkingFolder:
    """A folder that is there as long as somebody has it: this process, or one that was given `lock`. Use it as a
    context. Those of servers that were killed are removed first."""

    def __init__(self) -> None:
        remove_left()
        while True:
            self.path = writer.lasting(PREFIX)
            lock = locks.lock_folder(self.path)
            if lock is not None:
                self.lock = lock
                return

    def __enter__(self) -> WorkingFolder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        writer.remove_locked(self.path, self.lock)


def remove_left() -> None:
    """Remove the folders that nobody has any more."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if not locks.is_ours(path.lstat()):
                continue
            lock = locks.lock_folder(path)
            if lock is not None:
                writer.remove_locked(path, lock)
