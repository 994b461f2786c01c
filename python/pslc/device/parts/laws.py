"""Speeds of the phases of a fill in closed form, from the constants of parts: what forecasts and their fit stand on.

    first    link, controller, or all dies at one bit a cell; with one write at a time, its own time
    second   native cells directly, folding beside, or the cache over and over
    third    folding, once the space for direct writes has ended

docs/model.md has the laws; fills of the simulated drives are within 6 % of them (ACCURACY.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pslc.device.parts.constants import WAYS

Floats = NDArray[np.float64]
MIB = 2**20
SHARPNESS = 12
"""Exponent of the smooth minimum of limits: two that are equal give 6 % less than either."""

SLOW_FOLD_S_PER_BYTE = 1 / 90e6
"""Time of a byte that slow firmware folds in the foreground, however many dies it has: published are 20 to 240 MB/s."""


@dataclass(frozen=True)
class Drive:
    """Geometry and load of a drive, as far as the laws need it; sizes in bytes.

    Attributes:
        page_bytes: of a page on all planes of a die.
        static, dynamic: parts of the cache; of draws an array.
        is_single: the host writes 1 MiB at a time and waits for it.
    """

    link_bytes_per_s: float
    dies: int
    bits: int
    page_bytes: int
    capacity: float
    static: float | Floats = 0.0
    dynamic: float | Floats = 0.0
    is_single: bool = False

    @property
    def cache(self) -> float:
        """Both parts, in the median."""
        return float(np.median(self.static + self.dynamic))


@dataclass(frozen=True)
class Speeds:
    """Bytes/s of the phases and of the whole fill."""

    first: Floats
    second: Floats
    third: Floats
    mean: Floats


def smooth_min(*limits: Floats | float) -> Floats:
    """The smooth minimum."""
    total = sum(np.asarray(limit, dtype=float) ** -SHARPNESS for limit in limits)
    return np.asarray(total ** (-1 / SHARPNESS))


def native_rate(drive: Drive, value: Mapping[str, Floats] | Mapping[str, float]) -> Floats:
    """Bytes/s that dies and data path take into native cells."""
    cells = drive.dies * drive.page_bytes * drive.bits * 1e9 / value["native_program"]
    return smooth_min(value["native_write"], cells)


def folded_share(drive: Drive) -> Floats:
    """Bytes folded for each that is written past the cache."""
    # A superblock of a dynamic cache makes room for 1/n of a native one, so n/(n-1) bytes are folded for each.
    return np.where(np.asarray(drive.dynamic) > drive.static, drive.bits / (drive.bits - 1), 1.0)


def direct_end(drive: Drive) -> Floats:
    """Bytes after which no native space is left beside the cache."""
    cache = np.asarray(drive.static + drive.dynamic)
    return np.asarray(np.maximum(cache, drive.capacity - (drive.bits - 1) * np.asarray(drive.dynamic)))


def slow_overhead(drive: Drive, value: Mapping[str, Floats] | Mapping[str, float], factor: float) -> float:
    """Fold overhead of a profile that folds at the pace of slow firmware; `factor` as the table has it."""
    # As long as native space is left, a byte is folded for each that is written.
    full = float((drive.capacity - direct_end(drive)) / (drive.capacity - drive.cache))
    share = 1 + full * (float(folded_share(drive)) - 1)
    return factor * SLOW_FOLD_S_PER_BYTE * float(native_rate(drive, value)) / share


def speeds(drive: Drive, way: str, logs: Mapping[str, Floats]) -> Speeds:
    """Speeds under a way of folding; `logs` are logarithms of the constants, in bytes/s and ns. No cache: way ""."""
    value = {name: np.exp(log) for name, log in logs.items()}
    slc = smooth_min(
        drive.link_bytes_per_s, value["slc_write"], drive.dies * drive.page_bytes * 1e9 / value["slc_program"]
    )
    native = native_rate(drive, value)
    direct = smooth_min(drive.link_bytes_per_s, native)
    copy_time = value["copy_time"] / 1e9

    single = 1 / (1 / drive.link_bytes_per_s + copy_time / MIB)

    def by_load(rate: Floats) -> Floats:
        return smooth_min(rate, single) if drive.is_single else rate

    if not drive.cache:
        flat = by_load(direct)
        return Speeds(flat, flat, flat, flat)
    first, cost, cache = by_load(slc), value["folding"], np.asarray(drive.static + drive.dynamic)
    end = direct_end(drive)
    if way == WAYS[0]:
        second, third = direct, smooth_min(drive.link_bytes_per_s, native / (1 + cost))
    elif way == WAYS[1]:
        second = third = smooth_min(drive.link_bytes_per_s, native / (1 + cost))
    elif way == WAYS[-1]:
        second = third = 1 / (1 / slc + cost * SLOW_FOLD_S_PER_BYTE)
    else:
        second = third = 1 / (1 / slc + folded_share(drive) * cost * (drive.bits - 1) / native)
    mean = drive.capacity / (cache / first + (end - cache) / second + (drive.capacity - end) / third)
    return Speeds(first, second, third, mean)
