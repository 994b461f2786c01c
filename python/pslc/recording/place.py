"""Place of a measurement: what lies between a file and its drives, and why a curve from there may tell speeds alone."""

import re
from itertools import groupby
from typing import Final, NamedTuple

from pslc.base import words
from pslc.schema.facts import Device, Facts, FileSystem

COW: Final = ("btrfs", "zfs", "bcachefs", "overlay", "aufs", "ecryptfs", "fuse")
NETWORK: Final = (
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "ceph", "afs", "lustre", "gfs2", "ocfs2", "vboxsf",
)  # fmt: skip
MEMORY: Final = ("tmpfs", "ramfs")
UNIONS: Final = ("overlay", "aufs")
DIRECT: Final = ("ext2", "ext3", "ext4", "xfs", "f2fs")
"""File systems that write past the page cache wherever they are asked to, unless they keep a journal of data."""
JOURNALED: Final = "data=journal"
ZEROED: Final = ("vfat", "msdos", "exfat", "hfs", "hfsplus")
"""File systems without holes."""
ON_A_DRIVE: Final = "measure on ext4 or XFS straight on the drive"
VIRTUAL_BUSES: Final = ("virtio", "xen", "vmbus")
VIRTUAL_MODEL: Final = re.compile(r"qemu|vbox|vmware|virtual|elastic block", re.IGNORECASE)
NO_DRIVES: Final = {
    "loop": "is a file",
    "zram": "is memory that compresses",
    "ram": "is memory",
    "nbd": "is served by another program",
    "rbd": "is served by another machine",
    "drbd": "is kept by another machine, too",
    "nullb": "keeps nothing",
    "zd": "is a volume of ZFS",
    "dm-": "shows no drive below it",
    "md": "shows no drive below it",
    "bcache": "shows no drive below it",
}
"""Devices by the beginnings of Linux's names for them that are no drives where nothing lies below, and what each is."""


class Doubt(NamedTuple):
    """Reason why a curve tells speeds alone, and what to do about it."""

    why: str
    next: str


def doubt(facts: Facts) -> Doubt | None:
    """Doubt about all curves that are measured at a place; None where a single plain drive is seen below it."""
    system, device, members = facts.get("file_system"), facts.get("device"), facts.get("members", [])
    if system is not None and not _is_of_a_drive(system) and (other := of_file_system(facts)):
        return Doubt(f"the file is on {other.why}", other.next)
    if len(members) > 1:
        return Doubt(f"{_listed([drive['name'] for drive in members])} share the writes", "measure on one of them")
    if device is None:
        return Doubt("no drive is known behind it", ON_A_DRIVE)
    drive = members[0] if members else device
    return _of_a_leaf(facts, drive.get("name", "")) or _of_a_drive(drive)


def keeps_direct(facts: Facts) -> bool:
    """Whether writes past the page cache are known to go past it here: on a device, and on file systems that say so."""
    system = facts.get("file_system")
    is_past = system is None or (system["type"] in DIRECT and JOURNALED not in system["options"])
    layers = all(layer.get("direct", True) for layer in facts.get("layers", []))
    return is_past and layers and ("below" not in facts or keeps_direct(facts["below"]))


def way_past_memory(facts: Facts) -> str:
    """Advice for writes that went through the page cache."""
    system = facts.get("file_system") or FileSystem()
    if any(not layer.get("direct", True) for layer in facts.get("layers", [])):
        return "losetup --direct-io=on"
    if system.get("type") == "btrfs":
        return "chattr +C on an empty folder lets btrfs write past memory there"
    if JOURNALED in system.get("options", ""):
        return f"mount without {JOURNALED}"
    return ON_A_DRIVE


def own_traffic(facts: Facts) -> str | None:
    """Reason for which the device moves more here than a program does, though no other program has a part in it."""
    system = facts.get("file_system") or FileSystem()
    kind = system.get("type", "")
    if JOURNALED in system.get("options", ""):
        return f"{kind} writes data into its journal first ({JOURNALED})"
    if len(facts.get("members", [])) > 1 and facts["stack"][0].startswith("dm-"):
        return "dm counts what it splits between drives twice before Linux 5.18"
    if kind in ZEROED:
        return f"{kind} writes zeros where a file is made longer"
    if kind in (*COW, "nilfs2"):
        return f"{kind} may write copies, and writes its own records anew"
    return f"the program that serves {kind} has its own records" if kind.startswith("fuse") else None


