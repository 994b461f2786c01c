"""Traces of anyone's work: which there are, what is in them, and how they are to be replayed. They are read by the
native part; Parquet is read here."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final, cast

import numpy as np

from pslc._native import TraceFile, trace_columns, trace_format
from pslc.base import gate, units, words, writer
from pslc.base.errors import PslcError, RecordingError
from pslc.schema.surveys import OPS, Fit, Pace, ReplayDocument, Survey

PARQUET = b"PAR1"
FILE = gate.Expected("pslc trace formats lists what a trace can be", RecordingError, 1 << 50)
"""A trace may be of any length: it is read as a stream."""
ROWS = 1 << 16
"""Rows of a batch."""
COLUMN_TYPES: Final = {"time_ns": "u8", "op": "u1", "offset": "u8", "size": "u4", "device": "u4", "took_ns": "u8"}
"""Columns of a trace in Parquet, each with its type in numpy."""
DEPTH = 1024
"""The most requests under way at a trace's own pace: what a queue of an NVMe drive holds at most, nearly."""


@dataclass(frozen=True)
class Part:
    """Part of a trace, and how its file is read.

    Attributes:
        format: one of `pslc trace formats`; None: detected.
        columns: of a table, pairs of a role and a column's name.
        skip_broken: leave out lines that cannot be read, and count them.
        device: one device of several; None: all of them.
        from_s, to_s: since its first request.
        without: kinds of requests that are left out.
        scale, align: offsets are divided by `scale`, then rounded down to multiples of `align` bytes.
    """

    format: str | None = None
    columns: tuple[tuple[str, str], ...] = ()
    skip_broken: bool = False
    device: str | None = None
    from_s: float = 0.0
    to_s: float | None = None
    without: tuple[str, ...] = ()
    scale: int = 1
    align: int = 1


@dataclass(frozen=True)
class Replay:
    """Options of a trace's replay.

    Attributes:
        part: the part of the trace that is replayed.
        pace: `original`, at its own times, or `asap`, as soon as one of `iodepth` is free.
        speed: 2 is twice as fast as recorded.
        iodepth: the most requests under way; None: 1024 at its own pace, 32 else.
        fit: addresses past the end of the drive are an error (`exact`), begin again at 0 (`wrap`), lie side by side
            in the order of their first use (`compact`), or shrink alike (`scale`).
        prefill: write what it reads first, before it begins.
        what_if: replay it with other caches too.
    """

    part: Part = Part()
    pace: Pace = "original"
    speed: float = 1.0
    iodepth: int | None = None
    fit: Fit = "exact"
    prefill: bool = False
    what_if: bool = False

    def document(self) -> ReplayDocument:
        """The options as run.json holds them."""
        return cast(ReplayDocument, asdict(self))


def part(
    format_name: str | None,
    columns: str | None,
    skip_broken: bool,
    device: str | None,
    begin: str | None,
    end: str | None,
) -> Part:
    """Build the part of a trace from options of the command line.

    Raises:
        PslcError: an option cannot be parsed.
    """
    pairs = []
    for pair in columns.split(",") if columns else ():
        what, equals, name = pair.partition("=")
        if not equals or not name:
            raise RecordingError(
                f'--columns has "{pair}"', "what a column is, and its name: time=ts:us,op=kind,offset=lba:sectors"
            )
        pairs.append((what.strip(), name.strip()))
    begin_s = units.seconds(begin, "--from") if begin else 0.0
    end_s = units.seconds(end, "--to") if end else None
    if end_s is not None and end_s <= begin_s:
        raise RecordingError(
            f"--to {end} is not after --from {begin or '0s'}", "both are since the trace's first request"
        )
    return Part(format_name, tuple(pairs), skip_broken, device, begin_s, end_s)


def is_trace(path: Path, part: Part) -> bool:
    """Whether a file is a trace: not a job file, and of a format that is known.

    Raises:
        PslcError: it cannot be read.
    """
    # `Path.is_file` raises an error for a name that is too long.
    if not os.path.isfile(path) or path.suffix in (".fio", ".job", ".ini"):
        return False
    return part.format is not None or _is_parquet(path) or bool(part.columns) or trace_format(str(path)) is not None


def opened(path: Path, part: Part) -> TraceFile:
    """A trace that can be surveyed, converted and replayed."""
    end = None if part.to_s is None else round(part.to_s * 1e9)
    batches = (lambda: _parquet(path, part)) if _is_parquet(path) else None
    begin = round(part.from_s * 1e9)
    return TraceFile(
        str(path), part.format, list(part.columns), part.skip_broken, part.device, begin, end, list(part.without),
        part.scale, part.align, batches,
    )  # fmt: skip


def one_device(path: Path, part: Part, survey: Survey) -> None:
    """Say which devices there are where there are several.

    Raises:
        PslcError: there are, and none was asked for.
    """
    if part.device is not None or len(survey["devices"]) < 2:
        return
    largest = sorted(survey["devices"], key=lambda device: -sum(device["bytes"].values()))
    shown = [
        f"{device['device']} ({words.count(sum(device['count'].values()))} requests, "
        f"{words.size(device['bytes']['write'])} written, {words.size(device['bytes']['read'])} read)"
        for device in largest[:12]
    ]
    more = f", and {len(largest) - 12} more" if len(largest) > 12 else ""
    raise RecordingError(
        f"{path} is a trace of {len(largest)} devices: {', '.join(shown)}{more}",
        f"take one: --device {largest[0]['device']}",
    )


