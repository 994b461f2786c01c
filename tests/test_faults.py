"""What happens to a command from outside: signals, streams, names, limits. It ends with a sentence, never a traceback,
and what was measured is kept."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import pytest

import pslc
from pslc.cli._recording_folder import Keeper
from pslc.recording import store
from pslc.runner.load import opened
from tests import forked
from tests.conftest import ROOT
from tests.forked import eventually

PSLC = str(Path(sys.executable).parent / "pslc")
SIM = "sim:pm871b-128gb"
LONG = "[long]\nrw=randwrite\nbs=64k\nioengine=io_uring\niodepth=4\ndirect=1\ntime_based\nruntime=10m\nnorandommap\n"
REAL = ["--on", "./scratch.bin", "--size", "64MB", "--yes"]


def start(folder: Path, *arguments: str, job: str = LONG) -> subprocess.Popen[str]:
    (folder / "long.fio").write_text(job)
    return forked.Popen(arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def no_traceback(talk: str) -> None:
    assert "Traceback" not in talk, talk
    assert "panicked" not in talk, talk


@pytest.mark.parametrize("job", ["", "iodepth=1\nioengine=psync\n", "rate=4m\n", "thinktime=10ms\n"])
def test_a_process_that_was_stopped_leaves_the_gap_out_and_says_so(job, tmp_path):
    process = start(
        tmp_path, "run", "long.fio", *REAL, "--save", "gap", "--no-report", job=LONG.replace("10m", "4") + job
    )
    eventually((tmp_path / "gap" / "run.json").exists, process=process)
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(3)
    os.kill(process.pid, signal.SIGCONT)
    process.communicate(timeout=60)
    recording = opened(tmp_path / "gap")
    gaps = recording.facts["gaps"]
    # A busy machine may keep a process from running, too.
    longest = max(gaps, key=lambda gap: gap["duration_s"])
    assert longest["duration_s"] > 2.5
    assert recording.wall_s > recording.drive_time_s + longest["duration_s"]
    assert recording.facts["stalls"] == [], "the drive answered"
    assert max(job["write"]["lat_ns"]["max"] for job in recording.jobs) < longest["duration_s"] * 1e9
    (sentence,) = [str(of) for of in recording.findings["warnings"] if of.code == "not-run"]
    assert sentence.startswith("pslc itself did not run for ")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM])
def test_every_signal_that_ends_a_program_keeps_the_recording_and_removes_the_file(how, tmp_path):
    process = start(tmp_path, "run", "long.fio", *REAL, "--save", "out", "--no-report")
    eventually((tmp_path / "out" / "run.json").exists, process=process)
    process.send_signal(how)
    _, talk = process.communicate(timeout=60)
    assert process.returncode == 130, talk
    no_traceback(talk)
    recording = opened(tmp_path / "out")
    assert "this recording is partial" in recording.findings["warnings"][0]
    assert recording.interrupted
    assert recording.written_bytes > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long.fio", "out"]


LASTING = {
    "run": ["run", "long.fio", *REAL],
    "run all": ["run", "all", "--on", "sim:sn850-1tb"],
    "replay": ["replay", "trace.log", *REAL],
    "watch": ["watch", *(f"/dev/{of.name}" for of in list(Path("/sys/block").glob("*"))[:1])],
    "serve": ["serve", SIM, "--unix", "drive.sock"],
    "lab": ["lab", "--port", "0"],
    "study": ["study", "--on", "sim:sn850-1tb", "--run", "fill", "--vary", "cache.dynamic=300MB:80GB:5MB"],
    "fit": ["fit", "f", "-o", "twin.toml"],
}
"""Commands that last, by name, each at work for longer than a test waits."""
TRACE = "fio version 2 iolog\nx add\nx open\nx write 0 4096\nx wait 600000000 0\nx write 4096 4096\nx close\n"


@pytest.mark.parametrize("command_name", LASTING)
def test_a_command_that_lasts_catches_its_ends_but_no_sighup_that_nohup_ignores(command_name, command, tmp_path):
    words = LASTING[command_name]
    if command_name == "watch" and not (len(words) > 1 and os.access(words[1], os.R_OK)):
        pytest.skip("no block device here may be read by this user")
    (tmp_path / "long.fio").write_text(LONG)
    (tmp_path / "trace.log").write_text(TRACE)
    if command_name == "fit":
        command.fine("run", "fill", "--on", "sim:sn850-1tb", "--save", "f", "--no-report")
    # As `nohup ... &` of a script: without SIGHUP, and without SIGINT, which is caught all the same, as fio does.
    started = ["sh", "-c", "trap '' HUP INT; exec \"$@\"", "sh", PSLC, *words]
    with subprocess.Popen(started, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            # It is the last that is caught.
            eventually(lambda: _has(process, "SigCgt", signal.SIGQUIT), process=process)
            ignored = [_has(process, "SigIgn", of) for of in (signal.SIGHUP, signal.SIGINT)]
            assert ignored == [True, False]
            assert _has(process, "SigCgt", signal.SIGINT)
        finally:
            process.kill()


def _has(process: "subprocess.Popen[bytes]", mask: str, number: int) -> bool:
    """Whether a signal is in a mask of a process; not once it has ended."""
    text = Path(f"/proc/{process.pid}/status").read_text().partition(f"{mask}:")[2]
    return bool(text) and bool(int(text.split()[0], 16) >> (number - 1) & 1)


CLOCK = (ROOT / "tests/fixtures/texts/clock.c").read_text()


@pytest.mark.parametrize(("back", "said"), [(False, "clock stood still"), (True, "clock went back by")])
def test_a_clock_that_stands_still_or_goes_back_ends_a_run_that_is_kept(back, said, tmp_path):
    (tmp_path / "clock.c").write_text(CLOCK)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "clock.so", "clock.c", "-ldl"], cwd=tmp_path, check=True)
    (tmp_path / "long.fio").write_text(LONG)
    wrong = {"LD_PRELOAD": str(tmp_path / "clock.so"), "WRONG": str(tmp_path / "now")} | ({"BACK": "1"} if back else {})
    process = subprocess.Popen(
        [PSLC, "run", "long.fio", *REAL, "--save", "out"],
        cwd=tmp_path, env=os.environ | wrong, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    eventually((tmp_path / "out" / "run.json").exists, process=process)
    (tmp_path / "now").touch()
    _, talk = process.communicate(timeout=60)
    assert process.returncode == 2, talk
    assert said in talk
    no_traceback(talk)
    assert opened(tmp_path / "out").jobs[0]["name"] == "long"
    assert not (tmp_path / "scratch.bin").exists()


@pytest.mark.parametrize("how", [signal.SIGPIPE, signal.SIGXFSZ])
def test_signals_of_files_and_pipes_disturb_no_run(how, tmp_path):
    process = start(tmp_path, "run", "long.fio", *REAL, "--save", "out")
    eventually((tmp_path / "out" / "run.json").exists, process=process)
    for _ in range(20):
        process.send_signal(how)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate(timeout=60)
    assert process.returncode == 130, talk
    no_traceback(talk)


BEGINNING = "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); print('ours', flush=True)\n"
"""What comes before is Python's own start, which says in its own way that it was interrupted, or goes on."""


