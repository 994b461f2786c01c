"""How long must the drive be left alone before its cache is fast again, and how fast does it empty?

PC Perspective's and Tom's Hardware's idle rounds, made adaptive. Half of the drive is written and left to settle, and
from then on only overwritten, so that it stays equally full. Then, again and again: the cache is filled nearly to its
end, the drive is left alone, and what can be written fast then, beyond what could be without a pause, is what the
pause gave back. First pauses from 30 min down to the first that gives nothing, each a third of the last; then some
near the threshold and some along the slope.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from pslc import words
from pslc.figures import curves
from pslc.figures.picture import Line, Picture, Table
from pslc.findings.measure import Cache, cache, curve, idle
from pslc.recording import Recording
from pslc.suites import Steps
from pslc.targets.region import MIB, Region

QUICK = "pauses end at 5 min, with fewer of them near the threshold and along the slope"

LONGEST_S = 1800.0
QUICK_LONGEST_S = 300.0
SHORTEST_S = 0.01
"""A pause that gives nothing back: what is fast then is what was left of the cache, and the write buffer."""
SETTLE_S = 1800.0
QUICK_SETTLE_S = 300.0
"""For which the drive is left alone until a pause has told that less is enough."""
FILL = 0.95
"""Share of the cache that is filled before a pause: beyond its end the drive would move data while it is written to."""
LITTLE = 0.02
"""Share of the cache that is as good as nothing."""
GRAIN = 0.003
"""Share of the cache to which a border is known: it lies between two bins."""
ALL = 0.97
"""Share of the most that came back that is as good as all of it."""
ALONG = (0.15, 0.3, 0.45, 0.6, 0.75)
"""Shares of the cache to be regained by the pauses that tell the rate."""


@dataclass
class _Point:
    """What a pause gave back; `cut`: it was fast to the end of the write, so it may have been more."""

    idle_s: float
    bytes: float
    cut: bool


class _Rounds:
    """Fill, pause, write: each write begins where the last one ended, round the part of the drive that is used."""

    def __init__(self, region: Region, size: int, found: Cache) -> None:
        self.region, self.size, self.found, self.at = region, size, found, 0
        self.settle = _settle(region)
        self.points: list[_Point] = []

    def write(self, name: str, count: float, pause: float, at: float | None = None) -> str:
        """A write of `count` bytes from where the last one ended, or from `at`."""
        self.at = self.at if at is None else int(at) // MIB * MIB % self.size
        left = min(max(int(count) // MIB * MIB, MIB), self.size)
        first = min(left, self.size - self.at)
        text = self.region.write(name, first, offset=self.at, pause=pause)
        if left > first:
            text += self.region.write(f"{name}-on", left - first)
        self.at = (self.at + left) % self.size
        return text

    def round(self, pause: float, expected: float) -> Generator[str, Recording | None, _Point]:
        """What `pause` gives back, of which so much is expected."""
        yield self.write("fill-cache", FILL * self.found.bytes, self.settle)
        count = min(1.5 * expected + 0.15 * self.found.bytes, 1.1 * self.found.bytes) + 4 * MIB
        part = yield self.write(f"after-{_word(pause)}", count, pause)
        self.points.append(_point(part, self.found) if part else _expected(pause, self.found))
        return self.points[-1]

    def gave(self, point: _Point) -> bool:
        """Whether something came back."""
        return point.bytes - self.points[0].bytes > LITTLE * self.found.bytes


def steps(region: Region) -> Steps:
    """Settle, find the cache when it is empty and when it holds what the drive leaves in it, then the rounds."""
    half, settle = region.share(0.5), _settle(region)
    # Written again at once, past the full cache, so that whatever it held is dead and it is empty after a pause.
    yield region.write("write-half", half) + region.write("write-again", half)
    part = yield region.write("find-empty", half, pause=settle)
    empty = cache(curve(part)) if part else _nominal(region)
    if empty is None:
        return
    rounds = _Rounds(region, half, empty)
    # Full, left to settle, and not written over what may still be in it.
    yield rounds.write("fill-first", empty.bytes, settle, at=empty.bytes)
    part = yield rounds.write("find-cache", 1.3 * empty.bytes + 4 * MIB, settle)
    found = _level(part, empty) if part else empty
    if found is None:
        return
    rounds.found = found
    longest = pause = QUICK_LONGEST_S if region.quick else LONGEST_S
    factor = 10.0 if region.quick else 10**0.5
    expected = most = found.bytes
    gained = longest
    for _ in range(2):
        yield from rounds.round(SHORTEST_S, 0.0)
    while True:
        point = yield from rounds.round(pause, expected)
        most = point.bytes if pause == longest else most
        if not rounds.gave(point) or pause < SHORTEST_S * factor:
            lost = pause
            break
        if point.bytes > ALL * most:
            rounds.settle = min(2 * pause, rounds.settle)
        gained, expected, pause = pause, point.bytes, pause / factor
    if lost == longest:
        return
    for _ in range(2 if region.quick else 5):
        pause = float(np.sqrt(lost * gained))
        point = yield from rounds.round(pause, 0.0)
        lost, gained = (lost, pause) if rounds.gave(point) else (pause, gained)
    slope = [
        p.bytes / (p.idle_s - lost) for p in rounds.points if rounds.gave(p) and p.bytes < ALL * most and not p.cut
    ]
    rate = float(np.median(slope)) if slope else most / gained
    for share in ALONG[1::2] if region.quick else ALONG:
        pause = gained + share * most / rate
        if pause < longest:
            yield from rounds.round(pause, share * most)


def _settle(region: Region) -> float:
    """Waiting costs a simulated drive nothing, and one that has not settled gives back what it still owed."""
    return QUICK_SETTLE_S if region.quick and region.target.is_real else SETTLE_S


def _level(part: Recording, empty: Cache) -> Cache | None:
    """The cache of a drive that has settled: what is written as fast as when it was empty."""
    of = curve(part)
    count = empty.fast_bytes(of) if of else 0.0
    return replace(empty, bytes=count, low=count, high=count) if count > LITTLE * empty.bytes else None


def _nominal(region: Region) -> Cache:
    size = region.size / 10
    return Cache(size, size, size, 2e9, 5e8)


def _expected(pause: float, found: Cache) -> _Point:
    return _Point(pause, min(1e9 * max(pause - 1.0, 0.0), found.bytes), cut=False)


def _word(pause: float) -> str:
    return f"{pause * 1000:.3g}ms" if pause < 1 else f"{pause:.4g}s"


def _point(part: Recording, found: Cache) -> _Point:
    of = curve(part)
    fast = found.fast_bytes(of) if of else 0.0
    return _Point(idle(part.jobs[0]), fast, of is None or fast > 0.98 * of.total_bytes)


def findings(recording: Recording) -> dict[str, Any]:
    """What the pauses gave back.

    - `cache_bytes`, `cache_bytes_low`, `cache_bytes_high`: on the half-full drive; null when it has no cliff
    - `recovery`: `idle_s`, `regained_bytes` of each pause, in order of length
    - `idle_threshold_s`, `_low`, `_high`: the pause from which on something comes back
    - `migration_bytes_per_s`, `_low`, `_high`: how fast it comes back beyond the threshold
    - `residue_bytes`, `_low`, `_high`: what no pause gives back
    """
    names = ("idle_threshold_s", "migration_bytes_per_s", "residue_bytes")
    found: dict[str, Any] = {"cache_bytes": None, "cache_bytes_low": None, "cache_bytes_high": None, "recovery": []}
    found |= {f"{name}{end}": None for name in names for end in ("", "_low", "_high")} | {"doubts": []}
    parts = [part for part in recording.parts if part.jobs]
    first, second = (
        next((part for part in parts if part.jobs[0]["name"] == name), None) for name in ("find-empty", "find-cache")
    )
    empty = cache(curve(first)) if first else None
    level = _level(second, empty) if second and empty else None
    if empty is None or level is None:
        found["doubts"] = ["there is no cliff on the half-full drive, so there is no cache to recover"]
        return found
    found |= {"cache_bytes": empty.bytes, "cache_bytes_low": empty.low, "cache_bytes_high": empty.high}
    points = [_point(part, level) for part in parts if part.jobs[0]["name"].startswith("after-")]
    bases = [point.bytes for point in points if point.idle_s <= SHORTEST_S]
    base = float(np.mean(bases)) if bases else 0.0
    noise = max(bases, default=0.0) - base
    points = [_Point(p.idle_s, max(p.bytes - base, 0.0), p.cut) for p in points if p.idle_s > SHORTEST_S]
    points.sort(key=lambda point: point.idle_s)
    found["recovery"] = [{"idle_s": p.idle_s, "regained_bytes": round(p.bytes)} for p in points]
    some = [point for point in points if point.bytes > LITTLE * level.bytes]
    if not some:
        found["doubts"] = ["no pause gave anything back: this drive does not empty its cache when it is left alone"]
        return found
    lost = max((p.idle_s for p in points if p.idle_s < some[0].idle_s), default=SHORTEST_S)
    found |= {"idle_threshold_s": float(np.sqrt(lost * some[0].idle_s))}
    found |= {"idle_threshold_s_low": lost, "idle_threshold_s_high": some[0].idle_s}
    most = max(point.bytes for point in points)
    slope = [p for p in some if not p.cut and p.bytes < 0.9 * most]
    rates = [(b.bytes - a.bytes) / (b.idle_s - a.idle_s) for a, b in combinations(slope, 2)
             if b.bytes - a.bytes > 0.05 * most]  # fmt: skip
    if rates:
        rate = float(np.median(rates))
        found |= {"migration_bytes_per_s": rate}
        found |= {"migration_bytes_per_s_low": min(rates), "migration_bytes_per_s_high": max(rates)}
        # Near the threshold, where an error of the rate does not matter.
        starts = [p.idle_s - p.bytes / rate for p in slope if p.bytes < 0.2 * most]
        start = float(np.median(starts)) if starts else found["idle_threshold_s"]
        start = min(max(start, SHORTEST_S), some[0].idle_s)
        off = max(noise, GRAIN * level.bytes) / rate
        low, high = min(starts, default=lost) - off, max(starts, default=some[0].idle_s) + off
        found |= {"idle_threshold_s": start, "idle_threshold_s_low": min(max(low, 0.0), start)}
        found |= {"idle_threshold_s_high": max(min(high, some[0].idle_s), start)}
    elif len(some) > 1:
        found["doubts"] = ["the cache came back at once or not at all: the rate is faster than pauses can tell"]
    if most < ALL * ALL * level.bytes - base and most > 1.2 * (points[-2].bytes if len(points) > 1 else 0.0):
        longest = f"even {words.span(points[-1].idle_s)} brought back only {words.size(most)}"
        found["doubts"].append(f"{longest}, so the cache was never empty: rates and what is left are unknown")
        return found
    whole = [point.bytes for point in points if point.bytes > ALL * most]
    if len(whole) > 1 or most > ALL * level.bytes:
        # What could be written fast without a pause is no residue.
        left = empty.bytes - base - most
        found |= {"residue_bytes": max(left, 0.0), "residue_bytes_low": max(left - (empty.bytes - empty.low), 0.0)}
        found |= {"residue_bytes_high": max(empty.high - base - min(whole), 0.0)}
    return found


def sentences(findings: dict[str, Any]) -> list[str]:
    """Threshold, rate, residue."""
    if findings["cache_bytes"] is None or findings["idle_threshold_s"] is None:
        return [] if findings["cache_bytes"] is None else ["Leaving the drive alone does not bring its cache back."]
    low, high = (words.span(findings[f"idle_threshold_s_{end}"]) for end in ("low", "high"))
    said = [f"The cache comes back after {words.span(findings['idle_threshold_s'])} of silence ({low} to {high})."]
    rate = findings["migration_bytes_per_s"]
    if rate is not None:
        low, high = (words.speed(findings[f"migration_bytes_per_s_{end}"]) for end in ("low", "high"))
        whole = findings["idle_threshold_s"] + findings["cache_bytes"] / rate
        said.append(
            f"From then on {words.speed(rate)} come back ({low} to {high}); all of it takes {words.span(whole)}."
        )
    if findings["residue_bytes"] is not None:
        share = findings["residue_bytes"] / findings["cache_bytes"]
        whole = words.size(findings["cache_bytes"])
        left = f"{words.size(findings['residue_bytes'])} of {whole} are never given back."
        said.append(f"All of the {whole} come back." if share < 0.01 else left)
    return said


def tables(findings: dict[str, Any]) -> list[Table]:
    """Each pause."""
    rows = [[words.span(row["idle_s"]), words.size(row["regained_bytes"])] for row in findings["recovery"]]
    return [Table("Pauses", ("left alone for", "fast again"), rows)] if rows else []


def pictures(recording: Recording) -> list[Picture]:
    """Cache regained against the pause."""
    rows = [row for row in recording.findings["recovery"] if row["idle_s"] > 0]
    line = Line("regained", [r["idle_s"] for r in rows], [r["regained_bytes"] / 1e9 for r in rows], "points")
    title = "Cache that comes back"
    found = [Picture("recovery", title, "seconds left alone", "GB fast again", [line] if rows else [], log_x=True)]
    return found + curves.of_any(recording)
