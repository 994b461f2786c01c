"""Other programs' recordings: one file a format, found by listing. Each has `matches`, which looks at the beginning of
a file, and `read`, which makes an `ImportedData` of one or several of them."""

from __future__ import annotations

import codecs
import csv
import io
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TextIO, cast

from pslc.analysis import Curve
from pslc.analysis.load import Load
from pslc.analysis.series import Floats
from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.schema.facts import HealthJson
from pslc.schema.job_options import said
from pslc.schema.jobs import Job

TELL_OF_JOBS = {"fio_job", "fio_json"}
"""Formats that may go with a series of another one: they say how it was written."""
TELL_OF_HEALTH = {"nvme_smart_log"}
"""These say how the drive was meanwhile."""
FILE = gate.Expected("give a log or results that a program wrote", RecordingError, gate.MAX_LOG_BYTES)
STREAM = replace(FILE, max_bytes=1 << 40)
"""A log that is read line by line."""
HEAD = 4096
"""Bytes of a file that its format is told by."""
MOST = 1 << 63
"""Bytes or requests, and ns that they take."""


@dataclass(frozen=True)
class ChartOptions:
    """What a picture of a chart does not say by itself.

    Attributes:
        series: colours of the curves that are read, `blue` or `#1f77b4`; empty: each.
        frame: `LEFT,TOP,RIGHT,BOTTOM`, the pixels where the axes' ranges begin and end; None: as it is seen.
        capacity: of the drive, of which an axis shows percents.
        names: of the drives, one for each curve.
    """

    series: Sequence[str] = ()
    frame: str | None = None
    capacity: str | None = None
    names: Sequence[str] = ()


@dataclass(frozen=True)
class ImportOptions:
    """What a file does not say by itself.

    Attributes:
        x, y: columns of a table, `COLUMN` or `COLUMN=UNIT`; of a picture what its axes span, `0:2000GB`.
        celsius: its column of the drive's temperature; None: the one whose name says so, if any.
        skip_bad: leave lines out that cannot be read, and count them.
        device: of several.
        chart: what else is said of a picture.
    """

    x: str | None = None
    y: str | None = None
    skip_bad: bool = False
    celsius: str | None = None
    device: str | None = None
    chart: ChartOptions = ChartOptions()


@dataclass(frozen=True)
class Measured:
    """One figure of a program that tells only results.

    Attributes:
        test: what it is called there.
        kind: `read`, `write`, `mixed` or `copy`.
        bytes_per_s, iops, latency_s: None where it does not tell; the latency is a mean.
        samples: bytes/s of every repetition, where it tells them; `bytes_per_s` is then their median.
    """

    test: str
    kind: str
    bytes_per_s: float | None = None
    iops: float | None = None
    latency_s: float | None = None
    samples: tuple[float, ...] = ()


@dataclass(frozen=True)
class ChartReading:
    """How exactly a curve was read from a picture.

    Attributes:
        name: of its colour.
        position_error_bytes: how far the bytes written may be off in each bin of the curve, shape (n,).
        speed_error: the same of its speeds, in bytes/s.
        picture: everything that was read of the picture, a `pslc.formats.chart.reading.Reading`.
    """

    name: str
    position_error_bytes: Floats
    speed_error: Floats
    picture: Any


@dataclass
class ImportedData:
    """What was read.

    Attributes:
        name: what it is called in a report.
        curve: time against bytes written; None when the data have no series.
        jobs: as in `Recording.jobs`, where the data tell of them.
        rows: results that have no series.
        notes: what to know of them, a sentence each.
        zeroes: the data that were written were zeroes.
        clock_back_s: the furthest that times go back.
        bad_lines: left out.
        celsius: bytes written and the drive's temperature then, where the data tell of it.
        load: of a drive at work; `began_unix` is when it began, in seconds, 0 where the data do not tell.
        health: NVMe's health logs, in smartctl's names, the earliest first.
        chart: the reading of a picture; None where the data are none.
    """

    name: str
    curve: Curve | None
    jobs: list[Job] = field(default_factory=list)
    rows: list[Measured] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    zeroes: bool = False
    clock_back_s: float = 0.0
    bad_lines: int = 0
    celsius: tuple[Floats, Floats] | None = None
    load: Load | None = None
    began_unix: float = 0.0
    health: list[HealthJson] = field(default_factory=list)
    chart: ChartReading | None = None

    @property
    def at_work(self) -> bool:
        """Whether the data are of a drive at work, rather than of a measurement."""
        return self.load is not None or (bool(self.health) and self.curve is None and not self.rows)

    @property
    def random(self) -> bool | None:
        """Whether its jobs wrote at random places; None where the data do not tell."""
        kinds = [said(job)["random"] for job in self.jobs if said(job)["writes"]]
        return any(kinds) if kinds else None

    @property
    def buffered(self) -> bool:
        """Whether its jobs went through the page cache."""
        return not all(said(job)["direct"] for job in self.jobs)

    @property
    def synced_bytes(self) -> float | None:
        """Bytes of a request, where each is flushed before the next is made; None where it is not so, or not known."""
        writing = [job for job in self.jobs if said(job)["writes"]]
        if len(writing) != 1:
            return None
        options, done = said(writing[0]), writing[0]["write"]
        if not options["synced"] or options["numjobs"] > 1 or options["iodepth"] > 1:
            return None
        # As it was counted, or by `bs`.
        return float(done["io_bytes"] / done["total_ios"]) if done["total_ios"] else options["write_bytes"]


