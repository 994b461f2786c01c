"""Small files of each program, with made-up numbers: each is read right, or refused with what to give instead.

Curve A: 24.0 GB at 1800 MB/s, then 420 MB/s; 60.35 GB in 100 s. Curve B: 31.0 GB at 2150 MB/s, then 510 MB/s; 62.51 GB
in 76 s.
"""

import gzip
from pathlib import Path
from typing import Any

import pytest

from pslc import PslcError, formats
from pslc.formats import _findings as imported
from pslc.schema.imports import ImportOptions
from tests.conftest import ROOT

INPUTS = ROOT / "tests" / "fixtures" / "inputs"
A, B = (60.35e9, 100.0, 24.0e9), (62.51e9, 76.0, 31.0e9)
"""Bytes, seconds and the end of the cache."""
CURVES = {
    "jobs4_bw.1.log jobs4_bw.2.log jobs4_bw.3.log jobs4_bw.4.log": B,
    "onefile_bw.log": A, "old_bs_bw.log": A, "epoch_bw.1.log": A, "read_first.csv": A, "both_bw.1.log": A,
    "bom_bw.1.log": A, "thousands.csv": A, "iso.csv": A, "cumulative.csv": A, "cells2.csv": A, "comments.csv": A,
    "unit0.csv": A, "unit1.csv": A, "unit4.csv": A, "unit5.csv": A, "nan_cells.csv": A, "contradict_bw.1.log": B,
}  # fmt: skip
FLAT = {
    "group_log_bw.log": (1.50e9, 20.0),
    "two_jobs_old_bw.log": (3.65e9, 54.0),
    "ue_bw.1.log": (56.8e6, 4.5),
    "excerpt_bw.1.log": (10.6e9, 30.0),
    "pause_bw.1.log": (40.0e9, 22.0),
    "first_bw.1.log second_bw.2.log stonewall.fio": (300e6, 7.15),
    "nj_bw.1.log nj_bw.2.log nj_bw.3.log nj_bw.4.log": (318e6, 7.57),
    "randwrite-4k_bw.1.log": (46.6e9, 120.0),
}
LOADS = {
    "iostat_2s.txt": B, "iostat_plain.log": A, "iostat_pretty.txt.gz": B, "iostat_stack.log.gz": A, "dstat.csv": A,
    "collectl.csv": B, "iostat_blank_line.txt": (26.0e9, 12.0, 0.0),
}  # fmt: skip
FIO_JOBS = {
    "normal.txt": (60.0e9, 606e6),
    "jsonutf16.json": (60.0e9, 606e6),
    "tail.json": (60.0e9, 606e6),
    "once.json": (60.0e9, 606e6),
    "report_fio2.log": (20480 * 2**20, 411e6),
}


def read(words: str, folder: Path, **options: Any) -> formats.FileContents:
    paths = []
    for name in words.split():
        path = INPUTS / name
        if path.suffix == ".gz":
            path = folder / path.stem
            path.write_bytes(gzip.decompress((INPUTS / name).read_bytes()))
        paths.append(path)
    return formats.read(paths, ImportOptions(**options))


@pytest.mark.parametrize("words", CURVES)
def test_a_curve_has_its_bytes_its_time_and_the_end_of_its_cache(words, tmp_path):
    moved, seconds, end = CURVES[words]
    data = read(words, tmp_path)
    assert data.curve is not None
    assert data.curve.total_bytes == pytest.approx(moved, rel=0.005)
    assert data.curve.total_seconds == pytest.approx(seconds, rel=0.005)
    found = imported.analyzed(data)
    # A row of a second is 1.8 or 2.15 GB long: the cache ended within one.
    assert found["cache_bytes"] == pytest.approx(end, abs=1.3e9)
    assert data.read_as


@pytest.mark.parametrize("words", FLAT)
def test_a_run_without_a_cliff_tells_none(words, tmp_path):
    moved, seconds = FLAT[words]
    data = read(words, tmp_path)
    assert data.curve is not None
    assert data.curve.total_bytes == pytest.approx(moved, rel=0.01)
    assert data.curve.total_seconds == pytest.approx(seconds, rel=0.01)
    assert imported.analyzed(data)["cache_bytes"] is None


