"""The twin: the fit finds what was hidden, says what it does not know, and its profile loads."""

import csv
import itertools
import json
import re
import signal
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benches import hidden as drives
from benches.small import PROFILE
from typer.testing import CliRunner

import pslc
from pslc import suites
from pslc.analysis import Curve, find_phases
from pslc.base import units, words
from pslc.base.ends import ENDS
from pslc.base.errors import PslcError
from pslc.cli import app
from pslc.device import parts
from pslc.device.region import Budget, Scope, find_region
from pslc.device.target import RealOptions, find_target
from pslc.figures import curves
from pslc.lab import page_data
from pslc.recording import metrics, store
from pslc.recording.model import TWIN_TAILS
from pslc.report import page, recording_view, terminal
from pslc.suites import random_steady
from pslc.suites import twin as suite
from pslc.twin import (
    initial_fit,
    initial_guess,
    model,
    optimizer,
    priors,
    profile_writer,
    published_curve,
    residuals,
    small_io,
    start_values,
    uncertainty,
)
from pslc.twin.datasets import (
    Dataset,
    JobFeatures,
    RunSpec,
    dataset_of,
    dataset_of_curve,
    datasets_of,
    first_write_curve,
    run_sequences,
    scaled_step,
    simulate,
)
from pslc.twin.fit_report import build_report
from pslc.twin.fit_result import POOR_FIT_RMS, FitResult
from pslc.twin.identifiability import free_parameters_of
from pslc.twin.pipeline import fit_datasets
from pslc.twin.pool import Pool
from pslc.twin.review import CACHE_SHARES, FIRST_OVER_LINK, Drive, drive_of_parts
from tests.conftest import ROOT

REVIEW = "cache=435GB speed1=4000MB/s speed2=500MB/s end2=1100GB speed3=300MB/s"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("twin") / "small.toml"
    path.write_text(PROFILE)
    return f"sim:{path}"


@pytest.fixture(scope="module")
def filled(small: str) -> pslc.Recording:
    return pslc.run("fill", on=small)


@pytest.fixture(scope="module")
def fitted(filled: pslc.Recording) -> FitResult:
    facts = priors.collect_priors(filled.capacity_bytes, 8e8, link=priors.link_of(filled))
    return fit_datasets([dataset_of(filled)], facts, workers=1)


@pytest.mark.parametrize(
    ("policy", "reuse"),
    [("direct-then-fold", "after-idle"), ("direct-while-folding", "after-idle"), ("fold", "as-freed")],
)
def test_a_scaled_drive_does_the_same(policy: str, reuse: str) -> None:
    build = model.typical_geometry(256_000_000_000, "pcie4x4", 3, 6e9, 2e9)
    values = {name: one.prior_mean for name, one in model.PARAMETERS.items()} | {"slc_rate": 5e9, "native_rate": 2e9}
    whole = model.Model(build, model.FirmwareModel("dynamic-slc", policy, reuse))
    size = 250_000_000_000
    step = f"[fill]\nstonewall\nrw=write\noffset=0\nsize={size}\ndirect=1\nbs=1m\nioengine=io_uring\niodepth=32\n"
    dataset = Dataset("fill", [step], 0, [[None]], [[16]])
    found = []
    for one in (whole, whole.scaled()):
        drive = one.open(values)
        assert drive is not None
        found.append(next(simulate(drive, dataset.run_spec, one.scale))[0])
    assert whole.scaled().scale > 10
    assert abs(found[0].curves[1] - found[1].curves[1]).max() < 0.02
    assert np.median(abs(found[0].curves[16] - found[1].curves[16])) < 0.02


@pytest.mark.parametrize("seed", [312, 317, 319])
def test_what_a_drive_did_is_explained_by_its_own_values_scaled_or_not(seed: int, tmp_path: Path) -> None:
    hidden, values = drives.hidden(seed)
    path = tmp_path / "hidden.toml"
    path.write_text(hidden.profile(values))
    for name in ("overwrite", "second-pass", "random-steady"):
        dataset = dataset_of(pslc.run(name, on=f"sim:{path}", scope=Scope(quick=True)))
        for one, max_loss in ((hidden, 0.05), (hidden.scaled(), 0.14)):
            off = optimizer.FitProblem(one, [dataset], [], values).residuals(np.zeros(0))
            assert residuals.loss_of(off, [dataset], 0) ** 0.5 < max_loss, name


@pytest.mark.parametrize(("mode", "size"), [("static-slc", 160e6), ("dynamic-slc", 1.2e9), ("hybrid-slc", 1.36e9)])
def test_what_stays_is_a_share_of_the_cache_that_there_is(mode: str, size: float) -> None:
    build = model.typical_geometry(8_000_000_000, "pcie4x4", 3, 4e9, 9e8)
    values = {name: one.prior_mean for name, one in model.PARAMETERS.items()} | {"residue": 0.25}
    keys = model.Model(build, model.FirmwareModel(mode)).keys(values)
    assert keys["cache.idle.residue"] == f'"{0.25 * size:.0f}B"'
    assert ("cache.dynamic" in keys, "cache.static" in keys) == (mode != "static-slc", mode != "dynamic-slc")


def test_a_scaled_trim_leaves_nothing_out() -> None:
    size = 28_999_417_856
    whole = f"[trim]\nrw=trim\noffset=0\nsize={size}\nbs={size // 512}\n"
    one = f"[settle]\nrw=trim\nsize={size}\nbs=4k\nnumber_ios=1\n"
    write = f"[a]\nrw=write\nsize={size}\nbs=1m\n"
    given = dict(line.split("=") for line in scaled_step(whole, 3.387).splitlines() if "=" in line)
    assert int(given["size"]) % int(given["bs"]) == 0
    assert int(given["bs"]) > 1 << 24
    assert "bs=4k\n" in scaled_step(one, 3.387)
    assert "bs=1m\n" in scaled_step(write, 3.387)


def test_steps_of_a_scaled_drive_meet_where_those_of_the_whole_do() -> None:
    rng = np.random.default_rng(1)
    borders = [0, *sorted(int(at) for at in rng.integers(10**9, 5 * 10**11, 40)), 5 * 10**11]
    text = "".join(f"[{n}]\noffset={a}\nsize={b - a}\n" for n, (a, b) in enumerate(pairwise(borders)))
    for scale in (3.387, 23.0, 84.2):
        numbers = [int(line.split("=")[1]) for line in scaled_step(text, scale).splitlines() if "=" in line]
        offsets, sizes = numbers[::2], numbers[1::2]
        ends = [offset + size for offset, size in zip(offsets, sizes, strict=True)]
        assert ends[:-1] == offsets[1:]
        assert ends[-1] == pytest.approx(borders[-1] / scale, abs=2**19)
        assert np.abs(np.array(offsets) - np.array(borders[:-1]) / scale).max() <= 2**19


