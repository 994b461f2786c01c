"""Figures that reviews and makers publish about the built-in drives, with their sources: `published.toml`. ACCURACY.md
and docs/articles.md compare the simulated drives with them."""

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
    measure: NotRequired[str]
    run: NotRequired[str]
    find: NotRequired[str]
    value: NotRequired[float | str]
    fitted: bool
    item: NotRequired[str]
    id: NotRequired[str]
    reason: NotRequired[str]
    same: NotRequired[bool]
    unit: NotRequired[str]
    over: NotRequired[str]
    at_least: NotRequired[bool]
    at_most: NotRequired[bool]


class Item(TypedDict):
    """An item of an article: a chart, a table, a question. `answer` names figures by their `id`."""

    id: str
    title: str
    answer: NotRequired[str]
    reason: NotRequired[str]


class Article(TypedDict):
    """An article: `on`, the drives and computers of it."""

    id: str
    title: str
    on: str


class Document(TypedDict):
    """Sources by drive, figures, and the articles that some of them are of."""

    source: dict[str, str]
    figure: list[Published]
    item: list[Item]
    article: list[Article]


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
        if figure["drive"] == drive
        and {"measure", "value"} <= figure.keys()
        and not {"over", "at_most"} & figure.keys()
    }
    figures = {word: own[measure] for measure, word in PHASES.items() if measure in own}
    if "speed -1" in own:
        last = max((int(word[-1]) for word in figures if word.startswith("speed")), default=0)
        figures[f"speed{last + 1}"] = own["speed -1"]
    return figures
