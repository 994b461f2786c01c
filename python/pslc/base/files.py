"""TOML texts, and the keys in them."""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

Json = dict[str, Any]
"""An object of somebody's JSON: whoever takes a value of it finds out what it is."""
MOST_PARTS: Final = 200
"""Dots in a row, with nothing but words between them, that a TOML text may have: the time of tomllib grows with the
square of a key's parts, to 15 s in 200 kB."""


def toml(text: str) -> dict[str, object]:
    """Parse a TOML text.

    Raises:
        TOMLDecodeError: the text is not TOML, or is nested too deeply.
    """
    if max(run.count(".") for run in re.split(r"[^\w\-\"' .]", text)) > MOST_PARTS:
        raise tomllib.TOMLDecodeError(f"a key has more than {MOST_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("values are nested too deeply") from None


@lru_cache(maxsize=64)
def keys(text: str) -> Mapping[str, Any]:
    """Keys of a TOML text with dots, and their values. Cached: a run reads a profile five times, 0.5 ms each.

    Raises:
        TOMLDecodeError: as of `toml`.
    """
    return MappingProxyType(dict(dotted(toml(text))))


def dotted(table: Mapping[str, object], before: str = "") -> list[tuple[str, Any]]:
    """Keys with dots, however their tables were written, and their values, whatever these are."""
    pairs: list[tuple[str, Any]] = []
    for key, value in table.items():
        pairs += dotted(value, f"{before}{key}.") if isinstance(value, Mapping) else [(f"{before}{key}", value)]
    return pairs
