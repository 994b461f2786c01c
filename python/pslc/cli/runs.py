"""`pslc runs`: the recordings below a folder."""

import json
from pathlib import Path
from typing import Annotated

import typer

from pslc.cli import _defaults


def command(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Folder with run folders in it (default: runs)")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
) -> None:
    """List recordings with suite, drive and date, the newest first."""
    from pslc.recording.listing import recordings_in
    from pslc.report import terminal

    place = folder or _defaults.runs_folder()
    entries = recordings_in(place)
    if as_json:
        print(json.dumps([entry.document() for entry in entries], indent=1))
    elif entries:
        terminal.show_table(
            [[entry.began, entry.suite, entry.drive, entry.note, str(entry.folder)] for entry in entries],
            ["began", "suite", "drive", "", "folder"],
        )
    else:
        typer.echo(f"{place} holds no recordings; pslc run fill --on sim:sn850-1tb makes one", err=True)
