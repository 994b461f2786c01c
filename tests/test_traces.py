"""Traces: shown, converted, replayed on a simulated drive, and judged."""

import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pslc
import pslc.suites.trace
from pslc import suites, traces
from pslc._native import trace_format, trace_formats
from pslc.report import recording_view
from pslc.runner import job_file
from pslc.traces import Part, Replay, survey_view
from tests.conftest import ROOT
from tests.typed import unlike

MB = 1_000_000


def table(path: Path, rows: list[tuple]) -> Path:
    """A trace of rows: us, operation, offset, bytes."""
    path.write_text("time_us,op,offset,size\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def bursts(path: Path, count: int, size: int, pause_s: float) -> Path:
    """So many bursts of writes of 1 MB each 2 ms, with pauses between them, at ever new addresses."""
    rows, at, us = [], 0, 0
    for _ in range(count):
        for _ in range(size // MB):
            rows.append((us, "write", at, 1 << 20))
            at, us = at + (1 << 20), us + 2000
        us += round(pause_s * 1e6)
    return table(path, rows)


def test_a_trace_whose_bursts_fit_into_the_cache_never_fills_it(small, tmp_path):
    found = pslc.run(bursts(tmp_path / "a.csv", 4, 400 * MB, 20.0), on=small).findings
    assert found["enough"] is True
    assert found["share_slc"] == 1.0
    assert 400 * MB <= found["cache_most_bytes"] <= 500 * MB
    assert found["full_s"] == 0.0


def test_the_same_bursts_without_pauses_do_not_fit(small, tmp_path):
    found = pslc.run(bursts(tmp_path / "a.csv", 4, 400 * MB, 0.0), on=small).findings
    assert found["enough"] is False
    assert found["share_slc"] < 1.0
    assert found["cache_most_bytes"] > 700 * MB
    assert found["share_slc"] + found["share_direct"] + found["share_while_folding"] == pytest.approx(1.0)


def test_what_if_finds_the_smallest_cache_that_is_enough(small, tmp_path):
    trace = bursts(tmp_path / "a.csv", 3, 300 * MB, 20.0)
    found = pslc.run(trace, on=small, replay=Replay(what_if=True)).findings
    assert unlike(dict(found), suites.trace.Findings) == []
    rows = {row["name"]: row for row in found["what_if"]}
    assert list(rows) == ["as it is", "cache off", "all pSLC", "just enough cache"]
    assert rows["cache off"]["share_slc"] in (0.0, None)
    assert rows["cache off"]["write_p99_s"] > rows["as it is"]["write_p99_s"]
    assert rows["cache off"]["cache_bytes"] is None
    # A pSLC cell stands more than a native one, but here nobody says how much.
    assert {row["life_years"] for row in found["what_if"]} == {None}
    size = rows["just enough cache"]["cache_bytes"]
    assert 300 * MB <= size < 800 * MB
    # It is: and one that is a tenth smaller is not.
    assert pslc.run(trace, on=f"{small},cache.dynamic={size}B").findings["enough"]
    assert not pslc.run(trace, on=f"{small},cache.dynamic={round(size * 0.9)}B").findings["enough"]


@pytest.mark.parametrize(
    "change",
    [
        ",scale=1/2",
        ",nand.blocks_per_plane=1200,cache.mode=hybrid-slc,cache.static=600MB,cache.dynamic=400MB",
        ",nand.blocks_per_plane=1200,cache.mode=static-slc,cache.static=900MB",
    ],
)
def test_the_smallest_cache_is_that_of_the_drive_as_it_is_scaled_and_of_each_mode(small, tmp_path, change):
    trace = bursts(tmp_path / "a.csv", 3, 300 * MB, 20.0)
    found = pslc.run(trace, on=small + change, replay=Replay(what_if=True)).findings
    rows = {row["name"]: row for row in found["what_if"]}
    size, own = rows["just enough cache"]["cache_bytes"], rows["as it is"]["cache_bytes"]
    held = rows["just enough cache"]["cache_most_bytes"]
    assert rows["as it is"]["enough"]
    assert held <= size < own
    assert size <= 1.2 * held


def test_a_search_that_finds_no_smaller_cache_says_so(tmp_path):
    findings = suites.trace._smallest_cache(10**9, 10**9)
    assert findings == "No smaller cache than the drive's own, 1.00 GB, would have been enough."


def test_the_answers_of_the_page_of_questions_are_near_what_the_cache_held():
    text = (ROOT / "docs/questions.md").read_text()
    answers = re.findall(r"A cache of ([\d.]+) GB would have been enough", text)
    held = re.findall(r"it held at most ([\d.]+) GB", text)
    assert len(answers) == len(held) == 2
    for size, peak in zip(answers, held, strict=True):
        assert 1.0 <= float(size) / float(peak) <= 1.3


def test_latencies_are_those_of_the_same_requests_as_a_job(small, tmp_path):
    rows = [(0, "write", i << 20, 1 << 20) for i in range(2000)]
    trace = pslc.run(table(tmp_path / "a.csv", rows), on=small, replay=Replay(pace="asap"), options=[("iodepth", "8")])
    (tmp_path / "same.fio").write_text("[a]\nrw=write\nbs=1m\nioengine=io_uring\niodepth=8\ndirect=1\nsize=2000m\n")
    job = pslc.run(tmp_path / "same.fio", on=small)
    assert trace.drive_time_s == job.drive_time_s
    assert trace.jobs[0]["write"] == job.jobs[0]["write"]
    assert trace.totals == job.totals


def test_a_life_is_what_the_cells_stand_at_the_pace_of_the_trace(tmp_path):
    trace = bursts(tmp_path / "a.csv", 4, 400 * MB, 20.0)
    once = pslc.run(trace, on="sim:pm871b-128gb").findings
    twice = pslc.run(trace, on="sim:pm871b-128gb", replay=Replay(speed=2.0)).findings
    assert once["life_years"] > 0
    assert once["life_years"] / twice["life_years"] == pytest.approx(2 * twice["waf"] / once["waf"], rel=0.1)


def test_how_long_a_drive_lasts_at_the_load_of_a_job_file_counts_what_is_yet_to_be_folded(tmp_path):
    (tmp_path / "held.fio").write_text("[a]\nrw=write\nbs=1m\nsize=600m\ndirect=1\n")
    (tmp_path / "folded.fio").write_text(
        (tmp_path / "held.fio").read_text() + "[rest]\nstonewall\nstartdelay=120s\nrw=read\nsize=4k\n"
    )
    held, folded = (pslc.run(tmp_path / name, on="sim:pm871b-128gb") for name in ("held.fio", "folded.fio"))
    assert (held.findings["waf"], folded.findings["waf"] > 1.9) == (1.0, True)
    assert held.findings["life_bytes"] == pytest.approx(folded.findings["life_bytes"], rel=0.05)
    years = folded.findings["life_bytes"] / (600 * 2**20 / folded.drive_time_s) / (365.25 * 86400)
    assert folded.findings["life_years"] == pytest.approx(years, rel=1e-3)
    assert any(
        "at this load, day and night, it lasts" in said for said in recording_view.of_recording(folded).sentences
    )


def test_each_drive_of_what_if_is_judged_by_its_own_profile(tmp_path):
    trace = bursts(tmp_path / "a.csv", 2, 400 * MB, 20.0)
    found = pslc.run(trace, on="sim:pm871b-128gb", replay=Replay(what_if=True)).findings
    for row, mode in zip(found["what_if"][1:3], ("pure-xlc", "pure-slc"), strict=True):
        alone = pslc.run(trace, on=f"sim:pm871b-128gb,cache.mode={mode}").findings
        for name in ("cache_bytes", "waf", "life_years", "share_slc", "enough"):
            assert row[name] == alone[name], (mode, name)


FORCED = [
    # Cause; of what; the drive that has it, the drive that has not.
    ("folding", "write", "", ",cache.when_full=direct-then-fold"),
    ("collection", "write", ",cache.mode=pure-xlc", ",cache.mode=pure-xlc,nand.blocks_per_plane=2400"),
    ("mapping", "read", ",controller.map=64KiB", ""),
    ("link", "read", ",link=sata300", ",link=pcie5x4"),
]


def forced(folder: Path, cause: str) -> tuple[Path, Replay]:
    """Work that meets one cause and hardly any other."""
    draw = random.Random(7)
    if cause == "folding":
        rows = [(0, "write", i << 20, 1 << 20) for i in range(2500)]
    elif cause == "collection":
        rows = [(0, "write", i << 20, 1 << 20) for i in range(7600)]
        rows += [(0, "write", draw.randrange(7599 << 8) << 12, 1 << 20) for _ in range(8000)]
    elif cause == "mapping":
        rows = [(0, "read", draw.randrange(1 << 20) << 12, 4096) for _ in range(20_000)]
    else:
        rows = [(0, "read", i << 17, 1 << 17) for i in range(4000)]
    depth = {"mapping": 1, "link": 64}.get(cause, 4)
    how = Replay(pace="asap", iodepth=depth, prefill=cause in ("mapping", "link"))
    return table(folder / f"{cause}.csv", rows), how


@pytest.mark.parametrize(("cause", "kind", "on", "off"), FORCED, ids=[row[0] for row in FORCED])
def test_what_slow_requests_are_put_down_to_is_gone_with_its_cause(small, tmp_path, cause, kind, on, off):
    trace, how = forced(tmp_path, cause)
    found, without = (pslc.run(trace, on=small + keys, replay=how).findings for keys in (on, off))

    def share(findings):
        of_kind = {row["cause"]: row["share"] for row in findings["slow"] if row["kind"] == kind}
        assert sum(of_kind.values()) == pytest.approx(1.0)
        return of_kind.get(cause, 0.0)

    assert share(found) > 0.25
    if cause == "folding":
        # Of the dies' time the host has 60 %, says the profile.
        direct = next(row["share"] for row in found["slow"] if row["cause"] == "direct")
        assert share(found) / (share(found) + direct) == pytest.approx(0.4, abs=0.03)
    assert share(without) < 0.05
    # Nor was it anything else: they are faster by about what it took.
    slow, fast = (next(of["p99_s"] for of in run["latencies"] if of["kind"] == kind) for run in (found, without))
    assert 1 - fast / slow > 0.7 * share(found)
    assert any(f"slowest 1 % of {kind}s" in line for line in suites.load("trace").sentences(found))


def test_heat_is_what_slow_requests_wait_for_on_a_hot_drive_alone(tmp_path):
    trace, how = forced(tmp_path, "link")
    hot, cold = (
        pslc.run(trace, on=f"sim:sn850-1tb,heat.throttle1.at={at},heat.throttle1.until=20C", replay=how).findings
        for at in ("24C", "90C")
    )
    # 40 % of the link's speed is left, and the link is all there is to wait for.
    of_hot = {row["cause"]: row["share"] for row in hot["slow"] if row["kind"] == "read"}
    assert of_hot["heat"] == pytest.approx(0.6, abs=0.1)
    assert "heat" not in {row["cause"] for row in cold["slow"]}


def test_reads_of_what_was_never_written_raise_a_warning_until_they_are_written_first(small, tmp_path):
    rows = [(100 * i, "read", random.Random(i).randrange(1000) * 4096, 4096) for i in range(2000)]
    trace = table(tmp_path / "a.csv", rows)
    bare = pslc.run(trace, on=small)
    assert any("--prefill" in warning for warning in bare.findings["warnings"])
    assert bare.facts["trace"]["replay"]["unwritten_bytes"] == sum(row[3] for row in rows)
    filled = pslc.run(trace, on=small, replay=Replay(prefill=True))
    for run in (bare, filled):
        assert run.facts["trace"]["survey"] == traces.opened(trace, Part()).survey(), "what a replay sees on the way"
    assert not any("--prefill" in warning for warning in filled.findings["warnings"])
    assert filled.findings["share_slc"] is None, "the trace writes nothing"
    fast, slow = (run.findings["latencies"][0]["p50_s"] for run in (bare, filled))
    assert slow > fast + 20e-6, "now the flash is read"


def test_several_devices_are_listed_and_one_is_taken(small, tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("".join(f"{device},W,{i * 4096},4096,{i}\n" for i in range(100) for device in (4, 7)))
    with pytest.raises(pslc.PslcError, match=r"(?s)2 devices: 4 \(100 requests, 410 kB written.*--device") as error:
        pslc.run(path, on=small)
    assert "7 (100 requests" in str(error.value)
    one = pslc.run(path, on=small, replay=Replay(part=Part(device="7")))
    assert one.jobs[0]["write"]["total_ios"] == 100


def test_parquet_and_iolog_hold_the_same_requests(tmp_path):
    rows = [(7 * i, ("read", "write", "trim", "flush")[i % 4], i * 8192, 4096 + 512 * (i % 5)) for i in range(3000)]
    rows = [(us, op, 0, 0) if op == "flush" else (us, op, at, size) for us, op, at, size in rows]
    trace = table(tmp_path / "a.csv", rows)
    assert traces.write_parquet(trace, Part(), tmp_path / "a.parquet") == 3000
    assert traces.opened(trace, Part()).write_iolog(str(tmp_path / "a.iolog"), "/dev/x") == 3000
    surveys = [traces.opened(tmp_path / name, Part()).survey() for name in ("a.csv", "a.parquet", "a.iolog")]
    assert [survey.pop("format") for survey in surveys] == ["table", "parquet", "fio-iolog"]
    for survey in surveys:
        survey["devices"][0].pop("device")
    assert surveys[0] == surveys[1] == surveys[2]
    assert surveys[0]["devices"][0]["count"] == {"read": 750, "write": 750, "trim": 750, "flush": 750}


def test_what_is_in_a_trace_is_drawn_as_well(command, tmp_path):
    draw = random.Random(3)
    rows, us = [], 0
    for _ in range(2000):
        us += draw.choice((10, 1000, 400_000))
        rows.append((us, draw.choice(("read", "write")), draw.randrange(1000) * 4096, 4096 * draw.randrange(1, 40)))
    trace = table(tmp_path / "a.csv", rows)
    shown = {picture.name: picture for picture in survey_view.pictures(traces.opened(trace, Part()).survey())}
    assert list(shown) == ["asked", "sizes", "bursts"]
    for line in shown["asked"].lines:
        seconds, speed = line.points
        assert 100 <= len(seconds) <= 256
        moved = sum(size for _, kind, _, size in rows if line.name.startswith(kind[:4].removesuffix("e")))
        assert speed.sum() * (seconds[1] - seconds[0]) == pytest.approx(moved)
    (panel,) = shown["sizes"].panels
    assert sum(sum(bars.values) for bars in panel.bars) == pytest.approx(1)
    assert list(shown["sizes"].x.names) == ["4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB", "128 KiB"]
    done = command("trace", "show", "a.csv", "-o", "a.html")
    assert done.returncode == 0, done.stderr
    assert "speed (MB/s)" in done.stdout
    page = (tmp_path / "a.html").read_text()
    assert not [picture for picture in shown.values() if picture.title not in page]
    assert "-o a.html" in command("trace", "show", "a.csv", "-o", "a.parquet").stderr


def test_a_trace_is_written_as_parquet_without_being_held(tmp_path):
    """Of a row 36 bytes, of two million 72 MB."""
    peaks = []
    for count in (100_000, 2_100_000):
        trace = tmp_path / f"{count}.csv"
        trace.write_text("0,W,0,4096,0\n" + "".join(f"0,W,{i % 4096 * 4096},4096,{i}\n" for i in range(1, count)))
        code = (
            "import sys; from pathlib import Path; from pslc import traces\n"
            "print(traces.write_parquet(Path(sys.argv[1]), traces.Part(), Path(sys.argv[2])))\n"
            "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
        )
        command = [sys.executable, "-c", code, trace, tmp_path / f"{count}.parquet"]
        written, kib = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        assert int(written) == count
        peaks.append(int(kib) * 1024)
    assert peaks[1] - peaks[0] < 36e6, peaks


def test_parquet_of_other_programs_is_read_by_the_names_of_its_columns(tmp_path):
    import numpy as np
    from arro3.core import Array, DataType, Table
    from arro3.io import write_parquet

    columns = {
        "when": Array.from_numpy(np.array([1.5, 2.5, 3.5])),
        "what": Array(["W", "read", "W"], DataType.string()),
        "lba": Array.from_numpy(np.array([8, 16, 24], dtype=np.int64)),
        "bytes": Array.from_numpy(np.array([4096, 512, 8192], dtype=np.int32)),
        "volume": Array(["a", "a", "b"], DataType.string()),
    }
    write_parquet(Table.from_arrays(list(columns.values()), names=list(columns)), tmp_path / "x.parquet")
    part = Part(columns=(("time", "when:ms"), ("op", "what")))
    found = traces.opened(tmp_path / "x.parquet", part).survey()
    assert [(of["device"], of["bytes"]["write"], of["end_bytes"]) for of in found["devices"]] == [
        ("a", 4096, 8704),
        ("b", 8192, 24 * 512 + 8192),
    ]
    assert found["duration_ns"] == 2_000_000


def test_the_command_shows_converts_and_replays(command, tmp_path):
    trace = str(ROOT / "examples" / "evening.csv")
    shown = command("trace", "show", trace, "--json")
    assert json.loads(shown.stdout)["format"] == "table"
    done = command("replay", trace, "--on", "sim:pm871b-128gb", "--save", "out")
    assert done.returncode == 0, done.stderr
    assert "The write cache did not take all of it" in done.stdout
    again = command("analyze", "out")
    assert "The write cache did not take all of it" in again.stdout
    assert command("report", "out", "-o", "out.html").returncode == 0
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


def test_run_names_the_command_that_replays_a_trace(command):
    trace = str(ROOT / "examples" / "evening.csv")
    for words in ([trace], ["trace", trace]):
        done = command("run", *words, "--on", "sim:pm871b-128gb")
        assert done.returncode == 2
        assert f"hint: pslc replay {trace} --on sim:pm871b-128gb" in done.stderr


def test_replay_takes_a_job_file_that_replays_a_trace_and_no_other(command, tmp_path):
    trace = ROOT / "examples" / "evening.csv"
    (tmp_path / "replays.fio").write_text(f"[a]\nread_iolog={trace}\n")
    (tmp_path / "writes.fio").write_text("[a]\nrw=write\nsize=1m\n")
    assert command("replay", "replays.fio", "--on", "sim:pm871b-128gb", "--no-report").returncode == 0
    done = command("replay", "replays.fio", "--on", "sim:pm871b-128gb", "--pace", "asap")
    assert done.returncode == 2
    assert "replays.fio sets the pace of its trace itself" in done.stderr
    done = command("replay", "writes.fio", "--on", "sim:pm871b-128gb")
    assert done.returncode == 2
    assert "writes.fio is not a trace" in done.stderr
    assert "hint: pslc run writes.fio runs it" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["replay", "none.csv", "--on", "sim:pm871b-128gb"], "no such file\n\nhint: give the file of a trace"),
        (
            ["replay", "{root}/tests/fixtures/fill.csv", "--on", "sim:pm871b-128gb"],
            "is not a trace\n\nhint: give the file of a trace",
        ),
        (["replay", "{trace}", "--on", "sim:pm871b-128gb", "--from", "10h"], "no request is between --from and --to"),
        (["replay", "{trace}", "--on", "sim:pm871b-128gb", "--bs=4k"], "pslc replay has no option --bs"),
        (["replay", "{trace}", "--on", "./x.bin", "--size", "64MB"], "but the drive has"),
        (["replay", "{trace}", "--on", "sim:pm871b-128gb", "--from", "5s", "--to", "5s"], "--to 5s is not after"),
        (["replay", "{trace}", "--on", "sim:pm871b-128gb", "--columns", "when"], '--columns has "when"'),
        (["replay", "{trace}", "--on", "sim:pm871b-128gb", "--columns", "time=never"], "there is no column never"),
        (["trace", "convert", "{trace}"], "pslc trace convert needs --output"),
        (["trace", "look", "{trace}"], "pslc trace has no command look"),
        (["trace", "show", "no.trace"], "there is no such file"),
    ],
)
def test_what_cannot_be_done_is_an_error_that_says_what_to_do(command, arguments, said):
    trace = str(ROOT / "examples" / "evening.csv")
    done = command(*(word.format(trace=trace, root=ROOT) for word in arguments))
    assert done.returncode == 2
    assert said in done.stderr
    assert "hint: " in done.stderr
    assert not done.stdout


