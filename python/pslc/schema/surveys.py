"""Surveys of traces, options of a replay and its results, under the names of run.json. Sizes are in bytes."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from pslc.schema.jobs import Kind

Op = Literal["read", "write", "trim", "flush"]
OPS: tuple[Op, ...] = ("read", "write", "trim", "flush")
"""Kinds of requests, by the number that stands for each."""
ByOp = dict[Op, int]
Pace = Literal["original", "asap"]
Fit = Literal["exact", "wrap", "compact", "scale"]


class Volume(TypedDict):
    """Traffic of one device of a trace: requests, bytes and sequential requests of each kind, and the end of the
    last."""

    device: str
    count: ByOp
    bytes: ByOp
    sequential: ByOp
    end_bytes: int


class OverTime(TypedDict):
    """Bytes moved in each bin of `bin_ns`."""

    bin_ns: int
    read_bytes: list[int]
    write_bytes: list[int]


class Burst(TypedDict):
    """Writes between pauses of at least `pause_ns`: number and total length of these pauses, and the most bytes written
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
    """Options of the native part for a replay. `iodepth`: most requests under way; `span_bytes`: for `scale`;
    `largest_bytes`: of its reads and writes; `survey`: survey the trace meanwhile, and refuse a trace of several
    devices."""

    pace: Pace
    speed: float
    iodepth: int
    fit: Fit
    span_bytes: int
    prefill: bool
    largest_bytes: int
    survey: bool


class Replayed(TypedDict):
    """Result of a replay. `late` requests found too many under way; `moved` ones have other addresses than in the
    trace, `widened` ones were extended to whole blocks; `slow_ns`: time by cause of the slowest hundredth of each
    kind."""

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
    """Part of a trace (`pslc.traces.Part`) in run.json."""

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
    """Options of a replay (`pslc.traces.Replay`) in run.json."""

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
