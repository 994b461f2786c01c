"""The explanation of a read over a drive's address: why it is slower in some places than in others.

    old data      ^^^^|__|^^|_|^^^^      a hard disk   ^^^^----....___      heat   ^^^^^^^^|________
                  steps, down and up                   falls, no steps             falls once

Each explanation says how often a read of its kind has a structure, a depth, a speed and a width of its slow spans.
These shares are assumed, not measured; docs/analysis.md says how often the answer is right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from typing_extensions import TypedDict

from pslc.analysis.counter_causes import CauseEstimate
from pslc.analysis.runs import Run, segment
from pslc.analysis.series import Curve, median
from pslc.analysis.thresholds import MAX_FALL_RATIO, MIN_STATED_CONFIDENCE
from pslc.base import words

OLD_DATA: Final = "old-data"
MIN_ROWS: Final = 16
"""Rows of a curve from which its shape is one."""
MIN_LEVEL_SHARE: Final = 0.01
"""Share of the bytes that the fastest level holds at least: less is a cache, or a clock."""
SMOOTH_BINS, MAX_STEP_SHARE, MIN_FALLING_SHARE = 24, 0.35, 0.75
"""Bins of a curve that falls smoothly; of its whole fall the most between two of them; and the bins that go down."""
FALL_RATIOS: Final = (0.3, 0.8)
"""Speed at the inner edge of platters over that at the outer one."""
NARROW_SHARE: Final = 0.012
"""Share of the bytes of a dip: what is narrower hardly is a file, or several."""
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
                 0.1, (0.05, 0.36, 0.15, 0.38, 0.02, 0.04), (0.77, 0.18, 0.05), (0.1, 0.5, 0.4), 0.3),
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
    shape, start = _shape(curve), float(curve.edges_bytes[0])
    weights = {name: kind.weight(shape) for name, kind in KINDS.items()}
    if link_bytes_per_s is not None and shape.fast > link_bytes_per_s / MAX_FALL_RATIO:
        weights["memory"] += PAST_LINK_NATS
    return {
        "likely": _likely(weights),
        "spans": [(round(start + low), round(start + high)) for low, high in shape.spans],
        "slow_bytes_per_s": shape.slow or shape.fast,
        "fast_bytes_per_s": shape.fast,
    }


def _shape(curve: Curve) -> _Shape:
    segmentation = segment(curve)
    runs = segmentation.runs
    level = max((run.level for run in runs if run.bytes >= MIN_LEVEL_SHARE * curve.total_bytes), default=runs[0].level)
    is_slow = [run.level < level + math.log(MAX_FALL_RATIO) for run in runs]
    # The drive woke up, or the reader did.
    is_slow[0] &= runs[0].bytes >= NARROW_SHARE * curve.total_bytes
    slow, fast = (_speed([run for run, at in zip(runs, is_slow, strict=True) if at is of]) for of in (True, False))
    if _falls_smoothly(curve):
        return _Shape("smooth", (), slow, fast, is_narrow=False)
    spans = _spans(runs, is_slow)
    if not spans:
        below = fast * min(MAX_FALL_RATIO, math.exp(-DIP_SD * segmentation.noise))
        return _Shape("dips" if _has_dips(curve, below) else "even", (), 0.0, fast, is_narrow=False)
    widths = np.array([high - low for low, high in spans])
    is_narrow = median(widths) < NARROW_SHARE * curve.total_bytes
    return _Shape(_structure(is_slow), tuple(spans), slow, fast, is_narrow)


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


def _speed(runs: list[Run]) -> float:
    """Bytes of the runs over their time; 0 without any."""
    return sum(run.bytes for run in runs) / max(sum(run.seconds for run in runs), 1e-9)


def _structure(is_slow: list[bool]) -> str:
    changes = [before for before, after in pairwise(is_slow) if before is not after]
    return "steps" if len(changes) > 1 else "up" if changes[0] else "down"


def _has_dips(curve: Curve, below_bytes_per_s: float) -> bool:
    dips = int((curve.bytes_per_s[1:] < below_bytes_per_s).sum())
    return dips >= max(MIN_DIPS, MIN_DIPS_SHARE * curve.seconds.size)


def _spans(runs: tuple[Run, ...], is_slow: list[bool]) -> list[tuple[float, float]]:
    """Borders of each row of slow runs."""
    spans: list[tuple[float, float]] = []
    for run in (run for run, slow in zip(runs, is_slow, strict=True) if slow):
        begun = spans.pop()[0] if spans and spans[-1][1] == run.from_bytes else run.from_bytes
        spans.append((begun, run.to_bytes))
    return spans


def _falls_smoothly(curve: Curve) -> bool:
    """Whether the speed falls from the start to the end in steps that are small beside the whole fall."""
    ends = np.linspace(curve.edges_bytes[0], curve.edges_bytes[-1], min(SMOOTH_BINS, curve.seconds.size // 2) + 1)
    levels = np.log(np.diff(ends) / np.diff(curve.seconds_at(ends)))
    steps, fall = np.diff(levels), float(levels[-2:].mean() - levels[:2].mean())
    if not math.log(FALL_RATIOS[0]) < fall < math.log(FALL_RATIOS[1]):
        return False
    return bool(steps.min() > MAX_STEP_SHARE * fall and (steps < 0).mean() >= MIN_FALLING_SHARE)


def _likely(weights: dict[str, float]) -> list[Likely]:
    most = max(weights.values())
    total = sum(math.exp(weight - most) for weight in weights.values())
    shares = {name: math.exp(weight - most) / total for name, weight in weights.items()}
    return [
        {
            "explanation": name,
            "confidence": round(min(shares[name], MAX_CONFIDENCE), 3),
            "text": KINDS[name].text,
            "tell": KINDS[name].tell,
        }
        for name in sorted(shares, key=lambda name: -shares[name])
    ]
