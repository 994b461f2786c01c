"""Data of the static page: every drive of the library with its profile, its published figures and its knobs.

The page in `web/` takes all of it from here, so that no key, word or unit is typed twice.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TypedDict

from pslc.device import parts, published
from pslc.device.profiles import library
from pslc.device.target import Target, find_target
from pslc.lab import knobs

CELLS = {1: "SLC", 2: "MLC", 3: "TLC", 4: "QLC", 5: "PLC"}
START = {"nand": "bics5-tlc-512g", "controller": "phison-e16", "capacity": "1TB"}
"""Initial values of the form that builds a drive from parts."""


class KnobData(TypedDict):
    """A knob as it stands on a drive.

    Attributes:
        value: as the profile has it.
        stops: values of its slider or words of its list, in order.
        pairs: what each stop sets, keys and values of the profile.
        idle: why turning it changes nothing; empty where it does.
    """

    key: str
    group: str
    label: str
    value: str
    is_slider: bool
    stops: Sequence[str]
    pairs: Mapping[str, Sequence[tuple[str, str]]]
    idle: str


class DriveData(TypedDict):
    """A drive of the library.

    Attributes:
        profile: TOML that stands alone.
        figures: published figures in base units, by name.
    """

    slug: str
    name: str
    capacity_bytes: int
    profile: str
    source: str
    figures: Sequence[Mapping[str, object]]
    provenance: Mapping[str, str]
    knobs: Sequence[KnobData]


def drive(slug: str) -> DriveData:
    """Data of one drive for the static page."""
    target = find_target(f"sim:{slug}")
    figures = [dict(figure) for figure in published.document()["figure"] if figure["drive"] == slug]
    return {
        "slug": slug,
        "name": target.name,
        "capacity_bytes": target.capacity_bytes,
        "profile": target.profile,
        "source": published.document()["source"].get(slug, ""),
        "figures": figures,
        "provenance": dict(target.provenance),
        "knobs": list(_knobs(target)),
    }


def _knobs(target: Target) -> list[KnobData]:
    positions = knobs.positions(target, {}, None)
    groups = {knob.key: group for group, members in knobs.KNOBS.items() for knob in members}
    return [
        {
            "key": key,
            "group": groups[key],
            "label": position.knob.label,
            "value": position.base,
            "is_slider": position.knob.stops is not None,
            "stops": list(position.stops),
            "pairs": {stop: [*position.knob.pairs(stop)] for stop in position.stops},
            "idle": position.idle,
        }
        for key, position in positions.items()
        # A page has no computer of its own around the drive.
        if key != "host" and position.stops
    ]


class PartData(TypedDict):
    """A die or a controller: what a list calls it, and its fields as the native part takes them."""

    label: str
    part: Mapping[str, object]


class PartsData(TypedDict):
    """Dies and controllers by name, and the drive that a form begins with."""

    nands: Mapping[str, PartData]
    controllers: Mapping[str, PartData]
    start: Mapping[str, str]


def all_parts() -> PartsData:
    """Data of every die and controller for the static page."""
    dies = (parts.nand(name) for name in parts.nands())
    chips = (parts.controller(name) for name in parts.controllers())
    return {
        "nands": {
            die.name: {
                "label": f"{die.maker} {die.generation}, {CELLS[die.bits_per_cell]} {die.bytes // 2**27} Gb",
                "part": asdict(die),
            }
            for die in dies
        },
        "controllers": {
            chip.name: {"label": f"{chip.maker} {chip.model}, {chip.link}", "part": asdict(chip)} for chip in chips
        },
        "start": START,
    }


def page_data() -> str:
    """Data of the static page, as JSON."""
    document = {"drives": [drive(slug) for slug in library()], "parts": all_parts()}
    return json.dumps(document, separators=(",", ":"))


if __name__ == "__main__":
    print(page_data())
