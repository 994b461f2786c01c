"""What is in a trace, in words, tables and pictures: of `TraceFile.survey`."""

from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from pslc.base import words
from pslc.device.profiles import library
from pslc.device.target import find_target
from pslc.figures.picture import Line, Picture, Table
from pslc.figures.view import View
from pslc.schema.surveys import Op, OverTime, Survey
from pslc.schema.warnings import MeasurementWarning

MOST_ROWS = 8


def requests(found: Survey) -> int:
    """All of them."""
    return sum(sum(of["count"].values()) for of in found["devices"])


def _total(found: Survey, what: Literal["count", "bytes", "sequential"], kind: Op) -> int:
    return sum(of[what][kind] for of in found["devices"])


def sentences(found: Survey) -> list[str]:
    """Volume and mix, sequence, working set, rewriting, pauses and bursts."""
    seconds = found["duration_ns"] / 1e9
    moved = {kind: _total(found, "bytes", kind) for kind in ("read", "write", "trim")}
    said = []
    parts = [f"{words.size(moved[kind])} {verb}" for kind, verb in
             (("write", "written"), ("read", "read"), ("trim", "trimmed")) if moved[kind]]  # fmt: skip
    flushes = _total(found, "count", "flush")
    parts += [f"{words.count(flushes)} flush{'es' if flushes > 1 else ''}"] if flushes else []
    rate = f", {words.speed((moved['write'] + moved['read']) / seconds)} on average" if seconds else ""
    said.append(f"{_joined(parts) or 'Nothing moved'}{rate}.")
    for kind in ("write", "read"):
        count = _total(found, "count", kind)
        if count:
            part = _total(found, "sequential", kind) / count
            sequential = f"{words.share(part)} of them" if part else "none of them"
            mean = words.size(moved[kind] / count)
            said.append(f"{words.count(count)} {kind}s of {mean} on average, {sequential} sequential.")
    if found["touched_bytes"]:
        said.append(
            f"It uses {words.size(found['touched_bytes'])} and writes {words.size(found['written_bytes'])} of it."
        )
    if moved["write"]:
        again = min(found["rewritten_bytes"] / moved["write"], 1.0)
        said.append(
            f"{words.share(again)} of what is written was written before." if again else "Nothing is rewritten."
        )
    if found["timed"] and seconds:
        said.append(f"The queue depth was {words.count(found['took_ns'] / found['duration_ns'])} on average.")
    pauses = [of for of in found["bursts"] if of["pauses"]]
    if pauses:
        longest = words.span(found["longest_pause_ns"] / 1e9)
        shortest = words.span(pauses[0]["pause_ns"] / 1e9)
        several = "s" if pauses[0]["pauses"] > 1 else ""
        said.append(f"{words.count(pauses[0]['pauses'])} pause{several} of {shortest} or more, the longest {longest}.")
    one = next(of for of in found["bursts"] if of["pause_ns"] == 10**9)
    if one["most_bytes"]:
        said.append(
            f"At most {words.size(one['most_bytes'])} are written without a pause of 1 s. A cache of that size is "
            f"enough where 1 s empties it{_fits(one['most_bytes'])}."
        )
    return said


def _fits(burst_bytes: float) -> str:
    """How many of the drives that pslc brings along have a cache of that size."""
    sizes = _cache_sizes()
    larger = sum(size >= burst_bytes for size in sizes)
    return f"; {larger} of {len(sizes)} known drives have one as large"


@lru_cache(maxsize=1)
def _cache_sizes() -> list[int]:
    return [find_target(f"sim:{name}").facts["cache_bytes"] for name in library()]


