"""Published drives come out of their profiles: cache, phases and averages emerge, only the mode is changed."""

import re

import pytest

import pslc
from pslc.device import drive_files, parts
from pslc.device.profiles import library
from pslc.device.target import find_target
from tests.conftest import fill


def phases(target: str) -> list[tuple[str, float, float]]:
    """Cause, speed in MB/s and end in GB of each phase."""
    found = fill(target).findings["phases"]
    return [(phase["cause"], phase["bytes_per_s"] / 1e6, phase["to_bytes"] / 1e9) for phase in found]


def test_the_aldrin_has_three_phases_where_and_as_fast_as_published():
    (first, second, third), findings = phases("sim:aldrin-pro-2tb"), fill("sim:aldrin-pro-2tb").findings
    assert findings["cache_bytes"] == pytest.approx(691e9, rel=0.03)
    assert findings["cache_bytes_low"] <= findings["cache_bytes"] <= findings["cache_bytes_high"]
    assert [first[0], second[0], third[0]] == ["pslc", "direct", "fold"]
    assert [first[1], second[1], third[1]] == pytest.approx([6579, 2159, 863], rel=0.05)
    assert second[2] == pytest.approx(868, rel=0.03)
    assert findings["fill_mean_bytes_per_s"] == pytest.approx(1335e6, rel=0.05)
    assert findings["doubts"] == []


def test_the_aldrin_as_pure_xlc_is_flat():
    ((cause, speed, end),) = phases("sim:aldrin-pro-2tb,cache.mode=pure-xlc")
    assert cause == "native"
    assert 2100 <= speed <= 2250
    assert end == pytest.approx(2000, rel=1e-4)
    assert fill("sim:aldrin-pro-2tb,cache.mode=pure-xlc").findings["cache_bytes"] is None


def test_the_aldrin_as_pure_slc_is_small_and_fast_to_the_end():
    ((cause, speed, end),) = phases("sim:aldrin-pro-2tb,cache.mode=pure-slc")
    assert cause == "pslc"
    assert speed == pytest.approx(6579, rel=0.05)
    assert end == pytest.approx(640, rel=0.03)


def test_the_sn850_folds_first_and_recovers():
    first, second, third = phases("sim:sn850-1tb")
    assert fill("sim:sn850-1tb").findings["cache_bytes"] == pytest.approx(280e9, rel=0.03)
    assert first[0] == "pslc"
    assert first[1] > 5000
    assert second[0] == "fold"
    assert second[1] == pytest.approx(1100, rel=0.05)
    assert third[0] == "native"
    assert third[1] > 2000


def test_on_pcie_3_the_first_phase_of_the_sn850_is_bound_by_the_link():
    first, second, _ = phases("sim:sn850-1tb,link=pcie3x4")
    assert first[0] == "link"
    assert 3000 <= first[1] <= 3500
    assert second[1] == pytest.approx(1100, rel=0.05)


def test_a_full_sn850_writes_at_native_speed_from_the_first_second(tmp_path):
    import pslc

    job = tmp_path / "again.fio"
    job.write_text("[global]\nrw=write\nbs=1m\nioengine=io_uring\niodepth=32\n[first]\n[again]\nstonewall\n")
    recording = pslc.run(job, on="sim:sn850-1tb")
    written = recording.time["write_bytes"].cumsum()
    ends = recording.time["end_ns"]
    begin = int((written < recording.capacity_bytes).sum())
    for second in (1, 5, 60):
        end = int((ends < ends[begin] + second * 1e9).sum())
        speed = (written[end] - written[begin]) / (ends[end] - ends[begin]) * 1e3
        assert speed == pytest.approx(2000, rel=0.05), second


def test_the_pm871b_has_a_small_buffer_and_then_162():
    first, second = phases("sim:pm871b-128gb")
    assert (first[0], second[0]) == ("pslc", "direct")
    assert [first[1], second[1]] == pytest.approx([435, 162], rel=0.05)


