"""Pictures of a comparison of catalogues: those of each suite over each other, and all suites in one."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final

import numpy as np

from pslc.figures.picture import Line, Picture
from pslc.figures.view import View
from pslc.recording.comparison import Compared, Side
from pslc.recording.metrics import Origin

KEY_PICTURES: Final = 2
"""Number of pictures for each suite on the page of a catalogue."""
SPEEDS: Final = ("B/s", "/s")
"""Units of figures of which more is faster."""


def key_pictures(view: View) -> list[Picture]:
    """The pictures that answer the question of a suite: those before the ones that any run has, or the first."""
    some = [picture for picture in view.pictures if picture.lines]
    own = takewhile(lambda picture: picture.name != "speed-time", some)
    return list(own)[:KEY_PICTURES] or some[:1]


def of_suite(suite: str, sides: Sequence[Side], views: Sequence[View]) -> list[Picture]:
    """The first picture that answers a suite's question and that all sides have, with the lines of all.

    Args:
        sides: how they are called.
        views: theirs of this suite.
    """
    each = [key_pictures(view) for view in views]
    for picture in each[0]:
        same = [next((other for other in own if other.name == picture.name), None) for own in each]
        overlaid = [other for other in same if other is not None]
        if len(overlaid) == len(sides):
            return [_over([side.name for side in sides], overlaid, f"{suite}-{picture.name}")]
    return []


def _over(names: Sequence[str], pictures: Sequence[Picture], called: str) -> Picture:
    first = pictures[0]
    rows = tuple(dict.fromkeys(row for picture in pictures for row in picture.rows))
    alone = all(len(picture.lines) == 1 for picture in pictures)
    lines = []
    # The same line of every side, then the next: a legend of ten has something of each.
    for number in range(max(len(picture.lines) for picture in pictures)):
        for name, picture in zip(names, pictures, strict=True):
            if number < len(picture.lines):
                line = picture.lines[number]
                if rows:
                    line = replace(line, x=[rows.index(picture.rows[int(place)]) for place in line.points[0]])
                lines.append(replace(line, name=name if alone else f"{name}, {line.name}"))
    return replace(first, name=called, lines=lines, bands=(), rows=rows)


def by_suite(sides: Sequence[Side], rows: Sequence[Compared]) -> Picture:
    """Picture of each side's speed relative to the first: for each suite the geometric mean over its speeds."""
    rows_by_suite: dict[str, list[Compared]] = {}
    for row in rows:
        if row.unit in SPEEDS and row.origin is not Origin.JOB:
            rows_by_suite.setdefault(row.suite, []).append(row)
    lines = []
    for index in range(1, len(sides)):
        means = [(place, _mean_ratio(some, index)) for place, some in enumerate(rows_by_suite.values())]
        measured = [(place, mean) for place, mean in means if mean is not None]
        lines.append(Line(sides[index].name, [place for place, _ in measured], [mean for _, mean in measured], "dots"))
    title = f"Times as fast as {sides[0].name}: mean over the speeds of each suite"
    lines = [line for line in lines if len(line.points[0])]
    return Picture("overall", title, "suite", "times", lines, log_y=True, rows=list(rows_by_suite))


def _mean_ratio(rows: Sequence[Compared], index: int) -> float | None:
    some = [math.log(ratio) for row in rows if (ratio := row.ratios[index])]
    return math.exp(float(np.mean(some))) if some else None
