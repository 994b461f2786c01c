"""Each threshold of the analysis changes an answer where its value says, and nowhere near."""

import sys

import pytest

from pslc.analysis import thresholds
from tests.analysis.edges import EDGES, UNTESTED


@pytest.mark.parametrize("name", EDGES)
def test_the_answer_changes_at_the_threshold(name: str) -> None:
    edge = EDGES[name]
    low, high = edge.sides
    assert (edge.answer(low), edge.answer(high)) == (edge.below, edge.above)


def test_every_threshold_has_an_edge_or_a_reason() -> None:
    assert sorted(name for name in vars(thresholds) if name.isupper()) == sorted([*EDGES, *UNTESTED])


@pytest.mark.parametrize("factor", [0.9, 1.1])
@pytest.mark.parametrize("name", EDGES)
def test_a_threshold_a_tenth_higher_or_lower_changes_an_answer(
    name: str, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = getattr(thresholds, name)
    if isinstance(value, int):
        mutant = min(round(0.9 * value), value - 1) if factor < 1 else max(round(1.1 * value), value + 1)
    else:
        mutant = factor * value
    for path, module in list(sys.modules.items()):
        if path.startswith("pslc.analysis.") and name in vars(module):
            monkeypatch.setattr(module, name, mutant)
    try:
        survives = EDGES[name].holds()
    except (ArithmeticError, IndexError, TypeError, ValueError):
        survives = False
    assert not survives
