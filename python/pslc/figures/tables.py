"""The tables that any recording has."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pslc.analysis import PhaseRow, Writes
from pslc.analysis.thresholds import MIN_SURE_CONFIDENCE
from pslc.base import words
from pslc.figures.picture import Table
from pslc.recording import stalls
from pslc.recording.comparison import Compared, Side
from pslc.schema.facts import KernelLine
from pslc.schema.jobs import KINDS, Done, Job
from pslc.schema.results import Gap, Measured, Repeats, Stall

Show = Callable[[Any], str]
Columns = Mapping[str, str | tuple[str, Show]]
"""Columns of a table by their names: the key of the finding, with a formatter where its name does not give it."""
SHOWN: Final = (("bytes_per_s", words.speed), ("bytes", words.size), ("seconds", words.span), ("_s", words.span))
"""Formatters of findings by the ends of their keys; others are counts."""
RESULT_COLUMNS: Final[dict[str, Callable[[Measured], str]]] = {
    "test": lambda row: row["test"],
    "kind": lambda row: row["kind"],
    "speed": lambda row: "" if row["bytes_per_s"] is None else words.speed(row["bytes_per_s"]),
    "from": lambda row: words.speed(min(row["samples"])) if row["samples"] else "",
    "to": lambda row: words.speed(max(row["samples"])) if row["samples"] else "",
    "n": lambda row: str(len(row["samples"]) or ""),
    "IOPS": lambda row: "" if row["iops"] is None else f"{row['iops']:.0f}",
    "latency": lambda row: "" if row["latency_s"] is None else words.span(row["latency_s"]),
}
"""Columns of results without a series, with the text of a result's cell."""


def of_writes(findings: Writes) -> list[Table]:
    """The phases, if there are any; see `pslc.recording.writes.findings.of_writes`."""
    rows = [
        [
            str(number),
            words.size(phase["from_bytes"]),
            words.size(phase["to_bytes"]),
            words.speed(phase["bytes_per_s"]),
            phase["cause"],
            _why(phase),
        ]
        for number, phase in enumerate(findings["phases"], 1)
    ]
    columns = ("phase", "from", "to", "speed", "cause", "why")
    return [Table("Phases", columns, rows, words=("cause", "why"))] if rows else []


def _why(phase: PhaseRow) -> str:
    """The evidence without its figures, and how sure it is where that is not very."""
    because = phase["because"].partition(": ")[0]
    sure = phase["confidence"]
    if "shares" in phase or not 0 < sure < MIN_SURE_CONFIDENCE:
        return because
    return f"{because} ({100 * sure:.0f} % sure)"


def of_jobs(jobs: Sequence[Job]) -> Table:
    """Each job with its speed and latencies."""
    columns = ("job", "kind", "moved", "speed", "IOPS", "mean", "median", "99 %", "99.9 %")
    rows = []
    for job in jobs:
        for kind in KINDS:
            done = job[kind]
            if done["total_ios"]:
                seconds = max(done["runtime_ns"], 1) / 1e9
                moved = done["io_bytes"]
                row = [job["name"], kind, *((words.size(moved), words.speed(moved / seconds)) if moved else ("", ""))]
                rows.append([*row, f"{done['total_ios'] / seconds:.0f}", *_latencies(done)])
        if "sync" in job and job["sync"]["lat_ns"]["mean"]:
            rows.append([job["name"], "flush", "", "", "", *_latencies(job["sync"])])
    return Table("Jobs", columns, rows, words=("job", "kind"))


def _latencies(done: Done) -> list[str]:
    """Mean, median, 99 % and 99.9 % of requests; empty where not known."""
    latency, shares = done["lat_ns"], ("50.000000", "99.000000", "99.900000")
    values = [latency["mean"], *(latency["percentile"].get(share) for share in shares)]
    return [words.span(value / 1e9) if value else "" for value in values]


def of_repeats(repeats: Repeats) -> Table:
    """The spread of the findings over several runs; see `pslc.runner.campaign.spread`."""
    rows = [
        [name, *(f"{figure:.5g}" for figure in (repeat["mean"], repeat["min"], repeat["max"], repeat["stddev"]))]
        for name, repeat in repeats.items()
        if not isinstance(repeat, int)
    ]
    return Table(f"Spread (n = {repeats['n']})", ("finding", "mean", "least", "most", "deviation"), rows, ("finding",))


def of_rows(title: str, rows: Sequence[Mapping[str, object]], columns: Columns) -> Table:
    """Rows of findings, whose texts stand as they are. A figure that is null is `-`."""
    keys = {name: (key, _show(key, rows)) if isinstance(key, str) else key for name, key in columns.items()}
    cells = [
        [show(row[key]) if row[key] is not None else "" if show is str else "-" for key, show in keys.values()]
        for row in rows
    ]
    return Table(title, list(columns), cells, [name for name, (_, show) in keys.items() if show is str])


def _show(key: str, rows: Sequence[Mapping[str, object]]) -> Show:
    """The formatter of a key: none of texts, else by its end."""
    if any(isinstance(row[key], str) for row in rows):
        return str
    return next((show for end, show in SHOWN if key.endswith(end)), words.count)


def of_stalls(rows: Sequence[Stall]) -> Table:
    """Times in which a real drive answered nothing, and what was under way."""
    cells = [[words.span(max(s["at_s"], 0.0)), stalls.whole_s(s["duration_s"]), stalls.under_way(s)] for s in rows]
    return Table("No answer from the drive", ("at", "for", "requests"), cells, words=("requests",))


def of_gaps(rows: Sequence[Gap]) -> Table:
    """Times in which pslc did not run, on the clock of the run, which stands still meanwhile."""
    cells = [[words.span(max(gap["at_s"], 0.0)), f"{gap['duration_s']:.1f} s"] for gap in rows]
    return Table("pslc did not run", ("at", "for"), cells)


def of_kernel(lines: Sequence[KernelLine]) -> Table:
    """Lines of the kernel's log about a drive during a run."""
    rows = [[words.span(max(line["at_s"], 0.0)), line["text"]] for line in lines]
    return Table("Kernel log of the drive", ("at", "line"), rows, words=("line",))


def of_results(rows: list[Measured]) -> Table:
    """Results that have no series; of those measured several times the least and the most. No column is empty."""
    columns = {name: [cell(row) for row in rows] for name, cell in RESULT_COLUMNS.items()}
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    return Table("Results", tuple(shown), list(zip(*shown.values(), strict=True)), words=("test", "kind"))


def of_comparison(sides: Sequence[Side], rows: Sequence[Compared]) -> Table:
    """Figures of recordings side by side, with their units, the ratio to the first where there are two, and a star
    where a figure differs from the first beyond the noise; first the engines of real drives."""
    names = [side.name for side in sides]
    ratio = ["change"] if len(names) == 2 else []
    lines = _engines(sides, ratio)
    for row in rows:
        cells = [words.quantity(figure.value, row.unit) if figure else "-" for figure in row.figures]
        cells = [f"{cell} *" if differs else cell for cell, differs in zip(cells, row.differs, strict=True)]
        last = row.ratios[-1] if ratio else None
        lines.append([row.called, *cells, *([words.change(last) if last is not None else "-"] if ratio else [])])
    return Table("* differs from the first beyond the noise", ["figure", *names, *ratio], lines, words=["figure"])


def _engines(sides: Sequence[Side], ratio: Sequence[str]) -> list[list[str]]:
    """Row of the engines, where one of the sides is of a real drive."""
    engines = [side.recording.engine for side in sides]
    return [["engine", *(engine or "-" for engine in engines), *("-" for _ in ratio)]] if any(engines) else []
