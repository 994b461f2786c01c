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
    return is_dropped(Path(suite)) and _known(suite, stamp(Path(suite)))


@lru_cache(maxsize=64)
def _known(path: str, changed_ns: int) -> bool:
    try:
        return traces.is_trace(Path(path), Part())
    except PslcError:
        return False


@lru_cache(maxsize=8)
def _survey(path: str, changed_ns: int) -> Survey:
    return traces.opened(Path(path), Part()).survey()


def how(path: str, capacity_bytes: int) -> Replay:
    """Of several devices the one that moves most; addresses past the end of the drive begin again at 0.

    Raises:
        PslcError: it cannot be read.
    """
    devices = _survey(path, stamp(Path(path)))["devices"]
    most = max(devices, key=lambda of: sum(of["bytes"].values()), default=None)
    if most is None:
        return Replay()
    part = Part(device=most["device"]) if len(devices) > 1 else Part()
    return Replay(part, fit="wrap" if most["end_bytes"] > capacity_bytes else "exact")


def command(path: str, capacity_bytes: int) -> str:
    """What `pslc run` is told of the trace and how it is replayed.

    Raises:
        PslcError: it cannot be read.
    """
    asked = how(path, capacity_bytes)
    words = [path, *(["--device", asked.part.device] if asked.part.device else [])]
    return shlex.join([*words, *(["--fit", asked.fit] if asked.fit != "exact" else [])])
