"""Would this work ever meet the cliff? A trace of it is replayed.

How full the cache was, how slow the slowest requests were and why, and how long the drive lasts. `pslc replay TRACE`
takes a trace of any program; docs/traces.md says how it is replayed.
"""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from pslc.base import words
from pslc.figures import curves
from pslc.figures import tables as common
from pslc.figures.picture import Axis, Line, Panel, Picture, Table
from pslc.figures.tables import of_rows
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import latency
from pslc.recording.wear import Wear, life_years, of_wear
from pslc.schema.jobs import MOVED, Kind
from pslc.schema.surveys import Replayed, WhatIf
from pslc.schema.unknown import unknown
from pslc.schema.warnings import MeasurementWarning
from pslc.traces.survey_view import reading_warnings

FULL = 0.95
"""The share of what the cache may hold from which it is called full."""
CAUSES = {
    "own": "their own work",
    "folding": "folding",
    "collection": "garbage collection",
    "erasing": "erasing",
    "direct": "programming native cells",
    "cache": "programming pSLC cells",
    "reading": "other reads",
    "mapping": "mapping misses",
    "link": "the link",
    "heat": "throttling for heat",
    "waking": "waking up",
    "commands": "the controller's commands",
}
"""Label of each part of a request's time, as the native part counts it (`Cause` in crates/ssd/src/waits.rs)."""
FITS = {
    "wrap": "start again at 0 past the end of the drive (--addresses wrap)",
    "compact": "are packed in the order of their first use (--addresses compact)",
    "scale": "are all shrunk alike (--addresses scale)",
}
MINOR = 0.05
"""Causes of less than this share of the time are left out of sentences."""
MANY_LATE = 0.01
SMALLEST = "just enough cache"
Floats = NDArray[np.float64]


class Latencies(TypedDict):
    """Latencies of reads or of writes, in seconds."""

    kind: Kind
    count: int
    p50_s: float
    p99_s: float
    p999_s: float
    max_s: float


class Slow(TypedDict):
    """A cause of the slowest hundredth."""

    kind: Kind
    cause: str
    share: float


class Shares(TypedDict):
    """Destinations of the host's writes."""

    share_slc: float | None
    share_direct: float | None
    share_while_folding: float | None
    enough: bool | None


class Inside(Shares):
    """Findings that only a simulated drive has."""

    cache_bytes: int | None
    cache_most_bytes: int | None
    cache_most_at_s: float | None
    full_s: float | None
    busy_dies: float | None
    busy_link: float | None
    slow: list[Slow]


UNDER_WAY: Replayed = {
    "format": "", "devices": [], "notes": [], "skipped": 0, "empty": 0, "backwards_ns": 0, "requests": 0, "late": 0,
    "late_most_ns": 0, "late_sum_ns": 0, "moved": 0, "widened": 0, "unwritten_bytes": 0, "cache_most_bytes": 0,
    "cache_most_at_ns": 0, "prefilled_bytes": 0, "slow_ns": [],
}  # fmt: skip


