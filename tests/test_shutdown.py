"""A file system that is shut down, or a drive that is pulled, while pslc writes to a file on it."""

import fcntl
import json
import os
import subprocess

import pytest

from tests import forked
from tests.loops import ext4, loop_over, mounted, reason

GOING_DOWN = 0x8004587D
"""The ioctl of ext4, XFS and f2fs that shuts a file system down, as an error of the drive does."""
NOLOGFLUSH = b"\x02\x00\x00\x00"
JOB = "[long]\nrw=randwrite\nbs=64k\niodepth=4\nioengine=io_uring\ndirect=1\ntime_based\nruntime=10m\nnorandommap\n"

pytestmark = pytest.mark.skipif(reason() is not None, reason=str(reason()))


@pytest.fixture
def disk(tmp_path):
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(4 << 30)
    with loop_over(image) as loop:
        ext4(loop.path)
        with mounted(loop.path, tmp_path / "mounted") as folder:
            yield folder


def test_a_file_system_that_is_shut_down_ends_the_run_in_words_and_keeps_it(disk, tmp_path):
    (tmp_path / "long.fio").write_text(JOB)
    words = ["run", "long.fio", "--on", str(disk / "scratch.bin"), "--size", "64MB", "--yes", "--save", "out"]
    process = forked.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    forked.eventually((tmp_path / "out" / "run.json").exists, process=process)
    folder = os.open(disk, os.O_RDONLY)
    fcntl.ioctl(folder, GOING_DOWN, NOLOGFLUSH)
    os.close(folder)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 2, (out, err)
    assert "Traceback" not in out + err
    assert "Input/output error" in err
    said = json.loads((tmp_path / "out" / "run.json").read_text())
    assert "Input/output error" in said["error"]
    assert said["written_bytes"] > 0
    assert "incomplete" in [warning["code"] for warning in said["warnings"]]
