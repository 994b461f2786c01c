"""fio's logs as fio writes them: what each row covers, which job it is of, and what the files do not tell."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from benches import fio_logs

from pslc import PslcError, formats
from pslc.formats import _fio_rows as fio_rows
from pslc.formats import fio_log
from pslc.schema.imports import ImportOptions
from tests.formats import made

FORM = {"step_ms": 1000, "first_ms": None, "op": 1, "size": 0, "columns": 5, "jitter": 0}


def log(path, rates, **form):
    """An averaged log of bytes/s; `jitter` moves its clock by up to so many ms."""
    step_ms, first_ms, op, size, columns, jitter = (FORM | form).values()
    at = (first_ms or step_ms) + np.arange(len(rates)) * step_ms
    at = at + np.random.default_rng(jitter).integers(0, jitter + 1, len(rates))
    tail = ", 0" * (columns - 4)
    path.write_text(
        "".join(f"{ms}, {rate / 1024:.0f}, {op}, {size}{tail}\n" for ms, rate in zip(at, rates, strict=True))
    )
    return path


def read(*paths, **hints):
    return formats.read(list(paths), ImportOptions(**hints))


def test_the_logs_of_jobs_with_clocks_of_their_own_add_up_without_a_peak(tmp_path, command):
    quarter = [speed / 4 for speed in made.speeds()]
    paths = [log(tmp_path / f"run_bw.{i}.log", quarter, jitter=9) for i in range(1, 5)]
    curve = read(*paths).curve
    assert curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.005)
    assert curve.bytes_per_s.max() < 1.1 * made.CACHE_SPEED
    found = json.loads(command("analyze", *map(str, paths), "--json").stdout)
    assert found["findings"]["cache_bytes"] == pytest.approx(made.CACHE_BYTES, rel=0.02)


def test_several_jobs_in_one_file_are_told_apart_where_times_run_back(tmp_path):
    parts = [log(tmp_path / f"{i}", [speed / 4 for speed in made.speeds()], jitter=3) for i in range(4)]
    whole = tmp_path / "run_bw.log"
    whole.write_text("".join(part.read_text() for part in parts))
    data = read(whole)
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.005)
    assert "4 jobs added up" in data.read_as


def test_reads_and_writes_of_several_jobs_in_one_file_are_apart(tmp_path):
    rows = []
    for _ in range(3):
        for ms in range(250, 20_001, 250):
            rows += [f"{ms}, {55e6 / 1024:.0f}, 0, 0, 0", f"{ms + 2}, {25e6 / 1024:.0f}, 1, 0, 0"]
    (tmp_path / "run_bw.log").write_text("\n".join(rows) + "\n")
    data = read(tmp_path / "run_bw.log")
    assert data.kind == "write"
    assert data.curve.total_bytes / data.curve.total_seconds == pytest.approx(75e6, rel=0.005)
    assert "its reads left out" in data.read_as


@pytest.mark.parametrize("jobs", [1, 2])
def test_means_with_a_block_size_as_fio_2_wrote_them_are_means(jobs, tmp_path):
    parts = [
        log(tmp_path / f"{i}", [speed / jobs for speed in made.speeds()], size=131072, columns=4) for i in range(jobs)
    ]
    whole = tmp_path / "old_bw.log"
    whole.write_text("".join(part.read_text() for part in parts))
    assert read(whole).curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.005)


def test_means_of_fio_2_are_means_where_the_rows_of_a_quarter_of_the_time_are_missing(tmp_path):
    path = log(tmp_path / "old_bw.log", made.speeds(), size=4096, columns=4)
    path.write_text("".join(row for number, row in enumerate(path.read_text().splitlines(True)) if number % 4 != 3))
    assert read(path).curve.total_bytes > 0.7 * made.TOTAL_BYTES


def test_single_requests_at_an_even_pace_are_no_means(tmp_path):
    rows = "".join(f"{400 * i}, 50000000, 1, 65536, 0\n" for i in range(60))
    (tmp_path / "paced_bw.1.log").write_text(rows)
    assert read(tmp_path / "paced_bw.1.log").curve.total_bytes == 60 * 65536
    # A row before the first pace has gone by is a request's, whatever its size.
    assert not read(tmp_path / "paced_bw.1.log").warnings
    # fio 3.0 to 3.18 wrote no priority; the first request ends at once all the same.
    (tmp_path / "paced_bw.2.log").write_text(rows.replace(", 0\n", "\n"))
    assert read(tmp_path / "paced_bw.2.log").curve.total_bytes == 60 * 65536


def test_means_with_a_block_size_and_a_priority_are_doubted_with_both_readings(tmp_path):
    (warning,) = read(log(tmp_path / "run_bw.1.log", [5e9] * 60, size=131072)).warnings
    assert "one request of 131072 bytes (column 4), 0.13 MB/s in all, but as means of 1000 ms (column 2)" in str(
        warning
    )
    assert "the rows are 5000 MB/s: if they are means, write 0 into column 4" in str(warning)


def test_times_since_1970_begin_at_the_first_row(tmp_path):
    path = log(tmp_path / "run_bw.1.log", made.speeds(), first_ms=1_700_000_001_000)
    curve = read(path).curve
    assert curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.005)
    assert curve.total_seconds == pytest.approx(100)


def test_an_excerpt_begins_where_its_first_row_does_and_says_so(tmp_path):
    data = read(log(tmp_path / "run_bw.1.log", [352e6] * 60, step_ms=500, first_ms=72_251))
    assert data.curve.total_bytes == pytest.approx(352e6 * 30, rel=0.005)
    assert "the first row is of 1 min 12 s after the start" in data.of_level("note")[0]


def test_a_row_after_a_pause_covers_its_own_interval(tmp_path, command):
    rows = [f"{ms}, {1818e6 / 1024:.0f}, 1, 0, 0" for ms in (*range(1000, 12_000, 1000), *range(72_000, 83_000, 1000))]
    (tmp_path / "run_bw.1.log").write_text("\n".join(rows) + "\n")
    data = read(tmp_path / "run_bw.1.log")
    assert data.curve.total_bytes == pytest.approx(40.0e9, rel=0.001)
    assert data.curve.total_seconds == pytest.approx(22)
    assert data.idle_s == pytest.approx(60)
    assert "left out as pauses" in command("analyze", "run_bw.1.log").stdout


STONEWALL = "\n".join(
    [
        "[global]",
        "rw=write",
        "log_avg_msec=500",
        "[first]",
        "write_bw_log=first",
        "[second]",
        "stonewall",
        "write_bw_log=second",
    ]
)


def test_jobs_behind_a_stonewall_are_one_after_the_other_as_the_job_file_says(tmp_path):
    paths = [log(tmp_path / f"{name}_bw.{i}.log", [42e6] * 7, step_ms=500) for i, name in ((1, "first"), (2, "second"))]
    (tmp_path / "run.fio").write_text(STONEWALL)
    for extra in ([tmp_path / "run.fio"], []):
        data = read(*paths, *extra, order=None if extra else "serial")
        assert data.curve.total_bytes == pytest.approx(2 * 7 * 21e6, rel=0.001)
        assert data.curve.bytes_per_s == pytest.approx(42e6, rel=0.001)
    with pytest.raises(PslcError, match="nothing tells whether the jobs of 2 logs ran at the same time"):
        read(*paths)
    assert read(*paths, order="together").curve.bytes_per_s == pytest.approx(84e6, rel=0.001)


def test_a_job_that_ended_before_the_last_one_began_is_not_cut(tmp_path):
    """Times since 1970 tell that the second began when the first was done: one row each, 1.6 intervals apart."""
    for number, ms in ((1, 133), (2, 1733)):
        (tmp_path / f"run_bw.{number}.log").write_text(f"{1_700_000_000_000 + ms}, 200000, 1, 0, 0\n")
    (tmp_path / "run.fio").write_text("[global]\nlog_avg_msec=1000\nrw=write\n[a]\n[b]\nstonewall\n")
    data = read(*sorted(tmp_path.iterdir()))
    assert data.curve.total_bytes == 2 * 200_000 * 1024


def test_that_jobs_of_one_name_ran_together_is_assumed_aloud(tmp_path):
    paths = [log(tmp_path / f"run_bw.{i}.log", [42e6 * i] * 12, step_ms=500) for i in (1, 2)]
    assert "ran at the same time, as is assumed" in read(*paths).of_level("warning")[0]
    (tmp_path / "run.fio").write_text("[a]\nnumjobs=2\nrw=write\nwrite_bw_log=run\n")
    assert read(*paths, tmp_path / "run.fio").of_level("warning") == []


def test_a_log_of_a_few_intervals_says_that_its_end_may_be_missing(tmp_path):
    (caution,) = read(log(tmp_path / "run_bw.1.log", [42e6] * 4, step_ms=500)).of_level("warning")
    assert caution.startswith("the log ends after 2.00 s, and up to 500 ms of the run may be missing")


def test_a_row_with_mean_and_maximum_is_read_by_its_mean(tmp_path):
    rows = [f"{1000 * i}, 1000000, 1100000, 1, 0, 0" for i in range(1, 41)]
    (tmp_path / "run_bw.1.log").write_text("\n".join(rows) + "\n")
    assert read(tmp_path / "run_bw.1.log").curve.total_bytes == 40 * 1_000_000 * 1024


def test_a_log_of_maxima_is_refused_where_the_job_file_tells(tmp_path):
    path = log(tmp_path / "run_bw.1.log", [42e6] * 7)
    (tmp_path / "run.fio").write_text("[a]\nlog_max_value=1\nlog_avg_msec=1000\n")
    with pytest.raises(PslcError, match="maxima of its intervals"):
        read(path, tmp_path / "run.fio")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_mark_at_the_beginning_is_no_part_of_the_first_line(encoding, tmp_path):
    path = log(tmp_path / "run_bw.1.log", made.speeds())
    path.write_bytes(path.read_text().encode(encoding))
    assert read(path).curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=0.005)


def test_rows_that_do_not_show_their_interval_are_refused(tmp_path):
    """A job of 1 MB/s in blocks of 1 MB: most intervals of 100 ms have no row."""
    (tmp_path / "slow_bw.1.log").write_text("".join(f"{ms}, 10240, 1, 0, 0\n" for ms in (148, 1104, 2103, 3101)))
    with pytest.raises(PslcError, match="rows of most intervals are missing"):
        read(tmp_path / "slow_bw.1.log")
    (tmp_path / "slow.fio").write_text("[a]\nlog_avg_msec=100\nrw=write\n")
    data = read(tmp_path / "slow_bw.1.log", tmp_path / "slow.fio")
    assert data.curve.total_bytes == pytest.approx(4 << 20, rel=0.15)


def test_a_log_that_differs_from_the_json_beside_it_raises_a_warning(tmp_path, command):
    path = log(tmp_path / "run_bw.1.log", made.speeds())
    done = {"io_bytes": int(made.TOTAL_BYTES), "total_ios": 460_000, "runtime": 100_100, "lat_ns": {"mean": 7e4}}
    document = {"fio version": "fio-3.36", "jobs": [{"jobname": "a", "job options": {"rw": "write"}, "write": done}]}
    (tmp_path / "run.json").write_text(json.dumps(document))
    assert read(path, tmp_path / "run.json").of_level("warning") == []
    done["io_bytes"] = int(20e9)
    (tmp_path / "run.json").write_text(json.dumps(document))
    shown = command("analyze", "run_bw.1.log", "run.json").stdout
    assert "the log holds 60.3 GB of writes, but fio's JSON 20.0 GB" in shown


def test_a_log_is_given_once(tmp_path, command):
    log(tmp_path / "run_bw.1.log", made.speeds())
    done = command("analyze", "run_bw.1.log", "./run_bw.1.log")
    assert done.returncode == 2
    assert "are one file" in done.stderr or "is given twice" in done.stderr
    shutil.copy(tmp_path / "run_bw.1.log", tmp_path / "run_bw.2.log")
    assert "hold the same rows" in command("analyze", "run_bw.1.log", "run_bw.2.log").stdout


def test_a_log_of_reads_alone_is_analysed_and_claims_no_cache(tmp_path, command):
    log(tmp_path / "cold_bw.1.log", made.speeds(), op=0)
    found = json.loads(command("analyze", "cold_bw.1.log", "--json").stdout)
    assert found["kind"] == "read"
    assert found["findings"]["cache_bytes"] is None
    assert [phase["cause"] for phase in found["findings"]["phases"]] == ["unknown", "unknown"]
    shown = command("analyze", "cold_bw.1.log").stdout
    assert "Reads: 17" in shown
    assert "cache" not in shown


def test_a_log_that_is_random_by_its_name_states_no_cache(tmp_path, command):
    log(tmp_path / "randwrite-4k_bw.1.log", made.speeds())
    found = json.loads(command("analyze", "randwrite-4k_bw.1.log", "--json").stdout)["findings"]
    assert found["cache_bytes"] is None
    assert found["warnings"][0]["code"] == "random-name"
    log(tmp_path / "strand-writer_bw.1.log", made.speeds())
    found = json.loads(command("analyze", "strand-writer_bw.1.log", "--json").stdout)["findings"]
    assert found["cache_bytes"] == pytest.approx(made.CACHE_BYTES, rel=0.02)


def test_how_rows_were_understood_is_a_line_of_the_output(tmp_path, command):
    log(tmp_path / "run_bw.1.log", made.speeds())
    shown = command("analyze", "run_bw.1.log").stdout
    assert "Read as: fio log of writes: column 2 is the mean in KiB/s of the 1000 ms before its time." in shown


@pytest.mark.parametrize("number", range(4))
def test_random_runs_of_fio_are_read_right_or_refused(number, tmp_path):
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    run = fio_logs.draw(number, seed=39)
    verdicts = fio_logs.held_against(run, *fio_logs.made(run, tmp_path / "run"))
    # Beside other tests fio's helper thread is late, and its own rows are off by a percent or two.
    assert [verdict for verdict in verdicts if verdict.outcome == "wrong" and verdict.error_share > 0.05] == []


@pytest.mark.parametrize(("every", "outcome"), [(3, "refused"), (8, "warned")])
def test_rows_that_are_missing_now_and_then_raise_a_warning_and_refused_where_they_are_many(tmp_path, every, outcome):
    path = log(tmp_path / "run_bw.1.log", [40e6] * 96, step_ms=50)
    rows = path.read_text().splitlines()
    path.write_text("\n".join(row for at, row in enumerate(rows) if at % every) + "\n")
    if outcome == "refused":
        with pytest.raises(PslcError, match=r"rows of the log are missing for \d+ % of the time"):
            read(path)
    else:
        assert any("rows are missing" in text for text in read(path).of_level("warning"))


def histograms(tmp_path, *more):
    """fio's histogram logs of two jobs, and its JSON."""
    words = ["fio", "--name=j", "--ioengine=null", "--rw=write", "--bs=64k", "--size=64m", "--numjobs=2", "--rate=,64m"]
    logs = ["--write_hist_log=h", "--log_hist_msec=20", "--group_reporting", "--output-format=json"]
    done = subprocess.run([*words, *logs, *more], capture_output=True, text=True, check=True, cwd=tmp_path)
    return sorted(tmp_path.glob("h_clat_hist.*.log")), json.loads(done.stdout)["jobs"][0]["write"]


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
@pytest.mark.parametrize("more", [[], ["--log_hist_coarseness=2"]])
def test_histograms_tell_the_bytes_and_percentiles_that_fio_tells(more, tmp_path):
    paths, report = histograms(tmp_path, *more)
    data = formats.read(paths, ImportOptions())
    (job,) = data.jobs
    counts = sum(sum(map(int, line.split(",")[3:])) for path in paths for line in path.read_text().splitlines())
    assert data.curve.total_bytes == job["write"]["io_bytes"] == counts * 65536
    # fio does not log the last interval, which is long on a busy machine.
    assert 0.7 * report["io_bytes"] < counts * 65536 <= report["io_bytes"]
    assert data.curve.total_seconds == pytest.approx(report["runtime"] / 1e3, rel=0.3)
    # The last interval has requests of its own, a third of all at most.
    coarse = 0.3
    for share in ("50.000000", "99.000000"):
        percentile = job["write"]["lat_ns"]["percentile"][share]
        assert percentile == pytest.approx(report["clat_ns"]["percentile"][share], rel=coarse)
    assert job["write"]["lat_ns"]["mean"] == pytest.approx(report["clat_ns"]["mean"], rel=coarse)


