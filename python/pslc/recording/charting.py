"""Charts of recordings: a write curve with its phases, several of them, bars of one figure of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from pslc.analysis import PhaseRow
from pslc.base import words
from pslc.base.errors import RecordingError, closest_match
from pslc.charts.chart import Bar, BarChart, Chart, Curve, CurveChart, Floats, Mean, Stage, smoothed
from pslc.charts.draw import with_order
from pslc.charts.style import Axis
from pslc.recording.comparison import Compared, Side, compare, keys
from pslc.recording.rates import speed_by_time
from pslc.recording.store import Recording
from pslc.recording.writes import write_curve

TABLES: Final = ("cdm", "as_ssd", "atto", "niobench")
"""Findings that are rows of `test`, `read_bytes_per_s` and `write_bytes_per_s`, drawn as bars."""
LOWER_IS_BETTER: Final = ("s", "W", "C")
"""Units of which the smallest value is the best."""


def of_recording(recording: Recording, axis: str | None = None, label: str = "") -> Chart:
    """The chart of one recording: its table as bars where its suite has one, else its write curve with phases, else its
    speed over time.

    Args:
        axis: one of `Axis`, which always makes a curve; None: what suits the recording.
        label: what to call the drive.

    Raises:
        PslcError: there is no such axis, or nothing was written.
    """
    if axis is not None and axis not in list(Axis):
        raise RecordingError(f'"{axis}" is no axis of a chart', f"one of {', '.join(Axis)}")
    name = label or recording.drive
    title = f"{name}, {words.size(recording.drive_bytes)}" if recording.drive_bytes else name
    tables = [name for name in TABLES if name in recording.findings]
    if tables and axis is None:
        rows = recording.findings[tables[0]]
        bars = tuple(
            Bar(row["test"], row[key] / 1e6, row[key] / 1e6, row[key] / 1e6, key.partition("_")[0])
            for row in rows
            for key in ("read_bytes_per_s", "write_bytes_per_s")
            if row.get(key)
        )
        return BarChart(title, recording.conditions, "", "MB/s", bars)
    drawn = Axis(axis) if axis else Axis.BYTES if recording.findings.get("phases") else Axis.TIME
    return CurveChart(title, recording.conditions, drawn, _curves(recording, drawn))


def of_sides(sides: Sequence[Side], axis: Axis = Axis.BYTES) -> CurveChart:
    """The write curves of a comparison, one a side."""
    first, *rest = (side.recording for side in sides)
    curves = [
        _write_curve(side.recording, axis, side.name)
        if axis is not Axis.TIME
        else _over_time(side.recording, side.name)
        for side in sides
    ]
    missing = [side.name for side, curve in zip(sides, curves, strict=True) if curve is None]
    if missing:
        raise RecordingError(f"{', '.join(missing)}: nothing was written, so there is no write curve", "draw --x time")
    # The legend tells apart what is of one drive.
    if len({side.recording.drive for side in sides}) == 1 and all(side.name.startswith(first.drive) for side in sides):
        title = first.drive
    else:
        title = " / ".join(side.name for side in sides) if len(sides) < 4 else f"{len(sides)} drives, {first.suite}"
    return CurveChart(
        title, _shared_conditions(first, rest), axis, tuple(curve for curve in curves if curve is not None)
    )


def bars_of_sides(sides: Sequence[Side], figure: str) -> BarChart:
    """Bars of one figure of each side, the best first, with its interval.

    Args:
        figure: as `pslc compare` calls it: `mean`, `cache`, a row of a table.

    Raises:
        PslcError: no recording has this figure.
    """
    row = _row_called(figure, compare(sides, {}))
    first, *rest = (side.recording for side in sides)
    scale, unit = (1e6, "MB/s") if row.unit == "B/s" else (1e9, "GB") if row.unit == "B" else (1.0, row.unit)
    bars = [
        Bar(side.name, value.value / scale, value.low / scale, value.high / scale)
        for side, value in zip(sides, row.figures, strict=True)
        if value is not None
    ]
    repeats = min(len(side.repeats) for side in sides)
    bars = [bar if _is_measured(row, index) else Bar(bar.name, bar.value, bar.value, bar.value)
            for index, bar in enumerate(bars)]  # fmt: skip
    return BarChart(
        f"{row.called[:1].upper()}{row.called[1:]}",
        _shared_conditions(first, rest),
        row.called,
        unit,
        with_order(bars, ascending=row.unit in LOWER_IS_BETTER),
        repeats,
    )


def _row_called(figure: str, rows: Sequence[Compared]) -> Compared:
    """The row of a comparison with this name or label.

    Raises:
        RecordingError: there is none.
    """
    row = next((row for row in rows if figure in (row.name, row.called)), None)
    if row is None:
        names = [name for row in rows for name in dict.fromkeys((row.name, row.called))]
        close = closest_match(figure, names)
        hint = f'did you mean "{close}"?' if close else f"there are {', '.join(dict.fromkeys(r.name for r in rows))}"
        raise RecordingError(f'no recording has a figure "{figure}"', hint)
    return row


def _shared_conditions(first: Recording, rest: Sequence[Recording]) -> str:
    """What all of several recordings have in common: the chart names the drives itself."""
    recordings = [first, *rest]
    lists = [recording.conditions.split(", ") for recording in recordings]
    shared = [condition for condition in lists[0] if all(condition in other for other in lists)]
    simulated = ["simulated"] if all(recording.is_simulated for recording in recordings) else []
    if simulated:
        simulated += [key for key in keys(first) if all(key in keys(recording) for recording in rest)]
    return ", ".join([*shared[:1], *simulated, *shared[1:]])


def _is_measured(row: Compared, index: int) -> bool:
    """Whether the interval of a figure was measured: by repeats, or by the analysis of the cache's end."""
    figures = [figure for figure in row.figures if figure is not None]
    return len(figures[index].samples) > 1 or row.unit == "B"


