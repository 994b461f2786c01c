"""`pslc watch` of several drives at once, or with a server of metrics: a recording and a report each, and what they say
together."""

import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pslc.base import json_text
from pslc.base.console import say
from pslc.base.ends import ENDS, hear

if TYPE_CHECKING:
    from pslc.recording.model import Recording
    from pslc.watch.run import Now

    Keep = Callable[[list[Recording]], None]


def import_ahead() -> None:
    """Import what is needed when a watch has ended: then there may be no descriptor, memory or disk to do so."""
    import arro3.io  # noqa: F401

    import pslc.report.page
    import pslc.report.recording_view
    import pslc.report.terminal
    import pslc.runner.load
    import pslc.watch.findings  # noqa: F401


@dataclass(frozen=True)
class Options:
    """Options of `pslc watch`."""

    seconds: float | None
    save: Path | None
    metrics: str | None
    report: bool
    as_json: bool
    trace: bool


def drives_below(devices: list[Path]) -> list[Path]:
    """The drives of block devices and pools, each once."""
    from pslc.watch.members import members

    return list(dict.fromkeys(drive for device in devices for drive in members(device)))


def execute(drives: list[Path], options: Options) -> None:
    """Watch drives and report."""
    from pslc.base.errors import user_error
    from pslc.base.http_server import is_local
    from pslc.runner.load import analysed
    from pslc.watch.metrics import Server, address
    from pslc.watch.run import watch_all

    if options.trace:
        raise user_error("--trace follows one drive, without --metrics", "pslc watch /dev/nvme0n1 --trace --save DIR")
    folder = new_folder(options.save, "watch", as_json=options.as_json)
    keep = Checkpoints({drive: folder / drive.name for drive in drives}) if folder is not None else None
    at = address(options.metrics) if options.metrics else None
    if at is not None and not is_local(at[0]):
        say(
            f"warning: anyone who can reach {at[0]} can read the counters; --metrics :PORT is for this machine",
            err=True,
        )
    import_ahead()
    server = Server(at) if at is not None else None

    def show(nows: "list[Now]") -> None:
        if server is not None:
            named = zip(drives, nows, strict=True)
            server.latest = {drive.name: (now.counted, now.asked.celsius) for drive, now in named}

    say(f"watching {', '.join(map(str, drives))}; Ctrl-C ends it", err=True)
    with closing(server) if server is not None else nullcontext(), saving(folder, keep) as on_keep:
        watched = watch_all(drives, options.seconds, show, on_keep, ENDS)
        hear(signal.SIG_IGN)
    recordings = [analysed(of) for of in (keep.noted(watched) if keep is not None else watched)]
    _report(drives, recordings, folder, options)
    if errors := [recording.error for recording in recordings if recording.error]:
        raise user_error(f"watching ended early: {'; '.join(errors)}", "the recordings cover the time before")


def new_folder(save: Path | None, slug: str, *, as_json: bool) -> Path | None:
    """The folder to save to, or a new one in runs/; None with `as_json` alone.

    Raises:
        PslcError: it holds something.
    """
    from pslc.base import output_dirs
    from pslc.base.errors import user_error

    folder = output_dirs.new_folder(slug) if save is None and not as_json else save
    if folder is not None and folder.exists() and any(folder.iterdir()):
        raise user_error(f"{folder} is not empty", "--save takes a new folder")
    return folder


class Checkpoints:
    """Saves the recordings so far to their folders, and counts what that writes to the watched drives themselves."""

    def __init__(self, folders: dict[Path, Path]) -> None:
        """Prepare to save to the folder of each drive."""
        from pslc.watch.run import device_of, lies_on

        self._folders = folders
        self._beside = {
            drive: [folder for folder in folders.values() if lies_on(folder, device_of(drive))]
            for drive in folders
            if drive.exists()
        }
        self._written = dict.fromkeys(folders.values(), 0)
        if any(self._beside.values()):
            say("note: the recording is saved on the watched drive; its bytes are counted as pslc's own", err=True)

    def __call__(self, so_far: "list[Recording]") -> None:
        """Save unfinished recordings."""
        from pslc.recording import store

        for folder, recording in zip(self._folders.values(), self.noted(so_far), strict=True):
            store.save(replace(recording, error="the watch has not ended"), folder)
            files = {name: (folder / name).stat().st_size for name in ("run.json", "series.parquet")}
            # run.json is written twice: its first copy belongs to the series until both have their names.
            self._written[folder] += 2 * files["run.json"] + files["series.parquet"]

    def noted(self, recordings: "list[Recording]") -> "list[Recording]":
        """The recordings, each with the bytes of its drive's writes that are pslc's own."""
        return [self._noted(drive, recording) for drive, recording in zip(self._folders, recordings, strict=True)]

    def _noted(self, drive: Path, recording: "Recording") -> "Recording":
        from pslc.base import words

        own = sum(self._written[folder] for folder in self._beside.get(drive, []))
        if not own:
            return recording
        facts = recording.facts | {"watch": {**recording.facts["watch"], "own_bytes": own}}
        note = f"{words.size(own)} of the writes are pslc's own, which saved the recording on the watched drive"
        return replace(recording, facts=facts | {"notes": [*facts.get("notes", []), note]})


@contextmanager
def saving(folder: Path | None, keep: "Keep | None") -> "Iterator[Keep | None]":
    """A function that hands recordings to a thread, which saves them with `keep`; None where they are not kept."""
    from pslc.cli._recording_folder import Keeper

    if keep is None or folder is None:
        yield None
        return
    with Keeper(folder, partial(say, err=True)) as keeper:
        yield lambda so_far: keeper.keep(lambda: keep(so_far))


def _report(drives: list[Path], recordings: "list[Recording]", folder: Path | None, options: Options) -> None:
    from pslc.recording import store
    from pslc.recording.watched import load_of
    from pslc.report import page, recording_view, terminal
    from pslc.watch.members import held_back

    verdict = None
    if len(drives) > 1:
        verdict = held_back({drive.name: load_of(of) for drive, of in zip(drives, recordings, strict=True)})
    for drive, recording in zip(drives, recordings, strict=True):
        view = recording_view.of_recording(recording)
        if folder is not None:
            store.save(recording, folder / drive.name)
            if options.report:
                page.write(view, folder / drive.name / "report.html")
        if not options.as_json:
            terminal.show(view, has_report=options.report and folder is not None)
    if options.as_json:
        print(json_text.text({"verdict": verdict, "drives": [recording.document() for recording in recordings]}))
    elif verdict is not None:
        print(verdict)
    if folder is not None:
        say(f"recordings: {folder}", err=True)
