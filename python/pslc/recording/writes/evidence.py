"""Evidence for the causes of phases: what a recording shows of a phase besides its curve."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pslc.analysis import (
    AccessPattern,
    CauseEstimate,
    Curve,
    MeasurementContext,
    Phase,
    cache_superblock_bytes,
    phase_cause,
)
from pslc.analysis.series import Floats, median
from pslc.base import units
from pslc.recording import place
from pslc.recording.model import HostTable, Recording
from pslc.recording.warnings import link_bytes_per_s, throttled_s
from pslc.recording.writes.curve import WriteTrack
from pslc.schema.facts import Device, Facts
from pslc.schema.job_options import traits

HANDED_OUT = 4
"""Superblocks of work that a drive may hand out ahead."""
CACHED, FOLDED = "host_to_slc_bytes_total", "folded_bytes_total"
"""Counters of what goes into the cache, and of what leaves it."""
FULL = 0.95
"""Share of the most that a cache held from which it was full."""
MAPPED = 1024
"""Bytes of the drive that a byte of the map maps: 4 bytes for each 4 KiB."""
LEFT, LASTING = 0.1, 0.005
"""A drive has left its cache where it moves this share of the host's bytes, for this share of a write."""
MIN_CACHED_SHARE = 0.6
"""Share of what was written to the end of a cache that went into it: a large write buffer looks like a cache."""
LENT_BYTES = 128 << 20
"""The most that Linux lends a drive without DRAM for its map, unless told otherwise."""
SATA_COMMAND_BYTES = 2400.0
"""Overhead of a SATA command in bytes: the data that SATA could carry during the command's registers and turnarounds, 4
us at 6 Gb/s."""


def _handed_out(track: WriteTrack) -> int:
    """Bytes of work that a simulated drive counts before the curve feels it: requests under way are counted already."""
    facts = track.recording.facts
    return facts["write_buffer_bytes"] + HANDED_OUT * cache_superblock_bytes(facts) + round(track.under_way_bytes)


def max_fold_bytes_per_s(facts: Facts) -> float:
    """The most that a simulated drive folds while idle: dies and data path without a host, the link not at all."""
    return facts["native_write_bytes_per_s"] / min(facts["fold_overhead"], 1.0)


def counted_causes(track: WriteTrack, curve: Curve, phases: Sequence[Phase]) -> list[CauseEstimate]:
    """The cause of each phase, by the account of a simulated drive."""
    return [_accounted(track, curve, phase) for phase in phases]


@dataclass(frozen=True)
class CacheByCounters:
    """Knowledge of a simulated drive about its cache that its curve does not show.

    Attributes:
        left_bytes: bytes written when it no longer wrote into its cache alone; None: it always did, or never.
        handed_out_bytes: bytes of work that it counts before the curve feels it.
        in_memory_bytes: bytes that the page cache held at the end of the cache.
        held_bytes: bytes that the cache held when the write began.
        past_bytes: bytes that went past the cache in the first half of the write into it.
    """

    left_bytes: float | None
    handed_out_bytes: int
    in_memory_bytes: float
    held_bytes: int
    past_bytes: float


def cache_by_counters(track: WriteTrack, end: float | None) -> CacheByCounters:
    """Evidence of the counters of a simulated drive about a cache whose `end` the curve shows, in bytes written."""
    past = changes_within(track, 0.0, end / 2.0)["host_to_native_bytes_total"] if end is not None else 0.0
    early, left = _left_the_cache(track)
    return CacheByCounters(
        left_bytes=None if early or math.isinf(left) else left,
        handed_out_bytes=_handed_out(track),
        in_memory_bytes=_held_in_memory(track, end) if end is not None else 0.0,
        held_bytes=at_first(track, "slc_valid_bytes"),
        past_bytes=past,
    )


