"""Any text with a row for each moment: `dd status=progress`, `pv`, `rsync --info=progress2`, `sysbench`, `rados bench`.
Time, bytes and speeds are told by their units, or by the names above their columns; a row may end with a carriage
return.

1992294400 bytes (2.0 GB, 1.9 GiB) copied, 1 s, 2.0 GB/s
3.87GiB 0:00:01 [3.87GiB/s] [   <=>   ]
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Final

import numpy as np

from pslc.base import columns, gate, quantities, words
from pslc.base.columns import Column, Direction
from pslc.base.errors import RecordingError
from pslc.base.quantities import Field
from pslc.formats import FILE, About, FileContents, _drawn, count_of, lines, only, table
from pslc.schema.imports import ImportOptions
from pslc.schema.results import measured

ABOUT: Final = About(
    program="any program",
    what="text with a row per moment (dd, pv, rsync, sysbench, rados bench)",
    content="bytes or speed over time, told by the units in the rows or by the names above them",
    command="dd ... oflag=direct status=progress 2> dd.log, or pv -f FILE > DISK 2> pv.log",
    gives="curve",
)
BAR: Final = re.compile(r"\[[-=<>#.* ]*\]|\bETA\b.*")
"""Progress bars, and the time that the rest will take."""
BINARY: Final = re.compile(
    r"^Maintaining \d+ concurrent writes|\b[Vv]dbench|\b1024\*\*2\b|^\s*[\d,]+ +\d+% +[\d.]+[kMG]B/s +\d+:\d\d:\d\d|"
    r" \d+% +\d+[KMG]B +[\d.]+[KMG]B/s +[\d:]+ ",
    re.MULTILINE,
)
"""rados bench, vdbench, rsync and scp, whose MB are MiB."""
COMMAND: Final = re.compile(r"\bdd .*\b[io]f=|[$#] (?:.*\W)?(?:pv|rsync) ")
RECORDS: Final = re.compile(r"^\d+\+\d+ ")
"""The line above the last one of `dd`, in any language."""
NOWHERE: Final = re.compile(r"(?:\bof=|> ?)/dev/(?:null|zero)\b")
VDBENCH_TEST: Final = re.compile(r"\bStarting RD=(\w+)")
EMPTY: Final = re.compile(r"(?<=\s\s)-(?=\s)")
"""A cell without a value, as rados bench has where nothing was finished."""
DIGIT: Final = re.compile(r"\d")
OCTETS: Final = re.compile(r"[kKMGTi]o\b|\do/")
MEAN: Final = re.compile(r"\b(?:avg|average|mean)\b", re.IGNORECASE)
MAX_HEAD_CHARS: Final = 50_000
"""Characters of a file's beginning among which rows are looked for."""
MIN_ROWS: Final = 3
MIN_GRID_SHARE: Final = 0.7
PV: Final = re.compile(r"\s*\d+\.\d{4} \d+(?: \d+){0,3}\s*")
"""A row of `pv -tbn`: seconds with four digits, bytes so far, and speeds where they were asked for."""
READ_SHARE: Final = re.compile(r"read|read ?%|rdpct|read ?pct")
"""Names of vdbench's share of reads, in percent."""
MAX_LINES: Final = 500_000
"""Largest number of lines: each takes some 2 kB while it is read."""
MAX_RESULT_OFF: Final = 0.08
"""Largest difference of a speed from bytes over time, at which a line is a test of its own: dd has two digits."""
MAX_ROUNDING: Final = 0.02
"""Largest rounding of bytes so far, as a share of the usual step between two rows; beyond it, speeds are taken."""
MIN_TOOK_S: Final = 0.01
MAX_UNEVEN: Final = 0.3
"""Largest usual difference between the times that rows took by a count and a speed, at which the count is of bytes."""
MAX_MEAN_OFF: Final = 0.05
"""Largest usual difference of a speed from bytes so far over time so far, at which it is the mean since the start."""
EPOCH_S: Final = (1e9, 4e9)
"""Seconds since 1970 of the years 2001 to 2096."""


