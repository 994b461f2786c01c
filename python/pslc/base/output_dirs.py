"""Default folders of recordings and studies."""

import atexit
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Final

from pslc.base import settings, writer

RUNS: Final = Path("runs")
STUDIES: Final = Path("studies")
LONGEST: Final = 200
"""Bytes of a name behind the second; a file system takes 255 in all."""


def runs_folder(stated: settings.Settings | None = None) -> Path:
    """Folder of recordings: `folder` of the settings, else `RUNS` in the current folder. Without `stated` the settings
    are read from their file.

    Raises:
        PslcError: the settings have faults.
    """
    return (stated or settings.load()).folder or RUNS


def new_folder(slug: str = "", within: Path | None = None) -> Path:
    """A folder that is named by the second and nobody else's: it is made at once, so that of two commands in the same
    second each has its own, and removed when the process ends without putting anything into it. Where none can be made,
    its name: who writes there is told why not."""
    within = within or runs_folder()
    cut = slug.encode()[:LONGEST].decode(errors="ignore")
    named = "-".join(filter(None, (f"{datetime.now():%Y%m%d-%H%M%S}", cut)))
    first = not within.exists()
    for number in count(2):
        folder = within / named
        try:
            writer.folder(folder, new=True)
        except FileExistsError:
            if folder.exists():
                named = f"{named.partition('~')[0]}~{number}"
                continue
        except OSError:
            pass
        else:
            atexit.register(_give_back, folder, first)
        return folder
    raise AssertionError("numbers end")


def _give_back(folder: Path, first: bool) -> None:
    with suppress(OSError):
        writer.remove_empty(folder)
        if first:
            writer.remove_empty(folder.parent)
