"""Texts of the user's: job files, profiles, tolerances, recordings."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pslc.errors import refusal

Json = dict[str, Any]
"""An object of somebody's JSON: whoever takes a value of it finds out what it is."""
MOST_BYTES: Final = 16_000_000
MOST_PARTS: Final = 200
"""Dots in a row, with nothing but words between them, that a TOML text may have: the time of tomllib grows with the
square of a key's parts, to 15 s in 200 kB."""


def text(path: Path, what: str) -> str:
    """The text of a file.

    Args:
        what: what it should be, for the hint: "a profile is a TOML file".

    Raises:
        PslcError: it cannot be read, is no regular file (a device or a pipe may never end), is longer than
            `MOST_BYTES`, or is no UTF-8.
    """
    try:
        if path.exists() and not path.is_file():
            raise refusal(f"{path} is a {'folder' if path.is_dir() else 'device or a pipe'}", what)
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise refusal(f"{path} has {size} bytes; at most {MOST_BYTES}", what)
        # Some files of the kernel's say that they have 0 bytes.
        with path.open("rb") as file:
            return file.read(MOST_BYTES).decode("utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a text file"
        raise refusal(f"{path}: {why}", what) from None


def toml(text: str) -> dict[str, object]:
    """What a TOML text says.

    Raises:
        TOMLDecodeError: it is none, or is nested beyond all use.
    """
    if max(run.count(".") for run in re.split(r"[^\w\-\"' .]", text)) > MOST_PARTS:
        raise tomllib.TOMLDecodeError(f"a key has more than {MOST_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("values are nested too deeply") from None


def dotted(table: Mapping[str, object], before: str = "") -> list[tuple[str, Any]]:
    """Keys with dots, however their tables were written, and their values, whatever these are."""
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        found += dotted(value, f"{before}{key}.") if isinstance(value, Mapping) else [(f"{before}{key}", value)]
    return found
