"""A recording as one HTML page that needs no network: findings in words, pictures, how it was measured, doubts."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
import numpy as np
from typing_extensions import TypedDict

from pslc._native import version
from pslc.base import words, writer
from pslc.base.writer import Replace
from pslc.figures import curves, tables
from pslc.figures.picture import Band, Line, Picture
from pslc.figures.view import View
from pslc.recording import metrics
from pslc.recording.change_summary import headlines, verdicts
from pslc.recording.comparison import Compared, Side
from pslc.recording.metrics import Origin
from pslc.recording.store import Recording
from pslc.report import overlaid
from pslc.report.overlaid import key_pictures
from pslc.report.recording_view import of_recording as view_of

if TYPE_CHECKING:
    from pslc.twin.fit_report import FitReport

FOLDER = Path(__file__).parent
"""Folder of templates, styles and scripts."""
Plotly = dict[str, object]
"""A part of a figure in Plotly's own words, which goes to its script as it is."""


@dataclass(frozen=True)
class About:
    """Caption of a picture outside its page: the drive, the conditions and the date."""

    drive: str
    conditions: str

    @classmethod
    def of(cls, view: View) -> "About":
        """Caption for the pictures of one recording."""
        return cls(view.drive, view.conditions)

    @classmethod
    def of_sides(cls, sides: Sequence[Side]) -> "About":
        """Caption for the pictures of a comparison; conditions that all sides share are named once."""
        first, *rest = (side.recording for side in sides)
        return cls(" / ".join(side.name for side in sides), first.conditions_with(rest))


class Figure(TypedDict):
    """A picture as the script draws it. `label`: for who cannot see it; `more`: how many lines its legend omits."""

    id: str
    title: str
    label: str
    more: int
    data: list[Plotly]
    layout: Plotly
    about: dict[str, str]


STYLES: dict[str, Plotly] = {
    "line": {"mode": "lines"},
    "dotted": {"mode": "lines", "line": {"dash": "dot"}},
    "filled": {"mode": "lines", "fill": "tozeroy"},
    "steps": {"mode": "lines", "line": {"shape": "hv"}, "fill": "tozeroy"},
    "points": {"mode": "lines+markers", "cliponaxis": False},
    "dots": {"mode": "markers"},
}
DASHES = ("solid", "dash", "dashdot", "longdash", "dot")
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x", "star")
PATTERNS = ("", "/", ".", "x")
"""Fill patterns, so that lines, points and bars differ by more than their colour."""
MIN_ROUGH_SHARE = 0.01
"""A line whose steps from point to point exceed this share of its highest value is drawn thin and whole."""
MIN_ROUGH_POINTS = 200
"""A line of fewer points goes up and down as its reader can follow."""
WIDTHS = (1.0, 1.75, 2.5)
"""Pixels of rough lines, which dashes cannot tell apart."""
LEGEND = 10
"""Entries of a legend; other lines tell their names when pointed at."""
MAX_POINTS = 2500
"""Points of a line."""
LARGEST = 1_500_000
"""Bytes of a page, most of which are Plotly's script; lines get as many points as there is room for."""
MOST_JOBS, MOST_LETTERS = 200, 30_000
"""Jobs in the table of a page, and letters of its job file; run.json has all of them."""
PAGE_POINTS, FEWEST = 16_000, 1_000
"""Points of all lines of a page: where it begins, and where it ends."""
WIDE = 0.05
"""The share of a picture's width from which on there is room for the word of a band."""


def write(view: View, path: Path, replaces: Replace = Replace.OURS) -> None:
    """Write the page of a recording, or of a trace, to `path`."""
    writer.write(path, render(view), replaces)


def render(view: View) -> str:
    """The page of a recording, or of a trace."""
    pictures = [(picture, About.of(view)) for picture in view.pictures]
    if view.recording is None:
        return with_pictures("view.html.jinja", pictures, title=view.title, view=view)
    recording = view.recording
    return with_pictures(
        "run.html.jinja",
        pictures,
        title=view.title,
        recording=recording,
        view=view,
        key_figures=metrics.key_figures(recording) if recording.drive_time_s else [],
        jobs=tables.of_jobs(recording.jobs[:MOST_JOBS]),
        more_jobs=max(len(recording.jobs) - MOST_JOBS, 0),
        job_file=recording.job_file[:MOST_LETTERS],
        cut=len(recording.job_file) > MOST_LETTERS,
        provenance=dict(recording.provenance),
    )


