"""A served drive under fio beside `pslc run` of the same job on the same drive: `make bench NAME=serve`.

All figures are of the drive's clock: what fio measures at `--speed 0.1` is ten times as fast, and takes a tenth.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pslc._native import SimDrive
from pslc.device.target import open_simulated
from pslc.serving.listening import Address
from pslc.serving.server import Server
from pslc.serving.state import too_slow

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
PERCENTILES = (50.0, 99.0, 99.9)
NEAR = 0.05
NEAR_US = 60.0
"""Of a latency, on the wall's clock; the larger of both counts."""
AT_ONCE = 1e3
"""A speed at which no reply waits: what the server and this host can do."""
HEAD = ("job", "speed", "MB/s", "IOPS", "50 %", "99 %", "99.9 %", "within", "at once", "serve says")


@dataclass(frozen=True)
class Figures:
    """What a job came to: MB/s, IOPS, and latencies in microseconds."""

    megabytes: float
    iops: float
    latencies: list[float]


def simulated(disk: Path, options: list[str], speed: float) -> Figures:
    """Of `pslc run`."""
    drive = SimDrive.open(str(disk))
    rest = [f"runtime={SECONDS * speed * 1000:.0f}ms", "time_based", "ioengine=libaio", "direct=1", "size=4g"]
    job = drive.run("[a]\n" + "\n".join([*options, *rest]) + "\n", "bench", [], 0)["jobs"][0]
    drive.close()
    of, seconds = job["write" if job["write"]["total_ios"] else "read"], job["elapsed_ns"] / 1e9
    latencies = [of["lat_ns"]["percentile"][f"{of_all:.6f}"] / 1e3 for of_all in PERCENTILES]
    return Figures(of["io_bytes"] / seconds / 1e6, of["total_ios"] / seconds, latencies)


def fio(uri: str, options: list[str], speed: float, size: str, folder: Path) -> Figures:
    """Of fio on what is served at an address."""
    command = ["fio", "--name=a", "--ioengine=nbd", f"--uri={uri}", "--output-format=json", f"--size={size}",
               *(f"--{option}" for option in options), f"--runtime={SECONDS}s", "--time_based", "--write_lat_log=a",
               "--disable_lat=1", "--disable_slat=1"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    of = job["write"] if job["write"]["total_ios"] else job["read"]
    depth = int(next(option for option in options if option.startswith("iodepth")).partition("=")[2])
    took = [int(line.split(b",", 2)[1]) for line in (folder / "a_clat.1.log").read_bytes().splitlines()]
    # At its end fio's engine waits for the last requests all together, and takes each for as late as the last.
    latencies = np.percentile(took[:-depth] if len(took) > depth else took, PERCENTILES) / 1e3 * speed
    return Figures(of["bw_bytes"] / 1e6 / speed, of["iops"] / speed, latencies.tolist())


def served(disk: Path, options: list[str], speed: float, folder: Path) -> tuple[Figures, str]:
    """Of fio on the served drive, and what `serve` says of the host."""
    told: list[str] = []
    with Server(str(disk), Address(disk.with_suffix(".sock")), data="none", speed=speed) as server:
        recording = server.start(lambda status: told.append(too_slow(status) or ""), print)
        figures = fio(server.address.uri, options, speed, "4g", folder)
        server.stop()
        recording.result()
    return figures, told[-1] if told else ""


def main() -> None:
    """Print the table."""
    if shutil.which("fio") is None:
        sys.exit("fio is missing: make test-tools")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        disk = folder / "disk.pslc"
        drive = open_simulated(DRIVE)
        drive.run(FULL, "bench", [], 0)
        drive.idle(600 * 10**9)
        drive.save(str(disk))
        drive.close()
        whole = disk.read_bytes()
        print(f"{DRIVE}: `pslc run` / fio on `pslc serve`; latencies in us; {os.cpu_count()} processors, load "
              f"{os.getloadavg()[0]:.1f}. At once: fio on a drive that answers at once; **bold** where that is slower "
              "than the drive, and this host cannot do it.\n")  # fmt: skip
        _row(HEAD)
        _row(("---",) * len(HEAD))
        fastest = {job: served(disk, words.split(), AT_ONCE, folder)[0].iops * AT_ONCE for job, words in JOBS.items()}
        for speed in SPEEDS:
            for job, words in JOBS.items():
                options = words.split()
                disk.write_bytes(whole)
                ours = simulated(disk, options, speed)
                disk.write_bytes(whole)
                theirs, host = served(disk, options, speed, folder)
                pairs = [(ours.megabytes, theirs.megabytes), (ours.iops, theirs.iops)]
                near = [abs(b - a) <= NEAR * a for a, b in pairs]
                delays = list(zip(ours.latencies, theirs.latencies, strict=True))
                near += [abs(b - a) <= max(NEAR * a, NEAR_US * speed) for a, b in delays]
                shown = [f"{a:.0f} / {b:.0f}" for a, b in [*pairs, *delays]]
                can = fastest[job] / speed
                limit = f"{can:.0f} IOPS" if can >= ours.iops else f"**{can:.0f} IOPS**"
                _row((job, f"{speed:g}", *shown, f"{sum(near)} of {len(near)}", limit, host))


def _row(cells: tuple[str, ...]) -> None:
    print(f"| {' | '.join(cells)} |".replace("|  |", "| |"), flush=True)


if __name__ == "__main__":
    main()
