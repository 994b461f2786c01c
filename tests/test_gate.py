"""What comes from outside comes through the gate, and what it refuses it refuses in words, whatever the file is."""

import ast
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pslc
from pslc.base import footer, gate
from pslc.runner.load import opened
from tests.conftest import ROOT

EXPECTED = gate.Expected("a hint", max_bytes=1_000_000)
DRIVE = "sim:pm871b-128gb,scale=1/64"

OF_OURS = {
    # Files that the package brings along, or that the kernel writes.
    "base/memory.py": "the kernel's",
    "watch/telemetry.py": "the kernel's",
    "watch/counters.py": "the kernel's",
    "watch/traced.py": "the kernel's",
    "device/probe.py": "the kernel's",
    "device/published.py": "of the package",
    "device/profiles.py": "of the package",
    "device/parts/__init__.py": "of the package",
    "report/page.py": "of the package",
    "report/export.py": "of a page that was just made",
    "twin/identifiability.py": "of the package",
    "lab/apart.py": "standard streams",
    "lab/files.py": "folders of its own",
    "serving/folders.py": "folders of its own",
    "lab/app.py": "of the package",
    "lab/layout.py": "profiles in this folder",
    "lab/recordings.py": "recordings in this folder",
    "lab/server.py": "the lab's own token",
    "cli/__init__.py": "standard streams",
    "runner/fio_logs.py": "writes",
    "serving/server.py": "what nbdkit prints",
    "base/writer.py": "a drive file of ours, to copy it",
    "base/unpacker.py": "the gate itself",
    "base/gate.py": "the gate itself",
}
"""Modules that read without the gate, and what."""


def readings(path: Path) -> list[str]:
    """Calls in a module that read a file or JSON, not those that write one."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        of = ast.unparse(called.value) if isinstance(called, ast.Attribute) else ""
        constants = [one.value for one in [*node.args, *(key.value for key in node.keywords)] if hasattr(one, "value")]
        modes = [one for one in constants if isinstance(one, str) and 0 < len(one) < 4 and set(one) <= set("rwxab+")]
        opens = name == "open" and (of in ("", "os", "path", "file") or of.endswith("path"))
        if (
            name in ("read_text", "read_bytes", "read_parquet")
            or (name == "loads" and of in ("json", "_json"))
            or (opens and not any(set(mode) & set("wxa") for mode in modes))
        ):
            found.append(name)
    return found


def test_no_module_reads_a_foreign_file_beside_the_gate():
    package = ROOT / "python" / "pslc"
    beside = {str(path.relative_to(package)) for path in package.rglob("*.py") if readings(path)}
    assert beside - set(OF_OURS) == set()


@pytest.fixture
def recording(tmp_path) -> Path:
    """A folder with one."""
    pslc.run("fill", on=DRIVE, scope=pslc.Scope(quick=True)).save(tmp_path / "run")
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
        done = command("trace", "show", path)
        assert done.returncode == 2
        assert f"{kind}, not a regular file" in done.stderr


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
        ({"findings": {"doubts": [], "phases": [{}]}}, "findings does not fit"),
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
    "20 000 columns": (
        lambda: pa.table({f"c{n}": [1] for n in range(20_000)}),
        "has 20,000 columns",
    ),
    "rows without end": (lambda: pa.table({"time_ns": np.zeros(20_000_000, np.int64)}), "bytes unpacked; the limit"),
    "one text a million times": (lambda: pa.table({"a": pa.array(["x" * 900_000] * 300)}), "damaged table of Parquet"),
    "lists": (lambda: pa.table({"a": [[1], [2]]}), "not numbers or text"),
}


READ = """
import json, resource, sys
from pathlib import Path
from pslc import PslcError
from pslc.studies.results import Results
who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
start = sum(resource.getrusage(one).ru_utime for one in who)
try:
    Results(Path(sys.argv[1]))
except PslcError as error:
    seconds = sum(resource.getrusage(one).ru_utime for one in who) - start
    # What getrusage says of this process began with that of the one that started it.
    own = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
    memory = 1024 * (own + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    print(json.dumps([str(error), seconds, memory]))
"""
"""Reads results in a process of its own: the message, seconds of a processor, bytes of memory."""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_table_that_would_abort_or_fill_the_memory_is_refused_in_words(bomb, tmp_path):
    make, said = BOMBS[bomb]
    pq.write_table(make(), tmp_path / "points.parquet", compression="zstd", row_group_size=1 << 30)
    done = subprocess.run([sys.executable, "-c", READ, tmp_path], capture_output=True, text=True, check=True)
    message, seconds, memory = json.loads(done.stdout)
    assert said in message
    assert len(message) < 1000
    assert seconds < 1.0
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
