"""What comes from outside comes through the gate, and what it refuses it refuses in words, whatever the file is."""

import ast
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pslc.traces
from pslc.base import footer, gate
from pslc.device import drive_files
from pslc.recording import store
from pslc.recording.model import Findings
from pslc.runner.load import opened
from tests.conftest import PROFILE, ROOT
from tests.drive_heads import HEAD_BYTES, head_of, with_head

EXPECTED = gate.Expected("a hint", max_bytes=1_000_000)
DRIVE = "sim:pm871b-128gb,scale=1/64"

OF_OURS = {
    # Files that the package brings along, or that the kernel writes.
    "base/memory.py": (1, "the kernel's"),
    "watch/counters.py": (1, "the kernel's"),
    "watch/traced.py": (2, "the kernel's"),
    "device/sysfs.py": (1, "the kernel's"),
    "device/kernel_log.py": (1, "the kernel's"),
    "device/ends.py": (1, "what the gate opened"),
    "lab/apart.py": (1, "the null device"),
    "base/workers.py": (6, "the null device, streams of its own, and messages of its own workers"),
    "serving/server.py": (1, "the kernel's"),
    "crash/cuts.py": (1, "printed by the command that it ran, in its own folder"),
    "device/published.py": (1, "of the package"),
    "device/profiles.py": (1, "of the package"),
    "device/parts/__init__.py": (1, "of the package"),
    "twin/identifiability.py": (1, "of the package"),
    "report/page.py": (1, "of the package"),
    "figures/vocabulary.py": (1, "of the package"),
    "analysis/posterior.py": (1, "of the package"),
    "lab/uploads.py": (4, "ranges that it wrote beside a picture"),
    "lab/tasks.py": (1, "the profile of a fit that it began"),
    "lab/static_page.py": (1, "the page that comes with pslc"),
    "base/locks.py": (1, "folders of its own, to lock them"),
    "base/limits.py": (2, "/proc"),
    "device/reading.py": (2, "what is measured on, to read it"),
    "cli/examples.py": (1, "of the package"),
    "formats/_unread.py": (1, "of the package"),
    "twin/job_words.py": (1, "of the package"),
    "serving/nvme.py": (1, "a folder of the kernel's, to lock it"),
    "cli/__init__.py": (1, "standard streams"),
    "base/console.py": (1, "the null device"),
    "base/install.py": (2, "what the installer wrote beside pslc"),
    "base/unpacker.py": (3, "what the gate opened, and what it asks"),
    "formats/fio_log.py": (1, "lines that the gate read"),
    "base/gate.py": (3, "the gate itself"),
}
"""Modules that read without the gate: how often, and what."""
READS = {"read_text", "read_bytes", "read_parquet", "read_table", "fromfile", "loadtxt", "genfromtxt", "memmap",
         "read_csv", "copyfile", "copy2", "copytree"}  # fmt: skip
"""Calls that read a file, whatever they are of."""


def readings(tree: ast.AST) -> list[int]:
    """The lines of calls that read a file or JSON, not of those that write one."""
    lines = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        of = ast.unparse(called.value) if isinstance(called, ast.Attribute) else ""
        constants = [one.value for one in [*node.args, *(key.value for key in node.keywords)] if hasattr(one, "value")]
        modes = [one for one in constants if isinstance(one, str) and 0 < len(one) < 4 and set(one) <= set("rwxab+")]
        opens = name == "open" and (
            of in ("", "os", "path", "file", "io", "gzip", "lzma", "bz2", "tarfile", "zipfile", "Image")
            or of.endswith("path")
            or bool(modes)
        )
        if (
            name in READS
            or (name in ("load", "loads") and of in ("json", "_json", "np", "pickle"))
            or (opens and "O_CREAT" not in ast.unparse(node) and not any(set(mode) & set("wxa") for mode in modes))
        ):
            lines.append(node.lineno)
    return lines