@dataclass(frozen=True)
class Row:
    """A row of numbers.

    Attributes:
        form: its words, and the kinds of its numbers.
        line: number of its line, from 1.
    """

    form: str
    text: str
    line: int
    fields: tuple[Field, ...]


def matches(path: Path, head: str) -> bool:
    """Rows of one form that tell speed, or bytes and time, and are no cells of a table."""
    text = head[:MAX_HEAD_CHARS].splitlines()
    if path.suffix.lower() in (".csv", ".tsv") or _drawn.tables(enumerate(text, 1)):
        return False
    rows = _largest(text)
    if len(rows) < MIN_ROWS:
        return bool(_results(_rows(text)))
    if _is_of_cells(rows[0].form):
        return False
    kinds = {col.kind for col in _columns(rows, _names(text, rows[0]))}
    return "speed" in kinds or ("size" in kinds and bool(kinds & {"time", "date"})) or _is_grid(rows, text)


def _is_grid(rows: Sequence[Row], text: Sequence[str]) -> bool:
    """Whether a text holds little but rows of as many numbers between blanks."""
    filled = sum(1 for line in text if line.strip())
    return not re.sub(r"<\w+>| ", "", rows[0].form) and len(rows) >= MIN_GRID_SHARE * filled


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The curve of the rows of the form that most have.

    Raises:
        PslcError: it is not clear which numbers are time, bytes or speed.
    """
    path = only(paths)
    text = list(islice(lines(path), MAX_LINES + 1))
    if len(text) > MAX_LINES:
        raise FILE.refused(f"{path} has more than {MAX_LINES:,} lines, the limit for text")
    rows = _largest(text)
    if tests := _tests(rows, text):
        return _of_results(path, _without_progress(tests, text), text)
    if len(starts := [match[1] for line in text if (match := VDBENCH_TEST.search(line))]) > 1:
        what = f"{len(starts)} tests of vdbench: {gate.listed(starts)}"
        raise RecordingError(f"{path} has {what}", "give the rows of one, in a file of its own")
    grid = _grid(path, rows, _names(text, rows[0]))
    if hints.x is None and grid.of_kind("speed") and not grid.of_kind("time", "date", "size"):
        if hints.interval_s is None:
            raise RecordingError(
                f"{path}: its rows tell a speed, but no time", "--interval 1s if there is one each second"
            )
        _add_times(grid, hints.interval_s)
    reads = _of_binary(grid, rows) if BINARY.search("\n".join([*text[:20], rows[0].text])) else None
    data = table.of_grid(grid, hints)
    if reads and reads < 1:
        data.warn(f"{100 * reads:.0f} % of the requests were reads, all are taken for writes: give a test of writes")
    data.read_as = f"{len(rows)} rows such as `{' '.join(rows[len(rows) // 2].text.split())[:70]}`: {data.read_as}"
    if grid.of_kind("size"):
        data.counted_by = "program"
    return data


def _tests(rows: Sequence[Row], text: Sequence[str]) -> list[Row]:
    """Rows that are tests of their own; none where they are the progress of one."""
    results = _results(_rows(text))
    if len(rows) < MIN_ROWS:
        return results
    # The clock of a row among others may be the time that the rest will take.
    results = [row for row in results if any(field.kind == "time" for field in row.fields)]
    # Bytes, a time and a speed that meet in few rows of a form meet by chance.
    if sum(row.form == rows[0].form for row in results) < len(rows) / 2:
        results = [row for row in results if row.form != rows[0].form]
    return results if results and (not _ascend(results) or _is_called_between(results, text)) else []


def _of_binary(grid: table.Grid, rows: Sequence[Row]) -> float | None:
    """The share of reads that rows of a program whose MB are MiB tell, from 0 to 1; None: they tell none."""
    place = next((col.place for col in grid.columns if READ_SHARE.fullmatch(col.name.lower())), None)
    reads = None if place is None else float(np.mean([row.fields[place].value for row in rows])) / 100
    direction: Direction = "" if reads is None else "read" if reads == 1 else "write"
    grid.columns = [
        replace(
            col,
            scale=_binary(rows[0], col),
            direction=direction if direction and col.kind == "speed" else col.direction,
        )
        for col in grid.columns
    ]
    return reads


def _results(rows: Iterable[Row]) -> list[Row]:
    """Rows of bytes, a time and their speed, as `dd` prints one at its end."""
    return [row for row in rows if (of := _amount_of(row)) and abs(of[0] / (of[1] * of[2]) - 1) <= MAX_RESULT_OFF]


def _amount_of(row: Row) -> tuple[float, float, float] | None:
    """The first bytes, time and speed of a row; None where one is missing, or nothing. rsync's bytes have no unit."""
    first: dict[str, float] = {field.kind: field.value for field in reversed(row.fields) if field.value > 0}
    first = {"time": first.get("clock", 0.0)} | first
    if row.form.startswith("<bare> <percent> <speed> <clock>"):
        first["size"] = first["bare"]
    return (
        (first["size"], first["time"], first["speed"]) if {"size", "speed"} <= first.keys() and first["time"] else None
    )


