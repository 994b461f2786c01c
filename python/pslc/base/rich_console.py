"""Console, tables and progress bars of rich, whose output passes the filter of console.py.

A module of its own, since rich takes 60 ms to import and most commands lay nothing out.
"""

import sys
from collections.abc import Iterable
from typing import Any

import rich.console
import rich.progress
import rich.text
from rich.file_proxy import FileProxy
from rich.segment import Segment

from pslc.base.console import MAX_LINE_LETTERS, as_is, escaped, glued, line, short, unglued


class Text(rich.text.Text):
    """rich's text of one line, escaped before it is measured, so that tables stay straight."""

    def __init__(self, text: str = "", style: Any = "", **how: Any) -> None:
        super().__init__(short(line(text), MAX_LINE_LETTERS), style, **how)

    def append(self, text: Any, style: Any = None) -> Any:
        """Append text, a string's control characters escaped."""
        return super().append(line(text) if isinstance(text, str) else text, style)

    def wrap(self, *place: Any, **how: Any) -> Any:
        """Lines of the text, none of which ends within a figure."""
        text = self.copy()
        text.plain = glued(text.plain)
        lines = rich.text.Text.wrap(text, *place, **how)
        for part in lines:
            part.plain = unglued(part.plain)
        return lines


class Console(rich.console.Console):
    """rich's console without markup and emoji codes, which names may hold by chance or on purpose."""

    def __init__(self, *, stderr: bool = False, soft_wrap: bool = False) -> None:
        stream = as_is(sys.stderr if stderr else sys.stdout)
        super().__init__(file=stream, soft_wrap=soft_wrap, markup=False, emoji=False, highlight=False)

    def on_broken_pipe(self) -> None:
        """Raise the BrokenPipeError that is being handled, in place of an exit with 1."""
        raise  # rich calls it while it handles one

    def render_str(self, text: str, **how: Any) -> rich.text.Text:
        """Render a string, escaped, whatever markup it seems to hold."""
        return super().render_str(escaped(text), **how | {"markup": False, "emoji": False})

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Render anything; only rich's own control segments stay as they are."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=escaped(segment.text))


class Progress(rich.progress.Progress):
    """rich's progress bars. What is printed meanwhile appears above them, escaped."""

    def start(self) -> None:
        """Start to draw, and escape what is printed above the bars."""
        super().start()
        for name in ("stdout", "stderr"):
            if type(stream := getattr(sys, name)) is FileProxy:
                setattr(sys, name, _Above(self.console, as_is(as_is(stream))))


class _Above(FileProxy):
    """rich's stream above a bar, which would obey colours in what is written."""

    def write(self, text: str) -> int:
        return super().write(escaped(text))
