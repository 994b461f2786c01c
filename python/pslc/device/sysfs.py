"""Files of the kernel about devices: one value each."""

import errno
import re
from pathlib import Path
from typing import Final

UFS: Final = "wb_on"
"""File that the folder of each UFS host controller has, and no other."""


def text(path: Path) -> str | None:
    """The value as text; None where there is no such file, or nothing in it.

    Raises:
        OSError: too many files are open, which tells nothing about this one.
    """
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            raise
        return None


def number(path: Path) -> int | None:
    """The value as a whole number; None for anything else."""
    try:
        return int(text(path) or "")
    except ValueError:
        return None


def ufs_host(disk: Path) -> Path | None:
    """Folder of the UFS host controller of a drive; None for other drives.

    Args:
        disk: folder of the drive in /sys/block.
    """
    return next((parent for parent in disk.resolve().parents if (parent / UFS).exists()), None)


def counting(disk: Path) -> list[Path]:
    """Folders whose `stat` counts what a device does: its own, or those of the paths to an NVMe drive that may have
    several controllers, of which Linux before 6.3 counts nothing itself."""
    disk = disk.resolve()
    return sorted(disk.parent.glob("nvme*/" + re.sub(r"^(nvme\d+)(n\d+)$", r"\1c*\2", disk.name))) or [disk]
