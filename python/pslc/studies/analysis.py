"""Analysis of a study: the influence of each axis, the best points, and the trade-offs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import fmean
from typing import Final

import numpy as np

from pslc.base import install
from pslc.base.errors import JobError
from pslc.studies.axes import Span, quantity
from pslc.studies.points import DRAW, SCALE, Study, varied
from pslc.studies.results import OWN
from pslc.studies.rows import Row, number
from pslc.studies.samples import EXTRA, Sample, problem

MORE: Final = ("bytes_per_s", "iops", "life_bytes", "fills")
"""Endings of findings of which more is better."""
LESS: Final = ("_s", "write_amplification", "per_host", "per_host_bytes")
"""Suffixes of findings of which less is better. For others, such as the size of a cache, no value is best."""
LEFT_OUT: Final = (
    "_low",
    "_high",
    "_count",
    "_spread",
    "_drift",
    "_confidence",
    "_from_bytes",
    "_to_bytes",
    "_p10",
    "_p90",
)
"""Endings of findings that say how sure another is, or where it is."""
FEWEST: Final = 8
"""Points of which an index is worth anything."""
A_HARMONIC, MOST_HARMONICS = 8, 10
"""Points for each harmonic of a random balance design, and how many of these there are at the most: of half of the
points, of which the error is found, they may be a quarter. As many as there are would explain whatever there is."""


@dataclass(frozen=True)
class Effect:
    """The influence of an axis of a study on a finding: how far apart its values are, and its Sobol indices.

    Attributes:
        finding, axis: names of the finding and of the axis that influences it.
        low, high: the least and the greatest mean of the finding over the values of the axis (fifths of many values).
        at_low, at_high: the values at which they are.
        first: first-order Sobol index: the share of the variance that this axis makes alone. `first_error` is half of
            the 95 % interval; 0 where all combinations were run, and there is nothing to estimate.
        total, total_error: total index: also together with others. None: the points do not tell.
    """

    finding: str
    axis: str
    low: float
    high: float
    at_low: str
    at_high: str
    first: float
    first_error: float
    total: float | None = None
    total_error: float | None = None


@dataclass(frozen=True)
class Answers:
    """Answers of a study, from the points that ran without an error.

    Attributes:
        axes: axes that vary.
        findings: the analyzed findings: those requested, else the first ones that vary.
        rows: rows of the points.
        scale: scale of the drives if it is not 1: `1/16`; several are separated by commas.
        effects: by finding, the most influential axis first.
        best: the best point for each finding of which more or less is better.
        fronts: for each two such findings, the points that no other beats in both, sorted by the first.
    """

    axes: list[str]
    findings: list[str]
    rows: list[Row]
    effects: list[Effect]
    best: dict[str, Row]
    fronts: dict[tuple[str, str], list[Row]]
    scale: str = ""


def scale_of(rows: Sequence[Row]) -> str:
    """The scales of the drives that the commands of points name, separated by commas; empty where all are whole."""
    scales = [match[1] for row in rows if (match := SCALE.search(str(row["command"])))]
    return ", ".join(sorted({scale for scale in scales if scale not in ("1", "1/1")}))


def answers(study: Study, rows: Sequence[Row], requested: Sequence[str] = (), max_findings: int = 4) -> Answers:
    """Analyze the rows of a study.

    Args:
        requested: findings to analyze; empty: the first `max_findings` that vary.

    Raises:
        PslcError: no row has a requested finding, or an extra is missing.
    """
    good = [row for row in rows if row["error"] is None]
    varying = findings(good)
    _refuse_absent(requested, good, varying)
    names = list(requested) or varying[:max_findings]
    axes = varied(study)
    effects = [effect for name in names for effect in _effects(study, axes, good, name)]
    best = {name: _best(good, name) for name in names if better(name) and _numbers(good, name)}
    pairs = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :] if better(a) and better(b)]
    fronts = {(a, b): front(good, a, b) for a, b in pairs}
    return Answers(axes, names, good, effects, best, fronts, scale_of(good))


def _refuse_absent(requested: Sequence[str], rows: Sequence[Row], varying: Sequence[str]) -> None:
    """Refuse to analyze findings that no row has.

    Raises:
        PslcError: there is such a one; its hint names some of `varying`.
    """
    for name in requested:
        if not any(isinstance(row.get(name), int | float) for row in rows):
            raise JobError(f"no point has the finding {name}", f"they have {', '.join(varying[:12])}")


def over_draws(study: Study, rows: Sequence[Row]) -> list[Row]:
    """A row for each drive, in which a finding is the median of the draws that have it. `NAME_p10` and `NAME_p90` are
    what 80 % of these lie between, and `NAME_draws` says how many they are: `36 of 40`."""
    if not study.draws:
        return list(rows)
    keys = [of.key for of in study.axes]
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row["error"] is None:
            groups.setdefault(tuple(str(row[key]) for key in keys), []).append(row)
    result = []
    for drawn in groups.values():
        at = list(drawn[0]).index(OWN[-1]) + 1
        kept = {name: value for name, value in list(drawn[0].items())[:at] if name != DRAW}
        for name in dict.fromkeys(name for row in drawn for name in list(row)[list(row).index(OWN[-1]) + 1 :]):
            if values := _numbers(drawn, name):
                low, middle, high = (float(value) for value in np.quantile(values, [0.1, 0.5, 0.9]))
                count = f"{len(values)} of {len(drawn)}"
                kept |= {name: middle, f"{name}_p10": low, f"{name}_p90": high, f"{name}_draws": count}
        result.append(kept)
    return result


def findings(rows: Sequence[Row]) -> list[str]:
    """Findings that differ between points: those of the whole run before those of its parts, the most frequent
    first."""
    counts: dict[str, int] = {}
    for row in rows:
        at = list(row).index(OWN[-1])
        for name in list(row)[at + 1 :]:
            if isinstance(row[name], int | float) and not name.endswith(LEFT_OUT):
                counts[name] = counts.get(name, 0) + 1
    differ = [name for name in counts if len({row.get(name) for row in rows}) > 1] or list(counts)
    differ.sort(key=lambda name: (any(part.isdigit() for part in name.split("_")), -counts[name]))
    return differ


def better(name: str) -> int:
    """1: more is better; -1: less is; 0: neither."""
    return 1 if name.endswith(MORE) else -1 if name.endswith(LESS) else 0


def front(rows: Sequence[Row], first: str, second: str) -> list[Row]:
    """The points that no other beats in one finding and equals in the other (Pareto), by the first finding."""
    have = [row for row in rows if row.get(first) is not None and row.get(second) is not None]
    signs = better(first), better(second)
    ordered = sorted(have, key=lambda row: (-signs[0] * number(row, first), -signs[1] * number(row, second)))
    kept: list[Row] = []
    for row in ordered:
        if not kept or signs[1] * number(row, second) > signs[1] * number(kept[-1], second):
            kept.append(row)
    return kept


def place(axis: str, value: object) -> float | None:
    """A value of an axis as a number in the smallest unit; None: it is a word."""
    parsed = quantity(str(value))
    return float(parsed[0]) if parsed else None


def ordered(axis: str, rows: Sequence[Row]) -> list[str]:
    """The values of an axis, by size where they are numbers and as they came otherwise."""
    values = list(dict.fromkeys(str(row[axis]) for row in rows if row.get(axis) is not None))
    numbers = [place(axis, value) for value in values]
    if all(number is not None for number in numbers):
        return [value for _, value in sorted(zip(numbers, values, strict=True))]
    return values


def grouped(rows: Sequence[Row], axis: str, max_groups: int = 12) -> dict[str, list[Row]]:
    """Points by their value of an axis; where there are more values than `max_groups`, by fifths of them, or by
    as many parts as there may be."""
    values = ordered(axis, rows)
    if len(values) <= max_groups:
        return {value: [row for row in rows if str(row[axis]) == value] for value in values}
    parts = [list(part) for part in np.array_split(np.array(values, dtype=object), min(5, max_groups))]
    return {f"{part[0]} to {part[-1]}": [row for row in rows if str(row[axis]) in set(part)] for part in parts}


def _numbers(rows: Sequence[Row], name: str) -> list[float]:
    return [value for row in rows if isinstance(row.get(name), int | float) and isfinite(value := number(row, name))]


def _best(rows: Sequence[Row], name: str) -> Row:
    have = [row for row in rows if isinstance(row.get(name), int | float)]
    return max(have, key=lambda row: better(name) * number(row, name))


def _effects(study: Study, axes: Sequence[str], rows: Sequence[Row], name: str) -> list[Effect]:
    have = [row for row in rows if isinstance(row.get(name), int | float)]
    values = np.array(_numbers(have, name))
    if len(values) < 2 or not values.var():
        return []
    indices = _indices(study, axes, have, name)
    effects = []
    for axis in axes:
        beside = _beside(have, axes, axis) if study.sample is None else have
        # Of a sample, in which each point may have a value of its own, a mean is of two points where there are four.
        max_groups = 12 if study.sample is None else max(2, min(12, len(have) // 2))
        groups = grouped(beside, axis, max_groups)
        means = {value: fmean(_numbers(some, name)) for value, some in groups.items() if some}
        low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
        effects.append(Effect(name, axis, means[low], means[high], low, high, *indices[axis]))
    return sorted(effects, key=lambda effect: -effect.first)


def _beside(rows: Sequence[Row], axes: Sequence[str], axis: str) -> Sequence[Row]:
    """Points whose other values there are with every value of an axis: where points are missing, a mean over what is
    left would compare other drives. All where there are none."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(str(row[other]) for other in axes if other != axis), []).append(row)
    values = {str(row[axis]) for row in rows}
    whole = [some for some in groups.values() if {str(row[axis]) for row in some} == values]
    return [row for some in whole for row in some] or rows


