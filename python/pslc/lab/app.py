"""Dash application of the lab page. The server keeps no state of a tab: each request carries its workspace."""

from __future__ import annotations

import functools
import json
import logging
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from dash import ALL, MATCH, ClientsideFunction, Dash, Input, Output, State, ctx, no_update, set_props
from dash.exceptions import PreventUpdate
from typing_extensions import TypedDict

from pslc import suites
from pslc.base import failure
from pslc.base.errors import PslcError
from pslc.figures.picture import Line
from pslc.lab import answer, drive_state, knobs, layout, overlay, replays, runs, sections, upload_callbacks, uploads
from pslc.lab.answer import Coarse
from pslc.lab.runs import LongError, Runs, SupersededError
from pslc.lab.workspace import Bench, Drive
from pslc.recording.store import Recording
from pslc.report import page as pages
from pslc.report.page import Figure

HEAD: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>pslc lab</title>
<link rel="icon" href="data:,">
<style>{page}</style>
{{%css%}}
</head>
<body>
{{%app_entry%}}
<footer>{{%config%}}<script src="{prefix}shared.js"></script>{{%scripts%}}{{%renderer%}}</footer>
</body>
</html>"""


MAX_REQUEST_BYTES: Final = 4 * uploads.MAX_BYTES // 3 + 2_000_000
"""Size limit of a request, in bytes: uploads as base64, and the workspace."""
POLICY: Final = (
    "default-src 'none'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy: the page may run only its own scripts. Dash and plotly set styles."""


class _Page(Dash):
    """Dash, with a panic of the native part as an error in words; it would end the thread without an answer."""

    def callback(self, *args: Any, **options: Any) -> Any:
        register = super().callback(*args, **options)

        def added(function: Any) -> Any:
            @functools.wraps(function)
            def answered(*given: Any) -> Any:
                try:
                    return function(*given)
                except Exception:
                    raise
                except BaseException as error:
                    raise failure.in_words(error) from None

            return register(answered)

        return added


class Asked(TypedDict):
    """Pictures that the page requests, with lines that are drawn at once; `fine` is False if a knob was refused."""

    address: str
    number: int
    fine: bool
    lines: list[Coarse | None] | None


class Drawn(TypedDict):
    """Pictures that the page shows, and the address of the workspace they are of."""

    address: str
    figures: list[Figure]


def make(held: Runs, prefix: str) -> Dash:
    """The page under a path of the server's, `/TOKEN/`."""
    logging.getLogger("dash").setLevel(logging.ERROR)
    folder = pages.FOLDER
    app = _Page(
        __name__,
        requests_pathname_prefix=prefix,
        routes_pathname_prefix=prefix,
        serve_locally=True,
        update_title="",
        on_error=_fail,
        title="pslc lab",
        index_string=HEAD.format(page=(folder / "page.css").read_text(encoding="utf-8"), prefix=prefix),
    )
    script = f"{pages.plotly()}\n{(folder / 'picture.js').read_text(encoding='utf-8')}"

    def shared() -> Any:
        return app.server.response_class(script, mimetype="text/javascript")

    app.server.add_url_rule(f"{prefix}shared.js", view_func=shared)
    app.layout = lambda: layout.page([sections.brought(), sections.recordings()])
    _bench(app)
    _first_look(app, held)
    _answers(app, held)
    _jobs(app, held)
    upload_callbacks.add(app, held, prefix)
    _in_the_browser(app)
    app.server.config["MAX_CONTENT_LENGTH"] = MAX_REQUEST_BYTES
    app.server.config["POLICY"] = POLICY.format(scripts=" ".join(app.csp_hashes()))
    return app


def _fail(error: Exception) -> Any:
    """Say what went wrong, in the page."""
    message = failure.in_words(error)
    set_props("problem", {"data": {"what": message.message, "hint": message.hint}})
    return no_update


