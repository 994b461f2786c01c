"""What falsifies a measurement and shows in its data. The machine's own warnings are in test_real.py."""

import json
from dataclasses import replace

import pytest

from pslc.formats import FileContents
from pslc.formats._findings import warnings_of
from pslc.recording import traffic
from pslc.recording import warnings as checks
from pslc.recording.warnings import RecordingWarning
from pslc.recording.writes import evidence
from pslc.recording.writes.curve import WriteTrack
from pslc.schema.results import measured
from pslc.schema.warnings import MeasurementWarning
from tests.conftest import fill


def job(*, rw="randread", mean_ns=80_000.0, total=1000, **options):
    done = {"io_bytes": 4096 * total, "total_ios": total, "runtime_ns": 10**9, "lat_ns": {"mean": mean_ns}}
    nothing = {"io_bytes": 0, "total_ios": 0, "runtime_ns": 0, "lat_ns": {"mean": 0.0}}
    kinds = {"read": done, "write": nothing} if "read" in rw else {"read": nothing, "write": done}
    return {"name": "a", "options": {"rw": rw, "direct": "1"} | options, **kinds}


def asked(kind: RecordingWarning, found: list[MeasurementWarning]) -> bool:
    """Whether a warning of that kind is among those found, with its braces filled."""
    return any(
        one.code == kind.code and one.endswith(kind.value.rpartition("}")[2]) and "{" not in one for one in found
    )


def printed(done) -> list[MeasurementWarning]:
    return [MeasurementWarning(**one) for one in json.loads(done.stdout)["warnings"]]


def test_a_sound_job_raises_no_warning():
    same = [job(direct="true"), job(zero_buffers="0"), job(direct="0", buffered="0"), job(rw="write", fsync="0")]
    assert warnings_of(FileContents("a.json", None, jobs=[job(), job(rw="write"), *same])) == []


@pytest.mark.parametrize(
    ("one", "warning"),
    [
        (job(direct="0"), RecordingWarning.PAGE_CACHE),
        (job(direct="false"), RecordingWarning.PAGE_CACHE),
        (job(buffered="true"), RecordingWarning.PAGE_CACHE),
        (job(zero_buffers="1"), RecordingWarning.COMPRESSIBLE),
        (job(mean_ns=3_000.0), RecordingWarning.UNWRITTEN),
        (job(rw="write", total=10**7), RecordingWarning.NO_LINK),
    ],
)
def test_each_artefact_of_a_job_raises_a_warning(one, warning):
    assert asked(warning, warnings_of(FileContents("a.json", None, jobs=[one])))


@pytest.mark.parametrize(("kind", "drives", "memory"), [("read", 28e9, 35e9), ("write", 14e9, 25e9)])
def test_a_result_above_any_drive_raises_a_warning(kind, drives, memory):
    rows = [measured("SEQ", "read", 3e9), measured("SEQ", "write", 3e9)]
    assert warnings_of(FileContents("cdm.txt", None, rows=[*rows, measured("RND", kind, drives)])) == []
    (found,) = warnings_of(FileContents("cdm.txt", None, rows=[*rows, measured("RND", kind, memory)]))
    assert found.startswith(f"RND {kind} at {memory / 1e6:.0f} MB/s is faster than any drive,")


def test_a_clock_that_was_set_back_raises_a_warning(command, tmp_path):
    lines = [f"{ms}, 1953125, 1, 200000000, 0" for ms in range(100, 60_000, 100)]
    lines[300:] = [f"{ms - 20_000}, 1953125, 1, 200000000, 0" for ms in range(30_100, 60_000, 100)]
    (tmp_path / "a_bw.1.log").write_text("\n".join(lines) + "\n")
    found = printed(command("analyze", "a_bw.1.log", "--json"))
    assert found[0].startswith("the clock went back by 19.9 s in a_bw.1.log")


def test_options_of_the_global_section_hold_for_every_job(command, tmp_path):
    done = {"io_bytes": 10**9, "total_ios": 1000, "runtime": 1000, "lat_ns": {"mean": 1e6}}
    one = {"jobname": "a", "job options": {"rw": "write"}, "write": done}
    for direct in ("0", "1"):
        document = {"fio version": "fio-3.36", "global options": {"direct": direct}, "jobs": [one]}
        (tmp_path / "out.json").write_text(json.dumps(document))
        found = printed(command("analyze", "out.json", "--json"))
        assert asked(RecordingWarning.PAGE_CACHE, found) == (direct == "0")


