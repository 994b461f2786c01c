"""Jobs that end when they are steady (`steadystate`), jobs that look for a depth (`latency_target`), and jobs that may
not be slow (`rate_min`): beside fio on the same file, and on simulated drives, where it is known what they have to
find."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests import forked

FIO = shutil.which("fio")
needs_fio = pytest.mark.skipif(FIO is None, reason="fio is not installed")


def criterion(steady: dict) -> tuple[float, float, float]:
    """What fio's manual says of the rates that a job shows: slope, largest deviation, and what the limit is for."""
    name = steady["ss"].partition(":")[0]
    rates = np.array(steady["data"]["bw" if name.startswith("bw") else "iops"], dtype=float)
    slope, deviation = 0.0, 0.0
    if name.endswith("slope"):
        slope = float(np.polyfit(np.arange(len(rates)), rates, 1)[0])
    else:
        deviation = float(np.abs(rates - rates.mean()).max())
    value = slope or deviation
    return slope, deviation, 100 * value / rates.mean() if steady["ss"].endswith("%") else value


def holds(steady: dict) -> None:
    slope, deviation, value = criterion(steady)
    assert steady["slope"] == pytest.approx(slope, abs=1e-3)
    assert steady["max_deviation"] == pytest.approx(deviation, abs=1e-3)
    # fio divides by a whole number.
    said = float(steady["criterion"].rstrip("%"))
    assert said == pytest.approx(value, rel=0.02, abs=1e-3)
    limit = float(steady["ss"].partition(":")[2].rstrip("%"))
    assert steady["attained"] == (abs(said) < limit)
    for word in ("iops", "bw"):
        rates = steady["data"][word]
        assert len(rates) == steady["duration"]
        assert steady["data"][f"{word}_mean"] == sum(rates) // len(rates)


