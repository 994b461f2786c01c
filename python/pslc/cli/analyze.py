"""`pslc analyze`: what a recording says, ours or another program's."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from pslc.formats import Foreign, Hints


def command(
    files: Annotated[list[Path], typer.Argument(help="Logs or results of another program, or a run folder of pslc's.")],
    x: Annotated[
        str | None, typer.Option("--x", help="Column of what was written, or of time.", metavar="COL=GB")
    ] = None,
    y: Annotated[str | None, typer.Option("--y", help="Column of speed.", metavar="COL=MB/s")] = None,
    capacity: Annotated[str | None, typer.Option(help="Of the drive; tells a fill from a part of one.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out lines that cannot be read.")] = False,
    outside: Annotated[
        bool, typer.Option("--outside", help="Explain a simulated drive from its curve alone, as if it were real.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Find phases, the end of the cache and doubts in anyone's data.

    Read are fio's logs (--write_bw_log; those of several jobs of one run are given together), fio's JSON, blkparse's
    text, tables (CSV), and results of Iometer, CrystalDiskMark, AS SSD and NIOBench.
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
        if outside:
            from pslc.findings import of_writes

            if "phases" not in recording.findings:
                raise refusal(f"{files[0]} has no phases to explain", "--outside is for fills and job files")
            recording.findings |= of_writes(recording, outside=True)
        if as_json:
            print(json.dumps(recording.document(), indent=1))
        else:
            terminal.show(view.of_recording(recording))
        return
    size = units.size(capacity, "--capacity") if capacity else None
    foreign, findings = _read(files, Hints(x, y, skip_bad), size)
    if as_json:
        found = {"name": foreign.name, "findings": findings, "doubts": findings["doubts"], "jobs": foreign.jobs}
        rows = [asdict(row) for row in foreign.rows]
        print(json.dumps(found | {"rows": rows, "notes": foreign.notes, "bad_lines": foreign.bad_lines}, indent=1))
    else:
        terminal.show(view.of_foreign(foreign, findings))


def _read(files: list[Path], hints: "Hints", capacity: int | None) -> tuple["Foreign", dict[str, Any]]:
    from pslc import doubts, formats
    from pslc.analysis import Seen, causes_from_outside
    from pslc.errors import refusal
    from pslc.findings import of_curve

    foreign = formats.read(files, hints)
    if foreign.curve is None and not foreign.jobs and not foreign.rows:
        hint = "give a log of writes, or a table of speed against what was written"
        raise refusal(f"{foreign.name} tells of no writes", hint)
    seen = Seen(capacity_bytes=capacity)
    findings = of_curve(
        foreign.curve, explain=lambda phases: causes_from_outside(phases, seen), capacity_bytes=capacity
    )
    findings["doubts"] = doubts.of_foreign(foreign) + findings["doubts"]
    return foreign, findings
