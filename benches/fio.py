"""Beside fio, on the same file: `make bench NAME=fio [ARGS=/mnt/ssd]`. Each test is made of pairs, a run of each
program directly after the other, in alternating order. A ratio is of the two runs of a pair; the table shows the median
of the ratios, with the lowest and the highest, since what the machine does besides weighs on both.

Where both make all requests from one thread they run on one CPU: a drive's interrupts may all come to one, and a thread
on another is woken later (52 instead of 43 us for a read in a virtual machine), wherever it happened to start.

Needs fio on the PATH, and 4 GB in that folder; it takes some eight minutes."""

import json
import os
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pslc._native import RealDrive, inspect_file

SIZE = 4 << 30
# Many short ones: what else the machine does comes and goes within seconds.
PAIRS = 35
TESTS = {
    "sequential 1 MiB write QD8": "rw=write bs=1m iodepth=8",
    "sequential 1 MiB read QD8": "rw=read bs=1m iodepth=8",
    "random 4 KiB write QD1": "rw=randwrite bs=4k iodepth=1",
    "random 4 KiB write QD32": "rw=randwrite bs=4k iodepth=32",
    "random 4 KiB read QD1": "rw=randread bs=4k iodepth=1",
    "random 4 KiB read QD1, 4 jobs": "rw=randread bs=4k iodepth=1 numjobs=4",
    "random 4 KiB read QD32": "rw=randread bs=4k iodepth=32",
    "random 4 KiB read QD8, 4 jobs": "rw=randread bs=4k iodepth=8 numjobs=4",
    "sequential 128 KiB read, page cache": "rw=read bs=128k ioengine=psync direct=0",
    "random 4 KiB read, page cache": "rw=randread bs=4k ioengine=psync direct=0",
}
COMMON = f"ioengine=io_uring direct=1 size={SIZE} time_based runtime=500ms norandommap group_reporting"
P99 = "99.000000"
CPUS = os.sched_getaffinity(0)


@dataclass(frozen=True)
class Measured:
    """One run."""

    iops: float
    p99_us: float
    cpu_us: float
    """Of a request."""


def by_fio(path: Path, words: str) -> Measured:
    """fio's run."""
    arguments = [f"--{word}" for word in f"{COMMON} {words}".split()]
    done = subprocess.run(
        [
            "fio",
            "--name=a",
            "--thread",
            f"--filename={path}",
            "--lat_percentiles=1",
            "--output-format=json",
            *arguments,
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    kind = max((job["read"], job["write"]), key=lambda kind: kind["total_ios"])
    cpu = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1000
    return Measured(kind["iops"], kind["lat_ns"]["percentile"][P99] / 1000, 1e6 * cpu / kind["total_ios"])


def by_pslc(path: Path, words: str, seed: int) -> Measured:
    """The same of our engine."""
    drive = RealDrive.existing(str(path), agreed=inspect_file(str(path))["identity"])
    text = "[a]\n" + "\n".join(f"{COMMON} {words}".split()) + "\n"
    done = drive.run(text, "bench", [], seed)
    job = done["jobs"][0]
    kind = max((job["read"], job["write"]), key=lambda kind: kind["total_ios"])
    # Of the thread that makes the requests, which is what fio counts as well.
    cpu = (job["usage"]["user_ns"] + job["usage"]["system_ns"]) / 1e9
    rate = kind["total_ios"] / (kind["runtime_ns"] / 1e9)
    return Measured(rate, kind["lat_ns"]["percentile"][P99] / 1000, 1e6 * cpu / kind["total_ios"])


def pair(path: Path, words: str, number: int) -> tuple[Measured, Measured]:
    """Ours and fio's, one directly after the other."""
    # Threads and programs that are started inherit it.
    os.sched_setaffinity(0, CPUS if "numjobs" in words else {max(CPUS)})
    if number % 2:
        theirs = by_fio(path, words)
        return by_pslc(path, words, number), theirs
    return by_pslc(path, words, number), by_fio(path, words)


def row(name: str, pairs: list[tuple[Measured, Measured]]) -> str:
    """Of the table: medians of each, and of the ratios in each pair, with the lowest and the highest."""

    def median(which: int, of: str) -> float:
        return float(statistics.median(getattr(measured[which], of) for measured in pairs))

    def ratio(of: str) -> str:
        found = [getattr(ours, of) / getattr(theirs, of) for ours, theirs in pairs]
        return f"**{statistics.median(found):.3f}** ({min(found):.2f} - {max(found):.2f})"

    cells = [name, f"{median(0, 'iops'):.0f}", f"{median(1, 'iops'):.0f}", ratio("iops")]
    cells += [f"{median(0, 'p99_us'):.0f}", f"{median(1, 'p99_us'):.0f}", ratio("p99_us")]
    cells += [f"{median(0, 'cpu_us'):.2f}", f"{median(1, 'cpu_us'):.2f}"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    if shutil.which("fio") is None:
        sys.exit("fio is missing. On Debian and Ubuntu: apt install fio")
    path = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "pslc-bench-fio.bin"
    try:
        subprocess.run(
            ["fio", "--name=lay", "--rw=write", "--bs=1m", f"--size={SIZE}", f"--filename={path}", "--end_fsync=1"],
            capture_output=True,
            check=True,
        )
        head = ["test", "IOPS: pslc", "fio", "ratio", "p99 us: pslc", "fio", "ratio", "CPU us each: pslc", "fio"]
        print(f"| {' | '.join(head)} |\n|---{'|---:' * (len(head) - 1)}|", flush=True)
        for name, words in TESTS.items():
            print(row(name, [pair(path, words, number) for number in range(PAIRS)]), flush=True)
    finally:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
