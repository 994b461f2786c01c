"""Pictures that any recording has: its speed, its latencies, and what a simulated drive did inside."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from pslc.analysis import PhaseRow
from pslc.base.errors import RecordingError
from pslc.figures import reduce
from pslc.figures.picture import Axis, Floats, Label, Line, Mark, Own, Panel, Picture, Strip, Text
from pslc.figures.reduce import Mean
from pslc.figures.style import Across
from pslc.recording import rates, stalls
from pslc.recording.model import Columns, Recording
from pslc.recording.writes.curve import write_curve
from pslc.schema.facts import CACHE_FREE_TENTHS
from pslc.schema.jobs import MOVED, Done, Job, Kind

MAX_LINES: Final = 60
"""Lines of a picture with one for each job; of more jobs the slowest are shown."""
AMPLIFICATION_BINS: Final = 24
"""Bins over which write amplification is taken: one superblock is many bins."""
STRIP_CELLS: Final = 100
"""Cells of a strip."""
WRITTEN: Final = Axis("written", "B")
TIME: Final = Axis("time", "s")
SPEED: Final = Axis("speed", "B/s")


def of_writes(recording: Recording, phases: list[PhaseRow]) -> list[Picture]:
    """Speed against bytes with its phases, and every other picture."""
    drawn = [speed_by_bytes(recording, phases)] if recording.written_bytes else []
    return drawn + of_any(recording)


def of_any(recording: Recording) -> list[Picture]:
    """Every picture but the speed against bytes; those against bytes only where something was written."""
    drawn = [speed_by_time(recording)]
    if recording.time["trim_bytes"].any():
        drawn.append(_trims(recording))
    if recording.written_bytes and recording.is_simulated:
        drawn += [_occupancy(recording), _free(recording), _amplification(recording)]
    drawn += [_latency(recording), _histogram(recording), _slowest(recording)]
    return drawn + heat_and_power(recording)


def speed_by_bytes(recording: Recording, phases: list[PhaseRow], across: Across = Across.BYTES) -> Picture:
    """Speed against bytes written, or the share of the drive, with its phases, the end of its cache, and on a simulated
    drive how full the cache is."""
    x, scale = (WRITTEN, 1.0) if across is Across.BYTES else (Axis("share of the drive written", "share"), 0.0)
    scale = scale or 1.0 / _capacity(recording)
    marks = [
        Mark(phase["from_bytes"] * scale, phase["bytes_per_s"], Label(phase["cause"], phase["bytes_per_s"], "B/s"),
             phase["to_bytes"] * scale)
        for phase in phases
    ]  # fmt: skip
    end = recording.findings.get("cache_bytes")
    if phases and end is not None:
        marks.insert(0, Mark(end * scale, None, Label("cache ends at {}", end, "B")))
    line = write_line(recording, phases, scale)
    panel = Panel(SPEED, [line] if line else [], marks=marks)
    title = "Write speed by data written"
    return Picture("speed-bytes", title, x, (panel,), _cache_strip(recording, scale))


def _capacity(recording: Recording) -> float:
    if not recording.drive_bytes:
        raise RecordingError(
            f"{recording.drive}: the capacity of the drive is unknown", "give --capacity 1TB, or draw --axis bytes"
        )
    return float(recording.drive_bytes)


def write_line(recording: Recording, phases: Sequence[PhaseRow] = (), scale: float = 1.0) -> Line | None:
    """Write speed against bytes written; None where nothing was written."""
    curve = write_curve(recording)
    if curve is None:
        return None
    ends = curve.edges_bytes[1:]
    borders = [float(phase["from_bytes"]) for phase in phases[1:]]
    line = reduce.smoothed(Line("write", ends, curve.bytes_per_s), curve.widths, borders)
    (x, y), start = line.points, curve.edges_bytes[:1]
    low, high = (None if band is None else np.concatenate([band[:1], band]) for band in (line.low, line.high))
    return replace(line, x=np.concatenate([start, x]) * scale, y=np.concatenate([y[:1], y]), low=low, high=high)


def speed_by_time(recording: Recording) -> Picture:
    """Speed against time, of reads and of writes: a trim moves no data. Time without work is a gap."""
    lines = [line for kind in ("read", "write") if (line := time_line(recording, kind)) is not None]
    marks = [
        Mark(stall["at_s"], None, "no answer", stall["at_s"] + stall["duration_s"])
        for stall in stalls.of_recording(recording)
    ]
    marks += [Mark(gap["at_s"], None, "pslc did not run") for gap in recording.gaps]
    title = f"{str(lines[0].name).capitalize()} speed over time" if len(lines) == 1 else "Speed over time"
    return Picture("speed-time", title, TIME, (Panel(SPEED, lines, marks=marks),))


def with_request_size(title: str, moved: Iterable[Done]) -> Text:
    """A title with the size of the requests, where all have the same."""
    sizes = {done["io_bytes"] // done["total_ios"] for done in moved if done["total_ios"]}
    return (title, Label("requests of {}", sizes.pop(), "block")) if len(sizes) == 1 else title


def time_line(recording: Recording, kind: str) -> Line | None:
    """Speed of `read` or `write` against seconds, with a gap where nothing was asked of the drive; None where nothing
    of the kind was moved."""
    moved = recording.time[f"{kind}_bytes"]
    if not moved.any():
        return None
    x, y = rates.speed_by_time(recording, kind)
    widths = np.maximum(np.diff(x, prepend=0.0), 0.0)
    return reduce.smoothed(Line(kind, x, y), widths + 1e-12, mean=Mean.OVER_TIME)


def seconds(recording: Recording) -> Floats:
    """Seconds since the start of the run, at the end of each bin of time."""
    return (recording.time["end_ns"].astype(np.float64) - recording.start_ns) / 1e9


def busy(recording: Recording, values: Floats) -> Floats:
    """Values of each bin of time, not a number in time without work."""
    durations = np.maximum(np.diff(seconds(recording), prepend=0.0), 0.0)
    return np.where(rates.is_silent(recording.time, durations), np.nan, values)


def _trims(recording: Recording) -> Picture:
    trimmed = np.cumsum(recording.time["trim_bytes"], dtype=np.float64)
    line = Line("trimmed", seconds(recording), trimmed, "filled")
    return Picture("trims", "Data trimmed", TIME, (Panel(Axis("trimmed", "B"), [line]),))


def _written(series: Columns) -> Floats:
    return np.cumsum(series["write_bytes"], dtype=np.float64)


def _cache_strip(recording: Recording, scale: float) -> Strip | None:
    """Occupancy of the cache of a simulated drive, or of one that reports it, against bytes written."""
    reports = recording.bytes.get(CACHE_FREE_TENTHS)
    if reports is not None and recording.written_bytes:
        edges = np.concatenate([[0.0], _written(recording.bytes)])
        return Strip("used share of the buffer, as the drive reports", edges * scale, 1.0 - reports / 10.0)
    if not (recording.is_simulated and recording.written_bytes and recording.bytes["cache_limit_bytes"].any()):
        return None
    written = _written(recording.bytes)
    edges = np.linspace(0.0, float(written[-1]), STRIP_CELLS + 1)
    places = np.minimum(np.searchsorted(written, (edges[1:] + edges[:-1]) / 2), len(written) - 1)
    held, limit = (recording.bytes[f"{name}_bytes"][places].astype(np.float64) for name in ("slc_valid", "cache_limit"))
    return Strip("data in the cache", edges * scale, np.clip(held / max(limit.max(), 1.0), 0.0, 1.0))


def _occupancy(recording: Recording) -> Picture:
    series = recording.bytes
    held = Line("data in the cache", _written(series), series["slc_valid_bytes"].astype(np.float64), "filled")
    limit = Line("limit", _written(series), series["cache_limit_bytes"].astype(np.float64), "dotted")
    return Picture("occupancy", "SLC cache occupancy", WRITTEN, (Panel(Axis("cache", "B"), [held, limit]),))


def _free(recording: Recording) -> Picture:
    series = recording.bytes
    lines = [
        Line(word, _written(series), series[f"{name}_superblocks"].astype(np.float64))
        for name, word in (("free", "free"), ("slc", "used as pSLC"))
    ]
    return Picture("free", "Superblocks", WRITTEN, (Panel(Axis("superblocks"), lines),))


def _amplification(recording: Recording) -> Picture:
    series = recording.bytes
    programmed = (series["slc_programmed_bytes_total"] + series["native_programmed_bytes_total"]).astype(np.float64)
    host = series["host_write_bytes_total"].astype(np.float64)
    before = recording.before
    start_host = float(before["host_write_bytes_total"])
    start_programmed = float(before["slc_programmed_bytes_total"] + before["native_programmed_bytes_total"])
    back = np.maximum(np.arange(len(host)) - AMPLIFICATION_BINS, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        now = np.nan_to_num((programmed - programmed[back]) / (host - host[back]), posinf=0.0)
        overall = np.nan_to_num((programmed - start_programmed) / (host - start_host), posinf=0.0)
    keep = slice(min(AMPLIFICATION_BINS, len(host) - 1), None)
    x = _written(series)[keep]
    lines = [Line("now", x, now[keep]), Line("since the start", x, overall[keep], "dotted")]
    y = Axis("bytes programmed for each byte written")
    return Picture("amplification", "Write amplification", WRITTEN, (Panel(y, lines),))


def _latency(recording: Recording) -> Picture:
    series = recording.time
    count = (series["reads"] + series["writes"] + series["trims"]).astype(np.float64)
    x, some = seconds(recording), count > 0
    columns = [("median", "p50"), ("99 %", "p99"), ("99.9 %", "p999"), ("longest", "max")]
    values = {"mean": series["lat_sum_ns"] / np.maximum(count, 1) / 1e9}
    values |= {word: series[f"lat_{name}_ns"] / 1e9 for word, name in columns}
    # A bin without a request has no latency; only time without work breaks the line.
    drawn = some | np.isnan(busy(recording, x))
    # Each window by itself and the same for all lines, so that none crosses a higher percentile.
    weights = np.maximum(np.diff(x[drawn], prepend=0.0), 1e-12)
    lines = [
        reduce.smoothed(Line(word, x[drawn], np.where(some, of, np.nan)[drawn]), weights, neighbours=0,
                        mean=Mean.MAXIMUM if word == "longest" else Mean.OVER_TIME)
        for word, of in values.items()
    ]  # fmt: skip
    y = Axis("latency", "s", log=10)
    return Picture("latency", "Latency of requests over time", TIME, (Panel(y, lines),))


def _slowest_jobs(recording: Recording) -> list[tuple[Job, Kind]]:
    """Each job and kind of request that it made, in order; of very many those with the longest mean latencies."""
    moved = [(job, kind) for job in recording.jobs for kind in MOVED if job[kind]["total_ios"]]
    means = sorted((job[kind]["lat_ns"]["mean"] for job, kind in moved), reverse=True)
    slowest = means[MAX_LINES - 1] if len(moved) > MAX_LINES else 0.0
    return [(job, kind) for job, kind in moved if job[kind]["lat_ns"]["mean"] >= slowest][:MAX_LINES]


def _histogram(recording: Recording) -> Picture:
    """Spread of the latencies of each job: the share of its requests in each eighth of an octave."""
    lines = []
    for job, kind in _slowest_jobs(recording):
        rows = job[kind]["lat_ns"].get("histogram")
        if rows:
            begin, end, count = np.array(rows, dtype=np.float64).T
            begin = np.maximum(begin, 0.5)
            # Down to nothing where neighbours are empty, and at the end.
            gaps = np.flatnonzero(begin[1:] > end[:-1])
            x = np.concatenate([begin, end[gaps], end[-1:]]) / 1e9
            y = np.concatenate([count / count.sum(), np.zeros(len(gaps) + 1)])
            order = np.argsort(x, kind="stable")
            lines.append(Line((Own(job["name"]), kind), x[order], y[order], "steps"))
    panel = Panel(Axis("share of the requests", "share"), lines)
    return Picture("histogram", "Distribution of latencies", Axis("latency", "s", log=10), (panel,))


def _slowest(recording: Recording) -> Picture:
    """Percentiles of each job's latency, the rare ones drawn apart: one request in 1000 is the 99.9th."""
    lines = []
    for job, kind in _slowest_jobs(recording):
        percentiles = sorted(
            (float(p), ns / 1e9) for p, ns in job[kind]["lat_ns"]["percentile"].items() if float(p) < 100
        )
        if percentiles:
            one_in = [100 / (100 - percent) for percent, _ in percentiles]
            lines.append(Line((Own(job["name"]), kind), one_in, [s for _, s in percentiles], "points"))
    x, y = Axis("1 in N requests is slower", log=10), Axis("latency", "s", log=10)
    return Picture("slowest", "Latency of the slowest requests", x, (Panel(y, lines),))


def heat_and_power(recording: Recording) -> list[Picture]:
    """Temperature and power over time in one picture, as far as the drive tells them; empty if it tells neither."""
    panels = []
    x = seconds(recording)
    if recording.totals.get("temperature_millicelsius"):
        celsius = recording.time["temperature_millicelsius"] / 1e3
        panels.append(Panel(Axis("temperature", "C"), [Line("temperature", x, celsius)]))
    if recording.totals.get("energy_nj_total"):
        joules = recording.time["energy_nj_total"].astype(np.float64) / 1e9
        used = np.diff(joules, prepend=recording.before["energy_nj_total"] / 1e9)
        spent = np.maximum(np.diff(x, prepend=0.0), 1e-9)
        line = reduce.smoothed(Line("power", x, used / spent), spent, mean=Mean.OVER_TIME)
        panels.append(Panel(Axis("power", "W"), [line]))
    return [Picture("heat", "Temperature and power over time", TIME, tuple(panels))] if panels else []
