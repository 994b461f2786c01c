"""What is said of a log is right, and one answer: its sentences, its table of phases and its JSON agree."""

import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from benches import logs, people_logs

from pslc.analysis import Writes, sentences
from pslc.base import words
from pslc.figures import tables
from pslc.schema.warnings import of_documents

CASES = [people_logs.case(number) for number in range(3 * len(people_logs.SHAPES))]
NO_CACHE = re.compile(r"no (write )?cache|without a cache|no cliff|no end of a cache", re.IGNORECASE)
ENDS = re.compile(
    r"The write cache (?:probably )?ends after ([^(]+?)"
    r"(?: \((?:(.+) to (.+), 90 % interval)?(?:; )?(?:\d+ % sure)?\))?\."
)
PAST = {"direct", "fold", "native", "gc"}


@pytest.fixture(scope="module")
def answers() -> dict[str, Writes]:
    """Findings by the name of their log, as `pslc analyze --json` prints them."""
    return {f"{case.shape} {case.seed}": of_documents(logs.findings(case)) for case in CASES}


def test_logs_as_people_keep_them_are_explained(answers: dict[str, Writes]) -> None:
    scores = [logs.score(case, dict(findings)) for case, findings in zip(CASES, answers.values(), strict=True)]
    assert np.mean([score.error <= logs.CLOSE for score in scores]) >= 0.88, [
        score for score in scores if score.error > logs.CLOSE
    ]
    assert np.mean([score.covered for score in scores if score.covered is not None]) >= 0.9
    assert np.mean([right for score in scores for right, _ in score.causes]) >= 0.9
    assert not [score for score in scores if not score.has_cache and (score.confidence or 0) >= logs.SURE]


def test_an_answer_of_another_kind_is_judged_wrong(answers: dict[str, Writes]) -> None:
    cliff = next(case for case in CASES if case.shape == "usb_bridge")
    flat = next(case for case in CASES if case.shape == "flat_share")
    both = [dict(answers[f"{case.shape} {case.seed}"]) for case in (cliff, flat)]
    assert [logs.score(case, each).error > logs.GROSS for case in (cliff, flat) for each in both] == [
        False, True, True, False,
    ]  # fmt: skip


def texts(findings: Writes) -> Iterator[str]:
    """All that is said in words."""
    yield from sentences.describe(findings)
    yield from (str(warning) for warning in findings["warnings"] if warning.code != "unsure")
    yield from (phase["because"] for phase in findings["phases"])


def test_the_size_in_the_sentence_is_that_of_the_json(answers: dict[str, Writes]) -> None:
    ended = 0
    for name, findings in answers.items():
        cache, low, high = (findings[f"cache_bytes{end}"] for end in ("", "_low", "_high"))
        said = [match for sentence in sentences.describe(findings) if (match := ENDS.fullmatch(sentence))]
        assert len(said) == (cache is not None), name
        if cache is not None:
            ended += 1
            assert low <= cache <= high, name
            assert said[0][1] == words.size(cache), name
            assert (said[0][2] or words.size(low), said[0][3] or words.size(low)) == (
                words.size(low),
                words.size(high),
            ), name
    assert ended > 30


def test_only_the_row_that_ends_with_the_cache_is_said_to_end_it(answers: dict[str, Writes]) -> None:
    ended = 0
    for name, findings in answers.items():
        start = findings["phases"][0]["from_bytes"] if findings["phases"] else 0
        for phase in findings["phases"]:
            if "the cliff at the end of a cache" in phase["because"]:
                assert findings["cache_bytes"] is not None, name
                assert phase["to_bytes"] - start == pytest.approx(findings["cache_bytes"], abs=1), name
                ended += 1
    assert ended > 20


def test_the_rows_of_the_table_are_the_phases_of_the_json(answers: dict[str, Writes]) -> None:
    for name, findings in answers.items():
        phases, shown = findings["phases"], tables.of_writes(findings)
        rows = [row[1:5] for table in shown for row in table.rows]
        assert rows == [
            [words.size(one["from_bytes"]), words.size(one["to_bytes"]), words.speed(one["bytes_per_s"]), one["cause"]]
            for one in phases
        ], name
        assert not [
            (one, following) for one, following in pairwise(phases) if one["to_bytes"] != following["from_bytes"]
        ], name


def test_a_cache_ends_with_a_phase_and_behind_it_the_cells_are_past_it(answers: dict[str, Writes]) -> None:
    for name, findings in answers.items():
        cache, phases = findings["cache_bytes"], findings["phases"]
        if cache is not None:
            assert cache + phases[0]["from_bytes"] in [pytest.approx(one["to_bytes"], abs=1) for one in phases], name
            behind = next(one["cause"] for one in phases if one["from_bytes"] >= cache - 1)
            assert behind != "pslc", name


def test_nothing_says_that_there_is_no_cache_where_one_has_a_size(answers: dict[str, Writes]) -> None:
    for name, findings in answers.items():
        if findings["cache_bytes"] is not None:
            said = [text for text in texts(findings) if not text.startswith("Less likely")]
            assert [text for text in said if NO_CACHE.search(text)] == [], name


def test_no_sentence_denies_an_end_that_the_phases_show(answers: dict[str, Writes]) -> None:
    for name, findings in answers.items():
        causes = [one["cause"] for one in findings["phases"]]
        passes = any(one == "pslc" and following in PAST for one, following in pairwise(causes))
        if findings["cache_bytes"] is None and passes:
            first = sentences.describe(findings)[0]
            assert first.startswith("No sure end of the cache: it may have ended after "), name


def test_each_number_in_the_reason_of_a_phase_is_that_of_the_rows(answers: dict[str, Writes]) -> None:
    checked = 0
    for name, findings in answers.items():
        rows = findings["phases"] if "cache_confidence" in findings else []
        cached = next((row for row in rows if row["cause"] in ("pslc", "link", "host")), None)
        for index, row in enumerate(rows):
            speed, because = row["bytes_per_s"], row["because"]
            seconds = (row["to_bytes"] - row["from_bytes"]) / speed
            bases = {
                "behind it": rows[index + 1]["bytes_per_s"] / speed if index + 1 < len(rows) else 0.0,
                "of its speed": speed / cached["bytes_per_s"] if cached else 0.0,
                "of the": speed / rows[index - 1]["bytes_per_s"] if index else 0.0,
            }
            for share, base in re.findall(r"(\d+) % (behind it|of its speed|of the (?:first|speed before))", because):
                checked += 1
                expected = next(value for words_, value in bases.items() if base.startswith(words_))
                assert int(share) == round(100 * expected), (name, because)
            if span := re.search(r"(?:slower|faster) for (.+?)(?:, |: )", because):
                checked += 1
                assert span[1] == words.span(seconds), (name, because)
            assert row["cause"] in ("gc", "page-cache", "link", "dram") or f": {words.speed(speed)}" in because, (
                name,
                because,
            )
    assert checked > 100
