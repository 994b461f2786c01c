"""The findings of a write as sentences."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from pslc.analysis.thresholds import (
    MAX_FALL_RATIO,
    MAX_LISTED_PHASES,
    MIN_STATED_CONFIDENCE,
    MIN_SURE_CONFIDENCE,
    SAME_SIZE_TOLERANCE,
)
from pslc.analysis.warnings import AnalysisWarning
from pslc.base import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pslc.analysis import PhaseRow, ReadExplanation, Writes
    from pslc.analysis.reads import Likely
    from pslc.schema.jobs import Job, Verified

CAUSE = {
    "pslc": "SLC cache",
    "direct": "direct to native cells",
    "fold": "folding",
    "native": "native cells",
    "gc": "garbage collection",
    "erase": "erases",
    "read": "reads of the cells",
    "map": "map misses",
    "link": "limited by the link",
    "controller": "limited by the controller",
    "host": "limited by the host",
    "cpu": "limited by the processor",
    "page-cache": "the host's memory",
    "dram": "the drive's buffer",
    "flush": "waiting for flushes",
    "thermal": "thermal throttling",
    "power": "waking up",
    "other": "beside other load",
    "old-data": "old data",
}
"""Label of each cause, as shown beside a speed."""

PAST = ("direct", "fold")
"""Causes of a first phase that began with a full cache."""

NO_PLACE = ("link", "controller", "host", "cpu", "flush", "power", "erase", "read", "other")
"""Causes that say why a speed is no higher, not where the data went."""

MEMORY = ("dram", "page-cache")
"""Causes of a phase that tells nothing of the drive's cells."""

MIN_RIVAL_CONFIDENCE = 0.01
"""Share from which another explanation of a read is named."""


def _why(phase: PhaseRow) -> str:
    return "" if phase["cause"] == "unknown" else f" ({_probably(phase)}{CAUSE[phase['cause']]})"


def _step(phases: list[PhaseRow]) -> str:
    """`SLC cache 6632 MB/s, later 5573 MB/s`, of phases in a row of one cause."""
    first = phases[0]
    speeds = ", later ".join(words.speed(phase["bytes_per_s"]) for phase in phases)
    if first["cause"] in NO_PLACE:
        return f"{speeds}{_why(first)}"
    return f"{_probably(first)}{CAUSE[first['cause']]} {speeds}" if first["cause"] != "unknown" else speeds


def _probably(phase: PhaseRow) -> str:
    if phase["confidence"] >= MIN_SURE_CONFIDENCE:
        return ""
    # A simulated drive knows what its requests waited for, and most of that is one thing.
    if "shares" in phase:
        return "mostly "
    return "probably " if phase["confidence"] >= MIN_STATED_CONFIDENCE else "perhaps "


def describe(findings: Writes) -> list[str]:
    """Describe the findings of a curve in sentences, the most important first."""
    if findings.get("kind") == "read":
        return _describe_reads(findings)
    phases = findings["phases"]
    lines = [*_end_of_cache(findings), *_of_phases(phases), *_of_heat(findings)]
    if findings["fill_mean_bytes_per_s"]:
        # What has no phases has pauses, or reads among its writes.
        of = "" if phases and not findings.get("idle_s") else " while writing"
        lines.append(f"Average{of}: {words.speed(findings['fill_mean_bytes_per_s'])}.")
    waf, lasts = findings.get("waf"), findings.get("life_years")
    if waf is not None and lasts is not None:
        lines.append(f"Write amplification is {waf:.2f}; at this load, day and night, it lasts {words.years(lasts)}.")
    return lines


def _of_phases(phases: Sequence[PhaseRow]) -> list[str]:
    """Each phase, or the fastest and the slowest of many."""
    if 0 < len(phases) <= MAX_LISTED_PHASES:
        steps = "; then ".join(_step(list(some)) for _, some in groupby(phases, key=lambda phase: phase["cause"]))
        return [f"{steps[0].upper()}{steps[1:]}."]
    if not phases:
        return []
    cells = [phase for phase in phases if phase["cause"] not in MEMORY] or phases
    slowest, fastest = (pick(cells, key=lambda phase: phase["bytes_per_s"]) for pick in (min, max))
    lines = [f"Fastest: {words.speed(fastest['bytes_per_s'])}{_why(fastest)}."]
    if slowest is not fastest:
        times = fastest["bytes_per_s"] / slowest["bytes_per_s"]
        lines.append(f"Slowest: {words.speed(slowest['bytes_per_s'])}{_why(slowest)}, {times:.1f} times slower.")
    return lines


