"""How often the intervals of suites hold what simulated drives hide: `make bench NAME=intervals`, a table.

Each drive has a policy, a cache, a threshold, a rate, a residue and a write buffer of its own. Every value with an
interval that a key of the drive decides is held against that key.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

import pslc
from benches.small import PROFILE, Hidden, random_idle
from pslc.base import files, units
from pslc.device.region import Scope

DRIVES: Final = 60
MIN_COVERAGE: Final = 0.85
"""Share of the intervals that hold, below which they promise too much."""
SUPERBLOCK_BYTES: Final = 4 * 2 * 32 * 16384
"""Of the small drive in pSLC: dies, planes, pages of a block at one bit, bytes of a page."""
TABLE: Final = Path("docs/accuracy/intervals.md")


@dataclass(frozen=True)
class Truth:
    """What a drive hides: bytes of its cache and of its write buffer, and how it recovers."""

    cache_bytes: float
    buffer_bytes: float
    idle: Hidden


def _cliff_bytes(truth: Truth, findings: Mapping[str, Any]) -> float:
    """Bytes of a fill before its cliff: beyond a full cache the buffer takes what is faster than the cells."""
    fast, slow = (phase["bytes_per_s"] for phase in findings["phases"][:2])
    return float(truth.cache_bytes + truth.buffer_bytes / (1 - slow / fast))


TRUTHS: Final[Mapping[tuple[str, str], Callable[[Truth, Mapping[str, Any]], float]]] = {
    ("burst", "buffer_bytes"): lambda truth, _: truth.buffer_bytes,
    ("fill", "cache_bytes"): _cliff_bytes,
    ("recovery", "idle_threshold_s"): lambda truth, _: truth.idle.threshold_s,
    ("recovery", "migration_bytes_per_s"): lambda truth, _: truth.idle.rate_bytes_per_s,
    ("recovery", "residue_bytes"): lambda truth, _: truth.idle.residue_bytes,
}
"""Suite, value with an interval, and what is true of it."""


@dataclass(frozen=True)
class Row:
    """An interval and the truth; `high` is None where only a least value was given.

    Attributes:
        label: seed and keys of the drive.
    """

    suite: str
    key: str
    label: str
    truth: float
    value: float | None
    low: float
    high: float | None

    @property
    def holds(self) -> bool:
        """Whether the truth lies inside; a cache is so many whole superblocks, whatever its key says."""
        grain = SUPERBLOCK_BYTES if self.key == "cache_bytes" else 0.0
        return self.low - grain <= self.truth and (self.high is None or self.truth <= self.high + grain)


def drive(seed: int) -> tuple[dict[str, str], Truth]:
    """Keys of a random small drive, and what they hide."""
    keys, idle = random_idle(seed)
    rng = np.random.default_rng((seed, 1))
    buffer_kib = round(float(np.exp(rng.uniform(np.log(2048), np.log(24576)))))
    keys["controller.write_buffer"] = f"{buffer_kib}KiB"
    sizes = [keys[name] for name in ("cache.static", "cache.dynamic") if name in keys]
    return keys, Truth(sum(units.size(size, "cache") for size in sizes), buffer_kib * 1024, idle)


def rows(seed: int, suites: list[str], *, quick: bool = True) -> list[Row]:
    """Every interval that the suites give of the drive of a seed."""
    keys, truth = drive(seed)
    return [
        row for suite in suites for row in rows_of(suite, f"{seed}: {keys}", findings(keys, suite, quick=quick), truth)
    ]


def findings(keys: Mapping[str, str], suite: str, *, quick: bool) -> dict[str, Any]:
    """Findings of a suite on the small drive with these keys."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "small.toml"
        path.write_text(PROFILE)
        target = ",".join([f"sim:{path}", *(f"{key}={value}" for key, value in keys.items())])
        return dict(pslc.run(suite, on=target, scope=Scope(quick=quick)).findings)


