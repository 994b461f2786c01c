"""The progress bar of a run as rich draws it."""

from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

from pslc.base.console import line
from pslc.base.rich_console import Console, Progress

MIN_BAR_COLUMNS = 64
"""Columns of a terminal from which there is room for a bar beside the title, what is done and the speed."""


class DrawnBar(Progress):
    """A bar with a title, what is done, and its speed; nothing on a terminal that rich does not draw on."""

    def __init__(self, title: str) -> None:
        console = Console(stderr=True)
        title_column = TextColumn("{task.description}", markup=False)
        speed = "{task.fields[done]}  {task.fields[speed]}"
        details = [BarColumn(), TaskProgressColumn(), TextColumn(f"{speed}  ETA", markup=False), TimeRemainingColumn()]
        super().__init__(
            title_column,
            *(details if console.width >= MIN_BAR_COLUMNS else [TextColumn(speed, markup=False)]),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self.add_task(line(title), total=None, done="", speed="")

    def draw(self, title: str, progress: tuple[float, float], texts: tuple[str, str]) -> None:
        """Draw a title, what is done and of how much (0: not known), and both what is done and its speed in words."""
        (completed, total), (done, speed) = progress, texts
        self.update(self._task, description=title, total=total or None, completed=completed, done=done, speed=speed)
