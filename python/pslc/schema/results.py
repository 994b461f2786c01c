"""Results of the native part: the plan of a run, its progress and its recording. Sizes are in bytes, times on the
drive's clock unless named otherwise."""

from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from pslc.base.errors import PolicyError
from pslc.schema.jobs import Job
from pslc.schema.surveys import Replayed, Survey

Values = bytes
"""Little-endian u64, one a bin or a request."""
Columns = dict[str, Values]


class Planned(TypedDict):
    """Plan of a job file. Bytes are of the jobs that end by themselves, `timed_ns` is the duration of jobs that end by
    time, `idle_ns` the idle time before jobs. `least_s` is the shortest duration on the drive's clock, at the stated
    speed throughout, and `requests` the number of requests in it. `memory_bytes`: use of the load engine. `scattered`:
    for each job that writes in random order the bytes of its region, and the bytes it writes. `end_bytes`: end of the
    furthest request. `layout_bytes`: bytes of a new drive or file that are read before they are written."""

    read_bytes: int
    write_bytes: int
    trim_bytes: int
    timed_ns: int
    idle_ns: int
    writes_until_time: bool
    least_s: float
    requests: float
    memory_bytes: int
    scattered: list[tuple[int, int]]
    end_bytes: int
    layout_bytes: int


class Silence(TypedDict):
    """Time without an answer of a real drive: how long, how many requests are under way, and the oldest of these, which
    has waited for `waited_s`. Of a run that was to end a second ago, `is_held`: the thread that makes requests waits in
    the kernel; `kept_s`: what was measured until then, from the start of the step, is saved."""

    duration_s: float
    under_way: int
    op: str
    bytes: int
    offset: int
    waited_s: float
    is_held: NotRequired[bool]
    kept_s: NotRequired[float]


class Gap(TypedDict):
    """Time in which pslc itself did not run. `at_s`: from the start of the run, or of the step with the index `step`,
    on the clock of the run, which stands still meanwhile."""

    at_s: float
    duration_s: float
    step: NotRequired[int]


class Stall(Silence):
    """A silence of at least 10 s. `at_s`: from the start of the run, or of the step with the index `step`."""

    at_s: float
    step: NotRequired[int]


class Progress(TypedDict):
    """Progress of a run. `total_bytes` is 0 if unknown, `total_time_ns` if no time ends the run; `bytes_per_s` is
    recent. `silence`: the drive has not answered for 10 s, or for 1 s a run that is to end. `engine_substitutes`: the
    reason why threads took the place of the system's own engine."""

    silence: NotRequired[Silence]
    engine_substitutes: NotRequired[str]

    done_bytes: int
    total_bytes: int
    drive_time_ns: int
    total_time_ns: int
    bytes_per_s: float


class StepProgress(Progress):
    """Progress of a run within its step `step`."""

    step: str


def done_of(state: Progress) -> tuple[int, int]:
    """Finished part and total of a run: in ns if only time ends it, else in bytes; a total of 0 is unknown."""
    if state["total_time_ns"] > 0 and state["total_bytes"] == 0:
        return state["drive_time_ns"], state["total_time_ns"]
    return state["done_bytes"], state["total_bytes"]


class Series(TypedDict):
    """Bins of equal time, and of equal bytes. `end_ns` is the end of the bin; `read_bytes`, `write_bytes`,
    `trim_bytes`, `reads`, `writes`, `trims`, `lat_sum_ns`, `lat_max_ns` are sums (maximum) within it, `lat_p50_ns`,
    `lat_p99_ns`, `lat_p999_ns` percentiles of its requests, to an eighth of an octave; every column of the target
    follows, as it was at the end of the bin (`SimDrive.columns`)."""

    time: Columns
    bytes: Columns


class Log(TypedDict):
    """The requests of a clone of a job that asked for a log. `number` is from 1; `one_at_a_time`: its engine waits;
    `counts_from_ns` is the end of its `ramp_time`, `end_ns` its own (0: it has not ended);
    `submission_ns` is the part of `latency_ns` until the system had the request; `op` is 0 for a read, 1 for a write,
    2 for a trim, 3 for a flush."""

    name: str
    number: int
    one_at_a_time: bool
    begin_ns: int
    counts_from_ns: int
    end_ns: int
    options: dict[str, str]
    issued_ns: Values
    latency_ns: Values
    submission_ns: Values
    op: Values
    bytes: Values
    offset: Values


class Dump(TypedDict):
    """A block that is not what was written (`verify_dump`): where it is on the drive, as it was read and, where its
    header tells, as it was written."""

    offset: int
    received: bytes
    expected: bytes | None


class Recorded(TypedDict):
    """Recording of a run. `error`: the target failed, with its code; `dump`: a block that a job wants kept. `unbegun`:
    jobs that never began, with their places. `before` and `totals` are the target's columns at start and end."""

    interrupted: bool
    error: str | None
    error_code: NotRequired[str | None]
    raised: NotRequired[PolicyError]
    dump: NotRequired[Dump]
    start_ns: int
    drive_time_ns: int
    jobs: list[Job]
    unbegun: list[tuple[int, Job]]
    series: Series
    logs: list[Log]
    before: dict[str, int]
    totals: dict[str, int]


class Result(Recorded):
    """A run, ended or as it is so far, what it took on the wall's clock, and when its drive did not answer or pslc did
    not run."""

    wall_s: float
    stalls: NotRequired[list[Stall]]
    gaps: NotRequired[list[Gap]]


class Spread(TypedDict):
    """Statistics of a finding over several runs."""

    mean: float
    min: float
    max: float
    stddev: float


Repeats = dict[str, Spread | int]
"""The spread of each finding that is one number, by its name, and `n`, how many runs there were."""


class ReplaySoFar(Result):
    """Result of a replay so far; `survey` if it was requested."""

    survey: NotRequired[Survey]


class ReplayResult(ReplaySoFar):
    """A replay that has ended."""

    replay: Replayed


class Measured(TypedDict):
    """Figure of a program that reports results without a series.

    `test` and `kind`: what it is called there, and `read`, `write`, `mixed` or `copy`. What it does not tell is None; a
    latency is a mean. `samples`: bytes/s of every repetition, where it tells them; `bytes_per_s` is then their median.
    """

    test: str
    kind: str
    bytes_per_s: float | None
    iops: float | None
    latency_s: float | None
    samples: list[float]


def measured(
    test: str,
    kind: str,
    bytes_per_s: float | None = None,
    iops: float | None = None,
    latency_s: float | None = None,
    samples: Sequence[float] = (),
) -> Measured:
    """A result, of which what is not told stays None."""
    return {
        "test": test,
        "kind": kind,
        "bytes_per_s": bytes_per_s,
        "iops": iops,
        "latency_s": latency_s,
        "samples": list(samples),
    }
