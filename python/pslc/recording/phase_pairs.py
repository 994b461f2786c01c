"""Phases of several recordings in pairs: like beside like, in order.

first   pslc ----------- fold          phase 1, phase 2, fold
other   pslc -- direct -- fold         phase 1, extra phase, direct; phase 2, fold
"""

from collections.abc import Sequence
from functools import cache

from pslc.analysis.verdict import CLASSES
from pslc.recording.metrics import Name, phase_metrics


def phase_names(causes_by_recording: Sequence[Sequence[str]]) -> list[list[Name]]:
    """Names of the phases of each recording, from their causes. Phases that are paired share the name of the first
    recording's phase; one without a partner there is an extra phase. Names tell causes where recordings differ."""
    first = causes_by_recording[0]
    names = phase_metrics(len(first))
    partners = [_partners(tuple(first), tuple(causes)) for causes in causes_by_recording]
    pairs = list(zip(causes_by_recording, partners, strict=True))
    if any(list(causes) != list(first) for causes in causes_by_recording):
        by_phase = [
            dict.fromkeys(causes[at] for causes, of in pairs for at in of if of[at] == n) for n in range(len(first))
        ]
        names = [Name(name.key, f"{name.label}, {'/'.join(own)}") for name, own in zip(names, by_phase, strict=True)]
    return [
        [
            names[of[at]] if at in of else _extra([cause for n, cause in enumerate(causes[: at + 1]) if n not in of])
            for at in range(len(causes))
        ]
        for causes, of in pairs
    ]


def _extra(causes: Sequence[str]) -> Name:
    """Name of the last phase without a partner of some, by its cause: `phase direct`, `phase direct 2`."""
    count = causes.count(causes[-1])
    called = f"{causes[-1]} {count}" if count > 1 else causes[-1]
    return Name(f"phase {called}", f"speed of extra phase, {called}")


def _partners(first: tuple[str, ...], other: tuple[str, ...]) -> dict[int, int]:
    """Place in `first` of the partner of each phase of `other`: in order, as many of one cause as possible, then as
    many of one side of a cache's end."""

    @cache
    def best(at: int, number: int) -> tuple[int, tuple[tuple[int, int], ...]]:
        if at == len(other) or number == len(first):
            return 0, ()
        options = [best(at, number + 1), best(at + 1, number)]
        if likeness := _likeness(first[number], other[at]):
            total, pairs = best(at + 1, number + 1)
            options.insert(0, (total + likeness, ((at, number), *pairs)))
        return max(options, key=lambda option: option[0])

    return dict(best(0, 0)[1])


def _likeness(left: str, right: str) -> int:
    """Likeness of two causes: the same outweighs any number that are of one side of a cache's end, or unknown."""
    if left == right:
        return 100
    return int("unknown" in (left, right) or CLASSES.get(left, left) == CLASSES.get(right, right))
