"""Survey of a trace in words, tables and pictures, from `TraceFile.survey`."""

from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from pslc.base import words
from pslc.device.profiles import library
from pslc.device.target import find_target
from pslc.figures.picture import Axis, Bars, Line, Own, Panel, Picture, Table
from pslc.figures.view import View
from pslc.schema.surveys import Op, OverTime, Survey
from pslc.schema.warnings import MeasurementWarning, notes

MOST_ROWS = 8


def requests(survey: Survey) -> int:
    """Number of requests of a trace, of all kinds and devices."""
    return sum(sum(device["count"].values()) for device in survey["devices"])


def _total(survey: Survey, what: Literal["count", "bytes", "sequential"], kind: Op) -> int:
    return sum(device[what][kind] for device in survey["devices"])


def sentences(survey: Survey) -> list[str]:
    """Volume and mix, sequence, working set, rewriting, pauses and bursts."""
    return [*_of_volume(survey), *_of_working_set(survey), *_of_pauses(survey)]


def _of_volume(survey: Survey) -> list[str]:
    seconds = survey["duration_ns"] / 1e9
    moved = {kind: _total(survey, "bytes", kind) for kind in ("read", "write", "trim")}
    parts = [f"{words.size(moved[kind])} {verb}" for kind, verb in
             (("write", "written"), ("read", "read"), ("trim", "trimmed")) if moved[kind]]  # fmt: skip
    flushes = _total(survey, "count", "flush")
    parts += [f"{words.count(flushes)} flush{'es' if flushes > 1 else ''}"] if flushes else []
    rate = f", {words.speed((moved['write'] + moved['read']) / seconds)} on average" if seconds else ""
    lines = [f"{_joined(parts) or 'Nothing moved'}{rate}."]
    for kind in ("write", "read"):
        count = _total(survey, "count", kind)
        if count:
            part = _total(survey, "sequential", kind) / count
            sequential = f"{words.share(part)} of them" if part else "none of them"
            mean = words.size(moved[kind] / count)
            lines.append(f"{words.count(count)} {kind}s of {mean} on average, {sequential} sequential.")
    return lines


def _of_working_set(survey: Survey) -> list[str]:
    lines = []
    written = _total(survey, "bytes", "write")
    if survey["touched_bytes"]:
        lines.append(
            f"Working set: {words.size(survey['touched_bytes'])}, written: {words.size(survey['written_bytes'])}."
        )
    if written:
        again = min(survey["rewritten_bytes"] / written, 1.0)
        lines.append(f"{words.share(again)} of the writes are rewrites." if again else "Nothing is rewritten.")
    if survey["timed"] and survey["duration_ns"]:
        lines.append(f"The queue depth was {words.count(survey['took_ns'] / survey['duration_ns'])} on average.")
    return lines


def _of_pauses(survey: Survey) -> list[str]:
    lines = []
    pauses = [row for row in survey["bursts"] if row["pauses"]]
    if pauses:
        longest = words.span(survey["longest_pause_ns"] / 1e9)
        shortest = words.span(pauses[0]["pause_ns"] / 1e9)
        several = "s" if pauses[0]["pauses"] > 1 else ""
        lines.append(f"{words.count(pauses[0]['pauses'])} pause{several} of {shortest} or more, the longest {longest}.")
    burst = next(row for row in survey["bursts"] if row["pause_ns"] == 10**9)
    if burst["most_bytes"]:
        lines.append(
            f"At most {words.size(burst['most_bytes'])} are written without a pause of 1 s. A cache of that size is "
            f"enough where 1 s empties it{_fits(burst['most_bytes'])}."
        )
    return lines


def _fits(burst_bytes: float) -> str:
    """Number of built-in drives that have a cache of that size."""
    sizes = _cache_sizes()
    larger = sum(size >= burst_bytes for size in sizes)
    return f"; {larger} of {len(sizes)} known drives have one as large"


@lru_cache(maxsize=1)
def _cache_sizes() -> list[int]:
    return [find_target(f"sim:{name}").facts["cache_bytes"] for name in library()]


