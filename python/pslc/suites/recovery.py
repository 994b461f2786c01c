"""How long must the drive be idle before its cache is fast again, and how fast does it empty?

Half of the drive is written and the drive rests; from then on it is only overwritten. Each round fills the cache
nearly to its end and leaves the drive idle. The recovered cache is what can then be written fast, beyond what would
fit without a pause. The first pauses bracket the threshold, later ones lie along the slope between nothing and all.
"""

from collections.abc import Generator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from typing_extensions import TypedDict, Unpack

from pslc.analysis.recovery import Pause, RecoveryEstimate, estimate_recovery, next_pause
from pslc.base import words
from pslc.device.region import MIB, Options, Region
from pslc.figures import curves
from pslc.figures.picture import Axis, Line, Panel, Picture, Table
from pslc.recording import warnings as checks
from pslc.recording.model import Recording, UsbTable
from pslc.recording.suite_helpers import NOT_TRIED, Cache, cache, curve, finished, idle, not_tried, was_tried
from pslc.recording.writes.evidence import max_fold_bytes_per_s
from pslc.schema.unknown import unknown
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import FitStart, StartValues, Steps

QUICK = "fewer and shorter pauses determine threshold and rate"
COMPUTER = "none"
ASKS_CACHE = True
HAS_RESTS = True

LONGEST_S = 1800.0
QUICK_LONGEST_S = 300.0
SHORTEST_S = 0.01
"""A pause that gives nothing back: what is fast then is what was left of the cache, and the write buffer."""
BASES, SPARING_BASES = 3, 1
"""Such pauses, so that one that was unlike the others does not matter."""
FILL = 0.95
"""Share of the cache that is filled before a pause: beyond its end the drive would move data while it is written to."""
LITTLE = 0.03
"""Share of the cache that is as good as nothing."""
GRAIN = 0.003
"""Share of the cache to which a border is known: it lies between two bins."""
LEFT = 0.02
"""Share of the cache of which it is said that it never comes back, where the interval tells of as much."""
ALL = 0.97
"""Share of the most that came back that is as good as all of it."""
CUT = 0.98
"""Share of a write that was fast, from which on its end was not seen."""
LONGER = 1.2
"""A silence that is to give back all of it is so many times as long as it should take."""
PAST = 0.15
"""Share of the cache that is written past what may have come back, so that its end is seen."""
SLOPE, QUICK_SLOPE, SPARING_SLOPE = 15, 11, 5
"""Pauses, each within the largest step that is left of what came back."""
NEAR, QUICK_NEAR = 3, 1
"""Pauses between the longest that gave nothing and the shortest that gave something."""
SLOW_RATE_RATIOS = (0.5, 0.2, 0.08)
"""Idle rate over the native rate from which a fit starts where the cache never seems to come back."""
UNSEEN_RESIDUES = (0.0, 0.1, 0.2)
"""Residues from which a fit starts where no pause was long enough to see one, as shares of the cache."""
MAX_RESIDUE_SHARE = 0.8
"""Largest residue from which a fit starts, as a share of the cache."""
RESTS = ("settle", "find-cache")
"""Steps that write as much as the cache holds after a rest, before any pause is tried."""
UNSHRUNK_SHARE = 0.95
"""Cache of the half-full drive over that of the empty one, from which on it does not shrink."""


TRIMS_DROPPED = MeasurementWarning(
    NOT_TRIED, "trims do not reach the drive, so it was full and not half full: connect it without its bridge"
)


