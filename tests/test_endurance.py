"""The suite `endurance` against closed forms, on a small drive."""

import re

import pytest
from benches.small import PROFILE

import pslc
from pslc.recording import wear
from pslc.suites import endurance

WEAR = "\n[wear]\nslc_cycles = 30000\nnative_cycles = 3000\n"


def life(folder, mode: str) -> dict[str, float]:
    path = folder / "small.toml"
    path.write_text(PROFILE + WEAR)
    return dict(pslc.run("endurance", on=f"sim:{path},cache.mode={mode},cache.static=160MB").findings)


def test_without_a_cache_each_block_is_programmed_once_for_each_byte(tmp_path):
    found = life(tmp_path, "pure-xlc")
    assert found["waf"] == pytest.approx(1, rel=0.01)
    raw = 4 * 2 * 780 * 96 * 16384
    assert found["life_bytes"] == pytest.approx(3000 * raw, rel=0.01)


def test_a_cache_costs_life_and_pure_pslc_gives_most(tmp_path):
    fills = {mode: life(tmp_path, mode)["life_fills"] for mode in ("pure-xlc", "dynamic-slc", "pure-slc")}
    assert fills["dynamic-slc"] < fills["pure-xlc"] < fills["pure-slc"]


def test_through_a_dynamic_cache_each_byte_is_programmed_twice(tmp_path):
    found = life(tmp_path, "dynamic-slc")
    assert found["slc_per_host"] == pytest.approx(1, abs=0.02)
    assert found["folded_per_host"] == pytest.approx(1, abs=0.1)
    raw = 4 * 2 * 780 * 96 * 16384
    per_byte = found["slc_per_host"] * 3 / raw / 30000 + (found["waf"] - found["slc_per_host"]) / raw / 3000
    assert found["life_bytes"] == pytest.approx(1 / per_byte, rel=0.01)


def test_cells_of_two_bits_wear_as_native_ones_and_the_static_part_as_often_as_it_is_erased(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(PROFILE + WEAR + "\n[nand.mlc]\nread = '30us'\nprogram = '600us'\nerase = '2ms'\n")
    on = f"sim:{path},cache.mode=hybrid-slc,cache.static=60MB,cache.dynamic_cells=mlc,cache.idle.threshold=1ms"
    job = tmp_path / "again.fio"
    job.write_text("[global]\nrw=write\nbs=1m\nthinktime=20ms\nthinktime_blocks=64\n[run]\nloops=4\n")
    recording = pslc.run(job, on=on)
    facts, totals, worn = recording.facts, recording.totals, wear.of_wear(recording)
    planes, static = facts["dies"] * facts["planes"], facts["static_superblocks"]
    main = facts["superblocks"] - static
    # Each superblock that is opened was erased before, but for the first time.
    natively = (totals["native_erases_total"] / planes + main) / main / facts["native_cycles"]
    assert worn["wear_main"] == pytest.approx(natively, rel=0.1)
    at_one_bit = totals["static_erases_total"] / planes / static + 1
    assert totals["static_erases_total"] == totals["slc_erases_total"] > 0
    assert worn["wear_static"] == pytest.approx(at_one_bit / facts["slc_cycles"], rel=0.1)


@pytest.mark.parametrize("mode", ["pure-xlc", "dynamic-slc", "static-slc"])
def test_write_amplification_is_told_in_parts_that_add_up_to_it(tmp_path, mode):
    said = endurance.sentences(life(tmp_path, mode))[1]
    whole, *parts = (float(number) for number in re.findall(r"\d+\.\d+", said))
    assert sum(parts) == pytest.approx(whole, abs=0.03), said


def test_a_small_static_cache_wears_out_first(tmp_path):
    found = life(tmp_path, "static-slc")
    assert found["wear_static"] > found["wear_main"]


def test_a_profile_without_wear_says_what_is_missing(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(PROFILE)
    findings = pslc.run("endurance", on=f"sim:{path}").findings
    assert findings["life_bytes"] is None
    assert "add slc_cycles" in findings["warnings"][0]


def test_a_drive_that_is_written_beyond_its_cycles_says_when_they_were_spent(tmp_path):
    path, job = tmp_path / "small.toml", tmp_path / "long.fio"
    path.write_text(PROFILE + "\n[wear]\nslc_cycles = 30\nnative_cycles = 3\n")
    job.write_text("[a]\nrw=write\nbs=1m\niodepth=8\nioengine=io_uring\ndirect=1\nloops=9\n")
    recording = pslc.run(job, on=f"sim:{path},cache.mode=pure-xlc")
    worn = [warning for warning in recording.findings["warnings"] if warning.code == "worn-out"]
    assert len(worn) == 1
    raw = 3 * 4 * 2 * 4 * 780 * 96 * 16384 / 4
    spent = wear.spent(recording)
    # Without a cache each byte programs each cell once: three times all of the cells are its life.
    assert spent.written_bytes == pytest.approx(raw, rel=0.02)
    assert spent.lives == pytest.approx(recording.written_bytes / raw, rel=0.02)
    assert spent.after_s == pytest.approx(recording.drive_time_s / spent.lives, rel=0.05)


def test_a_drive_within_its_life_has_no_such_warning(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(PROFILE + WEAR)
    warnings = pslc.run("sustained", on=f"sim:{path}", scope=pslc.Scope(quick=True)).findings["warnings"]
    assert "worn-out" not in [warning.code for warning in warnings]
