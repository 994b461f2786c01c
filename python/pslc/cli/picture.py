"""`pslc picture`: a chart of recordings that is published as it is."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from pslc.base.console import say
from pslc.cli import _defaults
from pslc.cli._chart_options import Capacity, Label, Link, Workload, X, Y, import_options
from pslc.figures.style import Across, Language, Style, Theme

looks_option = partial(typer.Option, rich_help_panel="Appearance")


def command(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, or files of other programs; 12 at most")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="File to write: .png, .svg, .pdf or .html")
    ],
    label: Label = None,
    axis: Annotated[
        Across | None, typer.Option(help="X axis of write curves (default: the chart of the suite)")
    ] = None,
    bars: Annotated[
        str | None,
        typer.Option(metavar="FIGURE", help="Draw one figure of each run as bars, such as mean, cache, phase 2"),
    ] = None,
    pool: Annotated[bool, typer.Option("--pool", help="Count runs of one job on one drive as repeats")] = False,
    x: X = None,
    y: Y = None,
    capacity: Capacity = None,
    link: Link = None,
    workload: Workload = None,
    theme: Annotated[Theme | None, looks_option(help="Background color (default: white)")] = None,
    language: Annotated[Language | None, looks_option(help="Language of the labels (default: that of LANG)")] = None,
    title: Annotated[str, looks_option(metavar="TEXT", help="Title (default: the drive and its capacity)")] = "",
    color: Annotated[list[str] | None, looks_option(metavar="COLOR", help="Color of each curve, in order")] = None,
    logo: Annotated[Path | None, looks_option(metavar="FILE", help="Logo for the upper right corner")] = None,
    watermark: Annotated[str, looks_option(metavar="TEXT", help="Text across the chart")] = "",
    width: Annotated[int, looks_option(metavar="PIXELS", help="Width in pixels")] = 1600,
    height: Annotated[
        int | None, looks_option(metavar="PIXELS", help="Height in pixels (default: 800, or what the bars need)")
    ] = None,
) -> None:
    """Draw the chart of a recording, or of up to 12 in one picture.

    Each suite has a chart of its own: write curves with phases and the end of the cache, bars of CrystalDiskMark's
    table, IOPS and latency over queue depth. Results without a curve become bars. Needs pip install
    'pslc\\[pictures]', and no browser.
    """
    from pslc.base import units
    from pslc.figures import draw, vocabulary
    from pslc.figures.document import document
    from pslc.recording import comparison
    from pslc.runner import pictures
    from pslc.runner.load import read_sides
    from pslc.schema.imports import is_random

    looks = Style(Theme(_defaults.theme(theme)), language or vocabulary.of_environment(), logo, watermark,
                  tuple(color or ()), title, width, height or 0)  # fmt: skip
    draw.check_installed()
    link_bytes_per_s = units.link(link, "--link") if link else None
    hints = import_options(x, y, None, None, capacity)
    hints = replace(hints, link_bytes_per_s=link_bytes_per_s, random=is_random(workload))
    sides = [side for run in runs for side in read_sides(run, hints)]
    sides = comparison.named(comparison.pooled(sides) if pool else sides, label or [])
    drawn = pictures.bars_of_sides(sides, bars) if bars is not None else pictures.of_sides(sides, axis)
    draw.write(document(drawn, pictures.about(sides), looks.language), output, looks)
    say(str(output))
