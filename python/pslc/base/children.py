"""The one place that makes child processes: programs of others, and Python for the workers of `pslc.base.workers`.

Nothing that lies in the current folder runs in a child, since anybody may have put it there: no module, and no program.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from subprocess import Popen as Popen

MAX_WAIT_S: Final = 1.0
"""Seconds to wait for a killed process: one that the kernel keeps, as on a hung drive, is left alone."""

PIPE: Final = -1
"""Value of `subprocess.PIPE`, whose module takes its time to import."""
SYSTEM: Final = () if sys.platform == "win32" else ("/usr/sbin", "/sbin")
"""Folders of programs for root, which an ordinary user's PATH lacks."""
DEVNULL: Final = -3
"""Value of `subprocess.DEVNULL`."""


class Ended(NamedTuple):
    """A program that has ended: its exit code, and what it wrote to stdout and stderr."""

    code: int
    out: bytes
    errors: bytes

    @property
    def text(self) -> str:
        """Text that it wrote to stdout."""
        return self.out.decode(errors="replace")


def find(name: str) -> str | None:
    """Absolute path of a program of PATH or the system's, or of one that is named with its folder; None if there is
    none. Folders of PATH that are not absolute lie in the current one, and do not count."""
    import shutil

    if os.path.dirname(name):
        return shutil.which(os.path.abspath(name))
    folders = [folder for folder in os.get_exec_path() if os.path.isabs(folder)]
    path = shutil.which(name, path=os.pathsep.join([*folders, *SYSTEM]))
    # Windows looks into the current folder first.
    return path if path is not None and os.path.isabs(path) else None


def python(*words: str) -> list[str]:
    """Command of this Python with these words; the current folder is not among the places that it imports from."""
    return [sys.executable, "-I" if sys.flags.isolated else "-P", *words]


def run(words: Sequence[str], timeout_s: float | None = None, stdin: IO[bytes] | None = None) -> Ended:
    """Run a program to its end.

    Raises:
        TimeoutError: it took longer than `timeout_s`, and was killed.
        OSError: it is not there, or cannot be started.
    """
    from subprocess import TimeoutExpired

    process = start(words, stdin=stdin, stdout=PIPE, stderr=PIPE)
    try:
        out, errors = process.communicate(timeout=timeout_s)
    except TimeoutExpired:
        raise TimeoutError(f"{words[0]} took longer than {timeout_s:g} s") from None
    finally:
        end(process)
    return Ended(process.returncode, out, errors)


def start(words: Sequence[str], *, own_group: bool = False, **options: Any) -> Popen[Any]:
    """Start a program.

    Args:
        own_group: what a terminal sends to all of its processes does not reach it.
        **options: of `subprocess.Popen`.

    Raises:
        OSError: it is not there, or cannot be started.
    """
    import subprocess

    program = find(words[0])
    if program is None:
        raise FileNotFoundError(f"there is no program {words[0]} on PATH")
    if own_group and sys.platform == "win32":
        options["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP
    elif own_group:
        options["start_new_session"] = True
    return subprocess.Popen([program, *words[1:]], **options)


def wait(process: Popen[Any], timeout_s: float | None = None) -> int:
    """The exit code of a process, once it has ended.

    Raises:
        TimeoutError: it has not, after so long.
    """
    from subprocess import TimeoutExpired

    try:
        return process.wait(timeout_s)
    except TimeoutExpired:
        raise TimeoutError(f"process {process.pid} has not ended for {timeout_s} s") from None


def end(process: Popen[Any]) -> None:
    """Kill a process that has not ended yet, and forget it."""
    if process.poll() is None:
        process.kill()
        with suppress(TimeoutError):
            wait(process, MAX_WAIT_S)


def end_group(process: Popen[Any]) -> None:
    """Ask a process that was started in a group of its own to end, and those that it started."""
    with suppress(ProcessLookupError):
        if sys.platform == "win32":
            # Its workers follow it.
            process.terminate()
        else:
            os.killpg(process.pid, signal.SIGTERM)
