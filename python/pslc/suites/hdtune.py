"""How fast is each place of the drive? The surface is written and read from end to end, one request at a time.

HD-Tune-Pro-compatible: requests of one size (128 KiB, `--bs=64k` another), one after the other; lowest, highest and
mean speed over 200 equal stretches, where and when the write fell, and the time of a 4 KiB read anywhere.
"""

import numpy as np
from typing_extensions import TypedDict

from pslc.analysis.series import Floats
from pslc.base import words
from pslc.device.region import Region
from pslc.figures import curves
from pslc.figures.picture import Axis, Line, Panel, Picture, Table
from pslc.figures.tables import of_rows
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import cache, curve, jobs, latency, speed
from pslc.schema.jobs import MOVED, Kind
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "the first tenth of the surface"
COMPUTER = "i7-13700k"
BLOCK = "128k"
STRETCHES = 200
ACCESSES = 2000
SURFACES: tuple[Kind, ...] = ("write", "read")


def steps(region: Region) -> Steps:
    """Two steps: the surface is written, then read."""
    size = region.share(0.1 if region.quick else 1.0)
    yield region.write("surface-write", size, bs=BLOCK, iodepth=1)
    access = region.job("access", rw="randread", bs="4k", size=size, number_ios=ACCESSES, norandommap=True,
                        io_size="1t", randrepeat=0)  # fmt: skip
    yield region.job("surface-read", rw="read", bs=BLOCK, size=size) + access


def _stretches(recording: Recording, kind: Kind) -> tuple[Floats, Floats]:
    """GB, and bytes a second of each stretch."""
    part = next((p for p in recording.parts if p.jobs and p.jobs[0]["name"] == f"surface-{kind}"), None)
    if part is None:
        return np.zeros(0), np.zeros(0)
    job = part.jobs[0]
    series = part.bytes
    seconds = np.r_[0.0, (series["end_ns"].astype(np.float64) - part.start_ns) / 1e9]
    done = np.r_[0.0, np.cumsum(series[f"{kind}_bytes"], dtype=np.float64)]
    keep = np.r_[True, np.diff(done) > 0]
    total = job[kind]["io_bytes"]
    edges = np.linspace(0, total, min(STRETCHES, int(keep.sum()) - 1 or 1) + 1)
    return edges[1:] / 1e9, np.diff(edges) / np.maximum(np.diff(np.interp(edges, done[keep], seconds[keep])), 1e-9)


class Surface(TypedDict):
    """Figures of one surface scan."""

    test: Kind
    least_bytes_per_s: float
    most_bytes_per_s: float
    mean_bytes_per_s: float


class Fall(TypedDict):
    """Fall of the write: bytes and seconds until it became slower for long, and the speeds on both sides."""

    from_bytes: float
    from_s: float
    before_bytes_per_s: float
    after_bytes_per_s: float


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    hdtune: list[Surface]
    fell: Fall | None
    access_s: float | None
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `hdtune`: of `test` (`read`, `write`) `least_bytes_per_s`, `most_bytes_per_s`, `mean_bytes_per_s`
    - `fell`: the first fall of the write: `from_bytes` and `from_s`, `before_bytes_per_s`, `after_bytes_per_s`;
      null where it did not fall
    - `access_s`: mean time of a 4 KiB read anywhere
    """
    done = dict(jobs(recording))
    rows: list[Surface] = []
    for kind in SURFACES:
        _, speeds = _stretches(recording, kind)
        if len(speeds) and f"surface-{kind}" in done:
            rows.append(
                {
                    "test": kind,
                    "least_bytes_per_s": float(speeds.min()),
                    "most_bytes_per_s": float(speeds.max()),
                    "mean_bytes_per_s": speed(done[f"surface-{kind}"], kind),
                }
            )
    access = latency(done["access"], "read") if "access" in done else None
    written = next((part for part in recording.parts if part.jobs and part.jobs[0]["name"] == "surface-write"), None)
    return {
        "hdtune": rows,
        "fell": _fall(written),
        "access_s": access,
        "warnings": [],
    }


def _fall(written: Recording | None) -> Fall | None:
    end, writes = cache(written), curve(written) if written else None
    if end is None or writes is None:
        return None
    seconds = float(writes.seconds_at(writes.edges_bytes[:1] + end.bytes)[0])
    return {"from_bytes": end.bytes, "from_s": seconds, "before_bytes_per_s": end.fast, "after_bytes_per_s": end.slow}


def sentences(findings: Findings) -> list[str]:
    """Fall of the write, and least, most and mean."""
    lines, fell = [], findings["fell"]
    if fell:
        before, after = words.speed(fell["before_bytes_per_s"]), words.speed(fell["after_bytes_per_s"])
        until = f"{words.size(fell['from_bytes'])}, after {words.span(fell['from_s'])}"
        lines.append(f"The write falls at {until}: from {before} to {after}.")
    for row in findings["hdtune"]:
        slowest, mean, fastest = (
            words.speed(row[name]) for name in ("least_bytes_per_s", "mean_bytes_per_s", "most_bytes_per_s")
        )
        speeds = f"{mean} on average, {slowest} to {fastest}" if slowest != fastest else f"{mean} throughout"
        lines.append(f"HD-Tune-compatible {row['test']}: {speeds}.")
    return [*lines, f"Random access: {words.span(findings['access_s'])}."] if findings["access_s"] else lines


def tables(findings: Findings) -> list[Table]:
    """Table of HD Tune's figures."""
    columns = {"test": "test"}
    columns |= {"minimum": "least_bytes_per_s", "maximum": "most_bytes_per_s", "average": "mean_bytes_per_s"}
    return [of_rows("HD-Tune-compatible", findings["hdtune"], columns)]


def pictures(recording: Recording) -> list[Picture]:
    """Speed against position on the drive."""
    lines = []
    for kind in MOVED:
        at, speeds = _stretches(recording, kind)
        if len(at):
            lines.append(Line(kind, at * 1e9, speeds))
    x = Axis("position on the drive", "B")
    done = dict(jobs(recording))
    moved = [done[name][kind] for kind in SURFACES if (name := f"surface-{kind}") in done]
    title = curves.with_request_size("Speed by position", moved)
    return [Picture("surface", title, x, (Panel(curves.SPEED, lines),)), *curves.of_any(recording)]
