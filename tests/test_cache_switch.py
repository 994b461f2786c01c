"""The switch of a UFS drive's buffer during a run, on a folder like that of its host controller."""

import json
import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

import pslc
from pslc.base.errors import PslcError
from pslc.device import cache_report, cache_switch
from pslc.device.target import RealOptions
from pslc.schema.cache_setting import CacheSetting
from pslc.suites import modes
from tests import forked
from tests.forked import eventually
from tests.served import has, served
from tests.test_cache_report import UFS

pytestmark = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root")

RUN = (
    "run",
    "fill",
    "--on",
    "scratch.bin",
    "--size",
    "64MB",
    "--no-report",
    "--yes",
    "--sysfs",
    "ufs",
    "--save",
    "run",
)
FILES = {**UFS, "enable_wb_buf_flush": "1"}


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """Files of a host controller whose name no other test has."""
    folder = tmp_path / f"ufs-{os.getpid()}-{time.monotonic_ns()}"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{text}\n")
    (tmp_path / "ufs").symlink_to(folder)
    return folder


def switches(host: Path) -> list[str]:
    return [(host / name).read_text().strip() for name in ("wb_on", "enable_wb_buf_flush")]


@pytest.mark.parametrize(("setting", "meanwhile"), [("off", ["0", "1"]), ("no-flush", ["1", "0"]), ("on", ["1", "1"])])
def test_a_buffer_is_switched_for_a_run_and_back_at_its_end(setting, meanwhile, host, tmp_path, command):
    with cache_switch.switched(host / "disk", CacheSetting(setting), tmp_path / "run"):
        assert switches(host) == meanwhile
    assert switches(host) == ["1", "1"]
    done = command.fine(*RUN, "--buffer", setting)
    assert f"plan: sets the SLC buffer of the drive to {setting}, and back at the end" in done.stderr
    facts = pslc.load(tmp_path / "run").facts
    assert [facts[at]["cache"]["is_on"] for at in ("before", "after")] == [meanwhile[0] == "1"] * 2
    assert switches(host) == ["1", "1"]
    assert not list(cache_switch.STATE.glob(f"*{host.name}*"))
    assert "undo" not in command.fine("probe", ".", "--sysfs", "ufs").stdout


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_buffer_is_put_back_however_a_run_ends(sent, host, tmp_path, command):
    process = forked.Popen([*RUN, "--buffer", "off", "--rate=10m"], cwd=tmp_path, stdout=-1, stderr=-1)
    eventually(lambda: switches(host) == ["0", "1"])
    time.sleep(random.uniform(0, 1))
    process.send_signal(sent)
    process.communicate(timeout=60)
    if sent == signal.SIGKILL:
        assert switches(host) == ["0", "1"]
        assert f"pslc undo {tmp_path / 'run'}" in " ".join(command("probe", ".", "--sysfs", "ufs").stdout.split())
        assert "has switched the SLC buffer" in command.refused(*RUN, "--buffer", "on").stderr
        assert "the SLC buffer is switched as before the run" in command.fine("undo", "run").stderr
    assert switches(host) == ["1", "1"]
    assert not json.loads(command("probe", ".", "--sysfs", "ufs", "--json").stdout)["now"]["cache"]["left_by"]
    with suppress(FileNotFoundError):
        (tmp_path / "scratch.bin").unlink()


@pytest.mark.long
def test_a_buffer_is_put_back_at_30_ends_at_drawn_times(host, tmp_path, command):
    draw, killed = random.Random(1), 0
    for number in range(30):
        run = (*RUN[:-1], f"run-{number}")
        process = forked.Popen([*run, "--buffer", "off", "--rate=10m"], cwd=tmp_path, stdout=-1, stderr=-1)
        time.sleep(draw.uniform(0, 3))
        process.send_signal(draw.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]))
        process.communicate(timeout=60)
        if switches(host) != ["1", "1"]:
            killed += 1
            assert process.returncode == -signal.SIGKILL
            assert f"undo {tmp_path / run[-1]}" in " ".join(command("probe", ".", "--sysfs", "ufs").stdout.split())
        # Killed between the note and the switch, it has changed nothing, and undo forgets it.
        command("undo", run[-1])
        assert switches(host) == ["1", "1"]
        assert not list(cache_switch.STATE.glob(f"*{host.name}*"))
        (tmp_path / "scratch.bin").unlink(missing_ok=True)
    assert killed


def test_a_drive_whose_own_flag_stays_is_an_error_and_nothing_is_left(host, tmp_path, monkeypatch):
    monkeypatch.setattr(cache_switch, "MAX_FLAG_WAIT_S", 0.2)
    (host / "flags").mkdir()
    (host / "flags/wb_enable").write_text("true\n")
    switch = cache_switch.switched(host / "disk", CacheSetting.OFF, tmp_path / "run")
    with pytest.raises(PslcError, match="the drive's own flags/wb_enable is true after 0 was written to wb_on"):
        switch.__enter__()
    assert switches(host) == ["1", "1"]
    assert not list(cache_switch.STATE.glob(f"*{host.name}*"))


