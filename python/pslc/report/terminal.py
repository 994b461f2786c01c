"""A recording on a terminal: plot, tables, findings, in at most 40 lines of 100 columns; in narrower ones as much."""

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text as Drawn

from pslc.base import console as consoles
from pslc.base import words
from pslc.base.rich_console import Console, Text
from pslc.figures import text
from pslc.figures.picture import Picture, Table
from pslc.figures.view import View
from pslc.recording.change_summary import headlines, verdicts
from pslc.recording.comparison import Compared, Side, without_jobs
from pslc.report.grids import GAP, MIN_TEXT_LETTERS, Column, columns_of, fitting

if TYPE_CHECKING:
    from pslc.twin.fit_report import FitReport

WIDEST = 100
MOST_LINES = 40
MIN_CELL_LETTERS = 9
"""Letters of a figure beside others, such as `1550 MB/s`."""
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


def _lines(out: Console) -> int:
    """Lines for a recording: a narrow terminal needs more of them for the same text."""
    return MOST_LINES * WIDEST // out.width


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
    room = _lines(out) - len(out.render_lines(Group(*head))) - len(out.render_lines(Group(*parts)))
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
        group = Group(grid(table, out.width, count), *more)
        if len(out.render_lines(group)) <= room:
            return group
    return Text(f"({table.title}: {len(table.rows)} rows {rest})", style="dim")


def grid(table: Table, width: int, count: int | None = None) -> RenderableType:
    """A table, or its first rows, as rich draws it in this width."""
    rows = [[Text(cell, style=COLOURS.get(cell, "")) for cell in row] for row in table.rows[:count]]
    return fitting(columns_of(table.columns, table.words), rows, width)


def show_table(rows: Sequence[Sequence[str]], columns: Sequence[str]) -> None:
    """Print rows of text under names of columns, each in one line where another program reads them."""
    out = console()
    if not sys.stdout.isatty():
        out.width = consoles.MAX_LINE_LETTERS
    out.print(fitting([Column(name, is_text=True) for name in columns], rows, out.width))


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
    names = _column_names(sides, out.width)
    head: list[RenderableType] = [
        Text.assemble("" if name == side.name else f"{name}  ", (side.name, "bold"), f": {side.subject(suites)}")
        for name, side in zip(names, sides, strict=True)
    ]
    for picture in pictures[:1]:
        head += _plot(picture, out.width)
    lines = [Text(sentence) for sentence in verdicts(sides, rows)]
    table = partial(_comparison_table, names, out.width)
    room = _lines(out) - len(out.render_lines(Group(*head, *lines, table([])))) - 2
    shown = _shown(rows, room, bool(suites))
    parts: list[RenderableType] = []
    if len(shown) < len(rows):
        parts.append(Text(f"({len(rows) - len(shown)} more figures with --json or -o PAGE.html)", style="dim"))
    if not suites and len(rows) < len(every):
        parts.append(Text(f"({len(every) - len(rows)} figures of single jobs with --all)", style="dim"))
    if any(any(row.differs) for row in shown):
        parts.append(Text("* differs from the first by more than the noise", style="dim"))
    out.print(Group(*head, table(shown), *parts, *lines))


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


def _column_names(sides: Sequence[Side], width: int) -> list[str]:
    """Names of the sides above their columns, or their numbers where names leave no room for all sides."""
    longest = max(len(word) for side in sides for word in side.name.split())
    if len(sides) * (max(longest, MIN_CELL_LETTERS) + GAP) + MIN_TEXT_LETTERS <= width:
        return [side.name for side in sides]
    return [str(number) for number, _ in enumerate(sides, 1)]


def _comparison_table(names: Sequence[str], width: int, rows: Sequence[Compared]) -> RenderableType:
    cells = [[_called(row), *(_cell(row, index) for index in range(len(names)))] for row in rows]
    return fitting([Column("figure", is_text=True), *map(Column, names)], cells, width)


def _called(row: Compared) -> Text:
    called = Text(row.called)
    return called.append("  out of tolerance", "bold red") if row.out_of_tolerance else called


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
