"""The pool of work, and the processes that it is made of."""

import ast
import importlib.metadata
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from benches.small import PROFILE

from pslc import extras
from pslc.base import children, work, workers
from pslc.base.errors import PslcError, TargetError
from pslc.cli import NAMES
from tests.conftest import ROOT
from tests.forked import eventually

BIN = Path(sys.executable).parent


# ---- tasks


def square(number):
    return number * number


def end_once(task):
    """End this process, the first time that a number is asked for."""
    folder, number, sent = task
    ran = folder / f"{number} {os.getpid()}"
    ran.touch()
    if sent is not None and len(list(folder.glob(f"{number} *"))) <= (1 if sent > 0 else 99):
        os.kill(os.getpid(), abs(sent))
    return number


def fail(number):
    if number == 1:
        raise TargetError("what", "hint", "a-code")
    if number == 2:
        raise ValueError("of a bug")
    if number == 3:
        sys.exit(7)
    return Unsent() if number == 4 else number


class Unsent:
    def __reduce__(self):
        raise TypeError("not to be sent")


def tell(number):
    print("talk\x1b]0;OWNED\x07")
    workers.report(f"half of {number}")
    return sys.path, os.environ.get("OPENBLAS_NUM_THREADS")


def wait(folder):
    """Do as a run does: look whether it is wanted."""
    (folder / f"began {os.getpid()}").touch()
    while workers.is_wanted():
        time.sleep(0.02)
    return "partial"


def sleep(folder):
    (folder / f"began {os.getpid()}").touch()
    time.sleep(1000)


def hold(folder):
    """Keep the interpreter: no other thread of this process runs."""
    (folder / f"began {os.getpid()}").touch()
    return 10**10**8


# ---- the pool


def test_each_task_is_given_with_its_result_and_a_map_in_order():
    assert dict(work.run(range(40), square, work.Local(2))) == {number: number * number for number in range(40)}
    with work.Pool(work.Local(2)) as pool:
        assert pool.map(square, [3, 1, 2]) == [9, 1, 4]
        assert pool.map(square, []) == []
        with pytest.raises(TargetError):
            pool.map(fail, [0, 1])


@pytest.mark.parametrize(("sent", "dies"), [(signal.SIGKILL, 1), (-signal.SIGKILL, 2), (-signal.SIGSEGV, 2)])
def test_a_task_whose_worker_is_killed_runs_once_more_and_alone(tmp_path, sent, dies):
    tasks = [(tmp_path, number, sent if number == 3 else None) for number in range(12)]
    results = {task[1]: result for task, result in work.run(tasks, end_once, work.Local(2))}
    lost = results.pop(3)
    assert results == {number: number for number in range(12) if number != 3}
    assert len(list(tmp_path.glob("3 *"))) == 2
    # Two files of one tick of the clock are as old as each other.
    last = max(path.stat().st_mtime_ns for path in tmp_path.iterdir())
    assert max(path.stat().st_mtime_ns for path in tmp_path.glob("3 *")) == last, "after all others"
    if dies == 1:
        assert lost == 3
    else:
        assert lost.message == f"its process was ended by {signal.Signals(-sent).name}, twice"
        assert lost.code == work.KILLED
        assert lost.hint


def test_an_error_of_a_task_is_its_result_whatever_it_is(capfd):
    results = dict(work.run(range(6), fail, work.Local(2)))
    assert (results[0], results[5]) == (0, 5)
    assert (type(results[1]), results[1].message, results[1].code) == (TargetError, "what", "a-code")
    assert "in fail" in "".join(results[2].__notes__), "its own traceback"
    assert "SystemExit: 7" in str(results[3])
    assert "not to be sent" in str(results[4])
    assert capfd.readouterr() == ("", "")


def test_what_a_task_prints_is_talk_and_passes_the_filter(capfd):
    states = []
    work_of = work.run([1, 2], tell, work.Local(1), on_state=lambda task, state: states.append((task, state)))
    ((_, (path, threads)), _) = list(work_of)
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "talk\\u001b]0;OWNED\\u0007\n" * 2)
    assert states == [(1, "half of 1"), (2, "half of 2")]
    assert threads == os.environ.get("OPENBLAS_NUM_THREADS", "1")
    assert "" not in path


