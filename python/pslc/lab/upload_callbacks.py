"""Callbacks for uploads, fits and the recordings in `runs/`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from dash import ALL, Dash, Input, Output, State, ctx, no_update
from dash.exceptions import PreventUpdate

from pslc.base import failure, units
from pslc.base.errors import PslcError
from pslc.base.output_dirs import runs_folder
from pslc.lab import answer, layout, overlay, recordings, sections
from pslc.lab.fits import Fits
from pslc.lab.runs import Runs
from pslc.lab.uploads import ChartInputs
from pslc.lab.workspace import Bench, Drive

CODE: Final = 404
POLICY: Final = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy of a report: the browser treats it as a page of nobody's, so that a script in a foreign
recording cannot send requests to the lab."""


def add(app: Dash, held: Runs, prefix: str) -> None:
    """Put it on the page."""
    _drop(app, held)
    _over(app, held)
    _chart(app, held)
    _fit(app, held, held.fits)
    _recordings(app)
    _changes(app, held)
    _pages(app, held, prefix)


def _drop(app: Dash, held: Runs) -> None:
    @app.callback(
        Output("bench", "data", allow_duplicate=True),
        Output("cards", "children", allow_duplicate=True),
        Output("dropped", "children"),
        Output("given", "data"),
        Input("drop", "contents"),
        State("drop", "filename"),
        State("bench", "data"),
        State("tab", "data"),
        prevent_initial_call=True,
    )
    def drop(contents: list[str] | None, names: list[str], address: str, tab: str) -> Any:
        if not contents:
            raise PreventUpdate
        bench = Bench.of_address(address)
        try:
            name = held.drops.keep(names, contents)
            upload = held.drops.read(name, tab)
        except PslcError as error:
            return no_update, no_update, layout.trouble(error), []
        if upload.picture:
            return no_update, no_update, sections.chart(upload, name), []
        if upload.view is None:
            bench = bench.with_drive(bench.at, Drive(upload.source))
            return bench.address, layout.cards(bench), sections.on_the_bench(upload), []
        if upload.curve is not None:
            bench = replace(bench, over=f"{overlay.DROP}{name}")
        figures = answer.of_view(upload.view)
        return bench.address, no_update, sections.dropped(upload, upload.view, name, figures), figures


def _over(app: Dash, held: Runs) -> None:
    @app.callback(
        Output("bench", "data", allow_duplicate=True),
        Input("published", "value"),
        Input("as-published", "n_clicks"),
        Input("no-over", "n_clicks"),
        Input({"type": "over", "run": ALL}, "n_clicks"),
        State("bench", "data"),
        prevent_initial_call=True,
    )
    def over(choice: str | None, _: Any, __: Any, ___: Any, address: str) -> Any:
        what = ctx.triggered_id
        if not ctx.triggered[0]["value"]:
            raise PreventUpdate
        bench = Bench.of_address(address)
        chosen = f"{overlay.PUBLISHED}{choice}" if what == "published" else ""
        if what == "as-published":
            # The second time it goes again.
            review = overlay.review(bench.drives[bench.at])
            chosen = "" if bench.over == review else review
        if isinstance(what, dict):
            chosen = f"{overlay.RUN}{what['run']}"
        return replace(bench, over=chosen).address

    @app.callback(
        Output("bench", "data", allow_duplicate=True),
        Output("suites", "children", allow_duplicate=True),
        Input({"type": "replay", "of": ALL}, "n_clicks"),
        State("bench", "data"),
        prevent_initial_call=True,
    )
    def replay(clicks: list[int | None], address: str) -> Any:
        if not any(clicks):
            raise PreventUpdate
        upload = held.drops.read(ctx.triggered_id["of"])
        bench = replace(Bench.of_address(address), suite=str(upload.paths[0]), before=None, knob="")
        return bench.address, layout.suite(bench.suite)


def _chart(app: Dash, held: Runs) -> None:
    @app.callback(
        Output("bench", "data", allow_duplicate=True),
        Output({"type": "chart-read", "of": ALL}, "children"),
        Output("given", "data", allow_duplicate=True),
        Input({"type": "chart", "of": ALL}, "n_clicks"),
        *(State({"type": f"chart-{what}", "of": ALL}, "value") for what in sections.CHART_INPUTS),
        State("bench", "data"),
        State("tab", "data"),
        prevent_initial_call=True,
    )
    def read_chart(clicks: list[int | None], *states: Any) -> Any:
        *inputs, address, tab = states
        if not any(clicks):
            raise PreventUpdate
        name = ctx.triggered_id["of"]
        try:
            stated = ChartInputs(*((values[0] or "").strip() for values in inputs))
            upload = held.drops.read_chart(name, stated, tab)
        except PslcError as error:
            return no_update, [layout.trouble(error)], no_update
        assert upload.view is not None, "a chart that was read has a view"
        figures = answer.of_view(upload.view)
        bench = replace(Bench.of_address(address), over=f"{overlay.DROP}{name}")
        return bench.address, [sections.dropped(upload, upload.view, name, figures)], figures


