"""Did it change? What a comparison says in a sentence, with what it is uncertain by: of firmware before and after, say.

Two figures differ where their 90 % intervals do not touch. Of two that are the same such intervals miss each other once
in fifty times, so with many figures one may differ by chance; that is said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from pslc import words
from pslc.findings.comparison import Compared, Figure, Side

BY_CHANCE: Final = 0.02
"""How often two 90 % intervals of the same value, equally wide, do not touch: |z| > 2 x 1.645 / sqrt(2)."""
MOST: Final = 3
"""Figures that are named."""


def verdicts(sides: Sequence[Side], rows: Sequence[Compared]) -> list[str]:
    """A sentence or two for each side but the first: whether it differs from the first, in what and by how much."""
    said = [sentence for at in range(1, len(sides)) for sentence in _of(sides, rows, at)]
    if any(len(side.repeats) == 1 for side in sides) and not all(side.rows for side in sides):
        said.append("Single runs: their intervals are those of each curve, or 2 %. Repeats (--repeat 5) say more.")
    return said


def _of(sides: Sequence[Side], rows: Sequence[Compared], at: int) -> list[str]:
    first, name = sides[0].name, sides[at].name
    both = [row for row in rows if row.figures[0] and row.figures[at]]
    lacking = [row.name for row in rows if (row.figures[0] is None) != (row.figures[at] is None)]
    changed = sorted((row for row in both if row.differs[at]), key=lambda row: -_size(row, at))
    if not both:
        return [f"{name} and {first} have no figure in common."]
    found = []
    if changed:
        most = "; ".join(_said(row, at) for row in changed[:MOST])
        found.append(f"{name} differs from {first} in {len(changed)} of {len(both)} figures: {most}.")
        if len(changed) <= BY_CHANCE * len(both):
            chance = f"{BY_CHANCE * len(both):.0f} of {len(both)}"
            found.append(f"By chance {chance} would: repeat it before you believe it.")
    else:
        some = [row for row in both if math.isfinite(_seen(row, at))] or both
        widest, least = (of(some, key=lambda row: _seen(row, at)) for of in (max, min))
        of = f"all {len(both)} figures agree" if len(both) > 1 else "their only figure agrees"
        found.append(
            f"{name} does not differ from {first}: {of} within the noise. A change of more than "
            f"{_percent(_seen(least, at))} would have shown in {least.name}"
            + (f", of more than {_percent(_seen(widest, at))} in {widest.name}." if widest is not least else ".")
        )
    if lacking:
        found.append(f"Only one of {name} and {first} has {', '.join(lacking[:MOST])}.")
    return found


def _said(row: Compared, at: int) -> str:
    """`mean 1.24 times (1.20 to 1.28)`."""
    low, ratio, high = _ratio(row, at)
    if not math.isfinite(high):
        first, other = (words.quantity(figure.value, row.unit) for figure in _pair(row, at))
        return f"{row.name} {other} instead of {first}"
    return f"{row.name} {ratio:.3g} times ({low:.3g} to {high:.3g})"


def _pair(row: Compared, at: int) -> tuple[Figure, Figure]:
    first, other = row.figures[0], row.figures[at]
    assert first is not None
    assert other is not None
    return first, other


def _ratio(row: Compared, at: int) -> tuple[float, float, float]:
    """Of a figure to the first, with the ends that both intervals allow."""
    first, other = _pair(row, at)
    if first.low <= 0 or other.value <= 0:
        return 0.0, math.inf, math.inf
    return max(other.low, 0.0) / first.high, other.value / first.value, other.high / first.low


def _size(row: Compared, at: int) -> float:
    ratio = _ratio(row, at)[1]
    return abs(math.log(ratio)) if 0 < ratio < math.inf else math.inf


def _seen(row: Compared, at: int) -> float:
    """The relative change from which on two such intervals would not touch."""
    first, other = _pair(row, at)
    return ((first.high - first.low) + (other.high - other.low)) / 2 / abs(first.value) if first.value else math.inf


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if math.isfinite(share) else "any size"
