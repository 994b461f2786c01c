"""Stretches of runs at one level, with excursions from it, and the best ways to cut a write into a few of them.

    ----+  +----     a stretch is a level, constant or sloping, on which most of its runs lie; the others are dips, and
        |__|         bursts above it. What follows and does not come back is the next stretch.

The level is integrated out, so that a stretch of one run costs nothing and each further run on the level speaks for it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pslc.analysis.runs import Run
from pslc.analysis.series import Floats

LEVEL_SD: Final = 0.05
"""Standard deviation of the log speed of runs on one level, beside their errors: 0.02 and 0.1 made half again as many
gross errors in a prototype."""
MAX_OFF: Final = 0.3
"""Log ratio beyond which no run lies on a level, however short it is."""
MAX_STRETCHES, BEST_CUTS, MAX_CANDIDATES = 5, 10, 5
SLOPE_COSTS: Final = (0.0, 3.0, 6.5)
"""Nats that a constant level, a line and a parabola cost."""
MAX_SLOPE_STEP: Final = 0.25
"""Largest step of log speed between two runs on a slope."""
COUNTS: Final = {"on": 1.5, "below": 0.4, "above": 0.08}
"""Counts of runs before any was: after one on the level, on it, below, or above."""
BACK_SHARE, SAME_SIDE_SHARE = 0.72, 0.25
"""Shares of excursions after which the level is back, and that go on to the same side of it."""
AGAIN_SHARE: Final = 0.4
"""Share of silences after which a write is faster."""
REST_SHARE: Final = 1.0 - BACK_SHARE - SAME_SIDE_SHARE
EXCURSION_NATS, SAME_DEPTH_NATS, SAME_DEPTH_SD = -1.1, 0.7, 0.12
"""Density of the depth of a new excursion, and of one as deep as another, which is nearly as exact as a level."""
FREE_EXCURSION_SHARE: Final = 0.06
"""Share of the time of a stretch beyond which one or two excursions are unlikely."""
MIN_LEVEL_BYTES_SHARE, MIN_LEVEL_TIME_SHARE = 0.15, 0.35
"""Shares of a stretch that its level has to hold."""
START_NATS, EDGE_NATS = 2.0, 1.0
"""Cost of a slow start, and of an odd run at an edge."""


@dataclass(frozen=True)
class Stretch:
    """Runs `first` to `last`, the last one excluded, on one level.

    Attributes:
        value: log likelihood.
        level: log speed at its middle; at its start and its end.
        on: of each run whether it lies on the level.
        bytes, seconds: of all its runs.
        from_bytes: written before it.
        slope: degree of the level: 0 constant, 1 a line, 2 a parabola.
    """

    first: int
    last: int
    value: float
    level: float
    start_level: float
    end_level: float
    on: tuple[bool, ...]
    bytes: float
    seconds: float
    from_bytes: float
    slope: int

    @property
    def to_bytes(self) -> float:
        """Written until its end."""
        return self.from_bytes + self.bytes


@dataclass(frozen=True)
class Cut:
    """A write as stretches, and its log likelihood."""

    value: float
    stretches: tuple[Stretch, ...]


_FIELDS: Final = ("level", "error", "bytes", "seconds", "from_bytes", "silent_s")


@dataclass(frozen=True)
class _Columns:
    """Runs as columns, all shape (n,)."""

    level: Floats
    error: Floats
    bytes: Floats
    seconds: Floats
    start: Floats
    silent: Floats


def best_cuts(runs: tuple[Run, ...]) -> list[Cut]:
    """The best cuts into one to `MAX_STRETCHES` stretches, `BEST_CUTS` of each number."""
    columns = _Columns(*(np.array([getattr(run, name) for run in runs]) for name in _FIELDS))
    count = len(runs)
    spans = {
        (i, j): stretch
        for i in range(count)
        for j in range(i + 1, count + 1)
        if (stretch := _stretch(columns, i, j)) is not None
    }
    cuts: list[Cut] = []
    # best[j]: cuts of the first j runs into as many stretches as there were rounds.
    best: list[list[Cut]] = [[Cut(0.0, ())]] + [[] for _ in range(count)]
    for _ in range(MAX_STRETCHES):
        further: list[list[Cut]] = [[] for _ in range(count + 1)]
        for j in range(1, count + 1):
            longer = [
                Cut(cut.value + spans[i, j].value, (*cut.stretches, spans[i, j]))
                for i in range(j)
                if (i, j) in spans
                for cut in best[i]
            ]
            further[j] = sorted(longer, key=lambda cut: -cut.value)[:BEST_CUTS]
        cuts += further[count]
        best = further
    return cuts


def _stretch(columns: _Columns, i: int, j: int) -> Stretch | None:
    """The best level for runs i to j; None where none holds enough of them."""
    part = _Columns(*(column[i:j] for column in vars(columns).values()))
    size = j - i
    best: tuple[float, Floats, NDArray[np.bool_], int] | None = None
    for line, degree in _lines(part, size):
        on = _near(part, line)
        # What a silence made faster says nothing of the level.
        counted = ~_again(part, part.level - line, on)
        bytes_share = part.bytes[on].sum() / part.bytes[counted].sum()
        time_share = part.seconds[on].sum() / part.seconds[counted].sum()
        if bytes_share < MIN_LEVEL_BYTES_SHARE or time_share < MIN_LEVEL_TIME_SHARE:
            continue
        value = _value(part, line, on, at_start=i == 0) - SLOPE_COSTS[degree]
        if best is None or value > best[0]:
            best = (value, line, on, degree)
    if best is None:
        return None
    value, line, on, degree = best
    centre = float(np.average(line[on], weights=part.bytes[on]))
    return Stretch(
        first=i,
        last=j,
        value=value,
        level=centre,
        start_level=float(line[on][0]),
        end_level=float(line[on][-1]),
        on=tuple(bool(flag) for flag in on),
        bytes=float(part.bytes.sum()),
        seconds=float(part.seconds.sum()),
        from_bytes=float(part.start[0]),
        slope=degree,
    )


def _lines(part: _Columns, size: int) -> list[tuple[Floats, int]]:
    """Candidate levels of the runs of a stretch, and their degrees."""
    weights = 1.0 / (LEVEL_SD**2 + part.error**2)
    heaviest = np.argsort(-(part.bytes / part.bytes.sum() + part.seconds / part.seconds.sum()))[:MAX_CANDIDATES]
    lines: list[tuple[Floats, int]] = []
    for candidate in heaviest:
        level = part.level[candidate]
        for _ in range(2):
            near = _near(part, level)
            level = float(np.average(part.level[near], weights=weights[near])) if near.any() else level
        if not any(degree == 0 and abs(line[0] - level) < 1e-9 for line, degree in lines):
            lines.append((np.full(size, level), 0))
    if size >= 3 and float(np.ptp(part.level)) > 2 * LEVEL_SD:
        lines += [(line, degree) for line, degree in _slopes(part, weights) if _is_gradual(part, line)]
    return lines


def _slopes(part: _Columns, weights: Floats) -> Iterator[tuple[Floats, int]]:
    """Lines and parabolas through the runs: robust ones, and those through two of them."""
    middle = part.start + 0.5 * part.bytes - part.start[0]
    size, heavy = middle.size, np.sqrt(weights * part.bytes / part.bytes.mean())
    for degree in (1, 2):
        if size >= degree + 2:
            yield _robust_line(middle / middle[-1], part.level, heavy, degree), degree
    for first, last in {(0, size - 1), (0, size - 2), (0, size // 2), (size // 2, size - 1)}:
        if first < last:
            rise = (part.level[last] - part.level[first]) / (middle[last] - middle[first])
            yield part.level[first] + rise * (middle - middle[first]), 1


def _near(part: _Columns, line: Floats | float) -> NDArray[np.bool_]:
    """The runs that lie on a level."""
    near: NDArray[np.bool_] = np.abs(part.level - line) <= np.minimum(2.5 * np.hypot(LEVEL_SD, part.error), MAX_OFF)
    return near


def _is_gradual(part: _Columns, line: Floats) -> bool:
    """Whether the runs on a slope follow it in small steps: a large one is no slope."""
    on = _near(part, line)
    steps = np.abs(np.diff(part.level[on]))
    return bool(steps.size) and float(steps.max()) <= MAX_SLOPE_STEP


def _robust_line(at: Floats, level: Floats, weights: Floats, degree: int) -> Floats:
    """A polynomial through most of the points."""
    keep = np.ones(at.size, dtype=bool)
    line: Floats = np.full(at.size, float(np.median(level)))
    for _ in range(3):
        if keep.sum() <= degree + 1:
            break
        powers = np.vander(at, degree + 1)
        scaled = weights[keep, None] * powers[keep]
        line = powers @ np.linalg.lstsq(scaled, weights[keep] * level[keep], rcond=None)[0]
        off = np.abs(level - line)
        keep = off <= max(2.5 * LEVEL_SD, 2.0 * float(np.median(off)))
    return line


def _value(part: _Columns, line: Floats, on: NDArray[np.bool_], *, at_start: bool) -> float:
    """Log likelihood of the runs of a stretch: densities of those on the level, depths of the others, their order."""
    sd = np.hypot(LEVEL_SD, part.error)
    off = part.level - line
    held = int(on.sum())
    densities = -0.5 * (off[on] / sd[on]) ** 2 - np.log(sd[on] * math.sqrt(2.0 * math.pi))
    value = float(densities.sum()) + math.log(float(np.mean(sd[on])) * math.sqrt(2.0 * math.pi)) - 0.5 * math.log(held)
    again = _again(part, off, on)
    return value + _order(off, on, again, at_start=at_start) + _depths(part, off, on, again)


def _again(part: _Columns, off: Floats, on: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Runs faster than the level right after a silence, in which a cache may have become free."""
    return (part.silent > 0) & (off > 0) & ~on


