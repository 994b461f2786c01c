"""Clients of a served drive that do what no client does. None of them ends the server, keeps others from their drive,
or takes from it what was written."""

import os
import random
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from benches.small import PROFILE

from tests.forked import eventually
from tests.served import PATH, Served, has, served

pytestmark = pytest.mark.skipif(not has("nbdsh"), reason="libnbd is not installed")

READ, WRITE, DISCONNECT, FLUSH, TRIM = range(5)
MAX_CLIENTS = 128
"""Connections at once (`MAX_CLIENTS` in crates/nbd/src/server.rs)."""
MANY_FILES = 4096
HELLO = b"\0\0\0\3" + b"IHAVEOPT" + b"\0\0\0\1" + b"\0\0\0\0"
"""Flags, and an export without a name: requests may follow."""


def request(kind: int, offset: int, length: int, data: bytes = b"") -> bytes:
    return struct.pack(">IHHQQI", 0x25609513, 0, kind, 7, offset, length) + data


def receive(client: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count:
        part = client.recv(count - len(got))
        if not part:
            raise EOFError
        got += part
    return got


def agree(on: Served) -> socket.socket:
    """A connection that requests may follow on."""
    client = on.connect()
    receive(client, 18)
    client.sendall(HELLO)
    receive(client, 10)
    return client


def reset(client: socket.socket) -> None:
    """Close a connection so that what is under way in both directions is lost."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def vanish(on: Served, _: random.Random) -> socket.socket | None:
    """Fifty flushes and as many writes, and nobody there for the replies."""
    client = agree(on)
    client.sendall((request(FLUSH, 0, 0) + request(WRITE, 1 << 20, 4096, bytes(4096))) * 50)
    reset(client)
    return None


def silence(on: Served, _: random.Random) -> socket.socket:
    """Nothing said at all."""
    return on.connect()


def halves(on: Served, rng: random.Random) -> socket.socket:
    """A request that stops in its header or in its data."""
    client = agree(on)
    whole = request(WRITE, 1 << 20, 65536, rng.randbytes(65536))
    client.sendall(whole[: rng.choice([rng.randrange(1, 28), rng.randrange(28, len(whole))])])
    return client


def garbage(on: Served, rng: random.Random) -> None:
    """Anything, in place of the handshake, of an option, or of a request."""
    client = on.connect()
    kind = rng.randrange(4)
    if kind:
        receive(client, 18)
    if kind == 1:
        client.sendall(b"\0\0\0\3" + b"IHAVEOPT" + bytes([0, 0, 0, rng.randrange(12)])
                       + rng.choice([b"\xff\xff\xff\xff", b"\0\0\0\4\0", rng.randbytes(40)]))  # fmt: skip
    elif kind == 2:
        client.sendall(HELLO)
        receive(client, 10)
        client.sendall(b"\x25\x60\x95\x13" + rng.randbytes(2) + bytes([0, rng.choice([0, 3, 4, 6, 7, 8, 9])])
                       + rng.randbytes(20))  # fmt: skip
    else:
        client.sendall(rng.randbytes(rng.randrange(1, 4000)))
    client.close()


def flood(on: Served, _: random.Random) -> socket.socket:
    """Flushes and long reads without an end, of which no reply is read."""
    client = agree(on)
    client.settimeout(0.3)
    try:
        for _ in range(100_000):
            client.sendall((request(FLUSH, 0, 0) + request(READ, 0, 1 << 20)) * 100)
    except TimeoutError:
        return client
    raise AssertionError("it took all of them")


def kill(on: Served, rng: random.Random) -> None:
    """A client of libnbd's that is killed with requests under way."""
    script = f"""
import os
buffers = [nbd.Buffer.from_bytearray(bytearray(65536)) for _ in range({rng.randrange(2, 60)})]
for at, buffer in enumerate(buffers):
    h.aio_pwrite(buffer, 65536 * (at + 16), flags=nbd.CMD_FLAG_FUA)
for _ in range({rng.randrange(30)}):
    h.poll(1)
os.kill(os.getpid(), 9)
"""
    on.tool("nbdsh", "-u", on.uri, "-c", f"exec({script!r}, {{'h': h, 'nbd': nbd}})", ok=False)


KINDS: tuple[Callable[[Served, random.Random], socket.socket | None], ...] = (
    vanish, silence, halves, garbage, flood, kill,
)  # fmt: skip


def be_rude(folder: Path, count: int, kinds: tuple[Callable[..., socket.socket | None], ...]) -> None:
    """So many clients of each kind, while one that is polite goes on with its work."""
    (folder / "small.toml").write_text(PROFILE)
    rng = random.Random(count)
    with served(folder, "sim:./small.toml") as on:
        polite = subprocess.Popen(
            ["nbdsh", "-u", on.uri, "-c", "h.pwrite(b'x' * 4096, 0); h.flush(); print('ready', flush=True)",
             "-c", "exec('while not input(): assert h.pread(4096, 0) == b\"x\" * 4096; print(\"there\", flush=True)')"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PATH": PATH},
        )  # fmt: skip
        assert polite.stdin is not None
        assert polite.stdout is not None
        assert polite.stdout.readline() == "ready\n"
        for kind in kinds:
            held = [client for _ in range(count) if (client := kind(on, rng)) is not None]
            polite.stdin.write("\n")
            polite.stdin.flush()
            assert polite.stdout.readline() == "there\n", kind.__doc__
            assert on.nbdsh("print(h.pread(4096, 0) == b'x' * 4096)").strip() == "True", kind.__doc__
            for client in held:
                reset(client)
        polite.kill()
        polite.wait()
        _, talk = on.end()
        assert on.process.returncode == 0
    assert "Traceback" not in talk
    assert "panicked" not in talk
    document = on.recording()
    assert document["written_bytes"] >= 4096
    assert not document.get("error")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_client_ends_the_server_or_keeps_others_from_their_drive(
    tmp_path: Path, kind: Callable[..., socket.socket | None]
) -> None:
    be_rude(tmp_path, 6, (kind,))


@pytest.mark.long
@pytest.mark.timeout(600)
def test_sixty_rude_clients_of_each_kind_end_nothing(tmp_path: Path) -> None:
    be_rude(tmp_path, 60, KINDS)


@pytest.fixture
def many_files() -> Iterator[None]:
    """Descriptors for a thousand clients and more, of which an ordinary user begins with 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < MANY_FILES:
        pytest.skip(f"this user may open {hard} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, MANY_FILES), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
def test_whoever_is_silent_makes_room_and_a_client_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(PROFILE)
    with served(tmp_path, "sim:./small.toml") as on:
        silent = [on.connect() for _ in range(1000)]
        assert on.nbdsh("h.pwrite(b'x' * 4096, 0)", "print(h.pread(4096, 0) == b'x' * 4096)").strip() == "True"
        clients, refused = [], 0
        for _ in range(MAX_CLIENTS + 40):
            try:
                clients.append(agree(on))
            except (EOFError, BrokenPipeError, ConnectionResetError):
                refused += 1
        assert (len(clients), refused) == (MAX_CLIENTS, 40)
        threads = len(os.listdir(f"/proc/{on.process.pid}/task"))
        assert threads < 2 * MAX_CLIENTS + 30
        # Who is there is served on, and so is who comes once one of them has gone.
        clients[0].sendall(request(READ, 0, 4096))
        assert receive(clients[0], 16 + 4096)[16:] == b"x" * 4096
        for client in [*silent, *clients]:
            client.close()
        eventually(lambda: len(os.listdir(f"/proc/{on.process.pid}/task")) < 20)
        assert on.nbdsh("print(h.pread(4096, 0) == b'x' * 4096)").strip() == "True"
        on.end()
    assert on.process.returncode == 0


def test_clients_leave_the_descriptors_that_the_recording_needs(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(PROFILE)
    command = [str(Path(sys.executable).parent / "pslc"), "serve", "sim:./small.toml", "--save", "run", "--no-report"]
    process = subprocess.Popen(["prlimit", "--nofile=64", *command], cwd=tmp_path, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    assert process.stdout is not None
    on = Served(process, process.stdout.readline().strip(), tmp_path)
    clients = [on.connect() for _ in range(100)]
    assert on.nbdsh("h.pwrite(b'x' * (1 << 20), 0)", "print('written')").strip() == "written"
    eventually(lambda: (tmp_path / "run" / "run.json").exists())
    _, talk = on.end()
    assert process.returncode == 0, talk
    assert "warning" not in talk
    for client in clients:
        client.close()
    assert on.recording()["written_bytes"] == 1 << 20


def test_a_client_that_takes_too_long_is_disconnected_and_one_that_only_waits_is_not(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(PROFILE)
    with served(tmp_path, "sim:./small.toml") as on:
        patient, silent, slow = agree(on), on.connect(), on.connect()
        began = time.monotonic()
        stopped = threading.Event()

        def drip() -> None:
            """A byte now and then, which is no progress."""
            while not stopped.wait(0.5):
                try:
                    slow.sendall(b"\0")
                except OSError:
                    return

        threading.Thread(target=drip).start()
        receive(silent, 18)
        assert silent.recv(1) == b""
        receive(slow, 18)
        with pytest.raises((EOFError, ConnectionResetError)):
            receive(slow, 1)
        stopped.set()
        assert 5 < time.monotonic() - began < 20
        patient.sendall(request(READ, 0, 4096))
        assert len(receive(patient, 16 + 4096)) == 16 + 4096


def switches(pid: int) -> int:
    """How often the threads of a process went to sleep."""
    texts = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/status")]
    return sum(int(re.findall(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M)[0]) for text in texts)


def test_while_nobody_asks_it_sleeps_and_the_drive_works_in_the_background(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(PROFILE)
    with served(tmp_path, "sim:./small.toml", "--data", "none", "--speed", "10") as on:
        client = agree(on)
        for at in range(20):
            client.sendall(request(WRITE, at << 24, 16 << 20, bytes(16 << 20)))
        receive(client, 16 * 20)
        # The recording is kept once more, and then there is nothing to do.
        eventually(lambda: (tmp_path / "run" / "run.json").exists(), 20)
        time.sleep(2)
        before = switches(on.process.pid)
        time.sleep(4)
        assert switches(on.process.pid) - before <= 8
        on.end(signal.SIGTERM)
    document = on.recording()
    assert document["totals"]["idle_folded_bytes_total"] > 200_000_000
