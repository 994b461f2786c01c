"""Threshold and rate from pauses, on staircases whose parameters are known."""

import numpy as np
import pytest

from pslc.analysis.recovery import Pause, estimate_recovery, next_pause

GRAIN = 1e6


def staircase(seconds: float, *, threshold: float, rate: float, all_of_it: float, step: float) -> float:
    """Bytes that are fast after a pause, 20 MB without one."""
    return 20e6 + np.floor(min(max(seconds - threshold, 0.0) * rate, all_of_it) / step) * step


def searched(**drive: float) -> list[Pause]:
    pauses = [Pause(at, staircase(at, **drive)) for at in (0.01, 0.01, 0.01, 1800.0)]
    for _ in range(15):
        at = next_pause(pauses)
        if at is not None:
            pauses.append(Pause(at, staircase(at, **drive)))
    return pauses


@pytest.mark.parametrize("threshold", [0.05, 1.0, 9.4, 120.0])
@pytest.mark.parametrize("rate", [2e6, 30e6, 500e6])
def test_the_search_brackets_the_threshold_and_finds_the_slope(threshold, rate):
    found = estimate_recovery(searched(threshold=threshold, rate=rate, all_of_it=800e6, step=4e6), GRAIN)
    assert found.threshold_s is not None
    assert found.threshold_s.low <= found.threshold_s.value <= found.threshold_s.high
    assert found.threshold_s.value == pytest.approx(threshold, rel=0.02, abs=8e6 / rate)
    if found.rate_bytes_per_s is not None:
        assert found.rate_bytes_per_s.value == pytest.approx(rate, rel=0.05)
    else:
        assert found.min_rate_bytes_per_s is not None
        assert found.min_rate_bytes_per_s < rate


def test_a_drive_that_gives_nothing_back_has_no_threshold_but_a_least_one():
    found = estimate_recovery([Pause(0.01, 20e6), Pause(0.01, 21e6), Pause(300.0, 20.5e6)], GRAIN)
    assert found.threshold_s is None
    assert found.longest_without_s == 300.0


def test_one_pause_that_was_unlike_the_others_does_not_move_the_threshold():
    pauses = searched(threshold=5.0, rate=30e6, all_of_it=800e6, step=4e6)
    pauses.append(Pause(0.5, 120e6))
    found = estimate_recovery(pauses, GRAIN)
    assert found.threshold_s is not None
    assert found.threshold_s.value == pytest.approx(5.0, rel=0.05)


def test_what_the_write_buffer_takes_at_once_is_not_the_cache_that_comes_back():
    # A drive that folds what it takes in: the buffer is empty after 0.1 s, and the cache comes back after 2 s.
    fast = [(0.01, 0), (0.04, 3e6), (0.07, 8e6), (0.13, 13.6e6), (1.73, 12.6e6), (2.5, 19.9e6), (3.3, 28.3e6)]
    fast += [(4.0, 36.7e6), (4.8, 46.1e6), (5.5, 54.5e6), (6.3, 57.7e6), (23, 57.7e6), (300, 56.6e6)]
    found = estimate_recovery([Pause(idle_s, moved) for idle_s, moved in fast], GRAIN)
    assert found.threshold_s is not None
    assert found.threshold_s.low <= 1.983 <= found.threshold_s.high
    assert found.threshold_s.high < 2.5
    assert found.rate_bytes_per_s is not None
    assert found.rate_bytes_per_s.low <= 11.5e6 <= found.rate_bytes_per_s.high
    assert found.max_recovered_bytes == pytest.approx(57.7e6, rel=0.01)


def test_pauses_of_one_length_on_the_slope_tell_no_rate_but_a_least_one():
    pauses = [Pause(0.01, 20e6), Pause(0.01, 20e6), Pause(2.0, 120e6), Pause(2.0, 420e6), Pause(2.0, 300e6)]
    found = estimate_recovery([*pauses, Pause(300.0, 820e6)], GRAIN)
    assert found.rate_bytes_per_s is None
    assert found.min_rate_bytes_per_s is not None
    assert found.min_rate_bytes_per_s > 0


def test_a_threshold_that_nothing_tells_from_none_may_be_none():
    # 802 MB/s from 1 s on, as a T500 in five minutes; after its pauses the cache was not written to its end.
    pauses = [Pause(at, max(at - 1.0, 0.0) * 802e6, cut=at > 30) for at in (0.01, 0.01, 0.01, 1.7, 22.8, 52.75, 300.0)]
    found = estimate_recovery(pauses, 16e6)
    assert found.rate_bytes_per_s is None
    assert found.threshold_s is not None
    assert found.threshold_s.low <= 1.0 <= found.threshold_s.high


def test_no_pause_is_tried_twice():
    assert next_pause([Pause(1.0, 0.0), Pause(1.001, 5e6)]) is None


def test_a_little_more_after_a_much_longer_pause_is_no_slope():
    # Of a drive with a threshold of 61 ms and a rate of 54.5 MB/s, whose cache comes back in few large steps.
    idle = [0.01, 0.01, 0.01, 0.01, 0.206, 0.301, 0.309, 0.318, 0.335, 0.37, 0.439, 0.54, 0.565, 0.59, 0.64, 0.935,
            4.243, 87.389, 127.55, 186.17, 396.61, 1800.0]  # fmt: skip
    fast = [68.2, 78.6, 68.2, 84.9, 86.0, 82.8, 110.1, 107.0, 101.7, 108.0, 105.9, 95.4, 108.0, 124.8, 125.8, 137.4,
            137.4, 137.4, 152.0, 158.3, 162.5, 156.2]  # fmt: skip
    pauses = [Pause(seconds, 1e6 * bytes_fast) for seconds, bytes_fast in zip(idle, fast, strict=True)]
    found = estimate_recovery(pauses, 0.8e6, 7.7e6)
    assert found.rate_bytes_per_s is not None
    assert found.rate_bytes_per_s.low < 54.5e6 < found.rate_bytes_per_s.high
    assert found.threshold_s is not None
    assert found.threshold_s.low < 0.061 < found.threshold_s.high


def test_pauses_whose_rounds_were_all_cut_tell_as_much_as_they_show():
    cut = estimate_recovery([Pause(0.01, 20e6, cut=True), Pause(300.0, 20.5e6, cut=True)], GRAIN)
    assert cut.threshold_s is None
