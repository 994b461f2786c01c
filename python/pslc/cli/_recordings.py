"""List of the recordings below a folder, as `pslc report` prints it."""

import json
from pathlib import Path

import typer


def show_list(folder: Path, as_json: bool) -> None:
    """List recordings with suite, drive and date, the newest first."""
    from pslc.recording.listing import recordings_in
    from pslc.report import terminal

    entries = recordings_in(folder)
    if as_json:
        print(json.dumps([entry.document() for entry in entries], indent=1))
    elif entries:
        terminal.show_table(
            [[str(entry.folder), entry.began, entry.suite, entry.drive, entry.note] for entry in entries],
            ["folder", "began", "suite", "drive", ""],
        )
    else:
        typer.echo(f"{folder} holds no recordings; pslc run fill --on sim:sn850-1tb makes one", err=True)
