"""`pslc undo`: both ends of a drive, and the switch of its buffer, as they were before it was measured."""

from pathlib import Path
from typing import Annotated

import typer

from pslc.base.console import say


def command(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run on a whole device, or with --buffer")],
    destroy_data: Annotated[
        str | None, typer.Option(metavar="SERIAL", help="Serial number of the drive, if others wrote to it since")
    ] = None,
) -> None:
    """Put back the first and the last 16 MiB of a drive that pslc run measured as a whole, and the switch of --buffer.

    Partition tables and labels of file systems lie there; what was written between is lost.
    """
    from pslc.base import words
    from pslc.device import cache_switch, ends

    put_back = cache_switch.put_back(folder)
    for name in put_back:
        say(f"{name}: the SLC buffer is switched as before the run", err=True)
    if put_back and not ends.is_kept(folder):
        return
    kept = ends.load(folder)
    path = ends.put_back(kept, folder, destroy_data)
    first, last = words.block(len(kept.head)), words.block(len(kept.tail))
    say(f"{path}: the first {first} and the last {last} are as before the run", err=True)
