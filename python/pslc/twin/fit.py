"""The fit: every firmware beside the others, the best of them and those that data cannot tell from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import Any, Final

import numpy as np

from pslc.processes import cores, end_with_parent
from pslc.twin import begin, chance, intervals, laws, search, singles, told, variants
from pslc.twin.data import SCALES, Floats, Trial
from pslc.twin.known import Known
from pslc.twin.laws import Steps
from pslc.twin.model import PARAMETERS, Build, Firmware, build_for, of_firmware
from pslc.twin.residuals import LUCK, differences
from pslc.twin.search import Problem, Solution

TWICE: Final = 2.0
"""Firmwares whose loss is within this factor of the best cannot be told from it."""
GOES_ON: Final = 12.0
"""Times the least loss on the first write, up to which a firmware is tried on all data."""
FINAL: Final = 12.0
"""Times the least loss on all data, up to which a firmware is fitted to them."""
MOST_NEAR: Final = 6
"""Families of firmwares that are fitted to all data, the best first."""
CLOSE: Final = 2.5
MOST_FINAL: Final = 3
"""Of them, those whose neighbourhood is searched too: within so many times the least loss, at most so many."""
SETTLED: Final = 0.015
"""Standard deviation of a value's logarithm after the first write from which on it is not searched for again."""
POOR: Final = 0.10
"""Root mean square error from which on a fit is poor."""


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
    def firmwares(self) -> list[Firmware]:
        """Of those that are named."""
        return [one.problem.model.firmware for one in self.named]

    @property
    def may_hide(self) -> bool:
        """Whether a cache of any kind may lie behind the link; where not all is level, those that fit are named."""
        return self.best.problem.model.firmware.mode == "pure-xlc" and self.seen.level

    @property
    def is_poor(self) -> bool:
        """Whether the twin is not like the drive."""
        return self.best.error > POOR


def fit(trials: Sequence[Trial], known: Known, tell: Callable[[str], None] | None = None,
        workers: int | None = None) -> Fitted:  # fmt: skip
    """The drive that does what was measured.

    Raises:
        ValueError: no trial has a sequential write to begin with.
    """
    curve = begin.first_write(trials)
    if curve is None:
        raise ValueError("no write to begin with")
    # It is long, and of no use to the processes that search.
    trials = [replace(trial, curve=None) for trial in trials]
    large = [trial for trial in trials if trial.suite in SCALES]
    first = sorted(large, key=lambda trial: trial.suite != "fill")[:1]
    seen, bits = begin.see(curve, first[0], known)
    speeds = seen.fast, max((speed for speed, _, _ in seen.slow), default=seen.fast)
    build = known.build or build_for(known.capacity_bytes, known.link, bits, *speeds)
    sweeps = [trial for trial in trials if trial.suite == "qd-sweep"]
    # How fast what several dies answer comes depends on channels, where nobody told them.
    queued = sweeps if known.build else [singles.at_random(trial) for trial in sweeps]
    single = [*queued, *(trial for trial in trials if trial.suite in singles.SUITES - {"qd-sweep"})]
    found = begin.firmwares(seen, bits)
    with _Pool(workers if len(found) > 1 else 1) as pool:
        if tell:
            tell(f"{len(found)} firmwares on {first[0].suite}")
        begun = _begun(pool, build, found, first, seen, known)
        going = _near_the_best(begun)
        others = chance.others(build, chance.OF_PARTS if known.build else chance.ASSUMED)
        if queued and known.build is None:
            builds = [build, *singles.other_dies(build, speeds)]
            answers = pool.map(singles.answering, [(begun[0], queued, one) for one in builds])
            answered = singles.by_reads(answers)
            build = singles.with_bus(answered, sweeps[0])
            going = pool.map(singles.in_build, [(one, build, answered) for one in going])
            if answered is not answers[0]:
                others = chance.others(answered.problem.model.build, chance.TOLD)
                # With dies that it does not have, a drive may have been ruled out.
                tried = [one.problem.model.firmware for one in going]
                again = [firmware for firmware in found if firmware not in tried]
                begun = going + _begun(pool, build, again, first, seen, known, answered)
                going = _near_the_best(begun)
        near = {one.problem.model.firmware for one in going}
        dropped = [(one.problem.model.firmware, one.error) for one in begun if one.problem.model.firmware not in near]
        if tell and len(large) > 1:
            tell(f"{len(going)} of them on {', '.join(trial.suite for trial in large)}")
        # Random writes on a full drive take as long to simulate as all else, and tell little that nothing else does.
        quick = [trial for trial in large if trial.suite != "random-steady"] or large
        for some, search_on, within, most in ((quick, _near, FINAL, MOST_NEAR), (large, _go_on, CLOSE, MOST_FINAL)):
            if len(some) > len(going[0].problem.trials):
                tasks = [(one, some, known, told) for one, told in zip(going, _settled(pool, going), strict=True)]
                going = sorted(pool.map(_start_on, tasks), key=lambda one: one.loss)
            by_chance = _chance(going[0], others)
            going = sorted(pool.map(_seen_with, [(one, by_chance) for one in going]), key=lambda one: one.loss)
            least = max(going[0].loss, LUCK)
            dropped += [(one.problem.model.firmware, one.error) for one in going if one.loss > FINAL * least]
            going = [one for one in going if one.loss <= FINAL * least]
            going = _each(pool, search_on, going, within * least, most)
        going.sort(key=lambda one: one.loss)
        going = _better(going, pool.map(variants.reused, [(one, found) for one in going[:2]]))
        if any(trial.suite in ("overwrite", "random-steady") for trial in large):
            going += [other for other in pool.map(variants.kept_dead, going[:2]) if other is not None]
            going.sort(key=lambda one: one.loss)
        if len(large) > 1 and (hybrid := variants.hybrid(going[0], pool.map)) is not None:
            going = sorted([*going, hybrid], key=lambda one: one.loss)
        chosen = going[0]
        if single:
            if tell:
                tell(f"requests one by one: {', '.join(trial.suite for trial in single)}")
            chosen = singles.solve(chosen, single, build, pool.map)
            going = [chosen, *(singles.joined(one, chosen) for one in going[1:])]
        chosen = _interval(chosen, others, pool)
    return Fitted(chosen, going[1:], dropped, seen, known, trials, build)


