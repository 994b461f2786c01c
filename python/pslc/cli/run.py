"""`pslc run`: a suite or a job file on a drive."""

import json
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pslc.recording import Recording

SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True}


class OutputFormat(StrEnum):
    """Of what goes to stdout."""

    NORMAL = "normal"
    JSON = "json"
    FIO = "fio"


def command(
    context: typer.Context,
    what: Annotated[str, typer.Argument(help="A suite (pslc suites) or an fio job file.", metavar="SUITE|FILE.fio")],
    on: Annotated[
        str, typer.Option("--on", help="The drive: sim:NAME[,key=value...] (pslc drives).", metavar="TARGET")
    ],
    seed: Annotated[int, typer.Option(help="Of every random choice.", min=0, max=2**64 - 1)] = 0,
    save: Annotated[Path | None, typer.Option(help="Folder for the recording.", metavar="DIR")] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.html.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else.")] = False,
    output_format: Annotated[OutputFormat, typer.Option(help="fio: fio's JSON.")] = OutputFormat.NORMAL,
) -> None:
    """Run a suite or an fio job file on a drive and say what came of it.

    fio's options override those of every job: --bs=4k --iodepth=1. The recording goes to a folder of its own under
    runs/, or to --save; with --json or --output-format=fio only to --save.
    """
    options = _overrides(context.args)
    if as_json:
        output_format = OutputFormat.JSON
    machine = output_format != OutputFormat.NORMAL
    folder = save
    if folder is None and not machine:
        slug = f"{Path(what).stem}-{on.partition(':')[2].partition(',')[0].rpartition('/')[2].removesuffix('.toml')}"
        folder = Path("runs") / f"{datetime.now():%Y%m%d-%H%M%S}-{slug}"
    if folder is not None:
        _check(folder)
    from pslc.progress import Bar
    from pslc.runner import run

    with Bar(what) as bar:
        recording = run(what, on=on, seed=seed, options=options, progress=bar)
    _print(recording, output_format)
    if folder is not None:
        _save(recording, folder, report=not no_report)
    if recording.error:
        from pslc.errors import refusal

        raise refusal(f"the drive failed: {recording.error}", "what was recorded until then is kept")
    if recording.interrupted:
        where = f"; what was recorded is in {folder}" if folder else ""
        typer.echo(f"interrupted after {recording.drive_time_s:.1f} s of drive time{where}", err=True)
        raise typer.Exit(130)


def _overrides(extra: list[str]) -> list[tuple[str, str]]:
    """fio options given as `--name=value`, or as `--name` for a flag."""
    from pslc.errors import refusal

    pairs = []
    for word in extra:
        name, _, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not name:
            raise refusal(f'"{word}" is one argument too many', "fio options are given as --bs=4k")
        pairs.append((name, value))
    return pairs


def _check(folder: Path) -> None:
    """Nothing that is there is written over, and it is said before the run."""
    from pslc.errors import refusal

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise refusal(f"{folder} exists and is not an empty folder", "give --save another folder, or remove that one")
    parent = next(p for p in folder.absolute().parents if p.exists())
    if not parent.is_dir():
        raise refusal(f"{parent} is no folder", "give --save a folder that can be made")


def _print(recording: "Recording", output_format: OutputFormat) -> None:
    if output_format is OutputFormat.JSON:
        print(json.dumps(recording.document(), indent=1))
    elif output_format is OutputFormat.FIO:
        from pslc.report import fio

        print(json.dumps(fio.document(recording), indent=2))
    else:
        from pslc.report import terminal

        terminal.show(recording)


def _save(recording: "Recording", folder: Path, report: bool) -> None:
    from pslc.errors import refusal

    try:
        recording.save(folder)
        if report:
            from pslc.report import page

            page.write(recording, folder / "report.html")
    except OSError as error:
        raise refusal(f"{folder}: {error.strerror}", "give --save a folder that can be written") from None
    typer.echo(f"recording: {folder}" + (f", pictures: {folder / 'report.html'}" if report else ""), err=True)
