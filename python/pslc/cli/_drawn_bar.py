"""The progress bar of a run as rich draws it."""

from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

from pslc.base.console import line
from pslc.base.rich_console import Console, Progress


class DrawnBar(Progress):
    """A bar with a title, what is done, and its speed; nothing on a terminal that rich does not draw on."""

    def __init__(self, title: str) -> None:
        console = Console(stderr=True)
        super().__init__(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[done]}  {task.fields[speed]}  ETA", markup=False),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self.add_task(line(title), total=None, done="", speed="")

    def draw(self, title: str, progress: tuple[float, float], texts: tuple[str, str]) -> None:
        """Draw a title, what is done and of how much (0: not known), and both what is done and its speed in words."""
        (completed, total), (done, speed) = progress, texts
        self.update(self._task, description=title, total=total or None, completed=completed, done=done, speed=speed)
