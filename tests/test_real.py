"""Real drives from the command line: a file on the drive under this folder."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pslc
from pslc.analysis import CAUSES
from pslc.base import words
from pslc.device import condition, probe
from pslc.device.target import RealOptions, find_target
from pslc.recording import store
from pslc.recording import warnings as checks
from pslc.runner.plan import _part, plan
from pslc.schema.health import SMARTCTL, health, troubles
from tests.conftest import ROOT, fill

MB = 1 << 20
PSLC = str(Path(sys.executable).parent / "pslc")


def test_a_fill_of_a_scratch_file_is_recorded_and_leaves_nothing_behind(command, tmp_path):
    done = command.fine("run", "fill", "--on", "./scratch.bin", "--size", "200MB", "--save", "out")
    assert "plan: writes 199 MB" in done.stderr
    assert "./scratch.bin && fio --name=fill --filename=./scratch.bin" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
    document = json.loads((tmp_path / "out" / "run.json").read_text())
    # Whole MiB, as the requests are.
    assert document["written_bytes"] == 200_000_000 // 2**20 * 2**20
    assert document["facts"]["engine"] in ("io_uring", "threads")
    assert document["facts"]["host"]["cores"] == os.cpu_count()
    assert document["facts"]["engine_ceiling_iops"] > 10_000
    assert document["findings"]["phases"][0]["cause"] in CAUSES
    page = (tmp_path / "out" / "report.html").read_text()
    assert "on a real drive" in page
    assert 'id="occupancy"' not in page


def test_threads_in_the_place_of_io_uring_are_said(command, tmp_path):
    # Root may lock all memory, unless it gives that right (CAP_IPC_LOCK) away.
    start = (
        "import ctypes, resource, sys; resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0));"
        "ctypes.CDLL(None).prctl(24, 14, 0, 0, 0); import os; os.execv(sys.argv[1], sys.argv[1:])"
    )
    job = ["--name=x", "--ioengine=io_uring", "--rw=randwrite", "--bs=4k", "--time_based", "--runtime=1"]
    words = [PSLC, "run", *job, "--on", "./scratch.bin", "--size", "64MB", "--yes", "--save", "out"]
    done = subprocess.run([sys.executable, "-c", start, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "out" / "run.json").read_text())
    if document["facts"]["engine"] == "io_uring":
        pytest.skip("this kernel does not count a ring as locked memory")
    assert document["facts"]["engine_substitutes"] == "locked memory: ulimit -l 0"
    (sentence,) = [of["text"] for of in document["warnings"] if of["code"] == "engine-substitute"]
    assert sentence.startswith("io_uring is not to be had (locked memory: ulimit -l 0), so threads take its place")
    assert sentence in " ".join(done.stdout.split())
    assert done.stderr.count(sentence) == 1, "at the start, too"
    # Each table and picture of it names the engine.
    engine = document["facts"]["engine"]
    recording = pslc.load(tmp_path / "out")
    assert f", through {engine}" in done.stdout
    assert f", through {engine}, " in recording.conditions
    assert set(recording.to_polars()["engine"]) == {engine}
    header, first = command.fine("export", "out", "--as", "csv", "-o", "-").stdout.splitlines()[:2]
    assert (header.split(",")[-1], first.split(",")[-1]) == ("engine", engine)
    assert f"on ./scratch.bin through {engine}" in command.fine("compare", "out", "out").stdout
    assert f"engine,{engine},{engine}," in command.fine("compare", "out", "out", "--table", "csv").stdout
    assert json.loads(command.fine("compare", "out", "out", "--json").stdout)["sides"][0]["engine"] == engine


@pytest.mark.parametrize(
    ("share", "said"), [(0.0002, "less than 0.1 % of"), (0.0316, "3.2 % of"), (0.5, "50.0 % of"), (2.2, "2.2 times")]
)
def test_a_part_of_a_drive_is_never_nothing(share, said):
    assert _part(share) == said


def test_a_dry_run_prints_the_plan_and_makes_nothing(command, tmp_path):
    done = command.fine("run", "fill", "--on", "./scratch.bin", "--size", "200MB", "--dry-run")
    assert "plan: uses a file of 200 MB" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("log", [
    {"nvme_smart_health_information_log": {"percentage_used": 4, "data_units_written": 100_000}},
    {"percent_used": 4, "data_units_written": 100_000},
])  # fmt: skip
def test_a_plan_says_what_share_of_the_drive_s_life_it_takes(log, monkeypatch, tmp_path):
    # 51.2 GB were 4 % of it.
    target = find_target(str(tmp_path / "x.bin"), RealOptions(size=64 * MB))
    target.facts["device"] = {"name": "nvme0n1", "bytes": 10**12}
    monkeypatch.setattr(probe, "smart", lambda name: log)
    said = plan(target, ["[w]\nrw=write\nbs=1m\nsize=64m\n"], "w.fio", []).sentences
    assert any("; 0.01 % of the 1280 GB it endures by its own wear counter" in line for line in said), said
    for fresh in (None, {}, {"percentage_used": 0, "data_units_written": 5}, {"percentage_used": 3}):
        assert probe.endurance_bytes(health(fresh)) is None


@pytest.mark.parametrize(("virtual", "expected"), [(False, "447 ms to 671 ms"), (True, "22.4 ms to 671 ms")])
def test_a_plan_takes_no_less_than_its_link(virtual, expected, tmp_path):
    target = find_target(str(tmp_path / "x.bin"), RealOptions(size=64 * MB))
    target.facts["device"] = {"name": "sda", "bytes": 10**12, "link_speed": "1.5 Gbps", "link_width": 1}
    target.facts["host"]["virtual"] = virtual
    sentences = plan(target, ["[w]\nrw=write\nbs=1m\nsize=64m\n"], "w.fio", []).sentences
    assert f"takes {expected} for the writes" in sentences


PLANNED = (ROOT / "tests/fixtures/texts/planned.fio").read_text()


def test_the_command_that_a_plan_names_does_the_same(command, tmp_path):
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    (tmp_path / "data.bin").write_bytes(bytes(8 << 20))
    (tmp_path / "j.fio").write_text(PLANNED)
    on = ("--on", "./data.bin", "--overwrite-file", "data.bin")
    plan = command("run", "j.fio", *on, "--dry-run", "--fsync=8").stdout
    line = plan.split("as fio: ")[1].strip()
    theirs = subprocess.run(
        [*shlex.split(line), "--output-format=json"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    ours = command("run", "j.fio", *on, "--yes", "--output-format=fio", "--fsync=8")
    jobs = [json.loads(done.stdout[done.stdout.index("{") :])["jobs"] for done in (theirs, ours)]
    for their, our in zip(*jobs, strict=True):
        assert their["jobname"] == our["jobname"]
        for kind in ("read", "write", "sync"):
            assert their[kind]["total_ios"] == our[kind]["total_ios"]
        assert their["job options"]["ioengine"] == "libaio"
    assert [(job["read"]["io_bytes"], job["write"]["io_bytes"]) for job in jobs[0]] == [(0, 65536), (4 << 20, 0)]


ERRORS = {
    "no size": (["--on", "./scratch.bin"], "--size 20GB"),
    "no unit": (["--on", "./scratch.bin", "--size", "20"], "a number with a unit"),
    "no such unit": (["--on", "./scratch.bin", "--size", "20G"], "a number with a unit"),
    "too large": (["--on", "./scratch.bin", "--size", "4000TB"], "are free beyond what is kept"),
    "a folder": (["--on", "./", "--size", "1GB"], "is a folder"),
    "no folder": (["--on", "./none/scratch.bin", "--size", "1GB"], "no such folder"),
    "nothing to reuse": (["--on", "./scratch.bin", "--reuse"], "does not exist, but --reuse"),
    "a serial for a file": (["--on", "./scratch.bin", "--size", "1GB", "--destroy-data", "X"], "is not a block device"),
    "small requests": (["--on", "./scratch.bin", "--size", "64MB", "--offset=100"], "a multiple of "),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_says_what_next_and_makes_nothing(case, command, tmp_path):
    arguments, expected = ERRORS[case]
    done = command.refused("run", "fill", *arguments)
    assert expected in done.stderr
    assert "\n\nhint: " in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_exists_is_taken_only_with_reuse_and_stays(command, tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(b"precious" * (4 * MB // 8))
    done = command.refused("run", "fill", "--on", "./data.bin", "--size", "4MB")
    assert "is not overwritten" in done.stderr
    assert path.read_bytes() == b"precious" * (4 * MB // 8)
    assert "add --reuse" in command.refused("run", "fill", "--on", "./data.bin").stderr
    for name in ("mine.toml", "mine.pslc", "mine.csv", "mine.json"):
        (tmp_path / name).write_text("work")
        assert "--reuse" not in command.refused("run", "fill", "--on", f"./{name}").stderr
    named = ("--overwrite-file", "data.bin", "--json")
    command.fine("run", "fill", "--on", "./data.bin", *named)
    assert path.stat().st_size == 4 * MB
    assert b"precious" not in path.read_bytes()
    real = RealOptions(overwrite_file="data.bin")
    slow = {"real": real, "options": [("rate", "4m"), ("iodepth", "1")]}
    recording = pslc.run("fill", on=str(path), **slow, progress=lambda _: path.unlink(missing_ok=True) is None)
    assert any("data.bin was removed or replaced during the run" in warning for warning in recording.warnings)


def test_reads_of_nothing_end_the_run_and_keep_the_recording(command, tmp_path):
    (tmp_path / "read.fio").write_text("[w]\nrw=write\nbs=1m\nsize=8m\ndirect=1\n[r]\nstonewall\nrw=read\nsize=16m\n")
    done = command.refused("run", "read.fio", "--on", "./scratch.bin", "--size", "64MB", "--save", "out", "--no-layout")
    assert "nothing was ever written there" in done.stderr
    assert "remove --no-layout" in done.stderr
    recording = store.load(tmp_path / "out")
    assert recording.written_bytes == 8 * MB
    assert recording.error is not None
    assert any("ended early" in warning for warning in recording.findings["warnings"])


def test_a_full_file_system_ends_the_run_and_keeps_the_recording(tmp_path):
    """ENOSPC, on a sparse file that the file system has no room for."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("mkfs.ext4 is not installed")
    image, point = tmp_path / "small.img", tmp_path / "mount"
    with image.open("wb") as file:
        file.truncate(32 * MB)
    point.mkdir()
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True, capture_output=True)
    if subprocess.run(["mount", "-o", "loop", image, point], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine mounts no loop devices")
    try:
        with (point / "sparse").open("wb") as file:
            file.truncate(128 * MB)
        sparse, one = str(point / "sparse"), [("iodepth", "1")]
        recording = pslc.run("fill", on=sparse, real=RealOptions(overwrite_file="sparse"), options=one)
        assert recording.error is not None
        assert "No space left" in recording.error
        assert recording.error_code == "run-no-room"
        assert "at offset" in recording.error
        assert 0 < recording.written_bytes < 32 * MB
    finally:
        subprocess.run(["umount", point], check=True)


def test_the_page_cache_raises_a_warning(command, tmp_path):
    (tmp_path / "cached.fio").write_text("[a]\nrw=write\nbs=1m\nsize=16m\n")
    done = command("run", "cached.fio", "--on", "./scratch.bin", "--size", "32MB", "--json", "--zero_buffers")
    warned = [warning["text"] for warning in json.loads(done.stdout)["warnings"]]
    assert any("job a went through the page cache: give direct=1" in warning for warning in warned)
    assert any("data that compress (zero_buffers)" in warning for warning in warned)


def test_probe_tells_of_the_drive_and_says_unknown_where_it_is(command, tmp_path):
    done = command.fine("probe", str(tmp_path))
    for word in ("file system", "device", "host", "power", "kernel"):
        assert word in done.stdout
    document = json.loads(command("probe", str(tmp_path), "--json").stdout)
    assert document["file_system"]["mount"]
    assert set(document["host"]) == {"kernel", "cpu", "cores", "governor", "huge_pages", "virtual"}
    size = document["file_system"]["bytes"]
    assert re.search(rf"^  size +{re.escape(words.size(size))}$", done.stdout, re.MULTILINE)
    assert "_" not in "".join(line[:26] for line in done.stdout.splitlines() if line.startswith("  "))
    assert str(size) not in done.stdout
    missing = command.refused("probe", "/dev/nvme99n9")
    assert "no such file or device" in missing.stderr


HEALTHY = {
    "path": "/x",
    "file_system": {
        "type": "ext4", "mount": "/", "source": "/dev/nvme0n1p1", "options": "rw",
        "bytes": 10**12, "free_bytes": 9 * 10**11,
    },
    "stack": ["nvme0n1p1", "nvme0n1"],
    "partition_start_bytes": 1 << 20,
    "device": {
        "name": "nvme0n1", "link_speed": "16.0 GT/s", "link_speed_max": "16.0 GT/s", "link_width": 4,
        "link_width_max": 4, "write_cache": "write back", "requests_in_flight": 0, "physical_block_bytes": 4096,
        "scheduler": "none",
    },
    "host": {"virtual": False, "governor": "performance", "huge_pages": "madvise"},
    "power": {"nvme_ps_max_latency_us": 0},
}  # fmt: skip


@pytest.mark.parametrize(
    ("where", "value", "expected"),
    [
        (("host", "virtual"), True, "the machine is virtual"),
        (("host", "governor"), "powersave", "set it to performance"),
        (("file_system", "type"), "btrfs", "the file is on btrfs"),
        (("file_system", "type"), "fuse.sshfs", "the file is on fuse.sshfs"),
        (("file_system", "options"), "rw,compress=zstd", "ext4 with compression"),
        (("stack",), ["dm-0", "nvme0n1"], "through dm-0"),
        (("partition_start_bytes",), 63 * 512, "begins at 32256 bytes"),
        (("file_system", "free_bytes"), 10**11, "90 % full"),
        (("device", "link_width"), 2, "runs at 16.0 GT/s x2 but can 16.0 GT/s x4"),
        (("device", "write_cache"), "write through", "write cache is off"),
        (("device", "requests_in_flight"), 3, "3 requests of other programs"),
        (("device", "scheduler"), "mq-deadline", "the I/O scheduler is mq-deadline"),
        (("host", "huge_pages"), "always", "transparent huge pages are always on"),
        (("device",), None, "the drive behind /x is unknown"),
        (("power", "nvme_ps_max_latency_us"), 100_000, "power states of up to 100000 µs"),
        (("now",), {"smart": {SMARTCTL: {"critical_warning": 0b1000}}}, "reports that it can only be read"),
        (("before",), {"smart": {"smart_status": {"passed": False}}}, "reports that it has failed its own test"),
    ],
)
def test_each_warning_about_the_machine_has_its_fact(where, value, expected):
    assert list(checks.of_the_machine(HEALTHY)) == []
    facts = json.loads(json.dumps(HEALTHY))
    at = facts
    for key in where[:-1]:
        at = at[key]
    at[where[-1]] = value
    (found,) = checks.of_the_machine(facts)
    assert expected in found


def test_each_bit_of_a_critical_warning_has_its_words():
    for bits, count in ((0, 0), (0b11111, 5), (0b100000, 1)):
        assert len(troubles({SMARTCTL: {"critical_warning": bits}})) == count
    assert troubles({"critical_warning": 1}) == ["its spare blocks are below its limit"]
    assert troubles({"smart_status": {"passed": True}}) == troubles(None) == []


@pytest.mark.parametrize(
    ("device_link", "latency_us"),
    [
        ({"link_speed": None, "link_speed_max": None}, 100_000),
        ({"link_speed_max": "Unknown", "link_width_max": 255}, 0),
    ],
)
def test_what_is_no_fact_of_the_drive_raises_no_warning(device_link, latency_us):
    """The kernel's default for drives of PCIe, over a network; a link that QEMU does not tell."""
    facts = {**HEALTHY, "device": HEALTHY["device"] | device_link, "power": {"nvme_ps_max_latency_us": latency_us}}
    assert list(checks.of_the_machine(facts)) == []


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({}, condition.GONE),
        ({"size": "1000", "ro": "0", "device/state": "dead"}, condition.GONE),
        ({"size": "0", "ro": "0"}, condition.SHRUNK),
        ({"size": "1000", "ro": "1", "device/state": "live"}, condition.READ_ONLY),
        ({"size": "1000", "ro": "0", "device/state": "running"}, None),
    ],
)
def test_a_fault_of_a_drive_is_told_by_what_the_kernel_shows(files, code, tmp_path, monkeypatch):
    monkeypatch.setattr(condition, "BLOCK", tmp_path)
    for name, text in files.items():
        path = tmp_path / "sda" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    drive = {"name": "sda", "bytes": 512_000}
    fault = condition.fault({"device": drive})
    assert (fault and fault.code) == code
    (tmp_path / "md0").mkdir()
    (tmp_path / "md0" / "size").write_text("2000\n")
    assert condition.fault({"device": {"name": "md0", "bytes": 1_024_000}, "members": [drive]}) == fault
    assert condition.fault({"device": None}) is None


