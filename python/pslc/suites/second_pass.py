"""What is left of the cache when the drive is full? Fill it, let it rest, and write all of it again.

AnandTech's second pass, after five minutes of rest.
"""

from dataclasses import replace

import numpy as np

from pslc.analysis import AnalysisWarning, Writes
from pslc.analysis import sentences as write_sentences
from pslc.base import words
from pslc.device.region import Region
from pslc.figures import curves
from pslc.figures import tables as common
from pslc.figures.picture import Panel, Picture, Table
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import not_tried, was_tried
from pslc.recording.writes.curve import write_curve
from pslc.recording.writes.findings import of_writes
from pslc.schema.jobs import Job
from pslc.suites import FitStart, StartValues, Steps

QUICK = "the second pass ends after a quarter of the drive"
COMPUTER = "none"
REST_S = 300.0
PART = 0.98
"""A second pass of less than this share of the first is compared with as much of that."""


def steps(region: Region) -> Steps:
    """Two steps: the first and the second pass over the drive."""
    yield region.write("fill", region.size)
    yield region.write("again", region.share(0.25) if region.quick else region.size, pause=REST_S)


class Findings(Writes):
    """Findings of the suite, by name; `findings` describes them."""

    first_pass: Writes
    cache_share: float | None
    first_as_far_bytes_per_s: float | None


def findings(recording: Recording) -> Findings:
    """Findings of both passes.

    - the findings of `fill`, for the second pass
    - `first_pass`: the same for the first pass
    - `cache_share`: the cache of the second pass over that of the first; null where one has no end
    - `first_as_far_bytes_per_s`: the mean of the first pass over as many bytes as the second wrote
    """
    first, *rest = recording.parts
    empty = of_writes(first)
    second = of_writes(_rested(rest[0]) if rest else _of_nothing(first))
    share = second["cache_bytes"] / empty["cache_bytes"] if second["cache_bytes"] and empty["cache_bytes"] else None
    warnings = [warning for warning in second["warnings"] if warning.code != "part"]
    if not rest or rest[0].cut_off:
        warnings.insert(0, not_tried("the second pass"))
    as_far = _mean(first, int(rest[0].bytes["write_bytes"].sum())) if rest else None
    return {
        **second,
        "first_pass": empty,
        "cache_share": share,
        "first_as_far_bytes_per_s": as_far,
        "warnings": warnings,
    }


def _of_nothing(part: Recording) -> Recording:
    """A pass of which nothing was recorded."""
    time, size = ({name: column[:0] for name, column in columns.items()} for columns in (part.time, part.bytes))
    return replace(part, jobs=[], time=time, bytes=size)


def _mean(part: Recording, written: int) -> float | None:
    """Bytes/s of the first so many bytes of a pass, or of all of it."""
    curve = write_curve(part)
    if curve is None or not written:
        return None
    until = min(float(written), curve.total_bytes)
    start, end = curve.seconds_at(np.array([0.0, until]) + curve.edges_bytes[0])
    return until / float(end - start)


def _rested(part: Recording) -> Recording:
    """The pass without the pause before it."""
    jobs: list[Job] = [
        {**job, "options": {name: value for name, value in job["options"].items() if name != "pause"}}
        for job in part.jobs
    ]
    return replace(part, start_ns=jobs[0]["start_ns"], jobs=jobs) if jobs else part


def fit_hints(findings: Findings, start: FitStart) -> list[StartValues]:
    """Starts for the cache of the full drive.

    The share of it in the second pass is what the full drive has of its cache, or what came back of it in the pause.
    """
    share = findings.get("cache_share")
    return [[{"dynamic_min": dynamic_min} for dynamic_min in (min(share, 0.97), 0.97, 0.5)]] if share else []


def sentences(findings: Findings) -> list[str]:
    """The second pass beside the first."""
    empty = findings["first_pass"]
    lines = _of_caches(findings) if was_tried(findings) else _of_the_first(empty)
    mean, before = findings["fill_mean_bytes_per_s"], findings["first_as_far_bytes_per_s"]
    if mean and before:
        written = findings["phases"][-1]["to_bytes"] if findings["phases"] else 0
        part = written < PART * max((phase["to_bytes"] for phase in empty["phases"]), default=0)
        average = f"Average of the first {words.size(written)}" if part else "Average"
        lines.append(f"{average}: {words.speed(mean)} in the second pass, {words.speed(before)} in the first.")
    return lines


def _of_the_first(empty: Writes) -> list[str]:
    """Findings of the first pass alone."""
    return [f"The cache holds {words.size(empty['cache_bytes'])} on the empty drive."] if empty["cache_bytes"] else []


def _of_caches(findings: Findings) -> list[str]:
    first, second = findings["first_pass"]["cache_bytes"], findings["cache_bytes"]
    held = any(warning.code == AnalysisWarning.HELD.code for warning in findings["warnings"])
    if first and second and held:
        free = f"After a rest of {words.span(REST_S)} the cache has {words.size(second)} free on the full drive"
        return [f"{free}; it holds {words.size(first)} on the empty one."]
    if first and second and write_sentences.alike(first, second):
        return [f"The cache holds {words.size(first)} on the empty drive, and as much on the full one."]
    if first and second:
        return [f"The cache holds {words.size(second)} on the full drive, {words.size(first)} on the empty one."]
    if first is None and second is None:
        return ["No end of a cache, neither on the empty drive nor on the full one."]
    if first is None:
        return []
    return [f"The cache holds {words.size(first)} on the empty drive; {_of_the_full(findings)}."]


def _of_the_full(findings: Findings) -> str:
    """Findings of the second pass on the cache, where its end was not seen."""
    low = findings["cache_bytes_low"]
    if write_sentences.began_full(findings["phases"]):
        return "on the full one, no cache is left"
    return f"on the full one {words.size(low)} or more" if low else "on the full one there is no cliff"


def tables(findings: Findings) -> list[Table]:
    """The phases of the second pass."""
    return common.of_writes(findings)


def pictures(recording: Recording) -> list[Picture]:
    """Both passes against data written."""
    lines = []
    for name, part in zip(("empty drive", "full drive"), recording.parts, strict=False):
        line = curves.write_line(_rested(part))
        lines += [replace(line, name=name)] if line is not None else []
    panel = Panel(curves.SPEED, lines)
    drawn = Picture("speed-bytes", "Write speed of an empty and of a full drive", curves.WRITTEN, (panel,))
    return [drawn, *curves.of_any(recording)]
