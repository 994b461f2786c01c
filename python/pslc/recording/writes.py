"""Findings of a recording: what the analysis says of its write curve."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pslc.analysis import (
    WRITE_ALL,
    AnalysisOptions,
    AnalysisWarning,
    CauseEstimate,
    Curve,
    Explain,
    MeasurementContext,
    Phase,
    PhaseFacts,
    WriteAnalysis,
    Writes,
    analyze_curve,
    blackbox_causes,
    cache_superblock_bytes,
    phase_cause,
)
from pslc.base import words
from pslc.recording.context import (
    at_first,
    began,
    changes_within,
    held_in_memory,
    host,
    inside,
    left_the_cache,
    longer,
    measurement_context,
    throttled,
    throttled_bytes_per_s,
    under_way,
    usual_within,
)
from pslc.recording.store import Recording
from pslc.schema.job_options import traits

SHORTEST_NS = 10e6
HANDED_OUT = 4
"""Superblocks of work that a drive may hand out ahead."""
AT_ITS_START, AT_ITS_END = 0.25, 0.6
"""Shares of a phase that are left out at the most for what is counted in it and belongs elsewhere."""
EARLY = 0.9
"""A cache that was full by the counters before this share of where the speed fell was full without being seen."""
NOT_FREE = 0.1
"""A cache that holds this share of its data when a write begins, or lets this share past it at first, was not free."""


def of_writes(recording: Recording, *, outside: bool = False) -> Writes:
    """Analyze the writes of a recording.

    - `cache_bytes`, `cache_bytes_low`, `cache_bytes_high`: bytes written before the speed fell, with a 90 % interval;
      null when it did not fall. When a fill ended before it did, the cache holds `cache_bytes_low` or more.
    - `fill_mean_bytes_per_s`: bytes written over the time it took; null when nothing was written.
    - `phases`: `from_bytes`, `to_bytes`, `bytes_per_s`, `cause`; beyond these the interval of the start, `spread`,
      `drift`, `confidence` and `because`. Empty when the curve shows more than the drive's own speed: when reads or
      trims are mixed in, or the host paused or kept to a rate.
    - `throttled_s`: seconds for which the drive throttled for heat; null if it does not report that or has no [heat].
    - `doubts`: warnings, each with what to do about it.

    The causes come from the drive's counters if it is simulated, else, or with `outside`, from the curve.
    """
    curve = write_curve(recording)
    mixed = recording.bytes["reads"].any() or recording.bytes["trims"].any() or _paced(recording)

    def explain(phases: Sequence[Phase]) -> list[CauseEstimate]:
        if curve is not None and recording.is_simulated and not outside:
            return [_evidence(recording, curve, phase) for phase in phases]
        return blackbox_causes(phases, measurement_context(recording, phases))

    options = AnalysisOptions(
        capacity_bytes=_to_be_written(recording),
        seed=recording.seed,
        interrupted=recording.cut_off is not None,
        next_step=_next_step(recording),
    )
    findings = _mean_alone(curve) if mixed else of_curve(curve, explain, options)
    if recording.is_simulated and not outside:
        _correct_by_counters(recording, findings)
    findings["throttled_s"] = throttled(recording)
    return findings


def _to_be_written(recording: Recording) -> int:
    """Bytes of the drive that a fill of all of it would write: those that were not written before it."""
    size = recording.drive_bytes
    before = recording.scope.get("fill_first", 0)
    return size - recording.capacity_bytes * before // 100


def _next_step(recording: Recording) -> str:
    """What to do where only a part of the drive was written."""
    if any("runtime" in job["options"] for job in recording.jobs):
        return "pslc run fill writes all of it"
    return longer(recording, WRITE_ALL)


def _correct_by_counters(recording: Recording, findings: Writes) -> None:
    """What a simulated drive knows of its cache better than its curve: what a page cache held is not in it, it may have
    been full without the speed showing it, and it may not have been free when the write began."""
    low, end = findings["cache_bytes_low"], findings["cache_bytes"]
    if low is None:
        return
    left = left_the_cache(recording)
    sooner = low if end is None else EARLY * low - _handed_out(recording)
    if left is not None and left < sooner:
        findings |= {"cache_bytes": None, "cache_bytes_low": None, "cache_bytes_high": None}
        findings["doubts"] = [AnalysisWarning.HIDDEN.of(size=words.size(left)), *findings["doubts"]]
    elif end is not None:
        in_memory, before = held_in_memory(recording, end), at_first(recording, "slc_valid_bytes")
        taken = end - in_memory
        past = changes_within(recording, 0.0, end / 2.0)["host_to_native_bytes_total"]
        if elsewhere := past > NOT_FREE * taken:
            findings |= {"cache_bytes": None, "cache_bytes_low": None, "cache_bytes_high": None}
        else:
            # A drive that left off past its cache first completes the superblock that it had begun there.
            besides = in_memory + past
            findings |= {
                "cache_bytes": round(end - besides),
                "cache_bytes_low": round(low - besides),
                "cache_bytes_high": round((findings["cache_bytes_high"] or low) - besides),
            }
        if elsewhere or before > NOT_FREE * (before + taken):
            findings["doubts"] = [AnalysisWarning.HELD.of(size=words.size(before)), *findings["doubts"]]


def of_curve(curve: Curve | None, explain: Explain, options: AnalysisOptions) -> Writes:
    """The analysis of a write curve as run.json holds it; see `of_writes`. None: nothing was written.

    Args:
        explain: gives the cause of each phase.
        options: what is known of the drive and the run.
    """
    return analyze_curve(curve, explain, options).document() if curve else _mean_alone(curve)


def _mean_alone(curve: Curve | None) -> Writes:
    """The mean speed, of a curve that tells nothing else."""
    mean = curve.total_bytes / curve.total_seconds if curve else None
    return WriteAnalysis(mean, (), None, ()).document()


def analyze(  # noqa: PLR0913 public: keywords as the options of pslc analyze
    x: ArrayLike,
    bytes_per_s: ArrayLike,
    *,
    by: Literal["bytes", "time"] = "bytes",
    capacity_bytes: float | None = None,
    link_bytes_per_s: float | None = None,
    workload: Literal["random", "sequential"] | None = None,
    prefilled: bool = False,
    celsius: ArrayLike | None = None,
    seed: int = 0,
) -> WriteAnalysis:
    """Analyze a write curve of any origin: `pslc.analyze(written, speed).cache`.

    Args:
        x: at the end of each sample, the bytes written so far, or the seconds, shape (n,), ascending.
        bytes_per_s: within each sample, from the one before it on, shape (n,). Samples in which nothing was written, or
            that took no time, are left out.
        by: what x is.
        capacity_bytes: of the drive; tells a part of a fill from a drive without a cliff, and helps with causes.
        link_bytes_per_s: what its link carries.
        workload: how it was written; None: nobody says, and a sequential write is assumed.
        prefilled: the drive was full of other data before.
        celsius: the drive's temperature at the end of each sample, shape (n,).
        seed: of the intervals.

    Raises:
        ValueError: the arrays do not make a curve.
    """
    samples, speed = np.asarray(x, dtype=np.float64), np.asarray(bytes_per_s, dtype=np.float64)
    curve = Curve.of_samples(samples, speed, by)
    degrees = None
    if celsius is not None:
        written = samples if by == "bytes" else np.cumsum(np.nan_to_num(speed) * np.diff(samples, prepend=0.0))
        degrees = (written, np.asarray(celsius, dtype=np.float64))
    context = MeasurementContext(
        capacity_bytes=capacity_bytes,
        link_bytes_per_s=link_bytes_per_s,
        random=None if workload is None else workload == "random",
        prefilled=prefilled,
        celsius=degrees,
    )
    options = AnalysisOptions(capacity_bytes=capacity_bytes, seed=seed, context=context)
    return analyze_curve(curve, lambda phases: blackbox_causes(phases, context), options)


def write_curve(recording: Recording) -> Curve | None:
    """Time against bytes written; None when nothing was. Bins without bytes or time join the one before them, and on
    a real drive those shorter than `SHORTEST_NS`: they tell of the order in which requests came back. There the first
    one holds all that was asked for at once, as a part of it tells how long a request takes, and no speed."""
    series = recording.bytes
    edges = np.concatenate([[0.0], np.cumsum(series["write_bytes"], dtype=np.float64)])
    ends = np.concatenate([[began(recording)], series["end_ns"]]).astype(np.float64)
    shortest_ns, first_bytes = (0.0, 0.0) if recording.is_simulated else (SHORTEST_NS, under_way(recording))
    keep = [0]
    for i in range(1, len(edges)):
        enough = edges[i] > edges[keep[-1]] and edges[i] >= first_bytes
        if enough and ends[i] > ends[keep[-1]] + shortest_ns:
            keep.append(i)
    if len(keep) < 2:
        return None
    keep[-1] = max(keep[-1], len(edges) - 1)
    return Curve(edges[keep], np.diff(ends[keep]) / 1e9)


def _paced(recording: Recording) -> bool:
    """Whether the host paused within the curve; a silence before the first request is not in it."""
    start = began(recording)
    return any(traits(job)["paced"] or (traits(job)["delayed"] and job["start_ns"] > start) for job in recording.jobs)


def _handed_out(recording: Recording) -> int:
    """Bytes of work that a simulated drive counts before the curve feels it: requests under way are counted already."""
    facts = recording.facts
    return facts["write_buffer_bytes"] + HANDED_OUT * cache_superblock_bytes(facts) + round(under_way(recording))


def _evidence(recording: Recording, curve: Curve, phase: Phase) -> CauseEstimate:
    # Work is counted when it is handed out, and the curve feels it when the buffer is full again: what is counted at
    # the end of a phase is the next one's.
    written = phase.to_bytes - phase.from_bytes
    # And what is under way at once is counted in the first bin, where a drive that slept wakes up.
    first = float(recording.bytes["write_bytes"][0])
    woke = changes_within(recording, 0.0, first).get("wake_ns_total", 0.0)
    begin = phase.from_bytes if woke else max(phase.from_bytes, min(first, AT_ITS_START * phase.to_bytes))
    end = phase.to_bytes - min(_handed_out(recording), AT_ITS_END * written)
    whole, phase = phase, replace(phase, from_bytes=begin, to_bytes=end)
    seconds = float(np.diff(curve.seconds_at(np.array([phase.from_bytes, phase.to_bytes])))[0])
    changes = changes_within(recording, phase.from_bytes, phase.to_bytes)
    changes |= inside(recording, phase)
    # What was folded in the silence before a write, no byte of it waited for.
    changes["folded_bytes_total"] -= changes.get("idle_folded_bytes_total", 0.0)
    # The buffer takes in the first bytes, and is asked for its share of all of them.
    if "buffer_rise_bytes" in changes:
        changes["buffer_rise_bytes"] = inside(recording, whole)["buffer_rise_bytes"] * (end - begin) / written
    # So is a drive that slept: it woke up for all of them.
    if changes.get("wake_ns_total"):
        share = (end - begin) / written
        seconds -= (1.0 - share) * changes["wake_ns_total"] / 1e9
        changes["wake_ns_total"] *= share
    # What the cache held for most of a phase tells of it, not what was left of it at the beginning.
    if "slc_valid_bytes" in changes:
        changes["slc_valid_bytes"] = usual_within(recording, "slc_valid_bytes", phase)
    written = phase.to_bytes - phase.from_bytes
    facts: PhaseFacts = {
        **recording.facts,
        "host_cores": host(recording).get("cores", 1),
        "throttled_bytes_per_s": throttled_bytes_per_s(recording, changes.get("throttle_level", 0.0)),
    }
    return phase_cause(changes, seconds=seconds, facts=facts, written=written)
