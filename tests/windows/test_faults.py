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
from pathlib import Path
from pslc.device.drive_files import open_kept

drive = open_kept(Path(sys.argv[1]))
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
    (folder / "ballast").unlink(missing_ok=True)


def fill(folder: Path) -> None:
    """Take all room that is left, in ever smaller pieces."""
    with (folder / "ballast").open("ab", buffering=0) as ballast:
        for size in (16 * MB, MB, 4096):
            try:
                while ballast.write(bytes(size)) == size:
                    pass
            except OSError:
                continue


@ON_WINDOWS
def test_a_full_disk_is_said_in_words_and_leaves_no_half_file(small_disk, tmp_path, monkeypatch):
    def opened_before_it_is_full(path, size):
        drive = real.scratch(path, size)
        fill(small_disk)
        return drive

    real = target.RealDrive
    monkeypatch.setattr(target, "RealDrive", SimpleNamespace(scratch=opened_before_it_is_full))
    job = tmp_path / "job.fio"
    job.write_text("[a]\nrw=write\nbs=64k\nsize=16m\n")
    recording = pslc.run(job, on=str(small_disk / "scratch.bin"), real=RealOptions(size=16 * MB))
    assert recording.error is None, "its room was set aside before"
    assert recording.written_bytes == 16 * MB
    fill(small_disk)
    with pytest.raises(PslcError, match="No space left on device"):
        create(small_disk / "disk.pslc", "pm871b-128gb")
    with pytest.raises(PslcError, match="free beyond what is kept"):
        pslc.run(job, on=str(small_disk / "scratch.bin"), real=RealOptions(size=16 * MB))
    assert [path.name for path in small_disk.iterdir()] == ["ballast"]


def test_a_drive_that_another_command_has_is_refused_in_words(tmp_path):
    disk = tmp_path / "disk.pslc"
    create(disk, "pm871b-128gb").close()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(disk)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
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
