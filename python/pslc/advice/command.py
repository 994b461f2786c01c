"""`pslc advise`: what to change or buy."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.cli import _complete, _run_options

if TYPE_CHECKING:
    from pslc.advice.report import Advice


def command(
    watched: Annotated[
        Path, typer.Argument(metavar="RECORDING|TRACE", help="Folder of pslc watch, log of iostat or sar, or a trace")
    ],
    on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TARGET",
            help="Simulated drive to try, repeatable (default: a spread of built-in drives)",
            autocompletion=_complete.target,
        ),
    ] = None,
    computer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Computer around each drive, or none (default: none)",
            autocompletion=_complete.computer,
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Device of a log or a trace that holds several")
    ] = None,
    min_capacity: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Capacity that a drive has to have (default: that of the watched one)"),
    ] = None,
    workers: _run_options.Workers = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
) -> None:
    """Recommend what to change or buy, by replaying the watched load on other drives.

    Prints for each drive: time or latency, share of writes into its cache, time of synced writes, write amplification,
    lifetime at this load. A recording without --trace and a log of iostat hold counters of each second; pslc generates
    requests from them (docs/watch.md), and warnings name what that leaves uncertain.
    """
    from pslc.advice.api import advise
    from pslc.advice.subject import read
    from pslc.base import units
    from pslc.cli._count_bar import counting
    from pslc.traces import Part

    subject = read(watched, Part(device=device), units.size(min_capacity, "--min-capacity") if min_capacity else None)
    with counting("replays") as progress:
        advice = advise(subject, on or [], workers, progress, computer=computer)
    if as_json:
        print(json.dumps(advice.document(), indent=1))
    else:
        _show(advice)


def _show(advice: "Advice") -> None:
    from pslc.advice.report import table
    from pslc.base.rich_console import Text
    from pslc.report.terminal import console, grid

    out = console()
    out.print(grid(table(advice), out.width))
    for sentence in advice.sentences:
        out.print(Text(sentence))
    for warning in advice.warnings:
        out.print(Text(f"warning: {warning}", style="yellow"))
