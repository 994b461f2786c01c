"""Each threshold of the analysis changes an answer where its value says, and nowhere near."""

import pytest

from tests.analysis import mutants
from tests.analysis.edges import EDGES, UNTESTED


@pytest.mark.parametrize("name", EDGES)
def test_the_answer_changes_at_the_threshold(name: str) -> None:
    edge = EDGES[name]
    low, high = edge.sides
    assert (edge.answer(low), edge.answer(high)) == (edge.below, edge.above)


def test_every_threshold_has_an_edge_or_a_reason() -> None:
    assert sorted(mutants.thresholds_by_name()) == sorted([*EDGES, *UNTESTED])


def test_a_threshold_a_tenth_higher_or_lower_changes_an_answer() -> None:
    assert mutants.survivors() == []
