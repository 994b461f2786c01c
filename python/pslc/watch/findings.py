"""Findings about a watched drive: its slowdowns in time, in words, and their causes as far as they can be
determined."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import numpy as np
from typing_extensions import TypedDict

from pslc.analysis.load import Load
from pslc.analysis.slowdowns import Slowdown, find_slowdowns
from pslc.analysis.thresholds import MIN_PAUSE_S
from pslc.base import words
from pslc.device.probe import NVME_DATA_UNIT, endurance_bytes
from pslc.figures import curves
from pslc.figures.picture import Axis, Line, Panel, Picture, Table
from pslc.recording import flushes
from pslc.recording.model import Recording
from pslc.recording.warnings import HOT
from pslc.recording.watched import load_of
from pslc.recording.wear import life_years
from pslc.schema.facts import Change, HealthJson, HealthLog
from pslc.schema.health import health
from pslc.schema.warnings import MeasurementWarning, WarningCode
from pslc.watch.causes import CAUSES, Because, lower, throttled, why

FULL: Final = 0.9
"""Share of a file system from which a drive behind it has little room for a cache."""
STILL_S: Final = 2.0
"""Shortest stall in seconds: requests were under way and none was completed."""
FAILED: Final = 0b1100
"""NVMe's critical warnings that it is not reliable, or only read; smartctl's FAILED of an ATA drive is the first."""
WORN: Final = 90
"""Percentage used from which it is said."""
UNTOLD: Final = Because("untold", "")
"""Cause of a fall where nothing tells whether requests waited."""
MAX_SMALL_BYTES: Final = 256 << 10
"""Largest mean size of requests that an SSD answers in a few ms, however many are under way."""
MIN_WAF: Final = 0.9
"""Write amplification below which cells took less than the host wrote, beyond the rounding of both counts."""
MIN_HIGH_WAF: Final = 4.0
"""Write amplification from which a cause is named; random writes to a full drive have 2 to 4."""
HOT_SENSOR_C: Final = 80
"""Temperature of a single sensor from which controllers throttle; the drive's own is an average."""
MOST_SAID: Final = 6
"""Falls that are told in words; the table has them all."""


class Fell(TypedDict):
    """Slowdown of reads or writes, with its cause and the time until the drive was fast again."""

    kind: str
    at_s: float
    from_bytes_per_s: float
    to_bytes_per_s: float
    latency_from_s: float | None
    latency_to_s: float | None
    celsius: float | None
    since_pause_bytes: float
    watched_pause: bool
    cause: str
    sureness: str
    until_s: float
    again_s: float | None
    idle_s: float | None
    not_enough_s: float | None


class Moved(TypedDict):
    """Reads, or writes. Requests and latencies are 0 where only bytes are known."""

    kind: str
    bytes: float
    requests: float
    request_bytes: float
    fastest_bytes_per_s: float
    latency_s: float
    worst_latency_s: float
    worst_at_s: float


class Flushes(TypedDict):
    """Flushes and their mean latency."""

    count: float
    latency_s: float


class Stood(TypedDict):
    """A time in which nothing was completed."""

    at_s: float
    seconds: float


class Heat(TypedDict):
    """Null where the temperature is not known."""

    hottest_c: float | None
    hottest_at_s: float | None
    hot_s: float | None


class Wear(TypedDict):
    """Wear of a watched drive by its health log, first and last value; null if the log lacks it."""

    critical_warning: list[int | None]
    available_spare: list[int | None]
    percentage_used: list[int | None]
    media_errors: list[int | None]
    data_units_written: list[int | None]
    hottest_sensor: list[int | None]
    nand_units_written: list[int | None]
    power_on_hours: list[int | None]
    available_spare_threshold: int | None


class OwnCount(TypedDict):
    """Counts of a drive over its life, by its last health log; null where it has none."""

    drive_written_bytes: int | None
    drive_programmed_bytes: int | None
    powered_on_s: float | None
    share_used: float | None
    share_spare: float | None
    media_errors: int | None


