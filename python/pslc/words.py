"""Numbers as people read them, and the findings as sentences. GB is 10^9 bytes, MB/s 10^6 bytes a second."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pslc.analysis import PhaseRow, Writes
    from pslc.jobs import Job, Verified

CAUSE = {
    "pslc": "SLC cache",
    "direct": "direct to native cells",
    "fold": "folding",
    "native": "native cells",
    "gc": "garbage collection",
    "map": "map misses",
    "link": "limited by the link",
    "host": "limited by the host",
    "cpu": "limited by the processor",
    "page-cache": "the host's memory",
    "dram": "the drive's buffer",
    "flush": "waiting for flushes",
    "thermal": "thermal throttling",
    "power": "waking up",
    "other": "beside other load",
}
"""What each cause is called beside a speed."""


PAST = ("direct", "fold")
"""Causes of a first phase that began with a full cache."""
NO_PLACE = ("link", "host", "cpu", "flush", "power", "other")
"""Causes that say why a speed is no higher, not where the data went."""
MEMORY = ("dram", "page-cache")
"""Causes of a phase that tells nothing of the drive's cells."""
FALLEN = 0.8
"""A phase of this share of the speed of one before it, or less, is a fall."""
SAME = 0.05
"""Two measurements of a size that differ by no more are told as one: a drive may begin a write with what was left of a
superblock."""
SURE = 0.9
"""A cause that is right less often than this is "probably" so."""
IN_A_ROW = 4
"""Phases that a sentence tells one after the other; of more it tells the fastest and the slowest."""


