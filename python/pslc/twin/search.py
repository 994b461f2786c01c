"""Least squares over simulated runs, of one firmware: the values whose drive does what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np
from scipy.optimize import least_squares

from pslc.errors import PslcError
from pslc.twin.data import Asked, Floats, Look, Trial, on_one_drive, play
from pslc.twin.model import PARAMETERS, Build, Model, Parameter, cache_shares, opened
from pslc.twin.residuals import compare, loss_of

STEP: Final = {"log": 0.02, "linear": 0.02}
STEPS: Final = {"spare": 0.06, "least": 0.05, "threshold": 0.06, "idle_rate": 0.04, "residue": 0.03, "command": 0.1,
                "buffer": 0.1}  # fmt: skip
"""Of the derivatives: more than a superblock of what is counted in superblocks."""


@dataclass(eq=False)
class Problem:
    """Trials to be explained by a model with `free` values, the others as they are in `values`."""

    model: Model
    trials: Sequence[Trial]
    free: Sequence[str]
    values: dict[str, float]
    prior: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Centre and standard deviation on the parameter's scale, where they differ from `PARAMETERS`."""
    chance: Floats | None = None
    """Variance of each logarithm of the data by what nobody can know; see `compare`."""

    def unpack(self, x: Floats) -> dict[str, float]:
        """Values of a point of the search."""
        free = {name: _natural(PARAMETERS[name], at) for name, at in zip(self.free, x, strict=True)}
        return self.values | free

    def pack(self, values: dict[str, float]) -> Floats:
        """The point of values."""
        low, high = self.bounds
        found = np.array([scaled(PARAMETERS[name], values[name]) for name in self.free])
        clipped: Floats = np.clip(found, low + 1e-6, high - 1e-6)
        return clipped

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lowest and highest points."""
        ends = [[scaled(PARAMETERS[name], getattr(PARAMETERS[name], end)) for name in self.free]
                for end in ("low", "high")]  # fmt: skip
        return np.array(ends[0]), np.array(ends[1])

    def looks(self, values: dict[str, float]) -> list[list[list[Look | None]]] | None:
        """What the simulated drive does in each trial; None when there is no such drive."""
        profile, found = self.model.profile(values), []
        for asked in on_one_drive(self.trials):
            looks = _played(profile, asked, self.model.scale)
            if looks is None:
                return None
            found += looks
        return found

    def residuals(self, x: Floats) -> Floats:
        """Of the data, each divided by its error, then of the priors."""
        values = self.unpack(x)
        found = self.looks(values)
        data = compare(self.trials, found, self.chance)
        return np.concatenate([data, self.prior_residuals(x)])

    def prior_residuals(self, x: Floats) -> Floats:
        """How far each free value is from what was expected of it."""
        off = []
        for name, at in zip(self.free, x, strict=True):
            centre, spread = self.expected(name)
            off.append((at - centre) / spread)
        return np.array(off)

    def expected(self, name: str) -> tuple[float, float]:
        """Centre and standard deviation of a value on its scale, before the data."""
        one = PARAMETERS[name]
        return self.prior.get(name, (scaled(one, one.prior), one.spread))

    def beside(self, x: Floats, index: int, step: float) -> tuple[Floats, Floats]:
        """The point where one value is `step` more, as far as its bounds let it, and its residuals."""
        low, high = self.bounds
        moved = x.copy()
        moved[index] = np.clip(x[index] + step, low[index], high[index])
        return moved, self.residuals(moved)

    def jacobian(self, x: Floats, here: Floats, each: Callable[..., Iterable[Floats]] = map) -> Floats:
        """By differences, wide enough to see superblocks; `here` are the residuals at `x`."""
        columns = each(_slope, [(self, x, here, index) for index in range(len(self.free))])
        return np.stack(list(columns), axis=1)


@lru_cache(maxsize=512)
def _played(profile: str, asked: tuple[Asked, ...], scale: float) -> list[list[list[Look | None]]] | None:
    """What a drive does in one trial after the other; None when there is no such drive. A search comes back to where
    others were: a start is tried and then searched from, another rule of reuse or another weight of the data begins
    where the last one ended."""
    drive = opened(profile)
    try:
        return [list(play(drive, one, scale)) for one in asked] if drive else None
    except PslcError:
        return None


def _slope(task: tuple[Problem, Floats, Floats, int]) -> Floats:
    problem, x, here, index = task
    step = narrow(problem.free[index])
    step = -step if x[index] + step > problem.bounds[1][index] else step
    moved, there = problem.beside(x, index, step)
    slope: Floats = (there - here) / (moved[index] - x[index])
    return slope


def narrow(name: str) -> float:
    """Step of a value on its scale."""
    return STEPS.get(name, STEP[PARAMETERS[name].scale])


def _natural(one: Parameter, at: float) -> float:
    return float(np.exp(at)) if one.scale == "log" else float(at)


def scaled(one: Parameter, value: float) -> float:
    """A value where the search sees it."""
    return float(np.log(max(value, 1e-12))) if one.scale == "log" else float(value)


@dataclass(eq=False)
class Solution:
    """The best drive of a firmware.

    Attributes:
        loss: mean square of the logarithms of measured over simulated, over suites; `sqrt` is a relative error.
        covariance: of the free values on their scales.
    """

    problem: Problem
    x: Floats
    loss: float
    covariance: Floats | None = None
    others: Sequence[tuple[Build, Floats]] = ()
    """Other builds, each with the point that fits the data as well with it."""
    single: Solution | None = None
    """What single requests told, where they were measured."""

    @property
    def values(self) -> dict[str, float]:
        """By name, natural."""
        return self.problem.unpack(self.x)

    @property
    def fitted(self) -> dict[str, float]:
        """Those that were searched for."""
        values = self.values
        return {name: values[name] for name in self.problem.free}

    @property
    def cache_share(self) -> float:
        """The cache of the empty drive over the capacity."""
        return sum(cache_shares(self.problem.model.firmware, self.values))

    @property
    def error(self) -> float:
        """Relative, root mean square."""
        return float(np.sqrt(self.loss))


def best_starts(problem: Problem, candidates: Sequence[dict[str, float]], most: int = 1) -> list[Solution]:
    """The starts whose drives are nearest, without any search."""
    found: list[tuple[float, Solution]] = []
    for values in candidates:
        x = problem.pack(problem.values | values)
        residuals = problem.residuals(x)
        solution = Solution(problem, x, loss_of(residuals, problem.trials, len(problem.free)))
        found.append((float((residuals**2).sum()), solution))
    found.sort(key=lambda pair: pair[0])
    return [solution for _, solution in found[:most]]


def cost(found: Solution) -> float:
    """What a search makes small: of the data and of how usual the values are."""
    residuals = found.problem.residuals(found.x)
    return float(residuals @ residuals)


def refine(start: Solution, evaluations: int = 10, each: Callable[..., Iterable[Floats]] = map) -> Solution:
    """Least squares from a start; `each` is `map`, or that of a pool of processes."""
    problem = start.problem
    slopes = _Slopes(problem, each)
    low, high = problem.bounds
    found = least_squares(
        problem.residuals, start.x, jac=slopes.jacobian, bounds=(low, high), method="trf",
        x_scale=np.array([problem.expected(name)[1] for name in problem.free]), max_nfev=evaluations, ftol=2e-3,
        xtol=1e-3,
    )  # fmt: skip
    loss = loss_of(found.fun, problem.trials, len(problem.free))
    return Solution(problem, found.x, loss)


def polish(start: Solution, step: float) -> Solution:
    """The best of each value's neighbours, one value after the other; `step` in units of what is usual for a value."""
    problem = start.problem
    best, here = start.x, problem.residuals(start.x)
    for index, name in enumerate(problem.free):
        for way in (1.0, -1.0):
            moved, there = problem.beside(best, index, way * step * problem.expected(name)[1])
            if there @ there < here @ here:
                best, here = moved, there
                break
    return Solution(problem, best, loss_of(here, problem.trials, len(problem.free)))


