"""Inputs and ends that were no error in words: each through the command that a user types."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import pslc
from pslc.base import writer

PSLC = Path(sys.executable).parent / "pslc"
DRIVE = "sim:pm871b-128gb,scale=1/64"
SECRET = "root:$6$abcdefgh$ijklmnop:20228:0:99999:7:::"


def no_bug(done: subprocess.CompletedProcess[str], code: int) -> None:
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "a bug in pslc" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_recording_is_saved_whatever_the_umask(tmp_path):
    words = f"umask 777; exec '{PSLC}' run burst --quick --on {DRIVE} --save deep/r"
    done = subprocess.run(["sh", "-c", words], cwd=tmp_path, capture_output=True, text=True, check=False)
    no_bug(done, 0)
    folder = tmp_path / "deep" / "r"
    assert pslc.load(folder).written_bytes > 0
    assert [(tmp_path / "deep").stat().st_mode & 0o777, folder.stat().st_mode & 0o777] == [0o700, 0o700]
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


@pytest.fixture
def recording(tmp_path, command):
    command.fine("run", "burst", "--quick", "--on", DRIVE, "--save", "r", "--no-report")
    return tmp_path / "r"


@pytest.mark.parametrize("name", ["repeat-x", "repeat-", "repeat-1e3", "repeat-²", "repeat--2", "repeat-9999999999"])
def test_a_folder_that_is_no_repeat_is_none(name, recording, command):
    (recording / name).mkdir()
    shutil.copy(recording / "run.json", recording / name)
    for words in (["compare", "r", "r"], ["report", "r", "-o", "page.html"], ["picture", "r", "-o", "q.svg"]):
        no_bug(command(*words), 0)


def test_a_table_that_nests_without_end_is_damaged(tmp_path, command):
    study = ["study", "--vary", "scale=1/64", "--on", "sim:pm871b-128gb", "--run", "fill", "--quick", "--save", "s"]
    no_bug(command(*study), 0)
    for nested in (b"\x29" + b"\x19" * 10_000, b"\x2c" * 10_000, (b"\x19\x1c") * 5_000):
        (tmp_path / "s" / "points.parquet").write_bytes(b"PAR1" + nested + len(nested).to_bytes(4, "little") + b"PAR1")
        done = command(*study)
        no_bug(done, 2)
        assert "points.parquet" in done.stderr
        assert "levels" in done.stderr


@pytest.mark.parametrize(
    "job",
    [
        "include secret\n[a]\nrw=write\nsize=1m\n",
        "[a]\ninclude secret\nrw=write\nsize=1m\n",
        "[a]\nread_iolog=secret\n",
        "[a]\nrw=write\nsize=1m\nfilename=secret\nread_iolog=secret\n",
    ],
)
@pytest.mark.parametrize("secret", [SECRET, f"[{SECRET}", "AbCdEf0123456789"])
def test_a_job_file_shows_nothing_of_a_file_that_it_names(job, secret, tmp_path, command):
    (tmp_path / "secret").write_text(f"{secret}\nmore:*:1\n")
    (tmp_path / "job.fio").write_text(job)
    done = command("run", "job.fio", "--on", DRIVE)
    no_bug(done, 2)
    assert "secret" in done.stderr, "the file is named"
    assert secret[:12] not in done.stdout + done.stderr
    # What the command line names may be read by whoever types it.
    command.refused("run", "secret", "--on", DRIVE)


@pytest.mark.parametrize("how", ["signal", "worker"])
def test_a_fit_that_is_killed_says_so(how, tmp_path, command):
    if how == "worker" and len(os.sched_getaffinity(0)) < 2:
        pytest.skip("a fit on one core has no workers")
    fill = ["run", "fill", "--on", "sim:sn850-1tb", "--save", "f", "--no-report"]
    command.fine(*fill)
    words = [PSLC, "fit", "f", "-o", "t.toml"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as fit:
        assert fit.stderr is not None
        assert "firmware models" in fit.stderr.readline()
        time.sleep(1)
        if how == "signal":
            fit.send_signal(signal.SIGTERM)
        while how == "worker" and fit.poll() is None:
            # A first time is forgiven: the task runs again, alone.
            for task in Path(f"/proc/{fit.pid}/task").iterdir():
                # A thread, or a child, may have ended since.
                with suppress(OSError):
                    for child in (task / "children").read_text().split():
                        os.kill(int(child), signal.SIGKILL)
            time.sleep(0.5)
        err = fit.communicate(timeout=60)[1]
    assert fit.returncode == (130 if how == "signal" else 2), err
    assert ("interrupted (SIGTERM): the fit has not ended" if how == "signal" else "of the fit was killed") in err
    assert not (tmp_path / "t.toml").exists()


REPORT = (
    "Device  r/s  rkB/s  r_await  w/s  wkB/s  w_await  aqu-sz  %util\nsda  1.0  4.0  0.1  10.0  {}  0.1  0.1  50.0\n\n"
)


@pytest.mark.parametrize("year", [1, 1969, 2554, 9999])
def test_a_log_of_any_year_is_read(year, tmp_path, command):
    reports = "".join(
        f"12/31/{year:04} 11:59:{s} PM\n{REPORT.format(50_000 if s < 40 else 5000)}" for s in range(10, 60)
    )
    reports += "".join(f"01/01/{year:04} 12:00:{s} AM\n{REPORT.format(5000)}" for s in range(10, 20))
    (tmp_path / "io.txt").write_text(f"Linux 6.1.0 (host) \t12/31/{year:04} \t_x86_64_\t(2 CPU)\n\n{reports}")
    for words in (["analyze", "io.txt"], ["report", "io.txt", "-o", "page.html"]):
        no_bug(command(*words), 0)


def test_a_file_that_finds_no_room_is_named(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        with writer.Growing(tmp_path / "trace.txt") as file:
            file.write(b"x" * 4096)
            with pytest.raises(OSError, match=r"trace\.txt"):
                file.write(b"x" * 4096)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["examples", "disk-0/examples"], "disk-0/examples/"),
        (["study", "--vary", "scale=1/64,1/32", "--on", "sim:pm871b-128gb", "--run", "burst", "--quick", "--save",
          "disk-0/s"], "disk-0/s"),
    ],
    ids=["examples", "study"],
)  # fmt: skip
def test_a_file_of_a_command_that_finds_no_room_is_named(words, file, small_disk, command):
    small_disk("16k")
    done = command.refused(*words)
    (error,) = (line for line in done.stderr.splitlines() if line.startswith("error: "))
    assert file in error
    assert "No space left on device" in error


def test_a_document_that_is_copied_keeps_its_year(recording):
    document = json.loads((recording / "run.json").read_text())
    for began in (0, 2**64 - 1):
        (recording / "run.json").write_text(json.dumps(document | {"began_unix_ns": began}))
        assert pslc.load(recording).conditions
