"""What a point of a study costs beside its simulation, what 10 000 would, and what a shared beginning saves:
docs/scale.md, by `make bench NAME=studies`.

Beside the simulation is processor time, which other work on the machine changes little; hours and the gain of a second
process are by the clock, of a machine that does nothing else."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benches import measured
from pslc.device.region import Scope, find_region
from pslc.device.target import find_target, open_simulated
from pslc.studies.points import Study
from pslc.studies.workers import Task, measure
from pslc.suites import expected

PAGE: Final = Path(__file__).parent.parent / "docs" / "scale.md"
DRIVE: Final = "sim:aldrin-pro-2tb"
FEW, MANY = 2, 26
"""Points of two studies: what they differ by is the cost of the points between them, without the start."""
TIMES: Final = 8
AIM_SHARE, AIM_POINTS, AIM_MINUTES, AIM_BYTES = 10, 10_000, 30, 3e9
FULL: Final = "sim:sn850-1tb"
JOB: Final = "[random]\nrw=randwrite\nbs=4k\niodepth=16\nioengine=libaio\nnorandommap\nsize=100%\nio_size=1g\n"


@dataclass(frozen=True)
class Spent:
    """What a study took: seconds of processors, by the clock, and the most memory of one of its processes in bytes."""

    processor: float
    clock: float
    peak: float


def spent(points: int, workers: int) -> Spent:
    """Of a study of that many fills."""
    seeds = ",".join(map(str, range(points)))
    with tempfile.TemporaryDirectory() as folder:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        command = [str(Path(sys.executable).parent / "pslc"), "study", "--run", "fill", "--on", DRIVE]
        # Each seed is a drive of its own name, so that no point begins as another does.
        command += ["--vary", f"name={seeds}", "--workers", str(workers), "--save", f"{folder}/kept", "--json"]
        subprocess.run(command, check=True, capture_output=True)
        after, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(seconds, clock, after.ru_maxrss * 1024.0)


def seconds(does: Callable[[int], object]) -> float:
    """Processor seconds of one of `TIMES` calls, after a first that is not counted."""
    does(-1)
    began = time.process_time()
    for number in range(TIMES):
        does(number)
    return (time.process_time() - began) / TIMES


def simulation() -> float:
    """Processor seconds of the simulation of a fill alone."""
    text = expected("fill", find_region(find_target(DRIVE), Scope()))[0]
    return seconds(lambda seed: open_simulated(DRIVE).run(text, "fill.fio", [], abs(seed)))


def begun(folder: Path) -> tuple[float, float]:
    """Processor seconds a point of random writes on a full drive that each makes, and that one makes for all."""
    job = folder / "random.fio"
    job.write_text(JOB)
    said = {"on": FULL, "run": str(job), "fill_first": "100%", "seed": list(range(TIMES + 1))}
    points = Study.of(said).points()
    return seconds(lambda at: measure(Task(points[at]))), seconds(lambda at: measure(Task(points[at], True)))


def main() -> None:
    """Measure, and put the table into docs/scale.md."""
    pure = simulation()
    lines = [
        "| workers | processor time a point | beside the simulation | by the clock | start | memory a process |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    costs = {}
    for workers in (1, 2):
        few, many = spent(FEW, workers), spent(MANY, workers)
        point = (many.processor - few.processor) / (MANY - FEW)
        clock = (many.clock - few.clock) / (MANY - FEW)
        costs[workers] = point, clock, many.peak
        beside = f"{100 * (point / pure - 1):+.0f} %"
        start = few.processor - FEW * point
        row = f"| {workers} | {point:.2f} s | {beside} | {clock:.2f} s | {start:.1f} s | {many.peak / 1e6:.0f} MB |"
        lines.append(row)
    point, clock, peak = costs[2]
    share = 100 * (costs[1][0] / pure - 1)
    minutes = AIM_POINTS * clock / 60
    with tempfile.TemporaryDirectory() as folder:
        alone, shared = begun(Path(folder))

    def says(met: bool) -> str:
        return "met" if met else "missed"

    text = "\n".join(lines) + (
        f"\n\nThe simulation alone takes {pure:.2f} s; what a point costs beside it, its analysis included, may be "
        f"{AIM_SHARE} % ({says(share <= AIM_SHARE)}). Two processes do {costs[1][1] / clock:.2f} times what one does. "
        f"From {MANY - FEW} points, not from all: {AIM_POINTS} fills of a 2 TB drive take {minutes:.0f} min with 2 "
        f"processes (at most {AIM_MINUTES}: {says(minutes <= AIM_MINUTES)}) and {2 * peak / 1e9:.1f} GB (at most "
        f"{AIM_BYTES / 1e9:.0f}: {says(2 * peak <= AIM_BYTES)}); the machine has {os.cpu_count()} cores, and its load "
        f"was {os.getloadavg()[1]:.1f}. On paper, 10^6 such points on 1000 cores take {1e6 * point / 1000 / 60:.0f} "
        f"min, if the scheduler hands out {1000 / point:.0f} points a second.\n\n"
        f"Random writes of 1 GB on a full SN850 1TB: {alone:.2f} s a point where each fills its drive, {shared:.2f} s "
        f"where it is filled once and copied ({alone / shared:.1f} times).\n"
    )
    measured.write(PAGE, text)
    print(text)


if __name__ == "__main__":
    main()
