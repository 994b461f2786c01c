"""fio's logs of bandwidth, IOPS and latency, `ms, value, direction, bs[, offset[, priority[, issued]]]`: averaged
(`log_avg_msec`) or one line a request, one file a job."""

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pslc.analysis import Curve
from pslc.base import gate
from pslc.base.errors import RecordingError
from pslc.formats import STREAM, ImportedData, ImportOptions

LINE = re.compile(r"\s*\d{1,15},\s*\d{1,18},\s*[0-2],\s*\d{1,18}(,\s*\d+)?(,\s*\w+)?(,\s*\d+)?\s*$", flags=re.ASCII)
ROWS = 1 << 18
"""Lines read at once."""
WRITE = 1
NO_SIZES = re.compile(r"(?:^|_)(iops|[cs]?lat)\.")
"""In the name of a log of another kind than bandwidth."""
LATE_S = 5.0
"""A request may be logged this much after one that ended later; more is a clock that was set back."""
KIB = 1024

Floats = NDArray[np.float64]


def matches(path: Path, head: str) -> bool:
    """A first line of numbers in fio's order."""
    del path
    return bool(LINE.match(head.partition("\n")[0]))


def read(paths: Sequence[Path], hints: ImportOptions) -> ImportedData:
    """Bytes written over time, all files together."""
    written: list[tuple[Floats, Floats]] = []
    bad, back = 0, 0.0
    for path in paths:
        one, skipped = _cumulative(path, hints.skip_bad)
        bad += skipped
        if one is not None:
            written.append(one[:2])
            back = max(back, one[2])
    name = paths[0].name if len(paths) == 1 else f"{paths[0].name} and {len(paths) - 1} more"
    return ImportedData(name, _curve(written), clock_back_s=back if back > LATE_S else 0.0, bad_lines=bad)


Written = tuple[Floats, Floats, float]
"""Milliseconds, ascending, bytes written until then, and how many seconds the times go back at most."""


def _cumulative(path: Path, skip_bad: bool) -> tuple[Written | None, int]:
    """What was written; None without writes. And how many lines were left out."""
    try:
        return _sum(path, _batches(path)), 0
    except ValueError:
        pass
    # Something in it is no line of a log: look at each.
    good, bad = [], 0
    for number, line in enumerate(gate.lines(path, STREAM), 1):
        if LINE.match(line):
            good.append(tuple(int(word) for word in line.split(",")[:4]))
        elif not skip_bad:
            hint = "ms, value, direction (0 to 2), bs, ... is expected; --skip-bad leaves such lines out"
            raise RecordingError(f'{path}:{number}: "{line[:60]}" is not a line of an fio log', hint)
        else:
            bad += 1
    columns = np.array(good, dtype=np.int64).reshape(-1, 4)
    return _sum(path, iter([tuple(columns[:, i] for i in range(4))])), bad


Batch = tuple[NDArray[np.int64], ...]


def _batches(path: Path) -> Iterator[Batch]:
    """Pieces of the file as columns; it need not fit in memory."""
    # The reader does not survive characters beyond ASCII in the place of numbers; such a file is read line by line.
    with gate.opened(path, STREAM) as raw, io.TextIOWrapper(raw, "ascii") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of empty lines and empty files
        while True:
            rows = np.loadtxt(file, np.int64, comments=None, delimiter=",", usecols=range(4), max_rows=ROWS, ndmin=2)
            if not len(rows):
                return
            yield tuple(rows.T)


def _sum(path: Path, batches: Iterator[Batch]) -> Written | None:
    """Sum the writes of each millisecond."""
    times: list[Floats] = []
    amounts: list[Floats] = []
    last, back = 0, 0
    for ms, value, direction, bs in batches:
        if len(ms) and (direction.min() < 0 or direction.max() > 2):
            raise ValueError("direction")
        writes = direction == WRITE
        ms, value, bs = ms[writes], value[writes], bs[writes]
        if not len(ms):
            continue
        if bs.any():
            amount = bs.astype(np.float64)
        else:
            if other := NO_SIZES.search(path.name):
                hint = "log it without log_avg_msec, or give the log of bandwidth: *_bw.*.log"
                raise RecordingError(f"{path} holds averages of {other[1]}, which tell no bytes", hint)
            # Averaged: KiB/s since the line before.
            amount = value * float(KIB) * np.diff(ms, prepend=last) / 1000
        back = max(back, -int(np.diff(ms, prepend=last).min()))
        last = int(ms[-1])
        unique, where = np.unique(ms, return_inverse=True)
        times.append(unique.astype(np.float64))
        amounts.append(np.asarray(np.bincount(where, weights=amount), dtype=np.float64))
    if not times:
        return None
    # A request may be logged a little after a later one.
    unique, where = np.unique(np.concatenate(times), return_inverse=True)
    return unique, np.cumsum(np.bincount(where, weights=np.concatenate(amounts))), back / 1000


def _curve(written: list[tuple[Floats, Floats]]) -> Curve | None:
    """The files' bytes added at every time that one of them tells of."""
    if not written:
        return None
    times = np.unique(np.concatenate([ms for ms, _ in written]))
    total = sum(np.interp(times, ms, done, left=0.0) for ms, done in written)
    edges, seconds = np.concatenate([[0.0], np.asarray(total)]), np.concatenate([[0.0], times / 1000])
    keep = [0]
    for i in range(1, len(edges)):
        if edges[i] > edges[keep[-1]] and seconds[i] > seconds[keep[-1]]:
            keep.append(i)
    return Curve(edges[keep], np.diff(seconds[keep])) if len(keep) > 1 else None
