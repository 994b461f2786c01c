"""The legend of a chart: how many curves it names. A curve that hides behind another one has its sample there.

── Drive A      samples begin in one column, even rows apart,
── Drive B      or stand in one row and are of one length
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from pslc.chart import colors
from pslc.chart.frame import runs
from pslc.chart.lines import Floats, Pixels

MIN_SAMPLE_RATIO: Final = 0.012
MAX_SAMPLE_RATIO: Final = 0.09
"""Largest length of a legend's line sample, or of its first dash, as a share of the picture's width."""
MIN_SAMPLE_LEVELS: Final = 70.0
"""Least contrast of a sample, 0 to 441."""
MAX_SPREAD_LEVELS: Final = 25.0
"""Largest spread of the colours along a sample, 0 to 441."""
MAX_SAMPLE_PX: Final = 24
"""Height of a sample."""
ALIGNED_PX: Final = 3
CLEAR_PX: Final = 6
"""Width in pixels on the left of a sample in which nothing is drawn in color."""
MIN_DISTINCT_LEVELS: Final = 70.0
"""Between the colours of two samples."""
MAX_COSINE: Final = 0.97
"""Between the differences of the colours of two samples from the background; shades of one colour have more."""
MAX_SAMPLES: Final = 12
MIN_PITCH_RATIO: Final = 0.015
MAX_PITCH_RATIO: Final = 0.12
"""Largest distance from one sample to the next, as a share of the picture's height."""


@dataclass(frozen=True)
class Sample:
    """Possible line sample of a legend: first column, end (excluded), middle row, and its colour minus the
    background's."""

    start: int
    end: int
    row: float
    ray: Floats


def named(pixels: Pixels) -> int:
    """Number of curves that the legend names, each in a colour of its own; 0 without a legend, or if it names one curve
    only."""
    samples = _samples(pixels)
    best = 0
    for sample in samples:
        below = [
            other
            for other in samples
            if max(abs(other.start - sample.start), abs(other.end - sample.end)) <= ALIGNED_PX
        ]
        best = max(best, _stacked(sample, below, pixels.shape[0]))
    return best


def _samples(pixels: Pixels) -> list[Sample]:
    """Short level strokes of one colour."""
    wide = pixels.shape[1]
    shortest, longest = max(6, round(MIN_SAMPLE_RATIO * wide)), round(MAX_SAMPLE_RATIO * wide)
    behind = colors.background(pixels)
    away = pixels.astype(np.float32) - behind.astype(np.float32)
    colored = (np.linalg.norm(away, axis=2) > MIN_SAMPLE_LEVELS) & ~colors.greys(pixels.astype(float), behind)
    open_: list[list[Sample]] = []
    for row in np.flatnonzero(colored.sum(axis=1) >= shortest):
        for start, end in runs(colored[row]):
            if not shortest <= end - start <= longest or colored[row, max(0, start - CLEAR_PX) : start].any():
                continue
            part = pixels[row, start + 1 : end - 1].astype(float)
            color = np.median(part, axis=0)
            if np.abs(part - color).max(axis=1).mean() <= MAX_SPREAD_LEVELS:
                _gathered(open_, Sample(start, end, float(row), color - behind))
    return [
        Sample(group[0].start, group[0].end, float(np.mean([other.row for other in group])), _strongest(group))
        for group in open_
        if len(group) <= MAX_SAMPLE_PX
    ]


def _gathered(groups: list[list[Sample]], stroke: Sample) -> None:
    """Add a row of pixels to the sample that it goes on, or begin another."""
    for group in groups[::-1]:
        last = group[-1]
        if last.row == stroke.row - 1 and abs(last.start - stroke.start) <= ALIGNED_PX:
            group.append(stroke)
            return
    groups.append([stroke])


def _strongest(group: list[Sample]) -> Floats:
    return max((other.ray for other in group), key=lambda ray: float(np.linalg.norm(ray)))


def _stacked(top: Sample, below: list[Sample], height: int) -> int:
    """Number of samples of different colours that stand evenly below the top one, with it."""
    best = 0
    for second in below:
        pitch = second.row - top.row
        if not MIN_PITCH_RATIO * height <= pitch <= MAX_PITCH_RATIO * height:
            continue
        stack = [top]
        while len(stack) < MAX_SAMPLES:
            at = stack[-1].row + pitch
            near = [other for other in below if abs(other.row - at) <= ALIGNED_PX and _is_new(other, stack)]
            if not near:
                break
            stack.append(min(near, key=lambda other: abs(other.row - at)))
        best = max(best, len(stack))
    return best if best > 1 else 0


def _is_new(sample: Sample, stack: list[Sample]) -> bool:
    return all(
        np.linalg.norm(sample.ray - other.ray) >= MIN_DISTINCT_LEVELS
        and sample.ray @ other.ray <= MAX_COSINE * np.linalg.norm(sample.ray) * np.linalg.norm(other.ray)
        for other in stack
    )
