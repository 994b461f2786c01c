"""A recording as one HTML page that needs no network: findings in words, pictures, how it was measured, doubts."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jinja2

from pslc import words
from pslc.figures import curves, tables
from pslc.figures.picture import Band, Line, Picture
from pslc.figures.view import View
from pslc.findings.comparison import Row, Side
from pslc.recording import Recording
from pslc.twin.answer import Answer

Figure = dict[str, Any]
"""A figure of Plotly: `id`, `title`, `data`, `layout`."""

STYLES: dict[str, dict[str, Any]] = {
    "line": {"mode": "lines"},
    "dotted": {"mode": "lines", "line": {"dash": "dot"}},
    "filled": {"mode": "lines", "fill": "tozeroy"},
    "points": {"mode": "lines+markers"},
}
KEY_PICTURES = 2
"""Of each suite on the page of a catalogue."""
MOST = 2500
"""Points of a line."""
WIDE = 0.05
"""The share of a picture's width from which on there is room for the word of a band."""


def write(view: View, path: Path) -> None:
    """Write the page of a recording to `path`."""
    path.write_text(render(view), encoding="utf-8")


def render(view: View) -> str:
    """The page of a recording."""
    recording = _recording(view)
    return (
        environment()
        .get_template("run.html.jinja")
        .render(
            title=view.title,
            recording=recording,
            view=view,
            jobs=tables.of_jobs(recording.jobs),
            figures=[figure(picture) for picture in view.pictures if picture.lines],
            provenance=dict(recording.provenance),
            plotly=plotly(),
        )
    )


def _recording(view: View) -> Recording:
    assert view.recording is not None, "a page is of a recording"
    return view.recording


def write_all(views: list[View], path: Path) -> None:
    """Write a page of a whole catalogue to `path`: a section a suite, its pictures and tables below its findings."""
    recordings = [_recording(view) for view in views]
    drawn = [
        [figure(replace(picture, name=f"{recording.suite}-{picture.name}")) for picture in view.pictures[:KEY_PICTURES]]
        for recording, view in zip(recordings, views, strict=True)
    ]
    first = recordings[0]
    text = (
        environment()
        .get_template("catalogue.html.jinja")
        .render(
            title=f"{first.drive}: every test",
            first=first,
            sections=list(zip(recordings, views, drawn, strict=True)),
            figures=[one for several in drawn for one in several],
            plotly=plotly(),
        )
    )
    path.write_text(text, encoding="utf-8")


def environment() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(size=words.size, speed=words.speed, span=words.span, quantity=words.quantity)
    return environment


def plotly() -> str:
    """Plotly's own script, the bundle of it that has lines and bars."""
    return (Path(__file__).parent / "plotly" / "plotly-basic.min.js").read_text(encoding="utf-8")


def write_comparison(sides: list[Side], rows: list[Row], path: Path) -> None:
    """Write a page of several recordings to `path`: their figures in a table, and every curve in one picture."""
    text = (
        environment()
        .get_template("comparison.html.jinja")
        .render(
            sides=sides,
            rows=rows,
            figures=[figure(picture) for picture in curves.of_sides(sides) if picture.lines],
            plotly=plotly(),
            title="Comparison",
        )
    )
    path.write_text(text, encoding="utf-8")


def write_fit(found: Answer, path: Path) -> None:
    """Write the page of a twin to `path`: measured and twin over each other, values, firmwares, predictions."""
    pictures = [picture for picture in found.pictures if picture.lines]
    text = (
        environment()
        .get_template("fit.html.jinja")
        .render(title=found.name, found=found, figures=[figure(picture) for picture in pictures], plotly=plotly())
    )
    path.write_text(text, encoding="utf-8")


def figure(picture: Picture) -> Figure:
    """A picture as Plotly draws it."""
    lines = [_bars(line, picture.rows) if picture.rows else _line(line) for line in picture.lines]
    end = max((band.end for band in picture.bands), default=0.0)
    shapes = [_shade(band) for band in picture.bands[1::2]]
    notes = [_note(band) for band in picture.bands if band.end - band.start > WIDE * end]
    layout: dict[str, Any] = {"xaxis": _axis(picture.x, picture.log_x), "yaxis": _axis(picture.y, picture.log_y)}
    if picture.rows:
        layout["xaxis"] = {"type": "category", "categoryarray": list(picture.rows), "categoryorder": "array"}
    layout |= {"showlegend": len(lines) > 1, "shapes": shapes, "annotations": notes}
    return {"id": picture.name, "title": picture.title, "data": lines, "layout": layout}


def _axis(title: str, log: bool) -> dict[str, Any]:
    if log:
        return {"title": {"text": title}, "type": "log", "exponentformat": "power"}
    return {"title": {"text": title}, "rangemode": "tozero"}


def _line(line: Line) -> dict[str, Any]:
    x, y = line.thinned(MOST)
    return {"type": "scatter", "name": line.name, "x": _short(x), "y": _short(y), **STYLES[line.style]}


def _bars(line: Line, rows: Sequence[str]) -> dict[str, Any]:
    x, y = line.points
    return {"type": "bar", "name": line.name, "x": [rows[int(place)] for place in x], "y": _short(y)}


def _short(values: curves.Floats) -> list[float]:
    """Five digits: what a screen shows, in a third of the bytes."""
    return [float(f"{value:.5g}") for value in values]


def _shade(band: Band) -> dict[str, Any]:
    where = {"type": "rect", "yref": "paper", "x0": band.start, "x1": band.end, "y0": 0, "y1": 1}
    return where | {"line": {"width": 0}, "fillcolor": "rgba(128,128,128,0.12)", "layer": "below"}


def _note(band: Band) -> dict[str, Any]:
    middle = (band.start + band.end) / 2
    return {"x": middle, "y": band.y, "text": band.word, "showarrow": False, "yshift": 12}
