"""The cache as UFS and eMMC drives tell of it, on folders like those of Linux."""

import json
import random
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import pslc
from pslc.device import cache_report, probe, sysfs
from pslc.device.sensors import Sensor
from pslc.figures.curves import speed_by_bytes
from pslc.recording import warnings as checks
from pslc.recording.writes.reported_end import reported_end
from pslc.schema.facts import CACHE_FREE_TENTHS
from tests.forked import eventually
from tests.served import has, served

GRAIN = 8 * 1024 * 512
UFS = {
    "wb_on": "1",
    "capabilities/write_booster": "1",
    "capabilities/clock_scaling": "0",
    "device_descriptor/wb_type": "0x01",
    "device_descriptor/wb_presv_us_en": "0x01",
    "device_descriptor/wb_shared_alloc_units": "0x00000200",
    "geometry_descriptor/allocation_unit_size": "0x08",
    "geometry_descriptor/segment_size": "0x00000400",
    "geometry_descriptor/wb_buff_cap_adj": "0x03",
    "attributes/wb_cur_buf": "0x00000180",
    "attributes/wb_avail_buf": "0x0000000a",
    "attributes/wb_flush_status": "0x00000000",
    "attributes/wb_life_time_est": "0x00000001",
    "health_descriptor/life_time_estimation_a": "0x02",
    "health_descriptor/eol_info": "0x01",
}


def tree(sys: Path, files: dict[str, str], disk: str = "host0/target0:0:0/0:0:0:0/block/sda") -> Path:
    """A folder like /sys with one drive; its folder there."""
    host = sys / "devices/platform/ufshc"
    place = host / disk
    place.mkdir(parents=True)
    for name, text in files.items():
        (host / name).parent.mkdir(parents=True, exist_ok=True)
        (host / name).write_text(f"{text}\n")
    link = sys / "block" / place.name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(place)
    return link


def test_a_ufs_drive_tells_its_buffer_in_words(tmp_path):
    report = cache_report.cache_report(tree(tmp_path, UFS))
    assert (report["bytes"], report["most_bytes"]) == (0x180 * GRAIN, 0x200 * GRAIN)
    assert (report["user_space"], report["bits_per_cell"], report["not_switched"]) == ("preserved", 3, None)
    assert (report["slc_wear"], report["native_wear"]) == ("0 to 10 % used", "10 to 20 % used")
    text = "SLC buffer of 1.61 GB (at most 2.15 GB), shared, on, 10 of 10 free; normal cells of 3 bits"
    assert cache_report.sentence(report) == text


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"attributes/wb_avail_buf": "0x0b"}, "free_tenths", None),
        ({"attributes/wb_flush_status": "0x07"}, "flush", "0x7, beyond the standard"),
        ({"health_descriptor/eol_info": "0x00"}, "reserve", None),
        ({"health_descriptor/eol_info": "0x04"}, "reserve", "0x4, beyond the standard"),
        ({"attributes/wb_life_time_est": "0x0b"}, "not_switched",
         "its cells are worn out, and the drive switched it off for good"),
        ({"capabilities/write_booster": "0"}, "not_switched", "the driver does not allow it"),
        ({"capabilities/clock_scaling": "1"}, "not_switched", "the driver switches it by itself, with the clock"),
        ({"wb_on": "0"}, "is_on", False),
        ({"geometry_descriptor/wb_buff_cap_adj": "0x09"}, "bits_per_cell", None),
        ({"geometry_descriptor/segment_size": "what"}, "bytes", None),
    ],
)  # fmt: skip
def test_what_a_drive_tells_is_shown_as_it_is(changes, field, value, tmp_path):
    assert cache_report.cache_report(tree(tmp_path, UFS | changes))[field] == value


def test_an_emmc_tells_both_wears_and_that_it_has_no_enhanced_area(tmp_path):
    card = {"device/life_time": "0x01 0x0b", "device/pre_eol_info": "0x02", "device/enhanced_area_size": "4294967274"}
    disk = tree(tmp_path, {f"mmcblk0/{name}": text for name, text in card.items()}, "mmcblk0")
    report = cache_report.cache_report(disk)
    assert (report["slc_wear"], report["native_wear"]) == ("0 to 10 % used", "more than all of it used")
    assert (report["reserve"], report["bytes"]) == ("80 % used", 0)
    assert cache_report.sentence(report) == "enhanced area (pSLC for ever): none"


