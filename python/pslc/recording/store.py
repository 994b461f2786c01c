"""A recording: everything a run measured, and everything needed to make it again. On disk it is a folder:

run.json         what was run on what, the findings and doubts, latencies, the resolved profile and the job file
series.parquet   bins of equal time and of equal bytes (column `axis`): what was moved, latencies, the drive's counters
report.html      pictures, self-contained
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, NotRequired, TypeVar, cast

import numpy as np
from annotated_types import Ge, Lt
from numpy.typing import NDArray
from typing_extensions import TypedDict

from pslc.base import files, gate, tabular, writer
from pslc.base.errors import GuardError, RecordingError
from pslc.base.files import Json
from pslc.schema import warnings
from pslc.schema.facts import Device, Facts, Moment
from pslc.schema.jobs import Job
from pslc.schema.warnings import MeasurementWarning

if TYPE_CHECKING:
    import pandas
    import polars
    from arro3.core import Table
    from pydantic import TypeAdapter

    from pslc.analysis import CacheEnd, ExplainedPhase, WriteAnalysis
    from pslc.charts.chart import Chart
    from pslc.charts.drawing import Drawing
    from pslc.charts.style import Style

Columns = dict[str, NDArray[np.uint64]]

F = TypeVar("F")

FITTED: Final = "fitted to"
"""First words of the provenance of a twin's value that `pslc fit` determined from data."""
TWIN_TAILS: Final = (
    "this drive is a twin, fitted to speeds and mean times: it does not predict latencies of the slowest "
    "requests (99 % and beyond)"
)
"""Note of a recording of a twin."""

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
SCHEMA: Final = 2
"""Version of the layout of run.json. Version 1 (not written into it) had warnings without codes. Older versions are
read, later ones are refused."""


class Own(TypedDict):
    """Fields that each step of a run has for itself, besides its jobs and its series."""

    job_file: str
    began_unix_ns: int
    start_ns: int
    drive_time_s: float
    wall_s: float
    interrupted: bool
    error: str | None
    before: dict[str, int]
    totals: dict[str, int]


class Step(Own):
    """Fields of a step, with the number of its jobs and of its bins in each series."""

    jobs: int
    time: int
    bytes: int


class ScopeDocument(TypedDict, total=False):
    """Scope of a suite (`pslc.device.region.Scope`) in run.json; empty for what takes none."""

    quick: bool
    region: list[int] | None
    fill_first: int
    idle_s: float
    budget: dict[str, float] | None


class Common(TypedDict):
    """Fields of a recording that are known before anything is measured."""

    suite: str
    target: str
    drive: str
    seed: int
    version: str
    capacity_bytes: int
    overrides: list[tuple[str, str]]
    profile: str
    facts: Facts
    provenance: list[tuple[str, str]]
    job_file: str
    began_unix_ns: int
    scope: NotRequired[ScopeDocument]


Count = Annotated[int, Ge(0), Lt(1 << 64)]
Seconds = Annotated[float, Ge(0)]


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


class HostTable(TypedDict, total=False):
    """The computer of a simulated drive. `page_cache`: its size."""

    cores: int
    page_cache: str


class ThrottleTable(TypedDict):
    """A step of throttling. `speed`: what is left of the link's, in percent."""

    at: str
    until: str
    speed: str


class HeatTable(TypedDict, total=False):
    """Keys of a profile's [heat] that are read here."""

    ambient: str
    throttle1: ThrottleTable
    throttle2: ThrottleTable
    throttle3: ThrottleTable


class CacheTable(TypedDict):
    """A profile's [cache] table, with the one key that recordings read."""

    mode: str


class ProfileTables(TypedDict, total=False):
    """Parts of a resolved profile that are read here, as they are written. docs/how-to.md has all keys."""

    link: str
    cache: CacheTable
    heat: HeatTable
    host: HostTable


