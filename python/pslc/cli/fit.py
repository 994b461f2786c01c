"""`pslc fit`: a simulated twin of a measured drive."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.base.console import say
from pslc.base.ends import hear

if TYPE_CHECKING:
    from pslc.base.writer import Replace
    from pslc.recording.model import Recording
    from pslc.twin.fit_report import FitReport

from pslc.cli import _complete, _run_options
from pslc.cli._chart_options import (
    Capacity,
    Frame,
    JobOrder,
    Link,
    Overlay,
    Series,
    SkipBad,
    Workload,
    X,
    Y,
    facts_option,
    import_options,
    order_of,
    write_overlays,
)


def command(
    data: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DATA", help="Run folders of one drive, a log of another program, or a chart's picture"),
    ] = None,
    published: Annotated[
        str | None, typer.Option(help="Published figures in place of data", metavar='"cache=435GB speed1=4000MB/s ..."')
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the profile to this file (.toml)", metavar="FILE")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help="Write the page to this file (default: beside -o)", metavar="FILE")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Name of the twin (default: that of the drive)")
    ] = None,
    capacity: Capacity = None,
    link: Link = None,
    nand: Annotated[
        str | None,
        facts_option(
            metavar="PART", help="NAND die (pslc drives parts lists them), or tlc or qlc", autocompletion=_complete.nand
        ),
    ] = None,
    controller: _run_options.Controller = None,
    written_by: Annotated[
        str | None, facts_option(help="Load that wrote a log or a review's curve", metavar="qd32|qd1|copy")
    ] = None,
    x: X = None,
    y: Y = None,
    series: Series = None,
    frame: Frame = None,
    overlay: Overlay = None,
    workload: Workload = None,
    jobs: JobOrder = None,
    skip_bad: SkipBad = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 if the fit is poor")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
) -> None:
    """Fit a simulated twin to measurements of a drive, and report which values are still unknown.

    The profile goes to -o, or to stdout. Use it as sim:./TWIN.toml.
    """
    from pslc.base.writer import STDOUT
    from pslc.cli._progress import Bar
    from pslc.report import page as pages
    from pslc.runner.load import read_one
    from pslc.schema.imports import is_random
    from pslc.twin import api

    paths = data or []
    output = None if output == STDOUT else output  # Where the profile goes anyway.
    hints = replace(import_options(x, y, series, frame, capacity), order=order_of(jobs), skip_bad=skip_bad)
    sources: list[Path | Recording] = [*paths]
    if paths and all(path.is_file() for path in paths):
        log = read_one(paths, replace(hints, random=is_random(workload)))
        write_overlays([log], overlay, output)
        sources = [log]
    if name is None and output is not None and not any(path.is_dir() for path in paths):
        name = output.stem
    page, replaces = _checked_page(output, page)
    with Bar("fit") as bar, _ended_in_words():
        report = api.fit(
            sources,
            name=name,
            on_progress=bar.log,
            published=published,
            capacity=capacity,
            link=link,
            nand=nand,
            controller=controller,
            written_by=written_by,
            workload=workload,
            chart=hints,
        )
    if output is not None:
        report.save(output)
    if page is not None:
        pages.write_fit(report, page, replaces)
    _show(report, output, as_json)
    if output is not None:
        say(f"profile: {output}, page: {page}; use it as sim:./{output.name}", err=True)
    if strict and report.result.is_poor:
        raise typer.Exit(1)


@contextmanager
def _ended_in_words() -> Iterator[None]:
    """Let a signal end the fit, and say so: what it has found so far is no twin.

    Raises:
        Exit: one came.
    """

    def end(number: int, _: object) -> None:
        raise KeyboardInterrupt(signal.Signals(number).name)

    hear(end)
    try:
        yield
    except KeyboardInterrupt as interrupt:
        say(f"interrupted ({interrupt}): the fit has not ended, and nothing was written", err=True)
        raise typer.Exit(130) from None
    finally:
        hear(signal.SIG_IGN)


def _checked_page(output: Path | None, page: Path | None) -> "tuple[Path | None, Replace]":
    """Return where the page goes and what it may replace; both files are tried here, as a fit takes minutes.

    Raises:
        PslcError: the profile or the page cannot be written.
    """
    from pslc.base import writer
    from pslc.base.errors import user_error

    replaces = writer.Replace.ANY if page else writer.Replace.OURS
    page = page or (output.with_suffix(".html") if output else None)
    for path, over in ((output, writer.Replace.ANY), (page, replaces)):
        try:
            if path is not None and path != writer.STDOUT:
                writer.check(path, over)
        except OSError as error:
            raise user_error(f"{path}: {error.strerror}", "give -o a file that can be written") from None
    return page, replaces


def _show(report: "FitReport", output: Path | None, as_json: bool) -> None:
    from pslc.report import terminal

    if as_json:
        print(json.dumps(report.document(), indent=1))
    elif output is None:
        print(report.profile, end="")
    else:
        terminal.show_fit(report)
