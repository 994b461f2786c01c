"""Tables (CSV): a column of what was moved, or of time, and one of speed. Units are read from the names of the columns,
`written_gb`, `Speed (MB/s)`, or given: `--x written=GB --y speed=MB/s`. A table with a row for each test is no curve,
and is shown as a table. One that is drawn with bars, as in Markdown, may stand among other text."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Final, NamedTuple, cast

import numpy as np

from pslc.analysis import Curve
from pslc.analysis.series import Floats
from pslc.base import gate, quantities, shell, words
from pslc.base.columns import (
    DEGREES,
    PERCENT,
    SIZES,
    SPEEDS,
    TIMES,
    Column,
    Direction,
    cells,
    column,
    is_missing,
    is_number,
    moment,
    number,
    refuse_cut_decimals,
    shown_unit,
    undecided_thousands,
    unit_of,
)
from pslc.base.errors import RecordingError
from pslc.formats import FILE, About, FileContents, _drawn, lines, refuse_trace
from pslc.schema.imports import ImportOptions
from pslc.schema.results import Measured, measured

ABOUT: Final = About(
    program="any program",
    what="table (CSV, Markdown) with names of columns",
    content="speed over time or position, or bytes over time; a table with a row per test is shown as one",
    command="a spreadsheet: save as CSV",
    gives="curve",
)
SEPARATORS: Final = ",;\t"
PART_LINES: Final = 50_000
"""Lines of a table that are parsed at a time; the first part determines what its columns are."""
MAX_LINES: Final = 6_000_000
MAX_SAMPLES: Final = 1_000_000
"""Largest number of samples of a curve: a thousand for each column of a plot. Beyond it neighbours are merged."""
MIN_EPOCH_S: Final = 1e8
"""A number below `time` that is larger is seconds, ms, us or ns since 1970."""
MAX_ASSUMED_STEP_S: Final = 60.0
"""Largest usual step of bare numbers below `time` that are taken for seconds: of milliseconds it is soon more."""
DAY_S: Final = 86400.0
FAR_STEPS: Final = 1.5
"""A first position, or a first time, of more than so many steps is not counted from 0."""
MIN_ASCENDING_SHARE: Final = 0.98
"""Smallest share of rising steps in a column of times or positions; in a table of tests values go up and down."""
MIN_FALLS_SHARE: Final = 0.25
"""Smallest share of falls among the changes of a column of bytes at which each row has its own."""
MIN_STILL_SHARE: Final = 0.01
MAX_STILL_SHARE: Final = 0.1
"""Share of the time in which nothing moved, above which it is noted, and above which no cause of a speed is sure."""
PROCESSOR = re.compile(r"\b(?:cpu|processor)\b.*(?:%|percent)", re.IGNORECASE)
EXCEL_SEPARATOR = re.compile(r'"?sep=.?"?', re.IGNORECASE)
PARAMETERS = re.compile(r"depth|(?<![a-z])(?:qd|bs|jobs?|numjobs|threads?|block|size|pattern|queue|iodepth|mix)")
SPEED_WORDS = re.compile(r"speed|rate|throughput|bandwidth|(?<![a-z])bw(?![a-z])")
MEANS = re.compile(r"mean|avg|average|lat(?:ency)?$|latency|access")
MODES: Final = {"randread": "read", "randwrite": "write", "read": "read", "write": "write", "seq-r": "read",
                "seq-w": "write"}  # fmt: skip


def matches(path: Path, head: str) -> bool:
    """Lines of two or more cells, separated by commas, semicolons or tabs; numbers below names, or with another ending
    than a table's as many cells in each line; or a table drawn with bars."""
    if path.suffix.lower() not in (".csv", ".tsv") and _drawn.tables(enumerate(head.splitlines(), 1)):
        return True
    lines = [line for line in head.splitlines()[:-1] or head.splitlines() if _is_row(line)]
    if not lines:
        return False
    separator = _separator(lines[0])
    counts = [line.count(separator) for line in lines[:20]]
    if not counts[0]:
        return False
    if path.suffix.lower() in (".csv", ".tsv"):
        return True
    rows = [line.split(separator) for line in lines[1:20]]
    held = sum(is_number(cell, separator) for row in rows for cell in row)
    return len(lines) > 2 and len(set(counts)) == 1 and held >= 0.3 * sum(map(len, rows))


def _is_row(line: str) -> bool:
    """Whether a line is one of the table: no comment, and no `sep=;` by which Excel knows the separator."""
    return bool(line.strip()) and not line.lstrip().startswith("#") and not EXCEL_SEPARATOR.fullmatch(line.strip())


def _separator(line: str) -> str:
    """Separator of the cells of a line; beside a semicolon or a tab the comma of a number is a decimal one."""
    apart = [sep for sep in SEPARATORS[1:] if sep in line and all(is_number(cell, sep) for cell in line.split(sep))]
    return apart[0] if apart else max(SEPARATORS, key=line.count)


