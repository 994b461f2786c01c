"""A recording on a terminal: plot, phases, findings, in at most 40 lines of 100 columns."""

import math
import sys
from typing import Any

import numpy as np
import plotext
from numpy.typing import NDArray
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from pslc.analysis import Curve
from pslc.comparison import Row
from pslc.findings import write_curve
from pslc.formats import Foreign
from pslc.recording import Recording
from pslc.report import words

Floats = NDArray[np.float64]

WIDEST = 100
PLOT_LINES = 16
MOST = 200
"""Points of a plot: a few for each column."""
COLOURS = {
    "pslc": "green", "direct": "yellow", "fold": "red", "native": "cyan", "gc": "red", "link": "blue",
    "host": "blue", "thermal": "magenta", "unknown": "white",
}  # fmt: skip


def console() -> Console:
    """stdout for people: at most a page wide, and a page wide where it is no terminal."""
    found = Console(highlight=False)
    found.width = min(found.width, WIDEST) if sys.stdout.isatty() else WIDEST
    return found


def show(recording: Recording) -> None:
    """Print a recording."""
    took = f"{_moved(recording)} in {words.span(recording.drive_time_s)}"
    if recording.is_simulated:
        took += f" of drive time, simulated in {words.span(recording.wall_s)}"
    title = f"{recording.suite} on {recording.drive}"
    _print(
        title, took, recording.findings, write_curve(recording), _by_time(recording), recording.jobs, recording.notes
    )


def show_foreign(foreign: Foreign, findings: dict[str, Any]) -> None:
    """Print what another program recorded."""
    curve = foreign.curve
    took = f"{words.size(curve.total_bytes)} in {words.span(float(curve.seconds.sum()))}" if curve else "no series"
    notes = [f"{foreign.bad_lines} lines could not be read and were left out"] if foreign.bad_lines else []
    _print(foreign.name, took, findings, curve, None, foreign.jobs, notes)