class Findings(dict[str, Any]):
    """Findings of a run, by name as in run.json. Findings about writes are available as typed properties too; these
    raise KeyError for a suite without them."""

    @property
    def phases(self) -> tuple[ExplainedPhase, ...]:
        """Phases of the write in order; they tile the curve."""
        return self._of_writes().phases

    @property
    def cache(self) -> CacheEnd | None:
        """End of the cache, where the speed first fell; None if it did not."""
        return self._of_writes().cache

    @property
    def mean_bytes_per_s(self) -> float | None:
        """Mean speed: bytes written over the time it took; None if nothing was written."""
        return self._of_writes().mean_bytes_per_s

    @property
    def doubts(self) -> tuple[MeasurementWarning, ...]:
        """Warnings about the findings, with what to do about them, the gravest first."""
        return tuple(self["doubts"])

    @doubts.setter
    def doubts(self, doubts: tuple[MeasurementWarning, ...]) -> None:
        self["doubts"] = list(doubts)

    def typed(self, kind: type[F]) -> F:
        """These findings as the `Findings` type of their suite."""
        return cast(F, self)

    def _of_writes(self) -> WriteAnalysis:
        from pslc.analysis import WriteAnalysis

        return WriteAnalysis.of_document(self)


@lru_cache(maxsize=8)
def _tables(profile: str) -> ProfileTables:
    """Of an empty text none. An analysis asks some twenty times, and each would take 2 ms."""
    return cast(ProfileTables, MappingProxyType(tomllib.loads(profile)))


