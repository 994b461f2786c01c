"""Every command that a document shows is run, every picture it shows is there, every link leads somewhere."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import pslc
from pslc.device.profiles import library
from pslc.device.target import find_target
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
    line = re.sub(r"parts\.toml(?!,)", "parts.toml,scale=1/16", line.replace("scale=1/16", "scale=1/32"))
    if "examples/" in line:
        # What their jobs write has to find room.
        line = re.sub(r"sim:((?:sn850|t500)-1tb|aldrin-pro-2tb)(?![^ ]*scale=)", r"sim:\1,scale=1/8", line)
    elif "--region" not in line:
        line = re.sub(r"sim:([a-z0-9-]+)(?![^ ]*scale=)(?=[, ]|$)", lambda found: spec(found[1]), line)
    return f"{line} --workers 1" if line.startswith("pslc study ") and "--workers" not in line else line


OF_ARTICLES = "articles.md"
"""A page of two hours of drive time, whose commands `tests/test_articles.py` runs."""
ELSEWHERE = ("pslc run all ", "pslc fit ", "pslc run fill --on sim:./my-drive.toml")
"""What takes long: the catalogue and a fit have tests of their own, which do the same with smaller drives."""


@pytest.mark.long
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["scaled", "whole"])
@pytest.mark.parametrize(
    ("document", "text"), [block for block in blocks("sh") if "pslc " in block[1] and block[0] != OF_ARTICLES]
)
def test_the_commands_that_are_shown_run_in_their_order(document, text, whole, command, tmp_path):
    """To the letter in the slow part, on smaller drives and without `ELSEWHERE` here."""
    command.fine("examples")
    for _, profile in blocks("toml"):
        (tmp_path / profile.partition("\n")[0].removeprefix("# ")).write_text(profile)
    (tmp_path / "fill_bw.1.log").write_text("".join(f"{ms}, {2_000_000 if ms < 30_000 else 500_000}, 1, 0, 0\n"
                                                    for ms in range(100, 60_000, 100)))  # fmt: skip
    for line in text.splitlines():
        if not whole and line.startswith(ELSEWHERE):
            continue
        done = command.fine(*shlex.split(line if whole else small(line), comments=True)[1:])
        assert done.stdout, line


ENTRY = "pslc-fio "


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith(ENTRY)])
def test_commands_for_scripts_that_call_fio_run(line, tmp_path):
    words = [Path(sys.executable).with_name("pslc-fio"), *shlex.split(line)[1:]]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("line", [line for line in COMMANDS if not line.startswith(("pslc ", ENTRY))])
def test_every_other_command_is_a_target_of_the_makefile(line):
    program, target = line.split()
    assert program == "make"
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.M)
    subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True)


OF_ROOT = re.compile(
    r"(\$ )?((smartctl|nvme|hdparm|blktrace|blkdiscard|blockdev|losetup|mount|umount|dmsetup|modprobe|nbd-client) "
    r"|pslc watch .*--trace|pslc serve .*--nvme)"
)
"""Lines that an ordinary user is refused."""


@pytest.mark.parametrize("path", sorted({*DOCUMENTS, *ROOT.glob("docs/*/*.md")}), ids=lambda path: path.name)
def test_what_takes_root_says_so(path):
    """By sudo in front, or by the paragraph above its block."""
    parts = path.read_text().split("```")
    shells = [(above, text) for above, text in zip(parts[::2], parts[1::2], strict=False)
              if text.startswith(("sh\n", "bash\n", "console\n", "shell\n"))]  # fmt: skip
    lines = [line for above, text in shells if "root" not in above.rstrip().rpartition("\n\n")[2]
             for line in text.splitlines()]  # fmt: skip
    cells = re.findall(r"\| ([^|]+)(?:\\\|[^|]+)* \|$", path.read_text(), flags=re.M)
    assert [line for line in lines + cells if OF_ROOT.match(line)] == []


def test_each_bench_that_a_document_names_is_there():
    listed = subprocess.run([sys.executable, "-m", "benches"], cwd=ROOT, capture_output=True, text=True, check=True)
    texts = [path.read_text() for path in [*DOCUMENTS, *ROOT.glob("docs/*/*.md")]]
    named = {name for text in texts for name in re.findall(r"make bench NAME=(\w+)", text)}
    assert len(named) > 12
    assert named - {line.split()[0] for line in listed.stdout.splitlines()} == set()


@pytest.mark.parametrize(("document", "text"), blocks("python"))
def test_python_that_is_shown_runs(document, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(text, document, "exec"), {})


def test_the_counts_of_the_readme_are_of_what_they_count():
    readme = (ROOT / "README.md").read_text()
    assert f"**Simulate** {len(library())} built-in drives" in readme
    with pytest.raises(pslc.ProfileError) as unknown:
        find_target("sim:sn850-1tb,cache.when_full=x")
    assert (unknown.value.hint.count(",") + 1, "[eleven policies]" in " ".join(readme.split())) == (11, True)
    assert len(readme.splitlines()) <= 100


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)", path.read_text()):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), target


def test_a_short_navigation_leads_to_each_page_of_the_site_by_links():
    nav = re.findall(r"^ +- (?:.*: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), flags=re.M)
    assert 5 < len(nav) <= 15
    site = {(ROOT / "docs" / page).resolve() for page in nav} | {ROOT / "README.md"}
    reached = ahead = {path if path.is_file() else ROOT / path.name for path in site}
    while ahead:
        links = {(path.parent / link).resolve() for path in ahead if path.is_file()
                 for link in re.findall(r"\]\(([^)#]+\.md)", path.read_text())}  # fmt: skip
        ahead = links - reached
        reached |= ahead
    assert [path for path in [*DOCUMENTS, *ROOT.glob("docs/speed/*.md")] if path not in reached] == []


@pytest.mark.parametrize(
    "path", [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/s[pt]*/*.md"), ROOT / "ACCURACY.md"], ids=lambda path: path.name
)
def test_a_page_begins_with_whom_it_is_for(path):
    assert re.match(r"# .+\n\nFor ", path.read_text())


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
