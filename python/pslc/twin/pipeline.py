"""The fit: every firmware model that can produce the first write, the best of them, and those that fit as well."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pslc.base.errors import user_error
from pslc.twin import alternatives, initial_fit, optimizer, small_io, start_values, uncertainty
from pslc.twin.datasets import SCALABLE_SUITES, Dataset, Floats
from pslc.twin.fit_result import FitResult
from pslc.twin.geometry_ensemble import KNOWN_DIES, KNOWN_PARTS, UNKNOWN_DIES, GeometryEnsemble, alternative_geometries
from pslc.twin.identifiability import free_parameters_of
from pslc.twin.initial_fit import FirstWrite
from pslc.twin.initial_guess import CurveSummary
from pslc.twin.model import FirmwareModel, Geometry, parameters_of, typical_geometry
from pslc.twin.optimizer import MIN_IMPROVEMENT_RATIO, Candidate, Convergence, MapFn
from pslc.twin.pool import Pool
from pslc.twin.priors import PriorKnowledge
from pslc.twin.residuals import LOSS_FLOOR, log_ratios

SCREENING_LOSS_RATIO: Final = 12.0
"""Loss over the best on the first write, up to which a firmware model is fitted to all datasets."""
REJECTED_LOSS_RATIO: Final = 12.0
"""Loss over the best on all datasets, beyond which a firmware model is rejected."""
FINALIST_LOSS_RATIO: Final = 2.5
"""Loss over the best, up to which a family is a finalist."""
MAX_FAMILIES: Final = 6
"""Families that are fitted to all datasets but the slow ones."""
MAX_FINALISTS: Final = 3
"""Families that are fitted to all datasets, with a coordinate search."""
MAX_TRIED: Final = 2
"""Candidates whose values are tried under other rules."""
SCREENING_EVALUATIONS, ROUND_EVALUATIONS = 3, 3
"""Steps of least squares in the screening, and in each round of the final fit."""
MAX_ROUNDS: Final = 4
"""Rounds of the final fit."""
COARSE_STEP_SD: Final = 0.3
FINE_STEP_SD: Final = 0.08
"""Steps of the coordinate search, in prior standard deviations: few bins of short jobs give a slope."""
SLOW_SUITES: Final = frozenset({"random-steady"})
"""Suites that take as long to simulate as all others together, and determine little that these do not."""
DEAD_DATA_SUITES: Final = frozenset({"overwrite", "random-steady"})
"""Suites that can show whether data that died in the cache free it at once."""

Log = Callable[[str], None]
Family = tuple[str, str]
"""Cache mode and rule for a full cache: firmware models of a family differ in reuse only."""


@dataclass
class _Fit:
    """The state of a fit between its stages.

    Attributes:
        large: datasets that a scaled drive reproduces.
        small: datasets of small requests; without known parts, those of `qd-sweep` with random requests only.
        sweeps: datasets of `qd-sweep`, with all jobs.
        first: the dataset of the first write.
        speeds: bytes/s of the first write in the cache and behind it.
        models: firmware models that can produce the first write.
        geometry: full-size geometry.
        ensemble: alternative geometries.
        screened: fits to the first write.
        candidates: firmware models that are still in the race, by loss.
    """

    large: list[Dataset]
    small: list[Dataset]
    sweeps: list[Dataset]
    first: Dataset
    summary: CurveSummary
    speeds: tuple[float, float]
    models: list[FirmwareModel]
    priors: PriorKnowledge
    geometry: Geometry
    pool: Pool
    log: Log
    ensemble: list[Geometry] = field(default_factory=list)
    screened: list[Candidate] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    rejected: list[tuple[FirmwareModel, float]] = field(default_factory=list)

    @property
    def best_loss(self) -> float:
        """Loss of the best candidate, at least that below which all fits are as good."""
        return max(self.candidates[0].loss, LOSS_FLOOR)


def fit_datasets(
    datasets: Sequence[Dataset], priors: PriorKnowledge, on_progress: Log | None = None, workers: int | None = None
) -> FitResult:
    """Fit a simulated drive to the datasets.

    Args:
        on_progress: called with a line for each stage.
        workers: number of processes (default: one per core).

    Raises:
        PslcError: no dataset has a sequential write over an empty drive.
    """
    curve = initial_fit.first_write(datasets)
    large = [dataset for dataset in datasets if dataset.suite in SCALABLE_SUITES]
    if curve is None or not large:
        raise user_error(
            "the data hold no sequential write over an empty drive", "measure one: pslc run fill, or run twin"
        )
    # A curve is long, and of no use to the processes that search.
    datasets = [replace(dataset, curve=None) for dataset in datasets]
    large = [dataset for dataset in datasets if dataset.suite in SCALABLE_SUITES]
    first = sorted(large, key=lambda dataset: dataset.suite != "fill")[0]
    summary, bits = initial_fit.summarize_curve(curve, first, priors)
    speeds = summary.fast, max((speed for speed, _, _ in summary.slow), default=summary.fast)
    geometry = priors.geometry or typical_geometry(priors.capacity_bytes, priors.link, bits, *speeds)
    models = initial_fit.candidate_models(summary, bits)
    sweeps, small = _small_datasets(datasets, has_parts=priors.geometry is not None)
    with Pool(workers if len(models) > 1 else 1) as pool:
        state = _Fit(
            large,
            small,
            sweeps,
            first,
            summary,
            speeds,
            models,
            priors,
            geometry,
            pool,
            on_progress or (lambda _: None),
        )
        for stage in STAGES:
            stage(state)
        best, *rivals = state.candidates
        return FitResult(
            best, rivals, state.rejected, summary, priors, datasets, state.geometry, pool.evaluations, pool.cpu_seconds
        )


def _small_datasets(datasets: Sequence[Dataset], *, has_parts: bool) -> tuple[list[Dataset], list[Dataset]]:
    """Datasets of `qd-sweep`, and all of small requests as they are fitted."""
    sweeps = [dataset for dataset in datasets if dataset.suite == "qd-sweep"]
    rest = [dataset for dataset in datasets if dataset.suite in small_io.SMALL_IO_SUITES - {"qd-sweep"}]
    # How fast what several dies answer comes depends on channels, which are assumed without parts.
    queued = sweeps if has_parts else [small_io.random_requests_only(dataset) for dataset in sweeps]
    return sweeps, [*queued, *rest]


def _fit_first_write(state: _Fit) -> None:
    """Fit every firmware model to the first write."""
    state.log(f"{len(state.models)} firmware models on {state.first.suite}")
    state.screened = _fit_families(state, state.models)
    state.candidates = _plausible(state.screened)
    factors = KNOWN_PARTS if state.priors.geometry else UNKNOWN_DIES
    state.ensemble = alternative_geometries(state.geometry, factors)


def _count_dies(state: _Fit) -> None:
    """Determine the number of dies and the bus from `qd-sweep`, and fit the first write again if they differ."""
    if not state.sweeps or state.priors.geometry is not None:
        return
    queued = [dataset for dataset in state.small if dataset.suite == "qd-sweep"]
    geometries = [state.geometry, *small_io.die_count_candidates(state.geometry, state.speeds)]
    tasks = [(state.screened[0], queued, geometry) for geometry in geometries]
    fits: list[Candidate] = state.pool.map(small_io.fit_in_geometry, tasks)
    best = small_io.best_die_count(fits)
    state.geometry = small_io.with_fitted_bus(best, state.sweeps[0])
    rebased = state.pool.map(small_io.rebase, [(candidate, state.geometry, best) for candidate in state.candidates])
    state.candidates = rebased
    if best is not fits[0]:
        state.ensemble = alternative_geometries(best.problem.model.geometry, KNOWN_DIES)
        # With dies that it does not have, a drive may have been ruled out.
        tried = [candidate.firmware for candidate in rebased]
        again = [firmware for firmware in state.models if firmware not in tried]
        state.screened = rebased + _fit_families(state, again, best)
        state.candidates = _plausible(state.screened)


def _reject_implausible(state: _Fit) -> None:
    """Reject firmware models that explain the first write too badly."""
    left = {candidate.firmware for candidate in state.candidates}
    state.rejected = [
        (candidate.firmware, candidate.rms_log_error) for candidate in state.screened if candidate.firmware not in left
    ]


def _screen(state: _Fit) -> None:
    """Fit the best families to all datasets but the slow ones."""
    if len(state.large) > 1:
        suites = ", ".join(dataset.suite for dataset in state.large)
        state.log(f"{len(state.candidates)} of them on {suites}")
    fast = [dataset for dataset in state.large if dataset.suite not in SLOW_SUITES] or state.large
    _extend_to(state, fast)
    _fit_leaders(state, _refine_briefly, REJECTED_LOSS_RATIO * state.best_loss, MAX_FAMILIES)


def _refine(state: _Fit) -> None:
    """Fit the finalists to all datasets."""
    _extend_to(state, state.large)
    _fit_leaders(state, _refine_in_rounds, FINALIST_LOSS_RATIO * state.best_loss, MAX_FINALISTS)
    state.candidates = _by_loss(state.candidates)


def _try_alternatives(state: _Fit) -> None:
    """Try the values of the best candidates under other rules."""
    best = state.candidates[:MAX_TRIED]
    reused = state.pool.map(alternatives.alternative_reuse, [(candidate, state.models) for candidate in best])
    state.candidates = _best_per_model([*state.candidates, *(candidate for group in reused for candidate in group)])
    if any(dataset.suite in DEAD_DATA_SUITES for dataset in state.large):
        deferred = state.pool.map(alternatives.with_deferred_invalidation, state.candidates[:MAX_TRIED])
        state.candidates = _by_loss(
            [*state.candidates, *(candidate for candidate in deferred if candidate is not None)]
        )
    if len(state.large) > 1:
        hybrid = alternatives.with_hybrid_cache(state.candidates[0], state.pool.map)
        state.candidates = _by_loss([*state.candidates, *([hybrid] if hybrid else [])])


def _fit_small_requests(state: _Fit) -> None:
    """Fit the best candidate to small requests; the others take its values."""
    if not state.small:
        return
    state.log(f"requests one by one: {', '.join(dataset.suite for dataset in state.small)}")
    best = small_io.fit_small_io(state.candidates[0], state.small, state.geometry, state.pool.map)
    state.candidates = [best, *(small_io.merge_small_io(other, best) for other in state.candidates[1:])]


def _estimate_uncertainty(state: _Fit) -> None:
    """Give the best candidate its covariance, all parameters being free at once."""
    best = state.candidates[0]
    problem = best.problem
    wanted = {*problem.free, *free_parameters_of(best.firmware, problem.datasets)}
    free = [name for name in parameters_of(best.firmware) if name in wanted]
    problem = replace(problem, free=free, values=best.values)
    best = replace(best, problem=problem, x=problem.pack(best.values))
    jacobian = uncertainty.jacobian(best, state.pool.map)
    best = uncertainty.shrink_to_prior(best, jacobian)
    ensemble = GeometryEnsemble(problem, best.x, state.ensemble, state.pool.map).residuals()
    state.candidates[0] = uncertainty.with_covariance(best, jacobian, ensemble, map_fn=state.pool.map)


STAGES: Final[tuple[Callable[[_Fit], None], ...]] = (
    _fit_first_write,
    _count_dies,
    _reject_implausible,
    _screen,
    _refine,
    _try_alternatives,
    _fit_small_requests,
    _estimate_uncertainty,
)
"""The stages of a fit, in order; docs/twin.md describes them."""


def _by_loss(candidates: Sequence[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda candidate: candidate.loss)


def _family(candidate: Candidate) -> Family:
    return candidate.firmware.mode, candidate.firmware.when_full


def _fit_families(
    state: _Fit, models: Sequence[FirmwareModel], small_io_fit: Candidate | None = None
) -> list[Candidate]:
    """Fits of firmware models to the first write, by loss; `small_io_fit` determines values that they take."""
    families: dict[Family, list[FirmwareModel]] = {}
    for firmware in models:
        families.setdefault((firmware.mode, firmware.when_full), []).append(firmware)
    fixed = small_io_fit.fitted if small_io_fit else {}
    write = FirstWrite(state.first, state.summary, state.priors, state.geometry, fixed)
    fits = state.pool.map(initial_fit.fit_family, [(write, family) for family in families.values()])
    return _by_loss([candidate for family in fits for candidate in family])


def _plausible(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Candidates that explain the first write about as well as the best, by loss."""
    best_loss = max(min(candidate.loss for candidate in candidates), LOSS_FLOOR)
    return _by_loss([candidate for candidate in candidates if candidate.loss <= SCREENING_LOSS_RATIO * best_loss])


