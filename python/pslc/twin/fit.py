"""The fit: every firmware beside the others, the best of them and those that data cannot tell from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import Any, Final

import numpy as np

from pslc.analysis import Curve, cache_end, find_phases
from pslc.processes import end_with_parent
from pslc.twin import chance, intervals, laws, search, singles, told
from pslc.twin.data import Floats, Trial, part_of
from pslc.twin.laws import Steps
from pslc.twin.model import KEEPS, LEAST_BYTES, PARAMETERS, Build, Firmware, Model, build_for, of_firmware
from pslc.twin.residuals import LUCK, TURNS_BINS, differences, has_turns
from pslc.twin.search import Problem, Solution

SCALES: Final = frozenset(
    {"fill", "recovery", "second-pass", "fill-levels", "overwrite", "sustained", "random-steady", "hdtune"}
)
"""Suites of large writes, or of random ones for a time: a scaled drive does the same in them."""
MOST_CACHE: Final = 1.3
"""Times the capacity over the bits a cell, that a cache cannot hold."""
TWICE: Final = 2.0
"""Firmwares whose loss is within this factor of the best cannot be told from it."""
VALLEY: Final = 2.5
STARTS: Final = 3
"""From which a firmware is searched: the laws are wrong by a few per cent, and a fit can stay in a wrong valley."""
GOES_ON: Final = 12.0
"""Times the least loss on the first write, up to which a firmware is tried on all data."""
FINAL: Final = 12.0
"""Times the least loss on all data, up to which a firmware is fitted to them."""
MOST_NEAR: Final = 6
"""Firmwares that are fitted to all data, the best first."""
MOST_FINAL: Final = 2
"""Of them, those whose neighbourhood is searched too."""
SETTLED: Final = 0.015
"""Standard deviation of a value's logarithm after the first write from which on it is not searched for again."""
POOR: Final = 0.10
"""Root mean square error from which on a fit is poor."""
QLC_BYTES_PER_S: Final = 0.22e-3
"""Bytes a second for each byte of capacity below which cells that nobody named are taken for QLC."""


@dataclass(frozen=True)
class Known:
    """What is known besides the data.

    Attributes:
        link: as a profile writes it, `pcie4x4`.
        link_bytes_per_s: what it lets through of writes.
        bits_per_cell: None: not known.
        build: of parts; None: assumed.
        host_request_ns: what a request cost the host that wrote the data.
        expected: values that parts tell, by name, with the standard deviation of their logarithm.
        cache_bytes: where somebody says that the first phase ends.
    """

    capacity_bytes: int
    link: str
    link_bytes_per_s: float
    bits_per_cell: int | None = None
    build: Build | None = None
    host_request_ns: int = 0
    expected: tuple[tuple[str, float, float], ...] = ()
    cache_bytes: float | None = None


@dataclass
class Fitted:
    """What came of a fit.

    Attributes:
        best: with its covariance.
        others: the best of every other firmware that was tried on all data, by loss.
        dropped: firmwares that the first write ruled out, with their error on it.
        seen: the first write as the laws see it.
        notes: what to know, a sentence each.
    """

    best: Solution
    others: list[Solution]
    dropped: list[tuple[Firmware, float]]
    seen: Steps
    known: Known
    trials: Sequence[Trial]
    build: Build
    notes: list[str] = field(default_factory=list)

    @property
    def named(self) -> list[Solution]:
        """The best and all that the data cannot tell from it."""
        limit = TWICE * max(self.best.loss, LUCK)
        return [self.best, *(one for one in self.others if one.loss <= limit)]

    @property
    def may_hide(self) -> bool:
        """Whether a cache of any kind may lie behind the link; where not all is level, those that fit are named."""
        return self.best.problem.model.firmware.mode == "pure-xlc" and self.seen.level

    @property
    def is_poor(self) -> bool:
        """Whether the twin is not like the drive."""
        return self.best.error > POOR


def first_write(trials: Sequence[Trial]) -> Curve | None:
    """Time against bytes of the first sequential write over the empty drive."""
    for trial in sorted(trials, key=lambda trial: (trial.suite != "fill", trial.suite not in SCALES)):
        if trial.curve is not None:
            return trial.curve
    return None


