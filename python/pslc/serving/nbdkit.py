"""A process of nbdkit with our plugin."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import IO, Final

from pslc.base.errors import TargetError
from pslc.serving.listening import Listener

PLUGIN: Final = Path(__file__).parent.parent / "nbdkit-pslc-plugin.so"
OLDEST: Final = (1, 30)
"""nbdkit's version from which it tells clients our block size."""
THREADS: Final = 72
"""Threads for each connection: 64 requests are under way at once, and some are read or answered."""
CLIENTS: Final = 200
"""Connections at once. Each has its threads, of which a small machine's kernel gives 32768 to all programs."""
BLOCK_SIZES: Final = {"minimum": "512", "preferred": "4096", "maximum": "32M", "error-policy": "error"}
LAST_LINES: Final = 3
"""Number of nbdkit's last messages that are shown after it died."""
CONSEQUENCE: Final = "error: aborting sleep because of"
"""Message of each nbdkit thread when it has to end, whatever the cause."""
MAX_END_S: Final = 600.0
"""Time limit in seconds for nbdkit to save a drive at its end; the largest take minutes on a slow disk."""
FIRST_FREE: Final = 10
"""Descriptors below are the shell's."""
# It listens on descriptor 3, as systemd hands sockets over (sd_listen_fds(3)), which asks for its own number.
SHELL: Final = 'exec 3<&0 </dev/null; export LISTEN_FDS=1 LISTEN_PID=$$; exec "$@"'


def _moved_up(descriptor: int) -> int:
    """Another one for the same, beyond those of the shell."""
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE)


class Nbdkit:
    """A running nbdkit with pslc's plugin, which serves on `listener` and ends when this process does.

    Raises:
        PslcError: it does not start.
        KeyboardInterrupt: it is not wanted any more.
    """

    def __init__(self, program: str, listener: Listener, settings: Mapping[str, str], options: Sequence[str],
                 descriptors: Mapping[str, int], wanted: Callable[[], bool]) -> None:  # fmt: skip
        """`settings` are the plugin's, `descriptors` those of its settings that are open files; `options` are the
        user's. It is given up where it is not `wanted` any more before it is ready."""
        self._messages: deque[str] = deque(maxlen=20)
        self._kept = ExitStack()
        self._tells, tell = os.pipe()
        end, self._end = os.pipe()
        for mine in (self._tells, self._end):
            self._kept.callback(os.close, mine)
        theirs = {"tell": tell, "end": end, **descriptors}
        given = {name: _moved_up(fd) for name, fd in theirs.items()}
        os.close(tell)
        os.close(end)
        words = dict(settings) | {name: str(fd) for name, fd in given.items() if name != "lock"}
        command = _command(program, words, options)
        self.began = monotonic()
        try:
            # Ctrl-C is ours: nbdkit in a group of its own does not hear it.
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", SHELL, "sh", *command], stdin=listener.fileno(), stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True, errors="replace", pass_fds=tuple(given.values()),
                start_new_session=True,
            )  # fmt: skip
        finally:
            for fd in given.values():
                os.close(fd)
        assert self._process.stderr is not None
        self._reader = Thread(target=self._listen, args=(self._process.stderr,), daemon=True)
        self._reader.start()
        self._lines = self._tail()
        self.first = next((line for line in self._lines if line is not None or not wanted()), None)
        if self.first is None:
            self.end()
            if not wanted():
                raise KeyboardInterrupt
            raise TargetError(
                f"nbdkit does not start: {self.why}", f"see nbdkit(1); the command was {' '.join(command)}"
            )

    def lines(self) -> Iterator[str | None]:
        """Lines of JSON that the plugin writes several times a second, until it ends; None when nothing came for a
        while."""
        return self._lines

    def terminate(self) -> None:
        """Take no more requests, and end once nobody is connected; the plugin waits five seconds for that."""
        if self._process.poll() is None:
            self._process.terminate()

    def hurry(self) -> None:
        """After `terminate`: wait for nobody."""
        with suppress(OSError):
            os.write(self._end, b".")

    def kill(self) -> None:
        """End it at once: for the drive that is a loss of power."""
        if self._process.poll() is None:
            self._process.kill()

    def wait(self, timeout_s: float | None = None) -> int:
        """Wait until nbdkit has ended, and return its exit code."""
        code = self._process.wait(timeout_s)
        self._reader.join(1)
        return code

    def end(self) -> None:
        """End it if it has not ended, and forget it."""
        self.terminate()
        self.hurry()
        try:
            self.wait(MAX_END_S)
        except subprocess.TimeoutExpired:
            self.kill()
            self.wait()
        self._kept.close()

    @property
    def why(self) -> str:
        """Reason why nbdkit ended."""
        code = self._process.returncode
        if code < 0:
            return f"it was killed ({signal.Signals(-code).name})"
        errors = [line for line in self._messages if line.startswith(("nbdkit:", "pslc:"))]
        if not errors:
            return f"exit code {code}"
        return errors[-1].removeprefix("nbdkit: ").removeprefix("pslc: ").removeprefix("error: ")

    @property
    def last_lines(self) -> list[str]:
        """The last that it said, for people."""
        return list(self._messages)[-LAST_LINES:]

    @property
    def warnings(self) -> list[str]:
        """Warnings that the plugin printed."""
        return [line.removeprefix("pslc: ") for line in self._messages if line.startswith("pslc: ")]

    def _tail(self) -> Iterator[str | None]:
        rest = b""
        while True:
            if not select.select([self._tells], [], [], 0.25)[0]:
                yield None
                continue
            part = os.read(self._tells, 1 << 16)
            if not part:
                return
            *lines, rest = (rest + part).split(b"\n")
            yield from (line.decode() for line in lines)

    def _listen(self, errors: IO[str]) -> None:
        for line in errors:
            if line.strip() and CONSEQUENCE not in line:
                self._messages.append(line.rstrip())


def _command(program: str, settings: Mapping[str, str], options: Sequence[str]) -> list[str]:
    words = {f"blocksize-{name}": value for name, value in BLOCK_SIZES.items()} | {"limit": str(CLIENTS)}
    command = [program, "--exit-with-parent", "--foreground", f"--threads={THREADS}"]
    command += ["--filter=limit", "--filter=blocksize-policy", "--filter=exportname"]
    command += [option for option in options if option.startswith("-")]
    command += [str(PLUGIN), *(f"{name}={value}" for name, value in (words | dict(settings)).items())]
    return [*command, *(option for option in options if not option.startswith("-"))]


def program() -> str:
    """nbdkit, of a version that will do.

    Raises:
        PslcError: there is none, or the plugin is not built.
    """
    path = shutil.which("nbdkit")
    install = "apt install nbdkit (Debian, Ubuntu), dnf install nbdkit (Fedora), zypper install nbdkit (openSUSE)"
    if path is None:
        raise TargetError("pslc serve needs nbdkit, which is not installed", install)
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.split()
    numbers = tuple(int(part) for part in version[1].split(".")[:2] if part.isdigit()) if len(version) > 1 else ()
    if numbers < OLDEST:
        raise TargetError(
            f"nbdkit has version {version[1] if len(version) > 1 else 'unknown'}",
            f"pslc needs 1.30 or later: {install}",
        )
    if not PLUGIN.exists():
        raise TargetError(f"{PLUGIN.name} is missing", "make build builds it, on Linux")
    return path
