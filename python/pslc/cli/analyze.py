"""`pslc analyze`: what a recording says, ours or another program's."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pslc.recording.store import Recording


def command(
    files: Annotated[list[Path], typer.Argument(help="Logs or results of another program, or a run folder of pslc's.")],
    x: Annotated[
        str | None, typer.Option("--x", help="Column of what was written, or of time, and its unit.", metavar="COL=GB")
    ] = None,
    y: Annotated[str | None, typer.Option("--y", help="Column of the speed, and its unit.", metavar="COL=MB/s")] = None,
    capacity: Annotated[str | None, typer.Option(help="Capacity of the drive; tells a whole fill from a part.")] = None,
    workload: Annotated[
        str | None, typer.Option(help="How it was written, where the files do not tell.", metavar="random|sequential")
    ] = None,
    prefilled: Annotated[bool, typer.Option("--prefilled", help="The drive was full of other data before.")] = False,
    link: Annotated[
        str | None, typer.Option(help="Link of the drive: sata600, pcie3x4, or a speed such as 1GB/s.", metavar="LINK")
    ] = None,
    celsius: Annotated[
        str | None, typer.Option(help="Column of the drive's temperature in a table.", metavar="COL")
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out lines that cannot be read.")] = False,
    outside: Annotated[
        bool, typer.Option("--outside", help="Explain a simulated drive from its curve alone, as if it were real.")
    ] = False,
    device: Annotated[
        str | None, typer.Option(help="Which device of iostat's or sar's output.", metavar="NAME")
    ] = None,
    meter: Annotated[
        Path | None,
        typer.Option(help="CSV log of a power meter, which the recording in the folder keeps.", metavar="LOG"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Find phases, the end of the cache and doubts in anyone's data.

    It reads fio's logs (--write_bw_log; give those of all jobs of a run together, with its job file or JSON, which tell
    how it was written), fio's JSON, blkparse's text, tables (CSV), and results of Iometer, CrystalDiskMark, AS SSD and
    NIOBench. For iostat -x, sar -d and nvme smart-log of a drive at work it answers as pslc watch does.
    """
    from pslc import formats
    from pslc.analysis import MeasurementContext
    from pslc.base import units
    from pslc.base.errors import user_error
    from pslc.formats import ImportOptions
    from pslc.recording import imported
    from pslc.recording.store import of_a_drive
    from pslc.report import recording_view, terminal
    from pslc.runner.load import analysed
    from pslc.schema.jobs import KINDS
    from pslc.schema.warnings import documented
    from pslc.watch.recorded import of_foreign

    if files[0].is_dir():
        if len(files) > 1:
            raise user_error(f"{len(files)} recordings at once", "pslc compare sets several beside each other")
        _show(_of_folder(files[0], outside, meter), as_json)
        return
    if meter is not None:
        raise user_error("--meter goes with a recording of pslc's", "pslc analyze RUN --meter LOG.csv")
    if workload not in (None, "random", "sequential"):
        raise user_error(f'--workload is "{workload}"', "random or sequential")
    told = MeasurementContext(
        capacity_bytes=units.size(capacity, "--capacity") if capacity else None,
        link_bytes_per_s=units.link(link, "--link") if link else None,
        random=None if workload is None else workload == "random",
        prefilled=prefilled,
    )
    if drive := next((path for path in files if str(path).startswith("sim:")), None):
        raise user_error(*of_a_drive(drive))
    data = formats.read(files, ImportOptions(x, y, skip_bad, celsius, device))
    if data.at_work:
        _show(analysed(of_foreign(data, files[0])), as_json)
        return
    done = any(job[kind]["total_ios"] for job in data.jobs for kind in KINDS)
    if data.jobs and data.curve is None and not data.rows and not done:
        raise user_error(
            f"{data.name} says what is done, not what came of it", "fio's JSON or logs: --output-format=json"
        )
    findings = imported.analyzed(data, told)
    if as_json:
        found = {
            "name": data.name,
            "findings": documented(findings),
            "doubts": documented(findings["doubts"]),
            "jobs": data.jobs,
            "rows": [asdict(row) for row in data.rows],
            "notes": data.notes,
            "bad_lines": data.bad_lines,
        }
        print(json.dumps(found, indent=1))
    else:
        terminal.show(recording_view.of_foreign(data, findings))


def _of_folder(folder: Path, outside: bool, meter: Path | None) -> "Recording":
    """One of pslc's, explained from outside or with the energy of a meter's log if that is asked for."""
    from pslc.base.errors import user_error
    from pslc.runner.load import opened

    recording = opened(folder)
    if outside:
        from pslc.recording.writes import of_writes

        if "phases" not in recording.findings:
            raise user_error(f"{folder} has no phases to explain", "--outside is for fills and job files")
        recording.findings |= of_writes(recording, outside=True)
    if meter is not None:
        from pslc.runner import campaign

        recording = campaign.metered(recording, meter)
        recording.save(folder)
    return recording


def _show(recording: "Recording", as_json: bool) -> None:
    from pslc.report import recording_view, terminal

    if as_json:
        print(json.dumps(recording.document(), indent=1))
    else:
        terminal.show(recording_view.of_recording(recording))