@pytest.mark.parametrize(
    ("function", "interrupts", "grace_s", "longest_s", "results"),
    [
        (wait, (1, 1), 30.0, 5, ["partial"] * 2),
        (sleep, (1, 1), 0.7, 5, []),
        (hold, (1, 1), 0.7, 5, []),
        (sleep, (1, 2), None, 5, []),
    ],
)
def test_an_interrupt_ends_tasks_politely_and_time_or_a_second_one_at_once(
    tmp_path, function, interrupts, grace_s, longest_s, results
):
    began = []

    def interrupt():
        if len(list(tmp_path.iterdir())) < 2:
            return 0
        began.append(time.monotonic())
        return interrupts[time.monotonic() > began[0] + 0.5]

    made = list(work.run([tmp_path] * 9, function, work.Local(2, grace_s), interrupts=interrupt))
    assert time.monotonic() - began[0] < longest_s
    assert [result for _, result in made] == results
    assert len(list(tmp_path.iterdir())) == 2, "no further task begins"
    assert not alive(tmp_path)


@pytest.mark.parametrize("function", [sleep, hold])
def test_workers_end_with_a_caller_that_is_killed_whatever_they_do(tmp_path, function):
    program = (
        f"from pathlib import Path\nfrom pslc.base import work\nfrom tests.test_work import {function.__name__} as f\n"
        f"list(work.run([Path({str(tmp_path)!r})] * 2, f, work.Local(2)))\n"
    )
    caller = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
    eventually(lambda: len(list(tmp_path.iterdir())) == 2)
    time.sleep(0.3)
    assert alive(tmp_path)
    caller.kill()
    caller.wait()
    eventually(lambda: not alive(tmp_path))


def alive(folder):
    """The workers that touched a file there and have not ended."""
    pids = [path.name.split()[1] for path in folder.glob("began *")]
    states = [Path(f"/proc/{pid}/stat") for pid in pids]
    return [path for path in states if path.exists() and path.read_text().rpartition(")")[2].split()[0] not in "ZX"]


def test_a_pool_leaves_nothing_behind_that_could_fail_at_the_end_of_the_program():
    # An executor of concurrent.futures left a thread, and a program that ended meanwhile said "Bad file descriptor".
    before = threading.active_count()
    open_before = len(os.listdir("/proc/self/fd"))
    iterator = work.run(range(50), square, work.Local(2))
    next(iterator)
    iterator.close()
    assert threading.active_count() == before
    assert len(os.listdir("/proc/self/fd")) == open_before


def test_a_worker_that_does_not_start_is_an_error_in_words(monkeypatch):
    monkeypatch.setattr(workers, "_SERVE", "raise SystemExit(3)")
    with pytest.raises(PslcError, match="a worker process does not start: exit code 3"):
        list(work.run([1], square, work.Local(1)))


# ---- one place for all


def test_processes_are_made_in_one_place():
    for path in [
        *(ROOT / "python/pslc").rglob("*.py"),
        *(ROOT / "benches").rglob("*.py"),
        *(ROOT / "docs").rglob("*.py"),
    ]:
        name = str(path.relative_to(ROOT))
        tree = ast.parse(path.read_text())
        imported = {of.name for node in ast.walk(tree) if isinstance(node, ast.Import) for of in node.names}
        imported |= {
            f"{node.module}.{of.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for of in node.names
        }
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        pools = {of for of in imported if of.startswith("multiprocessing") or "ProcessPool" in of}
        starts = {of for of in imported if of.split(".")[0] in ("subprocess", "pty", "_posixsubprocess")}
        starts |= {
            of for of in called if re.match(r"(os|posix)\.(fork|exec|spawn|posix_spawn|popen|system|startfile)", of)
        }
        if name == "python/pslc/base/children.py":
            assert starts, "the test sees what it looks for"
        elif name.startswith("python/"):
            assert not pools | starts, name
        else:
            assert not pools, name


