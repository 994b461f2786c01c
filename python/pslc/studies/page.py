"""A study as one page that needs no network: what matters, heat maps, slices, trade-offs, best points, every point."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Final

from pslc.base import words, writer
from pslc.figures.document import About
from pslc.figures.picture import Axis, Line, Own, Panel, Picture, Table
from pslc.report.page import today, with_pictures
from pslc.studies import analysis as of_answers
from pslc.studies.analysis import Answers, Effect
from pslc.studies.axes import quantity
from pslc.studies.rows import Row, number

MOST_MAPS: Final = 12
MOST_SLICES: Final = 12
MOST_ROWS: Final = 2000
"""Heat maps of a finding, lines of a picture, and points in the table of a page; the Parquet files have all of them."""
MOST_NAMED: Final = 3
"""Drives, and suites, that a saved picture names."""
SCALED: Final = (
    "The drives are simulated at {scale} of the size: suites multiply sizes and times back, except write buffers and "
    "latencies."
)
KINDS: Final = {"B": ("B", 1.0), "ns": ("s", 1e-9)}
"""Base unit of a picture's axis, and the size in it of the smallest unit of a study's axis."""
LITTLE: Final = 1.02
"""Ratio of the best mean to the worst below which an axis hardly matters."""


@dataclass(frozen=True)
class Cell:
    """A place of a heat map: what it says, how dark it is (0 to 1), and which points it is the mean of, from 1."""

    text: str
    share: float
    points: list[int]


@dataclass(frozen=True)
class Map:
    """A finding over two axes, the mean over all others."""

    title: str
    down: str
    across: str
    columns: list[str]
    lines: list[tuple[str, list[Cell]]]


def write(answers: Answers, name: str, path: Path, best: dict[str, str]) -> None:
    """Write the page of a study.

    Args:
        best: the command that runs the best point of each finding as a profile.
    """
    about = About(name, _conditions(answers.rows))
    text = with_pictures(
        "study.html.jinja",
        [(picture, about) for picture in pictures(answers)],
        title=f"Study {name}",
        answers=answers,
        verdicts=[*scaling_notes(answers), *verdicts(answers)],
        tables=tables(answers),
        maps=[drawn for finding in answers.findings for drawn in maps(answers, finding)],
        best=best,
        points=answers.rows[:MOST_ROWS],
        more=max(len(answers.rows) - MOST_ROWS, 0),
        value_text=value_text,
    )
    writer.write(path, text)


def _conditions(rows: Sequence[Row]) -> str:
    """Conditions of a study: `fill on sim:sn850-1tb, 12 points, 2026-05-04, pslc 0.1`."""

    def named(key: str) -> str:
        values = list(dict.fromkeys(str(row[key]) for row in rows if row.get(key)))
        return f"{len(values)} of {key}" if len(values) > MOST_NAMED else " / ".join(values)

    ran = " on ".join(part for part in (named("run"), named("on")) if part)
    about = [ran, f"{len(rows)} points", today()]
    return ", ".join(part for part in about if part)


def value_text(name: str, value: object) -> str:
    """A finding as people read it."""
    if value is None or isinstance(value, bool | str):
        return "" if value is None else str(value)
    assert isinstance(value, int | float)
    name = name.removesuffix("_low").removesuffix("_high")
    if name.endswith("bytes_per_s"):
        return words.speed(value)
    if name.endswith("_bytes"):
        return words.size(value)
    return words.span(value) if name.endswith("_s") else words.count(value)


def of_draws(rows: Sequence[Row], axes: Sequence[str], names: Sequence[str]) -> Table:
    """Findings of drives that were drawn: how many draws have one, its median, and what 80 % of these lie between."""
    ends = ("_draws", "", "_p10", "_p90")
    cells = [
        [*(str(row[axis]) for axis in axes), name, *(value_text(name, row.get(f"{name}{end}")) for end in ends)]
        for row in rows
        for name in names
    ]
    columns = (*axes, "finding", "draws", "median", "10 %", "90 %")
    return Table("Draws", columns, cells, words=(*axes, "finding", "draws"))


def scaling_notes(answers: Answers) -> list[str]:
    """Note on figures that come from scaled drives; empty if all drives are full-size."""
    return [SCALED.format(scale=answers.scale)] if answers.scale else []


def _constants(answers: Answers) -> list[str]:
    """A sentence for each finding that has one value, with the number of points that have it."""
    sentences = []
    for name in answers.findings:
        values = [row[name] for row in answers.rows if row.get(name) is not None]
        if len(set(values)) == 1:
            whole = len(values) == len(answers.rows)
            where = "every point" if whole else f"each of the {len(values)} points of {len(answers.rows)} that have it"
            sentences.append(f"{name} is {value_text(name, values[0])} at {where}.")
    return sentences


def verdicts(answers: Answers) -> list[str]:
    """Conclusions of the study, a sentence for each finding and axis: the best value, by how much it is better, or that
    the axis hardly matters."""
    sentences = _constants(answers)
    for effect in answers.effects:
        sign = of_answers.better(effect.finding)
        if not sign and not effect.finding.endswith("_bytes"):
            continue
        good, bad = (effect.high, effect.low) if sign >= 0 else (effect.low, effect.high)
        at_good, at_bad = (effect.at_high, effect.at_low) if sign >= 0 else (effect.at_low, effect.at_high)
        # A size is no result: none is best.
        judgement, at_end = ("best", "at best") if sign else ("greatest", "at most")
        ratio = max(good, bad) / min(good, bad) if min(good, bad) > 0 else float("inf")
        if effect.total is None and effect.first < effect.first_error:
            sentences.append(
                f"{len(answers.rows)} points do not tell whether {effect.axis} matters for {effect.finding}."
            )
        elif ratio < LITTLE:
            sentences.append(
                f"{effect.axis} hardly matters for {effect.finding}: {value_text(effect.finding, good)} {at_end}."
            )
        else:
            sentences.append(
                f"{effect.finding} is {judgement} with {effect.axis}={at_good}: {value_text(effect.finding, good)} "
                f"against {value_text(effect.finding, bad)} with {at_bad}, {ratio:.2f} times."
            )
    return sentences


def tables(answers: Answers) -> list[Table]:
    """Tables of sensitivity, best points and trade-offs, for the terminal and the page."""
    shown = []
    for name in answers.findings:
        if effects := [effect for effect in answers.effects if effect.finding == name]:
            shown.append(_sensitivity(name, effects))
    if answers.best:
        columns = ["finding", "best", *answers.axes]
        rows = [
            [name, value_text(name, row[name]), *(str(row[axis]) for axis in answers.axes)]
            for name, row in answers.best.items()
        ]
        shown.append(Table("Best points", columns, rows, words=["finding", *answers.axes]))
    for (first, second), rows_of in answers.fronts.items():
        if len(rows_of) > 1:
            rows = [
                [*(value_text(name, row[name]) for name in (first, second)), *(str(row[axis]) for axis in answers.axes)]
                for row in rows_of
            ]
            title = f"Pareto front: {first} and {second}"
            shown.append(Table(title, [first, second, *answers.axes], rows, words=answers.axes))
    return shown


def _sensitivity(name: str, effects: Sequence[Effect]) -> Table:
    """Effects of the axes on a finding; total indices where the sample tells them."""
    columns = ["axis", "lowest mean", "at", "highest mean", "at value", "first-order"]
    columns += ["total"] if any(effect.total is not None for effect in effects) else []
    rows = [_effect(effect)[: len(columns)] for effect in effects]
    return Table(f"Sensitivity of {name}", columns, rows, words=["axis", "at", "at value"])


def _effect(effect: Effect) -> list[str]:
    def index(value: float | None, error: float | None) -> str:
        if value is None:
            return ""
        if value != value:
            return "too few points"
        # An estimate of next to nothing may be below it.
        share = f"{100 * max(value, 0.0):.0f} %"
        return f"{share} +- {100 * error:.0f}" if error else share

    return [
        effect.axis, value_text(effect.finding, effect.low), effect.at_low, value_text(effect.finding, effect.high),
        effect.at_high, index(effect.first, effect.first_error), index(effect.total, effect.total_error),
    ]  # fmt: skip


def maps(answers: Answers, name: str) -> list[Map]:
    """Heat maps of a finding over every two axes."""
    drawn = []
    for down, across in list(combinations(answers.axes, 2))[:MOST_MAPS]:
        lines, columns, cells = of_answers.cells(answers.rows, down, across, name)
        values = [value for row in cells for value, _ in row if value is not None]
        if not values:
            continue
        low, high = min(values), max(values)
        shaded = []
        for line, row in zip(lines, cells, strict=True):
            shares = [0.0 if value is None or high == low else (value - low) / (high - low) for value, _ in row]
            shaded.append(
                (
                    line,
                    [
                        Cell(value_text(name, point[0]), share, [index + 1 for index in point[1]])
                        for point, share in zip(row, shares, strict=True)
                    ],
                )
            )
        drawn.append(Map(name, down, across, columns, shaded))
    return drawn


def pictures(answers: Answers) -> list[Picture]:
    """Small multiples: each finding along each axis, a line for each value of the others; and each two findings."""
    drawn = []
    for name in answers.findings:
        for axis in answers.axes:
            drawn += _slices(answers, name, axis)
    for (first, second), front in answers.fronts.items():
        have = [row for row in answers.rows if row.get(first) is not None and row.get(second) is not None]
        scattered = sorted(have, key=lambda row: number(row, first))
        (best_x, best_y), (x, y) = (
            [[number(row, name) for row in rows] for name in (first, second)] for rows in (front, scattered)
        )
        lines = [Line("Pareto front", best_x, best_y, "points"), Line("every point", x, y, "dots")]
        title = (Own(f"{second} against {first}"),)
        drawn.append(Picture(f"front-{first}-{second}", title, _axis_of(first), (Panel(_axis_of(second), lines),)))
    return drawn


def _axis_of(name: str) -> Axis:
    """Axis of a picture for a finding, with its unit."""
    for end, unit in (("_bytes_per_s", "B/s"), ("_bytes", "B"), ("_s", "s")):
        if name.endswith(end):
            return Axis(Own(name.removesuffix(end)), unit)
    return Axis(Own(name))


def _slices(answers: Answers, name: str, axis: str) -> list[Picture]:
    """Empty where the axis has words for values, or each of its values one point: a sample has no slices."""
    values = of_answers.ordered(axis, answers.rows)
    places = [of_answers.place(axis, value) for value in values]
    if len(values) < 2 or None in places or len(values) == len(answers.rows) > of_answers.FEWEST:
        return []
    kind = (quantity(str(values[0])) or (0, ""))[1]
    unit, scale = KINDS.get(kind, ("", 1.0))
    called = axis if unit or not kind else f"{axis} ({kind})"
    groups = _by_other_axes(answers, name, axis)
    lines = []
    for label, rows in list(groups.items())[:MOST_SLICES]:
        points = sorted((scale * _place(axis, row), number(row, name)) for row in rows)
        lines.append(Line(Own(label), [x for x, _ in points], [y for _, y in points], "points"))
    panel = Panel(_axis_of(name), lines)
    title = Own(f"{name} by {axis}")
    return [Picture(f"slice-{name}-{axis}".replace(".", "-"), title, Axis(Own(called), unit), (panel,))]


def _by_other_axes(answers: Answers, name: str, axis: str) -> dict[str, list[Row]]:
    """Rows that have a finding, by their values on all axes but one; by the finding's name if there is no other."""
    rest = [other for other in answers.axes if other != axis]
    groups: dict[str, list[Row]] = {}
    for row in answers.rows:
        if row.get(name) is not None:
            groups.setdefault(", ".join(str(row[other]) for other in rest) or name, []).append(row)
    return groups


def _place(axis: str, row: Row) -> float:
    place = of_answers.place(axis, row[axis])
    assert place is not None, "the axis has numbers"
    return place


def profiles(answers: Answers, folder: Path) -> dict[str, str]:
    """Write the best point of each finding as a profile beside the folder of the study; return the command of each."""
    from pslc.device.target import find_target

    commands = {}
    for name, row in answers.best.items():
        command = shlex.split(str(row["command"]))
        spec = command[command.index("--on") + 1]
        path = folder.with_name(f"{folder.name}-best-{name}.toml")
        writer.write(path, find_target(spec).profile)
        commands[name] = f"pslc run {row['run']} --on sim:{path} --seed {row['seed']}"
        commands[name] += f" --fill-first {row['fill_first']}" if "fill_first" in row else ""
    return commands
