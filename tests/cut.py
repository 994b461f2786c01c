"""Recordings that end early, as a kill leaves them: what was recorded until some moment of the drive's time."""

from dataclasses import replace
from typing import Any

import pslc
from pslc.recording.model import Columns, Findings, join


def cut(recording: pslc.Recording, share: float) -> pslc.Recording:
    """What a run that was killed after `share` of its drive time had kept last: steps that ended by then are whole, the
    one under way has its finished jobs and part of one more, and there are no findings."""
    at = recording.start_ns + round(share * (recording.end_ns - recording.start_ns))
    parts = [_until(part, at) for part in recording.parts if part.start_ns <= at]
    return replace(join(parts), error="the run has not ended", findings=Findings())


def _until(part: pslc.Recording, at: int) -> pslc.Recording:
    if part.end_ns <= at:
        return part
    time, size = (_rows(columns, at) for columns in (part.time, part.bytes))
    jobs = [_job(job, part.time, at) for job in part.jobs if job["start_ns"] <= at]
    last = {name: int(time[name][-1]) if len(time[name]) else value for name, value in part.before.items()}
    return replace(
        part, jobs=jobs, time=time, bytes=size, totals=last, drive_time_s=(at - part.start_ns) / 1e9, interrupted=True
    )


def _rows(columns: Columns, at: int) -> Columns:
    keep = columns["end_ns"] <= at
    return {name: column[keep] for name, column in columns.items()}


def _job(job: dict[str, Any], series: Columns, at: int) -> dict[str, Any]:
    """A job as it stood at a moment; its latencies are those of all of it, and none where it had done nothing."""
    if job["start_ns"] + job["elapsed_ns"] <= at:
        return job
    inside = (series["end_ns"] > job["start_ns"]) & (series["end_ns"] <= at)
    found = job | {"elapsed_ns": at - job["start_ns"]}
    for kind, count in (("read", "reads"), ("write", "writes"), ("trim", "trims")):
        ios = min(int(series[count][inside].sum()), job[kind]["total_ios"])
        size = min(int(series[f"{kind}_bytes"][inside].sum()), job[kind]["io_bytes"])
        found[kind] = job[kind] | {"io_bytes": size, "total_ios": ios, "runtime_ns": found["elapsed_ns"] if ios else 0}
        if not ios:
            found[kind]["lat_ns"] = NOTHING
    if not inside.any():
        found["sync"] = job["sync"] | {"total_ios": 0, "lat_ns": NOTHING}
    return found


NOTHING: dict[str, Any] = {
    "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "n": 0, "percentile": {}, "histogram": []
}  # fmt: skip
