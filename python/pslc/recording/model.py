"""A recording: everything a run measured, and everything needed to make it again, as plain data."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, NotRequired, TypeVar, cast

import numpy as np
from annotated_types import Ge, Lt
from numpy.typing import NDArray
from typing_extensions import TypedDict

from pslc.base import tabular, words, writer
from pslc.base.console import short
from pslc.schema import warnings as warning_texts
from pslc.schema.facts import Device, Facts, Moment
from pslc.schema.jobs import Job
from pslc.schema.results import Gap, Stall
from pslc.schema.warnings import MeasurementWarning

if TYPE_CHECKING:
    import pandas
    import polars
    from arro3.core import Table

    from pslc.analysis import CacheEnd, ExplainedPhase, WriteAnalysis

Columns = dict[str, NDArray[np.uint64]]
F = TypeVar("F")
FITTED: Final = "fitted to"
"""First words of the provenance of a twin's value that `pslc fit` determined from data."""
TWIN_TAILS: Final = (
    "this drive is a twin, fitted to speeds and mean times: it does not predict latencies of the slowest "
    "requests (99 % and beyond)"
)
"""Note of a recording of a twin."""
SCHEMA: Final = 3
"""Version of the layout of run.json; others are refused."""


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
    explains: list[dict[str, Any]]


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


class UsbTable(TypedDict, total=False):
    """A profile's [usb] table. `discard`: `dropped` where trims end at the bridge."""

    discard: str


class CacheTable(TypedDict):
    """A profile's [cache] table, with the one key that recordings read."""

    mode: str


class FtlTable(TypedDict):
    """A profile's [ftl] table, with the one key that recordings read; older profiles have none."""

    refresh: NotRequired[str]


class ProfileTables(TypedDict, total=False):
    """Parts of a resolved profile that are read here, as they are written. docs/how-to.md has all keys."""

    link: str
    cache: CacheTable
    ftl: NotRequired[FtlTable]
    heat: HeatTable
    host: HostTable
    usb: UsbTable


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
    def warnings(self) -> tuple[MeasurementWarning, ...]:
        """Warnings about the findings, with what to do about them, the gravest first."""
        return tuple(self["warnings"])

    @warnings.setter
    def warnings(self, warnings: tuple[MeasurementWarning, ...]) -> None:
        self["warnings"] = list(warnings)

    def typed(self, kind: type[F]) -> F:
        """These findings as the `Findings` type of their suite."""
        return cast(F, self)

    def _of_writes(self) -> WriteAnalysis:
        from pslc.analysis import WriteAnalysis

        return WriteAnalysis.of_document(self)


