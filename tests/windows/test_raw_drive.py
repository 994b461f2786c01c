r"""Whole drives on Windows: refused in words, and one that is named and empty is erased.

What is refused shows anywhere, by Wine too. The rest needs a drive that may be lost, by its name PSLC_RAW_DRIVE
(`\\.\PhysicalDrive3`) and its serial number PSLC_RAW_SERIAL, and another one without a serial number, PSLC_PLAIN_DRIVE,
which must stay as it is. `.ci/windows-disks.ps1` makes both on a Windows Server.
"""

import hashlib
import json
import os
import random
import subprocess
import sys
import time

import pytest

import pslc
from pslc.device.target import RealOptions

pytestmark = pytest.mark.skipif(sys.platform != "win32", reason="on Windows alone: make windows")

DRIVE, SERIAL = os.environ.get("PSLC_RAW_DRIVE", ""), os.environ.get("PSLC_RAW_SERIAL", "")
PLAIN = os.environ.get("PSLC_PLAIN_DRIVE", "")
on_a_drive = pytest.mark.skipif(not (DRIVE and SERIAL), reason="not run here: PSLC_RAW_DRIVE names no drive to erase")

MIB = 1 << 20
ANOTHER_SERIAL = "pslc has no such serial number"
JOB = "[a]\nrw=write\nbs=64k\nsize=32m\ndirect=1\nioengine=windowsaio\niodepth=8\n"


def refusal(target, **options):
    """The code of the error with which a run is refused, and its whole text."""
    with pytest.raises(pslc.PslcError) as caught:
        pslc.run("fill", on=target, real=RealOptions(**options))
    assert caught.value.hint
    return caught.value.code, f"{caught.value}\n{caught.value.hint}"


@pytest.mark.parametrize("options", [{}, {"destroy_data": ANOTHER_SERIAL, "wipe_signatures": True}])
@pytest.mark.parametrize(
    "target", [r"\\.\C:", "//./D:", r"\\.\PhysicalDrive0\Partition1", r"\\?\GLOBALROOT\Device\Null"]
)
def test_what_is_no_whole_drive_is_refused_with_words_on_what_to_give(target, options):
    code, text = refusal(target, **options)
    assert code == "device-not-whole"
    assert r"\\.\PhysicalDrive1 is number 1" in text


def test_a_drive_that_is_not_there_is_refused():
    code, text = refusal(r"\\.\PhysicalDrive4000000", destroy_data=ANOTHER_SERIAL)
    assert code == "device-not-found"
    assert "No such file or directory" in text
    assert "Get-Disk" in text


def drives():
    """Names of the drives that there are."""
    from pslc._native import windows_drive

    return [rf"\\.\PhysicalDrive{number}" for number in range(16) if windows_drive(number) is not None]


def test_no_drive_is_erased_without_its_serial_number():
    for target in drives():
        code, text = refusal(target)
        assert code == "device-not-confirmed"
        assert f"--destroy-data SERIAL; pslc probe {target} shows the serial number" in text
        code, _ = refusal(target, destroy_data=ANOTHER_SERIAL, wipe_signatures=True)
        assert code in ("device-no-serial", "device-wrong-serial", "device-no-medium", "device-unknown")


def test_a_drive_is_shown_and_nothing_of_it_is_read():
    for target in drives():
        asked = [sys.executable, "-m", "pslc", "probe", "--json", target]
        done = subprocess.run(asked, capture_output=True, stdin=subprocess.DEVNULL, check=False)
        assert done.returncode == 0, done.stderr.decode()
        shown = json.loads(done.stdout)
        assert shown["path"] == target
        assert shown["device"]["name"] == shown["guard"]["name"] == target[4:]
        assert shown["device"]["bytes"] == shown["guard"]["bytes"]
        assert shown["guard"]["signatures"] is None


