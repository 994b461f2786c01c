"""`pslc watch` of several drives at once, or with a server of metrics: a recording and a report each, and what they say
together."""

import json
from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pslc.base.console import say
from pslc.base.ends import ENDS

if TYPE_CHECKING:
    from pslc.recording.store import Recording
    from pslc.runner.watch import Now


@dataclass(frozen=True)
class Options:
    """Options of `pslc watch`."""

    for_: str | None
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
    from pslc.base import units
    from pslc.base.errors import user_error
    from pslc.runner.load import analysed
    from pslc.runner.watch import watch_all
    from pslc.watch.metrics import Server, address

    if options.trace:
        raise user_error("--trace follows one drive, without --metrics", "pslc watch /dev/nvme0n1 --trace --save DIR")
    folder, seconds = _folder(options), units.seconds(options.for_, "--for") if options.for_ else None
    keep = _keeper(drives, folder) if folder is not None else None
    server = Server(address(options.metrics)) if options.metrics else None

    def show(nows: "list[Now]") -> None:
        if server is not None:
            named = zip(drives, nows, strict=True)
            server.latest = {drive.name: (now.counted, now.asked.celsius) for drive, now in named}

    say(f"watching {', '.join(map(str, drives))}; Ctrl-C ends it", err=True)
    with closing(server) if server is not None else nullcontext():
        recordings = [analysed(of) for of in watch_all(drives, seconds, show, keep, ENDS)]
    _report(drives, recordings, folder, options)
    if errors := [recording.error for recording in recordings if recording.error]:
        raise user_error(f"watching ended early: {'; '.join(errors)}", "the recordings cover the time before")


def _folder(options: Options) -> Path | None:
    from pslc.base.output_dirs import new_folder

    folder = options.save
    if folder is None and not options.as_json:
        folder = new_folder("watch")
    check_new(folder)
    return folder


def check_new(folder: Path | None) -> None:
    """Refuse a folder that holds something.

    Raises:
        PslcError: it does.
    """
    from pslc.base.errors import user_error

    if folder is not None and folder.exists() and any(folder.iterdir()):
        raise user_error(f"{folder} is not empty", "--save takes a new folder")


def _keeper(drives: list[Path], folder: Path) -> "Callable[[list[Recording]], None] | None":
    """Keeps what there is; None where that would be work for one of the drives."""
    from pslc.runner.watch import device_of, lies_on

    if any(lies_on(folder, device_of(drive)) for drive in drives):
        say(f"note: {folder} is on a watched drive, so pslc writes the recordings only at the end", err=True)
        return None

    keepers = [keeper(folder / drive.name) for drive in drives]

    def keep(so_far: "list[Recording]") -> None:
        for save, recording in zip(keepers, so_far, strict=True):
            save(recording)

    return keep


def keeper(folder: Path) -> "Callable[[Recording], None]":
    """Saves a recording that goes on, as far as there is room."""

    def keep(so_far: "Recording") -> None:
        with suppress(OSError):
            replace(so_far, error="the watch has not ended").save(folder)

    return keep


def _report(drives: list[Path], recordings: "list[Recording]", folder: Path | None, options: Options) -> None:
    from pslc.report import page, recording_view, terminal
    from pslc.watch.members import held_back
    from pslc.watch.recorded import load_of

    verdict = None
    if len(drives) > 1:
        verdict = held_back({drive.name: load_of(of) for drive, of in zip(drives, recordings, strict=True)})
    for drive, recording in zip(drives, recordings, strict=True):
        view = recording_view.of_recording(recording)
        if folder is not None:
            recording.save(folder / drive.name)
            if options.report:
                page.write(view, folder / drive.name / "report.html")
        if not options.as_json:
            terminal.show(view)
    if options.as_json:
        print(json.dumps({"verdict": verdict, "drives": [recording.document() for recording in recordings]}, indent=1))
    elif verdict is not None:
        print(verdict)
    if folder is not None:
        say(f"recordings: {folder}", err=True)