def _extend_to(state: _Fit, datasets: list[Dataset]) -> None:
    """Start all candidates on these datasets, weigh bins by what geometry does to them, and reject the worst."""
    if len(datasets) > len(state.candidates[0].problem.datasets):
        settled = zip(state.candidates, _settled(state), strict=True)
        tasks = [(candidate, datasets, names) for candidate, names in settled]
        state.candidates = _by_loss(state.pool.map(start_values.extend, tasks))
    variance = _geometry_variance(state.candidates[0], state.ensemble, state.pool.map)
    tasks_of_variance = [(candidate, variance) for candidate in state.candidates]
    state.candidates = _by_loss(state.pool.map(_with_geometry_variance, tasks_of_variance))
    limit = REJECTED_LOSS_RATIO * state.best_loss
    state.rejected += [
        (candidate.firmware, candidate.rms_log_error) for candidate in state.candidates if candidate.loss > limit
    ]
    state.candidates = [candidate for candidate in state.candidates if candidate.loss <= limit]


def _settled(state: _Fit) -> list[set[str]]:
    """Parameters of each candidate that the first write alone determined; further fits leave them as they are.

    Many candidates do the same in the first write, and share the answer.
    """
    candidates = state.candidates
    if len({dataset.suite for dataset in candidates[0].problem.datasets}) > 1:
        return [
            set(free_parameters_of(candidate.firmware, candidate.problem.datasets)) - set(candidate.problem.free)
            for candidate in candidates
        ]
    keys = [(*_family(candidate), candidate.loss, candidate.x.tobytes()) for candidate in candidates]
    distinct = dict(zip(keys, candidates, strict=True))
    answers = state.pool.map(start_values.well_determined, list(distinct.values()))
    names = dict(zip(distinct, answers, strict=True))
    return [names[key] for key in keys]


