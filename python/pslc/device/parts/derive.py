"""A whole profile from a die, a controller, a capacity and a cache: each value with how it came about.

What is given wins, and what follows from it follows from what was given: `nand.dies = 32` moves the channels, blocks
and spare along. Units in dotted keys are those of profiles. The derivation itself is Rust's (`crates/ssd/src/parts`),
so that the page in a browser makes the same drives.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TypeVar

from pslc._native import derive_profile, fold_overheads, way_of_folding
from pslc.device.parts.schema import Controller, Nand, Raw

__all__ = ["FOLD_OVERHEADS", "Derived", "derive", "in_order", "way_of_folding"]

Value = TypeVar("Value")
FOLD_OVERHEADS = {(way, cells): factor for way, cells, factor in fold_overheads()}
"""By the way of folding, and by cells: medians of the rows of docs/accuracy/calibration.csv."""


@dataclass(frozen=True)
class Derived:
    """A profile made of parts.

    Attributes:
        values: by dotted key, as a profile writes them.
        how: by dotted key, where each value comes from: the part and its source, a derivation, or assumed.
    """

    values: Mapping[str, Raw]
    how: Mapping[str, str]

    @property
    def text(self) -> str:
        """The profile as TOML, with `[provenance]`."""
        tables: dict[str, list[str]] = {"": []}
        for key, value in self.values.items():
            table, _, name = key.rpartition(".")
            tables.setdefault(table, []).append(f"{name} = {_literal(value)}")
        lines = tables.pop("")
        for table, rows in tables.items():
            lines += ["", f"[{table}]", *rows]
        lines += ["", "[provenance]", *(f'"{key}" = {_literal(note)}' for key, note in self.how.items())]
        return "\n".join(lines) + "\n"


def _literal(value: Raw) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)


def derive(die: Nand, controller: Controller, given: Mapping[str, Raw]) -> Derived:
    """Every key of a profile that is not given. `given` holds `capacity` and whatever else is said, by dotted key.

    Raises:
        ProfileError: there is no capacity, or a given value that others follow from cannot be read.
    """
    question = {"nand": asdict(die), "controller": asdict(controller), "given": dict(given)}
    rows = derive_profile(json.dumps(question))
    return Derived({key: value for key, value, _ in rows}, {key: how for key, _, how in rows})


ORDER = ("", "nand", "nand.slc", "nand.native", "nand.suspend", "controller", "ftl", "cache", "cache.idle")


def in_order(values: Mapping[str, Value]) -> dict[str, Value]:
    """As profiles are read: by table."""

    def place(key: str) -> int:
        table = key.rpartition(".")[0]
        return ORDER.index(table) if table in ORDER else len(ORDER)

    return {key: values[key] for key in sorted(values, key=place)}