def _accounted(track: WriteTrack, curve: Curve, phase: Phase) -> CauseEstimate:
    """Return the cause of a phase by the account of a simulated drive."""
    seconds = float(np.diff(curve.seconds_at(np.array([phase.from_bytes, phase.to_bytes])))[0])
    changes = changes_within(track, phase.from_bytes, phase.to_bytes)
    if "slc_superblocks" in changes:
        # What the cache held for most of a phase tells of it, not what was left of it at the beginning.
        changes["slc_superblocks"] = usual_within(track, "slc_superblocks", phase)
        # No byte waited for what was folded in the silence before it.
        changes["folded_bytes_total"] -= changes["idle_folded_bytes_total"]
    if phase.from_bytes == 0 and "host_silent_ns_total" in changes:
        # The curve begins behind the silence before the first request.
        changes["host_silent_ns_total"] -= _silent_before(track)
    written = phase.to_bytes - phase.from_bytes
    if "buffer_bytes" in changes:
        changes["buffer_rise_bytes"] = _buffer_rise(track, phase)
    other = _other_bytes(track, phase) or 0.0
    return phase_cause(
        changes, seconds=seconds, facts=track.recording.facts, moved=written, other_share=other / (other + written)
    )


def stated_context(track: WriteTrack) -> MeasurementContext:
    """Build the measurement context of a recording whose phases are not known yet, without the drive's counters."""
    buffered = _buffered(track.recording)
    return MeasurementContext(
        capacity_bytes=track.recording.drive_bytes,
        link_bytes_per_s=_link(track.recording),
        access_patterns=_access_patterns(track),
        buffered=buffered,
        throttled_s=throttled(track.recording),
        busy=_busy(track),
        counted_by=None if buffered else "drive",
        is_direct=not buffered,
        is_virtual=bool((track.recording.facts.get("host") or {}).get("virtual")),
    )


def _busy(track: WriteTrack) -> list[tuple[Floats, Floats]]:
    """Bytes written, and the share of what the drive moved meanwhile that was for others."""
    recording, names = track.recording, ["device_read_bytes_total", "device_write_bytes_total"]
    if _does_not_tell_others(recording, names):
        return []
    before = float(sum(recording.before[name] for name in names))
    totals = np.append(before, sum(recording.bytes[name].astype(np.float64) for name in names))
    moved, own = np.diff(totals), recording.bytes["write_bytes"].astype(np.float64)
    share = np.divide(np.maximum(moved - own, 0.0), moved, out=np.zeros_like(moved), where=moved > 0)
    return [(track.edges_bytes[1:], share)]


def measurement_context(track: WriteTrack, phases: Sequence[Phase]) -> MeasurementContext:
    """Build the measurement context of a recording without any of the drive's counters."""
    latencies = [_latencies(track, phase) for phase in phases]
    first_s = _first_s(track, phases[0])
    moved = [_other_bytes(track, phase) for phase in phases]
    other_bytes = [other for other in moved if other is not None]
    return MeasurementContext(
        capacity_bytes=track.recording.drive_bytes,
        is_file=bool(track.recording.facts.get("file_system")),
        link_bytes_per_s=_link(track.recording),
        command_bytes=_command_bytes(track.recording),
        map_bytes=_map_bytes(track.recording),
        access_patterns=_access_patterns(track),
        mean_s=_without_the_first(track, [mean for mean, _, _ in latencies], phases[0], first_s),
        longest_s=[longest for _, longest, _ in latencies],
        fastest_s=[fastest for _, _, fastest in latencies],
        slowest_quantiles_s=[_waits(track, phase) for phase in phases],
        is_depth_one=all(job["iodepth"] == 1 and option["numjobs"] == 1 for job, option in track.jobs),
        first_request_extra_s=first_s,
        silence_s=_silent_s(track),
        cpu_share=_cpu(track, phases),
        buffered=_buffered(track.recording),
        throttled_s=throttled(track.recording),
        other_share=[
            other / (other + phase.to_bytes - phase.from_bytes)
            for other, phase in zip(other_bytes, phases, strict=True)
        ]
        if len(other_bytes) == len(phases)
        else None,
    )


