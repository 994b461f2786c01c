"""Ends of a served drive with clients connected and requests under way: what was flushed is there, nothing hangs, and
it ends in order where it was asked to."""

import json
import os
import random
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from benches.small import PROFILE

from pslc._native import SimDrive
from tests import forked
from tests.forked import eventually
from tests.served import PATH, Served, has, served

pytestmark = pytest.mark.skipif(not has("nbdsh"), reason="libnbd is not installed")

MAX_END_S = 10.0
MAX_LOST_BYTES = 4 << 20
"""What the write buffer holds."""
PAGE = 4096
PAGES = 20_000
"""Of each client."""
CLIENT = f"""
import os, random, signal, sys, time
client, seed, vanishes_after, idles_after = map(int, sys.argv[1:])
rng = random.Random(seed * 10 + client)
for step in range(1, 10**6):
    # Twelve that are new, whose place only the journal has, and some of those before.
    new = [page % {PAGES} for page in range((step - 1) * 12, step * 12)]
    pages = sorted(dict.fromkeys([*new, *rng.sample(range(min(step * 12, {PAGES})), 12)]))
    print("write", step, *pages, flush=True)
    data = (client * 2**32 + step).to_bytes(8, "little") * 512
    buffer = nbd.Buffer.from_bytearray(bytearray(data))
    asked = [h.aio_pwrite(buffer, (client * {PAGES} + page) * {PAGE}) for page in pages]
    if step == vanishes_after:
        h.poll(0)
        os.kill(os.getpid(), signal.SIGKILL)
    while h.aio_in_flight():
        h.poll(-1)
    if any(h.aio_command_completed(number) is not True for number in asked):
        raise SystemExit
    if rng.random() < 0.5:
        h.flush()
        print("flushed", step, flush=True)
    if step == idles_after:
        time.sleep(60)
"""
READ = """
import sys
for client in range(int(sys.argv[1])):
    for first in range(0, PAGES, 4000):
        data = h.pread(4000 * 4096, (client * PAGES + first) * 4096)
        for page in range(4000):
            print(client, first + page, int.from_bytes(data[page * 4096:page * 4096 + 8], "little"))
""".replace("PAGES", str(PAGES))

WAYS = ("SIGINT", "SIGTERM", "SIGHUP", "twice", "thrice", "idle", "killed", "vanish")


@dataclass
class Client:
    """A client that writes, and says into a file what it has written and flushed."""

    process: "subprocess.Popen[str]"
    log: Path

    @property
    def said(self) -> str:
        return self.log.read_text().rpartition("\n")[0]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def begin(on: Served, number: int, seed: int, vanishes_after: int, idles_after: int) -> Client:
    """Start a client, and wait until it is at work."""
    arguments = f"import sys; sys.argv = ['x', '{number}', '{seed}', '{vanishes_after}', '{idles_after}']"
    log = on.folder / f"client-{number}.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            ["nbdsh", "-u", on.uri, "-c", arguments, "-c", "exec(open('client.py').read(), {'h': h, 'nbd': nbd})"],
            stdout=out, stderr=subprocess.DEVNULL, text=True, env={"PATH": PATH}, cwd=on.folder,
        )  # fmt: skip
    client = Client(process, log)
    eventually(lambda: "flushed" in client.said or process.poll() is not None, 30)
    return client


def allowed(said: str) -> dict[int, set[int]]:
    """What each page of a client may hold by what the client said: the last that was flushed, or anything newer."""
    pages: dict[int, set[int]] = {}
    newer: dict[int, set[int]] = {}
    for line in said.splitlines():
        kind, *numbers = line.split()
        if kind == "write":
            step, *written = map(int, numbers)
            for page in written:
                newer.setdefault(page, set()).add(step)
        else:
            pages |= {page: {max(steps)} for page, steps in newer.items()}
            newer = {}
    for page, steps in newer.items():
        pages[page] = pages.get(page, {0}) | steps
    return pages


def check(on: Served, said: list[str]) -> None:
    """Every flushed byte is there."""
    held: dict[int, dict[int, int]] = {client: {} for client in range(len(said))}
    words = [f"import sys; sys.argv = ['x', '{len(said)}']", f"exec({READ!r}, {{'h': h}})", "print('end')"]
    read = ["nbdsh", "-u", on.uri, *(word for line in words for word in ("-c", line))]
    lines = on.tool(*read).splitlines()
    for line in lines[:-1]:
        client, page, number = map(int, line.split())
        assert number in (0, client * 2**32 + number % 2**32), "a page of another client"
        held[client][page] = number % 2**32
    for client, text in enumerate(said):
        for page, steps in allowed(text).items():
            assert held[client][page] in steps, (client, page)


