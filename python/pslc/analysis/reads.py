"""The explanation of a read over a drive's address: why it is slower in some places than in others.

    old data      ^^^^|__|^^|_|^^^^      a hard disk   ^^^^----....___      heat   ^^^^^^^^|________
                  steps, down and up                   falls, no steps             falls once

Each explanation says how often a read of its kind has a structure, a depth, a speed and a width of its slow spans.
These shares are assumed, not measured; docs/analysis.md says how often the answer is right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from pslc.analysis.counter_causes import CauseEstimate
from pslc.analysis.runs import segment
from pslc.analysis.series import Curve, Floats, median
from pslc.analysis.thresholds import MAX_FALL_RATIO, MIN_STATED_CONFIDENCE
from pslc.base import words

OLD_DATA: Final = "old-data"
MIN_ROWS: Final = 16
"""Rows of a curve from which its shape is one."""
MIN_LEVEL_SHARE: Final = 0.01
"""Share of the bytes that the fastest level holds at least: less is a cache, or a clock."""
SMOOTH_BINS, MAX_BEND_RATIO, MAX_ROUGHNESS = 24, 1.3, 0.2
"""Bins of a curve that may fall smoothly; how much steeper it may be at one edge than in the middle; and scatter about
the parabola, over half of the fall."""
FALL_RATIOS: Final = (0.3, 0.8)
"""Speed at the inner edge of platters over that at the outer one."""
NARROW_SHARE: Final = 0.012
"""Share of the bytes of a dip: what is narrower hardly is a file, or several."""
MAX_START_SHARE: Final = 0.025
"""Share of the bytes of a slow start."""
MIN_DIPS, MIN_DIPS_SHARE, DIP_SD = 2, 0.004, 4.0
"""Slow rows that stand alone, and their share, from which a read has dips; noise that none is, in standard
deviations."""
PAST_LINK_NATS: Final = 10.0
"""Weight of a speed that the link does not carry."""
MAX_CONFIDENCE: Final = 0.95
"""The curve alone does not exclude fragmented data, which are as slow, and as steady."""


@dataclass(frozen=True)
class _Shape:
    """Shape of a read: its structure, its slow spans, and its speeds in them (0: none) and outside."""

    structure: str
    spans: tuple[tuple[float, float], ...]
    slow: float
    fast: float
    is_narrow: bool


@dataclass(frozen=True)
class _Kind:
    """A kind of read.

    Attributes:
        text: in a few words.
        tell: the measurement that tells it from old data.
        prior: its share among the reads that people keep.
        structure: shares of `STRUCTURES`: one step is `up` or `down`, several are `steps`, slow rows alone `dips`.
        depth: shares by speed of the slow spans over the fast ones: from 0.5, from 0.2, below.
        speed: shares by speed of the fast spans: to 320 MB/s, to 620 MB/s, beyond.
        narrow: share in which slow spans are dips.
    """

    text: str
    tell: str
    prior: float
    structure: tuple[float, float, float, float, float, float]
    depth: tuple[float, float, float]
    speed: tuple[float, float, float]
    narrow: float

    def weight(self, shape: _Shape) -> float:
        """Log of the share of this kind among reads of a shape, up to what all kinds have in common."""
        factors = [self.prior, self.structure[STRUCTURES.index(shape.structure)]]
        factors.append(self.speed[sum(shape.fast > limit for limit in SPEEDS_BYTES_PER_S)])
        if shape.slow:
            factors.append(self.depth[sum(shape.slow < limit * shape.fast for limit in DEPTHS)])
        if shape.spans:
            factors.append(self.narrow if shape.is_narrow else 1 - self.narrow)
        return sum(map(math.log, factors))


STRUCTURES: Final = ("even", "up", "down", "steps", "smooth", "dips")
DEPTHS: Final = (0.5, 0.2)
SPEEDS_BYTES_PER_S: Final = (320e6, 620e6)
"""Fastest hard disk, and fastest SATA link."""
AGAIN: Final = "read it again: old data are slow at the same places"
KINDS: Final = {
    OLD_DATA: _Kind("old data, which the drive reads in several tries",
                    "read it again (a busy host is slow elsewhere then), and write the slow files anew "
                    "(old data are slow again after some weeks)",
                    0.2, (0.02, 0.24, 0.08, 0.6, 0.02, 0.04), (0.2, 0.4, 0.4), (0.1, 0.6, 0.3), 0.25),
    "even": _Kind("one speed throughout", AGAIN,
                  0.35, (0.9, 0.01, 0.01, 0.02, 0.01, 0.05), (0.9, 0.05, 0.05), (0.1, 0.45, 0.45), 0.5),
    "zones": _Kind("the zones of a hard disk", "ask whether the drive rotates: pslc probe",
                   0.12, (0.02, 0.01, 0.04, 0.1, 0.8, 0.03), (0.6, 0.399, 0.001), (0.97, 0.029, 0.001), 0.2),
    "map": _Kind("fragmented data, cells of another mode, or space that holds nothing",
                 "write the slow spans anew in one piece, and read again after some weeks",
                 0.1, (0.05, 0.36, 0.15, 0.38, 0.02, 0.04), (0.65, 0.28, 0.07), (0.1, 0.5, 0.4), 0.3),
    "busy": _Kind("a busy host or drive", AGAIN,
                  0.1, (0.05, 0.04, 0.04, 0.4, 0.02, 0.45), (0.5, 0.35, 0.15), (0.25, 0.4, 0.35), 0.75),
    "heat": _Kind("heat", "read the slow spans first, on a cool drive",
                  0.05, (0.03, 0.03, 0.62, 0.24, 0.05, 0.03), (0.55, 0.35, 0.1), (0.03, 0.25, 0.72), 0.2),
    "memory": _Kind("the host's memory, which held a part of it", "read past the page cache: fio direct=1",
                    0.04, (0.02, 0.05, 0.6, 0.3, 0.02, 0.01), (0.1, 0.3, 0.6), (0.02, 0.06, 0.92), 0.2),
    "shared": _Kind("a network, or a link that others use", AGAIN,
                    0.06, (0.3, 0.08, 0.08, 0.28, 0.1, 0.16), (0.55, 0.35, 0.1), (0.75, 0.12, 0.13), 0.4),
}  # fmt: skip


class Likely(TypedDict):
    """An explanation of a read, as run.json holds it: a key of `KINDS`, its share of all, in words, and what tells."""

    explanation: str
    confidence: float
    text: str
    tell: str


class ReadExplanation(TypedDict):
    """The explanations of a read over the address, the likeliest first, and its slow spans.

    Attributes:
        spans: from and to of each slow one, in bytes.
        slow_bytes_per_s, fast_bytes_per_s: speeds in them and outside; one speed where there are none.
    """

    likely: list[Likely]
    spans: list[tuple[int, int]]
    slow_bytes_per_s: float
    fast_bytes_per_s: float


def explain_read(curve: Curve, link_bytes_per_s: float | None = None) -> ReadExplanation | None:
    """The explanations of a read; None where it has too few rows.

    Args:
        curve: of one sequential read over the address.
        link_bytes_per_s: what the link carries: what is faster comes from memory.
    """
    if curve.seconds.size < MIN_ROWS:
        return None
    shape = _shape(curve)
    weights = {name: kind.weight(shape) for name, kind in KINDS.items()}
    if link_bytes_per_s is not None and shape.fast > link_bytes_per_s / MAX_FALL_RATIO:
        weights["memory"] += PAST_LINK_NATS
    return {
        "likely": _likely(weights),
        "spans": [(round(low), round(high)) for low, high in shape.spans],
        "slow_bytes_per_s": shape.slow or shape.fast,
        "fast_bytes_per_s": shape.fast,
    }


def _shape(curve: Curve) -> _Shape:
    segmentation = segment(curve)
    levels = [run.level for run in segmentation.runs if run.bytes >= MIN_LEVEL_SHARE * curve.total_bytes]
    fast = math.exp(max(levels, default=segmentation.runs[0].level))
    if _falls_smoothly(curve):
        return _Shape("smooth", (), 0.0, fast, is_narrow=False)
    is_slow = _middle_of_three(curve.bytes_per_s) < MAX_FALL_RATIO * fast
    borders = _borders(is_slow)
    if borders and borders[0][0] == 0 and _width(curve, borders[0]) <= MAX_START_SHARE * curve.total_bytes:
        # The drive woke up, or the reader did.
        is_slow[slice(*borders.pop(0))] = False
    if not borders:
        below = fast * min(MAX_FALL_RATIO, math.exp(-DIP_SD * segmentation.noise))
        return _Shape("dips" if _has_dips(curve, below) else "even", (), 0.0, fast, is_narrow=False)
    return _with_spans(curve, is_slow, borders)


def _with_spans(curve: Curve, is_slow: NDArray[np.bool_], borders: list[tuple[int, int]]) -> _Shape:
    slow, fast = (float(curve.widths[rows].sum() / curve.seconds[rows].sum()) for rows in (is_slow, ~is_slow))
    # Where most of what is slow lies: the edges of a span flicker.
    widths = np.sort([_width(curve, border) for border in borders])
    is_narrow = widths[np.searchsorted(np.cumsum(widths), widths.sum() / 2)] < NARROW_SHARE * curve.total_bytes
    structure = "steps" if len(borders) > 1 or not (is_slow[0] or is_slow[-1]) else "up" if is_slow[0] else "down"
    spans = tuple((float(curve.edges_bytes[first]), float(curve.edges_bytes[last])) for first, last in borders)
    return _Shape(structure, spans, slow, fast, is_narrow=bool(is_narrow))


def _middle_of_three(speeds: Floats) -> Floats:
    """Median of each row and its neighbours: a single slow row is a dip, and no span."""
    padded = np.concatenate([speeds[:1], speeds, speeds[-1:]])
    middle: Floats = np.sort(np.lib.stride_tricks.sliding_window_view(padded, 3), axis=1)[:, 1]
    return middle


def _borders(is_slow: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First row of each slow span, and the row behind it."""
    edges = np.flatnonzero(np.diff(is_slow.astype(int), prepend=0, append=0))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]


