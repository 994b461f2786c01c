"""Uploads: logs, tables and results of other programs, charts, traces, recordings, and drives in files."""

import base64
import hashlib
import io
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from pslc import formats, traces
from pslc.base import gate, writer
from pslc.base.errors import GuardError, PslcError, RecordingError
from pslc.device.drive_files import open_kept
from pslc.device.target import is_drive
from pslc.formats import FILE
from pslc.lab.apart import Readers
from pslc.lab.view_json import Kind, ViewJson, bare, of_view
from pslc.recording.writes.curve import write_curve
from pslc.report import recording_view
from pslc.runner.load import opened, read_one
from pslc.schema.imports import ChartOptions, ImportOptions
from pslc.traces import Part
from pslc.traces.survey_view import of_file

MAX_BYTES: Final = 64_000_000
"""Size limit of files that are uploaded together, in bytes."""
UPLOAD: Final = re.compile("[0-9a-f]{16}")
"""Name of a folder of uploaded files: the beginning of their SHA-256."""
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
class Uploads:
    """Uploads to one page.

    Attributes:
        folder: folder that keeps them until the page ends.
        readers: processes that read foreign files.
    """

    folder: Path
    readers: Readers

    def put(self, names: Sequence[str], contents: Sequence[bytes]) -> ViewJson:
        """Keep files that belong together, and read them. They are removed if they cannot be read.

        Raises:
            PslcError: they are too large, have bad names or an unknown format, or reading takes too much.
        """
        name = keep(self.folder, names, contents)
        try:
            return self.readers.call(read, self.folder, name)
        except PslcError:
            writer.remove_folder(self.folder / name)
            raise

    def put_chart(self, name: str, inputs: ChartInputs) -> ViewJson:
        """Read the picture of a chart again, with facts about it. It is kept if it cannot be read so.

        Raises:
            PslcError: it cannot be read so, or is gone.
        """
        writer.write(self.at(name) / CHART, json.dumps(asdict(inputs)), writer.Replace.ANY)
        return self.readers.call(read, self.folder, name)

    def at(self, name: str) -> Path:
        """Folder of the upload of this name.

        Raises:
            RecordingError: there is none.
        """
        folder = self.folder / name
        if UPLOAD.fullmatch(name) is None or not folder.is_dir():
            raise RecordingError("the uploaded files are gone", "upload them again: they stay until pslc lab ends")
        return folder

    def paths(self, name: str) -> list[Path]:
        """Files of an upload, without what the page keeps beside them.

        Raises:
            RecordingError: there is none of this name.
        """
        return _files(self.at(name))

    def chart_arguments(self, name: str) -> list[str]:
        """Options of `pslc fit` that read a chart as it was read here; none of anything else.

        Raises:
            RecordingError: there is no upload of this name.
        """
        inputs = self.at(name) / CHART
        return ChartInputs(**json.loads(inputs.read_text())).arguments if inputs.exists() else []


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name != CHART)


def check_size(total_bytes: int) -> None:
    """
    Raises:
        RecordingError: files that are uploaded together have more than `MAX_BYTES`.
    """
    if total_bytes > MAX_BYTES:
        raise RecordingError(
            f"the files have {total_bytes / 1e6:.0f} MB, but the page reads at most {MAX_BYTES / 1e6:g} MB",
            "pslc analyze, pslc trace show and pslc replay read larger files",
        )


def keep(folder: Path, names: Sequence[str], contents: Sequence[bytes]) -> str:
    """Put files into a folder of their own below `folder`; its name. The same files have the same.

    Raises:
        PslcError: they are too large, or have names that no file can have.
    """
    check_size(sum(map(len, contents)))
    # A path would lead out of the folder.
    bare_names = [Path(name.replace("\\", "/")).name for name in names]
    if not bare_names or len(set(bare_names)) < len(bare_names) or not all(bare_names) or CHART in bare_names:
        raise RecordingError(f"{len(bare_names)} files share names", "upload the files of one run")
    digest = hashlib.sha256()
    for name, content in zip(bare_names, contents, strict=True):
        digest.update(f"{name}\0{len(content)}\0".encode(errors="surrogatepass") + content)
    at = folder / digest.hexdigest()[:16]
    writer.folder(at)
    for name, content in zip(bare_names, contents, strict=True):
        try:
            writer.write(at / name, content, writer.Replace.ANY)
        except (OSError, UnicodeError) as error:
            writer.remove_folder(at)
            why = error.strerror if isinstance(error, OSError) else "its name is no text"
            raise RecordingError(
                f"{name[:60]!r} cannot be kept: {why}", "give it a plain name, and upload it again"
            ) from None
        except GuardError:
            writer.remove_folder(at)
            raise
    return at.name


def read(uploads: Path, name: str) -> ViewJson:
    """Read the folder `name` of `uploads` in this process.

    Raises:
        PslcError: the format is unknown.
    """
    folder = uploads / name
    paths = _files(folder)
    if (folder / "run.json").exists():
        recording = opened(folder)
        return of_view(recording_view.of_recording(recording), name, Kind.RECORDING, write_curve(recording))
    if len(paths) == 1 and is_drive(paths[0]):
        open_kept(paths[0]).close()
        return bare(name, Kind.DRIVE, paths[0].name)
    if len(paths) == 1 and traces.is_trace(paths[0], Part()):
        return of_view(of_file(paths[0], traces.opened(paths[0], Part()).survey()), name, Kind.TRACE, None)
    if len(paths) == 1 and formats.is_picture(paths[0]):
        return _of_picture(paths[0], name)
    recording = read_one(paths, ImportOptions())
    curve = None if "watch" in recording.facts else write_curve(recording)
    return of_view(recording_view.of_recording(recording), name, Kind.LOG, curve)


def _of_picture(path: Path, name: str) -> ViewJson:
    """A picture as it is, or with what was read of it once somebody has said what its axes span."""
    axes = path.parent / CHART
    if not axes.exists():
        from PIL import Image

        out = io.BytesIO()
        Image.fromarray(gate.picture(path, FILE)).save(out, "PNG")
        return bare(name, Kind.CHART, path.name, _address(out.getvalue()))
    from pslc.chart import beside, overlay

    recording = read_one([path], ChartInputs(**json.loads(axes.read_text())).options)
    drawn = _address(overlay.draw(beside.pictures([recording])[0]))
    return of_view(recording_view.of_recording(recording), name, Kind.CHART, write_curve(recording), drawn)


def _address(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