def array(folder, members):
    """Files of sysfs: md0 on `members`, a file system's dm-0 on md0."""
    block, numbers = folder / "block", folder / "dev" / "block"
    numbers.mkdir(parents=True)
    for above, below in [("dm-0", ["md0"]), ("md0", members)]:
        (block / above / "slaves").mkdir(parents=True)
        for name in below:
            (block / name).mkdir(exist_ok=True, parents=True)
            (block / above / "slaves" / name).symlink_to(block / name)
    for name, size in {"dm-0": 3000, "md0": 3900, **dict.fromkeys(members, 2000)}.items():
        (block / name / "size").write_text(f"{size}\n")
    (block / "md0" / "md").mkdir()
    (block / "md0" / "md" / "level").write_text("raid0\n")
    return block


@pytest.mark.parametrize("members", [["sda", "sdb"], ["sda"]])
def test_an_array_has_a_name_a_size_and_members_of_its_own(members, tmp_path, monkeypatch):
    block = array(tmp_path, members)
    monkeypatch.setattr(probe, "SYS", tmp_path)
    number = tmp_path / "dev" / "block" / "9:0"
    number.symlink_to(block / "md0")
    facts = probe._whole(probe.stack(os.makedev(9, 0)), is_target=True)
    assert (facts["device"]["name"], facts["device"]["model"], facts["device"]["bytes"]) == ("md0", "raid0", 3900 * 512)
    assert probe.drives(facts) == members
    number.unlink()
    number.symlink_to(block / "dm-0")
    disks = probe.stack(os.makedev(9, 0))
    assert [disk.name for disk in disks] == ["dm-0", "md0", *members]
    # A file lies on the array, or on the only drive.
    facts = probe._whole(disks, is_target=False)
    assert facts["device"]["name"] == ("md0" if len(members) > 1 else "sda")
    assert probe.drives(facts) == members


