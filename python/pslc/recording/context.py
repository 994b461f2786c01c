"""Facts about a recording besides its curve: changes of the drive's counters within a phase, and the measurement
context for causes without counters."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pslc.analysis import AccessPattern, MeasurementContext, Phase
from pslc.base import units
from pslc.recording.store import HeatTable, HostTable, Recording
from pslc.recording.warnings import link_bytes_per_s, throttled_s
from pslc.schema.facts import Device
from pslc.schema.job_options import Traits, traits
from pslc.schema.jobs import Job

MAPPED = 1024
"""Bytes of the drive that a byte of the map maps: 4 bytes for each 4 KiB."""
LEFT, LASTING = 0.1, 0.005
"""A drive has left its cache where it moves this share of the host's bytes, for this share of a write."""
LENT_BYTES = 128 << 20
"""The most that Linux lends a drive without DRAM for its map, unless told otherwise."""
SATA_COMMAND_BYTES = 2400.0
"""Overhead of a SATA command in bytes: the data that SATA could carry during the command's registers and turnarounds, 4
us at 6 Gb/s."""


def measurement_context(recording: Recording, phases: Sequence[Phase]) -> MeasurementContext:
    """Build the measurement context of a recording without any of the drive's counters."""
    latencies = [_latencies(recording, phase) for phase in phases]
    first_s = _first_s(recording, phases[0])
    moved = [_other_bytes(recording, phase) for phase in phases]
    other_bytes = [other for other in moved if other is not None]
    return MeasurementContext(
        capacity_bytes=recording.drive_bytes,
        link_bytes_per_s=_link(recording),
        command_bytes=_command_bytes(recording),
        map_bytes=_map_bytes(recording),
        access_patterns=_access_patterns(recording),
        mean_s=_without_the_first(recording, [mean for mean, _, _ in latencies], phases[0], first_s),
        longest_s=[longest for _, longest, _ in latencies],
        fastest_s=[fastest for _, _, fastest in latencies],
        slowest_quantiles_s=[_waits(recording, phase) for phase in phases],
        is_depth_one=all(job["iodepth"] == 1 and option["numjobs"] == 1 for job, option in _writing(recording)),
        first_request_extra_s=first_s,
        silence_s=_silent_s(recording),
        cpu_share=_cpu(recording, phases),
        buffered=_buffered(recording),
        throttled_s=throttled(recording),
        other_share=[
            other / (other + phase.to_bytes - phase.from_bytes)
            for other, phase in zip(other_bytes, phases, strict=True)
        ]
        if len(other_bytes) == len(phases)
        else None,
    )


def began(recording: Recording) -> int:
    """Start of the first job in ns, after its start delay, and on a real drive after its file was laid out."""
    start = recording.start_ns
    return max(start, min((job.get("start_ns", start) for job in recording.jobs), default=start))


def inside(recording: Recording, phase: Phase) -> dict[str, float]:
    """Values that `pslc.analysis.phase_cause` needs besides the changes of the drive's counters: rise of the write
    buffer and other programs' bytes in a phase."""
    changes = {}
    if "buffer_bytes" in recording.before:
        held = np.append(at_first(recording, "buffer_bytes"), recording.bytes["buffer_bytes"]).astype(np.float64)
        levels = np.interp([phase.from_bytes, phase.to_bytes], _written(recording), held)
        changes["buffer_rise_bytes"] = float(levels[1] - levels[0])
    other_bytes = _other_bytes(recording, phase)
    if other_bytes is not None:
        changes["other_bytes"] = other_bytes
    return changes


def _other_bytes(recording: Recording, phase: Phase) -> float | None:
    """Bytes that the drive moved for others within a phase of writes; None where it is not known."""
    side = "host" if recording.is_simulated else "device"
    names = [f"{side}_read_bytes_total", f"{side}_write_bytes_total"]
    if _buffered(recording) or not all(name in recording.before for name in names):
        return None
    changes = changes_within(recording, phase.from_bytes, phase.to_bytes)
    # A request is counted when it begins or when it ends, by us and by them.
    own_bytes = phase.to_bytes - phase.from_bytes + under_way(recording)
    return max(sum(changes[name] for name in names) - own_bytes, 0.0)


def under_way(recording: Recording) -> float:
    """Bytes of the writes that are asked for at once."""
    return sum(
        float(job["iodepth"] * job["write"]["io_bytes"] / job["write"]["total_ios"]) for job, _ in _writing(recording)
    )


def host(recording: Recording) -> HostTable:
    """The host of a simulated drive, as its profile says; empty where there is none, and on a real one."""
    return recording.profile_keys.get("host", HostTable())


