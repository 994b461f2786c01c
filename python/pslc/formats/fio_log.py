"""fio's logs of bandwidth, IOPS and latency, `ms, value, direction, bs[, offset[, priority[, issued]]]`: averaged
(`log_avg_msec`) or one line per request, one file per job, or the jobs one behind the other in one file."""

import io
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

import numpy as np

from pslc._native import trace_format
from pslc.base import gate, words
from pslc.base.errors import RecordingError
from pslc.formats import HEAD_BYTES, STREAM, About, FileContents, _fio_jobs, decoded, lines, utf16
from pslc.formats import _fio_rows as fio_rows
from pslc.formats._fio_rows import Covered, Integers, Rows, UnclearRowsError
from pslc.schema.imports import ImportOptions

ABOUT: Final = About(
    program="fio",
    what="logs of bandwidth, or of single requests",
    content="bytes over time, of one job or several; reads where nothing was written",
    command="fio --write_bw_log=run --log_avg_msec=500",
    gives="curve",
)
NUMBER = r"\s*\d{1,18},"
LINE = re.compile(
    rf"\s*\d{{1,15}},{NUMBER}(?P<largest>{NUMBER})?\s*[0-2],\s*\d{{1,18}}(,\s*\d+)?(,\s*\w+)?(,\s*\d+)?\s*$",
    flags=re.ASCII,
)
TENCENT: Final = re.compile(r"1\d{9},\d+,\d+,[01],\d+\s*$", flags=re.ASCII)
"""Traces of Tencent's block storage: s, sector, sectors, operation, volume."""
ROWS_AT_ONCE: Final = 1 << 18
MAX_EXACT_ROWS: Final = 1 << 20
"""Single requests of a job that are held one by one, 32 bytes each; a second of later ones has at most 1000 rows."""
KIND_OF: Final[dict[int, Literal["read", "write"]]] = {0: "read", 1: "write"}
NO_SIZES = re.compile(r"(?:^|_)(iops|[cs]?lat)\b")
"""Pattern in the name of a log that is no bandwidth log."""
NUMBERED = re.compile(r"(?P<stem>.*?)(?:_(?:bw|iops|[cs]?lat))?(?:\.(?P<number>\d+))?\.log")
LATE_S: Final = 5.0
"""A request may be logged this much after one that ended later; more is a clock that was set back."""
EPOCH_MS: Final = 100_000_000_000
"""A time beyond it, three years, is one since 1970 (`log_unix_epoch`)."""
MIN_RESTART_MS: Final = 100
"""Times that run back by less are of requests that ended in another order."""
RESTART_SHARE: Final = 0.1
"""Times that run back to this share of a job's length, or sooner, are those of the next job."""
MAX_JOBS: Final = 4096
MAX_UNSURE_SHARE: Final = 0.25
"""Largest share of the time that missing rows may leave open."""
MAX_DIFFERENCE_SHARE: Final = 0.01
"""Between a log and the JSON of its run."""
MIN_INTERVALS: Final = 10
"""Smallest number of intervals in a log at which the end that fio does not log is negligible."""
_TOGETHER: Final = (
    "the files do not tell whether the {count} jobs ran at the same time, as is assumed: give fio's job file, or "
    "--jobs serial"
)
BOM: Final = b"\xef\xbb\xbf"


def matches(path: Path, head: str) -> bool:
    """A first line of numbers in fio's order, and none of a trace that has seconds since 1970 there."""
    first = head.partition("\n")[0]
    return bool(LINE.match(first)) and not (TENCENT.match(first) and trace_format(str(path)) == "tencent")


