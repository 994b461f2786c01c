"""Write logs of imaginary drives, by what makes a log hard to read: slow starts, page caches, heat, tiers, collection.

A drive keeps to the space there is: past a cache of S bytes at n bits a cell it writes natively until S + raw - n S,
and folds from then on (docs/model.md). Everything else is drawn. A log is sampled as tools do it, every 10 ms to 10 s
or every so many bytes, and the truth is told in bytes of the log itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pslc.analysis import Curve

GB, MB = 1e9, 1e6
Floats = NDArray[np.float64]
PERIODS_S: Final = (0.01, 0.1, 0.25, 0.5, 1.0, 10.0)
FEWEST, MOST = 150, 12_000
"""Samples of a log."""
PIECES: Final = 4000
"""Knots of a phase whose speed changes all the time."""


@dataclass(frozen=True)
class Stretch:
    """Up to `end` bytes at one speed, for one true cause."""

    end: float
    bytes_per_s: float
    cause: str


@dataclass(frozen=True)
class Drive:
    """What the cells can do: bytes and bytes/s."""

    capacity: float
    bits: int
    raw: float
    cache: float
    fast: float
    native: float
    fold: float
    policy: Literal["direct", "fold", "w", "recycle"]

    @property
    def direct_until(self) -> float:
        """Bytes written when the last free block is used up."""
        return min(self.raw - (self.bits - 1) * self.cache, self.capacity)


@dataclass(frozen=True)
class Log:
    """A log and its truth.

    Attributes:
        curve: as a tool would have recorded it.
        capacity_bytes: of the drive.
        cache_bytes: written when the cache ended; None: it has none, or the log ended before.
        truncated: it ended before.
        causes: by the bytes up to which each holds, in order.
        known: what a tester says besides: `link_bytes_per_s`, `random`, `celsius` (as `MeasurementContext` has it).
        cells_alone: nothing but the cells made this curve.
        names_capacity: whether the capacity is told to who reads the log.
    """

    curve: Curve
    capacity_bytes: float
    cache_bytes: float | None
    truncated: bool
    causes: tuple[tuple[float, str], ...]
    known: dict[str, Any] = field(default_factory=dict)
    cells_alone: bool = True
    names_capacity: bool = True

    def cause(self, from_bytes: float, to_bytes: float) -> str:
        """The true cause of most of a stretch."""
        shares: dict[str, float] = {}
        start = 0.0
        for end, cause in self.causes:
            shares[cause] = shares.get(cause, 0.0) + max(0.0, min(end, to_bytes) - max(start, from_bytes))
            start = end
        return max(shares, key=lambda cause: shares[cause])


def drive(rng: np.random.Generator, *, least: float = 0.004, hot: bool = False) -> Drive:
    """A drive with a cache of `least` of its capacity or more; `hot`: fast enough to get hot, and its cache takes a
    minute or more."""
    capacity = float(rng.choice([128, 250, 480, 512, 1000, 2000, 4000])) * GB
    bits = int(rng.choice([3, 3, 3, 4]))
    raw = capacity * float(rng.uniform(1.03, 1.12))
    fast = float(rng.choice([rng.uniform(250, 540), rng.uniform(1000, 3300), rng.uniform(3000, 6800)])) * MB
    if hot:
        capacity = float(rng.choice([1000, 2000, 4000])) * GB
        raw = capacity * float(rng.uniform(1.03, 1.12))
        fast = min(float(rng.uniform(1000, 6800)) * MB, capacity * 0.8 / bits / 60.0)
        least = max(least, 60.0 * fast / capacity)
    native = fast * float(rng.uniform(0.22, 0.6) if bits == 3 else rng.uniform(0.08, 0.3))
    policy = str(rng.choice(["direct", "fold", "w", "recycle"], p=[0.45, 0.15, 0.2, 0.2]))
    small = rng.random() < 0.35 and least < 0.03
    cache = capacity * float(rng.uniform(least, 0.03) if small else rng.uniform(max(0.05, least), 0.93 / bits))
    extra = float(rng.uniform(1.0, 3.0))
    if policy == "w":
        fold = native / (1 + extra / (bits - 1))
    elif policy == "direct":
        fold = native * float(rng.uniform(0.2, 0.6))
    else:
        fold = 1 / (1 / fast + extra / native)
    return Drive(capacity, bits, raw, cache, fast, native, fold, policy)  # type: ignore[arg-type]


def cells(of: Drive) -> list[Stretch]:
    """A fill of an empty drive."""
    found = [Stretch(of.cache, of.fast, "pslc")]
    if of.policy == "direct":
        if of.direct_until > of.cache * 1.02:
            found.append(Stretch(of.direct_until, of.native, "direct"))
        if found[-1].end < 0.985 * of.capacity:
            found.append(Stretch(of.capacity, of.fold, "fold"))
    elif of.policy == "w":
        # Folded a byte for each (n - 1)-th of the host's, until the cache is empty.
        until = min(of.cache + of.cache * (of.fold / of.native) / (1 - of.fold / of.native), of.capacity)
        found.append(Stretch(until, of.fold, "fold"))
        if until < 0.985 * of.capacity:
            found.append(Stretch(of.capacity, of.native, "native"))
    else:
        found.append(Stretch(of.capacity, of.fold, "fold"))
    return [*found[:-1], replace(found[-1], end=of.capacity)]


def dipping(  # noqa: PLR0913 the numbers of a random curve
    rng: np.random.Generator,
    stretches: list[Stretch],
    until: float,
    cause: str,
    most: int,
    to: tuple[float, float],
    share: float,
) -> list[Stretch]:
    """The same with up to `most` dips before `until`, each of up to `share` of it, to a part `to` of the speed."""
    count = int(rng.integers(1, most + 1))
    at = np.sort(rng.uniform(0.08, 0.92, count)) * until
    found: list[Stretch] = []
    for one in stretches:
        start = found[-1].end if found else 0.0
        for place in at:
            long = share * until * float(rng.uniform(0.3, 1.0))
            if start <= place and place + long < one.end:
                found.append(replace(one, end=float(place)))
                found.append(Stretch(float(place + long), one.bytes_per_s * float(rng.uniform(*to)), cause))
                start = found[-1].end
        found.append(one)
    return found


def _sampled(rng: np.random.Generator, stretches: list[Stretch]) -> tuple[Curve, Callable[[float], float]]:
    """The log, and where in its bytes a true byte position lies."""
    noise = float(rng.choice([0.005, 0.02, 0.05, 0.1]))
    ends = np.array([0.0, *(one.end for one in stretches)])
    fine = [np.linspace(a, b, PIECES // len(stretches) + 2)[1:] for a, b in pairwise(ends)]
    knots = np.concatenate([[0.0], *fine])
    speed = np.concatenate([np.full(part.size, one.bytes_per_s) for part, one in zip(fine, stretches, strict=True)])
    if rng.random() < 0.35:  # what comes and goes behind the cache
        depth, periods = float(rng.uniform(0.05, 0.3)), float(rng.uniform(60, 400))
        folding = np.concatenate(
            [np.full(part.size, one.cause in ("fold", "gc")) for part, one in zip(fine, stretches, strict=True)]
        )
        wave = 1 + depth * np.sin(2 * np.pi * periods * knots[1:] / knots[-1])
        speed = np.where(folding, speed * wave, speed)
    return _logged(rng, knots, speed, noise)


def _logged(
    rng: np.random.Generator, knots: Floats, speed: Floats, noise: float
) -> tuple[Curve, Callable[[float], float]]:
    """A log of a drive whose speed between `knots` (n + 1 bytes) is `speed` (n)."""
    seconds = np.concatenate([[0.0], np.cumsum(np.diff(knots) / speed)])
    fits = [period for period in PERIODS_S if FEWEST <= seconds[-1] / period <= MOST]
    if fits and rng.random() < 0.75:
        period = float(rng.choice(fits))
        at = np.append(np.arange(0.0, seconds[-1], period), seconds[-1])
        at = at[:-1] if at[-1] - at[-2] < 0.2 * period else at
        true = np.interp(at, seconds, knots)
        edges = np.concatenate([[0.0], np.cumsum(np.diff(true) * np.exp(rng.normal(0, noise, at.size - 1)))])
        return Curve(edges, np.diff(at)), lambda place: float(np.interp(place, true, edges))
    count = int(rng.choice([100, 200, 500, 1000, 2000]))
    edges = np.linspace(0.0, knots[-1], count + 1)
    taken = np.diff(np.interp(edges, knots, seconds)) * np.exp(rng.normal(0, noise, count))
    return Curve(edges, taken), lambda place: place


def _log(  # noqa: PLR0913 the numbers of a random curve
    rng: np.random.Generator,
    of: Drive,
    stretches: list[Stretch],
    cache: float | None,
    *,
    truncated: bool = False,
    cells_alone: bool = True,
    known: dict[str, Any] | None = None,
) -> Log:
    curve, place = _sampled(rng, stretches)
    causes = tuple((place(one.end), one.cause) for one in stretches)
    return Log(curve, of.capacity, None if cache is None else place(cache), truncated, causes, known or {}, cells_alone)


def plain(rng: np.random.Generator) -> Log:
    """A fill, and nothing else."""
    of = drive(rng)
    return _log(rng, of, cells(of), of.cache)


def slow_start(rng: np.random.Generator) -> Log:
    """The first seconds slower than the cache."""
    of = drive(rng, least=0.006)
    start = min(float(rng.uniform(0.2, 17.0)) * GB, 0.5 * of.cache)
    part = float(rng.uniform(0.2, 0.7))
    return _log(rng, of, [Stretch(start, part * of.fast, "unknown"), *cells(of)], of.cache)


def page_cache(rng: np.random.Generator) -> Log:
    """The host's memory took in the first bytes; the link is told in half of these."""
    of = drive(rng, least=0.02)
    head = min(float(rng.uniform(1.5, 32)) * GB, 0.6 * of.cache)
    link = 0.56e9 if of.fast < 0.56e9 else 3.5e9 if of.fast < 3.4e9 else 7.1e9
    speed = max(float(rng.uniform(1.6, 5.0)) * of.fast, 1.15 * link)
    known = {"link_bytes_per_s": link} if rng.random() < 0.5 else {}
    return _log(rng, of, [Stretch(head, speed, "page-cache"), *cells(of)], of.cache, cells_alone=False, known=known)


