"""A recording as one HTML page that needs no network: findings in words, pictures, how it was measured, warnings."""

import contextlib
import functools
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from jinja2.bccache import Bucket

from pslc._native import version
from pslc.base import words, writer
from pslc.base.console import MAX_LINE_LETTERS, short
from pslc.base.writer import Replace
from pslc.figures import style, tables
from pslc.figures.document import About, document
from pslc.figures.picture import Picture
from pslc.figures.style import Language, Theme
from pslc.figures.view import View
from pslc.recording import metrics
from pslc.recording.change_summary import headlines, verdicts
from pslc.recording.comparison import Compared, Side, without_jobs
from pslc.recording.metrics import Origin
from pslc.recording.model import Recording
from pslc.report import overlaid
from pslc.report.overlaid import key_pictures
from pslc.report.recording_view import of_recording as view_of
from pslc.runner import pictures as charts

if TYPE_CHECKING:
    from pslc.twin.fit_report import FitReport

FOLDER = Path(__file__).parent
"""Folder of templates and styles."""
COMPILED = Path(importlib.util.cache_from_source(__file__)).parent
"""Folder of what Python compiled."""
FIGURES = Path(style.__file__).parent
"""Folder of the script that draws pictures, and of its style."""
MOST_JOBS, MOST_LETTERS = 200, 30_000
"""Jobs in the table of a page, and letters of its job file; run.json has all of them."""


def write(view: View, path: Path, replaces: Replace = Replace.OURS, language: Language = Language.EN) -> None:
    """Write the page of a recording, or of a trace, to `path`."""
    writer.write(path, render(view, language), replaces)


def render(view: View, language: Language = Language.EN) -> str:
    """The page of a recording, or of a trace, with its pictures in a language."""
    pictures = [(picture, about_view(view)) for picture in view.pictures]
    if view.recording is None:
        return with_pictures("view.html.jinja", pictures, language, title=view.title, view=view)
    recording = view.recording
    return with_pictures(
        "run.html.jinja",
        pictures,
        language,
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


def about_view(view: View) -> About:
    """Caption for the pictures of one recording."""
    return About(view.drive, view.conditions)


def _recording(view: View) -> Recording:
    assert view.recording is not None, "a page is of a recording"
    return view.recording


def with_pictures(
    template: str, pictures: Sequence[tuple[Picture, About]], language: Language = Language.EN, **shown: Any
) -> str:
    """A page with pictures, in a language, and all that draws them."""
    figures = [document(picture, about, language) for picture, about in pictures if picture.has_data]
    return environment().get_template(template).render(figures=figures, **shown)


def write_all(
    views: list[View], path: Path, replaces: Replace = Replace.OURS, language: Language = Language.EN
) -> None:
    """Write a page of a whole catalogue to `path`: what each suite found, then a section a suite with its pictures and
    tables."""
    recordings = [_recording(view) for view in views]
    named = [
        [replace(picture, name=f"{recording.suite}-{picture.name}") for picture in key_pictures(view)]
        for recording, view in zip(recordings, views, strict=True)
    ]
    text = with_pictures(
        "catalogue.html.jinja",
        [(picture, about_view(view)) for view, own in zip(views, named, strict=True) for picture in own],
        language,
        title=f"{views[0].drive}: every test",
        first=recordings[0],
        sections=list(zip(recordings, views, named, strict=True)),
    )
    writer.write(path, text, replaces)


@functools.cache
def stylesheet() -> str:
    """Style of every page, with the colors of its pictures: in dark only on a screen, as paper is white."""
    files = [path.read_text(encoding="utf-8") for path in (FOLDER / "page.css", FIGURES / "figure.css")]
    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {style.variables(Theme.DARK)} }} }}"
    return "\n".join([f":root {{ {style.variables(Theme.WHITE)} }}", dark, *files])


class _Compiled(jinja2.FileSystemBytecodeCache):
    """Compiled templates, where Python keeps compiled modules and only if it may: a short run compiles a tenth of its
    time."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        if not sys.dont_write_bytecode:
            with contextlib.suppress(OSError):
                super().dump_bytecode(bucket)


@functools.cache
def environment() -> jinja2.Environment:
    """Jinja environment of the templates; each is compiled once."""
    loader = jinja2.FileSystemLoader([FOLDER, FIGURES])
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_lines_end,
        bytecode_cache=_Compiled(str(COMPILED), "%s.jinja"),
    )
    environment.filters["short"] = short
    for name in ("size", "speed", "span", "quantity", "change"):
        environment.filters[name] = getattr(words, name)
    environment.globals |= {"stylesheet": stylesheet()}
    return environment


def _lines_end(value: object) -> object:
    """Shorten the lines of a text, which may be foreign, to those of the terminal."""
    if type(value) is not str or len(value) <= MAX_LINE_LETTERS:
        return value
    return "\n".join(short(line, MAX_LINE_LETTERS) for line in value.split("\n"))


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
    sides: list[Side],
    rows: list[Compared],
    suites: Mapping[str, Sequence[Side]] | None = None,
    language: Language = Language.EN,
) -> str:
    """A page of several recordings: their figures in a table, and every curve in one picture.

    Args:
        suites: the sides of each suite, where catalogues are compared: a section each, behind a summary.
    """
    about = charts.about(sides)
    title = f"Comparison of {', '.join(side.name for side in sides[:-1])} and {sides[-1].name}"
    shown: dict[str, Any] = {
        "sides": sides,
        "title": title,
        "told": verdicts(sides, rows),
        "suites": list(suites or ()),
    }
    if not suites:
        drawn = [(picture, about) for picture in charts.of_comparison(sides)]
        return with_pictures(
            "comparison.html.jinja", drawn, language, table=Parted.of(rows), warnings=_warnings(sides), **shown
        )
    overall = overlaid.by_suite(sides, rows)
    first, *rest = (replace(side.recording, suite=f"{len(suites)} suites") for side in sides)
    drawn, sections = [(overall, replace(about, conditions=first.conditions_with(rest)))], []
    for suite, of_suite in suites.items():
        renamed = [replace(recording, name=side.name) for recording, side in zip(of_suite, sides, strict=True)]
        pictures = [replace(picture, name=f"{suite}-{picture.name}") for picture in charts.of_comparison(renamed)[:1]]
        drawn += [(picture, replace(charts.about(of_suite), drive=about.drive)) for picture in pictures]
        sections.append(
            Section(
                suite,
                view_of(of_suite[0].recording).question,
                [picture.name for picture in pictures],
                Parted.of([row for row in rows if row.suite == suite]),
                _warnings(renamed),
            )
        )
    return with_pictures(
        "catalogues.html.jinja",
        drawn,
        language,
        overall=overall.name if overall.has_data else None,
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
        named = {row.name for row in without_jobs(rows)}
        jobs = [row for row in rows if row.name not in named]
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
    warnings: list[str]


def _warnings(sides: Sequence[Side]) -> list[str]:
    return [
        f"{side.name}: {warning}"
        for side in sides
        for recording in side.repeats
        for warning in recording.findings.warnings
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
