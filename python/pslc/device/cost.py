"""Cost of steps on a drive before they run: bytes, time and memory."""

from dataclasses import dataclass
from typing import Final, Literal

from pslc._native import plan_jobs
from pslc.device.target import Target
from pslc.recording.warnings import link_bytes_per_s
from pslc.schema.facts import Device, Facts

SLOW, FAST = 100e6, 3000e6
"""Bytes a second between which drives write for long: bounds of how long it takes."""
SIMULATED_REQUESTS, SIMULATED_SECONDS = 2e6, 1e5
"""Requests, and seconds of the drive, that go by in a second of the simulation, in round numbers (bench `table`)."""

SUMMED: Final[tuple[Literal["write_bytes", "read_bytes", "timed_ns", "idle_ns", "layout_bytes"], ...]] = (
    "write_bytes",
    "read_bytes",
    "timed_ns",
    "idle_ns",
    "layout_bytes",
)
"""Figures of a plan that add up over the steps."""


@dataclass(frozen=True)
class Cost:
    """Cost of steps on a drive, as far as it is known before they run.

    Attributes:
        write_bytes: bytes that the steps write, without those of timed jobs.
        read_bytes: the same for reads.
        timed_s: duration of jobs that end by time. If they write, they may write as much as the drive can.
        idle_s: time for which the drive is left idle.
        writes_until_time: whether a timed job writes.
        least_s: shortest possible duration by the wall clock, with the drive always at its best; of a simulation its
            usual duration.
        memory_bytes: largest memory use, without the program itself.
        layout_bytes: bytes of a new file that the steps read before they write them.
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
        """Duration of the steps in seconds on a drive that moves `bytes_per_s`."""
        return (self.write_bytes + self.read_bytes) / bytes_per_s + self.timed_s + self.idle_s


def cost(steps: list[str], source: str, options: list[tuple[str, str]], target: Target) -> Cost:
    """The cost of steps on a drive.

    Raises:
        PslcError: a job file cannot be used on it.
    """
    simulated = not target.is_real
    if simulated:
        best = (target.facts["link_bytes_per_s"], max(target.facts["read_iops"], target.facts["write_iops"]))
    else:
        best = (best_bytes_per_s(target.facts), float("inf"))
    plans = [plan_jobs(text, source, options, target.capacity_bytes, simulated, *best) for text in steps]
    shortest_s = sum(step["least_s"] for step in plans)
    if simulated:
        shortest_s = sum(step["requests"] for step in plans) / SIMULATED_REQUESTS + shortest_s / SIMULATED_SECONDS
    held = max((step["memory_bytes"] for step in plans), default=0)
    if simulated:
        held += _maps([job for step in plans for job in step["scattered"]], target)
    totals = {key: sum(step[key] for step in plans) for key in SUMMED}
    return Cost(
        write_bytes=totals["write_bytes"],
        read_bytes=totals["read_bytes"],
        timed_s=totals["timed_ns"] / 1e9,
        idle_s=totals["idle_ns"] / 1e9,
        writes_until_time=any(step["writes_until_time"] for step in plans),
        least_s=shortest_s,
        memory_bytes=held,
        layout_bytes=totals["layout_bytes"],
    )


def best_bytes_per_s(facts: Facts) -> float:
    """Bytes a second that a real drive writes at its best, and no more than its link carries; a link of a virtual
    machine says nothing."""
    link = None if facts["host"]["virtual"] else link_bytes_per_s(facts["device"] or Device())
    return min(FAST, link or FAST)


def _maps(scattered: list[tuple[int, int]], target: Target) -> int:
    """Memory of a simulated drive's two maps where each page is on its own: 4 bytes a page, 2 MiB at a time. The data
    lie where they were written, and garbage collection writes them again."""
    page, entry, segment, again = 4096, 4, 2 << 20, 3
    there = sum(min(span // page * entry, written // page * segment) for span, written in scattered)
    there = min(there, target.capacity_bytes // page * entry)
    written = sum(written for _, written in scattered)
    return int(there + min(written * again, target.facts["native_raw_bytes"]) // page * entry)
