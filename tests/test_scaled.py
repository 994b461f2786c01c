"""Scaled drives: `sim:NAME,scale=1/16`."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

import pslc
from pslc import suites
from pslc.base.errors import PslcError
from pslc.device.profiles import library
from pslc.device.target import find_target
from pslc.suites import burst, random_steady
from tests.conftest import fill

SHARES = ("slc_raw_bytes", "native_raw_bytes", "slc_superblock_bytes", "native_superblock_bytes", "pages_per_block")
SAME = ("superblocks", "blocks_per_plane", "planes", "dies", "native_limit_bytes_per_s", "slc_limit_bytes_per_s")


@pytest.mark.parametrize("name", library())
def test_every_drive_scales_to_a_sixteenth_or_an_eighth_of_its_bytes_with_as_many_superblocks(name):
    whole = find_target(f"sim:{name}").facts
    # Blocks of 872 word lines have no sixteenth.
    share = 16 if whole["pages_per_block"] % (16 * whole["bits_per_cell"]) == 0 else 8
    small = find_target(f"sim:{name},scale=1/{share}").facts
    assert {key: share * small[key] for key in SHARES} == {key: whole[key] for key in SHARES}
    assert {key: small[key] for key in SAME} == {key: whole[key] for key in SAME}


def test_a_scaled_fill_has_the_speeds_and_the_sizes_of_the_whole_one():
    recordings = fill("sim:sn850-1tb"), fill("sim:sn850-1tb,scale=1/16")
    whole, small = (recording.findings for recording in recordings)
    assert small["cache_bytes"] == pytest.approx(whole["cache_bytes"], rel=0.01)
    assert recordings[1].drive_time_s == pytest.approx(recordings[0].drive_time_s, rel=0.02)
    assert recordings[1].written_bytes == pytest.approx(recordings[0].written_bytes, rel=1e-3)
    assert recordings[1].capacity_bytes == pytest.approx(recordings[0].capacity_bytes, rel=1e-6)
    assert [phase["cause"] for phase in small["phases"]] == [phase["cause"] for phase in whole["phases"]]
    speeds = [phase["bytes_per_s"] for phase in whole["phases"]]
    assert [phase["bytes_per_s"] for phase in small["phases"]] == pytest.approx(speeds, rel=0.03)


def test_what_is_said_beside_the_scale_is_of_the_whole_drive():
    said = find_target("sim:aldrin-pro-2tb,cache.dynamic=160GB,scale=1/16").profile
    assert 'dynamic = "10GB"' in said
    assert said == find_target("sim:aldrin-pro-2tb,scale=1/16,cache.dynamic=160GB").profile


def test_the_keys_that_were_divided_by_hand_are_those_that_the_scale_divides():
    by_hand = "capacity=62.5GB,nand.pages_per_block=72,nand.slc.erase=312500ns,nand.native.erase=375us"
    by_hand += ",cache.dynamic=17562500kB,cache.dynamic_least=1250MB"
    first, second = (find_target(f"sim:sn850-1tb,{what}").profile for what in (by_hand, "scale=1/16"))
    assert first.partition("[provenance]")[0] == second.partition("[provenance]")[0]


def test_a_drive_larger_than_a_map_can_number_is_run_at_a_scale_and_refused_whole():
    large = "sim:d5-p5336-61tb,ftl.map_unit=4KiB"
    with pytest.raises(PslcError, match="mapping units of 4KiB"):
        find_target(large)
    small = find_target(f"{large},scale=1/16")
    assert small.capacity_bytes == 61_440_000_000_000 // 16
    with pytest.raises(PslcError, match="mapping units of 4KiB"):
        find_target(f"{large},scale=1/2")


def test_a_map_cache_keeps_its_share_of_the_map():
    whole, small = (find_target(f"sim:sn550-1tb{more}").profile for more in ("", ",scale=1/4"))
    assert _map_bytes(small) == _map_bytes(whole) * Fraction(1, 4)


def _map_bytes(profile: str) -> int:
    from pslc.base import units

    return units.size(profile.partition('\nmap = "')[2].partition('"')[0], "map")


@pytest.mark.parametrize(
    ("scale", "said"),
    [
        ("1/7", "1152 pages in 384 word lines"),
        ("2", "a fraction of the drive"),
        ("0/4", "a fraction of the drive"),
        ("1/0", "a fraction of the drive"),
        ("half", "a fraction of the drive"),
    ],
)
def test_a_scale_that_does_not_come_out_is_refused(scale, said):
    with pytest.raises(PslcError, match=said):
        find_target(f"sim:sn850-1tb,scale={scale}")


def test_a_recording_says_that_its_drive_is_scaled_and_where_that_matters(command):
    done = command("run", "fill", "--on", "sim:sn850-1tb,scale=1/16", "--json")
    said = json.loads(done.stdout)
    assert said["facts"]["scale"] == "1/16"
    assert said["warnings"][-1]["text"].startswith("simulated at 1/16 of the size, 62.5 GB: suites multiply")
    assert not any("scale" in warning["text"] for warning in said["findings"]["warnings"])
    warned = pslc.run("copy", on="sim:pm871b-128gb,scale=1/16", scope=pslc.Scope(quick=True)).findings["warnings"]
    assert any("scaled to 1/16, but its files have fixed sizes" in warning for warning in warned)


def test_recovery_of_a_scaled_drive_is_that_of_the_whole_one(command, tmp_path):
    whole, small = (
        pslc.run("recovery", on=f"sim:pm871b-128gb{scale}", scope=pslc.Scope(quick=True))
        for scale in ("", ",scale=1/4")
    )
    for name in ("cache_bytes", "filled_bytes", "idle_threshold_s", "migration_bytes_per_s"):
        assert small.findings[name] == pytest.approx(whole.findings[name], rel=0.1), name
    longest = max(row["idle_s"] for row in small.findings["recovery"])
    assert longest == pytest.approx(4 * 300.0, rel=0.01), "the threshold is the same on both"
    assert suites.load("recovery").pictures(small)[0].lines[0].points[0].max() == longest
    pslc.save(small, tmp_path / "run")
    assert pslc.load(tmp_path / "run").findings == small.findings
    page = Path(command("report", tmp_path / "run").stdout.strip()).read_text(encoding="utf-8")
    assert "simulated at 1/4 of the size" in page


def test_what_states_its_own_sizes_is_of_the_scaled_drive(tmp_path):
    (tmp_path / "job.fio").write_text("[w]\nrw=write\nbs=1m\nsize=1g\n", encoding="utf-8")
    assert pslc.run(tmp_path / "job.fio", on="sim:pm871b-128gb,scale=1/4").written_bytes == 1 << 30
    files = pslc.run("copy", on="sim:pm871b-128gb,scale=1/4", scope=pslc.Scope(quick=True))
    assert files.capacity_bytes == 32_000_000_000


def test_a_write_buffer_is_not_multiplied_and_nor_is_the_axis_of_its_bursts():
    recording = pslc.run("burst", on="sim:sn850-1tb,scale=1/16", scope=pslc.Scope(quick=True))
    assert recording.findings["buffer_bytes"] < 3e7
    assert max(line.points[0].max() for line in suites.load("burst").pictures(recording)[0].lines) <= burst.BURST


def test_random_writes_within_a_part_of_a_scaled_drive_are_within_that_part_of_the_whole_one():
    recording = pslc.run("random-steady", on="sim:p3700-2tb,scale=1/16", scope=pslc.Scope(quick=True))
    assert [row["span_bytes"] for row in recording.findings["random_steady"]][1] == random_steady.SPAN


def test_a_warning_with_sizes_has_those_of_the_whole_drive():
    quick = pslc.run("fill", on="sim:sn850-1tb,scale=1/16", scope=pslc.Scope(quick=True)).findings
    assert quick["warnings"][0].startswith("only 500 GB of 1000 GB was written")


def test_a_twin_is_not_fitted_to_a_scaled_drive():
    with pytest.raises(PslcError, match="of a scaled drive"):
        pslc.fit(fill("sim:sn850-1tb,scale=1/16"))


def test_a_cache_that_is_small_beside_the_write_buffer_raises_a_warning():
    for by, warned in (("1/2", False), ("1/4", False), ("1/16", True)):
        warnings = fill(f"sim:pm871b-128gb,scale={by}").findings["warnings"]
        assert any("no longer large beside its write buffer" in warning for warning in warnings) == warned, by


def test_suites_that_warning_a_scale_are_suites():
    assert {name for name in suites.names() if suites.unlike_scaled(name)} >= {"cdm", "qd-sweep", "thermal"}


def test_a_drive_that_was_trimmed_whole_and_left_idle_writes_as_a_fresh_one(tmp_path):
    whole = "bs=1m\niodepth=32\nsize=100%\n"
    text = f"[fresh]\nrw=write\n{whole}[empty]\nstonewall\nrw=trim\n{whole}"
    text += f"[again]\nstonewall\npause=30m\nrw=write\n{whole}"
    (tmp_path / "again.fio").write_text(text, encoding="utf-8")
    fresh, _, again = pslc.run(tmp_path / "again.fio", on="sim:660p-1tb,scale=1/16").jobs
    assert again["write"]["runtime_ns"] == pytest.approx(fresh["write"]["runtime_ns"], rel=0.005)


def test_faster_pslc_ends_the_fast_phase_sooner_where_folding_goes_on_beside_it():
    usual, fast = (fill(f"sim:p44-pro-2tb,scale=1/16{key}").findings for key in ("", ",nand.slc.program=66us"))
    ends = [findings["phases"][0]["to_bytes"] for findings in (usual, fast)]
    assert ends == pytest.approx([738e9, 704e9], rel=0.01)
    assert fast["fill_mean_bytes_per_s"] / usual["fill_mean_bytes_per_s"] == pytest.approx(0.995, abs=0.002)
