"""Values that suites measured themselves: what the fit expects of them, and where the twin contradicts its own data."""

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
    ("recovery", "residue_bytes"): "residue",
    ("burst", "buffer_bytes"): "buffer",
}
"""Parameter that a finding of a suite measures."""


@dataclass(frozen=True)
class Observation:
    """A finding with its 90 % interval.

    Attributes:
        value: None where only a bound was measured.
        low: 0 where only `high` was measured.
        high: None where only `low` was measured.
        unit: of all three: that of the parameter, or `B` of a share.
    """

    suite: str
    parameter: str
    value: float | None
    low: float
    high: float | None
    unit: str

    @property
    def log_prior(self) -> tuple[float, float] | None:
        """Mean and standard deviation of the logarithm of the parameter; None if the finding does not tell both."""
        parameter = PARAMETERS[self.parameter]
        if self.value is None or not self.high or parameter.scale != "log":
            return None
        low = max(self.low, OPEN_LOW_RATIO * self.high)
        sd = float(np.log(self.high / low)) / (2 * Z90)
        return float(np.log(np.clip(self.value, low, self.high))), max(sd, MIN_OBSERVATION_SD)

    def contradiction(self, value: float) -> str | None:
        """Sentence about a twin whose value, in `unit`, lies clearly outside the interval; None if it lies within."""
        slack = float(np.exp(MIN_OBSERVATION_SD))
        if self.low / slack <= value and (self.high is None or value <= self.high * slack):
            return None
        low, high = (None if end is None else words.quantity(end, self.unit) for end in (self.low, self.high))
        within = f"at least {low}" if high is None else f"{low} to {high}" if self.low else f"at most {high}"
        return (
            f"The twin contradicts its data: {PARAMETERS[self.parameter].description}, "
            f"{words.quantity(value, self.unit)}; {self.suite} measured {within}"
        )


def observations(datasets: Sequence[Dataset]) -> list[Observation]:
    """Findings of the suites that measure a parameter, those with at least one end of an interval."""
    measured = []
    for dataset in datasets:
        for (suite, key), parameter in OBSERVED.items():
            low, high = (dataset.findings.get(f"{key}_{end}") for end in ("low", "high"))
            if dataset.suite == suite and (low or high):
                unit = "B" if key.endswith("_bytes") else PARAMETERS[parameter].unit
                measured.append(Observation(suite, parameter, dataset.findings.get(key), low or 0.0, high, unit))
    return measured


def observed_priors(datasets: Sequence[Dataset]) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation of the logarithm of each parameter that a suite measured, the narrowest."""
    priors = [(each.parameter, prior) for each in observations(datasets) if (prior := each.log_prior)]
    return dict(sorted(priors, key=lambda pair: -pair[1][1]))
