"""What the native part gives has the names and kinds that `pslc.schema` promises.

mypy holds every use to these types; real results are held to them here."""

from pathlib import Path
from typing import Any

import pytest

import pslc
from pslc import traces
from pslc._native import NbdServer, RealDrive, inspect_device, inspect_file, plan_jobs
from pslc.device.target import RealOptions, open_simulated
from pslc.recording.model import Common, Recording, ScopeDocument, Step
from pslc.runner import replay
from pslc.runner.options import RunOptions
from pslc.runner.step_runner import of_result
from pslc.runner.subject import Trace
from pslc.schema.facts import Facts, InspectedDevice, InspectedFile, ServedStatus
from pslc.schema.results import Planned, Progress, Recorded, ReplayResult, ReplaySoFar, Result, StepProgress
from pslc.schema.surveys import Batch, Survey
from pslc.serving.listening import Address, Listener
from pslc.serving.server import Server
from pslc.traces import Part, Replay
from tests.conftest import ROOT
from tests.loops import loop_over, reason
from tests.typed import unlike

DRIVE = "sim:pm871b-128gb,scale=1/64"
JOBS = (ROOT / "tests/fixtures/texts/given.fio").read_text()
LOGGED = "[a]\nrw=randwrite\nbs=4k\nsize=16m\nwrite_lat_log=x\ndirect=1\n"


class Seen:
    """What a callback was told; it goes on."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def __call__(self, told: Any) -> bool:
        self.told.append(told)
        return True

    def unlike(self, kind: Any) -> list[str]:
        return [wrong for told in self.told for wrong in unlike(told, kind)]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Reads and writes of 1.5 s, then a trim and a flush."""
    rows = [f"{at},{'write' if at % 3 else 'read'},{at * 65536 % (1 << 24)},65536" for at in range(1500)]
    path = tmp_path / "work.csv"
    path.write_text("\n".join(["time_ms,op,offset,size", *rows, "1501,trim,0,1048576", "1502,flush,0,0"]) + "\n")
    return path


def test_of_a_simulated_run() -> None:
    drive = open_simulated(DRIVE)
    result = drive.run(JOBS, "a.fio", [], 0)
    assert unlike(result, Result) == []
    assert result["series"]["time"].keys() >= set(drive.columns)
    assert {"steadystate", "latency_target"} <= result["jobs"][-1].keys()
    (logged,) = open_simulated(DRIVE).run(LOGGED, "a.fio", [], 0)["logs"]
    assert len(logged["latency_ns"]) == 8 * (16 << 20) // 4096


def test_of_a_run_on_a_real_drive_and_of_what_is_told_meanwhile(tmp_path: Path) -> None:
    progress, kept = Seen(), Seen()
    drive = RealDrive.scratch(str(tmp_path / "scratch.bin"), 64 << 20)
    result = drive.run(JOBS.partition("[steady]")[0], "a.fio", [], 0, progress, kept)
    assert unlike(result, Result) == []
    assert progress.told
    assert kept.told
    assert progress.unlike(Progress) == []
    assert kept.unlike(Result) == []
    assert 0 < kept.told[0]["wall_s"] < result["wall_s"]


def test_of_a_survey_of_its_batches_and_of_a_replay(trace: Path) -> None:
    file = traces.opened(trace, Part())
    survey = file.survey()
    assert unlike(survey, Survey) == []
    assert [unlike(batch, Batch) for batch in file.read(1000)] == [[], []]
    recording = pslc.run(trace, on=DRIVE, replay=Replay(what_if=True, fit="wrap"))
    assert unlike(recording.facts, Facts) == []
    assert recording.facts["trace"]["survey"] == survey


@pytest.mark.parametrize("real", [False, True])
def test_of_a_replay_and_of_what_is_told_meanwhile(
    trace: Path, tmp_path: Path, real: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress, kept = Seen(), Seen()
    results: list[Result] = []

    def recorded(common: Common, result: Result) -> Recording:
        results.append(result)
        return of_result(common, result)

    monkeypatch.setattr(replay, "of_result", recorded)
    on, consent = (str(tmp_path / "scratch.bin"), RealOptions(size=64 << 20)) if real else (DRIVE, None)
    options = RunOptions(real=consent, progress=progress, on_checkpoint=kept)
    replay.replay(Trace(trace, Replay(prefill=real)), on, options)
    *so_far, last = results
    assert unlike(last, ReplayResult) == []
    assert [wrong for of in so_far for wrong in unlike(of, ReplaySoFar)] == []
    assert progress.unlike(StepProgress) == []
    assert [wrong for of in kept.told for wrong in unlike(of.facts, Facts)] == []
    assert bool(kept.told) == bool(so_far) == real, "on a real drive it takes 1.5 s"


def test_of_a_recording_of_several_steps() -> None:
    recording = pslc.run("recovery", on=DRIVE, scope=pslc.Scope(quick=True, fill_first=10))
    assert len(recording.steps) > 1
    assert [wrong for step in recording.steps for wrong in unlike(step, Step)] == []
    assert unlike(recording.scope, ScopeDocument) == []
    assert recording.scope.keys() == ScopeDocument.__annotations__.keys()
    assert unlike(recording.facts, Facts) == []


def test_of_a_drive_that_is_served(tmp_path: Path) -> None:
    listener = Listener(Address(unix=tmp_path / "socket"))
    native = NbdServer(open_simulated(DRIVE), listener.fileno(), "memory", 1.0, "a drive")
    assert unlike(native.status(), ServedStatus) == []
    assert unlike(native.so_far(), Recorded) == []
    recorded, *others = native.end() or pytest.fail("it ends once")
    assert unlike(recorded, Recorded) == []
    assert others == [None, []]
    assert (native.status(), native.so_far(), native.end()) == (None, None, None)
    listener.close()
    with Server(DRIVE, Address(unix=tmp_path / "socket")) as served:
        recording = served.start(lambda status: None, print)
        served.stop()
        facts = recording.result().facts
    assert unlike(facts, Facts) == []
    assert facts["served"]["data"] == "memory"


def test_of_what_is_asked_before_a_run(tmp_path: Path) -> None:
    assert unlike(plan_jobs(JOBS, "a.fio", [], 1 << 30), Planned) == []
    path = tmp_path / "there.bin"
    path.write_bytes(bytes(1 << 20))
    assert unlike(inspect_file(str(path)), InspectedFile) == []


@pytest.mark.skipif(reason() is not None, reason=str(reason()))
def test_of_a_block_device(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(bytes(8 << 20))
    with loop_over(tmp_path / "image") as loop:
        assert unlike(inspect_device(loop.path), InspectedDevice) == []
