"""What was inspected is what is written: the path is swapped between the two, and all the while."""

import ctypes
import hashlib
import os
import random
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import pslc
from pslc.device.target import RealOptions, find_target
from tests.loops import MB, loop_over, noise, reason, sh

JOB = "[w]\nrw=write\nbs=64k\nsize=256k\n"
ATTEMPTS = int(os.environ.get("PSLC_ATTEMPTS", "40"))
"""Of each test that swaps all the time; `make attempts` makes many."""
EXCHANGE = 2
"""RENAME_EXCHANGE of renameat2."""


def exchange(one: Path, other: Path) -> None:
    """Swap two names in one step."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, os.fsencode(one), -100, os.fsencode(other), EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


@contextmanager
def exchanging(one: Path, other: Path):
    """A process that swaps two names for as long as it lives."""
    program = (
        "import ctypes, os, sys, time, random\nlibc = ctypes.CDLL(None)\none, other = map(os.fsencode, sys.argv[1:])\n"
        "while True:\n    libc.renameat2(-100, one, -100, other, 2)\n    time.sleep(random.random() * 0.002)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(one), str(other)]) as process:
        try:
            yield
        finally:
            process.kill()


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def written(path: Path, real: RealOptions) -> bool:
    """Whether a run on it was made; it may be refused."""
    try:
        drive = find_target(str(path), real).open()
    except pslc.PslcError:
        return False
    drive.run(JOB, "job.fio", [], 1)  # type: ignore[call-arg]
    return True


def mine(path: Path, size: int = MB) -> Path:
    """A file that pslc wrote last."""
    path.write_bytes(b"\1" * size)
    assert written(path, RealOptions(overwrite_file=path.name))
    return path


@pytest.mark.parametrize(
    "kind", ["another file", "a link to another file", "a link to a device", "nothing", "a folder"]
)
def test_a_file_swapped_between_the_look_and_the_write_is_refused(kind, tmp_path):
    path = mine(tmp_path / "data.bin")
    precious = tmp_path / "thesis.doc"
    precious.write_bytes(b"thesis" * MB)
    before = digest(precious)
    target = find_target(str(path), RealOptions(reuse=True))
    path.rename(tmp_path / "away.bin")
    if kind == "another file":
        os.replace(precious, path)
        precious = path
    elif kind == "a link to another file":
        path.symlink_to(precious)
    elif kind == "a link to a device":
        path.symlink_to("/dev/loop0")
    elif kind == "a folder":
        path.mkdir()
    with pytest.raises(pslc.PslcError):
        target.open()
    assert digest(precious) == before


def test_what_was_agreed_to_is_that_file_and_no_other_of_its_name(tmp_path):
    path, other = tmp_path / "data.bin", tmp_path / "other.bin"
    path.write_bytes(b"a" * MB)
    other.write_bytes(b"b" * MB)
    named = find_target(str(path), RealOptions(overwrite_file="data.bin"))
    shown = find_target(str(path), RealOptions(reuse=True))
    exchange(path, other)
    for target in (named, shown.agreed()):
        with pytest.raises(pslc.PslcError, match="is not what it was when it was looked at"):
            target.open()
    assert path.read_bytes() == b"b" * MB
    assert other.read_bytes() == b"a" * MB
    exchange(path, other)
    path.write_bytes(b"c" * MB)
    with pytest.raises(pslc.PslcError, match="is not what it was when it was looked at"):
        named.open()
    assert path.read_bytes() == b"c" * MB


def test_files_that_are_swapped_all_the_time_are_written_only_if_they_are_pslc_s(tmp_path):
    path, precious = tmp_path / "data.bin", tmp_path / "thesis.doc"
    mine(path)
    precious.write_bytes(b"thesis" * (MB // 6))
    before, inode = digest(precious), precious.stat().st_ino
    made = 0
    with exchanging(path, precious):
        for _ in range(ATTEMPTS):
            made += written(path, RealOptions(reuse=True))
    (left,) = [at for at in (path, precious) if at.stat().st_ino == inode]
    assert digest(left) == before
    assert 0 < made < ATTEMPTS, "each of them was met"


@pytest.mark.skipif(reason() is not None, reason=str(reason()))
def test_links_to_devices_that_are_swapped_all_the_time_are_written_only_where_nothing_is(tmp_path):
    with loop_over(noise(tmp_path / "a.img", 8 * MB)) as free, loop_over(noise(tmp_path / "b.img", 8 * MB)) as labelled:
        sh("mkswap", labelled.path)
        before = labelled.hash()
        one, other = tmp_path / "one", tmp_path / "other"
        one.symlink_to(free.path)
        other.symlink_to(labelled.path)
        made = 0
        choice = random.Random(4)
        with exchanging(one, other):
            for _ in range(ATTEMPTS):
                # The serial of either: the label alone must hold it.
                serial = str(choice.choice([free.image, labelled.image]))
                made += written(one, RealOptions(destroy_data=serial))
        assert labelled.hash() == before
        assert made > 0


@pytest.mark.skipif(reason() is not None, reason=str(reason()))
def test_a_device_swapped_between_the_look_and_the_write_is_refused(tmp_path):
    with loop_over(noise(tmp_path / "a.img", 8 * MB)) as first, loop_over(noise(tmp_path / "b.img", 8 * MB)) as second:
        link = tmp_path / "drive"
        link.symlink_to(first.path)
        target = find_target(str(link), RealOptions(destroy_data=str(first.image)))
        link.unlink()
        link.symlink_to(second.path)
        before = second.hash()
        with pytest.raises(pslc.PslcError, match="is not that of this drive"):
            target.open()
        assert second.hash() == before


def test_a_scratch_file_never_takes_the_name_of_another(tmp_path):
    target = find_target(str(tmp_path / "x.bin"), RealOptions(size=MB))
    precious = tmp_path / "thesis.doc"
    precious.write_bytes(b"thesis" * 1000)
    for make in (lambda: (tmp_path / "x.bin").symlink_to(precious), lambda: os.link(precious, tmp_path / "x.bin")):
        make()
        with pytest.raises(pslc.PslcError, match="exists, and is"):
            target.open()
        (tmp_path / "x.bin").unlink()
    assert precious.read_bytes() == b"thesis" * 1000
    target.open()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["thesis.doc"]
