"""How long do reads take while the drive writes, and while it moves its cache? The QLC paradox.

Random 4 KiB reads, one by one: on the idle drive, while its cache migrates after a silence of 5 s, during a write
into the cache, during a write past it, and right after. Reads in sequence in the first two. Reads wait for the block
that holds the data and writes go anywhere, so a busy drive may write small blocks much faster than it reads them.
"""

from functools import partial

import numpy as np
from typing_extensions import TypedDict

from pslc.base import words
from pslc.device.region import MIB, Region
from pslc.figures import curves
from pslc.figures.picture import Axis, Bars, Panel, Picture, Table
from pslc.figures.tables import of_rows
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import BEGUN, LONGEST_BEGUN, cache, jobs, latency, rate, speed
from pslc.schema.jobs import MOVED
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "1 s of each instead of 5 s"
COMPUTER = "none"
SECONDS, QUICK_SECONDS = 5.0, 1.0
REST_S = 600.0
SILENCE_S = 5.0
"""Silence of the host after which most drives migrate their cache."""
MIGRATED = "idle_folded_bytes_total"
HELD = 0.9
"""Share of the cache that is filled before it migrates."""
WITHIN = 0.75
"""Share of what is then free of it that is written in the time of the measurement."""
STATES = ("idle", "migrating", "writing", "folding", "after")
CALLED = {"folding": "long write"}
"""Labels of states whose name does not suit every drive: not every drive folds there."""


