"""`pslc trace`: what is in a trace, and the same as another file."""

import json
from pathlib import Path
from typing import Annotated

import typer

from pslc.base.console import say
from pslc.cli import _groups, _trace_options


def explain(context: typer.Context) -> None:
    """Show what is in a trace of I/O requests, or convert it; pslc replay TRACE --on sim:NAME replays it."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)


app = _groups.group(explain)

File = Annotated[Path, typer.Argument(metavar="FILE", help="Trace file")]
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
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Also write a page")] = None,
    device: _trace_options.Device = None,
    begin: _trace_options.Begin = None,
    end: _trace_options.End = None,
    format_name: _trace_options.Format = None,
    columns: _trace_options.Columns = None,
    skip_bad: _trace_options.SkipBad = False,
    as_json: Json = False,
) -> None:
    """Show what is in a trace: volume, mix, sizes, pauses and bursts."""
    from pslc import traces
    from pslc.base import writer
    from pslc.base.writer import Replace
    from pslc.report import page, terminal
    from pslc.traces import survey_view

    if output is not None:
        writer.check_ending(output, ".html")
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
    device: _trace_options.Device = None,
    begin: _trace_options.Begin = None,
    end: _trace_options.End = None,
    format_name: _trace_options.Format = None,
    columns: _trace_options.Columns = None,
    skip_bad: _trace_options.SkipBad = False,
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
