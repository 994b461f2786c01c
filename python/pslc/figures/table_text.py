"""Tables as text for other places: Markdown, BBCode of forums, CSV and HTML."""

import csv
import io
from collections.abc import Callable, Sequence
from html import escape
from typing import Final

from pslc.base.errors import closest_match, user_error
from pslc.figures.picture import Table


def to_markdown(table: Table) -> str:
    """A table as GitHub's Markdown: numbers to the right."""
    rules = ["---" if column in table.words or not at else "---:" for at, column in enumerate(table.columns)]
    lines = [_markdown_line(table.columns), f"|{'|'.join(rules)}|", *(_markdown_line(row) for row in table.rows)]
    return "\n".join(lines) + "\n"


def _markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def to_bbcode(table: Table) -> str:
    """A table as BBCode, as most forums take it; square brackets of a cell are round ones."""
    rows = [_bbcode_row(table.columns, "th"), *(_bbcode_row(row, "td") for row in table.rows)]
    return "[table]\n" + "\n".join(rows) + "\n[/table]\n"


def _bbcode_row(cells: Sequence[str], tag: str) -> str:
    texts = [cell.replace("[", "(").replace("]", ")") for cell in cells]
    return "[tr]" + "".join(f"[{tag}]{text}[/{tag}]" for text in texts) + "[/tr]"


def to_csv(table: Table) -> str:
    """A table as CSV. A cell that a spreadsheet would take for a formula begins with an apostrophe."""
    memory = io.StringIO()
    rows = csv.writer(memory, lineterminator="\n")
    rows.writerow([_inert(cell) for cell in table.columns])
    rows.writerows([_inert(cell) for cell in row] for row in table.rows)
    return memory.getvalue()


def _inert(cell: str) -> str:
    """A text that no spreadsheet calculates: names come from files of others. Numbers stay."""
    if cell[:1] not in ("=", "+", "-", "@", "\t", "\r"):
        return cell
    try:
        float(cell.split(" ")[0])
    except ValueError:
        return "'" + cell
    return cell


def to_html(table: Table) -> str:
    """A table as an HTML element with its title as caption, without styles of its own beyond the alignment."""
    styles = [
        "" if column in table.words or not at else ' style="text-align: right"'
        for at, column in enumerate(table.columns)
    ]
    head = _html_row(table.columns, styles, "th")
    rows = [_html_row(row, styles, "td") for row in table.rows]
    caption = f"<caption>{escape(table.title)}</caption>\n" if table.title else ""
    body = "\n".join(rows)
    return f"<table>\n{caption}<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"


def _html_row(cells: Sequence[str], styles: Sequence[str], tag: str) -> str:
    texts = [f"<{tag}{style}>{escape(cell)}</{tag}>" for cell, style in zip(cells, styles, strict=True)]
    return f"<tr>{''.join(texts)}</tr>"


FORMATS: Final[dict[str, Callable[[Table], str]]] = {
    "bbcode": to_bbcode,
    "csv": to_csv,
    "html": to_html,
    "markdown": to_markdown,
}


def render(table: Table, kind: str) -> str:
    """A table as one of `FORMATS`.

    Raises:
        PslcError: there is no such format.
    """
    if kind not in FORMATS:
        close = closest_match(kind, list(FORMATS))
        raise user_error(f'"{kind}" is no format of a table', f"did you mean {close}?" if close else ", ".join(FORMATS))
    return FORMATS[kind](table)
