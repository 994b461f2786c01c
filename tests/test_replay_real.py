"""A trace replayed on a real drive, beside fio's own replay of it, as the kernel saw both."""

import json
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

import pslc
from pslc import traces
from pslc.device.target import RealOptions
from pslc.runner.callbacks import DeclinedError
from pslc.schema.surveys import OPS
from pslc.traces import Part, Replay
from tests import forked
from tests.loops import loop_over, noise, reason
from tests.test_traces import table

loops = pytest.mark.skipif(reason() is not None, reason=str(reason()))
MB = 1 << 20
SIZE = 64 * MB
Request = tuple[str, int, int]


def drawn(seed: int, count: int = 200) -> list[tuple[int, str, int, int]]:
    """us, operation, offset, bytes: requests of whole blocks, that do not touch so that nothing merges them."""
    of = random.Random(seed)
    rows, us, last = [], 0, 0
    for _ in range(count):
        us += of.choice([500, 1000, 4000])
        size = of.choice([512, 4096, 8192, 65536])
        at = of.randrange(MB // 512, (SIZE - 2 * MB) // 512) * 512
        if abs(at - last) < MB:
            at = MB + (at + 9 * MB) % (SIZE - 4 * MB)
        last = at
        rows.append((us, of.choice(["write", "write", "read"]), at, size))
    return rows


def watched(device: str, folder: Path, work) -> list[Request]:
    """What the drive was asked while `work` was done: kind, offset, bytes."""
    words = ["watch", device, "--trace", "--no-report", "--for", "10min", "--save", folder]
    watching = forked.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    forked.eventually((folder / "trace.txt").exists, process=watching)
    time.sleep(0.5)
    work()
    time.sleep(0.5)
    watching.terminate()
    watching.wait(timeout=60)
    return [of[1:] for of in requests(folder / "trace.txt")]


def within(seen: list[Request], wanted: list[Request]) -> list[Request]:
    """Without what the guard and the kernel read before and after: the requests from the first wanted write on."""
    ours = set(wanted)
    return [of for of in seen if of in ours]


@pytest.mark.long
@loops
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_drive_is_asked_what_fio_asks_it_in_the_same_order(seed, tmp_path, tracefs):
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    rows = drawn(seed)
    wanted = [(op, at, size) for _, op, at, size in rows]
    trace = table(tmp_path / "work.csv", rows)
    with loop_over(noise(tmp_path / "image", SIZE)) as device:
        real = RealOptions(destroy_data=str(device.image), wipe_signatures=True)
        recordings = []

        def ours() -> None:
            recordings.append(pslc.run(trace, on=device.path, real=real, replay=Replay(iodepth=1)))

        by_us = watched(device.path, tmp_path / "ours", ours)
        iolog = tmp_path / "work.iolog"
        traces.opened(trace, Part()).write_iolog(str(iolog), device.path)
        words = ["fio", "--name=a", "--direct=1", "--ioengine=libaio", "--iodepth=1", f"--read_iolog={iolog}"]
        log = [f"--write_lat_log={tmp_path / 'fio'}", "--log_offset=1"]

        def fio() -> None:
            subprocess.run([*words, *log], check=True, capture_output=True, cwd=tmp_path)

        by_fio = watched(device.path, tmp_path / "fio", fio)
    assert within(by_us, wanted) == wanted
    assert within(by_fio, wanted) == wanted
    # fio's own log of what it did: ms, latency, direction, bytes, offset.
    lines = [line.split(", ") for line in (tmp_path / "fio_lat.1.log").read_text().splitlines()]
    assert [("read" if of[2] == "0" else "write", int(of[4]), int(of[3])) for of in lines] == wanted
    (recording,) = recordings
    found = {of["kind"]: of["count"] for of in recording.findings["latencies"]}
    assert found == {kind: sum(op == kind for op, _, _ in wanted) for kind in ("read", "write")}
    assert recording.findings["requests"] == len(wanted)
    assert recording.drive_time_s >= rows[-1][0] / 1e6 - rows[0][0] / 1e6, "at its own pace"


def blktraced(tracefs: Path, device: str, folder: Path, work) -> None:
    """blktrace's binary files of a device, one a processor, as this kernel makes them; blktrace itself asks for them
    through debugfs, which may be closed."""
    enable = Path(f"/sys/block/{Path(device).name}/trace/enable")
    if not enable.exists() or "blk" not in (tracefs / "available_tracers").read_text().split():
        pytest.skip("this kernel has no blktrace")
    readers = []
    try:
        (tracefs / "current_tracer").write_text("blk")
        for option in ("bin", "nocontext-info"):
            (tracefs / "trace_options").write_text(option)
        enable.write_text("1")
        for cpu in sorted(tracefs.glob("per_cpu/cpu*")):
            with (folder / f"work.blktrace.{cpu.name[3:]}").open("wb") as file:
                readers.append(subprocess.Popen(["cat", cpu / "trace_pipe"], stdout=file))
        time.sleep(0.5)
        work()
        time.sleep(2)
    finally:
        enable.write_text("0")
        for reader in readers:
            reader.terminate()
            reader.wait()
        for option in ("nobin", "context-info"):
            (tracefs / "trace_options").write_text(option)
        (tracefs / "current_tracer").write_text("nop")


@loops
def test_a_blktrace_of_this_kernel_is_what_blkparse_prints_of_it_and_what_fio_did(tmp_path, tracefs):
    for program in ("blkparse", "fio"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    log = tmp_path / "fio.iolog"
    with loop_over(noise(tmp_path / "image", SIZE)) as device:
        words = ["fio", "--name=a", f"--filename={device.path}", "--rw=randrw", "--bs=4k", "--size=4m", "--direct=1"]
        words += ["--ioengine=libaio", "--iodepth=4", f"--write_iolog={log}"]
        blktraced(
            tracefs, device.path, tmp_path, lambda: subprocess.run(words, check=True, capture_output=True, cwd=tmp_path)
        )
    subprocess.run(["blkparse", "-q", "-i", "work", "-o", "work.txt"], check=True, capture_output=True, cwd=tmp_path)
    binary, text = (requests(tmp_path / name) for name in ("work.blktrace.0", "work.txt"))
    assert binary == text
    asked = [line.split() for line in log.read_text().splitlines()]
    did = [(line[-3], int(line[-2]), int(line[-1])) for line in asked if line[-3:-2] in (["read"], ["write"])]
    assert len(did) > 900
    # The kernel may merge neighbours.
    merged = [of for of in did if of not in {request[1:] for request in binary}]
    assert len(merged) < 0.05 * len(did)


@loops
def test_a_watch_traces_in_lines_whatever_form_the_machines_own_tracing_has(tmp_path, tracefs):
    rows = drawn(4, 20)
    options = tracefs / "trace_options"
    with loop_over(noise(tmp_path / "image", SIZE)) as device:
        real = RealOptions(destroy_data=str(device.image), wipe_signatures=True)
        try:
            for option in ("bin", "nocontext-info"):
                options.write_text(option)
            trace = table(tmp_path / "work.csv", rows)
            seen = watched(device.path, tmp_path / "seen", lambda: pslc.run(trace, on=device.path, real=real))
        finally:
            for option in ("nobin", "context-info"):
                options.write_text(option)
    wanted = [(op, at, size) for _, op, at, size in rows]
    assert sorted(within(seen, wanted)) == sorted(wanted)


def requests(path: Path) -> list[tuple[int, str, int, int]]:
    """Time in ns, kind, offset, bytes."""
    found = []
    for batch in traces.opened(path, Part()).read(1 << 16):
        times, offsets = (memoryview(batch[name]).cast("Q") for name in ("time_ns", "offset"))
        sizes = memoryview(batch["size"]).cast("I")
        found += [(times[i], OPS[kind], offsets[i], sizes[i]) for i, kind in enumerate(batch["op"])]
    return found


@loops
def test_a_trace_is_replayed_only_with_the_guards_leave(tmp_path):
    trace = table(tmp_path / "work.csv", drawn(1))
    with loop_over(noise(tmp_path / "image", SIZE)) as device:
        before = device.hash()
        with pytest.raises(pslc.PslcError, match="consent to lose everything on it"):
            pslc.run(trace, on=device.path)
        with pytest.raises(pslc.PslcError, match="serial"):
            pslc.run(trace, on=device.path, real=RealOptions(destroy_data="other"))
        plans = []
        real = RealOptions(destroy_data=str(device.image))
        with pytest.raises(DeclinedError):
            pslc.run(trace, on=device.path, real=real, confirm=lambda plan: bool(plans.append(plan)))
        assert device.hash() == before
    (plan,) = plans
    said = " ".join(plan.sentences)
    assert "ERASES" in said
    assert "of the trace" in said
    assert plan.write_bytes == sum(size for _, op, _, size in drawn(1) if op == "write")


def test_reads_of_a_new_file_need_a_prefill_and_lateness_is_a_warning(command, tmp_path):
    rows = [(i, "write" if i % 2 else "read", 8192 * (i * 7 % 1000), 8192) for i in range(2000)]
    table(tmp_path / "work.csv", rows)
    words = ["replay", "work.csv", "--on", "./scratch.bin", "--size", "16MiB", "--yes", "--save"]
    bare = command.refused(*words, "bare")
    assert "--prefill" in bare.stderr
    done = command.fine(*words, "filled", "--prefill", "--iodepth=2", "--json")
    found = json.loads(done.stdout)
    assert found["findings"]["requests"] == 2000
    assert found["findings"]["late"] > 100, "2000 requests in 2 ms"
    assert "late" in [warning["code"] for warning in found["warnings"]]
    assert not (tmp_path / "scratch.bin").exists()
    shown = command("analyze", "filled")
    assert "Latency of reads: median" in shown.stdout
    command.fine("compare", "filled", "filled")


def test_other_caches_are_not_asked_of_a_real_drive(command, tmp_path):
    table(tmp_path / "work.csv", drawn(1))
    done = command.refused("replay", "work.csv", "--on", "./scratch.bin", "--size", "64MiB", "--what-if", "--yes")
    assert "a real drive has one cache" in done.stderr
