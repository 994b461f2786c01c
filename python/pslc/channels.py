"""What a recording tells besides its curve: the drive's counters within a phase, and what is seen from outside."""

import tomllib
from collections.abc import Sequence
from typing import Any

import numpy as np

from pslc.analysis import Phase, Seen
from pslc.doubts import link_bytes_per_s, throttled_s
from pslc.recording import Recording

PAYLOAD = 0.9
"""Share of a link's raw speed that is the host's data."""


def seen(recording: Recording, phases: Sequence[Phase]) -> Seen:
    """What the recording tells of the outside: no counter of the drive's."""
    options = [job["options"] for job in recording.jobs]
    one_by_one = all(job["iodepth"] == 1 and option.get("numjobs", "1") == "1" for job, option in _writing(recording))
    latencies = [_latencies(recording, phase) for phase in phases] if one_by_one else None
    return Seen(
        capacity_bytes=recording.drive_bytes,
        link_bytes_per_s=_link(recording),
        random_from=_random_from(recording),
        mean_s=[mean for mean, _ in latencies] if latencies else None,
        longest_s=[longest for _, longest in latencies] if latencies else None,
        cpu=_cpu(recording, phases),
        buffered=(not recording.is_simulated or "page_cache" in host(recording))
        and any(option.get("direct", "0") == "0" and option.get("buffered") != "0" for option in options),
        throttled_s=_throttled(recording),
    )


def host(recording: Recording) -> dict[str, Any]:
    """The host of a simulated drive, as its profile says; empty where there is none, and on a real one."""
    found: dict[str, Any] = tomllib.loads(recording.profile).get("host", {})
    return found


def _cpu(recording: Recording, phases: Sequence[Phase]) -> list[float] | None:
    """Share of the processor that was busy, by phase; on a real drive, of the core that makes the requests."""
    counter = "host_cpu_busy_ns_total" if recording.is_simulated else "cpu_ns_total"
    cores = host(recording).get("cores") if recording.is_simulated else 1
    if cores is None or counter not in recording.before:
        return None
    changes = [changes_within(recording, phase.from_bytes, phase.to_bytes)[counter] for phase in phases]
    seconds = [(phase.to_bytes - phase.from_bytes) / phase.bytes_per_s for phase in phases]
    return [change / (time * 1e9 * cores) for change, time in zip(changes, seconds, strict=True)]


def _throttled(recording: Recording) -> float | None:
    """How long the drive throttled: of a real one by its health log, of a simulated one likewise, and no more."""
    if "throttle_level" in recording.time:
        edges = np.concatenate([[recording.start_ns], recording.time["end_ns"]]).astype(np.float64)
        return float(np.diff(edges)[recording.time["throttle_level"] > 0].sum()) / 1e9
    return throttled_s(recording.facts)


def _writing(recording: Recording) -> list[tuple[dict[str, Any], dict[str, str]]]:
    return [(job, job["options"]) for job in recording.jobs if job["write"]["total_ios"]]


def _link(recording: Recording) -> float | None:
    """What the link carries of the host's data, after its own overhead."""
    if recording.is_simulated:
        return float(recording.facts["link_bytes_per_s"])
    raw = link_bytes_per_s(recording.facts["device"] or {})
    return None if raw is None else PAYLOAD * raw


def _random_from(recording: Recording) -> float | None:
    """Bytes written when the first job at random places began; None when there is none."""
    starts = [job["start_ns"] for job, option in _writing(recording) if "rand" in option.get("rw", "")]
    if not starts:
        return None
    ends = np.concatenate([[recording.start_ns], recording.bytes["end_ns"]]).astype(np.float64)
    written = np.concatenate([[0.0], np.cumsum(recording.bytes["write_bytes"], dtype=np.float64)])
    return float(np.interp(min(starts), ends, written))


def _latencies(recording: Recording, phase: Phase) -> tuple[float, float]:
    """Mean and usual longest time of a request within a phase, in seconds; (0, 0) when it has no whole bin."""
    series = recording.bytes
    written = np.concatenate([[0.0], np.cumsum(series["write_bytes"], dtype=np.float64)])
    inside = (written[:-1] >= phase.from_bytes) & (written[1:] <= phase.to_bytes)
    if not inside.any():
        return 0.0, 0.0
    count = float(series["writes"][inside].sum())
    return float(series["lat_sum_ns"][inside].sum()) / count / 1e9, float(np.median(series["lat_max_ns"][inside])) / 1e9


def changes_within(recording: Recording, from_bytes: float, to_bytes: float) -> dict[str, float]:
    """What each counter changed by, and the mean of each gauge, between two points of the bytes written."""
    series = recording.bytes
    written = np.concatenate([[0.0], np.cumsum(series["write_bytes"], dtype=np.float64)])
    found: dict[str, float] = {}
    for name, before in recording.before.items():
        column = np.concatenate([[float(before)], series[name].astype(np.float64)])
        if name.endswith("_total"):
            at = np.interp([from_bytes, to_bytes], written, column)
            found[name] = float(at[1] - at[0])
        else:
            found[name] = float(np.interp(np.linspace(from_bytes, to_bytes, 33), written, column).mean())
    return found
