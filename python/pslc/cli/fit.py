"""`pslc fit`: a simulated twin of a drive that was measured."""

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pslc.analysis import Curve
    from pslc.recording import Recording
    from pslc.twin.answer import Answer
    from pslc.twin.data import Trial

DATA = "The data"


def command(
    data: Annotated[
        list[Path] | None, typer.Argument(help="Run folders of one drive, or a log of another program.")
    ] = None,
    published: Annotated[
        str | None, typer.Option(help="Figures of a review instead.", metavar='"cache=435GB speed1=4000MB/s ..."')
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The profile.", metavar="TWIN.toml")] = None,
    page: Annotated[
        Path | None, typer.Option(help="The page; beside the profile without it.", metavar="PAGE.html")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What the drive is called.")] = None,
    capacity: Annotated[str | None, typer.Option(help="Capacity of the drive.", rich_help_panel=DATA)] = None,
    link: Annotated[
        str | None, typer.Option(help="Its link: sata600, pcie4x4 and the like.", rich_help_panel=DATA)
    ] = None,
    nand: Annotated[
        str | None, typer.Option(help="Its die, or tlc or qlc.", metavar="PART", rich_help_panel=DATA)
    ] = None,
    controller: Annotated[
        str | None, typer.Option(help="Its controller.", metavar="PART", rich_help_panel=DATA)
    ] = None,
    written_by: Annotated[
        str | None,
        typer.Option(help="What wrote a log or a review's curve.", metavar="qd32|qd1|copy", rich_help_panel=DATA),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 where the fit is poor.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Fit a simulated twin to a drive: a profile that does what was measured, and says what is still unknown.

    The profile goes to -o or to stdout, and is used as sim:./TWIN.toml.
    """
    from pslc import units
    from pslc.errors import refusal

    if find_spec("scipy") is None:
        raise refusal("pslc fit needs scipy", "pip install 'pslc[fit]'")
    from pslc.twin import answer, begin, fit, known
    from pslc.twin import published as review
    from pslc.twin.data import of_curve, trials_of

    given = units.size(capacity, "--capacity") if capacity else None
    if (published is None) == (not data):
        raise refusal(
            "what shall the twin be fitted to?",
            "pslc fit runs/a -o twin.toml; or a log, or --published",
        )
    if written_by is not None and written_by not in known.LOADS:
        raise refusal(f'--written-by is "{written_by}"', "qd32, qd1 or copy")
    recordings, logs = _read(data or [])
    size = given or _capacity(recordings, data or [])
    trials: list[Trial] = [trial for recording in recordings for trial in trials_of(recording)]
    host = 0
    notes: list[str] = []
    curve = _curve(published, logs, size, nand, notes)
    if curve is not None:
        load = written_by
        if load is None:
            load, note = known.guess(float(curve.bytes_per_s.max()), link)
            notes.append(note)
        words, host = known.LOADS[load]
        trials.append(of_curve(curve, words))
    first = begin.first_write(trials)
    if first is None:
        raise refusal("there is no sequential write over an empty drive among the data", "pslc run fill, or run twin")
    told = next((found for found in map(known.link_of, recordings) if found), None)
    fastest = float(first.bytes_per_s[: max(len(first.bytes_per_s) // 200, 1)].mean())
    facts = known.known(size, fastest, link=link or told, nand=nand, controller=controller, host_request_ns=host)
    facts = replace(facts, cache_bytes=review.cache(published) if published else None)
    from pslc.progress import Bar

    with Bar("fit") as bar:
        fitted = fit.fit(trials, facts, tell=bar.tell)
        fitted.notes += notes
        # What is wrong with the machine or the target is wrong with the twin too.
        fitted.notes += dict.fromkeys(doubt for recording in recordings for doubt in recording.findings.doubts)
        bar.tell("predictions")
        found = answer.answer(fitted, name or _name(recordings, data, output))
    _write(found, output, page, as_json)
    if strict and fitted.is_poor:
        raise typer.Exit(1)


def _read(data: list[Path]) -> "tuple[list[Recording], list[Path]]":
    from pslc.errors import refusal
    from pslc.recording import Recording

    folders = [path for path in data if path.is_dir()]
    logs = [path for path in data if not path.is_dir()]
    if folders and logs:
        raise refusal("recordings and logs at once", "give those of one kind")
    return [Recording.load(path) for path in folders], logs


def _capacity(recordings: "list[Recording]", data: list[Path]) -> int:
    """Of the drive, where nobody gave it."""
    from pslc.errors import refusal
    from pslc.twin import known

    if (size := known.capacity_of(recordings)) is not None:
        return size
    if missing := next((path for path in data if not path.exists()), None):
        raise refusal(f"{missing}: there is no such folder or file", "the folder of a run, or a log of speed over time")
    raise refusal("nothing tells the capacity of the drive", "--capacity 1TB")


def _curve(published: str | None, logs: list[Path], size: int, nand: str | None, notes: list[str]) -> "Curve | None":
    from pslc import formats
    from pslc.analysis import Seen
    from pslc.errors import refusal
    from pslc.findings import imported
    from pslc.formats import Hints
    from pslc.twin import known
    from pslc.twin import published as review

    if published is not None:
        found, assumed = review.curve(published, size, known.bits_of(nand) or 3)
        notes += assumed
        return found
    if not logs:
        return None
    foreign = formats.read(logs, Hints())
    imported.analyzed(foreign, Seen(capacity_bytes=size))
    if foreign.curve is None:
        raise refusal(f"{foreign.name} has no series of writes", "a log of speed over time, such as fio's bw log")
    return foreign.curve


def _name(recordings: "list[Recording]", data: list[Path] | None, output: Path | None) -> str:
    if recordings:
        return f"{recordings[0].drive}, a twin"
    if output is not None:
        return output.stem
    return data[0].stem if data else "a twin of published figures"


def _write(found: "Answer", output: Path | None, page: Path | None, as_json: bool) -> None:
    from pslc.errors import refusal
    from pslc.report import page as pages
    from pslc.report import terminal

    page = page or (output.with_suffix(".html") if output else None)
    try:
        if output is not None:
            output.write_text(found.text, encoding="utf-8")
        if page is not None:
            pages.write_fit(found, page)
    except OSError as error:
        raise refusal(f"{error.filename}: {error.strerror}", "give -o a file that can be written") from None
    if as_json:
        print(json.dumps(found.document(), indent=1))
    elif output is None:
        print(found.text, end="")
    else:
        terminal.show_fit(found)
    if output is not None:
        typer.echo(f"profile: {output}, page: {page}; use it as sim:./{output.name}", err=True)