def by_both(text: str, folder: Path, code: int = 0) -> list[dict]:
    """The first jobs of fio's JSON and of ours, run at the same time on files of their own."""
    ours = ["run", "j.fio", "--on", "data.bin", "--overwrite-file", "data.bin", "--yes",
            "--output-format=fio"]  # fmt: skip
    theirs = [FIO, "j.fio", "--filename=data.bin", "--output-format=json"]
    commands = {
        "fio": lambda **how: subprocess.Popen(theirs, text=True, **how),
        "pslc": lambda **how: forked.Popen(ours, **how),
    }
    running = []
    for name, start in commands.items():
        where = folder / name
        where.mkdir()
        (where / "j.fio").write_text(text)
        (where / "data.bin").write_bytes(bytes(range(256)) * (16 << 12))
        running.append(start(cwd=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    jobs = []
    for process in running:
        out, err = process.communicate(timeout=60)
        assert (process.returncode != 0) == (code != 0), out + err
        jobs.append(json.loads(out[out.index("{") :])["jobs"][0] if code == 0 else {"error": out + err})
    return jobs


PACED = "[a]\nsize=16m\nrw=randread\nbs=4k\nrate_iops=400\nioengine=libaio\ntime_based\nruntime=5\nss_dur=2\n"


@pytest.mark.slow
@needs_fio
@pytest.mark.parametrize(
    ("words", "attained"),
    [("ss=iops:40%", 1), ("ss=bw_slope:40%\nss_ramp=1", 1), ("ss=iops_slope:200", 1), ("ss=bw:0%", 0), ("", None)],
)
def test_a_job_is_steady_on_a_file_when_fio_says_so(words, attained, tmp_path):
    text = PACED + words + "\n" if words else PACED.replace("ss_dur=2", "ss=iops:40%").replace("=5", "=1")
    theirs, ours = by_both(text, tmp_path)
    if attained is None:
        # Without a duration nothing is looked at.
        assert "steadystate" not in theirs.keys() | ours.keys()
        return
    for job in (theirs, ours):
        holds(job["steadystate"])
        assert job["steadystate"]["attained"] == attained
        assert job["steadystate"]["data"]["iops_mean"] == pytest.approx(400, rel=0.3)
    assert theirs["steadystate"]["ss"] == ours["steadystate"]["ss"]
    # Two seconds behind the ramp; fio's seconds begin a little before those of the job, so it may skip one more.
    least = 3000 if "ramp" in words else 2000
    for job in (theirs, ours):
        assert job["job_runtime"] == pytest.approx(least if attained else 5000, abs=1200), words
    if attained:
        assert ours["job_runtime"] == pytest.approx(least, abs=300)


@needs_fio
def test_what_fio_takes_for_no_steady_state_we_do_not_take(tmp_path, command):
    words = ["ss=iops", "ss=iops:", "ss=speed:1%", "ss=iops:x%", "ss=bw:many", "ss_dur=3\n[b]\nrw=read\nss_dur=4"]
    for word in words:
        (tmp_path / "j.fio").write_text(f"[a]\nrw=read\nsize=1m\nss_dur=2\n{word}\n")
        theirs = subprocess.run(
            [FIO, "j.fio", "--filename=data.bin"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        ours = command("run", "j.fio", "--on", "sim:pm871b-128gb")
        assert (theirs.returncode != 0, ours.returncode) == (True, 2), word + theirs.stdout + ours.stderr


def simulated(command, tmp_path: Path, text: str, drive: str = "sim:pm871b-128gb") -> dict:
    (tmp_path / "j.fio").write_text(text)
    done = command.fine("run", "j.fio", "--on", drive, "--output-format=fio")
    return json.loads(done.stdout)["jobs"][0]


@pytest.mark.parametrize("name", ["iops", "iops_slope", "bw", "bw_slope"])
def test_a_simulated_job_ends_with_the_first_seconds_that_meet_its_criterion(name, command, tmp_path):
    """Every second of the run, from the log of each of its requests."""
    limit, seconds, ramp = 3.0, 5, 2
    text = (
        "[a]\nrw=randwrite\nbs=64k\niodepth=4\nioengine=libaio\ndirect=1\nsize=4g\ntime_based\nruntime=300\n"
        f"ss={name}:{limit}%\nss_dur={seconds}\nss_ramp={ramp}\nwrite_iops_log=all\n"
    )
    job = simulated(command, tmp_path, text)
    assert job["steadystate"]["attained"] == 1
    holds(job["steadystate"])
    steady = job["steadystate"]
    ended = [int(line.split(",")[0]) for line in (tmp_path / "all_iops.1.log").read_text().splitlines()]
    rates = np.bincount(np.array(ended) // 1000)
    unit = 65536 if name.startswith("bw") else 1
    found = None
    # The first second that counts is the one behind the ramp.
    for first in range(ramp, len(rates)):
        window = rates[first : first + seconds] * unit
        data = {"iops": window.tolist(), "bw": window.tolist()}
        if abs(criterion({"ss": f"{name}:{limit}%", "data": data})[2]) < limit:
            found = first + seconds
            break
    assert job["job_runtime"] // 1000 == found
    assert steady["data"]["iops"] == pytest.approx(rates[found - seconds : found].tolist(), abs=1)


def test_jobs_of_a_group_are_steady_together(command, tmp_path):
    text = (
        "[a]\nrw=randwrite\nbs=64k\nsize=1g\nnumjobs=3\ngroup_reporting\ntime_based\nruntime=60\nss=bw:50%\nss_dur=2\n"
    )
    job = simulated(command, tmp_path, text)
    assert job["steadystate"]["attained"] == 1
    assert job["job_runtime"] == pytest.approx(3 * 2000, rel=0.02)
    assert job["steadystate"]["data"]["bw_mean"] == pytest.approx(job["write"]["bw_bytes"], rel=0.02)
    (tmp_path / "two.fio").write_text("[a]\nrw=write\nss_dur=2\nss=bw:1m\n[b]\nrw=write\nss_dur=3\nss=bw:1m\n")
    done = command("run", "two.fio", "--on", "sim:pm871b-128gb")
    assert "two.fio:5: b and a are one group" in done.stderr


SEARCH = "[a]\nrw=randread\nbs=4k\nsize=16m\nioengine=libaio\niodepth=16\ntime_based\nruntime=2\nlatency_window=20ms\n"
FIELDS = ("latency_depth", "latency_target", "latency_percentile", "latency_window")


@pytest.mark.slow
@needs_fio
@pytest.mark.parametrize(
    ("words", "depth", "whole"),
    [
        ("latency_target=20s", 16, False),
        ("latency_target=20s\nlatency_run=1", 16, True),
        ("latency_target=1us\nlatency_percentile=99.5", 1, True),
        ("iodepth=3\nlatency_target=1m\nlatency_percentile=50", 3, False),
        ("latency_percentile=90", 16, True),
    ],
)
def test_the_depth_that_keeps_a_latency_is_fios(words, depth, whole, tmp_path):
    theirs, ours = by_both(SEARCH + words + "\n", tmp_path)
    assert [theirs[field] for field in FIELDS] == [ours[field] for field in FIELDS]
    assert ours["latency_depth"] == depth
    for job in (theirs, ours):
        # It ends when it has found the depth and measured it for a window, or goes on for its time.
        assert job["job_runtime"] == pytest.approx(2000 if whole else 20, rel=0.2, abs=60)


@needs_fio
def test_a_request_that_is_late_at_depth_1_ends_the_job_where_none_may_be(tmp_path):
    theirs, ours = by_both(SEARCH + "latency_target=1us\n", tmp_path, code=1)
    assert "exceeds" in theirs["error"]
    assert "latency_target" in ours["error"]


@pytest.mark.parametrize("target_us", [150, 300, 600])
def test_the_depth_found_on_a_simulated_drive_is_the_last_that_keeps_the_latency(target_us, command, tmp_path):
    fixed = "[a]\nrw=randread\nbs=4k\nsize=1g\nioengine=libaio\ndirect=1\ntime_based\nruntime=1\niodepth={}\n"
    fixed += "lat_percentiles=1\n"
    more = f"runtime=60\nlatency_target={target_us}us\nlatency_window=100ms\nlatency_percentile=99\n"
    found = simulated(command, tmp_path, fixed.format(64) + more)
    depth = found["latency_depth"]
    assert 1 < depth < 64
    # What is reported is of the last window alone.
    assert found["job_runtime"] == pytest.approx(100, abs=2)
    assert found["read"]["lat_ns"]["percentile"]["99.000000"] <= 1.02e3 * target_us

    def p99(depth: int) -> float:
        job = simulated(command, tmp_path, fixed.format(depth))
        return job["read"]["lat_ns"]["percentile"]["99.000000"] / 1e3

    assert p99(depth - 1) <= target_us * 1.02
    assert p99(depth + 2) >= target_us * 0.98
    # Three that look for their depth are reported as one.
    three = simulated(command, tmp_path, fixed.format(64) + more + "numjobs=3\ngroup_reporting\n")
    assert three["read"]["total_ios"] == three["read"]["lat_ns"]["N"] > 0
    assert three["job_runtime"] == pytest.approx(300, rel=0.05)
    assert three["latency_depth"] < depth


@needs_fio
@pytest.mark.parametrize(("least", "kept"), [("rate_min=1m", False), ("rate_iops_min=10", True)])
def test_a_job_that_is_slower_than_its_least_rate_ends_with_an_error(least, kept, tmp_path):
    text = f"[a]\nrw=randread\nbs=4k\nsize=16m\ntime_based\nruntime=3\nthinktime=20ms\nrate_cycle=500\n{least}\n"
    theirs, ours = by_both(text, tmp_path, code=0 if kept else 1)
    if kept:
        assert theirs["job_runtime"] >= 3000
        assert ours["job_runtime"] >= 3000
    else:
        assert "rate_min=1048576B/s not met, got" in theirs["error"]
        # The first two seconds are not looked at, and then comes a cycle.
        assert "rate_min=1048576 is not kept" in ours["error"]