def steps(region: Region) -> Steps:
    """Data to read, left to settle; each state; at last 4 KiB reads and writes in the state after, as AS SSD does."""
    seconds = QUICK_SECONDS if region.quick else SECONDS
    data = min(region.share(0.1), 8 << 30)
    read = partial(region.job, rw="randread", bs="4k", iodepth=1, size=data, norandommap=True, seconds=seconds)
    load = partial(region.job, rw="write", bs="128k", iodepth=32, alongside=True, seconds=seconds)
    yield region.write("lay-out", data)
    forget = region.trim("forget", offset=data)
    part = yield region.write("find-cache", region.share(0.6), offset=data, pause=REST_S) + forget
    estimate = cache(part)
    past = min(int(1.05 * estimate.bytes) // MIB * MIB if estimate else region.share(0.3), region.share(0.75))
    sequential = partial(region.job, rw="read", bs="1m", iodepth=8, size=data, seconds=seconds)
    yield read("idle", pause=REST_S) + sequential("sequential-idle")
    if estimate:
        held = max(int(HELD * estimate.bytes) // MIB * MIB, MIB)
        yield region.write("fill-for-migration", min(held, region.share(0.75)), offset=data)
        yield read("migrating", pause=SILENCE_S) + sequential("sequential-migrating")
        yield forget
    begun = min(int(BEGUN * past) // MIB * MIB, LONGEST_BEGUN)
    text = region.write("begin-writing", begun, offset=data, pause=REST_S)
    within = min(seconds, WITHIN * (past - begun) / estimate.fast) if estimate else seconds
    yield text + read("writing", seconds=within) + load("writing-load", seconds=within, offset=data + begun)
    # Where no rest moves it, what was laid out was still in the cache when its end was found, and is there no longer.
    past = min(past + data, region.share(0.75)) if estimate else past
    text = region.write("fill-cache", past, offset=data)
    text += read("folding") + load("folding-load", offset=data + past) + read("after")
    for kind in ("read", "write"):
        text += read(f"as-ssd-{kind}", rw=f"rand{kind}")
    yield text


class State(TypedDict):
    """Figures of the reads in one state of the drive."""

    state: str
    iops: float
    mean_s: float
    median_s: float
    p99_s: float
    p999_s: float
    load_bytes_per_s: float | None


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    mixed: list[State]
    slower_folding: float | None
    sequential_idle_bytes_per_s: float | None
    sequential_migrating_bytes_per_s: float | None
    migrated_bytes: int | None
    migrated_while_reading_bytes: int | None
    as_ssd_read_bytes_per_s: float | None
    as_ssd_write_bytes_per_s: float | None
    write_over_read: float | None
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `mixed`: of each `state` (`idle`, `migrating`: the cache after a silence, `writing`: into the cache, `folding`:
      past it, `after`) of the reads `iops`, `mean_s`, `median_s`, `p99_s`, `p999_s`, and of the write beside them
      `load_bytes_per_s`
    - `slower_folding`: mean while folding over that on the idle drive
    - `sequential_idle_bytes_per_s`, `sequential_migrating_bytes_per_s`: reads in sequence in these states
    - `migrated_bytes`: what left the cache in the silence and the reads of the state `migrating`, and
      `migrated_while_reading_bytes`: in the reads alone; null on a real drive
    - `as_ssd_read_bytes_per_s`, `as_ssd_write_bytes_per_s`: 4 KiB, one at a time, right after; `write_over_read`
    """
    done = dict(jobs(recording))
    rows: list[State] = []
    for state in STATES:
        if state in done:
            job, load = done[state], done.get(f"{state}-load")
            rows.append(
                {
                    "state": state,
                    "iops": rate(job, "read"),
                    "mean_s": latency(job, "read"),
                    "median_s": latency(job, "read", 50),
                    "p99_s": latency(job, "read", 99),
                    "p999_s": latency(job, "read", 99.9),
                    "load_bytes_per_s": speed(load, "write") if load else None,
                }
            )
    by = {row["state"]: row for row in rows}
    slower = by["folding"]["mean_s"] / by["idle"]["mean_s"] if {"folding", "idle"} <= set(by) else None
    idle, migrating = (speed(done[name], "read") if (name := f"sequential-{state}") in done else None
                       for state in STATES[:2])  # fmt: skip
    read, write = (speed(done[name], kind) if (name := f"as-ssd-{kind}") in done else None for kind in MOVED)
    return {
        "mixed": rows,
        "slower_folding": slower,
        "sequential_idle_bytes_per_s": idle,
        "sequential_migrating_bytes_per_s": migrating,
        **_migrated(recording),
        "as_ssd_read_bytes_per_s": read,
        "as_ssd_write_bytes_per_s": write,
        "write_over_read": write / read if read and write else None,
        "warnings": [],
    }


class Migrated(TypedDict):
    """Bytes that left the cache in the state `migrating`, and those of them that did so beside reads."""

    migrated_bytes: int | None
    migrated_while_reading_bytes: int | None


def _migrated(recording: Recording) -> Migrated:
    part = next((part for part in recording.parts if part.jobs and part.jobs[0]["name"] == "migrating"), None)
    if part is None or MIGRATED not in part.totals:
        return {"migrated_bytes": None, "migrated_while_reading_bytes": None}
    ends = np.r_[part.start_ns, part.time["end_ns"].astype(np.float64)]
    moved = np.r_[part.before[MIGRATED], part.time[MIGRATED].astype(np.float64)]
    until_reads = float(np.interp(part.jobs[0]["start_ns"], ends, moved))
    last = part.totals[MIGRATED]
    return {"migrated_bytes": last - part.before[MIGRATED], "migrated_while_reading_bytes": round(last - until_reads)}


def sentences(findings: Findings) -> list[str]:
    """The paradox, if there is one."""
    lines = []
    by = {row["state"]: row for row in findings["mixed"]}
    if findings["slower_folding"] is not None:
        idle, folding = words.span(by["idle"]["mean_s"]), words.span(by["folding"]["mean_s"])
        lines.append(f"A read takes {idle} on the idle drive, and {folding} under a long write.")
    at_rest, migrating = findings["sequential_idle_bytes_per_s"], findings["sequential_migrating_bytes_per_s"]
    if at_rest and migrating:
        moved, beside = findings["migrated_bytes"], findings["migrated_while_reading_bytes"]
        speeds = f"{words.speed(at_rest)} on the idle drive, {words.speed(migrating)} after a silence"
        while_it = f", in which {words.size(moved or 0)} left the cache, {words.size(beside or 0)} of them beside reads"
        lines.append(f"Reads in sequence: {speeds}{while_it if moved is not None else ''}.")
    if findings["write_over_read"] is not None:
        times = findings["write_over_read"]
        lines.append(f"Right after, 4 KiB writes are {times:.1f} times as fast as 4 KiB reads.")
    return lines


def tables(findings: Findings) -> list[Table]:
    """Table with a row for each state."""
    columns = {"reads": "state", "IOPS": "iops", "mean": "mean_s", "median": "median_s", "99 %": "p99_s"}
    columns |= {"99.9 %": "p999_s", "beside a write of": "load_bytes_per_s"}
    rows = [{**row, "state": CALLED.get(row["state"], row["state"])} for row in findings["mixed"]]
    return [of_rows("Reads", rows, columns)]


def pictures(recording: Recording) -> list[Picture]:
    """Read latency in each state: the mean, the median and the slowest of 100 and of 1000."""
    rows = recording.findings.typed(Findings)["mixed"]
    bars = [
        Bars(CALLED.get(row["state"], row["state"]), [row["median_s"], row["mean_s"], row["p99_s"], row["p999_s"]])
        for row in rows
    ]
    x = Axis("reads", names=("median", "mean", "99 %", "99.9 %"))
    panel = Panel(Axis("latency", "s"), bars=bars)
    return [Picture("percentiles", "Latency of reads beside writes", x, (panel,)), *curves.of_any(recording)]
