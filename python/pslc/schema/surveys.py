"""What is in a trace, how it is replayed, and what became of that, under the names that run.json has. Sizes are in
bytes."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from pslc.schema.jobs import Kind

Op = Literal["read", "write", "trim", "flush"]
OPS: tuple[Op, ...] = ("read", "write", "trim", "flush")
"""By the number that stands for each."""
ByOp = dict[Op, int]
Pace = Literal["original", "asap"]
Fit = Literal["exact", "wrap", "compact", "scale"]


class Volume(TypedDict):
    """One device of a trace: requests, bytes and sequential requests of each kind, and where the last one ends."""

    device: str
    count: ByOp
    bytes: ByOp
    sequential: ByOp
    end_bytes: int


class OverTime(TypedDict):
    """What each `bin_ns` moves."""

    bin_ns: int
    read_bytes: list[int]
    write_bytes: list[int]


class Burst(TypedDict):
    """What is written between pauses of at least `pause_ns`: how many there are, how long all of them are, and the most
    between two."""

    pause_ns: int
    pauses: int
    paused_ns: int
    most_bytes: int
    most_at_ns: int


class Survey(TypedDict):
    """`sizes`: kind, bytes, count. `written_bytes` is what is written at all, in pages, `unwritten_bytes` what is read
    before it is written. `took_ns`: all response times, of `timed` requests. `skipped` are lines, `empty` requests."""

    format: str
    devices: list[Volume]
    duration_ns: int
    sizes: list[tuple[Op, int, int]]
    over_time: OverTime
    touched_bytes: int
    written_bytes: int
    unwritten_bytes: int
    rewritten_bytes: int
    bursts: list[Burst]
    longest_pause_ns: int
    took_ns: int
    timed: int
    skipped: int
    empty: int
    backwards_ns: int
    notes: list[str]


class Batch(TypedDict):
    """Requests, each value little-endian: `time_ns`, `took_ns` and `offset` of 8 bytes, `size` and `device` of 4, `op`
    of one; and the names of the devices so far."""

    time_ns: bytes
    took_ns: bytes
    op: bytes
    offset: bytes
    size: bytes
    device: bytes
    devices: list[str]


class Asked(TypedDict):
    """How the native part is to replay. `iodepth`: the most under way; `span_bytes`: for `scale`; `largest_bytes`: of
    its reads and writes; `survey`: say what is in it on the way, and refuse a trace of several devices then."""

    pace: Pace
    speed: float
    iodepth: int
    fit: Fit
    span_bytes: int
    prefill: bool
    largest_bytes: int
    survey: bool


class Replayed(TypedDict):
    """What became of a replay. `late` requests found too many under way; `moved` ones are elsewhere than in the trace,
    `widened` ones were made whole blocks; `slow_ns`: of the slowest hundredth of each kind the time by cause."""

    format: str
    devices: list[str]
    notes: list[str]
    skipped: int
    empty: int
    backwards_ns: int
    requests: int
    late: int
    late_most_ns: int
    late_sum_ns: int
    moved: int
    widened: int
    unwritten_bytes: int
    cache_most_bytes: int | None
    cache_most_at_ns: int
    prefilled_bytes: int
    slow_ns: list[tuple[Kind, dict[str, int]]]


class PartDocument(TypedDict):
    """`pslc.traces.Part`."""

    format: str | None
    columns: list[tuple[str, str]]
    skip_broken: bool
    device: str | None
    from_s: float
    to_s: float | None
    without: list[str]
    scale: int
    align: int


class ReplayDocument(TypedDict):
    """`pslc.traces.Replay`."""

    part: PartDocument
    pace: Pace
    speed: float
    iodepth: int | None
    fit: Fit
    prefill: bool
    what_if: bool


class WhatIf(TypedDict):
    """The same trace on another cache; where it cannot be, why it was `refused`."""

    name: str
    refused: NotRequired[str]
    cache_bytes: NotRequired[int | None]
    cache_most_bytes: NotRequired[int | None]
    share_slc: NotRequired[float | None]
    waf: NotRequired[float | None]
    life_years: NotRequired[float | None]
    enough: NotRequired[bool | None]
    drive_s: NotRequired[float]
    write_p99_s: NotRequired[float | None]
    write_p999_s: NotRequired[float | None]
    read_p99_s: NotRequired[float | None]
