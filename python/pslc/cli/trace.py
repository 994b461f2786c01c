"""`pslc trace`: what is in a trace, and the same as another file."""

import json
from pathlib import Path
from typing import Annotated

import typer

from pslc.base.console import say
from pslc.cli import _groups


def explain(context: typer.Context) -> None:
    """Show what is in a trace of I/O requests, or convert it; pslc replay TRACE --on sim:NAME replays it."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)


app = _groups.group(explain)

File = Annotated[Path, typer.Argument(metavar="FILE", help="Trace file")]
Device = Annotated[str | None, typer.Option(metavar="NAME", help="Take only this device of the trace")]
Begin = Annotated[str | None, typer.Option("--from", metavar="TIME", help="Start here, such as 10min")]
End = Annotated[str | None, typer.Option("--to", metavar="TIME", help="End before this, such as 2h")]
Format = Annotated[str | None, typer.Option("--format", metavar="NAME", help="Trace format (default: detected)")]
Columns = Annotated[
    str | None, typer.Option(metavar="KEY=COLUMN[:UNIT],...", help="Columns of a table, such as time=ts:us,op=kind")
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", "--skip-broken", help="Leave out lines that cannot be read")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document")]


@app.command("formats")
def list_formats(as_json: Json = False) -> None:
    """List the trace formats that pslc reads."""
    from pslc._native import trace_formats

    rows = trace_formats()
    if as_json:
        print(json.dumps([{"format": name, "about": about} for name, about in rows], indent=1))
        return
    width = max(len(name) for name, _ in rows)
    print("\n".join(f"{name:{width}}  {about}" for name, about in rows))


@app.command()
def show(
    file: File,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE.html", help="Also write a page")
    ] = None,
    device: Device = None,
    begin: Begin = None,
    end: End = None,
    format_name: Format = None,
    columns: Columns = None,
    skip_bad: SkipBad = False,
    as_json: Json = False,
) -> None:
    """Show what is in a trace: volume, mix, sizes, pauses and bursts."""
    from pslc import traces
    from pslc.base.errors import user_error
    from pslc.base.writer import Replace
    from pslc.report import page, terminal
    from pslc.traces import survey_view

    if output is not None and output.suffix != ".html":
        raise user_error(f"{output} is no page", "-o page.html")
    survey = traces.opened(file, traces.part(format_name, columns, skip_bad, device, begin, end)).survey()
    if as_json:
        print(json.dumps(survey, indent=1))
        return
    view = survey_view.of_file(file, survey)
    terminal.show(view)
    if output is not None:
        page.write(view, output, Replace.ANY)


@app.command()
def convert(
    file: File,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="File to write: .parquet, or .iolog for fio")
    ],
    replay_on: Annotated[
        str, typer.Option(metavar="NAME", help="File or device that the iolog names")
    ] = "/dev/replayed",
    device: Device = None,
    begin: Begin = None,
    end: End = None,
    format_name: Format = None,
    columns: Columns = None,
    skip_bad: SkipBad = False,
) -> None:
    """Write a trace as Parquet, or as an iolog that fio replays."""
    from pslc import traces
    from pslc.base import words
    from pslc.base.errors import user_error

    part = traces.part(format_name, columns, skip_bad, device, begin, end)
    if output.suffix == ".parquet":
        count = traces.write_parquet(file, part, output)
    elif output.suffix == ".iolog":
        trace = traces.opened(file, part)
        traces.one_device(file, part, trace.survey())
        count = trace.write_iolog(str(output), replay_on)
    else:
        hint = "-o work.parquet, or -o work.iolog for fio --read_iolog=work.iolog"
        raise user_error(f"{output} is neither .parquet nor .iolog", hint)
    say(f"{words.count(count)} requests written to {output}")
