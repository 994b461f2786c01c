"""Is it a cache that ends? Measurements that tell a cache from heat, a full link and a disk.

The write again, a write after a pause of five minutes, reads, and the same write at a lower rate: a cache ends at the
same byte whatever the rate, heat at the same second. With `--explains RUN` each explanation of that recording is said
to be right or not.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from typing_extensions import TypedDict

from pslc.base import words
from pslc.device.region import MIB, PAGE, Expected, Region, Scope
from pslc.figures import curves
from pslc.figures.picture import Panel, Picture, Table
from pslc.figures.tables import of_rows
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import (
    CLIFF,
    Cache,
    cache,
    curve,
    finished,
    jobs,
    latency,
    not_tried,
    speed,
    was_tried,
)
from pslc.schema.unknown import unknown
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "the first write ends after half of the drive, and the pause is a minute long"
COMPUTER = "none"
UNLIKE_SCALED = "a pause gives back more of a scaled drive"

PAST = 1.3
"""Length of a write over the end that is looked for."""
REST_S, QUICK_REST_S = 300.0, 60.0
AFTER_REST_BYTES = 10_000_000_000
"""Bytes that are written after the pause, or half of the cache if that is less."""
READ_BYTES = 4 << 30
SEEKS = 2000
"""Number of random reads, of a page each."""
SAME = 0.1
"""Two ends that lie this close, as a share of the first, are at the same byte."""
FULL_LINK = 1.05
"""Reads faster than the fast writes by less leave open that the link is full."""
DISK_S = 2e-3
"""Mean of a random read from which on something turns."""

Verdict = Literal["yes", "no", "unknown"]
OPPOSITE: Final[Mapping[Verdict, Verdict]] = {"yes": "no", "no": "yes", "unknown": "unknown"}


def steps(region: Region) -> Steps:
    """The write again, a write after a pause, reads, and the first write at a lower rate."""
    size = region.share(0.5) if region.quick else region.size
    ends = [explanation.cache_bytes for explanation in region.explains if explanation.cache_bytes]
    if ends:
        size = min(int(PAST * max(ends)) // MIB * MIB or MIB, region.size)
    part = yield region.write("again", size)
    end = _fall(part) if part else Cache(size / PAST, size / PAST, size / PAST, 2e9, 5e8, 5e8)
    if end is None:
        return
    pause = QUICK_REST_S if region.quick else REST_S
    yield region.write("rested", max(int(min(AFTER_REST_BYTES, end.bytes / 2)) // MIB * MIB, MIB), pause=pause)
    seek = region.job("seek", rw="randread", bs=PAGE, size=size, number_ios=SEEKS)
    yield region.job("read", rw="read", bs="1m", iodepth=32, size=min(READ_BYTES, size)) + seek
    yield region.trim("forget")
    if _is_steep(end):
        far = min(int(PAST * end.bytes) // MIB * MIB, region.size)
        yield region.write("paced", far, pause=pause, rate=round((end.fast * end.slow) ** 0.5))


def _fall(part: Recording) -> Cache | None:
    """Fall of a write, as its curve shows it: the counters of a simulated drive would tell a cache from heat."""
    return cache(replace(part, profile=""))


def _is_steep(end: Cache) -> bool:
    """Whether a rate between both speeds shows the end, too."""
    return end.fast > CLIFF**2 * end.slow


class Test(TypedDict):
    """A test, what it measured, and what that rules out: `heat`, `link`, `disk`, `cache`; empty: nothing."""

    test: str
    measured: str
    rules_out: str


class Judged(TypedDict):
    """An explanation of the recording that was given, and whether it is right."""

    explanation: str
    confidence: float | None
    holds: Verdict


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    written_bytes: int
    end_bytes: float | None
    paced_end_bytes: float | None
    returned_share: float | None
    fast_bytes_per_s: float | None
    read_bytes_per_s: float | None
    seek_s: float | None
    is_cache: Verdict
    tests: list[Test]
    explanations: list[Judged]
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `written_bytes`: of the first write
    - `end_bytes`, `paced_end_bytes`: bytes written before the speed fell, and likewise at a lower rate; null where it
      did not fall
    - `returned_share`: share of what was written after the pause that was as fast as before
    - `fast_bytes_per_s`: speed before the fall
    - `read_bytes_per_s`, `seek_s`: speed of sequential reads, and mean of a random read of 4 KiB
    - `is_cache`: `yes` where the end is at the same byte at a lower rate and nothing turns; `no` where nothing fell or
      random reads are a disk's; else `unknown`
    - `tests`: of each `test` what was `measured`, and what that `rules_out`: `heat`, `link`, `disk`, `cache`
    - `explanations`: of `--explains`: each `explanation`, how likely it was (`confidence`), and whether it `holds`
    """
    row, last = _measured(recording)
    end = row["end_bytes"]
    if finished(recording, last) is None:
        row["warnings"].append(not_tried("its last step"))
        return row
    row["tests"] = list(_tests(row, has_paced=finished(recording, "paced") is not None)) if end else []
    out = [test["rules_out"] for test in row["tests"]]
    row["is_cache"] = "no" if end is None or "cache" in out else "yes" if "heat" in out else "unknown"
    row["explanations"] = [
        {"explanation": each.text, "confidence": each.confidence, "holds": _holds(each, row)}
        for each in Scope.of(recording.scope).explains
    ]
    return row