def end(folder: Path, seed: int) -> None:
    """One end of a served drive, drawn from a seed."""
    rng = random.Random(seed)
    way = WAYS[seed % len(WAYS)]
    plp = rng.choice(("on", "off"))
    text = PROFILE.replace('write_buffer = "4MiB"', f'write_buffer = "4MiB"\nplp = "{plp}"')
    (folder / "small.toml").write_text(text)
    (folder / "client.py").write_text(CLIENT)
    kept = rng.random() < 0.75
    if kept:
        drive = SimDrive("small.toml", text, {}, [])
        drive.save(str(folder / "disk.pslc"))
        drive.close()
    spec = "disk.pslc" if kept else "sim:./small.toml"
    with served(folder, spec, "--unix", "disk.sock") as on:
        count = rng.randrange(1, 4)
        # One that vanishes leaves requests under way where the drive is slow.
        vanishes = rng.randrange(5, 40) if way == "vanish" else 0
        clients = [
            begin(on, client, seed, vanishes if client == 0 else 0, rng.randrange(5, 20) if way == "idle" else 0)
            for client in range(count)
        ]
        try:
            time.sleep(rng.uniform(0.4, 1.5))
            said = conclude(on, way, clients)
        finally:
            for client in clients:
                client.kill()
    if way not in ("thrice", "killed"):
        assert on.process.returncode == 0
    if kept:
        probe = json.loads(forked.run(["probe", spec, "--json"], folder).stdout)
        losses = probe["nvme_smart_health_information_log"]["unsafe_shutdowns"]
        assert losses in {"killed": (1,), "thrice": (0, 1)}.get(way, (0,))
        assert probe["inside"]["lost_bytes"] <= (MAX_LOST_BYTES if losses and plp == "off" else 0)
        with served(folder, spec) as on:
            check(on, said)


def conclude(on: Served, way: str, clients: list[Client]) -> list[str]:
    """End it that way, within the time that is allowed; what the clients said until then."""
    said = []
    if way == "vanish":
        clients[0].process.wait(timeout=30)
        time.sleep(0.3)
        for client in clients:
            client.kill()
        said, clients = [client.said for client in clients], []
        check(on, said)
    began = time.monotonic()
    sent = [signal.SIGKILL] if way == "killed" else [getattr(signal, way if way.startswith("SIG") else "SIGINT")]
    for number in sent * {"twice": 2, "thrice": 3}.get(way, 1):
        on.process.send_signal(number)
        time.sleep(0.3)
    on.process.communicate(timeout=MAX_END_S)
    assert time.monotonic() - began < MAX_END_S
    for client in clients:
        client.kill()
    return said or [client.said for client in clients]


@pytest.mark.parametrize("seed", range(len(WAYS)), ids=WAYS)
def test_however_it_ends_with_clients_connected_what_was_flushed_is_there(tmp_path: Path, seed: int) -> None:
    end(tmp_path, seed)


@pytest.mark.skipif(not (has("nbdfuse", "mkfs.ext4", "e2fsck", "losetup", "mount") and os.geteuid() == 0
                         and Path("/dev/fuse").exists()), reason="needs root and FUSE")  # fmt: skip
def test_it_ends_while_a_file_system_is_mounted_on_it_and_keeps_what_was_synced(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(PROFILE)
    drive = SimDrive("small.toml", PROFILE, {}, [])
    drive.save(str(tmp_path / "disk.pslc"))
    drive.close()
    content = random.Random(1).randbytes(4 << 20)
    with served(tmp_path, "disk.pslc", "--speed", "10") as on, on.file_system() as fuse:
        (tmp_path / "at" / "synced").write_bytes(content)
        on.tool("sync", "-f", "at")
        began = time.monotonic()
        _, talk = on.end()
        assert time.monotonic() - began < MAX_END_S
        assert on.process.returncode == 0
        # nbdfuse sometimes fails an assertion of its own when requests are refused, and is gone by then.
        assert "nbdfuse, process" in talk or fuse.poll() not in (None, 0)
    # As after a loss of power its journal is replayed, and then it is whole.
    data = tmp_path / "disk.pslc.data"
    assert subprocess.run(["e2fsck", "-fy", data], env={"PATH": PATH}, capture_output=True, check=False).returncode < 4
    subprocess.run(["debugfs", "-R", f"dump synced {tmp_path / 'back'}", data], env={"PATH": PATH}, check=True,
                   capture_output=True)  # fmt: skip
    assert (tmp_path / "back").read_bytes() == content


@pytest.mark.long
@pytest.mark.parametrize("seed", range(len(WAYS), len(WAYS) + 60))
def test_sixty_ends_with_clients_connected_lose_nothing_that_was_flushed(tmp_path: Path, seed: int) -> None:
    end(tmp_path, seed)