@pytest.mark.parametrize("after", [0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8])
def test_an_interrupt_at_the_beginning_leaves_no_traceback_and_no_file(after, tmp_path):
    (tmp_path / "long.fio").write_text(LONG)
    code = BEGINNING + "from pslc.__main__ import main; main()"
    words = [sys.executable, "-c", code, "run", "long.fio", *REAL, "--save", "out"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ours\n"
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGINT), talk
    no_traceback(talk)
    assert not (tmp_path / "scratch.bin").exists()


def test_a_killed_suite_opens_with_every_command(tmp_path):
    process = start(tmp_path, "run", "sustained", *REAL, "--save", "out")
    eventually((tmp_path / "out" / "run.json").exists, process=process)
    process.kill()
    process.communicate(timeout=60)
    assert store.load(tmp_path / "out").error == "the run has not ended"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long.fio", "out"], "the file is gone"
    for words in (["analyze", "out"], ["report", "out", "-o", "page.html"], ["compare", "out", "out"]):
        done = forked.run(words, tmp_path)
        assert done.returncode == 0, done.stderr
        no_traceback(done.stderr)
    assert "this recording is partial" in (tmp_path / "page.html").read_text()


def test_a_kill_between_the_two_files_of_a_recording_loses_nothing(tmp_path):
    first, second = (pslc.run("fill", on=SIM, seed=seed, options=[("io_size", f"{seed}g")]) for seed in (1, 2))
    store.save(first, tmp_path / "run")
    store.save(second, tmp_path / "next")
    (tmp_path / "next" / "run.json").rename(tmp_path / "run" / "run.json.part")
    (tmp_path / "run" / "series.parquet.part").write_bytes((tmp_path / "next" / "series.parquet").read_bytes())
    assert opened(tmp_path / "run").seed == 1, "before the series takes its place"
    (tmp_path / "run" / "series.parquet.part").replace(tmp_path / "run" / "series.parquet")
    assert opened(tmp_path / "run").seed == 2, "after it"


