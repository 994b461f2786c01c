"""When requests are made: think times, rates, delays and ramps, in the time of a simulated drive, and on a real file by
bounds that no busy machine breaks. The slow tests hold the same beside fio by the milliseconds of its logs, which takes
a machine that is left alone."""

import json
import math
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pslc._native import RealDrive, inspect_file
from pslc.device.target import find_target
from tests import forked
from tests.test_fio_property import FIO
from tests.traced import traced

ON = ["--on", "data.bin", "--overwrite-file", "data.bin", "--yes"]


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


THINKER = f"[a]\nrw=write\nbs=4k\nsize=4m\nthinktime={PAUSE_MS}ms\nwrite_lat_log=l\n"


def bursts(ms: list[float] | np.ndarray[Any, Any]) -> list[int]:
    """How many requests lie between two pauses, from when each came back."""
    ends = [at for at, (a, b) in enumerate(pairwise(ms), 1) if b - a > PAUSE_MS * 2 / 3]
    return [b - a for a, b in pairwise([0, *ends, len(ms)])]


def requests(result: dict[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """Reads and writes of each job that has made some: `issued` and `done`, in ms, by order of completion."""
    found = {}
    for log in result["logs"]:
        issued, latency = (np.frombuffer(log[name], dtype="<u8") / 1e6 for name in ("issued_ns", "latency_ns"))
        moved = np.frombuffer(log["bytes"], dtype="<u8") > 0
        if moved.any():
            times = np.rec.fromarrays([issued[moved], (issued + latency)[moved]], names="issued,done")
            found[log["name"]] = np.sort(times, order="done", kind="stable")
    return found


def simulated(text: str) -> dict[str, Any]:
    """Run jobs in virtual time, on a drive that answers within 10 us."""
    return find_target("sim:sn850-1tb").open().run(text, "j.fio", [], 1)


def measured(text: str, folder: Path) -> dict[str, Any]:
    """Run jobs on a file of 4 MiB."""
    path = folder / "data.bin"
    path.write_bytes(bytes(range(256)) * (4 << 12))
    return RealDrive.existing(str(path), agreed=inspect_file(str(path))["identity"]).run(text, "j.fio", [], 1)


@pytest.mark.parametrize("options", ["rate=1250", "rate=1250\nioengine=libaio\niodepth=4", "rate_iops=1\nbs=64k"])
def test_a_job_that_waits_for_its_rate_ends_with_its_runtime_and_one_that_thinks_does_not(options):
    def runtime_ms(more):
        (job,) = simulated(f"[a]\nrw=write\nbs=4k\nsize=4m\nruntime=300ms\n{more}\n")["jobs"]
        return job["write"]["runtime_ns"] / 1e6

    assert runtime_ms(options) == pytest.approx(300, abs=1)
    assert runtime_ms("thinktime=900ms") == pytest.approx(900, abs=1)


@pytest.mark.parametrize("options", THINKING)
def test_a_job_thinks_behind_the_same_requests_as_under_fio(options):
    done = requests(simulated(f"{THINKER}{options}\n"))["a"].done
    assert bursts(done) == pytest.approx(THINKING[options], abs=1 if "iotime=300ms" in options else 0)


@pytest.mark.parametrize("options", THINKING)
def test_a_job_on_a_file_thinks_no_shorter_than_it_is_told(options, tmp_path):
    of = requests(measured(f"{THINKER}{options}\n", tmp_path))["a"]
    pauses = len(THINKING[options]) - 1
    if "iotime" not in options:
        # A clock of the kernel may wake it a little early.
        assert of.done[-1] - of.issued[0] > pauses * PAUSE_MS - 1


@pytest.mark.slow
@pytest.mark.parametrize("options", THINKING)
def test_a_job_thinks_as_long_as_under_fio(options, folder):
    text = f"{THINKER}{options}\n"
    # What ends after a time ends a request sooner or later.
    off = 2 if "iotime=300ms" in options else 0
    shortest = [math.inf, math.inf]
    # A busy machine wakes either of them late, by chance.
    for _ in range(3):
        for at, (where, jobs) in enumerate(by_both(text, folder)):
            ms = [int(line.split(",")[0]) for line in (where / "l_lat.1.log").read_text().splitlines()]
            assert bursts(ms) == pytest.approx(THINKING[options], abs=off)
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


TIMES = {
    "wait_for": {"a": (0, 180, 10), "b": (180, 360, 10)},
    "delayed": {"a": (0, 180, 10), "b": (700, 880, 10), "c": (0, 180, 10)},
    "late already": {"a": (0, 380, 20), "b": (380, 560, 10)},
    "a pause": {"a": (0, 180, 10), "b": (680, 860, 10)},
    "exitall": {"a": (0, 380, 20), "b": (0, 380, 20)},
    "ramps": {"a": (0, 980, 51), "b": (1000, 1580, 31), "c": (1580, 1760, 10)},
}
"""The ms of each job's first and last request, as the slow test finds fio's, and how many there are. A rate begins
again where a ramp ends."""


def scheduled(name: str) -> str:
    """The jobs of a schedule, which log each request."""
    return lines(f"[global] write_iolog=x rw=write size=1m rate_iops=50 {SCHEDULES[name]}")


@pytest.mark.parametrize("name", SCHEDULES)
def test_jobs_begin_and_end_when_they_are_told_to(name):
    found = requests(simulated(scheduled(name)))
    assert found.keys() == TIMES[name].keys()
    for job, of in found.items():
        assert (of.issued[0], of.issued[-1], len(of)) == pytest.approx(TIMES[name][job], abs=0.5), job


@pytest.mark.parametrize("name", SCHEDULES)
def test_no_job_on_a_file_begins_earlier_than_it_is_told_to(name, tmp_path):
    result = measured(scheduled(name), tmp_path)
    found = requests(result)
    assert found.keys() == TIMES[name].keys()
    for job, (first, last, _) in TIMES[name].items():
        # From the run's start: on a busy machine a request may be late, but the one after it keeps its own time.
        assert found[job].issued[0] > first - 5, job
        assert found[job].issued[-1] > last - 5, job


@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEDULES)
def test_jobs_begin_and_end_when_fios_do(name, folder):
    text = scheduled(name)
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
    result = measured(text, folder)
    ours: dict[int, list[float]] = {}
    sizes = {log["name"]: int(np.frombuffer(log["bytes"], dtype="<u8").max()) for log in result["logs"] if log["bytes"]}
    for job, of in requests(result).items():
        ours[sizes[job]] = np.sort(of.issued / 1e3).tolist()
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


def dispersion(ms: list[int] | np.ndarray[Any, Any]) -> float:
    """Variance over mean of the requests in windows of 100 ms: 1 for requests of independent users."""
    counts = np.bincount(np.asarray(ms, dtype=int) // 100)[:-1]
    return float(counts.var() / counts.mean())


PACED = "[a] rw=write bs=4k size=4m rate_iops=400"


@pytest.mark.parametrize("process", ["linear", "poisson"])
def test_paced_requests_come_as_regularly_as_they_are_told_to(process):
    issued = requests(simulated(lines(f"{PACED} write_iolog=x rate_process={process}")))["a"].issued
    assert len(issued) == 1024
    assert issued[-1] == pytest.approx(1023 / 0.4, rel=0.15 if process == "poisson" else 0.001)
    assert 0.3 < dispersion(issued) < 2.5 if process == "poisson" else dispersion(issued) < 0.1


def test_no_paced_request_on_a_file_is_early(tmp_path):
    issued = requests(measured(lines(f"{PACED} write_iolog=x number_ios=400"), tmp_path))["a"].issued
    assert len(issued) == 400
    assert (issued - issued[0] > np.arange(400) / 0.4 - 5).all()


@pytest.mark.slow
@pytest.mark.parametrize("process", ["linear", "poisson"])
def test_paced_requests_come_as_regularly_as_fios(process, folder):
    for ms in logged(folder, lines(f"{PACED} rate_process={process}")):
        assert len(ms) == 1024
        assert ms[-1] == pytest.approx(1024 / 0.4, rel=0.15)
        assert 0.3 < dispersion(ms) < 2.5 if process == "poisson" else dispersion(ms) < 0.3


FLOW = lines("[global] bs=4k size=4m time_based runtime=1 rate_iops=,2000 rw=write flow_id=3 [a] flow=3 [b] flow=1")


def test_jobs_of_a_flow_keep_the_pace_to_each_other_that_they_are_told():
    theirs, other = (job["write"]["total_ios"] for job in simulated(FLOW)["jobs"])
    assert theirs / other == pytest.approx(3, rel=0.01)


@pytest.mark.slow
def test_jobs_of_a_flow_keep_fios_pace_to_each_other(folder):
    # fio's two threads begin one after the other, on a busy machine by so much that neither waits for the other.
    for _ in range(3):
        moved = [[job["write"]["total_ios"] for job in jobs] for _, jobs in by_both(FLOW, folder)]
        theirs, ours = (one / other for one, other in moved)
        assert ours == pytest.approx(3, rel=0.05)
        alike = theirs == pytest.approx(3, rel=0.35)
        if alike:
            break
    assert alike, theirs


SAMPLED = lines("[a] rw=write bs=4k size=4m rate_iops=1000 time_based runtime=2 bwavgtime=100 iopsavgtime=400")


def test_rates_are_sampled_as_often_as_they_are_told_to(command, tmp_path):
    (tmp_path / "j.fio").write_text(SAMPLED)
    done = command("run", "j.fio", "--on", "sim:sn850-1tb", "--output-format=fio")
    write = json.loads(done.stdout)["jobs"][0]["write"]
    assert write["bw_samples"] == pytest.approx(19, abs=1)
    assert write["iops_samples"] == pytest.approx(4, abs=1)
    assert write["iops_mean"] == pytest.approx(1000, rel=0.01)


@pytest.mark.slow
def test_rates_are_sampled_as_often_as_by_fio(folder):
    found = [jobs[0]["write"] for _, jobs in by_both(SAMPLED, folder)]
    for name, about in (("bw_samples", 19), ("iops_samples", 4)):
        # A thread of fio's own takes them, which may come late.
        assert found[0][name] <= about + 1
        assert found[1][name] == pytest.approx(about, abs=1), name
    assert found[0]["iops_mean"] == pytest.approx(found[1]["iops_mean"], rel=0.2)
