"""Views without the latencies of the slowest requests, which a twin does not predict."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pslc.figures.picture import Picture, Table

TAILS: Final = ("99 %", "99.9 %", "longest")
"""Last words of the names of columns and lines that hold latencies of the slowest requests."""
TAIL_PICTURES: Final = ("slowest",)
"""Pictures of nothing but the slowest requests."""


def tables_without_tails(tables: Sequence[Table]) -> list[Table]:
    """The tables without their columns of the slowest requests' latencies."""
    kept = []
    for table in tables:
        columns = [index for index, name in enumerate(table.columns) if not name.endswith(TAILS)]
        rows = [[row[index] for index in columns] for row in table.rows]
        kept.append(replace(table, columns=[table.columns[index] for index in columns], rows=rows))
    return kept


def pictures_without_tails(pictures: Sequence[Picture]) -> list[Picture]:
    """The pictures without lines of the slowest requests' latencies."""
    return [_without_tails(picture) for picture in pictures if picture.name not in TAIL_PICTURES]


def _without_tails(picture: Picture) -> Picture:
    panels = [
        replace(panel, lines=[line for line in panel.lines if line.name not in TAILS]) for panel in picture.panels
    ]
    return replace(picture, panels=tuple(panels))
