"""`pslc study`: suites on many variants of drives."""

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.base import output_dirs
from pslc.base.console import say
from pslc.cli import _run_options
from pslc.cli._complete import target

if TYPE_CHECKING:
    from pslc.studies.points import Point, Study
    from pslc.studies.rows import Row
    from pslc.studies.study import StudyRows

MAX_ROWS = 40
"""Rows of the table on the terminal."""
MAX_FINDINGS = 4
"""Findings that the table shows by default."""


def command(
    file: Annotated[
        Path | None, typer.Argument(metavar="STUDY.toml", help="Study in TOML; options override it")
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUES", help="Axis, repeatable: FROM:TO:STEP, FROM:TO:logN, or X,Y,..."),
    ] = None,
    run: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Suites and job files, such as fill,recovery")
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(metavar="TARGET", help="Simulated drive: sim:NAME, repeatable", autocompletion=target),
    ] = None,
    computer: Annotated[
        str | None,
        typer.Option(metavar="NAME,...", help="Computers around the drives (default: as each suite assumes)"),
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option(metavar="KEY<VALUE|KEY", help="Only points that meet this condition, repeatable")
    ] = None,
    seed: Annotated[str | None, typer.Option(metavar="N,...", help="Seeds, such as 0,1,2")] = None,
    fill_first: Annotated[
        str | None, typer.Option(metavar="PERCENT,...", help="Fill these shares of the drive first, such as 0%,50%")
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(metavar="lhs:N|sobol:N|saltelli:N", help="Draw N points from spans such as KEY=50GB:700GB"),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(metavar="N", help="Draw N drives of what the parts of a drive leave open", min=2, max=10_000),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE.py:CLASS", help="Policy in Python (pslc.Policy), or profile; repeatable"),
    ] = None,
    victim_rule: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE.py:CLASS", help="Victim rule in Python (pslc.VictimRule), or profile; repeatable"),
    ] = None,
    finding: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Finding to report, repeatable (default: the first four that vary)"),
    ] = None,
    quick: Annotated[bool | None, typer.Option("--quick", help="Run the short form of the suites")] = None,
    workers: _run_options.Workers = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="tcp://HOST:8786", help="Run the points on this Dask cluster")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write results to this folder (default: studies/NAME)")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the number of points, time and memory, and stop")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as one JSON document")] = False,
) -> None:
    """Run suites on many variants of simulated drives; each variant is a row in a Parquet file.

    Points already in the folder are not run again, so a study can be stopped, resumed and extended.
    """
    from pslc.base.errors import user_error
    from pslc.studies.points import Study, read
    from pslc.studies.rows import has_failed

    stated = read(file) if file is not None else {}
    options = {"vary": _axes(vary or []), "run": run, "on": on, "where": where, "seed": seed, "quick": quick,
             "sample": sample, "draws": draws, "fill_first": fill_first, "computer": computer,
             "policy": policy, "victim_rule": victim_rule}  # fmt: skip
    study = Study.of(stated | {key: value for key, value in options.items() if value})
    points = study.points()
    if not points:
        raise user_error("the study has no points", "its conditions exclude all of them")
    save = _named(save, file)
    if dry_run:
        _plan(points, save, workers)
        return
    save = save or output_dirs.new_folder(within=output_dirs.STUDIES)
    results = _complete(points, save, workers, scheduler)
    if as_json:
        print(json.dumps(results.rows, indent=1))
    else:
        _show(study, results, len(points), finding)
        _answer(study, results, save, finding or [])
    say(f"results: {save}", err=True)
    if results.interrupted:
        say(f"interrupted: {len(results.rows)} of {len(points)} points are saved; the same command resumes", err=True)
        raise typer.Exit(130)
    if failed := [row for row in results.rows if has_failed(row)]:
        raise user_error(
            f"{len(failed)} of {len(points)} points failed, the first of them: {failed[0]['error']}",
            f"correct the cause and give --save another folder; this one alone: {failed[0]['command']}",
        )


def _axes(texts: list[str]) -> dict[str, str]:
    """Parse `--vary`: values by key.

    Raises:
        PslcError: a text is not KEY=VALUES, or a key stands twice.
    """
    from pslc.base.errors import user_error

    axes: dict[str, str] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        if not equals or not key.strip():
            raise user_error(f'--vary "{text}" is not KEY=VALUES', "for example: --vary cache.dynamic=50GB:700GB:50GB")
        if key.strip() in axes:
            raise user_error(f"--vary {key} is given twice", "give all its values at once, separated by commas")
        axes[key.strip()] = values
    return axes


