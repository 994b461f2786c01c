"""ACCURACY.md says what the simulator does."""

import functools
import importlib.util
import re
import types

import pytest

from pslc.targets import published
from tests.conftest import ROOT


@functools.cache
def maker() -> types.ModuleType:
    """docs/accuracy/make.py."""
    spec = importlib.util.spec_from_file_location("make_accuracy", ROOT / "docs" / "accuracy" / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("drives", "least"),
    [(("aldrin-pro-2tb", "pm871b-128gb"), 10), pytest.param((), 50, marks=pytest.mark.slow)],
    ids=["two drives", "all drives"],
)
def test_each_figure_of_a_fill_is_what_the_simulator_does(drives, least):
    page = (ROOT / "ACCURACY.md").read_text().splitlines()
    found = [maker().line(row) for row in maker().rows(maker().OF_A_FILL, drives)]
    assert len(found) > least
    assert [line for line in found if line not in page] == [], "make accuracy"


@pytest.mark.slow
def test_the_page_is_what_make_accuracy_would_write():
    assert (ROOT / "ACCURACY.md").read_text() == maker().document(), "make accuracy"


def test_every_miss_has_a_reason():
    text, _, _ = (ROOT / "ACCURACY.md").read_text().partition("## Twins of published figures")
    misses = text.count("**miss** |")
    figures = published.document()["figure"]
    assert misses <= sum("reason" in row for row in figures)


def test_drives_of_parts_are_as_near_as_promised():
    text = (ROOT / "ACCURACY.md").read_text()
    for what, least in (("speeds of phases", 50), ("ends of the direct phase, of the capacity", 3)):
        found = re.search(rf"- {what}: (\d+) figures, median error (\d+)%, target (\d+) %", text)
        assert found is not None, what
        count, error, target = map(int, found.groups())
        assert count >= least
        assert error <= target, what
