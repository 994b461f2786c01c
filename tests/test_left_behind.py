"""A run of tests that leaves processes behind, and tests that take too much processor time."""

import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytest_plugins = "pytester"
pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="it takes Linux's /proc")

SLEEPS = """
import subprocess, sys

def test_it():
    words = [sys.executable, "-c", "import time; time.sleep(600)", "sleeper", str(__file__)]
    subprocess.Popen(words, start_new_session=True)
"""
BUSY = """
import time

def test_it():
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
"""


def outcome(pytester: pytest.Pytester, test: str, old: str = "", new: str = "") -> tuple[int, str]:
    """Exit code and output of a run of one test with the project's own conftest, in which a text is changed."""
    conftest = (ROOT / "tests/conftest.py").read_text()
    assert old in conftest
    pytester.makeconftest(conftest.replace(old, new) if old else conftest)
    pytester.makepyfile(test)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        done = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-m", "not long")
    return done.ret, done.stdout.str()


def still_runs(pytester: pytest.Pytester) -> bool:
    """Whether the sleeper is there a second after it was killed."""
    sleeper = f"sleeper {pytester.path}"
    deadline = time.monotonic() + 1
    while True:
        commands = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        if sleeper not in commands or time.monotonic() > deadline:
            return sleeper in commands


def test_a_process_that_outlives_the_run_is_named_ended_and_fails_it(pytester):
    code, output = outcome(pytester, SLEEPS)
    assert code == 1, output
    assert "1 passed" in output
    assert "processes that tests left behind" in output
    assert f"sleeper {pytester.path}" in output
    assert not still_runs(pytester)


def test_a_test_that_fails_ends_what_it_started(pytester):
    code, output = outcome(pytester, SLEEPS + "    assert False\n")
    assert code == 1, output
    assert "left behind" not in output
    assert not still_runs(pytester)


def test_a_test_that_takes_more_processor_time_than_it_may_is_named(pytester):
    code, output = outcome(pytester, BUSY, "MAX_CPU_S = 5.0", "MAX_CPU_S = 0.2")
    assert code == 0, output
    assert "more than 0.2 s of processor time" in output
    assert "::test_it" in output.partition("more than 0.2 s")[2]
