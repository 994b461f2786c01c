"""`pslc compare`: several recordings beside each other."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Align(StrEnum):
    """What curves are laid over each other by."""

    BYTES = "bytes"
    TIME = "time"


def command(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run folders, folders of catalogues, or other programs' files; the first is the baseline."),
    ],
    label: Annotated[
        list[str] | None,
        typer.Option(help="What to call each, in order; the drive's name without it.", metavar="TEXT"),
    ] = None,
    tolerance: Annotated[
        Path | None,
        typer.Option(help="TOML of allowed differences; beyond one, exit 1.", metavar="FILE"),
    ] = None,
    pool: Annotated[bool, typer.Option("--pool", help="Runs of one job on one target are repeats.")] = False,
    align: Annotated[
        Align | None, typer.Option(help="Also the speed in each tenth of the bytes, or the time, that all have.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Page with all curves.", metavar="HTML")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Compare recordings: figures and ratios, what differs by more than the noise, and in a sentence whether anything
    changed.

    Repeats (pslc run --repeat, or --pool) are one column: the mean of each figure, and the interval of that mean. A
    tolerance file names figures, "mean" = "5%", "cache" = "3%"; "*" stands for all others.
    """
    from pslc.base.errors import user_error
    from pslc.recording import change_summary, comparison
    from pslc.report import terminal
    from pslc.runner.load import catalogue, read_side, read_suites

    if len(runs) < 2:
        raise user_error("one recording alone", "give two or more: pslc compare runs/a runs/b")
    limits = comparison.read_tolerance(tolerance) if tolerance else {}
    if any(catalogue(run) for run in runs):
        if pool or align is not None:
            raise user_error("--pool and --align are for single suites", "name them: pslc compare a/fill b/fill")
        suites = read_suites(runs)
        sides = comparison.named(next(iter(suites.values())), label or [])
        rows = comparison.compare_suites(suites, limits)
    else:
        suites = {}
        read = [read_side(run) for run in runs]
        sides = comparison.named(comparison.pooled(read) if pool else read, label or [])
        rows = comparison.compare(sides, limits, align)
    if output is not None:
        from pslc.base.writer import Replace
        from pslc.report import page

        page.write_comparison(sides, rows, output, suites, Replace.ANY)
    if as_json:
        names = [{"name": side.name, "repeats": len(side.repeats)} for side in sides]
        figures = [row.document() for row in rows]
        told = change_summary.verdicts(sides, rows)
        document = {"runs": [str(run) for run in runs], "sides": names, "verdicts": told, "figures": figures}
        print(json.dumps(document, indent=1))
    else:
        terminal.show_comparison(sides, rows, suites)
    if any(row.out_of_tolerance for row in rows):
        raise typer.Exit(1)
