"""How slowly are old data read, and what does the firmware do about it? Data are written, age, and are read again.

After the 840 EVO, which read data of 6 to 8 weeks at 50 to 100 MB/s (AnandTech 8617; PC Perspective, 2014 and 2015). A
simulated drive is switched off between the reads, at 30 °C. Then its firmware has an hour to rewrite what is old, and
all is read once more. Of a real drive pslc reads what is there and writes nothing: the files of a folder, by when they
were last changed, or a whole device over its address.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import numpy as np
from typing_extensions import TypedDict

from pslc.base import words
from pslc.device import drive_files
from pslc.device.region import MIB, Region
from pslc.figures import curves
from pslc.figures.picture import Axis, Line, Panel, Picture, Table
from pslc.figures.tables import Columns, of_rows
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import finished, jobs, not_tried, speed
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "an eighth of the data"
COMPUTER = "none"
READS_BACK = True
WEEK_S: Final = 7 * 86_400.0
AGES: Final = {"fresh": 0} | {f"{weeks} weeks": weeks for weeks in (2, 4, 6, 8, 13, 26, 52)}
"""Age in weeks at which each span is first read; the published ones are 6 to 8."""
SPAN_BYTES: Final = 512 * MIB
MAX_SPAN_SHARE: Final = 1 / 16
FOLD_S: Final = 600.0
"""Silence behind the write, in which the cache is folded: data in it may never age."""
REFRESH_S: Final = 3600.0
"""Silence in which the firmware may rewrite what is old."""
MAX_SLOW_RATIO: Final = 0.8
"""Speed over that of fresh data, up to which old data are slow: a fall of a fifth is a cliff of writes, too."""
SAME_SPEED_RATIO: Final = 1.05
"""Speeds within this ratio of each other are called one."""
AGAIN: Final = "again "


def off_s(step: str) -> float:
    """Seconds for which a simulated drive is switched off before a step, by the name of its first job."""
    weeks = {name: age - before for (_, before), (name, age) in pairwise(AGES.items())}
    return WEEK_S * weeks.get(step, 0)


def steps(region: Region) -> Steps:
    """A write, a silence, a read of one span at each age, a longer silence, and a read of all spans."""
    span = max(min(SPAN_BYTES // (8 if region.quick else 1), region.share(MAX_SPAN_SHARE)), MIB)
    places = {name: number * span for number, name in enumerate(AGES)}
    # What is written last may stay in a superblock of the cache that is still open, so it is not read.
    yield region.write("write", min(span * (len(AGES) + 1), region.size))
    yield _silence(region, "fold", FOLD_S)
    for name, offset in places.items():
        yield _read(region, name, offset, span)
    yield _silence(region, "refresh", REFRESH_S)
    yield "".join(_read(region, f"{AGAIN}{name}", offset, span) for name, offset in places.items())


def _silence(region: Region, name: str, seconds: float) -> str:
    """A silence, and behind it the shortest read there is."""
    return region.job(name, rw="read", bs="4k", size=MIB, number_ios=1, pause=seconds)


def _read(region: Region, name: str, offset: int, size: int) -> str:
    """A read as a copy of a file makes it, and HD Tune: one request at a time."""
    return region.job(name, rw="read", bs="128k", iodepth=1, offset=offset, size=size)


class Aged(TypedDict):
    """Reads of data of one age."""

    data: str
    age_s: float
    bytes_per_s: float
    tries: float | None
    again_bytes_per_s: float | None


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    old_data: list[Aged]
    ages: bool | None
    refreshes: bool | None
    refreshed_bytes: int | None
    refresh_s: float | None
    refresh_waf: float | None
    native_cycles: int | None
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `old_data`: of each age (`data`, `age_s`) `bytes_per_s`; `tries` of a read of the cells: the time of the dies over
      that for fresh data, null of a real drive; `again_bytes_per_s` after the silence
    - `ages`: whether the profile says how cells age; `refreshes`: whether its firmware rewrites old data; null of a
      real drive
    - `refreshed_bytes`, `refresh_s`: what the firmware rewrote in the silence, and until when; `refresh_waf`: over what
      was written; null where it rewrote nothing
    - `native_cycles`: cycles that the cells stand
    """
    return {
        "old_data": list(_aged(recording)),
        "ages": drive_files.ages(recording.profile),
        "refreshes": recording.profile_keys["ftl"]["refresh"] != "never",
        **_refresh(finished(recording, "refresh"), recording.written_bytes),
        "native_cycles": recording.facts.get("native_cycles"),
        "warnings": [] if finished(recording, f"{AGAIN}fresh") else [not_tried("the data were read again")],
    }


