"""What suites measured themselves: the fit expects it, and a twin that contradicts it says so."""

import tomllib

import numpy as np
import pytest

from pslc.base import units
from pslc.twin import profile_writer
from pslc.twin.datasets import Dataset
from pslc.twin.observations import observations, observed_priors

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
    [measured] = observations(recovery(FINDINGS))
    assert measured.contradiction(1.2) is None
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