@dataclass
class Recording:
    """Recording of one run: its series, its jobs, facts about the drive, and findings.

    `time` and `bytes` are the series: arrays by name, one value per bin. `end_ns` is the end of the bin since the
    drive's power-on; `read_bytes`, `write_bytes`, `trim_bytes`, `reads`, `writes`, `trims`, `lat_sum_ns`, `lat_max_ns`
    and the percentiles `lat_p50_ns`, `lat_p99_ns`, `lat_p999_ns` are of the bin; then come the drive's own columns as
    they were at its end, counters ending in `_total`. `before` and `totals` are these columns at the start and at the
    end of the run. `scope` is what was asked of the suite, `began_unix_ns` when it began by the machine's clock.
    `unbegun`: jobs that never began, each with its place among all. A run of several steps holds them one after the
    other; `parts` gives them back.
    """

    suite: str
    target: str
    drive: str
    seed: int
    version: str
    wall_s: float
    drive_time_s: float
    capacity_bytes: int
    interrupted: bool
    error: str | None
    job_file: str
    overrides: list[tuple[str, str]]
    profile: str
    start_ns: int
    facts: Facts
    provenance: list[tuple[str, str]]
    jobs: list[Job]
    before: dict[str, int]
    totals: dict[str, int]
    time: Columns
    bytes: Columns
    findings: Findings = field(default_factory=Findings)
    scope: ScopeDocument = field(default_factory=ScopeDocument)
    steps: list[Step] = field(default_factory=list)
    began_unix_ns: int = 0
    unbegun: list[tuple[int, Job]] = field(default_factory=list)
    error_code: str | None = None
    """Code of `error` for programs (docs/api.md), whatever its sentence is; None for an error without one."""

    @property
    def is_simulated(self) -> bool:
        """Whether the drive was a simulated one."""
        return bool(self.profile)

    @property
    def profile_keys(self) -> ProfileTables:
        """The resolved profile of a simulated drive, as its tables; empty of a real one."""
        return _tables(self.profile)

    @property
    def cut_off(self) -> str | None:
        """Reason why the run ended early; None if it did not."""
        return self.error or ("it was interrupted" if self.interrupted else None)

    @property
    def drive_bytes(self) -> int:
        """Capacity of the whole drive, of which a scratch file is a part; that of the file where it is not known."""
        device = self.facts.get("device") or Device()
        return int(device.get("bytes") or self.capacity_bytes)

    @property
    def end_ns(self) -> int:
        """End of the run in ns, on the clock of `start_ns`."""
        return self.start_ns + round(self.drive_time_s * 1e9)

    @property
    def written_bytes(self) -> int:
        """Bytes the host wrote."""
        return int(self.bytes["write_bytes"].sum())

    @property
    def read_bytes(self) -> int:
        """Bytes the host read."""
        return int(self.bytes["read_bytes"].sum())

    @property
    def notes(self) -> list[str]:
        """Requested settings without an effect, a sentence each: keys of the drive and options of the job file. For a
        twin also the metrics it does not predict."""
        tails = [TWIN_TAILS] if self.is_twin else []
        jobs = [note for job in self.jobs for note in job["notes"]]
        return list(dict.fromkeys([*self.facts.get("notes", []), *jobs, *tails]))

    @property
    def is_twin(self) -> bool:
        """Whether the drive was a simulated one that `pslc fit` made."""
        return self.is_simulated and any(source.startswith(FITTED) for _, source in self.provenance)

    @property
    def conditions(self) -> str:
        """Subject, conditions and date of the run: `fill, simulated as sim:pm871b-128gb, 2026-05-04, pslc 0.1`."""
        return ", ".join(self._conditions())

    def _conditions(self) -> list[str]:
        if program := self.facts.get("measured_by"):
            return [self.target, f"measured by {program}"]
        conditions = [self.suite, f"simulated as {self.target}" if self.is_simulated else self.target]
        conditions += [f"--{name}={value}" for name, value in self.overrides]
        conditions += ["--quick"] if self.scope.get("quick") else []
        conditions += [f"{self.scope['fill_first']} % filled first"] if self.scope.get("fill_first") else []
        heat = self.profile_keys.get("heat", HeatTable())
        celsius = self.facts.get("before", Moment()).get("temperature_c")
        conditions += [f"ambient {heat['ambient']}"] if "ambient" in heat else []
        conditions += [f"{celsius:.0f} C at the start"] if celsius is not None else []
        if self.began_unix_ns:
            conditions.append(f"{datetime.fromtimestamp(self.began_unix_ns / 1e9):%Y-%m-%d}")
        return [*conditions, f"pslc {self.version}"]

    def conditions_with(self, recordings: Sequence[Recording]) -> str:
        """The conditions of several recordings, this one first: what all of them share is said once, before what they
        do not."""
        by_recording = [recording._conditions() for recording in (self, *recordings)]
        shared = [condition for condition in by_recording[0] if all(condition in distinct for distinct in by_recording)]
        distinct = [
            ", ".join(condition for condition in conditions if condition not in shared) for conditions in by_recording
        ]
        return ": ".join(part for part in (", ".join(shared), " / ".join(dict.fromkeys(distinct)).strip(" /")) if part)

    @property
    def parts(self) -> list[Recording]:
        """The steps of the run, each as a recording; the run itself where there was but one."""
        if len(self.steps) < 2:
            return [self]
        recordings = []
        jobs = times = sizes = 0
        for step in self.steps:
            own: Any = {name: value for name, value in step.items() if name in Own.__annotations__}
            part = replace(
                self,
                **own,
                steps=[],
                unbegun=[],
                jobs=self.jobs[jobs : jobs + step["jobs"]],
                time={name: column[times : times + step["time"]] for name, column in self.time.items()},
                bytes={name: column[sizes : sizes + step["bytes"]] for name, column in self.bytes.items()},
            )
            jobs, times, sizes = jobs + step["jobs"], times + step["time"], sizes + step["bytes"]
            recordings.append(part)
        return recordings

    @property
    def series(self) -> Table:
        """Both series as one Arrow table; `axis` is `time` or `bytes`."""
        from arro3.core import Array, DataType, Table

        axes = ["time"] * len(self.time["end_ns"]) + ["bytes"] * len(self.bytes["end_ns"])
        columns = [Array(axes, DataType.string())]
        columns += [
            Array.from_numpy(np.concatenate([column, self.bytes[name]]).astype(np.uint64))
            for name, column in self.time.items()
        ]
        return Table.from_arrays(columns, names=["axis", *self.time])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The series as Arrow's C stream: `polars.DataFrame(recording)`, `pandas.DataFrame.from_arrow(recording)` and
        DuckDB's `FROM recording` take a recording as it is."""
        return self.series.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pandas.DataFrame:
        """The series as a DataFrame of pandas: `axis`, then a column for each of `series.parquet`.

        Raises:
            PslcError: pandas is not installed.
        """
        return tabular.to_pandas(self.series)

    def to_polars(self) -> polars.DataFrame:
        """The series as a DataFrame of polars.

        Raises:
            PslcError: polars is not installed.
        """
        return tabular.to_polars(self.series)

    def to_csv(self, path: str | Path | None = None) -> str:
        """The series as CSV, written to `path` where one is given; a file of that name is replaced.

        Raises:
            GuardError: what has the name is no regular file.
            OSError: it cannot be written.
        """
        text = tabular.to_csv(self.series)
        if path is not None:
            writer.write(Path(path), text, writer.Replace.ANY)
        return text

    def chart(self, axis: str | None = None, label: str = "") -> Chart:
        """Chart of the recording as data; `plot` draws it.

        Args:
            axis: `bytes`, `percent` (of the drive) or `time`; None: what suits the suite.
            label: what to call the drive.
        """
        # By its name: charts are made of recordings, and charting knows this module.
        return cast("Chart", import_module("pslc.recording.charting").of_recording(self, axis, label))

    def plot(self, axis: str | None = None, *, style: Style | None = None) -> Drawing:
        """The chart of the run, which a notebook shows: `recording.plot().save("fill.png")`.

        Args:
            axis: as of `chart`.
            style: theme, language, logo and size.

        Raises:
            PslcError: Matplotlib is not installed (`pip install 'pslc[pictures]'`), or nothing was written.
        """
        from pslc.charts.drawing import Drawing

        return Drawing(self.chart(axis), style)

    def _repr_html_(self) -> str:
        """A small table and the picture, for notebooks."""
        return cast(str, import_module("pslc.recording.notebook").to_html(self))

    def document(self) -> dict[str, object]:
        """Contents of run.json, which `--json` prints; sizes in bytes, times in seconds unless named otherwise."""
        return {
            "schema": SCHEMA,
            "suite": self.suite,
            "target": self.target,
            "drive": self.drive,
            "seed": self.seed,
            "version": self.version,
            "wall_s": self.wall_s,
            "drive_time_s": self.drive_time_s,
            "written_bytes": self.written_bytes,
            "read_bytes": self.read_bytes,
            "capacity_bytes": self.capacity_bytes,
            "interrupted": self.interrupted,
            "error": self.error,
            "findings": warnings.documented(self.findings),
            "doubts": warnings.documented(self.findings.get("doubts", [])),
            "notes": self.notes,
            "jobs": self.jobs,
            "unbegun": self.unbegun,
            "before": self.before,
            "totals": self.totals,
            "facts": self.facts,
            "provenance": dict(self.provenance),
            "job_file": self.job_file,
            "overrides": self.overrides,
            "profile": self.profile,
            "began_unix_ns": self.began_unix_ns,
            "start_ns": self.start_ns,
            "scope": self.scope,
            "steps": self.steps,
        } | ({"error_code": self.error_code} if self.error_code else {})

    def save(self, folder: Path) -> None:
        """Write run.json and series.parquet into `folder`, which is made if need be. After a kill on the way `load`
        finds what was there before, or this.

        Raises:
            GuardError: what has one of the names is not pslc's.
            OSError: they cannot be written; what was there before is left as it was.
        """
        writer.folder(folder)
        # Into memory: the writer does not survive a full disk.
        series = tabular.to_parquet(self.series)
        saved = self.document() | {"series_sha256": hashlib.sha256(series).hexdigest()}
        document = json.dumps(saved, indent=1) + "\n"
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

    @classmethod
    def load(cls, folder: Path) -> Recording:
        """Read what `save` wrote.

        Raises:
            PslcError: there is no recording in `folder`, or it is damaged.
        """
        series = folder / "series.parquet"
        if not os.path.exists(series):
            raise RecordingError(*_nothing_in(folder, series))
        document = _document(folder, hashlib.sha256(gate.data(series, FILE)).hexdigest())
        columns = _columns(gate.table(series, FILE), series)
        schema = document.get("schema", 1)
        if not isinstance(schema, int) or schema > SCHEMA:
            raise RecordingError(
                f"{folder} holds a recording of schema {schema}, this pslc reads up to {SCHEMA}",
                f"pslc {document.get('version', 'of a later version')} wrote it; install that one or a later one",
            )
        gate.fits(document, str(folder / "run.json"), CHANGED, _schema(Document))
        kept: Json = {name: document[name] for name in cls.__dataclass_fields__ if name in document}
        kept["findings"] = Findings(warnings.of_documents(document["findings"]))
        kept["overrides"] = [tuple(pair) for pair in document["overrides"]]
        kept["provenance"] = list(document["provenance"].items())
        recording = cls(**kept, time=columns["time"], bytes=columns["bytes"])
        if faults := _faults(recording):
            raise CHANGED.refused(f"{folder} holds a recording that does not fit together: {gate.listed(faults, '; ')}")
        return recording


