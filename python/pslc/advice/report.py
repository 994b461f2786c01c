"""The advice that follows from replays: drives that would suffice, the first thing to change, and what remains
unknown."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from pslc.advice.replays import Outcome
from pslc.advice.subject import Subject, Traced, Watched
from pslc.base import words
from pslc.device.parts import forecast
from pslc.device.target import find_target
from pslc.figures.picture import Table
from pslc.recording.warnings import RecordingWarning, rests_are_assumed
from pslc.recording.wear import life_years
from pslc.schema.warnings import MeasurementWarning, WarningCode, documented
from pslc.watch.causes import CAUSES

MAX_WORK_RATIO: Final = 1.1
"""A drive suffices if it takes at most so many times as long as the watched one would have at the speed it began with.
Two runs of one drive differ by up to this, and so do `pslc replay` and the drives it was fitted to (ACCURACY.md)."""
MAX_LATE_SHARE: Final = 0.01
"""A drive suffices for a trace if fewer than this share of its requests found no room in a queue."""
MAX_P99_S: Final = 1.0
"""A drive suffices for a trace if 99 % of its requests take less than this. Who waits longer than 1 s for a computer
loses the thread (Nielsen, Usability Engineering, 1993)."""
MIN_LIFE_YEARS: Final = 5.0
"""The life that drives are sold with: five years of warranty."""
MIN_LIMITED_SHARE: Final = 0.01
"""A drive that was the limit for less than this share of the time holds nobody up."""
MIN_SYNC_RATIO: Final = 0.05
"""Flushes for each write from which a load is one of synced writes."""
MIN_DEPTH_RATIO: Final = 2.0
"""Queues of two stretches that differ by more than this are two kinds of work."""
DAY_S: Final = 86400.0
BURST_PAUSE_NS: Final = 1_000_000_000
"""A pause in which a drive may begin to fold: idle thresholds of the library are of about this."""
WORK: Final = "busy work"
"""Column: time for what was done where the watched drive was the limit."""

CHANGES: Final = {
    "link": "Before you buy: reseat the drive and its cable, or try another slot, because the link trained lower.",
    "heat": "Before you buy: cool the drive, because it throttled; another drive would get as hot.",
    "flush": "Flushes became more frequent: sync in larger groups, or take a drive with power-loss protection.",
    "cache": "Write less in one go or leave longer pauses, or take a drive whose cache holds all of it, or that is "
    "fast without one.",
    "room": "The drive had no time to make room: leave pauses, run fstrim, keep more of it free, or take a drive that "
    "suffices.",
    "unknown": "The cause cannot be determined from counters of each second: pslc watch --trace records every request.",
}
"""Advice by the cause that cost most time (a key of `pslc.watch.causes.CAUSES`)."""


class AdviceWarning(WarningCode):
    """Limits of an advice: facts about other drives that a replay cannot determine."""

    ADDRESSES = "counters of {interval} hold no addresses: writes are replayed {order}, and once more {other}; {result}"
    SIZES = (
        "sizes and order within {interval} are not known: all requests have their mean size, spread evenly; "
        "pslc watch --trace keeps each"
    )
    DEMAND = (
        "where the drive was busy, the program that wrote is assumed to wait for it with {depth} requests in flight: a "
        "program, a network or another disk that sets the pace gains nothing from a faster drive"
    )
    QUEUES = "the queue depth varied between {low} and {high}; the replay takes {depth} throughout"
    EMPTY = "the drives start empty and cold: a nearly full drive has a smaller cache and more write amplification"
    SHORT = "the life in the table assumes {span} of this load, repeated all day: watch for days, quiet times included"
    CAPACITY = "the capacity of the watched drive is unknown; assuming {size}: give --capacity"
    TWIN = (
        "{drives}: fitted to speeds and mean times, so latencies of the slowest requests (99 % and beyond) are not "
        "predicted; none is shown, and none counts"
    )
    PARTS = "predicted from parts, past the cache: {drives}; pslc study --draws tries drives that these parts may make"
    SURVIVES = "on drives without power-loss protection, data that were not flushed are lost when the power fails"


@dataclass(frozen=True)
class Row:
    """Drive that the load was replayed on, with its figures.

    Attributes:
        reasons: why it does not suffice; empty: it suffices.
        faster: the watched drive's time in which it was the limit, over this drive's; None of a trace.
        other: outcome with the addresses in the other order; None of a trace.
    """

    outcome: Outcome
    other: Outcome | None
    life_years: float | None
    faster: float | None
    reasons: list[str]


@dataclass(frozen=True)
class Advice:
    """Answer to "what should I change or buy?"."""

    subject: Subject
    rows: list[Row]
    sentences: list[str]
    warnings: list[MeasurementWarning]

    def document(self) -> dict[str, Any]:
        """The advice as `--json` prints it."""
        of = self.subject.of
        watched: dict[str, Any] = {"name": self.subject.name, "seconds": self.subject.seconds,
                                   "written_bytes": self.subject.written_bytes}  # fmt: skip
        if isinstance(of, Watched):
            watched |= {"limited_s": of.limited_s, "kept_speed_s": of.kept_speed_s,
                        "losses": [asdict(loss) for loss in of.losses]}  # fmt: skip
        rows = [_row_document(row) for row in self.rows]
        return {"watched": watched, "drives": rows, "sentences": self.sentences, "warnings": documented(self.warnings)}


def advise(subject: Subject, outcomes: Sequence[Outcome]) -> Advice:
    """Return the advice that replays give; of each drive the first outcome counts, and the next is with the addresses
    in the other order."""
    by_drive: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_drive.setdefault(outcome.task.on, []).append(outcome)
    rows = [_row(subject, drive[0], drive[1] if len(drive) > 1 else None) for drive in by_drive.values()]
    rows.sort(key=lambda row: (bool(row.reasons), row.outcome.work_s, row.outcome.late_share))
    return Advice(subject, rows, _sentences(subject, rows), _warnings(subject, rows))


def table(advice: Advice) -> Table:
    """Table of the drives, those that suffice first, below the watched one. Columns without a value are left out."""
    of = advice.subject.of
    watched = isinstance(of, Watched)
    syncs = bool(_flushes_per_write(of) >= MIN_SYNC_RATIO)
    cells = [_cells(row, watched) for row in advice.rows]
    if isinstance(of, Watched):
        cells.insert(0, {"drive": "(watched)", WORK: words.span(of.limited_s)})
    reads = any(row.get("read p99") for row in cells)
    columns = [
        WORK if watched else "late",
        "write p50",
        "p99",
        "read p99",
        "to pSLC",
        "synced 4k",
        "PLP",
        "WAF",
        "life",
    ]
    if reads:
        # There is room for one of them.
        columns.remove("to pSLC" if syncs else "synced 4k")
    else:
        columns.remove("read p99")
    names = ("suffices", "drive", *columns)
    rows = [[row.get(name, "") for name in names] for row in cells]
    return Table("On other drives", names, rows, words=("suffices",))


def _row(subject: Subject, outcome: Outcome, other: Outcome | None) -> Row:
    if outcome.refused is not None or outcome.findings is None:
        return Row(outcome, None, None, None, [outcome.refused or "it was not replayed"])
    years = life_years(outcome.findings["life_bytes"], subject.written_bytes, subject.seconds)
    of = subject.of
    faster = of.limited_s / outcome.work_s if isinstance(of, Watched) and outcome.work_s else None
    return Row(outcome, other, years, faster, _reasons(subject, outcome, years))


def _reasons(subject: Subject, outcome: Outcome, years: float | None) -> list[str]:
    """Reasons why a drive does not suffice."""
    reasons = []
    of = subject.of
    if isinstance(of, Watched):
        limit_s = MAX_WORK_RATIO * of.kept_speed_s
        if outcome.work_s > limit_s:
            reasons.append(f"takes {words.span(outcome.work_s)}, more than {words.span(limit_s)}")
    else:
        late, slow = outcome.late_share, _slowest_p99_s(outcome)
        reasons += [f"has {words.share(late)} late requests"] if late > MAX_LATE_SHARE else []
        reasons += [f"keeps 1 % of requests waiting for {words.span(slow)} or more"] if slow > MAX_P99_S else []
    # A short watch is a busy one: nobody knows how often it is repeated.
    if years is not None and years < MIN_LIFE_YEARS and subject.seconds >= DAY_S:
        reasons.append(f"lasts {words.years(years)}")
    return reasons


def _slowest_p99_s(outcome: Outcome) -> float:
    if outcome.findings is None or outcome.is_twin:
        return 0.0
    return max((of["p99_s"] for of in outcome.findings["latencies"]), default=0.0)


def _cells(row: Row, watched: bool) -> dict[str, str]:
    """The cells of a drive by their columns."""
    outcome, findings = row.outcome, row.outcome.findings
    drive = {"drive": _short(row), "suffices": "no" if row.reasons else "yes"}
    if findings is None:
        return {**drive, "suffices": "?"}
    of_kind = {of["kind"]: of for of in findings["latencies"]}
    writes, reads = of_kind.get("write"), of_kind.get("read")
    tails = {
        "p99": words.span(writes["p99_s"]) if writes else "",
        "read p99": words.span(reads["p99_s"]) if reads else "",
    }
    return {
        **drive,
        **({WORK: words.span(outcome.work_s)} if watched else {"late": words.share(outcome.late_share)}),
        "write p50": words.span(writes["p50_s"]) if writes else "",
        **({} if outcome.is_twin else tails),
        "to pSLC": "" if findings["share_slc"] is None else words.share(findings["share_slc"]),
        "synced 4k": "" if outcome.sync_s is None else words.span(outcome.sync_s),
        "PLP": "yes" if outcome.plp else "no",
        "WAF": "" if findings["waf"] is None else f"{findings['waf']:.2f}",
        "life": "" if row.life_years is None else words.years(row.life_years),
    }


def _sentences(subject: Subject, rows: Sequence[Row]) -> list[str]:
    of = subject.of
    lines = _of_watched(of, subject.seconds) if isinstance(of, Watched) else []
    lines += _of_trace(of, subject) if isinstance(of, Traced) else []
    buys = isinstance(of, Traced) or of.limited_s >= MIN_LIMITED_SHARE * subject.seconds
    names = [_named(row, subject.seconds >= DAY_S) for row in rows if not row.reasons]
    if buys:
        lines.append(f"Sufficient: {', '.join(names)}." if names else "None of these drives suffices.")
    lines += [f"{_short(row)} does not suffice: it {_because(row)}." for row in rows if row.reasons and buys]
    lines += _of_sync(of, rows)
    return lines


def _of_watched(of: Watched, seconds: float) -> list[str]:
    """Text on how long the drive was the limit, what that cost, and what to change before buying."""
    part = words.share(of.limited_s / seconds) if seconds else "0 %"
    if of.limited_s < MIN_LIMITED_SHARE * seconds:
        return [f"Nothing to buy: the drive was the limit for {part} of {words.span(seconds)}."]
    lines = [f"The drive was the limit for {words.span(of.limited_s)} ({part} of the time)."]
    if not of.losses:
        return [
            *lines,
            "It did not become slower: a drive suffices if it is as fast; a faster one would finish sooner.",
        ]
    worst = of.losses[0]
    sure = f" ({worst.sureness})" if worst.sureness not in ("", "sure") else ""
    lines.append(
        f"{words.span(of.limited_s - of.kept_speed_s)} of that were lost as it became slow, "
        f"most of it because {CAUSES[worst.cause]}{sure}."
    )
    if worst.cause in ("cache", "room"):
        lines.append(
            f"At most {words.size(of.findings['most_since_pause_bytes'] or 0.0)} were written without a pause of 10 s."
        )
    return [*lines, CHANGES[worst.cause]]


def _of_trace(of: Traced, subject: Subject) -> list[str]:
    """Text on the most that the trace asks for."""
    bursts = [burst for burst in of.survey["bursts"] if burst["pause_ns"] >= BURST_PAUSE_NS]
    head = f"{words.size(subject.written_bytes)} are written in {words.span(subject.seconds)}"
    if not bursts:
        return [f"{head}."]
    burst = min(bursts, key=lambda each: each["pause_ns"])
    amount, pause = words.size(burst["most_bytes"]), words.span(burst["pause_ns"] / 1e9)
    return [f"{head}, at most {amount} of it without a pause of {pause}."]


def _flushes_per_write(of: Watched | Traced) -> float:
    if isinstance(of, Watched):
        flushes, writes = float(np.nansum(of.load.flushes)), float(np.nansum(of.load.writes))
    else:
        counts = [device["count"] for device in of.survey["devices"]]
        flushes, writes = float(sum(n["flush"] for n in counts)), float(sum(n["write"] for n in counts))
    return flushes / writes if writes else 0.0


def _of_sync(of: Watched | Traced, rows: Sequence[Row]) -> list[str]:
    """Text on the time of synced writes, where the load has them."""
    ratio = _flushes_per_write(of)
    if ratio < MIN_SYNC_RATIO:
        return []
    lines = [f"Writes are synced: {words.count(round(100 * ratio))} flushes for 100 writes."]
    for plp, called in ((True, "with"), (False, "without")):
        times = [row.outcome.sync_s for row in rows if row.outcome.plp is plp and row.outcome.sync_s]
        if times:
            low, high = words.span(min(times)), words.span(max(times))
            span = low if low == high else f"{low} to {high}"
            lines.append(f"A synced write of 4 KiB takes {span} on the drives {called} power-loss protection.")
    return lines


def _named(row: Row, is_long: bool) -> str:
    faster = f", {row.faster:.1f} times as fast" if row.faster and row.faster >= MAX_WORK_RATIO else ""
    life = f", lasts {words.years(row.life_years)}" if row.life_years is not None and is_long else ""
    predicted = ", predicted from its parts" if _past_the_cache(row) else ""
    return f"{_short(row)} ({words.size(row.outcome.capacity_bytes)}{faster}{life}{predicted})"


def _short(row: Row) -> str:
    return row.outcome.task.on.removeprefix("sim:")


def _because(row: Row) -> str:
    if row.outcome.refused is not None:
        return f"was not replayed ({row.outcome.refused})"
    return " and ".join(row.reasons)


def _past_the_cache(row: Row) -> str:
    """Drive of parts that no review decides, with the range of what it writes past its cache; empty: it is none."""
    target = find_target(row.outcome.task.on)
    predicted = forecast.undecided(target.profile, target.provenance)
    if predicted is None or predicted.past is None:
        return ""
    return f"{_short(row)} {predicted.past.text(1e6, 'MB/s', is_known=predicted.is_known)}"


def _warnings(subject: Subject, rows: Sequence[Row]) -> list[MeasurementWarning]:
    of, warnings = subject.of, [AdviceWarning.EMPTY.of()]
    if not subject.is_capacity_known:
        warnings.append(AdviceWarning.CAPACITY.of(size=words.size(subject.needed_bytes)))
    if subject.seconds < DAY_S:
        warnings.append(AdviceWarning.SHORT.of(span=words.span(subject.seconds)))
    if any(not row.outcome.plp for row in rows if not row.reasons) and _of_sync(of, rows):
        warnings.append(AdviceWarning.SURVIVES.of())
    warnings += _model_warnings(rows)
    if isinstance(of, Traced):
        suite = {
            str(warning): warning
            for row in rows
            if row.outcome.findings
            for warning in row.outcome.findings["warnings"]
        }
        return [*suite.values(), *warnings]
    return [*of.findings["warnings"], *warnings, *_watched_warnings(subject, of, rows)]


def _model_warnings(rows: Sequence[Row]) -> list[MeasurementWarning]:
    """Warnings about drives that are forecasts of parts, or twins."""
    warnings = []
    if ranges := [text for row in rows if (text := _past_the_cache(row))]:
        warnings.append(AdviceWarning.PARTS.of(drives=", ".join(ranges)))
    if twins := [_short(row) for row in rows if row.outcome.is_twin]:
        warnings.append(AdviceWarning.TWIN.of(drives=", ".join(twins)))
    targets = {_short(row): find_target(row.outcome.task.on) for row in rows}
    if resting := [name for name, of in targets.items() if rests_are_assumed(of.profile, of.provenance)]:
        warnings.append(RecordingWarning.RESTS.of(drives=", ".join(resting)))
    return warnings


def _watched_warnings(subject: Subject, of: Watched, rows: Sequence[Row]) -> list[MeasurementWarning]:
    """Warnings about a work that was only watched: the order, sizes and queues of its requests are not recorded."""
    warnings = []
    interval = words.span(float(np.median(of.load.seconds)))
    replayed = [row for row in rows if row.outcome.task.order]
    if replayed:
        order = replayed[0].outcome.task.order
        other = "random" if order == "sequential" else "sequential"
        in_words = {"sequential": "in order", "random": "at random"}
        warnings.append(
            AdviceWarning.ADDRESSES.of(
                interval=interval, order=in_words[str(order)], other=in_words[other], result=_other(subject, rows)
            )
        )
    warnings.append(AdviceWarning.SIZES.of(interval=interval))
    if of.stretches and replayed:
        depth = replayed[0].outcome.task.replay.iodepth
        warnings.append(AdviceWarning.DEMAND.of(depth=depth))
        queues = _queues(of)
        if queues and max(queues) > MIN_DEPTH_RATIO * max(min(queues), 1.0):
            warnings.append(AdviceWarning.QUEUES.of(low=f"{min(queues):.1f}", high=f"{max(queues):.1f}", depth=depth))
    return warnings


def _queues(of: Watched) -> list[float]:
    """Mean queue of each stretch; where it is not known there is none."""
    means = []
    for stretch in of.stretches:
        mean = float(of.load.queue_s[stretch.covers(of.load.ends_s)].sum()) / (stretch.to_s - stretch.from_s)
        means += [mean] if mean > 0 else []
    return means


def _other(subject: Subject, rows: Sequence[Row]) -> str:
    """Text on what the addresses in the other order change."""
    changed = []
    for row in rows:
        if row.other is None or row.other.findings is None:
            continue
        years = life_years(row.other.findings["life_bytes"], subject.written_bytes, subject.seconds)
        reasons = _reasons(subject, row.other, years)
        if bool(reasons) != bool(row.reasons):
            verdict = f"does not suffice ({'; '.join(reasons)})" if reasons else "suffices"
            changed.append(f"{_short(row)} {verdict} then")
    return ", ".join(changed) if changed else "no verdict changes"


def _row_document(row: Row) -> dict[str, Any]:
    outcome, findings = row.outcome, row.outcome.findings
    head: dict[str, Any] = {"on": outcome.task.on, "would_do": not row.reasons, "reasons": row.reasons}
    if findings is None:
        return {**head, "refused": outcome.refused}
    named = ("latencies", "share_slc", "cache_bytes", "cache_most_bytes", "enough", "waf", "life_bytes")
    other = None if row.other is None else {"order": row.other.task.order, "work_s": row.other.work_s}
    return {
        **head, "order": outcome.task.order, "capacity_bytes": outcome.capacity_bytes, "plp": outcome.plp,
        "work_s": outcome.work_s, "faster": row.faster, "drive_s": outcome.drive_s, "sync_s": outcome.sync_s,
        "late_share": outcome.late_share, "life_years": row.life_years, "other_order": other,
        **{name: findings[name] for name in named},  # type: ignore[literal-required]
    }  # fmt: skip
