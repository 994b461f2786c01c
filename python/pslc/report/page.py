"""A recording as one HTML page that needs no network: findings in words, pictures, how it was measured, doubts."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from numpy.typing import NDArray

from pslc.comparison import Row
from pslc.recording import Columns, Recording
from pslc.report import words

Floats = NDArray[np.float64]
Figure = dict[str, Any]
"""A figure of Plotly: `id`, `title`, `data`, `layout`."""

SMOOTH = 24
"""Bins over which write amplification is taken: one superblock is many bins."""


def write(recording: Recording, path: Path) -> None:
    """Write the page of a recording to `path`."""
    path.write_text(render(recording), encoding="utf-8")


def render(recording: Recording) -> str:
    """The page of a recording."""
    return (
        _environment()
        .get_template("run.html.jinja")
        .render(
            title=f"{recording.suite} on {recording.drive}",
            recording=recording,
            findings=recording.findings,
            sentences=words.sentences(recording.findings),
            figures=figures(recording),
            provenance=dict(recording.provenance),
            plotly=_plotly(),
        )
    )


def _environment() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(size=words.size, speed=words.speed, span=words.span, quantity=words.quantity)
    return environment


def _plotly() -> str:
    """Plotly's own script; importing the package would take longer than all the rest."""
    spec = find_spec("plotly")
    assert spec is not None, "plotly is a dependency"
    assert spec.origin is not None, "plotly is a package of files"
    return (Path(spec.origin).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


def write_comparison(recordings: list[Recording], names: list[str], rows: list[Row], path: Path) -> None:
    """Write a page of several recordings to `path`: their figures in a table, and every curve in one picture."""
    by_bytes = [
        _line(_written(r.bytes), _speeds(r, r.bytes, "write"), name) for r, name in zip(recordings, names, strict=True)
    ]
    by_time = [
        _line(_minutes(r), _speeds(r, r.time, kind), f"{name} {kind}")
        for r, name in zip(recordings, names, strict=True)
        for kind in ("read", "write")
        if r.time[f"{kind}_bytes"].any()
    ]
    pictures = [
        _figure("speed-bytes", "Speed against GB written", by_bytes, "GB written", "MB/s"),
        _figure("speed-time", "Speed against time", by_time, "minutes", "MB/s"),
    ]
    text = (
        _environment()
        .get_template("comparison.html.jinja")
        .render(names=names, recordings=recordings, rows=rows, figures=pictures, plotly=_plotly(), title="Comparison")
    )
    path.write_text(text, encoding="utf-8")


def figures(recording: Recording) -> list[Figure]:
    """The pictures: those against bytes only where something was written."""
    found = []
    if recording.written_bytes:
        found.append(_speed_by_bytes(recording))
    found.append(_speed_by_time(recording))
    if recording.written_bytes and recording.is_simulated:
        found += [_occupancy(recording), _free(recording), _amplification(recording)]
    found.append(_latency(recording))
    return found


def _figure(name: str, title: str, data: list[dict[str, Any]], x: str, y: str, **layout: Any) -> Figure:
    axes = {
        "xaxis": {"title": {"text": x}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": y}, "rangemode": "tozero"},
    }
    return {"id": name, "title": title, "data": data, "layout": axes | {"showlegend": len(data) > 1} | layout}


def _line(x: Floats, y: Floats, name: str, **more: Any) -> dict[str, Any]:
    return {"type": "scatter", "mode": "lines", "name": name, "x": _short(x), "y": _short(y)} | more


def _short(values: Floats) -> list[float]:
    """Five digits: what a screen shows, in a third of the bytes."""
    return [float(f"{value:.5g}") for value in values]


def _written(series: Columns) -> Floats:
    return np.cumsum(series["write_bytes"], dtype=np.float64) / 1e9


def _speeds(recording: Recording, series: Columns, kind: str) -> Floats:
    """MB/s of each bin."""
    ends = np.concatenate([[recording.start_ns], series["end_ns"]]).astype(np.float64)
    seconds = np.maximum(np.diff(ends), 1.0) / 1e9
    return series[f"{kind}_bytes"] / seconds / 1e6


def _speed_by_bytes(recording: Recording) -> Figure:
    series, findings = recording.bytes, recording.findings
    shapes = []
    for number, phase in enumerate(findings["phases"]):
        if number % 2:
            x0, x1 = phase["from_bytes"] / 1e9, phase["to_bytes"] / 1e9
            shapes.append({"type": "rect", "yref": "paper", "x0": x0, "x1": x1, "y0": 0, "y1": 1, "line": {"width": 0},
                           "fillcolor": "rgba(128,128,128,0.12)", "layer": "below"})  # fmt: skip
    notes = [
        {
            "x": (phase["from_bytes"] + phase["to_bytes"]) / 2e9,
            "y": phase["bytes_per_s"] / 1e6,
            "text": f"{phase['cause']} {phase['bytes_per_s'] / 1e6:.0f}",
            "showarrow": False,
            "yshift": 12,
        }
        for phase in findings["phases"]
        if phase["to_bytes"] - phase["from_bytes"] > 0.05 * recording.written_bytes
    ]
    line = _line(_written(series), _speeds(recording, series, "write"), "write")
    title = "Speed against GB written"
    return _figure("speed-bytes", title, [line], "GB written", "MB/s", shapes=shapes, annotations=notes)


def _minutes(recording: Recording) -> Floats:
    return (recording.time["end_ns"].astype(np.float64) - recording.start_ns) / 60e9


def _speed_by_time(recording: Recording) -> Figure:
    lines = [
        _line(_minutes(recording), _speeds(recording, recording.time, kind), kind)
        for kind in ("read", "write", "trim")
        if recording.time[f"{kind}_bytes"].any()
    ]
    return _figure("speed-time", "Speed against time", lines, "minutes", "MB/s")


def _occupancy(recording: Recording) -> Figure:
    series = recording.bytes
    held = _line(_written(series), series["slc_valid_bytes"] / 1e9, "data in the cache", fill="tozeroy")
    limit = _line(_written(series), series["cache_limit_bytes"] / 1e9, "its limit now", line={"dash": "dot"})
    return _figure("occupancy", "What the SLC cache holds", [held, limit], "GB written", "GB")


def _free(recording: Recording) -> Figure:
    series = recording.bytes
    lines = [
        _line(_written(series), series[f"{name}_superblocks"].astype(np.float64), word)
        for name, word in (("free", "free"), ("slc", "used as pSLC"))
    ]
    return _figure("free", "Superblocks", lines, "GB written", "superblocks")


def _amplification(recording: Recording) -> Figure:
    series = recording.bytes
    programmed = (series["slc_programmed_bytes_total"] + series["native_programmed_bytes_total"]).astype(np.float64)
    host = series["host_write_bytes_total"].astype(np.float64)
    start_programmed, start_host = programmed[0], host[0] - float(series["write_bytes"][0])
    back = np.maximum(np.arange(len(host)) - SMOOTH, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        now = np.nan_to_num((programmed - programmed[back]) / (host - host[back]))
        overall = (programmed - start_programmed) / (host - start_host)
    keep = slice(min(SMOOTH, len(host) - 1), None)
    x = _written(series)[keep]
    lines = [_line(x, now[keep], "now"), _line(x, overall[keep], "since the start", line={"dash": "dot"})]
    title = "Write amplification: bytes programmed for each byte written"
    return _figure("amplification", title, lines, "GB written", "bytes per byte")


def _latency(recording: Recording) -> Figure:
    series = recording.time
    count = series["reads"] + series["writes"] + series["trims"]
    some = count > 0
    mean = series["lat_sum_ns"][some] / count[some] / 1e6
    x = _minutes(recording)[some]
    lines = [_line(x, mean, "mean"), _line(x, series["lat_max_ns"][some] / 1e6, "longest", line={"width": 1})]
    axis = {"title": {"text": "ms"}, "type": "log", "exponentformat": "power"}
    return _figure("latency", "Latency of requests", lines, "minutes", "ms", yaxis=axis)