@dataclass
class Grid:
    """A table of text cells below names.

    Attributes:
        lines: number of each row in its file, from 1.
        rest: lines of the file behind these rows, each with its number.
        dates: places of a date and of the clock that was joined to it.
        in_cells: places of columns whose cells tell their units.
    """

    path: Path
    separator: str
    columns: list[Column]
    rows: list[list[str]]
    lines: list[int]
    bad: int = 0
    rest: Iterator[tuple[int, str]] = field(default_factory=lambda: iter(()))
    dates: tuple[int, int] | None = None
    in_cells: tuple[int, ...] = ()

    def named(self, word: str) -> Column | None:
        """The column of a name, or of a number from 1."""
        for col in self.columns:
            if col.name.lower() == word.lower():
                return col
        return self.columns[int(word) - 1] if word.isdecimal() and 0 < int(word) <= len(self.columns) else None

    def of_kind(self, *kinds: str) -> list[Column]:
        """The columns of some kinds, from left to right."""
        return [col for col in self.columns if col.kind in kinds]

    def holds(self, col: Column, test: Callable[[str], bool], share: float = 1.0) -> bool:
        """Whether (that share of) the cells of a column pass a test, and one of them has a value."""
        own = [row[col.place] for row in self.rows if col.place < len(row)]
        some = [cell for cell in own if not is_missing(cell)]
        return bool(some) and sum(map(test, some)) >= share * len(some)


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """The curve of one table, or its tests."""
    if len(paths) > 1:
        raise RecordingError(f"{len(paths)} tables at once", "give one; pslc compare sets several beside each other")
    (path,) = paths
    if hints.x is None and hints.y is None:
        refuse_trace(path)
    stream = enumerate(lines(path), 1)
    head = list(islice(stream, PART_LINES))
    _refuse_too_many(path, len(head))
    if drawn := [] if path.suffix.lower() in (".csv", ".tsv") else _drawn.tables(head):
        head, stream = list(_drawn.only(path, drawn)), enumerate(())
    table = grid(path, head)
    table.rest = stream
    if len(head) < PART_LINES:
        turn(table)
    return of_grid(table, hints)


def turn(table: Grid) -> None:
    """Put the rows of a whole table whose times go back, the newest first, in order."""
    for col in _times(table):
        at = [value for row in table.rows if (value := _value(table, row, col)) is not None]
        if len(at) > 2 and at[0] > at[-1] and all(later <= before for before, later in pairwise(at)):
            table.rows.reverse()
            table.lines.reverse()
            return


def grid(path: Path, numbered: Sequence[tuple[int, str]]) -> Grid:
    """The cells of a table. Lines before it that begin with `#` are left out; a first line of numbers is no line of
    names, so its columns are called 1, 2 and so on.

    Raises:
        PslcError: see `cells`.
    """
    kept = [(at, line) for at, line in numbered if _is_row(line)]
    if not kept:
        raise RecordingError(f"{path} holds no table", "a line of names, and numbers below it")
    separator = _separator(kept[0][1])
    rows = list(cells(path, [line for _, line in kept], separator))
    first = [name.strip() for name in rows[0]]
    bare = all(is_number(cell, separator) for cell in first)
    names = [""] * len(first) if bare else first
    body, at = (rows, [line for line, _ in kept]) if bare else (rows[1:], [line for line, _ in kept[1:]])
    of = _columns_of(names)
    table = Grid(path, separator, of, *_filled(body, at))
    for row, line in zip(table.rows, table.lines, strict=True):
        refuse_cut_decimals(path, line, row, len(names), separator)
    _join_dates(table)
    _take_units_of_cells(table)
    return table


def _refuse_undecided_thousands(table: Grid, wanted: Iterable[Column]) -> None:
    """Refuse columns in which `2.082` may be 2082."""
    for col in (col for col in wanted if col.kind != "date"):
        words = dict.fromkeys(row[col.place].strip() for row in table.rows if col.place < len(row))
        for mark in "." if table.separator == "," else ".,":
            if word := undecided_thousands(words, mark):
                either = f"{word.replace(mark, '')} or {word.replace(mark, '.')}"
                hint = "save the table without separators of thousands, or with as many decimals in every row"
                raise RecordingError(f"{table.path}: {word} in {col.called} may be {either}", hint)


def _columns_of(names: Sequence[str]) -> list[Column]:
    """The meaning of each name; `min` beside `max` is no time in minutes."""
    cols = [column(place, name) for place, name in enumerate(names)]
    has_range = {"min", "max"} <= {col.name.lower() for col in cols}
    return [replace(col, kind="number", unit="") if has_range and col.name.lower() == "min" else col for col in cols]


def _take_units_of_cells(table: Grid) -> None:
    """Give the columns whose names tell no unit that of their cells: `500 MB/s`, `1.2 GB/s`."""
    kinds = {col.place: kind for col in table.of_kind("number", "text") if (kind := _kind_of_cells(table, col))}
    units = {"speed": "b/s", "size": "bytes", "time": "s"}
    table.columns = [
        replace(col, kind=kinds[col.place], unit=units[kinds[col.place]]) if col.place in kinds else col  # type: ignore[arg-type]
        for col in table.columns
    ]
    table.in_cells = tuple(kinds)
    _scale_cells(table)


