"""Reads over the address, through `pslc analyze`: which are explained by old data, and which are not."""

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pslc.analysis import Curve, explain_read
from pslc.analysis.series import Floats
from tests.conftest import ROOT, Command

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


Rng = np.random.Generator
LEVELS = (530e6, 545e6, 410e6, 900e6, 1700e6, 2600e6, 3400e6, 6500e6)


def old(rng: Rng, rows: int) -> Floats:
    """Files one behind the other, each of an age; old ones take several tries, which scatter from block to block."""
    tries = np.ones(rows)
    at, retention, growth = 0, rng.uniform(2, 10), rng.uniform(1.03, 1.4)
    while at < rows:
        size = max(1, round(rows * rng.lognormal(math.log(0.06), 1.0)))
        weeks = rng.choice([0.0, rng.exponential(20)], p=[0.5, 0.5])
        count = 0 if weeks < retention else min(1 + math.log(weeks / retention) / math.log(growth), rng.uniform(6, 16))
        tries[at : at + size] = 1 + np.maximum(count * rng.normal(1, 0.15, tries[at : at + size].size), 0)
        at += size
    return float(rng.choice(LEVELS)) / (rng.uniform(0.3, 1.0) * (tries - 1) + 1)


def fresh(rng: Rng, rows: int) -> Floats:
    """One level, with what fresh drives show: a slow start, stalls, a faster end that holds nothing, faster cells."""
    speed = np.full(rows, rng.choice(LEVELS))
    match rng.integers(5):
        case 0:
            speed[: max(1, rows // 80)] *= rng.uniform(0.3, 0.9)
        case 1:
            speed[rng.integers(0, rows, 1 + rows // 150)] *= rng.uniform(0.2, 0.8)
        case 2:
            speed[int(rows * rng.uniform(0.3, 0.95)) :] *= rng.uniform(1.02, 1.6)
        case 3:
            begin = int(rows * rng.uniform(0, 0.8))
            speed[begin : begin + int(rows * rng.uniform(0.02, 0.2))] *= rng.uniform(1.05, 1.35)
    return speed


def disk(rng: Rng, rows: int) -> Floats:
    """Zones of platters; some with sectors that were moved, or beside a host that seeks."""
    zones = np.sort(rng.uniform(0, 1, rng.integers(8, 30)))
    outer, inner = rng.uniform(60e6, 285e6), rng.uniform(0.4, 0.62)
    zone = np.searchsorted(zones, np.linspace(0, 1, rows)) / zones.size
    speed: Floats = outer * np.sqrt(1 - (1 - inner**2) * zone)
    if rng.random() < 0.4:
        speed[rng.integers(0, rows, 1 + rows // 60)] *= rng.uniform(0.2, 0.7)
    return speed


def other(rng: Rng, rows: int) -> Floats:
    """Memory, a network, heat that comes and goes, a backup beside it, a slow port, or fragments."""
    speed, x = np.full(rows, rng.choice(LEVELS[:6])), np.arange(rows)
    begin, end = sorted(rng.integers(rows // 20, rows, 2))
    match rng.integers(6):
        case 0:
            speed[: max(end, 2)] = rng.uniform(6e9, 15e9)
        case 1:
            speed = 116e6 * np.exp(np.minimum(np.cumsum(rng.normal(0, 0.05, rows)), 0).clip(-1.2))
        case 2:
            speed[(x > begin) & ((x - begin) % max(rows // 12, 2) > rows // 24)] *= rng.uniform(0.4, 0.7)
        case 3:
            speed[begin:end] *= rng.uniform(0.3, 0.7, end - begin)
        case 4:
            speed[:] = rng.uniform(34e6, 44e6)
        case 5:
            speed[begin:end] *= rng.uniform(0.35, 0.7)
    return speed


KINDS = {"old data": (20, old), "fresh flash": (20, fresh), "hard disks": (10, disk), "others": (10, other)}


def answers(kind: str) -> Counter[str]:
    """How often drawn reads of a kind are explained by old data, by something else, or by nothing for sure."""
    count, draw = KINDS[kind]
    table = Counter[str]()
    for seed in range(101, 104):
        rng = np.random.default_rng(seed)
        for _ in range(count):
            rows = int(rng.choice([60, 120, 250, 500, 1000]))
            speed = draw(rng, rows) * np.exp(rng.normal(0, rng.choice([0.005, 0.02, 0.06]), rows))
            explanation = explain_read(Curve(np.arange(rows + 1) * 1e9, 1e9 / speed))
            assert explanation is not None
            best = explanation["likely"][0]
            is_old = best["explanation"] == "old-data"
            table["not sure" if best["confidence"] < 0.5 else "old data" if is_old else "another answer"] += 1
    return table


@pytest.mark.parametrize("kind", KINDS)
def test_drawn_reads_are_explained_as_often_as_the_page_says(kind):
    of, page = answers(kind), (ROOT / "docs" / "analysis.md").read_text()
    row = page.partition(f"| {kind} ({of.total()}) | ")[2].partition(" |\n")[0].split(" | ")
    # Another release of NumPy may draw another last digit.
    counts = [of[answer] for answer in ("old data", "another answer", "not sure")]
    assert counts == pytest.approx([*map(int, row)], abs=1)