def _bench(app: Dash) -> None:  # noqa: C901 callbacks of one page, each defined in it
    """What is on the bench, and how it is turned."""

    @app.callback(
        Output("bench", "data"),
        Output("suites", "children"),
        Output("cards", "children"),
        Output("trouble", "children"),
        Input("address", "search"),
    )
    def load(search: str) -> Any:
        try:
            bench = Bench.of_address(search or "")
            notice: Any = []
        except PslcError as error:
            bench, notice = Bench(), layout.trouble(error)
        return bench.address, layout.suite(bench.suite), layout.cards(bench), notice

    @app.callback(
        Output("bench", "data", allow_duplicate=True),
        Input({"type": "knob", "drive": ALL, "key": ALL}, "value"),
        State("bench", "data"),
        prevent_initial_call=True,
    )
    def turn(_: Any, address: str) -> Any:
        bench = old = Bench.of_address(address)
        for what in ctx.triggered:
            where = ctx.triggered_prop_ids[what["prop_id"]]
            number = where["drive"]
            if what["value"] is None or number >= len(bench.drives):
                continue
            if what["value"] != bench.drives[number].at(knobs.EVERY[where["key"]]):
                bench = bench.turned(number, where["key"], str(what["value"]))
        return no_update if bench == old else bench.address

    @app.callback(
        Output("bench", "data", allow_duplicate=True),
        Output("cards", "children", allow_duplicate=True),
        Input("choice", "data"),
        Input({"type": "remove", "drive": ALL}, "n_clicks"),
        Input("add", "n_clicks"),
        Input("at", "value"),
        State("bench", "data"),
        prevent_initial_call=True,
    )
    def arrange(choice: dict[str, str] | None, _: Any, __: Any, at: int | None, address: str) -> Any:
        bench = old = Bench.of_address(address)
        what = ctx.triggered_id
        if what == "choice" and choice:
            bench = _chosen(bench, choice)
        elif what == "at" and at is not None and at < len(bench.drives):
            bench = replace(bench, at=at)
        elif what == "add" and layout.can_add(bench):
            # The same again, to be turned beside the other.
            bench = bench.with_drive(len(bench.drives), bench.drives[bench.at])
        elif isinstance(what, dict) and what["type"] == "remove" and ctx.triggered[0]["value"]:
            bench = bench.without(what["drive"])
        if bench == old:
            raise PreventUpdate
        same = [drive.source for drive in bench.drives] == [drive.source for drive in old.drives]
        return bench.address, no_update if same else layout.cards(bench)


def _chosen(bench: Bench, choice: dict[str, str]) -> Bench:
    """The bench with the suite or the drive that was picked from a list."""
    if choice["kind"] == "suite":
        return replace(bench, suite=choice["value"], before=None, knob="")
    return bench.with_drive(int(choice["drive"]), Drive(choice["value"]))


def _first_look(app: Dash, held: Runs) -> None:
    """The check of every knob, and a coarse curve."""

    @app.callback(
        Output("coarse", "data"),
        Output({"type": "refused", "drive": ALL}, "children"),
        Output({"type": "said", "drive": ALL, "key": ALL}, "children"),
        Output({"type": "knob", "drive": ALL, "key": ALL}, "value"),
        Output("at", "options"),
        Output("at", "value"),
        Output("look", "hidden"),
        Output("question", "children"),
        Output("add", "disabled"),
        Output("as-published", "hidden"),
        Input("bench", "data"),
        State({"type": "knob", "drive": ALL, "key": ALL}, "value"),
        State("tab", "data"),
    )
    def check(address: str | None, values: list[str], tab: str) -> Any:
        if not address:
            raise PreventUpdate
        bench = Bench.of_address(address)
        number = held.ask(tab)
        refused, notes, turned = _checked(bench, values)
        fine = not any(refused.values()) and not any(
            text for name, text in notes.items() if text and not isinstance(text, str)
        )
        lines = _coarse_lines(held, bench, tab, number) if fine else None
        outputs = ctx.outputs_list
        options = [{"label": f"{i + 1}: {drive.spec.removeprefix('sim:')}", "value": i}
                   for i, drive in enumerate(bench.drives)]  # fmt: skip
        return (
            Asked(address=address, number=number, fine=fine, lines=lines),
            [refused.get(of["id"]["drive"], []) for of in outputs[1]],
            [notes.get((of["id"]["drive"], of["id"]["key"]), "") for of in outputs[2]],
            [turned.get((of["id"]["drive"], of["id"]["key"]), no_update) for of in outputs[3]],
            options,
            bench.at,
            len(bench.drives) < 2,
            suites.question("trace" if replays.is_trace(bench.suite) else bench.suite),
            not layout.can_add(bench),
            bench.suite != "fill" or not overlay.review(bench.drives[bench.at]),
        )


