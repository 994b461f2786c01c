"""Sensors of a real drive: its own, and a power meter whose log is a CSV file. They become columns of the recording,
under the names that they have on a simulated drive.

A meter's clock is the machine's where its log has dates, or seconds since 1970. Where it counts from a start of its
own, the log is laid where it follows the work best: a drive draws more while it moves data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pslc.base import gate, units
from pslc.base.columns import TIMES, cells, number, refuse_cut_decimals, unit_of
from pslc.base.errors import RecordingError
from pslc.recording.model import Recording, join

FILE: Final = gate.Expected("--meter takes the CSV file of a power meter", RecordingError, gate.MAX_LOG_BYTES)

TEMPERATURE: Final = "temperature_millicelsius"
ENERGY: Final = "energy_nj_total"

WATTS: Final = {"uw": 1e-6, "mw": 1e-3, "w": 1.0, "watt": 1.0, "watts": 1.0}
VOLTS: Final = {"mv": 1e-3, "v": 1.0, "volt": 1.0, "volts": 1.0}
AMPERES: Final = {"ua": 1e-6, "ma": 1e-3, "a": 1.0, "amp": 1.0, "amps": 1.0}
SECOND_NS: Final = 1_000_000_000
EPOCH: Final = 1e9
"""Seconds: a time beyond it is one since 1970."""
COVERED: Final = 0.5
"""Seconds by which a log may be shorter than the run."""
FOLLOWS: Final = 0.3
"""Correlation of power with work from which a log is of this run."""
CELLS: Final = 20_000
"""A log is laid on a grid of so many steps at most, none shorter than 0.1 s."""


@dataclass
class Sensor:
    """A sensor of a drive, read at most once a second.

    Attributes:
        column: its name in the recording.
        ask: the value in the unit of the column, None when the drive does not answer.
        held: it is a step, which holds until the drive is asked again. While no data are moved it is asked after 1, 2,
            4, 8 s and so on, since the question wakes the drive. Other values go straight from one answer to the next.
        samples: nanoseconds since the start of the step, values; never empty.
        done_bytes: bytes that had been moved at the last look.
        worked_ns: time of the last look at which some had been moved.
    """

    column: str
    ask: Callable[[], float | None]
    held: bool
    samples: list[tuple[int, float]]
    done_bytes: int = 0
    worked_ns: int = 0

    @classmethod
    def of(cls, column: str, ask: Callable[[], float | None], held: bool = False) -> list[Sensor]:
        """The sensor; none where the drive does not answer."""
        value = ask()
        return [] if value is None else [cls(column, ask, held, [(0, value)])]

    def begin(self) -> None:
        """Start the readings of a new step."""
        self.samples, self.done_bytes, self.worked_ns = [(0, self.samples[-1][1])], 0, 0

    def look(self, elapsed_ns: int, done_bytes: int) -> None:
        """Ask, unless it was asked within the last second, or wakes the drive and was asked not long ago."""
        if done_bytes != self.done_bytes:
            self.done_bytes, self.worked_ns = done_bytes, elapsed_ns
        last_ns = self.samples[-1][0]
        rest_ns = last_ns - self.worked_ns if self.held else 0
        if elapsed_ns >= last_ns + max(rest_ns, SECOND_NS):
            value = self.ask()
            if value is not None:
                self.samples.append((elapsed_ns, value))

    def on(self, part: Recording) -> Recording:
        """The step, or what there is of it, with its values."""
        ns, values = np.array(self.samples, dtype=np.float64).T
        return _with_column(part, self.column, ns, values, self.held)


@dataclass(frozen=True)
class _MeterColumns:
    """The columns of a meter's log, each as its index and the factor to its unit.

    Attributes:
        time: of the seconds.
        factors: of the watts, or of the volts and the amperes; their product is the power.
    """

    time: tuple[int, float]
    factors: list[tuple[int, float]]

    @classmethod
    def of(cls, path: Path, names: list[str]) -> _MeterColumns:
        """Find the columns by their names.

        Raises:
            RecordingError: there is no time, or no power.
        """
        time = _column(names, TIMES) or _dates(names)
        power, voltage, current = (_column(names, units) for units in (WATTS, VOLTS, AMPERES))
        factors = [column for column in ([power] if power else [voltage, current]) if column]
        if time is None or len(factors) < (1 if power else 2):
            hint = "its columns must tell their units: time_s (or a Timestamp) and power_w, or voltage_v and current_a"
            raise RecordingError(f"{path} is not a meter's log: its columns are {gate.listed(names) or 'none'}", hint)
        return cls(time, factors)

    def seconds(self, row: list[str], separator: str) -> float:
        """The time of a row."""
        index, factor = self.time
        return _time(row[index], separator) * factor

    def watts(self, row: list[str], separator: str) -> float:
        """The power of a row."""
        return float(np.prod([number(row[index], separator) * factor for index, factor in self.factors]))


@dataclass(frozen=True)
class Meter:
    """A power meter's log.

    Attributes:
        name: of its file.
        seconds: of each sample, shape (n,), ascending: since 1970 if `dated`, else since a start of its own.
        joules: drawn since the first one, shape (n,).
    """

    name: str
    seconds: NDArray[np.float64]
    joules: NDArray[np.float64]
    dated: bool

    @classmethod
    def read(cls, path: Path) -> Meter:
        """Read a table with a column of time and one of power, or of voltage and current; names tell the units:
        `time_s`, `Timestamp`, `Power (mW)`, `volts`, `current_ma`.

        Raises:
            PslcError: there is no such file, column or unit, or a line cannot be read.
        """
        lines = gate.text(path, FILE).splitlines()
        separator = max(",;\t", key=(lines or [""])[0].count)
        rows = list(cells(path, lines, separator))
        names = [name.strip() for name in rows[0]] if rows else []
        columns = _MeterColumns.of(path, names)
        times, watts = [], []
        for line, row in enumerate(rows[1:], 2):
            if not any(cell.strip() for cell in row):
                continue
            refuse_cut_decimals(path, line, row, len(names), separator)
            try:
                times.append(columns.seconds(row, separator))
                watts.append(columns.watts(row, separator))
            except (ValueError, IndexError):
                hint = f"a time in {names[columns.time[0]]} and numbers in the others are expected"
                raise RecordingError(f'{path}:{line}: "{separator.join(row)[:60]}" cannot be read', hint) from None
        seconds = np.array(times, dtype=np.float64)
        if len(seconds) < 2 or (np.diff(seconds) < 0).any():
            raise RecordingError(
                f"{path} has {len(seconds)} samples, not in order of time",
                "give a log of two samples or more, oldest first",
            )
        mean = (np.array(watts[1:]) + np.array(watts[:-1])) / 2
        joules = np.concatenate([[0.0], np.cumsum(mean * np.diff(seconds))])
        return cls(path.name, seconds, joules, bool(seconds[0] > EPOCH))

    def on(self, recording: Recording) -> Recording:
        """The recording with the energy drawn until the end of each bin.

        Raises:
            PslcError: the log is not of the time of the run.
        """
        parts = recording.parts
        starts = [part.began_unix_ns / 1e9 for part in parts]
        shift = 0.0 if self.dated else self._laid(parts)
        ends = [start + part.drive_time_s for start, part in zip(starts, parts, strict=True)]
        first, last = self.seconds[0] + shift, self.seconds[-1] + shift
        if starts[0] < first - COVERED or ends[-1] > last + COVERED:
            early, late = max(first - starts[0], 0.0), max(ends[-1] - last, 0.0)
            lacks = f"the run began {early:.0f} s before the log and ended {late:.0f} s after it"
            raise RecordingError(
                f"{self.name} does not cover the run: {lacks}", "start the log before the run, and stop it after"
            )
        return join(
            [
                _with_column(part, ENERGY, (self.seconds + shift - start) * 1e9, self.joules * 1e9)
                for part, start in zip(parts, starts, strict=True)
            ]
        )

    def _laid(self, parts: Sequence[Recording]) -> float:
        """Seconds to add to the log's so that its power follows the work."""
        began = parts[0].began_unix_ns / 1e9
        took = parts[-1].began_unix_ns / 1e9 + parts[-1].drive_time_s - began
        length = float(self.seconds[-1] - self.seconds[0])
        step = max(0.1, length / CELLS)
        if length < took - COVERED:
            raise RecordingError(
                f"{self.name} is {length:.0f} s long, the run {took:.0f} s",
                "start the log before the run, and stop it after",
            )
        edges = np.arange(0.0, max(took, step), step)
        moved = np.zeros(len(edges))
        for part in parts:
            since = part.began_unix_ns / 1e9 - began
            at = since + (part.time["end_ns"].astype(np.float64) - part.start_ns) / 1e9
            data = sum(part.time[f"{kind}_bytes"].astype(np.float64) for kind in ("read", "write"))
            moved += np.interp(edges, np.r_[since, at], np.cumsum(np.r_[0.0, data]))
        busy = (np.diff(moved, append=moved[-1]) > 0).astype(np.float64)
        grid = np.arange(0.0, max(length, took) + step, step)
        power = np.diff(np.interp(self.seconds[0] + grid, self.seconds, self.joules)) / step
        count = len(busy)
        busy -= busy.mean()
        if len(power) < count or not busy.any():
            raise RecordingError(
                f"{self.name} has no dates, and the run has no pauses to align it by", "give a log with dates"
            )
        sums, squares = (np.concatenate([[0.0], np.cumsum(power**n)]) for n in (1, 2))
        spread = (squares[count:] - squares[:-count]) - (sums[count:] - sums[:-count]) ** 2 / count
        together = np.correlate(power, busy, "valid")
        follows = together / np.sqrt(np.maximum(spread, 1e-12) * (busy**2).sum())
        best = int(np.argmax(follows))
        if follows[best] < FOLLOWS:
            raise RecordingError(
                f"the power in {self.name} does not match this run", "give the log of this run, or one with dates"
            )
        return began - float(self.seconds[0]) - best * step


