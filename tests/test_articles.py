"""docs/articles.md is what its commands print, and no figure comes from a job or a computer of our own."""

import re
import shlex
import sys
from functools import cache
from types import ModuleType

import pytest

from pslc import suites
from pslc.device import computers, published
from pslc.device.target import find_target
from tests.conftest import ROOT

ACCURACY = ROOT / "docs" / "accuracy"
LONG = re.compile(r"run (cdm|endurance|power|random-steady|thermal)")
"""Commands of items that take longer than a test has."""


@cache
def articles() -> ModuleType:
    """docs/accuracy/articles.py."""
    sys.path.insert(0, str(ACCURACY))
    import articles  # type: ignore[import-not-found]

    assert isinstance(articles, ModuleType)
    return articles


def test_the_page_says_what_the_table_holds():
    page = articles().document(articles().of_articles())
    assert (ROOT / "docs" / "articles.md").read_text() == page, "make articles"


COMMANDS = sorted(
    {articles().measures.command(figure) for figure in published.document()["figure"] if "item" in figure}
)


@pytest.mark.parametrize(
    "command", [pytest.param(line, marks=[pytest.mark.slow] if LONG.search(line) else []) for line in COMMANDS]
)
def test_each_figure_is_what_its_command_prints(command, tmp_path, monkeypatch):
    monkeypatch.setattr(articles().measures, "RUNS", tmp_path)
    kept = {row["what"] + row["item"] + row["drive"]: row for row in articles().of_articles()}
    for figure in published.document()["figure"]:
        if "item" in figure and articles().measures.command(figure) == command:
            row = kept[figure["what"] + figure["item"] + figure["drive"]]
            got = articles().measures.value(dict(figure))
            expected = got if isinstance(got, str) else pytest.approx(got, rel=1e-4)
            assert row["simulated"] == expected, (row["commands"], "make articles")


def test_each_item_of_the_five_articles_has_a_command_or_says_why_not():
    counts = articles().counts(articles().of_articles())
    assert counts.total() == 57
    assert counts["right"] >= 50
    page = (ROOT / "docs" / "articles.md").read_text()
    for item in published.document()["item"]:
        before, _, after = page.partition(f"### {item['title']}\n")
        section = after.partition("\n###")[0]
        verdict = section.strip().partition(".")[0]
        blocks = re.findall(r"```sh\n(.*?)```", before.rpartition("\n## ")[2] + section, flags=re.DOTALL)
        commands = articles().runs_of(item["id"], articles().of_articles())
        assert blocks[-1].splitlines() == list(commands) or verdict == "No command", item["title"]
        assert ("- Miss: " in section) == (verdict != "Right"), item["title"]


def test_each_command_names_what_there_is():
    for figure in published.document()["figure"]:
        words = shlex.split(articles().measures.command(figure))
        assert words[2] in suites.names()
        find_target(words[words.index("--on") + 1])
        if "--computer" in words:
            computers.find(words[words.index("--computer") + 1])


@pytest.mark.parametrize("run", ["cdm", "as-ssd", "niobench", "apps", "copy", "hdtune", "atto"])
def test_no_answer_of_an_article_depends_on_a_computer_that_is_assumed(run):
    runs = {figure["run"] for figure in published.document()["figure"] if "item" in figure and "run" in figure}
    assert [words for words in runs if words.startswith(run) and "--computer" not in words] == []


def test_no_job_and_no_computer_stands_in_the_measures():
    code = (ACCURACY / "measures.py").read_text()
    assert re.findall(r"host\.\w+=|\brw=\w+|iodepth=\d\d|\bpslc\.run\(", code) == []
    assert "host." not in (ROOT / "python/pslc/device/published.toml").read_text().replace("host.driver_cache=2GB", "")