def _answers(app: Dash, held: Runs) -> None:
    """The exact curve with all that follows from it."""

    @app.callback(
        Output("drawn", "data"),
        Output("inside", "data"),
        Output("moment", "max"),
        Output("main-title", "children"),
        Output("findings", "children"),
        Output("command", "children"),
        Output("profile", "children"),
        Output("job", "children"),
        Output("state", "children", allow_duplicate=True),
        Input("coarse", "data"),
        State("tab", "data"),
        prevent_initial_call=True,
    )
    def exact(asked: Asked | None, tab: str) -> Any:
        if not asked or not asked["fine"]:
            raise PreventUpdate
        bench = Bench.of_address(asked["address"])
        try:
            recordings = [held.live(bench.suite, drive, tab, asked["number"]) for drive in bench.drives]
            before = None
            if bench.before is not None and bench.before[1] != bench.drives[bench.before[0]].spec:
                before = _before(held, bench, tab, asked["number"])
        except SupersededError:
            raise PreventUpdate from None
        except LongError:
            return (no_update,) * 7 + (layout.offer(bench), "coarse" if asked["lines"] else "")
        shown = answer.named(recordings)
        line, note = _over(held, bench, shown[bench.at].recording)
        top = answer.pictures(shown, bench.at, before, [] if line is None else [line])[:1]
        figures = answer.figures(top, answer.about(shown))
        looked = drive_state.of(recordings[bench.at])
        return (
            Drawn(address=bench.address, figures=figures),
            looked,
            len(looked["gb"]) - 1 if looked else 0,
            figures[0]["title"] if figures else "",
            [*note, *layout.findings(shown, bench, before)],
            "\n".join(_command(bench, drive) for drive in bench.drives),
            bench.drives[bench.at].target().profile,
            [],
            no_update,
        )

    @app.callback(
        Output("others", "data"),
        Output("more", "children"),
        Input("drawn", "data"),
        Input("more-open", "data"),
    )
    def more(drawn: Drawn | None, wanted: bool) -> Any:
        """The other pictures, where somebody looks at them."""
        if not drawn or not wanted:
            raise PreventUpdate
        bench = Bench.of_address(drawn["address"])
        recordings = [held.cached(bench.suite, drive) for drive in bench.drives]
        shown = answer.named([recording for recording in recordings if recording is not None])
        if len(shown) < len(bench.drives):
            raise PreventUpdate
        figures = answer.figures(answer.pictures(shown, bench.at, None, []), answer.about(shown))[1:]
        return figures, layout.shells(figures)

    @app.callback(
        Output("saved", "data"), Input("save-findings", "n_clicks"), State("bench", "data"), prevent_initial_call=True
    )
    def save(_: Any, address: str) -> Any:
        bench = Bench.of_address(address)
        recording = held.cached(bench.suite, bench.drives[bench.at])
        if recording is None:
            raise PreventUpdate
        return {
            "content": json.dumps(recording.document()["findings"], indent=1),
            "filename": f"{Path(bench.suite).stem}-findings.json",
        }


def _coarse_lines(held: Runs, bench: Bench, tab: str, number: int) -> list[answer.Coarse | None] | None:
    """Lines of smaller drives in place of those that are not computed yet; None if none is missing."""
    cached = [held.cached(bench.suite, drive) for drive in bench.drives]
    if all(recording is not None for recording in cached):
        return None
    small = [
        held.coarse(bench.suite, drive, tab, number) if recording is None else None
        for drive, recording in zip(bench.drives, cached, strict=True)
    ]
    return answer.coarse(small, [drive.spec for drive in bench.drives])


def _over(held: Runs, bench: Bench, recording: Recording) -> tuple[Line | None, layout.Children]:
    """What is laid over the curve, or why it cannot be."""
    note = overlay.note(bench.over)
    try:
        line = overlay.line(bench.over, held.drops, recording.capacity_bytes)
        return line, [layout.remark(note)] if note else []
    except PslcError as error:
        return None, layout.trouble(error)


def _before(held: Runs, bench: Bench, tab: str, number: int) -> Recording | None:
    """The recording of the drive before a knob was turned; None where it cannot be had at once."""
    assert bench.before is not None
    try:
        return held.live(bench.suite, Drive.of(bench.before[1]), tab, number)
    except (PslcError, LongError):
        return None


