"""How large is the write buffer, and how soon is a write acknowledged?

First 4 KiB writes one by one, without and with a flush after each. Then, while the cache is full and the cells are
slow, short bursts of 128 KiB writes after pauses too short for the drive to begin anything: what goes in at the speed
of the link, before the cells hold it up, is the buffer.
"""

from typing import Any, TypedDict

import numpy as np

from pslc import words
from pslc.doubt import Doubt
from pslc.figures import curves
from pslc.figures.picture import Line, Picture, Table
from pslc.figures.tables import of_rows
from pslc.findings.measure import jobs, latency, seconds
from pslc.jobs import Job
from pslc.recording import Recording
from pslc.suites import Steps
from pslc.targets.region import MIB, Region

QUICK = "three bursts instead of eight, a quarter of the single writes"
BURSTS, QUICK_BURSTS = 8, 3
SINGLE = 4000
BURST = 64 * MIB
"""Bytes of a burst; no buffer is larger."""
PAUSE_S = 0.1
"""Long enough for a buffer to be programmed, too short for a drive to call it idle."""
HELD_UP = 0.7
"""A drive whose cells take this share of the link's speed never fills its buffer."""
DIFFER = 1.5
"""The largest burst over the smallest, from which their median is a rough answer."""
KINDS = {"ack": "write", "flushed": "write and flush", "burst-0": "128 KiB write of a burst"}


