"""What nobody can know of a drive, and what it does to what was measured: how its dies make superblocks, and so where
in one a job begins.

The same values in drives built otherwise give other borders and other short jobs. How far they differ is the variance
that a bin of the data has by chance; and the values that each of them would have been fitted with say how far the fit
may be off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from pslc.twin.data import Floats
from pslc.twin.model import Build
from pslc.twin.residuals import compare, differences
from pslc.twin.search import Problem

ASSUMED: Final = ((1.0, 0.6), (1.0, 1.6), (0.5, 1.2), (2.0, 0.85), (4.0, 1.4))
"""Times as many dies and superblocks that a drive may have whose parts nobody told."""
TOLD: Final = ((1.0, 0.6), (1.0, 1.6), (1.0, 1.2), (1.0, 0.85))
"""Where reads told how many dies there are, but not how their blocks make superblocks."""
OF_PARTS: Final = ((1.0, 0.9), (1.0, 1.07), (1.0, 1.15), (1.0, 0.95))
"""Where the parts are known, only where in a superblock a job begins is not."""


def others(build: Build, ways: Sequence[tuple[float, float]]) -> list[Build]:
    """Drives of the same speeds that are built otherwise: `ASSUMED`, `TOLD` or `OF_PARTS`."""
    found = []
    for dies, superblocks in ways:
        count = max(round(build.dies * dies), 1)
        pages = build.pages_per_block * build.dies / count / superblocks
        pages = max(round(pages / build.bits_per_cell), 4) * build.bits_per_cell
        other = replace(build, dies=count, channels=min(build.channels, count), pages_per_block=pages,
                        erase_s=build.erase_s * pages / build.pages_per_block)  # fmt: skip
        if other.channels < build.channels:
            other = replace(other, bus_mts=build.bus_mts * build.channels // other.channels)
        found.append(other)
    return found


class Builds:
    """The same drive built otherwise, in the same trials."""

    def __init__(self, problem: Problem, x: Floats, builds: Sequence[Build]) -> None:
        """`builds` are whole drives; they are made as small as the problem's model is."""
        self.problem = problem
        values = problem.unpack(x)
        self.found = []
        for build in builds:
            model = problem.model.like(build)
            looks = replace(problem, model=model).looks(values)
            if looks is not None:
                self.found.append((build, looks))

    def variance(self, here: Floats) -> Floats:
        """Of each logarithm between a drive and another: twice that of one; `here` are the differences of the problem's
        own model."""
        rows = [here, *(differences(self.problem.trials, looks) for _, looks in self.found)]
        # What a bin is off by when a job could not run is no chance.
        spread: Floats = np.var(np.clip(rows, -1.0, 1.0), axis=0, ddof=1) if len(rows) > 1 else np.zeros(len(here))
        return 2 * spread

    def residuals(self) -> list[tuple[Build, Floats]]:
        """Of the data, as `Problem.residuals` has them."""
        problem = self.problem
        return [(build, compare(problem.trials, looks, problem.chance)) for build, looks in self.found]