@dataclass
class _Block:
    """One job's rows as they are read, in pieces: time, value, direction, size.

    Attributes:
        columns: of the file.
        peak: the latest time.
        back_ms: the furthest that times go back within it.
    """

    path: Path
    place: int
    columns: int
    pieces: list[Integers] = field(default_factory=list)
    count: int = 0
    first: int = -1
    peak: int = -1
    back_ms: int = 0

    def rows(self, direction: int) -> Rows:
        """Those of one direction."""
        ms, value, size = (
            np.concatenate([piece[column][piece[2] == direction] for piece in self.pieces]) for column in (0, 1, 3)
        )
        return Rows(ms, value, size, self.columns)

    def add(self, rows: Integers) -> None:
        """Add rows; of single requests beyond the first `MAX_EXACT_ROWS` only one for each ms."""
        self.count += rows.shape[1]
        self.pieces.append(_by_ms(rows) if self.count > MAX_EXACT_ROWS and rows[3].all() else rows)

    @property
    def samples(self) -> Integers:
        """When there is a row of any direction, ascending."""
        return np.unique(np.concatenate([piece[0] for piece in self.pieces]))


@dataclass
class _Taken:
    """Rows of one job, and what they cover."""

    covered: Covered
    interval_ms: float
    how: str
    doubt: str = ""

    @property
    def lasted_s(self) -> float:
        """From the beginning of the clock, or of times since 1970 from the first row, to the last row."""
        start = float(self.covered.start_s[0])
        return float(self.covered.end_s[-1]) - (start if start * 1000 > EPOCH_MS / 2 else 0.0)


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """Bytes over time, all files together: of writes, or of reads where none of them writes."""
    blocks: list[_Block] = []
    bad = 0
    for path in paths:
        of_file, skipped = _blocks(path, hints.skip_bad)
        blocks += of_file
        bad += skipped
    directions = {int(op) for block in blocks for piece in block.pieces for op in np.unique(piece[2])}
    direction = 1 if 1 in directions or 0 not in directions else 0
    data = _imported(paths, blocks, direction, hints)
    data.bad_lines = bad
    if data.curve is not None and {0, 1} <= directions:
        data.read_as += ", its reads left out"
    return data


def _imported(paths: Sequence[Path], blocks: list[_Block], direction: int, hints: ImportOptions) -> FileContents:
    """The rows of one direction, 0 for reads and 1 for writes, as data."""
    kind = KIND_OF[direction]
    name = paths[0].name if len(paths) == 1 else f"{paths[0].name} and {len(paths) - 1} more"
    data = FileContents(name, None, kind=kind)
    wanted = [(block, rows) for block in blocks if len((rows := block.rows(direction)).ms)]
    data.clock_back_s = _clock_back_s([block for block, _ in wanted])
    if not wanted:
        return data
    jobs = _fio_jobs.threads(hints.jobs)
    count = Counter(block.path for block in blocks)
    threads = [_thread(block, count[block.path], jobs) for block, _ in wanted]
    taken = [_taken(block, rows, thread, kind) for (block, rows), thread in zip(wanted, threads, strict=True)]
    interval = min(item.interval_ms for item in taken)
    groups: list[int] = []
    if int(wanted[0][1].ms[0]) >= EPOCH_MS:
        placed = _on_clock(taken, interval)
    else:
        groups = _groups([block for block, _ in wanted], threads, hints)
        placed = _placed(groups, taken, threads)
    data.curve, data.idle_s = fio_rows.curve_of(placed, interval / 1000)
    data.read_as = f"fio log of {kind}s: {taken[0].how}{_order(groups, len(taken))}"
    data.warn(*_twins(wanted), *_unsure(taken), *_doubts(taken))
    data.note(*_notes(wanted, taken, data.idle_s))
    is_whole = _is_whole(data, taken, threads)
    if not jobs and hints.order is None:
        data.warn(*_assumed_order(groups))
    if not is_whole:
        data.warn(*_short(taken))
    return data


def _clock_back_s(blocks: Sequence[_Block]) -> float:
    """Seconds by which the clock was set back in the course of jobs; 0 where requests only ended in another order."""
    back_s = max((block.back_ms for block in blocks), default=0) / 1000
    return back_s if back_s > LATE_S else 0.0


