"""`pslc report`: recordings as a page, and their pictures as files."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.base.console import say
from pslc.cli._chart_options import Frame, Overlay, Series, X, Y, import_options, write_overlays

if TYPE_CHECKING:
    from pslc.base.writer import Replace as Replaces
    from pslc.figures.view import View
    from pslc.formats import ImportOptions
    from pslc.recording.comparison import Side
    from pslc.recording.store import Recording


def command(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Run folder, several to compare, or the folder of a catalogue"),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="PAGE.html", help="Page to write (default: report.html in the run folder)"
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="Name of the drive of each run, in order"),
    ] = None,
    png: Annotated[Path | None, typer.Option(help="Write each picture as PNG to this folder", metavar="DIR")] = None,
    svg: Annotated[Path | None, typer.Option(help="Write each picture as SVG to this folder", metavar="DIR")] = None,
    x: X = None,
    y: Y = None,
    series: Series = None,
    frame: Frame = None,
    overlay: Overlay = None,
    capacity: Annotated[str | None, typer.Option(help="Capacity of the drive, for a chart's --x 0:100%")] = None,
) -> None:
    """Write a page about a recording, several side by side, or a catalogue.

    The page is one self-contained file. PNG and SVG need Chromium or Chrome; they are 1600 pixels wide and show drive,
    conditions and date. pslc prints the name of each file it writes.
    """
    from pslc.base.errors import user_error
    from pslc.base.writer import Replace

    subject = _Subject.of(runs, label or [], import_options(x, y, series, frame, capacity))
    path = output or _page_in_folder(runs)
    if path is None and png is None and svg is None:
        what = f"{len(runs)} recordings" if len(runs) > 1 else str(runs[0])
        raise user_error(f"a page for {what} needs a file name", "add -o page.html")
    write_overlays((side.foreign for side in subject.sides if side.foreign), overlay, output)
    try:
        if path is not None:
            subject.write_page(path, Replace.ANY if output else Replace.OURS)
            say(str(path))
    except OSError as error:
        raise user_error(f"{path}: {error.strerror}", "give -o a file that can be written") from None
    for kind, folder in (("png", png), ("svg", svg)):
        if folder is not None:
            subject.export(folder, kind)


def _page_in_folder(runs: list[Path]) -> Path | None:
    """The page in the folder of the run; None for a file, or for several runs."""
    return runs[0] / "report.html" if len(runs) == 1 and runs[0].is_dir() else None


@dataclass(frozen=True)
class _Subject:
    """Recordings that are shown: a catalogue, or sides of a comparison.

    Attributes:
        sides: recordings beside each other, or a single one; empty for a catalogue.
        catalogue: recordings of the suites of one drive.
        label: name of the drive of a catalogue or a single recording; empty: the recording's own.
    """

    sides: "list[Side]"
    catalogue: "list[Recording]"
    label: str

    @classmethod
    def of(cls, runs: list[Path], labels: list[str], hints: "ImportOptions") -> "_Subject":
        """Read the runs.

        Raises:
            PslcError: one of them cannot be read, or the labels do not fit them.
        """
        from pslc.base.errors import user_error
        from pslc.recording import comparison
        from pslc.runner.load import catalogue, opened, read_sides

        label = labels[0] if labels else ""
        suites = catalogue(runs[0]) if len(runs) == 1 else []
        if suites and len(labels) > 1:
            raise user_error(
                f"a catalogue is of one drive, but there are {len(labels)} labels", 'give one: --label "WD SN850, 25 C"'
            )
        if suites:
            return cls([], [opened(run) for run in suites], label)
        sides = [side for run in runs for side in read_sides(run, hints)]
        return cls(comparison.named(sides, labels) if sides else [], [], label)

    def write_page(self, path: Path, replaces: "Replaces") -> None:
        """Write the page to `path`."""
        from pslc.recording import comparison
        from pslc.report import page, recording_view

        if self.catalogue:
            views = [recording_view.of_recording(recording, self.label) for recording in self.catalogue]
            page.write_all(views, path, replaces)
        elif len(self.sides) == 1:
            page.write(_view(self.sides[0], self.label), path, replaces)
        else:
            page.write_comparison(self.sides, comparison.compare(self.sides, {}), path, replaces=replaces)

    def export(self, folder: Path, kind: str) -> None:
        """Write each picture to `folder` as PNG or SVG, and print its name."""
        from pslc.figures import curves
        from pslc.report import export, recording_view
        from pslc.report.page import About

        shown = []
        if len(self.sides) > 1:
            shown = [(folder, curves.of_sides(self.sides), About.of_sides(self.sides))]
        elif self.sides:
            view = _view(self.sides[0], self.label)
            shown = [(folder, view.pictures, About.of(view))]
        for recording in self.catalogue:
            view = recording_view.of_recording(recording, self.label)
            shown.append((folder / recording.suite, view.pictures, About.of(view)))
        for place, pictures, about in shown:
            for file in export.write(pictures, about, place, kind):
                say(str(file))


def _view(side: "Side", label: str) -> "View":
    """A recording, or what another program measured, as it is shown."""
    from dataclasses import replace

    from pslc.analysis import Writes
    from pslc.report import recording_view

    if side.foreign is not None:
        data = replace(side.foreign, name=label) if label else side.foreign
        return recording_view.of_foreign(data, side.recording.findings.typed(Writes))
    return recording_view.of_recording(side.recording, label)
