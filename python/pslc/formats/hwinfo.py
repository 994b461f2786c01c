"""The log of sensors that HWiNFO, or AIDA64, writes (CSV): date and time in two columns, then a column per sensor, its
unit in brackets. HWiNFO writes the names again at the end, and below them the devices that they are of."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from pslc.base import gate, words
from pslc.base.columns import Column
from pslc.base.errors import RecordingError
from pslc.formats import About, FileContents, only, table, text
from pslc.schema.imports import ImportOptions

ABOUT: Final = About(
    program="HWiNFO, AIDA64",
    what="sensor log (CSV)",
    content="write rate of one drive over time, and its temperature",
    command="HWiNFO: Logging Start; AIDA64: log to CSV",
    gives="curve",
)
RATE = re.compile(r"(?:Write|Read) (?:Rate|Speed)\b.*[\[(][KMG]B/s[\])]")


def matches(path: Path, head: str) -> bool:
    """Date and time, and units in brackets."""
    return bool(re.match(r'"?Date"?[,;]"?Time"?[,;].*[\[(][^\])]+[\])]', head)) and bool(
        RATE.search(head.partition("\n")[0])
    )


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The curve of the drive that was asked for, or of the only one that wrote."""
    path = only(paths)
    lines = text(path).splitlines()
    first = lines[0].split(",")[:2]
    again = next((at for at, line in enumerate(lines[1:], 1) if line.split(",")[:2] == first), len(lines))
    grid = table.grid(path, list(enumerate(lines[:again], 1)))
    devices = [cell.strip().strip('"') for cell in lines[again + 1].split(",")] if again + 1 < len(lines) else []
    if hints.y is None:
        hints = replace(hints, y=_rate(grid, devices, hints))
    return table.of_grid(grid, hints)


def _rate(grid: table.Grid, devices: Sequence[str], hints: ImportOptions) -> str:
    """The column of a drive's write rate, as `--y` takes it."""
    rates = _write_rates(grid, devices, hints.device)
    busy = [col for col in rates if any(_moves(row, col.place) for row in grid.rows)] or rates
    if not busy:
        raise RecordingError(f"{grid.path} has no write rate of a drive", "log the drive's Read Rate and Write Rate")
    if len(busy) > 1:
        names = [devices[col.place] if col.place < len(devices) else f"column {col.place + 1}" for col in busy]
        moved = [table.of_grid(grid, replace(hints, y=str(col.place + 1))).curve for col in busy]
        sizes = [words.size(curve.total_bytes if curve else 0.0) for curve in moved]
        shown = [f"{name} ({size} written)" for name, size in zip(names, sizes, strict=True)]
        by_name = "--device takes one by its name, or " if devices else ""
        raise RecordingError(
            f"{grid.path} is of several drives: {gate.listed(shown)}",
            f"{by_name}--y {busy[0].place + 1} takes the first",
        )
    return str(busy[0].place + 1)


def _write_rates(grid: table.Grid, devices: Sequence[str], wanted: str | None) -> list[Column]:
    """The columns of write rates, of the devices whose names hold `wanted`, or of all."""
    rates = [col for col in grid.columns if RATE.search(col.name) and col.direction == "write"]
    if wanted is None:
        return rates
    return [col for col in rates if col.place < len(devices) and wanted.lower() in devices[col.place].lower()]


def _moves(row: Sequence[str], place: int) -> bool:
    return place < len(row) and bool(re.search(r"[1-9]", row[place]))
