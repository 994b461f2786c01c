"""Numbers with units, clocks and dates within a text."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from pslc.base.columns import MAX_CELL, SIZES, SPEEDS, TIMES, moment

NUMBER: Final = (
    r"(?<![\w.,])(?:nan(?!\w)|[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?)(?![.,]?\d))"
)
SIZE: Final = r"[kKMGT]?i?B|[kKMGT]i|[bB]ytes?|octets?"
DATE: Final = r"(?:\d{4}[-/]\d\d[-/]\d\d|\d{1,2}[/.]\d{1,2}[/.]\d{2,4})[ T,-]+"
CLOCK: Final = rf"\d{{1,2}}:\d\d(?::\d\d)?(?:\.\d+|,\d{{3}}(?!\d|\s?(?:{SIZE})))?"
FIELD: Final = re.compile(
    rf"(?P<date>{DATE}{CLOCK}(?:Z|[+-]\d\d:?\d\d)?)|(?P<clock>(?<![\w:]){CLOCK}(?![\w:]))"
    rf"|(?P<number>{NUMBER})(?:\s{{0,8}}(?P<speed>(?:{SIZE}|[kMG]?bits?)(?:/s(?:ec)?|ps))(?!\w)|\s?(?P<size>{SIZE})(?!\w|/(?!\d))"
    r"|\s?(?P<time>[num]?s|[µμ]s|[num]?sec(?:s|onds?)?)(?![\w/])|(?P<percent>\s?%)|(?P<bare>[iu]?)(?!\w))"
)
"""A date with its clock, a clock, or a number with its unit behind it."""
TIME_NAMES: Final = {
    "µs": "us", "μs": "us", "secs": "s", "second": "s", "nsec": "ns", "usec": "us", "msec": "ms",
}  # fmt: skip
"""Units of time as `pslc.base.columns` lists them."""
Kind = Literal["date", "clock", "speed", "size", "time", "percent", "bare"]
KINDS: Final[tuple[Kind, ...]] = ("date", "clock", "speed", "size", "time", "percent", "bare")
SCALES: Final[dict[str, dict[str, float]]] = {"speed": SPEEDS, "size": SIZES, "time": TIMES}


@dataclass(frozen=True)
class Field:
    """A number of a text with its unit, or a time.

    Attributes:
        kind: by its unit.
        text: as it stands there.
        value: in base units.
        digit: what one of its last digit is worth.
        unit: as it stands there; empty: none.
        end: place in the text where it ends.
        before: text between it and the number before.
    """

    kind: Kind
    text: str
    value: float
    digit: float
    unit: str
    end: int
    before: str


def kind(cell: str) -> str:
    """Kind of the unit of a cell that holds one number and nothing else: `speed`, `size` or `time`; empty: another."""
    match = FIELD.fullmatch(cell.strip())
    return next((name for name in SCALES if match[name]), "") if match else ""


def fields(text: str) -> list[Field]:
    """The numbers of a text, from left to right."""
    numbers: list[Field] = []
    for match in FIELD.finditer(text):
        numbers.append(_field(match, text[numbers[-1].end if numbers else 0 : match.start()]))
    return numbers


def _field(match: re.Match[str], before: str) -> Field:
    kind = next(name for name in KINDS if match[name] is not None)
    if kind in ("date", "clock"):
        return Field(kind, match[0], moment(match[0]), 1.0, "", match.end(), before)
    unit = match[kind].strip()
    scale = SCALES.get(kind, {}).get(_plain(unit), 1.0)
    word = match["number"]
    word = word.replace(",", "") if re.match(r"\d{1,3},\d{3}(?:[,.]|$)", word) and "," in word else word
    word = word.replace(",", ".")
    digits = len(word.partition("e")[0].partition(".")[2])
    value = min(float(word), MAX_CELL)
    return Field(kind, match["number"], value * scale, scale / 10.0**digits, unit, match.end(), before)


def _plain(unit: str) -> str:
    """A unit as `pslc.base.columns` lists it: `mb/s` of `MB/sec`, `kib` of `Ki`."""
    low = unit.lower().replace("octet", "byte").replace("bytes", "b").replace("byte", "b").replace("bits", "bit")
    low = f"{low[:-2]}/s" if low.endswith("ps") else low.replace("/sec", "/s")
    return f"{low}b" if low.endswith("i") else TIME_NAMES.get(low, low)