def _curves(recording: Recording, axis: Axis) -> tuple[Curve, ...]:
    if axis is not Axis.TIME:
        curve = _write_curve(recording, axis, "write")
        if curve is None:
            raise RecordingError("nothing was written, so there is no write curve", "draw --x time")
        return (curve,)
    kinds = [kind for kind in ("read", "write") if recording.time[f"{kind}_bytes"].any()]
    return tuple(curve for kind in kinds if (curve := _over_time(recording, kind, kind)) is not None)


def _write_curve(recording: Recording, axis: Axis, name: str) -> Curve | None:
    curve = write_curve(recording)
    if curve is None:
        return None
    if axis is Axis.PERCENT and not recording.drive_bytes:
        raise RecordingError(
            f"{recording.drive}: the capacity of the drive is unknown", "give --capacity 1TB, or draw --x bytes"
        )
    scale = 1e9 if axis is Axis.BYTES else recording.drive_bytes / 100
    phases: list[PhaseRow] = recording.findings.get("phases", [])
    borders = [phase["from_bytes"] / scale for phase in phases[1:]]
    x, y, low, high = smoothed(curve.edges_bytes[1:] / scale, curve.bytes_per_s / 1e6, curve.widths, borders)
    cache = recording.findings.get("cache_bytes")
    stages = tuple(
        Stage(phase["from_bytes"] / scale, phase["to_bytes"] / scale, phase["bytes_per_s"] / 1e6, phase["cause"])
        for phase in phases
    )
    start = np.array([float(curve.edges_bytes[0]) / scale])
    bands = [None if band is None else np.concatenate([band[:1], band]) for band in (low, high)]
    return Curve(
        name,
        np.concatenate([start, x]),
        np.concatenate([y[:1], y]),
        bands[0],
        bands[1],
        cache / scale if cache is not None else None,
        words.size(cache) if cache is not None else "",
        stages,
    )


def _times_of_phases(recording: Recording, minutes: Floats) -> list[float]:
    """When each phase but the first begins; none where the writes came with pauses, so that phases have no times."""
    phases: list[PhaseRow] = recording.findings.get("phases", [])
    written = np.cumsum(recording.time["write_bytes"].astype(np.float64))
    places = np.searchsorted(written, [phase["from_bytes"] for phase in phases[1:]])
    return [float(minutes[place]) for place in places if place < len(minutes)]


def _over_time(recording: Recording, name: str, kind: str = "write") -> Curve | None:
    """MB/s against minutes; a bin without any request is a gap."""
    if not recording.time[f"{kind}_bytes"].any():
        return None
    x, y = speed_by_time(recording, kind)
    widths = np.maximum(np.diff(x, prepend=0.0), 0.0)
    x, y, low, high = smoothed(x, y, widths + 1e-12, _times_of_phases(recording, x), Mean.OVER_TIME)
    return Curve(name, x, y, low, high)