def _ascend(rows: Sequence[Row]) -> bool:
    """Whether the bytes of rows are bytes so far: they rise with the time."""
    amounts = [of for of in map(_amount_of, rows) if of]
    rise = all(later[0] >= of[0] and later[1] > of[1] for of, later in pairwise(amounts))
    return rise and amounts[-1][0] > amounts[0][0]


def _without_progress(results: Sequence[Row], text: Sequence[str]) -> list[Row]:
    """Rows without those that `dd` printed while it copied: the row that ends the copy counts their bytes again."""
    kept: list[Row] = []
    for row in results:
        while kept and _ends_copy(row, text) and _is_progress(kept[-1], row, text):
            kept.pop()
        kept.append(row)
    return kept


def _ends_copy(row: Row, text: Sequence[str]) -> bool:
    return row.line > 1 and RECORDS.match(text[row.line - 2]) is not None


def _is_progress(row: Row, last: Row, text: Sequence[str]) -> bool:
    """Whether a row may be of the copy that a later one ends."""
    return _ascend([row, last]) and not _ends_copy(row, text) and not _is_called_between([row, last], text)


def _is_called_between(rows: Sequence[Row], text: Sequence[str]) -> bool:
    return any(COMMAND.search(line) for line in text[rows[0].line : rows[-1].line])


def _of_results(path: Path, results: Sequence[Row], text: Sequence[str]) -> FileContents:
    """Whole tests, a row each; dd's are reads where the command above says so."""
    data = FileContents(
        path.name, None, read_as=f"{count_of(len(results), 'line')} of bytes, time and speed, a test each"
    )
    for number, (row, amounts) in enumerate(((row, _amount_of(row)) for row in results), 1):
        size, took_s, _ = amounts or (0.0, 1.0, 0.0)
        name = f"{number}: {words.size(size)}"
        command = next((line for line in reversed(text[: row.line]) if COMMAND.search(line)), "")
        kind = columns.column(0, row.form).direction or ("read" if NOWHERE.search(command) else "write")
        data.rows.append(measured(name, kind, size / took_s))
    data.note(
        "the program counted what it handed to the system, as a write where its lines do not say: without "
        "oflag=direct or conv=fdatasync, dd's may be in memory only"
    )
    data.note_size(max(of[0] for of in map(_amount_of, results) if of))
    return data


def _is_of_cells(form: str) -> bool:
    """Whether nothing but separators stands between the numbers of a row."""
    between = set(re.sub(r"<\w+>", "", form))
    return bool(between & set(table.SEPARATORS)) and between <= set(f" \"'{table.SEPARATORS}")


def _add_times(grid: table.Grid, interval_s: float) -> None:
    """Add a column of time, a row each interval."""
    grid.columns.append(Column(len(grid.columns), "time", "time", interval_s, "s", ""))
    for number, cells in enumerate(grid.rows, 1):
        cells.append(str(number))


