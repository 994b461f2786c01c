"""The rows of fio's logs: windows, what a ramp leaves out, histograms."""

import json
from dataclasses import replace

import numpy as np
import pytest

from pslc.runner.fio_log_rows import FLUSH, READ, WRITE, Requests, rows

MS = 1_000_000


def requests(done_ms, op=READ, latency_us=500, counts_from_ms=0, end_ms=0):
    """One request of 4 KiB that came back at each time."""
    n = len(done_ms)
    done = np.array([int(at * MS) for at in done_ms], dtype=np.int64)
    columns = {
        "issued_ns": done - latency_us * 1000,
        "latency_ns": np.full(n, latency_us * 1000),
        "submission_ns": np.zeros(n, dtype=np.int64),
        "op": np.full(n, op),
        "bytes": np.full(n, 4096),
        "offset": np.arange(n) * 4096,
    }
    return Requests.of(columns, counts_from_ms * MS, end_ms * MS)


def table(of, kind, **options):
    return [[int(field, 0) for field in row.split(", ")] for row in rows(of, kind, options)]


EVERY_MS = np.arange(1, 1701)
"""1.7 s of one request each ms."""


def test_the_last_window_is_as_long_as_the_job_was_in_it():
    of = requests(EVERY_MS, end_ms=1700)
    assert table(of, "iops", log_avg_msec="1000") == [[1000, 999, 0, 0, 0], [1700, 1001, 0, 0, 0]]
    assert table(of, "bw", log_avg_msec="1000") == [[1000, 3996, 0, 0, 0], [1700, 4005, 0, 0, 0]]
    assert [row[0] for row in table(of, "lat", log_avg_msec="1000")] == [1000, 1700]


@pytest.mark.parametrize("left_ms", [1, 200, 499])
def test_a_rate_of_less_time_than_fio_samples_one_is_left_out(left_ms):
    of = requests(EVERY_MS[: 1000 + left_ms], end_ms=1000 + left_ms)
    assert [row[0] for row in table(of, "iops", log_avg_msec="1000")] == [1000]
    assert [row[0] for row in table(of, "lat", log_avg_msec="1000")] == [1000, 1000 + left_ms]


def test_what_comes_back_in_the_ramp_is_in_no_log_and_times_count_from_its_end():
    of = requests(EVERY_MS, counts_from_ms=1000, end_ms=1700)
    assert len(table(of, "lat")) == 701
    assert table(of, "lat")[0][0] == 0
    assert table(of, "lat")[-1][0] == 700
    assert [row[0] for row in table(of, "iops", log_avg_msec="350")] == [350, 700]


def test_flushes_are_in_no_log():
    assert table(requests([1, 2], op=FLUSH), "lat") == []


def test_a_window_has_its_mean_its_largest_value_or_both():
    of = requests([1, 2, 3], end_ms=100)
    of.latency_ns[:] = [1000, 3000, 8000]
    kinds = {"avg": [4000], "0": [4000], "max": [8000], "1": [8000], "both": [4000, 8000]}
    for word, values in kinds.items():
        assert table(of, "lat", log_avg_msec="100", log_window_value=word) == [[100, *values, 0, 0, 0]]
    assert table(of, "lat", log_avg_msec="100", log_max_value="1") == [[100, 8000, 0, 0, 0]]


def test_priority_and_time_of_issue_have_columns_where_they_are_asked_for():
    of = requests([2], op=WRITE)
    more = {"log_offset": "1", "log_issue_time": "1"}
    assert table(of, "clat", **more) == [[2, 500_000, 1, 4096, 0, 0, 1_500_000]]
    assert table(of, "lat", **more) == [[2, 500_000, 1, 4096, 0, 0, 0]]
    assert list(rows(of, "lat", {"log_prio": "1"})) == ["2, 500000, 1, 4096, 0x0000\n"]


def middle_ns(index):
    """The middle of fio's bin (`plat_idx_to_val` in its stat.c)."""
    if index < 128:
        return index
    shift = (index >> 6) - 1
    return (64 + (index & 63) << shift) + (1 << shift >> 1)


@pytest.mark.parametrize("coarseness", [0, 3, 6])
def test_a_histogram_log_has_fios_bins_and_every_request(coarseness, command, tmp_path):
    text = "[j]\nrw=randrw\nbs=4k\nsize=8m\nioengine=libaio\niodepth=4\nwrite_hist_log=h\nlog_hist_msec=10\n"
    (tmp_path / "j.fio").write_text(f"{text}log_hist_coarseness={coarseness}\n")
    done = command("run", "j.fio", "--on", "sim:sn850-1tb", "--output-format=json+")
    job = json.loads(done.stdout)["jobs"][0]
    lines = [list(map(int, line.split(", "))) for line in (tmp_path / "h_clat_hist.1.log").read_text().splitlines()]
    assert {len(line) for line in lines} == {3 + (1856 >> coarseness)}
    assert [line[0] for line in lines] == sorted(line[0] for line in lines)
    for direction, word in enumerate(("read", "write")):
        sums = np.sum([line[3:] for line in lines if line[1] == direction], axis=0)
        expected = np.zeros(1856, dtype=int)
        for index in range(1856):
            expected[index] = job[word]["clat_ns"]["bins"].get(str(middle_ns(index)), 0)
        assert expected.sum() == job[word]["total_ios"]
        assert sums.tolist() == expected.reshape(-1, 1 << coarseness).sum(axis=1).tolist()


def test_a_wrong_word_for_windows_or_histograms_is_refused(command, tmp_path):
    for option, hint in (("log_window_value=min", "avg, max or both"), ("log_hist_coarseness=7", "6")):
        (tmp_path / "j.fio").write_text(f"[j]\nrw=read\nsize=1m\nwrite_lat_log=l\n{option}\n")
        done = command.refused("run", "j.fio", "--on", "sim:sn850-1tb")
        assert option.split("=")[0] in done.stderr
        assert hint in done.stderr


def test_times_since_1970_are_added_to_those_of_every_log():
    of = requests([1, 2, 700], end_ms=700)
    shifted = replace(of, epoch_ms=1_700_000_000_000)
    for kind, options in {"lat": {}, "bw": {"log_avg_msec": "500"}, "hist": {"log_hist_msec": "500"}}.items():
        plain, moved = table(of, kind, **options), table(shifted, kind, **options)
        assert len(plain) > 0
        assert [[row[0] + shifted.epoch_ms, *row[1:]] for row in plain] == moved


@pytest.mark.parametrize("drive", ["600p-512gb", "660p-1tb", "pm871b-128gb", "su630-480gb"])
def test_the_exported_log_of_a_fill_has_the_cache_of_its_recording(drive, command):
    command.fine("run", "fill", "--on", f"sim:{drive}", "--save", "run", "--no-report")
    command.fine("export", "run", "--as", "fio")
    recorded = json.loads(command.fine("analyze", "run", "--json").stdout)["findings"]
    document = json.loads(command.fine("analyze", "run/agg-write_bw.log", "--json").stdout)
    logged = document["findings"]
    assert logged["cache_bytes_low"] <= recorded["cache_bytes"] <= logged["cache_bytes_high"]
    # The 660p folds at 96 MB/s up to 781 GB and at 113 MB/s behind it: one phase by its counters, two by its speed.
    same = [phase["bytes_per_s"] for phase in recorded["phases"]][: 1 if drive == "660p-1tb" else None]
    assert [phase["bytes_per_s"] for phase in logged["phases"]][: len(same)] == pytest.approx(same, rel=0.01)
    assert len(logged["phases"]) == (3 if drive == "660p-1tb" else 2)
    assert "undone" not in str(document["warnings"])
