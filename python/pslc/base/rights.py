"""Rights that this user lacks: whose a place is, and the command that gives it to the user."""

import itertools
import os
from pathlib import Path

from pslc.base import shell


def hint(path: Path) -> str:
    """Remedy of a user who may not read or write `path`: own the outermost part of it that is another user's below a
    folder of the user's own, or go elsewhere."""
    me = os.geteuid() if hasattr(os, "geteuid") else None
    path = path.absolute()
    if os.access(path, os.R_OK | os.W_OK):
        path = path.parent  # What replaces a file takes a right to its folder.
    above = [place for place in (path, *path.parents) if os.path.lexists(place)]
    if above[0].lstat().st_uid == me:
        of_file = "u+w" if os.access(path, os.R_OK) else "u+r"
        change = of_file if above[0].is_file() else "-R u+rwX"
        return f"its mode denies it: chmod {change} {shell.line([str(above[0])])}"
    for place, parent in itertools.pairwise(above):
        if parent.stat().st_uid == me:
            return f"{place} is {_name(place)}'s: sudo chown -R $USER {shell.line([str(place)])}"
    return f"{above[0]} is {_name(above[0])}'s: use a folder of your own"


def port_hint(error: BaseException, option: str, other: str) -> str:
    """Hint of an error of listening on a port: one below 1024 is root's; else `other`."""
    return f"ports below 1024 are root's: {option}" if isinstance(error, PermissionError) else other


def _name(path: Path) -> str:
    try:
        return path.owner()
    except (KeyError, NotImplementedError, OSError):
        return "another user"
