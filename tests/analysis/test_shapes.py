"""Logs by what makes them hard to read: the end of the cache is where the cells left it, whatever else went on."""

import numpy as np
import pytest

import pslc
from pslc.analysis import Curve, WriteAnalysis
from pslc.analysis.phases import find_phases
from pslc.analysis.stretches import _Columns, _value

GB, MB = 1e9, 1e6


def said(
    stretches: list[tuple[float, float]], capacity: float, *, samples: int = 0, period: float = 0.0, **known: object
) -> WriteAnalysis:
    """What is said of (end in GB, MB/s), in so many equal samples, or one every `period` seconds, with 2 % of noise.
    A capacity of 0 is not told."""
    ends = np.array([0.0, *(end * GB for end, _ in stretches)])
    at = np.concatenate([[0.0], np.cumsum(np.diff(ends) / np.array([speed * MB for _, speed in stretches]))])
    rng = np.random.default_rng(1)
    if samples:
        written = np.linspace(0.0, ends[-1], samples + 1)
        seconds = np.interp(written, ends, at)
    else:
        seconds = np.arange(0.0, at[-1], period)
        written = np.interp(seconds, at, ends)
    speed = np.diff(written) / np.diff(seconds) * np.exp(rng.normal(0, 0.02, written.size - 1))
    x, by = (written[1:], "bytes") if samples else (seconds[1:], "time")
    return pslc.analyze(x, speed, by=by, capacity_bytes=capacity * GB or None, **known)  # type: ignore[arg-type]


def ends_at(found: WriteAnalysis) -> float:
    assert found.cache is not None
    assert found.cache.seen_end
    return found.cache.bytes / GB


def test_a_log_by_time_of_a_slow_drive_keeps_its_short_fast_phase() -> None:
    # Nine tenths of the samples are of the slow phase: a guard of so many samples would swallow the fast one.
    found = said([(3, 900), (563, 3600), (4000, 67)], 4000, period=0.5)
    assert ends_at(found) == pytest.approx(563, rel=0.01)
    assert ends_at(said([(7, 1480), (388, 3695), (2000, 45)], 2000, period=1.0)) == pytest.approx(388, rel=0.01)


def alike(cause: str) -> str:
    """The class of a cause: a curve alone does not tell native cells and folding behind a cliff apart."""
    return "past" if cause in ("direct", "fold", "native") else cause


def test_folding_and_native_cells_of_one_speed_make_one_curve() -> None:
    # A cache of a hundredth of the drive leaves room to the end, so only the speed is left to tell, and it does not.
    found = said([(10, 3000), (1000, 750)], 1000, samples=1000)
    assert found.phases[1].confidence < 0.9


def test_memory_before_a_cache_of_a_few_samples_is_not_one_with_it() -> None:
    found = said([(5, 6700), (8, 2500), (250, 900)], 250, period=0.5, link_bytes_per_s=3500 * MB)
    assert ends_at(found) == pytest.approx(8, rel=0.05)
    assert [phase.cause for phase in found.phases][:2] == ["page-cache", "pslc"]


def test_dips_at_one_end_of_a_cache_do_not_make_two_phases_of_it() -> None:
    dips = [stretch for at in (60, 90, 120, 150) for stretch in ((at, 2000), (at + 6, 800))]
    found = said([*dips, (400, 2000), (1000, 400)], 1000, period=0.5)
    assert ends_at(found) == pytest.approx(400, rel=0.01)


def test_cells_of_four_bits_are_not_half_as_fast_as_the_cache() -> None:
    # 298 + 3 x 246 GB would be the whole drive, were these native cells of four bits; but of three there is room left.
    found = said([(246, 2556), (298, 1245), (1000, 554)], 1000, samples=500)
    assert ends_at(found) == pytest.approx(298, rel=0.01)


def test_noise_of_native_cells_behind_a_cache_of_few_samples_is_no_folding() -> None:
    found = said([(15, 3000), (250, 1500)], 250, period=1.0)
    assert [alike(phase.cause) for phase in found.phases] == ["pslc", "past"]


