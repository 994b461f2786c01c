"""A recording on a terminal: plot, tables, findings, in at most 40 lines of 100 columns."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text as Drawn

from pslc.base import console as consoles
from pslc.base import words
from pslc.base.rich_console import Console, Text
from pslc.figures import text
from pslc.figures.picture import Picture, Table
from pslc.figures.view import View
from pslc.recording.change_summary import headlines, verdicts
from pslc.recording.comparison import Compared, Side, without_jobs

if TYPE_CHECKING:
    from pslc.twin.fit_report import FitReport

WIDEST = 100
MOST_LINES = 40
COLOURS = {
    "pslc": "green", "direct": "yellow", "fold": "red", "native": "cyan", "gc": "red", "erase": "red",
    "read": "magenta", "map": "magenta", "link": "blue", "controller": "blue",
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
            report.warnings,
        ),
        has_report=True,
    )


def show(view: View, *, has_report: bool = False) -> None:
    """Print it: the first picture, the tables as far as there is room, and all that is said.

    Args:
        has_report: a report was written, which has the rows that do not fit; without one `--json` has them.
    """
    out = console()
    head: list[RenderableType] = [Text(view.title, style="bold"), Text(view.took, style="dim")]
    if view.pictures:
        head += _plot(view.pictures[0], out.width)
    parts: list[RenderableType] = [Text(sentence) for sentence in view.sentences]
    parts += [Text(f"warning: {warning}", style="yellow") for warning in view.of_level("warning")]
    parts += [Text(f"note: {note}", style="dim") for note in view.of_level("note")]
    room = MOST_LINES - len(out.render_lines(Group(*head))) - len(out.render_lines(Group(*parts)))
    shown: list[RenderableType] = []
    for table in view.tables:
        if room < 1:
            break
        shown.append(_fitting(out, table, room, "in the report" if has_report else "with --json"))
        room -= len(out.render_lines(shown[-1]))
    out.print(Group(*head, *shown, *parts))


def show_all(views: list[View]) -> None:
    """Print what several say, without pictures."""
    out = console()
    for view in views:
        out.print(Text(view.title, style="bold"), Text(f"({view.took})", style="dim"))
        parts = [Text(sentence) for sentence in view.sentences]
        parts += [Text(f"warning: {warning}", style="yellow") for warning in view.of_level("warning")]
        out.print(Padding(Group(*parts), (0, 0, 0, 2)))


def _fitting(out: Console, table: Table, room: int, rest: str) -> RenderableType:
    """Rows that there is room for, and where those are that were left out; without any, no head either."""
    for count in range(min(len(table.rows), room), 0, -1):
        left = len(table.rows) - count
        more = [Text(f"({left} more {'row' if left == 1 else 'rows'} {rest})", style="dim")] if left else []
        group = Group(grid(table, count), *more)
        if len(out.render_lines(group)) <= room:
            return group
    return Text(f"({table.title}: {len(table.rows)} rows {rest})", style="dim")


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
    sides: list[Side],
    every: list[Compared],
    pictures: Sequence[Picture] = (),
    suites: Sequence[str] = (),
    *,
    jobs: bool = False,
) -> None:
    """Print the first picture, and figures beside each other. Those that differ from the first by more than the noise
    stand out, and are shown first where there is no room for all.

    Args:
        suites: names, where catalogues are compared: of each the figure that differs most is shown.
        jobs: show those of single jobs too.
    """
    rows = every if jobs else without_jobs(every)
    out = console()
    head: list[RenderableType] = [Text.assemble((side.name, "bold"), f": {side.subject(suites)}") for side in sides]
    for picture in pictures[:1]:
        head += _plot(picture, out.width)
    lines = [Text(sentence) for sentence in verdicts(sides, rows)]
    room = MOST_LINES - len(out.render_lines(Group(*head, *lines))) - 3
    shown = _shown(rows, room, bool(suites))
    parts: list[RenderableType] = []
    if len(shown) < len(rows):
        parts.append(Text(f"({len(rows) - len(shown)} more figures with --json or -o PAGE.html)", style="dim"))
    if not suites and len(rows) < len(every):
        parts.append(Text(f"({len(every) - len(rows)} figures of single jobs with --all)", style="dim"))
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
        return Text("-", style="dim")
    shown = words.quantity(figure.value, row.unit)
    if figure.samples:
        shown += f" +- {words.quantity((figure.high - figure.low) / 2, row.unit)}"
    if ratio is not None and index:
        shown += f"  {words.change(ratio)}"
    return Text(f"{shown} *" if differs else shown, style="bold yellow" if differs else "")


def _plot(picture: Picture, width: int) -> list[Drawn]:
    """The picture; nothing where it has no lines."""
    is_ascii = not text.can_show(sys.stdout.encoding)
    lines = [consoles.line(line) for line in text.drawn(picture, width, ascii_only=is_ascii)]
    return [Drawn("\n".join(lines), no_wrap=True)] if lines else []