def _more(firmware: Firmware, seen: Steps, known: Known) -> list[str]:
    """Values that only some first writes tell, besides those that a fill always does."""
    found = []
    if seen.teeth:
        # Turns are as long as a batch where the cache is folded so, and shorter where the cache has shrunk.
        found += ["batch"] if firmware.when_full == "fold" else []
    if firmware.mode == "dynamic-slc" and (seen.teeth or firmware.when_full == "fold"):
        found.append("least")
    if firmware.when_full == "direct-then-fold" and len(seen.slow) > 1:
        found.append("watermark")
    if any(name == "native_rate" for name, _, _ in known.expected):
        # Without a part, a ceiling and slow dies are the same to a write.
        found.append("ceiling")
    return found


def firmwares(seen: Steps, bits: int) -> list[Firmware]:
    """Those that could have made such a write."""
    found = []
    hidden = seen.cache is None and seen.bound
    if seen.cache is None:
        found.append(Firmware("pure-xlc", bits_per_cell=bits))
        if seen.level or (seen.whole and not hidden):
            return found
    size = (seen.cache or 0.0) / seen.capacity
    # Set aside for good, it takes n times its size of the spare space.
    modes = ["dynamic-slc"] if size > 0.004 or hidden else []
    modes += ["static-slc"] if 0 < size * bits < 0.2 else []
    for mode in modes:
        found.append(Firmware(mode, "fold", "as-freed", bits_per_cell=bits))
        for policy in ("direct-then-fold", "direct-while-folding"):
            for reuse in ("after-idle", "when-empty", "as-freed"):
                found.append(Firmware(mode, policy, reuse, bits_per_cell=bits))
    return found


