"""Write curves as reviewers publish them, by a second hand: its drives, shapes and sampling are its own.

The shapes follow what is published: fills of empty and of half-full drives, charts read by eye, network shares, bridges
on USB, arrays, temperatures beside speeds, and drives whose capacity nobody names.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benches.curves.shapes import Log
from pslc.analysis import Curve

GB, MB = 1e9, 1e6
Floats = NDArray[np.float64]
Phases = list[tuple[float, float, str]]
"""Bytes up to which each phase goes, its speed in bytes/s, and its cause."""
CAPACITIES_GB: Final = (240, 250, 256, 480, 500, 512, 960, 1000, 1024, 1920, 2000, 2048, 4000)
PIPES: Final = (117e6, 430e6, 560e6, 1000e6, 1150e6)
"""What arrives over 1 GbE, USB 5 Gb/s, SATA, USB 10 Gb/s and 10 GbE, bytes/s."""
PERIODS_S: Final = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
MIN_SAMPLES, MAX_SAMPLES = 80, 9_000


@dataclass(frozen=True)
class Tested:
    """A drive of a review: bytes, and bytes/s of the cache, past it, and once folding."""

    capacity: float
    bits: int
    cache: float
    fast: float
    direct: float
    fold: float

    @property
    def direct_end(self) -> float:
        """Where the free cells of an empty drive are used up."""
        return self.room_end(1.0)

    def room_end(self, free: float) -> float:
        """The same where a share of the drive is free."""
        spare = 0.07 * self.capacity
        return min(free * self.capacity, free * self.capacity + spare - (self.bits - 1) * self.cache * free)

    def behind(self, speed: float, end: float | None = None) -> tuple[float, float, str]:
        """One level from the cache to `end`, all of the drive if not given: of native cells, unless they have no room
        for so much."""
        end = end or self.capacity
        return end, speed, "direct" if end <= self.direct_end / 0.97 else "fold"


def reviewed(rng: np.random.Generator, smallest: float = 0.02, largest: float = 0.3) -> Tested:
    """A drive; its cache is between two shares of its capacity."""
    capacity = float(rng.choice(CAPACITIES_GB)) * GB
    bits = int(rng.choice([3, 3, 4]))
    cache = capacity * float(np.exp(rng.uniform(np.log(smallest), np.log(min(largest, 0.9 / bits)))))
    fast = float(np.exp(rng.uniform(np.log(420), np.log(7000)))) * MB
    direct = fast * float(rng.uniform(0.25, 0.6) if bits == 3 else rng.uniform(0.1, 0.35))
    return Tested(capacity, bits, cache, fast, direct, direct * float(rng.uniform(0.25, 0.65)))


def filled(of: Tested, free: float = 1.0) -> Phases:
    """The cache, what goes past it, and folding, of a drive of which a share is free."""
    phases: Phases = [(of.cache * free, of.fast, "pslc")]
    end = of.room_end(free)
    if end > 1.05 * phases[0][0]:
        phases.append((end, of.direct, "direct"))
    if end < 0.97 * free * of.capacity:
        phases.append((free * of.capacity, of.fold, "fold"))
    return [*phases[:-1], (free * of.capacity, *phases[-1][1:])]


def sampled(rng: np.random.Generator, phases: Phases, noise: float | None = None) -> Curve:
    """Every period, or every so many bytes, with noise of a share that is drawn where it is not given."""
    noise = float(rng.choice([0.01, 0.03, 0.08])) if noise is None else noise
    ends = np.array([0.0, *(end for end, _, _ in phases)])
    seconds = np.concatenate([[0.0], np.cumsum(np.diff(ends) / np.array([speed for _, speed, _ in phases]))])
    fits = [period for period in PERIODS_S if MIN_SAMPLES <= seconds[-1] / period <= MAX_SAMPLES]
    if fits and rng.random() < 0.7:
        at = np.arange(0.0, seconds[-1], float(rng.choice(fits)))
        edges = np.interp(at, seconds, ends)
    else:
        edges = np.linspace(0.0, ends[-1], int(rng.choice([100, 200, 400, 1000])) + 1)
        at = np.interp(edges, ends, seconds)
    return Curve(edges, np.diff(at) * np.exp(rng.normal(0, noise, at.size - 1)))


def log_of(
    rng: np.random.Generator, of: Tested, phases: Phases, cache: float | None, *, named: bool = True, **known: Any
) -> Log:
    """A log; `named`: its capacity is told."""
    causes = tuple((end, cause) for end, _, cause in phases)
    curve = sampled(rng, phases)
    return Log(curve, of.capacity, cache, False, causes, known, cells_alone=False, names_capacity=named)


def whole(rng: np.random.Generator) -> Log:
    """A fill of an empty drive."""
    of = reviewed(rng)
    return log_of(rng, of, filled(of), of.cache)


def small_cache(rng: np.random.Generator) -> Log:
    """A static cache of 0.5 to 2 % of a drive."""
    of = reviewed(rng, 0.005, 0.02)
    return log_of(rng, of, [(of.cache, of.fast, "pslc"), of.behind(of.direct)], of.cache)


def half_full(rng: np.random.Generator) -> Log:
    """The free 15 to 60 % of a drive, of which nobody says that it held data."""
    of = reviewed(rng, 0.08, 0.3)
    free = float(rng.uniform(0.15, 0.6))
    return log_of(rng, of, filled(of, free), of.cache * free)


def first_part(rng: np.random.Generator) -> Log:
    """An empty drive, of which 1.5 to 4 caches are written."""
    of = reviewed(rng, 0.03, 0.2)
    end = min(of.cache * float(rng.uniform(1.5, 4)), of.room_end(1.0))
    return log_of(rng, of, [(of.cache, of.fast, "pslc"), (end, of.direct, "direct")], of.cache)


def unnamed(rng: np.random.Generator) -> Log:
    """A fill without the capacity."""
    of = reviewed(rng)
    return log_of(rng, of, filled(of), of.cache, named=False)


def unnamed_slope(rng: np.random.Generator) -> Log:
    """The cache slows by 15 to 40 % as the map grows; no capacity."""
    of = reviewed(rng, 0.05, 0.3)
    down = float(rng.uniform(0.15, 0.4))
    phases: Phases = [
        (of.cache * share, of.fast * (1 - down * (1 - np.exp(-3 * share)) / 0.95), "pslc")
        for share in np.linspace(0, 1, 41)[1:]
    ]
    low = min(of.direct, 0.5 * phases[-1][1])
    return log_of(rng, of, [*phases, of.behind(low)], of.cache, named=False)


def unnamed_busy(rng: np.random.Generator) -> Log:
    """Another program takes 15 to 35 % now and then within the cache; no capacity."""
    of = reviewed(rng, 0.06, 0.3)
    cuts = np.sort(rng.uniform(0.02, 0.95, 8)) * of.cache
    phases: Phases = [
        (float(end), of.fast * (1.0 if i % 2 == 0 else float(rng.uniform(0.65, 0.85))), "pslc")
        for i, end in enumerate([*cuts, of.cache])
    ]
    low = min(of.direct, 0.45 * of.fast)
    return log_of(rng, of, [*phases, of.behind(low)], of.cache, named=False)


def raid(rng: np.random.Generator) -> Log:
    """Two drives as RAID 0, one cache of which is 5 to 15 % smaller."""
    of = reviewed(rng, 0.05, 0.25)
    later = of.cache * float(rng.uniform(1.05, 1.15))
    between, after = 0.35 * of.fast, 0.35 * of.fast * float(rng.uniform(0.7, 0.85))
    return log_of(
        rng, of, [(of.cache, of.fast, "pslc"), (later, between, "fold"), (of.capacity, after, "fold")], of.cache
    )


def network(rng: np.random.Generator) -> Log:
    """A share behind a pipe that is slower than the drive ever is."""
    of = reviewed(rng)
    pipe = float(rng.choice(PIPES)) * float(rng.uniform(0.97, 1.0))
    return log_of(rng, of, [(of.capacity, pipe, "link")], None)


def bridge(rng: np.random.Generator) -> Log:
    """A bridge holds back the cache and nothing else."""
    of = reviewed(rng, 0.03, 0.3)
    pipe = float(rng.choice(PIPES[1:])) * float(rng.uniform(0.97, 1.0))
    direct = pipe * float(rng.uniform(0.15, 0.55))
    return log_of(rng, of, [(of.cache, pipe, "link"), of.behind(direct)], of.cache)


def heat_within(rng: np.random.Generator) -> Log:
    """Heat takes 35 to 55 % within the cache, with temperatures."""
    of = reviewed(rng, 0.1, 0.3)
    hot, slow = of.cache * float(rng.uniform(0.35, 0.75)), of.fast * float(rng.uniform(0.45, 0.65))
    low = min(of.direct, 0.5 * slow)
    phases: Phases = [(hot, of.fast, "pslc"), (of.cache, slow, "thermal"), of.behind(low)]
    return heated(rng, of, phases, hot, of.cache)


def heat_behind(rng: np.random.Generator) -> Log:
    """Heat takes 40 to 60 % behind the cache, with temperatures."""
    of = reviewed(rng, 0.05, 0.2)
    hot = of.cache + (of.capacity - of.cache) * float(rng.uniform(0.3, 0.7))
    slow = of.direct * float(rng.uniform(0.4, 0.6))
    phases: Phases = [(of.cache, of.fast, "pslc"), of.behind(of.direct, hot), (of.capacity, slow, "thermal")]
    return heated(rng, of, phases, hot, of.capacity)


def heated(rng: np.random.Generator, of: Tested, phases: Phases, hot: float, cool: float) -> Log:
    """Phases with a sensor that reaches its limit at `hot` bytes and leaves it at `cool`."""
    limit = float(rng.integers(70, 88))
    at = np.linspace(0, of.capacity, 400)
    celsius = np.where(at < hot, limit - 32 * (1 - at / hot), np.where(at <= cool, limit, limit - 12))
    return log_of(rng, of, phases, of.cache, celsius=(at, np.round(celsius)))


def chart(rng: np.random.Generator) -> Log:
    """Read from a chart by eye: 40 to 90 points, each up to 0.3 % of the axis beside its place."""
    of = reviewed(rng, 0.06, 0.3)
    phases = filled(of)
    ends = np.array([0.0, *(end for end, _, _ in phases)])
    seconds = np.concatenate([[0.0], np.cumsum(np.diff(ends) / np.array([speed for _, speed, _ in phases]))])
    at = np.unique(np.concatenate([np.linspace(0, of.capacity, int(rng.integers(40, 90))), ends]))
    read = at + rng.uniform(-0.003, 0.003, at.size) * of.capacity * (at > 0)
    order = np.argsort(read)
    taken = np.diff(np.interp(at, ends, seconds)) / np.diff(at)
    edges: Floats = np.maximum.accumulate(read[order]) + np.arange(at.size, dtype=np.float64)
    edges[0] = 0.0
    causes = tuple((end, cause) for end, _, cause in phases)
    return Log(Curve(edges, taken * np.diff(edges)), of.capacity, of.cache, False, causes, cells_alone=False)


def irregular(rng: np.random.Generator) -> Log:
    """Samples at any moment, some of them far apart."""
    of = reviewed(rng, 0.03, 0.3)
    phases = filled(of)
    ends = np.array([0.0, *(end for end, _, _ in phases)])
    seconds = np.concatenate([[0.0], np.cumsum(np.diff(ends) / np.array([speed for _, speed, _ in phases]))])
    gaps = rng.lognormal(0, 0.7, 1500)
    at = np.concatenate([[0.0], np.cumsum(gaps)]) * seconds[-1] / gaps.sum()
    curve = Curve(np.interp(at, seconds, ends), np.diff(at) * np.exp(rng.normal(0, 0.02, 1500)))
    causes = tuple((end, cause) for end, _, cause in phases)
    return Log(curve, of.capacity, of.cache, False, causes, cells_alone=False)


def levels(rng: np.random.Generator, named: bool = True) -> Log:
    """Two or three levels that come back in any order: the data differ, or another program writes. No cache."""
    of = reviewed(rng)
    speeds = of.direct * np.array([1.0, float(rng.uniform(0.5, 0.7)), float(rng.uniform(0.3, 0.4))])
    cuts = np.append(np.sort(rng.uniform(0.05, 0.95, 11)), 1.0) * of.capacity
    order = np.concatenate([rng.permutation(3) for _ in range(4)])
    phases: Phases = [(float(end), float(speeds[i]), "unknown") for end, i in zip(cuts, order, strict=True)]
    return log_of(rng, of, phases, None, named=named)


def levels_unnamed(rng: np.random.Generator) -> Log:
    """The same without a capacity."""
    return levels(rng, named=False)


def pauses(rng: np.random.Generator) -> Log:
    """Folding in pauses of 5 to 30 s, between which the drive is nearly as fast as its cache."""
    of = reviewed(rng, 0.06, 0.3)
    fast = of.fast * float(rng.uniform(0.8, 0.95))
    work, rest = float(rng.uniform(4, 12)), float(rng.uniform(6, 30))
    rest = max(rest, work)
    phases: Phases = [(of.cache, of.fast, "pslc")]
    while phases[-1][0] < of.capacity and len(phases) < 4000:
        phases.append((phases[-1][0] + work * fast, fast, "fold"))
        phases.append((phases[-1][0] + rest * 0.01 * fast, 0.01 * fast, "fold"))
    total = phases[-1][0]
    short = Tested(max(total, of.capacity), of.bits, of.cache, of.fast, of.direct, of.fold)
    return log_of(rng, short, phases, of.cache)


def memory(rng: np.random.Generator) -> Log:
    """The host's memory takes in the first 4 to 20 GB; link and capacity are told."""
    of = reviewed(rng, 0.08, 0.3)
    head = min(float(rng.uniform(4, 20)) * GB, 0.4 * of.cache)
    phases = [(head, 2.2 * of.fast, "page-cache"), *filled(of)]
    return log_of(rng, of, phases, of.cache, link_bytes_per_s=1.15 * of.fast)