class _Slopes:
    """Residuals and their derivatives.

    A run of the simulator for each value is dear, so where the last derivatives told well what a step did they are
    carried on by that step (Broyden, "A class of methods for solving nonlinear simultaneous equations", 1965).
    """

    def __init__(self, problem: Problem, each: Callable[..., Iterable[Floats]]) -> None:
        self.problem, self.each = problem, each
        self.last: tuple[Floats, Floats, Floats] | None = None
        self.carried = 0

    def jacobian(self, x: Floats) -> Floats:
        here = self.problem.residuals(x)
        slopes = self._carried(x, here)
        if slopes is None:
            slopes = self.problem.jacobian(x, here, self.each)
            self.carried = 0
        self.last = x.copy(), here, slopes
        return slopes

    def _carried(self, x: Floats, here: Floats) -> Floats | None:
        if self.last is None or self.carried >= CARRIED:
            return None
        x0, there, slopes = self.last
        step = x - x0
        off = here - there - slopes @ step
        # A step that did what was expected of it.
        if not step.any() or float(off @ off) > WELL * float((here - there) @ (here - there)):
            return None
        self.carried += 1
        found: Floats = slopes + np.outer(off, step) / float(step @ step)
        return found


CARRIED: Final = 2
"""Steps after which derivatives are measured anew."""
WELL: Final = 0.25
"""Share of the change of the residuals that derivatives may have missed to be carried on."""
