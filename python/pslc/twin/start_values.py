"""Starts of a fit to more datasets than the first write: from findings of the suites, and from random draws."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from pslc import suites
from pslc.suites import FitStart, StartValues
from pslc.twin import optimizer, uncertainty
from pslc.twin.datasets import Dataset
from pslc.twin.identifiability import FREED_BY_FIRST_WRITE, free_parameters_of
from pslc.twin.initial_guess import HOST_SHARES, equivalent_host_shares
from pslc.twin.model import PARAMETERS
from pslc.twin.observations import observed_priors
from pslc.twin.optimizer import Candidate, FitProblem

WELL_DETERMINED_LOG_SD: Final = 0.015
"""Standard deviation on its scale below which a parameter stays as the first write determined it."""
DRAWS: Final = 24
"""Number of random starts of a fit."""
CHANGE_PROBABILITY: Final = 0.5
"""Probability that a draw changes a value."""
WEAK_PARAMETERS: Final = {"dynamic_min": 1.0, "residue": 0.3}
"""Parameters of which findings say least, and the largest value that is drawn. With a wrong cache of the full drive, a
wrong residue looks right, and the other way round: they are drawn together."""


def extend(task: tuple[Candidate, list[Dataset], set[str]]) -> Candidate:
    """The best start of a candidate for a fit to more datasets.

    Args:
        task: the candidate, all datasets, and parameters that stay as they are.
    """
    candidate, datasets, settled = task
    problem = candidate.problem
    fitted = {dataset.suite for dataset in problem.datasets}
    kept = [name for name in problem.free if name in FREED_BY_FIRST_WRITE]
    free = [name for name in [*free_parameters_of(candidate.firmware, datasets), *kept] if name not in settled]
    hints = [hint for dataset in datasets if dataset.suite not in fitted for hint in fit_hints(dataset, candidate)]
    # The first of all together, then one after the other: all combinations would be many.
    together = {name: value for hint in hints for name, value in hint[0].items()}
    extended = FitProblem(problem.model, datasets, free, candidate.values, problem.priors | observed_priors(datasets))
    start = optimizer.best_of(extended, [{}, together])[0]
    for hint in hints:
        if hint[0].keys() & set(free):
            start = _best_with(start, [start.values | values for values in hint])
    if hints:
        start = _best_with(start, draw(start, hints))
    return candidate.moved_to(start)


def _best_with(start: Candidate, alternatives: Sequence[dict[str, float]]) -> Candidate:
    return optimizer.best_of(start.problem, [start.values, *alternatives])[0]


def fit_hints(dataset: Dataset, candidate: Candidate) -> list[StartValues]:
    """Initial values from the findings of a dataset's suite, for a candidate whose fit did not include that dataset."""
    firmware, values = candidate.firmware, candidate.values
    equivalent: list[dict[str, float]] = []
    if firmware.when_full == "direct-while-folding":
        for share in (values["host_share"], *HOST_SHARES):
            equivalent += equivalent_host_shares(values, firmware, share)
    start = FitStart(
        values, candidate.cache_share * candidate.problem.model.geometry.capacity_bytes, firmware.when_full, equivalent
    )
    return suites.fit_hints(dataset.suite, dataset.findings, start)


def draw(start: Candidate, hints: Sequence[StartValues]) -> list[dict[str, float]]:
    """Random starts that change several values at once; the same for the same start and hints."""
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(DRAWS):
        values = dict(start.values)
        for hint in hints:
            if rng.random() < CHANGE_PROBABILITY:
                values |= hint[int(rng.integers(len(hint)))]
        for name, largest in WEAK_PARAMETERS.items():
            if name in start.problem.free and rng.random() < CHANGE_PROBABILITY:
                values[name] = rng.uniform(0.0, largest)
        if "watermark" in start.problem.free and rng.random() < CHANGE_PROBABILITY:
            # Space that is left when folding begins may be space that the drive does not have.
            space = max(values["over_provisioning"] - values["watermark"], PARAMETERS["over_provisioning"].low)
            values |= {"over_provisioning": space, "watermark": 0.0}
        draws.append(values)
    return draws


def well_determined(candidate: Candidate) -> set[str]:
    """Parameters that the data of a candidate determine so well that further fits leave them as they are."""
    covariance = uncertainty.with_covariance(candidate, uncertainty.jacobian(candidate)).covariance
    assert covariance is not None
    deviation = np.sqrt(np.diag(covariance))
    return {name for name, sd in zip(candidate.problem.free, deviation, strict=True) if sd < WELL_DETERMINED_LOG_SD}
