"""A recording on a terminal: plot, phases, findings, in at most 40 lines of 100 columns."""

import math
import sys
from typing import Any

import plotext
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from pslc.findings import write_curve
from pslc.recording import Recording
from pslc.report import words

WIDEST = 100
PLOT_LINES = 16
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
    out = console()
    out.print(Group(*_parts(recording, out.width)))


def _parts(recording: Recording, width: int) -> list[RenderableType]:
    findings = recording.findings
    wall = f"simulated in {words.span(recording.wall_s)}"
    parts: list[RenderableType] = [
        Text(f"{recording.suite} on {recording.drive}", style="bold"),
        Text(f"{_moved(recording)} in {words.span(recording.drive_time_s)} of drive time, {wall}", style="dim"),
    ]
    if findings["phases"]:
        parts += [_plot(recording, width), _phases(findings["phases"])]
    else:
        parts.append(_jobs(recording.jobs))
    parts += [Text(sentence) for sentence in words.sentences(findings)]
    parts += [Text(f"doubt: {doubt}", style="yellow") for doubt in findings["doubts"]]
    parts += [Text(f"note: {note}", style="dim") for note in recording.notes]
    return parts


def _moved(recording: Recording) -> str:
    moved = [
        f"{words.size(count)} {verb}"
        for count, verb in ((recording.written_bytes, "written"), (recording.read_bytes, "read"))
        if count
    ]
    return " and ".join(moved) or "nothing moved"


def _plot(recording: Recording, width: int) -> Text:
    """Speed against GB written."""
    curve = write_curve(recording)
    assert curve is not None, "phases come from a curve"
    bins = min(4 * width, len(curve.seconds))
    edges = [curve.edges_bytes[i * len(curve.seconds) // bins] for i in range(bins + 1)]
    seconds = curve.seconds_at(curve.edges_bytes)
    at = [seconds[i * len(curve.seconds) // bins] for i in range(bins + 1)]
    speeds = [(edges[i + 1] - edges[i]) / (at[i + 1] - at[i]) / 1e6 for i in range(bins)]
    middles = [(edges[i] + edges[i + 1]) / 2e9 for i in range(bins)]
    plotext.clear_figure()
    plotext.limit_size(False, False)
    plotext.plotsize(width, PLOT_LINES)
    plotext.theme("clear")
    plotext.plot(middles, speeds, marker="braille")
    plotext.ylim(0, 1.05 * max(speeds))
    ticks = _ticks(1.05 * max(speeds))
    plotext.yticks(ticks, [f"{tick:g}" for tick in ticks])
    plotext.xlim(0, edges[-1] / 1e9)
    plotext.title("MB/s against GB written")
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
