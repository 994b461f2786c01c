"""fio's own logs of a run, written as fio writes them: `write_bw_log`, `write_lat_log`, `write_iops_log`,
`write_hist_log`, `write_iolog`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from pslc.base import writer
from pslc.recording.model import Recording
from pslc.runner.fio_log_rows import (
    COLUMNS,
    FLUSH,
    MS,
    READ,
    ROWS_AT_ONCE,
    TRIM,
    WRITE,
    Integers,
    Requests,
    is_on,
    rows,
)
from pslc.schema.results import Log

ACTIONS = {READ: "read", WRITE: "write", TRIM: "trim", FLUSH: "sync"}
AGGREGATE_NS = 500_000_000
"""Interval in ns at which fio samples the rate of all jobs."""
UNIX_TIMES = ("log_unix_epoch", "log_alternate_epoch")
"""Options by which times count from 1970."""
KINDS = {
    "write_bw_log": ("bw",),
    "write_lat_log": ("slat", "clat", "lat"),
    "write_iops_log": ("iops",),
    "write_hist_log": ("hist",),
}
"""Logs that each option writes: fio has three latencies, submission, completion, and both together."""


def contents(
    logs: Sequence[Log], place: Callable[[str, str], Path], file: str, clock_zero_unix_ns: int
) -> dict[tuple[Path, str], Iterator[str]]:
    """The lines of each file that jobs asked for, with the option that did.

    Args:
        logs: as the native part gives them.
        place: where a file lies, by the option and the name that fio has for it.
        file: what an iolog calls the target.
        clock_zero_unix_ns: when the clock of the logs was 0, in ns since 1970: for `log_unix_epoch`.
    """
    files: dict[tuple[Path, str], list[Iterable[str]]] = {}
    iologs: dict[tuple[Path, str], list[Mapping[str, Integers]]] = {}
    for log in logs:
        options = log["options"]
        columns = {name: np.frombuffer(log[name], dtype="<u8").astype(np.int64) for name in COLUMNS}
        if "write_iolog" in options:
            path = place("write_iolog", options["write_iolog"])
            iologs.setdefault((path, "write_iolog"), []).append(dict(columns))
        requests = Requests.of(columns, log["counts_from_ns"], log["end_ns"])
        if any(is_on(options, name) for name in UNIX_TIMES):
            requests = replace(requests, epoch_ms=(clock_zero_unix_ns + log["counts_from_ns"]) // MS)
        for option, name, lines in _lines_of_job(log, requests):
            files.setdefault((place(option, name), option), []).append(lines)
    begin_ns = min((log["begin_ns"] for log in logs), default=0)
    for where, parts in iologs.items():
        files[where] = [_iolog(_by_time(parts, begin_ns), re.sub(r"\s", "_", file))]
    return {where: chain.from_iterable(lines) for where, lines in files.items()}


def _lines_of_job(log: Log, requests: Requests) -> Iterator[tuple[str, str, Iterable[str]]]:
    """Option, fio's name and lines of each log of bandwidth, latency or IOPS that a job asked for."""
    options = log["options"]
    for option, kinds in KINDS.items():
        if option not in options:
            continue
        for kind, name in zip(kinds, paths(option, options, log["name"], [log["number"]]), strict=True):
            # An engine that waits has no time of submission of its own.
            waits = kind == "slat" and log["one_at_a_time"]
            yield option, name, () if waits else rows(requests, kind, options)


def _by_time(parts: Sequence[Mapping[str, Integers]], begin_ns: int) -> dict[str, Integers]:
    """Columns of the requests of several jobs in the order of time, where fio's lie as they come. Issued since
    `begin_ns`."""
    whole = {name: np.concatenate([columns[name] for columns in parts]) for name in COLUMNS}
    order = np.argsort(whole["issued_ns"], kind="stable")
    columns = {name: values[order] for name, values in whole.items()}
    columns["issued_ns"] = columns["issued_ns"] - begin_ns
    return columns


def paths(option: str, options: Mapping[str, str], job: str, numbers: Iterable[int]) -> list[str]:
    """Names that fio gives to the log files of an option, for the clones `numbers` of a job."""
    if option == "write_iolog":
        return [options[option]]
    given = options[option] or job
    kinds = ["clat_hist" if kind == "hist" else kind for kind in KINDS[option]]
    if options.get("per_job_logs", "1") == "0":
        return [f"{given}_{kind}.log" for kind in kinds]
    return [f"{given}_{kind}.{number}.log" for number in numbers for kind in kinds]


def write_aggregate(recording: Recording, folder: Path) -> list[Path]:
    """`--bandwidth-log`: what all jobs moved together, in KiB/s each half second, a file for each direction. Of a slow
    drive each bin of the series, where it is longer: parts of one bin would look like samples that agree."""
    ends = np.r_[0, recording.time["end_ns"].astype(np.float64)]
    interval_ns = max(AGGREGATE_NS, int(np.median(np.diff(ends, prepend=0))))
    at = np.arange(interval_ns, ends[-1] + 1, interval_ns)
    written = []
    for op, word in ((READ, "read"), (WRITE, "write"), (TRIM, "trim")):
        moved = np.r_[0, np.cumsum(recording.time[f"{word}_bytes"].astype(np.float64))]
        rates = np.diff(np.interp(np.r_[0, at], ends, moved)) * 1e9 / interval_ns / 1024
        path = folder / f"agg-{word}_bw.log"
        lines = [f"{int(end // 1e6)}, {int(rate)}, {op}, 0, 0\n" for end, rate in zip(at, rates, strict=True)]
        writer.write(path, "".join(lines))
        written.append(path)
    return written


def _iolog(columns: Mapping[str, Integers], file: str) -> Iterator[str]:
    """Version 3: microseconds since the job began, file, action, offset, length."""
    yield f"fio version 3 iolog\n0 {file} add\n0 {file} open\n"
    issued, latency, op, size, offset = (columns[name] for name in ("issued_ns", "latency_ns", "op", "bytes", "offset"))
    for first in range(0, len(issued), ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        rows = zip(*(of[part].tolist() for of in (issued // 1000, op, offset, size)), strict=True)
        yield from (f"{at} {file} {ACTIONS[what]} {place} {bs}\n" for at, what, place, bs in rows)
    last = int(((issued + latency) // 1000).max(initial=0))
    yield f"{last} {file} close\n"
