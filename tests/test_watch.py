"""A drive watched while it does its work: what happened when, held against drives of which the test knows it."""

import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import cast

import numpy as np
import pytest

import pslc
from pslc.analysis.load import Load
from pslc.analysis.slowdowns import find_slowdowns
from pslc.base import http_server
from pslc.device import probe
from pslc.recording import store
from pslc.recording.model import Recording
from pslc.recording.watched import Samples, load_of, recorded
from pslc.runner.load import analysed
from pslc.traces import Replay
from pslc.watch import counters, findings, members, metrics
from pslc.watch import telemetry as asking
from pslc.watch.causes import throttled
from pslc.watch.counters import FIELDS
from pslc.watch.run import watch_all
from pslc.watch.several import Checkpoints
from pslc.watch.telemetry import Asked
from tests import forked
from tests.analysis.edges import work
from tests.conftest import ROOT
from tests.forked import eventually
from tests.loops import loop_over, reason, sh
from tests.traced import traced
from tests.typed import unlike

MB = 1e6
loops = pytest.mark.skipif(reason() is not None, reason=str(reason()))


def load(*parts: tuple, kind: str = "write", celsius: float = np.nan, seed: int = 0) -> Load:
    """Seconds of a drive, each part `(seconds, bytes a second, queue, bytes a request)`; a speed of 0 is a pause. With
    so many under way all the time latencies are what Little's law says."""
    random = np.random.default_rng(seed)
    rows = []
    for seconds, speed, queue, size in parts:
        for _ in range(seconds):
            moved = speed * random.lognormal(0, 0.05)
            rows.append((moved, moved / size, queue if speed else 0.0, 1.0 if speed else 0.0))
    moved, count, waited, busy = np.array(rows).T
    none = np.zeros(len(rows))
    other = {"read": "write", "write": "read"}[kind]
    return Load(
        seconds=np.ones(len(rows)),
        trim_bytes=none,
        flushes=none,
        busy_s=busy,
        queue_s=waited,
        celsius=np.full(len(rows), celsius),
        **{f"{kind}_bytes": moved, f"{kind}s": count, f"{kind}_s": waited},
        **{f"{other}_bytes": none, f"{other}s": none, f"{other}_s": none},
    )


def test_a_fall_is_found_to_the_second_with_what_was_written_since_the_pause():
    (fall,) = find_slowdowns(load((20, 0, 0, 1), (60, 1900 * MB, 8, 1e6), (40, 140 * MB, 8, 1e6)))
    assert fall.at_s == 80
    assert fall.before.bytes_per_s == pytest.approx(1900 * MB, rel=0.05)
    assert fall.after.bytes_per_s == pytest.approx(140 * MB, rel=0.05)
    assert fall.since_pause_bytes == pytest.approx(60 * 1900 * MB, rel=0.02)
    assert fall.pause_observed
    assert fall.recovery.at_s is None


def test_who_asks_for_less_is_not_slowed_by_the_drive():
    assert not find_slowdowns(load((60, 1900 * MB, 8, 1e6), (40, 140 * MB, 8 * 140 / 1900, 1e6)))


def test_smaller_requests_are_other_work():
    assert not find_slowdowns(load((60, 1900 * MB, 8, 1e6), (40, 140 * MB, 8, 4096)))


def test_a_fast_drive_that_writes_without_a_stop_at_a_few_percent_is_one_session():
    assert work((300, 1000, 0.03, 1e5)).sessions() == [(0, 300)]
    assert work((30, 1000, 1.0, 1e5), (30, 10, 0.03, 1e5)).pauses() == [(30, 60)]


def test_a_moment_is_no_fall():
    assert not find_slowdowns(load((60, 1900 * MB, 8, 1e6), (2, 140 * MB, 8, 1e6), (60, 1900 * MB, 8, 1e6)))


def test_the_pause_after_which_it_was_fast_again_is_told_and_the_one_that_was_not_enough():
    slow, fast = (30, 140 * MB, 8, 1e6), (30, 1900 * MB, 8, 1e6)
    (fall,) = find_slowdowns(load(fast, slow, (20, 0, 0, 1), slow, (240, 0, 0, 1), fast))
    assert (fall.at_s, fall.recovery.at_s, fall.recovery.idle_s, fall.recovery.insufficient_idle_s) == (
        30,
        350,
        240,
        20,
    )


