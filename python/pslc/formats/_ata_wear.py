"""Wear of an ATA drive by its attributes: which way each of them counts, and what else the drive counts that
contradicts it. Names and numbers are those of smartmontools' table of drives (drivedb.h of 2026-08-19)."""

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from pslc.base import words


class Attribute(NamedTuple):
    """An attribute: its number and name, the normalized value (None: not told), and the raw one."""

    number: int
    name: str
    value: int | None
    raw: int


WEAR: Final[tuple[tuple[int | None, str, Literal["value", "raw"], Literal["used", "left"]], ...]] = (
    # WD's and SanDisk's; 233 of Intel's has the same name, and falls.
    (230, r"media_wearout_indicator", "value", "used"),
    # SandForce, Micron, Crucial's older ones, ATP, SanDisk's for embedded use, XITC, SMART Modular.
    (None, r".*(?:percent|perc)\w*(?:life\w*|endurance)_?used|percentage_used|drive_?life_used%", "raw", "used"),
    # Samsung's 177, and 173 of Micron, SK hynix and STEC, whose raw values are erases.
    (None, r"wear_leveling_count|media_wearout_indicator|.*end_of_life", "value", "left"),
    # 169, 177, 201, 202, 209, 231, 233, 245 and 248 of Crucial, Kingston, Phison, Silicon Motion, Innodisk, Indilinx,
    # Intel, Seagate, SK hynix, Swissbit and others.
    (None, r".*(?:life|lifetime)_?(?:left|remain).*|.*remaining_life.*|.*endurance_remaining.*", "value", "left"),
    (None, r".*(?:percent|perc|remaining)\w*life\w*remain.*", "value", "left"),
)
"""Attributes that tell wear: number (None: any) and name, the value to take, and what it is a percentage of."""
HAS_RAW_LEFT: Final = re.compile(r"life|remain", re.IGNORECASE)
MIN_RAW_LEFT: Final = 10
"""Smallest raw value that is the share of the life that is left, where the normalized value stays at 100 or 0; others
have the share that is used there."""
ERASES: Final = re.compile(r"av(?:era)?g?e?_.*(?:erase|pe_c)", re.IGNORECASE)
"""Names of attributes whose raw value is how often blocks were erased, on average."""
MIN_CYCLES: Final = 200
"""Fewest erases that use a whole life: no drive is rated for fewer fills (Intel's 660p: 200 TB for 1 TB)."""
MAX_AMPLIFICATION: Final = 10.0
"""Bytes that cells take for each byte of the host, at the most that is believed here."""
MIN_DOUBTED: Final = 20
"""Percent of the life below which a value of wear is not doubted."""
MAX_BYTES_PER_HOUR: Final = 1e12
"""Most bytes that a drive in use is believed to write in an hour."""


def used_by(attribute: Attribute, zeroes: int = 0) -> int | None:
    """Percent of the life that is used, as an attribute tells it; None where it tells no wear.

    Args:
        zeroes: other attributes whose normalized value is 0, as where a drive leaves most of them out.
    """
    number, name, value, raw = attribute
    rows = (row for row in WEAR if row[0] in (None, number) and re.fullmatch(row[1], name, re.IGNORECASE))
    match next(rows, None):
        case (_, _, "raw", "used") if raw <= 255:
            return raw
        case (_, _, "value", "used") if value is not None and value <= 100:
            return value
        case (_, _, "value", "left") if (left := _percent_left(name, value, raw, zeroes)) is not None:
            return 100 - left
    return None


def _percent_left(name: str, value: int | None, raw: int, zeroes: int) -> int | None:
    """Percent of the life that is left by a normalized value, or by the raw one where that does not change."""
    has_raw = HAS_RAW_LEFT.search(name) is not None
    if value in (0, 100) and has_raw and MIN_RAW_LEFT < raw <= 100:
        return raw
    is_left_out = value == 0 and zeroes > 0 and not (has_raw and raw == 0)
    return None if value is None or value > 100 or is_left_out else value


def average_erases(attributes: Sequence[Attribute]) -> int | None:
    """Erases of a block, on average; None where no attribute counts them."""
    return max((raw for _, name, _, raw in attributes if ERASES.match(name)), default=None)


def wear(
    attributes: Sequence[Attribute], written: float | None, hours: int | None, capacity: int
) -> tuple[int | None, str]:
    """Percent of the life that is used by the first attribute that nothing contradicts, and a sentence on a value that
    is contradicted; None and no sentence where there are none.

    Args:
        written: bytes that the host has written; None: not told.
        capacity: in bytes; 0: not told.
    """
    zeroes = sum(attribute.value == 0 and used_by(attribute) is None for attribute in attributes)
    values = [(attribute.name, used) for attribute in attributes if (used := used_by(attribute, zeroes)) is not None]
    most_used, why = _most_used(average_erases(attributes), written, hours, capacity)
    # Some of WD's firmware counts 230 up from 0, some down from 100.
    unclear = ("Media_Wearout_Indicator", 100) if any(attribute.number == 230 for attribute in attributes) else None
    doubted = [value for value in values if value[1] > max(most_used, MIN_DOUBTED) or value == unclear]
    used = next((used for name, used in values if (name, used) not in doubted), None)
    if not doubted:
        return used, ""
    name, wrong = doubted[0]
    reason = f"{why}, which uses at most {most_used:.0f} %" if wrong > most_used else "firmware differs in that"
    return used, (
        f"{name} says that {wrong} % of its life are used, or {max(100 - wrong, 0)} % if it counts the other way, but "
        f"{reason}: that value is left out, and no reason to replace the drive"
    )


def _most_used(erases: int | None, written: float | None, hours: int | None, capacity: int) -> tuple[float, str]:
    """Most percent of a life that counters of a drive allow, and the counter in words; endless where none tells."""
    bounds: list[tuple[float, str]] = []
    if erases is not None:
        bounds.append((erases / MIN_CYCLES, f"its blocks were erased {erases} times on average"))
    fills = MAX_AMPLIFICATION / capacity / MIN_CYCLES if capacity else 0.0
    if fills and written is not None:
        bounds.append((written * fills, f"{words.size(written)} were written to {words.size(capacity)}"))
    elif fills and hours is not None:
        bounds.append((hours * MAX_BYTES_PER_HOUR * fills, f"it has run for {words.count(hours)} h"))
    share, why = min(bounds, default=(float("inf"), ""))
    return 100 * share, why
