"""Findings of a simulated run held against the profile and the counters of its own drive.

A simulated drive knows what a suite infers: its threshold, its cache, its buffer, its link. A finding that these refute
is an error of pslc, not of the drive, and is told as one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from pslc.analysis import AnalysisWarning
from pslc.analysis.thresholds import MAX_SLOW_START_SHARE
from pslc.base import files, units, words
from pslc.recording.model import Recording
from pslc.recording.warnings import RecordingWarning
from pslc.recording.writes.evidence import CACHED, FOLDED, MIN_CACHED_SHARE, max_fold_bytes_per_s
from pslc.schema.warnings import MeasurementWarning

Finding = Mapping[str, Any]
Refuted = Iterator[tuple[str, str, str]]
"""Name of a finding, what it says, and what is true."""

TOLERANCE: Final = 0.1
"""Relative error of a size or a time beyond its interval, from which it contradicts: one interval in ten fails."""
MAX_SPEED_RATIO: Final = 1.05
"""Speed over the link's, from which it contradicts: the last data of a short test are still in the write buffer."""
MAX_GOES_ON_SHARE: Final = 0.9
"""Share of the bytes right behind the end of a cache that go into it, without more folding than before: it goes on."""
BEHIND_SHARE: Final = 0.1
"""Bytes behind the end of a cache that are looked at, as a share of it."""
MIN_IDLE_SHARE: Final = 0.1
"""Share of the cache that was folded while idle, from which the drive frees its cache."""
STRETCHES: Final = ((0.005, 4.0), (0.03, 1.5))
"""Share of a write, and the ratio of speeds from which that much at the start of a phase is a phase of its own, as
`pslc.analysis.find_phases` has it."""
CELSIUS: Final = 1.0
"""Difference of a temperature that contradicts, in K."""
TELLS_OF_FULL: Final = {
    each.code for each in (AnalysisWarning.EARLY, AnalysisWarning.HIDDEN, AnalysisWarning.HELD, AnalysisWarning.USED_UP)
}
"""Warnings that tell of a cache although no end is stated."""
CACHE_STEPS: Final = {"recovery": "find-empty", "overwrite": "find-cache"}
"""Job that a suite finds its cache with."""
COUNTED_CAUSES: Final = {
    "fold": "folded_bytes_total",
    "gc": "gc_bytes_total",
    "direct": "host_to_native_bytes_total",
    "pslc": "host_to_slc_bytes_total",
    "map": "map_wait_ns_total",
    "thermal": "waited_heat_ns_total",
    "link": "link_write_busy_ns_total",
}
"""Counter that rises where a cause limits."""


def contradictions(recording: Recording) -> list[MeasurementWarning]:
    """Return a warning for each finding of a simulated run that its profile or its counters refute.

    Checked are thresholds, rates, residues, caches and their tiers, buffers, speeds, causes, temperature and life; of a
    real drive nothing, as nobody knows what is true there, and of an array nothing, as its profile is one member's.
    """
    if not recording.is_simulated or "array" in recording.facts or recording.cut_off is not None:
        return []
    drive = _Drive(recording)
    warnings = [
        RecordingWarning.CONTRADICTION.of(finding=f"{path}{name}", value=value, truth=truth)
        for path, finding in _tables(recording.findings)
        for check in CHECKS
        for name, value, truth in check(finding, drive)
    ]
    return list(dict.fromkeys(warnings))


def _tables(value: Any, path: str = "") -> Iterator[tuple[str, Finding]]:
    """Every dictionary among findings, with the path to it."""
    if isinstance(value, Mapping):
        yield path, value
        for name, part in value.items():
            yield from _tables(part, f"{path}{name}.")
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _tables(part, path)


@dataclass(frozen=True)
class _Drive:
    """Truth about the drive of a recording."""

    recording: Recording

    @cached_property
    def keys(self) -> dict[str, Any]:
        """The resolved profile, its keys with dots."""
        return dict(files.dotted(self.recording.profile_keys))

    @property
    def cache_bytes(self) -> float:
        """The most that its cache holds."""
        return float(self.recording.facts["cache_bytes"])

    @property
    def threshold_s(self) -> float:
        """Idle time before it folds; infinite where it never does."""
        stated = self.keys.get("cache.idle.threshold")
        return units.seconds(stated, "cache.idle.threshold") if stated else math.inf

    @property
    def has_page_cache(self) -> bool:
        """Whether memory of the host may take what the link does not carry."""
        return any(key in self.keys for key in ("host.page_cache", "host.driver_cache"))

    @property
    def link_bytes_per_s(self) -> float:
        """The most that its link carries one way."""
        facts = self.recording.facts
        return max(facts["link_bytes_per_s"], facts["link_read_bytes_per_s"])

    def rose(self, counter: str) -> int:
        """Rise of a counter in the run."""
        return self.recording.totals[counter] - self.recording.before[counter]

    @cached_property
    def write(self) -> _Write | None:
        """Writes that a suite finds its cache with, or those of a run of one step; None where it read or trimmed."""
        job = CACHE_STEPS.get(self.recording.suite)
        parts = [part for part in self.recording.parts if job in (None, part.jobs[0]["name"] if part.jobs else "")]
        if len(parts) != 1 or parts[0].bytes["reads"].any() or parts[0].bytes["trims"].any():
            return None
        return _Write(parts[0])


