"""Simulated drives that stay in a file."""

import json
import os
import random
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches.small import PROFILE

import pslc
from pslc._native import SimDrive
from pslc.base.errors import PslcError
from pslc.device.drive_files import MODES, create, format_drive, mode_of, open_kept
from pslc.device.health import health, inside
from tests.conftest import ROOT
from tests.drive_heads import head_of

WEAR = (
    '\n[wear]\nslc_cycles = 30000\nnative_cycles = 3000\n\n[power]\nactive = "2W"\nidle = "50mW"\nidle_after = "1s"\n'
)
WEAR += 'die_read = "50mW"\ndie_program = "60mW"\ndie_erase = "70mW"\ndata = "500pJ/B"\n'

FILL = "[fill]\nrw=write\nbs=128k\nioengine=io_uring\niodepth=8\ndirect=1\nsize=7400m\n"
MIX = (ROOT / "tests/fixtures/texts/mix.fio").read_text()
Command = Callable[..., Any]


@pytest.fixture
def profile(tmp_path: Path) -> str:
    path = tmp_path / "small.toml"
    path.write_text(PROFILE + WEAR, encoding="utf-8")
    return str(path)


@pytest.fixture
def disk(tmp_path: Path, profile: str) -> Path:
    path = tmp_path / "disk.pslc"
    create(path, profile).close()
    return path


def long(folder: Path) -> Path:
    """A job file that takes long enough to be looked at while it runs."""
    path = folder / "long.fio"
    path.write_text(
        "[long]\nrw=randwrite\nbs=4k\nioengine=io_uring\niodepth=16\ndirect=1\nsize=6g\nio_size=24g\n", encoding="utf-8"
    )
    return path


def jobs(drive: SimDrive, text: str, seed: int) -> dict[str, Any]:
    result = drive.run(text, "x.fio", [], seed)
    del result["wall_s"]
    return result


def test_a_run_cut_in_two_by_closing_the_drive_records_the_same_bytes(disk: Path) -> None:
    whole = SimDrive.open(str(disk))
    whole.close()
    found = []
    for seed, text in enumerate([FILL, MIX, MIX, FILL, MIX]):
        drive = SimDrive.open(str(disk))
        found.append((jobs(drive, text, seed), jobs(whole, text, seed)))
        drive.save()
        drive.close()
    for cut, together in found:
        # A drive that was closed has done what it had begun.
        before, later = cut.pop("before"), together.pop("before")
        assert not [name for name in before if not (0 <= before[name] - later[name] <= 1e-4 * before[name])]
        assert cut == together
    last = found[-1][0]["totals"]
    assert last["folded_bytes_total"] > 0
    assert last["host_trim_bytes_total"] > 0
    assert last["gc_bytes_total"] > 0


def test_a_run_goes_on_where_the_last_one_ended_and_says_so(disk: Path) -> None:
    first = pslc.run("burst", on=str(disk))
    second = pslc.run("burst", on=str(disk))
    assert second.start_ns >= first.start_ns + first.drive_time_s * 1e9
    assert second.before["host_write_bytes_total"] == first.totals["host_write_bytes_total"] > 0
    assert not any("continues from its last state" in note for note in first.facts["notes"])
    assert any("disk.pslc continues from its last state: " in note for note in second.facts["notes"])


def test_the_head_of_a_file_says_in_toml_which_drive_it_is_and_how_it_is_scaled(disk: Path, command: Command) -> None:
    small = disk.with_name("scaled.pslc")
    create(small, "pm871b-128gb,scale=1/16").close()
    command.fine("run", "burst", "--on", str(small), "--no-report", "--save", str(disk.with_name("run")))
    heads = [head_of(path.read_bytes()) for path in (disk, small)]
    assert [head.get("scale") for head in heads] == [None, "1/16"]
    assert heads[1]["name"] == "Samsung PM871b 128GB"
    assert pslc.load(disk.with_name("run")).facts["scale"] == "1/16"
    shown = command.fine("drives", "show", str(small)).stdout
    assert "simulated at 1/16 of the size" in " ".join(shown.split()).replace(" # ", " ")
    assert '\nname = "Samsung PM871b 128GB"\n' in shown


def test_a_run_that_fails_lets_the_drive_go_as_it_was(disk: Path) -> None:
    whole = disk.read_bytes()
    with pytest.raises(PslcError) as failed:
        pslc.run("fill", on=str(disk), options=[("nonsense", "1")])
    # Whoever still looks at the error does not keep the drive.
    assert failed.value
    open_kept(disk).close()
    assert disk.read_bytes() == whole