def test_what_run_twin_measured_is_played_on_one_drive(small: str) -> None:
    datasets = datasets_of(pslc.run("twin", on=small, scope=Scope(quick=True)))
    assert [dataset.suite for dataset in datasets] == ["fill", "recovery"]
    (both,) = run_sequences(datasets)
    (alone,) = run_sequences(datasets[1:])
    assert [asked.transition_step.startswith("[begin-recovery]") for asked in both] == [False, True]
    assert alone[0].steps[0].startswith("[use]")
    assert not alone[0].transition_step

    def off(asked: tuple[RunSpec, ...], of: list[Dataset]) -> float:
        drive = model.open_drive(PROFILE)
        assert drive is not None
        looks = [list(simulate(drive, one, 1.0)) for one in asked]
        return float(residuals.loss_of(residuals.weighted_residuals(of, looks), of, 0) ** 0.5)

    assert off(both, datasets) < 0.012
    assert off(alone, datasets[1:]) < 0.1


def test_a_fill_that_is_level_but_for_its_end_has_no_cache_as_large_as_the_drive() -> None:
    edges = np.linspace(0, 467e9, 468)
    curve = Curve(edges, np.diff(edges) / np.where(edges[1:] <= 461e9, 525e6, 212e6))
    facts = priors.collect_priors(467_000_000_000, 5.3e8, link="sata600", nand="tlc")
    seen, bits = initial_fit.summarize_curve(
        curve, dataset_of_curve(curve, "bs=1m\niodepth=32\nioengine=io_uring"), facts
    )
    assert seen.cache is None
    # Some fill of each policy is like this one.
    assert {one.when_full for one in initial_fit.candidate_models(seen, bits) if one.mode == "dynamic-slc"} == {
        "fold", "direct-then-fold", "direct-while-folding",
    }  # fmt: skip


def test_what_hides_behind_each_other_is_drawn_together(fitted: FitResult) -> None:
    suggested = [[{"dynamic_min": 0.07}, {"dynamic_min": 0.97}], [{"residue": 0.04}]]
    best = fitted.best
    problem = replace(best.problem, free=[*best.problem.free, "dynamic_min"])
    start = replace(best, problem=problem, x=problem.pack(best.values))
    drawn = start_values.draw(start, suggested)
    assert len(drawn) == start_values.DRAWS
    assert {0.07, 0.97} <= {one["dynamic_min"] for one in drawn}
    assert any(0.3 < one["dynamic_min"] < 0.9 and one["residue"] == 0.04 for one in drawn)
    assert drawn == start_values.draw(start, suggested)


@pytest.mark.long
@pytest.mark.parametrize(("seed", "dies", "assumed"), [(316, 4, 2), (321, 8, 8), (322, 2, 4)])
def test_reads_in_a_queue_tell_how_many_dies_there_are(seed: int, dies: int, assumed: int, tmp_path: Path) -> None:
    hidden, values = drives.hidden(seed)
    path = tmp_path / "hidden.toml"
    path.write_text(hidden.profile(values))
    runs = [pslc.run(name, on=f"sim:{path}", scope=Scope(quick=name != "fill")) for name in ("fill", "qd-sweep")]
    facts = priors.collect_priors(hidden.capacity_bytes, 1e9, link=hidden.geometry.link, nand="tlc")
    of_fill, of_both = (fit_datasets([dataset_of(run) for run in some], facts) for some in (runs[:1], runs))
    assert hidden.geometry.dies == dies
    assert of_fill.geometry.dies == assumed
    assert of_both.geometry.dies == dies
    assert ("qd-sweep" in profile_writer.provenance(of_both)["nand.dies"]) == (dies != assumed)


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.996, 1.0])
def test_the_profile_holds_the_least_cache_that_the_fit_states(kept: float) -> None:
    build = model.typical_geometry(64_000_000_000, "pcie3x4", 3, 2e9, 6e8)
    values = {name: one.prior_mean for name, one in model.PARAMETERS.items()} | {"dynamic_min": kept, "dynamic": 0.1}
    drive = model.Model(build, model.FirmwareModel("dynamic-slc", "direct-then-fold"))
    keys = drive.keys(values)
    smallest, largest = (units.size(keys[f"cache.{key}"].strip('"'), key) for key in ("dynamic_least", "dynamic"))
    assert smallest == pytest.approx(kept * largest, abs=1)


@pytest.mark.long
def test_what_may_never_come_back_is_looked_for_where_no_pause_was_long_enough(tmp_path: Path) -> None:
    hidden, values = drives.hidden(303)
    path = tmp_path / "hidden.toml"
    path.write_text(hidden.profile(values))
    runs = [drives.noisy(pslc.run(name, on=f"sim:{path}", scope=Scope(quick=name != "fill")), 303)
            for name in ("fill", "recovery")]  # fmt: skip
    assert runs[1].findings["residue_bytes"] is None
    facts = priors.collect_priors(hidden.capacity_bytes, 1e9, link=hidden.geometry.link, nand="tlc")
    facts = replace(facts, geometry=hidden.geometry, part_priors=drives.sheet(hidden, values, 303))
    twin = fit_datasets([dataset_of(run) for run in runs], facts)
    assert twin.best.rms_log_error < 0.05
    assert twin.best.values["residue"] == pytest.approx(values["residue"], abs=0.05)
    assert twin.best.values["host_share"] == pytest.approx(values["host_share"], abs=0.1)


@pytest.mark.long
def test_a_fill_tells_policy_cache_and_rates(fitted: FitResult) -> None:
    best = fitted.best
    policies = {one.firmware.when_full for one in fitted.indistinguishable}
    assert "direct-while-folding" in policies
    assert best.rms_log_error < 0.05
    assert best.values["dynamic"] * 8e9 == pytest.approx(800e6, rel=0.04)
    assert best.values["native_rate"] == pytest.approx(437e6, rel=0.08)
    assert best.values["host_share"] == pytest.approx(0.6, abs=0.08)


DRIVE = {name: one.prior_mean for name, one in model.PARAMETERS.items()} | {
    "slc_rate": 4e9, "native_rate": 9e8, "dynamic": 0.1, "over_provisioning": 0.07, "fold_overhead": 1.5,
    "dynamic_min": 1.0,
}  # fmt: skip


def fit_of(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    truth: model.FirmwareModel,
    values: dict[str, float],
    tried: list[model.FirmwareModel],
) -> FitResult:
    """Of a fill of a drive of 24 GB, with only these firmwares tried."""
    build = model.typical_geometry(24_000_000_000, "pcie4x4", 3, 4e9, 9e8)
    (tmp_path / "truth.toml").write_text(model.Model(build, truth).profile(DRIVE | values))
    run = pslc.run("fill", on=f"sim:{tmp_path}/truth.toml")
    monkeypatch.setattr(initial_fit, "candidate_models", lambda seen, bits: tried)
    before = priors.collect_priors(24_000_000_000, 4e9, link="pcie4x4", nand="tlc")
    return fit_datasets([dataset_of(run)], before, workers=1)


