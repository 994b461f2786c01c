"""Each suite on a small simulated drive, whose hidden parameters it has to find."""

import itertools
import mmap
import os
import re
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from benches import intervals
from benches.small import PROFILE

import pslc
from pslc import suites
from pslc.analysis import sentences
from pslc.analysis.recovery import Interval, RecoveryEstimate
from pslc.device import probe, reading
from pslc.device.region import Budget, Scope, find_region
from pslc.device.target import RealOptions, find_target
from pslc.figures.picture import Table
from pslc.recording import store
from pslc.recording.warnings import rests_are_assumed
from pslc.report import page, recording_view, terminal
from pslc.runner import campaign
from pslc.schema.unknown import unknown
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import apps, burst, old_data, random_steady, recovery, thermal
from tests import scaled
from tests.test_console import on_a_terminal


@pytest.fixture
def small(tmp_path: Path):
    """Run a suite on the small drive with other values in its profile: `small("fill", cache__dynamic="400MB")`."""
    path = tmp_path / "small.toml"

    def run(suite: str, scope: Scope | None = None, profile: str = PROFILE, **values: str) -> dict[str, Any]:
        path.write_text(profile)
        over = "".join(f",{key.replace('__', '.')}={value}" for key, value in values.items())
        return pslc.run(suite, on=f"sim:{path}{over}", scope=scope).findings

    return run


QUICK = Scope(quick=True)


def test_recovery_finds_threshold_and_rate_of_migration(small):
    found = small("recovery", cache__idle__threshold="5s", cache__idle__rate="50MB/s")
    assert found["idle_threshold_s"] == pytest.approx(5.0, rel=0.10)
    assert found["idle_threshold_s_low"] <= 5.0 <= found["idle_threshold_s_high"]
    assert found["migration_bytes_per_s"] == pytest.approx(50e6, rel=0.10)
    assert found["cache_bytes"] == pytest.approx(800e6, rel=0.03)
    assert found["residue_bytes"] < 0.03 * 800e6
    assert [warning.code for warning in found["warnings"]] == ["rests"]


def test_recovery_finds_what_a_lazy_drive_leaves_in_its_cache(small):
    found = small("recovery", cache__idle__threshold="2s", cache__idle__rate="50MB/s", cache__idle__residue="200MB")
    assert found["residue_bytes"] == pytest.approx(200e6, rel=0.10)
    assert found["idle_threshold_s"] == pytest.approx(2.0, rel=0.10)


def test_recovery_finds_a_long_threshold_and_a_small_rest_quickly(small):
    found = small(
        "recovery", QUICK, cache__idle__threshold="21s", cache__idle__rate="80MB/s", cache__idle__residue="650MB"
    )
    assert found["idle_threshold_s_low"] <= 21.0 <= found["idle_threshold_s_high"]
    assert found["idle_threshold_s"] == pytest.approx(21.0, rel=0.10)
    assert found["residue_bytes_low"] <= 650e6 <= found["residue_bytes_high"]


@pytest.mark.parametrize(("dynamic", "rate"), [("2400MB", 2.9), ("2000MB", 2.5)])
def test_recovery_waits_for_all_of_a_large_cache_before_each_quick_pause(small, dynamic, rate):
    found = small(
        "recovery",
        QUICK,
        cache__dynamic=dynamic,
        cache__idle__rate=f"{rate}MB/s",
        cache__idle__threshold="1s",
        cache__when_full="direct-then-fold",
    )
    assert found["idle_threshold_s_low"] <= 1.0 <= found["idle_threshold_s_high"]
    assert found["migration_bytes_per_s_low"] <= 1e6 * rate <= found["migration_bytes_per_s_high"]


@pytest.mark.parametrize("scope", [QUICK, Scope()], ids=["quick", "whole"])
def test_recovery_of_a_cache_of_which_little_comes_back_late(scope):
    on = "sim:pm871b-128gb,cache.idle.threshold=21s,cache.idle.residue=2.5GB"
    found = pslc.run("recovery", on=on, scope=scope).findings
    assert found["idle_threshold_s_low"] <= 21.0 <= found["idle_threshold_s_high"] <= 23.0
    assert found["migration_bytes_per_s_low"] <= 139e6 <= (found["migration_bytes_per_s_high"] or 139e6)
    assert found["residue_bytes_low"] <= 2.5e9 <= found["residue_bytes_high"]


def test_recovery_takes_what_the_write_buffer_holds_for_no_part_of_the_cache():
    """Buffers of a sixth and of half of what comes back; that of 7022 is more than a write after no pause was."""
    for seed in (7022, 7028):
        rows = {row.key: row for row in intervals.rows(seed, ["recovery"])}
        assert rows["idle_threshold_s"].holds, rows["idle_threshold_s"]
        assert rows["migration_bytes_per_s"].holds, rows["migration_bytes_per_s"]


@pytest.mark.parametrize(
    ("on", "rest", "noted"),
    [("980-pro-1tb", "6m", True), ("980-pro-1tb", "0", False), ("980-pro-1tb,cache.idle.residue=9GB", "6m", False),
     ("980-pro-1tb,cache.idle.residue=0B", "6m", False), ("660p-1tb", "6m", False)],
)  # fmt: skip
def test_a_run_with_rests_says_that_the_model_takes_them_for_complete(on, rest, noted, tmp_path):
    job = tmp_path / "rests.fio"
    job.write_text(f"[global]\nrw=write\nbs=1M\nsize=64M\n[a]\n[b]\nstonewall\nstartdelay={rest}\n")
    warnings = pslc.run(job, on=f"sim:{on},scale=1/64").findings["warnings"]
    notes = [warning for warning in warnings if warning.code == "rests"]
    assert [warning.level for warning in notes] == ["note"] * noted
    assert noted == ("takes rests for complete" in str(notes))
    assert rests_are_assumed('[cache.idle]\nthreshold = "1s"\n', [])
    assert not rests_are_assumed('[cache.idle]\nthreshold = "1s"\nresidue = "9GB"\n', [])


def test_recovery_says_how_long_it_waited_in_vain(small):
    found = small("recovery", QUICK, cache__idle__threshold="400s")
    assert found["idle_threshold_s"] is None
    assert found["idle_threshold_s_low"] == 300.0
    assert "pauses of more than 5 min" in found["warnings"][0]


def test_recovery_finds_no_cache_where_all_of_it_is_kept(small):
    found = small("recovery", QUICK, cache__idle__residue="800MB", cache__when_full="direct-then-fold")
    assert found["idle_threshold_s"] is None
    assert found["warnings"]


def test_recovery_of_a_drive_without_a_cache_says_so(small):
    found = small("recovery", QUICK, cache__mode="pure-xlc")
    assert found["cache_bytes"] is None
    assert recovery.sentences(found) == ["No cliff, so there is no cache to recover."]


def test_a_cache_of_which_nothing_ever_comes_back_is_told_as_such_by_every_suite(small):
    never = {"cache__mode": "static-slc", "cache__static": "500MB", "cache__when_full": "direct-then-fold",
             "cache__dead": "until-idle", "cache__idle": "never", "cache__reuse": "after-idle"}  # fmt: skip
    said = recovery.sentences(found := small("recovery", QUICK, **never))
    assert said == ["The drive does not free its cache within 30 min of idle time."]
    assert "tries 8 h" in found["warnings"][0]
    second = small("second-pass", QUICK, **never)
    assert suites.load("second-pass").sentences(second)[0].endswith("; on the full one, no cache is left.")
    assert [phase["cause"] for phase in second["phases"]][-1] == "direct"
    levels = suites.load("fill-levels").sentences(small("fill-levels", QUICK, **never))
    assert levels[1:] == ["At 50 % full, no cache is left.", "Keep the drive as empty as you can."]


