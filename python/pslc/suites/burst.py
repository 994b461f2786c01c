"""How large is the write buffer, and how soon is a write acknowledged?

First 4 KiB writes one by one, without and with a flush after each. Then, while the cache is full, short bursts of 128
KiB writes into an empty buffer. The buffer is what goes in at link speed before the cells slow it down.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from pslc.base import words
from pslc.device.region import MIB, Region
from pslc.figures import curves
from pslc.figures.picture import Label, Line, Panel, Picture, Table
from pslc.figures.tables import of_rows
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import jobs, latency
from pslc.schema.jobs import Job
from pslc.schema.unknown import unknown
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "three bursts instead of eight, a quarter of the single writes"
COMPUTER = "none"
ASKS_CACHE = True
UNLIKE_SCALED = "its bursts have a fixed size"
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
LATE_SHARES = ((80e-6, 1.0), (1e-3, 0.5))
"""Seconds of a flush, and the share of what the cells should have given back meanwhile that they may not have: where
capacitors carry the buffer flushes say nothing of a program, and a short one may be of cells of one bit, or wait until
room is made for them."""
HELD_UP = 0.7
"""A drive whose cells take this share of the link's speed never fills its buffer."""
DIFFER = 1.5
"""The largest burst over the smallest, from which their median is a rough answer."""
KINDS = {"ack": "write", "flushed": "write and flush", "burst-0": "128 KiB write of a burst"}

UNSEEN = MeasurementWarning(
    "buffer-unseen", "the cells are as fast as single writes, so the buffer is never full and cannot be seen"
)
PROGRAM_UNKNOWN = MeasurementWarning(
    "program-unknown", "flushes end before the cells give room back, so the buffer is rough: read it as its interval"
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
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `ack_s`, `ack_p99_s`: a 4 KiB write, one at a time
    - `flushed_s`: the same with a flush after it, both together
    - `link_bytes_per_s`: of 128 KiB writes, one at a time, while the buffer takes them; `cells_bytes_per_s`: after
    - `buffer_bytes`, `_low`, `_high`: of the write buffer, with its 90 % interval: the range of the bursts, widened by
      what all dies program at a time, and up to all that was taken where flushes do not tell how long a program takes;
      null when the cells are never slow enough to fill it
    - `bursts`: of each the bytes that the buffer took
    """
    result = unknown(Findings)
    for name, job in jobs(recording):
        if name == "ack":
            result |= {"ack_s": latency(job, "write", 50), "ack_p99_s": latency(job, "write", 99)}
        if name == "flushed":
            result["flushed_s"] = latency(job, "write") + job["sync"]["lat_ns"]["mean"] / 1e9
    _buffer(recording, result)
    return result


def _buffer(recording: Recording, result: Findings) -> None:
    """Estimate of the write buffer from the bursts."""
    bursts = _Burst.each(recording)
    if not bursts:
        return
    # One request after the other: the quickest are taken by the buffer, and the last of a burst wait for the cells. A
    # machine that is busy may see single ones that were far quicker.
    link = float(np.median([burst.link_bytes_per_s for burst in bursts]))
    cells = float(np.median([burst.late() for burst in bursts]))
    result |= {"link_bytes_per_s": link, "cells_bytes_per_s": cells}
    if cells > HELD_UP * link:
        result["warnings"] = [UNSEEN]
        return
    program = _program_s(recording)
    waits = [burst.first_wait(float(np.sqrt(link * cells))) for burst in bursts]
    # All that was taken is in the buffer or in the cells, which give room back from their first program's end on. They
    # may have had something else to do meanwhile, which tells nothing of the buffer.
    held = (round(taken - cells * max(after - program, 0.0)) for taken, after in waits)
    result["bursts"] = [size for size in held if size > 0]
    if not result["bursts"]:
        result["warnings"] = [BUSY]
        return
    low, high = min(result["bursts"]), max(result["bursts"])
    # The cells give room back a program of all dies at a time, and a request is taken as a whole. The one that waits is
    # partly taken already, so above there is one more.
    grain = round(cells * program + REQUEST / 2)
    late = next((share for flush_s, share in LATE_SHARES if program < flush_s), 0.0)
    above = max(grain, round(late * (max(taken for taken, _ in waits) - high)))
    ends = max(low - grain, 0), high + above + REQUEST
    result["warnings"] = _rough((low, high), ends)
    result["buffer_bytes"] = float(np.median(result["bursts"])) if late < 1 else 0.5 * sum(ends)
    result |= {"buffer_bytes_low": ends[0], "buffer_bytes_high": ends[1]}


def _rough(bursts: tuple[int, int], interval: tuple[int, int]) -> list[MeasurementWarning]:
    """Doubt about a buffer, by its least and largest burst, and by its interval."""
    if bursts[1] > DIFFER * bursts[0]:
        reason = f"the bursts differ, {words.size(bursts[0])} to {words.size(bursts[1])}"
        text = f"{reason}: the cells did something else meanwhile, so this is rough"
        return [MeasurementWarning("bursts-differ", text)]
    return [PROGRAM_UNKNOWN] if interval[1] > DIFFER * interval[0] else []


def _program_s(recording: Recording) -> float:
    """Median seconds of a flush of one request, which waits for its program."""
    cells = [job["sync"]["lat_ns"]["percentile"] for name, job in jobs(recording) if name == "cells"]
    return float(np.median([flush.get("50.000000", 0) for flush in cells] or [0])) / 1e9


@dataclass(frozen=True)
class _Burst:
    """Writes of a burst: bytes, and seconds since it began."""

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

    @classmethod
    def each(cls, recording: Recording) -> "list[_Burst]":
        """Bursts of a recording, in order."""
        return [cls.of(part, job) for part in recording.parts for name, job in jobs(part) if name.startswith("burst-")]

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
    return [of_rows("Bursts", rows, {"burst": "number", "into the buffer": "bytes"})] if rows else []


def pictures(recording: Recording) -> list[Picture]:
    """Mean speed since the start of each burst: level while the buffer takes it in."""
    lines = []
    for part in recording.parts:
        for name, job in jobs(part):
            if name.startswith("burst-") and len((burst := _Burst.of(part, job)).bytes) > 3:
                number = int(name.removeprefix("burst-")) + 1
                lines.append(Line(Label("burst", number, ""), burst.bytes[2:], burst.bytes[2:] / burst.at_s[2:]))
    panel = Panel(curves.SPEED, lines[:3])
    drawn = Picture("bursts", "Mean speed since the start of a burst of writes", curves.WRITTEN, (panel,))
    return [drawn, *curves.of_any(recording)]