def _checked(
    bench: Bench, values: list[str]
) -> tuple[dict[int, layout.Children], dict[tuple[int, str], layout.Children], dict[tuple[int, str], str]]:
    """What is said of each drive and each knob, and where knobs stand that another one has moved."""
    refused: dict[int, layout.Children] = {}
    notes: dict[tuple[int, str], layout.Children] = {}
    moved: dict[tuple[int, str], str] = {}
    shown = {(of["id"]["drive"], of["id"]["key"]): value for of, value in zip(ctx.states_list[0], values, strict=True)}
    for number, drive in enumerate(bench.drives):
        try:
            target = drive.target()
        except PslcError as error:
            knob = _blamed_knob(bench, number)
            if knob is None or drive.is_kept:
                refused[number] = layout.trouble(error)
            else:
                notes[number, knob] = layout.trouble(error)
            continue
        if drive.is_kept:
            continue
        keys = dict(drive.keys)
        for key, at in knobs.positions(drive.base(), keys, target).items():
            notes[number, key] = at.idle and f"No effect: {at.idle}."
            if key != bench.knob and shown.get((number, key), at.text) != at.text:
                moved[number, key] = at.text
    return refused, notes, moved


def _blamed_knob(bench: Bench, number: int) -> str | None:
    """The knob of drive `number` that keeps it from being made: the one turned last, if it is of this drive and set."""
    drive = bench.drives[number]
    last = bench.knob if bench.before and bench.before[0] == number else ""
    return last if last and any(last in key or key in last for key, _ in drive.keys) else drive.blamed()


def _command(bench: Bench, drive: Drive) -> str:
    is_trace = replays.is_trace(bench.suite)
    command = replays.command(bench.suite, drive.target().capacity_bytes) if is_trace else f"run {bench.suite}"
    return f"pslc {command} --on {shlex.quote(drive.spec)}"


def _jobs(app: Dash, held: runs.Runs) -> None:
    """What takes long."""

    @app.callback(
        Output("job", "children", allow_duplicate=True),
        Input({"type": "start", "of": ALL}, "n_clicks"),
        State("bench", "data"),
        State("tab", "data"),
        prevent_initial_call=True,
    )
    def start(clicks: list[int | None], address: str, tab: str) -> Any:
        if not any(clicks):
            raise PreventUpdate
        return layout.progress(held.start(Bench.of_address(address), tab))

    @layout.looked_at(
        app, "job", Output("job", "children", allow_duplicate=True), Output("coarse", "data", allow_duplicate=True)
    )
    def look(_: Any, stops: list[int | None], address: str, tab: str) -> Any:
        job = held.job(tab)
        bench = Bench.of_address(address)
        if job is None or any(stops) or job.address != bench.address:
            held.stop(tab)
            return layout.offer(bench), no_update
        if job.error is not None:
            held.stop(tab)
            return layout.trouble(job.error), no_update
        if not job.done:
            return layout.progress(job), no_update
        held.stop(tab)
        return [], Asked(address=bench.address, number=held.ask(tab), fine=True, lines=None)


def _in_the_browser(app: Any) -> None:
    """What needs no answer of the server's: assets/lab.js."""

    def in_browser(name: str, *of: Any, **how: Any) -> None:
        app.clientside_callback(ClientsideFunction("lab", name), *of, **how)

    knob = {"type": "knob", "drive": MATCH, "key": MATCH}
    slide, stops = ({"type": name, "drive": MATCH, "key": MATCH} for name in ("slide", "stops"))
    in_browser(
        "sync",
        Output(slide, "value"),
        Output(knob, "value", allow_duplicate=True),
        Input(slide, "value"),
        Input(knob, "value"),
        State(stops, "data"),
        prevent_initial_call=True,
    )
    in_browser("remember", Output("tab", "data", allow_duplicate=True), Input("bench", "data"),
               prevent_initial_call=True)  # fmt: skip
    # Each by itself: one that needs both would wait for the exact curve.
    in_browser("rough", Output("state", "children"), Input("coarse", "data"))
    in_browser("draw", Output("state", "children", allow_duplicate=True), Input("drawn", "data"),
               State("inside", "data"), prevent_initial_call=True)  # fmt: skip
    in_browser("others", Output("more-open", "data", allow_duplicate=True), Input("others", "data"),
               prevent_initial_call=True)  # fmt: skip
    in_browser("given", Output("more-open", "data", allow_duplicate=True), Input("given", "data"),
               prevent_initial_call=True)  # fmt: skip
    in_browser("moment", Output("said", "children"), Output("why", "children"), Input("moment", "value"),
               Input("inside", "data"))  # fmt: skip
    in_browser("trouble", Output("trouble", "children", allow_duplicate=True), Input("problem", "data"),
               prevent_initial_call=True)  # fmt: skip