def _buffer_rise(track: WriteTrack, phase: Phase) -> float:
    """Bytes that the write buffer of a simulated drive holds more at the end of a phase than at its start."""
    held = np.append(at_first(track, "buffer_bytes"), track.recording.bytes["buffer_bytes"]).astype(np.float64)
    levels = np.interp([phase.from_bytes, phase.to_bytes], track.edges_bytes, held)
    return float(levels[1] - levels[0])


def _other_bytes(track: WriteTrack, phase: Phase) -> float | None:
    """Bytes that the drive moved for others within a phase of writes; None where it is not known."""
    side = "host" if track.recording.is_simulated else "device"
    names = [f"{side}_read_bytes_total", f"{side}_write_bytes_total"]
    if _does_not_tell_others(track.recording, names):
        return None
    changes = changes_within(track, phase.from_bytes, phase.to_bytes)
    # A request is counted when it begins or when it ends, by us and by them.
    own_bytes = phase.to_bytes - phase.from_bytes + track.under_way_bytes
    return max(sum(changes[name] for name in names) - own_bytes, 0.0)


def _does_not_tell_others(recording: Recording, names: Sequence[str]) -> bool:
    """Whether these counters do not tell what was moved for others: memory or the file system may be between."""
    is_counted = all(name in recording.before for name in names)
    has_own = not recording.is_simulated and place.own_traffic(recording.facts) is not None
    return has_own or not is_counted or _buffered(recording)


def host(recording: Recording) -> HostTable:
    """The host of a simulated drive, as its profile says; empty where there is none, and on a real one."""
    return recording.profile_keys.get("host", HostTable())


def _cpu(track: WriteTrack, phases: Sequence[Phase]) -> list[float] | None:
    """Share of the processor that was busy, by phase; on a real drive, of the core that makes the requests."""
    counter = "host_cpu_busy_ns_total" if track.recording.is_simulated else "cpu_ns_total"
    cores = host(track.recording).get("cores") if track.recording.is_simulated else 1
    if cores is None or counter not in track.recording.before:
        return None
    changes = [changes_within(track, phase.from_bytes, phase.to_bytes)[counter] for phase in phases]
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


def at_first(track: WriteTrack, gauge: str) -> int:
    """A gauge of a simulated drive when the first request was made: a silence before it may empty cache and buffer."""
    silent = int(np.searchsorted(track.recording.time["end_ns"], track.began_ns, side="right"))
    return int(track.recording.time[gauge][silent - 1]) if silent else track.recording.before[gauge]


def _silent_before(track: WriteTrack) -> int:
    """Nanoseconds in which a simulated drive was asked for nothing before the first request."""
    recording, counter = track.recording, "host_silent_ns_total"
    ends = recording.time["end_ns"]
    silent = int(np.searchsorted(ends, track.began_ns, side="right"))
    rest = track.began_ns - (int(ends[silent - 1]) if silent else recording.start_ns)
    return at_first(track, counter) - recording.before[counter] + rest


def _held_in_memory(track: WriteTrack, written: float) -> float:
    """Bytes that the page cache of a simulated host held when so much was written."""
    if "page_cache_dirty_bytes" not in track.recording.before:
        return 0.0
    column = np.concatenate([[0], track.recording.bytes["page_cache_dirty_bytes"]]).astype(np.float64)
    return float(np.interp(written, track.edges_bytes, column))


def filled(track: WriteTrack) -> tuple[bool, float] | None:
    """Whether a simulated drive filled its cache within too few bins for the curve to show it, and bytes written by
    then; None where it never did, or left its cache before that was full."""
    early, left = _left_the_cache(track)
    if math.isinf(left):
        return None
    min_bytes = MIN_CACHED_SHARE * max(track.recording.facts["cache_bytes"], 1)
    place = min(left, changes_within(track, 0.0, left)[CACHED])
    if place > min_bytes:
        return early, place
    # It folds from the start on, and is full once it holds no more.
    series, before = track.recording.bytes, track.recording.before
    into, folded = (series[name].astype(np.float64) - before[name] for name in (CACHED, FOLDED))
    held = into - folded
    first = int(np.argmax(held >= FULL * held.max()))
    return (first <= LASTING * held.size, float(track.edges_bytes[first + 1])) if held.max() > min_bytes else None


