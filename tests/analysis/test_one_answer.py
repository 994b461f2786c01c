"""What is said of a curve is one answer: its sentences, its table of phases and its JSON agree."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from benches.curves import second_hand, shapes
from benches.shapes import found

from pslc.analysis import Writes, sentences
from pslc.base import words
from pslc.figures import tables
from pslc.schema.warnings import documented

SEEDS = range(9000, 9003)
OF_OTHERS = [*((second_hand, shape, seed) for shape in second_hand.SHAPES for seed in SEEDS)]
OF_DRIVES = [*((shapes, shape, seed) for shape in shapes.SHAPES for seed in SEEDS)]
SMALL_FALLS = [(second_hand, "no capacity, other load", 9036), (second_hand, "no capacity, other load", 9058)]
"""Curves whose phases pass a cache by a fall that is too small for an end."""
NO_CACHE = re.compile(r"no (write )?cache(?! ends so soon)|without a cache|no cliff|no end of a cache", re.IGNORECASE)
ENDS = re.compile(r"The write cache ends after ([^(]+?)( \((.+) to (.+), 90 % interval\))?\.")
PAST = {"direct", "fold", "native", "gc"}


@pytest.fixture(scope="module")
def answers() -> dict[str, Writes]:
    """Findings by the name of their curve, as they come out of JSON."""
    of_name = {}
    for module, shape, seed in [*OF_OTHERS, *OF_DRIVES, *SMALL_FALLS]:
        writes = found(module.log(shape, seed)).document()
        of_name[f"{shape} {seed}"] = json.loads(json.dumps(documented(writes)))
    return of_name


def texts(findings: Writes) -> Iterator[str]:
    """All that is said in words."""
    yield from sentences.describe(findings)
    yield from (doubt["text"] for doubt in findings["doubts"])
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
            assert (said[0][3] or words.size(low), said[0][4] or words.size(low)) == (
                words.size(low),
                words.size(high),
            ), name
    assert ended > 30


def test_the_rows_of_the_table_are_the_phases_of_the_json(answers: dict[str, Writes]) -> None:
    for name, findings in answers.items():
        phases, shown = findings["phases"], tables.of_writes(findings)
        rows = [row[1:5] for table in shown for row in table.rows]
        assert rows == [
            [words.size(one["from_bytes"]), words.size(one["to_bytes"]), words.speed(one["bytes_per_s"]), one["cause"]]
            for one in phases
        ], name
        assert all(one["to_bytes"] == following["from_bytes"] for one, following in pairwise(phases)), name


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
            assert [text for text in texts(findings) if NO_CACHE.search(text)] == [], name


def test_no_sentence_denies_an_end_that_the_phases_show(answers: dict[str, Writes]) -> None:
    unsure = 0
    for name, findings in answers.items():
        causes = [one["cause"] for one in findings["phases"]]
        passes = any(one == "pslc" and following in PAST for one, following in pairwise(causes))
        if findings["cache_bytes"] is None and passes:
            unsure += 1
            first = sentences.describe(findings)[0]
            assert first.startswith("No sure end of the cache: it may have ended after "), name
            assert re.search(r"the speed falls by only (1\d|20) % there", first), name
    assert unsure == len(SMALL_FALLS)
