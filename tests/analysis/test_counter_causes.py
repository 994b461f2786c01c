"""The cause of a phase, from the counters of a simulated drive."""

from pathlib import Path
from typing import Any

import pytest
from benches.curves.simulated import without_others

import pslc
from pslc.analysis import CAUSES, phase_cause
from pslc.analysis.counter_causes import REQUIRED_COUNTERS
from pslc.recording.writes import of_writes
from tests.analysis.made_counters import GB, counters

FACTS: dict[str, Any] = {"dies": 32, "link_bytes_per_s": 7e9, "slc_write_bytes_per_s": 7.2e9}


@pytest.mark.parametrize(
    ("cause", "shares"),
    [
        ("pslc", {"slc": 1.0, "held": 300}),
        ("pslc", {"slc": 1.0, "fold": 0.09}),
        ("fold", {"slc": 1.0, "fold": 1.0, "held": 600}),
        ("fold", {"native": 1.0, "fold": 0.5, "held": 600}),
        ("direct", {"native": 1.0, "held": 690}),
        ("native", {"native": 1.0}),
        ("native", {"native": 1.0, "held": 0.01, "limit": 0.0}),
        ("gc", {"native": 1.0, "gc": 1.4}),
        ("fold", {"native": 1.0, "gc": 0.3, "fold": 0.5}),
        ("link", {"slc": 1.0, "link": 0.99, "dies": 0.4}),
        ("pslc", {"slc": 1.0, "link": 0.99, "dies": 0.9}),
        ("host", {"slc": 1.0, "link": 0.2, "dies": 0.3, "wait": 0.0}),
        ("host", {"slc": 1.0, "link": 0.9, "dies": 0.9, "wait": 0.0}),
        ("pslc", {"slc": 1.0, "link": 0.2, "dies": 0.3, "wait": 0.8}),
        ("map", {"slc": 1.0, "link": 0.1, "dies": 0.2, "wait": 0.0, "map": 1.0, "map_wait": 0.9}),
        ("host", {"slc": 1.0, "link": 0.1, "dies": 0.2, "wait": 0.0, "map": 1.0}),
        ("pslc", {"slc": 1.0, "map": 0.01, "map_wait": 0.9}),
        ("dram", {"slc": 1.0, "link": 0.99, "dies": 1.9, "wait": 0.0, "buffered": 0.5}),
        ("dram", {"slc": 1.0, "dies": 5.0, "buffered": 0.8}),
        ("pslc", {"slc": 1.0, "buffered": 0.05}),
        ("power", {"slc": 1.0, "dies": 0.3, "woken": 0.6}),
        ("pslc", {"slc": 1.0, "woken": 0.1}),
        ("other", {"slc": 1.0, "others": 0.5}),
        ("fold", {"slc": 1.0, "fold": 1.0, "others": 0.1}),
        ("thermal", {"slc": 1.0, "dies": 0.85, "throttled": 0.9}),
        ("thermal", {"slc": 1.0, "dies": 0.3, "throttled": 0.9}),
        ("fold", {"slc": 1.0, "fold": 1.0, "throttled": 0.9}),
    ],
)
def test_the_cause_follows_from_the_counters(cause: str, shares: dict[str, float]) -> None:
    found = phase_cause(counters(**shares), seconds=50.0, facts=FACTS)
    assert found.cause == cause, found
    assert found.cause in CAUSES
    assert 0.5 <= found.confidence <= 1.0


def test_a_small_full_cache_makes_native_writes_direct() -> None:
    found = phase_cause(counters(native=1.0, held=3, limit=3), seconds=50.0, facts=FACTS)
    assert found.cause == "direct"


def test_a_map_that_takes_the_time_of_the_dies_is_the_cause_though_the_buffer_is_full() -> None:
    # 100 GB at 7.2 GB/s are 14 of the 50 s in which the dies were busy.
    speeds = FACTS | {"native_write_bytes_per_s": 2e9}
    busy = counters(slc=1.0, map=1.0)
    assert phase_cause(busy, seconds=50.0, facts=speeds).cause == "map"
    assert phase_cause(counters(slc=1.0, map=1.0, dies=0.3), seconds=50.0, facts=speeds).cause == "pslc"
    assert phase_cause(counters(slc=1.0), seconds=50.0, facts=speeds).cause == "pslc"


