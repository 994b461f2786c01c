"""Rough phase boundaries: points where the speed of a curve changes for good, to within a few bins.

runs (exact, too many) -> join, the weakest border first, what is no phase: brief, mild, a ripple, a slow start
"""

import math
from dataclasses import dataclass

import numpy as np

from pslc.analysis.runs import Segmentation, segment
from pslc.analysis.series import Curve
from pslc.analysis.thresholds import (
    FINER_HEAD_SHARE,
    HEAD_INNER_SHARE,
    MAX_DRAM_BYTES,
    MAX_EXCURSION_SHARE,
    MAX_PHASES,
    MAX_RIPPLE_LOG_STEP,
    MAX_RIPPLE_SHARE,
    MAX_SLOW_START_SHARE,
    MAX_WAKING_LOG_RISE,
    MIN_CACHE_SHARE,
    MIN_FINER_HEAD_BINS,
    MIN_FINER_HEAD_RATIO,
    MIN_LOG_STEP,
    MIN_PHASE_CELLS,
    MIN_PHASE_SHARE,
    MIN_PHASE_SHARE_IN_RIPPLE,
    RIPPLE_STEP_RATIO,
)

NEAR_SHARE, MIN_NEAR_BINS = 0.04, 8
"""Bins on each side of a border that are compared, as a share of all, and at least."""


@dataclass(frozen=True)
class _Part:
    """A stretch between two borders: its bytes, counted from the start, and the log of its speed."""

    start: float
    end: float
    level: float

    @property
    def bytes(self) -> float:
        return self.end - self.start

    def joined(self, other: "_Part") -> "_Part":
        """Both as one, of the mean level by bytes."""
        level = (self.level * self.bytes + other.level * other.bytes) / (self.bytes + other.bytes)
        return _Part(self.start, other.end, level)


def rough_boundaries(curve: Curve, buffer_bytes: float = math.inf) -> list[float]:
    """Byte positions, ascending and strictly inside the trace, where a new phase begins; good to a few bins.

    A first part that memory before the cells may have taken in is no phase; it takes in `buffer_bytes` at most. Of a
    run that is long beside its cache, what was recorded in finer bins at the start is segmented by itself.
    """
    boundaries = _boundaries(curve, buffer_bytes)
    head = _finer_head(curve)
    if head is None:
        return boundaries
    begin, until = float(head.edges_bytes[MIN_PHASE_CELLS]), head.edges_bytes[0] + HEAD_INNER_SHARE * head.total_bytes
    early = [boundary for boundary in rough_boundaries(head, buffer_bytes) if begin <= boundary < until]
    return [*early, *(boundary for boundary in boundaries if boundary >= until)][: MAX_PHASES - 1]


def _finer_head(curve: Curve) -> Curve | None:
    """The start of a curve, where its bins are finer than those behind, as a recorder keeps them; None where they are
    not."""
    count = int(np.searchsorted(curve.edges_bytes - curve.edges_bytes[0], FINER_HEAD_SHARE * curve.total_bytes))
    if count < MIN_FINER_HEAD_BINS:
        return None
    if float(curve.widths[:count].max()) > float(np.median(curve.widths[count:])) / MIN_FINER_HEAD_RATIO:
        return None
    return Curve(curve.edges_bytes[: count + 1], curve.seconds[:count])


def _boundaries(curve: Curve, buffer_bytes: float) -> list[float]:
    cut = segment(curve)
    parts = [_Part(run.from_bytes, run.to_bytes, run.level) for run in cut.runs]
    total = cut.curve.total_bytes
    while len(parts) > 1:
        strengths = [_strength(cut, parts, border, buffer_bytes) for border in range(len(parts) - 1)]
        weakest = int(np.argmin(strengths))
        if strengths[weakest] >= 1.0:
            rippling = _ripple(parts, total)
            if rippling is None:
                break
            weakest = rippling
        parts[weakest : weakest + 2] = [parts[weakest].joined(parts[weakest + 1])]
    start = float(curve.edges_bytes[0])
    return [start + part.start for part in parts[1:MAX_PHASES]]