def steps(region: Region) -> Steps:
    """Single writes; the cache filled, and the bursts."""
    count = SINGLE // 4 if region.quick else SINGLE
    small: dict[str, Any] = {
        "rw": "randwrite",
        "bs": "4k",
        "iodepth": 1,
        "number_ios": count,
        "size": min(region.size, 1 << 30),
    }
    yield region.job("ack", **small) + region.job("flushed", fsync=1, **small)
    burst = min(BURST, region.share(0.1))
    yield region.write("fill-cache", region.share(0.6))
    single: dict[str, Any] = {
        "bs": "128k",
        "iodepth": 1,
        "offset": region.share(0.95),
        "size": min(region.share(0.05), MIB),
    }
    text = region.job("cells", rw="write", fsync=1, number_ios=8, pause=PAUSE_S, thinktime="20ms", **single)
    for number in range(QUICK_BURSTS if region.quick else BURSTS):
        at = region.share(0.6) + number * burst % max(region.share(0.3) // burst * burst, burst)
        text += region.job(f"burst-{number}", rw="write", bs="128k", iodepth=1, offset=at, size=burst, pause=PAUSE_S)
    yield text


class Findings(TypedDict):
    """See `findings`."""

    ack_s: float | None
    ack_p99_s: float | None
    flushed_s: float | None
    link_bytes_per_s: float | None
    cells_bytes_per_s: float | None
    bursts: list[int]
    buffer_bytes: float | None
    buffer_bytes_low: int | None
    buffer_bytes_high: int | None
    doubts: list[Doubt]


def findings(recording: Recording) -> Findings:
    """- `ack_s`, `ack_p99_s`: a 4 KiB write, one at a time
    - `flushed_s`: the same with a flush after it, both together
    - `link_bytes_per_s`: of 128 KiB writes, one at a time, while the buffer takes them; `cells_bytes_per_s`: after
    - `buffer_bytes`, `_low`, `_high`: of the write buffer, with the range of the bursts; null when the cells are never
      slow enough to fill it
    - `bursts`: of each the bytes that the buffer took
    """
    found: Findings = {
        "ack_s": None,
        "ack_p99_s": None,
        "flushed_s": None,
        "link_bytes_per_s": None,
        "cells_bytes_per_s": None,
        "bursts": [],
        "buffer_bytes": None,
        "buffer_bytes_low": None,
        "buffer_bytes_high": None,
        "doubts": [],
    }
    for name, job in jobs(recording):
        if name == "ack":
            found |= {"ack_s": latency(job, "write", 50), "ack_p99_s": latency(job, "write", 99)}
        if name == "flushed":
            found["flushed_s"] = latency(job, "write") + job["sync"]["lat_ns"]["mean"] / 1e9
    last = recording.parts[-1]
    bursts = [job for name, job in jobs(last) if name.startswith("burst-")]
    if not bursts:
        return found
    # One request after the other: the quickest are taken by the buffer, and the last of a burst wait for the cells.
    link = max(131072 / max(latency(job, "write", 5), 1e-9) for job in bursts)
    cells = float(np.median([_late(last, job) for job in bursts]))
    found |= {"link_bytes_per_s": link, "cells_bytes_per_s": cells}
    if cells > HELD_UP * link:
        found["doubts"] = [
            Doubt(
                "buffer-unseen",
                "the cells are as fast as single writes, so the buffer is never full and cannot be seen",
            )
        ]
        return found
    program = next((_flush(job) for name, job in jobs(last) if name == "cells"), 0.0)
    for job in bursts:
        total, took = job["write"]["io_bytes"], seconds(job)
        # All that was taken is in the buffer or in the cells, which give room back from their first program's end on.
        held = round(total - cells * (took - program))
        # The cells may have had something else to do meanwhile, which tells nothing of the buffer.
        if held > 0:
            found["bursts"].append(held)
    if not found["bursts"]:
        found["doubts"] = [
            Doubt(
                "busy-cells",
                "the cells were busy with something else in every burst: leave the drive alone before, --idle",
            )
        ]
        return found
    low, high = min(found["bursts"]), max(found["bursts"])
    if high > DIFFER * low:
        held_each = f"{words.size(low)} to {words.size(high)}"
        found["doubts"] = [
            Doubt(
                "bursts-differ",
                f"the bursts differ, {held_each}: the cells did something else meanwhile, so this is rough",
            )
        ]
    found |= {"buffer_bytes": float(np.median(found["bursts"])), "buffer_bytes_low": low, "buffer_bytes_high": high}
    return found


def _flush(job: Job) -> float:
    return float(job["sync"]["lat_ns"]["percentile"].get("50.000000", 0)) / 1e9


def _late(recording: Recording, job: Job) -> float:
    """Bytes a second over the last half of a burst."""
    series = recording.bytes
    ends = series["end_ns"].astype(np.float64)
    written = np.cumsum(series["write_bytes"], dtype=np.float64)
    end = float(job["start_ns"] + job["elapsed_ns"])
    total = job["write"]["io_bytes"]
    inside = (ends > job["start_ns"]) & (ends <= end + 1)
    if inside.sum() < 4:
        return float(total / seconds(job))
    at, done = ends[inside], written[inside]
    middle = float(np.interp(done[-1] - total / 2, done, at))
    return float((done[-1] - np.interp(middle, at, done)) / (at[-1] - middle) * 1e9)


def sentences(findings: Findings) -> list[str]:
    """Acknowledgement, flush, buffer."""
    said = []
    if findings["ack_s"] is not None and findings["flushed_s"] is not None:
        flushed = words.span(findings["flushed_s"])
        said.append(
            f"A 4 KiB write is acknowledged after {words.span(findings['ack_s'])}, with a flush after {flushed}."
        )
    size, low, high = findings["buffer_bytes"], findings["buffer_bytes_low"], findings["buffer_bytes_high"]
    if size is not None and low is not None and high is not None:
        ends = words.size(low), words.size(high)
        between = f" ({ends[0]} to {ends[1]} in single bursts)" if ends[0] != ends[1] else ""
        said.append(f"Write buffer: about {words.size(size)}{between}.")
    return said


def tables(findings: Findings) -> list[Table]:
    """The bursts."""
    rows = [{"number": number, "bytes": size} for number, size in enumerate(findings["bursts"], 1)]
    return [of_rows("Bursts", rows, [("burst", "number", words.count), ("into the buffer", "bytes", words.size)])]


def pictures(recording: Recording) -> list[Picture]:
    """Speed within the bursts."""
    lines = []
    part = recording.parts[-1]
    series = part.bytes
    ends = series["end_ns"].astype(np.float64)
    for name, job in jobs(part):
        inside = (ends > job["start_ns"]) & (ends <= job["start_ns"] + job["elapsed_ns"] + 1)
        if name.startswith("burst-") and inside.sum() > 2:
            size = np.cumsum(series["write_bytes"][inside], dtype=np.float64)
            speeds = np.diff(size) / np.diff(ends[inside]) * 1e3
            lines.append(Line(name, size[1:] / 1e6, speeds))
    return [Picture("bursts", "Bursts of writes", "MB written", "MB/s", lines[:3]), *curves.of_any(recording)]
