"""Every suite on every profile of the library, scaled down, with and without --quick: some 20 minutes of a processor.

What they say goes to target/said/, a file a run, to be read.
"""

import math
import re
from pathlib import Path
from typing import Any

import pytest

import pslc
from pslc import suites
from pslc.device.region import Scope
from pslc.device.target import library
from pslc.report import page, recording_view, terminal
from tests import scaled

pytestmark = pytest.mark.slow

SAID = Path("target/said")
LINK_ROOM = 1.10
"""Over what the link carries: a short test may end while the last data are still in a buffer."""
WRONG = re.compile(r"\bnan\b|\binf\b|\bNone\b|(?<![\d\w])-\d|\b0 mW\b|0\.00 MB/s")


def numbers(found: Any, at: str = "") -> "list[tuple[str, float]]":
    """Every number in findings, with where it is."""
    if isinstance(found, dict):
        return [pair for key, value in found.items() for pair in numbers(value, f"{at}.{key}")]
    if isinstance(found, list | tuple):
        return [pair for value in found for pair in numbers(value, at)]
    return [(at, float(found))] if isinstance(found, int | float) and not isinstance(found, bool) else []


def intervals(found: Any) -> "list[tuple[str, float, float, float]]":
    """Every value that has an interval: its name, low end, value and high end."""
    if isinstance(found, list):
        return [row for value in found for row in intervals(value)]
    if not isinstance(found, dict):
        return []
    rows = [row for value in found.values() for row in intervals(value)]
    for name, value in found.items():
        low, high = found.get(f"{name}_low"), found.get(f"{name}_high")
        if None not in (value, low, high):
            rows.append((name, low, value, high))
    return rows


@pytest.mark.parametrize("quick", [True, False], ids=["quick", "whole"])
@pytest.mark.parametrize("name", list(library()))
@pytest.mark.parametrize("suite", suites.names())
def test_what_a_suite_says_can_be_true(suite, name, quick, capsys):
    recording = pslc.run(suite, on=scaled.spec(name), scope=Scope(quick=quick))
    shown = recording_view.of_recording(recording)
    terminal.show(shown)
    said = capsys.readouterr().out
    SAID.mkdir(parents=True, exist_ok=True)
    lines = [*shown.sentences, *(f"warning: {warning}" for warning in shown.warnings)]
    (SAID / f"{suite}_{name}_{'quick' if quick else 'whole'}.txt").write_text("\n".join([*lines, ""]))
    assert recording.error is None
    assert suite in page.render(shown)
    assert shown.sentences or shown.warnings, "it says nothing"
    for sentence in [*shown.sentences, *shown.warnings]:
        assert not WRONG.search(sentence), sentence
    assert not re.search(r"\bnan\b|\bNone\b", said)
    for where, number in numbers(recording.findings):
        assert math.isfinite(number), where
        assert number >= 0 or "drift" in where or "slope" in where, where
    for where, low, value, high in intervals(recording.findings):
        assert low <= value <= high, (where, low, value, high)
    link = recording.facts.get("link_bytes_per_s")
    if link and suite not in ("as-ssd", "niobench", "copy"):  # They go through the page cache, too.
        for where, number in numbers(recording.findings):
            if where.endswith("bytes_per_s") and "watt" not in where:
                ways = 2 if suite == "apps" or "mix" in where else 1  # PCIe reads and writes at once.
                assert number <= LINK_ROOM * ways * link, (where, number, link)
