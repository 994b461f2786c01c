"""`pslc compare`: recordings side by side."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pslc.cli._chart_options import Frame, Overlay, Series, X, Y, import_options, write_overlays


class TableFormat(StrEnum):
    """Format of a table for an article, a forum or a spreadsheet."""

    MARKDOWN = "markdown"
    BBCODE = "bbcode"
    CSV = "csv"
    HTML = "html"


class Align(StrEnum):
    """Axis along which curves are compared."""

    BYTES = "bytes"
    TIME = "time"


def command(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="Run folders, catalogues, or files of other programs; the first is the baseline"
        ),
    ],
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="Name of each run, in order (default: its drive)"),
    ] = None,
    tolerance: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML of allowed differences; exit 1 beyond one of them"),
    ] = None,
    pool: Annotated[bool, typer.Option("--pool", help="Count runs of one job on one drive as repeats")] = False,
    align: Annotated[
        Align | None, typer.Option(help="Also compare the speed in each tenth of the common bytes or time")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PAGE.html", help="Also write a page with all curves")
    ] = None,
    x: X = None,
    y: Y = None,
    series: Series = None,
    frame: Frame = None,
    overlay: Overlay = None,
    capacity: Annotated[str | None, typer.Option(help="Capacity of the drive, for a chart's --x 0:100%")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
    table: Annotated[
        TableFormat | None, typer.Option(help="Print the figures as a table to paste", show_choices=True)
    ] = None,
) -> None:
    """Compare recordings: numbers, ratios, and differences beyond the noise.

    Each curve in a picture of a chart (--x 0:2000GB --y 0:7000MB/s) counts as a recording.

    Repeats (pslc run --repeat, or --pool) share a column: the mean of each number, and its 90 % interval. A tolerance
    file limits differences by name: "mean" = "5%", "cache" = "3%"; "*" stands for all others.
    """
    from pslc.base.errors import user_error
    from pslc.recording import change_summary, comparison
    from pslc.report import terminal
    from pslc.runner.load import catalogue, read_sides, read_suites

    limits = comparison.read_tolerance(tolerance) if tolerance else {}
    if any(catalogue(run) for run in runs):
        if pool or align is not None:
            raise user_error(
                "--pool and --align do not work on catalogues", "name single suites: pslc compare a/fill b/fill"
            )
        suites = read_suites(runs)
        sides = comparison.named(next(iter(suites.values())), label or [])
        rows = comparison.compare_suites(suites, limits)
    else:
        suites = {}
        hints = import_options(x, y, series, frame, capacity)
        read = [side for run in runs for side in read_sides(run, hints)]
        if len(read) < 2:
            raise user_error("pslc compare needs two recordings or more", "for example: pslc compare runs/a runs/b")
        write_overlays((side.foreign for side in read if side.foreign), overlay, output)
        sides = comparison.named(comparison.pooled(read) if pool else read, label or [])
        rows = comparison.compare(sides, limits, align)
    if output is not None:
        from pslc.base.writer import Replace
        from pslc.report import page

        page.write_comparison(sides, rows, output, suites, Replace.ANY)
    if as_json:
        names = [{"name": side.name, "repeats": len(side.repeats)} for side in sides]
        figures = [row.document() for row in rows]
        summary = change_summary.verdicts(sides, rows)
        document = {"runs": [str(run) for run in runs], "sides": names, "verdicts": summary, "figures": figures}
        print(json.dumps(document, indent=1))
    elif table is not None:
        from pslc.figures import table_text, tables

        typer.echo(table_text.render(tables.of_comparison([side.name for side in sides], rows), table), nl=False)
    else:
        terminal.show_comparison(sides, rows, suites)
    if any(row.out_of_tolerance for row in rows):
        raise typer.Exit(1)
