"""Uploads: logs, tables and results of other programs, traces, recordings, profiles, and drives in files."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from pslc import formats, traces
from pslc.analysis import Curve
from pslc.base import gate, writer
from pslc.base.errors import GuardError, PslcError, RecordingError
from pslc.device.target import is_drive
from pslc.figures.view import View
from pslc.formats import FILE, ChartOptions, ImportedData, ImportOptions
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
"""Size limit of files that are uploaded together, in bytes. They arrive as text in JSON, which takes four times as much
memory."""


CHART: Final = ".chart.json"
"""Beside a picture: the `ChartInputs` that it is read with."""


@dataclass(frozen=True)
class ChartInputs:
    """Facts about an uploaded picture of a chart, as on the command line; empty: not stated.

    Attributes:
        x, y: ranges of its axes, `0:2000GB` and `0:7000MB/s`.
        series: color of the curve.
        frame: pixels where the ranges begin and end.
    """

    x: str
    y: str
    series: str = ""
    frame: str = ""

    @property
    def options(self) -> ImportOptions:
        """These inputs as import options of a reader."""
        chart = ChartOptions((self.series,) if self.series else (), self.frame or None)
        return ImportOptions(self.x or None, self.y or None, chart=chart)

    @property
    def arguments(self) -> list[str]:
        """These inputs as command-line options of `pslc fit`."""
        return [f"--{name}={value}" for name, value in asdict(self).items() if value]


@dataclass(frozen=True)
class Dropped:
    """Files that belong together.

    Attributes:
        paths: of the files, or the folder of a recording.
        view: what is said of them; None of a profile or a drive.
        curve: time against bytes written; None where they do not tell.
        source: of a profile or a drive, what a bench calls it.
        is_trace: whether it can be replayed.
        picture: of a chart, with what was read drawn over it, as a data address.
        chart: what it was read with; None of a picture that was not read yet.
    """

    name: str
    paths: tuple[Path, ...]
    view: View | None = None
    curve: Curve | None = None
    source: str = ""
    is_trace: bool = False
    picture: str = ""
    chart: ChartInputs | None = None

    @property
    def is_recording(self) -> bool:
        """Whether it is one of pslc's."""
        return self.paths[0].is_dir()


@dataclass(frozen=True)
class Drops:
    """Uploads to one page.

    Attributes:
        folder: folder that keeps them until the page ends.
        readers: processes that read foreign files.
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
        """Read the folder that `keep` made. It is removed if it cannot be read.

        Args:
            tab: of the browser; a reading that still runs for the same tab is ended.

        Raises:
            PslcError: the format is unknown, the folder is gone, or reading takes too long or too much memory.
        """
        folder = self._kept(name)
        try:
            return self.readers.kept(folder.stat().st_mtime_ns, read, self.folder, name, tab=tab)
        except PslcError:
            # A picture may be read with other ranges.
            if not (folder / CHART).exists():
                writer.remove_folder(folder)
            raise

    def read_chart(self, name: str, inputs: ChartInputs, tab: str = "") -> Dropped:
        """The picture in a folder that `keep` made, read with what is said of it.

        Raises:
            PslcError: it cannot be read so.
        """
        writer.write(self._kept(name) / CHART, json.dumps(asdict(inputs)), writer.Replace.ANY)
        return self.read(name, tab)

    def _kept(self, name: str) -> Path:
        folder = self.folder / name
        if DROPPED.fullmatch(name) is None or not folder.is_dir():
            raise RecordingError("the dropped files are gone", "drop them again: they stay until pslc lab ends")
        return folder


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
    if not bare or len(set(bare)) < len(bare) or not all(bare) or CHART in bare:
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
    """Read the folder `name` of `drops` in this process.

    Raises:
        PslcError: the format is unknown.
    """
    admit(drops)
    folder = drops / name
    paths = sorted(path for path in folder.iterdir() if path.name != CHART)
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
    if len(paths) == 1 and formats.is_picture(paths[0]):
        return _of_picture(paths[0])
    foreign = formats.read(paths, ImportOptions())
    if foreign.at_work:
        return Dropped(called, tuple(paths), view.of_recording(analysed(of_a_drive_at_work(foreign, paths[0]))))
    return Dropped(called, tuple(paths), _view(foreign), foreign.curve)


def _view(foreign: ImportedData) -> View:
    return view.of_foreign(foreign, imported.analyzed(foreign))


def _of_picture(path: Path) -> Dropped:
    """A picture as it is, or with what was read of it once somebody has said what its axes span."""
    axes = path.parent / CHART
    if not axes.exists():
        from PIL import Image

        out = io.BytesIO()
        Image.fromarray(gate.picture(path, FILE)).save(out, "PNG")
        return Dropped(path.name, (path,), picture=_address(out.getvalue()))
    from pslc.formats.chart import overlay

    inputs = ChartInputs(**json.loads(axes.read_text()))
    foreign = formats.read([path], inputs.options)
    assert foreign.chart is not None, "a picture is read as a chart"
    shown = _address(overlay.draw(foreign.chart.picture))
    return Dropped(path.name, (path,), _view(foreign), foreign.curve, picture=shown, chart=inputs)


def _address(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