def _binary(row: Row, col: Column) -> float:
    """The scale of a column of a program whose MB are MiB."""
    unit = row.fields[col.place].unit if col.place < len(row.fields) else ""
    powers = {"k": 1.024, "m": 1.024**2, "g": 1.024**3, "t": 1.024**4}
    word = unit or col.unit
    decimal = col.kind in ("size", "speed") and "i" not in word[1:2]
    return col.scale * powers.get(word[:1].lower(), 1.0) if decimal else col.scale


def _largest(text: Sequence[str]) -> list[Row]:
    """The rows of the form that most have."""
    forms: dict[str, list[Row]] = {}
    for row in _rows(text):
        if len(row.fields) > 1 and not RECORDS.match(row.text):
            forms.setdefault(row.form, []).append(row)
    return max(forms.values(), key=len, default=[])


def _rows(text: Sequence[str]) -> Iterator[Row]:
    for number, line in enumerate(text, 1):
        for part in re.split(r"\r|\x08+", line):
            if DIGIT.search(part):
                text = part if part.isascii() and not OCTETS.search(part) else columns.english(part)
                yield _row(BAR.sub(" ", EMPTY.sub("nan", text)), number)


def _row(text: str, line: int) -> Row:
    fields = quantities.fields(text)
    form = "".join(f"{field.before}<{field.kind}>" for field in fields) + text[fields[-1].end if fields else 0 :]
    return Row(" ".join(form.split()), text, line, tuple(fields))


def _names(text: Sequence[str], row: Row) -> list[str]:
    """Names of a row's numbers: the words of a line above that has as many, or those before each number."""
    cells = list(re.finditer(r"\S+", row.text))
    for line in reversed([columns.english(line) for line in text[: row.line - 1]]):
        names = line.split()
        is_named = len(cells) > 2 or len(cells) == len(row.fields) == 2
        if len(names) == len(cells) and is_named and not any(name[0].isdecimal() for name in names):
            return [next(n for n, cell in zip(names, cells, strict=True) if cell.end() >= of.end) for of in row.fields]
        if len(cells) == len(row.fields) < len(names) and all(names := _above(line, [cell.end() for cell in cells])):
            return names
    return [re.sub(r"[^\w%/ -]+", " ", field.before).strip() for field in row.fields]


def _above(line: str, ends: Sequence[int]) -> list[str]:
    """The words above each column of numbers, which end where these do."""
    words = [(match.end(), match[0]) for match in re.finditer(r"\S+", line)]
    starts = [0, *ends]
    return [" ".join(word for at, word in words if starts[place] < at <= end) for place, end in enumerate(ends)]


def _columns(rows: Sequence[Row], names: Sequence[str]) -> list[Column]:
    """The meaning of each number: by its unit, its name, or as seconds since 1970."""
    of_row = columns.column(0, rows[0].form).direction
    named = [columns.column(place, name) for place, name in enumerate(names)]
    cols = [_column(field, col) for field, col in zip(rows[0].fields, named, strict=True)]
    if all(PV.fullmatch(row.text) for row in rows):
        cols[:2] = [Column(0, "seconds", "time", 1.0, "s", ""), Column(1, "bytes", "size", 1.0, "bytes", "")]
    return [replace(col, direction=col.direction or of_row) for col in cols]


def _column(field: Field, named: Column) -> Column:
    """The meaning of a number that has a unit, or else the one of its name."""
    called = replace(named, name=named.name or field.unit, scale=1.0)
    if field.kind == "speed":
        return replace(called, kind="speed", unit="b/s")
    if field.kind == "size":
        is_place = not columns.NOT_A_PLACE.search(named.name.lower())
        return replace(called, kind="size" if is_place else "number", unit="bytes")
    if field.kind == "time":
        return replace(called, kind="latency" if columns.LATENCY.search(named.name.lower()) else "time", unit="s")
    if field.kind in ("date", "clock") or (named.kind in ("number", "date") and _is_epoch(field)):
        return replace(called, name=named.name or "time", kind="date", unit="")
    return named


def _is_epoch(field: Field) -> bool:
    """Whether a number counts s, ms, us or ns since 1970."""
    whole = field.kind == "bare" and re.fullmatch(r"\d{10}(\d{3}){0,3}", field.text)
    return bool(whole) and EPOCH_S[0] < columns.moment(field.text) < EPOCH_S[1]


