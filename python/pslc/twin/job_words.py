"""Names of suites' jobs for people: `again` of second-pass is "the second pass"."""

import re
import tomllib
from importlib.resources import files
from typing import Final

QUARTERS: Final = ("first", "second", "third", "last")
JOBS: Final[dict[str, dict[str, str]]] = tomllib.loads(
    files("pslc.twin").joinpath("job_words.toml").read_text(encoding="utf-8")
)
"""Patterns of the names of each suite's jobs, and what such a job is called. A job that goes on at the start of the
region has `-on` behind its name."""


def job_in_words(suite: str, job: str) -> str:
    """A job for people, with its suite where the words do not name it: `the write after 10 ms of rest (recovery)`."""
    name, on = (job.removesuffix("-on"), ", going on") if job.endswith("-on") else (job, "")
    for pattern, called in JOBS.get(suite, {}).items():
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
