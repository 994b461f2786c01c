"""What suites measured themselves: the fit expects it, and a twin that contradicts it says so."""

import tomllib
from dataclasses import replace

import numpy as np
import pytest

from pslc.base import units
from pslc.twin import model, optimizer, profile_writer
from pslc.twin.datasets import Dataset
from pslc.twin.observations import observations, observed_priors
from pslc.twin.optimizer import FitProblem
from pslc.twin.residuals import least_squares_sum

FINDINGS = {
    "idle_threshold_s": 0.29, "idle_threshold_s_low": 0.0, "idle_threshold_s_high": 1.84,
    "migration_bytes_per_s": None, "migration_bytes_per_s_low": 5e8, "migration_bytes_per_s_high": None,
}  # fmt: skip


def recovery(findings: dict[str, float | None]) -> list[Dataset]:
    """A dataset of which only the findings matter."""
    return [Dataset("recovery", [], 0, [], [], findings=findings)]


def test_a_pause_that_was_measured_is_what_the_fit_expects() -> None:
    mean, sd = observed_priors(recovery(FINDINGS))["idle_threshold"]
    assert np.exp(mean) == pytest.approx(0.29)
    assert sd < 1.5, "as little as without the measurement"
    assert "idle_rate" not in observed_priors(recovery(FINDINGS)), "a least value has no upper end"
    assert not observed_priors(recovery({}))


def test_a_twin_outside_of_what_was_measured_says_so() -> None:
    measured, rate = observations(recovery(FINDINGS))
    assert measured.contradiction(1.2) is None
    assert rate.contradiction(6e8) is None
    assert (text := rate.contradiction(1e8))
    assert "100 MB/s; recovery measured at least 500 MB/s" in text
    [residue] = observations(recovery({"residue_bytes": 2e9, "residue_bytes_low": 1e9, "residue_bytes_high": 3e9}))
    assert not observed_priors(recovery({"residue_bytes": 2e9, "residue_bytes_low": 1e9, "residue_bytes_high": 3e9}))
    assert (text := residue.contradiction(6e9))
    assert "data that stay in the cache, 6.00 GB; recovery measured 1.00 GB to 3.00 GB" in text
    text = measured.contradiction(2.58)
    assert text is not None
    assert "2.58 s" in text
    assert "recovery measured at most 1.84 s" in text


@pytest.mark.parametrize(
    ("written", "readable"),
    [
        ('"2600000000ns"', '"2.6s"'),
        ('"8060000000B"', '"8.06GB"'),
        ('"735000kB/s"', '"735MB/s"'),
        ('"3354911ns"', '"3.355ms"'),
        ('"16384B"', '"16KiB"'),
        ('"16000000B"', '"16MB"'),
        ('"0B"', '"0B"'),
        ('"1200MT/s"', '"1200MT/s"'),
    ],
)
def test_values_of_a_profile_are_in_units_for_people(written: str, readable: str) -> None:
    assert profile_writer._readable(written) == readable
    assert tomllib.loads(f"x = {readable}")["x"] == readable.strip('"')


def test_a_size_that_must_be_exact_stays_in_bytes_where_it_has_many_digits() -> None:
    assert profile_writer._readable('"249999998976B"', is_exact=True) == '"249999998976B"'
    assert profile_writer._readable('"8080424960B"') == '"8.08042GB"'
    assert profile_writer._readable('"250000000000B"', is_exact=True) == '"250GB"'


@pytest.mark.parametrize(
    "number", [1, 999, 1024, 4096, 16384, 1_049_600, 1 << 20, 3 << 30, 512_000, 8_080_424_961, 10**12]
)
def test_an_exact_size_is_read_as_the_same_number(number: int) -> None:
    assert units.size(profile_writer._readable(f'"{number}B"', is_exact=True).strip('"'), "x") == number


def test_a_readable_size_is_the_same_size() -> None:
    assert units.size(profile_writer._readable('"8060000000B"').strip('"'), "x") == 8_060_000_000


def test_a_run_that_cannot_be_good_enough_is_given_up_and_one_that_is_has_the_same_residuals() -> None:
    geometry = model.typical_geometry(128_000_000_000, "sata600", 3, 5e8, 2e8)
    drive = model.Model(geometry, model.FirmwareModel("dynamic-slc", "direct-then-fold", "after-idle")).scaled()
    values = {name: one.prior_mean for name, one in model.PARAMETERS.items()}
    values |= {"slc_rate": 5e8, "native_rate": 2e8, "dynamic": 0.1}
    job = f"rw=write\nbs=1m\nioengine=io_uring\niodepth=32\ndirect=1\noffset=0\nsize={64 << 30}\n"
    steps = [f"[{name}]\n{job}" for name in ("first", "second", "third")]
    unmeasured = Dataset("recovery", steps, 0, [[None]] * 3, [[16]] * 3)
    simulated = FitProblem(drive, [unmeasured], [], values).simulate(values)
    assert simulated is not None
    measured = replace(unmeasured, features=simulated[0])
    problem = FitProblem(drive, [measured, measured], ["native_rate"], values)
    x = problem.pack(values | {"native_rate": 1.5e8})
    residuals = problem.residuals(x)
    total = float(residuals @ residuals)
    assert least_squares_sum([measured], simulated) == 0, "a twin that does the same has no residuals"
    other = problem.simulate(problem.unpack(x))
    assert other is not None
    bounds = [least_squares_sum([measured] * 2, [other[0][:count]]) for count in range(4)]
    whole = least_squares_sum([measured] * 2, other)
    assert 0 == bounds[0] < bounds[1] < bounds[2] < bounds[3] < whole
    assert whole == pytest.approx(total - float(problem.prior_residuals(x) @ problem.prior_residuals(x)))
    assert np.array_equal(problem.residuals_below(x, total * 1.001), residuals)
    optimizer._simulations.clear()
    assert problem.residuals_below(x, total * 0.5) is None
    assert not optimizer._simulations, "a run to its end"
    starts = [values | {"native_rate": rate} for rate in (1.2e8, 1.9e8, 2.5e8)]
    [best] = optimizer.best_of(problem, starts)
    assert best.values["native_rate"] == pytest.approx(1.9e8)
