"""Beside the real fio, where it is installed: the same job files, the same JSON."""

import json
import re
import runpy
import shutil
import subprocess
import time
import zlib
from pathlib import Path
from typing import Any

import pytest

from pslc._native import fio_words, plan_jobs
from pslc.device import probe
from pslc.fio import json_output as fio
from tests import forked
from tests.conftest import ROOT, fill

FIO = shutil.which("fio")
EXAMPLES = sorted((ROOT / "examples").glob("*.fio"))
needs_fio = pytest.mark.skipif(FIO is None, reason="fio is not installed")


@pytest.mark.long
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_runs_on_a_simulated_drive(path: Path, command):
    done = command.fine("run", str(path), "--on", "sim:sn850-1tb,scale=1/8", "--json")
    document = json.loads(done.stdout)
    assert document["written_bytes"] > 0
    assert not [warning for warning in document["warnings"] if ": " not in warning["text"]]


ON = ["--on", "data.bin", "--overwrite-file", "data.bin", "--yes"]
"""A file that is there, and may be written over."""


@needs_fio
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_fio_reads_every_example(path: Path):
    done = subprocess.run([FIO, "--parse-only", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout


@needs_fio
def test_our_json_has_every_field_of_fios(tmp_path):
    arguments = ["--name=a", "--rw=randrw", "--bs=4k", "--size=4m", f"--directory={tmp_path}", "--output-format=json"]
    done = subprocess.run([FIO, *arguments], capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout[done.stdout.index("{") :])
    ours = fio.document(fill("sim:pm871b-128gb"))
    assert set(theirs) <= set(ours) | {"client_stats"}

    def compare(their: dict, our: dict, where: str) -> None:
        for key, value in their.items():
            if where.endswith(("latency_ns", "latency_us", "latency_ms", "iodepth_level", "job options")):
                continue
            if key in ("percentile", "job options"):
                continue
            assert key in our, f"{where}/{key}"
            if isinstance(value, dict):
                compare(value, our[key], f"{where}/{key}")
            else:
                assert isinstance(our[key], str) == isinstance(value, str), f"{where}/{key}"

    compare(theirs["jobs"][0], ours["jobs"][0], "job")
    theirs_levels, ours_levels = (set(d["jobs"][0]["iodepth_level"]) for d in (theirs, ours))
    assert theirs_levels == ours_levels
    for unit in ("ns", "us", "ms"):
        assert set(theirs["jobs"][0][f"latency_{unit}"]) == set(ours["jobs"][0][f"latency_{unit}"])
    assert set(theirs["jobs"][0]["read"]["clat_ns"]["percentile"]) == set(
        ours["jobs"][0]["write"]["clat_ns"]["percentile"]
    )


@needs_fio
def test_every_option_of_the_installed_fio_is_in_the_table():
    """A new fio shows what is new."""
    page = runpy.run_path(str(ROOT / "docs" / "fio" / "make.py"))
    options, engines = fio_words()
    known = {name for names, _, _ in options for name in names}
    assert page["installed"]() - known == set()
    listed = subprocess.run([FIO, "--enghelp"], capture_output=True, text=True, check=True).stdout.split()[3:]
    assert set(listed) - {name for names, _, _ in engines for name in names} == set()
    for engine in listed:
        text = subprocess.run([FIO, f"--enghelp={engine}"], capture_output=True, text=True, check=False).stdout
        assert set(re.findall(r"^([a-z0-9_-]+) *: ", text, re.MULTILINE)) - known == set(), engine


def test_the_page_of_options_is_made_from_the_table():
    page = runpy.run_path(str(ROOT / "docs" / "fio" / "make.py"))
    assert (ROOT / "docs" / "fio.md").read_text() == page["document"](), "make fio-page"
    options, _ = fio_words()
    names = [name for names, _, _ in options for name in names]
    assert len(names) == len(set(names))
    assert not [(verdict, why) for _, verdict, why in options if verdict != "obeyed" and not why]


def test_job_files_come_from_stdin_from_several_files_and_from_includes(command, tmp_path):
    (tmp_path / "sizes.inc").write_text("bs=64k\nsize=8m # of both\n")
    (tmp_path / "a.fio").write_text("[global]\ninclude sizes.inc\n[one]\nrw=write\n[two]\nrw=write\n")
    (tmp_path / "b.fio").write_text("[three]\nrw=write\nbs=1m\nsize=8m\n")
    run = ["run", "a.fio", "b.fio", "--on", "sim:pm871b-128gb", "--output-format=fio"]
    jobs = json.loads(command(*run).stdout)["jobs"]
    assert [(job["jobname"], job["write"]["total_ios"]) for job in jobs] == [("one", 128), ("two", 128), ("three", 8)]
    assert [job["groupid"] for job in jobs] == [0, 0, 1]
    done = command(*run, "--section=two", "--section=three", "--output=out.json")
    assert done.stdout == ""
    assert [job["jobname"] for job in json.loads((tmp_path / "out.json").read_text())["jobs"]] == ["two", "three"]
    (tmp_path / "bad.inc").write_text("bs=64k\nbs=x\n")
    (tmp_path / "c.fio").write_text("[c]\ninclude bad.inc\n")
    assert 'bad.inc:2: bs: "x" is no size' in command("run", "c.fio", "--on", "sim:pm871b-128gb").stderr
    text = "[in]\nrw=write\nsize=8m\nfilename=/nowhere\n"
    piped = forked.run(["run", "-", "--on", "sim:pm871b-128gb", "--json"], tmp_path, text=text)
    assert json.loads(piped.stdout)["written_bytes"] == 8 << 20
    assert "note: filename is ignored: " in piped.stderr


@needs_fio
@pytest.mark.parametrize("of", ["job", "global"])
def test_a_section_in_an_included_file_is_refused_as_by_fio(command, tmp_path, of):
    (tmp_path / "deep.inc").write_text(f"bs=8k\n[{of}]\nbs=16k\n")
    (tmp_path / "in.inc").write_text("size=64k\ninclude deep.inc\n")
    (tmp_path / "a.fio").write_text("[a]\nrw=read\ninclude in.inc\nnumjobs=2\n")
    done = subprocess.run([FIO, "a.fio"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "No new sections in included files" in done.stderr
    done = command.refused("run", "a.fio", "--on", "sim:pm871b-128gb")
    assert "deep.inc:2: a section begins in a file that in.inc includes" in done.stderr
    (tmp_path / "deep.inc").write_text("bs=8k\n")
    done = command("run", "a.fio", "--on", "sim:pm871b-128gb", "--output-format=fio")
    assert [job["read"]["total_ios"] for job in json.loads(done.stdout)["jobs"]] == [8, 8]


SHAPES = {
    "no [global]": "[a]\nrw=write\nsize=64k",
    "other names": "[a]\nfilename=data.bin\nreadwrite=write\nblocksize=8k\nnr_files=1\nsize=64k\nkb_base=1024",
    "never began": "[global]\nexitall\nexit_what=all\nsize=64k\n[a]\nrw=write\n[b]\nstonewall\n[c]\nnumjobs=2",
    "delayed": "[global]\nexitall\nexit_what=all\nrw=write\nsize=64k\nrate_iops=40\n[a]\nnumjobs=2\n[b]\nstartdelay=9\n"
    "[c]\n[d]\nnew_group\nstartdelay=9",
    "delayed group": "[global]\nexitall\nrw=write\nsize=64k\nrate_iops=40\ngroup_reporting\n[a]\n[b]\nstartdelay=9\n"
    "[c]\nnumjobs=2\npercentile_list=50:99",
    "groups": "[global]\nexitall\nexit_what=all\nrw=write\nsize=64k\ngroup_reporting\ndescription=all\n[a]\nnumjobs=2\n"
    "[b]\nstartdelay=9\n[c]\nstonewall\n[d]\nnumjobs=2\n[e]\nnew_group",
    "as in [global]": "[global]\nrw=write\nbs=4k\nsize=64k\n[a]\n[b]\nbs=4k\n[c]\nblocksize=8k\nsize=64k\nbs=4k",
    "mixed": "[global]\nrw=write\nsize=64k\nfsync=4\nunified_rw_reporting=mixed\n[a]\n[b]\nlat_percentiles=1",
    "depths": "[global]\nrw=read\nsize=64k\ngroup_reporting\nioengine=libaio\n[a]\niodepth=4\n[b]\niodepth=8\n"
    "numjobs=2\n[c]\nlatency_target=1s\nlatency_window=1ms\n[d]\nnew_group\niodepth=3",
    "both": "[global]\nrw=write\nsize=64k\nunified_rw_reporting=both\n[a]\nfsync=4\nclat_percentiles=0\n[b]\nnew_group",
}


def ordered(value: Any) -> Any:
    """Keys in their order, and types."""
    if isinstance(value, dict):
        return [(key, ordered(part)) for key, part in value.items()]
    return [ordered(part) for part in value] if isinstance(value, list) else type(value)


@needs_fio
@pytest.mark.parametrize("style", ["json", "json+"])
@pytest.mark.parametrize("case", SHAPES)
def test_json_has_fios_keys_in_fios_order(command, tmp_path, case, style):
    (tmp_path / "a.fio").write_text(SHAPES[case] + "\n")
    theirs = [FIO, "a.fio", f"--output-format={style}"]
    if "filename=" not in SHAPES[case]:
        theirs.insert(1, "--filename=data.bin")
    done = subprocess.run(theirs, cwd=tmp_path, capture_output=True, text=True, check=True)
    ours = command("run", "a.fio", "--on", "sim:pm871b-128gb", f"--output-format={'fio' if style == 'json' else style}")
    found = [json.loads(text[text.index("{\n") :]) for text in (done.stdout, ours.stdout)]
    for document in found:
        # A simulated drive has no disk underneath; fio was told the file by the command line.
        document["disk_util"] = []
        if "--filename=data.bin" in theirs:
            document.get("global options", {}).pop("filename", None)
        if not document.get("global options", True):
            del document["global options"]
        for of in (part for job in document["jobs"] for part in job.values() if isinstance(part, dict)):
            for latency in (part for part in of.values() if isinstance(part, dict)):
                latency.pop("bins", None)
    assert ordered(found[0]) == ordered(found[1])
    words = ("jobname", "groupid", "job options", "latency_depth", "latency_target", "latency_window")
    said = [[[job.get(word) for word in words] for job in of["jobs"]] for of in found]
    assert said[0] == said[1]


FLUSHED = [
    "end_fsync=1",
    "end_fsync=1\nfsync=4\nloops=2",
    "fsync=4\nioengine=libaio",
    "end_fsync=1\nverify=crc32c",
    "fdatasync=3",
    "fdatasync=2\nfsync=0\nioengine=libaio",
    "fsync=1\nioengine=libaio\niodepth=4",
    "fsync=2\nioengine=libaio\niodepth=8",
    "fdatasync=1\nioengine=libaio\niodepth=16",
]


@needs_fio
@pytest.mark.parametrize("options", FLUSHED)
@pytest.mark.parametrize("unified", ["none", "mixed", "both"])
def test_flushes_and_all_kinds_together_are_counted_as_fio_counts_them(command, tmp_path, options, unified):
    text = f"[a]\nrw=write\nsize=64k\nunified_rw_reporting={unified}\n{options}\n"
    (tmp_path / "a.fio").write_text(text)
    theirs = [FIO, "a.fio", "--filename=data.bin", "--output-format=json"]
    done = subprocess.run(theirs, cwd=tmp_path, capture_output=True, text=True, check=True)
    ours = command("run", "a.fio", "--on", "sim:pm871b-128gb", "--output-format=fio")
    counts = []
    for output in (done.stdout, ours.stdout):
        job = json.loads(output)["jobs"][0]
        kinds = [kind for kind in ("read", "write", "sync", "mixed") if kind in job]
        counts.append({kind: (job[kind]["total_ios"], job[kind]["lat_ns"]["N"]) for kind in kinds})
        if unified == "both":
            for name in ("io_bytes", "total_ios", "bw_samples"):
                assert job["mixed"][name] == job["read"][name] + job["write"][name]
            latencies = [job[kind]["clat_ns"] for kind in ("read", "write") if job[kind]["total_ios"]]
            assert job["mixed"]["clat_ns"]["max"] == max(of["max"] for of in latencies)
            moved = sum(of["mean"] * of["N"] for of in latencies)
            assert job["mixed"]["clat_ns"]["mean"] * job["mixed"]["total_ios"] == pytest.approx(moved)
    assert counts[0] == counts[1]


SIZED = ["1024.0M", "8192.5k", "8192 k", "0x2000k", "64.", "65536", "64k"]


@needs_fio
@pytest.mark.parametrize("size", SIZED)
def test_a_unit_that_fio_does_not_see_is_none(command, tmp_path, size):
    (tmp_path / "a.fio").write_text(f"[a]\nrw=write\nsize={size}\n")
    theirs = [FIO, "a.fio", "--filename=data.bin", "--output-format=json"]
    done = subprocess.run(theirs, cwd=tmp_path, capture_output=True, text=True, check=False)
    ours = command("run", "a.fio", "--on", "sim:pm871b-128gb", "--output-format=fio")
    assert (done.returncode == 0) == (ours.returncode == 0)
    if done.returncode == 0:
        moved = [json.loads(output)["jobs"][0]["write"]["io_bytes"] for output in (done.stdout, ours.stdout)]
        assert moved[0] == moved[1]
        assert ("as fio reads it" in ours.stderr) == (size in ("8192.5k", "8192 k"))
    else:
        assert "less than one block" in ours.stderr


@needs_fio
def test_each_job_file_has_a_global_of_its_own_and_runs_behind_the_one_before(command, tmp_path):
    (tmp_path / "data.bin").write_bytes(bytes(4 << 20))
    (tmp_path / "a.fio").write_text("[global]\nsize=256k\nbs=64k\nrw=read\n[one]\n[two]\n")
    (tmp_path / "b.fio").write_text("[three]\nsize=128k\nrw=read\n[global]\nbs=8k\n[four]\nsize=128k\nrw=read\n")

    def jobs(output: str) -> list[tuple[str, int, int]]:
        return [(job["jobname"], job["groupid"], job["read"]["total_ios"]) for job in json.loads(output)["jobs"]]

    files = ["a.fio", "b.fio"]
    theirs = [FIO, *files, "--filename=data.bin", "--output-format=json"]
    done = subprocess.run(theirs, cwd=tmp_path, capture_output=True, text=True, check=True)
    ours = ["run", *files, *ON, "--output-format=fio"]
    assert jobs(done.stdout) == jobs(command(*ours).stdout)
    assert [group for _, group, _ in jobs(done.stdout)] == [0, 0, 1, 1]
    # fio looks for sections in its first file alone.
    assert jobs(command(*ours, "--section=two", "--section=four").stdout) == [("two", 0, 4), ("four", 1, 16)]
    (tmp_path / "c.fio").write_text("[c]\n\nbs=x\n")
    assert 'c.fio:3: bs: "x" is no size' in command("run", "a.fio", "c.fio", *ON).stderr


@pytest.mark.parametrize("form", ["normal", "json", "fio", "json+", "terse"])
def test_notes_go_to_stderr_in_every_format(form, command, tmp_path):
    (tmp_path / "n.fio").write_text("[n]\nrw=write\nsize=1m\nfilename=/nowhere\nthread\niodepth=4\n")
    done = command.fine("run", "n.fio", "--on", "sim:pm871b-128gb", f"--output-format={form}", "--no-report")
    notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    assert [note.split()[1] for note in notes] == ["filename", "thread", "iodepth=4"]
    if form in ("json", "fio", "json+"):
        json.loads(done.stdout)


def test_what_is_read_is_laid_out_first_or_warned(command, tmp_path):
    (tmp_path / "r.fio").write_text("[r]\nrw=randread\nsize=1g\nnumber_ios=2000\n")
    run = ["run", "r.fio", "--on", "sim:sn850-1tb", "--json"]
    laid_out, not_so = (json.loads(command(*run, *more).stdout) for more in ([], ["--no-layout"]))
    means = [document["jobs"][0]["read"]["lat_ns"]["mean"] for document in (laid_out, not_so)]
    assert means[0] > 3 * means[1]
    assert any("written first" in note["text"] for note in laid_out["warnings"])
    warning = not_so["findings"]["warnings"][0]
    assert warning["code"] == "not-laid-out"
    assert "1.07 GB of what was read had never been written" in warning["text"]


@needs_fio
def test_logs_have_fios_names_and_columns(command, tmp_path):
    text = "[j]\nrw=rw\nbs=4k\nsize=1m\nwrite_lat_log=l\nwrite_bw_log=b\nwrite_iops_log=i\nlog_offset=1\n"
    (tmp_path / "j.fio").write_text(text)
    command.fine("run", "j.fio", "--on", "sim:sn850-1tb", "--json")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    subprocess.run([FIO, tmp_path / "j.fio"], cwd=theirs, capture_output=True, check=True)
    logs = {path.name for path in theirs.glob("*.log")}
    assert logs == {path.name for path in tmp_path.glob("*.log")} == {
        "l_lat.1.log", "l_slat.1.log", "l_clat.1.log", "b_bw.1.log", "i_iops.1.log"}  # fmt: skip
    for name in logs:
        rows = [[[int(n) for n in line.split(",")] for line in (folder / name).read_text().splitlines()]
                for folder in (theirs, tmp_path)]  # fmt: skip
        assert len(rows[0]) == len(rows[1]) == (0 if "slat" in name else 256)
        assert {len(row) for of in rows for row in of} <= {6}
        places = [sorted(row[4] for row in of if row[2] == 1) for of in rows]
        shared = min(len(of) for of in places)
        assert places[0][:shared] == places[1][:shared]


def test_output_format_fio_prints_it(command):
    done = command("run", "fill", "--on", "sim:pm871b-128gb", "--output-format=fio", "--io_size=1g")
    document = json.loads(done.stdout)
    assert document["fio version"].startswith("pslc-")
    assert document["jobs"][0]["write"]["io_bytes"] == 1 << 30


def requests(iolog: Path) -> list[tuple[str, str, str]]:
    """Action, offset and length of each read and write of an iolog of version 3, without times and names."""
    found = [line.split()[2:] for line in iolog.read_text().splitlines()[1:]]
    return [tuple(row) for row in found if row[0] in ("read", "write")]


@needs_fio
@pytest.mark.parametrize("real", [False, True])
def test_fio_replays_what_we_write_down_on_either_target(real, command, tmp_path):
    (tmp_path / "data.bin").write_bytes(bytes(8 << 20))
    text = "[a]\nrw=randrw\nbs=4k\nsize=8m\nio_size=1m\nfsync=16\nioengine=libaio\niodepth=4\nwrite_iolog=ours.log\n"
    (tmp_path / "j.fio").write_text(text)
    real_one = ["data.bin", "--overwrite-file", "data.bin", "--yes"]
    on = real_one if real else ["sim:sn850-1tb"]
    command.fine("run", "j.fio", "--on", *on, "--json")
    replay = [FIO, "--name=r", "--read_iolog=ours.log", "--replay_redirect=data.bin", "--replay_no_stall=1",
              "--write_lat_log=theirs", "--log_offset=1"]  # fmt: skip
    subprocess.run(replay, cwd=tmp_path, capture_output=True, check=True)
    lines = (line.split(", ") for line in (tmp_path / "theirs_lat.1.log").read_text().splitlines())
    did = [(("read", "write")[int(line[2])], line[4], line[3]) for line in lines]
    assert len(did) == 256
    assert requests(tmp_path / "ours.log") == did
    assert "sync" in (tmp_path / "ours.log").read_text()


@needs_fio
def test_a_job_file_replays_an_iolog_of_fios(command, tmp_path):
    (tmp_path / "data.bin").write_bytes(bytes(8 << 20))
    record = [FIO, "--name=w", "--filename=data.bin", "--rw=randwrite", "--bs=8k", "--size=1m", "--thinktime=2000",
              "--write_iolog=fio.log"]  # fmt: skip
    subprocess.run(record, cwd=tmp_path, capture_output=True, check=True)

    def replayed(*lines):
        (tmp_path / "r.fio").write_text("\n".join(["[global]", "ioengine=libaio", "[r]", "read_iolog=fio.log", *lines]))
        done = command.fine("run", "r.fio", "--on", "sim:sn850-1tb", "--json")
        return json.loads(done.stdout)

    plain, quick, asap = replayed(), replayed("replay_time_scale=400"), replayed("replay_no_stall=1", "iodepth=8")
    for document in (plain, quick, asap):
        assert document["jobs"][0]["write"]["total_ios"] == 128
        assert document["written_bytes"] == 1 << 20
    # Between 128 writes fio thinks 127 times.
    assert plain["drive_time_s"] > 127 * 0.002
    assert quick["drive_time_s"] == pytest.approx(plain["drive_time_s"] / 4, rel=0.1)
    assert asap["drive_time_s"] < 0.1
    (tmp_path / "two.fio").write_text("[r]\nread_iolog=fio.log\n[w]\nrw=write\n")
    assert "beside other jobs" in command("run", "two.fio", "--on", "sim:sn850-1tb").stderr
    (tmp_path / "bad.fio").write_text("[r]\nread_iolog=fio.log\niodept=4\n")
    assert "unknown option iodept" in command("run", "bad.fio", "--on", "sim:sn850-1tb").stderr
    # A replay writes no logs, and says so.
    for name in ("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "write_iolog"):
        (tmp_path / "logs.fio").write_text(f"[r]\nread_iolog=fio.log\n{name}=mine\n")
        refused = command("run", "logs.fio", "--on", "sim:sn850-1tb")
        assert (refused.returncode, f"{name} beside read_iolog" in refused.stderr) == (2, True)


@pytest.mark.parametrize("option", ["log_unix_epoch=1", "log_alternate_epoch=1"])
def test_logs_count_from_1970_where_a_job_asks_for_it(option, tmp_path, command):
    job = "[j]\nrw=write\nbs=64k\nsize=4m\nramp_time=20ms\nrate=40m\nlog_avg_msec=10\nwrite_lat_log=l\n"
    (tmp_path / "j.fio").write_text(f"{job}{option}\n")
    begin_ms = time.time() * 1000
    command.fine("run", "j.fio", "--on", "sim:sn850-1tb")
    end_ms = time.time() * 1000
    first_ms, *_, last_ms = (int(row.split(",")[0]) for row in (tmp_path / "l_lat.1.log").read_text().splitlines())
    # The first window ends 10 ms behind the ramp; the job's own 100 ms pass on the drive's clock.
    assert begin_ms + 25 <= first_ms <= end_ms + 35
    assert 60 <= last_ms - first_ms <= 100


AVERAGED = (ROOT / "tests/fixtures/texts/averaged.fio").read_text()


@pytest.mark.slow
@needs_fio
@pytest.mark.parametrize("more", ["", "log_offset=1\n", "log_max_value=1\n"])
def test_averaged_logs_are_those_of_fio(more, tmp_path):
    def rows(folder, name):
        return [[int(n) for n in line.split(", ")] for line in (folder / name).read_text().splitlines()]

    commands = {
        "fio": lambda **how: subprocess.Popen([FIO, "j.fio", "--filename=data.bin"], **how),
        "pslc": lambda **how: forked.Popen(["run", "j.fio", *ON, "--json"], **how),
    }
    running = []
    for name, start in commands.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "data.bin").write_bytes(bytes(range(256)) * (8 << 12))
        (tmp_path / name / "j.fio").write_text(AVERAGED + more)
        running.append(start(cwd=tmp_path / name, stdout=subprocess.DEVNULL))
    assert [process.wait(timeout=60) for process in running] == [0, 0]
    logs = [{path.name for path in (tmp_path / name).glob("*.log")} for name in commands]
    assert logs[0] == logs[1]
    for name in logs[0]:
        theirs, ours = (rows(tmp_path / folder, name) for folder in commands)
        assert {len(row) for row in theirs} == {len(row) for row in ours} == {6 if "offset" in more else 5}
        # fio ends some logs before the last window, or has one line more for what came behind its end.
        assert abs(len(theirs) - len(ours)) <= 3, name
        assert {tuple(row[3:]) for row in theirs} == {tuple(row[3:]) for row in ours}
        for direction, rate in ((0, 700), (1, 300)):
            one, other = ([row for row in of if row[2] == direction] for of in (theirs, ours))
            # On a machine that has other work a window may pass without a request.
            windows = [row[0] for row in other]
            assert windows == sorted(set(windows))
            assert {window % 500 for window in windows} == {0}
            if name.startswith(("b_", "i_")):
                per_s = rate if name.startswith("i_") else rate * 4
                for of in (one, other):
                    # The mean of all windows: one may be late on a machine that has other work.
                    assert sum(row[1] for row in of) / len(of) == pytest.approx(per_s, rel=0.3), name
    clat, slat, lat = (rows(tmp_path / "pslc", f"l_{kind}.1.log") for kind in ("clat", "slat", "lat"))
    if not more:
        assert not [
            (c, s, whole)
            for c, s, whole in zip(clat, slat, lat, strict=True)
            if not (abs(c[1] + s[1] - whole[1]) <= 2 and s[1] > 0)
        ]


@needs_fio
def test_without_offsets_lines_of_logs_have_fios_five_columns(command, tmp_path):
    (tmp_path / "j.fio").write_text("[j]\nrw=write\nbs=4k\nsize=64k\nwrite_lat_log=l\n")
    command.fine("run", "j.fio", "--on", "sim:pm871b-128gb", "--json")
    (tmp_path / "theirs").mkdir()
    subprocess.run([FIO, tmp_path / "j.fio"], cwd=tmp_path / "theirs", capture_output=True, check=True)
    lines = [(folder / "l_lat.1.log").read_text().splitlines() for folder in (tmp_path, tmp_path / "theirs")]
    assert [{line.count(",") for line in of} for of in lines] == [{4}, {4}]
    assert [len(of) for of in lines] == [16, 16]


def test_memory_counts_what_is_logged():
    text = "[a]\nrw=randwrite\nbs=4k\nsize=8g\nnumjobs=2\n"
    plain, logged = (plan_jobs(text + more, "a.fio", [], 1 << 40, True)["memory_bytes"]
                     for more in ("", "write_bw_log=x\n"))  # fmt: skip
    requests = 2 * (8 << 30) // 4096
    # 219 bytes each, as a run of two million requests has shown.
    assert 180 * requests < logged - plain < 280 * requests


def test_disk_util_of_dm_has_means_of_its_slaves_and_then_the_slaves(tmp_path, monkeypatch):
    """A mirror of a disk and of a partition of another, in a tree as Linux has it."""
    block = tmp_path / "block"

    def counts(scale):
        for name, number in (("dm-0", 10), ("sda", 4), ("sdb", 8)):
            values = [scale * number * (at + 1) for at in range(11)]
            (block / name / "stat").write_text(" ".join(map(str, values)))

    for name in ("dm-0/slaves", "sda", "sdb/sdb1"):
        (block / name).mkdir(parents=True)
    (block / "sdb/sdb1/partition").write_text("1")
    (block / "dm-0/slaves/sda").symlink_to(block / "sda")
    (block / "dm-0/slaves/sdb1").symlink_to(block / "sdb/sdb1")
    monkeypatch.setattr(probe, "SYS", tmp_path)
    counts(1)
    counters = probe.Counters({"stack": ["dm-0", "sda"]})
    counts(3)
    recording = fill("sim:pm871b-128gb")
    recording.facts.update(counters.so_far())
    top, *below = fio.disk_util(recording)
    assert [disk["name"] for disk in (top, *below)] == ["dm-0", "sda", "sdb"]
    assert [disk["read_ios"] for disk in (top, *below)] == [20, 8, 16]
    # fio's names, of which one is without its last letter.
    names = ["read_ios", "write_ios", "read_merges", "write_merge", "read_ticks", "write_ticks", "in_queue", "util"]
    assert [name for name in top if name.startswith("aggr_")] == [f"aggr_{name}" for name in names]
    assert top["aggr_read_ios"] == 12
    assert top["aggr_write_merge"] == 72
    assert top["aggr_util"] == max(disk["util"] for disk in below)


DATA = ["", "refill_buffers=1", "zero_buffers=1", "buffer_compress_percentage=50", "buffer_compress_percentage=80",
        "scramble_buffers=0", "zero_buffers=1\nscramble_buffers=0", "scramble_buffers=0\nrefill_buffers=1"]  # fmt: skip


@needs_fio
@pytest.mark.parametrize("options", DATA)
def test_what_is_written_compresses_as_what_fio_writes(options, tmp_path):
    """And is as often the same."""
    (tmp_path / "j.fio").write_text(f"[j]\nrw=write\nbs=64k\nsize=4m\n{options}\n")
    found = []
    for name in ("fio", "pslc"):
        (tmp_path / "data.bin").write_bytes(bytes(4 << 20))
        if name == "fio":
            subprocess.run([FIO, "j.fio", "--filename=data.bin"], cwd=tmp_path, capture_output=True, check=True)
        else:
            assert forked.run(["run", "j.fio", *ON, "--json"], tmp_path).returncode == 0
        data = (tmp_path / "data.bin").read_bytes()
        blocks = [data[at : at + 4096] for at in range(0, len(data), 4096)]
        found.append((len(zlib.compress(data, 1)) / len(data), len(set(blocks)) / len(blocks)))
    (shrunk, apart), (ours_shrunk, ours_apart) = found
    # What fio scrambles shrinks by a tenth, and ours by nothing.
    assert ours_shrunk == pytest.approx(shrunk, abs=0.05 if options else 0.12)
    assert options or ours_shrunk >= 0.99
    assert ours_apart == pytest.approx(apart, abs=0.05)


REPLAYED = ["", "replay_scale=2", "replay_align=8k", "replay_scale=2\nreplay_align=8k", "replay_no_stall=1"]


@needs_fio
@pytest.mark.parametrize("options", REPLAYED)
def test_a_trace_is_replayed_as_by_fio(options, command, tmp_path):
    (tmp_path / "data.bin").write_bytes(bytes(8 << 20))
    record = [FIO, "--name=w", "--filename=data.bin", "--rw=randrw", "--bs=4k,12k", "--size=4m", "--io_size=1m",
              "--write_iolog=fio.log"]  # fmt: skip
    subprocess.run(record, cwd=tmp_path, capture_output=True, check=True)
    (tmp_path / "r.fio").write_text(f"[r]\nread_iolog=fio.log\n{options}\n")
    theirs = [FIO, "r.fio", "--replay_redirect=data.bin", "--output-format=json"]
    done = subprocess.run(theirs, cwd=tmp_path, capture_output=True, text=True, check=True)
    ours = command.fine("run", "r.fio", *ON, "--output-format=fio")
    moved = []
    for output in (done.stdout, ours.stdout):
        job = json.loads(output[output.index("{") :])["jobs"][0]
        moved.append([(job[kind]["total_ios"], job[kind]["io_bytes"]) for kind in ("read", "write")])
    assert moved[0] == moved[1]
    assert sum(count for count, _ in moved[0]) > 20
