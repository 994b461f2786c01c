"""How large is the write buffer, and how soon is a write acknowledged?

First 4 KiB writes one by one, without and with a flush after each. Then, while the cache is full and the cells are
slow, short bursts of 128 KiB writes into an empty buffer, after pauses too short for the drive to start other work. The
buffer is what goes in at link speed before the cells slow it down for the first time.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from pslc.base import words
from pslc.device.region import MIB, Region
from pslc.figures import curves
from pslc.figures.picture import Line, Picture, Table
from pslc.figures.tables import Column, of_rows
from pslc.recording.store import Recording
from pslc.recording.suite_helpers import jobs, latency
from pslc.schema.jobs import Job
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "three bursts instead of eight, a quarter of the single writes"
BURSTS, QUICK_BURSTS = 8, 3
SINGLE = 4000
BURST = 64 * MIB
"""Bytes of a burst; no buffer is larger."""
REQUEST = 128 << 10
QUICKEST = 1
"""Percent of a burst's requests, at least, that a buffer of 1 MB or more takes at once."""
SEVERAL = 4
"""Requests that are slow one after the other wait for the cells; one alone may be anything."""
PAUSE_S = 0.1
"""Long enough for what a flush began to end, too short for a drive to call it idle."""
HELD_UP = 0.7
"""A drive whose cells take this share of the link's speed never fills its buffer."""
DIFFER = 1.5
"""The largest burst over the smallest, from which their median is a rough answer."""
KINDS = {"ack": "write", "flushed": "write and flush", "burst-0": "128 KiB write of a burst"}

UNSEEN = MeasurementWarning(
    "buffer-unseen", "the cells are as fast as single writes, so the buffer is never full and cannot be seen"
)
BUSY = MeasurementWarning(
    "busy-cells", "the cells were busy with something else in every burst: leave the drive alone before, --idle"
)


