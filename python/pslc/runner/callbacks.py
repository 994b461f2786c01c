"""Callbacks of a run: progress, consent, checkpoints, log lines."""

from collections.abc import Callable
from datetime import datetime

from pslc.base.console import say
from pslc.recording import stalls
from pslc.recording.model import Recording
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


class SilenceNotice:
    """Progress callback of a program that gives none: prints a line when a real drive stops answering."""

    def __init__(self) -> None:
        self._is_told = False

    def __call__(self, state: StepProgress) -> bool:
        """Look at the state of the run, which goes on."""
        silence = state.get("silence")
        if silence is not None and not self._is_told:
            say(f"{stalls.waiting(silence, datetime.now())}; pslc.run returns once the drive answers", err=True)
        self._is_told = silence is not None
        return True


class DeclinedError(Exception):
    """`Confirm` returned False: nothing was run."""
