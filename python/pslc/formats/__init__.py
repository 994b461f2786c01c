"""Other programs' recordings: one file per format, found by listing. Each has `ABOUT`, which says what it is,
`matches`, which looks at the beginning of a file, and `read`, which makes an `ImportedData` of one
or several of them."""

from __future__ import annotations

import codecs
import csv
import pkgutil
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal, Protocol, cast

from pslc.analysis import Curve
from pslc.analysis.load import Load
from pslc.analysis.series import Floats
from pslc.base import gate, words
from pslc.base.errors import RecordingError
from pslc.schema.facts import HealthJson
from pslc.schema.job_options import traits
from pslc.schema.jobs import Job

FILE = gate.Expected("give a log or results that a program wrote", RecordingError, gate.MAX_LOG_BYTES)
STREAM = replace(FILE, max_bytes=1 << 40)
"""A log that is read line by line."""
HEAD_BYTES: Final = 8192
"""Start of a file that its format is told by."""
LONG_HEAD_BYTES: Final = 1_000_000
"""Bytes of a file's beginning that formats are detected by, if a short beginning does not suffice."""
MAX_AMOUNT: Final = 1 << 63
"""Bytes or requests, and ns that they take."""
Gives = Literal["curve", "results", "load", "health", "jobs"]
"""Kind of data in a format: speed over time or position; results without a series; the load of a drive at work; its
health log; or jobs, a description that may accompany a curve."""
MAX_LATE_NS: Final = 1_000_000_000
"""Largest excess of a mean latency over the duration of its run, in ns: run times are rounded, and requests may start
in the ramp."""
COLOR: Final = re.compile(r"\x1b\[[\d;]*m")
UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class About:
    """Description of a format. The table in docs/formats.md and the hints of errors are made from these.

    Attributes:
        program: who writes it.
        what: the file, as people call it.
        content: what pslc takes from it.
        command: how to make such a file.
        gives: what it holds.
        suite: pslc's of the same tests; empty where there is none.
    """

    program: str
    what: str
    content: str
    command: str
    gives: Gives
    suite: str = ""


@dataclass(frozen=True)
class ChartOptions:
    """Facts about a picture of a chart that the picture does not show.

    Attributes:
        series: colours of the curves that are read, `blue` or `#1f77b4`; empty: each.
        frame: `LEFT,TOP,RIGHT,BOTTOM`, the pixels where the axes' ranges begin and end; None: as it is seen.
        names: of the drives, one for each curve.
    """

    series: Sequence[str] = ()
    frame: str | None = None
    names: Sequence[str] = ()


@dataclass(frozen=True)
class ImportOptions:
    """Facts about a file that the file does not state.

    Attributes:
        x, y: columns of a table, `COLUMN` or `COLUMN=UNIT`; of a picture what its axes span, `0:2000GB`.
        celsius: its column of the drive's temperature; None: the one whose name says so, if any.
        skip_bad: leave lines out that cannot be read, and count them.
        device: of several.
        order: whether the jobs of several logs ran at the same time or one after the other; None: not given.
        interval_s: length of the intervals of a log that has no times; None: not given.
        capacity_bytes: of the drive, for positions as a share of it.
        jobs: what files beside this one tell of its jobs.
        chart: what else is said of a picture.
    """

    x: str | None = None
    y: str | None = None
    skip_bad: bool = False
    celsius: str | None = None
    device: str | None = None
    order: Literal["together", "serial"] | None = None
    interval_s: float | None = None
    capacity_bytes: float | None = None
    jobs: tuple[Job, ...] = ()
    chart: ChartOptions = ChartOptions()


