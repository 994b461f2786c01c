"""Jobs of suites have words for people in the report of a fit."""

import re

import pytest
from benches.small import PROFILE

import pslc
from pslc.device.region import Scope
from pslc.twin.datasets import SCALABLE_SUITES, dataset_of
from pslc.twin.job_words import JOBS, job_in_words, part_in_words


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("words") / "small.toml"
    path.write_text(PROFILE)
    return f"sim:{path}"


@pytest.mark.parametrize("suite", sorted(SCALABLE_SUITES))
def test_every_job_that_a_fit_compares_has_words(suite: str, small: str) -> None:
    """By what the suite runs: a job that is renamed or added is missed here."""
    run = pslc.run(suite, on=small, scope=Scope(quick=True))
    names = {features.job for step in dataset_of(run).features for features in step if features is not None}
    assert names
    for name in names:
        text = job_in_words(suite, name)
        assert re.match("(the|a) ", text), f"{name} of {suite} has no words"


def test_words_are_of_suites_that_a_fit_takes() -> None:
    assert set(JOBS) == SCALABLE_SUITES


@pytest.mark.parametrize(
    ("suite", "job", "text"),
    [
        ("second-pass", "again", "the second pass"),
        ("recovery", "again-upper", "the second pass over the upper half (recovery)"),
        ("recovery", "after-2.6s", "the write after 2.6 s of rest (recovery)"),
        ("recovery", "after-10ms-on", "the write after 10 ms of rest, going on (recovery)"),
        ("fill-levels", "probe-90", "the write at 90 % full (fill-levels)"),
        ("my.fio", "job-one", "job one of my.fio"),
    ],
)
def test_a_job_is_called_by_what_it_does(suite: str, job: str, text: str) -> None:
    assert job_in_words(suite, job) == text


def test_parts_of_a_job_are_quarters_or_percent_of_it() -> None:
    assert [part_in_words(bins, bins - 1) for bins in (1, 4, 16)] == [
        "all of it", "its last quarter", "from 94 to 100 % of it",
    ]  # fmt: skip