def _strength(cut: Segmentation, parts: list[_Part], border: int, buffer_bytes: float = math.inf) -> float:
    """Strength of the border behind a part, over that of the weakest border worth reporting."""
    total = cut.curve.total_bytes
    before, after = parts[border], parts[border + 1]
    # A slow drift differs between the means of two long phases, but not between the two sides of the border.
    step = min(abs(before.level - after.level), _near_step(cut, before, after))
    is_first = border == 0
    brief = any(_is_brief(parts, place, total) for place in (border, border + 1))
    if brief or (is_first and _is_start(before, after, total, buffer_bytes)) or _is_excursion(parts, border, total):
        return 0.1 * step / (1.0 + step)  # it goes first, into the neighbour it resembles
    needed = MIN_LOG_STEP
    for part, beside in ((before, after), (after, before)):
        if part.bytes < MIN_PHASE_SHARE_IN_RIPPLE * total and part is not parts[0]:
            needed = max(needed, MIN_LOG_STEP + RIPPLE_STEP_RATIO * _swing(cut, beside))
    return step / needed


def _is_brief(parts: list[_Part], place: int, total: float) -> bool:
    """Whether a part is too short for a phase. The first may be as short as it likes, and a cache is short behind short
    memory, unless it is a stall between two faster parts."""
    part = parts[place]
    if place == 1 and parts[0].bytes < MAX_SLOW_START_SHARE * total and len(parts) > 2:
        if part.bytes < MAX_EXCURSION_SHARE * total and part.level < min(parts[0].level, parts[2].level):
            return True
        return part.bytes < MIN_CACHE_SHARE * total
    return place > 0 and part.bytes < MIN_PHASE_SHARE * total


def _near_step(cut: Segmentation, before: _Part, after: _Part) -> float:
    """The step of log speed between the bins nearest to a border, on both sides."""
    edges = cut.curve.edges_bytes - cut.curve.edges_bytes[0]
    first, border, last = np.searchsorted(edges, [before.start, after.start, after.end])
    reach = max(MIN_NEAR_BINS, round(NEAR_SHARE * cut.curve.seconds.size))
    level = np.log(cut.curve.bytes_per_s)
    near, beyond = level[max(first, border - reach) : border], level[border : min(last, border + reach)]
    return abs(float(np.median(near)) - float(np.median(beyond)))


def _is_start(first: _Part, second: _Part, total: float, buffer_bytes: float = math.inf) -> bool:
    """Whether a first part is what the drive's DRAM took in, or a slow start."""
    rise = second.level - first.level
    is_slow = (
        rise > 0 and first.bytes < (MAX_SLOW_START_SHARE if rise <= MAX_WAKING_LOG_RISE else MIN_PHASE_SHARE) * total
    )
    return is_slow or first.bytes < min(MIN_CACHE_SHARE * total, MAX_DRAM_BYTES, buffer_bytes)


def _is_excursion(parts: list[_Part], border: int, total: float) -> bool:
    """Whether a part beside a border leaves the speed of its neighbours for a moment only."""
    return any(
        0 < place < len(parts) - 1
        and parts[place].bytes < MAX_EXCURSION_SHARE * total
        and abs(parts[place - 1].level - parts[place + 1].level) < MIN_LOG_STEP
        for place in (border, border + 1)
    )


def _swing(cut: Segmentation, part: _Part) -> float:
    """The range of log speeds that is usual in a part."""
    edges = cut.curve.edges_bytes - cut.curve.edges_bytes[0]
    first, last = np.searchsorted(edges, [part.start, part.end])
    level = np.log(cut.curve.bytes_per_s[first:last])
    return float(np.subtract(*np.quantile(level, (0.95, 0.05)))) if level.size >= 8 else 0.0


def _ripple(parts: list[_Part], total: float) -> int | None:
    """The index of a border inside a ripple: three or more short parts in a row that go up and down mildly."""
    steps = np.diff([part.level for part in parts])
    longest = MAX_RIPPLE_SHARE * total
    for k in range(1, len(steps) - 1):
        three = steps[k - 1 : k + 2]
        alternating = three[0] * three[1] < 0 and three[1] * three[2] < 0
        short = parts[k].bytes < longest and parts[k + 1].bytes < longest
        if alternating and short and float(np.abs(three).max()) < MAX_RIPPLE_LOG_STEP:
            return k
    return None