def steps(region: Region) -> Steps:
    """Single writes; the cache filled, and the bursts."""
    count = SINGLE // 4 if region.quick else SINGLE
    small = partial(region.job, rw="randwrite", bs="4k", iodepth=1, number_ios=count, size=min(region.size, 1 << 30))
    yield small("ack") + small("flushed", fsync=1)
    burst = min(BURST, region.share(0.1))
    yield region.write("fill-cache", region.share(0.6))
    cells = region.job("cells", rw="write", fsync=1, number_ios=8, pause=PAUSE_S, thinktime="20ms", bs="128k",
                       iodepth=1, offset=region.share(0.95), size=min(region.share(0.05), MIB))  # fmt: skip
    for number in range(QUICK_BURSTS if region.quick else BURSTS):
        at = region.share(0.6) + number * burst % max(region.share(0.3) // burst * burst, burst)
        # The flushes empty the buffer of what the burst before it left.
        yield cells + region.job(
            f"burst-{number}", rw="write", bs="128k", iodepth=1, offset=at, size=burst, pause=PAUSE_S
        )


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    ack_s: float | None
    ack_p99_s: float | None
    flushed_s: float | None
    link_bytes_per_s: float | None
    cells_bytes_per_s: float | None
    bursts: list[int]
    buffer_bytes: float | None
    buffer_bytes_low: int | None
    buffer_bytes_high: int | None
    doubts: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `ack_s`, `ack_p99_s`: a 4 KiB write, one at a time
    - `flushed_s`: the same with a flush after it, both together
    - `link_bytes_per_s`: of 128 KiB writes, one at a time, while the buffer takes them; `cells_bytes_per_s`: after
    - `buffer_bytes`, `_low`, `_high`: of the write buffer, with its 90 % interval: the range of the bursts, widened by
      what all dies program at a time; null when the cells are never slow enough to fill it
    - `bursts`: of each the bytes that the buffer took
    """
    result: Findings = {
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
            result |= {"ack_s": latency(job, "write", 50), "ack_p99_s": latency(job, "write", 99)}
        if name == "flushed":
            result["flushed_s"] = latency(job, "write") + job["sync"]["lat_ns"]["mean"] / 1e9
    _buffer(recording, result)
    return result


def _buffer(recording: Recording, result: Findings) -> None:
    """What the bursts tell of it."""
    bursts = [_Burst.of(part, job) for part in recording.parts for name, job in jobs(part) if name.startswith("burst-")]
    if not bursts:
        return
    # One request after the other: the quickest are taken by the buffer, and the last of a burst wait for the cells.
    link = max(burst.link_bytes_per_s for burst in bursts)
    cells = float(np.median([burst.late() for burst in bursts]))
    result |= {"link_bytes_per_s": link, "cells_bytes_per_s": cells}
    if cells > HELD_UP * link:
        result["doubts"] = [UNSEEN]
        return
    program = float(np.median([_flush(job) for name, job in jobs(recording) if name == "cells"] or [0.0]))
    for burst in bursts:
        taken, after = burst.first_wait(float(np.sqrt(link * cells)))
        # All that was taken is in the buffer or in the cells, which give room back from their first program's end on.
        held = round(taken - cells * max(after - program, 0.0))
        # The cells may have had something else to do meanwhile, which tells nothing of the buffer.
        if held > 0:
            result["bursts"].append(held)
    if not result["bursts"]:
        result["doubts"] = [BUSY]
        return
    low, high = min(result["bursts"]), max(result["bursts"])
    if high > DIFFER * low:
        reason = f"the bursts differ, {words.size(low)} to {words.size(high)}"
        rough = MeasurementWarning(
            "bursts-differ", f"{reason}: the cells did something else meanwhile, so this is rough"
        )
        result["doubts"] = [rough]
    # The cells give room back a program of all dies at a time, and a request is taken as a whole. The one that waits is
    # partly taken already, so above there is one more.
    grain = round(cells * program + REQUEST / 2)
    result["buffer_bytes"] = float(np.median(result["bursts"]))
    result |= {"buffer_bytes_low": max(low - grain, 0), "buffer_bytes_high": high + grain + REQUEST}


def _flush(job: Job) -> float:
    return float(job["sync"]["lat_ns"]["percentile"].get("50.000000", 0)) / 1e9


@dataclass(frozen=True)
class _Burst:
    """What was written by when: bytes, and seconds since it began."""

    link_bytes_per_s: float
    bytes: NDArray[np.float64]
    at_s: NDArray[np.float64]

    @classmethod
    def of(cls, part: Recording, job: Job) -> "_Burst":
        begin, end = job["start_ns"], job["start_ns"] + job["elapsed_ns"]
        ends = part.bytes["end_ns"].astype(np.float64)
        inside = (ends > begin) & (ends <= end + 1)
        return cls(
            REQUEST / max(latency(job, "write", QUICKEST), 1e-9),
            np.append(0.0, np.cumsum(part.bytes["write_bytes"][inside], dtype=np.float64)),
            np.append(0.0, (ends[inside] - begin) / 1e9),
        )

    def late(self) -> float:
        """Bytes a second over its last half."""
        half = float(np.interp(self.bytes[-1] / 2, self.bytes, self.at_s))
        return float(self.bytes[-1]) / 2 / max(float(self.at_s[-1]) - half, 1e-9)

    def first_wait(self, bytes_per_s: float) -> tuple[float, float]:
        """Bytes and seconds after which it is slower than that for the first time, and stays so for some requests.

        From there on the cells give room in lumps: what they must fold for it comes before or after.
        """
        speeds = np.diff(self.bytes) / np.maximum(np.diff(self.at_s), 1e-9)
        ahead = np.interp(self.bytes[:-1] + SEVERAL * REQUEST, self.bytes, self.at_s) - self.at_s[:-1]
        slow = (speeds < bytes_per_s) & (bytes_per_s * ahead > SEVERAL * REQUEST)
        first = int(np.argmax(slow)) if slow.any() else len(self.bytes) - 1
        return float(self.bytes[first]), float(self.at_s[first])


def sentences(findings: Findings) -> list[str]:
    """Latency of acknowledgement and flush, and size of the write buffer, as sentences."""
    lines = []
    if findings["ack_s"] is not None and findings["flushed_s"] is not None:
        flushed = words.span(findings["flushed_s"])
        lines.append(
            f"A 4 KiB write is acknowledged after {words.span(findings['ack_s'])}, with a flush after {flushed}."
        )
    size, low, high = findings["buffer_bytes"], findings["buffer_bytes_low"], findings["buffer_bytes_high"]
    if size is not None and low is not None and high is not None:
        ends = words.size(low), words.size(high)
        between = f" ({ends[0]} to {ends[1]})" if ends[0] != ends[1] else ""
        lines.append(f"Write buffer: about {words.size(size)}{between}.")
    return lines


def tables(findings: Findings) -> list[Table]:
    """Table of the bursts."""
    rows = [{"number": number, "bytes": size} for number, size in enumerate(findings["bursts"], 1)]
    columns: list[Column] = [("burst", "number", words.count), ("into the buffer", "bytes", words.size)]
    return [of_rows("Bursts", rows, columns)] if rows else []


def pictures(recording: Recording) -> list[Picture]:
    """Speed within the bursts."""
    lines = []
    for part in recording.parts:
        for name, job in jobs(part):
            if name.startswith("burst-") and len((burst := _Burst.of(part, job)).bytes) > 3:
                speeds = np.diff(burst.bytes[1:]) / np.diff(burst.at_s[1:]) / 1e6
                number = int(name.removeprefix("burst-")) + 1
                lines.append(Line(f"burst {number}", burst.bytes[2:] / 1e6, speeds))
    return [Picture("bursts", "Bursts of writes", "MB written", "MB/s", lines[:3]), *curves.of_any(recording)]
