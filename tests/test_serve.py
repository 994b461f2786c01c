"""A simulated drive that any program uses, held against programs that we did not write."""

import json
import os
import random
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pslc import serving
from pslc._native import SimDrive
from pslc.recording import Recording
from tests.served import PATH, eventually, has, served
from tests.small import PROFILE

pytestmark = pytest.mark.skipif(
    not serving.PLUGIN.exists() or not has("nbdkit", "nbdinfo", "nbdcopy", "nbdsh"),
    reason="nbdkit, libnbd-bin and python3-libnbd are needed (make test-tools), and the plugin (make build)",
)


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
    assert all(told[name] for name in can)
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
    assert all(part["type"] == 3 for part in holes)


def test_only_the_owner_may_use_the_socket(tmp_path: Path, disk: str) -> None:
    with served(tmp_path, disk) as on:
        about = os.stat(on.socket)
        assert stat.S_ISSOCK(about.st_mode)
        assert stat.S_IMODE(about.st_mode) == 0o600
        assert on.socket == str(tmp_path / "disk.sock")
        second = subprocess.run([sys.executable, "-m", "pslc", "serve", "sim:pm871b-128gb", "--unix", on.socket],
                                capture_output=True, text=True, cwd=tmp_path, check=False)  # fmt: skip
        assert second.returncode == 2
        assert "something listens at" in second.stderr
    assert not os.path.exists(on.socket)
    assert not list(tmp_path.glob(".pslc-*"))


def test_tcp_is_for_this_machine_alone_unless_said_otherwise(tmp_path: Path, disk: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for options, everywhere in ((), False), (("--listen", "0.0.0.0"), True):
        with served(tmp_path, disk, "--tcp", str(port), *options) as on:
            assert on.nbdsh("print(h.get_size())").strip() == "8000000000"
            bound = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
                     if line.split()[3] == "0A" and line.split()[1].endswith(f":{port:04X}")]  # fmt: skip
        assert bound == [f"{'00000000' if everywhere else '0100007F'}:{port:04X}"]


def test_tls_is_the_servers(tmp_path: Path, disk: str) -> None:
    (tmp_path / "keys.psk").write_text("me:" + "5f" * 32 + "\n")
    with served(tmp_path, disk, "--", "--tls=require", f"--tls-psk={tmp_path / 'keys.psk'}") as on:
        plain = on.tool("nbdinfo", on.uri, ok=False)
        assert "TLS" in plain
        secret = f"nbds+unix://me@/?socket={on.socket}&tls-psk-file={tmp_path / 'keys.psk'}"
        assert "with TLS" in on.tool("nbdinfo", secret)


def test_two_serve_one_drive_and_the_second_is_told_who_has_it(tmp_path: Path, disk: str, command) -> None:  # type: ignore[no-untyped-def]
    with served(tmp_path, disk):
        for arguments in (["serve", disk, "--unix", "other.sock"], ["probe", disk]):
            done = command(*arguments)
            assert done.returncode == 2
            assert "the drive is held by process" in done.stderr
            assert "nbdkit" in done.stderr


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
    recording = Recording.load(tmp_path / "run")
    assert recording.written_bytes == 4096
    assert not recording.error
    assert recording.totals["host_write_bytes_total"] == 4096


def test_nbdkit_ends_when_pslc_is_killed_and_saves_the_drive(tmp_path: Path, disk: str) -> None:
    with served(tmp_path, disk) as on:
        on.nbdsh("h.pwrite(b'x' * 4096, 0)")
        nbdkit = on.nbdkit
        on.process.kill()
        on.process.wait()
        eventually(lambda: not Path(f"/proc/{nbdkit}").exists())
    drive = SimDrive.open(str(tmp_path / disk))
    assert drive.counters()["mapped_bytes"] == 4096


def test_wall_time_is_the_drives_time_and_it_folds_while_nobody_asks(tmp_path: Path, disk: str) -> None:
    with served(tmp_path, disk, "--data", "none", "--speed", "10") as on:
        begin = time.monotonic()
        on.nbdsh(*[f"h.pwrite(bytes(1 << 24), {i} << 24)" for i in range(20)])
        time.sleep(1.5)
        on.end()
        took = time.monotonic() - begin
    recording = Recording.load(tmp_path / "run")
    assert 15 < recording.drive_time_s < 10 * took + 20
    totals = recording.totals
    assert totals["host_to_slc_bytes_total"] == 20 << 24
    # 100 MB/s from half a second after the last write on.
    assert totals["idle_folded_bytes_total"] > 200_000_000
    held = recording.time["slc_valid_bytes"].astype(float)
    assert held.max() > held[-1]


