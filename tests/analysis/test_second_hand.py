"""Curves as reviewers publish them (`benches/curves/second_hand.py`): shapes that went wrong, each with its seeds."""

import pytest
from benches import shapes
from benches.curves import second_hand


@pytest.mark.parametrize("shape", second_hand.SHAPES)
def test_a_curve_keeps_to_its_truth(shape: str) -> None:
    log = second_hand.log(shape, 7)
    assert log.curve.total_bytes <= 1.005 * log.capacity_bytes
    ends = [end for end, _ in log.causes]
    assert ends == sorted(ends)
    assert log.cache_bytes is None or 0 < log.cache_bytes < ends[-1]


@pytest.mark.parametrize("shape", ["whole drive", "first part", "no capacity", "irregular", "memory"])
def test_the_end_is_right(shape: str) -> None:
    for verdict in shapes.second_hand(shape, range(82_000, 82_004)):
        assert verdict.error <= shapes.CLOSE, verdict
