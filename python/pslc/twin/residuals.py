"""Residuals of a fit: log ratios of measured to simulated speed, each divided by its error and weighted.

Each job is compared in 1, 4, 16 and 64 bins: wide bins show in which direction a phase boundary is off, narrow ones
where it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from pslc.twin.datasets import Dataset, Features, Floats, JobFeatures

SIGMA: Final = 0.05
"""Relative error of a bin: noise of real drives, and what the model leaves out."""
BINS_PER_SUITE: Final = 60.0
"""Weight of a suite in bins, whatever the number of its jobs: no suite drowns another."""
SOFT_CLIP_SCALE: Final = 0.4
"""Log ratio from which on a residual grows slowly (arcsinh): a bin beyond a cliff does not count as ten."""
FULL_WEIGHT_TIME_SHARE: Final = 0.05
"""Share of the longest job's time from which on a job has full weight: short jobs depend on few superblocks."""
INFEASIBLE_LOG_RATIO: Final = 10.0
"""Log ratio of a drive that cannot exist, or cannot run a job: more than that of any drive that can."""
LOSS_FLOOR: Final = 0.012**2
"""Loss below which all fits are equally good: the error of a scaled drive (1.2 %, squared)."""
MIN_OSCILLATION_BINS: Final = 16
"""Bins that a curve needs to be looked at for oscillations."""
MIN_OSCILLATION_LOG_RATIO: Final = 0.26
"""Log ratio of the fast and the slow bins of a curve that oscillates."""
WINDOWS: Final = 4
"""Parts of an oscillating curve within which only the amount of each speed counts, not its place."""


def weighted_residuals(
    datasets: Sequence[Dataset], simulated: Sequence[Features] | None, geometry_variance: Floats | None = None
) -> Floats:
    """Residuals of all datasets, in the order of `log_ratios`.

    Args:
        simulated: features of a simulated run of each dataset; None for a drive that cannot exist.
        geometry_variance: variance of each log ratio over unknown geometries; bins that vary weigh less.
    """
    parts: list[Floats] = []
    start = 0
    for index, dataset in enumerate(datasets):
        rows = _residual_rows(dataset, simulated[index] if simulated is not None else None)
        parts += _weighted_rows(rows, geometry_variance, start)
        start += sum(len(row.log_ratios) for row in rows)
    return np.concatenate(parts) if parts else np.zeros(0)


def least_squares_sum(
    datasets: Sequence[Dataset], simulated: Sequence[Features], geometry_variance: Floats | None = None
) -> float:
    """Sum of squares that `weighted_residuals` will have at least, from a simulated run that is not over.

    Args:
        simulated: features of the first datasets; of the last of these perhaps the first steps only.
    """
    total, start = 0.0, 0
    for dataset, steps in zip(datasets, simulated, strict=False):
        missing = [[None] * len(step) for step in dataset.features[len(steps) :]]
        rows = _residual_rows(dataset, [*steps, *missing])
        jobs = sum(map(len, steps))
        groups = repeats([job for step in dataset.features for job in step])
        for group, part in zip(groups, _weighted_rows(rows, geometry_variance, start), strict=True):
            if group[-1] < jobs:
                total += float(part @ part)
        start += sum(len(row.log_ratios) for row in rows)
    return total


def log_ratios(datasets: Sequence[Dataset], simulated: Sequence[Features]) -> Floats:
    """Logarithms of measured over simulated speed (or request time), in the order of `weighted_residuals`."""
    rows = [
        row.log_ratios
        for dataset, features in zip(datasets, simulated, strict=True)
        for row in _residual_rows(dataset, features)
    ]
    return np.concatenate(rows) if rows else np.zeros(0)


@dataclass(frozen=True)
class _Row:
    """Log ratios of a job, or of the mean of its repeats.

    Attributes:
        share: weight of the job in its dataset.
        log_ratios: logarithms of measured over simulated.
        norm: weight of each log ratio; the squares add up to one.
    """

    share: float
    log_ratios: Floats
    norm: Floats


def _weighted_rows(rows: Sequence[_Row], geometry_variance: Floats | None, start: int) -> list[Floats]:
    """Weighted residuals of the rows of a dataset, whose variances begin at `start`."""
    weights = []
    for row in rows:
        own = slice(start, start := start + len(row.log_ratios))
        weights.append(
            1 / (1 + geometry_variance[own] / SIGMA**2)
            if geometry_variance is not None
            else np.ones(len(row.log_ratios))
        )
    # Weighted by what each can tell, so that the sum of squares over the weights is a mean square.
    total = sum(row.share * float(row.norm**2 @ weight) for row, weight in zip(rows, weights, strict=True)) or 1.0
    return [
        SOFT_CLIP_SCALE
        * np.arcsinh(row.log_ratios / SOFT_CLIP_SCALE)
        * row.norm
        * np.sqrt(BINS_PER_SUITE * row.share / total * weight)
        / SIGMA
        for row, weight in zip(rows, weights, strict=True)
    ]


