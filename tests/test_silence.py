"""A drive that stops answering: a file or a loop device on a server that is stopped, as a failing drive is."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

import pslc
from tests import forked
from tests.forked import eventually
from tests.loops import loop_over, reason, sh

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("nbdkit", "nbdfuse", "fusermount3"))) or not Path("/dev/fuse").exists(),
    reason="nbdkit or nbdfuse is not installed",
)
# At the end of a pass a job would wait for all that is under way, and have less of it when its drive falls silent.
JOB = (
    "[w]\nrw=write\nbs=1m\nio_size=100t\niodepth={depth}\nioengine={engine}\ndirect=1\ntime_based\nruntime={runtime}\n"
)


class Drive:
    """A file of 4 GiB whose server may fall silent."""

    def __init__(self, file: Path, server: subprocess.Popen) -> None:
        self.file, self.server = file, server

    def silence(self) -> None:
        """Answer nothing more. What had been answered arrives meanwhile, and is followed by other requests."""
        self.server.send_signal(signal.SIGSTOP)
        time.sleep(0.5)

    def answer(self) -> None:
        self.server.send_signal(signal.SIGCONT)


@contextmanager
def served(folder: Path):
    (folder / "m").mkdir()
    socket, file = folder / "socket", folder / "m" / "nbd"
    server = subprocess.Popen(["nbdkit", "-f", "-U", socket, "memory", "4G"])
    eventually(socket.exists)
    fuse = subprocess.Popen(["nbdfuse", file, "--unix", socket], stderr=subprocess.DEVNULL)
    try:
        eventually(file.exists)
        yield Drive(file, server)
    finally:
        server.send_signal(signal.SIGCONT)
        fuse.terminate()
        fuse.wait(20)
        server.terminate()
        server.wait(20)


@pytest.fixture
def drive(tmp_path):
    with served(tmp_path) as made:
        yield made


def begin(folder: Path, *words: str, **job: object) -> forked.Popen:
    """A run that has written for a second."""
    (folder / "w.fio").write_text(JOB.format(**job))
    out, err = (folder / "out").open("w"), (folder / "err").open("w")
    process = forked.Popen(["run", "w.fio", *words, "--yes", "--save", "r"], cwd=folder, stdout=out, stderr=err)
    eventually((folder / "r" / "run.json").exists)
    return process


def on_file(drive: Drive) -> list[str]:
    return ["--on", str(drive.file), "--overwrite-file", "nbd"]


def test_a_stall_is_said_and_is_a_finding_with_a_mark_on_the_page(drive, tmp_path):
    process = begin(tmp_path, *on_file(drive), depth=8, engine="io_uring", runtime="6s")
    drive.silence()
    err = tmp_path / "err"
    # A busy machine looks at the silence a second or two late, and says so.
    stalled = r"no request answered for 1[0-9] s; 8 under way, the oldest a write of 1 MiB at "
    eventually(lambda: re.search(stalled, err.read_text()), 60)
    drive.answer()
    assert process.wait(60) == 0
    assert "the drive answers again, after 1" in err.read_text()
    said = json.loads((tmp_path / "r" / "run.json").read_text())
    (stall,) = said["findings"]["stalls"]
    assert 10 <= stall["duration_s"] < 20
    assert 0 < stall["at_s"] < 10
    assert (stall["under_way"], stall["op"], stall["bytes"]) == (8, "write", 1 << 20)
    assert stall["at_s"] + stall["duration_s"] <= said["drive_time_s"]
    (warning,) = (warning["text"] for warning in said["warnings"] if warning["code"] == "stalled")
    assert f"did not answer for {stall['duration_s']:.0f} s" in warning
    assert "8 under way, the oldest a write of 1 MiB" in warning
    assert '"texts": ["no answer"]' in (tmp_path / "r" / "report.html").read_text()
    assert "No answer from the drive" in (tmp_path / "r" / "report.html").read_text()


@pytest.mark.parametrize(
    ("kind", "engine", "depth"), [("file", "psync", 1), ("file", "io_uring", 8), ("device", "io_uring", 8)]
)
def test_the_first_signal_keeps_what_was_measured_and_the_second_leaves(drive, tmp_path, kind, engine, depth):
    if kind == "device" and reason() is not None:
        pytest.skip(str(reason()))
    with loop_over(drive.file) if kind == "device" else nullcontext() as loop:
        on = ["--on", loop.path, "--destroy-data", str(drive.file)] if loop else on_file(drive)
        process = begin(tmp_path, *on, depth=depth, engine=engine, runtime="10m")
        drive.silence()
        process.send_signal(signal.SIGINT)
        waits = f"{depth} under way, the oldest a write" if depth > 1 else "a write of 1 MiB at"
        eventually(lambda: waits in (tmp_path / "err").read_text())
        assert "interrupt again to leave" in (tmp_path / "err").read_text()
        process.send_signal(signal.SIGINT)
        requests = f"{depth} requests" if depth > 1 else "1 request"
        left = f"left {requests} unanswered; the recording so far is in r"
        if engine == "psync":
            # The kernel lets nobody end who waits for a drive in a call of the system.
            eventually(lambda: f"{left}; the kernel keeps pslc until" in (tmp_path / "err").read_text(), 4)
            drive.answer()
        assert process.wait(4) == 130
        assert left in (tmp_path / "err").read_text()
        assert pslc.load(tmp_path / "r").written_bytes > 0
        drive.answer()


@pytest.mark.parametrize(("engine", "depth"), [("psync", 1), ("io_uring", 8)])
def test_a_drive_that_never_answers_leaves_a_recording_that_tells_so(drive, tmp_path, engine, depth):
    process, err = begin(tmp_path, *on_file(drive), depth=depth, engine=engine, runtime="10m"), tmp_path / "err"
    drive.silence()
    eventually(lambda: "no request answered for 1" in err.read_text(), 60)
    process.send_signal(signal.SIGINT)
    eventually(lambda: "interrupt again to leave at once" in err.read_text())
    # Of an engine that waits for each request, only the last checkpoint is there.
    assert re.search(
        r"; the first \S+ m?s are saved; " if depth == 1 else "; what was measured is saved; ", err.read_text()
    )
    assert "answers again" not in err.read_text()
    process.send_signal(signal.SIGINT)
    eventually(lambda: "the recording so far is in r; the kernel " in err.read_text(), 4)
    drive.answer()
    assert process.wait(10) == 130
    recording = pslc.load(tmp_path / "r")
    assert recording.written_bytes > 0
    (stall,) = recording.facts["stalls"]
    assert stall["duration_s"] >= 10
    assert any(warning.code == "stalled" for warning in recording.findings["warnings"])


@contextmanager
def file_system(drive: Drive, point: Path):
    """A file system on a drive that may fall silent."""
    with loop_over(drive.file) as loop:
        sh("mkfs.ext4", "-q", loop.path)
        point.mkdir()
        sh("mount", loop.path, point)
        try:
            yield point
        finally:
            drive.answer()
            # Requests of one that left are answered a little later.
            eventually(lambda: subprocess.run(["umount", point], capture_output=True, check=False).returncode == 0)


@pytest.mark.skipif(reason() is not None or not shutil.which("mkfs.ext4"), reason="needs loop devices and mkfs.ext4")
def test_a_job_under_the_command_line_of_fio_can_be_left_too(drive, tmp_path):
    job = "--name=w", "--rw=write", "--bs=1m", "--iodepth=8", "--ioengine=io_uring", "--direct=1", "--time_based"
    program, err = Path(sys.executable).with_name("pslc-fio"), tmp_path / "err"
    with file_system(drive, tmp_path / "m2") as folder, err.open("w") as log:
        file = folder / "file"
        process = subprocess.Popen([program, *job, "--runtime=10m", "--size=3g", f"--filename={file}"], stderr=log)
        eventually(lambda: file.exists() and file.stat().st_blocks >= 40 << 11)
        time.sleep(1)
        drive.silence()
        process.send_signal(signal.SIGINT)
        eventually(lambda: "8 under way, the oldest a write of 1 MiB at " in err.read_text(), 8)
        process.send_signal(signal.SIGINT)
        assert process.wait(4) == 130
        assert "left with 8 under way" in err.read_text()


def test_a_script_is_told_that_the_drive_does_not_answer(drive, tmp_path):
    (tmp_path / "w.fio").write_text(JOB.format(depth=1, engine="psync", runtime="10m"))
    program = (
        f"import pslc\nreal = pslc.RealOptions(overwrite_file='nbd')\n"
        f"try: pslc.run('w.fio', on={str(drive.file)!r}, real=real)\n"
        "except pslc.RunInterrupted as end: print(end.recording.interrupted)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    written = Path(f"/proc/{process.pid}/io")
    eventually(lambda: int(written.read_text().split()[3]) > 20 << 20)
    drive.silence()
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    line = process.stderr.readline()
    drive.answer()
    assert "a write of 1 MiB at " in line
    assert line.endswith("; pslc.run returns once the drive answers\n")
    assert process.communicate(timeout=30) == ("True\n", "")


def test_a_drive_that_answers_after_the_first_signal_ends_the_run_in_order(drive, tmp_path):
    process = begin(tmp_path, *on_file(drive), depth=4, engine="io_uring", runtime="10m")
    drive.silence()
    process.send_signal(signal.SIGTERM)
    eventually(lambda: "interrupt again to leave" in (tmp_path / "err").read_text(), 8)
    drive.answer()
    assert process.wait(30) == 130
    said = json.loads((tmp_path / "r" / "run.json").read_text())
    assert said["interrupted"]
    assert said["findings"]["stalls"] == []
    assert (tmp_path / "r" / "report.html").exists()


@pytest.mark.skipif(reason() is not None, reason=str(reason()))
def test_lines_of_the_kernel_about_the_drive_are_in_the_recording(tmp_path):
    if not os.access("/dev/kmsg", os.W_OK):
        pytest.skip("this user may not write to the kernel's log")
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(64 << 20)
    with loop_over(image) as loop:
        on = ["--on", loop.path, "--destroy-data", str(image)]
        process = begin(tmp_path, *on, depth=4, engine="io_uring", runtime="4s")
        name = Path(loop.path).name
        for text in (f"I/O error, dev {name}, sector 8", f"I/O error, dev {name}9, sector 8", "another's error"):
            Path("/dev/kmsg").write_text(f"<3>{text}\n")
        assert process.wait(60) == 0
    said = json.loads((tmp_path / "r" / "run.json").read_text())
    (line,) = said["facts"]["kernel"]
    assert (line["text"], line["level"]) == (f"I/O error, dev {name}, sector 8", 3)
    assert 0 < line["at_s"] < 60
    assert f"the first: I/O error, dev {name}, sector 8" in " ".join(warning["text"] for warning in said["warnings"])
    assert "Kernel log of the drive" in (tmp_path / "r" / "report.html").read_text()