def _measured(recording: Recording) -> tuple[Findings, str]:
    """Results of the steps that were finished, and the name of the last one that belongs to the run."""
    again, rested, paced = (finished(recording, name) for name in ("again", "rested", "paced"))
    end = _fall(again) if again else None
    job = dict(jobs(recording))
    row = unknown(Findings)
    row |= {"written_bytes": again.written_bytes if again else 0, "is_cache": "unknown"}
    row |= {
        "read_bytes_per_s": speed(job["read"], "read") if "read" in job else None,
        "seek_s": latency(job["seek"], "read") if "seek" in job else None,
    }
    if end is None:
        return row, "again"
    row |= {"end_bytes": end.bytes, "fast_bytes_per_s": end.fast}
    if rested and (after := curve(rested)):
        row["returned_share"] = end.fast_bytes(after) / after.total_bytes
    if paced and (slow := _fall(paced)):
        row["paced_end_bytes"] = slow.bytes
    return row, "paced" if _is_steep(end) else "forget"


def _tests(row: Findings, *, has_paced: bool) -> Iterator[Test]:
    """The tests of a write that fell."""
    end, slow, share = row["end_bytes"], row["paced_end_bytes"], row["returned_share"]
    read, fast, seek = row["read_bytes_per_s"], row["fast_bytes_per_s"], row["seek_s"]
    assert end is not None
    if has_paced:
        out = "heat" if slow is not None and abs(slow / end - 1) < SAME else ""
        where = f"falls after {words.size(slow)}" if slow else "does not fall"
        yield Test(test="the same write at a lower rate", measured=where, rules_out=out)
    if share is not None:
        text = f"{100 * share:.0f} % of it is as fast as at first"
        yield Test(test="a write after a pause", measured=text, rules_out="")
    if read is not None and fast is not None:
        out = "link" if read > FULL_LINK * fast else ""
        text = f"{words.speed(read)}; fast writes {words.speed(fast)}"
        yield Test(test="reads in sequence", measured=text, rules_out=out)
    if seek is not None:
        out = "cache" if seek > DISK_S else "disk"
        yield Test(test="random reads of 4 KiB", measured=f"{words.span(seek)} each", rules_out=out)


