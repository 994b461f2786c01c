"""Studies: points, where they are run, what is kept of them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from benches.small import PROFILE

import pslc
from pslc.base import cluster, words, work
from pslc.base.errors import PslcError
from pslc.studies import analysis, page
from pslc.studies.axes import Condition, axis
from pslc.studies.points import Study
from pslc.studies.results import Results
from pslc.studies.results import table as table_of
from pslc.studies.study import complete
from tests import forked

VARY = {"cache.dynamic": "200MB:800MB:200MB", "cache.when_full": ["direct-while-folding", "direct-then-fold"]}
EXECUTABLE = Path(sys.executable).parent / "pslc"


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
    with pytest.raises(PslcError, match="not a condition"):
        Condition.of("c<b", list(values))
    for where in (3, ["seed<2", 3]):
        with pytest.raises(PslcError, match='"3" is not a condition'):
            Study.of({"on": "sim:sn850-1tb", "run": "fill", "where": where})


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


@pytest.mark.long
def test_a_killed_study_goes_on_with_the_points_that_are_missing(small, tmp_path):
    kept, vary = tmp_path / "kept", "300MB:800MB:20MB"
    order = ["study", "--on", small, "--run", "fill,second-pass", "--vary", f"cache.dynamic={vary}"]
    order += ["--save", str(kept)]
    killed = forked.Popen([*order, "--workers", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
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
    forked.eventually(lambda: list(kept.glob("new-*.parquet")), process=going)
    os.killpg(going.pid, signal.SIGINT)
    _, talk = going.communicate(timeout=60)
    assert going.returncode == 130, talk
    assert "of 101 points are saved; the same command resumes" in talk
    assert "Traceback" not in talk


def test_the_command_shows_rows_reads_a_file_and_plans(small, command, tmp_path):
    text = f'on = "{small}"\nrun = "fill"\n[vary]\n"cache.dynamic" = "200MB:600MB:200MB"\n'
    text += "[vary.cache]\nfold_overhead = [1, 2]\n"
    (tmp_path / "sizes.toml").write_text(text)
    planned = command("study", "sizes.toml", "--dry-run", "--workers", "2")
    assert planned.stdout.startswith("6 points, the first of them: pslc run fill --on sim:")
    assert "with 2 processes" in planned.stdout
    assert not (tmp_path / "studies").exists()
    done = command.fine("study", "sizes.toml", "--workers", "2")
    assert "6 of 6 points: 0 refused" in done.stdout
    planned = command.fine("study", "sizes.toml", "--dry-run").stdout
    assert planned == "6 points, 6 of them in studies/sizes: none is left to run\n"
    planned = command.fine("study", "sizes.toml", "--dry-run", "--seed", "0,1").stdout
    assert planned.startswith("12 points, 6 of them in studies/sizes, the first to run: pslc run fill")
    rows = json.loads(command("study", "sizes.toml", "--json").stdout)
    assert [row["cache.fold_overhead"] for row in rows] == ["1", "2"] * 3
    of_one = command("study", "sizes.toml", "--finding", "cache_bytes_low").stdout.splitlines()
    assert of_one[0].split() == ["cache.dynamic", "cache.fold_overhead", "cache_bytes_low"]
    assert of_one[1].split()[2:] == words.size(rows[0]["cache_bytes_low"]).split()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--run", "fill"], "which drive it is about"),
        (["--on", "sim:sn850-1tb"], "what is run"),
        (["--on", "/dev/null", "--run", "fill"], "is not a simulated drive"),
        (["--on", "sim:sn850-1tb", "--run", "fil"], "unknown suite fil"),
        (["--on", "sim:sn850-1tb", "--run", "fill" * 100], "unknown suite fill"),
        (["--on", "sim:sn850-1tb", "--run", "fill" * 100 + ".fio"], "File name too long"),
        (["--on", "sim:sn850-1tb", "--run", "fill", "--vary", "cache.dynamic"], "is not KEY=VALUES"),
        (["--on", "sim:sn850-1tb", "--run", "fill", "--seed", "-1"], "is not a seed"),
        (["--on", "sim:sn850-1tb", "--run", "fill", "--vary", "a=1:1000000:1"], "over 100000 values"),
        (["--on", "sim:sn850-1tb", "--run", "fill", "--vary", "seed=1,2"], "is given twice"),
    ],
)
def test_a_study_that_cannot_be_is_refused_before_anything_runs(arguments, words, command):
    done = command.refused("study", *arguments)
    assert words in done.stderr
    assert "hint: " in done.stderr


def test_all_faults_of_a_study_are_one_message_with_a_line_each():
    study = {
        "run": "fill",
        "seed": [-1],
        "fill_first": "150%",
        "vary": {"cache": {"dynamic": "1GB:9GB", "static": "9GB:1GB:1GB"}, "seed": [1]},
        "where": ["cache.dynamic>cache.static", "nope=1"],
        "sampel": "lhs:4",
    }
    with pytest.raises(PslcError) as caught:
        Study.of(study)
    assert caught.value.message.splitlines() == [
        "the study has 8 faults",
        "  unknown key sampel in a study (hint: did you mean sample?)",
        '  the study does not say which drive it is about (hint: on = "sim:sn850-1tb" in its file, '
        "or --on sim:sn850-1tb)",
        "  -1 is not a seed (hint: whole numbers from 0 to 2^64 - 1: seed = [0, 1, 2])",
        '  fill_first: "150%" is not a share (hint: a whole percentage up to 100%, such as 50%)',
        "  the range of cache.dynamic has no step (hint: cache.dynamic=50GB:700GB:50GB has a step; "
        "or --sample lhs:64 draws from the span)",
        "  the range 9GB:1GB:1GB of cache.static ends before its start (hint: cache.static=50GB:700GB:50GB, "
        "or cache.static=1ms:10s:log5)",
        "  seed is given twice (hint: give all its values at once, separated by commas)",
        '  "nope=1" is not a condition (hint: an axis, one of <= >= != < > =, and an axis or a value; '
        "the axes are run, seed, fill_first, cache.dynamic, cache.static)",
    ]


SPANS = {"cache.dynamic": "100MB:900MB", "cache.idle.threshold": "1ms:10s:log", "cache.fold_overhead": "1:3"}


def drawn(sample, small="sim:sn850-1tb,scale=1/16", vary=SPANS):
    return Study.of({"on": small, "run": "fill", "sample": sample, "vary": vary})


@pytest.mark.parametrize("kind", ["lhs", "sobol"])
def test_a_sample_has_one_point_in_each_stratum_of_each_axis(kind):
    places = drawn(f"{kind}:64").sample.places(3)
    for axis_of in places.T:
        assert sorted((axis_of * 64).astype(int)) == list(range(64))
    again, other = drawn(f"{kind}:64"), drawn(f"{kind}:64:1")
    assert [point.command for point in again.points()] == [point.command for point in drawn(f"{kind}:64").points()]
    assert [point.command for point in again.points()] != [point.command for point in other.points()]


def test_a_span_is_even_or_in_equal_ratios_and_a_list_is_drawn_from_too():
    vary = SPANS | {"cache.when_full": "fold,direct-then-fold,watermarks"}
    points = [dict(point.values) for point in drawn("lhs:300", vary=vary).points()]
    sizes = sorted(float(axis("x", point["cache.dynamic"]).values[0].removesuffix("MB")) for point in points)
    assert sizes[150] == pytest.approx(500, abs=5)
    times = sorted(analysis.place("", point["cache.idle.threshold"]) for point in points)
    assert times[150] == pytest.approx(1e8, rel=0.1)
    policies = [point["cache.when_full"] for point in points]
    assert not [policy for policy in set(policies) if policies.count(policy) != 100]


@pytest.mark.parametrize("on", [87, 0.5, ["sim:sn850-1tb", 87]])
def test_a_drive_that_is_a_number_is_none(on):
    with pytest.raises(PslcError, match="is not a simulated drive"):
        Study.of({"on": on, "run": "fill"})


@pytest.mark.parametrize(
    ("said", "hint"),
    [({"sample": "lhs:64", "vary": {"cache.dynamic": "9GB:1GB"}}, "KEY"), ({"sample": "sobol:60"}, "32 or 64"),
     ({"sample": "grid:9"}, "lhs:64"), ({"vary": SPANS}, "--sample"), ({"sample": "lhs:9", "vary": {}}, "--vary")],
)  # fmt: skip
def test_a_sample_that_cannot_be_is_refused(said, hint):
    with pytest.raises(PslcError) as error:
        Study.of({"on": "sim:sn850-1tb", "run": "fill", "vary": SPANS} | said).points()
    assert "hint: " in str(error.value)
    assert hint in str(error.value) or hint == "KEY"


def rows_of(study, found):
    """Rows as if every point had been run, each with the findings of a function of its place in the cube."""
    places = study.sample.places(3)
    values = study.sample.draw(study.axes)
    keys = [of.key for of in study.axes]
    return [
        dict(zip(keys, value, strict=True)) | {"command": str(value), "stands_on": "", "version": "", "error": None}
        | {"wall_s": 0.0} | found(place)
        for value, place in zip(values, places, strict=True)
    ]  # fmt: skip


@pytest.mark.parametrize("sample", ["saltelli:256", "lhs:1000"])
def test_indices_of_a_known_function_are_within_their_error(sample):
    # Variances of a x are a^2 / 12: shares 16, 4 and 1 of 21, without interactions.
    study = drawn(sample)
    rows = rows_of(study, lambda place: {"speed_bytes_per_s": 4 * place[0] + 2 * place[1] + place[2]})
    effects = {effect.axis: effect for effect in analysis.answers(study, rows, ["speed_bytes_per_s"]).effects}
    for key, share in zip(SPANS, (16 / 21, 4 / 21, 1 / 21), strict=True):
        effect = effects[key]
        assert 0 < effect.first_error < 0.25
        assert effect.first == pytest.approx(share, abs=max(1.5 * effect.first_error, 0.03))
        if sample.startswith("saltelli"):
            assert effect.total == pytest.approx(share, abs=1.5 * effect.total_error)


def test_of_few_points_an_axis_that_does_nothing_is_not_said_to_do_all():
    # As many harmonics as a spectrum of 12 points has would explain anything.
    study = drawn("lhs:12")
    rows = rows_of(study, lambda place: {"speed_bytes_per_s": float(place[0])})
    told = analysis.answers(study, rows, ["speed_bytes_per_s"])
    effects = {effect.axis: effect for effect in told.effects}
    assert told.effects[0].axis == "cache.dynamic"
    assert effects["cache.dynamic"].first > 0.8
    for other in ("cache.idle.threshold", "cache.fold_overhead"):
        assert effects[other].first < 0.5
        assert effects[other].first_error > 0.05
        assert " to " in effects[other].at_low, "a mean is of more points than one"
        assert f"12 points do not tell whether {other} matters for speed_bytes_per_s." in page.verdicts(told)


def test_a_product_is_told_from_a_sum_by_its_total_index():
    study = drawn("saltelli:512")
    rows = rows_of(study, lambda place: {"y_s": (place[0] - 0.5) * (place[1] - 0.5)})
    effects = {effect.axis: effect for effect in analysis.answers(study, rows, ["y_s"]).effects}
    assert abs(effects["cache.dynamic"].first) < 0.2
    assert effects["cache.dynamic"].total > 0.7
    assert effects["cache.fold_overhead"].total < 0.1


def test_a_front_is_what_no_other_point_beats():
    study = drawn("lhs:200")
    rows = rows_of(study, lambda place: {"a_bytes_per_s": float(place[0]), "b_s": float(place[1])})
    front = analysis.front(rows, "a_bytes_per_s", "b_s")
    for row in rows:
        beaten = any(
            other["a_bytes_per_s"] >= row["a_bytes_per_s"] and other["b_s"] <= row["b_s"] and other is not row
            for other in rows
        )
        assert (row in front) != beaten


def test_a_verdict_names_the_best_value_and_what_hardly_matters():
    study = Study.of({"on": "sim:small", "run": "fill", "vary": {"cache.dynamic": "1GB,2GB", "cache.mode": "a,b"}})
    rows = [
        {"cache.dynamic": size, "cache.mode": mode, "command": size + mode, "stands_on": "", "version": ""}
        | {"error": None, "wall_s": 0.0, "files_write_bytes_per_s": speed, "files_write_p99_s": late}
        for size, mode, speed, late in (("1GB", "a", 1e9, 0.1), ("1GB", "b", 1.01e9, 0.3), ("2GB", "a", 2e9, 0.1),
                                        ("2GB", "b", 2e9, 0.3))
    ]  # fmt: skip
    told = analysis.answers(study, rows)
    assert page.verdicts(told) == [
        "files_write_bytes_per_s is best with cache.dynamic=2GB: 2000 MB/s against 1005 MB/s with 1GB, 1.99 times.",
        "cache.mode hardly matters for files_write_bytes_per_s: 1505 MB/s at best.",
        "files_write_p99_s is best with cache.mode=a: 100 ms against 300 ms with b, 3.00 times.",
        "cache.dynamic hardly matters for files_write_p99_s: 200 ms at best.",
    ]


def test_a_tiny_ratio_of_a_study_keeps_its_digits():
    assert [page.value_text("slc_per_host", value) for value in (0.00123, 0.0999, 0.5, 1.0, 3)] == [
        "0.00123", "0.0999", "0.50", "1", "3"
    ]  # fmt: skip


def test_a_mean_is_not_of_other_drives_where_points_are_missing():
    study = Study.of({"on": "sim:small", "run": "fill", "vary": {"capacity": "1GB,2GB", "nand.part": "a,b"}})
    rows = [
        {"capacity": size, "nand.part": part, "command": size + part, "stands_on": "", "version": ""}
        | {"error": None, "wall_s": 0.0, "cache_bytes": held}
        for size, part, held in (("1GB", "a", 5e9), ("1GB", "b", 4e9), ("2GB", "a", None), ("2GB", "b", 8e9))
    ]
    told = analysis.answers(study, rows, ["cache_bytes"])
    assert "cache_bytes is greatest with nand.part=a: 5.00 GB against 4.00 GB with b, 1.25 times." in page.verdicts(
        told
    )


def test_a_key_that_no_profile_has_is_refused_with_the_nearest_one(small):
    with pytest.raises(PslcError, match=r"unknown key cache\.dynamc") as refused:
        Study.of({"on": small, "run": "fill", "vary": {"cache.dynamc": "1GB,2GB"}}).points()
    assert refused.value.hint == "did you mean cache.dynamic?"


def test_figures_of_scaled_drives_are_said_to_be_of_those(small):
    study = Study.of({"on": f"{small},scale=1/2", "run": "fill", "vary": {"cache.dynamic": "400MB,800MB"}})
    rows = [
        {"on": small, "cache.dynamic": size, "command": f"pslc run fill --on {small},scale=1/2,cache.dynamic={size}"}
        | {"stands_on": "", "version": "", "error": None, "wall_s": 0.0, "cache_bytes": held}
        for size, held in (("400MB", 2e8), ("800MB", 4e8))
    ]
    told = analysis.answers(study, rows)
    assert told.scale == "1/2"
    assert page.scaling_notes(told)[0].startswith("The drives are simulated at 1/2 of the size: suites")
    assert told.best == {}, "a size is no result"
    for table in page.tables(told):
        assert not [(row, cell) for row in table.rows for cell in row if not cell]


def test_pandas_and_polars_read_the_folder_of_a_study_as_it_is(small, tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    (tmp_path / "a.toml").write_text(f'on = "{small}"\nrun = "fill"\n[vary]\n"cache.dynamic" = ["400MB", "800MB"]\n')
    done = forked.run(["study", "a.toml", "--save", "kept", "--workers", "1"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "kept.html").is_file()
    assert {path.suffix for path in (tmp_path / "kept").iterdir()} == {".parquet"}
    assert len(pandas.read_parquet(tmp_path / "kept")) == len(polars.read_parquet(tmp_path / "kept")) == 2
    table = pslc.study(on=small, run="fill", vary={"cache.dynamic": "400MB,800MB"})
    assert len(pandas.DataFrame.from_arrow(table)) == len(polars.DataFrame(table)) == 2


def test_a_grid_has_no_column_of_total_indices(small, tmp_path):
    study = Study.of({"on": small, "run": "fill", "vary": VARY})
    answered = analysis.answers(study, complete(study.points(), tmp_path / "kept").rows)
    sensitivity = [table for table in page.tables(answered) if table.title.startswith("Sensitivity")]
    assert sensitivity
    for table in sensitivity:
        assert table.columns[-1] == "first-order"
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_the_page_has_every_command_and_its_best_points_run(small, tmp_path):
    study = Study.of({"on": small, "run": "fill", "vary": VARY})
    found = complete(study.points(), tmp_path / "kept")
    told = analysis.answers(study, found.rows)
    commands = page.profiles(told, tmp_path)
    page.write(told, "kept", tmp_path / "study.html", commands)
    html = (tmp_path / "study.html").read_text()
    for row in found.rows:
        assert row["command"] in html
    assert "fill_mean_bytes_per_s: cache.dynamic and cache.when_full" in html
    name = "fill_mean_bytes_per_s"
    best = max(found.rows, key=lambda row: row[name])
    assert commands[name] in html
    again = pslc.run("fill", on=commands[name].split("--on ")[1].split(" --seed")[0])
    assert again.findings[name] == best[name]


@pytest.mark.long
@pytest.mark.parametrize("processes", [1, 2])
def test_a_cluster_gives_the_same_table_though_a_worker_is_killed(small, tmp_path, monkeypatch, processes):
    from distributed import LocalCluster

    job = tmp_path / "twice.fio"
    job.write_text("[job]\nrw=randwrite\nbs=4k\niodepth=16\nioengine=libaio\nsize=100%\nio_size=50%\nnorandommap\n")
    monkeypatch.chdir(tmp_path)
    what = {"on": small, "run": ["fill", "twice.fio"], "vary": VARY}
    here = pslc.study(**what, workers=1)
    killed = []

    def kill(done, total):
        if done == total // 4 and not killed:
            killed.append(next(iter(local.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

    options = {"n_workers": processes, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**options) as local:
        there = pslc.study(**what, scheduler=local.scheduler_address, progress=kill)
    assert killed
    assert said(there) == said(here)


def _end_at_three(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.long
def test_a_task_that_ends_its_workers_takes_none_of_its_batch_along(monkeypatch):
    from distributed import LocalCluster

    batches, of_future = [], cluster._of_future
    monkeypatch.setattr(cluster, "_of_future", lambda future, tasks: batches.append(tasks) or of_future(future, tasks))
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as local:
        results = dict(
            work.run([*range(4, 300), 3, *range(300, 400)], _end_at_three, work.Dask(local.scheduler_address))
        )
    assert "KilledWorker" in repr(results.pop(3))
    assert results == {number: number for number in range(4, 400)}
    assert 10 < max(batches) <= cluster.MAX_BATCH


def test_a_scheduler_that_nobody_has_is_refused(small, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE_S", 0.5)
    with pytest.raises(PslcError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"):
        pslc.study(on=small, run="fill", vary=VARY, scheduler="tcp://127.0.0.1:9")


def test_draws_of_a_drive_made_of_parts_are_what_its_forecast_says(command, tmp_path):
    flags = ("--nand", "micron-b47r", "--controller", "maxio-map1602", "--capacity", "500GB")
    told = json.loads(command("drives", "new", "mine.toml", *flags, "--json").stdout)["forecast"]["mean"]
    on = ("--run", "fill", "--on", "sim:./mine.toml,scale=1/8", "--workers", "2")
    rows = json.loads(command("study", *on, "--draws", "60", "--save", "s", "--json").stdout)
    assert [row["error"] for row in rows] == [None] * 60
    assert {row["cache.mode"] for row in rows} == {"static-slc", "dynamic-slc"}
    low, middle, high = np.quantile([row["fill_mean_bytes_per_s"] for row in rows], [0.1, 0.5, 0.9])
    assert (low, middle, high) == pytest.approx((told["low"], told["median"], told["high"]), rel=0.45)
    alone = command("study", *on, "--seed", "0,1", "--save", "one").stdout
    shown = command("study", *on, "--draws", "60", "--save", "s").stdout
    sentence = f"{on[3]}: each figure has an interval, --draws 100 runs drives of such parts: first phase "
    assert (sentence in alone, "each figure has" in shown) == (True, False)
    assert "past the cache " in alone.partition(sentence)[2].splitlines()[0]
    row = next(line.split() for line in shown.splitlines() if " fill_mean_bytes_per_s" in line)
    assert row[-6::2] == [f"{value / 1e6:.0f}" for value in (middle, low, high)]
    # What the user says stays.
    fixed = "cache.when_full=direct-then-fold,cache.dynamic=40GB,controller.native_write=900MB/s"
    rows = json.loads(command("study", *on[:3], f"{on[3]},{fixed}", "--draws", "3", "--save", "t", "--json").stdout)
    assert not {"cache.when_full", "cache.mode", "controller.native_write"} & rows[0].keys()
    for key in ("nand.native.program", "nand.slc.read", "controller.latency"):
        assert len({row[key] for row in rows}) == 3


def test_a_median_is_of_the_draws_that_have_the_finding_and_the_table_counts_them():
    study = Study.of({"on": "sim:small", "run": "fill", "draws": 4})
    common = {
        "on": "sim:small",
        "run": "fill",
        "seed": 0,
        "command": "",
        "stands_on": "",
        "version": "",
        "error": None,
        "wall_s": 0.0,
    }
    # A finding has an interval of its own, which is none of the draws'.
    sizes = [
        {"cache_bytes": size, "cache_bytes_low": size - 1, "cache_bytes_high": size + 1} for size in (9e9, 1e9, 5e9)
    ]
    rows = [{**common, "draw": str(number), **finding} for number, finding in enumerate([{}, *sizes])]
    (row,) = table = analysis.over_draws(study, rows)
    cells = ["sim:small", "cache_bytes", "3 of 4", "5.00 GB", "1.80 GB", "8.20 GB"]
    assert page.of_draws(table, ["on"], ["cache_bytes"]).rows == [cells]
    assert row["cache_bytes_low"] == 5e9 - 1
    same = analysis.answers(study, [{**row, "cache_bytes": 5e9} for row in rows[1:]] + rows[:1], ["cache_bytes"])
    assert page.verdicts(same) == ["cache_bytes is 5.00 GB at each of the 3 points of 4 that have it."]


def test_draws_need_parts_that_leave_something_open(small):
    with pytest.raises(PslcError, match="is not made of parts"):
        Study.of({"on": small, "run": "fill", "draws": 3}).points()


def test_a_number_of_numpy_is_a_number_in_the_table():
    numbers = table_of([{"share": np.float64(0.5), "count": np.int64(3)}, {"share": 1.0, "count": 4}])
    assert [numbers["share"].to_pylist(), numbers["count"].to_pylist()] == [[0.5, 1.0], [3, 4]]


@pytest.mark.parametrize("count", [3, 4, 5])
def test_a_sample_of_a_few_points_has_effects(count):
    rows = [{"cache.static": f"{size}GB", "mean": float(size)} for size in range(1, count + 1)]
    groups = analysis.grouped(rows, "cache.static", max(2, count // 2))
    assert len(groups) == 2
    assert sum(map(len, groups.values())) == count