def test_a_cache_full_of_data_that_died_is_not_called_empty():
    found = pslc.run("second-pass", on="sim:su630-480gb", scope=QUICK).findings
    assert found["phases"][0]["cause"] == "direct"


def test_a_drive_without_a_cache_has_no_region_to_rewrite_within_it(small):
    found = small("overwrite", QUICK, cache__mode="pure-xlc")
    assert suites.load("overwrite").sentences(found) == [
        "No cliff, so there is no cache that a region could be smaller than."
    ]


def test_a_cache_that_a_begun_superblock_makes_longer_is_told_as_the_same():
    for suite in ("second-pass", "fill-levels"):
        found = pslc.run(suite, on="sim:pm871b-128gb", scope=QUICK).findings
        assert (
            suites.load(suite).sentences(found)[0].startswith("The cache holds 3.02 GB on the empty drive, and as much")
        )


def test_a_superblock_that_was_begun_past_the_cache_is_no_part_of_it():
    # 604 MB of native cells, which is 9 % of the cache.
    assert pslc.run("second-pass", on="sim:sn550-1tb", scope=QUICK).findings["cache_bytes"] == pytest.approx(
        7.05e9, rel=0.01
    )
    levels = pslc.run("fill-levels", on="sim:sn550-1tb", scope=QUICK).findings["levels"]
    assert [row["cache_bytes"] for row in levels] == pytest.approx([7.05e9] * 3, rel=0.01)


def test_what_a_drive_folded_in_its_rest_does_not_hide_its_cache():
    found = pslc.run("second-pass", on="sim:600p-512gb,scale=1/16").findings
    assert found["cache_bytes"] == pytest.approx(15.76e9, rel=0.05)


def test_what_the_buffer_takes_in_before_a_second_pass_does_not_hide_its_cache():
    found = pslc.run("second-pass", on="sim:mp700-2tb,scale=1/32", scope=QUICK).findings
    assert [phase["cause"] for phase in found["phases"][:2]] == ["dram", "pslc"]
    assert found["cache_bytes"] == pytest.approx(found["phases"][1]["to_bytes"], rel=0.05)


def test_a_quarter_of_a_second_pass_is_held_against_a_quarter_of_the_first():
    found = pslc.run("second-pass", on="sim:aldrin-pro-2tb,scale=1/64", scope=QUICK).findings
    # All of it went into the cache of the empty drive.
    assert found["first_as_far_bytes_per_s"] == pytest.approx(found["first_pass"]["phases"][0]["bytes_per_s"], rel=0.01)
    average = suites.load("second-pass").sentences(found)[-1]
    assert average == "Average of the first 500 GB: 2510 MB/s in the second pass, 6632 MB/s in the first."


def test_mixed_reads_beside_writes_past_a_cache_that_no_rest_empties():
    by = {row["state"]: row for row in pslc.run("mixed", on="sim:660p-1tb,scale=1/32", scope=QUICK).findings["mixed"]}
    assert by["folding"]["load_bytes_per_s"] < 0.1 * by["writing"]["load_bytes_per_s"]


def test_a_table_counts_the_rows_that_it_leaves_out(capsys):
    out = terminal.console()
    table = Table("Phases", ["why"], [["short"], ["brief"], ["long " * out.width]], words=["why"])
    for room, left in ((4, "(1 more row in the report)"), (3, "(2 more rows in the report)")):
        out.print(terminal._fitting(out, table, room, "in the report"))
        assert left in capsys.readouterr().out
    out.print(terminal._fitting(out, table, 2, "with --json"))
    assert capsys.readouterr().out == "(Phases: 3 rows with --json)\n"


@pytest.mark.parametrize(("has_report", "where"), [(True, "in the report)"), (False, "with --json)")])
def test_repeats_leave_room_for_phases_and_no_report_is_named_that_was_not_written(
    has_report, where, capsys, monkeypatch
):
    recording = pslc.run("fill", on="sim:pm871b-128gb")
    recording.findings["repeats"] = campaign.spread([recording, recording])
    view = recording_view.of_recording(recording)
    monkeypatch.setattr(terminal, "MOST_LINES", 36)
    terminal.show(view, has_report=has_report)
    shown = capsys.readouterr().out
    assert re.search(r"^ *1 +0 B +3.02 GB", shown, re.MULTILINE)
    assert where in shown


@pytest.mark.parametrize("name", ["pm871b-128gb", "sn550-1tb"])
def test_qd_sweep_and_power_write_into_a_cache_that_ended_before(name):
    fast = pslc.run("fill", on=f"sim:{name}", scope=QUICK).findings["phases"][0]["bytes_per_s"]
    queues = pslc.run("qd-sweep", on=f"sim:{name}", scope=QUICK).findings
    assert queues["write_most_iops"] * 2**17 == pytest.approx(fast, rel=0.1)
    into = pslc.run("power", on=f"sim:{name}", scope=QUICK).findings["power"][1]
    assert into["bytes_per_s"] == pytest.approx(fast, rel=0.1)


@pytest.mark.parametrize("full", ["direct-while-folding", "direct-then-fold"])
def test_rewriting_is_accelerated_below_the_cache_and_not_above_it(small, full):
    found = small("overwrite", cache__mode="static-slc", cache__static="500MB", cache__when_full=full)
    assert found["verdict"] == "accelerated"
    assert found["cache_bytes"] == pytest.approx(500e6, rel=0.03)
    by = {row["of_cache"]: row["verdict"] for row in found["overwrite"]}
    assert by[0.125] == by[0.25] == by[0.5] == "accelerated"
    assert by[1.5] != "accelerated"
    assert by[2.0] == "not"


def test_rewriting_is_never_accelerated_where_dead_data_wait_for_idle_time(small):
    options = {"cache__mode": "static-slc", "cache__static": "500MB", "cache__when_full": "direct-then-fold"}
    found = small("overwrite", cache__dead="until-idle", **options)
    assert found["verdict"] == "not"
    assert {row["verdict"] for row in found["overwrite"]} == {"not"}


def test_a_cache_used_again_as_its_data_die_accelerates_in_part(small):
    rows = small("overwrite", cache__when_full="direct-then-fold", cache__reuse="as-freed")["overwrite"]
    assert {row["verdict"] for row in rows if row["of_cache"] >= 2.0} == {"partly"}


def test_a_second_pass_on_a_full_cache_says_so_and_waits_for_no_cliff(small):
    found = small("second-pass", QUICK, cache__when_full="fold", cache__reuse="as-freed", cache__idle="never")
    assert "on the full one, no cache is left" in suites.load("second-pass").sentences(found)[0]
    assert not [warning for warning in found["warnings"] if "first phase" in warning]


def test_a_second_pass_after_a_rest_that_empties_the_cache_warnings_nothing_of_it(small):
    options = {"cache__mode": "static-slc", "cache__static": "400MB", "cache__when_full": "direct-then-fold"}
    found = small("second-pass", **options)
    assert found["cache_bytes"] == pytest.approx(found["first_pass"]["cache_bytes"], rel=0.1)
    assert not [warning for warning in found["warnings"] if warning.code == "held"]
    found = small("second-pass", cache__idle="never", **options)
    assert [warning for warning in found["warnings"] if warning.code == "held"] or found["cache_bytes"] is None