def _kind_of_cells(table: Grid, col: Column) -> str:
    """Kind of the unit that all cells of a column have; empty: they have none, or several."""
    cells = [row[col.place] for row in table.rows if col.place < len(row) and not is_missing(row[col.place])]
    kinds = {quantities.kind(cell) for cell in cells[:PART_LINES]}
    return kinds.pop() if len(kinds) == 1 else ""


def _scale_cells(table: Grid) -> None:
    """Bring the cells of columns that tell units into base units."""
    for row in table.rows:
        for place in table.in_cells:
            if place < len(row) and (of := quantities.fields(row[place])):
                row[place] = repr(of[0].value)


def _filled(rows: Iterable[list[str]], numbers: Iterable[int]) -> tuple[list[list[str]], list[int]]:
    """The rows that hold more than blanks, and the number of the line of each."""
    filled = [(row, line) for row, line in zip(rows, numbers, strict=False) if any(map(str.strip, row))]
    return [row for row, _ in filled], [line for _, line in filled]


def _join_dates(table: Grid) -> None:
    """Make one column of a date and the clock beside it."""
    dates = [col for col in table.columns if col.kind == "date"]
    days = [col for col in dates if table.holds(col, lambda cell: _is_moment(cell) and ":" not in cell)]
    clocks = [col for col in dates if table.holds(col, lambda cell: _is_moment(cell) and ":" in cell)]
    if len(dates) != 2 or len(days) != 1 or len(clocks) != 1:
        return
    table.dates = (days[0].place, clocks[0].place)
    _append_clocks(table)
    table.columns[clocks[0].place] = replace(clocks[0], kind="text")


def _append_clocks(table: Grid) -> None:
    """Put the clock of each row behind its date, where they stand in two columns."""
    if table.dates is None:
        return
    day, clock = table.dates
    for row in table.rows:
        if max(day, clock) < len(row):
            row[day] += f" {row[clock]}"


def of_grid(table: Grid, hints: ImportOptions) -> FileContents:
    """The curve of a table, or its tests.

    Raises:
        PslcError: it is not clear which columns are meant.
    """
    if (hints.x is None or hints.y is None) and _is_of_tests(table, hints):
        return _tests(table)
    speed = _speed(table, hints)
    along = _along(table, hints, speed)
    heat = _celsius(table, hints.celsius)
    second = speed or _amount(table, along)
    second = replace(second, direction=second.direction or _stated(table))
    return _curve(table, hints, along, second, heat)


def _asked(table: Grid, wanted: str, units: dict[str, float], option: str) -> Column:
    """The column that `COLUMN` or `COLUMN=UNIT` names."""
    name, _, unit = wanted.partition("=")
    col = table.named(name)
    if col is None:
        raise RecordingError(f"{table.path} has no column {name}", f"it has {_listed(table)}")
    unit = unit.lower() or (col.unit if col.unit in units else "")
    if unit not in units and not (option == "--x" and col.kind == "date" and not unit):
        hint = f"{option} {name}=UNIT with one of {', '.join(sorted(units))}"
        raise RecordingError(f"the unit of {name} is unknown", hint)
    if not unit:
        return col
    kind = "speed" if unit in SPEEDS else "time" if unit in TIMES else "size" if unit in SIZES else "percent"
    return replace(col, kind=kind, scale=units[unit], unit=unit)  # type: ignore[arg-type]


def _listed(table: Grid) -> str:
    return gate.listed([col.called for col in table.columns])


def _speed(table: Grid, hints: ImportOptions) -> Column | None:
    """The column of speed: the one asked for, else the one of writes, else the only one that says neither, else the one
    of reads. None where the table has positions over time instead.

    Raises:
        PslcError: there are several of them, or none, or its unit may be bits or bytes.
    """
    if hints.y is not None:
        return _asked(table, hints.y, SPEEDS | SIZES, "--y")
    speeds = table.of_kind("speed")
    speeds = [col for col in speeds if table.holds(col, _numeric(table), 0.5)] or speeds
    speeds = [col for col in speeds if any(_value(table, row, col) for row in table.rows)] or speeds
    for direction in ("write", "", "read"):
        if some := [col for col in speeds if col.direction == direction]:
            return _only_speed(table, some, direction)
    if table.of_kind("size") and _has_time(table):
        return None
    raise RecordingError(f"{table.path}: no column tells a unit for --y, the speed", _with_units(table))


def _with_units(table: Grid) -> str:
    """The hint for a table whose speed, and maybe its time, has no unit: options to copy, with its own columns."""
    numbers = [col for col in reversed(table.of_kind("number")) if table.holds(col, _numeric(table), 0.5)]
    scores = {col: bool(SPEED_WORDS.search(col.name.lower())) + (col.direction == "write") for col in numbers}
    speed = max(numbers, key=scores.__getitem__).called if numbers else "COLUMN"
    has_axis = _has_time(table) or _positions(table, "")
    along = [] if has_axis else ["--x", f"{table.columns[0].called}=s"]
    hint = f"give units, for example {shell.line([*along, '--y', f'{speed}=MB/s'])}; the columns are {_listed(table)}"
    if any(col.name for col in table.columns):
        return hint
    return f'add a line of names above it, such as "time_s{table.separator}speed_MB/s"; or {hint}'


