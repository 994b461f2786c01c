"""Traits of a job's options, parsed as a run parses them: with aliases, `true` and `1024K`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from pslc import _native

if TYPE_CHECKING:
    from pslc.schema.jobs import Job


class Traits(TypedDict):
    """Traits of a job, with fio's defaults for options that are not set: `random` and `writes` are None without an
    `rw`, `write_bytes` where there are several sizes. `iodepth`: 1 for an engine that waits. `synced`: each write is in
    the cells before the next. `delayed`: by `startdelay` or `pause`. `paced`: by `thinktime` or a rate. `compressible`:
    zeros, or a share of them."""

    random: bool | None
    writes: bool | None
    direct: bool
    iodepth: int
    numjobs: int
    synced: bool
    delayed: bool
    paced: bool
    write_bytes: int | None
    compressible: bool


def traits(job: Job) -> Traits:
    """Traits of a job of `Recording.jobs`."""
    return of_options(job["options"])


def of_options(options: dict[str, str]) -> Traits:
    """Traits of a job's options, given as text in their order."""
    return _traits(tuple(options.items()))


@lru_cache(maxsize=1024)
def _traits(options: tuple[tuple[str, str], ...]) -> Traits:
    return _native.traits(list(options))
