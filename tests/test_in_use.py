"""What is in use by any of its names is refused, and who uses it is named."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import pslc
from pslc.device.target import RealOptions, find_target
from tests.loops import MB, Loop, ext4, loop_over, mounted, noise, reason, sh

needs_loops = pytest.mark.skipif(reason() is not None, reason=str(reason()))


@contextmanager
def another_process(code: str, path: object):
    """A Python process that runs `code` with `path`, and then waits."""
    program = f"import fcntl, mmap, os, sys, time\npath = sys.argv[1]\n{code}\n"
    program += "print('ready', flush=True)\ntime.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def refused_device(loop: Loop, what: str) -> None:
    before = loop.hash()
    with pytest.raises(pslc.PslcError, match=what):
        find_target(loop.path, RealOptions(destroy_data=str(loop.image), wipe_signatures=True)).open()
    assert loop.hash() == before


def refused_file(path: Path, what: str) -> None:
    before = path.read_bytes()
    with pytest.raises(pslc.PslcError, match=what):
        find_target(str(path), RealOptions(overwrite_file=path.name)).open()
    assert path.read_bytes() == before


@needs_loops
@pytest.mark.parametrize("how", ["os.O_RDONLY", "os.O_RDWR", "os.O_WRONLY | os.O_DIRECT", "os.O_RDONLY | os.O_EXCL"])
def test_a_device_that_a_process_holds_open_is_refused(how, tmp_path):
    with (
        loop_over(noise(tmp_path / "drive.img")) as loop,
        another_process(f"held = os.open(path, {how})", loop.path) as process,
    ):
        refused_device(loop, rf"is held open by process {process.pid} \(.*python")


@needs_loops
def test_a_device_whose_node_has_another_name_there_is_refused(tmp_path):
    with loop_over(noise(tmp_path / "drive.img")) as loop:
        number = os.stat(loop.path).st_rdev
        node = tmp_path / "node"
        try:
            os.mknod(node, 0o600 | 0o060000, number)
        except OSError:
            pytest.skip("no device nodes can be made here")
        try:
            held = os.open(node, os.O_RDONLY)
        except OSError:
            pytest.skip("this file system allows no device nodes")
        os.close(held)
        with another_process("held = os.open(path, os.O_RDONLY)", node) as process:
            refused_device(loop, f"is held open by process {process.pid}")


@needs_loops
def test_the_file_behind_a_loop_that_a_process_holds_open_is_refused(tmp_path):
    with loop_over(noise(tmp_path / "drive.img")) as loop, another_process("held = open(path)", loop.image) as process:
        refused_device(loop, rf"the file of loop\d+ is held open by process {process.pid}")


@needs_loops
def test_the_file_behind_a_loop_that_a_process_has_mapped_is_refused(tmp_path):
    code = "held = open(path, 'r+b')\nkept = mmap.mmap(held.fileno(), 4096)\nheld.close()\nos.closerange(3, 256)"
    with loop_over(noise(tmp_path / "drive.img")) as loop, another_process(code, loop.image) as process:
        refused_device(loop, rf"the file of loop\d+ is held open by process {process.pid}")


@needs_loops
def test_a_second_loop_over_a_file_whose_first_is_mounted_is_refused(tmp_path):
    image = noise(tmp_path / "drive.img")
    with loop_over(image) as first:
        ext4(first.path)
        with loop_over(image) as second, mounted(first.path, tmp_path / "mount", "-o", "ro") as point:
            refused_device(second, rf"is behind {Path(first.path).name}; .*is mounted at {re.escape(str(point))}")


@needs_loops
def test_a_second_loop_over_a_renamed_file_is_refused(tmp_path):
    image = noise(tmp_path / "drive.img")
    with loop_over(image) as first:
        image.rename(tmp_path / "other.img")
        with loop_over(tmp_path / "other.img") as second:
            refused_device(second, f"is behind {Path(first.path).name}")


@needs_loops
def test_the_external_journal_of_a_mounted_ext4_is_refused(tmp_path):
    with loop_over(noise(tmp_path / "j.img")) as journal, loop_over(noise(tmp_path / "fs.img")) as system:
        ext4(journal.path, "-b", "4096", "-O", "journal_dev")
        ext4(system.path, "-b", "4096", "-J", f"device={journal.path}")
        with mounted(system.path, tmp_path / "mount", "-o", "ro") as point:
            refused_device(journal, f"is the journal of the ext4 at {re.escape(str(point))}")


@needs_loops
def test_the_external_log_of_a_mounted_xfs_is_refused(tmp_path):
    if shutil.which("mkfs.xfs") is None:
        pytest.skip("mkfs.xfs is not installed")
    with (tmp_path / "fs.img").open("wb") as file:
        file.truncate(320 * MB)
    with loop_over(noise(tmp_path / "log.img")) as log, loop_over(tmp_path / "fs.img") as system:
        sh("mkfs.xfs", "-q", "-f", "-l", f"logdev={log.path}", system.path)
        try:
            with mounted(system.path, tmp_path / "mount", "-o", f"logdev={log.path}") as point:
                refused_device(log, f"is mounted at {re.escape(str(point))}")
        except subprocess.CalledProcessError:
            pytest.skip("this kernel has no xfs")


@needs_loops
def test_the_second_device_of_a_mounted_btrfs_is_refused(tmp_path):
    if shutil.which("mkfs.btrfs") is None:
        pytest.skip("mkfs.btrfs is not installed")
    for name in ("a.img", "b.img"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(128 * MB)
    with loop_over(tmp_path / "a.img") as first, loop_over(tmp_path / "b.img") as second:
        sh("mkfs.btrfs", "-q", "-f", "-d", "single", "-m", "single", first.path, second.path)
        try:
            with mounted(first.path, tmp_path / "mount", "-o", f"ro,device={first.path},device={second.path}"):
                refused_device(second, "belongs to a btrfs that is mounted")
        except subprocess.CalledProcessError:
            pytest.skip("this kernel has no btrfs")


@needs_loops
def test_a_device_mounted_in_another_mount_namespace_only_is_refused(tmp_path):
    with loop_over(noise(tmp_path / "drive.img")) as loop:
        ext4(loop.path)
        point = tmp_path / "mount"
        point.mkdir()
        script = f"mount -o ro {loop.path} {point} && echo ready && exec sleep 600"
        with subprocess.Popen(["unshare", "-m", "sh", "-c", script], stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                if process.stdout.readline() != "ready\n":
                    pytest.skip("no mount namespaces here")
                refused_device(loop, "the kernel or a program holds it for itself")
            finally:
                process.kill()


@needs_loops
def test_an_image_behind_a_mounted_loop_is_refused(tmp_path):
    image = noise(tmp_path / "drive.img")
    ext4(image)
    with loop_over(image) as loop, mounted(loop.path, tmp_path / "mount", "-o", "ro"):
        refused_file(image, f"is behind {Path(loop.path).name}")


def test_a_file_that_a_process_holds_open_is_refused(tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(b"d" * MB)
    with another_process("held = open(path)", path) as process:
        refused_file(path, rf"data.bin is held open by process {process.pid} \(.*python")


LOCKS = {
    "flock": ("held = open(path, 'r+b'); fcntl.flock(held, fcntl.LOCK_EX)", "is locked: flock by process"),
    "flock, shared": ("held = open(path, 'rb'); fcntl.flock(held, fcntl.LOCK_SH)", "is locked: flock by process"),
    "fcntl": ("held = open(path, 'r+b'); fcntl.lockf(held, fcntl.LOCK_EX)", "is locked: fcntl by process"),
    "fcntl, a part": ("held = open(path, 'r+b'); fcntl.lockf(held, fcntl.LOCK_EX, 10, 4000)", "fcntl by process"),
    "fcntl, shared": ("held = open(path, 'rb'); fcntl.lockf(held, fcntl.LOCK_SH)", "is locked: fcntl by process"),
}


@pytest.mark.parametrize("kind", LOCKS)
def test_a_locked_file_is_refused(kind, tmp_path):
    code, what = LOCKS[kind]
    path = tmp_path / "data.bin"
    path.write_bytes(b"d" * MB)
    with another_process(code, path) as process:
        refused_file(path, f"{what} {process.pid} ".replace("process process", "process"))


def test_a_swap_file_is_refused(tmp_path):
    path = tmp_path / "swap"
    path.write_bytes(b"\0" * 16 * MB)
    path.chmod(0o600)
    try:
        sh("mkswap", path)
        sh("swapon", path)
    except (subprocess.CalledProcessError, FileNotFoundError):
        pytest.skip("this machine swaps to no files")
    try:
        refused_file(path, "is swap space|is held open|cannot open it")
    finally:
        sh("swapoff", path)


def test_a_file_that_is_measured_on_is_refused_to_a_second_run(tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(b"d" * MB)
    first = find_target(str(path), RealOptions(overwrite_file="data.bin")).open()
    with pytest.raises(pslc.PslcError, match=f"held open by process {os.getpid()}"):
        find_target(str(path), RealOptions(overwrite_file="data.bin"))
    del first
    find_target(str(path), RealOptions(reuse=True)).open()


@needs_loops
def test_one_that_lets_go_within_two_seconds_is_waited_for(tmp_path):
    """As udev does, which looks at a device after each that wrote to it."""
    with loop_over(noise(tmp_path / "drive.img")) as loop:
        code = "held = os.open(path, os.O_RDONLY)\nprint('ready', flush=True)\ntime.sleep(0.5)\nos.close(held)"
        with another_process(code, loop.path):
            find_target(loop.path, RealOptions(destroy_data=str(loop.image))).open()


def test_a_lock_of_our_own_is_gone_after_a_run(tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(b"d" * MB)
    del_me = find_target(str(path), RealOptions(overwrite_file="data.bin")).open()
    del del_me
    with path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