def test_many_requests_are_under_way_at_once_on_one_connection(tmp_path: Path, disk: str) -> None:
    with served(tmp_path, disk, "--data", "none", "--speed", "0.01") as on:
        on.nbdsh(
            "buffers = [nbd.Buffer.from_bytearray(bytearray(4096)) for _ in range(100)]",
            "asked = [h.aio_pwrite(buffer, 4096 * at) for at, buffer in enumerate(buffers)]",
            "exec('while h.aio_in_flight():\\n    h.poll(-1)', {'h': h})",
        )
    levels = on.recording()["jobs"][0]["iodepth_level"]
    assert levels[">=64"] > 20, levels


def test_a_hostile_client_does_not_keep_others_from_their_drive(tmp_path: Path, disk: str) -> None:
    rng = random.Random(3)
    held: list[socket.socket] = []

    def connect() -> socket.socket:
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(5)
        client.connect(on.socket)
        return client

    with served(tmp_path, disk) as on:
        nbdkit = on.nbdkit
        for _ in range(60):
            with connect() as client:
                client.sendall(rng.randbytes(rng.randrange(1, 4000)))
        for _ in range(60):
            # A client that says what it should, for a while: newstyle, then an option, cut or oversized.
            with connect() as client:
                client.recv(18)
                client.sendall(b"\0\0\0\3" + b"IHAVEOPT" + bytes([0, 0, 0, rng.randrange(12)])
                               + rng.choice([b"\xff\xff\xff\xff", b"\0\0\0\4\0", rng.randbytes(40)]))  # fmt: skip
        for _ in range(60):
            # One that goes on to requests: of any kind, offset and length.
            with connect() as client:
                client.recv(18)
                client.sendall(b"\0\0\0\3" + b"IHAVEOPT" + b"\0\0\0\1" + b"\0\0\0\0")
                client.recv(10)
                request = b"\x25\x60\x95\x13" + rng.randbytes(2) + bytes([0, rng.randrange(9)]) + rng.randbytes(20)
                client.sendall(request if rng.random() < 0.7 else request[: rng.randrange(28)])
        held += [connect() for _ in range(1000)]
        worked = threading.Event()

        def work() -> None:
            on.nbdsh("h.pwrite(b'x' * 4096, 0)", "assert h.pread(4096, 0) == b'x' * 4096")
            worked.set()

        worker = threading.Thread(target=work)
        worker.start()
        worker.join(timeout=60)
        assert worked.is_set()
        assert on.nbdkit == nbdkit
        for client in held:
            client.close()
        assert on.nbdsh("print(h.pread(4096, 0) == b'x' * 4096)").strip() == "True"
        on.end()
    assert on.process.returncode == 0


def test_what_was_served_can_be_reported_analyzed_and_compared(tmp_path: Path, disk: str, command) -> None:  # type: ignore[no-untyped-def]
    for name in ("one", "two"):
        with served(tmp_path, disk, "--data", "none") as on:
            on.nbdsh(*[f"h.pwrite(bytes(1 << 20), {i} << 20)" for i in range(40)])
        (tmp_path / "run").rename(tmp_path / name)
    assert command("report", "one").returncode == 0
    assert "serve on small" in command("analyze", "one").stdout
    compared = command("compare", "one", "two")
    assert compared.returncode == 0, compared.stderr


def test_it_says_what_is_missing_and_what_cannot_be(tmp_path: Path, disk: str, command) -> None:  # type: ignore[no-untyped-def]
    refused = {
        ("serve", disk, "--tcp", "10809", "--unix", "x.sock"): "a socket, or a port?",
        ("serve", disk, "--listen", "0.0.0.0"): "--listen is for TCP",
        ("serve", disk, "--unix", "small.toml"): "exists and is no socket",
        ("serve", disk, "--unix", "nowhere/x.sock"): "No such file or directory",
        ("serve", disk, "--unix", "a" * 120): "is too long for a socket",
        ("serve", "sim:pm871b-128gb", "--data", "keep"): "is gone afterwards",
        ("serve", "other.pslc"): "there is no such drive",
        ("serve", disk, "--", "--no-such-option"): "nbdkit does not start",
    }
    for arguments, said in refused.items():
        done = command(*arguments)
        assert done.returncode == 2, arguments
        assert said in done.stderr
        assert "hint:" in done.stderr
    missing = command("serve", disk, PATH=str(Path(sys.executable).parent))
    assert "nbdkit is not installed" in missing.stderr
    assert "apt install nbdkit" in missing.stderr
    assert PATH
    SimDrive.open(str(tmp_path / disk)).close()
