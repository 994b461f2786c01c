"""The recordings in `runs/`: what is in each, and what can be done with it."""

import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import Final

from pslc.base import gate, writer
from pslc.base.errors import RecordingError
from pslc.base.output_dirs import runs_folder
from pslc.recording import comparison
from pslc.recording.model import Recording
from pslc.report import page, recording_view
from pslc.runner.load import opened, read_side

RUN_FILE: Final = gate.Expected("a recording is a folder with a run.json and a series.parquet", RecordingError,
                                gate.MAX_LOG_BYTES)  # fmt: skip
FILES: Final = ("report.html", "series.parquet", "run.json.part", "run.json")
"""Files of a recording; the last of them makes a folder a recording."""


@dataclass(frozen=True)
class Entry:
    """A recording in a line.

    Attributes:
        name: of its folder under `runs_folder()`, `a/b` in one of a catalogue.
        began: `2026-05-04 12:30`, empty where it is not known.
        cache_bytes, mean_bytes_per_s: None where it did not find them.
    """

    name: str
    began: str
    suite: str
    drive: str
    target: str
    cache_bytes: float | None
    mean_bytes_per_s: float | None


def entries() -> tuple[list[Entry], list[str]]:
    """Recordings in `runs/`, the newest first, and the names of folders whose recording cannot be read."""
    looked = {_name(path): _entry(path, _changed_ns(path)) for path in _paths()}
    readable = sorted((entry for entry in looked.values() if entry is not None), key=lambda entry: entry.began)
    return readable[::-1], sorted(name for name, entry in looked.items() if entry is None)


def _paths() -> list[Path]:
    folder = runs_folder()
    return [*folder.glob("*/run.json"), *folder.glob("*/*/run.json")]


def _name(path: Path) -> str:
    return path.parent.relative_to(runs_folder()).as_posix()


def _changed_ns(path: Path) -> int:
    """Time at which a file changed last; -1 where that is no file to be read: it is gone, a pipe or a device."""
    try:
        status = path.stat()
    except OSError:
        return -1
    return status.st_mtime_ns if stat.S_ISREG(status.st_mode) else -1


@lru_cache(maxsize=2000)
def _entry(path: Path, changed_ns: int) -> Entry | None:
    """None where it cannot be read, or does not say what a recording says."""
    if changed_ns < 0:
        return None
    try:
        document = gate.document(gate.text(path, RUN_FILE), str(path), RUN_FILE)
        began, findings = document["began_unix_ns"], document["findings"]
        when = f"{datetime.fromtimestamp(began / 1e9):%Y-%m-%d %H:%M}" if began else ""
        texts = [document[key] for key in ("suite", "drive", "target")]
        figures = [findings.get(key) for key in ("cache_bytes", "fill_mean_bytes_per_s")]
        if not all(isinstance(text, str) for text in texts) or not all(map(_is_figure, figures)):
            return None
        return Entry(_name(path), when, *texts, *figures)
    except Exception:
        # Whatever somebody wrote there, the others are still to be seen.
        return None


def _is_figure(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and isfinite(value))


def folder(name: str) -> Path:
    """Folder of the recording named `name`.

    Raises:
        RecordingError: there is no recording of that name.
    """
    if name not in map(_name, _paths()):
        raise RecordingError(f"no recording is named {name} in {runs_folder()}", "it was removed; reload the page")
    return runs_folder() / name


def load(name: str) -> Recording:
    """A recording with its findings.

    Raises:
        PslcError: there is none, or it is damaged.
    """
    return opened(folder(name))


def delete(name: str) -> None:
    """Remove a recording and its report; whatever else lies in its folder stays there.

    Raises:
        PslcError: there is none, or somebody else's file has one of its names.
        OSError: it cannot be removed.
    """
    at = folder(name)
    if at.is_symlink():
        raise RecordingError(f"{at} is a link", "remove its target by hand")
    for file in FILES:
        writer.remove(at / file)
    with suppress(OSError):
        writer.remove_empty(at)


def report(name: str) -> str:
    """The page of a recording."""
    return page.render(recording_view.of_recording(load(name)))


def compared(names: Sequence[str]) -> str:
    """The page of several beside each other.

    Raises:
        PslcError: one is not there, or there are fewer than two.
    """
    if len(names) < 2:
        raise RecordingError("a comparison needs two recordings", "choose two or more")
    sides = comparison.named([read_side(folder(name)) for name in names])
    return page.render_comparison(sides, comparison.compare(sides, {}))
