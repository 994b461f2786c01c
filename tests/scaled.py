"""Drives of the library, scaled down so that a suite takes seconds: blocks of fewer pages, and all sizes with them."""

import re
import tomllib

from pslc.targets.target import find_target

LARGEST = 40e9
"""Bytes of capacity, about."""
BYTES = {"GB": 10**9, "MB": 10**6, "KB": 10**3, "GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10, "TB": 10**12, "B": 1}


def spec(name: str) -> str:
    """The target of a smaller drive with the geometry, timing and policy of `name`.

    Pages a block, and with them capacity, cache and the time of an erase, are divided alike, so that speeds, the number
    of superblocks and their share of the cache stay.
    """
    target = find_target(f"sim:{name}")
    profile = tomllib.loads(target.profile)
    nand = profile["nand"]
    bits, pages = nand["bits_per_cell"], nand["pages_per_block"]
    smaller = max(round(pages * LARGEST / target.capacity_bytes / bits), 4) * bits
    if smaller >= pages:
        return target.spec
    share = smaller / pages
    overrides = {"nand.pages_per_block": smaller, "capacity": f"{int(target.capacity_bytes * share) // 10**6}MB"}
    for mode in ("slc", "native"):
        time = nand.get(mode, {}).get("erase")
        if time:
            overrides[f"nand.{mode}.erase"] = f"{_nanos(time) * share:.0f}ns"
    cache = profile.get("cache", {})
    for key in ("static", "dynamic", "dynamic_least"):
        if key in cache:
            overrides[f"cache.{key}"] = f"{int(_bytes(cache[key]) * share) // 10**6}MB"
    return f"sim:{name}," + ",".join(f"{key}={value}" for key, value in overrides.items())


def _bytes(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+) ?(\w+)", text).groups()  # type: ignore[union-attr]
    return float(number) * BYTES[unit]


def _nanos(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+) ?(\w+)", text).groups()  # type: ignore[union-attr]
    return float(number) * {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}[unit]