def _recording(view: View) -> Recording:
    assert view.recording is not None, "a page is of a recording"
    return view.recording


def with_pictures(template: str, pictures: Sequence[tuple[Picture, About]], **shown: object) -> str:
    """A page with pictures, of `LARGEST` bytes at most if fewer points can do it."""
    some = [(picture.in_fitting_units(), about) for picture, about in pictures if picture.lines]
    lengths = [len(line.points[0]) for picture, _ in some for line in picture.lines]
    page = environment().get_template(template)
    points = PAGE_POINTS
    while True:
        max_points = _share(lengths, points)
        figures = [figure(picture, about, max_points) for picture, about in some]
        text = page.render(figures=figures, plotly=plotly(), **shown)
        if points <= FEWEST or len(text.encode()) <= LARGEST:
            return text
        points = points * 2 // 3


def _share(lengths: Sequence[int], points: int) -> int:
    """The most points of a line with which all of them together have no more than `points`."""
    max_points = MAX_POINTS
    while max_points > 2 and sum(min(length, max_points) for length in lengths) > points:
        max_points = int(max_points / 1.1)
    return max_points


def write_all(views: list[View], path: Path, replaces: Replace = Replace.OURS) -> None:
    """Write a page of a whole catalogue to `path`: what each suite found, then a section a suite with its pictures and
    tables."""
    recordings = [_recording(view) for view in views]
    named = [
        [replace(picture, name=f"{recording.suite}-{picture.name}") for picture in key_pictures(view)]
        for recording, view in zip(recordings, views, strict=True)
    ]
    text = with_pictures(
        "catalogue.html.jinja",
        [(picture, About.of(view)) for view, own in zip(views, named, strict=True) for picture in own],
        title=f"{views[0].drive}: every test",
        first=recordings[0],
        sections=list(zip(recordings, views, named, strict=True)),
    )
    writer.write(path, text, replaces)


@functools.cache
def environment() -> jinja2.Environment:
    """Jinja environment of the templates; each is compiled once."""
    loader = jinja2.FileSystemLoader(FOLDER)
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    for name in ("size", "speed", "span", "quantity", "times"):
        environment.filters[name] = getattr(words, name)
    return environment


def plotly() -> str:
    """Plotly's own script, the bundle of it that has lines and bars."""
    return (FOLDER / "plotly" / "plotly-basic.min.js").read_text(encoding="utf-8")


def write_comparison(
    sides: list[Side],
    rows: list[Compared],
    path: Path,
    suites: Mapping[str, Sequence[Side]] | None = None,
    replaces: Replace = Replace.OURS,
) -> None:
    """Write a page of several recordings to `path`: see `render_comparison`."""
    writer.write(path, render_comparison(sides, rows, suites), replaces)


def render_comparison(
    sides: list[Side], rows: list[Compared], suites: Mapping[str, Sequence[Side]] | None = None
) -> str:
    """A page of several recordings: their figures in a table, and every curve in one picture.

    Args:
        suites: the sides of each suite, where catalogues are compared: a section each, behind a summary.
    """
    about = About.of_sides(sides)
    title = f"Comparison of {', '.join(side.name for side in sides[:-1])} and {sides[-1].name}"
    shown = {"sides": sides, "title": title, "told": verdicts(sides, rows), "suites": list(suites or ())}
    if not suites:
        drawn = [(picture, about) for picture in curves.of_sides(sides)]
        return with_pictures("comparison.html.jinja", drawn, table=Parted.of(rows), doubts=_doubts(sides), **shown)
    overall = overlaid.by_suite(sides, rows)
    first, *rest = (replace(side.recording, suite=f"{len(suites)} suites") for side in sides)
    drawn, sections = [(overall, replace(about, conditions=first.conditions_with(rest)))], []
    for suite, rows_of_suite in suites.items():
        views = [view_of(side.recording) for side in rows_of_suite]
        pictures = overlaid.of_suite(suite, sides, views)
        drawn += [(picture, replace(About.of_sides(rows_of_suite), drive=about.drive)) for picture in pictures]
        sections.append(
            Section(
                suite,
                views[0].question,
                [picture.name for picture in pictures],
                Parted.of([row for row in rows if row.suite == suite]),
                _doubts(
                    [replace(recording, name=side.name) for recording, side in zip(rows_of_suite, sides, strict=True)]
                ),
            )
        )
    return with_pictures(
        "catalogues.html.jinja",
        drawn,
        overall=overall.name if overall.lines else None,
        headlines=headlines(rows),
        sections=sections,
        **shown,
    )


