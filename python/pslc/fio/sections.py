"""The sections of fio's JSON, under fio's names; `json_output` fills them. What a job was not asked for is left out."""

from typing import NotRequired

from typing_extensions import TypedDict


class Latency(TypedDict):
    """Latencies of `N` requests in ns; `bins` in JSON+."""

    min: int
    max: float
    mean: float
    stddev: float
    N: int
    percentile: NotRequired[dict[str, float]]
    bins: NotRequired[dict[str, int]]


class Samples(TypedDict):
    """Bandwidth (KiB/s) and requests a second, as they were sampled (`bwavgtime`, `iopsavgtime`)."""

    bw_min: int
    bw_max: int
    bw_agg: float
    bw_mean: float
    bw_dev: float
    bw_samples: int
    iops_min: int
    iops_max: int
    iops_mean: float
    iops_stddev: float
    iops_samples: int


class Direction(Samples):
    """The requests of one kind, or of all of them together. `runtime` in ms, `bw` in KiB/s."""

    io_bytes: int
    io_kbytes: int
    bw_bytes: int
    bw: int
    iops: float
    runtime: int
    total_ios: int
    short_ios: int
    drop_ios: int
    slat_ns: Latency
    clat_ns: Latency
    lat_ns: Latency


class Sync(TypedDict):
    """Latencies of the flushes of a job."""

    total_ios: int
    lat_ns: Latency


class Directions(TypedDict, total=False):
    """Directions of a job as `unified_rw_reporting` asks for them: each kind, all together, or both."""

    read: Direction
    write: Direction
    trim: Direction
    sync: Sync
    mixed: Direction


class LatencyTarget(TypedDict, total=False):
    """Settings of `latency_target` (times in us), and the queue depth that met them; empty if the job never began."""

    latency_depth: int
    latency_target: int
    latency_percentile: float
    latency_window: int


class SteadyData(TypedDict):
    """The last seconds, and their means."""

    bw_mean: int
    iops_mean: int
    iops: list[int]
    bw: list[int]


class Steady(TypedDict):
    """Result of `steadystate` for a job, under fio's names."""

    ss: str
    duration: int
    attained: int
    criterion: str
    max_deviation: float
    slope: float
    data: SteadyData


class Asked(TypedDict, total=False):
    """Fields that only jobs with the matching option have."""

    desc: str
    steadystate: Steady


OwnOptions = TypedDict("OwnOptions", {"job options": dict[str, str]}, total=False)
GlobalOptions = TypedDict("GlobalOptions", {"global options": dict[str, str]}, total=False)


class Job(OwnOptions, Directions, LatencyTarget, Asked):
    """A job, or the first of its reporting group. Levels and batches are percentages, by what they reach up to."""

    jobname: str
    groupid: int
    error: int
    eta: int
    elapsed: int
    job_runtime: int
    usr_cpu: float
    sys_cpu: float
    ctx: int
    majf: int
    minf: int
    iodepth_level: dict[str, float]
    iodepth_submit: dict[str, float]
    iodepth_complete: dict[str, float]
    latency_ns: dict[str, float]
    latency_us: dict[str, float]
    latency_ms: dict[str, float]


class Below(TypedDict, total=False):
    """Means over the devices below a device of dm or md. fio spells one of the names without its last letter."""

    aggr_read_ios: int
    aggr_write_ios: int
    aggr_read_merges: int
    aggr_write_merge: int
    aggr_read_ticks: int
    aggr_write_ticks: int
    aggr_in_queue: int
    aggr_util: float


class Disk(Below):
    """A disk under the target: requests, those that were merged, ms of each and of all, and how much of the time it had
    something to do, in percent."""

    name: str
    read_ios: int
    write_ios: int
    read_merges: int
    write_merges: int
    read_ticks: int
    write_ticks: int
    in_queue: int
    util: float


Document = TypedDict(
    "Document",
    {
        "fio version": str,
        "timestamp": int,
        "timestamp_ms": int,
        "time": str,
        "global options": NotRequired[dict[str, str]],
        "jobs": list[Job],
        "disk_util": list[Disk],
    },
)
"""Output of `fio --output-format=json`."""
