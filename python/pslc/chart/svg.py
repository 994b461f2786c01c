"""Charts kept as SVG, whose lines hold the numbers: axes by their labels and marks, a curve for each line.

<path d="M53.9,444.0 L62.9,120.5" stroke="#1f77b4"/><text x="53.9" y="462" text-anchor="middle">0</text>
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pslc.base import columns, gate
from pslc.base.columns import TIMES, Column
from pslc.base.errors import RecordingError
from pslc.chart import axes, colors, svg_elements
from pslc.chart.lines import Floats
from pslc.chart.svg_elements import Stroke, Text
from pslc.formats import FileContents, table
from pslc.schema.imports import ImportOptions

BEGIN: Final = re.compile(r"\s*(?:<\?xml|<!--|<!DOCTYPE svg|<svg\b)")
LABEL: Final = re.compile(r"(-?(?:\d+\.?\d*|\.\d+))\s?([kKMGT]?)\s?(\D*)")
THOUSANDS: Final = re.compile(r"(?<![\d.])([1-9]\d{0,2})((?:[,\s']\d{3})+)(?!\d)")
POWERS: Final = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
FACTOR: Final = re.compile(r"\W?\s?\+?\d?\.?\d*e[+-]?\d+|.*10\^.*")
"""Text beside an axis whose labels are to be multiplied, or shifted."""
MIN_LABELS: Final = 3
MAX_ASTRAY_RATIO: Final = 0.006
"""Largest distance of a label from a straight axis, as a share of the axis' length."""
MAX_LABELS: Final = 300
SAME_RATIO: Final = 0.002
"""Largest distance of two places that are one, as a share of the axis' length: programs round to pixels."""
MIN_SPAN_RATIO: Final = 0.15
"""Length of the shortest curve, as a share of the x axis."""
MAX_FRAME_POINTS: Final = 5
MAX_ASIDE_RATIO: Final = 0.02
"""Largest share of a line's points that lead back to the left, and of an axis by which a range may differ from it."""
MIN_STEP: Final = 1e-6
"""Smallest step between two points of a line, in units of the file; with less they are one above the other."""
MAX_SAMPLES: Final = 20_000
Label = tuple[Text, float, str]
"""A text, its number, and its unit."""


@dataclass(frozen=True)
class _Axis:
    """A straight axis: value = `first` + `step` x place. `low` and `high` are values of its outer labels, `margin` is
    from one label to the next, `length` in units of the file."""

    step: float
    first: float
    low: float
    high: float
    margin: float
    length: float
    unit: str

    def values(self, places: Floats) -> Floats:
        return self.first + self.step * places


def matches(head: str) -> bool:
    """Whether a file begins as XML, and has a drawing in it."""
    return BEGIN.match(head) is not None and re.search(r"<(?:\w+:)?svg\b", head) is not None


def read_each(path: Path, hints: ImportOptions) -> list[FileContents]:
    """The curves of a chart, or those that were asked for.

    Raises:
        PslcError: the file is damaged; or its axes, their units or its curves are not clear.
    """
    texts, strokes = svg_elements.read(path)
    if factor := next((text.words for text in texts if not text.axis and FACTOR.fullmatch(text.words)), ""):
        raise RecordingError(
            f"{path}: {factor} beside an axis multiplies or shifts its labels", "draw the chart without it"
        )
    labels = [(text, *label) for text in texts if (label := _label(text.words))]
    x, y = (_axis(path, strokes, labels, place) for place in (0, 1))
    along, speed = _column(path, texts, x, 0, hints), _column(path, texts, y, 1, hints)
    curves = _named(list(_curves(path, strokes, x, y)), hints.chart.series, path)
    names = hints.chart.names or [f"{path.name}, {name}" if len(curves) > 1 else path.name for name in curves]
    if len(names) != len(curves):
        raise RecordingError(f"{len(names)} names for {len(curves)} curves", "give --name once for each, in order")
    every = []
    for called, (name, points) in zip(names, curves.items(), strict=True):
        values = np.column_stack([x.values(points[:, 0]), np.maximum(y.values(points[:, 1]), 0.0)])
        cells = [list(map(repr, row)) for row in values.tolist()]
        grid = table.Grid(path, ";", [along, speed], cells, list(range(1, len(cells) + 1)))
        data = table.of_grid(grid, replace(hints, x=None, y=None))
        data.name, data.read_as = called, f"the {name} line of {len(cells):,} points: {data.read_as}"
        every.append(data)
    return every


def _label(words: str) -> tuple[float, str] | None:
    """The number of a label, and its unit; None of other words."""
    plain = THOUSANDS.sub(lambda match: match[1] + re.sub(r"\D", "", match[2]), words.replace("\u2212", "-"))
    match = LABEL.fullmatch(plain.strip())
    if match is None:
        return None
    unit = f"{match[2]}{match[3]}".strip() if match[3] else ""
    return float(match[1]) * (1.0 if unit else POWERS[match[2]]), unit


