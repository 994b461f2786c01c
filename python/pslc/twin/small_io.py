"""Fits to small requests, one by one and in a queue: command time, reads, write buffer, number of dies, and the bus."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from pslc.twin import optimizer, uncertainty
from pslc.twin.datasets import Dataset, Features
from pslc.twin.identifiability import free_parameters_of
from pslc.twin.model import FirmwareModel, Geometry, typical_geometry
from pslc.twin.observations import observed_priors
from pslc.twin.optimizer import Candidate, FitProblem
from pslc.twin.residuals import LOSS_FLOOR

SMALL_IO_SUITES: Final = frozenset({"burst", "qd-sweep", "range-sweep"})
"""Suites of small requests, which only the full-size drive answers."""
SMALL_IO_PARAMETERS: Final = frozenset({"buffer", "command", "slc_read", "native_read"})
"""Parameters that small requests determine, and large writes do not."""
MAX_DIES: Final = 512
DIE_FACTORS: Final = (1 / 8, 1 / 4, 1 / 2, 2, 4, 8)
"""Numbers of dies that are tried, over the assumed one."""
MAX_REBASED_LOSS_RATIO: Final = 2.0
"""Loss in another geometry over the one before, from which on a candidate is refined again."""
MIN_DIE_COUNT_LOSS_RATIO: Final = 1.5
"""Loss with the assumed number of dies over the best, from which on reads determine another number."""
EVALUATIONS: Final = 4
"""Steps of least squares of each fit."""
MAX_BUS_STEPS: Final = 3
BUS_TOLERANCE_LOG_RATIO: Final = 0.03
"""Log ratio of measured to simulated sequential reads within which the bus is right."""
MIN_BUS_MTS, MAX_BUS_MTS = 40.0, 4800.0
"""Bounds of a fitted bus, in MT/s."""
BUS_HEADROOM_RATIO: Final = 1.05
"""Bus speed over what programming in pSLC mode needs."""


def die_count_candidates(assumed: Geometry, speeds: tuple[float, float]) -> list[Geometry]:
    """Typical geometries of fewer and of more dies; `speeds` are bytes/s in cache and native mode."""
    geometries = []
    for factor in DIE_FACTORS:
        dies = round(assumed.dies * factor)
        if 1 <= dies <= MAX_DIES:
            geometry = typical_geometry(assumed.capacity_bytes, assumed.link, assumed.bits_per_cell, *speeds, dies)
            source = "fitted to qd-sweep: so many overlap in a queue"
            geometries.append(geometry.with_provenance("nand.dies", source))
    return geometries


def fit_in_geometry(task: tuple[Candidate, list[Dataset], Geometry]) -> Candidate:
    """Fit of the small requests in a geometry, with the other values of a candidate."""
    candidate, datasets, geometry = task
    problem = candidate.problem
    values = candidate.values
    values = values | {"buffer": max(values["buffer"], geometry.full_buffer_bytes)}
    model = replace(problem.model, geometry=geometry, scale=1.0)
    small_io = FitProblem(model, datasets, _free(model.firmware, datasets), values, problem.priors)
    return optimizer.refine(optimizer.best_of(small_io, [{}])[0], EVALUATIONS)


def random_requests_only(dataset: Dataset) -> Dataset:
    """The dataset without its sequential jobs: their speed depends on the bus, too."""
    features = [
        [job if job and job.repeat_key[1].startswith("rand") else None for job in step] for step in dataset.features
    ]
    return replace(dataset, features=features)


def with_fitted_bus(candidate: Candidate, dataset: Dataset) -> Geometry:
    """The geometry with the bus that carries the measured sequential reads, unless the link limits them."""
    geometry, values = candidate.problem.model.geometry, candidate.values
    needed = BUS_HEADROOM_RATIO * values.get("slc_rate", 0.0) / geometry.channels / 1e6
    for _ in range(MAX_BUS_STEPS):
        model = replace(candidate.problem.model, geometry=geometry)
        simulated = FitProblem(model, [dataset], [], values).simulate(values)
        measured_speed = _fastest_read(dataset.features)
        simulated_speed = _fastest_read(simulated[0] if simulated else [])
        if measured_speed is None or simulated_speed is None:
            break
        log_ratio = measured_speed - simulated_speed
        if abs(log_ratio) < BUS_TOLERANCE_LOG_RATIO:
            break
        bus = float(np.clip(geometry.bus_mts * np.exp(log_ratio), max(needed, MIN_BUS_MTS), MAX_BUS_MTS))
        source = "fitted to qd-sweep: what it reads in sequence"
        geometry = replace(geometry, bus_mts=round(bus)).with_provenance("nand.bus", source)
    return geometry


def _fastest_read(features: Features) -> float | None:
    """Log bytes/s of the fastest sequential read; None if there is none."""
    speeds = [
        float(job.curves[1][0])
        for step in features
        for job in step
        if job and job.repeat_key[1] == "read" and job.curves
    ]
    return max(speeds, default=None)


def best_die_count(fits: Sequence[Candidate]) -> Candidate:
    """The fit whose dies answer a queue as measured; the first, with the assumed number, unless another is better.

    One request shows how long a die takes for it, a queue of them how many dies share the work.
    """
    best = min(fits, key=lambda fit: fit.loss)
    return best if fits[0].loss > MIN_DIE_COUNT_LOSS_RATIO * max(best.loss, LOSS_FLOOR) else fits[0]


def rebase(task: tuple[Candidate, Geometry, Candidate]) -> Candidate:
    """A candidate in another geometry, with command and read times of a fit to small requests.

    It is refined where the values explain the data worse than before.
    """
    candidate, geometry, small_io_fit = task
    problem = candidate.problem
    model = problem.model.with_geometry(geometry)
    rebased = replace(problem, model=model, values=problem.values | small_io_fit.fitted)
    start = candidate.moved_to(optimizer.best_of(rebased, [candidate.fitted])[0])
    worse = start.loss > MAX_REBASED_LOSS_RATIO * max(candidate.loss, LOSS_FLOOR)
    return optimizer.refine(start, EVALUATIONS) if worse else start


def _free(firmware: FirmwareModel, datasets: list[Dataset]) -> list[str]:
    """Parameters that small requests determine."""
    free = [name for name in free_parameters_of(firmware, datasets) if name in SMALL_IO_PARAMETERS]
    # Part of what is read may be in native cells, or all of it.
    return [*free, "native_read"] if "slc_read" in free and "native_read" not in free else free


def fit_small_io(
    candidate: Candidate, datasets: list[Dataset], geometry: Geometry, map_fn: Callable[..., Iterable[Any]] = map
) -> Candidate:
    """The candidate with a fit of its full-size drive to small requests; its other values stay.

    Args:
        map_fn: `map`, or that of a pool of processes.
    """
    problem = candidate.problem
    model = replace(problem.model, geometry=geometry, scale=1.0)
    free = _free(model.firmware, datasets)
    if not free:
        return candidate
    small_io = FitProblem(model, datasets, free, candidate.values, problem.priors | observed_priors(datasets))
    best = optimizer.refine(optimizer.best_of(small_io, [candidate.values])[0], EVALUATIONS, map_fn)
    jacobian = uncertainty.jacobian(best, map_fn)
    covariance = uncertainty.with_covariance(best, jacobian, map_fn=map_fn).covariance
    return merge_small_io(candidate, replace(best, covariance=covariance))


def merge_small_io(candidate: Candidate, other: Candidate) -> Candidate:
    """The candidate with the values that small requests determined in a fit, or in that of another candidate."""
    extra = {name: other.values[name] for name in other.problem.free if name in SMALL_IO_PARAMETERS}
    problem = replace(candidate.problem, values=candidate.problem.values | extra)
    return replace(candidate, problem=problem, small_io_fit=other.small_io_fit or other)