def test_a_part_of_a_drive_is_told_how_to_write_the_rest(small, tmp_path):
    (fill,) = small("fill", QUICK)["warnings"]
    assert str(fill).endswith("so later phases may be missing: leave out --quick")
    (tmp_path / "sized.fio").write_text("[a]\nrw=write\nbs=1m\nsize=20g\ndirect=1\nioengine=libaio\niodepth=8\n")
    timed = (tmp_path / "sized.fio").read_text() + "[b]\nstonewall\nrw=write\nbs=1m\nruntime=2\ntime_based\ndirect=1\n"
    (tmp_path / "timed.fio").write_text(timed)
    for name, hint in (("sized", "write the whole drive"), ("timed", "pslc run fill writes all of it")):
        warnings = pslc.run(tmp_path / f"{name}.fio", on="sim:pm871b-128gb").findings["warnings"]
        (part,) = [str(warning) for warning in warnings if warning.code == "part"]
        assert part.endswith(f": {hint}")


def test_cdm_runs_a_test_five_times_for_5_s_after_one_to_warm_up_as_crystaldiskmark_does():
    text = next(suites.load("cdm").steps(find_region(find_target("sim:pm871b-128gb"), Scope())))
    for test in ("read SEQ1M Q8T1", "write RND4K Q1T1"):
        assert re.findall(rf"\[{test} run (\d+)\][^[]*runtime=5000000us", text) == list("012345")


@pytest.mark.parametrize("drive", ["pm871b-128gb", "aldrin-pro-2tb"])
def test_cdm_asks_with_the_size_the_depth_and_the_threads_of_each_test_s_name(drive):
    text = next(suites.load("cdm").steps(find_region(find_target(f"sim:{drive}"), Scope())))
    named = re.findall(r"(SEQ|RND)(\d+)([MK]) Q(\d+)T(\d+) run 0\]([^[]*)", text)
    assert len(named) == 20
    for order, size, unit, depth, threads, options in named:
        for option in (f"bs={size}{unit.lower()}", f"iodepth={depth}", f"numjobs={threads}"):
            assert f"\n{option}\n" in options
        assert ("\nrw=rand" in options) == (order == "RND")


def test_plateaus_that_hardly_differ_are_told_as_one():
    row = {
        "case": "filled", "span_bytes": 10**12, "iops": 27838.0, "last_iops": 27822.0, "verdict": "plateau",
        "raw_times": 0.0012, "rounds": [27838.0] * 5,
        "plateaus": [{"from_s": 0.0, "to_s": 0.3, "iops": 27410.0}, {"from_s": 0.3, "to_s": 1.2, "iops": 27584.0},
                     {"from_s": 1.2, "to_s": 12.0, "iops": 27838.0}],
    }  # fmt: skip
    (said,) = random_steady.sentences({"random_steady": [row], "warnings": []})
    assert said == (
        "Full drive, all of it: 27 838 IOPS at the end, level so far (0.001 times the raw capacity written, where "
        "steady needs 2)."
    )
    row["plateaus"][0]["iops"] = 90000.0
    (said,) = random_steady.sentences({"random_steady": [row], "warnings": []})
    assert "90 000 IOPS until 300 ms; 27 838 IOPS at the end" in said


def test_pauses_that_were_not_tried_are_told_apart_from_what_was_seen(small):
    found = small("recovery", QUICK, cache__idle="never", cache__when_full="fold", cache__reuse="as-freed")
    (said,) = recovery.sentences(found)
    assert said == "The drive does not free its cache within 5 min of idle time."
    assert found["warnings"] == ["pauses of more than 5 min were not tried: leave out --quick"]


def test_the_second_pass_finds_the_least_cache(small):
    found = small("second-pass", cache__dynamic_least="200MB", cache__shrink_from="0%", cache__shrink_to="100%")
    assert found["cache_bytes"] == pytest.approx(200e6, rel=0.15)
    assert found["first_pass"]["cache_bytes"] > 2 * found["cache_bytes"]


def test_fill_levels_finds_how_the_cache_shrinks(small):
    found = small("fill-levels", cache__dynamic_least="100MB", cache__shrink_from="0%", cache__shrink_to="100%")
    by = {row["full"]: row["cache_bytes"] for row in found["levels"]}
    for level in (0.0, 0.3, 0.6):
        assert by[level] == pytest.approx(800e6 - 700e6 * level, rel=0.03)
    # Half of 800 MB is left at 57 % full, so at the level of 50 and no longer at that of 60.
    assert (found["half_full"], found["half_gone"]) == (0.5, 0.6)
    advice = "Keep the drive at most 50 % full: at 60 % less than half of its cache is left."
    assert suites.load("fill-levels").sentences(found)[-1] == advice


def test_fill_levels_of_a_static_cache_are_equal(small):
    found = small("fill-levels", cache__mode="static-slc", cache__static="400MB", cache__when_full="direct-then-fold")
    sizes = [row["cache_bytes"] for row in found["levels"] if row["cache_bytes"]]
    assert len(sizes) >= 9
    assert max(sizes) < 1.05 * min(sizes)
    assert found["half_gone"] is None
    assert not found["warnings"]
    *_, held, advice = suites.load("fill-levels").sentences(found)
    assert " on the empty drive, and " in held
    assert advice == "Fill the drive as you like: up to 90 % its cache does not shrink."


def test_range_sweep_finds_what_the_controller_holds_of_its_map(small):
    # A page of the map, 4 KiB, maps 4 MiB.
    found = small("range-sweep", controller__map="512KiB")
    assert found["mapped_bytes"] == pytest.approx(512 << 20, rel=0.15)
    assert small("range-sweep", QUICK)["mapped_bytes"] is None


def test_fill_levels_says_that_none_is_left_where_the_cache_is_never_emptied(small):
    found = small("fill-levels", QUICK, cache__when_full="fold", cache__reuse="as-freed", cache__idle="never")
    by = {row["full"]: row["cache_bytes"] for row in found["levels"]}
    assert by[0.0] == pytest.approx(800e6, rel=0.03)
    assert by[0.5] == by[0.9] == 0
    assert any("rest does not move" in warning for warning in found["warnings"])
    said = suites.load("fill-levels").sentences(found)
    assert said[-2] == "At 50 % full, no cache is left."
    assert said[-1] == "Keep the drive as empty as you can."


def test_range_sweep_tells_slower_cells_apart_from_the_map():
    found = pslc.run("range-sweep", on="sim:su630-480gb,controller.map=dram", scope=QUICK).findings
    assert suites.load("range-sweep").sentences(found) == [
        "A random read takes 101 µs to 171 µs, as cells elsewhere are slower: the controller holds the whole map."
    ]


@pytest.mark.parametrize(
    ("on", "mapped", "said"),
    [
        # The first 2.4 GB are in pSLC, which is read faster: 343 MB where no place among them is asked.
        ("sim:su630-480gb", 268e6, "Holds the map of 2[67]. MB: a random read takes 10[01] µs there, "),
        ("sim:su630-480gb,scale=1/8", None, "Holds the map of 67.1 MB or less: "),
    ],
)
def test_range_sweep_tells_a_map_beside_slower_cells(on, mapped, said):
    found = pslc.run("range-sweep", on=on, scope=QUICK).findings
    assert found["mapped_bytes_low"] == (pytest.approx(mapped, rel=0.05) if mapped else None)
    assert re.match(said, suites.load("range-sweep").sentences(found)[0])