def fit(trials: Sequence[Trial], known: Known, tell: Callable[[str], None] | None = None,
        workers: int | None = None) -> Fitted:  # fmt: skip
    """The drive that does what was measured.

    Raises:
        ValueError: no trial has a sequential write to begin with.
    """
    curve = first_write(trials)
    if curve is None:
        raise ValueError("no write to begin with")
    # It is long, and of no use to the processes that search.
    trials = [replace(trial, curve=None) for trial in trials]
    phases = find_phases(curve)
    end = cache_end(curve, phases, capacity_bytes=known.capacity_bytes)
    through = 1 / (1 / known.link_bytes_per_s + known.host_request_ns * 1e-9 / 2**20)
    cache = end.bytes if end is not None and end.seen_end else None
    cache = laws.past_the_buffer(phases, cache, known.capacity_bytes)
    if known.cache_bytes and cache is None:
        # A small step is a step where it was said to be one.
        cache, phases = known.cache_bytes, laws.split(curve, known.cache_bytes)
    seen = laws.steps(phases, cache, through, known.capacity_bytes)
    slowest = min((speed for speed, _, _ in seen.slow), default=seen.fast)
    bits = known.bits_per_cell or (4 if slowest < QLC_BYTES_PER_S * known.capacity_bytes else 3)
    if seen.bound and seen.cache and seen.cache > MOST_CACHE * known.capacity_bytes / bits:
        # What ends there is the space: the link hides where the cache ended.
        seen = laws.steps(phases, None, through, known.capacity_bytes)
    speeds = seen.fast, max((speed for speed, _, _ in seen.slow), default=seen.fast)
    build = known.build or build_for(known.capacity_bytes, known.link, bits, *speeds)
    large = [trial for trial in trials if trial.suite in SCALES]
    first = sorted(large, key=lambda trial: trial.suite != "fill")[:1]
    sweeps = [trial for trial in trials if trial.suite == "qd-sweep"]
    # How fast what several dies answer comes depends on channels, where nobody told them.
    queued = sweeps if known.build else [singles.at_random(trial) for trial in sweeps]
    single = [*queued, *(trial for trial in trials if trial.suite in singles.SUITES - {"qd-sweep"})]
    look = first[0].looks[0][0]
    finest = max(look.curves, default=1) if look else 1
    seen = replace(seen, turns=bool(look and finest >= TURNS_BINS and has_turns(look.curves[finest])))
    found = firmwares(seen, bits)
    groups: dict[tuple[str, str], list[Firmware]] = {}
    for firmware in found:
        groups.setdefault((firmware.mode, firmware.when_full), []).append(firmware)
    with _Pool(workers if len(groups) > 1 or len(large) > 1 or single else 1) as pool:
        others = chance.others(build, chance.OF_PARTS if known.build else chance.ASSUMED)
        read: dict[str, float] = {}
        if queued and known.build is None:
            rough = _roughly(build, found[0], first, seen, known)
            answers = pool.map(
                singles.answering, [(rough, queued, one) for one in (build, *singles.other_dies(build, speeds))]
            )
            answered = singles.by_reads(answers)
            if answered is not answers[0]:
                others = chance.others(answered.problem.model.build, chance.TOLD)
            build = singles.with_bus(answered, sweeps[0])
            read = {name: answered.values[name] for name in answered.problem.free}
        if tell:
            tell(f"{len(found)} firmwares on {first[0].suite}")
        tasks = [(build, group, first, seen, known, read) for group in groups.values()]
        begun = sorted((one for several in pool.map(_begin, tasks) for one in several), key=lambda one: one.loss)
        best = max(begun[0].loss, LUCK)
        going = [one for one in begun if one.loss <= GOES_ON * best]
        dropped = [(one.problem.model.firmware, one.error) for one in begun if one not in going]
        if tell and len(large) > 1:
            tell(f"{len(going)} of them on {', '.join(trial.suite for trial in large)}")
        # Random writes on a full drive take as long to simulate as all else, and tell little that nothing else does.
        quick = [trial for trial in large if trial.suite != "random-steady"] or large
        for some, search_on, most in ((quick, _near, MOST_NEAR), (large, _go_on, MOST_FINAL)):
            if len(some) > len(going[0].problem.trials):
                going = sorted(pool.map(_start_on, [(one, some, known) for one in going]), key=lambda one: one.loss)
            by_chance = _chance(going[0], others)
            going = sorted(pool.map(_seen_with, [(one, by_chance) for one in going]), key=lambda one: one.loss)
            limit = FINAL * max(going[0].loss, LUCK)
            dropped += [(one.problem.model.firmware, one.error) for one in going if one.loss > limit]
            going = _each(pool, search_on, [one for one in going if one.loss <= limit], most)
        going.sort(key=lambda one: one.loss)
        going = _better(going, pool.map(_reused, [(one, found) for one in going[:MOST_FINAL]]))
        if any(trial.suite in ("overwrite", "random-steady") for trial in large):
            going += [other for other in pool.map(_kept_dead, going[:2]) if other is not None]
            going.sort(key=lambda one: one.loss)
        if len(large) > 1 and (hybrid := _hybrid(going[0], pool)) is not None:
            going = sorted([*going, hybrid], key=lambda one: one.loss)
        chosen = going[0]
        if single:
            if tell:
                tell(f"requests one by one: {', '.join(trial.suite for trial in single)}")
            chosen = singles.solve(chosen, single, build)
            going = [chosen, *(singles.joined(one, chosen) for one in going[1:])]
        chosen = _interval(chosen, others, pool)
    return Fitted(chosen, going[1:], dropped, seen, known, trials, build)


class _Pool:
    """Processes, or none of them where one worker is asked for."""

    def __init__(self, workers: int | None) -> None:
        self.workers = workers or min(os.cpu_count() or 1, 8)
        self.pool = (
            ProcessPoolExecutor(self.workers, get_context("forkserver"), end_with_parent) if self.workers > 1 else None
        )

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        if self.pool:
            self.pool.shutdown(cancel_futures=True)

    def map(self, function: Callable[..., object], tasks: Sequence[object]) -> list[Any]:
        """In order."""
        return list(self.pool.map(function, tasks)) if self.pool else [function(task) for task in tasks]


def _priors(known: Known, seen: Steps, build: Build) -> dict[str, tuple[float, float]]:
    # A smaller buffer would show: where nothing tells it, it is none of the drive's limits.
    buffer = max(PARAMETERS["buffer"].prior, build.full_buffer)
    found = {
        "erase": (float(np.log(build.erase_s)), 0.7),
        "buffer": (float(np.log(buffer)), PARAMETERS["buffer"].spread),
    }
    if seen.bound:
        # The link hides the cells: only that they are faster is known.
        found["slc_rate"] = (float(np.log(2 * seen.link)), 0.6)
    for name, value, spread in known.expected:
        found[name] = (float(np.log(value)), spread)
    return found


