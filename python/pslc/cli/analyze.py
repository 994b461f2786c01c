"""`pslc analyze`: findings of a recording, or of data of another program."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, cast

import typer

from pslc.base import json_text
from pslc.cli._chart_options import (
    Capacity,
    Frame,
    JobOrder,
    Label,
    Link,
    Overlay,
    Series,
    SkipBad,
    Workload,
    X,
    Y,
    chart_option,
    facts_option,
    order_of,
    write_overlays,
    write_tables,
)

if TYPE_CHECKING:
    from pslc.recording.model import Recording
    from pslc.schema.imports import ImportOptions


STDIN = Path("-")
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document")]


def command(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Logs or results of another program, - for stdin, or a run folder"),
    ],
    x: X = None,
    y: Y = None,
    series: Series = None,
    frame: Frame = None,
    label: Label = None,
    overlay: Overlay = None,
    csv: Annotated[Path | None, chart_option("--csv", metavar="FILE", help="Write a chart's curves as tables")] = None,
    celsius: Annotated[str | None, chart_option(metavar="COLUMN", help="Temperature of the drive")] = None,
    capacity: Capacity = None,
    link: Link = None,
    workload: Workload = None,
    prefilled: Annotated[bool, facts_option("--prefilled", help="The drive was full of other data before")] = False,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Device to take from the output of iostat or sar")
    ] = None,
    jobs: JobOrder = None,
    interval: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Interval of iostat's or sar's reports without times (default: 1s)"),
    ] = None,
    skip_bad: SkipBad = False,
    outside: Annotated[
        bool, typer.Option("--outside", help="Explain a simulated drive from its curve alone, as a real one")
    ] = False,
    meter: Annotated[
        Path | None, typer.Option(metavar="LOG", help="Add the CSV log of a power meter to the recording in the folder")
    ] = None,
    as_json: Json = False,
) -> None:
    """Find phases, their causes, the end of the cache and problems in logs, results and recordings.

    Reads logs, JSON and text of fio, CSV tables, and the output of a dozen other programs. Give all logs of one fio run
    together, with its job file or JSON. Logs of iostat -x, sar -d and nvme smart-log get the report of pslc watch. For
    a picture of a chart, give the ranges of its axes: --x 0:2000GB --y 0:7000MB/s.
    """
    from pslc.base import units
    from pslc.base.errors import user_error
    from pslc.schema.imports import ChartOptions, ImportOptions, is_random

    if files[0] != STDIN and files[0].is_dir():
        if len(files) > 1:
            raise user_error(f"pslc analyze takes one recording, not {len(files)}", "pslc compare takes several")
        _show(_of_folder(files[0], outside, meter), as_json)
        return
    if meter is not None:
        raise user_error("--meter needs a recording of pslc", "pslc analyze RUN --meter LOG.csv")
    options = ImportOptions(
        x,
        y,
        skip_bad,
        celsius,
        device,
        order_of(jobs),
        units.seconds(interval, "--interval") if interval else None,
        capacity_bytes=units.size(capacity, "--capacity") if capacity else None,
        link_bytes_per_s=units.link(link, "--link") if link else None,
        random=is_random(workload),
        prefilled=prefilled,
        chart=ChartOptions(tuple(series or ()), frame, tuple(label or ())),
    )
    with _with_stdin(files) as readable:
        recordings = _of_files(readable, options)
        write_overlays(recordings, overlay)
        write_tables(recordings, csv)
    if not as_json:
        for recording in recordings:
            _show(recording, as_json)
        return
    documents = [_document(recording) for recording in recordings]
    print(json_text.text(documents[0] if len(documents) == 1 else documents))


@contextmanager
def _with_stdin(files: list[Path]) -> Iterator[list[Path]]:
    """The files, with what stdin holds as a file in the place of `-`: readers look at a file more than once."""
    from pslc.base import writer
    from pslc.base.errors import PslcError

    if STDIN not in files:
        yield files
        return
    with writer.temporary() as folder:
        held = Path(folder) / "stdin"
        with writer.Stream(held, writer.Replace.NEVER) as file:
            shutil.copyfileobj(sys.stdin.buffer, cast(BinaryIO, file))
        try:
            yield [held if path == STDIN else path for path in files]
        except PslcError as error:
            for fault in {error, *error.faults}:
                fault.message = fault.message.replace(str(held), held.name)
            raise


def _of_files(files: list[Path], options: "ImportOptions") -> "list[Recording]":
    """Recordings of another program's files.

    Raises:
        PslcError: one of them is a drive, or cannot be read, or they hold jobs without results.
    """
    from pslc.base.errors import user_error
    from pslc.recording.store import of_a_drive
    from pslc.runner.load import read_files

    if drive := next((path for path in files if str(path).startswith("sim:")), None):
        raise user_error(*of_a_drive(drive))
    recordings = read_files(files, options)
    _refuse_jobs_alone(recordings[0])
    return recordings


def _refuse_jobs_alone(recording: "Recording") -> None:
    """Refuse jobs without results.

    Raises:
        PslcError: there is nothing else.
    """
    from pslc.base.errors import user_error
    from pslc.schema.jobs import KINDS

    imported = recording.facts.get("imported")
    if imported is None or not recording.jobs or imported["rows"] or len(recording.time["end_ns"]):
        return
    if not any("sync" in job or any(job[kind]["total_ios"] for kind in KINDS) for job in recording.jobs):
        raise user_error(
            f"{imported['name']} holds jobs but no results", "give fio's JSON (--output-format=json) or its logs"
        )


def _document(recording: "Recording") -> dict[str, object]:
    """The recording for JSON, with what was read of another program's data beside it."""
    return {**recording.document(), **recording.facts.get("imported", {})}


def _of_folder(folder: Path, outside: bool, meter: Path | None) -> "Recording":
    """A recording, explained from its curve alone or with the energy of a meter's log if an option asks for it."""
    from pslc.base.errors import user_error
    from pslc.runner.load import opened

    recording = opened(folder)
    if outside:
        from pslc.recording.writes.findings import of_writes

        if "phases" not in recording.findings:
            raise user_error(f"{folder} has no phases to explain", "--outside works on fills and job files")
        recording.findings |= of_writes(recording, outside=True)
    if meter is not None:
        from pslc.recording import store
        from pslc.runner import campaign

        recording = campaign.metered(recording, meter)
        store.save(recording, folder)
    return recording


def _show(recording: "Recording", as_json: bool) -> None:
    from pslc.report import recording_view, terminal

    if as_json:
        print(json_text.text(recording.document()))
    else:
        terminal.show(recording_view.of_recording(recording))