def test_range_sweep_does_not_take_slower_cells_for_a_map_that_is_not_held(small):
    # The end of the drive is still in pSLC, the rest is not.
    options = {"cache__mode": "static-slc", "cache__static": "500MB", "cache__when_full": "fold"}
    found = small("range-sweep", cache__reuse="as-freed", cache__idle="never", **options)
    assert found["mapped_bytes"] is None
    takes = [row["mean_s"] for row in found["places"]]
    assert min(takes) < 0.8 * max(takes)
    assert "in one place" in found["warnings"][0]


def test_recovery_says_that_some_never_comes_back_only_where_its_interval_does():
    found = {
        "cache_bytes": 3.09e9, "idle_threshold_s": 1.1, "idle_threshold_s_low": 1.0, "idle_threshold_s_high": 1.2,
        "migration_bytes_per_s": 139e6, "migration_bytes_per_s_low": 138e6, "migration_bytes_per_s_high": 140e6,
        "residue_bytes": 75e6, "residue_bytes_low": 23e6, "residue_bytes_high": 128e6,
    }  # fmt: skip
    assert recovery.sentences(found)[1:] == [
        "The whole cache is free after 22.8 s.",
        "Idle time frees the whole cache, 3.09 GB on the half-full drive.",
    ]
    found |= {"residue_bytes": 200e6, "residue_bytes_low": 150e6}
    assert recovery.sentences(found)[1:] == [
        "The part that can be freed is free after 21.9 s.",
        "200 MB of 3.09 GB is never freed.",
    ]


def test_recovery_blames_no_drive_for_trims_that_a_bridge_drops():
    findings = pslc.run("recovery", on="sim:x10-pro-2tb,scale=1/32,usb.discard=dropped", scope=QUICK).findings
    assert findings["idle_threshold_s_low"] is None
    assert findings["warnings"][0].startswith("trims do not reach the drive")
    assert recovery.sentences(findings) == []


def test_a_cache_that_comes_back_faster_than_cells_are_emptied_has_no_rate():
    at_once = RecoveryEstimate(0.0, 5e10, 1e9, 1e9, 294.0, 296.0, Interval(295.0, 294.0, 296.0), None, 8e9)
    findings = unknown(recovery.Findings) | {"cache_bytes": 5e10, "idle_threshold_s_high": 296.0}
    recovery._rate(findings, at_once, 4e8)
    assert findings["migration_bytes_per_s_low"] is None
    assert recovery.sentences(findings)[0] == (
        "The drive frees its cache after at most 4 min 56 s of idle time, perhaps at once."
    )
    recovery._rate(findings, at_once, 1e10)
    assert findings["migration_bytes_per_s_low"] == 8e9


@pytest.mark.parametrize("size", ["4MiB", "12MiB"])
def test_burst_finds_the_write_buffer(small, size):
    found = small("burst", controller__write_buffer=size)
    assert found["buffer_bytes"] == pytest.approx(int(size[:-3]) << 20, rel=0.10)
    assert found["flushed_s"] > 5 * found["ack_s"]


@pytest.mark.parametrize("name", ["atom-50-1tb", "aldrin-pro-2tb", "600p-512gb", "wd-green-120gb"])
def test_burst_finds_it_where_the_cells_give_room_in_lumps_or_take_long_to_empty_it(name):
    done = pslc.run("burst", on=scaled.spec(name), scope=QUICK)
    assert done.findings["buffer_bytes"] == pytest.approx(done.facts["write_buffer_bytes"], rel=0.10)
    assert {warning.code for warning in done.findings["warnings"]} <= {"scaled"}


def test_burst_finds_it_where_a_busy_machine_makes_single_writes_look_quick():
    done = pslc.run("burst", on="sim:pm871b-128gb", scope=QUICK)
    first = next(job for part in done.parts for job in part.jobs if job["name"] == "burst-0")
    first["write"]["lat_ns"]["percentile"]["1.000000"] //= 5
    assert burst.findings(done)["buffer_bytes"] == done.findings["buffer_bytes"]


def test_burst_calls_the_range_of_its_bursts_that_and_warnings_a_wide_one(small):
    found = small("burst", QUICK, controller__write_buffer="4MiB")
    said = burst.sentences(found | {"buffer_bytes": 8e6, "buffer_bytes_low": 4e6, "buffer_bytes_high": 9e6})
    assert said[-1] == "Write buffer: about 8.00 MB (4.00 MB to 9.00 MB)."
    wide = found["buffer_bytes_high"] > burst.DIFFER * found["buffer_bytes_low"]
    assert wide == any("is rough" in warning for warning in found["warnings"])


def test_intervals_of_burst_hold_the_buffers_of_hidden_drives():
    of = [row for seed in range(24) for row in intervals.rows(seed, ["burst"])]
    assert len(of) > 15
    assert np.mean([row.holds for row in of]) >= intervals.MIN_COVERAGE
    assert np.median([(row.high - row.low) / row.truth for row in of if row.high]) < 0.25, (
        "an interval of any width holds"
    )


def test_burst_says_when_the_buffer_is_never_full(small):
    found = small("burst", QUICK, cache__mode="pure-slc", link="pcie3x1")
    assert found["buffer_bytes"] is None
    assert "cannot be seen" in found["warnings"][0]


def test_qd_sweep_fills_its_queues_and_finds_a_knee(small):
    found = small("qd-sweep")
    assert found["little_worst"] == pytest.approx(1.0, abs=0.1)
    rows = [row for row in found["qd_sweep"] if row["kind"] == "randread"]
    iops = [row["iops"] for row in rows]
    assert not [(less, deeper) for less, deeper in pairwise(iops) if not (deeper >= 0.99 * less)]
    assert 4 <= found["randread_knee_depth"] <= 256
    # More is written than the cache holds.
    assert [warning.code for warning in found["warnings"]] == ["cache-full"]


def test_mixed_reads_wait_longer_while_a_drive_cannot_suspend(small):
    patient = small("mixed", QUICK)
    waits = small("mixed", QUICK, profile=re.sub(r"\[nand.suspend\].*?\n\n", "", PROFILE, flags=re.S))
    assert [row["state"] for row in patient["mixed"]] == ["idle", "migrating", "writing", "folding", "after"]
    assert waits["slower_folding"] > 1.5 * patient["slower_folding"] > 1


@pytest.mark.parametrize("name", ["aldrin-pro-2tb", "sn550-1tb"])
def test_mixed_writes_into_the_cache_when_it_says_so_however_short_it_is(name):
    def beside(scope: Scope) -> float:
        found = pslc.run("mixed", on=f"sim:{name}", scope=scope).findings["mixed"]
        return next(row["load_bytes_per_s"] for row in found if row["state"] == "writing")

    # It left off in native cells before, whose superblock takes a second to complete.
    assert beside(QUICK) == pytest.approx(beside(Scope()), rel=0.02)


def test_qd_sweep_warnings_depths_at_which_the_cache_was_full(small):
    assert not any("as when a cache is full" in warning for warning in small("qd-sweep", QUICK)["warnings"])
    full = pslc.run("qd-sweep", on=scaled.spec("660p-1tb"), scope=QUICK).findings
    assert any("as when a cache is full" in warning for warning in full["warnings"])