def show_comparison(names: list[str], recordings: list[Recording], rows: list[Row]) -> None:
    """Print figures beside each other; those that differ from the first by more than the noise stand out."""
    out = console()
    for name, recording in zip(names, recordings, strict=True):
        out.print(f"[bold]{name}[/]: {recording.suite} on {recording.drive}, {recording.target}", highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("figure", no_wrap=True)
    for name in names:
        table.add_column(name, justify="right", overflow="fold")
    for row in rows:
        cells = []
        for figure, ratio, differs in zip(row.figures, row.ratios, row.differs, strict=True):
            if figure is None:
                cells.append(Text("none", style="yellow"))
                continue
            text = words.quantity(figure.value, row.unit)
            if ratio is not None and cells:
                text += f"  x{ratio:.3f}"
            cells.append(Text(text, style="bold yellow" if differs else ""))
        mark = Text("  out of tolerance", style="bold red") if row.out_of_tolerance else Text("")
        table.add_row(Text(row.name) + mark, *cells)
    out.print(table)


def _print(
    title: str,
    took: str,
    findings: dict[str, Any],
    curve: Curve | None,
    by_time: tuple[Floats, Floats] | None,
    jobs: list[dict[str, Any]],
    notes: list[str],
) -> None:
    out = console()
    parts: list[RenderableType] = [Text(title, style="bold"), Text(took, style="dim")]
    if findings["phases"] and curve is not None:
        parts += [_plot(*_by_bytes(curve), "MB/s against GB written", out.width), _phases(findings["phases"])]
    elif by_time is not None:
        parts.append(_plot(*by_time, "MB/s against seconds", out.width))
    if jobs and (len(jobs) > 1 or not findings["phases"]):
        parts.append(_jobs(jobs))
    parts += [Text(sentence) for sentence in words.sentences(findings)]
    parts += [Text(f"doubt: {doubt}", style="yellow") for doubt in findings["doubts"]]
    parts += [Text(f"note: {note}", style="dim") for note in notes]
    out.print(Group(*parts))


def _moved(recording: Recording) -> str:
    moved = [
        f"{words.size(count)} {verb}"
        for count, verb in ((recording.written_bytes, "written"), (recording.read_bytes, "read"))
        if count
    ]
    return " and ".join(moved) or "nothing moved"


def _by_bytes(curve: Curve) -> tuple[Floats, Floats]:
    """GB written and MB/s at equal steps."""
    seconds = np.concatenate([[0.0], np.cumsum(curve.seconds)])
    at = _edges(len(seconds))
    return curve.edges_bytes[at][1:] / 1e9, np.diff(curve.edges_bytes[at]) / np.diff(seconds[at]) / 1e6


def _by_time(recording: Recording) -> tuple[Floats, Floats]:
    """Seconds and MB/s, all kinds of requests together."""
    series = recording.time
    moved = np.cumsum(series["read_bytes"] + series["write_bytes"] + series["trim_bytes"])
    seconds = (series["end_ns"].astype(np.float64) - recording.start_ns) / 1e9
    moved, seconds = (np.concatenate([[0.0], column]) for column in (moved, seconds))
    at = _edges(len(seconds))
    return seconds[at][1:], np.diff(moved[at]) / np.maximum(np.diff(seconds[at]), 1e-9) / 1e6


def _edges(count: int) -> NDArray[np.intp]:
    """At most `MOST` of `count` borders, evenly, the first and the last among them."""
    return np.linspace(0, count - 1, min(count, MOST)).astype(np.intp)


def _plot(x: Floats, speeds: Floats, title: str, width: int) -> Text:
    plotext.clear_figure()
    plotext.limit_size(False, False)
    plotext.plotsize(width, PLOT_LINES)
    plotext.theme("clear")
    plotext.plot(x.tolist(), speeds.tolist(), marker="braille")
    top = 1.05 * max(float(speeds.max()), 1e-3)
    plotext.ylim(0, top)
    ticks = _ticks(top)
    plotext.yticks(ticks, [f"{tick:g}" for tick in ticks])
    plotext.xlim(0, float(x[-1]))
    plotext.title(title)
    return Text.from_ansi(plotext.uncolorize(plotext.build()), no_wrap=True)


def _ticks(top: float) -> list[float]:
    """Round numbers from 0 to `top`, about five."""
    scale = 10.0 ** math.floor(math.log10(top))
    step = next(step * scale for step in (0.1, 0.2, 0.5, 1.0, 2.0) if top / (step * scale) <= 6)
    return [step * i for i in range(int(top / step) + 1)]


def _phases(phases: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("phase", "from", "to", "speed"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("cause", no_wrap=True)
    table.add_column("why", overflow="fold", style="dim")
    for number, phase in enumerate(phases, 1):
        table.add_row(
            str(number),
            words.size(phase["from_bytes"]),
            words.size(phase["to_bytes"]),
            words.speed(phase["bytes_per_s"]),
            Text(phase["cause"], style=COLOURS[phase["cause"]]),
            phase["because"].partition(": ")[0],
        )
    return table


def _jobs(jobs: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("job", "kind", "moved", "speed", "IOPS", "mean", "median", "99 %", "99.9 %"):
        table.add_column(name, justify="left" if name in ("job", "kind") else "right", no_wrap=True)
    for job in jobs:
        for kind in ("read", "write", "trim"):
            done = job[kind]
            if done["total_ios"]:
                seconds = max(done["runtime_ns"], 1) / 1e9
                latency, at = done["lat_ns"], done["lat_ns"]["percentile"]
                table.add_row(
                    job["name"],
                    kind,
                    words.size(done["io_bytes"]),
                    words.speed(done["io_bytes"] / seconds),
                    f"{done['total_ios'] / seconds:.0f}",
                    words.span(latency["mean"] / 1e9),
                    *(words.span(at[p] / 1e9) for p in ("50.000000", "99.000000", "99.900000")),
                )
    return table
