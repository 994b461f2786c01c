"""The rows of fio's logs of times and rates: each request, the means of windows (`log_avg_msec`), or histograms
(`log_hist_msec`)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pslc.base import units

Integers = NDArray[np.int64]

READ, WRITE, TRIM, FLUSH = range(4)
COLUMNS: Final = ("issued_ns", "latency_ns", "submission_ns", "op", "bytes", "offset")
ROWS_AT_ONCE = 1 << 16
MS = 1_000_000
"""Nanoseconds in a millisecond."""
SAMPLE_MS = 500
"""fio's default `bwavgtime` and `iopsavgtime`: fio samples no rate of a shorter time."""
BINS_PER_OCTAVE, OCTAVES = 64, 29
"""fio's histogram: `FIO_IO_U_PLAT_VAL` and `FIO_IO_U_PLAT_GROUP_NR` in its stat.h."""
RATES = ("bw", "iops")


@dataclass(frozen=True)
class Requests:
    """The finished requests of one job in the order in which they ended, without flushes and without those that ended
    in `ramp_time`. Times are in ns from the end of the ramp.

    Attributes:
        end_ns: when the job ended.
        epoch_ms: what is added to the times of rows, as fio adds it: the ms from 1970 until the job began to count.
    """

    issued_ns: Integers
    latency_ns: Integers
    submission_ns: Integers
    op: Integers
    bytes: Integers
    offset: Integers
    end_ns: int
    epoch_ms: int = 0

    @classmethod
    def of(cls, columns: Mapping[str, Integers], counts_from_ns: int, end_ns: int) -> "Requests":
        """Build the requests from the columns of a log. An `end_ns` of 0: the job did not end, and its last request
        counts as its end."""
        done_ns = columns["issued_ns"] + columns["latency_ns"]
        kept = np.flatnonzero((columns["op"] != FLUSH) & (done_ns >= counts_from_ns))
        kept = kept[np.argsort(done_ns[kept], kind="stable")]
        last_ns = int(done_ns[kept].max(initial=counts_from_ns))
        values = {name: columns[name][kept] for name in COLUMNS}
        values["issued_ns"] = values["issued_ns"] - counts_from_ns
        return cls(**values, end_ns=max(end_ns, last_ns) - counts_from_ns, epoch_ms=0)

    @property
    def done_ns(self) -> Integers:
        """Completion time of each request in ns, shape (n,)."""
        return self.issued_ns + self.latency_ns

    def times_ns(self, kind: str) -> Integers:
        """`slat`, `clat` or `lat` of each: fio's clat begins where its slat ends."""
        return {"slat": self.submission_ns, "clat": self.latency_ns - self.submission_ns}.get(kind, self.latency_ns)


def rows(requests: Requests, kind: str, options: Mapping[str, str]) -> Iterator[str]:
    """The lines of a log of `kind` (`slat`, `clat`, `lat`, `bw`, `iops`, `hist`): time in ms, value (ns, KiB/s, or
    requests a second), direction, block size; with `log_offset` the offset, the priority, with `log_issue_time` the
    time of issue in ns."""
    if kind == "hist":
        yield from _histograms(requests, options)
    elif window_ms := _number(options, "log_avg_msec"):
        yield from _windows(requests, kind, window_ms, options)
    else:
        yield from _each(requests, kind, options)


def _number(options: Mapping[str, str], name: str, default: int = 0) -> int:
    """A number that the parser of job files has let through: with a suffix of 1024, perhaps."""
    text = options.get(name, "").strip().lower()
    digits = text.rstrip("kmgib")
    return int(digits) * units.POWERS_OF_1024.get(text[len(digits) :][:1], 1) if digits else default


def is_on(options: Mapping[str, str], name: str) -> bool:
    """Whether a flag is set; without a value it is."""
    return options.get(name, "0") not in ("0", "false")