def _only_speed(table: Grid, speeds: Sequence[Column], direction: str) -> Column:
    """The only column of speed in a direction.

    Raises:
        PslcError: there are several, or its unit may be bits or bytes.
    """
    first = speeds[0]
    if len(speeds) > 1:
        what = f"of {direction} speed" if direction else "of speed"
        raise RecordingError(
            f"{table.path} has {len(speeds)} columns {what}: {gate.listed([col.called for col in speeds])}",
            f"name one: --y {first.place + 1}={first.unit} takes the first of them",
        )
    if first.unit == "Mb/s":
        raise RecordingError(
            f"{table.path}: the unit of {first.called} may be megabits or megabytes",
            f"--y '{first.called}=MB/s' or =Mbit/s",
        )
    return first


def _amount(table: Grid, along: Column) -> Column:
    """The column of bytes over time: the one of writes, else the only one that says neither, else the one of reads.

    Raises:
        PslcError: there are several of them, or none.
    """
    sizes = [col for col in table.of_kind("size") if col.place != along.place]
    moving = [col for col in sizes if len({row[col.place] for row in table.rows if col.place < len(row)}) > 1] or sizes
    for direction in ("write", "", "read"):
        cols = [col for col in moving if col.direction == direction]
        if len(cols) > 1:
            raise RecordingError(
                f"{table.path} has {len(cols)} columns of bytes: {gate.listed([col.called for col in cols])}",
                f"name one: --y {cols[0].place + 1}={cols[0].unit} takes the first of them",
            )
        if cols:
            return cols[0]
    raise RecordingError(f"{table.path} has no column of bytes or speed beside {along.called}", "give it with --y")


def _numeric(table: Grid) -> Callable[[str], bool]:
    return lambda cell: is_number(cell, table.separator)


def _is_moment(cell: str) -> bool:
    try:
        moment(cell)
    except ValueError:
        return False
    return True


def _times(table: Grid) -> list[Column]:
    """Columns of time: with a unit, or of dates. A number below `time` may be of any unit, unless since 1970."""
    cols = [col for col in table.columns if col.kind == "time" and table.holds(col, _numeric(table), 0.9)]
    dates = [col for col in table.columns if col.kind == "date" and table.holds(col, _is_moment)]
    for col in dates:
        values = [value for row in table.rows if (value := _value(table, row, col)) is not None]
        since_1970 = all(value > MIN_EPOCH_S for value in values)
        if since_1970 or not table.holds(col, _numeric(table)):
            cols.append(col)
    return cols


def _is_of_tests(table: Grid, hints: ImportOptions) -> bool:
    """Whether each row is a test: words that differ from row to row stand in it, or nothing in it goes on ascending."""
    asked = (hints.x or "").partition("=")[0].lower()
    if any(_holds_words(table, col) for col in table.of_kind("number", "text") if col.name.lower() != asked):
        return True
    if hints.x is not None:
        return False
    axes = table.of_kind("size", "percent") + _times(table)
    has_axis = any(ascends(table, col) for col in axes)
    parameters = any(PARAMETERS.search(col.name.lower()) for col in table.columns)
    results = bool(table.of_kind("iops", "latency", "speed"))
    return not has_axis and results and (parameters or bool(axes))


def _holds_words(table: Grid, col: Column) -> bool:
    """Whether the cells of a column differ, and at least half of them are words: no numbers, no dates."""
    if len({row[col.place].strip() for row in table.rows if col.place < len(row)}) < 2:
        return False
    return table.holds(col, lambda cell: not is_number(cell, table.separator) and not _is_moment(cell), 0.5)


def ascends(table: Grid, col: Column) -> bool:
    """Whether the values of a column go on rising."""
    at = [_value(table, row, col) for row in table.rows]
    sortable = np.array([value for value in at if value is not None])
    if col.kind == "date":
        sortable = _unwrapped(sortable)
    return (
        len(sortable) > 1
        and float((np.diff(sortable) >= 0).mean()) >= MIN_ASCENDING_SHARE
        and sortable[-1] > sortable[0]
    )


def elapsed(table: Grid, col: Column) -> Floats:
    """Seconds of each row of a column of time, from its first row; a clock runs over midnight, shape (rows,)."""
    at = np.array([_value(table, row, col) for row in table.rows], dtype=float)
    at = _unwrapped(at) if col.kind == "date" else at
    return np.asarray(at - at[0] + _step(at))


def _value(table: Grid, row: list[str], col: Column) -> float | None:
    """A cell in the base unit of its column; None: missing, or no number."""
    try:
        cell = row[col.place]
        if is_missing(cell):
            return None
        return moment(cell) if col.kind == "date" else number(cell, table.separator) * col.scale
    except (ValueError, IndexError):
        return None


