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


@pytest.mark.parametrize(
    ("shape", "seed"),
    [
        ("half full", 80_000),
        ("half full", 80_003),
        ("no capacity, slope", 80_003),
        ("no capacity, other load", 80_010),
        ("RAID 0", 80_002),
        ("heat within, told", 80_001),
        ("levels", 80_000),
        ("levels, no capacity", 80_001),
        ("half full", 91_005),
        ("no capacity, slope", 81_010),
        ("no capacity, other load", 91_000),
        ("no capacity, other load", 91_035),
        ("RAID 0", 91_042),
        ("heat behind, told", 91_002),
        ("pauses", 91_000),
        ("pauses", 91_008),
        ("levels", 91_004),
        ("levels, no capacity", 91_011),
    ],
)
def test_what_was_wrong_is_right(shape: str, seed: int) -> None:
    (verdict,) = shapes.second_hand(shape, [seed])
    assert verdict.error <= shapes.CLOSE, verdict


def test_a_half_full_drive_is_told_both_ways() -> None:
    log = second_hand.log("half full", 80_000)
    assert any("if the drive held data" in doubt for doubt in shapes.found(log).doubts)


def test_heat_behind_the_cache_is_told_by_the_sensor() -> None:
    (verdict,) = shapes.second_hand("heat behind, told", [80_001])
    assert [answer for _, answer, _ in verdict.causes][-1] == "thermal"


def test_a_share_of_the_network_is_named() -> None:
    doubts = shapes.found(second_hand.log("network", 80_000)).doubts
    assert any("about what SATA carries" in doubt for doubt in doubts)
