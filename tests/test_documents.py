"""Every command that a document shows is run, every picture it shows is there, every link leads somewhere."""

import re
import shlex
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.scaled import spec

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/stories/*.md")])


def blocks(language: str) -> list[tuple[str, str]]:
    """Document and text of each fenced block of a language."""
    found = []
    for path in DOCUMENTS:
        for text in re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), flags=re.S | re.M):
            found.append((path.name, text))
    return found


COMMANDS = sorted({line.partition("#")[0].strip() for _, text in blocks("sh") for line in text.splitlines() if line})


def test_there_are_commands_to_test():
    assert "make demo" in COMMANDS
    assert "pslc run fill --on sim:aldrin-pro-2tb" in COMMANDS


def small(line: str) -> str:
    """The command on drives as small as their answers stay the same on (`tests.scaled`), and in one process."""
    line = line.replace("scale=1/16", "scale=1/32").replace("parts.toml", "parts.toml,scale=1/16")
    if "examples/" in line:
        # What their jobs write has to find room.
        line = re.sub(r"sim:((?:sn850|t500)-1tb|aldrin-pro-2tb)(?![^ ]*scale=)", r"sim:\1,scale=1/8", line)
    elif "--region" not in line:
        line = re.sub(r"sim:([a-z0-9-]+)(?![^ ]*scale=)(?=[, ]|$)", lambda found: spec(found[1]), line)
    return f"{line} --workers 1" if line.startswith("pslc study ") and "--workers" not in line else line


ELSEWHERE = ("pslc run all ", "pslc fit ", "pslc run fill --on sim:./my-drive.toml")
"""What takes long: the catalogue and a fit have tests of their own, which do the same with smaller drives."""


@pytest.mark.long
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["scaled", "whole"])
@pytest.mark.parametrize(("document", "text"), [block for block in blocks("sh") if "pslc " in block[1]])
def test_the_commands_that_are_shown_run_in_their_order(document, text, whole, command, tmp_path):
    """To the letter in the slow part, on smaller drives and without `ELSEWHERE` here."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for _, profile in blocks("toml"):
        (tmp_path / profile.partition("\n")[0].removeprefix("# ")).write_text(profile)
    (tmp_path / "fill_bw.1.log").write_text("".join(f"{ms}, {2_000_000 if ms < 30_000 else 500_000}, 1, 0, 0\n"
                                                    for ms in range(100, 60_000, 100)))  # fmt: skip
    for line in text.splitlines():
        if not whole and line.startswith(ELSEWHERE):
            continue
        done = command(*shlex.split(line if whole else small(line), comments=True)[1:])
        assert done.returncode == 0, f"{document}: {line}\n{done.stderr}"
        assert done.stdout, line


ENTRY = "python -m pslc.fio "


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith(ENTRY)])
def test_commands_for_scripts_that_call_fio_run(line, tmp_path):
    words = [sys.executable, *shlex.split(line)[1:]]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("line", [line for line in COMMANDS if not line.startswith(("pslc ", ENTRY))])
def test_every_other_command_is_a_target_of_the_makefile(line):
    program, target = line.split()
    assert program == "make"
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.M)
    subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True)


@pytest.mark.parametrize(("document", "text"), blocks("python"))
def test_python_that_is_shown_runs(document, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(text, document, "exec"), {})


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)", path.read_text()):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), target


def test_the_tests_that_the_page_on_safety_names_are_there():
    text = (ROOT / "docs" / "safety.md").read_text()
    files: dict[str, str] = {}
    for path in (ROOT / "tests").rglob("*.py"):  # Two of one name are in different folders.
        files[path.name] = files.get(path.name, "") + path.read_text()
    named = set(re.findall(r"`(?:[\w/]+\.py::|\.\.\.::)?(test_[a-z0-9_]+)`", text))
    assert len(named) > 100
    assert [name for name in named if not any(f"def {name}(" in source for source in files.values())] == []
    for file, name in re.findall(r"`(?:\w+/)?(test_\w+\.py)::(\w+)`", text):
        assert f"def {name}(" in files[file], f"{file}::{name}"
