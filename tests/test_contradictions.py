"""No finding of a simulated run contradicts the profile and the counters of its own drive, and one that did would be
told."""

import re
from typing import Any

import pytest

import pslc
from pslc.analysis import sentences
from pslc.device import drive_files
from pslc.device.region import Scope
from pslc.recording.contradictions import _denied, _Drive, contradictions
from pslc.recording.model import Recording
from tests import scaled
from tests.conftest import ROOT
from tests.contradictions import DRAWN, PAGE, cells, seed_of_today

SMALL, TIERS = "sim:pm871b-128gb,scale=1/4", "fx700-2tb"


@pytest.fixture(scope="module")
def run() -> Any:
    """A quick run of a suite, once."""
    done: dict[str, Recording] = {}

    def recording(suite: str, on: str = SMALL) -> Recording:
        if (key := f"{suite} {on}") not in done:
            done[key] = pslc.run(suite, on=on, scope=Scope(quick=True))
        return done[key]

    return recording


@pytest.mark.parametrize(
    ("suite", "changes", "name"),
    [
        ("recovery", {"idle_threshold_s": 60.0, "idle_threshold_s_low": 59.0, "idle_threshold_s_high": 61.0},
         "idle_threshold_s is 1 min"),
        ("recovery", {"idle_threshold_s": None, "idle_threshold_s_low": 1800.0}, "is more than 30 min"),
        ("recovery", {"migration_bytes_per_s_low": 2e9}, "migration_bytes_per_s"),
        ("recovery", {"residue_bytes": 4e9, "residue_bytes_low": 3.9e9, "residue_bytes_high": 4.1e9}, "residue_bytes"),
        ("burst", {"buffer_bytes": 2e6, "buffer_bytes_low": 1.9e6, "buffer_bytes_high": 2.1e6}, "buffer_bytes"),
        ("fill", {"cache_bytes": 2e10}, "only"),
        ("fill", {"cache_bytes": 1.6e9, "cache_bytes_high": 1.6e9}, "of what follows goes into the cache as well"),
        ("fill", {"fill_mean_bytes_per_s": 7e8}, "the link carries"),
        ("endurance", {"life_bytes": 1e18}, "life_bytes"),
    ],
)  # fmt: skip
def test_a_finding_that_the_drive_refutes_is_told(run, suite, changes, name):
    recording = run(suite)
    assert contradictions(recording) == []
    before = dict(recording.findings)
    recording.findings |= changes
    assert name in str(contradictions(recording))
    recording.findings |= before


def test_a_cache_that_is_used_again_once_it_is_empty_is_found_by_fill_and_recovery(run):
    """Its cycles begin with the write, and a native superblock is two fifths of it."""
    on = "sim:rocket-q-1tb,cache.mode=static-slc,cache.static=2.002GB,cache.when_full=direct-while-folding"
    on += ",cache.host_share=29%,cache.reuse=when-empty,cache.idle.threshold=332ms,cache.idle.rate=25MB/s"
    fill, recovery = (run(suite, f"{on},controller.write_buffer=4MiB").findings for suite in ("fill", "recovery"))
    assert fill["cache_bytes_low"] <= 2.002e9 <= fill["cache_bytes_high"]
    assert [phase["cause"] for phase in fill["phases"]] == ["pslc", "fold"]
    assert recovery["idle_threshold_s_low"] <= 0.332 <= recovery["idle_threshold_s_high"]
    assert recovery["migration_bytes_per_s_low"] <= 25e6 <= recovery["migration_bytes_per_s_high"]
    assert recovery["migration_bytes_per_s"] == pytest.approx(25e6, rel=0.3)


@pytest.mark.parametrize(
    ("drive", "static", "low", "high"),
    [("rocket-q-1tb", "2GB", 1.7e9, 2.1e9), ("p44-pro-2tb", "2.5GB", 2.5e9, 3.1e9),
     ("aldrin-pro-2tb", "3GB", 2.9e9, 3.3e9), ("870-qvo-4tb", "6GB", 6e9, 6.3e9)],
)  # fmt: skip
def test_a_cache_that_is_small_beside_its_drive_is_a_phase(run, drive, static, low, high):
    recording = run("fill", f"sim:{drive},cache.mode=static-slc,cache.static={static}")
    assert low < recording.findings["cache_bytes"] < high
    assert str(recording.findings.warnings).count("contradict") == 0


