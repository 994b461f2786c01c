"""Folders that end with the page, and files that it may name."""

import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from pslc.base import locks, writer

MIN_AGE_S: Final = 60.0
"""Seconds that a folder was left alone before it is taken for one that a killed process has left."""


def new_folder(prefix: str) -> Path:
    """A folder among the temporary files, locked as long as this process lives. Those that killed ones have left are
    removed first."""
    root = Path(tempfile.gettempdir())
    for left in root.glob(f"{prefix}*"):
        with suppress(OSError):
            _remove_if_left(left)
    folder = writer.lasting(prefix, root)
    # Not closed: the lock ends with the process, however that ends.
    locks.lock_folder(folder)
    return folder


def _remove_if_left(folder: Path) -> None:
    about = folder.lstat()
    # Another process may have made it this moment, and is about to lock it.
    if not locks.is_ours(about) or time.time() - about.st_mtime <= MIN_AGE_S:
        return
    lock = locks.lock_folder(folder)
    if lock is not None:
        writer.remove_locked(folder, lock)
