"""Causes from a curve and what a tester sees, without a look into the drive."""

from dataclasses import replace

import pytest
from benches.analysis import explained, recordings, right

import pslc
from pslc.analysis import CAUSES, Phase, Seen, causes_from_outside
from pslc.findings import of_writes
from tests.conftest import fill

GB, MB = 1e9, 1e6
DRIVE = Seen(capacity_bytes=1000 * GB, link_bytes_per_s=7000 * MB)


def phases(*stretches: tuple[float, float]) -> list[Phase]:
    """Each is its end in GB and its speed in MB/s."""
    starts = [0.0, *(end for end, _ in stretches)]
    return [
        Phase(start * GB, end * GB, speed * MB, start * GB, start * GB, 0.01, 0.0)
        for start, (end, speed) in zip(starts, stretches, strict=False)
    ]


def causes(seen: Seen, *stretches: tuple[float, float]) -> list[str]:
    found = causes_from_outside(phases(*stretches), seen)
    assert all(why.cause in CAUSES and 0 <= why.confidence <= 1 and why.because for why in found)
    return [why.cause for why in found]


@pytest.mark.parametrize(
    ("expected", "stretches"),
    [
        (["pslc", "direct", "fold"], [(280, 4500), (500, 2000), (1000, 500)]),
        (["pslc", "fold", "native"], [(281, 5500), (760, 1100), (1000, 2050)]),
        (["pslc", "fold"], [(350, 4000), (1000, 500)]),
        (["pslc", "direct"], [(30, 2300), (1000, 1000)]),
        (["pslc", "fold"], [(30, 2300), (1000, 100)]),
        (["native"], [(1000, 2150)]),
        (["pslc"], [(200, 5000)]),
        (["native"], [(600, 2000)]),
        (["pslc", "fold", "pslc", "fold"], [(100, 3000), (400, 500), (500, 2900), (1000, 450)]),
        (["direct", "fold"], [(900, 3000), (1000, 1500)]),
        (["link", "fold"], [(350, 6900), (1000, 500)]),
        (["page-cache", "pslc", "fold"], [(20, 9000), (350, 4000), (1000, 500)]),
        (["unknown", "pslc", "direct"], [(50, 1000), (80, 3000), (1000, 1500)]),
    ],
)
def test_the_shape_of_a_fill_tells_what_it_did(expected: list[str], stretches: list[tuple[float, float]]) -> None:
    assert causes(DRIVE, *stretches) == expected


def test_a_processor_that_is_busy_all_the_time_is_the_limit() -> None:
    assert causes(replace(DRIVE, cpu=[0.99, 0.4]), (60, 3000), (1000, 1500)) == ["cpu", "direct"]


def test_what_went_through_the_page_cache_does_not_tell_of_the_drive() -> None:
    buffered = replace(DRIVE, buffered=True)
    assert causes(buffered, (60, 3000), (1000, 1500)) == ["page-cache", "native"]
    assert causes(buffered, (60, 6000), (360, 4000), (1000, 500)) == ["page-cache", "pslc", "fold"]
    assert causes(buffered, (60, 3000)) == ["page-cache"]


def test_a_phase_that_lasted_as_long_as_the_drive_throttled_is_heat() -> None:
    # 30 GB at 3000 MB/s, 570 GB at 1500 and 400 GB at 200 MB/s: 2000 s
    stretches = [(30, 3000), (600, 1500), (1000, 200)]
    assert causes(replace(DRIVE, throttled_s=1900.0), *stretches) == ["pslc", "direct", "thermal"]
    assert causes(replace(DRIVE, throttled_s=100.0), *stretches)[-1] == "fold"


def test_single_requests_of_which_none_waits_are_the_hosts_own_pace() -> None:
    slow = replace(DRIVE, mean_s=[20e-6], longest_s=[22e-6])
    assert causes(slow, (300, 400)) == ["host"]
    assert causes(replace(slow, longest_s=[900e-6]), (300, 400)) == ["pslc"]


def test_random_writes_on_a_full_drive_are_garbage_collection() -> None:
    seen = replace(DRIVE, random_from=1000 * GB)
    assert causes(seen, (300, 4000), (1000, 500), (2000, 60))[-1] == "gc"
    assert causes(replace(DRIVE, random_from=0.0), (100, 4000), (300, 500)) == ["unknown"] * 2


def test_without_a_capacity_a_flat_curve_tells_nothing() -> None:
    assert causes(Seen(), (300, 4000)) == ["unknown"]


def test_the_evidence_is_a_sentence_with_the_numbers() -> None:
    found = causes_from_outside(phases((280, 4500), (500, 2000), (1000, 500)), DRIVE)
    assert found[1].because == (
        "it ends at 500 GB, where a cache of 280 GB leaves no free block: 2000 MB/s, 44 % of the cache's speed"
    )


@pytest.mark.parametrize("drive", ["sn850-1tb", "t500-2tb", "600p-512gb", "sx8200-pro-1tb", "firecuda-510-1tb"])
def test_drives_of_the_library_are_explained_from_outside_as_by_their_counters(drive: str) -> None:
    recording = fill(f"sim:{drive}")
    outside = of_writes(recording, outside=True)["phases"]
    assert [phase["cause"] for phase in outside] == [phase["cause"] for phase in recording.findings["phases"]]


def test_random_jobs_on_random_drives_are_mostly_explained_right() -> None:
    assert right(explained(recordings(range(90)))) >= 0.9


def test_a_recording_is_explained_from_outside_on_demand(command, tmp_path) -> None:
    pslc.run("fill", on="sim:pm871b-128gb").save(tmp_path / "run")
    shown = command("analyze", "run", "--outside")
    assert "as fast as native cells should be" in shown.stdout
