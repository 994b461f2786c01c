"""Options of commands that read a trace: its format, and the part of it that is taken."""

from functools import partial
from typing import Annotated

import typer

part_option = partial(typer.Option, rich_help_panel="Part of the trace")
Device = Annotated[str | None, part_option(metavar="NAME", help="Take only this device of the trace")]
Begin = Annotated[str | None, part_option("--from", metavar="TIME", help="Start here, such as 10min")]
End = Annotated[str | None, part_option("--to", metavar="TIME", help="End before this, such as 2h")]
Format = Annotated[str | None, part_option("--format", metavar="NAME", help="Trace format (default: detected)")]
Columns = Annotated[
    str | None, part_option(metavar="KEY=COLUMN[:UNIT],...", help="Columns of a table, such as time=ts:us,op=kind")
]
SkipBad = Annotated[bool, part_option("--skip-bad", help="Leave out lines that cannot be read")]
