"""The suite `endurance` against closed forms, on a small drive."""

import re

import pytest
from benches.small import PROFILE

import pslc
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
    assert "add slc_cycles" in findings["doubts"][0]
