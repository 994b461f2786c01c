"""A recording holds what is needed to look at it later and to make it again."""

import hashlib
import json
import pickle
import re

import numpy as np
import pytest

import pslc
from pslc.base import errors, json_text
from pslc.recording import store
from pslc.recording.model import SCHEMA, join
from tests.conftest import fill

TARGET = "sim:pm871b-128gb"
FILL = "[fill]\nrw=write\nbs=1m\nioengine=io_uring\niodepth=8\nsize=6g\n"
AFTER = "[after]\nstonewall\nsize=6g\nbs=4k\nioengine=io_uring\niodepth=16\nnumber_ios=200000\n"
# What each kind of run writes down, to the bit: the job after a fill, and the start of the digest of its series. They
# change only when the model, the requests or the recorder do; say so in the changelog then.
GOLDEN = {
    "mixed": ("rw=randrw\nfsync=1000\n", "23c52443ac3bb623"),
    "random": ("rw=randwrite\n", "7517013699acbdd5"),
    "zipf": ("rw=randrw\nrandom_distribution=zipf:1.2\n", "a854701435581f49"),
    "pareto": ("rw=randwrite\nrandom_distribution=pareto:0.2\n", "3d52ea29026dc2fc"),
    "trimmed": ("rw=randtrimwrite\nnorandommap\n", "ea19c0a36c688927"),
    "sizes": ("rw=randrw\nbssplit=4k/50:64k/30:512/20\n", "aaa18f15254b1108"),
}


def test_what_is_saved_is_what_is_loaded(tmp_path):
    recording = fill(TARGET)
    store.save(recording, tmp_path / "run")
    again = store.load(tmp_path / "run")
    assert again.document() == recording.document()
    for axis in ("time", "bytes"):
        one, other = getattr(recording, axis), getattr(again, axis)
        assert list(one) == list(other)
        assert not [name for name in one if not np.array_equal(one[name], other[name])]


def test_its_series_are_opened_by_pandas_and_polars_as_they_are(tmp_path):
    import pandas
    import polars

    recording = fill(TARGET)
    store.save(recording, tmp_path / "run")
    path = tmp_path / "run" / "series.parquet"
    for table in (pandas.read_parquet(path), polars.read_parquet(path)):
        assert list(table.columns) == ["axis", *recording.time]
        axes = table["axis"].to_numpy()
        for axis in ("time", "bytes"):
            for name, column in getattr(recording, axis).items():
                found = table[name].to_numpy()[axes == axis]
                assert found.dtype == np.uint64, name
                assert np.array_equal(found, column), name


def test_a_silence_is_recorded_as_it_ends_and_not_with_the_requests_that_end_it(tmp_path):
    job = tmp_path / "twice.fio"
    write = "rw=write\nbs=1m\nioengine=io_uring\niodepth=32\nsize=1g\n"
    job.write_text(f"[one]\n{write}[two]\nstonewall\npause=20s\n{write}")
    run = pslc.run(job, on=TARGET)
    silent = run.time["end_ns"] <= run.jobs[1]["start_ns"]
    assert run.time["host_write_bytes_total"][silent].max() == 1 << 30
    # Less is left in the buffer than is programmed at once.
    assert run.time["buffer_bytes"][silent][-1] < 1 << 20


def test_warnings_have_codes_that_last(tmp_path):
    recording = pslc.run("fill", on=TARGET, options=[("io_size", "1g")])
    store.save(recording, tmp_path / "run")
    (warning,) = store.load(tmp_path / "run").findings.warnings
    assert (warning.code, warning.level, str(warning)[:10]) == ("part", "warning", "only 1.07 ")


def test_a_recording_of_another_schema_is_refused(tmp_path):
    recording = pslc.run("fill", on=TARGET, options=[("io_size", "1g")])
    store.save(recording, tmp_path / "run")
    path = tmp_path / "run" / "run.json"
    document = json.loads(path.read_text())
    assert document["schema"] == SCHEMA
    path.write_text(json.dumps(document | {"schema": SCHEMA + 1, "version": "9.9"}))
    with pytest.raises(
        errors.RecordingError, match=f"schema {SCHEMA + 1}, newer than this pslc, which reads {SCHEMA}"
    ) as found:
        store.load(tmp_path / "run")
    assert "pslc 9.9" in found.value.hint


def test_a_run_made_again_from_its_own_folder_is_the_same(tmp_path):
    recording = fill(TARGET)
    (tmp_path / "profile.toml").write_text(recording.profile)
    (tmp_path / "job.fio").write_text(recording.job_file)
    again = pslc.run(tmp_path / "job.fio", on=f"sim:{tmp_path}/profile.toml", seed=recording.seed)
    assert again.totals == recording.totals
    assert not [
        (name, column) for name, column in recording.bytes.items() if not np.array_equal(again.bytes[name], column)
    ]
    assert not [
        (name, column) for name, column in recording.time.items() if not np.array_equal(again.time[name], column)
    ]


def test_the_seed_decides_random_runs(tmp_path):
    job = tmp_path / "random.fio"
    job.write_text("[a]\nrw=randrw\nbs=4k\nsize=1g\nioengine=io_uring\niodepth=8\nnumber_ios=50000\n")
    one, same, other = (pslc.run(job, on=TARGET, seed=seed) for seed in (1, 1, 2))
    assert one.totals == same.totals
    assert one.totals != other.totals


