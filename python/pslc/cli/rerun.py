"""`pslc rerun`: a recording of a simulated drive, repeated and compared to the byte."""

from pathlib import Path
from typing import Annotated

import typer

from pslc.base.console import say


def command(run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder")]) -> None:
    """Repeat a recording of a simulated drive and compare it to the byte; exit 1 if anything differs.

    What is compared: series.parquet, and run.json without the date, the duration, the version of pslc and the profile.
    """
    from pslc.runner.rerun import differences

    if differing := differences(run):
        say(f"{run}: this pslc gives another {', '.join(differing)}")
        raise typer.Exit(1)
    say(f"{run}: the same to the byte")
