"""Options of commands that read foreign files, spelled alike everywhere, and what is written beside the output."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

if TYPE_CHECKING:
    from pslc.recording.model import Recording
    from pslc.schema.imports import ImportOptions

chart_option = partial(typer.Option, rich_help_panel="Pictures of charts, and tables")
facts_option = partial(typer.Option, rich_help_panel="What the files do not report")

X = Annotated[
    str | None, chart_option("--x", help="Range of a chart's axis, or column of a table", metavar="0:2000GB|COL=GB")
]
Y = Annotated[
    str | None,
    chart_option("--y", help="Range of its speed axis, or speed column of a table", metavar="0:7000MB/s|COL=MB/s"),
]
Capacity = Annotated[
    str | None, facts_option(metavar="SIZE", help="Capacity of the drive, such as 1TB (default: as recorded)")
]
Label = Annotated[
    list[str] | None, typer.Option(metavar="TEXT", help="Name of the drive of each run or curve, in order")
]
Link = Annotated[
    str | None, facts_option(metavar="LINK", help="Link of the drive: sata600, pcie3x4, or a speed such as 1GB/s")
]
Series = Annotated[
    list[str] | None,
    chart_option("--series", help="Color of a chart's curve, repeatable (default: all)", metavar="blue|#1f77b4"),
]
Frame = Annotated[
    str | None,
    chart_option(
        "--frame", help="Pixels where --x and --y begin and end (default: detected)", metavar="LEFT,TOP,RIGHT,BOTTOM"
    ),
]
Overlay = Annotated[
    Path | None, chart_option("--overlay", help="Write the picture with the detected curves over it", metavar="PNG")
]

Workload = Annotated[str | None, facts_option(metavar="random|sequential", help="How the data were written")]
JobOrder = Annotated[str | None, facts_option(metavar="together|serial", help="Order of the jobs of several fio logs")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out lines that cannot be read")]


def order_of(jobs: str | None) -> Literal["together", "serial"] | None:
    """The order of `--jobs`.

    Raises:
        PslcError: it is neither.
    """
    from pslc.base.errors import user_error

    if jobs not in (None, "together", "serial"):
        raise user_error(f'--jobs is "{jobs}"', "together or serial")
    return cast(Literal["together", "serial"] | None, jobs)


def import_options(
    x: str | None, y: str | None, series: Sequence[str] | None, frame: str | None, capacity: str | None = None
) -> "ImportOptions":
    """Build the import options of a picture or of a table from the command line."""
    from pslc.base import units
    from pslc.schema.imports import ChartOptions, ImportOptions

    capacity_bytes = units.size(capacity, "--capacity") if capacity else None
    return ImportOptions(x, y, capacity_bytes=capacity_bytes, chart=ChartOptions(tuple(series or ()), frame))


def write_overlays(recordings: "Sequence[Recording]", named: Path | None, output: Path | None = None) -> None:
    """Draw what was read of pictures over them: into the file that is named, or beside an output, `page.chart.png` for
    `page.html`; nowhere where there is neither.

    Raises:
        PslcError: a picture cannot be written, or one file is named for several.
    """
    from pslc import extras

    of = extras.Service.OVERLAYS
    for drawer in extras.services(of) if named is None else [extras.service(of)]:
        for place in drawer.write_overlays(recordings, named, output):
            typer.echo(f"what was read, over the picture: {place}", err=True)


def write_tables(recordings: "Sequence[Recording]", path: Path | None) -> None:
    """Write the curves of a picture as tables.

    Raises:
        PslcError: there is no picture, or a file cannot be written.
    """
    from pslc import extras

    if path is not None:
        for place in extras.service(extras.Service.OVERLAYS).write_tables(recordings, path):
            typer.echo(f"curve: {place}", err=True)
