"""Text that others made reaches a terminal with its control characters as escapes, whichever command shows it."""

import ast
import io
import json
import os
import pty
import re
import subprocess
import sys
import tomllib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from benches.small import PROFILE

import pslc
from pslc.base import console
from pslc.base.live_lines import Live
from pslc.device.profiles import library
from pslc.figures.picture import Table
from pslc.figures.view import View
from pslc.recording import store
from pslc.report import terminal
from tests import forked
from tests.conftest import ROOT

TITLE = "\x1b]0;OWNED\x07"
"""An OSC sequence that a terminal obeys: it sets the title."""
HOSTILE = f"{TITLE}\x1b[31mRED\x9b32m\u202eevil\u2066\x7f:skull:[bold red]"
JOB = "\x1b(0\x07\x9b31m\u202eevil\u2066\x7f:skull:"
"""Without what ends a section or begins a comment."""
FORBIDDEN = re.compile("\x1b\\]|\x1b\\[31mRED|[\x00-\x08\x0e-\x1a\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\U0001f480")
"""Of what is hostile, and what pslc itself never says. Its own colours begin with ESC [."""
SMALL = "small.toml"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files whose names, headers, cells and fields are hostile."""
    at = tmp_path_factory.mktemp("hostile")
    (at / SMALL).write_text(PROFILE)
    (at / f"{HOSTILE}.toml").write_text(PROFILE.replace('"small"', json.dumps(HOSTILE), 1))
    (at / "bad.toml").write_text(f"[a]\n{json.dumps(HOSTILE)} = 3\n")
    (at / "jobs.fio").write_text(f"[{JOB}]\nrw=write\nsize=8m\nbs=1m\n[b{JOB}]\nrw=read\nsize=1m\n")
    (at / "bad.fio").write_text(f"[a]\nrw={JOB}\n")
    rows = "".join(f"{s},{2000 if s < 30 else 500},{HOSTILE}\n" for s in range(1, 61))
    (at / f"{HOSTILE}.csv").write_text(f"seconds,MB/s,{HOSTILE}\n{rows}")
    (at / "broken.csv").write_text(f"seconds,MB/s\n1,{HOSTILE}\n2,3\n")
    (at / "trace.csv").write_text("time_us,op,offset,size,device\n" + "".join(
        f"{us},write,{4096 * us},4096,{HOSTILE}{us % 3}\n" for us in range(1, 3000)))  # fmt: skip
    (at / "bad_trace.csv").write_text(
        "time_us,op,offset,size,device\n" + 9 * "1,write,0,4096,x\n" + f"2,{HOSTILE},0,4096,x\n"
    )
    quoted = json.dumps(HOSTILE)
    (at / "study.toml").write_text(f'run = ["fill"]\non = ["sim:./{SMALL}"]\n[vary]\n{quoted} = ["1", "2"]\n')
    (at / "study_suite.toml").write_text(f'run = [{quoted}]\non = ["sim:./{SMALL}"]\n')
    (at / "study_on.toml").write_text(
        f'run = ["fill"]\non = [{json.dumps(f"sim:./{HOSTILE}.toml")}, "sim:./{SMALL}"]\n'
    )
    for name in ("one", "two"):
        recording = pslc.run(str(at / "jobs.fio"), on=f"sim:{at / SMALL}")
        steps = [step | {"name": f"{step['name']}{HOSTILE}"} for step in recording.steps]
        said = {field: f"{getattr(recording, field)}{HOSTILE}" for field in ("target", "drive", "version", "suite")}
        store.save(replace(recording, **said, error=HOSTILE, steps=steps, provenance=[(HOSTILE, HOSTILE)]), at / name)
    columns = "r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz %util"
    cells = "0.00 0.00 0.00 0.00 0.00 0.00 100.00 10000.00 0.00 0.00 1.00 100.00 50.00"
    block = f"Device {columns}\n{HOSTILE.replace(' ', '')} {cells}\n\n"
    (at / "iostat.txt").write_text(f"Linux 6.1 (host)  11/25/26  _x86_64_ (2 CPU)\n\n{20 * block}")
    return at


COMMANDS = {
    name: [word.replace("HOSTILE", HOSTILE) for word in words]
    for name, words in tomllib.loads((ROOT / "tests/fixtures/texts/commands.toml").read_text()).items()
}


def on_a_terminal(words, folder, columns="120"):
    """What `pslc` with these words writes to a terminal, as the terminal gets it."""
    ours, its = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": columns}
    with forked.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=its, stderr=its) as process:
        os.close(its)
        text = _read(ours)
        process.wait(60)
    return text


def _read(terminal):
    """All that comes until nobody has the other end any more."""
    found = bytearray()
    with suppress(OSError):
        while got := os.read(terminal, 1 << 16):
            found += got
    os.close(terminal)
    return found.decode()


def seen(text):
    """What is hostile in a text, with what stands around it."""
    return [text[max(hit.start() - 30, 0) : hit.end() + 30] for hit in FORBIDDEN.finditer(text)]


@pytest.mark.parametrize("columns", ["80", "40"])
def test_a_narrow_terminal_has_whole_names_of_drives(columns, tmp_path):
    lines = narrow(["drives"], tmp_path, columns)
    assert {*library()} <= {line.split()[0] for line in lines if line}
    assert f"Not in {columns} columns: drive" in "\n".join(lines)


def narrow(words, folder, columns):
    """Lines of a command in a narrow terminal: none is wider, and none ends between a figure and its unit."""
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", on_a_terminal(words, folder, columns)).splitlines()
    assert max(map(len, lines)) <= int(columns)
    assert not re.findall(r"\d *\n *(?:%|[kMG]?B\b|[mµ]?s\b|min\b|MB/s).*", "\n".join(lines))
    return lines


@pytest.fixture(scope="module")
def narrow_runs(tmp_path_factory):
    """Recordings of two suites; the names of the fills are long and alike."""
    at = tmp_path_factory.mktemp("narrow")
    for name, suite, target in (("cdm", "cdm", "sim:sn850-1tb"), ("a", "fill", "sim:sn850-1tb"),
                                ("b", "fill", "sim:sn850-1tb,cache.when_full=fold")):  # fmt: skip
        store.save(pslc.run(suite, on=target, scope=pslc.Scope(quick=True)), at / name)
    return at


@pytest.mark.parametrize(
    ("columns", "words", "rows"),
    [
        ("40", "analyze cdm", [r"SEQ1M Q8T1 +\d+ MB/s +\d+ MB/s", "Not in 40 columns: mix, read IOPS,.*"]),
        ("80", "analyze cdm", [r"SEQ1M Q8T1 +(\d+ MB/s +){3}.* ms"]),
        ("40", "analyze a", [" +1 +0 B +281 GB +5578 MB/s  pslc *", "Not in 40 columns: why.", " +100 %"]),
        ("80", "analyze a", [" +1 +0 B +281 GB +5578 MB/s  pslc .*"]),
        ("40", "compare a b", ["figure +1 +2", r"average speed +2002 MB/s +\d+ MB/s", " +-.* % [*]", "1  WD Black .*"]),
        ("80", "compare a b a", ["figure +1 +2 +3", r"average speed( +\d+ MB/s.*){3}"]),
        ("40", "run --help", ["  --destroy-data SERIAL", "  --on TARGET    Drive: .*"]),
        ("40", "run --list", ["fill-levels    How does the cache shrink", " {15}as the drive fills[?].*"]),
        ("40", "run --list --on sim:sn850-1tb", [r"fill +1000 GB +0 B"]),
    ],
)
def test_a_narrow_terminal_cuts_no_figure_and_no_name(columns, words, rows, narrow_runs):
    lines = narrow(words.split(), narrow_runs, columns)
    assert [row for row in rows if not any(re.fullmatch(row, line) for line in lines)] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_no_control_character_of_others_reaches_stdout_or_stderr(name, folder):
    done = forked.run(COMMANDS[name], folder, os.environ | {"COLUMNS": "120"})
    assert seen(done.stdout) == []
    assert seen(done.stderr) == []
    assert "\x1b" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "bug in pslc" not in done.stderr
    assert re.search(r"\\u\{?202e", done.stdout + done.stderr), "what is hostile is not shown at all"
    if "JSON" in name:
        assert done.returncode == 0, done.stderr
        json.loads(done.stdout)


@pytest.mark.parametrize("name", COMMANDS)
def test_on_a_terminal_with_colours_none_does_either(name, folder):
    text = on_a_terminal(COMMANDS[name], folder)
    assert seen(text) == []
    assert text


def test_a_new_line_in_a_name_begins_no_line(folder):
    name = "x\nerror: all is lost\nrecording: y"
    (folder / f"{name}.csv").write_text("s,MB/s\n" + "".join(f"{s},100\n" for s in range(1, 30)))
    (folder / f"{name}.bad").write_text("?")
    for words in (["analyze", f"{name}.csv"], ["analyze", f"{name}.bad"], ["run", "fill", "--on", f"sim:{name}"],
                  ["run", "jobs.fio", "--on", f"sim:./{SMALL}", "--save", name],
                  ["report", "one", "-o", f"{name}.html"],
                  ["drives", "show", name], ["compare", "one", name], ["study", f"{name}.csv"]):  # fmt: skip
        done = forked.run(words, folder, os.environ | {"COLUMNS": "300"})
        lines = (done.stdout + done.stderr).splitlines()
        assert not [line for line in lines if line.startswith(("error: all is lost", "recording: y"))], words
        if words[0] != "compare":  # Which shortens it.
            assert "x\\u000aerror: all is lost\\u000arecording: y" in done.stdout + done.stderr, words


def test_help_keeps_its_colours_on_a_terminal(folder):
    assert "\x1b[1m" in on_a_terminal(["run", "--help"], folder)


def test_json_and_toml_read_an_escape_as_the_character_it_stands_for():
    every = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0), 0x61C, *range(0x200E, 0x2070)])) + "\U0001f480"
    shown = console.line(every)
    assert seen(shown.replace("\U0001f480", "")) == []
    assert json.loads(f'"{shown}"') == tomllib.loads(f'a = "{shown}"')["a"] == every
    assert console.escaped("a\tb\r\nc\n") == "a\tb\r\nc\n"
    assert console.escaped("a\rb") == "a\\u000db"


def test_tables_stay_straight_around_what_is_escaped(capsys):
    table = Table("t", ("name", "n"), [[HOSTILE, "1"], ["plain", "2"]], words=("name",))
    terminal.show(View("a", "b", "c", "d", [], [table], [], [], []))
    shown = capsys.readouterr().out
    assert seen(shown) == []
    assert len({len(row) for row in shown.splitlines() if row.rstrip().endswith(("1", "2", " n"))}) == 1


def test_live_lines_are_escaped_and_their_own_codes_are_not():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    with Live(stream) as live:
        live.draw([f"drive {HOSTILE}", "two\nlines"])
        live.draw(["again"])
    text = stream.getvalue()
    assert seen(text) == []
    assert "two\\u000alines" in text
    assert "\x1b[2A" in text


def test_what_is_printed_above_a_progress_bar_is_escaped(tmp_path):
    script = f"""