def test_a_folder_that_goes_away_does_not_end_the_measurement(tmp_path):
    """The folder of the recording becomes a file: nothing can be kept there, and the run goes on."""
    process = start(tmp_path, "run", "long.fio", *REAL, "--save", "out", "--runtime=6s")
    eventually((tmp_path / "out" / "run.json").exists, process=process)
    (tmp_path / "out").rename(tmp_path / "gone")
    (tmp_path / "out").write_text("in the way")
    said, talk = process.communicate(timeout=120)
    assert process.returncode == 3, talk
    no_traceback(talk)
    assert "the run goes on" in talk
    assert "the recording cannot be written" in talk
    place = Path(talk.split("recording: ")[1].split(",")[0])
    assert opened(place).drive_time_s >= 6
    assert "MB/s" in said


def test_a_full_disk_of_recordings_does_not_end_the_measurement(small_disk, tmp_path):
    """A file system of 64 kB, in which no recording has room."""
    saved = str(small_disk("64k") / "out")
    process = start(tmp_path, "run", "long.fio", *REAL, "--save", saved, "--runtime=2s", "--json")
    said, talk = process.communicate(timeout=120)
    assert process.returncode == 3, talk
    no_traceback(talk)
    assert "No space left" in talk
    assert json.loads(said)["written_bytes"] > 0
    place = Path(talk.split("recording: ")[1].split(",")[0])
    assert opened(place).written_bytes == json.loads(said)["written_bytes"]


@pytest.mark.parametrize(
    ("redirect", "code"),
    [("<&-", 0), (">&-", 0), ("2>&-", 0), ("<&- >&- 2>&-", 0), (">/dev/full", 3), ("2>/dev/full", 0)],
)
def test_streams_that_are_closed_or_full(redirect, code, tmp_path):
    line = f"exec '{PSLC}' run fill --on {SIM} --save out {redirect}"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stderr
    no_traceback(done.stderr)
    assert opened(tmp_path / "out").written_bytes > 0
    if code:
        assert "warning: the output is not written: No space left on device" in done.stderr
        assert "recording: out" in done.stderr


@pytest.mark.parametrize("words", ["drives show sn850-1tb", "drives", "run --list", "run fill --on sim:sn850-1tb"])
def test_a_reader_that_has_had_enough_is_no_error(words, tmp_path):
    line = f"('{PSLC}' {words} 2>talk; echo $? >code) | head -c 1"
    subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert (tmp_path / "code").read_text() == "0\n", (tmp_path / "talk").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ["run", "fill", "--on", b"./\xff.bin", "--size", "64MB"],
        ["run", "fill", "--on", b"sim:\xff.toml"],
        ["run", b"\xff.fio", "--on", SIM],
        ["run", "fill", "--on", SIM, "--save", b"out\xff"],
        ["run", "fill", "--on", SIM, b"--bs=\xff"],
        ["analyze", b"\xff"],
    ],
)
def test_names_that_are_no_text_are_refused(words, tmp_path):
    done = forked.run([os.fsdecode(word) for word in words], tmp_path, timeout=60)
    assert done.returncode == 2
    assert "is no UTF-8" in done.stderr
    no_traceback(done.stderr)
    assert list(tmp_path.iterdir()) == []


