"""The facts of a target have the names and kinds that `pslc.schema.facts` promises."""

import plistlib
from pathlib import Path, PureWindowsPath

import pytest

from pslc.device import macos, names, probe, windows
from pslc.device.target import find_target, is_drive
from pslc.recording import warnings as checks
from pslc.schema.facts import Facts, WindowsDrive, WindowsVolume
from pslc.schema.health import health
from pslc.schema.job_options import Traits
from tests.typed import unlike


def test_a_check_that_sees_what_is_wrong():
    assert unlike({"dies": "64"}, Facts) == [".dies is '64', not <class 'int'>"]
    assert unlike({"deis": 64}, Facts) == [" has deis, which Facts has not"]
    assert unlike({"device": {"name": None}}, Facts)
    assert len(unlike({}, Traits)) == len(Traits.__annotations__)


@pytest.mark.parametrize("spec", ["sim:sn850-1tb,scale=1/16", "sim:660p-1tb", "sim:pm871b-128gb"])
def test_of_a_simulated_drive(spec):
    facts = find_target(spec).facts
    assert facts["dies"] > 0
    assert unlike(facts, Facts) == []


def test_of_a_file_on_this_machine(tmp_path):
    facts = probe.facts(tmp_path)
    facts["now"] = probe.moment(facts)
    assert unlike(facts, Facts) == []


VOLUME: WindowsVolume = {
    "file_system": "NTFS", "mount": "D:\\", "source": "\\\\?\\Volume{6f0f}", "options": ["compressed"],
    "bytes": 10**12, "free_bytes": 9 * 10**11, "extents": [(1, 1 << 20, 10**12)],
}  # fmt: skip
DRIVE: WindowsDrive = {
    "model": "Samsung SSD 970 EVO Plus 1TB", "serial": "S4EWNX0N123456", "firmware": "2B2QEXM7", "bus": "NVMe",
    "bytes": 1_000_204_886_016, "logical_block_bytes": 512, "physical_block_bytes": 4096,
    "largest_request_bytes": 2 << 20, "rotational": False, "trims": True, "write_cache": "write back",
    "keeps_flushes": True,
}  # fmt: skip


@pytest.fixture
def on_windows(monkeypatch):
    """A machine whose drive 1 holds the volume D:."""
    monkeypatch.setattr(windows, "windows_volume", lambda _: VOLUME)
    monkeypatch.setattr(windows, "windows_drive", lambda number: DRIVE if number == 1 else None)
    monkeypatch.setattr(windows, "windows_health", lambda _: (38, [("percentage_used", 3), ("data_units_written", 5)]))
    monkeypatch.setattr(probe.sys, "platform", "win32")


def test_of_a_folder_on_windows(tmp_path, on_windows):
    facts = probe.facts(tmp_path)
    facts["now"] = probe.moment(facts)
    assert unlike(facts, Facts) == []
    assert facts["stack"] == ["PhysicalDrive1"]
    assert facts["partition_start_bytes"] == 1 << 20
    assert facts["device"] is not None
    assert (facts["device"]["model"], facts["device"]["rotational"]) == (DRIVE["model"], 0)
    assert facts["now"]["temperature_c"] == 38
    assert probe.endurance_bytes(health(facts["now"]["smart"])) == 5 * probe.NVME_DATA_UNIT / 0.03
    warnings = list(checks.of_the_machine(facts))
    assert any("NTFS with compression" in warning for warning in warnings)
    assert any("the system keeps flushes from the drive" in warning for warning in warnings)
    assert not any("unknown" in warning for warning in warnings)


@pytest.mark.parametrize(
    "extents", [[], [(0, 0, 1), (1, 0, 1)], [(7, 0, 1)]], ids=["on none", "on two", "on one that tells nothing"]
)
def test_a_volume_of_windows_that_is_on_no_single_drive_has_none(tmp_path, on_windows, monkeypatch, extents):
    monkeypatch.setattr(windows, "windows_volume", lambda _: VOLUME | {"extents": extents})
    facts = probe.facts(tmp_path)
    assert facts["device"] is None
    assert unlike(facts, Facts) == []
    assert any("the drive behind" in text for text in checks.of_the_machine(facts))


def test_of_a_whole_drive_on_windows(on_windows):
    path = Path(r"\\.\PhysicalDrive1")
    facts = probe.facts(path)
    assert unlike(facts, Facts) == []
    assert (facts["path"], facts["stack"], facts["file_system"]) == (str(path), ["PhysicalDrive1"], None)
    assert facts["device"] is not None
    assert facts["device"]["serial"] == DRIVE["serial"]
    assert probe.facts(Path(r"\\.\PhysicalDrive7"))["device"] is None
    assert not is_drive(path)


@pytest.mark.parametrize(("name", "is_windows_device"), [
    (r"\\.\PhysicalDrive1", True), ("//./PhysicalDrive1", True), (r"\\?\PhysicalDrive1", True), (r"\\.\D:", True),
    (r"\\?\Volume{6f0f}", True), (r"\\?\D:\scratch.bin", False), (r"\\?\UNC\server\share\scratch.bin", False),
    (r"D:\scratch.bin", False), (r"\\server\share\scratch.bin", False), ("PhysicalDrive1", False),
])  # fmt: skip
def test_a_name_of_windows_is_of_a_device_or_of_a_file(monkeypatch, name, is_windows_device):
    path = PureWindowsPath(name)
    assert names.windows_device(path) is None, "this is Linux"
    monkeypatch.setattr(probe.sys, "platform", "win32")
    device = name.replace("/", "\\") if is_windows_device else None
    assert names.windows_device(path) == device


