"""The end of the cache: where, how well known, and when there is none."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from benches.analysis import Case, judge, shares, simulated_case, synthetic_case
from benches.curves.synthetic import GB, Trace

from pslc.analysis import CacheEnd, Curve, cache_end, find_phases
from pslc.analysis.boundary import locate

MB = 1e6
SHALLOW = Trace(speeds=(5000 * MB, 3500 * MB), ends=(300 * GB, 1000 * GB))
FALL = Trace(speeds=(5000 * MB, 1500 * MB), ends=(300 * GB, 1000 * GB))


def end_of(trace: Trace, *, seed: int = 0, capacity: float | None = None) -> CacheEnd | None:
    curve = trace.curve()
    return cache_end(curve, find_phases(curve), seed=seed, capacity_bytes=capacity)


@pytest.mark.long
@pytest.mark.parametrize(("make", "traces"), [
    (synthetic_case, 240), (simulated_case, 12), pytest.param(simulated_case, 60, marks=pytest.mark.slow)
])  # fmt: skip
def test_the_cliff_is_found_and_the_interval_means_what_it_says(make: Callable[[int], Case], traces: int) -> None:
    close, gross, covered, _ = shares(judge(make, range(traces)))
    assert close >= 0.98
    assert gross <= 0.005
    # Of a dozen all may be.
    assert 0.85 <= covered <= (0.97 if traces >= 60 else 1.0)


def test_what_the_dram_took_in_is_no_cache() -> None:
    buffered = Trace((5000 * MB, 2000 * MB, 500 * MB), (1.5 * GB, 200 * GB, 1000 * GB))
    found = end_of(buffered)
    assert found is not None
    assert found.bytes == pytest.approx(200 * GB, rel=1e-3)


def test_a_speed_that_decays_behind_the_cliff_does_not_move_it() -> None:
    edges = np.linspace(0.0, 1000 * GB, 401)
    middle = 0.5 * (edges[1:] + edges[:-1])
    speed = np.where(middle < 101.0 * GB, 5000 * MB, 1500 * MB * np.exp(-3 * (middle / GB - 101) / 1000))
    seconds = np.diff(edges) / speed
    straddles = int(np.searchsorted(edges, 101.0 * GB)) - 1
    seconds[straddles] = (101.0 * GB - edges[straddles]) / (5000 * MB) + (edges[straddles + 1] - 101.0 * GB) / (
        1500 * MB
    )
    curve = Curve(edges, seconds)
    found = cache_end(curve, find_phases(curve))
    assert found is not None
    assert found.bytes == pytest.approx(101 * GB, abs=0.05 * GB)


def test_a_cache_of_one_sample_is_known_to_that_sample() -> None:
    edges = np.linspace(0.0, 480 * GB, 121)
    seconds = np.diff(edges) / (400 * MB)
    seconds[0] = 3.5 * GB / (2000 * MB) + 0.5 * GB / (400 * MB)
    curve = Curve(edges, seconds)
    found = cache_end(curve, find_phases(curve))
    assert found is not None
    assert found.low <= 3.5 * GB <= found.high


def test_a_flat_drive_has_no_cliff() -> None:
    flat = Trace((2150 * MB,), (2000 * GB,))
    assert end_of(flat) is None
    assert end_of(flat, capacity=2000 * GB) is None


def test_a_trace_that_ends_in_its_first_phase_gives_a_lower_bound() -> None:
    short = Trace((5000 * MB,), (200 * GB,))
    assert end_of(short, capacity=1000 * GB) == CacheEnd(200 * GB, 200 * GB, 1000 * GB, seen_end=False)


def test_a_slow_start_is_not_the_cliff() -> None:
    slow = Trace((1500 * MB, 5000 * MB, 1000 * MB), (100 * GB, 400 * GB, 1000 * GB))
    found = end_of(slow)
    assert found is not None
    assert found.bytes == pytest.approx(400 * GB, rel=1e-3)


def test_a_slow_start_does_not_hide_a_shallow_cliff() -> None:
    shallow = Trace((5000 * MB, 3500 * MB), (95 * GB, 1000 * GB), noise=0.05, slow_start=10 * GB)
    found = end_of(shallow)
    assert found is not None
    assert found.bytes == pytest.approx(95 * GB, rel=0.01)


def test_a_rise_is_not_a_cliff() -> None:
    assert end_of(Trace((1000 * MB, 2000 * MB), (300 * GB, 1000 * GB))) is None


def test_a_cliff_that_is_a_slope_ends_the_cache_where_the_first_phase_ends() -> None:
    speed = np.interp(np.arange(2000), [580, 640], [5000 * MB, 1200 * MB])
    edges = np.linspace(0.0, 1000 * GB, 2001)
    curve = Curve(edges, (np.diff(edges) / speed).astype(np.float64))
    phases = find_phases(curve)
    found = cache_end(curve, phases)
    assert found is not None
    assert found.bytes == phases[0].to_bytes
    assert 580 * 0.5 * GB <= found.bytes <= 640 * 0.5 * GB
    assert found.low <= found.bytes <= found.high


def test_noise_widens_the_interval() -> None:
    widths = []
    for noise in (0.01, 0.1):
        found = end_of(replace(SHALLOW, noise=noise))
        assert found is not None
        widths.append(found.high - found.low)
    assert widths[1] > 3 * widths[0]


def test_the_same_seed_gives_the_same_interval() -> None:
    noisy = replace(SHALLOW, noise=0.1)
    assert end_of(noisy, seed=7) == end_of(noisy, seed=7)
    assert end_of(noisy, seed=7) != end_of(noisy, seed=8)


def test_the_cache_is_counted_from_where_the_trace_begins() -> None:
    curve = FALL.curve()
    moved = type(curve)(curve.edges_bytes + 50 * GB, curve.seconds)
    found = cache_end(moved, find_phases(moved))
    assert found is not None
    assert found.bytes == pytest.approx(300 * GB, rel=1e-3)


def test_a_boundary_among_a_million_bins_is_located():
    count = 1_700_000
    speed = np.where(np.arange(count) < count // 2, 2000.0, 500.0)
    curve = Curve(np.concatenate(([0.0], np.cumsum(speed))), np.ones(count))
    true = 2000.0 * (count // 2)
    assert locate(curve, 0.999 * true, 0.0, curve.total_bytes, seed=0, replicates=2).bytes == pytest.approx(
        true, rel=1e-6
    )
