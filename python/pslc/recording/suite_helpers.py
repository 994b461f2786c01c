"""Helpers of suites: values of one job of a recording, the end of the cache, and fast and slow writes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pslc.analysis import Curve, Phase, cache_end, find_phases
from pslc.recording.model import Recording
from pslc.recording.writes.curve import WriteTrack, began, write_curve
from pslc.recording.writes.evidence import MIN_CACHED_SHARE, counted_causes
from pslc.schema.jobs import KINDS, MOVED, Job, Kind
from pslc.schema.warnings import MeasurementWarning

BUFFER = 64 << 20
"""Bytes: a write buffer takes less beyond what cells take meanwhile, a cache of cells more."""
BINS = 400
BEGUN, LONGEST_BEGUN = 0.25, 4 << 30
"""Share of a cache, and most bytes, that are written before a write into it is measured: a drive that left off past its
cache first completes the superblock that it had begun there."""
MOST_BEGUN, AS_SLOW = 0.2, 0.3
"""Share of the bytes before the end of a cache that may not have gone into it, and how near their speed is to that past
it."""
CLIFF = 1.25
"""Smallest ratio of the speed at the start to the speed of the rest that counts as a cache."""


def jobs(recording: Recording) -> Iterator[tuple[str, Job]]:
    """Name and latencies of each job that did something: one that was cut off before tells nothing."""
    for job in recording.jobs:
        if any(job[kind]["total_ios"] for kind in KINDS):
            yield job["name"], job


def finished(recording: Recording, name: str) -> Recording | None:
    """The step whose first job has this name, if it was run to its end: what a cut one lacks shows nothing."""
    steps = (part for part in recording.parts if part.jobs and part.jobs[0]["name"] == name)
    return next((part for part in steps if part.cut_off is None), None)


NOT_TRIED: Final = "not-tried"
"""Code of the warning of a run that ended before what its suite asks was tried."""


def not_tried(what: str) -> MeasurementWarning:
    """The warning of a run that ended before `what`: its findings say nothing of that."""
    return MeasurementWarning(NOT_TRIED, f"the run ended before {what}, so nothing is known of that: run it to its end")


def was_tried(findings: Mapping[str, Any]) -> bool:
    """Whether all that a suite asks was tried, by the warnings among its findings."""
    return all(warning.code != NOT_TRIED for warning in findings.get("warnings", ()))


def seconds(job: Job) -> float:
    """Duration of a job in seconds."""
    return max(int(job["elapsed_ns"]), 1) / 1e9


def speed(job: Job, kind: Kind) -> float:
    """Bytes a second of a kind, `read` or `write`."""
    return float(job[kind]["io_bytes"] / seconds(job))


def rate(job: Job, kind: Kind) -> float:
    """Requests a second of a kind."""
    return float(job[kind]["total_ios"] / seconds(job))


def latency(job: Job, kind: Kind, percent: float | None = None) -> float:
    """Seconds: the mean, or what so many percent of the requests took at most; 0 without requests."""
    done = job[kind]["lat_ns"]
    latency_ns = done["mean"] if percent is None else done["percentile"].get(f"{percent:.6f}", 0)
    return float(latency_ns) / 1e9


def mean_latency(job: Job) -> float:
    """Seconds: the mean over reads and writes."""
    counts = [job[kind]["total_ios"] for kind in MOVED]
    return sum(n * latency(job, kind) for n, kind in zip(counts, MOVED, strict=True)) / max(sum(counts), 1)


def idle(job: Job) -> float:
    """Seconds for which the drive was left alone before it."""
    return float(job["options"].get("pause", "0us").removesuffix("us")) / 1e6


def curve(part: Recording) -> Curve | None:
    """Time against what a step wrote, without the pause before its first job; None when it wrote nothing."""
    first = int(part.jobs[0]["start_ns"]) if part.jobs else part.start_ns
    part_curve = write_curve(part)
    if part_curve is None:
        return None
    # `write_curve` begins after the pause where every job of the step has one.
    late = (first - began(part)) / 1e9
    wait = part_curve.seconds.copy()
    wait[0] = max(wait[0] - late, 1e-9)
    return Curve(part_curve.edges_bytes, wait)


@dataclass(frozen=True)
class Cache:
    """A cache as a write showed it.

    Attributes:
        bytes, low, high: how much went in, and the 90 % interval.
        fast, slow: bytes a second before and after its end; of several tiers the last.
        past: most bytes a second past its end, where that is not the cache again.
    """

    bytes: float
    low: float
    high: float
    fast: float
    slow: float
    past: float

    def fast_bytes(self, writes: Curve, *, from_start: bool = True) -> float:
        """Bytes at the beginning of another write that were as fast, or of the longest such stretch in it.

        The border is where the sum of the time that was gained over the middle of both is largest, which is its most
        likely place when both sides scatter alike. Time adds up right however finely the bins cut a drive's own pulse.
        """
        middle = 0.5 * (1 / self.fast + 1 / self.past)
        gain = np.concatenate([[0.0], np.cumsum(middle * writes.widths - writes.seconds)])
        if from_start:
            return float(writes.edges_bytes[int(np.argmax(gain))] - writes.edges_bytes[0])
        end = int(np.argmax(gain - np.minimum.accumulate(gain)))
        return float(writes.edges_bytes[end] - writes.edges_bytes[int(np.argmin(gain[: end + 1]))])


def _coarse(writes: Curve) -> Curve:
    """The curve in `BINS` bins at most: finer ones may show the pulse of the drive's pages, not its speed."""
    edges = writes.edges_bytes
    indices = np.unique(np.searchsorted(edges, np.linspace(edges[0], edges[-1], BINS + 1)))
    return Curve(edges[indices], np.add.reduceat(writes.seconds, indices[:-1]))


