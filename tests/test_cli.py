"""The command line: stdout is data, stderr is talk, an error says what to do and writes nothing."""

import json
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from datetime import datetime
from pathlib import Path

import pytest
import typer
from rich.markup import render

import pslc
from pslc import cli
from pslc.analysis import CAUSES
from pslc.base import install, output_dirs
from pslc.recording import store
from tests import forked

ROOT = Path(__file__).parent.parent
SMALL = "sim:pm871b-128gb"


def test_a_fill_shows_plot_phases_and_findings_and_says_where_the_recording_is(command, tmp_path):
    done = command.fine("run", "fill", "--on", SMALL)
    lines = done.stdout.splitlines()
    assert len(lines) <= 40
    assert max(len(line) for line in lines) <= 100
    assert "speed (MB/s)" in done.stdout
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
    assert findings["warnings"] == []
    bare = "computer: none, the bare drive; the suite assumes it, --computer NAME sets another"
    assert [(warning["level"], warning["text"]) for warning in document["warnings"]] == [("note", bare)]
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
    assert "only 1.07 GB of 128 GB was written" in document["warnings"][0]["text"]


ERRORS = tomllib.loads((ROOT / "tests/fixtures/texts/errors.toml").read_text().replace("SMALL", SMALL))


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_says_what_and_what_next_exits_with_2_and_writes_nothing(case, command, tmp_path):
    arguments, expected = ERRORS[case]
    done = command.refused(*arguments)
    assert expected in done.stderr
    assert "\n\nhint: " in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_kind_is_not_served(command, tmp_path):
    (tmp_path / "g.txt").write_text("mine")
    done = command.refused("serve", "g.txt")
    assert "g.txt is not a drive file" in done.stderr
    assert "--reuse" not in done.stderr


def test_an_error_beside_json_carries_the_code_that_python_has(command):
    done = command.refused("run", "fill", "--on", "sim:sn850-1tb,cache.x=1,cache.y=2", "--json")
    error = json.loads(done.stdout)["error"]
    with pytest.raises(pslc.PslcError) as raised:
        pslc.run("fill", on="sim:sn850-1tb,cache.x=1,cache.y=2")
    assert error["code"] == raised.value.code == "several-faults"
    assert [fault["code"] for fault in error["faults"]] == [fault.code for fault in raised.value.faults]
    assert error["hint"] in done.stderr


def test_a_page_and_a_table_go_to_stdout_where_it_is_named(command, tmp_path):
    command.fine("run", "burst", "--quick", "--on", SMALL, "--save", "run", "--no-report")
    assert command.fine("report", "run", "-o", "-").stdout.startswith("<!doctype html>")
    assert command.fine("export", "run", "--as", "csv", "-o", "-").stdout.startswith("axis,")
    assert not (tmp_path / "-").exists()
    assert "hint: -o FOLDER" in command.refused("export", "run", "--as", "fio", "-o", "-").stderr
    assert "hint: -o x.csv" in command.refused("export", "run", "--as", "csv", "-o", "x.parquet").stderr


def test_a_log_comes_from_stdin(command, tmp_path):
    (tmp_path / "-").mkdir()
    log = "".join(f"{ms}, {2_000_000 if ms < 30_000 else 500_000}, 1, 0, 0\n" for ms in range(100, 60_000, 100))
    words = ["analyze", "-", "--capacity", "128GB", "--json"]
    done = forked.run(words, tmp_path, text=log)
    assert [phase["bytes_per_s"] for phase in json.loads(done.stdout)["findings"]["phases"]] == pytest.approx(
        [2.048e9, 5.12e8], rel=0.02
    )
    assert forked.run(words, tmp_path, text="x").stderr.startswith("error: stdin is of no known format")


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        ("pipx_metadata.json", "pipx install --force"),
        ("uv-receipt.toml", "uv tool install --force"),
        ("", "pip install"),
    ],
)
def test_an_extra_is_installed_as_pslc_was(mark, expected, monkeypatch, tmp_path):
    if mark:
        (tmp_path / mark).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert install.command("pslc[fit]") == f'{expected} "pslc[fit]"'
    origin = tmp_path / "a folder" / "pslc-0.1.0-cp311-abi3-linux_x86_64.whl"
    about = tmp_path / "pslc-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: pslc\nVersion: 0.1.0\n")
    (about / "direct_url.json").write_text(json.dumps({"url": origin.as_uri(), "archive_info": {}}))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert install.command("pslc[fit]") == f'{expected} "pslc[fit]"', "the wheel is gone"
    origin.parent.mkdir()
    origin.touch()
    assert install.command("pslc[fit]") == f'{expected} "{origin}[fit]"'


