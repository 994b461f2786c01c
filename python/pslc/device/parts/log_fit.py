"""Whether a measured fill fits the parts that a drive is said to have, and which parts it would fit better.

Makers sell one name with several kinds of NAND. First phase, cache and speed past it of a log are held against the
forecast for these parts, and against that for each other die which drives of this controller, or of its maker, have.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pslc.base import words
from pslc.device import parts
from pslc.device.parts import constants, forecast
from pslc.device.parts.constants import SD_80
from pslc.device.parts.forecast import Forecast, Interval

MIN_LIKELIHOOD_RATIO: Final = 10.0
"""Likelihood of a log under other parts over that under its own from which on these are named."""
MAX_DEVIATIONS: Final = 4.0
"""Standard deviations beyond which one figure counts no more: a log may be of a drive that was not empty."""
CHI2_95: Final = (0.0, 3.84, 5.99, 7.81)
"""Quantiles of the sum of squares by how many figures it has."""


@dataclass(frozen=True)
class Fill:
    """A measured fill: bytes/s of the first phase and past the cache, and bytes of the cache; None: it shows none."""

    first: float
    past: float | None
    cache: float | None

    @classmethod
    def of_phases(cls, phases: Sequence[tuple[float, float, float]], cache: float | None) -> "Fill":
        """A fill by its phases: from byte, to byte, bytes/s."""
        rest = [(end - begin, speed) for begin, end, speed in phases if cache and begin >= 0.9 * cache]
        seconds = sum(size / speed for size, speed in rest)
        return cls(phases[0][2], sum(size for size, _ in rest) / seconds if seconds else None, cache)


@dataclass(frozen=True)
class LogFit:
    """Deviations of a fill from a die with a controller.

    Attributes:
        beyond: what is outside of the range of 80 % of such drives, in words.
        deviations: of each figure from the middle, in standard deviations.
        log_likelihood: of the figures under the forecast.
    """

    nand: str
    beyond: tuple[str, ...]
    deviations: tuple[float, ...]
    log_likelihood: float

    @property
    def is_likely(self) -> bool:
        """Whether 95 % of such drives have figures as far off."""
        return sum(deviation**2 for deviation in self.deviations) <= CHI2_95[len(self.deviations)]

    @property
    def cells(self) -> str:
        """`TLC` or `QLC`."""
        return constants.cells_of(parts.published_nand(self.nand))


def fit(fill: Fill, nand: str, drive: Forecast) -> LogFit:
    """Deviations of a fill from the forecast for a die."""
    beyond, deviations, log_likelihood = [], [], 0.0
    for name, value, interval in (("first phase", fill.first, drive.first), ("past the cache", fill.past, drive.past)):
        if value and interval:
            deviations.append(_deviations(value, interval))
            log_likelihood += math.log(_density(value, interval))
            if deviations[-1] > SD_80:
                low, high = (forecast.two_digits(speed / 1e6) for speed in (interval.low, interval.high))
                beyond.append(f"{name} {words.speed(value)}, where such drives write {low} to {high} MB/s")
    if (cache := fill.cache) and drive.caches:
        log_likelihood += math.log(sum(kind.probability * _density(cache, kind.size) for kind in drive.caches))
        deviations.append(min(_deviations(cache, kind.size) for kind in drive.caches))
        if deviations[-1] > SD_80:
            kinds = (f"{forecast.two_digits(kind.size.median / 1e9)} GB" for kind in drive.caches)
            beyond.append(f"a cache of {words.size(cache)}, where such drives have {' or '.join(kinds)}")
    return LogFit(nand, tuple(beyond), tuple(deviations), log_likelihood)


def _deviations(value: float, interval: Interval) -> float:
    """Standard deviations from the middle, in logarithms, on the side of the value."""
    end = interval.high if value > interval.median else interval.low
    return min(SD_80 * math.log(value / interval.median) / math.log(end / interval.median), MAX_DEVIATIONS)


def _density(value: float, interval: Interval) -> float:
    """Density of a value in logarithms, but for a factor."""
    return math.exp(-(_deviations(value, interval) ** 2) / 2) / math.log(interval.high / interval.low)


def rivals(fill: Fill, nands: Iterable[str], controller: str, capacity: str) -> list[LogFit]:
    """Fits of a fill to each of these dies with a controller, the best first."""
    fits = [fit(fill, nand, forecast.of(nand=nand, controller=controller, capacity=capacity)) for nand in nands]
    return sorted(fits, key=lambda rival: -rival.log_likelihood)


def dies_beside(controller: str) -> list[str]:
    """Dies that reviewed drives of a controller's maker have."""
    maker = parts.controller(controller).maker
    return sorted({line.nand for line in forecast.lines() if line.chip.maker == maker})


def verdict(own: LogFit, alternatives: Sequence[LogFit]) -> str:
    """The answer in a sentence or two."""
    alike = max(fit.log_likelihood for fit in (own, *alternatives) if fit.cells == own.cells)
    swapped = [other for other in alternatives if other.cells != own.cells]
    likelier = [
        other for other in alternatives if other.log_likelihood - own.log_likelihood > math.log(MIN_LIKELIHOOD_RATIO)
    ]
    if swapped and swapped[0].log_likelihood - alike > math.log(MIN_LIKELIHOOD_RATIO):
        shows = "; ".join(own.beyond) or "figures that are rare among such drives"
        behaves = f"This drive behaves like {swapped[0].cells} ({swapped[0].nand})"
        return f"{behaves}: {own.nand} is {own.cells}. The log shows {shows}."
    if own.is_likely:
        rare = f"; one drive of five is beyond such a range: {'; '.join(own.beyond)}" if own.beyond else ""
        return f"The log fits {own.nand}, as 95 % of such drives do{rare}."
    better = f"{likelier[0].nand} would fit it better" if likelier else "no other die of the ledger fits it better"
    return f"The log does not fit {own.nand}: {'; '.join(own.beyond)}; {better}."
