"""Identifiability: the parameters that each suite determines, as `make bench NAME=identify` measured it."""

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Final

from pslc.twin.datasets import Dataset
from pslc.twin.model import FirmwareModel, parameters_of

REMAINING_SD_SHARE: Final[dict[str, dict[str, float]]] = tomllib.loads(
    files("pslc.twin").joinpath("identifiability.toml").read_text(encoding="utf-8")
)
"""Standard deviation after a suite over the one before it, by suite and parameter; those that write least first."""
PARTLY_IDENTIFIED_SHARE: Final = 0.6
"""Remaining share of the standard deviation below which a suite determines a parameter in part."""
BETTER_THAN_FILL_RATIO: Final = 0.7
"""A suite must leave less than this share of what a fill leaves, to count as determining more than the fill."""
FREE_SD_SHARE: Final = 0.95
"""Remaining share below which a parameter is free: two suites may determine together what neither does alone."""
FREED_BY_FIRST_WRITE: Final = frozenset({"ceiling", "watermark", "batch", "mlc_rate"})
"""Parameters that are free only where the first write asks for them, see `initial_fit`."""
ERASING_SUITES: Final = frozenset({"recovery", "second-pass", "overwrite", "random-steady"})
"""Suites that overwrite. None of them separates erase time from folding, but with a fixed erase time a fit would find
everything else slower."""


def free_parameters(suite: str) -> set[str]:
    """Parameters that are free in a fit to this suite."""
    return {name for name, share in REMAINING_SD_SHARE[suite].items() if share < FREE_SD_SHARE}


def free_parameters_of(firmware: FirmwareModel, datasets: Sequence[Dataset]) -> list[str]:
    """Parameters of a firmware model that are free in a fit to these datasets, in the order of `PARAMETERS`."""
    suites = {dataset.suite for dataset in datasets}
    wanted = set[str]().union(*(free_parameters(suite) for suite in suites)) - FREED_BY_FIRST_WRITE
    if firmware.has_cache and suites & ERASING_SUITES:
        wanted.add("erase")
    if firmware.mode == "static-slc":
        wanted -= {"dynamic", "dynamic_min"}
    if firmware.when_full == "fold" and suites <= {"fill"}:
        # A fill determines only the overhead over the native rate.
        wanted.discard("fold_overhead")
    return [name for name in parameters_of(firmware) if name in wanted]


def adds_information(suite: str, parameter: str) -> bool:
    """Whether a suite determines more of a parameter than a fill alone, with which large writes were measured."""
    of_fill = REMAINING_SD_SHARE["fill"].get(parameter, 1.0)
    share = REMAINING_SD_SHARE[suite].get(parameter, 1.0)
    return suite == "fill" or share < BETTER_THAN_FILL_RATIO * of_fill


def informative_suites(parameter: str) -> tuple[str, ...]:
    """Suites that determine a parameter at least in part, those that write least first."""
    return tuple(
        suite
        for suite, shares in REMAINING_SD_SHARE.items()
        if shares.get(parameter, 1.0) < PARTLY_IDENTIFIED_SHARE and adds_information(suite, parameter)
    )
