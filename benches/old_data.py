"""How often a read over the address is explained rightly: `python -m benches.old_data 61`, the seed.

Sixty drawn reads as CSV, read as `pslc analyze` does: 20 with old data in files of many sizes and ages, 20 of fresh
flash, 10 of hard disks, 10 of something else.
"""

import math
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from pslc.analysis.series import Floats
from pslc.formats import read
from pslc.formats._findings import analyzed
from pslc.schema.imports import ImportOptions

Rng = np.random.Generator
LEVELS: Final = (530e6, 545e6, 410e6, 900e6, 1700e6, 2600e6, 3400e6, 6500e6)


def old(rng: Rng, rows: int) -> Floats:
    """Files one behind the other, each of an age; old ones take several tries, which scatter from block to block."""
    tries = np.ones(rows)
    at, retention, growth = 0, rng.uniform(2, 10), rng.uniform(1.03, 1.4)
    while at < rows:
        size = max(1, round(rows * rng.lognormal(math.log(0.06), 1.0)))
        weeks = rng.choice([0.0, rng.exponential(20)], p=[0.5, 0.5])
        count = 0 if weeks < retention else min(1 + math.log(weeks / retention) / math.log(growth), rng.uniform(6, 16))
        tries[at : at + size] = 1 + np.maximum(count * rng.normal(1, 0.15, tries[at : at + size].size), 0)
        at += size
    return float(rng.choice(LEVELS)) / (rng.uniform(0.3, 1.0) * (tries - 1) + 1)


def fresh(rng: Rng, rows: int) -> Floats:
    """One level, with what fresh drives show: a slow start, stalls, a faster end that holds nothing, faster cells."""
    speed = np.full(rows, rng.choice(LEVELS))
    match rng.integers(5):
        case 0:
            speed[: max(1, rows // 80)] *= rng.uniform(0.3, 0.9)
        case 1:
            speed[rng.integers(0, rows, 1 + rows // 150)] *= rng.uniform(0.2, 0.8)
        case 2:
            speed[int(rows * rng.uniform(0.3, 0.95)) :] *= rng.uniform(1.02, 1.6)
        case 3:
            begin = int(rows * rng.uniform(0, 0.8))
            speed[begin : begin + int(rows * rng.uniform(0.02, 0.2))] *= rng.uniform(1.05, 1.35)
    return speed


def disk(rng: Rng, rows: int) -> Floats:
    """Zones of platters; some with sectors that were moved, or beside a host that seeks."""
    zones = np.sort(rng.uniform(0, 1, rng.integers(8, 30)))
    outer, inner = rng.uniform(60e6, 285e6), rng.uniform(0.4, 0.62)
    zone = np.searchsorted(zones, np.linspace(0, 1, rows)) / zones.size
    speed: Floats = outer * np.sqrt(1 - (1 - inner**2) * zone)
    if rng.random() < 0.4:
        speed[rng.integers(0, rows, 1 + rows // 60)] *= rng.uniform(0.2, 0.7)
    return speed


def other(rng: Rng, rows: int) -> Floats:
    """Memory, a network, heat that comes and goes, a backup beside it, a slow port, or fragments."""
    speed, x = np.full(rows, rng.choice(LEVELS[:6])), np.arange(rows)
    begin, end = sorted(rng.integers(rows // 20, rows, 2))
    match rng.integers(6):
        case 0:
            speed[: max(end, 2)] = rng.uniform(6e9, 15e9)
        case 1:
            speed = 116e6 * np.exp(np.minimum(np.cumsum(rng.normal(0, 0.05, rows)), 0).clip(-1.2))
        case 2:
            speed[(x > begin) & ((x - begin) % max(rows // 12, 2) > rows // 24)] *= rng.uniform(0.4, 0.7)
        case 3:
            speed[begin:end] *= rng.uniform(0.3, 0.7, end - begin)
        case 4:
            speed[:] = rng.uniform(34e6, 44e6)
        case 5:
            speed[begin:end] *= rng.uniform(0.35, 0.7)
    return speed


KINDS: Final[dict[str, tuple[int, Callable[[Rng, int], Floats]]]] = {
    "old data": (20, old), "fresh flash": (20, fresh), "hard disk": (10, disk), "other": (10, other),
}  # fmt: skip


def main(seed: int) -> None:
    """Print a line a read, then the table."""
    rng, table = np.random.default_rng(seed), Counter[tuple[str, str]]()
    for kind, (count, draw) in KINDS.items():
        for number in range(count):
            rows, capacity_gb = int(rng.choice([60, 120, 250, 500, 1000])), rng.choice([120, 250, 500, 1000, 2000])
            speed = draw(rng, rows)
            speed *= np.exp(rng.normal(0, rng.choice([0.005, 0.02, 0.06]), rows))
            at = np.linspace(0, capacity_gb, rows + 1)[1:]
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "read.csv")
                lines = [f"{a:.3f},{s / 1e6:.1f}" for a, s in zip(at, speed, strict=True)]
                path.write_text("\n".join(["Position (GB),Read (MB/s)", *lines, ""]))
                explanation = analyzed(read([path], ImportOptions())).get("read_explanation")
            assert explanation is not None
            best = explanation["likely"][0]
            verdict = best["explanation"] if best["confidence"] >= 0.5 else "not sure"
            table[kind, verdict] += 1
            slow = float((speed < 0.8 * np.quantile(speed, 0.95)).mean())
            likely = [(each["explanation"], each["confidence"]) for each in explanation["likely"][:3]]
            print(f"{kind} {number}: {rows} rows, {100 * slow:.0f} % slow: {likely}")
    for (kind, verdict), count in sorted(table.items()):
        print(f"| {kind} | {verdict} | {count} |")


if __name__ == "__main__":
    main(int(sys.argv[1]))