Index = tuple[float, float, float | None, float | None]


def _indices(study: Study, axes: Sequence[str], rows: Sequence[Row], name: str) -> Mapping[str, Index]:
    if study.sample is None:
        return {axis: _of_grid(rows, axis, name) for axis in axes}
    if len(rows) < FEWEST:
        return dict.fromkeys(axes, (float("nan"), float("nan"), None, None))
    return _of_sample(study, axes, rows, name)


def _of_grid(rows: Sequence[Row], axis: str, name: str) -> Index:
    """Var(E[y | x]) / Var(y): of all combinations nothing has to be estimated."""
    values = np.array(_numbers(rows, name))
    groups = [np.array(_numbers(some, name)) for some in grouped(rows, axis, max_groups=len(rows)).values()]
    between = sum(len(group) * (group.mean() - values.mean()) ** 2 for group in groups) / len(values)
    return float(between / values.var()), 0.0, None, None


def _of_sample(study: Study, axes: Sequence[str], rows: Sequence[Row], name: str) -> Mapping[str, Index]:
    """Sensitivities by SALib: Saltelli's estimators where the design is his and whole, random balance designs
    (Tarantola and others 2006, for any sample) otherwise."""
    try:
        from SALib.analyze import rbd_fast, sobol
    except ImportError:
        raise JobError("Sobol indices need SALib", install.command(EXTRA)) from None
    assert study.sample is not None
    matches = _values_of_sample(study, study.sample, axes, rows, name)
    if study.sample.kind == "saltelli" and None not in matches:
        outcome = sobol.analyze(problem(len(axes)), np.array(matches), calc_second_order=False, seed=study.sample.seed)
        columns = [outcome[key] for key in ("S1", "S1_conf", "ST", "ST_conf")]
        return {axis: tuple(map(float, index)) for axis, *index in zip(axes, *columns, strict=True)}  # type: ignore[misc]
    kept = [index for index, value in enumerate(matches) if value is not None]
    places = study.sample.places(len(axes))[kept]
    values = np.array([matches[index] for index in kept])
    harmonics = min(max(len(values) // A_HARMONIC, 1), MOST_HARMONICS)
    outcome = rbd_fast.analyze(problem(len(axes)), places, values, M=harmonics, seed=study.sample.seed)
    return {
        axis: (float(first), float(error), None, None)
        for axis, first, error in zip(axes, outcome["S1"], outcome["S1_conf"], strict=True)
    }


def _values_of_sample(
    study: Study, sample: Sample, axes: Sequence[str], rows: Sequence[Row], name: str
) -> list[float | None]:
    """A finding at each point of a sample, in the order in which they are drawn; None where its run failed."""
    by_values = {tuple(str(row[axis]) for axis in axes): number(row, name) for row in rows}
    at = [index for index, of in enumerate(study.axes) if isinstance(of, Span) or len(of.values) > 1]
    return [by_values.get(tuple(point[index] for index in at)) for point in sample.draw(study.axes)]


Cell = tuple[float | None, list[int]]
"""The mean of a finding, and which rows it is of."""


def cells(rows: Sequence[Row], down: str, across: str, name: str) -> tuple[list[str], list[str], list[list[Cell]]]:
    """A heat map: values of two axes, and for each two of them the mean of a finding over all others, and its rows."""
    lines, columns = grouped(rows, down), grouped(rows, across)
    table: list[list[Cell]] = []
    number = {id(row): at for at, row in enumerate(rows)}
    for of_line in lines.values():
        row: list[Cell] = []
        for of_column in columns.values():
            chosen = {id(row_of_column) for row_of_column in of_column}
            both = [
                row_of_column
                for row_of_column in of_line
                if id(row_of_column) in chosen and _numbers([row_of_column], name)
            ]
            row.append(
                (fmean(_numbers(both, name)) if both else None, [number[id(row_of_column)] for row_of_column in both])
            )
        table.append(row)
    return list(lines), list(columns), table
