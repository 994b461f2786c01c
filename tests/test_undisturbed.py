"""No suite disturbs what it measures: a cache as large as what the suite lays out gives what a larger one gives."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import pslc
from pslc.device.region import Scope

GIB = 1 << 30
Findings = Mapping[str, Any]


def row(name: str, key: str, value: str, figure: str) -> Callable[[Findings], float]:
    """A figure of the row of a table in which `key` is `value`."""
    return lambda findings: next(row[figure] for row in findings[name] if row[key] == value)


LAID_OUT: dict[str, tuple[float, Callable[[Findings], float]]] = {
    "apps": (40 * GIB, row("apps", "app", "game-install", "bytes_per_s")),
    "as-ssd": (1e9, row("as_ssd", "test", "Seq", "write_bytes_per_s")),
    "atto": (2.56e8, row("atto", "test", "2 MiB", "write_bytes_per_s")),
    "cdm": (2.9e9, row("cdm", "test", "SEQ1M Q8T1", "write_bytes_per_s")),
    "copy": (2 * 6.25e9, row("copy", "files", "iso", "bytes_per_s")),
    "hdtune": (4e9, lambda findings: findings["fell"]["before_bytes_per_s"]),
    "mixed": (8 * GIB, row("mixed", "state", "writing", "load_bytes_per_s")),
    "niobench": (8.4e8, row("niobench", "scenario", "series", "max_bytes_per_s")),
    "power": (8e9, row("power", "state", "write-cache", "bytes_per_s")),
    "qd-sweep": (8 * GIB, lambda findings: findings["write_most_iops"]),
    "sustained": (4e9, lambda findings: findings["phases"][0]["bytes_per_s"]),
}
"""Bytes that a suite lays out, or writes in the row itself where that is more, and what it then finds."""

SUPERBLOCK_BYTES = 32 * 2 * 384 * 16384
"""Of the drive at one bit a cell. A cache has whole ones, and two at least: one that is written to is not freed."""

QUICKLY = ("atto", "cdm", "copy", "hdtune", "mixed", "power", "sustained")
"""Suites whose short form lays out as much."""


@pytest.mark.parametrize("name", LAID_OUT)
def test_a_cache_as_large_as_the_lay_out_of_a_suite_is_free_when_it_measures(name):
    laid_out, figure = LAID_OUT[name]

    def found(cache_bytes: float) -> float:
        size = f"{max(math.ceil(cache_bytes / SUPERBLOCK_BYTES), 2) * SUPERBLOCK_BYTES}B"
        keys = f"cache.dynamic={size},cache.dynamic_least={size},cache.idle.rate=100MB/s,computer=none"
        return figure(pslc.run(name, on=f"sim:sn850-1tb,{keys}", scope=Scope(quick=name in QUICKLY)).findings)

    assert found(1.05 * laid_out) == pytest.approx(found(3 * laid_out), rel=0.03)