class _Write:
    """Counters and time of a step that wrote, by bytes written."""

    def __init__(self, part: Recording) -> None:
        self.part = part
        self.edges = np.append(0.0, np.cumsum(part.bytes["write_bytes"], dtype=np.float64))
        start = max([part.start_ns, *(job["start_ns"] for job in part.jobs[:1])])
        self.seconds = np.append(0.0, (part.bytes["end_ns"].astype(np.float64) - start) / 1e9)

    def kept(self, from_bytes: float, to_bytes: float) -> float:
        """Bytes written between two places that the cache took and that were not folded meanwhile."""
        into, folded = (self.part.rise(name, from_bytes, to_bytes) for name in (CACHED, FOLDED))
        return into - folded

    def begin_bytes_per_s(self, phase: Mapping[str, Any], count: float, skipped: float) -> float:
        """Speed of so many bytes of a phase, behind those `skipped`; its own speed where it has no more."""
        places = phase["from_bytes"] + skipped + np.array([0.0, count])
        if places[1] > phase["to_bytes"]:
            return float(phase["bytes_per_s"])
        return count / float(np.diff(np.interp(places, self.edges, self.seconds))[0])


def _outside(truth: float, low: float, high: float, slack: float = 0.0) -> bool:
    """Whether the truth lies beyond an interval by more than its tolerance."""
    return truth < low * (1 - TOLERANCE) - slack or truth > high * (1 + TOLERANCE) + slack


def _threshold(finding: Finding, drive: _Drive) -> Refuted:
    """The idle threshold is the profile's, and a drive that folded while idle frees its cache."""
    if "idle_threshold_s" not in finding:
        return
    value, low, true = finding["idle_threshold_s"], finding["idle_threshold_s_low"], drive.threshold_s
    name = f"cache.idle.threshold is {words.span(true)}" if math.isfinite(true) else "cache.idle is never"
    if value is not None and _outside(true, low, finding["idle_threshold_s_high"], slack=0.1):
        yield "idle_threshold_s", words.span(value), name
    folded = drive.rose("idle_folded_bytes_total")
    if value is None and low is not None and low > true and folded > MIN_IDLE_SHARE * drive.cache_bytes:
        yield "idle_threshold_s", f"more than {words.span(low)}", f"{name}, and {words.size(folded)} were folded then"


def _rate(finding: Finding, drive: _Drive) -> Refuted:
    """A cache is not freed faster than the cells take it."""
    low = finding.get("migration_bytes_per_s_low")
    if low is not None and low > (1 + TOLERANCE) * (limit := max_fold_bytes_per_s(drive.recording.facts)):
        yield "migration_bytes_per_s", f"{words.speed(low)} or more", f"the dies fold {words.speed(limit)}"


def _residue(finding: Finding, drive: _Drive) -> Refuted:
    """The part that is never freed is the profile's residue, to some superblocks on either side."""
    if finding.get("residue_bytes") is None:
        return
    true = float(units.size(drive.keys.get("cache.idle.residue", "0B"), "cache.idle.residue"))
    slack = 2.0 * drive.recording.facts["slc_superblock_bytes"] + 0.03 * (finding["cache_bytes"] or 0.0)
    if _outside(true, finding["residue_bytes_low"], finding["residue_bytes_high"], slack):
        yield "residue_bytes", words.size(finding["residue_bytes"]), f"cache.idle.residue is {words.size(true)}"


def _cache(finding: Finding, drive: _Drive) -> Refuted:
    """A cache took what was written before its end by the counters, and no longer what comes right behind it."""
    end, write = finding.get("cache_bytes"), drive.write
    if (
        not end
        or write is None
        or drive.has_page_cache
        or not ("phases" in finding or write.part is not drive.recording)
    ):
        return
    share = write.part.rise(CACHED, 0.0, end) / end
    if share < MIN_CACHED_SHARE:
        yield "cache_bytes", words.size(end), f"only {words.share(share)} of that went into the cache"
    width = BEHIND_SHARE * end
    # What a drive that left off past its cache completed there first is no part of it.
    past = write.part.rise("host_to_native_bytes_total", 0.0, end)
    begin = finding.get("cache_bytes_high", end) + drive.recording.facts["write_buffer_bytes"] + past
    if begin + width > write.edges[-1]:
        return
    goes_on = write.part.rise(CACHED, begin, begin + width) / width
    folds_more = write.part.rise(FOLDED, begin, begin + width) / width - write.part.rise(FOLDED, 0.0, end) / end
    if goes_on > MAX_GOES_ON_SHARE and folds_more < 1 - MAX_GOES_ON_SHARE:
        yield "cache_bytes", words.size(end), f"{words.share(goes_on)} of what follows goes into the cache as well"


