"""`pslc serve`: a simulated drive for other programs, in real time."""

import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.base import json_text
from pslc.base.console import say
from pslc.base.ends import hear
from pslc.cli import _complete

if TYPE_CHECKING:
    from pslc.base.live_lines import Live
    from pslc.cli._recording_folder import Keeper
    from pslc.recording.model import Recording
    from pslc.schema.facts import ServedStatus
    from pslc.serving.server import Server


FaultList = Annotated[
    str | None, typer.Option(metavar="LIST", help="Faults: seed=7,torn,reorder,lie-flush,eio=1e-6,hang=30s")
]


class Data(StrEnum):
    """Storage of the data that are written to a served drive: a file, memory, or none."""

    KEEP = "keep"
    MEMORY = "memory"
    NONE = "none"


def command(
    drive: Annotated[
        str,
        typer.Argument(
            metavar="DRIVE", help="Drive file (disk.pslc) or sim:NAME[,KEY=VALUE...]", autocompletion=_complete.target
        ),
    ],
    unix: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Unix socket PATH, accessible to you only (default: DRIVE.sock)")
    ] = None,
    tcp: Annotated[
        str | None, typer.Option(metavar="PORT", help="TCP port on this machine in place of the socket")
    ] = None,
    speed: Annotated[
        float, typer.Option(metavar="FACTOR", help="Speed of the drive's clock: 0.1 runs at a tenth", min=1e-3, max=1e6)
    ] = 1.0,
    data: Annotated[
        Data | None,
        typer.Option(
            help="Written data: keep in DRIVE.data (default for a file), memory (default for sim:NAME), or none"
        ),
    ] = None,
    faults: FaultList = None,
    power_cut: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="Cut the power as the 1200th write comes (1200), or at a time (30s)"),
    ] = None,
    sysfs: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder that shows the cache as Linux does for a UFS drive")
    ] = None,
    nvme: Annotated[
        bool, typer.Option("--nvme", help="Also make it an NVMe drive of this machine (Linux, as root)")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Show live speed, latency and cache")] = False,
    save: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Save the recording to this folder (default: a new one in runs/)")
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Do not write report.html")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the recording as JSON at the end")] = False,
) -> None:
    """Serve a simulated drive to fio, qemu, a file system or a database, in real time, until Ctrl-C.

    The drive is a network block device (NBD), and each request takes as long as on the drive. When it ends, pslc saves
    a recording.
    """
    with _Ends(drive) as ends:
        from pslc.base.errors import TargetError
        from pslc.base.live_lines import Live
        from pslc.base.output_dirs import new_folder
        from pslc.cli import _recording_folder
        from pslc.device.target import name_in
        from pslc.serving.faults import of_options
        from pslc.serving.listening import Address
        from pslc.serving.server import Server

        name = Path(name_in(drive)).stem
        at = Address.choose(name, unix, tcp, nvme)
        folder = save or (None if as_json else new_folder(f"serve-{name}"))
        if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise TargetError(f"{folder} is not empty", "give another folder: --save DIR")
        wrong = of_options(faults, power_cut)
        with ends.guard(Server(drive, at, data.value if data else None, speed, sysfs, faults=wrong)) as server:
            # The address is data: scripts wait for it.
            if not as_json:
                print(at.uri, *([server.nvme.path] if server.nvme else []), sep="\n", flush=True)
            if server.data == "memory":
                say("written data are in memory, and lost when serve ends", err=True)
            say(f"{server.target.name} is served at {at.uri}; Ctrl-C ends it", err=True)
            with Live(sys.stderr) as live:
                draws = watch and live.shown
                look = _shown(live, server.target.name) if draws else _warning()
                tell = partial(_say, live)
                with nullcontext() if folder is None else _recording_folder.Keeper(folder, tell) as keeper:
                    recording = server.run(look, tell, partial(_keep, keeper) if keeper else None, always=draws)
    _end(recording, folder, report=not no_report, as_json=as_json)


class _Ends:
    """Hears the signals that end a program: the server's once it is there, before that they end it in words."""

    def __init__(self, drive: str) -> None:
        self._drive = drive
        self._server: Server | None = None
        self._stops = 0

    def __enter__(self) -> "_Ends":
        hear(self._end)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is KeyboardInterrupt:
            say(f"interrupted before {self._drive} was served", err=True)
            raise typer.Exit(130)

    def guard(self, server: "Server") -> "Server":
        """Handle signals so that they end this server in order."""
        self._server = server
        # What a signal raises where Python cleans up is lost.
        if self._stops:
            raise KeyboardInterrupt
        return server

    def _end(self, *_: object) -> None:
        self._stops += 1
        if self._server is None:
            raise KeyboardInterrupt
        self._server.stop()
        if self._stops == 2:
            say("the drive is saved; the next Ctrl-C leaves at once, and what was flushed in the journal", err=True)
        elif self._stops > 2:
            os._exit(130)


def _say(live: "Live", text: str) -> None:
    """A line above what is drawn."""
    live.draw([])
    typer.echo(text, err=True)


def _keep(keeper: "Keeper", so_far: "Recording") -> None:
    """Put down what was served so far, for the case that pslc is killed."""

    from pslc.recording import store

    keeper.keep(lambda: store.save(so_far, keeper.folder))


def _shown(live: "Live", title: str) -> "Callable[[ServedStatus], None]":
    """Draws what happens."""
    from pslc.serving.picture import Picture

    picture = Picture(title)
    return lambda status: live.draw(picture.lines(status))


def _warning() -> "Callable[[ServedStatus], None]":
    """Says once when the host is too slow."""
    from pslc.serving.state import too_slow

    warned = False

    def look(status: "ServedStatus") -> None:
        nonlocal warned
        if not warned and (late := too_slow(status)):
            warned = True
            say(f"warning: the host is too slow for this drive: {late}; try --speed 0.1", err=True)

    return look


def _end(recording: "Recording", folder: Path | None, *, report: bool, as_json: bool) -> None:
    from pslc.base.errors import TargetError
    from pslc.cli import _recording_folder
    from pslc.recording import store
    from pslc.report import page, recording_view, terminal
    from pslc.runner.load import analysed

    recording = analysed(recording)
    shown = recording_view.of_recording(recording)
    kept = None
    if folder is not None:
        kept = _recording_folder.save(
            folder, partial(store.save, recording), partial(page.write, shown) if report else None
        )
    if as_json:
        print(json_text.text(recording.document()))
    else:
        terminal.show(shown, has_report=report and kept is not None)
    if kept is not None:
        say(f"recording: {kept.folder}", err=True)
    if recording.error:
        raise TargetError(recording.error, "the drive is as at its last save or flush")
    sys.stdout.flush()
    if folder is not None and (kept is None or kept.folder != folder or not kept.has_page):
        raise typer.Exit(_recording_folder.EXIT_NOT_SAVED)
