"""The first write over the empty drive: its summary, firmware models that can produce it, and their fits to it."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pslc.analysis import AnalysisOptions, Curve, MeasurementContext, Phase, explain_curve, find_phases
from pslc.twin import initial_guess, optimizer
from pslc.twin.datasets import SCALABLE_SUITES, Dataset, first_part
from pslc.twin.identifiability import free_parameters_of
from pslc.twin.initial_guess import CurveSummary
from pslc.twin.model import MIN_SCALED_BYTES, PARAMETERS, FirmwareModel, Geometry, Model
from pslc.twin.observations import observed_priors
from pslc.twin.optimizer import Candidate, FitProblem
from pslc.twin.priors import PriorKnowledge
from pslc.twin.residuals import MIN_OSCILLATION_BINS, oscillates

MAX_CACHE_RATIO: Final = 1.3
"""Size of a cache over the capacity divided by the bits per cell, beyond which it is no cache."""
MLC_BITS: Final = 2
"""Bits a cell of a second tier: only cells that can hold more have one."""
MIN_DYNAMIC_SHARE: Final = 0.004
"""Share of the capacity from which on a cache may be a dynamic one."""
MAX_STATIC_SPACE_SHARE: Final = 0.2
"""Share of the capacity that a static cache may take of the native space."""
SAME_VALLEY_LOSS_RATIO: Final = 2.5
"""Loss over the best up to which a start may lead to an optimum as good."""
MIN_START_RMS: Final = 0.05
"""Error of the best start below which the others are judged as if it had this one: the laws are wrong by as much."""
RULES_OF_USE: Final = (
    ("fold", "as-freed"),
    *itertools.product(("direct-then-fold", "direct-while-folding"), ("after-idle", "when-empty", "as-freed")),
)
"""Rules for a full cache, and for its reuse, that are tried."""
RATE_PARAMETERS: Final = ("slc_rate", "native_rate", "fold_overhead", "host_share")
RULE_PARAMETERS: Final = ("watermark", "batch", "ceiling")
SAME_START_LOG_RATIO: Final = 0.15
"""Log ratio of two starts' rates within which they lead to the same optimum."""
MAX_STARTS: Final = 6
"""Starts from which a firmware model is fitted: the laws are wrong by a few per cent, and a fit can end in a wrong
valley."""
START_EVALUATIONS, EVALUATIONS = 4, 8
"""Steps of least squares from each start, and from where the best of them led."""
MAX_QLC_SPEED: Final = 0.22e-3
"""Bytes/s per byte of capacity below which unknown cells are taken for QLC."""
MIN_SCALED_CACHE_BYTES: Final = 256 << 20
"""Cache of a scaled drive: it must take many requests."""
MAX_SCALED_BYTES: Final = 64 << 30
PREFIX_SHARES: Final = (0.25, 0.5)
"""Shares of a sawtooth write that are fitted before all of it."""
CEILING_RATIO: Final = 1.15
"""Native rate of a part over that of the laws from which on a slower data path is tried."""
HIDDEN_RATE_PRIOR: Final = (2.0, 0.6)
"""Prior of a pSLC rate that the link hides: its mean over the link's rate, and the standard deviation of its log."""
ERASE_PRIOR_SD: Final = 0.7


@dataclass(frozen=True)
class FirstWrite:
    """The first write of a drive and what is known before it is fitted.

    Attributes:
        dataset: the dataset of the write.
        fixed: natural values that other data determined already.
    """

    dataset: Dataset
    summary: CurveSummary
    priors: PriorKnowledge
    geometry: Geometry
    fixed: Mapping[str, float]


def first_write(datasets: Sequence[Dataset]) -> Curve | None:
    """Time against bytes of the first sequential write over the empty drive; None if there is none."""
    for dataset in sorted(datasets, key=lambda each: (each.suite != "fill", each.suite not in SCALABLE_SUITES)):
        if dataset.curve is not None:
            return dataset.curve
    return None


