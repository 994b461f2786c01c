"""Tables (CSV): a column of what was written, or of time, and one of speed. Units are read from the names of the
columns, `written_gb`, `Speed (MB/s)`, or given: `--x written=GB --y speed=MB/s`."""

import re
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from pslc.analysis import Curve
from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.formats import ImportedData, ImportOptions, cells, lines

SIZES = {"b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30}
TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0, "min": 60.0, "h": 3600.0}
DEGREES = {"c", "°c", "celsius"}
SPEEDS = {f"{unit}/s": scale for unit, scale in SIZES.items()}
MOST = 1e30
"""Of any cell, in the unit of its column."""
MAX_LINES: Final = 6_000_000
"""Of a table: a line takes 100 bytes of memory while it is read."""
MAX_SAMPLES: Final = 1_000_000
"""Of the curve: a column of a plot has a thousand of them then. Neighbours become one where there are more."""


def matches(path: Path, head: str) -> bool:
    """A line of two or more names, separated by commas, semicolons or tabs."""
    first = head.partition("\n")[0]
    names = re.split(r"[,;\t]", first)
    return path.suffix in (".csv", ".tsv", ".txt") and len(names) > 1 and bool(re.search(r"[A-Za-z]", first))


def read(paths: Sequence[Path], hints: ImportOptions) -> ImportedData:
    """The curve of one table."""
    if len(paths) > 1:
        raise RecordingError(f"{len(paths)} tables at once", "give one; pslc compare sets several beside each other")
    (path,) = paths
    text = lines(path, MAX_LINES)
    first = text.readline()
    separator = max(",;\t", key=first.count)
    names = [name.strip() for name in next(cells(path, [first], separator))]
    x, x_unit = _column(names, hints.x, (SIZES, TIMES), "--x", path)
    y, y_unit = _column(names, hints.y, (SPEEDS,), "--y", path)
    heat = _celsius(names, hints.celsius, path)
    values, bad = array("d"), 0
    for line, row in enumerate(cells(path, text, separator), 2):
        if not any(cell.strip() for cell in row):
            continue
        try:
            hot = number(row[heat], separator) if heat is not None else 0.0
            values.extend((number(row[x], separator), number(row[y], separator), hot))
        except (ValueError, IndexError):
            if not hints.skip_bad:
                hint = (
                    f"numbers in the columns {names[x]} and {names[y]} are expected; --skip-bad leaves such lines out"
                )
                raise RecordingError(f'{path}:{line}: "{separator.join(row)[:60]}" cannot be read', hint) from None
            bad += 1
    at, speed, degrees = np.frombuffer(values).reshape(-1, 3).T
    curve = _curve(at, speed * SPEEDS[y_unit], x_unit)
    celsius = None
    if heat is not None and curve is not None:
        steps = np.diff(at * TIMES.get(x_unit, 0.0), prepend=0.0)
        written = at * SIZES[x_unit] if x_unit in SIZES else np.cumsum(speed * SPEEDS[y_unit] * steps)
        celsius = (np.maximum.accumulate(written), degrees)
    notes = []
    if curve is not None and (count := -(-len(curve.seconds) // MAX_SAMPLES)) > 1:
        notes.append(f"the table has {len(curve.seconds):,} samples: each {count} of them are read as one")
        curve = _merged(curve, count)
    return ImportedData(path.name, curve, notes=notes, bad_lines=bad, celsius=celsius)


def _merged(curve: Curve, count: int) -> Curve:
    """The same bytes in the same time, each `count` samples as one."""
    firsts = np.arange(0, len(curve.seconds), count)
    return Curve(np.append(curve.edges_bytes[firsts], curve.edges_bytes[-1]), np.add.reduceat(curve.seconds, firsts))


def _celsius(names: list[str], wanted: str | None, path: Path) -> int | None:
    """Place of the column of temperatures: the one asked for, else the first whose name says degrees, if any."""
    lower = [name.lower() for name in names]
    if wanted is not None and wanted.lower() not in lower:
        raise RecordingError(f"{path} has no column {wanted}", f"it has {gate.listed(names)}")
    if wanted is not None:
        return lower.index(wanted.lower())
    return next((place for place, name in enumerate(names) if unit_of(name, DEGREES)), None)


def number(cell: str, separator: str) -> float:
    """The number in a cell; a decimal comma is one only where commas separate nothing.

    Raises:
        ValueError: it is none, or one beyond `MOST`.
    """
    found = float(cell.strip().replace(",", ".") if separator != "," else cell)
    if abs(found) > MOST:
        raise ValueError(found)
    return found


def _column(
    names: list[str], wanted: str | None, kinds: tuple[dict[str, float], ...], option: str, path: Path
) -> tuple[int, str]:
    """Place and unit of a column: the one asked for, else the first whose name says a unit of this kind."""
    known = {unit for kind in kinds for unit in kind}
    if wanted is not None:
        name, _, unit = wanted.partition("=")
        places = [i for i, other in enumerate(names) if other.lower() == name.lower()]
        unit = unit.lower() or unit_of(name, known)
        if not places:
            raise RecordingError(f"{path} has no column {name}", f"it has {gate.listed(names)}")
        if unit not in known:
            raise RecordingError(
                f"the unit of {name} is unknown", f"{option} {name}=UNIT with one of {', '.join(sorted(known))}"
            )
        return places[0], unit
    for place, name in enumerate(names):
        unit = unit_of(name, known)
        if unit:
            return place, unit
    hint = f"{option} COLUMN=UNIT with one of {', '.join(sorted(known))}; the columns are {gate.listed(names)}"
    raise RecordingError(f"{path}: no column tells a unit for {option}", hint)


def unit_of(name: str, known: set[str]) -> str:
    """The last word of a name, when it is a unit of `known`, else nothing: `written_gb`, `Speed (MB/s)`."""
    words = [word for word in re.split(r"[\s_\[\]()]+", name.lower()) if word]
    return words[-1] if words and words[-1] in known else ""


def _curve(at: np.ndarray, speed: np.ndarray, unit: str) -> Curve | None:
    """None where nothing was written."""
    try:
        if unit in SIZES:
            return Curve.of_samples(at * SIZES[unit], speed, "bytes")
        return Curve.of_samples(at * TIMES[unit], speed, "time")
    except ValueError:
        return None
