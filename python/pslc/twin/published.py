"""The words of a review as a curve: `cache=435GB speed1=4000MB/s speed2=500MB/s end2=1100GB speed3=300MB/s`."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from pslc import units, words
from pslc.analysis import Curve
from pslc.errors import refusal
from pslc.twin.model import usual_native

BINS = 256
HINT = "cache=435GB speed1=4000MB/s speed2=500MB/s end2=1100GB speed3=300MB/s: the cache is the end of the first phase"
APART = 0.05
"""Of the mean of the phases that a published mean may be off without a word."""


def curve(text: str, capacity_bytes: int, bits_per_cell: int = 3) -> tuple[Curve, list[str]]:
    """A fill of a drive with these phases, and what had to be assumed; the last phase goes to the end of the drive.

    `mean=` is that of the whole fill: it tells the speed of a last phase that has none. Where nothing tells it, it is
    what the usual dies of such a drive take.

    Raises:
        PslcError: a word is unknown, a phase has no speed or no end, or the ends do not rise.
    """
    speeds: dict[int, float] = {}
    ends: dict[int, float] = {}
    mean = None
    for word in text.replace(",", " ").split():
        match = re.fullmatch(r"(cache|mean|speed(\d)|end(\d))=(.+)", word)
        if match is None:
            raise refusal(f'"{word}" is not known among published figures', HINT)
        if match[1] == "mean":
            mean = _rate(match[4], word)
        elif match[2]:
            speeds[int(match[2])] = _rate(match[4], word)
        else:
            ends[int(match[3] or 1)] = float(units.size(match[4], word.partition("=")[0]))
    count = max(speeds, default=0)
    if not count or sorted(speeds) != list(range(1, count + 1)):
        raise refusal("the phases have no speeds one after the other", HINT)
    missing = [number for number in range(1, count) if number not in ends]
    if missing:
        raise refusal(f"phase {missing[0]} has no end", HINT)
    notes = []
    if count in ends and ends[count] < capacity_bytes:
        count += 1
        speeds[count], note = _rest(speeds, ends, mean, capacity_bytes, bits_per_cell)
        notes.append(note)
    elif mean is not None:
        notes += _contradiction(speeds, ends, mean, capacity_bytes)
    borders = [0.0, *(ends[number] for number in range(1, count)), ends.get(count, float(capacity_bytes))]
    if any(b <= a for a, b in pairwise(borders)) or borders[-1] > capacity_bytes:
        raise refusal("the ends of the phases do not rise, or pass the capacity", HINT)
    # Borders are among the edges, so that no bin has two speeds.
    edges = np.unique(np.concatenate([np.linspace(0, borders[-1], BINS + 1), borders]))
    middle = (edges[1:] + edges[:-1]) / 2
    phase = np.searchsorted(np.array(borders[1:-1]), middle)
    return Curve(edges, np.diff(edges) / np.array([speeds[number + 1] for number in phase])), notes


def cache(text: str) -> float | None:
    """Bytes at which the first phase ends, where the words of a review tell it."""
    match = re.search(r"\b(?:cache|end1)=(\S+?)(?:,|\s|$)", text)
    return float(units.size(match[1], "cache")) if match else None


def _seconds(speeds: dict[int, float], ends: dict[int, float], capacity: float) -> float:
    """Of the phases whose speed is known."""
    borders = [0.0, *(ends.get(number, capacity) for number in range(1, len(speeds) + 1))]
    return sum((b - a) / speeds[number] for number, (a, b) in enumerate(pairwise(borders), 1))


def _rest(speeds: dict[int, float], ends: dict[int, float], mean: float | None, capacity: int,
          bits: int) -> tuple[float, str]:  # fmt: skip
    """Speed of what comes after the last phase that has one, and where it is from."""
    last = len(speeds)
    left = capacity - ends[last]
    if mean is None:
        speed = min(usual_native(capacity, bits), 0.9 * speeds[last])
        return speed, f"no speed after phase {last} was given: taken as {words.speed(speed)}, what usual dies take"
    seconds = capacity / mean - _seconds(speeds, ends, capacity)
    if seconds <= 0:
        raise refusal(f"a mean of {words.speed(mean)} is more than the phases allow", HINT)
    return left / seconds, f"the speed after phase {last} is {words.speed(left / seconds)}, as the mean tells"


def _contradiction(speeds: dict[int, float], ends: dict[int, float], mean: float, capacity: int) -> list[str]:
    found = capacity / _seconds(speeds, ends, float(capacity))
    if abs(found / mean - 1) <= APART:
        return []
    return [f"the phases make a mean of {words.speed(found)}, published is {words.speed(mean)}: the phases were taken"]


def _rate(text: str, word: str) -> float:
    if not text.endswith("/s"):
        raise refusal(f'"{word}" is no speed', "speed1=4000MB/s")
    return float(units.size(text.removesuffix("/s"), word.partition("=")[0]))