def test_reads_fall_too():
    (fall,) = find_slowdowns(load((30, 3000 * MB, 8, 1e5), (30, 300 * MB, 8, 1e5), kind="read"))
    assert (fall.kind, fall.at_s) == ("read", 30)


def test_a_watch_of_days_is_analysed_in_seconds():
    parts = [(1000, 0, 0, 1), (9000, 900 * MB, 4, 1e6), (3000, 100 * MB, 4, 1e6)]
    began = time.process_time()
    found = find_slowdowns(load(*parts * 20))
    assert len(found) == 20
    assert [fall.at_s for fall in found] == [10_000 + 13_000 * n for n in range(20)]
    assert time.process_time() - began < 10


def test_lines_of_any_kernel_are_read():
    eleven = b"  10 1 16 5 20 2 64 7 3 9 12\n"
    of = dict(zip(FIELDS, counters.parsed(eleven), strict=True))
    assert (of["reads"], of["read_bytes"], of["write_bytes"]) == (10, 16 * 512, 64 * 512)
    assert (of["busy_ns"], of["queue_ns"], of["in_flight"], of["trims"]) == (9_000_000, 12_000_000, 3, 0)
    seventeen = b"10 1 16 5 20 2 64 7 3 9 12 30 4 128 6 40 8"
    of = dict(zip(FIELDS, counters.parsed(seventeen), strict=True))
    assert (of["trims"], of["trim_bytes"], of["flushes"]) == (30, 128 * 512, 40)


def recording(of: Load, **about: object) -> Recording:
    """A load as if it had been watched."""
    watched = {"smart": [], "changes": [], "file_systems": []} | about
    facts = {"device": None, "host": {"virtual": False}, "watch": watched}
    return analysed(recorded(Path("/dev/x"), facts, Samples.of(of), 1_779_937_200 * 10**9))


def test_what_is_recorded_is_what_was_counted():
    of = load((20, 0, 0, 1), (60, 1900 * MB, 8, 1e6), (40, 140 * MB, 8, 1e6), celsius=41)
    back = load_of(recording(of))
    for name in vars(of):
        np.testing.assert_allclose(getattr(back, name), getattr(of, name), atol=1, err_msg=name)


def said(of: Load, **about: object) -> str:
    found = recording(of, **about).findings
    assert unlike(dict(found), findings.Findings) == []
    return " ".join(findings.sentences(cast(findings.Findings, found)))


FAST, SLOW, REST = (160, 1900 * MB, 8, 1e6), (60, 140 * MB, 8, 1e6), (240, 0, 0, 1)


def test_a_full_cache_is_said_in_words_with_time_amount_and_recovery():
    text = said(load(REST, FAST, SLOW, REST, FAST))
    assert re.search(
        r"Writes fell from 1[89]\d\d MB/s to 1[34]\d MB/s at \d\d:\d\d:\d\d after 30\d GB without a pause of 10 s: "
        r"the SLC cache was full \(likely\); it was fast again after 4 min idle, at \d\d:\d\d:\d\d\.",
        text,
    )


def test_the_same_amount_again_makes_it_very_likely():
    assert said(load(REST, FAST, SLOW, REST, FAST, SLOW, REST, FAST)).count("very likely") == 2


def test_heat_and_the_link_are_blamed_where_they_are_to_blame():
    hot = said(load(REST, FAST, SLOW, celsius=84))
    assert "throttled for heat at 84 C" in hot
    assert "SLC" not in hot
    logs = [(0.0, {"thm_temp1_trans_count": 3}), (400.0, {"thm_temp1_trans_count": 3})]
    assert "SLC cache was full" in said(load(REST, FAST, SLOW, celsius=84), smart=logs), (
        "its own count knows of no heat"
    )
    change = {"at_s": 402.0, "what": "link", "from": "16.0 GT/s PCIe x4", "to": "2.5 GT/s PCIe x4"}
    trained = said(load(REST, FAST, SLOW), changes=[change])
    assert "the link had trained lower" in trained
    assert "2.5 GT/s PCIe x4 instead of 16.0 GT/s PCIe x4" in trained
    assert "SLC" not in trained


