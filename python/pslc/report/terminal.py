"""A recording on a terminal: plot, tables, findings, in at most 40 lines of 100 columns."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import plotext
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text as Drawn

from pslc.base import console as consoles
from pslc.base import words
from pslc.base.rich_console import Console, Text
from pslc.figures import curves
from pslc.figures.picture import Line, Picture, Table
from pslc.figures.view import View
from pslc.recording.change_summary import headlines, verdicts
from pslc.recording.comparison import Compared, Side

if TYPE_CHECKING:
    from pslc.twin.fit_report import FitReport

Floats = NDArray[np.float64]

WIDEST = 100
PLOT_LINES = 16
MOST_LINES = 40
MAX_POINTS = 200
"""Points of a plot: a few for each column."""
MARKERS = ("braille", "+", "x", "o")
COLOURS = {
    "pslc": "green", "direct": "yellow", "fold": "red", "native": "cyan", "gc": "red", "map": "magenta", "link": "blue",
    "host": "blue", "cpu": "blue", "page-cache": "blue", "dram": "blue", "thermal": "magenta", "power": "magenta",
    "other": "magenta", "unknown": "white",
}  # fmt: skip


def console() -> Console:
    """stdout for people: at most a page wide, and a page wide where it is no terminal."""
    terminal = Console()
    terminal.width = min(terminal.width, WIDEST) if sys.stdout.isatty() else WIDEST
    return terminal


def show_fit(report: "FitReport") -> None:
    """Print a twin: measured and simulated curves, its values, and the sentences of its report."""
    show(
        View(
            report.name,
            report.name,
            "fitted",
            f"a twin, fitted in {report.result.statistics.cost}",
            report.sentences,
            report.tables,
            report.pictures,
            [],
            report.notes,
        )
    )


def show(view: View) -> None:
    """Print it: the first picture, the tables as far as there is room, and all that is said."""
    out = console()
    head: list[RenderableType] = [Text(view.title, style="bold"), Text(view.took, style="dim")]
    # What has names in the place of numbers is in the table as well.
    if view.pictures and not view.pictures[0].rows:
        head += _plot(view.pictures[0], out.width)
    parts: list[RenderableType] = [Text(sentence) for sentence in view.sentences]
    parts += [Text(f"warning: {doubt}", style="yellow") for doubt in view.doubts]
    parts += [Text(f"note: {note}", style="dim") for note in view.notes]
    room = MOST_LINES - len(out.render_lines(Group(*head))) - len(out.render_lines(Group(*parts)))
    shown: list[RenderableType] = []
    for table in view.tables:
        if room < 3:
            break
        shown.append(_fitting(out, table, room))
        room -= len(out.render_lines(shown[-1]))
    out.print(Group(*head, *shown, *parts))


def show_all(views: list[View]) -> None:
    """Print what several say, without pictures."""
    out = console()
    for view in views:
        out.print(Text(view.title, style="bold"), Text(f"({view.took})", style="dim"))
        parts = [Text(sentence) for sentence in view.sentences]
        parts += [Text(f"warning: {doubt}", style="yellow") for doubt in view.doubts]
        out.print(Padding(Group(*parts), (0, 0, 0, 2)))


def _fitting(out: Console, table: Table, room: int) -> RenderableType:
    """As many rows as there is room for, and how many were left out."""
    for count in range(min(len(table.rows), room), -1, -1):
        left = len(table.rows) - count
        more = [Text(f"({left} more {'row' if left == 1 else 'rows'} in the report)", style="dim")] if left else []
        group = Group(grid(table, count), *more)
        if len(out.render_lines(group)) <= room or count == 0:
            return group
    raise AssertionError("no row fits")


def grid(table: Table, count: int | None = None) -> Grid:
    """A table as rich draws it, or its first rows."""
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for name in table.columns:
        last = name == table.columns[-1] and name in table.words
        grid.add_column(
            name,
            justify="left" if name in table.words else "right",
            no_wrap=name not in table.words,
            overflow="fold" if name in table.words else "ellipsis",
            style="dim" if last else "",
        )
    for row in table.rows[:count]:
        grid.add_row(*(Text(cell, style=COLOURS.get(cell, "")) for cell in row))
    return grid


def show_table(rows: Sequence[Sequence[str]], columns: Sequence[str]) -> None:
    """Print rows of text under names of columns."""
    table = Grid(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console().print(table)


def show_comparison(
    sides: list[Side], rows: list[Compared], suites: Mapping[str, Sequence[Side]] | None = None
) -> None:
    """Print curves and figures beside each other. Those that differ from the first by more than the noise stand out,
    and are shown first where there is no room for all.

    Args:
        suites: the sides of each suite, where catalogues are compared: of each the figure that differs most is shown.
    """
    suites = suites or {}
    out = console()
    head: list[RenderableType] = [
        Text.assemble((side.name, "bold"), f": {side.subject(list(suites))}") for side in sides
    ]
    drawn = [replace(recording, name=side.name) for recording, side in zip(suites.get("fill", ()), sides, strict=False)]
    picture = next((picture for picture in curves.of_sides(drawn if suites else sides) if picture.lines), None)
    if picture is not None:
        head += _plot(picture, out.width)
    lines = [Text(sentence) for sentence in verdicts(sides, rows)]
    room = MOST_LINES - len(out.render_lines(Group(*head, *lines))) - 2
    shown = _shown(rows, room, bool(suites))
    parts: list[RenderableType] = []
    if suites or len(shown) < len(rows):
        parts.append(Text(f"({len(rows) - len(shown)} more figures with --json or -o PAGE.html)", style="dim"))
    if any(any(row.differs) for row in shown):
        parts.append(Text("* differs from the first by more than the noise", style="dim"))
    out.print(Group(*head, _comparison_table(sides, shown), *parts, *lines))


def _shown(rows: list[Compared], room: int, is_catalogue: bool) -> list[Compared]:
    """Rows for which there is room, in their order: of a catalogue the headline of each suite, else those that differ
    first."""
    if is_catalogue:
        named = headlines(rows)
        return [row for row in rows if row.out_of_tolerance or named.get(row.suite) is row][:room]
    if len(rows) <= room:
        return rows
    weight = sorted(
        range(len(rows)), key=lambda index: (not rows[index].out_of_tolerance, not any(rows[index].differs), index)
    )
    return [rows[index] for index in sorted(weight[: room - 1])]


def _comparison_table(sides: Sequence[Side], rows: Sequence[Compared]) -> Grid:
    table = Grid(box=None, pad_edge=False, header_style="bold")
    table.add_column("figure", no_wrap=True)
    for side in sides:
        table.add_column(side.name, justify="right", overflow="fold")
    for row in rows:
        mark = Text("  out of tolerance", style="bold red") if row.out_of_tolerance else Text("")
        table.add_row(Text(row.called) + mark, *(_cell(row, index) for index in range(len(sides))))
    return table


def _cell(row: Compared, index: int) -> Text:
    figure, ratio, differs = row.figures[index], row.ratios[index], row.differs[index]
    if figure is None:
        return Text("none", style="yellow")
    text = words.quantity(figure.value, row.unit)
    if figure.samples:
        text += f" +- {words.quantity((figure.high - figure.low) / 2, row.unit)}"
    if ratio is not None and index:
        text += f"  {words.times(ratio)}"
    return Text(f"{text} *" if differs else text, style="bold yellow" if differs else "")


def _plot(picture: Picture, width: int) -> list[Drawn]:
    """The picture; nothing where it has no points."""
    picture = picture.in_fitting_units()
    drawn = [(line.name, *_thinned(line, picture)) for line in picture.lines]
    drawn = [(name, x, y) for name, x, y in drawn if len(x)]
    if not drawn:
        return []
    plotext.clear_figure()
    plotext.limit_size(False, False)
    plotext.plotsize(width, PLOT_LINES)
    plotext.theme("clear")
    drawn = drawn[: len(MARKERS)]
    for (name, x, y), marker in zip(drawn, MARKERS, strict=False):
        label = consoles.line(name) if len(picture.lines) > 1 else None
        plotext.plot(x.tolist(), y.tolist(), marker=marker, label=label)
    x, y = (np.concatenate([points[axis] for points in drawn]) for axis in (1, 2))
    low, high, ticks = _axis(x, picture.log_x)
    plotext.xlim(low, high)
    plotext.xticks(list(ticks), list(ticks.values()))
    low, high, ticks = _axis(y, picture.log_y)
    plotext.ylim(low, high + 0.05 * (high - low))
    plotext.yticks(list(ticks), list(ticks.values()))
    plotext.title(consoles.line(f"{picture.y} against {picture.x}"))
    return [Drawn.from_ansi(plotext.uncolorize(plotext.build()), no_wrap=True)]


def _axis(values: Floats, log: bool) -> tuple[float, float, dict[float, str]]:
    """Ends of an axis and its ticks: round numbers from 0, or whole decades where the values are logarithms."""
    if not log:
        top = max(float(values.max()), 1e-9)
        return min(float(values.min()), 0.0), top, {tick: f"{tick:g}" for tick in _ticks(1.05 * top)}
    low, high = math.floor(float(values.min()) + 0.02), math.ceil(float(values.max()) - 0.02)
    high = max(high, low + 1)
    return low, high, {float(n): f"{10.0**n:.15g}" for n in range(low, high + 1)}


def _thinned(line: Line, picture: Picture) -> tuple[Floats, Floats]:
    """Few points; on a logarithmic axis the logarithms of those above 0."""
    x, y = line.thinned(MAX_POINTS)
    some = ((x > 0) | (not picture.log_x)) & ((y > 0) | (not picture.log_y))
    x, y = x[some], y[some]
    return (np.log10(x) if picture.log_x else x), (np.log10(y) if picture.log_y else y)


def _ticks(top: float) -> list[float]:
    """Round numbers from 0 to `top`, about five."""
    scale = 10.0 ** math.floor(math.log10(top))
    step = next(step * scale for step in (0.1, 0.2, 0.5, 1.0, 2.0) if top / (step * scale) <= 6)
    return [step * i for i in range(int(top / step) + 1)]
