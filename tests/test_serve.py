"""A simulated drive that any program uses, held against programs that we did not write."""

import contextlib
import functools
import json
import os
import pty
import random
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from benches.small import PROFILE

import pslc
from pslc._native import SimDrive
from pslc.base.errors import TargetError
from pslc.recording import store
from pslc.serving import nvme
from pslc.serving.listening import Address
from tests import forked
from tests.conftest import ROOT
from tests.forked import eventually
from tests.served import PATH, has, served

pytestmark = pytest.mark.skipif(not has("nbdinfo", "nbdcopy", "nbdsh"), reason="libnbd is not installed")


@pytest.fixture
def disk(tmp_path: Path) -> str:
    (tmp_path / "small.toml").write_text(PROFILE, encoding="utf-8")
    drive = SimDrive("small.toml", PROFILE, {}, [])
    drive.save(str(tmp_path / "disk.pslc"))
    drive.close()
    return "disk.pslc"


def test_what_is_written_comes_back_now_and_the_next_time(tmp_path: Path, disk: str) -> None:
    with served(tmp_path, disk) as on:
        said = on.nbdsh(
            "h.pwrite(b'x' * 4096, 8192)",
            "h.pwrite(b'y' * 65536, 1 << 30)",
            "h.flush()",
            "print(h.pread(3 * 4096, 4096) == bytes(4096) + b'x' * 4096 + bytes(4096))",
        )
        assert said.strip() == "True"
        on.end()
    drive = SimDrive.open(str(tmp_path / disk))
    counters = drive.counters()
    drive.close()
    assert counters["host_write_bytes_total"] == 4096 + 65536
    assert counters["mapped_bytes"] == 4096 + 65536
    with served(tmp_path, disk) as on:
        assert on.nbdsh("print(h.pread(65536, 1 << 30) == b'y' * 65536)").strip() == "True"


def test_random_writes_trims_and_zeros_read_back_as_a_model_says(tmp_path: Path, disk: str) -> None:
    (tmp_path / "model.py").write_text(
        """
import random
rng = random.Random(7)
model = bytearray(1 << 22)
for step in range(1500):
    offset = 512 * rng.randrange(len(model) // 512)
    count = min(512 * rng.randrange(1, 129), len(model) - offset)
    kind = rng.choice("wwwwrrrtznfF")
    if kind in "wF":
        data = rng.randbytes(count)
        h.pwrite(data, offset, nbd.CMD_FLAG_FUA if kind == "F" else 0)
        model[offset:offset + count] = data
    elif kind == "r":
        assert h.pread(count, offset) == model[offset:offset + count], (step, offset, count)
    elif kind == "t":
        h.trim(count, offset)
        model[offset:offset + count] = bytes(count)
    elif kind == "z":
        h.zero(count, offset)
        model[offset:offset + count] = bytes(count)
    elif kind == "n":
        h.zero(count, offset, nbd.CMD_FLAG_NO_HOLE)
        model[offset:offset + count] = bytes(count)
    else:
        h.flush()
assert h.pread(len(model), 0) == model
print("agreed")
"""
    )
    for data in ("keep", "memory"):
        with served(tmp_path, disk, "--data", data, "--speed", "10") as on:
            # nbdsh runs commands within a function, where a file's names need a place of their own.
            assert on.nbdsh("exec(open('model.py').read(), {'h': h, 'nbd': nbd})").strip() == "agreed"


def test_nbdcopy_brings_a_file_there_and_back(tmp_path: Path, disk: str) -> None:
    content = random.Random(1).randbytes(48 << 20)
    (tmp_path / "there").write_bytes(content)
    with served(tmp_path, disk) as on:
        on.tool("nbdcopy", "--connections=4", "there", on.uri)
        on.tool("nbdcopy", "--connections=4", on.uri, "back")
    with (tmp_path / "back").open("rb") as back:
        assert back.read(len(content)) == content
        assert not any(back.read(1 << 20))
    document = on.recording()
    assert document["written_bytes"] >= len(content)


def test_a_client_is_told_what_the_drive_can_do(tmp_path: Path, disk: str) -> None:
    with served(tmp_path, disk, "--data", "none") as on:
        told = json.loads(on.tool("nbdinfo", "--json", on.uri))["exports"][0]
        assert on.nbdsh("h.pwrite(b'x' * 4096, 0)", "print(h.pread(4096, 0) == bytes(4096))").strip() == "True"
        refused = on.tool("nbdsh", "-u", on.uri, "-c", "h.set_strict_mode(0)", "-c", "h.pread(100, 3)", ok=False)
        assert "Invalid argument" in refused
    assert told["export-size"] == 8_000_000_000
    assert "holds no data: zeros are read" in told["description"]
    assert (told["block_size_minimum"], told["block_size_preferred"]) == (512, 4096)
    can = ("can_flush", "can_fua", "can_multi_conn", "can_trim", "can_zero", "can_fast_zero", "can_df")
    assert not [name for name in can if not told[name]]
    assert not told["is_read_only"]