@pytest.mark.skipif(not has("nbdsh"), reason="libnbd is not installed")
def test_the_switch_of_a_served_drive_acts_on_its_cache(tmp_path, command):
    ufs = tmp_path / "ufs"
    with served(tmp_path, "sim:pm871b-128gb,capacity=2GB,cache.static=200MB", "--sysfs", "ufs") as on:

        def used_tenths() -> int:
            on.nbdsh("import os\nfor at in range(150): h.pwrite(os.urandom(1 << 20), at << 20)")
            time.sleep(0.4)
            return 10 - cache_report.free_tenths(ufs / "disk")

        with cache_switch.switched(ufs / "disk", CacheSetting.OFF, tmp_path / "run"):
            assert (ufs / "flags/wb_enable").read_text() == "false\n"
            assert used_tenths() == 0
        with cache_switch.switched(ufs / "disk", CacheSetting.NO_FLUSH, tmp_path / "run"):
            assert used_tenths() >= 4
            time.sleep(2.5)
            assert cache_report.free_tenths(ufs / "disk") <= 6
        eventually(lambda: cache_report.free_tenths(ufs / "disk") >= 9)
        (ufs / "wb_on").write_text("what\n")
        time.sleep(0.6)
        assert used_tenths() >= 4
    # Served no more, it has no flag that a switch put back later would wait for.
    assert not list((ufs / "flags").iterdir())


def test_a_served_drive_file_has_no_switch_since_its_journal_knows_of_none(tmp_path, command):
    command.fine("drives", "create", "disk.pslc", "--like", "pm871b-128gb,capacity=2GB,cache.static=200MB")
    with served(tmp_path, "disk.pslc", "--sysfs", "ufs"):
        assert cache_report.cache_report(tmp_path / "ufs/disk")["not_switched"] == "the driver does not allow it"


@pytest.mark.long
@pytest.mark.skipif(not has("nbdfuse"), reason="nbdfuse is not installed")
def test_the_suite_modes_finds_the_curves_of_the_profile_on_a_served_drive(tmp_path, monkeypatch):
    drive, speed, rest_s, scope = "sim:pm871b-128gb,capacity=1GB,cache.static=60MB", 0.5, 3.0, pslc.Scope(quick=True)
    on = tmp_path / "drive"
    on.touch()
    with served(tmp_path, drive, "--sysfs", "ufs", "--speed", str(speed)) as server:
        with subprocess.Popen(["nbdfuse", on, "--unix", server.socket]) as mount:
            eventually(lambda: on.stat().st_size > 0)
            monkeypatch.setattr(modes, "QUICK_REST_S", rest_s / speed)
            options = RealOptions(overwrite_file=on.name, sysfs=tmp_path / "ufs", ends=tmp_path / "modes")
            measured = pslc.run("modes", on=str(on), real=options, scope=scope)
            mount.terminate()
        assert cache_report.cache_report(tmp_path / "ufs/disk")["is_on"]
    monkeypatch.setattr(modes, "QUICK_REST_S", rest_s)
    simulated = pslc.run("modes", on=drive, scope=scope)
    curves = list(zip(measured.findings["modes"], simulated.findings["modes"], strict=True))
    for name in ("mean_bytes_per_s", "again_bytes_per_s"):
        speeds = [[row[name] / factor for row, factor in zip(pair, (speed, 1.0), strict=True)] for pair in curves]
        assert [left for left, _ in speeds] == pytest.approx([right for _, right in speeds], rel=0.05)


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [("capabilities/write_booster", "0", "the driver does not allow it"),
     ("attributes/wb_life_time_est", "0x0b", "switched it off for good"),
     ("wb_on", None, "has no wb_on")],
)  # fmt: skip
def test_a_buffer_that_cannot_be_switched_is_refused_before_anything_is_written(
    name, text, word, host, tmp_path, command
):
    (host / name).unlink()
    if text is not None:
        (host / name).write_text(text)
    assert word in command.refused(*RUN, "--buffer", "off").stderr
    assert not (tmp_path / "scratch.bin").exists()


def test_a_drive_without_such_a_buffer_is_refused(tmp_path, command):
    words = ("run", "fill", "--on", "scratch.bin", "--size", "64MB", "--yes", "--buffer", "off")
    assert "no SLC buffer with a switch" in command.refused(*words).stderr


def test_a_kernel_that_keeps_its_own_value_is_an_error_and_nothing_is_left(host, tmp_path, monkeypatch):
    monkeypatch.setattr(cache_switch.writer, "tell_kernel", lambda *_: None)
    switch = cache_switch.switched(host / "disk", CacheSetting.OFF, tmp_path / "run")
    with pytest.raises(PslcError, match="wb_on is 1 after 0 was written"):
        switch.__enter__()
    assert not list(cache_switch.STATE.glob(f"*{host.name}*"))


def test_the_suite_modes_switches_the_buffer_for_its_steps_and_back_at_the_end(host, tmp_path, monkeypatch):
    monkeypatch.setattr(modes, "QUICK_REST_S", 0.0)
    steps = []
    real = RealOptions(size=64_000_000, sysfs=tmp_path / "ufs", ends=tmp_path / "run")
    scratch, scope = str(tmp_path / "scratch.bin"), pslc.Scope(quick=True)
    recording = pslc.run(
        "modes", on=scratch, real=real, scope=scope, log=lambda line: steps.append((line, *switches(host)))
    )
    named = {(line.split()[2], *state) for line, *state in steps if line.startswith("step ")}
    assert named == {("off", "0", "1"), ("no-flush", "1", "0"), ("on", "1", "1")}
    assert switches(host) == ["1", "1"]
    assert [row["setting"] for row in recording.findings["modes"]] == ["on", "no-flush", "off"]
    with pytest.raises(PslcError, match="switches the SLC buffer itself"):
        pslc.run("modes", on=scratch, real=replace(real, cache=CacheSetting.OFF))


def test_the_suite_modes_is_refused_where_nothing_can_be_switched(tmp_path, command):
    words = ("run", "modes", "--on", "scratch.bin", "--size", "64MB", "--yes")
    assert "no SLC buffer with a switch" in command.refused(*words).stderr
