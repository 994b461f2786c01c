"""Results of each job of a run, under the names of run.json."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

Kind = Literal["read", "write", "trim"]
KINDS: tuple[Kind, ...] = ("read", "write", "trim")
MOVED: tuple[Kind, ...] = ("read", "write")


class Times(TypedDict):
    """Latencies of requests in ns. `histogram`: from, to and count, eight to an octave; `bins`: fio's."""

    min: NotRequired[int]
    max: float
    mean: float
    stddev: NotRequired[float]
    n: NotRequired[int]
    percentile: dict[str, float]
    histogram: NotRequired[list[tuple[int, int, int]]]
    bins: NotRequired[list[tuple[int, int]]]


class Spread(TypedDict):
    """Statistics of the samples of a rate."""

    n: int
    min: float
    max: float
    mean: float
    stddev: float


class Samples(TypedDict):
    """Samples of a rate, as fio takes them (`bwavgtime`, `iopsavgtime`)."""

    bytes_per_s: Spread
    iops: Spread


class Done(TypedDict):
    """The requests of one kind. `slat_ns` and `clat_ns` where submission and completion are apart."""

    io_bytes: int
    total_ios: int
    runtime_ns: int
    lat_ns: Times
    slat_ns: NotRequired[Times]
    clat_ns: NotRequired[Times]
    samples: NotRequired[Samples]


def done(
    io_bytes: int = 0,
    total_ios: int = 0,
    runtime_ns: int = 0,
    mean_ns: float = 0.0,
    max_ns: float = 0,
    percentile: dict[str, float] | None = None,
) -> Done:
    """The requests of one kind (default: none), with their latencies."""
    times: Times = {"mean": mean_ns, "max": max_ns, "percentile": percentile or {}}
    return {"io_bytes": io_bytes, "total_ios": total_ios, "runtime_ns": runtime_ns, "lat_ns": times}


class Usage(TypedDict, total=False):
    """Processor time, context switches and page faults of a job."""

    user_ns: int
    system_ns: int
    switches: int
    major_faults: int
    minor_faults: int


class Verified(TypedDict):
    """Result of `verify` for a job: `blocks` (of `verify_interval` bytes, or requests) and their `bytes` that were
    correct, checked `by` this checksum. `unjudged_bytes` were changed by another write while they were read;
    `unseen_bytes` were read from a drive that keeps no data, or not compared (`verify=null`). A wrong block ends its
    job: `wrong_reads` counts the reads that hit one."""

    by: str
    blocks: int
    bytes: int
    unjudged_bytes: int
    unseen_bytes: int
    wrong_reads: NotRequired[int]


class LatencyTarget(TypedDict, total=False):
    """Settings of `latency_target`, and the queue depth that met them; of a group, the last job's, 0 if it never
    began."""

    depth: int
    target_ns: int
    percentile: float
    window_ns: int


class SteadyState(TypedDict):
    """Result of `steadystate` for a job: the rates of its last seconds, and the value compared with the limit."""

    criterion: str
    limit: float
    percent: bool
    duration_s: int
    attained: bool
    value: float
    slope: float
    max_deviation: float
    iops: list[int]
    bytes_per_s: list[int]


class Job(TypedDict):
    """Results of a job, or of a reporting group under its first job. `options` are as written, after [global] and
    overrides; `notes` say which of them had no effect; `global_options` and `own_options` are those of the last of the
    group. `mixed`: all kinds together (`unified_rw_reporting`). `sync`: flushes; `fsyncs`: those that fio counts, not
    `fdatasync`. `verified`: of a job that verifies. `clones`: how many jobs are reported as this one. `one_at_a_time`:
    its engine waits. Another program's job has the required fields only."""

    name: str
    options: dict[str, str]
    notes: list[str]
    read: Done
    write: Done
    trim: Done
    sync: NotRequired[Done]
    fsyncs: NotRequired[int]
    verified: NotRequired[Verified]
    groupid: NotRequired[int]
    mixed: NotRequired[Done]
    global_options: NotRequired[dict[str, str]]
    own_options: NotRequired[dict[str, str]]
    clones: NotRequired[int]
    one_at_a_time: NotRequired[bool]
    iodepth: NotRequired[int]
    size_bytes: NotRequired[int]
    start_ns: NotRequired[int]
    elapsed_ns: NotRequired[int]
    worked_ns: NotRequired[int]
    iodepth_level: NotRequired[dict[str, float]]
    latency_ns: NotRequired[dict[str, float]]
    latency_us: NotRequired[dict[str, float]]
    latency_ms: NotRequired[dict[str, float]]
    usage: NotRequired[Usage]
    latency_target: NotRequired[LatencyTarget]
    steadystate: NotRequired[SteadyState]


def job(name: str, options: dict[str, str], groupid: int | None = None) -> Job:
    """A job of another program, before what it did is filled in."""
    own: Job = {"name": name, "options": options, "notes": [], "read": done(), "write": done(), "trim": done()}
    if groupid is not None:
        own["groupid"] = groupid
    return own
