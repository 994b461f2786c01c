"""Least squares over simulated runs, of one firmware: the values whose drive does what was measured.

Compared are logarithms of speed in bins of 1, 4, 16, 64 and 256 to a job: wide bins tell in which direction a border
lies, narrow ones where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from scipy.optimize import least_squares

from pslc.errors import PslcError
from pslc.twin.data import Floats, Look, Trial, play
from pslc.twin.model import PARAMETERS, Build, Model, Parameter

SIGMA: Final = 0.05
"""Relative error of a bin that is nobody's fault: noise of real drives, and what the model leaves out."""
WEIGHT: Final = 60.0
"""Bins that a suite is worth, so that none drowns the others."""
FAR: Final = 0.4
"""Logarithm of a ratio from which on a residual grows slowly: a bin beyond a cliff is not worth ten."""
SHORT: Final = 0.05
"""Share of the longest job's time below which a job weighs less."""
REFUSED: Final = 10.0
"""Residual of a drive that cannot be: more than that of any that can."""
STEP: Final = {"log": 0.02, "linear": 0.02}
STEPS: Final = {"spare": 0.06, "least": 0.05, "threshold": 0.06, "idle_rate": 0.04, "residue": 0.03, "command": 0.1,
                "buffer": 0.1}  # fmt: skip
"""Of the derivatives: more than a superblock of what is counted in superblocks."""


@dataclass
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
        found = np.array([_scaled(PARAMETERS[name], values[name]) for name in self.free])
        clipped: Floats = np.clip(found, low + 1e-6, high - 1e-6)
        return clipped

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lowest and highest points."""
        ends = [[_scaled(PARAMETERS[name], getattr(PARAMETERS[name], end)) for name in self.free]
                for end in ("low", "high")]  # fmt: skip
        return np.array(ends[0]), np.array(ends[1])

    def looks(self, values: dict[str, float]) -> list[list[list[Look | None]]] | None:
        """What the simulated drive does in each trial; None when there is no such drive."""
        found = []
        for trial in self.trials:
            drive = self.model.open(values)
            if drive is None:
                return None
            try:
                found.append(list(play(drive, trial, self.model.scale)))
            except PslcError:
                return None
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
        return self.prior.get(name, (_scaled(one, one.prior), one.spread))

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


def _slope(task: tuple[Problem, Floats, Floats, int]) -> Floats:
    problem, x, here, index = task
    step = _narrow(problem.free[index])
    step = -step if x[index] + step > problem.bounds[1][index] else step
    moved, there = problem.beside(x, index, step)
    slope: Floats = (there - here) / (moved[index] - x[index])
    return slope


def _narrow(name: str) -> float:
    return STEPS.get(name, STEP[PARAMETERS[name].scale])


def _natural(one: Parameter, at: float) -> float:
    return float(np.exp(at)) if one.scale == "log" else float(at)


def _scaled(one: Parameter, value: float) -> float:
    return float(np.log(max(value, 1e-12))) if one.scale == "log" else float(value)


def compare(trials: Sequence[Trial], found: Sequence[Sequence[Sequence[Look | None]]] | None,
            chance: Floats | None = None) -> Floats:  # fmt: skip
    """Residuals of all trials: measured over simulated, each divided by its error, weighted.

    Args:
        chance: variance of each logarithm by what nobody can know (`differences` of drives built otherwise); a bin that
            chance decides weighs less.
    """
    parts = []
    at = 0
    for index, trial in enumerate(trials):
        rows = _rows(trial, found[index] if found is not None else None)
        of = []
        for row in rows:
            here = slice(at, at := at + len(row.off))
            of.append(1 / (1 + chance[here] / SIGMA**2) if chance is not None else np.ones(len(row.off)))
        # Weighted by what each can tell, so that the sum of squares over the weights is a mean square.
        telling = sum(row.share * float(row.norm**2 @ tell) for row, tell in zip(rows, of, strict=True)) or 1.0
        parts += [FAR * np.arcsinh(row.off / FAR) * row.norm * np.sqrt(WEIGHT * row.share / telling * tell) / SIGMA
                  for row, tell in zip(rows, of, strict=True)]  # fmt: skip
    return np.concatenate(parts) if parts else np.zeros(0)


def differences(trials: Sequence[Trial], found: Sequence[Sequence[Sequence[Look | None]]]) -> Floats:
    """Logarithms of measured over simulated, in the order of `compare`."""
    rows = [row.off for trial, made in zip(trials, found, strict=True) for row in _rows(trial, made)]
    return np.concatenate(rows) if rows else np.zeros(0)


@dataclass(frozen=True)
class _Row:
    """A job, or repeats of one, in a trial.

    Attributes:
        share: of the trial.
        off: logarithms of measured over simulated.
        norm: their squares add up to one.
    """

    share: float
    off: Floats
    norm: Floats


def _rows(trial: Trial, made: Sequence[Sequence[Look | None]] | None) -> list[_Row]:
    seen = [look for step in trial.looks for look in step]
    others = [look for step in made for look in step] if made is not None else [None] * len(seen)
    longest = max((look.seconds for look in seen if look is not None), default=1.0)
    rows = []
    for group in repeats(seen):
        one, other = mean([seen[at] for at in group]), mean([others[at] for at in group])
        assert one is not None
        rows.append(_Row(len(group) * weight(one, longest), *_offs(one, other)))
    return rows


def repeats(seen: Sequence[Look | None]) -> list[list[int]]:
    """Places of jobs that are repeats of each other, in order of the first."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for at, look in enumerate(seen):
        if look is not None:
            groups.setdefault((look.alike, *look.curves) if look.alike else (at,), []).append(at)
    return list(groups.values())