def test_a_cache_behind_a_slow_start_is_found_though_it_is_a_hundredth_of_the_drive() -> None:
    found = said([(8, 2240), (28, 5588), (2000, 2639)], 2000, period=0.1)
    assert ends_at(found) == pytest.approx(28, rel=0.03)


def test_what_memory_took_in_is_not_the_cache() -> None:
    found = said([(13, 12253), (158, 3167), (1000, 771)], 1000, samples=200)
    assert ends_at(found) == pytest.approx(158, rel=0.01)
    assert [phase.cause for phase in found.phases] == ["page-cache", "pslc", "fold"]
    assert any("--link" in warning for warning in found.warnings)


def test_a_step_of_heat_is_not_the_end_of_the_cache() -> None:
    stretches = [(83, 3100), (272, 2127), (2000, 612)]
    found = said(stretches, 2000, samples=100)
    assert ends_at(found) == pytest.approx(272, rel=0.02)
    # Nothing but the speed says whether it was heat or a slower part of the cache.
    assert found.phases[1].cause in ("thermal", "pslc", "unknown")
    assert found.phases[1].confidence < 0.9


def test_dips_of_heat_are_not_the_end_of_the_cache() -> None:
    dips = [(177, 2692), (217, 1100), (400, 2692), (440, 900), (550, 2692), (2000, 500)]
    found = said(dips, 2000, period=1.0)
    assert ends_at(found) == pytest.approx(550, rel=0.01)
    # Nothing says that it was heat.
    assert [phase.cause for phase in found.phases] == ["pslc"] * 5 + ["fold"]
    assert found.phases[1].confidence < 0.9
    assert "other programs, other data, heat or pauses" in found.phases[1].because


def test_dips_while_the_sensor_is_as_hot_as_ever_are_heat() -> None:
    dips = [(177, 2692), (217, 1100), (400, 2692), (440, 900), (550, 2692), (2000, 500)]
    at = np.linspace(0, 2000, 1001)[1:]
    hot = ((at > 177) & (at <= 217)) | ((at > 400) & (at <= 440))
    found = said(dips, 2000, samples=1000, celsius=np.where(hot, 84.0, 66.0))
    assert [phase.cause for phase in found.phases] == ["pslc", "thermal", "pslc", "thermal", "pslc", "fold"]
    since = said(dips, 2000, samples=1000, celsius=np.where(at > 320, 84.0, 66.0))
    assert since.phases[3].cause == "pslc"


def test_cycles_of_pauses_are_one_stretch_whatever_each_of_them_takes() -> None:
    works = np.random.default_rng(3).uniform(15, 30, 22)
    ends = 200 + np.cumsum(np.column_stack([works, np.full(22, 0.2)]).ravel())
    cycles = [(float(end), 20.0 if index % 2 else 4000.0) for index, end in enumerate(ends)]
    found = said([(200, 5000), *cycles], 1000, period=2.0)
    assert [phase.cause for phase in found.phases] == ["pslc", "fold"]
    assert found.phases[1].pause_s > 5


def test_levels_that_begin_slow_and_come_back_are_no_cache() -> None:
    levels = [(278, 93), (320, 188), (408, 277), (649, 91), (678, 192), (772, 280), (926, 192), (987, 93), (1418, 193)]
    found = said([*levels, (2000, 92)], 0, samples=1000)
    assert found.cache is None or not found.cache.seen_end


def test_a_cache_of_two_tiers_ends_with_the_second() -> None:
    found = said([(8, 302), (49, 230), (250, 37)], 250, period=0.5)
    assert ends_at(found) == pytest.approx(49, rel=0.01)
    assert [phase.cause for phase in found.phases][:2] == ["pslc", "pslc"]


def test_moments_of_collection_on_a_flat_drive_are_no_cliff() -> None:
    found = said([(250, 4505), (261, 1023), (500, 4505)], 500, period=0.5)
    assert found.cache is None
    assert [phase.cause for phase in found.phases] == ["native", "gc", "native"]


