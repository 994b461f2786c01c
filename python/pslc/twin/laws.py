"""The laws of docs/model.md backwards: from the phases of a write over an empty drive to where a fit may start.

With n bits per cell, cache S, raw space Raw, rates Rs and Rx, fold overhead k and the host's share h of die time:

    the direct phase ends at S + Raw - nS - reserve    ->  spare
    folding for space       R = Rx / (1 + k/(n-1))     ->  k, where Rx was seen
    folding beside the host R = h Rx, and lasts until S is folded: S h k / (1-h) bytes   ->  h, k
    recycling               1/R = 1/Rs + k/Rx          ->  k/Rx
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np

from pslc.analysis import Curve, Phase
from pslc.twin.model import PARAMETERS, RESERVE, SUPERBLOCKS, Firmware

FULL = 0.93
"""A first phase at this share of what the link carries is bounded by the link, and tells no rate of the cells."""
BEYOND = 1.3
"""Then the cells are assumed to be so much faster than it."""
USUAL_SPARE = 0.07
TOOTH = 1.3
"""Times faster than the one before that a phase is where the cache is used again."""
BUFFERED = 0.004
"""Of the capacity: a first phase that is shorter may be a buffer's."""
OVERHEADS = (1.0, 1.6, 3.0)
SHARES = (0.3, 0.5, 0.75)
WAITS = (1.0, 1.08)
"""Times what gets through that the host's share is: its programs wait for those that fold, too."""


@dataclass(frozen=True)
class Steps:
    """A write over an empty drive as the laws see it.

    Attributes:
        cache: bytes at full speed; None where there is no cliff.
        fast: bytes/s in it.
        slow: what came after it: bytes/s and the bytes at which it began and ended.
        link: bytes/s that the link and the host let through.
        capacity: bytes.
        whole: it went to the end of the drive.
    """

    cache: float | None
    fast: float
    slow: tuple[tuple[float, float, float], ...]
    link: float
    capacity: float
    whole: bool
    turns: bool = False
    """Its bins are fast and slow in turns that are too short to be phases."""

    @property
    def teeth(self) -> bool:
        """It was fast, slow, and fast again, more than once."""
        speeds = [speed for speed, _, _ in self.slow]
        rises = [after > TOOTH * before for before, after in pairwise(speeds)]
        return self.turns or sum(rises) > 1 or (any(rises) and not rises[-1])

    @property
    def bound(self) -> bool:
        """The first phase is as fast as the link, so that the cells are faster by an unknown factor."""
        return self.fast >= FULL * self.link

    @property
    def level(self) -> bool:
        """It was as fast as the link from end to end: nothing is told of the cells."""
        return self.cache is None and self.bound and all(speed >= FULL * self.link for speed, _, _ in self.slow)


def steps(phases: Sequence[Phase], cache: float | None, link: float, capacity: float) -> Steps:
    """The phases of a write over an empty drive; `cache` is where the analysis sees its end."""
    start = phases[0].from_bytes
    inside = [p for p in phases if cache is not None and p.to_bytes - start <= 1.001 * cache]
    after = [p for p in phases if p not in inside]
    if inside:
        seconds = sum((p.to_bytes - p.from_bytes) / p.bytes_per_s for p in inside)
        fast = (inside[-1].to_bytes - inside[0].from_bytes) / seconds
    else:
        fast = max(p.bytes_per_s for p in phases)
    slow = tuple((p.bytes_per_s, p.from_bytes - start, p.to_bytes - start) for p in after)
    whole = phases[-1].to_bytes - start > 0.97 * capacity
    return Steps(cache if inside else None, fast, slow, link, capacity, whole)


def past_the_buffer(phases: Sequence[Phase], cache: float | None, capacity: float) -> float | None:
    """Where the cache ends that was seen to end after `cache` bytes: so little of the capacity is what the drive's
    memory took in, and then it ends with the next phase, if that is faster than the rest."""
    if cache is None or cache >= BUFFERED * capacity or len(phases) < 3:
        return cache
    first, then, rest = phases[:3]
    return then.to_bytes - first.from_bytes if then.bytes_per_s > TOOTH * rest.bytes_per_s else cache