def _cpu(recording: Recording, phases: Sequence[Phase]) -> list[float] | None:
    """Share of the processor that was busy, by phase; on a real drive, of the core that makes the requests."""
    counter = "host_cpu_busy_ns_total" if recording.is_simulated else "cpu_ns_total"
    cores = host(recording).get("cores") if recording.is_simulated else 1
    if cores is None or counter not in recording.before:
        return None
    changes = [changes_within(recording, phase.from_bytes, phase.to_bytes)[counter] for phase in phases]
    seconds = [(phase.to_bytes - phase.from_bytes) / phase.bytes_per_s for phase in phases]
    return [change / (time * 1e9 * cores) for change, time in zip(changes, seconds, strict=True)]


def throttled(recording: Recording) -> float | None:
    """Seconds for which the drive throttled for heat, as a health log counts them; None if the drive does not report
    it, or if its profile has no heat."""
    if "throttle_level" in recording.time:
        if not recording.totals["temperature_millicelsius"]:
            return None
        edges = np.concatenate([[recording.start_ns], recording.time["end_ns"]]).astype(np.float64)
        return float(np.diff(edges)[recording.time["throttle_level"] > 0].sum()) / 1e9
    return throttled_s(recording.facts)


def throttled_bytes_per_s(recording: Recording, level: float) -> float | None:
    """Link speed of a simulated drive at a step of throttling, in bytes/s. A mean `level` counts as the deepest step
    reached. None if the drive does not throttle."""
    heat = recording.profile_keys.get("heat", HeatTable())
    steps = [step for step in (heat.get("throttle1"), heat.get("throttle2"), heat.get("throttle3")) if step]
    if not level or not steps:
        return None
    share = float(steps[min(math.ceil(level), len(steps)) - 1]["speed"].rstrip("%")) / 100
    return share * float(recording.facts["link_bytes_per_s"])


def longer(recording: Recording, otherwise: str) -> str:
    """Advice for a suite that was too short: leave out `--quick` if it was given, else `otherwise`."""
    return "leave out --quick" if recording.scope.get("quick") else otherwise


def at_first(recording: Recording, gauge: str) -> int:
    """A gauge of a simulated drive when the first request was made: a silence before it may empty cache and buffer."""
    silent = int(np.searchsorted(recording.time["end_ns"], began(recording), side="right"))
    return int(recording.time[gauge][silent - 1]) if silent else recording.before[gauge]


def held_in_memory(recording: Recording, written: float) -> float:
    """Bytes that the page cache of a simulated host held when so much was written."""
    if "page_cache_dirty_bytes" not in recording.before:
        return 0.0
    column = np.concatenate([[0], recording.bytes["page_cache_dirty_bytes"]]).astype(np.float64)
    return float(np.interp(written, _written(recording), column))


def left_the_cache(recording: Recording) -> float | None:
    """Bytes written when a simulated drive no longer wrote into its cache alone; None: it always did, or never."""

    def change(name: str) -> NDArray[np.float64]:
        return np.diff(np.concatenate([[float(recording.before[name])], recording.bytes[name].astype(np.float64)]))

    native = change("host_to_native_bytes_total")
    host = np.maximum(change("host_to_slc_bytes_total") + native, 1.0)
    moved = change("folded_bytes_total") + change("gc_bytes_total")
    left = ((moved > LEFT * host) | (native > 0.5 * host)).astype(np.float64)
    window = max(1, round(LASTING * left.size))
    lasting = np.flatnonzero((left > 0) & (np.convolve(left, np.ones(window))[window - 1 :] > 0.5 * window))
    return float(_written(recording)[lasting[0]]) if lasting.size and lasting[0] > window else None


def _buffered(recording: Recording) -> bool:
    """Whether a page cache took part."""
    if recording.is_simulated and "page_cache" not in host(recording):
        return False
    return not all(traits(job)["direct"] for job in recording.jobs)


def _written(recording: Recording) -> NDArray[np.float64]:
    """Bytes written at the borders of the bins."""
    return np.concatenate([[0.0], np.cumsum(recording.bytes["write_bytes"], dtype=np.float64)])


def _writing(recording: Recording) -> list[tuple[Job, Traits]]:
    return [(job, traits(job)) for job in recording.jobs if job["write"]["total_ios"]]


def _link(recording: Recording) -> float | None:
    """What the link carries of the host's data, after its own overhead."""
    if recording.is_simulated:
        return float(recording.facts["link_bytes_per_s"])
    raw = link_bytes_per_s(recording.facts["device"] or Device())
    return None if raw is None else units.PAYLOAD * raw


def _command_bytes(recording: Recording) -> float:
    """What a command costs on the link besides its data: SATA's registers and turnarounds, 4 us at 6 Gb/s; little on
    PCIe, and where the link is not known."""
    if recording.is_simulated:
        sata = str(recording.profile_keys.get("link", "")).startswith("sata")
    else:
        sata = "Gbps" in str((recording.facts["device"] or {}).get("link_speed") or "")
    return SATA_COMMAND_BYTES if sata else 0.0


