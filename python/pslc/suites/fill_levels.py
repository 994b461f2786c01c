"""How does the cache shrink as the drive fills? Its size at 0, 10 and up to 95 % full.

At each level the drive rests for ten minutes, or for three times as long as folding its cache takes. Then free space
is written until the cache ends, and trimmed again.
"""

import numpy as np
from typing_extensions import TypedDict

from pslc.analysis import Curve
from pslc.analysis import sentences as write_sentences
from pslc.base import words
from pslc.device.region import MIB, Region
from pslc.figures import curves
from pslc.figures.picture import Axis, Line, Panel, Picture, Table
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import BUFFER, Cache, cache, curve, jobs, not_tried, was_tried
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "0, 50 and 90 % full only"
COMPUTER = "none"
ASKS_CACHE = True
LEVELS = (0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95)
QUICK_LEVELS = (0, 50, 90)
REST_S, LONGEST_REST_S = 600.0, 3600.0
LARGEST = 0.6
"""Largest cache, as a share of the drive."""
NOMINAL = 0.2
HALF = 0.5
"""Share of the empty drive's cache that the advice aims to keep."""


def steps(region: Region) -> Steps:
    """A step a level: all below it, the rest, the probe, the trim."""
    rest = REST_S
    probe, before = region.share(LARGEST), 0
    empty: Cache | None = None
    for level in QUICK_LEVELS if region.quick else LEVELS:
        below = region.share(level / 100)
        probe = min(probe, (region.size - below) // MIB * MIB)
        if probe < MIB:
            return
        if below > before:
            fill = region.write(f"fill-{level}", below - before, offset=before, pause=rest)
            yield fill + region.write("rest", MIB, offset=below, pause=rest)
        else:
            yield region.write("rest", MIB)
        part = yield region.write(f"probe-{level}", probe, offset=below, pause=rest)
        if part is None:
            probe = max(region.share(NOMINAL * (1 - level / 100)), 16 * MIB)
        else:
            estimate = cache(part)
            empty = empty or estimate
            if estimate is not None:
                probe = max(int(1.3 * estimate.bytes) // MIB * MIB, 16 * MIB)
            if empty is not None:
                rest = min(max(REST_S, 3 * empty.bytes / empty.slow), LONGEST_REST_S)
        yield region.job("trim", rw="trim", bs="1m", offset=below)
        before = below


class Level(TypedDict):
    """Figures of the drive at one fill level."""

    full: float
    cache_bytes: int | None
    cache_bytes_low: int
    cache_bytes_high: int | None
    bytes_per_s: float | None


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    levels: list[Level]
    cache_bytes_empty: int | None
    cache_bytes_fullest: int | None
    half_full: float | None
    half_gone: float | None
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `levels`: `full` (0 to 1), `cache_bytes`, `_low`, `_high`, `bytes_per_s` in the cache; `cache_bytes` is null
      where the free space ended before the cache, which then holds `cache_bytes_low` or more, and 0 where all of it was
      as slow as past the cache
    - `cache_bytes_empty`, `cache_bytes_fullest`: the first and the last of those that are known
    - `half_full`: the fullest level, 0 to 1, up to which at least half of the first is left; `half_gone`: the level
      after it, where less is; null where there is none, or nothing is known
    """
    rows: list[Level] = []
    first: Cache | None = None
    for part in recording.parts:
        for name, _ in jobs(part):
            if name.startswith("probe-") and part.cut_off is None:
                of = curve(part)
                level = int(name.removeprefix("probe-"))
                estimate = cache(part)
                first = first or estimate
                rows.append(_row(level, of, estimate, first))
    sizes = [(row["full"], row["cache_bytes"]) for row in rows if row["cache_bytes"] is not None]
    half_full, half_gone = _half(sizes)
    warnings = []
    if _last_level(recording) not in [row["full"] for row in rows]:
        warnings.append(not_tried(f"the drive was {100 * _last_level(recording):.0f} % full"))
    elif not sizes:
        warnings.append(
            MeasurementWarning(
                "no-cliff", "the speed never fell, so this drive has no cache, or a larger one than was written"
            )
        )
    elif not all(cache for _, cache in sizes):
        why = "where nothing is left, the cache may be full of old data that rest does not move: pslc run recovery"
        warnings.append(MeasurementWarning("not-emptied", why))
    return {
        "levels": rows,
        "cache_bytes_empty": sizes[0][1] if sizes else None,
        "cache_bytes_fullest": sizes[-1][1] if sizes else None,
        "half_full": half_full,
        "half_gone": half_gone,
        "warnings": warnings,
    }


def _last_level(recording: Recording) -> float:
    """The fullest level that has room for a probe, from 0 to 1."""
    levels = QUICK_LEVELS if recording.scope.get("quick") else LEVELS
    start, end = recording.scope.get("region") or (0, recording.capacity_bytes)
    return max(level for level in levels if level == 0 or (end - start) * (100 - level) // 100 // MIB) / 100


def _half(sizes: list[tuple[float, int]]) -> tuple[float | None, float | None]:
    """Levels and caches: the last before half of the first cache has gone, and where it has."""
    half_bytes = sizes[0][1] * HALF if sizes else 0.0
    if not half_bytes:
        return None, None
    gone = next((at for at, (_, cache) in enumerate(sizes) if cache < half_bytes), len(sizes))
    return sizes[gone - 1][0], sizes[gone][0] if gone < len(sizes) else None


def _row(level: int, of: Curve | None, estimate: Cache | None, first: Cache | None) -> Level:
    if estimate is None:
        written = round(of.total_bytes) if of else 0
        slow = of and first and of.total_bytes / of.total_seconds < np.sqrt(first.fast * first.past)
        return {
            "full": level / 100,
            "cache_bytes": 0 if slow else None,
            "cache_bytes_low": 0 if slow else written,
            "cache_bytes_high": min(BUFFER, written) if slow else None,
            "bytes_per_s": None,
        }
    return {
        "full": level / 100,
        "cache_bytes": round(estimate.bytes),
        "cache_bytes_low": round(estimate.low),
        "cache_bytes_high": round(estimate.high),
        "bytes_per_s": estimate.fast,
    }


def sentences(findings: Findings) -> list[str]:
    """Empty, and as full as it was."""
    sizes = [(row["full"], row["cache_bytes"]) for row in findings["levels"] if row["cache_bytes"] is not None]
    if not sizes:
        return ["No cliff at any level."] if was_tried(findings) else []
    held = [(level, cache) for level, cache in sizes if cache]
    lines = _sizes_held(held)
    full, gone_at = findings["half_full"], findings["half_gone"]
    if held and held[-1] != sizes[-1]:
        gone = next(level for level, _ in sizes if level > held[-1][0])
        lines.append(f"At {100 * gone:.0f} % full, no cache is left.")
        if gone == gone_at:
            return [*lines, _keep_below(full)]
    # Fuller it may have less.
    is_known = gone_at is not None or was_tried(findings)
    return lines + (_advice(full, gone_at, [cache for _, cache in sizes]) if is_known else [])


def _sizes_held(held: list[tuple[float, int]]) -> list[str]:
    """The sizes of the cache at the emptiest and the fullest level that have one; nothing where none has."""
    if not held:
        return []
    (first, first_bytes), (last, last_bytes) = held[0], held[-1]
    if len(held) > 1 and write_sentences.alike(first_bytes, last_bytes):
        return [f"The cache holds {words.size(first_bytes)} on the empty drive, and as much {_where(last)}."]
    at = [f"{words.size(cache)} {_where(level)}" for level, cache in {first: first_bytes, last: last_bytes}.items()]
    return [f"The cache holds {', and '.join(at)}."]


def _advice(full: float | None, gone_at: float | None, caches: list[int]) -> list[str]:
    """The level up to which to fill the drive: `full`, the last with half of its cache, before less is left."""
    if gone_at is not None and full:
        keep = f"Keep the drive at most {100 * full:.0f} % full"
        return [f"{keep}: at {100 * gone_at:.0f} % less than half of its cache is left."]
    if gone_at is not None:
        return [
            f"Keep the drive as empty as you can: at {100 * gone_at:.0f} % full, less than half of its cache is left."
        ]
    if not full:
        return []
    keeps = write_sentences.alike(min(caches), caches[0])
    left = "its cache does not shrink" if keeps else "at least half of its cache is left"
    return [f"Fill the drive as you like: up to {100 * full:.0f} % {left}."]


def _keep_below(full: float | None) -> str:
    """The advice where the level after `full` has no cache at all."""
    return f"Keep the drive at most {100 * full:.0f} % full." if full else "Keep the drive as empty as you can."


def _where(share: float) -> str:
    return f"when it is {100 * share:.0f} % full" if share else "on the empty drive"


def tables(findings: Findings) -> list[Table]:
    """Table with a row for each fill level."""
    rows = []
    for row in findings["levels"]:
        low = f"{words.size(row['cache_bytes_low'])} or more"
        size = words.size(row["cache_bytes"]) if row["cache_bytes"] is not None else low
        rows.append([f"{100 * row['full']:.0f} %", size, words.speed(row["bytes_per_s"]) if row["bytes_per_s"] else ""])
    return [Table("Cache by level", ("full", "cache", "speed"), rows)]


def pictures(recording: Recording) -> list[Picture]:
    """Cache size against fill level."""
    levels = recording.findings.typed(Findings)["levels"]
    sizes = [(row["full"], size) for row in levels if (size := row["cache_bytes"]) is not None]
    line = Line("cache", [full for full, _ in sizes], [size for _, size in sizes], "points")
    panel = Panel(Axis("cache", "B"), [line] if sizes else [])
    drawn = Picture("levels", "Cache size by fill level", Axis("fill level of the drive", "share"), (panel,))
    return [drawn, *curves.of_any(recording)]