def test_a_little_folding_is_the_cause_where_it_takes_much_of_the_time() -> None:
    speeds = FACTS | {"native_write_bytes_per_s": 2.5e9, "fold_overhead": 2.0}
    # 9 GB at 2.5 GB/s, twice: 7.2 of 50 s
    assert phase_cause(counters(native=1.0, held=600, fold=0.09), seconds=50.0, facts=speeds).cause == "fold"
    assert phase_cause(counters(native=1.0, held=600, fold=0.05), seconds=50.0, facts=speeds).cause == "direct"


def test_the_reason_is_a_sentence_with_the_numbers() -> None:
    found = phase_cause(counters(native=0.5, slc=0.5, fold=0.5), seconds=50.0, facts=FACTS)
    assert found.because == "folding moved 50 % of what the host wrote from pSLC to native cells: 2000 MB/s"


@pytest.mark.parametrize("name", REQUIRED_COUNTERS)
def test_without_a_counter_the_cause_is_unknown_and_the_counter_is_named(name: str) -> None:
    deltas = counters(slc=1.0)
    del deltas[name]
    found = phase_cause(deltas, seconds=50.0, facts=FACTS)
    assert (found.cause, found.confidence) == ("unknown", 0.0)
    assert name in found.because


def test_without_the_number_of_dies_the_cause_is_unknown() -> None:
    assert phase_cause(counters(slc=1.0), seconds=50.0, facts={}).cause == "unknown"


@pytest.mark.parametrize(
    "shares", [{"slc": 0.2}, {"slc": 1.0, "native": 1.0}, {"slc": 1.0, "link": 1.2}, {"slc": 1.0, "gc": -0.1}]
)
def test_counters_that_contradict_themselves_give_unknown(shares: dict[str, float]) -> None:
    found = phase_cause(counters(**shares), seconds=50.0, facts=FACTS)
    assert found.cause == "unknown"
    assert "contradict" in found.because


def test_a_stretch_whose_times_contradict_themselves_still_tells_where_its_bytes_went() -> None:
    ahead = phase_cause(counters(slc=1.0, dies=2.5), seconds=50.0, facts=FACTS)
    assert (ahead.cause, ahead.nand_state) == ("unknown", "pslc")
    assert phase_cause(counters(slc=1.0, fold=0.5, dies=2.5), seconds=50.0, facts=FACTS).nand_state == ""


def test_what_memory_took_in_is_told_by_what_did_not_reach_the_drive() -> None:
    found = phase_cause(counters(slc=1.0), seconds=50.0, facts=FACTS, written=250 * GB)
    assert found.cause == "page-cache"
    assert found.because == "memory took in 250 GB while the drive got 100 GB: 5000 MB/s"
    assert phase_cause(counters(slc=1.0), seconds=50.0, facts=FACTS, written=102 * GB).cause == "pslc"


def test_random_writes_to_a_drive_without_dram_wait_for_its_map(tmp_path: Path) -> None:
    job = tmp_path / "random.fio"
    job.write_text("[a]\nrw=randwrite\nbs=4k\nioengine=io_uring\niodepth=1\nio_size=100m\nsize=100%\n")
    (phase,) = pslc.run(job, on="sim:su630-480gb").findings["phases"]
    assert phase["cause"] == "map"


def causes_of(job: Path, text: str, on: str) -> tuple[list[str], list[str]]:
    """The causes of the phases of a job, from the counters and from outside."""
    job.write_text(text)
    recording = pslc.run(job, on=on)
    both = recording.findings["phases"], of_writes(recording, outside=True)["phases"]
    inside, outside = ([phase["cause"] for phase in phases] for phases in both)
    return inside, outside


@pytest.mark.parametrize("held", ["256KiB", "dram"])
def test_writes_far_apart_are_slower_where_the_map_is_not_at_hand(tmp_path: Path, held: str) -> None:
    common = "rw=randwrite\nnorandommap\nbs=4k\nioengine=io_uring\niodepth=32\n"
    text = f"[near]\n{common}size=24m\nio_size=200m\n[far]\nstonewall\n{common}size=100%\nio_size=400m\n"
    inside, outside = causes_of(tmp_path / "far.fio", text, f"sim:su630-480gb,controller.map={held}")
    assert (inside[-1] == "map") == (outside[-1] == "map") == (held != "dram")


