"""Pictures of a comparison of catalogues: those of each suite over each other, and all suites in one."""

import math
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

import numpy as np

from pslc.figures.picture import Axis, Bars, Own, Panel, Picture
from pslc.figures.view import View
from pslc.recording.comparison import Compared, Side
from pslc.recording.metrics import Origin

KEY_PICTURES: Final = 2
"""Number of pictures for each suite on the page of a catalogue."""
SPEEDS: Final = ("B/s", "/s")
"""Units of figures of which more is faster."""


def key_pictures(view: View) -> list[Picture]:
    """The pictures that answer the question of a suite: those before the ones that any run has, or the first."""
    some = [picture for picture in view.pictures if picture.has_data]
    own = takewhile(lambda picture: picture.name != "speed-time", some)
    return list(own)[:KEY_PICTURES] or some[:1]


def by_suite(sides: Sequence[Side], rows: Sequence[Compared]) -> Picture:
    """Picture of each side's speed relative to the first: for each suite the geometric mean over its speeds."""
    rows_by_suite: dict[str, list[Compared]] = {}
    for row in rows:
        if row.unit in SPEEDS and row.origin is not Origin.JOB:
            rows_by_suite.setdefault(row.suite, []).append(row)
    bars = [
        Bars(Own(side.name), [_mean_ratio(some, index) for some in rows_by_suite.values()])
        for index, side in enumerate(sides)
    ]
    x = Axis("suite", names=[Own(suite) for suite in rows_by_suite])
    panel = Panel(Axis("speed compared with the first", "share"), bars=bars)
    return Picture("overall", "Mean speed of each suite, compared with the first", x, (panel,))


def _mean_ratio(rows: Sequence[Compared], index: int) -> float | None:
    some = [math.log(ratio) for row in rows if (ratio := row.ratios[index])]
    return math.exp(float(np.mean(some))) if some else None
