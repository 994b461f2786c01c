"""A served drive under fio beside `pslc run` of the same job on the same drive: `make bench-serve`.

All figures are of the drive's clock: what fio measures at `--speed 0.1` is ten times as fast, and takes a tenth.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Thread

from pslc._native import SimDrive
from pslc.serving.server import Address, Server
from pslc.targets.target import open_simulated

DRIVE = "sim:pm871b-128gb"
SPEEDS = (1.0, 0.1)
SECONDS = 3
"""Of a job, on the wall's clock."""
FULL = "[fill]\nrw=write\nbs=1m\nioengine=libaio\niodepth=32\ndirect=1\nsize=8g\nend_fsync=1\n"
"""So that there is something to read."""
JOBS = {
    "write 1M QD8": "rw=write bs=1m iodepth=8",
    "read 1M QD8": "rw=read bs=1m iodepth=8",
    "randread 4k QD1": "rw=randread bs=4k iodepth=1",
    "randread 4k QD32": "rw=randread bs=4k iodepth=32",
    "randwrite 4k QD1": "rw=randwrite bs=4k iodepth=1",
    "randwrite 4k QD32": "rw=randwrite bs=4k iodepth=32",
}
PERCENTILES = ("50.000000", "99.000000", "99.900000")
NEAR = 0.05
NEAR_US = 60.0
"""Of a latency, on the wall's clock; the larger of both counts."""


def simulated(disk: Path, options: list[str], speed: float) -> tuple[float, float, list[float]]:
    """MB/s, IOPS, and latencies in microseconds of `pslc run`."""
    drive = SimDrive.open(str(disk))
    lines = [
        *options,
        f"runtime={SECONDS * speed * 1000:.0f}ms",
        "time_based",
        "ioengine=libaio",
        "direct=1",
        "size=4g",
    ]
    job = drive.run("[a]\n" + "\n".join(lines) + "\n", "bench", [], 0)["jobs"][0]
    drive.close()
    kind = "write" if job["write"]["total_ios"] else "read"
    of, seconds = job[kind], job["elapsed_ns"] / 1e9
    latencies = [of["lat_ns"]["percentile"][name] / 1e3 for name in PERCENTILES]
    return of["io_bytes"] / seconds / 1e6, of["total_ios"] / seconds, latencies


def served(disk: Path, options: list[str], speed: float) -> tuple[float, float, list[float], str]:
    """The same of fio on the served drive, and what `serve` says of the host."""
    with Server(str(disk), Address(disk.with_suffix(".sock")), data="none", speed=speed) as server:
        told: list[str] = []
        thread = Thread(target=server.run, args=(lambda state: told.append(state.too_slow or ""),))
        thread.start()
        command = ["fio", "--name=a", "--ioengine=nbd", f"--uri={server.address.uri}", "--output-format=json",
                   *(f"--{option}" for option in options), f"--runtime={SECONDS}s", "--time_based",
                   "--size=4g"]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        server.stop()
        thread.join()
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    of = job["write"] if job["write"]["total_ios"] else job["read"]
    latencies = [of["clat_ns"]["percentile"][name] / 1e3 * speed for name in PERCENTILES]
    return of["bw_bytes"] / 1e6 / speed, of["iops"] / speed, latencies, told[-1] if told else ""


def main() -> None:
    """Print the table."""
    if shutil.which("fio") is None:
        sys.exit("fio is missing: make test-tools")
    with tempfile.TemporaryDirectory() as folder:
        disk = Path(folder) / "disk.pslc"
        drive = open_simulated(DRIVE)
        drive.run(FULL, "bench", [], 0)
        drive.idle(600 * 10**9)
        drive.save(str(disk))
        drive.close()
        whole = disk.read_bytes()
        print(f"{DRIVE}: pslc run / fio on pslc serve; latencies at 50, 99 and 99.9 % in us\n")
        head = ("job", "speed", "MB/s", "IOPS", "50 %", "99 %", "99.9 %", "within", "the host")
        _row(head)
        for speed in SPEEDS:
            for name, words in JOBS.items():
                options = words.split()
                disk.write_bytes(whole)
                ours = simulated(disk, options, speed)
                disk.write_bytes(whole)
                *theirs, host = served(disk, options, speed)
                pairs = [(ours[0], theirs[0]), (ours[1], theirs[1]), *zip(ours[2], theirs[2], strict=True)]
                near = [abs(b - a) <= NEAR * a for a, b in pairs[:2]]
                near += [abs(b - a) <= max(NEAR * a, NEAR_US * speed) for a, b in pairs[2:]]
                shown = [f"{a:.0f} / {b:.0f}" for a, b in pairs]
                _row((name, f"{speed:g}", *shown, f"{sum(near)} of {len(near)}", host))


WIDTHS = (17, 5, 13, 15, 15, 15, 15, 6)


def _row(cells: tuple[str, ...]) -> None:
    print("  ".join(f"{cell:{width}}" for cell, width in zip(cells, (*WIDTHS, 0), strict=True)).rstrip(), flush=True)


if __name__ == "__main__":
    main()
