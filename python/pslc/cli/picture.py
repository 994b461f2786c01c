"""`pslc picture`: a chart of recordings that is published as it is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.base.console import say
from pslc.charts.style import Axis, Language, Style, Theme
from pslc.cli import _defaults

if TYPE_CHECKING:
    from pslc.charts.chart import Chart
    from pslc.recording.comparison import Side

LOOKS = "Appearance"


def command(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, or files of other programs; 12 at most")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="File to write: .png, .svg, .pdf or .html")
    ],
    label: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="Name of the drive of each run, in order")
    ] = None,
    x: Annotated[Axis | None, typer.Option("--x", help="X axis of the curves (default: bytes)")] = None,
    bars: Annotated[
        str | None,
        typer.Option(metavar="FIGURE", help="Draw one figure of each run as bars, such as mean, cache, phase 2"),
    ] = None,
    pool: Annotated[bool, typer.Option("--pool", help="Count runs of one job on one drive as repeats")] = False,
    capacity: Annotated[
        str | None, typer.Option(help="Capacity of the drive, for files of other programs and --x percent")
    ] = None,
    theme: Annotated[
        Theme | None, typer.Option(help="Background color (default: white)", rich_help_panel=LOOKS)
    ] = None,
    language: Annotated[Language, typer.Option(help="Language of the labels", rich_help_panel=LOOKS)] = Language.EN,
    title: Annotated[
        str, typer.Option(metavar="TEXT", help="Title (default: the drive and its capacity)", rich_help_panel=LOOKS)
    ] = "",
    color: Annotated[
        list[str] | None,
        typer.Option(metavar="COLOR", help="Color of each curve, in order", rich_help_panel=LOOKS),
    ] = None,
    logo: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Logo for the upper right corner", rich_help_panel=LOOKS)
    ] = None,
    watermark: Annotated[str, typer.Option(metavar="TEXT", help="Text across the chart", rich_help_panel=LOOKS)] = "",
    width: Annotated[int, typer.Option(help="Width in pixels", rich_help_panel=LOOKS)] = 1600,
    height: Annotated[int, typer.Option(help="Height in pixels", rich_help_panel=LOOKS)] = 800,
) -> None:
    """Draw one chart of a recording, or of up to 12 side by side.

    Write curves are labeled with their phases, speeds and the end of the cache. Results without a curve, such as
    CrystalDiskMark's, become bars. Needs pip install 'pslc\\[pictures]', and no browser.
    """
    from pslc.base import units
    from pslc.charts import draw
    from pslc.formats import ImportOptions
    from pslc.recording import comparison
    from pslc.runner.load import read_sides

    style = Style(Theme(_defaults.theme(theme)), language, logo, watermark, tuple(color or ()), title, width, height)
    draw.check_installed()
    capacity_bytes = units.size(capacity, "--capacity") if capacity else None
    hints = ImportOptions(capacity_bytes=capacity_bytes)
    sides = [_with_capacity(side, capacity_bytes) for run in runs for side in read_sides(run, hints)]
    sides = comparison.named(comparison.pooled(sides) if pool else sides, label or [])
    draw.write(_chart(sides, x, bars), output, style)
    say(str(output))


def _chart(sides: "list[Side]", x: Axis | None, bars: str | None) -> "Chart":
    from pslc.recording import charting

    if bars is not None:
        return charting.bars_of_sides(sides, bars)
    if len(sides) == 1:
        return charting.of_recording(sides[0].recording, x, sides[0].name)
    return charting.of_sides(sides, x or Axis.BYTES)


def _with_capacity(side: "Side", capacity_bytes: int | None) -> "Side":
    """A side whose drive has the capacity that was given, where a file does not tell it."""
    from dataclasses import replace

    if capacity_bytes is None or side.recording.drive_bytes:
        return side
    return replace(side, repeats=tuple(replace(recording, capacity_bytes=capacity_bytes) for recording in side.repeats))
