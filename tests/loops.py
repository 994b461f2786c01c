"""Loop devices for tests of the guard; they need root."""

import errno
import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

MB = 1 << 20


def sh(*words: object, **more) -> str:
    """Run a program; its output."""
    return subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=True, **more
    ).stdout.strip()


def reason() -> str | None:
    """Why there are no loop devices here."""
    if os.geteuid() != 0:
        return "loop devices need root"
    if shutil.which("losetup") is None:
        return "losetup is not installed"
    _detach_the_dead()
    done = subprocess.run(["losetup", "-f"], capture_output=True, check=False)
    return None if done.returncode == 0 else "this machine has no loop devices"


def _detach_the_dead() -> None:
    """What a killed run left over a FUSE file whose server is gone: `mkfs.btrfs` refuses any device beside one."""
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        with suppress(OSError):
            path = backing.read_text().rstrip("\n")
            try:
                os.stat(path)
            except OSError as error:
                if error.errno == errno.ENOTCONN:
                    device = f"/dev/{backing.parent.parent.name}"
                    for words in (["umount", "-l", device], ["losetup", "-d", device], ["umount", "-l", path]):
                        subprocess.run(words, capture_output=True, check=False)


class Loop:
    """A loop device over an image; its serial number is the path of the image."""

    def __init__(self, image: Path) -> None:
        self.image = image
        self.path = sh("losetup", "-f", "--show", image)

    def hash(self) -> str:
        """Of everything on it."""
        sh("blockdev", "--flushbufs", self.path)
        with open(self.path, "rb") as device:
            return hashlib.file_digest(device, "sha256").hexdigest()


@contextmanager
def loop_over(image: Path) -> Iterator[Loop]:
    """A loop device, as long as it is needed."""
    made = Loop(image)
    try:
        yield made
    finally:
        subprocess.run(["losetup", "-d", made.path], check=False)


def noise(image: Path, size: int = 64 * MB) -> Path:
    """A drive with data but no label: nothing in the first and the last MiB."""
    image.write_bytes(hashlib.sha256(b"seed").digest() * (size // 32))
    with image.open("r+b") as file:
        file.write(b"\0" * MB)
        file.seek(-MB, os.SEEK_END)
        file.write(b"\0" * MB)
    return image


@contextmanager
def mounted(what: object, point: Path, *options: str) -> Iterator[Path]:
    """A file system at a folder of its own, as long as it is needed."""
    point.mkdir()
    sh("mount", *options, what, point)
    try:
        yield point
    finally:
        for _ in range(20):
            with suppress(subprocess.CalledProcessError):
                sh("umount", point)
                break
            time.sleep(0.2)


def ext4(path: object, *options: str) -> None:
    """An ext4 file system there; the test is skipped where no program makes one."""
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("mkfs.ext4 is not installed")
    sh("mkfs.ext4", "-q", "-F", *options, path)
