"""What the options of a job say, read as a run reads them: aliases, `true` and `1024K` are what they are there."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pslc import _native

if TYPE_CHECKING:
    from pslc._native import Said as Said
else:
    Said = dict


def said(job: dict[str, Any]) -> Said:
    """Of a job as in `Recording.jobs`, or one of another program's with its `options` as text."""
    return _said(tuple(job["options"].items()))


@lru_cache(maxsize=1024)
def _said(options: tuple[tuple[str, str], ...]) -> Said:
    return _native.said(list(options))
