"""Switch of a UFS drive's SLC buffer during a run, which is put back at its end.

/run/pslc-cache-HOST.json has what the files of the host controller said before. Linux forgets both when it starts anew.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from typing_extensions import TypedDict

from pslc.base import gate, writer
from pslc.base.errors import GuardError, TargetError
from pslc.device import sysfs
from pslc.device.cache_report import cache_report
from pslc.schema.cache_setting import CacheSetting

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from pslc._native import SimDrive

STATE: Final = Path("/run")
FLUSH: Final = "enable_wb_buf_flush"
FILE: Final = gate.Expected("pslc run --buffer keeps it until the drive's buffer is put back")

FLAGS: Final = {sysfs.UFS: "flags/wb_enable", FLUSH: "flags/wb_flush_en"}
"""Flags of the drive itself that each file of the kernel switches, where it shows them."""
FLAG_TEXTS: Final = {"0": "false", "1": "true"}
MAX_FLAG_WAIT_S: Final = 3.0
"""Seconds within which a drive's flag follows: one that `pslc serve` serves looks four times a second."""

FILES: Final = {
    CacheSetting.ON: {sysfs.UFS: "1", FLUSH: "1"},
    CacheSetting.NO_FLUSH: {sysfs.UFS: "1", FLUSH: "0"},
    CacheSetting.OFF: {sysfs.UFS: "0"},
}


class Kept(TypedDict):
    """State of a host controller before a run changed it. `process`: of the run, `run`: its folder."""

    schema: int
    host: str
    run: str
    process: int
    before: dict[str, str]


def left(disk: Path) -> str | None:
    """Folder of the run, of another process, that has switched the buffer of a drive and not put it back."""
    host = sysfs.ufs_host(disk)
    if host is None or not _note(host).exists():
        return None
    kept = _load(_note(host))
    return kept["run"] if kept["process"] != os.getpid() else None


@contextmanager
def simulated(drive: SimDrive, setting: CacheSetting) -> Iterator[None]:
    """Format a simulated drive with a setting of its cache for as long as a `with` lasts, and as it was at the end."""
    drive.format(_keys(drive, setting))
    try:
        yield
    finally:
        drive.format([])


def _keys(drive: SimDrive, setting: CacheSetting) -> list[tuple[str, str]]:
    """Keys over those of a simulated drive's profile that a setting stands for."""
    if setting is CacheSetting.OFF:
        return [("cache.mode", "pure-xlc")]
    folds = "\n[cache.idle]\n" in drive.profile()
    # All of the cache stays in it, and free blocks are erased all the same.
    return [("cache.idle.residue", f"{drive.capacity_bytes}B")] if setting is CacheSetting.NO_FLUSH and folds else []


@contextmanager
def switched(disk: Path, setting: CacheSetting, run: Path | None) -> Iterator[None]:
    """Switch the buffer of a drive for as long as a `with` lasts.

    Args:
        disk: folder of the drive in /sys/block.
        run: folder by which `put_back` finds the switch if this process is killed.

    Raises:
        PslcError: it has no such buffer, it cannot be switched or put back, or an earlier run has not put it back.
    """
    host = check(disk)
    before = {name: text for name in (sysfs.UFS, FLUSH) if (text := sysfs.text(host / name)) is not None}
    place = str((run or Path()).absolute())
    kept: Kept = {"schema": 1, "host": str(host), "run": place, "process": os.getpid(), "before": before}
    hint = "run pslc as root; the kernel may not allow it"
    try:
        writer.write(_note(host), json.dumps(kept) + "\n", writer.Replace.NEVER)
    except OSError as error:
        raise TargetError(f"{_note(host)}: {error.strerror}", hint) from None
    try:
        try:
            _set(host, {name: text for name, text in FILES[setting].items() if name in before})
        except OSError as error:
            raise TargetError(f"the SLC buffer cannot be switched: {error}", hint) from None
        yield
    finally:
        _restore(kept)


def check(disk: Path | None) -> Path:
    """Check that the buffer of a drive can be switched.

    Returns:
        Folder of its host controller.

    Raises:
        PslcError: it has no such buffer, it cannot be switched, or another run has not put it back.
    """
    host = None if disk is None else sysfs.ufs_host(disk)
    report = None if disk is None else cache_report(disk)
    if disk is None or host is None or report is None:
        raise TargetError("the drive has no SLC buffer with a switch", "--buffer is for UFS drives (WriteBooster)")
    if (reason := report["not_switched"]) is not None:
        raise TargetError(f"the SLC buffer cannot be switched: {reason}", "leave --buffer out")
    if (earlier := left(disk)) is not None:
        raise GuardError(
            "another run has switched the SLC buffer, and not put it back",
            f"pslc undo {earlier}",
            code="device-buffer-switched",
        )
    return host


def put_back(run: Path) -> list[str]:
    """Put back what a run in this folder has switched.

    Returns:
        Names of the host controllers; none where it left nothing.

    Raises:
        PslcError: the kernel does not allow it.
    """
    notes = [_load(note) for note in sorted(STATE.glob("pslc-cache-*.json"))]
    kept = [note for note in notes if note["run"] == str(run.absolute())]
    for note in kept:
        _restore(note)
    return [Path(note["host"]).name for note in kept]


def _note(host: Path) -> Path:
    return STATE / f"pslc-cache-{host.name}.json"


def _set(host: Path, values: dict[str, str]) -> None:
    for name, value in values.items():
        writer.tell_kernel(host / name, value)
        if (now := sysfs.text(host / name)) != value:
            raise OSError(f"{name} is {now} after {value} was written")
        flag, end = host / FLAGS[name], time.monotonic() + MAX_FLAG_WAIT_S
        while (now := sysfs.text(flag)) == FLAG_TEXTS["1" if value == "0" else "0"]:
            if time.monotonic() > end:
                raise OSError(f"the drive's own {FLAGS[name]} is {now} after {value} was written to {name}")
            time.sleep(0.05)


def _restore(kept: Kept) -> None:
    """Put back what was, then forget it.

    Raises:
        PslcError: the kernel does not allow it; then it is not forgotten.
    """
    host = Path(kept["host"])
    try:
        _set(host, kept["before"])
    except OSError as error:
        raise TargetError(
            f"the SLC buffer is not switched back: {error}", f"as root: pslc undo {kept['run']}"
        ) from None
    with suppress(OSError):
        writer.remove(_note(host), writer.Replace.ANY)


def _load(path: Path) -> Kept:
    kept: Kept = gate.document(gate.text(path, FILE), str(path), FILE, _schema())
    return kept


def _schema() -> TypeAdapter[Kept]:
    from pydantic import TypeAdapter

    return TypeAdapter(Kept)
