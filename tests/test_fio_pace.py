"""When requests are made, beside fio on the same files: think times, rates, delays and ramps, by the milliseconds of
fio's logs and by how long jobs take."""

import json
import math
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pslc._native import RealDrive, inspect_file
from tests import forked
from tests.test_fio_property import FIO, memory
from tests.traced import traced

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
    # What ends after a time ends a request sooner or later.
    off = 2 if "iotime=300ms" in options else 0
    shortest = [math.inf, math.inf]
    # A busy machine wakes either of them late, by chance.
    for _ in range(3):
        for at, (where, jobs) in enumerate(by_both(text, folder)):
            ms = [int(line.split(",")[0]) for line in (where / "l_lat.1.log").read_text().splitlines()]
            ends = [at for at, (a, b) in enumerate(pairwise(ms), 1) if b - a > PAUSE_MS * 2 / 3]
            bursts = [b - a for a, b in pairwise([0, *ends, len(ms)])]
            assert bursts == pytest.approx(THINKING[options], abs=off)
            shortest[at] = min(shortest[at], jobs[0]["job_runtime"])
        alike = shortest[1] == pytest.approx(shortest[0], rel=0.1, abs=40)
        if alike:
            break
    assert alike, shortest


SCHEDULES = {
    "wait_for": "[a] bs=4k number_ios=10 [b] wait_for=a bs=8k number_ios=10",
    "delayed": "[a] bs=4k number_ios=10 [b] stonewall startdelay=700ms bs=8k number_ios=10 [c] bs=16k number_ios=10",
    "late already": "[a] bs=4k number_ios=20 [b] stonewall startdelay=100ms bs=8k number_ios=10",
    "a pause": "[a] bs=4k number_ios=10 [p] stonewall ioengine=null time_based runtime=500ms "
    "[b] stonewall bs=8k number_ios=10",
    "exitall": "exitall [a] bs=4k number_ios=20 [b] bs=8k [c] startdelay=5 bs=16k",
    "ramps": "[a] bs=4k ramp_time=500ms time_based runtime=500ms [b] stonewall bs=8k ramp_time=200ms number_ios=20 "
    "[c] stonewall bs=16k ramp_time=5 number_ios=10",
}
"""Jobs that are told from each other by their sizes; each makes 50 requests a second."""


def lines(words: str) -> str:
    """An option a line."""
    return words.replace(" ", "\n") + "\n"


@pytest.mark.parametrize("name", SCHEDULES)
def test_jobs_begin_and_end_when_fios_do(name, folder):
    text = lines(f"[global] write_iolog=x rw=write size=1m rate_iops=50 {SCHEDULES[name]}")
    folder = folder / name.replace(" ", "-")
    folder.mkdir()
    (folder / "j.fio").write_text(text.replace("write_iolog=x\n", ""))
    (folder / "data.bin").write_bytes(bytes(range(256)) * (4 << 12))
    fio = [str(FIO), "j.fio", "--filename=data.bin", "--output-format=json"]
    calls, said = traced(fio, "pwrite64", folder, "-ttt")
    made: dict[int, list[float]] = {}
    for at, size in re.findall(r"(\d+\.\d+) pwrite64\(\d+, .*, (\d+), \d+\)", calls):
        if int(size) >= 4096:
            made.setdefault(int(size), []).append(float(at))
    path = folder / "data.bin"
    drive = RealDrive.existing(str(path), agreed=inspect_file(str(path))["identity"])
    ours: dict[int, list[float]] = {}
    result = drive.run(text, "j.fio", [], 1)
    for log in result["logs"]:
        issued, size = (np.frombuffer(log[column], dtype="<u8") for column in ("issued_ns", "bytes"))
        if len(issued):
            ours[int(size[0])] = (issued / 1e9).tolist()
    assert made.keys() == ours.keys()
    for of in (made, ours):
        begin = min(times[0] for times in of.values())
        of.update({size: [at - begin for at in times] for size, times in of.items()})
    for size, times in made.items():
        # fio looks a few times a second which jobs may begin, and takes its time to begin each.
        assert times[0] - 0.7 < ours[size][0] < times[0] + 0.15, size
        assert ours[size][-1] - ours[size][0] == pytest.approx(times[-1] - times[0], abs=0.15), size
    counted = [
        {job["jobname"]: job["write"]["total_ios"] for job in json.loads(said)["jobs"]},
        {job["name"]: job["write"]["total_ios"] for job in result["jobs"]},
    ]
    for job, count in counted[1].items():
        if job != "p":
            assert count == pytest.approx(counted[0][job], abs=3 if name in ("ramps", "exitall") else 0), job


def logged(folder: Path, text: str) -> list[list[int]]:
    """The milliseconds in which the requests of a job came back, under each."""
    found = []
    for where, _ in by_both(text + "write_lat_log=l\n", folder):
        found.append([int(line.split(",")[0]) for line in (where / "l_lat.1.log").read_text().splitlines()])
    return found


@pytest.mark.parametrize("process", ["linear", "poisson"])
def test_paced_requests_come_as_regularly_as_fios(process, folder):
    """Requests of independent users: in windows of one length their variance is their mean."""
    for ms in logged(folder, lines(f"[a] rw=write bs=4k size=4m rate_iops=400 rate_process={process}")):
        assert len(ms) == 1024
        assert ms[-1] == pytest.approx(1024 / 0.4, rel=0.15)
        counts = np.bincount(np.array(ms) // 100)[:-1]
        dispersion = counts.var() / counts.mean()
        assert 0.3 < dispersion < 2.5 if process == "poisson" else dispersion < 0.3


def test_jobs_of_a_flow_keep_fios_pace_to_each_other(folder):
    text = lines("[global] bs=4k size=4m time_based runtime=1 rate_iops=,2000 rw=write flow_id=3 [a] flow=3 [b] flow=1")
    # fio's two threads begin one after the other, on a busy machine by so much that neither waits for the other.
    for _ in range(3):
        moved = [[job["write"]["total_ios"] for job in jobs] for _, jobs in by_both(text, folder)]
        theirs, ours = (one / other for one, other in moved)
        assert ours == pytest.approx(3, rel=0.05)
        alike = theirs == pytest.approx(3, rel=0.35)
        if alike:
            break
    assert alike, theirs


def test_rates_are_sampled_as_often_as_by_fio(folder):
    text = lines("[a] rw=write bs=4k size=4m rate_iops=1000 time_based runtime=2 bwavgtime=100 iopsavgtime=400")
    found = [jobs[0]["write"] for _, jobs in by_both(text, folder)]
    for name, about in (("bw_samples", 19), ("iops_samples", 4)):
        # A thread of fio's own takes them, which may come late.
        assert found[0][name] <= about + 1
        assert found[1][name] == pytest.approx(about, abs=1), name
    assert found[0]["iops_mean"] == pytest.approx(found[1]["iops_mean"], rel=0.2)