@dataclass(frozen=True)
class Measured:
    """Figure of a program that reports results without a series.

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
    """Accuracy of a curve that was read from a picture.

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
    """Data read from another program's files.

    Attributes:
        name: what it is called in a report.
        curve: time against bytes moved; None when the data have no series.
        kind: what the curve is of.
        read_as: which columns or rows were taken, and how they were understood: one line, never empty where the curve
            or the load could have been read in another way.
        jobs: as in `Recording.jobs`, where the data tell of them.
        tells_options: whether it tells every option of these jobs that is no default.
        rows: results that have no series.
        notes: what to know of them, a sentence each.
        cautions: what may be wrong with the reading, and what to do about it, a sentence each.
        zeroes: the data that were written were zeroes.
        idle_s: pauses that are left out of the curve.
        clock_back_s: the furthest that times go back.
        bad_lines: left out.
        celsius: bytes written and the drive's temperature then, where the data tell of it.
        load: of a drive at work; `began_unix` is when it began, in seconds, 0 where the data do not tell.
        health: the drive's health logs, in smartctl's names of NVMe's, the earliest first.
        chart: the reading of a picture; None where the data are none.
        about: the format they were read as.
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
    kind: Literal["read", "write"] = "write"
    read_as: str = ""
    cautions: list[str] = field(default_factory=list)
    idle_s: float = 0.0
    tells_options: bool = True
    chart: ChartReading | None = None
    about: About | None = None

    @property
    def measured_by(self) -> str:
        """The program that measured, as far as the data tell."""
        program = self.about.program if self.about else ""
        return program.replace(", ", " or ") if program and not program.startswith("any ") else "another program"

    @property
    def at_work(self) -> bool:
        """Whether the data are of a drive at work, rather than of a measurement."""
        return self.load is not None or (bool(self.health) and self.curve is None and not self.rows)

    @property
    def random(self) -> bool | None:
        """Whether its jobs wrote at random places; None where the data do not tell."""
        kinds = [traits(job)["random"] for job in self.jobs if traits(job)["writes"]]
        return any(kinds) if kinds else None

    @property
    def buffered(self) -> bool:
        """Whether its jobs went through the page cache."""
        return self.tells_options and not all(traits(job)["direct"] for job in self.jobs)

    @property
    def synced_bytes(self) -> float | None:
        """Bytes of a request, where each is flushed before the next is made; None where it is not so, or not known."""
        writing = [job for job in self.jobs if traits(job)["writes"]]
        if len(writing) != 1:
            return None
        options, done = traits(writing[0]), writing[0]["write"]
        if not options["synced"] or options["numjobs"] > 1 or options["iodepth"] > 1:
            return None
        # As it was counted, or by `bs`.
        return float(done["io_bytes"] / done["total_ios"]) if done["total_ios"] else options["write_bytes"]


class Format(Protocol):
    """Interface of a format's module."""

    ABOUT: About

    @staticmethod
    def matches(path: Path, head: str) -> bool:
        """Whether a file that begins so is of this format."""

    @staticmethod
    def read(paths: Sequence[Path], hints: ImportOptions) -> ImportedData:
        """The data of the files together; several are the jobs of one run."""


def read(paths: Sequence[Path], hints: ImportOptions) -> ImportedData:
    """Read files of one format, whichever it is, and with them what fio was told: its job file, or its JSON.

    Raises:
        PslcError: a file cannot be read, or is of no known format, or they are of several, or one is given twice.
    """
    _refuse_twins(paths)
    formats = {path: _format(path) for path in paths}
    name = _main_format(formats.values())
    beside = [load(other).read([path], hints) for path, other in formats.items() if other != name]
    jobs = tuple(job for item in beside for job in item.jobs)
    foreign = load(name).read([path for path in paths if formats[path] == name], replace(hints, jobs=jobs))
    foreign.about = load(name).ABOUT
    _refuse_impossible(foreign)
    _drop_impossible_latencies(foreign)
    foreign.jobs += jobs
    foreign.tells_options &= all(item.tells_options for item in beside)
    foreign.health += [log for item in beside for log in item.health]
    return foreign


def _main_format(formats: Iterable[str]) -> str:
    """The format of the files that the others belong to: the one with a series, else with jobs.

    Raises:
        PslcError: there are several.
    """
    gives = {name: load(name).ABOUT.gives for name in sorted(set(formats))}
    series = [name for name, what in gives.items() if what not in ("jobs", "health")]
    series = series or [name for name, what in gives.items() if what == "jobs"][:1] or list(gives)
    if len(series) > 1:
        raise RecordingError(f"files of several formats: {', '.join(gives)}", "analyze those of one run at a time")
    return series[0]


def _refuse_twins(paths: Sequence[Path]) -> None:
    """Refuse a file that is given twice, under one name or two.

    Raises:
        PslcError: two paths lead to one file.
    """
    places: dict[Path, Path] = {}
    for path in paths:
        if (twin := places.setdefault(path.resolve(), path)) is not path:
            raise RecordingError(
                f"{path} is given twice" if twin == path else f"{twin} and {path} are one file", "give each log once"
            )


def _refuse_impossible(foreign: ImportedData) -> None:
    """Refuse more than any drive moves.

    Raises:
        PslcError: the sums are beyond `MAX_AMOUNT`.
    """
    curve = foreign.curve
    if curve and (curve.total_bytes > MAX_AMOUNT or curve.total_seconds * 1e9 > MAX_AMOUNT):
        what = f"{curve.total_bytes:.3g} bytes in {curve.total_seconds:.3g} s"
        hint = f"at most {MAX_AMOUNT:.1g} bytes or ns; --x and --y say which columns of a table are meant"
        raise RecordingError(f"{foreign.name}: no drive moved {what}", hint)
    if foreign.load:
        name, total = foreign.load.largest()
        if total > MAX_AMOUNT:
            hint = f"at most {MAX_AMOUNT:.1g} bytes, requests or ns; a line of it may be damaged"
            raise RecordingError(f"{foreign.name}: no drive counts up to {total:.3g} ({name})", hint)


