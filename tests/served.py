"""A drive that is served for a test, by the command as users run it."""

import json
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tests import forked
from tests.forked import eventually

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
"""Where Debian's programs, and Debian's Python with its libnbd, are."""


def has(*programs: str) -> bool:
    """Whether Debian's programs are all there."""
    return all(shutil.which(program, path=PATH) for program in programs)


@dataclass
class Served:
    """What a test sees of it."""

    process: subprocess.Popen[str]
    uri: str
    folder: Path

    def connect(self) -> socket.socket:
        """Connect as a program that has its own ideas of the protocol."""
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(20)
        client.connect(self.socket)
        return client

    @property
    def socket(self) -> str:
        return unquote(self.uri.partition("socket=")[2])

    def tool(self, *command: str, ok: bool = True) -> str:
        """Run a program of Debian's on it; its output."""
        done = subprocess.run(command, capture_output=True, text=True, env={"PATH": PATH, "HOME": "/root"},
                              timeout=120, cwd=self.folder, check=False)  # fmt: skip
        assert not ok or done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout + done.stderr

    def nbdsh(self, *lines: str) -> str:
        """Run lines in nbdsh, connected as `h`."""
        return self.tool("nbdsh", "-u", self.uri, *(word for line in lines for word in ("-c", line)))

    def end(self, sent: signal.Signals = signal.SIGINT) -> tuple[str, str]:
        """End it; what it said."""
        self.process.send_signal(sent)
        return self.process.communicate(timeout=60)

    def recording(self) -> dict[str, Any]:
        """The document of what was served."""
        document: dict[str, Any] = json.loads((self.folder / "run" / "run.json").read_text())
        return document

    @contextmanager
    def file_system(self) -> Iterator[subprocess.Popen[bytes]]:
        """A new ext4 on it, mounted at `at` through FUSE; the process of nbdfuse."""
        (self.folder / "at").mkdir()
        (self.folder / "file").write_bytes(b"")
        fuse = subprocess.Popen(["nbdfuse", str(self.folder / "file"), self.uri], env={"PATH": PATH})
        loop = ""
        try:
            eventually(lambda: (self.folder / "file").stat().st_size == 8_000_000_000)
            self.tool("mkfs.ext4", "-q", "-F", "file")
            loop = self.tool("losetup", "--find", "--show", "file").strip()
            self.tool("mount", loop, "at")
            yield fuse
        finally:
            self.tool("umount", "at", ok=False)
            if loop:
                self.tool("losetup", "-d", loop, ok=False)
            self.tool("fusermount3", "-u", "file", ok=False)
            fuse.wait(timeout=30)


@contextmanager
def served(folder: Path, drive: str, *options: str) -> Iterator[Served]:
    """`pslc serve drive`, until the end of the block; the recording goes to `run`."""
    command = ["serve", drive, "--save", "run", "--no-report", *options]
    shutil.rmtree(folder / "run", ignore_errors=True)
    process = forked.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout is not None
        uri = process.stdout.readline().strip()
        if not uri:
            raise AssertionError(process.communicate()[1])
        yield Served(process, uri, folder)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
