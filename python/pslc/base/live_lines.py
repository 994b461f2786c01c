"""A few lines on a terminal that are drawn anew each second. Plain escape codes: a library that lays out tables takes
longer for a picture than the block layer of a machine takes for a hundred requests."""

import shutil
from collections import deque
from types import TracebackType
from typing import Final, TextIO

from pslc.base import console

BARS: Final = " ▁▂▃▄▅▆▇█"


class Live:
    """Use it as a context. Draws nothing where `stream` is no terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._drawn = console.as_is(stream), 0
        self.shown = stream.isatty()

    def __enter__(self) -> "Live":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.draw([])

    def draw(self, lines: list[str]) -> None:
        """Replace the lines drawn before by these, cut to the width of the terminal."""
        if not self.shown:
            return
        size = shutil.get_terminal_size()
        lines = [console.line(line)[: size.columns - 1] for line in lines[: size.lines - 1]]
        up = f"\x1b[{self._drawn}A" if self._drawn else ""
        self._stream.write(f"{up}\r\x1b[J" + "".join(f"{line}\n" for line in lines))
        self._stream.flush()
        self._drawn = len(lines)


class Trail:
    """The last values of something as a line of bars, the highest of them as high as a letter."""

    def __init__(self, width: int) -> None:
        self._values: deque[float] = deque(maxlen=width)

    def add(self, value: float) -> str:
        """The line with one more value."""
        self._values.append(value)
        top = max(self._values)
        return "".join(BARS[round(8 * value / top)] if top else BARS[0] for value in self._values)
