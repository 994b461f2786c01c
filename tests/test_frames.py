"""What the documents promise of pandas, polars, DuckDB and notebooks, by the call that a reader tries first."""

import csv
import io
import json
import re
import subprocess
import sys

import pandas as pd
import polars as pl
import pytest

import pslc
from pslc.base.errors import PslcError
from pslc.figures import table_text
from pslc.figures.picture import Table
from pslc.recording import store
from tests.conftest import ROOT, fill
from tests.test_formats import cliff

DRIVE = "sim:pm871b-128gb"


def written(frame):
    """Bytes by the bins of time, of a DataFrame of pandas or polars."""
    return int(frame["write_bytes"][frame["axis"] == "time"].sum()) if isinstance(frame, pd.DataFrame) else int(
        frame.filter(pl.col("axis") == "time")["write_bytes"].sum()
    )  # fmt: skip


def test_pandas_and_polars_take_a_recording_as_it_is():
    recording = fill(DRIVE)
    makers = (pd.DataFrame.from_arrow, pl.DataFrame)
    made = [make(source) for make in makers for source in (recording, recording.series)]
    for frame in (recording.to_pandas(), recording.to_polars(), *made):
        assert frame.shape == (recording.series.num_rows, len(recording.series.column_names))
        assert written(frame) == recording.written_bytes


