"""Processes that tests started and that still run, found by a mark in their environment (Linux)."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import forkserver, resource_tracker
from pathlib import Path

MARK = "PSLC_TEST_RUN"
"""Variable that each process of a test run inherits; its value differs from run to run."""

END_WITHIN_S = 5.0
"""How long a process may take to end after the last test. Servers and workers that are told to end need some time."""

SETTLE_S = 0.2
"""A process just started has no environment until its program is loaded."""


def processes(variable: str, value: str, *, whole: bool = True) -> Iterator[tuple[int, str]]:
    """Process ID and command of each live process, but this one and its parents, that was started with this variable.

    Args:
        whole: whether the variable has to have this value, or to begin with it.
    """
    text = f"{variable}={value}".encode() + (b"\0" if whole else b"")
    own = _ancestors()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int(folder.name) not in own and text in b"\0" + (folder / "environ").read_bytes():
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                yield int(folder.name), command


def after_run(value: str) -> list[str]:
    """Process ID and command of what a run with this mark has left, once it had the time to end. Each is killed."""
    # In a run without workers, what serves multiprocessing lives as long as this process.
    for server in (forkserver._forkserver, resource_tracker._resource_tracker):
        with suppress(AttributeError, OSError):
            server._stop()
    time.sleep(SETTLE_S)
    deadline = time.monotonic() + END_WITHIN_S
    while (remaining := dict(processes(MARK, value))) and time.monotonic() < deadline:
        time.sleep(0.1)
    for pid in remaining:
        _kill(pid)
    return [f"{pid}: {command[:300]}" for pid, command in remaining.items()]


def end_those_of(test: str) -> None:
    """Kill what a test has started, with the process groups that are not this process's own."""
    time.sleep(SETTLE_S)
    for pid, _ in list(processes("PYTEST_CURRENT_TEST", f"{test} (", whole=False)):
        _kill(pid)


def _kill(pid: int) -> None:
    with suppress(OSError):
        if (group := os.getpgid(pid)) == pid:
            os.killpg(group, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)


def _ancestors() -> set[int]:
    pid, ancestors = os.getpid(), set()
    while pid > 1:
        ancestors.add(pid)
        with suppress(OSError):
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            continue
        break
    return ancestors
