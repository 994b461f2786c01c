"""Each layer knows only those below it, as CONTRIBUTING.md lists them, the core knows no extra, and each extra can be
absent."""

import graphlib
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pslc import extras
from pslc.runner.load import analysed
from tests.conftest import ROOT, fill

IMPORTS = runpy.run_path(str(ROOT / "docs" / "pictures" / "imports.py"))
LAYERS = IMPORTS["layers"]()
BY_NAME = {
    ("pslc", "f'{__name__}.{_LATER[name]}'"),
    ("pslc", "f'{__name__}.runner.notebook'"),
    ("pslc.extras", "f'{__package__}.{name}.extra'"),
    ("pslc.base.workers", "call.main"),
    ("pslc.cli", "f'{__name__}.{name}'"),
    ("pslc.formats", "f'{__name__}.{name}'"),
    ("pslc.suites", "f\"{__name__}.{file.removesuffix('.py')}\""),
}
"""Imports by name: of a room's own files, of what the face offers, of the extras that register, and in a worker of the
caller's main module."""
REACH = {"probe": 15_000, "export": 15_000, "_recordings": 18_000}
"""Lines that a command may reach; `_recordings` is the list that `pslc report` prints."""


@pytest.fixture(scope="module")
def of() -> dict[str, set[str]]:
    """Who imports whom."""
    return IMPORTS["imports"]()


def test_every_room_is_in_the_list_once(of):
    assert sorted(LAYERS) == sorted(of)


def test_no_room_imports_one_above_it(of):
    upwards = [(name, other) for at, name in enumerate(LAYERS) for other in of[name] if other in LAYERS[at:]]
    assert upwards == []


def test_the_core_imports_no_extra(of):
    core = LAYERS[: LAYERS.index("cli") + 1]
    assert set(extras.OWN) < set(of) - set(core)
    assert {(name, other) for name in core for other in of[name] if other in extras.OWN} == set()


def test_no_file_imports_itself_through_others():
    order = graphlib.TopologicalSorter(IMPORTS["file_imports"]())
    order.prepare()  # raises CycleError, which names the circle


def test_nothing_is_imported_by_name_but_a_room_s_own_files_and_extras():
    by_name = {(name, argument) for name, argument in IMPORTS["imports_by_name"]() if "typer" not in argument}
    assert by_name == BY_NAME
    at = {name: place for place, name in enumerate(LAYERS)}
    named = [
        (IMPORTS["room_of"](name), IMPORTS["room_of"](module)) for name, module in IMPORTS["strings_naming_modules"]()
    ]
    assert [pair for pair in named if at[pair[1]] > at[pair[0]]] == []


@pytest.mark.parametrize("command", REACH)
def test_a_command_reaches_no_more_than_it_needs(command):
    reached = IMPORTS["reach"]("pslc.__main__", "pslc.cli", f"pslc.cli.{command}")
    assert IMPORTS["lines"](reached) <= REACH[command]


DATA = ("pslc/base/", "pslc/schema/", "pslc/recording/model.py", "pslc/analysis/series.py")
"""Files that hold data: asking them is no station."""


def station(path: str) -> str:
    """File, or room for analysis and suites, that a run's walk stops at; empty for data and for other packages."""
    inside = path.rpartition("/python/")[2]
    if not inside.startswith("pslc/") or inside.startswith(DATA):
        return ""
    return next((room for room in ("pslc/analysis", "pslc/suites") if inside.startswith(room)), inside)