def _aged(recording: Recording) -> Iterator[Aged]:
    """A row for each age whose read was finished."""
    done = dict(jobs(recording))
    of_fresh: float | None = None
    for name, weeks in AGES.items():
        part, again = finished(recording, name), done.get(f"{AGAIN}{name}")
        if part is None:
            continue
        busy = (part.totals["die_busy_ns_total"] - part.before["die_busy_ns_total"]) / part.read_bytes
        of_fresh = of_fresh or busy
        yield {
            "data": name,
            "age_s": WEEK_S * weeks,
            "bytes_per_s": speed(part.jobs[0], "read"),
            "tries": busy / of_fresh,
            "again_bytes_per_s": speed(again, "read") if again else None,
        }


class _Refresh(TypedDict):
    refreshed_bytes: int | None
    refresh_s: float | None
    refresh_waf: float | None


def _refresh(silence: Recording | None, written: int) -> _Refresh:
    """Bytes that the firmware rewrote in the silence, until when, and their share."""
    nothing = _Refresh(refreshed_bytes=None, refresh_s=None, refresh_waf=None)
    if silence is None:
        return nothing
    moved = silence.time["gc_bytes_total"].astype(np.int64) - silence.before["gc_bytes_total"]
    if not moved[-1]:
        return nothing
    until = int(silence.time["end_ns"][np.argmax(moved == moved[-1])]) - silence.start_ns
    return {"refreshed_bytes": int(moved[-1]), "refresh_s": until / 1e9, "refresh_waf": float(moved[-1]) / written}


def sentences(findings: Findings) -> list[str]:
    """Speed by age, then what the firmware did about it; of a profile whose data do not age, that."""
    rows = findings["old_data"]
    if not rows:
        return []
    return [_of_ages(rows), *_of_refresh(findings)] if findings["ages"] else [drive_files.UNAGING]


def _of_ages(rows: list[Aged]) -> str:
    fresh, oldest = rows[0]["bytes_per_s"], rows[-1]
    slow = [row for row in rows if row["bytes_per_s"] < MAX_SLOW_RATIO * fresh]
    if not slow:
        return f"Data of {oldest['data']} are read as fast as fresh ones, at {words.speed(fresh)}."
    least = next(row for row in slow if row["bytes_per_s"] <= SAME_SPEED_RATIO * oldest["bytes_per_s"])
    steps = ", ".join(f"of {_step(row)}" for row in slow if row["age_s"] < least["age_s"])
    onwards = f"of {_step(least)}" + ("" if least is oldest else ", and older ones, too")
    return f"Fresh data are read at {words.speed(fresh)}, those {steps}{', ' if steps else ''}{onwards}."


def _step(row: Aged) -> str:
    tries = f" ({row['tries']:.3g} tries a read)" if row["tries"] is not None else ""
    return f"{row['data']} at {words.speed(row['bytes_per_s'])}{tries}"


def _of_refresh(findings: Findings) -> list[str]:
    """Sentences on the work of the firmware in the silence, its cost, and the speed of the oldest data then."""
    oldest, moved, waf = findings["old_data"][-1], findings["refreshed_bytes"], findings["refresh_waf"]
    after = oldest["again_bytes_per_s"]
    if after is None:
        return []
    silence, now = f"{words.span(REFRESH_S)} of silence", f"the oldest are read at {words.speed(after)}"
    if not findings["refreshes"]:
        return [f"The firmware does not rewrite old data (ftl.refresh): after {silence} {now}."]
    if moved is None or waf is None or findings["refresh_s"] is None:
        return [f"The firmware rewrote nothing in {silence}: {now}."]
    cycles = findings["native_cycles"]
    wear = f", one of the {cycles} cycles of their cells" if cycles else ""
    return [
        f"The firmware rewrote {words.size(moved)} within {words.span(findings['refresh_s'])}, and {now}.",
        f"Each such refresh writes {waf:.2f} bytes for each that was written{wear}.",
    ]


def tables(findings: Findings) -> list[Table]:
    """A row for each age."""
    columns: Columns = {
        "data": "data", "speed": "bytes_per_s", "tries a read": ("tries", "{:.3g}".format),
        "after the silence": "again_bytes_per_s",
    }  # fmt: skip
    return [of_rows("Reads by age of the data", findings["old_data"], columns)]


def pictures(recording: Recording) -> list[Picture]:
    """Speed against age, before the silence and after it."""
    rows = recording.findings.typed(Findings)["old_data"]
    ages = [row["age_s"] for row in rows]
    lines = [Line("as they age", ages, [row["bytes_per_s"] for row in rows], "points")] if rows else []
    again = [np.nan if row["again_bytes_per_s"] is None else row["again_bytes_per_s"] for row in rows]
    if not np.isnan(again).all():
        lines.append(Line("after the silence", ages, again, "dotted"))
    panel = Panel(curves.SPEED, lines)
    drawn = [Picture("old-data", "Read speed by age of the data", Axis("age of the data", "s"), (panel,))]
    return drawn + curves.of_any(recording)
