"""Intervals that the rows of fio's logs cover, and the sum of several jobs' rows as one curve: pure functions on
arrays.

An averaged row is the mean rate of the interval that ends at its time. fio writes no row for an interval in which
nothing ended, so that a row after a gap covers its own interval and not the gap:

    ms        500   1000   1500          61500  62000
    covers   |-----|------|-----|  gap  |------|------|
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pslc.analysis import Curve
from pslc.analysis.series import MIN_SILENCE_S, Floats

Integers = NDArray[np.int64]

KIB: Final = 1024
SAMPLE_MS: Final = 500
"""fio's `bwavgtime` where nobody gives another: fio samples rates no less often."""
GAP_RATIO: Final = 1.9
"""Spacing of two rows, in intervals, from which one between them is missing."""
MAX_MISSED_RATIO: Final = 2.2
"""A gap of one interval may be one that fio's helper thread missed, as it does with several jobs whose clocks differ:
the next row then covers both."""
MAX_LATE_RATIO: Final = 3.2
"""Largest delay of fio's helper thread, in intervals: on a busy machine it may sleep through two."""
MAX_LATE_MS: Final = 400
"""Largest delay of fio's helper thread, in ms."""
MAX_TAIL_RATIO: Final = 1.6
"""Jobs that ran together end within so many intervals: the last interval of some is not logged."""
EVEN_SHARE: Final = 0.7
"""fio samples no sooner than after an interval: of rows closer than this share of one there are"""
MAX_UNEVEN_SHARE: Final = 0.1
"""no more than so many."""
MAX_JITTER_SHARE: Final = 0.12
"""Half of the intervals are no further than this share off the usual one."""
SPARSE_RATIO: Final = 0.6
"""A first row this early, in the usual spacing, shows that intervals are shorter: rows of most of them are missing."""
MIN_AVERAGE_MS: Final = 5
"""Rows of means are no closer: fio's helper thread sleeps for some ms."""
SAME_SAMPLE_SHARE: Final = 0.1
"""Rows closer than this share of the usual spacing are of one interval."""
MIN_OLD_AVERAGE_MS: Final = 90
"""fio 2.x wrote the block size into rows of means of `bwavgtime`, 500 ms; below this they are single requests."""
MAX_OLD_COLUMNS: Final = 4
"""Later versions write the priority, too, and no block size into means."""
MIN_PAUSE_S: Final = 1.0
"""A silence between single requests that counts as a pause of the host."""
MAX_IMPOSSIBLE_SHARE: Final = 0.1
"""Share of the requests that may have taken longer than their job ran: those that `ramp_time` cut."""
PAUSE_RATIO: Final = 20.0
"""Smallest length of a pause, in usual silences. It must also exceed the duration of the request that ended it."""
MIN_BIN_SHARE: Final = 0.5
"""Rows of several jobs that end within this share of an interval make one bin."""


@dataclass(frozen=True)
class Rows:
    """Rows of one job and one direction, in the order of the file.

    Attributes:
        ms: end of the interval, or when the request ended, shape (n,).
        value: KiB/s, or what else the log is of, shape (n,).
        size: of a request; 0 in a row of means, shape (n,).
        columns: of the file.
    """

    ms: Integers
    value: Integers
    size: Integers
    columns: int = 5

    @property
    def spacing_ms(self) -> Integers:
        """Between one row and the next, shape (n - 1,)."""
        return np.diff(self.ms)


@dataclass(frozen=True)
class Covered:
    """Bytes moved in stretches of time that may have gaps between them, all shape (n,), ascending.

    Attributes:
        unsure_s: time that was counted as covered, and may have been a gap.
    """

    start_s: Floats
    end_s: Floats
    amounts: Floats
    unsure_s: float = 0.0

    def shifted(self, seconds: float) -> Covered:
        """The same stretches, later by a number of seconds."""
        return replace(self, start_s=self.start_s + seconds, end_s=self.end_s + seconds)

    def until(self, end_s: float) -> Covered:
        """Part of the intervals that lies before `end_s`."""
        kept = self.start_s < end_s
        start, end = self.start_s[kept], np.minimum(self.end_s[kept], end_s)
        whole = self.end_s[kept] - start
        share = np.divide(end - start, whole, out=np.ones_like(whole), where=whole > 0)
        return replace(self, start_s=start, end_s=end, amounts=self.amounts[kept] * share)

    @property
    def total_bytes(self) -> float:
        """Bytes moved in all stretches."""
        return float(self.amounts.sum())


class UnclearRowsError(ValueError):
    """Rows that could be read in several ways; the message says why."""