def test_bins_that_are_not_those_of_fio_3_are_refused(tmp_path):
    (tmp_path / "h.log").write_text("535, 1, 65536" + ", 1" * 1216 + "\n")
    with pytest.raises(PslcError, match="has 1216 bins, and fio 3 writes 1856"):
        formats.read([tmp_path / "h.log"], ImportOptions())


@pytest.mark.parametrize(("size", "is_fio_s"), [(100_000_000, False), (4096, True)])
def test_a_request_that_took_longer_than_its_job_ran_is_refused(tmp_path, size, is_fio_s):
    path = tmp_path / "x_bw.1.log"
    path.write_text("".join(f"{ms}, 100000, 1, {size}, 0\n" for ms in range(1, 200)))
    if is_fio_s:
        assert read(path).curve is not None
        return
    with pytest.raises(PslcError, match="columns 2 and 4 contradict each other: 100000000 bytes at 100000 KiB/s"):
        read(path)


def test_a_long_log_of_single_requests_is_held_by_the_ms_with_the_same_curve(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    path = tmp_path / "run_bw.1.log"
    ms, rates = np.sort(rng.integers(1, 2000, 40_000)), rng.integers(20_000, 90_000, 40_000)
    path.write_text("".join(f"{at}, {rate}, 1, 4096, 0, 0\n" for at, rate in zip(ms, rates, strict=True)))
    monkeypatch.setattr(fio_log, "ROWS_AT_ONCE", 10_000)
    exact = read(path).curve
    monkeypatch.setattr(fio_log, "MAX_EXACT_ROWS", 10_000)
    (block,), _ = fio_log._blocks(path, False)
    assert sum(piece.shape[1] for piece in block.pieces[1:]) <= 2000 + len(block.pieces)
    held = read(path).curve
    assert np.array_equal(held.edges_bytes, exact.edges_bytes)
    assert np.allclose(held.seconds, exact.seconds, rtol=1e-3)


@pytest.mark.parametrize(
    ("counted", "is_late"),
    [((8_192_000, 10.0), False), ((10_240_000, 10.0), True), ((2_250_000, 2.0), False), ((2_560_000, 2.0), True)],
    ids=["a quarter of a run", "a quarter, of more", "past its end", "past its end, of more"],
)
def test_a_row_behind_a_gap_covers_it_where_the_bytes_that_fio_counted_until_then_say_so(counted, is_late):
    """Rows of 2.5 s without the one of 1.5 s: 2.05 MB without that, 2.56 MB with it."""
    ms = np.array([500, 1000, 2000, 2500])
    rows = fio_rows.Rows(ms, np.full(4, 1000), np.zeros(4, dtype=np.int64), 4)
    covered = fio_log._covered(rows, 500.0, True, ms, counted)
    assert covered.total_bytes == pytest.approx(2_560_000 if is_late else 2_048_000)
