"""Where no single plain drive lies below, or of less than 5 % of one, a write tells speeds: no cause, and no end of a
cache."""

import json
from dataclasses import replace

import pytest

import pslc
from tests.conftest import ROOT, fill

FACTS = json.loads((ROOT / "tests" / "facts_of_a_virtual_disk.json").read_text())


def on(kind: str, options: str = "rw") -> dict:
    return {"file_system": {**FACTS["file_system"], "type": kind, "options": options}}


NVME = {"bus": "nvme", "bytes": 128 * 10**9}
LOOP = {"layers": [{"name": "loop0", "kind": "loop device", "file": "/x/img", "direct": False}],
        "below": {**FACTS, "path": "/x/img", "device": {"name": "vda"}}}  # fmt: skip


def as_real(measured, facts):
    """A simulated recording as one of a real drive with these facts."""
    idle = {"cpu_ns_total": 0}
    series = {name: getattr(measured, name) for name in ("time", "bytes")}
    columns = {name: {**of, "cpu_ns_total": 0 * of["end_ns"]} for name, of in series.items()}
    return replace(measured, profile="", target="./scratch.bin", facts=facts, before=measured.before | idle,
                   totals=measured.totals | idle, **columns)  # fmt: skip


@pytest.mark.parametrize(
    ("device", "elsewhere", "told"),
    [
        (NVME, {}, "The write cache probably ends after 3.0"),
        (NVME, on("btrfs", "rw,compress=zstd:1"), "The write cache probably ends after 3.0"),
        (NVME, {"members": [{"name": "nvme0n1"}]}, "The write cache probably ends after 3.0"),
        ({"bus": "virtio"}, {}, "the device is virtual, so no cause"),
        ({"bus": "scsi", "model": "QEMU HARDDISK"}, {}, "the device is virtual, so no cause"),
        ({"bus": "SATA"}, {}, "the drive has platters and no cells, so no cause"),
        ({"bus": "SATA", "rotational": 0}, {}, "The write cache probably ends after 3.0"),
        ({"bus": "nvme", "bytes": 3200 * 10**9}, {}, "only 128 GB was written, so no cause"),
        (NVME, on("overlay"), "the file is on overlay, as a container's layers, so no cause"),
        (NVME, on("fuse.bindfs"), "the file is on fuse.bindfs, which a program serves, so no cause"),
        (NVME, on("fuseblk"), "the file is on fuseblk, which a program serves, so no cause"),
        (NVME, on("nfs4"), "the file is on nfs4, which another machine serves, so no cause"),
        (NVME, on("tmpfs"), "the file is on tmpfs, which is memory and no drive, so no cause"),
        (NVME, on("zfs"), "the file is on zfs, so no cause"),
        (NVME, {"members": [{"name": "sda"}, {"name": "sdb"}]}, "sda and sdb share the writes, so no cause"),
        (None, {}, "no drive is known behind it, so no cause"),
        ({"name": "zram0", "bus": None}, {}, "zram0 is memory that compresses, so no cause"),
        ({"name": "nbd0", "bus": None}, {}, "nbd0 is served by another program, so no cause"),
        ({"name": "loop0", "bus": None}, LOOP,
         "loop0 is a file, /x/img on ext4 on vda, in memory for lack of direct I/O, so no cause"),
    ],
)  # fmt: skip
def test_a_fall_of_the_speed_has_a_cause_only_on_a_real_drive_of_which_enough_was_written(
    device, elsewhere, told, tmp_path, command
):
    measured = fill("sim:pm871b-128gb")
    facts = {**FACTS, "device": device and {**FACTS["device"], "bytes": 128 * 10**9, **device}, **elsewhere}
    real = as_real(measured, facts)
    pslc.save(real, tmp_path / "run")
    done = command("analyze", "run")
    named = told.startswith("The write cache")
    assert told in " ".join(done.stdout.split())
    assert ("The write cache" in done.stdout) == named
    is_place = not named and "only 128 GB" not in told
    assert ("the machine is virtual" in done.stdout) != is_place
    assert " ".join(done.stdout.partition("warning:")[2].split()).count(told.partition(", so no")[0]) <= 1
    findings = json.loads(command("analyze", "run", "--json").stdout)["findings"]
    assert (findings["cache_bytes"] is not None) == named
    assert [phase["cause"] == "unknown" for phase in findings["phases"]] == [not named] * len(findings["phases"])
    assert len(findings["phases"]) > 1
    assert "whole drive" not in str(findings["phases"])


@pytest.mark.parametrize("suite", ["burst", "fill-levels", "overwrite", "recovery"])
def test_a_suite_that_asks_for_a_cache_answers_nothing_where_none_can_be_seen(suite, tmp_path, command):
    measured = pslc.run(suite, on="sim:pm871b-128gb,scale=1/16", scope=pslc.Scope(quick=True))
    for bus, is_seen in (("nvme", True), ("virtio", False)):
        device = {**FACTS["device"], "bytes": 8 * 10**9, "bus": bus}
        pslc.save(as_real(measured, {**FACTS, "device": device}), tmp_path / bus)
        findings = json.loads(command("analyze", bus, "--json").stdout)["findings"]
        answers = [value for name, value in findings.items() if name != "warnings" and value not in (None, [])]
        assert bool(answers) == is_seen
        text = " ".join(command("analyze", bus).stdout.split())
        assert ("the device is virtual, so no cause and no end of a cache is named" in text) != is_seen
        assert is_seen or "No cliff" not in text
    command.fine("compare", "virtio", "virtio")