class Findings(Heat, OwnCount):
    """Findings about a watched drive, by name; `findings` describes them."""

    watched_s: float | None
    began_unix: float
    read_bytes: float | None
    written_bytes: float | None
    discarded_bytes: float | None
    waits: bool
    busy: float | None
    flush: Flushes | None
    kinds: list[Moved]
    falls: list[Fell]
    stood_still: list[Stood]
    most_since_pause_bytes: float | None
    pauses: int
    longest_pause_s: float | None
    throttled: bool | None
    changes: list[Change]
    wear: Wear | None
    logs_apart_s: float | None
    life_years: float | None
    full: float | None
    discards: bool
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings about a watched drive in base units; times are since the start of the recording.

    - `watched_s`, `began_unix` (0: not known), `read_bytes`, `written_bytes`, `discarded_bytes`, `busy`: share
    - `waits`: whether latencies or busy time were counted; `busy` is null, and no fall has a cause, where they were not
    - `flush`: `count` and mean `latency_s` of flushes; null where not known
    - `falls`: each time that reads or writes became slow and it was the drive: `kind`, `at_s`, `from_bytes_per_s`,
      `to_bytes_per_s` (while busy), `latency_from_s`, `latency_to_s`, `since_pause_bytes` and `watched_pause` (else it
      is at least so much), `cause` (of `pslc.watch.causes`), `sureness`, `again_s` (null: not while watched),
      `idle_s`: its longest pause before that, `not_enough_s`: the longest after which it was still slow
    - `stood_still`: `at_s`, `seconds` in which nothing was completed
    - `most_since_pause_bytes`: the most that was written without a pause of 10 s
    - `pauses`, `longest_pause_s`; `busiest_written_bytes_per_s`: in a second
    - `hottest_c`, `hottest_at_s`, `hot_s`, `throttled`; null where it is not known
    - `changes`: of link and power state; `wear`: of the health log, first and last; `life_years` at this load
    - `drive_written_bytes`, `drive_programmed_bytes`, `powered_on_s`, `share_used`, `share_spare`, `media_errors`: over
      the drive's life, by its last health log; `logs_apart_s`: from the first health log to the last, where nothing
      else was watched, by the clock or the hours that the drive counts; what is of a load is null then
    - `full`: share of the fullest file system on it, `discards`: whether it, or anything, discards
    """
    load = load_of(recording)
    about = recording.facts["watch"]
    logs = [health(log) for _, log in about["smart"]]
    heat = throttled(logs)
    slowdowns = find_slowdowns(load)
    waits = about.get("waits", True)
    rows = [
        _slowdown_row(fall, why(fall, slowdowns, about["changes"], heat) if waits else UNTOLD) for fall in slowdowns
    ]
    seconds = float(load.seconds.sum())
    apart_s = _apart_s(about["smart"], load)
    pauses = load.pauses()
    systems = about["file_systems"]
    wear = _wear(logs[0], logs[-1]) if logs else None
    return {
        "watched_s": _watched(load, seconds),
        "began_unix": recording.began_unix_ns / 1e9,
        "read_bytes": _watched(load, load.read_bytes.sum()),
        "written_bytes": _watched(load, load.write_bytes.sum()),
        "discarded_bytes": _watched(load, load.trim_bytes.sum()),
        "waits": waits,
        "busy": _busy_share(load) if waits and about.get("tells_busy", True) else None,
        "flush": _flushes(load),
        "kinds": [entry for kind in ("read", "write") if (entry := _of_kind(load, kind))],
        "falls": rows,
        "stood_still": _stood_still(recording, load),
        "most_since_pause_bytes": _watched(
            load, max((float(load.write_bytes[a:b].sum()) for a, b in load.sessions()), default=0.0)
        ),
        "pauses": len(pauses),
        "longest_pause_s": _watched(load, max((float(load.seconds[a:b].sum()) for a, b in pauses), default=0.0)),
        **_heat(load),
        "throttled": heat,
        "changes": about["changes"],
        "wear": wear,
        **_own_counts(logs),
        "logs_apart_s": apart_s,
        "life_years": _years_left(logs, load, apart_s),
        "full": max((1 - entry["free_bytes"] / entry["bytes"] for entry in systems if entry["bytes"]), default=None),
        "discards": bool(load.trim_bytes.any()) or any("discard" in entry["options"].split(",") for entry in systems),
        "warnings": _warnings(recording, load),
    }


def _slowdown_row(fall: Slowdown, because: Because) -> Fell:
    return {
        "kind": fall.kind,
        "at_s": fall.at_s,
        "from_bytes_per_s": fall.before.bytes_per_s,
        "to_bytes_per_s": fall.after.bytes_per_s,
        "latency_from_s": _limits_unknown(fall.before.latency_s),
        "latency_to_s": _limits_unknown(fall.after.latency_s),
        "celsius": _limits_unknown(fall.after.celsius),
        "since_pause_bytes": fall.since_pause_bytes,
        "watched_pause": fall.pause_observed,
        "cause": because.cause,
        "sureness": because.sureness,
        "until_s": fall.after.to_s,
        "again_s": fall.recovery.at_s,
        "idle_s": fall.recovery.idle_s,
        "not_enough_s": fall.recovery.insufficient_idle_s,
    }


def _limits_unknown(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _of_kind(load: Load, kind: str) -> Moved | None:
    """Volume, speeds and latencies of reads or of writes."""
    moved, count, took = (getattr(load, name) for name in (f"{kind}_bytes", f"{kind}s", f"{kind}_s"))
    requests = float(count.sum())
    if not requests and not moved.any():
        return None
    # Some programs tell bytes alone.
    some = count > 0 if requests else moved > 0
    each = took[some] / np.maximum(count[some], 1.0)
    worst = int(np.argmax(each))
    return {
        "kind": kind,
        "bytes": float(moved.sum()),
        "requests": requests,
        "request_bytes": float(moved.sum()) / requests if requests else 0.0,
        "fastest_bytes_per_s": float((moved / load.seconds).max()),
        "latency_s": float(took.sum()) / requests if requests else 0.0,
        "worst_latency_s": float(each[worst]),
        "worst_at_s": float(load.ends_s[some][worst]),
    }


def _busy_share(load: Load) -> float:
    seconds = float(load.seconds.sum())
    return min(float(load.busy_s.sum()) / seconds, 1.0) if seconds else 0.0


def _flushes(load: Load) -> Flushes | None:
    count, took = float(np.nansum(load.flushes)), float(np.nansum(load.flush_s))
    return {"count": count, "latency_s": took / count} if count and took else None


def _stood_still(recording: Recording, load: Load) -> list[Stood]:
    """Stretches in which requests were under way and none came back for `STILL_S` or more."""
    none = (load.reads + load.writes + recording.time["trims"] == 0) & (recording.time["in_flight"] > 0)
    edges = np.diff(np.concatenate([[0], none.astype(np.int8), [0]]))
    since = np.concatenate([[0.0], load.ends_s])
    spans = zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True)
    stalls: list[Stood] = [{"at_s": float(since[a]), "seconds": float(since[b] - since[a])} for a, b in spans]
    return [stall for stall in stalls if stall["seconds"] >= STILL_S]


def _heat(load: Load) -> Heat:
    if not np.isfinite(load.celsius).any():
        return {"hottest_c": None, "hottest_at_s": None, "hot_s": None}
    hottest = int(np.nanargmax(load.celsius))
    hot = float(load.seconds[load.celsius >= HOT].sum())
    return {"hottest_c": float(load.celsius[hottest]), "hottest_at_s": float(load.ends_s[hottest]), "hot_s": hot}


def _wear(*logs: HealthLog) -> Wear:
    """Wear by the drive's own log."""
    return {
        "critical_warning": [log.get("critical_warning") for log in logs],
        "available_spare": [log.get("available_spare") for log in logs],
        "percentage_used": [log.get("percentage_used") for log in logs],
        "media_errors": [log.get("media_errors") for log in logs],
        "data_units_written": [log.get("data_units_written") for log in logs],
        "hottest_sensor": [log.get("hottest_sensor") for log in logs],
        "nand_units_written": [log.get("nand_units_written") for log in logs],
        "power_on_hours": [log.get("power_on_hours") for log in logs],
        "available_spare_threshold": logs[-1].get("available_spare_threshold"),
    }