@pytest.mark.long
def test_random_steady_tells_a_plateau_from_a_steady_state(small, monkeypatch):
    module = suites.load("random-steady")
    monkeypatch.setattr(module, "QUICK_ROUND_S", 0.5)
    monkeypatch.setattr(module, "QUICK_ROUNDS", 10)
    rows = {row["case"]: row for row in small("random-steady", QUICK)["random_steady"]}
    assert rows["fresh"]["verdict"] in ("plateau", "unsteady")
    monkeypatch.setattr(module, "QUICK_ROUND_S", 20.0)
    rows = {row["case"]: row for row in small("random-steady", QUICK)["random_steady"]}
    assert rows["filled"]["verdict"] == "steady"
    assert rows["filled"]["raw_times"] > 2
    assert rows["filled"]["iops"] < rows["filled"]["first_iops"]


def test_random_steady_averages_no_rounds_that_still_change(small):
    rows = small("random-steady", QUICK)["random_steady"]
    unsteady = [row for row in rows if row["verdict"] == "unsteady"]
    assert unsteady
    for row in unsteady:
        assert row["iops"] is None
        assert row["last_iops"] == row["rounds"][-1]
    assert "still changing" in " ".join(suites.load("random-steady").sentences({"random_steady": rows}))


def test_random_steady_says_how_much_is_missing_of_what_makes_a_level_steady(small):
    plateaus = [{"from_s": 0.0, "to_s": 0.005, "iops": 9e4}, {"from_s": 0.005, "to_s": 12.0, "iops": 8e4}]
    row = {"case": "fresh", "verdict": "plateau", "iops": 8e4, "raw_times": 0.11, "plateaus": plateaus}
    said = suites.load("random-steady").sentences({"random_steady": [row | {"span_bytes": 8 << 30}]})
    level = "80 000 IOPS at the end, level so far (0.11 times the raw capacity written, where steady needs 2)"
    assert said == [f"Empty drive, all of it: {level}."]


def test_mixed_counts_what_migrates_in_a_silence(small):
    found = small("mixed", QUICK, cache__idle__threshold="500ms", cache__idle__rate="20MB/s")
    # The silence of 5 s but its first half second, and perhaps the 2 s of reads after it.
    in_reads = found["migrated_while_reading_bytes"]
    assert found["migrated_bytes"] - in_reads == pytest.approx(4.5 * 20e6, rel=0.1)
    assert 0 <= in_reads <= 2.2 * 20e6
    assert small("mixed", QUICK, cache__idle="never", cache__when_full="fold", cache__reuse="as-freed")[
        "migrated_bytes"] in (0, None)  # fmt: skip


def test_cdm_tells_what_left_the_cache_in_its_pauses(small):
    moved = small("cdm", QUICK, cache__idle__rate="2MB/s")["moved_in_pauses_bytes"]
    # 20 tests with a pause of 5 s each, of which half a second is the threshold.
    assert 0 < moved <= 20 * 4.5 * 2e6 * 1.1
    assert small("cdm", QUICK, cache__mode="pure-xlc")["moved_in_pauses_bytes"] == 0


def test_a_drive_that_was_filled_to_its_end_is_overwritten_from_the_start(small):
    found = small("sustained", Scope(quick=True, fill_first=100), cache__mode="pure-xlc")
    assert found["phases"][0]["cause"] == "native"
    with pytest.raises(pslc.PslcError, match="would not stay full"):
        small("recovery", Scope(fill_first=100))


def test_random_steady_takes_a_depth_and_tells_how_long_a_rate_was_held(small, tmp_path):
    (tmp_path / "small.toml").write_text(PROFILE)
    on = f"sim:{tmp_path}/small.toml"
    fresh, *_ = pslc.run("random-steady", on=on, scope=QUICK, options=[("iodepth", "4")]).findings["random_steady"]
    assert fresh["depth"] == 4
    assert fresh["held_iops"] == pytest.approx(fresh["first_iops"], rel=0.25)
    # Until then as many pages were written as the counter says.
    assert fresh["held_s"] * fresh["held_iops"] * 4096 <= 1.3 * fresh["written_bytes"]


def test_sustained_finds_what_is_left(small):
    found = small("sustained", QUICK)
    assert found["steady_bytes_per_s"] == pytest.approx(found["phases"][-1]["bytes_per_s"], rel=0.05)
    assert found["cache_bytes"] == pytest.approx(800e6, rel=0.03)
    assert found["phases"][0]["from_s"] == 0.0


HOT = {"power__active": "3W", "power__idle": "40mW", "power__idle_after": "100ms", "power__data": "2nJ/B"}
HOT |= {"power__die_read": "50mW", "power__die_program": "60mW", "power__die_erase": "60mW"}
HOT |= {"heat__chips": "2J/K", "heat__board": "10J/K", "heat__chips_to_board": "3K/W", "heat__board_to_air": "10K/W"}
HOT |= {"heat__ambient": "25C", "heat__throttle1__at": "60C", "heat__throttle1__until": "55C"}
HOT |= {"heat__throttle1__speed": "40%"}


def test_thermal_finds_where_the_drive_throttles_how_far_and_how_it_cools(small):
    found = small("thermal", QUICK, **HOT)
    (read,) = (row for row in found["thermal"] if row["stress"] == "read")
    assert read["throttled_at_c"] == pytest.approx(60.0, abs=1.5)
    assert read["throttled_bytes_per_s"] == pytest.approx(0.4 * read["bytes_per_s"], rel=0.05)
    # The two heat capacities in a row cool as exp(-t/5.0 s) and exp(-t/121 s): the eigenvalues of their equations.
    fast, slow = found["cooling_s"]
    assert slow == pytest.approx(121, rel=0.10)
    assert fast == pytest.approx(4.96, rel=0.25)


def test_thermal_begins_both_stresses_at_rest_and_tells_when_the_drive_is_hottest(small):
    cool = {key: value for key, value in HOT.items() if "throttle" not in key}
    rows = small("thermal", QUICK, **cool)["thermal"]
    assert rows[0]["start_c"] == pytest.approx(rows[1]["start_c"], abs=1.0)
    for row in rows:
        # The slower of its two time constants is 121 s, so that 3 min reach the last degree late.
        assert 60 < row["to_most_s"] <= 180


def test_thermal_warnings_a_drive_that_gets_hotter_than_any(small):
    cool = {key: value for key, value in HOT.items() if "throttle" not in key}
    hot = small("thermal", QUICK, **cool | {"heat__ambient": "70C"})
    (warning,) = hot["warnings"]
    assert warning.code == "hotter-than-any"
    assert max(row["most_c"] for row in hot["thermal"]) > 100
    assert small("thermal", QUICK, **HOT)["warnings"] == []


def test_power_shows_one_writing_where_there_is_no_cache(small):
    states = {}
    for mode, when_full in (("pure-xlc", "direct-then-fold"), ("dynamic-slc", "direct-then-fold")):
        found = small("power", QUICK, cache__mode=mode, cache__when_full=when_full, **HOT)
        (table,) = suites.load("power").tables(found)
        states[mode] = [row[0] for row in table.rows if row[0].startswith("writing") and "4 KiB" not in row[0]]
    assert states == {
        "pure-xlc": ["writing in sequence"],
        "dynamic-slc": ["writing into the cache", "writing past the cache"],
    }


def test_hdtune_tells_one_speed_once():
    row = {"test": "write", "least_bytes_per_s": 6351e6, "most_bytes_per_s": 6351e6, "mean_bytes_per_s": 6351e6}
    found = {"hdtune": [row, row | {"test": "read", "most_bytes_per_s": 7e9}], "fell": None, "access_s": None}
    assert suites.load("hdtune").sentences(found) == [
        "HD-Tune-compatible write: 6351 MB/s throughout.",
        "HD-Tune-compatible read: 6351 MB/s on average, 6351 MB/s to 7000 MB/s.",
    ]


