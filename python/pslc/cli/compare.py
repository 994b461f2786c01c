"""`pslc compare`: recordings side by side."""

import json
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.cli._chart_options import Capacity, Frame, Label, Overlay, Series, X, Y, import_options, write_overlays

if TYPE_CHECKING:
    from pslc.recording.comparison import Compared, Side
    from pslc.schema.imports import ImportOptions


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
    label: Label = None,
    tolerance: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML of allowed differences; exit 1 beyond one of them"),
    ] = None,
    pool: Annotated[bool, typer.Option("--pool", help="Count runs of one job on one drive as repeats")] = False,
    align: Annotated[
        Align | None, typer.Option(help="Also compare the speed in each tenth of the common bytes or time")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Also write a page with all curves (.html)")
    ] = None,
    x: X = None,
    y: Y = None,
    series: Series = None,
    frame: Frame = None,
    overlay: Overlay = None,
    capacity: Capacity = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
    every: Annotated[bool, typer.Option("--all", help="Also show the figures of single jobs")] = False,
    table: Annotated[
        TableFormat | None, typer.Option(help="Print the figures as a table to paste", show_choices=True)
    ] = None,
) -> None:
    """Compare recordings: numbers, ratios, and differences beyond the noise.

    Each curve in a picture of a chart (--x 0:2000GB --y 0:7000MB/s) counts as a recording.

    Repeats (pslc run --repeat, or --pool) share a column: the mean of each number, and its 90 % interval. A tolerance
    file limits differences by name: "mean" = "5%", "cache" = "3%"; "*" stands for all others.
    """
    from pslc.base import writer
    from pslc.recording import comparison
    from pslc.runner.load import catalogue

    limits = comparison.read_tolerance(tolerance) if tolerance else {}
    if output is not None:
        writer.check_ending(output, ".html")
    if any(catalogue(run) for run in runs):
        _refuse_of_single(pool, align)
        compared = _Comparison.of_catalogues(runs, label or [], limits)
    else:
        read = _read(runs, import_options(x, y, series, frame, capacity))
        write_overlays([side.recording for side in read], overlay, output)
        sides = comparison.named(comparison.pooled(read) if pool else read, label or [])
        compared = _Comparison(sides, comparison.compare(sides, limits, align))
    if output is not None:
        compared.write(output)
    if as_json and output != writer.STDOUT:
        print(json.dumps({"runs": [str(run) for run in runs], **compared.document()}, indent=1))
    elif output != writer.STDOUT:
        compared.show(table, jobs=every)
    if compared.is_out_of_tolerance:
        raise typer.Exit(1)


def _refuse_of_single(pool: bool, align: str | None) -> None:
    """Refuse, for catalogues, options that single suites take.

    Raises:
        PslcError: one is given.
    """
    from pslc.base.errors import user_error

    if pool or align is not None:
        hint = "name single suites: pslc compare a/fill b/fill"
        raise user_error("--pool and --align do not work on catalogues", hint)


def _read(runs: list[Path], hints: "ImportOptions") -> "list[Side]":
    """Read the sides of a comparison.

    Raises:
        PslcError: one of them cannot be read, or there are fewer than two.
    """
    from pslc.base.errors import user_error
    from pslc.runner.load import read_sides

    sides = [side for run in runs for side in read_sides(run, hints)]
    if len(sides) < 2:
        raise user_error("pslc compare needs two recordings or more", "for example: pslc compare runs/a runs/b")
    return sides


@dataclass(frozen=True)
class _Comparison:
    """Recordings side by side, and their figures.

    Attributes:
        suites: recordings by suite, of catalogues.
    """

    sides: "list[Side]"
    rows: "list[Compared]"
    suites: "dict[str, list[Side]]" = field(default_factory=dict)

    @classmethod
    def of_catalogues(cls, runs: list[Path], labels: list[str], limits: dict[str, float]) -> "_Comparison":
        """Read catalogues, and compare them suite by suite."""
        from pslc.recording import comparison
        from pslc.runner.load import read_suites

        suites = read_suites(runs)
        sides = comparison.named(next(iter(suites.values())), labels)
        return cls(sides, comparison.compare_suites(suites, limits), suites)

    @property
    def is_out_of_tolerance(self) -> bool:
        """Whether a figure differs by more than the tolerance file allows."""
        return any(row.out_of_tolerance for row in self.rows)

    def document(self) -> dict[str, object]:
        """The comparison for JSON, without the names of the runs."""
        from pslc.recording import change_summary

        return {
            "sides": [
                {"name": side.name, "repeats": len(side.repeats), "engine": side.recording.engine}
                for side in self.sides
            ],
            "verdicts": change_summary.verdicts(self.sides, self.rows),
            "figures": [row.document() for row in self.rows],
        }

    def write(self, output: Path) -> None:
        """Write the comparison's page."""
        from pslc.base.writer import Replace
        from pslc.report import page

        page.write_comparison(self.sides, self.rows, output, self.suites, Replace.ANY)

    def show(self, table: TableFormat | None, *, jobs: bool) -> None:
        """Print the comparison for people, or its figures as a table to paste."""
        from pslc.figures import table_text, tables
        from pslc.recording import comparison
        from pslc.report import terminal
        from pslc.runner import pictures

        if table is None:
            fills = zip(self.suites.get("fill", self.sides), self.sides, strict=True)
            drawn = pictures.of_comparison([replace(fill, name=side.name) for fill, side in fills])
            terminal.show_comparison(self.sides, self.rows, drawn, list(self.suites), jobs=jobs)
            return
        rows = self.rows if jobs else comparison.without_jobs(self.rows)
        figures = tables.of_comparison(self.sides, rows)
        typer.echo(table_text.render(figures, table), nl=False)