def heat_dips(rng: np.random.Generator) -> Log:
    """Heat slows the cache for moments; in half of these the temperature is told."""
    of = drive(rng, least=0.05, hot=True)
    fill = dipping(rng, cells(of), of.cache, "thermal", 8, (0.25, 0.75), 0.035)
    log = _log(rng, of, fill, of.cache, cells_alone=False)
    return _with_heat(rng, log)


def heat_step(rng: np.random.Generator) -> Log:
    """Heat slows the cache from somewhere on, to below the cache and above what follows."""
    while True:
        of = drive(rng, least=0.08, hot=True)
        fill = cells(of)
        slow = of.fast * float(rng.uniform(0.45, 0.78))
        if slow > 1.3 * max(one.bytes_per_s for one in fill[1:]):
            break
    start = of.cache * float(rng.uniform(0.4, 0.85))
    fill = [Stretch(start, of.fast, "pslc"), Stretch(of.cache, slow, "thermal"), *fill[1:]]
    log = _log(rng, of, fill, of.cache, cells_alone=False)
    return _with_heat(rng, log)


def _with_heat(rng: np.random.Generator, log: Log) -> Log:
    """Half of these with a column of degrees: rising to the threshold, near it while throttled, cooler behind."""
    if rng.random() < 0.5:
        return log
    limit = float(rng.uniform(72, 86))
    ends = np.array([end for end, _ in log.causes])
    stretch = np.clip(np.searchsorted(ends, log.curve.edges_bytes[1:]), 0, len(ends) - 1)
    hot = np.array([cause == "thermal" for _, cause in log.causes])
    last = float(ends[hot][-1]) if hot.any() else log.capacity_bytes
    rising = limit - 30 * np.exp(-4 * log.curve.edges_bytes[1:] / last)
    cooling = limit - 12 * (1 - np.exp(-6 * np.maximum(log.curve.edges_bytes[1:] - last, 0.0) / last))
    celsius = np.where(hot[stretch], limit, np.minimum(rising, cooling))
    told = np.round(celsius + rng.normal(0, 0.5, celsius.size))
    return replace(log, known=log.known | {"celsius": (log.curve.edges_bytes[1:], told)})