@pytest.mark.parametrize("name", LOADS)
def test_a_load_has_its_bytes_and_its_time(name, tmp_path):
    moved, seconds, _ = LOADS[name]
    data = read(name, tmp_path)
    assert data.load is not None
    assert float(data.load.write_bytes.sum()) == pytest.approx(moved, rel=0.01)
    assert float(data.load.seconds.sum()) == pytest.approx(seconds, rel=0.015)


@pytest.mark.parametrize("name", FIO_JOBS)
def test_a_report_of_fio_has_the_bytes_and_the_speed_of_its_job(name, tmp_path):
    moved, speed = FIO_JOBS[name]
    (job,) = read(name, tmp_path).jobs
    writes = job["write"]
    assert writes["io_bytes"] == pytest.approx(moved, rel=0.005)
    assert writes["io_bytes"] / writes["runtime_ns"] * 1e9 == pytest.approx(speed, rel=0.005)


@pytest.mark.parametrize("name", ["results2.csv", "results_lat_first.csv", "results_pods.csv", "results_summary.csv"])
def test_a_table_of_results_is_no_curve(name, tmp_path):
    data = read(name, tmp_path)
    assert data.curve is None
    assert data.rows


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("first_bw.1.log second_bw.2.log", "--jobs serial"),
        ("contradict_bw.1.log contradict_bw.1.log", "given twice"),
        ("sadf_cpu.csv", "sar -d"),
        ("nohead.csv", "--x"),
    ],
)
def test_what_is_not_clear_is_refused_with_what_to_give(words, said, tmp_path):
    with pytest.raises(PslcError) as raised:
        read(words, tmp_path)
    assert said in str(raised.value)


def test_a_log_and_a_report_that_contradict_each_other_are_said_to(tmp_path):
    data = read("contradict_bw.1.log contradict.json", tmp_path)
    assert any("20.0 GB" in text and "62.5 GB" in text for text in data.warnings), data.warnings


def test_columns_can_be_named_where_the_file_does_not(tmp_path):
    data = read("nohead.csv", tmp_path, x="1=s", y="2=MB/s")
    assert data.curve is not None
    assert data.curve.total_bytes == pytest.approx(A[0], rel=0.005)
    for options in ({"x": "time=s", "y": "writeMibs=MiB/s"}, {}):
        data = read("no_unit_words.csv", tmp_path, **options)
        assert data.curve is not None
        assert data.curve.total_bytes == pytest.approx(B[0], rel=0.005)
        assert ("in s (assumed)" in data.read_as) == (not options)


def test_the_documents_of_a_status_interval_are_a_curve(tmp_path):
    data = read("status.json", tmp_path)
    assert data.curve is not None
    assert data.curve.total_bytes == pytest.approx(60.3e9, rel=0.005)


def test_a_missing_percentile_is_not_told(tmp_path):
    (job,) = read("once.json", tmp_path).jobs
    assert set(job["write"]["lat_ns"]["percentile"]) == {"50.000000", "99.000000"}


def test_diskspd_has_its_writes(tmp_path):
    (row,) = read("diskspd.txt", tmp_path).rows
    assert row["kind"] == "write"
    assert row["bytes_per_s"] == pytest.approx(1152 * 2**20, rel=0.001)
    assert row["latency_s"] == pytest.approx(6.944e-3)


def test_an_ata_drive_tells_its_wear_and_what_was_written(tmp_path):
    (health,) = read("ata.json", tmp_path).health
    assert health["percentage_used"] == 88
    assert health["data_units_written"] * 512_000 == pytest.approx(210e12, rel=0.01)


def test_bytes_so_far_are_a_column_of_bytes(tmp_path):
    path = tmp_path / "bytes.csv"
    path.write_text("time_s,written_bytes\n" + "".join(f"{at},{at * 400_000_000}\n" for at in range(101)))
    data = formats.read([path], ImportOptions())
    assert data.curve is not None
    assert data.curve.total_bytes == pytest.approx(40e9)
    assert data.read_as == "column time_s is the time in s, written_bytes the bytes of writes so far in bytes"