def card(folder: Path, files: dict[str, str], register: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The disk of an eMMC whose card has these files, and whose register debugfs shows."""
    monkeypatch.setattr(cache_report, "DEBUG", folder / "debug")
    disk = tree(folder, {f"mmc0/mmc0:0001/{name}": text for name, text in files.items()}, "mmcblk0")
    (disk.resolve() / "device").symlink_to("../mmc0/mmc0:0001")
    shown = folder / "debug/mmc0/mmc0:0001/ext_csd"
    shown.parent.mkdir(parents=True)
    shown.write_text(f"{register}\n")
    return disk


def register(changes: dict[int, int]) -> str:
    """An extended CSD register as debugfs shows it: zeros but for these bytes."""
    return bytes(changes.get(index, 0) for index in range(512)).hex()


@pytest.mark.parametrize(
    ("files", "changes", "text"),
    [
        ({}, {250: 2, 33: 1, 308: 1, 307: 31, 15: 1}, "; volatile cache 524 kB, on; command queue of 32, on"),
        ({"cmdq_en": "0"}, {252: 1, 308: 1, 307: 15, 15: 1}, "; volatile cache 17.2 GB, off; command queue of 16, off"),
        ({}, {33: 1}, "; volatile cache none; command queue, off"),
        ({}, {249: 1, 33: 7, 15: 9, 307: 31}, "; volatile cache 1.02 kB"),
    ],
)
def test_an_emmc_tells_its_volatile_cache_and_its_command_queue(files, changes, text, tmp_path, monkeypatch):
    disk = card(tmp_path, {"pre_eol_info": "0x01"} | files, register(changes), monkeypatch)
    report = cache_report.cache_report(disk)
    assert cache_report.sentence(report) == f"enhanced area (pSLC for ever): none{text}"


def test_other_drives_tell_nothing(tmp_path):
    assert cache_report.cache_report(tree(tmp_path, {})) is None


def test_probe_shows_it_and_names_the_bus(tmp_path, monkeypatch):
    monkeypatch.setattr(probe, "SYS", tmp_path)
    disk = tree(tmp_path, UFS | {"power_info/gear": "HS_GEAR4", "power_info/lane": "2"})
    device = probe._device(disk.resolve())
    assert probe.unasked("sda", "probe") == "UFS drives keep none"
    assert (device["bus"], device["link_speed"], device["link_width"]) == ("UFS", "HS_GEAR4", 2)
    now = probe.moment({"device": device})
    assert now["cache"]["free_tenths"] == 10
    json.dumps(now)


def mangled(draw: random.Random, text: str) -> tuple[str, int | None]:
    """A text that may stand in a file, and the number that it is."""
    number = draw.choice([draw.randrange(5), draw.randrange(9, 13), draw.randrange(1 << 40)])
    whole = [(text, int(text, 0)), (f"{number:#x}", number), (f"{number}", number)]
    return draw.choice(
        [*whole, ("", None), ("-1", None), ("0x", None), ("\x00", None), ("9" * 40, None), ("x" * 99, None)]
    )


def named(names: dict[int, str], number: int | None) -> str | None:
    return None if number is None else names.get(number, f"{number:#x}, beyond the standard")


def reserve(number: int | None) -> str | None:
    return named(cache_report.RESERVES, number or None)


def wear(number: int | None) -> str | None:
    shares = {0: None, 11: "more than all of it used"}
    shares |= {tenths: f"{10 * tenths - 10} to {10 * tenths} % used" for tenths in range(1, 11)}
    return shares.get(number, f"{number:#x}, beyond the standard") if number is not None else None


def stated(of):
    """What a tree of a UFS drive says, by its files' numbers."""
    grain = (of("segment_size") or 0) * (of("allocation_unit_size") or 0) * 512
    # A drive that shares none of it has a unit's own, of which this tree has no file.
    units = {"bytes": of("wb_cur_buf"), "most_bytes": of("wb_shared_alloc_units") or None}
    return {
        **{field: count * grain if count is not None and grain else None for field, count in units.items()},
        "free_tenths": of("wb_avail_buf") if of("wb_avail_buf") in range(11) else None,
        "bits_per_cell": of("wb_buff_cap_adj") if of("wb_buff_cap_adj") in (2, 3, 4) else None,
        "is_on": {0: False, 1: True}.get(of("wb_on")),
        "type": named(cache_report.TYPES, of("wb_type")),
        "flush": named(cache_report.FLUSHING, of("wb_flush_status")),
        "reserve": reserve(of("eol_info")),
        "slc_wear": wear(of("wb_life_time_est")),
        "native_wear": wear(of("life_time_estimation_a")),
    }


FEW_OR_ALL = pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.long)])


@FEW_OR_ALL
def test_no_tree_however_mangled_ends_in_an_error_or_a_wrong_word(count, tmp_path):
    draw = random.Random(1)
    for number in range(count):
        drawn = {name: mangled(draw, text) for name, text in UFS.items() if draw.random() < 0.8}
        disk = tree(tmp_path / str(number), {name: text for name, (text, _) in drawn.items()})
        report = cache_report.cache_report(disk)
        assert (report is None) == ("wb_on" not in drawn)
        if report is None:
            continue
        of = {name.rpartition("/")[2]: value for name, (_, value) in drawn.items()}
        assert report == report | stated(of.get), drawn
        assert cache_report.sentence(report)


