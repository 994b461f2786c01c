"""Processor time of each suite on one drive: `make bench NAME=suites`, which writes the table of docs/speed/suites.md.

Each is a process of its own, whose time the system tells; a run of one request is what the program takes itself."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Final

from benches import measured
from pslc import suites

PAGE: Final = Path(__file__).parent.parent / "docs/speed/suites.md"
DRIVE: Final = "sim:pm871b-128gb"
OF_RECORDINGS: Final = "check"
"""The suite that tests what a recording says."""


def cost(suite: str) -> tuple[float, dict[str, float]]:
    """Seconds of processor time of a suite, and its document."""
    with tempfile.TemporaryFile() as out:
        command = [sys.executable, "-m", "pslc", "run", suite, "--on", DRIVE, "--json"]
        usage = measured.used(command, out=out.fileno())
        out.seek(0)
        return measured.cpu_s(usage), json.load(out)


def main() -> None:
    """Write the table, the most expensive suite first, anew after each: what was interrupted says so."""
    names = [name for name in suites.names() if name != OF_RECORDINGS]
    rows: list[tuple[float, str]] = []
    for name in names:
        spent_s, document = cost(name)
        moved = document["written_bytes"] + document["read_bytes"]
        rows.append((spent_s, f"| {name} | {spent_s:.1f} s | {moved / 1e9:.0f} GB |"))
        print(rows[-1][1], flush=True)
        _write(f"On {DRIVE}, {len(rows)} of {len(names)} suites, {sum(spent for spent, _ in rows):.0f} s:", rows)


def _write(words: str, rows: list[tuple[float, str]]) -> None:
    table = [words, "", "| suite | processor time | moved |", "|---|---:|---:|"]
    table += [row for _, row in sorted(rows, reverse=True)]
    measured.write(PAGE, "\n".join(table) + "\n")


if __name__ == "__main__":
    main()
