"""Verdict on flush latency: compares the time of a flush with measured drives and with what servers ask for."""

from collections.abc import Sequence
from typing import Final

from pslc.base import words
from pslc.schema.jobs import Job

MAX_PROTECTED_S: Final = 0.3e-3
"""Longest median flush of a drive with power-loss protection: the fastest measured one without takes 0.45 ms
(docs/accuracy/flushes.csv)."""
ETCD_S: Final = 10e-3
"""Longest 99th percentile of a flush that etcd recommends (etcd.io, "Hardware recommendations" and "Tuning")."""
SLOW_S: Final = 10e-3
"""Latency above which a small write or a flush is slower than on a hard disk, whose platter turns in 8.3 ms."""


def verdict(usual_s: float, p99_s: float | None = None) -> str:
    """Describe the latency of flushes, and whether it suffices for etcd.

    Args:
        usual_s: median latency, or the mean where no median is known, in seconds.
        p99_s: 99th percentile, in seconds; None: not known.
    """
    if usual_s <= MAX_PROTECTED_S:
        kind = "as by drives with power-loss protection, or by a layer above that does not wait for the drive"
    elif usual_s < SLOW_S:
        kind = "as by drives without power-loss protection"
    else:
        kind = "slower than a hard disk: the drive is worn, busy or full, or shared"
    etcd = ""
    if p99_s is not None:
        enough = "enough" if p99_s <= ETCD_S else "too slow"
        etcd = f" 99 % take at most {words.span(p99_s)}, {enough} for etcd, which asks for {words.span(ETCD_S)}."
    elif usual_s > ETCD_S:
        etcd = f" That is too slow for etcd, which asks for {words.span(ETCD_S)} in 99 % of them."
    return f"A flush is answered in {words.span(usual_s)}, {kind}.{etcd}"


def of_jobs(jobs: Sequence[Job]) -> list[str]:
    """Describe the flush latency of each job that flushed, in one or two sentences."""
    lines = []
    for job in jobs:
        latency = job["sync"]["lat_ns"] if "sync" in job else None
        if latency is None or not latency["mean"]:
            continue
        usual, p99 = (latency["percentile"].get(share) for share in ("50.000000", "99.000000"))
        words_of_job = verdict((usual or latency["mean"]) / 1e9, p99 / 1e9 if p99 else None)
        lines.append(f"{job['name']}: {words_of_job}" if len(jobs) > 1 else words_of_job)
    return lines