def _watched(load: Load, value: float) -> float | None:
    """A sum over the load; None of health logs alone, with which nothing was watched."""
    return float(value) if load.seconds.size else None


def _apart_s(smart: Sequence[tuple[float, HealthJson]], load: Load) -> float | None:
    """Seconds between the first health log and the last: by the clock, else by the hours that the drive counts; None
    where neither tells, or there is but one, or a load lies between."""
    if len(smart) < 2 or load.seconds.size:
        return None
    (first_s, first), (last_s, last) = smart[0], smart[-1]
    hours = [log["power_on_hours"] for log in (health(first), health(last)) if "power_on_hours" in log]
    return (last_s - first_s) or (hours[-1] - hours[0] if len(hours) == 2 else 0) * 3600.0 or None


def _written_between(logs: Sequence[HealthLog]) -> float:
    """Bytes written from the first health log to the last, by the drive's own count; 0 where it does not tell."""
    counts = [log["data_units_written"] for log in (*logs[:1], *logs[-1:]) if "data_units_written" in log]
    return float(counts[-1] - counts[0]) * NVME_DATA_UNIT if counts else 0.0


def _own_counts(logs: Sequence[HealthLog]) -> OwnCount:
    log = logs[-1] if logs else HealthLog()

    def scaled(name: str, unit: float) -> Any:
        value: Any = log.get(name)
        return None if value is None else value * unit

    return {
        "drive_written_bytes": scaled("data_units_written", NVME_DATA_UNIT),
        "drive_programmed_bytes": scaled("nand_units_written", NVME_DATA_UNIT),
        "powered_on_s": scaled("power_on_hours", 3600.0),
        "share_used": scaled("percentage_used", 0.01),
        "share_spare": scaled("available_spare", 0.01),
        "media_errors": log.get("media_errors"),
    }


