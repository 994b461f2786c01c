"""The wheel, as somebody gets it who has nothing else of pslc: no sources, no documents, no Rust."""

import os
import signal
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow

MOST_MB = 150
"""What the base install may take, all that it depends on included (issue: 523 MB before)."""

MAX_FIRST_RUN_S = 30
"""From an empty environment to the report of a first fill."""


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The wheel that `make wheel` has just made."""
    folder = ROOT / "target" / "wheels"
    for old in folder.glob("*.whl"):
        old.unlink()
    subprocess.run(["make", "wheel"], cwd=ROOT, check=True)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel that is built of the source package alone, by the backend that it names."""
    folder = tmp_path_factory.mktemp("published")
    # Where maturin is; and what others of the same sources have built.
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment |= {"CARGO_TARGET_DIR": str(ROOT / "target" / "published")}
    make = [sys.executable, "-m", "maturin", "sdist", "--out", folder]
    subprocess.run(make, cwd=ROOT, env=environment, check=True, capture_output=True)
    (package,) = folder.glob("*.tar.gz")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", package]
    done = subprocess.run(build, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def bare(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with that wheel and what it needs, and nothing that could build it."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    before = megabytes(folder)
    install = [folder / "bin" / "pip", "install", "--quiet", "--only-binary", ":all:", published]
    subprocess.run(install, check=True, env=alone(folder), cwd=folder)
    (folder / "before").write_text(str(before))
    return folder


def alone(environment: Path) -> dict[str, str]:
    """Variables of a process that finds this environment's programs and the system's, and no Rust."""
    kept = {
        name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTP", "http", "no_"))
    }
    return kept | {"PATH": f"{environment / 'bin'}:/usr/bin:/bin", "HOME": str(environment), "LANG": "C.UTF-8"}


def megabytes(folder: Path) -> float:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir()) / 1e6


def run(bare: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([bare / "bin" / words[0], *words[1:]], cwd=folder, env=alone(bare), capture_output=True,
                          text=True, timeout=120, check=False)  # fmt: skip


def test_a_wheel_of_the_published_sources_holds_what_ours_does(published, wheel):
    ours, theirs = (set(zipfile.ZipFile(one).namelist()) for one in (wheel, published))
    assert {name for name in theirs if "/sboms/" not in name} == {name for name in ours if "/sboms/" not in name}


def test_one_wheel_serves_every_python_from_3_11_on(wheel):
    assert "-cp311-abi3-" in wheel.name


def test_the_wheel_holds_what_runs_and_its_licences_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    library = {path.relative_to(ROOT / "python").as_posix() for path in (ROOT / "python" / "pslc").rglob("*")
               if path.suffix in (".py", ".pyi", ".toml", ".jinja", ".js", ".typed", ".md")}  # fmt: skip
    assert library <= set(names)
    assert [name for name in names if "/licenses/" in name and name.endswith("LICENSE")]
    strangers = [name for name in names if not name.startswith("pslc/") and ".dist-info/" not in name]
    assert not strangers


def test_the_base_install_is_small(bare, capsys):
    taken = megabytes(bare) - float((bare / "before").read_text())
    with capsys.disabled():
        print(f"\nbase install: {taken:.0f} MB")
    assert taken <= MOST_MB


def test_alone_it_shows_its_help(bare, tmp_path):
    done = run(bare, tmp_path, "pslc")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: pslc" in done.stdout


def test_drives_are_listed_and_one_is_filled_with_a_page(bare, tmp_path):
    assert "aldrin-pro-2tb" in run(bare, tmp_path, "pslc", "drives").stdout
    done = run(bare, tmp_path, "pslc", "run", "fill", "--on", "sim:pm871b-128gb")
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    assert (folder / "report.html").stat().st_size > 500_000
    again = run(bare, tmp_path, "pslc", "analyze", str(folder))
    assert again.returncode == 0, again.stderr


@pytest.fixture(scope="module")
def downloaded(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with that wheel and the wheels of all that it depends on."""
    folder = tmp_path_factory.mktemp("downloaded")
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "-d", folder, published]
    subprocess.run(download, check=True)
    return folder


def test_a_terabyte_is_filled_within_30_s_of_the_install(downloaded, tmp_path, capsys):
    """From what was downloaded: without a network, and with every module still to be compiled."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "new"], check=True)
    offline = ["--quiet", "--no-index", "--find-links", downloaded, "--only-binary", ":all:", "pslc"]
    subprocess.run([tmp_path / "new" / "bin" / "pip", "install", *offline], check=True, env=alone(tmp_path / "new"))
    done = run(tmp_path / "new", tmp_path, "pslc", "run", "fill", "--on", "sim:sn850-1tb")
    took_s = time.monotonic() - began
    with capsys.disabled():
        print(f"\ninstall and first fill: {took_s:.1f} s")
    assert done.returncode == 0, done.stderr
    assert took_s < MAX_FIRST_RUN_S


def test_a_file_is_measured(bare, tmp_path):
    done = run(bare, tmp_path, "pslc", "run", "fill", "--on", "./scratch.bin", "--size", "64MB", "--yes")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "scratch.bin").exists()


def test_a_drive_is_served(bare, tmp_path):
    words = [bare / "bin" / "pslc", "serve", "sim:pm871b-128gb", "--save", "run", "--no-report"]
    serving = subprocess.Popen(words, cwd=tmp_path, env=alone(bare), stdout=subprocess.PIPE, text=True)
    assert serving.stdout is not None
    uri = serving.stdout.readline().strip()
    assert uri.startswith("nbd+unix:///?socket="), uri
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(unquote(uri.partition("socket=")[2]))
        assert client.recv(8) == b"NBDMAGIC"
    serving.send_signal(signal.SIGINT)
    assert serving.wait(timeout=60) == 0
    assert run(bare, tmp_path, "pslc", "analyze", "run").returncode == 0


@pytest.mark.parametrize("words", [("run", "--list"), ("run", "recovery", "--list"), ("drives", "parts"),
                                   ("drives", "show", "sn850-1tb"), ("run", "--help")])  # fmt: skip
def test_what_only_tells_needs_nothing_else(bare, tmp_path, words):
    done = run(bare, tmp_path, "pslc", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_what_needs_an_extra_names_it(bare, tmp_path):
    run(bare, tmp_path, "pslc", "run", "fill", "--on", "sim:pm871b-128gb", "--save", "fill")
    done = run(bare, tmp_path, "pslc", "fit", "fill")
    assert done.returncode == 2
    assert "pslc[fit]" in done.stderr
