"""Studies: points, where they are run, what is kept of them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pslc
from pslc.errors import PslcError
from pslc.studies import workers
from pslc.studies.axes import Condition, axis
from pslc.studies.points import Study
from pslc.studies.results import Results
from pslc.studies.study import complete
from tests.small import PROFILE

VARY = {"cache.dynamic": "200MB:800MB:200MB", "cache.when_full": ["direct-while-folding", "direct-then-fold"]}
EXECUTABLE = Path(sys.executable).parent / "pslc"


@pytest.fixture
def small(tmp_path):
    """A drive on which a fill takes hundredths of a second."""
    path = tmp_path / "small.toml"
    path.write_text(PROFILE)
    return f"sim:{path}"


def said(table):
    """Its columns, but for how long it took."""
    return {name: table[name].to_pylist() for name in table.column_names if name != "wall_s"}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("50GB:200GB:50GB", "50GB 100GB 150GB 200GB"),
        ("1GiB:2GiB:512MiB", "1GiB 1.5GiB 2GiB"),
        ("500MB:2GB:750MB", "500MB 1.25GB 2GB"),
        ("1ms:1s:log4", "1ms 10ms 100ms 1s"),
        ("1GB:10GB:log3", "1GB 3.16GB 10GB"),
        ("10%:30%:10%", "10% 20% 30%"),
        ("1:2:0.5", "1 1.5 2"),
        ("1:2:0.3", "1 1.3 1.6 1.9"),
        ("10MB/s:30MB/s:10MB/s", "10MB/s 20MB/s 30MB/s"),
        ("fold,direct-then-fold", "fold direct-then-fold"),
        ("1GB:3GB:1GB,10GB,2GB", "1GB 2GB 3GB 10GB"),
    ],
)
def test_an_axis_is_a_list_or_a_range_in_the_units_of_a_profile(text, values):
    assert list(axis("key", text).values) == values.split()


@pytest.mark.parametrize("text", ["1GB:3GB:1s", "3GB:1GB:1GB", "1GB:3GB:0GB", "0s:1s:log3", "1s:2s:log1", "a,,b", ""])
def test_a_range_without_an_end_is_refused(text):
    with pytest.raises(PslcError, match="key"):
        axis("key", text)


def test_conditions_compare_quantities_and_words():
    values = {"a": "900MB", "b": "1GB", "w": "fold"}
    for text, holds in (("a<b", True), ("a>=b", False), ("a<0.5GB", False), ("w=fold", True), ("w!=fold", False)):
        assert Condition.of(text, list(values)).holds(values) == holds, text
    with pytest.raises(PslcError, match="no order"):
        Condition.of("w<b", list(values)).holds(values)
    with pytest.raises(PslcError, match="no condition"):
        Condition.of("c<b", list(values))


def test_a_study_runs_each_point_that_its_conditions_keep_and_its_rows_are_those_of_single_runs(small):
    table = pslc.study(on=small, run="fill", vary=VARY, where="cache.dynamic<=400MB", workers=1)
    assert table["cache.dynamic"].to_pylist() == ["200MB", "200MB", "400MB", "400MB"]
    for row, command in enumerate(table["command"].to_pylist()):
        words = command.split()
        alone = pslc.run(words[2], on=words[4], seed=int(words[6])).findings
        assert table["cache_bytes"].to_pylist()[row] == alone["cache_bytes"]
        assert table["phases_2_bytes_per_s"].to_pylist()[row] == alone["phases"][1]["bytes_per_s"]


def test_one_process_and_two_give_the_same_table(small, tmp_path):
    job = tmp_path / "random.fio"
    job.write_text("[random]\nrw=randwrite\nbs=4k\nio_size=20m\n")
    one, two = (
        pslc.study(on=small, run=["fill", str(job)], seed=[0, 1], vary=VARY, workers=count, save=tmp_path / str(count))
        for count in (1, 2)
    )
    assert one.num_rows == 32
    assert one.schema == two.schema
    assert said(one) == said(two)


def test_a_point_that_the_profile_refuses_is_kept_with_the_reason(small, tmp_path):
    table = pslc.study(on=small, run="fill", vary={"cache.dynamic": "500MB,500GB"}, save=tmp_path / "kept")
    good, refused = table["error"].to_pylist()
    assert good is None
    assert refused.startswith("refused: cache.dynamic=500GB: ")
    assert table["cache_bytes"].to_pylist()[1] is None


def test_a_study_grows_by_new_values_and_runs_only_those(small, tmp_path):
    run = []

    def study(values):
        points = Study.of({"on": small, "run": "fill", "vary": {"cache.dynamic": values}}).points()
        return complete(points, tmp_path / "kept", 1, lambda done, total: run.append((done, total)))

    study("200MB,400MB")
    assert run[-1] == (2, 2)
    whole = study("200MB:500MB:100MB")
    assert run[-1] == (2, 2)
    assert len(whole.rows) == 4
    fresh = pslc.study(on=small, run="fill", vary={"cache.dynamic": "200MB:500MB:100MB"}, workers=1)
    assert said(whole.table) == said(fresh)
    study("200MB:500MB:100MB")
    assert run[-1] == (0, 0)


def test_another_text_of_a_profile_is_another_point(small, tmp_path):
    study = {"on": small, "run": "fill"}
    before = Study.of(study).points()[0]
    Path(small.removeprefix("sim:")).write_text(PROFILE.replace('"800MB"', '"700MB"'))
    after = Study.of(study).points()[0]
    assert before.command == after.command
    assert before != after


def test_a_killed_study_goes_on_with_the_points_that_are_missing(small, tmp_path):
    kept, vary = tmp_path / "kept", "300MB:800MB:20MB"
    order = ["study", "--on", small, "--run", "fill,second-pass", "--vary", f"cache.dynamic={vary}"]
    order += ["--save", str(kept)]
    killed = subprocess.Popen([EXECUTABLE, *order, "--workers", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not list(kept.glob("new-*.parquet")) and time.monotonic() < deadline:
        assert killed.poll() is None, "it was over before it could be killed"
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    points = Study.of({"on": small, "run": ["fill", "second-pass"], "vary": {"cache.dynamic": vary}}).points()
    there = sum(Results(kept).has(point) for point in points)
    assert 0 < there < len(points)
    counts = []
    whole = complete(points, kept, 2, lambda done, total: counts.append(total))
    assert counts[0] == len(points) - there
    assert [path.name for path in kept.iterdir()] == ["points.parquet"]
    fresh = complete(points, tmp_path / "fresh", 2)
    assert said(whole.table) == said(fresh.table)


def test_an_interrupt_keeps_what_is_done(small, tmp_path):
    kept = tmp_path / "kept"
    order = ["study", "--on", small, "--run", "fill", "--vary", "cache.dynamic=300MB:800MB:5MB", "--save", str(kept)]
    going = subprocess.Popen([EXECUTABLE, *order, "--workers", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, start_new_session=True)  # fmt: skip
    while not list(kept.glob("new-*.parquet")):
        assert going.poll() is None, "it was over before it could be interrupted"
        time.sleep(0.02)
    os.killpg(going.pid, signal.SIGINT)
    _, talk = going.communicate(timeout=60)
    assert going.returncode == 130, talk
    assert "of 101 points are kept; run it again to go on" in talk
    assert "Traceback" not in talk


def test_a_process_that_is_killed_costs_only_its_points(small):
    points = Study.of({"on": small, "run": "fill", "vary": {"cache.dynamic": "300MB:800MB:50MB"}}).points()
    found, killed = {}, False
    for point, row in workers.results(points, 2):
        found[point] = row
        if not killed:
            children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
            ours = [pid for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
            os.kill(int(ours[0]), signal.SIGKILL)
            killed = True
    assert set(found) == set(points)
    assert all(row["error"] is None for row in found.values())


def test_the_command_shows_rows_reads_a_file_and_plans(small, command, tmp_path):
    text = f'on = "{small}"\nrun = "fill"\n[vary]\n"cache.dynamic" = "200MB:600MB:200MB"\n'
    text += "[vary.cache]\nfold_overhead = [1, 2]\n"
    (tmp_path / "sizes.toml").write_text(text)
    planned = command("study", "sizes.toml", "--dry-run", "--workers", "2")
    assert planned.stdout.startswith("6 points, the first of them: pslc run fill --on sim:")
    assert "with 2 processes" in planned.stdout
    assert not (tmp_path / "studies").exists()
    done = command("study", "sizes.toml", "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert "6 of 6 points: 0 refused" in done.stdout
    rows = json.loads(command("study", "sizes.toml", "--json").stdout)
    assert [row["cache.fold_overhead"] for row in rows] == ["1", "2"] * 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--run", "fill"], "does not say on"),
        (["--on", "sim:sn850-1tb"], "does not say run"),
        (["--on", "/dev/null", "--run", "fill"], "no simulated drive"),
        (["--on", "sim:sn850-1tb", "--run", "fil"], "unknown suite fil"),
        (["--on", "sim:sn850-1tb", "--run", "fill", "--vary", "cache.dynamic"], "is no axis"),
        (["--on", "sim:sn850-1tb", "--run", "fill", "--seed", "-1"], "no seed"),
        (["--on", "sim:sn850-1tb", "--run", "fill", "--vary", "a=1:1000000:1"], "over 100000 values"),
        (["--on", "sim:sn850-1tb", "--run", "fill", "--vary", "seed=1,2"], "varies twice"),
    ],
)
def test_a_study_that_cannot_be_is_refused_before_anything_runs(arguments, words, command):
    done = command("study", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "hint: " in done.stderr
