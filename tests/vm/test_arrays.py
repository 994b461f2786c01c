"""Arrays: what Linux md asks of its members, recorded anew, beside the record that the simulated arrays are held to."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.vm.guest import drive, image, needs_guest, run

pytestmark = [pytest.mark.vm, needs_guest]

SEED = 7
SIZE = 24 << 20
LOAD = "load virtio_blk md_mod raid0 raid1 raid10 raid456; mount -t tracefs none /sys/kernel/tracing; sleep 1\n"
RECORDED = ROOT / "crates" / "load" / "tests" / "data" / "md.txt"


def comparable(record: Path) -> Iterator[str]:
    """Lines of a record, without the mirrors that md read: it chooses them by what it did before, and when."""
    of_mirrors = False
    for line in record.read_text().splitlines():
        if line.startswith("array"):
            of_mirrors = line.split()[1] in ("raid1", "raid10")
        yield line.partition(":")[0] if of_mirrors and line.startswith("R") else line


@pytest.mark.skipif(shutil.which("mdadm") is None, reason="mdadm is not installed")
def test_md_asks_its_members_for_what_the_record_says(tmp_path: Path) -> None:
    words: list[str] = []
    for letter in "abcdef":
        words += drive(image(tmp_path / f"disk-{letter}.img", SIZE), f"virtio-blk-pci,serial={letter}")
    share = tmp_path / "share"
    share.mkdir()
    shutil.copy(Path(__file__).parent / "md.py", share)
    printed = run(f"{LOAD}python3 /run/share/md.py /run/share/md.txt {SEED}\n", share, words)
    assert (share / "md.txt").exists(), printed
    assert list(comparable(share / "md.txt")) == list(comparable(RECORDED)), printed