def _of_a_leaf(facts: Facts, name: str) -> Doubt | None:
    kind = re.sub(r"\d.*", "", name)
    if kind not in NO_DRIVES:
        return None
    layer = next((layer for layer in facts.get("layers", []) if layer["name"] == name), None)
    memory = ", in memory for lack of direct I/O" if layer and layer.get("direct") is False else ""
    return Doubt(f"{name} {NO_DRIVES[kind]}{_held_by(facts)}{memory}", "measure on a drive itself")


def _held_by(facts: Facts) -> str:
    """Path of the file behind a loop device and what it lies on, behind a comma; empty where it is not seen."""
    return f", {facts['below']['path']} on {down(facts['below'])}" if "below" in facts else ""


def _of_a_drive(drive: Device) -> Doubt | None:
    if drive.get("bus") in VIRTUAL_BUSES or VIRTUAL_MODEL.search(drive.get("model") or ""):
        return Doubt("the device is virtual", "measure on the machine itself")
    # A bridge of USB may say so of any drive.
    if drive.get("bus") == "SATA" and drive.get("rotational"):
        return Doubt("the drive has platters and no cells", "measure on an SSD")
    return None


def _is_of_a_drive(system: FileSystem) -> bool:
    """Whether the blocks of a file are those of a drive, as far as the file system has a say in it."""
    kind = system["type"]
    is_elsewhere = kind in (*MEMORY, *NETWORK) or _is_remote(system)
    return not is_elsewhere and (kind == "btrfs" or not (kind in COW or kind.startswith("fuse")))


def _is_remote(system: FileSystem) -> bool:
    return "remote" in system["options"].split(",")


def of_file_system(facts: Facts) -> Doubt | None:
    """Doubt whether what is written to a file reaches a drive as it was written: `why` is the file system."""
    if (system := facts.get("file_system")) is None:
        return None
    kind = system["type"]
    if kind in MEMORY:
        return Doubt(f"{kind}, which is memory and no drive", ON_A_DRIVE)
    if kind in NETWORK or _is_remote(system):
        return Doubt(f"{kind}, which another machine serves", ON_A_DRIVE)
    if kind in UNIONS:
        where = f", whose upper layer is on {down(facts['below'])}" if "below" in facts else ", as a container's layers"
        return Doubt(f"{kind}{where}", "measure in a volume (-v), or below it")
    if kind.startswith("fuse"):
        return Doubt(f"{kind}, which a program serves", ON_A_DRIVE)
    compresses = " with compression" if "compress" in system["options"] else ""
    return Doubt(f"{kind}{compresses}", ON_A_DRIVE) if kind in COW or compresses else None


def down(facts: Facts) -> str:
    """The way from a file system down to its drives: `ext4 on encryption (dm-0) on Samsung SSD 970 EVO (nvme0n1)`."""
    system, device = facts.get("file_system"), facts.get("device")
    drives = facts.get("members") or ([device] if device else [])
    ends = [drive_words(drive) if len(drives) > 1 else _named(drive) for drive in drives]
    behind = f" ({_held_by(facts).removeprefix(', ')})" if "below" in facts and drives else ""
    kind = system["type"] if system is not None else "an unknown file system"
    return " on ".join([kind, *layers_between(facts), *([_listed(ends) + behind] if ends else [])])


def layers_between(facts: Facts) -> list[str]:
    """The devices between a file system and its drives, from above, those of a kind together: `LVM (dm-2, dm-0)`."""
    device = facts.get("device")
    drives = [drive["name"] for drive in facts.get("members") or ([device] if device else [])]
    layers = [layer for layer in facts.get("layers", []) if layer["name"] not in drives]
    groups = groupby(layers, key=lambda layer: layer["kind"])
    return [f"{kind} ({', '.join(layer['name'] for layer in of_kind)})" for kind, of_kind in groups]


def _named(drive: Device) -> str:
    model, name = drive.get("model"), drive["name"]
    return f"{model} ({name})" if model else name


def drive_words(drive: Device) -> str:
    """One of several drives, by its name, model, size and serial number, as far as they are told."""
    size, serial = drive.get("bytes"), drive.get("serial")
    parts = [drive.get("model"), words.size(size) if size else None, f"serial number {serial}" if serial else None]
    details = ", ".join(text for text in parts if text)
    return f"{drive['name']} ({details})" if details else drive["name"]


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