def test_what_windows_does_not_tell_is_unknown(tmp_path, on_windows, monkeypatch):
    monkeypatch.setattr(windows, "windows_volume", lambda _: None)
    facts = probe.facts(tmp_path)
    assert (facts["file_system"], facts["device"], facts["stack"]) == (None, None, [])
    monkeypatch.setattr(windows, "windows_health", lambda _: (None, []))
    assert windows.moment("PhysicalDrive1") == {"temperature_c": None, "smart": None}
    remote = VOLUME | {"source": None, "options": ["remote"], "extents": []}
    monkeypatch.setattr(windows, "windows_volume", lambda _: remote)
    assert any("another machine serves" in warning for warning in checks.of_the_machine(probe.facts(tmp_path)))


def plist(**values) -> bytes:
    return plistlib.dumps(values)


LOG = {
    "TEMPERATURE": 311, "PERCENTAGE_USED": 3, "AVAILABLE_SPARE": 100, "AVAILABLE_SPARE_THRESHOLD": 99,
    "DATA_UNITS_WRITTEN_0": 62_786_553, "DATA_UNITS_WRITTEN_1": 0, "MEDIA_ERRORS_0": 1, "MEDIA_ERRORS_1": 2,
    "POWER_CYCLES_0": 7,
}  # fmt: skip
OF_A_MAC = {
    "/dev/disk3s5": plist(
        DeviceIdentifier="disk3s5", DeviceNode="/dev/disk3s5", ParentWholeDisk="disk3", FilesystemType="apfs",
        MountPoint="/System/Volumes/Data", TotalSize=494_384_795_648, APFSContainerFree=100_000_000_000, FreeSpace=0,
        WritableVolume=True, APFSPhysicalStores=[{"APFSPhysicalStore": "disk0s2"}],
    ),
    "disk0s2": plist(DeviceIdentifier="disk0s2", ParentWholeDisk="disk0", PartitionMapPartitionOffset=524_312_576),
    "disk0": plist(
        DeviceIdentifier="disk0", ParentWholeDisk="disk0", WholeDisk=True, MediaName="APPLE SSD AP0512Q",
        BusProtocol="Apple Fabric", SolidState=True, TotalSize=500_277_792_768, DeviceBlockSize=4096,
        SMARTDeviceSpecificKeysMayVaryNotGuaranteed=LOG,
    ),
}  # fmt: skip
"""What diskutil prints of a volume, its container's partition and the drive, with the keys that are read."""


def asked(name: str) -> macos.Properties:
    return macos.parsed(OF_A_MAC.get(name, b""))


def test_of_a_volume_on_macos():
    facts = macos.storage("/dev/disk3s5", asked)
    assert unlike(facts, Facts) == []
    assert facts["stack"] == ["disk3s5", "disk0s2", "disk0"]
    assert facts["partition_start_bytes"] == 524_312_576
    device, system = facts["device"], facts["file_system"]
    assert device is not None
    assert system is not None
    assert (device["model"], device["bus"], device["rotational"]) == ("APPLE SSD AP0512Q", "Apple Fabric", 0)
    assert (device["serial"], device["firmware"], device["write_cache"]) == (None, None, None)
    assert (system["type"], system["free_bytes"], system["options"]) == ("apfs", 100_000_000_000, "")
    moment = macos.moment("disk0", asked)
    assert moment["temperature_c"] == 38
    values = health(moment["smart"])
    assert values["data_units_written"] == 62_786_553
    assert values["media_errors"] == 1 + (2 << 64)
    assert "power_cycles" not in values, "half of a number"


def test_a_volume_on_macos_that_tells_little_or_lies_on_two_drives():
    stores = [{"APFSPhysicalStore": "disk0s2"}, {"APFSPhysicalStore": "disk4s2"}]
    fusion = {"DeviceIdentifier": "disk3s5", "APFSPhysicalStores": stores}
    assert macos.storage("disk3s5", {"disk3s5": fusion}.get)["device"] is None
    for nothing in (macos.storage(None, asked), macos.storage("disk9", asked)):
        assert nothing == {"file_system": None, "stack": [], "partition_start_bytes": None, "device": None}
    odd = {"DeviceIdentifier": 5, "TotalSize": True, "SolidState": "yes", "APFSPhysicalStores": ["disk0s2", 1]}
    assert macos.storage("odd", lambda _: odd)["device"] is None
    assert macos.health({macos.HEALTH: {"TEMPERATURE": 0, "PERCENTAGE_USED": -1, "MEDIA_ERRORS_0": "1"}}) == {}
    assert macos.health({macos.HEALTH: [1]}) == {}


@pytest.mark.parametrize(
    "text",
    [
        b"", b"Could not find disk: disk9", b"<plist", b"<plist version='1.0'><array/></plist>", b"bplist00",
        b"<plist version='1.0'><dict><key>Size</key><integer>x</integer></dict></plist>",
        plist(Error=True, ErrorMessage="Could not find disk: disk9"), b"\xff\xfe\x00", b"<plist><dict><key>a</key>",
    ],
)  # fmt: skip
def test_what_diskutil_prints_that_is_no_answer_is_none(text):
    assert macos.parsed(text) == {}


def test_how_a_drive_is_connected_is_seen_in_its_folder(tmp_path):
    for folder, bus in [
        ("pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1", "NVMe"),
        ("virtual/nvme-subsystem/nvme-subsys0/nvme0n1", "NVMe"),
        ("pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda", "SATA"),
        ("pci0000:00/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdb", "USB"),
        ("pci0000:00/0000:00:05.0/virtio2/block/vda", "virtio"),
        ("virtual/block/loop0", None),
    ]:
        assert probe._bus(tmp_path / folder) == bus
