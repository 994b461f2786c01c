"""Anyone's data: fio's logs and JSON, tables, and recordings of ours."""

import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from pslc import PslcError, formats
from pslc.recording import store
from pslc.schema.imports import ImportOptions
from tests.conftest import fill


def cliff(path, *, averaged=False, share=1.0, step_ms=100):
    """An fio log of 60 s: 2 GB/s up to 40 GB, then 500 MB/s."""
    lines, written = [], 0.0
    for ms in range(step_ms, 60_000 + step_ms, step_ms):
        rate = (2e9 if written < 40e9 else 0.5e9) * share
        written += rate * step_ms / 1000 / share
        if averaged:
            lines.append(f"{ms}, {rate / 1024:.0f}, 1, 0, 0")
        else:
            lines.append(f"{ms}, {rate / 1024:.0f}, 1, {rate * step_ms / 1000:.0f}, 0, 0")
    path.write_text("\n".join(lines) + "\n")
    return path


def found(command, *arguments):
    done = command("analyze", *map(str, arguments), "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["findings"]


@pytest.mark.parametrize("averaged", [False, True])
def test_the_cliff_of_an_fio_log_is_found(averaged, command, tmp_path):
    findings = found(command, cliff(tmp_path / "a_bw.1.log", averaged=averaged))
    assert findings["cache_bytes"] == pytest.approx(40e9, rel=0.02)
    assert [phase["bytes_per_s"] for phase in findings["phases"]] == pytest.approx([2e9, 0.5e9], rel=0.02)
    before, behind = (phase["cause"] for phase in findings["phases"])
    assert before == "pslc"
    assert behind in ("fold", "direct"), "one level does not tell them apart"


@pytest.mark.parametrize("averaged", [False, True])
def test_the_logs_of_several_jobs_add_up(averaged, command, tmp_path):
    logs = [cliff(tmp_path / f"a_bw.{i}.log", averaged=averaged, share=share) for i, share in enumerate((0.25, 0.75))]
    findings = found(command, *logs)
    assert findings["cache_bytes"] == pytest.approx(40e9, rel=0.02)
    assert findings["phases"][0]["bytes_per_s"] == pytest.approx(2e9, rel=0.02)


@pytest.mark.parametrize("kind", ["iops", "clat"])
def test_logs_of_single_requests_tell_their_sizes_whatever_they_are_of(kind, command, tmp_path):
    path = cliff(tmp_path / f"a_{kind}.1.log")
    assert found(command, path)["cache_bytes"] == pytest.approx(40e9, rel=0.02)


def test_reads_in_a_log_are_no_writes(command, tmp_path):
    path = cliff(tmp_path / "a_bw.1.log")
    reads = "\n".join(f"{ms}, 5, 0, 900000000" for ms in range(50, 60_000, 100))
    both = sorted([*path.read_text().splitlines(), *reads.splitlines()], key=lambda line: int(line.split(",")[0]))
    mixed = tmp_path / "mixed_bw.1.log"
    mixed.write_text("\n".join(line + ", 0, 0" if line.count(",") == 3 else line for line in both) + "\n")
    assert found(command, mixed)["cache_bytes"] == pytest.approx(40e9, rel=0.02)


def test_a_malformed_line_is_named_and_can_be_left_out(command, tmp_path):
    path = cliff(tmp_path / "a_bw.1.log")
    lines = path.read_text().splitlines()
    lines[41] = "4200, oops"
    path.write_text("\n".join(lines) + "\n")
    done = command("analyze", str(path))
    assert done.returncode == 2
    assert 'a_bw.1.log:42: "4200, oops" is not a line of an fio log' in done.stderr
    assert "--skip-bad" in done.stderr
    done = command("analyze", str(path), "--skip-bad", "--json")
    assert json.loads(done.stdout)["bad_lines"] == 1
    assert "1 lines could not be read" in command("analyze", str(path), "--skip-bad").stdout


def test_logs_that_tell_no_bytes_are_refused(command, tmp_path):
    for name, text in (("a_iops.1.log", "100, 5000, 1, 0, 0\n"), ("a_lat.1.log", "100, 5000, 1, 0, 0\n")):
        (tmp_path / name).write_text(text * 100)
        done = command("analyze", name)
        assert done.returncode == 2
        assert "bandwidth" in done.stderr


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("written_gb,speed (MB/s)\n", []),
        ("n;Written [GB];Rate [MB/s]\n", []),
        ("offset,rate\n", ["--x", "offset=GB", "--y", "rate=MB/s"]),
        ("Time (s)\tThroughput MB/s\n", []),
    ],
)
def test_tables_are_read_by_names_and_units(text, arguments, command, tmp_path):
    separator = next(mark for mark in ",;\t" if mark in text)
    lines, seconds = [text], 0.0
    for gb in range(1, 201):
        speed = 3000 if gb <= 90 else 800
        seconds += 1000 / speed
        first = f"{seconds:.4f}" if text.startswith("Time") else str(gb)
        cells = [first, str(speed)] if not text.startswith("n;") else [str(gb), f"{gb},0", str(speed)]
        lines.append(separator.join(cells) + "\n")
    path = tmp_path / "table.csv"
    path.write_text("".join(lines))
    findings = found(command, path, "--capacity", "300GB", *arguments)
    assert findings["cache_bytes"] == pytest.approx(90e9, rel=0.02)