def _geometry_variance(candidate: Candidate, ensemble: Sequence[Geometry], map_fn: MapFn) -> Floats:
    """Variance of each log ratio of the data over alternative geometries."""
    simulated = candidate.problem.simulate(candidate.values)
    assert simulated is not None, "it was simulated before"
    own = log_ratios(candidate.problem.datasets, simulated)
    return GeometryEnsemble(candidate.problem, candidate.x, ensemble, map_fn).variance(own)


def _with_geometry_variance(task: tuple[Candidate, Floats]) -> Candidate:
    """The candidate in a problem whose bins weigh less where geometry decides."""
    candidate, variance = task
    problem = replace(candidate.problem, geometry_variance=variance)
    return candidate.moved_to(optimizer.best_of(problem, [candidate.values])[0])


def _refine_briefly(start: Candidate, map_fn: MapFn = map) -> Candidate:
    return optimizer.refine(start, SCREENING_EVALUATIONS, map_fn)


def _refine_in_rounds(start: Candidate, map_fn: MapFn = map) -> Candidate:
    """Least squares and coordinate search in turns, as long as they pay."""
    candidate = optimizer.coordinate_search(start, COARSE_STEP_SD, map_fn)
    loss_before = candidate.loss
    for _ in range(MAX_ROUNDS):
        loss_before = candidate.loss
        candidate = optimizer.refine(candidate, ROUND_EVALUATIONS, map_fn)
        candidate = optimizer.coordinate_search(candidate, FINE_STEP_SD, map_fn)
        if candidate.loss > MIN_IMPROVEMENT_RATIO * loss_before:
            break
    convergence = Convergence.of_round(candidate.convergence.status, candidate.loss, loss_before)
    return replace(candidate, convergence=convergence)


