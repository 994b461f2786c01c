"""Synced writes of drives without capacitors, published and simulated: docs/accuracy/flushes.py writes flushes.md.

Each row of flushes.csv whose controller and die are parts is a drive that `pslc drives new` makes, on which `pslc run
jobs/sync.fio` writes 16 KiB and flushes a thousand times. The sync of a file is a write and as many flushes as all such
rows say together (`synced file` in constants.csv). Beside it stands what drives of other controllers predict.
"""

import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import ledger
import measures
import pooled
from ledger import Row

from pslc.device.parts import constants
from pslc.device.parts.forecast import Interval

PAGE = Path(__file__).parent / "flushes.md"
BOUND = 1.5
"""Factor between a published synced write and a simulated one that is aimed at."""


def of_parts() -> list[Row]:
    """Rows of drives whose controller and die are parts."""
    return [row for row in ledger.flushes() if row["controller"] and row["nand"]]


def flushes_in(row: Row) -> float:
    """Flushes that the sync of a row takes."""
    return constants.table()["flush", "synced file"].median if row["synced"] == "file" else 1.0


def simulated_s(row: Row) -> float:
    """Seconds of a synced write on the drive of a row, as the command measures it."""
    capacity = row["drive"].rpartition(" ")[2]
    job = measures.document(
        f"pslc drives new drive.toml --nand {row['nand']} --controller {row['controller']} --capacity {capacity}",
        f"pslc run {measures.JOBS}/sync.fio --on sim:./drive.toml",
    )["jobs"][-1]
    write, sync = (float(job[kind]["lat_ns"]["mean"]) / 1e9 for kind in ("write", "sync"))
    return write + flushes_in(row) * sync


def left_out(row: Row) -> Interval:
    """Seconds of the same, predicted by the drives of other controllers; 80 % lie between."""
    rest = [other for other in ledger.flushes() if (other["controller"] or other) != (row["controller"] or row)]
    fit = pooled.fit([], rest, [])
    law = pooled.synced(fit.design, row)
    return pooled.left_out(fit, law, float(row["sync_us"]) / 1e6, pooled.SYNC_SD[row["synced"]])


def factor(row: Row, seconds: float) -> float:
    """Predicted over published."""
    return seconds / (float(row["sync_us"]) / 1e6)


def by_drive(factors: Mapping[str, Sequence[float]]) -> list[float]:
    """Distance of each drive, as a factor of 1 and more, in the mean of its published figures."""
    return [math.exp(abs(statistics.fmean(map(math.log, each)))) for each in factors.values()]


def line(row: Row, seconds: float) -> str:
    """A published figure beside the simulated one and that of drives of other controllers."""
    interval = left_out(row)
    cells = [row["drive"], row["controller"], row["synced"], f"{float(row['sync_us']) / 1e3:.2f}",
             f"{1e3 * seconds:.2f}", f"{factor(row, seconds):.2f}",
             f"{1e3 * interval.median:.2f} ({1e3 * interval.low:.2f} to {1e3 * interval.high:.2f})"]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def page() -> str:
    """The text of flushes.md: summaries, and a line a published figure."""
    lines = ["| drive | controller | synced | published, ms | simulated, ms | factor | other controllers, ms |",
             "|---|---|---|---:|---:|---:|---|"]  # fmt: skip
    factors: dict[str, list[float]] = {}
    for row in of_parts():
        seconds = simulated_s(row)
        factors.setdefault(row["drive"], []).append(factor(row, seconds))
        lines.append(line(row, seconds))
    drives = by_drive(factors)
    intervals = [(row, left_out(row)) for row in ledger.flushes()]
    holds = statistics.fmean(of.low <= float(row["sync_us"]) / 1e6 <= of.high for row, of in intervals)
    middle = statistics.median(math.exp(abs(math.log(factor(row, of.median)))) for row, of in intervals)
    summary = [
        f"- the command on drives of these parts, which their own figures set: {sum(x <= BOUND for x in drives)} of "
        f"{len(drives)} drives within {BOUND} times, median {statistics.median(drives):.2f} times",
        f"- drives of other controllers alone: {len(intervals)} figures, median {middle:.2f} times; {holds:.0%} within "
        "the 80 % that pslc prints",
    ]
    return "\n".join([*summary, "", *lines]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
