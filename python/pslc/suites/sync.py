"""How soon is a flush answered, and does the drive have power-loss protection?

Writes of 4, 16 and 64 KiB one after the other, each followed by a flush, as databases and etcd ask of a drive. A
drive with power-loss protection answers from its buffer.
"""

from typing_extensions import TypedDict

from pslc.base import words
from pslc.device.region import Region
from pslc.figures import curves
from pslc.figures.picture import Picture, Table
from pslc.figures.tables import Columns, of_rows
from pslc.recording import flushes
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import jobs, latency, not_tried
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "a tenth of the writes"
COMPUTER = "none"
WRITES = 4000
SIZES_KIB = (4, 16, 64)


def steps(region: Region) -> Steps:
    """A job for each size, one after the other."""
    count = WRITES // 10 if region.quick else WRITES
    yield "".join(
        region.job(f"sync-{size}k", rw="write", bs=f"{size}k", iodepth=1, fsync=1, number_ios=count)
        for size in SIZES_KIB
    )


class Flushed(TypedDict):
    """Writes of one size, each with its flush."""

    bytes: int
    write_s: float
    flush_s: float
    flush_p99_s: float
    per_s: float


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    flush_s: float | None
    flush_p99_s: float | None
    sync: list[Flushed]
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `flush_s`, `flush_p99_s`: median and 99th percentile of a flush after a write of 4 KiB
    - `sync`: for each size `bytes`, `write_s` (median), `flush_s`, `flush_p99_s`, and how many a second (`per_s`)
    """
    rows: list[Flushed] = []
    for name, job in jobs(recording):
        percentiles = job["sync"]["lat_ns"]["percentile"]
        mean_s = latency(job, "write") + job["sync"]["lat_ns"]["mean"] / 1e9
        rows.append(
            {
                "bytes": int(name.removeprefix("sync-").removesuffix("k")) << 10,
                "write_s": latency(job, "write", 50),
                "flush_s": percentiles.get("50.000000", 0.0) / 1e9,
                "flush_p99_s": percentiles.get("99.000000", 0.0) / 1e9,
                "per_s": 1 / max(mean_s, 1e-9),
            }
        )
    first = rows[0] if rows else None
    return {
        "flush_s": first["flush_s"] if first else None,
        "flush_p99_s": first["flush_p99_s"] if first else None,
        "sync": rows,
        "warnings": [] if len(rows) == len(SIZES_KIB) else [not_tried("all sizes were written")],
    }


def sentences(findings: Findings) -> list[str]:
    """The verdict on the flush, and how many writes a second are synced."""
    if findings["flush_s"] is None:
        return []
    first = findings["sync"][0]
    return [
        flushes.verdict(findings["flush_s"], findings["flush_p99_s"]),
        f"{first['per_s']:.0f} writes of {words.block(first['bytes'])} a second are synced, one after the other.",
    ]


def tables(findings: Findings) -> list[Table]:
    """A row for each size."""
    columns: Columns = {
        "size": ("bytes", words.block), "write": "write_s", "flush": "flush_s", "99 %": "flush_p99_s",
        "a second": ("per_s", lambda value: f"{value:.0f}"),
    }  # fmt: skip
    return [of_rows("Synced writes", findings["sync"], columns)]


def pictures(recording: Recording) -> list[Picture]:
    """The pictures of any recording."""
    return curves.of_any(recording)
