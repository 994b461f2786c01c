"""What steps do to a drive, before they do it: bytes, time and memory."""

from dataclasses import dataclass

from pslc._native import plan_jobs
from pslc.device.target import Target

SLOW, FAST = 100e6, 3000e6
"""Bytes a second between which drives write for long: bounds of how long it takes."""
SIMULATED_REQUESTS, SIMULATED_SECONDS = 2e6, 1e5
"""Requests, and seconds of the drive, that go by in a second of the simulation, in round numbers (`make bench`)."""


@dataclass(frozen=True)
class Cost:
    """What steps do to a drive, as far as it is known beforehand.

    Attributes:
        timed_s: how long jobs go on that end by time; those that write may write as much as they can.
        idle_s: for how long the drive is left alone.
        least_s: of the clock on the wall, where the drive is at its best all the time; of a simulation, as fast as it
            mostly is.
        memory_bytes: at most, without the program itself.
        layout_bytes: what the steps read of a new file before they write it.
    """

    write_bytes: int
    read_bytes: int
    timed_s: float
    idle_s: float
    writes_until_time: bool
    least_s: float
    memory_bytes: int
    layout_bytes: int = 0

    def seconds(self, bytes_per_s: float) -> float:
        """How long it takes where so much is moved a second."""
        return (self.write_bytes + self.read_bytes) / bytes_per_s + self.timed_s + self.idle_s


def cost(steps: list[str], source: str, options: list[tuple[str, str]], target: Target) -> Cost:
    """The cost of steps on a drive.

    Raises:
        PslcError: a job file cannot be used on it.
    """
    simulated = not target.is_real
    best = (FAST, float("inf"))
    if simulated:
        best = (target.facts["link_bytes_per_s"], max(target.facts["read_iops"], target.facts["write_iops"]))
    plans = [plan_jobs(text, source, options, target.capacity_bytes, simulated, *best) for text in steps]
    shortest_s = sum(step["least_s"] for step in plans)
    if simulated:
        shortest_s = sum(step["requests"] for step in plans) / SIMULATED_REQUESTS + shortest_s / SIMULATED_SECONDS
    held = max((step["memory_bytes"] for step in plans), default=0)
    if simulated:
        held += _maps([job for step in plans for job in step["scattered"]], target)
    return Cost(
        sum(step["write_bytes"] for step in plans),
        sum(step["read_bytes"] for step in plans),
        sum(step["timed_ns"] for step in plans) / 1e9,
        sum(step["idle_ns"] for step in plans) / 1e9,
        any(step["writes_until_time"] for step in plans),
        shortest_s,
        held,
        sum(step["layout_bytes"] for step in plans),
    )


def _maps(scattered: list[tuple[int, int]], target: Target) -> int:
    """Memory of a simulated drive's two maps where each page is on its own: 4 bytes a page, 2 MiB at a time. The data
    lie where they were written, and garbage collection writes them again."""
    page, entry, segment, again = 4096, 4, 2 << 20, 3
    there = sum(min(span // page * entry, written // page * segment) for span, written in scattered)
    there = min(there, target.capacity_bytes // page * entry)
    written = sum(written for _, written in scattered)
    return int(there + min(written * again, target.facts["native_raw_bytes"]) // page * entry)