def _named(save: Path | None, file: Path | None) -> Path | None:
    """The folder of the results, where an option or the file of the study names one."""
    return save or (output_dirs.STUDIES / file.stem if file else None)


def _plan(points: "list[Point]", save: Path | None, workers: int | None) -> None:
    from pslc.base import words, work
    from pslc.studies.results import Results
    from pslc.studies.workers import timed

    kept = Results(save) if save else None
    missing = [point for point in points if kept is None or not kept.has(point)]
    saved = f", {len(points) - len(missing)} of them in {save}" if len(missing) < len(points) else ""
    if not missing:
        say(f"{len(points)} points{saved}: none is left to run")
        return
    count = min(workers or work.cores(), len(missing))
    seconds, peak = timed(missing)
    say(f"{len(points)} points{saved}, the first {'to run' if saved else 'of them'}: {missing[0].command}")
    whole = words.span(seconds * len(missing) / count)
    say(f"about {whole} with {count} processes, {words.span(seconds)} a point")
    say(f"about {words.size(peak * count)} of memory, {words.size(peak)} a process")


def _complete(points: "list[Point]", save: Path, workers: int | None, scheduler: str | None) -> "StudyRows":
    from pslc.base.ends import hear
    from pslc.cli._count_bar import counting
    from pslc.studies.study import complete

    interrupts = 0

    def interrupt(*_: object) -> None:
        nonlocal interrupts
        interrupts += 1

    hear(interrupt)
    try:
        with counting("study") as progress:
            return complete(points, save, workers, progress, lambda: interrupts, scheduler)
    finally:
        # A signal from here on would only lose what is printed of the points.
        hear(signal.SIG_IGN)


def _cells(row: "Row", names: list[str]) -> list[str]:
    """Findings of a row as people read them, or its error."""
    from pslc.studies.page import value_text

    if row["error"]:
        return [str(row["error"]), *[""] * len(names)][: max(len(names), 1)]
    return [value_text(name, row.get(name)) for name in names]


def _show(study: "Study", results: "StudyRows", planned: int, requested: list[str] | None) -> None:
    """The axes that vary and the requested findings, or the first that differ, for people; of draws medians and
    quantiles."""
    from pslc.report.grids import columns_of, fitting
    from pslc.report.terminal import console, grid
    from pslc.studies.analysis import findings, over_draws
    from pslc.studies.page import of_draws
    from pslc.studies.points import varied
    from pslc.studies.rows import has_failed

    axes, rows = varied(study) or ["on"], over_draws(study, results.rows)
    names = requested or findings(results.rows)[:MAX_FINDINGS]
    out = console()
    if study.draws:
        out.print(grid(of_draws(rows, axes, names), out.width, MAX_ROWS))
    else:
        cells = [[*(str(row[axis]) for axis in axes), *_cells(row, names)] for row in rows[:MAX_ROWS]]
        out.print(fitting(columns_of([*axes, *names], axes), cells, out.width))
    if len(rows) > MAX_ROWS:
        out.print(f"({len(rows) - MAX_ROWS} more rows in the Parquet file)", style="dim")
    for sentence in study.intervals():
        out.print(sentence, soft_wrap=True)
    failed = sum(has_failed(row) for row in results.rows)
    refused = sum(row["error"] is not None for row in results.rows) - failed
    out.print(f"{len(results.rows)} of {planned} points: {refused} refused by the profile's check, {failed} failed")


def _answer(study: "Study", results: "StudyRows", save: Path, requested: list[str]) -> None:
    """Answer of a study, on the terminal and as a page."""
    from pslc.report.terminal import console, grid
    from pslc.studies import page
    from pslc.studies.analysis import answers, over_draws
    from pslc.studies.points import varied

    rows = over_draws(study, results.rows)
    if len([row for row in rows if row["error"] is None]) < 2 or not varied(study):
        return
    analysis = answers(study, rows, requested)
    out = console()
    out.print()
    for sentence in [*page.scaling_notes(analysis), *page.verdicts(analysis)]:
        out.print(sentence)
    for table in page.tables(analysis):
        out.print()
        out.print(table.title, style="bold")
        out.print(grid(table, out.width))
    # The folder holds Parquet files alone, so that pandas and polars read it as it is.
    path = save.with_name(f"{save.name}.html")
    page.write(analysis, save.name, path, page.profiles(analysis, save))
    say(f"page: {path}", err=True)
