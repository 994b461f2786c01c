"""`pslc trace`: what is in a trace, and the same as another file."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pslc.traces import Part


def command(
    action: Annotated[str, typer.Argument(help="formats, show or convert.", metavar="formats|show|convert")],
    file: Annotated[Path | None, typer.Argument(help="The trace.")] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="convert: .parquet, or .iolog for fio; show: a page, .html.", metavar="FILE"
        ),
    ] = None,
    replay_on: Annotated[
        str, typer.Option(help="The file or device that an iolog names.", metavar="NAME")
    ] = "/dev/replayed",
    device: Annotated[str | None, typer.Option(help="Only this device of the trace.")] = None,
    begin: Annotated[str | None, typer.Option("--from", help="Only what comes from here on.", metavar="10min")] = None,
    end: Annotated[str | None, typer.Option("--to", help="Only what comes before this.", metavar="2h")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Format of the trace; found out without it.")] = None,
    columns: Annotated[
        str | None, typer.Option(help="Which column of a table is what.", metavar="time=ts:us,op=kind,...")
    ] = None,
    skip_broken: Annotated[bool, typer.Option("--skip-broken", help="Leave out lines that cannot be read.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Show what is in a trace, or convert it: pslc trace show FILE, pslc trace convert FILE -o OTHER.parquet.

    pslc run FILE --on sim:NAME replays it.
    """
    from pslc import traces
    from pslc._native import trace_formats
    from pslc.errors import refusal

    if action == "formats":
        rows = trace_formats()
        if as_json:
            print(json.dumps([{"format": name, "about": about} for name, about in rows], indent=1))
        else:
            width = max(len(name) for name, _ in rows)
            print("\n".join(f"{name:{width}}  {about}" for name, about in rows))
        return
    if action in ("show", "convert") and file is None:
        raise refusal("which trace?", f"pslc trace {action} work.trace")
    if action not in ("show", "convert") or file is None:
        raise refusal(
            f'"{action}" is not understood', "pslc trace formats, pslc trace show FILE, pslc trace convert FILE -o FILE"
        )
    if action == "show" and output is not None and output.suffix != ".html":
        raise refusal(f"{output} is no page", "-o page.html")
    part = traces.part(format, columns, skip_broken, device, begin, end)
    if action == "convert":
        _convert(file, part, output, replay_on)
        return
    found = traces.opened(file, part).survey()
    if as_json:
        print(json.dumps(found, indent=1))
    else:
        from pslc.report import page, terminal
        from pslc.traces import contents

        view = contents.of_file(file, found)
        terminal.show(view)
        if output is not None:
            page.write(view, output)


def _convert(file: Path, part: "Part", output: Path | None, name: str) -> None:
    from pslc import traces, words
    from pslc.errors import refusal

    if output is None or output.suffix not in (".parquet", ".iolog"):
        raise refusal("what shall it become?", "-o work.parquet, or -o work.iolog for fio --read_iolog=work.iolog")
    if output.suffix == ".parquet":
        count = traces.write_parquet(file, part, output)
    else:
        trace = traces.opened(file, part)
        traces.one_device(file, part, trace.survey())
        count = trace.write_iolog(str(output), name)
    print(f"{words.count(count)} requests written to {output}")
