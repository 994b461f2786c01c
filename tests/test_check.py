"""The suite that tells a cache from other reasons of a fall."""

import json

import pytest

import pslc
from pslc.device.region import Expected, Scope
from pslc.suites import check
from tests.conftest import ROOT

HOT = "sim:sn850-1tb,heat.ambient=70C"


def test_a_cache_ends_at_the_same_byte_at_a_lower_rate(small):
    findings = pslc.run("check", on=small).findings
    assert findings["is_cache"] == "yes"
    assert findings["end_bytes"] == pytest.approx(800e6, rel=0.03)
    assert findings["paced_end_bytes"] == pytest.approx(findings["end_bytes"], rel=0.05)
    assert {test["rules_out"] for test in findings["tests"]} == {"heat", "link", "disk", ""}
    assert "heat does not" in check.sentences(findings)[0]


def test_heat_is_not_taken_for_a_cache():
    findings = pslc.run("check", on=HOT, scope=Scope(explains=(Expected("", 210e9, None),))).findings
    assert findings["end_bytes"] is not None
    assert findings["is_cache"] == "unknown"
    assert "heat" not in {test["rules_out"] for test in findings["tests"]}


@pytest.mark.parametrize("on", ["sim:p3700-2tb,scale=1/16", "sim:7450-max-800gb,scale=1/8"])
def test_a_drive_without_a_cache_has_none(on):
    findings = pslc.run("check", on=on).findings
    assert (findings["is_cache"], findings["end_bytes"]) == ("no", None)
    (sentence,) = check.sentences(findings)
    assert sentence.startswith("The speed does not fall within ")


def test_each_explanation_is_held_against_the_end(small):
    explanations = (Expected("right", 790e6, 0.6), Expected("elsewhere", 300e6, 0.3), Expected("none", None, 0.1))
    recording = pslc.run("check", on=small, scope=Scope(explains=explanations))
    assert recording.parts[0].written_bytes == pytest.approx(check.PAST * 790e6, rel=0.01)
    findings = recording.findings
    assert [each["holds"] for each in findings["explanations"]] == ["yes", "no", "no"]
    assert 'The explanation "elsewhere" (30 %) is wrong.' in check.sentences(findings)


def test_a_fall_that_does_not_repeat_is_none_of_this_drive_and_shows_no_other_reason(small):
    explanations = (Expected("a cache", 300e6, 0.6), Expected("a limit", None, 0.4))
    findings = pslc.run("check", on=small, scope=Scope(explains=explanations)).findings
    assert [each["holds"] for each in findings["explanations"]] == ["no", "unknown"]


def test_the_explanations_of_a_log_are_tested_by_one_command(small, command, tmp_path):
    rows = [(second, 400 if second < 2 else 100) for second in range(40)]
    log = tmp_path / "log.csv"
    log.write_text("seconds,MB/s\n" + "".join(f"{second + 1},{speed}\n" for second, speed in rows))
    process = command("run", "check", "--explains", log, "--on", small, "--json")
    (first, *_) = json.loads(process.stdout)["findings"]["explanations"]
    assert first["explanation"] == "a cache that ends after 800 MB"
    assert first["holds"] == "yes"


def test_a_log_without_a_curve_explains_nothing_and_is_refused_before_anything_is_written(command, small, tmp_path):
    log = ROOT / "tests/fixtures/inputs/once.json"
    assert json.loads(command.fine("analyze", log, "--json").stdout)["findings"]["phases"] == []
    done = command.refused("run", "check", "--on", small, "--explains", log)
    assert "once.json says nothing of a cache" in done.stderr


def test_a_recording_that_says_nothing_of_a_cache_and_another_suite_are_refused(command, small, tmp_path):
    assert command("run", "burst", "--on", small, "--save", tmp_path / "r", "--quick").returncode == 0
    for suite, message in (("check", "says nothing of a cache"), ("fill", "--explains is for the suite check")):
        process = command("run", suite, "--on", small, "--explains", tmp_path / "r")
        assert process.returncode == 2
        assert message in process.stderr
