"""A full disk and a held file end on Windows in the words that they have on Linux. A killed run is in test_ends.py."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import pslc
from pslc.base.errors import PslcError
from pslc.device import target
from pslc.device.drive_files import create, open_kept
from pslc.device.target import RealOptions

ON_WINDOWS = pytest.mark.skipif(sys.platform != "win32", reason="on Windows alone: make windows")
MB = 1 << 20

HOLD = """
import sys
from pslc.device.drive_files import open_kept

drive = open_kept(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
drive.close()
"""
"""A command that has a drive until its input ends."""


@pytest.fixture
def small_disk():
    """A folder on a file system that has little more room than pslc leaves free."""
    path = os.environ.get("PSLC_SMALL_DISK")
    if path is None:
        pytest.skip("no small file system was mounted: .ci/windows does that as root")
    folder = Path(path)
    yield folder
    for name in ("ballast", "job.fio"):
        (folder / name).unlink(missing_ok=True)


def fill(folder: Path) -> None:
    """Take all room that is left."""
    block = bytes(16 * MB)
    with (folder / "ballast").open("wb", buffering=0) as ballast:
        while True:
            try:
                if ballast.write(block) < len(block):
                    return
            except OSError:
                return


@ON_WINDOWS
def test_a_disk_that_is_full_ends_the_run_in_words_and_leaves_no_scratch_file(small_disk, tmp_path, monkeypatch):
    def opened_before_it_is_full(path, size):
        drive = real.scratch(path, size)
        fill(small_disk)
        return drive

    real = target.RealDrive
    monkeypatch.setattr(target, "RealDrive", SimpleNamespace(scratch=opened_before_it_is_full))
    job = tmp_path / "job.fio"
    job.write_text("[a]\nrw=write\nbs=64k\nsize=16m\n")
    scratch = small_disk / "scratch.bin"
    try:
        error = pslc.run(job, on=str(scratch), real=RealOptions(size=16 * MB)).error
    except PslcError as failed:
        error = failed.message
    assert error is not None
    assert "No space left on device" in error
    assert not scratch.exists()


def test_a_drive_that_another_command_has_is_refused_in_words(tmp_path):
    disk = tmp_path / "disk.pslc"
    create(disk, "pm871b-128gb").close()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(disk)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline().strip() == b"held"
        with pytest.raises(PslcError, match="the drive is held by"):
            open_kept(disk)
    finally:
        holder.stdin.close()
        holder.wait(60)
    open_kept(disk).close()
