"""Phases of several recordings in pairs: like beside like, in order.

first   pslc ----------- fold          phase 1, phase 2, fold
other   pslc -- direct -- fold         phase 1, extra phase, direct; phase 2, fold
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache

from pslc.analysis.verdict import CLASSES
from pslc.recording.metrics import Name, phase_metrics


def phase_names(causes_by_recording: Sequence[Sequence[str]]) -> list[list[Name]]:
    """Names of the phases of each recording, from their causes. Phases that are paired share the name of the first
    recording's phase; one without a partner there is an extra phase. Names tell causes where recordings differ."""
    first, *rest = causes_by_recording
    if all(list(causes) == list(first) for causes in rest):
        return [phase_metrics(len(first)) for _ in causes_by_recording]
    partners = [_partners(tuple(first), tuple(causes)) for causes in causes_by_recording]
    causes_by_number: list[dict[str, None]] = [{cause: None} for cause in first]
    for causes, numbers in zip(causes_by_recording, partners, strict=True):
        for at, number in numbers.items():
            causes_by_number[number][causes[at]] = None
    paired = [
        Name(name.key, f"{name.label}, {'/'.join(own)}")
        for name, own in zip(phase_metrics(len(first)), causes_by_number, strict=True)
    ]
    return [
        _with_extras(causes, {at: paired[number] for at, number in numbers.items()})
        for causes, numbers in zip(causes_by_recording, partners, strict=True)
    ]


def _with_extras(causes: Sequence[str], paired: dict[int, Name]) -> list[Name]:
    """The names of paired phases by their place, and of the others by cause: `phase direct`, `phase direct 2`."""
    extras = Counter[str]()
    names = []
    for at, cause in enumerate(causes):
        if at not in paired:
            extras[cause] += 1
            called = f"{cause} {extras[cause]}" if extras[cause] > 1 else cause
            names.append(Name(f"phase {called}", f"speed of extra phase, {called}"))
        else:
            names.append(paired[at])
    return names


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