def cache(part: Recording | None, seed: int = 0) -> Cache | None:
    """The cache that a write came to the end of; None when there was no such end. The write buffer is none."""
    writes = curve(part) if part else None
    return _of_curve(WriteTrack.of(part), writes, seed) if part and writes else None


def _of_curve(track: WriteTrack, writes: Curve, seed: int) -> Cache | None:
    fine = _cache(track, writes, seed)
    return fine or (_cache(track, _coarse(writes), seed) if len(writes.seconds) > BINS else None)


def _levels(track: WriteTrack, writes: Curve) -> list[Phase]:
    """Phases of a write. A simulated drive tells its tiers: of several that follow each other the last is left, as the
    cache ends with it."""
    phases = find_phases(writes)
    if not track.recording.is_simulated:
        return phases
    tiers = [cause.nand_state == "pslc" for cause in counted_causes(track, writes, phases)]
    return [phase for phase, *both in zip(phases, tiers, [*tiers[1:], False], strict=True) if not all(both)]


def _cache(track: WriteTrack, writes: Curve, seed: int) -> Cache | None:
    phases = _levels(track, writes)
    end = cache_end(writes, phases, seed=seed)
    if end is None or not end.seen_end:
        return None
    after = next(phase for phase in phases if phase.from_bytes >= writes.edges_bytes[0] + end.bytes * 0.999)
    tier = np.array([phases[0].from_bytes, writes.edges_bytes[0] + end.bytes])
    fast = float(np.diff(tier)[0] / np.diff(writes.seconds_at(tier))[0])
    begun = _begun(writes, end.bytes, after.bytes_per_s)
    if begun:
        keep = int(np.searchsorted(writes.edges_bytes, writes.edges_bytes[0] + begun))
        return _cache(track, Curve(writes.edges_bytes[keep:], writes.seconds[keep:]), seed)
    if end.bytes * (1 - after.bytes_per_s / fast) < BUFFER or not _is_cached(track, tier):
        return _behind(track, writes, end.bytes, seed)
    if fast <= CLIFF * after.bytes_per_s:
        return None
    # Some drives are slowest right after the cache, while they fold it, and then as fast as their cells.
    speeds = (phase.bytes_per_s for phase in phases if phase.from_bytes >= after.from_bytes)
    past = max(speed for speed in speeds if fast > CLIFF * speed)
    return Cache(end.bytes, end.low, end.high, fast, after.bytes_per_s, past)


def _behind(track: WriteTrack, writes: Curve, buffer_bytes: float, seed: int) -> Cache | None:
    """The cache behind what a write buffer took in; None where there is none."""
    keep = int(np.searchsorted(writes.edges_bytes, writes.edges_bytes[0] + buffer_bytes))
    if keep >= len(writes.seconds):
        return None
    later = _of_curve(track, Curve(writes.edges_bytes[keep:], writes.seconds[keep:]), seed)
    if later is None:
        return None
    before = float(writes.edges_bytes[keep] - writes.edges_bytes[0])
    return replace(later, bytes=later.bytes + before, low=later.low + before, high=later.high + before)


def _is_cached(track: WriteTrack, between: NDArray[np.float64]) -> bool:
    """Whether a simulated drive wrote into its cache between two points in bytes written; True of a real one."""
    if not track.recording.is_simulated:
        return True
    return track.recording.rise("host_to_slc_bytes_total", *between) > MIN_CACHED_SHARE * float(np.diff(between)[0])


def _begun(writes: Curve, end: float, past: float) -> float:
    """Bytes that a write to the `end` of a cache begins with as slowly as `past` it: a drive that left off there first
    completes the superblock that it had begun."""
    edges = writes.edges_bytes - writes.edges_bytes[0]
    usual = float(np.median(writes.bytes_per_s[edges[1:] <= end])) if edges[1] <= end else past
    if usual <= CLIFF * past:
        return 0.0
    lost = np.r_[0.0, np.cumsum(writes.seconds - 0.5 * (1 / usual + 1 / past) * writes.widths)]
    index = int(np.argmax(np.where(edges <= MOST_BEGUN * end, lost, 0.0)))
    took = float(writes.seconds[:index].sum())
    return float(edges[index]) if index and abs(edges[index] / took / past - 1) < AS_SLOW else 0.0


def sums(recording: Recording, column: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Seconds since the start, and the running sum of a column (`write_bytes`, `writes`) until then."""
    ends = (recording.time["end_ns"].astype(np.float64) - recording.start_ns) / 1e9
    return np.r_[0.0, ends], np.r_[0.0, np.cumsum(recording.time[column], dtype=np.float64)]


def snia_steady(rounds: NDArray[np.float64]) -> bool:
    """SNIA's rule over the last five rounds: they lie within 20 % of their mean, and the straight line through them
    rises or falls by 10 % of it at most."""
    last = rounds[-5:]
    if len(last) < 5 or not last.mean():
        return False
    slope = float(np.polyfit(np.arange(5.0), last, 1)[0])
    return bool(np.ptp(last) <= 0.2 * last.mean() and abs(slope) * 4 <= 0.1 * last.mean())