def flat(rng: np.random.Generator) -> Log:
    """A drive for servers: one speed, with noise."""
    of = reviewed(rng)
    return log_of(rng, of, [(of.capacity, of.direct, "native")], None)


def bursts(rng: np.random.Generator) -> Log:
    """Moments of a third of the speed within the cache, for no reason that is told."""
    of = reviewed(rng, 0.1, 0.3)
    phases: Phases = []
    for place in np.sort(rng.uniform(0.1, 0.9, 3)) * of.cache:
        phases += [(float(place), of.fast, "pslc"), (float(place) + 0.01 * of.cache, 0.4 * of.fast, "pslc")]
    if any(later[0] <= one[0] for one, later in pairwise(phases)):
        phases = []
    low = min(of.direct, 0.35 * of.fast)
    return log_of(rng, of, [*phases, (of.cache, of.fast, "pslc"), of.behind(low)], of.cache)


SHAPES: Final[dict[str, Callable[[np.random.Generator], Log]]] = {
    "whole drive": whole,
    "small cache": small_cache,
    "half full": half_full,
    "first part": first_part,
    "no capacity": unnamed,
    "no capacity, slope": unnamed_slope,
    "no capacity, other load": unnamed_busy,
    "RAID 0": raid,
    "network": network,
    "bridge": bridge,
    "heat within, told": heat_within,
    "heat behind, told": heat_behind,
    "chart by eye": chart,
    "irregular": irregular,
    "levels": levels,
    "levels, no capacity": levels_unnamed,
    "pauses": pauses,
    "memory": memory,
    "flat": flat,
    "bursts": bursts,
}
"""Every shape, by its name."""


def log(shape: str, seed: int) -> Log:
    """The log of a shape and a seed."""
    return SHAPES[shape](np.random.default_rng([seed, list(SHAPES).index(shape), 40]))
