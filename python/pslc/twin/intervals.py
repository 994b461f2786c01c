"""How well data tell values: a valley around the best drive, how far one can go along it, and what other builds say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from pslc.twin.data import Floats
from pslc.twin.model import PARAMETERS, Build
from pslc.twin.residuals import WEIGHT, loss_of
from pslc.twin.search import Problem, Solution, narrow


def told(found: Solution, each: Callable[..., Iterable[Floats]] = map) -> Floats:
    """What the data tell at a solution: derivatives of their residuals by the free values, rows of data by values.

    By differences to both sides: a border that moves up changes other bins than one that moves down, and two values
    that move it in opposite ways would seem to have nothing to do with each other. A job that begins a little earlier
    in a superblock gives other bins, too, so that any step changes something, and a narrow one would seem to tell a
    value that the data do not know. Where it changes little, a wide one is made: what was told grows with the step,
    what chance did does not.

    Args:
        each: `map`, or that of a pool of processes.
    """
    columns = each(_column, [(found, index) for index in range(len(found.problem.free))])
    return np.stack(list(columns), axis=1)


def _column(task: tuple[Solution, int]) -> Floats:
    found, index = task
    problem = found.problem

    def change(step: float) -> tuple[Floats, float]:
        (above, up), (below, down) = (problem.beside(found.x, index, way) for way in (step, -step))
        moved: Floats = (up - down)[: len(up) - len(problem.free)]
        return moved, float(above[index] - below[index])

    name = problem.free[index]
    usual = problem.expected(name)[1]
    little_step = narrow(name)
    column, step = change(little_step)
    little = float(column @ column)
    if little < SURE and WIDE * little_step < usual:
        column, wide = change(WIDE * little_step)
        much = float(column @ column)
        grown = max(much - little, 0.0) / max(wide**2 - step**2, 1e-12)
        column, step = column * np.sqrt(grown * wide**2 / max(much, 1e-12)), wide
    return column / step


SURE: Final = 100.0
"""Sum of squares that a narrow step must change to be believed."""
WIDE: Final = 5.0
"""Times the narrow step that a wide one is."""


class _Valley:
    """Where a solution lies: what the data tell there, and ways along which they tell little."""

    def __init__(self, found: Solution, slopes: Floats, least_left: float | None = None) -> None:
        self.problem, self.slopes, self.data = found.problem, slopes, len(slopes)
        self.x, self.here = found.x, found.problem.residuals(found.x)
        # Where the data scatter more than assumed, they tell less.
        scatter = float((self.here[: self.data] ** 2).sum()) / max(WEIGHT * len(self.problem.trials), 1.0)
        self.left = max(scatter, least_left or LEAST_LEFT)
        priors = np.diag([1 / self.problem.expected(name)[1] ** 2 for name in self.problem.free])
        told = slopes.T @ slopes / self.left
        self.covariance: Floats = np.linalg.pinv(told + priors).astype(np.float64)

    def objection(self, there: Floats) -> float:
        """How much worse it is elsewhere, in squared standard deviations."""
        gained = there**2 - self.here**2
        return float(gained[: self.data].sum() / self.left + gained[self.data :].sum())

    def moved(self, index: int, step: float) -> tuple[Floats, Floats]:
        """The best point, and its residuals, where one value is so much more and all others give way: along a straight
        line, and where the data object to that, once more from where it led."""
        spread = self.covariance
        low, high = self.problem.bounds
        x = np.clip(self.x + step * spread[:, index] / spread[index, index], low, high)
        there = self.problem.residuals(x)
        if self.objection(there) <= 0:
            return x, there
        rest = spread - np.outer(spread[:, index], spread[index]) / spread[index, index]
        usual = np.array([self.problem.expected(name)[1] for name in self.problem.free])
        way = rest @ (self.slopes.T @ there[: self.data] / self.left + there[self.data :] / usual)
        again = np.clip(x - way, low, high)
        after = self.problem.residuals(again)
        return (again, after) if self.objection(after) < self.objection(there) else (x, there)


def drawn_back(found: Solution, slopes: Floats) -> Solution:
    """The same with each value nearer to what is expected of it, the others giving way, as far as the data allow: a
    search that goes along a valley ends anywhere in it."""
    valley, problem = _Valley(found, slopes), found.problem
    first = valley.here
    for index, name in enumerate(problem.free):
        centre, spread = problem.expected(name)
        told_well = valley.covariance[index, index] < (TOLD_WELL * spread) ** 2
        if told_well or abs(centre - valley.x[index]) < NEAR * spread:
            continue
        for part in (1.0, 0.5, 0.25):
            x, there = valley.moved(index, part * (centre - float(valley.x[index])))
            worse = float((there[: valley.data] ** 2).sum() - (first[: valley.data] ** 2).sum())
            if worse <= MAY_LOSE * WEIGHT * len(problem.trials) * valley.left and valley.objection(there) <= 0:
                valley.x, valley.here = x, there
                break
    return replace(found, x=valley.x, loss=loss_of(valley.here, problem.trials, len(problem.free)))


MAY_LOSE: Final = 0.1
"""Share of what is left that may be lost for values that are as expected."""
NEAR: Final = 0.2
"""Of its spread, within which a value is as expected."""


def _widened(valley: _Valley, each: Callable[..., Iterable[float]]) -> Floats:
    """The covariance where the data object: each value that seems to be told is moved on, the others giving way, until
    they do. Derivatives of counts of superblocks are rough, and two values that only their sum is told of seem to be
    told by the roughness."""
    covariance, problem = valley.covariance, valley.problem
    spreads = np.array([problem.expected(name)[1] for name in problem.free])
    seem = np.flatnonzero(np.sqrt(np.diag(covariance)) < UNTOLD * spreads)
    for index, real in zip(seem, each(_objected, [(valley, int(index)) for index in seem]), strict=True):
        if real**2 > covariance[index, index]:
            along = covariance[:, index] / covariance[index, index]
            covariance = covariance + (real**2 - covariance[index, index]) * np.outer(along, along)
    # Nothing is less known than it was before.
    least = np.minimum(spreads / np.sqrt(np.diag(covariance)), 1.0)
    bounded: Floats = covariance * np.outer(least, least)
    return bounded


def _objected(task: tuple[_Valley, int]) -> float:
    """The standard deviation that tells how far the data let a value go before they object, at most the usual one: to
    both sides, for a pause that is nearly none may as well be none."""
    valley, index = task
    name = valley.problem.free[index]
    deviation = float(np.sqrt(valley.covariance[index, index]))
    spread = valley.problem.expected(name)[1]
    # What is left however well the data are explained is not worth a look.
    first = min(max(4.0 * deviation, 3.0 * PARAMETERS[name].own), spread)
    found = 0.0
    for sign in (1.0, -1.0):
        if found >= spread:
            break
        # What the smallest step costs is no sign: a search ends where chance is kind.
        luck = max(valley.objection(valley.moved(index, 0.2 * sign * deviation)[1]), 0.0)
        step = first
        while True:
            objection = valley.objection(valley.moved(index, sign * step)[1]) - luck
            if objection >= OBJECTS or step >= spread:
                break
            step = min(3.0 * step, spread)
        found = max(found, min(step / float(np.sqrt(max(objection, 1.0))), spread))
    return found


TOLD_WELL: Final = 0.1
"""Share of what it was before the data at which a standard deviation says that they leave no choice."""
UNTOLD: Final = 0.6
"""Share of what it was before the data at which a standard deviation says that they tell nothing."""
OBJECTS: Final = 9.0
"""Rise of the sum of squares that is three standard deviations away."""


def with_intervals(
    found: Solution,
    slopes: Floats,
    builds: Sequence[tuple[Build, Floats]] = (),
    least_left: float | None = None,
    each: Callable[..., Iterable[Any]] = map,
) -> Solution:
    """The covariance of the values: from what the data tell and what is left (at least `least_left` of `SIGMA`
    squared), and from how far off they would be if the drive were built otherwise.

    Args:
        slopes: what `told` gives.
        builds: other builds and the residuals of the data they leave at the same values.
        each: `map`, or that of a pool of processes.
    """
    problem = found.problem
    valley = _Valley(found, slopes, least_left)
    data, left = valley.here[: len(slopes)], valley.left
    covariance = _widened(valley, each)
    most = np.array([problem.expected(name)[1] for name in problem.free])
    priors = valley.here[len(slopes) :]
    tasks = []
    for build, residuals in builds:
        step = np.clip(-valley.covariance @ (slopes.T @ (residuals - data)) / left, -most, most)
        here = float(residuals @ residuals + priors @ priors)
        tasks.append((replace(problem, model=problem.model.like(build)), found.x, here, step))
    others = [(build, x) for (build, _), x in zip(builds, each(_as_far_as_better, tasks), strict=True)]
    if others:
        steps = np.array([x - found.x for _, x in others])
        covariance = covariance + steps.T @ steps / len(steps)
    own = np.array([PARAMETERS[name].own for name in problem.free])
    covariance = WIDER**2 * covariance + np.diag(own**2)
    return replace(found, covariance=covariance, others=others)


def _as_far_as_better(task: tuple[Problem, Floats, float, Floats]) -> Floats:
    """The point that derivatives of another drive point to, or half or a quarter of the way, the first that explains
    the data better than `here`, the sum of squares at `x`, does; `x` where none does."""
    problem, x, here, step = task
    low, high = problem.bounds
    for part in (1.0, 0.5, 0.25):
        moved: Floats = np.clip(x + part * step, low, high)
        there = problem.residuals(moved)
        if there @ there < here:
            return moved
    return x


WIDER: Final = 1.5
"""Times wider than the Jacobian says: bins are not as independent of each other as it takes them to be. This and
`Parameter.own` are calibrated on hidden drives (seeds 0 to 8 of `make bench-fit`, which measures others)."""
LEAST_LEFT: Final = 0.15
"""Data that fit better than this share of `SIGMA` squared do so by luck."""