def test_no_module_reads_a_foreign_file_beside_the_gate():
    package = ROOT / "python" / "pslc"
    every = {str(path.relative_to(package)): ast.parse(path.read_text()) for path in package.rglob("*.py")}
    beside = {name: len(readings(tree)) for name, tree in every.items()}
    beside.pop("base/writer.py")  # It opens what it makes.
    assert {name: count for name, count in beside.items() if count} == {
        name: count for name, (count, _) in OF_OURS.items()
    }


def test_the_search_finds_what_reads():
    for line in ("open('data')", "path.open('rb')", "os.open(p, os.O_RDONLY)", "p.read_text()", "json.load(file)",
                 "np.fromfile(p)", "gzip.open(p)", "entry.open('r')"):  # fmt: skip
        assert readings(ast.parse(line)), line
    for line in ("open('a', 'w')", "drive.open()", "target.open(values)", "gate.text(p, FILE)", "webbrowser.open(u)"):
        assert not readings(ast.parse(line)), line


RUST_READERS = {
    "crates/drive/src/guard/rights.rs": (1, "names of users and groups, of the system"),
    "crates/reference/src/main.rs": (1, "a set of cases and the answers to it, named by a developer"),
    "crates/drive/src/guard/loops.rs": (1, "a loop device, to ask the kernel what is behind it"),
    "crates/drive/src/io/stat.rs": (1, "the kernel's"),
    "crates/drive/src/guard/device_windows.rs": (1, "what is measured on, by its number"),
    "crates/drive/src/storage/query.rs": (1, "volumes and drives of Windows, without a right to their data"),
    "crates/drive/src/guard/users.rs": (2, "the kernel's; a mounted device"),
    "crates/drive/src/guard/sysfs.rs": (1, "the kernel's"),
    "crates/drive/src/guard/mounts.rs": (2, "the kernel's"),
    "crates/drive/src/guard/holders.rs": (5, "the kernel's"),
    "crates/drive/src/guard/device.rs": (1, "the kernel's"),
    "crates/drive/src/handle.rs": (2, "what is measured on, found without opening it"),
    "crates/drive/src/guard/scratch.rs": (3, "what is measured on, and its folder"),
    "crates/drive/src/sys/unix.rs": (3, "files that pslc keeps, and folders to hold them open"),
    "crates/drive/src/sys/windows.rs": (7, "files that pslc keeps, and folders to hold them open"),
    "crates/drive/src/sys/overlapped.rs": (1, "what is measured on, and is new"),
    "crates/load/src/traces/packed.rs": (1, "a trace, judged before"),
    "crates/load/src/traces/blktrace.rs": (2, "its own File, through packed.rs"),
    "crates/drive/src/storage/linux.rs": (3, "an NVMe or SATA drive, asked for its health and identity alone"),
    "crates/nbd/src/status.rs": (1, "the kernel's"),
}
"""Sources of the native part that open files to read them: how often, and what."""


def test_no_source_of_the_native_part_reads_a_foreign_file_beside_its_gates():
    reads = re.compile(r"\bFile::open\(|fs::read(?:_to_string)?\(|OpenOptions::new\(\)")
    counts = {}
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        text = path.read_text().partition("#[cfg(test)]")[0]
        if path.name != "tests.rs" and (count := len(reads.findall(text))):
            counts[str(path.relative_to(ROOT))] = count
    assert counts == {name: count for name, (count, _) in RUST_READERS.items()}


