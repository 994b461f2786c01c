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
    # The cells take more than the link in the first phase.
    assert [first[0], second[0], third[0]] == ["link", "direct", "fold"]
    assert [first[1], second[1], third[1]] == pytest.approx([6579, 2159, 863], rel=0.05)
    assert second[2] == pytest.approx(868, rel=0.03)
    assert findings["fill_mean_bytes_per_s"] == pytest.approx(1335e6, rel=0.05)
    assert findings["warnings"] == []


@pytest.mark.parametrize(
    ("target", "causes", "speeds", "end_gb"),
    [
        ("aldrin-pro-2tb,cache.mode=pure-xlc", ["native"], [2162], 2000),
        ("aldrin-pro-2tb,cache.mode=pure-slc", ["link"], [6579], 640),
        ("sn850-1tb", ["pslc", "direct", "native"], [5578, 1100, 2048], 280),
        ("sn850-1tb,link=pcie3x4", ["link", "direct", "native"], [3316, 1100, 2048], 280),
        ("pm871b-128gb", ["pslc", "direct"], [435, 162], 3),
        ("p44-pro-2tb", ["pslc", "direct", "native"], [5700, 1750, 3146], 737),
    ],
)
def test_a_drive_has_the_phases_of_its_review(target, causes, speeds, end_gb):
    shown = phases(f"sim:{target}")
    assert [cause for cause, _, _ in shown] == causes
    assert [speed for _, speed, _ in shown] == pytest.approx(speeds, rel=0.05)
    assert shown[0][2] == pytest.approx(end_gb, rel=0.03)
    if len(causes) == 1:
        assert fill(f"sim:{target}").findings["cache_bytes"] is None


@pytest.mark.parametrize("name", ["sn850-1tb", "p44-pro-2tb"])
def test_requests_wait_for_their_own_programs_and_for_the_folding_beside_them(name):
    assert fill(f"sim:{name}").findings["phases"][1]["shares"]["fold"] > 0.3


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


def test_the_fx700_has_a_cache_of_two_tiers():
    recording = fill("sim:fx700-2tb")
    first, second, third = recording.findings["phases"]
    assert [phase["cause"] for phase in (first, second, third)] == ["pslc", "pslc", "fold"]
    assert [phase["to_bytes"] / 1e9 for phase in (first, second)] == pytest.approx([54, 460], rel=0.02)
    assert "cells of one bit take 5066 MB/s, cells of two 3554 MB/s" in second["because"]
    assert recording.facts["mlc_superblock_bytes"] == 2 * recording.facts["slc_superblock_bytes"]


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

    assert speeds() == pytest.approx([5.6, 5.6], rel=0.06)
    kept = drive_files.open_kept(path)
    kept.format([])
    kept.save()
    del kept
    assert speeds() == pytest.approx([1.1, 5.6], rel=0.05)


def test_a_hybrid_cache_is_small_on_a_drive_that_is_nearly_full(tmp_path):
    """ht4u.net, PCIe round-up of 2017: a 960 EVO with 10 GB free has 4 GB of cache left."""
    (tmp_path / "full.fio").write_text(
        "[global]\nrw=write\nbs=1m\niodepth=32\ndirect=1\n[fill]\nsize=98%\n[again]\nstonewall\npause=3600\nsize=750m\n"
    )

    def again(target: str) -> float:
        write = pslc.run(tmp_path / "full.fio", on=f"sim:{target},scale=1/16").jobs[-1]["write"]
        return write["io_bytes"] / write["runtime_ns"] * 1e3

    # 12 GB of the whole drive: a cache of 22 GB takes them all, one of 7 GB less than two thirds.
    assert again("970-evo-500gb") < 1150 < 2200 < again("970-evo-500gb,cache.shrink_from=100%,cache.shrink_to=100%")
    cache = {"static": "6GB", "dynamic": "72GB"}
    values = parts.profile(nand="samsung-v5-qlc-1t", controller="samsung-mkx", capacity="4TB", cache=cache).values
    assert (values["cache.shrink_from"], values["cache.shrink_to"]) == ("92.8%", "98%")


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
    for table in ("power", "heat", "wear"):
        if table not in sources:  # From its parts: a source for each value that is no default.
            notes = [note for key, note in sources.items() if key.startswith(f"{table}.")]
            assert len(notes) > 1, (name, table)
            assert all(notes), (name, table)
            continue
        told = sources[table]
        assert told.startswith(("assumed", "calibrated", "stated")), (name, table)
        for named in re.findall(r"as the parts? (\S+)(?: and (\S+))?", told):
            assert [parts.part(one).name for one in named if one] == [one for one in named if one]