def test_an_error_in_a_job_file_names_file_and_line(command, tmp_path):
    (tmp_path / "my.fio").write_text("[a]\nrw=write\niodeth=4\n")
    done = command.refused("run", "my.fio", "--on", SMALL)
    assert "my.fio:3: unknown option iodeth" in done.stderr
    assert "did you mean iodepth?" in done.stderr


def test_an_error_in_a_profile_names_file_and_line(command, tmp_path):
    (tmp_path / "mine.toml").write_text('base = "pm871b-128gb"\n\n[cache]\nstatic = "3 bananas"\n')
    done = command.refused("run", "fill", "--on", "sim:./mine.toml")
    assert "./mine.toml:4: " in done.stderr


def test_a_profile_of_ones_own_with_a_base_runs(command, tmp_path):
    (tmp_path / "mine.toml").write_text('base = "pm871b-128gb"\nname = "mine"\n[cache]\nstatic = "6GB"\n')
    document = json.loads(command("run", "fill", "--on", "sim:./mine.toml", "--json").stdout)
    assert document["drive"] == "mine"
    assert document["findings"]["cache_bytes"] == pytest.approx(6e9, rel=0.03)


def test_a_recording_is_never_written_over(command, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("data")
    done = command.refused("run", "fill", "--on", SMALL, "--save", "out")
    assert "is not an empty folder" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["precious"]


def test_ctrl_c_keeps_what_was_recorded_and_says_so(tmp_path):
    job = tmp_path / "long.fio"
    job.write_text("[long]\nrw=randwrite\nbs=4k\nioengine=io_uring\niodepth=32\ntime_based\nruntime=10h\n")
    words = ["run", "long.fio", "--on", SMALL, "--save", "out"]
    process = forked.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # What it has done so far is kept after a second.
    forked.eventually((tmp_path / "out" / "run.json").exists, process=process)
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate(timeout=60)
    assert process.returncode == 130, talk
    assert "interrupted after" in talk
    recording = store.load(tmp_path / "out")
    assert recording.interrupted
    assert recording.written_bytes > 0
    assert any("interrupted" in warning for warning in recording.findings["warnings"])


def test_help_and_lists(command):
    command.fine("--help")
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
    assert "fill           Where is the cliff?" in command("run", "--list").stdout
    assert "fill" in [row["name"] for row in json.loads(command("run", "--list", "--json").stdout)]


@pytest.mark.parametrize("words", [("drives", "create"), ("drives", "age"), ("trace", "convert")])
def test_each_command_of_a_group_has_its_own_help(command, words):
    shown = command.fine(*words, "--help")
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
    heavy = ("numpy", "arro3.core", "scipy", "rich")
    code = f"import sys, pslc.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_run_without_a_terminal_imports_nothing_that_it_does_not_use(tmp_path):
    (tmp_path / "job.fio").write_text("[job]\nrw=write\nbs=4k\nnumber_ios=1\n")
    unused = ("rich", "arro3.core", "scipy", "numpy.random", "concurrent.futures", "multiprocessing")
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
    command.fine("drives", "show", "./again.toml")


def test_no_option_of_fios_is_taken_for_one_of_ours_misspelt(command):
    options = {"io_size": "1m", "randrepeat": "1", "rate": "100m", "offset": "0", "ramp_time": "1ms", "name": "fill"}
    command.fine("run", "fill", "--on", SMALL, "--json", *(f"--{name}={value}" for name, value in options.items()))


def test_the_examples_of_the_documents_come_with_the_package_and_replace_nothing(command, tmp_path):
    files = [path for path in (ROOT / "examples").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert command.fine("examples").stdout == f"examples: {len(files)} files\n"
    assert (tmp_path / "examples" / "power-cut" / "check.sh").is_file()
    command.refused("examples")
    assert command.fine("trace", "show", "examples/evening.csv").stdout
