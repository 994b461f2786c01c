"""The machines, through what a user types: what has no cache finds none, and what is said says how sure it is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benches import cells_behind

from pslc.analysis import AnalysisOptions, Curve, MeasurementContext, explain_curve
from pslc.analysis.loggers import _steps, smoothing
from pslc.analysis.posterior import machines, table
from pslc.analysis.stretches import COUNTS, _order

GB, MB = 1e9, 1e6
Analyze = Callable[..., dict[str, Any]]
FOLDER = Path(__file__).parents[1] / "fixtures" / "devices"


@pytest.fixture
def analyze(command: Any, tmp_path: Path) -> Analyze:
    """Findings of `pslc analyze` for a table with these columns."""

    def run(columns: dict[str, Any], *arguments: str, name: str = "log.csv") -> dict[str, Any]:
        rows = zip(*columns.values(), strict=True)
        lines = [",".join(columns), *(",".join(str(cell) for cell in row) for row in rows)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        findings: dict[str, Any] = json.loads(command("analyze", name, "--json", *arguments).stdout)["findings"]
        return findings

    return run


def speeds(*stretches: tuple[int, float], noise: float = 0.02, seed: int = 1) -> np.ndarray:
    """MB/s, a row a second: each stretch is a number of rows and a speed."""
    level = np.concatenate([np.full(rows, speed) for rows, speed in stretches])
    shaken: np.ndarray = np.round(level * np.exp(np.random.default_rng(seed).normal(0, noise, level.size)), 2)
    return shaken


def log(rates: np.ndarray, **more: Any) -> dict[str, Any]:
    return {"time_s": range(1, rates.size + 1), "write MB/s": rates, **more}


def test_a_silence_lets_a_cache_empty_and_counts_in_the_duration(analyze: Analyze, command: Any) -> None:
    cycle = [(30, 2000.0), (40, 500.0), (300, 0.0)]
    findings = analyze(log(speeds(*cycle * 2, *cycle[:2])), "--capacity", "500GB")
    assert findings["cache_bytes"] == pytest.approx(60 * GB, rel=0.01)
    assert [phase["cause"] for phase in findings["phases"]][::2] == ["pslc"] * 3
    shown = command("analyze", "log.csv", "--capacity", "500GB").stdout
    assert "240 GB in 13 min 30 s" in shown
    assert "Average while writing: 114" in shown
    assert "\nidle" not in command("compare", "log.csv", "log.csv").stdout


def test_a_clock_that_jumps_is_no_writing(analyze: Analyze) -> None:
    rates = speeds((60, 2000.0), (60, 400.0))
    times = [f"2026-03-01 10:{at // 60:02d}:{at % 60:02d}" for at in range(90)]
    times += [f"2026-03-01 14:{at // 60:02d}:{at % 60:02d}" for at in range(30)]
    findings = analyze({"time": times, "write MB/s": rates}, "--capacity", "1000GB")
    assert findings["cache_bytes"] == pytest.approx(120 * GB, rel=0.02)
    assert findings["phases"][-1]["to_bytes"] == pytest.approx(144 * GB, rel=0.02)


def test_what_is_left_of_a_row_beside_a_silence_is_silence_too(analyze: Analyze) -> None:
    cycle = [(30, 2000.0), (40, 500.0), (1, 200.0), (300, 0.0), (1, 700.0)]
    findings = analyze(log(speeds(*cycle * 2, *cycle[:2])), "--capacity", "500GB")
    assert [phase["cause"] for phase in findings["phases"]][::2] == ["pslc"] * 3
    for phase, level in zip(findings["phases"], [2000, 500] * 3, strict=True):
        assert phase["bytes_per_s"] == pytest.approx(level * MB, rel=0.02)


@pytest.mark.parametrize(
    ("stretches", "end"),
    [
        ([(6, 2500.0), *[(47, 717.0), (26, 222.0)] * 8], 15),
        ([(27, 2142.0), *[(36, 237.0), (290, 0.0), (24, 2142.0)] * 4, (60, 237.0)], 57.8),
    ],
    ids=["heat that comes and goes", "a cache that empties in silences"],
)
def test_no_phase_has_a_speed_that_the_log_never_has(
    analyze: Analyze, stretches: list[tuple[int, float]], end: float
) -> None:
    findings = analyze(log(speeds(*stretches)), "--capacity", "480GB")
    assert findings["cache_bytes"] == pytest.approx(end * GB, rel=0.02)
    levels = np.log([speed for _, speed in stretches if speed])
    for phase in findings["phases"]:
        assert np.abs(levels - np.log(phase["bytes_per_s"] / MB)).min() < 0.05


def test_a_cache_that_each_silence_frees_ends_in_the_first_file(analyze: Analyze) -> None:
    file, pause = [(12, 1156.0), (4, 172.0)], (200, 0.0)
    findings = analyze(log(speeds(*file, pause, *file, pause, *file)))
    assert findings["cache_bytes"] == pytest.approx(13.9 * GB, rel=0.03)
    assert [phase["cause"] for phase in findings["phases"]] == ["pslc", "fold"] * 3


def test_levels_that_come_back_briefly_and_in_any_order_have_no_end(analyze: Analyze) -> None:
    order = [2, 0, 1, 0, 1, 2, 1, 0, 1, 2, 1, 2, 0, 2, 1, 0, 2, 0, 2, 1, 0, 2, 0, 2]
    spans = [35, 63, 157, 9, 25, 24, 47, 19, 54, 58, 200, 226, 32, 11, 7, 121, 4, 108, 55, 152, 19, 14, 70, 84]
    rates = speeds(*((span, (111.0, 148.0, 186.0)[level]) for span, level in zip(spans, order, strict=True)))
    assert analyze(log(rates), "--capacity", "2000GB")["cache_bytes"] is None


def test_what_is_faster_behind_a_fall_than_before_it_is_no_cache(analyze: Analyze) -> None:
    sway = np.random.default_rng(1).normal(0.0, 0.07, 22)
    levels = np.repeat([640.0, 362.0, 776.0, 640.0], [4, 4, 10, 4]) * np.exp(sway)
    rates = speeds(*((45, level) for level in levels))
    assert analyze(log(rates), "--capacity", "600GB")["cache_bytes"] is None


def test_a_drive_that_held_data_has_no_more_room_than_is_known(analyze: Analyze) -> None:
    columns = log(speeds((2, 280.0), (250, 480.0), (2200, 235.0), (3700, 75.0)))
    assert analyze(columns, "--capacity", "2000GB")["cache_confidence"] < 0.9
    findings = analyze(columns, "--capacity", "2000GB", "--prefilled")
    assert findings["cache_bytes"] == pytest.approx(120 * GB, rel=0.01)
    assert findings["cache_confidence"] > 0.9
    assert findings["phases"][0]["confidence"] > 0.8


@pytest.mark.parametrize(
    ("speed", "cause"), [(1.5, "native"), (121.0, "link"), (303.0, "link"), (1210.0, "link"), (22000.0, "page-cache")]
)
def test_one_speed_is_a_link_only_where_there_is_one(analyze: Analyze, speed: float, cause: str) -> None:
    findings = analyze(log(speeds((200, speed))), "--capacity", "1000GB")
    assert [phase["cause"] for phase in findings["phases"]] == [cause]
    assert findings["cache_bytes_low"] is None


def test_levels_faster_than_any_link_are_memory(analyze: Analyze) -> None:
    findings = analyze(log(speeds((20, 23000.0), (60, 18000.0))))
    assert findings["cache_bytes"] is None
    assert [phase["cause"] for phase in findings["phases"]] == ["page-cache"] * 2


def test_each_fall_begins_at_its_own_row_behind_a_larger_one() -> None:
    assert _steps(np.repeat([9.0, 5.0, 3.0], 60)) == [-1, 59, 119]


def test_runs_that_stay_on_a_level_are_as_likely_as_they_were_counted() -> None:
    on = np.ones(3, dtype=bool)
    likely = COUNTS["on"] / sum(COUNTS.values()) * (COUNTS["on"] + 1) / (sum(COUNTS.values()) + 1)
    assert np.exp(_order(np.zeros(3), on, ~on, at_start=False)) == pytest.approx(likely)


def test_a_mean_over_the_past_is_undone_and_said(analyze: Analyze) -> None:
    sharp = speeds((30, 3000.0), (120, 600.0), noise=0.01)
    shown = [0.0]
    for rate in sharp:
        shown.append(0.8 * shown[-1] + 0.2 * rate)
    findings = analyze(log(np.round(shown[1:], 1)), "--capacity", "500GB")
    assert findings["cache_bytes_low"] <= 90 * GB <= findings["cache_bytes_high"]
    assert len(findings["phases"]) == 2
    assert "smoothed" in [warning["code"] for warning in findings["warnings"]]
    assert smoothing(Curve.of_samples(np.arange(1.0, 151), sharp * MB, "time")) is None


@pytest.mark.parametrize(
    ("stretches", "arguments"),
    [
        ([(200, 1085.0)], ["--capacity", "1000GB"]),
        ([(30, 400.0), (20, 300.0), (40, 420.0), (30, 250.0), (25, 390.0), (60, 310.0)], ["--capacity", "500GB"]),
        ([(1, 131.0), (300, 100.0)], ["--capacity", "100GB"]),
    ],
    ids=["a share", "neighbours", "one row"],
)
def test_what_has_no_cache_finds_none(
    analyze: Analyze, stretches: list[tuple[int, float]], arguments: list[str]
) -> None:
    findings = analyze(log(speeds(*stretches)), *arguments)
    assert findings["cache_bytes"] is None
    assert not any(phase["cause"] == "pslc" and phase["confidence"] >= 0.9 for phase in findings["phases"])


def test_heat_without_a_cache_is_told_by_the_sensor(analyze: Analyze) -> None:
    rates = speeds((60, 1800.0), (200, 1100.0))
    celsius = np.round(np.where(np.arange(260) < 60, 40 + 0.6 * np.arange(260), 77))
    findings = analyze(log(rates, temp_C=celsius), "--capacity", "1000GB", "--celsius", "temp_C")
    assert findings["cache_bytes"] is None
    assert [phase["cause"] for phase in findings["phases"]] == ["native", "thermal"]
    assert analyze(log(rates), "--capacity", "1000GB")["cache_bytes"] == pytest.approx(108 * GB, rel=0.02)


def test_a_fall_while_others_get_busy_is_theirs(analyze: Analyze) -> None:
    rates = speeds((100, 900.0), (140, 600.0))
    reads = np.repeat([0.0, 300.0], [100, 140])
    assert analyze(log(rates), "--capacity", "1000GB")["cache_bytes"] == pytest.approx(90 * GB, rel=0.02)
    assert analyze(log(rates, **{"read MB/s": reads}), "--capacity", "1000GB")["cache_bytes"] is None


@pytest.mark.parametrize("program", ["dd", "pv"])
def test_memory_and_a_cache_are_both_said_where_a_program_counted(command: Any, tmp_path: Path, program: str) -> None:
    done = np.cumsum(speeds((4, 1500.0), (120, 400.0))) * MB
    before = np.concatenate([[0.0], done[:-1]])
    lines = {
        "dd": [f"{count:.0f} bytes (1 GB, 1 GiB) copied, {at} s, 1.0 GB/s" for at, count in enumerate(done, 1)],
        "pv": [
            f"{count / 2**30:.2f}GiB 0:{at // 60:02d}:{at % 60:02d} [{(count - last) / 2**20:.0f}MiB/s]"
            for at, (count, last) in enumerate(zip(done, before, strict=True), 1)
        ],
    }
    (tmp_path / "copy.log").write_text("\r".join(lines[program]) + "\n")
    findings = json.loads(command("analyze", "copy.log", "--json").stdout)["findings"]
    assert findings["cache_confidence"] < 0.9
    answers = [*(rival["cache_bytes"] for rival in findings["alternatives"]), findings["cache_bytes"]]
    assert None in answers
    assert any(size and size == pytest.approx(6 * GB, rel=0.05) for size in answers)
    assert any("direct I/O" in warning["text"] for warning in findings["warnings"])


def test_a_file_on_ufs_that_wandered_has_no_end() -> None:
    written, seconds = np.loadtxt(FOLDER / "ufs.csv", delimiter=",", skiprows=1).T
    context = MeasurementContext(capacity_bytes=8.59 * GB, counted_by="drive", is_direct=True, is_virtual=True)
    curve = Curve(np.concatenate([[0.0], written]) * MB, seconds)
    found = explain_curve(curve, context, AnalysisOptions(capacity_bytes=8.59 * GB))
    assert found.cache is None
    assert not any(phase.cause in ("pslc", "fold") for phase in found.phases)


@pytest.mark.parametrize(("is_virtual", "has_cache"), [(False, True), (True, False)])
def test_nobody_limits_a_drive_that_is_no_virtual_one(is_virtual: bool, has_cache: bool) -> None:
    seconds = np.concatenate([np.full(32, 4 / 89.1), np.full(61, 4 / 32.5)])
    curve = Curve(np.arange(94) * 4 * MB, seconds * np.exp(np.random.default_rng(1).normal(0, 0.002, 93)))
    context = MeasurementContext(capacity_bytes=374 * MB, counted_by="drive", is_direct=True, is_virtual=is_virtual)
    analysis = explain_curve(curve, context, AnalysisOptions(capacity_bytes=374 * MB))
    assert (analysis.cache is not None) == has_cache


@pytest.mark.parametrize("name", ["g1", "g2", "pulled-out"])
def test_an_emulated_drive_with_a_rate_limit_has_no_end(name: str, command: Any) -> None:
    findings = json.loads(command("analyze", FOLDER / f"{name}.csv", "--json").stdout)["findings"]
    assert findings["cache_bytes"] is None or findings["cache_confidence"] < 0.6
    seconds, rates = np.loadtxt(FOLDER / f"{name}.csv", delimiter=",", skiprows=1).T
    rows = np.diff(seconds, prepend=0.0)[rates > 0]
    curve = Curve(np.concatenate([[0.0], np.cumsum(rates[rates > 0] * rows)]) * MB, rows)
    context = MeasurementContext(capacity_bytes=1.07 * GB, counted_by="drive", is_direct=True, is_virtual=True)
    analysis = explain_curve(curve, context, AnalysisOptions(capacity_bytes=1.07 * GB))
    assert analysis.cache is None or not analysis.cache.seen_end


@pytest.mark.parametrize("row_s", [0.1, 0.15, 0.2, 0.25, 0.3, 0.5, 1.0])
@pytest.mark.parametrize(
    ("late_s", "bucket_mb", "is_virtual"), [(0.19, 12, False), (0.05, 5, False), (0.0, 12, True), (0.0, 0, False)]
)
def test_a_constant_rate_has_no_cache_however_it_starts_and_wide_the_rows(
    late_s: float, bucket_mb: float, is_virtual: bool, row_s: float
) -> None:
    at_s = np.arange(row_s, 11, row_s)
    written = np.where(at_s > late_s, 100 * (at_s - late_s) + bucket_mb, 0.01 * at_s) * MB
    widths = np.diff(written, prepend=0.0) * np.exp(np.random.default_rng(1).normal(0, 0.02, at_s.size))
    curve = Curve(np.concatenate([[0.0], np.cumsum(widths)]), np.full(at_s.size, row_s))
    analysis = explain_curve(curve, MeasurementContext(is_virtual=is_virtual), AnalysisOptions())
    assert analysis.cache is None or not analysis.cache.seen_end


@pytest.mark.parametrize(("start", "end_mb"), [([20, 400], 420), ([20, 160, 160], 340), ([160], 160)])
def test_a_row_that_is_ahead_of_the_cells_behind_it_is_a_cache(analyze: Analyze, start: list[int], end_mb: int) -> None:
    findings = analyze(log(np.concatenate([np.array(start, float), speeds((60, 80.0))])))
    answers = [findings["cache_bytes"], *(rival["cache_bytes"] for rival in findings["alternatives"])]
    assert any(answer == pytest.approx(end_mb * MB, rel=0.02) for answer in answers)


def test_each_part_says_where_its_laws_come_from_and_each_machine_has_parts() -> None:
    laws = table()
    assert not [part for part in laws["parts"].values() if not (part["source"] and part["cause"] and part["because"])]
    assert sum(share for _, _, share in laws["pipes"].values()) == pytest.approx(1.0)
    parts = {part.name for of in machines().values() for machine in of for part in machine.parts}
    assert parts == set(laws["parts"])


def test_folding_and_direct_writes_are_stated_no_surer_than_they_are_told_apart(tmp_path: Path) -> None:
    scores = [(right == answer, sure) for right, answer, sure in cells_behind.answers(4242, 8, tmp_path)]
    assert len(scores) >= 20
    right, stated = np.mean(scores, axis=0)
    assert stated <= right + 0.15
    assert max(sure for _, sure in scores) < 0.9
