"""Beside the real fio, where it is installed: the same job files, the same JSON."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pslc.report import fio
from tests.conftest import ROOT, fill

FIO = shutil.which("fio")
EXAMPLES = sorted((ROOT / "examples").glob("*.fio"))
needs_fio = pytest.mark.skipif(FIO is None, reason="fio is not installed")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_runs_on_a_simulated_drive(path: Path, command):
    done = command("run", str(path), "--on", "sim:sn850-1tb", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["written_bytes"] > 0
    assert all(": " in note for note in document["notes"])


@needs_fio
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_fio_reads_every_example(path: Path):
    done = subprocess.run([FIO, "--parse-only", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout


@needs_fio
def test_our_json_has_every_field_of_fios(tmp_path):
    arguments = ["--name=a", "--rw=randrw", "--bs=4k", "--size=4m", f"--directory={tmp_path}", "--output-format=json"]
    done = subprocess.run([FIO, *arguments], capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout[done.stdout.index("{") :])
    ours = fio.document(fill("sim:pm871b-128gb"))
    assert set(theirs) <= set(ours) | {"client_stats"}

    def compare(their: dict, our: dict, where: str) -> None:
        for key, value in their.items():
            if where.endswith(("latency_ns", "latency_us", "latency_ms", "iodepth_level", "job options")):
                continue
            if key in ("percentile", "job options"):
                continue
            assert key in our, f"{where}/{key}"
            if isinstance(value, dict):
                compare(value, our[key], f"{where}/{key}")
            else:
                assert isinstance(our[key], str) == isinstance(value, str), f"{where}/{key}"

    compare(theirs["jobs"][0], ours["jobs"][0], "job")
    theirs_levels, ours_levels = (set(d["jobs"][0]["iodepth_level"]) for d in (theirs, ours))
    assert theirs_levels == ours_levels
    for unit in ("ns", "us", "ms"):
        assert set(theirs["jobs"][0][f"latency_{unit}"]) == set(ours["jobs"][0][f"latency_{unit}"])
    assert set(theirs["jobs"][0]["read"]["clat_ns"]["percentile"]) == set(
        ours["jobs"][0]["write"]["clat_ns"]["percentile"]
    )


def test_output_format_fio_prints_it(command):
    done = command("run", "fill", "--on", "sim:pm871b-128gb", "--output-format=fio", "--io_size=1g")
    document = json.loads(done.stdout)
    assert document["fio version"].startswith("pslc-")
    assert document["jobs"][0]["write"]["io_bytes"] == 1 << 30
