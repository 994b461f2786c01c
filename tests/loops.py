"""Loop devices for tests of the guard; they need root."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
    done = subprocess.run(["losetup", "-f"], capture_output=True, check=False)
    return None if done.returncode == 0 else "this machine has no loop devices"


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
