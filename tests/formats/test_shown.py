"""What a page and a comparison show of other programs' files: what they hold, and who measured."""

import json
import re

import pytest

from pslc.analysis import sentences
from pslc.analysis.thresholds import MIN_SURE_CONFIDENCE
from pslc.formats._findings import analyzed
from tests.formats import made
from tests.formats.test_fio_reports import OLD
from tests.formats.test_health import ATA
from tests.formats.test_loads import iostat

CRYSTAL = made.example("cdm8.txt").replace("Test: 1 GiB", "Test: 64 GiB")
AS_SSD, HD_TUNE = made.example("as_ssd.txt"), made.example("texts/hd_tune.txt").format("")
ATTO = """ATTO Disk Benchmark
Transfer size, Write (MB/s), Read (MB/s)
8 KB, 520.5, 610.2
2 MB, 2900, 3100
"""
TESTS = {
    "CrystalDiskMark or KDiskMark": (CRYSTAL, ["SEQ 1MiB (Q=8, T=1)", "6812 MB/s", "52.3 µs"]),
    "AS SSD Benchmark": (AS_SSD, ["4K-64Threads", "2864 MB/s", "90.0 µs"]),
    "ATTO Disk Benchmark": (ATTO, ["2 MB", "2900 MB/s"]),
    "HD Tune": (HD_TUNE, ["Transfer Rate Average", "408 MB/s"]),
    "fio": (OLD, ["fill", "411 MB/s"]),
    "iostat": (iostat(), ["1.00 s", "written"]),
    "smartctl": (ATA, ["percentage used", "210 TB"]),
}


@pytest.mark.parametrize("program", TESTS)
def test_a_page_shows_what_a_file_holds_and_who_measured(program, command, tmp_path):
    text, shown = TESTS[program]
    (tmp_path / "file.txt").write_text(text)
    assert command("report", "file.txt", "-o", "page.html").returncode == 0
    page = re.sub(r"<(script|style)[\s\S]*?</\1>", "", (tmp_path / "page.html").read_text())
    plain = " ".join(re.sub(r"<[^>]+>", " ", page).split()).replace("209920 GB", "210 TB")
    assert f"easured by {program}, and read by pslc" in plain
    for word in ("by pslc with seed", "seed 0", "nothing moved", " 0 s", "Job file", "hermal", "SLC cache"):
        assert word not in plain
    assert [word for word in shown if word not in plain] == []


@pytest.mark.parametrize(
    ("suite", "text", "rows"),
    [
        ("cdm", CRYSTAL, ["SEQ1M Q8T1, read speed", "RND4K Q1T1, write IOPS", "SEQ1M Q8T1, mixed speed",
                          "RND4K Q1T1, read mean latency"]),
        ("as_ssd", AS_SSD, ["Seq, write speed", "4K-64Thrd, read speed", "access time, reading"]),
        ("atto", ATTO, ["8 KiB, write speed", "2 MiB, read speed"]),
        ("hdtune", HD_TUNE, ["read, lowest speed", "read, mean speed", "access time"]),
    ],
)  # fmt: skip
def test_a_benchmark_of_windows_is_compared_row_by_row_with_its_suite(suite, text, rows, command, tmp_path):
    (tmp_path / "file.txt").write_text(text)
    run = command(
        "run", suite.replace("_", "-"), "--on", "sim:970-evo-500gb", "--quick", "--save", "run", "--no-report"
    )
    assert run.returncode == 0, run.stderr
    compared = command("compare", "file.txt", "run", "--json")
    figures = {row["label"]: row["values"] for row in json.loads(compared.stdout)["figures"]}
    for row in rows:
        assert not [value for value in figures[row] if not (value is not None and value > 0)], row


def test_percentiles_that_are_not_told_are_no_0_s(command, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(OLD.replace("th=[", "at=["))
    for shown in (command("analyze", "a.txt").stdout, command("compare", "a.txt", "b.txt").stdout):
        assert "fill" in shown
        assert not re.search(r"(?<![\d.])0(\.0+)? [mun]?s\b", shown)


@pytest.mark.parametrize("name", ["4k-random.csv", "randrw_bw.csv", "rnd4k_write.csv", "rand.csv"])
def test_no_cache_is_concluded_from_writes_that_a_name_calls_random(name, tmp_path):
    rows = "".join(f"{second},{speed / 1e6:.1f}\n" for second, speed in enumerate(made.speeds(), 1))
    data = made.read(tmp_path, "seconds,MB/s\n" + rows, name=name)
    findings = analyzed(data)
    assert findings["cache_bytes"] is None
    assert {phase["cause"] for phase in findings["phases"]}.isdisjoint({"pslc", "fold", "direct"})
    sequential = analyzed(made.read(tmp_path, "seconds,MB/s\n" + rows, name="brand-new.csv"))
    assert sequential["cache_bytes"] == pytest.approx(made.CACHE_BYTES, rel=0.05)


def test_heat_is_at_most_supposed_without_temperatures(tmp_path):
    fast, slow = ([speed] * 20 for speed in (1800.0, 900.0))
    rows = "".join(f"{second},{speed:.1f}\n" for second, speed in enumerate((fast + slow) * 4, 1))
    findings = analyzed(made.read(tmp_path, "seconds,MB/s\n" + rows, name="dips.csv"))
    assert not [
        phase
        for phase in findings["phases"]
        if phase["cause"] == "thermal"
        if not (phase["confidence"] < MIN_SURE_CONFIDENCE)
    ]
    assert findings.get("throttled_s") is None
    shown = " ".join(sentences.describe(findings))
    assert "hermal" not in shown.replace("probably thermal throttling", "")
    assert ("hermal" in shown) == any("temperature" in str(warning) for warning in findings["warnings"])
