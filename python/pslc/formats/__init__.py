"""Other programs' recordings: one file a format, found by listing. Each has `matches`, which looks at the beginning of
a file, and `read`, which makes a `Foreign` of one or several of them."""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from pslc.analysis import Curve
from pslc.errors import refusal

HEAD = 4096
"""Bytes of a file that its format is told by."""


@dataclass(frozen=True)
class Hints:
    """What a file does not say by itself.

    Attributes:
        x, y: columns of a table, `COLUMN` or `COLUMN=UNIT`.
        skip_bad: leave lines out that cannot be read, and count them.
    """

    x: str | None = None
    y: str | None = None
    skip_bad: bool = False


@dataclass
class Foreign:
    """What was read.

    Attributes:
        name: what it is called in a report.
        curve: time against bytes written; None when the data have no series.
        jobs: as in `Recording.jobs`, where the data tell of them.
        bad_lines: left out.
    """

    name: str
    curve: Curve | None
    jobs: list[dict[str, Any]] = field(default_factory=list)
    bad_lines: int = 0


class Format(Protocol):
    """What a format's module has."""

    @staticmethod
    def matches(path: Path, head: str) -> bool:
        """Whether a file that begins so is of this format."""

    @staticmethod
    def read(paths: Sequence[Path], hints: Hints) -> Foreign:
        """The data of the files together; several are the jobs of one run."""


def read(paths: Sequence[Path], hints: Hints) -> Foreign:
    """Read files of one format, whichever it is.

    Raises:
        PslcError: a file cannot be read, or is of no known format, or they are of several.
    """
    found = {_format(path) for path in paths}
    if len(found) > 1:
        raise refusal(f"files of several formats: {', '.join(sorted(found))}", "analyze those of one run at a time")
    return _load(found.pop()).read(paths, hints)


def names() -> list[str]:
    """The formats there are, in alphabetical order."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def _load(name: str) -> Format:
    return cast(Format, import_module(f"{__name__}.{name}"))


def _format(path: Path) -> str:
    try:
        with path.open("rb") as file:
            head = file.read(HEAD).decode("utf-8", errors="replace")
    except OSError as error:
        raise refusal(f"{path}: {error.strerror}", "give files that can be read") from None
    for name in names():
        if _load(name).matches(path, head):
            return name
    hint = "known are fio's logs and JSON, and tables (CSV) with a line of column names; pslc's own are folders"
    raise refusal(f"{path} is of no known format", hint)
