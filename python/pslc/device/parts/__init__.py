"""Parts: NAND dies and controllers with sources, the drives they make, and the computers around these.

from pslc.device import parts
parts.nand("bics5-tlc-512g").native_bytes_per_s
drive = parts.profile(nand="bics5-tlc-512g", controller="phison-e16", capacity="1TB", cache={"dynamic": "150GB"})
drive.text      # a profile for sim:./FILE.toml
drive.how       # where each value comes from
"""

import functools
from collections.abc import Mapping
from pathlib import Path

from pslc.base.errors import ProfileError, closest_match
from pslc.device.parts import constants, naming
from pslc.device.parts.derive import Derived, derive
from pslc.device.parts.schema import Computer, Controller, Nand, Raw, Times, read_computer, read_controller, read_nand

__all__ = [
    "Computer",
    "Controller",
    "Derived",
    "Nand",
    "Times",
    "computer",
    "computers",
    "controller",
    "controllers",
    "derive",
    "nand",
    "nands",
    "profile",
]

FOLDER = Path(__file__).parent


def _names(folder: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (FOLDER / folder).glob("*.toml")))


def nands() -> tuple[str, ...]:
    """The names of the dies, in alphabetical order."""
    return _names("nand")


def controllers() -> tuple[str, ...]:
    """The names of the controllers, in alphabetical order."""
    return _names("controllers")


def computers() -> tuple[str, ...]:
    """The names of the computers, in alphabetical order."""
    return _names("computers")


def nand(name: str) -> Nand:
    """A die by its name, the beginning of it, or its maker and model (`Micron B47R`), where only one has them.

    Raises:
        PslcError: there is none of that name, or several.
    """
    return _nand(_full_name("NAND die", name, nands()))


def controller(name: str) -> Controller:
    """A controller by its name, the beginning of it, or its maker and model (`Phison E18`), where only one has them.

    Raises:
        PslcError: there is none of that name, or several.
    """
    return _controller(_full_name("controller", name, controllers()))


@functools.cache
def computer(name: str) -> Computer:
    """A computer by its whole name.

    Raises:
        PslcError: there is none of that name.
    """
    if name not in computers():
        meant = closest_match(name, computers())
        listed = f"one of {', '.join(computers())}, or none"
        raise ProfileError(f"no computer is named {name}", f"did you mean {meant}?" if meant else listed)
    return read_computer(FOLDER / "computers" / f"{name}.toml")


@functools.cache
def published_nand(name: str) -> Nand:
    """A die as its part file has it, without what drives tell of it."""
    return read_nand(FOLDER / "nand" / f"{name}.toml")


@functools.cache
def published_controller(name: str) -> Controller:
    """A controller as its part file has it, without what drives tell of it."""
    return read_controller(FOLDER / "controllers" / f"{name}.toml")


@functools.cache
def _nand(name: str) -> Nand:
    return constants.with_times(published_nand(name))


@functools.cache
def _controller(name: str) -> Controller:
    return constants.with_ceilings(published_controller(name))


def _published(name: str) -> Nand | Controller:
    return published_nand(name) if name in nands() else published_controller(name)


def _full_name(what: str, name: str, names: tuple[str, ...]) -> str:
    if name in names:
        return name
    matches = [each for each in names if each.startswith(name)]
    if len(matches) != 1 and name:
        matches = matches or naming.matching(name, [_published(each) for each in names if each not in computers()])
    if len(matches) == 1:
        return matches[0]
    if matches and name:
        raise ProfileError(f"{len(matches)} {what}s match {name}", f"one of {', '.join(matches)}")
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


def part(name: str) -> Nand | Controller | Computer:
    """A die, a controller or a computer by name.

    Raises:
        PslcError: there is none of that name.
    """
    match = _full_name("part", name, nands() + controllers() + computers())
    return _nand(match) if match in nands() else _controller(match) if match in controllers() else computer(match)


def text(of: Nand | Controller | Computer) -> str:
    """The file of a part."""
    folder = {Nand: "nand", Controller: "controllers", Computer: "computers"}[type(of)]
    return (FOLDER / folder / f"{of.name}.toml").read_text(encoding="utf-8")
