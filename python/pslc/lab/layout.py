"""The page in parts: what stands where, and what it is called for those who cannot see it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from dash import ALL, Dash, Input, Output, State, dcc, html
from dash.development.base_component import Component
from typing_extensions import TypedDict

from pslc import suites
from pslc.base import gate
from pslc.base.errors import PslcError
from pslc.device import profiles
from pslc.device.profiles import library
from pslc.figures.picture import Table
from pslc.lab import answer, knobs
from pslc.lab.answer import Shown
from pslc.lab.knobs import KNOBS, NUMBERS, Position, number
from pslc.lab.runs import LIVE_S, Job
from pslc.lab.workspace import MAX_DRIVES, Bench, Drive
from pslc.recording.comparison import Side
from pslc.recording.store import Recording
from pslc.report.page import Figure

Children = Sequence[Component | str]
# Attributes with hyphens, which no keyword can have.
_Named = TypedDict("_Named", {"aria-label": str})
_Live = TypedDict("_Live", {"aria-live": str})
_Data = TypedDict(
    "_Data",
    {"data-copy": str, "data-choice": str, "data-drive": str, "data-format": str, "data-of": str},
    total=False,
)
"""For the scripts of the page."""
_LIVE: Final[_Live] = {"aria-live": "polite"}


def named(name: str) -> _Named:
    """Accessible name of an element that shows none."""
    return {"aria-label": name}


def page(more: Children) -> Component:
    """A new tab; `more` is what is below curve and bench."""
    return html.Div(
        [
            dcc.Location(id="address", refresh=False),
            dcc.Store(id="tab", data=uuid4().hex),
            dcc.Store(id="bench"),
            dcc.Store(id="coarse"),
            dcc.Store(id="drawn"),
            dcc.Store(id="inside"),
            dcc.Store(id="others"),
            dcc.Store(id="more-open", data=False),
            dcc.Store(id="given"),
            dcc.Store(id="problem"),
            dcc.Download(id="saved"),
            html.Header([html.H1("pslc lab"), html.P("Turn a knob, see the cliff move.", className="dim")]),
            html.Div(id="trouble", role="alert"),
            html.Main([_curve(), _bench(), html.Div(more, className="below")], className="lab"),
        ],
        className="page",
    )


def _curve() -> Component:
    return html.Section(
        [
            html.Figure(
                [
                    html.Figcaption(
                        [
                            html.H2("The curve", id="main-title"),
                            _files("main", "the curve"),
                            html.Button("As published", id="as-published", type="button", hidden=True),
                            html.Span(id="state"),
                        ]
                    ),
                    html.Div(id="main", className="plot", role="group", **named("No curve yet.")),
                ],
                id="main-figure",
            ),
            html.Div(
                [
                    html.Label("Moment", htmlFor="moment"),
                    dcc.Input(id="moment", type="range", min=0, max=1, step=1, value=0),
                    html.Button("Play", id="play", type="button"),
                ],
                className="row",
                id="moments",
            ),
            html.Canvas(id="strip", role="img", height="90", **named("Superblocks of the drive")),
            html.P(id="strip-said", className="legend"),
            html.P(id="said", className="dim"),
            html.Div(id="why", className="dim"),
            html.Div(id="job", className="row"),
            html.Div(id="findings", **_LIVE),
            _carry(),
            html.Details([html.Summary("More pictures"), html.Div(id="more")], id="more-pictures"),
        ],
        className="curve",
        **named("Curve and findings"),
    )  # fmt: skip


def _carry() -> Component:
    def copied(name: str, what: str) -> Component:
        return html.Button(f"Copy {what}", id=f"copy-{name}", type="button", **_Data({"data-copy": name}))

    return html.Div(
        [
            html.Div(
                [
                    copied("command", "as command"),
                    copied("profile", "as profile"),
                    html.Button("Copy address", id="copy-address", type="button",
                                **_Data({"data-copy": "address-bar"})),
                    html.Button("Findings as JSON", id="save-findings", type="button"),
                    html.Button("Keep in runs/", id="keep", type="button"),
                    html.Span(id="copied", role="status", className="dim"),
                    html.Span(id="kept", role="status", className="dim"),
                ],
                className="row",
            ),
            html.Details([html.Summary("Command and profile"), html.Pre(id="command", tabIndex="0"),
                          html.Pre(id="profile", tabIndex="0")]),
        ],
        id="carry",
    )  # fmt: skip


def _bench() -> Component:
    return html.Section(
        [
            html.H2("Bench"),
            html.Div(id="suites"),
            dcc.Store(id="choice"),
            html.P(id="question", className="dim"),
            html.Div(dcc.RadioItems(id="at", options=[], inline=True), id="look", hidden=True),
            html.Div(id="cards"),
            html.Button("Add a drive", id="add", type="button"),
        ],
        className="bench",
        **named("Bench"),
    )


def suite(chosen: str) -> list[Component]:
    """The suites to choose from, and the trace that was chosen."""
    options = [(of, of) for of in suites.catalogue()]
    options += [] if chosen in suites.catalogue() else [(f"trace: {Path(chosen).name}", chosen)]
    return [html.Label("Suite", htmlFor="suite"), _select("suite", options, chosen)]


def _select(kind: str, options: Sequence[tuple[str, str]], chosen: str, number: int = 0) -> Component:
    """A choice of one; assets/lab.js puts what is chosen into `choice`."""
    name = kind if kind == "suite" else f"{kind}-{number}"
    shown = [html.Option(label, value=value, selected=value == chosen) for label, value in options]
    return html.Select(
        shown, id=name, key=f"{name} {chosen}", **_Data({"data-choice": kind, "data-drive": str(number)})
    )


def sources(*more: str) -> list[tuple[str, str]]:
    """Drives to choose from: those that pslc brings along, and profiles and drives in files here."""
    here = [str(path) for path in sorted(Path().glob("*.pslc"))]
    here += [f"sim:./{path}" for path in sorted(Path().glob("*.toml")) if _is_profile(path)]
    specs = [f"sim:{name}" for name in library()]
    return [(of.removeprefix("sim:"), of) for of in dict.fromkeys([*specs, *here, *more])]


def _is_profile(path: Path) -> bool:
    try:
        text = gate.text(path, profiles.FILE)
    except PslcError:
        return False
    return "[nand" in text or text.startswith("base") or "\nbase" in text


def cards(bench: Bench) -> list[Component]:
    """A card for each drive."""
    return [_card(number, drive, len(bench.drives)) for number, drive in enumerate(bench.drives)]


def can_add(bench: Bench) -> bool:
    """Whether there is room for another drive."""
    return len(bench.drives) < MAX_DRIVES


def _card(number: int, drive: Drive, count: int) -> Component:
    label = f"Drive {number + 1}" if count > 1 else "Drive"
    head: list[Any] = [
        html.Label(label, htmlFor=f"source-{number}"),
        _select("source", sources(drive.source), drive.source, number),
    ]
    if count > 1:
        head.append(
            html.Button("Remove", id={"type": "remove", "drive": number}, type="button",
                        **named(f"Remove drive {number + 1}"))
        )  # fmt: skip
    refused = html.P(id={"type": "refused", "drive": number}, className="refused", role="alert")
    return html.Div([html.Div(head, className="head"), refused, *_knobs(number, drive)], className="card")


def _knobs(number: int, drive: Drive) -> list[Component]:
    if drive.is_kept:
        text = "Its knobs were set when it was made; a run starts as it was left, and changes nothing in its file."
        return [html.P(text, className="dim")]
    try:
        base = drive.base()
    except PslcError:
        # Said above, once it is run.
        return []
    try:
        now = drive.target()
    except PslcError:
        now = None
    at = knobs.positions(base, dict(drive.keys), now)
    return [
        html.Details(
            [html.Summary(group), *(_knob(number, at[knob.key]) for knob in some)],
            open=group == "Cache" or any(at[knob.key].text != at[knob.key].base for knob in some),
        )
        for group, some in KNOBS.items()
    ]


def _knob(drive: int, at: Position) -> Component:
    knob = at.knob
    here = {"type": "knob", "drive": drive, "key": knob.key}
    note = html.P(at.idle and f"No effect: {at.idle}.", id=here | {"type": "said"}, className="said")
    if knob.stops is None:
        options = [{"label": word, "value": word} for word in at.stops]
        return html.Fieldset(
            [html.Legend(knob.label), dcc.RadioItems(options, at.text, id=here, className="words"), note],
            className="knob",
        )
    stops = {"texts": at.stops, "numbers": [number(text) for text in at.stops], "units": NUMBERS}
    place = at.stops.index(at.text) if at.text in at.stops else _nearest(at)
    return html.Div(
        [
            html.Label(knob.label, htmlFor=_id("knob", drive, knob.key)),
            dcc.Input(id=here, type="text", value=at.text, debounce=True, className="value", autoComplete="off",
                      placeholder="no limit"),
            html.Label(f"{knob.label}, slider", htmlFor=_id("slide", drive, knob.key), className="hidden"),
            dcc.Input(id=here | {"type": "slide"}, type="range", min=0, max=len(at.stops) - 1, step=1, value=place),
            dcc.Store(id=here | {"type": "stops"}, data=stops),
            note,
        ],
        className="knob",
    )  # fmt: skip


def _nearest(at: Position) -> int:
    wanted = number(at.text)
    far = [float("inf") if wanted is None or (n := number(text)) is None else abs(n - wanted) for text in at.stops]
    return min(range(len(far)), key=far.__getitem__)


def _id(kind: str, drive: int, key: str | None = None) -> str:
    """An id as Dash writes it into the page."""
    return json.dumps({"drive": drive, **({"key": key} if key else {}), "type": kind}, separators=(",", ":"))


def _files(name: str, title: str) -> Component:
    def button(kind: str) -> Component:
        label = named(f"Save {title} as {kind.upper()}")
        return html.Button(kind.upper(), type="button", **_Data({"data-format": kind, "data-of": name}), **label)

    return html.Span(
        [button("png"), button("svg"), dcc.Checklist(["on white"], [], className="white")], className="files"
    )


def shells(figures: Sequence[Figure]) -> list[Component]:
    """Places for pictures, which the page draws."""
    return [
        html.Figure(
            [
                html.Figcaption([html.H3(figure["title"]), _files(figure["id"], figure["title"])]),
                html.Div(id=figure["id"], className="plot", role="group", **named(figure["label"])),
            ]
        )
        for figure in figures
    ]


def table(of: Table) -> Component:
    """Table of a report, as a component of the page."""
    kinds = ["" if name in of.words else "number" for name in of.columns]
    head = html.Tr([html.Th(name, scope="col", className=kind) for name, kind in zip(of.columns, kinds, strict=True)])
    body = [
        html.Tr([html.Th(row[0], scope="row", className=kinds[0]),
                 *(html.Td(cell, className=kind) for cell, kind in zip(row[1:], kinds[1:], strict=True))])
        for row in of.rows
    ]  # fmt: skip
    return html.Div(
        html.Table([html.Caption(of.title), html.Thead(head), html.Tbody(body)]),
        className="wide",
        tabIndex="0",
        role="region",
        **named(of.title),
    )


def findings(shown: Sequence[Shown], bench: Bench, before: Recording | None) -> list[Component]:
    """Section of the findings: the change, the sentences of reports, warnings, tables."""
    children: list[Component] = []
    now = shown[bench.at]
    if before is not None and bench.before is not None:
        after = shown[bench.before[0]].recording
        change = answer.difference(before, after)
        children.append(html.P(f"{change[0].upper()}{change[1:]}." if change else "No difference.", className="change"))
    children.append(html.H2("Findings" if len(shown) == 1 else f"Findings: {now.name}"))
    children += [html.P(sentence, className="finding") for sentence in now.view.sentences]
    children += [html.P(f"Warning: {doubt}", className="doubt") for doubt in now.view.doubts]
    children += [html.P(f"Note: {note}.", className="dim") for note in now.view.notes]
    sides = [Side(drive.name, (drive.recording,)) for drive in shown]
    if before is not None:
        sides = [Side("before", (before,)), *sides]
    if len(sides) > 1:
        children.append(table(answer.table(sides)))
    children += [table(of) for of in now.view.tables]
    return children


def offer(bench: Bench) -> list[Component]:
    """A suite that takes too long to be run at once."""
    return [
        html.Span(f"{Path(bench.suite).name} takes longer than {LIVE_S:.0f} s on this drive."),
        html.Button("Run it", id={"type": "start", "of": "job"}, type="button"),
    ]


def progress(job: Job) -> list[Component]:
    """A run that takes its time."""
    done = "" if job.part is None else f"{100 * job.part:.0f} %"
    return under_way("job", "Progress of the run", f"{job.status} {done}", "Stop", job.part)


def under_way(kind: str, name: str, state: str, stop: str, part: float | None = None) -> list[Component]:
    """Progress bar of a task of this kind, with a button that stops it."""
    bar = html.Progress(**named(name)) if part is None else html.Progress(value=f"{part:.3f}", max="1", **named(name))
    return [
        bar,
        html.Span(state),
        html.Button(stop, id={"type": f"{kind}-stop", "of": kind}, type="button"),
        dcc.Interval(id={"type": f"{kind}-tick", "of": kind}, interval=300),
    ]


def looked_at(app: Dash, kind: str, *outputs: Output) -> Callable[[Callable[..., Any]], Any]:
    """Register a callback that polls a task while it is under way, with ticks, clicks on its stop button, the workspace
    and the tab."""
    return app.callback(
        *outputs,
        Input({"type": f"{kind}-tick", "of": ALL}, "n_intervals"),
        Input({"type": f"{kind}-stop", "of": ALL}, "n_clicks"),
        State("bench", "data"),
        State("tab", "data"),
        prevent_initial_call=True,
    )


def remark(text: str) -> Component:
    """Paragraph in a muted colour."""
    return html.P(text, className="dim")


def trouble(error: PslcError) -> Children:
    """An error as it is said: what, and what to do."""
    return [html.P(error.message, className="doubt"), html.P(f"hint: {error.hint}", className="dim")]
