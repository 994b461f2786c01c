"""Where `pslc run` puts its recordings, while it runs and at its end."""

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pslc.recording import Recording
    from pslc.runner.campaign import Order


def check(folder: Path) -> None:
    """Nothing that is there is written over, and it is said before the run."""
    from pslc.errors import refusal

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise refusal(f"{folder} exists and is not an empty folder", "give --save another folder, or remove that one")
    parent = next(p for p in folder.absolute().parents if p.exists())
    if not parent.is_dir():
        raise refusal(f"{parent} is not a folder", "give --save a folder that can be made")


class Keeper:
    """Keeps recordings that anyone can open, and that can be resumed, even if the run is killed now. Where one cannot
    be written the run goes on, and the next is tried."""

    def __init__(self, order: "Order", folder: Path, tell: Callable[[str], None]) -> None:
        self._order, self._folder, self._tell = order, folder, tell
        self._finished = 0
        self._failed = ""

    def __call__(self, so_far: "list[Recording]") -> None:
        failed = ""
        try:
            self._save(so_far)
        except OSError as error:
            failed = f"{self._folder}: {error.strerror or error}"
        if failed and failed != self._failed:
            self._tell(f"warning: nothing can be kept in {failed}; the run goes on, and it is tried again")
        if self._failed and not failed:
            self._tell(f"what is measured is kept in {self._folder} again")
        self._failed = failed

    def _save(self, so_far: "list[Recording]") -> None:
        from pslc.runner import campaign

        places = campaign.folders(self._order, so_far, self._folder)
        *before, last = so_far
        while self._finished < len(before):
            before[self._finished].save(places[self._finished])
            self._finished += 1
        replace(last, error=last.error or "the run has not ended").save(places[len(before)])


def saved(order: "Order", recordings: "list[Recording]", folder: Path, report: bool) -> Path | None:
    """Put the recordings into `folder`, or where that fails into another, which is asked for at a terminal and is a
    temporary one otherwise. Where they are; None where they could be put nowhere."""
    places = iter([folder, None, Path(tempfile.gettempdir()) / f"pslc-{datetime.now():%Y%m%d-%H%M%S}-{os.getpid()}"])
    for place in places:
        where = place or _asked()
        if where is None:
            continue
        try:
            _save(order, recordings, where, report)
            return where
        except OSError as error:
            typer.echo(f"warning: {where}: the recording cannot be written: {error.strerror or error}", err=True)
    typer.echo("warning: the recording is nowhere; --json prints it", err=True)
    return None


def _asked() -> Path | None:
    """Another folder, from who sits at the terminal."""
    if sys.stdin is None or not sys.stdin.isatty():
        return None
    with suppress(typer.Abort, KeyboardInterrupt):
        said = typer.prompt("Another folder for the recording (none: a temporary one)", default="", err=True)
        return Path(said) if said else None
    return None


def _save(order: "Order", recordings: "list[Recording]", folder: Path, report: bool) -> None:
    from pslc.runner import campaign

    for recording, where in zip(recordings, campaign.folders(order, recordings, folder), strict=True):
        recording.save(where)
    if report:
        from pslc import view
        from pslc.report import page

        if order.what == "all":
            page.write_all([view.of_recording(recording) for recording in recordings], folder / "report.html")
        else:
            page.write(view.of_recording(recordings[0]), folder / "report.html")
