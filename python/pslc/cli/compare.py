"""`pslc compare`: several recordings beside each other."""

import json
from pathlib import Path
from typing import Annotated

import typer


def command(
    runs: Annotated[list[Path], typer.Argument(help="Run folders; the first is what the others are held against.")],
    tolerance: Annotated[
        Path | None,
        typer.Option(help="TOML of allowed differences; beyond one, exit 1.", metavar="FILE"),
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Page with all curves.", metavar="HTML")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Set recordings beside each other: figures, ratios, and which differ by more than the noise.

    A tolerance file names figures, "mean" = "5%", "cache" = "3%"; "*" stands for all others.
    """
    from pslc import comparison
    from pslc.errors import refusal
    from pslc.recording import Recording
    from pslc.report import terminal

    if len(runs) < 2:
        raise refusal("one recording alone", "give two or more run folders: pslc compare runs/a runs/b")
    recordings = [Recording.load(run) for run in runs]
    limits = comparison.read_tolerance(tolerance) if tolerance else {}
    rows = comparison.compare(recordings, limits)
    if output is not None:
        from pslc.report import page

        page.write_comparison(recordings, [run.name for run in runs], rows, output)
    if as_json:
        print(json.dumps({"runs": [str(run) for run in runs], "figures": [row.document() for row in rows]}, indent=1))
    else:
        terminal.show_comparison([run.name for run in runs], recordings, rows)
    if any(row.out_of_tolerance for row in rows):
        raise typer.Exit(1)
