"""Labels that say whose a device is: made by the tools themselves, or where these are rare, bytes of a format's own
definition, which libblkid's own program must know before they count."""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

from tests.loops import MB, sh

BY_TOOLS: dict[str, tuple[int, tuple[tuple[str, ...], ...]]] = {
    "ext2": (64, (("mkfs.ext2", "-q", "-F", "{device}"),)),
    "ext4": (64, (("mkfs.ext4", "-q", "-F", "{device}"),)),
    "journal of ext4": (64, (("mke2fs", "-q", "-F", "-O", "journal_dev", "{device}"),)),
    "xfs": (320, (("mkfs.xfs", "-q", "-f", "{device}"),)),
    "btrfs": (128, (("mkfs.btrfs", "-q", "-f", "{device}"),)),
    "f2fs": (64, (("mkfs.f2fs", "-q", "-f", "{device}"),)),
    "vfat": (64, (("mkfs.vfat", "{device}"),)),
    "ntfs": (64, (("mkfs.ntfs", "-q", "-Q", "-F", "{device}"),)),
    "exfat": (64, (("mkfs.exfat", "{device}"),)),
    "jfs": (64, (("mkfs.jfs", "-q", "{device}"),)),
    "reiserfs": (64, (("mkfs.reiserfs", "-q", "-ff", "{device}"),)),
    "nilfs2": (144, (("mkfs.nilfs2", "-q", "-f", "{device}"),)),
    "udf": (64, (("mkudffs", "{device}"),)),
    "erofs": (64, (("mkfs.erofs", "{device}", "{folder}"),)),
    "squashfs": (64, (("mksquashfs", "{folder}", "{device}", "-noappend", "-quiet", "-no-progress"),)),
    "cramfs": (64, (("mkfs.cramfs", "{folder}", "{device}"),)),
    "minix": (64, (("mkfs.minix", "{device}"),)),
    "bfs": (64, (("mkfs.bfs", "{device}"),)),
    "ocfs2": (64, (("mkfs.ocfs2", "-q", "-x", "-F", "-M", "local", "{device}"),)),
    "gfs2": (64, (("mkfs.gfs2", "-q", "-O", "-p", "lock_nolock", "-J", "8", "{device}"),)),
    "bcache": (64, (("make-bcache", "-B", "{device}"),)),
    "mdadm 0.90": (64, (("mdadm", "--create", "/dev/md/pslc-test", "--run", "--level=1", "--raid-devices=2",
                         "--metadata=0.90", "{device}", "missing"), ("mdadm", "--stop", "/dev/md/pslc-test"))),
    "mdadm 1.0": (64, (("mdadm", "--create", "/dev/md/pslc-test", "--run", "--level=1", "--raid-devices=2",
                        "--metadata=1.0", "{device}", "missing"), ("mdadm", "--stop", "/dev/md/pslc-test"))),
    "LUKS1": (64, (("cryptsetup", "-q", "luksFormat", "--type=luks1", "--pbkdf-force-iterations=1000", "{device}",
                    "{folder}/key"),)),
    "LUKS2": (64, (("cryptsetup", "-q", "luksFormat", "--type=luks2", "--pbkdf=pbkdf2",
                    "--pbkdf-force-iterations=1000", "{device}", "{folder}/key"),)),
    "LUKS2 whose first header is lost": (64, (
        ("cryptsetup", "-q", "luksFormat", "--type=luks2", "--pbkdf=pbkdf2", "--pbkdf-force-iterations=1000",
         "{device}", "{folder}/key"),
        ("dd", "if=/dev/zero", "of={device}", "bs=4k", "count=1", "conv=notrunc"))),
    "dm-verity": (64, (("veritysetup", "format", "{folder}/data", "{device}"),)),
    "dm-integrity": (64, (("integritysetup", "-q", "format", "--no-wipe", "{device}"),)),
    "swap": (64, (("mkswap", "{device}"),)),
    **{f"LVM2 label in sector {sector}": (64, (("pvcreate", "-q", "-y", "-ff", "--labelsector", str(sector),
                                                "--config", "devices{use_devicesfile=0}", "{device}"),))
       for sector in range(4)},
}  # fmt: skip
"""MB of the device that the tool wants, and its commands."""


def make_by_tool(name: str, device: str, folder: Path) -> None:
    """Run the tool on the device."""
    (folder / "key").write_text("a passphrase of a test")
    (folder / "data").write_bytes(bytes(range(256)) * 4096 * 4)
    for words in BY_TOOLS[name][1]:
        sh(*(word.format(device=device, folder=folder) if "{device}" in word or "{folder}" in word else word
             for word in words), cwd=folder)  # fmt: skip


def _crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def _zfs() -> dict[int, bytes]:
    # Uberblocks of one label, 1 KiB each from 128 KiB on; four make a member.
    return {
        128 * 1024 + number * 1024: struct.pack("<QQQQQ", 0x00BAB10C, 5000, 100 + number, 1, 1) for number in range(8)
    }


