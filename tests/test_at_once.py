"""Suites at once, each in a process: the same as one after the other, and nothing is lost or goes on for ever."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import pslc
from pslc import suites
from pslc.base import memory, work
from pslc.device.region import Scope
from pslc.recording import store
from pslc.runner import campaign, parallel
from pslc.runner.job_logs import JobLogs
from pslc.runner.options import RunOptions
from pslc.runner.parallel import Task
from pslc.schema.results import StepProgress

LONG = "sim:sn850-1tb"


def task(name: str, on: str = LONG, *options: tuple[str, str]) -> Task:
    return Task(name, on, RunOptions(options=options, logs=JobLogs()))


def test_the_catalogue_at_once_is_the_catalogue_one_after_the_other(small: str, monkeypatch: pytest.MonkeyPatch):
    names = ["burst", "fill", "mixed", "qd-sweep", "recovery"]
    monkeypatch.setattr(suites, "names", lambda: names)
    found = []
    for cores in (1, 2):
        monkeypatch.setattr(work, "cores", lambda cores=cores: cores)
        lines: list[str] = []
        kept: list[list[str]] = []
        spec = campaign.CampaignSpec("all", small, RunOptions(seed=5, scope=Scope(quick=True), log=lines.append))
        done = campaign.run(spec, on_checkpoint=lambda so_far, to=kept: to.append([r.suite for r in so_far]))
        assert [recording.suite for recording in done] == names
        assert len([line for line in lines if " of 5: " in line]) == 5
        found.append([(recording.findings, recording.jobs, recording.seed) for recording in done])
    assert found[0] == found[1]
    assert set(kept[-1]) == set(names)
    assert [len(so_far) for so_far in kept] == [1, 2, 3, 4, 5]


def test_logs_of_the_catalogue_at_once_are_those_of_one_after_the_other(
    small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    names = ["burst", "fill"]
    monkeypatch.setattr(suites, "names", lambda: names)
    texts = []
    for cores in (1, 2):
        monkeypatch.setattr(work, "cores", lambda cores=cores: cores)
        (tmp_path / "logs").mkdir(exist_ok=True)
        logs = JobLogs(tmp_path / "logs")
        options = RunOptions(options=[("write_bw_log", "x")], scope=Scope(quick=True), logs=logs)
        campaign.run(campaign.CampaignSpec("all", small, options))
        assert logs.write() == []
        texts.append({path.name: path.read_text() for path in (tmp_path / "logs").iterdir()})
        for path in (tmp_path / "logs").iterdir():
            path.unlink()
    assert texts[0] == texts[1]
    assert texts[0]


@pytest.mark.parametrize("what", ["fill", "all"])
def test_a_log_that_fails_after_the_run_is_exit_code_3_and_the_recording_is_kept(
    what: str, small: str, small_disk: Callable[[str], Path], command: Any, tmp_path: Path
):
    place = small_disk("32k")
    (place / "fill").write_bytes(bytes(20 << 10))
    done = command("run", what, "--on", small, "--quick", "--write_iolog=x", "--logs-to", str(place), "--save", "run")
    assert done.returncode == 3, done.stderr
    assert f"warning: the log {place}/x" in done.stderr
    assert "is not written: No space left on device" in done.stderr
    assert [path.name for path in place.iterdir()] == ["fill"]
    kept = [path.parent for path in (tmp_path / "run").rglob("run.json")]
    assert not [folder for folder in kept if not store.load(folder).jobs]
    assert len(kept) == (1 if what == "fill" else len(suites.catalogue()))


def test_a_suite_that_cannot_be_run_does_not_take_the_other_with_it(small: str):
    tasks = [task("fill", on) for on in ("sim:nowhere", small)]
    begun: list[str] = []
    made = {of.on: made for of, made in parallel.results(tasks, 2, RunOptions(), begun.append)}
    assert isinstance(made[small], pslc.Recording)
    assert isinstance(made["sim:nowhere"], pslc.PslcError)
    assert "nowhere" in made["sim:nowhere"].message
    assert made["sim:nowhere"].hint
    assert begun == ["fill", "fill"]


def test_an_interrupt_ends_what_is_under_way_and_begins_nothing_more():
    tasks = [task(name) for name in ("random-steady", "snia", "fill")]
    begun: list[str] = []
    said: list[str] = []

    def progress(state: StepProgress) -> bool:
        said.append(state["step"])
        return not state["step"]

    made = [made for _, made in parallel.results(tasks, 2, RunOptions(progress=progress), begun.append)]
    assert sorted(begun) == ["random-steady", "snia"]
    assert len(made) == 2
    assert not [one for one in made if not (isinstance(one, pslc.Recording) and one.interrupted)]
    assert {step.split()[0] for step in said if step} <= set(begun)


def test_as_many_run_at_once_as_there_is_memory_for(monkeypatch: pytest.MonkeyPatch):
    tasks = [task(name) for name in ("fill", "random-steady", "burst")]
    monkeypatch.setattr(work, "cores", lambda: 8)
    monkeypatch.setattr(memory, "free_bytes", lambda: 64 << 30)
    in_order, count = parallel.workers(tasks)
    assert count == 3
    assert {of.name for of in in_order} == {"fill", "random-steady", "burst"}
    assert in_order[0].name == "random-steady"
    monkeypatch.setattr(memory, "free_bytes", lambda: 1 << 30)
    assert parallel.workers(tasks)[1] == 1
    days = [task(of.name, LONG, ("runtime", "30d"), ("time_based", "1")) for of in tasks]
    monkeypatch.setattr(memory, "free_bytes", lambda: 64 << 30)
    assert parallel.workers(days)[1] == 1


@pytest.mark.parametrize("after_s", [0.0, 0.5, 2.5])
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_whole_group_ends_the_catalogue_and_keeps_what_was_measured(
    tmp_path: Path, after_s: float, sent: signal.Signals
):
    program = str(Path(sys.executable).parent / "pslc")
    command = [program, "run", "all", "--on", LONG, "--save", "runs"]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                               start_new_session=True)  # fmt: skip
    assert running.stderr is not None
    # A busy machine takes its time until the first suite starts.
    assert "1 of " in running.stderr.readline()
    time.sleep(after_s)
    os.killpg(running.pid, sent)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert "Traceback" not in said
    assert "bug" not in said
    assert not list(tmp_path.glob("pslc-bug-*"))


class Answers:
    """Progress that is wanted, unwanted, or interrupted twice; `states` are those it was asked with."""

    def __init__(self) -> None:
        self.interrupts = 0
        self.states: list[StepProgress] = []

    def __call__(self, state: StepProgress) -> bool:
        self.states.append(state)
        if self.interrupts > 1:
            raise KeyboardInterrupt
        return self.interrupts == 0


def workers_of(pid: int) -> list[int]:
    """Children that are programs of their own by now: the parent waits for one that was not to be."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if b"run" not in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("begun", [True, False])
