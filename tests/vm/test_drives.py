"""A drive of a known profile is measured as a real one: `pslc serve` in the guest, behind the kernel's NVMe driver.

What the suites find there is held against what they find on the simulated drive itself.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import pslc
from pslc.recording.writes.reported_end import reported_end
from tests.conftest import ROOT
from tests.vm.guest import needs_guest, run

pytestmark = [pytest.mark.vm, needs_guest]

SMALL = "sim:pm871b-128gb,capacity=12GB,cache.static=4GB,scale=1/32"
SCALES = {"direct": 32, "fold": 32, "qlc": 64}
"""Sizes that are found on the whole simulated drive over those of the served one."""
DRIVES = {
    "direct": (SMALL, 0.2),
    "fold": (f"{SMALL},cache.when_full=fold", 0.2),
    "qlc": ("sim:660p-1tb,capacity=32GB,cache.static=1GB,cache.dynamic=7GB,scale=1/64", 0.04),
}
"""Each drive, and how fast its clock runs: the guest, of 10^9 instructions a second, is to be faster than the drive."""
BUFFER_BYTES = 8.4e6
"""Largest write buffer of the drives: how full it is when the cache ends depends on the host."""
TOLERANCE = 0.03
"""Deviation of a speed, as a ratio."""
NVME = re.findall(r"^```bash\n(.*?)^```", (ROOT / "docs" / "nvme.md").read_text(), flags=re.S | re.M)[0]
"""Command that makes a served drive an NVMe drive."""
MODULES = """
load nbd nvmet_tcp nvme_tcp; ip link set lo up; mount -t configfs none /sys/kernel/config
"""
SERVE = """
{serve} --unix served {sysfs} --save served.run --no-report > serve.txt 2>&1 &
until grep /dev/nvme serve.txt || ! kill -0 $!; do sleep 1; done; sleep 1
"""
PROBE = "pslc probe --json /dev/nvme0n1 > /run/share/probe.json"
MEASURE = """
pslc run {suite} {short} --on /dev/nvme0n1 --destroy-data {serial} --wipe-signatures \
  --yes --no-report {sysfs} --save /run/share/{suite}
