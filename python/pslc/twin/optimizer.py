"""Least squares over simulated runs: the values of one firmware model whose drive does what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import numpy as np

from pslc.base.errors import PslcError
from pslc.twin.datasets import Dataset, Features, Floats, JobFeatures, RunSpec, run_sequences, simulate
from pslc.twin.model import PARAMETERS, FirmwareModel, Geometry, Model, Parameter, cache_shares, open_drive
from pslc.twin.residuals import LOSS_FLOOR, least_squares_sum, loss_of, weighted_residuals

DIFF_STEP: Final = 0.02
"""Step of a finite difference, on the parameter's scale."""
DIFF_STEPS: Final = {
    "over_provisioning": 0.06,
    "dynamic_min": 0.05,
    "idle_threshold": 0.06,
    "idle_rate": 0.04,
    "residue": 0.03,
    "command": 0.1,
    "buffer": 0.1,
}
"""Larger steps of parameters that are counted in superblocks: more than one of them."""
MAX_BROYDEN_UPDATES: Final = 2
"""Steps after which the Jacobian is measured again."""
MAX_SECANT_ERROR_SHARE: Final = 0.25
"""Share of the change of the residuals that a Jacobian may miss and still be updated instead of measured."""
MIN_IMPROVEMENT_RATIO: Final = 0.7
"""Loss after a round of a search over that before, from which on another round does not pay."""
EVALUATIONS: Final = 10
"""Steps of least squares, unless stated otherwise."""
LOSS_TOLERANCE: Final = 2e-3
"""Relative change of the sum of squares, and..."""
POINT_TOLERANCE: Final = 1e-3
"""...relative change of the point, at which least squares end."""
BOUND_MARGIN: Final = 1e-6
"""Distance of a start from the bounds, on the scale: SciPy wants starts inside."""
SIMULATIONS_KEPT: Final = 512
"""Simulated runs that are remembered, a process."""
CHECKS_PER_DATASET: Final = 8
"""Times that a simulated run of a dataset is held against what it must stay below: each check costs a step or so."""

GiveUp = Callable[[list[Features]], bool]
"""Whether a simulated run with these features so far can be given up."""
MapFn = Callable[..., Iterable[Any]]
"""`map`, or the one of a pool of processes."""


class _Counter:
    """Counts the simulated runs of this process."""

    evaluations = 0


