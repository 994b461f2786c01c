"""The change points are those of a second implementation, and those of trying every way to cut."""

from itertools import combinations

import numpy as np
import pytest

from pslc.analysis.change_points import change_points
from pslc.analysis.thresholds import MIN_SEGMENT_SAMPLES


def steps(seed: int, size: int) -> np.ndarray:
    """A random walk of steps under noise."""
    random = np.random.default_rng(seed)
    level = np.repeat(random.normal(0, 1, 8), -(-size // 8))[:size]
    return level + random.normal(0, 10 ** random.uniform(-2, 0), size)


@pytest.mark.parametrize("seed", range(60))
def test_they_cost_no_more_than_those_of_ruptures(seed):
    from ruptures.detection import KernelCPD

    signal = steps(seed, 40 + 7 * seed)
    penalty = 10 ** np.random.default_rng(seed).uniform(-2, 1)
    theirs = [
        int(b)
        for b in KernelCPD(kernel="linear", min_size=MIN_SEGMENT_SAMPLES).fit(signal[:, None]).predict(pen=penalty)
    ][:-1]
    ours = change_points(signal, penalty)
    assert _cost(signal, ours, penalty) <= _cost(signal, theirs, penalty) * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_no_way_to_cut_costs_less(seed):
    signal = steps(seed, 11)
    penalty = 0.3
    ways = (
        borders
        for count in range(5)
        for borders in combinations(range(MIN_SEGMENT_SAMPLES, signal.size - MIN_SEGMENT_SAMPLES + 1), count)
        if all(b - a >= MIN_SEGMENT_SAMPLES for a, b in zip((0, *borders), (*borders, signal.size), strict=True))
    )
    lowest_cost = min(_cost(signal, list(borders), penalty) for borders in ways)
    assert np.isclose(_cost(signal, change_points(signal, penalty), penalty), lowest_cost)


def test_a_signal_too_short_to_cut_has_none():
    assert change_points(np.array([0.0, 9.0, 0.0]), 0.1) == []


def _cost(signal: np.ndarray, borders: list[int], penalty: float) -> float:
    parts = np.split(signal, borders)
    return sum(float(((part - part.mean()) ** 2).sum()) for part in parts) + penalty * len(borders)
