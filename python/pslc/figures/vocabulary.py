"""Words and numbers of pictures in each language: one table, words.toml, whose keys are the English words."""

import os
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from pslc.base import words
from pslc.base.console import short
from pslc.figures.picture import Label, Own, Text
from pslc.figures.style import Language

FILE: Final = Path(__file__).with_name("words.toml")
SHORT_LOCALE: Final = re.compile(r"([a-z]{2})(?:[_.@-]|$)", re.IGNORECASE)


@cache
def table() -> Mapping[str, Any]:
    """Contents of words.toml: `words` and `units` by their English, `decimal` and `thousands` by language."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def of_environment() -> Language:
    """Language of the locale (`LC_ALL`, `LC_MESSAGES`, `LANG`); English where it is none of ours."""
    stated = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    match = SHORT_LOCALE.match(stated)
    return Language(match[1].lower()) if match and match[1].lower() in list(Language) else Language.EN


def say(text: Text, language: Language = Language.EN) -> str:
    """A text in a language; an English word that the table lacks stays as it is."""
    match text:
        case tuple():
            return ", ".join(filter(None, (say(part, language) for part in text)))
        case Label():
            word, value = say(text.word, language), _rounded(text.value, text.unit, language)
            return word.replace("{}", value) if "{}" in word else f"{word} {value}".strip()
        case Own():
            return short(str(text))
    entry = table()["words"].get(text, {})
    return str(entry.get(language, entry.get("en", text)))


def _rounded(value: float, base_unit: str, language: Language) -> str:
    """A quantity in a label; a share without digits that say nothing."""
    return (
        f"{number(f'{100 * value:.4g}', language)} %" if base_unit == "share" else quantity(value, base_unit, language)
    )


def unit(name: str, language: Language = Language.EN) -> str:
    """A unit as it is written in a language: `GB` is `Go` in French."""
    return str(table()["units"].get(name, {}).get(language, name))


def number(digits: str, language: Language = Language.EN) -> str:
    """A number, written as Python writes it with commas, as a language writes it."""
    decimal, thousands = (table()[key][language] for key in ("decimal", "thousands"))
    return digits.translate({ord(","): thousands, ord("."): decimal})


def quantity(value: float, base_unit: str, language: Language = Language.EN) -> str:
    """A value of a base unit as people read it: `6632 MB/s`, `2,62 GB`, `24 min 54 s`."""
    parts = words.parts(value, base_unit)
    return " ".join(f"{number(digits, language)} {unit(name, language)}".strip() for digits, name in parts)
