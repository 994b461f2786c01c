"""The progress bar of a run, on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING

from pslc.base import words
from pslc.base.console import line, say
from pslc.schema.results import Silence, StepProgress, done_of

if TYPE_CHECKING:
    from pslc.cli._drawn_bar import DrawnBar


class Bar:
    """Use it as a context, and give it to a run as its `progress`. Shows nothing where stderr is no terminal.

    Who hears an interrupt calls `interrupt`: a run that has begun then ends at its next progress, and everything after
    it, which puts the recording away, is not disturbed however often one is heard. A second one ends workers; while a
    run that is to end waits for a drive that does not answer, it calls `leave`, which ends the process.
    """

    def __init__(self, title: str, leave: Callable[[Silence], None] | None = None) -> None:
        self._drawn = _drawn_bar(title)
        self._name = title
        self._leave = leave
        self._begun = self._interrupted = self._again = self._waits = False
        self._silence: Silence | None = None
        self._substitutes: str | None = None

    def __enter__(self) -> Bar:
        self.resume()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.pause()

    def pause(self) -> None:
        """Make room for a question."""
        if self._drawn:
            self._drawn.stop()

    def resume(self) -> None:
        """Show the bar again after `pause`."""
        if self._drawn:
            self._drawn.start()

    def interrupt(self) -> None:
        """End the run.

        Raises:
            KeyboardInterrupt: there is none yet.
        """
        first, self._interrupted = not self._interrupted, True
        if first and not self._begun:
            raise KeyboardInterrupt
        self._again = not first
        if self._again:
            self._leave_if_silent()

    def _leave_if_silent(self) -> None:
        if self._leave is not None and self._silence is not None:
            self._leave(self._silence)

    def _hear(self, silence: Silence | None) -> None:
        """Report once that the drive does not answer, what a run that is to end waits for, and the next answer."""
        from pslc.recording import stalls

        before, self._silence = self._silence, silence
        if silence is None:
            if before is not None:
                self.log(f"the drive answers again, after {stalls.whole_s(before['duration_s'])}")
            return
        text = stalls.waiting(silence, datetime.now())
        if self._interrupted and not self._waits and "is_held" in silence:
            self._waits = True
            # A thread that waits in the kernel cannot hand over what came after its last checkpoint.
            is_held = silence["is_held"]
            first = f"the first {words.span(silence['kept_s'])} are" if is_held else "what was measured is"
            self.log(f"interrupted, but {text}; {first} saved; interrupt again to leave at once")
        elif before is None:
            self.log(text)
        if self._again:
            self._leave_if_silent()

    def log(self, text: str) -> None:
        """A line above the bar."""
        if self._drawn:
            self._drawn.console.print(text, style="dim", soft_wrap=True)
        else:
            say(text, err=True)

    def _title(self, state: StepProgress) -> str:
        return f"{self._name} {state['step']}"

    def __call__(self, state: StepProgress) -> bool:
        """Draw what a run tells about its progress; False, which ends it, after an interrupt.

        Raises:
            KeyboardInterrupt: there were two. A run in this process ends as after one.
        """
        self._begun = True
        if (silence := state.get("silence")) or self._silence:
            self._hear(silence)
        if (why := state.get("engine_substitutes")) and why != self._substitutes:
            from pslc.recording.warnings import RecordingWarning

            self._substitutes = why
            self.log(str(RecordingWarning.ENGINE_SUBSTITUTE.of(why=why)))
        if self._drawn:
            done, total = done_of(state)
            self._drawn.draw(
                line(self._title(state)),
                (done, total),
                (words.size(state["done_bytes"]), words.speed(state["bytes_per_s"])),
            )
        if self._again:
            raise KeyboardInterrupt
        return not self._interrupted


def _drawn_bar(title: str) -> DrawnBar | None:
    """The bar, where stderr is a terminal: only then is rich imported, which takes longer than a short run."""
    if not sys.stderr.isatty():
        return None
    from pslc.cli._drawn_bar import DrawnBar

    return DrawnBar(title)
