"""What to change or buy: the advice is held against drives of which the test knows how they do the same work."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pslc
from pslc.advice import drives, report
from pslc.advice.api import advise
from pslc.advice.subject import Subject, Watched, of_recording, read
from pslc.analysis.load import Load
from pslc.base.errors import PslcError
from pslc.device.profiles import library
from pslc.device.target import find_target
from pslc.recording import store
from pslc.recording.model import Recording
from pslc.recording.watched import Samples, recorded
from pslc.runner.load import analysed
from pslc.schema.surveys import OPS
from pslc.traces import Part, Replay, opened, write_requests
from pslc.watch.requests import make_requests
from tests.conftest import ROOT

SMALL = "sim:pm871b-128gb"
"""A cache of 3 GB, 162 MB/s past it."""
LARGE = "sim:pm871b-128gb,cache.static=6GB"
"""The same drive with a cache that holds each burst of the tests."""


def bursts(folder: Path, gigabytes: int) -> Path:
    """Two bursts of sequential writes, a minute apart, as a job file."""
    jobs = [
        f"[burst{at}]\nstonewall\nstartdelay={60 * (at > 0)}\noffset={at * gigabytes}g\nsize={gigabytes}g\n"
        for at in range(2)
    ]
    path = folder / "bursts.fio"
    path.write_text("[global]\nrw=write\nbs=512k\niodepth=32\n" + "".join(jobs))
    return path


def watched(run: Recording, flushes_per_write: float = 0.0) -> Recording:
    """What `pslc watch` would have recorded of a simulated run of writes: counters of each second."""
    time = run.time
    ends_s = (time["end_ns"].astype(float) - run.start_ns) / 1e9
    seconds = np.diff(ends_s, prepend=0.0)
    edges = np.arange(np.ceil(ends_s[-1]) + 1)

    def each_second(amounts: np.ndarray) -> np.ndarray:
        return np.diff(np.interp(edges, np.append(0.0, ends_s), np.append(0.0, np.cumsum(amounts))))

    waited = each_second(time["lat_sum_ns"].astype(float) / 1e9)
    writes = each_second(time["writes"].astype(float))
    none = np.zeros(len(edges) - 1)
    load = Load(
        seconds=none + 1, read_bytes=none, trim_bytes=none, reads=none, read_s=none, celsius=none * np.nan,
        write_bytes=each_second(time["write_bytes"].astype(float)), writes=writes, flushes=writes * flushes_per_write,
        write_s=waited, queue_s=waited, busy_s=each_second(np.where(time["write_bytes"] > 0, seconds, 0.0)),
    )  # fmt: skip
    facts = {"device": {"bytes": run.capacity_bytes}, "watch": {"smart": [], "changes": [], "file_systems": []}}
    return analysed(recorded(Path("/dev/nvme9n1"), facts, Samples.of(load), 0))


def took_s(run: Recording) -> float:
    """For how long its jobs worked."""
    return sum(job["write"]["runtime_ns"] for job in run.jobs) / 1e9


@pytest.fixture(scope="module")
def slow_bursts(tmp_path_factory) -> tuple[Path, Subject]:
    """Bursts of 5 GiB on the drive whose cache is too small, as watched; and their job file."""
    path = bursts(tmp_path_factory.mktemp("advice"), 5)
    return path, of_recording(watched(pslc.run(path, on=SMALL)))


def by_drive(advice: report.Advice) -> dict[str, report.Row]:
    return {row.outcome.task.on: row for row in advice.rows}


def test_a_cache_that_was_too_small_is_named_and_the_drive_that_holds_the_burst(slow_bursts):
    _, subject = slow_bursts
    advice = advise(subject, [SMALL, LARGE, "sim:wd-green-120gb"], workers=2)
    rows = by_drive(advice)
    assert {on for on, row in rows.items() if not row.reasons} == {LARGE}
    assert isinstance(subject.of, Watched)
    assert subject.of.losses[0].cause == "cache"
    text = " ".join(advice.sentences)
    assert "the SLC cache was full" in text
    assert f"Sufficient: {LARGE.removeprefix('sim:')} (" in text
    assert "pm871b-128gb does not suffice: it takes " in text
    codes = {warning.code for warning in advice.warnings}
    assert {"addresses", "sizes", "demand", "empty", "short"} <= codes


@pytest.mark.parametrize("on", [SMALL, LARGE, "sim:mx500-1tb", "sim:p3700-2tb"])
def test_requests_made_of_counters_take_as_long_as_the_work_itself(slow_bursts, on):
    path, subject = slow_bursts
    (row,) = advise(subject, [on], workers=1).rows
    # The seconds at both ends of a burst are no full ones, and are left out of what is compared.
    assert row.outcome.work_s == pytest.approx(took_s(pslc.run(path, on=on)), rel=0.1)


def test_synced_writes_want_power_loss_protection(tmp_path):
    path = tmp_path / "sync.fio"
    path.write_text("[log]\nrw=randwrite\nbs=16k\nsize=1g\nio_size=1g\nfsync=1\niodepth=1\nruntime=20\ntime_based=1\n")
    subject = of_recording(watched(pslc.run(path, on="sim:sn850-1tb"), flushes_per_write=1.0))
    protected = "sim:sn850-1tb,controller.plp=on"
    advice = advise(subject, ["sim:sn850-1tb", protected], workers=2)
    rows = by_drive(advice)
    assert rows[protected].faster > 10
    assert rows["sim:sn850-1tb"].faster == pytest.approx(1, rel=0.15)
    times = {on: row.outcome.sync_s for on, row in rows.items()}
    assert times[protected] < times["sim:sn850-1tb"] / 10
    text = " ".join(advice.sentences)
    assert "Writes are synced: 100 flushes for 100 writes." in text
    assert "without power-loss protection" in text


def test_a_drive_that_was_never_the_limit_is_not_to_be_replaced():
    count = 60
    none = np.zeros(count)
    load = Load(
        seconds=np.ones(count), read_bytes=none, trim_bytes=none, reads=none, read_s=none, celsius=none * np.nan,
        write_bytes=none + 1e6, writes=none + 10, flushes=none, write_s=none + 0.01, queue_s=none + 0.01,
        busy_s=none + 0.01,
    )  # fmt: skip
    facts = {"device": {"bytes": 10**11}, "watch": {"smart": [], "changes": [], "file_systems": []}}
    subject = of_recording(analysed(recorded(Path("/dev/x"), facts, Samples.of(load), 0)))
    advice = advise(subject, [SMALL], workers=1)
    assert advice.sentences == ["Nothing to buy: the drive was the limit for 0.00 % of 1 min."]


def test_requests_move_what_was_counted_when_it_was(tmp_path):
    random = np.random.default_rng(7)
    count = 50
    busy = np.where(random.random(count) < 0.5, 1.0, 0.3)
    sizes = random.integers(1, 300, (2, count)) * 4096.0
    numbers = random.integers(1, 500, (2, count)).astype(float)
    load = Load(
        seconds=np.ones(count), read_bytes=sizes[0] * numbers[0], write_bytes=sizes[1] * numbers[1],
        trim_bytes=np.zeros(count), reads=numbers[0], writes=numbers[1], flushes=np.full(count, 3.0),
        read_s=busy, write_s=busy, busy_s=busy, queue_s=5 * busy, celsius=np.full(count, np.nan),
    )  # fmt: skip
    for order in ("sequential", "random"):
        requests = make_requests(load, 10**10, order)
        path = tmp_path / f"{order}.parquet"
        write_requests(path, ["watched"], requests.tables())
        survey = opened(path, Part()).survey()
        (device,) = survey["devices"]
        for kind, total in (("read", load.read_bytes.sum()), ("write", load.write_bytes.sum())):
            assert device["bytes"][kind] == pytest.approx(total, abs=4096)
        assert device["count"] == {"read": numbers[0].sum(), "write": numbers[1].sum(), "trim": 0, "flush": 3 * count}
        assert device["end_bytes"] <= 10**10
        assert requests.iodepth == 5
        sequential = device["sequential"]["write"] / device["count"]["write"]
        assert sequential > 0.9 if order == "sequential" else sequential < 0.1
        times = np.concatenate([np.asarray(table["time_ns"]) for table in requests.tables()])
        assert (np.diff(times) >= 0).all()
        limited = {table_at for table_at in range(count) if busy[table_at] == 1.0}
        for at, table in enumerate(requests.tables()):
            first = at
            while first - 1 in limited and at in limited:
                first -= 1
            within = (first, first + 1e-9) if at in limited else (at, at + 1)
            assert (np.asarray(table["time_ns"]) / 1e9 >= within[0]).all()
            assert (np.asarray(table["time_ns"]) / 1e9 <= within[1]).all()
            assert (np.asarray(table["op"]) == OPS.index("flush")).sum() == 3


def test_the_drives_that_are_tried_hold_what_is_needed_and_one_is_protected():
    for needed in (10**11, 10**12, 4 * 10**12):
        targets = [find_target(spec) for spec in drives.spread(needed)]
        assert not [target for target in targets if not (target.capacity_bytes >= 0.9 * needed)]
        assert any(target.facts["plp"] for target in targets)
        assert len(targets) >= 3
    largest = max(find_target(f"sim:{name}").capacity_bytes for name in library())
    with pytest.raises(PslcError, match="no built-in drive holds"):
        drives.spread(2 * largest)


def test_a_trace_keeps_its_addresses_and_a_drive_that_lets_it_wait_would_not_do():
    subject = read(ROOT / "examples" / "evening.csv", Part(), 128 * 10**9)
    rows = by_drive(advise(subject, [SMALL, "sim:sn850-1tb"], workers=2))
    assert not rows["sim:sn850-1tb"].reasons
    assert "waiting" in rows[SMALL].reasons[0] or "late" in rows[SMALL].reasons[0]
    # The same figure as a replay of it gives.
    replayed = pslc.run(ROOT / "examples" / "evening.csv", on="sim:sn850-1tb", replay=Replay(prefill=True))
    assert rows["sim:sn850-1tb"].outcome.findings["latencies"] == replayed.findings["latencies"]
    # Of a twin the slowest requests are no predictions: they are not shown, and count for nothing.
    outcome = replace(rows[SMALL].outcome, late_share=0.0)
    real, twin = (report.advise(subject, [replace(outcome, is_twin=is_twin)]) for is_twin in (False, True))
    assert any("waiting" in reason for reason in real.rows[0].reasons)
    assert not any("waiting" in reason for reason in twin.rows[0].reasons)
    refused = report.advise(subject, [replace(outcome, refused="it is too small", findings=None)])
    tables = [report.table(real), report.table(twin), report.table(refused)]
    assert [table.rows[0][table.columns.index("suffices")] for table in tables] == ["no", "yes", "?"]
    p99 = [table.rows[0][table.columns.index("p99")] for table in tables]
    assert p99[0]
    assert not p99[1]
    assert {warning.code for warning in twin.warnings} - {warning.code for warning in real.warnings} == {"twin"}


def test_what_is_no_drive_at_work_is_refused(tmp_path):
    store.save(pslc.run("fill", on=SMALL), tmp_path / "fill")
    with pytest.raises(PslcError, match="no drive at work"):
        read(tmp_path / "fill", Part())
    with pytest.raises(PslcError, match="is no simulated drive"):
        advise(read(ROOT / "examples" / "evening.csv", Part()), [str(tmp_path / "file.bin")])


def test_the_command_prints_one_document():
    command = [sys.executable, "-m", "pslc", "advise", "examples/slow-night.txt", "--device", "nvme0n1", "--json"]
    on = ["--on", "sim:mx500-1tb", "--on", "sim:990-pro-4tb"]
    done = subprocess.run([*command, *on], cwd=ROOT, capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    row = next(row for row in document["drives"] if row["on"] == "sim:mx500-1tb")
    assert not row["would_do"]
    assert document["watched"]["losses"][0]["cause"] == "cache"
    assert any(warning["code"] == "addresses" for warning in document["warnings"])
    (rests,) = (warning["text"] for warning in document["warnings"] if warning["code"] == "rests")
    assert "the cache of 990-pro-4tb, mx500-1tb" in rests
    # Only the 990 Pro is a forecast: the MX500 was fitted to reviews of itself.
    parts = next(warning for warning in document["warnings"] if warning["code"] == "parts")
    assert re.search(r"990-pro-4tb \d+ MB/s \(80 %: \d+ to \d+\)", parts["text"])
    assert "mx500" not in str(parts)
    sufficient = next(line for line in document["sentences"] if line.startswith("Sufficient"))
    assert re.search(r"990-pro-4tb \(.*, predicted from its parts\)", sufficient)
