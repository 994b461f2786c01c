"""What would NIOBench show? Medians of reading, writing and copying files, over 10, 20 and 50 iterations.

NIOBench-compatible, files of 100 MiB in blocks of 10 MiB, one request at a time. `native`: each iteration writes two
files, reads them, copies them and deletes all four. `series`: all files are written, then all copied, then all read.
`asynchronous` is the same through the page cache, where copies end with a flush.
"""

from functools import partial

import numpy as np
from typing_extensions import TypedDict

from pslc.base import words
from pslc.device.region import MIB, Region
from pslc.figures import curves
from pslc.figures.picture import Axis, Bars, Label, Line, Own, Panel, Picture, Table
from pslc.figures.tables import of_rows
from pslc.recording.model import Recording
from pslc.recording.suite_helpers import jobs, seconds
from pslc.recording.writes.evidence import host
from pslc.schema.warnings import MeasurementWarning
from pslc.suites import Steps

QUICK = "10 iterations only"
COMPUTER = "i7-13700k"
UNLIKE_SCALED = "its file has a fixed size"
FILE, BLOCK = 100 * MIB, "10m"
ITERATIONS = (10, 20, 50)
REST_S = 60.0
SCENARIOS = ("native", "series", "asynchronous")
SCENARIOS_NOTE = (
    "each iteration writes, copies and reads a file; native: one by one; series: all written, all copied, all read; "
    "asynchronous: writes end in memory, copies on the drive"
)
OPERATIONS = ("read", "write", "copy")


