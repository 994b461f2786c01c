"""Each layer knows only those below it, as CONTRIBUTING.md lists them, and its picture of that is the present one."""

import re
import runpy

from tests.conftest import ROOT

IMPORTS = runpy.run_path(str(ROOT / "docs" / "pictures" / "imports.py"))
OF, LAYERS = IMPORTS["imports"](), IMPORTS["layers"]()


def test_every_room_is_in_the_list_once():
    assert sorted(LAYERS) == sorted(OF)


def test_no_room_imports_one_above_it():
    upwards = [(name, other) for at, name in enumerate(LAYERS) for other in OF[name] if other in LAYERS[at:]]
    assert upwards == []


def test_suites_and_report_do_not_know_each_other():
    assert "suites" not in OF["report"]
    assert "report" not in OF["suites"]


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
