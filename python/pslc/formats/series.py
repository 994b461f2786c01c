"""Answers of databases of time series: InfluxDB's annotated CSV and JSON, Prometheus' query_range, netdata's JSON. Each
series is a column beside the time, in the order of time.

,result,table,_start,_stop,_time,_value,_field,_measurement,host,name
{"labels": ["time", "reads", "writes"], "data": [[1700000002, 0, -81920], [1700000001, 0, -512000]]}
{"metric": {"device": "nvme0n1"}, "values": [[1700000001, "524288000"]]}
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pslc.base import columns, gate
from pslc.base.errors import RecordingError
from pslc.formats import FILE, About, FileContents, only, table, text, undamaged
from pslc.schema.imports import ImportOptions

ABOUT: Final = About(
    program="InfluxDB, Prometheus, netdata",
    what="annotated CSV, JSON of a query",
    content="bytes or speed of writes over time",
    command="influx query --raw, curl .../api/v1/query_range, or curl .../api/v1/data?chart=disk.nvme0n1",
    gives="curve",
    mark=re.compile(
        r'\A(?:#(?:group|datatype|default),|,result,table,)|\A\s*[\[{][\s\S]*?(?:"labels": ?\[\s*"time"'
        r'|"resultType": ?"matrix"|"metric": ?\{[^{}]*\}\s*,\s*"values"|"columns": ?\[\s*"time")'
    ),
)
OF_DISK: Final = re.compile(r'"(?:id|chart)": ?"disk(?:_\w+)?\.|"units": ?"KiB/s"')
"""A chart of netdata's whose numbers are KiB/s."""
TAGS: Final = ("device", "name", "instance", "host", "__name__", "_field")
"""Labels that name a series, those first that tell drives apart."""
Series = dict[str, dict[float, str]]
"""Values by the time, of each name."""


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The curve of the series of writes.

    Raises:
        PslcError: it is not clear which series, or its unit is not known.
    """
    path = only(paths)
    whole = text(path)
    is_json = whole.lstrip()[:1] in ("{", "[")
    drives: set[str] = set()
    with undamaged(path, "give the answer of one query, as it came"):
        series = _of_json(path, whole, drives) if is_json else _of_csv(path, whole, drives)
    series = _of_one_drive(path, series, drives, hints)
    times = sorted({at for values in series.values() for at in values})
    if not times:
        raise RecordingError(f"{path} holds no values", "query a time in which the drive wrote")
    cols = [
        columns.Column(0, "time" if is_json else "_time", "date", 1.0, "", ""),
        *map(_column, series, range(1, len(series) + 1)),
    ]
    rows = [[repr(at), *(values.get(at, "") for values in series.values())] for at in times]
    grid = table.Grid(path, ",", cols, rows, list(range(1, len(rows) + 1)))
    # A rate goes up and down, and its unit is that of the query.
    grid.columns = [
        replace(col, kind="number", unit="") if col.kind == "size" and not table.ascends(grid, col) else col
        for col in cols
    ]
    return table.of_grid(grid, hints)


def _of_one_drive(path: Path, series: Series, drives: set[str], hints: ImportOptions) -> Series:
    """The series of the drive that was asked for, or of the only one.

    Raises:
        PslcError: there are several, and nothing was asked for.
    """
    if hints.device is not None:
        return {name: values for name, values in series.items() if hints.device in name.split()}
    if len(drives) > 1 and hints.y is None:
        rises = {drive: sum(_rise(series[name]) for name in series if drive in name.split()) for drive in drives}
        names = sorted(drives, key=lambda drive: -rises[drive])
        what = f"{path} is of {len(names)} drives: {gate.listed(names)}, the busiest first"
        raise RecordingError(what, f"--device {names[0]} takes one")
    return series


def _column(name: str, place: int) -> columns.Column:
    col = columns.column(place, name)
    is_counter = col.kind == "number" and re.search(r"bytes(?:_total)?$", name)
    return replace(col, kind="size", unit="bytes") if is_counter else col


def _rise(values: dict[float, str]) -> float:
    """Largest value of a series above its smallest."""
    numbers = [float(value) for value in values.values() if value]
    return max(numbers, default=0.0) - min(numbers, default=0.0)


def _of_csv(path: Path, whole: str, drives: set[str]) -> Series:
    """InfluxDB's: a row for each value; the lines of `#` and of names come again before each table."""
    series: Series = {}
    names: list[str] = []
    for row in columns.cells(path, (line for line in whole.splitlines() if line.strip() and line[:1] != "#")):
        if "_time" in row:
            names = row
            if "_value" not in names:
                raise RecordingError(f"{path} has no column _value", "leave pivot() out of the query")
            continue
        cells = dict(zip(names, row, strict=False))
        drives |= _drives(cells)
        series.setdefault(_name(cells) or "_value", {})[columns.moment(cells["_time"])] = cells["_value"]
    return series


def _of_json(path: Path, whole: str, drives: set[str]) -> Series:
    series: Series = {}
    unit = " (KiB/s)" if OF_DISK.search(whole) else ""
    for tags, names, rows in _tables(gate.document(whole, str(path), FILE)):
        drives |= _drives(tags)
        for row in rows:
            at = columns.moment(str(row[0]))
            for name, value in zip(names[1:], row[1:], strict=True):
                called = " ".join(filter(None, [_name(tags), name])) + unit
                # netdata's second form has a list for each value, which begins with it.
                value = value[0] if isinstance(value, list) else value
                series.setdefault(called, {})[at] = "" if value is None else str(value)
    return series


def _tables(document: Any) -> Iterator[tuple[dict[str, str], list[str], list[list[Any]]]]:
    """Labels, names of columns and rows of each table within a document."""
    if isinstance(document, dict):
        names, rows = document.get("labels", document.get("columns")), document.get("data", document.get("values"))
        if isinstance(document.get("metric"), dict) and isinstance(rows, list):
            yield document["metric"], ["time", ""], rows
            return
        if isinstance(names, list) and isinstance(rows, list):
            yield document.get("tags") or {}, names, rows
            return
        document = [*document.values()]
    for part in document if isinstance(document, list) else ():
        yield from _tables(part)


def _drives(tags: dict[str, str]) -> set[str]:
    """The drive that labels name; none where they name none."""
    return {*filter(None, [tags.get("device") or tags.get("name")])}


def _name(tags: dict[str, str]) -> str:
    """The name of a series, from its labels."""
    return " ".join(tags[tag] for tag in TAGS if tags.get(tag))