def test_pandas_and_polars_need_no_pyarrow(tmp_path):
    script = f"""
import sys
sys.modules["pyarrow"] = None  # as where it is not installed
import pandas, polars, pslc
recording = pslc.run("fill", on="{DRIVE},scale=1/16")
for frame in (recording.to_pandas(), recording.to_polars(), polars.DataFrame(recording)):
    print(frame["write_bytes"].sum())
try:
    pandas.DataFrame.from_arrow(recording)
except ImportError:
    print("from_arrow needs pyarrow")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120
    )
    *sums, last = done.stdout.splitlines()
    assert len(sums) == 3
    assert set(sums) == {str(2 * fill(f"{DRIVE},scale=1/16").written_bytes)}
    assert last == "from_arrow needs pyarrow"


def test_load_reads_a_log_a_table_and_a_picture(tmp_path):
    cliff(tmp_path / "fill_bw.1.log")
    by_log = pslc.load(tmp_path / "fill_bw.1.log", capacity_bytes=1e12)
    assert by_log.drive_bytes == 1e12
    pictured = pslc.load(ROOT / "python/pslc/examples/chart.png", x="0:2000GB", y="0:7000MB/s", series="blue")
    assert len(pictured.findings["phases"]) == 3
    (tmp_path / "read.csv").write_text(
        "s,Write MB/s\n" + "".join(f"{s},{300 if s < 40 else 90}\n" for s in range(1, 90))
    )
    assert pslc.load(str(tmp_path / "read.csv")).findings["cache_bytes"] == pytest.approx(11.7e9, rel=0.02)
    with pytest.raises(PslcError, match="no such folder or file"):
        pslc.load(tmp_path / "none.csv")


def test_duckdb_takes_a_recording_as_it_is():
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    recording = fill(DRIVE)
    assert recording.series.num_rows
    sql = "SELECT sum(write_bytes)::BIGINT FROM recording WHERE axis = 'time'"
    assert duckdb.sql(sql).fetchall() == [(recording.written_bytes,)]


def test_every_reader_opens_the_folder_of_a_run(tmp_path):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    recording = fill(DRIVE)
    store.save(recording, tmp_path / "run")
    path = tmp_path / "run" / "series.parquet"
    assert written(pd.read_parquet(path)) == recording.written_bytes
    assert written(pl.read_parquet(path)) == recording.written_bytes
    sql = f"SELECT sum(write_bytes)::BIGINT FROM '{path}' WHERE axis = 'time'"
    assert duckdb.sql(sql).fetchall() == [(recording.written_bytes,)]


def test_a_csv_holds_the_same_numbers(tmp_path):
    recording = fill(DRIVE)
    text = recording.to_csv(tmp_path / "series.csv")
    assert (tmp_path / "series.csv").read_text() == text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == recording.series.num_rows
    assert sum(int(row["write_bytes"]) for row in rows if row["axis"] == "bytes") == recording.written_bytes
    assert written(pd.read_csv(tmp_path / "series.csv")) == recording.written_bytes


def test_a_cell_shows_the_figures_the_picture_and_the_warnings():
    html = fill(DRIVE)._repr_html_()
    assert "Samsung PM871b 128GB" in html
    assert "3.02 GB" in html
    assert '<img alt="Write speed by data written' in html
    assert "data:image/svg+xml;base64," in html


def test_without_matplotlib_a_cell_says_what_draws_its_picture(monkeypatch):
    monkeypatch.setattr("pslc.figures.draw.find_spec", lambda name: None)
    html = fill(DRIVE)._repr_html_()
    assert 'pip install "pslc[pictures]"' in html
    assert "3.02 GB" in html
    with pytest.raises(PslcError, match="Matplotlib, which is not installed"):
        pslc.plot(fill(DRIVE))


def test_every_suite_has_a_cell_and_a_picture():
    """Not only those with a write curve."""
    for suite in ("qd-sweep", "cdm"):
        recording = pslc.run(suite, on=DRIVE, scope=pslc.Scope(quick=True))
        assert "<img" in recording._repr_html_()


def test_the_package_lists_what_it_does():
    assert {"run", "analyze", "compare", "fit", "study", "serve", "load", "Recording"} <= set(dir(pslc))
    assert dir(pslc) == sorted(pslc.__all__)
    for name in pslc.__all__:
        assert getattr(pslc, name) is not None


def test_results_show_themselves_in_one_short_line():
    recording = fill(DRIVE)
    for shown in (pslc.analyze(recording), pslc.compare(recording, recording)):
        assert re.fullmatch(rf"<pslc\.{type(shown).__name__} of .{{20,160}}>", repr(shown))


def test_a_recording_is_loaded_from_its_folder(tmp_path):
    store.save(fill(DRIVE), tmp_path / "run")
    assert pslc.load(tmp_path / "run").findings["cache_bytes"] == fill(DRIVE).findings["cache_bytes"]


def test_a_comparison_is_a_table_for_every_reader():
    first, second = fill(DRIVE), fill("sim:600p-512gb")
    comparison = pslc.compare(first, second, labels=["A", "B"])
    frame = comparison.to_pandas()
    mean = frame[(frame.figure == "average speed") & (frame.side == "B")].value.item()
    assert mean == pytest.approx(second.findings["fill_mean_bytes_per_s"])
    assert comparison.to_polars().shape == frame.shape
    assert "<table>" in comparison._repr_html_()
    assert comparison.plot("percent").to_bytes("svg")
    assert comparison.bars("mean").to_bytes("svg")
    with pytest.raises(PslcError, match="two recordings or more"):
        pslc.compare(first)


TABLE = Table("t", ["drive", "a|b"], [["[x] <i>", "1 MB/s"], ["=1+2", "-3 C"]], words=["drive"])


def test_markdown_bbcode_csv_and_html_hold_the_same_cells():
    markdown = table_text.render(TABLE, "markdown").splitlines()
    assert markdown == ["| drive | a\\|b |", "|---|---:|", "| [x] <i> | 1 MB/s |", "| =1+2 | -3 C |"]
    bbcode = table_text.render(TABLE, "bbcode")
    assert "[td](x) <i>[/td][td]1 MB/s[/td]" in bbcode
    assert bbcode.count("[td]") == bbcode.count("[/td]") == 4
    assert list(csv.reader(io.StringIO(table_text.render(TABLE, "csv")))) == [
        ["drive", "a|b"], ["[x] <i>", "1 MB/s"], ["'=1+2", "-3 C"],
    ]  # fmt: skip
    frame = pd.read_html(io.StringIO(table_text.render(TABLE, "html")))[0] if _has_lxml() else None
    assert frame is None or frame.shape == (2, 2)
    with pytest.raises(PslcError, match="did you mean markdown"):
        table_text.render(TABLE, "markdwn")


def _has_lxml():
    from importlib.util import find_spec

    return find_spec("lxml") is not None


def test_the_command_prints_a_comparison_as_a_table(command, tmp_path):
    for name in ("a", "b"):
        store.save(fill(DRIVE), tmp_path / name)
    done = command.fine("compare", str(tmp_path / "a"), str(tmp_path / "b"), "--table", "markdown")
    assert done.stdout.startswith("| figure |")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_export_writes_the_series(command, tmp_path, kind):
    recording = fill(DRIVE)
    store.save(recording, tmp_path / "run")
    out = tmp_path / f"out.{kind}"
    done = command.fine("export", str(tmp_path / "run"), "--as", kind, "-o", str(out))
    assert done.stdout.strip() == str(out)
    assert written(pd.read_csv(out) if kind == "csv" else pd.read_parquet(out)) == recording.written_bytes


def test_exported_fio_logs_hold_the_same_bytes_and_the_same_cache(command, tmp_path):
    recording = fill(DRIVE)
    store.save(recording, tmp_path / "run")
    command.fine("export", str(tmp_path / "run"), "--as", "fio", "-o", str(tmp_path / "logs"))
    log = tmp_path / "logs" / "agg-write_bw.log"
    rates = [int(line.split(",")[1]) for line in log.read_text().splitlines()]
    assert sum(rates) * 1024 / 2 == pytest.approx(recording.written_bytes, rel=0.01)
    read = command.fine("analyze", str(log), "--json")
    assert json.loads(read.stdout)["findings"]["cache_bytes"] == pytest.approx(
        recording.findings["cache_bytes"], rel=0.15
    )


def test_runs_lists_recordings_with_the_newest_first_and_those_that_are_broken(command, tmp_path):
    from dataclasses import replace

    store.save(replace(fill(DRIVE), began_unix_ns=10**18), tmp_path / "old")
    store.save(replace(fill(DRIVE), began_unix_ns=2 * 10**18, interrupted=True), tmp_path / "new")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("[")
    done = command.fine("report", "--list", str(tmp_path), "--json")
    entries = json.loads(done.stdout)
    assert [entry["folder"].rpartition("/")[2] for entry in entries] == ["new", "old", "broken"]
    assert [bool(entry["note"]) for entry in entries] == [True, False, True]
    assert "Samsung PM871b 128GB" in command("report", "--list", str(tmp_path)).stdout


def test_open_makes_the_page_that_is_missing(command, tmp_path, monkeypatch):
    monkeypatch.setenv("BROWSER", "true")
    store.save(fill(DRIVE), tmp_path / "run")
    done = command.fine("report", "--open", str(tmp_path / "run"))
    assert (tmp_path / "run" / "report.html").read_text().startswith("<!doctype html>")
    assert done.stdout.strip() == str(tmp_path / "run" / "report.html")


def test_a_silence_of_a_second_is_a_gap_and_a_shorter_one_is_none():
    import numpy as np

    from pslc.recording.rates import is_silent

    series = {name: np.array([1, 0, 0, 1, 0, 1], dtype=np.uint64) for name in ("reads", "writes", "trims")}
    seconds = np.array([0.5, 0.5, 0.6, 0.5, 0.9, 0.5])
    assert is_silent(series, seconds).tolist() == [False, True, True, False, False, False]
