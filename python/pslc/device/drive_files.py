"""Simulated drives that stay: made, formatted and left alone as a drive on a desk is."""

import tomllib
from pathlib import Path

from pslc._native import SimDrive
from pslc.base.errors import PslcError, TargetError
from pslc.device.target import find_target, open_simulated

MODES = ("pure-xlc", "dynamic-slc", "static-slc", "hybrid-slc", "pure-slc")
SIZES = {"static-slc": ("static",), "dynamic-slc": ("dynamic",), "hybrid-slc": ("static", "dynamic")}
"""The sizes that a mode has."""


def create(path: Path, like: str) -> SimDrive:
    """A new drive of that profile in a file of its own.

    Raises:
        PslcError: there is no such profile, or the file cannot be made; nothing is written over.
    """
    drive = open_simulated(f"sim:{like}")
    drive.save(str(path))
    return drive


def open_kept(path: Path) -> SimDrive:
    """The drive in a file, which nobody else has until it is closed.

    Raises:
        PslcError: there is no such drive, it is damaged, or another program has it.
    """
    target = find_target(str(path))
    drive = target.open()
    if not isinstance(drive, SimDrive) or not target.stays:
        raise TargetError(f"{path} is not a drive file", "pslc drives create FILE --like NAME creates one")
    return drive


def keys_of(mode: str, sizes: dict[str, str]) -> list[tuple[str, str]]:
    """The keys of a profile that a format in that mode sets.

    Raises:
        PslcError: there is no such mode, or it has no such size.
    """
    if mode not in MODES:
        raise TargetError(f'--mode is "{mode}"', f"one of {', '.join(MODES)}")
    for name in sizes:
        if name not in SIZES.get(mode, ()):
            fitting = [other for other, names in SIZES.items() if name in names]
            raise TargetError(f"{mode} has no --{name}", f"{' and '.join(fitting)} have it")
    return [("cache.mode", mode), *((f"cache.{name}", size) for name, size in sizes.items())]


def format_drive(drive: SimDrive, mode: str, sizes: dict[str, str]) -> None:
    """Do what the vendor's tool does: all data are gone, the cache is of that mode, wear and age stay.

    Raises:
        PslcError: the drive cannot be that; it is as it was.
    """
    try:
        drive.format(keys_of(mode, sizes))
    except PslcError as error:
        missing = [f"--{name} SIZE" for name in SIZES.get(mode, ()) if name not in sizes]
        more = f" (the sizes of {mode}: {', '.join(missing)})" if missing else ""
        raise TargetError(error.message, error.hint + more, error.code) from None


def mode_of(drive: SimDrive) -> str:
    """Cache mode of a simulated drive, as profiles name it (`cache.mode`)."""
    return str(tomllib.loads(drive.profile())["cache"]["mode"])
