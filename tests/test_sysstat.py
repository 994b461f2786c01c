"""What iostat, sar and nvme-cli print of a drive at work: held against the programs themselves, and lines of other
versions."""

import json
import os
import random
import shutil
import signal
import struct
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from pslc import PslcError, formats
from pslc.formats import FileContents
from pslc.schema.imports import ImportOptions
from tests.conftest import ROOT
from tests.loops import loop_over, reason

loops = pytest.mark.skipif(reason() is not None, reason=str(reason()))


def needs(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


def read(path: Path, text: str, **hints: object) -> FileContents:
    path.write_text(text)
    return formats.read([path], ImportOptions(**hints))


PRINTS = {"iostat": [["-xt"], ["-xm"], ["-xt", "-o", "JSON"]], "sar": [["-d"], ["-dp"]]}


@pytest.mark.long
@loops
def test_what_the_programs_print_while_fio_writes_is_what_fio_wrote(tmp_path):
    needs(*PRINTS, "fio")
    image = tmp_path / "image"
    image.write_bytes(bytes(64 << 20))
    with loop_over(image) as device:
        off = {}
        # When an interval ended is told in whole seconds: of one second it may say two, or none.
        for _ in range(5):
            off = disagreements(device.path, tmp_path)
            if not off:
                break
    assert not off


def disagreements(path: str, folder: Path) -> dict[str, tuple[float, object]]:
    """What each program has counted, and what fio did, where they are not the same."""
    name = Path(path).name
    with ExitStack() as stack:
        counting = []
        for program, forms in PRINTS.items():
            for number, words in enumerate(forms):
                asked = [program, *words, *(["1", name] if program == "iostat" else [f"--dev={name}", "1"])]
                out = folder / f"{program}-{number}.txt"
                writing = stack.enter_context(out.open("w"))
                environment = os.environ | {"LC_ALL": "C"}
                counting.append((out, subprocess.Popen(asked, stdout=writing, env=environment)))
        # What is printed first is of the time since the machine was started, or of none.
        for out, _ in counting:
            said_of(out, name, 2)
        job = ["--name=a", "--rw=randrw", "--bs=16k", "--size=32m", "--direct=1", "--output-format=json"]
        fio = subprocess.run(["fio", f"--filename={path}", *job], capture_output=True, text=True, check=True)
        for out, program in counting:
            said_of(out, name, out.read_text().count(name) + 2)
            program.send_signal(signal.SIGINT)
            program.wait(timeout=60)
    (done,) = json.loads(fio.stdout)["jobs"]
    wrote, got = done["write"], done["read"]
    found = {}
    for out, _ in counting:
        load = formats.read([out], ImportOptions(device=name)).load
        assert load is not None
        pairs = {
            "written": (load.write_bytes.sum(), pytest.approx(wrote["io_bytes"], rel=0.05)),
            "read": (load.read_bytes.sum(), pytest.approx(got["io_bytes"], rel=0.05, abs=1 << 20)),
            # They may be merged.
            "requests": (
                load.writes.sum() + load.reads.sum(),
                pytest.approx(wrote["total_ios"] + got["total_ios"], rel=0.3),
            ),
        }
        found |= {f"{out.name}: {what}": pair for what, pair in pairs.items() if pair[0] != pair[1]}
    return found


def said_of(path: Path, name: str, times: int) -> None:
    """Wait until a program has printed its line of a device so often."""
    for _ in range(1200):
        if path.read_text().count(name) >= times:
            return
        time.sleep(0.05)
    raise AssertionError(f"{path.name}: not {times} lines of {name} in a minute")


@loops
def test_sadf_says_the_same_as_sar(tmp_path):
    needs("sar", "sadf")
    image = tmp_path / "image"
    image.write_bytes(bytes(1 << 20))
    with loop_over(image) as device:
        subprocess.run(["sar", "-d", "-o", tmp_path / "sa", "1", "2"], check=True, capture_output=True)
        found = []
        for form in (["sadf", "-d"], ["sadf", "-j"], ["sar", "-d", "-f"]):
            words = [*form, str(tmp_path / "sa"), *([] if form[0] == "sar" else ["--", "-d"])]
            done = subprocess.run(words, capture_output=True, text=True, check=True, env=os.environ | {"LC_ALL": "C"})
            at = tmp_path / f"{form[-1]}.txt"
            found.append(read(at, done.stdout, device=Path(device.path).name))
    for of in found[1:]:
        assert of.load is not None
        for name in ("seconds", "read_bytes", "write_bytes", "busy_s"):
            assert getattr(of.load, name) == pytest.approx(getattr(found[0].load, name), rel=0.01, abs=1e4)


OLD = (ROOT / "tests/fixtures/texts/iostat_2_6.txt").read_text()


def test_an_old_iostat_over_midnight_with_a_twelve_hour_clock(tmp_path):
    found = read(tmp_path / "io.txt", OLD)
    load = found.load
    assert load is not None
    assert load.seconds.tolist() == [2.0]
    assert load.write_bytes.tolist() == [2 * 2000 * 512]
    assert load.reads.tolist() == [20.0]
    assert load.write_s.tolist() == [pytest.approx(200 * 5e-3)]
    assert load.busy_s.tolist() == [1.0]
    from datetime import datetime

    assert datetime.fromtimestamp(found.began_unix) == datetime(2019, 3, 30, 23, 59, 59)


def test_decimal_commas_are_read(tmp_path):
    text = OLD.replace("2000.00", "2000,00").replace(" 50.00", " 50,00").replace("0.50 ", "0,50 ")
    assert read(tmp_path / "io.txt", text).load.write_bytes.tolist() == [2 * 2000 * 512]


SAR = (ROOT / "tests/fixtures/texts/sar_restart.txt").read_text()


def test_an_old_sar_with_a_restart(tmp_path):
    load = read(tmp_path / "sar.txt", SAR).load
    assert load is not None
    assert load.seconds.tolist() == [600.0, 300.0]
    assert load.write_bytes.tolist() == [600 * 2000 * 512, 300 * 1000 * 512]
    assert load.writes.tolist() == [60_000.0, 15_000.0]
    assert load.read_s.tolist() == [0.0, pytest.approx(15_000 * 2e-3)]


def test_long_intervals_raise_a_warning(command, tmp_path):
    (tmp_path / "sar.txt").write_text(SAR)
    done = command.fine("analyze", "sar.txt")
    assert "each interval is 7 min 30 s long, so shorter pauses and slowdowns are invisible" in " ".join(
        done.stdout.split()
    )


def test_of_several_devices_one_is_asked_for(tmp_path):
    with pytest.raises(PslcError, match=r"several devices: dev8-16, dev8-0, the busiest first[\s\S]*--device"):
        read(
            tmp_path / "sar.txt",
            SAR.replace("dev8-16      0.00      0.00      0.00", "dev8-16      9.00      0.00 950000.00"),
        )
    with pytest.raises(PslcError, match="no device sdz"):
        read(tmp_path / "sar.txt", SAR, device="sdz")


def test_a_broken_line_is_named_or_counted(tmp_path):
    broken = OLD.replace("160.00", "many")
    with pytest.raises(PslcError, match=r"io.txt:15: "):
        read(tmp_path / "io.txt", broken)
    with pytest.raises(PslcError, match="no intervals"):
        read(tmp_path / "io.txt", broken, skip_bad=True)


def test_what_iostat_has_counted_is_judged_as_what_was_watched(command, tmp_path):
    """300 MB/s for two minutes, 60 MB/s for one, five minutes of rest, and fast again."""
    header = "Device            r/s     rkB/s     w/s     wkB/s  w_await  aqu-sz  %util\n"
    text = "Linux 6.1.0 (db1) \t11/21/26 \t_x86_64_\t(2 CPU)\n\n"
    parts = [(30, 0), (120, 300), (60, 60), (300, 0), (60, 300)]
    speeds = [0, *(speed for seconds, speed in parts for _ in range(seconds))]
    for second, speed in enumerate(speeds):
        busy = 100.0 if speed else 0.0
        latency = 4000 / speed if speed else 0.0
        text += f"11/21/26 {22 + second // 3600}:{second // 60:02}:{second % 60:02}\n"
        text += f"{header}sda  0.00  0.00  {speed:.2f}  {speed * 1024:.2f}  {latency:.2f}  4.00  {busy:.2f}\n\n"
    (tmp_path / "io.txt").write_text(text)
    done = command.fine("analyze", "io.txt")
    said = " ".join(done.stdout.split())
    assert "Writes fell from 315 MB/s to 62.9 MB/s at 22:02:30 after 37.7 GB without a pause of 10 s" in said
    assert "the SLC cache was full (likely); it was fast again after 5 min idle, at 22:08:30" in said
    command.fine("compare", "io.txt", "io.txt")


SHIM = (ROOT / "tests/fixtures/texts/nvme_log_page.c").read_text()
WIDE = {"data_units_read": 32, "data_units_written": 48, "power_cycles": 112, "power_on_hours": 128,
        "unsafe_shutdowns": 144, "media_errors": 160}  # fmt: skip
"""Places of numbers of 16 bytes in the log (NVMe base specification, SMART / Health Information)."""
TIMES = {"warning_temp_time": 192, "critical_comp_time": 196, "thm_temp1_trans_count": 216,
         "thm_temp2_trans_count": 220, "thm_temp1_total_time": 224, "thm_temp2_total_time": 228}  # fmt: skip
"""And of 4 bytes."""


def test_nvme_cli_prints_the_health_log_that_is_read(tmp_path):
    needs("nvme", "cc")
    (tmp_path / "shim.c").write_text("#define _GNU_SOURCE\n" + SHIM)
    shim = tmp_path / "shim.so"
    built = subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, tmp_path / "shim.c", "-ldl"], check=False)
    if built.returncode:
        pytest.skip("the kernel's headers are not installed")
    drawn = random.Random(5)
    environment = os.environ | {"LD_PRELOAD": str(shim), "LOG_PAGE": str(tmp_path / "page"), "LC_ALL": "C"}
    for turn in range(20):
        page = bytearray(512)
        # nvme-cli prints a critical warning in hexadecimal, or not, by version; 0 is the same in both.
        log = {"critical_warning": 0, "temperature": drawn.randrange(0, 99)}
        struct.pack_into("<H", page, 1, log["temperature"] + 273)
        for place, name in ((3, "available_spare"), (4, "available_spare_threshold"), (5, "percentage_used")):
            log[name] = page[place] = drawn.randrange(0, 101)
        for name, place in WIDE.items():
            log[name] = drawn.randrange(0, 10 ** drawn.randrange(1, 18))
            page[place : place + 16] = log[name].to_bytes(16, "little")
        for name, place in TIMES.items():
            log[name] = drawn.randrange(0, 10**6)
            struct.pack_into("<I", page, place, log[name])
        (tmp_path / "page").write_bytes(page)
        for words in (["-o", "json"], []):
            done = subprocess.run(
                ["nvme", "smart-log", *words, "/dev/zero"], env=environment, capture_output=True, text=True, check=True
            )
            (found,) = read(tmp_path / f"log{turn}{len(words)}", done.stdout).health
            # Of long numbers nvme-cli 2 prints all digits in JSON, and in text.
            assert {name: found.get(name) for name in log} == log, words


def test_two_health_logs_tell_what_changed(command, tmp_path):
    for name, errors in (("before", 3), ("after", 5)):
        log = {"critical_warning": 0, "percentage_used": 95, "media_errors": errors, "power_on_hours": 7,
               "data_units_written": 10**9, "available_spare": 100}  # fmt: skip
        (tmp_path / name).write_text(json.dumps({"nvme_smart_health_information_log": log}))
    done = command.fine("analyze", "before", "after")
    assert "media errors rose from 3 to 5" in done.stdout
    assert "95 % of its life" in done.stdout


def test_a_load_that_no_64_bits_count_is_refused(tmp_path):
    head = "DEV   tps   rkB/s   wkB/s   dkB/s  areq-sz  aqu-sz  await  %util\n"
    rows = "".join(
        f"22:52:{at}   {head}22:52:{at + 1}   vda  50.00  144.0  380.0  1.0  63.69  9e11  0.18  20.40\n\n"
        for at in range(20, 50)
    )
    (tmp_path / "sar.txt").write_text(rows)
    with pytest.raises(PslcError, match=r"no drive counts up to 2.7e\+22 \(queue_s\)"):
        formats.read([tmp_path / "sar.txt"], ImportOptions())
