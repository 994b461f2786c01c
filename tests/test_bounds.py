"""What a recording shows over time stays below what dies, link and power supply can do, and adds up to the totals."""

from fractions import Fraction

import numpy as np
import pytest

import pslc
from pslc import suites
from pslc.base import units
from pslc.device.region import Scope
from pslc.figures import curves
from pslc.recording.model import Recording, _tables
from pslc.schema.job_options import traits
from tests import scaled

ROUNDING = 1e-6
"""Of a bound, for sums of floats."""
OVER_LINK = {"read": "link_read_bytes_per_s", "write": "link_bytes_per_s"}
"""What is moved, and the fact that says how fast."""
QLC, TLC = "660p-1tb", "sn850-1tb"
PAUSED = "[w]\nrw=write\nbs=1m\nsize=12g\ndirect=1\n[rest]\nstonewall\nstartdelay=600s\nrw=read\nsize=4k\n"


def growth(recording: Recording, axis: str, counter: str) -> np.ndarray:
    """By how much a counter grew in each bin of an axis; what was moved in the bin where it is no total."""
    series = getattr(recording, axis)
    is_total = counter.endswith("_total")
    return np.diff(series[counter], prepend=recording.before[counter]) if is_total else series[counter]


def max_watts(recording: Recording) -> float:
    """All dies at work, and both directions of the link."""
    power = _tables(recording.profile)["power"]
    dies = max(units.watts(power[f"die_{work}"], work) for work in ("read", "program", "erase"))
    data_j = float(power["data"].removesuffix("pJ/B")) / 1e12
    link = sum(recording.facts[ceiling] for ceiling in OVER_LINK.values())
    return units.watts(power["active"], "active") + dies * recording.facts["dies"] + data_j * link


def least_overhead(recording: Recording) -> float:
    """The least that relocation takes of a program's time."""
    collects = _tables(recording.profile)["ftl"].get("gc_overhead", 1.0)
    return min(1.0, recording.facts["fold_overhead"], float(collects))


def bare(drive: str) -> str:
    """A drive without a computer."""
    return f"{scaled.spec(drive)},computer=none"


def buffered(recording: Recording) -> set[str]:
    """What memory of a computer with a page cache may take or give faster than the link."""
    jobs = [job for job in recording.jobs if not traits(job)["direct"]]
    kinds = {kind for kind in OVER_LINK for job in jobs if job[kind]["io_bytes"]}
    return kinds if "page_cache" in recording.profile_keys.get("host", {}) else set()


def check(recording: Recording) -> None:
    facts, taken = recording.facts, buffered(recording)
    bounds = {"die_busy_ns_total": 1e9 * facts["dies"], "energy_nj_total": 1e9 * max_watts(recording)}
    bounds |= {f"link_{way}_busy_ns_total": 1e9 for way in ("read", "write")}
    for kind, ceiling in OVER_LINK.items():
        bounds |= {f"host_{kind}_bytes_total": facts[ceiling]}
        bounds |= {} if kind in taken else {f"{kind}_bytes": facts[ceiling]}
    bounds["slc_programmed_bytes_total"] = facts["slc_write_bytes_per_s"]
    moves = facts["native_write_bytes_per_s"] / least_overhead(recording)
    relocated = ("native_programmed_bytes_total", "folded_bytes_total", "gc_bytes_total", "host_to_native_bytes_total")
    bounds |= dict.fromkeys(relocated, moves)
    for axis in ("time", "bytes"):
        widths_s = np.diff(getattr(recording, axis)["end_ns"], prepend=recording.start_ns) / 1e9
        for name, bound in bounds.items():
            grown = growth(recording, axis, name)
            # A bin is whole nanoseconds and bytes, of a scaled drive before it was multiplied.
            slack = 2.0 / float(Fraction(recording.facts.get("scale", 1)))
            assert np.max(grown - bound * (1 + ROUNDING) * widths_s) <= slack, (axis, name)
            assert grown.min() >= 0, (axis, name)
    for name in recording.time:
        if name.endswith("_total"):
            begun = float(recording.totals[name] - recording.before[name])
            done = float(recording.time[name][-1]) - recording.before[name]
            # What was begun at the end is not done yet, and that is little.
            assert 0.95 * begun <= done <= begun, name
    for kind in ("read", "write", "trim"):
        moved = sum(job[kind]["io_bytes"] for job in recording.jobs)
        assert recording.time[f"{kind}_bytes"].sum() >= moved, kind


@pytest.mark.parametrize("suite", [name for name in suites.names() if name != "trace"])
def test_every_series_of_a_suite_is_below_its_bounds(suite):
    check(pslc.run(suite, on=bare(QLC), scope=Scope(quick=True)))


@pytest.mark.parametrize(
    ("suite", "drive"), [("atto", TLC), ("cdm", TLC), ("niobench", f"{TLC},link=sata300,computer=i5-8400")]
)
def test_every_series_of_a_suite_in_its_computer_is_below_its_bounds(suite, drive):
    check(pslc.run(suite, on=f"sim:{drive}", scope=Scope(quick=True)))


@pytest.mark.slow
@pytest.mark.parametrize("on", [bare(TLC), scaled.spec(TLC), scaled.spec(QLC)])
@pytest.mark.parametrize("suite", [name for name in suites.names() if name != "trace"])
def test_every_series_of_a_suite_on_tlc_is_below_its_bounds(suite, on):
    check(pslc.run(suite, on=on, scope=Scope(quick=True)))


@pytest.mark.parametrize("drive", ["fx700-2tb", "t500-2tb", "rocket-q-1tb"])
def test_no_bin_of_a_fill_has_more_time_of_the_dies_than_there_is(drive):
    check(pslc.run("fill", on=f"sim:{drive}"))


def test_a_pause_is_told_by_the_bins_in_which_the_work_was_done(tmp_path):
    (tmp_path / "paused.fio").write_text(PAUSED)
    recording = pslc.run(tmp_path / "paused.fio", on="sim:600p-512gb")
    check(recording)
    minutes = curves.seconds(recording) / 60
    folding = growth(recording, "time", "idle_folded_bytes_total") > 0
    # 12 GB at what the dies fold take minutes.
    assert np.ptp(minutes[folding]) > 2.0
    celsius = recording.time["temperature_millicelsius"] / 1e3
    assert np.abs(np.diff(celsius)).max() < 1.0
    held = recording.time["slc_valid_bytes"].astype(float)
    assert len(np.unique(held[minutes > 1.0])) > 100


def test_trims_are_drawn_as_data_and_never_as_speed(tmp_path):
    (tmp_path / "trims.fio").write_text("[a]\nrw=write\nbs=1m\nsize=1g\n[b]\nstonewall\nrw=trim\nbs=1m\nsize=1g\n")
    recording = pslc.run(tmp_path / "trims.fio", on="sim:pm871b-128gb")
    pictures = {picture.name: picture for picture in curves.of_any(recording)}
    assert [line.name for line in pictures["speed-time"].lines] == ["write"]
    assert pictures["trims"].lines[0].y[-1] == pytest.approx(2**30)