@dataclass(eq=False)
class FitProblem:
    """Datasets to be explained by a model.

    Attributes:
        free: parameters that the fit determines.
        values: natural values of all parameters; those of the free ones are where a search starts.
        priors: mean and standard deviation on the parameter's scale, where they differ from `PARAMETERS`.
        geometry_variance: variance of each log ratio of the data over unknown geometries.
    """

    model: Model
    datasets: Sequence[Dataset]
    free: Sequence[str]
    values: dict[str, float]
    priors: dict[str, tuple[float, float]] = field(default_factory=dict)
    geometry_variance: Floats | None = None

    def unpack(self, x: Floats) -> dict[str, float]:
        """Natural values of all parameters at a point."""
        free = {name: from_scale(PARAMETERS[name], at) for name, at in zip(self.free, x, strict=True)}
        return self.values | free

    def pack(self, values: dict[str, float]) -> Floats:
        """The point of natural values, inside the bounds."""
        low, high = self.bounds
        point = np.array([to_scale(PARAMETERS[name], values[name]) for name in self.free])
        clipped: Floats = np.clip(point, low + BOUND_MARGIN, high - BOUND_MARGIN)
        return clipped

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lowest and highest points."""
        parameters = [PARAMETERS[name] for name in self.free]
        low = np.array([to_scale(parameter, parameter.low) for parameter in parameters])
        return low, np.array([to_scale(parameter, parameter.high) for parameter in parameters])

    @property
    def prior_sds(self) -> Floats:
        """Standard deviations of the priors of the free parameters."""
        return np.array([self.prior_of(name)[1] for name in self.free])

    def simulate(self, values: dict[str, float]) -> list[Features] | None:
        """Features of the simulated drive in each dataset; None if there is no such drive."""
        return self._simulate(values, lambda _: False)

    def _simulate(self, values: dict[str, float], is_hopeless: GiveUp) -> list[Features] | None:
        """Features of the simulated drive; None if there is no such drive.

        Raises:
            _HopelessRunError: `is_hopeless` is true of the features so far.
        """
        _Counter.evaluations += 1
        profile = self.model.profile(values)
        features: list[Features] = []
        for specs in run_sequences(self.datasets):
            further = partial(_with_earlier, is_hopeless, tuple(features))
            simulated = _simulated(profile, specs, self.model.scale, further)
            if simulated is None:
                return None
            features += simulated
        return features

    def residuals(self, x: Floats) -> Floats:
        """Residuals of the data, then of the priors."""
        simulated = self.simulate(self.unpack(x))
        data = weighted_residuals(self.datasets, simulated, self.geometry_variance)
        return np.concatenate([data, self.prior_residuals(x)])

    def residuals_below(self, x: Floats, limit: float) -> Floats | None:
        """Residuals at a point if their sum of squares is below `limit`; None as soon as it is known not to be."""
        priors = self.prior_residuals(x)
        rest = limit - float(priors @ priors)

        def is_hopeless(features: list[Features]) -> bool:
            return least_squares_sum(self.datasets, features, self.geometry_variance) >= rest

        if rest <= 0:
            return None
        try:
            simulated = self._simulate(self.unpack(x), is_hopeless)
        except _HopelessRunError:
            return None
        residuals = np.concatenate([weighted_residuals(self.datasets, simulated, self.geometry_variance), priors])
        return residuals if residuals @ residuals < limit else None

    def prior_residuals(self, x: Floats) -> Floats:
        """Distance of each free parameter from its prior mean, in prior standard deviations."""
        residuals = []
        for name, at in zip(self.free, x, strict=True):
            mean, sd = self.prior_of(name)
            residuals.append((at - mean) / sd)
        return np.array(residuals)

    def prior_of(self, name: str) -> tuple[float, float]:
        """Mean and standard deviation of a parameter before the data, on its scale."""
        parameter = PARAMETERS[name]
        return self.priors.get(name, (to_scale(parameter, parameter.prior_mean), parameter.prior_sd))

    def moved(self, x: Floats, index: int, step: float) -> Floats:
        """The point with one parameter moved by `step`, inside its bounds."""
        low, high = self.bounds
        moved = x.copy()
        moved[index] = np.clip(x[index] + step, low[index], high[index])
        return moved

    def perturb(self, x: Floats, index: int, step: float) -> tuple[Floats, Floats]:
        """The point with one parameter moved by `step`, inside its bounds, and the residuals there."""
        moved = self.moved(x, index, step)
        return moved, self.residuals(moved)

    def jacobian(self, x: Floats, residuals: Floats, map_fn: MapFn = map) -> Floats:
        """Jacobian by forward differences, wide enough to see superblocks; `residuals` are those at `x`."""
        columns = map_fn(_jacobian_column, [(self, x, residuals, index) for index in range(len(self.free))])
        return np.stack(list(columns), axis=1)


def _with_earlier(is_hopeless: GiveUp, earlier: Sequence[Features], features: list[Features]) -> bool:
    return is_hopeless([*earlier, *features])


class _HopelessRunError(Exception):
    """A simulated run that was given up, as it cannot be as good as another."""


_simulations: dict[tuple[str, tuple[RunSpec, ...], float], list[Features] | None] = {}
"""Results of `_simulated`, the last used last."""


def _simulated(profile: str, specs: tuple[RunSpec, ...], scale: float, is_hopeless: GiveUp) -> list[Features] | None:
    """Features of a drive in one dataset after the other; None if there is no such drive.

    Searches come back to a drive: a start is evaluated and then searched from, another rule of reuse or other weights
    begin where the last search ended.

    Raises:
        _HopelessRunError: `is_hopeless` is true of the features so far.
    """
    key = profile, specs, scale
    if key not in _simulations:
        result = _run_all(profile, specs, scale, is_hopeless)
        if len(_simulations) >= SIMULATIONS_KEPT:
            del _simulations[next(iter(_simulations))]
        _simulations[key] = result
    _simulations[key] = _simulations.pop(key)
    return _simulations[key]


def _run_all(profile: str, specs: tuple[RunSpec, ...], scale: float, is_hopeless: GiveUp) -> list[Features] | None:
    drive = open_drive(profile)
    if drive is None:
        return None
    features: list[Features] = []
    try:
        for spec in specs:
            steps: list[Sequence[JobFeatures | None]] = []
            features.append(steps)
            every = max(len(spec.steps) // CHECKS_PER_DATASET, 1)
            for step in simulate(drive, spec, scale):
                steps.append(step)
                if len(steps) % every == 0 and is_hopeless(features):
                    raise _HopelessRunError
    except PslcError:
        return None
    return features


def _jacobian_column(task: tuple[FitProblem, Floats, Floats, int]) -> Floats:
    problem, x, residuals, index = task
    step = diff_step(problem.free[index])
    step = -step if x[index] + step > problem.bounds[1][index] else step
    moved, moved_residuals = problem.perturb(x, index, step)
    column: Floats = (moved_residuals - residuals) / (moved[index] - x[index])
    return column


def diff_step(name: str) -> float:
    """Step of a finite difference, on the parameter's scale."""
    return DIFF_STEPS.get(name, DIFF_STEP)


