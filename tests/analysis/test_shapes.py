"""Logs by what makes them hard to read: the end of the cache is where the cells left it, whatever else went on."""

import numpy as np
import pytest
from benches.curves import shapes
from benches.curves.shapes import GB, MB, SHAPES, Stretch
from benches.shapes import found as said_of
from benches.shapes import judged, right, verdicts

import pslc
from pslc.analysis import WriteAnalysis

SEEDS = range(5000, 5015)


@pytest.mark.parametrize("shape", list(SHAPES))
def test_the_cache_ends_where_the_cells_left_it_in_every_shape(shape: str) -> None:
    found = verdicts(shape, SEEDS)
    assert np.mean([one.error <= 0.01 for one in found]) >= 0.8, [one.seed for one in found if one.error > 0.01]
    assert sum(one.false for one in found) <= 1
    causes = [right(truth, answer) for one in found for truth, answer, _ in one.causes]
    assert np.mean(causes) >= 0.6


def test_a_log_and_its_truth_are_the_same_for_the_same_seed() -> None:
    one, other = (shapes.log("heat dips", 7) for _ in range(2))
    assert one.cache_bytes == other.cache_bytes
    assert one.curve.seconds.tolist() == other.curve.seconds.tolist()


def test_an_answer_of_another_kind_is_judged_wrong() -> None:
    log = shapes.log("flat with dips", 1)
    cliff = shapes.log("plain", 1)
    assert judged(log, said_of(cliff)).false
    assert judged(cliff, said_of(log)).missed


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


WERE_WRONG = [
    *(("slow start", seed) for seed in (9012, 9014, 12001, 20081, 20083, 20092, 20097)),
    *(("page-cache head", seed) for seed in (12022, 20011, 20023, 20060, 20069)),
    *(("heat dips", seed) for seed in (12023, 20046)),
    *(("heat step", seed) for seed in (12040, 20017, 20053)),
    *(("sawtooth", seed) for seed in (12025, 20064)),
]
"""Logs whose cache was not found, or somewhere else: small ones behind a start or memory, dips and steps, teeth of few
samples."""


@pytest.mark.parametrize(("shape", "seed"), WERE_WRONG)
def test_a_cache_that_was_told_wrong_is_found(shape: str, seed: int) -> None:
    log = shapes.log(shape, seed)
    end = said_of(log, seed).cache
    assert end is not None
    assert end.seen_end
    assert end.bytes == pytest.approx(log.cache_bytes, abs=0.01 * log.capacity_bytes)


CAUSES_WERE_WRONG = [
    *(("slow start", seed) for seed in (33, 61, 73, 78)),
    *(("decay", seed) for seed in (6, 13, 26, 41, 94, 113)),
    *(("two tiers", seed) for seed in (7, 12, 70, 109)),
]
"""Native cells taken for folding as a start hid how much the cache scatters, or as the speed fell on and on; a part of
the cache that is half as fast again as the rest taken for memory."""


@pytest.mark.parametrize(("shape", "seed"), CAUSES_WERE_WRONG)
def test_a_cause_that_was_told_wrong_is_right(shape: str, seed: int) -> None:
    log = shapes.log(shape, seed)
    causes = judged(log, said_of(log, seed), seed).causes
    assert [answer for _, answer, _ in causes] == [truth for truth, _, _ in causes]


def test_folding_and_native_cells_of_one_speed_make_one_curve() -> None:
    # A cache of a hundredth of the drive leaves room to the end, so only the speed is left to tell, and it does not.
    drives = [
        shapes.Drive(1000 * GB, 3, 1070 * GB, 10 * GB, 3000 * MB, 750 * MB, fold=300 * MB, policy="direct"),
        shapes.Drive(1000 * GB, 3, 1070 * GB, 10 * GB, 3000 * MB, 1500 * MB, fold=750 * MB, policy="fold"),
    ]
    fills = [shapes.cells(drive) for drive in drives]
    assert [[(one.end, one.bytes_per_s) for one in fill] for fill in fills] == [
        [(10 * GB, 3e9), (1000 * GB, 750e6)]
    ] * 2
    assert [fill[1].cause for fill in fills] == ["direct", "fold"]
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
    assert [phase.cause for phase in found.phases][:2] == ["pslc", "thermal"]
    assert ends_at(found) == pytest.approx(298, rel=0.01)


def test_noise_of_native_cells_behind_a_cache_of_few_samples_is_no_folding() -> None:
    found = said([(5, 3000), (250, 1500)], 250, period=1.0)
    assert [phase.cause for phase in found.phases] == ["pslc", "direct"]


def test_a_cache_behind_a_slow_start_is_found_though_it_is_a_hundredth_of_the_drive() -> None:
    found = said([(8, 2240), (28, 5588), (2000, 2639)], 2000, period=0.1)
    assert ends_at(found) == pytest.approx(28, rel=0.03)


def test_what_memory_took_in_is_not_the_cache() -> None:
    found = said([(13, 12253), (158, 3167), (1000, 771)], 1000, samples=200)
    assert ends_at(found) == pytest.approx(158, rel=0.01)
    assert [phase.cause for phase in found.phases] == ["page-cache", "pslc", "fold"]
    assert any("--link" in doubt for doubt in found.doubts)


def test_a_step_of_heat_is_not_the_end_of_the_cache() -> None:
    stretches = [(83, 3100), (272, 2127), (2000, 612)]
    found = said(stretches, 2000, samples=100)
    assert ends_at(found) == pytest.approx(272, rel=0.02)
    assert [phase.cause for phase in found.phases] == ["pslc", "thermal", "fold"]
    assert found.phases[1].confidence < 0.9
    assert any("heat" in doubt for doubt in found.doubts)


