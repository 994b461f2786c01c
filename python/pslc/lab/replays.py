"""Traces on the bench: which of its devices is replayed, and where its addresses are on a smaller drive."""

from __future__ import annotations

import shlex
from functools import lru_cache
from pathlib import Path

from pslc import traces
from pslc.base.errors import PslcError
from pslc.lab.files import is_dropped, stamp
from pslc.schema.surveys import Survey
from pslc.traces import Part, Replay


def is_trace(suite: str) -> bool:
    """Whether what a bench runs is a trace that was dropped."""
    return is_dropped(Path(suite)) and _cached_result(suite, stamp(Path(suite)))


@lru_cache(maxsize=64)
def _cached_result(path: str, changed_ns: int) -> bool:
    try:
        return traces.is_trace(Path(path), Part())
    except PslcError:
        return False


@lru_cache(maxsize=8)
def _survey(path: str, changed_ns: int) -> Survey:
    return traces.opened(Path(path), Part()).survey()


def options(path: str, capacity_bytes: int) -> Replay:
    """Options of a replay: the busiest of several devices, and addresses past the end of the drive start again at 0.

    Raises:
        PslcError: it cannot be read.
    """
    devices = _survey(path, stamp(Path(path)))["devices"]
    busiest = max(devices, key=lambda device: sum(device["bytes"].values()), default=None)
    if busiest is None:
        return Replay()
    part = Part(device=busiest["device"]) if len(devices) > 1 else Part()
    return Replay(part, fit="wrap" if busiest["end_bytes"] > capacity_bytes else "exact")


def command(path: str, capacity_bytes: int) -> str:
    """The command that replays the trace as the page does, without `pslc` and the drive.

    Raises:
        PslcError: it cannot be read.
    """
    replay = options(path, capacity_bytes)
    device = ["--device", replay.part.device] if replay.part.device else []
    addresses = ["--addresses", replay.fit] if replay.fit != "exact" else []
    return shlex.join(["replay", path, *device, *addresses])
