"""What all suites have in common: scope, steps, repeats, resuming, the catalogue, and job files that fio takes."""

import json
import runpy
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import pslc
from pslc import suites
from pslc.analysis import Writes
from pslc.base import work
from pslc.device.cost import cost
from pslc.device.region import Scope, find_region
from pslc.device.target import RealOptions, find_target
from pslc.recording import store
from pslc.recording.model import join
from pslc.runner import campaign, step_runner
from pslc.runner.options import RunOptions
from pslc.schema.job_options import Traits, traits
from pslc.schema.jobs import Job
from tests.conftest import ROOT
from tests.typed import unlike


@pytest.mark.parametrize("name", suites.names())
def test_a_suite_asks_a_question_says_what_quick_costs_and_names_its_findings(name):
    suite = suites.load(name)
    assert suites.question(name).count("?") == 1
    assert suite.QUICK
    assert not suite.QUICK.endswith(".")
    assert "`" in (suite.findings.__doc__ or "") or "pslc.findings" in (suite.findings.__doc__ or "")
    text = (ROOT / "docs" / "suites.md").read_text()
    assert f"## {name}\n" in text


@pytest.mark.parametrize("name", suites.names())
@pytest.mark.parametrize("quick", [False, True])
def test_the_steps_that_are_expected_can_be_run_and_stay_within_the_place(name, quick, small):
    target = find_target(small)
    region = find_region(target, Scope(quick, region=(10**9, 7 * 10**9)))
    steps = suites.expected(name, region)
    assert steps
    for line in "\n".join(steps).splitlines():
        option, _, value = line.partition("=")
        if option == "offset":
            assert int(value) >= region.offset
    assert cost(steps, name, [], target).seconds(1e9) > 0


