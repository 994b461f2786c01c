"""Write curves of imaginary drives whose borders are known, with what makes real curves hard to read.

A trace is made at the resolution of a fine grid and then cut into bins, so that a bin may straddle a border.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from pslc.analysis import Curve

GB = 1e9


@dataclass(frozen=True)
class Trace:
    """What the drive does; bytes and bytes/s. `ends` are the phases' ends, the last one the end of the trace."""

    speeds: tuple[float, ...]
    ends: tuple[float, ...]
    bins: int = 2048
    noise: float = 0.02
    ripple: float = 0.0  # amplitude, relative
    ripple_bins: float = 20.0  # period
    ripple_from: int = 1  # the first phase that ripples: the cache itself seldom does
    bursts: int = 0  # of 1-4 bins at the first phase's speed
    slow_start: float = 0.0  # bytes at a third of the speed
    drift: float = 0.0  # relative change over each phase after the first
    missing: float = 0.0  # share of the bin borders that were lost
    part: float = 1.0  # of the drive that was written
    seed: int = 0

    def curve(self) -> Curve:
        """Draw the curve that these numbers describe; the same seed gives the same noise."""
        rng = np.random.default_rng(self.seed)
        edges = np.linspace(0.0, self.ends[-1], self.bins + 1)
        knots = np.unique(np.concatenate((edges, self.ends, [self.slow_start])))
        middles = (knots[:-1] + knots[1:]) / 2
        phase = np.searchsorted(self.ends, middles)
        speed = np.asarray(self.speeds)[phase]
        starts = np.concatenate(([0.0], self.ends[:-1]))
        within = (middles - starts[phase]) / np.diff(np.concatenate(([0.0], self.ends)))[phase]
        speed = speed * np.where(phase > 0, (1 + self.drift) ** within, 1.0)
        bin_of = np.clip(np.searchsorted(edges, middles) - 1, 0, self.bins - 1)
        wave = np.sin(2 * np.pi * (middles / edges[1] / self.ripple_bins + rng.random()))
        speed = speed * np.where(phase >= self.ripple_from, 1 + self.ripple * wave, 1.0)
        for at in rng.integers(0, self.bins, self.bursts):
            here = (bin_of >= at) & (bin_of < at + rng.integers(1, 5)) & (phase > 0)
            speed = np.where(here, self.speeds[0], speed)
        speed = np.where(middles < self.slow_start, speed / 3, speed)
        taken = np.bincount(bin_of, np.diff(knots) / speed, self.bins)
        taken = taken * np.exp(rng.normal(0, self.noise, self.bins))
        kept = np.concatenate(([True], rng.random(self.bins - 1) >= self.missing, [True]))
        whole = np.concatenate(([0.0], np.cumsum(taken)))
        return Curve(edges[kept], np.diff(whole[kept]))

    @property
    def phases(self) -> int:
        """A slow start is one of its own when it is longer than a drive takes to wake up."""
        return len(self.ends) + (self.slow_start > 0.03 * self.ends[-1])

    @property
    def capacity_bytes(self) -> float:
        """The capacity of the whole drive, of which the curve may be a part."""
        return self.ends[-1] / self.part

    @property
    def cache_bytes(self) -> float | None:
        """Where the speed first falls by a fifth or more; None where it never does."""
        falls = (end for end, (a, b) in zip(self.ends, pairwise(self.speeds), strict=False) if b <= 0.8 * a)
        return next(falls, None)


def random_trace(seed: int) -> Trace:
    """One of the shapes seen on real drives, with a random mix of disturbances."""
    rng = np.random.default_rng(seed)
    capacity = float(rng.choice([128, 256, 480, 512, 1000, 2000, 4000])) * GB
    fast = float(rng.uniform(400, 7000)) * 1e6
    shape = rng.choice(["fall", "stairs", "w", "small", "sawtooth"], p=[0.3, 0.25, 0.15, 0.2, 0.1])
    first = float(rng.uniform(0.05, 0.6))
    if shape == "small":
        ends, ratios = [float(rng.uniform(0.003, 0.03)), 1.0], [1.0, rng.uniform(0.15, 0.6)]
    elif shape == "fall":
        ends, ratios = [first, 1.0], [1.0, rng.uniform(0.1, 0.7)]
    elif shape == "stairs":
        second = rng.uniform(0.25, 0.6)
        ends = [first, first + (1 - first) * rng.uniform(0.15, 0.7), 1.0]
        ratios = [1.0, second, second * rng.uniform(0.2, 0.7)]
    elif shape == "w":
        low = rng.uniform(0.12, 0.3)
        ends, ratios = (
            [first, first + (1 - first) * rng.uniform(0.2, 0.8), 1.0],
            [1.0, low, low * rng.uniform(1.5, 2.5)],
        )
    else:
        teeth, low, first = int(rng.integers(2, 6)), rng.uniform(0.1, 0.3), rng.uniform(0.04, 0.15)
        period = 1.0 / teeth
        ends = [e for k in range(teeth) for e in (k * period + first, (k + 1) * period)]
        ends[-1] = 1.0
        ratios = [1.0, low] * teeth
    trace = Trace(
        speeds=tuple(fast * float(r) for r in ratios),
        ends=tuple(capacity * float(e) for e in ends),
        bins=int(rng.choice([1024, 2048, 3000, 4000])),
        noise=float(rng.choice([0.005, 0.02, 0.05, 0.1])),
        seed=seed,
    )
    changes: list[dict[str, float | int]] = [
        {"ripple": rng.uniform(0.1, 0.4), "ripple_bins": float(rng.choice([3, 8, 20, 50]))},
        {"bursts": int(rng.integers(1, 20))},
        {"slow_start": 0.016 * capacity * float(rng.random()) if ends[0] > 0.05 else 0.0},
        {"drift": float(rng.uniform(-0.15, 0.15))},
        {"missing": float(rng.uniform(0.01, 0.2))},
    ]
    for change in changes:
        if rng.random() < 0.35:
            trace = replace(trace, **change)  # type: ignore[arg-type]
    return trace


def hard_trace(seed: int) -> Trace:
    """As `random_trace`, and besides: no cliff, an end within the first phase, a rise before the cliff, and a first
    16 GB at a third of the speed, which is much of a small drive."""
    trace = random_trace(seed)
    rng = np.random.default_rng([seed, 1])
    kind = rng.choice(["plain", "flat", "part", "rise", "slow"], p=[0.6, 0.1, 0.1, 0.1, 0.1])
    first = trace.ends[0]
    if kind == "flat":
        return replace(trace, speeds=trace.speeds[:1], ends=trace.ends[-1:], ripple_from=0)
    if kind == "part":
        short = replace(trace, speeds=trace.speeds[:1], ends=(max(first, 0.05 * trace.ends[-1]),), slow_start=0.0)
        return replace(short, part=short.ends[0] / trace.ends[-1], ripple_from=0)
    if kind == "rise" and first > 0.04 * trace.ends[-1]:
        slower = trace.speeds[0] * float(rng.uniform(0.3, 0.75))
        early = first * float(rng.uniform(0.3, 0.7))
        return replace(trace, speeds=(slower, *trace.speeds), ends=(early, *trace.ends), slow_start=0.0, ripple_from=2)
    if kind == "slow" and first > 40 * GB:
        return replace(trace, slow_start=16 * GB)
    return trace