def _denied(finding: Finding, drive: _Drive) -> Refuted:
    """A cache whose end is denied did not take what it holds and then less; a warning that says so is enough."""
    write, end = drive.write, drive.cache_bytes
    denied = finding.get("phases") and finding["cache_bytes_low"] is None
    # A cache that is smaller than the write buffer is never seen.
    buffer_bytes = drive.recording.facts["write_buffer_bytes"]
    if not denied or write is None or drive.has_page_cache or not buffer_bytes < end < write.edges[-1] / 3:
        return
    codes = {warning.code for warning in finding["warnings"]}
    at_first, behind = (write.kept(place, place + end) / end for place in (0.0, (1 + BEHIND_SHARE) * end))
    if at_first > MIN_CACHED_SHARE > 1 - MIN_CACHED_SHARE > behind and not codes & TELLS_OF_FULL:
        yield "cache_bytes", "none", f"{words.size(end)} went into the cache until it was full"


def _buffer(finding: Finding, drive: _Drive) -> Refuted:
    """The write buffer is the profile's."""
    value, true = finding.get("buffer_bytes"), drive.recording.facts["write_buffer_bytes"]
    if value is not None and _outside(true, finding["buffer_bytes_low"], finding["buffer_bytes_high"]):
        yield "buffer_bytes", words.size(value), f"controller.write_buffer is {words.size(true)}"


def _speeds(finding: Finding, drive: _Drive) -> Refuted:
    """No speed is above what the link carries; a mix goes both ways, and idle work passes no link (`_rate`)."""
    for name, value in finding.items():
        ways = 2 if name.startswith("mix") else 1
        limit = ways * drive.link_bytes_per_s
        is_speed = re.fullmatch(r"(?!migration_)\w*bytes_per_s", name) and isinstance(value, int | float)
        if is_speed and not 0 <= value <= MAX_SPEED_RATIO * limit and not drive.has_page_cache:
            yield name, words.speed(value), f"the link carries {words.speed(limit)}"


def _stretch_bytes(share: float, number: int, drive: _Drive) -> float:
    """Bytes at the start of a phase that may be one of its own: of the first phase no more than the cache holds."""
    count = share * float(drive.write.edges[-1]) if drive.write else 0.0
    is_cache = number == 1 and share == STRETCHES[0][0] and drive.cache_bytes > 0
    return min(count, drive.cache_bytes) if is_cache else count


def _phases(finding: Finding, drive: _Drive) -> Refuted:
    """A phase has one speed, and its cause took time or bytes by the counters."""
    phases, write = finding.get("phases") or [], drive.write
    if write is None or not phases or abs(write.edges[-1] - phases[-1]["to_bytes"]) > 1.0:
        return
    for number, phase in enumerate(phases, 1):
        for share, limit in STRETCHES:
            # A border between two phases may be off by a stretch, and the first may start slowly; folding comes and
            # goes, and the spread says so.
            count = _stretch_bytes(share, number, drive)
            skipped = count if number > 1 or share >= MAX_SLOW_START_SHARE else 0.0
            speed = write.begin_bytes_per_s(phase, count, skipped)
            ratio = max(phase["bytes_per_s"] / speed, speed / phase["bytes_per_s"])
            if ratio > limit and phase["spread"] < 1 - 1 / limit:
                truth = f"{words.size(count)} at its start were written at {words.speed(speed)}"
                yield f"phases {number}", words.speed(phase["bytes_per_s"]), truth
        counter = COUNTED_CAUSES.get(phase["cause"])
        if counter is not None and write.part.rise(counter, phase["from_bytes"], phase["to_bytes"]) <= 0:
            yield f"phases {number}", phase["cause"], f"{counter} did not rise"


def _heat(finding: Finding, drive: _Drive) -> Refuted:
    """No temperature is above the hottest of the chips, nor below the air around."""
    hottest = float(drive.recording.time["temperature_millicelsius"].max(initial=0)) / 1e3
    for name in ("start_c", "most_c", "throttled_at_c"):
        value = finding.get(name)
        if value is not None and value > hottest + CELSIUS:
            yield name, f"{value:.1f} °C", f"the chips reach {hottest:.1f} °C"


def _life(finding: Finding, drive: _Drive) -> Refuted:
    """No life is longer than all cycles of all cells."""
    facts, life = drive.recording.facts, finding.get("life_bytes")
    if life is None:
        return
    limit = sum(facts[f"{cells}_cycles"] * facts[f"{cells}_raw_bytes"] for cells in ("slc", "native"))  # type: ignore[literal-required]
    if not 0 < life <= limit:
        yield "life_bytes", words.size(life), f"all cycles of all cells are {words.size(limit)}"


CHECKS: Final[tuple[Callable[[Finding, _Drive], Refuted], ...]] = (
    _threshold, _rate, _residue, _cache, _denied, _buffer, _speeds, _phases, _heat, _life,
)  # fmt: skip
"""Every check there is; each looks at one dictionary among the findings."""
