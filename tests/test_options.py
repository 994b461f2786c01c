"""One table of all options: a name has one meaning and one metavar, whichever command takes it."""

import re
import runpy
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import typer

from pslc.cli import app
from tests.conftest import ROOT

WORDINGS = {
    "--capacity": 2, "--computer": 3, "--destroy-data": 2, "--device": 3, "--dry-run": 2,
    "--fill-first": 2, "--idle": 2, "--json": 5, "--language": 2, "--list": 2, "--meter": 2, "--nand": 2, "--on": 4,
    "--output": 8, "--policy": 2, "--power-cut": 2, "--quick": 2, "--save": 3, "--seed": 2, "--size": 2,
    "--victim-rule": 2, "--yes": 2,
}  # fmt: skip
"""Names that commands explain in several ways, each read and found to be one meaning; all others have one text."""


def parameters() -> list[tuple[str, Any]]:
    """Path of a command and each parameter of it."""
    root = typer.main.get_command(app)
    root.name = "pslc"
    walk = runpy.run_path(str(ROOT / "docs/man/make.py"))["commands"]
    return [(path, of) for path, command, context in walk(root) for of in command.get_params(context)]


def options() -> dict[str, list[Any]]:
    """The options of each long name, one for each command that takes it."""
    table = defaultdict(list)
    for _, of in parameters():
        if of.param_type_name == "option":
            table[max(of.opts, key=len)].append(of)
    return table


def test_a_name_of_an_option_has_one_metavar_and_one_meaning():
    table = options()
    assert len(table) > 100
    metavars = {name: {(of.metavar or "").removesuffix(",...") for of in rows} for name, rows in table.items()}
    assert {name: kinds for name, kinds in metavars.items() if len(kinds) > 1} == {}
    wordings = {name: len({of.help for of in rows}) for name, rows in table.items()}
    assert {name: count for name, count in wordings.items() if count != WORDINGS.get(name, 1)} == {}


def test_a_short_name_stands_for_the_same_option_everywhere():
    short = {(name, other) for name, rows in options().items() for of in rows for other in of.opts if other != name}
    assert short == {("--help", "-h"), ("--output", "-o")}
    assert [of.opts for of in options()["--output"] if "-o" not in of.opts] == []


def test_an_option_that_takes_a_size_or_a_file_says_so():
    nameless = {name for name, rows in options().items() for of in rows
                if not of.is_flag and of.metavar is None and not of.type_descriptor.is_choice}  # fmt: skip
    assert nameless == set()


@pytest.mark.parametrize(
    "typed",
    ["run fill --on sim:ald", "crash --on sim:ald", "replay x --on sim:ald", "study --on sim:ald",
     "advise x --on sim:ald", "serve sim:ald", "drives create x.pslc --like ald", "drives show ald",
     "run fill --on=sim:ald"],
)  # fmt: skip
def test_bash_completes_a_drive_wherever_one_is_asked(command, typed, tmp_path):
    """In the words that bash makes of the line: it splits at each colon and equals sign."""
    script = command.fine("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1").stdout
    words = re.sub(r"[:=]", r"\n\g<0>\n", f"pslc {typed}".replace(" ", "\n")).split("\n")
    line = (
        f"COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; _pslc_completion pslc; echo ${{COMPREPLY[@]}}"
    )
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(["bash", "--norc", "-c", f"{script}\n{line}"], env={"PATH": path, "HOME": str(tmp_path)},
                          capture_output=True, text=True, timeout=60, check=True)  # fmt: skip
    assert done.stdout.split() == ["aldrin-pro-2tb"]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("drives new --nand bics5-tlc-5", {"bics5-tlc-512g"}), ("drives new --controller phison-e16", {"phison-e16"}),
     ("fit x --nand bics5-tlc-5", {"bics5-tlc-512g"}), ("drives parts phison-e16", {"phison-e16"}),
     ("run fill --on sim:aldr", {"sim:aldrin-pro-2tb"})],
)  # fmt: skip
def test_other_shells_complete_parts_and_whole_targets(command, typed, offered):
    done = command(
        _PSLC_COMPLETE="complete_fish", _TYPER_COMPLETE_FISH_ACTION="get-args", _TYPER_COMPLETE_ARGS=f"pslc {typed}"
    )
    assert set(done.stdout.split()) == offered


def test_no_flag_shows_a_value_that_it_does_not_take(command):
    assert "<bool>" not in command.fine("run", "--help").stdout