def test_a_full_drive_without_discards_and_wear_are_said():
    system = {"type": "ext4", "mount": "/", "options": "rw,relatime", "bytes": 100, "free_bytes": 4}
    log = {"percentage_used": 93, "available_spare": 4, "available_spare_threshold": 10, "data_units_written": 10**9}
    text = said(load(REST, FAST, SLOW), file_systems=[system], smart=[(0.0, log)])
    assert "96.0 % full" in text
    assert "93 % of its life are used" in text
    assert "4 % are left" in text
    assert "more years" in text
    system["options"] = "rw,discard"
    assert "discarded" not in said(load(REST, FAST, SLOW), file_systems=[system])


def test_heat_counters_that_rose_tell_of_throttling():
    assert throttled([{"warning_temp_time": 1}, {"warning_temp_time": 2}])
    assert throttled([{"warning_temp_time": 1}, {"warning_temp_time": 1}]) is False
    assert throttled([{"warning_temp_time": 1}]) is None


def test_a_drive_that_rests_is_not_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(asking.probe, "temperature", lambda name: asked.append("temperature"))
    monkeypatch.setattr(asking.probe, "smart", lambda name, quietly: asked.append("smart") or {"a": 1})
    monkeypatch.setattr(
        asking.probe, "link", lambda disk: asked.append("link") or {"link_speed": None, "link_width": None}
    )
    of = Asked("nvme0n1")
    for second in range(3600):
        of.look(float(second), worked=False)
    assert asked == []
    for second in range(3600, 7200):
        of.look(float(second), worked=True)
    assert [asked.count(what) for what in ("temperature", "smart", "link")] == [360, 6, 360]
    assert [at for at, _ in of.smart] == [3600.0, 6600.0]


@loops
def test_watching_writes_nothing_and_opens_nothing_for_writing(tmp_path, command):
    image = tmp_path / "image"
    image.write_bytes(bytes(1 << 20))
    with loop_over(image) as device:
        name = Path(device.path).name
        before = Path(f"/sys/block/{name}/stat").read_text().split()
        executable = str(Path(sys.executable).parent / "pslc")
        calls = "open,openat,openat2,creat,ioctl,mount,unlink,unlinkat,rename,renameat,renameat2,truncate"
        save = str(tmp_path / "run")
        watching = [executable, "watch", device.path, "--for", "3s", "--save", save]
        lines = traced(watching, calls, tmp_path, "-y")[0].splitlines()
        after = Path(f"/sys/block/{name}/stat").read_text().split()
    assert after[4:8] == before[4:8], "sectors written"
    assert after[11:15] == before[11:15], "sectors discarded"
    assert any(f"{name}/stat" in line for line in lines) or any("/stat" in line for line in lines)
    writing = [line for line in lines if re.search(r"O_WRONLY|O_RDWR|O_CREAT|creat\(", line)]
    # A relative name is one in the folder whose descriptor stands before it.
    named = (re.search(r'(?:<([^>]*)>, )?"([^"]*)"', line) for line in writing)
    places = {os.path.join(match[1] or "", match[2]) for match in named if match}
    strange = {at for at in places if at.startswith(("/dev/", "/sys/", "/proc/")) and at != "/dev/null"}
    assert not strange
    assert any(at.startswith(save) for at in places), "the recording is written, so writing is seen"


@loops
def test_what_fio_writes_is_counted_to_the_byte_and_ctrl_c_ends_it(tmp_path):
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    image = tmp_path / "image"
    image.write_bytes(bytes(64 << 20))
    with loop_over(image) as device:
        words = ["watch", device.path, "--json", "--for", "10min"]
        watching = forked.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE)
        eventually(lambda: looks(watching.pid))
        job = ["--name=a", "--rw=randrw", "--bs=16k", "--size=32m", "--direct=1", "--output-format=json"]
        fio = subprocess.run(["fio", f"--filename={device.path}", *job], capture_output=True, text=True, check=True)
        time.sleep(2)
        watching.send_signal(signal.SIGINT)
        out, _ = watching.communicate(timeout=30)
    assert watching.returncode == 0
    found = json.loads(out)["findings"]
    (done,) = json.loads(fio.stdout)["jobs"]
    assert found["written_bytes"] == done["write"]["io_bytes"]
    reads = next(of for of in found["kinds"] if of["kind"] == "read")
    assert reads["bytes"] - done["read"]["io_bytes"] in range(1 << 20), "and what looks for partitions, perhaps"


