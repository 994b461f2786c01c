"""Drives preconditioned once, for several runs that begin alike.

Steps that leave nothing to chance (a fill, a trim, a layout) bring a fresh drive of the same profile into the same
state whatever the seed. So runs that begin with the same such steps may fork a copy of it, and give the same bytes as
if they had made it themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from pslc._native import SimDrive

DETERMINISTIC_OPTIONS: Final = frozenset(
    {"bs", "direct", "end_fsync", "fsync", "io_size", "iodepth", "ioengine", "number_ios", "offset", "pause", "rw"}
    | {"size", "stonewall"}
)
"""Options under which requests follow from the job alone, with the values of `rw` below."""
DETERMINISTIC_RW: Final = frozenset({"write", "trim"})
MAX_DRIVES: Final = 4
"""Drives held in memory, of one profile."""

Result = TypeVar("Result")


@dataclass
class PreconditionedDrives:
    """Drives after steps that leave nothing to chance, by profile and steps.

    Of the last profile asked for, the `MAX_DRIVES` that were used last.

    Attributes:
        forked: number of steps that were not repeated.
    """

    forked: int = 0
    states: dict[tuple[str, ...], tuple[SimDrive, Any]] = field(default_factory=dict)

    def follow(self, drive: SimDrive) -> DriveHistory:
        """Follow the steps of a fresh drive."""
        profile = drive.profile()
        for stale in [key for key in self.states if key[0] != profile]:
            self.states.pop(stale, None)
        return DriveHistory(self, (profile,))


@dataclass
class DriveHistory:
    """Steps of one drive so far.

    Attributes:
        steps: the profile and the steps; None after a step that depends on a seed.
    """

    drives: PreconditionedDrives
    steps: tuple[str, ...] | None

    def step(
        self, name: str, deterministic: bool, drive: SimDrive, make: Callable[[], Result]
    ) -> tuple[SimDrive, Result]:
        """Make a step, or fork the drive that an earlier run brought so far.

        Args:
            name: the whole text of the step.
            deterministic: the step leaves nothing to chance.
            drive: the drive before the step.
            make: makes the step on `drive`; its result is false if it did nothing.

        Returns:
            The drive after the step, and the result of `make`.
        """
        if self.steps is None or not deterministic:
            self.steps = None
            return drive, make()
        states, steps = self.drives.states, (*self.steps, name)
        if (state := states.pop(steps, None)) is not None:
            self.drives.forked += 1
            states[steps], self.steps = state, steps
            return state[0].fork(), deepcopy(state[1])
        result = make()
        if not result:
            return drive, result
        cut_off = isinstance(result, dict) and (result["interrupted"] or result["error"])
        self.steps = None if cut_off else steps
        if not cut_off:
            # A copy: the caller may note something in its own.
            states[steps] = drive.fork(), deepcopy(result)
            for oldest in list(states)[:-MAX_DRIVES]:
                states.pop(oldest, None)
        return drive, result


def leaves_nothing_to_chance(text: str) -> bool:
    """Whether the requests of a job file follow from it alone, without a seed."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    pairs = [line.partition("=")[::2] for line in lines if not line.startswith("[")]
    return all(name in DETERMINISTIC_OPTIONS for name, _ in pairs) and all(
        value in DETERMINISTIC_RW for name, value in pairs if name == "rw"
    )
