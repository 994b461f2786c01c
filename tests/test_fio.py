"""Beside the real fio, where it is installed: the same job files, the same JSON."""

import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pslc._native import fio_words
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


@needs_fio
def test_every_option_of_the_installed_fio_is_in_the_table():
    """A new fio shows what is new."""
    page = runpy.run_path(str(ROOT / "docs" / "fio" / "make.py"))
    options, engines = fio_words()
    known = {name for names, _, _ in options for name in names}
    assert page["installed"]() - known == set()
    listed = subprocess.run([FIO, "--enghelp"], capture_output=True, text=True, check=True).stdout.split()[3:]
    assert set(listed) - {name for names, _, _ in engines for name in names} == set()


def test_the_page_of_options_is_made_from_the_table():
    page = runpy.run_path(str(ROOT / "docs" / "fio" / "make.py"))
    assert (ROOT / "docs" / "fio.md").read_text() == page["document"](), "make fio-page"
    options, _ = fio_words()
    names = [name for names, _, _ in options for name in names]
    assert len(names) == len(set(names))
    assert all(why for _, verdict, why in options if verdict != "obeyed")


def test_job_files_come_from_stdin_from_several_files_and_from_includes(command, tmp_path):
    (tmp_path / "sizes.inc").write_text("bs=64k\nsize=8m # of both\n")
    (tmp_path / "a.fio").write_text("[global]\ninclude sizes.inc\n[one]\nrw=write\n[two]\nrw=write\n")
    (tmp_path / "b.fio").write_text("[three]\nrw=write\nbs=1m\n")
    run = ["run", "a.fio", "b.fio", "--on", "sim:pm871b-128gb", "--output-format=fio"]
    jobs = json.loads(command(*run).stdout)["jobs"]
    assert [(job["jobname"], job["write"]["total_ios"]) for job in jobs] == [("one", 128), ("two", 128), ("three", 8)]
    assert [job["groupid"] for job in jobs] == [0, 0, 1]
    done = command(*run, "--section=two", "--section=three", "--output=out.json")
    assert done.stdout == ""
    assert [job["jobname"] for job in json.loads((tmp_path / "out.json").read_text())["jobs"]] == ["two", "three"]
    (tmp_path / "bad.inc").write_text("bs=64k\nbs=x\n")
    (tmp_path / "c.fio").write_text("[c]\ninclude bad.inc\n")
    assert 'bad.inc:2: bs: "x" is no size' in command("run", "c.fio", "--on", "sim:pm871b-128gb").stderr
    executable = Path(sys.executable).parent / "pslc"
    arguments = [executable, "run", "-", "--on", "sim:pm871b-128gb", "--json"]
    text = "[in]\nrw=write\nsize=8m\nfilename=/nowhere\n"
    piped = subprocess.run(arguments, input=text, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(piped.stdout)["written_bytes"] == 8 << 20
    assert "note: filename is ignored: " in piped.stderr


def test_what_is_read_is_laid_out_first_or_doubted(command, tmp_path):
    (tmp_path / "r.fio").write_text("[r]\nrw=randread\nsize=1g\nnumber_ios=2000\n")
    run = ["run", "r.fio", "--on", "sim:sn850-1tb", "--json"]
    laid_out, not_so = (json.loads(command(*run, *more).stdout) for more in ([], ["--no-layout"]))
    means = [document["jobs"][0]["read"]["lat_ns"]["mean"] for document in (laid_out, not_so)]
    assert means[0] > 3 * means[1]
    assert any("written first" in note for note in laid_out["notes"])
    assert "1.07 GB of what was read had never been written" in not_so["findings"]["doubts"][0]


@needs_fio
def test_logs_have_fios_names_and_columns(command, tmp_path):
    text = "[j]\nrw=rw\nbs=4k\nsize=1m\nwrite_lat_log=l\nwrite_bw_log=b\nwrite_iops_log=i\nlog_offset=1\n"
    (tmp_path / "j.fio").write_text(text)
    assert command("run", "j.fio", "--on", "sim:sn850-1tb", "--json").returncode == 0
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    subprocess.run([FIO, tmp_path / "j.fio"], cwd=theirs, capture_output=True, check=True)
    logs = {path.name for path in theirs.glob("*.log")}
    assert logs == {path.name for path in tmp_path.glob("*.log")} == {
        "l_lat.1.log", "l_slat.1.log", "l_clat.1.log", "b_bw.1.log", "i_iops.1.log"}  # fmt: skip
    for name in logs:
        rows = [[[int(n) for n in line.split(",")] for line in (folder / name).read_text().splitlines()]
                for folder in (theirs, tmp_path)]  # fmt: skip
        assert len(rows[0]) == len(rows[1]) == (0 if "slat" in name else 256)
        assert {len(row) for of in rows for row in of} <= {6}
        places = [sorted(row[4] for row in of if row[2] == 1) for of in rows]
        shared = min(len(of) for of in places)
        assert places[0][:shared] == places[1][:shared]


def test_output_format_fio_prints_it(command):
    done = command("run", "fill", "--on", "sim:pm871b-128gb", "--output-format=fio", "--io_size=1g")
    document = json.loads(done.stdout)
    assert document["fio version"].startswith("pslc-")
    assert document["jobs"][0]["write"]["io_bytes"] == 1 << 30