def summarize_curve(curve: Curve, dataset: Dataset, priors: PriorKnowledge) -> tuple[CurveSummary, int]:
    """The summary of the first write, and the bits per cell."""
    size = priors.capacity_bytes
    analysis = explain_curve(curve, MeasurementContext(capacity_bytes=size), AnalysisOptions(capacity_bytes=size))
    end, limit = analysis.cache, priors.max_bytes_per_s
    cache = end.bytes if end is not None and end.seen_end else None
    # Without a cache, a brief change of speed may be the end of the space.
    phases: Sequence[Phase] = find_phases(curve) if cache is None else analysis.phases
    if priors.cache_bytes and cache is None:
        # A small step is a step if somebody stated it.
        cache, phases = priors.cache_bytes, initial_guess.split(curve, priors.cache_bytes)
    summary = initial_guess.summarize_phases(phases, cache, limit, priors.capacity_bytes)
    slowest = min((speed for speed, _, _ in summary.slow), default=summary.fast)
    bits = priors.bits_per_cell or (4 if slowest < MAX_QLC_SPEED * priors.capacity_bytes else 3)
    if (summary.cache > MAX_CACHE_RATIO * priors.capacity_bytes / bits) if summary.cache else len(phases) > 1:
        # What ends there is the space: the link, or another limit, hides the end of the cache.
        summary = initial_guess.summarize_phases(phases, None, min(limit, summary.fast), priors.capacity_bytes)
    job = dataset.features[0][0]
    finest = max(job.curves, default=1) if job else 1
    turns = bool(job and finest >= MIN_OSCILLATION_BINS and oscillates(job.curves[finest]))
    return replace(summary, oscillates=turns), bits


def candidate_models(summary: CurveSummary, bits: int) -> list[FirmwareModel]:
    """Firmware models that can produce this first write."""
    models = []
    hidden = summary.cache is None and summary.is_link_limited
    if summary.cache is None:
        models.append(FirmwareModel("pure-xlc", bits_per_cell=bits))
        if summary.is_flat or (summary.whole and not hidden):
            return models
    size = (summary.cache or 0.0) / summary.capacity
    modes = ["dynamic-slc"] if size > MIN_DYNAMIC_SHARE or hidden else []
    # A static cache takes n times its size of the native space.
    modes += ["static-slc"] if 0 < size * bits < MAX_STATIC_SPACE_SHARE else []
    caches = [FirmwareModel(mode, bits_per_cell=bits) for mode in modes]
    if summary.tiers and bits > MLC_BITS:
        caches.append(FirmwareModel("hybrid-slc", bits_per_cell=bits, has_two_tiers=True))
    return models + [replace(cache, when_full=rule, reuse=reuse) for cache in caches for rule, reuse in RULES_OF_USE]


def _further_parameters(firmware: FirmwareModel, write: FirstWrite) -> list[str]:
    """Parameters that this first write determines, besides those that each fill does."""
    summary, names = write.summary, []
    if summary.is_sawtooth:
        # Turns are as long as a batch where the cache is folded so, and shorter where the cache has shrunk.
        names += ["batch"] if firmware.when_full == "fold" else []
    if firmware.mode == "dynamic-slc" and (summary.is_sawtooth or firmware.when_full == "fold"):
        names.append("dynamic_min")
    if firmware.when_full == "direct-then-fold" and len(summary.slow) > 1:
        names.append("watermark")
    if firmware.has_two_tiers:
        names.append("mlc_rate")
    if any(name == "native_rate" for name, _, _ in write.priors.part_priors):
        # Without a part, a slow data path and slow dies are the same to a write.
        names.append("ceiling")
    return names


def _priors(write: FirstWrite) -> dict[str, tuple[float, float]]:
    # A smaller buffer would show: as long as nothing determines it, it is none of the drive's limits.
    buffer = max(PARAMETERS["buffer"].prior_mean, write.geometry.full_buffer_bytes)
    priors = {
        "erase": (float(np.log(write.geometry.erase_s)), ERASE_PRIOR_SD),
        "buffer": (float(np.log(buffer)), PARAMETERS["buffer"].prior_sd),
    }
    if write.summary.is_link_limited:
        # The link hides the cells: only that they are faster is known.
        ratio, sd = HIDDEN_RATE_PRIOR
        priors["slc_rate"] = (float(np.log(ratio * write.summary.link)), sd)
    for name, value, sd in write.priors.part_priors:
        priors[name] = (float(np.log(value)), sd)
    return priors | observed_priors([write.dataset])


def _problem(write: FirstWrite, firmware: FirmwareModel) -> FitProblem:
    """The first write, to be explained by a firmware model."""
    priors = _priors(write)
    model = Model(write.geometry, firmware, host_request_ns=write.priors.host_request_ns)
    free = [*free_parameters_of(firmware, [write.dataset]), *_further_parameters(firmware, write)]
    # A cache that keeps its size while it is the only way in would show two speeds: such drives shrink it.
    values = {name: parameter.prior_mean for name, parameter in PARAMETERS.items()}
    values["dynamic_min"] = 0.0 if firmware.when_full == "fold" else 1.0
    values |= {name: value for name, value, _ in write.priors.part_priors}
    values |= {name: float(np.exp(priors[name][0])) for name in ("erase", "buffer")}
    scaled = model.scaled(_min_scaled_bytes(write.summary))
    return FitProblem(scaled, [write.dataset], free, values | dict(write.fixed), priors)