def _axis(path: Path, strokes: Sequence[Stroke], labels: Sequence[Label], place: int) -> _Axis:
    """The x axis (0) or the y axis (1).

    Raises:
        PslcError: there is none, there are two, or it is not straight.
    """
    name = "xy"[place]
    stated = [label for label in labels if label[0].axis == name]
    rows = [stated] if stated else _rows(labels, place)
    whole = [row for row in rows if len({of[1] for of in row}) >= MIN_LABELS and len(row) <= MAX_LABELS]
    straight = [axis for row in whole if (axis := _straight(row, strokes, place, is_exact=bool(stated)))]
    if len(straight) != 1:
        why = "two" if straight else "no straight" if whole else f"no {MIN_LABELS} numbers along an"
        raise RecordingError(
            f"{path}: {why} {name} ax{'es' if straight else 'is'}",
            "give the picture of one plot, with one axis of each kind, neither logarithmic nor of dates; or as PNG",
        )
    return straight[0]


def _rows(labels: Sequence[Label], place: int) -> list[list[Label]]:
    """Labels beside each other (0), or one above the other (1)."""
    rows: dict[int, list[Label]] = {}
    for label in labels:
        if not label[0].axis and np.isfinite(label[0].at).all():
            rows.setdefault(round(float(label[0].at[1 - place])), []).append(label)
    return list(rows.values())


def _straight(row: Sequence[Label], strokes: Sequence[Stroke], place: int, *, is_exact: bool) -> _Axis | None:
    """The axis through some labels; None where they are on none, or no marks stand beside them."""
    at, values = np.array([text.at[place] for text, _, _ in row]), np.array([value for _, value, _ in row])
    units = {unit for _, value, unit in row if value}
    is_exact |= place == 0 and all(text.is_centered for text, _, _ in row)
    shift = 0.0 if is_exact else _shift(at, strokes, place)
    if shift is None or len(units) > 1 or np.ptp(at) == 0:
        return None
    step, first = np.polyfit(at + shift, values, 1)
    rises = step > 0 if place == 0 else step < 0
    if not rises or np.abs(first + step * (at + shift) - values).max() > MAX_ASTRAY_RATIO * np.ptp(values):
        return None
    margin = np.diff(np.unique(values)).max()
    return _Axis(step, first, values.min(), values.max(), margin, float(np.ptp(at)), "".join(units))


def _shift(at: Floats, strokes: Sequence[Stroke], place: int) -> float | None:
    """The distance of labels from their marks along an axis; None where no marks are as far from them."""
    same = SAME_RATIO * float(np.ptp(at))
    ends = np.array([stroke.points[[0, -1], place] for stroke in strokes if len(stroke.points) <= 2]).reshape(-1, 2)
    marks = np.unique(ends[np.abs(np.diff(ends)[:, 0]) < same / 2, 0])
    if marks.size < 2 or not same:
        return None
    near = np.diff(np.unique(at)).min() / 2
    shifts = np.unique(np.round(np.subtract.outer(marks, at) / same, 1)) * same
    off = {shift: _nearest(marks, at + shift) - at - shift for shift in shifts[np.abs(shifts) < near]}
    kept = [shift for shift in off if (np.abs(off[shift]) < same).sum() >= max(2, len(at) - 2)]
    if not kept:
        return None
    # The line of letters is below the middle of a label.
    first = min(kept, key=lambda shift: (place == 1 and shift > same, abs(shift)))
    alike = [shift for shift in kept if abs(shift - first) < same]
    best = min(alike, key=lambda shift: float(np.minimum(np.abs(off[shift]), same).sum()))
    return float(best + np.median(off[best][np.abs(off[best]) < same]))


def _nearest(marks: Floats, places: Floats) -> Floats:
    """The mark that is next to each place, shape (n,); marks ascend."""
    after = np.clip(np.searchsorted(marks, places), 1, marks.size - 1)
    return np.where(places - marks[after - 1] < marks[after] - places, marks[after - 1], marks[after])


def _column(path: Path, texts: Sequence[Text], axis: _Axis, place: int, hints: ImportOptions) -> Column:
    """The meaning of an axis: as it was given, or by the unit of its labels, or by the only title that has one.

    Raises:
        PslcError: its unit is not known, or the range that was given is not that of the labels.
    """
    option, given, kinds = (("--x", hints.x, ("size", "time")), ("--y", hints.y, ("speed",)))[place]
    named = [columns.column(place, text.words) for text in texts if not re.search(r"\d", text.words)]
    titles = {(col.kind, col.scale): col for col in named if col.kind in kinds and col.scale}
    title = next(iter(titles.values()), Column(place, option, "number", 1.0, "", ""))
    example = f"{option} {axis.low:g}:{axis.high:g}{('GB', 'MB/s')[place]}, or another unit"
    if given is not None:
        span = axes.parse(given, option, hints.capacity_bytes)
        off = np.abs(np.array([span.low, span.high]) / span.unit - [axis.low, axis.high]).max()
        if off > MAX_ASIDE_RATIO * (axis.high - axis.low):
            raise RecordingError(f"{path}: {option} is {given}, but its labels are not", example)
        return replace(
            title, kind="size" if span.kind == "bytes" else span.kind, scale=span.unit, unit=span.label.lower()
        )
    if axis.unit:
        of_labels = columns.column(place, f"{'time ' * (axis.unit.lower() in TIMES)}({axis.unit})")
        col = replace(of_labels, name=title.name, direction=title.direction)
        titles = {(col.kind, col.scale): col} if col.kind in kinds and col.scale else {}
    if len(titles) != 1:
        raise RecordingError(
            f"{path}: {'no label tells' if not titles else 'labels differ in'} the unit of {option}", example
        )
    return next(iter(titles.values()))