@pytest.mark.parametrize("name", suites.names())
def test_fio_takes_the_jobs_of_a_suite(name, command, tmp_path):
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    (tmp_path / "suite.fio").write_text(command("run", name, "--list", "--fio").stdout)
    done = subprocess.run(
        ["fio", "--parse-only", "suite.fio"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout


def test_fio_does_what_a_copy_is_printed_as(command, tmp_path):
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    text = command("run", "copy", "--list", "--fio", "--quick", "--on", "./scratch.bin", "--size", "64MB").stdout
    assert text.count("flow=1") == 6
    (tmp_path / "copy.fio").write_text(text.replace("runtime=60000000us", "runtime=1000us"))
    arguments = ["fio", "copy.fio", "--output-format=json", "--ioengine=psync", "--iodepth=1"]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    moved = {job["jobname"]: job for job in json.loads(done.stdout[done.stdout.index("{") :])["jobs"]}
    assert moved["iso-copy"]["read"]["io_bytes"] == moved["iso-copy to"]["write"]["io_bytes"] > 0


def test_steps_are_told_and_are_parts_of_the_recording(command, small, tmp_path):
    done = command.fine("run", "second-pass", "--on", small, "--quick", "--save", "out")
    assert "step 2: again" in done.stderr
    recording = store.load(tmp_path / "out")
    first, second = recording.parts
    assert first.jobs[0]["name"] == "fill"
    assert second.start_ns == first.end_ns
    assert first.written_bytes + second.written_bytes == recording.written_bytes
    again = join([first, second])
    assert again.steps == recording.steps
    assert again.jobs == recording.jobs
    assert np.array_equal(again.bytes["end_ns"], recording.bytes["end_ns"])


@pytest.mark.parametrize(("text", "title"), [
    ("[global]\nbs=4k\n[a]\nrw=write\n[b]\n", "a"), ("[trim]\nrw=trim\n[series-write-0]\n", "series-write-0"),
    ("[trim]\nrw=trim\n", "trim"),
])  # fmt: skip
def test_a_step_is_called_by_its_first_job_that_is_no_preparation(text, title):
    assert step_runner._title(text) == title


def test_a_region_and_a_filled_part_keep_the_suite_where_it_belongs(small):
    recording = pslc.run("fill", on=small, scope=Scope(region=(2 * 10**9, 3 * 10**9)))
    assert recording.written_bytes == pytest.approx(1e9, rel=1e-2)
    assert int(recording.jobs[0]["options"]["offset"]) >= 2 * 10**9
    half = pslc.run("fill", on=small, scope=Scope(fill_first=50, idle_s=600.0))
    assert half.written_bytes == pytest.approx(4e9, rel=1e-2)
    # What was before is no part of the recording, but the drive has seen it.
    assert half.before["host_write_bytes_total"] == pytest.approx(4e9, rel=1e-2)
    assert half.start_ns > 600 * 10**9
    assert half.findings["cache_bytes"] == pytest.approx(800e6, rel=0.1)


def test_what_was_left_out_is_said(command, small):
    done = command("run", "fill", "--on", small, "--quick")
    assert "note: --quick: half of the drive is written" in done.stdout


def test_repeats_have_a_spread(command, small, tmp_path):
    done = command("run", "burst", "--on", small, "--quick", "--repeat", "3", "--save", "out", "--json")
    found = json.loads(done.stdout)["findings"]["repeats"]
    assert found["n"] == 3
    assert found["buffer_bytes"]["min"] <= found["buffer_bytes"]["mean"] <= found["buffer_bytes"]["max"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if path.is_dir()) == ["repeat-2", "repeat-3"]
    seeds = [store.load(tmp_path / "out" / name).seed for name in ("", "repeat-2", "repeat-3")]
    assert seeds == [0, 1, 2]


def logging_to(lines: list[str], spec: campaign.CampaignSpec) -> campaign.CampaignSpec:
    """The campaign with its lines of progress in a list."""
    return replace(spec, options=replace(spec.options, log=lines.append))


def test_an_interrupted_suite_goes_on_where_it_was_if_its_data_are_still_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.bin").write_bytes(b"\1" * 64_000_000)
    scope, real = Scope(quick=True), RealOptions(overwrite_file="data.bin")
    # Long enough for a look within each step.
    slow = [("pause", "0"), ("rate", "100m")]
    first = pslc.run(
        "second-pass",
        on="./data.bin",
        scope=scope,
        real=real,
        options=slow,
        progress=lambda state: not state["step"].startswith("step 2"),
    )
    assert [part.interrupted for part in first.parts] == [False, True]
    store.save(first, tmp_path / "run")
    spec = campaign.unfinished(tmp_path / "run", real)
    assert (spec.subject, spec.options.scope, spec.options.options) == ("second-pass", scope, slow)
    lines: list[str] = []
    (whole,) = campaign.run(logging_to(lines, spec))
    assert lines == ["step 1: fill, done before", "step 2: again"]
    one, two = whole.parts
    assert one.jobs == first.parts[0].jobs
    assert two.start_ns >= one.end_ns
    assert two.written_bytes > first.parts[1].written_bytes


def test_what_a_scratch_file_held_is_written_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = pslc.run(
        "second-pass",
        on="./x.bin",
        scope=Scope(quick=True),
        real=RealOptions(size=64_000_000),
        options=[("pause", "0"), ("rate", "100m")],
        progress=lambda state: not state["step"].startswith("step 2"),
    )
    store.save(first, tmp_path / "run")
    spec = campaign.unfinished(tmp_path / "run", RealOptions())
    assert spec.options.real == RealOptions(size=first.capacity_bytes)
    lines: list[str] = []
    campaign.run(logging_to(lines, spec))
    assert lines == ["step 1: fill", "step 2: again"]


def test_a_finished_run_is_not_resumed_and_a_job_file_cannot_be(command, small, tmp_path):
    command("run", "fill", "--on", small, "--save", "out", "--no-report")
    done = command.refused("run", "--resume", "out")
    assert "is finished" in done.stderr
    assert "holds no run" in command("run", "--resume", "nothing").stderr
    assert (
        "takes everything from the interrupted run" in command("run", "fill", "--on", small, "--resume", "out").stderr
    )


@pytest.mark.long
def test_the_catalogue_is_one_report(command, small, tmp_path, monkeypatch):
    done = command.fine("run", "all", "--quick", "--on", small, "--save", "out")
    for name in suites.catalogue():
        assert f"{name} on small" in done.stdout
        recording = store.load(tmp_path / "out" / name)
        found = getattr(suites.load(name), "Findings", Writes)
        assert unlike(dict(recording.findings), found) == []
        assert [wrong for job in recording.jobs for wrong in unlike(job, Job)] == []
        assert unlike(traits(recording.jobs[0]), Traits) == []
    html = (tmp_path / "out" / "report.html").read_text()
    assert not [name for name in suites.catalogue() if f'<section id="{name}"' not in html]
    assert len(html) < 12_000_000
    shutil.rmtree(tmp_path / "out" / "thermal")
    command.fine("run", "--resume", "out")
    assert (tmp_path / "out" / "thermal" / "run.json").exists()


def test_a_suite_that_fails_does_not_take_the_others_with_it(small, tmp_path, monkeypatch):
    monkeypatch.setattr(suites, "names", lambda: ["burst", "fill", "mixed"])

    def fails(recording):
        raise ValueError("it divided by the weather")

    fill = suites.load("fill")
    fails.__annotations__ = dict(fill.findings.__annotations__)
    monkeypatch.setattr(fill, "findings", fails)
    monkeypatch.setattr(work, "cores", lambda: 1)
    failed: list[str] = []
    spec = campaign.CampaignSpec("all", small, RunOptions(scope=Scope(quick=True)))
    done = campaign.run(spec, on_failure=lambda suite, error: failed.append(f"{suite}: {error}"))
    assert [recording.suite for recording in done] == ["burst", "mixed"]
    assert failed == ["fill: it divided by the weather"]
    assert [path.name for path in campaign.folders(spec, done, tmp_path)] == ["burst", "mixed"]
    with pytest.raises(ValueError, match="weather"):
        campaign.run(spec)


def test_a_catalogue_that_lacks_a_suite_in_the_middle_is_resumed_with_that_one(small, tmp_path, monkeypatch):
    monkeypatch.setattr(suites, "names", lambda: ["burst", "fill", "mixed"])
    for name in ("burst", "mixed"):
        store.save(pslc.run(name, on=small, scope=Scope(quick=True)), tmp_path / name)
    lines: list[str] = []
    done = campaign.run(logging_to(lines, campaign.unfinished(tmp_path, RealOptions())))
    assert [recording.suite for recording in done] == ["burst", "fill", "mixed"]
    assert lines == ["2 of 3: fill"]


def test_a_suite_that_lacks_a_part_is_refused_before_anything_is_measured(small, monkeypatch):
    monkeypatch.delattr(suites.load("fill"), "tables")
    with pytest.raises(pslc.PslcError, match="the suite fill has no tables"):
        pslc.run("fill", on=small)


def test_a_drive_that_was_half_filled_before_is_not_asked_for_the_other_half(small):
    found = pslc.run("fill", on=small, scope=Scope(fill_first=50)).findings
    assert not [warning for warning in found["warnings"] if "was written" in warning]


def test_suites_are_listed_with_what_they_cost(command, small):
    rows = {row["name"]: row for row in json.loads(command("run", "--list", "--on", small, "--json").stdout)}
    assert rows["fill"]["write_bytes"] == find_region(find_target(small), Scope()).size
    assert rows["fill-levels"]["idle_s"] > 3600
    assert 0 < rows["recovery"]["least_s"] < rows["recovery"]["most_s"]
    assert "takes" in command("run", "--list", "--on", small).stdout
    shown = command("run", "recovery", "--list").stdout
    assert "idle_threshold_s" in shown
    assert "With --quick" in shown


ERRORS = {
    "a region without a unit": (["fill", "--region", "10-20"], "10-20 is not a range of sizes"),
    "a region off the drive": (["fill", "--region", "1GB-900GB"], "the region ends at"),
    "a region that ends first": (["fill", "--region", "2GB-1GB"], "ends before it begins"),
    "no percentage": (["fill", "--fill-first", "0.5"], "50%"),
    "full, then trimmed": (["recovery", "--fill-first", "100%"], "the drive would not stay full"),
    "no unit of time": (["fill", "--idle", "5"], "5min"),
    "a job file with a scope": (["my.fio", "--quick"], "are for suites"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_says_what_next(case, command, small, tmp_path):
    (tmp_path / "my.fio").write_text("[a]\nrw=write\n")
    arguments, expected = ERRORS[case]
    done = command.refused("run", *arguments, "--on", small)
    assert expected in done.stderr
    assert "\n\nhint: " in done.stderr


def test_the_page_of_the_suites_is_what_make_suites_would_write():
    page = runpy.run_path(str(ROOT / "docs" / "catalogue" / "make.py"))
    assert (ROOT / "docs" / "suites.md").read_text() == page["document"](), "make suites"