def _fit(app: Dash, held: Runs, fits: Fits) -> None:
    @app.callback(
        Output("fit", "children"),
        Input({"type": "fit", "of": ALL}, "n_clicks"),
        State({"type": "capacity", "of": ALL}, "value"),
        State("tab", "data"),
        prevent_initial_call=True,
    )
    def start(clicks: list[int | None], capacity: list[str | None], tab: str) -> Any:
        if not any(clicks):
            raise PreventUpdate
        name = ctx.triggered_id["of"]
        try:
            upload = held.drops.read(name)
            stated = (capacity[0] or "").strip() if capacity else ""
            if stated:
                units.size(stated, "the capacity")
        except PslcError as error:
            return layout.trouble(error)
        given = [*map(str, upload.paths), *(upload.chart.arguments if upload.chart else [])]
        return sections.fitting(fits.start(tab, f"{overlay.DROP}{name}", upload.name, given, stated))

    @layout.looked_at(
        app,
        "fit",
        Output("fit", "children", allow_duplicate=True),
        Output("bench", "data", allow_duplicate=True),
        Output("cards", "children", allow_duplicate=True),
    )
    def look(_: Any, stops: list[int | None], address: str, tab: str) -> Any:
        fit = fits.of(tab)
        if fit is None or any(stops):
            fits.stop(tab)
            return [], no_update, no_update
        if fit.code is None:
            return sections.fitting(fit), no_update, no_update
        fits.stop(tab)
        if fit.code != 0:
            return sections.failed(fit), no_update, no_update
        bench = Bench.of_address(address)
        bench = replace(bench.with_drive(bench.at, Drive(f"sim:./{fit.output}")), over=fit.over)
        return sections.fitted(fit), bench.address, layout.cards(bench)


def _recordings(app: Dash) -> None:
    @app.callback(
        Output("recordings", "children"),
        Input("recordings-open", "data"),
        Input("filter", "value"),
        Input("changed", "data"),
        State("order", "data"),
        prevent_initial_call=True,
    )
    def listed(wanted: bool, words: str | None, _: Any, order: list[Any]) -> Any:
        if not wanted:
            raise PreventUpdate
        by, falling = order
        rows, unreadable = recordings.entries(words or "", by, falling)
        return sections.entries(rows, by, falling, unreadable)

    @app.callback(
        Output("order", "data"),
        Output("changed", "data", allow_duplicate=True),
        Input({"type": "sort", "by": ALL}, "n_clicks"),
        State("order", "data"),
        State("changed", "data"),
        prevent_initial_call=True,
    )
    def sort(clicks: list[int | None], order: list[Any], changed: int) -> Any:
        if not any(clicks):
            raise PreventUpdate
        by = ctx.triggered_id["by"]
        return [by, not order[1] if by == order[0] else by in ("began", "cache", "mean")], changed + 1

    @app.callback(
        Output("compare", "href"),
        Output("compare", "hidden"),
        Input({"type": "pick", "run": ALL}, "value"),
        prevent_initial_call=True,
    )
    def pick(picked: list[list[str] | None]) -> Any:
        names = [name for some in picked for name in some or []]
        return sections.compare_href(names), len(names) < 2


def _changes(app: Dash, held: Runs) -> None:
    @app.callback(
        Output("delete", "displayed"),
        Output("delete", "message"),
        Output("doomed", "data"),
        Input({"type": "delete", "run": ALL}, "n_clicks"),
        prevent_initial_call=True,
    )
    def ask(clicks: list[int | None]) -> Any:
        if not any(clicks) or not ctx.triggered[0]["value"]:
            raise PreventUpdate
        name = ctx.triggered_id["run"]
        return True, f"Delete {runs_folder() / name} with its report? This cannot be undone.", name

    @app.callback(
        Output("changed", "data", allow_duplicate=True),
        Input("delete", "submit_n_clicks"),
        State("doomed", "data"),
        State("changed", "data"),
        prevent_initial_call=True,
    )
    def delete(clicks: int | None, name: str | None, changed: int) -> Any:
        if not clicks or not name:
            raise PreventUpdate
        recordings.delete(name)
        return changed + 1

    @app.callback(
        Output("kept", "children"),
        Output("changed", "data", allow_duplicate=True),
        Input("keep", "n_clicks"),
        State("bench", "data"),
        State("changed", "data"),
        prevent_initial_call=True,
    )
    def keep(clicks: int | None, address: str, changed: int) -> Any:
        bench = Bench.of_address(address)
        recording = held.cached(bench.suite, bench.drives[bench.at])
        if not clicks or recording is None:
            raise PreventUpdate
        return f"kept as {runs_folder() / recordings.save(recording)}", changed + 1


def _pages(app: Dash, held: Runs, prefix: str) -> None:
    """Reports and comparisons, as pages of their own."""
    from flask import request

    def answered(make: Any, *of: Any) -> Any:
        try:
            return app.server.response_class(
                held.readers.call("", make, *of), headers={"Content-Security-Policy": POLICY}
            )
        except Exception as error:
            message = failure.in_words(error)
            return app.server.response_class(f"{message}\n", status=CODE, mimetype="text/plain")

    app.server.add_url_rule(f"{prefix}report/<path:name>", "report", lambda name: answered(recordings.report, name))
    app.server.add_url_rule(
        f"{prefix}compare", "compare", lambda: answered(recordings.compared, request.args.getlist("run"))
    )