def two_tiers(rng: np.random.Generator) -> Log:
    """A small fast part of the cache, and a larger one that is a little slower."""
    while True:
        of = drive(rng, least=0.03)
        fill = cells(of)
        second = of.fast * float(rng.uniform(0.6, 0.85))
        if second > 1.3 * max(one.bytes_per_s for one in fill[1:]):
            break
    first = min(of.cache * float(rng.uniform(0.06, 0.4)), 60 * GB)
    log = _log(rng, of, [Stretch(first, of.fast, "pslc"), Stretch(of.cache, second, "pslc"), *fill[1:]], of.cache)
    return _with_heat(rng, log)


def sawtooth(rng: np.random.Generator) -> Log:
    """The cache is emptied under load and used again, smaller each time."""
    of = drive(rng, least=0.02)
    cache = min(of.cache, 0.16 * of.capacity)
    slow = of.native / (1 + float(rng.uniform(1.0, 2.5)) / (of.bits - 1))
    found, at, size = [], 0.0, cache
    for _ in range(5):
        found.append(Stretch(at + size, of.fast, "pslc"))
        # Of what goes past it, so much while a cache of this size is folded.
        at = found[-1].end + size * slow / (of.native - slow)
        found.append(Stretch(at, slow, "fold"))
        size *= float(rng.uniform(0.75, 1.0))
        if at + 1.2 * size > of.capacity:
            break
    found[-1] = replace(found[-1], end=max(found[-1].end, found[-2].end + 0.01 * of.capacity))
    total = min(of.capacity, found[-1].end) if found[-1].end > 0.985 * of.capacity else of.capacity
    if found[-1].end >= of.capacity or total <= found[-2].end:
        total = found[-1].end
    found[-1] = replace(found[-1], end=total)
    return _log(rng, replace(of, capacity=max(of.capacity, total)), found, cache)