def _stratis() -> dict[int, bytes]:
    rest = bytearray(512 - 4)
    rest[0:16] = b"!Stra0tis\x86\xff\x02^\x41rh"
    struct.pack_into("<Q", rest, 16, 64 * MB // 512)
    rest[28:60], rest[60:92] = b"0" * 32, b"1" * 32
    sector = struct.pack("<I", _crc32c(bytes(rest))) + bytes(rest)
    return {512: sector, 9 * 512: sector}


def _drbd() -> dict[int, bytes]:
    # The last 4 KiB: sizes, states, then the magic number of format 8.4 at byte 60.
    end = 64 * MB - 4096
    return {end: struct.pack(">QQQQQQIII", 64 * MB // 512 - 8, 1, 2, 3, 4, 5, 0, 0, 0) + struct.pack(">I", 0x8374026D)}


def _hfs() -> dict[int, bytes]:
    block = bytearray(512)
    block[0:2] = b"BD"
    struct.pack_into(">HIHHHHI", block, 12, 0, 0, 3, 100, 0, 100, 0)
    struct.pack_into(">HI", block, 18, 100, 512)
    struct.pack_into(">I", block, 20, 512)
    return {0x400: bytes(block)}


def _gpt(at_the_end: bool) -> dict[int, bytes]:
    sectors = 64 * MB // 512
    entry = bytes(range(1, 17)) + bytes(range(17, 33)) + struct.pack("<QQQ", 2048, 40960, 0) + b"\0" * 72
    entries = entry.ljust(128 * 128, b"\0")
    mine, other, table = (sectors - 1, 1, sectors - 33) if at_the_end else (1, sectors - 1, 2)

    def header(crc: int) -> bytes:
        return struct.pack("<8sIIIIQQQQ16sQIII", b"EFI PART", 0x10000, 92, crc, 0, mine, other, 34, sectors - 34,
                           b"\7" * 16, table, 128, 128, zlib.crc32(entries))  # fmt: skip

    return {512 * mine: header(zlib.crc32(header(0))), 512 * table: entries}


def _md(version: str) -> dict[int, bytes]:
    if version == "0.90":
        return {(64 * MB & ~0xFFFF) - 0x10000: struct.pack("<IIII", 0xA92B4EFC, 0, 90, 0).ljust(4096, b"\0")}
    at = {"1.0": ((64 * MB // 512 - 16) & ~7) * 512, "1.1": 0, "1.2": 4096}[version]
    block = bytearray(256)
    struct.pack_into("<II", block, 0, 0xA92B4EFC, 1)
    struct.pack_into("<QQQ", block, 128, 2048, 100000, at // 512)
    struct.pack_into("<II", block, 92, 2, 0)
    total = sum(struct.unpack("<64I", block))
    struct.pack_into("<I", block, 216, (total & 0xFFFFFFFF) + (total >> 32))
    return {at: bytes(block)}


BY_HAND: dict[str, Callable[[], dict[int, bytes]]] = {
    "Oracle ASM": lambda: {32: b"ORCLDISKVOL1"},
    "Stratis": _stratis,
    "ZFS member": _zfs,
    "ZFS member, labels at the end": lambda: {64 * MB - 512 * 1024 + at: data for at, data in _zfs().items()},
    "bluestore": lambda: {0: b"bluestore block device\n"},
    "old swap": lambda: {4086: b"SWAP-SPACE"},
    "UBI": lambda: {0: b"UBI#\x01" + b"\0" * 59},
    "suspended system": lambda: {4086: b"S1SUSPEND"},
    "Btrfs, checksum wrong": lambda: {0x10040: b"_BHRfS_M"},
    "HFS": _hfs,
    "GPT": lambda: _gpt(at_the_end=False),
    "GPT, only its copy at the end": lambda: _gpt(at_the_end=True),
    "MBR": lambda: {446: b"\x80\0\0\0\x83\0\0\0" + struct.pack("<II", 2048, 40960) + b"\0" * 48 + b"\x55\xaa"},
    **{f"md {version}": (lambda version=version: _md(version)) for version in ("0.90", "1.0", "1.1", "1.2")},
    "dm-integrity": lambda: {0: b"integrt\0\x01" + b"\0" * 503},
    "romfs": lambda: {0: b"-rom1fs-" + struct.pack(">I", 1 << 20)},
    "VMFS volume": lambda: {0x100000: b"\x0d\xd0\x01\xc0" + b"\0" * 600},
    "BitLocker": lambda: {0: b"\xeb\x58\x90-FVE-FS-".ljust(176, b"\0") + struct.pack("<Q", 1 << 21),
                          1 << 21: b"-FVE-FS-" + struct.pack("<HH", 64, 2) + b"\0" * 60},
}  # fmt: skip
"""Bytes by offset, on a device of 64 MB; from the formats' own definitions."""
