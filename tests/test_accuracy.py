"""ACCURACY.md says what the simulator does."""

import csv
import functools
import importlib.util
import re
import types
from typing import Any

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

    def is_wanted(figure: dict[str, Any]) -> bool:
        return maker().is_of_a_fill(figure) and (not drives or figure["drive"].partition(",")[0] in drives)

    records = [maker().record(row) for row in maker().rows(is_wanted)]
    assert len(records) > least
    assert [record for record in records if record not in kept] == [], "make accuracy"


@pytest.mark.slow
def test_the_page_is_what_make_accuracy_would_write():
    rows = maker().rows(maker().is_published)
    assert (ROOT / "ACCURACY.md").read_text() == maker().document(rows), "make accuracy"


def test_every_section_that_a_page_decides_says_what_its_page_says():
    text = (ROOT / "ACCURACY.md").read_text()
    stale = [title for title in maker().SECTIONS if maker().with_section(text, title) != text]
    assert stale == [], "python docs/accuracy/make.py TITLE"


def test_every_miss_has_a_reason():
    header, *records = read("built-in.csv")
    rows = [dict(zip(header, record, strict=True)) for record in records]
    assert len(rows) == len(published.document()["figure"])
    assert [row for row in rows if row["miss"] and not row["reason"]] == []


def test_the_page_is_short_enough_to_be_read():
    assert len((ROOT / "ACCURACY.md").read_text().splitlines()) <= 250


def test_the_page_begins_with_drives_not_seen_and_names_training_figures_so():
    text = (ROOT / "ACCURACY.md").read_text()
    first, rest = text.split("\n## ")[1:3]
    assert (first.partition("\n")[0], rest.partition("\n")[0]) == ("Drives not seen", "Built-in drives")
    table = re.findall(r"^\| ([a-z ]+) \| (\d+)% / (\d+)%; (\d+)%, x[\d.]+ \|", first, re.MULTILINE)
    assert len(table) == 5
    for left_out, median, ninety, holds in table:
        # The newest rows of the ledger are its slow drives, of a kind that few rows before them are of.
        bounds = (20, 100) if left_out == "lines to come" else (17, 85)
        assert int(median) <= bounds[0], left_out
        assert int(ninety) <= bounds[1], left_out
        assert 75 <= int(holds) <= 90, left_out
    assert first.index("left out") < first.index("- training figures")
    found = re.search(r"ends of the direct phase, of the capacity: (\d+) figures, median error (\d+)%", first)
    assert found is not None
    assert int(found[1]) > 3
    assert int(found[2]) <= 5
