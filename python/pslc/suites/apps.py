"""How long does everyday work take? Requests of programs that also compute: booting, games and applications.

An imitation of what PCMark 10 and 3DMark Storage replay; their traces are closed, so sizes, mixes and orders are
pslc's own, and it gives no score of theirs. Between requests a program computes for as long as published load times
leave beside the drive:

- boot: 10 s to the login on any SSD (Maximum PC, February 2017), of which a SATA drive takes 2 s for these requests
- game-load: 13.8 s for Final Fantasy XIV: Shadowbringers on an SX8200 Pro (legitreviews.com), of which that takes 1.9 s
- game-install: 5 to 6 min for a game of 35 GB (splicedonline.com), so 9 s a GB whatever the drive
- project-load: 10 s of its own (assumed) for a project of 16.5 GB, as in the article on the Aldrin Pro
- office, creative: nothing (no figure is published), so their time is that of the drive alone

The drive rests after the programs were laid out; a project is copied to it, then loaded.
"""

from dataclasses import dataclass

import numpy as np
from typing_extensions import TypedDict

from pslc.base import words
from pslc.device.region import MIB, Region
from pslc.figures import curves
from pslc.figures.picture import Axis, Bars, Own, Panel, Picture, Table
from pslc.figures.tables import Columns, of_rows
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import jobs, latency, mean_latency, seconds
from pslc.schema.jobs import MOVED, Job
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "a tenth of the requests, and a minute of rest instead of ten"
COMPUTER = "i7-13700k"
UNLIKE_SCALED = "its files have fixed sizes"
SPAN = 40 << 30
PAUSE_S, REST_S, QUICK_REST_S = 5.0, 600.0, 60.0
BYTES = {"k": 1 << 10, "m": MIB}


@dataclass(frozen=True)
class _Profile:
    """A program: percent of reads, sizes in fio's words, requests in sequence before the next place, depth, bytes
    moved, and seconds that it computes meanwhile."""

    reads: int
    bssplit: str
    run: int
    depth: int
    bytes: float
    think_s: float = 0.0

    @property
    def think_us(self) -> int:
        """Microseconds that it computes after each run of requests."""
        shares = [size.split("/") for size in self.bssplit.split(":")]
        mean = sum(int(size[:-1]) * BYTES[size[-1]] * int(share) / 100 for size, share in shares)
        return round(1e6 * self.think_s / (self.bytes / mean / self.run))


PROFILES = {
    "boot": _Profile(85, "4k/45:16k/25:32k/15:64k/10:128k/5", 4, 4, 5e8, 8.0),
    "game-load": _Profile(98, "4k/10:16k/15:64k/25:128k/30:512k/20", 8, 4, 4e9, 11.9),
    "game-install": _Profile(10, "16k/5:128k/25:1m/70", 64, 4, 8e9, 72.0),
    "office": _Profile(60, "4k/60:16k/20:64k/15:128k/5", 2, 1, 5e8),
    "creative": _Profile(65, "4k/15:32k/20:128k/35:1m/30", 16, 2, 4e9),
    "project-load": _Profile(100, "4k/25:16k/25:128k/30:1m/20", 16, 2, 16.5e9, 10.0),
}
COPIED = ("project-load",)
"""Programs whose data are copied to the drive right before."""


def steps(region: Region) -> Steps:
    """The data, left to settle; then each program after a pause."""
    span = min(SPAN, region.share(0.8))
    scale = min(0.1 if region.quick else 1.0, span / SPAN * 4)
    text = region.write("lay-out", span)
    pause = QUICK_REST_S if region.quick else REST_S
    for name, profile in PROFILES.items():
        moved = max(int(profile.bytes * scale) // MIB * MIB, 4 * MIB)
        place = min(moved, span) if name in COPIED else span
        text += region.write(f"copy-{name}", place) if name in COPIED else ""
        text += region.job(name, rw=f"randrw:{profile.run}", size=place, io_size=moved, pause=pause,
                          bssplit=profile.bssplit, iodepth=profile.depth, rwmixread=profile.reads, norandommap=True,
                          thinktime=f"{profile.think_us}us", thinktime_blocks=profile.run)  # fmt: skip
        pause = PAUSE_S
    yield text


class App(TypedDict):
    """Figures of one program."""

    app: str
    seconds: float
    program_s: float
    bytes_per_s: float
    access_s: float
    read_s: float
    write_s: float


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    apps: list[App]
    mean_bytes_per_s: float | None
    mean_access_s: float | None
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `apps`: of each `app` `seconds` (all of it), `program_s` (of these it computes), `bytes_per_s` (over the rest, in
      which requests are under way), `access_s` (mean over reads and writes), `read_s`, `write_s`
    - `mean_bytes_per_s`, `mean_access_s`: geometric means over them
    """
    rows: list[App] = []
    for name, job in jobs(recording):
        if name in PROFILES:
            took, computed = seconds(job), _computed_s(job)
            rows.append(
                {
                    "app": name,
                    "seconds": took,
                    "program_s": computed,
                    "bytes_per_s": sum(job[kind]["io_bytes"] for kind in MOVED) / max(took - computed, 1e-9),
                    "access_s": mean_latency(job),
                    "read_s": latency(job, "read"),
                    "write_s": latency(job, "write"),
                }
            )
    return {
        "apps": rows,
        "mean_bytes_per_s": _mean([row["bytes_per_s"] for row in rows]),
        "mean_access_s": _mean([row["access_s"] for row in rows]),
        "warnings": [],
    }


def _computed_s(job: Job) -> float:
    """Seconds that a job thought: once after each of its blocks of requests but the last."""
    options = job["options"]
    requests = sum(job[kind]["total_ios"] for kind in MOVED)
    each_us = float(options.get("thinktime", "0us").removesuffix("us"))
    return max(requests - 1, 0) // int(options.get("thinktime_blocks", 1)) * each_us / 1e6


def _mean(values: list[float]) -> float | None:
    return float(np.exp(np.mean(np.log(values)))) if values else None


def sentences(findings: Findings) -> list[str]:
    """Time of each program, and mean bandwidth and access time."""
    speed, access, rows = findings["mean_bytes_per_s"], findings["mean_access_s"], findings["apps"]
    if speed is None or access is None:
        return []
    took = ", ".join(f"{row['app']} {words.span(row['seconds'])}" for row in rows if row["program_s"])
    return [
        f"With what the programs compute themselves: {took}.",
        f"Everyday work, imitated: {words.speed(speed)} while requests are under way, {words.span(access)} a request.",
        "The requests are our own, not a vendor's trace, so there is no vendor's score.",
    ]


def tables(findings: Findings) -> list[Table]:
    """Table with a row for each program."""
    columns: Columns = {
        "program": "app", "time": "seconds", "computing": ("program_s", lambda s: words.span(s) if s else "-"),
        "bandwidth": "bytes_per_s", "access": "access_s", "read": "read_s", "write": "write_s",
    }  # fmt: skip
    return [of_rows("Application profiles", findings["apps"], columns)]


def pictures(recording: Recording) -> list[Picture]:
    """Seconds of each application, and those of them in which it waits for the drive."""
    rows = recording.findings.typed(Findings)["apps"]
    bars = [
        Bars("in all", [row["seconds"] for row in rows]),
        Bars("waiting for the drive", [row["seconds"] - row["program_s"] for row in rows]),
    ]
    x = Axis("application", names=[Own(row["app"]) for row in rows])
    panel = Panel(Axis("duration", "s"), bars=bars)
    return [Picture("apps", "Duration of application profiles", x, (panel,)), *curves.of_any(recording)]