def test_the_health_of_each_member_counts(tmp_path, monkeypatch):
    facts = {**HEALTHY, "device": {**HEALTHY["device"], "name": "md0"}, "members": [{"name": "sda"}, {"name": "sdb"}]}
    logs = {"sda": {SMARTCTL: {"critical_warning": 0}}, "sdb": {SMARTCTL: {"critical_warning": 0b1000}}}
    monkeypatch.setattr(probe, "smart", logs.get)
    monkeypatch.setattr(probe, "temperature", {"sda": 41.0, "sdb": 52.0}.get)
    facts["now"] = probe.moment(facts)
    assert (facts["now"]["temperature_c"], facts["now"]["smart"]) == (52.0, None)
    (warning,) = checks.of_the_machine(facts)
    assert "reports that it can only be read" in warning


def test_nothing_raises_a_warning_about_a_simulated_drive():
    assert fill("sim:pm871b-128gb").findings["warnings"] == []


def test_facts_that_cannot_be_read_are_unknown_and_not_fine(tmp_path, monkeypatch):
    monkeypatch.setattr(probe, "SYS", tmp_path)
    facts = probe.facts(tmp_path)
    assert facts["device"] is None
    assert facts["power"]["nvme_ps_max_latency_us"] is None
    assert any("is unknown" in warning for warning in checks.of_the_machine(facts))


