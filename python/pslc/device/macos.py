"""Facts of macOS about the drive below a file (`diskutil info -plist`), under the names of `pslc.schema.facts`. Nothing
is written. A fact that diskutil does not give is None: serial number, firmware and link always are."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from pslc.base import children
from pslc.schema.facts import UNKNOWN_DEVICE, Device, Facts, FileSystem, HealthJson, Moment
from pslc.schema.health import KELVIN, SMARTCTL

Properties = dict[str, Any]
"""A property list, as `diskutil` prints it."""

HEALTH: Final = "SMARTDeviceSpecificKeysMayVaryNotGuaranteed"
"""The NVMe health log: its names in capitals, numbers of 128 bits in two halves of 64, `_0` and `_1`."""

DEVICES: Final = Path("/dev")

TIMEOUT_S: Final = 10
"""Seconds after which a program of the system that does not answer is left alone."""


def volume_of(path: Path) -> str | None:
    """The device of the volume on which a file or folder lies, such as `/dev/disk3s5`; None where it has none."""
    number = path.stat().st_dev
    return next((str(node) for node in DEVICES.glob("disk*") if node.stat().st_rdev == number), None)


def storage(volume_name: str | None, ask: Callable[[str], Properties] | None = None) -> Facts:
    """`file_system`, `stack`, `partition_start_bytes` and `device` below a volume.

    Args:
        ask: what `diskutil` says of a device or a disk, such as `disk0`; empty where it says nothing.
    """
    ask = ask or properties
    volume = ask(volume_name) if volume_name else {}
    names, stores = [_word(volume, "DeviceIdentifier")], volume.get("APFSPhysicalStores")
    partition = volume
    if isinstance(stores, list) and len(stores) == 1 and isinstance(stores[0], dict):
        # A volume of APFS is in a container, which is in a partition.
        names.append(_word(stores[0], "APFSPhysicalStore"))
        partition = ask(names[-1]) if names[-1] else {}
    elif stores:
        partition = {}
    names.append(_word(partition, "ParentWholeDisk"))
    disk = ask(names[-1]) if names[-1] else {}
    return {
        "file_system": _file_system(volume),
        "stack": list(dict.fromkeys(name for name in names if name)),
        "partition_start_bytes": _size(partition, "PartitionMapPartitionOffset"),
        "device": _device(disk) if _word(disk, "DeviceIdentifier") else None,
    }


def moment(name: str, ask: Callable[[str], Properties] | None = None) -> Moment:
    """Temperature and health log of the drive `name`, such as disk0."""
    log = health((ask or properties)(name))
    degrees = log.get("temperature")
    return {"temperature_c": degrees, "smart": {SMARTCTL: log} if log else None}


def properties(subject: str) -> Properties:
    """Property list of `diskutil` for a device or a disk; empty where it gives none."""
    try:
        asked = ["diskutil", "info", "-plist", subject]
        return parsed(children.run(asked, TIMEOUT_S).out)
    except OSError:
        return {}


def parsed(text: bytes) -> Properties:
    """A property list of `diskutil`; empty where it is none."""
    # Of no use elsewhere, and slow to import.
    import plistlib
    from xml.parsers.expat import ExpatError

    try:
        document = plistlib.loads(text)
    except (ExpatError, plistlib.InvalidFileException, ValueError, TypeError, AttributeError, RecursionError):
        return {}
    return document if isinstance(document, dict) and "Error" not in document else {}


def processor() -> str | None:
    """Name of the machine's processor."""
    try:
        asked = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return children.run(asked, TIMEOUT_S).text.strip() or None
    except OSError:
        return None


def health(disk: Properties) -> HealthJson:
    """The NVMe health log of a disk, in smartctl's names and in degrees Celsius; empty where there is none."""
    log = disk.get(HEALTH)
    numbers = {name: value for name, value in log.items() if _is_number(value)} if isinstance(log, dict) else {}
    values = {name.lower(): value for name, value in numbers.items() if not name.endswith(("_0", "_1"))}
    for name, low in numbers.items():
        high = numbers.get(f"{name[:-2]}_1")
        if name.endswith("_0") and high is not None:
            values[name[:-2].lower()] = low + (high << 64)
    kelvin = values.pop("temperature", 0)
    return values | ({"temperature": kelvin - KELVIN} if kelvin else {})


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _word(properties_of: Properties, name: str) -> str:
    word = properties_of.get(name)
    return word.strip() if isinstance(word, str) else ""


def _size(properties_of: Properties, *names: str) -> int | None:
    """The first of these numbers that is there."""
    return next((properties_of[name] for name in names if _is_number(properties_of.get(name))), None)


def _file_system(volume: Properties) -> FileSystem | None:
    kind, size = _word(volume, "FilesystemType"), _size(volume, "TotalSize", "Size")
    free = _size(volume, "APFSContainerFree", "FreeSpace")
    if not kind or size is None or free is None:
        return None
    writable = volume.get("WritableVolume")
    return {
        "type": kind,
        "mount": _word(volume, "MountPoint"),
        "source": _word(volume, "DeviceNode"),
        "options": "read-only" if writable is False else "",
        "bytes": size,
        "free_bytes": free,
    }


def _device(disk: Properties) -> Device:
    solid = disk.get("SolidState")
    return {
        "name": _word(disk, "DeviceIdentifier"),
        **UNKNOWN_DEVICE,
        "model": _word(disk, "MediaName") or None,
        "bus": _word(disk, "BusProtocol") or None,
        "bytes": _size(disk, "TotalSize", "Size"),
        "logical_block_bytes": _size(disk, "DeviceBlockSize"),
        "rotational": int(not solid) if isinstance(solid, bool) else None,
    }
