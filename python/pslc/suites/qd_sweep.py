"""How deep a queue does the drive need? Reads and writes, random and sequential, at queue depths from 1 to 512.

Iometer's sweep of total queue depth: 4 KiB at random, 128 KiB in sequence, within 8 GiB that were written before.
"""

from typing import Any

from pslc import words
from pslc.doubt import Doubt
from pslc.figures import curves
from pslc.figures.picture import Line, Picture, Table
from pslc.figures.tables import Column, of_rows
from pslc.findings.measure import jobs, latency, rate, speed
from pslc.recording import Recording
from pslc.suites import Steps
from pslc.targets.region import Region

QUICK = "a tenth of the time at each depth, and every second depth"
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
SPAN = 8 << 30
SECONDS, QUICK_SECONDS = 1.0, 0.1
KINDS = ("randread", "randwrite", "read", "write")
KNEE = 0.9
"""Share of the most requests a second that is as good as all of them."""


def steps(region: Region) -> Steps:
    """The span is written, so that reads find data; then each kind at each depth."""
    span = min(SPAN, region.share(1.0))
    seconds = QUICK_SECONDS if region.quick else SECONDS
    for kind in KINDS:
        text = region.write("lay-out", span)
        bs = "4k" if kind.startswith("rand") else "128k"
        for depth in DEPTHS[::2] if region.quick else DEPTHS:
            text += region.job(f"{kind}-{depth}", rw=kind, bs=bs, iodepth=depth, size=span, seconds=seconds,
                              **({"norandommap": True} if bs == "4k" else {}))  # fmt: skip
        yield text


def findings(recording: Recording) -> dict[str, Any]:
    """- `qd_sweep`: `kind` (fio's `rw`), `depth`, `iops`, `bytes_per_s`, `mean_s`, `p99_s`, `little`: requests under
      way by Little's law over the depth, 1 when the queue was full
    - `randread_most_iops`, `randread_knee_depth`: the most, and the smallest depth with 90 % of it; so for each kind
    - `little_worst`: the `little` furthest from 1
    """
    rows: list[dict[str, Any]] = []
    for name, job in jobs(recording):
        kind, _, depth = name.partition("-")
        if kind in KINDS and depth.isdigit():
            of = "read" if kind.endswith("read") else "write"
            iops, mean = rate(job, of), latency(job, of)
            row = {"kind": kind, "depth": int(depth), "iops": iops, "bytes_per_s": speed(job, of)}
            rows.append(row | {"mean_s": mean, "p99_s": latency(job, of, 99), "little": iops * mean / int(depth)})
    found: dict[str, Any] = {"qd_sweep": rows}
    for kind in KINDS:
        of_kind = [row for row in rows if row["kind"] == kind]
        most = max((row["iops"] for row in of_kind), default=None)
        knee = next((row["depth"] for row in of_kind if most and row["iops"] >= KNEE * most), None)
        found |= {f"{kind}_most_iops": most, f"{kind}_knee_depth": knee}
    worst = max((row["little"] for row in rows), key=lambda little: abs(little - 1), default=None)
    doubts = []
    if worst is not None and abs(worst - 1) > 0.1:
        doubts = [
            Doubt(
                "shallow-queue",
                f"mean queue depths are {words.share(abs(worst - 1))} off what was asked: measure for longer",
            )
        ]
    return found | {"little_worst": worst, "doubts": doubts}


def sentences(findings: dict[str, Any]) -> list[str]:
    """The most of each kind, and where."""
    name = {"randread": "4 KiB random reads", "randwrite": "4 KiB random writes"}
    said = [
        f"{of}: up to {words.count(findings[f'{kind}_most_iops'])} IOPS; "
        f"queue depth {findings[f'{kind}_knee_depth']} is enough."
        for kind, of in name.items()
        if findings[f"{kind}_most_iops"]
    ]
    for kind in ("read", "write"):
        if findings[f"{kind}_most_iops"]:
            most = words.speed(findings[f"{kind}_most_iops"] * 128 * 1024)
            said.append(f"Sequential {kind}s: up to {most}; queue depth {findings[f'{kind}_knee_depth']} is enough.")
    return said


def tables(findings: dict[str, Any]) -> list[Table]:
    """A row a kind and depth."""
    columns: list[Column] = [("kind", "kind", str), ("depth", "depth", words.count), ("IOPS", "iops", words.count)]
    more: list[Column] = [
        ("speed", "bytes_per_s", words.speed),
        ("mean", "mean_s", words.span),
        ("99 %", "p99_s", words.span),
    ]
    return [of_rows("Queue depths", findings["qd_sweep"], [*columns, *more])]


def pictures(recording: Recording) -> list[Picture]:
    """Random IOPS against depth, then latency."""
    rows = recording.findings["qd_sweep"]
    found = []
    for name, title, key, scale, unit in (
        ("iops", "Random IOPS", "iops", 1e-3, "thousand IOPS"),
        ("latency-depth", "Mean latency of random requests", "mean_s", 1e6, "us"),
    ):
        lines = [
            Line(kind, [r["depth"] for r in rows if r["kind"] == kind],
                 [r[key] * scale for r in rows if r["kind"] == kind], "points")
            for kind in ("randread", "randwrite")
        ]  # fmt: skip
        found.append(Picture(name, title, "queue depth", unit, lines, log_x=True, log_y=key == "mean_s"))
    return found + curves.of_any(recording)