def _along(table: Grid, hints: ImportOptions, speed: Column | None) -> Column:
    """The column of time or position.

    Raises:
        PslcError: there is none, or several.
    """
    if hints.x is not None:
        return _asked(table, hints.x, SIZES | TIMES | PERCENT, "--x")
    times = [col for col in _times(table) if col is not speed]
    if times:
        return times[0]
    direction = speed.direction if speed else ""
    places = _positions(table, direction)
    if speed and (len(places) == 1 or (places and places[0].direction == direction)):
        return places[0]
    if seconds := _assumed_seconds(table):
        return seconds
    raise _without_axis(table, places)


def _has_time(table: Grid) -> bool:
    return bool(_times(table)) or _assumed_seconds(table) is not None


def _assumed_seconds(table: Grid) -> Column | None:
    """The column named time whose bare numbers rise by what seconds between samples may be, as one of seconds."""
    for col in table.of_kind("date"):
        seconds = replace(col, kind="time", unit="s", is_assumed=True)
        at = [value for row in table.rows if (value := _value(table, row, seconds)) is not None]
        is_time = table.holds(col, _numeric(table)) and ascends(table, seconds)
        if is_time and 0 < float(np.median(np.diff(at))) <= MAX_ASSUMED_STEP_S:
            return seconds
    return None


def _positions(table: Grid, direction: str) -> list[Column]:
    """Columns of ascending positions; those of the other direction only if there are no others."""
    places = [col for col in table.of_kind("size", "percent") if ascends(table, col)]
    return [col for col in places if not direction or col.direction in ("", direction)] or places


def _without_axis(table: Grid, places: Sequence[Column]) -> RecordingError:
    """The error for a table without a column of time or position, or with several of position."""
    if places:
        return RecordingError(
            f"{table.path} has {len(places)} columns of sizes: {gate.listed([col.called for col in places])}",
            f"name the position: --x '{places[0].called}={places[0].unit}'",
        )
    bare = next((col for col in table.columns if col.kind == "date"), table.columns[0])
    return RecordingError(
        f"{table.path}: no column tells a unit for --x, the time or position",
        f"for example {shell.line(['--x', f'{bare.called}=s'])}, or =ms, =min, =GB; the columns are {_listed(table)}",
    )


def _celsius(table: Grid, wanted: str | None) -> Column | None:
    """The column of temperatures: the one asked for, else the first whose name says degrees, if any."""
    if wanted is not None:
        named = table.named(wanted)
        if named is None:
            raise RecordingError(f"{table.path} has no column {wanted}", f"it has {_listed(table)}")
        return named
    return next((col for col in table.columns if unit_of(col.name, DEGREES)), None)


def _curve(table: Grid, hints: ImportOptions, along: Column, second: Column, heat: Column | None) -> FileContents:
    is_speed = second.kind == "speed"
    beside = _beside(table, second) if is_speed else []
    wanted = [along, second, *([heat] if heat else []), *beside]
    values, missing = _values(table, hints, wanted)
    if along.kind == "percent":
        values[0] *= _capacity_bytes(table, hints, along)
    data = FileContents(table.path.name, None, bad_lines=table.bad)
    data.kind = "read" if second.direction == "read" else "write"
    if missing:
        data.note(f"{missing} of {missing + values.shape[1]} rows have no value: each is counted to the row after it")
    _warn_of_minutes(table, along, data)
    at = _from_its_first(values[0], along, data)
    _refuse_unordered(table, along, at)
    by_size = along.kind in ("size", "percent")
    if is_speed:
        values[1] = _upwards(table, second, values[1], data)
        what = f"speed of {data.kind}s"
        data.curve = _of_speeds(data, at, values[1], by_size=by_size)
    else:
        what = f"bytes of {data.kind}s {_of_bytes(table, second, at, values[1], data)}"
    data.read_as = _read_as(table, along, second, what)
    if is_speed and not by_size and at[0] == 0:
        data.read_as += "; each row is of the time before it; the first, at 0, is left out"
    if data.curve is None:
        return data
    data.curve = _limited(data.curve, data)
    data.idle_s = float(data.curve.silent_s.sum())
    if is_speed:
        moved = at if by_size else _written_at(data.curve, at)
        data.celsius = (np.maximum.accumulate(moved), values[2]) if heat is not None else None
        columns = zip(beside, values[len(wanted) - len(beside) :], strict=True)
        data.busy = tuple((moved, _busy_share(col, column, values[1])) for col, column in columns)
    return data


def _warn_of_minutes(table: Grid, along: Column, data: FileContents) -> None:
    """Warn of a clock without seconds: spreadsheets write minutes and seconds that way, too."""
    if table.holds(along, lambda cell: bool(re.fullmatch(r"\d{1,2}:\d\d", cell.strip()))):
        data.warn(f"{along.called} has no seconds, so 0:01 is read as a minute: write 0:00:01 if it is a second")


def _stated(table: Grid) -> Direction:
    """The direction that a word in every row states, as elbencho's phase; empty: there is none."""
    for place, cell in enumerate(table.rows[0] if table.rows else ()):
        word = cell.strip().lower()
        if word in MODES and all(row[place : place + 1] == [cell] for row in table.rows):
            return cast(Direction, MODES[word])
    return ""


