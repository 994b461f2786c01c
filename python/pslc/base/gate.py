"""The gate: every file that pslc did not just write itself is read through here.

A regular file of limited size is opened without waiting, so that neither a pipe nor a device can hang a command or
fill the memory. Text is decoded, JSON is held against a schema, and a Parquet table is judged by its footer. Tables and
pictures are then decoded in a process of its own (`pslc.base.unpacker`). What is refused is a `PslcError` of the kind
that the reader names.
"""

from __future__ import annotations

import io
import json as _json
import math
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NoReturn, TypeVar, cast

from pslc.base import children, locks, rights
from pslc.base import footer as footers
from pslc.base.errors import PslcError
from pslc.base.footer import Footer
from pslc.base.live_lines import Live

if TYPE_CHECKING:
    import numpy as np
    from arro3.core import RecordBatch, Table
    from numpy.typing import NDArray
    from pydantic import TypeAdapter

T = TypeVar("T")

MAX_TEXT_BYTES: Final = 16_000_000
"""Size limit of a file that a person writes, in bytes: a job file, a profile, a study."""
MAX_LOG_BYTES: Final = 64_000_000
"""Size limit of a file that is held in memory as a whole, in bytes: another program's results, a recording's
run.json."""
MAX_LINE_BYTES: Final = 1_000_000
"""Length limit of a line, in bytes, if a file is read line by line and may be of any length."""
LINES_A_DRAWING: Final = 1 << 14
"""Lines after which it is drawn anew how much of a file was read."""
QUIET_S: Final = 1.0
"""Seconds of reading in which nothing is drawn."""
MAX_NUMBER: Final = 2.0**128
"""Size of a number in JSON. The longest counters of a drive (NVMe health log) have 128 bits."""
MAX_DEPTH: Final = 100
"""Levels of nested lists and objects in JSON."""
MAX_COLUMNS: Final = 2000
"""Largest number of columns of a Parquet table."""
MAX_TABLE_BYTES: Final = 256_000_000
"""Size limit of an unpacked Parquet table that is held in memory as a whole, in bytes."""
FREE_BYTES: Final = 16_000_000
"""Unpacked size of a Parquet table that is never too much for its file."""
MAX_RATIO: Final = 200
"""Bytes of a Parquet table for each byte of its file, beyond `FREE_BYTES`; traces and recordings have 2 to 30."""
MIN_ROW_BYTES: Final = 32
"""Size that a row counts with at least, in bytes: a request of a trace takes as much memory."""
CELL_BYTES: Final = 8
BATCH_BYTES: Final = 16_000_000
"""Size of the numbers in a batch of rows that is read at once, in bytes."""
MAX_BATCH_ROWS: Final = 1 << 16
MAX_UNPACKER_BYTES: Final = 400_000_000
"""Memory of the process that reads a Parquet file."""
MAX_PICTURE_BYTES: Final = 32_000_000
"""Size limit of a picture's file, in bytes."""
MAX_PICTURE_PIXELS: Final = 16_000_000
"""Largest number of pixels of a picture: a screen of 5,120 x 2,880 has 14.7 million. Decoded, they take seven bytes
each in the unpacker."""
MAX_PICTURE_SECONDS: Final = 30
UNPACKER: Final = Path(__file__).with_name("unpacker.py")
MAX_FAULTS: Final = 8
"""Faults of a document, and names of a list, that one message spells out."""
KINDS: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)  # fmt: skip


@dataclass(frozen=True)
class Expected:
    """Expectations of a foreign file: its size limit, and how errors about it read.

    Attributes:
        hint: the next step where the file cannot be used: "a profile is a TOML file".
        error: class of the errors.
        max_bytes: size limit of the file.
    """

    hint: str
    error: type[PslcError] = PslcError
    max_bytes: int = MAX_TEXT_BYTES

    def refused(self, what: str) -> PslcError:
        """The error that says `what`, with this hint."""
        return self.error(what, self.hint)


