"""Which suite tells which value, as `make identify` measured it."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Final

LEFT: Final[dict[str, dict[str, float]]] = tomllib.loads(
    files("pslc.twin").joinpath("told.toml").read_text(encoding="utf-8")
)
"""By suite and value: the standard deviation after the suite over that before. Suites that write least come first."""
PARTLY: Final = 0.6
"""From which on a suite tells a value in part."""
MORE: Final = 0.7
"""Times what a fill leaves that a suite must get below to tell more than it."""
FREE: Final = 0.95
"""Up to which a value is free where the suite is given: two suites may tell together what neither does alone."""


def free(suite: str) -> set[str]:
    """Values that a fit to this suite looks for."""
    return {name for name, left in LEFT[suite].items() if left < FREE}


def adds(suite: str, name: str) -> bool:
    """Whether a suite tells more of a value than a fill alone, which large writes were looked at together with."""
    fill = LEFT["fill"].get(name, 1.0)
    return suite == "fill" or LEFT[suite].get(name, 1.0) < MORE * fill


def telling(name: str) -> tuple[str, ...]:
    """Suites that tell a value at least in part, those that write least first."""
    return tuple(suite for suite, row in LEFT.items() if row.get(name, 1.0) < PARTLY and adds(suite, name))
