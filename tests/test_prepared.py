"""Runs that begin with the same drive: made once, and the same bytes as if each had made it."""

from dataclasses import replace

import pytest
from benches.small import PROFILE

import pslc
from pslc.base.errors import PslcError
from pslc.device.target import RealOptions
from pslc.runner.precondition_cache import MAX_DRIVES, PreconditionedDrives, leaves_nothing_to_chance
from pslc.studies import workers
from pslc.studies.points import Study

RANDOM = "[random]\nrw=randwrite\nbs=4k\nsize=100%\nio_size=20m\nnorandommap\niodepth=16\nioengine=libaio\n"
READS = "[reads]\nrw=randread\nbs=4k\nsize=50%\nio_size=20m\niodepth=4\nioengine=libaio\n"


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A drive, and job files beside it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(PROFILE)
    (tmp_path / "random.fio").write_text(RANDOM)
    (tmp_path / "reads.fio").write_text(READS)
    return "sim:./small.toml"


def rows(tasks):
    found = [workers.measure(task) for task in tasks]
    return [{name: value for name, value in row.items() if name != "wall_s"} for row in found]


def test_points_that_begin_alike_find_what_they_would_alone(small):
    said = {"on": small, "run": ["random.fio", "reads.fio", "fill", "second-pass"], "seed": [0, 1]}
    said |= {"fill_first": ["0%", "60%"], "vary": {"cache.dynamic": ["300MB", "800MB"]}}
    tasks = workers.tasks_of(Study.of(said).points())
    assert not [task for task in tasks if not task.shared]
    before = workers._preconditioned.forked
    together = rows(tasks)
    # Of 32 points, each of the four drives: its fill for 8 points, what is read for two, fill and both passes for two.
    assert workers._preconditioned.forked - before >= 24
    assert together == rows([replace(task, shared=False) for task in tasks])
    assert not [row for row in together if row["error"] is not None]


def test_a_recording_of_a_drive_that_was_there_is_that_of_one_that_was_made(small):
    drives = PreconditionedDrives()
    made, taken = (pslc.run("random-steady", on=small, seed=3, scope=pslc.Scope(quick=True, fill_first=30),
                            preconditioned=drives) for _ in range(2))  # fmt: skip
    assert drives.forked > 0
    for one, other in ((made.time, taken.time), (made.bytes, taken.bytes)):
        assert not [name for name in one if not (one[name] == other[name]).all()]
    assert made.document()["jobs"] == taken.document()["jobs"]
    assert made.before == taken.before


def test_the_drives_kept_are_few_and_of_one_profile(small):
    drives = PreconditionedDrives()
    for share in range(10, 70, 10):
        pslc.run("random.fio", on=small, scope=pslc.Scope(fill_first=share), preconditioned=drives)
    assert len(drives.states) == MAX_DRIVES
    pslc.run("random.fio", on=f"{small},cache.dynamic=300MB", scope=pslc.Scope(fill_first=10), preconditioned=drives)
    assert len(drives.states) == 1


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("[fill]\nstonewall\nrw=write\nbs=1m\niodepth=32\nsize=1g\n", True),
        ("[a]\nrw=trim\nbs=4k\nnumber_ios=1\n[b]\nrw=write\npause=2us\n", True),
        ("[a]\nrw=randwrite\nbs=4k\n", False),
        ("[a]\nrw=write\nbs=4k\n[b]\nrw=randtrim\n", False),
        ("[a]\nrw=write\nbsrange=4k-8k\n", False),
        ("[a]\nrw=write\nnumjobs=2\n", False),
        ("[a]\nrw=rw\nbs=4k\n", False),
    ],
)
def test_only_writes_and_trims_in_order_leave_nothing_to_chance(text, sure):
    assert leaves_nothing_to_chance(text) == sure


def test_a_job_file_runs_on_a_drive_that_was_filled_first_as_after_a_job_that_fills_it(small, tmp_path):
    fill = "[fill]\nrw=write\nbs=1m\niodepth=32\nioengine=io_uring\ndirect=1\nsize=100%\n"
    (tmp_path / "both.fio").write_text(fill + RANDOM.replace("[random]", "[random]\nstonewall"))
    one = pslc.run("random.fio", on=small, scope=pslc.Scope(fill_first=100))
    both = pslc.run("both.fio", on=small)
    assert one.before["mapped_bytes"] == one.capacity_bytes // (1 << 20) << 20
    assert [job["name"] for job in one.jobs] == ["random"]
    speeds = [job["write"]["io_bytes"] / job["write"]["runtime_ns"] for job in (one.jobs[0], both.jobs[1])]
    assert speeds[0] == pytest.approx(speeds[1], rel=0.02)
    assert "100 % filled first" in one.conditions


def test_options_of_the_jobs_are_not_those_of_what_fills_first(small):
    plain = pslc.run("random.fio", on=small, scope=pslc.Scope(fill_first=50))
    larger = pslc.run("random.fio", on=small, scope=pslc.Scope(fill_first=50), options=[("bs", "64k")])
    assert larger.before == plain.before


def test_what_fills_first_is_refused_for_traces_and_for_job_files_on_real_drives(small, tmp_path):
    (tmp_path / "work.csv").write_text("time,op,offset,bytes\n0,write,0,4096\n1,write,4096,4096\n")
    with pytest.raises(PslcError, match="a trace has --prefill"):
        pslc.run("work.csv", on=small, scope=pslc.Scope(fill_first=50))
    real = RealOptions(size=20 << 20)
    with pytest.raises(PslcError, match="on simulated drives only"):
        pslc.run("random.fio", on=str(tmp_path / "scratch.bin"), scope=pslc.Scope(fill_first=50), real=real)
    assert not (tmp_path / "scratch.bin").exists()
    with pytest.raises(PslcError, match="--quick and --region are for suites"):
        pslc.run("random.fio", on=small, scope=pslc.Scope(quick=True))
