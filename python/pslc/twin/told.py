"""Which suite tells which value, as `make identify` measured it."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Final

from pslc.twin.data import Trial
from pslc.twin.model import Firmware, of_firmware

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

CHOSEN: Final = frozenset({"ceiling", "watermark", "batch"})
"""Free only where a first write asks for them, see `fit`."""

ERASING: Final = frozenset({"recovery", "second-pass", "overwrite", "random-steady"})
"""Suites that write over what was written. None of them tells what erases take from what folding does, but a fit in
which erases cannot be longer than expected says that all else is slower."""


def free(suite: str) -> set[str]:
    """Values that a fit to this suite looks for."""
    return {name for name, left in LEFT[suite].items() if left < FREE}


def free_in(firmware: Firmware, trials: Sequence[Trial]) -> list[str]:
    """Values of a firmware that a fit to these trials looks for."""
    wanted = set[str]().union(*(free(trial.suite) for trial in trials)) - CHOSEN
    if firmware.mode != "pure-xlc" and any(trial.suite in ERASING for trial in trials):
        wanted.add("erase")
    found = [name for name in of_firmware(firmware) if name in wanted]
    if firmware.mode == "static-slc":
        found = [name for name in found if name not in ("dynamic", "least")]
    if firmware.when_full == "fold" and all(trial.suite == "fill" for trial in trials):
        # Only the overhead over the native rate is told by a fill.
        found = [name for name in found if name != "overhead"]
    return found


def adds(suite: str, name: str) -> bool:
    """Whether a suite tells more of a value than a fill alone, which large writes were looked at together with."""
    fill = LEFT["fill"].get(name, 1.0)
    return suite == "fill" or LEFT[suite].get(name, 1.0) < MORE * fill


def telling(name: str) -> tuple[str, ...]:
    """Suites that tell a value at least in part, those that write least first."""
    return tuple(suite for suite, row in LEFT.items() if row.get(name, 1.0) < PARTLY and adds(suite, name))