def test_a_watch_is_kept_while_it_goes_on_and_costs_little(monkeypatch):
    number = Path("/sys/block")
    devices = [of for of in number.iterdir() if (Path("/dev") / of.name).is_block_device()]
    if not devices:
        pytest.skip("this machine shows no block device")
    monkeypatch.setattr("pslc.watch.run.KEEP_EVERY_S", 1.0)
    monkeypatch.setattr("pslc.watch.run.KEEP_SHARE", 1.0)
    kept: list[Recording] = []
    seen = []
    timer = threading.Timer(4.0, os.kill, (os.getpid(), signal.SIGUSR1))
    paths = [Path("/dev") / devices[0].name]
    watch_all(paths, 1.0)
    before = resource.getrusage(resource.RUSAGE_SELF)
    timer.start()
    try:
        (found,) = watch_all(paths, 60.0, seen.append, kept.extend, [signal.SIGUSR1])
    finally:
        timer.cancel()
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert 3.5 < found.drive_time_s < 30
    assert len(found.time["end_ns"]) == len(seen) == pytest.approx(found.drive_time_s, abs=2)
    assert len(kept) >= 2
    assert len(kept[0].time["end_ns"]) < len(found.time["end_ns"])
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert spent < 0.05 * found.drive_time_s, "and this is with a recording kept each second"


def test_a_signal_ends_a_watch_in_whatever_it_is_just_busy(monkeypatch):
    """It came while the recording was kept, and went to another thread, which ended the process."""
    devices = [of for of in Path("/sys/block").iterdir() if (Path("/dev") / of.name).is_block_device()]
    if not devices:
        pytest.skip("this machine shows no block device")
    monkeypatch.setattr("pslc.watch.run.KEEP_EVERY_S", 1.0)
    before = signal.getsignal(signal.SIGUSR1)
    done = threading.Event()
    threading.Thread(target=done.wait).start()
    try:
        kept: list[Recording] = []

        def keep(recordings: list[Recording]) -> None:
            kept.extend(recordings)
            os.kill(os.getpid(), signal.SIGUSR1)

        (found,) = watch_all([Path("/dev") / devices[0].name], 60.0, None, keep, [signal.SIGUSR1])
    finally:
        done.set()
    assert len(kept) == 1
    assert len(found.time["end_ns"]) == len(kept[0].time["end_ns"]) + 1
    assert signal.getsignal(signal.SIGUSR1) is before