def _curves(path: Path, strokes: Sequence[Stroke], x: _Axis, y: _Axis) -> Iterator[tuple[str, Floats]]:
    """Lines that go from the left to the right within the labels of the y axis, each with its color."""
    shown: list[Floats] = []
    for stroke in _joined(strokes):
        points = stroke.points if stroke.points[0, 0] <= stroke.points[-1, 0] else stroke.points[::-1]
        steps, values = np.diff(points[:, 0]), y.values(points[:, 1])
        is_frame = len(points) <= MAX_FRAME_POINTS and steps[0] == 0
        if len(points) < 3 or is_frame or np.ptp(points[:, 0]) < MIN_SPAN_RATIO * x.length:
            continue
        beyond = _beyond(y, values)
        if (steps < 0).mean() > MAX_ASIDE_RATIO or beyond.all() or any(np.array_equal(points, of) for of in shown):
            continue
        beyond |= _beyond(x, x.values(points[:, 0]))
        if beyond.mean() > MAX_ASIDE_RATIO or values.min() < -MAX_ASIDE_RATIO * (y.high - y.low):
            raise RecordingError(
                f"{path}: a line goes beyond its axes, or below 0", "give one plot of speeds, unclipped"
            )
        shown.append(points)
        yield stroke.color, _evenly(points)


def _beyond(axis: _Axis, values: Floats) -> NDArray[np.bool_]:
    """Whether values are further than a label's distance from those of the outer labels."""
    return (values < axis.low - axis.margin) | (values > axis.high + axis.margin)


def _joined(strokes: Sequence[Stroke]) -> list[Stroke]:
    """Lines without areas; pieces of one, with gaps or in several elements, are one line."""
    joined: list[Stroke] = []
    for stroke in strokes:
        if stroke.is_area or not np.isfinite(stroke.points).all() or len(stroke.points) < 2:
            continue
        last = joined[-1] if joined else stroke
        gap = stroke.points[0] - last.points[-1]
        touches = last.color == stroke.color and not gap.any()
        if last is not stroke and len(last.points) > 2 and (touches or (last.element == stroke.element and gap[0] > 0)):
            points = np.concatenate([last.points, stroke.points[1 if touches else 0 :]])
            joined[-1] = replace(last, points=points)
        else:
            joined.append(stroke)
    return joined


def _evenly(points: Floats) -> Floats:
    """Points at even steps: programs leave out those between two that are on a straight line."""
    at = np.maximum.accumulate(points[:, 0]) + 1e-9 * np.arange(len(points))
    steps = np.diff(at)
    short = steps[(steps > MIN_STEP) & (steps < 1.5 * steps[steps > MIN_STEP].min(initial=np.inf))]
    if steps.size == short.size:
        return points
    count = min(round(float(np.ptp(at) / short.mean())), MAX_SAMPLES)
    grid = np.linspace(at[0], at[-1], count + 1)
    return np.column_stack([grid, np.interp(grid, at, points[:, 1])])


def _named(curves: Sequence[tuple[str, Floats]], series: Sequence[str], path: Path) -> dict[str, Floats]:
    """Curves by the names of their colors, or those that were asked for.

    Raises:
        PslcError: there are none, or not those.
    """
    named: dict[str, Floats] = {}
    for color, points in curves:
        hexes = re.fullmatch(r"#([\da-fA-F]{2})([\da-fA-F]{2})([\da-fA-F]{2})", color)
        rgb = [int(of, 16) for of in hexes.groups()] if hexes else [*map(int, re.findall(r"\d+", color))][:3]
        name = colors.name((rgb[0], rgb[1], rgb[2])) if len(rgb) == 3 else color or "first"
        named[name if name not in named else f"{name} {len(named) + 1}"] = points
    if not named:
        raise RecordingError(f"{path}: no line goes from the left to the right", "bars, areas and dots are not read")
    if missing := [word for word in series if word not in named]:
        raise RecordingError(f"--series {missing[0]} fits no curve", f"the curves are {gate.listed(named)}")
    return {name: points for name, points in named.items() if not series or name in series}