def test_a_table_of_very_many_lines_is_read_with_neighbours_as_one_sample(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text(
        "t_s,MB/s\n" + "".join(f"{second},{100 + second % 7}\n" for second in range(1, 1001))
    )
    whole = formats.read([tmp_path / "a.csv"], ImportOptions())
    monkeypatch.setattr(formats.table, "MAX_SAMPLES", 300)
    merged = formats.read([tmp_path / "a.csv"], ImportOptions())
    assert whole.of_level("note") == []
    assert merged.of_level("note") == ["the table has 1,000 samples: each 4 of them are read as one"]
    assert len(merged.curve.seconds) == 250
    assert merged.curve.edges_bytes[1:] == pytest.approx(whole.curve.edges_bytes[4::4])
    assert merged.curve.seconds == pytest.approx(np.full(250, 4.0))
    monkeypatch.setattr(formats.table, "MAX_LINES", 1000)
    with pytest.raises(PslcError, match="has more than 1,000 lines"):
        formats.read([tmp_path / "a.csv"], ImportOptions())


@pytest.mark.long
def test_a_table_of_50_mb_takes_less_than_600_mb_of_memory(tmp_path):
    with (tmp_path / "a.csv").open("w") as file:
        file.write("t_s,MB/s\n")
        for thousand in range(4300):
            file.writelines(f"{1000 * thousand + second},{100 + second % 900}\n" for second in range(1000))
    assert (tmp_path / "a.csv").stat().st_size > 45_000_000
    code = ("import sys; from pslc.base import limits; from pslc.cli import main; sys.argv[1:] = ['analyze', 'a.csv']\n"
            "try: main()\n"
            "finally: print(limits.peak_bytes(), file=sys.stderr)")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert int(done.stderr.split()[-1]) < 600_000_000


def test_a_table_without_units_says_how_to_give_them(command, tmp_path):
    (tmp_path / "table.csv").write_text("offset,rate\n1,2\n")
    done = command("analyze", "table.csv")
    assert done.returncode == 2
    assert "--x offset=s --y rate=MB/s" in done.stderr
    assert "the columns are offset, rate" in done.stderr


@pytest.mark.parametrize("number", ["5" * 300, "1e999", "inf"])
def test_a_number_that_no_drive_counts_up_to_is_named(number, command, tmp_path):
    """300 digits fit a float, and what is reckoned from them does not."""
    (tmp_path / "table.csv").write_text(f"GB,MB/s\n1,2000\n2,2000\n3,{number}\n4,500\n")
    done = command("analyze", "table.csv")
    assert done.returncode == 2
    assert f'table.csv:4: "3,{number[:50]}' in done.stderr


def test_part_of_a_drive_is_no_drive_without_a_cliff(command, tmp_path):
    (tmp_path / "t.csv").write_text("written_gb,speed_mb/s\n" + "".join(f"{gb},3000\n" for gb in range(1, 101)))
    findings = found(command, "t.csv", "--capacity", "1TB")
    assert findings["cache_bytes"] is None
    assert findings["cache_bytes_low"] == pytest.approx(100e9)
    assert "holds 100 GB or more" in command("analyze", "t.csv", "--capacity", "1TB").stdout


def test_fios_json_shows_its_jobs(command, tmp_path):
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    arguments = ["--name=a", "--rw=randrw", "--bs=4k", "--size=4m", f"--directory={tmp_path}", "--output-format=json+"]
    done = subprocess.run(["fio", *arguments], capture_output=True, text=True, check=True)
    (tmp_path / "out.json").write_text("a warning before it\n" + done.stdout)
    shown = command("analyze", "out.json")
    assert shown.returncode == 0, shown.stderr
    assert "IOPS" in shown.stdout
    assert sum(job[kind]["io_bytes"] for job in formats.read([tmp_path / "out.json"], ImportOptions()).jobs
               for kind in ("read", "write")) == 4 << 20  # fmt: skip


def test_what_is_no_known_format_is_refused(command, tmp_path):
    (tmp_path / "x.bin").write_bytes(b"\x00\x01\x02")
    done = command("analyze", "x.bin")
    assert done.returncode == 2
    assert "is of no known format" in done.stderr
    assert command("analyze", "none.log").returncode == 2


def test_our_own_recordings_are_shown_again(command, tmp_path):
    store.save(fill("sim:pm871b-128gb"), tmp_path / "run")
    assert "hint: give its folder: run" in command.refused("analyze", "run/run.json").stderr
    done = command("analyze", "run")
    assert "The write cache ends after 3.02 GB" in done.stdout


def test_a_long_log_is_read_in_pieces(tmp_path):
    path = tmp_path / "long_bw.1.log"
    ms = np.arange(1, 300_001)
    np.savetxt(path, np.c_[ms, np.full_like(ms, 7), np.ones_like(ms), np.full_like(ms, 4096)], fmt="%d", delimiter=", ")
    curve = formats.read([path], ImportOptions()).curve
    assert curve is not None
    assert curve.total_bytes == 300_000 * 4096


LOG = "".join(f"{1000 * t}, {900_000 if t <= 100 else 200_000}, 1, 0\n" for t in range(1, 601))
"""A fall after 92 GB, of a drive of 400 GB."""


@pytest.mark.parametrize(
    ("companion", "text"),
    [
        ("job.fio", "; ours\n[global]\nrw=randwrite\ndirect=1\n[a]\nbs=4k\n"),
        ("out.json", '{"fio version": "fio-3.36", "global options": {"rw": "randwrite", "direct": "1"}, '
         '"jobs": [{"jobname": "a", "job options": {}}]}'),
    ],
)  # fmt: skip
def test_a_job_file_or_json_beside_a_log_tells_how_it_was_written(companion, text, command, tmp_path):
    (tmp_path / "fill_bw.1.log").write_text(LOG)
    (tmp_path / companion).write_text(text)
    log = tmp_path / "fill_bw.1.log"
    assert found(command, log, "--capacity", "400GB")["cache_bytes"] == pytest.approx(92.2e9, rel=0.02)
    findings = found(command, log, tmp_path / companion, "--capacity", "400GB")
    assert findings["cache_bytes"] is None
    assert findings["cache_bytes_low"] is None
    assert "random" in [warning["code"] for warning in findings["warnings"]]


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ("fsync=1\nbs=4k", "flush"),
        ("fdatasync=1\nbs=8k", "flush"),
        ("sync=dsync", "flush"),
        ("fsync=1\nioengine=libaio\niodepth=4", "unknown"),
        ("fsync=1\niodepth=4\nbs=4k", "flush"),
        ("fsync=32", "unknown"),
        # 10 us for each: no program is as quick.
        ("fsync=1\nbs=64", "unknown"),
    ],
)
def test_a_job_file_beside_a_log_tells_whether_each_write_was_flushed(options, cause, command, tmp_path):
    log, job = tmp_path / "sync_bw.1.log", tmp_path / "sync.fio"
    log.write_text("".join(f"{1000 * t}, 6350, 1, 0\n" for t in range(1, 101)))
    job.write_text(f"[a]\nrw=randwrite\ndirect=1\n{options}\n")
    assert [phase["cause"] for phase in found(command, log, job, "--capacity", "400GB")["phases"]] == [cause]


