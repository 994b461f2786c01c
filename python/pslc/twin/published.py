"""The words of a review as a curve: `cache=435GB speed1=4000MB/s speed2=500MB/s end2=1100GB speed3=300MB/s`."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from pslc import units
from pslc.analysis import Curve
from pslc.errors import refusal

BINS = 256
HINT = "cache=435GB speed1=4000MB/s speed2=500MB/s end2=1100GB speed3=300MB/s: the cache is the end of the first phase"


def curve(text: str, capacity_bytes: int) -> Curve:
    """A fill of a drive with these phases; the last goes to the end of the drive.

    Raises:
        PslcError: a word is unknown, a phase has no speed or no end, or the ends do not rise.
    """
    speeds: dict[int, float] = {}
    ends: dict[int, float] = {}
    for word in text.replace(",", " ").split():
        match = re.fullmatch(r"(cache|speed(\d)|end(\d))=(.+)", word)
        if match is None:
            raise refusal(f'"{word}" is not known among published figures', HINT)
        if match[2]:
            speeds[int(match[2])] = _rate(match[4], word)
        else:
            ends[int(match[3] or 1)] = float(units.size(match[4], word.partition("=")[0]))
    count = max(speeds, default=0)
    if not count or sorted(speeds) != list(range(1, count + 1)):
        raise refusal("the phases have no speeds one after the other", HINT)
    missing = [number for number in range(1, count) if number not in ends]
    if missing:
        raise refusal(f"phase {missing[0]} has no end", HINT)
    borders = [0.0, *(ends[number] for number in range(1, count)), ends.get(count, float(capacity_bytes))]
    if any(b <= a for a, b in pairwise(borders)) or borders[-1] > capacity_bytes:
        raise refusal("the ends of the phases do not rise, or pass the capacity", HINT)
    # Borders are among the edges, so that no bin has two speeds.
    edges = np.unique(np.concatenate([np.linspace(0, borders[-1], BINS + 1), borders]))
    middle = (edges[1:] + edges[:-1]) / 2
    phase = np.searchsorted(np.array(borders[1:-1]), middle)
    return Curve(edges, np.diff(edges) / np.array([speeds[number + 1] for number in phase]))


def _rate(text: str, word: str) -> float:
    if not text.endswith("/s"):
        raise refusal(f'"{word}" is no speed', "speed1=4000MB/s")
    return float(units.size(text.removesuffix("/s"), word.partition("=")[0]))