def test_a_power_saving_drive_is_told_by_its_own_file_and_not_by_the_kernel_s_default(tmp_path, monkeypatch):
    monkeypatch.setattr(probe, "SYS", tmp_path)
    for path, text in {
        "module/nvme_core/parameters/default_ps_max_latency_us": "100000",
        "block/nvme0n1/device/power/pm_qos_latency_tolerance_us": "25000",
        "block/nvme1n1/device/nvme1/power/pm_qos_latency_tolerance_us": "any",
        "block/nvme2n1/device/nvme2/power/pm_qos_latency_tolerance_us": "7000",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(f"{text}\n")
    longest = [probe._nvme_wake_us(names) for names in (["nvme0n1"], ["nvme1n1"], ["nvme2n1"], ["sda"], [])]
    assert longest == [25000, None, 7000, None, None]


def test_an_nvme_drive_with_paths_counts_what_its_paths_count(tmp_path, monkeypatch):
    subsystem, paths = tmp_path / "devices/nvme-subsys0", [tmp_path / f"devices/nvme{n}/nvme0c{n}n1" for n in (0, 1)]
    for folder, row in ((subsystem / "nvme0n1", [0] * 17), (paths[0], range(17)), (paths[1], [100] * 17)):
        folder.mkdir(parents=True)
        (folder / "stat").write_text(" ".join(map(str, row)))
    for path in paths:
        (subsystem / path.parent.name).symlink_to(path.parent)
    (tmp_path / "block").mkdir()
    for folder in (subsystem / "nvme0n1", paths[0]):
        (tmp_path / "block" / folder.name).symlink_to(folder)
    monkeypatch.setattr(probe, "SYS", tmp_path)
    counted = [probe._counted(name) for name in ("nvme0n1", "nvme0c0n1", "sda", "")]
    assert counted == [{"nvme0n1": [*range(100, 117)]}, {"nvme0c0n1": [*range(17)]}, {}, {}]


def test_a_sata_drive_is_asked_itself(tmp_path, monkeypatch):
    disk = tmp_path / "devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda"
    disk.mkdir(parents=True)
    (tmp_path / "block").mkdir()
    (tmp_path / "block" / "sda").symlink_to(disk)
    monkeypatch.setattr(probe, "SYS", tmp_path)
    asked = []

    def answer(path, is_ata, may_wake):
        asked.append((path, is_ata, may_wake))
        return 41, [("passed", 0), ("percentage_used", 7)]

    monkeypatch.setattr(probe, "linux_health", answer)
    now = probe.moment({"device": {"name": "sda"}})
    assert (now["temperature_c"], health(now["smart"])["percentage_used"]) == (41, 7)
    assert troubles(now["smart"]) == ["it has failed its own test"]
    probe.smart("sda", quietly=True)
    assert asked == [("/dev/sda", True, True), ("/dev/sda", True, False)]


def test_the_link_of_a_sata_drive_is_that_of_its_port(tmp_path):
    disk = tmp_path / "pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda"
    disk.mkdir(parents=True)
    link = tmp_path / "pci0000:00/ata1/link1/ata_link/link1"
    link.mkdir(parents=True)
    (link / "sata_spd").write_text("3.0 Gbps\n")
    (link / "hw_sata_spd_limit").write_text("6.0 Gbps\n")
    facts = probe.link(disk)
    assert facts == {"link_speed": "3.0 Gbps", "link_speed_max": "6.0 Gbps", "link_width": 1, "link_width_max": 1}
    assert checks.link_bytes_per_s(facts) == 300e6
    assert checks.link_bytes_per_s({"link_speed": "16.0 GT/s PCIe", "link_width": 4}) == 8e9
    assert checks.link_bytes_per_s({"link_speed": "<unknown>", "link_width": 1}) is None


def test_what_others_write_meanwhile_is_seen_in_the_counters_of_the_device(tmp_path):
    job = tmp_path / "write.fio"
    job.write_text("[write]\nrw=write\nbs=64k\nioengine=io_uring\niodepth=1\nsize=100%\nloops=2\ndirect=1\n")
    again = f"dd if=/dev/zero of={tmp_path}/other.bin bs=4M count=50 oflag=direct conv=notrunc 2>/dev/null"
    other = subprocess.Popen(["sh", "-c", f"while {again}; do :; done"])
    try:
        time.sleep(0.3)
        if other.poll() is not None:
            pytest.skip("the file system refuses O_DIRECT")
        recording = pslc.run(job, on=str(tmp_path / "scratch.bin"), real=RealOptions(size=100 * MB))
    finally:
        other.kill()
        other.wait()
    if "device_write_bytes_total" not in recording.before:
        pytest.skip("the device below this folder is not known")
    moved = recording.totals["device_write_bytes_total"] - recording.before["device_write_bytes_total"]
    if moved < 1.5 * recording.written_bytes:
        pytest.skip("the other writer got too little of this drive")
    assert any("was for other programs" in warning for warning in recording.findings.warnings)
