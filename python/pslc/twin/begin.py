"""The first write over the empty drive: what it shows at a glance, and firmwares that could have made it, fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from pslc.analysis import Curve, cache_end, find_phases
from pslc.twin import laws, search, told
from pslc.twin.data import SCALES, Trial, part_of
from pslc.twin.known import Known
from pslc.twin.laws import Steps
from pslc.twin.model import LEAST_BYTES, PARAMETERS, Build, Firmware, Model
from pslc.twin.residuals import TURNS_BINS, has_turns
from pslc.twin.search import Problem, Solution

MOST_CACHE: Final = 1.3
"""Times the capacity over the bits a cell, that a cache cannot hold."""
VALLEY: Final = 2.5
OFF: Final = 0.05
"""Error of a start that the laws make of a drive as they are: those of twice its square may be as good."""
NOT_SPACE: Final = ("slc_rate", "native_rate", "overhead", "share")
ALIKE: Final = 0.15
"""Logarithm of the ratio of two values of starts that lead to the same end."""
STARTS: Final = 6
"""From which a firmware is searched: the laws are wrong by a few per cent, and a fit can stay in a wrong valley."""
QLC_BYTES_PER_S: Final = 0.22e-3
"""Bytes a second for each byte of capacity below which cells that nobody named are taken for QLC."""


def first_write(trials: Sequence[Trial]) -> Curve | None:
    """Time against bytes of the first sequential write over the empty drive."""
    for trial in sorted(trials, key=lambda trial: (trial.suite != "fill", trial.suite not in SCALES)):
        if trial.curve is not None:
            return trial.curve
    return None


def see(curve: Curve, first: Trial, known: Known) -> tuple[Steps, int]:
    """The first write as the laws see it, and the bits a cell."""
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
    if seen.cache and seen.cache > MOST_CACHE * known.capacity_bytes / bits:
        # What ends there is the space: the link, or what else lets no more through, hides where the cache ended.
        seen = laws.steps(phases, None, min(through, seen.fast), known.capacity_bytes)
    look = first.looks[0][0]
    finest = max(look.curves, default=1) if look else 1
    seen = replace(seen, turns=bool(look and finest >= TURNS_BINS and has_turns(look.curves[finest])))
    return seen, bits


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


def _problem(build: Build, firmware: Firmware, first: list[Trial], seen: Steps, known: Known,
             read: dict[str, float]) -> Problem:  # fmt: skip
    """The first write, to be explained by a firmware."""
    priors = _priors(known, seen, build)
    model = Model(build, firmware, host_request_ns=known.host_request_ns).scaled(_enough(seen))
    free = [*told.free_in(firmware, first), *_more(firmware, seen, known)]
    values = _defaults(known, firmware) | {name: float(np.exp(priors[name][0])) for name in ("erase", "buffer")}
    return Problem(model, first, free, values | read, priors)


def search_all(task: tuple[Build, list[Firmware], list[Trial], Steps, Known, dict[str, float]]) -> list[Solution]:
    """Firmwares that differ only in reuse, on the first write; those that do the same share a fit. The last are values
    that reads told."""
    build, group, first, seen, known, read = task
    done: list[Solution] = []
    for firmware in group:
        problem = _problem(build, firmware, first, seen, known, read)
        same = next((other for other in done if _same(problem, other)), None)
        if same is not None:
            done.append(Solution(problem, same.x, same.loss))
            continue
        # Another rule of reuse leaves the first teeth as they are: it starts where the last one ended, too.
        known_starts = [other.values for other in done]
        of_laws = list(laws.starts(seen, firmware))
        of_laws += [start | more for start in of_laws if (more := _under_a_ceiling(start, known))]
        starts = search.best_starts(problem, [*of_laws, *known_starts], len(of_laws) + len(known_starts))
        starts = _unlike(starts)[:STARTS]
        tried = [search.refine(start, 4) for start in starts]
        if seen.teeth:
            tried += _along(problem, [*of_laws, *known_starts])
        # Of two that explain the write as well, the one whose values are more usual.
        begun = min(tried, key=search.cost)
        done.append(search.refine(begun, 8))
    return [_beside(one, done) for one in done]


def _unlike(starts: Sequence[Solution]) -> list[Solution]:
    """The best, and of the others that may be in its valley or in one as good those that are unlike each other: what
    folds and how fast decides where a search ends, not the spare space."""
    limit = VALLEY * max(starts[0].loss, OFF**2)
    found: list[Solution] = []
    for one in starts:
        if one.loss < limit and not any(_alike(one.values, other.values) for other in found):
            found.append(one)
    return found


def _alike(one: dict[str, float], other: dict[str, float]) -> bool:
    return all(abs(np.log(one[name] / other[name])) < ALIKE for name in NOT_SPACE) and all(
        one[name] == other[name] for name in ("watermark", "batch", "ceiling")
    )


def _beside(found: Solution, others: Sequence[Solution]) -> Solution:
    """From where another of them ended, where that is much nearer than its own end."""
    ends = [other.values for other in others if other.loss * VALLEY < found.loss]
    start = next(iter(search.best_starts(found.problem, ends)), found)
    return search.refine(start, 8) if start.loss < found.loss else found


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
