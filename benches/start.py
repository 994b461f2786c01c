"""Processor time of the shortest commands beside fio's: `make bench NAME=start`, which writes docs/speed/start.md.

All take turns in one sitting, so that a loaded machine slows them alike."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Final

from benches import measured

PAGE: Final = Path(__file__).parent.parent / "docs/speed/start.md"
PSLC: Final = str(Path(sys.executable).parent / "pslc")
RUN: Final = ("run", "one.fio", "--on", "sim:sn850-1tb")
COMMANDS: Final = {
    "fio, one request": ("fio", "--name=one", "--ioengine=null", "--rw=write", "--bs=4k", "--size=4k"),
    "pslc --help": (PSLC, "--help"),
    "pslc run --json": (PSLC, *RUN, "--json"),
    "pslc run": (PSLC, *RUN),
    "python -c pass": (sys.executable, "-c", "pass"),
}
ROUNDS: Final = 9
LARGEST: Final = 12
"""Packages that the table names; the rest is one row."""
TIMED: Final = """
import json, sys, time
from importlib.machinery import ExtensionFileLoader, SourceFileLoader
inner, spent = [], {}
def timed(loader):
    load = loader.exec_module
    def exec_module(self, module):
        began = time.process_time()
        inner.append(0.0)
        try:
            return load(self, module)
        finally:
            took, below = time.process_time() - began, inner.pop()
            if inner:
                inner[-1] += took
            spent[module.__name__] = took - below
    loader.exec_module = exec_module
timed(ExtensionFileLoader), timed(SourceFileLoader)
from pslc.__main__ import main
try:
    main()
except SystemExit:
    pass
print(json.dumps(spent), file=sys.stderr)
"""
"""A run of pslc that tells how long each of its modules took to import, without those that it imports."""


def cpu_ms(command: tuple[str, ...], folder: str) -> float:
    """Milliseconds of processor time of a command."""
    return 1e3 * measured.cpu_s(measured.used(command, folder))


def imports_ms(arguments: tuple[str, ...], folder: str) -> dict[str, float]:
    """Milliseconds of the imports of a run of pslc by package, pslc's own by room; the median of all rounds."""
    rounds: list[dict[str, float]] = []
    for _ in range(ROUNDS):
        done = subprocess.run([sys.executable, "-c", TIMED, *arguments], cwd=folder, capture_output=True, check=True)
        sums: dict[str, float] = {}
        for name, spent in json.loads(done.stderr.splitlines()[-1]).items():
            package = ".".join(name.split(".")[: 2 if name.startswith("pslc.") else 1])
            sums[package] = sums.get(package, 0.0) + 1e3 * spent
        rounds.append(sums)
    return {name: median(each.get(name, 0.0) for each in rounds) for name in rounds[0]}


def main() -> None:
    """Write the tables."""
    # Compiled modules are kept, as an installed pslc has them.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "one.fio").write_text("[one]\nioengine=io_uring\nrw=write\nbs=4k\nsize=4k\n")
        [cpu_ms(command, folder) for command in COMMANDS.values()]
        turns = [{name: cpu_ms(command, folder) for name, command in COMMANDS.items()} for _ in range(ROUNDS)]
        by_package = imports_ms((*RUN, "--json"), folder)
    medians = {name: median(turn[name] for turn in turns) for name in COMMANDS}
    fio_ms = medians["fio, one request"]
    lines = ["| command | processor time | beside fio |", "|---|---:|---:|"]
    lines += [f"| {name} | {ms:.0f} ms | {ms / fio_ms:.1f} |" for name, ms in medians.items()]
    lines += ["", "| imports of `pslc run --json` | processor time |", "|---|---:|"]
    ordered = sorted(by_package.items(), key=lambda each: -each[1])
    lines += [f"| {name} | {ms:.0f} ms |" for name, ms in ordered[:LARGEST]]
    lines.append(f"| {len(ordered) - LARGEST} others | {sum(ms for _, ms in ordered[LARGEST:]):.0f} ms |")
    table = "\n".join(lines) + "\n"
    print(table)
    measured.write(PAGE, table)


if __name__ == "__main__":
    main()
