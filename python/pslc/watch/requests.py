"""Requests that a load may have been made of, where only the counters of each interval are known.

The counters tell how many requests there were and how many bytes they moved. All else is assumed, in one place:

- Each request of an interval has the interval's mean size, to whole blocks of 4 KiB. Its reads, writes, discards and
  flushes are spread evenly over it.
- Where the drive was busy nearly all the time, whoever wrote is taken to have waited for it: requests of such a
  stretch are made as soon as there is room, with as many under way as there were on average. Elsewhere they come at
  their own times.
- Writes go to the first half of the space, reads to the quarter behind it, in order or at random.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from pslc.analysis.load import Load
from pslc.analysis.series import Floats
from pslc.base import words
from pslc.base.errors import RecordingError
from pslc.schema.surveys import OPS
from pslc.traces import DEPTH

Order = Literal["sequential", "random"]

LIMITED_BUSY_SHARE: Final = 0.9
"""An interval in which the drive was busy for at least this share: the drive was the limit. Bound by one request at a
time a drive is busy for 90 to 100 % of the time, as the program takes a little between two."""
BLOCK_BYTES: Final = 4096
"""Sizes and addresses are whole blocks."""
MIN_SEQUENTIAL_BYTES: Final = 128 << 10
"""Mean size of writes from which they are taken for sequential: Linux reads ahead and writes back in pieces of 128 KiB
or more."""
UNKNOWN_REQUEST_BYTES: Final = 128 << 10
"""Size of a request where only bytes were counted."""
MAX_REQUESTS: Final = 100_000_000
"""Requests that are made of a load at most: a drive replays a few million a second."""
MAX_REQUEST_BYTES: Final = 1 << 30
"""Larger requests are divided; the block layer makes none of that size."""


@dataclass(frozen=True)
class Stretch:
    """Intervals in a row in which the drive was the limit.

    Attributes:
        from_s, to_s: since the beginning.
        from_bytes, to_bytes: moved since the beginning, as requests are made of it.
    """

    from_s: float
    to_s: float
    from_bytes: int
    to_bytes: int

    def covers(self, ends_s: Floats) -> Any:
        """Mask of the intervals, ending at `ends_s`, that lie in this stretch: shape (n,) in and out."""
        return (ends_s > self.from_s) & (ends_s <= self.to_s)


@dataclass(frozen=True)
class Requests:
    """A load as requests.

    Attributes:
        order: of the addresses.
        iodepth: requests under way at most.
        stretches: those in which the drive was the limit.
        count: number of requests.
    """

    load: Load
    order: Order
    span_bytes: int
    iodepth: int
    stretches: list[Stretch]
    count: int
    seed: int = 0

    def tables(self) -> Iterator[Mapping[str, Any]]:
        """The requests in order of time, as `pslc.traces.write_requests` takes them; a table an interval."""
        starts = _issue_times_s(self.load)
        layout = _Layout(self.order, self.span_bytes, np.random.default_rng(self.seed))
        amounts, limited = _amounts(self.load), _limited(self.load)
        for at in range(self.load.seconds.size):
            parts = [layout.place(kind, bounds[at], bounds[at + 1], count[at]) for kind, (bounds, count) in amounts]
            flushes = round(float(np.nan_to_num(self.load.flushes[at])))
            parts.append((np.zeros(flushes, np.int64), np.zeros(flushes, np.int64)))
            shares = np.concatenate([(np.arange(len(size)) + 0.5) / max(len(size), 1) for _, size in parts])
            if not len(shares):
                continue
            order = np.argsort(shares, kind="stable")
            op = np.repeat([OPS.index(kind) for kind in OPS], [len(size) for _, size in parts])
            spread = 0.0 if limited[at] else float(self.load.seconds[at])
            yield {
                "time_ns": np.rint((starts[at] + shares[order] * spread) * 1e9),
                "op": op[order],
                "offset": np.concatenate([offset for offset, _ in parts])[order],
                "size": np.concatenate([size for _, size in parts])[order],
                "device": np.zeros(len(order)),
                "took_ns": np.zeros(len(order)),
            }


class _Layout:
    """Layout of requests: writes and discards in the first half of the space, reads in the quarter behind it."""

    def __init__(self, order: Order, span_bytes: int, random: np.random.Generator) -> None:
        blocks = max(span_bytes // BLOCK_BYTES, 4)
        self._regions = {"write": (0, blocks // 2), "trim": (0, blocks // 2), "read": (blocks // 2, blocks // 4)}
        self._next = dict.fromkeys(self._regions, 0)
        self._order, self._random = order, random

    def place(self, kind: str, begin: int, end: int, count: int) -> tuple[Any, Any]:
        """Offsets and sizes of `count` requests that move the blocks from `begin` to `end`."""
        first, blocks = self._regions[kind]
        each = min(blocks, MAX_REQUEST_BYTES // BLOCK_BYTES)
        count = max(min(count, end - begin), -(-(end - begin) // each))
        edges = np.linspace(begin, end, count + 1).astype(np.int64) if count else np.zeros(1, np.int64)
        sizes = np.diff(edges)
        room = np.maximum(blocks - sizes, 1)
        if self._order == "random":
            places = self._random.integers(0, room) if count else sizes
        else:
            # One that would go past the end begins a little earlier.
            places = np.minimum((self._next[kind] + edges[:-1] - begin) % blocks, room)
            self._next[kind] += end - begin
        return (first + places) * BLOCK_BYTES, sizes * BLOCK_BYTES


def make_requests(load: Load, span_bytes: int, order: Order | None = None) -> Requests:
    """Return the requests of a load in a space of `span_bytes`.

    Args:
        order: of the addresses; None: sequential where the mean write is `MIN_SEQUENTIAL_BYTES` or more.

    Raises:
        RecordingError: nothing was moved, or there would be more than `MAX_REQUESTS`.
    """
    amounts = dict(_amounts(load))
    count = int(sum(counts.sum() for _, counts in amounts.values()) + np.nansum(load.flushes))
    if not count:
        raise RecordingError("nothing was read or written while it was watched", "watch the drive while it works")
    if count > MAX_REQUESTS:
        raise RecordingError(
            f"{words.count(count)} requests are too many to replay (at most {words.count(MAX_REQUESTS)})",
            "watch for a shorter time, with the slow part in it",
        )
    return Requests(load, order or likely_order(load), span_bytes, _iodepth(load), _stretches(load), count)


def likely_order(load: Load) -> Order:
    """Sequential for large writes, random for small ones."""
    written, count = float(load.write_bytes.sum()), float(np.nansum(load.writes))
    return "random" if count and written / count < MIN_SEQUENTIAL_BYTES else "sequential"


def _limited(load: Load) -> Any:
    return np.nan_to_num(load.busy_s) >= LIMITED_BUSY_SHARE * load.seconds


def _amounts(load: Load) -> list[tuple[str, tuple[Any, Any]]]:
    """Amounts by kind, in the order of `OPS`: blocks moved until each interval, one more than intervals, and
    requests."""
    amounts = []
    for kind in ("read", "write", "trim"):
        moved = np.nan_to_num(getattr(load, f"{kind}_bytes"))
        blocks = np.rint(np.concatenate([[0.0], np.cumsum(moved)]) / BLOCK_BYTES).astype(np.int64)
        counted = np.nan_to_num(getattr(load, f"{kind}s")) if kind != "trim" else np.zeros(moved.size)
        counts = np.rint(np.where(counted > 0, counted, np.ceil(moved / UNKNOWN_REQUEST_BYTES))).astype(np.int64)
        amounts.append((kind, (blocks, np.minimum(counts, np.diff(blocks)))))
    return amounts


def _edges(load: Load) -> list[tuple[int, int]]:
    """Edges of where the drive was the limit: first interval, and the one after the last."""
    steps = np.diff(np.concatenate([[0], _limited(load).astype(np.int8), [0]]))
    return [(int(a), int(b)) for a, b in zip(np.flatnonzero(steps == 1), np.flatnonzero(steps == -1), strict=True)]


def _issue_times_s(load: Load) -> Floats:
    """Earliest time at which the requests of each interval may be made: at its beginning, or at that of its stretch."""
    starts = load.ends_s - load.seconds
    for begin, end in _edges(load):
        starts[begin:end] = starts[begin]
    return starts


def _stretches(load: Load) -> list[Stretch]:
    moved = sum(blocks for kind, (blocks, _) in _amounts(load) if kind != "trim") * BLOCK_BYTES
    since = np.concatenate([[0.0], load.ends_s])
    return [Stretch(float(since[a]), float(since[b]), int(moved[a]), int(moved[b])) for a, b in _edges(load)]


def _iodepth(load: Load) -> int:
    """The mean queue where the drive was the limit; where it never was, as many as a trace may have under way."""
    limited = _limited(load)
    seconds = float(load.seconds[limited].sum())
    queued = float(np.nansum(load.queue_s[limited]))
    if not queued:
        queued = float(np.nansum(load.read_s[limited]) + np.nansum(load.write_s[limited]))
    return min(max(round(queued / seconds), 1), DEPTH) if seconds else DEPTH