def size(count: float) -> str:
    """`691 GB`, `3.02 GB`, `512 MB`."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        # Drives are sold by the GB: 2000 GB, not 2 TB.
        if abs(count) >= (1e13 if unit == "TB" else 0.9995 * scale):
            return f"{_three(count / scale)} {unit}"
    return f"{count:.0f} B"


def block(count: int) -> str:
    """`512 B`, `4 KiB`, `64 MiB`: a size of a request or a span, which is a power of two."""
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << shift:
            return f"{count / (1 << shift):.4g} {unit}"
    return f"{count} B"


def speed(bytes_per_s: float) -> str:
    """`6632 MB/s`; `4.10 kB/s` below 0.1 MB/s."""
    if 0 < bytes_per_s < 1e5:
        return f"{_three(bytes_per_s / 1e3)} kB/s"
    return f"{_three(bytes_per_s / 1e6)} MB/s"


def times(ratio: float) -> str:
    """Of a figure to another: `1.24 times`, `1/93`."""
    if 0 < ratio < 0.1:
        return f"1/{count(1 / ratio)}"
    return f"{ratio:.3f} times" if ratio < 9.9995 else f"{count(ratio)} times"


def joules(joules: float) -> str:
    """`1.91 J`."""
    return f"{_three(joules)} J"


def span(seconds: float) -> str:
    """`12.5 days`, `24 min 54 s`, `5 min`, `1.25 s`, `310 us`."""
    if seconds >= 100 * 3600:
        return f"{_three(seconds / 86_400)} days"
    for large, small, unit, part in ((3600, 60, "h", "min"), (60, 1, "min", "s")):
        if seconds >= large:
            rest = int(seconds % large // small)
            return f"{int(seconds // large)} {unit} {rest} {part}" if rest else f"{int(seconds // large)} {unit}"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= 0.9995 * scale:
            return f"{_three(seconds / scale)} {unit}"
    return f"{seconds * 1e9:.0f} ns" if seconds else "0 s"


def quantity(value: float, unit: str) -> str:
    """A figure of `pslc.findings.quantities`: bytes, bytes a second, a share, a rate, seconds or another unit."""
    if unit == "B":
        return size(value)
    if unit == "B/s":
        return speed(value)
    if unit == "share":
        return share(value)
    if unit == "/s":
        return f"{count(value)} /s"
    if unit == "W" and abs(value) < 0.9995:
        return f"{_three(1e3 * value)} mW"
    if unit in ("", "points"):
        return f"{count(value)} {unit}".strip()
    return span(value) if unit == "s" else years(value) if unit == "years" else f"{_three(value)} {unit}"


def count(number: float) -> str:
    """`819 303`, `17.3`."""
    if abs(number) >= 100:
        return f"{number:,.0f}".replace(",", " ")
    return f"{number:g}" if float(number).is_integer() else _three(number)


def share(part: float) -> str:
    """`12.5 %`."""
    return f"{_three(100 * part)} %"


def _three(number: float) -> str:
    """Three digits at least, and all of those before the point."""
    digits = 0 if abs(number) >= 99.95 else 1 if abs(number) >= 9.995 else 2
    return f"{number:.{digits}f}"


def _why(phase: PhaseRow) -> str:
    return "" if phase["cause"] == "unknown" else f" ({_probably(phase)}{CAUSE[phase['cause']]})"


def _step(phases: list[PhaseRow]) -> str:
    """`SLC cache 6632 MB/s, later 5573 MB/s`, of phases in a row of one cause."""
    first = phases[0]
    speeds = ", later ".join(speed(phase["bytes_per_s"]) for phase in phases)
    if first["cause"] in NO_PLACE:
        return f"{speeds}{_why(first)}"
    return f"{_probably(first)}{CAUSE[first['cause']]} {speeds}" if first["cause"] != "unknown" else speeds


def _probably(phase: PhaseRow) -> str:
    return "" if phase["confidence"] >= SURE else "probably "


def sentences(findings: Writes) -> list[str]:
    """What was found, the most important first."""
    said = []
    cache, low, high = findings["cache_bytes"], findings["cache_bytes_low"], findings["cache_bytes_high"]
    phases = findings["phases"]
    if cache is not None and low is not None and high is not None:
        interval = f" ({size(low)} to {size(high)}, 90 % interval)" if size(low) != size(high) else ""
        said.append(f"The write cache ends after {size(cache)}{interval}.")
    elif low is not None:
        said.append(f"The write cache holds {size(low)} or more: the run ended before it was full.")
    elif began_full(phases):
        said.append("No write cache is left: it was full from the start.")
    elif _falls(phases):
        said.append("No end of a cache: the speed fell for other reasons.")
    elif phases:
        said.append("No cliff: the speed never fell by more than a fifth.")
    if 0 < len(phases) <= IN_A_ROW:
        steps = "; then ".join(_step(list(some)) for _, some in groupby(phases, key=lambda phase: phase["cause"]))
        said.append(f"{steps[0].upper()}{steps[1:]}.")
    elif phases:
        cells = [phase for phase in phases if phase["cause"] not in MEMORY] or phases
        slowest, fastest = (pick(cells, key=lambda phase: phase["bytes_per_s"]) for pick in (min, max))
        said.append(f"Fastest: {speed(fastest['bytes_per_s'])}{_why(fastest)}.")
        if slowest is not fastest:
            times = fastest["bytes_per_s"] / slowest["bytes_per_s"]
            said.append(f"Slowest: {speed(slowest['bytes_per_s'])}{_why(slowest)}, {times:.1f} times slower.")
    throttled = findings.get("throttled_s")
    if throttled is not None:
        free = phases and not any(phase["cause"] == "thermal" for phase in phases)
        at_no_cost = ", though no phase was slower for it" if free else ""
        said.append(f"Thermal throttling: {span(throttled)}{at_no_cost}." if throttled else "No thermal throttling.")
    if findings["fill_mean_bytes_per_s"]:
        said.append(f"Average: {speed(findings['fill_mean_bytes_per_s'])}.")
    waf, lasts = findings.get("waf"), findings.get("life_years")
    if waf is not None and lasts is not None:
        said.append(f"Write amplification is {waf:.2f}; at this load, day and night, it lasts {years(lasts)}.")
    return said


def verified(jobs: Sequence[Job]) -> list[str]:
    """What jobs with `verify` found right, and what they could say nothing of."""
    return [f"{job['name']}: {_verified(job['verified'])}." for job in jobs if "verified" in job]


def _verified(found: Verified) -> str:
    count, by = found["blocks"], found["by"]
    said = [
        f"{count:,} blocks are as they were written ({by}, {size(found['bytes'])})" if count else "nothing was verified"
    ]
    if found["unseen_bytes"]:
        why = "verify=null compares nothing" if by == "null" else "the drive keeps no data"
        said.append(f"{size(found['unseen_bytes'])} were read again, but {why}")
    if found["unjudged_bytes"]:
        said.append(f"{size(found['unjudged_bytes'])} were not judged, for other writes changed them meanwhile")
    return "; ".join(said)


def began_full(phases: list[PhaseRow]) -> bool:
    """Whether the cells went past their cache from the start, whatever memory before them took in."""
    cells = [phase["cause"] for phase in phases if phase["cause"] not in MEMORY]
    return bool(cells) and cells[0] in PAST


def _falls(phases: list[PhaseRow]) -> bool:
    """Whether a phase is slower than one before it by more than a fifth."""
    speeds = [phase["bytes_per_s"] for phase in phases]
    return any(later < FALLEN * max(speeds[:at]) for at, later in enumerate(speeds) if at)


def alike(size: float, other: float) -> bool:
    """Whether two measurements of a size are told as one."""
    return abs(size - other) <= SAME * max(size, other)


def years(number: float) -> str:
    """How long a drive lasts."""
    if number >= 1000:
        return "more than 1000 years"
    days = number * 365.25
    return f"{count(number)} years" if number >= 1 else f"{days:.0f} days" if days >= 2 else span(days * 86400)