def steps(region: Region) -> Steps:
    """A step a scenario."""
    count = ITERATIONS[0] if region.quick else ITERATIONS[-1]
    size = min(FILE, region.share(1.0) // (2 * count + 2) // MIB * MIB)
    if size < MIB:
        count = max(region.share(1.0) // MIB // 2 - 1, 1)
        size = MIB
    yield _native(region, min(count, ITERATIONS[-1]), size)
    for scenario in SCENARIOS[1:]:
        yield region.trim() + _series(region, count, size, scenario)


def _native(region: Region, count: int, size: int) -> str:
    bs = BLOCK if size >= 10 * MIB else "1m"
    text = ""
    for number in range(count):
        text += region.job(f"native-write-{number}", rw="write", size=2 * size, bs=bs)
        text += region.job(f"native-read-{number}", rw="read", size=2 * size, bs=bs)
        text += region.job(f"native-copy-{number}", rw="read", size=2 * size, copy_to=2 * size, bs=bs)
        text += region.job(f"native-delete-{number}", rw="trim", size=4 * size, bs=bs)
    return text


def _series(region: Region, count: int, size: int, scenario: str) -> str:
    buffered = scenario == "asynchronous"
    job = partial(region.job, bs=BLOCK if size >= 10 * MIB else "1m", size=size, direct=0 if buffered else 1)
    text = ""
    for number in range(count):
        # What the scenario before left in a cache is moved first.
        text += job(f"{scenario}-write-{number}", rw="write", offset=number * size, pause=0.0 if number else REST_S)
    for number in range(count):
        text += job(f"{scenario}-copy-{number}", rw="read", offset=number * size,
                    copy_to=(count + number) * size, end_fsync=1 if buffered else None)  # fmt: skip
    for number in range(count):
        text += job(f"{scenario}-read-{number}", rw="read", offset=number * size)
    return text


class Operation(TypedDict):
    """Speed of one operation over a number of iterations."""

    scenario: str
    operation: str
    iterations: int
    median_bytes_per_s: float
    mean_bytes_per_s: float
    min_bytes_per_s: float
    max_bytes_per_s: float


class Findings(TypedDict):
    """Findings of the suite, by name; `findings` describes them."""

    niobench: list[Operation]
    series: dict[str, dict[str, list[float]]]
    warnings: list[MeasurementWarning]


def findings(recording: Recording) -> Findings:
    """Findings of the suite, in base units.

    - `niobench`: of each `scenario`, `operation` and number of `iterations` (10, 20, 50) `median_bytes_per_s`,
      `mean_bytes_per_s`, `min_bytes_per_s`, `max_bytes_per_s`; of an even number the median is the mean of two
    - `series`: bytes a second of each iteration, by scenario and operation
    """
    series: dict[str, dict[str, list[float]]] = {s: {o: [] for o in OPERATIONS} for s in SCENARIOS}
    for name, job in jobs(recording):
        scenario, operation, _ = name.split("-") if name.count("-") == 2 else ("", "", "")
        if scenario in series and operation in OPERATIONS:
            done = job["read"] if operation == "read" else job["write"]
            series[scenario][operation].append(done["io_bytes"] / seconds(job))
    rows: list[Operation] = []
    for scenario, operations in series.items():
        for operation, speeds in operations.items():
            for count in sorted({min(count, len(speeds)) for count in ITERATIONS} - {0}):
                some = np.array(speeds[:count])
                rows.append(
                    {
                        "scenario": scenario,
                        "operation": operation,
                        "iterations": count,
                        "median_bytes_per_s": float(np.median(some)),
                        "mean_bytes_per_s": float(some.mean()),
                        "min_bytes_per_s": float(some.min()),
                        "max_bytes_per_s": float(some.max()),
                    }
                )
    return {"niobench": rows, "series": series, "warnings": _warnings(recording)}


def _warnings(recording: Recording) -> list[MeasurementWarning]:
    if not recording.is_simulated or "page_cache" in host(recording):
        return []
    text = "the simulated host has no page cache, so asynchronous writes are direct ones, like those of series"
    return [MeasurementWarning("no-page-cache", f"{text}: name one with --computer i5-8400")]


def _last(findings: Findings) -> dict[tuple[str, str], Operation]:
    return {(row["scenario"], row["operation"]): row for row in findings["niobench"]}


def sentences(findings: Findings) -> list[str]:
    """Medians of all iterations, a sentence per scenario."""
    last = _last(findings)
    lines = []
    for scenario in SCENARIOS:
        if all((scenario, operation) in last for operation in OPERATIONS):
            read, write, copy = (words.speed(last[scenario, o]["median_bytes_per_s"]) for o in OPERATIONS)
            count = last[scenario, "read"]["iterations"]
            lines.append(
                f"NIOBench-compatible, {scenario}, medians of {count}: {read} read, {write} written, {copy} copied."
            )
    return lines


def tables(findings: Findings) -> list[Table]:
    """Medians and extremes, all iterations first."""
    columns = {name: name for name in ("scenario", "operation", "iterations")}
    columns |= {name: f"{name}_bytes_per_s" for name in ("median", "mean", "min", "max")}
    rows = sorted(findings["niobench"], key=lambda row: -row["iterations"])
    return [of_rows("NIOBench-compatible", rows, columns)]


def pictures(recording: Recording) -> list[Picture]:
    """The speed of each iteration with the medians, a panel a scenario; then the medians over the iterations so far."""
    results = recording.findings.typed(Findings)
    last = _last(results)
    panels = []
    for scenario in SCENARIOS:
        speeds = {o: of for o, of in results["series"][scenario].items() if of}
        medians = [Label(o, last[scenario, o]["median_bytes_per_s"], "B/s") for o in speeds]
        lines = [Line(o, np.arange(1, len(of) + 1), of, "points") for o, of in speeds.items()]
        if lines:
            panels.append(Panel(curves.SPEED, lines, title=(Own(scenario), "median", *medians)))
    sizes = [job["write"]["io_bytes"] for name, job in jobs(recording) if name.startswith("series-write-")]
    title = ("Speed by iteration", Label("files of {}", sizes[0], "B")) if sizes else "Speed by iteration"
    each = Picture("niobench", title, Axis("iteration"), tuple(panels), note=SCENARIOS_NOTE)
    return [each, _medians(results["niobench"]), *curves.of_any(recording)]


def _medians(rows: list[Operation]) -> Picture:
    """Bars of read, write and copy, at a place for each scenario and number of iterations."""
    medians = {(row["scenario"], row["iterations"], row["operation"]): row["median_bytes_per_s"] for row in rows}
    places = list(dict.fromkeys((row["scenario"], row["iterations"]) for row in rows))
    bars = [Bars(operation, [medians.get((*place, operation)) for place in places]) for operation in OPERATIONS]
    names = [(Own(scenario), Label("{} iterations", count, "")) for scenario, count in places]
    title = "NIOBench-compatible: medians"
    panel = Panel(curves.SPEED, bars=bars)
    return Picture("medians", title, Axis("scenario", names=names), (panel,), note=SCENARIOS_NOTE)
