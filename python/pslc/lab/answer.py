"""Contents of the lab page that follow from recordings: overlaid pictures, sentences, and the effect of a knob."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from typing_extensions import TypedDict

from pslc.base import words
from pslc.figures.picture import Line, Picture, Table
from pslc.figures.view import View
from pslc.recording import comparison, metrics, wear
from pslc.recording.comparison import Compared, Side
from pslc.recording.store import Recording
from pslc.report import page
from pslc.report import recording_view as view
from pslc.report.page import About, Figure

POINTS: Final = 700
"""Largest number of points of a line; a screen has hardly more."""
SHOWN_ROWS: Final = ("cache", "mean", "WAF", "life")
"""Figures that a change is told by, where they differ; of others only those of a suite that has none of these."""
MOST_TOLD: Final = 5
MOST_GIVEN: Final = 3
"""Pictures of what was dropped."""
MAIN: Final = "main"
"""The name of the picture on top."""


@dataclass(frozen=True)
class Shown:
    """A recording with the name it has beside others."""

    name: str
    recording: Recording
    view: View


def named(recordings: Sequence[Recording]) -> list[Shown]:
    """Recordings called by their drives, and by what was turned where that is not enough."""
    sides = comparison.named([Side("", (recording,)) for recording in recordings])
    return [
        Shown(side.name, recording, view.of_recording(recording))
        for side, recording in zip(sides, recordings, strict=True)
    ]


def pictures(shown: Sequence[Shown], at: int, before: Recording | None, over: Sequence[Line]) -> list[Picture]:
    """Pictures of drive `at`, with the lines of the other drives, of the drive before the change, and the overlay in
    the first picture."""
    own = [picture for picture in shown[at].view.pictures if picture.lines]
    ghost = {} if before is None else {picture.name: picture for picture in view.of_recording(before).pictures}
    drawn = []
    for number, picture in enumerate(own):
        # Bars of others would stand at other places.
        lines = list(picture.lines) if picture.rows else _of_all(shown, picture.name)
        if number == 0 and not picture.rows:
            if picture.name in ghost:
                names = _lines(ghost[picture.name], shown[at].name, len(shown) > 1)
                lines += [replace(line, name=f"before: {line.name}", style="dotted") for line in names]
            lines += over if picture.name == "speed-bytes" else []
        drawn.append(replace(picture, lines=lines))
    return drawn


def _of_all(shown: Sequence[Shown], name: str) -> list[Line]:
    """The lines of every drive in its picture of this name."""
    lines: list[Line] = []
    for drive in shown:
        same = next((picture for picture in drive.view.pictures if picture.name == name), None)
        lines += _lines(same, drive.name, len(shown) > 1) if same else []
    return lines


def _lines(picture: Picture, drive: str, several: bool) -> list[Line]:
    """The lines of a picture, called by the drive where there are several."""
    return [_called(line, drive, picture, several) for line in picture.lines]


def _called(line: Line, drive: str, picture: Picture, several: bool) -> Line:
    if not several:
        return line
    return replace(line, name=drive if len(picture.lines) == 1 else f"{drive}: {line.name}")


def figures(drawn: Sequence[Picture], about: About) -> list[Figure]:
    """Pictures as figures of plotly; the first has a place of its own."""
    drawings = [page.figure(picture.in_fitting_units(), about, POINTS) for picture in drawn]
    return [{**figure, "id": MAIN} if number == 0 else figure for number, figure in enumerate(drawings)]


def of_view(view: View) -> list[Figure]:
    """The pictures of what was dropped, beside those of the bench."""
    pictures = [replace(picture, name=f"dropped-{picture.name}") for picture in view.pictures if picture.lines]
    return [page.figure(picture.in_fitting_units(), About.of(view), POINTS) for picture in pictures[:MOST_GIVEN]]


def about(shown: Sequence[Shown]) -> About:
    """Caption of a saved picture: the drives, and the conditions of their recordings."""
    return About(
        " / ".join(drive.name for drive in shown),
        shown[0].recording.conditions_with([drive.recording for drive in shown[1:]]),
    )


class Coarse(TypedDict):
    """A line, in GB and MB/s."""

    name: str
    x: list[float]
    y: list[float]


def coarse(recordings: Sequence[tuple[Recording, Fraction] | None], names: Sequence[str]) -> list[Coarse | None]:
    """Lines of drives that were made smaller, against the bytes of the whole ones."""
    approximations: list[Coarse | None] = []
    for shown_recording, name in zip(recordings, names, strict=True):
        if shown_recording is None:
            approximations.append(None)
            continue
        recording, by = shown_recording
        picture = view.of_recording(recording).pictures[0]
        x, y = picture.lines[0].thinned(POINTS)
        approximations.append({"name": name, "x": (x / float(by)).round(3).tolist(), "y": y.round(2).tolist()})
    return approximations


def rows(sides: Sequence[Side]) -> list[Compared]:
    """Every figure of recordings beside each other, wear among them."""
    of = [_wear(side.recording) for side in sides]
    compared = comparison.compare(sides, {})
    for name, unit in (("WAF", ""), ("life", "fills")):
        figures = [values.get(name) for values in of]
        if any(figure is not None for figure in figures):
            differs = [comparison.apart(figures[0], figure) for figure in figures]
            compared.append(Compared(name, unit, figures, differs, None))
    return compared


def _wear(recording: Recording) -> dict[str, metrics.Figure | None]:
    worn = wear.of_wear(recording) if recording.is_simulated else wear.UNKNOWN
    waf, life = worn["waf"], worn["life_bytes"]
    return {
        "WAF": None if waf is None else metrics.rate(waf),
        "life": None if life is None else metrics.rate(life / recording.capacity_bytes),
    }


def difference(before: Recording, now: Recording) -> str:
    """`cache 691 -> 320 GB, mean 1335 -> 1120 MB/s`; empty where nothing differs by more than noise."""
    every = rows([Side("before", (before,)), Side("now", (now,))])
    shown = [row for row in every if row.name in SHOWN_ROWS] or every
    changes = [f"{row.name} {_change(row)}" for row in shown if any(row.differs)]
    return ", ".join(changes[:MOST_TOLD])


def _change(row: Compared) -> str:
    before, after = (
        "none" if figure is None else words.quantity(figure.value, row.unit).strip() for figure in row.figures
    )
    first, _, unit = before.rpartition(" ")
    return f"{first} -> {after}" if first and after.endswith(f" {unit}") else f"{before} -> {after}"


def table(sides: Sequence[Side]) -> Table:
    """Every figure of each side."""
    cells = [
        [
            row.called,
            *("" if figure is None else words.quantity(figure.value, row.unit).strip() for figure in row.figures),
        ]
        for row in rows(sides)
    ]
    return Table("Figures", ("figure", *(side.name for side in sides)), cells, words=("figure",))
