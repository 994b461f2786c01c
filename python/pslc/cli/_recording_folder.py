"""Where `pslc run` and `pslc serve` put their recordings, meanwhile and at the end."""

import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pslc.base.console import say

if TYPE_CHECKING:
    from pslc.recording.store import Recording
    from pslc.runner.campaign import Order


ELSEWHERE = 3
"""Exit code when the recording, its page, a log or what is printed could not be put where it was wanted."""


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
    """Keeps what is measured in a folder, even if pslc is killed now. Where it cannot be written the measurement goes
    on, and the next time it is tried again."""

    def __init__(self, folder: Path, tell: Callable[[str], None]) -> None:
        self.folder, self._tell = folder, tell
        self._failed = ""

    def keep(self, save: Callable[[], None]) -> None:
        """Call `save`; where it fails, say so once."""
        from pslc.base.errors import GuardError

        failed = ""
        try:
            save()
        except (OSError, GuardError) as error:
            failed = _reason(self.folder, error)
        if failed and failed != self._failed:
            self._tell(f"warning: nothing can be kept in {failed}; the run goes on, and it is tried again")
        if self._failed and not failed:
            self._tell(f"what is measured is kept in {self.folder} again")
        self._failed = failed


class RunKeeper(Keeper):
    """The same for the recordings of a run, which anyone can open, and which can be resumed."""

    def __init__(self, order: "Order", folder: Path, tell: Callable[[str], None]) -> None:
        super().__init__(folder, tell)
        self._order = order
        self._finished = 0

    def __call__(self, so_far: "list[Recording]") -> None:
        self.keep(lambda: self._save(so_far))

    def _save(self, so_far: "list[Recording]") -> None:
        from pslc.runner import campaign

        places = campaign.folders(self._order, so_far, self.folder)
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
    """Put the recordings of a run, and their page if `report`, into `folder` or another; see `put`."""
    from pslc.report import page, recording_view
    from pslc.runner import campaign

    def save(where: Path) -> None:
        for recording, to in zip(recordings, campaign.folders(order, recordings, where), strict=True):
            recording.save(to)

    def write_page(path: Path) -> None:
        views = [recording_view.of_recording(recording) for recording in recordings]
        if order.what == campaign.ALL:
            page.write_all(views, path)
        else:
            page.write(views[0], path)

    return put(folder, save, write_page if report else None)


def put(folder: Path, save: Callable[[Path], None], write_page: Callable[[Path], None] | None) -> Kept | None:
    """Let `save` fill a folder, or where that fails another, which is asked for at a terminal and is a temporary one
    otherwise; `write_page` then writes the page there. None where it could be put nowhere."""
    from pslc.base import writer
    from pslc.base.errors import GuardError

    for place in (lambda: folder, _asked, writer.lasting):
        where = None
        try:
            where = place()
            if where is None:
                continue
            save(where)
        except (OSError, GuardError) as error:
            why = _reason(where or Path(tempfile.gettempdir()), error)
            say(f"warning: the recording cannot be written: {why}", err=True)
            continue
        return Kept(where, write_page is None or _is_written(write_page, where))
    say("warning: the recording is nowhere; --json prints it", err=True)
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


def _is_written(write_page: Callable[[Path], None], folder: Path) -> bool:
    """Write the page; whether it could be written."""
    from pslc.base.errors import GuardError

    try:
        write_page(folder / "report.html")
    except (OSError, GuardError) as error:
        say(f"warning: the page cannot be written: {_reason(folder, error)}", err=True)
        return False
    return True