def rows_of_built_in(name: str) -> list[Row]:
    """Intervals of a drive that pslc brings: its buffer, threshold and residue, which the profile states."""
    rows = []
    for suite in ("burst", "recovery"):
        recording = pslc.run(suite, on=f"sim:{name}", scope=Scope(quick=True))
        keys = dict(files.dotted(recording.profile_keys))
        threshold = units.seconds(keys["cache.idle.threshold"], "") if "cache.idle.threshold" in keys else np.inf
        residue = float(units.size(keys.get("cache.idle.residue", "0B"), "residue"))
        truth = Truth(np.nan, recording.facts["write_buffer_bytes"], Hidden(threshold, np.nan, residue))
        rows += [row for row in rows_of(suite, name, recording.findings, truth) if not np.isnan(row.truth)]
    return rows


def gives_nothing_back(truth: Truth, findings: Mapping[str, Any]) -> bool:
    """Whether what the drive keeps fills its cache, so that no pause frees anything."""
    return truth.idle.residue_bytes >= (findings["cache_bytes"] or 0.0)


def rows_of(suite: str, label: str, findings: Mapping[str, Any], truth: Truth) -> list[Row]:
    """Intervals among the findings of a suite."""
    if suite == "recovery" and gives_nothing_back(truth, findings):
        return []
    return [
        Row(suite, key, label, of(truth, findings), findings[key], findings[f"{key}_low"], findings[f"{key}_high"])
        for (name, key), of in TRUTHS.items()
        if name == suite and findings[f"{key}_low"] is not None
    ]


def table(intervals: list[Row]) -> str:
    """A row a value, as Markdown."""
    lines = ["| suite | value | intervals | hold the truth | width over truth (median) |", "|---|---|---:|---:|---:|"]
    for suite, key in TRUTHS:
        of = [row for row in intervals if (row.suite, row.key) == (suite, key)]
        if of:
            held = f"{np.mean([row.holds for row in of]):.0%}"
            widths = [(row.high - row.low) / row.truth for row in of if row.high is not None and row.truth]
            width = f"{np.median(widths):.1%}" if widths else "-"
            lines.append(f"| `{suite}` | `{key}` | {len(of)} | {held} | {width} |")
    return "\n".join(lines) + "\n"


def misses(intervals: list[Row]) -> str:
    """The intervals that do not hold, a line each."""
    return "\n".join(f"{row.suite} {row.key}: {row.truth:.4g} not in {row.low:.4g} to {row.high}; {row.label}"
                     for row in intervals if not row.holds)  # fmt: skip


def main(count: int, first: int, suites: list[str]) -> None:
    """Print the misses as they come, then the table; write it where all suites were asked."""
    intervals: list[Row] = []
    for seed in range(first, first + count):
        of_drive = rows(seed, suites or sorted({suite for suite, _ in TRUTHS}))
        intervals += of_drive
        print(misses(of_drive) or f"{seed}: all hold", file=sys.stderr, flush=True)
    command = f'make bench NAME=intervals ARGS="{count} --first {first}"'
    head = f"Small simulated drives with hidden values, {count} of them, `--quick` (`{command}`):\n\n"
    text = head + table(intervals)
    if not suites:
        built_in = []
        for path in sorted(Path("python/pslc/drives").glob("*.toml")):
            built_in += (of_drive := rows_of_built_in(path.stem))
            print(misses(of_drive) or f"{path.stem}: all hold", file=sys.stderr, flush=True)
        text += f"\nThe drives that pslc brings, held against what their profiles state:\n\n{table(built_in)}"
        TABLE.write_text(text)
    print(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("n", type=int, nargs="?", default=DRIVES)
    parser.add_argument("suites", nargs="*", help="Default: all that give intervals.")
    parser.add_argument("--first", type=int, default=0, help="Seed.")
    arguments = parser.parse_args()
    main(arguments.n, arguments.first, arguments.suites)