def test_dips_of_heat_are_not_the_end_of_the_cache() -> None:
    dips = [(177, 2692), (217, 1100), (400, 2692), (440, 900), (550, 2692), (2000, 500)]
    found = said(dips, 2000, period=1.0)
    assert ends_at(found) == pytest.approx(550, rel=0.01)
    # Nothing says that it was heat.
    assert [phase.cause for phase in found.phases] == ["pslc"] * 5 + ["fold"]
    assert found.phases[1].confidence < 0.9
    assert "heat, other programs or the data" in found.phases[1].because


def test_dips_while_the_sensor_is_as_hot_as_ever_are_heat() -> None:
    dips = [(177, 2692), (217, 1100), (400, 2692), (440, 900), (550, 2692), (2000, 500)]
    at = np.linspace(0, 2000, 1001)[1:]
    hot = ((at > 177) & (at <= 217)) | ((at > 400) & (at <= 440))
    found = said(dips, 2000, samples=1000, celsius=np.where(hot, 84.0, 66.0))
    assert [phase.cause for phase in found.phases] == ["pslc", "thermal", "pslc", "thermal", "pslc", "fold"]


def test_a_write_as_long_as_a_drive_that_is_sold_has_the_room_of_one() -> None:
    whole, part = (said([(60, 3000), (end, 1200)], 0, period=0.5).phases[1] for end in (500, 440))
    assert (whole.cause, part.cause) == ("fold", "direct")
    assert "the whole drive" in whole.because


def test_a_slow_speed_that_ends_with_a_fall_is_of_native_cells() -> None:
    falls, goes_on = (said([(40, 3000), (500, 500), (800, last)], 0, period=1.0) for last in (250, 400))
    assert [phase.cause for phase in falls.phases] == ["pslc", "direct", "fold"]
    assert [phase.cause for phase in goes_on.phases] == ["pslc", "fold", "fold"]


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


def test_a_fall_of_random_writes_is_no_cache() -> None:
    stretches = [(60, 900), (1000, 300)]
    told = said(stretches, 400, period=1.0, workload="random")
    assert told.cache is None
    assert [phase.cause for phase in told.phases] == ["unknown", "gc"]
    assert any("random writes do not show a cache" in doubt for doubt in told.doubts)
    untold = said(stretches, 400, period=1.0)
    assert any("does not say how it was written" in doubt for doubt in untold.doubts)
    assert not any(
        "does not say how" in doubt for doubt in said(stretches, 400, period=1.0, workload="sequential").doubts
    )


def test_more_than_fits_at_one_bit_a_cell_is_no_cache() -> None:
    assert said([(900, 3000), (1000, 1500)], 1000, samples=1000).cache is None


def test_two_falls_of_a_drive_of_unknown_size_are_doubted() -> None:
    stretches = [(100.0, 5000.0), (300.0, 2500.0), (1000.0, 600.0)]
    told, untold = said(stretches, 1000, samples=1000), said(stretches, 0, samples=1000)
    assert ends_at(told) == pytest.approx(300, rel=0.01)
    assert "no-size" not in [doubt.code for doubt in told.doubts]
    assert "no-size" in [doubt.code for doubt in untold.doubts]


def test_a_random_write_to_a_full_drive_is_doubted_once() -> None:
    found = said([(20, 3000), (400, 800)], 400, samples=1000, prefilled=True, workload="random")
    assert [doubt.code for doubt in found.doubts] == ["random"]


def test_a_prefilled_drive_is_not_held_against_the_room_of_an_empty_one() -> None:
    found = said([(20, 3000), (400, 800)], 400, samples=1000, prefilled=True)
    assert ends_at(found) == pytest.approx(20, rel=0.02)
    assert any("the drive was full before" in doubt for doubt in found.doubts)


def test_temperatures_tell_heat_from_a_second_tier() -> None:
    stretches = [(83, 3100), (272, 2127), (2000, 612)]
    x = np.linspace(0, 2000, 101)[1:]
    hot = np.interp(x, [0, 80, 272, 400, 2000], [40, 84, 84, 65, 60])
    cool = np.interp(x, [0, 2000], [40, 55])
    assert said(stretches, 2000, samples=100, celsius=hot).phases[1].cause == "thermal"
    assert said(stretches, 2000, samples=100, celsius=cool).phases[0].cause == "pslc"
    assert said(stretches, 2000, samples=100, celsius=cool).phases[1].cause == "pslc"


def test_a_direct_phase_that_ends_too_early_is_doubted() -> None:
    found = said([(30, 3000), (600, 1500), (1000, 400)], 1000, samples=1000)
    assert any("native cells have room until" in doubt for doubt in found.doubts)
    fits = said([(280, 4500), (500, 2000), (1000, 500)], 1000, samples=1000)
    assert not any("native cells have room until" in doubt for doubt in fits.doubts)


def test_a_fast_phase_in_a_log_by_time_is_no_gap() -> None:
    slow = said([(100, 3000), (1000, 100)], 1000, period=1.0)
    assert not any("samples are missing" in doubt for doubt in slow.doubts)


def test_a_stretch_of_a_log_knows_its_cause() -> None:
    log = shapes.log("heat step", 3)
    assert log.cache_bytes is not None
    assert log.cause(0.0, log.causes[0][0]) == "pslc"
    assert log.cause(log.causes[0][0], log.cache_bytes) == "thermal"
    assert Stretch(1.0, 1.0, "pslc").cause == "pslc"
