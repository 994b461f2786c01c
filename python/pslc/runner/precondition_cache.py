"""A drive that several runs begin with, made once.

Steps that leave nothing to chance (a fill, a trim, a layout) bring a fresh drive of the same profile into the same
state whatever the seed. So runs that begin with the same such steps may go on from a copy of it, and give the same
bytes as if they had made it themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from pslc._native import SimDrive

SURE: Final = frozenset(
    {"bs", "direct", "end_fsync", "fsync", "io_size", "iodepth", "ioengine", "number_ios", "offset", "pause", "rw"}
    | {"size", "stonewall"}
)
"""Options under which requests follow from the job alone, in these ways of access:"""
IN_ORDER: Final = frozenset({"write", "trim"})
MOST: Final = 4
"""Drives kept, of one profile."""

Given = TypeVar("Given")


@dataclass
class Prepared:
    """Drives as they were after steps that leave nothing to chance, by profile and steps; those of the profile that was
    asked for last, and of these the last used.

    Attributes:
        forked: how many steps were not made again.
    """

    forked: int = 0
    states: dict[tuple[str, ...], tuple[SimDrive, Any]] = field(default_factory=dict)

    def of(self, drive: SimDrive) -> Begun:
        """Follow a fresh drive."""
        profile = drive.profile()
        for other in [key for key in self.states if key[0] != profile]:
            self.states.pop(other, None)
        return Begun(self, (profile,))


@dataclass
class Begun:
    """How far a run has come by such steps alone.

    Attributes:
        steps: the profile and the steps; None: there were others.
    """

    prepared: Prepared
    steps: tuple[str, ...] | None

    def step(self, name: str, sure: bool, drive: SimDrive, make: Callable[[], Given]) -> tuple[SimDrive, Given]:
        """Make a step, or take what it once gave.

        Args:
            name: what it does, in full.
            sure: it leaves nothing to chance.
            make: does it to `drive`; what it gives is false where it did nothing.

        Returns:
            The drive after it, and what `make` gave.
        """
        if self.steps is None or not sure:
            self.steps = None
            return drive, make()
        states, steps = self.prepared.states, (*self.steps, name)
        if (found := states.pop(steps, None)) is not None:
            self.prepared.forked += 1
            states[steps], self.steps = found, steps
            return found[0].fork(), deepcopy(found[1])
        given = make()
        if not given:
            return drive, given
        cut_off = isinstance(given, dict) and (given["interrupted"] or given["error"])
        self.steps = None if cut_off else steps
        if not cut_off:
            # A copy: who gets it may note something in it.
            states[steps] = drive.fork(), deepcopy(given)
            for oldest in list(states)[:-MOST]:
                states.pop(oldest, None)
        return drive, given


def leaves_nothing_to_chance(text: str) -> bool:
    """Whether the requests of a job file follow from it alone, without a seed."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    pairs = [line.partition("=")[::2] for line in lines if not line.startswith("[")]
    return all(name in SURE for name, _ in pairs) and all(value in IN_ORDER for name, value in pairs if name == "rw")