def is_old_average(rows: Rows) -> bool:
    """Whether rows with a block size are means, as fio 2.x wrote them in four columns: one size, spacing from the start
    on that is even but for missing rows, and far more bytes by value and time than by the sizes. Single requests at an
    even pace begin at once."""
    spacing = rows.spacing_ms
    if rows.columns > MAX_OLD_COLUMNS or not len(spacing) or not rows.size[0] or (rows.size != rows.size[0]).any():
        return False
    usual = float(np.median(spacing))
    if rows.ms[0] < SPARSE_RATIO * usual:
        return False
    is_even = (np.abs(spacing - usual) < 0.25 * usual).mean() > 0.5
    is_dense = (spacing < 0.75 * usual).mean() > MAX_UNEVEN_SHARE
    by_time = float(rows.value[1:] @ spacing) * KIB / 1000
    return usual >= MIN_OLD_AVERAGE_MS and bool(is_even) and not is_dense and by_time > 2 * float(rows.size[1:].sum())


def interval_ms(samples: Integers, from_zero: bool) -> float:
    """The interval of rows of means, from their spacing.

    Args:
        samples: times of the rows of every direction, ascending, shape (n,).
        from_zero: the clock begins with the job, so the first row ends the first interval or a later one.

    Raises:
        UnclearRowsError: they do not show it.
    """
    # The rows of reads and writes of one interval may be some ms apart.
    apart = np.diff(samples)
    same = (
        SAME_SAMPLE_SHARE * float(np.median(apart[apart > MIN_AVERAGE_MS])) if (apart > MIN_AVERAGE_MS).any() else 0.0
    )
    samples = samples[np.concatenate([[True], apart > same])]
    spacing = np.diff(samples)
    first = float(samples[0])
    if not len(spacing):
        if from_zero and 0 < first <= 10_000:
            return first
        raise UnclearRowsError("it has one row, which does not show how long its interval is")
    low = float(np.quantile(spacing, 0.1, method="lower"))
    usual = float(np.median(spacing))
    if low < SPARSE_RATIO * usual:
        usual = float(np.median(spacing[spacing <= 1.5 * low]))
    near = spacing[np.abs(spacing - usual) < 0.5 * usual]
    uneven = not len(near) or float(np.median(np.abs(near - usual))) > MAX_JITTER_SHARE * usual
    if uneven or usual < MIN_AVERAGE_MS or (spacing < EVEN_SHARE * usual).mean() > MAX_UNEVEN_SHARE:
        raise UnclearRowsError("its rows are not evenly spaced, so it does not show how long an interval is")
    if from_zero and 0 < first < SPARSE_RATIO * usual:
        raise UnclearRowsError(
            f"its first row ends at {first:g} ms, but rows are {usual:g} ms apart: rows of most intervals are missing"
        )
    return usual


def averaged(rows: Rows, interval: float, from_zero: bool, samples: Integers, late: bool | None = None) -> Covered:
    """Intervals that rows of means cover, and the bytes moved in each.

    Args:
        interval: in ms.
        from_zero: see `interval_ms`; else the first row covers one interval.
        samples: when fio sampled, by the rows of every direction, ascending, shape (m,).
        late: whether short gaps are of a helper thread that was late, so that the row after one covers it; None: not
            known, which counts as late.
    """
    ends = np.maximum.accumulate(rows.ms.astype(np.float64))
    before = np.concatenate([[0.0 if from_zero else ends[0] - interval], ends[:-1]])
    place = np.searchsorted(samples, ends - SPARSE_RATIO * interval, side="right") - 1
    sampled = np.where(place >= 0, samples[np.maximum(place, 0)], -np.inf)
    marks = sampled > before
    spacing = ends - np.maximum(before, sampled)
    limit = max(MAX_MISSED_RATIO * interval, min(MAX_LATE_RATIO * interval, MAX_LATE_MS))
    short = (spacing > GAP_RATIO * interval) & (spacing <= limit) & ~marks
    gap = (spacing > GAP_RATIO * interval) & ~(short if late in (None, True) else np.zeros_like(short))
    lasted = np.where(gap | (spacing <= 0), interval, spacing)
    unsure = float((spacing - interval)[short].sum()) / 1000 if late is None else 0.0
    return Covered((ends - lasted) / 1000, ends / 1000, rows.value * float(KIB) * lasted / 1000, unsure)