def _of_heat(findings: Writes) -> list[str]:
    throttled, phases = findings.get("throttled_s"), findings["phases"]
    if throttled is None:
        return []
    if not throttled:
        return ["No thermal throttling."]
    is_free = phases and not any(phase["cause"] == "thermal" for phase in phases)
    return [f"Thermal throttling: {words.span(throttled)}{', though no phase was slower for it' if is_free else ''}."]


def _end_of_cache(findings: Writes) -> list[str]:
    """Sentences on the end of the cache, or that there is none, and what else may be; none without phases."""
    alternatives = [
        f"Less likely ({100 * rival['confidence']:.0f} %): {rival['explanation']}."
        for rival in findings.get("alternatives", [])[:1]
        if findings.get("cache_confidence", 0.0) >= MIN_SURE_CONFIDENCE
    ]
    return [*_stated_end(findings), *alternatives]


def _stated_end(findings: Writes) -> list[str]:
    cache, low, high = findings["cache_bytes"], findings["cache_bytes_low"], findings["cache_bytes_high"]
    phases, sure = findings["phases"], findings.get("cache_confidence", 1.0)
    probably, how_sure = ("", "") if sure >= MIN_SURE_CONFIDENCE else ("probably ", f"{100 * sure:.0f} % sure")
    if cache is not None and low is not None and high is not None:
        interval = (
            f"{words.size(low)} to {words.size(high)}, 90 % interval" if words.size(low) != words.size(high) else ""
        )
        inside = "; ".join(text for text in (interval, how_sure) if text)
        return [f"The write cache {probably}ends after {words.size(cache)}{f' ({inside})' if inside else ''}."]
    if low is not None:
        inside = f" ({how_sure})" if how_sure else ""
        return [f"The write cache {probably}holds {words.size(low)} or more{inside}: the run ended before it was full."]
    codes = {warning.code for warning in findings["warnings"]}
    if AnalysisWarning.EARLY.code in codes:
        return []
    if began_full(phases) and AnalysisWarning.HIDDEN.code not in codes:
        return ["No write cache is left: it was full from the start."]
    if unsure := _unsure_end(phases):
        return [unsure]
    if _falls(phases):
        # What is unknown may be a cache all the same, and a warning tells of one that was full without being seen.
        if AnalysisWarning.HIDDEN.code in codes or all(phase["cause"] == "unknown" for phase in phases):
            return []
        if sure < MIN_STATED_CONFIDENCE:
            return [f"Whether a cache ends is not known: no explanation is likelier than {100 * sure:.0f} %."]
        no_end = f"Probably no end of a cache ({how_sure})" if how_sure else "No end of a cache"
        return [f"{no_end}: the speed fell for other reasons."]
    return [_no_cliff(findings)] if phases else []


def _no_cliff(findings: Writes) -> str:
    """Sentence that there is no cliff, or where the speed within a phase varies or is of few samples, that none was
    found."""
    spread = max(max(phase["spread"], abs(phase["drift"]) / 2) for phase in findings["phases"])
    if spread > (1 - MAX_FALL_RATIO) / 2:
        return f"No cliff was found, but the speed varies by {100 * spread:.0f} % to each side within a phase."
    if any(warning.code == AnalysisWarning.FEW_BINS.code for warning in findings["warnings"]):
        return "No cliff was found, in so few samples that one may be missed."
    return "No cliff: no phase is slower than one before it by more than a fifth."


def _describe_reads(findings: Writes) -> list[str]:
    """Speeds of reads, in order; of many phases the fastest and the slowest."""
    speeds = [phase["bytes_per_s"] for phase in findings["phases"]]
    if len(speeds) > MAX_LISTED_PHASES:
        sentences = [f"Reads: {words.speed(min(speeds))} to {words.speed(max(speeds))} in {len(speeds)} phases."]
    else:
        parts = [
            f"{words.speed(speed)} from {words.size(phase['from_bytes'])}"
            for speed, phase in zip(speeds, findings["phases"], strict=True)
        ]
        sentences = [f"Reads: {'; then '.join(parts)}."] if parts else []
    mean, explanation = findings["fill_mean_bytes_per_s"], findings.get("read_explanation")
    sentences += [f"Average: {words.speed(mean)}."] if mean else []
    return [*(of_read(explanation) if explanation else []), *sentences]