def _each(requests: Requests, kind: str, options: Mapping[str, str]) -> Iterator[str]:
    latency = requests.latency_ns
    if kind == "bw":
        values = np.where(latency > 0, requests.bytes * 1_000_000_000 // np.maximum(latency, 1) // 1024, 0)
    else:
        values = np.ones_like(latency) if kind == "iops" else requests.times_ns(kind)
    both = _window_value(options) == "both"
    with_offset, priority, with_issue = (
        is_on(options, "log_offset"),
        _priority(options),
        is_on(options, "log_issue_time"),
    )
    has_issue = kind in ("slat", "clat")
    columns = (
        requests.epoch_ms + requests.done_ns // MS,
        values,
        requests.op,
        requests.bytes,
        requests.offset,
        requests.issued_ns,
    )
    for first in range(0, len(values), ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        for at, value, op, size, offset, issued in zip(*(of[part].tolist() for of in columns), strict=True):
            fields = [at, value, *([0] if both else []), op, size, *([offset] if with_offset else []), priority]
            if with_issue:
                fields.append(issued if has_issue else 0)
            yield ", ".join(map(str, fields)) + "\n"


def _window_value(options: Mapping[str, str]) -> str:
    """`avg`, `max` or `both`. Only averaged logs have both."""
    choice = options.get("log_window_value", options.get("log_max_value", "avg"))
    words = {"0": "avg", "1": "max", "": "max"}
    value = words.get(choice, choice)
    return "avg" if value == "both" and not _number(options, "log_avg_msec") else value


def _priority(options: Mapping[str, str]) -> str:
    """Priority as fio prints that of a request without one: pslc gives none."""
    return "0x0000" if is_on(options, "log_prio") else "0"


def _windows(requests: Requests, kind: str, window_ms: int, options: Mapping[str, str]) -> Iterator[str]:
    """A row for each window and direction, at the end of the window. The last one is as long as the job was in it."""
    value = _window_value(options)
    tail = [0, *([0] if is_on(options, "log_offset") else []), _priority(options)]
    tail += [0] if is_on(options, "log_issue_time") else []
    window_rows: list[tuple[int, int, int, int]] = []
    for op in (READ, WRITE, TRIM):
        of = requests.op == op
        ends, sizes, times = requests.done_ns[of], requests.bytes[of], requests.times_ns(kind)[of]
        # A request that ends with the job belongs to its last window.
        number = np.minimum(ends, max(requests.end_ns - 1, 0)) // (window_ms * MS)
        windows, first = np.unique(number, return_index=True)
        if not len(windows):
            continue
        counts = np.diff(np.r_[first, len(ends)])
        lengths_ns = np.minimum(requests.end_ns - windows * window_ms * MS, window_ms * MS)
        if kind in RATES:
            amounts = np.add.reduceat(sizes, first) if kind == "bw" else counts
            means = amounts * 1_000_000_000 // np.maximum(lengths_ns, 1) // (1024 if kind == "bw" else 1)
            largest, kept = means, lengths_ns >= min(_sample_ms(options, kind), window_ms) * MS
        else:
            sums, largest = np.add.reduceat(times, first), np.maximum.reduceat(times, first)
            means, kept = (sums + counts // 2) // counts, np.ones_like(counts, dtype=bool)
        at = (windows * window_ms * MS + lengths_ns) // MS
        columns = (column[kept].tolist() for column in (at, means, largest))
        window_rows += [(end, mean, peak, op) for end, mean, peak in zip(*columns, strict=True)]
    for end, mean, peak, op in sorted(window_rows, key=lambda row: (row[0], row[3])):
        values = {"avg": [mean], "max": [peak], "both": [mean, peak]}[value]
        yield ", ".join(map(str, [requests.epoch_ms + end, *values, op, *tail])) + "\n"


def _sample_ms(options: Mapping[str, str], kind: str) -> int:
    return _number(options, "bwavgtime" if kind == "bw" else "iopsavgtime", SAMPLE_MS)


def _histograms(requests: Requests, options: Mapping[str, str]) -> Iterator[str]:
    """Time, direction, block size, and how many completion latencies each of fio's bins holds; 2^`log_hist_coarseness`
    bins are added up to one. The last window is there as well, which fio leaves out."""
    window_ms, step = _number(options, "log_hist_msec"), 1 << _number(options, "log_hist_coarseness")
    if window_ms == 0:
        return
    bins = _bins(requests.times_ns("clat")) // step
    number = np.minimum(requests.done_ns, max(requests.end_ns - 1, 0)) // (window_ms * MS)
    for window in np.unique(number):
        end_ms = min(int(window + 1) * window_ms, requests.end_ns // MS)
        for op in (READ, WRITE, TRIM):
            of = np.flatnonzero((number == window) & (requests.op == op))
            if len(of):
                counts = np.bincount(bins[of], minlength=BINS_PER_OCTAVE * OCTAVES // step)
                head = [requests.epoch_ms + end_ms, op, int(requests.bytes[of[-1]])]
                yield ", ".join(map(str, [*head, *counts.tolist()])) + "\n"


def _bins(times_ns: Integers) -> Integers:
    """The bin of each time: 64 to an octave, and one for each ns below 128 (`plat_val_to_idx` in fio's stat.c)."""
    # A float of 64 bits has an exact exponent for all times below 2^53 ns, 104 days.
    octave = np.frexp(times_ns.astype(np.float64))[1].astype(np.int64) - 1
    shift = np.maximum(octave - 6, 0)
    index = np.where(octave <= 6, times_ns, ((shift + 1) << 6) + ((times_ns >> shift) & (BINS_PER_OCTAVE - 1)))
    return np.minimum(index, BINS_PER_OCTAVE * OCTAVES - 1)
