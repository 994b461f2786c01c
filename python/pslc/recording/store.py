"""Recordings in folders:

run.json         what was run on what, the findings and warnings, latencies, the resolved profile and the job file
series.parquet   bins of equal time and of equal bytes (column `axis`): what was moved, latencies, the drive's counters
report.html      pictures, self-contained
"""

from __future__ import annotations

import os
import tomllib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NotRequired, cast

import numpy as np
from typing_extensions import TypedDict

from pslc.base import files, gate, json_text, tabular, writer
from pslc.base.errors import GuardError, RecordingError
from pslc.base.files import Json
from pslc.recording.model import (
    SCHEMA,
    Columns,
    Count,
    Findings,
    ProfileTables,
    Recording,
    ScopeDocument,
    Seconds,
    Step,
)
from pslc.schema import warnings as warning_texts
from pslc.schema.facts import Facts
from pslc.schema.jobs import Job

if TYPE_CHECKING:
    from arro3.core import Table
    from pydantic import TypeAdapter


FILE: Final = gate.Expected(
    "a run folder has a run.json and a series.parquet, as pslc run writes them", RecordingError, gate.MAX_LOG_BYTES
)
CHANGED: Final = gate.Expected(
    "run.json was changed, or comes from a version that is too old; run it again", RecordingError
)
BINS: Final = (
    "end_ns", "read_bytes", "write_bytes", "trim_bytes", "reads", "writes", "trims", "lat_sum_ns", "lat_max_ns",
    "lat_p50_ns", "lat_p99_ns", "lat_p999_ns",
)  # fmt: skip
"""Columns that every series has, beside those of the drive."""
MAX_SUM: Final = 2.0**63
"""Largest sum of a column of `BINS`: bytes, requests or ns."""


class Document(TypedDict):
    """Fields of run.json, without those that follow from others (`Recording.document`)."""

    suite: str
    target: str
    drive: str
    seed: Count
    version: str
    wall_s: Seconds
    drive_time_s: Seconds
    capacity_bytes: Count
    interrupted: bool
    error: str | None
    job_file: str
    overrides: list[tuple[str, str]]
    profile: str
    start_ns: Count
    facts: Facts
    provenance: dict[str, str]
    jobs: list[Job]
    before: dict[str, int]
    totals: dict[str, int]
    findings: dict[str, Any]
    scope: NotRequired[ScopeDocument]
    steps: NotRequired[list[Step]]
    began_unix_ns: NotRequired[Count]
    unbegun: NotRequired[list[tuple[int, Job]]]
    series_sha256: NotRequired[str]
    error_code: NotRequired[str | None]


def save(recording: Recording, folder: Path) -> None:
    """Write run.json and series.parquet into `folder`, which is made if need be. After a kill on the way `load`
    finds what was there before, or this.

    Raises:
        GuardError: what has one of the names is not pslc's.
        OSError: they cannot be written; what was there before is left as it was.
    """
    writer.folder(folder)
    # Into memory: the writer does not survive a full disk.
    series = tabular.to_parquet(recording.series)
    saved = recording.document() | {"series_sha256": _sha256(series)}
    document = json_text.text(saved) + "\n"
    # Once the new series is in place, the document that belongs to it is this one.
    next_document = folder / "run.json.part"
    writer.write(next_document, document)
    try:
        writer.write(folder / "series.parquet", series)
    except (OSError, GuardError):
        with suppress(OSError, GuardError):
            writer.remove(next_document)
        raise
    writer.write(folder / "run.json", document)
    writer.remove(next_document)