def _note_standstills(data: FileContents, curve: Curve, moving_s: float) -> None:
    """Tell of time between the first bytes and the last in which nothing moved. In silences the host wrote nothing; of
    briefer stretches nobody knows who waited."""
    total_s = curve.duration_s
    still_s = total_s - moving_s
    data.stands_still = curve.total_seconds - moving_s > MAX_STILL_SHARE * curve.total_seconds
    text = f"nothing moved in {words.span(still_s)} of {words.span(total_s)}"
    if still_s > MAX_STILL_SHARE * total_s:
        so = "no cause is given" if data.stands_still else "a cause may be wrong"
        data.warn(f"{text}: whether the drive stood still or nobody wrote is not known, so {so}")
    elif still_s > MIN_STILL_SHARE * total_s:
        data.note(text)


def _written_at(curve: Curve, at_s: Floats) -> Floats:
    """Bytes written at some times since the start, silences included."""
    times = np.concatenate([[0.0], np.cumsum(curve.seconds + curve.silent_s)])
    return np.interp(at_s, times, curve.edges_bytes)


def _beside(table: Grid, second: Column) -> list[Column]:
    """Columns of what else went on: reads beside the writes, and the processor."""
    reads = [col for col in table.of_kind("speed") if col.direction == "read" and second.direction == "write"]
    processors = [col for col in table.of_kind("number") if PROCESSOR.search(col.name)]
    return [col for col in [*reads[:1], *processors[:1]] if table.holds(col, _numeric(table), 1.0)]


def _busy_share(col: Column, column: Floats, speed: Floats) -> Floats:
    """Load by others, from 0 to 1: their share of what was moved, or that of the processor."""
    if col.kind == "number":
        return column / 100.0
    total = column + speed
    return np.divide(column, total, out=np.zeros_like(total), where=total > 0)


def _capacity_bytes(table: Grid, hints: ImportOptions, along: Column) -> float:
    """The capacity of the drive of which a column holds shares.

    Raises:
        PslcError: it is not given.
    """
    if hints.capacity_bytes is None:
        raise RecordingError(
            f"{table.path}: {along.called} is a share of the drive, whose size is not known", "give --capacity 1TB"
        )
    return hints.capacity_bytes


def _refuse_unordered(table: Grid, along: Column, at: Floats) -> None:
    """Refuse times or positions that do not go on as those of one run do.

    Raises:
        PslcError: they go up and down, or a time goes back.
    """
    if len(at) > 1 and (np.diff(at) < 0).mean() > 1 - MIN_ASCENDING_SHARE:
        raise RecordingError(
            f"{table.path}: {along.called} goes up and down, so it is no time and no position of one run",
            "name another column with --x; rows of several drives or runs belong into files of their own",
        )
    if along.kind in ("time", "date") and (back := np.flatnonzero(np.diff(at) < 0)).size:
        row = int(back[0]) + 1
        raise RecordingError(
            f"{table.path}: {along.called} goes back from {words.span(float(at[row - 1]))} to "
            f"{words.span(float(at[row]))} in row {row + 1}, so how long it took is not known",
            "correct or remove that row; rows of several runs, or of a clock that was set back, belong into files of "
            "their own",
        )


def _of_bytes(table: Grid, column: Column, at: Floats, amounts: Floats, data: FileContents) -> str:
    """Take the curve of a column of bytes, and say which they are: `so far`, or `in each row`."""
    if _goes_up_and_down(table, column, amounts):
        data.curve = _of_rows(data, amounts, np.diff(at, prepend=0.0))
        return "in each row"
    data.curve = _of_counts(at, amounts, column, data)
    return "so far"


def _goes_up_and_down(table: Grid, column: Column, amounts: Floats) -> bool:
    """Whether a column holds the bytes of each row, not those so far.

    Raises:
        PslcError: it counts up, and falls as well, or is the same everywhere.
    """
    steps = np.diff(amounts)
    falls, rises = int((steps < 0).sum()), int((steps > 0).sum())
    if steps.size and not falls and not rises and amounts[0] > 0:
        raise RecordingError(
            f"{table.path}: {column.called} is {words.size(float(amounts[0]))} in every row: a count to which nothing "
            "was added, or the bytes of each row",
            "if each row wrote as much, give a column with its speed, in MB/s",
        )
    if 0 < falls <= MIN_FALLS_SHARE * (falls + rises):
        raise RecordingError(
            f"{table.path}: {column.called} counts up, but falls in {falls} of {steps.size} rows",
            "a counter began anew, or rows of several runs are mixed: give the rows of one run, in order",
        )
    return falls > 0


def _of_counts(at: Floats, counts: Floats, column: Column, data: FileContents) -> Curve | None:
    """The curve of a column that counts bytes so far; a note where it does not count from 0."""
    moved = counts - counts[0]
    if moved.size > 1 and 0 < counts[0] <= FAR_STEPS * _step(moved):
        return _of_rows(data, np.diff(counts, prepend=0.0), np.diff(at, prepend=0.0))
    data.note(f"{column.called} counts from its first row on")
    return _of_rows(data, np.diff(moved), np.diff(at))


