"""`pslc watch`: a drive under its real work."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.base import json_text
from pslc.base.console import say
from pslc.base.ends import ENDS, hear
from pslc.watch import several as _watch_several

if TYPE_CHECKING:
    from pslc.base.live_lines import Live
    from pslc.recording.model import Recording
    from pslc.watch.run import Now


def command(
    devices: Annotated[
        list[Path],
        # Its counters are everybody's to read, whoever may read the device.
        typer.Argument(
            metavar="DEVICE...", help="Block devices, such as /dev/nvme0n1 or /dev/md0, folders on them, or a ZFS pool"
        ),
    ],
    for_: Annotated[
        str | None,
        typer.Option("--for", metavar="TIME", help="Stop after this time, such as 8h (default: run until Ctrl-C)"),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Save the recording to this folder (default: a new one in runs/)")
    ] = None,
    metrics: Annotated[
        str | None, typer.Option(metavar="[HOST]:PORT", help="Serve counters for Prometheus, such as :9417")
    ] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Also record every request, for pslc replay")] = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Do not write report.html")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
) -> None:
    """Watch a drive under its real work, and report when it became slow and why (read-only).

    Reads the block layer's counters every second, and temperature, SMART and link only while the drive works, so that
    it can sleep. Ctrl-C ends it. pslc replay RUN/trace.txt replays what --trace recorded. For a pool
    (md, LVM, ZFS), pslc watches its drives, and the report names the one that slows down the pool.
    """
    from pslc.base import units
    from pslc.base.errors import user_error
    from pslc.base.live_lines import Live
    from pslc.runner.load import analysed
    from pslc.watch.run import watch_all

    seconds = units.seconds(for_, "--for") if for_ else None
    if seconds is not None and seconds < 1:
        raise user_error(f"--for is {for_}, but counters are read once a second", "for example: --for 10s")
    drives = _watch_several.drives_below(devices)
    if metrics is not None or len(devices) > 1 or len(drives) > 1:
        several = _watch_several.Options(seconds, save, metrics, report=not no_report, as_json=as_json, trace=trace)
        _watch_several.execute(drives, several)
        return
    device = devices[0] if devices[0].is_block_device() else drives[0]
    folder = _watch_several.new_folder(save, f"watch-{device.name}", as_json=as_json)
    if trace and folder is None:
        raise user_error("--trace with --json needs a folder for the trace", "add --save DIR")
    checkpoints = _checkpoints(device, folder, trace=trace) if folder else None
    into = _trace_file(folder) if trace and folder else None
    _watch_several.import_ahead()
    _note_no_smart(device)
    with Live(sys.stderr) as live, _watch_several.saving(folder, checkpoints) as on_keep:
        watched = watch_all([device], seconds, _shown(live, device, seconds), on_keep, ENDS, into)
        hear(signal.SIG_IGN)
    recording = analysed((checkpoints.noted(watched) if checkpoints is not None else watched)[0])
    _report(recording, folder, report=not no_report, as_json=as_json)
    if recording.error:
        raise user_error(f"watching ended early: {recording.error}", "the recording covers the time before")


def _note_no_smart(device: Path) -> None:
    """Print why the health logs of the drives below a device are not recorded."""
    from pslc.device import probe

    for name in probe.drives(probe.facts(device)):
        if name.startswith(("nvme", "sd")) and (why := probe.unasked(name, "watch")):
            say(f"note: no SMART: {why}", err=True)


def _checkpoints(device: Path, folder: Path, *, trace: bool) -> _watch_several.Checkpoints:
    """The saver of the recording so far.

    Raises:
        PslcError: the drive is traced, and the folder is on it.
    """
    from pslc.base.errors import user_error
    from pslc.watch.run import device_of, lies_on

    if trace and device.exists() and lies_on(folder, device_of(device)):
        raise user_error(
            f"{folder} is on the traced drive", "give --save a folder on another drive, or in memory (/dev/shm)"
        )
    return _watch_several.Checkpoints({device: folder})


def _trace_file(folder: Path) -> Path:
    """The file for the trace, in a folder that is made for it."""
    from pslc.base import writer

    writer.folder(folder)
    return folder / "trace.txt"


def _report(recording: "Recording", folder: Path | None, *, report: bool, as_json: bool) -> None:
    """Save the recording to the folder with its page, and print it."""
    from pslc.recording import store
    from pslc.report import page, recording_view, terminal

    if folder is not None:
        store.save(recording, folder)
        if report:
            page.write(recording_view.of_recording(recording), folder / "report.html")
    if as_json:
        print(json_text.text(recording.document()))
    else:
        terminal.show(recording_view.of_recording(recording), has_report=report and folder is not None)
    if folder is not None:
        where = f", pictures: {folder / 'report.html'}" if report else ""
        say(f"recording: {folder}{where}", err=True)


def _shown(live: "Live", device: Path, seconds: float | None) -> "Callable[[list[Now]], None] | None":
    """Drawer of each second; None where nobody looks."""
    from pslc.analysis.thresholds import MAX_RESTING_BUSY_SHARE, MIN_PAUSE_S
    from pslc.base import words
    from pslc.base.live_lines import Trail

    if not live.shown:
        return None
    trails = {kind: Trail(40) for kind in ("read", "write")}
    rested = written = 0.0
    until = f" of {words.span(seconds)}" if seconds else ""

    def show(nows: "list[Now]") -> None:
        nonlocal rested, written
        (now,) = nows
        moved = now.moved
        rested = rested + now.seconds if moved["busy_ns"] < MAX_RESTING_BUSY_SHARE * 1e9 * now.seconds else 0.0
        written = 0.0 if rested >= MIN_PAUSE_S else written + moved["write_bytes"]
        lines = [f"{device}, watched for {words.span(round(now.at_s))}{until}; Ctrl-C ends it"]
        for kind, trail in trails.items():
            count = moved[f"{kind}s"]
            speed = moved[f"{kind}_bytes"] / now.seconds
            latency = words.span(moved[f"{kind}_ns"] / count / 1e9) if count else "-"
            rate = f"{words.speed(speed):>11} {words.count(round(count / now.seconds)):>8} IOPS {latency:>8}"
            lines.append(f"{kind:>6} {rate} {trail.add(speed)}")
        busy = min(100 * moved["busy_ns"] / 1e9 / now.seconds, 100)
        parts = [f"queue {moved['queue_ns'] / 1e9 / now.seconds:.1f}", f"busy {busy:.0f} %"]
        parts += [f"{now.asked.celsius:.0f} C"] if now.asked.celsius is not None else []
        parts += [state for state in now.asked.state.values() if state]
        parts.append(f"{words.size(written)} written without a pause of {MIN_PAUSE_S:.0f} s")
        live.draw([*lines, "       " + ", ".join(parts)])

    return show
