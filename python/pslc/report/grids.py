"""Tables on a terminal: no figure is cut or parted from its unit. A column that has no room is named below instead."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table as Grid
from rich.text import Text as Drawn

from pslc.base.console import glued
from pslc.base.rich_console import Text

GAP: Final = 2
"""Blanks between two columns."""
MIN_TEXT_LETTERS: Final = 16
"""Letters below which a column of text is left out, and not wrapped any narrower."""
MAX_NAME_LETTERS: Final = 32
"""Letters up to which a column of text holds names, which are left out rather than wrapped."""


@dataclass(frozen=True)
class Column:
    """Column of a table: `is_text` wraps between words, to the left; numbers stand to the right and stay whole."""

    name: str
    is_text: bool = False
    style: str = ""


def columns_of(names: Sequence[str], texts: Sequence[str]) -> list[Column]:
    """Columns with these names, those of `texts` of text; a last one of text is dim."""
    return [Column(name, name in texts, "dim" if name == names[-1] and name in texts else "") for name in names]


def fitting(columns: Sequence[Column], rows: Sequence[Sequence[str | Text]], width: int) -> RenderableType:
    """The table in a terminal of this width. Columns go, the last first, those of text before those of numbers; the
    first stays."""
    cells = [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]
    heads = [Text(column.name) for column in columns]
    letters = _letters(columns, [heads, *cells], width)
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for at, own in letters.items():
        justify: JustifyMethod = "left" if columns[at].is_text else "right"
        grid.add_column(heads[at], width=own, justify=justify, style=columns[at].style, overflow="fold")
    for row in cells:
        grid.add_row(*(row[at] for at in letters))
    hidden = ", ".join(column.name for at, column in enumerate(columns) if at not in letters)
    return Group(grid, Text(f"Not in {width} columns: {hidden}.", style="dim")) if hidden else grid


def _letters(columns: Sequence[Column], rows: Sequence[Sequence[Text]], width: int) -> dict[int, int]:
    """Letters of each column that there is room for, by its place."""
    texts = list(zip(*rows, strict=True))
    wide = [max(text.cell_len for text in own) for own in texts]
    needed = [_needed(*parts) for parts in zip(columns, texts, wide, strict=True)]
    needed[0] = min(width, wide[0], max(MIN_TEXT_LETTERS, *map(_longest_word, texts[0])))
    shown = list(range(len(columns)))
    while (spare := width - sum(needed[at] + GAP for at in shown) + GAP) < 0 and len(shown) > 1:
        shown.remove(next((at for at in shown[:0:-1] if columns[at].is_text), shown[-1]))
    letters = {}
    for at in shown:
        letters[at] = min(wide[at], needed[at] + max(spare, 0))
        spare -= letters[at] - needed[at]
    return letters


def _needed(column: Column, texts: Sequence[Drawn], wide: int) -> int:
    """Letters that a column needs: few, where text may wrap, or else its longest figure."""
    if column.is_text:
        return wide if wide <= MAX_NAME_LETTERS else MIN_TEXT_LETTERS
    head, *cells = texts
    return max(_longest_word(head), *(len(part) for cell in cells for part in cell.plain.split("  ")), 1)


def _longest_word(text: Drawn) -> int:
    return max(map(len, glued(text.plain).split()), default=1)