def powershell(command):
    """What a command of PowerShell prints; one that fails fails the test."""
    command = f"$ErrorActionPreference = 'Stop'; $number = {DRIVE.rpartition('PhysicalDrive')[2]}; {command}"
    done = subprocess.run(
        ["powershell", "-NoProfile", "-Command", command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write(offset, data):
    """Past pslc, as any program can."""
    with open(DRIVE, "r+b", buffering=0) as file:
        file.seek(offset)
        assert file.write(data) == len(data)


def size(target=DRIVE):
    from pslc._native import inspect_device

    return inspect_device(target)["bytes"]


@pytest.fixture
def empty():
    """The drive that may be lost, without anything on it."""
    from pslc._native import inspect_device, windows_drive

    number = int(DRIVE.rpartition("PhysicalDrive")[2])
    told = windows_drive(number)
    assert told is not None
    assert told["serial"] == SERIAL, "the drive to erase is another one"
    powershell("Set-Disk -Number $number -IsOffline $false; Set-Disk -Number $number -IsReadOnly $false")
    clear = "Clear-Disk -RemoveData -RemoveOEM -Confirm:$false"
    powershell(f"Get-Disk -Number $number | Where-Object PartitionStyle -ne RAW | {clear}")
    for offset in (0, 63 * MIB, size() - 2 * MIB):
        write(offset, bytes(2 * MIB))
    powershell("Update-Disk -Number $number")
    # Volumes go a moment later.
    began = time.monotonic()
    while inspect_device(DRIVE)["users"] and time.monotonic() < began + 10:
        time.sleep(0.2)


def fingerprint(target):
    """Of both ends of a drive."""
    with open(target, "rb", buffering=0) as file:
        digest = hashlib.sha256(file.read(8 * MIB))
        file.seek(size(target) - 8 * MIB)
        digest.update(file.read(8 * MIB))
    return digest.hexdigest()


@on_a_drive
@pytest.mark.usefixtures("empty")
class TestADriveThatMayBeLost:
    def test_a_volume_on_it_is_refused_and_stays(self):
        powershell(
            "Initialize-Disk -Number $number -PartitionStyle GPT; "
            "New-Partition -DiskNumber $number -UseMaximumSize | Format-Volume -FileSystem NTFS -Confirm:$false"
        )
        with_volume = fingerprint(DRIVE)
        code, text = refusal(DRIVE, destroy_data=SERIAL, wipe_signatures=True)
        assert code == "device-has-volumes", text
        assert fingerprint(DRIVE) == with_volume

    def test_an_empty_table_is_refused_unless_it_may_be_lost(self):
        powershell("Initialize-Disk -Number $number -PartitionStyle GPT")
        code, text = refusal(DRIVE, destroy_data=SERIAL)
        assert (code, "an empty partition table (GPT)" in text) == ("device-has-signatures", True)

    def test_another_serial_number_is_refused(self):
        before = fingerprint(DRIVE)
        assert refusal(DRIVE, destroy_data=ANOTHER_SERIAL, wipe_signatures=True)[0] == "device-wrong-serial"
        assert fingerprint(DRIVE) == before

    @pytest.mark.parametrize("place", ["first MiB", "64 MiB", "last MiB"])
    def test_data_on_it_are_refused_unless_they_may_be_lost(self, place):
        write(
            {"first MiB": 4096, "64 MiB": 64 * MIB + 65536, "last MiB": size() - MIB}[place], b"LUKS\xba\xbe" * 128 * 4
        )
        before = fingerprint(DRIVE)
        code, text = refusal(DRIVE, destroy_data=SERIAL)
        assert code == "device-has-signatures"
        assert place in text
        assert fingerprint(DRIVE) == before

    def test_one_that_is_offline_or_read_only_is_refused(self):
        for state in ("Offline", "ReadOnly"):
            powershell(f"Set-Disk -Number $number -Is{state} $true")
            code, text = refusal(DRIVE, destroy_data=SERIAL, wipe_signatures=True)
            powershell(f"Set-Disk -Number $number -Is{state} $false")
            assert code == {"Offline": "device-offline", "ReadOnly": "device-read-only"}[state]
            assert f"-Is{state} $false" in text

    def test_one_that_another_program_has_open_is_refused(self):
        with open(DRIVE, "rb", buffering=0):
            assert refusal(DRIVE, destroy_data=SERIAL)[0] == "device-held"

    def test_an_empty_one_that_is_named_is_erased_and_no_other(self, tmp_path):
        job = tmp_path / "job.fio"
        other = fingerprint(PLAIN) if PLAIN else None
        job.write_text(JOB + "verify=crc32c\n")
        recording = pslc.run(job, on=DRIVE, real=RealOptions(destroy_data=SERIAL))
        assert recording.error is None
        assert recording.jobs[0]["write"]["io_bytes"] == 32 * MIB
        assert recording.facts["device"]["serial"] == SERIAL
        assert (fingerprint(PLAIN) if PLAIN else None) == other
        # What is there now is pslc's own, and Windows cannot tell.
        assert refusal(DRIVE, destroy_data=SERIAL)[0] == "device-has-signatures"

    def test_what_may_be_lost_is_wiped_at_both_ends(self, tmp_path):
        powershell("Initialize-Disk -Number $number -PartitionStyle GPT")
        write(size() - MIB, random.Random(26).randbytes(4096))
        job = tmp_path / "job.fio"
        job.write_text("[a]\nrw=randread\nbs=4k\nsize=4m\noffset=16m\ndirect=1\n")
        recording = pslc.run(job, on=DRIVE, real=RealOptions(destroy_data=SERIAL, wipe_signatures=True))
        assert recording.error is None
        assert powershell("(Get-Disk -Number $number).PartitionStyle").strip() == "RAW"
        with open(DRIVE, "rb", buffering=0) as file:
            assert file.read(MIB) == bytes(MIB)

    @pytest.mark.parametrize("engine", ["windowsaio", "psync"])
    def test_flushes_trims_and_writes_through_are_made_or_refused_in_words(self, tmp_path, engine):
        job = tmp_path / "job.fio"
        job.write_text(
            f"[global]\nbs=64k\nsize=4m\ndirect=1\nioengine={engine}\n"
            "[w]\nrw=write\nfsync=4\n[s]\nstonewall\nrw=randwrite\nsync=1\n[t]\nstonewall\nrw=trim\n"
        )
        recording = pslc.run(job, on=DRIVE, real=RealOptions(destroy_data=SERIAL))
        if recording.error is not None:
            assert "the drive takes no trims" in str(recording.error)


@pytest.mark.skipif(not PLAIN, reason="not run here: PSLC_PLAIN_DRIVE names no drive without a serial number")
def test_a_drive_without_a_serial_number_is_refused_and_stays():
    before = fingerprint(PLAIN)
    code, text = refusal(PLAIN, destroy_data="", wipe_signatures=True)
    assert code == "device-no-serial", text
    assert fingerprint(PLAIN) == before
