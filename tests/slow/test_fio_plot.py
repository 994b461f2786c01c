"""fio-plot draws what we print and log as it draws what fio does."""

import itertools
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

FIO = shutil.which("fio")
PLOT = Path(sys.executable).parent / "fio-plot"
DEPTHS, CLONES = (1, 4), (1, 2)
JOB = (ROOT / "tests/fixtures/texts/fio_plot.fio").read_text()
"""As bench-fio, which comes with fio-plot, writes them."""
PICTURES = (
    "-L -t iops", "-L -t lat", "-l -n 1", "-l -n 2 --show-cpu", "-N -d 4", "-H -d 4 -n 2",
    "-g -t bw iops lat -d 1 4 -n 1 2",
)  # fmt: skip


@pytest.mark.long
@pytest.mark.skipif(FIO is None, reason="fio is not installed")
@pytest.mark.parametrize(("rw", "kind"), [("randread", "read"), ("randrw", "write")])
def test_fio_plot_draws_what_we_print_and_log(command, tmp_path, rw, kind):
    for depth, clones in itertools.product(DEPTHS, CLONES):
        stem, printed = f"{rw}-iodepth-{depth}-numjobs-{clones}", f"{rw}-{depth}-{clones}.json"
        text = JOB.format(depth=depth, clones=clones, rw=rw, stem=stem)
        for folder in (tmp_path / "theirs", tmp_path / "ours"):
            folder.mkdir(exist_ok=True)
            (folder / "job.fio").write_text(text)
        made = [FIO, "job.fio", "--output-format=json", f"--output={printed}"]
        subprocess.run(made, cwd=tmp_path / "theirs", capture_output=True, check=True)
        ours = tmp_path / "ours"
        done = command("run", ours / "job.fio", "--on", "sim:pm871b-128gb", "--output-format=fio",
                       f"--output={ours / printed}")  # fmt: skip
        assert done.returncode == 0, done.stderr
        for log in tmp_path.glob("*.log"):
            log.rename(ours / log.name)
    compared = ["-i", "theirs", "ours", "-C", "-d", "4", "-n", "1"]
    for words in (compared, *(["-i", "ours", *words.split()] for words in PICTURES)):
        picture = tmp_path / "picture.png"
        picture.unlink(missing_ok=True)
        made = [PLOT, *words, "-r", rw, "-f", kind, "-T", "x", "-o", picture]
        drawn = subprocess.run(made, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert drawn.returncode == 0, (words, drawn.stdout + drawn.stderr)
        assert picture.stat().st_size > 10_000


def test_fio_plot_sees_a_file_that_is_none_of_fios(command, tmp_path):
    """That it draws is no accident: what we print as our own it refuses."""
    (tmp_path / "job.fio").write_text("[a]\nrw=randread\niodepth=1\nnumjobs=1\nbs=4k\nsize=1m\n")
    done = command("run", "job.fio", "--on", "sim:pm871b-128gb", "--json")
    (tmp_path / "randread-1-1.json").write_text(json.dumps(json.loads(done.stdout)))
    made = [PLOT, "-i", tmp_path, "-l", "-n", "1", "-r", "randread", "-T", "x"]
    drawn = subprocess.run(made, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert drawn.returncode == 1
    assert "Could not find any (matching) JSON files" in drawn.stdout
