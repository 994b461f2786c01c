"""Mutants of the analysis' thresholds: which survive their edge. `python -m tests.analysis.mutants` prints a table.

A mutant is one threshold at 0.9 or 1.1 times its value; a whole number moves by one at least. It is set in each module
that has imported it, and the edge of its name (`edges.py`) is asked again: it dies where an answer changes or an error
is raised.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from pslc.analysis import thresholds
from tests.analysis.edges import EDGES, UNTESTED, Edge

FACTORS = (0.9, 1.1)


def thresholds_by_name() -> dict[str, Any]:
    """Every threshold with its value."""
    return {name: value for name, value in vars(thresholds).items() if name.isupper()}


def survivors() -> list[tuple[str, float]]:
    """The mutants that change no answer, as name and value."""
    return [(name, value) for name in EDGES for value in _mutants(name) if not _dies(name, value, EDGES[name])]


def _mutants(name: str) -> list[float]:
    value = thresholds_by_name()[name]
    if isinstance(value, int):
        return [min(round(FACTORS[0] * value), value - 1), max(round(FACTORS[1] * value), value + 1)]
    return [factor * value for factor in FACTORS]


def _dies(name: str, value: float, edge: Edge) -> bool:
    with _mutated(name, value):
        try:
            return not edge.holds()
        except (ArithmeticError, IndexError, TypeError, ValueError):
            return True


@contextmanager
def _mutated(name: str, value: float) -> Iterator[None]:
    before = thresholds_by_name()[name]
    modules = [module for module in _modules() if name in vars(module)]
    try:
        for module in modules:
            setattr(module, name, value)
        yield
    finally:
        for module in modules:
            setattr(module, name, before)


def _modules() -> list[ModuleType]:
    return [module for path, module in list(sys.modules.items()) if path.startswith("pslc.analysis.")]


def main() -> None:
    """Print the survivors and what has no edge."""
    alive = survivors()
    print(f"{len(FACTORS) * len(EDGES)} mutants of {len(EDGES)} thresholds, {len(alive)} survive")
    for name, value in alive:
        print(f"  {name} = {value:g}")
    print(f"{len(UNTESTED)} thresholds without an edge")
    for name, reason in UNTESTED.items():
        print(f"  {name}: {reason}")


if __name__ == "__main__":
    main()
