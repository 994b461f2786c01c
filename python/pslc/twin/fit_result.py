"""The result of a fit: candidates, their statistics, and what the data leave open."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

import numpy as np

from pslc.base import words
from pslc.twin.datasets import Dataset
from pslc.twin.initial_guess import CurveSummary
from pslc.twin.model import FirmwareModel, Geometry
from pslc.twin.optimizer import Candidate
from pslc.twin.priors import PriorKnowledge
from pslc.twin.residuals import BINS_PER_SUITE, LOSS_FLOOR, SIGMA

INDISTINGUISHABLE_LOSS_RATIO: Final = 2.0
"""Loss over the best, up to which the data cannot tell a candidate from the best."""
POOR_FIT_RMS: Final = 0.10
"""Root mean square of the log ratios from which on a fit is poor."""
BOUND_TOLERANCE: Final = 1e-3
"""Share of a parameter's range within which its value is at a bound: the optimizer stays inside."""


@dataclass(frozen=True)
class FitStatistics:
    """Statistics of the best candidate, in the words of lmfit.

    Every suite counts as `BINS_PER_SUITE` data points, whatever the number of its jobs, and each residual is divided by
    an error of 5 %. So a reduced chi-square of 1 is a fit that is 5 % off (root mean square).

    Attributes:
        success: the optimizer converged.
        status: status of SciPy's last `least_squares`: 0 limit of evaluations, 1 to 4 converged; None: not run.
        message: why the search ended.
        evaluations: simulated runs of all datasets of a problem, over all candidates.
        cpu_seconds: CPU seconds of the search, summed over its processes.
        data_points: effective number of data points.
        variables: number of free parameters.
        chi_square: sum of squared residuals of the data, without those of the priors.
        reduced_chi_square: chi-square over data points less variables.
        correlations: correlation of two parameters' estimates, between -1 and 1, by pair; strongest first.
        at_bound: parameters whose value is at a bound, with `low` or `high`.
    """

    success: bool
    status: int | None
    message: str
    evaluations: int
    cpu_seconds: float
    data_points: int
    variables: int
    chi_square: float
    reduced_chi_square: float
    correlations: dict[tuple[str, str], float]
    at_bound: dict[str, str]

    @property
    def cost(self) -> str:
        """Cost of the search, for people: `12 000 evaluations, 5 min 8 s of a core`."""
        return f"{words.count(self.evaluations)} evaluations, {words.span(self.cpu_seconds)} of a core"

    def document(self) -> dict[str, object]:
        """The statistics for JSON."""
        pairs = [{"parameters": list(pair), "correlation": value} for pair, value in self.correlations.items()]
        return vars(self) | {"correlations": pairs}


@dataclass
class FitResult:
    """The result of a fit.

    Attributes:
        best: the best candidate, with its covariance.
        alternatives: the best candidate of every other firmware model that was fitted to all datasets, by loss.
        rejected: firmware models that the data rule out, with the root mean square of their log ratios.
        curve_summary: phases of the first write.
        geometry: full-size geometry of the best candidate.
        evaluations: simulated runs of all datasets of a problem, over all candidates.
        cpu_seconds: CPU seconds of the search, summed over its processes.
        notes: what to know about the fit, a sentence each.
    """

    best: Candidate
    alternatives: list[Candidate]
    rejected: list[tuple[FirmwareModel, float]]
    curve_summary: CurveSummary
    priors: PriorKnowledge
    datasets: Sequence[Dataset]
    geometry: Geometry
    evaluations: int = 0
    cpu_seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def indistinguishable(self) -> list[Candidate]:
        """The best candidate, and all that the data cannot tell from it."""
        limit = INDISTINGUISHABLE_LOSS_RATIO * max(self.best.loss, LOSS_FLOOR)
        return [self.best, *(candidate for candidate in self.alternatives if candidate.loss <= limit)]

    @property
    def firmware_models(self) -> list[FirmwareModel]:
        """Firmware models of all indistinguishable candidates."""
        return [candidate.firmware for candidate in self.indistinguishable]

    @property
    def cache_may_be_hidden(self) -> bool:
        """Whether the link hides a cache, if there is one: the whole first write is as fast as the link."""
        return not self.best.firmware.has_cache and self.curve_summary.is_flat

    @property
    def is_poor(self) -> bool:
        """Whether the twin differs too much from the drive to stand for it."""
        return self.best.rms_log_error > POOR_FIT_RMS

    @property
    def statistics(self) -> FitStatistics:
        """Statistics of the best candidate."""
        best, convergence = self.best, self.best.convergence
        problem = best.problem
        points = round(BINS_PER_SUITE) * len(problem.datasets)
        chi_square = best.loss / SIGMA**2 * points
        fits = [best] if best.small_io_fit is None else [best, best.small_io_fit]
        pairs: dict[tuple[str, str], float] = {}
        bounds: dict[str, str] = {}
        for fit in fits:
            pairs |= _correlations(fit)
            bounds |= _at_bound(fit)
        return FitStatistics(
            convergence.success,
            convergence.status,
            convergence.message,
            self.evaluations,
            self.cpu_seconds,
            points,
            len(problem.free),
            chi_square,
            chi_square / max(points - len(problem.free), 1),
            dict(sorted(pairs.items(), key=lambda item: -abs(item[1]))),
            bounds,
        )


def _correlations(candidate: Candidate) -> dict[tuple[str, str], float]:
    covariance, names = candidate.covariance, candidate.problem.free
    if covariance is None:
        return {}
    deviation = np.sqrt(np.diag(covariance))
    return {
        (names[i], names[j]): float(covariance[i, j] / (deviation[i] * deviation[j]))
        for i, j in combinations(range(len(names)), 2)
    }


def _at_bound(candidate: Candidate) -> dict[str, str]:
    low, high = candidate.problem.bounds
    tolerance = BOUND_TOLERANCE * (high - low)
    sides = zip(candidate.problem.free, candidate.x <= low + tolerance, candidate.x >= high - tolerance, strict=True)
    return {name: "low" if at_low else "high" for name, at_low, at_high in sides if at_low or at_high}
