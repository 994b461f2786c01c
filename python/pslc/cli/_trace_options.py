"""Options of commands that read a trace: its format, and the part of it that is taken."""

from typing import Annotated

import typer

PART = "Part of the trace"
Device = Annotated[
    str | None, typer.Option(metavar="NAME", help="Take only this device of the trace", rich_help_panel=PART)
]
Begin = Annotated[
    str | None, typer.Option("--from", metavar="TIME", help="Start here, such as 10min", rich_help_panel=PART)
]
End = Annotated[
    str | None, typer.Option("--to", metavar="TIME", help="End before this, such as 2h", rich_help_panel=PART)
]
Format = Annotated[
    str | None, typer.Option("--format", metavar="NAME", help="Trace format (default: detected)", rich_help_panel=PART)
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="KEY=COLUMN[:UNIT],...", help="Columns of a table, such as time=ts:us,op=kind", rich_help_panel=PART
    ),
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out lines that cannot be read", rich_help_panel=PART)]