@pytest.mark.long
def test_a_fill_tells_how_much_space_is_left_when_folding_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = model.FirmwareModel("dynamic-slc", "direct-then-fold")
    found = fit_of(tmp_path, monkeypatch, truth, {"watermark": 0.3}, [truth])
    # Spare space and watermark are told by their difference.
    values = found.best.values
    assert values["watermark"] - values["over_provisioning"] == pytest.approx(0.3 - 0.07, abs=0.02)
    assert found.best.rms_log_error < 0.05
    assert "fold_below" in build_report(found, "mine", with_predictions=False).profile


@pytest.mark.long
def test_a_drive_that_folds_while_it_writes_is_found_beside_the_law() -> None:
    # Both dies and buses are shared: what gets through while it folds is 0.54 of the native rate, not the share of 0.6.
    filled = pslc.run("fill", on="sim:sn850-1tb")
    found = fit_datasets(
        [dataset_of(filled)], priors.collect_priors(filled.capacity_bytes, 5.4e9, link="pcie4x4"), workers=1
    )
    assert found.best.firmware.when_full == "direct-while-folding"
    assert found.best.rms_log_error < 0.022
    native = found.best.values["native_rate"]
    assert native == pytest.approx(filled.facts["native_write_bytes_per_s"], rel=0.03)
    assert found.best.values["host_share"] == pytest.approx(0.6, abs=0.025)


@pytest.mark.parametrize("reuse", ["after-idle", "as-freed"])
def test_other_shares_of_die_time_write_as_fast_beside_folding(reuse: str) -> None:
    firmware = model.FirmwareModel("dynamic-slc", "direct-while-folding", reuse)
    values = {"host_share": 0.5, "native_rate": 4e8, "fold_overhead": 2.0}

    def through(of: dict[str, float]) -> float:
        folded = (1 - of["host_share"]) / of["fold_overhead"] if reuse == "as-freed" else 0.0
        return of["native_rate"] * (of["host_share"] + folded)

    for share in (0.3, 0.75):
        for other in initial_guess.equivalent_host_shares(values, firmware, share):
            assert through(other) == pytest.approx(through(values))


def test_a_cache_that_stays_away_may_be_slow_to_come_back() -> None:
    one = model.FirmwareModel("dynamic-slc")
    build = model.typical_geometry(200 * 10**9, "pcie3x4", 3, 1e9, 2e8)
    values = {name: parameter.prior_mean for name, parameter in model.PARAMETERS.items()} | {"native_rate": 2e8}
    before = optimizer.Candidate(optimizer.FitProblem(model.Model(build, one), [], [], values), np.zeros(0), 0.0)
    findings = {"cache_bytes": 2e10, "residue_bytes": 1.5e10, "migration_bytes_per_s": None}
    dataset = Dataset("recovery", [], 0, [], [], findings=findings)
    ways = start_values.fit_hints(dataset, before)
    rates = next(some for some in ways if "idle_rate" in some[0])
    assert min(way["idle_rate"] for way in rates) < 2e7
    assert not [way for way in rates if way["residue"] != 0.0]


def test_erases_are_looked_for_where_a_suite_writes_over_what_was_written() -> None:
    firmware = model.FirmwareModel("dynamic-slc", "fold")
    for suite_name, looked in (("fill", False), ("sustained", False), ("recovery", True), ("overwrite", True)):
        dataset = Dataset(suite_name, [], 0, [], [])
        assert ("erase" in free_parameters_of(firmware, [dataset])) == looked, suite_name


@pytest.mark.long
def test_a_cache_that_is_the_only_way_in_and_keeps_its_size_is_fold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = model.FirmwareModel("dynamic-slc", "fold", "as-freed")
    other = model.FirmwareModel("dynamic-slc", "direct-while-folding", "as-freed")
    found = fit_of(tmp_path, monkeypatch, truth, {}, [other, truth])
    assert "fold" in {one.firmware.when_full for one in found.indistinguishable}
    (of_fold,) = (one for one in [found.best, *found.alternatives] if one.firmware == truth)
    assert of_fold.values["dynamic_min"] > 0.9


@pytest.mark.long
def test_reads_of_a_drive_without_a_cache_tell_how_long_native_cells_take(tmp_path: Path) -> None:
    build = model.typical_geometry(16_000_000_000, "pcie3x4", 3, 2e9, 6e8)
    hidden = model.Model(build, model.FirmwareModel("pure-xlc"))
    usual = {name: one.prior_mean for name, one in model.PARAMETERS.items()} | {"native_rate": 6e8}
    path = tmp_path / "hidden.toml"
    path.write_text(hidden.profile(usual | {"native_read": 110e-6}))
    runs = [pslc.run(name, on=f"sim:{path}", scope=Scope(quick=name != "fill")) for name in ("fill", "qd-sweep")]
    facts = replace(priors.collect_priors(runs[0].capacity_bytes, 1e9, link="pcie3x4", nand="tlc"), geometry=build)
    told = fit_datasets([dataset_of(run) for run in runs], facts, workers=1).best.values
    assert told["native_read"] == pytest.approx(110e-6, rel=0.1), "usual are 60 us"


def test_a_write_faster_than_any_drive_is_fitted_all_the_same() -> None:
    """As of a scratch file whose memory takes in all of it."""
    edges = np.linspace(0, 64e6, 65)
    dataset = dataset_of_curve(Curve(edges, np.full(64, 1e6 / 1e12)), "bs=1m\niodepth=32")
    assert (
        fit_datasets([dataset], priors.collect_priors(64_000_000, 1e12), workers=1).best.values["native_rate"] <= 2e10
    )


def test_repeats_of_a_job_are_compared_by_their_mean() -> None:
    def look(speed: float) -> JobFeatures:
        return JobFeatures("again", {1: np.log(np.array([speed]))}, {}, None, 1.0, ("again",))

    seen = [look(speed) for speed in (50.0, 200.0, 50.0, 200.0)]
    made = [look(speed) for speed in (200.0, 50.0, 200.0, 50.0)]
    dataset = Dataset("recovery", [""], 0, [seen], [[1] * 4])
    assert residuals.weighted_residuals([dataset], [[made]]) == pytest.approx(0.0)


def test_what_chance_decides_weighs_less() -> None:
    def look(speed: float) -> JobFeatures:
        return JobFeatures("fill", {4: np.log(np.array([100.0, 100.0, speed, 100.0]))}, {})

    dataset = Dataset("fill", [""], 0, [[look(100.0)]], [[4]])
    plain = residuals.weighted_residuals([dataset], [[[look(50.0)]]])
    chance = np.array([0.0, 0.0, np.log(2.0) ** 2, 0.0])
    less = residuals.weighted_residuals([dataset], [[[look(50.0)]]], chance)
    assert (less**2).sum() < 0.01 * (plain**2).sum()
    # The others count for more instead.
    other = [[[JobFeatures("fill", {4: np.log(np.array([90.0, 100.0, 100.0, 100.0]))}, {})]]]
    assert (residuals.weighted_residuals([dataset], other, chance) ** 2).sum() > (
        residuals.weighted_residuals([dataset], other) ** 2
    ).sum()


