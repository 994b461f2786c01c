"""What benches of the program share: what the system says that a process used, and the measured part of a page."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from resource import struct_rusage
from typing import IO, Final

BEGIN, END = "<!-- measured -->\n", "<!-- end of measured -->\n"
QUIET: Final = subprocess.DEVNULL


def used(command: Sequence[str], folder: str | None = None, out: IO[bytes] | int = QUIET) -> struct_rusage:
    """Run a program to its end: its processor time, and its peak of memory."""
    with subprocess.Popen(command, cwd=folder, stdout=out, stderr=QUIET) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return usage


def cpu_s(usage: struct_rusage) -> float:
    """Seconds of processor time."""
    return usage.ru_utime + usage.ru_stime


def write(page: Path, text: str) -> None:
    """Put a text into the measured part of a page."""
    before, _, rest = page.read_text().partition(BEGIN)
    page.write_text(before + BEGIN + text + END + rest.partition(END)[2])
