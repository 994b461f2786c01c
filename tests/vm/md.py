"""In a guest with six small drives: what Linux md asks of its members for drawn requests, for the tests of arrays."""

import mmap
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TextIO

TRACE = Path("/sys/kernel/tracing")
DISKS = [f"/dev/vd{letter}" for letter in "abcdef"]
ARRAYS = (
    ("raid0", 2, 64, None), ("raid0", 5, 4, None), ("raid1", 3, 64, None), ("raid1", 2, 64, 0), ("raid10", 4, 64, None),
    ("raid10", 5, 16, None), ("raid10", 4, 16, 1), ("raid5", 3, 64, None), ("raid5", 4, 16, None),
    ("raid5", 6, 4, None), ("raid5", 4, 64, 2), ("raid6", 4, 64, None), ("raid6", 6, 16, None), ("raid6", 5, 4, None),
    ("raid6", 6, 64, 4),
)  # fmt: skip
"""Level, members, chunk in KiB, and the member that has failed."""
PARITY = {"raid5": 1, "raid6": 2}
REQUESTS = 24
SETTLED_S = 0.06
SECTOR = 512
Sectors = set[tuple[int, int]]


def asked(members: dict[tuple[int, int], int], sectors: int) -> dict[str, Sectors]:
    """Sectors of members that the kernel's trace says were read and written, without md's own block behind them."""
    done: dict[str, Sectors] = {"R": set(), "W": set()}
    pattern = r"block_bio_queue: (\d+),(\d+) (\w+) (\d+) \+ (\d+)"
    for major, minor, kind, first, count in re.findall(pattern, (TRACE / "trace").read_text()):
        member = members.get((int(major), int(minor)))
        if member is not None and int(first) < sectors:
            done["R" if "R" in kind else "W"] |= {(member, int(first) + at) for at in range(int(count))}
    return done


def ranges(sectors: Sectors, kind: str) -> list[str]:
    """Sectors of members as member, kind, first and count."""
    runs: list[list[int]] = []
    for member, at in sorted(sectors):
        if runs and runs[-1][0] == member and sum(runs[-1][1:]) == at:
            runs[-1][2] += 1
        else:
            runs.append([member, at, 1])
    return [f"{member}{kind}{first}+{count}" for member, first, count in runs]


def record(array: tuple[str, int, int, int | None], dice: random.Random, out: TextIO) -> None:
    """Make an array, ask it for requests, each of stripes that were not asked for before, and write what it did."""
    level, count, chunk_kib, failed = array
    options = [] if level == "raid0" else ["--bitmap=none"]
    options += [] if level == "raid1" else [f"--chunk={chunk_kib}"]
    create = ["--create", "/dev/md0", "--run", "--assume-clean", "--metadata=1.0", f"--level={level}"]
    subprocess.run(["mdadm", *create, f"--raid-devices={count}", *options, *DISKS[:count]], check=True)
    for step in ("--fail", "--remove") if failed is not None else ():
        subprocess.run(["mdadm", "/dev/md0", step, DISKS[failed or 0]], check=True)
    whole = int(Path("/sys/block/md0/size").read_text()) * SECTOR
    member = whole // count if level == "raid0" else int(Path("/sys/block/md0/md/component_size").read_text()) << 10
    out.write(f"array {level} {count} {chunk_kib} {'-' if failed is None else failed} {member}\n")
    members = {(os.major(of.st_rdev), os.minor(of.st_rdev)): at for at, of in enumerate(map(os.stat, DISKS))}
    chunk = chunk_kib << 10
    region = max(4 * (count - PARITY.get(level, 0)) * chunk, 256 << 10)
    handle, data = os.open("/dev/md0", os.O_RDWR | os.O_DIRECT), memoryview(mmap.mmap(-1, 1 << 20))
    for number in range(min(REQUESTS, whole // region)):
        unit = dice.choice((SECTOR, 4096, 4096, chunk))
        at = dice.randrange(region // 2) // unit * unit
        size = min(region - at, dice.choice((4096, 16384, chunk, region // 2)))
        size = max(unit, dice.randrange(SECTOR, size + 1) // unit * unit)
        kind, offset = dice.choice("WWR"), number * region + at
        (TRACE / "trace").write_text("")
        (os.pwritev if kind == "W" else os.preadv)(handle, [data[:size]], offset)
        time.sleep(SETTLED_S)
        done = asked(members, member // SECTOR)
        out.write(f"{kind} {offset} {size}: {' '.join(ranges(done['R'], 'R') + ranges(done['W'], 'W'))}\n")
    os.close(handle)
    subprocess.run(["mdadm", "--stop", "/dev/md0"], check=True)


if __name__ == "__main__":
    (TRACE / "events/block/block_bio_queue/enable").write_text("1")
    dice = random.Random(int(sys.argv[2]))
    with Path(sys.argv[1]).open("w") as out:
        for array in ARRAYS:
            record(array, dice, out)
