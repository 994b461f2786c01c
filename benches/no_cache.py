"""How often a cache is found where there is none: `python -m benches.no_cache 100`, into docs/accuracy/no_cache.md.

Real writes on this machine, each logged ten times a second and explained by the command that a user types: to memory,
to a loop device over memory, to the disk of this folder, and at a constant rate; alone, and beside programs that
compute, write and rest at random. The disk of this folder is taken to have no cache of cells, as a virtual one has.
"""

import mmap
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benches.log_cases import LogCase
from benches.logs import SURE, findings

MEMORY: Final = Path("/dev/shm")
KINDS: Final = ("memory", "loop device", "virtual disk", "constant rate")
TABLE: Final = Path("docs/accuracy/no_cache.md")
BLOCK: Final = 1 << 20
EVERY_S: Final = 0.1
LONGEST_S: Final = 3.0
MAX_BYTES: Final = 2 << 30
RATE: Final = 150e6


def rows(path: Path, rate: float | None) -> list[tuple[float, float]]:
    """Seconds and MB/s of each tenth of a second of a write with direct I/O where the file takes it."""
    flags = os.O_WRONLY | (0 if path.is_block_device() else os.O_CREAT)
    try:
        file = os.open(path, flags | os.O_DIRECT)
    except OSError:
        file = os.open(path, flags)
    block = mmap.mmap(-1, BLOCK)
    block.write(random.randbytes(BLOCK))
    size = os.lseek(file, 0, os.SEEK_END) or MAX_BYTES
    start = last = time.monotonic()
    table, written, before = [], 0, 0
    try:
        while written < size and last - start < LONGEST_S:
            written += os.pwrite(file, block, written)
            if rate is not None:
                time.sleep(max(written / rate - (time.monotonic() - start), 0.0))
            if (now := time.monotonic()) - last >= EVERY_S:
                table.append((now - start, (written - before) / (now - last) / 1e6))
                last, before = now, written
    finally:
        os.close(file)
    return table


def disturb(folder: Path, seed: int) -> None:
    """Compute, read and write at random until killed."""
    draw = random.Random(seed)
    while True:
        until = time.monotonic() + draw.expovariate(4)
        work = draw.choice(("compute", "write", "rest"))
        while time.monotonic() < until:
            if work == "compute":
                sum(range(10_000))
            elif work == "write":
                (folder / f"other-{seed}").write_bytes(random.randbytes(BLOCK))
            else:
                time.sleep(0.02)


@contextmanager
def _disturbed(folder: Path, seed: int, count: int) -> Iterator[None]:
    code = f"from benches.no_cache import disturb, Path; disturb(Path({str(folder)!r}), {{}})"
    programs = [[sys.executable, "-c", code.format(seed + index)] for index in range(count)]
    processes = [subprocess.Popen(program) for program in programs]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@contextmanager
def _place(kind: str, folder: Path) -> Iterator[Path]:
    """The file or device that a kind writes to."""
    if kind != "loop device":
        yield (MEMORY if kind == "memory" else folder) / f"pslc-no-cache-{os.getpid()}"
        return
    image = MEMORY / f"pslc-no-cache-{os.getpid()}"
    with image.open("wb") as file:
        file.truncate(MAX_BYTES)
    device = subprocess.run(["losetup", "-f", "--show", image], capture_output=True, text=True, check=True).stdout
    try:
        yield Path(device.strip())
    finally:
        subprocess.run(["losetup", "-d", device.strip()], check=True)
        image.unlink()


def case(kind: str, seed: int, programs: int) -> LogCase:
    """The log of a write."""
    with TemporaryDirectory(dir=".") as name, _place(kind, Path(name)) as path, _disturbed(Path(name), seed, programs):
        table = rows(path, RATE if kind == "constant rate" else None)
        if path.is_file():
            path.unlink()
    text = "seconds,MB/s\n" + "".join(f"{second:.2f},{speed:.1f}\n" for second, speed in table)
    return LogCase(kind, seed, {"log.csv": text}, [], MAX_BYTES, has_cache=False)


def main() -> None:
    """Print the table, and keep it."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    answers: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    for index in range(count):
        kind, programs = KINDS[index % len(KINDS)], index // len(KINDS) % 3
        document = findings(case(kind, index, programs))
        if not isinstance(document, str):
            is_slc = any(phase["cause"] == "pslc" and phase["confidence"] >= SURE for phase in document["phases"])
            row = (kind, "beside others" if programs else "alone")
            answers.setdefault(row, []).append((document["cache_bytes"] is not None, is_slc))
    lines = ["| written | machine | logs | an end named | SLC cache, without a doubt |", "|---|---|---|---|---|"]
    for (kind, how), given in sorted(answers.items()):
        ends, sure = (sum(column) for column in zip(*given, strict=True))
        lines.append(f"| {kind} | {how} | {len(given)} | {ends} | {sure} |")
    print("\n".join(lines))
    TABLE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