def test_what_the_files_do_not_say_can_be_said(command, tmp_path):
    log = tmp_path / "fill_bw.1.log"
    log.write_text(LOG)
    untold = found(command, log, "--capacity", "400GB")
    assert "nobody-says" in [warning["code"] for warning in untold["warnings"]]
    assert found(command, log, "--capacity", "400GB", "--workload", "random")["cache_bytes"] is None
    sequential = found(command, log, "--capacity", "400GB", "--workload", "sequential", "--prefilled")
    # How much room a drive that held data had nobody knows: a limit is not ruled out.
    assert [warning["code"] for warning in sequential["warnings"]] == ["unsure", "part", "prefilled"]
    assert sequential["warnings"][2:] == [
        {
            "code": "prefilled",
            "level": "warning",
            "text": "the drive was full before, so this is not the cache of an empty one: erase it and write again",
        }
    ]
    linked = found(command, log, "--capacity", "400GB", "--link", "pcie2x2")
    assert linked["phases"][0]["cause"] == "link"
    assert found(command, log, "--capacity", "400GB", "--link", "700MB/s")["phases"][0]["cause"] == "page-cache"
    for option, value in (("--workload", "both"), ("--link", "fast")):
        wrong = command("analyze", str(log), option, value)
        assert wrong.returncode == 2
        assert re.search(f'{option}(:| is) "{value}"', wrong.stderr)


