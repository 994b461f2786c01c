"""`pslc` as a process of its own that need not import anything: it is forked from one that has.

Most of a command's time is Python's start and its imports. What is tested of a process stays as it is: its folder, its
environment, its streams, its exit code. What is tested of its start (signals, closed streams, limits) runs the
executable itself.
"""

import atexit
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

_IMPORTED = (
    "pslc.cli", "pslc.runner.campaign", "pslc.report.page", "pslc.report.terminal", "pslc.failure", "pslc.opened",
    "pslc.formats", "pslc.findings.comparison", "numpy", "arro3.core", "arro3.io", "plotext", "jinja2", "rich.console",
    "rich.progress", "pslc.progress", "pslc.view", "numpy.ma", "pydantic.type_adapter", "pytest",
)  # fmt: skip
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(list(_IMPORTED))


def run(
    arguments: Sequence[str | Path],
    cwd: Path,
    environment: dict[str, str] | None = None,
    text: str = "",
    timeout: float = 600,
) -> subprocess.CompletedProcess[str]:
    """`pslc` with these words in this folder; `text` is its stdin, and a number below 0 the signal that ended it."""
    words = [str(word) for word in arguments]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "0").write_text(text)
        process = _processes.Process(target=_command, args=(words, str(cwd), environment or dict(os.environ), folder))
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(words, timeout)
        # What a program prints is bytes, which `text=True` would decode and whose line ends it would mend.
        said, talk = ((Path(folder) / name).read_text() for name in "12")
        return subprocess.CompletedProcess(["pslc", *words], process.exitcode, said, talk)


def _command(words: list[str], cwd: str, environment: dict[str, str], folder: str) -> None:
    for number, how in enumerate((os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)):
        opened = os.open(os.path.join(folder, str(number)), how)
        os.dup2(opened, number)
        os.close(opened)
    # Of the process that this one was forked from, whose streams were elsewhere.
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.argv = ["pslc", *words]
    from pslc.__main__ import main

    try:
        main()
    finally:
        # The end of a forked process is not that of Python.
        atexit._run_exitfuncs()