def _years_left(logs: Sequence[HealthLog], load: Load, apart_s: float | None) -> float | None:
    """Years that the drive lasts at this load, or at that between its logs, by its own count of wear."""
    last = logs[-1] if logs else HealthLog()
    whole, used = endurance_bytes(last), last.get("percentage_used")
    if whole is None or used is None:
        return None
    written, seconds = float(load.write_bytes.sum()), float(load.seconds.sum())
    if apart_s is not None:
        written, seconds = _written_between(logs), apart_s
    return life_years(max(1 - used / 100, 0.0) * whole, written, seconds)


class WatchWarning(WarningCode):
    """Warnings about the observation of a drive at work."""

    VIRTUAL = "the machine is virtual, so the drive may be shared, cached or emulated: watch on the machine itself"
    NO_PAUSE = "the drive was never idle for 10 s, so earlier writes may still fill its cache: watch longer"
    INTERVALS = "each interval is {span} long, so shorter pauses and slowdowns are invisible: take intervals of 1 s"
    GAPS = "no sample was taken for {span} (the machine slept, or was busy): the report misses what happened then"


def _warnings(recording: Recording, load: Load) -> list[MeasurementWarning]:
    texts = []
    if (recording.facts.get("host") or {}).get("virtual"):
        texts.append(WatchWarning.VIRTUAL.of())
    if not load.pauses() and load.write_bytes.any():
        texts.append(WatchWarning.NO_PAUSE.of())
    usual = float(np.median(load.seconds)) if load.seconds.size else 0.0
    if usual > MIN_PAUSE_S:
        texts.append(WatchWarning.INTERVALS.of(span=words.span(usual)))
    gaps = float(load.seconds[load.seconds > 5 * usual].sum())
    if gaps:
        texts.append(WatchWarning.GAPS.of(span=words.span(gaps)))
    return texts