@pytest.mark.parametrize(
    ("seconds", "grain", "told"),
    # Two heat capacities of a SATA drive: exp(-t/16.3 s) and exp(-t/530 s), of which 3 min show a fifth.
    [(1200.0, 0.001, [16.3, 530.0]), (180.0, 0.001, [16.3]), (180.0, 1.0, [])],
)
def test_thermal_tells_no_time_constant_that_was_not_watched_for_long_enough(seconds, grain, told):
    at = np.arange(0.0, seconds, 0.5)
    celsius = 26.0 + 3.0 * np.exp(-at / 16.3) + 9.0 * np.exp(-at / 530.0)
    assert thermal.cooling(at, np.round(celsius / grain) * grain) == pytest.approx(told, rel=0.05)


def test_power_names_the_phases_of_its_maxima_and_measures_a_transfer(small):
    found = small("power", QUICK, **HOT)
    by = {row["state"]: row for row in found["power"]}
    assert found["most_watts"] == by[found["most_state"]]["watts"] == max(row["watts"] for row in by.values())
    assert found["most_write_watts"] <= found["most_watts"]
    # Bytes cost 2 nJ each, what is awake 3 W, and dies that are at work some more.
    transfer = by["transfer"]
    assert transfer["watts"] == pytest.approx(3.0 + 2e-9 * transfer["bytes_per_s"], abs=0.3)
    assert "and at most" in suites.load("power").sentences(found)[0]


def test_power_finds_the_idle_power_and_the_cost_of_a_byte(small):
    found = small("power", QUICK, **HOT)
    assert found["idle_watts"] == pytest.approx(0.040, rel=0.10)
    by = {row["state"]: row for row in found["power"]}
    assert by["write-past"]["joules_per_byte"] > by["write-cache"]["joules_per_byte"]


def test_power_of_a_drive_without_a_meter_is_unknown_and_not_none(small):
    found = small("power", QUICK)
    assert found["most_watts"] is None
    assert {row["watts"] for row in found["power"]} == {None}
    assert suites.load("power").sentences(found) == ["Power draw: unknown."]
    assert "no power meter" in found["warnings"][0]


def test_the_classic_tables_have_their_rows(small):
    rows = [row["test"] for row in small("cdm", QUICK)["cdm"]]
    threads = [f"RND4K Q1T{count}" for count in (2, 4, 8, 16)]
    assert rows == ["SEQ1M Q8T1", "SEQ128K Q32T1", "RND4K Q32T16", "RND4K Q1T1", *threads]
    rows = [row["test"] for row in small("cdm", QUICK, link="sata600")["cdm"]]
    assert rows == ["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1", *threads]
    found = small("as-ssd", QUICK)
    seq, four, many = ({k: row[f"{k}_bytes_per_s"] / 1e6 for k in ("read", "write")} for row in found["as_ssd"])
    total = (
        0.15 * seq["write"] + 0.1 * seq["read"] + 2 * four["read"] + four["write"] + many["write"] + 1.5 * many["read"]
    )
    assert found["total_score"] == round(total)
    sizes = [row["request_bytes"] for row in small("atto")["atto"]]
    assert (sizes[0], sizes[-1], len(sizes)) == (512, 64 << 20, 18)


def test_nothing_is_faster_than_its_link(small):
    rows = small("atto", QUICK, link="sata600")["atto"]
    assert max(row[f"{kind}_bytes_per_s"] for row in rows for kind in ("read", "write")) < 600e6


def test_hdtune_sees_the_cliff_in_the_surface_and_tells_when_it_came(small):
    found = small("hdtune", computer="none")
    cliff = small("fill")
    assert found["fell"]["from_bytes"] == pytest.approx(cliff["cache_bytes"], rel=0.03)
    assert found["fell"]["from_s"] == pytest.approx(found["fell"]["from_bytes"] / found["fell"]["before_bytes_per_s"])
    (write,) = (row for row in found["hdtune"] if row["test"] == "write")
    assert write["least_bytes_per_s"] < write["mean_bytes_per_s"] < write["most_bytes_per_s"]


def test_niobench_says_that_a_host_without_a_page_cache_writes_nothing_asynchronously(small):
    assert [warning.code for warning in small("niobench", QUICK, computer="none")["warnings"]] == ["no-page-cache"]
    found = small("niobench", QUICK)
    assert found["warnings"] == []
    speeds = {(r["scenario"], r["operation"]): r["median_bytes_per_s"] for r in found["niobench"]}
    assert speeds["asynchronous", "write"] > 1.5 * speeds["series", "write"]


def test_niobench_medians_fall_with_iterations_on_a_small_cache(small):
    found = small("niobench", cache__dynamic="400MB", cache__when_full="direct-then-fold")
    rows = {(r["scenario"], r["operation"], r["iterations"]): r["median_bytes_per_s"] for r in found["niobench"]}
    assert {count for _, _, count in rows} == {10, 20, 38} or {10, 20, 50} >= {count for _, _, count in rows}
    for scenario in ("native", "series", "asynchronous"):
        assert rows[scenario, "copy", 10] < rows[scenario, "read", 10]
    assert len(found["series"]["native"]["write"]) >= 38


def test_snia_rounds_are_steady_on_a_drive_written_twice(small):
    found = small("snia", QUICK)
    assert found["rounds"] >= 5
    assert {row["read_percent"] for row in found["iops"]} == {100, 65, 35, 0}
    assert {row["wait_s"] for row in found["hir"]} == {5, 10, 15, 25, 50}
    by = {(row["read_percent"], row["request_bytes"]): row["iops"] for row in found["iops"]}
    # The first rounds write into the cache; once it is full, reading is quicker.
    assert by[100, 4096] > found["tracked_iops"][-1]


def test_copies_move_what_they_say_and_take_longer_to_the_same_drive(small):
    rows = {(row["files"], row["how"]): row for row in small("copy")["copy"]}
    assert len(rows) == 6
    assert rows["iso", "copy"]["bytes"] == rows["iso", "write"]["bytes"]
    assert rows["iso", "copy"]["seconds"] > rows["iso", "write"]["seconds"]


def test_apps_take_the_time_that_their_programs_compute_beside_that_of_the_drive(small):
    rows = {row["app"]: row for row in small("apps")["apps"]}
    slow = {row["app"]: row for row in small("apps", nand__slc__read="250us", nand__native__read="600us")["apps"]}
    scale = 0.8 * 8e9 / apps.SPAN * 4
    for name, profile in apps.PROFILES.items():
        assert rows[name]["program_s"] == pytest.approx(scale * profile.think_s, rel=0.03)
        assert rows[name]["seconds"] > rows[name]["program_s"]
    # Cells that are ten times as slow: a program that computes most of the time suffers less than one that never does.
    boot, office = (slow[name]["seconds"] / rows[name]["seconds"] for name in ("boot", "office"))
    assert 1.0 < boot < 0.5 * office


def test_apps_give_no_score_and_say_that_they_are_look_alikes(small, tmp_path):
    found = small("apps", QUICK)
    assert len(found["apps"]) == 6
    assert not [name for name in found if "score" in name]
    assert "no vendor's score" in " ".join(suites.load("apps").sentences(found))


EVO = f"sim:{Path(pslc.__file__).parent / 'examples/840-evo-500gb.toml'}"