def _sha256(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()


def load(folder: Path) -> Recording:
    """Read what `save` wrote.

    Raises:
        PslcError: there is no recording in `folder`, or it is damaged.
    """
    series = folder / "series.parquet"
    if not os.path.exists(series):
        raise RecordingError(*_nothing_in(folder, series))
    document = _document(folder, _sha256(gate.data(series, FILE)))
    columns = _columns(gate.table(series, FILE), series)
    schema = document.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise RecordingError(
            f"{folder} is of schema {schema}, newer than this pslc, which reads {SCHEMA}",
            f"pslc {document.get('version', 'of a newer version')} wrote it: install that one",
        )
    if schema != SCHEMA:
        raise RecordingError(
            f"{folder} holds a recording of schema {schema}, this pslc reads schema {SCHEMA}",
            "it is older than what the first release wrote: run it again",
        )
    gate.fits(document, str(folder / "run.json"), CHANGED, adapter(Document))
    kept: Json = {name: document[name] for name in Recording.__dataclass_fields__ if name in document}
    kept["findings"] = Findings(warning_texts.of_documents(document["findings"]))
    kept["overrides"] = [tuple(pair) for pair in document["overrides"]]
    kept["provenance"] = list(document["provenance"].items())
    recording = Recording(**kept, time=columns["time"], bytes=columns["bytes"])
    if faults := _faults(recording):
        raise CHANGED.refused(f"{folder} holds a recording that does not fit together: {gate.listed(faults, '; ')}")
    return recording


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """Schema that pydantic checks a type by."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _columns(table: Table, path: Path) -> dict[str, Columns]:
    """The series of each axis.

    Raises:
        PslcError: a column is missing, or holds something else than whole numbers from 0.
    """
    missing = [name for name in ("axis", *BINS) if name not in table.column_names]
    if missing:
        raise CHANGED.refused(f"{path} is no series of a recording: it has no {gate.listed(missing)}")
    axes = np.array(table["axis"].to_pylist(), dtype=object)
    if not all(axis in ("time", "bytes") for axis in axes):
        raise CHANGED.refused(f"{path} is no series of a recording: an axis is neither time nor bytes")
    columns: Columns = {}
    for name in table.column_names:
        if name == "axis":
            continue
        column = table[name]
        # A table without rows has no chunks.
        values = column.to_numpy() if len(column) else np.zeros(0, dtype=np.uint64)
        if column.null_count or values.dtype.kind not in "ui" or (len(values) and values.min() < 0):
            raise CHANGED.refused(f"{path}: the column {name} holds something else than whole numbers from 0")
        columns[name] = values.astype(np.uint64)
    return {axis: {name: column[axes == axis] for name, column in columns.items()} for axis in ("time", "bytes")}


def _faults(recording: Recording) -> list[str]:
    """Contradictions within a recording, a clause each."""
    from pydantic import ValidationError

    faults = []
    for axis, columns in (("time", recording.time), ("bytes", recording.bytes)):
        if (columns["end_ns"][1:] < columns["end_ns"][:-1]).any():
            faults.append(f"the series by {axis} goes back in time")
        if any(columns[name].sum(dtype=np.float64) > MAX_SUM for name in BINS[1:]):
            faults.append(f"the series by {axis} adds up to more than {MAX_SUM:.2g}")
        of_steps = sum(step["time" if axis == "time" else "bytes"] for step in recording.steps)
        if recording.steps and of_steps != len(columns["end_ns"]):
            faults.append(f"its steps have {of_steps} bins by {axis}, its series {len(columns['end_ns'])}")
    of_steps = sum(step["jobs"] for step in recording.steps)
    if recording.steps and of_steps != len(recording.jobs):
        faults.append(f"its steps have {of_steps} jobs, and it has {len(recording.jobs)}")
    own = set(recording.time) - set(BINS)
    for name, counters in (("before", recording.before), ("totals", recording.totals)):
        if missing := sorted(own - set(counters)):
            faults.append(f"{name} has no {gate.listed(missing)}")
    try:
        adapter(ProfileTables).validate_python(files.toml(recording.profile), strict=True)
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        faults.append(f"its profile: {str(error).splitlines()[0]}")
    return faults


def of_a_drive(spec: Path) -> tuple[str, str]:
    """Message and hint of the error for a drive that was given in place of its recording."""
    return f"{spec} is a drive, not a recording", f"pslc run fill --on {spec} makes one"


def _nothing_in(folder: Path, missing: Path) -> tuple[str, str]:
    """Problem and hint where there is no recording."""
    if str(folder).startswith("sim:"):
        return of_a_drive(folder)
    if not folder.exists():
        return f"{folder}: there is no such folder or file", "pslc run ... names the folder of its recording"
    if not folder.is_dir():
        return f"{folder} is a file, not a run folder", "a run folder has a run.json and a series.parquet"
    runs = sorted(path.parent for path in folder.glob("*/run.json"))
    if runs:
        return f"{folder} holds {len(runs)} recordings", f"name one of them, such as {runs[0]}"
    if list(folder.glob("points*.parquet")):
        return (
            f"{folder} is a study, not a recording",
            f"the same pslc study command with --save {folder} shows it again",
        )
    return f"{folder} holds no recording: it has no {missing.name}", "a run folder has a run.json and a series.parquet"


def _document(folder: Path, sha256: str) -> Json:
    """run.json; or the one that was to take its place when `save` was killed after it had replaced the series.

    Raises:
        PslcError: there is none, it is no JSON, or neither belongs to the series.
    """
    for name in ("run.json", "run.json.part"):
        path = folder / name
        if os.path.exists(path):
            document = gate.document(gate.text(path, FILE), str(path), FILE)
            if not isinstance(document, dict):
                raise FILE.refused(f"{path} holds no object") from None
            if document.get("series_sha256", sha256) == sha256:
                return cast(Json, document)
    if not os.path.exists(folder / "run.json"):
        raise RecordingError(*_nothing_in(folder, folder / "run.json"))
    raise FILE.refused(
        f"{folder} holds no recording: series.parquet is not the one that run.json was written with"
    ) from None