DRIVE = "sim:./small.toml"
COMMANDS = {
    "advise": ["advise", "t.iolog", "--on", DRIVE],
    "analyze": ["analyze", "kept"],
    "compare": ["compare", "kept", "kept"],
    "crash": ["crash", "--on", DRIVE, "--check", "true", "--power-cut", "1", "--", "true"],
    "drives": ["drives"],
    "examples": ["examples"],
    "export": ["export", "kept", "--as", "csv"],
    "fit": ["fit", "--published", "cache=42GB speed1=3000MB/s speed2=1500MB/s", "--capacity", "500GB", "-o", "t.toml"],
    "lab": ["lab", "--port", "0"],
    "picture": ["picture", "kept", "-o", "a.svg"],
    "probe": ["probe", "."],
    "replay": ["replay", "t.iolog", "--on", DRIVE],
    "report": ["report", "kept", "-o", "a.html"],
    "rerun": ["rerun", "kept"],
    "run": ["run", "all", "--quick", "--on", DRIVE, "--no-report"],
    "serve": ["serve", DRIVE, "--unix", "s"],
    "study": ["study", "--run", "fill", "--on", DRIVE, "--seed", "1,2", "--policy", "mine.py:Mine"],
    "trace": ["trace", "show", "t.iolog"],
    "undo": ["undo", "kept"],
    "watch": ["watch", "/dev/null"],
}
ENDLESS = {"fit", "lab", "run", "serve"}
"""Commands that are ended once their processes have begun."""
OTHERS = {
    "pslc-fio": [BIN / "pslc-fio", "--name=a", "--ioengine=null", "--rw=write", "--size=1m"],
    "run under a policy": [BIN / "pslc", "run", "fill", "--on", DRIVE, "--no-report", "--policy", "mine.py:Mine"],
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A folder with a module for each of the standard library and of what is installed here, none of which may run."""
    folder = tmp_path_factory.mktemp("hostile")
    ran = tmp_path_factory.mktemp("ran")
    names = {*sys.stdlib_module_names, *importlib.metadata.packages_distributions(), "sitecustomize", "usercustomize"}
    for name in names - {"pslc"}:
        if name.isidentifier():
            (folder / f"{name}.py").write_text(f"open({str(ran / name)!r}, 'w').close()\n")
    (folder / "small.toml").write_text(PROFILE)
    (folder / "mine.py").write_text("import pslc\nclass Mine(pslc.Policy): pass\n")
    writes = "".join(f"{at} f write {4096 * at} 4096\n" for at in range(1, 50))
    (folder / "t.iolog").write_text(f"fio version 3 iolog\n0 f add\n0 f open\n{writes}")
    kept = ["run", "burst", "--quick", "--on", DRIVE, "--no-report", "--save", "kept"]
    subprocess.run([BIN / "pslc", *kept], cwd=folder, check=True, capture_output=True)
    return folder, ran


def test_every_command_is_tried_beside_modules_of_somebody_else():
    assert set(COMMANDS) == {*NAMES, *extras.commands()}


@pytest.mark.parametrize("name", [*COMMANDS, *OTHERS])
def test_no_module_of_the_current_folder_runs(hostile, name):
    folder, ran = hostile
    for path in ran.iterdir():
        path.unlink()
    words = OTHERS.get(name) or [BIN / "pslc", *COMMANDS[name]]
    child = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        said, _ = child.communicate(timeout=12 if name in ENDLESS else 120)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGTERM)
        said, _ = child.communicate(timeout=60)
    assert sorted(path.name for path in ran.iterdir()) == []
    assert "Traceback" not in said
    ends = {0, -signal.SIGTERM, 130} if name in ENDLESS else {2} if name in ("undo", "watch") else {0}
    assert child.returncode in ends, said


def test_a_module_of_the_current_folder_would_be_seen(hostile):
    folder, ran = hostile
    subprocess.run([sys.executable, "-c", "import pickle"], cwd=folder, check=False, capture_output=True)
    assert "pickle" in {path.name for path in ran.iterdir()}


def test_no_program_of_the_current_folder_is_found(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    for path in (tmp_path / "tool", tmp_path / "bin" / "tool"):
        path.write_text("#!/bin/sh\necho mine\n")
        path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", "bin", "/usr/bin"]))
    assert children.find("tool") is None
    with pytest.raises(FileNotFoundError, match="no program tool on PATH"):
        children.run(["tool"])
    assert children.run(["./tool"]).text == "mine\n", "who names the folder means it"
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert children.find("tool") == str(tmp_path / "bin" / "tool")


def test_a_program_that_takes_too_long_is_killed():
    began = time.monotonic()
    with pytest.raises(TimeoutError, match=r"sleep took longer than 0\.3 s"):
        children.run(["sleep", "60"], timeout_s=0.3)
    assert time.monotonic() - began < 5