def test_the_extents_are_what_is_mapped(tmp_path: Path, disk: str) -> None:
    with served(tmp_path, disk) as on:
        on.nbdsh(
            "h.pwrite(b'x' * 65536, 1 << 20)",
            "h.pwrite(b'x' * 4096, 4 << 20)",
            "h.trim(8192, (1 << 20) + 16384)",
            "h.zero(8192, 5 << 20, nbd.CMD_FLAG_NO_HOLE)",
        )
        told = json.loads(on.tool("nbdinfo", "--map", "--json", on.uri))
    data = [(part["offset"], part["length"]) for part in told if part["type"] == 0]
    assert data == [(1 << 20, 16384), ((1 << 20) + 24576, 65536 - 24576), (4 << 20, 4096), (5 << 20, 8192)]
    assert sum(part["length"] for part in told) == 8_000_000_000
    holes = [part for part in told if part["type"] != 0]
    assert not [part for part in holes if part["type"] != 3]


def test_after_a_format_the_drive_is_smaller_and_its_data_are_gone(tmp_path: Path, command) -> None:  # type: ignore[no-untyped-def]
    text = PROFILE + "\n".join(["", "[wear]", "slc_cycles = 30000", "native_cycles = 3000", ""])
    drive = SimDrive("small.toml", text, {}, [])
    drive.save(str(tmp_path / "disk.pslc"))
    drive.close()
    with served(tmp_path, "disk.pslc") as on:
        on.nbdsh("h.pwrite(b'x' * 65536, 0)", "h.pwrite(b'x' * 65536, 7 << 30)")
        on.end()
    command.fine("drives", "format", "disk.pslc", "--mode", "pure-slc", "--yes")
    with served(tmp_path, "disk.pslc") as on:
        assert on.nbdsh("print(h.get_size() < 4_000_000_000, h.pread(65536, 0) == bytes(65536))").strip() == "True True"
        assert '"type": 0' not in on.tool("nbdinfo", "--map", "--json", on.uri)
    # But for the block behind the data, which tells whose they are.
    assert (tmp_path / "disk.pslc.data").stat().st_blocks * 512 <= 4096


def test_the_data_of_a_drive_are_its_own_and_only_its_user_s(tmp_path: Path, disk: str) -> None:
    data = tmp_path / f"{disk}.data"
    with served(tmp_path, disk) as on:
        on.nbdsh("h.pwrite(b'x' * 4096, 0)")
        on.end()
    assert data.stat().st_mode & 0o777 == 0o600
    SimDrive("small.toml", PROFILE, {}, []).save(str(tmp_path / "other.pslc"))
    data.rename(tmp_path / "other.pslc.data")
    said = refused(tmp_path, "other.pslc")
    assert "other.pslc.data holds the data of another drive" in said
    (tmp_path / "other.pslc.data").rename(data)
    (tmp_path / "other.pslc.data").write_text("a thesis")
    assert "other.pslc.data was not made by pslc" in refused(tmp_path, "other.pslc")
    assert (tmp_path / "other.pslc.data").read_text() == "a thesis"
    with served(tmp_path, disk) as on:
        assert on.nbdsh("print(h.pread(4096, 0) == b'x' * 4096)").strip() == "True"


@pytest.mark.parametrize("beside", ["data", "journal"])
@pytest.mark.parametrize("how", ["link", "hard link", "pipe"])
def test_what_lies_beside_a_drive_is_reached_through_no_link(tmp_path: Path, disk: str, beside: str, how: str) -> None:
    precious = tmp_path / "thesis.txt"
    precious.write_text("a thesis")
    at = tmp_path / f"{disk}.{beside}"
    {
        "link": lambda: at.symlink_to(precious),
        "hard link": lambda: os.link(precious, at),
        "pipe": lambda: os.mkfifo(at),
    }[how]()
    words = {"link": "is a symbolic link", "hard link": "has 2 names", "pipe": "is no regular file, but a FIFO"}
    said = refused(tmp_path, disk)
    assert words[how].partition(", but")[0] in said
    assert precious.read_text() == "a thesis"