def split(curve: Curve, at_bytes: float) -> list[Phase]:
    """Two phases, before and after."""
    start, end = float(curve.edges_bytes[0]), float(curve.edges_bytes[-1])
    times = np.r_[0.0, np.cumsum(curve.seconds)]
    found = []
    for first, last in pairwise((start, start + at_bytes, end)):
        since, until = np.interp([first, last], curve.edges_bytes, times)
        found.append(Phase(first, last, float((last - first) / (until - since)), first, first, 0.0, 0.0))
    return found


def starts(seen: Steps, firmware: Firmware) -> Iterator[dict[str, float]]:
    """Where a fit of this firmware may start, each a set of values; see `PARAMETERS`."""
    base = {name: PARAMETERS[name].prior for name in PARAMETERS}
    if firmware.mode == "pure-xlc":
        rate = seen.fast if not seen.bound else BEYOND * seen.link
        yield base | {"native_rate": rate}
        return
    n = firmware.bits_per_cell
    if seen.cache is None and seen.bound:
        yield from (base | values for values in _hidden(seen, firmware))
        return
    base["slc_rate"] = seen.fast
    if seen.bound:
        # As fast as the link by chance, or faster by an unknown factor; from beyond it no slope leads back.
        beyond = replace(seen, fast=max(BEYOND * seen.link, seen.fast), link=np.inf)
        yield from starts(beyond, firmware)
    size = seen.cache / seen.capacity if seen.cache else 0.3
    base |= {"dynamic": size, "static": size}
    if firmware.mode == "hybrid-slc":
        base |= {"dynamic": 0.7 * size, "static": 0.3 * size}
    if firmware.mode == "static-slc":
        base["spare"] = 0.05
    if not seen.slow:
        for ratio in (0.15, 0.35):
            yield base | {"native_rate": ratio * seen.fast}
        return
    for rates in _rates(seen, firmware, n):
        yield base | rates
        if firmware.when_full != "fold" and len(seen.slow) > 1:
            yield base | rates | {"spare": 0.25}


def _hidden(seen: Steps, firmware: Firmware) -> Iterator[dict[str, float]]:
    """A cache behind a link that cells of both modes are faster than: its end is not seen, only that of the space."""
    n = firmware.bits_per_cell
    slower = [(since, speed) for speed, since, _ in seen.slow if speed < FULL * seen.link]
    end, last = slower[0] if slower else (seen.capacity, 0.0)
    size = min(max((1 + USUAL_SPARE - end / seen.capacity) / (n - 1), 0.01), 0.9 / n)
    for faster in (1.0, BEYOND, 3.0):
        direct = faster * seen.link
        rates = {"dynamic": size, "static": size, "slc_rate": 3 * direct, "native_rate": direct}
        if last:
            rates["overhead"] = _overhead(direct, last, n)
        if firmware.when_full == "direct-while-folding":
            # What it folds on the way is space again: the cache may be larger.
            for share, times in product(SHARES, (1.0, 2.5)):
                larger = min(times * size, 0.9 / n)
                yield rates | {"share": share, "native_rate": direct / share, "dynamic": larger, "static": larger}
        else:
            yield rates


