"""A load replayed on several simulated drives, each in a process."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from pslc.base import work
from pslc.base.errors import PslcError
from pslc.base.workers import while_wanted
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import latency
from pslc.runner import job_file
from pslc.runner.run import run
from pslc.suites import trace as trace_suite
from pslc.traces import Replay
from pslc.watch.requests import Order, Stretch

SYNC_JOB: Final = (
    ("name", "sync"), ("rw", "randwrite"), ("bs", "4k"), ("size", "64m"), ("io_size", "8m"), ("fsync", "1"),
)  # fmt: skip
"""Writes of 4 KiB, each followed by a flush, as a database commits: 2048 of them."""


@dataclass(frozen=True)
class Task:
    """Requests to replay on a simulated drive.

    Attributes:
        path: of the trace.
        order: of the addresses, where they were made up; None in a real trace.
        stretches: whose time on the drive is wanted.
        with_sync: also measure how long a synced write takes.
    """

    on: str
    path: Path
    replay: Replay
    order: Order | None
    stretches: tuple[Stretch, ...]
    with_sync: bool


@dataclass(frozen=True)
class Outcome:
    """Result of one replay task. If the replay was refused, only `refused` is set, with the reason.

    Attributes:
        work_s: time of the stretches in which the watched drive was the limit.
        sync_s: mean time of a 4 KiB write with its flush, on the fresh drive.
        late_share: requests that found no room in the queue.
        is_twin: the drive is a fitted one, whose slowest requests are no predictions.
    """

    task: Task
    refused: str | None = None
    name: str = ""
    capacity_bytes: int = 0
    plp: bool = False
    work_s: float = 0.0
    drive_s: float = 0.0
    sync_s: float | None = None
    late_share: float = 0.0
    is_twin: bool = False
    findings: trace_suite.Findings | None = None


def outcomes(tasks: Sequence[Task], workers: int | None = None) -> Iterator[Outcome]:
    """Replay every task and give each outcome as it ends. Closing the iterator ends the processes.

    Raises:
        PslcError: the process of a replay was killed, twice.
    """
    for _, outcome in work.run(tasks, replay, work.Local(min(workers or work.cores(), len(tasks)))):
        if isinstance(outcome, Exception):
            raise outcome
        yield outcome


def replay(task: Task) -> Outcome:
    """Replay a task in this process."""
    try:
        recording = run(task.path, on=task.on, replay=task.replay, progress=while_wanted)
        sync_s = _sync_s(task.on) if task.with_sync else None
    except PslcError as error:
        return Outcome(task, refused=error.message)
    findings = trace_suite.findings(recording)
    return Outcome(
        task,
        name=recording.drive,
        capacity_bytes=recording.capacity_bytes,
        plp=recording.facts["plp"],
        work_s=sum(_took_s(recording, stretch) for stretch in task.stretches),
        drive_s=recording.drive_time_s,
        sync_s=sync_s,
        late_share=findings["late"] / max(findings["requests"], 1),
        is_twin=recording.is_twin,
        findings=findings,
    )


def _sync_s(on: str) -> float:
    """Mean seconds of a write of 4 KiB with its flush."""
    recording = run(job_file.COMMAND_LINE, on=on, options=SYNC_JOB, progress=while_wanted)
    (job,) = recording.jobs
    return latency(job, "write") + job["sync"]["lat_ns"]["mean"] / 1e9


def _took_s(recording: Recording, stretch: Stretch) -> float:
    """Seconds a drive took for a stretch. It begins when it is asked to, or when it is done with the one before."""
    begin = max(stretch.from_s, _reached_s(recording, stretch.from_bytes))
    return max(_reached_s(recording, stretch.to_bytes) - begin, 0.0)


def _reached_s(recording: Recording, moved_bytes: int) -> float:
    """Seconds until `moved_bytes` had been moved: between the latest time at which they had not, and the earliest at
    which they had, by both series, of equal times and of equal bytes."""
    latest, earliest = 0.0, recording.drive_time_s
    for series in (recording.time, recording.bytes):
        moved = np.cumsum(series["read_bytes"].astype(np.float64) + series["write_bytes"].astype(np.float64))
        ends_s = (series["end_ns"].astype(np.float64) - recording.start_ns) / 1e9
        at = int(np.searchsorted(moved, moved_bytes - 0.5))
        if at < len(moved):
            earliest = min(earliest, float(ends_s[at]))
        if at:
            latest = max(latest, float(ends_s[at - 1]))
    return 0.0 if moved_bytes <= 0 else (latest + max(earliest, latest)) / 2