class Format(Protocol):
    """What a format's module has."""

    @staticmethod
    def matches(path: Path, head: str) -> bool:
        """Whether a file that begins so is of this format."""

    @staticmethod
    def read(paths: Sequence[Path], hints: ImportOptions) -> ImportedData:
        """The data of the files together; several are the jobs of one run."""


def read(paths: Sequence[Path], hints: ImportOptions) -> ImportedData:
    """Read files of one format, whichever it is, and with them what fio was told: its job file, or its JSON.

    Raises:
        PslcError: a file cannot be read, or is of no known format, or they are of several.
    """
    formats = {path: _format(path) for path in paths}
    found = set(formats.values())
    series = found - TELL_OF_JOBS - TELL_OF_HEALTH or found - TELL_OF_HEALTH or found
    if len(series) > 1:
        raise RecordingError(
            f"files of several formats: {', '.join(sorted(found))}", "analyze those of one run at a time"
        )
    (name,) = series
    foreign = _load(name).read([path for path in paths if formats[path] == name], hints)
    if foreign.curve and (foreign.curve.total_bytes > MOST or foreign.curve.total_seconds * 1e9 > MOST):
        what = f"{foreign.curve.total_bytes:.3g} bytes in {foreign.curve.total_seconds:.3g} s"
        hint = f"at most {MOST:.1g} bytes or ns; --x and --y say which columns of a table are meant, and their units"
        raise RecordingError(f"{foreign.name}: no drive wrote {what}", hint)
    if foreign.load:
        name, total = foreign.load.largest()
        if total > MOST:
            hint = f"at most {MOST:.1g} bytes, requests or ns; a line of it may be damaged"
            raise RecordingError(f"{foreign.name}: no drive counts up to {total:.3g} ({name})", hint)
    for path, told in formats.items():
        if told != name:
            beside = _load(told).read([path], hints)
            foreign.jobs += beside.jobs
            foreign.health += beside.health
    return foreign


def read_each(paths: Sequence[Path], hints: ImportOptions) -> list[ImportedData]:
    """Read files as `read` does, or each curve of a picture.

    Raises:
        PslcError: see `read`.
    """
    if len(paths) == 1 and is_picture(paths[0]):
        each: Callable[..., list[ImportedData]] = import_module(f"{__name__}.chart").read_each
        return each(paths, hints)
    return [read(paths, hints)]


def is_picture(path: Path) -> bool:
    """Whether a file is a picture, which may show several curves."""
    return path.is_file() and _format(path) == "chart"


def text(path: Path) -> str:
    """A file's text: UTF-8, or UTF-16 where a mark at its beginning says so, as programs on Windows write it.

    Raises:
        PslcError: it cannot be read.
    """
    return _decoded(gate.data(path, FILE))


def lines(path: Path, limit: int) -> TextIO:
    """The lines of a file, decoded as they are asked for: cells of all of them take fifty times its size.

    Raises:
        PslcError: it cannot be read, or has more than `limit` lines.
    """
    data = gate.data(path, FILE)
    if (count := data.count(b"\n")) > limit:
        raise FILE.refused(f"{path} has {count:,} lines; the limit is {limit:,}")
    return io.TextIOWrapper(io.BytesIO(data), _encoding(data), errors="replace")


def _decoded(data: bytes) -> str:
    return data.decode(_encoding(data), errors="replace")


def _encoding(data: bytes) -> str:
    marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return "utf-16" if data.startswith(marks) else "utf-8-sig"


def only(paths: Sequence[Path]) -> Path:
    """The file of a format whose files each stand for themselves.

    Raises:
        PslcError: there are several.
    """
    if len(paths) > 1:
        raise RecordingError(f"{len(paths)} files of results at once", "give one; they belong to runs of their own")
    return paths[0]


def cells(path: Path, lines: Iterable[str], separator: str = ",") -> Iterator[list[str]]:
    """The cells of each line of a CSV file, line by line.

    Raises:
        PslcError: it is none, as where a cell is longer than any figure.
    """
    try:
        yield from csv.reader(lines, delimiter=separator)
    except csv.Error as error:
        raise RecordingError(f"{path}: {error}", "tables hold figures between commas, semicolons or tabs") from None


class Reader:
    """Reads a file line by line; what cannot be read is an error with its place, or is counted."""

    def __init__(self, path: Path, hints: ImportOptions, expected: str) -> None:
        """`expected` says what a line should be."""
        self.path, self.skip_bad, self.expected, self.bad = path, hints.skip_bad, expected, 0

    def refuse(self, number: int, line: str) -> None:
        """Line `number`, from 1, is not what is expected.

        Raises:
            PslcError: unless bad lines are to be left out.
        """
        if not self.skip_bad:
            hint = f"{self.expected} is expected; --skip-bad leaves such lines out"
            raise RecordingError(f'{self.path}:{number}: "{line.strip()[:60]}" cannot be read', hint)
        self.bad += 1


@cache
def names() -> tuple[str, ...]:
    """The formats there are, in alphabetical order."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def _load(name: str) -> Format:
    return cast(Format, import_module(f"{__name__}.{name}"))


def _format(path: Path) -> str:
    head = _decoded(gate.head(path, STREAM, HEAD))
    for name in names():
        if _load(name).matches(path, head):
            return name
    hint = (
        "known are fio's logs, JSON and job files, blkparse's text, results of Iometer, CrystalDiskMark, AS SSD and "
        "NIOBench, iostat -x, sar -d, nvme smart-log, pictures of charts, and tables (CSV) with a line of column "
        "names; pslc's own are folders"
    )
    raise RecordingError(f"{path} is of no known format", hint)