def decay(rng: np.random.Generator) -> Log:
    """Behind the cliff the speed falls on and on, without a step: also where the free blocks are used up."""
    of = drive(rng)
    after = of.native if of.policy == "direct" else of.fold
    lowest, rate = float(rng.uniform(0.35, 0.75)), float(rng.uniform(1.0, 5.0))
    steps = np.linspace(of.cache, of.capacity, 120)
    share = (steps[1:] - of.cache) / (of.capacity - of.cache)
    speeds = after * (lowest + (1 - lowest) * np.exp(-rate * share))
    until = of.direct_until if of.policy == "direct" else 0.0
    fill = [Stretch(of.cache, of.fast, "pslc")]
    fill += [
        Stretch(float(end), float(speed), "direct" if end <= until else "fold")
        for end, speed in zip(steps[1:], speeds, strict=True)
    ]
    return _log(rng, of, fill, of.cache)


def flat_with_dips(rng: np.random.Generator) -> Log:
    """No cache: one speed, with moments of garbage collection."""
    of = drive(rng)
    flat = [Stretch(of.capacity, of.native, "native")]
    fill = dipping(rng, flat, of.capacity, "gc", 11, (0.2, 0.6), 0.022)
    return _log(rng, of, fill, None)


def random_writes(rng: np.random.Generator) -> Log:
    """Small random writes over hours to a drive without a cache: a fall when its spare area is used up. That they are
    random is told."""
    of = drive(rng)
    total = of.capacity * float(rng.uniform(0.8, 6.0))
    falls = of.capacity * float(rng.uniform(0.05, 1.2))
    steps = np.linspace(min(falls, 0.7 * total), total, 150)
    speed = of.native * float(rng.uniform(0.3, 0.9))
    least, length = float(rng.uniform(0.1, 0.5)), of.capacity * float(rng.uniform(0.05, 0.5))
    speeds = speed * (least + (1 - least) * np.exp(-(steps[1:] - steps[0]) / length))
    fill = [Stretch(float(steps[0]), speed, "unknown")]
    fill += [Stretch(float(end), float(value), "gc") for end, value in zip(steps[1:], speeds, strict=True)]
    return _log(rng, of, fill, None, cells_alone=False, known={"random": True})


def truncated(rng: np.random.Generator) -> Log:
    """Ended before the cliff."""
    of = drive(rng, least=0.03)
    end = of.cache * float(rng.uniform(0.15, 0.95))
    return _log(rng, of, [Stretch(end, of.fast, "pslc")], None, truncated=True)


SHAPES: Final[dict[str, Callable[[np.random.Generator], Log]]] = {
    "plain": plain,
    "slow start": slow_start,
    "page-cache head": page_cache,
    "heat dips": heat_dips,
    "heat step": heat_step,
    "two tiers": two_tiers,
    "sawtooth": sawtooth,
    "decay": decay,
    "flat with dips": flat_with_dips,
    "random writes": random_writes,
    "truncated": truncated,
}
"""Every shape, by its name."""


def log(shape: str, seed: int) -> Log:
    """The log of a shape and a seed."""
    return SHAPES[shape](np.random.default_rng([seed, list(SHAPES).index(shape), 12]))
