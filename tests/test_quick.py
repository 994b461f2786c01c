"""`make quick` runs the tests nearest to what was changed, and says for which it had no time."""

import subprocess
import sys

from tests import quick
from tests.conftest import NOT_BEGUN, ROOT


def nearest(*changes: str) -> list[str]:
    return quick.nearest(changes)


def test_a_test_that_imports_what_was_changed_is_nearer_than_one_that_reaches_it_through_a_command():
    steps = {
        "tests/test_a.py": {"python/pslc/cli/run.py"},
        "tests/test_b.py": {"python/pslc/base/units.py"},
        "tests/test_c.py": {"python/pslc/lab/app.py"},
        "python/pslc/cli/run.py": {"python/pslc/base/units.py"},
    }
    assert quick.distances(["python/pslc/base/units.py"], steps) == {"tests/test_a.py": 2, "tests/test_b.py": 1}


def test_the_tests_of_a_module_a_command_a_page_and_a_document_are_found():
    assert "tests/test_layers.py" in nearest("docs/pictures/imports.py")
    assert "tests/test_gate.py" in nearest("python/pslc/base/gate.py")[:20]
    assert "tests/test_watch.py" in nearest("python/pslc/cli/watch.py")[:6]
    assert "tests/test_report.py" in nearest("python/pslc/report/page.css")
    assert "tests/test_documents.py" in nearest("docs/twin.md")[:1]
    assert nearest("tests/test_gate.py")[0] == "tests/test_gate.py"


def test_a_changed_crate_runs_its_own_tests_and_those_of_the_binding():
    changes = ["crates/load/src/plan.rs", "crates/nbd/Cargo.toml", "README.md"]
    assert quick.crates(changes) == ["pslc-load", "pslc-nbd"]
    assert nearest("crates/load/src/plan.rs")


def test_tests_that_find_no_time_are_counted():
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/test_layers.py"]
    done = subprocess.run(words, cwd=ROOT, env={"PSLC_QUICK_S": "0"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"7 tests were {NOT_BEGUN}; make test runs all of them" in done.stdout
