"""`pslc` as a process of its own that need not import anything: it is forked from one that has.

Most of a command's time is Python's start and its imports. What is tested of a process stays as it is: its folder, its
environment, its streams, its signals, its exit code. What is tested of its start (closed streams, limits, the first
moments) runs the executable itself.
"""

import atexit
import multiprocessing
import os
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Sequence
from multiprocessing import reduction
from pathlib import Path
from typing import Any

_IMPORTED = (
    "pslc.cli", "pslc.runner.campaign", "pslc.report.page", "pslc.report.terminal", "pslc.base.failure",
    "pslc.runner.load", "pslc.formats", "pslc.recording.comparison", "numpy", "arro3.core", "arro3.io",
    "jinja2", "rich.console", "rich.progress", "pslc.cli._progress", "pslc.report.recording_view", "numpy.ma",
    "pydantic.type_adapter", "pydantic.fields", "pytest",
)  # fmt: skip
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(list(_IMPORTED))


_running: "weakref.WeakKeyDictionary[Popen, str]" = weakref.WeakKeyDictionary()
"""Processes with the test that started each: their environment is that of the process they were forked from."""


class Popen(subprocess.Popen[str]):
    """`subprocess.Popen` of `pslc` with these words, always with text; of its options those of folder, environment and
    streams."""

    def __init__(self, words: Sequence[str | Path], **options: Any) -> None:
        super().__init__(["pslc", *map(str, words)], text=True, **options)

    def _execute_child(self, args: list[str], *how: Any) -> None:
        cwd, env = how[4:6]
        read_in, write_in, read_out, write_out, read_err, write_err = how[9:15]
        streams = [_Stream(fd) for fd in (read_in, write_out, write_err)]
        given = (args, os.path.abspath(cwd or "."), dict(env or os.environ), streams)
        self._process = _processes.Process(target=_command, args=given)
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid
        _running[self] = os.environ.get("PYTEST_CURRENT_TEST", "")
        self._child_created = True
        # The child's ends of pipes that are ours; a file, or a pipe to both streams, is whose it was.
        for ours, its in ((write_in, read_in), (read_out, write_out), (read_err, write_err)):
            if ours != -1 and its != -1:
                os.close(its)

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None:
            self.returncode = self._process.exitcode
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        self._process.join(timeout)
        if self._internal_poll() is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return self.returncode


def eventually(true: Callable[[], Any], within_s: float = 60.0, process: subprocess.Popen[str] | None = None) -> None:
    """Wait until something is true, while this process goes on."""
    end = time.monotonic() + within_s
    while not true():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < end, f"it did not come true within {within_s:g} s"
        time.sleep(0.02)


def end_those_of(test: str) -> None:
    """Kill what a test has started and not ended."""
    for process, name in list(_running.items()):
        if name.startswith(f"{test} (") and process.poll() is None:
            process.kill()


def run(
    arguments: Sequence[str | Path],
    cwd: Path,
    environment: dict[str, str] | None = None,
    text: str = "",
    timeout: float = 600,
) -> subprocess.CompletedProcess[str]:
    """`pslc` with these words in this folder; `text` is its stdin, and a number below 0 the signal that ended it."""
    pipe = subprocess.PIPE
    with Popen(arguments, cwd=cwd, env=environment, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            said, talk = process.communicate(text, timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, said, talk)


class _Stream:
    """A file descriptor on its way to another process."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __getstate__(self) -> Any:
        return (reduction.DupFd(self.fd) if self.fd != -1 else None,)

    def __setstate__(self, state: Any) -> None:
        self.fd = state[0].detach() if state[0] is not None else -1


def _command(args: list[str], cwd: str, environment: dict[str, str], streams: Sequence[_Stream]) -> None:
    for number, stream in enumerate(streams):
        if stream.fd != -1:
            os.dup2(stream.fd, number)
    for fd in {stream.fd for stream in streams} - {-1}:
        os.close(fd)
    # Of the process that this one was forked from, whose streams were elsewhere.
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.argv = args
    from pslc.__main__ import main

    try:
        main()
    finally:
        # The end of a forked process is not that of Python.
        atexit._run_exitfuncs()
