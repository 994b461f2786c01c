"""Data that libblkid does not know are somebody's, too: of no kind is a byte overwritten without the word.
What lay at both ends of a device that was erased comes back."""

import gzip
import io
import json
import os
import random
import shutil
import sqlite3
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.loops import MB, Loop, ext4, loop_over, mounted, reason, sh

pytestmark = pytest.mark.skipif(reason() is not None, reason=str(reason()))

SIZE = 96 * MB
Write = Callable[[Path], None]


def at(*places: int, data: bytes) -> Write:
    """Write these bytes at these places."""

    def write(image: Path) -> None:
        with image.open("r+b") as file:
            for place in places:
                file.seek(place, os.SEEK_SET if place >= 0 else os.SEEK_END)
                file.write(data)

    return write


def noise(count: int) -> bytes:
    return random.Random(count).randbytes(count)


def _sqlite() -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.execute("create table runs (name text)")
    return connection.serialize()


def _tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        tar.add(__file__)
    return file.getvalue()


def _zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("a", "b" * 1000)
    return file.getvalue()


def copy_of(size: int, *tool: str) -> Write:
    """A file system of which only what lies in the middle is left: copies of its superblock."""

    def write(image: Path) -> None:
        if shutil.which(tool[0]) is None:
            pytest.skip(f"{tool[0]} is not installed")
        os.truncate(image, size)
        sh(*tool, image)
        for place in (0, 63 * MB + MB // 2, size - MB):
            at(place, data=b"\0" * MB)(image)

    return write


BCACHEFS = struct.pack("<16sHH4x", b"\1" * 16, 1, 1) + bytes.fromhex("c68573f666ce90a9d96a60cf803df7ef")
POSTGRES = struct.pack("<IIHHHHHHI", 0, 0x1656A00, 0, 0, 28, 8192, 8192, 0x2004, 0) + noise(100)
KINDS: dict[str, tuple[Write, str]] = {
    "random bytes": (at(0, data=noise(SIZE)), "bytes that look random"),
    "random bytes in the first MiB": (at(4096, data=noise(4096)), "data in its first MiB: bytes that look random"),
    "random bytes in the last MiB": (at(-8192, data=noise(4096)), "data in its last MiB: bytes that look random"),
    "random bytes around 64 MiB": (at(64 * MB, data=noise(8192)), "data around 64 MiB: bytes that look random"),
    "one byte": (at(777, data=b"\1"), "binary data, in 1 of its 256 pages"),
    "bcachefs": (at(4096, data=BCACHEFS), "a bcachefs file system"),
    "bcachefs, its last superblock": (at(-MB // 2, data=BCACHEFS), "data in its last MiB: binary data"),
    "qcow2": (at(0, data=b"QFI\xfb" + struct.pack(">I", 3) + b"\0" * 64), "a qcow2 image"),
    "VMDK": (at(0, data=b"KDMV\1\0\0\0" + b"\3" * 60), "a VMDK image"),
    "VDI": (at(0, data=b"<<< Disk Image >>>\n".ljust(64, b"\0") + b"\x7f\x10\xda\xbe"), "a VDI image"),
    "VHDX": (at(0, data=b"vhdxfile" + b"M\0i\0c\0"), "a VHDX image"),
    "tar": (at(0, data=_tar()), "a tar archive"),
    "gzip": (at(0, data=gzip.compress(noise(9000))), "data packed by gzip"),
    "zstd": (at(0, data=b"\x28\xb5\x2f\xfd" + noise(9000)), "data packed by zstd"),
    "zip": (at(0, data=_zip()), "a zip archive"),
    "SQLite": (at(0, data=_sqlite()), "an SQLite database"),
    "PostgreSQL pages": (at(0, 8192, 16384, data=POSTGRES), "binary data, in 3 of its 256 pages"),
    "zlib stream": (at(0, data=zlib.compress(noise(40960))), "data in its first MiB"),
    "a log": (at(0, data=b"2026-05-04 10:15:00 kernel: nothing\n" * 2000), "data in its first MiB: text, in "),
    "numbers": (at(0, data=struct.pack("<4096d", *range(4096))), "binary data, in 8 of its 256 pages"),
    "LVM's text without its label": (at(4608, data=b'vg0 {\nid = "x"\nseqno = 4\n}\n'), "text, in 1 of its 256 pages"),
    "uberblocks of ZFS": (at(-MB // 4, data=struct.pack("<5Q", 0xBAB10C, 5000, 9, 1, 2)), "data in its last MiB"),
    "copy of ext4, blocks of 1 KiB": (copy_of(SIZE, "mkfs.ext4", "-q", "-b", "1024"), "copy of the superblock of ext"),
    "copy of ext4, blocks of 2 KiB": (copy_of(SIZE, "mkfs.ext4", "-q", "-b", "2048"), "copy of the superblock of ext"),
    "copy of ext4, blocks of 4 KiB": (copy_of(192 * MB, "mkfs.ext4", "-q", "-b", "4096"), "superblock of ext"),
    "copy of XFS": (copy_of(320 * MB, "mkfs.xfs", "-q"), "a copy of the superblock of XFS"),
    "copy of btrfs": (at(64 * MB + 64, data=b"_BHRfS_M"), "data around 64 MiB: text"),
}  # fmt: skip
"""27 kinds of content, and what is said of each."""


@pytest.fixture
def image(tmp_path) -> Path:
    file = tmp_path / "drive.img"
    file.touch()
    os.truncate(file, SIZE)
    return file


def fill(loop: Loop, *words: str) -> list[str]:
    return ["run", "fill", "--io_size=4m", "--on", loop.path, "--destroy-data", str(loop.image), "--yes", *words]


@pytest.mark.parametrize("kind", KINDS)
def test_data_of_any_kind_are_overwritten_only_with_the_word(kind, image, command):
    write, said = KINDS[kind]
    write(image)
    with loop_over(image) as loop:
        before = loop.hash()
        for words in ([], ["--dry-run"]):
            done = command.refused(*fill(loop, *words))
            assert said in done.stderr
            assert "give --wipe-signatures as well; nothing was written" in done.stderr
            assert loop.hash() == before
        command.fine(*fill(loop, "--wipe-signatures", "--dry-run"))
        assert loop.hash() == before


def test_a_dry_run_judges_as_the_run_would(image, command, tmp_path):
    with loop_over(image) as loop:
        plan = command.fine(*fill(loop, "--dry-run"))
        assert "keeps its first and last 16 MiB with the recording: pslc undo RUN puts them back" in plan.stdout
        wrong = command.refused("run", "fill", "--on", loop.path, "--destroy-data", "S4EVNX0M123456", "--dry-run")
        assert "is not that of this drive" in wrong.stderr
        assert "ERASES" not in wrong.stdout + wrong.stderr
        ext4(loop.path)
        with mounted(loop.path, tmp_path / "mounted") as point:
            used = command.refused(*fill(loop, "--wipe-signatures", "--dry-run"))
            assert f"is mounted at {point}" in used.stderr


def hashes(loop: Loop) -> tuple[int, int]:
    sh("blockdev", "--flushbufs", loop.path)
    with open(loop.path, "rb") as device:
        head = device.read(16 * MB)
        device.seek(-16 * MB, os.SEEK_END)
        return hash(head), hash(device.read())


def test_both_ends_come_back_and_not_where_others_wrote_since(image, command, tmp_path):
    at(0, 16 * MB - 5, -5, -16 * MB, data=b"ours!")(image)
    with loop_over(image) as loop:
        before = hashes(loop)
        command.fine(*fill(loop, "--wipe-signatures", "--save", "r"))
        assert hashes(loop) != before
        assert (tmp_path / "r" / "ends-before.gz").stat().st_size < MB, "they are packed"
        undone = command.fine("undo", "r")
        assert "the first 16 MiB and the last 16 MiB are as before the run" in undone.stderr
        assert hashes(loop) == before
        # They are not as the run left them any more, and that is said.
        again = command.refused("undo", "r")
        assert "its ends are not as the run left them" in again.stderr
        command.fine("undo", "r", "--destroy-data", str(loop.image))


def test_ends_go_back_to_no_other_drive_and_damaged_ones_to_none(image, command, tmp_path):
    with loop_over(image) as loop:
        command.fine(*fill(loop, "--save", "r"))
        left = loop.hash()
        kept = tmp_path / "r" / "ends-before.gz"
        packed = kept.read_bytes()
        for damaged in (packed[:-9], packed[:-4000] + noise(4000), b"", gzip.compress(b"{}\n")):
            kept.write_bytes(damaged)
            done = command.refused("undo", "r", "--destroy-data", str(loop.image))
            assert "a bug in pslc" not in done.stderr
            assert loop.hash() == left
        line, _, data = gzip.decompress(packed).partition(b"\n")
        kept.write_bytes(
            gzip.compress(json.dumps(json.loads(line) | {"serial": "S4EVNX0M123456"}).encode() + b"\n" + data)
        )
        done = command("undo", "r")
        assert "no drive has the serial number S4EVNX0M123456" in done.stderr
        assert loop.hash() == left


def test_a_run_is_resumed_on_what_it_left_and_on_nothing_else(image, command, tmp_path):
    with loop_over(image) as loop:
        words = [*fill(loop, "--save", "r"), "--repeat", "2"]
        assert command(*words).returncode == 0, "the second run finds what the first has left"
        # A run that ended early is resumed where nobody wrote since.
        document = json.loads((tmp_path / "r" / "run.json").read_text())
        (tmp_path / "r" / "run.json").write_text(json.dumps(document | {"interrupted": True}))
        at(0, data=b"theirs")(Path(loop.path))
        done = command.refused("run", "--resume", "r", "--destroy-data", str(loop.image), "--yes")
        assert "did not leave there" in done.stderr
