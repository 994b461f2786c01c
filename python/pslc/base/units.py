"""Sizes, times and shares as users give them: with a unit, GB = 10^9, GiB = 2^30."""

import re
from datetime import datetime
from fractions import Fraction
from typing import Final

from pslc.base.errors import PslcError, user_error

UNITS: Final = {
    "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip

POWERS_OF_1024: Final = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}
"""Suffixes of numbers in job files and in other programs' output, in small letters."""
SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
NANOSECONDS: Final = {unit: round(1e9 * seconds) for unit, seconds in SECONDS.items()}

MAX_AMOUNT: Final = 2**63 - 1
"""Bytes: the largest offset that a file can have."""


def is_storable(moment: datetime) -> bool:
    """Whether recordings can hold a moment: nanoseconds since 1970, in 64 bits. Others are damaged, or of no clock."""
    return 1970 < moment.year < 2554


def size(text: str, option: str) -> int:
    """Bytes of `20GB` or `1.5GiB`.

    Raises:
        PslcError: there is no unit, or no such number.
    """
    match = re.fullmatch(r"([0-9]{1,99}(?:\.[0-9]{1,99})?)\s*([A-Za-z]+)", text.strip())
    if match is None or match[2] not in UNITS:
        raise user_error(
            f'{option}: "{text}" is not a size', f"a number with a unit, such as 20GB or 20GiB ({', '.join(UNITS)})"
        )
    amount = int(Fraction(match[1]) * UNITS[match[2]])
    if amount > MAX_AMOUNT:
        raise user_error(f'{option}: "{text}" is more than any file can hold', "9223372 TB at most")
    return amount


LANE: Final = {1: 250e6, 2: 500e6, 3: 985e6, 4: 1969e6, 5: 3938e6}
"""Bytes a second that a lane of PCIe carries, by generation, its line code taken off."""
PAYLOAD: Final = 0.9
"""Share of a link's raw speed that is the host's data."""


def link(text: str, option: str) -> float:
    """Bytes a second of the host's data that `sata600`, `pcie3x4` or a speed, `1GB/s`, carries.

    Raises:
        PslcError: it is none of these.
    """
    if match := re.fullmatch(r"pcie([1-5])x(1|2|4|8|16)", text):
        return PAYLOAD * LANE[int(match[1])] * int(match[2])
    if text in ("sata150", "sata300", "sata600"):
        return PAYLOAD * 1e6 * int(text[4:])
    if text.endswith("/s"):
        return float(size(text.removesuffix("/s"), option))
    raise user_error(f'{option}: "{text}" is not a link', "sata600, pcie3x4 or a speed, such as 1GB/s")


TIMES: Final = {unit: seconds for unit, seconds in SECONDS.items() if unit != "ns"}
"""Units of a time that users give."""


def seconds(text: str, option: str) -> float:
    """Seconds of `500ms` or `5min`.

    Raises:
        PslcError: there is no unit, or no such number.
    """
    return _quantity(text, TIMES, f'{option}: "{text}" is not a time', "30s or 5min")


def _quantity(text: str, units: dict[str, float], problem: str, example: str) -> float:
    match = re.fullmatch(r"([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*([A-Za-z]+)", text.strip())
    if match is None or match[2] not in units:
        raise user_error(problem, f"a number with a unit, such as {example} ({', '.join(units)})")
    return float(match[1]) * units[match[2]]


def percent(text: str, option: str) -> int:
    """50 of `50%`.

    Raises:
        PslcError: it is no whole percentage up to 100%.
    """
    match = re.fullmatch(r"([0-9]{1,3})\s*%", text.strip())
    if match is None or int(match[1]) > 100:
        raise user_error(f'{option}: "{text}" is not a share', "a whole percentage up to 100%, such as 50%")
    return int(match[1])


def region(text: str, option: str) -> tuple[int, int]:
    """Bytes from and to of `10GB-50GB`, or of `40GB`, which begins at 0.

    Raises:
        PslcError: it is neither.
    """
    first, dash, last = text.partition("-")
    try:
        ends = (size(first, option), size(last, option)) if dash else (0, size(first, option))
    except PslcError as error:
        raise user_error(f"{option}: {text} is not a range of sizes", "for example: 10GB-50GB") from error
    if ends[0] >= ends[1]:
        raise user_error(f"{option}: {text} ends before it begins", "give the smaller size first: 10GB-50GB")
    return ends


POWERS: Final = {"mW": 1e-3, "W": 1.0}


def watts(text: str, option: str) -> float:
    """Watts of `60mW` or `2.5W`.

    Raises:
        PslcError: there is no unit, or no such number.
    """
    return _quantity(text, POWERS, f'{option}: "{text}" is not a power', "60mW")