def _order(off: Floats, on: NDArray[np.bool_], again: NDArray[np.bool_], *, at_start: bool) -> float:
    """Log probability of the order of runs on, below and above the level, with counts that adapt."""
    states = ["on" if flag else "below" if depth < 0 else "above" for flag, depth in zip(on, off, strict=True)]
    counts = dict(COUNTS)
    value = 0.0
    if states[0] != "on":
        value -= START_NATS if at_start and states[0] == "below" else EDGE_NATS + START_NATS * (states[0] == "above")
    for before, state, is_again in zip(states, states[1:], again[1:], strict=False):
        if is_again:
            value += math.log(AGAIN_SHARE)
        elif before == "on":
            value += math.log(counts[state] / sum(counts.values()))
            counts[state] += 1.0
        else:
            value += math.log(BACK_SHARE if state == "on" else SAME_SIDE_SHARE if state == before else REST_SHARE)
    return value - EDGE_NATS * (len(states) > 1 and states[-1] != "on" and not again.any())


def _depths(part: _Columns, off: Floats, on: NDArray[np.bool_], again: NDArray[np.bool_]) -> float:
    """Log density of how far excursions leave the level, and how much of the time few of them take."""
    value = 0.0
    depths: list[float] = []
    for depth in off[~on]:
        nearest = min((abs(depth - earlier) for earlier in depths), default=math.inf)
        value += max(EXCURSION_NATS, SAME_DEPTH_NATS - 0.5 * (nearest / SAME_DEPTH_SD) ** 2)
        depths.append(depth)
    if 0 < len(depths) <= 2 and not again.any():
        share = float(part.seconds[~on].sum() / part.seconds.sum())
        value -= max(0.0, math.log(share / FREE_EXCURSION_SHARE))
    return value
