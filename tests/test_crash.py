"""Served drives that fail: what a power cut leaves, held against the writes that were made, and `pslc crash`."""

import errno
import json
import os
import random
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from benches.small import PROFILE

from pslc.base.errors import PslcError
from pslc.device import drive_files
from pslc.serving import faults
from tests.conftest import ROOT
from tests.served import PATH, Served, has, served
from tests.test_documents import blocks
from tests.test_rude_clients import FLUSH, READ, WRITE, agree, receive, request

PSLC = Path(sys.executable).parent / "pslc"
PAGE, REGION = 4096, 1 << 20
DRIVE = "disk.pslc"


SLOW = PROFILE.replace('program = "100us"', 'program = "20ms"').replace('program = "900us"', 'program = "60ms"')
"""A drive whose write buffer of 4 MiB is full while somebody writes."""


def new_drive(folder: Path, profile: str = SLOW) -> None:
    (folder / "small.toml").write_text(profile)
    drive_files.create(folder / DRIVE, str(folder / "small.toml")).close()


def ask(client: socket.socket, kind: int, offset: int = 0, length: int = 0, data: bytes = b"") -> bytes:
    """What a read returns, once the drive has answered.

    Raises:
        OSError: it answered with an error.
        EOFError: nobody answers any more.
    """
    client.sendall(request(kind, offset, length or len(data), data))
    error = struct.unpack(">II", receive(client, 16)[:8])[1]
    if error:
        raise OSError(error, os.strerror(error))
    return receive(client, length) if kind == READ else b""