def test_what_the_writes_of_a_run_say_is_asked_once_from_top_to_bottom():
    recording = fill("sim:pm871b-128gb")
    walk = [""]

    def follow(frame, event, _):
        if event == "call" and (place := station(frame.f_code.co_filename)) and place != walk[-1]:
            walk.append(place)

    sys.setprofile(follow)
    analysed(recording)
    sys.setprofile(None)
    assert len(walk) - len(set(walk)) <= 15, walk


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """A copy of the package, to take extras out of."""
    copy = tmp_path_factory.mktemp("tree") / "pslc"
    shutil.copytree(ROOT / "python" / "pslc", copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy.parent


def pslc(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pslc", *words]
    # The current folder is none of those that `python -m pslc` imports from.
    env = {**os.environ, "PYTHONPATH": str(tree)}
    return subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True, timeout=120, check=False)


USES = {
    "formats": ("analyze", "fill.csv"),
    "chart": ("analyze", "fill.csv", "--overlay", "fill.png"),
    "fio": ("run", "fill", "--on", "sim:pm871b-128gb", "--quick", "--output-format", "terse"),
    "policy": ("run", "fill", "--on", "sim:pm871b-128gb", "--policy", "mine.py:Mine"),
}
"""What users do with extras that bring no command."""


@pytest.mark.parametrize("name", extras.OWN)
def test_an_extra_that_is_absent_is_named_and_all_else_works(tree, name):
    room = tree / "pslc" / name
    room.rename(tree / name)
    try:
        (tree / "fill.csv").write_text("written (GB),speed (MB/s)\n" + "".join(f"{n},{500}\n" for n in range(1, 50)))
        words = USES.get(name) or (extras.OWN[name][0], "--help")
        missing = pslc(tree, *words)
        listed = pslc(tree, "--help")
        done = pslc(tree, "run", "fill", "--on", "sim:pm871b-128gb", "--quick", "--no-report", "--save", f"run-{name}")
    finally:
        (tree / name).rename(room)
    assert missing.returncode == 2
    assert f"needs the extra {name}, which is not installed" in missing.stderr
    assert (listed.returncode, done.returncode) == (0, 0), listed.stderr + done.stderr
    without = [name, *(other for other, needs in extras.NEEDS.items() if name in needs)]
    for command in (command for other in without for command in extras.OWN[other]):
        assert not re.search(rf"│ {command} ", listed.stdout), command


def test_another_package_adds_a_command_and_a_format(tree):
    (tree / "theirs.py").write_text(
        "import theirs_format, types\nfrom pslc.extras import Extra, Service\n"
        "def command(word: str) -> None:\n    '''Greet somebody.'''\n    print(f'hello {word}')\n"
        "module = types.SimpleNamespace(command=command)\n"
        "EXTRA = Extra(name='theirs', commands={'greet': lambda: module},\n"
        "              services={Service.FORMATS: lambda: theirs_format})\n"
    )
    (tree / "theirs_format.py").write_text(
        "import numpy as np\nfrom pslc.analysis import Curve\nfrom pslc.formats import About, FileContents\n"
        "ABOUT = About(program='theirs', what='a log', content='speed', command='theirs', gives='curve')\n"
        "def matches(path, head): return head.startswith('THEIRS')\n"
        "def read(paths, hints):\n"
        "    return FileContents('theirs', Curve(np.arange(51) * 1e9, np.full(50, 2.0)), read_as='theirs')\n"
    )
    info = tree / "theirs-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[pslc.extras]\ntheirs = theirs:EXTRA\n")
    (tree / "a.log").write_text("THEIRS\n")
    try:
        assert pslc(tree, "greet", "you").stdout == "hello you\n"
        assert "Greet somebody" in pslc(tree, "--help").stdout
        assert "Read as: theirs." in pslc(tree, "analyze", "a.log").stdout
    finally:
        shutil.rmtree(info)


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


@pytest.mark.parametrize("crate", IMPORTS["crates"]())
def test_no_module_of_a_crate_uses_itself_through_others(crate):
    graphlib.TopologicalSorter(IMPORTS["rust_imports"](crate)).prepare()


def test_the_picture_in_the_document_is_what_the_command_draws():
    assert f"\n{IMPORTS['picture']()}\n" in (ROOT / "CONTRIBUTING.md").read_text()
