"""`pslc report`: the recordings there are, their pages, and their pictures as files."""

import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.base.console import say
from pslc.cli import _defaults, _recordings
from pslc.cli._chart_options import Capacity, Frame, Label, Overlay, Series, X, Y, import_options, write_overlays
from pslc.figures.style import Language

if TYPE_CHECKING:
    from pslc.base.writer import Replace as Replaces
    from pslc.recording.comparison import Side
    from pslc.recording.model import Recording
    from pslc.schema.imports import ImportOptions


def command(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUN...]",
            help="Run folder, several to compare, or the folder of a catalogue (default: list the recordings in runs)",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Page to write (default: report.html in the run folder)"),
    ] = None,
    label: Label = None,
    png: Annotated[Path | None, typer.Option(help="Write each picture as PNG to this folder", metavar="DIR")] = None,
    svg: Annotated[Path | None, typer.Option(help="Write each picture as SVG to this folder", metavar="DIR")] = None,
    language: Annotated[Language, typer.Option(help="Language of the words in pictures")] = Language.EN,
    x: X = None,
    y: Y = None,
    series: Series = None,
    frame: Frame = None,
    overlay: Overlay = None,
    capacity: Capacity = None,
    listing: Annotated[bool, typer.Option("--list", help="List the recordings in the folder RUN")] = False,
    opened: Annotated[
        bool, typer.Option("--open", help="Open the page of RUN in a browser (default: of the newest recording)")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as one JSON document")] = False,
) -> None:
    """Write a page about a recording, several side by side, or a catalogue; without any, list the recordings.

    The page is one self-contained file. PNG and SVG need pip install 'pslc\\[pictures]'; they are 1600 pixels wide and
    show drive, conditions and date. pslc prints the name of each file it writes.
    """
    from pslc.base.writer import Replace, check_ending

    if output is not None:
        check_ending(output, ".html")
    if listing or opened or not runs:
        folder = runs[0] if runs else None
        if opened:
            _open(folder)
        else:
            _recordings.show_list(folder or _defaults.runs_folder(), as_json)
        return
    subject = _Subject.of(runs, label or [], language, import_options(x, y, series, frame, capacity))
    path = output or _page_in_folder(runs, needed=png is None and svg is None)
    write_overlays([side.recording for side in subject.sides], overlay, output)
    _write(subject, path, Replace.ANY if output else Replace.OURS)
    for kind, folder in (("png", png), ("svg", svg)):
        if folder is not None:
            subject.export(folder, kind)


def _write(subject: "_Subject", path: Path | None, replaces: "Replaces") -> None:
    """Write the page to `path`, if there is to be one.

    Raises:
        PslcError: it cannot be written.
    """
    from pslc.base import writer
    from pslc.base.errors import user_error

    if path is None:
        return
    try:
        subject.write_page(path, replaces)
    except OSError as error:
        raise user_error(f"{path}: {error.strerror}", "give -o a file that can be written") from None
    if path != writer.STDOUT:
        say(str(path))


def _open(run: Path | None) -> None:
    """Open the page of a recording in a browser. A run without a page gets one."""
    from pslc.base.errors import user_error
    from pslc.recording.listing import recordings_in
    from pslc.report import page, recording_view
    from pslc.runner.load import opened

    if run is None:
        folder = _defaults.runs_folder()
        entries = recordings_in(folder)
        if not entries:
            raise user_error(f"{folder} holds no recordings", "pslc run fill --on sim:sn850-1tb makes one")
        run = entries[0].folder
    path = run / "report.html"
    if not path.exists():
        try:
            page.write(recording_view.of_recording(opened(run)), path)
        except OSError as error:
            raise user_error(f"{path}: {error.strerror}", f"pslc report {run} -o PAGE.html") from None
    say(str(path))
    if not webbrowser.open(path.resolve().as_uri()):
        typer.echo("no browser could be started; open the file above", err=True)


def _page_in_folder(runs: list[Path], *, needed: bool) -> Path | None:
    """The page in the folder of the run; None for a file, or for several runs.

    Raises:
        PslcError: there is none, and it is needed.
    """
    from pslc.base.errors import user_error

    if len(runs) == 1 and runs[0].is_dir():
        return runs[0] / "report.html"
    if needed:
        what = f"{len(runs)} recordings" if len(runs) > 1 else str(runs[0])
        raise user_error(f"a page for {what} needs a file name", "add -o page.html")
    return None


@dataclass(frozen=True)
class _Subject:
    """Recordings that are shown: a catalogue, or sides of a comparison.

    Attributes:
        sides: recordings beside each other, or a single one; empty for a catalogue.
        catalogue: recordings of the suites of one drive.
        label: name of the drive of a catalogue or a single recording; empty: the recording's own.
        language: of the words in pictures.
    """

    sides: "list[Side]"
    catalogue: "list[Recording]"
    label: str
    language: Language

    @classmethod
    def of(cls, runs: list[Path], labels: list[str], language: Language, hints: "ImportOptions") -> "_Subject":
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
            return cls([], [opened(run) for run in suites], label, language)
        sides = [side for run in runs for side in read_sides(run, hints)]
        return cls(comparison.named(sides, labels) if sides else [], [], label, language)

    def write_page(self, path: Path, replaces: "Replaces") -> None:
        """Write the page to `path`."""
        from pslc.base import writer
        from pslc.recording import comparison
        from pslc.report import page, recording_view

        if self.catalogue:
            views = [recording_view.of_recording(recording, self.label) for recording in self.catalogue]
            page.write_all(views, path, replaces, self.language)
        elif len(self.sides) == 1:
            view = recording_view.of_recording(self.sides[0].recording, self.label)
            page.write(view, path, replaces, self.language)
        else:
            text = page.render_comparison(self.sides, comparison.compare(self.sides, {}), language=self.language)
            writer.write(path, text, replaces)

    def export(self, folder: Path, kind: str) -> None:
        """Write each picture to `folder` as PNG or SVG, and print its name."""
        from pslc.base import writer
        from pslc.figures import draw
        from pslc.figures.document import document
        from pslc.figures.style import Style
        from pslc.report import page, recording_view
        from pslc.runner import pictures

        draw.check_installed()
        shown = []
        if len(self.sides) > 1:
            shown = [(folder, pictures.of_comparison(self.sides), pictures.about(self.sides))]
        elif self.sides:
            view = recording_view.of_recording(self.sides[0].recording, self.label)
            shown = [(folder, view.pictures, page.about_view(view))]
        for recording in self.catalogue:
            view = recording_view.of_recording(recording, self.label)
            shown.append((folder / recording.suite, view.pictures, page.about_view(view)))
        for place, drawn, about in shown:
            writer.folder(place)
            for picture in drawn:
                if picture.has_data:
                    path = place / f"{picture.name}.{kind}"
                    draw.write(document(picture, about, self.language), path, Style(height=900), writer.Replace.OURS)
                    say(str(path))
