"""ACCURACY.md says what the simulator does."""

import csv
import functools
import importlib.util
import re
import types

import pytest

from pslc.device import published
from tests.conftest import ROOT


def read(name: str) -> list[list[str]]:
    """The rows of a table of docs/accuracy."""
    with (ROOT / "docs" / "accuracy" / name).open(newline="") as file:
        return list(csv.reader(file))


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
    kept = read("built-in.csv")
    records = [maker().record(row) for row in maker().rows(maker().OF_A_FILL, drives)]
    assert len(records) > least
    assert [record for record in records if record not in kept] == [], "make accuracy"


@pytest.mark.slow
def test_the_page_is_what_make_accuracy_would_write():
    assert (ROOT / "ACCURACY.md").read_text() == maker().document(maker().rows()), "make accuracy"


def test_every_miss_has_a_reason():
    header, *records = read("built-in.csv")
    rows = [dict(zip(header, record, strict=True)) for record in records]
    assert len(rows) == len(published.document()["figure"])
    assert [row for row in rows if row["miss"] and not row["reason"]] == []


def test_the_page_is_short_enough_to_be_read():
    assert len((ROOT / "ACCURACY.md").read_text().splitlines()) <= 250


def test_drives_of_parts_are_as_near_as_promised():
    text = (ROOT / "ACCURACY.md").read_text()
    for what, least in (("speeds of phases", 50), ("ends of the direct phase, of the capacity", 3)):
        found = re.search(rf"- {what}: (\d+) figures, median error (\d+)%, target (\d+) %", text)
        assert found is not None, what
        count, error, target = map(int, found.groups())
        assert count >= least
        assert error <= target, what