@contextmanager
def opened(path: Path, expected: Expected) -> Iterator[BinaryIO]:
    """Open a regular file for reading.

    Raises:
        PslcError: there is none, it is a folder, pipe, device or socket, it is too large, or it cannot be read, within
            the `with` block too.
    """
    if "\0" in str(path):
        raise expected.refused(f"{str(path)!r} is no name of a file: it has a NUL")
    try:
        number = os.open(path, locks.READ)
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            os.close(number)
            raise expected.refused(f"{path} is {kind(status.st_mode)}, not a regular file")
        with open(number, "rb") as file:
            if status.st_size > expected.max_bytes:
                raise expected.refused(f"{path} has {status.st_size:,} bytes; the limit is {expected.max_bytes:,}")
            yield file
    except FileNotFoundError:
        raise expected.refused(f"{path}: there is no such file") from None
    except OSError as error:
        # Windows denies folders.
        if path.is_dir():
            raise expected.refused(f"{path} is a folder, not a regular file") from None
        hint = rights.hint(path) if isinstance(error, PermissionError) else expected.hint
        raise expected.error(f"{path}: {error.strerror or error}", hint) from None


def kind(mode: int) -> str:
    """Kind of file that a mode stands for, with its article: `a pipe`."""
    return next((words for test, words in KINDS if test(mode)), "a file of another kind")


def data(path: Path, expected: Expected) -> bytes:
    """Read the bytes of a file.

    Raises:
        PslcError: see `opened`.
    """
    with opened(path, expected) as file:
        # Files of the kernel's say that they have 0 bytes, and others may grow meanwhile.
        content = file.read(expected.max_bytes + 1)
    if len(content) > expected.max_bytes:
        raise expected.refused(f"{path} has more than {expected.max_bytes:,} bytes, which is the limit") from None
    return content


def head(path: Path, expected: Expected, count: int) -> bytes:
    """Read the first `count` bytes of a file of any size; fewer where it has fewer.

    Raises:
        PslcError: see `opened`.
    """
    with opened(path, replace(expected, max_bytes=sys.maxsize)) as file:
        return file.read(count)


def text(path: Path, expected: Expected) -> str:
    """Read the text of a file: UTF-8, a mark at its beginning left out.

    Raises:
        PslcError: see `opened`; or it is no UTF-8.
    """
    try:
        return data(path, expected).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise expected.refused(f"{path}: not a text file") from None


def lines(path: Path, expected: Expected, encoding: str = "utf-8") -> Iterator[str]:
    """Read a file line by line, with its progress on a terminal; what the encoding does not have is replaced.

    Raises:
        PslcError: see `opened`; or a line has more than `MAX_LINE_BYTES`.
    """
    with opened(path, expected) as raw, reading_progress(path, raw) as draw:
        file = io.TextIOWrapper(raw, encoding, errors="replace", newline="\n")
        number = 0
        while line := file.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(line) > MAX_LINE_BYTES:
                raise expected.refused(
                    f"{path}:{number}: the line has more than {MAX_LINE_BYTES:,} bytes, which is the limit"
                ) from None
            if number % LINES_A_DRAWING == 0:
                draw()
            yield line.rstrip("\r\n")


@contextmanager
def reading_progress(path: Path, file: BinaryIO) -> Iterator[Callable[[], None]]:
    """A call that draws how much of a file was read; it draws nothing in the first second, and where stderr is no
    terminal."""
    whole, since = os.fstat(file.fileno()).st_size, time.monotonic()
    with Live(sys.stderr) as live:

        def draw() -> None:
            if live.shown and time.monotonic() - since > QUIET_S:
                live.draw([f"reading {path.name}: {file.tell() / 1e6:,.0f} of {whole / 1e6:,.0f} MB"])

        yield draw


def json(path: Path, schema: TypeAdapter[T], expected: Expected) -> T:
    """Read a JSON file that fits a schema; see `document`.

    Raises:
        PslcError: see `text` and `document`.
    """
    return cast(T, document(text(path, expected), str(path), expected, schema))


