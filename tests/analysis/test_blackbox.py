"""Causes from a curve and what a tester sees, without a look into the drive."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benches.analysis import explained, recordings, right

import pslc
from pslc.analysis import CAUSES, AccessPattern, MeasurementContext, Phase, blackbox_causes
from pslc.recording import store
from pslc.recording.writes.findings import of_writes
from tests.conftest import fill

GB, MB = 1e9, 1e6
DRIVE = MeasurementContext(capacity_bytes=1000 * GB, link_bytes_per_s=7000 * MB)


def phases(*stretches: tuple[float, float]) -> list[Phase]:
    """Each is its end in GB and its speed in MB/s."""
    starts = [0.0, *(end for end, _ in stretches)]
    return [
        Phase(start * GB, end * GB, speed * MB, start * GB, start * GB, 0.01, 0.0)
        for start, (end, speed) in zip(starts, stretches, strict=False)
    ]


def causes(seen: MeasurementContext, *stretches: tuple[float, float]) -> list[str]:
    found = blackbox_causes(phases(*stretches), seen)
    assert not [why for why in found if not (why.cause in CAUSES and 0 <= why.confidence <= 1 and why.because)]
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
    assert causes(replace(DRIVE, cpu_share=[0.99, 0.4]), (60, 3000), (1000, 1500)) == ["cpu", "direct"]


def test_what_went_through_the_page_cache_does_not_tell_of_the_drive() -> None:
    buffered = replace(DRIVE, buffered=True)
    assert causes(buffered, (60, 3000), (1000, 1500)) == ["page-cache", "native"]
    assert causes(buffered, (60, 6000), (360, 4000), (1000, 500)) == ["page-cache", "pslc", "fold"]
    assert causes(buffered, (60, 3000)) == ["page-cache"]


def test_a_phase_that_lasted_as_long_as_the_drive_throttled_is_heat() -> None:
    # 30 GB at 3000 MB/s, 570 GB at 1500 and 400 GB at 200 MB/s: 2000 s
    stretches = [(30, 3000), (600, 1500), (1000, 200)]
    assert causes(replace(DRIVE, throttled_s=1950.0), *stretches) == ["pslc", "direct", "thermal"]
    assert causes(replace(DRIVE, throttled_s=1700.0), *stretches)[-1] == "fold"
    assert causes(replace(DRIVE, throttled_s=100.0), *stretches)[-1] == "fold"
    # 380 s and 2000 s
    assert causes(replace(DRIVE, throttled_s=2375.0), *stretches) == ["pslc", "thermal", "fold"]
    assert causes(replace(DRIVE, throttled_s=2300.0), *stretches)[1] == "direct"


def test_single_requests_of_which_none_waits_are_the_hosts_own_pace() -> None:
    slow = replace(DRIVE, mean_s=[20e-6], longest_s=[22e-6], is_depth_one=True)
    assert causes(slow, (300, 400)) == ["host"]
    assert causes(replace(slow, longest_s=[900e-6]), (300, 400)) == ["pslc"]
    assert causes(replace(slow, is_depth_one=False), (300, 400)) == ["pslc"]


def test_large_requests_that_all_wait_alike_are_no_pace_of_the_host() -> None:
    slow = replace(DRIVE, is_depth_one=True, access_patterns=[AccessPattern(0.0, 1000 * GB, 64e3, random=False)])
    assert causes(replace(slow, mean_s=[30e-6], longest_s=[31e-6]), (300, 2100)) == ["host"]
    assert causes(replace(slow, mean_s=[539e-6], longest_s=[540e-6]), (300, 120)) == ["pslc"]


def test_random_writes_on_a_full_drive_are_garbage_collection() -> None:
    fill, random = (
        AccessPattern(0.0, 1000 * GB, 512e3, random=False),
        AccessPattern(1000 * GB, 1000 * GB, 32e3, random=True),
    )
    seen = replace(DRIVE, access_patterns=[fill, random])
    assert causes(seen, (300, 4000), (1000, 500), (2000, 60))[-1] == "gc"


def test_random_writes_do_not_tell_how_full_a_drive_is() -> None:
    seen = replace(DRIVE, access_patterns=[AccessPattern(0.0, 1000 * GB, 512e3, random=True)])
    assert causes(seen, (100, 4000)) == ["unknown"]
    assert causes(seen, (20, 4000), (40, 1500)) == ["pslc", "direct"]


def test_small_requests_fill_a_link_before_its_ceiling() -> None:
    sata = replace(DRIVE, link_bytes_per_s=569 * MB, command_bytes=2400.0)
    small = replace(sata, access_patterns=[AccessPattern(0.0, 1000 * GB, 8192, random=False)])
    assert causes(small, (300, 435)) == ["link"]
    assert causes(small, (300, 400)) == ["pslc"]
    assert causes(replace(small, command_bytes=0.0), (300, 435)) == ["pslc"]
    assert causes(
        replace(small, access_patterns=[replace(small.access_patterns[0], request_bytes=128e3)]), (300, 435)
    ) == ["pslc"]


def test_a_short_wait_before_a_full_link_leaves_it_full() -> None:
    one, two = phases((300, 6000), (1000, 500))
    found = blackbox_causes([replace(one, usual_bytes_per_s=6900 * MB), two], DRIVE)
    assert [why.cause for why in found] == ["link", "fold"]


def test_a_rise_that_lasts_for_longer_than_the_cache_did_is_native_cells() -> None:
    assert causes(DRIVE, (190, 3700), (400, 1500), (1000, 2750)) == ["pslc", "fold", "native"]
    assert causes(DRIVE, (190, 3700), (400, 1500), (600, 2750), (1000, 1400)) == ["pslc", "fold", "pslc", "fold"]


def test_a_fall_behind_native_cells_is_folding_without_free_blocks() -> None:
    cache, first, last = phases((100, 3000), (500, 1000), (1000, 600))
    decaying = [cache, replace(first, drift=-0.07), replace(last, drift=-0.39)]
    assert [why.cause for why in blackbox_causes(decaying, DRIVE)] == ["pslc", "direct", "fold"]


def test_a_rise_is_the_cache_again_only_where_the_speed_before_was_its_own() -> None:
    assert causes(DRIVE, (50, 6900), (100, 2000), (400, 5500)) == ["link", "fold", "native"]
    assert causes(DRIVE, (50, 6000), (100, 2000), (150, 5500), (400, 1900)) == ["pslc", "fold", "pslc", "fold"]


@pytest.mark.parametrize(
    ("known", "stretches", "expected"),
    [
        ({}, [(210, 1000), (481, 5500)], ["unknown", "native"]),
        ({"cpu_share": [0.3, 0.3]}, [(21, 1500), (246, 5500)], ["unknown", "pslc"]),
        ({"cpu_share": [0.99, 0.3]}, [(290, 1500), (734, 3000)], ["cpu", "native"]),
        ({"cpu_share": [0.3, 0.99, 0.3, 0.3]}, [(71, 2000), (137, 500), (239, 2000), (912, 500)],
         ["pslc", "cpu", "pslc"]),
        ({"buffered": True}, [(246, 1000), (588, 3000), (788, 5500)], ["page-cache", "unknown", "native"]),
    ],
)  # fmt: skip
def test_a_rise_where_nothing_was_full_is_no_cache_that_is_free_again(
    known: dict[str, Any], stretches: list[tuple[float, float]], expected: list[str]
) -> None:
    seen = replace(DRIVE, **known)
    assert causes(seen, *stretches)[: len(expected)] == expected
    assert not any("free again" in why.because for why in blackbox_causes(phases(*stretches), seen))


def test_nothing_is_free_again_that_was_never_full_whatever_limits_the_host() -> None:
    """400 curves of speeds that rise and fall: the words are only said behind native cells, folding or collection."""
    rng = np.random.default_rng(7)
    free_again = 0
    for _ in range(400):
        count = int(rng.integers(2, 6))
        ends = np.sort(rng.choice(np.arange(10, 1000, 10), count, replace=False)).astype(float)
        speeds = rng.choice([300.0, 500.0, 1000.0, 1500.0, 2000.0, 3000.0, 5500.0, 6900.0], count)
        seen = replace(
            DRIVE,
            capacity_bytes=None if rng.random() < 0.3 else 1000 * GB,
            cpu_share=[0.99 if busy else 0.3 for busy in rng.random(count) < 0.3],
            buffered=bool(rng.random() < 0.2),
        )
        estimates = blackbox_causes(phases(*zip(ends, speeds, strict=True)), seen)
        for index, why in enumerate(estimates):
            if "free again" in why.because:
                free_again += 1
                assert {"direct", "fold", "native", "gc"} & {earlier.cause for earlier in estimates[:index]}
    assert free_again > 10, "the curves have caches that are free again"


def test_what_is_faster_when_others_have_left_tells_nothing_of_the_cells() -> None:
    shared = replace(DRIVE, other_share=[0.9, 0.9, 0.0])
    assert causes(shared, (1, 300), (2, 200), (4, 900)) == ["other", "other", "unknown"]


def test_moments_of_a_drive_that_is_native_from_the_start_are_collection() -> None:
    assert causes(DRIVE, (500, 900), (550, 300), (1000, 880)) == ["native", "gc", "native"]


OURS = replace(DRIVE, access_patterns=[AccessPattern(0.0, 1000 * GB, 512 * 1024, False)])
"""A run of ours, of which it is known where the host wrote."""


def test_one_speed_behind_the_cache_is_native_cells_and_one_that_drifts_is_folding() -> None:
    cache, behind = phases((60, 3000), (500, 500))
    assert blackbox_causes([cache, behind], OURS)[1].cause == "direct"
    assert blackbox_causes([cache, replace(behind, drift=-0.03)], OURS)[1].cause == "fold"
    # Of somebody else's log it is not known whether a drift is noise.
    assert blackbox_causes([cache, behind], DRIVE)[1].cause == "fold"


def test_what_is_faster_the_second_time_than_ever_past_the_cache_folds_nothing() -> None:
    assert causes(OURS, (300, 3000), (700, 1500), (1000, 700), (2000, 1800))[-1] == "native"
    assert causes(OURS, (300, 3000), (700, 1500), (1000, 700), (2000, 1000))[-1] == "fold"


def test_a_little_at_the_speed_of_the_link_is_the_buffer_and_tells_nothing_of_the_cache() -> None:
    assert causes(OURS, (3, 7000), (60, 6000), (1000, 2500))[1] == "pslc"
    assert causes(OURS, (30, 7000), (60, 6000), (1000, 2500))[1] != "pslc"


def test_a_link_that_is_full_for_moments_is_not_what_limits() -> None:
    (alone,) = phases((200, 2000))
    assert blackbox_causes([replace(alone, usual_bytes_per_s=6900 * MB)], DRIVE)[0].cause != "link"
    (alone,) = phases((200, 6000))
    assert blackbox_causes([replace(alone, usual_bytes_per_s=6900 * MB)], DRIVE)[0].cause == "link"


def test_some_requests_that_wait_are_more_than_the_host_asking_one_at_a_time() -> None:
    one = {"is_depth_one": True, "mean_s": [31e-6], "longest_s": [30e-6]}
    assert causes(replace(DRIVE, **one, fastest_s=[30e-6]), (30, 130)) == ["host"]
    assert causes(replace(DRIVE, **one, fastest_s=[24e-6]), (30, 130)) == ["pslc"]


AT_ONCE = {"is_depth_one": True, "mean_s": [10e-6, 1e-3], "longest_s": [11e-6, 1e-2]}
NEAR, FAR = AccessPattern(0.0, 0.03 * GB, 4096, random=True), AccessPattern(1 * GB, 1000 * GB, 4096, random=True)
"""Close together, and from 1 GB on far apart."""


@pytest.mark.parametrize(
    ("expected", "known"),
    [
        (["pslc", "map"], {"map_bytes": 2 * GB}),
        (["pslc", "map"], {"map_bytes": None}),
        (["pslc", "direct"], {"map_bytes": float("inf")}),
        (["pslc", "direct"], {"map_bytes": 1024 * GB}),
        (["pslc", "pslc"], {"map_bytes": 2 * GB, "access_patterns": [NEAR, replace(FAR, request_bytes=128e3)]}),
    ],
)
def test_small_writes_that_are_slower_far_apart_wait_for_the_map(expected: list[str], known: dict[str, Any]) -> None:
    assert causes(replace(DRIVE, **{"access_patterns": [NEAR, FAR]} | known), (1, 400), (3, 150)) == expected


def test_far_apart_at_once_it_takes_a_drive_without_dram_to_be_the_map() -> None:
    far = replace(DRIVE, access_patterns=[replace(FAR, from_bytes=0.0)])
    assert causes(replace(far, map_bytes=2 * GB), (3, 150)) == ["map"]
    assert causes(far, (3, 150)) == ["pslc"]
    # All requests alike: whatever limits, none of them had to wait for a page of the map that others did not need.
    alike = replace(far, map_bytes=2 * GB, mean_s=[100e-6], longest_s=[105e-6])
    assert causes(alike, (3, 150)) == ["pslc"]
    # Unless the speed comes and goes: in a long queue all wait alike.
    assert blackbox_causes([replace(phases((3, 150))[0], spread=0.1)], alike)[0].cause == "map"


@pytest.mark.parametrize(
    ("expected", "stretches", "known"),
    [
        # As fast as the link carries, and only for a moment.
        (["dram", "pslc", "fold"], [(1, 6900), (350, 4000), (1000, 500)], {}),
        # Too long for a buffer.
        (["link", "fold"], [(20, 6900), (1000, 500)], {}),
        # Hardly slower behind it, and then to the end of the drive: no cache holds that much.
        (["link", "native"], [(1, 6900), (1000, 6200)], {}),
        # Below the link's speed it takes requests of which none waited, or so little that it can be nothing else.
        (["pslc", "direct"], [(3, 4000), (1000, 1500)], {}),
        (["dram", "native"], [(3, 4000), (1000, 1500)], AT_ONCE),
        (["dram", "native"], [(1, 4000), (1000, 1500)], {}),
        # The host went elsewhere.
        (["pslc", "map"], [(1, 400), (3, 150)], {"access_patterns": [NEAR, FAR]}),
    ],
)  # fmt: skip
def test_the_first_of_a_burst_goes_into_the_memory_of_the_drive(
    expected: list[str], stretches: list[tuple[float, float]], known: dict[str, Any]
) -> None:
    assert causes(replace(DRIVE, **known), *stretches) == expected


def test_a_first_request_that_took_most_of_the_time_after_a_silence_woke_the_drive() -> None:
    # 64 MB at 2000 MB/s: 32 ms
    woken = replace(DRIVE, first_request_extra_s=20e-3, silence_s=5.0)
    assert causes(woken, (0.064, 2000)) == ["power"]
    assert causes(replace(woken, silence_s=None), (0.064, 2000)) == ["power"]
    assert causes(replace(woken, silence_s=0.0), (0.064, 2000)) == ["pslc"]
    assert causes(replace(woken, first_request_extra_s=2e-3), (0.064, 2000)) == ["pslc"]
    assert causes(woken, (0.064, 2000), (300, 4000))[0] == "power"
    assert causes(woken, (300, 4000)) == ["pslc"]


def test_what_the_drive_moved_for_others_is_told_by_its_own_counters() -> None:
    assert causes(replace(DRIVE, other_share=[0.4, 0.01]), (300, 2000), (1000, 400)) == ["other", "fold"]
    assert causes(replace(DRIVE, other_share=[0.2, 0.0]), (300, 2000), (1000, 400)) == ["pslc", "fold"]


def test_what_is_written_once_others_have_left_is_the_cache_where_a_cliff_follows() -> None:
    others = replace(DRIVE, other_share=[0.6, 0.01, 0.01])
    assert causes(others, (100, 2000), (300, 4000), (1000, 800)) == ["other", "pslc", "fold"]
    assert causes(replace(DRIVE, other_share=[0.6, 0.01]), (100, 2000), (400, 4000)) == ["other", "unknown"]


def test_others_for_a_moment_at_the_beginning_do_not_hide_the_cache() -> None:
    assert causes(replace(DRIVE, other_share=[0.4, 0.01, 0.01]), (1, 4000), (300, 3000), (1000, 600)) == [
        "other",
        "pslc",
        "fold",
    ]


def waiting(*of: tuple[float, float, float, float], mean_s: float = 1e-3) -> MeasurementContext:
    """A run of ours, and what the longest request of a bin took by phase."""
    place = AccessPattern(0.0, 1000 * GB, 512e3, random=False)
    return replace(DRIVE, access_patterns=[place], slowest_quantiles_s=list(of), mean_s=[mean_s] * len(of))


ALIKE, UNLIKE = (1e-3, 1e-3, 1e-3, 1e-3), (1e-3, 1.1e-3, 1.4e-3, 2e-3)


def test_native_cells_let_no_request_wait_longer_than_the_others() -> None:
    for cache, after, expected in [(ALIKE, ALIKE, "direct"), (ALIKE, UNLIKE, "fold"), (UNLIKE, UNLIKE, "direct")]:
        assert causes(waiting(cache, after), (100, 3000), (400, 1000)) == ["pslc", expected]
    # Also where they are slow, where no request at all did.
    once = (1e-3, 1e-3, 1e-3, 1.2e-3)
    assert causes(waiting(ALIKE, ALIKE), (60, 3000), (400, 330)) == ["pslc", "direct"]
    assert causes(waiting(ALIKE, once), (60, 3000), (400, 330)) == ["pslc", "fold"]


def test_a_wait_for_a_program_tells_of_the_bits_that_a_cell_takes() -> None:
    assert causes(waiting((2e-5, 2e-3, 2e-3, 2e-3), mean_s=4e-5), (200, 180)) == ["native"]
    assert causes(waiting((2e-5, 5e-4, 5e-4, 5e-4), mean_s=4e-5), (200, 180)) == ["pslc"]
    # Neither what happens now and then nor what many requests under way make of each other does.
    assert causes(waiting((2e-5, 2e-3, 2e-3, 9e-3), mean_s=4e-5), (200, 180)) == ["pslc"]
    assert causes(waiting((0.1, 0.1, 0.1, 0.1), mean_s=0.098), (200, 180)) == ["pslc"]


def test_random_writes_to_a_full_drive_fold_its_cache_first() -> None:
    fill, random = (
        AccessPattern(0.0, 1000 * GB, 512e3, random=False),
        AccessPattern(1000 * GB, 1000 * GB, 32e3, random=True),
    )
    seen = replace(DRIVE, access_patterns=[fill, random])
    written = (300, 4000), (1000, 1000), (1060, 500), (2000, 100)
    assert causes(seen, *written) == ["pslc", "direct", "fold", "gc"]
    assert causes(seen, *written[:2], (1060, 80), (2000, 100)) == ["pslc", "direct", "gc", "gc"]


def test_without_a_capacity_a_flat_curve_tells_nothing() -> None:
    assert causes(MeasurementContext(), (300, 4000)) == ["unknown"]


def test_the_evidence_is_a_sentence_with_the_numbers() -> None:
    found = blackbox_causes(phases((280, 4500), (500, 2000), (1000, 500)), DRIVE)
    assert found[1].because == "as fast as native cells should be: 2000 MB/s, 44 % of the cache's speed"


@pytest.mark.parametrize("drive", ["sn850-1tb", "t500-2tb", "600p-512gb", "sx8200-pro-1tb", "firecuda-510-1tb"])
def test_drives_of_the_library_are_explained_from_outside_as_by_their_counters(drive: str) -> None:
    found = explained([fill(f"sim:{drive}")])
    assert [answer for _, answer, _ in found] == [true for true, _, _ in found]


@pytest.mark.parametrize(("seed", "phase", "cause"), [(40323, 0, "link"), (40482, 0, "link"), (40289, -1, "native")])
def test_counters_tell_of_most_of_a_phase_that_begins_otherwise(seed: int, phase: int, cause: str) -> None:
    """Two drives that had to wake up, and one whose cache held something when the host came round again."""
    assert [run.findings["phases"][phase]["cause"] for run in recordings([seed])] == [cause]


@pytest.mark.long
@pytest.mark.parametrize("count", [12, pytest.param(90, marks=pytest.mark.slow)])
def test_random_jobs_on_random_drives_are_mostly_explained_right(count: int) -> None:
    assert right(explained(recordings(range(count)))) >= 0.9


SYNCED = AccessPattern(0.0, 1 * GB, 4096, random=True, synced=True)


@pytest.mark.parametrize(
    ("expected", "speed", "known"),
    [
        # 4 KiB at 6 MB/s: 680 us each, of which the write itself takes 10, or all of it where it is written through.
        ("flush", 6, {"mean_s": [10e-6], "longest_s": [11e-6]}),
        ("flush", 6, {"mean_s": [680e-6], "longest_s": [700e-6]}),
        # 20 us: the buffer is protected.
        ("host", 200, {"mean_s": [10e-6], "longest_s": [11e-6]}),
        # Several at a time.
        ("pslc", 6, {"mean_s": [10e-6], "longest_s": [11e-6], "is_depth_one": False}),
        # The write is what takes the time, not what follows it.
        ("pslc", 6, {"mean_s": [500e-6], "longest_s": [900e-6]}),
        # Nothing is flushed.
        ("pslc", 6, {"mean_s": [680e-6], "longest_s": [700e-6], "access_patterns": [replace(SYNCED, synced=False)]}),
    ],
)  # fmt: skip
def test_single_writes_that_each_wait_for_a_program_are_as_fast_as_flushes(
    expected: str, speed: float, known: dict[str, Any]
) -> None:
    seen = replace(DRIVE, **{"access_patterns": [SYNCED], "is_depth_one": True} | known)
    assert causes(seen, (0.06, speed)) == [expected]


@pytest.mark.parametrize(
    ("drive", "inside", "outside"), [("sn850-1tb", "flush", "flush"), ("p3700-2tb", "controller", "host")]
)
@pytest.mark.parametrize("option", ["fsync=1", "fdatasync=1", "sync=1"])
def test_flushes_take_their_time_unless_the_buffer_is_protected(drive, inside, outside, option, tmp_path) -> None:
    job = tmp_path / "synced.fio"
    job.write_text(f"[synced]\nrw=randwrite\nbs=4k\niodepth=1\nsize=1g\nio_size=16m\n{option}\n")
    recording = pslc.run(job, on=f"sim:{drive}")
    for found, cause in ((recording.findings, inside), (of_writes(recording, outside=True), outside)):
        assert [phase["cause"] for phase in found["phases"]] == [cause]


def test_a_recording_is_explained_from_outside_on_demand(command, tmp_path) -> None:
    # Its counters say that it folds; at one speed all the way that looks like native cells.
    store.save(pslc.run("fill", on="sim:wd-green-120gb"), tmp_path / "run")
    assert "folding" in command("analyze", "run").stdout
    assert "direct to native cells" in command("analyze", "run", "--outside").stdout
