"""What a recording shows over time stays below what dies, link and power supply can do, and adds up to the totals."""

import numpy as np
import pytest

import pslc
from pslc import suites
from pslc.base import units
from pslc.device.region import Scope
from pslc.figures import curves
from pslc.recording.executed import ENERGY, OVER_LINK, executed
from pslc.recording.store import Recording, _tables
from tests import scaled

ROUNDING = 1e-6
"""Of a bound, for sums of floats."""
QLC, TLC = "660p-1tb", "sn850-1tb"
PAUSED = "[w]\nrw=write\nbs=1m\nsize=12g\ndirect=1\n[rest]\nstonewall\nstartdelay=600s\nrw=read\nsize=4k\n"


def rates(recording: Recording, counter: str) -> np.ndarray:
    """By how much a counter grew in each bin of time, a second."""
    widths_s = np.diff(recording.time["end_ns"].astype(float), prepend=float(recording.start_ns)) / 1e9
    return np.diff(executed(recording, counter), prepend=0.0) / widths_s


def max_watts(recording: Recording) -> float:
    """All dies at work, and both directions of the link."""
    power = _tables(recording.profile)["power"]
    dies = max(units.watts(power[f"die_{work}"], work) for work in ("read", "program", "erase"))
    data_j = float(power["data"].removesuffix("pJ/B")) / 1e12
    link = sum(recording.facts[ceiling] for ceiling in OVER_LINK.values())
    return units.watts(power["active"], "active") + dies * recording.facts["dies"] + data_j * link


def check(recording: Recording) -> None:
    facts = recording.facts
    bounds = {"die_busy_ns_total": 1e9 * facts["dies"], "link_busy_ns_total": 1e9, ENERGY: 1e9 * max_watts(recording)}
    bounds |= {name: facts[ceiling] for name, ceiling in OVER_LINK.items()}
    for name, bound in bounds.items():
        grown = rates(recording, name)
        assert grown.max() <= bound * (1 + ROUNDING), name
        assert grown.min() >= -ROUNDING * bound, name
    for name in recording.time:
        if name.endswith("_total"):
            begun, done = float(recording.totals[name] - recording.before[name]), executed(recording, name)
            # What was begun at the end is not done yet, and that is little.
            assert 0.95 * begun <= done[-1] <= begun * (1 + ROUNDING) + ROUNDING, name
            assert recording.time[name][-1] <= recording.totals[name], name
    for kind in ("read", "write", "trim"):
        moved = sum(job[kind]["io_bytes"] for job in recording.jobs)
        assert recording.time[f"{kind}_bytes"].sum() >= moved, kind


@pytest.mark.parametrize("suite", [name for name in suites.names() if name != "trace"])
def test_every_series_of_a_suite_is_below_its_bounds(suite):
    check(pslc.run(suite, on=scaled.spec(QLC), scope=Scope(quick=True)))


@pytest.mark.slow
@pytest.mark.parametrize("suite", [name for name in suites.names() if name != "trace"])
def test_every_series_of_a_suite_on_tlc_is_below_its_bounds(suite):
    check(pslc.run(suite, on=scaled.spec(TLC), scope=Scope(quick=True)))


def test_a_pause_is_told_by_the_bins_in_which_the_work_was_done(tmp_path):
    (tmp_path / "paused.fio").write_text(PAUSED)
    recording = pslc.run(tmp_path / "paused.fio", on="sim:600p-512gb")
    check(recording)
    minutes = curves.minutes(recording)
    folding = rates(recording, "idle_folded_bytes_total") > 0
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
    assert pictures["trims"].lines[0].y[-1] == pytest.approx(2**30 / 1e9)
