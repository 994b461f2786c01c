"""Condition of a drive: whether it is still there, as large as it was, and willing to be written to.

Of a drive that was pulled out or has failed, Linux reports "No space left on device" or "Input/output error".
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pslc.base import words
from pslc.device import sysfs
from pslc.schema.facts import Device, Facts

BLOCK: Final = Path("/sys/block")
DEAD: Final = ("dead", "deleting", "offline", "transport-offline")
"""States of an NVMe controller and of a SCSI device in which it answers nothing."""
GONE: Final = "device-gone"
SHRUNK: Final = "device-shrunk"
READ_ONLY: Final = "device-turned-read-only"
CODES: Final = (GONE, SHRUNK, READ_ONLY)
"""Codes of a `Fault`, in `Recording.error_code`."""


@dataclass(frozen=True)
class Fault:
    """Fault of a drive: its code, and a sentence."""

    code: str
    sentence: str


def fault(facts: Facts) -> Fault | None:
    """First fault that Linux shows of an array or a drive, compared with the facts from before; None without any."""
    devices = [device for device in (facts.get("device"), *facts.get("members", [])) if device]
    return next((of for device in devices if BLOCK.is_dir() and (of := _fault(device))), None)


def _fault(device: Device) -> Fault | None:
    name, size = device["name"], device["bytes"]
    disk = BLOCK / name
    if not disk.exists():
        return Fault(GONE, f"{name} is gone: it was pulled out, or its controller has failed")
    if (state := sysfs.text(disk / "device" / "state")) in DEAD:
        return Fault(GONE, f"{name} answers nothing any more: its controller is {state}")
    now = (sysfs.number(disk / "size") or 0) * 512
    if size and now < size:
        return Fault(SHRUNK, f"{name} has {words.size(now)} of its {words.size(size)} left")
    if sysfs.text(disk / "ro") == "1":
        return Fault(READ_ONLY, f"{name} can only be read")
    return None
