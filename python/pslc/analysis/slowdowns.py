"""Slowdowns of a drive at work: their start, and the time until the drive is fast again.

A load is not a test: it asks for much and for little, in requests of all sizes. A drive that was asked for less is not
slow. So speed is taken over the time in which the drive was busy, and a fall counts only where latencies rose with it
at the same size of requests: with N requests under way throughput times latency is N (Little 1961), and whoever asks
for less has fewer under way, not slower ones.

    seconds in which one kind dominates -> log speed while busy -> change points -> steps down -> why -> recovery
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from pslc.analysis.change_points import change_points, neighbor_noise
from pslc.analysis.load import Load
from pslc.analysis.series import Floats
from pslc.analysis.thresholds import (
    MAX_LOAD_CELLS,
    MAX_REQUEST_SIZE_RATIO,
    MIN_BUSY_SHARE,
    MIN_CHANGE_LOG_SPEED,
    MIN_DIRECTION_SHARE,
    MIN_LOG_NOISE,
    MIN_RECOVERED_SPEED_RATIO,
    MIN_SLOWDOWN_RATIO,
    MIN_STEADY_S,
)

Direction = Literal["read", "write"]


@dataclass(frozen=True)
class SteadyInterval:
    """Intervals in a row of about the same speed, without those of another workload.

    Attributes:
        begin, end: first interval, and the one after the last.
        from_s, to_s: since the beginning.
        bytes: moved; seconds: how long the drive was busy with them.
        request_bytes, latency_s: means; nan where not known.
        flushes: for each request of the kind; nan where not known.
        celsius: the highest; nan where not known.
    """

    begin: int
    end: int
    from_s: float
    to_s: float
    bytes: float
    seconds: float
    request_bytes: float
    latency_s: float
    flushes: float
    celsius: float

    @property
    def bytes_per_s(self) -> float:
        """Mean speed while busy."""
        return self.bytes / self.seconds


@dataclass(frozen=True)
class SpeedRecovery:
    """End of a slowdown.

    Attributes:
        at_s: time at which the drive was fast again, in seconds since the start; None if it never was.
        idle_s: longest pause before that; 0 without one.
        insufficient_idle_s: longest pause after which the drive was still slow; 0 without one.
    """

    at_s: float | None
    idle_s: float
    insufficient_idle_s: float


@dataclass(frozen=True)
class Slowdown:
    """A fall of the speed of reads or writes that the drive caused.

    Attributes:
        at_s: since the beginning; exact to an interval.
        before, after: the stretches on both sides.
        since_pause_bytes: written since the last pause, until the fall.
        pause_observed: whether that pause was seen; if not, `since_pause_bytes` is a lower bound.
        is_further: whether the speed had fallen before and not recovered since.
    """

    kind: Direction
    at_s: float
    before: SteadyInterval
    after: SteadyInterval
    since_pause_bytes: float
    pause_observed: bool
    is_further: bool
    recovery: SpeedRecovery


def find_slowdowns(load: Load) -> list[Slowdown]:
    """Every slowdown of reads and writes, in order of time."""
    slowdowns = [fall for kind in ("write", "read") for fall in _slowdowns_of(load, kind)]
    return sorted(slowdowns, key=lambda fall: fall.at_s)


def _slowdowns_of(load: Load, kind: Direction) -> list[Slowdown]:
    sessions = load.sessions()
    intervals = [
        (number, interval)
        for number, session in enumerate(sessions)
        for interval in _steady_intervals(load, kind, *session)
    ]
    written = np.concatenate([[0.0], np.cumsum(np.nan_to_num(load.write_bytes))])
    slowdowns: list[Slowdown] = []
    for index, ((number, before), (other_number, after)) in enumerate(pairwise(intervals)):
        if number != other_number or not fell(before, after):
            continue
        last = slowdowns[-1] if slowdowns else None
        deeper = last is not None and (last.recovery.at_s is None or last.recovery.at_s > after.from_s)
        slowdowns.append(
            Slowdown(
                kind=kind,
                at_s=after.from_s,
                before=before,
                after=after,
                since_pause_bytes=float(written[after.begin] - written[sessions[number][0]]),
                pause_observed=sessions[number][0] > 0,
                is_further=deeper,
                recovery=_speed_recovery(load, before, after, [interval for _, interval in intervals[index + 2 :]]),
            )
        )
    return slowdowns


def fell(before: SteadyInterval, after: SteadyInterval) -> bool:
    """Whether the second is slower, and it is the drive: the latency of requests of the same size rose with it."""
    ratio = before.bytes_per_s / after.bytes_per_s
    if ratio < MIN_SLOWDOWN_RATIO or not _same_request_size(before, after):
        return False
    latencies = after.latency_s / before.latency_s if before.latency_s > 0 else math.nan
    return math.isnan(latencies) or latencies >= math.sqrt(ratio)


def _same_request_size(before: SteadyInterval, after: SteadyInterval) -> bool:
    ratio = before.request_bytes / after.request_bytes
    return math.isnan(ratio) or 1 / MAX_REQUEST_SIZE_RATIO <= ratio <= MAX_REQUEST_SIZE_RATIO


def _speed_recovery(
    load: Load, before: SteadyInterval, after: SteadyInterval, later: list[SteadyInterval]
) -> SpeedRecovery:
    """Look for the first later stretch that is as fast as before, and at the pauses on the way."""
    pauses = [(a, b, float(load.seconds[a:b].sum())) for a, b in load.pauses()]
    slow, not_enough = after, 0.0
    for interval in later:
        if not _same_request_size(before, interval):
            continue
        rested = max((seconds for a, b, seconds in pauses if a >= slow.begin and b <= interval.begin), default=0.0)
        if interval.bytes_per_s >= MIN_RECOVERED_SPEED_RATIO * before.bytes_per_s:
            return SpeedRecovery(interval.from_s, rested, not_enough)
        not_enough, slow = max(not_enough, rested), interval
    return SpeedRecovery(None, 0.0, not_enough)


def _steady_intervals(load: Load, kind: Direction, begin: int, end: int) -> list[SteadyInterval]:
    """Between two pauses: what was fast, what was slow."""
    part = slice(begin, end)
    moved = load.read_bytes[part] if kind == "read" else load.write_bytes[part]
    both = load.read_bytes[part] + load.write_bytes[part]
    tells = (
        (moved > 0) & (moved >= MIN_DIRECTION_SHARE * both) & (load.busy_s[part] >= MIN_BUSY_SHARE * load.seconds[part])
    )
    places = begin + np.flatnonzero(tells)
    if places.size < 2:
        return []
    all_moved = load.read_bytes if kind == "read" else load.write_bytes
    boundaries = _boundaries(all_moved[places], load.busy_s[places])
    edges = [0, *boundaries, places.size]
    while len(edges) > 2 and (weakest := _weakest(all_moved[places], load.busy_s[places], edges)):
        edges.pop(weakest)
    return [_steady_interval(load, kind, places[a:b]) for a, b in pairwise(edges)]


def _boundaries(moved: Floats, busy: Floats) -> list[int]:
    """Change points of log speed, in cells of a few intervals where there are many, then to one interval."""
    step = -(-moved.size // MAX_LOAD_CELLS)
    starts = np.arange(0, moved.size, step)
    level = np.log(np.add.reduceat(moved, starts) / np.add.reduceat(busy, starts))
    if level.size < 4:
        return []
    noise = max(neighbor_noise(level), MIN_LOG_NOISE)
    cells = change_points(level, 6 * noise**2 * math.log(level.size))
    if step == 1:
        return cells
    fine = np.log(moved / busy)
    return [_finest(fine, max(0, (cell - 1) * step), min(fine.size, (cell + 1) * step)) for cell in cells]


def _finest(level: Floats, begin: int, end: int) -> int:
    """The border within a short part that parts it best."""
    errors = [
        level[begin:boundary].var() * (boundary - begin) + level[boundary:end].var() * (end - boundary)
        for boundary in range(begin + 1, end)
    ]
    return begin + 1 + int(np.argmin(errors))


def _weakest(moved: Floats, busy: Floats, edges: list[int]) -> int | None:
    """The border that is none: beside a stretch that is a moment's, or of a small change. None when all are good."""
    speeds = [math.log(moved[a:b].sum() / busy[a:b].sum()) for a, b in pairwise(edges)]
    lasted = [float(busy[a:b].sum()) for a, b in pairwise(edges)]
    changes = {index: abs(speeds[index] - speeds[index - 1]) for index in range(1, len(edges) - 1)}
    brief = [number for number, seconds in enumerate(lasted) if seconds < MIN_STEADY_S]
    if brief:
        shortest = min(brief, key=lambda number: lasted[number])
        return min((index for index in (shortest, shortest + 1) if index in changes), key=lambda index: changes[index])
    weakest = min(changes, key=lambda index: changes[index])
    return weakest if changes[weakest] < MIN_CHANGE_LOG_SPEED else None


def _steady_interval(load: Load, kind: Direction, places: np.ndarray) -> SteadyInterval:
    moved, count, latency = (
        (load.read_bytes, load.reads, load.read_s) if kind == "read" else (load.write_bytes, load.writes, load.write_s)
    )
    begin, end = int(places[0]), int(places[-1]) + 1
    ends = load.ends_s
    requests = float(count[places].sum())
    size, took, flushes = (
        float(total) / requests if requests else math.nan
        for total in (moved[places].sum(), latency[places].sum(), load.flushes[places].sum())
    )
    celsius = load.celsius[places]
    hottest = float(np.nanmax(celsius)) if np.isfinite(celsius).any() else math.nan
    return SteadyInterval(
        begin,
        end,
        float(ends[begin] - load.seconds[begin]),
        float(ends[end - 1]),
        float(moved[places].sum()),
        float(load.busy_s[places].sum()),
        size,
        took,
        flushes,
        hottest,
    )
