"""Names of suites' jobs for people: `again` of second-pass is "the second pass"."""

from __future__ import annotations

import re
from typing import Final

QUARTERS: Final = ("first", "second", "third", "last")
JOBS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "fill": (("fill", "the fill"),),
    "fill-levels": (
        (r"fill-(\d+)", r"the fill to \1 %"),
        (r"probe-(\d+)", r"the write at \1 % full"),
        ("rest", "the 1 MiB before a rest"),
    ),
    "hdtune": (
        ("surface-write", "the write over the whole drive"),
        ("surface-read", "the read over the whole drive"),
        ("access", "the random reads"),
    ),
    "overwrite": (
        ("find-cache", "the write that looks for the end of the cache"),
        (r"region-([\d.]+)", r"the rewrites of \1 times the cache"),
    ),
    "random-steady": (
        ("lay-out", "the fill before the random writes"),
        ("filled", "the random writes on the full drive"),
        ("fresh", "the random writes on the empty drive"),
        ("span", "the random writes within a span"),
    ),
    "recovery": (
        ("write-upper", "the first pass over the upper half"),
        ("write-half", "the write of the lower half"),
        ("again-upper", "the second pass over the upper half"),
        ("find-empty", "the write that looks for the cache of the half-full drive"),
        ("(find-cache|settle)", "the write that looks for what comes back of the cache"),
        ("(find-cache|settle|warm-up)-full", "the write that fills the cache"),
        ("warm-up", "the first write into the cache"),
        ("fill-cache|fill-up", "a write into the cache"),
        (r"after-([\d.]+)(ms|s)", r"the write after \1 \2 of rest"),
    ),
    "second-pass": (("fill", "the first pass"), ("again", "the second pass")),
    "sustained": (("sustained", "the sustained write"),),
}
"""Patterns of the names of each suite's jobs, and what such a job is called. A job that goes on at the start of the
region has `-on` behind its name."""


def job_in_words(suite: str, job: str) -> str:
    """A job for people, with its suite where the words do not name it: `the write after 10 ms of rest (recovery)`."""
    name, on = (job.removesuffix("-on"), ", going on") if job.endswith("-on") else (job, "")
    for pattern, called in JOBS.get(suite, ()):
        if match := re.fullmatch(pattern, name):
            text = match.expand(called) + on
            return text if suite.replace("-", " ") in text else f"{text} ({suite})"
    return f"{job.replace('-', ' ')} of {suite}"


def part_in_words(bins: int, index: int) -> str:
    """Name of part `index` of a job in `bins` equal parts, such as "its last quarter", or "from 6 to 12 % of it"."""
    if bins == 1:
        return "all of it"
    if bins == len(QUARTERS):
        return f"its {QUARTERS[index % len(QUARTERS)]} quarter"
    return f"from {100 * index / bins:.0f} to {100 * (index + 1) / bins:.0f} % of it"
