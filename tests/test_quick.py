"""`make quick` runs the tests nearest to what was changed, and says for which it had no time."""

from tests import quick


def nearest(*changes: str) -> list[str]:
    return list(quick.nearest(changes))


def test_a_test_that_imports_what_was_changed_is_nearer_than_one_that_reaches_it_through_a_command():
    steps = {
        "tests/test_a.py": {"python/pslc/cli/run.py"},
        "tests/test_b.py": {"python/pslc/base/units.py"},
        "tests/test_c.py": {"python/pslc/lab/server.py"},
        "python/pslc/cli/run.py": {"python/pslc/base/units.py"},
    }
    assert quick.distances(["python/pslc/base/units.py"], steps) == {"tests/test_a.py": 2, "tests/test_b.py": 1}


def test_a_file_that_no_test_reaches_in_few_steps_runs_the_nearest():
    steps = {"tests/test_a.py": {"a"}, "a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"e"}}
    assert quick.distances(["e"], steps) == {"tests/test_a.py": 5}


def test_the_tests_of_a_module_a_command_a_page_and_a_document_are_found():
    assert "tests/test_layers.py" in nearest("docs/pictures/imports.py")
    assert "tests/test_gate.py" in nearest("python/pslc/base/gate.py")[:20]
    assert "tests/test_watch.py" in nearest("python/pslc/watch/command.py")[:12]
    assert "tests/test_report.py" in nearest("python/pslc/report/page.css")
    assert "tests/test_documents.py" in nearest("docs/twin.md")[:1]
    assert "tests/test_results.py" in nearest("python/pslc/formats/iometer.py")[:3]
    assert nearest("tests/test_gate.py")[0] == "tests/test_gate.py"


def test_a_changed_crate_runs_its_own_tests_and_those_of_the_binding():
    changes = ["crates/load/src/plan.rs", "crates/nbd/Cargo.toml", "README.md"]
    assert quick.crates(changes) == ["pslc-load", "pslc-nbd"]
    assert nearest("crates/load/src/plan.rs")


def test_a_near_file_that_found_no_time_makes_the_answer_incomplete(capfd):
    assert quick.run({"tests/test_style.py": 1, "tests/test_layers.py": 2}, budget_cpu_s=0) == quick.INCOMPLETE
    *_, last = capfd.readouterr().out.splitlines()
    assert last == (
        "incomplete: 1 test files next to the change were not begun, such as tests/test_style.py; run make test"
    )


def test_a_far_file_that_found_no_time_is_counted(capfd):
    assert quick.run({"tests/test_layers.py": 2}, budget_cpu_s=0) == 0
    *_, last = capfd.readouterr().out.splitlines()
    assert last == "1 test files further away were not begun; make test runs all of them"
