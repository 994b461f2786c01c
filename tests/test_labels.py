"""Every device that libblkid knows something about is refused, and no byte of it is changed."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pslc
from pslc._native import inspect_device
from pslc.device.target import RealOptions, find_target
from tests.labels import BY_HAND, BY_TOOLS, make_by_tool
from tests.loops import MB, Loop, loop_over, reason, sh

pytestmark = pytest.mark.skipif(reason() is not None, reason=str(reason()))

IMAGES = Path(os.environ.get("PSLC_BLKID_IMAGES", "/none"))
"""libblkid's own test images (`make blkid-images`), where they were fetched."""


def blank(folder: Path, size_mb: int = 64) -> Path:
    image = folder / "drive.img"
    with image.open("wb") as file:
        file.truncate(size_mb * MB)
    return image


def known(device: str) -> bool:
    """Whether libblkid's own programs know what is on it."""
    sh("blockdev", "--flushbufs", device)
    if sh("wipefs", "--noheadings", device):
        return True
    return subprocess.run(["blkid", "-p", device], check=False, capture_output=True).returncode != 2


def refused(loop: Loop, what: str = "holds something") -> None:
    """With the right serial number, and no byte is another."""
    before = loop.hash()
    with pytest.raises(pslc.PslcError, match=what) as caught:
        find_target(loop.path, RealOptions(destroy_data=str(loop.image))).open()
    assert "nothing was written" in str(caught.value)
    assert loop.hash() == before


@pytest.mark.parametrize("name", BY_TOOLS)
def test_a_label_made_by_its_own_tool_is_refused(name, tmp_path):
    programs = {words[0] for words in BY_TOOLS[name][1]}
    missing = sorted(program for program in programs if shutil.which(program) is None)
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed")
    folder = tmp_path / "folder"
    folder.mkdir()
    with loop_over(blank(tmp_path, BY_TOOLS[name][0])) as loop:
        try:
            make_by_tool(name, loop.path, folder)
        except subprocess.CalledProcessError as error:
            if name.startswith(("mdadm", "dm-integrity")):
                pytest.skip(f"the kernel here cannot: {error.stderr.strip()[:100]}")
            raise
        assert known(loop.path)
        refused(loop)


@pytest.mark.parametrize("name", BY_HAND)
def test_a_label_by_its_definition_is_refused(name, tmp_path):
    with loop_over(blank(tmp_path)) as loop:
        with open(loop.path, "r+b") as device:
            for offset, data in BY_HAND[name]().items():
                device.seek(offset)
                device.write(data)
        if not known(loop.path):
            pytest.skip(f"the libblkid here does not know {name}")
        refused(loop)


@pytest.mark.skipif(not IMAGES.is_dir(), reason="PSLC_BLKID_IMAGES names no folder: make blkid-images fetches them")
def test_every_one_of_libblkid_s_own_images_is_refused(tmp_path):
    seen = 0
    for packed in sorted(IMAGES.rglob("*.img.*")):
        unpack = {".xz": "xz", ".bz2": "bzip2"}[packed.suffix]
        image = tmp_path / "drive.img"
        with image.open("wb") as file:
            # What a floppy disk has room for is refused for that alone: a label at its end is one on a larger one, too.
            if packed.stem.startswith("drbd-"):
                file.truncate(4 * MB + 511)  # and ends with a whole sector
                file.seek(0, os.SEEK_END)
            file.flush()
            subprocess.run([unpack, "-dc", packed], stdout=file, check=True)
        with loop_over(image) as loop:
            assert inspect_device(loop.path)["signatures"], packed.name
            small = image.stat().st_size < 4 * MB
            refused(loop, "no drive has so few" if small else "holds something")
            seen += 1
    print(f"{seen} images, each refused")
    assert seen >= 100


def test_a_label_is_seen_wherever_random_data_lie_around_it(tmp_path):
    choice = random.Random(11)
    with loop_over(blank(tmp_path)) as loop:
        for name in [name for name in BY_HAND if name not in ("UBI", "HFS")] * 2:
            label = BY_HAND[name]()
            with open(loop.path, "r+b") as device:
                device.write(b"\0" * 2 * MB)
                device.seek(-MB, os.SEEK_END)
                device.write(b"\0" * MB)
                for _ in range(20):
                    device.seek(choice.randrange(2 * MB, 63 * MB))
                    device.write(choice.randbytes(choice.randrange(1, 9000)))
                for offset, data in label.items():
                    device.seek(offset)
                    device.write(data)
            if known(loop.path):
                assert inspect_device(loop.path)["signatures"], name


def test_what_is_wiped_is_known_to_libblkid_no_more(tmp_path):
    for name in ("LUKS2", "btrfs", "udf", "LVM2 label in sector 2"):
        folder = tmp_path / name
        folder.mkdir()
        if shutil.which(BY_TOOLS[name][1][0][0]) is None:
            continue
        with loop_over(blank(tmp_path, BY_TOOLS[name][0])) as loop:
            make_by_tool(name, loop.path, folder)
            assert known(loop.path)
            job = tmp_path / "job.fio"
            job.write_text("[write]\nrw=write\nbs=1m\noffset=16m\nsize=8m\n")
            pslc.run(job, on=loop.path,
                     real=RealOptions(destroy_data=str(loop.image), wipe_signatures=True))  # fmt: skip
            assert not known(loop.path), name


def test_without_libblkid_a_device_is_refused_and_it_is_said_what_to_install(tmp_path):
    where = sh("sh", "-c", "ldconfig -p | sed -n 's/.*libblkid.so.1 .*=> //p' | head -n 1")
    if not where or subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("the library cannot be hidden here")
    with loop_over(blank(tmp_path)) as loop:
        before = loop.hash()
        executable = Path(sys.executable).parent / "pslc"
        script = (f"mount --bind /dev/null {where}; exec '{executable}' run fill --on {loop.path} "
                  f"--destroy-data {loop.image} --yes --no-report")  # fmt: skip
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False,
                              cwd=tmp_path)  # fmt: skip
        assert done.returncode == 2, done.stdout + done.stderr
        assert "libblkid.so.1 is not installed" in done.stderr
        assert "apt install libblkid1" in done.stderr
        assert loop.hash() == before
