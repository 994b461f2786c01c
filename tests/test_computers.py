"""Computers around simulated drives: parts with sources, named by `--computer`, by a target, or assumed by a suite."""

import json

import pytest

import pslc
from pslc.base.errors import PslcError
from pslc.device import parts
from pslc.device.region import Scope
from pslc.device.target import find_target

QUICK = Scope(quick=True)
DRIVE = "sim:sn850-1tb"
COMPUTERS = ("i9-9980xe", "i7-13700k")


def last_row(on: str, computer: str | None = None) -> dict[str, float]:
    """Random 4 KiB, one at a time, as CrystalDiskMark measures."""
    return next(row for row in pslc.run("cdm", on=on, computer=computer, scope=QUICK).findings["cdm"]
                if row["test"] == "RND4K Q1T1")  # fmt: skip


def test_each_computer_costs_a_request_the_time_of_its_part():
    bare = last_row(DRIVE, "none")
    for name in ("i7-13700k", "i3-1115g4", "one-thread"):
        of = parts.computer(name)
        slower = last_row(DRIVE, name)
        for kind, cost in (("read", of.read), ("write", of.write)):
            assert slower[f"{kind}_mean_s"] - bare[f"{kind}_mean_s"] == pytest.approx(cost / 1e9, rel=0.05), name


def test_a_suite_runs_in_the_computer_that_it_assumes_and_keys_of_the_target_win():
    assert last_row(DRIVE) == last_row(DRIVE, "i7-13700k") == last_row(f"{DRIVE},computer=i7-13700k")
    keyed = last_row(f"{DRIVE},host.write=9us")["write_mean_s"] - last_row(DRIVE, "none")["write_mean_s"]
    assert keyed == pytest.approx(9e-6, rel=0.05)


def test_a_slot_of_an_older_pcie_holds_a_drive_back_and_no_other():
    pairs = [(drive, name) for drive in ("sn850-1tb", "970-evo-500gb", "su630-480gb") for name in COMPUTERS]
    links = {(drive, name): find_target(f"sim:{drive},computer={name}").facts.get("slot") for drive, name in pairs}
    assert {key: link for key, link in links.items() if link} == {("sn850-1tb", "i9-9980xe"): "pcie3x4"}


@pytest.mark.parametrize("drive", ["cm6-30tb", "d5-p5336-61tb"])
def test_a_computer_has_no_page_cache_before_a_drive_too_large_for_it_and_says_so(drive):
    target = find_target(f"sim:{drive},computer=i5-8400")
    assert "page_cache" not in target.profile
    assert "no memory for files" in target.facts["notes"][-1]
    assert "2.00 GB for files" in find_target(f"{DRIVE},computer=i5-8400").facts["notes"][-1]


@pytest.mark.parametrize(
    ("computer", "limit"),
    [("i3-1115g4", "its 2 cores had no time left"), ("i9-9980xe", "slot (pcie3x4) was the limit"), ("none", None)],
)
def test_a_run_names_its_computer_and_says_when_it_was_the_limit(computer, limit, command):
    done = command("run", "cdm", "--on", DRIVE, "--computer", computer, "--quick", "--no-report")
    shown = " ".join(done.stdout.split())
    model = parts.computer(computer).model if computer != "none" else "none, the bare drive"
    assert f"note: computer: {model}" in shown
    assert (limit in shown) if limit else ("was the limit" not in shown)


def test_every_suite_says_which_computer_it_assumes(command):
    for suite, told in (("cdm", "Intel Core i7-13700K"), ("fill", "none, the bare drive")):
        done = command("run", suite, "--on", f"{DRIVE},scale=1/64", "--quick", "--no-report")
        assert f"computer: {told}" in " ".join(done.stdout.split())
        assert "the suite assumes it" in done.stdout


def test_a_study_takes_computers_as_an_axis(command):
    rows = json.loads(command("study", "--run", "cdm", "--on", DRIVE, "--computer", "i3-1115g4,none", "--quick",
                              "--json").stdout)  # fmt: skip
    assert [row["computer"] for row in rows] == ["i3-1115g4", "none"]
    assert f"--on {DRIVE},computer=none" in rows[1]["command"]
    iops = [row["cdm_3_write_iops"] for row in rows]
    assert iops[0] == pytest.approx(400e3, rel=0.01)
    assert iops[1] > 1.2 * iops[0]


def test_advise_replays_on_drives_in_a_computer(command, tmp_path):
    trace = tmp_path / "work.csv"
    trace.write_text("".join(f"{i},host,0,Write,{i * 4096},4096,0\n" for i in range(2000)))
    slow = [json.loads(command("advise", trace.name, "--on", DRIVE, *more, "--json").stdout)
            for more in ((), ("--computer", "one-thread"))]  # fmt: skip
    assert slow[0] != slow[1]


@pytest.mark.parametrize(
    ("on", "computer", "said"),
    [(DRIVE, "i5-840", "did you mean i5-8400?"), ("./x.bin", "i5-8400", "is for simulated drives")],
)
def test_what_is_no_computer_or_no_simulated_drive_is_refused(on, computer, said):
    with pytest.raises(PslcError) as refused:
        pslc.run("cdm", on=on, computer=computer)
    assert said in f"{refused.value} {refused.value.hint}"


def test_a_drive_file_keeps_the_computer_that_it_was_created_in(command):
    command("drives", "create", "disk.pslc", "--like", "sn850-1tb,computer=i3-1115g4")
    done = command("run", "cdm", "--on", "disk.pslc", "--quick", "--json")
    row = json.loads(done.stdout)["findings"]["cdm"][2]
    assert row["write_iops"] == pytest.approx(400e3, rel=0.01)