class Findings(Inside, Wear):
    """Findings of the suite, by name; `findings` describes them."""

    requests: int
    trace_s: float
    drive_s: float
    latencies: list[Latencies]
    late: int
    late_most_s: float
    what_if: list[WhatIf] | None
    widened: int
    fit: str
    moved: int
    life_years: float | None
    scale: str | None
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `requests`, `trace_s` (from its first request to its last), `drive_s`
    - `cache_bytes`: what the cache can hold on this drive; `cache_most_bytes`: the most that was in it,
      `cache_most_at_s`; `full_s`: for how long it was full, to a bin of the series; null where there is no cache
    - `share_slc`, `share_direct`, `share_while_folding`: of what the host wrote into cells; null when nothing was
    - `latencies`: of reads and writes: `kind`, `count`, `p50_s`, `p99_s`, `p999_s`, `max_s`
    - `slow`: of the slowest hundredth of the reads and of the writes: `kind`, `cause` and its `share` of their time.
      Causes are `own` (sensing, a channel), dies at `folding`, `collection`, `erasing`, `direct` (programs of native
      cells for the host), `cache` (of pSLC) or `reading`, and `mapping` misses, the `link`, `heat`, `waking` and
      `commands`. They add up to 1; without a cause less than its share may be gained, where others overlap
    - `busy_dies`, `busy_link`: shares of the time
    - those of `pslc.recording.wear.of_wear`, and `life_years`: at the trace's own pace
    - `scale`: of the drive, `1/16`; null where it is whole. The whole one lasts as many times as long
    - `late`, `late_most_s`: requests that found too many under way
    - `enough`: whether the cache took every write and never had to make room under load
    - `widened`: requests that were made larger, to whole blocks of a real drive
    - `fit`: what was done with addresses past the end of the drive; `moved`: requests that are elsewhere for it
    - `what_if`: the same trace on other caches, by rows (`row`)

    Of a real drive what is inside is null, and `slow` is empty.
    """
    about = recording.facts["trace"]
    replayed = _replayed(recording)
    survey = about["survey"]
    trace_s = survey["duration_ns"] / 1e9 / (about["how"]["speed"] or 1.0)
    wear = of_wear(recording)
    written = sum(of["bytes"]["write"] for of in survey["devices"])
    result: Findings = {
        "requests": replayed["requests"],
        "trace_s": trace_s,
        "drive_s": recording.drive_time_s,
        "latencies": _latencies(recording),
        "late": replayed["late"],
        "late_most_s": replayed["late_most_ns"] / 1e9,
        "what_if": about.get("what_if"),
        "widened": replayed["widened"],
        "fit": about["how"]["fit"],
        "moved": replayed["moved"],
        **(_inside(recording, about["replay"]) if recording.is_simulated else unknown(Inside)),
        **wear,
        "life_years": life_years(wear["life_bytes"], written, trace_s),
        "scale": recording.facts.get("scale"),
        "warnings": [],
    }
    result["warnings"] = _warnings(recording, result)
    return result


def _replayed(recording: Recording) -> Replayed:
    """Result of the replay; of one that is under way, nothing yet."""
    return recording.facts["trace"]["replay"] or UNDER_WAY


def _inside(recording: Recording, replayed: Replayed | None) -> Inside:
    ns = max(recording.drive_time_s * 1e9, 1.0)
    dies = _change(recording, "die_busy_ns_total") / recording.facts["dies"]
    return {
        "cache_bytes": recording.facts["cache_bytes"] or None,
        "cache_most_bytes": replayed["cache_most_bytes"] if replayed else None,
        "cache_most_at_s": replayed["cache_most_at_ns"] / 1e9 if replayed else 0.0,
        "full_s": _full(recording),
        "slow": _slow(_replayed(recording)),
        **_shares(recording),
        "busy_dies": min(dies / ns, 1.0),
        "busy_link": min(max(_change(recording, f"link_{way}_busy_ns_total") for way in ("read", "write")) / ns, 1.0),
    }


def _change(recording: Recording, name: str) -> int:
    return recording.totals[name] - recording.before[name]


def _steps(recording: Recording, name: str) -> Floats:
    """Growth of a counter in each bin of time."""
    return np.diff(recording.time[name].astype(np.float64), prepend=float(recording.before[name]))


def _widths(recording: Recording) -> Floats:
    return np.diff(recording.time["end_ns"].astype(np.float64), prepend=float(recording.start_ns)) / 1e9


def _full(recording: Recording) -> float | None:
    if not recording.facts["cache_bytes"]:
        return None
    held, limit = (recording.time[name].astype(np.float64) for name in ("slc_valid_bytes", "cache_limit_bytes"))
    # Room for the data in it may be less than what is allowed: what is dead there takes some as well.
    return float(_widths(recording)[(held >= FULL * limit) & (limit > 0)].sum())


def _shares(recording: Recording) -> Shares:
    slc, native = (_change(recording, f"host_to_{cells}_bytes_total") for cells in ("slc", "native"))
    folded = _change(recording, "folded_bytes_total") - _change(recording, "idle_folded_bytes_total")
    if not slc + native:
        return {"share_slc": None, "share_direct": None, "share_while_folding": None, "enough": True}
    direct = _steps(recording, "host_to_native_bytes_total")
    folding = _steps(recording, "folded_bytes_total") - _steps(recording, "idle_folded_bytes_total") > 0
    within = float(direct[folding].sum()) if len(direct) else 0.0
    total = slc + native
    return {
        "share_slc": slc / total,
        "share_direct": max(native - within, 0.0) / total,
        "share_while_folding": within / total,
        "enough": native == 0 and folded <= 0,
    }


def _latencies(recording: Recording) -> list[Latencies]:
    rows: list[Latencies] = []
    for job in recording.jobs:
        for kind in MOVED:
            if job[kind]["total_ios"]:
                rows.append(
                    {
                        "kind": kind,
                        "count": job[kind]["total_ios"],
                        "p50_s": latency(job, kind, 50),
                        "p99_s": latency(job, kind, 99),
                        "p999_s": latency(job, kind, 99.9),
                        "max_s": job[kind]["lat_ns"]["max"] / 1e9,
                    }
                )
    return rows


def _slow(replayed: Replayed) -> list[Slow]:
    """The slowest hundredth of each kind, by cause, the largest first."""
    rows: list[Slow] = []
    for kind, by in replayed["slow_ns"]:
        whole = sum(by.values())
        shares = sorted(((ns / whole, cause) for cause, ns in by.items() if ns), reverse=True)
        rows += [Slow(kind=kind, cause=cause, share=share) for share, cause in shares]
    return rows


def _warnings(recording: Recording, result: Findings) -> list[MeasurementWarning]:
    replayed, survey = _replayed(recording), recording.facts["trace"]["survey"]
    problems = []
    read = sum(of["bytes"]["read"] for of in survey["devices"])
    unwritten = replayed["unwritten_bytes"]
    # Of a real drive it is not known what was written before; a new scratch file refuses such reads.
    if recording.is_simulated and read and unwritten > 0.5 * read:
        problems.append(
            MeasurementWarning(
                "never-written",
                f"{words.share(min(unwritten / read, 1.0))} of what is read was never written, so no flash was read "
                "for it: --prefill writes it first",
            )
        )
    if result["requests"] and result["late"] > MANY_LATE * result["requests"]:
        problems.append(
            MeasurementWarning(
                "late",
                f"{words.share(result['late'] / result['requests'])} of the requests were late, by "
                f"{words.span(result['late_most_s'])} at most: the drive cannot keep up, or raise --iodepth",
            )
        )
    if result["widened"]:
        problems.append(
            MeasurementWarning(
                "widened",
                f"{words.share(result['widened'] / max(result['requests'], 1))} of the requests were rounded up to the "
                "drive's blocks: it moved more than the trace asks for",
            )
        )
    return [*problems, *reading_warnings(survey)]


def row(name: str, recording: Recording) -> WhatIf:
    """Row of `what_if` for a recording: its figures in the table of other caches."""
    result = findings(recording)
    of_kind = {of["kind"]: of for of in result["latencies"]}
    writes, reads = of_kind.get("write"), of_kind.get("read")
    return {
        "name": name,
        "cache_bytes": result["cache_bytes"],
        "cache_most_bytes": result["cache_most_bytes"],
        "share_slc": result["share_slc"],
        "waf": result["waf"],
        "life_years": result["life_years"],
        "enough": result["enough"],
        "drive_s": result["drive_s"],
        "write_p99_s": writes["p99_s"] if writes else None,
        "write_p999_s": writes["p999_s"] if writes else None,
        "read_p99_s": reads["p99_s"] if reads else None,
    }


def sentences(findings: Findings) -> list[str]:
    """Whether the cache was ever full, how slow the slow ones were and why, and how long the drive lasts."""
    return [
        *_of_cache(findings),
        *_of_destinations(findings),
        *_of_latencies(findings),
        *_of_work(findings),
        *_of_addresses(findings),
        *_of_other_caches(findings),
    ]


def _of_cache(findings: Findings) -> list[str]:
    cache, cache_peak = findings["cache_bytes"], findings["cache_most_bytes"]
    if not cache or cache_peak is None:
        return []
    part = f"{words.size(cache_peak)} of {words.size(cache)} ({words.share(min(cache_peak / cache, 1.0))})"
    if findings["enough"]:
        return [f"The write cache was never full: it held at most {part}."]
    held = f", full for {words.span(findings['full_s'])} in all" if findings["full_s"] else ""
    return [f"The write cache did not take all of it: it held at most {part}{held}."]


def _of_destinations(findings: Findings) -> list[str]:
    if findings["share_slc"] is None:
        return []
    parts = (
        (findings["share_slc"], "to pSLC"),
        (findings["share_direct"], "directly to native cells"),
        (findings["share_while_folding"], "to native cells while it folded"),
    )
    return [f"Writes went {', '.join(f'{words.share(part)} {where}' for part, where in parts if part)}."]


def _of_latencies(findings: Findings) -> list[str]:
    lines = []
    for of in findings["latencies"]:
        times = [words.span(took) for took in (of["p50_s"], of["p99_s"], of["p999_s"])]
        lines.append(f"Latency of {of['kind']}s: median {times[0]}, 99 % {times[1]}, 99.9 % {times[2]}.")
    for kind in MOVED:
        slow = [of for of in findings["slow"] if of["kind"] == kind and of["share"] >= MINOR]
        causes = [f"{CAUSES[of['cause']]} {words.share(of['share'])}" for of in slow]
        if causes:
            lines.append(f"The slowest 1 % of {kind}s spent their time on: {', '.join(causes)}.")
    return lines


def _of_work(findings: Findings) -> list[str]:
    lines = []
    dies, link = findings["busy_dies"], findings["busy_link"]
    if dies is not None and link is not None:
        lines.append(f"The dies were busy {words.share(dies)} of the time, the link {words.share(link)}.")
    if findings["waf"] is not None:
        years = findings["life_years"]
        lasts = "" if years is None else f"; it lasts {words.years(years)} of this{_of_whole(years, findings)}"
        lines.append(f"Write amplification is {findings['waf']:.2f}{lasts}.")
    return lines


def _of_addresses(findings: Findings) -> list[str]:
    if not findings["moved"]:
        return []
    part = words.share(findings["moved"] / findings["requests"])
    return [f"{part} of the requests were moved: the trace's addresses {FITS[findings['fit']]}."]


def _of_other_caches(findings: Findings) -> list[str]:
    lines = []
    for other in findings["what_if"] or []:
        if "refused" in other:
            lines.append(f"What if {other['name']}: {other['refused']}.")
        elif other["name"] == SMALLEST:
            lines.append(_smallest_cache(other.get("cache_bytes") or 0, findings["cache_bytes"] or 0))
    return lines


def _of_whole(years: float, findings: Findings) -> str:
    """Return the life of the whole drive, of which the one at hand is a scaled part."""
    scale = findings["scale"]
    return f" at {scale} of its size, the whole drive {words.years(years / float(Fraction(scale)))}" if scale else ""


def _smallest_cache(size: int, own: int) -> str:
    if size == own:
        return f"No smaller cache than the drive's own, {words.size(own)}, would have been enough."
    return f"A cache of {words.size(size)} would have been enough."


LATENCY = {
    "kind": "kind", "requests": "count", "50 %": "p50_s", "99 %": "p99_s", "99.9 %": "p999_s", "longest": "max_s",
}  # fmt: skip
SLOW: common.Columns = {
    "kind": "kind", "cause": ("cause", CAUSES.__getitem__), "share": ("share", words.share),
}  # fmt: skip


def tables(findings: Findings) -> list[Table]:
    """Latencies, causes, and other caches."""
    drawn = []
    if findings["latencies"]:
        drawn.append(of_rows("Latencies", findings["latencies"], LATENCY))
    if findings["slow"]:
        drawn.append(of_rows("The slowest 1 %", findings["slow"], SLOW))
    if findings["what_if"]:
        drawn.append(_what_if(findings["what_if"]))
    return drawn


def _what_if(rows: list[WhatIf]) -> Table:
    columns: list[tuple[str, str, common.Show]] = [
        ("cache", "cache_bytes", lambda size: words.size(size) if size else "none"),
        ("enough", "enough", lambda enough: "yes" if enough else "no"),
        ("write 99 %", "write_p99_s", words.span),
        ("99.9 %", "write_p999_s", words.span),
        ("read 99 %", "read_p99_s", words.span),
        ("WAF", "waf", lambda waf: f"{waf:.2f}"),
        ("lasts", "life_years", words.years),
    ]
    cells = []
    for of in rows:
        values: Mapping[str, object] = of
        shown = ["" if values.get(key) is None else show(values[key]) for _, key, show in columns]
        cells.append([of["name"], *shown])
    return Table("What if", ["what if", *(name for name, _, _ in columns)], cells, words=("what if",))


def pictures(recording: Recording) -> list[Picture]:
    """Fill level of the cache over time, then the pictures of any run."""
    if not recording.is_simulated:
        return curves.of_any(recording)
    held, limit = (recording.time[name].astype(np.float64) for name in ("slc_valid_bytes", "cache_limit_bytes"))
    x = curves.seconds(recording)
    panel = Panel(Axis("cache", "B"), [Line("data in the cache", x, held, "filled"), Line("limit", x, limit, "dotted")])
    fill = Picture("cache-fill", "SLC cache occupancy over time", curves.TIME, (panel,))
    return [fill, *curves.of_any(recording)]