def _left_the_cache(track: WriteTrack) -> tuple[bool, float]:
    """Whether a simulated drive no longer wrote into its cache alone within the bins in which that has to last, and
    bytes written when it did so; infinite: it always did."""

    def change(name: str) -> NDArray[np.float64]:
        return np.diff(
            np.concatenate([[float(track.recording.before[name])], track.recording.bytes[name].astype(np.float64)])
        )

    native = change("host_to_native_bytes_total")
    host = np.maximum(change(CACHED) + native, 1.0)
    moved = change("folded_bytes_total") + change("gc_bytes_total")
    left = ((moved > LEFT * host) | (native > 0.5 * host)).astype(np.float64)
    window = max(1, round(LASTING * left.size))
    lasting = np.flatnonzero((left > 0) & (np.convolve(left, np.ones(window))[window - 1 :] > 0.5 * window))
    if not lasting.size:
        return False, math.inf
    # Of the bin in which it was full, what neither went past it nor was made room for went into it.
    first = int(lasting[0])
    into = float(np.diff(track.edges_bytes)[first] - max(native[first], moved[first]))
    return bool(first <= window), float(track.edges_bytes[first]) + max(into, 0.0)


def _buffered(recording: Recording) -> bool:
    """Whether a page cache took part."""
    if recording.is_simulated and "page_cache" not in host(recording):
        return False
    return not all(traits(job)["direct"] for job in recording.jobs)


def _link(recording: Recording) -> float | None:
    """Bytes/s of the host's data that the link carries, after its own overhead."""
    if recording.is_simulated:
        return float(recording.facts["link_bytes_per_s"])
    raw = link_bytes_per_s(recording.facts["device"] or Device())
    return None if raw is None else units.PAYLOAD * raw


def _command_bytes(recording: Recording) -> float:
    """Cost of a command on the link besides its data, in bytes: SATA's registers and turnarounds, 4 us at 6 Gb/s;
    little on PCIe, and where the link is not known."""
    if recording.is_simulated:
        sata = str(recording.profile_keys.get("link", "")).startswith("sata")
    else:
        sata = "Gbps" in str((recording.facts["device"] or {}).get("link_speed") or "")
    return SATA_COMMAND_BYTES if sata else 0.0


def _access_patterns(track: WriteTrack) -> list[AccessPattern]:
    """Access patterns of the jobs that write, in the order in which they began."""
    ends = np.concatenate([[track.recording.start_ns], track.recording.bytes["end_ns"]]).astype(np.float64)
    patterns = [
        AccessPattern(
            from_bytes=float(np.interp(job["start_ns"], ends, track.edges_bytes)),
            span_bytes=job["size_bytes"],
            request_bytes=job["write"]["io_bytes"] / job["write"]["total_ios"],
            random=bool(option["random"]),
            synced=option["synced"],
        )
        for job, option in track.jobs
        if "size_bytes" in job
    ]
    return sorted(patterns, key=lambda pattern: pattern.from_bytes)


def _map_bytes(recording: Recording) -> float | None:
    """Bytes of the drive that are mapped by what its controller holds of the map; a data sheet tells if it has DRAM."""
    if recording.is_simulated:
        held = recording.facts["map_cache_bytes"]
        return float("inf") if held is None else held * MAPPED
    lent = (recording.facts.get("device") or Device()).get("host_memory_buffer")
    return LENT_BYTES * MAPPED if lent else None


