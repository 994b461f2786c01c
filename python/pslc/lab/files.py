"""Files that the page may name, and that may change while it is open."""

import re
from pathlib import Path
from typing import Final

DROPPED: Final = re.compile("[0-9a-f]{16}")
"""The name of a folder of files that were dropped: the beginning of their SHA-256."""

_drops: set[Path] = set()


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