def test_columns_without_an_operation_are_writes_and_say_so_where_no_column_is_left(tmp_path, command):
    rows = [f"{8 * at},4096,{at / 1000:.6f}" for at in range(50)]
    (tmp_path / "lba.trace").write_text("\n".join(rows))
    words = ("trace", "show", "lba.trace", "--json", "--columns", "time=3:s,offset=1:sectors,size=2")
    survey = json.loads(command.fine(*words).stdout)
    assert survey["devices"][0]["bytes"]["write"] == 50 * 4096
    assert "all are taken for writes" in survey["notes"][0]
    survey = json.loads(command.fine(*words[:-1], f"{words[-1]},op=read").stdout)
    assert (survey["devices"][0]["bytes"]["read"], survey["notes"]) == (50 * 4096, [])
    (tmp_path / "lba.trace").write_text("\n".join(f"{row},7" for row in rows))
    assert "no column is the op" in command(*words).stderr


def test_a_job_file_is_no_trace_and_every_format_is_in_the_table_of_the_document():
    for path in (ROOT / "examples").glob("*.fio"):
        assert trace_format(str(path)) is None
        assert not traces.is_trace(path, Part())
    text = (ROOT / "docs" / "traces.md").read_text()
    for name, _ in trace_formats():
        assert f"| `{name}` |" in text