def _with_column(
    part: Recording, name: str, ns: NDArray[np.float64], values: NDArray[np.float64], held: bool = False
) -> Recording:
    """A column from samples at `ns` since the start of the step; between two of them it goes straight, or is `held`."""

    def at(ends: NDArray[np.float64]) -> NDArray[np.uint64]:
        if held:
            places = np.searchsorted(ns, ends - part.start_ns, side="right") - 1
            return values[np.maximum(places, 0)].astype(np.uint64)
        return np.rint(np.interp(ends - part.start_ns, ns, values)).astype(np.uint64)

    both = at(np.array([part.start_ns, part.end_ns], dtype=np.float64))
    time, size = ({**columns, name: at(columns["end_ns"].astype(np.float64))} for columns in (part.time, part.bytes))
    return replace(
        part,
        before=part.before | {name: int(both[0])},
        totals=part.totals | {name: int(both[1])},
        time=time,
        bytes=size,
    )


def _column(names: Sequence[str], units: dict[str, float]) -> tuple[int, float] | None:
    """Place and scale of the first column that says such a unit."""
    for place, name in enumerate(names):
        unit = unit_of(name, set(units))
        if unit:
            return place, units[unit]
    return None


def _dates(names: Sequence[str]) -> tuple[int, float] | None:
    """Place of a column that is called a time."""
    places = [place for place, name in enumerate(names) if name.lower() in ("time", "timestamp", "date", "datetime")]
    return (places[0], 1.0) if places else None


def _time(cell: str, separator: str) -> float:
    """Seconds: a number, or a date with a time of day, which is this machine's unless it names a zone."""
    try:
        return number(cell, separator)
    except ValueError:
        moment = datetime.fromisoformat(cell.strip())
        if not units.is_storable(moment):
            raise ValueError(f"{cell.strip()} is the time of no run") from None
        return moment.timestamp()
