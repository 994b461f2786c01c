"""The load that advice is about: a recording of `pslc watch`, another program's counters, or a trace."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from pslc import traces
from pslc.advice.drives import UNKNOWN_CAPACITY_BYTES
from pslc.analysis.load import Load
from pslc.base.errors import RecordingError
from pslc.recording.model import Recording
from pslc.recording.watched import load_of
from pslc.runner.load import opened, read_files
from pslc.schema.imports import ImportOptions
from pslc.schema.surveys import Survey
from pslc.traces import Part
from pslc.watch import findings
from pslc.watch.requests import Stretch, make_requests

TRACE: Final = "trace.txt"
"""The requests in a folder of `pslc watch --trace`."""
TAKES: Final = "pslc advise takes a folder of pslc watch, a log of iostat or sar, or a trace"


@dataclass(frozen=True)
class Loss:
    """Time lost because the drive became slow, by cause (`pslc.watch.causes.CAUSES`)."""

    cause: str
    sureness: str
    seconds: float


@dataclass(frozen=True)
class Watched:
    """A load of which the counters of each interval are known.

    Attributes:
        stretches: where the drive was the limit.
        losses: what was lost in them, the largest first.
    """

    load: Load
    findings: findings.Findings
    stretches: list[Stretch]
    losses: list[Loss]

    @property
    def limited_s(self) -> float:
        """Seconds for which the drive was the limit."""
        return sum(stretch.to_s - stretch.from_s for stretch in self.stretches)

    @property
    def kept_speed_s(self) -> float:
        """Seconds for which the drive would have been the limit if it had kept its speed from before each slowdown."""
        return self.limited_s - sum(loss.seconds for loss in self.losses)


@dataclass(frozen=True)
class Traced:
    """A trace, of which every request is known."""

    path: Path
    part: Part
    survey: Survey


@dataclass(frozen=True)
class Subject:
    """The load that advice is about.

    Attributes:
        name: of the watched drive or of the trace.
        of: the counters of each interval, or the requests.
        needed_bytes: capacity that a drive needs to hold this load's data.
        is_capacity_known: False if `needed_bytes` is a guess.
        seconds: length of the recording.
        written_bytes: bytes written in that time.
    """

    name: str
    of: Watched | Traced
    needed_bytes: int
    is_capacity_known: bool
    seconds: float
    written_bytes: float


def read(path: Path, part: Part, capacity_bytes: int | None = None) -> Subject:
    """Read a recording of a drive at work, a log of one, or a trace; `capacity_bytes` is what a drive has to hold.

    Where `pslc watch --trace` kept the requests, these are taken, as they say more than the counters.

    Raises:
        PslcError: it is none of these, or cannot be read.
    """
    if path.is_dir():
        recording = opened(path)
        if "watch" not in recording.facts:
            raise RecordingError(f"{path} is a run of {recording.suite}, no drive at work", TAKES)
        if (path / TRACE).exists():
            return _traced(path / TRACE, part, capacity_bytes or recording.capacity_bytes)
        return of_recording(recording, capacity_bytes)
    if traces.is_trace(path, part):
        return _traced(path, part, capacity_bytes)
    (recording, *_) = read_files([path], ImportOptions(device=part.device))
    if "watch" not in recording.facts:
        raise RecordingError(f"{path} is of a test, not of a drive at work", TAKES)
    return of_recording(recording, capacity_bytes)


def of_recording(recording: Recording, capacity_bytes: int | None = None) -> Subject:
    """Build the subject of an advice from a recording whose intervals were counted.

    Raises:
        RecordingError: nothing was moved, or too much.
    """
    load = load_of(recording)
    result = findings.findings(recording)
    capacity = capacity_bytes or recording.capacity_bytes
    stretches = make_requests(load, max(capacity, 1)).stretches
    watched = Watched(load, result, stretches, _losses(load, result["falls"], stretches))
    seconds, written = float(load.seconds.sum()), float(np.nansum(load.write_bytes))
    return Subject(recording.drive, watched, capacity or UNKNOWN_CAPACITY_BYTES, bool(capacity), seconds, written)


def _traced(path: Path, part: Part, capacity_bytes: int | None) -> Subject:
    survey = traces.opened(path, part).survey()
    traces.one_device(path, part, survey)
    devices = survey["devices"]
    end = max((of["end_bytes"] for of in devices), default=0)
    written = float(sum(of["bytes"]["write"] for of in devices))
    needed = capacity_bytes or max(end, UNKNOWN_CAPACITY_BYTES)
    seconds = survey["duration_ns"] / 1e9
    return Subject(path.name, Traced(path, part, survey), needed, bool(capacity_bytes), seconds, written)


def _losses(load: Load, falls: list[findings.Fell], stretches: list[Stretch]) -> list[Loss]:
    """Time that each fall cost where the drive was the limit: what its bytes took beyond the speed before the fall."""
    ends = load.ends_s
    limited = np.zeros(ends.size, dtype=bool)
    for stretch in stretches:
        limited |= stretch.covers(ends)
    lost = np.zeros(ends.size)
    by_cause: dict[tuple[str, str], float] = {}
    for fall in falls:
        moved = getattr(load, f"{fall['kind']}_bytes")
        until = fall["again_s"] if fall["again_s"] is not None else float(ends[-1])
        within = limited & (ends > fall["at_s"]) & (ends <= until)
        extra = np.where(within, np.maximum(load.seconds - moved / fall["from_bytes_per_s"], 0.0), 0.0)
        # Of falls one after the other, an interval counts once, with the speed before the first.
        extra = np.maximum(extra - lost, 0.0)
        lost += extra
        key = (fall["cause"], fall["sureness"])
        by_cause[key] = by_cause.get(key, 0.0) + float(extra.sum())
    losses = [Loss(cause, sureness, seconds) for (cause, sureness), seconds in by_cause.items() if seconds > 0]
    return sorted(losses, key=lambda loss: -loss.seconds)
