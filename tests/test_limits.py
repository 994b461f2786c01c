"""What a machine cannot hold, or nobody waits for, is said before the run and not found by it."""

import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pslc
from pslc.base import errors, memory
from pslc.device.cost import Cost, cost
from pslc.device.target import find_target
from pslc.recording import store
from tests import forked

SIM = "sim:pm871b-128gb"
JOB = "[a]\nioengine=io_uring\nrw=randwrite\nbs=4k\nsize=64m\n"


def command(tmp_path, *words):
    (tmp_path / "a.fio").write_text(JOB)
    return forked.run(["run", "a.fio", *words], tmp_path, timeout=60)


def of(tmp_path, *options, on=SIM) -> Cost:
    return cost([JOB], "a.fio", list(options), find_target(on))


def test_what_the_machine_has_no_memory_for_is_refused_with_both_numbers(tmp_path):
    done = command(tmp_path, "--on", "f.bin", "--size", "100MB", "--iodepth=60000", "--numjobs=16", "--bs=1m")
    assert done.returncode == 2
    assert re.search(r"the run needs 1007 GB of memory, but only [0-9.]+ [GM]B are free", done.stderr)
    assert list(tmp_path.iterdir()) == [tmp_path / "a.fio"]


def test_the_limit_is_what_is_free(tmp_path, monkeypatch):
    (tmp_path / "a.fio").write_text(JOB)
    needed = of(tmp_path).memory_bytes
    monkeypatch.setattr(memory, "free_bytes", lambda: needed - 1)
    with pytest.raises(errors.JobError, match="of memory"):
        pslc.run(tmp_path / "a.fio", on=SIM)
    monkeypatch.setattr(memory, "free_bytes", lambda: needed)
    assert pslc.run(tmp_path / "a.fio", on=SIM).drive_time_s > 0


def test_no_more_is_free_than_ulimit_lets_be():
    code = "from pslc.base.memory import free_bytes; print(free_bytes())"
    most = 700 << 20
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
    )
    assert 0 <= int(done.stdout) < most
    assert memory.free_bytes() <= 1024 * int(Path("/proc/meminfo").read_text().split()[1])


@pytest.mark.parametrize("options", [{"numjobs": "400", "size": "1m"}, {"io_size": "4g", "size": "20g"}])
def test_the_estimate_is_what_the_run_takes(options, tmp_path):
    """At most a quarter and 40 MB below what the run really takes; above it by the copy of the statistics that a run of
    under 5 s never makes."""
    code = f"""
from pathlib import Path
from pslc.device.target import find_target
# The most of getrusage() begins with that of the parent.
used = lambda: 1024 * int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
drive = find_target({SIM!r}).open()
before = used()
drive.run({JOB!r}, "a.fio", {list(options.items())!r}, 0)
print(used() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    taken, said = int(done.stdout), of(tmp_path, *options.items()).memory_bytes
    assert 0.75 * taken - 40e6 <= said <= 3 * taken + 40e6


@pytest.mark.parametrize("on", [["sim:aldrin-pro-2tb"], ["f.bin", "--size", "100MB"]])
@pytest.mark.parametrize("options", [["--loops=4294967295"], ["--time_based", "--runtime=1000d"]])
def test_a_run_of_days_says_so_and_is_not_begun_unasked(on, options, tmp_path):
    done = command(tmp_path, "--on", *on, *options)
    assert done.returncode == 2
    assert re.search(r"takes (about|at least) [\d ]+ days, until \d{4}-", done.stderr)
    assert "--yes" in done.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "a.fio"]


def test_what_is_agreed_to_is_begun(tmp_path):
    (tmp_path / "a.fio").write_text(JOB)
    process = forked.Popen(
        ["run", "a.fio", "--on", SIM, "--rate=1", "--loops=4294967295", "--yes", "--save", "out"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
    )
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130, said
    assert (tmp_path / "out" / "run.json").exists()


def test_a_runtime_ends_what_would_take_days(tmp_path):
    assert of(tmp_path, ("loops", "4294967295")).least_s > 86_400
    assert of(tmp_path, ("loops", "4294967295"), ("runtime", "10s")).least_s < 60


def test_a_rate_is_part_of_how_long_it_takes(tmp_path):
    target = find_target(str(tmp_path / "f.bin"), real=pslc.device.target.RealOptions(size=1 << 27))
    found = cost([JOB], "a.fio", [("rate", "1m")], target)
    assert found.least_s == pytest.approx(64, rel=0.01)


@pytest.mark.parametrize("bs", ["4k", "1m", "64m"])
def test_a_slow_rate_on_a_simulated_drive_heeds_a_stop(bs):
    """A drive that follows its temperature takes 15 us for each of its seconds: 15 s for 1 MiB at 1 B/s."""
    drive = find_target("sim:aldrin-pro-2tb").open()
    stopped = []

    def progress(_):
        stopped.append(time.monotonic())
        return len(stopped) < 5

    result = drive.run("[a]\nrw=write\nsize=1g\n", "a.fio", [("rate", "1"), ("bs", bs)], 0, progress)
    assert result["interrupted"]
    assert time.monotonic() - stopped[4] < 2


KINDS = {
    errors.ProfileError: lambda path: find_target(f"{SIM},capacity=1"),
    errors.JobError: lambda path: pslc.run(path, on=SIM),
    errors.TargetError: lambda path: find_target("sim:nosuch"),
    errors.GuardError: lambda path: find_target("/proc/x.bin", pslc.device.target.RealOptions(size=1 << 20)),
    errors.RecordingError: lambda path: store.load(path.parent),
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_error_has_its_kind_its_message_and_its_hint(kind, tmp_path):
    path = tmp_path / "a.fio"
    path.write_text("[a]\nrw=up; then down\n")
    with pytest.raises(pslc.PslcError) as found:
        KINDS[kind](path)
    error = found.value
    assert type(error) is kind
    assert error.message
    assert error.hint
    assert "hint:" not in error.message
    assert str(error) == f"{error.message}\n\nhint: {error.hint}"


def test_no_error_is_cut_where_the_user_wrote_a_semicolon(tmp_path):
    with pytest.raises(errors.JobError) as found:
        find_target(SIM).open().run("[a]\nrw=write\n", "a.fio", [("rw", "up; then down")], 0)
    assert found.value.message == '--rw=up; then down: rw: "up; then down" is unknown'
    assert found.value.hint == "read, write, trim, rw, trimwrite, or rand before one"


def test_options_that_a_global_section_multiplies_are_limited():
    text = "[global]\n" + "bs=4k\n" * 1000 + "[a]\nrw=write\n" * 1000
    with pytest.raises(errors.JobError, match="300000 options"):
        find_target(SIM).open().run(text, "a.fio", [], 0)


def test_a_name_of_a_megabyte_is_refused_at_once():
    began = os.times().user
    with pytest.raises(errors.JobError, match="unknown option"):
        find_target(SIM).open().run("[a]\n" + "x" * 1_000_000 + "=1\n", "a.fio", [], 0)
    assert os.times().user - began < 1


def test_the_peak_of_memory_is_this_process_own_and_not_that_of_what_started_it():
    starter = ("import subprocess, sys; much = bytearray(400_000_000); "
               "subprocess.run([sys.executable, '-c', "
               "'from pslc.base import limits; print(limits.peak_bytes())'], check=True)")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", starter], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 200_000_000


def test_more_than_all_of_the_size_is_refused_as_by_fio(command):
    done = command("run", "--name=w", "--rw=write", "--size=8m", "--io_size=150%", "--on", "sim:pm871b-128gb")
    assert done.returncode == 2
    assert "150% is more than all of it" in done.stderr
