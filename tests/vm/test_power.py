"""The power of a machine is cut while it measures: its recording, on a file system of the kernel's own, is whole."""

import random
import subprocess

import pytest

import pslc
from tests.vm.guest import Guest, drive, image, needs_guest, run

pytestmark = [pytest.mark.vm, needs_guest]

SYSTEMS = {"ext4": ["mkfs.ext4", "-q"], "xfs": ["mkfs.xfs", "-q"]}
DRIVE_BYTES = 320 << 20
BYTES_PER_S = 20_000_000
MAX_LOST_S = 7.0
"""Seconds of a measurement that a cut may cost: pslc saves every 5 s, and the guest has one slow processor."""
MAX_CUT_S = 15
RUN = """
load virtio_blk nvme {0}; mkdir /mnt/a; mount -t {0} $(on {0}) /mnt/a
pslc run {1} --destroy-data ssd --yes --no-report; echo "exit code $?"
"""
MEASURE = f"fill --on $(on ssd) --save /mnt/a/run --rate={BYTES_PER_S}"
RESUME = "--resume /mnt/a/run --wipe-signatures"


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_power_cut_costs_seconds_of_a_recording_and_it_is_resumed(name, tmp_path):
    cut_s = random.uniform(1, MAX_CUT_S)
    share = tmp_path / "share"
    subprocess.run([*SYSTEMS[name], image(tmp_path / f"{name}.img", 320 << 20)], check=True)
    words = [
        *drive(tmp_path / f"{name}.img", f"virtio-blk-pci,serial={name}"),
        *drive(image(tmp_path / "ssd.img", DRIVE_BYTES), "nvme,serial=ssd"),
    ]
    with Guest(RUN.format(name, MEASURE), share, words) as guest:
        guest.wait_for(lambda: guest.written("ssd") > cut_s * BYTES_PER_S)
        guest.ask("stop")
        written = guest.written("ssd")
        guest.cut()
    job = RUN.format(name, RESUME).replace("pslc", "cp -r /mnt/a/run /run/share/cut; pslc", 1)
    output = run(f"{job} cp -r /mnt/a/run /run/share/resumed", share, words)
    recording = pslc.load(share / "cut")
    print(f"{recording.written_bytes} of {written} bytes are recorded\n{output}")
    assert recording.written_bytes > written - MAX_LOST_S * BYTES_PER_S
    assert "exit code 0" in output
    assert pslc.load(share / "resumed").written_bytes == DRIVE_BYTES
