"""What the package promises before it is built: an install without extras is enough for all that needs none. The wheel
itself is tried in tests/slow/test_package.py."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytest_plugins = "pytester"

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRA_ROOMS = {"pslc.lab": "lab", "pslc.twin": "fit"}
"""Packages of pslc that need an extra to be imported."""

IMPORT_ALL = """
import pkgutil, sys
from importlib import import_module

forbidden, rooms = set(sys.argv[1].split()), tuple(sys.argv[2].split())

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in forbidden:
            raise ModuleNotFoundError(f"No module named {name!r} in a base install", name=name)

sys.meta_path.insert(0, Absent())
import pslc
count = 0
for module in pkgutil.walk_packages(pslc.__path__, "pslc."):
    # The plugin of nbdkit lies there too, and is no module.
    if "-" in module.name:
        continue
    if not module.name.startswith(rooms) and not module.name.endswith("__main__"):
        import_module(module.name)
        count += 1
print(count)
"""


def name_of(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower().replace("_", "-")


def base() -> set[str]:
    """Distributions of a base install: what pslc depends on, and so on."""
    found: set[str] = set()
    ahead = [name_of(line) for line in PROJECT["dependencies"]]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += [name_of(line) for line in requires(name) or [] if "extra ==" not in line and ";" not in line]
    return found | {"pslc"}


def test_without_extras_everything_but_the_rooms_that_need_one_can_be_imported():
    there = base()
    assert {"numpy", "typer"} <= there
    assert "scipy" not in there
    extra = {top for top, names in packages_distributions().items()
             if not there & {name.lower().replace("_", "-") for name in names}}  # fmt: skip
    words = [sys.executable, "-c", IMPORT_ALL, " ".join(extra), " ".join(EXTRA_ROOMS)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 80


@pytest.mark.parametrize(("room", "extra"), EXTRA_ROOMS.items())
def test_each_room_that_needs_an_extra_has_one(room, extra):
    assert (ROOT / "python" / room.replace(".", "/")).is_dir()
    assert extra in PROJECT["optional-dependencies"]


def test_alone_the_command_shows_its_help_and_that_is_no_error(command):
    done = command()
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: pslc" in done.stdout
    assert "analyze" in done.stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("pslc rep", {"replay", "report"}),
        ("pslc run fil", {"fill", "fill-levels"}),
        ("pslc suites show reco", {"recovery"}),
        ("pslc drives show sn5", {"sn550-1tb"}),
        ("pslc run --outp", {"--output", "--output-format"}),
        ("pslc run ./my", set()),
    ],
)
def test_a_shell_completes_commands_options_suites_and_drives(command, typed, offered):
    done = command(_PSLC_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=str(len(typed.split()) - 1))
    assert set(done.stdout.split()) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_is_shown(command, shell):
    done = command("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert done.returncode == 0, done.stderr
    assert "_PSLC_COMPLETE=complete_" in done.stdout


def test_there_are_as_many_unsafe_blocks_as_are_said():
    said = re.search(
        r"said here: (\d+) in `crates/ssd`, (\d+) in `crates/drive`, (\d+) in `crates/nbd`",
        (ROOT / "docs/safety.md").read_text(),
    )
    assert said is not None
    found = {
        crate: sum(
            len(re.findall(r"\bunsafe (?:\{|impl)", re.sub(r"//.*", "", path.read_text())))
            for path in (ROOT / "crates" / crate / "src").rglob("*.rs")
        )
        for crate in ("ssd", "drive", "nbd", "load", "python")
    }
    assert found == {"ssd": int(said[1]), "drive": int(said[2]), "nbd": int(said[3]), "load": 0, "python": 0}


@pytest.mark.long
def test_a_skip_for_a_missing_program_fails_where_every_program_is_to_be_there(pytester):
    pytester.makeconftest((ROOT / "tests/conftest.py").read_text())
    pytester.makepyfile(
        """
        import pytest

        def test_program():
            pytest.skip("fio is not installed")

        @pytest.mark.skipif(True, reason="chromium is not installed")
        def test_mark():
            pass

        def test_kernel():
            pytest.skip("this kernel has no xfs")
        """
    )
    for required, outcomes in (("", {"skipped": 3}), ("required", {"failed": 1, "errors": 1, "skipped": 1})):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PSLC_TOOLS", required)
            patch.setenv("PYTHONPATH", str(ROOT))
            done = pytester.runpytest_subprocess("-p", "no:cacheprovider")
        done.assert_outcomes(**outcomes)
        assert ("make test-tools" in done.stdout.str()) == bool(required)


def test_a_release_says_what_the_changelog_says_of_its_version():
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    changes = [sys.executable, ROOT / "packaging" / "changes.py"]
    section = subprocess.run([*changes, version], capture_output=True, text=True, check=True).stdout
    assert section.startswith("The first release.\n\n### Added\n")
    assert "\n## " not in section
    unknown = subprocess.run([*changes, "0.0.9"], capture_output=True, text=True, check=False)
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "says nothing of 0.0.9" in unknown.stderr


@pytest.mark.parametrize("name", ["ci", "release"])
def test_a_release_is_for_each_system_that_the_package_names(name):
    text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text()
    for target in ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "x86_64-apple-darwin"):
        assert target in text
    if name == "release":
        assert "Operating System :: Microsoft :: Windows" in PROJECT["classifiers"]
        assert "x86_64-pc-windows-msvc" in text
        assert "secrets." not in text, "trusted publishing keeps no password"


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_a_workflow_is_yaml_of_jobs_whose_steps_are_shell_or_actions(path):
    """What GitHub would refuse before it runs anything, as far as it shows in the file."""
    yaml = pytest.importorskip("yaml")
    document = yaml.safe_load(path.read_text())
    # YAML 1.1 takes `on` for a truth value.
    assert document.keys() >= {"name", True, "permissions", "jobs"}
    for name, job in document["jobs"].items():
        assert job["runs-on"], name
        needs = job.get("needs", [])
        assert {needs} <= document["jobs"].keys() if isinstance(needs, str) else set(needs) <= document["jobs"].keys()
        axes = {key for row in job.get("strategy", {}).get("matrix", {}).get("include", []) for key in row}
        assert set(re.findall(r"matrix\.(\w+)", yaml.safe_dump(job))) <= axes
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step), step
            if "run" in step:
                script = re.sub(r"\$\{\{.*?\}\}", "value", step["run"])
                done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
                assert done.returncode == 0, f"{name}: {done.stderr}"
            else:
                assert re.fullmatch(r"[\w.-]+/[\w./-]+@[\w./-]+", step["uses"]), step


def test_the_published_sources_hold_every_crate_of_the_workspace(tmp_path):
    # Cargo builds nothing of a workspace of which one crate is missing.
    code = "import sys, build_backend; build_backend.build_sdist(sys.argv[1])"
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    make = [sys.executable, "-c", code, tmp_path]
    subprocess.run(make, cwd=ROOT, env=environment, check=True, capture_output=True, timeout=60)
    (made,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(made) as sources:
        names = sources.getnames()
    crates = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    assert [crate for crate in crates if not any(name.endswith(f"/{crate}/Cargo.toml") for name in names)] == []
