"""Parts: NAND dies and controllers with sources, and the drives they make.

from pslc.device import parts
parts.nand("bics5-tlc-512g").native_bytes_per_s
drive = parts.profile(nand="bics5-tlc-512g", controller="phison-e16", capacity="1TB", cache={"dynamic": "150GB"})
drive.text      # a profile for sim:./FILE.toml
drive.how       # where each value comes from
"""

import csv
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pslc.base.errors import ProfileError, closest_match
from pslc.device.parts.derive import Derived, derive
from pslc.device.parts.schema import Controller, Nand, Raw, Times, read_controller, read_nand

__all__ = [
    "Controller",
    "Derived",
    "Nand",
    "Spread",
    "Times",
    "controller",
    "controllers",
    "derive",
    "nand",
    "nands",
    "profile",
    "spreads",
]

FOLDER = Path(__file__).parent


def nands() -> tuple[str, ...]:
    """The names of the dies, in alphabetical order."""
    return tuple(sorted(path.stem for path in (FOLDER / "nand").glob("*.toml")))


def controllers() -> tuple[str, ...]:
    """The names of the controllers, in alphabetical order."""
    return tuple(sorted(path.stem for path in (FOLDER / "controllers").glob("*.toml")))


def nand(name: str) -> Nand:
    """A die by name, or by the beginning of it where only one begins so.

    Raises:
        PslcError: there is none of that name.
    """
    return _nand(_full_name("NAND die", name, nands()))


def controller(name: str) -> Controller:
    """A controller by name, or by the beginning of it where only one begins so.

    Raises:
        PslcError: there is none of that name.
    """
    return _controller(_full_name("controller", name, controllers()))


@functools.cache
def _nand(name: str) -> Nand:
    return read_nand(FOLDER / "nand" / f"{name}.toml")


@functools.cache
def _controller(name: str) -> Controller:
    return read_controller(FOLDER / "controllers" / f"{name}.toml")


@dataclass(frozen=True)
class Spread:
    """Errors of figures that were predicted from parts, compared with those of reviews.

    Attributes:
        what: the figure: `first phase`, `second phase`, `third phase`, `mean of a fill`; of one controller, `speeds`.
        drives, figures: how many of each were predicted, each from other drives.
        median_percent, ninety_percent: relative errors that half, and nine of ten, stay within.
    """

    what: str
    drives: int
    figures: int
    median_percent: int
    ninety_percent: int


@functools.cache
def spreads(controller: str = "") -> tuple[Spread, ...]:
    """Prediction errors of all drives, or of the drives of one controller; empty if none of them was reviewed."""
    with (FOLDER / "spread.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["controller"] == controller]
    keys = ("drives", "figures", "median_percent", "ninety_percent")
    return tuple(Spread(row["what"], *(int(row[key]) for key in keys)) for row in rows)


def _full_name(what: str, name: str, names: tuple[str, ...]) -> str:
    matches = [each for each in names if each.startswith(name)]
    if name in names or len(matches) == 1:
        return name if name in names else matches[0]
    if matches and name:
        raise ProfileError(f"{len(matches)} {what}s begin with {name}", f"one of {', '.join(matches)}")
    meant = closest_match(name, names)
    hint = f"did you mean {meant}?" if meant else "pslc drives parts lists all parts"
    raise ProfileError(f"unknown {what} {name}", hint)


def profile(
    *,
    nand: str,
    controller: str,
    capacity: str,
    cache: Mapping[str, Raw] | None = None,
    given: Mapping[str, Raw] | None = None,
) -> Derived:
    """A whole profile of parts: `cache` holds keys of [cache] (`dynamic`, `when_full`), `given` any other dotted keys.

    What is given is a part of the profile too, with the provenance `given`.

    Raises:
        PslcError: a part is not known, or a given value cannot be read.
    """
    stated: dict[str, Raw] = {"capacity": capacity, **{f"cache.{key}": value for key, value in (cache or {}).items()}}
    stated |= given or {}
    die, chip = _full_name("NAND die", nand, nands()), _full_name("controller", controller, controllers())
    return derive(_nand(die), _controller(chip), stated, whole=True)


def part(name: str) -> Nand | Controller:
    """A die or a controller by name.

    Raises:
        PslcError: there is none of that name.
    """
    names = nands() + controllers()
    match = _full_name("part", name, names)
    return _nand(match) if match in nands() else _controller(match)


def text(of: Nand | Controller) -> str:
    """The file of a part."""
    folder = "nand" if isinstance(of, Nand) else "controllers"
    return (FOLDER / folder / f"{of.name}.toml").read_text(encoding="utf-8")