def _residual_rows(dataset: Dataset, simulated: Features | None) -> list[_Row]:
    measured = [job for step in dataset.features for job in step]
    jobs = [job for step in simulated for job in step] if simulated is not None else [None] * len(measured)
    longest = max((job.seconds for job in measured if job is not None), default=1.0)
    rows = []
    for group in repeats(measured):
        left, right = mean([measured[index] for index in group]), mean([jobs[index] for index in group])
        assert left is not None
        rows.append(_Row(len(group) * weight(left, longest), *_job_log_ratios(left, right)))
    return rows


def repeats(jobs: Sequence[JobFeatures | None]) -> list[list[int]]:
    """Indices of jobs, those of repeats in one group; groups in the order of their first job."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for index, job in enumerate(jobs):
        if job is not None:
            groups.setdefault((job.repeat_key, *job.curves) if job.repeat_key else (index,), []).append(index)
    return list(groups.values())


def mean(jobs: Sequence[JobFeatures | None]) -> JobFeatures | None:
    """Mean of the log features of repeats of a job; None if none of them has features."""
    present = [job for job in jobs if job is not None]
    if len(present) < 2:
        return present[0] if present else None
    starts = [job.start_curve for job in present]
    return replace(
        present[0],
        curves=_means([job.curves for job in present]),
        metrics={name: float(value) for name, value in _means([job.metrics for job in present]).items()},
        start_curve=None if any(start is None for start in starts) else np.mean(np.array(starts, dtype=float), axis=0),
    )


def _means(features: Sequence[Mapping[Any, Any]]) -> dict[Any, Any]:
    """Mean of what all have, by key."""
    common = [key for key in features[0] if all(key in each for each in features)]
    return {key: np.mean([each[key] for each in features], axis=0) for key in common}


def oscillates(curve: Floats) -> bool:
    """Whether log speeds are high and low in turns.

    Where each turn begins is all but chance then, so half of what counts is how much of each speed there is in a
    quarter of the job.
    """
    low, high = float(curve.min()), float(curve.max())
    fast = curve > (low + high) / 2
    return high - low > MIN_OSCILLATION_LOG_RATIO and int((~fast[:-1] & fast[1:]).sum()) > 1


def sorted_in_windows(curve: Floats) -> Floats:
    """Log speeds in rising order within each window."""
    ordered: Floats = np.sort(curve.reshape(WINDOWS, -1), axis=1).ravel()
    return ordered


def weight(job: JobFeatures, longest_s: float) -> float:
    """Weight of a job in its dataset, from 0 to 1; `longest_s` is the duration of the longest job."""
    return min(float(np.sqrt(job.seconds / (FULL_WEIGHT_TIME_SHARE * longest_s))), 1.0) if job.curves else 1.0


def _job_log_ratios(measured: JobFeatures, simulated: JobFeatures | None) -> tuple[Floats, Floats]:
    """Log ratios of one job, and the weight of each; the squares of the weights add up to one."""
    count = len(measured.curves) + len(measured.metrics) + (measured.start_curve is not None)
    parts, norms = [], []

    def compare(left: Floats, right: Floats | None, share: float) -> None:
        parts.append(left - right if right is not None else np.full(len(left), INFEASIBLE_LOG_RATIO))
        norms.append(np.full(len(left), 1 / np.sqrt(len(left) * count * share)))

    if measured.start_curve is not None:
        compare(measured.start_curve, simulated.start_curve if simulated else None, 1)
    for bins, curve in measured.curves.items():
        other = simulated.curves.get(bins) if simulated else None
        forms: list[Callable[[Floats], Floats]] = [lambda speeds: speeds]
        if bins >= MIN_OSCILLATION_BINS and oscillates(curve):
            forms.append(sorted_in_windows)
        for form in forms:
            compare(form(curve), None if other is None else form(other), len(forms))
    for name, value in measured.metrics.items():
        other_value = simulated.metrics.get(name) if simulated else None
        compare(np.array([value]), None if other_value is None else np.array([other_value]), 1)
    return np.concatenate(parts), np.concatenate(norms)


def loss_of(residuals: Floats, datasets: Sequence[Dataset], priors: int) -> float:
    """Mean square of the log ratios over the datasets.

    Args:
        residuals: those of the data, then those of the priors.
        priors: number of the latter, which do not count.
    """
    data = residuals[: len(residuals) - priors] if priors else residuals
    return float((data**2).sum() * SIGMA**2 / (BINS_PER_SUITE * max(len(datasets), 1)))