def _first_s(track: WriteTrack, first: Phase) -> float | None:
    """Seconds by which the first request took longer than the longest of a bin usually did after it; None: not seen.
    Bins in which no request came back have no longest."""
    inside = np.searchsorted(track.edges_bytes, first.to_bytes, side="right") - 1
    has_request = track.recording.bytes["writes"][:inside] > 0
    longest = track.recording.bytes["lat_max_ns"][:inside][has_request].astype(np.float64) / 1e9
    return float(longest[0] - np.median(longest[1:])) if longest.size > 1 else None


def _silent_s(track: WriteTrack) -> float | None:
    """Silence before the first request; None where it is not known."""
    if track.recording.is_simulated:
        return track.began_ns / 1e9
    delayed = bool(track.recording.jobs) and all(traits(job)["delayed"] for job in track.recording.jobs)
    return (track.began_ns - track.recording.start_ns) / 1e9 if delayed else None


def _latencies(track: WriteTrack, phase: Phase) -> tuple[float, float, float]:
    """Mean and usual longest time of a request within a phase, and the mean of the bin where they were fastest, in
    seconds; zeros when it has no whole bin."""
    series = track.recording.bytes
    inside = _whole_bins(track, phase)
    if not inside.any():
        return 0.0, 0.0, 0.0
    taken, count = series["lat_sum_ns"][inside].astype(np.float64), series["writes"][inside]
    fastest = float((taken / count).min())
    longest = float(np.median(series["lat_max_ns"][inside]))
    return float(taken.sum() / count.sum()) / 1e9, longest / 1e9, fastest / 1e9


def _without_the_first(track: WriteTrack, means: list[float], first: Phase, first_s: float | None) -> list[float]:
    """The mean times of requests, by phase; a drive that slept was waited for once, which tells nothing of the rest."""
    requests = float(
        np.interp(first.to_bytes, track.edges_bytes, np.append(0, np.cumsum(track.recording.bytes["writes"])))
    )
    if first_s is None or requests < 2.0:
        return means
    return [max(means[0] - max(first_s, 0.0) / requests, 0.0), *means[1:]]


def _waits(track: WriteTrack, phase: Phase) -> tuple[float, float, float, float]:
    """Time of the longest request of a bin, in 5, 50, 95 and 100 of 100 bins of a phase, in seconds; zeros when
    it has no whole bin."""
    longest = track.recording.bytes["lat_max_ns"][_whole_bins(track, phase)]
    if not longest.size:
        return 0.0, 0.0, 0.0, 0.0
    p5, middle, p95, largest = np.quantile(longest / 1e9, [0.05, 0.5, 0.95, 1.0])
    return float(p5), float(middle), float(p95), float(largest)


def _whole_bins(track: WriteTrack, phase: Phase) -> NDArray[np.bool_]:
    """Mask of bins that lie wholly within a phase and have a request."""
    written = track.edges_bytes
    inside = (written[:-1] >= phase.from_bytes) & (written[1:] <= phase.to_bytes)
    return inside & (track.recording.bytes["writes"] > 0)


def usual_within(track: WriteTrack, gauge: str, phase: Phase) -> float:
    """The median of a gauge between two points of the bytes written."""
    column = np.concatenate([[float(track.recording.before[gauge])], track.recording.bytes[gauge].astype(np.float64)])
    positions = np.linspace(phase.from_bytes, phase.to_bytes, 33)
    return median(np.interp(positions, track.edges_bytes, column))


def changes_within(track: WriteTrack, from_bytes: float, to_bytes: float) -> dict[str, float]:
    """Change of each counter, and mean of each gauge, between two points in bytes written."""
    series = track.recording.bytes
    written = track.edges_bytes
    totals = [name for name in track.recording.before if name.endswith("_total")]
    changes = track.recording.rises(totals, from_bytes, to_bytes)
    for name, before in track.recording.before.items():
        if name not in changes:
            column = np.concatenate([[float(before)], series[name].astype(np.float64)])
            changes[name] = float(np.interp(np.linspace(from_bytes, to_bytes, 33), written, column).mean())
    return changes
