"""What the package promises before it is built: an install without extras is enough for all that needs none. The wheel
itself is tried in tests/slow/test_package.py."""

import base64
import gzip
import hashlib
import json
import os
import re
import runpy
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from datetime import UTC, datetime
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from typer.testing import CliRunner

import pslc
from pslc.cli import _build, app
from tests.conftest import ROOT

pytest_plugins = "pytester"

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
IMPORT_ALL = """
import pkgutil, sys
from importlib import import_module

forbidden = set(sys.argv[1].split())

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in forbidden:
            raise ModuleNotFoundError(f"No module named {name!r} in a base install", name=name)

sys.meta_path.insert(0, Absent())
import pslc
count = 0
for module in pkgutil.walk_packages(pslc.__path__, "pslc."):
    if not module.name.endswith("__main__"):
        import_module(module.name)
        count += 1
print(count)
"""
DOOR = """
import inspect
from pslc import *
assert hasattr(pslc, "fit") and {name for name, _ in inspect.getmembers(pslc)} >= set(pslc.__all__)
try:
    pslc.fit("runs/x")
except pslc.PslcError as error:
    print(error.hint)
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


def without_extras(program: str) -> str:
    """What a program prints in an environment with the package alone."""
    there = base()
    assert {"numpy", "typer"} <= there
    assert "scipy" not in there
    extra = {top for top, names in packages_distributions().items()
             if not there & {name.lower().replace("_", "-") for name in names}}  # fmt: skip
    words = [sys.executable, "-c", program, " ".join(extra - {"pip"})]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_extras_everything_can_be_imported():
    assert int(without_extras(IMPORT_ALL)) > 80


def test_without_extras_the_python_door_is_whole_and_what_is_missing_is_a_sentence():
    assert "pslc[fit]" in without_extras(IMPORT_ALL + DOOR)


def test_the_page_of_the_python_door_names_what_is_public_and_nothing_else():
    page = (ROOT / "docs" / "api.md").read_text()
    assert sorted(re.findall(r"^::: pslc\.(.*)$", page, flags=re.M)) == sorted({*pslc.__all__} - {"__version__"})


@pytest.mark.long
def test_the_types_of_the_native_part_are_as_it_is(tmp_path):
    (tmp_path / "allowed").write_text("pslc._native.__all__\n")  # A list that PyO3 adds.
    words = [Path(sys.executable).with_name("stubtest"), "pslc._native", "--allowlist", tmp_path / "allowed"]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env=os.environ | {"MYPYPATH": "python"}, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout


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
    done = command.fine("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
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


def test_what_is_installed_for_tests_and_documents_is_locked_within_the_bounds():
    """`make upgrade` is due where a bound was changed, or a package added."""
    extras = PROJECT["optional-dependencies"]
    wanted = [Requirement(line) for line in [*PROJECT["dependencies"], *extras["dev"], *extras["docs"]]]
    lines = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#")]
    locked: dict[str, list[Requirement]] = {}
    for line in lines:
        requirement = Requirement(line)
        locked.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    for requirement in wanted:
        pins = locked.get(canonicalize_name(requirement.name), [])
        assert pins, requirement
        for pin in pins:
            (version,) = pin.specifier
            assert version.operator == "==", pin
            assert requirement.specifier.contains(version.version), (requirement, pin)


def test_a_release_says_what_the_changelog_says_of_its_version():
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    changes = [sys.executable, ROOT / "packaging" / "changes.py"]
    section = subprocess.run([*changes, version], capture_output=True, text=True, check=True).stdout
    assert section.startswith("The first release.\n\n### Simulated drives\n")
    assert len(section.splitlines()) < 60
    assert "\n## " not in section
    unknown = subprocess.run([*changes, "0.0.9"], capture_output=True, text=True, check=False)
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "says nothing of 0.0.9" in unknown.stderr


def test_nothing_is_published_before_the_tests_of_each_python_and_rust():
    yaml = pytest.importorskip("yaml")
    jobs, tests = (
        yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text())["jobs"]
        for name in ("release", "ci")
    )
    assert ("tests" in jobs["pypi"]["needs"], jobs["tests"]["uses"]) == (True, "./.github/workflows/ci.yml")
    rows = tests["test"]["strategy"]["matrix"]["include"]
    rust = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    assert {row["python"] for row in rows} == {"3.11", "3.12", "3.13", "3.14"}
    assert {row["rust"] for row in rows} == {"stable", rust}


def test_a_finished_wheel_has_man_pages_materials_and_absolute_links_and_the_same_bytes_again(tmp_path):
    about = "pslc-0.1.0.dist-info"
    readme = "[a](docs/a.md#b) ![p](docs/p.svg) [c](https://example.org/c) [d](#d)"
    wheel = tmp_path / "pslc-0.1.0-cp311-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.4\nName: pslc\nVersion: 0.1.0\n\n{readme}\n")
        file.writestr(f"{about}/RECORD", "")
        file.writestr(f"{about}/sboms/pslc-python.cyclonedx.json", "/home/of/a/builder")
        file.writestr("pslc/__init__.py", "")
    finish = [sys.executable, ROOT / "packaging" / "finish.py", wheel]
    packages = []
    for _ in range(2):
        subprocess.run(finish, env=os.environ | {"GITHUB_REPOSITORY": "some/where"}, check=True, capture_output=True)
        packages.append(wheel.read_bytes())
    assert packages[0] == packages[1]
    with zipfile.ZipFile(wheel) as file:
        files = {name: file.read(name) for name in file.namelist()}
    metadata = files[f"{about}/METADATA"].decode()
    base = "https://github.com/some/where"
    assert (
        f"[a]({base}/blob/v0.1.0/docs/a.md#b) ![p]({base}/raw/v0.1.0/docs/p.svg) [c](https://example.org/c)" in metadata
    )
    assert "[d](#d)" in metadata
    assert f"Project-URL: Issues, {base}/issues\n" in metadata
    record = {name: digest for name, digest, _ in (row.split(",") for row in files[f"{about}/RECORD"].decode().split())}
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).decode().rstrip("=")
        assert record[name] == ("" if name.endswith("RECORD") else f"sha256={digest}")
    assert b".TH" in gzip.decompress(files["pslc-0.1.0.data/data/share/man/man1/pslc-run.1.gz"])
    bill = {part["purl"].partition("@")[0] for part in json.loads(files[f"{about}/sboms/pslc.cdx.json"])["components"]}
    assert {"pkg:cargo/serde", "pkg:pypi/numpy"} <= bill
    assert not [name for name in files if "cyclonedx" in name]


def test_it_is_cited_by_its_version_whenever_it_was_built(monkeypatch):
    yaml = pytest.importorskip("yaml")
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    facts = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert facts["version"] == version
    monkeypatch.setattr(_build, "_built", lambda: datetime(2031, 1, 1, tzinfo=UTC))
    cited = CliRunner().invoke(app, ["--cite"]).stdout
    for key, value in {
        "title": facts["title"],
        "author": f"{{{facts['authors'][0]['name']}}}",
        "year": facts["date-released"].year,
        "version": version,
    }.items():
        assert f"{{{value}}}" in next(line for line in cited.splitlines() if line.startswith(f"  {key} "))
    assert re.fullmatch(r"% [^\n]*\n@software\{pslc,\n(  \w+ +=[^\n]*\n)+\}\n", cited), "the rest is a comment"


@pytest.mark.parametrize(
    "path", [".pre-commit-config.yaml", ".github/dependabot.yml", ".github/ISSUE_TEMPLATE/fault.yml"]
)
def test_what_a_contributor_meets_is_yaml(path):
    yaml = pytest.importorskip("yaml")
    assert yaml.safe_load((ROOT / path).read_text())


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
        if job.keys() == {"uses"}:
            assert (ROOT / job["uses"]).is_file(), "another workflow of this tree"
            continue
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
                assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", step["uses"]), "an action by its commit"


def test_the_published_sources_hold_every_crate_of_their_workspace(tmp_path):
    # Cargo builds nothing of a workspace of which one crate is missing.
    make = [sys.executable, "-m", "maturin", "sdist", "--out", tmp_path]
    subprocess.run(make, cwd=ROOT, check=True, capture_output=True, timeout=60)
    (made,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(made) as sources:
        names, root = sources.getnames(), made.name.removesuffix(".tar.gz")
        whole = sources.extractfile(f"{root}/Cargo.toml")
        assert whole is not None
        crates = tomllib.loads(whole.read().decode())["workspace"]["members"]
    assert "crates/python" in crates
    assert [crate for crate in crates if f"{root}/{crate}/Cargo.toml" not in names] == []
    documents = ("CHANGELOG.md", "docs/start.md", "tests/test_package.py", "packaging/pslc_build.py")
    assert [name for name in documents if f"{root}/{name}" not in names] == []
    assert [name for name in names if name.endswith(".pyc")] == []


def test_without_rust_a_build_ends_with_a_sentence():
    build = [sys.executable, "-c", "import pslc_build; pslc_build.get_requires_for_build_wheel()"]
    done = subprocess.run(build, cwd=ROOT / "packaging", env={"PATH": ""}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("pslc has no wheel")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no LC_ALL")
def test_a_checkout_below_a_name_beyond_ascii_starts_in_every_locale(tmp_path):
    checkout, venv = tmp_path / "checkout of josé", tmp_path / "venv"
    checkout.mkdir()
    (checkout / "here.py").touch()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "pslc.pth").write_text(f"{checkout}\n", encoding="utf-8")
    for _ in range(2):
        script = [venv / "bin" / "python", "-S", ROOT / "packaging" / "ascii_pth.py", packages / "pslc.pth"]
        subprocess.run(script, check=True)
    for locale in ("C", "C.UTF-8"):
        subprocess.run([venv / "bin" / "python", "-c", "import here"], check=True, env={"LC_ALL": locale})


def test_each_crate_in_the_wheel_has_its_licence_in_the_package():
    licences = runpy.run_path(str(ROOT / "packaging" / "licences.py"))
    assert licences["document"](licences["crates"]()) == (ROOT / "THIRD-PARTY.txt").read_text(), "make licences"
