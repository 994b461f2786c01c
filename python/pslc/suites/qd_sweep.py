"""How deep a queue does the drive need? Reads and writes, random and sequential, at queue depths from 1 to 512.

Iometer's sweep: random 4 KiB and sequential 128 KiB requests within 8 GiB that were written before. A drive rests
before writes, and where its cache ended meanwhile before reads.
"""

from itertools import accumulate

from typing_extensions import TypedDict

from pslc.base import words
from pslc.device.region import MIB, Region
from pslc.figures import curves
from pslc.figures.picture import Axis, Line, Panel, Picture, Table
from pslc.figures.tables import of_rows
from pslc.recording import warnings as checks
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import BEGUN, cache, jobs, latency, rate, speed
from pslc.schema.jobs import Kind
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

UNLIKE_SCALED = "it writes for as long as on the whole drive, which may fill the smaller cache"
QUICK = "a tenth of the time at each depth, and every second depth"
COMPUTER = "none"
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
SPAN = 8 << 30
SECONDS, QUICK_SECONDS = 1.0, 0.1
REST_S = 300.0
KINDS = ("randread", "randwrite", "read", "write")
KNEE = 0.9
"""Share of the most requests a second that is as good as all of them."""


def steps(region: Region) -> Steps:
    """The span is written, so that reads find data; then each kind at each depth."""
    span = min(SPAN, region.share(1.0))
    seconds = QUICK_SECONDS if region.quick else SECONDS
    for kind in KINDS:
        text = region.write("lay-out", span)
        if not region.sparing:
            part = yield text
            estimate = cache(part)
            rests = estimate or kind.endswith("write")
            text = region.job("rest", rw="read", bs="4k", number_ios=1, pause=REST_S) if rests else ""
            if estimate and kind.endswith("write"):
                text += region.write("begin", int(BEGUN * estimate.bytes) // MIB * MIB)
        bs = "4k" if kind.startswith("rand") else "128k"
        for depth in DEPTHS[::2] if region.quick else DEPTHS:
            text += region.job(f"{kind}-{depth}", rw=kind, bs=bs, iodepth=depth, size=span, seconds=seconds,
                              norandommap=bs == "4k")  # fmt: skip
        yield text


class Depth(TypedDict):
    """A kind of requests at a depth."""

    kind: str
    depth: int
    iops: float
    bytes_per_s: float
    mean_s: float
    p99_s: float
    little: float


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    qd_sweep: list[Depth]
    randread_most_iops: float | None
    randread_knee_depth: int | None
    randwrite_most_iops: float | None
    randwrite_knee_depth: int | None
    read_most_iops: float | None
    read_knee_depth: int | None
    write_most_iops: float | None
    write_knee_depth: int | None
    little_worst: float | None
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `qd_sweep`: `kind` (fio's `rw`), `depth`, `iops`, `bytes_per_s`, `mean_s`, `p99_s`, `little`: requests under
      way by Little's law over the depth, 1 when the queue was full
    - `randread_most_iops`, `randread_knee_depth`: the most, and the smallest depth with 90 % of it; so for each kind
    - `little_worst`: the `little` furthest from 1
    """
    rows: list[Depth] = []
    for name, job in jobs(recording):
        kind, _, depth = name.partition("-")
        if kind in KINDS and depth.isdigit():
            of: Kind = "read" if kind.endswith("read") else "write"
            iops, mean = rate(job, of), latency(job, of)
            rows.append(
                {
                    "kind": kind,
                    "depth": int(depth),
                    "iops": iops,
                    "bytes_per_s": speed(job, of),
                    "mean_s": mean,
                    "p99_s": latency(job, of, 99),
                    "little": iops * mean / int(depth),
                }
            )
    knees = [_knee(rows, kind) for kind in KINDS]
    (random_read, random_read_knee), (random_write, random_write_knee), (read, read_knee), (write, write_knee) = knees
    most_unlike = max(rows, key=lambda row: abs(row["little"] - 1), default=None)
    worst = most_unlike["little"] if most_unlike else None
    warnings = []
    if most_unlike is not None and abs(most_unlike["little"] - 1) > 0.1:
        off = f"{100 * abs(most_unlike['little'] - 1):.0f} % {'shorter' if most_unlike['little'] < 1 else 'longer'}"
        asked = f"the queue of {most_unlike['kind']} was {off} on average than the {most_unlike['depth']} asked for"
        longer = checks.longer(recording, "go by the depths below it")
        warnings.append(MeasurementWarning("shallow-queue", f"{asked}: {longer}"))
    slower = [_slower(rows, kind) for kind in ("randwrite", "write")]
    if any(slower):
        why = f"writes were slower at queue depth {max(slower)} than at less, as when a cache is full"
        less = "repeat it on an emptier drive" if recording.scope.get("quick") else "--quick writes a tenth as much"
        warnings.append(MeasurementWarning("cache-full", f"{why}, so the depth they need is uncertain: {less}"))
    return {
        "qd_sweep": rows,
        "randread_most_iops": random_read,
        "randread_knee_depth": random_read_knee,
        "randwrite_most_iops": random_write,
        "randwrite_knee_depth": random_write_knee,
        "read_most_iops": read,
        "read_knee_depth": read_knee,
        "write_most_iops": write,
        "write_knee_depth": write_knee,
        "little_worst": worst,
        "warnings": warnings,
    }


def _slower(rows: list[Depth], kind: str) -> int:
    """The depth at which these requests were served the most slowly, against a lower depth; 0 where nowhere much."""
    of_kind = [row for row in rows if row["kind"] == kind]
    highest = accumulate((row["iops"] for row in of_kind), max)
    shares = [(row["iops"] / best, row["depth"]) for row, best in zip(of_kind, highest, strict=True) if best]
    share, depth = min(shares, default=(1.0, 0))
    return depth if share < KNEE**2 else 0


def _knee(rows: list[Depth], kind: str) -> tuple[float | None, int | None]:
    """The most requests a second, and the smallest depth with nearly as many."""
    of_kind = [row for row in rows if row["kind"] == kind]
    highest = max((row["iops"] for row in of_kind), default=None)
    return highest, next((row["depth"] for row in of_kind if highest and row["iops"] >= KNEE * highest), None)


def sentences(findings: Findings) -> list[str]:
    """The most of each kind, and where."""
    random = (
        ("reads", findings["randread_most_iops"], findings["randread_knee_depth"]),
        ("writes", findings["randwrite_most_iops"], findings["randwrite_knee_depth"]),
    )
    sequential = (
        ("reads", findings["read_most_iops"], findings["read_knee_depth"]),
        ("writes", findings["write_most_iops"], findings["write_knee_depth"]),
    )
    return [
        *(f"4 KiB random {kind}: up to {words.count(highest)} IOPS; queue depth {depth} is enough."
          for kind, highest, depth in random if highest),
        *(f"Sequential {kind}: up to {words.speed(highest * 128 * 1024)}; queue depth {depth} is enough."
          for kind, highest, depth in sequential if highest),
    ]  # fmt: skip


def tables(findings: Findings) -> list[Table]:
    """Table with a row for each kind of request and queue depth."""
    columns = {"kind": "kind", "depth": "depth", "IOPS": "iops", "speed": "bytes_per_s", "mean": "mean_s"}
    return [of_rows("Queue depths", findings["qd_sweep"], columns | {"99 %": "p99_s"})]


def pictures(recording: Recording) -> list[Picture]:
    """IOPS and latency of random requests against depth."""
    rows = recording.findings.typed(Findings)["qd_sweep"]
    of = {kind: [row for row in rows if row["kind"] == kind] for kind in ("randread", "randwrite")}
    depths = {kind: [row["depth"] for row in some] for kind, some in of.items()}
    iops = [Line(kind, depths[kind], [row["iops"] for row in some], "points") for kind, some in of.items()]
    took = [Line(kind, depths[kind], [row["mean_s"] for row in some], "points") for kind, some in of.items()]
    panels = (Panel(Axis("IOPS", "/s"), iops), Panel(Axis("mean latency", "s", log=10), took))
    moved = [done for name, job in jobs(recording) if name.startswith("rand") for done in (job["read"], job["write"])]
    title = curves.with_request_size("Random IOPS and latency by queue depth", moved)
    return [Picture("iops", title, Axis("queue depth", log=2), panels), *curves.of_any(recording)]
