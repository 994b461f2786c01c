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
    ("raid0", 5, 4, "", ""), ("raid1", 3, 64, "", ""), ("raid1", 2, 64, "0", ""), ("raid10", 4, 64, "", ""),
    ("raid10", 5, 16, "", ""), ("raid10", 4, 16, "1", ""), ("raid5", 3, 64, "", ""), ("raid5", 4, 16, "", ""),
    ("raid5", 6, 4, "", ""), ("raid5", 4, 64, "2", ""), ("raid6", 4, 64, "", ""), ("raid6", 6, 16, "", ""),
    ("raid6", 5, 4, "", ""), ("raid6", 6, 64, "4", ""), ("raid6", 6, 16, "14", ""), ("raid6", 5, 4, "02", ""),
    ("raid1", 2, 64, "", "1"), ("raid10", 4, 64, "", "2"), ("raid5", 4, 64, "", "1"), ("raid6", 5, 64, "", "1"),
    ("raid6", 6, 16, "5", "2"),
)  # fmt: skip
"""Level, members, chunk in KiB, the members that have failed, and one that is being rebuilt."""
PARITY = {"raid5": 1, "raid6": 2}
REQUESTS = 16
SETTLED_S = 0.06
SECTOR = 512
REBUILT_REGION = 10
CACHE_BYTES = 16 << 20
"""At least what md caches of an array, 256 pages of each member: reads elsewhere make it forget them."""
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


def attach(spare: int, sectors: int) -> None:
    """Have a spare take its member's place, hold its data before a sector, and no more while requests are made."""
    md, name = Path("/sys/block/md0/md"), DISKS[spare].removeprefix("/dev/")
    (md / "sync_action").write_text("frozen")
    subprocess.run(["mdadm", "--zero-superblock", DISKS[spare]], check=True)
    subprocess.run(["mdadm", "/dev/md0", "--add", DISKS[spare]], check=True)
    (md / f"dev-{name}" / "recovery_start").write_text(str(sectors))
    (md / f"dev-{name}" / "slot").write_text(str(spare))


def create(level: str, count: int, chunk_kib: int, lost: str) -> None:
    """Make an array, and take members out of it."""
    options = [] if level == "raid0" else ["--bitmap=none"]
    options += [] if level == "raid1" else [f"--chunk={chunk_kib}"]
    words = ["--create", "/dev/md0", "--run", "--assume-clean", "--metadata=1.0", f"--level={level}"]
    subprocess.run(["mdadm", *words, f"--raid-devices={count}", *options, *DISKS[:count]], check=True)
    for step in ("--fail", "--remove") if lost else ():
        subprocess.run(["mdadm", "/dev/md0", step, *(DISKS[int(member)] for member in lost)], check=True)


def record(array: tuple[str, int, int, str, str], dice: random.Random, out: TextIO) -> None:
    """Make an array, ask it for requests, each of stripes that md does not cache, and write what it did."""
    level, count, chunk_kib, failed, spare = array
    create(level, count, chunk_kib, failed + spare)
    whole = int(Path("/sys/block/md0/size").read_text()) * SECTOR
    member = whole // count if level == "raid0" else int(Path("/sys/block/md0/md/component_size").read_text()) << 10
    chunk = chunk_kib << 10
    region = max(4 * (count - PARITY.get(level, 0)) * chunk, 256 << 10)
    # A third into the region that is asked for.
    rebuilt = int((REBUILT_REGION + 1 / 3) * region * member / whole) // 4096 * 4096
    if spare:
        attach(int(spare), rebuilt // SECTOR)
    place = f"{spare}:{rebuilt}" if spare else "-"
    out.write(f"array {level} {count} {chunk_kib} {failed or '-'} {place} {member}\n")
    members = {(os.major(of.st_rdev), os.minor(of.st_rdev)): at for at, of in enumerate(map(os.stat, DISKS))}
    handle, data = os.open("/dev/md0", os.O_RDWR | os.O_DIRECT), memoryview(mmap.mmap(-1, 1 << 20))
    for number in range(min(REQUESTS, whole // region)):
        unit = dice.choice((SECTOR, 4096, 4096, chunk))
        at = dice.randrange(region // 2) // unit * unit
        size = min(region - at, dice.choice((4096, 16384, chunk, region // 2)))
        size = max(unit, dice.randrange(SECTOR, size + 1) // unit * unit)
        kind, offset = dice.choice("WWR"), (REBUILT_REGION if spare else number) * region + at
        for elsewhere in range(whole - CACHE_BYTES, whole, len(data)) if spare else ():
            os.preadv(handle, [data], elsewhere)
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
