"""Folders of recordings of `pslc run`, `pslc replay` and `pslc serve`, during the run and after it."""

import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Condition, Thread
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

import typer

from pslc.base.console import say

if TYPE_CHECKING:
    from pslc.figures.view import View
    from pslc.recording.model import Recording
    from pslc.runner.campaign import CampaignSpec


EXIT_NOT_SAVED = 3
"""Exit code when the recording, its page, a log or what is printed is not where it was to be."""


def check(folder: Path) -> None:
    """Refuse a folder that holds something, before the run.

    Raises:
        PslcError: it exists and is not empty, or cannot be made.
    """
    from pslc.base.errors import user_error

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise user_error(
            f"{folder} exists and is not an empty folder", "give --save another folder, or remove that one"
        )
    parent = next(p for p in folder.absolute().parents if p.exists())
    if not parent.is_dir():
        raise user_error(f"{parent} is not a folder", "give --save a folder that can be made")


MAX_PAUSE_S: Final = 60.0
"""Longest time between two checkpoints, so that a power cut costs no more of a recording."""
MAX_LEAVE_S: Final = 1.0
"""Time that is left for the last checkpoint when pslc is ended by a second signal."""
PAUSE_RATIO: Final = 20.0
"""Ratio of the pause after a checkpoint to the time that it took: a slow or busy disk is asked less often."""


class Keeper:
    """Saves checkpoints to a folder, on a thread of its own: a disk that takes long delays no measurement. Of those
    that wait the latest is saved. If one cannot be saved the run goes on, and the next one is tried."""

    def __init__(self, folder: Path, log: Callable[[str], None]) -> None:
        self.folder, self._log = folder, log
        self._failure = ""
        self._change = Condition()
        self._waiting: Callable[[], None] | None = None
        self._is_closed = False
        self._thread = Thread(target=self._work, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            # The whole recording follows.
            self._waiting = None
        self.close()

    def keep(self, save: Callable[[], None]) -> None:
        """Let `save` be called soon, in place of what waits for that."""
        with self._change:
            self._waiting = save
            self._change.notify()

    def close(self, within_s: float | None = None) -> bool:
        """Save what waits and end; returns whether that was done in so many seconds."""
        with self._change:
            self._is_closed = True
            self._change.notify()
        self._thread.join(within_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._waiting is not None or self._is_closed)
                save, self._waiting = self._waiting, None
            if save is None:
                return
            began = monotonic()
            self._try(save)
            with self._change:
                self._change.wait_for(lambda: self._is_closed, min(PAUSE_RATIO * (monotonic() - began), MAX_PAUSE_S))

    def _try(self, save: Callable[[], None]) -> None:
        """Call `save`; report its failure once, and its recovery."""
        failure = ""
        try:
            save()
        except Exception as error:
            # There may be no memory, even for a module. A later one can be saved yet.
            failure = _reason(self.folder, error)
        if failure and failure != self._failure:
            self._log(f"warning: the recording cannot be saved: {failure}; the run goes on, and pslc tries again")
        if self._failure and not failure:
            self._log(f"the recording is saved in {self.folder} again")
        self._failure = failure


class RunKeeper(Keeper):
    """Saves checkpoints of a campaign, which can be opened and resumed even if pslc is killed."""

    def __init__(self, spec: "CampaignSpec", folder: Path | None, log: Callable[[str], None]) -> None:
        """Without a `folder`, the last checkpoint is saved only by `leave`, to a temporary one."""
        super().__init__(folder or Path(), log)
        self._spec, self._is_wanted = spec, folder is not None
        self._saved = 0
        self._latest: list[Recording] = []

    def __call__(self, so_far: "list[Recording]") -> None:
        self._latest = so_far
        if self._is_wanted:
            self.keep(lambda: self._save(so_far))

    def leave(self) -> str:
        """Save the last checkpoint, as far as that takes a second; returns a clause on where it is."""
        from pslc.base import writer

        if not self._latest:
            return "nothing was measured"
        if not self._is_wanted:
            self.folder = writer.lasting()
        latest = self._latest
        self.keep(lambda: self._save(latest))
        is_saved = self.close(MAX_LEAVE_S) and not self._failure
        return f"the recording so far is in {self.folder}" if is_saved else f"{self.folder} takes no recording"

    def _save(self, so_far: "list[Recording]") -> None:
        from pslc.recording import store
        from pslc.runner import campaign

        folders = campaign.folders(self._spec, so_far, self.folder)
        *finished, last = so_far
        while self._saved < len(finished):
            store.save(finished[self._saved], folders[self._saved])
            self._saved += 1
        store.save(replace(last, error=last.error or "the run has not ended"), folders[len(finished)])


Views = Callable[[], "list[View]"]
"""Makes the views of recordings, the first time that they are asked for."""


@dataclass(frozen=True)
class Saved:
    """Folder of the recordings, and whether their page is there too, if it is wanted."""

    folder: Path
    has_page: bool


def save_runs(spec: "CampaignSpec", recordings: "list[Recording]", folder: Path, views: "Views | None") -> Saved | None:
    """Save the recordings of a campaign, and the page of their views if there are any, to `folder` or another; see
    `save`."""
    from pslc.recording import store
    from pslc.runner import campaign

    def save_recordings(place: Path) -> None:
        for recording, path in zip(recordings, campaign.folders(spec, recordings, place), strict=True):
            store.save(recording, path)

    def write_page(path: Path) -> None:
        from pslc.report import page

        assert views is not None, "it is called for a page alone"
        if spec.is_catalogue:
            page.write_all(views(), path)
        else:
            page.write(views()[0], path)

    return save(folder, save_recordings, write_page if views is not None else None)


def save(folder: Path, save_to: Callable[[Path], None], write_page: Callable[[Path], None] | None) -> Saved | None:
    """Let `save_to` fill `folder`. If that fails, another folder, which is asked for at a terminal, or a temporary one.

    `write_page` then writes the page there. None if all folders fail.
    """
    from pslc.base import writer
    from pslc.base.errors import GuardError

    for choose in (lambda: folder, _ask_for_folder, writer.lasting):
        place = None
        try:
            place = choose()
            if place is None:
                continue
            save_to(place)
        except (OSError, GuardError) as error:
            reason = _reason(place or Path(tempfile.gettempdir()), error)
            say(f"warning: the recording cannot be written: {reason}", err=True)
            continue
        return Saved(place, write_page is None or _is_written(write_page, place))
    say("warning: the recording is not saved anywhere; --json prints it", err=True)
    return None


def _reason(folder: Path, error: Exception) -> str:
    from pslc.base import failure

    if not isinstance(error, OSError):
        return failure.sentence(error)
    hint = failure.remedy(error, folder)
    return f"{folder}: {error.strerror or error}{f' ({hint})' if hint else ''}"


def _ask_for_folder() -> Path | None:
    """Another folder, if somebody sits at the terminal."""
    if sys.stdin is None or not sys.stdin.isatty():
        return None
    with suppress(typer.Abort, KeyboardInterrupt):
        answer = typer.prompt("Another folder for the recording (empty: a temporary one)", default="", err=True)
        return Path(answer) if answer else None
    return None


def _is_written(write_page: Callable[[Path], None], folder: Path) -> bool:
    """Write the page; returns whether it could be written."""
    from pslc.base.errors import GuardError

    try:
        write_page(folder / "report.html")
    except (OSError, GuardError) as error:
        say(f"warning: the page cannot be written: {_reason(folder, error)}", err=True)
        return False
    return True