def test_a_sawtooth_is_no_row_of_dips() -> None:
    # 40 GB are folded while 60 GB more are written: a cache that was emptied.
    teeth = [(40, 3000), (100, 500), (140, 3000), (200, 500), (500, 500)]
    assert ends_at(said(teeth, 500, samples=1000)) == pytest.approx(40, rel=0.02)


def test_a_slow_start_and_three_moments_at_even_distances_are_no_cycles() -> None:
    speeds = np.concatenate([np.full(480, 1163.0), np.full(1568, 5890.0)])
    speeds[0], speeds[[866, 1277, 1687]] = 3869.0, 2300.0
    curve = Curve(np.arange(speeds.size + 1) * 33.5e6, 33.5 / speeds)
    assert [round(phase.to_bytes / 33.5e6) for phase in find_phases(curve)] == [480, 2048]


def test_a_fall_of_random_writes_is_no_cache() -> None:
    stretches = [(60, 900), (1000, 300)]
    told = said(stretches, 400, period=1.0, workload="random")
    assert told.cache is None
    assert [phase.cause for phase in told.phases] == ["unknown", "gc"]
    assert any("random writes do not show a cache" in warning for warning in told.warnings)
    untold = said(stretches, 400, period=1.0)
    assert any("does not say how it was written" in warning for warning in untold.warnings)
    assert not any(
        "does not say how" in warning for warning in said(stretches, 400, period=1.0, workload="sequential").warnings
    )


def test_more_than_fits_at_one_bit_a_cell_is_no_cache() -> None:
    assert said([(900, 3000), (1000, 1500)], 1000, samples=1000).cache is None


def test_two_falls_of_a_drive_of_unknown_size_raise_a_warning() -> None:
    stretches = [(100.0, 5000.0), (300.0, 2500.0), (1000.0, 600.0)]
    told, untold = said(stretches, 1000, samples=1000), said(stretches, 0, samples=1000)
    assert ends_at(told) == pytest.approx(300, rel=0.01)
    assert "no-size" not in [warning.code for warning in told.warnings]
    assert "no-size" in [warning.code for warning in untold.warnings]


def test_a_random_write_to_a_full_drive_raises_a_warning_once() -> None:
    found = said([(20, 3000), (400, 800)], 400, samples=1000, prefilled=True, workload="random")
    assert [warning.code for warning in found.warnings] == ["random"]


def test_a_prefilled_drive_is_not_held_against_the_room_of_an_empty_one() -> None:
    found = said([(20, 3000), (400, 800)], 400, samples=1000, prefilled=True)
    assert ends_at(found) == pytest.approx(20, rel=0.02)
    assert any("the drive was full before" in warning for warning in found.warnings)


def test_temperatures_tell_heat_from_a_second_tier() -> None:
    stretches = [(83, 3100), (272, 2127), (2000, 612)]
    x = np.linspace(0, 2000, 101)[1:]
    hot = np.interp(x, [0, 80, 272, 400, 2000], [40, 84, 84, 65, 60])
    cool = np.interp(x, [0, 2000], [40, 55])
    assert said(stretches, 2000, samples=100, celsius=hot).phases[1].cause == "thermal"
    assert said(stretches, 2000, samples=100, celsius=cool).phases[0].cause == "pslc"
    assert said(stretches, 2000, samples=100, celsius=cool).phases[1].cause == "pslc"


def test_a_fast_phase_in_a_log_by_time_is_no_gap() -> None:
    slow = said([(100, 3000), (1000, 100)], 1000, period=1.0)
    assert not any("samples are missing" in warning for warning in slow.warnings)


def test_a_single_run_is_no_evidence_of_a_level() -> None:
    run, on = np.ones(1), np.array([True])
    values = [
        _value(_Columns(run, error * run, run, run, 0 * run, 0 * run), run, on, at_start=True) for error in (0, 1)
    ]
    assert values == pytest.approx([0, 0])
