"""Arrays of simulated drives, as a user meets them; `crates/load/tests/array.rs` holds layouts against md."""

import json

import pytest

import pslc
from pslc.device.target import find_target
from pslc.recording import store
from tests.conftest import fill

DRIVE = "pm871b-128gb,scale=1/16"
FAST = "mx500-1tb,scale=1/64"
SLOW = "bx500-512gb,scale=1/64"


@pytest.mark.parametrize(
    ("level", "members", "data"), [("raid0", 3, 3), ("raid1", 2, 1), ("raid10", 3, 1.5), ("raid6,failed=5", 6, 4)]
)
def test_cache_and_speeds_are_those_of_the_members_that_hold_data(level, members, data):
    alone, array = fill(f"sim:{DRIVE}"), fill(f"array:{level},chunk=64k,{members}x{DRIVE}")
    assert array.capacity_bytes == pytest.approx(data * alone.capacity_bytes, rel=0.001)
    assert array.findings["cache_bytes"] == pytest.approx(data * alone.findings["cache_bytes"], rel=0.01)
    last, other = alone.findings["phases"][-1], array.findings["phases"][-1]
    assert other["bytes_per_s"] == pytest.approx(data * last["bytes_per_s"], rel=0.01)
    assert other["cause"] == last["cause"]
    shares = {key: pytest.approx(value, abs=0.06) for key, value in last["shares"].items()}
    assert {key: other["shares"].get(key, 0) for key in shares} == shares


def test_a_mirror_writes_as_the_slower_of_its_drives_and_says_which_that_is(command):
    alone, mirror = fill(f"sim:{SLOW}"), fill(f"array:raid1,{FAST},{SLOW}")
    ends = [recording.findings["phases"][-1]["bytes_per_s"] for recording in (alone, mirror)]
    assert ends[1] == pytest.approx(ends[0], rel=0.03)
    assert mirror.facts["array"]["members"] == [f"sim:{FAST}", f"sim:{SLOW}"]
    assert mirror.facts["array"]["chunk_kib"] == 512
    for members, says in (
        (f"{FAST},{SLOW}", "note: member 1 (sim:bx500-512gb,scale=1/64) holds the array back"),
        (f"{SLOW},{FAST}", "note: member 0 (sim:bx500-512gb,scale=1/64) holds the array back"),
        (f"2x{FAST}", "note: no member holds the array back"),
    ):
        done = command.fine("run", "fill", "--on", f"array:raid1,{members}", "--no-report")
        shown = " ".join(done.stdout.split())
        assert says in shown
        assert shown.count("note: simulated at 1/64") == 1


def test_a_recording_of_an_array_is_kept_with_the_counters_of_each_member(command, tmp_path):
    done = command.fine("run", "fill", "--on", f"array:raid5,chunk=64k,rebuild=1,3x{DRIVE}", "--save", "out", "--json")
    notes = [warning["text"] for warning in json.loads(done.stdout)["findings"]["warnings"]]
    assert [note.partition(" is rebuilt")[0] for note in notes if "is rebuilt" in note] == ["the spare (member 1)"]
    kept = store.load(tmp_path / "out")
    assert kept.facts["array"]["chunk_kib"] == 64
    for member in range(3):
        names = [
            f"member{member}_{name}" for name in ("written_bytes_total", "programmed_bytes_total", "slc_valid_bytes")
        ]
        assert [name for name in names if not kept.bytes[name][-1]] == []
    written = sum(kept.totals[f"member{member}_written_bytes_total"] for member in range(3))
    assert written >= 1.5 * kept.totals["host_write_bytes_total"] == 1.5 * kept.written_bytes
    assert "an array" in command.refused("rerun", "out").stderr


def test_job_files_and_traces_run_on_an_array(command, tmp_path):
    (tmp_path / "a.fio").write_text("[a]\nrw=randread\nbs=4k\nsize=8m\niodepth=4\nioengine=io_uring\ndirect=1\n")
    done = command.fine("run", "a.fio", "--on", f"array:raid10,4x{DRIVE}", "--no-report")
    assert "8.39 MB were written first" in " ".join(done.stdout.split())
    (tmp_path / "a.log").write_text("fio version 3 iolog\n0 a add\n0 a open\n1 a write 0 4096\n2000 a read 0 4096\n")
    on = f"array:raid5,4x{DRIVE}"
    done = command.fine("replay", "a.log", "--on", on, "--json")
    assert json.loads(done.stdout)["jobs"][0]["write"]["io_bytes"] == 4096
    assert (
        "--what-if tries other caches of a single drive"
        in command.refused("replay", "a.log", "--on", on, "--what-if").stderr
    )


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("raid7,2xmx500-1tb", "raid7 is no level"),
        ("raid5,2xmx500-1tb", "raid5 needs 3 members at least"),
        ("raid0,25xmx500-1tb", "24 are the most: there are 25"),
        ("raid5,failed=0,rebuild=2,3xmx500-1tb", "has lost data without these: 0, 2"),
        ("raid5,failed=3,3xmx500-1tb", "member 3 is none: there are 3"),
        ("raid5,failed=x,3xmx500-1tb", '"x" is not the number of a member'),
        ("raid0,chunk=3k,2xmx500-1tb", "a chunk of 3072 bytes"),
        ("raid0,chunk=64,2xmx500-1tb", 'chunk: "64" is not a size'),
        ("raid0,stripe=64k,2xmx500-1tb", "an array has no key stripe"),
        ("raid0,2xmx50", "did you mean mx500-1tb"),
        ("raid0,mx500-1tb,mx500-1tb,scale=1/2", "members of an array are of one scale"),
        ("raid0,2xmx500-1tb,computer=i5-8400", "a member of an array has no computer of its own"),
        ("raid0", "there are 0"),
    ],
)
def test_what_is_no_array_is_refused_with_what_to_do_instead(spec, why):
    with pytest.raises(pslc.PslcError) as refused:
        find_target(f"array:{spec}")
    assert why in f"{refused.value.message} {refused.value.hint}"
    assert refused.value.hint


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("serve",), "make the array of them with mdadm"),
        (("study", "--run", "fill", "--vary", "cache.mode=pure-xlc", "--on"), "a study runs on single drives"),
        (("run", "fill", "--size", "1GB", "--on"), "its profile sets the size"),
        (("run", "fill", "--computer", "i5-8400", "--on"), "is for simulated drives sim:NAME"),
        (("run", "fill", "--dry-run", "--on"), "--dry-run is for real drives"),
    ],
)
def test_what_no_array_does_is_refused_with_what_to_do_instead(words, why, command):
    assert why in command.refused(*words, f"array:raid0,2x{DRIVE}").stderr
