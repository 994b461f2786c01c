"""Each layer knows only those below it, as CONTRIBUTING.md lists them, and its picture of that is the present one."""

import graphlib
import re
import runpy

import pytest

from tests.conftest import ROOT

IMPORTS = runpy.run_path(str(ROOT / "docs" / "pictures" / "imports.py"))
LAYERS = IMPORTS["layers"]()


@pytest.fixture(scope="module")
def of() -> dict[str, set[str]]:
    """Who imports whom."""
    return IMPORTS["imports"]()


def test_every_room_is_in_the_list_once(of):
    assert sorted(LAYERS) == sorted(of)


def test_no_room_imports_one_above_it(of):
    upwards = [(name, other) for at, name in enumerate(LAYERS) for other in of[name] if other in LAYERS[at:]]
    assert upwards == []


def test_no_file_imports_itself_through_others():
    files = IMPORTS["file_imports"]()
    order = graphlib.TopologicalSorter(files)
    order.prepare()  # raises CycleError, which names the circle


def test_suites_and_report_know_each_other_by_the_view_of_a_recording_alone(of):
    assert "report" not in of["suites"]
    files = IMPORTS["file_imports"]()
    knowing = {name for name, of in files.items() if name.startswith("pslc.report.") and "pslc.suites" in of}
    assert knowing == {"pslc.report.recording_view"}


def test_neither_the_package_nor_benches_and_documents_import_tests():
    for folder in ("python", "benches", "docs"):
        for path in (ROOT / folder).rglob("*.py"):
            assert not re.search(r"^\s*(from|import) tests\b", path.read_text(), re.MULTILINE), path
    for path in (ROOT / "python").rglob("*.py"):
        assert not re.search(r"^\s*(from|import) benches\b", path.read_text(), re.MULTILINE), path


def test_the_crates_depend_on_those_below_them_alone():
    order = ("ssd", "load", "drive", "nbd", "python")
    for at, crate in enumerate(order):
        needs = (ROOT / "crates" / crate / "Cargo.toml").read_text().partition("[dependencies]")[2].partition("\n[")[0]
        assert {name for name in order if f"pslc-{name}" in needs} <= set(order[:at]), crate


def test_the_picture_in_the_document_is_what_the_command_draws():
    assert f"\n{IMPORTS['picture']()}\n" in (ROOT / "CONTRIBUTING.md").read_text()
