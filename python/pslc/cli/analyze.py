"""`pslc analyze`: findings of a recording, or of data of another program."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.cli._chart_options import (
    FACTS,
    PANEL,
    Frame,
    JobOrder,
    Overlay,
    Series,
    SkipBad,
    Workload,
    X,
    Y,
    order_of,
    write_overlays,
    write_tables,
)

if TYPE_CHECKING:
    from pslc.analysis import MeasurementContext, Writes
    from pslc.formats import ImportedData
    from pslc.recording.store import Recording


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document")]


def command(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Logs or results of another program, or a run folder")
    ],
    x: X = None,
    y: Y = None,
    series: Series = None,
    frame: Frame = None,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="Name of the drive of each curve, in order", rich_help_panel=PANEL),
    ] = None,
    overlay: Overlay = None,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write a chart's curves as tables", rich_help_panel=PANEL),
    ] = None,
    celsius: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Temperature of the drive", rich_help_panel=PANEL)
    ] = None,
    capacity: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Capacity of the drive, such as 1TB", rich_help_panel=FACTS)
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(
            metavar="LINK", help="Link of the drive: sata600, pcie3x4, or a speed such as 1GB/s", rich_help_panel=FACTS
        ),
    ] = None,
    workload: Workload = None,
    prefilled: Annotated[
        bool, typer.Option("--prefilled", help="The drive was full of other data before", rich_help_panel=FACTS)
    ] = False,
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
    from pslc import formats
    from pslc.base import units
    from pslc.base.errors import user_error
    from pslc.formats import ChartOptions, ImportOptions
    from pslc.recording.store import of_a_drive
    from pslc.runner.load import analysed
    from pslc.watch.recorded import of_foreign

    if files[0].is_dir():
        if len(files) > 1:
            raise user_error(f"pslc analyze takes one recording, not {len(files)}", "pslc compare takes several")
        _show(_of_folder(files[0], outside, meter), as_json)
        return
    if meter is not None:
        raise user_error("--meter needs a recording of pslc", "pslc analyze RUN --meter LOG.csv")
    stated = _stated(capacity, link, workload, prefilled)
    if drive := next((path for path in files if str(path).startswith("sim:")), None):
        raise user_error(*of_a_drive(drive))
    interval_s = units.seconds(interval, "--interval") if interval else None
    order = order_of(jobs)
    chart = ChartOptions(tuple(series or ()), frame, tuple(name or ()))
    options = ImportOptions(x, y, skip_bad, celsius, device, order, interval_s, stated.capacity_bytes, chart=chart)
    read = formats.read_each(files, options)
    write_overlays(read, overlay)
    write_tables(read, csv)
    if read[0].chart:
        _show_curves(read, stated, as_json)
        return
    (data,) = read
    if data.at_work:
        _show(analysed(of_foreign(data, files[0])), as_json)
        return
    _show_data(data, stated, as_json)


def _stated(capacity: str | None, link: str | None, workload: str | None, prefilled: bool) -> "MeasurementContext":
    """What the options tell of a measurement.

    Raises:
        PslcError: one of them cannot be read.
    """
    from pslc.analysis import MeasurementContext
    from pslc.base import units
    from pslc.recording.imported import check_workload

    check_workload(workload)
    return MeasurementContext(
        capacity_bytes=units.size(capacity, "--capacity") if capacity else None,
        link_bytes_per_s=units.link(link, "--link") if link else None,
        random=None if workload is None else workload == "random",
        prefilled=prefilled,
    )


def _show_data(data: "ImportedData", stated: "MeasurementContext", as_json: bool) -> None:
    """Analyze the data of another program, and print the findings.

    Raises:
        PslcError: they are jobs without results.
    """
    from pslc.base.errors import user_error
    from pslc.recording import imported
    from pslc.report import recording_view, terminal
    from pslc.schema.jobs import KINDS

    has_requests = any(job[kind]["total_ios"] for job in data.jobs for kind in KINDS)
    if data.jobs and data.curve is None and not data.rows and not has_requests:
        raise user_error(f"{data.name} holds jobs but no results", "give fio's JSON (--output-format=json) or its logs")
    findings = imported.analyzed(data, stated)
    if as_json:
        print(json.dumps(_document(data, findings), indent=1))
    else:
        terminal.show(recording_view.of_foreign(data, findings))


def _show_curves(curves: "list[ImportedData]", stated: "MeasurementContext", as_json: bool) -> None:
    """What the curves of a picture say, one after the other; in JSON a list."""
    from pslc.recording import imported
    from pslc.report import recording_view, terminal

    analyzed = [(data, imported.analyzed(data, stated)) for data in curves]
    if as_json:
        documents = [_document(data, findings) for data, findings in analyzed]
        print(json.dumps(documents[0] if len(documents) == 1 else documents, indent=1))
        return
    for data, findings in analyzed:
        terminal.show(recording_view.of_foreign(data, findings))


def _document(data: "ImportedData", findings: "Writes") -> dict[str, object]:
    """For JSON."""
    from pslc.schema.warnings import documented

    return {
        "name": data.name,
        "read_as": data.read_as,
        "kind": data.kind,
        "idle_s": data.idle_s,
        "findings": documented(findings),
        "doubts": documented(findings["doubts"]),
        "jobs": data.jobs,
        "rows": [asdict(row) for row in data.rows],
        "notes": data.notes,
        "bad_lines": data.bad_lines,
    }


def _of_folder(folder: Path, outside: bool, meter: Path | None) -> "Recording":
    """A recording, explained from its curve alone or with the energy of a meter's log if an option asks for it."""
    from pslc.base.errors import user_error
    from pslc.runner.load import opened

    recording = opened(folder)
    if outside:
        from pslc.recording.writes import of_writes

        if "phases" not in recording.findings:
            raise user_error(f"{folder} has no phases to explain", "--outside works on fills and job files")
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
