"""The figures of a recording that can be compared: what they are called, their units, the intervals they lie in.

They are the findings with a unit, by their keys; rows of findings (of CrystalDiskMark, a queue depth), by what tells
them apart; and what each job did.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np

from pslc.analysis import Curve
from pslc.base import words
from pslc.recording.model import Recording
from pslc.recording.writes.curve import write_curve
from pslc.schema.jobs import Done

UNITS: Final = (
    ("_bytes_per_s", "B/s"), ("_bytes", "B"), ("_iops", "/s"), ("_seconds", "s"), ("_s", "s"), ("_years", "years"),
    ("_watts", "W"), ("_c", "C"), ("_score", "points"), ("_waf", ""), ("_depth", ""),
    ("_errors", ""),
)  # fmt: skip
"""Units of findings, by the ends of their names."""
SHARES: Final = ("share_", "busy_")
"""Prefixes of the names of shares."""
ASKED: Final = ("bytes", "written_bytes", "region_bytes", "span_bytes", "request_bytes", "depth", "idle_s", "wait_s")
"""Keys of rows that say what was done, not what came of it."""
OWN_NAMES: Final = {"cache_bytes": "cache", "fill_mean_bytes_per_s": "mean", "throttled_s": "throttled"}
"""Names of metrics in tolerances and in JSON, where they differ from the key."""
LABELS: Final = {
    "access_read_s": "access time, reading",
    "access_s": "access time",
    "access_write_s": "access time, writing",
    "ack_p99_s": "acknowledged after, 99 %",
    "ack_s": "acknowledged after",
    "as_ssd_read_bytes_per_s": "4 KiB reads, right after",
    "as_ssd_write_bytes_per_s": "4 KiB writes, right after",
    "baseline_iops": "IOPS before",
    "buffer_bytes": "write buffer",
    "bytes_per_s": "speed",
    "cache_bytes": "cache",
    "cells_bytes_per_s": "speed past the write buffer",
    "drive_programmed_bytes": "programmed into cells, by its own count",
    "drive_written_bytes": "written, by its own count",
    "fill_mean_bytes_per_s": "average speed",
    "first_iops": "IOPS at first",
    "flushed_s": "acknowledged after, with a flush",
    "hit_s": "latency within the map",
    "idle_threshold_s": "idle time before the cache is freed",
    "idle_watts": "idle power",
    "iops": "IOPS",
    "last_iops": "IOPS at last",
    "life_bytes": "endurance (TBW)",
    "life_years": "life",
    "link_bytes_per_s": "speed into the write buffer",
    "load_bytes_per_s": "speed of the writes meanwhile",
    "mapped_bytes": "span that the map covers",
    "mean_access_s": "mean access time",
    "media_errors": "media errors",
    "migration_bytes_per_s": "speed at which the cache is freed",
    "mix_bytes_per_s": "mixed speed",
    "miss_s": "latency past the map",
    "most_c": "highest temperature",
    "most_watts": "highest power",
    "read_bytes_per_s": "read speed",
    "read_s": "time of a read",
    "regained_bytes": "fast again",
    "residue_bytes": "cache that is never freed",
    "powered_on_s": "powered on",
    "seconds": "time",
    "share_spare": "spare blocks left",
    "share_used": "life used",
    "start_c": "temperature at first",
    "steady_bytes_per_s": "steady speed",
    "throttled_after_s": "throttled after",
    "throttled_at_c": "throttled at",
    "throttled_bytes_per_s": "speed while throttled",
    "throttled_s": "time throttled",
    "waf": "write amplification",
    "watts": "power",
    "write_bytes_per_s": "write speed",
    "write_s": "time of a write",
}
"""Label of each metric, for people."""
TERMS: Final = {
    "iops": "IOPS", "p99": "99 %", "p999": "99.9 %", "min": "lowest", "max": "highest", "least": "lowest",
    "most": "highest", "randread": "random read", "randwrite": "random write", "knee": "sufficient", "slc": "SLC",
}  # fmt: skip
COUNTED: Final = (
    "drive_programmed_bytes", "drive_written_bytes", "media_errors", "powered_on_s", "share_spare", "share_used",
)  # fmt: skip
"""Counts of a drive itself, which have no noise."""
SPREAD: Final = ("mean", "median", "p99", "p999", "max", "min")
TAILS: Final = ("99 % latency", "99.9 % latency", "highest latency", "after, 99 %")
"""Last words of labels that are latencies of the slowest requests."""
AXES: Final[dict[str, Callable[[Any], str]]] = {
    "at_bytes": lambda value: f"at {words.size(value)}",
    "at_s": lambda value: f"at {words.span(value)}",
    "depth": lambda value: f"queue depth {value}",
    "full": lambda value: f"{100 * value:.0f} % full",
    "idle_s": lambda value: f"after {words.span(value)} idle",
    "iterations": lambda value: f"{value} iterations",
    "of_cache": lambda value: f"{100 * value:.0f} % of the cache",
    "read_percent": lambda value: f"{value} % reads",
    "request_bytes": words.block,
    "span_bytes": lambda value: f"within {words.block(value)}",
    "wait_s": lambda value: f"after {words.span(value)}",
}
"""Label of a row, made from the number that distinguishes it from the others."""
UNTOLD: Final = ("verdict", "cause", "because")
"""Words of rows that are answers."""
NOISE: Final = 0.02
"""Relative difference below which two rates without an interval are the same."""
PARTS: Final = 16
"""Parts of a phase whose means tell how well that of the phase is known, whatever lasts for several bins."""
STUDENT: Final = 1.76
"""Student's t of a 90 % interval, for as many parts about a line."""


