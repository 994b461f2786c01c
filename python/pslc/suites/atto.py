"""What would ATTO show? Speed against the size of a request, from 512 bytes to 64 MB.

ATTO-compatible: a file of 256 MB, written and then read in sequence at each size, at queue depth 4, bypassing the page
cache. Sizes below 4 KiB are left out if the target does not take them.
"""

import numpy as np
from typing_extensions import TypedDict

from pslc.base import words
from pslc.device.region import MIB, Region
from pslc.figures import classic, curves
from pslc.figures.picture import Axis, Line, Panel, Picture, Table
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import jobs, speed
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "every second size, a file of 64 MB"
COMPUTER = "i7-13700k"
UNLIKE_SCALED = "its file has a fixed size"
SIZES = [512 << n for n in range(18)]
FILE, QUICK_FILE = 256 * MIB, 64 * MIB
LEAST_REQUESTS = 16


def steps(region: Region) -> Steps:
    """Each size, written and read."""
    size = min(QUICK_FILE if region.quick else FILE, region.share(1.0))
    smallest = 4096 if region.target.is_real else 512
    text = region.write("test-file", size)
    for bs in [bs for bs in SIZES if smallest <= bs <= size][:: 2 if region.quick else 1]:
        # A few requests would tell of buffers alone.
        loops = -(-LEAST_REQUESTS * bs // size)
        for kind in ("write", "read"):
            text += region.job(f"{kind}-{bs}", rw=kind, bs=bs, iodepth=4, size=size, loops=loops)
    yield text


class Size(TypedDict):
    """A size of requests."""

    test: str
    request_bytes: int
    write_bytes_per_s: float | None
    read_bytes_per_s: float | None


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    atto: list[Size]
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `atto`: of each `request_bytes` `write_bytes_per_s`, `read_bytes_per_s`; `test` is the size in words"""
    rows: dict[int, Size] = {}
    for name, job in jobs(recording):
        kind, _, bs = name.partition("-")
        if kind in ("read", "write"):
            size = int(bs)
            called = words.block(size)
            row = rows.setdefault(
                size, {"test": called, "request_bytes": size, "write_bytes_per_s": None, "read_bytes_per_s": None}
            )
            if kind == "read":
                row["read_bytes_per_s"] = speed(job, "read")
            else:
                row["write_bytes_per_s"] = speed(job, "write")
    return {"atto": list(rows.values()), "warnings": []}


def sentences(findings: Findings) -> list[str]:
    """The most, and from which size on it is nearly that."""
    lines = []
    speeds = {
        "write": [(row["test"], row["write_bytes_per_s"]) for row in findings["atto"]],
        "read": [(row["test"], row["read_bytes_per_s"]) for row in findings["atto"]],
    }
    for kind, of in speeds.items():
        fastest = max((speed for _, speed in of if speed), default=0.0)
        if fastest:
            enough = next(test for test, speed in of if speed and speed >= 0.9 * fastest)
            lines.append(f"ATTO-compatible {kind}: up to {words.speed(fastest)}, 90 % of that from {enough} on.")
    return lines


def tables(findings: Findings) -> list[Table]:
    """Table with a row for each request size."""
    return [classic.table("ATTO-compatible", findings["atto"])]


def pictures(recording: Recording) -> list[Picture]:
    """Speed against request size."""
    rows = recording.findings.typed(Findings)["atto"]
    sizes = [row["request_bytes"] for row in rows]
    lines = [
        Line("write", sizes, [row["write_bytes_per_s"] or np.nan for row in rows], "points"),
        Line("read", sizes, [row["read_bytes_per_s"] or np.nan for row in rows], "points"),
    ]
    x = Axis("request size", "block", log=2)
    return [Picture("atto", "Speed by request size", x, (Panel(curves.SPEED, lines),)), *curves.of_any(recording)]
