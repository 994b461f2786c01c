"""Files that the page may name, that may change while it is open, and that end with it."""

import re
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from pslc.base import locks, writer

DROPPED: Final = re.compile("[0-9a-f]{16}")
"""The name of a folder of files that were dropped: the beginning of their SHA-256."""

MIN_AGE_S: Final = 60.0
"""Seconds that a folder was left alone before it is taken for one that a killed process has left."""

_drops: set[Path] = set()


def new_folder(prefix: str) -> Path:
    """A folder among the temporary files, locked as long as this process lives. Those that killed ones have left are
    removed first."""
    root = Path(tempfile.gettempdir())
    for left in root.glob(f"{prefix}*"):
        with suppress(OSError):
            _remove_if_left(left)
    folder = writer.lasting(prefix)
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


def stamp(path: Path) -> int:
    """Time of a file's last change in ns since 1970; 0 if it does not exist."""
    return path.stat().st_mtime_ns if path.is_file() else 0


def admit(folder: Path) -> None:
    """Let the page name what is dropped into a folder."""
    _drops.add(folder)


def is_dropped(path: Path) -> bool:
    """Whether it is a file that was dropped."""
    folder = path.parent
    return path.name != ".." and folder.parent in _drops and DROPPED.fullmatch(folder.name) is not None


def is_here(path: Path) -> bool:
    """Whether it is a file of the folder that `pslc lab` was started in, by its name alone."""
    return path.parent == Path() and path.name not in ("", "..")