def _defaults(known: Known, firmware: Firmware) -> dict[str, float]:
    # A cache that keeps its size while it is the only way in would show two speeds: such drives shrink it.
    least = 0.0 if firmware.when_full == "fold" else 1.0
    values = {name: one.prior for name, one in PARAMETERS.items()} | {"least": least}
    return values | {name: value for name, value, _ in known.expected}


def _problem(build: Build, firmware: Firmware, first: list[Trial], seen: Steps, known: Known) -> Problem:
    """The first write, to be explained by a firmware."""
    priors = _priors(known, seen, build)
    model = Model(build, firmware, host_request_ns=known.host_request_ns).scaled(_enough(seen))
    free = [*told.free_in(firmware, first), *_more(firmware, seen, known)]
    values = _defaults(known, firmware) | {name: float(np.exp(priors[name][0])) for name in ("erase", "buffer")}
    return Problem(model, first, free, values, priors)


def _of_laws(seen: Steps, firmware: Firmware, known: Known) -> list[dict[str, float]]:
    found = list(laws.starts(seen, firmware))
    return found + [start | more for start in found if (more := _under_a_ceiling(start, known))]


def _roughly(build: Build, firmware: Firmware, first: list[Trial], seen: Steps, known: Known) -> Solution:
    """The first write as the laws see it, without a search."""
    return search.best_starts(_problem(build, firmware, first, seen, known), _of_laws(seen, firmware, known))[0]


def _begin(task: tuple[Build, list[Firmware], list[Trial], Steps, Known, dict[str, float]]) -> list[Solution]:
    """Firmwares that differ only in reuse, on the first write; those that do the same share a fit. The last are values
    that reads told."""
    build, group, first, seen, known, read = task
    done: list[Solution] = []
    for firmware in group:
        problem = _problem(build, firmware, first, seen, known)
        problem = replace(problem, values=problem.values | read)
        same = next((other for other in done if _same(problem, other)), None)
        if same is not None:
            done.append(Solution(problem, same.x, same.loss))
            continue
        # Another rule of reuse leaves the first teeth as they are: it starts where the last one ended, too.
        known_starts = [other.values for other in done]
        of_laws = _of_laws(seen, firmware, known)
        starts = search.best_starts(problem, [*of_laws, *known_starts], STARTS)
        # Those that are much worse than the first are in another valley.
        starts = [start for start in starts if start.loss < VALLEY * max(starts[0].loss, LUCK)]
        starts = starts[: STARTS if not done else 2]
        tried = [search.refine(start, 4) for start in starts]
        if seen.teeth:
            tried += _along(problem, [*of_laws, *known_starts])
        begun = min(tried, key=lambda one: one.loss)
        done.append(search.refine(begun, 8))
    return done


def _enough(seen: Steps) -> int:
    """Bytes of a scaled drive whose cache takes many requests."""
    share = (seen.cache or seen.capacity) / seen.capacity
    return int(min(max(LEAST_CACHE / share, LEAST_BYTES), MOST_BYTES))


LEAST_CACHE: Final = 256 << 20
MOST_BYTES: Final = 64 << 30


def _under_a_ceiling(start: dict[str, float], known: Known) -> dict[str, float]:
    """Dies as fast as their part behind a slower data path, where the laws see slower cells."""
    of_part = next((value for name, value, _ in known.expected if name == "native_rate"), 0.0)
    return {"native_rate": of_part, "ceiling": start["native_rate"]} if of_part > 1.15 * start["native_rate"] else {}


def _along(whole: Problem, candidates: list[dict[str, float]]) -> list[Solution]:
    """The first quarter of the write, then its half, then all of it: what is a little wrong with the first teeth is
    wrong by whole teeth at the end, where no slope leads back."""
    found: list[Solution] = []
    for part in PARTS:
        problem = replace(whole, trials=[part_of(trial, part) for trial in whole.trials])
        starts = search.best_starts(problem, [one.values for one in found] or candidates, 2)
        found = [search.refine(start, 4) for start in starts]
    return search.best_starts(whole, [one.values for one in found], 1)


PARTS: Final = (0.25, 0.5)


def _same(problem: Problem, other: Solution) -> bool:
    here, there = problem.residuals(other.x), other.problem.residuals(other.x)
    return bool(np.array_equal(here, there))