@FEW_OR_ALL
def test_no_emmc_however_mangled_ends_in_an_error_or_a_wrong_word(count, tmp_path, monkeypatch):
    draw = random.Random(2)
    for number in range(count):
        drawn = {name: mangled(draw, text) for name, text in {"first": "0x01", "second": "0x0b"}.items()}
        area, used, queue = mangled(draw, "4294967274"), mangled(draw, "0x02"), mangled(draw, "1")
        life = " ".join(text for text, _ in drawn.values())
        files = {"life_time": life, "pre_eol_info": used[0], "enhanced_area_size": area[0], "cmdq_en": queue[0]}
        csd = draw.randbytes(draw.choice([512, 512, 511, 1024])).hex()
        csd = draw.choice(
            [csd, csd, csd[:-1], csd.replace("a", "\x00"), register({15: 1, 33: 1, 250: draw.randrange(9)})]
        )
        report = cache_report.cache_report(card(tmp_path / str(number), files, csd, monkeypatch))
        assert report["bytes"] == (area[1] * 1024 if area[1] is not None and area[1] < 1 << 31 else 0)
        assert report["reserve"] == reserve(used[1])
        if all(text.strip() for text, _ in drawn.values()):
            assert (report["slc_wear"], report["native_wear"]) == tuple(wear(value) for _, value in drawn.values())
        is_whole = len(csd) == 1024 and "\x00" not in csd
        byte = dict(enumerate(bytes.fromhex(csd))) if is_whole else {}
        size = sum(byte[249 + at] << 8 * at for at in range(4)) * 1024 if byte else None
        states = {0: False, 1: True}
        by_file = states.get(queue[1])
        assert report["volatile_bytes"] == size
        assert report["volatile_is_on"] == states.get(byte.get(33))
        assert report["queue_is_on"] == (states.get(byte.get(15)) if by_file is None else by_file)
        assert report["queue_commands"] == ((byte[307] & 31) + 1 if byte.get(308) == 1 else None)
        assert cache_report.sentence(report)


def test_the_free_share_is_asked_once_a_second_while_data_are_moved_and_less_and_less_while_idle(tmp_path):
    disk = tree(tmp_path, UFS)
    (sensor,) = Sensor.of(CACHE_FREE_TENTHS, partial(cache_report.free_tenths, disk), held=True)
    host = sysfs.ufs_host(disk)
    (host / "attributes/wb_avail_buf").write_text("0x00000003\n")
    for elapsed_s, done_bytes in [(0.5, 1), (2, 2), (2.5, 3), (3.5, 3), *((at_s, 3) for at_s in range(4, 60)), (60, 4)]:
        sensor.look(round(elapsed_s * 1e9), done_bytes)
    seconds = [0, 2, 3.5, 5, 8, 14, 26, 50, 60]
    assert sensor.samples == [(round(at_s * 1e9), 3 if at_s else 10) for at_s in seconds]
    (host / "attributes/wb_avail_buf").write_text("0x0000000b\n")
    assert Sensor.of(CACHE_FREE_TENTHS, partial(cache_report.free_tenths, disk)) == []


def reporting(recording, samples) -> pslc.Recording:
    """A recording whose drive reported these tenths, each at so many seconds."""
    sensor = Sensor(CACHE_FREE_TENTHS, lambda: None, True, [(round(at_s * 1e9), tenths) for at_s, tenths in samples])
    return sensor.on(recording)


@pytest.mark.parametrize(
    ("tenths", "after_s", "code", "text"),
    [
        (0, 1, "note", "as the end of the cache that was found"),
        (1, 1, "note", "as the end of the cache that was found"),
        (4, 1, "cache-free", "reports 4 of 10 of its buffer free"),
        (0, -4, "cache-elsewhere", "the report or the finding is wrong"),
    ],
)
def test_a_report_bears_out_the_end_of_a_cache_or_contradicts_it(tenths, after_s, code, text):
    recording = pslc.run("fill", on="sim:pm871b-128gb,capacity=12GB")
    end = int(np.searchsorted(np.cumsum(recording.bytes["write_bytes"]), recording.findings["cache_bytes"]))
    fell_s = (int(recording.bytes["end_ns"][end]) - recording.start_ns) / 1e9
    reported = reporting(recording, [(0, 10), (fell_s + after_s, tenths)])
    assert set(reported.bytes[CACHE_FREE_TENTHS]) == {10, tenths}
    (warning,) = checks._of_its_report(reported)
    assert (warning.code, text in warning) == (code, True)
    strip = speed_by_bytes(reported, []).strip
    assert (strip.shares[0], strip.shares[-1]) == (0.0, 1.0 - tenths / 10)


