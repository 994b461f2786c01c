"""Simulated drives that stay: made, formatted and left alone as a drive on a desk is."""

import math
import tomllib
from pathlib import Path

from pslc._native import SimDrive
from pslc.base.errors import PslcError, TargetError
from pslc.device.target import KEPT, find_target, is_drive, open_simulated

MODES = ("pure-xlc", "dynamic-slc", "static-slc", "hybrid-slc", "pure-slc")
SIZES = {"static-slc": ("static",), "dynamic-slc": ("dynamic",), "hybrid-slc": ("static", "dynamic")}
"""The sizes that a mode has."""
ACTIVATION_EV = 1.1
"""Energy of the loss of charge, as JESD218 takes it for retention."""
BOLTZMANN_EV_PER_K = 8.617333e-5
REFERENCE_C = 30.0
"""Temperature at which ages of data are given: that of a client drive that is switched off (JESD218)."""
MIN_CELSIUS, MAX_CELSIUS = -40.0, 85.0
"""Temperatures that makers allow for storage."""
MAX_AGED_S = 30 * 365 * 86_400.0
"""Largest age that is added at once: beyond it no data would be read."""
UNAGING = "Data of this profile do not age: it has no nand.native.retention, as examples/840-evo-500gb.toml has."


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
    if not is_drive(path):
        hint = f"pslc drives create {path.with_suffix(KEPT)} --like aldrin-pro-2tb creates one"
        raise TargetError(f"{path} is not a drive file", hint)
    drive = find_target(str(path)).open()
    assert isinstance(drive, SimDrive)
    return drive


def aging_rate(celsius: float) -> float:
    """Return the rate at which data age at a temperature, over that at 30 °C, by Arrhenius' law."""
    inverse = 1 / (REFERENCE_C + 273.15) - 1 / (celsius + 273.15)
    return math.exp(ACTIVATION_EV / BOLTZMANN_EV_PER_K * inverse)


def ages(profile: str) -> bool:
    """Whether data of a drive of a resolved profile are read more slowly once they are old."""
    nand = tomllib.loads(profile)["nand"]
    return any("retention" in nand.get(cells, {}) for cells in ("slc", "mlc", "native"))


def switch_off(drive: SimDrive, seconds: float, celsius: float) -> float:
    """Leave a drive switched off; returns the seconds at 30 °C in which its data would age as much.

    Raises:
        PslcError: no drive is kept so warm or cold, or its data would be gone.
    """
    if not MIN_CELSIUS <= celsius <= MAX_CELSIUS:
        raise TargetError(f"--at-celsius is {celsius:g}", f"{MIN_CELSIUS:g} to {MAX_CELSIUS:g}")
    aged_s = seconds * aging_rate(celsius)
    if aged_s > MAX_AGED_S:
        hint = "at most 30 years: fewer days, or a lower temperature"
        raise TargetError(f"its data would age as in {aged_s / 365 / 86_400:.0f} years at {REFERENCE_C:g} °C", hint)
    drive.switch_off(round(aged_s * 1e9))
    return aged_s


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