@dataclass(frozen=True)
class Figure:
    """A number with the interval it lies in; without one it is as wide as `NOISE`. `samples` are of its repeats."""

    value: float
    low: float
    high: float
    samples: tuple[float, ...] = ()


class Origin(StrEnum):
    """Origin of a metric: a finding, a row of a finding, or a job."""

    FINDING = "finding"
    ROW = "row"
    JOB = "job"


@dataclass(frozen=True)
class Name:
    """Name of a metric: `key` for tolerances and JSON, `label` for people."""

    key: str
    label: str
    origin: Origin = Origin.FINDING
    suite: str = ""


Figures = dict[Name, tuple[str, Figure]]
"""Unit and figure by name."""


def of_recording(recording: Recording) -> Figures:
    """Findings, rows of findings, and jobs, in this order; a twin's without the latencies of its slowest requests."""
    figures_by_name = _all_of_recording(recording)
    if not recording.is_twin:
        return figures_by_name
    return {name: figure for name, figure in figures_by_name.items() if not name.label.endswith(TAILS)}


def _all_of_recording(recording: Recording) -> Figures:
    findings = recording.findings
    results = dict(_with_units(findings))
    # How long the host of a log was silent is no result.
    results.pop("idle_s", None)
    figures_by_name = {Name(OWN_NAMES.get(key, key), label(key)): figure for key, figure in results.items()}
    curve = write_curve(recording) if findings.get("phases") else None
    phases = findings.get("phases", [])
    for called, phase in zip(phase_metrics(len(phases)), phases, strict=True):
        figures_by_name[called] = ("B/s", _phase_speed(phase, curve))
    for key, rows in findings.items():
        if key not in ("phases", "warnings") and isinstance(rows, list) and rows and isinstance(rows[0], dict):
            figures_by_name |= _of_rows(key, rows)
    # Somebody's own work is judged by its slowest requests.
    shares = ("99", "99.9") if "trace" in recording.facts else ("99",)
    for job in recording.jobs:
        for kind, done in (("read", job["read"]), ("write", job["write"]), ("flush", job.get("sync"))):
            for what, figure in _of_requests(done, shares).items() if done else ():
                name = f"{job['name']} {kind} {what}"
                figures_by_name[Name(name, name, Origin.JOB)] = figure
    return figures_by_name


def phase_metrics(count: int) -> list[Name]:
    """Names of the speeds of a recording's phases: `phase 1` and so on."""
    return [Name(f"phase {number}", f"speed of phase {number}") for number in range(1, count + 1)]


def _of_requests(done: Done, shares: Sequence[str]) -> dict[str, tuple[str, Figure]]:
    """Unit and figure of a job's reads or writes, with the latencies at these percentages; empty if it had none.

    A latency that another program does not report is left out: it is not 0.
    """
    percentiles, latency = done["lat_ns"]["percentile"], done["lat_ns"]["mean"]
    # Of flushes some programs tell the latency alone.
    seconds = done["runtime_ns"] / 1e9
    figures = {"IOPS": ("/s", rate(done["total_ios"] / seconds))} if done["total_ios"] and seconds else {}
    figures |= {"mean latency": ("s", rate(latency / 1e9))} if latency else {}
    for share in shares:
        if ns := percentiles.get(f"{float(share):.6f}"):
            figures[f"{share} % latency"] = ("s", rate(ns / 1e9))
    return figures