def test_the_series_is_an_arrow_table_of_both_axes():
    table = fill(TARGET).series
    axes = set(table["axis"].to_pylist())
    assert axes == {"time", "bytes"}
    assert {"end_ns", "write_bytes", "slc_valid_bytes", "free_superblocks"} <= set(table.column_names)


def test_bins_of_bytes_and_of_time_tell_the_same():
    recording = fill(TARGET)
    assert recording.time["write_bytes"].sum() == recording.bytes["write_bytes"].sum() == recording.written_bytes
    assert recording.written_bytes == recording.totals["host_write_bytes_total"]
    last = recording.bytes["end_ns"][-1]
    assert last == pytest.approx(recording.drive_time_s * 1e9)


def test_a_study_and_an_exported_series_are_called_what_they_are(command, tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "points.parquet").write_bytes(b"")
    assert "s is a study, not a recording" in command("report", str(tmp_path / "s")).stderr
    command.fine("run", "fill", "--on", "sim:pm871b-128gb,scale=1/16", "--save", "f", "--no-report")
    command.fine("export", "f", "--as", "csv", "-o", "f.csv")
    assert "f.csv is the series of a recording, as pslc export writes it" in command("analyze", "f.csv").stderr


def test_a_damaged_recording_is_refused(tmp_path):
    with pytest.raises(pslc.PslcError, match="holds no recording"):
        store.load(tmp_path)


def test_writes_on_a_schedule_have_no_phases(tmp_path):
    job = tmp_path / "paced.fio"
    job.write_text("[a]\nrw=write\nbs=1m\nioengine=io_uring\niodepth=4\nsize=4g\nthinktime=1s\nthinktime_blocks=512\n")
    findings = pslc.run(job, on=TARGET).findings
    assert findings["phases"] == []
    assert findings["cache_bytes"] is None
    assert findings["fill_mean_bytes_per_s"] > 0


def test_progress_is_told_and_can_end_a_run(tmp_path):
    job = tmp_path / "long.fio"
    job.write_text("[a]\nrw=randwrite\nbs=4k\nioengine=io_uring\niodepth=32\ntime_based\nruntime=100h\n")
    told = []

    def progress(state):
        told.append(state)
        return len(told) < 3

    recording = pslc.run(job, on=TARGET, progress=progress)
    assert recording.interrupted
    assert len(told) == 3
    assert told[-1]["done_bytes"] > told[0]["done_bytes"] > 0
    assert told[0]["total_time_ns"] == 100 * 3600 * 10**9


def test_an_error_in_progress_is_raised(tmp_path):
    job = tmp_path / "long.fio"
    job.write_text("[a]\nrw=randwrite\nbs=4k\nioengine=io_uring\niodepth=32\ntime_based\nruntime=100h\n")

    def progress(state):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        pslc.run(job, on=TARGET, progress=progress)


@pytest.mark.parametrize("kind", GOLDEN)
def test_the_digest_of_profile_job_and_seed_is_golden(tmp_path, kind):
    options, golden = GOLDEN[kind]
    job = tmp_path / "job.fio"
    job.write_text(FILL + AFTER + options)
    recording = pslc.run(job, on=TARGET, seed=11)
    digest = hashlib.sha256()
    for axis in (recording.time, recording.bytes):
        for name, column in axis.items():
            digest.update(name.encode() + column.astype("<u8").tobytes())
    assert digest.hexdigest()[:16] == golden


def test_jobs_that_never_began_keep_their_places_behind_other_steps(tmp_path):
    job = tmp_path / "a.fio"
    job.write_text("[global]\nrw=write\nsize=64k\n[a]\nexitall\nexit_what=all\n[b]\nstonewall\n[c]\n")
    one = pslc.run(str(job), on=TARGET)
    both = join([one, one])
    assert [job["name"] for job in both.jobs] == ["a", "a"]
    assert [(at, job["name"]) for at, job in both.unbegun] == [(1, "b"), (2, "c"), (4, "b"), (5, "c")]
    assert not [part for part in both.parts if part.unbegun != []]


def test_a_copy_is_equal_and_a_recording_is_a_line():
    recording = fill(TARGET)
    copy = pickle.loads(pickle.dumps(recording))
    assert copy == recording
    copy.time["write_bytes"][0] += 1
    assert copy != recording
    assert re.fullmatch(r"<pslc.Recording of fill on .+: [\d.]+ GB written, 0 B read>", repr(recording))


@pytest.mark.parametrize(
    "value", [{}, [], 1.5, {"a": []}, {"a": {}, "b": [{"c": [{"d": [1, {"e": None}]}]}, "\u00fc\n"]}]
)
def test_a_document_is_the_same_in_lines_of_three_levels(value):
    assert json.loads(json_text.text(value)) == value


def test_a_document_has_a_line_for_each_row():
    rows = {"jobs": [{"name": "a", "bins": [[1, 2], [3, 4]]}, {}]}
    lines = ["{", ' "jobs": [', "  {", '   "name": "a",', '   "bins": [[1, 2], [3, 4]]', "  },", "  {}", " ]", "}"]
    assert json_text.text(rows).splitlines() == lines
