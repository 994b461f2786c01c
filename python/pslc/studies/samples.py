"""Points drawn from spans of axes, where a grid would be too many."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from pslc.base import install
from pslc.base.errors import JobError
from pslc.studies.axes import MOST_VALUES, Axis, Span, written

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KINDS: Final = ("lhs", "sobol", "saltelli")
EXTRA: Final = "pslc[study]"


@dataclass(frozen=True)
class Sample:
    """Sampling design of a study: `lhs:64` is a Latin hypercube of 64 points, `sobol:64` a scrambled Sobol sequence,
    `saltelli:64` the design for Sobol indices, 64 x (axes + 2) points. `lhs:64:7` draws with the seed 7."""

    kind: str
    count: int
    seed: int = 0

    @classmethod
    def of(cls, text: str) -> Sample:
        """Read one.

        Raises:
            PslcError: it is none.
        """
        match = re.fullmatch(r"([a-z]+):([0-9]{1,6})(?::([0-9]{1,9}))?", text.strip())
        if match is None or match[1] not in KINDS or not 2 <= int(match[2]) <= MOST_VALUES:
            raise JobError(
                f'--sample "{text}" is unknown', "use lhs:64, sobol:64 or saltelli:64, optionally with a seed: lhs:64:7"
            )
        if match[1] != "lhs" and int(match[2]).bit_count() != 1:
            below = 1 << (int(match[2]).bit_length() - 1)
            raise JobError(
                f"{match[2]} points of a Sobol sequence are not balanced", f"use a power of two: {below} or {2 * below}"
            )
        return cls(match[1], int(match[2]), int(match[3] or 0))

    def draw(self, axes: Sequence[Axis | Span]) -> list[tuple[str, ...]]:
        """The values of each point, in the order of the axes. Each axis with more than one value is a dimension."""
        varied = [at for at, of in enumerate(axes) if isinstance(of, Span) or len(of.values) > 1]
        if not varied:
            raise JobError("a sample needs an axis", "for example --vary cache.dynamic=50GB:700GB")
        places = self.places(len(varied))
        drawn = []
        for place in places:
            values = [of.values[0] if isinstance(of, Axis) else "" for of in axes]
            for at, share in zip(varied, place, strict=True):
                values[at] = _at(axes[at], float(share))
            drawn.append(tuple(values))
        return drawn

    def places(self, dimensions: int) -> NDArray[np.float64]:
        """Points of the unit cube, shape (points, dimensions)."""
        import numpy as np

        try:
            from scipy.stats import qmc

            if self.kind == "saltelli":
                from SALib.sample import sobol
        except ImportError:
            raise JobError(
                "samples need scipy; saltelli and Sobol indices need SALib", install.command(EXTRA)
            ) from None
        if self.kind == "lhs":
            return np.asarray(qmc.LatinHypercube(dimensions, rng=self.seed).random(self.count))
        if self.kind == "sobol":
            return np.asarray(qmc.Sobol(dimensions, rng=self.seed).random(self.count))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            drawn = sobol.sample(problem(dimensions), self.count, calc_second_order=False, seed=self.seed)
        return np.asarray(drawn)


def problem(dimensions: int) -> dict[str, object]:
    """The unit cube as SALib describes it."""
    names = [f"x{at}" for at in range(dimensions)]
    return {"num_vars": dimensions, "names": names, "bounds": [[0.0, 1.0]] * dimensions}


def _at(axis: Axis | Span, share: float) -> str:
    if isinstance(axis, Axis):
        return axis.values[min(int(share * len(axis.values)), len(axis.values) - 1)]
    low, high = float(axis.low), float(axis.high)
    value = low * math.exp(math.log(high / low) * share) if axis.logarithmic else low + (high - low) * share
    # Four digits are more than any answer is worth, and fit a command.
    return written(Fraction(f"{value:.3e}"), axis.kind)
