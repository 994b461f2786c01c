"""Names that a system gives to whole drives."""

import re
import sys
from pathlib import Path, PurePath
from typing import Final

DEVICE: Final = re.compile(r"\\\\(\.\\|\?\\(?!\w:\\|UNC\\))", re.IGNORECASE)
"""Beginning of a name of a device on Windows; `\\\\?\\` may begin that of a file as well."""

LISTS_DRIVES: Final = (
    "Get-Disk in PowerShell lists the drives" if sys.platform == "win32" else "lsblk lists the block devices"
)
"""Hint on how to find a drive's name."""


def windows_device(path: PurePath) -> str | None:
    """Name of a device on Windows, such as `\\\\.\\PhysicalDrive1`; None for a file, and on other systems."""
    if sys.platform != "win32":
        return None
    name = str(path).replace("/", "\\").rstrip("\\")
    return name if DEVICE.match(name) else None


def is_device(path: Path) -> bool:
    """Whether a path names a block device, or any device on Windows, where Python cannot look at one as at a file."""
    return windows_device(path) is not None or path.is_block_device()