def write_parquet(path: Path, part: Part, to: Path) -> int:
    """Write a trace as Parquet: `time_ns`, `op` (see `OPS`), `offset`, `size`, `device` (a number; the names are in
    the schema's metadata) and `took_ns`; returns the number of requests. It is read twice, as a stream.

    Raises:
        PslcError: the trace cannot be read or the file not be written.
    """
    count, names = 0, []
    # What the file begins with names all devices.
    for batch in opened(path, part).read(ROWS):
        count, names = count + len(batch["op"]), batch["devices"]

    def tables() -> Iterator[dict[str, Any]]:
        for batch in opened(path, part).read(ROWS):
            raw: Mapping[str, Any] = batch
            yield {name: np.frombuffer(raw[name], "<" + kind) for name, kind in COLUMN_TYPES.items()}

    write_requests(to, names, tables())
    return count


def write_requests(to: Path, devices: Sequence[str], tables: Iterator[Mapping[str, Any]]) -> None:
    """Write requests as Parquet, as `write_parquet` does: tables of arrays by the names in `COLUMN_TYPES`.

    Raises:
        PslcError: the file cannot be written.
    """
    from arro3.core import Array, DataType, Field, RecordBatch, RecordBatchReader, Schema
    from arro3.io import write_parquet as write

    arrow = {"u1": DataType.uint8(), "u4": DataType.uint32(), "u8": DataType.uint64()}
    fields = [Field(name, arrow[kind], nullable=False) for name, kind in COLUMN_TYPES.items()]
    schema = Schema(fields, metadata={"pslc.devices": json.dumps(list(devices))})

    def batches() -> Iterator[RecordBatch]:
        for table in tables:
            columns = [Array.from_numpy(table[name].astype("<" + kind)) for name, kind in COLUMN_TYPES.items()]
            yield RecordBatch.from_arrays(columns, schema=schema)

    try:
        with writer.Stream(to, writer.Replace.NEVER) as file:
            # It asks for no more of a file than this one does.
            write(RecordBatchReader.from_batches(schema, batches()), cast(IO[bytes], file), compression="zstd(1)")
    except OSError as error:
        raise RecordingError(
            f"{to}: {error.strerror}", "give a file that is not there yet, on a disk with room"
        ) from None


def _is_parquet(path: Path) -> bool:
    return gate.head(path, FILE, len(PARQUET)) == PARQUET


Columns = tuple[bytes, bytes, bytes, bytes, bytes, bytes, list[str]]


def _parquet(path: Path, part: Part) -> Iterator[Columns]:
    """The batches of a Parquet file, as `TraceFile` takes them."""
    footer = gate.footer(path, FILE)
    described = trace_columns(list(footer.types), list(part.columns))
    columns = {what: (name, unit) for what, name, unit in described}
    names = _devices(footer.metadata.get("pslc.devices", "[]"), path)
    try:
        for batch in gate.batches(path, FILE, [name for name, _ in columns.values()]):
            yield _batch(batch, columns, names)
    except PslcError:
        raise
    except Exception as error:  # The reader's errors are of many kinds.
        raise RecordingError(f"{path}: {error}", "columns are numbers, and op is read, write, trim or flush") from None


def _devices(text: str, path: Path) -> list[str]:
    """The names of a trace's devices, as `write_parquet` keeps them."""
    devices = gate.document(text, f"{path}: pslc.devices", FILE)
    if not isinstance(devices, list) or not all(isinstance(name, str) for name in devices):
        raise FILE.refused(f"{path}: pslc.devices is no list of names") from None
    return devices


def _batch(batch: Any, columns: dict[str, tuple[str, int]], names: list[str]) -> Columns:
    count = batch.num_rows

    def numbers(what: str, kind: str) -> bytes:
        if what not in columns:
            return np.zeros(count, dtype=kind).tobytes()
        name, unit = columns[what]
        values = np.asarray(batch.column(name).to_numpy())
        if unit == 1 and values.dtype == np.dtype(kind):
            return values.tobytes()
        if len(values) and values.min() < 0:
            raise RecordingError(f"column {name} has a value below 0", "times, offsets and sizes are not negative")
        scaled = values * float(unit) if values.dtype.kind == "f" else values.astype(np.uint64) * np.uint64(unit)
        if len(scaled) and scaled.max() > np.iinfo(kind).max:
            raise RecordingError(f"column {name} has {scaled.max()}, too large", "a size is below 4 GiB")
        return scaled.astype(kind).tobytes()

    op = batch.column(columns["op"][0])
    if str(op.type) == "UInt8" or "uint8" in str(op.type).lower():
        kinds = np.asarray(op.to_numpy()).astype("u1")
        if len(kinds) and kinds.max() >= len(OPS):
            raise RecordingError(f"column {columns['op'][0]} has {kinds.max()}", f"numbers are of {', '.join(OPS)}")
    else:
        kinds = np.array([_kind(word) for word in op.to_pylist()], dtype="u1")
    if "device" not in columns:
        device = np.zeros(count, dtype="<u4").tobytes()
        names[:] = names or ["0"]
    elif names and "int" in str(batch.column(columns["device"][0]).type).lower():
        device = numbers("device", "<u4")
    else:
        numbered = {name: number for number, name in enumerate(names)}
        batches = [
            numbered.setdefault(str(name), len(numbered)) for name in batch.column(columns["device"][0]).to_pylist()
        ]
        names[:] = numbered
        device = np.array(batches, dtype="<u4").tobytes()
    times, took = numbers("time", "<u8"), numbers("took", "<u8")
    return times, took, kinds.tobytes(), numbers("offset", "<u8"), numbers("size", "<u4"), device, names


def _kind(word: Any) -> int:
    first = str(word)[:1].lower()
    try:
        return "rwtf".index({"d": "t", "u": "t", "s": "f"}.get(first, first)) if first else -1
    except ValueError:
        raise RecordingError(f'"{word}" is no operation', f"{', '.join(OPS)}, or their first letters") from None