def _values(table: Grid, hints: ImportOptions, wanted: Sequence[Column]) -> tuple[Floats, int]:
    """The cells of some columns in base units, shape (columns, rows), and how many rows lack one.

    Raises:
        PslcError: a cell holds no number.
    """
    _refuse_undecided_thousands(table, wanted)
    parts: list[Floats] = []
    missing = 0
    for part in _parts(table):
        numbers, empty = _values_of_part(part, hints, wanted)
        parts.append(numbers)
        missing += empty
        if part is not table:
            table.bad += part.bad
    values = np.concatenate(parts)
    if not len(values):
        raise RecordingError(f"{table.path} holds no numbers", "a line of names, and numbers below it")
    return values.T, missing


def _refuse_too_many(path: Path, count: int) -> None:
    if count > MAX_LINES:
        raise FILE.refused(f"{path} has more than {MAX_LINES:,} lines, the limit for a table")


def _parts(table: Grid) -> Iterator[Grid]:
    """The table, and what is behind its rows in its file, some lines at a time: cells take fifty times their size.

    Raises:
        PslcError: there are more than `MAX_LINES`.
    """
    yield table
    while part := list(islice(table.rest, PART_LINES)):
        _refuse_too_many(table.path, part[-1][0])
        kept = [(place, line) for place, line in part if _is_row(line)]
        rows = cells(table.path, [line for _, line in kept], table.separator)
        filled, numbers = _filled(rows, (place for place, _ in kept))
        further = Grid(
            table.path, table.separator, table.columns, filled, numbers, dates=table.dates, in_cells=table.in_cells
        )
        _append_clocks(further)
        _scale_cells(further)
        yield further


def _values_of_part(table: Grid, hints: ImportOptions, wanted: Sequence[Column]) -> tuple[Floats, int]:
    """Values of the rows of a part alone, as `_values` reads them, shape (rows, columns); there may be none."""
    kept: list[list[float]] = []
    missing = 0
    for row, line in zip(table.rows, table.lines, strict=True):
        if all(col.place < len(row) and is_missing(row[col.place]) for col in wanted[1:2]):
            missing += 1
            continue
        values = [_value(table, row, col) for col in wanted]
        if None in values:
            if not hints.skip_bad:
                names = " and ".join(col.called for col in wanted)
                hint = f"numbers in the columns {names} are expected; --skip-bad leaves such lines out"
                word = table.separator.join(row)[:60]
                raise RecordingError(f'{table.path}:{line}: "{word}" cannot be read', hint)
            table.bad += 1
            continue
        kept.append([value for value in values if value is not None])
    return np.array(kept, dtype=float).reshape(-1, len(wanted)), missing


def _from_its_first(at: Floats, along: Column, data: FileContents) -> Floats:
    """Times or positions from where the first row begins: 0, unless the first is far from it."""
    if along.kind == "date":
        at = _unwrapped(at)
    step = _step(at)
    if not step or at[0] <= FAR_STEPS * step:
        return at
    if along.kind in ("size", "percent") or (along.kind == "time" and at[0] < MIN_EPOCH_S):
        first = words.span(float(at[0])) if along.kind == "time" else words.size(float(at[0]))
        data.note(f"{along.called} begins at {first}, which counts as the beginning")
    return np.asarray(at - (at[0] - step))


def _step(at: Floats) -> float:
    """The usual step between rows, or the first if that is longer: a drive is faster at first. 0 where none rises."""
    steps = np.diff(at)
    rising = steps[steps > 0]
    return max(float(np.median(rising)), float(rising[0])) if len(rising) else 0.0


def _unwrapped(at: Floats) -> Floats:
    """Times of a clock without a date, which runs over midnight, as seconds that go on."""
    if not len(at) or at[0] >= DAY_S:
        return at
    return np.asarray(at + DAY_S * np.cumsum(np.diff(at, prepend=at[0]) < -DAY_S / 2))


def _upwards(table: Grid, column: Column, speeds: Floats, data: FileContents) -> Floats:
    """Speeds without the sign of a column that is drawn below 0.

    Raises:
        PslcError: only some are below 0.
    """
    below = int((speeds < 0).sum())
    if below and not (speeds <= 0).all():
        hint = "no speed is: leave out rows that hold none"
        raise RecordingError(f"{table.path}: {column.called} is below 0 in {below} of {speeds.size} rows", hint)
    if below:
        data.note(f"{column.called} is drawn below 0, as netdata does, and is read without its sign")
    return abs(speeds)


def _of_speeds(data: FileContents, at: Floats, speed: Floats, *, by_size: bool) -> Curve | None:
    """None where nothing was moved."""
    try:
        curve = Curve.of_samples(at, speed, "bytes" if by_size else "time")
    except ValueError:
        return None
    if not by_size:
        _note_standstills(data, curve, float(np.diff(at, prepend=0.0)[speed > 0].sum()))
    return curve


def _of_rows(data: FileContents, moved: Floats, seconds: Floats) -> Curve | None:
    """Bytes and time of each row; None where nothing was moved."""
    try:
        curve = Curve.of_rows(moved, seconds)
    except ValueError:
        return None
    _note_standstills(data, curve, float(seconds[moved > 0].sum()))
    return curve


