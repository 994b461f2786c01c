"""Folders that are only needed while a drive is served, also where it is killed: the next one removes them."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final

from pslc.base import writer

PREFIX: Final = "pslc-serve-"


class WorkingFolder:
    """A folder that is there as long as somebody has it: this process, or one that was given `lock`. Use it as a
    context. Those of servers that were killed are removed first."""

    def __init__(self) -> None:
        remove_left()
        while True:
            self.path = writer.lasting(PREFIX)
            lock = _locked(self.path)
            if lock is not None:
                self.lock = lock
                return

    def __enter__(self) -> WorkingFolder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        writer.remove_folder(self.path)
        os.close(self.lock)


def remove_left() -> None:
    """Remove the folders that nobody has any more."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            about = path.lstat()
            if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid():
                continue
            lock = _locked(path)
            if lock is not None:
                writer.remove_folder(path)
                os.close(lock)


def _locked(path: Path) -> int | None:
    """A descriptor with the lock of a folder; None where somebody else has it, or has just removed it."""
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(folder), path.lstat()):
            return folder
    except OSError:
        pass
    os.close(folder)
    return None