@lru_cache(maxsize=8)
def _tables(profile: str) -> ProfileTables:
    """Parsed profile, empty for an empty text. Cached: one analysis asks for it 20 times, and parsing takes 2 ms."""
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

    html: ClassVar[Callable[[Recording], str] | None] = None
    """Function that shows a recording in a notebook; `pslc.figures.notebook` sets it."""

    def __repr__(self) -> str:
        written, read = words.size(self.written_bytes), words.size(self.read_bytes)
        return f"<pslc.Recording of {self.suite} on {short(self.drive)}: {written} written, {read} read>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Recording):
            return NotImplemented
        return self._plain() == other._plain()

    def _plain(self) -> list[object]:
        """Values of all fields, arrays as lists."""
        values = [getattr(self, each.name) for each in fields(self) if each.name not in ("time", "bytes")]
        return [
            *values,
            *({name: column.tolist() for name, column in axis.items()} for axis in (self.time, self.bytes)),
        ]

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

    def rise(self, counter: str, from_bytes: float, to_bytes: float) -> float:
        """Rise of a counter between two points in bytes written."""
        return self.rises([counter], from_bytes, to_bytes)[counter]

    def rises(self, counters: Iterable[str], from_bytes: float, to_bytes: float) -> dict[str, float]:
        """Rise of each counter between two points in bytes written."""
        edges = np.append(0.0, np.cumsum(self.bytes["write_bytes"], dtype=np.float64))
        totals = {name: np.append(float(self.before[name]), self.bytes[name].astype(np.float64)) for name in counters}
        ends = {name: np.interp([from_bytes, to_bytes], edges, column) for name, column in totals.items()}
        return {name: float(end - start) for name, (start, end) in ends.items()}

    @property
    def written_bytes(self) -> int:
        """Bytes the host wrote."""
        return int(self.bytes["write_bytes"].sum())

    @property
    def read_bytes(self) -> int:
        """Bytes the host read."""
        return int(self.bytes["read_bytes"].sum())

    @property
    def warnings(self) -> list[MeasurementWarning]:
        """Warnings about the findings, the gravest first; then notes on requested settings without an effect, keys of
        the drive and options of the job file, and on the metrics that a twin does not predict."""
        tails = [TWIN_TAILS] if self.is_twin else []
        jobs = [note for job in self.jobs for note in job["notes"]]
        notes = dict.fromkeys([*self.facts.get("notes", []), *jobs, *tails])
        return [*self.findings.get("warnings", []), *warning_texts.notes([*notes])]

    @property
    def is_twin(self) -> bool:
        """Whether the drive was a simulated one that `pslc fit` made."""
        return self.is_simulated and any(source.startswith(FITTED) for _, source in self.provenance)

    @property
    def conditions(self) -> str:
        """Subject, conditions and date of the run: `fill, simulated as sim:pm871b-128gb, 2026-05-04, pslc 0.1`."""
        return ", ".join(self._conditions())

    @property
    def preparation(self) -> list[str]:
        """Conditions that the scope of the run sets."""
        filled = self.scope.get("fill_first")
        return [*(["--quick"] if self.scope.get("quick") else []), *([f"{filled} % filled first"] if filled else [])]

    def _conditions(self) -> list[str]:
        if program := self.facts.get("measured_by"):
            return [short(self.target), f"measured by {short(program)}"]
        target = short(self.target)
        conditions = [self.suite, f"simulated as {target}" if self.is_simulated else target]
        conditions += [f"through {self.engine}"] if self.engine else []
        conditions += [f"--{name}={value}" for name, value in self.overrides]
        conditions += self.preparation
        heat = self.profile_keys.get("heat", HeatTable())
        celsius = self.facts.get("before", Moment()).get("temperature_c")
        conditions += [f"ambient {heat['ambient'].removesuffix('C').strip()} °C"] if "ambient" in heat else []
        conditions += [f"{celsius:.0f} °C at the start"] if celsius is not None else []
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
    def engine(self) -> str | None:
        """Engine through which pslc gave its requests to a real drive: `io_uring`, or `threads` in its place; None
        where pslc gave none."""
        return self.facts.get("engine")

    @property
    def gaps(self) -> list[Gap]:
        """Times in which pslc did not run, with `at_s` since the start of this recording."""
        return [{**gap, "at_s": self.since_start_s(gap)} for gap in self.facts.get("gaps", [])]

    def since_start_s(self, outage: Stall | Gap) -> float:
        """Begin of a stall or a gap in its facts, from the start of this recording."""
        step_ns = self.steps[outage["step"]]["start_ns"] - self.start_ns if self.steps else 0
        return outage["at_s"] + step_ns / 1e9

    @property
    def parts(self) -> list[Recording]:
        """The steps of the run, each as a recording; the run itself where there was but one."""
        if len(self.steps) < 2:
            return [self]
        recordings = []
        jobs = times = sizes = 0
        for number, step in enumerate(self.steps):
            own: Any = {name: value for name, value in step.items() if name in Own.__annotations__}
            part = replace(
                self,
                **own,
                steps=[],
                unbegun=[],
                facts=_of_step(self.facts, number),
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

    @property
    def exported(self) -> Table:
        """`series` for other programs: of a real drive with a last column, `engine`."""
        from arro3.core import Array, DataType

        if self.engine is None:
            return self.series
        return self.series.append_column("engine", Array([self.engine] * len(self.series), DataType.string()))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows of `exported` as Arrow's C stream: `polars.DataFrame(recording)`,
        `pandas.DataFrame.from_arrow(recording)` and DuckDB's `FROM recording` take a recording as it is."""
        return self.exported.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pandas.DataFrame:
        """The series as a DataFrame of pandas: `axis`, then a column for each of `series.parquet`.

        Raises:
            PslcError: pandas is not installed.
        """
        return tabular.to_pandas(self.exported)

    def to_polars(self) -> polars.DataFrame:
        """The series as a DataFrame of polars.

        Raises:
            PslcError: polars is not installed.
        """
        return tabular.to_polars(self.exported)

    def to_csv(self, path: str | Path | None = None) -> str:
        """The series as CSV, written to `path` where one is given; a file of that name is replaced.

        Raises:
            GuardError: what has the name is no regular file.
            OSError: it cannot be written.
        """
        text = tabular.to_csv(self.exported)
        if path is not None:
            writer.write(Path(path), text, writer.Replace.ANY)
        return text

    def _repr_html_(self) -> str | None:
        """HTML that a notebook shows."""
        return Recording.html(self) if Recording.html is not None else None

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
            "findings": warning_texts.documented(self.findings),
            "warnings": warning_texts.documented(self.warnings),
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


def with_short_names(recording: Recording) -> Recording:
    """A recording whose names end where they are shown to end: its drive, its suite and its jobs."""
    jobs: list[Job] = [{**job, "name": short(job["name"])} for job in recording.jobs]
    return replace(recording, drive=short(recording.drive), suite=short(recording.suite), jobs=jobs)


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


def _of_step(facts: Facts, number: int) -> Facts:
    """The facts of a run for one of its steps: stalls and gaps of others are none of its own."""
    own: Any = {
        name: [outage for outage in facts.get(name, []) if outage["step"] == number]
        for name in ("stalls", "gaps")
        if name in facts
    }
    return {**facts, **own}


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
