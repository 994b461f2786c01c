"""Figures that reviews and makers publish about the built-in drives, with their sources: `published.toml`. ACCURACY.md
compares the simulated drives with them."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Final, NotRequired, cast

from typing_extensions import TypedDict

FILE: Final = Path(__file__).with_suffix(".toml")
PHASES: Final = {
    "cache": "cache", "speed 1": "speed1", "speed 2": "speed2", "end 2": "end2", "speed 3": "speed3", "mean": "mean",
}  # fmt: skip
"""Measures of a fill, and the words that `pslc fit --published` has for them."""


class Published(TypedDict):
    """A figure, as the head of the file says; in base units."""

    drive: str
    what: str
    measure: str
    value: float
    fitted: bool
    over: NotRequired[str]
    at_least: NotRequired[bool]
    at_most: NotRequired[bool]


class Document(TypedDict):
    """Sources by drive, and figures."""

    source: dict[str, str]
    figure: list[Published]


@lru_cache
def document() -> Document:
    """All published figures, with their sources."""
    return cast(Document, tomllib.loads(FILE.read_text(encoding="utf-8")))


def source(drive: str) -> str:
    """Source of the published figures of the drive named `drive`; empty without any."""
    return document()["source"].get(drive, "")


def of_a_fill(drive: str) -> dict[str, float]:
    """Published figures of a fill of a drive in its sold configuration, in bytes and bytes/s, by the words of
    `PHASES`."""
    own = {
        figure["measure"]: float(figure["value"])
        for figure in document()["figure"]
        if figure["drive"] == drive and "over" not in figure and not figure.get("at_most")
    }
    figures = {word: own[measure] for measure, word in PHASES.items() if measure in own}
    if "speed -1" in own:
        last = max((int(word[-1]) for word in figures if word.startswith("speed")), default=0)
        figures[f"speed{last + 1}"] = own["speed -1"]
    return figures


def in_words(drive: str) -> str:
    """Published figures of a drive as `pslc fit --published` takes them: `cache=691GB speed1=6579MB/s`; empty if
    nothing is published."""
    units = {"cache": (1e9, "GB"), "end2": (1e9, "GB")}
    figures = [(word, value, *units.get(word, (1e6, "MB/s"))) for word, value in of_a_fill(drive).items()]
    return " ".join(f"{word}={value / scale:.10g}{unit}" for word, value, scale, unit in figures)