@cache
def _schema(kind: Any) -> TypeAdapter[Any]:
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
    """What of a recording contradicts the rest of it, a clause each."""
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
        _schema(ProfileTables).validate_python(files.toml(recording.profile), strict=True)
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        faults.append(f"its profile: {str(error).splitlines()[0]}")
    return faults


def of_a_drive(spec: Path) -> tuple[str, str]:
    """Message and hint of the error for a drive that was given in place of its recording."""
    return f"{spec} is a drive, not a recording", f"pslc run fill --on {spec} makes one"


def _nothing_in(folder: Path, missing: Path) -> tuple[str, str]:
    """What to say, and to do, where there is no recording."""
    if str(folder).startswith("sim:"):
        return of_a_drive(folder)
    if not folder.exists():
        return f"{folder}: there is no such folder or file", "pslc run ... names the folder of its recording"
    if not folder.is_dir():
        return f"{folder} is a file, not a run folder", "a run folder has a run.json and a series.parquet"
    runs = sorted(path.parent for path in folder.glob("*/run.json"))
    if runs:
        return f"{folder} holds {len(runs)} recordings", f"name one of them, such as {runs[0]}"
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


def join(parts: Sequence[Recording]) -> Recording:
    """The steps of a run as one recording, in order; a step on a clock that began anew follows the one before."""
    if len(parts) == 1:
        return parts[0]
    run: list[Recording] = []
    for part in parts:
        end = run[-1].end_ns if run else 0
        run.append(part if part.start_ns >= end else _later(part, end - part.start_ns))
    last = run[-1]
    unbegun, jobs = [], 0
    for part in run:
        unbegun += [(jobs + index, job) for index, job in part.unbegun]
        jobs += len(part.jobs) + len(part.unbegun)
    return replace(
        run[0],
        job_file="\n".join(part.job_file for part in run),
        drive_time_s=(last.end_ns - run[0].start_ns) / 1e9,
        wall_s=sum(part.wall_s for part in run),
        interrupted=last.interrupted,
        error=last.error,
        error_code=last.error_code,
        totals=last.totals,
        jobs=[job for part in run for job in part.jobs],
        unbegun=unbegun,
        time=_concatenated([part.time for part in run]),
        bytes=_concatenated([part.bytes for part in run]),
        steps=[_step(part) for part in run],
    )


def _step(part: Recording) -> Step:
    return {
        "job_file": part.job_file,
        "began_unix_ns": part.began_unix_ns,
        "start_ns": part.start_ns,
        "drive_time_s": part.drive_time_s,
        "wall_s": part.wall_s,
        "interrupted": part.interrupted,
        "error": part.error,
        "before": part.before,
        "totals": part.totals,
        "jobs": len(part.jobs),
        "time": len(part.time["end_ns"]),
        "bytes": len(part.bytes["end_ns"]),
    }


def _later(part: Recording, ns: int) -> Recording:
    """The same on a clock that is ahead by `ns`."""
    jobs: list[Job] = [{**job, "start_ns": job["start_ns"] + ns} for job in part.jobs]
    time, size = ({**columns, "end_ns": columns["end_ns"] + np.uint64(ns)} for columns in (part.time, part.bytes))
    return replace(part, start_ns=part.start_ns + ns, jobs=jobs, time=time, bytes=size)


def _concatenated(series: list[Columns]) -> Columns:
    return {name: np.concatenate([columns[name] for columns in series]) for name in series[0]}
