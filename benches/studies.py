"""What a point of a study costs beside its simulation, and what 10 000 would: docs/scale.md, by `make bench-study`.

Measured is processor time, which other work on the machine changes little; hours are processor time over cores."""

import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import pslc

PAGE: Final = Path(__file__).parent.parent / "docs" / "scale.md"
DRIVE: Final = "sim:aldrin-pro-2tb"
FEW, MANY = 2, 10
"""Points of two studies: what they differ by is the cost of the points between them, without the start."""
AIM_POINTS, AIM_MINUTES, AIM_BYTES = 10_000, 60, 3e9


def spent(points: int, workers: int) -> tuple[float, float]:
    """Processor seconds of a study of that many fills, and the most memory of one of its processes in bytes."""
    seeds = ",".join(map(str, range(points)))
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [str(Path(sys.executable).parent / "pslc"), "study", "--run", "fill", "--on", DRIVE, "--seed", seeds]
        subprocess.run(
            [*command, "--workers", str(workers), "--save", f"{folder}/kept", "--json"], check=True, capture_output=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, after.ru_maxrss * 1024.0


def alone(times: int = 3) -> float:
    """Processor seconds of a fill in this process, without what it takes to begin."""
    pslc.run("fill", on=DRIVE)
    began = time.process_time()
    for seed in range(times):
        pslc.run("fill", on=DRIVE, seed=seed)
    return (time.process_time() - began) / times


def main() -> None:
    simulation = alone()
    lines = [
        "| workers | processor time a point | beside the run itself | start | memory a process |",
        "|---:|---:|---:|---:|---:|",
    ]
    costs = {}
    for workers in (1, 2):
        (few, _), (many, peak) = spent(FEW, workers), spent(MANY, workers)
        point = (many - few) / (MANY - FEW)
        costs[workers] = point, peak
        start = few - FEW * point
        beside = f"{100 * (point / simulation - 1):+.0f} %"
        lines.append(f"| {workers} | {point:.2f} s | {beside} | {start:.1f} s | {peak / 1e6:.0f} MB |")
    point, peak = costs[2]
    minutes = AIM_POINTS * point / 2 / 60
    says = "met" if minutes <= AIM_MINUTES else "missed"
    room = "met" if 2 * peak <= AIM_BYTES else "missed"
    cluster = 1e6 * point / 1000 / 60
    text = "\n".join(lines) + (
        f"\n\nThe run itself takes {simulation:.2f} s. From {MANY - FEW} points, not from all: {AIM_POINTS} fills of a "
        f"2 TB drive take {minutes:.0f} min on 2 cores that do nothing else (at most {AIM_MINUTES}: {says}) and "
        f"{2 * peak / 1e9:.1f} GB (at most {AIM_BYTES / 1e9:.0f}: {room}). On paper, 10^6 such points on 1000 cores "
        f"take {cluster:.0f} min, if the scheduler hands out {1000 / point:.0f} points a second.\n"
    )
    page = PAGE.read_text()
    begin, end = "<!-- measured -->\n", "<!-- end of measured -->"
    PAGE.write_text(re.sub(f"{begin}.*?{end}", lambda _: begin + text + end, page, flags=re.DOTALL))
    print(text)


if __name__ == "__main__":
    main()
