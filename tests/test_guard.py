"""The guard: a block device is written only when nothing can be lost by mistake. On loop devices, which need root."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import pslc
from pslc.device.target import RealOptions
from pslc.recording import store
from tests.loops import MB, Loop, ext4, loop_over, mounted, noise, reason, sh

pytestmark = pytest.mark.skipif(reason() is not None, reason=str(reason()))


@pytest.fixture
def loop(tmp_path):
    with loop_over(noise(tmp_path / "drive.img")) as made:
        yield made


def run(loop: Loop, serial: str | None = None, wipe: bool = False) -> pslc.Recording:
    real = RealOptions(destroy_data=serial or str(loop.image), wipe_signatures=wipe)
    return pslc.run("fill", on=loop.path, real=real, options=[("io_size", "8m")])


def refused(loop: Loop, code: str, what: str, **given) -> None:
    """The run is refused with this code and for this reason, and no byte is another."""
    before = loop.hash()
    with pytest.raises(pslc.PslcError, match=what) as caught:
        run(loop, **given)
    assert "\n\nhint: " in str(caught.value)
    assert caught.value.code == code
    assert loop.hash() == before


def test_a_device_is_measured_with_its_own_serial_number(loop):
    recording = run(loop)
    assert recording.written_bytes == 8 * MB
    assert recording.capacity_bytes == 64 * MB
    assert recording.error is None


def test_without_the_flag_nothing_is_written(loop, command):
    before = loop.hash()
    for jobs in (["fill"], ["--name=r", "--rw=read", "--size=1m", "--readonly"]):
        done = command.refused("run", *jobs, "--on", loop.path)
        assert "takes your consent to lose everything on it" in done.stderr
    assert loop.hash() == before


def test_a_wrong_serial_number_is_refused(loop):
    refused(loop, "device-wrong-serial", "is not that of this drive", serial="S4EVNX0M123456")


def test_a_mounted_device_is_refused(loop, tmp_path):
    ext4(loop.path)
    # A writable file system changes bytes by itself.
    with mounted(loop.path, tmp_path / "mount", "-o", "ro") as point:
        refused(loop, "device-in-use", f"is mounted at {point}", wipe=True)


def test_a_device_with_a_file_system_is_refused_unless_that_may_go_too(loop):
    ext4(loop.path)
    refused(loop, "device-has-signatures", "ext4 file system")
    assert run(loop, wipe=True).error is None
    refused(loop, "device-has-signatures", "bytes that look random")


def test_a_device_of_which_a_partition_is_in_use_is_refused(loop, tmp_path):
    # One Linux partition from 1 MiB to 33 MiB in a partition table of the old kind.
    entry = b"\0\0\0\0\x83\0\0\0" + (2048).to_bytes(4, "little") + (65536).to_bytes(4, "little")
    with open(loop.path, "r+b") as device:
        device.seek(446)
        device.write(entry + b"\0" * 48 + b"\x55\xaa")
    sh("losetup", "-d", loop.path)
    loop.path = sh("losetup", "-P", "-f", "--show", loop.image)
    part = Path(f"{loop.path}p1")
    if not part.exists():
        pytest.skip("this machine makes no partitions of loop devices")
    ext4(part)
    refused(loop, "device-has-signatures", "dos partition table")
    with pytest.raises(pslc.PslcError, match="is a partition"):
        pslc.run("fill", on=str(part), real=RealOptions(destroy_data=str(loop.image), wipe_signatures=True))
    with mounted(part, tmp_path / "mount", "-o", "ro") as point:
        refused(loop, "device-in-use", f"{part.name} is mounted at {point}", wipe=True)


def test_a_device_behind_another_is_refused(loop):
    other = sh("losetup", "-f", "--show", loop.path)
    try:
        refused(loop, "device-in-use", f"is behind {Path(other).name}")
    finally:
        sh("losetup", "-d", other)


def test_swap_is_refused(loop):
    if shutil.which("mkswap") is None:
        pytest.skip("mkswap is not installed")
    sh("mkswap", loop.path)
    if subprocess.run(["swapon", loop.path], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine allows no swap")
    try:
        # The kernel may write to what lies behind the header.
        with open(loop.path, "rb") as device:
            before = device.read(4096)
        with pytest.raises(pslc.PslcError, match="is swap space"):
            run(loop, wipe=True)
        with open(loop.path, "rb") as device:
            assert device.read(4096) == before
    finally:
        sh("swapoff", loop.path)


def test_a_device_that_is_open_for_itself_elsewhere_is_refused(loop):
    held = os.open(loop.path, os.O_RDONLY | os.O_EXCL)
    try:
        refused(loop, "device-in-use", rf"is held open by process {os.getpid()} \(")
    finally:
        os.close(held)


def test_a_device_inside_device_mapper_is_refused(loop):
    if shutil.which("dmsetup") is None:
        pytest.skip("dmsetup is not installed")
    if not Path("/dev/mapper/control").exists():
        pytest.skip("this machine has no device mapper")
    try:
        sh("dmsetup", "create", "pslc-test", "--table", f"0 {64 * MB // 512} linear {loop.path} 0")
    except subprocess.CalledProcessError:
        pytest.skip("this machine has no device mapper")
    try:
        refused(loop, "device-in-use", "is held by", wipe=True)
    finally:
        sh("dmsetup", "remove", "pslc-test")


def test_a_file_is_not_opened_as_a_device_nor_a_device_as_a_file(loop, tmp_path):
    with pytest.raises(pslc.PslcError, match="is not a block device"):
        pslc.run("fill", on=str(tmp_path / "x"), real=RealOptions(size=8 * MB, destroy_data="1"))
    before = loop.hash()
    with pytest.raises(pslc.PslcError, match="consent to lose everything on it"):
        pslc.run("fill", on=loop.path, real=RealOptions(reuse=True))
    assert loop.hash() == before


def test_a_dry_run_of_a_device_says_that_it_erases_and_does_not(loop, command):
    before = loop.hash()
    done = command.fine("run", "fill", "--on", loop.path, "--destroy-data", str(loop.image), "--dry-run")
    assert f"ERASES {loop.path}" in done.stdout
    assert "2 steps" in done.stdout, "it is made to forget everything before it is filled"
    assert f"as fio: fio --name=forget --filename={loop.path}" in done.stdout
    assert loop.hash() == before


def test_trim_reaches_the_device(loop, tmp_path):
    job = tmp_path / "trim.fio"
    job.write_text("[trim]\nrw=trim\nbs=1m\noffset=8m\nsize=16m\n")
    assert any(Path(loop.path).read_bytes()[8 * MB : 24 * MB])
    recording = pslc.run(job, on=loop.path, real=RealOptions(destroy_data=str(loop.image)))
    assert recording.error is None
    sh("blockdev", "--flushbufs", loop.path)
    assert not any(Path(loop.path).read_bytes()[8 * MB : 24 * MB])


def test_the_same_body_runs_on_every_kind_of_target(loop, tmp_path):
    """Conformance: the same job moves the same bytes and gives a recording of the same shape everywhere."""
    job = tmp_path / "body.fio"
    job.write_text(
        "[global]\ndirect=1\nsize=16m\n"
        "[write]\nrw=write\nbs=256k\nioengine=io_uring\niodepth=8\nend_fsync=1\n"
        "[mix]\nstonewall\nrw=randrw\nrwmixread=60\nbs=4k\nioengine=libaio\niodepth=16\nfsync=50\n"
        "[trim]\nstonewall\nrw=trim\nbs=1m\n"
    )
    targets = {
        "sim:pm871b-128gb": None,
        str(tmp_path / "scratch"): RealOptions(size=64 * MB),
        loop.path: RealOptions(destroy_data=str(loop.image)),
    }
    seen = []
    for on, real in targets.items():
        recording = pslc.run(job, on=on, seed=5, real=real)
        assert recording.error is None, on
        series = recording.bytes
        assert series["write_bytes"].sum() == recording.written_bytes
        assert (series["end_ns"][1:] >= series["end_ns"][:-1]).all()
        counts = [[job[kind]["total_ios"] for kind in ("read", "write", "trim", "sync")] for job in recording.jobs]
        store.save(recording, tmp_path / f"run-{len(seen)}")
        assert store.load(tmp_path / f"run-{len(seen)}").document() == json.loads(json.dumps(recording.document()))
        seen.append((recording.written_bytes, recording.read_bytes, counts))
    assert seen[0] == seen[1] == seen[2]