import sys
import tomllib
from pslc.cli import _streams
_streams()
from pslc.cli._progress import Bar
with Bar({HOSTILE!r}) as bar:
    bar({{"step": {HOSTILE!r}, "done_bytes": 1, "total_bytes": 2, "bytes_per_s": 1.0, "total_time_ns": 0}})
    bar.log({HOSTILE!r})
    print({HOSTILE!r}, file=sys.stderr)
    print({HOSTILE!r})
"""
    ours, its = pty.openpty()
    environment = os.environ | {"TERM": "xterm"}
    done = subprocess.Popen([sys.executable, "-c", script], stdout=its, stderr=its, cwd=tmp_path, env=environment)
    os.close(its)
    text = _read(ours)
    assert done.wait(60) == 0, text
    assert seen(text) == []
    assert text.count("OWNED") >= 4


def test_rich_is_used_through_the_filter_alone():
    """Their own consoles, texts and bars take colours, markup and emoji codes from what they are given."""
    allowed = {"base/rich_console.py": {"rich.console", "rich.progress", "rich.text"}}
    unfiltered = {"rich": {"print", "get_console"}, "rich.console": {"Console"}, "rich.progress": {"Progress", "track"},
                  "rich.text": {"Text"}, "rich.live": {"Live"}}  # fmt: skip
    package = ROOT / "python" / "pslc"
    for path in package.rglob("*.py"):
        name = path.relative_to(package).as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                foreign = {of.name for of in node.names if of.name.partition(".")[0] == "rich"}
                assert foreign <= allowed.get(name, set()), name
            if isinstance(node, ast.ImportFrom) and name != "base/rich_console.py":
                names = {of.asname or of.name for of in node.names}
                assert not names & unfiltered.get(node.module or "", set()), (name, names)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_whoever_reads_no_more_of_the_output_gets_no_error(unbuffered, folder):
    read, write = os.pipe()
    os.close(read)
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    executable = Path(sys.executable).parent / "pslc"
    done = subprocess.run([executable, "drives", "show", "sn550-1tb"], stdout=write, stderr=subprocess.PIPE, text=True,
                          env=environment, cwd=folder, check=False)  # fmt: skip
    os.close(write)
    assert done.stderr == ""
