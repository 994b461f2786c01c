"""Processor time of each suite on five drives: `make bench NAME=suites` writes the table of docs/speed/suites.md.

Each is a process of its own, whose time the system tells; a run of one request is what the program takes itself."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Final

from benches import measured
from pslc import suites

PAGE: Final = Path(__file__).parent.parent / "docs/speed/suites.md"
DRIVES: Final = ("pm871b-128gb", "mx500-1tb", "660p-1tb", "sn850-1tb", "aldrin-pro-2tb")
"""From SATA of 128 GB to PCIe 4.0 of 2 TB, one of them of QLC."""
OF_RECORDINGS: Final = "check"
"""The suite that tests what a recording says."""


def cost(suite: str, drive: str) -> tuple[float, float]:
    """Seconds of processor time of a suite on a drive, and bytes that it moved."""
    with tempfile.TemporaryFile() as out:
        command = [sys.executable, "-m", "pslc", "run", suite, "--on", f"sim:{drive}", "--json"]
        usage = measured.used(command, out=out.fileno())
        out.seek(0)
        document = json.load(out)
        return measured.cpu_s(usage), document["written_bytes"] + document["read_bytes"]


def main() -> None:
    """Write the table, the most expensive suite first, anew after each drive: what was interrupted says so."""
    names = [name for name in suites.names() if name != OF_RECORDINGS]
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for drive in DRIVES:
        for name in names:
            costs[name].append(cost(name, drive))
            print(drive, name, f"{costs[name][-1][0]:.1f} s", flush=True)
        _write(costs)


def _write(costs: dict[str, list[tuple[float, float]]]) -> None:
    """The table of the drives so far: seconds, and bytes moved."""
    count = len(next(iter(costs.values())))
    table = [f"| suite | {' | '.join(DRIVES[:count])} |", f"|---{'|---:' * count}|"]
    for name, row in sorted(costs.items(), key=lambda item: -sum(spent_s for spent_s, _ in item[1])):
        table.append(f"| {name} | {' | '.join(f'{spent_s:.1f} s, {moved / 1e9:.0f} GB' for spent_s, moved in row)} |")
    whole = " | ".join(f"{sum(row[at][0] for row in costs.values()):.0f} s" for at in range(count))
    measured.write(PAGE, "\n".join([*table, f"| all | {whole} |"]) + "\n")


if __name__ == "__main__":
    main()