def _joined(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def tables(found: Survey) -> list[Table]:
    """Devices, sizes, bursts."""
    made = []
    if len(found["devices"]) > 1:
        largest = sorted(found["devices"], key=lambda of: -sum(of["bytes"].values()))
        rows = [
            [of["device"], words.count(sum(of["count"].values())), words.size(of["bytes"]["write"]),
             words.size(of["bytes"]["read"]), words.size(of["end_bytes"])]
            for of in largest[:MOST_ROWS]
        ]  # fmt: skip
        made.append(Table("Devices", ("device", "requests", "written", "read", "up to"), rows, words=("device",)))
    largest_first = sorted(found["sizes"], key=lambda of: -of[2])[:MOST_ROWS]
    total = max(requests(found), 1)
    rows = [
        [kind, words.size(size), words.count(count), words.share(count / total)] for kind, size, count in largest_first
    ]
    if rows:
        made.append(Table("Most frequent requests", ("kind", "size", "requests", "share"), rows, words=("kind",)))
    rows = [
        [words.span(of["pause_ns"] / 1e9), words.count(of["pauses"]), words.span(of["paused_ns"] / 1e9),
         words.size(of["most_bytes"]), words.span(of["most_at_ns"] / 1e9)]
        for of in found["bursts"]
    ]  # fmt: skip
    columns = ("pauses of", "number", "in all", "written between two, at most", "from")
    made.append(Table("Pauses and bursts", columns, rows))
    return made


def pictures(found: Survey) -> list[Picture]:
    """Speed over time, where it has times; sizes; and what a cache would have to hold, against the pause after which it
    is empty."""
    made = []
    if found["duration_ns"]:
        made.append(_over_time(found["over_time"]))
    if found["sizes"]:
        made.append(_sizes(found["sizes"]))
    bursts = [of for of in found["bursts"] if of["most_bytes"]]
    if bursts:
        pauses, most = [of["pause_ns"] / 1e9 for of in bursts], [of["most_bytes"] / 1e9 for of in bursts]
        lines = [Line("bursts", pauses, most, "points")]
        made.append(Picture("bursts", "Most written between two pauses", "pause, s", "GB", lines, log_x=True))
    return made


def _over_time(bins: OverTime) -> Picture:
    lines = []
    for name, of in (("written", bins["write_bytes"]), ("read", bins["read_bytes"])):
        moved = np.array(of, dtype=np.float64)
        if moved.any():
            minutes = (np.arange(len(moved)) + 0.5) * bins["bin_ns"] / 6e10
            lines.append(Line(name, minutes, moved / (bins["bin_ns"] / 1e9) / 1e6))
    return Picture("asked", "What is asked for over time", "minutes", "MB/s", lines)


def _sizes(sizes: list[tuple[Op, int, int]]) -> Picture:
    """Shares of the requests by powers of two."""
    total = sum(count for _, _, count in sizes)
    powers = range(min(size for _, size, _ in sizes).bit_length() - 1, max(size for _, size, _ in sizes).bit_length())
    lines = []
    for kind in ("write", "read", "trim"):
        shares = [sum(n for of, size, n in sizes if of == kind and size.bit_length() - 1 == power) for power in powers]
        if any(shares):
            lines.append(Line(kind, list(range(len(powers))), [100 * share / total for share in shares]))
    rows = [f"{1 << power % 10} {('B', 'KiB', 'MiB', 'GiB')[power // 10]}" for power in powers]
    return Picture(
        "sizes", "Sizes of requests, rounded down to a power of 2", "size", "% of requests", lines, rows=rows
    )


def doubts(found: Survey) -> list[MeasurementWarning]:
    """What may be wrong with it."""
    said = reading_doubts(found)
    if _total(found, "bytes", "read") and not _total(found, "bytes", "write"):
        said.append(
            MeasurementWarning(
                "reads-alone",
                "it writes nothing, so a fresh drive reads nothing from flash: --prefill writes what it reads first",
            )
        )
    return said


def reading_doubts(found: Survey) -> list[MeasurementWarning]:
    """What was wrong with it as it was read."""
    said = []
    if found["skipped"]:
        count = words.count(found["skipped"])
        said.append(
            MeasurementWarning("broken-lines", f"{count} lines could not be read and were left out (--skip-bad)")
        )
    if found["backwards_ns"] > 1e9:
        back = words.span(found["backwards_ns"] / 1e9)
        said.append(
            MeasurementWarning(
                "clock", f"times go back by up to {back}: such requests count as made with the one before them"
            )
        )
    return said


def of_file(file: Path, found: Survey) -> View:
    """A trace that was surveyed, as it is shown."""
    return View(
        title=f"{file.name}, {found['format']}",
        drive=file.name,
        conditions="a trace",
        took=f"{words.count(requests(found))} requests in {words.span(found['duration_ns'] / 1e9)}",
        sentences=sentences(found),
        tables=tables(found),
        pictures=pictures(found),
        doubts=doubts(found),
        notes=found["notes"],
    )
