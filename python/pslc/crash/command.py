"""`pslc crash`: a command on a served drive whose power is cut, and what its check says of what is left."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from pslc.base.console import say
from pslc.cli._complete import target
from pslc.serving.command import FaultList

SETTINGS = {"allow_interspersed_args": False}
"""Words from the command on are its own."""


def command(
    words: Annotated[
        list[str], typer.Argument(metavar="COMMAND", help="Command that writes to {disk} or {uri}, after --")
    ],
    on: Annotated[
        str, typer.Option(metavar="TARGET", help="Simulated drive: sim:NAME[,KEY=VALUE...]", autocompletion=target)
    ],
    check: Annotated[
        str, typer.Option(metavar="COMMAND", help="Command for the shell that ends with 0 if what is left is sound")
    ],
    prepare: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Command for the shell before each cut, such as mkfs")
    ] = None,
    cuts: Annotated[int, typer.Option(metavar="COUNT", help="Number of power cuts, at drawn writes", min=1)] = 20,
    power_cut: Annotated[
        int | None, typer.Option(metavar="WHEN", help="A single cut, as this write comes", min=1)
    ] = None,
    faults: FaultList = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each cut as JSON")] = False,
) -> None:
    """Cut the power of a simulated drive while a command writes to it, and check what is left.

    A power cut takes what is in the drive's write buffer and was not flushed. {disk} is a file that is the drive (by
    nbdfuse of libnbd), {uri} its address (NBD). Each cut begins with a new drive. Exit code 1: a check failed.
    """
    from pslc.crash.cuts import COLUMNS, SEED, Trial, cut_again_and_again
    from pslc.report import terminal
    from pslc.serving.faults import Faults, parse

    trial = Trial(on, tuple(words), check, prepare, parse(faults) if faults else Faults(seed=SEED))
    writes = (power_cut,) if power_cut else cuts
    outcomes = list(cut_again_and_again(trial, writes, lambda text: say(text, err=True)))
    bad = [outcome for outcome in outcomes if outcome.code]
    if as_json:
        print(json.dumps([asdict(outcome) for outcome in outcomes], indent=1))
    else:
        terminal.show_table([outcome.row for outcome in outcomes], COLUMNS)
        say(f"The check failed after {len(bad)} of {len(outcomes)} power cuts.")
        if bad:
            say(f"again: the same command with --power-cut {bad[0].write}", err=True)
    if bad:
        raise typer.Exit(1)
