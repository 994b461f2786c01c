"""`pslc report`: recordings as a page, and their pictures as files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pslc.figures.picture import Picture
    from pslc.findings.comparison import Side
    from pslc.recording import Recording


def command(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders; several are compared. Or the folder of a catalogue.")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page; report.html in the folder of a single run.")
    ] = None,
    png: Annotated[Path | None, typer.Option(help="Folder for each picture as PNG.", metavar="DIR")] = None,
    svg: Annotated[Path | None, typer.Option(help="Folder for each picture as SVG.", metavar="DIR")] = None,
) -> None:
    """Make a page of recordings: of one run, of several beside each other, or of every suite in a folder.

    Each file that was written is a line of stdout.
    The page needs nothing but itself. Pictures as files need Chromium or Chrome, and no network.
    """
    from pslc.errors import refusal
    from pslc.opened import read_side

    catalogue = _catalogue(runs)
    sides = [] if catalogue else [read_side(run) for run in runs]
    if len(runs) > 1 and output is None and png is None and svg is None:
        raise refusal(f"a page of {len(runs)} recordings belongs into none of their folders", "say where: -o page.html")
    path = output or (None if len(runs) > 1 else runs[0] / "report.html")
    try:
        if path is not None:
            _write(sides, catalogue, path)
            typer.echo(str(path))
    except OSError as error:
        raise refusal(f"{path}: {error.strerror}", "give -o a file that can be written") from None
    for kind, folder in (("png", png), ("svg", svg)):
        if folder is not None:
            _export(sides, catalogue, folder, kind)


def _catalogue(runs: list[Path]) -> "list[Recording]":
    """The recordings in the folders of a folder that is none itself."""
    from pslc.opened import opened

    if len(runs) > 1 or (runs[0] / "run.json").exists():
        return []
    return [opened(path.parent) for path in sorted(runs[0].glob("*/run.json"))]


def _write(sides: "list[Side]", catalogue: "list[Recording]", path: Path) -> None:
    from pslc import view
    from pslc.findings import comparison
    from pslc.report import page

    if catalogue:
        page.write_all([view.of_recording(recording) for recording in catalogue], path)
    elif len(sides) == 1:
        page.write(view.of_recording(sides[0].recording), path)
    else:
        page.write_comparison(sides, comparison.compare(sides, {}), path)


def _export(sides: "list[Side]", catalogue: "list[Recording]", folder: Path, kind: str) -> None:
    from pslc import view
    from pslc.figures import curves
    from pslc.report import export

    pictures: dict[Path, list[Picture]] = {}
    if catalogue:
        pictures = {folder / recording.suite: view.of_recording(recording).pictures for recording in catalogue}
    elif len(sides) == 1:
        pictures = {folder: view.of_recording(sides[0].recording).pictures}
    else:
        pictures = {folder: curves.of_sides(sides)}
    for place, shown in pictures.items():
        for file in export.write(shown, place, kind):
            typer.echo(str(file))
