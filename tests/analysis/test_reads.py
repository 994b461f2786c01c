"""Reads over the address, through `pslc analyze`: which are explained by old data, and which are not."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from pslc.analysis import Curve, explain_read
from tests.conftest import Command

ROWS = 200
NOISE = 1 + 0.02 * np.sin(np.arange(ROWS) * 2.4)


def speeds(base: float, *spans: tuple[int, int, float]) -> list[float]:
    """MB/s of each row, and in spans of rows a share of it."""
    values = np.full(ROWS, base) * NOISE
    for first, last, share in spans:
        values[first:last] *= share
    return list(values)


def explained(command: Command, path: Path, rows: list[float], *options: str) -> dict[str, object]:
    """The document of `pslc analyze` of a read of 1 TB."""
    lines = ["Position (GB),Read (MB/s)", *(f"{5 * number},{mb_s:.1f}" for number, mb_s in enumerate(rows, 1))]
    (path / "read.csv").write_text("\n".join(lines))
    document: dict[str, object] = json.loads(command("analyze", str(path / "read.csv"), *options, "--json").stdout)
    return document


ZONES = [float(210 * math.sqrt(1 - 0.75 * (row // 9 * 9 / ROWS))) for row in range(ROWS)]
DIPS = speeds(520, *((row, row + 1, 0.4) for row in (17, 60, 61 + 40, 150)))


@pytest.mark.parametrize(
    ("rows", "best"),
    [
        (speeds(520, (40, 70, 0.12), (120, 128, 0.3)), "old-data"),
        (speeds(3000, (0, 60, 0.25), (90, 150, 0.15)), "old-data"),
        (speeds(520), "even"),
        (speeds(520, (0, 2, 0.5)), "even"),
        (ZONES, "zones"),
        (list(np.array(ZONES) * np.where(np.arange(ROWS) % 40, 1, 0.3)), "zones"),
        (DIPS, "busy"),
        (speeds(3000, (120, 200, 0.55)), "heat"),
        (speeds(500, (80, 200, 0.7)), "map"),
    ],
)
def test_the_likeliest_explanation_of_a_read_is_named_with_its_rivals(rows, best, command, tmp_path):
    document = explained(command, tmp_path, rows)
    likely, spans = (document["findings"]["read_explanation"][name] for name in ("likely", "spans"))
    assert bool(spans) == (best in ("old-data", "heat", "map"))
    assert likely[0]["explanation"] == best
    assert sum(each["confidence"] for each in likely) == pytest.approx(1, abs=0.06)
    causes = {phase["cause"] for phase in document["findings"]["phases"]}
    assert causes == ({"unknown", "old-data"} if best == "old-data" else {"unknown"})


def test_old_data_are_said_with_their_spans_what_else_it_may_be_and_what_tells(command, tmp_path):
    rows = speeds(520, (40, 70, 0.12), (120, 128, 0.12))
    explanation = explained(command, tmp_path, rows)["findings"]["read_explanation"]
    assert explanation["spans"] == [[200 * 10**9, 350 * 10**9], [600 * 10**9, 640 * 10**9]]
    text = " ".join(command("analyze", str(tmp_path / "read.csv")).stdout.split())
    assert "190 GB in 2 spans are read at 62.4 MB/s, the rest at 520 MB/s: old data, which the drive reads" in text
    assert "Less likely: fragmented data" in text
    assert "To tell: read it again" in text


def test_what_is_faster_than_its_link_comes_from_memory(command, tmp_path):
    rows = speeds(3000, (0, 60, 0.15), (90, 150, 0.15))
    likely = explained(command, tmp_path, rows, "--link", "sata600")["findings"]["read_explanation"]["likely"]
    assert likely[0]["explanation"] == "memory"


def test_random_reads_and_a_few_rows_are_not_explained(command, tmp_path):
    rows = speeds(520, (40, 70, 0.12))
    assert "read_explanation" not in explained(command, tmp_path, rows, "--workload", "random")["findings"]
    assert explain_read(Curve(np.arange(16.0), np.ones(15))) is None
