"""Instructions of a simulated request, counted by callgrind: `make bench NAME=instructions`, which writes the table of
docs/speed/instructions.md. The noise of a machine hides a slower program; a count is the same on a loaded machine.

Each kind of work runs with two numbers of requests, and the difference is divided by theirs: neither start-up nor what
is done before is counted. `--check` counts two small kinds and fails where one takes more than its bound."""

import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benches import measured

ROOT: Final = Path(__file__).parent.parent
PROGRAM: Final = ROOT / "target/release/examples/instructions"
PAGE: Final = ROOT / "docs/speed/instructions.md"
PARTS: Final = 12
"""Source files that the table names, those of the most instructions; the rest is one row."""


@dataclass(frozen=True)
class Kind:
    """A kind of work of the driver, in words, and the two numbers of requests between which it is counted."""

    name: str
    words: str
    counts: tuple[int, int]


KINDS: Final = (
    Kind("fill-direct", "fill of 128 KiB into native cells", (20_000, 60_000)),
    Kind("fill-folding", "fill of 128 KiB that folds", (6_000, 24_000)),
    Kind("read-qd1", "random read, QD1", (100_000, 300_000)),
    Kind("read-qd32", "random read, QD32", (100_000, 300_000)),
    Kind("write-fresh", "random write, fresh drive", (100_000, 300_000)),
    Kind("write-waf5", "random write at WAF 5", (50_000, 150_000)),
    Kind("mixed-70-30", "70 % reads, 30 % writes", (100_000, 300_000)),
    Kind("trim", "random trim of 64 KiB", (50_000, 150_000)),
)

MAX_INSTRUCTIONS: Final = {"read-qd1": 807, "write-fresh": 804}
"""What a request of these kinds may take; 3 % above what it takes (docs/speed/instructions.md)."""


def costs(profile: str) -> Counter[str]:
    """Instructions by source file of a profile of callgrind's (its format is in valgrind's manual, section 'Callgrind
    Format Specification'): what is inlined counts where it was written, a call where it is executed."""
    names: dict[str, str] = {}
    sums: Counter[str] = Counter()
    file, is_call = "", False
    for line in profile.splitlines():
        if named := re.match(r"(fl|fi|fe|cfi|cfl)=\((\d+)\)(?: (.*))?", line):
            if named[3]:
                names[named[2]] = named[3]
            if not named[1].startswith("c"):
                file = names[named[2]]
        elif line.startswith("calls="):
            is_call = True
        elif re.match(r"[+*\d-]", line):
            if not is_call:
                sums[file] += int(line.split()[1])
            is_call = False
    return sums


def counted(name: str, count: int) -> Counter[str]:
    """Instructions by source file of a run of the driver."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "profile"
        options = ["--tool=callgrind", "--dump-instr=no", f"--callgrind-out-file={out}", "--quiet"]
        subprocess.run(["valgrind", *options, PROGRAM, name, str(count)], check=True, capture_output=True)
        return costs(out.read_text())


def per_request(kind: Kind) -> dict[str, float]:
    """Instructions of a request by source file."""
    low, high = kind.counts
    with ThreadPoolExecutor(2) as pool:
        before, after = pool.map(lambda count: counted(kind.name, count), kind.counts)
    return {file: (after[file] - before[file]) / (high - low) for file in after | before}


def part(file: str) -> str:
    """The name of a source file in the table: its path below crates/, or `libraries` for what is not ours."""
    _, ours, path = file.rpartition("crates/")
    return path.replace("/src/", "/") if ours and "/src/" in path and ".cargo" not in file else "libraries"


def by_part(files: dict[str, float]) -> dict[str, float]:
    """Instructions of a request by the names of the table."""
    sums: dict[str, float] = {}
    for file, count in files.items():
        sums[part(file)] = sums.get(part(file), 0.0) + count
    return sums


def table(columns: list[dict[str, float]]) -> str:
    """The table of the document: a row a part, a column a kind."""
    shares = [{name: count / sum(column.values()) for name, count in column.items()} for column in columns]
    names = {name for column in columns for name in column}
    rows = sorted(names, key=lambda name: -sum(share.get(name, 0.0) for share in shares))[:PARTS]
    lines = ["| instructions a request | " + " | ".join(kind.words for kind in KINDS) + " |"]
    lines.append("|---|" + "---:|" * len(KINDS))
    lines.append("| **all** | " + " | ".join(f"**{sum(column.values()):.0f}**" for column in columns) + " |")
    for name in rows:
        lines.append(f"| {name} | " + " | ".join(f"{column.get(name, 0.0):.0f}" for column in columns) + " |")
    rest = [sum(count for name, count in column.items() if name not in rows) for column in columns]
    lines.append("| others | " + " | ".join(f"{count:.0f}" for count in rest) + " |")
    return "\n".join(lines) + "\n"


def check() -> int:
    """Count the kinds that have a bound; returns 1 where one takes more."""
    exceeded = False
    for kind in (kind for kind in KINDS if kind.name in MAX_INSTRUCTIONS):
        took, bound = sum(per_request(kind).values()), MAX_INSTRUCTIONS[kind.name]
        print(f"{kind.words}: {took:.0f} instructions, at most {bound}")
        exceeded |= took > bound
    if exceeded:
        print("hint: `make bench NAME=instructions` says where; the bounds are in benches/instructions.py")
    return int(exceeded)


def main() -> None:
    """Write the table, or check the bounds, of the release build, as the wheel has it."""
    subprocess.run(
        ["cargo", "build", "--release", "--quiet", "-p", "pslc-load", "--example", "instructions"], check=True
    )
    if "--check" in sys.argv:
        sys.exit(check())
    columns = [by_part(per_request(kind)) for kind in KINDS]
    text = table(columns)
    print(text)
    measured.write(PAGE, text)


if __name__ == "__main__":
    main()
