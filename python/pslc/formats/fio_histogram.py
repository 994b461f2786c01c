"""fio's logs of latency histograms (`write_hist_log`), one file a job: `ms, direction, bs, requests in each bin`, the
bins being logarithmic, 64 to each power of two."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from pslc.analysis import Curve
from pslc.base.errors import RecordingError
from pslc.formats import About, FileContents, Reader, lines
from pslc.schema.imports import ImportOptions
from pslc.schema.jobs import Job, done, job

ROW: Final = re.compile(r"\A\s*\d+, [0-2], \d+(?:, \d+){100}")
ABOUT: Final = About(
    program="fio",
    what="logs of latency histograms",
    content="bytes over time, and percentiles of the latency of all requests",
    command="fio --write_hist_log=run --log_hist_msec=500",
    gives="curve",
    mark=ROW,
)
BINS: Final = 1856
"""Bins of fio 3, in ns; `log_hist_coarseness` joins 2, 4, 8 ... of them."""
GROUP_BITS: Final = 6
PERCENTS: Final = (50.0, 99.0, 99.9)
COLUMNS: Final = 3
"""Numbers before the bins: time, direction and size."""
Table = NDArray[np.int64]


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """Bytes over time of all files together, of writes where there are any, with one job that holds the percentiles."""
    readers = [Reader(path, hints, "ms, direction, bs, and a count for each bin") for path in paths]
    tables = [_table(reader) for reader in readers]
    kind: Literal["read", "write"] = "write" if any((table[:, 1] == 1).any() for table in tables) else "read"
    tables = [table[table[:, 1] == (kind == "write")] for table in tables]
    times = np.unique(np.concatenate([table[:, 0] for table in tables]))
    moved = sum((_moved(table, times) for table in tables), np.zeros(times.size))
    if not moved.any():
        raise RecordingError(f"{paths[0]} holds no requests", "fio --log_hist_msec=500 logs them")
    curve = Curve.of_rows(np.diff(moved, prepend=0.0), np.diff(times, prepend=0) / 1e3)
    bins = np.concatenate(tables)[:, COLUMNS:].sum(axis=0)
    requests = _requests(kind, bins, float(moved[-1]), float(times[-1]) / 1e3)
    usual_ms = float(np.median(np.diff(times, prepend=0)))
    read_as = f"fio's histogram log: requests times their size as {kind}s, a row each {usual_ms:.0f} ms"
    data = FileContents(paths[0].name, curve, [requests], kind=kind, read_as=read_as, tells_options=False)
    data.note(f"fio does not log what was done after the last full interval, of {usual_ms:.0f} ms")
    data.bad_lines = sum(reader.bad for reader in readers)
    return data


def _table(reader: Reader) -> Table:
    """The rows of a log, shape (rows, 3 + bins).

    Raises:
        PslcError: a row is not like the first, or its bins are not those of fio 3.
    """
    rows: list[list[int]] = []
    for line in reader.each(lines(reader.path)):
        with reader.refusing():
            row = [int(cell) for cell in line.split(",")]
            if len(row) != len((rows or [row])[0]):
                raise ValueError
            rows.append(row)
    table = np.array(rows, dtype=np.int64)
    count = table.shape[1] - COLUMNS
    if BINS % count or count & -count < count // (BINS >> GROUP_BITS):
        raise RecordingError(f"{reader.path} has {count} bins, and fio 3 writes {BINS}", "give the log of write_bw_log")
    return table


def _moved(table: Table, times: Table) -> NDArray[np.float64]:
    """Bytes of one job until each time, shape (times,)."""
    moved = np.cumsum(table[:, COLUMNS:].sum(axis=1) * table[:, 2].astype(float))
    return np.asarray(np.interp(times, [0.0, *table[:, 0]], [0.0, *moved]))


def _requests(kind: Literal["read", "write"], bins: Table, moved: float, lasted_s: float) -> Job:
    """The requests of all rows as one job."""
    spans_ns = _latencies_ns(bins.size)
    share = np.cumsum(bins) / bins.sum()
    percentile: dict[str, float] = {
        f"{of:.6f}": round(float(spans_ns[np.argmax(share >= of / 100)])) for of in PERCENTS
    }
    mean_ns, max_ns = float(spans_ns @ bins / bins.sum()), round(float(spans_ns[bins > 0][-1]))
    own = job("all requests", {}, groupid=0)
    own[kind] = done(round(moved), int(bins.sum()), round(lasted_s * 1e9), mean_ns, max_ns, percentile)
    return own


def _latencies_ns(count: int) -> NDArray[np.float64]:
    """Middle of each bin, in ns, as fio takes it (`plat_idx_to_val`); shape (bins,)."""
    index = np.arange(count) * (BINS // count) + BINS // count // 2
    power = np.maximum(index >> GROUP_BITS, 1) - 1
    middle = ((1 << (power + GROUP_BITS)) + ((index & ((1 << GROUP_BITS) - 1)) + 0.5) * (1 << power)).astype(float)
    return np.where(index < 2 << GROUP_BITS, index, middle)
