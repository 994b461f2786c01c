"""The progress bar of a run, on stderr."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

from pslc.base import words
from pslc.base.console import line
from pslc.schema.results import StepProgress, done_of

if TYPE_CHECKING:
    from pslc.cli._drawn_bar import DrawnBar


class Bar:
    """Use it as a context, and give it to a run as its `progress`. Shows nothing where stderr is no terminal.

    Who hears an interrupt calls `interrupt`: a run that has begun then ends at its next progress, and everything after
    it, which puts the recording away, is not disturbed however often one is heard.
    """

    def __init__(self, title: str) -> None:
        self._drawn = _drawn_bar(title)
        self._name = title
        self._begun = self._interrupted = False

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

    def log(self, text: str) -> None:
        """A line above the bar."""
        from pslc.base.rich_console import Console

        console = self._drawn.console if self._drawn else Console(stderr=True)
        console.print(text, style="dim")

    def _title(self, state: StepProgress) -> str:
        return f"{self._name} {state['step']}"

    def __call__(self, state: StepProgress) -> bool:
        """Draw what a run tells about its progress; False, which ends it, after an interrupt."""
        self._begun = True
        if self._drawn:
            done, total = done_of(state)
            self._drawn.draw(
                line(self._title(state)),
                (done, total),
                (words.size(state["done_bytes"]), words.speed(state["bytes_per_s"])),
            )
        return not self._interrupted


def _drawn_bar(title: str) -> DrawnBar | None:
    """The bar, where stderr is a terminal: only then is rich imported, which takes longer than a short run."""
    if not sys.stderr.isatty():
        return None
    from pslc.cli._drawn_bar import DrawnBar

    return DrawnBar(title)
