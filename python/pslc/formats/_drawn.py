"""Tables that are drawn with bars among other text, as Markdown, psql, MySQL and rich draw them."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from pslc.base.errors import RecordingError

BAR: Final = re.compile(r"[|│┃]")
RULE: Final = re.compile(r"[\s|+:│┃├┡┝]*[-=─━][-=─━|+┼╇┿│┃┤┩┥:\s]*")
"""The line between the names and the rows."""
Line = tuple[int, str]
"""A line with its number, from 1."""


def tables(numbered: Iterable[Line]) -> list[list[Line]]:
    """Tables of a text, each as lines of quoted cells between commas, the names first."""
    drawn: list[list[Line]] = []
    is_open = False
    for (at, above), (number, line) in pairwise([(0, ""), *numbered]):
        cells = _cells(line)
        if RULE.fullmatch(line):
            if not is_open and len(_cells(above)) > 1:
                drawn.append([(at, _quoted(_cells(above)))])
                is_open = True
        elif is_open and len(cells) > 1:
            drawn[-1].append((number, _quoted(cells)))
        else:
            is_open = False
    return [table for table in drawn if len(table) > 1]


def only(path: object, drawn: Sequence[Sequence[Line]]) -> Sequence[Line]:
    """The one table of a text.

    Raises:
        PslcError: there are several.
    """
    if len(drawn) > 1:
        places = " and ".join(f"lines {table[0][0]} to {table[-1][0]}" for table in drawn[:3])
        raise RecordingError(f"{path} has {len(drawn)} tables: {places}", "give one, in a file of its own")
    return drawn[0]


def _cells(line: str) -> list[str]:
    inner = re.sub(r"^\s*[|│┃]|[|│┃]\s*$", "", line)
    return [cell.strip(" \t*`") for cell in BAR.split(inner)] if BAR.search(line) else []


def _quoted(cells: Sequence[str]) -> str:
    return ",".join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in cells)
