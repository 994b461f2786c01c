"""Alternative geometries of a drive, which data cannot tell apart, and the spread that they cause in the data.

How dies make superblocks, and where in one a job begins, decides where phase boundaries lie and what short jobs do. The
same values are simulated in drives of other geometries. How far those differ is the variance of a bin of the data; the
values that each of them would have been fitted with tell how far off the fit may be.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from pslc.twin.datasets import Features, Floats
from pslc.twin.model import Geometry
from pslc.twin.optimizer import FitProblem, MapFn
from pslc.twin.residuals import log_ratios, weighted_residuals

UNKNOWN_DIES: Final = ((1.0, 0.6), (1.0, 1.6), (0.5, 1.2), (2.0, 0.85), (4.0, 1.4))
"""Factors of dies and of superblocks of alternative geometries, where nothing is known of the parts."""
KNOWN_DIES: Final = ((1.0, 0.6), (1.0, 1.6), (1.0, 1.2), (1.0, 0.85))
"""Factors of dies and of superblocks of alternative geometries, if reads determined the number of dies, but not how
their blocks make superblocks."""
KNOWN_PARTS: Final = ((1.0, 0.9), (1.0, 1.07), (1.0, 1.15), (1.0, 0.95))
"""Factors of dies and of superblocks of alternative geometries, if the parts are known: only the position in a
superblock at which a job begins is not."""
MAX_LOG_RATIO: Final = 1.0
"""Log ratios are clipped to this before their variance is taken: a job that could not run says nothing of geometry."""


def alternative_geometries(geometry: Geometry, factors: Sequence[tuple[float, float]]) -> list[Geometry]:
    """Geometries of the same speeds with other numbers of dies and superblocks.

    Args:
        factors: of dies and of superblocks: `UNKNOWN_DIES`, `KNOWN_DIES` or `KNOWN_PARTS`.
    """
    geometries = []
    for die_factor, superblock_factor in factors:
        dies = max(round(geometry.dies * die_factor), 1)
        pages = geometry.pages_per_block * geometry.dies / dies / superblock_factor
        pages = max(round(pages / geometry.bits_per_cell), 4) * geometry.bits_per_cell
        alternative = replace(
            geometry,
            dies=dies,
            channels=min(geometry.channels, dies),
            pages_per_block=pages,
            erase_s=geometry.erase_s * pages / geometry.pages_per_block,
        )
        if alternative.channels < geometry.channels:
            alternative = replace(alternative, bus_mts=geometry.bus_mts * geometry.channels // alternative.channels)
        geometries.append(alternative)
    return geometries


class GeometryEnsemble:
    """Simulated runs of the same values in alternative geometries."""

    def __init__(self, problem: FitProblem, x: Floats, geometries: Sequence[Geometry], map_fn: MapFn = map) -> None:
        """Simulate the datasets of `problem` at `x`; the full-size `geometries` are scaled like the problem's model."""
        self.problem = problem
        values = problem.unpack(x)
        problems = [replace(problem, model=problem.model.with_geometry(geometry)) for geometry in geometries]
        simulated = map_fn(_simulated, [(other, values) for other in problems])
        runs = zip(geometries, simulated, strict=True)
        self.members = [(geometry, features) for geometry, features in runs if features is not None]

    def variance(self, own_log_ratios: Floats) -> Floats:
        """Variance of each log ratio between two drives of unknown geometry: twice that of one.

        Args:
            own_log_ratios: log ratios of the problem's own geometry.
        """
        rows = [own_log_ratios]
        rows += [log_ratios(self.problem.datasets, simulated) for _, simulated in self.members]
        if len(rows) < 2:
            return np.zeros(len(own_log_ratios))
        spread: Floats = np.var(np.clip(rows, -MAX_LOG_RATIO, MAX_LOG_RATIO), axis=0, ddof=1)
        return 2 * spread

    def residuals(self) -> list[tuple[Geometry, Floats]]:
        """Residuals of the data in each geometry, as `FitProblem.residuals` has them."""
        problem = self.problem
        return [
            (geometry, weighted_residuals(problem.datasets, simulated, problem.geometry_variance))
            for geometry, simulated in self.members
        ]


def _simulated(task: tuple[FitProblem, dict[str, float]]) -> list[Features] | None:
    problem, values = task
    return problem.simulate(values)