def _drop_impossible_latencies(foreign: ImportedData) -> None:
    """Leave out latencies that are longer than the run was, as fio printed where its clock or a counter overflowed."""
    damaged = [
        (job, done)
        for job in foreign.jobs
        for done in (job["read"], job["write"], job["trim"])
        if done["lat_ns"]["mean"] > done["runtime_ns"] + MAX_LATE_NS
    ]
    if damaged:
        job, done = damaged[0]
        foreign.cautions.append(
            f"latencies of {count_of(len(damaged), 'result')} were left out, as they are longer than the run: "
            f"{words.span(done['lat_ns']['mean'] / 1e9)} of {words.span(done['runtime_ns'] / 1e9)} in {job['name']}"
        )
    for _, done in damaged:
        done["lat_ns"] = {"mean": 0.0, "max": 0, "percentile": {}}


def read_each(paths: Sequence[Path], hints: ImportOptions) -> list[ImportedData]:
    """Read files as `read` does, or each curve of a picture.

    Raises:
        PslcError: see `read`.
    """
    if len(paths) == 1 and is_picture(paths[0]):
        chart = import_module(f"{__name__}.chart")
        curves: list[ImportedData] = chart.read_each(paths, hints)
        for curve in curves:
            curve.about = chart.ABOUT
        return curves
    return [read(paths, hints)]


def is_picture(path: Path) -> bool:
    """Whether a file is a picture, which may show several curves."""
    return path.is_file() and _format(path) == "chart"


def text(path: Path) -> str:
    """Read the text of a file: UTF-8 or UTF-16, as a mark at its beginning or the text itself says, else Windows' 8-bit
    code page.

    Raises:
        PslcError: it cannot be read.
    """
    return decoded(gate.data(path, FILE))


def decoded(data: bytes) -> str:
    """Decode text, without the colors that programs give it on a terminal; see `text`."""
    return COLOR.sub("", _characters(data))


def _characters(data: bytes) -> str:
    if encoding := utf16(data):
        return data.decode(encoding, errors="replace").removeprefix("\ufeff")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # A piece of a file may end within a character.
        if error.start >= len(data) - 4:
            return data[: error.start].decode("utf-8-sig")
        return data.decode("cp1252", errors="replace")


def utf16(data: bytes) -> str:
    """The encoding of text in UTF-16, as PowerShell writes it; empty: it is none."""
    if data.startswith(UTF16_MARKS):
        return "utf-16"
    even, odd = data[0:200:2], data[1:200:2]
    if len(odd) > 1 and not any(odd) and all(even):
        return "utf-16-le"
    return "utf-16-be" if len(odd) > 1 and not any(even) and all(odd) else ""


def lines(path: Path) -> Iterator[str]:
    """Read a file line by line, of any length unless it is UTF-16; see `text`.

    Raises:
        PslcError: see `pslc.base.gate.lines`.
    """
    if utf16(gate.head(path, STREAM, HEAD_BYTES)):
        yield from text(path).splitlines()
        return
    for number, line in enumerate(gate.lines(path, STREAM)):
        yield line.removeprefix("\ufeff") if number == 0 else line


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


def count_of(count: int, noun: str) -> str:
    """`1 job`, `4 jobs`."""
    return f"{count} {noun}{'s' * (count != 1)}"


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
    """The formats there are, in alphabetical order; `table`, which takes any columns, is the last."""
    module_names = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    return tuple(sorted(module_names, key=lambda name: (name == "table", name)))


def load(name: str) -> Format:
    """The module of a format."""
    return cast(Format, import_module(f"{__name__}.{name}"))


@cache
def registry() -> tuple[About, ...]:
    """Descriptions of all formats, sorted by program."""
    return tuple(sorted((load(name).ABOUT for name in names()), key=lambda about: about.program.lower()))


def readable() -> str:
    """All readable formats in a line: `fio (bandwidth log, JSON, ...), iostat -x, ...`."""
    programs: dict[str, list[str]] = {}
    for about in registry():
        programs.setdefault(about.program, []).append(about.what)
    return ", ".join(f"{program} ({', '.join(whats)})" for program, whats in programs.items())


PACKED: Final = {
    b"\x1f\x8b": ("packed by gzip", "unpack it: gunzip -k FILE"),
    b"BZh": ("packed by bzip2", "unpack it: bunzip2 -k FILE"),
    b"\xfd7zXZ": ("packed by xz", "unpack it: unxz -k FILE"),
    b"(\xb5/\xfd": ("packed by Zstandard", "unpack it: unzstd FILE"),
    b"PK\x03\x04": ("a spreadsheet or a zip archive", "export the sheet as CSV, or unpack the archive"),
}
"""First bytes of files that hold others, with what they are and what to do."""


def _format(path: Path) -> str:
    # Results may stand behind what a script printed.
    for size in (HEAD_BYTES, LONG_HEAD_BYTES):
        begin = gate.head(path, STREAM, size)
        for magic, (what, hint) in PACKED.items():
            if begin.startswith(magic):
                raise RecordingError(f"{path} is {what}, which pslc does not read", hint.replace("FILE", str(path)))
        head = decoded(begin)
        for name in names():
            if load(name).matches(path, head):
                return name
    raise RecordingError(f"{path} is of no known format", f"pslc reads {readable()}; pslc's own recordings are folders")
