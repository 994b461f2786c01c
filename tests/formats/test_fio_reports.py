"""What fio prints of its jobs, for people and as JSON, whatever stands around it."""

import json
import shutil
import subprocess

import pytest

from pslc import PslcError
from pslc.formats._findings import analyzed
from tests.formats import made

JOB = ["--name=a", "--ioengine=null", "--direct=1", "--rw=randrw", "--bs=64k", "--size=32m", "--numjobs=2"]


def fio(tmp_path, *more):
    """Text and JSON of one run."""
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    done = subprocess.run(
        ["fio", *JOB, "--output-format=normal,json", *more], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    start, end = done.stdout.index("{\n"), done.stdout.index("\n}\n") + 3
    return done.stdout[:start] + done.stdout[end:], done.stdout[start:end]


@pytest.mark.parametrize("version", ["3", "5"])
def test_the_terse_text_of_fio_tells_what_its_json_tells(version, tmp_path):
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    args = ["fio", *JOB, "--output-format=terse,json", f"--terse-version={version}"]
    out = subprocess.run(args, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    start, end = out.index("{\n"), out.index("\n}\n") + 3
    of_terse, of_json = made.read(tmp_path, out[:start] + out[end:]), made.read(tmp_path, out[start:end])
    assert len(of_terse.jobs) == len(of_json.jobs) == 2
    for terse, whole in zip(of_terse.jobs, of_json.jobs, strict=True):
        for kind in ("read", "write"):
            assert terse[kind]["io_bytes"] == whole[kind]["io_bytes"]
            assert terse[kind]["total_ios"] == pytest.approx(whole[kind]["total_ios"], rel=0.02)
            for name in ("mean", "max"):
                assert terse[kind]["lat_ns"][name] == pytest.approx(whole[kind]["lat_ns"][name], rel=0.02, abs=1000)
    with pytest.raises(PslcError, match="is damaged: a line of fio's terse text is cut off"):
        made.read(tmp_path, out[:start][:400])


@pytest.mark.parametrize("more", [[], ["--group_reporting"]])
def test_the_text_of_fio_tells_what_its_json_tells(more, tmp_path):
    text, document = fio(tmp_path, *more)
    of_text, of_json = made.read(tmp_path, text), made.read(tmp_path, document)
    assert [job["name"] for job in of_text.jobs] == [job["name"] for job in of_json.jobs]
    for one, other in zip(of_text.jobs, of_json.jobs, strict=True):
        for kind in ("read", "write"):
            assert one[kind]["io_bytes"] == other[kind]["io_bytes"]
            assert one[kind]["total_ios"] == other[kind]["total_ios"]
            assert one[kind]["lat_ns"]["mean"] == pytest.approx(other[kind]["lat_ns"]["mean"], rel=0.01)
            shares = ("50.000000", "99.000000", "99.900000")
            at = [[of[kind]["lat_ns"]["percentile"][share] for share in shares] for of in (one, other)]
            assert at[0] == pytest.approx(at[1], rel=0.01)


def test_many_reports_within_the_log_of_a_script(tmp_path, command):
    text, _ = fio(tmp_path)
    whole = "".join(f"=== round {number} ===\n+ fio --name=a\n{text}\n" for number in range(3))
    data = made.read(tmp_path, "set -x\n" * 3000 + whole)
    assert len(data.jobs) == 6
    shown = command("analyze", "file.txt")
    assert shown.returncode == 0, shown.stderr
    assert "Read as: fio's text: bytes, run time and latencies of 6 jobs" in shown.stdout
    # The text does not tell whether it was direct.
    assert "page cache" not in shown.stdout


OLD = made.example("texts/fio_2.txt")


def test_the_text_of_fio_2_counts_in_kib(tmp_path):
    (job,) = made.read(tmp_path, OLD).jobs
    assert job["write"]["io_bytes"] == 20480 << 20
    assert job["write"]["total_ios"] == 163840
    assert job["write"]["runtime_ns"] == 52_268_000_000
    assert job["write"]["lat_ns"]["mean"] == 5_102_200
    assert job["write"]["lat_ns"]["max"] == 61_300_000
    assert job["write"]["lat_ns"]["percentile"]["99.900000"] == 31_104_000


def test_the_text_of_a_run_that_did_not_end_says_so(tmp_path):
    with pytest.raises(PslcError, match="fio's text without results"):
        made.read(tmp_path, "\n".join(OLD.splitlines()[:3]))


def document(moved, seconds, **more):
    done = {"io_bytes": moved, "total_ios": moved // 4096, "runtime": round(1000 * seconds), **more}
    job = {"jobname": "fill", "job options": {"rw": "write", "direct": "1"}, "write": done}
    return json.dumps({"fio version": "fio-3.36", "jobs": [job]}, indent=1)


def test_text_around_json_is_left_out(tmp_path):
    text = "fio: warning {of a kind}\n" + document(60_000_000_000, 99) + "\nfio: terminating on signal 2\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        (job,) = made.read(tmp_path, text.encode(encoding)).jobs
        assert job["write"]["io_bytes"] == 60_000_000_000


def test_what_status_interval_prints_is_a_curve(tmp_path, command):
    speeds, total, texts = made.speeds(), 0, []
    for second, speed in enumerate(speeds, 1):
        total += int(speed)
        texts.append(document(total, second))
    data = made.read(tmp_path, "\n".join(texts))
    assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=1e-6)
    assert len(data.jobs) == 1
    found = json.loads(command("analyze", "file.txt", "--json").stdout)["findings"]
    assert found["cache_bytes"] == pytest.approx(made.CACHE_BYTES, rel=0.02)


@pytest.mark.parametrize(("seconds", "unit"), [(100, 1), (100, 1024), (4000, 1)])
@pytest.mark.parametrize("above", ["", "[JOBFILE]\n[test]\nrw=write\nbs=128k\n\n[STDOUT]\n"])
def test_the_rates_of_steadystate_are_a_curve_where_they_are_of_the_whole_job(above, seconds, unit, tmp_path):
    run = json.loads(document(int(made.TOTAL_BYTES), seconds))
    rates = [int(speed / unit) for speed in made.speeds()]
    run["jobs"][0]["steadystate"] = {"duration": 100, "data": {"bw_mean": 1, "bw": rates}}
    data = made.read(tmp_path, above + json.dumps(run))
    (job,) = data.jobs
    assert job["write"]["io_bytes"] == int(made.TOTAL_BYTES)
    if seconds == 100:
        assert data.curve.total_bytes == pytest.approx(made.TOTAL_BYTES, rel=1e-5)
    else:
        assert data.curve is None
        assert "the last 100 s of 1 h 7 min second by second" in str(data.of_level("note"))


def test_documents_of_several_runs_are_no_curve(tmp_path):
    data = made.read(tmp_path, document(60_000_000_000, 99) + "\n" + document(20_000_000_000, 30))
    assert data.curve is None
    assert len(data.jobs) == 2


def test_one_mean_a_job_is_no_curve_of_the_drive(tmp_path, command):
    """A fast job and a slow one after it look like a cache and its end, but a report has only their means."""
    run = json.loads(document(100_000_000_000, 50))
    run["jobs"].append(json.loads(document(100_000_000_000, 200))["jobs"][0] | {"jobname": "again"})
    (tmp_path / "jobs.json").write_text(json.dumps(run))
    answer = json.loads(command("analyze", "jobs.json", "--capacity", "1TB", "--json").stdout)
    assert answer["findings"]["phases"] == []
    assert answer["findings"]["cache_bytes"] is None
    assert answer["findings"]["cache_bytes_low"] is None
    shown = command("analyze", "jobs.json", "--capacity", "1TB").stdout
    rows = {line.split()[0]: line for line in shown.splitlines() if line.startswith(("fill", "again"))}
    assert "2000 MB/s" in rows["fill"]
    assert "500 MB/s" in rows["again"]
    assert "cache" not in shown.lower()


def test_the_clients_of_a_server_are_its_jobs(tmp_path):
    own = json.loads(document(60_000_000_000, 99))
    clients = [own["jobs"][0] | {"hostname": host} for host in ("a", "b")]
    text = json.dumps({"fio version": "fio-3.36", "client_stats": [*clients, clients[0] | {"jobname": "All clients"}]})
    assert len(made.read(tmp_path, text).jobs) == 2


def test_json_of_fio_2_counts_in_kib_and_us(tmp_path):
    text = document(20480 << 10, 52.268, bw=401231, lat={"mean": 5102.2}, clat={"percentile": {"99.000000": 8096}})
    (job,) = made.read(tmp_path, text).jobs
    assert job["write"]["io_bytes"] == 20480 << 20
    assert job["write"]["lat_ns"]["mean"] == pytest.approx(5_102_200)
    assert job["write"]["lat_ns"]["percentile"]["99.000000"] == 8_096_000


def test_a_percentile_that_is_not_told_is_no_zero(tmp_path, command):
    text = document(60_000_000_000, 99, lat_ns={"mean": 7e4}, clat_ns={"percentile": {"50.000000": 68000}})
    (tmp_path / "once.json").write_text(text)
    shown = command("analyze", "once.json").stdout
    assert "68.0 µs" in shown
    assert "0 s" not in shown
    assert command("compare", "once.json", "once.json").returncode == 0


def test_a_latency_longer_than_the_run_is_left_out_aloud(tmp_path):
    data = made.read(tmp_path, OLD.replace("     clat (usec): min=150, max=61200, avg=5091.00", ""))
    assert not data.of_level("warning")
    overflow = "     lat (msec): min=756523K, max=756553K, avg=756537530.85, stdev=8719.64"
    lines = [overflow if line.lstrip().startswith(("clat (", "lat (")) else line for line in OLD.splitlines()]
    data = made.read(tmp_path, "\n".join(lines))
    assert data.of_level("warning") == [
        "latencies of 1 result were left out, as they are longer than the run: 8.76 days of 52.3 s in fill"
    ]
    assert data.jobs[0]["write"]["lat_ns"]["mean"] == 0.0


@pytest.mark.parametrize("above", ["[08:28:51]\n[ssh] me@host: ~\n$ fio -f fill.fio\n", "[ perf record: Woken up ]\n"])
def test_brackets_of_a_shell_above_a_report_are_no_job_file(above, tmp_path):
    assert [job["name"] for job in made.read(tmp_path, above + OLD).jobs] == ["fill"]


@pytest.mark.parametrize(
    "text", ['[{"pool":"tank","ops_read":0}]', "[ perf record: Woken up 2 times ]\nwatts\n 1.5 2.5\n"]
)
def test_what_begins_with_a_bracket_is_no_job_file(text, tmp_path):
    with pytest.raises(PslcError, match="is of no known format"):
        made.read(tmp_path, text)


FLUSHED = OLD.replace(
    "     issued    : total=r=0/w=163840/d=0",
    """  fsync/fdatasync/sync_file_range:
    sync (usec): min=161, max=345, avg=192.48, stdev=20.09
    sync percentiles (nsec):
     |  1.00th=[167000], 50.00th=[186000], 99.00th=[260000]
  high prio (1.00%) clat percentiles (msec):
     |  1.00th=[    7], 50.00th=[    8], 99.00th=[    9]
     issued rwts: total=0,163840,0,163839""",
)


def test_percentiles_belong_to_the_line_above_them(tmp_path, command):
    (job,) = made.read(tmp_path, FLUSHED).jobs
    assert job["write"]["lat_ns"]["percentile"]["99.000000"] == 8_096_000
    assert job["sync"]["lat_ns"]["percentile"] == {"1.000000": 167e3, "50.000000": 186e3, "99.000000": 260e3}
    assert (job["sync"]["lat_ns"]["mean"], job["sync"]["total_ios"]) == (192_480, 163839)
    assert "flush" in command("analyze", "file.txt").stdout


@pytest.mark.parametrize(("total", "count"), [(0, 3647), (3648, 3648)])
def test_the_json_of_fio_tells_flushes_that_it_does_not_count(total, count, tmp_path):
    write = {"io_bytes": 8388100, "total_ios": 3647, "runtime": 23350, "lat_ns": {"mean": 1e6, "max": 2e6}}
    sync = {"total_ios": total, "lat_ns": {"mean": 5.4e6, "N": 3647, "percentile": {"99.000000": 16.6e6}}}
    document = {"fio version": "fio-3.33", "jobs": [{"jobname": "etcd", "write": write, "sync": sync}]}
    (job,) = made.read(tmp_path, json.dumps(document)).jobs
    assert (job["sync"]["total_ios"], job["sync"]["lat_ns"]["percentile"]) == (count, {"99.000000": 16.6e6})


@pytest.mark.parametrize(
    ("kind", "reached", "cached"), [("write", 12, True), ("read", 40, True), ("write", 1000, False)]
)
def test_requests_that_did_not_reach_the_disk_were_memory(kind, reached, cached, tmp_path):
    at = ("read", "write").index(kind)
    ios = "/".join(str(reached if place == at else 0) for place in range(2))
    issued = ",".join("1024" if place == at else "0" for place in range(2))
    text = (
        f"a: (g=0): rw={kind}, bs=(R) 1024KiB-1024KiB, ioengine=psync, iodepth=1\nfio-3.28\nStarting 1 process\n\n"
        "a: (groupid=0, jobs=1): err= 0: pid=2213: Tue Mar  5 10:11:12 2024\n"
        f"  {kind}: IOPS=5436, BW=5437MiB/s (5701MB/s)(1024MiB/188msec)\n"
        f"     issued rwts: total={issued},0,0 short=0,0,0,0 dropped=0,0,0,0\n\n"
        f"Disk stats (read/write):\n  sda: ios={ios}, merge=0/0, ticks=0/40, in_queue=40, util=10.00%\n"
    )
    warnings = " ".join(map(str, made.read(tmp_path, text).warnings))
    assert (f"{reached} of 1,024 {kind}s reached the disk" in warnings) == cached
    assert ("a test of 1.07 GB fits into the SLC cache" in warnings) == (kind == "write")


STATUS = "Jobs: 1 (f=1): [W(1)][{0:.1f}%][w={1}MiB/s][w={1} IOPS][eta {2:02}m:{3:02}s]\n"
PLAN = "fill: (g=0): rw=write, bs=(R) 1024KiB-1024KiB, ioengine=io_uring, iodepth=16\nfio-3.36\nStarting 1 process\n"
REPORT = (
    "fill: (groupid=0, jobs=1): err= 0: pid=4: Fri Nov 20 10:01:23 2026\n"
    "  write: IOPS=1215, BW=1215MiB/s (1274MB/s)({0}GiB/120100msec); 0 zone resets\n"
)


def lines(speeds, step_s, whole_mib):
    """Status lines, a step apart, of a job that writes as much as `whole_mib` says."""
    moved, text = 0, ""
    for number, speed in enumerate(speeds, 1):
        moved += speed * step_s
        left = round(number * step_s * (whole_mib - moved) / moved)
        text += STATUS.format(100 * moved / whole_mib, speed, left // 60, left % 60)
    return text


@pytest.mark.parametrize("step_s", [1, 10])
@pytest.mark.parametrize("command_line", ["", "# fio --name=fill --rw=write --eta-newline={}\n"])
@pytest.mark.parametrize(("report", "is_cut"), [("", False), (REPORT, False), (REPORT, True)])
def test_the_status_lines_of_fio_are_a_curve_with_ends_as_far_apart_as_they(
    step_s, command_line, report, is_cut, tmp_path
):
    speeds = [2000] * 40 + [500] * 40
    status = lines(speeds, step_s, 400_000 * step_s)
    # fio 3.1 cut each line, and a terminal joins them.
    status = status.replace("s]\n", "s") + "\n" if is_cut else status
    data = made.read(tmp_path, command_line.format(step_s) + PLAN + status + report.format(97.66 * step_s))
    assert data.curve.seconds == pytest.approx([step_s] * 80)
    assert data.curve.total_bytes == 100_000 * step_s * 2**20
    assert f"status lines, {step_s}." in data.read_as
    findings = analyzed(data)
    end = 80_000 * step_s * 2**20
    # Anywhere between the last fast line and the first slow one.
    assert findings["cache_bytes_low"] <= end
    assert findings["cache_bytes_high"] >= end + 500 * step_s * 2**20


def test_status_lines_that_contradict_the_report_or_tell_no_time_are_no_curve(tmp_path):
    steady = lines([500] * 20, 1, 40_000)
    data = made.read(tmp_path, PLAN + steady + REPORT.format(50))
    assert data.curve is None
    assert [str(each) for each in data.warnings if "status lines add up to 10.5 GB" in str(each)]
    with pytest.raises(PslcError, match="without results"):
        made.read(tmp_path, PLAN + steady + steady)