def test_a_cache_that_ends_by_its_report_alone_is_a_warning():
    recording = pslc.run("fill", on="sim:pm871b-128gb,capacity=12GB,cache.mode=pure-slc")
    assert recording.findings["cache_bytes"] is None
    assert not [*checks._of_its_report(reporting(recording, [(0, 10)]))]
    (warning,) = checks._of_its_report(reporting(recording, [(0, 10), (5, 0)]))
    assert warning.code == "cache-unseen"


def test_the_end_of_a_cache_by_its_report_is_where_it_first_stops_to_fall():
    recording = pslc.run("fill", on="sim:pm871b-128gb,capacity=12GB")
    ends_s = (recording.bytes["end_ns"] - recording.start_ns) / 1e9
    written = partial(np.interp, xp=ends_s, fp=np.cumsum(recording.bytes["write_bytes"]))
    samples = [(at_s, max(10 - at_s, 1)) for at_s in range(12)] + [(12, 3), (20, 0)]
    low, high = reported_end(reporting(recording, samples))
    assert written(7.4) < low < written(8.1)
    # Two tenths may be left then, of what was written so far, and 32 MiB are under way.
    assert high == pytest.approx(1.2 * (written(9) + (32 << 20)), rel=0.01)


@pytest.mark.parametrize(("low_s", "code"), [(None, "note"), (3.0, "note"), (6.0, "cache-recovers")])
def test_a_report_while_idle_bears_out_the_recovery_or_contradicts_it(low_s, code, tmp_path):
    job = tmp_path / "job.fio"
    job.write_text("[a]\nrw=write\nbs=1m\nsize=500m\n[b]\nstonewall\nrw=write\nbs=1m\nstartdelay=20\nsize=500m\n")
    recording = pslc.run(job, on="sim:pm871b-128gb,capacity=12GB")
    recording.findings["idle_threshold_s_low"] = low_s
    (rest,) = [*checks._of_its_rest(reporting(recording, [(0, 10), (1, 5), (2.5, 4), (5.7, 6), (9, 9)]))]
    assert rest.code == code
    assert "from 4.51 s of idle time on (4 of 10, then 9)" in rest
    assert not [*checks._of_its_rest(reporting(recording, [(0, 10), (1, 5), (2.5, 4), (20.9, 5)]))]


@pytest.mark.skipif(not has("nbdsh"), reason="libnbd is not installed")
def test_a_served_drive_shows_its_cache_as_a_ufs_drive_does(tmp_path, command):
    folder = tmp_path / "ufs"
    with served(tmp_path, "sim:pm871b-128gb,capacity=4GB,cache.static=200MB", "--sysfs", "ufs") as on:
        report = cache_report.cache_report(folder / "disk")
        size = report["bytes"]
        assert size == pytest.approx(200e6, rel=0.05)
        assert (report["user_space"], report["bits_per_cell"], report["free_tenths"]) == ("reduced", 3, 10)
        (tmp_path / "scratch").touch()
        shown = json.loads(command("probe", "scratch", "--sysfs", "ufs", "--json").stdout)["now"]["cache"]
        assert shown == report | {"left_by": None}
        script = f"""
import time
for at in range(200):
    h.pwrite(bytes(1 << 20), at << 20)
    if at % 20 == 19:
        time.sleep(0.6)
        print(int(open("{folder}/attributes/wb_avail_buf").read(), 16))
"""
        asked = [int(word) for word in on.nbdsh(script).split()]
        assert asked == sorted(asked, reverse=True)
        assert set(asked) >= {0, 2, 5, 8}
        eventually(lambda: cache_report.free_tenths(folder / "disk") >= 8)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("probe", "scratch", "--sysfs", "."), "it has no wb_on"),
        (("probe", "disk.pslc", "--sysfs", "."), "is simulated"),
        (("run", "fill", "--on", "sim:pm871b-128gb", "--sysfs", "."), "is a simulated drive"),
        (("serve", "sim:pm871b-128gb,cache.mode=pure-xlc", "--sysfs", "ufs"), "has no SLC cache"),
        (("serve", "sim:pm871b-128gb", "--sysfs", "."), "is not empty"),
    ],
)
def test_a_folder_that_shows_no_ufs_drive_is_refused(words, hint, tmp_path, command):
    (tmp_path / "scratch").touch()
    command("drives", "create", "disk.pslc", "--like", "pm871b-128gb")
    assert hint in command.refused(*words).stderr
