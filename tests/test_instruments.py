"""What is measured beside a real drive: its temperature, and what it draws."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

import pslc
from pslc import suites
from pslc.device import probe
from pslc.device.region import Scope
from pslc.device.sensors import ENERGY, Meter
from pslc.device.target import RealOptions
from pslc.recording import store
from tests.conftest import fill

IDLE_W, BUSY_W = 0.5, 4.0
DEVICE = {"name": "nvme0n1", "bytes": 10**12, "link_speed": None, "link_width": None, "physical_block_bytes": 512}


def real(simulated: pslc.Recording) -> pslc.Recording:
    """The same as if it had come of a real drive, begun at a known time, its steps without a gap."""
    parts = simulated.parts
    began = round(datetime(2026, 5, 1, 12).timestamp()) * 10**9
    steps = [
        step | {"began_unix_ns": began + part.start_ns} for step, part in zip(simulated.steps, parts, strict=False)
    ]
    facts = probe.facts(Path("/proc")) | {"device": None}
    bare = {name: column for name, column in simulated.time.items() if name.endswith(("_bytes", "s", "_ns"))}
    hidden = {"cpu_ns_total": np.zeros_like(simulated.time["end_ns"])}
    bytes_hidden = {"cpu_ns_total": np.zeros_like(simulated.bytes["end_ns"])}
    keep = set(bare) - set(simulated.before)
    return replace(
        simulated,
        profile="",
        facts=facts,
        steps=[step | {"before": {"cpu_ns_total": 0}, "totals": {"cpu_ns_total": 0}} for step in steps],
        before={"cpu_ns_total": 0},
        totals={"cpu_ns_total": 0},
        time={name: simulated.time[name] for name in keep} | hidden,
        bytes={name: simulated.bytes[name] for name in keep} | bytes_hidden,
        began_unix_ns=began + simulated.start_ns,
    )


def log(recording: pslc.Recording, path: Path, *, header: str, start: float, dated: bool, early: float = 60.0) -> Path:
    """What a meter would log of a drive that draws `BUSY_W` while it moves data: a line every 100 ms."""
    began, took = recording.began_unix_ns / 1e9, recording.drive_time_s
    at = np.arange(-early, took + 30.0, 0.1)
    ends = np.r_[0.0, (recording.time["end_ns"].astype(float) - recording.start_ns) / 1e9]
    moved = np.r_[0.0, np.cumsum(recording.time["read_bytes"] + recording.time["write_bytes"], dtype=float)]
    busy = np.diff(np.interp(at, ends, moved), append=moved[-1]) > 0
    lines = [header]
    for second, on in zip(at, busy, strict=True):
        when = datetime.fromtimestamp(began + second).isoformat() if dated else f"{start + second + early:.2f}"
        watts = BUSY_W if on else IDLE_W
        cells = {1: [f"{watts}"], 2: ["5.0", f"{watts / 5 * 1000}"]}[header.count(",")]
        lines.append(",".join([when, *cells]))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def powered() -> pslc.Recording:
    """The suite `power`, as on a real drive."""
    return real(pslc.run("power", on="sim:pm871b-128gb", scope=Scope(quick=True)))


@pytest.mark.parametrize(
    ("header", "dated", "start"),
    [
        ("Timestamp,Power (W)", True, 0.0),
        ("time_s,voltage_v,current_ma", False, 0.0),
        ("Time [s],power_w", False, 777.0),
    ],
)
def test_a_meter_s_log_tells_what_each_kind_of_work_draws(powered, tmp_path, header, dated, start):
    made = Meter.read(log(powered, tmp_path / "log.csv", header=header, start=start, dated=dated)).on(powered)
    found = suites.load("power").findings(made)
    assert found["idle_watts"] == pytest.approx(IDLE_W, rel=0.05)
    by = {row["state"]: row for row in found["power"]}
    assert by["read"]["watts"] == pytest.approx(BUSY_W, rel=0.05)
    assert by["read"]["joules_per_byte"] == pytest.approx(BUSY_W / by["read"]["bytes_per_s"], rel=0.05)
    assert found["warnings"] == []
    assert (np.diff(made.time[ENERGY].astype(float)) >= 0).all()
    assert [part.totals[ENERGY] for part in made.parts][-1] == made.totals[ENERGY]


def test_without_a_meter_nothing_is_guessed(powered):
    found = suites.load("power").findings(powered)
    assert found["most_watts"] is None
    assert "give --meter" in found["warnings"][0]


ERRORS = {
    "decimal commas among commas": ("time_s,power_w\n0,5,3,75\n1,0,3,80\n", "log.csv:2: 4 numbers below 2 names"),
    "no power": ("time_s,humidity\n1,2\n2,3\n", "its columns are time_s, humidity"),
    "no number": ("time_s,power_w\n1,2\n2,much\n", 'log.csv:3: "2,much"'),
    "one sample": ("time_s,power_w\n1,2\n", "has 1 samples"),
    "backwards": ("time_s,power_w\n2,2\n1,2\n", "not in order of time"),
    "empty": ("", "its columns are none"),
    "another day": ("Timestamp,power_w\n2020-01-01T00:00:00,2\n2020-01-01T09:00:00,2\n", "does not cover the run"),
    "too short": ("time_s,power_w\n1,2\n2,2\n", "is 1 s long, the run"),
    "another drive": ("time_s,power_w\n" + "".join(f"{s},2\n" for s in range(9999)), "does not match this run"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_a_log_that_cannot_be_used_says_why(case, powered, tmp_path):
    text, expected = ERRORS[case]
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(pslc.PslcError) as caught:
        Meter.read(tmp_path / "log.csv").on(powered)
    assert expected in str(caught.value)
    assert "\n\nhint: " in str(caught.value)


def test_a_log_is_given_with_the_run_or_afterwards_and_a_bad_one_costs_nothing(command, tmp_path):
    now = datetime.now().timestamp()
    lines = "".join(f"{now - 5 + second / 2},{2.0}\n" for second in range(800))
    (tmp_path / "log.csv").write_text("time_s,power_w\n" + lines)
    given = ("run", "fill", "--on", "./scratch.bin", "--size", "64MB", "--no-report", "--save")
    done = command.fine(*given, "with", "--meter", "log.csv")
    made = store.load(tmp_path / "with")
    joules = (made.totals[ENERGY] - made.before[ENERGY]) / 1e9
    assert joules == pytest.approx(2.0 * made.drive_time_s, rel=0.01)
    (tmp_path / "bad.csv").write_text("time_s,power_w\n1,x\n")
    done = command.fine(*given, "bad", "--meter", "bad.csv")
    assert ENERGY not in store.load(tmp_path / "bad").totals
    assert "correct the log" in done.stdout
    command.fine("analyze", "bad", "--meter", "log.csv")
    assert ENERGY in store.load(tmp_path / "bad").totals
    command.refused("run", "fill", "--on", "./x.bin", "--size", "64MB", "--meter", "none.csv")


def test_a_simulated_drive_takes_no_meter(command, tmp_path):
    store.save(fill("sim:pm871b-128gb"), tmp_path / "run")
    (tmp_path / "log.csv").write_text("time_s,power_w\n1,1\n2,1\n")
    done = command.refused("analyze", "run", "--meter", "log.csv")
    assert "measures its own power" in done.stderr


def test_a_real_drive_is_asked_for_its_temperature_by_the_suite_that_never_leaves_it_alone(tmp_path, monkeypatch):
    module = suites.load("thermal")
    monkeypatch.setattr(module, "QUICK_SECONDS", 1.5)
    facts = probe.facts
    monkeypatch.setattr(probe, "facts", lambda path: facts(path) | {"device": (facts(path)["device"] or {}) | DEVICE})
    asked = []
    monkeypatch.setattr(probe, "temperature", lambda name: asked.append(name) or 40.0 + len(asked))
    monkeypatch.chdir(tmp_path)
    recording = pslc.run(
        "thermal",
        on="./scratch.bin",
        options=[("pause", "0"), ("thinktime", "0")],
        scope=Scope(quick=True),
        real=RealOptions(size=64_000_000),
    )
    assert set(asked) == {"nvme0n1"}
    found = recording.findings
    assert found["temperature_known"]
    write, read = found["thermal"]
    assert 40 < write["start_c"] < write["most_c"] < read["most_c"] < 40 + len(asked)
    assert "does not say when it throttles" in found["warnings"][-1]
    asked.clear()
    pslc.run("fill", on="./other.bin", real=RealOptions(size=64_000_000))
    assert len(asked) == 2, "before and after the run, and never during it"


@pytest.fixture(scope="module")
def heated() -> pslc.Recording:
    """The suite `thermal` on a drive that throttles."""
    return pslc.run("thermal", on="sim:sn850-1tb,heat.board_to_air=20K/W", scope=Scope(quick=True))


@pytest.mark.long
@pytest.mark.parametrize("hot", [True, False])
def test_reading_that_becomes_slow_on_a_hot_drive_is_throttled(hot, heated):
    recording = heated
    (truth,) = (row for row in recording.findings["thermal"] if row["stress"] == "read")
    assert truth["throttled_after_s"] is not None
    outside = replace(recording, time={name: c for name, c in recording.time.items() if name != "throttle_level"})
    if not hot:
        outside.time["temperature_millicelsius"] = np.full_like(outside.time["temperature_millicelsius"], 40_000)
    (row,) = (row for row in suites.load("thermal").findings(outside)["thermal"] if row["stress"] == "read")
    assert (row["throttled_after_s"] is not None) == hot
    if hot:
        assert row["throttled_after_s"] == pytest.approx(truth["throttled_after_s"], abs=15.0)
        assert row["throttled_bytes_per_s"] == pytest.approx(truth["throttled_bytes_per_s"], rel=0.1)