@pytest.mark.long
def test_a_cache_of_less_than_a_hundredth_of_the_drive_is_found() -> None:
    found, _ = published_curve.curve("cache=7GB speed1=1850MB/s speed2=470MB/s", 1_000_000_000_000)
    dataset = dataset_of_curve(found, priors.LOADS["qd32"][0])
    facts = priors.collect_priors(1_000_000_000_000, 1.85e9, link="pcie3x4", nand="tlc")
    twin = fit_datasets([dataset], facts, workers=1)
    assert twin.best.values["slc_rate"] == pytest.approx(1.85e9, rel=0.05)
    assert twin.best.cache_share == pytest.approx(0.007, rel=0.05)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_cache_of_two_tiers_is_fitted_as_one(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    capacity, bits = 200_000_000_000, int(rng.integers(3, 5))
    truth = {name: parameter.prior_mean for name, parameter in model.PARAMETERS.items()} | {
        "slc_rate": rng.uniform(3e9, 6e9), "native_rate": rng.uniform(4e8, 9e8), "fold_overhead": 1.5,
        "static": rng.uniform(0.01, 0.05), "dynamic": rng.uniform(0.05, 0.2), "dynamic_min": 0.0,
    }  # fmt: skip
    truth["mlc_rate"] = truth["slc_rate"] * rng.uniform(0.5, 0.75)
    build = model.typical_geometry(capacity, "pcie4x4", bits, truth["slc_rate"], truth["native_rate"])
    firmware = model.FirmwareModel("hybrid-slc", "fold", "as-freed", bits_per_cell=bits, has_two_tiers=True)
    (tmp_path / "hidden.toml").write_text(model.Model(build, firmware).profile(truth))
    filled = dataset_of(pslc.run("fill", on=f"sim:{tmp_path / 'hidden.toml'}"))
    facts = priors.collect_priors(capacity, 7e9, link="pcie4x4", nand="tlc" if bits == 3 else "qlc")
    twin = fit_datasets([filled], facts, workers=1)
    assert twin.best.rms_log_error < 0.03
    assert {rival.firmware.mode for rival in twin.indistinguishable} == {"hybrid-slc"}
    for name in ("slc_rate", "mlc_rate", "static", "dynamic"):
        assert twin.best.values[name] == pytest.approx(truth[name], rel=0.1), name


def test_two_tiers_are_tried_where_a_cache_has_two_speeds() -> None:
    curve, _ = published_curve.curve("cache=54GB speed1=5000MB/s speed2=3500MB/s end2=460GB speed3=130MB/s", 2 * 10**12)
    dataset = dataset_of_curve(curve, priors.LOADS["qd1"][0])
    facts = priors.collect_priors(2 * 10**12, 7e9, link="pcie4x4", nand="qlc")
    summary, bits = initial_fit.summarize_curve(curve, dataset, facts)
    assert summary.tiers == pytest.approx((54e9, 5e9, 3.5e9), rel=0.02)
    tiered = [rules for rules in initial_fit.candidate_models(summary, bits) if rules.has_two_tiers]
    assert {rules.when_full for rules in tiered} == {"fold", "direct-then-fold", "direct-while-folding"}
    # Cells that hold two bits natively have no tier of two, and nor has a cache of one speed.
    assert not any(rules.has_two_tiers for rules in initial_fit.candidate_models(summary, 2))
    assert not any(rules.has_two_tiers for rules in initial_fit.candidate_models(replace(summary, tiers=None), bits))
    start = next(initial_guess.initial_guesses(summary, tiered[0]))
    drive = model.Model(model.typical_geometry(2 * 10**12, "pcie4x4", 4, 5e9, 5e8), tiered[0]).open(start)
    assert drive is not None
    keys = model.Model(model.typical_geometry(2 * 10**12, "pcie4x4", 4, 5e9, 5e8), tiered[0]).keys(start)
    assert keys["cache.dynamic_cells"] == '"mlc"'
    assert "of two tiers" in tiered[0].words


def test_what_the_drives_memory_took_in_is_not_its_cache() -> None:
    written = np.arange(1, 2001) * 10e6
    speed = np.where(written <= 50e6, 2e9, np.where(written <= 2e9, 8e8, 2e8))
    speed *= np.exp(np.random.default_rng(1).normal(0.0, 0.01, speed.size))
    curve = Curve(np.append(0.0, written), 10e6 / speed)
    dataset = dataset_of_curve(curve, priors.LOADS["qd32"][0])
    facts = priors.collect_priors(20_000_000_000, 2e9, link="pcie3x4", nand="tlc")
    summary, _ = initial_fit.summarize_curve(curve, dataset, facts)
    assert summary.cache == pytest.approx(2e9, rel=0.02)


def test_two_values_of_which_only_the_sum_is_told_are_both_unknown() -> None:
    """Over a slow link only the end of the direct phase is seen, at capacity + spare - (n-1)S: a border, two values."""
    capacity = 18_000_000_000
    drive = model.Model(
        model.typical_geometry(capacity, "sata600", 3, 4.4e9, 6e8), model.FirmwareModel("dynamic-slc", reuse="as-freed")
    )
    values = {name: one.prior_mean for name, one in model.PARAMETERS.items()} | {
        "slc_rate": 4.4e9, "native_rate": 6.1e8, "dynamic": 0.08, "over_provisioning": 0.11, "dynamic_min": 1.0,
        "fold_overhead": 1.8,
    }  # fmt: skip
    step = "[fill]\nstonewall\nrw=write\noffset=0\nsize=100%\ndirect=1\nbs=1m\nioengine=io_uring\niodepth=32\n"
    dataset = Dataset("fill", [step], 0, [[None]], [[64]])
    opened = drive.open(values)
    assert opened is not None
    dataset = replace(dataset, features=list(simulate(opened, dataset.run_spec, 1.0)))
    problem = optimizer.FitProblem(drive, [dataset], ["dynamic", "over_provisioning"], values)
    found = optimizer.Candidate(problem, problem.pack(values), 0.0)
    covariance = uncertainty.with_covariance(found, uncertainty.jacobian(found)).covariance
    assert covariance is not None
    deviation = np.sqrt(np.diag(covariance))
    assert (deviation > 0.15).all()
    assert covariance[0, 1] / deviation.prod() > 0.9
    # The border itself is told: d(spare) = 2 d(S).
    way = np.array([-2 * 0.08, 0.11])
    assert np.sqrt(way @ covariance @ way) < 0.02


@pytest.mark.long
def test_the_profile_loads_and_says_where_each_value_comes_from(fitted: FitResult, tmp_path: Path) -> None:
    found = build_report(fitted, "mine", with_predictions=False)
    path = tmp_path / "twin.toml"
    path.write_text(found.profile)
    target = find_target(f"sim:{path}")
    assert target.capacity_bytes == 8_000_000_000 // 4096 * 4096
    provenance = dict(target.provenance)
    assert provenance["cache.dynamic"].startswith("fitted to fill")
    assert "90 % interval" in provenance["cache.dynamic"]
    assert provenance["cache.idle.threshold"] == "assumed; recovery would tell"
    # No link carries what a twin without a ceiling would be told to.
    assert "native_write" not in found.profile.partition("[provenance]")[0]
    assert next(one for one in found.estimates if one.name == "ceiling").words == "no limit"
    mean = pslc.run("fill", on=f"sim:{path}").findings["fill_mean_bytes_per_s"]
    measured = fitted.datasets[0].written_bytes / fitted.datasets[0].seconds
    assert mean == pytest.approx(measured, rel=0.05)


@pytest.mark.long
def test_what_the_data_do_not_tell_is_named_with_the_suite_that_would(fitted: FitResult) -> None:
    found = build_report(fitted, "mine", with_predictions=False)
    unknown = " ".join(found.unknown)
    assert "silence before the cache is emptied" in unknown
    assert "recovery would tell" in unknown
    assert "the link hides it" in unknown
    hidden = next(one for one in profile_writer.estimates(fitted) if one.name == "slc_rate")
    assert hidden.high is None
    assert hidden.words.endswith(" or more)")


@pytest.mark.long
def test_an_interval_is_no_narrower_than_what_recovery_says(small: str) -> None:
    runs = [pslc.run(name, on=small, scope=Scope(quick=name != "fill")) for name in ("fill", "recovery")]
    twin = fit_datasets([dataset_of(run) for run in runs], priors.collect_priors(8_000_000_000, 1.3e9, nand="tlc"))
    found = next(one for one in profile_writer.estimates(twin) if one.name == "idle_threshold")
    assert found.low is not None
    assert found.high is not None
    assert found.low <= runs[1].findings["idle_threshold_s_low"] or found.low == pytest.approx(1e-3)
    assert found.high >= runs[1].findings["idle_threshold_s_high"]


@pytest.mark.long
def test_a_suite_that_the_twin_does_not_explain_is_named(fitted: FitResult) -> None:
    said = build_report(fitted, "x", with_predictions=False)
    assert set(said.suite_errors) == {"fill"}
    assert said.suite_errors["fill"] < 0.02
    assert not any("does not explain" in sentence for sentence in said.sentences)
    (dataset,) = fitted.datasets
    halved = [[look and replace(look, curves={bins: curve - np.log(2) for bins, curve in look.curves.items()})
               for look in step] for step in dataset.features]  # fmt: skip
    odd = replace(fitted, datasets=[dataset, replace(dataset, suite="burst", features=halved)])
    both = replace(said, result=odd, simulated=[*said.simulated, *said.simulated])
    assert both.suite_errors["burst"] == pytest.approx(np.log(2), abs=0.02)
    assert "It does not explain burst (100 %)" in both.sentences[1]


def test_what_firmwares_have_in_common_is_said_once() -> None:
    direct = [model.FirmwareModel("dynamic-slc", reuse=reuse) for reuse in ("after-idle", "when-empty")]
    static = [replace(one, mode="static-slc") for one in direct]
    fold = model.FirmwareModel("static-slc", "fold")
    assert model.in_words(direct[:1]) == direct[0].words
    assert model.in_words([*direct, fold]) == (
        "direct-then-fold, reuse after-idle/when-empty, dynamic-slc; or fold, static-slc"
    )
    assert model.in_words([direct[0], static[0], fold, direct[1], static[1]]) == (
        "direct-then-fold, reuse after-idle/when-empty, dynamic-slc/static-slc; or fold, static-slc"
    )
    assert model.in_words([direct[0], static[1]]) == (
        "direct-then-fold, reuse after-idle, dynamic-slc; or direct-then-fold, reuse when-empty, static-slc"
    )
    assert model.in_words([model.FirmwareModel("pure-xlc"), direct[0]]) == f"no cache; or {direct[0].words}"


def test_over_a_full_link_a_cache_may_be_hidden() -> None:
    dataset = dataset_of_curve(published_curve.curve("speed1=560MB/s", 250_000_000_000)[0], priors.LOADS["qd32"][0])
    twin = fit_datasets([dataset], priors.collect_priors(250_000_000_000, 5.6e8, link="sata600", nand="tlc"), workers=1)
    said = build_report(twin, "twin", with_predictions=False).sentences
    assert "Firmware model: no cache, or one that the link hides." in said


@pytest.mark.long
def test_where_the_space_ends_behind_a_full_link_no_policy_is_ruled_out(tmp_path: Path) -> None:
    values = {name: one.prior_mean for name, one in model.PARAMETERS.items()}
    values |= {"slc_rate": 4e9, "native_rate": 1.4e9, "dynamic": 0.05, "dynamic_min": 1.0, "fold_overhead": 2.5}
    build = model.typical_geometry(40_000_000_000, "sata600", 3, 4e9, 1.4e9)
    firmware = model.FirmwareModel("dynamic-slc", "direct-while-folding", "as-freed")
    (tmp_path / "hidden.toml").write_text(model.Model(build, firmware).profile(values))
    filled = dataset_of(pslc.run("fill", on=f"sim:{tmp_path / 'hidden.toml'}"))
    twin = fit_datasets([filled], priors.collect_priors(40_000_000_000, 5.6e8, link="sata600", nand="tlc"), workers=1)
    assert twin.best.rms_log_error < 0.02
    assert {one.firmware.when_full for one in twin.indistinguishable} >= {"direct-then-fold", "direct-while-folding"}
    # A cache that is not seen to end is not one of nearly the whole drive.
    assert twin.best.values["dynamic"] < 0.3


@pytest.mark.long
def test_the_page_shows_measured_and_twin_over_each_other(fitted: FitResult, tmp_path: Path) -> None:
    from pslc.report import page

    found = build_report(fitted, "mine", with_predictions=True)
    assert {"fill at 50 % full", "random-steady"} <= {one.suite for one in found.predictions}
    assert not [one for one in found.predictions if not (one.low < one.value < one.high)]
    page.write_fit(found, tmp_path / "twin.html")
    text = (tmp_path / "twin.html").read_text()
    assert "fill: measured and twin" in text
    assert "Firmware models considered" in text


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("cache=435GB speed1=fast", "is not a speed"),
        ("cache=435GB", "tells no speed"),
        ("cache=435GB speed2=500MB/s", "neither link nor parts are known"),
        ("cache=435GB speed1=4000MB/s speed2=500MB/s speed4=300MB/s", "need speeds"),
        ("cache=3TB speed1=4000MB/s speed2=500MB/s", "pass the capacity"),
        ("cache=435GB velocity1=4000MB/s", "is not a published figure"),
    ],
)
def test_figures_that_make_no_curve_are_refused(text: str, what: str) -> None:
    with pytest.raises(PslcError, match=what):
        published_curve.curve(text, 2_000_000_000_000)


