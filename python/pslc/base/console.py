"""Text for people on its way to a terminal: the one filter that it passes.

Names, cells and messages come from files that others made. A terminal obeys control codes in them: it sets its title,
writes the clipboard, hides or reorders what is shown. Here such codes become escapes that can be read, `\\u001b`.

Everything leaves through one of three: `Screen`, which is stdout and stderr of the command line, for `print` and
`typer.echo`; `Console` of rich_console.py, for what rich lays out, with its own colours; `as_is`, for code that moves
the cursor itself and calls `line` on every text.
"""

from __future__ import annotations

import io
import os
import re
import sys
import textwrap
from contextlib import suppress
from typing import Any, Final

_CONTROLS: Final = re.compile("(?!\r\n)[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""C0 but for tab and new line, DEL, C1, separators of lines and paragraphs, and what turns the direction of text."""
PLAIN: Final = str.maketrans({"µ": "u", "°": None})
"""Units in an encoding that lacks their signs: `us`, `C`."""
MAX_NAME_LETTERS: Final = 200
"""Longest name that is drawn or printed; a chart of one of 2000 letters took half a minute."""
MAX_LINE_LETTERS: Final = 4000
"""Longest line for people: a sentence with several names in it."""
GLUE: Final = "\ue000"
"""Stands for a blank at which no line may end, while text is wrapped: rich and `str.split` break at U+00A0 too."""
_UNIT: Final = r"(?:%|[kMGTP]?i?B(?:/s)?|Gb|MT/s|[nuµm]?s|min|h|days|years|W|J|°?C|IOPS|points|times)(?![\w/])"
_INNER_BLANK: Final = re.compile(rf"(?<=\d) (?=\d{{3}}(?!\d)|{_UNIT})|(?<=%) (?=\*)")
"""Blank within a figure: before its unit, between its thousands, before the star that marks it."""
_BREAKS: Final = re.compile("[\t\r\n]")


def escaped(text: str) -> str:
    """The text with each control character as `\\uXXXX`, which JSON and TOML read as that character. Lines stay."""
    return _CONTROLS.sub(_escape, text)


def line(text: str) -> str:
    """Escape a text that is one line, such as a name: its tabs and new lines become escapes too."""
    return _BREAKS.sub(_escape, escaped(text))


def short(text: str, letters: int = MAX_NAME_LETTERS) -> str:
    """A text of others, such as the name of a drive: what is drawn or printed of it ends after so many letters."""
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def glued(text: str) -> str:
    """The text with `GLUE` for each blank within a figure; `unglued` puts the blanks back."""
    return _INNER_BLANK.sub(GLUE, text)


def unglued(text: str) -> str:
    """The text of `glued`."""
    return text.replace(GLUE, " ")


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of the text, each with the indent, none of which ends within a figure."""
    lines = textwrap.wrap(glued(text), max(width, 1), initial_indent=indent, subsequent_indent=indent)
    return [unglued(line) for line in lines]


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def say(text: str, *, err: bool = False) -> None:
    """Print a line to stdout, or to stderr if `err`: a new line in a name becomes an escape, and begins none."""
    print(line(text), file=sys.stderr if err else sys.stdout, flush=True)


def discard(stream: Any) -> None:
    """Send what a stream still holds, and all that follows, nowhere: it cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class Screen(io.TextIOWrapper):
    """A stream of text for people: whatever is written to it is escaped.

    Args:
        stream: the one in whose place it comes.
        lossy: a text that cannot be written is dropped, and is no error.
    """

    def __init__(self, stream: io.TextIOWrapper, encoding: str, errors: str, *, lossy: bool = False) -> None:
        lines, through = lossy or stream.line_buffering, stream.write_through
        super().__init__(stream.detach(), encoding, errors, line_buffering=lines, write_through=through)
        self._lossy = lossy
        try:
            self._has_micro = bool("µ".encode(encoding))
        except UnicodeEncodeError:
            self._has_micro = False

    def write(self, text: str) -> int:
        """Write text with its control characters escaped."""
        return self.write_as_is(escaped(text))

    def write_as_is(self, text: str) -> int:
        """Write text whose control characters are ours."""
        if not self._has_micro:
            text = text.translate(PLAIN)
        if not self._lossy:
            return super().write(text)
        with suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Flush; a lossy screen drops an error of the stream."""
        if not self._lossy:
            super().flush()
            return
        with suppress(OSError):
            super().flush()

    @property
    def rich_proxied_file(self) -> _AsIs:
        """File that consoles of rich write to, such as typer's for help. It bypasses the filter, because these colours
        are pslc's own."""
        return _AsIs(self)


class _AsIs:
    """The other way into a `Screen`."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def write(self, text: str) -> int:
        return self._screen.write_as_is(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._screen, name)


def as_is(stream: Any) -> Any:
    """A stream for text whose control characters are ours."""
    return getattr(stream, "rich_proxied_file", stream)
