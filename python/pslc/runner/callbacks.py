"""Types of the callbacks of a run: progress, consent, checkpoints, log lines."""

from collections.abc import Callable

from pslc.recording.store import Recording
from pslc.runner.plan import Plan
from pslc.schema.results import StepProgress

Progress = Callable[[StepProgress], bool]
"""Called about ten times a second; the run ends when it returns False."""

Confirm = Callable[[Plan], bool]
"""Called before anything is written to a real drive, and before a run that takes days. If it returns False, the run is
not made."""

OnCheckpoint = Callable[[Recording], None]
"""Called every few seconds with the recording so far, between steps and within one."""

Log = Callable[[str], None]
"""Called with a line for each step of several."""


class DeclinedError(Exception):
    """`Confirm` returned False: nothing was run."""