def from_scale(parameter: Parameter, at: float) -> float:
    """The natural value of a coordinate."""
    return float(np.exp(at)) if parameter.scale == "log" else float(at)


def to_scale(parameter: Parameter, value: float) -> float:
    """The coordinate of a natural value."""
    return float(np.log(max(value, 1e-12))) if parameter.scale == "log" else float(value)


@dataclass(frozen=True)
class Convergence:
    """End of the search for a candidate.

    Attributes:
        success: whether the search converged.
        status: status of SciPy's last `least_squares`: 0 limit of evaluations, 1 to 4 converged; None: not run.
        message: reason for the end.
    """

    success: bool = False
    status: int | None = None
    message: str = "not searched"

    @classmethod
    def of_round(cls, status: int | None, loss: float, loss_before: float) -> Convergence:
        """A search whose last round lowered the loss from `loss_before` to `loss`."""
        settled = loss > MIN_IMPROVEMENT_RATIO * loss_before or loss <= LOSS_FLOOR
        gain = f"the last round lowered the loss by {1 - loss / loss_before:.0%}" if loss_before else "no loss is left"
        return cls(settled, status, gain if settled else f"limit of rounds reached: {gain}")


@dataclass(eq=False)
class Candidate:
    """Values of a firmware model that explain the datasets.

    Attributes:
        x: the free parameters, on their scales.
        loss: mean square of the log ratios of measured to simulated, over suites; `sqrt` is a relative error.
        covariance: of the free parameters, on their scales.
        geometry_points: alternative geometries, each with the point that fits the data as well there.
        small_io_fit: fit of the small requests, if they were measured.
        convergence: how the search ended.
    """

    problem: FitProblem
    x: Floats
    loss: float
    covariance: Floats | None = None
    geometry_points: Sequence[tuple[Geometry, Floats]] = ()
    small_io_fit: Candidate | None = None
    convergence: Convergence = Convergence()

    @property
    def values(self) -> dict[str, float]:
        """Natural values of all parameters."""
        return self.problem.unpack(self.x)

    @property
    def fitted(self) -> dict[str, float]:
        """Natural values of the free parameters."""
        values = self.values
        return {name: values[name] for name in self.problem.free}

    @property
    def firmware(self) -> FirmwareModel:
        """Firmware model of this candidate."""
        return self.problem.model.firmware

    @property
    def cache_share(self) -> float:
        """Cache of the empty drive as a share of the capacity."""
        return sum(cache_shares(self.firmware, self.values))

    @property
    def rms_log_error(self) -> float:
        """Root mean square of the log ratios: a relative error."""
        return float(np.sqrt(self.loss))

    def moved_to(self, start: Candidate) -> Candidate:
        """Another candidate that continues the search of this one."""
        return replace(start, convergence=self.convergence)


def best_of(problem: FitProblem, starts: Sequence[dict[str, float]], count: int = 1) -> list[Candidate]:
    """The `count` starts with the lowest objective, without any search.

    Args:
        starts: natural values; what is missing is as in the problem.
    """
    candidates: list[tuple[float, Candidate]] = []
    for values in starts:
        x = problem.pack(problem.values | values)
        limit = candidates[count - 1][0] if len(candidates) >= count else np.inf
        residuals = problem.residuals_below(x, limit)
        if residuals is not None:
            candidate = Candidate(problem, x, loss_of(residuals, problem.datasets, len(problem.free)))
            candidates = sorted([*candidates, (float((residuals**2).sum()), candidate)], key=lambda pair: pair[0])
    return [candidate for _, candidate in candidates[:count]]


