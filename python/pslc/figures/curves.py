"""The pictures that any recording has: its speed, its latencies, and what a simulated drive did inside."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pslc.analysis import PhaseRow
from pslc.figures.picture import Band, Line, Picture
from pslc.recording import rates
from pslc.recording.comparison import Side
from pslc.recording.executed import executed
from pslc.recording.store import Columns, Recording
from pslc.recording.writes import write_curve
from pslc.schema.jobs import MOVED, Job, Kind

Floats = NDArray[np.float64]

MOST_LINES = 60
"""Lines of a picture with one for each job; of more jobs the slowest are shown."""
SMOOTH = 24
"""Bins over which write amplification is taken: one superblock is many bins."""


def of_writes(recording: Recording, phases: list[PhaseRow]) -> list[Picture]:
    """Speed against bytes with its phases, and every other curve."""
    drawn = [speed_by_bytes(recording, phases)] if recording.written_bytes else []
    return drawn + of_any(recording)


def of_any(recording: Recording) -> list[Picture]:
    """Everything but the speed against bytes; those against bytes only where something was written."""
    drawn = [speed_by_time(recording)]
    if recording.time["trim_bytes"].any():
        drawn.append(_trims(recording))
    if recording.written_bytes and recording.is_simulated:
        drawn += [_occupancy(recording), _free(recording), _amplification(recording)]
    drawn += [_latency(recording), _histogram(recording), _slowest(recording)]
    if recording.totals.get("temperature_millicelsius"):
        drawn.append(_heat(recording))
    if recording.totals.get("energy_nj_total"):
        drawn.append(_power(recording))
    return drawn


def speed_by_bytes(recording: Recording, phases: list[PhaseRow]) -> Picture:
    """MB/s against GB written, with the phases as bands."""
    bands = [
        Band(
            phase["from_bytes"] / 1e9,
            phase["to_bytes"] / 1e9,
            f"{phase['cause']} {phase['bytes_per_s'] / 1e6:.0f}",
            phase["bytes_per_s"] / 1e6,
        )
        for phase in phases
    ]
    curve = write_curve(recording)
    lines = [Line("write", curve.edges_bytes[1:] / 1e9, curve.bytes_per_s / 1e6)] if curve else []
    return Picture("speed-bytes", "Speed against GB written", "GB written", "MB/s", lines, bands=bands)


def speed_by_time(recording: Recording) -> Picture:
    """MB/s against minutes, of reads and of writes: a trim moves no data."""
    lines = [
        Line(kind, *rates.speed_by_time(recording, kind))
        for kind in ("read", "write")
        if recording.time[f"{kind}_bytes"].any()
    ]
    return Picture("speed-time", "Speed against time", "minutes", "MB/s", lines)


def _trims(recording: Recording) -> Picture:
    trimmed = np.cumsum(recording.time["trim_bytes"], dtype=np.float64) / 1e9
    return Picture("trims", "Data trimmed", "minutes", "GB", [Line("trimmed", minutes(recording), trimmed, "filled")])


def of_sides(sides: Sequence[Side]) -> list[Picture]:
    """Every curve of a comparison, those of repeats too: by bytes, and by time."""
    named = [
        (f"{side.name} ({number})" if len(side.repeats) > 1 else side.name, recording)
        for side in sides
        for number, recording in enumerate(side.repeats, 1)
    ]
    by_bytes = [Line(name, *speeds(r, r.bytes, "write")) for name, r in named if r.written_bytes]
    by_time = [
        Line(f"{name} {kind}", minutes(r), speeds(r, r.time, kind)[1])
        for name, r in named
        for kind in ("read", "write")
        if r.time[f"{kind}_bytes"].any()
    ]
    return [
        Picture("speed-bytes", "Speed against GB written", "GB written", "MB/s", by_bytes),
        Picture("speed-time", "Speed against time", "minutes", "MB/s", by_time),
    ]


def minutes(recording: Recording) -> Floats:
    """Since the start of the run, at the end of each bin of time."""
    return (recording.time["end_ns"].astype(np.float64) - recording.start_ns) / 60e9


def speeds(recording: Recording, series: Columns, kind: str) -> tuple[Floats, Floats]:
    """GB written until the end of each bin, and MB/s within it."""
    ends = np.concatenate([[recording.start_ns], series["end_ns"]]).astype(np.float64)
    seconds = np.maximum(np.diff(ends), 1.0) / 1e9
    return _written(series), series[f"{kind}_bytes"] / seconds / 1e6


def _written(series: Columns) -> Floats:
    return np.cumsum(series["write_bytes"], dtype=np.float64) / 1e9


def _occupancy(recording: Recording) -> Picture:
    series = recording.bytes
    held = Line("data in the cache", _written(series), series["slc_valid_bytes"] / 1e9, "filled")
    limit = Line("its limit now", _written(series), series["cache_limit_bytes"] / 1e9, "dotted")
    return Picture("occupancy", "SLC cache occupancy", "GB written", "GB", [held, limit])


def _free(recording: Recording) -> Picture:
    series = recording.bytes
    lines = [
        Line(word, _written(series), series[f"{name}_superblocks"].astype(np.float64))
        for name, word in (("free", "free"), ("slc", "used as pSLC"))
    ]
    return Picture("free", "Superblocks", "GB written", "superblocks", lines)


def _amplification(recording: Recording) -> Picture:
    series = recording.bytes
    programmed = (series["slc_programmed_bytes_total"] + series["native_programmed_bytes_total"]).astype(np.float64)
    host = series["host_write_bytes_total"].astype(np.float64)
    before = recording.before
    start_host = float(before["host_write_bytes_total"])
    start_programmed = float(before["slc_programmed_bytes_total"] + before["native_programmed_bytes_total"])
    back = np.maximum(np.arange(len(host)) - SMOOTH, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        now = np.nan_to_num((programmed - programmed[back]) / (host - host[back]), posinf=0.0)
        overall = np.nan_to_num((programmed - start_programmed) / (host - start_host), posinf=0.0)
    keep = slice(min(SMOOTH, len(host) - 1), None)
    x = _written(series)[keep]
    lines = [Line("now", x, now[keep]), Line("since the start", x, overall[keep], "dotted")]
    title = "Write amplification: bytes programmed for each byte written"
    return Picture("amplification", title, "GB written", "bytes per byte", lines)


def _latency(recording: Recording) -> Picture:
    series = recording.time
    count = series["reads"] + series["writes"] + series["trims"]
    some = count > 0
    x = minutes(recording)[some]
    columns = [("median", "p50"), ("99 %", "p99"), ("99.9 %", "p999"), ("longest", "max")]
    lines = [Line("mean", x, series["lat_sum_ns"][some] / count[some] / 1e6)]
    lines += [Line(word, x, series[f"lat_{name}_ns"][some] / 1e6) for word, name in columns]
    return Picture("latency", "Latency of requests over time", "minutes", "ms", lines, log_y=True)


def _slowest_jobs(recording: Recording) -> list[tuple[Job, Kind]]:
    """Each job and kind of request that it made, in order; of very many those with the longest mean latencies."""
    moved = [(job, kind) for job in recording.jobs for kind in MOVED if job[kind]["total_ios"]]
    means = sorted((job[kind]["lat_ns"]["mean"] for job, kind in moved), reverse=True)
    slowest = means[MOST_LINES - 1] if len(moved) > MOST_LINES else 0.0
    return [(job, kind) for job, kind in moved if job[kind]["lat_ns"]["mean"] >= slowest][:MOST_LINES]


def _histogram(recording: Recording) -> Picture:
    """How the latencies of each job are spread: the share of its requests in each eighth of an octave."""
    lines = []
    for job, kind in _slowest_jobs(recording):
        rows = job[kind]["lat_ns"].get("histogram")
        if rows:
            begin, end, count = np.array(rows, dtype=np.float64).T
            begin = np.maximum(begin, 0.5)
            # Down to nothing where neighbours are empty, and at the end.
            gaps = np.flatnonzero(begin[1:] > end[:-1])
            x = np.concatenate([begin, end[gaps], end[-1:]]) / 1e6
            y = np.concatenate([100 * count / count.sum(), np.zeros(len(gaps) + 1)])
            order = np.argsort(x, kind="stable")
            lines.append(Line(f"{job['name']} {kind}", x[order], y[order], "steps"))
    return Picture("histogram", "How latencies are spread", "ms", "% of requests", lines, log_x=True)


def _slowest(recording: Recording) -> Picture:
    """The percentiles of each job's latency, the rare ones drawn apart: one request in 1000 is the 99.9th."""
    lines = []
    for job, kind in _slowest_jobs(recording):
        percentiles = sorted(
            (float(p), ns / 1e6) for p, ns in job[kind]["lat_ns"]["percentile"].items() if float(p) < 100
        )
        if percentiles:
            one_in = [100 / (100 - percent) for percent, _ in percentiles]
            lines.append(Line(f"{job['name']} {kind}", one_in, [ms for _, ms in percentiles], "points"))
    title, x = "Latency of the slowest requests", "1 in N requests is slower"
    return Picture("slowest", title, x, "ms", lines, log_x=True, log_y=True)


def _heat(recording: Recording) -> Picture:
    celsius = recording.time["temperature_millicelsius"] / 1e3
    return Picture("heat", "Temperature", "minutes", "C", [Line("chips", minutes(recording), celsius)])


def _power(recording: Recording) -> Picture:
    ends_s = np.concatenate([[recording.start_ns], recording.time["end_ns"]]).astype(np.float64) / 1e9
    joules = executed(recording, "energy_nj_total") / 1e9
    watts = np.diff(joules, prepend=0.0) / np.maximum(np.diff(ends_s), 1e-9)
    return Picture("power", "Power", "minutes", "W", [Line("drive", minutes(recording), watts)])
