"""`pslc fit`: a simulated twin of a measured drive."""

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.base.console import say

if TYPE_CHECKING:
    from pslc.twin.fit_report import FitReport

from pslc.cli._chart_options import (
    Frame,
    JobOrder,
    Overlay,
    Series,
    SkipBad,
    Workload,
    X,
    Y,
    import_options,
    order_of,
    pictures,
    write_overlays,
)

DATA = "The data"


def command(
    data: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DATA", help="Run folders of one drive, a log of another program, or a chart's picture"),
    ] = None,
    published: Annotated[
        str | None,
        typer.Option(help="Published figures in place of data", metavar='"cache=435GB speed1=4000MB/s ..."'),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the profile to this file", metavar="TWIN.toml")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help="Write the page to this file (default: beside -o)", metavar="PAGE.html")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the twin (default: that of the drive)")] = None,
    capacity: Annotated[
        str | None, typer.Option(help="Capacity of the drive (default: as recorded)", rich_help_panel=DATA)
    ] = None,
    link: Annotated[str | None, typer.Option(help="Link, such as sata600 or pcie4x4", rich_help_panel=DATA)] = None,
    nand: Annotated[
        str | None,
        typer.Option(
            help="NAND die (pslc drives parts lists them), or tlc or qlc", metavar="PART", rich_help_panel=DATA
        ),
    ] = None,
    controller: Annotated[
        str | None, typer.Option(help="Controller (pslc drives parts lists them)", metavar="PART", rich_help_panel=DATA)
    ] = None,
    written_by: Annotated[
        str | None,
        typer.Option(help="Load that wrote a log or a review's curve", metavar="qd32|qd1|copy", rich_help_panel=DATA),
    ] = None,
    x: X = None,
    y: Y = None,
    series: Series = None,
    frame: Frame = None,
    overlay: Overlay = None,
    workload: Workload = None,
    jobs: JobOrder = None,
    skip_bad: SkipBad = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 if the fit is poor")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
) -> None:
    """Fit a simulated twin to measurements of a drive, and report which values are still unknown.

    The profile goes to -o, or to stdout. Use it as sim:./TWIN.toml.
    """
    from pslc.base.errors import user_error
    from pslc.cli._progress import Bar

    if find_spec("scipy") is None:
        raise user_error("pslc fit needs scipy", "pip install 'pslc[fit]'")
    from pslc.twin import api

    paths = data or []
    hints = replace(import_options(x, y, series, frame, capacity), order=order_of(jobs), skip_bad=skip_bad)
    write_overlays(pictures(paths, hints), overlay, output)
    if name is None and output is not None and not any(path.is_dir() for path in paths):
        name = output.stem
    with Bar("fit") as bar:
        report = api.fit(
            paths,
            name=name,
            on_progress=bar.log,
            published=published,
            capacity=capacity,
            link=link,
            nand=nand,
            controller=controller,
            written_by=written_by,
            workload=workload,
            chart=hints,
        )
    _write(report, output, page)
    _show(report, output, as_json)
    if output is not None:
        page = page or output.with_suffix(".html")
        say(f"profile: {output}, page: {page}; use it as sim:./{output.name}", err=True)
    if strict and report.result.is_poor:
        raise typer.Exit(1)


def _write(report: "FitReport", output: Path | None, page: Path | None) -> None:
    """Write the profile and the page."""
    from pslc.base.errors import user_error
    from pslc.base.writer import Replace
    from pslc.report import page as pages

    replaces = Replace.ANY if page else Replace.OURS
    page = page or (output.with_suffix(".html") if output else None)
    try:
        if output is not None:
            report.save(output)
        if page is not None:
            pages.write_fit(report, page, replaces)
    except OSError as error:
        raise user_error(f"{error.filename}: {error.strerror}", "give -o a file that can be written") from None


def _show(report: "FitReport", output: Path | None, as_json: bool) -> None:
    from pslc.report import terminal

    if as_json:
        print(json.dumps(report.document(), indent=1))
    elif output is None:
        print(report.profile, end="")
    else:
        terminal.show_fit(report)