def document(text: str, place: str, expected: Expected, schema: TypeAdapter[Any] | None = None) -> Any:
    """Parse a JSON text whose numbers are finite, and hold it against a schema.

    Args:
        place: what errors call it.
        schema: types as in JSON, nothing converted; None: any document.

    Raises:
        PslcError: it is no JSON, is nested too deeply, has a number beyond `MAX_NUMBER`, or does not fit the schema;
            all faults are in one message.
    """
    try:
        document = _json.loads(text, parse_constant=_refuse_number, parse_float=_number, parse_int=_whole)
    except RecursionError:
        raise expected.refused(f"{place} is no JSON: it is nested in more than {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise expected.refused(f"{place} is no JSON: {error}") from None
    if _deeper(document, MAX_DEPTH):
        raise expected.refused(f"{place} is nested in more than {MAX_DEPTH} levels") from None
    if schema is not None:
        fits(document, place, expected, schema)
    return document


def fits(document: Any, place: str, expected: Expected, schema: TypeAdapter[Any]) -> None:
    """Hold what JSON said against a schema.

    Raises:
        PslcError: it does not fit; all faults are in one message.
    """
    from pydantic import ValidationError

    try:
        # From JSON, where a list may be a tuple; surrogates are text that no UTF-8 has.
        schema.validate_json(_json.dumps(document), strict=True)
    except (ValidationError, ValueError) as error:
        faults = error.errors() if isinstance(error, ValidationError) else [{"loc": (), "msg": str(error)}]
        # A union has a fault for each of its members, at one place.
        places = {".".join(map(str, filter(_is_place, fault["loc"]))): str(fault["msg"]) for fault in faults}
        spelt = [f"{at}: {why}" if at else why for at, why in places.items()]
        raise expected.refused(f"{place} does not fit: {listed(spelt, '; ')}") from None


def _is_place(part: Any) -> bool:
    """Whether a part of a fault's place is a key or a number, not one of pydantic's names of types."""
    return isinstance(part, int) or (bool(part) and not set("[](),") & set(part))


def _deeper(value: Any, levels: int) -> bool:
    """Whether lists and objects are nested in more than `levels` levels."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels < 0 or any(_deeper(member, levels - 1) for member in inside if isinstance(member, dict | list))


def _refuse_number(word: str) -> NoReturn:
    raise ValueError(f"{word[:40]} is no number of JSON's")


def _number(word: str) -> float:
    number = float(word)
    if not math.isfinite(number) or abs(number) > MAX_NUMBER:
        raise ValueError(f"{word[:40]} is beyond {MAX_NUMBER:.2g}, the limit of a number")
    return number


def _whole(word: str) -> int:
    if len(word) > 40 or abs(int(word)) > MAX_NUMBER:
        raise ValueError(f"{word[:40]} is beyond {MAX_NUMBER:.2g}, the limit of a number")
    return int(word)


def footer(path: Path, expected: Expected) -> Footer:
    """Read the footer of a Parquet file, and judge by it whether the table may be read.

    Raises:
        PslcError: see `opened`; it is no Parquet file, or has too many columns, or too much comes out of it.
    """
    with opened(path, expected) as file:
        try:
            summary = footers.read(file)
        except footers.FooterError as error:
            raise expected.refused(f"{path} is no table of Parquet: {error}") from None
        limit = FREE_BYTES + MAX_RATIO * file.seek(0, os.SEEK_END)
    if len(summary.types) > MAX_COLUMNS:
        raise expected.refused(f"{path} has {len(summary.types):,} columns; the limit is {MAX_COLUMNS:,}") from None
    size = _unpacked_bytes(summary)
    if size > limit:
        raise expected.refused(
            f"{path} has {size:,} bytes unpacked; the limit is {limit:,}, {MAX_RATIO} times its size"
        ) from None
    return summary


def _unpacked_bytes(of: Footer) -> int:
    return max(of.unpacked_bytes, of.rows * max(MIN_ROW_BYTES, CELL_BYTES * len(of.types)))


def batches(path: Path, expected: Expected, columns: Sequence[str] | None = None) -> Iterator[RecordBatch]:
    """Read a Parquet table in batches of rows, in a process of its own: whatever the file does to the reader, it does
    not do it to this one.

    Args:
        columns: names of those that are wanted; None: all. Each has to be of numbers or text.

    Raises:
        PslcError: see `footer`; or the file is damaged.
    """
    summary = footer(path, expected)
    wide = CELL_BYTES * max(1, len(summary.types))
    asked = {
        "columns": columns,
        "batch": max(1, min(MAX_BATCH_ROWS, BATCH_BYTES // wide)),
        "memory_bytes": MAX_UNPACKER_BYTES,
        "seconds": 10 + (path.stat().st_size + _unpacked_bytes(summary)) // 10_000_000,
    }
    command = [sys.executable, "-I", str(UNPACKER), _json.dumps(asked)]
    quiet = {name: value for name, value in os.environ.items() if name != "RUST_BACKTRACE"}
    with (
        opened(path, expected) as file,
        children.start(command, stdin=file, stdout=children.PIPE, stderr=children.PIPE, env=quiet) as child,
    ):
        try:
            yield from _received(path, expected, child, summary.rows)
        finally:
            child.kill()


def _received(path: Path, expected: Expected, child: children.Popen[bytes], rows: int) -> Iterator[RecordBatch]:
    """The batches that the unpacker sends; what it says when it ends early is the error."""
    from arro3.io import read_ipc_stream

    assert child.stdout is not None
    assert child.stderr is not None
    try:
        for batch in read_ipc_stream(child.stdout):
            rows -= batch.num_rows
            yield batch
    except (GeneratorExit, KeyboardInterrupt, SystemExit, PslcError):
        raise
    except BaseException:  # A panic of the native part is no Exception.
        child.kill()
        rows = -1
    if child.wait() != 0 or rows != 0:
        why = _last_words(child.stderr.read()) or "its data are not as it says"
        raise expected.refused(f"{path} is a damaged table of Parquet: {why[:200]}") from None


def table(path: Path, expected: Expected) -> Table:
    """Read a whole Parquet table of numbers and text.

    Raises:
        PslcError: see `batches`; or it has more than `MAX_TABLE_BYTES`.
    """
    from arro3.core import Table

    summary = footer(path, expected)
    size = _unpacked_bytes(summary)
    if size > MAX_TABLE_BYTES:
        raise expected.refused(f"{path} has {size:,} bytes unpacked; the limit is {MAX_TABLE_BYTES:,}") from None
    parts, total = [], 0
    for batch in batches(path, expected):
        parts.append(batch)
        total += batch.nbytes
        if total > MAX_TABLE_BYTES:
            raise expected.refused(
                f"{path} has more than {MAX_TABLE_BYTES:,} bytes unpacked, which is the limit"
            ) from None
    return Table.from_batches(parts)


def picture(path: Path, expected: Expected) -> NDArray[np.uint8]:
    """Decode a picture (PNG, JPEG, WebP, GIF or BMP) in a process of its own, laid over white.

    Returns:
        Red, green and blue of each pixel, shape (height, width, 3).

    Raises:
        PslcError: see `opened`; it is no such picture, has more than `MAX_PICTURE_PIXELS`, or is damaged.
    """
    import numpy as np

    asked = {"pixels": MAX_PICTURE_PIXELS, "memory_bytes": MAX_UNPACKER_BYTES, "seconds": MAX_PICTURE_SECONDS}
    command = [sys.executable, "-I", str(UNPACKER), _json.dumps(asked)]
    with opened(path, replace(expected, max_bytes=MAX_PICTURE_BYTES)) as file:
        done = children.run(command, stdin=file)
    first, _, pixels = done.out.partition(b"\n")
    size = [int(word) for word in first.split()]
    if done.code != 0 or len(size) != 2 or len(pixels) != 3 * size[0] * size[1]:
        why = _last_words(done.errors) or "it cannot be decoded"
        raise expected.refused(f"{path} is no picture that can be read: {why[:200]}")
    return np.frombuffer(pixels, dtype=np.uint8).reshape(size[1], size[0], 3)


def _last_words(stderr: bytes) -> str:
    """Reason why the unpacker ended, in its own words; empty where it was ended."""
    words = stderr.decode(errors="replace").splitlines()
    return next((line.removeprefix("error: ") for line in reversed(words) if line.startswith("error: ")), "")


def listed(names: Iterable[str], between: str = ", ") -> str:
    """Names one after the other, at most `MAX_FAULTS` of them, and how many more there are."""
    every = list(names)
    more = [f"and {len(every) - MAX_FAULTS:,} more"] if len(every) > MAX_FAULTS else []
    return between.join([*every[:MAX_FAULTS], *more])
