"""The progress bar of a run, on stderr."""

from types import TracebackType

from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

from pslc.base import words
from pslc.base.console import Console, Progress, line
from pslc.schema.results import StepProgress, done_of


class Bar:
    """Use it as a context, and give it to a run as its `progress`. Shows nothing where stderr is no terminal.

    Who hears an interrupt calls `interrupt`: a run that has begun then ends at its next progress, and everything after
    it, which puts the recording away, is not disturbed however often one is heard.
    """

    def __init__(self, title: str) -> None:
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[done]}  {task.fields[speed]}  ETA", markup=False),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(line(title), total=None, done="", speed="")
        self._name = title
        self._begun = self._interrupted = False

    def __enter__(self) -> "Bar":
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def pause(self) -> None:
        """Make room for a question."""
        self._bar.stop()

    def resume(self) -> None:
        """Show it again."""
        self._bar.start()

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
        self._bar.console.print(text, style="dim")

    def _title(self, state: StepProgress) -> str:
        return f"{self._name} {state['step']}"

    def __call__(self, state: StepProgress) -> bool:
        """Draw what a run tells about its progress; False, which ends it, after an interrupt."""
        self._begun = True
        done, total = done_of(state)
        self._bar.update(
            self._task,
            description=line(self._title(state)),
            total=total or None,
            completed=done,
            done=words.size(state["done_bytes"]),
            speed=words.speed(state["bytes_per_s"]),
        )
        return not self._interrupted
