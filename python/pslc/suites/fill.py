"""Where is the cliff? Write the whole drive once, in sequence, and watch the speed."""

from typing import Any

from pslc.findings import of_writes
from pslc.recording import Recording
from pslc.target import Target


def jobs(target: Target) -> str:
    """1 MiB requests, 32 under way: enough to keep any drive busy."""
    past_the_cache = "direct=1\n" if target.is_real else ""
    return "[fill]\nrw=write\nbs=1m\niodepth=32\nsize=100%\n" + past_the_cache


def findings(recording: Recording) -> dict[str, Any]:
    """See `pslc.findings.of_writes`."""
    return of_writes(recording)
