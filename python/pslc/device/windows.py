"""Facts of Windows about the drive below a file, under the names of `pslc.schema.facts`. Nothing is written, no
elevated console is needed, and a fact that Windows does not give is None."""

from pathlib import Path
from typing import Final

from pslc._native import windows_drive, windows_drive_number, windows_health, windows_volume
from pslc.schema.facts import UNKNOWN_DEVICE, Device, Facts, FileSystem, Moment, WindowsVolume
from pslc.schema.health import SMARTCTL

DRIVE: Final = "PhysicalDrive"
"""Prefix of a drive's name, before its number."""


def storage(path: Path) -> Facts:
    """`file_system`, `stack`, `partition_start_bytes` and `device` below a file or folder. `device` is None where the
    volume is on several drives, or on none of this machine."""
    volume = windows_volume(str(path))
    if volume is None:
        return {"file_system": None, "stack": [], "partition_start_bytes": None, "device": None}
    numbers = list(dict.fromkeys(number for number, _, _ in volume["extents"]))
    single = numbers[0] if len(numbers) == 1 else None
    return {
        "file_system": _file_system(volume),
        "stack": [f"{DRIVE}{number}" for number in numbers],
        "partition_start_bytes": volume["extents"][0][1] if single is not None else None,
        "device": _device(single),
    }


def whole_drive(name: str) -> Facts:
    """Facts of a whole drive as of the one below a file, by a name such as `\\\\.\\PhysicalDrive1`."""
    number = windows_drive_number(name)
    return {
        "file_system": None,
        "stack": [] if number is None else [f"{DRIVE}{number}"],
        "partition_start_bytes": None,
        "device": _device(number),
    }


def moment(name: str) -> Moment:
    """Temperature and health log of the drive `name`, such as PhysicalDrive1."""
    celsius, log = windows_health(int(name.removeprefix(DRIVE)))
    return {"temperature_c": celsius, "smart": {SMARTCTL: dict(log)} if log else None}


def processor() -> str | None:
    """Name of the machine's processor, as the registry has it."""
    try:
        import winreg

        place = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:  # type: ignore[attr-defined, unused-ignore]
            return str(winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip() or None  # type: ignore[attr-defined, unused-ignore]
    except (ImportError, OSError):
        return None


def _file_system(volume: WindowsVolume) -> FileSystem | None:
    size, free = volume["bytes"], volume["free_bytes"]
    if volume["file_system"] is None or size is None or free is None:
        return None
    return {
        "type": volume["file_system"],
        "mount": volume["mount"],
        "source": volume["source"] or volume["mount"],
        "options": ",".join(volume["options"]),
        "bytes": size,
        "free_bytes": free,
    }


def _device(number: int | None) -> Device | None:
    drive = None if number is None else windows_drive(number)
    if drive is None:
        return None
    return {
        "name": f"{DRIVE}{number}",
        **UNKNOWN_DEVICE,
        "model": drive["model"],
        "serial": drive["serial"],
        "firmware": drive["firmware"],
        "bus": drive["bus"],
        "bytes": drive["bytes"],
        "logical_block_bytes": drive["logical_block_bytes"],
        "physical_block_bytes": drive["physical_block_bytes"],
        "largest_request_bytes": drive["largest_request_bytes"],
        "rotational": None if drive["rotational"] is None else int(drive["rotational"]),
        "write_cache": drive["write_cache"],
        "keeps_flushes": drive["keeps_flushes"],
        # How much of it a trim may name is not reported.
        "discard_bytes": 0 if drive["trims"] is False else None,
    }
