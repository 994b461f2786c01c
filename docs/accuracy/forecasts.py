"""Forecasts of drives that nobody of the ledger has reviewed, each with its date: forecasts.csv and docs/forecasts.md.

python docs/accuracy/forecasts.py                                       write the page
python docs/accuracy/forecasts.py DRIVE NAND CONTROLLER CAPACITY DATE SOURCE    add a forecast, as it is today

What was forecast is never written anew: only `reviewed`, the date of a review and where it stands, and what it measured
are filled in later. A review that is older than the forecast scores nothing.
"""

import csv
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pslc.device.parts import forecast

FOLDER = Path(__file__).parent
TABLE, PAGE = FOLDER / "forecasts.csv", FOLDER.parent / "forecasts.md"
FIGURES = ("first", "past", "cache")
COLUMNS = ("drive", "nand", "controller", "capacity", "written", "parts_from", "nearest",
           *(f"{name}{end}" for name in FIGURES for end in ("", "_low", "_high")),
           "reviewed", *(f"{name}_measured" for name in FIGURES))  # fmt: skip
INTRODUCTION = (FOLDER / "forecasts.txt").read_text(encoding="utf-8")

Row = Mapping[str, str]


def rows() -> list[Row]:
    """The rows of forecasts.csv."""
    with TABLE.open() as file:
        return list(csv.DictReader(file))


def predicted(drive: str, nand: str, controller: str, capacity: str, written: str, source: str) -> Row:
    """A forecast as of today; speeds in MB/s, the cache in GB."""
    of = forecast.of(nand=nand, controller=controller, capacity=capacity)
    intervals = {"first": (of.first, 1e6), "past": (of.past, 1e6), "cache": (of.caches[0].size, 1e9)}
    row = {"drive": drive, "nand": nand, "controller": controller, "capacity": capacity, "written": written,
           "parts_from": source, "nearest": of.nearest}  # fmt: skip
    for name, (interval, scale) in intervals.items():
        assert interval is not None, f"{drive} has no cache"
        ends = {"": interval.median, "_low": interval.low, "_high": interval.high}
        row |= {f"{name}{end}": f"{float(f'{value / scale:.2g}'):g}" for end, value in ends.items()}
    return row


def needed(row: Row, name: str) -> float:
    """By which factor the interval of a figure would have to be stretched to just hold what was measured."""
    measured, middle, low, high = (math.log(float(row[f"{name}{end}"])) for end in ("_measured", "", "_low", "_high"))
    return (measured - middle) / ((high if measured > middle else low) - middle)


def scores(table: Sequence[Row]) -> list[str]:
    """What reviews made of the forecasts."""
    for row in table:
        has_figures = any(row[f"{name}_measured"] for name in FIGURES)
        if (has_figures or row["reviewed"]) and not (has_figures and row["reviewed"][:10] > row["written"]):
            sys.exit(f"{row['drive']}: a review has figures, and begins with a date after {row['written']}: "
                     f"{row['reviewed'] or 'none'}")  # fmt: skip
    found = {name: [needed(row, name) for row in table if row[f"{name}_measured"]] for name in FIGURES}
    if not any(found.values()):
        return ["No review of these drives has been entered yet, so the intervals have no score."]
    lines = ["| figure | reviews | intervals that hold | stretch needed for 80 % |", "|---|---:|---:|---:|"]
    for name, factors in found.items():
        if factors:
            holds = statistics.fmean(factor <= 1 for factor in factors)
            stretch = sorted(factors)[min(int(0.8 * len(factors)), len(factors) - 1)]
            lines.append(f"| {name} | {len(factors)} | {holds:.0%} | {stretch:.2f} |")
    return lines


def page(table: Sequence[Row]) -> str:
    """The text of docs/forecasts.md."""
    lines = ["| drive | written | first phase, MB/s | past the cache, MB/s | cache, GB | nearest evidence | review |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    for row in table:
        cells = [f"{row[name]} ({row[f'{name}_low']} to {row[f'{name}_high']})" for name in FIGURES]
        lines.append(f"| {' | '.join([row['drive'], row['written'], *cells, row['nearest'], row['reviewed']])} |")
    about = "The cache is that of the most likely kind. Where a class stands in for a part, a range has no percentage."
    return "\n".join([INTRODUCTION, "", "## Score", "", *scores(table), "", "## Drives", "", *lines, "", about]) + "\n"


if __name__ == "__main__":
    known = rows() if TABLE.exists() else []
    if words := sys.argv[1:]:
        known.append(predicted(*words))
        with TABLE.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(known)
    PAGE.write_text(page(rows()))
