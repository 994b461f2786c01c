"""`pslc serve`: a simulated drive for other programs, in real time."""

import json
import signal
import sys
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.base.console import say
from pslc.base.ends import ENDS

if TYPE_CHECKING:
    from pslc.base.live_lines import Live
    from pslc.cli._recording_folder import Keeper
    from pslc.recording.store import Recording
    from pslc.serving.listening import Address
    from pslc.serving.server import Server
    from pslc.serving.state import State

SETTINGS = {"allow_extra_args": True}


class Data(StrEnum):
    """Storage of the data that are written to a served drive: a file, memory, or none."""

    KEEP = "keep"
    MEMORY = "memory"
    NONE = "none"


def command(
    context: typer.Context,
    drive: Annotated[str, typer.Argument(metavar="DRIVE", help="Drive file (disk.pslc) or sim:NAME[,KEY=VALUE...]")],
    unix: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Unix socket PATH, accessible to you only (default: DRIVE.sock)")
    ] = None,
    tcp: Annotated[
        int | None, typer.Option(metavar="PORT", help="TCP port in place of the socket", min=1, max=65535)
    ] = None,
    listen: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address to listen on with --tcp (default: this machine only)")
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
    watch: Annotated[bool, typer.Option("--watch", help="Show live speed, latency and cache")] = False,
    save: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Save the recording to this folder (default: a new one in runs/)")
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Do not write report.html")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the recording as JSON at the end")] = False,
) -> None:
    """Serve a simulated drive to fio, qemu, a file system or a database, in real time, until Ctrl-C.

    The drive is a network block device (NBD), and each request takes as long as on the drive. Needs nbdkit, which gets
    the arguments after --, such as -- --tls=require --tls-psk=keys.psk. When it ends, pslc saves a recording.
    """
    with _Ends(drive) as ends:
        from pslc.base.errors import TargetError
        from pslc.base.live_lines import Live
        from pslc.base.output_dirs import new_folder
        from pslc.cli import _recording_folder
        from pslc.device.target import name_in
        from pslc.serving.server import Server

        name = Path(name_in(drive)).stem
        at = _address(name, unix, tcp, listen)
        folder = save or (None if as_json else new_folder(f"serve-{name}"))
        if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise TargetError(f"{folder} is not empty", "give another folder: --save DIR")
        _warn_of(at)
        with ends.guard(Server(drive, at, data.value if data else None, speed, context.args)) as server:
            # The address is data: scripts wait for it.
            if not as_json:
                print(at.uri, flush=True)
            if server.data == "memory":
                say("written data are in memory, and lost when serve ends", err=True)
            say(f"{server.target.name} is served at {at.uri}; Ctrl-C ends it", err=True)
            with Live(sys.stderr) as live:
                poll = _shown(live, server.target.name) if watch and live.shown else _warning()
                tell = partial(_say, live)
                keeper = _recording_folder.Keeper(folder, tell) if folder is not None else None
                recording = server.run(poll, tell, partial(_keep, keeper) if keeper else None)
    _end(recording, folder, report=not no_report, as_json=as_json)


def _address(name: str, unix: Path | None, tcp: int | None, listen: str | None) -> "Address":
    """The address that the options ask for: a socket called `name` unless they say more.

    Raises:
        TargetError: they contradict each other.
    """
    from pslc.base.errors import TargetError
    from pslc.serving.listening import Address

    if unix is not None and tcp is not None:
        raise TargetError("--unix and --tcp exclude each other", "give one of them")
    if listen is not None and tcp is None:
        raise TargetError("--listen needs --tcp", "for example: --tcp 10809 --listen 0.0.0.0")
    return Address(unix or Path(f"{name}.sock")) if tcp is None else Address(None, tcp, listen or Address.listen)


class _Ends:
    """Hears the signals that end a program: the server's once it is there, before that they end it in words."""

    def __init__(self, drive: str) -> None:
        self._drive = drive
        self._server: Server | None = None

    def __enter__(self) -> "_Ends":
        for heard in ENDS:
            signal.signal(heard, self._end)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is KeyboardInterrupt:
            say(f"interrupted before {self._drive} was served; the drive is unchanged", err=True)
            raise typer.Exit(130)

    def guard(self, server: "Server") -> "Server":
        """From now on signals end this server in order."""
        self._server = server
        return server

    def _end(self, *_: object) -> None:
        if self._server is None:
            raise KeyboardInterrupt
        self._server.stop()


def _warn_of(at: "Address") -> None:
    """Say who can reach an address of the network."""
    if not at.is_local:
        say(
            f"warning: anyone who can reach {at.listen} can read and write the drive; -- --tls=require encrypts the "
            "connection and authenticates clients",
            err=True,
        )


def _say(live: "Live", text: str) -> None:
    """A line above what is drawn."""
    live.draw([])
    typer.echo(text, err=True)


def _keep(keeper: "Keeper", so_far: "Recording") -> None:
    """Put down what was served so far, for the case that pslc is killed."""
    keeper.keep(lambda: so_far.save(keeper.folder))


def _shown(live: "Live", title: str) -> "Callable[[State], None]":
    """Draws what happens."""
    from pslc.serving.picture import Picture

    picture = Picture(title)
    return lambda state: live.draw(picture.lines(state))


def _warning() -> "Callable[[State], None]":
    """Says once when the host is too slow."""
    warned = False

    def poll(state: "State") -> None:
        nonlocal warned
        if state.too_slow and not warned:
            warned = True
            say(f"warning: the host is too slow for this drive: {state.too_slow}; try --speed 0.1", err=True)

    return poll


def _end(recording: "Recording", folder: Path | None, *, report: bool, as_json: bool) -> None:
    from pslc.base.errors import TargetError
    from pslc.cli import _recording_folder
    from pslc.report import page, recording_view, terminal
    from pslc.runner.load import analysed

    recording = analysed(recording)
    shown = recording_view.of_recording(recording)
    kept = None
    if folder is not None:
        kept = _recording_folder.save(folder, recording.save, partial(page.write, shown) if report else None)
    if as_json:
        print(json.dumps(recording.document(), indent=1))
    else:
        terminal.show(shown)
    if kept is not None:
        say(f"recording: {kept.folder}", err=True)
    if recording.error:
        raise TargetError(recording.error, "the drive is as at its last save or flush")
    sys.stdout.flush()
    if folder is not None and (kept is None or kept.folder != folder or not kept.has_page):
        raise typer.Exit(_recording_folder.EXIT_NOT_SAVED)