def _access_patterns(recording: Recording) -> list[AccessPattern]:
    """Where the jobs that write did so, in the order in which they began."""
    ends = np.concatenate([[recording.start_ns], recording.bytes["end_ns"]]).astype(np.float64)
    patterns = [
        AccessPattern(
            from_bytes=float(np.interp(job["start_ns"], ends, _written(recording))),
            span_bytes=job["size_bytes"],
            request_bytes=job["write"]["io_bytes"] / job["write"]["total_ios"],
            random=bool(option["random"]),
            synced=option["synced"],
        )
        for job, option in _writing(recording)
        if "size_bytes" in job
    ]
    return sorted(patterns, key=lambda pattern: pattern.from_bytes)


def _map_bytes(recording: Recording) -> float | None:
    """How much of the drive is mapped by what its controller holds of the map; a data sheet tells if it has DRAM."""
    if recording.is_simulated:
        held = recording.facts["map_cache_bytes"]
        return float("inf") if held is None else held * MAPPED
    lent = (recording.facts.get("device") or Device()).get("host_memory_buffer")
    return LENT_BYTES * MAPPED if lent else None


def _first_s(recording: Recording, first: Phase) -> float | None:
    """How much longer the first request took than the longest of a bin usually did after it; None: not seen. Bins in
    which no request came back have no longest."""
    inside = np.searchsorted(_written(recording), first.to_bytes, side="right") - 1
    has_request = recording.bytes["writes"][:inside] > 0
    longest = recording.bytes["lat_max_ns"][:inside][has_request].astype(np.float64) / 1e9
    return float(longest[0] - np.median(longest[1:])) if longest.size > 1 else None


def _silent_s(recording: Recording) -> float | None:
    """Silence before the first request; None where it is not known."""
    if recording.is_simulated:
        return began(recording) / 1e9
    delayed = bool(recording.jobs) and all(traits(job)["delayed"] for job in recording.jobs)
    return (began(recording) - recording.start_ns) / 1e9 if delayed else None


def _latencies(recording: Recording, phase: Phase) -> tuple[float, float, float]:
    """Mean and usual longest time of a request within a phase, and the mean of the bin where they were fastest, in
    seconds; zeros when it has no whole bin."""
    series = recording.bytes
    inside = _whole_bins(recording, phase)
    if not inside.any():
        return 0.0, 0.0, 0.0
    taken, count = series["lat_sum_ns"][inside].astype(np.float64), series["writes"][inside]
    fastest = float((taken / count).min())
    longest = float(np.median(series["lat_max_ns"][inside]))
    return float(taken.sum() / count.sum()) / 1e9, longest / 1e9, fastest / 1e9


def _without_the_first(recording: Recording, means: list[float], first: Phase, first_s: float | None) -> list[float]:
    """The mean times of requests, by phase; a drive that slept was waited for once, which tells nothing of the rest."""
    requests = float(np.interp(first.to_bytes, _written(recording), np.append(0, np.cumsum(recording.bytes["writes"]))))
    if first_s is None or requests < 2.0:
        return means
    return [max(means[0] - max(first_s, 0.0) / requests, 0.0), *means[1:]]


def _waits(recording: Recording, phase: Phase) -> tuple[float, float, float, float]:
    """How long the longest request of a bin took, in 5, 50, 95 and 100 of 100 bins of a phase, in seconds; zeros when
    it has no whole bin."""
    longest = recording.bytes["lat_max_ns"][_whole_bins(recording, phase)]
    if not longest.size:
        return 0.0, 0.0, 0.0, 0.0
    p5, median, p95, largest = np.quantile(longest / 1e9, [0.05, 0.5, 0.95, 1.0])
    return float(p5), float(median), float(p95), float(largest)


def _whole_bins(recording: Recording, phase: Phase) -> NDArray[np.bool_]:
    """Which bins lie wholly within a phase and have a request."""
    written = _written(recording)
    inside = (written[:-1] >= phase.from_bytes) & (written[1:] <= phase.to_bytes)
    return inside & (recording.bytes["writes"] > 0)


def usual_within(recording: Recording, gauge: str, phase: Phase) -> float:
    """The median of a gauge between two points of the bytes written."""
    column = np.concatenate([[float(recording.before[gauge])], recording.bytes[gauge].astype(np.float64)])
    positions = np.linspace(phase.from_bytes, phase.to_bytes, 33)
    return float(np.median(np.interp(positions, _written(recording), column)))


def changes_within(recording: Recording, from_bytes: float, to_bytes: float) -> dict[str, float]:
    """Change of each counter, and mean of each gauge, between two points in bytes written."""
    series = recording.bytes
    written = _written(recording)
    changes: dict[str, float] = {}
    for name, before in recording.before.items():
        column = np.concatenate([[float(before)], series[name].astype(np.float64)])
        if name.endswith("_total"):
            totals = np.interp([from_bytes, to_bytes], written, column)
            changes[name] = float(totals[1] - totals[0])
        else:
            changes[name] = float(np.interp(np.linspace(from_bytes, to_bytes, 33), written, column).mean())
    return changes
