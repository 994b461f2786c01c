"""Files that pslc did not make are not overwritten, whatever leads to them; files are made only where they belong."""

import fcntl
import os
import pty
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

import pslc
from pslc.base import units
from pslc.device.target import RealOptions, find_target
from pslc.runner.plan import plan
from tests import forked
from tests.loops import MB, reason, sh

REUSE = RealOptions(reuse=True)
NAMED = RealOptions(overwrite_file="data.bin")
JOB = "[w]\nrw=write\nbs=64k\nsize=256k\n"


def data(folder: Path, name: str = "data.bin") -> Path:
    path = folder / name
    path.write_bytes(random.Random(3).randbytes(8 * MB))
    return path


def write(path: Path, real: RealOptions = REUSE) -> None:
    """A short run on a file."""
    job = path.parent / "job.fio"
    job.write_text(JOB)
    recording = pslc.run(job, on=str(path), real=real)
    assert recording.written_bytes == 256 << 10


def refused(path: Path, what: str, real: RealOptions = REUSE) -> None:
    before = path.read_bytes()
    with pytest.raises(pslc.PslcError, match=what) as caught:
        write(path, real)
    assert "\n\nhint: " in str(caught.value)
    assert path.read_bytes() == before


KINDS = {
    "a document": lambda path: path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 thesis" * 500_000),
    "an ext4 image": lambda path: sh("mkfs.ext4", "-q", "-F", path, "4M"),
    "a sparse file with data": lambda path: (path.write_bytes(b"x" * 8192), os.truncate(path, 64 * MB)),
    "a sparse file without": lambda path: (path.touch(), os.truncate(path, 64 * MB)),
    "another owner's": lambda path: (data(path.parent, path.name), os.chown(path, 1234, 1234)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", [("--reuse",), ("--reuse", "--yes"), ("--overwrite-file", "other")])
def test_a_file_that_pslc_did_not_make_is_not_overwritten(kind, how, command, tmp_path):
    path = tmp_path / "data.bin"
    if kind == "another owner's" and os.geteuid() != 0:
        pytest.skip("only root can give files away")
    if kind == "an ext4 image" and shutil.which("mkfs.ext4") is None:
        pytest.skip("mkfs.ext4 is not installed")
    KINDS[kind](path)
    before = path.read_bytes()
    done = command.refused("run", "fill", "--on", "./data.bin", *how, "--json")
    assert "--overwrite-file data.bin" in done.stderr
    assert path.read_bytes() == before


def test_its_name_or_pslc_s_own_last_write_is_enough(tmp_path):
    path = data(tmp_path)
    refused(path, "was not made by pslc")
    write(path, NAMED)
    write(path)
    write(path)


def test_a_file_that_was_changed_since_is_not_pslc_s_any_more(tmp_path):
    path = data(tmp_path)
    write(path, NAMED)
    thesis = data(tmp_path, "thesis.doc")
    shutil.copyfile(thesis, path)  # keeps the inode and the mark
    refused(path, "was not made by pslc")
    write(path, NAMED)
    with path.open("ab") as file:
        file.write(b"one byte more")
    refused(path, "was not made by pslc")


def test_a_copy_of_pslc_s_file_with_all_its_attributes_is_not_pslc_s(tmp_path):
    path = data(tmp_path)
    write(path, NAMED)
    copy = tmp_path / "copy.bin"
    sh("cp", "-a", path, copy)
    refused(copy, "was not made by pslc")


def test_a_run_that_was_killed_leaves_a_file_that_has_to_be_named_again(tmp_path):
    path = data(tmp_path)
    (tmp_path / "long.fio").write_text("[w]\nrw=write\nbs=64k\nsize=1m\ntime_based\nruntime=60\n")
    words = ["run", "long.fio", "--on", "./data.bin", "--overwrite-file", "data.bin", "--json"]
    before = path.read_bytes()
    with forked.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        for _ in range(600):
            if path.read_bytes() != before:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
    # What was under way when it was killed holds the file a little longer.
    with path.open() as file:
        for _ in range(100):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                time.sleep(0.1)
    refused(path, "was not made by pslc")


@pytest.mark.skipif(reason() is not None, reason=str(reason()))
def test_a_file_system_without_attributes_holds_the_mark_in_a_block(tmp_path):
    point = tmp_path / "mount"
    point.mkdir()
    sh("mount", "-t", "ramfs", "none", point)
    try:
        path = data(point)
        with pytest.raises(OSError, match="not supported"):
            os.setxattr(path, "user.pslc", b"")
        refused(path, "was not made by pslc")
        whole = pslc.run("fill", on=str(path), real=NAMED, options=[("direct", "0")])
        assert whole.written_bytes == 7 * MB, "the last block is the mark, and requests are of 1 MiB"
        assert path.stat().st_size == 8 * MB
        write(path)
        shutil.copyfile(data(tmp_path), path)
        refused(path, "was not made by pslc")
        write(path, NAMED)
        os.utime(path)
        refused(path, "was not made by pslc")
    finally:
        sh("umount", "-l", point)


def test_a_file_with_several_names_is_never_overwritten(tmp_path):
    path = data(tmp_path)
    (tmp_path / "folder").mkdir()
    os.link(path, tmp_path / "folder" / "other")
    for real in (REUSE, NAMED):
        refused(path, r"has 2 names \(hard links\)", real)


def test_a_symbolic_link_out_of_its_folder_is_never_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    path = data(tmp_path / "folder", "thesis.doc")
    link = tmp_path / "data.bin"
    for to in ("folder/thesis.doc", path, "folder/../folder/thesis.doc"):
        link.unlink(missing_ok=True)
        link.symlink_to(to)
        for real in (REUSE, NAMED):
            refused(link, "is a symbolic link out of its folder", real)
    (tmp_path / "second").symlink_to(path)
    link.unlink()
    link.symlink_to("second")
    refused(link, "is a symbolic link out of its folder", NAMED)


def test_a_read_only_file_is_never_overwritten(tmp_path):
    path = data(tmp_path)
    path.chmod(0o400)
    for real in (REUSE, NAMED):
        refused(path, "is read-only", real)


def typed(answer: str, path: Path, *more: str) -> tuple[int, str]:
    """Exit code and terminal of a run whose question is answered so."""
    (path.parent / "job.fio").write_text(JOB)
    terminal, end = pty.openpty()
    words = ["run", "job.fio", "--on", "./" + path.name, "--reuse", "--no-report", *more]
    process = forked.Popen(words, cwd=path.parent, stdin=end, stdout=end, stderr=end)
    os.close(end)
    seen, answered = "", False
    while True:
        try:
            seen += os.read(terminal, 4096).decode(errors="replace")
        except OSError:
            break
        if not answered and "to lose what is in" in seen:
            answered = True
            os.write(terminal, (answer + "\n").encode())
    os.close(terminal)
    return process.wait(timeout=60), seen


def test_at_a_terminal_the_file_is_shown_and_only_yes_is_yes(tmp_path):
    path = data(tmp_path)
    before = path.read_bytes()
    for answer in ("", "y", "no", "YES", "yes please"):
        code, seen = typed(answer, path)
        assert code == 2, answer
        assert path.read_bytes() == before
        shown = " ".join(seen.split())
        assert "OVERWRITES" in shown
        assert "nothing was written" in shown
        assert "(8.39 MB, changed" in shown
        assert f"of user {os.geteuid()}" in shown
    code, seen = typed("yes", path)
    assert code == 0, seen
    assert path.read_bytes() != before


def test_a_name_that_is_not_the_file_s_is_an_error(tmp_path):
    path = data(tmp_path)
    refused(path, "is not the name of", RealOptions(overwrite_file="thesis.doc"))
    assert find_target(str(path), RealOptions(size=MB, overwrite_file="data.bin")).capacity_bytes == MB


PLACES = {
    "a disk that is not there": ("/dev/nosuchdisk", "is in /dev|is on devtmpfs"),
    "below /dev": ("/dev/pslc/../nosuchdisk", "no such folder|is in /dev|is on devtmpfs"),
    "/proc": ("/proc/scratch", "is on proc"),
    "/proc, its own": ("/proc/self/scratch", "is on proc"),
    "/sys": ("/sys/scratch", "is on sysfs"),
    "/sys, deeper": ("/sys/kernel/scratch", "is on sysfs"),
    "memory": ("/dev/mem", "is a character device|exists, and is"),
    "zeros": ("/dev/zero", "a character device"),
    "a terminal": ("/dev/tty", "a character device"),
    "the null device": ("/dev/null", "a character device"),
}


@pytest.mark.parametrize("place", PLACES)
def test_no_scratch_file_is_made_in_the_system_s_folders(place):
    path, what = PLACES[place]
    if place == "memory" and not os.path.exists(path):
        pytest.skip("this machine shows no /dev/mem")
    there = os.path.exists(path)
    with pytest.raises(pslc.PslcError, match=what):
        find_target(path, RealOptions(size=16 * MB))
    assert os.path.exists(path) == there


def test_a_link_to_the_system_s_folders_is_no_way_round(tmp_path):
    (tmp_path / "way").symlink_to("/dev")
    with pytest.raises(pslc.PslcError, match=r"is in /dev|is on devtmpfs"):
        find_target(str(tmp_path / "way" / "scratch.bin"), RealOptions(size=16 * MB))
    with pytest.raises(pslc.PslcError, match="is on sysfs"):
        find_target("/sys/kernel/uevent_seqnum", RealOptions(overwrite_file="uevent_seqnum"))


def test_what_is_neither_a_file_nor_a_drive_is_refused_by_its_kind(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(pslc.PslcError, match="a FIFO"):
        find_target(str(tmp_path / "fifo"), RealOptions(size=16 * MB))
    with pytest.raises(pslc.PslcError, match="is no regular file, but a FIFO"):
        find_target(str(tmp_path / "fifo"), REUSE)
    for path, what in (("/dev/zero", "a character device"), (str(tmp_path), "a folder")):
        with pytest.raises(pslc.PslcError, match=f"is no block device, but {what}"):
            find_target(path, RealOptions(destroy_data="1"))
        with pytest.raises(pslc.PslcError, match=f"is no regular file, but {what}"):
            find_target(path, REUSE)


@pytest.mark.skipif(reason() is not None, reason=str(reason()))
def test_a_folder_that_lets_nothing_go_is_refused_before_anything_is_written(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for flag, word in (("a", "append-only"), ("i", "immutable")):
        if subprocess.run(["chattr", f"+{flag}", folder], check=False, capture_output=True).returncode != 0:
            pytest.skip("this file system has no such marks")
        try:
            with pytest.raises(pslc.PslcError, match=f"is {word}"):
                find_target(str(folder / "scratch.bin"), RealOptions(size=16 * MB))
            assert list(folder.iterdir()) == []
        finally:
            sh("chattr", f"-{flag}", folder)


def test_a_file_in_memory_is_said_in_the_plan_and_warned():
    target = find_target("/dev/shm/pslc-test.bin", RealOptions(size=MB))
    if target.facts["file_system"]["type"] != "tmpfs":
        pytest.skip("/dev/shm is no tmpfs here")
    said = plan(target, [JOB], "job.fio", []).sentences
    assert any("tmpfs, which is memory and no drive" in line for line in said), said


@pytest.mark.parametrize(("kind", "what"), [("overlay", "overlay"), ("nfs4", "which another machine serves"),
                                            ("cifs", "which another machine serves"), ("fuse.sshfs", "fuse.sshfs"),
                                            ("ramfs", "memory")])  # fmt: skip
def test_a_file_system_that_is_no_drive_is_said_in_the_plan(kind, what, tmp_path):
    target = find_target(str(tmp_path / "x.bin"), RealOptions(size=MB))
    target.facts["file_system"] |= {"type": kind}
    said = plan(target, [JOB], "job.fio", []).sentences
    assert any(line.startswith("warning: the file is on") and what in line for line in said), said


TOO_LARGE = [
    *("18446744073709551616B", "18446744073709551615B", "9223372036854775808B", "1e30TB", "99999999999999999999TB"),
    *("9" * 98 + "TB", "9" * 5000 + "TB", "16777216TiB"),
]


@pytest.mark.parametrize("text", TOO_LARGE)
def test_a_size_that_no_file_can_have_is_an_error(text, command, tmp_path):
    with pytest.raises(pslc.PslcError, match=r"more than any file can hold|a number with a unit"):
        units.size(text, "--size")
    done = command.refused("run", "fill", "--on", "./x.bin", "--size", text)
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


FILES = {
    "global": "[global]\nfilename=/dev/sdz\nbs=64k\nrw=write\nsize=1m\n[a]\n[b]\nstonewall\n",
    "each": "[a]\nrw=write\nbs=64k\nsize=1m\nfilename=/dev/sdz\n[b]\nrw=write\nbs=64k\nsize=1m\nfilename = /dev/sdy\n",
    "one": "[a]\nrw=write\nbs=64k\nsize=1m\nfilename=/dev/sdz:/dev/sdx\n",
    "none": "[a]\nrw=write\nbs=64k\nsize=1m\n[b]\nstonewall\nrw=write\nbs=64k\nsize=1m\n",
}


@pytest.mark.parametrize("kind", FILES)
def test_the_command_that_is_said_names_the_target_and_nothing_else(kind, tmp_path):
    target = find_target(str(tmp_path / "scratch.bin"), RealOptions(size=16 * MB))
    line = plan(target, [FILES[kind]], "my.fio", []).fio
    assert "/dev/sd" not in line
    assert "my.fio" not in line, "fio would write where the file says"
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    (tmp_path / "here").mkdir()
    subprocess.run(["sh", "-c", line.replace("--ioengine=io_uring", "--ioengine=psync")], cwd=tmp_path / "here",
                   check=True, capture_output=True)  # fmt: skip
    assert list((tmp_path / "here").iterdir()) == []
    assert (tmp_path / "scratch.bin").stat().st_size >= MB
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "scratch.bin"]