def sentences(findings: Findings) -> list[str]:
    """Slowdowns and other events, a sentence each, the gravest first."""
    lines = [_fall(row, findings) for row in findings["falls"][:MOST_SAID]]
    left = len(findings["falls"]) - len(lines)
    if left > 0:
        lines.append(f"{left} more slowdowns are in the table.")
    if not lines and (findings["read_bytes"] or findings["written_bytes"]):
        lines.append(_without_falls(findings))
    if findings["flush"] is not None:
        lines.append(flushes.verdict(findings["flush"]["latency_s"]))
    lines += [*_of_free_space(findings), *_of_events(findings), *_of_sensors(findings["wear"]), *_of_wear(findings)]
    if not findings["watched_s"]:
        return lines
    kinds = [
        f"{words.size(row['bytes'])} {'read' if row['kind'] == 'read' else 'written'}" for row in findings["kinds"]
    ]
    moved = " and ".join(kinds) or "Nothing moved"
    busy = findings["busy"]
    share = "" if busy is None else f"The drive was busy for {words.share(busy)} of that time. "
    lines.append(
        f"{moved} in {words.span(findings['watched_s'])}. {share}At most "
        f"{words.size(findings['most_since_pause_bytes'] or 0.0)} were written without a pause of {MIN_PAUSE_S:.0f} s."
    )
    return lines


def _without_falls(findings: Findings) -> str:
    """The sentence on a drive that never became slower: it was fast, slow throughout, or that is not known."""
    if not findings["waits"]:
        return "No slowdown is visible, but nothing tells whether requests waited for the drive."
    slow = [
        f"{row['kind']}s of {words.size(row['request_bytes'])} took {words.span(row['latency_s'])}"
        for row in findings["kinds"]
        if row["latency_s"] >= flushes.SLOW_S and row["request_bytes"] <= MAX_SMALL_BYTES
    ]
    flush = findings["flush"]
    if not slow and flush is not None and flush["latency_s"] >= flushes.SLOW_S:
        slow.append(f"flushes took {words.span(flush['latency_s'])}")
    return (
        f"No fall stands out, but it was slow: {' and '.join(slow)} on average."
        if slow
        else "The drive caused no slowdown."
    )


def _of_free_space(findings: Findings) -> list[str]:
    is_slow = any(row["cause"] in ("cache", "room") for row in findings["falls"])
    full = findings["full"]
    if not is_slow or findings["discards"] or full is None or full < FULL:
        return []
    return [
        f"Nothing was discarded, and the file system on the drive is {words.share(full)} full: a full drive has little "
        "room for a cache. Run fstrim to discard free space."
    ]


def _of_events(findings: Findings) -> list[str]:
    """Stalls, changes of the link, and heat."""
    lines = []
    for row in findings["stood_still"][:MOST_SAID]:
        lines.append(f"Nothing was completed for {words.span(row['seconds'])} from {clock(row['at_s'], findings)} on.")
    for change in findings["changes"]:
        if lower(change):
            time = clock(change["at_s"], findings)
            lines.append(f"The link trained lower at {time}: {change['to']} instead of {change['from']}.")
    hottest, at_s = findings["hottest_c"], findings["hottest_at_s"]
    if hottest is not None and at_s is not None and (findings["hot_s"] or findings["throttled"]):
        more = ", and it throttled by its own count" if findings["throttled"] else ""
        lines.append(f"The drive reached {hottest:.0f} C at {clock(at_s, findings)}{more}.")
    return lines


