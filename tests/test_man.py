"""Every command has a man page that man can show, and every shell completes every command."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pslc.cli import NAMES
from tests.conftest import ROOT

MAKE = runpy.run_path(str(ROOT / "docs" / "man" / "make.py"))


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("man")
    MAKE["write"](folder)
    return folder


def help_of(*words: str) -> str:
    """What the command itself prints."""
    command = [sys.executable, "-m", "pslc", *words, "--help"]
    environment = os.environ | {"COLUMNS": "200", "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


def test_every_command_has_a_page(written):
    pages = {path.stem for path in (written / "man" / "man1").iterdir()}
    assert {"pslc", *(f"pslc-{name}" for name in NAMES)} <= pages
    assert {"pslc-drives-new", "pslc-trace-convert"} <= pages


@pytest.mark.parametrize("words", [("replay",), ("drives", "new"), ("advise",)], ids="-".join)
def test_a_page_names_every_option_that_the_command_prints(written, words):
    text = (written / "man" / "man1" / f"pslc-{'-'.join(words)}.1").read_text().replace("\\-", "-")
    options = {word for word in help_of(*words).split() if word.startswith("--")}
    assert len(options) >= 5
    assert [option for option in options if option not in text] == []


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_no_page_makes_groff_complain(written):
    for path in (written / "man" / "man1").iterdir():
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", "-z", str(path)], capture_output=True, text=True, check=True
        )
        assert done.stderr == "", path.name


def test_bash_completes_every_command(written):
    script = written / "completions" / "pslc.bash"
    body = f"""
        . {script}
        COMP_WORDS=(pslc ""); COMP_CWORD=1
        _pslc_completion pslc
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", body], capture_output=True, text=True, env=environment)
    assert set(NAMES) <= set(done.stdout.split()), done.stderr


def test_every_shell_has_a_script_that_asks_pslc(written):
    for shell, file in MAKE["SHELLS"].items():
        text = (written / "completions" / file).read_text()
        assert "_PSLC_COMPLETE" in text
        asks = {"bash": "complete_bash", "zsh": "complete_zsh", "fish": "complete_fish", "powershell": "complete_"}
        assert asks[shell] in text