def requests(path: Path, part: Part | None = None) -> list[tuple[int, int, int, int]]:
    """Time in ns, kind, offset and bytes of each request of a trace."""
    found = []
    for batch in traces.opened(path, part or Part()).read(1 << 16):
        types = {"time_ns": "<u8", "op": "u1", "offset": "<u8", "size": "<u4"}
        columns = [np.frombuffer(batch[name], kind).tolist() for name, kind in types.items()]
        found += list(zip(*columns, strict=True))
    return found


def crafted(folder: Path, count: int, seed: int) -> Path:
    """blktrace's files of two processors: requests of every kind, queued, issued and completed."""
    read, write, flush, sync, meta, discard, fua = 1, 2, 4, 8, 1 << 12, 1 << 13, 1 << 15
    kinds = [
        read,
        write,
        write | sync,
        write | sync | fua,
        write | flush | sync | fua,
        discard,
        flush | write,
        read | meta,
    ]
    draw = random.Random(seed)
    files: list[list[tuple[int, bytes]]] = [[], []]
    now = 1000
    for _ in range(count):
        now += draw.randrange(100, 900_000)
        cpu, kind, sector = draw.randrange(2), draw.choice(kinds), draw.randrange(1 << 40)
        size = 0 if kind == flush | write else 512 * draw.randrange(1, 64)
        for after, event, category in ((0, 1, 1 << 4), (50, 7, 1 << 6), (90, 8, 1 << 7)):
            action, more = event | (kind | category) << 16, b"abc"[: draw.randrange(4)]
            head = (0x65617407, draw.randrange(1 << 20), now + after, sector, size, action, 42, 8 << 20 | 3, cpu, 0)
            files[cpu].append((now + after, struct.pack("=IIQQIIIIIHH", *head, len(more)) + more))
    for cpu, events in enumerate(files):
        (folder / f"x.blktrace.{cpu}").write_bytes(b"".join(event for _, event in sorted(events)))
    return folder / "x.blktrace.0"