def _fall(row: Fell, findings: Findings) -> str:
    """`Writes fell from 1900 MB/s to 140 MB/s at 03:12 after 310 GB without a pause of 10 s: ...`"""
    text = f"{row['kind'].capitalize()}s fell from {words.speed(row['from_bytes_per_s'])} to "
    text += f"{words.speed(row['to_bytes_per_s'])} at {clock(row['at_s'], findings)}"
    if row["kind"] == "write":
        bound = "" if row["watched_pause"] else " or more"
        text += f" after {words.size(row['since_pause_bytes'])}{bound} without a pause of {MIN_PAUSE_S:.0f} s"
    cause = CAUSES[row["cause"]]
    if row["cause"] == "heat":
        cause += f" at {row['celsius']:.0f} C"
    sure = f" ({row['sureness']})" if row["sureness"] not in ("", "sure") else ""
    return f"{text}: {cause}{sure}; {_again(row, findings)}."


def _again(row: Fell, findings: Findings) -> str:
    short = f"{words.span(row['not_enough_s'])} idle were not enough" if row["not_enough_s"] else ""
    if row["again_s"] is None:
        return f"it was not fast again until the end{f', {short}' if short else ''}"
    how = f"after {words.span(row['idle_s'])} idle" if row["idle_s"] else "without a pause"
    return f"it was fast again {how}{f' ({short})' if short else ''}, at {clock(row['again_s'], findings)}"


def clock(at_s: float, findings: Findings) -> str:
    """Time of day, with the date in a long watch, and with seconds in a short one; of data without a date, since the
    beginning."""
    if not findings["began_unix"]:
        return words.span(at_s)
    watched = findings["watched_s"] or 0.0
    form = "%H:%M:%S" if watched < 3600 else "%H:%M" if watched < 72000 else "%Y-%m-%d %H:%M"
    return f"{datetime.fromtimestamp(findings['began_unix'] + at_s):{form}}"


def _of_wear(findings: Findings) -> list[str]:
    wear = findings["wear"]
    if wear is None:
        return []
    lines = []
    used, spare = wear["percentage_used"][1], wear["available_spare"][1]
    limit = wear["available_spare_threshold"]
    warnings = wear["critical_warning"][1]
    failed = isinstance(warnings, int) and bool(warnings & FAILED)
    if failed:
        lines.append("The drive reports that it FAILED: copy its data now.")
    elif isinstance(used, int) and used >= WORN:
        lines.append(f"It is worn: {used} % of its life are used, by its own count.")
    if isinstance(spare, int) and isinstance(limit, int) and spare < limit:
        lines.append(f"Its spare blocks are nearly used up: {spare} % are left, {limit} % is its limit.")
    if not findings["watched_s"]:
        lines += [*_own_count(wear), *_between(findings, wear)]
    first, last = wear["media_errors"]
    if isinstance(first, int) and isinstance(last, int) and last > first:
        lines.append(f"Its media errors rose from {first} to {last}: copy its data.")
    if findings["life_years"] is not None:
        lines.append(f"At this load it lasts {findings['life_years']:.1f} more years, by its own count of wear.")
    return lines


def _of_sensors(wear: Wear | None) -> list[str]:
    sensor = wear["hottest_sensor"][1] if wear is not None else None
    is_hot = sensor is not None and sensor >= HOT_SENSOR_C
    return [f"A sensor of it is at {sensor} C, whatever its own temperature says: it may throttle."] if is_hot else []


def _own_count(wear: Wear) -> list[str]:
    """Wear and bytes written as the drive itself counts them; empty where it counts neither."""
    used, written = wear["percentage_used"][1], wear["data_units_written"][1]
    counts = [f"{used} % of its life are used"] if isinstance(used, int) else []
    counts += [f"{words.size(written * NVME_DATA_UNIT)} were written"] if isinstance(written, int) else []
    lines = [f"By its own count {' and '.join(counts)}."] if counts else []
    programmed = wear["nand_units_written"][1]
    if programmed and written:
        waf = programmed / written
        cause = ": small or flushed writes fill whole pages" if waf >= MIN_HIGH_WAF else ""
        meaning = f"a write amplification of {waf:.1f}{cause}"
        if waf < MIN_WAF:
            meaning = "less than was written: it compresses, or counts one of them in another unit than its name says"
        lines.append(f"Its cells took {words.size(programmed * NVME_DATA_UNIT)}, {meaning}.")
    return lines


