"""What is in a trace, in words, tables and pictures: of `TraceFile.survey`."""

from pathlib import Path
from typing import Any

from pslc import words
from pslc.doubt import Doubt
from pslc.figures.picture import Line, Picture, Table
from pslc.figures.view import View

MOST_ROWS = 8
Survey = dict[str, Any]


def requests(found: Survey) -> int:
    """All of them."""
    return sum(sum(of["count"].values()) for of in found["devices"])


def _total(found: Survey, what: str, kind: str) -> int:
    return sum(int(of[what][kind]) for of in found["devices"])


def sentences(found: Survey) -> list[str]:
    """Volume and mix, sequence, working set, rewriting, pauses and bursts."""
    seconds = found["duration_ns"] / 1e9
    moved = {kind: _total(found, "bytes", kind) for kind in ("read", "write", "trim")}
    said = []
    parts = [f"{words.size(moved[kind])} {verb}" for kind, verb in
             (("write", "written"), ("read", "read"), ("trim", "trimmed")) if moved[kind]]  # fmt: skip
    flushes = _total(found, "count", "flush")
    parts += [f"{words.count(flushes)} flushes"] if flushes else []
    rate = f", {words.speed((moved['write'] + moved['read']) / seconds)} on average" if seconds else ""
    said.append(f"{_joined(parts) or 'Nothing moved'}{rate}.")
    for kind in ("write", "read"):
        count = _total(found, "count", kind)
        if count:
            sequential = words.share(_total(found, "sequential", kind) / count)
            mean = words.size(moved[kind] / count)
            said.append(f"{words.count(count)} {kind}s of {mean} on average, {sequential} of them sequential.")
    if found["touched_bytes"]:
        said.append(
            f"It uses {words.size(found['touched_bytes'])} and writes {words.size(found['written_bytes'])} of it."
        )
    if moved["write"]:
        said.append(
            f"{words.share(min(found['rewritten_bytes'] / moved['write'], 1.0))} of what is written was written before."
        )
    if found["timed"] and seconds:
        said.append(f"The queue depth was {words.count(found['took_ns'] / found['duration_ns'])} on average.")
    pauses = [of for of in found["bursts"] if of["pauses"]]
    if pauses:
        longest = words.span(found["longest_pause_ns"] / 1e9)
        shortest = words.span(pauses[0]["pause_ns"] / 1e9)
        said.append(f"{words.count(pauses[0]['pauses'])} pauses of {shortest} or more, the longest {longest}.")
    one = next(of for of in found["bursts"] if of["pause_ns"] == 10**9)
    if one["most_bytes"]:
        most = words.size(one["most_bytes"])
        said.append(f"At most {most} are written without a pause of 1 s: of a cache that is empty after one, enough.")
    return said


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
    """What a cache would have to hold, against the pause after which it is empty."""
    bursts = [of for of in found["bursts"] if of["most_bytes"]]
    if not bursts:
        return []
    line = Line("bursts", [of["pause_ns"] / 1e9 for of in bursts], [of["most_bytes"] / 1e9 for of in bursts], "points")
    return [Picture("bursts", "Most written between two pauses", "pause, s", "GB", [line], log_x=True)]


def doubts(found: Survey) -> list[Doubt]:
    """What may be wrong with it."""
    said: list[Doubt] = []
    if found["skipped"]:
        said.append(broken_lines(found["skipped"]))
    if found["backwards_ns"] > 1e9:
        back = words.span(found["backwards_ns"] / 1e9)
        said.append(
            Doubt("clock", f"times go back by up to {back}: such requests count as made with the one before them")
        )
    if _total(found, "bytes", "read") and not _total(found, "bytes", "write"):
        said.append(
            Doubt(
                "reads-alone",
                "it writes nothing, so a fresh drive reads nothing from flash: --prefill writes what it reads first",
            )
        )
    return said


def broken_lines(count: int) -> Doubt:
    """Lines that are no requests were left out."""
    return Doubt("broken-lines", f"{words.count(count)} lines could not be read and were left out (--skip-broken)")


def of_file(file: Path, found: dict[str, Any]) -> View:
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