@pytest.mark.parametrize(("drive", "static"), [("fx700-2tb", "1GB"), ("870-qvo-4tb", "750MB")])
def test_a_cache_of_less_than_a_sample_is_never_denied(run, drive, static):
    recording = run("fill", f"sim:{drive},cache.mode=static-slc,cache.static={static}")
    assert recording.findings["cache_bytes_low"] is None
    assert "was full after" in str(recording.findings.warnings)
    assert not any("cache" in line for line in sentences.describe(dict(recording.findings)))
    unwarned = {**recording.findings, "warnings": []}
    assert [name for name, *_ in _denied(unwarned, _Drive(recording))] == ["cache_bytes"]


def test_a_phase_of_two_speeds_or_of_another_cause_is_told(run):
    recording = run("fill")
    whole = recording.findings["phases"]
    joined = {**whole[-1], "from_bytes": 0, "cause": "gc", "spread": 0.0}
    recording.findings["phases"] = [joined]
    refuted = str(contradictions(recording))
    assert "were written at" in refuted
    assert "gc_bytes_total did not rise" in refuted
    recording.findings["phases"] = whole


def test_a_temperature_above_that_of_the_chips_is_told(run):
    recording = run("thermal", "sim:sn850-1tb,scale=1/16")
    assert contradictions(recording) == []
    recording.findings["thermal"][0]["most_c"] += 30.0
    assert "most_c" in str(contradictions(recording))


def test_recovery_and_overwrite_know_a_cache_of_two_tiers(run):
    recovery = run("recovery", scaled.spec(TIERS))
    assert recovery.findings["idle_threshold_s_low"] <= 1.0 <= recovery.findings["idle_threshold_s_high"]
    assert recovery.findings["migration_bytes_per_s"] < recovery.facts["native_write_bytes_per_s"]
    overwrite = run("overwrite", scaled.spec(TIERS))
    assert overwrite.findings["cache_bytes"] == pytest.approx(overwrite.facts["cache_bytes"], rel=0.02)


def test_an_erased_drive_that_erases_beside_writes_has_a_slow_phase_at_first(tmp_path):
    drive = drive_files.create(tmp_path / "drive.pslc", "p44-pro-2tb")
    drive_files.format_drive(drive, drive_files.mode_of(drive), {})
    drive.save()
    drive.close()
    first, second, *_ = pslc.run("fill", on=str(tmp_path / "drive.pslc")).findings["phases"]
    assert (first["cause"], second["cause"]) == ("erase", "pslc")
    assert first["to_bytes"] == pytest.approx(16.1e9, rel=0.01)
    assert 4 < second["bytes_per_s"] / first["bytes_per_s"] < 6


def test_a_large_write_buffer_is_no_cache(run):
    assert run("overwrite", scaled.spec("cm6-30tb")).findings["cache_bytes"] is None


def test_the_interval_of_a_buffer_holds_it_where_flushes_cost_nothing(run):
    findings = run("burst", "sim:7450-max-800gb").findings
    assert findings["buffer_bytes_low"] <= 8 << 20 <= findings["buffer_bytes_high"]


def test_the_page_says_that_no_cell_contradicts():
    asked = re.search(r"Of (\d+) cells 0 contradict \(drawn with SEED=\d+ from (\d+)", (ROOT / PAGE).read_text())
    assert asked, "make contradictions"
    assert int(asked[1]) > 2000
    assert int(asked[2]) == len(cells(0))


@pytest.mark.long
@pytest.mark.parametrize("cell", cells(seed_of_today())[:DRAWN], ids=str)
def test_a_cell_does_not_contradict(cell):
    assert not cell.contradictions()