class _Rounds:
    """Fill, pause, write: each write begins where the last one ended, round the part of the drive that is used."""

    def __init__(self, region: Region, size: int, cache: Cache) -> None:
        self.region, self.size, self.cache, self.at = region, size, cache, 0
        self.settle = self.longest = QUICK_LONGEST_S if region.quick else LONGEST_S
        self.pauses: list[Pause] = []

    def write(self, name: str, count: float, pause: float, at: float | None = None, **options: Unpack[Options]) -> str:
        """A write of `count` bytes from where the last one ended, or from `at`."""
        self.at = self.at if at is None else int(at) // MIB * MIB % self.size
        left = min(max(int(count) // MIB * MIB, MIB), self.size)
        first = min(left, self.size - self.at)
        text = self.region.write(name, first, offset=self.at, pause=pause, **options)
        if left > first:
            text += self.region.write(f"{name}-on", left - first, **options)
        self.at = (self.at + left) % self.size
        return text

    def level(self, name: str) -> Generator[str, Recording | None, float]:
        """Fill the cache past its end, let it settle, and see how much of it has come back; 0 if nothing has."""
        yield self.write(f"{name}-full", 0.1 * self.cache.bytes, 0.0)
        part = yield self.write(name, (1 + PAST) * self.cache.bytes + 4 * MIB, self.settle)
        of = curve(part) if part else None
        count = self.cache.fast_bytes(of) if of else self.cache.bytes
        if of and count > CUT * of.total_bytes:
            # A superblock begun past the cache was completed first, so that its end was not reached.
            count = self.cache.bytes
        if count > LITTLE * self.cache.bytes:
            self.filled = FILL * count
            return count
        return 0.0

    def round(self, pause: float) -> Generator[str, Recording | None, Pause]:
        """Round of `pause`: what is fast after it is at most what was after a longer one."""
        recovered_bytes = min((p.fast_bytes for p in self.pauses if p.idle_s >= pause and not p.cut), default=np.inf)
        if self.pauses and self.pauses[-1].cut:
            # The next round is to begin with a cache as full as any.
            yield self.write("fill-up", 0.2 * self.cache.bytes, 0.0)
        # A pause of any length begins with an empty write buffer, which takes as much after each.
        fill = yield self.write("fill-cache", self.filled, self.settle, end_fsync=1)
        # Not far past the end, where some drives fold what they would else have kept; further where it was not seen.
        base = 0.1 * self.filled * 2 ** sum(p.cut for p in self.pauses if p.idle_s == pause)
        left = recovered_bytes - self.filled if pause > SHORTEST_S else base
        count = min(max(left, 0.0), 1.1 * self.filled) + min(PAST * self.cache.bytes, 0.4 * self.filled) + 4 * MIB
        part = yield self.write(f"after-{_word(pause)}", count, pause)
        self.pauses.append(_pause(fill, part, self.cache) if fill and part else _expected(pause, self.cache))
        return self.pauses[-1]

    def estimate(self) -> RecoveryEstimate:
        """Estimate from the pauses so far."""
        return estimate_recovery(self.pauses, GRAIN * self.cache.bytes, LITTLE * self.cache.bytes)


def steps(region: Region) -> Steps:
    """Settle, find the cache when it is empty and when it holds what the drive leaves in it, then the rounds."""
    half = region.share(0.5)
    # Whatever the drive does: what is in the cache now is of the upper half, and dies with it.
    text = region.write("write-upper", half, offset=half) + region.write("write-half", half)
    yield text + region.write("again-upper", half, offset=half) + region.trim("empty", half, half)
    part = yield region.write("find-empty", half, pause=LONGEST_S)
    empty = cache(part) if part else _nominal(region)
    if empty is None:
        return
    rounds = _Rounds(region, half, empty)
    rounds.at = int(empty.bytes) // MIB * MIB % half
    first = yield from rounds.level(RESTS[0])
    if not first:
        return
    if first < FILL * empty.bytes:
        rounds.settle = LONGEST_S
    all_back = yield from rounds.level(RESTS[1])
    if not all_back:
        return
    # Left alone for too short a while, a drive begins some rounds with more of its cache than others.
    rounds.settle = rounds.longest
    if all_back > LONGER * first:
        rounds.settle = min(LONGEST_S, LONGER * all_back / first * rounds.longest)
    yield rounds.write("warm-up", rounds.filled, rounds.settle) + rounds.write("warm-up-full", 0.2 * rounds.filled, 0.0)
    yield from _try_pauses(rounds, _effort(region))


class _Effort(NamedTuple):
    """Numbers of pauses: on the slope of what comes back, near the threshold, and as short as can be."""

    slope: int
    near: int
    bases: int


def _effort(region: Region) -> _Effort:
    effort = _Effort(QUICK_SLOPE, QUICK_NEAR, BASES) if region.quick else _Effort(SLOPE, NEAR, BASES)
    return effort._replace(slope=SPARING_SLOPE, bases=SPARING_BASES) if region.sparing else effort


def _try_pauses(rounds: _Rounds, effort: _Effort) -> Steps:
    """The shortest pause and the longest; if that gives anything back, those between, where they tell most."""
    for _ in range(effort.bases):
        yield from rounds.round(SHORTEST_S)
    yield from rounds.round(rounds.longest)
    if rounds.estimate().shortest_with_s is None:
        return
    for _ in range(effort.slope):
        pause = next_pause(rounds.pauses)
        if pause is None:
            return
        yield from rounds.round(pause)
        if rounds.estimate().max_recovered_bytes > ALL * rounds.filled:
            rounds.settle = min(rounds.settle, max(2 * _whole(rounds), 1.0))
    for _ in range(effort.near):
        estimate = rounds.estimate()
        assert estimate.shortest_with_s is not None
        yield from rounds.round(0.5 * (estimate.longest_without_s + estimate.shortest_with_s))


def _whole(rounds: _Rounds) -> float:
    """The shortest pause that gave all."""
    top = max(pause.fast_bytes for pause in rounds.pauses)
    base = rounds.estimate().base_bytes
    return min(pause.idle_s for pause in rounds.pauses if pause.fast_bytes >= base + ALL * (top - base))


def _nominal(region: Region) -> Cache:
    size = region.size / 10
    return Cache(size, size, size, 2e9, 5e8, 5e8)


def _expected(pause: float, estimate: Cache) -> Pause:
    return Pause(pause, min(1e9 * max(pause - 1.0, 0.0), estimate.bytes))


def _word(pause: float) -> str:
    return f"{pause * 1000:.3g}ms" if pause < 1 else f"{pause:.4g}s"


def _pause(fill: Recording, part: Recording, estimate: Cache) -> Pause:
    """Bytes that were fast before and after a pause: the drive may begin a fill with what was left of a native
    block."""
    before, of = curve(fill), curve(part)
    fast = estimate.fast_bytes(of) if of else 0.0
    filled = estimate.fast_bytes(before, from_start=False) if before else 0.0
    return Pause(idle(part.jobs[0]), filled + fast, of is None or fast > CUT * of.total_bytes)


class Regained(TypedDict):
    """Pause, and the bytes of cache that it gave back."""

    idle_s: float
    regained_bytes: int


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    cache_bytes: float | None
    cache_bytes_low: float | None
    cache_bytes_high: float | None
    filled_bytes: float | None
    recovery: list[Regained]
    idle_threshold_s: float | None
    idle_threshold_s_low: float | None
    idle_threshold_s_high: float | None
    migration_bytes_per_s: float | None
    migration_bytes_per_s_low: float | None
    migration_bytes_per_s_high: float | None
    residue_bytes: float | None
    residue_bytes_low: float | None
    residue_bytes_high: float | None
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Recovery of the cache in pauses.

    - `cache_bytes`, `cache_bytes_low`, `cache_bytes_high`: on the half-full drive; null when it has no cliff, because
      there is no cache or nothing came back of it, and where the run ended before (warning `not-tried`)
    - `filled_bytes`: how much of it was filled before each pause; null where no pause was tried
    - `recovery`: `idle_s`, `regained_bytes` of each pause, in order of length
    - `idle_threshold_s`, `_low`, `_high`: the pause from which on something comes back; null when none gave anything,
      and then `_low` is the longest that was tried, or null. Where `_low` is 0 only `_high` was measured
    - `migration_bytes_per_s`, `_low`, `_high`: how fast it comes back beyond the threshold; null when all of it came
      back at once, and then `_low` is what it is at least
    - `residue_bytes`, `_low`, `_high`: what no pause gives back; null when the longest pause was too short to tell
    """
    result = unknown(Findings)
    parts = [part for part in recording.parts if part.jobs]
    first = finished(recording, "find-empty")
    if first is None:
        result["warnings"] = [not_tried("the cache was found")]
        return result
    empty = cache(first)
    if empty is None:
        if _drops_trims(recording):
            result["warnings"] = [TRIMS_DROPPED]
        elif cache(parts[0]):
            result["idle_threshold_s_low"] = LONGEST_S
            result["warnings"] = [_nothing(recording, LONGEST_S)]
        return result
    result |= {"cache_bytes": empty.bytes, "cache_bytes_low": empty.low, "cache_bytes_high": empty.high}
    pauses = [_pause(fill, part, empty) for fill, part in pairwise(parts) if part.jobs[0]["name"].startswith("after-")]
    longest = QUICK_LONGEST_S if recording.scope.get("quick") else LONGEST_S
    if not pauses:
        if _gave_nothing_back(recording, empty):
            result["idle_threshold_s_low"] = longest
            result["warnings"] = [_nothing(recording, longest)]
        else:
            result["warnings"] = [not_tried("a pause")]
        return result
    grain = GRAIN * empty.bytes
    recovery = estimate_recovery(pauses, grain, LITTLE * empty.bytes)
    result["filled_bytes"] = min(part.written_bytes for part in parts if part.jobs[0]["name"] == "fill-cache")
    result["recovery"] = _regained(pauses, recovery.base_bytes)
    if recovery.threshold_s is None:
        result["idle_threshold_s_low"] = recovery.longest_without_s
        result["warnings"] = [_nothing(recording, recovery.longest_without_s)]
        return result
    result |= {
        "idle_threshold_s": recovery.threshold_s.value,
        "idle_threshold_s_low": recovery.threshold_s.low,
        "idle_threshold_s_high": recovery.threshold_s.high,
    }
    _rate(result, recovery, _most_bytes_per_s(recording, empty))
    _residue(result, recovery, parts, empty, grain, _longer(recording, longest))
    return result


def _drops_trims(recording: Recording) -> bool:
    """Whether trims end before the drive, so that it stays full of what was deleted."""
    device = recording.facts.get("device")
    if device:
        return device.get("discard_bytes") == 0
    return recording.profile_keys.get("usb", UsbTable()).get("discard") == "dropped"


def _gave_nothing_back(recording: Recording, empty: Cache) -> bool:
    """Whether a rest before the pauses gave nothing of the cache back, so that no pause was tried."""
    rests = [curve(part) for name in RESTS if (part := finished(recording, name))]
    return any(of is not None and empty.fast_bytes(of) <= LITTLE * empty.bytes for of in rests)


def _longer(recording: Recording, longest_s: float) -> str:
    """Next step to try a pause of more than `longest_s`."""
    hours = "pslc run fill --fill-first 50% --idle 8h tries 8 h"
    return hours if longest_s >= LONGEST_S else checks.longer(recording, hours)


def _nothing(recording: Recording, longest_s: float) -> MeasurementWarning:
    text = f"pauses of more than {words.span(longest_s)} were not tried"
    return MeasurementWarning("nothing-back", f"{text}: {_longer(recording, longest_s)}")


def _regained(pauses: list[Pause], base_bytes: float) -> list[Regained]:
    """Bytes that each pause gave back beyond `base_bytes`, which are fast without any, in order of length."""
    return [
        {"idle_s": pause.idle_s, "regained_bytes": round(max(pause.fast_bytes - base_bytes, 0.0))}
        for pause in sorted(pauses, key=lambda pause: pause.idle_s)
        if pause.idle_s > SHORTEST_S
    ]


def _most_bytes_per_s(recording: Recording, empty: Cache) -> float:
    """Bound of the rate at which a cache can be folded: native cells of a real drive take less than its cache does."""
    return max_fold_bytes_per_s(recording.facts) if recording.is_simulated else empty.fast


def _rate(result: Findings, recovery: RecoveryEstimate, most_bytes_per_s: float) -> None:
    """Rate at which the cache comes back beyond the threshold, or a warning and what that is at least. A step that no
    drive can make came back at once, at any time before: then only the longest threshold is known, and no rate."""
    if recovery.rate_bytes_per_s is None and (recovery.min_rate_bytes_per_s or 0.0) > most_bytes_per_s:
        assert recovery.threshold_s is not None
        result |= {"idle_threshold_s": 0.5 * recovery.threshold_s.high, "idle_threshold_s_low": 0.0}
        text = "the cache came back at once, faster than the drive writes: when that began is not known"
        result["warnings"] = [MeasurementWarning("rate-beyond-cells", f"{text}, only when it was done")]
    elif recovery.rate_bytes_per_s is not None:
        result |= {
            "migration_bytes_per_s": recovery.rate_bytes_per_s.value,
            "migration_bytes_per_s_low": recovery.rate_bytes_per_s.low,
            "migration_bytes_per_s_high": recovery.rate_bytes_per_s.high,
        }
    else:
        result["migration_bytes_per_s_low"] = recovery.min_rate_bytes_per_s
        result["warnings"] = [
            MeasurementWarning(
                "rate-unseen", "the cache came back at once or not at all: the rate is faster than pauses can tell"
            )
        ]


def _residue(
    result: Findings, recovery: RecoveryEstimate, parts: list[Recording], empty: Cache, grain: float, longer: str
) -> None:
    """Bytes missing of the empty cache after pauses that are long enough for all of it; `longer` tries such a one."""
    rate = recovery.rate_bytes_per_s.value if recovery.rate_bytes_per_s else recovery.min_rate_bytes_per_s
    assert recovery.threshold_s is not None
    enough = recovery.threshold_s.high + 1.3 * empty.bytes / rate if rate else np.inf
    after = [part for part in parts if part.jobs[0]["name"].startswith("after-")]
    after_curves = [(part, curve(part)) for part in after if idle(part.jobs[0]) >= enough]
    whole = [empty.fast_bytes(of) for _, of in after_curves if of is not None]
    if not whole:
        longest = words.span(max(idle(part.jobs[0]) for part in after))
        text = f"even {longest} are too short for all of the cache, so what is left is unknown: {longer}"
        result["warnings"].append(MeasurementWarning("short-pauses", text))
        return
    left = empty.bytes - float(np.mean(whole))
    # A superblock that was moved in part is not given back, or soon after.
    off = 2 * recovery.step_bytes + grain
    low, high = max(left - off, 0.0), max(left + off, 0.0)
    result |= {"residue_bytes": max(left, 0.0), "residue_bytes_low": low, "residue_bytes_high": high}


def fit_hints(findings: Mapping[str, Any], start: FitStart) -> list[StartValues]:
    """Starts for idle rate, residue and idle threshold, for the cache of the full drive, and for erase time."""
    values, residues = start.values, _residue_hints(findings, start)
    hints = [
        _rate_hints(findings, start),
        _cache_hints(findings, start),
        residues,
        _threshold_hints(findings),
        # What is overwritten was erased before, which the first write is not.
        [{"erase": ratio * values["erase"]} for ratio in (1.0, 2.5, 0.4)],
    ]
    if start.when_full == "fold":
        # Its first write says next to nothing of the spare space, and not in which way folding takes its time.
        for names in (("over_provisioning",), ("native_rate", "fold_overhead")):
            hints.append([{name: ratio * values[name] for name in names} for ratio in (1.0, 0.5, 2.0)])
    # The residue hides which of these it is.
    hints.append([dict(same) | residue for same in start.equivalent for residue in residues])
    return [hint for hint in hints if hint]


def _cache_hints(findings: Mapping[str, Any], start: FitStart) -> StartValues:
    """Starts for the cache of the full drive: on the half-full one it has shrunk half as far."""
    if not (findings.get("cache_bytes") and start.cache_bytes):
        return []
    half = findings["cache_bytes"] / start.cache_bytes
    dynamic_min = min(max(2 * half - 1, 0.0), 1.0) if half < UNSHRUNK_SHARE else 0.97
    return [{"dynamic_min": share} for share in dict.fromkeys((dynamic_min, 0.97, 0.3))]


def _threshold_hints(findings: Mapping[str, Any]) -> StartValues:
    if not findings.get("idle_threshold_s"):
        return []
    ends = [findings.get(f"idle_threshold_s{end}") for end in ("_low", "", "_high")]
    return [{"idle_threshold": float(end)} for end in ends if end]


def _rate_hints(findings: Mapping[str, Any], start: FitStart) -> StartValues:
    hints: StartValues = []
    if findings.get("migration_bytes_per_s"):
        hints.append({"idle_rate": findings["migration_bytes_per_s"]})
    elif findings.get("migration_bytes_per_s_low"):
        # Few pauses give a lower bound only.
        hints += [{"idle_rate": ratio * findings["migration_bytes_per_s_low"]} for ratio in (1.0, 1.5, 2.5)]
    # What never seems to come back may be slow to do so.
    return hints + [{"idle_rate": ratio * start.values["native_rate"], "residue": 0.0} for ratio in SLOW_RATE_RATIOS]


def _residue_hints(findings: Mapping[str, Any], start: FitStart) -> StartValues:
    if not (findings.get("residue_bytes") and start.cache_bytes):
        return [{"residue": share} for share in UNSEEN_RESIDUES]
    share = min(findings["residue_bytes"] / start.cache_bytes, MAX_RESIDUE_SHARE)
    return [{"residue": share}, {"residue": 0.6 * share}]


def sentences(findings: Findings) -> list[str]:
    """Idle threshold, recovery rate and residue, as sentences."""
    cache, threshold = findings["cache_bytes"], findings["idle_threshold_s"]
    rate, residue = findings["migration_bytes_per_s"], findings["residue_bytes"]
    low_s = findings["idle_threshold_s_low"] or 0.0
    if cache is None or threshold is None:
        return _without_threshold(findings)
    first = _frees(threshold, low_s, findings["idle_threshold_s_high"] or threshold)
    least_left = findings["residue_bytes_low"]
    stays = least_left is not None and least_left >= LEFT * cache
    low, high = findings["migration_bytes_per_s_low"], findings["migration_bytes_per_s_high"]
    if rate is not None and low is not None and high is not None:
        lines = [f"{first}, at {words.speed(rate)} ({words.speed(low)} to {words.speed(high)})."]
        whole = whole_s(findings)
        assert whole is not None
        lines.append(_all_free(whole, residue, stays))
    else:
        lines = [f"{first}, at {words.speed(low)} or more." if low is not None else f"{first}."]
    if residue is not None:
        left = f"{words.size(residue)} of {words.size(cache)} is never freed."
        lines.append(left if stays else f"Idle time frees the whole cache, {words.size(cache)} on the half-full drive.")
    return lines


def whole_s(findings: Findings) -> float | None:
    """Idle time after which all of the cache that can be freed is free, in seconds; None where no pause gave anything
    back."""
    cache, threshold, rate = (findings[name] for name in ("cache_bytes", "idle_threshold_s", "migration_bytes_per_s"))
    if cache is None or threshold is None:
        return None
    # Without a rate all of it came back at once.
    return (
        threshold + (cache - (findings["residue_bytes"] or 0.0)) / rate if rate else findings["idle_threshold_s_high"]
    )


def _without_threshold(findings: Findings) -> list[str]:
    """Findings where no pause gave anything back, or none was tried."""
    cache, low_s = findings["cache_bytes"], findings["idle_threshold_s_low"]
    if not was_tried(findings):
        return [f"The cache holds {words.size(cache)} on the half-full drive."] if cache else []
    if cache is None and not low_s:
        return ["No cliff, so there is no cache to recover."]
    return [f"The drive does not free its cache within {words.span(low_s or 0.0)} of idle time."]


def _frees(threshold_s: float, low_s: float, high_s: float) -> str:
    """The idle threshold as a sentence without its full stop; `low_s` is 0 where only a longest one was measured."""
    if not low_s:
        return f"The drive frees its cache after at most {words.span(high_s)} of idle time, perhaps at once"
    within = f"{words.span(low_s)} to {words.span(high_s)}"
    return f"The drive frees its cache after {words.span(threshold_s)} of idle time ({within})"


def _all_free(whole_s: float, residue: float | None, stays: bool) -> str:
    """The time after which all that can be freed is free; `stays`: a part of the cache cannot."""
    # A pause as long was not tried where nobody knows what is left then.
    is_free = "would be free" if residue is None and not stays else "is free"
    part = "The part that can be freed" if stays else "The whole cache"
    return f"{part} {is_free} after {words.span(whole_s)}."


def tables(findings: Findings) -> list[Table]:
    """Table of the pauses."""
    rows = [[words.span(row["idle_s"]), words.size(row["regained_bytes"])] for row in findings["recovery"]]
    if findings["filled_bytes"] is None:
        return []
    return [Table("Pauses", ("idle time", f"recovered (of {words.size(findings['filled_bytes'])})"), rows)]


def pictures(recording: Recording) -> list[Picture]:
    """Recovered cache against idle time, below what was filled before."""
    typed = recording.findings.typed(Findings)
    rows = [row for row in typed["recovery"] if row["idle_s"] > 0]
    line = Line("recovered", [r["idle_s"] for r in rows], [r["regained_bytes"] for r in rows], "points")
    lines = [line] if rows else []
    if rows and typed["filled_bytes"]:
        ends = [rows[0]["idle_s"], rows[-1]["idle_s"]]
        lines.append(Line("filled before the pause", ends, [typed["filled_bytes"]] * 2, "dotted"))
    panel = Panel(Axis("recovered cache", "B"), lines)
    drawn = [Picture("recovery", "Recovered cache by idle time", Axis("idle time", "s", log=10), (panel,))]
    return drawn + curves.of_any(recording)
