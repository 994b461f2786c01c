"""Predictions for suites that were not measured, and suites that would tell firmware models apart."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pslc import suites
from pslc.base import words
from pslc.base.errors import PslcError
from pslc.device.cost import FAST, cost
from pslc.device.region import Scope, find_region
from pslc.device.target import Target
from pslc.schema.jobs import MOVED
from pslc.twin.datasets import Floats, scaled_step
from pslc.twin.fit_result import FitResult
from pslc.twin.model import MIB, PARAMETERS, Geometry, Model

MIN_DISCRIMINATING_LOG_RATIO: Final = 0.10
"""Logarithm of the ratio of two drives' results from which on a suite tells them apart."""
SAMPLES: Final = 6
"""Drives drawn from the intervals."""
Z90: Final = 1.645
"""Half the width of a 90 % interval in standard deviations."""
MODEL_ERROR: Final = 0.04
"""Relative error of the model and of scaled drives, which every predicted interval includes."""
NOT_IDENTIFIED: Final = ("over_provisioning", "command", "buffer", "slc_read", "native_read", "erase")
"""Parameters that are drawn from their priors where they were not free."""
PAUSES_S: Final = (3.0, 30.0, 600.0)
"""Pauses that stand for those of `recovery`."""
PREDICTION_BIN_FACTOR: Final = 64
"""Factor by which the bins of a simulated run are coarser than usual: only its totals are used."""

Measure = tuple[str, str, str]
"""Suite, name of the measure, unit."""


@dataclass(frozen=True)
class Prediction:
    """A predicted result of a suite that was not measured, with its 90 % interval."""

    suite: str
    name: str
    value: float
    low: float
    high: float
    unit: str


@dataclass(frozen=True)
class DiscriminatingSuite:
    """A suite that tells indistinguishable firmware models apart, and its cost.

    Attributes:
        apart: largest logarithm of the ratio of two models' results.
    """

    suite: str
    apart: float
    write_bytes: int
    idle_s: float
    timed_s: float

    @property
    def spent(self) -> str:
        """The cost as text: `writes about 281 GB`, `takes 30 min`."""
        if self.write_bytes:
            return f"writes about {words.size(self.write_bytes)}"
        return f"takes {words.span(self.timed_s + self.idle_s)}"


def prediction_jobs(capacity_bytes: int) -> dict[Measure, list[str]]:
    """Short jobs that stand for a suite each, as steps of which the last is measured."""
    c = capacity_bytes // MIB * MIB

    def write(name: str, size: float, offset: float = 0, pause: float = 0, io_size: float = 0) -> str:
        more = f"pause={round(pause * 1e6)}us\n" if pause else ""
        more += f"io_size={int(io_size) // MIB * MIB}\n" if io_size else ""
        return (
            f"[{name}]\nstonewall\nrw=write\nbs=1m\nioengine=io_uring\niodepth=32\ndirect=1\n"
            f"offset={int(offset) // MIB * MIB}\nsize={int(size) // MIB * MIB}\n{more}"
        )

    half = write("fill", 0.5 * c)
    random = "[random]\nrw=randwrite\nbs=4k\nioengine=io_uring\niodepth=16\ndirect=1\nnorandommap\noffset=0\n"
    random += f"size={c}\n"
    return {
        ("fill", "mean of a whole fill", "B/s"): [write("fill", c)],
        ("fill at 50 % full", "mean of the second half", "B/s"): [half, write("rest", 0.499 * c, 0.5 * c, 600)],
        ("second-pass", "mean of the second pass", "B/s"): [write("fill", c), write("again", c, 0, 300)],
        ("overwrite", "rewriting a quarter of the drive for twice its size", "B/s"): [
            write("over", 0.25 * c, 0, 0, 0.5 * c),
            write("over", 0.25 * c, 0, 0, 0.25 * c),
        ],
        ("sustained", "writing round a full drive", "B/s"): [write("fill", c), write("on", 0.6 * c)],
        ("random-steady", "4 KiB random writes on a full drive", "B/s"): [
            write("fill", c),
            random + f"io_size={int(0.3 * c) // MIB * MIB}\n",
            random + f"io_size={int(0.1 * c) // MIB * MIB}\n",
        ],
    }


