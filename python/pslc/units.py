"""Sizes as users give them: with a unit, GB = 10^9, GiB = 2^30."""

import re
from typing import Final

from pslc.errors import refusal

UNITS: Final = {
    "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip


def size(text: str, option: str) -> int:
    """Bytes of `20GB` or `1.5GiB`.

    Raises:
        PslcError: there is no unit, or no such number.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)", text.strip())
    if match is None or match[2] not in UNITS:
        raise refusal(f'{option} is "{text}"', f"a number with a unit, such as 20GB or 20GiB ({', '.join(UNITS)})")
    return int(float(match[1]) * UNITS[match[2]])
