"""Each recipe of docs/extending.md that needs no build, applied to a copy of the package, does what it says."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.recipes import RECIPES, added, files, is_native


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the package with all recipes."""
    copy = tmp_path_factory.mktemp("tree")
    ignored = shutil.ignore_patterns("__pycache__", "*.part")
    shutil.copytree(ROOT / "python", copy / "python", ignore=ignored)
    subprocess.run(["git", "init", "-q"], cwd=copy, check=True)
    for name, patch in RECIPES.items():
        if not is_native(name):
            done = subprocess.run(["git", "apply", "-"], cwd=copy, input=patch, capture_output=True, text=True)
            assert done.returncode == 0, f"{name}: {done.stderr}"
    return copy


@pytest.fixture
def run(tree, tmp_path):
    """Run the copy's `pslc` in an empty folder."""

    def call(*words, code=0):
        env = os.environ | {"PYTHONPATH": str(tree / "python"), "COLUMNS": "150"}
        command = [sys.executable, "-m", "pslc", *map(str, words)]
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout if code == 0 else done.stderr

    return call


def test_there_is_a_recipe_for_each_extension_point():
    assert list(RECIPES) == [
        "Cache policy", "Victim rule", "Suite", "Drive", "NAND die and controller", "Import format", "Trace format",
        "Profile key and knob", "fio option", "Command-line flag", "Figure of a report",
    ]  # fmt: skip


@pytest.mark.parametrize("recipe", ["Suite", "Drive", "Import format"])
def test_a_suite_a_drive_and_a_format_are_one_file_each(recipe):
    assert len(files(recipe)) == 1
    assert "--- /dev/null" in RECIPES[recipe]


def test_a_suite_runs_and_shows_its_findings(run):
    out = run("run", "fsync-cost", "--on", "sim:atom-50-1tb,scale=1/64", "--quick")
    assert re.search(r"A flushed write takes [\d.]+ times as long", out)
    assert "How much slower is a write that is flushed?" in run("run", "fsync-cost", "--list")


def test_a_drive_is_in_the_library_with_the_sources_of_its_values(run):
    assert "example-256gb" in run("drives")
    shown = run("drives", "show", "example-256gb")
    assert '"cache.dynamic" = "example.org/review, page 3' in shown
    assert "bics5-tlc-512g" in shown


def test_a_die_and_a_controller_make_a_drive(run, tmp_path):
    assert "example.org/paper" in run("drives", "parts", "example-tlc-512g")
    parts = ("--nand", "example-tlc-512g", "--controller", "example-x4", "--capacity", "256GB")
    assert "speed (MB/s)" in run("drives", "new", *parts, "made.toml")
    assert 'controller = "example-x4"' in (tmp_path / "made.toml").read_text()


def test_an_import_format_is_analyzed(run, tmp_path):
    rows = [f"{gb};{3000 if gb <= 40 else 600}" for gb in range(1, 101)]
    (tmp_path / "drive.log").write_text("\n".join(["speedlog", *rows, ""]))
    assert "The write cache ends after 40" in run("analyze", "drive.log", "--capacity", "128GB")
    (tmp_path / "drive.log").write_text("speedlog\n1\n")
    assert "a line that is not GB;MB/s" in run("analyze", "drive.log", code=2)


def test_a_knob_is_one_line(tree):
    assert added("Profile key and knob", "python/pslc/lab/knobs.py") == 1
    code = "from pslc.lab.knobs import EVERY; print(EVERY['controller.flush'].stops({})[0])"
    env = os.environ | {"PYTHONPATH": str(tree / "python")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "10us\n"


def test_a_flag_is_in_the_help_of_its_command(run):
    assert re.search(r"--browser .*Open the page in the default browser", run("lab", "--help"))


def test_a_figure_is_in_the_page_of_a_run(run, tmp_path):
    run("run", "fill", "--on", "sim:atom-50-1tb,scale=1/64", "--save", "kept")
    page = (tmp_path / "kept" / "report.html").read_text()
    assert "request-sizes" in page
    assert "Size of writes" in page


def slip(tree, name, old, new):
    """Change a file of the copy; what it was comes back at the end of the block."""
    path = tree / "python" / "pslc" / name
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new))
    return lambda: path.write_text(before)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("    warnings: list[MeasurementWarning]\n", "", "fsync_cost.py: what findings() returns has no warnings"),
        (', "warnings": []}', "}", "fsync_cost.py: what findings() returned has no warnings"),
        ("recording: Recording) -> Findings:", "recording):", "fsync_cost.py: findings() does not say what it returns"),
        ('QUICK = "a tenth of the writes"\n', "", "the suite fsync-cost has no QUICK"),
        ("import Steps", "import Step", "fsync_cost.py cannot be imported: cannot import name 'Step'"),
        ("return [f", "return [[f", "fsync_cost.py cannot be imported: '[' was never closed"),
        ('"""How much', 'NAME = """How much', "the suite fsync-cost has no __doc__"),
    ],
)
def test_a_slip_in_a_suite_names_its_file_and_what_it_lacks(tree, run, old, new, words):
    undo = slip(tree, "suites/fsync_cost.py", old, new)
    try:
        said = run("run", "fsync-cost", "--on", "sim:atom-50-1tb,scale=1/64", "--quick", code=2)
    finally:
        undo()
    assert words in said
    assert "bug in pslc" not in said
    assert "hint: " in said


def test_a_slip_in_a_part_names_its_file_and_every_key(tree, run):
    name = "device/parts/nand/example-tlc-512g.toml"
    undo = slip(tree, name, 'bus = "example.org/datasheet"\n', "")
    try:
        said = run("drives", "parts", "example-tlc-512g", code=2)
    finally:
        undo()
    assert "example-tlc-512g.toml: bus has no source" in said
    assert "bug in pslc" not in said


def test_the_list_of_suites_survives_a_slip_in_one_of_them(tree, run):
    undo = slip(tree, "suites/fsync_cost.py", "    warnings: list[MeasurementWarning]\n", "")
    try:
        said = run("run", "--list", code=2)
    finally:
        undo()
    assert "fsync_cost.py" in said


def test_json_of_the_suite_has_its_findings(run):
    document = json.loads(run("run", "fsync-cost", "--on", "sim:atom-50-1tb,scale=1/64", "--quick", "--json"))
    assert document["findings"]["flushed_s"] > document["findings"]["plain_s"] > 0
