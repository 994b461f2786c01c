"""Both ends of a drive that is measured as a whole, as they were before the first write: partition tables and labels
lie there. They are kept in the folder of the recording, and `pslc undo` puts them back.

ends-before.gz   a line of JSON (`About`), then the first 16 MiB and the last 16 MiB
ends-after.json  the SHA-256 of both as pslc left them: what differs was written by somebody else
"""

from __future__ import annotations

import gzip
import json
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from typing_extensions import TypedDict

from pslc._native import RealDrive, device_serial
from pslc.base import gate, writer
from pslc.base.errors import GuardError, PslcError, RecordingError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

BEFORE: Final = "ends-before.gz"
AFTER: Final = "ends-after.json"
MAX_BYTES: Final = 64 << 20
"""Largest file of both ends, packed or not: they are 32 MiB, and a line."""
FILE: Final = gate.Expected("pslc run on a whole device keeps its ends in the recording", RecordingError, MAX_BYTES)


class About(TypedDict):
    """The drive whose ends these are, and their bytes. `sha256`: of both."""

    path: str
    serial: str
    capacity_bytes: int
    head_bytes: int
    sha256: str


@dataclass(frozen=True)
class Ends:
    """The first and the last bytes of a drive."""

    about: About
    head: bytes
    tail: bytes


def keep(drive: RealDrive, path: str, serial: str, folder: Path) -> None:
    """Keep the ends of an open drive in a folder, on the disk, unless a run that is resumed has kept them.

    Raises:
        OSError: they cannot be read, or cannot be written there.
    """
    if is_kept(folder):
        return
    head, tail = drive.read_ends()
    about: About = {
        "path": path,
        "serial": serial,
        "capacity_bytes": drive.capacity_bytes,
        "head_bytes": len(head),
        "sha256": _sha256(head, tail),
    }
    packed = gzip.compress(json.dumps(about).encode() + b"\n" + head + tail, compresslevel=1)
    writer.folder(folder)
    writer.write(folder / BEFORE, packed, writer.Replace.NEVER)


def note_after(drive: RealDrive, folder: Path) -> None:
    """Note what a run leaves at both ends, if they can be read."""
    with suppress(OSError):
        writer.write(folder / AFTER, json.dumps({"schema": 1, "sha256": _sha256(*drive.read_ends())}) + "\n")


def is_kept(folder: Path) -> bool:
    """Whether a run in this folder has kept both ends of its drive."""
    return (folder / BEFORE).exists()


def is_noted(folder: Path | None) -> bool:
    """Whether a run in this folder noted what it left on its drive."""
    return folder is not None and (folder / AFTER).exists()


def are_as_left(drive: RealDrive, folder: Path) -> bool:
    """Whether both ends of a drive are what the last run in this folder left there."""
    document = gate.document(gate.text(folder / AFTER, FILE), str(folder / AFTER), FILE)
    return isinstance(document, dict) and document.get("sha256") == _sha256(*drive.read_ends())


def load(folder: Path) -> Ends:
    """The ends that were kept in a folder.

    Raises:
        PslcError: there are none, or they are damaged.
    """
    path = folder / BEFORE
    if not path.exists():
        raise RecordingError(f"{folder} holds no ends of a drive: it has no {BEFORE}", FILE.hint)
    damaged = FILE.refused(f"{path} is damaged")
    try:
        with gate.opened(path, FILE) as file, gzip.open(file) as packed:
            line, data = packed.readline(4096), packed.read(MAX_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        raise damaged from error
    about = gate.document(line.decode(errors="replace"), str(path), FILE, _schema())
    ends = Ends(about, data[: about["head_bytes"]], data[about["head_bytes"] :])
    if _sha256(ends.head, ends.tail) != about["sha256"]:
        raise damaged
    return ends


def find(ends: Ends) -> str:
    """Path of the drive whose ends these are, which may have another name by now.

    Raises:
        GuardError: no drive has its serial number.
    """
    serial = ends.about["serial"]
    for path in (ends.about["path"], *(f"/dev/{disk.name}" for disk in sorted(Path("/sys/block").glob("*")))):
        with suppress(PslcError):
            if device_serial(path) == serial:
                return path
    raise GuardError(
        f"no drive has the serial number {serial}", "connect the drive that was measured", code="device-wrong-serial"
    )


def put_back(ends: Ends, folder: Path, agreed_serial: str | None) -> str:
    """Write the ends back to their drive, if it still holds what the run left, or its serial number was given.

    Returns:
        Its path.

    Raises:
        PslcError: the drive is not there or in use, or somebody else wrote there.
        OSError: it cannot be written to.
    """
    path, serial = find(ends), ends.about["serial"]
    drive = RealDrive.device(path, serial, True)
    if agreed_serial != serial and not (is_noted(folder) and are_as_left(drive, folder)):
        why = "its ends are not as the run left them" if is_noted(folder) else "the run did not end in order"
        raise GuardError(
            f"{path}: {why}, so something else may be there",
            f"if that may be lost: pslc undo {folder} --destroy-data SERIAL; nothing was written",
            code="device-changed",
        )
    drive.write_ends(ends.head, ends.tail)
    return path


def _schema() -> TypeAdapter[About]:
    from pydantic import TypeAdapter

    return TypeAdapter(About)


def _sha256(head: bytes, tail: bytes) -> str:
    import hashlib

    return hashlib.sha256(head + tail).hexdigest()