def test_a_current_folder_that_is_gone(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f"rmdir {gone}; exec '{PSLC}' run fill --on {SIM}"
    done = subprocess.run(["sh", "-c", line], cwd=gone, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (2, 3), done.stderr
    no_traceback(done.stderr)
    assert "error:" in done.stderr or "warning:" in done.stderr


@pytest.mark.parametrize("megabytes", [200, 300, 400, 600])
def test_little_memory_is_an_error_in_words(megabytes, tmp_path):
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    done = subprocess.run(
        [PSLC, "run", "fill", *REAL], cwd=tmp_path, capture_output=True, text=True, preexec_fn=limited,
        timeout=120, check=False, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode in (0, 2, 3), (done.returncode, done.stderr)
    no_traceback(done.stderr)
    assert not (tmp_path / "scratch.bin").exists()


@pytest.mark.parametrize("error", [MemoryError(), ImportError("core.so: failed to map segment from shared object")])
def test_a_checkpoint_for_which_there_is_no_memory_is_said_and_the_next_is_saved(error, tmp_path):
    lines, saved, tried = [], [], Event()

    def fail() -> None:
        tried.set()
        raise error

    with Keeper(tmp_path, lines.append) as keeper:
        keeper.keep(fail)
        assert tried.wait(60)
        keeper.keep(lambda: saved.append("yes"))
        keeper.close()
    assert saved == ["yes"]
    assert lines[0].startswith("warning: the recording cannot be saved: there is not enough memory; the run goes on")
    assert lines[1:] == [f"the recording is saved in {tmp_path} again"]


def test_a_checkpoint_that_a_bug_keeps_from_being_saved_leaves_no_report_each_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines, tried = [], Event()

    def fail() -> None:
        tried.set()
        raise ZeroDivisionError("on purpose")

    with Keeper(tmp_path, lines.append) as keeper:
        keeper.keep(fail)
        assert tried.wait(60)
        keeper.close()
    (line,) = lines
    assert "cannot be saved: ZeroDivisionError: on purpose; the run goes on" in line
    assert list(tmp_path.iterdir()) == []


def test_what_is_left_is_a_bug_with_a_report_to_send(tmp_path):
    code = (
        "import sys; sys.argv = ['pslc', 'run', '--list']\nimport pslc.cli, pslc.suites\n"
        "def broken(*_): raise ZeroDivisionError('on purpose')\n"
        "pslc.suites.names = broken\npslc.cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    no_traceback(done.stderr)
    assert "this is a bug in pslc" in done.stderr
    assert "to those who gave you pslc, as this build names no issue tracker; it holds" in done.stderr
    assert "it holds the command line, paths and the error" in done.stderr
    report = next(tmp_path.glob("pslc-bug-*.txt")).read_text()
    assert "ZeroDivisionError: on purpose" in report
    assert "Traceback" in report
    assert "command: ['run', '--list']" in report


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a]\nioengine=io_uring\nnumjobs=4096\niodepth=65536\n", "numjobs times iodepth is 268435456"),
        ("[a]\n" * 100_000, "more than 10000 sections"),
        ("#" * 16_000_001, "the limit is 16,000,000"),
    ],
)
def test_a_job_that_no_machine_holds_is_refused(text, said, tmp_path):
    (tmp_path / "big.fio").write_text(text)
    with pytest.raises(pslc.PslcError, match=said):
        pslc.run(tmp_path / "big.fio", on=SIM)


@pytest.mark.parametrize("path", ["/dev/zero", "fifo.toml"])
def test_files_that_never_end_are_refused(path, tmp_path):
    os.mkfifo(tmp_path / "fifo.toml")
    for words in (
        ["run", path, "--on", SIM],
        ["run", "fill", "--on", "sim:" + (path if path[0] == "/" else f"./{path}")],
    ):
        done = forked.run(words, tmp_path, timeout=60)
        assert done.returncode == 2, done.stderr
        assert "not a regular file" in done.stderr


def test_a_slow_rate_heeds_an_interrupt_at_once(tmp_path):
    process = start(tmp_path, "run", "long.fio", *REAL, "--save", "out", "--rate=1")
    eventually((tmp_path / "out" / "run.json").exists, process=process)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    # Two seconds, and what a machine that does much else takes for the end of a process; it was ten.
    assert time.monotonic() - began < 8