def _fit_leaders(state: _Fit, search: Callable[..., Candidate], max_loss: float, max_families: int) -> None:
    """Search from the best candidate of each family; its siblings are tried where it ended.

    Firmware models that differ in reuse only are near each other: a search for each would leave no time for families.

    Args:
        search: from a candidate, with `map` or the pool's, to a better one.
    """
    leaders: dict[Family, Candidate] = {}
    for candidate in state.candidates:
        leaders.setdefault(_family(candidate), candidate)
    chosen = [leader for leader in leaders.values() if leader.loss <= max_loss][:max_families]
    # A single search has the pool for its own runs.
    is_single = len(chosen) == 1 and state.pool.workers > 1
    optima = [search(chosen[0], state.pool.map)] if is_single else state.pool.map(search, chosen)
    ends = dict(zip(map(_family, chosen), optima, strict=True))
    pairs = [(candidate, ends.get(_family(candidate), candidate)) for candidate in state.candidates]
    siblings = [pair for pair in pairs if leaders[_family(pair[0])] is not pair[0]]
    moved = iter(state.pool.map(_moved_to_end, siblings))
    state.candidates = [end if leaders[_family(candidate)] is candidate else next(moved) for candidate, end in pairs]


def _moved_to_end(task: tuple[Candidate, Candidate]) -> Candidate:
    """A candidate at the values where its family's search ended, or at its own if those are better."""
    candidate, end = task
    return end.moved_to(optimizer.best_of(candidate.problem, [end.values, candidate.values])[0])


def _best_per_model(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The best candidate of each firmware model, by loss."""
    best: dict[FirmwareModel, Candidate] = {}
    for candidate in candidates:
        rival = best.get(candidate.firmware)
        if rival is None or candidate.loss < rival.loss:
            best[candidate.firmware] = candidate
    return _by_loss(list(best.values()))
