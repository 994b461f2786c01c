"""The write curve of a recording: time against bytes written, from its first request on."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pslc.analysis import Curve
from pslc.recording.model import Recording
from pslc.schema.job_options import Traits, traits
from pslc.schema.jobs import Job

SHORTEST_NS = 10e6
SETTLING_NS = 250e6
"""Time behind a gap in which the machine is not yet as before: the scheduler first wakes the threads of a run on one
core (Linux: for 60 to 100 ms, in which a file in memory was written at 1500 instead of 450 MB/s)."""
DRAINED = 8
"""Times its size that a write buffer takes in at the speed of the link, where cells of seven eighths of it empty it."""


@dataclass(frozen=True)
class WriteTrack:
    """The writes of a recording, as curve and evidence take them.

    Attributes:
        recording: the recording.
        edges_bytes: bytes written at the borders of the bins, shape (n + 1,).
        began_ns: start of the first job, after its start delay, and on a real drive after its file was laid out.
        jobs: jobs that wrote, each with what its options say of it.
    """

    recording: Recording
    edges_bytes: NDArray[np.float64]
    began_ns: int
    jobs: list[tuple[Job, Traits]]

    @classmethod
    def of(cls, recording: Recording) -> WriteTrack:
        """The writes of a recording."""
        edges = np.concatenate([[0.0], np.cumsum(recording.bytes["write_bytes"], dtype=np.float64)])
        jobs = [(job, traits(job)) for job in recording.jobs if job["write"]["total_ios"]]
        return cls(recording, edges, began(recording), jobs)

    @cached_property
    def under_way_bytes(self) -> float:
        """Bytes of the writes that the jobs of a group ask for at once; not known of another program's jobs."""
        sizes = defaultdict[int, float](float)
        for job, _ in self.jobs:
            sizes[job.get("groupid", 0)] += job["iodepth"] * job["write"]["io_bytes"] / job["write"]["total_ios"]
        return float(max(sizes.values(), default=0.0))

    @property
    def buffered_bytes(self) -> float:
        """Bytes that the write buffer of a simulated drive takes in at most; infinite where the host's memory may."""
        facts, host = self.recording.facts, self.recording.profile_keys.get("host", {})
        return math.inf if "page_cache" in host else DRAINED * float(facts["write_buffer_bytes"])

    @property
    def curve(self) -> Curve | None:
        """Time against bytes written; None when nothing was. Bins without bytes or time join the one before them, and
        on a real drive those shorter than `SHORTEST_NS`: they tell of the order in which requests came back. There the
        first one holds all that was asked for at once, as a part of it tells how long a request takes, and no speed.
        Bins within `SETTLING_NS` behind a gap join it, too."""
        recording, edges = self.recording, self.edges_bytes
        as_read = "imported" in recording.facts
        start_ns = recording.start_ns if as_read else self.began_ns
        ends = np.concatenate([[start_ns], recording.bytes["end_ns"]]).astype(np.float64)
        is_whole = recording.is_simulated or as_read
        shortest_ns, first_bytes = (0.0, 0.0) if is_whole else (SHORTEST_NS, self.under_way_bytes)
        unsettled = np.zeros(len(ends), dtype=np.bool_)
        for gap in recording.gaps:
            behind_ns = ends - recording.start_ns - 1e9 * gap["at_s"]
            unsettled |= (behind_ns >= 0) & (behind_ns < SETTLING_NS)
        keep = [0]
        for i in range(1, len(edges)):
            enough = edges[i] > edges[keep[-1]] and edges[i] >= first_bytes
            if enough and not unsettled[i] and ends[i] > ends[keep[-1]] + shortest_ns:
                keep.append(i)
        if len(keep) < 2:
            return None
        keep[-1] = max(keep[-1], len(edges) - 1)
        return Curve(edges[keep], np.diff(ends[keep]) / 1e9)

    @property
    def is_mixed(self) -> bool:
        """Whether the curve shows more than the drive's own speed: other requests among the writes, or pauses and a
        rate of the host."""
        return bool(self.recording.bytes["reads"].any() or self.recording.bytes["trims"].any()) or self.is_paced

    @property
    def is_paced(self) -> bool:
        """Whether the host paused or kept to a rate. A silence before the first request is not in the curve."""
        options = [(traits(job), job) for job in self.recording.jobs]
        return any(of["paced"] or (of["delayed"] and job["start_ns"] > self.began_ns) for of, job in options)


def write_curve(recording: Recording) -> Curve | None:
    """Time against bytes written; None when nothing was. See `WriteTrack.curve`."""
    return WriteTrack.of(recording).curve


def began(recording: Recording) -> int:
    """Start of the first job in ns; see `WriteTrack.began_ns`."""
    start = recording.start_ns
    return max(start, min((job.get("start_ns", start) for job in recording.jobs), default=start))