def _joined(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def tables(survey: Survey) -> list[Table]:
    """Tables of a trace's devices, request sizes and bursts."""
    shown = []
    if len(survey["devices"]) > 1:
        largest = sorted(survey["devices"], key=lambda row: -sum(row["bytes"].values()))
        rows = [
            [row["device"], words.count(sum(row["count"].values())), words.size(row["bytes"]["write"]),
             words.size(row["bytes"]["read"]), words.size(row["end_bytes"])]
            for row in largest[:MOST_ROWS]
        ]  # fmt: skip
        shown.append(Table("Devices", ("device", "requests", "written", "read", "up to"), rows, words=("device",)))
    largest_first = sorted(survey["sizes"], key=lambda row: -row[2])[:MOST_ROWS]
    total = max(requests(survey), 1)
    rows = [
        [kind, words.size(size), words.count(count), words.share(count / total)] for kind, size, count in largest_first
    ]
    if rows:
        shown.append(Table("Most frequent requests", ("kind", "size", "requests", "share"), rows, words=("kind",)))
    rows = [
        [words.span(row["pause_ns"] / 1e9), words.count(row["pauses"]), words.span(row["paused_ns"] / 1e9),
         words.size(row["most_bytes"]), words.span(row["most_at_ns"] / 1e9)]
        for row in survey["bursts"]
    ]  # fmt: skip
    columns = ("pauses of", "number", "in all", "written between two, at most", "from")
    shown.append(Table("Pauses and bursts", columns, rows))
    return shown


def pictures(survey: Survey) -> list[Picture]:
    """Speed over time, where it has times; sizes; and what a cache would have to hold, against the pause after which it
    is empty."""
    drawn = []
    if survey["duration_ns"]:
        drawn.append(_over_time(survey["over_time"]))
    if survey["sizes"]:
        drawn.append(_sizes(survey["sizes"]))
    bursts = [burst for burst in survey["bursts"] if burst["most_bytes"]]
    if bursts:
        pauses, largest = [burst["pause_ns"] / 1e9 for burst in bursts], [burst["most_bytes"] for burst in bursts]
        panel = Panel(Axis("written", "B"), [Line("bursts", pauses, largest, "points")])
        title = "Most written between two pauses"
        drawn.append(Picture("bursts", title, Axis("pause", "s", log=10), (panel,)))
    return drawn


def _over_time(bins: OverTime) -> Picture:
    lines = []
    for name, column in (("written", bins["write_bytes"]), ("read", bins["read_bytes"])):
        moved = np.array(column, dtype=np.float64)
        if moved.any():
            at = (np.arange(len(moved)) + 0.5) * bins["bin_ns"] / 1e9
            lines.append(Line(name, at, moved / (bins["bin_ns"] / 1e9)))
    return Picture("asked", "Requested speed over time", Axis("time", "s"), (Panel(Axis("speed", "B/s"), lines),))


def _sizes(sizes: list[tuple[Op, int, int]]) -> Picture:
    """Shares of the requests by powers of two."""
    total = sum(count for _, _, count in sizes)
    powers = range(min(size for _, size, _ in sizes).bit_length() - 1, max(size for _, size, _ in sizes).bit_length())
    bars = []
    for kind in ("write", "read", "trim"):
        shares = [sum(n for op, size, n in sizes if op == kind and size.bit_length() - 1 == power) for power in powers]
        if any(shares):
            bars.append(Bars(kind, [share / total for share in shares]))
    x = Axis("size", names=[Own(words.block(1 << power)) for power in powers])
    panel = Panel(Axis("share of the requests", "share"), bars=bars)
    return Picture("sizes", "Sizes of requests, rounded down to a power of 2", x, (panel,))


def warnings(survey: Survey) -> list[MeasurementWarning]:
    """Warnings about a trace."""
    warnings = reading_warnings(survey)
    if _total(survey, "bytes", "read") and not _total(survey, "bytes", "write"):
        warnings.append(
            MeasurementWarning(
                "reads-alone",
                "it writes nothing, so a fresh drive reads nothing from flash: --prefill writes what it reads first",
            )
        )
    return warnings


def reading_warnings(survey: Survey) -> list[MeasurementWarning]:
    """Warnings about the reading of a trace's file."""
    warnings = []
    if survey["skipped"]:
        count = words.count(survey["skipped"])
        warnings.append(
            MeasurementWarning("broken-lines", f"{count} lines could not be read and were left out (--skip-bad)")
        )
    if survey["backwards_ns"] > 1e9:
        back = words.span(survey["backwards_ns"] / 1e9)
        warnings.append(
            MeasurementWarning(
                "clock", f"times go back by up to {back}: such requests count as made with the one before them"
            )
        )
    return warnings


def of_file(file: Path, survey: Survey) -> View:
    """A trace that was surveyed, as it is shown."""
    return View(
        title=f"{file.name}, {survey['format']}",
        drive=file.name,
        conditions="a trace",
        took=f"{words.count(requests(survey))} requests in {words.span(survey['duration_ns'] / 1e9)}",
        sentences=sentences(survey),
        tables=tables(survey),
        pictures=pictures(survey),
        warnings=[*warnings(survey), *notes(survey["notes"])],
    )