def _grid(path: Path, rows: Sequence[Row], names: Sequence[str]) -> table.Grid:
    """The numbers as a table, in which bytes and speeds that are not to be taken are mere numbers."""
    cols = _columns(rows, names)
    short = [field.kind == "clock" and re.fullmatch(r"0:\d\d", field.text) is not None for field in rows[0].fields]
    cells = [[_cell(*each) for each in zip(row.fields, cols, short, strict=True)] for row in rows]
    grid = table.Grid(path, " ", cols, cells, [row.line for row in rows])
    if not any(table.ascends(grid, col) for col in grid.of_kind("size")):
        cols = grid.columns = [_bytes_by_speed(rows, col, grid.of_kind("speed")) for col in cols]
    taken = [col for col in grid.of_kind("time", "date") if table.ascends(grid, col)][:1]
    taken += _amounts(grid, rows, taken[0] if taken else None)
    grid.columns = [
        col if col in taken or col.kind not in ("time", "date", "size", "speed") else replace(col, kind="number")
        for col in cols
    ]
    return grid


def _cell(field: Field, col: Column, is_short: bool) -> str:
    """A number in base units, a date or a clock; a short one begins with the minutes."""
    if col.kind != "date":
        return repr(field.value)
    return f"0:{field.text:0>5}" if is_short and field.text.count(":") == 1 else field.text


def _bytes_by_speed(rows: Sequence[Row], col: Column, speeds: Sequence[Column]) -> Column:
    """A column without a unit as bytes so far, where these would rise as fast as a speed beside them says."""
    values = np.array([row.fields[col.place].value for row in rows])
    steps = np.diff(values)
    if col.name or col.kind != "number" or (steps < 0).any():
        return col
    for speed in speeds:
        took_s = steps / np.array([max(row.fields[speed.place].value, 1.0) for row in rows[1:]])
        usual_s = float(np.median(took_s))
        if usual_s > MIN_TOOK_S and np.median(np.abs(took_s / usual_s - 1)) <= MAX_UNEVEN:
            return replace(col, name="bytes", kind="size", unit="bytes")
    return col


def _amounts(grid: table.Grid, rows: Sequence[Row], time: Column | None) -> list[Column]:
    """The columns of bytes and speed to take: exact bytes so far, else speeds that are no means, else both."""
    sizes = _of_writes([col for col in grid.of_kind("size") if table.ascends(grid, col)])
    speeds = [col for col in grid.of_kind("speed") if not MEAN.search(col.name)]
    if time is None:
        return [*sizes[:1], *speeds]
    best = min(sizes, key=lambda col: _rounding(rows, col), default=None)
    if best is None:
        return speeds or _of_writes(grid.of_kind("size"))[:1]
    speeds = [col for col in speeds if not _is_mean(grid, rows, time, best, col)]
    return [best] if not speeds or _rounding(rows, best) <= MAX_ROUNDING else speeds


def _of_writes(cols: list[Column]) -> list[Column]:
    return [col for col in cols if col.direction == "write"] or cols


def _rounding(rows: Sequence[Row], col: Column) -> float:
    """Value of the last digit of bytes so far, as a share of the usual step."""
    steps = np.diff([row.fields[col.place].value for row in rows])
    digit = max(row.fields[col.place].digit for row in rows)
    return float(digit / np.median(steps[steps > 0])) if (steps > 0).any() else np.inf


def _is_mean(grid: table.Grid, rows: Sequence[Row], time: Column, size: Column, speed: Column) -> bool:
    """Whether a speed is that of all bytes so far."""
    seconds = table.elapsed(grid, time)
    done, rate = (np.array([row.fields[col.place].value for row in rows]) for col in (size, speed))
    begun = (seconds > 0) & (done > 0)
    return (
        bool(begun.any()) and float(np.median(np.abs(rate * seconds / np.maximum(done, 1) - 1)[begun])) <= MAX_MEAN_OFF
    )
