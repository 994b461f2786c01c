"""Where `pslc run` puts its recordings, while it runs and at its end."""

import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pslc.recording.store import Recording
    from pslc.runner.campaign import Order


def check(folder: Path) -> None:
    """Nothing that is there is written over, and it is said before the run."""
    from pslc.base.errors import user_error

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise user_error(
            f"{folder} exists and is not an empty folder", "give --save another folder, or remove that one"
        )
    parent = next(p for p in folder.absolute().parents if p.exists())
    if not parent.is_dir():
        raise user_error(f"{parent} is not a folder", "give --save a folder that can be made")


class Keeper:
    """Keeps recordings that anyone can open, and that can be resumed, even if the run is killed now. Where one cannot
    be written the run goes on, and the next is tried."""

    def __init__(self, order: "Order", folder: Path, tell: Callable[[str], None]) -> None:
        self._order, self._folder, self._tell = order, folder, tell
        self._finished = 0
        self._failed = ""

    def __call__(self, so_far: "list[Recording]") -> None:
        from pslc.base.errors import GuardError

        failed = ""
        try:
            self._save(so_far)
        except (OSError, GuardError) as error:
            failed = _reason(self._folder, error)
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


@dataclass(frozen=True)
class Kept:
    """Where recordings are; whole: their page is there too, if it is wanted."""

    folder: Path
    whole: bool


def saved(order: "Order", recordings: "list[Recording]", folder: Path, report: bool) -> Kept | None:
    """Put the recordings into `folder`, or where that fails into another, which is asked for at a terminal and is a
    temporary one otherwise. None where they could be put nowhere."""
    from pslc.base import writer
    from pslc.base.errors import GuardError

    for place in (lambda: folder, _asked, writer.lasting):
        where = None
        try:
            where = place()
            if where is None:
                continue
            _save(order, recordings, where)
        except (OSError, GuardError) as error:
            why = _reason(where or Path(tempfile.gettempdir()), error)
            typer.echo(f"warning: the recording cannot be written: {why}", err=True)
            continue
        return Kept(where, not report or _reported(order, recordings, where))
    typer.echo("warning: the recording is nowhere; --json prints it", err=True)
    return None


def _reason(folder: Path, error: Exception) -> str:
    from pslc.base.errors import GuardError

    if isinstance(error, GuardError):
        return error.message
    return f"{folder}: {error.strerror or error}" if isinstance(error, OSError) else f"{folder}: {error}"


def _asked() -> Path | None:
    """Another folder, from who sits at the terminal."""
    if sys.stdin is None or not sys.stdin.isatty():
        return None
    with suppress(typer.Abort, KeyboardInterrupt):
        said = typer.prompt("Another folder for the recording (none: a temporary one)", default="", err=True)
        return Path(said) if said else None
    return None


def _save(order: "Order", recordings: "list[Recording]", folder: Path) -> None:
    from pslc.runner import campaign

    for recording, where in zip(recordings, campaign.folders(order, recordings, folder), strict=True):
        recording.save(where)


def _reported(order: "Order", recordings: "list[Recording]", folder: Path) -> bool:
    """Write the page; whether it could be written."""
    from pslc.base.errors import GuardError
    from pslc.report import page, recording_view

    try:
        if order.what == "all":
            page.write_all([recording_view.of_recording(recording) for recording in recordings], folder / "report.html")
        else:
            page.write(recording_view.of_recording(recordings[0]), folder / "report.html")
    except (OSError, GuardError) as error:
        typer.echo(f"warning: the page cannot be written: {_reason(folder, error)}", err=True)
        return False
    return True