@pytest.mark.parametrize(("size", "expected"), [("600m", ["dram", "pslc"]), ("60g", ["pslc"])])
def test_the_start_of_a_burst_goes_into_the_buffer_of_the_drive(tmp_path: Path, size: str, expected: list[str]) -> None:
    text = f"[burst]\nrw=write\nbs=128k\nioengine=io_uring\niodepth=8\nsize={size}\n"
    inside, outside = causes_of(tmp_path / "burst.fio", text, "sim:660p-1tb")
    assert inside == outside == expected
    cache = pslc.run(tmp_path / "burst.fio", on="sim:660p-1tb").findings.cache
    assert cache is not None
    assert not cache.seen_end, "what the buffer took in is no cache"


@pytest.mark.parametrize(
    ("exit_time", "delay", "cause"), [("30ms", 5, "power"), ("0s", 5, "pslc"), ("30ms", 0, "pslc")]
)
def test_a_short_write_after_a_pause_waits_for_the_drive_to_wake_up(
    tmp_path: Path, exit_time: str, delay: int, cause: str
) -> None:
    text = f"[first]\nstartdelay={delay}\nrw=write\nbs=128k\nioengine=io_uring\niodepth=8\nsize=80m\n"
    inside, outside = causes_of(tmp_path / "first.fio", text, f"sim:sn850-1tb,power.exit={exit_time}")
    assert (inside[0] == "power") == (outside[0] == "power") == (cause == "power")


@pytest.mark.parametrize(("rate", "shared"), [("2000m", True), ("20m", False)])
def test_a_drive_that_somebody_else_reads_is_not_ours_alone(tmp_path: Path, rate: str, shared: bool) -> None:
    job = tmp_path / "shared.fio"
    reads = f"rw=randread\nbs=128k\nioengine=io_uring\niodepth=16\nrate={rate}\nsize=1%\ntime_based\nruntime=20\n"
    job.write_text(f"[ours]\nrw=write\nbs=512k\nioengine=io_uring\niodepth=8\nsize=30%\n[other]\n{reads}")
    recording = without_others(pslc.run(job, on="sim:pm871b-128gb"))
    for outside in (False, True):
        causes = {phase["cause"] for phase in of_writes(recording, outside=outside)["phases"]}
        assert ("other" in causes) == shared


def test_a_slow_processor_is_seen_from_inside_and_from_outside(tmp_path: Path) -> None:
    job = tmp_path / "small.fio"
    job.write_text("[a]\nrw=write\nbs=4k\nioengine=io_uring\niodepth=32\nio_size=1g\nsize=100%\ndirect=1\n")
    recording = pslc.run(job, on="sim:sn850-1tb,host.cores=2,host.read=20us,host.write=40us")
    assert [phase["cause"] for phase in recording.findings["phases"]] == ["cpu"]
    assert [phase["cause"] for phase in of_writes(recording, outside=True)["phases"]] == ["cpu"]


def test_heat_is_the_cause_only_near_what_the_drive_carries_while_throttled() -> None:
    # 100 GB in 50 s are 2000 MB/s.
    throttled = counters(slc=1.0, dies=0.3, throttled=0.9)
    for limit, cause in ((2100e6, "thermal"), (3000e6, "pslc"), (None, "thermal")):
        found = phase_cause(throttled, seconds=50.0, facts=FACTS | {"throttled_bytes_per_s": limit})
        assert found.cause == cause
        assert found.nand_state == "pslc"


def test_nothing_written_has_no_cause() -> None:
    deltas = dict.fromkeys(REQUIRED_COUNTERS, 0.0)
    assert phase_cause(deltas, seconds=50.0, facts=FACTS).cause == "unknown"


def test_confidence_falls_towards_the_threshold() -> None:
    sure = phase_cause(counters(native=1.0, fold=0.5), seconds=50.0, facts=FACTS)
    barely = phase_cause(counters(native=1.0, fold=0.105), seconds=50.0, facts=FACTS)
    assert sure.cause == barely.cause == "fold"
    assert barely.confidence < 0.6 < sure.confidence
