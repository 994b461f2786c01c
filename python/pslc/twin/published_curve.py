"""Published figures as a write curve: `cache=435GB speed1=4000MB/s speed2=500MB/s end2=1100GB speed3=300MB/s`."""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

import numpy as np

from pslc.analysis import Curve
from pslc.base import units, words
from pslc.base.errors import user_error
from pslc.twin.model import typical_native_rate
from pslc.twin.review import Drive, Figures, complete

BINS: Final = 256
"""Bins of equal bytes; phase boundaries are further edges, so that no bin has two speeds."""
HINT: Final = (
    "for example cache=435GB speed1=4000MB/s speed2=500MB/s end2=1100GB speed3=300MB/s, where cache is the end of the "
    "first phase"
)
MEAN_TOLERANCE: Final = 0.05
"""Share by which a published mean may differ from that of the phases without a note."""
MAX_NATIVE_SPEED_RATIO: Final = 0.9
"""Assumed speed of a last phase without one, at most this share of the speed of the phase before it."""


def curve(text: str, capacity_bytes: int, drive: Drive | None = None) -> tuple[Curve, list[str]]:
    """The write curve of a fill with these phases, and notes on what was inferred, each with its interval.

    Any subset of the figures will do that tells a speed: what is missing follows from the others, from the parts, or
    from what other drives do (`pslc.twin.review`). The last phase ends with the drive. If it has no speed, `mean=`
    of the whole fill determines it; without a mean it is the native speed of the parts or of typical dies.

    Raises:
        PslcError: a word is unknown, no speed is told, or the ends do not rise.
    """
    figures = _parse(text)
    drive = drive or Drive(capacity_bytes)
    notes = complete(figures, drive)
    count = _check_phases(figures)
    if count in figures.ends and figures.ends[count] < capacity_bytes:
        speed, note = _last_speed(figures, drive)
        count += 1
        figures.speeds[count] = speed
        notes.append(note)
    elif figures.mean is not None:
        notes += _contradiction(figures, figures.mean, capacity_bytes)
    ends = figures.ends
    borders = [0.0, *(ends[number] for number in range(1, count)), ends.get(count, float(capacity_bytes))]
    if any(end <= start for start, end in pairwise(borders)) or borders[-1] > capacity_bytes:
        raise user_error("the ends of the phases do not rise, or pass the capacity", HINT)
    return _curve_of(borders, figures.speeds), notes


def _parse(text: str) -> Figures:
    figures = Figures({}, {})
    for word in text.replace(",", " ").split():
        match = re.fullmatch(r"(cache|mean|speed(\d)|end(\d))=(.+)", word)
        if match is None:
            raise user_error(f'"{word}" is not a published figure that pslc knows', HINT)
        if match[1] == "mean":
            figures.mean = _rate(match[4], word)
        elif match[2]:
            figures.speeds[int(match[2])] = _rate(match[4], word)
        else:
            figures.ends[int(match[3] or 1)] = float(units.size(match[4], word.partition("=")[0]))
    return figures


def _check_phases(figures: Figures) -> int:
    """The number of phases that have a speed."""
    count = max(figures.speeds, default=0)
    if not count or sorted(figures.speeds) != list(range(1, count + 1)):
        raise user_error("the phases need speeds: speed1, speed2 and so on", HINT)
    missing = [number for number in range(1, count) if number not in figures.ends]
    if missing:
        raise user_error(f"phase {missing[0]} has no end", HINT)
    return count


def _curve_of(borders: list[float], speeds: Mapping[int, float]) -> Curve:
    edges = np.unique(np.concatenate([np.linspace(0, borders[-1], BINS + 1), borders]))
    middle = (edges[1:] + edges[:-1]) / 2
    phase = np.searchsorted(np.array(borders[1:-1]), middle)
    return Curve(edges, np.diff(edges) / np.array([speeds[number + 1] for number in phase]))


def stated_cache_bytes(text: str) -> float | None:
    """The stated end of the first phase, in bytes; None if there is none."""
    match = re.search(r"\b(?:cache|end1)=(\S+?)(?:,|\s|$)", text)
    return float(units.size(match[1], "cache")) if match else None


def _last_speed(figures: Figures, drive: Drive) -> tuple[float, str]:
    """Bytes/s behind the last phase that has a speed, and where it comes from."""
    last, capacity = len(figures.speeds), drive.capacity_bytes
    if figures.mean is None:
        native = drive.native_bytes_per_s
        rate = native or typical_native_rate(capacity, drive.bits_per_cell)
        speed = min(rate, MAX_NATIVE_SPEED_RATIO * figures.speeds[last])
        of = "as its parts have it" if native else "as of typical dies"
        return speed, f"no speed after phase {last} was given; assuming {words.speed(speed)}, {of}"
    seconds = capacity / figures.mean - figures.seconds(capacity)
    if seconds <= 0:
        raise user_error(f"a mean of {words.speed(figures.mean)} is more than the phases allow", HINT)
    speed = (capacity - figures.ends[last]) / seconds
    return speed, f"the speed after phase {last} is {words.speed(speed)}, from the mean"


def _contradiction(figures: Figures, mean: float, capacity: int) -> list[str]:
    of_phases = capacity / figures.seconds(float(capacity))
    if abs(of_phases / mean - 1) <= MEAN_TOLERANCE:
        return []
    return [
        f"the mean of the phases is {words.speed(of_phases)}, but the published mean is {words.speed(mean)}; "
        "using the phases"
    ]


def _rate(text: str, word: str) -> float:
    if not text.endswith("/s"):
        raise user_error(f'"{word}" is not a speed', "for example speed1=4000MB/s")
    return float(units.size(text.removesuffix("/s"), word.partition("=")[0]))
