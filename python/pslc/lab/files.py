"""Files that the page may name, that may change while it is open, and that end with it."""

import fcntl
import os
import re
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from pslc.base import writer

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
    fcntl.flock(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), fcntl.LOCK_EX)
    return folder


def _remove_if_left(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(opened)
        # Another process may have made it this moment, and is about to lock it.
        if status.st_uid == os.getuid() and time.time() - status.st_mtime > MIN_AGE_S:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            writer.remove_folder(folder)
    finally:
        os.close(opened)


def stamp(path: Path) -> int:
    """When a file changed last; 0 where there is none."""
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