def mean(some: Sequence[Look | None]) -> Look | None:
    """Of repeats, a logarithm at a time."""
    there = [look for look in some if look is not None]
    if len(there) < 2:
        return there[0] if there else None
    curves = {bins: np.mean([look.curves[bins] for look in there], axis=0)
              for bins in there[0].curves if all(bins in look.curves for look in there)}  # fmt: skip
    figures = {name: float(np.mean([look.figures[name] for look in there]))
               for name in there[0].figures if all(name in look.figures for look in there)}  # fmt: skip
    heads = [look.head for look in there]
    head = None if any(one is None for one in heads) else np.mean(np.array(heads, dtype=float), axis=0)
    return replace(there[0], curves=curves, figures=figures, head=head)


TURNS_BINS: Final = 16
WINDOWS: Final = 4


def has_turns(curve: Floats) -> bool:
    """Fast and slow in turns. Where each turn begins is then all but chance, so half of what counts is how much of each
    there is in a quarter of the job."""
    low, high = float(curve.min()), float(curve.max())
    fast = curve > (low + high) / 2
    return high - low > TURN and int((~fast[:-1] & fast[1:]).sum()) > 1


def in_windows(curve: Floats) -> Floats:
    """Speeds in rising order within each quarter."""
    found: Floats = np.sort(curve.reshape(WINDOWS, -1), axis=1).ravel()
    return found


TURN: Final = 0.26
"""Logarithm of the ratio of speeds that are turns."""


def weight(look: Look, longest_s: float) -> float:
    """Of a job among those of its run: short ones tell of a few superblocks only."""
    return min(float(np.sqrt(look.seconds / (SHORT * longest_s))), 1.0) if look.curves else 1.0


def _offs(seen: Look, made: Look | None) -> tuple[Floats, Floats]:
    """Of one job: logarithms of measured over simulated, and how much each is of it."""
    rows = len(seen.curves) + len(seen.figures) + (seen.head is not None)
    parts, norms = [], []
    if seen.head is not None:
        bins = len(seen.head)
        other = made.head if made else None
        parts.append(seen.head - other if other is not None else np.full(bins, REFUSED))
        norms.append(np.full(bins, 1 / np.sqrt(bins * rows)))
    for bins, curve in seen.curves.items():
        other = made.curves.get(bins) if made else None
        ways = [(curve, other)]
        if bins >= TURNS_BINS and has_turns(curve):
            ways.append((in_windows(curve), None if other is None else in_windows(other)))
        for one, two in ways:
            parts.append(one - two if two is not None else np.full(bins, REFUSED))
            norms.append(np.full(bins, 1 / np.sqrt(bins * rows * len(ways))))
    for name, figure in seen.figures.items():
        other_figure = made.figures.get(name) if made else None
        parts.append(np.array([figure - other_figure if other_figure is not None else REFUSED]))
        norms.append(np.full(1, 1 / np.sqrt(rows)))
    return np.concatenate(parts), np.concatenate(norms)


@dataclass
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
    def error(self) -> float:
        """Relative, root mean square."""
        return float(np.sqrt(self.loss))


def loss_of(residuals: Floats, trials: Sequence[Trial], priors: int) -> float:
    """Mean square logarithm over the trials."""
    data = residuals[: len(residuals) - priors] if priors else residuals
    return float((data**2).sum() * SIGMA**2 / (WEIGHT * max(len(trials), 1)))


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


def refine(start: Solution, evaluations: int = 10, each: Callable[..., Iterable[Floats]] = map) -> Solution:
    """Least squares from a start; `each` is `map`, or that of a pool of processes."""
    problem = start.problem
    slopes = _Slopes(problem, each)
    low, high = problem.bounds
    found = least_squares(
        slopes.residuals, start.x, jac=slopes.jacobian, bounds=(low, high), method="trf",
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
        self.seen: dict[bytes, Floats] = {}
        self.last: tuple[Floats, Floats, Floats] | None = None
        self.carried = 0

    def residuals(self, x: Floats) -> Floats:
        key = x.tobytes()
        if key not in self.seen:
            self.seen[key] = self.problem.residuals(x)
        return self.seen[key]

    def jacobian(self, x: Floats) -> Floats:
        here = self.residuals(x)
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
    narrow = _narrow(name)
    column, step = change(narrow)
    little = float(column @ column)
    if little < SURE and WIDE * narrow < usual:
        column, wide = change(WIDE * narrow)
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
    each: Callable[..., Iterable[float]] = map,
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
    others = []
    for build, residuals in builds:
        step = np.clip(-valley.covariance @ (slopes.T @ (residuals - data)) / left, -most, most)
        others.append((build, _as_far_as_better(replace(problem, model=problem.model.like(build)), found.x, step)))
    if others:
        steps = np.array([x - found.x for _, x in others])
        covariance = covariance + steps.T @ steps / len(steps)
    own = np.array([PARAMETERS[name].own for name in problem.free])
    covariance = WIDER**2 * covariance + np.diag(own**2)
    return replace(found, covariance=covariance, others=others)


def _as_far_as_better(problem: Problem, x: Floats, step: Floats) -> Floats:
    """The point that derivatives of another drive point to, or half or a quarter of the way, the first that explains
    the data better; `x` where none does."""
    low, high = problem.bounds
    here = problem.residuals(x)
    for part in (1.0, 0.5, 0.25):
        moved: Floats = np.clip(x + part * step, low, high)
        there = problem.residuals(moved)
        if there @ there < here @ here:
            return moved
    return x


WIDER: Final = 1.5
"""Times wider than the Jacobian says: bins are not as independent of each other as it takes them to be. This and
`Parameter.own` are calibrated on hidden drives (seeds 0 to 8 of `make bench-fit`, which measures others)."""
LEAST_LEFT: Final = 0.15
"""Data that fit better than this share of `SIGMA` squared do so by luck."""
