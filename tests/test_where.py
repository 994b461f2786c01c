"""The place of a scratch file: its file system, the drives below it, and what of a measurement there is no drive's."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from pslc.device import probe
from pslc.recording import warnings as checks
from pslc.recording.place import doubt, down, own_traffic
from pslc.watch.telemetry import file_systems
from tests.conftest import ROOT
from tests.loops import MB, loop_over, mounted, reason, sh

needs_loops = pytest.mark.skipif(reason() is not None, reason=str(reason()))


def sparse(image: Path, size: int = 512 * MB) -> Path:
    """A file of that size that takes no room."""
    with image.open("wb") as file:
        file.truncate(size)
    return image


def direct_io(name: str, how: str) -> None:
    """Have a loop device read and write its file past the page cache, or through it."""
    done = subprocess.run(["losetup", f"--direct-io={how}", f"/dev/{name}"], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this file system has no direct I/O for loop devices")


MAKERS = {
    "btrfs": ["mkfs.btrfs", "-q", "-f"], "ext4": ["mkfs.ext4", "-q", "-F"], "xfs": ["mkfs.xfs", "-q", "-f"],
    "f2fs": ["mkfs.f2fs", "-q", "-f"], "vfat": ["mkfs.vfat"], "exfat": ["mkfs.exfat"],
}  # fmt: skip


@pytest.fixture
def place(tmp_path):
    """Make a file system on loop devices and mount it: the names of the devices, and the folder."""
    with ExitStack() as stack:

        def make(kind: str, *options: str, count: int = 1, size: int = 512 * MB, flags=()):
            if shutil.which(MAKERS[kind][0]) is None:
                pytest.skip(f"{MAKERS[kind][0]} is not installed")
            images = [sparse(tmp_path / f"{number}.img", size) for number in range(count)]
            devices = [stack.enter_context(loop_over(image)).path for image in images]
            for device in devices:
                direct_io(Path(device).name, "on")
            sh(*MAKERS[kind], *options, *devices)
            if kind not in Path("/proc/filesystems").read_text().split():
                pytest.skip(f"this kernel has no {kind}")
            folder = stack.enter_context(mounted(devices[0], tmp_path / "mounted here", *flags))
            return [Path(device).name for device in devices], folder

        yield make


@needs_loops
@pytest.mark.parametrize("kind", MAKERS)
def test_each_file_system_is_found_with_its_drive(kind, place):
    (name,), folder = place(kind)
    facts = probe.facts(folder / "scratch.bin")
    assert facts["file_system"] == facts["file_system"] | {"type": kind, "mount": str(folder), "source": f"/dev/{name}"}
    assert (facts["stack"], facts["device"]["name"]) == ([name], name)
    (folder / "deeper").mkdir()
    assert probe.facts(folder / "deeper")["file_system"] == probe.facts(folder)["file_system"]
    assert [system["mount"] for system in file_systems(name)] == [str(folder)]


@needs_loops
def test_a_subvolume_and_several_drives_of_btrfs_are_found(place):
    devices, folder = place("btrfs", "-d", "raid0", count=2)
    sh("btrfs", "-q", "subvolume", "create", folder / "home")
    facts = probe.facts(folder / "home" / "scratch.bin")
    assert facts["file_system"]["type"] == "btrfs"
    assert (facts["device"], facts["stack"], probe.drives(facts)) == (None, sorted(devices), sorted(devices))
    assert os.stat(folder / "home").st_dev != os.stat(folder).st_dev, "btrfs numbers its subvolumes"


def measure(command, folder: Path, *words: str, size="64MB") -> dict:
    """A fill of a scratch file in a folder, which leaves nothing there: its document."""
    before = sorted(folder.iterdir())
    command.fine("run", "fill", "--on", str(folder / "scratch.bin"), "--size", size, "--yes", "--save", "out", *words)
    assert sorted(folder.iterdir()) == before
    return json.loads(Path(command.folder, "out", "run.json").read_text())


def assert_speeds_only(document: dict, why: str) -> None:
    findings, text = document["findings"], json.dumps(document)
    assert {phase["cause"] for phase in findings["phases"]} == {"unknown"}
    assert (findings["cache_bytes"], findings["cache_bytes_low"]) == (None, None)
    assert f"{why}, so no cause and no end of a cache is named" in text
    assert "whole drive" not in str(findings["phases"])


DRIVES = {"nvme0n1": 2000, "sda": 4_000_000, "sdb": 6_000_000}
STACKS = {
    "an encrypted volume": (
        {"dm-1": ["dm-0"], "dm-0": ["nvme0n1"]},
        "ext4 on LVM (dm-1) on encryption (dm-0) on nvme0n1",
        "the file system reaches the drive through LVM (dm-1), encryption (dm-0): cryptsetup benchmark says what it",
    ),
    "a thin volume": (
        {"dm-4": ["dm-3"], "dm-3": ["dm-1", "dm-2"], "dm-1": ["sdb"], "dm-2": ["sda"]},
        "ext4 on LVM (dm-4, dm-3, dm-1, dm-2) on sdb (3.07 GB) and sda (2.05 GB)",
        "the file system reaches the drive through LVM (dm-4, dm-3, dm-1, dm-2): measure without it",
    ),
    "an array": (
        {"md0": ["sda", "sdb"]},
        "ext4 on raid0 (md0) on sda (2.05 GB) and sdb (3.07 GB)",
        "the file system reaches the drive through raid0 (md0): measure without it",
    ),
    "a plain drive": ({"nvme0n1": []}, "ext4 on nvme0n1", None),
}


@pytest.mark.parametrize("case", STACKS)
def test_a_stack_is_named_layer_by_layer_down_to_every_drive(case, tmp_path, monkeypatch):
    tree, way, warning = STACKS[case]
    for name in {**tree, **DRIVES}:
        (tmp_path / "block" / name / "slaves").mkdir(parents=True)
    for name, size in DRIVES.items():
        (tmp_path / "block" / name / "size").write_text(f"{size}\n")
    for name, below in tree.items():
        if name.startswith("dm-"):
            uuid = "CRYPT-LUKS2-5f" if below == ["nvme0n1"] else "LVM-Qx"
            (tmp_path / "block" / name / "dm").mkdir()
            (tmp_path / "block" / name / "dm" / "uuid").write_text(f"{uuid}\n")
        if name.startswith("md"):
            (tmp_path / "block" / name / "md").mkdir()
            (tmp_path / "block" / name / "md" / "level").write_text("raid0\n")
        for member in below:
            (tmp_path / "block" / name / "slaves" / member).symlink_to(tmp_path / "block" / member)
    (tmp_path / "dev" / "block").mkdir(parents=True)
    (tmp_path / "dev" / "block" / "9:0").symlink_to(tmp_path / "block" / next(iter(tree)))
    monkeypatch.setattr(probe, "SYS", tmp_path)
    system = {"type": "ext4", "mount": "/", "source": "/dev/x", "options": "rw", "bytes": 0, "free_bytes": 0}
    facts = probe._on_linux(system, [os.makedev(9, 0)])
    assert down(facts) == way
    assert [text.startswith(warning) for text in checks._of_its_layers(facts)] == ([True] if warning else [])
    assert (doubt(facts) is None) == (len(probe.drives(facts)) == 1)
    assert ("twice" in (own_traffic(facts) or "")) == (case == "a thin volume")


@needs_loops
@pytest.mark.parametrize("is_direct", [False, True])
def test_a_loop_device_is_followed_to_the_drive_behind_its_file(is_direct, place, command, tmp_path):
    (name,), folder = place("ext4")
    direct_io(name, "on" if is_direct else "off")
    facts = probe.facts(folder)
    assert facts["layers"] == [
        {"name": name, "kind": "loop device", "file": str(tmp_path / "0.img"), "direct": is_direct}
    ]
    here = probe.facts(tmp_path)
    assert (probe.drives(facts["below"]), facts["below"]["stack"]) == (probe.drives(here), here["stack"])
    memory = "" if is_direct else ", in memory for lack of direct I/O"
    image = tmp_path / "0.img"
    assert_speeds_only(measure(command, folder), f"{name} is a file, {image} on {down(here)}{memory}")
    assert f"place: ext4 on {name} ({image} on {down(here)})" in command.fine("probe", str(folder)).stdout


@needs_loops
def test_an_overlay_is_followed_to_its_upper_layer(place, command, tmp_path):
    (name,), folder = place("ext4")
    layers = {key: folder / key for key in ("lowerdir", "upperdir", "workdir")}
    for layer in layers.values():
        layer.mkdir()
    options = ",".join(f"{key}={layer}" for key, layer in layers.items())
    with mounted("overlay", tmp_path / "over", "-t", "overlay", "-o", options) as over:
        facts = probe.facts(over)
        assert facts["below"]["stack"] == [name]
        assert_speeds_only(
            measure(command, over), f"the file is on overlay, whose upper layer is on {down(facts['below'])}"
        )


@needs_loops
@pytest.mark.parametrize(("kind", "flags", "mark"), [("ext4", [], ""), ("ext4", ["-o", "data=journal"], ""),
                                                     ("btrfs", [], ""), ("btrfs", [], "+C")])  # fmt: skip
def test_writes_that_went_through_memory_are_told_by_the_kernel(kind, flags, mark, place, command):
    _, folder = place(kind, flags=flags)
    if mark:
        sh("chattr", mark, folder)
    document = measure(command, folder)
    codes = {warning["code"] for warning in document["warnings"]}
    assert "other-traffic" not in codes
    if kind == "btrfs" and not mark and "through-memory" not in codes:
        pytest.skip("this kernel has btrfs write past memory with checksums, too")
    assert ("through-memory" in codes) == ((kind, mark) == ("btrfs", "") or bool(flags))


@needs_loops
@pytest.mark.parametrize("kind", ["ext4", "vfat", "exfat"])
def test_a_stick_has_room_and_is_written_once(kind, place, command):
    _, folder = place(kind)
    free = os.statvfs(folder)
    kept = 512 * MB * 0.1
    done = command.refused("run", "fill", "--on", str(folder / "scratch.bin"), "--size", "500MB", "--yes")
    assert "is kept (10 % of the file system)" in done.stderr
    limit_mb = int(re.search(r"--size=(\d+)MB at most", done.stderr)[1])
    assert limit_mb == pytest.approx((free.f_bavail * free.f_frsize - kept) / 1e6, abs=6)
    document = measure(command, folder, size=f"{limit_mb // 2}MB")
    sh("sync", "-f", folder)
    counts = document["facts"]["disk_counts"]
    assert 512 * (counts["after"][6] - counts["before"][6]) < 1.05 * document["written_bytes"]
    assert "other-traffic" not in {warning["code"] for warning in document["warnings"]}


@needs_loops
@pytest.mark.skipif(not Path("/dev/fuse").exists(), reason="this kernel has no FUSE")
@pytest.mark.parametrize("direct", ["0", "1"])
def test_a_file_system_that_forgets_a_file_without_a_name_is_measured(direct, command, tmp_path):
    folder = tmp_path / "forgetful"
    folder.mkdir()
    words = [sys.executable, str(ROOT / "tests" / "forgetful.py"), str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        try:
            document = measure(command, folder, f"--direct={direct}")
        finally:
            sh("umount", folder)
    assert document["written_bytes"] == 64_000_000 // MB * MB
    assert_speeds_only(document, "the file is on fuse.forgetful, which a program serves")


@needs_loops
def test_a_file_system_without_a_size_is_refused_by_its_name(command, tmp_path):
    with mounted("none", tmp_path / "ram", "-t", "ramfs") as folder:
        done = command.refused("run", "fill", "--on", str(folder / "scratch.bin"), "--size", "64MB", "--yes")
        assert "is on ramfs, which tells no size" in done.stderr
        assert list(folder.iterdir()) == []


@needs_loops
def test_each_drive_of_several_is_counted(place, command):
    devices, folder = place("btrfs", "-m", "raid1", "-d", "raid1", count=2)
    document = measure(command, folder)
    assert_speeds_only(document, f"{' and '.join(sorted(devices))} share the writes")
    counts = document["facts"]["member_counts"]
    assert [drive["name"] for drive in counts] == sorted(devices)
    for drive in counts:
        written = 512 * (drive["after"][6] - drive["before"][6])
        assert written == pytest.approx(document["written_bytes"], rel=0.1)
    assert "own-traffic" in {warning["code"] for warning in document["warnings"]}


@needs_loops
@pytest.mark.parametrize("count", [1, 2])
def test_a_folder_is_watched_on_its_drives(count, place, command, tmp_path):
    devices, folder = place("btrfs", count=count)
    done = command.fine("watch", str(folder), "--for", "1s", "--save", "watched", "--no-report")
    saved = [tmp_path / "watched" / name for name in sorted(devices)] if count > 1 else [tmp_path / "watched"]
    documents = [json.loads((of / "run.json").read_text()) for of in saved]
    assert [document["facts"]["device"]["name"] for document in documents] == sorted(devices)
    assert [[of["mount"] for of in document["facts"]["watch"]["file_systems"]] for document in documents] == [
        [str(folder)]
    ] * count
    assert ("of the pool" in done.stdout) == (count > 1)


@needs_loops
def test_a_folder_below_which_no_drive_is_seen_is_not_watched(command, tmp_path):
    with mounted("none", tmp_path / "memory", "-t", "tmpfs") as folder:
        done = command.refused("watch", str(folder), "--for", "1s")
        assert f"no drive is seen below {folder}: it is tmpfs" in done.stderr