def _holds(expected: Expected, row: Findings) -> Verdict:
    """Whether an explanation is right: one of a cache by where it ends, one without by whether there is one."""
    end = row["end_bytes"]
    if expected.cache_bytes is None:
        return OPPOSITE[row["is_cache"]] if end is not None else "unknown"
    if end is None or abs(end / expected.cache_bytes - 1) > SAME:
        return "no"
    return row["is_cache"]


def explanations(findings: Mapping[str, Any]) -> tuple[Expected, ...]:
    """The explanations of another recording's findings, the likeliest first."""
    size, low = findings.get("cache_bytes"), findings.get("cache_bytes_low")
    first = f"a cache that ends after {words.size(size)}" if size else "no cache that ends"
    if low and not size:
        first = f"a cache that holds {words.size(low)} or more"
    more = (
        Expected(each["explanation"], each["cache_bytes"], each["confidence"])
        for each in findings.get("alternatives", ())
    )
    return (Expected(first, size, findings.get("cache_confidence")), *more)


def sentences(findings: Findings) -> list[str]:
    """The verdict, then what rules others out, then the explanations that were given."""
    end, slow, share = findings["end_bytes"], findings["paced_end_bytes"], findings["returned_share"]
    if not was_tried(findings):
        return []
    if end is None:
        written = words.size(findings["written_bytes"])
        return [f"The speed does not fall within {written}, so no cache ended there.", *_of_explanations(findings)]
    at = words.size(end)
    verdicts = {
        "yes": f"It is a cache that ends after {at}: at a lower rate it ends at the same byte, which heat does not.",
        "no": f"It is no cache that ends after {at}: random reads take as long as a disk's.",
        "unknown": f"The speed falls after {at}, and these tests do not tell why.",
    }
    lines = [verdicts[findings["is_cache"]]]
    if findings["is_cache"] == "unknown":
        lines.append(f"At a lower rate it {_unlike(end, slow)}.")
    if share is not None:
        lines.append(f"After a pause {100 * share:.0f} % of the next write was as fast as at first.")
    read, fast = findings["read_bytes_per_s"], findings["fast_bytes_per_s"]
    if read and fast:
        is_faster = read > FULL_LINK * fast
        so = "so the link does not limit the fast part" if is_faster else "so the link may limit both"
        lines.append(f"Reads reach {words.speed(read)}, fast writes {words.speed(fast)}, {so}.")
    return [*lines, *_of_explanations(findings)]


def _unlike(end: float, slow: float | None) -> str:
    """Clause on an end that is not at the same byte at a lower rate."""
    if slow is None:
        return "does not fall: heat, or a cache that empties meanwhile, or one that is hardly faster"
    because = "a cache that was not free" if slow < end else "a cache that empties meanwhile"
    return f"falls after {words.size(slow)}: heat, or {because}"


def _of_explanations(findings: Findings) -> list[str]:
    """A sentence for each explanation of the recording that was given."""
    verdicts = {"yes": "right", "no": "wrong", "unknown": "neither shown nor ruled out"}
    lines = []
    for each in findings["explanations"]:
        likely = f" ({100 * each['confidence']:.0f} %)" if each["confidence"] is not None else ""
        lines.append(f'The explanation "{each["explanation"]}"{likely} is {verdicts[each["holds"]]}.')
    return lines


def tables(findings: Findings) -> list[Table]:
    """The tests in rows."""
    columns = {"test": "test", "measured": "measured", "rules out": "rules_out"}
    return [of_rows("Tests", findings["tests"], columns)] if findings["tests"] else []


def pictures(recording: Recording) -> list[Picture]:
    """The write, at full speed and at the lower rate, against data written."""
    lines = []
    for name, text in (("again", "full speed"), ("paced", "lower rate")):
        part = finished(recording, name)
        line = curves.write_line(part) if part else None
        lines += [replace(line, name=text)] if line is not None else []
    drawn = Picture("speed-bytes", "The same write at two rates", curves.WRITTEN, (Panel(curves.SPEED, lines),))
    return [drawn, *curves.of_any(recording)]