def _interval_ms(block: _Block, rows: Rows, from_zero: bool) -> float:
    """The interval of averaged rows.

    Raises:
        UnclearRowsError: they do not show it.
    """
    if (rows.spacing_ms <= 0).any() and not block.back_ms:
        raise UnclearRowsError("it has several rows of one time: rows of several jobs are mixed in it")
    return fio_rows.interval_ms(block.samples, from_zero)


def _covered(
    rows: Rows, interval: float, from_zero: bool, samples: Integers, counted: tuple[float, float] | None
) -> Covered:
    """Times that averaged rows cover: where bytes were counted, as it fits them best."""
    if counted is None:
        return fio_rows.averaged(rows, interval, from_zero, samples)
    ways = [fio_rows.averaged(rows, interval, from_zero, samples, late) for late in (True, False)]
    span = min(float(rows.ms[-1]) / 1000 / max(counted[1], 1e-9), 1.0) if from_zero else 1.0
    return min(ways, key=lambda way: abs(way.total_bytes - counted[0] * span))


def _taken(block: _Block, rows: Rows, thread: _fio_jobs.Thread | None, direction: Literal["read", "write"]) -> _Taken:
    """Times that one job's rows cover."""
    from_zero = int(rows.ms[0]) < EPOCH_MS
    other = NO_SIZES.search(block.path.name)
    if thread is not None and thread.logs_maxima:
        hint = "log means: without log_max_value, or with log_window_value=avg"
        raise RecordingError(f"{block.path} holds the maxima of its intervals, which tell no bytes", hint)
    old = fio_rows.is_old_average(rows)
    if rows.size.any() and not old:
        try:
            covered = fio_rows.single(rows, other is None, from_zero)
        except UnclearRowsError as error:
            raise RecordingError(f"{block.path}: {error}", "one of the two columns is not fio's") from None
        doubt = "" if other else _means_perhaps(rows, covered)
        return _Taken(covered, 0.0, "each row is a request, column 4 its bytes", doubt)
    if other:
        hint = "log it without log_avg_msec, or give the log of bandwidth: *_bw.*.log"
        raise RecordingError(f"{block.path} holds averages of {other[1]}, which tell no bytes", hint)
    stated_ms = max(thread.log_avg_ms or 0, thread.sample_ms) if thread is not None else 0
    try:
        interval = _interval_ms(block, rows, from_zero)
    except UnclearRowsError as error:
        if not stated_ms:
            hint = "give fio's job file beside it, which tells log_avg_msec: pslc analyze run_bw.1.log run.fio"
            raise RecordingError(f"{block.path}: {error}", hint) from None
        interval = float(stated_ms)
    interval = min(interval, float(stated_ms)) if stated_ms else interval
    counted = thread.moved(direction) if thread else None
    covered = _covered(rows, interval, from_zero, block.samples, counted)
    how = f"column 2 is the mean in KiB/s of the {interval:.0f} ms before its time"
    return _Taken(covered, interval, how + (" (column 4, fio 2's block size, is left out)" if old else ""))


def _means_perhaps(rows: Rows, covered: Covered) -> str:
    """Doubt about requests at an even pace, one size, whose speeds tell far more bytes: they may be rows of means, as
    fio 2 wrote them. Empty: there is none."""
    if not fio_rows.is_old_average(replace(rows, columns=fio_rows.MAX_OLD_COLUMNS)):
        return ""
    size, spacing_ms = int(rows.size[0]), float(np.median(rows.spacing_ms))
    by_size, by_value = covered.total_bytes / float(covered.end_s[-1]), float(np.mean(rows.value)) * fio_rows.KIB
    return (
        f"each row is read as one request of {size} bytes (column 4), {words.speed(by_size)} in all, but as means of "
        f"{spacing_ms:.0f} ms (column 2) the rows are {words.speed(by_value)}: if they are means, write 0 into column 4"
    )


