"""The same picture of several recordings, made one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from pslc.figures.picture import Bars, Label, Line, Mark, Panel, Picture, Text

MAX_SAID: Final = 3
"""Recordings up to which the mark of a line keeps its words; with more their labels would lie on each other."""
MIN_EARLIER_SHARE: Final = 0.97
"""Share of the longest curve below which the end of a shorter one is marked."""


def overlaid(names: Sequence[Text], pictures: Sequence[Picture]) -> Picture:
    """One picture with the lines or bars of each: a color for each recording, dashes for each of its lines.

    Lines keep their marks; the end of a cache, and of a curve that ends before the others, is marked on its line. Of
    several series of bars (reads, writes) each gets a panel in which the recordings stand beside each other.

    Args:
        names: of the recordings.
        pictures: one a recording, with the same axes.
    """
    first = pictures[0]
    if len(pictures) == 1:
        return first
    places: tuple[Text, ...] = tuple(dict.fromkeys(name for picture in pictures for name in picture.x.names))
    count = max(len(picture.panels) for picture in pictures)
    panels: list[Panel] = []
    for number in range(count):
        each = [
            (index, names[index], picture.panels[number])
            for index, picture in enumerate(pictures)
            if number < len(picture.panels)
        ]
        panels += _bars_panels(each, pictures, places) if each[0][2].bars else [_lines_panel(each, first.x.unit)]
    notes = {picture.note for picture in pictures if picture.note}
    return replace(
        first,
        title=_in_common([picture.title for picture in pictures]) or "Results",
        x=replace(first.x, names=places),
        panels=_with_one_legend(panels),
        strip=None,
        note=notes.pop() if len(notes) == 1 else "",
    )


def _in_common(texts: Sequence[Text]) -> Text:
    """The parts that all of several texts have."""
    each = [text if isinstance(text, tuple) else (text,) for text in texts]
    return tuple(part for part in next(iter(each), ()) if all(part in other for other in each))


def _with_one_legend(panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """Panels whose lines all have dashes or none, for one legend stands for all of them."""
    if not any(line.is_ragged for panel in panels for line in panel.lines):
        return tuple(panels)
    return tuple(replace(panel, lines=[replace(line, dash=0) for line in panel.lines]) for panel in panels)


Each = Sequence[tuple[int, Text, Panel]]
"""Number, name and panel of each recording."""


def _lines_panel(each: Each, unit: str) -> Panel:
    """One panel with the same line of every recording, then the next: a legend of ten has something of each."""
    alone = all(len(panel.lines) == 1 for _, _, panel in each)
    ends = [float(line.points[0][-1]) for _, _, panel in each for line in panel.lines if len(line.points[0])]
    is_write_curve = any(mark.y is not None or mark.end is None for _, _, panel in each for mark in panel.marks)
    lines = []
    for place in range(max(len(panel.lines) for _, _, panel in each)):
        for index, name, panel in each:
            if place < len(panel.lines):
                line = panel.lines[place]
                marks = _marks(line, panel, max(ends) if is_write_curve else 0.0, unit, len(each) <= MAX_SAID)
                called = name if alone else (name, line.name)
                lines.append(replace(line, name=called, hue=index, dash=index if alone else place, marks=marks))
    return Panel(each[0][2].y, lines)


def _marks(line: Line, panel: Panel, longest: float, unit: str, has_words: bool) -> list[Mark]:
    """Marks of a line beside others: its own, those of its panel, and its end where others go on."""
    marks = [*line.marks, *(_on(line, mark, has_words) for mark in panel.marks if mark.y is None and mark.label)]
    if len(line.points[0]) and line.points[0][-1] < MIN_EARLIER_SHARE * longest:
        marks.append(_end_of(line, unit))
    return marks


def _on(line: Line, mark: Mark, has_words: bool) -> Mark:
    """A vertical mark as a point on its line, with its words or with the quantity alone."""
    x, y = line.points
    near = y[(x <= mark.x) & np.isfinite(y)]
    near = near if near.size else y[np.isfinite(y)][:1]
    height = float(np.median(near[-3:])) if near.size else 0.0
    label = mark.label
    if isinstance(label, Label) and not has_words:
        label = replace(label, word="")
    return Mark(mark.x, height, label)


def _end_of(line: Line, unit: str) -> Mark:
    x, y = line.points
    return Mark(float(x[-1]), float(y[np.isfinite(y)][-1]), Label("ends at {}", float(x[-1]), unit))


def _bars_panels(each: Each, pictures: Sequence[Picture], places: Sequence[Text]) -> list[Panel]:
    """A panel for each series of bars, with a bar for each recording."""
    series = list(dict.fromkeys(bars.name for _, _, panel in each for bars in panel.bars))
    panels = []
    for name in series:
        drawn = []
        for index, called, panel in each:
            own = next((bars for bars in panel.bars if bars.name == name), None)
            if own is not None:
                drawn.append(_moved(own, pictures[index].x.names, places, called, index))
        panels.append(Panel(each[0][2].y, bars=drawn, title=name if len(series) > 1 else each[0][2].title))
    return panels


def _moved(bars: Bars, names: Sequence[Text], places: Sequence[Text], called: Text, hue: int) -> Bars:
    """A series at the places of all recordings' names."""

    def at(values: Sequence[float | None]) -> list[float | None]:
        by_name = dict(zip(names, values, strict=True)) if values else {}
        return [by_name.get(place) for place in places] if values else []

    return Bars(called, at(bars.values), at(bars.low), at(bars.high), hue)