def _start_on(task: tuple[Solution, list[Trial], Known]) -> Solution:
    """Where a search with more trials starts."""
    found, trials, known = task
    old = found.problem
    seen = {trial.suite for trial in old.trials}
    settled = _settled(found) if len(seen) == 1 else set(told.free_in(old.model.firmware, old.trials)) - set(old.free)
    more = [name for name in old.free if name in ("ceiling", "watermark", "batch")]
    free = [name for name in [*told.free_in(old.model.firmware, trials), *more] if name not in settled]
    fresh = [trial for trial in trials if trial.suite not in seen]
    suggested = [ways for trial in fresh for ways in _suggested(trial, found, known)]
    # The first of all together, then one after the other: all with all others would be many.
    together = {name: value for ways in suggested for name, value in ways[0].items()}
    start = search.best_starts(Problem(old.model, trials, free, found.values, old.prior), [{}, together])[0]
    for ways in suggested:
        if ways[0].keys() & set(free):
            start = search.best_starts(start.problem, [start.values, *(start.values | way for way in ways)])[0]
    return start


def _settled(found: Solution) -> set[str]:
    """Values that the first write alone told, which are not searched for again."""
    covariance = intervals.with_intervals(found, intervals.told(found)).covariance
    assert covariance is not None
    deviation = np.sqrt(np.diag(covariance))
    return {name for name, off in zip(found.problem.free, deviation, strict=True) if off < SETTLED}


def _go_on(start: Solution) -> Solution:
    """The search with all trials."""
    return search.polish(search.refine(search.polish(start, COARSE), 3), FINE)


def _near(start: Solution) -> Solution:
    """A first look at where the search leads."""
    return search.refine(start, 3)


def _each(pool: _Pool, function: Callable[[Solution], Solution], going: list[Solution], most: int) -> list[Solution]:
    """The search of the first `most`, the others as they are; those that do the same share it."""
    different = [one for at, one in enumerate(going) if all(not _alike(one, other) for other in going[:at])]
    found = dict(zip(map(id, different), pool.map(function, different[:most]), strict=False))
    made = []
    for one in going:
        same = next(other for other in different if other is one or _alike(one, other))
        after = found.get(id(same), one)
        made.append(after if same is one else search.best_starts(one.problem, [after.values, one.values])[0])
    return made


def _reused(task: tuple[Solution, list[Firmware]]) -> list[Solution]:
    """The same values with every other rule of reuse, and in a cache that is set aside for good, or is not: a search
    that ended elsewhere may have passed them by."""
    best, all_of_them = task
    values, old = best.values, best.problem
    mine = old.model.firmware
    made = []
    for firmware in all_of_them:
        cached = "pure-xlc" not in (firmware.mode, mine.mode)
        if not cached or firmware.when_full != mine.when_full or firmware == mine:
            continue
        size = cache_share(best)
        sizes = {"dynamic": size} if firmware.mode == "dynamic-slc" else {"static": size}
        if firmware.mode != mine.mode:
            sizes |= {"least": 1.0}
        free = [name for name in of_firmware(firmware) if name in {*old.free, *sizes} and name != "least"]
        free += ["least"] if firmware.mode == "dynamic-slc" and "least" in old.free else []
        problem = replace(
            old, model=replace(old.model, firmware=firmware), free=free, values=old.values | values | sizes
        )
        made.append(search.best_starts(problem, [{}])[0])
    return made


def _better(going: list[Solution], made: list[list[Solution]]) -> list[Solution]:
    """The best of each firmware, by loss."""
    best: dict[Firmware, Solution] = {}
    for one in [*going, *(other for some in made for other in some)]:
        firmware = one.problem.model.firmware
        if firmware not in best or one.loss < best[firmware].loss:
            best[firmware] = one
    return sorted(best.values(), key=lambda one: one.loss)


def _alike(one: Solution, other: Solution) -> bool:
    return (
        one.loss == other.loss
        and one.problem.free == other.problem.free
        and replace(one.problem.model.firmware, reuse="") == replace(other.problem.model.firmware, reuse="")
    )


COARSE: Final = 0.3
FINE: Final = 0.08
"""Of what is usual: steps of a search that needs no slopes, which few bins of short jobs give."""


def _chance(found: Solution, others: Sequence[Build]) -> Floats:
    """Variance of the data by how the drive is built."""
    here = found.problem.looks(found.values)
    assert here is not None, "it was simulated before"
    return chance.Builds(found.problem, found.x, others).variance(differences(found.problem.trials, here))