@pytest.fixture
def recording(tmp_path) -> Path:
    """A folder with one."""
    store.save(pslc.run("fill", on=DRIVE, scope=pslc.Scope(quick=True)), tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def others(tmp_path) -> dict[str, Path]:
    """What is no regular file."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    return {"a pipe": tmp_path / "pipe", "a device": tmp_path / "link", "a folder": tmp_path}


@pytest.mark.timeout(20)
def test_a_pipe_a_device_and_a_folder_are_refused_by_name_at_once(others):
    for read in (gate.data, gate.text, gate.footer, lambda path, of: list(gate.lines(path, of))):
        for kind, path in others.items():
            with pytest.raises(pslc.PslcError, match=f"{kind}, not a regular file"):
                read(path, EXPECTED)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["run.json", "series.parquet"])
def test_a_recording_of_pipes_or_endless_devices_is_refused(recording, others, name):
    for kind in ("a pipe", "a device"):
        (recording / name).unlink()
        (recording / name).symlink_to(others[kind])
        with pytest.raises(pslc.PslcError, match="not a regular file"):
            opened(recording)


@pytest.mark.timeout(60)
def test_a_trace_that_is_a_device_is_refused_with_what_it_is(command, others):
    for path, kind in (("/dev/zero", "a device"), (str(others["a pipe"]), "a pipe")):
        done = command.refused("trace", "show", path)
        assert f"{kind}, not a regular file" in done.stderr


ON_A_DRIVE = {
    "run": ("run", "fill", "--quick", "--on", "x.pslc"),
    "probe": ("probe", "x.pslc"),
    "age": ("drives", "age", "x.pslc", "--idle", "1h"),
    "format": ("drives", "format", "x.pslc", "--mode", "pure-slc"),
    "serve": ("serve", "x.pslc"),
}
"""Commands that open the file of a drive."""


@pytest.mark.timeout(120)
@pytest.mark.parametrize("what", ON_A_DRIVE)
def test_a_drive_that_is_no_regular_file_is_refused_by_each_command_at_once(what, command, tmp_path):
    at = tmp_path / "x.pslc"
    for kind, make in {
        "a FIFO": lambda: os.mkfifo(at),
        "a character device": lambda: at.symlink_to("/dev/zero"),
        "a folder": at.mkdir,
    }.items():
        make()
        done = command.refused(*ON_A_DRIVE[what])
        # What lies behind a link is named as what it is.
        assert f"{at.resolve()} is {kind}, not a regular file\n\nhint: " in done.stderr
        at.rmdir() if at.is_dir() else at.unlink()


@pytest.mark.timeout(20)
def test_a_drive_of_more_bytes_than_its_flash_has_room_for_is_refused_unread(tmp_path):
    drive_files.create(tmp_path / "whole.pslc", "pm871b-128gb,scale=1/64").close()
    whole = (tmp_path / "whole.pslc").read_bytes()
    state = (1 << 40) - HEAD_BYTES - head_of(whole)["profile"]["bytes"]
    profile = (1 << 40) - HEAD_BYTES - 1
    long = tmp_path / "long.pslc"
    for content, length, why in (
        (whole, 1 << 40, "bytes follow its end"),
        (with_head(whole, state_bytes=state), 1 << 40, "its state has [0-9]+ bytes; the limit for this drive is"),
        (with_head(whole, profile_bytes=profile, state_bytes=1), 1 << 40, "its profile has [0-9]+ bytes; the limit"),
        (with_head(whole, profile_bytes=2**63 - 1, state_bytes=2**63 - 1), 1 << 20, "it is cut: 1048576 bytes of"),
    ):
        long.write_bytes(content)
        os.truncate(long, length)
        begun = time.process_time()
        with pytest.raises(pslc.PslcError, match=why):
            drive_files.open_kept(long)
        assert time.process_time() - begun < 1
    (tmp_path / "whole.pslc.journal").write_bytes(b"")
    os.truncate(tmp_path / "whole.pslc.journal", 1 << 40)
    with pytest.raises(pslc.PslcError, match="is no journal of this drive"):
        drive_files.open_kept(tmp_path / "whole.pslc")


@pytest.mark.parametrize("on", ["sim:pm871b-128gb,base=sn850-1tb", "sim:./x.toml,base=/dev/zero"])
def test_a_base_beside_the_name_of_a_drive_is_refused(on, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.toml").write_text('base = "pm871b-128gb"\n')
    with pytest.raises(pslc.PslcError, match="base is a key of profiles alone"):
        pslc.run("fill", on=on)


@pytest.mark.timeout(60)
def test_the_lab_lists_and_opens_no_pipe_and_no_device(tmp_path, monkeypatch):
    from pslc.base import writer
    from pslc.lab import api, recordings, server

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "state" / "pslc").mkdir(parents=True)
    (tmp_path / "runs" / "a").mkdir(parents=True)
    places = [tmp_path / "p.toml", tmp_path / "runs" / "a" / "run.json", tmp_path / "state" / "pslc" / "lab-token"]
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        for path in places:
            make(path)
        assert api._library()["profiles"] == {}
        assert recordings.entries() == ([], ["a"])
        assert server.token() != server.token()
        with pytest.raises(pslc.PslcError, match="not a regular file"):
            writer.copy(places[0], tmp_path / "copy")
        for path in places:
            path.unlink()


def test_a_file_beyond_its_limit_is_refused_with_both_sizes(tmp_path):
    (tmp_path / "a").write_bytes(bytes(1_000_001))
    with pytest.raises(pslc.PslcError, match="has 1,000,001 bytes; the limit is 1,000,000"):
        gate.data(tmp_path / "a", EXPECTED)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "1e40", "9" * 5000])
def test_numbers_that_are_none_or_beyond_use_are_refused(number):
    with pytest.raises(pslc.PslcError, match="is no JSON"):
        gate.document(f'{{"a": [{number}]}}', "a.json", EXPECTED)


def test_brackets_without_end_are_refused():
    for text in ("[" * 100_000, "[" * 200 + "]" * 200):
        with pytest.raises(pslc.PslcError, match="nested"):
            gate.document(text, "a.json", EXPECTED)


def changed(folder: Path, **values) -> None:
    """Replace values of run.json."""
    path = folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_all_faults_of_a_recording_are_in_one_message(recording):
    changed(recording, wall_s="long", seed=-1, jobs=[{"name": 1}])
    with pytest.raises(pslc.PslcError) as error:
        opened(recording)
    for place in ("wall_s", "seed", "jobs.0.name", "jobs.0.options"):
        assert f"{place}: " in error.value.message


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"wall_s": float("nan")}, "NaN is no number"),
        ({"findings": {"warnings": [], "phases": [{}]}}, "findings does not fit"),
        ({"profile": "a = "}, "its profile"),
        ({"before": {}}, "before has no"),
        ({"steps": [{}]}, "steps.0.start_ns"),
    ],
)
def test_a_changed_recording_is_refused_with_what_is_wrong(recording, values, said):
    changed(recording, **values)
    with pytest.raises(pslc.PslcError, match=said):
        opened(recording)


def test_a_recording_as_it_was_written_fits_its_schema(recording):
    assert opened(recording).findings["phases"]


BOMBS = {
    "a NUL in a name": (lambda: pa.table({"time_ns\0": [1]}), "has a NUL"),
    "20 000 columns": (lambda: pa.table({f"c{n}": [1] for n in range(20_000)}), "has 20,000 columns"),
    "rows without end": (lambda: pa.table({"time_ns": np.zeros(20_000_000, np.int64)}), "bytes unpacked; the limit"),
    "one text a million times": (lambda: pa.table({"a": pa.array(["x" * 900_000] * 300)}), "damaged table of Parquet"),
    "lists": (lambda: pa.table({"a": [[1], [2]]}), "not numbers or text"),
}


READ = """
import json, resource, sys
from pathlib import Path
from pslc import PslcError
from pslc.base import limits
from pslc.studies.results import Results
who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
start = sum(resource.getrusage(one).ru_utime for one in who)
try:
    Results(Path(sys.argv[1]))
except PslcError as error:
    seconds = sum(resource.getrusage(one).ru_utime for one in who) - start
    memory = limits.peak_bytes() + 1024 * (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    print(json.dumps([str(error), seconds, memory]))
"""
"""Reads results in a process of its own: the message, seconds of a processor, bytes of memory."""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_recording_is_read_where_there_is_no_dev_fd(recording):
    script = f"mount -t tmpfs none /dev && mknod /dev/null c 1 3 && exec '{sys.executable}' -m pslc report {recording}"
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no mount namespaces here")
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_table_that_would_abort_or_fill_the_memory_is_refused_in_words(bomb, tmp_path):
    make, said = BOMBS[bomb]
    pq.write_table(make(), tmp_path / "points.parquet", compression="zstd", row_group_size=1 << 30)
    done = subprocess.run([sys.executable, "-c", READ, tmp_path], capture_output=True, text=True, check=True)
    message, seconds, memory = json.loads(done.stdout)
    assert said in message
    assert len(message) < 1000
    # Of a processor, whose caches others use on a busy machine.
    assert seconds < 5.0
    assert memory < 500e6


def test_a_footer_cut_anywhere_is_damaged_and_nothing_else(tmp_path):
    pq.write_table(pa.table({"a": [1, 2], "b": ["x", None]}), tmp_path / "whole")
    raw = (tmp_path / "whole").read_bytes()
    length = int.from_bytes(raw[-8:-4], "little")
    for kept in range(length):
        cut = raw[: -8 - length] + raw[-8 - length :][:kept] + kept.to_bytes(4, "little") + b"PAR1"
        (tmp_path / "cut").write_bytes(cut)
        with (tmp_path / "cut").open("rb") as file, pytest.raises(footer.FooterError):
            footer.read(file)


def test_a_reader_of_tables_that_is_killed_ends_in_words(tmp_path, monkeypatch):
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "a.parquet")
    (tmp_path / "killed.py").write_text(f"import os; os.kill(os.getpid(), {int(signal.SIGABRT)})")
    monkeypatch.setattr(gate, "UNPACKER", tmp_path / "killed.py")
    with pytest.raises(pslc.PslcError, match="damaged table of Parquet"):
        gate.table(tmp_path / "a.parquet", EXPECTED)


@pytest.mark.parametrize("program", ["gzip", "xz", "zstd"])
def test_a_few_packed_bytes_that_become_very_many_are_refused_within_a_second(program, tmp_path):
    line = b"128166372003061629,usr,0,Write,0,4096,100\n"
    (tmp_path / "a.csv").write_bytes(line * (300_000_000 // len(line)))
    subprocess.run([program, "-q", "-f", "a.csv"], cwd=tmp_path, check=True)
    (packed,) = tmp_path.glob("a.csv.*")
    begun = time.process_time()
    with pytest.raises(pslc.PslcError, match="the limit for its size"):
        pslc.traces.opened(packed, pslc.traces.Part()).survey()
    assert time.process_time() - begun < 2.0


def test_the_package_starts_without_loading_schemas():
    code = "import sys, pslc.cli, pslc.runner.load; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("name", ["a" * 20_000, "word " * 4000], ids=["one word", "many words"])
def test_a_name_of_any_length_is_drawn_and_printed_in_seconds_and_ends(name, tmp_path, command):
    recording = pslc.run("burst", on="sim:pm871b-128gb,scale=1/64", scope=pslc.Scope(quick=True))
    jobs = [job | {"name": name} for job in recording.jobs]
    named = replace(recording, drive=name, suite=name, target=name, jobs=jobs, findings=Findings())
    store.save(named, tmp_path / "runs" / "r")
    for words in (
        ["picture", "runs/r", "-o", "q.svg"], ["analyze", "runs/r"], ["report"], ["compare", "runs/r", "runs/r"],
        ["report", "runs/r", "-o", "page.html"],
    ):  # fmt: skip
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = command.fine(*words)
        assert len(done.stdout) + len(done.stderr) < 60_000, words
        assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 10
    for file in ("q.svg", "page.html"):
        assert name[:300] not in (tmp_path / file).read_text()


def test_a_page_of_a_run_shows_no_more_of_a_long_name_than_one_of_a_recording(tmp_path, command):
    (tmp_path / "long.toml").write_text(PROFILE.replace('name = "', f'name = "{"a" * 20_000}', 1))
    command.fine("run", "burst", "--quick", "--on", "sim:long.toml", "--save", "r")
    page = (tmp_path / "r/report.html").read_text()
    before, _, profile = page.partition("Drive profile")
    assert profile
    assert not re.search("a{201}", before)
    # The profile itself is shown as it is, its lines as long as those of the terminal.
    assert not re.search("a{4001}", profile)