def _thread(block: _Block, blocks: int, threads: Sequence[_fio_jobs.Thread]) -> _fio_jobs.Thread | None:
    """The job that wrote a log, by the number in its name, the name, or its place in the file."""
    if not threads:
        return None
    parsed = NUMBERED.fullmatch(block.path.name)
    stem, number = (parsed["stem"], parsed["number"]) if parsed else (block.path.stem, None)
    if number is not None and 1 <= int(number) <= len(threads):
        return threads[int(number) - 1]
    own = [thread for thread in threads if stem in thread.log_names] or list(threads)
    return own[block.place] if number is None and blocks == len(own) else own[0] if len(own) == 1 else None


def _order(groups: Sequence[int], count: int) -> str:
    """Words on how the jobs were put together; empty where there is one."""
    if not groups:
        return ", times since 1970" + (f", {count} jobs added up" if count > 1 else "")
    steps = len(set(groups))
    if count == 1:
        return ""
    if steps == 1:
        return f", {count} jobs added up as they ran at the same time"
    return f", {count} jobs{'' if steps == count else f' in {steps} groups'} one after the other"


def _assumed_order(groups: Sequence[int]) -> list[str]:
    """A caution where several jobs are taken to have run at the same time."""
    return [_TOGETHER.format(count=len(groups))] if len(set(groups)) == 1 < len(groups) else []


def _groups(blocks: Sequence[_Block], threads: Sequence[_fio_jobs.Thread | None], hints: ImportOptions) -> list[int]:
    """The group of each job: those of one ran at the same time, and wait for all of the groups before.

    Raises:
        PslcError: nothing tells.
    """
    count = len(blocks)
    if hints.order is not None:
        return list(range(count)) if hints.order == "serial" else [0] * count
    groups = [thread.group for thread in threads if thread is not None]
    if count == 1 or len(groups) == count:
        return groups or [0]
    next_step = "--jobs serial or --jobs together"
    if any(thread.group for thread in _fio_jobs.threads(hints.jobs)):
        raise RecordingError(
            f"it is not clear which of {count} logs is of which job, and some jobs wait for others",
            f"name the order: {next_step}",
        )
    stems = {parsed["stem"] for block in blocks if (parsed := NUMBERED.fullmatch(block.path.name))}
    if len(stems) > 1 and not hints.jobs:
        raise RecordingError(
            f"nothing tells whether the jobs of {len(stems)} logs ran at the same time or one after the other",
            f"give fio's job file with them, or {next_step}",
        )
    return [0] * count


def _on_clock(taken: Sequence[_Taken], interval_ms: float) -> list[Covered]:
    """The jobs where their times since 1970 place them, from the beginning of the first."""
    first = min(float(item.covered.start_s[0]) for item in taken)
    return fio_rows.ended_together([item.covered.shifted(-first) for item in taken], interval_ms / 1000)


def _placed(
    groups: Sequence[int], taken: Sequence[_Taken], threads: Sequence[_fio_jobs.Thread | None]
) -> list[Covered]:
    """The jobs on one clock: each group begins where the one before ended."""
    delays = [thread.delay_s if thread is not None else 0.0 for thread in threads]
    first = min(delays)
    placed: list[Covered] = []
    at = 0.0
    for group in sorted(set(groups)):
        own = [place for place, of in enumerate(groups) if of == group]
        jobs = [taken[place].covered.shifted(0.0 if at else delays[place] - first) for place in own]
        jobs = fio_rows.ended_together(jobs, min(taken[place].interval_ms for place in own) / 1000)
        placed += [job.shifted(at) for job in jobs]
        at = max(float(job.end_s[-1]) for job in placed)
    return placed