def test_a_catalogue_whose_workers_hang_says_so_and_is_left_at_the_second_signal(tmp_path: Path, begun: bool):
    """They hang at work, and as they start."""
    program = str(Path(sys.executable).parent / "pslc")
    running = subprocess.Popen([program, "run", "all", "--on", LONG, "--save", "runs"], cwd=tmp_path,
                               stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                               env=os.environ | {"PYTHONFAULTHANDLER": "1"})  # fmt: skip
    assert running.stderr is not None
    stopped: set[int] = set()
    # What says nothing shows where it is; and none of its children, which are stopped, keeps its end from being seen.
    timer = threading.Timer(150, lambda: kill({running.pid: signal.SIGABRT, **dict.fromkeys(stopped, signal.SIGKILL)}))
    timer.start()
    if begun:
        assert "1 of " in running.stderr.readline()
        time.sleep(1)
    deadline = time.monotonic() + 60
    while len(stopped) < (1 if work.cores() == 1 else 2) and time.monotonic() < deadline:
        for child in workers_of(running.pid):
            os.kill(child, signal.SIGSTOP)
            stopped.add(child)
        time.sleep(0.01)
    try:
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        heard = time.monotonic()
        lines: list[str] = []
        while not (lines and "interrupted; waiting" in lines[-1]):
            lines.append(running.stderr.readline())
            assert lines[-1], "".join(lines)
        assert time.monotonic() - heard < 10
        line = lines[-1]
        assert "interrupt again to leave at once" in line
        assert begun or "a process that has not begun" in line
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=15)
        assert running.returncode == 130, errors
        assert "Traceback" not in errors
        assert not [child for child in stopped if Path(f"/proc/{child}/exe").exists()]
        stopped.clear()
    finally:
        timer.cancel()
        running.kill()
        kill(dict.fromkeys(stopped, signal.SIGKILL))


def kill(processes: dict[int, signal.Signals]) -> None:
    """Send each process its signal, if it is still there."""
    for process, number in processes.items():
        with suppress(ProcessLookupError):
            os.kill(process, number)


def test_an_interrupt_is_heard_though_no_worker_has_begun(monkeypatch: pytest.MonkeyPatch):
    answers, lines = Answers(), list[str]()
    watched = parallel._Watched(RunOptions(progress=answers, log=lines.append), lambda _: None, True)
    assert watched.interrupts() == 0
    answers.interrupts = 1
    assert watched.interrupts() == 1
    assert lines == []
    monkeypatch.setattr(parallel, "WORD_S", -1.0)
    assert [watched.interrupts(), watched.interrupts()] == [1, 1]
    assert lines == [
        "interrupted; waiting for the end of a process that has not begun; interrupt again to leave at once"
    ]
    answers.interrupts = 2
    with pytest.raises(KeyboardInterrupt):
        watched.interrupts()
    assert [state["step"] for state in answers.states] == [""] * 5


def test_two_interrupts_at_once_end_what_is_under_way_at_once():
    """The first was never seen alone."""
    began = time.monotonic()

    def interrupts() -> int:
        if time.monotonic() > began + 2:
            raise KeyboardInterrupt
        return 0

    with pytest.raises(KeyboardInterrupt):
        list(work.run([60.0], time.sleep, work.Local(1, 60.0), None, interrupts))
    assert time.monotonic() - began < 30