def _width(curve: Curve, border: tuple[int, int]) -> float:
    return float(curve.edges_bytes[border[1]] - curve.edges_bytes[border[0]])


def cause_of_read(explanation: ReadExplanation | None, bytes_per_s: float) -> CauseEstimate:
    """Cause of a phase of a read: old data where they are the likeliest explanation and it is a slow one."""
    if explanation is None:
        return CauseEstimate("unknown", 0.0, "a read: too few rows tell of no cause")
    best, fast = explanation["likely"][0], explanation["fast_bytes_per_s"]
    is_stated = best["explanation"] == OLD_DATA and best["confidence"] >= MIN_STATED_CONFIDENCE
    if not is_stated or bytes_per_s >= MAX_FALL_RATIO * fast:
        return CauseEstimate("unknown", 0.0, "a read: its curve alone does not show a cause")
    return CauseEstimate(
        OLD_DATA, best["confidence"], f"read in several tries: {words.speed(fast)} elsewhere, in steps over the address"
    )


def _has_dips(curve: Curve, below_bytes_per_s: float) -> bool:
    dips = int((curve.bytes_per_s[1:] < below_bytes_per_s).sum())
    return dips >= max(MIN_DIPS, MIN_DIPS_SHARE * curve.seconds.size)


def _falls_smoothly(curve: Curve) -> bool:
    """Whether the speed falls from the start to the end along a parabola, whatever single rows do."""
    parts = np.array_split(np.log(curve.bytes_per_s), min(SMOOTH_BINS, curve.seconds.size // 4))
    levels, x = np.array([median(part) for part in parts]), np.linspace(-1.0, 1.0, len(parts))
    bend, slope, _ = fit = np.polyfit(x, levels, 2)
    is_falling = slope < 0 and abs(2 * bend) <= -MAX_BEND_RATIO * slope
    rest = float(np.std(levels - np.polyval(fit, x)))
    return bool(is_falling and FALL_RATIOS[0] < math.exp(2 * slope) < FALL_RATIOS[1] and rest < -MAX_ROUGHNESS * slope)


def _likely(weights: dict[str, float]) -> list[Likely]:
    largest = max(weights.values())
    total = sum(math.exp(weight - largest) for weight in weights.values())
    shares = {name: math.exp(weight - largest) / total for name, weight in weights.items()}
    return [
        {
            "explanation": name,
            "confidence": round(min(shares[name], MAX_CONFIDENCE), 3),
            "text": KINDS[name].text,
            "tell": KINDS[name].tell,
        }
        for name in sorted(shares, key=lambda name: -shares[name])
    ]
