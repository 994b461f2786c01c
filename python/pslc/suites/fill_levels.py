"""How does the cache shrink as the drive fills? Its size at 0, 10 and up to 95 % full.

At each level the drive rests for ten minutes, then what is free is written until the cache has ended, and trimmed
again.
"""

from typing import Any

from pslc import words
from pslc.figures import curves
from pslc.figures.picture import Line, Picture, Table
from pslc.findings.measure import Cache, cache, curve, jobs
from pslc.recording import Recording
from pslc.suites import Steps
from pslc.targets.region import MIB, Region

QUICK = "0, 50 and 90 % full only, with a minute of rest"
LEVELS = (0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95)
QUICK_LEVELS = (0, 50, 90)
REST_S, QUICK_REST_S = 600.0, 60.0
LARGEST = 0.6
"""Of the drive: no cache is larger."""
NOMINAL = 0.2


def steps(region: Region) -> Steps:
    """A step a level: all below it, the rest, the probe, the trim."""
    rest = QUICK_REST_S if region.quick else REST_S
    probe, before = region.share(LARGEST), 0
    for level in QUICK_LEVELS if region.quick else LEVELS:
        below = region.share(level / 100)
        probe = min(probe, (region.size - below) // MIB * MIB)
        if probe < MIB:
            return
        fill = region.write(f"fill-{level}", below - before, offset=before, pause=rest) if below > before else ""
        yield fill + region.write("rest", MIB, offset=below, pause=rest) if fill else region.write("rest", MIB)
        part = yield region.write(f"probe-{level}", probe, offset=below, pause=rest)
        found = cache(curve(part)) if part else None
        expected = region.share(NOMINAL * (1 - level / 100)) if part is None else probe
        probe = max(int(1.3 * found.bytes) // MIB * MIB if found else expected, 16 * MIB)
        yield region.job("trim", rw="trim", bs="1m", offset=below)
        before = below


def findings(recording: Recording) -> dict[str, Any]:
    """- `levels`: `full` (0 to 1), `cache_bytes`, `_low`, `_high`, `bytes_per_s` in the cache; `cache_bytes` is null
      where the free space ended before the cache, which then holds `cache_bytes_low` or more
    - `cache_bytes_empty`, `cache_bytes_fullest`: the first and the last of those that are known
    """
    rows: list[dict[str, Any]] = []
    for part in recording.parts:
        for name, _ in jobs(part):
            if name.startswith("probe-"):
                of = curve(part)
                level = int(name.removeprefix("probe-"))
                rows.append(_row(level, cache(of), of.total_bytes if of else 0.0))
    known = [row["cache_bytes"] for row in rows if row["cache_bytes"] is not None]
    ends = {"cache_bytes_empty": known[0] if known else None, "cache_bytes_fullest": known[-1] if known else None}
    doubts = [] if known else ["the speed never fell, so this drive has no cache, or a larger one than was written"]
    return {"levels": rows, **ends, "doubts": doubts}


def _row(level: int, found: Cache | None, written: float) -> dict[str, Any]:
    row = {"full": level / 100, "cache_bytes": None, "cache_bytes_low": round(written), "cache_bytes_high": None}
    if found is None:
        return row | {"bytes_per_s": None}
    return {
        "full": level / 100,
        "cache_bytes": round(found.bytes),
        "cache_bytes_low": round(found.low),
        "cache_bytes_high": round(found.high),
        "bytes_per_s": found.fast,
    }


def sentences(findings: dict[str, Any]) -> list[str]:
    """Empty, and as full as it was."""
    known = [row for row in findings["levels"] if row["cache_bytes"] is not None]
    if not known:
        return ["There is no cliff at any level."]
    return [
        f"The cache holds {words.size(row['cache_bytes'])} when the drive is {100 * row['full']:.0f} % full."
        for row in (known[0], *known[-1:])
    ][: len(known)]


def tables(findings: dict[str, Any]) -> list[Table]:
    """A row a level."""
    rows = []
    for row in findings["levels"]:
        low = f"{words.size(row['cache_bytes_low'])} or more"
        size = words.size(row["cache_bytes"]) if row["cache_bytes"] is not None else low
        rows.append([f"{100 * row['full']:.0f} %", size, words.speed(row["bytes_per_s"]) if row["bytes_per_s"] else ""])
    return [Table("Cache by level", ("full", "cache", "speed"), rows)]


def pictures(recording: Recording) -> list[Picture]:
    """Cache against level."""
    known = [row for row in recording.findings["levels"] if row["cache_bytes"] is not None]
    line = Line("cache", [100 * r["full"] for r in known], [r["cache_bytes"] / 1e9 for r in known], "points")
    title = "Cache as the drive fills"
    return [Picture("levels", title, "% full", "GB", [line] if known else []), *curves.of_any(recording)]
