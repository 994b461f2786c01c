"""Real drives from the command line: a file on the drive under this folder."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

import pslc
from pslc.analysis import CAUSES
from pslc.base import units, words
from pslc.device import probe
from pslc.device.target import RealOptions, find_target
from pslc.formats.nvme_smart_log import health
from pslc.recording import warnings
from pslc.runner.plan import _part, plan
from tests import forked
from tests.conftest import fill

MB = 1 << 20


def test_a_fill_of_a_scratch_file_is_recorded_and_leaves_nothing_behind(command, tmp_path):
    done = command("run", "fill", "--on", "./scratch.bin", "--size", "200MB", "--save", "out")
    assert done.returncode == 0, done.stderr
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


@pytest.mark.parametrize(
    ("share", "said"), [(0.0002, "less than 0.1 % of"), (0.0316, "3.2 % of"), (0.5, "50.0 % of"), (2.2, "2.2 times")]
)
def test_a_part_of_a_drive_is_never_nothing(share, said):
    assert _part(share) == said


def test_a_dry_run_prints_the_plan_and_makes_nothing(command, tmp_path):
    done = command("run", "fill", "--on", "./scratch.bin", "--size", "200MB", "--dry-run")
    assert done.returncode == 0
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


def test_the_command_that_a_plan_names_is_one_that_fio_takes(command, tmp_path):
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    done = command("run", "fill", "--on", "./scratch.bin", "--size", "200MB", "--dry-run")
    line = done.stdout.split("as fio: ")[1].strip()
    words = ["sh", "-c", f"{line} --parse-only"]
    parsed = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert parsed.returncode == 0, parsed.stderr + parsed.stdout


PLANNED = """[global]
name=nobody
ioengine=libaio ; of both
iodepth=4
bs=4k
[small]
rw=write
filesize=64k # of 8 MB
[whole]
stonewall
rw=randread
size=50%
name=half
filename=/nowhere
"""


def test_the_command_that_a_plan_names_does_the_same(command, tmp_path):
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    (tmp_path / "data.bin").write_bytes(bytes(8 << 20))
    (tmp_path / "j.fio").write_text(PLANNED)
    on = ("--on", "./data.bin", "--reuse", "--overwrite-file", "data.bin")
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
    done = command("run", "fill", *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert expected in done.stderr
    assert "\n\nhint: " in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_exists_is_taken_only_with_reuse_and_stays(command, tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(b"precious" * (4 * MB // 8))
    done = command("run", "fill", "--on", "./data.bin", "--size", "4MB")
    assert done.returncode == 2
    assert "is not overwritten" in done.stderr
    assert path.read_bytes() == b"precious" * (4 * MB // 8)
    named = ("--reuse", "--overwrite-file", "data.bin", "--json")
    assert command("run", "fill", "--on", "./data.bin", *named).returncode == 0
    assert path.stat().st_size == 4 * MB
    assert b"precious" not in path.read_bytes()


def test_reads_of_nothing_end_the_run_and_keep_the_recording(command, tmp_path):
    (tmp_path / "read.fio").write_text("[w]\nrw=write\nbs=1m\nsize=8m\ndirect=1\n[r]\nstonewall\nrw=read\nsize=16m\n")
    done = command("run", "read.fio", "--on", "./scratch.bin", "--size", "64MB", "--save", "out", "--no-layout")
    assert done.returncode == 2
    assert "nothing was ever written there" in done.stderr
    assert "remove --no-layout" in done.stderr
    recording = pslc.Recording.load(tmp_path / "out")
    assert recording.written_bytes == 8 * MB
    assert recording.error is not None
    assert any("ended early" in doubt for doubt in recording.findings["doubts"])


LONG = "[long]\nrw=randwrite\nbs=64k\nioengine=io_uring\niodepth=4\ndirect=1\ntime_based\nruntime=10m\nnorandommap\n"


def start(folder: Path) -> subprocess.Popen[str]:
    (folder / "long.fio").write_text(LONG)
    arguments = ["run", "long.fio", "--on", "./scratch.bin", "--size", "64MB", "--save", "out", "--yes"]
    return forked.Popen(arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for_a_recording(folder: Path) -> None:
    for _ in range(600):
        if (folder / "out" / "run.json").exists():
            return
        time.sleep(0.1)
    raise AssertionError("nothing was kept within a minute")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_the_recording_and_removes_the_file(how, tmp_path):
    process = start(tmp_path)
    wait_for_a_recording(tmp_path)
    for _ in range(5):
        process.send_signal(how)
        time.sleep(0.05)
    _, talk = process.communicate(timeout=60)
    assert process.returncode == 130, talk
    recording = pslc.Recording.load(tmp_path / "out")
    assert recording.interrupted
    assert recording.written_bytes > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long.fio", "out"]


def test_a_killed_run_leaves_a_recording_that_says_so_and_no_file(tmp_path):
    process = start(tmp_path)
    wait_for_a_recording(tmp_path)
    process.kill()
    process.communicate(timeout=60)
    recording = pslc.Recording.load(tmp_path / "out")
    assert recording.error == "the run has not ended"
    assert recording.written_bytes > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long.fio", "out"]


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
        recording = pslc.run("fill", on=sparse, real=RealOptions(reuse=True, overwrite_file="sparse"), options=one)
        assert recording.error is not None
        assert "No space left" in recording.error
        assert recording.error_code == "run-no-room"
        assert "at offset" in recording.error
        assert 0 < recording.written_bytes < 32 * MB
    finally:
        subprocess.run(["umount", point], check=True)


def test_verify_finds_nothing_wrong_with_what_was_written(command, tmp_path):
    (tmp_path / "verify.fio").write_text(
        "[v]\nrw=randwrite\nbs=16k\nsize=16m\nioengine=io_uring\niodepth=8\ndirect=1\nverify=crc32c\n"
    )
    done = command("run", "verify.fio", "--on", "./scratch.bin", "--size", "32MB", "--json")
    document = json.loads(done.stdout)
    assert document["error"] is None
    assert document["read_bytes"] == document["written_bytes"] == 16 * MB


def test_the_page_cache_is_doubted(command, tmp_path):
    (tmp_path / "cached.fio").write_text("[a]\nrw=write\nbs=1m\nsize=16m\n")
    done = command("run", "cached.fio", "--on", "./scratch.bin", "--size", "32MB", "--json", "--zero_buffers")
    doubted = [doubt["text"] for doubt in json.loads(done.stdout)["doubts"]]
    assert any("job a went through the page cache: give direct=1" in doubt for doubt in doubted)
    assert any("data that compress (zero_buffers)" in doubt for doubt in doubted)


def test_probe_tells_of_the_drive_and_says_unknown_where_it_is(command, tmp_path):
    done = command("probe", str(tmp_path))
    assert done.returncode == 0, done.stderr
    for word in ("file system", "device", "host", "power", "kernel"):
        assert word in done.stdout
    document = json.loads(command("probe", str(tmp_path), "--json").stdout)
    assert document["file_system"]["mount"]
    assert set(document["host"]) == {"kernel", "cpu", "cores", "governor", "virtual"}
    size = document["file_system"]["bytes"]
    assert re.search(rf"^  size +{re.escape(words.size(size))}$", done.stdout, re.MULTILINE)
    assert "_" not in "".join(line[:26] for line in done.stdout.splitlines() if line.startswith("  "))
    assert str(size) not in done.stdout
    missing = command("probe", "/dev/nvme99n9")
    assert missing.returncode == 2
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
    },
    "host": {"virtual": False, "governor": "performance"},
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
        (("device",), None, "the drive behind /x is unknown"),
        (("power", "nvme_ps_max_latency_us"), 100_000, "power states of up to 100000 us"),
    ],
)
def test_each_doubt_about_the_machine_has_its_fact(where, value, expected):
    assert list(warnings.of_the_machine(HEALTHY)) == []
    facts = json.loads(json.dumps(HEALTHY))
    at = facts
    for key in where[:-1]:
        at = at[key]
    at[where[-1]] = value
    (found,) = warnings.of_the_machine(facts)
    assert expected in found


def test_nothing_is_doubted_about_a_simulated_drive():
    assert fill("sim:pm871b-128gb").findings["doubts"] == []


def test_facts_that_cannot_be_read_are_unknown_and_not_fine(tmp_path, monkeypatch):
    monkeypatch.setattr(probe, "SYS", tmp_path)
    facts = probe.facts(tmp_path)
    assert facts["device"] is None
    assert facts["power"]["nvme_ps_max_latency_us"] is None
    assert any("is unknown" in doubt for doubt in warnings.of_the_machine(facts))


def test_the_link_of_a_sata_drive_is_that_of_its_port(tmp_path):
    disk = tmp_path / "pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda"
    disk.mkdir(parents=True)
    link = tmp_path / "pci0000:00/ata1/link1/ata_link/link1"
    link.mkdir(parents=True)
    (link / "sata_spd").write_text("3.0 Gbps\n")
    (link / "hw_sata_spd_limit").write_text("6.0 Gbps\n")
    facts = probe.link(disk)
    assert facts == {"link_speed": "3.0 Gbps", "link_speed_max": "6.0 Gbps", "link_width": 1, "link_width_max": 1}
    assert warnings.link_bytes_per_s(facts) == 300e6
    assert warnings.link_bytes_per_s({"link_speed": "16.0 GT/s PCIe", "link_width": 4}) == 8e9
    assert warnings.link_bytes_per_s({"link_speed": "<unknown>", "link_width": 1}) is None


def test_sizes_need_a_unit():
    assert [units.size(text, "") for text in ("20GB", "1.5 GiB", "4096B")] == [20 * 10**9, 3 << 29, 4096]
    for text in ("20", "20G", "GB", "-1GB", "1e9B"):
        with pytest.raises(pslc.PslcError, match="a number with a unit"):
            units.size(text, "--size")


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
    assert "other" in {phase["cause"] for phase in recording.findings["phases"]}
    assert any("was for other programs" in doubt for doubt in recording.findings.doubts)