@dataclass(frozen=True)
class Parted:
    """Figures of a comparison, by how much they matter: `differing`, those that are the same, how many there are that
    only some have (`lacking`), and of catalogues how many of single jobs (`of_jobs`), with those that differ."""

    differing: list[Compared]
    same: list[Compared]
    lacking: int = 0
    of_jobs: int = 0
    of_jobs_differing: int = 0

    @classmethod
    def of(cls, rows: Sequence[Compared]) -> "Parted":
        """Split the rows of a comparison into parts. A row that is out of tolerance is never left out."""
        jobs = [row for row in rows if row.suite and row.origin is Origin.JOB and not row.out_of_tolerance]
        lacking = [row for row in rows if row.origin is Origin.ROW and not (all(row.figures) or row.out_of_tolerance)]
        left = {row.name for row in (*jobs, *lacking)}
        differing: list[Compared] = []
        same: list[Compared] = []
        for row in rows:
            if row.name not in left:
                (differing if row.stands_out else same).append(row)
        return cls(differing, same, len(lacking), len(jobs), sum(any(row.differs) for row in jobs))


@dataclass(frozen=True)
class Section:
    """Section of a page that compares catalogues: a suite, the question it answers, and the names of its pictures."""

    suite: str
    question: str
    pictures: list[str]
    table: Parted
    doubts: list[str]


def _doubts(sides: Sequence[Side]) -> list[str]:
    return [
        f"{side.name}: {doubt}" for side in sides for recording in side.repeats for doubt in recording.findings.doubts
    ]


def today() -> str:
    """Caption of a picture that belongs to no single recording: `2026-05-04, pslc 0.1`."""
    return f"{datetime.now():%Y-%m-%d}, pslc {version()}"


def write_fit(report: "FitReport", path: Path, replaces: Replace = Replace.OURS) -> None:
    """Write the page of a twin to `path`: measured and simulated curves, values, firmware models, predictions."""
    suites = ", ".join(dict.fromkeys(dataset.suite for dataset in report.result.datasets))
    about = About(report.name, f"fitted to {suites or 'published figures'}, {today()}")
    pictures = [(picture, about) for picture in report.pictures]
    text = with_pictures("fit.html.jinja", pictures, title=report.name, report=report)
    writer.write(path, text, replaces)


def figure(picture: Picture, about: About, max_points: int = MAX_POINTS) -> Figure:
    """A picture as Plotly draws it, with at most so many points a line."""
    many = len(picture.lines) > 1
    drawn = [
        (_bars(line, picture, number) if picture.rows else _line(line, number, many, max_points))
        | {"showlegend": many and number < LEGEND}
        for number, line in enumerate(picture.lines)
    ]
    end = max((band.end for band in picture.bands), default=0.0)
    shapes = [_shade(band) for band in picture.bands[1::2]]
    notes = [_note(band) for band in picture.bands if band.end - band.start > WIDE * end]
    layout: Plotly = {
        "xaxis": _axis(picture.x, picture.log_x, [line.points[0] for line in picture.lines]),
        "yaxis": _axis(picture.y, picture.log_y, [line.points[1] for line in picture.lines]),
        "showlegend": many,
        "shapes": shapes,
        "annotations": notes,
        # Where there are many lines only the one that is pointed at can be read.
        "hovermode": "x unified" if len(picture.lines) <= LEGEND and not picture.rows else "closest",
    }
    if picture.rows:
        layout["xaxis"] = {"type": "category", "categoryarray": list(picture.rows), "categoryorder": "array"}
    return {
        "id": picture.name,
        "title": picture.title,
        "label": _facts_shown(picture),
        "more": max(len(picture.lines) - LEGEND, 0),
        "data": drawn,
        "layout": layout,
        "about": {"drive": about.drive, "conditions": about.conditions},
    }