def single(rows: Rows, is_bandwidth: bool, from_zero: bool) -> Covered:
    """Intervals that rows of one request each cover: each from the end of the previous one, less pauses of the host.

    Args:
        is_bandwidth: the value is the request's size over its time.
        from_zero: the clock begins with the job.

    Raises:
        UnclearRowsError: by speed and size, requests took longer than the job had run when they ended.
    """
    order = np.argsort(rows.ms, kind="stable")
    ms, amounts = rows.ms[order].astype(np.float64), rows.size[order].astype(np.float64)
    took_s = np.zeros(len(ms))
    if is_bandwidth:
        value = rows.value[order].astype(np.float64)
        took_s = np.divide(amounts, value * KIB, out=took_s, where=value > 0)
        # fio cuts the speed to whole KiB/s.
        impossible = amounts / ((value + 1) * KIB) > (ms + 1) / 1000
        if from_zero and impossible.mean() > MAX_IMPOSSIBLE_SHARE:
            at = int(np.argmax(impossible))
            raise UnclearRowsError(
                f"columns 2 and 4 contradict each other: {amounts[at]:.0f} bytes at {value[at]:.0f} KiB/s take "
                f"{took_s[at]:.3g} s, and the job had run for {ms[at] / 1000:.3g} s"
            )
    unique, first = np.unique(ms, return_index=True)
    amounts, took_s = np.add.reduceat(amounts, first), np.maximum.reduceat(took_s, first)
    silence = np.diff(unique, prepend=0.0 if from_zero else unique[0]) / 1000
    usual = float(np.median(silence[1:])) if len(silence) > 1 else 0.0
    if not from_zero:
        silence[0] = max(usual, took_s[0], 1e-3)
    paused = (silence > max(MIN_PAUSE_S, PAUSE_RATIO * usual)) & (silence > 2 * took_s + usual)
    lasted = np.where(paused, np.maximum(took_s, usual), silence)
    return Covered(unique / 1000 - lasted, unique / 1000, amounts)


def ended_together(jobs: Sequence[Covered], interval_s: float) -> list[Covered]:
    """Jobs on one clock; those that run with the last of them and end within its last interval are cut where the first
    of these ends: fio does not log an interval that is not whole, so that jobs seem to stop one after the other."""
    last = max(jobs, key=lambda job: float(job.end_s[-1]))
    begin_s, end_s = float(last.start_s[0]), float(last.end_s[-1])
    ends = [float(job.end_s[-1]) for job in jobs]
    cut_s = min([end_s, *(end for end in ends if end > begin_s and end >= end_s - MAX_TAIL_RATIO * interval_s)])
    return [job.until(cut_s) for job in jobs]


def curve_of(jobs: Sequence[Covered], interval_s: float) -> tuple[Curve | None, float]:
    """The bytes of all jobs over the time in which at least one of them has rows; and the time in which none has.

    Args:
        interval_s: bins are no shorter than a share of it; 0: as short as the rows.
    """
    jobs = [job for job in jobs if len(job.amounts)]
    if not jobs:
        return None, 0.0
    edges = np.unique(np.concatenate([edge for job in jobs for edge in (job.start_s, job.end_s)]))
    done, active = np.zeros(len(edges)), np.zeros(len(edges) - 1, dtype=bool)
    for job in jobs:
        points = np.column_stack([job.start_s, job.end_s]).ravel()
        totals = np.cumsum(job.amounts)
        sums = np.column_stack([totals - job.amounts, totals]).ravel()
        done += np.interp(edges, np.maximum.accumulate(points), sums)
        middle = (edges[:-1] + edges[1:]) / 2
        at = np.searchsorted(job.start_s, middle, side="right") - 1
        active |= (at >= 0) & (middle <= np.maximum.accumulate(job.end_s)[np.maximum(at, 0)])
    seconds = np.concatenate([[0.0], np.cumsum(np.where(active, np.diff(edges), 0.0))])
    silent = np.concatenate([[0.0], np.cumsum(np.where(active, 0.0, np.diff(edges)))])
    idle = float(silent[-1])
    # Requests that ended at once are of the first bin.
    done[0] = 0.0
    keep = [0]
    for at in range(1, len(edges)):
        if done[at] > done[keep[-1]] and seconds[at] > seconds[keep[-1]] + MIN_BIN_SHARE * interval_s:
            keep.append(at)
    if len(keep) < 2:
        if not (done[-1] > done[0] and seconds[-1] > seconds[0]):
            return None, idle
        keep = [0, len(edges) - 1]
    keep[-1] = len(edges) - 1
    silent_s = np.diff(silent[keep])
    return Curve(done[keep], np.diff(seconds[keep]), np.where(silent_s >= MIN_SILENCE_S, silent_s, 0.0)), idle
