"""Sentences are no surer than the answer that they are about."""

import numpy as np

import pslc
from pslc.analysis import sentences
from tests.analysis.edges import described, row

FALLS = (row(), row(cause="thermal", bytes_per_s=1e8))


def test_that_there_is_no_end_of_a_cache_is_said_as_surely_as_it_is_known():
    assert described(*FALLS, cache_confidence=0.95).startswith("No end of a cache: the speed fell for other reasons.")
    assert described(*FALLS, cache_confidence=0.7).startswith("Probably no end of a cache (70 % sure): the speed fell")
    assert described(*FALLS, cache_confidence=0.41).startswith(
        "Whether a cache ends is not known: no explanation is likelier than 41 %."
    )


def test_a_fall_in_a_handful_of_samples_is_not_denied():
    for megabytes in ([500, 500, 80], [500] * 8 + [80]):
        analysis = pslc.analyze(
            np.arange(1.0, 1 + len(megabytes)), np.array(megabytes) * 1e6, by="time", workload="sequential"
        )
        first, *_ = sentences.describe(analysis.document())
        assert first == "No cliff was found, in so few samples that one may be missed."


def test_a_log_that_is_faster_later_is_not_held_back_by_a_pipe():
    seconds = np.arange(1.0, 121.0)
    faster = np.where(seconds < 20, 1000e6, 4900e6)
    for speeds, is_pipe in ((faster, False), (np.full(120, 1000e6), True)):
        analysis = pslc.analyze(seconds, speeds, by="time", workload="sequential")
        assert ("pipe" in [warning.code for warning in analysis.warnings]) == is_pipe