def _seen_with(task: tuple[Solution, Floats]) -> Solution:
    """A solution where what chance decides weighs less."""
    found, variance = task
    return search.best_starts(replace(found.problem, chance=variance), [found.values])[0]


def _interval(found: Solution, others: Sequence[Build], pool: _Pool) -> Solution:
    """The best with its covariance, all values being free at once."""
    problem = found.problem
    free = [name for name in of_firmware(problem.model.firmware)
            if name in {*problem.free, *told.free_in(problem.model.firmware, problem.trials)}]  # fmt: skip
    problem = replace(problem, free=free, values=found.values)
    found = replace(found, problem=problem, x=problem.pack(found.values))
    slopes = intervals.told(found, pool.map)
    found = intervals.drawn_back(found, slopes)
    builds = chance.Builds(problem, found.x, others).residuals()
    return intervals.with_intervals(found, slopes, builds, each=pool.map)


def _suggested(trial: Trial, before: Solution, known: Known) -> list[list[dict[str, float]]]:
    """What a suite says of values that the first write did not tell, each a few ways that it may be, the likeliest
    first. Findings of `recovery` tell rate, residue and threshold, and how the cache shrinks to the half-full drive
    there; those of `second-pass` to the full one."""
    found, values = trial.findings, before.values
    if trial.suite == "second-pass":
        share = found.get("cache_share")
        return [[{"least": min(share, 0.97)}]] if share else []
    if trial.suite != "recovery":
        return []
    size = (values.get("dynamic", 0.0)) * known.capacity_bytes
    ways: list[list[dict[str, float]]] = []
    if found.get("migration_bytes_per_s"):
        ways.append([{"idle_rate": found["migration_bytes_per_s"]}])
    if found.get("cache_bytes") and size:
        half = found["cache_bytes"] / size
        least = min(max(2 * half - 1, 0.0), 1.0) if half < 0.95 else 0.97
        ways.append([{"least": least} for least in dict.fromkeys((least, 0.97, 0.3))])
    if found.get("residue_bytes") and size:
        most = min(found["residue_bytes"] / size, 0.8)
        ways.append([{"residue": most}, {"residue": 0.6 * most}])
    if found.get("idle_threshold_s"):
        ends = [found.get(f"idle_threshold_s{end}") for end in ("_low", "", "_high")]
        ways.append([{"threshold": float(end)} for end in ends if end])
    if before.problem.model.firmware.when_full == "fold":
        # Its first write tells next to nothing of the spare space, and what folding takes, but not in which way.
        for names in (("spare",), ("native_rate", "overhead")):
            ways.append([{name: times * values[name] for name in names} for times in (1.0, 0.5, 2.0)])
    return ways


def _kept_dead(found: Solution) -> Solution | None:
    """The same with dead data kept until the drive is idle; None where there is no cache, or no way past it."""
    old = found.problem
    if old.model.firmware.mode == "pure-xlc" or old.model.firmware.when_full == "fold":
        return None
    model = replace(old.model, firmware=replace(old.model.firmware, dead="until-idle"))
    problem = replace(old, model=model)
    return search.refine(search.best_starts(problem, [found.values])[0], 3)


def _hybrid(found: Solution, pool: _Pool) -> Solution | None:
    """The same with what the full drive keeps of its cache set aside for good; None where it keeps all or nothing."""
    old, values = found.problem, found.values
    if old.model.firmware.mode != "dynamic-slc" or "least" not in old.free or not 0.02 < values["least"] < KEEPS:
        return None
    parts = {"static": values["least"] * values["dynamic"], "dynamic": (1 - values["least"]) * values["dynamic"]}
    model = replace(old.model, firmware=replace(old.model.firmware, mode="hybrid-slc"))
    free = [name for name in of_firmware(model.firmware) if name in {*old.free, "static"} and name != "least"]
    problem = replace(old, model=model, free=free, values=values | parts | {"least": 0.0})
    return search.refine(search.best_starts(problem, [problem.values])[0], 3, pool.map)


def cache_share(found: Solution) -> float:
    """The cache of the empty drive over the capacity."""
    mode = found.problem.model.firmware.mode
    dynamic = found.values["dynamic"] if mode in ("dynamic-slc", "hybrid-slc") else 0.0
    return dynamic + (found.values["static"] if mode in ("static-slc", "hybrid-slc") else 0.0)