def test_a_column_of_temperatures_tells_of_heat(command, tmp_path):
    lines = ["written_gb,speed (MB/s),temp (C)\n"]
    for gb in range(4, 2001, 4):
        speed = 3100 if gb <= 84 else 2127 if gb <= 272 else 612
        lines.append(f"{gb},{speed},{84 if 80 < gb <= 272 else 60}\n")
    table = tmp_path / "hot.csv"
    table.write_text("".join(lines))
    findings = found(command, table, "--capacity", "2TB")
    assert [phase["cause"] for phase in findings["phases"]] == ["pslc", "thermal", "fold"]
    assert findings["cache_bytes"] == pytest.approx(272e9, rel=0.01)
    assert not any("only guessed" in warning for warning in findings["warnings"])
    table.write_text("".join(lines).replace(",84\n", ",61\n").replace(",60\n", ",62\n"))
    cool = found(command, table, "--capacity", "2TB")
    assert [phase["cause"] for phase in cool["phases"]][:2] == ["pslc", "pslc"]
    assert command("analyze", str(table), "--celsius", "warmth").returncode == 2


def test_a_cause_that_is_less_likely_than_not_is_perhaps_so(command, tmp_path):
    table = tmp_path / "two.csv"
    table.write_text(
        "written_gb,speed (MB/s)\n" + "".join(f"{gb},{3000 if gb <= 80 else 1500}\n" for gb in range(1, 401))
    )
    assert "perhaps direct to native cells" in command("analyze", str(table), "--capacity", "1TB").stdout


def test_where_memory_took_in_what_is_above_the_link_no_cache_ends(command, tmp_path):
    speeds = [3000] * 30 + [1500] * 80
    (tmp_path / "a.csv").write_text("time_s,speed_MB/s\n" + "".join(f"{s + 1},{v}\n" for s, v in enumerate(speeds)))
    findings = found(command, tmp_path / "a.csv", "--capacity", "500GB", "--link", "sata600")
    assert {phase["cause"] for phase in findings["phases"]} == {"page-cache"}
    assert findings["cache_bytes"] is None
    assert found(command, tmp_path / "a.csv", "--capacity", "500GB", "--link", "pcie3x4")[
        "cache_bytes"
    ] == pytest.approx(90e9)