def fit_family(task: tuple[FirstWrite, list[FirmwareModel]]) -> list[Candidate]:
    """Fits of firmware models that differ in reuse only to the first write; those that do the same share a fit."""
    write, models = task
    candidates: list[Candidate] = []
    for firmware in models:
        problem = _problem(write, firmware)
        same = next((other for other in candidates if _does_the_same(problem, other)), None)
        if same is not None:
            candidates.append(replace(same, problem=problem))
            continue
        # Another rule of reuse leaves the first teeth as they are: it starts where the last one ended, too.
        earlier = [other.values for other in candidates]
        guesses = list(initial_guess.initial_guesses(write.summary, firmware))
        guesses += [start | limited for start in guesses if (limited := _with_ceiling(start, write.priors))]
        starts = optimizer.best_of(problem, [*guesses, *earlier], len(guesses) + len(earlier))
        refined = [optimizer.refine(start, START_EVALUATIONS) for start in _unlike(starts)[:MAX_STARTS]]
        if write.summary.is_sawtooth:
            refined += _fit_prefixes(problem, [*guesses, *earlier])
        # Of two that explain the write as well, the one whose values are more usual.
        best = min(refined, key=optimizer.objective)
        candidates.append(optimizer.refine(best, EVALUATIONS))
    return [_restarted(candidate, candidates) for candidate in candidates]


def _unlike(starts: Sequence[Candidate]) -> list[Candidate]:
    """Starts that may lead to different optima, the best first.

    What folds and how fast decides where a search ends, not the spare space.
    """
    limit = SAME_VALLEY_LOSS_RATIO * max(starts[0].loss, MIN_START_RMS**2)
    chosen: list[Candidate] = []
    for start in starts:
        if start.loss < limit and not any(_is_alike(start.values, other.values) for other in chosen):
            chosen.append(start)
    return chosen


def _is_alike(left: dict[str, float], right: dict[str, float]) -> bool:
    near = all(abs(np.log(left[name] / right[name])) < SAME_START_LOG_RATIO for name in RATE_PARAMETERS)
    return near and all(left[name] == right[name] for name in RULE_PARAMETERS)


def _restarted(candidate: Candidate, rivals: Sequence[Candidate]) -> Candidate:
    """The candidate, refitted from another model's optimum if that fits it clearly better."""
    ends = [other.values for other in rivals if other.loss * SAME_VALLEY_LOSS_RATIO < candidate.loss]
    start = next(iter(optimizer.best_of(candidate.problem, ends)), candidate)
    return optimizer.refine(start, EVALUATIONS) if start.loss < candidate.loss else candidate


def _min_scaled_bytes(summary: CurveSummary) -> int:
    """Bytes of a scaled drive whose cache takes many requests."""
    share = (summary.cache or summary.capacity) / summary.capacity
    return int(min(max(MIN_SCALED_CACHE_BYTES / share, MIN_SCALED_BYTES), MAX_SCALED_BYTES))


def _with_ceiling(start: dict[str, float], priors: PriorKnowledge) -> dict[str, float]:
    """Dies as fast as their part behind a slower data path, if the laws see slower cells; otherwise empty."""
    of_part = next((value for name, value, _ in priors.part_priors if name == "native_rate"), 0.0)
    if of_part <= CEILING_RATIO * start["native_rate"]:
        return {}
    return {"native_rate": of_part, "ceiling": start["native_rate"]}


def _fit_prefixes(problem: FitProblem, starts: list[dict[str, float]]) -> list[Candidate]:
    """A start from fits to the first quarter of the write, then to its half.

    A small error in the first teeth is one of whole teeth at the end of the write, where no slope leads back.
    """
    candidates: list[Candidate] = []
    for share in PREFIX_SHARES:
        prefix = replace(problem, datasets=[first_part(dataset, share) for dataset in problem.datasets])
        best = optimizer.best_of(prefix, [candidate.values for candidate in candidates] or starts, 2)
        candidates = [optimizer.refine(start, START_EVALUATIONS) for start in best]
    return optimizer.best_of(problem, [candidate.values for candidate in candidates], 1)


def _does_the_same(problem: FitProblem, candidate: Candidate) -> bool:
    residuals, start = problem.residuals(candidate.x), candidate.problem.residuals(candidate.x)
    return bool(np.array_equal(residuals, start))
