"""The command line: stdout is data, stderr is talk, an error says what to do and writes nothing."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest
import typer
from rich.markup import render

import pslc
from pslc import cli
from pslc.analysis import CAUSES
from pslc.base import output_dirs
from tests import forked

ROOT = Path(__file__).parent.parent
SMALL = "sim:pm871b-128gb"


def test_a_fill_shows_plot_phases_and_findings_and_says_where_the_recording_is(command, tmp_path):
    done = command("run", "fill", "--on", SMALL)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 40
    assert max(len(line) for line in lines) <= 100
    assert "MB/s against GB written" in done.stdout
    assert "phase" in done.stdout
    assert "The write cache ends after 3.0" in done.stdout
    (folder,) = (tmp_path / "runs").iterdir()
    assert str(folder.relative_to(tmp_path)) in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "run.json", "series.parquet"]


def test_json_is_one_document_with_everything_the_contract_names(command, tmp_path):
    done = command("run", "fill", "--on", SMALL, "--json", "--seed", "3", "--save", "out", "--no-report")
    document = json.loads(done.stdout)
    assert (document["suite"], document["target"], document["seed"]) == ("fill", SMALL, 3)
    assert document["version"] == pslc.__version__
    assert document["capacity_bytes"] == 128_000_000_000 // 4096 * 4096
    # Whole blocks, as fio has it.
    assert document["written_bytes"] == document["capacity_bytes"] // (1 << 20) * (1 << 20)
    assert document["drive_time_s"] > 100 > document["wall_s"] > 0
    findings = document["findings"]
    assert findings["cache_bytes_low"] <= findings["cache_bytes"] <= findings["cache_bytes_high"]
    mean = document["written_bytes"] / document["drive_time_s"]
    assert findings["fill_mean_bytes_per_s"] == pytest.approx(mean, rel=1e-3)
    edges = [0]
    for phase in findings["phases"]:
        assert phase["from_bytes"] == edges[-1]
        assert phase["cause"] in CAUSES
        assert phase["bytes_per_s"] > 0
        edges.append(phase["to_bytes"])
    assert edges[-1] == document["written_bytes"]
    assert findings["doubts"] == document["doubts"] == []
    saved = json.loads((tmp_path / "out" / "run.json").read_text())
    assert saved.pop("series_sha256")
    assert saved == document
    assert not (tmp_path / "out" / "report.html").exists()


def test_runs_of_the_same_second_have_a_folder_each_and_what_fails_leaves_none(tmp_path, monkeypatch):
    """Two commands of a script were so fast that the second was refused for the folder of the first."""

    class Second(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime(2026, 5, 4, 12, 30, 15)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(output_dirs, "datetime", Second)
    leaving = []
    monkeypatch.setattr(output_dirs.atexit, "register", lambda *of: leaving.append(of))
    made = [output_dirs.new_folder("fill-pm871b-128gb") for _ in range(3)]
    name = "20260504-123015-fill-pm871b-128gb"
    assert [of.name for of in made] == [name, f"{name}~2", f"{name}~3"]
    (made[1] / "run.json").touch()
    for function, *arguments in leaving:
        function(*arguments)
    assert list(Path("runs").iterdir()) == [made[1]]

    made = [output_dirs.new_folder(within=output_dirs.STUDIES) for _ in range(2)]
    assert [str(of) for of in made] == ["studies/20260504-123015", "studies/20260504-123015~2"]
    words = [sys.executable, "-m", "pslc", "run", "fill", "--on", f"{SMALL},no.key=1"]
    (tmp_path / "empty").mkdir()
    assert subprocess.run(words, cwd=tmp_path / "empty", capture_output=True, check=False).returncode == 2
    assert not list((tmp_path / "empty").iterdir())
    monkeypatch.chdir(tmp_path / "empty")
    assert output_dirs.new_folder("é" * 200).is_dir(), "a name that no file system takes is cut"
    shutil.rmtree("runs")
    Path("runs").touch()
    assert output_dirs.new_folder("a") == Path("runs") / "20260504-123015-a", "who writes there says why it cannot be"


def test_with_json_and_no_folder_nothing_is_written(command, tmp_path):
    command("run", "fill", "--on", SMALL, "--json")
    assert list(tmp_path.iterdir()) == []


def test_options_override_those_of_the_job(command):
    done = command("run", "fill", "--on", SMALL, "--json", "--bs=128k", "--io_size=1g", "--iodepth=4")
    document = json.loads(done.stdout)
    assert document["written_bytes"] == 1 << 30
    assert document["jobs"][0]["write"]["total_ios"] == 8192
    assert ["bs", "128k"] in document["overrides"]
    assert "only 1.07 GB of 128 GB was written" in document["doubts"][0]["text"]


ERRORS = {
    "unknown drive": (["run", "fill", "--on", "sim:aldrin-pro-2bt"], "did you mean aldrin-pro-2tb?"),
    "no target": (["run", "fill", "--on", "nodrive"], "sim:NAME"),
    "half a name": (["run", "fill", "--on", "aldrin"], "did you mean sim:aldrin-pro-2tb?"),
    "no name": (["run", "fill", "--on", "sim:"], "sim: names no drive"),
    "no drive": (["run", "fill"], "error: fill needs a drive"),
    "neither suite nor drive": (["run"], "error: no suite or job file given"),
    "no drive for a trace": (["replay", "work.csv"], "error: replaying work.csv needs a drive"),
    "no suite": (["run", "--on", SMALL], f"pslc run fill --on {SMALL}"),
    "a drive without --on": (["run", SMALL, "burst"], f"pslc run burst --on {SMALL}"),
    "a suite as a command": (["burst"], "pslc run burst --on sim:"),
    "a drive as a command": (["sn850-1tb"], "pslc drives show sn850-1tb"),
    "a command misspelt": (["anlyze", "x"], "did you mean pslc analyze?"),
    "no command": (["nonsense"], "the commands are advise, analyze, compare"),
    "no argument": (["compare"], "compare runs/a runs/b"),
    "an option of no command": (["drives", "--quik"], "pslc drives has no option --quik"),
    "too many arguments": (["lab", "sn850-1tb"], "pslc lab --help"),
    "no number": (["run", "fill", "--on", SMALL, "--seed", "x"], '--seed is "x"\n\nhint: a whole number'),
    "a number too small": (["run", "fill", "--on", SMALL, "--repeat", "0"], "hint: 1 or more"),
    "no such word": (["replay", "x", "--on", SMALL, "--addresses", "x"], "hint: one of exact, wrap, compact, scale"),
    "fio's option in two words": (["run", "fill", "--on", SMALL, "--bs", "4k"], "--bs=4k"),
    "a key beside the drive": (["run", "fill", "--on", SMALL, "cache.static=3GB"], f"--on {SMALL},cache.static=3GB"),
    "a size without a unit": (["run", "fill", "--on", "./x.bin", "--size", "10"], '--size is "10", which is no size'),
    "neither size nor time": (["run", "twin", "--on", SMALL, "--budget", "2"], "for example 400GB or 2h"),
    "a device that is none": (["run", "fill", "--on", "/dev/null"], "/dev/null is not a block device"),
    "a device that is not there": (["run", "fill", "--on", "/dev/nosuchdisk"], "lsblk lists"),
    "a drive for a recording": (["compare", SMALL, SMALL], f"{SMALL} is a drive, not a recording"),
    "a drive to analyze": (["analyze", SMALL], f"pslc run fill --on {SMALL} makes one"),
    "a drive to watch": (["watch", SMALL], "pslc watch needs a real one"),
    "nothing to fit to": (["fit", "nosuch"], "nosuch: no such file or folder"),
    "a plan of a simulated run": (["run", "fill", "--on", SMALL, "--dry-run"], f"pslc suites --on {SMALL}"),
    "no trace": (["trace", "show"], "pslc trace show needs FILE"),
    "a study of nothing": (["study"], "--on sim:sn850-1tb"),
    "unknown suite": (["run", "fil", "--on", SMALL], "did you mean fill?"),
    "unknown key": (["run", "fill", "--on", f"{SMALL},cache.mod=pure-xlc"], "did you mean cache.mode?"),
    "bare number": (["run", "fill", "--on", f"{SMALL},cache.static=3"], "unit"),
    "no value": (["run", "fill", "--on", f"{SMALL},cache.mode"], "not key=value"),
    "cache too large": (
        ["run", "fill", "--on", "sim:aldrin-pro-2tb,cache.dynamic=1.2TB"],
        "cache.dynamic is 1200GB but the drive can hold",
    ),
    "no spare blocks": (["run", "fill", "--on", f"{SMALL},nand.blocks_per_plane=1700"], "no spare blocks"),
    "geometry": (["run", "fill", "--on", f"{SMALL},nand.dies=2"], "nand.dies is 2 on 4 channels"),
    "no profile": (["run", "fill", "--on", "sim:./none.toml"], "there is no such file"),
    "no job file": (["run", "none.fio", "--on", SMALL], "there is no such file"),
    "unknown option": (["run", "fill", "--on", SMALL, "--bss=4k"], "unknown option bss"),
    "a scratch file on a simulated drive": (["run", "fill", "--on", SMALL, "--size=1GB"], "--io_size=300g"),
    "stray word": (["run", "fill", "more", "--on", SMALL], "fill is a suite"),
    "no drive to show": (["drives", "show", "nothing"], "hint: pslc drives lists them all"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_says_what_and_what_next_exits_with_2_and_writes_nothing(case, command, tmp_path):
    arguments, expected = ERRORS[case]
    done = command(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert expected in done.stderr
    assert "\n\nhint: " in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_error_in_a_job_file_names_file_and_line(command, tmp_path):
    (tmp_path / "my.fio").write_text("[a]\nrw=write\niodeth=4\n")
    done = command("run", "my.fio", "--on", SMALL)
    assert done.returncode == 2
    assert "my.fio:3: unknown option iodeth" in done.stderr
    assert "did you mean iodepth?" in done.stderr


def test_an_error_in_a_profile_names_file_and_line(command, tmp_path):
    (tmp_path / "mine.toml").write_text('base = "pm871b-128gb"\n\n[cache]\nstatic = "3 bananas"\n')
    done = command("run", "fill", "--on", "sim:./mine.toml")
    assert done.returncode == 2
    assert "./mine.toml:4: " in done.stderr


def test_a_profile_of_ones_own_with_a_base_runs(command, tmp_path):
    (tmp_path / "mine.toml").write_text('base = "pm871b-128gb"\nname = "mine"\n[cache]\nstatic = "6GB"\n')
    document = json.loads(command("run", "fill", "--on", "sim:./mine.toml", "--json").stdout)
    assert document["drive"] == "mine"
    assert document["findings"]["cache_bytes"] == pytest.approx(6e9, rel=0.03)


def test_a_recording_is_never_written_over(command, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("data")
    done = command("run", "fill", "--on", SMALL, "--save", "out")
    assert done.returncode == 2
    assert "is not an empty folder" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["precious"]


def test_ctrl_c_keeps_what_was_recorded_and_says_so(tmp_path):
    job = tmp_path / "long.fio"
    job.write_text("[long]\nrw=randwrite\nbs=4k\nioengine=io_uring\niodepth=32\ntime_based\nruntime=10h\n")
    words = ["run", "long.fio", "--on", SMALL, "--save", "out"]
    process = forked.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # What it has done so far is kept after a second.
    for _ in range(1200):
        if (tmp_path / "out" / "run.json").exists():
            break
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate(timeout=60)
    assert process.returncode == 130, talk
    assert "interrupted after" in talk
    recording = pslc.Recording.load(tmp_path / "out")
    assert recording.interrupted
    assert recording.written_bytes > 0
    assert any("interrupted" in doubt for doubt in recording.findings["doubts"])


def test_help_and_lists(command):
    assert command("--help").returncode == 0
    shown = command("--version").stdout
    assert re.fullmatch(rf"pslc {re.escape(pslc.__version__)}, native part of \d{{4}}-\d\d-\d\d, Python .*\n", shown)
    assert "aldrin-pro-2tb" in command("drives").stdout
    names = [row["name"] for row in json.loads(command("drives", "--json").stdout)]
    assert names == sorted(names)
    shown = command("drives", "show", "sn850-1tb").stdout
    assert "[provenance]" in shown
    assert "calibrated" in shown
    assert "[die 0] [die 1]" in shown
    assert "space ends at" not in command("drives", "show", "pm871b-128gb").stdout, "it outlasts the capacity"
    assert "space ends at     870 GB" in command("drives", "show", "aldrin-pro-2tb").stdout
    two_bits = command("drives", "show", "fx700-2tb").stdout
    assert "5066 MB/s as pSLC, 3554 MB/s at two bits, 482 MB/s native" in two_bits
    assert "S + Raw - nS/2 - reserve" in two_bits
    assert "fill           Where is the cliff?" in command("suites").stdout
    assert "fill" in [row["name"] for row in json.loads(command("suites", "--json").stdout)]


@pytest.mark.parametrize("words", [("drives", "create"), ("drives", "age"), ("suites", "show"), ("trace", "convert")])
def test_each_command_of_a_group_has_its_own_help(command, words):
    shown = command(*words, "--help")
    assert shown.returncode == 0
    assert f"Usage: pslc {' '.join(words)}" in shown.stdout
    assert "--nand" not in shown.stdout, "an option of another command"


def every_command(group, context):
    """Each command of a group with its words, groups first."""
    for name in group.list_commands(context):
        inner = group.get_command(context, name)
        yield name, inner
        if hasattr(inner, "list_commands"):
            yield from ((f"{name} {below}", leaf) for below, leaf in every_command(inner, context))


def test_no_word_in_brackets_is_lost_as_markup_in_a_help():
    group = typer.main.get_command(cli.app)
    helps = {
        f"{words} {option}": text
        for words, inner in every_command(group, typer.Context(group))
        for option, text in [("", inner.help), *((param.name, getattr(param, "help", "")) for param in inner.params)]
        if text
    }
    assert any("pip install" in text for text in helps.values())
    lost = [where for where, text in helps.items() if render(text).plain != text.replace("\\[", "[")]
    assert lost == []


def test_help_imports_nothing_heavy():
    heavy = ("numpy", "arro3.core", "scipy", "plotext", "rich")
    code = f"import sys, pslc.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_run_without_a_terminal_imports_nothing_that_it_does_not_use(tmp_path):
    (tmp_path / "job.fio").write_text("[job]\nrw=write\nbs=4k\nnumber_ios=1\n")
    unused = ("rich", "arro3.core", "scipy", "plotext", "numpy.random", "concurrent.futures", "multiprocessing")
    code = (
        "import sys\n"
        "from pslc.cli import main\n"
        "sys.argv = ['pslc', 'run', 'job.fio', '--on', 'sim:sn850-1tb', '--json']\n"
        "try: main()\n"
        f"finally: print([m for m in {unused} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert json.loads(done.stdout)["jobs"]
    assert done.stderr.splitlines()[-1] == "[]"


def test_what_a_profile_shows_is_a_profile(command, tmp_path):
    (tmp_path / "copy.toml").write_text(command("drives", "show", "sn850-1tb,cache.mode=pure-xlc").stdout)
    document = json.loads(command("drives", "show", "./copy.toml", "--json").stdout)
    assert document["drive"] == "WD Black SN850 1TB"
    shown = command("drives", "show", "./copy.toml")
    assert "\nNone" not in shown.stdout
    (tmp_path / "again.toml").write_text(shown.stdout)
    assert command("drives", "show", "./again.toml").returncode == 0


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        (["drives", "sn850-1tb"], "pslc drives show sn850-1tb"),
        (["drives", "shw", "sn850-1tb"], "pslc drives show sn850-1tb"),
        (["suites", "fill"], "pslc suites show fill; pslc run fill --on"),
        (["drives", "cretae", "disk.pslc"], "did you mean pslc drives create?"),
        (["drives", "create", "disk.pslc"], "pslc drives create disk.pslc --like"),
        (["trace", "shw", "work.trace"], "did you mean pslc trace show?"),
        (["suites", "show", "fil"], "did you mean fill?"),
        (["run", "fill", "--on", "sn850-1tb"], "did you mean sim:sn850-1tb?"),
        (["run", "fill", "--on", "sn850-1tb,link=pcie3x4"], "did you mean sim:sn850-1tb,link=pcie3x4?"),
        (["run", "fill", "--on", "sn85-1tb"], "did you mean sim:sn850-1tb?"),
        (["run", "fill", "--quik", "--on", "sim:sn850-1tb"], "did you mean --quick?"),
        (["run", "fill", "--fill_first=50%", "--on", "sim:sn850-1tb"], "did you mean --fill-first?"),
        (["run", "fil", "--on", "sim:sn850-1tb"], "did you mean fill?"),
    ],
)
def test_what_is_nearly_right_gets_the_command_that_is(said, hint, command):
    done = command(*said)
    assert done.returncode == 2
    assert f"hint: {hint}" in done.stderr


def test_no_option_of_fios_is_taken_for_one_of_ours_misspelt(command):
    options = {"io_size": "1m", "randrepeat": "1", "rate": "100m", "offset": "0", "ramp_time": "1ms", "name": "fill"}
    done = command("run", "fill", "--on", SMALL, "--json", *(f"--{name}={value}" for name, value in options.items()))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("words", "said"), [(["-o", "apps"], "run has no option -o"), (["apps"], "takes no apps")])
def test_all_with_words_that_are_not_its_own_begins_nothing(command, tmp_path, words, said):
    done = command("run", "all", "--on", "sim:pm871b-128gb", "--quick", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert not list(tmp_path.iterdir())
