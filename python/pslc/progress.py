"""The progress bar of a run, on stderr."""

from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from pslc.report import words


class Bar:
    """Use it as a context, and give it to a run as its `progress`. Shows nothing where stderr is no terminal."""

    def __init__(self, title: str) -> None:
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[done]}  {task.fields[speed]}  ETA"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(title, total=None, done="", speed="")

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

    def __call__(self, state: dict[str, Any]) -> bool:
        """Draw what a run tells about its progress; never ends it."""
        timed = state["total_time_ns"] > 0 and state["total_bytes"] == 0
        total, done = ("total_time_ns", "drive_time_ns") if timed else ("total_bytes", "done_bytes")
        self._bar.update(
            self._task,
            total=state[total] or None,
            completed=state[done],
            done=words.size(state["done_bytes"]),
            speed=words.speed(state["bytes_per_s"]),
        )
        return True
