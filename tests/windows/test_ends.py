"""What ends a run on Windows: Ctrl-C and Ctrl-Break of its console. What was measured until then is kept."""

import json
import os
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "win32", reason="on Windows alone: make windows")

MAX_START_S = 300
"""Until a run measures: Python takes a minute to start under Wine on a machine that is busy."""

BEGIN = """
import pathlib, signal, sys, threading, time
from pslc.__main__ import main

def interrupt():
    while not pathlib.Path("scratch.bin").exists():
        time.sleep(0.2)
    time.sleep(3)
    signal.raise_signal(signal.{name})

threading.Thread(target=interrupt, daemon=True).start()
sys.argv = ["pslc", *"run job.fio --on ./scratch.bin --size 16MB --yes --save saved".split()]
main()
"""
"""A run that gets a signal as soon as it measures; the C library of Windows makes these two of the console's events."""


@pytest.mark.parametrize("name", ["SIGINT", "SIGBREAK"])
def test_an_interrupted_run_keeps_what_was_measured_and_removes_its_scratch_file(tmp_path, name):
    job = tmp_path / "job.fio"
    job.write_text("[a]\nrw=write\nbs=64k\nsize=4m\ntime_based\nruntime=600s\nrate=4m\n")
    done = subprocess.run(
        [sys.executable, "-c", BEGIN.format(name=name)],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"PYTHONUTF8": "1"},
        timeout=MAX_START_S,
        check=False,
    )
    assert done.returncode == 130, done.stdout.decode()
    saved = json.loads((tmp_path / "saved" / "run.json").read_text(encoding="utf-8"))
    assert saved["interrupted"]
    assert saved["jobs"][0]["write"]["total_ios"] > 0
    assert not (tmp_path / "scratch.bin").exists()


def test_a_killed_run_leaves_no_scratch_file(tmp_path):
    (tmp_path / "job.fio").write_text("[a]\nrw=write\nbs=64k\nsize=4m\ntime_based\nruntime=600s\nrate=4m\n")
    talk = tmp_path / "talk.txt"
    code = BEGIN.format(name="SIGINT").replace("time.sleep(3)", "time.sleep(600)")
    with talk.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    scratch = tmp_path / "scratch.bin"
    began = time.monotonic()
    while not scratch.exists() and process.poll() is None and time.monotonic() < began + MAX_START_S:
        time.sleep(0.2)
    assert scratch.exists(), f"it has a name while it is measured on\n{talk.read_text(errors='replace')}"
    process.kill()
    process.wait(30)
    began = time.monotonic()
    while scratch.exists() and time.monotonic() < began + 10:
        time.sleep(0.2)
    assert not scratch.exists()