def key_figures(recording: Recording, count: int = 3) -> list[tuple[str, str]]:
    """Labels and values of the first figures of a run, with units: findings, or else rows of them, or else of jobs."""
    figures = of_recording(recording)
    for origin in Origin:
        named = [(name, figure) for name, figure in figures.items() if name.origin is origin]
        if named:
            return [(name.label, words.quantity(figure.value, unit)) for name, (unit, figure) in named[:count]]
    return []


def rate(value: float, spread: float = 0.0) -> Figure:
    """A figure without an interval of its own, as wide as `NOISE` or as its spread."""
    half = max(NOISE / 2, spread / 2) * value
    return Figure(value, value - half, value + half)


def _phase_speed(phase: Mapping[str, Any], curve: Curve | None) -> Figure:
    """Speed of a phase, in the wider of the intervals of its scatter and of the reading of a picture."""
    figure = rate(phase["bytes_per_s"], _scatter(phase, curve))
    low, high = (phase.get(f"bytes_per_s_{end}", figure.value) for end in ("low", "high"))
    return Figure(figure.value, min(low, figure.low), max(high, figure.high))


def _scatter(phase: Mapping[str, Any], curve: Curve | None) -> float:
    """Width of the 90 % interval of a phase's mean, relative: from the means of its parts, about their drift. Of a
    phase of few bins the spread of its bins."""
    low, high = phase["from_bytes"], phase["to_bytes"]
    inside = 0 if curve is None else np.count_nonzero((curve.edges_bytes >= low) & (curve.edges_bytes <= high))
    if curve is None or inside < PARTS:
        return float(phase["spread"])
    level = -np.log(np.diff(curve.seconds_at(np.linspace(low, high, PARTS + 1))))
    at = np.arange(PARTS)
    left = level - np.polyval(np.polyfit(at, level, 1), at)
    return 2 * STUDENT * float(np.sqrt(left @ left / (PARTS - 2) / PARTS))


def label(key: str) -> str:
    """Label of a finding, for people: `write_score` is "write score", `p99_s` "99 % latency"."""
    if key in LABELS:
        return LABELS[key]
    end, unit = _ending(key)
    stem = key.removesuffix(end).split("_")
    if unit == "s" and stem[-1] in SPREAD:
        stem.append("latency")
    elif unit == "B/s" and stem[-1] in ("mean", "median", "min", "max", "least", "most"):
        stem.append("speed")
    elif unit == "/s":
        stem.append("IOPS")
    elif end in ("_score", "_depth"):
        stem.append("score" if end == "_score" else "queue depth")
    return " ".join(TERMS.get(word, word) for word in stem)


def _ending(key: str) -> tuple[str, str | None]:
    """Ending of a key with its unit, and the unit; None: it has none."""
    for end, unit in UNITS:
        if f"_{key}".endswith(end):
            return end, unit
    return "", "share" if key.startswith(SHARES) else None


def _with_units(findings: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, Figure]]]:
    for key, value in findings.items():
        unit = _ending(key)[1]
        # A speed of nothing is of a test that did not run, a latency of nothing is not told.
        did_run = value or (unit not in ("B/s", "/s") and not key.endswith("latency_s"))
        if unit is not None and isinstance(value, int | float) and not isinstance(value, bool) and did_run:
            low, high = (value, value) if key in COUNTED else (findings.get(f"{key}_low"), findings.get(f"{key}_high"))
            yield key, (unit, rate(value) if low is None or high is None else Figure(value, low, high))


def _of_rows(list_name: str, rows: Sequence[Mapping[str, Any]]) -> Figures:
    figures_by_name: Figures = {}
    for called, row in zip(_told_apart(rows), rows, strict=True):
        for key, figure in _with_units(row):
            if key not in ASKED and key not in AXES:
                name = f"{called}, {label(key)}"
                figures_by_name[Name(f"{list_name} {name}", name, Origin.ROW)] = figure
    return figures_by_name


def _told_apart(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name of each row of a list: its words, and as many of its first numbers as tell it from all others."""
    keys = [key for key, value in rows[0].items() if isinstance(value, str) and key not in UNTOLD]
    numbers = iter(key for key, value in rows[0].items() if key not in keys and isinstance(value, int | float))
    while True:
        called = [", ".join(filter(None, (_called(key, row.get(key)) for key in keys))) for row in rows]
        if keys and len(set(called)) == len(called):
            return called
        more = next(numbers, None)
        if more is None:
            return [f"{name} {number}".strip() for number, name in enumerate(called, 1)]
        keys.append(more)


def _called(key: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return TERMS.get(value, value.replace("-", " ") if value.islower() else value)
    return AXES[key](value) if key in AXES else f"{key.replace('_', ' ')} {value:g}"