def _begun(pool: _Pool, build: Build, found: Sequence[Firmware], first: list[Trial], seen: Steps, known: Known,
           answered: Solution | None = None) -> list[Solution]:  # fmt: skip
    """Firmwares on the first write, by loss."""
    groups: dict[tuple[str, str], list[Firmware]] = {}
    for firmware in found:
        groups.setdefault((firmware.mode, firmware.when_full), []).append(firmware)
    read = answered.fitted if answered else {}
    tasks = [(build, group, first, seen, known, read) for group in groups.values()]
    return sorted((one for some in pool.map(begin.search_all, tasks) for one in some), key=lambda one: one.loss)


def _near_the_best(begun: Sequence[Solution]) -> list[Solution]:
    best = max(min(one.loss for one in begun), LUCK)
    return sorted((one for one in begun if one.loss <= GOES_ON * best), key=lambda one: one.loss)


class _Pool:
    """Processes, or none of them where one worker is asked for."""

    def __init__(self, workers: int | None) -> None:
        self.workers = workers or min(cores(), 8)
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


def _start_on(task: tuple[Solution, list[Trial], Known, set[str]]) -> Solution:
    """Where a search with more trials starts; the last are values that are not searched for again."""
    found, trials, known, settled = task
    old = found.problem
    seen = {trial.suite for trial in old.trials}
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
    return search.best_starts(start.problem, [start.values, *_drawn(start, suggested)])[0] if suggested else start


