"""Values that suites measured themselves: what the fit expects of them, and where the twin contradicts its own data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pslc.base import words
from pslc.twin.datasets import Dataset
from pslc.twin.model import PARAMETERS

Z90: Final = 1.645
"""Half the width of a 90 % interval in standard deviations."""
OPEN_LOW_RATIO: Final = 0.02
"""Lower end over the upper one, where only the upper one was measured."""
MIN_OBSERVATION_SD: Final = 0.05
"""Least standard deviation of a logarithm: a twin gives its cache back in other superblocks than the drive."""
OBSERVED: Final = {
    ("recovery", "idle_threshold_s"): "idle_threshold",
    ("recovery", "migration_bytes_per_s"): "idle_rate",
    ("burst", "buffer_bytes"): "buffer",
}
"""Parameter that a finding of a suite measures."""


@dataclass(frozen=True)
class Observation:
    """A finding with its 90 % interval, in the unit of the parameter; `low` is 0 where only `high` was measured."""

    suite: str
    parameter: str
    value: float
    low: float
    high: float

    @property
    def log_prior(self) -> tuple[float, float]:
        """Mean and standard deviation of the logarithm."""
        low = max(self.low, OPEN_LOW_RATIO * self.high)
        sd = float(np.log(self.high / low)) / (2 * Z90)
        return float(np.log(np.clip(self.value, low, self.high))), max(sd, MIN_OBSERVATION_SD)

    def contradiction(self, value: float) -> str | None:
        """Sentence about a twin whose value lies clearly outside the interval; None if it lies within."""
        slack = float(np.exp(MIN_OBSERVATION_SD))
        if self.low / slack <= value <= self.high * slack:
            return None
        parameter = PARAMETERS[self.parameter]
        ends = [words.quantity(end, parameter.unit) for end in (self.low, self.high)]
        within = f"{ends[0]} to {ends[1]}" if self.low else f"at most {ends[1]}"
        return (
            f"The twin contradicts its data: {parameter.description}, {words.quantity(value, parameter.unit)}; "
            f"{self.suite} measured {within}"
        )


def observations(datasets: Sequence[Dataset]) -> list[Observation]:
    """Findings of the suites that measure a parameter, those with both ends of an interval."""
    return [
        Observation(suite, parameter, dataset.findings[key], dataset.findings[f"{key}_low"], high)
        for dataset in datasets
        for (suite, key), parameter in OBSERVED.items()
        if dataset.suite == suite and dataset.findings.get(key) and (high := dataset.findings.get(f"{key}_high"))
    ]


def observed_priors(datasets: Sequence[Dataset]) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation of the logarithm of each parameter that a suite measured, the narrowest."""
    by_width = sorted(observations(datasets), key=lambda each: -each.log_prior[1])
    return {each.parameter: each.log_prior for each in by_width if PARAMETERS[each.parameter].scale == "log"}