def test_the_fx700_has_a_cache_of_two_tiers():
    recording = fill("sim:fx700-2tb")
    first, second, third = recording.findings["phases"]
    assert [phase["cause"] for phase in (first, second, third)] == ["pslc", "pslc", "fold"]
    assert [phase["to_bytes"] / 1e9 for phase in (first, second)] == pytest.approx([54, 460], rel=0.02)
    assert "cells of one bit take 5066 MB/s, cells of two 3554 MB/s" in second["because"]
    assert recording.facts["mlc_superblock_bytes"] == 2 * recording.facts["slc_superblock_bytes"]


def test_the_p44_pro_is_fast_for_more_than_a_third_as_it_folds_beside():
    first, second, _ = phases("sim:p44-pro-2tb")
    assert (first[0], second[0]) == ("pslc", "fold")
    assert [first[1], second[1]] == pytest.approx([5700, 1750], rel=0.03)
    assert fill("sim:p44-pro-2tb").findings["cache_bytes"] == pytest.approx(760e9, rel=0.02)


def test_a_formatted_p44_pro_takes_its_first_16_gb_slowly(tmp_path):
    path, first, second = tmp_path / "disk.pslc", tmp_path / "first.fio", tmp_path / "second.fio"
    first.write_text("[first]\nrw=write\nbs=1m\nsize=15g\n")
    second.write_text("[second]\nrw=write\nbs=1m\noffset=16g\nsize=16g\n")
    drive_files.create(path, "p44-pro-2tb")

    def speeds() -> list[float]:
        recordings = [pslc.run(job, on=str(path)) for job in (first, second)]
        return [
            recording.jobs[0]["write"]["io_bytes"] / recording.jobs[0]["write"]["runtime_ns"]
            for recording in recordings
        ]

    assert speeds() == pytest.approx([5.6, 5.6], rel=0.02)
    kept = drive_files.open_kept(path)
    kept.format([])
    kept.save()
    del kept
    assert speeds() == pytest.approx([1.1, 5.6], rel=0.05)


@pytest.mark.parametrize("static_gb", [4, 12, 24])
def test_a_660p_keeps_to_its_shrinking_limit_however_large_its_static_part_is(static_gb):
    recording = pslc.run("fill", on=f"sim:660p-1tb,scale=1/16,cache.static={static_gb}GB")
    superblock = 8 * 4 * 16384 * 1024 // 4 // 16  # pSLC, of a scaled drive
    limit = recording.bytes["cache_limit_bytes"] // superblock
    above = int((recording.bytes["slc_superblocks"].astype(int) - limit.astype(int)).max())
    # The one that is being folded, and the one that the host fills.
    assert above <= 2


@pytest.mark.parametrize("name", library())
def test_no_profile_holds_what_must_emerge_and_every_value_has_a_source(name):
    import tomllib

    text = library()[name]
    assert not re.search(r"MB/s\"|cliff|phase", re.sub(r"#.*|\[provenance\][\s\S]*", "", text))
    profile = tomllib.loads(text)
    sources = profile.pop("provenance")

    def keys(table, prefix=""):
        for key, value in table.items():
            if isinstance(value, dict):
                yield from keys(value, f"{prefix}{key}.")
            else:
                yield prefix + key

    for key in keys(profile):
        covered = key in sources or any(key.startswith(f"{table}.") for table in sources)
        assert covered or key == "base", key


@pytest.mark.parametrize("name", library())
def test_every_drive_knows_wear_power_and_heat_and_says_where_from(name):
    import tomllib

    target = find_target(f"sim:{name}")
    whole, sources = tomllib.loads(target.profile), dict(target.provenance)
    assert whole["wear"]["native_cycles"] <= whole["wear"]["slc_cycles"]
    profile = tomllib.loads(library()[name])
    for table in ("power", "heat", "wear"):
        if table not in profile:  # From its parts: a source for each value that is no default.
            notes = [note for key, note in sources.items() if key.startswith(f"{table}.")]
            assert len(notes) > 1, (name, table)
            assert all(notes), (name, table)
            continue
        told = profile["provenance"][table]
        assert told.startswith(("assumed", "calibrated", "stated")), (name, table)
        for named in re.findall(r"as the parts? (\S+)(?: and (\S+))?", told):
            assert [parts.part(one).name for one in named if one] == [one for one in named if one]
