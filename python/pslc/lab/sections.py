"""The parts of the page below the bench: what somebody brings, and the recordings in `runs/`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode

from dash import dcc, html
from dash.development.base_component import Component
from typing_extensions import TypedDict

from pslc.base import words
from pslc.figures.view import View
from pslc.lab.fits import Fit
from pslc.lab.layout import named, shells, table, under_way
from pslc.lab.recordings import COLUMNS, Entry
from pslc.lab.uploads import MAX_BYTES, Dropped
from pslc.report.page import Figure

_Bytes = TypedDict("_Bytes", {"data-bytes": str})
"""For the script of the page."""
_Of = TypedDict("_Of", {"data-of": str})
"""For the script of the page, the folder of a picture."""
MAX_NAMED: Final = 5
"""Folders whose names are said."""
CHART_INPUTS: Final = {
    "x": ("x axis", "0:2000GB"),
    "y": ("y axis", "0:7000MB/s"),
    "series": ("Color of the curve", "blue"),
    "frame": ("Corners of the plot", "two clicks into the picture"),
}
"""Input fields for a picture of a chart: label and example of each."""
LAST: Final = 3
"""Lines of a fit that failed: the error and its hint."""


def brought() -> Component:
    """Section for uploads, and for the overlay of the curve."""
    formats = (
        "fio's logs, JSON and iologs, CSV, texts of CrystalDiskMark, AS SSD, Iometer and NIOBench, blktrace and other "
        "traces, run.json and series.parquet of a recording, profiles and drives, pictures of charts"
    )
    return html.Section(
        [
            html.H2("Bring your own"),
            dcc.Upload(
                html.Button("Drop files here, or choose them", type="button"), id="drop", multiple=True
            ),
            html.P(f"Accepted: {formats}. At most {MAX_BYTES / 1e6:g} MB at once. They stay on this machine.",
                   className="dim", id="most", **_Bytes({"data-bytes": str(MAX_BYTES)})),
            html.Div(id="dropped", **{"aria-live": "polite"}),  # type: ignore[arg-type]
            html.Div(id="fit", **{"aria-live": "polite"}),  # type: ignore[arg-type]
            html.Div(
                [
                    html.Label("Figures of a review, laid over the curve", htmlFor="published"),
                    dcc.Input(id="published", type="text", debounce=True,
                              placeholder="cache=435GB speed1=4000MB/s speed2=500MB/s end2=1100GB speed3=300MB/s"),
                    html.Button("Nothing over it", id="no-over", type="button"),
                ],
                className="row review",
            ),
        ]
    )  # fmt: skip


def recordings() -> Component:
    """The table of `runs/`, which is read once it is opened."""
    return html.Section(
        html.Details(
            [
                html.Summary(html.H2("Recordings")),
                dcc.Store(id="recordings-open", data=False),
                dcc.Store(id="changed", data=0),
                dcc.Store(id="order", data=["began", True]),
                dcc.Store(id="doomed"),
                dcc.ConfirmDialog(id="delete"),
                html.Div(
                    [
                        html.Label("Filter", htmlFor="filter"),
                        dcc.Input(id="filter", type="text", placeholder="fill sn850"),
                        html.A("Compare those chosen", id="compare", href="", target="_blank", hidden=True),
                    ],
                    className="row",
                ),
                html.Div(id="recordings"),
            ],
            id="recordings-part",
        )
    )


def on_the_bench(upload: Dropped) -> list[Component]:
    """A profile or a drive."""
    return [html.P(f"{upload.name} is on the bench.")]


def chart(upload: Dropped, name: str) -> list[Component]:
    """A picture of a chart, and what its reader has to say of it before it can be read."""
    fields: list[Component] = []
    for what, (called, example) in CHART_INPUTS.items():
        fields.append(html.Label(called, htmlFor=f'{{"of":"{name}","type":"chart-{what}"}}'))
        fields.append(dcc.Input(id={"type": f"chart-{what}", "of": name}, type="text", placeholder=example))
    of: _Of = {"data-of": name}
    return [
        html.H3(f"{upload.name}: a chart"),
        html.P(
            "Give the values at the first and the last label of each axis. Several curves: also the color. Where the "
            "plot is not recognized, click the corners between which these values lie: top left, then bottom right."
        ),
        html.Div([*fields, html.Button("Read the chart", id={"type": "chart", "of": name}, type="button")],
                 className="row"),
        html.Img(id="chart-picture", src=upload.picture, alt="The chart that was dropped", className="chart", **of),
        html.Div(id={"type": "chart-read", "of": name}, **{"aria-live": "polite"}),  # type: ignore[arg-type]
    ]  # fmt: skip


def dropped(upload: Dropped, view: View, name: str, figures: Sequence[Figure]) -> list[Component]:
    """Contents of uploaded files, which are kept under `name`."""
    parts: list[Component] = [html.H3(f"{view.title}: {view.took}")]
    parts += [html.P(sentence, className="finding") for sentence in view.sentences]
    parts += [html.P(f"Warning: {doubt}", className="doubt") for doubt in view.doubts]
    parts += [html.P(f"Note: {note}.", className="dim") for note in view.notes]
    if upload.picture:
        parts.append(html.Img(src=upload.picture, alt="The detected curves over the pale picture", className="chart"))
    if upload.is_trace:
        parts.append(html.Button("Replay it on the bench", id={"type": "replay", "of": name}, type="button"))
    if upload.curve is not None:
        capacity = [] if upload.is_recording else [
            html.Label("Capacity of the drive", htmlFor=f'{{"of":"{name}","type":"capacity"}}'),
            dcc.Input(id={"type": "capacity", "of": name}, type="text", placeholder="1TB"),
        ]  # fmt: skip
        button = html.Button("Fit a twin", id={"type": "fit", "of": name}, type="button")
        parts.append(html.Div([*capacity, button], className="row"))
    return [*parts, *(table(of) for of in view.tables), *shells(figures)]


def fitting(fit: Fit) -> list[Component]:
    """A fit under way."""
    parts = under_way("fit", "Progress of the fit", f"Fitting: {fit.status}", "Stop the fit")
    return [html.Div(parts, className="row")]


def fitted(fit: Fit) -> list[Component]:
    """A fit that is done."""
    return [html.P(f"The twin is on the bench: {fit.output}, and all about it in {fit.output.with_suffix('.html')}.")]


def failed(fit: Fit) -> list[Component]:
    """A fit that ended otherwise, in its own words."""
    return [html.P(line, className="doubt") for line in fit.lines[-LAST:]]


_Sort = TypedDict("_Sort", {"aria-sort": str})


def entries(rows: Sequence[Entry], by: str, falling: bool, unreadable: Sequence[str]) -> Component:
    """The recordings in a table, and the names of folders that hold none that can be read."""
    if unreadable:
        more = f" and {len(unreadable) - MAX_NAMED} more" if len(unreadable) > MAX_NAMED else ""
        text = f"Not readable: {', '.join(unreadable[:MAX_NAMED])}{more}. `pslc analyze runs/NAME` says why."
        return html.Div([_entries(rows, by, falling), html.P(text, className="doubt")])
    return _entries(rows, by, falling)


def _entries(listed: Sequence[Entry], by: str, falling: bool) -> Component:
    if not listed:
        return html.P(
            "None. `pslc run` puts its recordings into runs/; Keep puts the one above there.", className="dim"
        )
    arrow = " ↓" if falling else " ↑"

    def head(name: str) -> Component:
        sort: _Sort = {"aria-sort": ("descending" if falling else "ascending") if name == by else "none"}
        button = html.Button(f"{name}{arrow if name == by else ''}", id={"type": "sort", "by": name}, type="button")
        return html.Th(button, scope="col", **sort)

    heads = [html.Th("compare", scope="col"), *map(head, COLUMNS), html.Th("do", scope="col")]
    rows = [_row(entry) for entry in listed]
    return html.Div(
        html.Table([html.Caption(f"{len(listed)} recordings"), html.Thead(html.Tr(heads)), html.Tbody(rows)]),
        className="wide",
        tabIndex="0",
        role="region",
        **named("Recordings"),
    )


def _row(entry: Entry) -> Component:
    def button(kind: str, what: str) -> Component:
        return html.Button(what, id={"type": kind, "run": entry.name}, type="button", **named(f"{what} {entry.name}"))

    pick = dcc.Checklist(
        [{"label": html.Span(f"Compare {entry.name}", className="hidden"), "value": entry.name}], [],
        id={"type": "pick", "run": entry.name},
    )  # fmt: skip
    cache = "" if entry.cache_bytes is None else words.size(entry.cache_bytes)
    mean = "" if entry.mean_bytes_per_s is None else words.speed(entry.mean_bytes_per_s)
    link = html.A("Open", href=f"report/{quote(entry.name)}", target="_blank", **named(f"Open {entry.name}"))
    cells: list[Any] = [pick, entry.began, entry.suite, entry.drive, entry.target, cache, mean]
    return html.Tr(
        [
            *(html.Td(cell) for cell in cells),
            html.Td([link, button("over", "Lay over"), button("delete", "Delete")], className="do"),
        ]
    )


def compare_href(names: Sequence[str]) -> str:
    """The page that compares recordings."""
    return f"compare?{urlencode([('run', name) for name in names])}"
