"""Drives left alone after random writes, beside what cdrlabs.com measured of them: docs/accuracy/idle.py writes
idle.md.

Each row of idle.csv is a drive that is filled, written at random for 30 minutes, written in order, left alone, and
written in order again. Simulated is a drive of the same parts, at a sixteenth of the size and of the times. How much
space idle time makes free (`cache.idle.collect`) is what the controller's part says (a drive as a user has it), and the
share of the capacity that fits the other lines best (a line left out).
"""

import math
import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pslc
from pslc.base import units, work
from pslc.device import parts
from pslc.device.parts.schema import Raw

sys.path.insert(0, str(Path(__file__).parent))

import ledger
from ledger import Row

SCALE = 16
RANDOM_S = 1800
"""Time of the random writes."""
TEST_BYTES = 10e9
"""Of each write in order; the reviewer does not tell it."""
SHARES = (0.0, 0.05)
"""Of the capacity that idle time makes free, beyond what is kept free of the cache."""
OWN = -1.0
"""The share that the part of the controller has."""
WORKERS = 2
BOUND = 0.3
PAGE = Path(__file__).parent / "idle.md"
STATES = ("dirty", "after", "fresh")
JOBS = (Path(__file__).parent / "jobs/idle.fio").read_text(encoding="utf-8")


def profile(row: Row, share: float) -> str:
    """The drive of a row, which makes this share of its capacity free while idle."""
    of = next(other for other in ledger.rows() if other["drive"] == row["parts_of"])
    cache = dict(pair.split("=", 1) for pair in of["cache"].split())
    if of["when_full"]:
        cache["when_full"] = of["when_full"]
    given: Mapping[str, Raw] = dict(pair.split("=", 1) for pair in of["given"].split())

    def drive(given: Mapping[str, Raw]) -> parts.Derived:
        return parts.profile(nand=of["nand"], controller=of["controller"], capacity=of["capacity"], cache=cache,
                             given=given)  # fmt: skip

    if share == OWN:
        return drive(given).text
    kept = units.size(str(drive(given).values.get("cache.fold_below", "0B")), "cache.fold_below")
    collect = kept + int(share * units.size(of["capacity"], "capacity")) if share else 0
    return drive({**given, "cache.idle.threshold": "1s", "cache.idle.collect": f"{collect}B"}).text


def speeds(task: tuple[Row, float]) -> Mapping[str, float]:
    """Bytes/s of each job."""
    row, share = task
    jobs = JOBS.format(test=int(TEST_BYTES / SCALE), filled=row["filled"], random=RANDOM_S // SCALE,
                       idle=int(row["idle_s"]) // SCALE)  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        drive, load = Path(folder) / "drive.toml", Path(folder) / "load.fio"
        drive.write_text(profile(row, share))
        load.write_text(jobs)
        recording = pslc.run(str(load), on=f"sim:{drive},scale=1/{SCALE}")
    return {str(job["name"]): 1e9 * job["write"]["io_bytes"] / job["write"]["runtime_ns"] for job in recording.jobs}


def error(row: Row, simulated: Mapping[str, float]) -> float:
    """Logarithm of what comes back, simulated over published, each as a share of the fresh drive."""
    fresh = float(row["fresh_MBps"] or simulated["fresh"] / 1e6)
    return math.log(simulated["after"] / simulated["fresh"]) - math.log(float(row["after_MBps"]) / fresh)


def table() -> list[str]:
    """Summaries, and a line a drive: what was published, what its parts do, and what other lines tell."""
    rows = ledger.read("idle.csv")
    tasks = [(row, share) for row in rows for share in (OWN, *SHARES)]
    with work.Pool(work.Local(WORKERS)) as pool:
        results = dict(zip([(row["drive"], share) for row, share in tasks], pool.map(speeds, tasks), strict=True))
    lines = ["| drive | published: dirty, after, fresh | its parts | as the others | free |",
             "|---|---|---|---|---|"]  # fmt: skip
    errors: dict[str, list[float]] = {"as its parts have it": [], "its line left out": []}
    for row in rows:
        rest = [other for other in rows if ledger.line(other["drive"]) != ledger.line(row["drive"])]
        share = min(SHARES, key=lambda share: statistics.median(
            abs(error(other, results[other["drive"], share])) for other in rest))  # fmt: skip
        drawn = results[row["drive"], OWN], results[row["drive"], share]
        for ratios, simulated in zip(errors.values(), drawn, strict=True):
            ratios.append(math.exp(abs(error(row, simulated))) - 1)
        cells = [" / ".join(f"{speed[name] / 1e6:.0f}" for name in ("dirty", "after", "fresh")) for speed in drawn]
        published = " / ".join(row[f"{name}_MBps"].partition(".")[0] for name in ("dirty", "after", "fresh"))
        lines.append(f"| {row['drive']} | {published} | {' | '.join(cells)} | {share:.0%} |")
    summary = [
        f"- {name}: {sum(ratio <= BOUND for ratio in ratios)} of {len(rows)} drives within {BOUND:.0%}, median "
        f"{statistics.median(ratios):.0%}"
        for name, ratios in errors.items()
    ]
    return [*summary, "", *lines]


if __name__ == "__main__":
    PAGE.write_text("\n".join(table()) + "\n")