def refused(folder: Path, drive: str) -> str:
    """What `pslc serve` says where it serves nothing."""
    program = str(Path(sys.executable).parent / "pslc")
    command = [program, "serve", drive, "--unix", "refused.sock"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    return done.stderr


def test_a_host_that_is_too_slow_is_said_with_how_much(tmp_path: Path, disk: str) -> None:
    with served(tmp_path, disk, "--data", "memory", "--speed", "1000") as on:
        # Each takes a thousandth of what the drive takes, for which no memory is fast enough.
        on.nbdsh("exec('for i in range(400): h.pwrite(bytes(1 << 20), i << 20)', {'h': h})")
        time.sleep(0.6)
        _, said = on.end()
    (by,) = re.findall(r"the host is too slow for this drive: a request takes ([0-9.]+ \S+) longer than the", said)
    assert "late on average" in said
    assert not by.startswith("0 ")
    document = on.recording()
    assert [warning["code"] for warning in document["findings"]["warnings"]].count("late") == 1
    assert document["facts"]["served"]["late_s"] > 0


def test_what_happens_is_drawn_in_a_terminal(tmp_path: Path, disk: str) -> None:
    program = str(Path(sys.executable).parent / "pslc")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execv(program, [program, "serve", disk, "--watch", "--save", "run", "--no-report"])
    seen = bytearray()

    def read() -> None:
        with contextlib.suppress(OSError):
            while part := os.read(terminal, 4096):
                seen.extend(part)

    reader = threading.Thread(target=read)
    reader.start()
    eventually(lambda: b"Ctrl-C ends it" in seen, 60)
    write = "for i in range(60): h.pwrite(bytes(1 << 20), i << 20); time.sleep(0.02)"
    subprocess.run(
        ["nbdsh", "-u", f"nbd+unix:///?socket={tmp_path / 'disk.sock'}", "-c", "import time",
         "-c", f"exec({write!r}, {{'h': h, 'time': time}})"],
        env={"PATH": PATH}, check=True, timeout=60,
    )  # fmt: skip
    time.sleep(0.6)
    os.kill(pid, signal.SIGINT)
    reader.join(timeout=60)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    drawn = seen.decode(errors="replace")
    for word in ("small, ", "read", "IOPS", "latency", "queue depth", "cache #", " of 8", "folding"):
        assert word in drawn, drawn
    assert max(float(speed) for speed in re.findall(r"write +([0-9.]+) MB/s", drawn)) > 1


def test_only_the_owner_may_use_the_socket(tmp_path: Path, disk: str) -> None:
    with served(tmp_path, disk) as on:
        about = os.stat(on.socket)
        assert stat.S_ISSOCK(about.st_mode)
        assert stat.S_IMODE(about.st_mode) == 0o600
        assert on.socket == str(tmp_path / "disk.sock")
        second = forked.run(["serve", "sim:pm871b-128gb", "--unix", on.socket], tmp_path)
        assert second.returncode == 2
        assert "another program listens at" in second.stderr
    assert not os.path.exists(on.socket)
    assert not list(tmp_path.glob(".pslc-*"))
    with served(tmp_path, disk) as on:
        os.unlink(on.socket)
        assert on.end()[1].count("disk.sock was removed, so no further client can connect") == 1


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_tcp_is_for_this_machine_alone(tmp_path: Path, disk: str, command: Any) -> None:
    port = free_port()
    with served(tmp_path, disk, "--tcp", str(port)) as on:
        assert on.nbdsh("print(h.get_size())").strip() == "8000000000"
        bound = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
                 if line.split()[3] == "0A" and line.split()[1].endswith(f":{port:04X}")]  # fmt: skip
    assert bound == [f"0100007F:{port:04X}"]
    for everywhere in ("0.0.0.0", "[::]", "192.0.2.7", "example.org"):
        done = command.refused("serve", disk, "--tcp", f"{everywhere}:{port}")
        assert f"other machines can reach {everywhere.strip('[]')}" in done.stderr
        assert f"hint: on the other machine: ssh -N -L {port}:127.0.0.1:{port}" in done.stderr


def test_two_serve_one_drive_and_the_second_is_told_who_has_it(tmp_path: Path, disk: str, command) -> None:  # type: ignore[no-untyped-def]
    with served(tmp_path, disk):
        for arguments in (["serve", disk, "--unix", "other.sock"], ["probe", disk]):
            done = command.refused(*arguments)
            assert "the drive is held by process" in done.stderr


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_however_it_is_told_to_end_the_drive_is_saved(tmp_path: Path, disk: str, sent: signal.Signals) -> None:
    with served(tmp_path, disk) as on:
        on.nbdsh("h.pwrite(b'x' * 4096, 0)")
        out, said = on.end(sent)
        assert on.process.returncode == 0, said
    assert "4.10 kB" in out
    drive = SimDrive.open(str(tmp_path / disk))
    assert drive.counters()["mapped_bytes"] == 4096
    drive.close()
    recording = store.load(tmp_path / "run")
    assert recording.written_bytes == 4096
    assert not recording.error
    assert recording.totals["host_write_bytes_total"] == 4096


