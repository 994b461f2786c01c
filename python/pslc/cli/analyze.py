"""`pslc analyze`: what a recording says, ours or another program's."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from pslc.formats import Foreign, Hints


def command(
    files: Annotated[list[Path], typer.Argument(help="fio logs or JSON, a CSV table, or a run folder of pslc's.")],
    x: Annotated[
        str | None, typer.Option("--x", help="Column of what was written, or of time.", metavar="COL=GB")
    ] = None,
    y: Annotated[str | None, typer.Option("--y", help="Column of speed.", metavar="COL=MB/s")] = None,
    capacity: Annotated[str | None, typer.Option(help="Of the drive; tells a fill from a part of one.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out lines that cannot be read.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Find phases, the end of the cache and doubts in anyone's data.

    fio's logs are written with --write_bw_log; those of several jobs of one run are given together.
    """
    from pslc import units
    from pslc.errors import refusal
    from pslc.formats import Hints
    from pslc.recording import Recording
    from pslc.report import terminal, view

    if files[0].is_dir():
        if len(files) > 1:
            raise refusal(f"{len(files)} recordings at once", "pslc compare sets several beside each other")
        recording = Recording.load(files[0])
        if as_json:
            print(json.dumps(recording.document(), indent=1))
        else:
            terminal.show(view.of_recording(recording))
        return
    size = units.size(capacity, "--capacity") if capacity else None
    foreign, findings = _read(files, Hints(x, y, skip_bad), size)
    if as_json:
        found = {"name": foreign.name, "findings": findings, "doubts": findings["doubts"], "jobs": foreign.jobs}
        print(json.dumps(found | {"bad_lines": foreign.bad_lines}, indent=1))
    else:
        terminal.show(view.of_foreign(foreign, findings))


def _read(files: list[Path], hints: "Hints", capacity: int | None) -> tuple["Foreign", dict[str, Any]]:
    from pslc import formats
    from pslc.analysis import Evidence
    from pslc.errors import refusal
    from pslc.findings import of_curve

    foreign = formats.read(files, hints)
    if foreign.curve is None and not foreign.jobs:
        hint = "give a log of writes, or a table of speed against what was written"
        raise refusal(f"{foreign.name} tells of no writes", hint)
    why = Evidence("unknown", 0.0, "a curve alone does not tell what the drive did inside")
    return foreign, of_curve(foreign.curve, explain=lambda _: why, capacity_bytes=capacity)
