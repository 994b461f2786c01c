"""Other programs' recordings: one file per format, found by listing. Each has `ABOUT`, which says what it is and how a
file begins (or `matches`, which looks at the beginning), and `read`, which makes an `FileContents` of one or several of
them."""

import codecs
import pkgutil
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeVar, cast, runtime_checkable

from pslc import extras
from pslc._native import trace_format
from pslc.analysis import Curve
from pslc.analysis.load import Load
from pslc.analysis.series import Floats
from pslc.base import gate, memory, words
from pslc.base.errors import RecordingError
from pslc.formats import _unread
from pslc.recording.warnings import RecordingWarning
from pslc.schema.facts import HealthJson
from pslc.schema.imports import ImportOptions
from pslc.schema.job_options import traits
from pslc.schema.jobs import Job
from pslc.schema.results import Measured
from pslc.schema.warnings import MeasurementWarning, notes

FILE = gate.Expected("give a log or results that a program wrote", RecordingError, gate.MAX_LOG_BYTES)
STREAM = replace(FILE, max_bytes=1 << 40)
"""A log that is read line by line."""
DOCUMENT_RATIO: Final = 12
"""Bytes of memory for each byte of a file that is read as a whole: JSON takes ten."""
HEAD_BYTES: Final = 8192
"""Start of a file that its format is told by."""
LONG_HEAD_BYTES: Final = 1_000_000
"""Bytes of a file's beginning that formats are detected by, if a short beginning does not suffice."""
LAST: Final = ("text_rows", "table")
"""Formats that take any program's rows, in the order in which they are tried."""
MAX_CACHED_BYTES: Final = 8 << 30
"""Largest test that fits into the SLC cache of most drives: of 45 built-in ones, 39 have more when they are empty."""
MAX_AMOUNT: Final = 1 << 63
"""Bytes or requests, and ns that they take."""
Gives = Literal["curve", "results", "load", "health", "jobs"]
"""Kind of data in a format: speed over time or position; results without a series; the load of a drive at work; its
health log; or jobs, a description that may accompany a curve."""
MAX_LATE_NS: Final = 1_000_000_000
"""Largest excess of a mean latency over the duration of its run, in ns: run times are rounded, and requests may start
in the ramp."""
DRIVE_OF_NVME: Final = re.compile(r"nvme\d+")
"""Beginning of the name of an NVMe device, which its namespaces share."""
INTERRUPT: Final = re.compile(r"^\^C", re.MULTILINE)
"""Echo of Ctrl-C, with which people end a program that goes on."""
PROMPTS: Final = re.compile(
    r"\A(?>(?:\[[^\n{\"\]]*\])?[^\n{\[]*?[$#%>] [^\n]*\n)+(?=\s*\{)|(?<=\n\})\n[^\n{}]*[$#%>][^\n{}]*\s*\Z"
)
"""Lines of a shell in front of a JSON document, and the one behind it."""
COLOR: Final = re.compile(r"\x1b\[[\d;]*m")
UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
Row = TypeVar("Row", str, list[str])
"""A line, or its cells."""


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
        mark: what the beginning of a file holds; None where the format's `matches` tells.
    """

    program: str
    what: str
    content: str
    command: str
    gives: Gives
    suite: str = ""
    mark: re.Pattern[str] | None = None


@dataclass(frozen=True)
class Exactness:
    """Accuracy of a curve that its file does not tell to the row.

    Attributes:
        position_error_bytes: how far the bytes written may be off in each bin of the curve, shape (n,).
        speed_error: the same of its speeds, in bytes/s.
    """

    position_error_bytes: Floats
    speed_error: Floats


@dataclass(frozen=True)
class ChartReading(Exactness):
    """Accuracy of a curve that was read from a picture.

    Attributes:
        name: of its colour.
        picture: everything that was read of the picture, a `pslc.chart.reading.Reading`.
    """

    name: str
    picture: Any


@dataclass
class FileContents:
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
        warnings: what to know of them, as notes, and what may be wrong with the reading.
        zeroes: the data that were written were zeroes.
        idle_s: pauses that are left out of the curve.
        counted_by: whether a program counted what it handed to the system, or the system what reached the drive; None:
            not known.
        clock_back_s: the furthest that times go back.
        bad_lines: left out.
        celsius: bytes written and the drive's temperature then, where the data tell of it.
        busy: what else went on: bytes written, and how busy others were then, from 0 to 1, of each column that tells
        it.
        load: of a drive at work; `began_unix` is when it began, in seconds, 0 where the data do not tell.
        waits: whether the load tells how long requests waited, or how busy the drive was.
        tells_busy: whether it tells how busy the drive was.
        stands_still: whether nothing moved for so long that no cause of a speed is sure: nothing tells who waited.
        health: the drive's health logs, in smartctl's names of NVMe's, the earliest first.
        drive: whose health log it is: a serial number, else the name of a device, else a model; empty: not told.
        logged_unix: when the health log was made, in seconds since 1970; 0: not told.
        logs_apart_s: seconds between the first health log and the last; 0: not told.
        path: the first file of a drive, where files are of several.
        chart: the reading of a picture; None where the data are none.
        exactness: how far the curve may be off, where it is no picture's; None: as exact as it is.
        about: the format they were read as.
    """

    name: str
    curve: Curve | None
    jobs: list[Job] = field(default_factory=list)
    rows: list[Measured] = field(default_factory=list)
    zeroes: bool = False
    clock_back_s: float = 0.0
    bad_lines: int = 0
    celsius: tuple[Floats, Floats] | None = None
    busy: tuple[tuple[Floats, Floats], ...] = ()
    load: Load | None = None
    began_unix: float = 0.0
    waits: bool = True
    tells_busy: bool = True
    stands_still: bool = False
    health: list[HealthJson] = field(default_factory=list)
    drive: str = ""
    logged_unix: float = 0.0
    logs_apart_s: float = 0.0
    path: Path | None = None
    kind: Literal["read", "write"] = "write"
    read_as: str = ""
    warnings: list[MeasurementWarning] = field(default_factory=list)
    idle_s: float = 0.0
    counted_by: Literal["program", "drive"] | None = None
    tells_options: bool = True
    chart: ChartReading | None = None
    exactness: Exactness | None = None
    about: About | None = None

    def note(self, *texts: str) -> None:
        """Add what to know of the data, a sentence each."""
        self.warnings += notes(texts)

    def warn(self, *texts: str) -> None:
        """Add what may be wrong with the reading, and what to do about it, a sentence each."""
        self.warnings += [RecordingWarning.READING.of(caution=text) for text in texts]

    def note_size(self, written: float) -> None:
        """Note that a test writes too little to tell of more than a cache; not of one that writes nothing."""
        if 0 < written <= MAX_CACHED_BYTES:
            self.note(
                f"a test of {words.size(written)} fits into the SLC cache of most drives, and tells nothing of "
                "longer writes: pslc run fill does"
            )

    def of_level(self, level: str) -> list[MeasurementWarning]:
        """Warnings of a level."""
        return [warning for warning in self.warnings if warning.level == level]

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
    def is_direct(self) -> bool:
        """Whether its jobs are known to have gone past the page cache."""
        return bool(self.jobs) and all(traits(job)["direct"] for job in self.jobs)

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
        """Whether a file that begins so is of this format; asked where `ABOUT` has no mark."""

    @staticmethod
    def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
        """The data of the files together; several are the jobs of one run."""