def _notes(wanted: Sequence[tuple[_Block, Rows]], taken: Sequence[_Taken], idle_s: float) -> list[str]:
    """Notes on the times in it."""
    notes = []
    first = min(float(item.covered.start_s[0]) for item in taken)
    if first > 0 and int(wanted[0][1].ms[0]) < EPOCH_MS:
        notes.append(f"the first row is of {words.span(first)} after the start: nothing before it is in the curve")
    gaps = idle_s - (first if first > 0 and int(wanted[0][1].ms[0]) < EPOCH_MS else 0.0)
    if gaps > 0.001:
        notes.append(f"{words.span(gaps)} without rows are left out as pauses; fio writes no row where nothing ended")
    return notes


def _twins(wanted: Sequence[tuple[_Block, Rows]]) -> list[str]:
    """Whether two files hold the same rows."""
    rows: dict[bytes, Path] = {}
    for block, of in wanted:
        twin = rows.setdefault(of.ms.tobytes() + of.value.tobytes(), block.path)
        if twin != block.path:
            return [f"{twin.name} and {block.path.name} hold the same rows: if one is a copy, give it once"]
    return []


def _unsure(taken: Sequence[_Taken]) -> list[str]:
    """Warnings of what short gaps leave open.

    Raises:
        PslcError: they leave open more than a quarter of the time, so that the bytes may be twice what was moved.
    """
    lasted = sum(float(item.covered.end_s[-1] - item.covered.start_s[0]) for item in taken)
    unsure = sum(item.covered.unsure_s for item in taken)
    if unsure <= MAX_DIFFERENCE_SHARE * lasted:
        return []
    if unsure > MAX_UNSURE_SHARE * lasted:
        raise RecordingError(
            f"rows of the log are missing for {100 * unsure / lasted:.0f} % of the time, an interval or two at once",
            "give fio's JSON beside the log, or log_avg_msec=500 to fio",
        )
    return [
        f"rows are missing for {100 * unsure / lasted:.0f} % of the time, an interval or two at once: there are too "
        "many bytes where nothing was moved meanwhile; give fio's JSON beside the log, or log_avg_msec=500 to fio"
    ]


def _doubts(taken: Sequence[_Taken]) -> list[str]:
    """The doubts about how rows were read, each once."""
    return list(dict.fromkeys(item.doubt for item in taken if item.doubt))


def _short(taken: Sequence[_Taken]) -> list[str]:
    """Warning of what a log of a few intervals leaves open: fio does not log the last one unless it is whole."""
    interval = max(item.interval_ms for item in taken) / 1000
    lasted = max(item.lasted_s for item in taken)
    if interval * MIN_INTERVALS <= lasted:
        return []
    return [
        f"the log ends after {words.span(lasted)}, and up to {words.span(interval)} of the run may be missing, as fio "
        "does not log its last interval unless it is whole: shorten log_avg_msec, or run longer"
    ]


def _is_whole(data: FileContents, taken: Sequence[_Taken], threads: Sequence[_fio_jobs.Thread | None]) -> bool:
    """Hold the log against the JSON beside it; whether it holds all that was moved."""
    counted = [thread.moved(data.kind) if thread is not None else None for thread in threads]
    moved = [item for item in counted if item is not None]
    if not moved or len(moved) != len(taken):
        return False
    wanted = sum(count for count, _ in moved)
    held = sum(item.covered.total_bytes for item in taken)
    # The last interval is not logged unless it is whole.
    tail = sum(
        count * min(max(seconds - item.lasted_s, 0.0), item.interval_ms / 1000) / seconds if seconds else 0.0
        for (count, seconds), item in zip(moved, taken, strict=True)
    )
    allowed = MAX_DIFFERENCE_SHARE * max(held, wanted)
    if not wanted - allowed - tail <= held <= wanted + allowed:
        data.warn(
            f"the log holds {words.size(held)} of {data.kind}s, but fio's JSON {words.size(wanted)}: they are not of "
            "the same run, or the log is not whole"
        )
    return abs(held - wanted) <= allowed


