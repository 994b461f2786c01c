"""Drives made of nothing but their parts and the size of their cache, beside what was published, in ACCURACY.md.

Nothing is tuned to a drive: a row of `drives.csv` names die, controller, capacity and cache, and everything else
follows (`pslc.device.parts`). A figure that a part took its value from is shown, but does not count (column `used`).
What is measured is a fill with the reviewer's load: `copy` is one request of 1 MiB at a time, as techpowerup.com's
page on the cache says of itself, with 50 us of the host's between; `qd32` keeps the drive busy.
"""

import csv
import functools
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import pslc
from pslc.base import units
from pslc.device import parts

FOLDER = Path(__file__).parent
TOOLS: dict[str, tuple[tuple[str, str], ...]] = {"copy": (("iodepth", "1"),), "qd32": ()}
HOST: dict[str, dict[str, str | int | float]] = {
    "copy": {"host.cores": 4, "host.read": "50us", "host.write": "50us"},
    "qd32": {},
}
PLAIN = 0.02
"""Share of a phase left out at either border, where figures published in prose are round."""


@dataclass(frozen=True)
class Figure:
    """One published figure, in bytes or bytes a second; `error` is relative, of an end to the capacity."""

    drive: str
    what: str
    published: float
    simulated: float
    error: float
    used: bool


def rows() -> list[dict[str, str]]:
    """Each drive of the table as it is written."""
    with (FOLDER / "drives.csv").open() as file:
        return list(csv.DictReader(file))


def fill(row: dict[str, str]) -> pslc.Recording:
    """A fill of the drive that a row describes."""
    pairs = (pair.partition("=") for pair in row["cache"].split())
    cache: dict[str, str | int | float] = {name: value for name, _, value in pairs}
    drive = parts.profile(
        nand=row["nand"], controller=row["controller"], capacity=row["capacity"], cache=cache, given=HOST[row["tool"]]
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drive.toml"
        path.write_text(drive.text)
        return pslc.run("fill", on=f"sim:{path}", options=TOOLS[row["tool"]])


def figures(row: dict[str, str]) -> list[Figure]:
    """What was published of a drive, and what comes out."""
    recording = fill(row)
    capacity = float(units.size(row["capacity"], "capacity"))
    cache = float(sum(units.size(pair.partition("=")[2], "cache") for pair in row["cache"].split()))
    written = np.cumsum(recording.bytes["write_bytes"]).astype(float)
    times = np.diff(recording.bytes["end_ns"].astype(float), prepend=recording.start_ns) / 1e9
    speeds = recording.bytes["write_bytes"] / times
    end = float(row["end2_GB"]) * 1e9 if row["end2_GB"] else capacity
    borders = [0.0, cache, end, capacity]
    used = row["used"].split("; ")
    found = []

    def add(what: str, published: str, simulated: float, scale: float, of: float | None = None) -> None:
        value = float(published) * scale
        found.append(Figure(row["drive"], what, value, simulated, (simulated - value) / (of or value), what in used))

    for n in (1, 2, 3):
        text = row[f"speed{n}_MBps"]
        if not text:
            continue
        if n > 1 and row["speed3_MBps"] and not row["end2_GB"]:
            # Nobody said where one ends and the other begins.
            phases = recording.findings["phases"]
            add(f"speed {n}", text, phases[min(n, len(phases)) - 1]["bytes_per_s"], 1e6)
            continue
        first, last = borders[n - 1 : n + 1]
        margin = PLAIN * (last - first)
        within = (written > first + margin) & (written < last - margin)
        add(f"speed {n}", text, float(np.median(speeds[within])), 1e6)
    if row["end2_GB"]:
        phases = recording.findings["phases"]
        add("end of the direct phase", row["end2_GB"], phases[min(2, len(phases)) - 1]["to_bytes"], 1e9, of=capacity)
    if row["mean_MBps"]:
        add("mean", row["mean_MBps"], recording.findings["fill_mean_bytes_per_s"], 1e6)
    return found


@functools.cache
def all_figures() -> tuple[Figure, ...]:
    """Of each drive."""
    return tuple(figure for row in rows() for figure in figures(row))


HEADER = ("drive", "nand", "controller", "figure", "published", "simulated", "error", "used", "source", "parts_from")
NAMES = ("first", "second", "third")


def spread(errors: Sequence[float]) -> tuple[float, float]:
    """Median and 90th percentile of errors of at least one figure."""
    ordered = sorted(errors)
    return statistics.median(ordered), ordered[min(int(0.9 * len(ordered)), len(ordered) - 1)]


def in_units(figure: Figure) -> tuple[str, str]:
    """The published value and the simulated one, in GB or MB/s."""
    scale, unit = (1e9, "GB") if figure.what.startswith("end") else (1e6, "MB/s")
    return f"{figure.published / scale:.0f} {unit}", f"{figure.simulated / scale:.0f} {unit}"


def records() -> list[list[str]]:
    """The rows of parts.csv."""
    of_drive = {row["drive"]: row for row in rows()}
    table = []
    for figure in all_figures():
        row = of_drive[figure.drive]
        table.append([figure.drive, row["nand"], row["controller"], figure.what, *in_units(figure),
                      f"{figure.error:+.0%}", "used" * figure.used, row["source"], row["parts_from"]])  # fmt: skip
    return table


def summary() -> list[str]:
    """Median and 90th percentile of the errors, by kind of figure."""
    counted = [figure for figure in all_figures() if not figure.used]
    speeds = [figure for figure in counted if figure.what.startswith("speed")]
    lines = []
    for what, some, target in (
        ("speeds of phases", speeds, ", target 15 %"),
        *((f"{name} phase", [f for f in speeds if f.what == f"speed {n}"], "") for n, name in enumerate(NAMES, 1)),
        ("means of whole fills", [figure for figure in counted if figure.what == "mean"], ""),
        ("ends of the direct phase, of the capacity", [f for f in counted if f.what.startswith("end")], ", target 5 %"),
    ):
        if some:
            median, ninety = spread([abs(figure.error) for figure in some])
            lines.append(
                f"- {what}: {len(some)} figures, median error {median:.0%}{target}, 90th percentile {ninety:.0%}"
            )
    return lines


if __name__ == "__main__":
    sys.stdout.write("\n".join(summary()) + "\n")