def _between(findings: Findings, wear: Wear) -> list[str]:
    """Sentence on the writes between two health logs; none where a drive tells no time or no bytes."""
    apart_s, (first, last), used = findings["logs_apart_s"], wear["data_units_written"], wear["percentage_used"]
    if apart_s is None or first is None or last is None:
        return []
    written = (last - first) * NVME_DATA_UNIT
    a_day = words.size(written / apart_s * 86_400)
    rose = f", and its wear rose from {used[0]} to {used[1]} %" if None not in used and used[0] != used[1] else ""
    return [f"Between the logs, {words.span(apart_s)} apart, {words.size(written)} were written, {a_day} a day{rose}."]


def tables(findings: Findings) -> list[Table]:
    """The falls, and the load."""
    shown = []
    if findings["falls"]:
        columns = ("at", "kind", "from", "to", "since a pause", "idle", "why")
        rows = [
            [
                clock(row["at_s"], findings),
                row["kind"],
                words.speed(row["from_bytes_per_s"]),
                words.speed(row["to_bytes_per_s"]),
                words.size(row["since_pause_bytes"]),
                "" if row["again_s"] is None else words.span(row["idle_s"]) if row["idle_s"] else "none",
                f"{row['cause']} ({row['sureness']})" if row["sureness"] else row["cause"],
            ]
            for row in findings["falls"]
        ]
        shown.append(Table("Became slow", columns, rows, words=("at", "kind", "why")))
    names = ("kind", "moved", "requests", "mean size", "fastest second", "mean latency", "worst second", "at")
    rows = [
        [
            row["kind"],
            words.size(row["bytes"]),
            words.count(round(row["requests"])) if row["requests"] else "",
            words.size(row["request_bytes"]) if row["requests"] else "",
            words.speed(row["fastest_bytes_per_s"]),
            words.span(row["latency_s"]) if row["latency_s"] else "",
            words.span(row["worst_latency_s"]) if row["latency_s"] else "",
            clock(row["worst_at_s"], findings) if row["latency_s"] else "",
        ]
        for row in findings["kinds"]
    ]
    if findings["wear"] is not None:
        shown.append(_health(findings["wear"]))
    return [*shown, *([Table("Load", names, rows, words=("kind", "at"))] if rows else [])]


def _health(wear: Wear) -> Table:
    """The health log, first and last."""
    rows = [
        [name.replace("_", " "), *("" if value is None else str(value) for value in pair)]
        for name, pair in wear.items()
        if isinstance(pair, list) and pair != [None, None]
    ]
    return Table("Health", ("health", "first", "last"), rows, words=("health",))


def pictures(recording: Recording) -> list[Picture]:
    """Speed, latency, queue and temperature against time; of health logs alone there are none."""
    load = load_of(recording)
    if not load.seconds.size:
        return []
    x = curves.seconds(recording)
    latencies = []
    for kind in ("read", "write"):
        count, took = getattr(load, f"{kind}s"), getattr(load, f"{kind}_s")
        some = count > 0
        if some.any():
            latencies.append(Line(kind, x[some], took[some] / count[some]))
    queue = Panel(Axis("queue depth"), [Line("mean queue depth", x, load.queue_s / load.seconds)])
    busy = Panel(Axis("busy time", "share"), [Line("busy", x, np.minimum(load.busy_s / load.seconds, 1.0))])
    latency = Panel(Axis("mean latency", "s", log=10), latencies)
    drawn = [
        curves.speed_by_time(recording),
        Picture("latency", "Mean latency over time", curves.TIME, (latency,)),
        Picture("queue", "Queue depth and busy time", curves.TIME, (queue, busy)),
    ]
    measured = np.isfinite(load.celsius)
    if measured.any():
        panel = Panel(Axis("temperature", "C"), [Line("temperature", x[measured], load.celsius[measured])])
        drawn.append(Picture("heat", "Temperature over time", curves.TIME, (panel,)))
    return drawn