def _blocks(path: Path, skip_bad: bool) -> tuple[list[_Block], int]:
    """The rows of a file, job by job, and how many lines were left out."""
    if not utf16(gate.head(path, STREAM, 4)):
        try:
            return _split(path, _batches(path)), 0
        except ValueError:
            pass
    # Something in it is no line of a log: look at each.
    good, bad = [], 0
    for number, line in enumerate(lines(path), 1):
        if parsed := LINE.match(line):
            cells = [int(word) for word in line.split(",")[: 5 if parsed["largest"] else 4]]
            good.append(cells if len(cells) == 4 else [cells[0], cells[1], *cells[3:]])
        elif not skip_bad:
            hint = "ms, value, direction (0 to 2), bs, ... is expected; --skip-bad leaves such lines out"
            raise RecordingError(f'{path}:{number}: "{line[:60]}" is not a line of an fio log', hint)
        else:
            bad += 1
    return _split(path, iter([np.array(good, dtype=np.int64).reshape(-1, 4).T])), bad


def _batches(path: Path) -> Iterator[Integers]:
    """Pieces of the file, shape (4, n); it need not fit in memory as text.

    Raises:
        ValueError: something in it is no line of a log.
    """
    # The reader does not survive characters beyond ASCII in the place of numbers; such a file is read line by line.
    with gate.opened(path, STREAM) as raw, gate.reading_progress(path, raw) as draw:
        if raw.read(len(BOM)) != BOM:
            raw.seek(0)
        with io.TextIOWrapper(raw, "ascii") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of empty lines and empty files
            while True:
                rows = np.loadtxt(
                    file, np.int64, comments=None, delimiter=",", usecols=range(4), max_rows=ROWS_AT_ONCE, ndmin=2
                )
                if not len(rows):
                    return
                if (rows < 0).any() or (rows[:, 2] > 2).any():
                    raise ValueError("direction")
                draw()
                yield rows.T


def _by_ms(rows: Integers) -> Integers:
    """One row for the requests of a direction that ended in the same ms: their bytes, at the speed with which these
    take as long as the slowest of them took."""
    ms, value, direction, size = rows[:, np.lexsort((rows[2], rows[0]))]
    first = np.flatnonzero(np.diff(ms, prepend=-1) | np.diff(direction, prepend=-1))
    amounts, slowest = np.add.reduceat(size, first), np.maximum.reduceat(size / np.maximum(value, 1), first)
    return np.array([ms[first], np.rint(amounts / slowest).astype(np.int64), direction[first], amounts])


def _split(path: Path, batches: Iterator[Integers]) -> list[_Block]:
    """The rows of each job: where times run back to the beginning, the next job begins."""
    columns = decoded(gate.head(path, STREAM, HEAD_BYTES)).partition("\n")[0].count(",") + 1
    block = _Block(path, 0, columns)
    blocks = [block]
    for batch in batches:
        rest = batch
        while rest.shape[1]:
            if block.first < 0:
                block.first = block.peak = int(rest[0, 0])
            peaks = np.maximum.accumulate(np.maximum(rest[0], block.peak))
            back = peaks - rest[0]
            averaged = rest[3] == 0
            near = rest[0] <= block.first + RESTART_SHARE * (peaks - block.first)
            again = (back > MIN_RESTART_MS) & (near | (averaged & (block.first < EPOCH_MS)))
            stop = int(np.argmax(again)) if again.any() else rest.shape[1]
            if stop:
                block.add(rest[:, :stop])
                block.back_ms = max(block.back_ms, int(back[:stop].max()))
                block.peak = int(peaks[stop - 1])
            rest = rest[:, stop:]
            if rest.shape[1]:
                if len(blocks) == MAX_JOBS:
                    raise RecordingError(f"{path}: its times run back {MAX_JOBS:,} times", "give logs of one run")
                block = _Block(path, len(blocks), columns)
                blocks.append(block)
    return [block for block in blocks if block.pieces]
