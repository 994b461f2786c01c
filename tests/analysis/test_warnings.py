"""Each warning appears when it should, and a good run has none."""

from dataclasses import replace

import numpy as np
from benches.curves.synthetic import GB, Trace

from pslc.analysis import (
    AnalysisOptions,
    AnalysisWarning,
    Curve,
    MeasurementContext,
    analysis_warnings,
    cache_end,
    find_phases,
)
from tests.analysis.edges import curve_of, phases

MB = 1e6
FOREIGN = MeasurementContext(random=False)
FALL = Trace(speeds=(5000 * MB, 1500 * MB), ends=(300 * GB, 1000 * GB))


def warnings_of(
    trace: Trace, *, capacity: float | None = None, interrupted: bool = False, context: MeasurementContext | None = None
) -> list[str]:
    curve = trace.curve()
    phases = find_phases(curve)
    end = cache_end(curve, phases, capacity_bytes=capacity)
    options = AnalysisOptions(capacity_bytes=capacity, interrupted=interrupted, context=context)
    return analysis_warnings(curve, phases, end=end, options=options)


def has(found: list[str], warning: AnalysisWarning) -> bool:
    return any(text.startswith(warning.value.split("{", maxsplit=1)[0]) and "{" not in text for text in found)


def test_a_whole_steady_fill_leaves_no_warning() -> None:
    assert warnings_of(FALL, capacity=1000 * GB) == []


def test_an_interrupted_run_is_not_warned_for_being_a_part() -> None:
    # That it was interrupted is told with the run.
    assert warnings_of(FALL, capacity=2000 * GB, interrupted=True) == []


def test_a_part_of_the_capacity_raises_a_warning() -> None:
    found = warnings_of(FALL, capacity=2000 * GB)
    assert found == ["only 1000 GB of 2000 GB was written, so later phases may be missing: write the whole drive"]


def test_more_than_the_drive_holds_raises_a_warning_for_another_program_alone() -> None:
    over = "1000 GB was written to a drive of 500 GB, so a part of it more than once"
    foreign = warnings_of(FALL, capacity=500 * GB, context=FOREIGN)
    assert sum(text.startswith(over) for text in foreign) == 1
    assert not any(text.startswith(over) for text in warnings_of(FALL, capacity=500 * GB))


def test_a_run_that_ended_in_its_first_phase_says_so() -> None:
    curve = Trace((5000 * MB,), (200 * GB,)).curve()
    found = analysis_warnings(
        curve, find_phases(curve), options=AnalysisOptions(capacity_bytes=1000 * GB, interrupted=True)
    )
    assert found == ["the run ended while the drive was still in its first phase: write more than 200 GB"]


def test_a_part_of_a_drive_in_one_phase_raises_a_warning_once() -> None:
    (found,) = warnings_of(Trace((5000 * MB,), (200 * GB,)), capacity=1000 * GB)
    assert found.code == "part"


def test_a_flat_whole_fill_did_not_end_in_its_first_phase() -> None:
    assert warnings_of(Trace((2150 * MB,), (2000 * GB,)), capacity=2000 * GB) == []


def test_few_bins_raise_a_warning() -> None:
    assert has(warnings_of(replace(FALL, bins=40)), AnalysisWarning.FEW_BINS)


def test_a_phase_of_few_bins_raises_a_warning() -> None:
    short = Trace((3000 * MB, 1000 * MB), (3.2 * GB, 1000 * GB), noise=0.01)
    assert "phase 1 has only 6 bins, so its speed is uncertain: record finer bins" in warnings_of(
        short, context=FOREIGN
    )


def test_nobody_is_asked_for_finer_bins_of_a_run_of_ours():
    short = Trace((3000 * MB, 1000 * MB), (3.2 * GB, 1000 * GB), noise=0.01)
    few = replace(FALL, bins=40)
    wide = Trace((5000 * MB, 3000 * MB), (60 * GB, 1000 * GB), bins=100, noise=0.1, seed=3)
    for trace, next_step in ((short, "repeat the run and compare"), (few, "write more"), (wide, "repeat the run")):
        assert any(next_step in text for text in warnings_of(trace))
        assert not any("record" in text for text in warnings_of(trace))
        assert any("record" in text for text in warnings_of(trace, context=FOREIGN))


def test_missing_samples_raise_a_warning() -> None:
    assert has(warnings_of(replace(FALL, missing=0.6)), AnalysisWarning.GAPS)


def test_a_moment_in_which_nothing_was_done_raises_a_warning() -> None:
    curve = FALL.curve()
    seconds = curve.seconds.copy()
    seconds[900] += 12.0
    found = analysis_warnings(Curve(curve.edges_bytes, seconds), find_phases(curve))
    assert [text for text in found if "nothing was written" in text] == [
        "nothing was written for up to 12.3 s (once): other load, heat, or a clock that jumped"
    ]
    assert not has(warnings_of(FALL), AnalysisWarning.STALLS)


def test_an_unsteady_phase_raises_a_warning() -> None:
    assert has(warnings_of(replace(FALL, ripple=0.4, ripple_bins=8)), AnalysisWarning.UNSTEADY)


def test_a_last_phase_that_drifts_raises_a_warning() -> None:
    found = warnings_of(replace(FALL, drift=-0.3))
    assert has(found, AnalysisWarning.DRIFTING)
    assert "write on" in " ".join(found)
    assert "write on" not in " ".join(warnings_of(replace(FALL, drift=-0.3), capacity=1000 * GB))


def test_a_badly_known_cache_raises_a_warning() -> None:
    coarse = Trace((5000 * MB, 3000 * MB), (60 * GB, 1000 * GB), bins=100, noise=0.1, seed=3)
    assert has(warnings_of(coarse), AnalysisWarning.WIDE)


def test_a_pattern_is_not_passed_off_as_phases() -> None:
    ends = tuple((50.0 * k + part) * GB for k in range(20) for part in (20, 50))
    assert has(warnings_of(Trace((3000 * MB, 500 * MB) * 20, ends)), AnalysisWarning.PATTERN)


def test_figures_in_warnings_are_percent() -> None:
    curve = curve_of(np.repeat([600, 1000, 1400], 200))
    texts = analysis_warnings(curve, phases((600, 1000, {"spread": 9.0, "drift": -0.2})), options=AnalysisOptions())
    assert [text.partition(":")[0] for text in texts] == [
        "the speed within phase 1 scatters by 40 %",
        "the speed was still changing by -20 % over the last phase",
    ]