def of_old_data(recording: pslc.Recording) -> tuple[dict[str, Any], str]:
    """Rows by age, and what the suite says."""
    rows = {row["data"]: row for row in recording.findings["old_data"]}
    return rows, " ".join(suites.load("old-data").sentences(recording.findings))


@pytest.mark.parametrize("quick", [True, False])
def test_old_data_of_an_840_evo_are_read_as_slowly_as_was_published_after_6_to_8_weeks(quick: bool) -> None:
    recording = pslc.run("old-data", on=EVO, scope=Scope(quick))
    rows, text = of_old_data(recording)
    assert (
        rows["fresh"]["bytes_per_s"] == pytest.approx(rows["2 weeks"]["bytes_per_s"]) == pytest.approx(500e6, rel=0.1)
    )
    assert [age for age, row in rows.items() if 50e6 < row["bytes_per_s"] < 100e6] == [*rows][3:], "from 6 weeks on"
    # 1 + floor(1 + log(age / 4 weeks) / log(1.04)), of at most 1 + 16.
    assert [row["tries"] for row in rows.values()] == pytest.approx([1, 1, 2, 12, 17, 17, 17, 17], abs=0.05)
    assert rows["fresh"]["again_bytes_per_s"] == pytest.approx(rows["52 weeks"]["bytes_per_s"], rel=0.01)
    assert "does not rewrite old data" in text
    assert recording.findings["refreshed_bytes"] is None


def test_old_data_tells_what_a_refresh_brings_how_long_it_takes_and_what_it_costs() -> None:
    recording = pslc.run("old-data", on=f"{EVO},ftl.refresh=600h")
    rows, text = of_old_data(recording)
    assert rows["52 weeks"]["bytes_per_s"] < 100e6 < 500e6 < rows["52 weeks"]["again_bytes_per_s"]
    findings, written = recording.findings, recording.written_bytes
    assert findings["refreshed_bytes"] == pytest.approx(written, rel=0.02)
    assert findings["refresh_waf"] == findings["refreshed_bytes"] / written
    # No faster than the dies program, and over within the hour.
    assert written / recording.facts["native_write_bytes_per_s"] < findings["refresh_s"] < 120
    assert "one of the 1000 cycles" in text


def test_old_data_says_of_a_profile_without_retention_that_its_data_do_not_age() -> None:
    recording = pslc.run("old-data", on="sim:pm871b-128gb", scope=QUICK)
    rows, text = of_old_data(recording)
    assert "do not age: it has no nand.native.retention" in text
    assert text.count(".") == 4, "one sentence, with two keys and a file"
    assert {round(row["tries"], 6) for row in rows.values()} == {1}
    kept = pslc.run("old-data", on=f"{EVO},nand.native.retention=20000h", scope=QUICK)
    assert of_old_data(kept)[1].startswith("Data of 52 weeks are read as fast as the newest")


def slow_where(monkeypatch: pytest.MonkeyPatch, is_slow: Callable[[float], bool]) -> None:
    """Let reads take as long as at 500 MB/s, and where data are slow as at 70; what was read is read all the same."""
    read = reading.read

    def timed(extent: reading.Extent, buffer: mmap.mmap) -> tuple[int, float]:
        moved, _ = read(extent, buffer)
        return moved, moved / (70e6 if is_slow(extent.at) else 500e6)

    monkeypatch.setattr(reading, "read", timed)


def test_old_data_reads_the_files_of_a_folder_by_age_and_changes_nothing(tmp_path, monkeypatch, command):
    folder = tmp_path / "my photos"
    paths = [folder / name for name in ("new.raw", "base.db", "old/a.raw", "old/b.raw", "small.txt")]
    paths[2].parent.mkdir(parents=True)
    for number, path in enumerate(paths):
        path.write_bytes(os.urandom(4096 if path.suffix == ".txt" else 5 << 20))
        # Another reader would bring the access time up to date; a copy keeps the time of the last write (mtime).
        os.utime(path, (number, 10**9))
    (folder / "link.raw").symlink_to(paths[0])
    before = [path.stat() for path in paths]
    # The folder is looked at today, and the one in it seven weeks later.
    monkeypatch.setattr(reading, "time", itertools.count(time.time(), 7 * old_data.WEEK_S).__next__)
    slow_where(monkeypatch, lambda age_s: age_s > old_data.WEEK_S)
    # A database, whose data were written at any time since it was made.
    born, made_s = reading.created_unix_s, {str(paths[1]): -3 * old_data.WEEK_S}
    monkeypatch.setattr(reading, "created_unix_s", lambda path: (born(path) or time.time()) + made_s.get(path, 0))
    looks = []
    recording = pslc.run(
        "old-data", on=str(folder), progress=lambda at: not looks.append((at["step"], at["done_bytes"]))
    )
    if recording.facts["read_back"]["faults"]:
        pytest.skip("the file system refuses O_DIRECT")
    rows, text = of_old_data(recording)
    assert {data: row["bytes_per_s"] for data, row in rows.items()} == {"fresh": 500e6, "6 weeks": pytest.approx(70e6)}
    assert text.startswith("Fresh data are read at 500 MB/s, those of 6 weeks at 70.0 MB/s. Files in fragments")
    assert recording.read_bytes == 3 * 5 << 20
    assert recording.written_bytes == 0
    assert [str(warning) for warning in recording.findings.warnings if warning.code == "mixed-ages"] == [
        "files left out: 1; changed long after they were made, they may hold data of several ages"
    ]
    assert looks[:2] == [("looking for files", 10 << 20), ("looking for files", 20 << 20)]
    assert looks[2:] == [("read", size << 20) for size in (0, 5, 10)]
    assert "looking for files" in on_a_terminal(["run", "old-data", "--on", str(folder), "--dry-run"], tmp_path)
    store.save(recording, tmp_path / "run")
    stored = store.load(tmp_path / "run")
    assert suites.load("old-data").findings(stored) == suites.load("old-data").findings(recording)
    terminal.show(recording_view.of_recording(recording))
    assert "reads 21.0 MB at 4 places" in command("run", "old-data", "--on", str(folder), "--dry-run").stdout
    assert "takes --quick alone" in command.refused("run", "old-data", "--on", str(folder), "--size", "1GB").stderr
    assert "No such file" in command.refused("run", "old-data", "--on", str(folder / "nothing")).stderr
    assert "holds nothing of 4 MiB" in command.refused("run", "old-data", "--on", str(tmp_path / "run")).stderr
    assert [path.stat() for path in paths] == before


def test_old_data_explains_a_device_that_is_slow_at_some_places(tmp_path, monkeypatch):
    disk = tmp_path / "disk"
    with disk.open("wb") as file:
        file.truncate(512 << 20)
    facts = probe.facts(tmp_path)
    monkeypatch.setattr(probe, "facts", lambda path: facts)
    monkeypatch.setattr(Path, "is_block_device", lambda path: path == disk)
    slow_where(monkeypatch, lambda at: 100 << 20 <= at < 200 << 20)
    recording = pslc.run("old-data", on=str(disk))
    if recording.facts["read_back"]["faults"]:
        pytest.skip("the file system refuses O_DIRECT")
    explanation = recording.findings["read_explanation"]
    assert explanation["likely"][0]["explanation"] == "old-data"
    assert explanation["spans"] == [(100 << 20, 200 << 20)]
    assert "105 MB in 1 span are read at 70.0 MB/s, the rest at 500 MB/s: old data" in of_old_data(recording)[1]