def test_a_mean_tells_the_speed_of_the_last_phase_and_usual_dies_where_nothing_does() -> None:
    found, notes = published_curve.curve("cache=47GB speed1=3000MB/s mean=1139MB/s", 2_000_000_000_000)
    assert found.total_bytes / found.total_seconds == pytest.approx(1139e6)
    assert "from the mean" in notes[0]
    found, notes = published_curve.curve("cache=160GB speed1=3000MB/s", 1_000_000_000_000)
    assert "typical dies" in notes[0]
    assert 0 < found.bytes_per_s[-1] < 3e9
    _, notes = published_curve.curve("cache=113GB speed1=4000MB/s speed2=1500MB/s mean=1900MB/s", 1_000_000_000_000)
    assert "published mean is 1900 MB/s" in notes[0]
    with pytest.raises(PslcError, match="more than the phases allow"):
        published_curve.curve("cache=500GB speed1=1000MB/s mean=3GB/s", 1_000_000_000_000)


@pytest.mark.parametrize("told", [tuple(told) for n in range(1, 6) for told in itertools.combinations(range(6), n)])
def test_any_subset_of_a_review_makes_a_curve_that_keeps_to_what_is_told(told: tuple[int, ...]) -> None:
    capacity = 10**12
    figures = ["cache=280GB", "speed1=4500MB/s", "speed2=2000MB/s", "end2=500GB", "speed3=500MB/s", "mean=750MB/s"]
    words = " ".join(figures[at] for at in told)
    if set(told) <= {0, 3}:
        with pytest.raises(PslcError, match="tells no speed"):
            published_curve.curve(words, capacity)
        return
    drive = drive_of_parts(capacity, "micron-b47r-tlc-512g", "innogrit-ig5220")
    found, notes = published_curve.curve(words, capacity, drive)
    speeds = np.unique(found.bytes_per_s.round())
    for at, speed in ((1, 4.5e9), (2, 2e9), (4, 5e8)):
        assert (speed in speeds) or at not in told
    if 5 in told and 4 not in told:
        assert found.total_bytes / found.total_seconds == pytest.approx(750e6, rel=0.01)
    assert notes or {0, 1, 2} <= set(told)


