"""What winget installs: the manifest, and the zip that it names, as far as both show without Windows."""

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from hashlib import sha256
from importlib.util import MAGIC_NUMBER

import jsonschema
import pytest
import yaml

from tests.conftest import ROOT

SCHEMAS = ROOT / "tests" / "fixtures" / "winget"
"""Those of winget, as github.com/microsoft/winget-cli has them in schemas/JSON/manifests/v1.12.0."""

NAME = "pslc-1.2.3-windows-x86_64.zip"
RUNNING = f"python{sys.version_info.major}{sys.version_info.minor}"


def fill(release, *templates):
    """Fill templates in for a release file, as the workflow does."""
    words = [sys.executable, ROOT / "packaging" / "fill.py", release, *templates]
    subprocess.run(words, check=True, capture_output=True, env=os.environ | {"GITHUB_REPOSITORY": "some/where"})


@pytest.fixture
def manifests(tmp_path):
    """Each manifest by its type, filled in for a release."""
    (tmp_path / NAME).write_bytes(b"a release")
    fill(tmp_path / NAME, *(ROOT / "packaging" / "winget").glob("*.yaml"))
    filled = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(tmp_path.glob("*.yaml"))]
    return {manifest["ManifestType"]: manifest for manifest in filled}


@pytest.mark.parametrize("kind", ["version", "installer", "defaultLocale"])
def test_a_manifest_is_valid_and_has_no_key_that_winget_does_not_know(manifests, kind):
    manifest = manifests[kind]
    schema = json.loads((SCHEMAS / f"manifest.{kind}.{manifest['ManifestVersion']}.json").read_text(encoding="utf-8"))
    jsonschema.validate(manifest, schema)
    assert manifest.keys() <= schema["properties"].keys()
    for installer in manifest.get("Installers", []):
        assert installer.keys() <= schema["definitions"]["Installer"]["properties"].keys()


def test_the_manifests_are_of_one_release_and_name_its_zip(manifests):
    releases = {(manifest["PackageIdentifier"], manifest["PackageVersion"]) for manifest in manifests.values()}
    assert releases == {("pslc.pslc", "1.2.3")}
    assert manifests["version"]["DefaultLocale"] == manifests["defaultLocale"]["PackageLocale"]
    (installer,) = manifests["installer"]["Installers"]
    assert installer["InstallerUrl"] == f"https://github.com/some/where/releases/download/v1.2.3/{NAME}"
    assert installer["InstallerSha256"] == sha256(b"a release").hexdigest()
    for file in (ROOT / "packaging" / "winget").glob("*.yaml"):
        assert file.name.startswith(manifests["version"]["PackageIdentifier"])


def test_the_formula_is_filled_in_by_the_same_program(tmp_path):
    (tmp_path / "pslc-1.2.3.tar.gz").write_bytes(b"sources")
    fill(tmp_path / "pslc-1.2.3.tar.gz", ROOT / "packaging" / "homebrew" / "pslc.rb")
    formula = (tmp_path / "pslc.rb").read_text(encoding="utf-8")
    assert "/p/pslc/pslc-1.2.3.tar.gz" in formula
    assert f'sha256 "{sha256(b"sources").hexdigest()}"' in formula


def make_bundle(folder, python):
    """A bundle of an empty pslc and of a Python that is a name alone."""
    (folder / "embedded").mkdir()
    (folder / "embedded" / "python.exe").write_bytes(b"")
    (folder / "embedded" / f"{python}._pth").write_text(f"{python}.zip\n.\n\n#import site\n", encoding="utf-8")
    wheel = folder / "pslc-1.2.3-cp311-abi3-win_amd64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("pslc/__init__.py", "")
        about = "pslc-1.2.3.dist-info"
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: pslc\nVersion: 1.2.3\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp311-abi3-win_amd64\n")
        archive.writestr(f"{about}/entry_points.txt", "[console_scripts]\npslc=pslc.__main__:main\n")
        archive.writestr(f"{about}/RECORD", "")
    script = [sys.executable, ROOT / "packaging" / "windows" / "bundle.py", folder / "embedded", wheel]
    offline = os.environ | {"PIP_NO_INDEX": "1"}
    return subprocess.run(script, capture_output=True, text=True, check=False, env=offline, timeout=120)


def test_the_bundle_holds_a_launcher_for_its_own_python_and_packages(tmp_path):
    done = make_bundle(tmp_path, RUNNING)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / NAME) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        # On the PATH there is one command, and no other Python than before.
        assert [name for name in names if "/" not in name] == ["pslc.exe"]
        assert {name.partition("/")[0] for name in names} == {"pslc.exe", "python", "packages"}
        assert not any(name.startswith("packages/bin/") for name in names)
        lines = archive.read(f"python/{RUNNING}._pth").decode().splitlines()
        assert lines[-1] == "..\\packages"
        launcher = archive.read("pslc.exe")
        (compiled,) = (archive.read(name) for name in names if re.search(r"packages/pslc/.*\.pyc$", name))
    assert launcher.startswith(b"MZ")
    assert "<launcher_dir>\\".encode("utf-16-le") in launcher, "this launcher finds no Python beside itself"
    assert rb"#!<launcher_dir>\python\python.exe -X utf8" in launcher
    with zipfile.ZipFile(io.BytesIO(launcher)) as program:
        compile(program.read("__main__.py"), "__main__.py", "exec")
    # Valid whatever time its source has after it was unpacked (PEP 552).
    assert compiled.startswith(MAGIC_NUMBER + (1).to_bytes(4, "little"))


def test_the_bundle_is_made_by_the_version_of_python_that_it_holds(tmp_path):
    done = make_bundle(tmp_path, "python32")
    assert done.returncode == 1
    assert f"is python32, and this is {RUNNING}" in done.stderr
    assert not (tmp_path / NAME).exists()