def objective(candidate: Candidate) -> float:
    """Sum of squares that a search minimizes, of data and priors."""
    residuals = candidate.problem.residuals(candidate.x)
    return float(residuals @ residuals)


def refine(start: Candidate, evaluations: int = EVALUATIONS, map_fn: MapFn = map) -> Candidate:
    """Least squares from a start, with at most so many evaluations besides those of Jacobians."""
    # An install without the extra `fit` imports all but this.
    from scipy.optimize import least_squares

    problem = start.problem
    jacobian = _BroydenJacobian(problem, map_fn)
    solution = least_squares(
        problem.residuals,
        start.x,
        jac=jacobian.at,
        bounds=problem.bounds,
        method="trf",
        x_scale=problem.prior_sds,
        max_nfev=evaluations,
        ftol=LOSS_TOLERANCE,
        xtol=POINT_TOLERANCE,
    )
    loss = loss_of(solution.fun, problem.datasets, len(problem.free))
    convergence = _convergence(int(solution.status), str(solution.message), loss, start.loss)
    return Candidate(problem, solution.x, loss, convergence=convergence)


def _convergence(status: int, message: str, loss: float, loss_before: float) -> Convergence:
    """Ending of least squares; a limit of evaluations matters only if they still improved the loss a lot."""
    if status > 0:
        return Convergence(True, status, message.rstrip("."))
    return Convergence.of_round(status, loss, loss_before)


def coordinate_search(start: Candidate, step: float, map_fn: MapFn = map) -> Candidate:
    """The better neighbor of each parameter, one after the other; `step` is in prior standard deviations."""
    problem = start.problem
    best, residuals = start.x, problem.residuals(start.x)
    for index, name in enumerate(problem.free):
        steps = (direction * step * problem.prior_of(name)[1] for direction in (1.0, -1.0))
        neighbors = [problem.moved(best, index, moved) for moved in steps]
        limit = float(residuals @ residuals)
        tried = map_fn(_residuals_below, [(problem, neighbor, limit) for neighbor in neighbors])
        # The second is simulated only where the first is no better, unless both are at once.
        better = ((x, below) for x, below in zip(neighbors, tried, strict=False) if below is not None)
        best, residuals = next(better, (best, residuals))
    loss = loss_of(residuals, problem.datasets, len(problem.free))
    return start.moved_to(Candidate(problem, best, loss))


def _residuals_below(task: tuple[FitProblem, Floats, float]) -> Floats | None:
    problem, x, limit = task
    return problem.residuals_below(x, limit)


class _BroydenJacobian:
    """Jacobians that are measured, or updated where the last one predicted a step well.

    Each column costs a simulated run. See Broyden, "A class of methods for solving nonlinear simultaneous equations",
    1965.
    """

    def __init__(self, problem: FitProblem, map_fn: MapFn) -> None:
        self.problem, self.map_fn = problem, map_fn
        self.last: tuple[Floats, Floats, Floats] | None = None
        self.updates = 0

    def at(self, x: Floats) -> Floats:
        """The Jacobian of the residuals at a point."""
        residuals = self.problem.residuals(x)
        jacobian = self._updated(x, residuals)
        if jacobian is None:
            jacobian = self.problem.jacobian(x, residuals, self.map_fn)
            self.updates = 0
        self.last = x.copy(), residuals, jacobian
        return jacobian

    def _updated(self, x: Floats, residuals: Floats) -> Floats | None:
        if self.last is None or self.updates >= MAX_BROYDEN_UPDATES:
            return None
        last_x, last_residuals, jacobian = self.last
        step = x - last_x
        change = residuals - last_residuals
        error = residuals - last_residuals - jacobian @ step
        if not step.any() or float(error @ error) > MAX_SECANT_ERROR_SHARE * float(change @ change):
            return None
        self.updates += 1
        updated: Floats = jacobian + np.outer(error, step) / float(step @ step)
        return updated


def evaluations() -> int:
    """Simulated runs of this process so far."""
    return _Counter.evaluations
