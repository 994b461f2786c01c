"""Is rewriting a region smaller than the cache accelerated, when the total written exceeds the cache?

Regions of 1/8 to 2 times the cache size are rewritten until each has received four times the cache size. Before each
the drive is trimmed and rests.
"""

from dataclasses import replace
from typing import Literal

from typing_extensions import TypedDict

from pslc.base import words
from pslc.device.region import MIB, Region
from pslc.figures import curves
from pslc.figures.picture import Axis, Label, Line, Panel, Picture, Table
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import Cache, cache, curve, finished, not_tried, was_tried
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "three regions, each written until twice the cache was"
COMPUTER = "none"
ASKS_CACHE = True
HAS_RESTS = True
RATIOS = (0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
QUICK_RATIOS = (0.25, 0.5, 2.0)
TIMES, QUICK_TIMES = 4.0, 2.0
REST_S = 60.0
SMALL = 0.5
"""Largest region that decides whether small ones are accelerated, in caches."""
FAST, SLOW = 0.6, 0.2
"""Shares of the way from slow to fast above which a rewrite is accelerated, and below which it is not."""


def steps(region: Region) -> Steps:
    """Find the cache, then a step a region."""
    part = yield region.write("find-cache", region.share(0.6))
    estimate = cache(part) if part else Cache(region.size / 10, 0, 0, 2e9, 5e8, 5e8)
    if estimate is None:
        return
    total = int((QUICK_TIMES if region.quick else TIMES) * estimate.bytes) // MIB * MIB
    for ratio in QUICK_RATIOS if region.quick else RATIOS:
        part_size = min(max(int(ratio * estimate.bytes) // MIB * MIB, MIB), region.share(1.0))
        yield region.trim()
        yield region.write(f"region-{ratio:g}", part_size, io_size=total, pause=REST_S)


Verdict = Literal["accelerated", "partly", "not"]


class Rewrite(TypedDict):
    """Figures of one region that is rewritten."""

    region_bytes: int
    of_cache: float
    written_bytes: int
    bytes_per_s: float
    accelerated: float
    verdict: Verdict


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    cache_bytes: int | None
    overwrite: list[Rewrite]
    verdict: Verdict | None
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `cache_bytes`: on the empty drive
    - `overwrite`: of each region `region_bytes`, `of_cache`, `written_bytes`, `bytes_per_s` over the last half of it,
      `accelerated` (0 as slow as past the cache, 1 as fast as in it) and `verdict`: `accelerated`, `partly`, `not`
    - `verdict`: of the regions of half the cache or less, all together
    """
    first = finished(recording, "find-cache")
    level = cache(first)
    if level is None:
        warnings = [] if first else [not_tried("the cache was found")]
        return {"cache_bytes": None, "overwrite": [], "verdict": None, "warnings": warnings}
    rows = _rewrites(recording, level)
    ratios = QUICK_RATIOS if recording.scope.get("quick") else RATIOS
    missing = {ratio for ratio in ratios if ratio <= SMALL} - {row["of_cache"] for row in rows}
    warnings = [not_tried(f"a region of {max(missing):g} times the cache was rewritten")] if missing else []
    small = {row["verdict"] for row in rows if row["of_cache"] <= SMALL}
    verdict: Verdict | None = None if missing else small.pop() if len(small) == 1 else "partly"
    return {"cache_bytes": round(level.bytes), "overwrite": rows, "verdict": verdict, "warnings": warnings}


def _rewrites(recording: Recording, level: Cache) -> list[Rewrite]:
    """The regions that were rewritten to the end."""
    rows: list[Rewrite] = []
    for part in recording.parts:
        name, of = part.jobs[0]["name"] if part.jobs else "", curve(part)
        if name.startswith("region-") and of is not None and part.cut_off is None:
            half = of.total_bytes / 2
            late = float(of.total_seconds - of.seconds_at(of.edges_bytes[:1] + half)[0])
            speed = half / late
            share = (speed - level.slow) / (level.fast - level.slow)
            rows.append(
                {
                    "of_cache": float(name.removeprefix("region-")),
                    "region_bytes": int(part.jobs[0]["options"]["size"]),
                    "written_bytes": round(of.total_bytes),
                    "bytes_per_s": speed,
                    "accelerated": max(share, 0.0),
                    "verdict": _verdict(share),
                }
            )
    return rows


def _verdict(share: float) -> Verdict:
    return "accelerated" if share >= FAST else "partly" if share > SLOW else "not"


def sentences(findings: Findings) -> list[str]:
    """Whether rewriting a small region stays fast, as sentences."""
    if not was_tried(findings):
        return [f"The cache holds {words.size(findings['cache_bytes'])}."] if findings["cache_bytes"] else []
    if findings["cache_bytes"] is None:
        return ["No cliff, so there is no cache that a region could be smaller than."]
    if findings["verdict"] is None:
        return []
    words_of = {
        "accelerated": "Yes: rewriting a region smaller than the cache is as fast as the cache",
        "partly": "In part: rewriting a region smaller than the cache is faster than past it, slower than the cache",
        "not": "No: rewriting a region smaller than the cache is as slow as any write past it",
    }
    return [f"{words_of[findings['verdict']]}. The cache holds {words.size(findings['cache_bytes'])}."]


def tables(findings: Findings) -> list[Table]:
    """Table with a row for each region."""
    columns = ("region", "of the cache", "written", "speed at the end", "accelerated")
    labels = {"accelerated": "yes", "partly": "partly", "not": "no"}
    rows = [
        [
            words.size(row["region_bytes"]),
            f"{row['of_cache']:g}",
            words.size(row["written_bytes"]),
            words.speed(row["bytes_per_s"]),
            labels[row["verdict"]],
        ]
        for row in findings["overwrite"]
    ]
    return [Table("Regions", columns, rows, words=("accelerated",))] if rows else []


def pictures(recording: Recording) -> list[Picture]:
    """Speed in the end against the size of the region, then speed against data written, a line per region."""
    lines = []
    for part in recording.parts:
        line = curves.write_line(part)
        if part.jobs and part.jobs[0]["name"].startswith("region-") and line is not None:
            share = float(part.jobs[0]["name"].removeprefix("region-"))
            lines.append(replace(line, name=Label("region of {} of the cache", share, "share")))
    panel = Panel(curves.SPEED, lines)
    each = Picture("overwrite-written", "Speed while rewriting a region", curves.WRITTEN, (panel,))
    return [_by_region(recording), each, *curves.of_any(recording)]


def _by_region(recording: Recording) -> Picture:
    """Speed of the last half of the writes to each region, between those of the cache and past it."""
    rows, level = recording.findings.typed(Findings)["overwrite"], cache(finished(recording, "find-cache"))
    sizes = [row["of_cache"] for row in rows]
    lines = [Line("rewriting the region", sizes, [row["bytes_per_s"] for row in rows], "points")]
    if rows and level is not None:
        speeds = {"writing into the cache": level.fast, "writing past the cache": level.slow}
        lines += [Line(name, [0.0, sizes[-1]], [speed, speed], "dotted") for name, speed in speeds.items()]
    x = Axis("size of the region, compared with the cache", "share")
    return Picture("overwrite", "Speed of rewriting a region, by its size", x, (Panel(curves.SPEED, lines),))