"""
QUICK = ("recovery", "overwrite")
DEPTH = 4
"""Requests under way after a pause: nvmet answers none before nbd has taken all, and 32 are a quarter of the cache."""


def measured(name: str, suite: str, folder: Path) -> tuple[pslc.Recording, pslc.Recording]:
    """A suite on a served drive, and on the simulated one."""
    drive, speed = DRIVES[name]
    serve = NVME.strip().replace("sim:sn850-1tb", drive).replace("--speed 0.1", f"--speed {speed}")
    # Of hours of idle time each look at the drive would cost.
    sysfs = "--sysfs ufs" if suite == "fill" else ""
    short = f"--quick --iodepth={DEPTH}" if suite in QUICK else ""
    serial = drive.removeprefix("sim:").partition(",")[0]
    measure = MEASURE.format(suite=suite, short=short, serial=serial, sysfs=sysfs)
    print(
        run(MODULES + SERVE.format(serve=serve, sysfs=sysfs) + PROBE + measure, folder / "share", [], skips_idle=True)
    )
    options: dict[str, Any] = {"scope": pslc.Scope(quick=True), "options": [("iodepth", str(DEPTH))]}
    return pslc.load(folder / "share" / suite), pslc.run(suite, on=drive, **options if suite in QUICK else {})


def agrees(
    recording: pslc.Recording, simulated: pslc.Recording, name: str, scale: float = 1.0, more: float = 0.0
) -> bool:
    """Whether the interval of a finding, wider by `more` to each side, holds that of the simulated drive times `scale`;
    what is not there is not found."""
    truth, findings = simulated.findings[name], recording.findings
    if truth is None or findings[name] is None:
        return truth is findings[name]
    return bool(findings[f"{name}_low"] - more <= truth * scale <= findings[f"{name}_high"] + more)


def speeds(findings: Mapping[str, Any]) -> list[float]:
    """Mean speed within the cache and behind it."""
    sides: list[list[tuple[float, float]]] = [[], []]
    for phase in findings["phases"]:
        size = phase["to_bytes"] - phase["from_bytes"]
        sides[phase["from_bytes"] >= 0.99 * findings["cache_bytes"]].append((size, size / phase["bytes_per_s"]))
    return [sum(size for size, _ in side) / sum(time for _, time in side) for side in sides]


@pytest.mark.parametrize("name", DRIVES)
def test_a_fill_finds_the_cache_and_the_speeds_of_its_profile(name, tmp_path):
    recording, simulated = measured(name, "fill", tmp_path)
    truth = simulated.findings
    assert agrees(recording, simulated, "cache_bytes", 1 / SCALES[name], BUFFER_BYTES)
    expected = [DRIVES[name][1] * speed for speed in speeds(truth)]
    assert speeds(recording.findings) == pytest.approx(expected, rel=TOLERANCE)
    device = json.loads((tmp_path / "share" / "probe.json").read_text())["device"]
    assert [device[key] for key in ("model", "bus")] == [simulated.drive, "NVMe"]
    low, high = reported_end(recording)
    assert low - BUFFER_BYTES <= truth["cache_bytes"] / SCALES[name] <= high + BUFFER_BYTES


@pytest.mark.parametrize("name", DRIVES)
def test_bursts_find_the_write_buffer(name, tmp_path):
    recording, simulated = measured(name, "burst", tmp_path)
    assert agrees(recording, simulated, "buffer_bytes")


# Of five minutes each, and alike for a drive that folds once it is full.
@pytest.mark.parametrize("name", ["direct", "qlc"])
def test_pauses_find_when_the_cache_is_emptied(name, tmp_path):
    recording, simulated = measured(name, "recovery", tmp_path)
    assert agrees(recording, simulated, "cache_bytes", 1 / SCALES[name], BUFFER_BYTES)
    threshold_s = simulated.findings["idle_threshold_s"]
    expected_s = threshold_s and pytest.approx(threshold_s / DRIVES[name][1], rel=0.05)
    assert recording.findings["idle_threshold_s"] == expected_s


@pytest.mark.parametrize("name", DRIVES)
def test_rewrites_find_what_a_small_region_does(name, tmp_path):
    recording, simulated = measured(name, "overwrite", tmp_path)
    assert recording.findings["verdict"] == simulated.findings["verdict"]


def test_the_load_of_fio_is_watched_and_a_job_of_pslc_is_as_fast(tmp_path):
    speed, share = 0.05, tmp_path / "share"
    serve = NVME.strip().replace("sim:sn850-1tb", SMALL).replace("--speed 0.1", f"--speed {speed}")
    share.mkdir()
    (share / "load.fio").write_text("[load]\nrw=write\nbs=1m\niodepth=4\ndirect=1\nioengine=io_uring\nsize=300m\n")
    job = """
    cd /run/share; pslc watch /dev/nvme0n1 --no-report --save watch & sleep 30
    fio --filename=/dev/nvme0n1 --output-format=json load.fio > fio.json
    sleep 5; kill -TERM $!; wait $!; sleep 600
    pslc run load.fio --on /dev/nvme0n1 --destroy-data pm871b-128gb --wipe-signatures --yes --no-report --save load
    """
    print(run(MODULES + SERVE.format(serve=serve, sysfs="") + job, share, [], skips_idle=True))
    truth = pslc.run("fill", on=SMALL).findings
    (fall,) = pslc.load(share / "watch").findings["falls"]
    fast, slow = (speed * each for each in speeds(truth))
    assert fall["kind"] == "write"
    assert [fall["from_bytes_per_s"], fall["to_bytes_per_s"]] == pytest.approx([fast, slow], rel=0.1)
    # It looks once a second.
    assert fall["since_pause_bytes"] == pytest.approx(truth["cache_bytes"] / SCALES["direct"], abs=2 * fast)
    by_fio = json.loads((share / "fio.json").read_text())["jobs"][0]["write"]["bw_bytes"]
    (ours,) = pslc.load(share / "load").jobs
    assert ours["write"]["io_bytes"] / ours["write"]["runtime_ns"] * 1e9 == pytest.approx(by_fio, rel=0.05)


def test_an_nvme_drive_is_taken_back_at_every_end(tmp_path):
    job = """
    left() { ls -d /sys/kernel/config/nvmet/*/* /sys/class/nvme/nvme* /sys/block/nbd*/pid 2>/dev/null | wc -l; }
    serve() {
      pslc serve disk.pslc --nvme --save /run/share/$1 --no-report > $1.txt 2>&1 &
      until grep /dev/nvme $1.txt || ! kill -0 $!; do sleep 1; done
    }
    pslc drives create disk.pslc --like pm871b-128gb > /dev/null
    serve killed; kill -9 $!; sleep 1; echo "killed: $(left) left"
    serve stopped; echo precious | dd of=/dev/nvme0n1 bs=4k conv=sync
    kill -INT $!; wait $!; echo "exit code $?, $(left) left"
    serve again; head -c 8 /dev/nvme0n1; kill -TERM $!; wait $!; echo ", exit code $?, $(left) left"
    """
    output = run(MODULES + job, tmp_path / "share", [])
    print(output)
    assert "killed: 0 left" not in output
    assert "exit code 0, 0 left" in output
    assert "precious, exit code 0, 0 left" in output
