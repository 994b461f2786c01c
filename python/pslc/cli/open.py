"""`pslc open`: the page of a recording in a browser."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from pslc.base.console import say
from pslc.cli import _defaults


def command(
    run: Annotated[
        Path | None, typer.Argument(metavar="RUN", help="Run folder (default: the newest recording in runs)")
    ] = None,
) -> None:
    """Open the page of a recording in a browser. A run without a page gets one."""
    from pslc.base.errors import user_error
    from pslc.recording.listing import recordings_in
    from pslc.report import page, recording_view
    from pslc.runner.load import opened

    if run is None:
        folder = _defaults.runs_folder()
        entries = recordings_in(folder)
        if not entries:
            raise user_error(f"{folder} holds no recordings", "pslc run fill --on sim:sn850-1tb makes one")
        run = entries[0].folder
    path = run / "report.html"
    if not path.exists():
        try:
            page.write(recording_view.of_recording(opened(run)), path)
        except OSError as error:
            raise user_error(f"{path}: {error.strerror}", f"pslc report {run} -o PAGE.html") from None
    say(str(path))
    if not webbrowser.open(path.resolve().as_uri()):
        typer.echo("no browser could be started; open the file above", err=True)
