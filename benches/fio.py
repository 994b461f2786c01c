"""Beside fio, on the same file in one run: `make bench-fio [FOLDER=/mnt/ssd]`. Five pairs a test, in alternating order:
IOPS, CPU time for each request, and the ratio of the medians. Needs fio on the PATH, and 4 GB in FOLDER."""

import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from pslc._native import RealDrive, inspect_file

SIZE = 4 << 30
PAIRS = 5
SECONDS = 3
TESTS = {
    "sequential 1 MiB write QD8": "rw=write bs=1m iodepth=8",
    "sequential 1 MiB read QD8": "rw=read bs=1m iodepth=8",
    "random 4 KiB write QD1": "rw=randwrite bs=4k iodepth=1",
    "random 4 KiB write QD32": "rw=randwrite bs=4k iodepth=32",
    "random 4 KiB read QD1": "rw=randread bs=4k iodepth=1",
    "random 4 KiB read QD32": "rw=randread bs=4k iodepth=32",
}
COMMON = f"direct=1 size={SIZE} time_based runtime={SECONDS} norandommap"


def by_fio(path: Path, words: str) -> tuple[float, float]:
    """Requests a second and CPU microseconds a request."""
    arguments = [f"--{word}" for word in f"{words} {COMMON}".split()]
    done = subprocess.run(
        [
            "fio",
            "--name=a",
            "--ioengine=io_uring",
            "--thread",
            f"--filename={path}",
            "--output-format=json",
            *arguments,
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    requests = job["read"]["total_ios"] + job["write"]["total_ios"]
    cpu = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1000
    return job["read"]["iops"] + job["write"]["iops"], 1e6 * cpu / requests


def by_pslc(path: Path, words: str, seed: int) -> tuple[float, float]:
    """The same of our engine."""
    drive = RealDrive.existing(str(path), agreed=inspect_file(str(path))["identity"])
    text = "[a]\nioengine=io_uring\n" + "\n".join(f"{words} {COMMON}".split()) + "\n"
    done = drive.run(text, "bench", [], seed)
    job = done["jobs"][0]
    requests = job["read"]["total_ios"] + job["write"]["total_ios"]
    cpu = (done["totals"]["cpu_ns_total"] - done["before"]["cpu_ns_total"]) / 1e9
    return requests / (done["drive_time_ns"] / 1e9), 1e6 * cpu / requests


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
        print(f"{'':28}  {'IOPS: pslc':>10}  {'fio':>8}  {'ratio':>6}  {'CPU us: pslc':>12}  {'fio':>6}")
        for name, words in TESTS.items():
            ours, theirs = [], []
            for pair in range(PAIRS):
                order = (0, 1) if pair % 2 == 0 else (1, 0)
                for which in order:
                    if which == 0:
                        ours.append(by_pslc(path, words, pair))
                    else:
                        theirs.append(by_fio(path, words))
            rate, cpu = (statistics.median(column) for column in zip(*ours, strict=True))
            fio_rate, fio_cpu = (statistics.median(column) for column in zip(*theirs, strict=True))
            print(f"{name:28}  {rate:10.0f}  {fio_rate:8.0f}  {rate / fio_rate:6.3f}  {cpu:12.2f}  {fio_cpu:6.2f}")
    finally:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
