"""What would everyday work feel? Requests that look like those of booting, games and applications.

An imitation of what PCMark 10 and 3DMark Storage replay. Their traces are closed, so sizes, mixes and orders are pslc's
own. It gives no score of theirs, only the bandwidth while requests are in flight and the mean access time.
"""

from dataclasses import dataclass

import numpy as np
from typing_extensions import TypedDict

from pslc.base import words
from pslc.device.region import MIB, Region
from pslc.figures import curves
from pslc.figures.picture import Line, Picture, Table
from pslc.figures.tables import Column, of_rows
from pslc.recording.store import Recording
from pslc.recording.suite_helpers import jobs, latency, mean_latency, speed
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "a tenth of the requests"
UNLIKE_SCALED = "its files have fixed sizes"
ON_A_DESKTOP = True
SPAN = 40 << 30
PAUSE_S = 5.0


@dataclass(frozen=True)
class _Profile:
    """Percent of reads, sizes in fio's words, requests in sequence before the next place, depth, bytes moved."""

    reads: int
    bssplit: str
    run: int
    depth: int
    bytes: float


PROFILES = {
    "boot": _Profile(85, "4k/45:16k/25:32k/15:64k/10:128k/5", 4, 4, 2e9),
    "game-load": _Profile(98, "4k/10:16k/15:64k/25:128k/30:512k/20", 8, 4, 4e9),
    "game-install": _Profile(10, "16k/5:128k/25:1m/70", 64, 4, 8e9),
    "office": _Profile(60, "4k/60:16k/20:64k/15:128k/5", 2, 1, 5e8),
    "creative": _Profile(65, "4k/15:32k/20:128k/35:1m/30", 16, 2, 4e9),
    "project-load": _Profile(95, "4k/25:16k/25:128k/30:1m/20", 16, 2, 3e9),
}


def steps(region: Region) -> Steps:
    """The data, then each application after a pause."""
    span = min(SPAN, region.share(0.8))
    scale = min(0.1 if region.quick else 1.0, span / SPAN * 4)
    text = region.write("lay-out", span)
    for name, profile in PROFILES.items():
        moved = max(int(profile.bytes * scale) // MIB * MIB, 4 * MIB)
        text += region.job(name, rw=f"randrw:{profile.run}", size=span, io_size=moved, pause=PAUSE_S,
                          bssplit=profile.bssplit, iodepth=profile.depth, rwmixread=profile.reads,
                          norandommap=True)  # fmt: skip
    yield text


class App(TypedDict):
    """Figures of one application."""

    app: str
    bytes_per_s: float
    access_s: float
    read_s: float
    write_s: float


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    apps: list[App]
    mean_bytes_per_s: float | None
    mean_access_s: float | None
    doubts: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `apps`: of each `app` `bytes_per_s` (requests are always under way), `access_s` (mean over reads and writes),
      `read_s`, `write_s`
    - `mean_bytes_per_s`, `mean_access_s`: geometric means over them
    """
    rows: list[App] = []
    for name, job in jobs(recording):
        if name in PROFILES:
            rows.append(
                {
                    "app": name,
                    "bytes_per_s": speed(job, "read") + speed(job, "write"),
                    "access_s": mean_latency(job),
                    "read_s": latency(job, "read"),
                    "write_s": latency(job, "write"),
                }
            )
    return {
        "apps": rows,
        "mean_bytes_per_s": _mean([row["bytes_per_s"] for row in rows]),
        "mean_access_s": _mean([row["access_s"] for row in rows]),
        "doubts": [],
    }


def _mean(values: list[float]) -> float | None:
    return float(np.exp(np.mean(np.log(values)))) if values else None


def sentences(findings: Findings) -> list[str]:
    """Mean bandwidth and access time, as sentences."""
    speed, access = findings["mean_bytes_per_s"], findings["mean_access_s"]
    if speed is None or access is None:
        return []
    sentence = f"Everyday work, imitated: {words.speed(speed)}, {words.span(access)} per request."
    return [sentence, "The requests are our own, not a vendor's trace, so there is no vendor's score."]


def tables(findings: Findings) -> list[Table]:
    """Table with a row for each application."""
    columns: list[Column] = [
        ("application", "app", str),
        ("bandwidth", "bytes_per_s", words.speed),
        ("access", "access_s", words.span),
    ]
    return [
        of_rows(
            "Look-alikes",
            findings["apps"],
            [*columns, ("read", "read_s", words.span), ("write", "write_s", words.span)],
        )
    ]


def pictures(recording: Recording) -> list[Picture]:
    """Bandwidth, row by row."""
    rows = recording.findings.typed(Findings)["apps"]
    line = Line("bandwidth", range(len(rows)), [row["bytes_per_s"] / 1e6 for row in rows])
    names = [row["app"] for row in rows]
    return [Picture("apps", "Look-alikes", "", "MB/s", [line] if rows else [], rows=names), *curves.of_any(recording)]