def _facts_shown(picture: Picture) -> str:
    """The picture for who cannot see it: its axes, its lines and their extremes."""
    across = picture.x or f"{len(picture.rows)} tests"
    facts = []
    for line in picture.lines[:LEGEND]:
        y = line.points[1]
        y = y[np.isfinite(y)]
        if y.size:
            facts.append(f"{line.name} {y.min():.4g} to {y.max():.4g}")
    return f"{picture.title}: {picture.y} against {across}. {'; '.join(facts)}."


def _axis(title: str, log: bool, values: Sequence[curves.Floats]) -> Plotly:
    axis: Plotly = {"title": {"text": title}, "exponentformat": "none", "separatethousands": True}
    if not log:
        return axis | {"rangemode": "tozero"}
    every = np.concatenate([some[np.isfinite(some) & (some > 0)] for some in values] or [np.ones(1)])
    if not every.size:
        every = np.ones(1)
    low, high = float(np.floor(np.log10(every.min()) + 0.02)), float(np.ceil(np.log10(every.max()) - 0.02))
    # Whole decades, each of them marked.
    return axis | {
        "type": "log",
        "dtick": 1,
        "range": [low, max(high, low + 1)],
        "minor": {"dtick": "L1" if high - low < 1 else "D1", "showgrid": high - low <= 4},
    }


def _line(line: Line, number: int, many: bool, max_points: int) -> Plotly:
    x, y = line.broken(max_points)
    style = {name: dict(value) if isinstance(value, dict) else value for name, value in STYLES[line.style].items()}
    if many and line.style == "points":
        style["marker"] = {"symbol": SYMBOLS[number % len(SYMBOLS)]}
    elif many and line.style == "line":
        style["line"] = (
            {"width": WIDTHS[number % len(WIDTHS)]} if _is_rough(y) else {"dash": DASHES[number % len(DASHES)]}
        )
    elif many and line.style == "steps":
        # Areas that lie over each other hide one another.
        style = {"mode": "lines", "line": {"shape": "hv", "dash": DASHES[number % len(DASHES)]}}
    return {"type": "scatter", "name": line.name, "x": _short(x), "y": _short(y), **style}


def _is_rough(y: curves.Floats) -> bool:
    """Whether a line goes up and down so much that dashes of it would be a cloud."""
    values = y[np.isfinite(y)]
    if values.size < MIN_ROUGH_POINTS:
        return False
    return float(np.median(np.abs(np.diff(values)))) > MIN_ROUGH_SHARE * float(np.abs(values).max())


def _bars(line: Line, picture: Picture, number: int) -> Plotly:
    """Bars from zero; where there is no zero, points."""
    x, y = line.points
    drawn = {"name": line.name, "x": [picture.rows[int(place)] for place in x], "y": _short(y)}
    if picture.log_y:
        marker = {"symbol": SYMBOLS[number % len(SYMBOLS)], "size": 11}
        return {"type": "scatter", "mode": "markers", "marker": marker, **drawn}
    return {"type": "bar", "marker": {"pattern": {"shape": PATTERNS[number % len(PATTERNS)]}}, **drawn}


def _short(values: curves.Floats) -> list[float | None]:
    """Five digits: what a screen shows, in a third of the bytes; None in a gap."""
    return [_five_digits(value) if np.isfinite(value) else None for value in values.tolist()]


def _five_digits(value: float) -> float:
    short = float(f"{value:.5g}")
    return int(short) if short.is_integer() else short


def _shade(band: Band) -> Plotly:
    where = {"type": "rect", "yref": "paper", "x0": band.start, "x1": band.end, "y0": 0, "y1": 1}
    return where | {"line": {"width": 0}, "fillcolor": "rgba(128,128,128,0.12)", "layer": "below"}


def _note(band: Band) -> Plotly:
    middle = (band.start + band.end) / 2
    return {"x": middle, "y": band.y, "text": band.word, "showarrow": False, "yshift": 12}
