"""Units and ticks of an axis, the same for each renderer."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from typing_extensions import TypedDict

from pslc.base import words
from pslc.figures import vocabulary
from pslc.figures.picture import Axis, Floats
from pslc.figures.style import Language

UNITS: Final[dict[str, tuple[tuple[float, float, str], ...]]] = {
    "B": ((1e3, 1.0, "B"), (1e6, 1e3, "kB"), (1e9, 1e6, "MB"), (1e13, 1e9, "GB"), (math.inf, 1e12, "TB")),
    "B/s": ((1e5, 1e3, "kB/s"), (math.inf, 1e6, "MB/s")),
    "s": (
        (1e-6, 1e-9, "ns"), (1e-3, 1e-6, "µs"), (1.0, 1e-3, "ms"), (180.0, 1.0, "s"), (10_800.0, 60.0, "min"),
        (360_000.0, 3600.0, "h"), (math.inf, 86_400.0, "days"),
    ),
    "W": ((1.0, 1e-3, "mW"), (math.inf, 1.0, "W")),
    "share": ((math.inf, 0.01, "%"),),
    "C": ((math.inf, 1.0, "°C"),),
    "/s": ((math.inf, 1.0, "IOPS"),),
}  # fmt: skip
"""Units of an axis by base unit: the value below which one is used, its size in the base unit, its name."""
SIXTIES: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 3600)
"""Steps of ticks in seconds and minutes."""
TIMES: Final = (*(10.0**n for n in range(-9, 2)), 60.0, 600.0, 3600.0, 36_000.0, 360_000.0, 3_600_000.0)
"""Ticks of a logarithmic axis of time, in seconds."""
NEARLY: Final = 0.01
"""Share of the distance of ticks by which an axis is widened to reach one."""
MAX_TICKS: Final = 6
MAX_LOG_TICKS: Final = 9
MAX_SHORT_RATIO: Final = 100.0
"""Ratio of the ends of a logarithmic axis up to which it has ticks at 2 and 5, too."""


class AxisJson(TypedDict):
    """An axis; `low`, `high` and the positions of `ticks` are in `unit`, which is `by` base units large. `log` is the
    base, 0 for a linear one."""

    title: str
    unit: str
    by: float
    low: float
    high: float
    log: int
    ticks: list[tuple[float, str]]


def of(axis: Axis, values: Sequence[Floats], language: Language, headroom: float) -> AxisJson:
    """The axis on which values are drawn.

    Args:
        values: all that it has to hold; what is not finite, or not above 0 on a logarithmic axis, is left out.
        headroom: length of a linear axis over the highest value.
    """
    word = vocabulary.say(axis.word, language)
    if axis.names:
        names = [(float(place), vocabulary.say(text, language)) for place, text in enumerate(axis.names)]
        return {"title": word, "unit": "", "by": 1.0, "low": -0.5, "high": len(names) - 0.5, "log": 0, "ticks": names}
    every = np.concatenate([np.asarray(some, dtype=np.float64) for some in values] or [np.zeros(0)])
    every = every[np.isfinite(every) & ((every > 0) | (axis.log == 0))]
    low, high = (float(every.min()), float(every.max())) if every.size else (0.0, 1.0)
    typical = math.sqrt(low * high) if axis.log else max(abs(low), abs(high))
    by, name = next(((by, name) for below, by, name in UNITS.get(axis.unit, ()) if typical < below), (1.0, ""))
    unit = vocabulary.unit(name, language)
    if axis.log:
        low, high, places = _logarithmic(axis, low, high)
        title = _logarithmic_title(axis, language)
        ticks = [(place / by, tick_text(place, axis.unit, language)) for place in places]
        low, high = low / by, high / by
    else:
        low, high, steps = _linear(min(low, 0.0) * headroom / by, (high / by or 1.0) * headroom, name)
        title = f"{word} ({unit})" if unit and unit != word else word
        ticks = [(step, vocabulary.number(f"{step:,.10g}", language)) for step in steps]
    return {"title": title, "unit": unit, "by": by, "low": low, "high": high, "log": axis.log, "ticks": ticks}


def _linear(low: float, high: float, unit: str) -> tuple[float, float, list[float]]:
    """Ends and ticks of a linear axis; seconds and minutes go by sixties."""
    span = high - low
    if unit in ("s", "min") and span > MAX_TICKS:
        step = float(next((step for step in SIXTIES if span / step <= MAX_TICKS), SIXTIES[-1]))
    else:
        power = 10.0 ** math.floor(math.log10(span / MAX_TICKS))
        step = next(step * power for step in (1, 2, 5, 10) if span / (step * power) <= MAX_TICKS)
    # A tick that the values nearly reach is one: a drive of 2000 GB ends at 1999.9.
    first, last = math.ceil(low / step - NEARLY), math.floor(high / step + NEARLY)
    ticks = [n * step for n in range(first, last + 1)]
    return min(low, ticks[0]), max(high, ticks[-1]), ticks


def _logarithmic_title(axis: Axis, language: Language) -> str:
    """Title of a logarithmic axis, which says so: powers of 2 show it, decades with their units do not."""
    word = vocabulary.say(axis.word, language)
    return f"{word} ({vocabulary.say('log', language)})" if axis.log == 10 else word


def _logarithmic(axis: Axis, lowest: float, highest: float) -> tuple[float, float, list[float]]:
    """Ends and ticks of a logarithmic axis: whole decades, powers of 2, or round times."""
    places = list(TIMES)
    if axis.unit != "s":
        first, last = math.floor(math.log(lowest, axis.log)) - 1, math.ceil(math.log(highest, axis.log)) + 1
        is_short = axis.log == 10 and highest < MAX_SHORT_RATIO * lowest
        places = [
            step * float(axis.log) ** n for n in range(first, last + 1) for step in ((1, 2, 5) if is_short else (1,))
        ]
    # An end that the values nearly reach is one.
    low = max((place for place in places if place <= lowest * 1.05), default=places[0])
    high = min((place for place in places if place >= highest * 0.95), default=places[-1])
    if low >= high:
        low, high = next((pair for pair in pairwise(places) if pair[1] > low), (low, low * axis.log))
    inside = [place for place in places if low <= place <= high]
    return min(low, lowest), max(high, highest), inside[:: -(-len(inside) // MAX_LOG_TICKS)]


def tick_text(value: float, unit: str, language: Language) -> str:
    """A round value in the unit that suits it: `10 µs`, `4 KiB`, `100,000`."""
    if unit in ("", "/s"):
        return vocabulary.number(f"{value:,.10g}", language)
    (digits, name), *_ = words.parts(value, unit)
    return f"{vocabulary.number(f'{float(digits):,g}', language)} {vocabulary.unit(name, language)}"
