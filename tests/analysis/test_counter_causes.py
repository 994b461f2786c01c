"""The cause of a phase, from the counters of a simulated drive."""

from pathlib import Path
from typing import Any

import pytest
from benches.curves.simulated import without_others

import pslc
from pslc import _native
from pslc.analysis import CAUSES, phase_cause
from pslc.analysis.counter_causes import WORDS
from pslc.analysis.sentences import CAUSE
from pslc.figures import vocabulary
from pslc.recording.writes.findings import of_writes
from tests.conftest import fill

GB = 1e9
FACTS: Any = {"slc_write_bytes_per_s": 7.2e9, "native_write_bytes_per_s": 2e9, "fold_overhead": 1.5}


def changes(**seconds: float) -> dict[str, float]:
    """Changes of a phase in which requests spent so many seconds on each, and which went to native cells."""
    waited = {f"waited_{name}_ns_total": 1e9 * time for name, time in seconds.items()}
    moved = dict.fromkeys(("host_to_slc_bytes_total", "folded_bytes_total", "gc_bytes_total"), 0.0)
    return waited | moved | {"host_to_native_bytes_total": 100 * GB, "slc_superblocks": 10.0}


def test_the_cause_is_what_requests_spent_most_of_their_time_on_and_the_share_is_its_confidence() -> None:
    found = phase_cause(changes(folding=5.0, direct=4.0, link=1.0), seconds=50.0, facts=FACTS, moved=100 * GB)
    assert (found.cause, found.confidence, found.nand_state) == ("fold", 0.5, "fold")
    assert found.because == "requests spent 50 % on folding, 40 % on native programs, 10 % on the link: 2000 MB/s"
    assert found.shares == {"fold": 0.5, "direct": 0.4, "link": 0.1}


def test_what_the_host_did_not_ask_for_and_what_others_asked_for_have_shares_too() -> None:
    silent = changes(direct=1.0) | {"host_silent_ns_total": 30e9}
    assert phase_cause(silent, seconds=50.0, facts=FACTS, moved=GB).cause == "host"
    shared = phase_cause(changes(direct=1.0), seconds=50.0, facts=FACTS, moved=GB, other_share=0.7)
    assert (shared.cause, shared.confidence) == ("other", 0.7)


def test_what_the_dies_did_is_told_beside_a_limit_around_them() -> None:
    linked = changes(link=9.0, folding=1.0)
    for to_slc, folded, state in ((0.0, 0.0, "direct"), (500.0, 0.0, "pslc"), (0.0, 100.0, "fold")):
        moved = {"host_to_slc_bytes_total": to_slc * GB, "folded_bytes_total": folded * GB}
        assert phase_cause(linked | moved, seconds=50.0, facts=FACTS, moved=GB).nand_state == state
    assert phase_cause(linked | {"slc_superblocks": 0.0}, seconds=50.0, facts=FACTS, moved=GB).nand_state == "native"


def test_a_drive_that_accounts_for_nothing_has_no_cause() -> None:
    found = phase_cause({}, seconds=50.0, facts={}, moved=GB)
    assert (found.cause, found.confidence) == ("unknown", 0.0)


def test_every_column_of_the_account_has_a_cause_with_words_everywhere() -> None:
    columns = [name for name in fill("sim:pm871b-128gb").time if name.startswith("waited_")]
    assert len(columns) == 14
    for name in columns:
        ((cause, share),) = _native.phase_shares({name: 1e9}, 1.0)
        assert share == 1.0
        for words in (CAUSES, WORDS, CAUSE, vocabulary.table()["words"]):
            assert cause in words


@pytest.mark.parametrize(
    ("job", "drive", "expected"),
    [
        ("bs=4k\niodepth=1\nfsync=1\nrw=randwrite\nio_size=20m\nsize=1g", "sn850-1tb", "flush"),
        ("bs=1m\niodepth=4\nrw=write\nsize=4g\nthinktime=20ms", "sn850-1tb", None),
        ("bs=1m\niodepth=8\nrw=write\nsize=30%", "sn850-1tb,link=pcie1x1", "link"),
        ("bs=4k\niodepth=32\nrw=randwrite\nio_size=1g\nsize=100%", "sn850-1tb,controller.write=90us", "controller"),
        (
            "bs=1m\niodepth=8\nrw=write\nsize=6g\ndirect=0\nioengine=psync",
            "sn850-1tb,host.page_cache=8GB",
            "page-cache",
        ),
    ],
)
def test_a_limit_that_is_put_in_is_the_cause(tmp_path: Path, job: str, drive: str, expected: str | None) -> None:
    file = tmp_path / "a.fio"
    engine = "" if "ioengine" in job else "ioengine=io_uring\n"
    file.write_text(f"[a]\n{engine}{job}\n")
    causes = [phase["cause"] for phase in pslc.run(file, on=f"sim:{drive}").findings["phases"]]
    assert causes[:1] == ([] if expected is None else [expected]), causes


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
    assert outside == expected
    # The way into the buffer is what such requests wait for.
    assert inside == [{"dram": "link"}.get(cause, cause) for cause in expected]
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
    assert ("other" in {phase["cause"] for phase in of_writes(recording, outside=True)["phases"]}) == shared
    # Theirs and ours are on one link, of which most is ours.
    assert (of_writes(recording)["phases"][0]["shares"].get("other", 0.0) > 0.25) == shared


def test_a_slow_processor_is_seen_from_inside_and_from_outside(tmp_path: Path) -> None:
    job = tmp_path / "small.fio"
    job.write_text("[a]\nrw=write\nbs=4k\nioengine=io_uring\niodepth=32\nio_size=1g\nsize=100%\ndirect=1\n")
    recording = pslc.run(job, on="sim:sn850-1tb,host.cores=2,host.read=20us,host.write=40us")
    assert [phase["cause"] for phase in recording.findings["phases"]] == ["cpu"]
    assert [phase["cause"] for phase in of_writes(recording, outside=True)["phases"]] == ["cpu"]