def test_any_subset_of_any_published_fill_is_a_curve_or_wants_a_speed() -> None:
    with (ROOT / "docs" / "accuracy" / "reviews.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["capacity_GB"]]
    kinds = {"cache_GB": "GB", "end2_GB": "GB"}
    curves = 0
    for row in rows:
        keys = ("cache_GB", "speed1_MBps", "speed2_MBps", "end2_GB", "speed3_MBps", "mean_MBps")
        told = [key for key in keys if row[key]]
        capacity = round(float(row["capacity_GB"]) * 1e9)
        drive = Drive(capacity, priors.bits_of(row["cells"]) or 3, priors.link_rate(row["link"], capacity))
        for some in itertools.chain(*(itertools.combinations(told, n) for n in range(1, len(told) + 1))):
            words = " ".join(f"{key.rpartition('_')[0]}={row[key]}{kinds.get(key, 'MB/s')}" for key in some)
            if not any(key.endswith("MBps") for key in some):
                with pytest.raises(PslcError, match="tells no speed"):
                    published_curve.curve(words, capacity, drive)
                continue
            found, _ = published_curve.curve(words, capacity, drive)
            assert (found.bytes_per_s > 0).all(), words
            curves += 1
    assert curves > 300


def test_a_mean_bounds_the_second_speed_that_a_review_leaves_out() -> None:
    _, notes = published_curve.curve("cache=200GB speed1=5000MB/s end2=1600GB mean=3100MB/s", 2_000_000_000_000)
    low, high = (float(value) for value in re.findall(r"(\d+) MB/s", notes[0])[1:])
    assert low < 3500 < high, "what the review of this drive, an MSI M480 Play, says"


def test_the_intervals_of_what_a_review_leaves_out_are_those_of_the_published_drives() -> None:
    with (ROOT / "docs" / "accuracy" / "drives.csv").open() as file:
        rows = list(csv.DictReader(file))
    shares: dict[int, list[float]] = {2: [], 3: [], 4: []}
    first = []
    for row in rows:
        capacity = float(units.size(row["capacity"], ""))
        size = sum(units.size(pair.partition("=")[2], "") for pair in row["cache"].split())
        if size > 0:
            shares[parts.nand(row["nand"]).bits_per_cell].append(size / capacity)
        if row["speed1_MBps"]:
            link = priors.link_rate(parts.controller(row["controller"]).link)
            first.append(float(row["speed1_MBps"]) * 1e6 / link)
    for values, interval in ((shares[3], CACHE_SHARES[3]), (shares[4], CACHE_SHARES[4]), (first, FIRST_OVER_LINK)):
        usual, low, high = interval
        assert usual == pytest.approx(float(np.median(values)), rel=0.1)
        assert float(np.mean([low <= value <= high for value in values])) >= 0.88


def test_the_laws_backwards_are_near_the_drive(filled: pslc.Recording) -> None:
    found = first_write_curve(filled)
    assert found is not None
    seen = initial_guess.summarize_phases(find_phases(found), filled.findings["cache_bytes"], 829e6, 8e9)
    firmware = model.FirmwareModel("dynamic-slc", "direct-while-folding")
    start = next(initial_guess.initial_guesses(seen, firmware))
    assert start["native_rate"] == pytest.approx(437e6, rel=0.05)
    assert start["host_share"] == pytest.approx(0.6, abs=0.1)
    # The share comes out 7 % low, which the overhead makes up for; least squares go on from there.
    assert start["fold_overhead"] == pytest.approx(1.3, rel=0.35)
    assert start["dynamic"] * 8e9 == pytest.approx(800e6, rel=0.02)


def test_one_request_at_a_time_is_recognised() -> None:
    load, why = priors.guess_load(4990e6, "pcie4x4")
    assert load == "qd1"
    assert "one request at a time" in why
    assert priors.guess_load(4000e6, "pcie4x4")[0] == "qd32"


def test_a_budget_leaves_out_what_does_not_fit(small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pslc.run("twin", on=small, scope=Scope(quick=True))
    with monkeypatch.context() as patch:
        patch.setattr(suite.suites, "load", lambda name: pytest.fail(f"{name} is analyzed again for its picture"))
        fill = suite.pictures(whole)[0]
    assert list(suite.parts_by_suite(whole)) == ["fill", "recovery"]
    assert suite.parts_by_suite(whole)["recovery"].findings["idle_threshold_s"] == pytest.approx(0.5, rel=0.4)
    alone = suite.parts_by_suite(whole)["fill"]
    assert repr(fill) == repr(curves.speed_by_bytes(alone, alone.findings["phases"]))
    part = pslc.run("twin", on=small, scope=Scope(quick=True, budget=Budget(bytes=9e9)))
    assert list(suite.parts_by_suite(part)) == ["fill"]
    assert part.findings["left_out"] == ["recovery"]
    assert part.written_bytes < 9e9


def test_a_budget_of_time_counts_the_rests(small: str) -> None:
    whole = pslc.run("twin", on=small, scope=Scope(quick=True))
    part = pslc.run("twin", on=small, scope=Scope(quick=True, budget=Budget(seconds=60)))
    assert whole.drive_time_s > 120
    assert list(suite.parts_by_suite(part)) == ["fill"]
    assert part.drive_time_s < 60


@pytest.mark.parametrize(
    ("name", "max_bytes"), [("small", 1 << 26), ("sim:pm871b-128gb", 10**9), ("sim:sn850-1tb", 8 << 30)]
)
def test_queues_are_tried_on_what_a_small_cache_holds(name: str, max_bytes: int, small: str) -> None:
    target = find_target(small if name == "small" else name)
    sweep = next(text for text in suite.steps(find_region(target, Scope())) if "[randread-1]" in text)
    sizes = {int(line.removeprefix("size=")) for line in sweep.splitlines() if line.startswith("size=")}
    assert max(sizes) <= max_bytes
    assert max(sizes) > 0.9 * min(max_bytes, target.capacity_bytes / 128)


def test_random_writes_go_on_until_they_tell_the_spare_space(tmp_path: Path) -> None:
    hidden, values = drives.hidden(312)
    path = tmp_path / "hidden.toml"
    speeds = []
    for times in (1.0, 0.5):
        path.write_text(
            hidden.scaled(8 << 30).profile(values | {"over_provisioning": times * values["over_provisioning"]})
        )
        region = replace(find_region(find_target(f"sim:{path}"), Scope(quick=True)), sparing=True)
        drive = region.target.open()
        ran = [drive.run(text, "x.fio", [], 0) for text in random_steady.steps(region)]
        job = ran[-1]["jobs"][-1]
        assert job["name"] == "filled"
        moved, took_s = job["write"]["io_bytes"], job["elapsed_ns"] / 1e9
        assert moved == pytest.approx(0.4 * region.size, rel=0.01) or took_s == pytest.approx(600, rel=0.01)
        speeds.append(moved / took_s)
    assert speeds[1] < 0.8 * speeds[0]


def test_a_small_budget_fills_a_part_of_the_drive(small: str) -> None:
    region = find_region(find_target(small), Scope(budget=Budget(bytes=4e9)))
    fills = [text for text in suite.steps(region) if "[fill]" in text]
    assert len(fills) == 1
    assert int(fills[0].partition("size=")[2].partition("\n")[0]) < 4e9


def test_a_coarse_recording_adds_up_to_the_same(small: str) -> None:
    step = "[fill]\nrw=write\nbs=1m\nioengine=io_uring\niodepth=32\nsize=1g\n"
    fine, coarse = (find_target(small).open().run(step, "x.fio", [], 0, None, None, times) for times in (None, 16))
    assert fine["drive_time_ns"] == coarse["drive_time_ns"]
    for axis in ("time", "bytes"):
        one, other = (np.frombuffer(run["series"][axis]["write_bytes"], "<u8") for run in (fine, coarse))
        assert one.sum() == other.sum()
        assert len(other) < len(one) / 4


def test_a_run_on_a_twin_tells_no_tail_of_latency_and_says_why(small: str, tmp_path: Path) -> None:
    """Beside the drive that it is a twin of, of which all is told."""
    job = "[reads]\nrw=randread\nbs=4k\nioengine=io_uring\niodepth=4\ndirect=1\nsize=1m\nnumber_ios=200\n"
    (tmp_path / "reads.fio").write_text(job)
    (tmp_path / "twin.toml").write_text(PROFILE + '\n[provenance]\n"cache.mode" = "fitted to fill"\n')
    drive, twin = (pslc.run(tmp_path / "reads.fio", on=on) for on in (small, f"sim:{tmp_path}/twin.toml"))
    assert twin.is_twin
    assert not drive.is_twin
    labels = [{name.label for name in metrics.of_recording(run)} for run in (drive, twin)]
    assert labels[0] - labels[1] == {"reads read 99 % latency"}
    of_drive, of_twin = (recording_view.of_recording(run) for run in (drive, twin))
    assert [set(one.tables[-1].columns) for one in (of_drive, of_twin)] == [
        {"job", "kind", "moved", "speed", "IOPS", "mean", "median", "99 %", "99.9 %"},
        {"job", "kind", "moved", "speed", "IOPS", "mean", "median"},
    ]
    lines = [{line.name for shown in one.pictures for line in shown.lines} for one in (of_drive, of_twin)]
    assert lines[0] - lines[1] == {"99 %", "99.9 %", "longest"}
    assert TWIN_TAILS in of_twin.warnings
    assert TWIN_TAILS not in of_drive.warnings
    studied = [
        pslc.study(on=on, run=str(tmp_path / "reads.fio"), workers=1).column_names
        for on in (small, f"sim:{tmp_path}/twin.toml")
    ]
    assert set(studied[0]) - set(studied[1]) == {"reads_read_p99_s", "reads_read_p99_9_s"}


@pytest.mark.parametrize("workers", [1, 2])
def test_the_cpu_seconds_of_a_pool_are_those_of_all_its_tasks(workers: int) -> None:
    """Whether this process does the work or the workers do, whose own clocks say how much there was."""
    with Pool(workers) as pool:
        spent = pool.map(_spend_cpu, [0.1] * 4)
        assert sum(spent) <= pool.cpu_seconds < 2 * sum(spent)


def _spend_cpu(seconds: float) -> float:
    """CPU seconds spent: those asked for, or a little more."""
    start = time.process_time()
    while (spent := time.process_time() - start) < seconds:
        pass
    return spent


def test_python_fits_recordings_and_figures_as_the_command_does(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    report = pslc.fit(published="speed1=560MB/s", capacity="250GB", link="sata600", nand="tlc", name="mine", workers=1)
    statistics = report.result.statistics
    assert report.name == "mine"
    assert report.profile.startswith("# mine: a twin")
    assert report.worst.startswith("the fill, ")
    (curve, _) = report.pictures[0].panels
    assert curve.y.unit == "B/s"
    assert curve.lines[0].y == pytest.approx([560e6] * len(curve.lines[0].y), rel=0.01)
    assert statistics.success
    assert statistics.message
    assert statistics.evaluations > 10
    cost = f"{words.count(statistics.evaluations)} evaluations, {words.span(statistics.cpu_seconds)} of a core"
    assert statistics.cost == cost
    terminal.show_fit(report)
    assert f"fitted in {cost}" in capsys.readouterr().out
    page.write_fit(report, tmp_path / "mine.html")
    assert f"in {cost}</p>" in (tmp_path / "mine.html").read_text()
    assert ["cost", statistics.cost] in next(table.rows for table in report.tables if table.title == "Fit statistics")
    assert statistics.chi_square == pytest.approx(report.result.best.loss / 0.05**2 * statistics.data_points)
    assert not [value for value in statistics.correlations.values() if not (-1 <= value <= 1)]
    assert set(statistics.at_bound.values()) <= {"low", "high"}
    document = json.loads(json.dumps(report.document()))
    assert document["statistics"]["cpu_seconds"] == statistics.cpu_seconds
    assert document["statistics"]["reduced_chi_square"] == statistics.reduced_chi_square
    assert "Fit statistics" in [table.title for table in report.tables]
    with pytest.raises(TypeError, match="capcity"):
        pslc.fit(published="speed1=560MB/s", capcity="250GB")
    with pytest.raises(PslcError, match="needs data"):
        pslc.fit()


def test_hints_of_each_suite_are_values_of_a_twin() -> None:
    values = {name: one.prior_mean for name, one in model.PARAMETERS.items()}
    findings = {"cache_share": 0.5, "cache_bytes": 1e9, "residue_bytes": 1e8, "idle_threshold_s": 1.0}
    for when_full in ("fold", "direct-then-fold"):
        start = suites.FitStart(values, 2e9, when_full)
        for name in suites.names():
            for hint in suites.fit_hints(name, findings, start):
                assert hint
                assert not [one for one in hint if not (values.keys() >= one.keys())], name
    assert suites.fit_hints("recovery", findings, start)
    assert suites.fit_hints("my.fio", findings, start) == []


@pytest.fixture
def fitting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """`pslc fit` in an empty folder with one firmware to be tried: what is tested is not the search."""
    only = model.FirmwareModel("dynamic-slc", "direct-while-folding", "after-idle")
    monkeypatch.setattr(initial_fit, "candidate_models", lambda seen, bits: [only])
    monkeypatch.setattr(initial_fit, "MAX_STARTS", 1)
    monkeypatch.chdir(tmp_path)
    before = {number: signal.getsignal(number) for number in ENDS}
    yield lambda *arguments: CliRunner().invoke(app, ["fit", *arguments])
    # A command hears signals otherwise to the end of its process.
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.long
def test_the_command_writes_profile_page_and_json(fitting, filled: pslc.Recording, tmp_path: Path) -> None:
    store.save(filled, tmp_path / "run")
    done = fitting("run", "-o", "twin.toml", "--json", "--strict")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["error"] < 0.05
    assert not document["poor"]
    assert {value["name"] for value in document["values"]} >= {"native_rate", "dynamic", "over_provisioning"}
    assert (tmp_path / "twin.toml").read_text() == document["profile"]
    assert (tmp_path / "twin.html").exists()
    assert find_target("sim:./twin.toml").capacity_bytes == filled.capacity_bytes


@pytest.mark.long
def test_a_real_file_is_measured_and_fitted_and_what_such_a_target_cannot_tell_is_said(fitting, tmp_path: Path) -> None:
    scope = Scope(quick=True, budget=Budget(seconds=6))
    run = pslc.run("twin", on=str(tmp_path / "scratch.bin"), real=RealOptions(size=64_000_000), scope=scope)
    assert not (tmp_path / "scratch.bin").exists()
    store.save(run, tmp_path / "run")
    done = fitting("run", "-o", "twin.toml", "--json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    # What is wrong with such a target is wrong with its twin: it is said again.
    assert {str(warning) for warning in run.findings.warnings} <= {warning["text"] for warning in document["warnings"]}
    assert run.findings.warnings
    assert document["unknown"], "a file of 64 MB tells not all values of a drive"
    assert document["poor"] == (document["error"] > POOR_FIT_RMS)
    target = find_target(f"sim:{tmp_path}/twin.toml")
    assert target.capacity_bytes == pytest.approx(64_000_000, rel=0.05)
    assert any(note.startswith("assumed") for note in dict(target.provenance).values())


@pytest.mark.long
def test_a_poor_fit_is_said_to_be_poor_and_strict_ends_with_1(fitting, tmp_path: Path) -> None:
    # No firmware is fast, slow, fast and slow again in equal parts from the first byte on.
    rows = [f"{at / 10:.1f},{900 if at // 20 % 2 else 40}" for at in range(1, 81)]
    (tmp_path / "odd.csv").write_text("GB,MB/s\n" + "\n".join(rows) + "\n")
    done = fitting("odd.csv", "--capacity", "8GB", "--strict", "-o", "twin.toml")
    assert done.exit_code == 1, done.output
    assert "A poor fit" in done.output
    assert "identifies no firmware model" in done.output
    assert "Worst: the fill" in done.output


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "pslc fit needs data"),
        (("--published", REVIEW), "do not report the capacity"),
        (("--published", REVIEW, "--capacity", "2TB", "--written-by", "hand"), "--written-by"),
        (("--published", REVIEW, "--capacity", "2TB", "--nand", "bics99"), "unknown NAND die"),
    ],
)
def test_what_cannot_be_fitted_is_refused(command, arguments: tuple[str, ...], what: str) -> None:
    done = command.refused("fit", *arguments)
    assert what in done.stderr
    assert "hint:" in done.stderr


@pytest.mark.parametrize(
    ("place", "what"), [("no/twin.toml", "no/twin.toml: No such file"), ("twin.toml", "twin.html was not made by pslc")]
)
def test_what_cannot_be_written_is_refused_before_the_fit(place, what, fitting, monkeypatch, tmp_path: Path) -> None:
    (tmp_path / "twin.html").write_text("somebody's")
    monkeypatch.setattr("pslc.twin.api.fit", lambda *_, **__: pytest.fail("it was fitted"))
    assert what in str(fitting("--published", REVIEW, "--capacity", "2TB", "-o", place).exception)
    assert (tmp_path / "twin.html").read_text() == "somebody's"


@pytest.mark.parametrize(("times_worse", "is_refined"), [(1.9, False), (2.1, True)])
def test_a_candidate_in_another_geometry_is_refined_where_its_loss_is_more_than_twice_the_one_before(
    times_worse, is_refined, monkeypatch
):
    geometry = SimpleNamespace(with_geometry=lambda geometry: geometry)
    before = optimizer.Candidate(optimizer.FitProblem(geometry, [], [], {}), np.array([]), 0.1)
    moved = replace(before, loss=0.1 * times_worse)
    monkeypatch.setattr(optimizer, "best_of", lambda problem, starts: [moved])
    monkeypatch.setattr(optimizer.Candidate, "moved_to", lambda candidate, problem: moved)
    monkeypatch.setattr(optimizer, "refine", lambda start, evaluations: "refined")
    assert small_io.rebase((before, geometry, before)) == ("refined" if is_refined else moved)


@pytest.mark.parametrize(("rise", "is_sawtooth"), [(1.25, False), (1.35, True)])
def test_a_cache_is_used_again_where_a_phase_is_1_3_times_as_fast_as_the_one_before(rise, is_sawtooth):
    slow = tuple((speed, 0.0, 1e9) for speed in (1e9, rise * 1e9, 1e9))
    summary = initial_guess.CurveSummary(1e11, 5e9, slow, link=7e9, capacity=1e12, whole=True)
    assert summary.is_sawtooth == is_sawtooth


def test_the_cells_that_name_no_part_have_as_many_bits_as_everywhere():
    assert {bits: name.upper() for name, bits in priors.GENERIC_CELLS.items()}.items() <= page_data.CELLS.items()