@runtime_checkable
class SeveralFormat(Format, Protocol):
    """A format of which one file may hold several curves."""

    @staticmethod
    def read_each(paths: Sequence[Path], hints: ImportOptions) -> list[FileContents]:
        """The data of each curve."""


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
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
    if foreign.curve is None:
        foreign.note_size(max((job["write"]["io_bytes"] for job in foreign.jobs if "sync" not in job), default=0))
    foreign.jobs += jobs
    foreign.tells_options &= all(item.tells_options for item in beside)
    for item in beside:
        _refuse_another_drive(foreign, item)
        foreign.health += item.health
    return foreign


def _refuse_another_drive(load: FileContents, health: FileContents) -> None:
    """Refuse a health log of another device than the load is of.

    Raises:
        PslcError: both name a device of NVMe, and these are two drives.
    """
    devices = [match[0] for item in (load.name, health.drive) if (match := DRIVE_OF_NVME.match(item))]
    if len(devices) == 2 and devices[0] != devices[1]:
        raise RecordingError(
            f"{load.name} and the health log of {health.drive} are of two drives", "give the health log of that drive"
        )


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


def _refuse_impossible(foreign: FileContents) -> None:
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


def _drop_impossible_latencies(foreign: FileContents) -> None:
    """Leave out latencies that are longer than the run was, as fio printed where its clock or a counter overflowed."""
    damaged = [
        (job, done)
        for job in foreign.jobs
        for done in (job["read"], job["write"], job["trim"])
        if done["lat_ns"]["mean"] > done["runtime_ns"] + MAX_LATE_NS
    ]
    if damaged:
        job, done = damaged[0]
        foreign.warn(
            f"latencies of {count_of(len(damaged), 'result')} were left out, as they are longer than the run: "
            f"{words.span(done['lat_ns']['mean'] / 1e9)} of {words.span(done['runtime_ns'] / 1e9)} in {job['name']}"
        )
    for _, done in damaged:
        done["lat_ns"] = {"mean": 0.0, "max": 0, "percentile": {}}


