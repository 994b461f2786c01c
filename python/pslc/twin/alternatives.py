"""Candidates under another rule: the same values, which a search under that rule may have passed by."""

from dataclasses import replace
from typing import Final

from pslc.twin import optimizer
from pslc.twin.model import FirmwareModel, parameters_of
from pslc.twin.optimizer import Candidate, MapFn
from pslc.twin.residuals import LOSS_FLOOR

MAX_LOSS_RATIO: Final = 2.5
"""Loss over that of the original candidate, up to which a candidate under another rule is refined."""
MIN_STATIC_SHARE, MAX_STATIC_SHARE = 0.02, 0.995
"""Shares of its size that a cache must keep on the full drive, at the least and at the most, to be tried as a hybrid
one with a static part of that size."""
EVALUATIONS: Final = 3
"""Steps of least squares that refine a candidate under another rule."""


def alternative_reuse(task: tuple[Candidate, list[FirmwareModel]]) -> list[Candidate]:
    """The values of a candidate with every other rule of reuse, and with the other type of cache.

    Args:
        task: the candidate, and all firmware models that can produce the first write.
    """
    candidate, models = task
    values, problem = candidate.values, candidate.problem
    firmware = problem.model.firmware
    alternatives = []
    for model in models:
        cached = model.has_cache and firmware.has_cache
        if not cached or model.when_full != firmware.when_full or model == firmware:
            continue
        size = candidate.cache_share
        sizes = {"dynamic": size} if model.mode == "dynamic-slc" else {"static": size}
        if model.mode != firmware.mode:
            sizes |= {"dynamic_min": 1.0}
        free = [name for name in parameters_of(model) if name in {*problem.free, *sizes} and name != "dynamic_min"]
        free += ["dynamic_min"] if model.mode == "dynamic-slc" and "dynamic_min" in problem.free else []
        moved = replace(
            problem, model=replace(problem.model, firmware=model), free=free, values=problem.values | values | sizes
        )
        alternatives.append(candidate.moved_to(optimizer.best_of(moved, [{}])[0]))
    return alternatives


def with_deferred_invalidation(candidate: Candidate) -> Candidate | None:
    """The candidate with dead data kept until the drive is idle; None if it has no cache or always writes to it."""
    problem = candidate.problem
    if not problem.model.firmware.has_cache or problem.model.firmware.when_full == "fold":
        return None
    model = replace(problem.model, firmware=replace(problem.model.firmware, dead="until-idle"))
    start = candidate.moved_to(optimizer.best_of(replace(problem, model=model), [candidate.values])[0])
    promising = start.loss < MAX_LOSS_RATIO * max(candidate.loss, LOSS_FLOOR)
    return optimizer.refine(start, EVALUATIONS) if promising else start


def with_hybrid_cache(candidate: Candidate, map_fn: MapFn = map) -> Candidate | None:
    """The candidate with a static cache of the size that its dynamic one keeps on the full drive.

    None if it has no dynamic cache, or one that keeps all or nothing of its size.
    """
    problem, values = candidate.problem, candidate.values
    if problem.model.firmware.mode != "dynamic-slc" or "dynamic_min" not in problem.free:
        return None
    kept = values["dynamic_min"]
    if not MIN_STATIC_SHARE < kept < MAX_STATIC_SHARE:
        return None
    sizes = {"static": kept * values["dynamic"], "dynamic": (1 - kept) * values["dynamic"]}
    model = replace(problem.model, firmware=replace(problem.model.firmware, mode="hybrid-slc"))
    free = [name for name in parameters_of(model.firmware) if name in {*problem.free, "static"}]
    free = [name for name in free if name != "dynamic_min"]
    hybrid = replace(problem, model=model, free=free, values=values | sizes | {"dynamic_min": 0.0})
    start = candidate.moved_to(optimizer.best_of(hybrid, [hybrid.values])[0])
    return optimizer.refine(start, EVALUATIONS, map_fn)