def test_a_script_serves_a_drive_and_has_its_recording(tmp_path: Path, disk: str, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for where, uri in ({}, f"nbd+unix:///?socket={tmp_path / 'disk.sock'}"), ({"tcp": free_port()}, "nbd://127.0.0.1:"):
        with pslc.serve(disk, **where) as drive:
            assert drive.uri.startswith(uri)
            subprocess.run(["nbdsh", "-u", drive.uri, "-c", "h.pwrite(bytes(4096), 0)"], env={"PATH": PATH}, check=True)
        assert drive.recording is not None
        assert drive.recording.written_bytes == 4096


@pytest.mark.parametrize(
    "write", ["h.pwrite(b'x' * 65536, 0); h.flush()", "h.pwrite(b'x' * 65536, 0, nbd.CMD_FLAG_FUA)"]
)
def test_what_a_reply_says_is_safe_survives_a_kill_just_after_it(tmp_path: Path, disk: str, write: str) -> None:
    with served(tmp_path, disk) as on:
        on.nbdsh(write, f"import os; os.kill({on.process.pid}, 9)")
        on.process.wait()
    drive = SimDrive.open(str(tmp_path / disk))
    counters = drive.counters()
    drive.close()
    assert (counters["mapped_bytes"], counters["lost_bytes"], counters["unsafe_shutdowns"]) == (65536, 0, 1)


def test_what_it_was_asked_since_it_was_saved_is_beside_it_until_it_is_saved_again(tmp_path: Path, disk: str) -> None:
    journal = tmp_path / "disk.pslc.journal"
    with served(tmp_path, disk) as on:
        on.nbdsh("h.pwrite(bytes(4096), 0)")
        assert journal.stat().st_size >= 48
        on.end()
    assert not journal.exists()


@pytest.mark.long
def test_a_long_journal_begins_anew_while_the_drive_is_served_and_a_kill_loses_nothing_of_it(
    tmp_path: Path, disk: str
) -> None:
    # Pages from the first on, each with its number; what is flushed is said.
    (tmp_path / "write.py").write_text(
        """
for page in range(10**6):
    h.pwrite(page.to_bytes(8, "little") * 512, page * 4096)
    if page % 64 == 63:
        h.flush()
        print(page + 1, flush=True)
"""
    )
    (tmp_path / "serve.py").write_text(
        """
from pathlib import Path
from pslc.serving import server
from pslc.serving.listening import Address
from pslc.serving.server import Server
server.MAX_JOURNAL_BYTES = 20_000
with Server("disk.pslc", Address(Path("disk.sock"))) as server:
    print("ready", flush=True)
    server.run(lambda status: None, print)
"""
    )
    journal = tmp_path / "disk.pslc.journal"
    server = subprocess.Popen([sys.executable, "serve.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        code = "exec(open('write.py').read(), {'h': h})"
        uri = f"nbd+unix:///?socket={tmp_path / 'disk.sock'}"
        client = subprocess.Popen(["nbdsh", "-u", uri, "-c", code], stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.DEVNULL, env={"PATH": PATH}, cwd=tmp_path)  # fmt: skip
        for _ in range(2):
            saved, longest = (tmp_path / disk).stat().st_ino, 0
            while (tmp_path / disk).stat().st_ino == saved:
                longest = max(longest, journal.stat().st_size)
                assert longest < 64 << 20
                time.sleep(0.005)
            # It is cut just afterwards.
            eventually(lambda longest=longest: journal.stat().st_size < longest, 5)
        time.sleep(random.Random(5).uniform(0, 0.3))
    finally:
        server.kill()
    flushed = int(client.communicate(timeout=30)[0].split()[-1])
    assert "not saved in between" not in server.communicate()[0]
    drive = SimDrive.open(str(tmp_path / disk))
    counters = drive.counters()
    drive.close()
    assert flushed * 24 > 2 * 20000
    assert counters["mapped_bytes"] >= flushed * 4096
    assert counters["host_write_bytes_total"] >= flushed * 4096
    with served(tmp_path, disk) as on:
        on.nbdsh(f"open('seen', 'wb').write(h.pread({min(flushed, 8000)} * 4096, 0))")
    seen = (tmp_path / "seen").read_bytes()
    numbers = [int.from_bytes(seen[at : at + 8], "little") for at in range(0, len(seen), 4096)]
    assert numbers == list(range(len(numbers)))


def test_wall_time_is_the_drives_time_and_it_folds_while_nobody_asks(tmp_path: Path, disk: str) -> None:
    with served(tmp_path, disk, "--data", "none", "--speed", "10") as on:
        begin = time.monotonic()
        on.nbdsh(*[f"h.pwrite(bytes(1 << 24), {i} << 24)" for i in range(20)])
        time.sleep(1.5)
        on.end()
        took = time.monotonic() - begin
    recording = store.load(tmp_path / "run")
    assert 15 < recording.drive_time_s < 10 * took + 20
    totals = recording.totals
    assert totals["host_to_slc_bytes_total"] == 20 << 24
    # 100 MB/s from half a second after the last write on.
    assert totals["idle_folded_bytes_total"] > 200_000_000
    held = recording.time["slc_valid_bytes"].astype(float)
    assert held.max() > held[-1]


def test_many_requests_are_under_way_at_once_on_one_connection(tmp_path: Path, disk: str) -> None:
    # Each waits for its cells, for a tenth of a second and more.
    with served(tmp_path, disk, "--data", "none", "--speed", "0.001") as on:
        on.nbdsh(
            "buffers = [nbd.Buffer.from_bytearray(bytearray(4096)) for _ in range(100)]",
            "asked = [h.aio_pwrite(buffer, 4096 * at, flags=nbd.CMD_FLAG_FUA) for at, buffer in enumerate(buffers)]",
            "exec('while h.aio_in_flight():\\n    h.poll(-1)', {'h': h})",
        )
    levels = on.recording()["jobs"][0]["iodepth_level"]
    assert levels[">=64"] > 20, levels


@pytest.mark.skipif(not has("qemu-img", "qemu-io"), reason="qemu-utils is not installed")
def test_qemu_copies_compares_and_checks(tmp_path: Path, disk: str) -> None:
    content = random.Random(2).randbytes(8 << 20)
    (tmp_path / "there.raw").write_bytes(content)
    with served(tmp_path, disk) as on:
        info = json.loads(on.tool("qemu-img", "info", "--output=json", on.uri))
        assert info["virtual-size"] == 8_000_000_000
        on.tool("qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", "there.raw", on.uri)
        on.tool("qemu-img", "convert", "-f", "raw", "-O", "qcow2", on.uri, "back.qcow2")
        on.tool("qemu-img", "compare", "-f", "raw", "-F", "qcow2", on.uri, "back.qcow2")
        io = on.tool("qemu-io", "-f", "raw", "-c", "write -P 0xab 64M 1M", "-c", "read -P 0xab 64M 1M", "-c", "flush",
                     "-c", "discard 64M 1M", "-c", "read -P 0 64M 1M", "-c", "write -z -u 16M 4M",
                     "-c", "read -P 0 16M 4M", "-c", "write -f -P 7 1M 64k", "-c", "read -P 7 1M 64k",
                     on.uri)  # fmt: skip
        assert "Pattern verification failed" not in io
        assert "wrote 1048576/1048576" in io


@functools.cache
def _fio_speaks_nbd() -> bool:
    return has("fio") and "nbd" in subprocess.run(["fio", "--enghelp"], capture_output=True, text=True, check=False,
                                                  env={"PATH": PATH}).stdout  # fmt: skip


def _fio(on, *options: str) -> dict:  # type: ignore[no-untyped-def, type-arg]
    said = on.tool("fio", "--ioengine=nbd", "--output-format=json", f"--uri={on.uri}", *options)
    return json.loads(said[said.index("{") :])["jobs"][0]  # type: ignore[no-any-return]


@pytest.mark.long
@pytest.mark.skipif(not _fio_speaks_nbd(), reason="fio with an nbd engine is not installed")
def test_fio_verifies_its_data_and_finds_the_shape_of_the_drive(tmp_path: Path, disk: str) -> None:
    with served(tmp_path, disk) as on:
        done = _fio(on, "--name=verify", "--rw=randwrite", "--bs=4k", "--iodepth=32", "--size=32m",
                    "--verify=crc32c", "--do_verify=1")  # fmt: skip
        assert done["error"] == 0
        assert done["write"]["io_bytes"] == done["read"]["io_bytes"] == 32 << 20
    # So slow that a busy machine is fast beside it: 7 ms a request.
    speed = 0.001
    found = {}
    with served(tmp_path, disk, "--data", "none", "--speed", str(speed)) as on:
        for depth in (1, 16):
            job = _fio(on, "--name=a", "--rw=randread", "--bs=4k", f"--iodepth={depth}", "--size=1g", "--runtime=3",
                       "--time_based")  # fmt: skip
            found[depth] = (job["read"]["iops"], job["read"]["clat_ns"]["mean"] / 1e9)
            # Neither is faster than the drive is in a run.
            assert found[depth][0] < 1.1 * speed * _reads_per_s(depth)
    # Sixteen at once are faster than one, and each of them is not faster.
    assert found[16][0] > 1.2 * found[1][0]
    assert found[16][1] > 0.9 * found[1][1]


def _reads_per_s(depth: int) -> float:
    """Random reads of 4 KiB a second of drive time in a simulated run, so many under way."""
    drive = SimDrive("small.toml", PROFILE, {}, [])
    job = f"[a]\nrw=randread\nbs=4k\nioengine=libaio\ndirect=1\nsize=1g\nnumber_ios=2000\niodepth={depth}\n"
    read = drive.run(job, "a.fio", [], 0)["jobs"][0]["read"]
    return float(read["total_ios"] / (read["runtime_ns"] / 1e9))


@pytest.mark.long
@pytest.mark.skipif(not _fio_speaks_nbd(), reason="fio with an nbd engine is not installed")
def test_the_cliff_is_where_and_as_high_as_a_run_says(tmp_path: Path) -> None:
    # Cells so slow that a hundred times as fast is little for the host, and enough under way for it to stop a while.
    changes = {
        'capacity = "8GB"': 'capacity = "125MB"', "pages_per_block = 96": "pages_per_block = 24",
        "blocks_per_plane = 780": "blocks_per_plane = 60", "reserve_superblocks = 6": "reserve_superblocks = 4",
        'program = "100us"': 'program = "1200ms"', 'program = "900us"': 'program = "9000ms"',
        'dynamic = "800MB"': 'dynamic = "25MB"', 'write_buffer = "4MiB"': 'write_buffer = "2MiB"',
        'threshold = "500ms"': 'threshold = "1h"',
    }  # fmt: skip
    text = PROFILE
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "slow.toml").write_text(text, encoding="utf-8")
    drive = SimDrive("slow.toml", text, {}, [])
    job = "[a]\nrw=write\nbs=128k\niodepth=32\nioengine=libaio\ndirect=1\nsize=75m\n"
    asked = _two_speeds(drive.run(job, "a.fio", [], 0)["series"]["bytes"])
    with served(tmp_path, "sim:./slow.toml", "--data", "none", "--speed", "100") as on:
        _fio(on, "--name=a", "--rw=write", "--bs=128k", "--iodepth=32", "--size=75m")
        on.end()
    recording = store.load(tmp_path / "run")
    found = _two_speeds({name: values.tobytes() for name, values in recording.bytes.items()})
    assert asked[0] / asked[1] > 2
    assert found[0] / found[1] == pytest.approx(asked[0] / asked[1], rel=0.05)


def _two_speeds(columns: dict[str, bytes]) -> tuple[float, float]:
    """Mean speeds of the first 20 MB, what fills the buffer excepted, and from 37 to 72 MB."""
    import numpy as np

    end, wrote = (np.frombuffer(columns[name], dtype="<u8").astype(float) for name in ("end_ns", "write_bytes"))
    total = np.cumsum(wrote)

    def speed(low: float, high: float) -> float:
        first, last = np.searchsorted(total, [low, high])
        return float((total[last] - total[first]) / (end[last] - end[first]))

    return speed(3e6, 20e6), speed(37e6, 72e6)


@pytest.mark.skipif(not (has("nbdfuse", "mkfs.ext4", "e2fsck", "losetup", "mount") and os.geteuid() == 0
                         and Path("/dev/fuse").exists()), reason="needs root and FUSE")  # fmt: skip
def test_a_file_system_on_it_is_clean(tmp_path: Path, disk: str) -> None:
    with served(tmp_path, disk, "--speed", "10") as on:
        with on.file_system():
            tree = Path(pslc.__file__).parent
            on.tool("cp", "-a", str(tree), "at/tree")
            on.tool("sync", "-f", "at")
            on.tool("diff", "-r", "-x", "__pycache__", str(tree), "at/tree")
            on.tool("umount", "at")
        on.end()
    # And what is in the file of data afterwards is the same file system.
    subprocess.run(["e2fsck", "-fn", "disk.pslc.data"], cwd=tmp_path, env={"PATH": PATH}, check=True)


@pytest.mark.long
@pytest.mark.skipif(
    not (
        has("nbdfuse", "mkfs.ext4", "mount", "qemu-img") and _fio_speaks_nbd() and os.geteuid() == 0
        and Path("/dev/fuse").exists()
    ),
    reason="needs root, FUSE, qemu-utils and fio with an nbd engine",
)  # fmt: skip
@pytest.mark.parametrize("document", ["README.md", "docs/how-to.md"])
def test_the_commands_that_the_documents_show_run(tmp_path: Path, document: str) -> None:
    text = (ROOT / document).read_text()
    lines = [
        line for block in re.findall(r"^```bash\n(.*?)^```", text, flags=re.S | re.M) for line in block.splitlines()
    ]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pslc").symlink_to(Path(sys.executable).parent / "pslc")
    at = next(number for number, line in enumerate(lines) if line.startswith("pslc serve"))
    how: dict[str, Any] = {"cwd": tmp_path, "env": {"PATH": f"{tmp_path / 'bin'}:{PATH}", "HOME": str(tmp_path)}}
    subprocess.run(["bash", "-ec", "\n".join(lines[:at])], check=True, timeout=60, **how)
    server = subprocess.Popen(["bash", "-c", f"exec {lines[at]}"], stdout=subprocess.PIPE, text=True, **how)
    try:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("nbd+unix:")
        # Line by line: what runs in the background stays.
        subprocess.run(["bash", "-exc", "\n".join(lines[at + 1 :])], check=True, timeout=120, **how)
    finally:
        server.send_signal(signal.SIGINT)
        out = server.communicate(timeout=60)[0]
    assert server.returncode == 0
    assert "written" in out


def test_it_says_what_is_missing_and_what_cannot_be(tmp_path: Path, disk: str, command) -> None:  # type: ignore[no-untyped-def]
    refused = {
        ("serve", disk, "--tcp", "10809", "--unix", "x.sock"): "a unix socket and a TCP port exclude each other",
        ("serve", disk, "--tcp", "70000"): "70000 is no TCP port",
        ("serve", disk, "--unix", "small.toml"): "exists and is not a socket",
        ("serve", disk, "--unix", "nowhere/x.sock"): "No such file or directory",
        ("serve", disk, "--unix", "a" * 120): "is too long for a socket",
        ("serve", "sim:pm871b-128gb", "--data", "keep"): "does not outlast serve",
        ("serve", "other.pslc"): "no such drive file",
    }
    for arguments, said in refused.items():
        done = command.refused(*arguments)
        assert said in done.stderr
        assert "hint:" in done.stderr
    SimDrive.open(str(tmp_path / disk)).close()


def test_a_full_disk_lets_trims_and_flushes_through_and_a_clean_end_there_loses_nothing(
    tmp_path: Path, disk: str, small_disk: Any, command: Any
) -> None:
    small = small_disk("40m")
    shutil.move(tmp_path / disk, small / disk)
    (tmp_path / disk).symlink_to(small / disk)
    fill = """
at = 0
try:
    while True:
        h.pwrite(b"x" * 65536, at * 65536)
        at += 1
except nbd.Error as error:
    print("refused", error.errno)
h.flush()
h.trim(1 << 20, 0)
h.flush()
print("kept", h.pread(65536, 1 << 20) == b"x" * 65536, h.pread(65536, 0) == bytes(65536))
h.pwrite(b"y" * 65536, 0)
h.flush()
try:
    for at in range(at, at + 1000):
        h.pwrite(b"x" * 65536, at * 65536)
except nbd.Error as error:
    print("refused", error.errno)
h.trim(65536, 2 << 20)
h.flush()
"""
    (tmp_path / "fill.py").write_text(fill)
    with served(tmp_path, disk) as on:
        said = on.nbdsh("exec(open('fill.py').read(), {'h': h, 'nbd': nbd})").splitlines()
        assert said == ["refused ENOSPC", "kept True True", "refused ENOSPC"]
        # Whatever else is written there: the drive has no room for its own file now.
        with (small / "other").open("wb", buffering=0) as other, contextlib.suppress(OSError):
            while True:
                other.write(bytes(4096))
        _, talk = on.end()
        assert on.process.returncode == 0
    assert "warning: the disk of disk.pslc is full: writes are refused" in talk
    assert "No space left on device; it is whole in its journal" in talk
    (small / "other").unlink()
    told = json.loads(command("probe", disk, "--json").stdout)
    assert told["nvme_smart_health_information_log"]["unsafe_shutdowns"] == 0
    assert told["inside"]["lost_bytes"] == 0
    with served(tmp_path, disk) as on:
        assert (
            on.nbdsh("print(h.pread(65536, 0) == b'y' * 65536, h.pread(65536, 2 << 20) == bytes(65536))")
            == "True True\n"
        )
        on.end()
    assert not list(small.glob("*.journal*"))


def test_the_reason_is_said_where_there_is_no_room_to_serve_at_all(
    tmp_path: Path, disk: str, small_disk: Any, command: Any
) -> None:
    small = small_disk("1m")
    shutil.move(tmp_path / disk, small / disk)
    done = command.refused("serve", str(small / disk))
    assert f"{small / disk}.journal: cannot write: No space left on device" in done.stderr
    assert not list(small.glob("*.part"))
    SimDrive.open(str(small / disk)).close()


def test_what_was_served_until_pslc_was_killed_is_a_recording_that_opens(
    tmp_path: Path, disk: str, command: Any
) -> None:
    with served(tmp_path, disk) as on:
        on.nbdsh("h.pwrite(b'x' * (4 << 20), 0)")
        run = tmp_path / "run" / "run.json"
        eventually(lambda: run.exists() and json.loads(run.read_text())["totals"]["host_write_bytes_total"], 30)
        on.nbdsh("h.flush()")
        on.process.kill()
        on.process.wait()
    kept = store.load(tmp_path / "run")
    assert kept.written_bytes == 4 << 20
    for words in (("analyze", "run"), ("report", "run", "-o", "page.html"), ("compare", "run", "run")):
        command.fine(*words)
    said = " ".join(command("analyze", "run").stdout.split())
    assert "serve on small" in said
    assert "this recording is partial" in said
    assert "pslc serve has not ended" in said
    # The drive goes on, and its next recording has a folder of its own.
    with served(tmp_path, disk) as on:
        on.nbdsh("assert h.pread(4096, 0) == b'x' * 4096")
        on.end()
        assert on.process.returncode == 0


def test_a_recording_that_finds_no_room_goes_elsewhere_and_that_is_said(
    tmp_path: Path, disk: str, small_disk: Any
) -> None:
    small = small_disk("16k")
    (small / "fill").write_bytes(bytes(12 << 10))
    with served(tmp_path, disk, "--save", str(small / "run")) as on:
        on.nbdsh("h.pwrite(b'x' * (4 << 20), 0)")
        said, talk = on.end()
        assert on.process.returncode == 3, talk
    assert "warning: the recording cannot be written: " in talk
    assert "No space left on device" in talk
    elsewhere = Path(talk.rpartition("recording: ")[2].strip())
    assert store.load(elsewhere).written_bytes == 4 << 20
    shutil.rmtree(elsewhere)
    SimDrive.open(str(tmp_path / disk)).close()
    assert "4.19 MB" in said


def _await_handler(process: "subprocess.Popen[str]", number: signal.Signals) -> None:
    """Return once the process catches the signal, or has ended."""
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        if int(re.findall(r"SigCgt:\s*(\w+)", status)[0], 16) >> (number - 1) & 1:
            return
        time.sleep(0.001)


def test_a_signal_before_there_is_a_socket_ends_in_words(tmp_path: Path, disk: str, command: Any) -> None:
    program = str(Path(sys.executable).parent / "pslc")
    early = 0
    for step in range(12):
        process = subprocess.Popen([program, "serve", disk, "--save", f"run-{step}"], cwd=tmp_path, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        _await_handler(process, signal.SIGTERM)
        time.sleep(0.01 * step)
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
        assert not (tmp_path / "disk.sock").exists()
        assert process.returncode == (0 if output else 130), errors
        if output:
            break
        assert errors.endswith("interrupted before disk.pslc was served\n")
        early += 1
    assert early
    told = json.loads(command("probe", disk, "--json").stdout)
    assert told["nvme_smart_health_information_log"]["unsafe_shutdowns"] == 0


def test_who_is_connected_is_said_when_it_is_to_end(tmp_path: Path, disk: str) -> None:
    for options, named in ((), r"python3, process \d+"), (("--tcp", str(free_port())), r"127\.0\.0\.1:\d+"):
        with served(tmp_path, disk, *options) as on:
            client = subprocess.Popen(["nbdsh", "-u", on.uri, "-c", "print('ready', flush=True)", "-c", "input()"],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"PATH": PATH})  # fmt: skip
            assert client.stdout is not None
            client.stdout.readline()
            time.sleep(0.4)
            began = time.monotonic()
            _, talk = on.end()
            assert 4 < time.monotonic() - began < 10
            client.kill()
            client.wait()
            assert on.process.returncode == 0
        assert re.search(rf"^1 client is connected \({named}\)\. Requests are refused from now on", talk, re.M), talk


def test_a_machine_that_cannot_make_an_nvme_drive_is_told_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvme.os, "geteuid", lambda: 1000)
    with pytest.raises(TargetError, match="Linux and root"):
        nvme.NvmeDrive(Address(Path("served")), "model", "serial")
    monkeypatch.setattr(nvme.os, "geteuid", lambda: 0)
    monkeypatch.setattr(nvme, "MODULES", ("nbd-of-another-kernel", "nvmet-too"))
    monkeypatch.setattr(nvme.children, "find", lambda name: f"/usr/sbin/{name}")
    with pytest.raises(TargetError, match="no module nbd-of-another-kernel, nvmet-too"):
        nvme.NvmeDrive(Address(Path("served")), "model", "serial")
