"""Options of commands that read foreign files, spelled alike everywhere, and what is written beside the output."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

if TYPE_CHECKING:
    from pslc.formats import ImportedData, ImportOptions

PANEL = "Pictures of charts, and tables"
FACTS = "What the files do not report"

X = Annotated[
    str | None,
    typer.Option(
        "--x", help="Range of a chart's axis, or column of a table", metavar="0:2000GB|COL=GB", rich_help_panel=PANEL
    ),
]
Y = Annotated[
    str | None,
    typer.Option(
        "--y",
        help="Range of its speed axis, or speed column of a table",
        metavar="0:7000MB/s|COL=MB/s",
        rich_help_panel=PANEL,
    ),
]
Series = Annotated[
    list[str] | None,
    typer.Option(
        "--series",
        help="Color of a chart's curve, repeatable (default: all)",
        metavar="blue|#1f77b4",
        rich_help_panel=PANEL,
    ),
]
Frame = Annotated[
    str | None,
    typer.Option(
        "--frame",
        help="Pixels where --x and --y begin and end (default: detected)",
        metavar="LEFT,TOP,RIGHT,BOTTOM",
        rich_help_panel=PANEL,
    ),
]
Overlay = Annotated[
    Path | None,
    typer.Option(
        "--overlay", help="Write the picture with the detected curves over it", metavar="PNG", rich_help_panel=PANEL
    ),
]

Workload = Annotated[
    str | None, typer.Option(metavar="random|sequential", help="How the data were written", rich_help_panel=FACTS)
]
JobOrder = Annotated[
    str | None,
    typer.Option(metavar="together|serial", help="Order of the jobs of several fio logs", rich_help_panel=FACTS),
]
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
    x: str | None,
    y: str | None,
    series: Sequence[str] | None,
    frame: str | None,
    capacity: str | None = None,
) -> "ImportOptions":
    """Build the import options of a picture or of a table from the command line."""
    from pslc.base import units
    from pslc.formats import ChartOptions, ImportOptions

    capacity_bytes = units.size(capacity, "--capacity") if capacity else None
    return ImportOptions(x, y, capacity_bytes=capacity_bytes, chart=ChartOptions(tuple(series or ()), frame))


def pictures(paths: Sequence[Path], hints: "ImportOptions") -> "list[ImportedData]":
    """The curve of a picture, where one is given.

    Raises:
        PslcError: it cannot be read.
    """
    from pslc import formats

    return [formats.read(paths, hints)] if len(paths) == 1 and formats.is_picture(paths[0]) else []


def write_overlays(read: "Iterable[ImportedData]", named: Path | None, output: Path | None = None) -> None:
    """Draw what was read of pictures over them: into the file that is named, or beside an output, `page.chart.png` for
    `page.html`; nowhere where there is neither.

    Raises:
        PslcError: a picture cannot be written, or one file is named for several.
    """
    from pslc.base.errors import user_error
    from pslc.base.writer import Replace
    from pslc.formats.chart import overlay

    pictures = list({id(data.chart.picture): data.chart.picture for data in read if data.chart}.values())
    if named is not None and len(pictures) != 1:
        raise user_error(f"--overlay names one file for {len(pictures)} pictures", "read one picture at a time")
    for number, picture in enumerate(pictures, 1):
        if named is None and output is None:
            return
        end = ".chart.png" if len(pictures) == 1 else f".chart-{number}.png"
        path = named or output.with_suffix(end)  # type: ignore[union-attr]
        overlay.write(picture, path, Replace.ANY if named else Replace.OURS)
        typer.echo(f"what was read, over the picture: {path}", err=True)


def write_tables(read: "Sequence[ImportedData]", path: Path | None) -> None:
    """Write the curves of a picture as tables.

    Raises:
        PslcError: there is no picture, or a file cannot be written.
    """
    from pslc.base.errors import user_error
    from pslc.formats.chart import overlay

    if path is None:
        return
    if not read[0].chart:
        raise user_error("--csv is for the curves of a picture", "the data are a table already")
    for place in overlay.write_tables(read[0].chart.picture, path):
        typer.echo(f"curve: {place}", err=True)
