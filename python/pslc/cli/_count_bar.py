"""A bar that counts: so many of so many are done, and when all of them are."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def counting(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on stderr, where that is a terminal; gives what takes how many are done and how many there are."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    from pslc.base.rich_console import Console, Progress

    console = Console(stderr=True)
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TextColumn("ETA"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
