"""Keys of a profile that can be turned on the page. A new knob is one entry of `KNOBS`; what a value may be is said by
the profile's own check."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pslc._native import profile_words
from pslc.base import files
from pslc.base.units import UNITS
from pslc.device.profiles import without_effect
from pslc.device.target import Target
from pslc.schema.facts import Facts

Pairs = tuple[tuple[str, str], ...]
"""Keys of a target and their values: `sim:NAME,key=value`."""
Stops = Callable[[Facts], Sequence[str]]
"""Values that a slider stops at, by the facts of the drive (`SimDrive.facts`)."""

NUMBERS: Final[dict[str, float]] = {
    **{name: float(scale) for name, scale in UNITS.items()},
    **{f"{name}/s": float(scale) for name, scale in UNITS.items()},
    "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "%": 1.0, "C": 1.0, "K/W": 1.0, "": 1.0,
}  # fmt: skip
"""Units of values, for their order on a slider."""


def number(text: str) -> float | None:
    """Position of a value on a slider: `2.91ms` is 0.00291; None for a word."""
    match = re.fullmatch(r"(-?[0-9.]+)\s*([A-Za-z/%]*)", text.strip())
    if match is None or match[2] not in NUMBERS:
        return None
    try:
        return float(match[1]) * NUMBERS[match[2]]
    except ValueError:
        return None


def _sizes(largest: Callable[[Facts], float]) -> Stops:
    """Stops from nothing to `largest` bytes and a little more, in 60 to 150 round steps."""

    def stops(facts: Facts) -> list[str]:
        end = max(largest(facts), 1e9)
        step = next(step * 10**ten for ten in range(6, 15) for step in (1, 2, 5) if step * 10**ten * 150 >= end)
        return [f"{count * step / 1e9:g}GB" for count in range(int(end / step) + 2)]

    return stops


def _series(*texts: str) -> Stops:
    return lambda facts: texts


def _decades(low: int, high: int) -> Stops:
    """A dozen values a decade, `low` to `high` microseconds."""
    tens = (10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82)
    values = [ten * 10**decade // 10 for decade in range(6) for ten in tens if decade or ten == 10]
    return lambda facts: [f"{value}us" for value in values if low <= value <= high]


@dataclass(frozen=True)
class Knob:
    """A key that can be turned.

    Attributes:
        key: the profile's.
        label: what it is called beside its slider, with what it is in brackets.
        stops: values of a slider; None: it is one of some words.
        words: words, and the pairs each stands for; those of the profile (`profile_words`) where it is empty.
        off: a word that a value may be instead, with the pair it stands for.
    """

    key: str
    label: str
    stops: Stops | None = None
    words: Mapping[str, Pairs] | None = None
    off: tuple[str, tuple[str, str]] | None = None

    @property
    def choices(self) -> Mapping[str, Pairs]:
        """Words that it can be, and what a target says for each."""
        return self.words or {word: ((self.key, word),) for word in profile_words()[self.key]}

    def pairs(self, text: str) -> Pairs:
        """Pairs of key and value that a target needs for a value of this knob."""
        if self.stops is None:
            return self.choices.get(text, ((self.key, text),))
        return (self.off[1],) if self.off and text == self.off[0] else ((self.key, text),)


KNOBS: Final[Mapping[str, Sequence[Knob]]] = {
    "Cache": (
        Knob("cache.mode", "Mode"),
        Knob("cache.dynamic", "Dynamic size", _sizes(lambda facts: facts["slc_raw_bytes"])),
        Knob("cache.static", "Static size", _sizes(lambda facts: 0.1 * facts["slc_raw_bytes"])),
        Knob("cache.when_full", "When full"),
        Knob("cache.reuse", "Reuse"),
        Knob("cache.idle.threshold", "Idle threshold", _series("20ms", "50ms", "100ms", "200ms", "500ms", "1s", "2s",
             "5s", "10s", "20s", "30s", "1min", "2min", "5min", "10min"), off=("never", ("cache.idle", "never"))),
        Knob("cache.idle.rate", "Idle rate", _series("20MB/s", "50MB/s", "100MB/s", "200MB/s", "500MB/s", "1GB/s",
             "2GB/s", "5GB/s")),
    ),
    "Cells": (
        Knob("nand.dies", "Dies", lambda facts: [
             str(facts["channels"] * count) for count in (1, 2, 3, 4, 6, 8, 12, 16)]),
        Knob("nand.planes", "Planes", _series("1", "2", "3", "4", "6", "8")),
        Knob("nand.blocks_per_plane", "Blocks of a plane", lambda facts: [
             str(round(facts["blocks_per_plane"] * percent / 100))
             for percent in (25, 50, *range(90, 131), 150, 200, 400)]),
        Knob("nand.slc.program", "tPROG as pSLC", _decades(47, 1000)),
        Knob("nand.native.program", "tPROG native", _decades(270, 10000)),
    ),
    "Link, heat, host": (
        Knob("link", "Link", words={word: (("link", word),) for word in (
             "sata300", "sata600", "pcie3x2", "pcie3x4", "pcie4x4", "pcie5x4")}),
        Knob("heat.board_to_air", "Heat sink (resistance to the air)", _series(*(f"{k}K/W" for k in (
             0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30)))),
        Knob("heat.ambient", "Air", _series(*(f"{celsius}C" for celsius in range(0, 71, 5)))),
        Knob("controller.write_cache", "Write cache"),
    ),
}  # fmt: skip
"""Knobs by group, in the order in which a target names them."""

EVERY: Final = {knob.key: knob for group in KNOBS.values() for knob in group}


@dataclass(frozen=True)
class Position:
    """A knob as it stands on a drive as sold.

    Attributes:
        text: its value; empty where the profile has none.
        stops: values of its slider, in order, `text` among them; words where it has no slider.
        idle: why it changes nothing, if so.
    """

    knob: Knob
    text: str
    stops: tuple[str, ...]
    idle: str = ""


def positions(target: Target) -> dict[str, Position]:
    """Positions of all knobs of a drive."""
    values = files.keys(target.profile)
    places = {}
    for key, knob in EVERY.items():
        text = _value(knob, values)
        stops = tuple(knob.choices) if knob.stops is None else _stops(knob, target.facts, text)
        if knob.stops is None and text not in stops:
            stops = (*stops, text)
        places[key] = Position(knob, text, stops, _idle(knob, target, values))
    return places


def _value(knob: Knob, values: Mapping[str, object]) -> str:
    if knob.off is not None and knob.key not in values:
        return knob.off[0]
    return str(values.get(knob.key, ""))


def _stops(knob: Knob, facts: Facts, text: str) -> tuple[str, ...]:
    assert knob.stops is not None
    by = {value: each for each in (*knob.stops(facts), text) if (value := number(each)) is not None}
    off = [knob.off[0]] if knob.off else []
    return (*(by[value] for value in sorted(by)), *off)


def _idle(knob: Knob, target: Target, values: Mapping[str, object]) -> str:
    """Reason why turning a knob changes nothing; empty where it does."""
    if knob.key.startswith("heat.") and knob.key not in values:
        return "the profile has no [heat]"
    if knob.key == "cache.idle.rate" and "cache.idle.threshold" not in values:
        return "the drive never folds in idle time"
    return without_effect([knob.key], target.profile).get(knob.key, "")