@pytest.mark.skipif(shutil.which("blkparse") is None, reason="blkparse is not installed (apt install blktrace)")
@pytest.mark.parametrize("seed", range(5))
def test_blktraces_files_hold_what_blkparse_prints_of_them(tmp_path, seed):
    binary = crafted(tmp_path, 500, seed)
    done = subprocess.run(["blkparse", "-i", "x", "-d", "all.bin"], cwd=tmp_path, capture_output=True, check=True)
    (tmp_path / "x.txt").write_bytes(done.stdout)
    assert trace_format(str(binary)) == "blktrace"
    assert trace_format(str(tmp_path / "x.txt")) == "blkparse"
    of_files = requests(binary)
    assert len(of_files) >= 500
    assert of_files == requests(tmp_path / "x.txt") == requests(tmp_path / "all.bin")


def replayed_by_fio(folder: Path, log: Path, *options: str) -> list[tuple[int, int, int]]:
    """What fio does when it replays a trace, by its own log of each request: kind, offset, bytes."""
    command = ["fio", "--name=a", f"--read_iolog={log}", "--ioengine=psync", "--write_lat_log=did", "--log_offset=1"]
    command += options
    # As soon as possible: its waits are not what is compared.
    done = subprocess.run([*command, "--replay_no_stall=1"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    fields = [line.split(",") for line in (folder / "did_clat.1.log").read_text().splitlines()]
    return [(int(kind), int(at), int(size)) for _, _, kind, size, at, *_ in fields]


def moved(trace: Path) -> list[tuple[int, int, int]]:
    """The reads and writes of a trace."""
    return [(kind, at, size) for _, kind, at, size in requests(trace) if kind < 2]


needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


@needs_fio
def test_fio_replays_an_iolog_of_ours_request_by_request(tmp_path):
    draw = random.Random(5)
    rows = [(100 * i, draw.choice(("read", "write")), draw.randrange(1000) * 4096, 4096 * draw.randrange(1, 9))
            for i in range(400)]  # fmt: skip
    file = tmp_path / "file"
    file.write_bytes(bytes(8 << 20))
    trace = table(tmp_path / "a.csv", rows)
    traces.opened(trace, Part()).write_iolog(str(tmp_path / "a.iolog"), str(file))
    did = replayed_by_fio(tmp_path, tmp_path / "a.iolog")
    assert did == moved(trace)


@needs_fio
@pytest.mark.parametrize("form", ["iolog", "blktrace"])
@pytest.mark.parametrize("seed", range(3))
def test_offsets_and_kinds_are_changed_as_fio_changes_them(form, seed, tmp_path):
    draw = random.Random(seed)
    file = tmp_path / "file"
    file.write_bytes(bytes(8 << 20))
    if form == "iolog":
        kinds = draw.choices(("read", "write", "trim"), k=400)
        rows = [
            (100 * i, kind, draw.randrange(1800) * 4096, 512 * draw.randrange(1, 99)) for i, kind in enumerate(kinds)
        ]
        trace = tmp_path / "a.iolog"
        traces.opened(table(tmp_path / "a.csv", rows), Part()).write_iolog(str(trace), str(file))
    else:
        trace = tmp_path / "x.blktrace.0"
        trace.write_bytes(b"".join(
            # Queued (fio replays no others): a read or a write.
            struct.pack("=IIQQIIIIIHH", 0x65617407, i, 1000 * i, 8 * draw.randrange(1800), 512 * draw.randrange(1, 99),
                        1 | (draw.choice((1, 2)) | 1 << 4) << 16, 1, 8 << 20, 0, 0, 0)
            for i in range(1, 400)))  # fmt: skip
    lines = [f"replay_scale={draw.choice((0, 1, 2, 7))}", f"replay_align={draw.choice(('1', '512', '4k', '64k'))}"]
    skipped = draw.sample(("read", "write", "trim", "sync"), draw.randrange(3))
    skip = [f"replay_skip={','.join(skipped)}"] if skipped else []
    found = job_file.replayed("\n".join(["[r]", f"read_iolog={trace}", *lines, *skip]), [], Replay())
    assert found is not None
    # fio heeds replay_skip in its own logs from 3.34 on.
    theirs = lines + (skip if form == "blktrace" else [])
    options = ["--ioengine=null", f"--replay_redirect={file}", *(f"--{line}" for line in theirs)]
    names = ("read", "write", "trim", "sync")
    did = [row for row in replayed_by_fio(tmp_path, trace, *options) if names[row[0]] not in skipped and row[0] < 2]
    entries = requests(trace, found[1].part)
    assert did == [row[1:] for row in entries if row[1] < 2]
    assert {names[row[1]] for row in entries}.isdisjoint(skipped)
    assert len(did) > 50 or len(skipped) == 2


def test_what_is_no_way_to_change_a_trace_is_refused(command, tmp_path):
    (tmp_path / "a.iolog").write_text("fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x write 0 4096\n")
    refused = {
        "replay_align=3000": "a power of 2",
        "replay_skip=reads": "of read, write, trim, sync",
        "replay_scale=half": "divided by it",
        "merge_blktrace_file=a": "one trace at a time",
    }
    for line, said in refused.items():
        (tmp_path / "r.fio").write_text(f"[r]\nread_iolog=a.iolog\n{line}\n")
        done = command("run", "r.fio", "--on", "sim:pm871b-128gb")
        assert done.returncode == 2
        assert said in done.stderr


@needs_fio
def test_what_fio_wrote_down_is_replayed_as_fio_itself_does(tmp_path, small):
    file = tmp_path / "file"
    job = ["--name=a", f"--filename={file}", "--size=4m", "--rw=randrw", "--bssplit=4k/50:16k/50", "--fsync=16"]
    log = tmp_path / "first.log"
    subprocess.run(["fio", *job, f"--write_iolog={log}"], cwd=tmp_path, capture_output=True, check=True)
    ours = requests(log)
    assert len(ours) > 300
    did = replayed_by_fio(tmp_path, log)
    assert did == moved(log)
    recording = pslc.run(log, on=small)
    counts = {kind: recording.jobs[0][kind]["total_ios"] for kind in ("read", "write", "sync")}
    assert counts == {kind: sum(row[1] == number for row in ours) for kind, number in
                      (("read", 0), ("write", 1), ("sync", 3))}  # fmt: skip
    assert recording.drive_time_s == pytest.approx(ours[-1][0] / 1e9, rel=0.05)


@pytest.mark.parametrize("name", ["drawn", "tpcc-small", "wsrch-small"])
def test_traces_in_the_form_of_mqsim_run(name, tmp_path):
    """One that is drawn, and the two of github.com/CMU-SAFARI/MQSim where `PSLC_MQSIM` names a checkout. What is in
    them is counted by MQSim's own description: arrival in ns, device, start in sectors, size in sectors, 0 a write and
    1 a read. Its web search is nearly all reads, so the numbers are what they say."""
    if name == "drawn":
        path = tmp_path / "drawn.trace"
        of, now, lines = random.Random(1), 0, []
        for _ in range(5000):
            now += of.randrange(1, 200_000)
            start, sectors = of.randrange(1 << 20) * 8, of.choice((8, 16, 128))
            lines.append(f"{now} {of.randrange(3)} {start} {sectors} {of.randrange(2)}")
        path.write_text("\n".join(lines) + "\n")
    elif "PSLC_MQSIM" in os.environ:
        path = Path(os.environ["PSLC_MQSIM"]) / "traces" / f"{name}.trace"
    else:
        pytest.skip("PSLC_MQSIM names no checkout of MQSim")
    assert trace_format(str(path)) == "mqsim"
    rows = [tuple(map(int, line.split())) for line in path.read_text().splitlines()]
    survey = traces.opened(path, Part()).survey()
    assert sum(sum(of["count"].values()) for of in survey["devices"]) == len(rows)
    assert survey["duration_ns"] == rows[-1][0] - rows[0][0]
    for of in survey["devices"]:
        mine = [row for row in rows if row[1] == int(of["device"])]
        for kind, number in (("write", 0), ("read", 1)):
            assert of["count"][kind] == sum(row[4] == number for row in mine)
            assert of["bytes"][kind] == 512 * sum(row[3] for row in mine if row[4] == number)
        assert of["end_bytes"] == 512 * max(row[2] + row[3] for row in mine)
    if name == "wsrch-small":
        assert sum(row[4] for row in rows) > 0.99 * len(rows)
    device = max(survey["devices"], key=lambda of: sum(of["bytes"].values()))["device"]
    how = Replay(Part(device=device), fit="wrap", prefill=True)
    found = pslc.run(path, on="sim:pm871b-128gb", replay=how).findings
    assert found["requests"] == sum(row[1] == int(device) for row in rows)
    assert not [warning for warning in found["warnings"] if warning.code == "never-written"]


def test_a_study_asks_a_trace_of_many_drives(small, tmp_path):
    """Parquet, too, which is no text."""
    traces.write_parquet(bursts(tmp_path / "work.csv", 3, 300 * MB, 5.0), Part(), tmp_path / "work.parquet")
    run = str(tmp_path / "work.parquet")
    study = pslc.study(on=small, run=run, vary={"cache.dynamic": "200MB,800MB"}, workers=1)
    assert study["enough"].to_pylist() == [False, True]
    assert study["error"].to_pylist() == [None, None]


def test_the_suite_trace_is_its_file_and_without_one_says_so(small, tmp_path):
    work = bursts(tmp_path / "work.csv", 1, 100 * MB, 0.0)
    by_suite, by_file = pslc.run("trace", on=small, more=[work]), pslc.run(work, on=small)
    assert by_suite.suite == by_file.suite == "trace"
    assert by_suite.findings == by_file.findings
    assert "trace" not in suites.catalogue()
    with pytest.raises(pslc.PslcError, match="the suite trace needs a file"):
        pslc.run("trace", on=small)


def test_two_drives_under_one_trace_are_compared_side_by_side(command, tmp_path):
    bursts(tmp_path / "work.csv", 3, 300 * MB, 5.0)
    for name in ("pm871b-128gb", "sn550-1tb"):
        done = command("replay", "work.csv", "--on", f"sim:{name}", "--save", name, "--no-report")
        assert done.returncode == 0, done.stderr
    done = command("compare", "pm871b-128gb", "sn550-1tb", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row["values"] for row in json.loads(done.stdout)["figures"]}
    for name in ("share_slc", "cache_most_bytes", "busy_dies", "life_years", "trace write 99.9 % latency"):
        assert len(rows[name]) == 2, name
    assert rows["trace write 99 % latency"][0] != rows["trace write 99 % latency"][1]
