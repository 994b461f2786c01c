"""Status of nbdkit's plugin, which it reports several times a second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from typing_extensions import TypedDict

from pslc.base import words

LATE_SHARE: Final = 0.05
LATE_S: Final = 10e-6
"""Replies that are later than both, on average, are told."""
BUSY: Final = 0.9
"""Share of the processors' time above which the pause before a client's next request is the host's delay as well."""
ENOUGH: Final = 200
"""Replies of which an average is taken."""


class Late(TypedDict):
    """Replies that left later than the drive had them. `of_ns`: how long the drive took for them; `turn_ns`: how long a
    request waits for a processor; `busy`: the processors' share of the time."""

    count: int
    mean_ns: float
    p50_ns: int
    p99_ns: int
    of_ns: float
    turn_ns: float
    busy: float


class Clients(TypedDict):
    """Connected clients: their number, and the first of them by process number or address (empty: unknown)."""

    count: int
    named: list[str]


class PluginStatus(TypedDict):
    """A line of the plugin's (`crates/nbd/src/tell.rs`). Three numbers are of reads, writes and trims; `full`: the disk
    of the drive's file has refused something."""

    last: bool
    full: bool
    clients: Clients
    clock_ns: int
    bytes: tuple[int, int, int]
    count: tuple[int, int, int]
    latency_sum_ns: tuple[int, int, int]
    p50_ns: int
    p99_ns: int
    under_way: int
    way_ns: int
    late: Late
    columns: dict[str, int]


@dataclass(frozen=True)
class State:
    """Status of nbdkit's plugin: totals since the start, times in seconds, and the drive's current columns."""

    clock_s: float
    bytes: tuple[int, int, int]
    count: tuple[int, int, int]
    latency_s: tuple[float, float] | None
    queue: int
    way_s: float
    replies: int
    late_s: float
    late_p99_s: float
    drive_s: float
    turn_s: float
    busy: float
    columns: dict[str, int]
    full: bool
    clients: int
    named: tuple[str, ...]

    @classmethod
    def of(cls, status: PluginStatus) -> State:
        """Build the state from a status line of the plugin."""
        late = status["late"]
        some = (status["p50_ns"] / 1e9, status["p99_ns"] / 1e9) if status["p50_ns"] else None
        return cls(status["clock_ns"] / 1e9, (*status["bytes"],), (*status["count"],), some, status["under_way"],
                   status["way_ns"] / 1e9, late["count"], late["mean_ns"] / 1e9, late["p99_ns"] / 1e9,
                   late["of_ns"] / 1e9, late["turn_ns"] / 1e9, late["busy"], status["columns"], status["full"],
                   status["clients"]["count"], (*status["clients"]["named"],))  # fmt: skip

    @property
    def slower_s(self) -> float:
        """Extra latency of a request compared with the drive's own, in seconds: its reply leaves late, and waits for a
        processor before and after that if they are busy."""
        return self.late_s + (self.turn_s if self.busy >= BUSY else 0.0)

    @property
    def too_slow(self) -> str | None:
        """Sentence that the host is too slow for the drive, and by how much; None if it is not."""
        if self.replies < ENOUGH or self.slower_s < max(LATE_S, LATE_SHARE * self.drive_s):
            return None
        sentence = (
            f"a request takes {words.span(self.slower_s)} longer than the {words.span(self.drive_s)} of the drive"
        )
        late = f"replies leave {words.span(self.late_s)} late on average, 99 % within {words.span(self.late_p99_s)}"
        return f"{sentence} ({late}; processors {self.busy:.0%} busy)"
