"""What somebody brings: logs, tables and results of other programs, traces, recordings, profiles, drives in files."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pslc import formats, traces
from pslc.analysis import Curve
from pslc.base import writer
from pslc.base.errors import GuardError, PslcError, RecordingError
from pslc.device.target import is_drive
from pslc.figures.view import View
from pslc.formats import ImportOptions
from pslc.lab import workspace
from pslc.lab.apart import Readers
from pslc.lab.files import DROPPED, admit
from pslc.recording import imported
from pslc.recording.writes import write_curve
from pslc.report import recording_view as view
from pslc.runner.load import analysed, opened
from pslc.traces import Part
from pslc.traces.survey_view import of_file
from pslc.watch.recorded import of_foreign as of_a_drive_at_work

MAX_BYTES: Final = 64_000_000
"""Of the files that are dropped together: as text in JSON, the way they come, they take four times as much memory."""


@dataclass(frozen=True)
class Dropped:
    """Files that belong together.

    Attributes:
        paths: of the files, or the folder of a recording.
        view: what is said of them; None of a profile or a drive.
        curve: time against bytes written; None where they do not tell.
        source: of a profile or a drive, what a bench calls it.
        is_trace: whether it can be replayed.
    """

    name: str
    paths: tuple[Path, ...]
    view: View | None = None
    curve: Curve | None = None
    source: str = ""
    is_trace: bool = False

    @property
    def is_recording(self) -> bool:
        """Whether it is one of pslc's."""
        return self.paths[0].is_dir()


@dataclass(frozen=True)
class Drops:
    """What was dropped on a page.

    Attributes:
        folder: where it is kept until the page ends.
        readers: of files that others made.
    """

    folder: Path
    readers: Readers

    def keep(self, names: Sequence[str], contents: Sequence[str]) -> str:
        """Put files, which came as data addresses, into a folder of their own; its name. The same files have the same.

        Raises:
            RecordingError: they cannot be read, or have more than `MAX_BYTES` together.
        """
        return keep(self.folder, names, contents)

    def read(self, name: str, tab: str = "") -> Dropped:
        """What is in a folder that `keep` made. Where it cannot be read, it is not kept.

        Args:
            tab: what is read for the same tab is ended.

        Raises:
            PslcError: it is nothing that is known, is not there any more, or takes too long or too much memory.
        """
        folder = self.folder / name
        if DROPPED.fullmatch(name) is None or not folder.is_dir():
            raise RecordingError("the dropped files are gone", "drop them again: they stay until pslc lab ends")
        try:
            return self.readers.kept(folder.stat().st_mtime_ns, read, self.folder, name, tab=tab)
        except PslcError:
            writer.remove_folder(folder)
            raise


def keep(folder: Path, names: Sequence[str], contents: Sequence[str]) -> str:
    """Put files into a folder of their own below `folder`; see `Drops.keep`.

    Raises:
        PslcError: they cannot be read, are too large, or have names that no file can have.
    """
    total = sum(3 * len(content) // 4 for content in contents)
    if total > MAX_BYTES:
        raise RecordingError(
            f"the files have {total / 1e6:.0f} MB, but the page reads at most {MAX_BYTES / 1e6:g} MB",
            "pslc analyze, pslc trace show and pslc replay read larger files",
        )
    try:
        data = [base64.b64decode(content.partition(",")[2], validate=True) for content in contents]
    except (binascii.Error, ValueError):
        raise RecordingError("the drop could not be read", "drop files, not text") from None
    # A path would lead out of the folder.
    bare = [Path(name.replace("\\", "/")).name for name in names]
    if not bare or len(set(bare)) < len(bare) or not all(bare):
        raise RecordingError(f"{len(bare)} files share names", "drop the files of one run")
    digest = hashlib.sha256()
    for name, content in zip(bare, data, strict=True):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    at = folder / digest.hexdigest()[:16]
    writer.folder(at)
    for name, content in zip(bare, data, strict=True):
        try:
            writer.write(at / name, content, writer.Replace.ANY)
        except OSError as error:
            writer.remove_folder(at)
            raise RecordingError(
                f"{name[:60]} cannot be kept: {error.strerror}", "give it a plain name, and drop it again"
            ) from None
        except GuardError:
            writer.remove_folder(at)
            raise
    return at.name


def read(drops: Path, name: str) -> Dropped:
    """What is in the folder `name` of `drops`, read in this process.

    Raises:
        PslcError: it is nothing that is known.
    """
    admit(drops)
    folder = drops / name
    paths = sorted(folder.iterdir())
    called = paths[0].name if len(paths) == 1 else f"{paths[0].name} and {len(paths) - 1} more"
    if (folder / "run.json").exists():
        recording = opened(folder)
        return Dropped(recording.drive, (folder,), view.of_recording(recording), write_curve(recording))
    if len(paths) == 1 and (paths[0].suffix == ".toml" or is_drive(paths[0])):
        source = f"sim:{paths[0]}" if paths[0].suffix == ".toml" else str(paths[0])
        workspace.find(source)
        return Dropped(called, tuple(paths), source=source)
    if len(paths) == 1 and traces.is_trace(paths[0], Part()):
        survey = of_file(paths[0], traces.opened(paths[0], Part()).survey())
        return Dropped(called, tuple(paths), survey, is_trace=True)
    foreign = formats.read(paths, ImportOptions())
    if foreign.at_work:
        return Dropped(called, tuple(paths), view.of_recording(analysed(of_a_drive_at_work(foreign, paths[0]))))
    return Dropped(called, tuple(paths), view.of_foreign(foreign, imported.analyzed(foreign)), foreign.curve)
