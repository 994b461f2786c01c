"""Phases of curves whose borders are known."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from benches.curves.synthetic import GB, Trace, random_trace
from hypothesis import given
from hypothesis import strategies as st

from pslc.analysis import Curve, find_phases
from pslc.analysis.thresholds import MAX_PHASES
from tests.conftest import search

MB = 1e6
FALL = Trace(speeds=(5000 * MB, 1500 * MB), ends=(300 * GB, 1000 * GB))


def speeds(trace: Trace) -> list[float]:
    return [phase.bytes_per_s for phase in find_phases(trace.curve())]


def borders(trace: Trace) -> list[float]:
    return [phase.to_bytes for phase in find_phases(trace.curve())]


def test_a_steady_drive_is_one_phase() -> None:
    assert speeds(Trace((2150 * MB,), (2000 * GB,))) == [pytest.approx(2150 * MB, rel=0.01)]


def test_a_steady_drive_with_ripple_is_one_phase() -> None:
    for period in (3, 20, 50, 100):
        assert len(speeds(Trace((2150 * MB,), (2000 * GB,), ripple=0.4, ripple_bins=period, ripple_from=0))) == 1


@pytest.mark.parametrize(
    "drive",
    [
        Trace((6579 * MB, 2159 * MB, 863 * MB), (691 * GB, 868 * GB, 2000 * GB), noise=0.03, ripple=0.2,
              ripple_bins=8, bursts=5),
        Trace((5300 * MB, 1100 * MB, 2050 * MB), (280 * GB, 760 * GB, 1000 * GB), noise=0.05, ripple=0.25,
              ripple_bins=14),
        Trace((435 * MB, 162 * MB), (3 * GB, 128 * GB), noise=0.03, ripple=0.15, ripple_bins=6),
    ],
    ids=["aldrin-pro", "sn850, which rises again", "pm871b"],
)  # fmt: skip
def test_published_drives_have_their_phases(drive: Trace) -> None:
    assert borders(drive) == pytest.approx(drive.ends, rel=0.005)
    assert speeds(drive) == pytest.approx(drive.speeds, rel=0.05)


def test_bursts_are_not_phases() -> None:
    assert len(speeds(replace(FALL, bursts=15, bins=4000))) == 2


def test_ripple_is_not_phases() -> None:
    for period in (3, 8, 20, 50):
        assert len(speeds(replace(FALL, ripple=0.4, ripple_bins=period))) == 2


def test_a_slow_start_belongs_to_the_first_phase() -> None:
    assert borders(replace(FALL, slow_start=16 * GB)) == pytest.approx(FALL.ends, rel=1e-3)


def test_a_slow_drift_is_one_phase_and_is_told() -> None:
    found = find_phases(replace(FALL, drift=-0.3).curve())
    assert len(found) == 2
    assert found[1].drift == pytest.approx(-0.3, abs=0.04)


def test_a_drift_without_noise_is_one_phase() -> None:
    assert len(speeds(replace(FALL, drift=-0.5, noise=0.0))) == 2


def test_a_step_of_five_percent_is_not_worth_a_border() -> None:
    assert len(speeds(Trace((2100 * MB, 2000 * MB), (500 * GB, 1000 * GB), noise=0.005))) == 1


def test_a_step_of_twenty_percent_is_found_in_ten_percent_of_noise() -> None:
    step = Trace((2500 * MB, 2000 * MB), (500 * GB, 1000 * GB), noise=0.1)
    assert borders(step) == pytest.approx(step.ends, rel=0.01)


def test_a_sawtooth_alternates() -> None:
    ends = tuple((100.0 * k + part) * GB for k in range(5) for part in (30, 100))
    saw = Trace((3000 * MB, 500 * MB) * 5, ends, noise=0.05)
    assert borders(saw) == pytest.approx(ends, rel=0.005)


def test_an_endless_sawtooth_does_not_explode() -> None:
    for teeth in (10, 20, 40):
        period = 1000 * GB / teeth
        ends = tuple((k + part) * period for k in range(teeth) for part in (0.4, 1.0))
        found = find_phases(Trace((3000 * MB, 500 * MB) * teeth, ends).curve())
        assert len(found) <= MAX_PHASES
        assert found[0].to_bytes == pytest.approx(0.4 * period, rel=0.05)


def test_lost_samples_do_not_move_a_border() -> None:
    assert borders(replace(FALL, missing=0.3)) == pytest.approx(FALL.ends, rel=1e-3)


def test_a_border_is_found_within_its_bin() -> None:
    width = FALL.ends[-1] / 256
    for part in (0.1, 0.5, 0.9):
        inside = replace(FALL, bins=256, noise=0.005, ends=((80 + part) * width, 1000 * GB))
        assert borders(inside)[0] == pytest.approx(inside.ends[0], abs=0.05 * width)


def test_the_spread_is_that_of_the_noise() -> None:
    assert find_phases(replace(FALL, noise=0.08).curve())[1].spread == pytest.approx(0.08, rel=0.1)


@pytest.mark.long
def test_random_traces_give_their_phases() -> None:
    wrong = [seed for seed in range(200) if len(borders(t := random_trace(seed))) != len(t.ends)]
    assert len(wrong) <= 4, wrong


@pytest.mark.parametrize("bins", [1, 2, 3, 7, 8, 9, 20])
def test_a_curve_of_few_bins_is_still_tiled(bins: int) -> None:
    found = find_phases(replace(FALL, bins=bins).curve())
    assert found[0].from_bytes == 0
    assert found[-1].to_bytes == 1000 * GB


def curves() -> st.SearchStrategy[Curve]:
    """Anything: the analysis must hold its promises on curves that make no sense too."""
    steps = st.lists(st.tuples(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.integers(1, 60)), min_size=1, max_size=12)

    def build(parts: list[tuple[float, float, int]]) -> Curve:
        widths = np.concatenate([np.full(count, width) for width, _, count in parts])
        seconds = np.concatenate([np.full(count, time) for _, time, count in parts])
        return Curve(np.concatenate(([0.0], np.cumsum(widths))), seconds)

    return steps.map(build)


@search(100, deadline=None)
@given(curves())
def test_phases_tile_any_curve_and_keep_its_bytes_and_time(curve: Curve) -> None:
    found = find_phases(curve)
    assert 1 <= len(found) <= MAX_PHASES
    assert found[0].from_bytes == curve.edges_bytes[0]
    assert found[-1].to_bytes == curve.edges_bytes[-1]
    for one, following in pairwise(found):
        assert one.from_bytes < one.to_bytes == following.from_bytes
    for phase in found:
        assert phase.from_low <= phase.from_bytes <= phase.from_high
        assert np.isfinite([phase.bytes_per_s, phase.spread, phase.drift]).all()
    seconds = sum((phase.to_bytes - phase.from_bytes) / phase.bytes_per_s for phase in found)
    assert seconds == pytest.approx(curve.total_seconds, rel=1e-6)


@search(30, deadline=None)
@given(st.integers(0, 10_000), st.integers(-12, 12), st.integers(-12, 12))
def test_other_units_of_bytes_and_time_scale_the_phases(seed: int, by_bytes: int, by_time: int) -> None:
    curve = random_trace(seed).curve()
    # powers of two, so that scaling is exact
    scaled = Curve(curve.edges_bytes * 2.0**by_bytes, curve.seconds * 2.0**by_time)
    for one, other in zip(find_phases(curve), find_phases(scaled), strict=True):
        assert other.to_bytes == pytest.approx(one.to_bytes * 2.0**by_bytes, rel=1e-6)
        assert other.bytes_per_s == pytest.approx(one.bytes_per_s * 2.0 ** (by_bytes - by_time), rel=1e-6)