def read_each(paths: Sequence[Path], hints: ImportOptions) -> list[FileContents]:
    """Read files as `read` does, or each curve of a picture.

    Raises:
        PslcError: see `read`.
    """
    form = load(_format(paths[0])) if len(paths) == 1 else None
    if isinstance(form, SeveralFormat):
        several = form.read_each(paths, hints)
        for curve in several:
            curve.about = form.ABOUT
        return several
    return [read(paths, hints)]


def are_health_logs(paths: Sequence[Path]) -> bool:
    """Whether each of the files is a drive's health log.

    Raises:
        PslcError: one is of no known format, or is given twice.
    """
    _refuse_twins(paths)
    return all(load(_format(path)).ABOUT.gives == "health" for path in paths)


def is_picture(path: Path) -> bool:
    """Whether a file is a picture of pixels, which may show several curves."""
    is_drawn = path.is_file() and b"<svg" in gate.head(path, STREAM, HEAD_BYTES)
    return path.is_file() and not is_drawn and isinstance(load(_format(path)), SeveralFormat)


def text(path: Path) -> str:
    """Read the text of a file: UTF-8 or UTF-16, as a mark at its beginning or the text itself says, else Windows' 8-bit
    code page.

    Raises:
        PslcError: it cannot be read, or takes more memory than is free.
    """
    free = memory.free_bytes() or 0
    return decoded(gate.data(path, replace(FILE, max_bytes=max(gate.MAX_LOG_BYTES, free // DOCUMENT_RATIO))))


def beginning(path: Path) -> str:
    """The first characters of a file, without blanks before them."""
    return decoded(gate.head(path, STREAM, HEAD_BYTES)).lstrip()


def decoded(data: bytes) -> str:
    """Decode text, without what a terminal adds to it: colors, the echo of Ctrl-C, and prompts about a JSON document;
    see `text`."""
    return PROMPTS.sub("", INTERRUPT.sub("", COLOR.sub("", _characters(data))))


def _characters(data: bytes) -> str:
    return data.decode(_encoding(data), errors="replace").removeprefix("\ufeff")


def _encoding(data: bytes) -> str:
    """The encoding of text that begins so."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        # A piece of a file may end within a character.
        return utf16(data) or ("utf-8" if error.start >= len(data) - 4 else "cp1252")
    return utf16(data) or "utf-8"


def utf16(data: bytes) -> str:
    """The encoding of text in UTF-16, as PowerShell writes it; empty: it is none."""
    if data.startswith(UTF16_MARKS):
        return "utf-16"
    even, odd = data[0:200:2], data[1:200:2]
    if len(odd) > 1 and not any(odd) and all(even):
        return "utf-16-le"
    return "utf-16-be" if len(odd) > 1 and not any(even) and all(odd) else ""


def lines(path: Path) -> Iterator[str]:
    """Read a file of any length line by line; its beginning tells the encoding. See `text`.

    Raises:
        PslcError: see `pslc.base.gate.lines`.
    """
    for number, line in enumerate(gate.lines(path, STREAM, _encoding(gate.head(path, STREAM, HEAD_BYTES)))):
        if number == 0:
            line = line.removeprefix("\ufeff")
        yield (COLOR.sub("", line) if "\x1b" in line else line).removeprefix("^C")


def _refuse_part_of_recording(path: Path) -> None:
    if path.suffix in (".html", ".json", ".parquet") and (path.parent / "series.parquet").is_file():
        raise RecordingError(f"{path} is a part of a recording", f"give its folder: {path.parent}")


def refuse_trace(path: Path) -> None:
    """Refuse a trace of requests, of a format that `pslc trace` knows.

    Raises:
        PslcError: it is one.
    """
    if kind := trace_format(str(path)):
        raise RecordingError(
            f"{path} is a trace of requests ({kind}), not a measurement", f"pslc trace show {path} shows what is in it"
        )


def only(paths: Sequence[Path]) -> Path:
    """The file of a format whose files each stand for themselves.

    Raises:
        PslcError: there are several.
    """
    if len(paths) > 1:
        raise RecordingError(f"{len(paths)} files of results at once", "give one; they belong to runs of their own")
    return paths[0]


def count_of(count: int, noun: str) -> str:
    """`1 job`, `4 jobs`."""
    return f"{count} {noun}{'s' * (count != 1)}"


class Reader:
    """Reads a file line by line; what cannot be read is an error with its place, or is counted."""

    def __init__(self, path: Path, hints: ImportOptions, expected: str = "") -> None:
        """`expected` says what a line should be."""
        self.path, self.hints, self.expected, self.bad = path, hints, expected, 0
        self._number, self._line = 0, ""

    def each(self, rows: Iterable[Row], first: int = 1, separator: str = ",") -> Iterator[Row]:
        """Yield each line, or its cells; the first is line `first` of the file."""
        for number, row in enumerate(rows, first):
            self._number, self._line = number, row if isinstance(row, str) else separator.join(row)
            yield row

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Refuse the line if what is done with it raises that a cell is missing, or is no number; see `refuse`."""
        try:
            yield
        except (ValueError, LookupError):
            self.refuse()

    def refuse(self) -> None:
        """The line is not what is expected.

        Raises:
            PslcError: unless bad lines are to be left out.
        """
        if not self.hints.skip_bad:
            hint = f"{self.expected} is expected; --skip-bad leaves such lines out"
            raise RecordingError(f'{self.path}:{self._number}: "{self._line.strip()[:60]}" cannot be read', hint)
        self.bad += 1


@contextmanager
def undamaged(path: Path, hint: str) -> Iterator[None]:
    """Read a document.

    Raises:
        PslcError: what it holds is not what its format has in that place.
    """
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise RecordingError(f"{path} is damaged: {error}", hint) from None


@cache
def _of_extras() -> dict[str, Format]:
    """Formats that extras bring, by the names of their modules."""
    return {form.__name__.rpartition(".")[2]: form for form in extras.services(extras.Service.FORMATS)}


@cache
def names() -> tuple[str, ...]:
    """The formats there are, in alphabetical order, but for those of any program, which are the last."""
    own = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    module_names = [*_of_extras(), *(name for name in own if name != "extra")]
    return (*sorted(name for name in module_names if name not in LAST), *LAST)


def load(name: str) -> Format:
    """The module of a format."""
    return _of_extras().get(name) or cast(Format, import_module(f"{__name__}.{name}"))


@cache
def registry() -> tuple[About, ...]:
    """Descriptions of all formats, sorted by program."""
    return tuple(sorted((load(name).ABOUT for name in names()), key=lambda about: about.program.lower()))


PACKED: Final = {
    b"\x1f\x8b": ("packed by gzip", "unpack it: gunzip -k FILE"),
    b"BZh": ("packed by bzip2", "unpack it: bunzip2 -k FILE"),
    b"\xfd7zXZ": ("packed by xz", "unpack it: unxz -k FILE"),
    b"(\xb5/\xfd": ("packed by Zstandard", "unpack it: unzstd FILE"),
    b"PK\x03\x04": ("a spreadsheet or a zip archive", "export the sheet as CSV, or unpack the archive"),
}
"""First bytes of files that hold others, with what they are and what to do."""


SHELL_ERROR: Final = re.compile(
    r"^.{0,200}\b(?:(?P<denied>permission denied|not permitted|must be root)|not found\b).{0,80}$",
    re.IGNORECASE | re.MULTILINE,
)
"""A line in which a shell or a program says that it may not do what it was to do, or is not there."""
SHELL_HINTS: Final = (
    "install that program, or give its whole path: an ordinary user's PATH lacks /usr/sbin",
    "repeat the command that made the file as root, with sudo before it",
)
"""Remedies for a program that is not there, and for one that was denied."""


def _is_of(name: str, path: Path, head: str) -> bool:
    """Whether a file that begins so is of this format."""
    form = load(name)
    return bool(form.ABOUT.mark.search(head)) if form.ABOUT.mark else form.matches(path, head)


def _format(path: Path) -> str:
    # Results may stand behind what a script printed, and the first line of a log may be long.
    heads: list[str] = []
    for size in (HEAD_BYTES, LONG_HEAD_BYTES):
        begin = gate.head(path, STREAM, size)
        for magic, (what, hint) in PACKED.items():
            if begin.startswith(magic):
                raise RecordingError(f"{path} is {what}, which pslc does not read", hint.replace("FILE", str(path)))
        head = decoded(begin)
        heads.append(head)
        for name in names()[: -len(LAST)]:
            if _is_of(name, path, head):
                return name
    if unread := _unread.recognized(heads[0]):
        raise RecordingError(f"{path} is the output of {unread.what}, which pslc does not read", unread.hint)
    for head in heads:
        for name in LAST:
            if _is_of(name, path, head):
                return name
    if not any(heads):
        hint = "was the program that wrote it ended early, or denied (then repeat it as root, with sudo)?"
        raise RecordingError(f"{path} is empty", hint)
    if error := next(filter(None, map(SHELL_ERROR.search, heads)), None):
        what = f'{path} holds an error and no data: "{error[0].strip()}"'
        raise RecordingError(what, SHELL_HINTS[bool(error["denied"])])
    refuse_trace(path)
    _refuse_part_of_recording(path)
    first = next((line.strip() for line in heads[0].splitlines() if line.strip()), "")
    raise RecordingError(
        f'{path} is of no known format: it begins "{first[:60]}"',
        "pslc reads tables and text with time and bytes in them, and the programs that docs/formats.md lists",
    )
