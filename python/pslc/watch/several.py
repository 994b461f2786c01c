"""`pslc watch` of several drives at once, or with a server of metrics: a recording and a report each, and what they say
together."""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pslc.base.console import say
from pslc.base.ends import ENDS, hear

if TYPE_CHECKING:
    from pslc.recording.model import Recording
    from pslc.watch.run import Now


S = TypeVar("S")


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
    from pslc.base.http_server import is_local
    from pslc.runner.load import analysed
    from pslc.watch.metrics import Server, address
    from pslc.watch.run import watch_all

    if options.trace:
        raise user_error("--trace follows one drive, without --metrics", "pslc watch /dev/nvme0n1 --trace --save DIR")
    folder, seconds = _folder(options), units.seconds(options.for_, "--for") if options.for_ else None
    keep = _keeper(drives, folder) if folder is not None else None
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
        watched = watch_all(drives, seconds, show, on_keep, ENDS)
        hear(signal.SIG_IGN)
    recordings = [analysed(of) for of in watched]
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
    from pslc.watch.run import device_of, lies_on

    if any(lies_on(folder, device_of(drive)) for drive in drives):
        say(f"note: {folder} is on a watched drive, so pslc writes the recordings only at the end", err=True)
        return None

    from pslc.recording import store

    def keep(so_far: "list[Recording]") -> None:
        for drive, recording in zip(drives, so_far, strict=True):
            store.save(unfinished(recording), folder / drive.name)

    return keep


def unfinished(so_far: "Recording") -> "Recording":
    """A recording of a watch that goes on."""
    return replace(so_far, error="the watch has not ended")


@contextmanager
def saving(folder: Path | None, keep: Callable[[S], None] | None) -> Iterator[Callable[[S], None] | None]:
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
        print(json.dumps({"verdict": verdict, "drives": [recording.document() for recording in recordings]}, indent=1))
    elif verdict is not None:
        print(verdict)
    if folder is not None:
        say(f"recordings: {folder}", err=True)
