"""Tables of reads and writes in MB/s, as the classic benchmarks show them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from typing_extensions import TypedDict

from pslc.base import words
from pslc.figures.curves import SPEED
from pslc.figures.picture import Axis, Bars, Own, Panel, Picture, Table, Text
from pslc.figures.tables import Columns, of_rows

KINDS = ("read", "write", "copy")


class Speeds(TypedDict):
    """Read and write speed of one test."""

    test: str
    read_bytes_per_s: float
    write_bytes_per_s: float


def measured_speed(bytes_per_s: float) -> str:
    """A speed; `-` of a test that did not run, which moved nothing."""
    return words.speed(bytes_per_s) if bytes_per_s else "-"


def table(title: str, rows: Sequence[Mapping[str, object]], more: Mapping[str, str] | None = None) -> Table:
    """Rows with `test`, `read_bytes_per_s`, `write_bytes_per_s`."""
    speeds = {kind: [_number(row.get(f"{kind}_bytes_per_s")) for row in rows] for kind in ("read", "write")}
    fastest = max((speed for column in speeds.values() for speed in column), default=0.0)
    shares = {name: [speed / fastest for speed in column] for name, column in speeds.items()} if fastest else {}
    columns: Columns = {"test": "test"} | {kind: (f"{kind}_bytes_per_s", measured_speed) for kind in speeds}
    return replace(of_rows(title, rows, {**columns, **(more or {})}), bars=shares)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def bars(name: str, title: Text, rows: Sequence[Mapping[str, object]], note: Text = "") -> Picture:
    """Speeds of reads and writes, row by row; those of mixes, which few tests have, below them."""

    def series(*kinds: str) -> list[Bars]:
        values = {kind: [_number(row.get(f"{kind}_bytes_per_s")) or None for row in rows] for kind in kinds}
        return [Bars(kind, speeds) for kind, speeds in values.items() if any(speeds)]

    x = Axis("test", names=[Own(str(row["test"])) for row in rows])
    panels = [Panel(SPEED, bars=series(*KINDS))]
    if mixes := series("mix"):
        panels.append(Panel(SPEED, bars=[replace(bars, hue=len(KINDS)) for bars in mixes], title="mix"))
    return Picture(name, title, x, tuple(panels), note=note)