@pytest.mark.parametrize("program", ["smartctl", "nvme"])
def test_thermal_counters_that_rose_raise_a_warning(program):
    logs = [{"warning_temp_time": 3, "thm_temp1_trans_count": count} for count in (10, 12)]
    smart = [{"nvme_smart_health_information_log": log} if program == "smartctl" else log for log in logs]
    before, after = ({"temperature_c": 55.0, "smart": one} for one in smart)
    assert list(checks._of_heat(before, after)) == [
        RecordingWarning.THROTTLED.of(what="thm_temp1_trans_count +2"),
    ]
    assert list(checks._of_heat(after, after)) == []
    assert list(checks._of_heat({}, {"temperature_c": 80.0, "smart": None})) == [RecordingWarning.HEAT.of(celsius=80)]


EXT4 = {"type": "ext4", "options": "rw"}
JOURNAL, BTRFS, FUSE = (
    {**EXT4, "options": "rw,data=journal"},
    {**EXT4, "type": "btrfs"},
    {**EXT4, "type": "fuse.bindfs"},
)


@pytest.mark.parametrize(
    ("system", "device", "dirtied", "texts"),
    [
        (EXT4, 1.05, 0.0, []),
        (EXT4, 2.0, 0.0, ["50 % of the drive's traffic was for other programs"]),
        (EXT4, None, 0.0, []),
        # Another program filled memory meanwhile.
        (EXT4, 1.0, 2.0, []),
        (None, 1.0, 2.0, []),
        (BTRFS, 1.0, 0.5, []),
        (BTRFS, 1.0, 1.0, ["128 of 128 GB went through memory, though direct I/O was asked for: chattr +C"]),
        (BTRFS, 1.04, 0.0, []),
        (BTRFS, 2.0, 0.0, ["the device moved 256 GB for 128 GB of the run: btrfs may write copies"]),
        (JOURNAL, 1.9, 1.0, ["128 of 128 GB went through memory, though direct I/O was asked for: mount without data=j",
                             "the device moved 243 GB for 128 GB of the run: ext4 writes data into its journal first"]),
        (FUSE, 0.125, 0.0, ["16.0 of 128 GB had reached the device when the run ended, so the rest was in memory"]),
        (FUSE, 0.0, 0.0, []),
    ],
)  # fmt: skip
def test_what_memory_and_the_device_moved_beside_the_writes_is_said_with_its_likely_reason(
    system, device, dirtied, texts
):
    recording = replace(fill("sim:pm871b-128gb"))
    written = recording.written_bytes
    recording.jobs = [job | {"options": job["options"] | {"direct": "1"}} for job in recording.jobs]
    recording.facts = {"file_system": system, "dirtied_bytes": round(dirtied * written)}
    names = ("device_read_bytes_total", "device_write_bytes_total")
    if device is not None:
        recording.before = dict.fromkeys(names, 7)
        recording.totals = dict(zip(names, (7, 7 + round(device * written)), strict=True))
        moved = [0 * recording.bytes["write_bytes"], (device * recording.bytes["write_bytes"]).cumsum()]
        columns = {**recording.bytes, **dict(zip(names, moved, strict=True))}
        real = replace(recording, profile="", bytes=columns, facts={**recording.facts, "device": None})
        is_told = system in (None, EXT4)
        assert bool(evidence._busy(WriteTrack.of(real))) == is_told, "others or the file system itself"
    warnings = list(checks._of_its_traffic(recording))
    assert [warning.startswith(text) for warning, text in zip(warnings, texts, strict=True)] == [True] * len(texts)
    of_the_place = [traffic.through_memory(recording), traffic.left_in_memory(recording)]
    assert (of_the_place != [None, None]) == ("memory" in str(texts))
    assert traffic.moved_ratio(replace(recording, error="it was pulled out"), "write") is None, "its requests failed"
    recording.jobs[0]["options"]["direct"] = "0"
    assert list(checks._of_its_traffic(recording)) == [], "the page cache may have written more, or less"


def test_what_each_member_was_written_is_said():
    sectors = {"sda": 390625, "b": 0}
    counts = [{"name": name, "before": [7] * 11, "after": [7 + more] * 11} for name, more in sectors.items()]
    recording = replace(fill("sim:pm871b-128gb"), facts={"member_counts": counts})
    assert [*traffic.of_members(recording)] == ["of 128 GB, the drives below were written: sda 200 MB, b 0 B"]


@pytest.mark.parametrize(("direct", "doubt"), [("1", "the system reports"), ("0", "came from a cache")])
def test_a_link_that_carried_more_than_it_can_is_doubted_and_not_the_data(direct, doubt):
    recording = replace(fill("sim:sn850-1tb"))
    recording.jobs = [job | {"options": job["options"] | {"direct": direct}} for job in recording.jobs]
    recording.facts = {**recording.facts, "device": {"link_speed": "2.5 GT/s PCIe", "link_width": 1}}
    recording.before = recording.totals = {"cpu_ns_total": 0}
    assert [doubt in warning for warning in checks._of_the_run(recording) if "312 MB/s" in warning] == [True]
