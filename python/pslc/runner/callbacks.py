"""Types of the callbacks of a run: progress, consent, checkpoints, log lines."""

from collections.abc import Callable

from pslc.recording.store import Recording
from pslc.runner.plan import Plan
from pslc.schema.results import StepProgress

Progress = Callable[[StepProgress], bool]
"""Callback for progress, called about ten times a second; the run ends when it returns False."""

Confirm = Callable[[Plan], bool]
"""Callback that asks for consent before anything is written to a real drive, and before a run that takes days. If it
returns False, the run is not made."""

OnCheckpoint = Callable[[Recording], None]
"""Callback that takes the recording so far every few seconds, between steps and within one."""

Log = Callable[[str], None]
"""Callback that takes a line for each step of several."""


class DeclinedError(Exception):
    """`Confirm` returned False: nothing was run."""
