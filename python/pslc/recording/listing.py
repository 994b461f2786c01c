"""Recordings below a folder, by what their run.json says: no series is read."""

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pslc.base import gate, rights
from pslc.base.console import short
from pslc.base.errors import PslcError
from pslc.recording.store import FILE


@dataclass(frozen=True)
class Entry:
    """A recording in a list.

    Attributes:
        began_unix_ns: by the machine's clock; 0: not recorded.
        note: what is unusual about it, such as that it was interrupted.
    """

    folder: Path
    suite: str
    drive: str
    target: str
    began_unix_ns: int
    note: str

    @property
    def began(self) -> str:
        """`2026-05-04 10:15`; empty where nobody knows."""
        return f"{datetime.fromtimestamp(self.began_unix_ns / 1e9):%Y-%m-%d %H:%M}" if self.began_unix_ns else ""

    def document(self) -> dict[str, object]:
        """The entry as `--json` prints it."""
        return {
            "folder": str(self.folder),
            "suite": self.suite,
            "drive": self.drive,
            "target": self.target,
            "began_unix_ns": self.began_unix_ns,
            "note": self.note,
        }


def recordings_in(folder: Path) -> list[Entry]:
    """The recordings in the folders of `folder`, and in the catalogues among these, the newest first. One that cannot
    be read is in the list with the reason as its note.

    Raises:
        PermissionError: this user may not read `folder`.
    """
    if not folder.is_dir():
        return []
    closed = [Entry(path, "", "", "", 0, rights.hint(path)) for path in folder.iterdir() if _is_closed(path)]
    paths = [*folder.glob("*/run.json"), *folder.glob("*/*/run.json")]
    entries = [*map(_entry, paths), *closed]
    return sorted(entries, key=lambda entry: (entry.began_unix_ns, str(entry.folder)), reverse=True)


def _is_closed(path: Path) -> bool:
    return path.is_dir() and not os.access(path, os.R_OK | os.X_OK)


def _entry(path: Path) -> Entry:
    try:
        document = gate.document(gate.text(path, FILE), str(path), FILE)
        if not isinstance(document, dict):
            raise FILE.refused(f"{path} holds no object")
        texts = [short(str(document.get(name, ""))) for name in ("suite", "drive", "target")]
        began = document.get("began_unix_ns", 0)
        began = began if isinstance(began, int) and 0 <= began < 1 << 63 else 0
        note = "interrupted" if document.get("interrupted") else "failed" if document.get("error") else ""
        return Entry(path.parent, texts[0], texts[1], texts[2], began, note)
    except PslcError as error:
        return Entry(path.parent, "", "", "", 0, error.message)
