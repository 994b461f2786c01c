"""How slowly are old data read, and what does the firmware do about it? Data are written, age, and are read again.

A simulated drive is switched off between the reads, at 30 °C; then its firmware has an hour to rewrite what is old,
and all is read once more. Of a real drive pslc reads what is there and writes nothing: the files of a folder by age,
but for those that were changed long after they were made, or a whole device over its address.
"""

import math
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
from typing_extensions import TypedDict

from pslc.analysis import AnalysisWarning, Curve, ReadExplanation, explain_read
from pslc.analysis.sentences import of_read
from pslc.base import words
from pslc.device import drive_files
from pslc.device.region import MIB, Region
from pslc.figures import curves
from pslc.figures.picture import Axis, Line, Panel, Picture, Table
from pslc.figures.tables import Columns, of_rows
from pslc.recording import place
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import finished, jobs, not_tried, speed
from pslc.schema.facts import ReadBack
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "an eighth of the data"
COMPUTER = "none"
WEEK_S: Final = 7 * 86_400.0
AGES: Final = {"fresh": 0} | {f"{weeks} weeks": weeks for weeks in (2, 4, 6, 8, 13, 26, 52)}
"""Age in weeks at which each span is first read; the published ones are 6 to 8 (840 EVO: AnandTech 8617, 2014)."""
READS_BACK_S: Final = tuple(WEEK_S * weeks for weeks in AGES.values())[1:]
"""Ages from which files are of the next group."""
SPAN_BYTES: Final = 512 * MIB
MAX_SPAN_SHARE: Final = 1 / 16
FOLD_S: Final = 600.0
"""Silence behind the write, in which the cache is folded: data in it may never age."""
REFRESH_S: Final = 3600.0
"""Silence in which the firmware may rewrite what is old."""
MAX_SLOW_RATIO: Final = 0.8
"""Speed over that of fresh data, up to which old data are slow: a fall of a fifth is a cliff of writes, too."""
SAME_LOG_SPEED: Final = 0.05
"""Speeds that differ by less are called one."""
OF_FILES: Final = (
    "Files in fragments are slow, too. To tell: copy a slow file (cp --reflink=never), and read it now and in weeks."
)
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
    read_explanation: ReadExplanation | None
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
    - `read_explanation`: of a device that was read over its address, why some spans are slower: `likely` explanations,
      the slow `spans`, and both speeds
    - `refreshed_bytes`, `refresh_s`: what the firmware rewrote in the silence, and until when; `refresh_waf`: over what
      was written; null where it rewrote nothing
    - `native_cycles`: cycles that the cells stand
    """
    if (back := recording.facts.get("read_back")) is not None:
        return _of_a_real_drive(recording, back)
    moved, until_s = _refresh(finished(recording, "refresh"))
    return {
        "old_data": list(_aged(recording)),
        "ages": drive_files.ages(recording.profile),
        "refreshes": recording.profile_keys.get("ftl", {}).get("refresh", "never") != "never",
        "refreshed_bytes": moved,
        "refresh_s": until_s,
        "refresh_waf": moved / recording.written_bytes if moved else None,
        "native_cycles": recording.facts.get("native_cycles"),
        "read_explanation": None,
        "warnings": [] if finished(recording, f"{AGAIN}fresh") else [not_tried("the data were read again")],
    }


def _of_a_real_drive(recording: Recording, back: ReadBack) -> Findings:
    """Findings of what was there: files by age, or why some places of a device are slower than others."""
    at, moved, seconds = (np.array(back[name], dtype=np.float64) for name in ("at", "bytes", "seconds"))
    doubt, warnings = place.doubt(recording.facts), list[MeasurementWarning]()
    if doubt is not None:
        warnings.append(AnalysisWarning.SPEEDS_ONLY.of(why=doubt.why, next=doubt.next))
    if back["faults"]:
        text = f"{back['faults']} places could not be read past the page cache: see the drive's health with pslc probe"
        warnings.append(MeasurementWarning("unreadable", text))
    if mixed := back.get("mixed"):
        text = f"files left out: {mixed}; changed long after they were made, they may hold data of several ages"
        warnings.append(MeasurementWarning("mixed-ages", text))
    explanation, rows, group = None, list[Aged](), np.searchsorted(READS_BACK_S, at, side="right")
    if not back["of_device"]:
        of_ages = ((name, weeks, group == number) for number, (name, weeks) in enumerate(AGES.items()))
        rows = [
            {"data": name, "age_s": WEEK_S * weeks, "bytes_per_s": float(moved[of].sum() / seconds[of].sum()),
             "tries": None, "again_bytes_per_s": None}
            for name, weeks, of in of_ages if of.any()
        ]  # fmt: skip
    elif at.size > 1:
        widths = np.diff(at, append=2 * at[-1] - at[-2])
        explanation = explain_read(Curve(np.append(at, at[-1] + widths[-1]), widths * seconds / moved))
    return {
        "old_data": rows, "ages": None, "refreshes": None, "refreshed_bytes": None, "refresh_s": None,
        "refresh_waf": None, "native_cycles": None, "read_explanation": explanation, "warnings": warnings,
    }  # fmt: skip


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


def _refresh(silence: Recording | None) -> tuple[int | None, float | None]:
    """Bytes that the firmware rewrote in the silence, and until when; None for both where it rewrote nothing."""
    if silence is None:
        return None, None
    moved = silence.time["gc_bytes_total"].astype(np.int64) - silence.before["gc_bytes_total"]
    until_ns = int(silence.time["end_ns"][np.argmax(moved == moved[-1])]) - silence.start_ns
    return (int(moved[-1]), until_ns / 1e9) if moved[-1] else (None, None)


def sentences(findings: Findings) -> list[str]:
    """Speed by age, then what the firmware did about it; of a profile whose data do not age, that."""
    rows = findings["old_data"]
    if findings["read_explanation"] is not None:
        return of_read(findings["read_explanation"])
    if not rows:
        return []
    if findings["ages"] is None:
        compared = _by_age(rows) if len(rows) > 1 else f"All files there are of one age ({_step(rows[0])})."
        return [compared, *([OF_FILES] if any(map(partial(_is_slow, rows[0]), rows)) else [])]
    return [_by_age(rows), *_of_refresh(findings)] if findings["ages"] else [drive_files.UNAGING]


def _is_slow(newest: Aged, row: Aged) -> bool:
    return row["bytes_per_s"] < MAX_SLOW_RATIO * newest["bytes_per_s"]


def _by_age(rows: list[Aged]) -> str:
    """Sentence on the newest data, and on each age at which the speed is another one."""
    newest, speed = rows[0]["data"], rows[0]["bytes_per_s"]
    slow = [row for row in rows if _is_slow(rows[0], row)]
    if not slow:
        return f"Data of {rows[-1]['data']} are read as fast as the newest, at {words.speed(speed)}."
    listed = slow[:1] + [row for before, row in pairwise(slow) if not _alike(before, row)]
    first = f"{'Fresh data' if newest == 'fresh' else f'Data of {newest}'} are read at {words.speed(speed)}"
    older = "" if listed[-1] is slow[-1] else ", and older ones as slowly"
    return f"{first}, those {', '.join(f'of {_step(row)}' for row in listed)}{older}."


def _alike(row: Aged, other: Aged) -> bool:
    return abs(math.log(row["bytes_per_s"] / other["bytes_per_s"])) < SAME_LOG_SPEED


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
    columns: Columns = {"data": "data", "speed": "bytes_per_s"}
    if findings["ages"] is not None:
        columns = {**columns, "tries a read": ("tries", "{:.3g}".format), "after the silence": "again_bytes_per_s"}
    return [of_rows("Reads by age of the data", findings["old_data"], columns)] if findings["old_data"] else []


def pictures(recording: Recording) -> list[Picture]:
    """Speed against age, before the silence and after it; of a device against the address."""
    back = recording.facts.get("read_back")
    if back is not None and back["of_device"]:
        line = Line("read", back["at"], np.divide(back["bytes"], back["seconds"]), "steps")
        x = Axis("position on the drive", "B")
        return [Picture("old-data", "Speed by position", x, (Panel(curves.SPEED, [line]),)), *curves.of_any(recording)]
    rows = recording.findings.typed(Findings)["old_data"]
    ages = [row["age_s"] for row in rows]
    lines = [Line("as they age", ages, [row["bytes_per_s"] for row in rows], "points")] if len(rows) > 1 else []
    again = [np.nan if row["again_bytes_per_s"] is None else row["again_bytes_per_s"] for row in rows]
    if not np.isnan(again).all():
        lines.append(Line("after the silence", ages, again, "dotted"))
    panel = Panel(curves.SPEED, lines)
    drawn = [Picture("old-data", "Read speed by age of the data", Axis("age of the data", "s"), (panel,))]
    return drawn + curves.of_any(recording)