TIMES = {"SECONDS": 0.02, "QUICK_SECONDS": 0.02, "QUICK_MINUTES": 0.001, "QUICK_ROUND_S": 0.02, "HIR_SECONDS": 0.02}


@pytest.mark.long
# One takes a UFS drive, and one writes nothing to a real drive.
@pytest.mark.parametrize("name", [name for name in suites.names() if name not in ("modes", "old-data")])
def test_each_suite_runs_on_a_real_file_and_shows_what_it_found(name, tmp_path, monkeypatch, capsys):
    module = suites.load(name)
    assert isinstance(module, ModuleType)
    for constant, value in TIMES.items():
        if hasattr(module, constant):
            monkeypatch.setattr(module, constant, value)
    monkeypatch.chdir(tmp_path)
    recording = pslc.run(
        name,
        on="./scratch.bin",
        # Waiting is real on a real drive.
        options=[("pause", "0"), ("thinktime", "0")],
        scope=QUICK,
        real=RealOptions(size=64_000_000),
    )
    assert recording.error is None
    assert recording.written_bytes > 0
    shown = recording_view.of_recording(recording)
    assert shown.of_level("note")[0] == f"--quick: {module.QUICK}"
    terminal.show(shown)
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines) <= 100
    assert name in page.render(recording_view.of_recording(recording))
    assert list(tmp_path.iterdir()) == []


def test_a_profile_without_heat_tells_no_temperature(small):
    found = small("thermal", QUICK)
    assert not found["temperature_known"]
    assert [row["most_c"] for row in found["thermal"]] == [None, None]
    assert "the temperature is unknown" in found["warnings"][0]


@pytest.mark.long
def test_what_a_buffer_takes_in_while_it_drains_is_no_cache() -> None:
    """At 30 % it took 69 MB at 6.4 GB/s, before cells of 4.9 GB/s: 16 MB of memory. All further probes were small."""
    found = pslc.run("fill-levels", on="sim:sn850-1tb,scale=1/4").findings
    sizes = [row["cache_bytes"] for row in found["levels"]]
    assert all(sizes)
    assert sizes == sorted(sizes, reverse=True)


def test_a_recording_that_does_not_name_what_was_asked_is_of_a_suite_that_was_asked_nothing() -> None:
    assert Scope.of({}) == Scope()
    assert Scope.of({"quick": True}) == Scope(quick=True)
    asked = Scope(quick=True, region=(0, 1 << 30), fill_first=0, idle_s=2.0, budget=Budget(bytes=1e9))
    assert Scope.of(asked.document()) == asked


def test_what_three_minutes_sustain_is_told_so_far_while_the_drive_is_not_full(small):
    found = small("sustained", QUICK)
    (said, *_) = suites.load("sustained").sentences(found)
    part = any(warning.code == "part" for warning in found["warnings"])
    assert said.startswith("Sustained so far: " if part else "Sustained: ")
    (said, *_) = suites.load("sustained").sentences(
        {**found, "warnings": [MeasurementWarning("part", "only a part: the rest")]}
    )
    assert said.startswith("Sustained so far: ")
    (said, *_) = suites.load("sustained").sentences({**found, "warnings": []})
    assert said.startswith("Sustained: ")


def test_what_pauses_gain_is_not_told_where_bursts_without_them_differ():
    rows = [{"wait_s": wait, "iops": 1e6, "baseline_iops": base, "gain": 1e6 / base} for wait, base in
            [(5, 262e3), (10, 117e3), (25, 1544e3)]]  # fmt: skip
    found = {"iops": [], "rounds": 5, "steady": False, "hir": rows}
    assert suites.load("snia").sentences(found)[-1] == (
        "What pauses between bursts of writes gain is uncertain: without them it made 117 000 to 1 544 000 IOPS."
    )
    found["hir"] = [{**row, "baseline_iops": 5e5, "gain": 2.0} for row in rows]
    assert suites.load("snia").sentences(found)[-1] == (
        "Pauses of 5 s between bursts of writes make them 2.0 times as fast."
    )


def test_a_pause_that_was_not_tried_is_told_as_such():
    found = {
        "cache_bytes": 620e9, "idle_threshold_s": 1.54, "idle_threshold_s_low": 0.0, "idle_threshold_s_high": 3.89,
        "migration_bytes_per_s": 735e6, "migration_bytes_per_s_low": 729e6, "migration_bytes_per_s_high": 742e6,
        "residue_bytes": None, "residue_bytes_low": None, "residue_bytes_high": None,
    }  # fmt: skip
    assert recovery.sentences(found) == [
        "The drive frees its cache after at most 3.89 s of idle time, perhaps at once, at 735 MB/s "
        "(729 MB/s to 742 MB/s).",
        "The whole cache would be free after 14 min 5 s.",
    ]


def test_a_limit_outside_of_the_cells_is_told_behind_the_speed():
    phases = [
        {"bytes_per_s": 567e6, "cause": "link", "confidence": 1.0},
        {"bytes_per_s": 397e6, "cause": "direct", "confidence": 0.6},
    ]
    found = {"cache_bytes": 63.9e9, "cache_bytes_low": 63.9e9, "cache_bytes_high": 63.9e9, "phases": phases}
    said = sentences.describe({**found, "fill_mean_bytes_per_s": 413e6, "warnings": []})
    assert said[1] == "567 MB/s (limited by the link); then probably direct to native cells 397 MB/s."


def test_a_drive_without_a_cache_is_said_to_have_none(small):
    bare = {"cache__mode": "pure-xlc"}
    phases = small("fill", **bare)["phases"]
    assert [phase["cause"] for phase in phases] == ["native"]
    found = small("second-pass", QUICK, **bare)
    assert suites.load("second-pass").sentences(found)[0] == (
        "No end of a cache, neither on the empty drive nor on the full one."
    )


def test_which_area_wears_out_first_is_told_where_there_are_two():
    found = {
        "life_bytes": 25.4e15, "life_years": 1389.0, "life_fills": 12684.0, "wear_main": 5e-6, "wear_static": 0.0,
        "waf": 1.0, "slc_per_host": 0.0, "direct_per_host": 1.0, "folded_per_host": 0.0, "collected_per_host": 0.0,
    }  # fmt: skip
    endurance = suites.load("endurance")
    assert endurance.sentences(found)[0] == (
        "Life under this load: 25 400 TB, 12 684 times the capacity, more than 1000 years at 50 GB a day."
    )
    cells = [row[1] for row in endurance.tables(found)[0].rows]
    assert cells[-2:] == ["0.0005 %", "none"]
    worn = endurance.sentences(found | {"life_years": 5.2, "wear_static": 9e-5})[0]
    assert worn.endswith("5 years at 50 GB a day; the static cache wears out first.")


def test_a_cache_that_was_not_free_again_is_told_as_what_was_free():
    level = {
        "phases": [],
        "fill_mean_bytes_per_s": None,
        "cache_bytes": 15.6e9,
        "cache_bytes_low": 15.5e9,
        "warnings": [],
    }
    held = MeasurementWarning("held", "the cache still held 6.30 GB when the write began: let it rest")
    found = {**level, "cache_bytes": 9.31e9, "warnings": [held], "first_pass": level, "first_as_far_bytes_per_s": None}
    said = suites.load("second-pass").sentences(found)
    assert said == [
        "After a rest of 5 min the cache has 9.31 GB free on the full drive; it holds 15.6 GB on the empty one."
    ]
    assert suites.load("second-pass").sentences({**found, "warnings": []})[0].startswith("The cache holds 9.31 GB")
