"""Parts by the names that reviews and tools have for them: `Phison PS5018-E18`, `B47R`, `Samsung Pascal (S4LV008)`."""

import re
from collections.abc import Iterable
from typing import Final

from pslc.device.parts.schema import Controller, Nand

MAKERS: Final = ({"kioxia", "toshiba", "sandisk", "wd"}, {"intel", "solidigm"})
"""Makers that sell their dies under each other's names."""
STEPPING: Final = re.compile(r"(?<=\d)(?:xt|en|a|b)$")
"""Letters that may follow the model of a controller."""


def words(name: str) -> set[str]:
    """The words and numbers of a name, in lower case."""
    return set(re.findall(r"[a-z0-9]+", name.lower()))


def model(chip: Controller) -> str:
    """Model of a controller without the drives that have it; "" where only these are known."""
    return "" if re.match(r"(controller )?of ", chip.model) else chip.model.partition(" (")[0]


def makers(die: Nand) -> set[str]:
    """The maker of a die, and who sells its dies under another name."""
    own = words(die.maker)
    return own.union(*(group for group in MAKERS if group & own))


def matching(name: str, parts: Iterable[Nand | Controller]) -> list[str]:
    """Names of the parts that have each word of a name; what stands in its brackets chooses among several of them."""
    outside = re.sub(r"(\d)[ -]layers?\b", r"\1l", re.sub(r"\(.*?\)", " ", name.lower()))
    asked, within = words(outside), words(name) - words(outside)
    words_of = {part.name: _words_of(part) for part in parts}
    matches = [part for part in words_of if asked and asked <= words_of[part]]
    if not matches:
        asked = {STEPPING.sub("", word) for word in asked}
        matches = [part for part in words_of if asked and asked <= words_of[part]]
    return [part for part in matches if within & words_of[part]] or matches


def _words_of(part: Nand | Controller) -> set[str]:
    own = words(part.name) | words(part.maker)
    if isinstance(part, Nand):
        return own | makers(part) | {f"{part.layers}l"}
    return own | words(model(part))
