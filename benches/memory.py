"""Memory of simulated drives by kind of work: `make bench NAME=memory`, which writes the table of docs/speed/memory.md.

Each row is a process of its own, whose peak the system tells; a run of one request is what the program takes itself."""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benches import measured

PAGE: Final = Path(__file__).parent.parent / "docs/speed/memory.md"
QLC: Final = "sim:660p-1tb,capacity=3072GB,nand.dies=24"
LARGE: Final = (
    "sim:aldrin-pro-2tb,capacity=122.88TB,nand.channels=16,nand.dies=512,nand.blocks_per_plane=2550,"
    "ftl.map_unit=32KiB,cache.mode=pure-xlc"
)


@dataclass(frozen=True)
class Work:
    """A kind of work, its drive and that drive's size in TB, and the job."""

    words: str
    drive: str
    size_tb: float
    job: str


ONE: Final = Work("one request", "sim:sn850-1tb", 1.0, "rw=write\nbs=4k\nsize=4k\n")
WORKS: Final = (
    Work("fill", "sim:aldrin-pro-2tb", 2.0, "rw=write\nbs=1m\n"),
    Work("two fills", QLC, 3.072, "rw=write\nbs=1m\nloops=2\n"),
    Work("random writes of 64 KiB, all over it", "sim:sn850-1tb", 1.0, "rw=randwrite\nbs=64k\n"),
    Work("random writes of 4 KiB, in a tenth", "sim:sn850-1tb", 1.0, "rw=randwrite\nbs=4k\nsize=10%\nio_size=32g\n"),
    Work("fill, mapped in units of 32 KiB", LARGE, 122.88, "rw=write\nbs=1m\n"),
)


def taken(work: Work) -> tuple[int, float]:
    """Peak memory in bytes and processor time in seconds of a run."""
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job.fio"
        job.write_text(f"[a]\nioengine=io_uring\niodepth=32\n{work.job}")
        command = [sys.executable, "-m", "pslc", "run", str(job), "--on", work.drive, "--json"]
        usage = measured.used(command)
    return usage.ru_maxrss * 1024, measured.cpu_s(usage)


def main() -> None:
    """Write the table."""
    base, _ = taken(ONE)
    lines = [f"The program takes {base / 1e6:.0f} MB for one request; a row says what comes on top of that.", ""]
    lines += ["| work | drive | memory | a TB | processor time |", "|---|---:|---:|---:|---:|"]
    for work in WORKS:
        peak, seconds = taken(work)
        more = (peak - base) / 1e6
        each = more / work.size_tb
        lines.append(f"| {work.words} | {work.size_tb:g} TB | {more:.0f} MB | {each:.1f} MB | {seconds:.1f} s |")
    table = "\n".join(lines) + "\n"
    print(table)
    measured.write(PAGE, table)


if __name__ == "__main__":
    main()
