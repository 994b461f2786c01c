"""What a command asks of the system, by strace."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest


def traced(command: Sequence[str | Path], calls: str, folder: Path, *options: str) -> tuple[str, str]:
    """Run a command in a folder. Strace's lines of these calls, each call in one of them, and what the command said."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    # Stopped at the calls that are asked for, and not at each of the thousands of Python's start.
    trace = ["strace", "-f", "--seccomp-bpf", *options, "-o", "calls", "-e", f"trace={calls}", *command]
    done = subprocess.run(trace, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return _joined((folder / "calls").read_text()), done.stdout


def _joined(lines: str) -> str:
    """Each call in one line, as strace writes those that no other thread interrupts: `name(arguments) = result`."""
    begun: dict[str, str] = {}
    found = []
    for line in lines.splitlines():
        thread = line.split(maxsplit=1)[0]
        if line.endswith("<unfinished ...>"):
            begun[thread] = line.removesuffix(" <unfinished ...>")
        elif rest := re.match(r"\d+ +(?:[\d.]+ )?<\.\.\. \w+ resumed>(.*)", line):
            found.append(begun.pop(thread, "") + rest[1])
        else:
            found.append(line)
    # The result of a short line, or of the end of a call, stands in a column of its own.
    return re.sub(r"\) {2,}= ", ") = ", "\n".join([*found, *begun.values()]))
