"""A picture with its words, units and ticks resolved in one language: plain JSON, which each renderer draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from typing_extensions import TypedDict

from pslc.base.words import three
from pslc.figures import scale
from pslc.figures.picture import Bars, Floats, Label, Line, Mark, Panel, Picture, Text
from pslc.figures.reduce import BAND, thinned
from pslc.figures.scale import AxisJson
from pslc.figures.style import Language
from pslc.figures.vocabulary import number, quantity, say

MAX_NAMED: Final = 10
"""Lines of a panel that its legend and its description name."""
HEADROOM, LABELS_HEADROOM, BARS_HEADROOM = 1.06, 1.25, 1.12
"""Length of an axis over its highest value: alone, under labels, and before the values at the ends of bars."""
Values = list[float | None]
"""Numbers of five digits, in the unit of their axis; null in a gap."""


@dataclass(frozen=True)
class About:
    """Caption of a picture outside its page: the drive or what is compared, and the conditions, a line or two."""

    drive: str
    conditions: str


class MarkJson(TypedDict):
    """A labeled point; a vertical line where `y` is null; a stretch of the x axis where `end` is not, which is shaded
    where `y` is null. `texts` are the lines of its label."""

    x: float
    y: float | None
    end: float | None
    texts: list[str]


class LineJson(TypedDict):
    """A line; `low` and `high` are empty where it has no band."""

    name: str
    style: str
    hue: int
    dash: int
    x: Values
    y: Values
    low: Values
    high: Values
    marks: list[MarkJson]


class BarsJson(TypedDict):
    """Bars at the places of the x axis, with the text at the end of each."""

    name: str
    hue: int
    values: Values
    low: Values
    high: Values
    texts: list[str]


class PanelJson(TypedDict):
    """Lines or bars over one y axis. `rows`: places of the x axis at which it has a bar."""

    title: str
    y: AxisJson
    lines: list[LineJson]
    bars: list[BarsJson]
    rows: list[int]
    marks: list[MarkJson]


class StripJson(TypedDict):
    """Shares from 0 to 1 between `edges` of the x axis."""

    name: str
    edges: Values
    shares: Values


class FigureJson(TypedDict):
    """A picture. `label`: for people who cannot see it; `more`: lines that its legend leaves out."""

    id: str
    title: str
    label: str
    language: str
    note: str
    more: str
    x: AxisJson
    panels: list[PanelJson]
    strip: StripJson | None
    drive: str
    conditions: str


def document(picture: Picture, about: About | None = None, language: Language = Language.EN) -> FigureJson:
    """A picture with its words in a language."""
    panels = [panel for panel in picture.panels if panel.has_data]
    x = scale.of(picture.x, [line.points[0] for panel in panels for line in panel.lines], language, 1.0)
    left = max((len(panel.lines) - MAX_NAMED for panel in panels), default=0)
    strip = picture.strip
    return {
        "id": picture.name,
        "title": say(picture.title, language),
        "label": described(picture, language),
        "language": language,
        "note": say(picture.note or (BAND if any(line.low is not None for line in picture.lines) else ""), language),
        "more": say(Label("{} more", left, ""), language) if left > 0 else "",
        "x": x,
        "panels": [_panel(panel, x, _y_axis(panel, panels, language), language) for panel in panels],
        "strip": None if strip is None else {
            "name": say(strip.name, language), "edges": _short(strip.edges / x["by"]), "shares": _short(strip.shares),
        },
        "drive": about.drive if about else "",
        "conditions": about.conditions if about else "",
    }  # fmt: skip


def _y_axis(panel: Panel, panels: Sequence[Panel], language: Language) -> AxisJson:
    """The y axis of a panel; panels of bars over the same one can be compared."""
    if panel.bars:
        values = [_finite((*bars.values, *bars.high)) for other in panels if other.y == panel.y for bars in other.bars]
        return scale.of(panel.y, values, language, BARS_HEADROOM)
    is_labeled = panel.marks or any(line.marks for line in panel.lines)
    values = [line.top for line in panel.lines]
    return scale.of(panel.y, values, language, LABELS_HEADROOM if is_labeled else HEADROOM)


def _finite(values: Sequence[float | None]) -> Floats:
    return np.array([value for value in values if value is not None], dtype=np.float64)


def _panel(panel: Panel, x: AxisJson, y: AxisJson, language: Language) -> PanelJson:
    def marks(some: Sequence[Mark]) -> list[MarkJson]:
        return [
            {
                "x": mark.x / x["by"],
                "y": None if mark.y is None else mark.y / y["by"],
                "end": None if mark.end is None else mark.end / x["by"],
                "texts": [text for part in _parts(mark) if (text := say(part, language))],
            }
            for mark in some
        ]

    def line_json(line: Line, number: int) -> LineJson:
        (hue, dash), line = line.looks(number), thinned(line)
        low, high = ([] if band is None else _short(band / y["by"]) for band in (line.low, line.high))
        across, up = line.points
        return {
            "name": say(line.name, language), "style": line.style, "hue": hue, "dash": dash,
            "x": _short(across / x["by"]), "y": _short(up / y["by"]), "low": low, "high": high,
            "marks": marks(line.marks),
        }  # fmt: skip

    def written(value: float) -> str:
        """A value behind its bar; ratios have as many digits as those beside them, with which they add up."""
        return number(three(value), language) if are_ratios else quantity(value, panel.y.unit, language)

    every = [value or 0.0 for bars in panel.bars for value in bars.values]
    are_ratios = not panel.y.unit and not all(float(value).is_integer() for value in every)

    def bars_json(bars: Bars, number: int) -> BarsJson:
        values, low, high = (
            [None if value is None else _five_digits(value / y["by"]) for value in some]
            for some in (bars.values, bars.low, bars.high)
        )
        texts = ["-" if value is None else written(value) for value in bars.values]
        return {"name": say(bars.name, language), "hue": number if bars.hue is None else bars.hue, "values": values,
                "low": low, "high": high, "texts": texts}  # fmt: skip

    return {
        "title": say(panel.title, language),
        "y": y,
        "lines": [line_json(line, number) for number, line in enumerate(panel.lines)],
        "bars": [bars_json(bars, number) for number, bars in enumerate(panel.bars)],
        "rows": [at for at, row in enumerate(zip(*(bars.values for bars in panel.bars), strict=True))
                 if any(value is not None for value in row)],
        "marks": marks(panel.marks),
    }  # fmt: skip


def _parts(mark: Mark) -> tuple[Text, ...]:
    """Lines of a label: the word and the quantity of a stretch stand under each other."""
    label = mark.label
    if isinstance(label, Label) and mark.end is not None and mark.y is not None:
        return (label.word, Label("", label.value, label.unit))
    return (label,)


def _short(values: Floats) -> Values:
    """Five digits: what a screen shows, in a third of the bytes; None in a gap."""
    return [_five_digits(value) if np.isfinite(value) else None for value in values.tolist()]


def _five_digits(value: float) -> float:
    short = float(f"{value:.5g}")
    return int(short) if short.is_integer() else short


def described(picture: Picture, language: Language = Language.EN) -> str:
    """A picture for people who cannot see it: its axes, its marks, and the extremes of its lines or its bars."""
    facts = []
    for panel in picture.panels:
        unit = panel.y.unit
        for line in panel.lines[:MAX_NAMED]:
            y = line.points[1][np.isfinite(line.points[1])]
            marks = [say(mark.label, language) for mark in (*panel.marks, *line.marks)]
            if y.size:
                ends = " - ".join(quantity(end, unit, language) for end in (float(y.min()), float(y.max())))
                facts.append(", ".join([f"{say(line.name, language)}: {ends}", *marks]))
        for bars in panel.bars:
            values = ["-" if value is None else quantity(value, unit, language) for value in bars.values]
            named = [f"{say(name, language)} {value}" for name, value in zip(picture.x.names, values, strict=True)]
            facts.append(f"{say(bars.name, language)}: {', '.join(named)}")
    axes = " / ".join(dict.fromkeys(say(axis.word, language) for axis in (picture.x, *(p.y for p in picture.panels))))
    return f"{say(picture.title, language)}. {axes}. {'; '.join(facts)}."