@loops
@pytest.mark.slow
def test_a_drive_whose_cache_only_the_test_knows_is_seen_through(tmp_path):
    """A cache of 400 MB at 25 MB/s, 5 MB/s behind it, emptied after 12 s of rest; fio writes, and keeps a log of its
    own."""
    for program in ("nbdfuse", "fio", "fusermount3"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    mount, socket, full = tmp_path / "m", tmp_path / "s", tmp_path / "full"
    mount.mkdir()
    words = [socket, 4_000_000_000, 400e6, 25e6, 5e6, 12, full]
    server = subprocess.Popen([sys.executable, "-m", "tests.slowing", *map(str, words)], cwd=ROOT)
    eventually(socket.exists)
    fuse = subprocess.Popen(["nbdfuse", mount / "disk", "--unix", socket])
    try:
        eventually((mount / "disk").exists)
        done = subprocess.run(
            ["losetup", "-f", "--show", "--direct-io=on", mount / "disk"], capture_output=True, text=True, check=True
        )
        device = done.stdout.strip()
        try:
            found = seen_through(device, tmp_path)
        finally:
            subprocess.run(["losetup", "-d", device], check=False)
    finally:
        subprocess.run(["fusermount3", "-u", mount], check=False)
        fuse.wait(timeout=20)
        server.wait(timeout=20)
    (fall,) = [of for of in found.findings["falls"] if of["cause"] == "cache"]
    filled = float(full.read_text().split()[0])
    assert found.findings["began_unix"] + fall["at_s"] == pytest.approx(filled, abs=3)
    assert fall["from_bytes_per_s"] == pytest.approx(25e6, rel=0.15)
    assert fall["to_bytes_per_s"] == pytest.approx(5e6, rel=0.15)
    assert fall["since_pause_bytes"] == pytest.approx(400e6, rel=0.1)
    assert fall["watched_pause"]
    assert 12 <= fall["idle_s"] <= 20
    # fio's own log: ms, KiB/s; each value is of the second that ends there.
    log = np.loadtxt(tmp_path / "fio_bw.1.log", delimiter=",", usecols=(0, 1))
    fast = np.median(log[log[:, 1] > 12_000, 1]) * 1024
    slow = np.median(log[log[:, 1] < 9_000, 1]) * 1024
    assert fall["from_bytes_per_s"] == pytest.approx(fast, rel=0.1)
    assert fall["to_bytes_per_s"] == pytest.approx(slow, rel=0.1)


def seen_through(device: str, folder: Path) -> Recording:
    """Watch while fio writes until the cache is full and on, rests, and writes again."""
    job = ["--rw=write", "--bs=512k", "--direct=1", "--ioengine=libaio", "--iodepth=4", "--time_based"]
    words = ["watch", device, "--no-report", "--save", folder / "run"]
    watching = forked.Popen(words, stdout=subprocess.DEVNULL)
    eventually(lambda: looks(watching.pid))
    time.sleep(13)
    for name, seconds, rest in (("fio", 26, 15), ("again", 8, 1)):
        words = ["fio", "--name=a", f"--filename={device}", *job, f"--runtime={seconds}", "--log_avg_msec=1000"]
        subprocess.run([*words, f"--write_bw_log={folder / name}"], check=True, capture_output=True)
        time.sleep(rest)
    watching.send_signal(signal.SIGINT)
    watching.wait(timeout=60)
    return store.load(folder / "run")


def looks(pid: int) -> bool:
    """Whether a process has a device's counters open."""
    for at in Path(f"/proc/{pid}/fd").iterdir():
        # It may be closed by now.
        with suppress(FileNotFoundError):
            if os.readlink(at).endswith("/stat"):
                return True
    return False


def simulated(seed: int, path: Path) -> tuple[Load, np.ndarray]:
    """A random workload on a simulated drive of which the host sees only what a block layer counts, second by second;
    and the share of each second's writes that went past the cache, which it does not see."""
    drawn = random.Random(seed)
    rows, at, us, total = ["time_us,op,offset,size"], 0, 0.0, 0.0
    for _ in range(drawn.randrange(2, 5)):
        speed, volume = drawn.choice([300e6, 450e6, 480e6]), drawn.uniform(1e9, 9e9)
        if total + volume > 40e9:
            break
        total += volume
        for _ in range(int(volume / (1 << 20))):
            rows.append(f"{int(us)},write,{at},{1 << 20}")
            at, us = at + (1 << 20), us + (1 << 20) / speed * 1e6
        us += drawn.choice([3, 15, 60, 200, 400]) * 1e6
    path.write_text("\n".join(rows) + "\n")
    run = pslc.run(path, on="sim:pm871b-128gb", replay=Replay(iodepth=8))
    ends = np.concatenate([[0.0], (run.time["end_ns"].astype(float) - run.start_ns) / 1e9])
    edges = np.arange(0.0, ends[-1] + 1)

    def each_second(sums: np.ndarray) -> np.ndarray:
        return np.diff(np.interp(edges, ends, np.concatenate([[0.0], sums])))

    names = ("write_bytes", "writes", "lat_sum_ns")
    written, count, waited = (each_second(np.cumsum(run.time[name], dtype=float)) for name in names)
    past = each_second(run.time["host_to_native_bytes_total"].astype(float)) / np.maximum(written, 1.0)
    waited, none = waited / 1e9, np.zeros(count.size)
    load = Load(
        seconds=none + 1, read_bytes=none, write_bytes=written, trim_bytes=none, reads=none, writes=count, flushes=none,
        read_s=none, write_s=waited, busy_s=np.minimum(waited, 1.0), queue_s=waited, celsius=none * np.nan,
    )  # fmt: skip
    return load, np.where(written > 1e6, past, 0.0)


@pytest.mark.parametrize("seed", range(8))
def test_on_random_workloads_every_full_cache_is_found_to_the_second_and_nothing_else(seed, tmp_path):
    load, past = simulated(seed, tmp_path / "work.csv")
    slow = np.concatenate([[0], (past > 0.5).astype(np.int8), [0]])
    begins, ends = np.flatnonzero(np.diff(slow) == 1), np.flatnonzero(np.diff(slow) == -1)
    # Slow for 4 s or more, and busy and fast for as long before, since it was slow or rested.
    fast = (load.write_bytes > 1e6) & (past <= 0.5)
    sessions = [begin for begin, _ in load.sessions()]
    wanted = []
    for begin, end in zip(begins, ends, strict=True):
        since = max(of for of in [*sessions, *ends] if of <= begin)
        if end - begin >= 4 and (load.busy_s * fast)[since:begin].sum() >= 4:
            wanted.append(int(begin))
    found = find_slowdowns(load)
    assert [fall.at_s for fall in found] == pytest.approx(wanted, abs=2)
    for fall in found:
        # The cache of this drive has 3 GB.
        assert fall.since_pause_bytes == pytest.approx(3.0e9, rel=0.1)
        assert fall.after.bytes_per_s == pytest.approx(163e6, rel=0.15)


def test_what_is_no_block_device_is_refused_with_the_device_it_lies_on(command, tmp_path):
    (tmp_path / "file").write_text("")
    done = command.refused("watch", "file")
    assert "is not a block device" in done.stderr
    done = command.refused("watch", "/dev/nvme77n7")
    assert "no such device" in done.stderr
    done = command.refused("watch", "/dev/nvme77n7", "--for", "0s")
    assert "--for is 0s, but counters are read once a second" in done.stderr


@loops
def test_the_commands_of_the_document_run(command, tmp_path, tracefs):
    """With a loop device in the place of the drive, and 2 s in that of hours."""
    block, *_ = re.findall(r"^```console\n(.*?)^```", (ROOT / "docs" / "watch.md").read_text(), flags=re.S | re.M)
    image = tmp_path / "image"
    image.write_bytes(bytes(1 << 20))
    lines = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ pslc watch")]
    assert lines
    with loop_over(image) as device:
        for line in lines:
            asked = re.sub(r"--for \w+", "", line.partition("#")[0]).replace("/dev/nvme0n1", device.path)
            asked = asked.replace("/dev/shm/", "")
            command.fine(*shlex.split(asked)[1:], "--for", "2s")


def of_member(seconds: int, busy: float, latency_s: float, moved: float = 50 * MB) -> Load:
    """Writes of 128 KiB."""
    of = load((seconds, moved, 1.0, 131072))
    of.busy_s[:] = busy
    of.write_s[:] = latency_s * of.writes
    return of


def test_the_member_that_is_busy_while_the_others_wait_holds_them_back():
    slow, fast = of_member(60, 0.97, 12e-3), of_member(60, 0.3, 0.8e-3)
    said = members.held_back({"sdb": fast, "sda": slow, "sdc": fast})
    assert said == (
        "sda slows down the pool: it was busy for 97.0 % of the time in which they worked, sdb for 30.0 %; "
        "a write took 12.0 ms there and 800 µs on the other."
    )
    uneven = members.held_back({"sdb": of_member(60, 0.3, 1e-3, 10 * MB), "sda": slow})
    assert uneven.endswith("perhaps the load is uneven.")


@pytest.mark.parametrize(
    ("busy", "seconds", "said"),
    [
        ((0.95, 0.9), 60, "No single drive"),
        ((0.6, 0.1), 60, "No drive of the pool slows down"),
        ((0.95, 0.1), 5, "No drive of the pool can be named"),
        ((0.1, 0.05), 60, "No drive of the pool can be named"),
    ],
)
def test_where_no_member_stands_out_none_is_blamed(busy, seconds, said):
    loads = {f"sd{at}": of_member(seconds, share, 1e-3) for at, share in enumerate(busy)}
    assert members.held_back(loads).startswith(said)


def test_the_drives_below_a_stack_are_those_at_its_end(tmp_path, monkeypatch):
    block = tmp_path / "block"
    for name in ("sda", "sdb", "sdc", "md0", "dm-0"):
        (block / name / "slaves").mkdir(parents=True)
    (block / "sdb" / "sdb1").mkdir()
    (block / "sdb" / "sdb1" / "partition").write_text("1")
    for above, below in (("dm-0", "md0"), ("md0", "sda"), ("md0", "sdb/sdb1"), ("dm-0", "sdc")):
        (block / above / "slaves" / Path(below).name).symlink_to(block / below)
    (tmp_path / "dev" / "block").mkdir(parents=True)
    (tmp_path / "dev" / "block" / "253:7").symlink_to(block / "dm-0")
    monkeypatch.setattr(members.probe, "SYS", tmp_path)
    assert members.probe.leaves(os.makedev(253, 7)) == ["sda", "sdb", "sdc"]
    assert members.probe.leaves(os.makedev(253, 8)) == []


def test_a_pool_that_cannot_be_resolved_is_refused_in_words(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(pslc.PslcError, match="tank is no device, and there is no zpool to ask"):
        members.members(Path("tank"))
    zpool = tmp_path / "zpool"
    zpool.write_text("#!/bin/sh\necho 'tank 1T 0 1T'\necho '/dev/gone1 1T 0 1T'\n")
    zpool.chmod(0o755)
    with pytest.raises(pslc.PslcError, match="zpool does not say where /dev/gone1 is"):
        members.members(Path("tank"))
    zpool.write_text("#!/bin/sh\necho \"cannot open 'tank': no such pool\" >&2\nexit 1\n")
    with pytest.raises(pslc.PslcError, match="is no device and no pool: cannot open 'tank'"):
        members.members(Path("tank"))


def _client(port: int, sent: bytes = b"") -> socket.socket | None:
    """A connection that has sent so much; none where it was refused."""
    client = socket.create_connection(("127.0.0.1", port), 5)
    try:
        client.sendall(sent)
    except OSError:
        return None
    return client


def _reset(port: int) -> None:
    client = _client(port, b"GET /metrics HTTP/1.1\r\n\r\n")
    if client is not None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()


RUDE = {
    "silent": _client,
    "half a request": lambda port: _client(port, b"GET /"),
    "no end of headers": lambda port: _client(port, b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 60_000),
    "garbage": lambda port: _client(port, bytes(range(256)) * 8),
    "never reads": lambda port: _client(port, b"GET /metrics HTTP/1.1\r\n\r\n" * 20),
    "resets": _reset,
}
"""Sixty of each of these end no watch."""


def _until_watching(port: int) -> None:
    """Wait until the counters have been read once: only what is written from then on is recorded."""
    for _ in range(200):
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=1) as answer:
            if b"{" in answer.read():
                return
        time.sleep(0.1)
    raise AssertionError("nobody watches")


def test_metrics_are_what_prometheus_reads():
    server = metrics.Server(metrics.address("localhost:0"))
    try:
        server.latest = {'nvme"0': (tuple(range(100, 100 + len(FIELDS))), 41.5), "sda": ((0,) * len(FIELDS), None)}
        with urllib.request.urlopen(f"http://localhost:{server.port}/metrics", timeout=10) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            lines = answer.read().decode().splitlines()
            assert answer.headers["Server"] == "pslc"
        with urllib.request.urlopen(f"http://localhost:{server.port}/metrics?x=y", timeout=10) as answer:
            assert answer.read().decode().splitlines() == lines
        head = urllib.request.Request(f"http://localhost:{server.port}/metrics", method="HEAD")
        with urllib.request.urlopen(head, timeout=10) as answer:
            assert answer.read() == b""
            assert int(answer.headers["Content-Length"]) > 100
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://localhost:{server.port}/", timeout=10)
    finally:
        server.close()
    samples = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert samples[r'pslc_reads_total{device="nvme\"0"}'] == "100"
    assert float(samples[r'pslc_busy_seconds_total{device="nvme\"0"}']) == 107 / 1e9
    assert samples[r'pslc_temperature_celsius{device="nvme\"0"}'] == "41.5"
    assert 'pslc_temperature_celsius{device="sda"}' not in samples
    for metric in {name.partition("{")[0] for name in samples}:
        assert any(line.startswith(f"# TYPE {metric} ") for line in lines), metric
    with pytest.raises(pslc.PslcError, match="is no address"):
        metrics.address("9417")
    assert metrics.address(":9417") == ("127.0.0.1", 9417)
    assert metrics.address("[::1]:9417") == ("::1", 9417)
    assert [http_server.is_local(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "::")] == [True] * 3 + [
        False
    ] * 2


@pytest.mark.skipif(reason() is not None, reason=str(reason()))
@pytest.mark.parametrize("kind", RUDE)
def test_no_client_of_the_metrics_takes_what_the_watch_needs(kind, tmp_path):
    image = tmp_path / "drive.img"
    with image.open("wb") as file:
        file.truncate(64 << 20)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with loop_over(image) as loop:
        words = ["watch", loop.path, "--for", "10min", "--save", tmp_path / "w", "--metrics", f":{port}"]
        few = ["prlimit", "--nofile=64", sys.executable, "-m", "pslc", *words]
        with subprocess.Popen(few, stderr=subprocess.PIPE, text=True) as watch:
            _until_watching(port)
            held = [RUDE[kind](port) for _ in range(60)]
            sh("dd", "if=/dev/zero", f"of={loop.path}", "bs=1M", "count=32", "oflag=direct")
            time.sleep(2)
            watch.send_signal(signal.SIGINT)
            err = watch.communicate(timeout=60)[1]
        for client in filter(None, held):
            client.close()
    assert watch.returncode == 0, err
    assert "Traceback" not in err
    assert "Exception" not in err
    assert pslc.load(next(tmp_path.glob("w/*/run.json")).parent).written_bytes == 32 << 20


def test_several_drives_are_watched_at_once(tmp_path, command):
    devices = [f"/dev/{path.name}" for path in sorted(Path("/sys/block").iterdir()) if Path("/dev", path.name).exists()]
    if len(devices) < 2:
        pytest.skip("the machine has not two block devices")
    done = command.fine("watch", *devices[:2], "--for", "2s", "--metrics", "localhost:0", "--save", tmp_path / "run")
    assert re.search(r"No (single )?drive (of the pool )?(can be named|slows down)|slows down the pool", done.stdout)
    for device in devices[:2]:
        recording = store.load(tmp_path / "run" / Path(device).name)
        assert recording.suite == "watch"
        assert recording.wall_s == pytest.approx(2, abs=1)
    refused = command.refused("watch", *devices[:2], "--trace")
    assert "--trace follows one drive" in refused.stderr


def test_on_the_watched_drive_it_is_saved_too_and_says_how_much_that_wrote(tmp_path):
    """What was saved outlives SIGKILL."""
    drives = [drive for drive in probe.facts(tmp_path)["stack"][-1:] if Path("/dev", drive).exists()]
    if not drives:
        pytest.skip("the folder of the tests is on no drive of this machine")
    often = "import sys, pslc.watch.run as run; run.KEEP_EVERY_S = 0.0; run.KEEP_SHARE = 1e9"
    words = ["watch", f"/dev/{drives[0]}", "--save", "saved", "--for", "10min"]
    script = f"{often}; sys.argv[1:] = {words}; from pslc.__main__ import main; main()"
    with subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as watching:
        folder = tmp_path / "saved"

        def own_bytes() -> int:
            with suppress(pslc.PslcError):  # nothing yet, or between its two files
                return store.load(folder).facts["watch"].get("own_bytes", 0)
            return 0

        eventually(own_bytes)
        watching.kill()
        assert "is saved on the watched drive" in watching.stderr.read()
    recording = store.load(folder)
    assert recording.error == "the watch has not ended"
    assert own_bytes() > (folder / "series.parquet").stat().st_size
    assert any("of the writes are pslc's own" in warning for warning in recording.warnings)
    elsewhere = Checkpoints({Path("/dev", drives[0]): Path("/dev/shm/nowhere")})
    assert elsewhere.noted([recording]) == [recording]