def small_io_jobs(capacity_bytes: int) -> dict[Measure, list[str]]:
    """Jobs that measure small requests, one by one or in parallel, by the measure they give. Only a full-size drive can
    answer them."""
    span = min(1 << 30, capacity_bytes // 8) // MIB * MIB
    lay = f"[lay]\nstonewall\nrw=write\nbs=1m\nioengine=io_uring\niodepth=32\ndirect=1\noffset=0\nsize={span}\n"
    jobs = {}
    for kind in ("randread", "randwrite"):
        for depth in (1, 32):
            job = (
                f"[one]\nstonewall\nrw={kind}\nbs=4k\nioengine=io_uring\niodepth={depth}\ndirect=1\nnorandommap\n"
                f"offset=0\nsize={span}\nnumber_ios=4000\n"
            )
            name = f"4 KiB random {kind.removeprefix('rand')}s, queue depth {depth}"
            jobs["qd-sweep", name, "/s"] = [lay, job]
    return jobs


def measure(model: Model, values: dict[str, float], steps: Sequence[str]) -> float | None:
    """Bytes/s of the last step (requests/s of small ones), on a drive scaled like the model.

    None if there is no such drive, or if it cannot run a step.
    """
    drive = model.open(values)
    if drive is None:
        return None
    try:
        # Each step has a seed of its own: what was written in one order is overwritten far cheaper in the same.
        results = [
            drive.run(scaled_step(text, model.scale), "twin.fio", [], seed, None, None, PREDICTION_BIN_FACTOR)
            for seed, text in enumerate(steps)
        ]
    except PslcError:
        return None
    job = results[-1]["jobs"][-1]
    totals = max((job[kind] for kind in MOVED), key=lambda done: done["io_bytes"])
    moved = totals["total_ios"] if "number_ios" in job["options"] else totals["io_bytes"]
    return moved / max(job["elapsed_ns"], 1) * 1e9


def samples(result: FitResult, count: int = SAMPLES, seed: int = 0) -> list[tuple[Model, Geometry, dict[str, float]]]:
    """Drives that fit the data as well: the scaled model, the full-size geometry and the values of each.

    The indistinguishable candidates come first, then the best values in alternative geometries, then `count` draws from
    the covariance.
    """
    best = result.best
    problem = best.problem
    own_model = replace(problem.model, host_request_ns=0)
    drives = [
        (replace(candidate.problem.model, host_request_ns=0), result.geometry, candidate.values)
        for candidate in result.indistinguishable
    ]
    free = {*problem.free, *(best.small_io_fit.problem.free if best.small_io_fit else ())}
    unknown = [name for name in NOT_IDENTIFIED if name not in free]
    points = [*best.geometry_points, *_drawn_points(result, count, seed + 1)]
    # As many rows as points if there is a covariance; the scaling of the draws depends on their number.
    deviates = _normal((len(best.geometry_points) + count, len(unknown)), seed)
    for (geometry, x), row in zip(points, deviates, strict=False):
        values = problem.unpack(x)
        for name, deviate in zip(unknown, row, strict=True):
            parameter, (mean, sd) = PARAMETERS[name], problem.prior_of(name)
            values[name] = float(np.clip(np.exp(mean + sd * deviate), parameter.low, parameter.high))
        if "buffer" in unknown:
            values["buffer"] = max(values["buffer"], result.geometry.full_buffer_bytes)
        drives.append((own_model.with_geometry(geometry), geometry, values))
    return drives


def _drawn_points(result: FitResult, count: int, seed: int) -> list[tuple[Geometry, Floats]]:
    """Points drawn from the covariance of the best candidate, around its values in each alternative geometry."""
    best = result.best
    if best.covariance is None:
        return []
    low, high = best.problem.bounds
    centers = list(best.geometry_points) or [(result.geometry, best.x)]
    axes = np.linalg.cholesky(best.covariance + 1e-12 * np.eye(len(best.x)))
    points = []
    for index, deviates in enumerate(_normal((count, len(best.x)), seed)):
        geometry, center = centers[index % len(centers)]
        points.append((geometry, np.clip(center + axes @ deviates, low, high)))
    return points


def _normal(shape: tuple[int, int], seed: int) -> Floats:
    """Standard normal deviates, rescaled to a variance of just 1 in each column.

    A few draws can be narrow by chance; as each fit uses the same draws, all fits would be too narrow.
    """
    deviates: Floats = np.random.default_rng(seed).normal(size=shape)
    deviates /= np.sqrt(np.mean(deviates**2, axis=0, keepdims=True)) if shape[0] else 1.0
    return deviates


def predictions(result: FitResult) -> list[Prediction]:
    """Results of suites that were not measured, each with its 90 % interval."""
    measured = {dataset.suite for dataset in result.datasets}
    drives = samples(result)
    capacity = result.priors.capacity_bytes
    scaled = [(model, values) for model, _, values in drives]
    full_size = [(replace(model, geometry=geometry, scale=1.0), values) for model, geometry, values in drives]
    jobs = [(key, steps, scaled) for key, steps in prediction_jobs(capacity).items()]
    jobs += [(key, steps, full_size) for key, steps in small_io_jobs(capacity).items()]
    count = len(result.indistinguishable)
    rows = []
    for (suite, name, unit), steps, simulated in jobs:
        if suite in measured:
            continue
        values = [measure(model, natural, steps) for model, natural in simulated]
        interval = _interval(values, count)
        if values[0] and interval:
            rows.append(Prediction(suite, name, values[0], *interval, unit))
    return rows


def _interval(values: Sequence[float | None], candidates: int) -> tuple[float, float] | None:
    """The 90 % interval of a measure; None if it is not known.

    Args:
        values: those of the candidates, the best first, then those of drives drawn around it.
    """
    drawn = np.array([value for value in values[candidates:] if value])
    if not values[0] or not len(drawn):
        return None
    deviations = np.log(drawn) - np.log(values[0])
    width = float(np.hypot(Z90 * np.sqrt(np.mean(deviations**2)), MODEL_ERROR))
    of_candidates = [value for value in values[:candidates] if value]
    low = min(values[0] * np.exp(-width), *of_candidates)
    high = max(values[0] * np.exp(width), *of_candidates)
    return float(low), float(high)


def discriminating_suites(result: FitResult) -> list[DiscriminatingSuite]:
    """Suites that would tell the indistinguishable firmware models apart, the cheapest first."""
    candidates = result.indistinguishable
    if len(candidates) < 2:
        return []
    measured = {dataset.suite for dataset in result.datasets}
    differences: dict[str, float] = {}
    for (suite, _, _), steps in (prediction_jobs(result.priors.capacity_bytes) | _pause_jobs(result)).items():
        if suite in suites.names() and suite not in measured:
            values = [measure(candidate.problem.model, candidate.values, steps) for candidate in candidates]
            logs = [float(np.log(value)) for value in values if value]
            differences[suite] = max(differences.get(suite, 0.0), max(logs) - min(logs) if logs else 0.0)
    region = find_region(_target(result), Scope(quick=True))
    rows = []
    for suite, difference in differences.items():
        if difference >= MIN_DISCRIMINATING_LOG_RATIO:
            spent = cost(suites.expected(suite, region), suite, [], region.target)
            rows.append(DiscriminatingSuite(suite, difference, spent.write_bytes, spent.idle_s, spent.timed_s))
    return sorted(rows, key=lambda row: row.write_bytes + FAST * row.timed_s)


def _pause_jobs(result: FitResult) -> dict[Measure, list[str]]:
    """Writes after pauses on a half-full drive, like those of `recovery`."""
    c = result.priors.capacity_bytes
    size = min(max(result.best.cache_share, 0.01), 0.4) * c
    jobs = {}
    for pause in PAUSES_S:
        job = "[{}]\nstonewall\nrw=write\nbs=1m\nioengine=io_uring\niodepth=32\ndirect=1\noffset=0\nsize={}\n{}"
        jobs["recovery", f"after {pause:g} s", "B/s"] = [
            job.format("half", c // 2 // MIB * MIB, ""),
            job.format("again", c // 2 // MIB * MIB, ""),
            job.format("after", int(size) // MIB * MIB, f"pause={round(pause * 1e6)}us\n"),
        ]
    return jobs


def _target(result: FitResult) -> Target:
    """The twin as a target for which suites can be planned."""
    drive = Model(result.geometry, result.best.firmware).open(result.best.values)
    assert drive is not None, "it was opened before"
    return Target("sim:twin", "twin", "simulated", "twin", drive.capacity_bytes, drive.facts(), lambda: drive)
