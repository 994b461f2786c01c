"""When requests are made, beside fio on the same files: think times, rates, delays and ramps, by the milliseconds of fio's
logs and by how long jobs take."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests import forked
from tests.test_fio_property import FIO, memory

ON = ["--on", "data.bin", "--reuse", "--overwrite-file", "data.bin", "--yes"]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """In memory, where no request takes long."""
    if FIO is None:
        pytest.skip("fio is not installed")
    with tempfile.TemporaryDirectory(dir=memory()) as folder:
        yield Path(folder)


def by_both(text: str, folder: Path) -> list[tuple[Path, list[dict[str, Any]]]]:
    """Where each has put its logs, and the jobs of its JSON: fio's, and ours."""
    found = []
    for name in ("fio", "pslc"):
        where = folder / name
        shutil.rmtree(where, ignore_errors=True)
        where.mkdir()
        (where / "j.fio").write_text(text)
        (where / "data.bin").write_bytes(bytes(range(256)) * (4 << 12))
        if name == "fio":
            fio = [str(FIO), "j.fio", "--filename=data.bin", "--output-format=json"]
            done = subprocess.run(fio, cwd=where, capture_output=True, text=True, check=False)
        else:
            done = forked.run(["run", "j.fio", *ON, "--output-format=fio"], where)
        assert done.returncode == 0, done.stderr
        found.append((where, json.loads(done.stdout[done.stdout.index("{") :])["jobs"]))
    return found


PAUSE_MS = 150
THINKING = {
    "thinktime_blocks=3\nnumber_ios=10": [3, 3, 3, 1],
    "thinktime_blocks=3\nnumber_ios=10\nfsync=2": [3, 3, 3, 1],
    "thinktime_blocks=3\nthinktime_spin=20ms\nnumber_ios=10": [3, 3, 3, 1],
    "ioengine=libaio\niodepth=8\nnumber_ios=12": [8, 1, 1, 1, 1],
    "ioengine=libaio\niodepth=8\nnumber_ios=40\nthinktime_blocks=10": [17, 10, 10, 3],
    "ioengine=libaio\niodepth=8\nnumber_ios=40\nthinktime_blocks=10\nthinktime_blocks_type=issue": [10, 10, 10, 10],
    "ioengine=io_uring\niodepth=8\nnumber_ios=20\nthinktime_blocks=4": [11, 1, 8],
    "verify=crc32c\nsize=40k\nthinktime_blocks=4": [4, 4, 12],
    "rw=randrw\nsize=64k\nloops=2\nthinktime_blocks=7\nioengine=libaio\niodepth=4": [10, 7, 9, 6],
    "thinktime_iotime=300ms\nrate_iops=50\nnumber_ios=60": [24, 23, 13],
    "thinktime_iotime=500ms\nrate_iops=100\nnumber_ios=40\nthinktime_blocks=9": [9, 9, 9, 9, 4],
    "rate_iops=100\nnumber_ios=40\nthinktime_blocks=7": [7, 7, 7, 7, 7, 5],
    "rate_iops=100\nnumber_ios=40\nthinktime_blocks=7\nrate_ignore_thinktime=1": [7, 7, 7, 7, 7, 5],
    "rate=400k\nnumber_ios=40\nthinktime_blocks=7\nrate_ignore_thinktime=1": [7, 7, 7, 7, 7, 5],
}
"""Options, and how many requests lie between two pauses, as fio has it."""


@pytest.mark.parametrize("options", THINKING)
def test_a_job_thinks_behind_the_same_requests_as_under_fio(options, folder):
    text = f"[a]\nrw=write\nbs=4k\nsize=4m\nthinktime={PAUSE_MS}ms\nwrite_lat_log=l\n{options}\n"
    bursts, runtimes = [], []
    for where, jobs in by_both(text, folder):
        ms = [int(line.split(",")[0]) for line in (where / "l_lat.1.log").read_text().splitlines()]
        ends = [at for at, (a, b) in enumerate(pairwise(ms), 1) if b - a > PAUSE_MS * 2 / 3]
        bursts.append([b - a for a, b in pairwise([0, *ends, len(ms)])])
        runtimes.append(jobs[0]["job_runtime"])
    # What ends after a time ends a request sooner or later.
    off = 2 if "iotime=300ms" in options else 0
    for found in bursts:
        assert found == pytest.approx(THINKING[options], abs=off)
    assert runtimes[1] == pytest.approx(runtimes[0], rel=0.1, abs=40)
