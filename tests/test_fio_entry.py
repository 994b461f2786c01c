"""`pslc-fio`, jobs that options alone tell, and the plan's command, held against fio where it is there."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pslc.fio import __main__ as fio
from tests.test_fio import FIO, needs_fio, requests


@pytest.fixture
def entry(tmp_path):
    """Run the entry in an empty folder."""

    def run(*words):
        command = [Path(sys.executable).with_name("pslc-fio"), *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    return run


def test_a_null_job_logs_its_requests_on_a_simulated_drive(entry, tmp_path):
    done = entry("--name=n", "--ioengine=null", "--filesize=64k", "--rw=write", "--bs=16k", "--write_bw_log=b",
                 "--log_offset=1", "--output=out.txt")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "issued rwts: total=0,4,0,0" in (tmp_path / "out.txt").read_text()
    lines = (tmp_path / "b_bw.1.log").read_text().splitlines()
    assert [int(line.split(", ")[4]) for line in lines] == [0, 16384, 32768, 49152]


@needs_fio
def test_zones_of_a_null_job_go_on_to_the_end_of_its_file(entry, tmp_path):
    words = ["--name=n", "--ioengine=null", "--zonemode=strided", "--filesize=64k", "--size=64k", "--io_size=64k",
             "--zonerange=8k", "--zonesize=4k", "--rw=read", "--write_iops_log=i", "--log_offset=1"]  # fmt: skip
    places = []
    for run in (lambda: entry(*words), lambda: subprocess.run([FIO, *words], cwd=tmp_path, capture_output=True)):
        assert run().returncode == 0
        places.append([line.split(", ")[4] for line in (tmp_path / "i_iops.1.log").read_text().splitlines()])
    assert places[0] == places[1]


def test_a_new_file_is_laid_out_and_kept_and_may_be_used_again(entry, tmp_path):
    for rw in ("read", "randrw"):
        done = entry("--name=r", "--filename=new.bin", f"--rw={rw}", "--bs=4k", "--size=1m")
        assert done.returncode == 0, done.stderr
    data = (tmp_path / "new.bin").read_bytes()
    assert len(data) == 1 << 20
    assert 0 < data.count(0) < len(data) // 10


def test_a_file_that_pslc_did_not_write_stays_as_it_is(entry, tmp_path):
    (tmp_path / "mine.bin").write_bytes(b"mine" * 262_144)
    for rw, size in (("write", "1m"), ("write", "2m")):
        done = entry("--name=w", "--filename=mine.bin", f"--rw={rw}", "--size=" + size)
        assert done.returncode == 1
        assert done.stderr.startswith("error: ")
        assert (tmp_path / "mine.bin").read_bytes() == b"mine" * 262_144


def test_a_job_that_is_refused_leaves_no_new_file(entry, tmp_path):
    assert entry("--name=w", "--filename=x.bin", "--rw=write", "--size=1m", "--max_latency=1ms").returncode == 1
    assert not (tmp_path / "x.bin").exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--name=a", "--filename=a.bin", "--name=b", "--filename=b.bin", "--size=1m"], "several files"),
        (["--name=a", "--filename=a.bin:b.bin", "--size=1m"], "several files"),
        (["--name=a", "--size=1m", "--nrfiles=4"], "several files"),
        (["--server"], "--server is not done here"),
        (["--inflate-log=x.fz"], "never compressed"),
        (["--name=a", "--size=1m", "--output-format=xml"], '"xml"'),
        (["--name=a", "--size=1m", "--numjobs=3", "--max-jobs=2"], "there are 3 jobs"),
        (["--rw=read"], "no job is given"),
        (["--name=a", "--rw=read"], "is not there"),
        (["--name=a", "--size=1m", "-x"], "-x is no option"),
    ],
)
def test_what_is_not_done_is_refused_in_words(words, reason, entry, tmp_path):
    done = entry(*words)
    assert done.returncode == 1
    assert reason in done.stderr
    assert "\n\nhint: " in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("rw", ["randread", "write", "randtrim"])
def test_readonly_refuses_what_writes_before_and_behind_the_job(rw, entry, command):
    job = ["--name=r", "--ioengine=null", "--size=1m", f"--rw={rw}"]
    for words in (["--readonly", *job], [*job, "--readonly"]):
        assert entry(*words).returncode == (0 if rw == "randread" else 1)
    done = command("run", "--name=r", "--io_size=1m", f"--rw={rw}", "--on", "sim:pm871b-128gb", "--readonly", "--json")
    assert (done.returncode == 0) == (rw == "randread")
    if rw != "randread":
        assert "job r writes or trims" in done.stderr
    words = ("--name=r", "--rw=read", "--on", "/dev/null", "--readonly", "--wipe-signatures")
    assert "--wipe-signatures writes" in command.refused("run", *words).stderr


def test_options_before_the_first_name_are_for_all_jobs_and_for_job_files(entry, tmp_path):
    (tmp_path / "j.fio").write_text("[global]\nioengine=null\n[a]\nrw=write\n[b]\nrw=read\nbs=8k\n")
    jobs = ["--name=a", "--rw=write", "--name=b", "--bs=8k"]
    for words in (["j.fio"], ["--ioengine=null", *jobs]):
        said = entry("--bs=16k", "--size=64k", *words).stdout
        assert re.findall(r"issued rwts: total=(\S+)", said) == ["0,4,0,0", "8,0,0,0"]


def test_a_mistake_in_a_job_file_is_told_with_its_own_line(entry, tmp_path):
    (tmp_path / "j.fio").write_text("[a]\nrw=write\nsize=1m\nbs=4q\n")
    assert "j.fio:4" in entry("--iodepth=4", "j.fio").stderr


def test_the_bandwidth_log_has_the_rate_of_all_jobs(entry, tmp_path):
    done = entry("--name=r", "--ioengine=null", "--size=1g", "--rw=read", "--bs=64k", "--rate=100m", "--numjobs=2",
                 "--runtime=2", "--time_based", "--bandwidth-log")  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [[int(n) for n in line.split(", ")] for line in (tmp_path / "agg-read_bw.log").read_text().splitlines()]
    assert [row[0] for row in rows] == [500, 1000, 1500, 2000]
    assert not [row for row in rows if row[1] != pytest.approx(200 << 10, rel=0.05)]
    writes = (tmp_path / "agg-write_bw.log").read_text().splitlines()
    assert {line.split(", ")[1] for line in writes} == {"0"}


def test_another_seed_is_drawn_each_time_only_with_randrepeat_0(entry):
    def seeds(*words):
        said = entry("--debug=random", "--name=r", "--ioengine=null", "--filesize=32k", "--rw=randread", *words).stdout
        return re.findall(r"rand_seeds\[0\]=(\d+)", said)

    assert seeds() == seeds("--randrepeat=1")
    assert seeds("--randrepeat=0") != seeds("--randrepeat=0")
    assert seeds("--randrepeat=0", "--randseed=7") == ["7"]


def test_words_of_the_command_line_are_sorted():
    command = fio.parsed(["--output", "o.txt", "--eta=never", "--section=a", "j.fio", "--bs=4k", "--readonly"])
    assert (command.files, command.sections, command.options) == (["j.fio"], ["a"], [("bs", "4k")])
    assert command.settings == {"output": "o.txt", "eta": "never", "readonly": ""}


@needs_fio
def test_options_alone_tell_the_jobs_that_fio_makes_of_them(command, tmp_path):
    words = ["--bs=8k", "--size=1m", "--name=x", "--rw=read", "--write_iolog=x.log"]
    command.fine("run", *words, "--on", "sim:sn850-1tb", "--json")
    ours = requests(tmp_path / "x.log")
    # fio would append to it.
    (tmp_path / "x.log").unlink()
    subprocess.run([FIO, "--ioengine=null", *words], cwd=tmp_path, capture_output=True, check=True)
    theirs = requests(tmp_path / "x.log")
    assert len(ours) == 128
    assert ours == theirs


def test_size_of_several_jobs_on_one_command_line_is_not_guessed(command):
    done = command.refused("run", "--name=a", "--size=1m", "--name=b", "--size=2m", "--on", "sim:pm871b-128gb")
    assert "several --name" in done.stderr


@needs_fio
@pytest.mark.parametrize("text", ["rw=read:512k\nbs=1m\nsize=8m\n", "rw=write\nbs=256k\nio_size=20m\n",
                                  "rw=write:4k\nbs=4k\nsize=64k\noffset=1m\n"])  # fmt: skip
@pytest.mark.parametrize("exists", [True, False])
def test_the_command_of_the_plan_makes_the_very_same_requests(exists, text, command, tmp_path):
    (tmp_path / "j.fio").write_text(f"[x]\n{text}write_iolog=io.log\n")
    if exists:
        (tmp_path / "x.bin").write_bytes(os.urandom(16 << 20))
    real = ["--overwrite-file", "x.bin", "--yes"] if exists else ["--size=16MiB"]
    plan = command("run", "j.fio", "--on", "./x.bin", *real, "--dry-run").stdout
    line = next(line for line in plan.splitlines() if "as fio: " in line).partition("as fio: ")[2]
    command.fine("run", "j.fio", "--on", "./x.bin", *real, "--json")
    ours = requests(tmp_path / "io.log")
    (tmp_path / "io.log").unlink()
    subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, check=True)
    assert requests(tmp_path / "io.log") == ours


def test_a_read_job_lays_out_a_new_scratch_file_and_the_plan_says_so(command, tmp_path):
    (tmp_path / "j.fio").write_text("[x]\nrw=randread\nbs=4k\nsize=1m\n[y]\nstonewall\nrw=write\noffset=1m\nsize=1m\n")
    on = ["run", "j.fio", "--on", "./x.bin", "--size=4MB"]
    assert "first writes 1.05 MB" in command(*on, "--dry-run").stdout
    done = command.fine(*on, "--json", "--yes")
    assert '"total_ios": 256' in done.stdout
    refused = command(*on, "--json", "--yes", "--no-layout").stderr
    assert "nothing was ever written" in refused
    assert "remove --no-layout" in refused


def test_a_job_runs_on_a_file_that_is_too_small_for_a_suite(command, tmp_path):
    (tmp_path / "x.bin").write_bytes(bytes(64 << 10))
    (tmp_path / "j.fio").write_text("[x]\nrw=write\nbs=4k\nsize=64k\n")
    command.fine("run", "j.fio", "--on", "./x.bin", "--overwrite-file", "x.bin", "--json")


def test_size_of_a_simulated_drive_is_that_of_the_jobs(command, tmp_path):
    (tmp_path / "j.fio").write_text("[x]\nrw=write\nbs=128k\nsize=1m\n")
    done = command("run", "j.fio", "--on", "sim:pm871b-128gb", "--size=2m", "--json")
    assert '"io_bytes": 2097152' in done.stdout


@pytest.mark.parametrize(("size", "size_bytes"), [("2.048MB", 2_048_000), ("2MiB", 2 << 20), ("2m", 2 << 20)])
def test_a_size_with_a_unit_has_one_meaning_and_one_in_fio_s_words_is_fio_s(command, size, size_bytes):
    jobs = ["run", "--name=x", "--rw=write", "--bs=4k", "--on", "sim:pm871b-128gb", "--json"]
    done = command.fine(*jobs, "--size", size)
    assert f'"io_bytes": {size_bytes}' in done.stdout


def test_parse_only_checks_the_jobs_and_runs_nothing(command, tmp_path):
    (tmp_path / "j.fio").write_text("[x]\nrw=write\nsize=2m\n")
    command.fine("run", "j.fio", "--parse-only")
    (tmp_path / "j.fio").write_text("[x]\nrw=wriet\nsize=2m\n")
    done = command.refused("run", "j.fio", "--parse-only")
    assert "j.fio:2" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["j.fio"]


def test_an_option_of_the_command_line_in_a_job_file_is_called_one(command, tmp_path):
    (tmp_path / "j.fio").write_text("[x]\nrw=write\nsize=1m\noutput-format=json\n")
    done = command("run", "j.fio", "--on", "sim:pm871b-128gb")
    assert "output-format is an option of the command line" in done.stderr
    assert "did you mean" not in done.stderr


def test_submission_to_a_simulated_drive_takes_no_time_in_every_output(command, tmp_path):
    text = "[x]\nrw=write\nsize=1m\nioengine=libaio\niodepth=4\nslat_percentiles=1\nwrite_lat_log=l\n"
    (tmp_path / "j.fio").write_text(text)
    said = command("run", "j.fio", "--on", "sim:pm871b-128gb", "--output-format=json+").stdout
    slat = json.loads(said)["jobs"][0]["write"]["slat_ns"]
    rows = (tmp_path / "l_slat.1.log").read_text().splitlines()
    assert slat["N"] == len(rows) == 256
    assert {row.split(", ")[1] for row in rows} == {"0"}
    assert slat["bins"] == {"0": 256}
    assert set(slat["percentile"].values()) == {0.0}
