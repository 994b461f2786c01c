"""What single requests and those in a queue tell: commands, reads, the buffer, how many dies there are, and the bus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from pslc.twin import intervals, search, told
from pslc.twin.data import Look, Trial
from pslc.twin.model import Build, Firmware, build_for
from pslc.twin.residuals import LUCK
from pslc.twin.search import Problem, Solution

SUITES: Final = frozenset({"burst", "qd-sweep", "range-sweep"})
"""Suites of single requests, which only the whole drive answers."""
SINGLE: Final = frozenset({"buffer", "command", "slc_read", "native_read"})
"""Values that single requests tell, and large writes do not."""


def other_dies(assumed: Build, speeds: tuple[float, float]) -> list[Build]:
    """The usual drives of fewer and of more dies; `speeds` in cache and native mode."""
    found = []
    for times in DIES_APART:
        dies = round(assumed.dies * times)
        if 1 <= dies <= MOST_DIES:
            build = build_for(assumed.capacity_bytes, assumed.link, assumed.bits_per_cell, *speeds, dies)
            found.append(build.told("nand.dies", "fitted to qd-sweep: so many overlap in a queue"))
    return found


MOST_DIES: Final = 512
DIES_APART: Final = (1 / 8, 1 / 4, 1 / 2, 2, 4, 8)
"""Times as many as assumed."""
WORSE: Final = 2.0
"""Times the loss that values had in the build that was assumed."""
TELLS_DIES: Final = 1.5
"""Times the best loss that the one of another number of dies is before reads are said to tell how many there are."""


def answering(task: tuple[Solution, list[Trial], Build]) -> Solution:
    """A drive of that build whose commands and reads take what single requests and those in a queue tell."""
    found, trials, build = task
    old = found.problem
    values = found.values | {"buffer": max(found.values["buffer"], build.full_buffer)}
    model = replace(old.model, build=build, scale=1.0)
    problem = Problem(model, trials, _of_single(model.firmware, trials), values, old.prior)
    return search.refine(search.best_starts(problem, [{}])[0], 4)


def at_random(trial: Trial) -> Trial:
    """Only its random requests: how fast others are depends on the bus, too."""
    looks = [[look if look and look.alike[1].startswith("rand") else None for look in step] for step in trial.looks]
    return replace(trial, looks=looks)


def with_bus(found: Solution, trial: Trial) -> Build:
    """The build with the bus that lets through what was read in sequence, where that is not the link."""
    build, values = found.problem.model.build, found.values
    least = 1.05 * values.get("slc_rate", 0.0) / build.channels / 1e6
    for _ in range(BUS_STEPS):
        looks = Problem(replace(found.problem.model, build=build), [trial], [], values).looks(values)
        speeds = [_fastest_read(one) for one in (trial.looks, looks[0] if looks else [])]
        if speeds[0] is None or speeds[1] is None or abs(speeds[0] - speeds[1]) < BUS_NEAR:
            break
        bus = float(np.clip(build.bus_mts * np.exp(speeds[0] - speeds[1]), max(least, LEAST_BUS), MOST_BUS))
        build = replace(build, bus_mts=round(bus)).told("nand.bus", "fitted to qd-sweep: what it reads in sequence")
    return build


BUS_STEPS: Final = 3
BUS_NEAR: Final = 0.03
LEAST_BUS: Final = 40.0
MOST_BUS: Final = 4800.0
"""Megatransfers a second."""


def _fastest_read(looks: Sequence[Sequence[Look | None]]) -> float | None:
    """Logarithm of bytes a second."""
    speeds = [float(look.curves[1][0]) for step in looks for look in step
              if look and look.alike[1] == "read" and look.curves]  # fmt: skip
    return max(speeds, default=None)


def by_reads(answers: list[Solution]) -> Solution:
    """The one whose dies answer requests in a queue as measured, and otherwise the first, of as many as assumed: one
    request tells how long a die takes for it, many how many dies are at it."""
    best = min(answers, key=lambda one: one.loss)
    return best if answers[0].loss > TELLS_DIES * max(best.loss, LUCK) else answers[0]


def in_build(task: tuple[Solution, Build, Solution]) -> Solution:
    """The same values in a drive of a build whose commands and reads take what another tells; searched for again where
    they do not explain as well there what they were found for."""
    found, build, other = task
    model = found.problem.model.like(build)
    problem = replace(found.problem, model=model, values=found.problem.values | other.fitted)
    start = search.best_starts(problem, [found.fitted])[0]
    return search.refine(start, 4) if start.loss > WORSE * max(found.loss, LUCK) else start


def _of_single(firmware: Firmware, trials: list[Trial]) -> list[str]:
    """Values that single requests tell."""
    free = [name for name in told.free_in(firmware, trials) if name in SINGLE]
    # Of what is read a part may be in native cells, or all of it.
    return [*free, "native_read"] if "slc_read" in free and "native_read" not in free else free


def solve(found: Solution, trials: list[Trial], whole: Build, each: Callable[..., Iterable[Any]] = map) -> Solution:
    """What single requests tell, on the whole drive; the rest stays. `each` is `map`, or that of a pool."""
    old = found.problem
    model = replace(old.model, build=whole, scale=1.0)
    free = _of_single(model.firmware, trials)
    if not free:
        return found
    problem = Problem(model, trials, free, found.values, old.prior)
    best = search.refine(search.best_starts(problem, [found.values])[0], 4, each)
    covariance = intervals.with_intervals(best, intervals.told(best, each), each=each).covariance
    return joined(found, search.Solution(problem, best.x, best.loss, covariance))


def joined(found: Solution, single: Solution) -> Solution:
    """The values of one with those of single requests of another."""
    extra = {name: single.values[name] for name in single.problem.free if name in SINGLE}
    problem = replace(found.problem, values=found.problem.values | extra)
    return replace(found, problem=problem, single=single.single or single)