class Writer:
    """Draws writes and flushes until nobody answers.

    Attributes:
        writes: offset and data of each, in order; the last may not have been answered.
        flushed: number of writes before the last flush that was answered.
    """

    def __init__(self, on: Served, rng: random.Random, flushes: float = 0.02) -> None:
        self.writes: list[tuple[int, bytes]] = []
        self.flushed = 0
        client = agree(on)
        try:
            for number in range(100_000):
                pages = rng.choice([1, 1, 2, 16])
                offset = rng.randrange(REGION // PAGE - pages) * PAGE
                self.writes.append((offset, number.to_bytes(4) * (pages * PAGE // 4)))
                ask(client, WRITE, offset, data=self.writes[-1][1])
                if rng.random() < flushes:
                    ask(client, FLUSH)
                    self.flushed = len(self.writes)
        except (EOFError, ConnectionError):
            client.close()

    def state(self, count: int, pages_of_next: int = 0) -> bytes:
        """The region after so many writes, and the first pages of the next one."""
        region = bytearray(REGION)
        for offset, data in self.writes[:count]:
            region[offset : offset + len(data)] = data
        if pages_of_next:
            offset, data = self.writes[count]
            region[offset : offset + pages_of_next * PAGE] = data[: pages_of_next * PAGE]
        return bytes(region)

    def newest(self, region: bytes) -> int | None:
        """The number of writes that made this region, the last perhaps in part; None if no number did."""
        for count in range(len(self.writes), -1, -1):
            pages = len(self.writes[count][1]) // PAGE if count < len(self.writes) else 1
            if any(self.state(count, done) == region for done in range(pages)):
                return count
        return None


def after_cut(folder: Path, *options: str, seed: int = 0, flushes: float = 0.02) -> tuple[Writer, bytes]:
    """The writes before a power cut, and what the drive holds when it is on again."""
    with served(folder, DRIVE, *options) as on:
        writer = Writer(on, random.Random(seed), flushes)
        assert on.process.wait(30) == 0
    with served(folder, DRIVE) as on:
        client = agree(on)
        region = ask(client, READ, 0, REGION)
        client.close()
    return writer, region


@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_is_what_the_drive_had_after_some_write_and_at_least_what_was_flushed(
    seed: int, tmp_path: Path
) -> None:
    new_drive(tmp_path)
    cut = random.Random(seed).randrange(100, 500)
    writer, region = after_cut(tmp_path, "--power-cut", str(cut), seed=seed)
    assert len(writer.writes) == cut
    newest = writer.newest(region)
    assert newest is not None
    assert writer.flushed <= newest < cut - 1


def test_a_drive_that_lies_loses_what_it_said_was_flushed(tmp_path: Path) -> None:
    new_drive(tmp_path)
    writer, region = after_cut(tmp_path, "--power-cut", "300", "--faults", "lie-flush", flushes=0.2)
    newest = writer.newest(region)
    assert newest is not None
    assert newest < writer.flushed


def test_with_capacitors_nothing_is_lost_that_was_answered(tmp_path: Path) -> None:
    new_drive(tmp_path, SLOW.replace("cores = 4", 'cores = 4\nplp = "on"'))
    writer, region = after_cut(tmp_path, "--power-cut", "300", "--faults", "lie-flush")
    assert region == writer.state(299)


def test_a_torn_write_stays_in_part_and_reordered_ones_without_those_before(tmp_path: Path) -> None:
    new_drive(tmp_path)
    in_order = parts = 0
    for seed in range(4):
        cut, wrong = str(20 + 5 * seed), f"seed={seed},torn,reorder,lie-flush"
        writer, region = after_cut(tmp_path, "--power-cut", cut, "--faults", wrong, seed=seed)
        in_order += writer.newest(region) is not None
        pages = [region[at : at + PAGE] for at in range(0, REGION, PAGE)]
        parts += sum(page != page[:4] * (PAGE // 4) for page in pages)
        (tmp_path / DRIVE).unlink()
        (tmp_path / f"{DRIVE}.data").unlink()
        new_drive(tmp_path)
    assert in_order == 0
    assert parts >= 1


def test_a_cut_at_a_time_comes_while_nobody_asks(tmp_path: Path) -> None:
    new_drive(tmp_path)
    with served(tmp_path, DRIVE, "--power-cut", "500ms") as on:
        assert on.process.wait(20) == 0
        assert "the power was cut at write 0: 0 B are lost" in on.process.communicate()[1]


def test_requests_fail_and_hang_as_drawn(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(PROFILE)
    with served(tmp_path, "sim:./small.toml", "--faults", "seed=3,eio=0.2,hang=1500ms") as on:
        client, failed, slow = agree(on), 0, 0
        for _ in range(1000):
            began = time.monotonic()
            try:
                ask(client, READ, 0, PAGE)
            except OSError as error:
                failed += error.errno == errno.EIO
            slow += time.monotonic() - began > 1.4
        client.close()
    assert 140 < failed < 260
    assert slow == 1


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("tron", 'does not take "tron"'),
        ("eio=2", 'does not take "eio=2"'),
        ("hang=5", '"5" is not a time'),
        ("seed=x", 'does not take "seed=x"'),
    ],
)
def test_faults_that_are_none_are_refused(text: str, what: str) -> None:
    with pytest.raises(PslcError, match=what):
        faults.parse(text)


def test_a_power_cut_needs_a_drive_that_stays(tmp_path: Path, command) -> None:
    refused = command("serve", "sim:sn850-1tb", "--power-cut", "12")
    assert refused.returncode == 2
    assert "only a drive in a file keeps that" in refused.stderr
    assert "neither a number of a write nor a time" in command("serve", "sim:sn850-1tb", "--power-cut", "x").stderr


APPEND = """
import sys
done = open("{folder}/done", "w")
for n in range(1, 200):
    h.pwrite(n.to_bytes(4, "big") * 1024, n * 4096)
    h.flush()
    h.pwrite(n.to_bytes(4, "big") * 1024, 0)
    done.seek(0); done.write(str(n)); done.flush()
"""
"""Writes a page and then, behind a flush, a page that says that it is there."""
CHECK = """
n = int.from_bytes(h.pread(4096, 0)[:4], "big")
assert all(h.pread(4096, k * 4096)[:4] == k.to_bytes(4, "big") for k in range(1, n + 1)), f"a page of {{n}} is missing"
"""


def crash(folder: Path, *options: str, profile: str = SLOW) -> subprocess.CompletedProcess[str]:
    """`pslc crash` on a small drive."""
    (folder / "small.toml").write_text(profile)
    return subprocess.run([PSLC, "crash", "--on", "sim:./small.toml", *options], cwd=folder, capture_output=True,
                          text=True, timeout=800, check=False, env=os.environ | {"PATH": PATH})  # fmt: skip


def crash_log(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """`pslc crash` with a log of pages that a page counts."""
    (folder / "append.py").write_text(APPEND.format(folder=folder))
    (folder / "check.py").write_text(CHECK.format())
    run = "nbdsh -u '{uri}' -c 'exec(open(\"%s.py\").read())'"
    return crash(folder, "--check", run % "check", *options, "--", "sh", "-c", run % "append")


@pytest.mark.skipif(not has("nbdsh"), reason="libnbd is not installed")
def test_a_log_behind_flushes_survives_an_honest_drive_and_not_one_that_lies(tmp_path: Path) -> None:
    honest = crash_log(tmp_path, "--cuts", "3", "--json")
    assert honest.returncode == 0, honest.stderr
    outcomes = json.loads(honest.stdout)
    assert [outcome["code"] for outcome in outcomes] == [0, 0, 0]
    assert "makes 398 writes, and the check passes" in honest.stderr
    lying = crash_log(tmp_path, "--cuts", "5", "--faults", "lie-flush,reorder,seed=2")
    assert lying.returncode == 1, lying.stderr
    assert "is missing" in lying.stdout
    write = lying.stderr.rsplit("--power-cut ", 1)[1].split()[0]
    again = crash_log(tmp_path, "--power-cut", write, "--faults", "lie-flush,reorder,seed=2", "--json")
    assert json.loads(again.stdout)[0]["write"] == int(write)


@pytest.mark.skipif(not has("nbdsh"), reason="libnbd is not installed")
def test_a_command_that_fails_by_itself_is_no_find(tmp_path: Path, command) -> None:
    (tmp_path / "small.toml").write_text(PROFILE)
    words = ["crash", "--on", f"sim:{tmp_path / 'small.toml'}", "--check", "true"]
    assert "without a power cut" in command(*words, "--", "false").stderr
    assert "writes nothing to the drive" in command(*words, "--", "true").stderr


def can_mount() -> bool:
    """Whether a file system on the drive can be mounted here."""
    return os.geteuid() == 0 and Path("/dev/fuse").exists() and Path("/dev/loop0").exists() and (
        has("nbdfuse", "mkfs.ext4", "sqlite3", "mount", "e2fsck"))  # fmt: skip


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.skipif(not can_mount(), reason="no file system can be mounted here")
@pytest.mark.parametrize(
    ("level", "wrong", "code"),
    [("EXTRA", "seed=1", 0), ("EXTRA", "seed=1,lie-flush,reorder", 1), ("OFF", "seed=1", 1), ("FULL", "seed=1", 1)],
)
def test_sqlite_keeps_what_it_promises_on_an_honest_drive(
    level: str, wrong: str, code: int, tmp_path: Path, monkeypatch
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shown = next(text for document, text in blocks("shell") if document == "how-to.md" and "pslc crash" in text)
    words = shlex.split(shown.replace("\\\n", "").replace("sim:sn850-1tb", "sim:./small.toml"))[2:]
    monkeypatch.setenv("SYNCHRONOUS", level)
    ended = crash(tmp_path, "--cuts", "8", "--faults", wrong, *words[2:], profile=PROFILE)
    assert ended.returncode == code, ended.stdout + ended.stderr


OWN = (ROOT / "tests/fixtures/texts/own_files.sh").read_text()
"""A recording, a drive file and a study on a file system that is on the drive; what is done stands in done.txt."""
CHECK_OWN = (ROOT / "tests/fixtures/texts/check_own_files.sh").read_text()


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.skipif(not can_mount(), reason="no file system can be mounted here")
def test_what_pslc_keeps_itself_opens_after_a_power_cut(tmp_path: Path) -> None:
    pslc = shlex.quote(str(PSLC))
    study = (f"{pslc} study --vary cache.dynamic=100MB,200MB --run fill --on sim:./small.toml --save at/study "
             "--workers 1")  # fmt: skip
    (tmp_path / "write.sh").write_text(OWN.format(pslc=pslc, study=study))
    (tmp_path / "check.sh").write_text(CHECK_OWN.format(pslc=pslc, study=study))
    ended = crash(tmp_path, "--cuts", "6", "--faults", "seed=5,torn,reorder", "--prepare", "mkfs.ext4 -q {disk}",
                  "--check", "sh check.sh {disk}", "--", "sh", "write.sh", "{disk}", profile=PROFILE)  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