def _limited(curve: Curve, data: FileContents) -> Curve:
    """The same bytes in the same time, as at most `MAX_SAMPLES`; a note where samples are merged for that."""
    count = -(-len(curve.seconds) // MAX_SAMPLES)
    if count <= 1:
        return curve
    data.note(f"the table has {len(curve.seconds):,} samples: each {count} of them are read as one")
    firsts = np.arange(0, len(curve.seconds), count)
    edges = np.append(curve.edges_bytes[firsts], curve.edges_bytes[-1])
    return Curve(edges, np.add.reduceat(curve.seconds, firsts), np.add.reduceat(curve.silent_s, firsts))


def _read_as(table: Grid, along: Column, second: Column, what: str) -> str:
    """Words on the columns that were taken, and as what."""
    axis = {"time": "time", "date": "time", "size": "bytes so far", "percent": "share of the drive"}[along.kind]
    unit = f" in {shown_unit(along.unit)}{' (assumed)' if along.is_assumed else ''}" if along.unit else ""
    renamed = f'; if they are reads, call the column "read {second.called}"'
    assumed = "" if second.direction else f" (that they are writes is assumed{renamed})"
    other_names = [col.called for col in table.columns if col.kind == "speed" and col.place != second.place]
    left = f"; {gate.listed(other_names)} left out" if other_names else ""
    meaning = f"the {what} in {shown_unit(second.unit)}{assumed}"
    return f"column {along.called} is the {axis}{unit}, {second.called} {meaning}{left}"


class _TestColumns(NamedTuple):
    """Columns of a table with a row for each test: its name's, speeds, request rates and mean latencies."""

    names: list[Column]
    speeds: list[Column]
    rates: list[Column]
    means: list[Column]

    def test_name(self, row: Sequence[str], place: int) -> str:
        """The name of a test: the cells of its row that name it, or the row's number."""
        cells = [(col, row[col.place].strip()) for col in self.names if col.place < len(row)]
        return ", ".join(_part(col, cell) for col, cell in cells if cell) or f"row {place}"


def _test_columns(table: Grid) -> _TestColumns:
    speeds = table.of_kind("speed")
    rates = table.of_kind("iops")
    latencies = table.of_kind("latency")
    means = [col for col in latencies if MEANS.search(col.name.lower())]
    taken = {col.place for col in [*speeds, *rates, *latencies]}
    names = [
        col
        for col in table.columns
        if col.place not in taken
        and (PARAMETERS.search(col.name.lower()) or not table.holds(col, _numeric(table), 0.9))
    ]
    return _TestColumns(names, speeds, rates, means)


def _tests(table: Grid) -> FileContents:
    """A row each: the words and parameters of a row are its name."""
    columns = _test_columns(table)
    _refuse_undecided_thousands(table, [*columns.speeds, *columns.rates])
    data = FileContents(table.path.name, None)
    for place, row in enumerate((row for part in _parts(table) for row in part.rows), 1):
        data.rows += _results_of_row(table, columns, row, place)
    if not data.rows and {"end_ns", "write_bytes"} <= {column.name for column in table.columns}:
        hint = "pslc report, analyze and compare take the folder of the run itself"
        raise RecordingError(f"{table.path} is the series of a recording, as pslc export writes it", hint)
    if not any(part.rows for part in _parts(table)):
        raise RecordingError(
            f"{table.path} has a line of names and no rows", "was the program that wrote it ended early?"
        )
    if not data.rows:
        raise RecordingError(f"{table.path} holds a table of tests without speeds", _with_units(table))
    shown = [*columns.speeds, *columns.rates, *columns.means[:1]]
    units = [f"{col.called} in {shown_unit(col.unit)}" for col in shown]
    data.read_as = f"a table of tests, a row each, not a curve: {gate.listed(units)}"
    return data


def _results_of_row(table: Grid, columns: _TestColumns, row: list[str], place: int) -> list[Measured]:
    test = columns.test_name(row, place)
    latency = _value(table, row, columns.means[0]) if columns.means else None
    results = []
    for kind, (speeds, rates) in _values_by_kind(table, columns, row).items():
        rate = rates[0] if rates else None
        for speed in speeds or [None]:
            if speed or rate:
                results.append(measured(test, kind, speed or None, rate or None, latency))
    return results


def _values_by_kind(
    table: Grid, columns: _TestColumns, row: list[str]
) -> dict[str, tuple[list[float | None], list[float | None]]]:
    """Speeds and request rates of a row, by kind: a column's direction, else what a cell says that the test did."""
    mode = next((MODES[cell.strip().lower()] for cell in row if cell.strip().lower() in MODES), "")
    values: dict[str, tuple[list[float | None], list[float | None]]] = {}
    for at, cols in enumerate((columns.speeds, columns.rates)):
        for col in cols:
            values.setdefault(col.direction or mode or "mixed", ([], []))[at].append(_value(table, row, col))
    return values


def _part(col: Column, cell: str) -> str:
    """A cell of the name of a test: a parameter that is a number with its own name."""
    return f"{col.name} {cell}" if is_number(cell, ",") else cell
