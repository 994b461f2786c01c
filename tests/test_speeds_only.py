"""Of a virtual device, or less than 5 % of a drive, a write tells speeds: no cause, and no end of a cache."""

import json
from dataclasses import replace

import pytest

import pslc
from tests.conftest import ROOT, fill

FACTS = json.loads((ROOT / "tests" / "facts_of_a_virtual_disk.json").read_text())


@pytest.mark.parametrize(
    ("device", "told"),
    [
        ({"bus": "nvme", "bytes": 128 * 10**9}, "The write cache probably ends after 3.0"),
        ({"bus": "virtio", "bytes": 128 * 10**9}, "the device is virtual, so no cause"),
        ({"bus": "scsi", "model": "QEMU HARDDISK", "bytes": 128 * 10**9}, "the device is virtual, so no cause"),
        ({"bus": "nvme", "bytes": 3200 * 10**9}, "only 128 GB was written, so no cause"),
    ],
    ids=["a whole drive", "virtio", "an emulated disk", "a 25th of a drive"],
)
def test_a_fall_of_the_speed_has_a_cause_only_on_a_real_drive_of_which_enough_was_written(
    device, told, tmp_path, command
):
    measured = fill("sim:pm871b-128gb")
    facts = {**FACTS, "device": {**FACTS["device"], **device}}
    idle = {"cpu_ns_total": 0}
    series = {name: getattr(measured, name) for name in ("time", "bytes")}
    columns = {name: {**of, "cpu_ns_total": 0 * of["end_ns"]} for name, of in series.items()}
    real = replace(measured, profile="", target="./scratch.bin", facts=facts, before=measured.before | idle,
                   totals=measured.totals | idle, **columns)  # fmt: skip
    pslc.save(real, tmp_path / "run")
    done = command("analyze", "run")
    named = told.startswith("The write cache")
    assert told in " ".join(done.stdout.split())
    assert ("The write cache" in done.stdout) == named
    findings = json.loads(command("analyze", "run", "--json").stdout)["findings"]
    assert (findings["cache_bytes"] is not None) == named
    assert [phase["cause"] == "unknown" for phase in findings["phases"]] == [not named] * len(findings["phases"])
    assert len(findings["phases"]) > 1
