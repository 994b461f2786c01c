"""Measured beside simulated: logarithms of speed, each divided by its error.

Compared are bins of 1, 4, 16 and 64 to a job: wide bins tell in which direction a border lies, narrow ones where
it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pslc.twin.data import Floats, Look, Trial

SIGMA: Final = 0.05
"""Relative error of a bin that is nobody's fault: noise of real drives, and what the model leaves out."""
WEIGHT: Final = 60.0
"""Bins that a suite is worth, so that none drowns the others."""
FAR: Final = 0.4
"""Logarithm of a ratio from which on a residual grows slowly: a bin beyond a cliff is not worth ten."""
SHORT: Final = 0.05
"""Share of the longest job's time below which a job weighs less."""
REFUSED: Final = 10.0
"""Residual of a drive that cannot be: more than that of any that can."""


def compare(trials: Sequence[Trial], found: Sequence[Sequence[Sequence[Look | None]]] | None,
            chance: Floats | None = None) -> Floats:  # fmt: skip
    """Residuals of all trials: measured over simulated, each divided by its error, weighted.

    Args:
        chance: variance of each logarithm by what nobody can know (`differences` of drives built otherwise); a bin that
            chance decides weighs less.
    """
    parts = []
    at = 0
    for index, trial in enumerate(trials):
        rows = _rows(trial, found[index] if found is not None else None)
        of = []
        for row in rows:
            here = slice(at, at := at + len(row.off))
            of.append(1 / (1 + chance[here] / SIGMA**2) if chance is not None else np.ones(len(row.off)))
        # Weighted by what each can tell, so that the sum of squares over the weights is a mean square.
        telling = sum(row.share * float(row.norm**2 @ tell) for row, tell in zip(rows, of, strict=True)) or 1.0
        parts += [FAR * np.arcsinh(row.off / FAR) * row.norm * np.sqrt(WEIGHT * row.share / telling * tell) / SIGMA
                  for row, tell in zip(rows, of, strict=True)]  # fmt: skip
    return np.concatenate(parts) if parts else np.zeros(0)


def differences(trials: Sequence[Trial], found: Sequence[Sequence[Sequence[Look | None]]]) -> Floats:
    """Logarithms of measured over simulated, in the order of `compare`."""
    rows = [row.off for trial, made in zip(trials, found, strict=True) for row in _rows(trial, made)]
    return np.concatenate(rows) if rows else np.zeros(0)


@dataclass(frozen=True)
class _Row:
    """A job, or repeats of one, in a trial.

    Attributes:
        share: of the trial.
        off: logarithms of measured over simulated.
        norm: their squares add up to one.
    """

    share: float
    off: Floats
    norm: Floats


def _rows(trial: Trial, made: Sequence[Sequence[Look | None]] | None) -> list[_Row]:
    seen = [look for step in trial.looks for look in step]
    others = [look for step in made for look in step] if made is not None else [None] * len(seen)
    longest = max((look.seconds for look in seen if look is not None), default=1.0)
    rows = []
    for group in repeats(seen):
        one, other = mean([seen[at] for at in group]), mean([others[at] for at in group])
        assert one is not None
        rows.append(_Row(len(group) * weight(one, longest), *_offs(one, other)))
    return rows


def repeats(seen: Sequence[Look | None]) -> list[list[int]]:
    """Places of jobs that are repeats of each other, in order of the first."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for at, look in enumerate(seen):
        if look is not None:
            groups.setdefault((look.alike, *look.curves) if look.alike else (at,), []).append(at)
    return list(groups.values())


def mean(some: Sequence[Look | None]) -> Look | None:
    """Of repeats, a logarithm at a time."""
    there = [look for look in some if look is not None]
    if len(there) < 2:
        return there[0] if there else None
    curves = {bins: np.mean([look.curves[bins] for look in there], axis=0)
              for bins in there[0].curves if all(bins in look.curves for look in there)}  # fmt: skip
    figures = {name: float(np.mean([look.figures[name] for look in there]))
               for name in there[0].figures if all(name in look.figures for look in there)}  # fmt: skip
    heads = [look.head for look in there]
    head = None if any(one is None for one in heads) else np.mean(np.array(heads, dtype=float), axis=0)
    return replace(there[0], curves=curves, figures=figures, head=head)


TURNS_BINS: Final = 16
WINDOWS: Final = 4


def has_turns(curve: Floats) -> bool:
    """Fast and slow in turns. Where each turn begins is then all but chance, so half of what counts is how much of each
    there is in a quarter of the job."""
    low, high = float(curve.min()), float(curve.max())
    fast = curve > (low + high) / 2
    return high - low > TURN and int((~fast[:-1] & fast[1:]).sum()) > 1


def in_windows(curve: Floats) -> Floats:
    """Speeds in rising order within each quarter."""
    found: Floats = np.sort(curve.reshape(WINDOWS, -1), axis=1).ravel()
    return found


TURN: Final = 0.26
"""Logarithm of the ratio of speeds that are turns."""


def weight(look: Look, longest_s: float) -> float:
    """Of a job among those of its run: short ones tell of a few superblocks only."""
    return min(float(np.sqrt(look.seconds / (SHORT * longest_s))), 1.0) if look.curves else 1.0


def _offs(seen: Look, made: Look | None) -> tuple[Floats, Floats]:
    """Of one job: logarithms of measured over simulated, and how much each is of it."""
    rows = len(seen.curves) + len(seen.figures) + (seen.head is not None)
    parts, norms = [], []
    if seen.head is not None:
        bins = len(seen.head)
        other = made.head if made else None
        parts.append(seen.head - other if other is not None else np.full(bins, REFUSED))
        norms.append(np.full(bins, 1 / np.sqrt(bins * rows)))
    for bins, curve in seen.curves.items():
        other = made.curves.get(bins) if made else None
        ways = [(curve, other)]
        if bins >= TURNS_BINS and has_turns(curve):
            ways.append((in_windows(curve), None if other is None else in_windows(other)))
        for one, two in ways:
            parts.append(one - two if two is not None else np.full(bins, REFUSED))
            norms.append(np.full(bins, 1 / np.sqrt(bins * rows * len(ways))))
    for name, figure in seen.figures.items():
        other_figure = made.figures.get(name) if made else None
        parts.append(np.array([figure - other_figure if other_figure is not None else REFUSED]))
        norms.append(np.full(1, 1 / np.sqrt(rows)))
    return np.concatenate(parts), np.concatenate(norms)


def loss_of(residuals: Floats, trials: Sequence[Trial], priors: int) -> float:
    """Mean square logarithm over the trials."""
    data = residuals[: len(residuals) - priors] if priors else residuals
    return float((data**2).sum() * SIGMA**2 / (WEIGHT * max(len(trials), 1)))


LUCK: Final = 0.012**2
"""A loss below which all fits are as good: errors of the scaled drive."""