def test_an_interrupted_run_leaves_the_drive_as_its_recording_ends(disk: Path) -> None:
    recording = pslc.run(long(disk.parent), on=str(disk), progress=lambda _: False)
    assert recording.interrupted
    drive = open_kept(disk)
    written = drive.counters()["host_write_bytes_total"]
    assert written == recording.totals["host_write_bytes_total"]


def test_a_run_that_cannot_save_its_drive_keeps_its_recording_and_says_so(tmp_path: Path, profile: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    create(folder / "disk.pslc", profile).close()

    def vanish(_: dict[str, Any]) -> bool:
        if folder.exists():
            folder.rename(tmp_path / "elsewhere")
        return True

    recording = pslc.run(long(tmp_path), on=str(folder / "disk.pslc"), progress=vanish)
    assert not folder.exists()
    assert recording.error is not None
    assert "disk.pslc" in recording.error
    assert recording.written_bytes
    assert open_kept(tmp_path / "elsewhere" / "disk.pslc").counters()["host_write_bytes_total"] == 0


STEP_NS = 1_000_000_000


@pytest.mark.long
def test_kill_9_leaves_the_drive_as_it_was_or_as_it_is(disk: Path) -> None:
    drive = open_kept(disk)
    jobs(drive, MIX, 1)
    drive.idle(STEP_NS - drive.now_ns % STEP_NS)
    saving = time.monotonic()
    drive.save()
    saving = time.monotonic() - saving
    drive.close()
    counters, chance, saves = drive.counters(), random.Random(16), 0
    for _ in range(100):
        before = open_kept(disk)
        began = before.now_ns
        before.close()
        told, tells = os.pipe()
        child = os.fork()
        if child == 0:
            # Every second of the drive's one is saved and told.
            mine = SimDrive.open(str(disk))
            os.write(tells, b"o")
            while True:
                mine.idle(STEP_NS)
                mine.save()
                os.write(tells, b".")
        os.close(tells)
        assert os.read(told, 1) == b"o"
        done = sum(len(os.read(told, 1)) for _ in range(chance.randrange(3)))
        time.sleep(chance.random() * 2 * saving)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while some := os.read(told, 4096):
            done += len(some)
        os.close(told)
        after = open_kept(disk)
        assert after.now_ns - began in (done * STEP_NS, (done + 1) * STEP_NS)
        assert after.counters()["host_write_bytes_total"] == counters["host_write_bytes_total"]
        after.close()
        saves += done
    assert saves > 20


def test_the_second_command_is_told_who_has_the_drive(disk: Path, command: Command) -> None:
    drive = open_kept(disk)
    done = command.refused("drives", "age", str(disk), "--idle", "8h")
    assert f"{disk}: the drive is held by process {os.getpid()} (" in done.stderr
    assert "hint: one command at a time has a drive" in done.stderr
    drive.save()
    with pytest.raises(PslcError, match="is held by process"):
        open_kept(disk)
    drive.close()
    open_kept(disk).close()


def test_a_file_that_is_cut_flipped_later_or_no_drive_is_refused_in_words(disk: Path, command: Command) -> None:
    whole = disk.read_bytes()

    def said(content: bytes) -> str:
        disk.write_bytes(content)
        done = command.refused("probe", str(disk))
        assert not done.stdout
        return done.stderr.replace("\n", " ")

    assert "it is cut: 1000 bytes of 1024" in said(whole[:1000])
    assert f"it is cut: 2000 bytes of {len(whole)}" in said(whole[:2000])
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 16]) + whole[middle + 1 :]
    assert "is damaged: the checksum is another" in said(flipped)
    assert "its head is damaged" in said(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    assert "it is no drive file of pslc" in said(b"")
    assert "it is no drive file of pslc" in said(b"hello" * 100)
    disk.write_bytes(whole)
    command.fine("probe", str(disk))


def test_nothing_is_written_over_by_a_new_drive(disk: Path, profile: str, command: Command) -> None:
    whole = disk.read_bytes()
    done = command.refused("drives", "create", str(disk), "--like", profile)
    assert "exists, and is not overwritten" in done.stderr
    assert disk.read_bytes() == whole
    assert [path.name for path in disk.parent.glob("disk.pslc*")] == ["disk.pslc"]


def test_a_format_says_what_changes_and_asks(disk: Path, command: Command) -> None:
    pslc.run("fill", on=str(disk))
    whole = disk.read_bytes()
    done = command.refused("drives", "format", str(disk), "--mode", "pure-slc")
    assert "8.00 GB of data in" in done.stderr
    assert "mode          dynamic-slc -> pure-slc" in done.stderr
    assert "capacity      8.00 GB -> 2.00 GB" in done.stderr
    assert "cycles left" in done.stderr
    assert disk.read_bytes() == whole
    sizes = ("--static", "300MB", "--dynamic", "400MB")
    hybrid = command.refused("drives", "format", str(disk), "--mode", "hybrid-slc", *sizes).stderr
    assert re.findall(r"^\w+ cache .*?([\d.]+ \w?B)$", hybrid, re.MULTILINE) == ["300 MB", "400 MB"]
    done = command.fine("drives", "format", str(disk), "--mode", "pure-slc", "--yes", "--json")
    told = json.loads(done.stdout)
    assert told["device"]["mode"] == "pure-slc"
    assert told["device"]["bytes"] == 2_000_000_000 // 4096 * 4096
    assert told["inside"]["mapped_bytes"] == 0
    assert told["nvme_smart_health_information_log"]["power_cycles"] == 2
    assert told["nvme_smart_health_information_log"]["data_units_written"] == -(-8_000_000_000 // 512_000)


def test_every_mode_of_the_tool_and_back_keeps_wear_and_age(disk: Path) -> None:
    drive = open_kept(disk)
    jobs(drive, FILL, 0)
    sizes = {"static-slc": {"static": "300MB"}, "hybrid-slc": {"static": "200MB", "dynamic": "400MB"}}
    for mode in (*MODES, "dynamic-slc"):
        before = drive.counters()
        format_drive(drive, mode, sizes.get(mode, {}))
        after = drive.counters()
        assert mode_of(drive) == mode
        assert after["mapped_bytes"] == 0
        for name in ("slc_erases_total", "native_erases_total", "energy_nj_total", "host_write_bytes_total"):
            assert after[name] == before[name], name
        size = drive.capacity_bytes // 131072 * 131072
        job = f"[fill]\nrw=write\nbs=128k\nioengine=io_uring\niodepth=8\ndirect=1\nsize={size}\n"
        jobs(drive, job, 0)
        assert drive.counters()["native_erases_total"] + drive.counters()["slc_erases_total"] > (
            after["native_erases_total"] + after["slc_erases_total"]
        )
    assert drive.capacity_bytes == 8_000_000_000
    assert drive.facts()["cache_bytes"] == 800_000_000
    with pytest.raises(PslcError, match="pure-slc has no --static"):
        format_drive(drive, "pure-slc", {"static": "1GB"})
    with pytest.raises(PslcError, match="static"):
        format_drive(drive, "static-slc", {"static": "1TB"})
    assert mode_of(drive) == "dynamic-slc"


def test_a_drive_that_is_left_alone_folds_its_cache_and_gets_older(disk: Path, command: Command) -> None:
    drive = open_kept(disk)
    jobs(drive, FILL.replace("7400m", "500m"), 0)
    drive.save()
    drive.close()
    used = inside(drive)["cache_used_bytes"]
    assert used > 0
    told = json.loads(command("drives", "age", str(disk), "--idle", "8h", "--json").stdout)
    # What is left is in the superblock that is still open.
    assert told["inside"]["cache_used_bytes"] <= drive.facts()["slc_superblock_bytes"]
    assert told["nvme_smart_health_information_log"]["power_on_hours"] == 8
    assert told["device"]["clock_ns"] == drive.now_ns + 8 * 3600 * 10**9


EVO = ROOT / "python/pslc/examples/840-evo-500gb.toml"
WRITTEN = "[job]\nrw=write\nbs=128k\ndirect=1\nsize=1g\n"


def read_mb_per_s(drive: SimDrive) -> float:
    """Speed of what was written first: the last of it may still be in the cache."""
    read = jobs(drive, "[job]\nrw=read\nbs=128k\ndirect=1\nsize=600m\n", 0)["jobs"][0]["read"]
    return float(read["io_bytes"] / read["runtime_ns"] * 1e3)


@pytest.fixture
def evo(tmp_path: Path, command: Command) -> Callable[..., float]:
    """Ages the 840 EVO, which holds data in its TLC, and reads them: MB/s."""
    disk = tmp_path / "evo.pslc"
    created = create(disk, str(EVO))
    jobs(created, WRITTEN, 0)
    created.idle(600 * 10**9)
    created.save()
    created.close()

    def read(*options: str, first: str = "") -> float:
        if options:
            command("drives", "age", str(disk), *options)
        drive = open_kept(disk)
        if first:
            jobs(drive, first, 0)
        # Without what is still in its cache.
        speed = read_mb_per_s(drive.fork())
        drive.save()
        drive.close()
        return speed

    return read


def test_old_data_of_an_840_evo_are_read_as_slowly_as_was_published(evo: Callable[..., float]) -> None:
    fresh = evo()
    assert fresh == pytest.approx(500, rel=0.1)
    assert evo("--days", "27") == fresh
    assert 50 < evo("--days", "15") < 100, "six weeks"
    eight_weeks = evo("--days", "14")
    assert 50 < eight_weeks < 100
    assert evo("--days", "300") == pytest.approx(eight_weeks, rel=0.02), "the speed stays there"
    assert evo(first=WRITTEN) == pytest.approx(fresh, rel=0.05), "rewritten"


def test_data_age_sooner_where_it_is_warm_and_not_in_the_cache(
    evo: Callable[..., float], disk: Path, command: Command
) -> None:
    fresh = evo()
    assert evo("--days", "6", "--at-celsius", "40") == fresh
    assert evo("--days", "6", "--at-celsius", "40") < fresh / 5
    in_cache = evo(first=WRITTEN)
    assert evo("--days", "365") == in_cache == pytest.approx(fresh, rel=0.05), "cells of one bit do not age"
    unaged = command("drives", "age", str(disk), "--days", "90")
    assert "Data of this profile do not age" in unaged.stderr
    for options in ((), ("--idle", "1h", "--days", "1"), ("--idle", "1h", "--at-celsius", "40"), ("--days", "4000")):
        command.refused("drives", "age", str(disk), *options)
    assert "hint: 0 to 87600h" in command.refused("drives", "age", str(disk), "--days", "-4").stderr
    assert "-40 to 85" in command.refused("drives", "age", str(disk), "--days", "1", "--at-celsius", "90").stderr


def test_a_firmware_that_rewrites_old_data_keeps_them_fast_at_the_price_of_wear(tmp_path: Path) -> None:
    speeds, erases = [], []
    for refresh in ("never", "600h"):
        drive = create(tmp_path / f"{refresh}.pslc", f"{EVO},ftl.refresh={refresh}")
        jobs(drive, WRITTEN, 0)
        drive.idle(60 * 86_400 * 10**9)
        speeds.append(read_mb_per_s(drive))
        erases.append(drive.counters()["native_erases_total"])
    assert speeds[0] < 100 < 450 < speeds[1]
    assert erases[0] == 0 < erases[1]


def test_probe_tells_what_the_drives_own_counters_say(disk: Path, command: Command) -> None:
    recording = pslc.run("overwrite", on=str(disk))
    told = json.loads(command("probe", str(disk), "--json").stdout)
    totals, facts = recording.totals, recording.facts
    log, more = told["nvme_smart_health_information_log"], told["inside"]
    assert log["data_units_written"] == -(-totals["host_write_bytes_total"] // 512_000)
    programmed = totals["slc_programmed_bytes_total"] + totals["native_programmed_bytes_total"]
    assert more["waf"] == programmed / totals["host_write_bytes_total"]
    blocks = facts["superblocks"] * facts["dies"] * facts["planes"]
    used = (totals["slc_erases_total"] / 30000 + totals["native_erases_total"] / 3000) / blocks
    assert log["percentage_used"] == int(100 * used)
    assert more["native_cycles_left"] == round(3000 * (1 - used))
    text = command("probe", str(disk)).stdout
    for line in ("percentage used", "data units written", "power on hours", "unsafe shutdowns", "waf", "cache used"):
        assert line in text
    drive = open_kept(disk)
    assert health(drive) == log


def test_options_of_real_drives_are_refused_for_a_drive_file(disk: Path, command: Command) -> None:
    whole = disk.read_bytes()
    done = command.refused("run", "fill", "--on", str(disk), "--reuse")
    assert "is a drive file, and its profile sets the size" in done.stderr
    assert disk.read_bytes() == whole
    missing = command("run", "fill", "--on", "nothing.pslc")
    assert "pslc drives create nothing.pslc --like" in missing.stderr


def test_a_full_disk_is_said_by_create_and_leaves_no_file(small_disk: Any, command: Any) -> None:
    disk = small_disk("64k")
    (disk / "full").write_bytes(bytes(60 << 10))
    done = command.refused("drives", "create", disk / "new.pslc", "--like", "pm871b-128gb,scale=1/16")
    assert "No space left on device" in done.stderr
    assert "hint: make room" in done.stderr
    assert os.listdir(disk) == ["full"]