def of_read(explanation: ReadExplanation) -> list[str]:
    """Describe why a read over the address is slower in some spans, what else may be, and what tells."""
    best, *rivals = explanation["likely"]
    slow, fast = words.speed(explanation["slow_bytes_per_s"]), words.speed(explanation["fast_bytes_per_s"])
    count, size = len(explanation["spans"]), words.size(sum(high - low for low, high in explanation["spans"]))
    where = f"{size} in {count} span{'s' * (count > 1)} are read at {slow}, the rest at {fast}"
    if best["confidence"] < MIN_STATED_CONFIDENCE:
        return [f"{where if count else f'Read at {fast}'}; why is not sure: {_listed(explanation['likely'][:3])}."]
    probably = "" if best["confidence"] >= MIN_SURE_CONFIDENCE else "probably "
    line = f"{f'{where}: ' if count else ''}{probably}{_listed([best])}."
    likely = _listed([each for each in rivals[:2] if each["confidence"] >= MIN_RIVAL_CONFIDENCE])
    return [f"{line[0].upper()}{line[1:]}", *([f"Less likely: {likely}. To tell: {best['tell']}."] if likely else [])]


def _listed(likely: Sequence[Likely]) -> str:
    return " or ".join(f"{each['text']} ({100 * each['confidence']:.0f} %)" for each in likely)


def verified(jobs: Sequence[Job]) -> list[str]:
    """Describe the results of jobs with `verify`: what was correct, and what could not be checked."""
    return [f"{job['name']}: {_verified(job['verified'])}." for job in jobs if "verified" in job]


def _verified(result: Verified) -> str:
    count, by = result["blocks"], result["by"]
    wrong = result.get("wrong_reads", 0)
    clauses = [f"{wrong:,} read{'s' * (wrong > 1)} found a block that is not what was written ({by})"] if wrong else []
    if count:
        clauses.append(f"{count:,} blocks are as they were written ({by}, {words.size(result['bytes'])})")
    elif not wrong:
        clauses.append("nothing was verified")
    if result["unseen_bytes"]:
        why = "verify=null compares nothing" if by == "null" else "the drive keeps no data"
        clauses.append(f"{words.size(result['unseen_bytes'])} were read again, but {why}")
    if result["unjudged_bytes"]:
        clauses.append(
            f"{words.size(result['unjudged_bytes'])} were not judged, for other writes changed them meanwhile"
        )
    return "; ".join(clauses)


def began_full(phases: list[PhaseRow]) -> bool:
    """Whether the cells went past their cache from the start, whatever memory before them took in."""
    cells = [phase["cause"] for phase in phases if phase["cause"] not in MEMORY]
    return bool(cells) and cells[0] in PAST


def _unsure_end(phases: list[PhaseRow]) -> str:
    """Sentence on where the cache may have ended by the causes of the phases, though no end is stated; empty where none
    is."""
    for phase, following in pairwise(phases):
        if phase["cause"] in (*PAST, "native", "gc"):
            return ""
        if phase["cause"] == "pslc" and following["cause"] in PAST:
            fall = 1 - following["bytes_per_s"] / phase["bytes_per_s"]
            little = f", but the speed falls by only {100 * fall:.0f} % there" if 0 < fall < 1 - MAX_FALL_RATIO else ""
            return f"No sure end of the cache: it may have ended after {words.size(phase['to_bytes'])}{little}."
    return ""


def _falls(phases: list[PhaseRow]) -> bool:
    """Whether a phase is slower than one before it by more than a fifth."""
    speeds = [phase["bytes_per_s"] for phase in phases]
    return any(later < MAX_FALL_RATIO * max(speeds[:index]) for index, later in enumerate(speeds) if index)


def alike(size: float, other: float) -> bool:
    """Whether two measurements of a size are told as one."""
    return abs(size - other) <= SAME_SIZE_TOLERANCE * max(size, other)
