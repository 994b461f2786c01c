"""Scaled drives: `sim:NAME,scale=1/16`."""

import json
from fractions import Fraction

import pytest

import pslc
from pslc import suites
from pslc.base.errors import PslcError
from pslc.device.profiles import library
from pslc.device.target import find_target
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


def test_a_scaled_fill_has_the_speeds_of_the_whole_one_and_its_share_of_the_sizes():
    whole, small = fill("sim:sn850-1tb").findings, fill("sim:sn850-1tb,scale=1/16").findings
    assert small["cache_bytes"] == pytest.approx(whole["cache_bytes"] / 16, rel=0.01)
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
    assert any("scaled to 1/16" in note for note in said["notes"])
    assert not any("scale" in doubt["text"] for doubt in said["findings"]["doubts"])
    doubted = pslc.run("copy", on="sim:pm871b-128gb,scale=1/16", scope=pslc.Scope(quick=True)).findings["doubts"]
    assert any("scaled to 1/16, but its files have fixed sizes" in doubt for doubt in doubted)


def test_a_cache_that_is_small_beside_the_write_buffer_is_doubted():
    for by, doubted in (("1/2", False), ("1/4", False), ("1/16", True)):
        doubts = fill(f"sim:pm871b-128gb,scale={by}").findings["doubts"]
        assert any("no longer large beside its write buffer" in doubt for doubt in doubts) == doubted, by


def test_suites_that_doubt_a_scale_are_suites():
    assert {name for name in suites.names() if suites.unlike_scaled(name)} >= {"cdm", "qd-sweep", "thermal"}