def _rates(seen: Steps, firmware: Firmware, n: int) -> Iterator[dict[str, float]]:
    speeds = [speed for speed, _, _ in seen.slow]
    first, last = seen.slow[0], seen.slow[-1]
    slc, size = seen.fast, seen.cache or 0.0
    if firmware.when_full == "fold":
        if seen.teeth and size:
            for batch in (0.05, 0.15, 0.4, 0.9):
                for speed in dict.fromkeys((first[0], last[0])):
                    yield {"native_rate": 1.5 * speed, "overhead": 1.5, "batch": batch}
        # Only k/Rx is told.
        for speed in dict.fromkeys((first[0], last[0])):
            for least in (0.03, 0.97):
                rate = 1.5 / max(1 / speed - 1 / (BEYOND * slc), 0.02 / speed)
                yield {"native_rate": rate, "overhead": 1.5, "least": least}
        return
    spare = _spare(seen, n)
    if firmware.when_full == "direct-then-fold":
        yield {"native_rate": first[0], "overhead": _overhead(first[0], last[0], n), "spare": spare}
        held = _held(seen, n)
        if held > 0:
            # It folds with space to spare.
            yield {"native_rate": first[0], "overhead": _overhead(first[0], last[0], n), "spare": USUAL_SPARE,
                   "watermark": held}  # fmt: skip
        if len(speeds) > 1:
            yield {"native_rate": max(speeds), "overhead": _overhead(max(speeds), min(speeds), n), "spare": spare}
        for k in OVERHEADS[::2]:
            yield {"native_rate": first[0] * (1 + k / (n - 1)), "overhead": k, "spare": 0.03}
        return
    length = first[2] - first[1]
    if seen.teeth and size:
        # The first tooth is the cache folded once.
        for share in SHARES:
            k = min(max(length * (1 - share) / (size * share), 0.4), 15.0)
            for least in (0.97, 0.5):
                # Later teeth are shorter where the cache shrinks.
                yield {"native_rate": first[0] / share, "share": share, "overhead": k, "spare": 0.07, "least": least}
        return
    # The host's share of the dies, and what the folding beside it costs.
    for rate in dict.fromkeys(speed for speed in (max(speeds), last[0]) if speed > 1.1 * first[0]):
        for waits in WAITS:
            share = min(max(waits * first[0] / rate, 0.05), 0.95)
            k = min(max(length * (1 - share) / (size * share), 1.0), 15.0) if size else 1.5
            # What ended may have been the folding, or the space.
            for free in (spare, USUAL_SPARE):
                yield {"native_rate": rate, "share": share, "overhead": k, "spare": free}
    for k, share in product(OVERHEADS, SHARES):
        yield {"native_rate": first[0] / _through(firmware, share, k), "share": share, "overhead": k, "spare": 0.07}


def shared(values: Mapping[str, float], firmware: Firmware, share: float) -> list[dict[str, float]]:
    """Other shares of die time for the host, with which it writes as fast beside folding, for as long; where what is
    freed is written to at once, with a few overheads, as the end of such a phase is that of the space."""
    was, overhead = values["share"], values["overhead"]
    through = values["native_rate"] * _through(firmware, was, overhead)
    as_long = overhead * (was / (1 - was) * (1 - share) / share)
    return [
        {"share": share, "native_rate": through / _through(firmware, share, k), "overhead": k}
        for k in (OVERHEADS if firmware.reuse == "as-freed" else (as_long,))
    ]


def _through(firmware: Firmware, share: float, overhead: float) -> float:
    """What the host writes beside folding, of what dies program. What is freed may take its data again, at once where
    it is reused so: each such byte is folded once."""
    return share + (1 - share) / overhead if firmware.reuse == "as-freed" else share


def _spare(seen: Steps, n: int) -> float:
    """From the end of the direct phase: S + Raw - nS - reserve."""
    if len(seen.slow) < 2 or seen.cache is None:
        return 0.07
    end = seen.slow[0][2]
    raw = end + (n - 1) * seen.cache + seen.capacity * RESERVE / SUPERBLOCKS
    return min(max(raw / seen.capacity - 1, 0.015), 1.0)


def _held(seen: Steps, n: int) -> float:
    """Space that is left when folding begins, of the capacity, if the drive has the usual spare space."""
    if len(seen.slow) < 2 or seen.cache is None:
        return 0.0
    raw = seen.slow[0][2] + (n - 1) * seen.cache
    return min(1 + USUAL_SPARE - raw / seen.capacity, 0.59)


def _overhead(direct: float, folding: float, n: int) -> float:
    return min(max((direct / folding - 1) * (n - 1), 0.4), 15.0)