def _drawn(start: Solution, suggested: Sequence[Sequence[dict[str, float]]]) -> list[dict[str, float]]:
    """Values that a first write does not tell, all of them drawn at once: what a full drive has of its cache and what
    stays in it, each wrong, look as if the other were right."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(DRAWS):
        values = dict(start.values)
        for ways in suggested:
            if rng.random() < CHANGED:
                values |= ways[int(rng.integers(len(ways)))]
        for name, most in UNSEEN.items():
            if name in start.problem.free and rng.random() < CHANGED:
                values[name] = rng.uniform(0.0, most)
        if "watermark" in start.problem.free and rng.random() < CHANGED:
            # Space that is left when folding begins may be what there is not.
            spare = max(values["spare"] - values["watermark"], PARAMETERS["spare"].low)
            values |= {"spare": spare, "watermark": 0.0}
        found.append(values)
    return found


DRAWS: Final = 24
CHANGED: Final = 0.5
"""Of the values are others in a draw."""
UNSEEN: Final = {"least": 1.0, "residue": 0.3}
"""Values of which findings tell the least, and up to what they are drawn."""


def _settled(pool: _Pool, going: Sequence[Solution]) -> list[set[str]]:
    """Of each, the values that the first write alone told. On it alone many do the same, which share them."""
    if len({trial.suite for trial in going[0].problem.trials}) > 1:
        searched = [(one, told.free_in(one.problem.model.firmware, one.problem.trials)) for one in going]
        return [set(free) - set(one.problem.free) for one, free in searched]
    by_drive = {(*_family(one), one.loss, one.x.tobytes()): one for one in going}
    names = dict(zip(by_drive, pool.map(_well_told, list(by_drive.values())), strict=True))
    return [names[*_family(one), one.loss, one.x.tobytes()] for one in going]


def _well_told(found: Solution) -> set[str]:
    covariance = intervals.with_intervals(found, intervals.told(found)).covariance
    assert covariance is not None
    deviation = np.sqrt(np.diag(covariance))
    return {name for name, off in zip(found.problem.free, deviation, strict=True) if off < SETTLED}


def _go_on(start: Solution) -> Solution:
    """The search with all trials, as long as it pays."""
    found = search.polish(start, COARSE)
    for _ in range(MOST_ROUNDS):
        before, found = found, search.polish(search.refine(found, 3), FINE)
        if found.loss > PAYS * before.loss:
            break
    return found


def _near(start: Solution) -> Solution:
    """A first look at where the search leads."""
    return search.refine(start, 3)


def _each(pool: _Pool, function: Callable[[Solution], Solution], going: list[Solution], limit: float,
          most: int) -> list[Solution]:  # fmt: skip
    """The search of the best of each family, of the first `most` whose loss is within the limit; its siblings are tried
    where it ended. Firmwares that differ in reuse alone are near each other: to search them all would leave no time for
    what is unlike them."""
    leaders: dict[tuple[str, str], Solution] = {}
    for one in going:
        leaders.setdefault(_family(one), one)
    searched = [one for one in leaders.values() if one.loss <= limit][:most]
    ends = dict(zip(map(_family, searched), pool.map(function, searched), strict=True))
    made = []
    for one in going:
        end = ends.get(_family(one), one)
        leads = leaders[_family(one)] is one
        made.append(end if leads else search.best_starts(one.problem, [end.values, one.values])[0])
    return made


def _better(going: list[Solution], made: list[list[Solution]]) -> list[Solution]:
    """The best of each firmware, by loss."""
    best: dict[Firmware, Solution] = {}
    for one in [*going, *(other for some in made for other in some)]:
        firmware = one.problem.model.firmware
        if firmware not in best or one.loss < best[firmware].loss:
            best[firmware] = one
    return sorted(best.values(), key=lambda one: one.loss)


def _family(one: Solution) -> tuple[str, str]:
    firmware = one.problem.model.firmware
    return firmware.mode, firmware.when_full


PAYS: Final = 0.7
"""Share of the loss that is left after a round of the search, from which on another one is not made."""
MOST_ROUNDS: Final = 4
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
    there; those of `second-pass` to the full one. How often random writes make a full drive collect hangs on the spare
    space, beyond some of which more makes no difference: from there no slope leads back."""
    found, values = trial.findings, before.values
    spares = [{"spare": times * values["spare"]} for times in (1.0, 0.5, 2.0)]
    if trial.suite == "second-pass":
        share = found.get("cache_share")
        # What the full drive has of its cache, or what came back of it in the pause before.
        return [[{"least": least} for least in (min(share, 0.97), 0.97, 0.5)]] if share else []
    if trial.suite == "random-steady":
        return [spares]
    if trial.suite != "recovery":
        return []
    size = before.cache_share * known.capacity_bytes
    firmware = before.problem.model.firmware
    rates: list[dict[str, float]] = []
    if found.get("migration_bytes_per_s"):
        rates.append({"idle_rate": found["migration_bytes_per_s"]})
    elif found.get("migration_bytes_per_s_low"):
        # Few pauses tell only that it is not less.
        rates += [{"idle_rate": times * found["migration_bytes_per_s_low"]} for times in (1.0, 1.5, 2.5)]
    # What never seems to come back may be slow to do so.
    rates += [{"idle_rate": times * values["native_rate"], "residue": 0.0} for times in SLOW]
    ways = [rates]
    if found.get("cache_bytes") and size:
        half = found["cache_bytes"] / size
        least = min(max(2 * half - 1, 0.0), 1.0) if half < 0.95 else 0.97
        ways.append([{"least": least} for least in dict.fromkeys((least, 0.97, 0.3))])
    stays: list[dict[str, float]] = [{"residue": residue} for residue in STAYS]
    if found.get("residue_bytes") and size:
        most = min(found["residue_bytes"] / size, 0.8)
        stays = [{"residue": most}, {"residue": 0.6 * most}]
    ways.append(stays)
    if found.get("idle_threshold_s"):
        ends = [found.get(f"idle_threshold_s{end}") for end in ("_low", "", "_high")]
        ways.append([{"threshold": float(end)} for end in ends if end])
    # What is overwritten was erased before, which the first write is not.
    ways.append([{"erase": times * values["erase"]} for times in (1.0, 2.5, 0.4)])
    if firmware.when_full == "fold":
        # Its first write tells next to nothing of the spare space, and what folding takes, but not in which way.
        faster = [{name: times * values[name] for name in ("native_rate", "overhead")} for times in (1.0, 0.5, 2.0)]
        ways += [spares, faster]
    if firmware.when_full == "direct-while-folding":
        # Nor does it tell what the host has of fast dies that fold slowly, or of slow ones; what stays hides which.
        others = [way for share in (values["share"], *laws.SHARES) for way in laws.shared(values, firmware, share)]
        ways.append([way | stay for way in others for stay in stays])
    return ways


SLOW: Final = (0.5, 0.2, 0.08)
"""Of the native rate: how fast a cache may be emptied in silence."""
STAYS: Final = (0.0, 0.1, 0.2)
"""Shares of the cache that may never come back, where no pause was long enough to see it."""