def test_a_ufs_drive_has_the_published_speeds_with_its_buffer_on_and_off():
    on, no_flush, off = pslc.run("modes", on="sim:ufs40-256gb", scope=pslc.Scope(quick=True)).findings["modes"]
    assert on["fast_bytes_per_s"] == pytest.approx(1568 << 20, rel=0.03)
    assert off["mean_bytes_per_s"] == pytest.approx(556 << 20, rel=0.03)
    assert no_flush["fast_bytes_per_s"] == pytest.approx(on["fast_bytes_per_s"], rel=0.01)
    assert on["again_fast_bytes"] > 0.9 * on["cache_bytes"]
    assert no_flush["again_fast_bytes"] < 0.02 * on["cache_bytes"]


def test_a_phone_writes_two_to_three_times_as_fast_with_its_buffer_as_without():
    first, past = phases("sim:ufs31-256gb")[:2]
    assert first[1] == pytest.approx(1200, rel=0.03)
    assert 2 < first[1] / past[1] < 3


def test_an_emmc_reads_and_writes_as_boards_do(tmp_path):
    assert phases("sim:emmc51-64gb")[1][1] == pytest.approx(40, rel=0.03)
    job = tmp_path / "job.fio"
    job.write_text("[a]\nrw=write\nbs=1m\nsize=4g\nfsync=4096\n[b]\nstonewall\nrw=read\nbs=1m\nsize=4g\n")
    read = pslc.run(job, on="sim:emmc51-64gb").jobs[1]
    assert read["read"]["io_bytes"] / read["read"]["runtime_ns"] * 1e3 == pytest.approx(166, rel=0.05)


def test_a_link_that_carries_one_command_at_a_time_ignores_the_depth(tmp_path):
    speeds = {}
    for link in ("emmc-hs400", "emmc-hs400-cqe"):
        job = tmp_path / "job.fio"
        job.write_text("[a]\nrw=randread\nbs=4k\nsize=64m\niodepth=32\nioengine=io_uring\n")
        recording = pslc.run(job, on=f"sim:emmc51-64gb,link={link},controller.cores=8,nand.bus=1600MT/s")
        speeds[link] = 1 / recording.jobs[0]["read"]["runtime_ns"]
    assert speeds["emmc-hs400-cqe"] > 1.3 * speeds["emmc-hs400"]


def test_a_worn_cache_is_off_for_good(tmp_path):
    worn = "sim:pm871b-128gb,capacity=4GB,cache.static=200MB,cache.dead=free-at-once,wear.slc_cycles=2"
    fills = "[global]\nrw=write\nbs=1m\nsize=300m\n" + "".join(f"[f{n}]\nstonewall\npause=60s\n" for n in range(6))
    job = tmp_path / "job.fio"
    job.write_text(fills)
    speeds = {
        rule: [
            row["write"]["io_bytes"] / row["write"]["runtime_ns"]
            for row in pslc.run(job, on=f"{worn},cache.worn={rule}").jobs
        ]
        for rule in ("off", "goes-on")
    }
    assert speeds["off"][0] == speeds["goes-on"][0] > 1.3 * speeds["off"][-1]
    assert speeds["goes-on"][-1] == pytest.approx(speeds["goes-on"][0], rel=0.1)
